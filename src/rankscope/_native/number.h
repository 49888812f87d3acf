/* Decimal numbers, exactly: what `strtod` gives in the C locale, whatever locale the process has chosen.
 *
 * Accepted: [+-] digits [. digits*] | . digits, then [eE [+-] digits];  [+-] inf | infinity  in any case. */
#ifndef RANKSCOPE_NUMBER_H
#define RANKSCOPE_NUMBER_H

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#if defined(__APPLE__)
#include <xlocale.h>
#endif

enum number_kind { NUMBER_OK, NUMBER_BAD, NUMBER_NAN, NUMBER_NO_MEMORY };

#if defined(_WIN32)
typedef _locale_t number_locale;
static number_locale number_locale_new(void) { return _create_locale(LC_ALL, "C"); }
static void number_locale_free(number_locale c) { if (c) _free_locale(c); }
#define number_strtod(text, c) _strtod_l(text, NULL, c)
#else
typedef locale_t number_locale;
static number_locale number_locale_new(void) { return newlocale(LC_ALL_MASK, "C", (locale_t)0); }
static void number_locale_free(number_locale c) { if (c) freelocale(c); }
#define number_strtod(text, c) strtod_l(text, NULL, c)
#endif

static const double number_ten_to[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                       1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

static inline int number_word(const uint8_t *p, size_t n, const char *word) {
    if (n != strlen(word)) return 0;
    for (size_t i = 0; i < n; i++)
        if ((p[i] | 0x20) != (uint8_t)word[i]) return 0;
    return 1;
}

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define NUMBER_EIGHT 1
/* Eight digits in one step: sums of neighbours by 10, 100 and 10^4, all inside one word. */
static inline int number_eight(const uint8_t *p, uint64_t *value) {
    uint64_t v;
    memcpy(&v, p, 8);
    const uint64_t zeros = UINT64_C(0x3030303030303030);
    if (((v & UINT64_C(0xF0F0F0F0F0F0F0F0)) != zeros) ||
        (((v + UINT64_C(0x0606060606060606)) & UINT64_C(0xF0F0F0F0F0F0F0F0)) != zeros))
        return 0;
    v -= zeros;
    v = (v * 10 + (v >> 8)) & UINT64_C(0x00FF00FF00FF00FF);
    v = (v * 100 + (v >> 16)) & UINT64_C(0x0000FFFF0000FFFF);
    *value = (v * 10000 + (v >> 32)) & UINT64_C(0xFFFFFFFF);
    return 1;
}
#endif

#if defined(__SIZEOF_INT128__)
static const uint64_t number_ten_power[] = {
    1u, 10u, 100u, 1000u, 10000u, 100000u, 1000000u, 10000000u, 100000000u, 1000000000u,
    UINT64_C(10000000000), UINT64_C(100000000000), UINT64_C(1000000000000), UINT64_C(10000000000000),
    UINT64_C(100000000000000), UINT64_C(1000000000000000), UINT64_C(10000000000000000),
    UINT64_C(100000000000000000), UINT64_C(1000000000000000000), UINT64_C(10000000000000000000)};

/* w / 10^k for 1 <= k <= 19, rounded once: 64 bits of quotient, and the remainder decides ties. */
static inline double number_divide(uint64_t w, int k) {
    int shift_w = __builtin_clzll(w), shift_d = __builtin_clzll(number_ten_power[k]);
    uint64_t top = w << shift_w, divisor = number_ten_power[k] << shift_d;
    int exponent = shift_d - shift_w - 64;
    unsigned __int128 numerator = (unsigned __int128)top << 64;
    if (top >= divisor) {
        numerator >>= 1;
        exponent++;
    }
    uint64_t quotient = (uint64_t)(numerator / divisor);
    int rest = (numerator % divisor) != 0;
    uint64_t mantissa = quotient >> 11, tail = quotient & 0x7FF;
    mantissa += tail > 0x400 || (tail == 0x400 && (rest || (mantissa & 1)));
    uint64_t scale_bits = (uint64_t)(1023 + exponent + 11) << 52; /* between 2^-117 and 2^12: always normal */
    double scale;
    memcpy(&scale, &scale_bits, 8);
    return (double)mantissa * scale;
}
#endif

static enum number_kind number_by_library(const uint8_t *p, size_t n, number_locale c_locale, double *value) {
    char small[64], *text = n < sizeof small ? small : malloc(n + 1);
    if (!text) return NUMBER_NO_MEMORY;
    memcpy(text, p, n);
    text[n] = 0;
    *value = number_strtod(text, c_locale);
    if (text != small) free(text);
    return NUMBER_OK;
}

static inline int number_is_digit(uint8_t c) { return (uint8_t)(c - '0') < 10; }

static inline enum number_kind number_parse(const uint8_t *text, size_t n, number_locale c_locale, double *value) {
    const uint8_t *p = text, *end = text + n;
    int negative = n > 0 && *p == '-';
    if (n > 0 && (*p == '-' || *p == '+')) p++;
    uint64_t w = 0;
    int kept = 0; /* significant digits in w; beyond 19 the library takes over */
    int64_t power = 0;
    const uint8_t *digits = p;
    for (; p < end && number_is_digit(*p); p++) {
        kept += w || *p != '0';
        if (kept <= 19) w = w * 10 + (uint64_t)(*p - '0');
    }
    int64_t seen = p - digits;
    if (p < end && *p == '.') {
        const uint8_t *fraction = ++p;
#if defined(NUMBER_EIGHT)
        uint64_t eight;
        while (end - p >= 8 && kept <= 11 && number_eight(p, &eight)) {
            w = w * 100000000 + eight;
            kept = w ? kept + 8 : 0; /* may count zeros between 0. and the first digit: only a detour to the library */
            p += 8;
        }
#endif
        for (; p < end && number_is_digit(*p); p++) {
            kept += w || *p != '0';
            if (kept <= 19) w = w * 10 + (uint64_t)(*p - '0');
        }
        power = -(p - fraction);
        seen += p - fraction;
    }
    if (seen == 0) { /* no digit at all: a word or nothing */
        if (p == digits && (number_word(p, (size_t)(end - p), "inf") || number_word(p, (size_t)(end - p), "infinity"))) {
            *value = negative ? -HUGE_VAL : HUGE_VAL;
            return NUMBER_OK;
        }
        return p == digits && number_word(p, (size_t)(end - p), "nan") ? NUMBER_NAN : NUMBER_BAD;
    }
    if (p < end && (*p | 0x20) == 'e') {
        p++;
        int down = p < end && *p == '-';
        if (p < end && (*p == '-' || *p == '+')) p++;
        if (p == end) return NUMBER_BAD;
        int64_t exponent = 0;
        for (; p < end && number_is_digit(*p); p++)
            if (exponent < 1000000) exponent = exponent * 10 + (*p - '0');
        power += down ? -exponent : exponent;
    }
    if (p != end) return NUMBER_BAD;
#if FLT_EVAL_METHOD == 0
    if (kept <= 19) {
        if (w <= (UINT64_C(1) << 53) && power >= -22 && power <= 22) { /* both exact, so one rounding */
            double v = power < 0 ? (double)w / number_ten_to[-power] : (double)w * number_ten_to[power];
            *value = negative ? -v : v;
            return NUMBER_OK;
        }
#if defined(__SIZEOF_INT128__)
        if (power < 0 && power >= -19) {
            double v = number_divide(w, (int)-power);
            *value = negative ? -v : v;
            return NUMBER_OK;
        }
#endif
    }
#endif
    return number_by_library(text, n, c_locale, value);
}

/* A rank: [+-] one to eighteen digits. */
static inline int number_integer(const uint8_t *p, size_t n, int64_t *value) {
    int negative = n > 0 && *p == '-';
    if (n > 0 && (*p == '-' || *p == '+')) p++, n--;
    if (n < 1 || n > 18) return 0;
    int64_t v = 0;
    for (size_t i = 0; i < n; i++) {
        if (!number_is_digit(p[i])) return 0;
        v = v * 10 + (p[i] - '0');
    }
    *value = negative ? -v : v;
    return 1;
}

#endif
