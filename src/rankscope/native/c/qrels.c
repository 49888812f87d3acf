#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* strtod_l */
#endif
#include "fields.h"
#include "sorting.h"
#include "table.h"

struct rs_qrels {
    uint8_t *text; /* not yet parsed, then WINDOW readable bytes */
    uint64_t used, text_room;
    rs_table *table;  /* its documents are those of the lines, until they are arranged */
    uint32_t *topic;  /* of each line; until the lines are arranged */
    int32_t *grades;
    uint16_t *codes;  /* names of the second column by number; NULL as long as there is only one */
    ids iterations;   /* the names */
    uint64_t count, room;
};

enum {
    JUDGED_COLUMNS = 4,
    LONGEST_JUDGMENT = 1 << 20, /* bytes of a line: a longer one is for others to judge */
    MOST_ITERATIONS = 1 << 16   /* names in the second column that codes can tell apart */
};

RS_API void rs_qrels_free(rs_qrels *qrels) {
    if (!qrels) return;
    rs_table_free(qrels->table);
    ids_free(&qrels->iterations);
    free(qrels->text);
    free(qrels->topic);
    free(qrels->grades);
    free(qrels->codes);
    free(qrels);
}

RS_API rs_qrels *rs_qrels_new(const uint64_t key[2]) {
    rs_qrels *qrels = calloc(1, sizeof *qrels);
    if (!qrels) return NULL;
    qrels->table = table_new((ids_key){key[0], key[1]});
    qrels->iterations.key = (ids_key){key[0], key[1]};
    if (qrels->table) return qrels;
    rs_qrels_free(qrels);
    return NULL;
}

/* ---------------------------------------------------------------- lines */

static const uint8_t *after_blanks(const uint8_t *p) {
    while (*p == ' ' || *p == '\t') p++;
    return p;
}

/* The four fields of a line and where the next one starts; NULL if there is anything unusual about it. */
static const uint8_t *split_judgment(const uint8_t *p, field *fields) {
    const uint8_t *line = p;
    if (*p == '#') return NULL;
    for (int i = 0; i < JUDGED_COLUMNS; i++) {
        const uint8_t *start = p;
        while (*p > ' ') p++;
        if (p == start || (*p != ' ' && *p != '\t' && i < JUDGED_COLUMNS - 1)) return NULL;
        fields[i] = (field){start, (size_t)(p - start)};
        p = after_blanks(p);
    }
    if (*p == '\r') p++;
    return *p == '\n' && p - line < LONGEST_JUDGMENT ? p + 1 : NULL;
}

/* Parses a 32-bit grade; returns 0 if the field is invalid. */
static int grade_of(field text, int32_t *grade) {
    const uint8_t *p = text.at, *end = text.at + text.length;
    const int negative = *p == '-';
    int64_t value = 0;
    if (*p == '-' || *p == '+') p++;
    if (p == end || end - p > 10) return 0;
    for (; p < end; p++) {
        if (*p < '0' || *p > '9') return 0;
        value = 10 * value + (*p - '0');
    }
    if (value > INT32_MAX - 1) return 0;
    *grade = (int32_t)(negative ? -value : value);
    return 1;
}

static int same_field(field a, field b) { return a.length == b.length && !memcmp(a.at, b.at, a.length); }

/* The number of a name, which is added if it is new; -1 without memory. */
static int64_t number_of(ids *names, field name) {
    const int64_t found = ids_add(names, ids_hash(names->key, name.at, name.length), name.at, name.length);
    return found == IDS_NEW ? (int64_t)names->count - 1 : found == IDS_NO_MEMORY ? -1 : found;
}

/* Room for another line; 0 without memory. */
static int more_lines(rs_qrels *qrels) {
    const uint64_t room = qrels->room ? 2 * qrels->room : 4096;
    if (qrels->count < qrels->room) return 1;
    if (!table_resize(&qrels->topic, room, sizeof *qrels->topic) ||
        !table_resize(&qrels->grades, room, sizeof *qrels->grades) ||
        (qrels->codes && !table_resize(&qrels->codes, room, sizeof *qrels->codes)) ||
        !table_resize(&qrels->table->documents.starts, room + 1, sizeof *qrels->table->documents.starts))
        return 0;
    if (!qrels->room) qrels->table->documents.starts[0] = 0;
    qrels->room = room;
    return 1;
}

