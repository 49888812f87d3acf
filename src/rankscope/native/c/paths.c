/* Sums along the paths of a prefix tree, and the pairs of its rankings that stand in the wrong order.
 *
 * The rankings of a level stand letter by letter, each in the order of their parents. What the last document adds to a
 * ranking is looked up by the number of such documents above it. Every number is rounded as numpy rounds it: one
 * operation after the other. No function keeps global state. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__clang__) || defined(_MSC_VER)
#pragma STDC FP_CONTRACT OFF
#endif

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

#define PATHS_VERSION 1

typedef struct {
    int64_t letters, levels, trees, ordinals;
    const double *table;          /* levels x trees x letters x ordinals: what a document adds, by those above it */
    const uint8_t *marked;        /* levels x trees x letters: whether it adds anything */
    const uint8_t *const *counts; /* for each tree, level by level: documents of the tree below the prefix */
    const int64_t *above;         /* for each tree: those in the prefix */
    double *totals;               /* of the prefix, to which those of all levels are appended */
} rs_paths;

RS_API int32_t rs_paths_version(void) { return PATHS_VERSION; }

/* Total of every ranking: the total of its parent plus the contribution of its last document in each tree. */
RS_API void rs_descend(const rs_paths *p) {
    const double *parents = p->totals;
    double *nodes = p->totals + 1;
    int64_t width = 1, passed = 0;
    for (int64_t level = 0; level < p->levels; level++) {
        for (int64_t letter = 0; letter < p->letters; letter++, nodes += width) {
            const double *from = parents;
            for (int64_t f = 0; f < p->trees; f++) {
                const int64_t row = (level * p->trees + f) * p->letters + letter;
                if (!p->marked[row]) continue;
                const double *table = p->table + row * p->ordinals + p->above[f];
                const uint8_t *counts = p->counts[f] + passed;
                for (int64_t i = 0; i < width; i++) nodes[i] = from[i] + table[counts[i]];
                from = nodes;
            }
            if (from == parents) memcpy(nodes, parents, (size_t)width * sizeof(double));
        }
        parents = nodes - p->letters * width;
        passed += width;
        width *= p->letters;
    }
}

typedef struct {
    int64_t low, high, many; /* the first ranking of each side, and how many follow */
    const uint8_t *mask;     /* which of them count; NULL for all */
} rs_stretch;

/* Value that a larger score must exceed. */
INLINED double limit(double value, double relative, double absolute) {
    const double size = fabs(value), more = value + (relative * size + absolute);
    return size == INFINITY ? value : more;
}

INLINED int64_t wrong(const double *low, const double *high, int64_t many, double relative, double absolute,
                      int strict) {
    int64_t found = 0;
    if (strict)
        for (int64_t i = 0; i < many; i++) found += high[i] <= limit(low[i], relative, absolute);
    else
        for (int64_t i = 0; i < many; i++) found += low[i] > limit(high[i], relative, absolute);
    return found;
}

INLINED int64_t wrong_of(const double *low, const double *high, const uint8_t *mask, int64_t many, double relative,
                         double absolute, int strict) {
    int64_t found = 0;
    if (strict)
        for (int64_t i = 0; i < many; i++) found += mask[i] & (high[i] <= limit(low[i], relative, absolute));
    else
        for (int64_t i = 0; i < many; i++) found += mask[i] & (low[i] > limit(high[i], relative, absolute));
    return found;
}

INLINED void compare(const double *values, const rs_stretch *stretches, int64_t number, double relative,
                     double absolute, int strict, int64_t *found) {
    for (int64_t s = 0; s < number; s++) {
        const rs_stretch *at = stretches + s;
        const double *low = values + at->low, *high = values + at->high;
        int64_t here = wrong(low, high, at->many, relative, absolute, strict);
        if (here && at->mask) here = wrong_of(low, high, at->mask, at->many, relative, absolute, strict);
        found[s] = here;
    }
}

#if defined(__GNUC__) && defined(__x86_64__) && !defined(RS_PORTABLE)
__attribute__((target("avx2"))) static void compare_quickly(const double *values, const rs_stretch *stretches,
                                                            int64_t number, double relative, double absolute,
                                                            int strict, int64_t *found) {
    compare(values, stretches, number, relative, absolute, strict, found);
}
#endif

/* For each stretch of pairs how many are in the wrong order: the lower ranking scores more than the higher, or, where
 * the relation is strict, not less. Scores are no NaN. */
RS_API void rs_compare(const double *values, const rs_stretch *stretches, int64_t number, double relative,
                       double absolute, int32_t strict, int64_t *found) {
#if defined(__GNUC__) && defined(__x86_64__) && !defined(RS_PORTABLE)
    if (__builtin_cpu_supports("avx2")) {
        compare_quickly(values, stretches, number, relative, absolute, strict, found);
        return;
    }
#endif
    compare(values, stretches, number, relative, absolute, strict, found);
}
