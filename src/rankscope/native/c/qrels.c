#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* strtod_l */
#endif
#include "fields.h"
#include "table.h"

/* One line: where its document is in the text, the topic by its number, the grade. */
typedef struct {
    uint64_t start;
    uint32_t length, topic;
    int32_t grade;
} judgment;

struct rs_qrels {
    uint8_t *text;
    ids topics; /* numbered in order of appearance */
    judgment *lines;
    uint64_t count, room;
    uint8_t several; /* names in the second column */
    uint8_t *names;  /* of the topics, each followed by a newline */
    /* what arranging makes */
    int64_t *offsets;
    int32_t *grades;
    uint8_t *documents; /* by topic and id, each followed by a newline */
    uint64_t documents_length;
};

enum { JUDGED_COLUMNS = 4, LONGEST_JUDGMENT = 1 << 20 /* bytes of a line: a longer one is for others to judge */ };

RS_API void rs_qrels_free(rs_qrels *qrels) {
    if (!qrels) return;
    ids_free(&qrels->topics);
    void *owned[] = {qrels->text, qrels->lines, qrels->names, qrels->offsets, qrels->grades, qrels->documents};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
    free(qrels);
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

/* The number of a topic; -1 without memory. */
static int64_t topic_number(rs_qrels *qrels, field name) {
    int64_t found = ids_add(&qrels->topics, ids_hash(qrels->topics.key, name.at, name.length), name.at, name.length);
    return found == IDS_NEW ? (int64_t)qrels->topics.count - 1 : found == IDS_NO_MEMORY ? -1 : found;
}

static int add_judgment(rs_qrels *qrels, field document, int64_t topic, int32_t grade) {
    if (qrels->count == qrels->room) {
        const uint64_t room = qrels->room ? 2 * qrels->room : 4096;
        judgment *lines = ids_resize(qrels->lines, room, sizeof *lines);
        if (!lines) return 0;
        qrels->lines = lines;
        qrels->room = room;
    }
    qrels->lines[qrels->count++] = (judgment){(uint64_t)(document.at - qrels->text), (uint32_t)document.length,
                                              (uint32_t)topic, grade};
    return 1;
}

/* All lines of the text, which ends with a newline; 0 if one of them is unusual. */
static int take_lines(rs_qrels *qrels, const uint8_t *end) {
    field fields[JUDGED_COLUMNS], topic = {end, 0}, iteration = {end, 0};
    int64_t number = -1;
    for (const uint8_t *p = qrels->text; p < end;) {
        int32_t grade;
        p = after_blanks(p);
        if (*p == '\n' || (*p == '\r' && p[1] == '\n')) { /* nothing in it; the last line may be without an end */
            p += *p == '\r' ? 2 : 1;
            continue;
        }
        p = split_judgment(p, fields);
        if (!p || !grade_of(fields[3], &grade) || qrels->count >= LONGEST - 1) return 0;
        if (number < 0 || !same_field(fields[0], topic)) number = topic_number(qrels, fields[0]);
        if (number < 0 || !add_judgment(qrels, fields[2], number, grade)) return 0;
        if (qrels->count > 1 && !qrels->several) qrels->several = !same_field(fields[1], iteration);
        topic = fields[0];
        iteration = fields[1];
    }
    return qrels->count > 0;
}

static uint8_t *lines_of_names(const ids *set) {
    uint8_t *names = ids_resize(NULL, set->starts[set->count] + set->count + 1, 1), *p = names;
    for (uint64_t i = 0; names && i < set->count; i++) {
        const uint64_t n = set->starts[i + 1] - set->starts[i];
        memcpy(p, set->bytes + set->starts[i], n);
        p += n;
        *p++ = '\n';
    }
    return names;
}

RS_API rs_qrels *rs_qrels_new(const uint8_t *text, int64_t bytes, const uint64_t key[2]) {
    if (bytes < 0 || bytes > LONGEST) return NULL;
    rs_qrels *qrels = calloc(1, sizeof *qrels);
    if (!qrels) return NULL;
    qrels->topics.key = (ids_key){key[0], key[1]};
    qrels->text = copy_of(text, (uint64_t)bytes, 1, IDS_PADDING + WINDOW);
    if (qrels->text) {
        qrels->text[bytes] = '\n';
        if (take_lines(qrels, qrels->text + bytes) && (qrels->names = lines_of_names(&qrels->topics))) return qrels;
    }
    rs_qrels_free(qrels);
    return NULL;
}

/* ---------------------------------------------------------------- by topic and document */

static int compared(const rs_qrels *qrels, const judgment *a, const judgment *b) {
    return ids_compare(qrels->text + a->start, a->length, qrels->text + b->start, b->length);
}

/* The judgments of one topic by ascending id; `spare` has room for as many. */
static void sort_judgments(const rs_qrels *qrels, judgment *lines, judgment *spare, uint64_t n) {
    judgment *from = lines, *to = spare;
    for (uint64_t width = 1; width < n; width *= 2) {
        for (uint64_t low = 0; low < n; low += 2 * width) {
            const uint64_t middle = low + width < n ? low + width : n, high = low + 2 * width < n ? low + 2 * width : n;
            uint64_t a = low, b = middle, out = low;
            while (a < middle && b < high) to[out++] = compared(qrels, from + a, from + b) <= 0 ? from[a++] : from[b++];
            memcpy(to + out, from + a, (middle - a) * sizeof *to);
            memcpy(to + out + (middle - a), from + b, (high - b) * sizeof *to);
        }
        judgment *swap = from;
        from = to;
        to = swap;
    }
    if (from != lines) memcpy(lines, from, n * sizeof *lines);
}

static int rising(const rs_qrels *qrels, const judgment *lines, uint64_t n) {
    uint64_t i = 1;
    while (i < n && compared(qrels, lines + i - 1, lines + i) < 0) i++;
    return i >= n;
}

/* The judgments of each topic by id; 0 if a document comes twice, or without memory. */
static int by_document(rs_qrels *qrels, int64_t topics) {
    judgment *spare = NULL;
    int good = 1;
    for (int64_t t = 0; good && t < topics; t++) {
        judgment *lines = qrels->lines + qrels->offsets[t];
        const uint64_t n = (uint64_t)(qrels->offsets[t + 1] - qrels->offsets[t]);
        if (rising(qrels, lines, n)) continue;
        if (!spare) spare = ids_resize(NULL, qrels->count, sizeof *spare);
        if (spare) sort_judgments(qrels, lines, spare, n);
        good = spare && rising(qrels, lines, n);
    }
    free(spare);
    return good;
}

/* Moves the lines to their topics, in the order in which these are to be; 0 without memory. */
static int by_topic(rs_qrels *qrels, const int32_t *place, int64_t topics) {
    judgment *moved = ids_resize(NULL, qrels->count, sizeof *moved);
    int64_t *next = calloc((size_t)topics + 2, sizeof *next); /* of each place, after the first: where its next line goes */
    const int good = moved && next;
    if (good) {
        for (uint64_t i = 0; i < qrels->count; i++) next[place[qrels->lines[i].topic] + 2]++;
        for (int64_t t = 0; t < topics; t++) next[t + 2] += next[t + 1];
        for (uint64_t i = 0; i < qrels->count; i++) moved[next[place[qrels->lines[i].topic] + 1]++] = qrels->lines[i];
        memcpy(qrels->offsets, next, ((size_t)topics + 1) * sizeof *next);
        judgment *before = qrels->lines;
        qrels->lines = moved;
        qrels->room = qrels->count;
        moved = before;
    }
    free(moved);
    free(next);
    return good;
}

RS_API int32_t rs_qrels_arrange(rs_qrels *qrels, const int32_t *place) {
    const int64_t topics = (int64_t)qrels->topics.count;
    if (qrels->offsets) return 0; /* once is enough */
    qrels->offsets = ids_resize(NULL, (uint64_t)topics + 1, sizeof *qrels->offsets);
    qrels->grades = ids_resize(NULL, qrels->count, sizeof *qrels->grades);
    if (!qrels->offsets || !qrels->grades || !by_topic(qrels, place, topics) ||
        !by_document(qrels, topics))
        return 0;
    uint64_t used = qrels->count;
    for (uint64_t i = 0; i < qrels->count; i++) used += qrels->lines[i].length;
    uint8_t *p = qrels->documents = ids_resize(NULL, used, 1);
    if (!p) return 0;
    for (uint64_t i = 0; i < qrels->count; i++) {
        const judgment *line = qrels->lines + i;
        memcpy(p, qrels->text + line->start, line->length);
        p += line->length;
        *p++ = '\n';
        qrels->grades[i] = line->grade;
    }
    qrels->documents_length = used;
    return 1;
}

RS_API void rs_qrels_result(const rs_qrels *qrels, rs_judgments *result) {
    const uint64_t topics = qrels->topics.count;
    *result = (rs_judgments){.topics = (int64_t)topics, .judgments = (int64_t)qrels->count, .several = qrels->several,
                             .names = qrels->names, .names_length = (int64_t)(qrels->topics.starts[topics] + topics),
                             .offsets = qrels->offsets, .grades = qrels->grades, .documents = qrels->documents,
                             .documents_length = (int64_t)qrels->documents_length};
}

RS_API rs_table *rs_qrels_table(const rs_qrels *qrels, const int32_t *place, const uint64_t key[2]) {
    const uint64_t topics = qrels->topics.count, *starts = qrels->topics.starts;
    if (!qrels->documents) return NULL;
    uint8_t *names = ids_resize(NULL, starts[topics] + 1, 1), *documents = ids_resize(NULL, qrels->documents_length, 1);
    uint64_t *name_starts = ids_resize(NULL, topics + 1, 8), *document_starts = ids_resize(NULL, qrels->count + 1, 8);
    uint64_t *at = ids_resize(NULL, topics, 8); /* which topic is at a place */
    rs_table *table = NULL;
    if (names && documents && name_starts && document_starts && at) {
        for (uint64_t t = 0; t < topics; t++) at[place[t]] = t;
        name_starts[0] = document_starts[0] = 0;
        for (uint64_t t = 0; t < topics; t++) {
            const uint64_t n = starts[at[t] + 1] - starts[at[t]];
            memcpy(names + name_starts[t], qrels->topics.bytes + starts[at[t]], n);
            name_starts[t + 1] = name_starts[t] + n;
        }
        for (uint64_t i = 0; i < qrels->count; i++) {
            memcpy(documents + document_starts[i], qrels->text + qrels->lines[i].start, qrels->lines[i].length);
            document_starts[i + 1] = document_starts[i] + qrels->lines[i].length;
        }
        table = rs_table_new((int64_t)topics, names, name_starts, qrels->offsets, documents, document_starts, key);
    }
    void *made[] = {names, documents, name_starts, document_starts, at};
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) free(made[i]);
    return table;
}