static int add_judgment(rs_qrels *qrels, field document, uint32_t topic, uint16_t code, int32_t grade) {
    ids *documents = &qrels->table->documents;
    if (!more_lines(qrels)) return 0;
    if (code && !qrels->codes) {
        if (!table_resize(&qrels->codes, qrels->room, sizeof *qrels->codes)) return 0;
        memset(qrels->codes, 0, qrels->count * sizeof *qrels->codes);
    }
    const uint64_t start = documents->starts[qrels->count], end = start + document.length;
    if (end + IDS_PADDING > documents->bytes_room) {
        const uint64_t room = end + end / 2 + 4096;
        if (!table_resize(&documents->bytes, room, 1)) return 0;
        documents->bytes_room = room;
    }
    memcpy(documents->bytes + start, document.at, document.length);
    qrels->topic[qrels->count] = topic;
    qrels->grades[qrels->count] = grade;
    if (qrels->codes) qrels->codes[qrels->count] = code;
    documents->starts[++qrels->count] = end;
    return 1;
}

/* Whole lines; 0 if one of them is unusual. */
static int take_lines(rs_qrels *qrels, const uint8_t *p, const uint8_t *end) {
    field fields[JUDGED_COLUMNS], topic = {end, 0}, iteration = {end, 0};
    int64_t number = 0, code = 0;
    while (p < end) {
        int32_t grade;
        p = after_blanks(p);
        if (*p == '\n' || (*p == '\r' && p[1] == '\n')) { /* nothing in it; the last line may be without an end */
            p += *p == '\r' ? 2 : 1;
            continue;
        }
        p = split_judgment(p, fields);
        if (!p || !grade_of(fields[3], &grade) || qrels->count >= LONGEST - 1) return 0;
        if (!same_field(fields[0], topic)) number = number_of(&qrels->table->topics, fields[0]);
        if (!same_field(fields[1], iteration)) code = number_of(&qrels->iterations, fields[1]);
        if (number < 0 || code < 0 || code >= MOST_ITERATIONS) return 0;
        if (!add_judgment(qrels, fields[2], (uint32_t)number, (uint16_t)code, grade)) return 0;
        topic = fields[0];
        iteration = fields[1];
    }
    return 1;
}

RS_API int32_t rs_qrels_feed(rs_qrels *qrels, const uint8_t *data, int64_t bytes) {
    const uint64_t n = (uint64_t)bytes, needed = qrels->used + n + WINDOW;
    if (needed > qrels->text_room) {
        if (!table_resize(&qrels->text, 2 * needed, 1)) return 0;
        qrels->text_room = 2 * needed;
    }
    memcpy(qrels->text + qrels->used, data, n);
    memset(qrels->text + qrels->used + n, 0, WINDOW);
    uint64_t end = qrels->used + n, last = end;
    while (last > qrels->used && qrels->text[last - 1] != '\n') last--;
    const int is_inside = last == qrels->used; /* the line goes on */
    if (is_inside) last = 0;
    qrels->used = end - last;
    if (qrels->used > LONGEST_JUDGMENT || !take_lines(qrels, qrels->text, qrels->text + last)) return 0;
    memmove(qrels->text, qrels->text + last, qrels->used);
    return 1;
}

/* ---------------------------------------------------------------- by topic and document */

static field name_of(const ids *set, uint64_t i) {
    return (field){set->bytes + set->starts[i], set->starts[i + 1] - set->starts[i]};
}

static int compared(const ids *set, uint64_t i, uint64_t j) {
    const field a = name_of(set, i), b = name_of(set, j);
    return ids_compare(a.at, a.length, b.at, b.length);
}

/* Whether all names are numbers of up to 18 digits. */
static int all_numbers(const ids *names) {
    const uint64_t used = names->starts[names->count];
    for (uint64_t i = 0; i < used; i++)
        if (names->bytes[i] < '0' || names->bytes[i] > '9') return 0;
    for (uint64_t i = 0; i < names->count; i++)
        if (name_of(names, i).length > 18) return 0;
    return 1;
}

