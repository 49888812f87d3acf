#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* O_CLOEXEC, st_mtim */
#endif
#define _FILE_OFFSET_BITS 64
#include "ahead.h"

#include <stdlib.h>
#include <string.h>

#if defined(_WIN32)

RS_API rs_ahead *rs_ahead_new(const rs_table *table, int32_t order, int32_t ties, int64_t parts, const char *const *paths,
                              const int64_t *starts, const int64_t *stops, const int64_t *sizes) {
    (void)table, (void)order, (void)ties, (void)parts, (void)paths, (void)starts, (void)stops, (void)sizes;
    return NULL; /* files belong to one C library there */
}
RS_API void rs_ahead_free(rs_ahead *ahead) { (void)ahead; }
RS_API void rs_ahead_run(rs_ahead *ahead) { (void)ahead; }
RS_API void rs_ahead_stop(rs_ahead *ahead, int32_t at_once) { (void)ahead, (void)at_once; }
RS_API int32_t rs_ahead_claim(rs_ahead *ahead, int64_t part) {
    (void)ahead, (void)part;
    return RS_GIVEN_UP;
}
RS_API rs_scan *rs_ahead_scan(rs_ahead *ahead, int64_t part, uint64_t stamp[4]) {
    (void)ahead, (void)part, (void)stamp;
    return NULL;
}

#else
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* Bytes that are scanned without looking whether to stop; a line of a part that is longer is for others to judge. */
enum { TURN = 1 << 20, LONGEST_AHEAD = 1 << 23 };

typedef struct {
    char *path;
    int64_t start, stop, size;
    rs_scan *scan;
    uint64_t stamp[4];
    int32_t state;
} part;

struct rs_ahead {
    const rs_table *table;
    int32_t order, ties;
    part *parts;
    int64_t count, next;
    int32_t stop; /* 1: no other part, 2: not even to the end of this one */
};

RS_API void rs_ahead_free(rs_ahead *ahead) {
    if (!ahead) return;
    for (int64_t i = 0; ahead->parts && i < ahead->count; i++) {
        free(ahead->parts[i].path);
        rs_scan_free(ahead->parts[i].scan);
    }
    free(ahead->parts);
    free(ahead);
}

RS_API rs_ahead *rs_ahead_new(const rs_table *table, int32_t order, int32_t ties, int64_t parts, const char *const *paths,
                              const int64_t *starts, const int64_t *stops, const int64_t *sizes) {
    rs_ahead *ahead = calloc(1, sizeof *ahead);
    if (!ahead) return NULL;
    *ahead = (rs_ahead){.table = table, .order = order, .ties = ties, .count = parts};
    ahead->parts = calloc((size_t)parts + 1, sizeof *ahead->parts);
    int good = ahead->parts != NULL;
    for (int64_t i = 0; good && i < parts; i++) {
        const size_t n = strlen(paths[i]) + 1;
        part *one = ahead->parts + i;
        *one = (part){.path = malloc(n), .start = starts[i], .stop = stops[i], .size = sizes[i]};
        good = one->path != NULL;
        if (good) memcpy(one->path, paths[i], n);
    }
    if (good) return ahead;
    rs_ahead_free(ahead);
    return NULL;
}

/* Which file this is, how long, and when it was last written; 0 if it is no regular file. */
static int stamped(int file, uint64_t stamp[4]) {
    struct stat status;
    if (fstat(file, &status) || !S_ISREG(status.st_mode)) return 0;
#if defined(__APPLE__)
    const struct timespec time = status.st_mtimespec;
#else
    const struct timespec time = status.st_mtim;
#endif
    stamp[0] = (uint64_t)status.st_dev;
    stamp[1] = (uint64_t)status.st_ino;
    stamp[2] = (uint64_t)status.st_size;
    stamp[3] = (uint64_t)((int64_t)time.tv_sec * 1000000000 + time.tv_nsec);
    return 1;
}

static int has_byte_order_mark(int file) {
    uint8_t head[3];
    return pread(file, head, 3, 0) == 3 && !memcmp(head, "\xEF\xBB\xBF", 3);
}

/* Scans all text of a part; returns 0 if anything about it is unusual, or the scan was stopped. */
static int scan_text(rs_ahead *ahead, part *one, int file) {
    if (lseek(file, (off_t)one->start, SEEK_SET) < 0) return 0;
    for (int64_t at = one->start, count; at < one->stop; at += count) {
        if (__atomic_load_n(&ahead->stop, __ATOMIC_RELAXED) > 1) return 0;
        count = rs_scan_read(one->scan, file, one->stop - at < TURN ? one->stop - at : TURN);
        if (count <= 0 || scan_pending(one->scan) > LONGEST_AHEAD) return 0;
    }
    return rs_scan_finish(one->scan) == RS_OK;
}

static int scan_part(rs_ahead *ahead, part *one) {
    uint64_t after[4];
    const int file = open(one->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) return 0;
    one->scan = rs_scan_new(ahead->table, ahead->order, 0);
    if (one->scan && ahead->ties) rs_scan_ties(one->scan);
    const int good = one->scan && stamped(file, one->stamp) && one->stamp[2] == (uint64_t)one->size &&
                     !has_byte_order_mark(file) && scan_text(ahead, one, file) && stamped(file, after) &&
                     !memcmp(one->stamp, after, sizeof after);
    close(file);
    if (good) {
        scan_trim(one->scan);
    } else {
        rs_scan_free(one->scan);
        one->scan = NULL;
    }
    return good;
}

/* The state of a part before; if it was free it is `wanted` now. */
static int32_t change(part *one, int32_t wanted) {
    int32_t before = RS_FREE;
    __atomic_compare_exchange_n(&one->state, &before, wanted, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    return before;
}

RS_API void rs_ahead_run(rs_ahead *ahead) {
    while (!__atomic_load_n(&ahead->stop, __ATOMIC_RELAXED)) {
        const int64_t i = __atomic_fetch_add(&ahead->next, 1, __ATOMIC_RELAXED);
        if (i >= ahead->count) return;
        part *one = ahead->parts + i;
        if (change(one, RS_BUSY) == RS_FREE)
            __atomic_store_n(&one->state, scan_part(ahead, one) ? RS_DONE : RS_GIVEN_UP, __ATOMIC_RELEASE);
    }
}

RS_API void rs_ahead_stop(rs_ahead *ahead, int32_t at_once) {
    __atomic_store_n(&ahead->stop, at_once ? 2 : 1, __ATOMIC_RELAXED);
}

RS_API int32_t rs_ahead_claim(rs_ahead *ahead, int64_t part) { return change(ahead->parts + part, RS_CLAIMED); }

RS_API rs_scan *rs_ahead_scan(rs_ahead *ahead, int64_t part, uint64_t stamp[4]) {
    rs_scan *scan = ahead->parts[part].scan;
    memcpy(stamp, ahead->parts[part].stamp, sizeof ahead->parts[part].stamp);
    ahead->parts[part].scan = NULL;
    return scan;
}
#endif
