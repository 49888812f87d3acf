/* Arithmetic on vectors of numbers, element by element and list by list, as formulas of measures need it.
 *
 * Every function does what numpy does with the same numbers, in the same order, so that results have the same bits:
 * nothing may be contracted or reordered by the compiler (setup.py says so). A list is a stretch of hits; `list` has for
 * each hit the number of its list, never falling. No function keeps global state. */
#include <math.h> /* INFINITY; no function, so that no other library is needed */
#include <stdint.h>

#if defined(_WIN32)
#define RS_API __declspec(dllexport)
#else
#define RS_API __attribute__((visibility("default")))
#endif

#define VECTORS_VERSION 1

RS_API int32_t rs_vectors_version(void) { return VECTORS_VERSION; }

enum operation { PLUS, MINUS, TIMES, DIVIDED, RATIO, LEAST, MOST, AT_MOST, AT_LEAST, BELOW, ABOVE };

#define EACH(expression)                                      \
    for (int64_t i = 0; i < n; i++) {                         \
        const double x = a[i * step_a], y = b[i * step_b];    \
        out[i] = (expression);                                \
    }                                                         \
    return

/* out[i] = a[i] operation b[i]; a step of 0 repeats one number. A ratio is 0 where y is. */
RS_API void rs_vectors_join(int32_t operation, const double *a, int64_t step_a, const double *b, int64_t step_b,
                            double *restrict out, int64_t n) {
    switch (operation) {
    case PLUS: EACH(x + y);
    case MINUS: EACH(x - y);
    case TIMES: EACH(x * y);
    case DIVIDED: EACH(x / y);
    case RATIO: EACH(y != 0.0 ? x / y : 0.0);
    case LEAST: EACH(x < y ? x : y);
    case MOST: EACH(x > y ? x : y);
    case AT_MOST: EACH(x <= y);
    case AT_LEAST: EACH(x >= y);
    case BELOW: EACH(x < y);
    case ABOVE: EACH(x > y);
    }
}

/* out[i] = values[index[i]]; 0 if some index is none. */
RS_API int32_t rs_vectors_take(const double *values, int64_t many, const double *index, double *restrict out, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        if (!(index[i] >= 0 && index[i] < (double)many)) return 0;
        out[i] = values[(int64_t)index[i]];
    }
    return 1;
}

/* out[index[i]] = values[i]; 0 if some index is none. */
RS_API int32_t rs_vectors_put(const double *values, const double *index, int64_t n, double *restrict out, int64_t many) {
    for (int64_t i = 0; i < n; i++) {
        if (!(index[i] >= 0 && index[i] < (double)many)) return 0;
        out[(int64_t)index[i]] = values[i];
    }
    return 1;
}

/* The places at which `keep` is not 0, and how many these are. */
RS_API int64_t rs_vectors_where(const double *keep, double *restrict places, int64_t n) {
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++) {
        places[count] = (double)i;
        count += keep[i] != 0.0;
    }
    return count;
}

RS_API void rs_vectors_of_int32(const int32_t *values, double *restrict out, int64_t n) {
    for (int64_t i = 0; i < n; i++) out[i] = values[i];
}

/* out[i] = values[index[i]] for judged documents by their numbers, which the scanner gives. */
RS_API void rs_vectors_take_int32(const int32_t *values, const int32_t *index, double *restrict out, int64_t n) {
    for (int64_t i = 0; i < n; i++) out[i] = values[index[i]];
}

/* The list of each hit, where list l ends before hit ends[l]. */
RS_API void rs_vectors_owners(const int64_t *ends, int64_t lists, double *restrict out) {
    int64_t hit = 0;
    for (int64_t l = 0; l < lists; l++)
        for (; hit < ends[l]; hit++) out[hit] = (double)l;
}

/* 1 for the first hit of a list, 2 for the second, ... */
RS_API void rs_vectors_ordinals(const double *list, double *restrict out, int64_t n) {
    for (int64_t i = 0; i < n; i++) out[i] = i && list[i] == list[i - 1] ? out[i - 1] + 1.0 : 1.0;
}

/* The sum of a value over the hits of each list, added one by one; a step of 0 repeats one number. */
RS_API void rs_vectors_sums(const double *list, const double *values, int64_t step, int64_t n, double *restrict out) {
    for (int64_t i = 0; i < n; i++) out[(int64_t)list[i]] += values[i * step];
}

/* The value at the first hit of each list that has one. */
RS_API void rs_vectors_firsts(const double *list, const double *values, int64_t n, double *restrict out) {
    for (int64_t i = n; i-- > 0;) out[(int64_t)list[i]] = values[i];
}

/* The places of the values above 0, list by list, within a list from the largest to the smallest, equal ones as they
 * stand; and how many these are. There are few different values in a list: they are grades. */
RS_API int64_t rs_vectors_falling(const double *list, const double *values, int64_t n, double *restrict places) {
    int64_t count = 0;
    for (int64_t start = 0, stop; start < n; start = stop) {
        for (stop = start; stop < n && list[stop] == list[start];) stop++;
        for (double last = INFINITY, next;; last = next) {
            next = 0.0;
            for (int64_t i = start; i < stop; i++)
                if (values[i] < last && values[i] > next) next = values[i];
            if (!(next > 0.0)) break;
            for (int64_t i = start; i < stop; i++)
                if (values[i] == next) places[count++] = (double)i;
        }
    }
    return count;
}

/* The sum of all, added in the order in which numpy adds: in pairs of blocks, eight by eight within a block. */
RS_API double rs_vectors_total(const double *a, int64_t n) {
    if (n < 8) {
        double sum = n ? a[0] : 0.0;
        for (int64_t i = 1; i < n; i++) sum += a[i];
        return sum;
    }
    if (n <= 128) {
        double r[8];
        int64_t i = 8;
        for (int j = 0; j < 8; j++) r[j] = a[j];
        for (; i < n - n % 8; i += 8)
            for (int j = 0; j < 8; j++) r[j] += a[i + j];
        double sum = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]));
        for (; i < n; i++) sum += a[i];
        return sum;
    }
    int64_t half = n / 2;
    half -= half % 8;
    return rs_vectors_total(a, half) + rs_vectors_total(a + half, n - half);
}
