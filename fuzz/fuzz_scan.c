/* Fuzzes the scanner: any bytes as run, any blocks, any order; the result must be what the naive scanner finds.
 * All but the first two bytes are also read as judgments, lines of four words.
 *
 * Input: one digit for the order (0 to 4, as in rs_order; 5 to 9 are the same with lists that are kept), one byte for the
 * size of blocks, then judgments as lines of two words (topic, document), a line with a single '%', and the run.
 *
 * With clang this is a libFuzzer target. With -DSTANDALONE any compiler makes a program of it:
 *     fuzz_scan [-n MUTATIONS] FILE ...    checks the files, then that many random changes of them */
#include <stdio.h>

#include "naive.h"

#define REQUIRE(what)                                                        \
    do {                                                                     \
        if (!(what)) {                                                       \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #what); \
            abort();                                                         \
        }                                                                    \
    } while (0)

typedef struct {
    word topics[MOST], documents[MOST];
    int64_t offsets[MOST + 1];
    int count;
} judgments;

/* Judgments grouped by topic in order of appearance, each document once. Returns where the run starts. */
static const uint8_t *parse_judgments(judgments *judged, const uint8_t *p, const uint8_t *stop) {
    static word pairs[MOST][2];
    int count = 0;
    memset(judged, 0, sizeof *judged);
    while (p < stop) {
        const uint8_t *end = p;
        while (end < stop && *end != '\n') end++;
        const uint8_t *next = end < stop ? end + 1 : end;
        if (end - p == 1 && *p == '%') {
            p = next;
            break;
        }
        word words[6];
        if (words_of(p, end, words) == 2 && count < MOST) memcpy(pairs[count++], words, 2 * sizeof *words);
        p = next;
    }
    int64_t documents = 0;
    for (int i = 0; i < count; i++) {
        int known = 0;
        for (int t = 0; t < judged->count; t++) known |= same_word(judged->topics[t], pairs[i][0]);
        if (known) continue;
        judged->topics[judged->count] = pairs[i][0];
        for (int j = i; j < count; j++) {
            if (!same_word(pairs[j][0], pairs[i][0])) continue;
            int again = 0;
            for (int64_t d = judged->offsets[judged->count]; d < documents; d++)
                again |= same_word(judged->documents[d], pairs[j][1]);
            if (!again) judged->documents[documents++] = pairs[j][1];
        }
        judged->offsets[++judged->count] = documents;
    }
    return p;
}

static uint8_t *joined(const word *words, int64_t count, uint64_t *starts) {
    size_t total = 0;
    for (int64_t i = 0; i < count; i++) total += words[i].n;
    uint8_t *bytes = malloc(total + 1);
    REQUIRE(bytes);
    starts[0] = 0;
    for (int64_t i = 0; i < count; i++) {
        memcpy(bytes + starts[i], words[i].at, words[i].n);
        starts[i + 1] = starts[i] + words[i].n;
    }
    return bytes;
}

static rs_table *table_of(const judgments *judged) {
    static uint64_t topic_starts[MOST + 1], document_starts[MOST + 1];
    static const uint64_t key[2] = {UINT64_C(0x243F6A8885A308D3), UINT64_C(0x13198A2E03707344)};
    uint8_t *topics = joined(judged->topics, judged->count, topic_starts);
    uint8_t *documents = joined(judged->documents, judged->offsets[judged->count], document_starts);
    rs_table *table =
        rs_table_new(judged->count, topics, topic_starts, judged->offsets, documents, document_starts, key);
    REQUIRE(table);
    free(topics); /* the table must not need them any more */
    free(documents);
    return table;
}

enum { TOP = 3 }; /* documents of each list that are given back, or more if they share a score */

