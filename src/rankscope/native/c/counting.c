/* Counting in bit sets: of items marked by rank and height, those no larger than each of many difference vectors; and
 * the largest deficits of runs, whose replicates are counted.
 *
 * marks[rank] has a bit set of `words` words for each height t: the items with Delta[rank] <= t. The AND over all ranks
 * leaves the items no larger than a vector; vectors in lexicographic order share the ANDs of their common prefixes. No
 * function keeps global state. */
#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#define RS_API __declspec(dllexport)
#else
#define RS_API __attribute__((visibility("default")))
#endif
#if defined(_MSC_VER)
#define INLINED static __forceinline
#else
#define INLINED static inline __attribute__((always_inline))
#endif

#define COUNTING_VERSION 2
#define STRIDE 8 /* words between two running sums */
#define CHUNK 64 /* replicates at a time: the sums of a hundred runs fit the caches next to the processor */

INLINED uint32_t ones(uint64_t word) {
#if defined(__GNUC__)
    return (uint32_t)__builtin_popcountll(word);
#else
    word -= word >> 1 & UINT64_C(0x5555555555555555);
    word = (word & UINT64_C(0x3333333333333333)) + (word >> 2 & UINT64_C(0x3333333333333333));
    return (uint32_t)(((word + (word >> 4)) & UINT64_C(0x0F0F0F0F0F0F0F0F)) * UINT64_C(0x0101010101010101) >> 56);
#endif
}

typedef struct {
    int64_t words, ranks, vectors, classes;
    const uint64_t *const *marks; /* one per rank */
    const int16_t *delta;         /* vectors x ranks */
    const int64_t *size;          /* intervals of each vector */
    const int64_t *offsets;       /* vectors + 1: where the queries of each begin */
    const int64_t *position, *worth;
    const int64_t *begins, *weight; /* classes + 1, classes */
    uint64_t *path;                 /* ranks x words, ours to use */
    uint32_t *before;               /* words / STRIDE + 1, likewise */
} rs_counting;

INLINED void both(const uint64_t *a, const uint64_t *b, uint64_t *out, int64_t words) {
    for (int64_t w = 0; w < words; w++) out[w] = a[w] & b[w];
}

/* The same, with the number of bits before every STRIDE words. */
INLINED void both_summed(const uint64_t *a, const uint64_t *b, uint64_t *out, uint32_t *before, int64_t words) {
    uint32_t sum = 0;
    int64_t w = 0;
    for (; w + STRIDE <= words; w += STRIDE) {
        before[w / STRIDE] = sum;
        both(a + w, b + w, out + w, STRIDE);
        for (int i = 0; i < STRIDE; i++) sum += ones(out[w + i]);
    }
    before[w / STRIDE] = sum;
    both(a + w, b + w, out + w, words - w);
}

/* Number of bits set before a position. */
INLINED int64_t ones_before(const uint64_t *bits, const uint32_t *before, int64_t position) {
    int64_t last = position >> 6, w = last / STRIDE * STRIDE;
    uint32_t sum = before[w / STRIDE];
    for (; w < last; w++) sum += ones(bits[w]);
    return sum + ones(bits[last] & ((UINT64_C(1) << (position & 63)) - 1));
}

INLINED void count(const rs_counting *c, int64_t *comparable, int64_t *violations) {
    const int64_t ranks = c->ranks, words = c->words;
    const uint64_t *bits = c->path + (ranks - 1) * words;
    for (int64_t v = 0; v < c->vectors; v++) {
        const int16_t *delta = c->delta + v * ranks, *previous = delta - ranks;
        int64_t rank = 0;
        if (v > 0)
            while (rank < ranks && delta[rank] == previous[rank]) rank++;
        for (; rank < ranks; rank++) {
            const uint64_t *mark = c->marks[rank] + delta[rank] * words;
            uint64_t *here = c->path + rank * words;
            const uint64_t *above = rank > 0 ? here - words : mark;
            if (rank < ranks - 1)
                both(above, mark, here, words);
            else
                both_summed(above, mark, here, c->before, words);
        }
        int64_t found = 0, wrong = 0;
        for (int64_t z = 0; z < c->classes; z++)
            found += c->weight[z] * (ones_before(bits, c->before, c->begins[z + 1]) -
                                     ones_before(bits, c->before, c->begins[z]));
        for (int64_t q = c->offsets[v]; q < c->offsets[v + 1]; q++)
            wrong += c->worth[q] * ones_before(bits, c->before, c->position[q]);
        *comparable += c->size[v] * found;
        *violations += wrong;
    }
}

INLINED void deficits(const double *sums, const double *inverse, double *out, int64_t runs, int64_t signs) {
    double high[CHUNK], low[CHUNK];
    for (int64_t start = 0; start < signs; start += CHUNK) {
        const int64_t n = signs - start < CHUNK ? signs - start : CHUNK;
        for (int64_t run = 0; run < runs; run++) {
            const double *own = sums + run * signs + start;
            double *largest = out + run * 2 * signs + start, *opposite = largest + signs;
            for (int64_t s = 0; s < n; s++) high[s] = low[s] = 0; /* the deficit to itself */
            for (int64_t other = 0; other < runs; other++) {
                const double *sum = sums + other * signs + start, factor = inverse[run * runs + other];
                for (int64_t s = 0; s < n; s++) {
                    const double deficit = (sum[s] - own[s]) * factor;
                    high[s] = deficit > high[s] ? deficit : high[s];
                    low[s] = deficit < low[s] ? deficit : low[s];
                }
            }
            for (int64_t s = 0; s < n; s++) {
                largest[s] = high[s];
                opposite[s] = -low[s];
            }
        }
    }
}

#if defined(__GNUC__) && defined(__x86_64__) && !defined(RS_PORTABLE)
__attribute__((target("avx2,popcnt"))) static void count_quickly(const rs_counting *c, int64_t *a, int64_t *b) {
    count(c, a, b);
}

__attribute__((target("avx2"))) static void deficits_quickly(const double *sums, const double *inverse, double *out,
                                                             int64_t runs, int64_t signs) {
    deficits(sums, inverse, out, runs, signs);
}
#endif

RS_API int32_t rs_counting_version(void) { return COUNTING_VERSION; }

/* Pairs that are comparable, and those that are violated, added to what is there. */
RS_API void rs_count(const rs_counting *c, int64_t *comparable, int64_t *violations) {
#if defined(__GNUC__) && defined(__x86_64__) && !defined(RS_PORTABLE)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt")) {
        count_quickly(c, comparable, violations);
        return;
    }
#endif
    count(c, comparable, violations);
}

/* Largest deficit of each run to any other, (sum of the other - its own sum) * inverse, under some signs and, after
 * them, under the opposite ones: runs x 2 signs. Sums are runs x signs, all finite; inverse is runs x runs. */
RS_API void rs_deficits(const double *sums, const double *inverse, double *out, int64_t runs, int64_t signs) {
#if defined(__GNUC__) && defined(__x86_64__) && !defined(RS_PORTABLE)
    if (__builtin_cpu_supports("avx2")) {
        deficits_quickly(sums, inverse, out, runs, signs);
        return;
    }
#endif
    deficits(sums, inverse, out, runs, signs);
}
