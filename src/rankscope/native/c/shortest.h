/* The shortest decimal number that is read back as a double, as `repr` of Python writes it, for numbers of most tables:
   those between 0.0001 and 1. Exact integer arithmetic in 128 bits suffices there. */
#ifndef RANKSCOPE_SHORTEST_H
#define RANKSCOPE_SHORTEST_H

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { SHORTEST_SIZE = 24 }; /* bytes that a text needs at most: a sign, "0." and 20 digits */

/* Write the number, and return the length of the text; 0 if the caller has to use another way. */
static inline int shortest_write(double number, char *text) {
#ifdef __SIZEOF_INT128__
    const double size = fabs(number);
    if (!(size >= 1e-4 && size < 1)) return 0;
    int exponent, decimals = size >= 0.1 ? 17 : size >= 0.01 ? 18 : size >= 0.001 ? 19 : 20;
    const uint64_t fraction = (uint64_t)ldexp(frexp(size, &exponent), 53); /* size = fraction / 2^(53 - exponent) */
    if (fraction == UINT64_C(1) << 52) return 0; /* A power of two is not in the middle of its interval. */

    /* In units of 10^-decimals: the number, and the ends of the interval of all numbers that are read as this double.
       The ends are never integers, because they have more binary digits after the point than there are decimals. */
    unsigned __int128 unit = UINT64_C(100000000000000000);
    for (int i = 17; i < decimals; i++) unit *= 10;
    const int shift = 54 - exponent;
    const unsigned __int128 exact = 2 * fraction * unit;
    const uint64_t low = (uint64_t)((exact - unit) >> shift), high = (uint64_t)((exact + unit) >> shift);
    uint64_t power = 1;
    while (high / (power * 10) > low / (power * 10)) power *= 10, decimals--;
    const unsigned __int128 step = (unsigned __int128)power << shift, rest = exact % step;
    if (2 * rest == step) return 0; /* Two numbers are equally near. */
    uint64_t digits = (uint64_t)(exact / step) + (2 * rest > step);

    char *p = text;
    if (number < 0) *p++ = '-';
    memcpy(p, "0.", 2);
    for (char *end = p + 2 + decimals; end > p + 2; digits /= 10) *--end = (char)('0' + digits % 10);
    return (int)(p + 2 + decimals - text);
#else
    (void)number, (void)text;
    return 0;
#endif
}

#endif
