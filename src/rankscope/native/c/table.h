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
    ids documents;     /* of all topics, in their order; without slots */
    int32_t *offsets;  /* the documents of a topic are offsets[t] .. offsets[t+1]-1 */
    uint32_t *slots, *buckets; /* the slots of a topic start at bucket buckets[t] */
    number_locale c_locale;
};

/* An empty table, or NULL without memory; the caller adds topics and documents, and then their slots. */
rs_table *table_new(ids_key key);
/* Hashes the documents; 0 without memory. */
int table_slots(rs_table *table);
/* Gives the array that a pointer points to room for `needed` elements; 0 without memory. */
int table_resize(void *array, uint64_t needed, size_t each);

/* Of a topic without judgments. */
static const uint32_t judged_none[BUCKET] = {0};
static const judged_slots judged_nothing = {judged_none, 0, 1, 0};

static inline judged_slots judged_of_topic(const rs_table *table, int32_t topic) {
    const uint32_t *bucket = table->buckets + topic, judged = (uint32_t)(table->offsets[topic + 1] - table->offsets[topic]);
    uint32_t numbers = 2;
    while (numbers <= judged) numbers *= 2;
    return (judged_slots){table->slots + BUCKET * (uint64_t)*bucket, bucket[1] - *bucket - 1, numbers - 1,
                          table->offsets[topic]};
}

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

/* Whether a judged document of the topic may have this hash. Which one, and whether it is the same, is for its bytes to
 * decide once the list is complete: looking at them here would wait for memory. */
INLINE int judged_like(judged_slots where, uint64_t hash) {
    const uint32_t *bucket = judged_bucket(where, hash), mark = judged_mark(hash);
    unsigned alike = judged_alike(where, bucket, mark);
    while (bucket[BUCKET - 1] && !alike) {
        alike = judged_alike(where, bucket = judged_next(where, bucket), mark);
        IDS_PROBE;
    }
    return alike != 0;
}

static inline int judged_is(const rs_table *table, int32_t document, const uint8_t *id, size_t n) {
    const uint64_t *start = table->documents.starts + document;
    return start[1] - *start == n && ids_same(table->documents.bytes + *start, id, n);
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
    const uint64_t *starts = table->documents.starts + table->offsets[topic];
    const uint64_t count = (uint64_t)(table->offsets[topic + 1] - table->offsets[topic]);
    const judged_slots where = judged_of_topic(table, topic);
    fetch_span(where.slots, sizeof *table->slots * BUCKET * ((uint64_t)where.mask + 1));
    fetch_span(starts, 8 * count);
    fetch_span(table->documents.bytes + *starts, starts[count] - *starts);
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
