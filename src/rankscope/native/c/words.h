/* Eight bytes at a time. */
#ifndef RANKSCOPE_WORDS_H
#define RANKSCOPE_WORDS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__SSE2__) && !defined(RS_PORTABLE)
#define RS_SSE2
#include <emmintrin.h>
#endif
#if defined(_MSC_VER)
#include <intrin.h>
#endif
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define RS_BIG_ENDIAN
#endif

/* Functions of the loop over lines, which take their time from calls and from copies in memory if they are not inlined. */
#if defined(__GNUC__)
#define INLINE static inline __attribute__((always_inline))
#else
#define INLINE static inline
#endif

static inline uint64_t word_at(const uint8_t *p) {
    uint64_t v;
    memcpy(&v, p, 8);
    return v;
}

/* The first n (1 to 7) bytes of a word, the others zero. */
static inline uint64_t word_head(uint64_t word, size_t n) {
#if defined(RS_BIG_ENDIAN)
    return word >> (64 - 8 * n) << (64 - 8 * n);
#else
    return word << (64 - 8 * n) >> (64 - 8 * n);
#endif
}

/* A number that is smaller where the bytes come first in bytewise order. */
static inline uint64_t word_order(uint64_t word) {
#if defined(RS_BIG_ENDIAN)
    return word;
#elif defined(_MSC_VER)
    return _byteswap_uint64(word);
#else
    return __builtin_bswap64(word);
#endif
}

/* The 128 bits of a product, folded into 64: each bit of the result depends on all bits of both. */
static inline uint64_t word_mix(uint64_t a, uint64_t b) {
#if defined(__SIZEOF_INT128__) && !defined(RS_PORTABLE)
    __extension__ typedef unsigned __int128 wide;
    wide product = (wide)a * b;
    return (uint64_t)(product >> 64) ^ (uint64_t)product;
#elif defined(_MSC_VER) && defined(_M_X64)
    uint64_t high, low = _umul128(a, b, &high);
    return high ^ low;
#else
    uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
    uint64_t low = a0 * b0, one = a1 * b0 + (low >> 32), other = a0 * b1 + (uint32_t)one;
    return (a1 * b1 + (one >> 32) + (other >> 32)) ^ (other << 32 | (uint32_t)low);
#endif
}

/* Index of the lowest bit that is set; the word must not be 0. */
static inline unsigned lowest_bit(uint64_t mask) {
#if defined(_MSC_VER)
    unsigned long i;
    _BitScanForward64(&i, mask);
    return (unsigned)i;
#else
    return (unsigned)__builtin_ctzll(mask);
#endif
}

#endif