static uint64_t value_of(field name) {
    uint64_t value = 0;
    for (size_t i = 0; i < name.length; i++) value = 10 * value + (uint64_t)(name.at[i] - '0');
    return value;
}

/* Numbers the topics by number if all are numbers, else by their bytes, as `sort_naturally` does; 0 without memory. */
static int sort_topics(rs_qrels *qrels) {
    ids *topics = &qrels->table->topics, sorted = {.key = topics->key};
    const uint64_t n = topics->count;
    const int is_numeric = all_numbers(topics);
    uint64_t value = is_numeric ? value_of(name_of(topics, 0)) : 0, i = 1;
    for (; i < n; i++) {
        const uint64_t before = value;
        if (is_numeric) value = value_of(name_of(topics, i));
        if (value < before || (value == before && compared(topics, i - 1, i) > 0)) break;
    }
    if (i >= n) return 1; /* they came in this order */
    sorting_item *items = ids_resize(NULL, 2 * n, sizeof *items);
    uint32_t *place = ids_resize(NULL, n, sizeof *place);
    int good = items && place;
    if (good) {
        for (i = 0; i < n; i++) items[i] = (sorting_item){is_numeric ? value_of(name_of(topics, i)) : 0, (uint32_t)i};
        if (is_numeric) sorting_by_key(items, items + n, n);
        for (uint64_t from = 0, to; from < n; from = to) { /* 01 and 1 are the same number */
            for (to = from + 1; to < n && items[to].key == items[from].key;) to++;
            if (to - from > 1) sorting_by_id(items + from, items + n, to - from, topics, 1);
        }
        for (i = 0; good && i < n; i++) {
            place[items[i].index] = (uint32_t)i;
            good = number_of(&sorted, name_of(topics, items[i].index)) >= 0;
        }
    }
    for (i = 0; good && i < qrels->count; i++) qrels->topic[i] = place[qrels->topic[i]];
    free(items);
    free(place);
    if (good) {
        ids before = *topics;
        *topics = sorted;
        sorted = before;
    }
    ids_free(&sorted);
    return good;
}

/* The lines by topic and id; NULL if a document comes twice, or without memory. */
static uint32_t *ordered_lines(const rs_qrels *qrels) {
    const ids *documents = &qrels->table->documents;
    const int32_t *offsets = qrels->table->offsets;
    const uint64_t topics = qrels->table->topics.count;
    uint64_t most = 0;
    for (uint64_t t = 0; t < topics; t++) {
        const uint64_t n = (uint64_t)(offsets[t + 1] - offsets[t]);
        if (n > most) most = n;
    }
    uint32_t *order = ids_resize(NULL, qrels->count, sizeof *order);
    int32_t *next = copy_of(offsets, topics, sizeof *offsets, 0);
    sorting_item *items = ids_resize(NULL, 2 * most, sizeof *items);
    int good = order && next && items;
    for (uint64_t i = 0; good && i < qrels->count; i++) order[next[qrels->topic[i]]++] = (uint32_t)i;
    for (uint64_t t = 0; good && t < topics; t++) {
        uint32_t *lines = order + offsets[t];
        const uint64_t n = (uint64_t)(offsets[t + 1] - offsets[t]);
        for (uint64_t i = 0; i < n; i++) items[i].index = lines[i];
        sorting_by_id(items, items + n, n, documents, 1);
        for (uint64_t i = 0; i < n; i++) lines[i] = items[i].index;
        for (uint64_t i = 1; good && i < n; i++) good = compared(documents, lines[i - 1], lines[i]) != 0;
    }
    free(next);
    free(items);
    if (good) return order;
    free(order);
    return NULL;
}