/* The documents at the top of the lists: as many as there must be, by ascending rank, in memory of the scan. */
static void check_tops(const rs_scan *scan, const rs_result *result) {
    rs_documents tops;
    rs_scan_documents(scan, &tops);
    if (result->status != RS_OK) return;
    int64_t d = 0;
    for (int64_t k = 0; k < result->lists; k++) {
        const int64_t first = d, least = result->length[k] < TOP ? result->length[k] : TOP;
        REQUIRE(tops.list_ends[k] - first >= least && tops.list_ends[k] - first <= result->length[k]);
        for (; d < tops.list_ends[k]; d++) {
            REQUIRE(tops.ends[d] > (d ? tops.ends[d - 1] : 0) && tops.bytes[tops.ends[d] - 1] != '\n');
            REQUIRE(tops.tie_first[d] <= d - first + 1 && (d == first || tops.tie_first[d] >= tops.tie_first[d - 1]));
            REQUIRE(d - first < TOP || tops.tie_first[d] <= TOP);
        }
    }
    REQUIRE(d == tops.documents);
}

/* One scan in blocks of the given size, each in memory of its own, so that reading past it is seen. */
static rs_scan *scan_of(const rs_table *table, const uint8_t *text, size_t n, int order, int keep, size_t block) {
    rs_scan *scan = rs_scan_new(table, order, keep);
    REQUIRE(scan);
    rs_scan_first(scan, TOP);
    for (size_t at = 0; at < n; at += block) {
        size_t size = n - at < block ? n - at : block;
        if (block % 2) {
            uint8_t *copy = malloc(size);
            REQUIRE(copy);
            memcpy(copy, text + at, size);
            rs_scan_feed(scan, copy, (int64_t)size);
            free(copy);
        } else {
            uint8_t *space = rs_scan_space(scan, (int64_t)block);
            REQUIRE(space);
            memcpy(space, text + at, size);
            rs_scan_commit(scan, (int64_t)size);
        }
    }
    rs_scan_finish(scan);
    return scan;
}

static void compare_list(const judgments *judged, const naive_run *run, const rs_result *result, int64_t k, int order) {
    word topic = judged->topics[result->topic[k]];
    int length = 0, tied = 0;
    int64_t hit = k ? result->hit_ends[k - 1] : 0, first = hit;
    for (int a = 0; a < run->count; a++) {
        if (!same_word(run->lines[a].topic, topic)) continue;
        int rank = 1, shares = 0;
        for (int b = 0; b < run->count; b++) {
            if (a == b || !same_word(run->lines[b].topic, topic)) continue;
            rank += naive_before(run, b, a, order);
            shares |= run->lines[a].score == run->lines[b].score;
        }
        length++;
        tied += shares;
        for (int64_t d = judged->offsets[result->topic[k]]; d < judged->offsets[result->topic[k] + 1]; d++) {
            if (!same_word(judged->documents[d], run->lines[a].document)) continue;
            int64_t found = first;
            while (found < result->hit_ends[k] && result->rank[found] != rank) found++;
            REQUIRE(found < result->hit_ends[k]);
            REQUIRE(result->judgment[found] == d);
            hit++;
        }
    }
    for (int64_t i = first + 1; i < result->hit_ends[k]; i++) REQUIRE(result->rank[i - 1] < result->rank[i]);
    REQUIRE(hit == result->hit_ends[k]);
    REQUIRE(result->length[k] == length);
    REQUIRE(result->tied[k] == tied);
}

static void compare(const judgments *judged, const naive_run *run, const rs_result *result, int order) {
    REQUIRE(result->status == run->status);
    if (run->status != RS_OK) {
        REQUIRE(result->line == run->line);
        REQUIRE(run->status != RS_FIELDS || result->fields == run->fields);
        return;
    }
    int64_t list = 0, ignored = 0;
    for (int i = 0; i < run->count; i++) { /* topics in order of appearance */
        word topic = run->lines[i].topic;
        int seen = 0, number = -1;
        for (int j = 0; j < i; j++) seen |= same_word(run->lines[j].topic, topic);
        if (seen) continue;
        for (int t = 0; t < judged->count; t++)
            if (same_word(judged->topics[t], topic)) number = t;
        if (number >= 0) {
            REQUIRE(list < result->lists && result->topic[list] == number);
            compare_list(judged, run, result, list++, order);
        } else {
            REQUIRE(ignored < result->ignored);
            uint64_t start = result->ignored_starts[ignored], end = result->ignored_starts[ignored + 1];
            REQUIRE(same_word(topic, (word){result->ignored_bytes + start, end - start}));
            ignored++;
        }
    }
    REQUIRE(list == result->lists && ignored == result->ignored);
    REQUIRE(result->hits == (list ? result->hit_ends[list - 1] : 0));
}

