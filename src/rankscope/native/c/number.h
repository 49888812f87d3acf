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

#include "words.h"

enum number_kind { NUMBER_OK, NUMBER_BAD, NUMBER_NAN, NUMBER_NO_MEMORY };

#if defined(_WIN32)
typedef _locale_t number_locale;
static inline number_locale number_locale_new(void) { return _create_locale(LC_ALL, "C"); }
static inline void number_locale_free(number_locale c) { if (c) _free_locale(c); }
#define number_strtod(text, c) _strtod_l(text, NULL, c)
#else
typedef locale_t number_locale;
static inline number_locale number_locale_new(void) { return newlocale(LC_ALL_MASK, "C", (locale_t)0); }
static inline void number_locale_free(number_locale c) { if (c) freelocale(c); }
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

static const uint64_t number_ten_power[] = {
    1u, 10u, 100u, 1000u, 10000u, 100000u, 1000000u, 10000000u, 100000000u, 1000000000u,
    UINT64_C(10000000000), UINT64_C(100000000000), UINT64_C(1000000000000), UINT64_C(10000000000000),
    UINT64_C(100000000000000), UINT64_C(1000000000000000), UINT64_C(10000000000000000),
    UINT64_C(100000000000000000), UINT64_C(1000000000000000000), UINT64_C(10000000000000000000)};

/* The value of eight digits, each a byte from 0 to 9, the first in the lowest: neighbours together, by 10, 100, 10^4. */
static inline uint64_t number_joined(uint64_t v) {
    v = (v * 10 + (v >> 8)) & UINT64_C(0x00FF00FF00FF00FF);
    v = (v * 100 + (v >> 16)) & UINT64_C(0x0000FFFF0000FFFF);
    return (v * 10000 + (v >> 32)) & UINT64_C(0xFFFFFFFF);
}

/* Up to eight digits from p on in one step; how many there are, and their value. Eight bytes must be readable. */
static inline unsigned number_eight(const uint8_t *p, uint64_t *value) {
#if !defined(RS_BIG_ENDIAN)
    uint64_t v = word_at(p) ^ UINT64_C(0x3030303030303030); /* digits become 0 to 9, anything else more */
    uint64_t others = (v | (v + UINT64_C(0x7676767676767676))) & UINT64_C(0x8080808080808080);
    unsigned count = others ? lowest_bit(others) / 8 : 8;
    if (count == 0) return 0;
    *value = number_joined(v << (64 - 8 * count)); /* as if zeros stood before the digits */
    return count;
#else
    unsigned count = 0;
    for (*value = 0; count < 8 && (uint8_t)(p[count] - '0') < 10; count++) *value = *value * 10 + (p[count] - '0');
    return count;
#endif
}

typedef struct {
    uint64_t value;
    unsigned significant; /* digits in value; more than 19 when they no longer fit */
} number_digits;

/* Reads on from p while there are digits. */
static inline const uint8_t *number_read(const uint8_t *p, number_digits *digits) {
    for (;;) {
        uint64_t value = 0;
        unsigned count = number_eight(p, &value);
        if (count == 0) return p;
        if (digits->significant || value) digits->significant += count; /* zeros in front do not count */
        if (digits->significant <= 19)
            digits->value = digits->value * number_ten_power[count] + value;
        else
            digits->significant = 20;
        p += count;
        if (count < 8) return p;
    }
}

#if defined(__SIZEOF_INT128__)
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

#if FLT_EVAL_METHOD == 0
#if !defined(RS_BIG_ENDIAN)
/* A score of at most eight bytes, all at once: [-] digits [. digits], the sign apart. 0 for any other text. */
INLINE int number_short(const uint8_t *text, size_t n, double *value) {
    const uint64_t ones = UINT64_C(0x0101010101010101), highest = 0x80 * ones;
    const int negative = *text == '-';
    if (negative) text++, n--;
    if (n == 0 || n > 8) return 0;
    unsigned before = (unsigned)n, after = 0; /* how many digits stand before the point and after it */
    uint64_t v = (word_at(text) ^ 0x30 * ones) << (64 - 8 * n); /* as if zeros stood before the digits */
    uint64_t point = v ^ ('.' ^ 0x30) * ones;
    point = (point - ones) & ~point & highest; /* the highest bit of the first byte that is a point */
    if (point) {
        point &= -point;
        after = 7 - lowest_bit(point) / 8;
        before -= after + 1;
        v = (v & -(point << 1)) | (v & ((point >> 7) - 1)) << 8; /* closed up */
    }
    if (before == 0 || ((v | (v + 0x76 * ones)) & highest)) return 0;
    *value = (double)(int64_t)number_joined(v) / number_ten_to[after];
    if (negative) *value = -*value;
    return 1;
}
#else
#define number_short(text, n, value) 0
#endif

/* A score of more: [-] one to seven digits [. up to eight digits]. 0 for any other text. */
INLINE int number_medium(const uint8_t *text, size_t n, double *value) {
    const uint8_t *p = text, *end = text + n;
    const int negative = *p == '-';
    p += negative;
    uint64_t whole = 0, fraction = 0;
    unsigned before = number_eight(p, &whole), after = 0;
    p += before;
    if (*p == '.') p += 1 + (after = number_eight(p + 1, &fraction));
    if (before == 0 || before == 8 || p != end) return 0;
    /* fifteen digits and a power of ten, both exact, so one rounding */
    double v = (double)(int64_t)(whole * number_ten_power[after] + fraction) / number_ten_to[after];
    *value = negative ? -v : v;
    return 1;
}
#else
#define number_short(text, n, value) 0
#define number_medium(text, n, value) 0
#endif

/* A number of one of these two forms, which are most; 0 for any other text. What `number_parse` says of readable bytes
 * holds here too. */
INLINE int number_usual(const uint8_t *text, size_t n, double *value) {
    return number_short(text, n, value) || number_medium(text, n, value);
}

/* The text must be followed by a byte that belongs to no number, and seven more readable ones. */
static inline enum number_kind number_parse(const uint8_t *text, size_t n, number_locale c_locale, double *value) {
    if (number_usual(text, n, value)) return NUMBER_OK;
    const uint8_t *p = text, *end = text + n;
    int negative = n > 0 && *p == '-';
    if (n > 0 && (*p == '-' || *p == '+')) p++;
    number_digits digits = {0, 0};
    int64_t power = 0;
    const uint8_t *start = p;
    p = number_read(p, &digits);
    int64_t seen = p - start;
    if (p < end && *p == '.') {
        const uint8_t *fraction = ++p;
        p = number_read(p, &digits);
        power = -(p - fraction);
        seen += p - fraction;
    }
    uint64_t w = digits.value;
    if (seen == 0) { /* no digit at all: a word or nothing */
        if (p == start && (number_word(p, (size_t)(end - p), "inf") || number_word(p, (size_t)(end - p), "infinity"))) {
            *value = negative ? -HUGE_VAL : HUGE_VAL;
            return NUMBER_OK;
        }
        return p == start && number_word(p, (size_t)(end - p), "nan") ? NUMBER_NAN : NUMBER_BAD;
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
    if (digits.significant <= 19) {
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
