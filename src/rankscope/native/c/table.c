#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* strtod_l */
#endif
#include "table.h"

#if defined(RS_COUNT_PROBES)
RS_API uint64_t rs_probes = 0;
#endif

static int table_slots(rs_table *table, int64_t topics) {
    uint64_t total = 0, first = 0;
    table->of_topic = ids_resize(NULL, (uint64_t)topics + 1, sizeof *table->of_topic);
    if (!table->of_topic) return 0;
    for (int64_t t = 0; t < topics; t++) {
        uint64_t judged = (uint64_t)(table->offsets[t + 1] - table->offsets[t]), buckets = 1, numbers = 2;
        while (BUCKET * buckets < 4 * judged) buckets *= 2;
        while (numbers <= judged) numbers *= 2;
        table->of_topic[t] =
            (judged_slots){NULL, (uint32_t)(buckets - 1), (uint32_t)(numbers - 1), (int32_t)table->offsets[t]};
        total += BUCKET * buckets;
    }
    table->slots = ids_resize(NULL, total + 1, sizeof *table->slots);
    if (!table->slots) return 0;
    memset(table->slots, 0, (total + 1) * sizeof *table->slots);
    for (int64_t t = 0; t < topics; t++) {
        uint32_t *slots = table->slots + first;
        table->of_topic[t].slots = slots;
        const judged_slots where = table->of_topic[t];
        for (int64_t d = table->offsets[t]; d < table->offsets[t + 1]; d++) {
            uint64_t hash = ids_hash(table->key, table->bytes + table->starts[d], table->starts[d + 1] - table->starts[d]);
            uint64_t at = BUCKET * (uint64_t)((uint32_t)hash & where.mask), end = BUCKET * ((uint64_t)where.mask + 1);
            for (; slots[at]; at = at + 1 == end ? 0 : at + 1) IDS_PROBE;
            slots[at] = (judged_mark(hash) & ~where.number_mask) | (uint32_t)(d - table->offsets[t] + 1);
        }
        first += BUCKET * ((uint64_t)where.mask + 1);
    }
    return 1;
}

RS_API rs_table *rs_table_new(int64_t topics, const uint8_t *topic_bytes, const uint64_t *topic_starts,
                              const int64_t *offsets, const uint8_t *document_bytes, const uint64_t *document_starts,
                              const uint64_t key[2]) {
    rs_table *table = calloc(1, sizeof *table);
    if (!table) return NULL;
    uint64_t documents = (uint64_t)offsets[topics];
    table->key = table->topics.key = (ids_key){key[0], key[1]};
    table->c_locale = number_locale_new();
    table->offsets = copy_of(offsets, (uint64_t)topics + 1, sizeof *offsets, 0);
    table->starts = copy_of(document_starts, documents + 1, sizeof *document_starts, 0);
    table->bytes = copy_of(document_bytes, document_starts[documents], 1, IDS_PADDING);
    uint8_t *names = copy_of(topic_bytes, topic_starts[topics], 1, IDS_PADDING);
    int good = table->c_locale && table->offsets && table->starts && table->bytes && names &&
               documents < LONGEST && topics < LONGEST && table_slots(table, topics);
    for (int64_t t = 0; good && t < topics; t++) {
        size_t n = topic_starts[t + 1] - topic_starts[t];
        const uint8_t *id = names + topic_starts[t];
        good = ids_add(&table->topics, ids_hash(table->key, id, n), id, n) == IDS_NEW;
    }
    free(names);
    if (good) return table;
    rs_table_free(table);
    return NULL;
}

RS_API void rs_table_free(rs_table *table) {
    if (!table) return;
    ids_free(&table->topics);
    free(table->offsets);
    free(table->bytes);
    free(table->starts);
    free(table->slots);
    free(table->of_topic);
    number_locale_free(table->c_locale);
    free(table);
}