typedef struct {
    word topic, document;
    int32_t grade;
} naive_judgment;

/* The judgments of a text, line by line; -1 if a line has not four words that end in a whole number. */
static int naive_judgments(naive_judgment *lines, const uint8_t *p, const uint8_t *stop) {
    int count = 0;
    for (const uint8_t *end; p < stop; p = end + 1) {
        for (end = p; end < stop && *end != '\n';) end++;
        word words[6];
        const int64_t many = words_of(p, end, words);
        if (!many) continue;
        if (many != 4 || *words[0].at == '#' || count == MOST) return -1;
        const uint8_t *digit = words[3].at, *last = digit + words[3].n;
        const int negative = *digit == '-';
        int64_t grade = 0;
        for (digit += *digit == '-' || *digit == '+'; digit < last; digit++) {
            if (!isdigit(*digit) || grade > INT32_MAX) return -1;
            grade = 10 * grade + (*digit - '0');
        }
        lines[count++] = (naive_judgment){words[0], words[2], (int32_t)(negative ? -grade : grade)};
    }
    return count;
}

/* The names of a column, each followed by a newline. */
static uint8_t *names_of(const rs_qrels *qrels, int32_t column, int64_t length) {
    uint8_t *names = malloc((size_t)length + 1);
    REQUIRE(names);
    rs_qrels_names(qrels, column, names);
    return names;
}

static word next_name(const uint8_t **p) {
    word name = {*p, 0};
    while (name.at[name.n] != '\n') name.n++;
    *p += name.n + 1;
    return name;
}

/* Judgments that the library takes, in blocks of any size, are those of the lines, by topic and by document. */
static void check_judgments(const uint8_t *text, size_t n, size_t block) {
    static naive_judgment lines[MOST];
    static const uint64_t key[2] = {1, 2};
    rs_judgments found;
    rs_qrels *qrels = rs_qrels_new(key);
    REQUIRE(qrels);
    int good = 1;
    for (size_t at = 0; good && at < n; at += block)
        good = rs_qrels_feed(qrels, text + at, (int64_t)(n - at < block ? n - at : block));
    if (good && rs_qrels_finish(qrels)) {
        const int count = naive_judgments(lines, text, text + n);
        rs_qrels_result(qrels, &found);
        REQUIRE(count == found.documents || found.documents > MOST);
        REQUIRE(rs_qrels_table(qrels) && rs_qrels_table(qrels) == rs_qrels_table(qrels));
        REQUIRE(found.offsets[0] == 0 && found.offsets[found.topics] == found.documents);
        REQUIRE((found.codes != NULL) == (found.iterations > 1));
        uint8_t *topics = names_of(qrels, RS_TOPICS, found.topics_length);
        uint8_t *documents = names_of(qrels, RS_DOCUMENTS, found.documents_length);
        const uint8_t *p = documents, *name = topics;
        for (int64_t t = 0; count > 0 && t < found.topics; t++) {
            const word topic = next_name(&name);
            word before = {p, 0};
            for (int64_t d = found.offsets[t]; d < found.offsets[t + 1]; d++) {
                const word document = next_name(&p);
                REQUIRE(d == found.offsets[t] || descending(document, before));
                int there = 0;
                for (int i = 0; i < count; i++)
                    there += same_word(lines[i].topic, topic) && same_word(lines[i].document, document) &&
                             lines[i].grade == found.grades[d];
                REQUIRE(there == 1);
                before = document;
            }
        }
        REQUIRE(count <= 0 || (p == documents + found.documents_length && name == topics + found.topics_length));
        free(topics);
        free(documents);
    }
    rs_qrels_free(qrels);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    static judgments judged;
    static naive_run run;
    if (n < 2 || n > 4096) return 0;
    check_judgments(data + 2, n - 2, data[1] ? data[1] : 4096);
    const int choice = (uint8_t)(data[0] - '0') % 10, order = choice % 5, keep = choice / 5;
    size_t block = data[1] ? data[1] : 4096;
    const uint8_t *text = parse_judgments(&judged, data + 2, data + n);
    size_t size = (size_t)(data + n - text), lines = 0;
    for (size_t i = 0; i < size; i++) lines += text[i] == '\n';
    if (lines >= MOST) return 0;
    rs_table *table = table_of(&judged);
    rs_scan *scan = scan_of(table, text, size, order, keep, block);
    rs_result result;
    rs_scan_result(scan, &result);
    if (result.status == RS_RETURNING_TOPIC) {
        REQUIRE(!keep);
        rs_scan_free(scan);
        scan = scan_of(table, text, size, order, 1, block);
        rs_scan_result(scan, &result);
    }
    naive_scan(&run, text, size, order);
    compare(&judged, &run, &result, order);
    check_tops(scan, &result);
    rs_scan_free(scan);
    rs_table_free(table);
    return 0;
}

