/* The judged documents of all topics, hashed by topic. */
#ifndef RANKSCOPE_TABLE_H
#define RANKSCOPE_TABLE_H

#include "ids.h"
#include "number.h"
#include "scanner.h"

/* Documents of a list, judgments, topics, bytes of a line. Tests compile a smaller limit, which can be reached. */
#ifndef LONGEST
#define LONGEST INT32_MAX
#endif

/* Where the judged documents of a topic are hashed: buckets of four slots, filled from the left. A slot holds the
 * number of the document within the topic plus one in its lower bits and part of the hash in the others, the
 * highest of which is set; 0 is free. */
enum { BUCKET = 4 };
typedef struct {
    const uint32_t *slots;
    uint32_t mask, number_mask; /* mask: buckets less one */
    int32_t before;             /* the judged documents of the topics before */
} judged_slots;

struct rs_table {
    ids_key key;
    ids topics;
    int64_t *offsets;
    uint8_t *bytes; /* of all judged documents */
    uint64_t *starts;
    uint32_t *slots;
    judged_slots *of_topic;
    number_locale c_locale;
};

/* Of a topic without judgments. */
static const uint32_t judged_none[BUCKET] = {0};
static const judged_slots judged_nothing = {judged_none, 0, 1, 0};

static inline uint32_t judged_mark(uint64_t hash) { return (uint32_t)(hash >> 32) | UINT32_C(1) << 31; }

static inline const uint32_t *judged_bucket(judged_slots where, uint64_t hash) {
    return where.slots + BUCKET * (uint64_t)((uint32_t)hash & where.mask);
}

static inline const uint32_t *judged_next(judged_slots where, const uint32_t *bucket) {
    return bucket == where.slots + BUCKET * (uint64_t)where.mask ? where.slots : bucket + BUCKET;
}

/* Bit i: slot i of the bucket has the mark. */
static inline unsigned judged_alike(judged_slots where, const uint32_t *bucket, uint32_t mark) {
    const uint32_t kept = ~where.number_mask;
#if defined(RS_SSE2)
    __m128i slots = _mm_and_si128(_mm_loadu_si128((const __m128i *)bucket), _mm_set1_epi32((int)kept));
    __m128i same = _mm_cmpeq_epi32(slots, _mm_set1_epi32((int)(mark & kept)));
    return (unsigned)_mm_movemask_ps(_mm_castsi128_ps(same));
#else
    unsigned alike = 0;
    for (int i = 0; i < BUCKET; i++) alike |= (unsigned)(((bucket[i] ^ mark) & kept) == 0) << i;
    return alike;
#endif
}

/* A judged document that may have this hash, or -1: no document of the topic has it. Whether it is the one is
 * decided by its bytes once the list is complete: looking at them here would wait for memory. */
static inline int32_t judged_like(judged_slots where, uint64_t hash) {
    const uint32_t *bucket = judged_bucket(where, hash), mark = judged_mark(hash);
    unsigned alike = judged_alike(where, bucket, mark);
    while (bucket[BUCKET - 1] && !alike) {
        alike = judged_alike(where, bucket = judged_next(where, bucket), mark);
        IDS_PROBE;
    }
    /* judged or not cannot be predicted, so there is no branch on it */
    int32_t number = where.before + (int32_t)(bucket[lowest_bit(alike | 1u << (BUCKET - 1))] & where.number_mask);
    return (number & -(int32_t)(alike != 0)) - 1;
}

static inline int judged_is(const rs_table *table, int32_t document, const uint8_t *id, size_t n) {
    uint64_t start = table->starts[document];
    return table->starts[document + 1] - start == n && ids_same(table->bytes + start, id, n);
}

/* The judged document with these bytes, or -1. */
static inline int32_t judged_exactly(const rs_table *table, judged_slots where, const uint8_t *id, size_t n) {
    const uint64_t hash = ids_hash(table->key, id, n);
    for (const uint32_t *bucket = judged_bucket(where, hash);; bucket = judged_next(where, bucket)) {
        unsigned alike = judged_alike(where, bucket, judged_mark(hash));
        for (int i = 0; alike; alike >>= 1, i++) {
            int32_t document = where.before + (int32_t)(bucket[i] & where.number_mask) - 1;
            if ((alike & 1) && judged_is(table, document, id, n)) return document;
        }
        if (!bucket[BUCKET - 1]) return -1;
    }
}

/* Fetching memory ahead has no visible effect, so some compilers drop calls of functions that do nothing else. */
#if defined(__GNUC__)
#define FETCH(address) __builtin_prefetch(address)
#define FETCHING static inline __attribute__((always_inline))
#else
#define FETCH(address) ((void)(address))
#define FETCHING static inline
#endif

FETCHING void fetch_span(const void *memory, uint64_t bytes) {
    const char *p = memory;
    for (uint64_t i = 0; i < bytes && i < (1 << 17); i += 64) FETCH(p + i);
}

/* A new topic needs its part of the table soon; asked for in one sweep it comes faster than miss by miss. */
FETCHING void fetch_topic(const rs_table *table, int32_t topic) {
    int64_t first = table->offsets[topic], count = table->offsets[topic + 1] - first;
    uint64_t start = table->starts[first];
    const judged_slots where = table->of_topic[topic];
    fetch_span(where.slots, sizeof *table->slots * BUCKET * ((uint64_t)where.mask + 1));
    fetch_span(table->starts + first, 8 * (uint64_t)count);
    fetch_span(table->bytes + start, table->starts[first + count] - start);
}

/* A copy of n elements, followed by as many zero bytes as padding asks for; NULL without memory. */
static inline void *copy_of(const void *source, uint64_t n, size_t each, size_t padding) {
    uint8_t *copy = ids_resize(NULL, n * each + padding + 1, 1);
    if (!copy) return NULL;
    if (n) memcpy(copy, source, n * each);
    memset(copy + n * each, 0, padding + 1);
    return copy;
}

#endif
