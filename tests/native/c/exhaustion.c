/* Lets the n-th allocation fail, for every n until all succeed: the scanner must report each failure and leak nothing. */
#define _GNU_SOURCE
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long left;
static void *failing_realloc(void *old, size_t n) { return left-- > 0 ? realloc(old, n) : NULL; }
static void *failing_calloc(size_t n, size_t each) { return left-- > 0 ? calloc(n, each) : NULL; }
static void *failing_malloc(size_t n) { return left-- > 0 ? malloc(n) : NULL; }

#define realloc failing_realloc
#define calloc failing_calloc
#define malloc failing_malloc
#include "scanner.c"
#include "table.c"
#include "qrels.c"

static rs_table *table_of_two(void) {
    const uint64_t topic_starts[] = {0, 3, 6}, document_starts[] = {0, 2, 4, 6};
    const int64_t offsets[] = {0, 2, 3};
    static const uint64_t key[2] = {UINT64_C(0x243F6A8885A308D3), UINT64_C(0x13198A2E03707344)};
    return rs_table_new(2, (const uint8_t *)"301302", topic_starts, offsets, (const uint8_t *)"d1d2d1", document_starts,
                        key);
}

/* Whether the scan came to its end; otherwise it must have said that memory ran out. */
static int scan_text(const rs_table *table, int order, int keep, const char *text, int32_t wanted) {
    rs_scan *scan = rs_scan_new(table, order, keep);
    if (!scan) return 0;
    rs_scan_first(scan, 5);
    int32_t status = rs_scan_feed(scan, (const uint8_t *)text, (int64_t)strlen(text));
    if (!status) status = rs_scan_finish(scan);
    rs_result result;
    rs_scan_result(scan, &result);
    rs_scan_free(scan);
    if (status != wanted && status != RS_NO_MEMORY) {
        fprintf(stderr, "status %d where %d or %d was expected\n", (int)status, (int)wanted, RS_NO_MEMORY);
        exit(1);
    }
    return status == wanted;
}

/* Whether judgments were read, arranged and made a table. */
static int judgments_read(const char *text) {
    static const uint64_t key[2] = {1, 2};
    rs_qrels *qrels = rs_qrels_new(key);
    if (!qrels) return 0;
    const int good = rs_qrels_feed(qrels, (const uint8_t *)text, (int64_t)strlen(text)) && rs_qrels_finish(qrels) &&
                     rs_qrels_table(qrels);
    rs_qrels_free(qrels);
    return good;
}

static long allocations_of_judgments(void) {
    long n = 0;
    for (int succeeded = 0; !succeeded; n++) {
        left = n;
        succeeded = judgments_read("302 0 d2 1\n302 0 d1 0\n301 1 d1 1\n");
    }
    return n;
}

int main(void) {
    static char text[1 << 16];
    char *p = text;
    for (int i = 0; i < 400; i++) p += sprintf(p, "301 Q0 doc%d %d %d t\n", i, -i, i * 7919 % 300);
    for (int i = 0; i < 90; i++) p += sprintf(p, "%d Q0 d1 1 1 t\n", 400 + i);
    p += sprintf(p, "302 Q0 d1 1 0.%0200d1 t\n", 7);
    for (int order = 0; order < 4; order++) {
        for (int keep = 0; keep < 2; keep++) {
            for (int wrong = 0; wrong < 2; wrong++) {
                strcpy(p, wrong ? "302 Q0 d1 1 1 t\n" : "");
                long n = 0;
                for (int succeeded = 0; !succeeded; n++) {
                    left = n;
                    rs_table *table = table_of_two();
                    succeeded = table && scan_text(table, order, keep, text, wrong ? RS_DUPLICATE : RS_OK);
                    rs_table_free(table);
                }
                if (n < 20) return fprintf(stderr, "only %ld allocations\n", n), 1;
            }
        }
    }
    if (allocations_of_judgments() < 12) return fputs("judgments need more memory than that\n", stderr), 1;
    puts("done");
    return 0;
}
