/* The judged documents of all topics, hashed by topic. */
#ifndef RANKSCOPE_TABLE_H
#define RANKSCOPE_TABLE_H

#include "ids.h"
#include "number.h"
#include "scanner.h"

#define LONGEST INT32_MAX /* documents of a list, judgments, topics, bytes of a line */

/* Where the judged documents of a topic are hashed: buckets of four slots, filled from the left. A slot holds the
 * number of the document within the topic plus one in its lower bits and part of the hash in the others, the
 * highest of which is set; 0 is free. */
enum { BUCKET = 4 };
typedef struct {
    uint64_t first;
    uint32_t mask, number_mask; /* buckets less one */
} judged_slots;

struct rs_table {
    ids topics;
    int64_t *offsets;
    uint8_t *bytes; /* of all judged documents */
    uint64_t *starts;
    uint32_t *slots;
    judged_slots *of_topic;
    number_locale c_locale;
};

static inline uint32_t judged_mark(uint64_t hash) { return (uint32_t)(hash >> 32) | UINT32_C(1) << 31; }

static inline const uint32_t *judged_bucket(const rs_table *table, judged_slots where, uint64_t hash) {
    return table->slots + where.first + BUCKET * ((uint32_t)hash & where.mask);
}

static inline int is_document(const rs_table *table, int32_t document, const uint8_t *id, size_t n) {
    uint64_t start = table->starts[document];
    return table->starts[document + 1] - start == n && ids_same(table->bytes + start, id, n);
}

/* A judged document with this hash, or -1. Its bytes are compared once the list is complete, unless they are given:
 * looking at them here would wait for memory. */
static inline int32_t judged_like(const rs_table *table, int32_t topic, uint64_t hash, const uint8_t *id, size_t n) {
    const judged_slots where = table->of_topic[topic];
    const uint32_t *bucket = judged_bucket(table, where, hash);
    const uint32_t *last = table->slots + where.first + BUCKET * (uint64_t)where.mask;
    for (;;) {
        unsigned alike = 0;
        for (int i = 0; i < BUCKET; i++)
            alike |= (unsigned)(((bucket[i] ^ judged_mark(hash)) & ~where.number_mask) == 0) << i;
        for (int i = 0; alike; alike >>= 1, i++) {
            if (!(alike & 1)) continue;
            int32_t document = (int32_t)(table->offsets[topic] + (bucket[i] & where.number_mask) - 1);
            if (!id || is_document(table, document, id, n)) return document;
        }
        if (!bucket[BUCKET - 1]) return -1;
        bucket = bucket == last ? table->slots + where.first : bucket + BUCKET;
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
    fetch_span(table->slots + where.first, sizeof *table->slots * BUCKET * ((uint64_t)where.mask + 1));
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