#if defined(STANDALONE)
static uint64_t random_state = 88172645463325252u;
static uint64_t next_random(void) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    return random_state ^= random_state << 17;
}

static size_t mutated(const uint8_t *seed, size_t n, uint8_t *out, size_t room) {
    static const char *const pieces[] = {"\n", " ", "\t", "\r\n", "#", "0", "-0.0", "1e-3", "inf", "nan", ".5", "301 Q0 d1 1 2 t\n",
                                         "7.", "e", "+", "%", "\n%\n", "18446744073709551616", "0.1234567890123456789",
                                         "\r", "\v", "\xC2\x85", "\xE2\x80\xA8"};
    memcpy(out, seed, n);
    for (uint64_t changes = 1 + next_random() % 6; changes; changes--) {
        size_t at = n ? next_random() % n : 0;
        const char *piece = pieces[next_random() % (sizeof pieces / sizeof *pieces)];
        size_t length = strlen(piece);
        switch (next_random() % 4) {
        case 0:
            if (n) out[at] = (uint8_t)next_random();
            break;
        case 1:
            if (n) memmove(out + at, out + at + 1, --n - at);
            break;
        case 2:
            if (n + length < room) {
                memmove(out + at + length, out + at, n - at);
                memcpy(out + at, piece, length);
                n += length;
            }
            break;
        default: { /* a stretch of the input again at its end */
            size_t size = n ? next_random() % (n - at) : 0;
            if (n + size < room) memmove(out + n, out + at, size), n += size;
        }
        }
    }
    return n;
}

int main(int argc, char **argv) {
    static uint8_t seed[4096], changed[4096];
    long mutations = 0;
    int first = 1;
    if (argc > 2 && strcmp(argv[1], "-n") == 0) mutations = atol(argv[2]), first = 3;
    for (int i = first; i < argc; i++) {
        FILE *file = fopen(argv[i], "rb");
        if (!file) return perror(argv[i]), 2;
        size_t n = fread(seed, 1, sizeof seed, file);
        fclose(file);
        LLVMFuzzerTestOneInput(seed, n);
        for (long m = 0; m < mutations; m++) {
            size_t size = mutated(seed, n, changed, sizeof changed);
            uint8_t *exact = malloc(size + !size);
            REQUIRE(exact);
            memcpy(exact, changed, size);
            LLVMFuzzerTestOneInput(exact, size);
            free(exact);
        }
    }
    printf("%ld inputs\n", (long)(argc - first) * (1 + mutations));
    return 0;
}
#endif