/* Puts the lines into an order; 0 without memory. */
static int reorder(rs_qrels *qrels, const uint32_t *order) {
    ids *documents = &qrels->table->documents;
    uint8_t *bytes = ids_resize(NULL, documents->starts[qrels->count] + IDS_PADDING, 1);
    uint64_t *starts = ids_resize(NULL, qrels->count + 1, sizeof *starts);
    int32_t *grades = ids_resize(NULL, qrels->count, sizeof *grades);
    uint16_t *codes = qrels->codes ? ids_resize(NULL, qrels->count, sizeof *codes) : NULL;
    const int good = bytes && starts && grades && (codes || !qrels->codes);
    if (good) {
        starts[0] = 0;
        for (uint64_t i = 0; i < qrels->count; i++) {
            const field document = name_of(documents, order[i]);
            memcpy(bytes + starts[i], document.at, document.length);
            starts[i + 1] = starts[i] + document.length;
            grades[i] = qrels->grades[order[i]];
            if (codes) codes[i] = qrels->codes[order[i]];
        }
        free(documents->bytes);
        free(documents->starts);
        free(qrels->grades);
        free(qrels->codes);
        documents->bytes = bytes;
        documents->starts = starts;
        qrels->grades = grades;
        qrels->codes = codes;
        return 1;
    }
    free(bytes);
    free(starts);
    free(grades);
    free(codes);
    return 0;
}

static int arrange(rs_qrels *qrels) {
    rs_table *table = qrels->table;
    const uint64_t topics = table->topics.count;
    if (!qrels->count || !sort_topics(qrels) || !(table->offsets = calloc(topics + 1, sizeof *table->offsets))) return 0;
    int rises = 1;
    for (uint64_t i = 0; i < qrels->count; i++) {
        const uint32_t topic = qrels->topic[i], before = i ? qrels->topic[i - 1] : 0;
        table->offsets[topic + 1]++;
        rises &= !i || topic > before || (topic == before && compared(&table->documents, i - 1, i) < 0);
    }
    for (uint64_t t = 0; t < topics; t++) table->offsets[t + 1] += table->offsets[t];
    if (rises) return 1;
    uint32_t *order = ordered_lines(qrels);
    const int good = order && reorder(qrels, order);
    free(order);
    return good;
}

RS_API int32_t rs_qrels_finish(rs_qrels *qrels) {
    if (!rs_qrels_feed(qrels, (const uint8_t *)"\n", 1) || !arrange(qrels)) return 0;
    ids *documents = &qrels->table->documents;
    const uint64_t used = documents->starts[documents->count = qrels->count];
    free(qrels->text);
    free(qrels->topic);
    qrels->text = NULL;
    qrels->topic = NULL;
    /* The arrays stay as long as the judgments: without the room to grow. */
    if (qrels->codes && !table_resize(&qrels->codes, qrels->count, sizeof *qrels->codes)) return 0;
    if (!table_resize(&qrels->grades, qrels->count, sizeof *qrels->grades) ||
        !table_resize(&documents->starts, qrels->count + 1, sizeof *documents->starts) ||
        !table_resize(&documents->bytes, used + IDS_PADDING, 1))
        return 0;
    memset(documents->bytes + used, 0, IDS_PADDING);
    return 1;
}

static int64_t length_of(const ids *set) { return set->count ? (int64_t)(set->starts[set->count] + set->count) : 0; }

RS_API void rs_qrels_result(const rs_qrels *qrels, rs_judgments *result) {
    const ids *topics = &qrels->table->topics, *iterations = &qrels->iterations, *documents = &qrels->table->documents;
    *result = (rs_judgments){
        .topics = (int64_t)topics->count, .topics_length = length_of(topics),
        .iterations = (int64_t)iterations->count, .iterations_length = length_of(iterations),
        .documents = (int64_t)documents->count, .documents_length = length_of(documents),
        .offsets = qrels->table->offsets, .grades = qrels->grades, .codes = qrels->codes};
}

RS_API void rs_qrels_names(const rs_qrels *qrels, int32_t column, uint8_t *lines) {
    const ids *set = column == RS_TOPICS       ? &qrels->table->topics
                     : column == RS_ITERATIONS ? &qrels->iterations
                                               : &qrels->table->documents;
    for (uint64_t i = 0; i < set->count; i++) {
        const field name = name_of(set, i);
        memcpy(lines, name.at, name.length);
        lines += name.length;
        *lines++ = '\n';
    }
}

RS_API const rs_table *rs_qrels_table(rs_qrels *qrels) {
    return qrels->table->slots || table_slots(qrels->table) ? qrels->table : NULL;
}
