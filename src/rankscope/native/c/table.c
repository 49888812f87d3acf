#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* strtod_l */
#endif
#include "table.h"

#if defined(RS_COUNT_PROBES)
RS_API uint64_t rs_probes = 0;
#endif

int table_resize(void *array, uint64_t needed, size_t each) {
    void *memory; /* read and written as bytes: pointers of different types are different objects to the compiler */
    memcpy(&memory, array, sizeof memory);
    memory = ids_resize(memory, needed, each);
    if (memory) memcpy(array, &memory, sizeof memory);
    return memory != NULL;
}

rs_table *table_new(ids_key key) {
    rs_table *table = calloc(1, sizeof *table);
    if (!table) return NULL;
    table->key = table->topics.key = table->documents.key = key;
    table->c_locale = number_locale_new();
    if (table->c_locale) return table;
    rs_table_free(table);
    return NULL;
}

/* Up to three documents share a bucket with a free slot, so that one look finds them; more have as many buckets. */
static uint64_t buckets_for(uint64_t documents) {
    uint64_t buckets = 1;
    while (documents >= BUCKET && buckets < documents) buckets *= 2;
    return buckets;
}

int table_slots(rs_table *table) {
    const uint64_t topics = table->topics.count, *starts = table->documents.starts;
    uint64_t total = 0;
    table->buckets = ids_resize(NULL, topics + 1, sizeof *table->buckets);
    if (!table->buckets) return 0;
    for (uint64_t t = 0; t < topics; t++) {
        table->buckets[t] = (uint32_t)total;
        total += buckets_for((uint64_t)(table->offsets[t + 1] - table->offsets[t]));
    }
    table->buckets[topics] = (uint32_t)total;
    table->slots = total > UINT32_MAX ? NULL : calloc(BUCKET * total + 1, sizeof *table->slots);
    if (!table->slots) {
        free(table->buckets);
        table->buckets = NULL;
        return 0;
    }
    for (uint64_t t = 0; t < topics; t++) {
        const judged_slots where = judged_of_topic(table, (int32_t)t);
        uint32_t *slots = table->slots + BUCKET * (uint64_t)table->buckets[t];
        for (int32_t d = table->offsets[t]; d < table->offsets[t + 1]; d++) {
            uint64_t hash = ids_hash(table->key, table->documents.bytes + starts[d], starts[d + 1] - starts[d]);
            uint64_t at = BUCKET * (uint64_t)((uint32_t)hash & where.mask), end = BUCKET * ((uint64_t)where.mask + 1);
            for (; slots[at]; at = at + 1 == end ? 0 : at + 1) IDS_PROBE;
            slots[at] = (judged_mark(hash) & ~where.number_mask) | (uint32_t)(d - table->offsets[t] + 1);
        }
    }
    return 1;
}

RS_API rs_table *rs_table_new(int64_t topics, const uint8_t *topic_bytes, const uint64_t *topic_starts,
                              const int64_t *offsets, const uint8_t *document_bytes, const uint64_t *document_starts,
                              const uint64_t key[2]) {
    rs_table *table = table_new((ids_key){key[0], key[1]});
    if (!table) return NULL;
    uint64_t documents = (uint64_t)offsets[topics];
    table->offsets = ids_resize(NULL, (uint64_t)topics + 1, sizeof *table->offsets);
    table->documents.starts = copy_of(document_starts, documents + 1, sizeof *document_starts, 0);
    table->documents.bytes = copy_of(document_bytes, document_starts[documents], 1, IDS_PADDING);
    uint8_t *names = copy_of(topic_bytes, topic_starts[topics], 1, IDS_PADDING);
    int good = table->offsets && table->documents.starts && table->documents.bytes && names && documents < LONGEST &&
               topics < LONGEST;
    for (int64_t t = 0; good && t < topics; t++) {
        size_t n = topic_starts[t + 1] - topic_starts[t];
        const uint8_t *id = names + topic_starts[t];
        good = ids_add(&table->topics, ids_hash(table->key, id, n), id, n) == IDS_NEW;
    }
    for (int64_t t = 0; good && t <= topics; t++) table->offsets[t] = (int32_t)offsets[t];
    free(names);
    if (good && table_slots(table)) return table;
    rs_table_free(table);
    return NULL;
}

RS_API void rs_table_free(rs_table *table) {
    if (!table) return;
    ids_free(&table->topics);
    ids_free(&table->documents);
    free(table->offsets);
    free(table->slots);
    free(table->buckets);
    number_locale_free(table->c_locale);
    free(table);
}
