/* The scanner once more, written as plainly as possible: every step quadratic, every byte looked at alone.
 * The fuzzer compares the two. */
#ifndef RANKSCOPE_NAIVE_H
#define RANKSCOPE_NAIVE_H

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../src/rankscope/native/c/scanner.h"

#define MOST 512 /* lines, judgments, topics: inputs are small */

typedef struct {
    const uint8_t *at;
    size_t n;
} word;

typedef struct {
    word topic, document;
    double score;
    long long rank;
} naive_line;

typedef struct {
    int status;
    int64_t line, fields;
    naive_line lines[MOST];
    int count;
} naive_run;

static int same_word(word a, word b) { return a.n == b.n && (a.n == 0 || memcmp(a.at, b.at, a.n) == 0); }

static int descending(word a, word b) { /* whether a stands before b */
    for (size_t i = 0; i < a.n && i < b.n; i++)
        if (a.at[i] != b.at[i]) return a.at[i] > b.at[i];
    return a.n > b.n;
}

/* Words of a line; returns how many there are, and keeps the first six. */
static int64_t words_of(const uint8_t *p, const uint8_t *end, word *words) {
    int64_t count = 0;
    while (p < end) {
        if (*p == ' ' || (*p >= 9 && *p <= 13)) {
            p++;
            continue;
        }
        word w = {p, 0};
        while (p < end && !(*p == ' ' || (*p >= 9 && *p <= 13))) p++, w.n++;
        if (count < 6) words[count] = w;
        count++;
    }
    return count;
}

static int word_is(const char *text, const char *name) {
    size_t i = 0;
    for (; text[i] && name[i]; i++)
        if (tolower((unsigned char)text[i]) != name[i]) return 0;
    return text[i] == name[i];
}

static int naive_score(word w, double *score) {
    char *text = malloc(w.n + 1), *p = text;
    memcpy(text, w.at, w.n);
    text[w.n] = 0;
    int status = RS_BAD_SCORE;
    if (*p == '+' || *p == '-') p++;
    if (word_is(p, "nan")) status = RS_NAN_SCORE;
    if (word_is(p, "inf") || word_is(p, "infinity")) status = RS_OK;
    if (status == RS_BAD_SCORE) {
        int digits = 0;
        while (*p >= '0' && *p <= '9') p++, digits++;
        if (*p == '.') p++;
        while (*p >= '0' && *p <= '9') p++, digits++;
        if (digits && (*p == 'e' || *p == 'E')) {
            p++;
            if (*p == '+' || *p == '-') p++;
            digits = 0;
            while (*p >= '0' && *p <= '9') p++, digits++;
        }
        if (digits && *p == 0) status = RS_OK;
    }
    if (status == RS_OK) *score = strtod(text, NULL);
    free(text);
    return status;
}

static int naive_rank(word w, long long *rank) {
    char text[32];
    size_t sign = w.n && (w.at[0] == '+' || w.at[0] == '-');
    if (w.n - sign < 1 || w.n - sign > 18) return 0;
    for (size_t i = sign; i < w.n; i++)
        if (w.at[i] < '0' || w.at[i] > '9') return 0;
    memcpy(text, w.at, w.n);
    text[w.n] = 0;
    *rank = strtoll(text, NULL, 10);
    return 1;
}

/* Whether some other program might end the line inside it. */
static int naive_other_end(const uint8_t *p, const uint8_t *end, const uint8_t *last_field) {
    for (const uint8_t *at = p; at + 1 < end; at++)
        if (*at == '\r') return 1;
    while (end > last_field && (end[-1] == ' ' || (end[-1] >= 9 && end[-1] <= 13))) end--;
    for (const uint8_t *at = last_field; at < end; at++) {
        if (*at == 11 || *at == 12 || (*at >= 28 && *at <= 30)) return 1;
        if (end - at > 1 && memcmp(at, "\xC2\x85", 2) == 0) return 1;
        if (end - at > 2 && (memcmp(at, "\xE2\x80\xA8", 3) == 0 || memcmp(at, "\xE2\x80\xA9", 3) == 0)) return 1;
    }
    return 0;
}

static int naive_take(naive_run *run, const uint8_t *p, const uint8_t *end, int order) {
    word words[6];
    if (end > p && memchr(p, 0, (size_t)(end - p))) return RS_NUL;
    int64_t count = words_of(p, end, words);
    int comment = count && words[0].at[0] == '#';
    if (naive_other_end(p, end, comment ? p : count >= 6 ? words[5].at : end)) return RS_LINE_END;
    if (count == 0 || comment) return RS_OK;
    run->fields = count;
    if (count < 6) return RS_FIELDS;
    naive_line line = {words[0], words[2], 0, 0};
    if (order == RS_RANK && !naive_rank(words[3], &line.rank)) return RS_BAD_RANK;
    int status = naive_score(words[4], &line.score);
    if (status) return status;
    if (order == RS_TREC_EVAL9) line.score = (float)line.score;
    for (int i = 0; i < run->count; i++)
        if (same_word(run->lines[i].topic, line.topic) && same_word(run->lines[i].document, line.document))
            return RS_DUPLICATE;
    run->lines[run->count++] = line;
    return RS_OK;
}

static void naive_scan(naive_run *run, const uint8_t *text, size_t n, int order) {
    memset(run, 0, sizeof *run);
    for (const uint8_t *p = text, *stop = text + n; p < stop && run->status == RS_OK;) {
        const uint8_t *end = p;
        while (end < stop && *end != '\n') end++;
        run->line++;
        run->status = naive_take(run, p, end, order);
        p = end < stop ? end + 1 : end;
    }
}

/* Whether line a stands before line b of the same topic. */
static int naive_before(const naive_run *run, int a, int b, int order) {
    const naive_line *x = &run->lines[a], *y = &run->lines[b];
    if (order == RS_FILE) return a < b;
    if (order == RS_RANK) return x->rank != y->rank ? x->rank < y->rank : a < b;
    if (x->score != y->score) return x->score > y->score;
    return order == RS_ASCENDING_ID ? descending(y->document, x->document) : descending(x->document, y->document);
}

#endif
