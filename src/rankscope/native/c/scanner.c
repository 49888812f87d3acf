#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* strtod_l */
#endif
#include "scanner.h"

#include <errno.h>
#if defined(__GLIBC__)
#include <malloc.h>
#endif
#if !defined(_WIN32)
#include <unistd.h>
#endif

#include "ahead.h"
#include "fields.h"
#include "ids.h"
#include "number.h"
#include "sorting.h"
#include "table.h"

/* One list while it is read: its documents in the order of the file. */
typedef struct {
    ids documents;
    uint64_t *score, *rank; /* bits of the scores, or keys once they are sorted; rank only where it orders */
    uint32_t *match;        /* the documents that are judged, or only have the hash of one that is */
    int32_t *judgment;      /* -1: not judged; when the list is complete */
    uint32_t *tie;          /* the documents whose score is that of the document before */
    uint64_t room, matches, ties;
    uint64_t last_score, last_rank;
    judged_slots judged;
    int32_t topic; /* -1: without judgments */
    uint8_t score_unsorted, rank_unsorted;
} list;

/* A file whose topics return: its lines are kept until the end, those of a list side by side, because a list is built
 * from all its lines at once, and a jump per line through memory larger than the caches takes most of the time. */
typedef struct {
    double score;
    uint64_t rank, length; /* length: of the document, whose bytes follow */
    int64_t line;
} kept_line;
typedef struct {
    uint8_t *bytes; /* lines; then IDS_PADDING readable bytes */
    uint64_t used, room;
    uint64_t place; /* its judged topic, or after all of these its ignored one */
} kept_list;
typedef struct {
    kept_list *lists; /* in order of appearance */
    uint64_t count, room, current;
} kept_lines;

struct rs_scan {
    const rs_table *table;
    int32_t order, keep;
    uint8_t *buffer; /* text not yet scanned, then WINDOW readable bytes */
    uint64_t used, room;
    int64_t line; /* lines scanned */

    uint8_t *name; /* of the topic of the last line */
    uint64_t name_length, name_room;
    list now; /* the one being read */
    kept_lines kept;
    uint32_t *list_of; /* per judged topic, then per ignored one: its list plus one */
    uint64_t list_of_room, started;
    ids ignored;
    sorting_item *items; /* room to sort one list */
    uint64_t items_room;

    uint8_t *tag;
    uint64_t tag_length;
    int32_t *topic, *length, *tied;
    int64_t *hit_ends;
    uint64_t done, done_room;
    int32_t *hit_rank, *hit_judgment, *tie_first, *tie_size;
    uint8_t with_ties;
    uint64_t hits, hits_room;

    uint64_t depth; /* down to which documents are given back; 0: none are */
    uint8_t *top_bytes;
    uint64_t *top_ends, tops, tops_room, top_bytes_room;
    int32_t *top_first;
    int64_t *list_tops;

    int32_t status;
    int64_t bad_fields;
    uint8_t *bad_text, *bad_topic;
    uint64_t bad_text_length, bad_topic_length;
};

RS_API int32_t rs_version(void) { return RS_VERSION; }

RS_API void rs_trim(void) {
#if defined(__GLIBC__)
    malloc_trim(0);
#endif
}

/* ---------------------------------------------------------------- a scan's memory */

RS_API rs_scan *rs_scan_new(const rs_table *table, int32_t order, int32_t keep) {
    rs_scan *scan = calloc(1, sizeof *scan);
    if (!scan) return NULL;
    scan->table = table;
    scan->ignored.key = scan->now.documents.key = table->key;
    scan->order = order;
    scan->keep = keep;
    return scan;
}

RS_API void rs_scan_ties(rs_scan *scan) { scan->with_ties = 1; }

RS_API void rs_scan_first(rs_scan *scan, int64_t depth) { scan->depth = depth > 0 ? (uint64_t)depth : 0; }

static void list_free(list *one) {
    ids_free(&one->documents);
    free(one->score);
    free(one->rank);
    free(one->judgment);
    free(one->match);
    free(one->tie);
}

static void kept_free(kept_lines *kept) {
    for (uint64_t l = 0; l < kept->count; l++) free(kept->lists[l].bytes);
    free(kept->lists);
    memset(kept, 0, sizeof *kept);
}

RS_API void rs_scan_free(rs_scan *scan) {
    if (!scan) return;
    list_free(&scan->now);
    kept_free(&scan->kept);
    free(scan->list_of);
    ids_free(&scan->ignored);
    void *owned[] = {scan->buffer, scan->name, scan->items, scan->tag, scan->topic, scan->length, scan->tied,
                     scan->hit_ends, scan->hit_rank, scan->hit_judgment, scan->tie_first, scan->tie_size, scan->top_bytes,
                     scan->top_ends, scan->top_first, scan->list_tops, scan->bad_text, scan->bad_topic};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
    free(scan);
}

/* Gives an array room for `needed` elements; 0 without memory. */
#define GROW(array, needed) table_resize(&(array), needed, sizeof *(array))

static int32_t fail(rs_scan *scan, int32_t status, field text, field topic) {
    scan->status = status;
    scan->bad_text = copy_of(text.at, text.length, 1, 0);
    scan->bad_topic = copy_of(topic.at, topic.length, 1, 0);
    scan->bad_text_length = scan->bad_text ? text.length : 0;
    scan->bad_topic_length = scan->bad_topic ? topic.length : 0;
    return status;
}

static int32_t fail_plainly(rs_scan *scan, int32_t status) { return scan->status = status; }

/* ---------------------------------------------------------------- a finished list becomes hits */

/* The bits of a score; 0.0 and -0.0 are one score. */
static inline uint64_t score_bits(double score) {
    score += 0.0;
    uint64_t bits;
    memcpy(&bits, &score, 8);
    return bits;
}

static inline double score_of(uint64_t bits) {
    double score;
    memcpy(&score, &bits, 8);
    return score;
}

/* A key that ascends as the score falls. */
static inline uint64_t falling_key(uint64_t bits) { return bits >> 63 ? bits : ~(bits | UINT64_C(1) << 63); }

/* Of a list without documents: bits that no score has, because it is not a number, and not less than any. */
#define NO_SCORE UINT64_C(0x7FF8000000000000)

/* Room for as many more hits as a list can have. */
static int more_hits(rs_scan *scan, uint64_t n) {
    if (scan->hits + n <= scan->hits_room) return 1;
    uint64_t room = 2 * scan->hits_room + n;
    if (!GROW(scan->hit_rank, room) || !GROW(scan->hit_judgment, room)) return 0;
    if (scan->with_ties && (!GROW(scan->tie_first, room) || !GROW(scan->tie_size, room))) return 0;
    scan->hits_room = room;
    return 1;
}

static int add_list(rs_scan *scan, int32_t topic, uint64_t length, uint64_t tied) {
    if (scan->done == scan->done_room) {
        uint64_t room = scan->done_room ? 2 * scan->done_room : 64;
        if (!GROW(scan->topic, room) || !GROW(scan->length, room) || !GROW(scan->tied, room) ||
            !GROW(scan->hit_ends, room) || (scan->depth && !GROW(scan->list_tops, room)))
            return 0;
        scan->done_room = room;
    }
    scan->topic[scan->done] = topic;
    scan->length[scan->done] = (int32_t)length;
    scan->tied[scan->done] = (int32_t)tied;
    if (scan->depth) scan->list_tops[scan->done] = (int64_t)scan->tops;
    scan->hit_ends[scan->done++] = (int64_t)scan->hits;
    return 1;
}

static int items_for(rs_scan *scan, uint64_t n) {
    if (2 * n > scan->items_room) {
        if (!GROW(scan->items, 3 * n)) return 0;
        scan->items_room = 3 * n;
    }
    return 1;
}

/* The documents of a list by ascending key (equal keys in file order), in scan->items. */
static int sort_list(rs_scan *scan, const uint64_t *keys, uint64_t n) {
    if (!items_for(scan, n)) return 0;
    for (uint64_t i = 0; i < n; i++) scan->items[i] = (sorting_item){keys[i], (uint32_t)i};
    sorting_by_key(scan->items, scan->items + n, n);
    return 1;
}

static int any_judged(const list *one, const sorting_item *items, uint64_t n) {
    int judged = 0;
    for (uint64_t i = 0; i < n; i++) judged |= one->judgment[items[i].index] >= 0;
    return judged;
}

/* Of a list sorted in scan->items: puts equal scores into the order of their ids, where a judged document is among
 * them; how many share a score. */
static uint64_t break_ties_sorted(rs_scan *scan, const list *one, int reorder) {
    sorting_item *items = scan->items;
    uint64_t n = one->documents.count, tied = 0;
    for (uint64_t from = 0, to; from < n; from = to) {
        for (to = from + 1; to < n && items[to].key == items[from].key;) to++;
        if (to - from < 2) continue;
        tied += to - from;
        if (reorder && any_judged(one, items + from, to - from))
            sorting_by_id(items + from, items + n, to - from, &one->documents, scan->order == RS_ASCENDING_ID);
    }
    return tied;
}

/* The same for a list whose scores came in order, where only the ties need work: the judgments change their places. */
static int break_ties_in_order(rs_scan *scan, list *one, int reorder, uint64_t *tied, int *moved) {
    if (one->ties && !items_for(scan, one->documents.count)) return 0;
    for (uint64_t t = 0, last; t < one->ties; t = last) {
        for (last = t + 1; last < one->ties && one->tie[last] == one->tie[last - 1] + 1;) last++;
        sorting_item *items = scan->items;
        const uint64_t n = last - t + 1, from = one->tie[t] - 1;
        *tied += n;
        if (!reorder) continue;
        for (uint64_t i = 0; i < n; i++) items[i].index = (uint32_t)(from + i);
        if (!any_judged(one, items, n)) continue;
        sorting_by_id(items, items + n, n, &one->documents, scan->order == RS_ASCENDING_ID);
        for (uint64_t i = 0; i < n; i++) items[i].key = (uint32_t)one->judgment[items[i].index];
        for (uint64_t i = 0; i < n; i++) one->judgment[from + i] = (int32_t)(uint32_t)items[i].key;
        *moved = 1;
    }
    return 1;
}

/* Adds the judged documents of a list, with document order[i] (or document i) at position i. */
static void add_hits(rs_scan *scan, const list *one, const sorting_item *order) {
    int32_t *rank = scan->hit_rank + scan->hits, *judgment = scan->hit_judgment + scan->hits;
    uint64_t found = 0;
    for (uint64_t i = 0; i < one->documents.count; i++) { /* without a branch: entries of unjudged documents are overwritten */
        int32_t document = one->judgment[order ? order[i].index : i];
        rank[found] = (int32_t)(i + 1);
        judgment[found] = document;
        found += document >= 0;
    }
    scan->hits += found;
}

/* The same for a list in order, whose matches are its hits. */
static void add_matches(rs_scan *scan, const list *one) {
    int32_t *rank = scan->hit_rank + scan->hits, *judgment = scan->hit_judgment + scan->hits;
    for (uint64_t i = 0; i < one->matches; i++) {
        rank[i] = (int32_t)(one->match[i] + 1);
        judgment[i] = one->judgment[one->match[i]];
    }
    scan->hits += one->matches;
}

/* For the hits of a list, from `hit` on: the rank of the first document with the same score, and how many have it. */
static void add_ties(rs_scan *scan, const list *one, const sorting_item *order, uint64_t hit, int any) {
    const uint64_t n = one->documents.count;
    if (!any) { /* each is alone */
        memcpy(scan->tie_first + hit, scan->hit_rank + hit, (scan->hits - hit) * sizeof *scan->tie_first);
        for (; hit < scan->hits; hit++) scan->tie_size[hit] = 1;
    }
    for (uint64_t from = 0, to; hit < scan->hits; hit++) {
        const uint64_t place = (uint64_t)scan->hit_rank[hit] - 1;
        const uint64_t key = one->score[order ? order[place].index : place];
        for (from = place; from > 0 && one->score[order ? order[from - 1].index : from - 1] == key;) from--;
        for (to = place + 1; to < n && one->score[order ? order[to].index : to] == key;) to++;
        do { /* the others of the same group have the same bounds */
            scan->tie_first[hit] = (int32_t)(from + 1);
            scan->tie_size[hit] = (int32_t)(to - from);
        } while (hit + 1 < scan->hits && (uint64_t)scan->hit_rank[hit + 1] <= to && ++hit);
    }
}

/* Adds the documents at the top of a list, with all that share the score of the last; 0 without memory. */
static int add_tops(rs_scan *scan, const list *one, const sorting_item *order, int by_score) {
    const uint64_t n = one->documents.count, *starts = one->documents.starts;
    uint64_t many = scan->depth < n ? scan->depth : n;
    while (by_score && many < n &&
           one->score[order ? order[many].index : many] == one->score[order ? order[many - 1].index : many - 1])
        many++;
    if (scan->tops + many > scan->tops_room) {
        const uint64_t room = scan->tops_room + scan->tops_room / 2 + many;
        if (!GROW(scan->top_ends, room) || !GROW(scan->top_first, room)) return 0;
        scan->tops_room = room;
    }
    uint64_t used = scan->tops ? scan->top_ends[scan->tops - 1] : 0, first = 0;
    for (uint64_t i = 0; i < many; i++) {
        const uint64_t document = order ? order[i].index : i, length = starts[document + 1] - starts[document];
        if (used + length > scan->top_bytes_room) {
            const uint64_t room = used + used / 2 + length + 4096;
            if (!GROW(scan->top_bytes, room)) return 0;
            scan->top_bytes_room = room;
        }
        memcpy(scan->top_bytes + used, one->documents.bytes + starts[document], length);
        if (!by_score || one->score[document] != one->score[order ? order[first].index : first]) first = i;
        scan->top_first[scan->tops] = (int32_t)(first + 1);
        scan->top_ends[scan->tops++] = used += length;
    }
    return 1;
}

/* Finds the judgments of a complete list: matches by hash are confirmed by their bytes. */
static void find_judgments(const rs_scan *scan, list *one) {
    const uint64_t *starts = one->documents.starts;
    uint64_t confirmed = 0;
    memset(one->judgment, 0xFF, one->documents.count * sizeof *one->judgment);
    for (uint64_t m = 0; m < one->matches; m++) {
        const uint32_t i = one->match[m];
        one->judgment[i] =
            judged_exactly(scan->table, one->judged, one->documents.bytes + starts[i], starts[i + 1] - starts[i]);
        one->match[confirmed] = i;
        confirmed += one->judgment[i] >= 0;
    }
    one->matches = confirmed;
}

static int finish_list(rs_scan *scan, list *one) {
    uint64_t n = one->documents.count, tied = 0;
    if (one->topic < 0 || n == 0) return 1;
    if (!more_hits(scan, n)) return 0;
    find_judgments(scan, one);
    int moved = 0; /* judgments of documents with equal scores */
    int by_score = scan->order != RS_RANK && scan->order != RS_FILE;
    const sorting_item *order = NULL;
    if (one->score_unsorted) {
        for (uint64_t i = 0; i < n; i++) one->score[i] = falling_key(one->score[i]);
        if (!sort_list(scan, one->score, n)) return 0;
        tied = break_ties_sorted(scan, one, by_score);
        if (by_score) order = scan->items;
    } else if (!break_ties_in_order(scan, one, by_score, &tied, &moved)) {
        return 0;
    }
    if (scan->order == RS_RANK && one->rank_unsorted) {
        if (!sort_list(scan, one->rank, n)) return 0;
        order = scan->items;
    }
    const uint64_t first = scan->hits;
    if (order || moved)
        add_hits(scan, one, order);
    else
        add_matches(scan, one);
    if (scan->with_ties) add_ties(scan, one, order, first, by_score && tied);
    if (scan->depth && !add_tops(scan, one, order, by_score)) return 0;
    return add_list(scan, one->topic, n, tied);
}

/* ---------------------------------------------------------------- lines */

static void list_reset(list *one, int32_t topic, judged_slots judged) {
    ids_clear(&one->documents);
    one->topic = topic;
    one->judged = judged;
    one->score_unsorted = one->rank_unsorted = 0;
    one->matches = one->ties = one->last_rank = 0;
    one->last_score = NO_SCORE;
}

/* Slot of the list of this topic; NULL without memory. Ignored topics come after the judged ones. */
static uint32_t *place_of(rs_scan *scan, field name, int32_t *topic) {
    uint64_t hash = ids_hash(scan->table->key, name.at, name.length), judged = scan->table->topics.count, unused;
    const ids *topics = &scan->table->topics;
    int64_t found = judged == 0 ? -1 : ids_find(topics, hash, name.at, name.length, &unused);
    *topic = (int32_t)found;
    if (found < 0) {
        found = ids_add(&scan->ignored, hash, name.at, name.length);
        if (found == IDS_NO_MEMORY || scan->ignored.count >= LONGEST) return NULL;
        found = (int64_t)judged + (found == IDS_NEW ? (int64_t)scan->ignored.count - 1 : found);
    }
    if ((uint64_t)found >= scan->list_of_room) {
        uint64_t room = 2 * ((uint64_t)found + 1) > judged ? 2 * ((uint64_t)found + 1) : judged;
        if (!GROW(scan->list_of, room)) return NULL;
        memset(scan->list_of + scan->list_of_room, 0, (room - scan->list_of_room) * sizeof *scan->list_of);
        scan->list_of_room = room;
    }
    return scan->list_of + found;
}

/* Another list of kept lines; 0 without memory. */
static int add_kept_list(kept_lines *kept, uint64_t place) {
    if (kept->count == kept->room) {
        uint64_t room = kept->room ? 2 * kept->room : 64;
        if (!GROW(kept->lists, room)) return 0;
        kept->room = room;
    }
    kept->lists[kept->count++] = (kept_list){.place = place};
    return 1;
}

static judged_slots judged_of(const rs_scan *scan, int32_t topic) {
    return topic < 0 ? judged_nothing : judged_of_topic(scan->table, topic);
}

static int32_t change_topic(rs_scan *scan, field name) {
    int32_t topic;
    uint32_t *place = place_of(scan, name, &topic);
    if (!place) return fail_plainly(scan, RS_NO_MEMORY);
    if (*place && !scan->keep) return fail_plainly(scan, RS_RETURNING_TOPIC);
    if (!*place) *place = (uint32_t)++scan->started;
    if (scan->keep) {
        if (*place > scan->kept.count && !add_kept_list(&scan->kept, (uint64_t)(place - scan->list_of)))
            return fail_plainly(scan, RS_NO_MEMORY);
        scan->kept.current = *place - 1;
    } else {
        if (!finish_list(scan, &scan->now)) return fail_plainly(scan, RS_NO_MEMORY);
        list_reset(&scan->now, topic, judged_of(scan, topic));
        if (topic >= 0) fetch_topic(scan->table, topic);
    }
    if (name.length + IDS_PADDING > scan->name_room) {
        if (!GROW(scan->name, 2 * name.length + IDS_PADDING)) return fail_plainly(scan, RS_NO_MEMORY);
        scan->name_room = 2 * name.length + IDS_PADDING;
        memset(scan->name, 0, scan->name_room);
    }
    memcpy(scan->name, name.at, name.length);
    scan->name_length = name.length;
    return RS_OK;
}

static inline uint64_t rank_key(int64_t rank) { return (uint64_t)rank ^ UINT64_C(1) << 63; }

static int list_grow(list *one, int with_rank) {
    uint64_t room = one->room ? 2 * one->room : 64;
    if (room > LONGEST) room = LONGEST;
    if (!GROW(one->score, room) || !GROW(one->judgment, room) || !GROW(one->match, room) || !GROW(one->tie, room) ||
        (with_rank && !GROW(one->rank, room)))
        return 0;
    one->room = room;
    return 1;
}

/* One document of a list at place n, whose id has been added. */
INLINE void add_entry(list *one, uint64_t n, uint64_t hash, double score, uint64_t rank, int with_rank) {
    const uint64_t bits = score_bits(score);
    one->score_unsorted |= score > score_of(one->last_score);
    one->tie[one->ties] = (uint32_t)n;
    one->ties += bits == one->last_score;
    one->last_score = one->score[n] = bits;
    one->match[one->matches] = (uint32_t)n; /* without a branch: judged or not cannot be predicted */
    one->matches += judged_like(one->judged, hash);
    if (with_rank) {
        one->rank_unsorted |= rank < one->last_rank;
        one->last_rank = one->rank[n] = rank;
    }
}

/* One document of a list; IDS_NEW if all is well, else as ids_add says, or IDS_TOO_MANY. */
enum { IDS_TOO_MANY = -3 };
static inline int64_t add_document(list *one, const uint8_t *id, size_t id_length, uint64_t hash, double score,
                                   uint64_t rank, int with_rank) {
    uint64_t n = one->documents.count;
    if (n == one->room) {
        if (n >= LONGEST) return IDS_TOO_MANY;
        if (!list_grow(one, with_rank)) return IDS_NO_MEMORY;
    }
    int64_t found = ids_add(&one->documents, hash, id, id_length);
    if (found == IDS_NEW) add_entry(one, n, hash, score, rank, with_rank);
    return found;
}

/* Keeps a line until all are read; 0 without memory. */
static int keep_line(rs_scan *scan, const uint8_t *id, size_t id_length, double score, uint64_t rank) {
    kept_list *one = scan->kept.lists + scan->kept.current;
    const kept_line line = {score, rank, id_length, scan->line};
    const uint64_t needed = one->used + sizeof line + id_length + IDS_PADDING;
    if (needed > one->room) {
        const uint64_t room = needed + one->used / 2;
        if (!GROW(one->bytes, room)) return 0;
        memset(one->bytes + one->used, 0, room - one->used); /* padding is read, if only to be masked away */
        one->room = room;
    }
    memcpy(one->bytes + one->used, &line, sizeof line);
    memcpy(one->bytes + one->used + sizeof line, id, id_length);
    one->used = needed - IDS_PADDING;
    FETCH(one->bytes + one->used + 64); /* for the next line of this list, which may be thousands of lines away */
    return 1;
}

/* One document of a topic, whose hash, score and rank are known. Lines take it without a call. */
INLINE int32_t take_document(rs_scan *scan, const field *topic, const field *document, const uint8_t *id,
                                    size_t id_length, uint64_t hash, double score, int64_t rank) {
    if (scan->order == RS_TREC_EVAL9) score = (double)(float)score;
    if (!scan->started || topic->length != scan->name_length || !ids_same(topic->at, scan->name, scan->name_length)) {
        int32_t status = change_topic(scan, *topic);
        if (status) return status;
    }
    if (scan->keep) {
        if (!keep_line(scan, id, id_length, score, rank_key(rank))) return fail_plainly(scan, RS_NO_MEMORY);
        return RS_OK;
    }
    int64_t added = add_document(&scan->now, id, id_length, hash, score, rank_key(rank), scan->order == RS_RANK);
    if (added == IDS_NEW) return RS_OK;
    return added == IDS_NO_MEMORY  ? fail_plainly(scan, RS_NO_MEMORY)
           : added == IDS_TOO_MANY ? fail_plainly(scan, RS_TOO_LONG)
                                   : fail(scan, RS_DUPLICATE, *document, *topic);
}

/* One line of six fields. */
static inline int32_t take(rs_scan *scan, const field *fields) {
    const field none = {(const uint8_t *)"", 0};
    const uint8_t *id = fields[DOCUMENT].at; /* not the field as a whole: loading it so soon after its parts waits */
    const size_t id_length = fields[DOCUMENT].length;
    const uint64_t hash = ids_hash(scan->table->key, id, id_length);
    int64_t rank = 0;
    double score = 0;
    if (scan->order == RS_RANK && !number_integer(fields[RANK].at, fields[RANK].length, &rank))
        return fail(scan, RS_BAD_RANK, fields[RANK], none);
    switch (number_parse(fields[SCORE].at, fields[SCORE].length, scan->table->c_locale, &score)) {
    case NUMBER_OK: break;
    case NUMBER_NAN: return fail(scan, RS_NAN_SCORE, fields[SCORE], none);
    case NUMBER_NO_MEMORY: return fail_plainly(scan, RS_NO_MEMORY);
    default: return fail(scan, RS_BAD_SCORE, fields[SCORE], none);
    }
    int32_t status = take_document(scan, &fields[TOPIC], &fields[DOCUMENT], id, id_length, hash, score, rank);
    if (status) return status;
    if (!scan->tag) {
        scan->tag = copy_of(fields[TAG].at, fields[TAG].length, 1, 0);
        if (!scan->tag) return fail_plainly(scan, RS_NO_MEMORY);
        scan->tag_length = fields[TAG].length;
    }
    return RS_OK;
}

RS_API int32_t rs_scan_rows(rs_scan *scan, int64_t rows, const uint8_t *topics, const int64_t *topic_starts,
                            const uint8_t *documents, const int64_t *document_starts, const double *scores,
                            const int64_t *ranks) {
    for (int64_t i = 0; i < rows && !scan->status; i++) {
        const int64_t topic_length = topic_starts[i + 1] - topic_starts[i];
        const int64_t length = document_starts[i + 1] - document_starts[i];
        const field topic = {topics + topic_starts[i], (size_t)topic_length};
        const field document = {documents + document_starts[i], (size_t)length};
        scan->line++;
        if (topic_length > (int64_t)LONGEST || length > (int64_t)LONGEST) return fail_plainly(scan, RS_TOO_LONG);
        take_document(scan, &topic, &document, document.at, document.length,
                      ids_hash(scan->table->key, document.at, document.length), scores[i], ranks ? ranks[i] : 0);
    }
    return scan->status;
}

/* ---------------------------------------------------------------- kept lines become lists */

static field topic_name(const rs_scan *scan, uint64_t place) {
    const uint64_t judged = scan->table->topics.count;
    const ids *set = place < judged ? &scan->table->topics : &scan->ignored;
    if (place >= judged) place -= judged;
    return (field){set->bytes + set->starts[place], set->starts[place + 1] - set->starts[place]};
}

/* Every list from its kept lines. The first line of the file that is wrong counts, wherever its list comes. */
static int32_t finish_kept(rs_scan *scan) {
    const kept_lines *kept = &scan->kept;
    kept_line line, wrong = {.line = INT64_MAX};
    const uint8_t *wrong_id = NULL;
    uint64_t wrong_place = 0;
    int32_t problem = RS_OK;
    for (const kept_list *one = kept->lists; one < kept->lists + kept->count; one++) {
        const int32_t topic = one->place < scan->table->topics.count ? (int32_t)one->place : -1;
        list_reset(&scan->now, topic, judged_of(scan, topic));
        if (topic >= 0) fetch_topic(scan->table, topic);
        for (const uint8_t *at = one->bytes, *id; at < one->bytes + one->used; at = id + line.length) {
            memcpy(&line, at, sizeof line);
            if (line.line >= wrong.line) break;
            id = at + sizeof line;
            int64_t added = add_document(&scan->now, id, line.length, ids_hash(scan->table->key, id, line.length),
                                         line.score, line.rank, scan->order == RS_RANK);
            if (added == IDS_NEW) continue;
            if (added == IDS_NO_MEMORY) return fail_plainly(scan, RS_NO_MEMORY);
            problem = added == IDS_TOO_MANY ? RS_TOO_LONG : RS_DUPLICATE;
            wrong = line;
            wrong_id = id;
            wrong_place = one->place;
        }
        if (!problem && !scan->status && !finish_list(scan, &scan->now)) return fail_plainly(scan, RS_NO_MEMORY);
    }
    if (!problem) return scan->status;
    scan->line = wrong.line;
    free(scan->bad_text);
    free(scan->bad_topic);
    scan->bad_text = scan->bad_topic = NULL;
    const field id = {wrong_id, wrong.length};
    return problem == RS_TOO_LONG ? fail_plainly(scan, problem) : fail(scan, problem, id, topic_name(scan, wrong_place));
}

/* ---------------------------------------------------------------- text */

/* Any line, byte by byte: unusual spacing, comments, blank lines, errors. `end` is its newline. */
static int32_t take_unusual(rs_scan *scan, const uint8_t *p, const uint8_t *end) {
    field fields[COLUMNS] = {{p, 0}};
    int64_t count = 0;
    const field none = {end, 0};
    const uint8_t *line = p;
    int comment = 0;
    if (memchr(p, 0, (size_t)(end - p))) return fail_plainly(scan, RS_NUL);
    for (;;) {
        while (p < end && is_space(*p)) p++;
        if (p == end) break;
        if (count == 0 && *p == '#') comment = 1;
        const uint8_t *start = p;
        while (p < end && !is_space(*p)) p++;
        if (count < COLUMNS) fields[count] = (field){start, (size_t)(p - start)};
        count++;
    }
    const uint8_t *last_field = comment ? line : count >= COLUMNS ? fields[TAG].at : end;
    const field foreign = foreign_end(line, last_field, end);
    if (foreign.length) return fail(scan, RS_LINE_END, foreign, none);
    if (count == 0 || comment) return RS_OK;
    if (count >= COLUMNS) return take(scan, fields); /* what stands after the tag does not matter */
    scan->bad_fields = count;
    return fail_plainly(scan, RS_FIELDS);
}

/* Scans the lines from p on that differ from the one before, whose fields these are, only in document, rank and score, as
 * most lines of a run do. Comparing their beginnings and ends with those of that line takes the place of most of the work
 * on a line, and what the scan knows of the list stays in registers. Returns where the first other line starts, which
 * may be a usual one with which the list has to grow; no line goes beyond `stop`. */
static const uint8_t *scan_similar(rs_scan *scan, const field *fields, const uint8_t *p, const uint8_t *stop) {
    const uint8_t *const score_end = fields[SCORE].at + fields[SCORE].length, *const line = fields[TOPIC].at;
    const pattern head = pattern_of(line, (size_t)(fields[DOCUMENT].at - line));
    const pattern tail = pattern_of(score_end, (size_t)(p - score_end));
    const uint8_t separator = head.at[head.length - 1];
    const ids_key key = scan->table->key;
    const int with_rank = scan->order == RS_RANK, is_single = scan->order == RS_TREC_EVAL9;
    list now = scan->now; /* a copy, because through a pointer each of its members would be stored and loaded again */
    while (p < stop && now.documents.count < now.room && starts_with(p, head)) {
        const uint8_t *const id = p + head.length;
        size_t ends[3]; /* of document, rank and score, from the beginning of the document on */
        if (!three_gaps(id, ends) || ends[0] == 0 || ends[1] == ends[0] + 1) break;
        const uint8_t *const next = id + ends[2] + tail.length;
        if (id[ends[0]] != separator || id[ends[1]] != separator || !starts_with(id + ends[2], tail) || next > stop) break;
        int64_t rank = 0;
        double score;
        if (!number_usual(id + ends[1] + 1, ends[2] - ends[1] - 1, &score)) break;
        if (with_rank && !number_integer(id + ends[0] + 1, ends[1] - ends[0] - 1, &rank)) break;
        if (is_single) score = (double)(float)score;
        const uint64_t hash = ids_hash(key, id, ends[0]), n = now.documents.count;
        if (!ids_append(&now.documents, hash, id, ends[0])) break;
        add_entry(&now, n, hash, score, rank_key(rank), with_rank);
        p = next;
    }
    scan->line += (int64_t)(now.documents.count - scan->now.documents.count);
    scan->now = now;
    return p;
}

/* Scans whole lines; `end` is just after a newline. */
static int32_t scan_lines(rs_scan *scan, const uint8_t *p, const uint8_t *end) {
    const uint8_t *foreign = next_unicode_end(p, end);
    while (p < end) {
        if (*p == '\n') { /* an empty line: there may be millions */
            scan->line++;
            p++;
            continue;
        }
        field fields[COLUMNS];
        const uint8_t *next = split_short(p, fields);
        if (!next) next = split_long(p, fields);
        scan->line++;
        int32_t status;
        if (next && next <= foreign) {
            status = take(scan, fields);
            if (!status && !scan->keep) next = scan_similar(scan, fields, next, foreign);
        } else {
            const uint8_t *newline = memchr(p, '\n', (size_t)(end - p));
            status = take_unusual(scan, p, newline);
            next = newline + 1;
            if (foreign < next) foreign = next_unicode_end(next, end);
        }
        if (status) return scan->keep && status != RS_NO_MEMORY ? finish_kept(scan) : status;
        p = next;
    }
    return RS_OK;
}

/* ---------------------------------------------------------------- blocks */

RS_API uint8_t *rs_scan_space(rs_scan *scan, int64_t wanted) {
    uint64_t needed = scan->used + (uint64_t)wanted + WINDOW;
    if (wanted < 0) return NULL;
    if (needed > scan->room) {
        needed += scan->used + 4096; /* a long line: doubling keeps copying linear */
        uint8_t *more = ids_resize(scan->buffer, needed, 1);
        if (!more) return NULL;
        memset(more + scan->room, 0, needed - scan->room);
        scan->buffer = more;
        scan->room = needed;
    }
    return scan->buffer + scan->used;
}

RS_API int32_t rs_scan_commit(rs_scan *scan, int64_t bytes) {
    if (scan->status) return scan->status;
    uint64_t end = scan->used + (uint64_t)bytes, last = end;
    while (last > scan->used && scan->buffer[last - 1] != '\n') last--;
    if (last == scan->used) { /* still inside a line */
        scan->used = end;
        return end > LONGEST ? fail_plainly(scan, RS_TOO_LONG) : RS_OK;
    }
    int32_t status = scan_lines(scan, scan->buffer, scan->buffer + last);
    scan->used = end - last;
    memmove(scan->buffer, scan->buffer + last, scan->used);
    return status;
}

RS_API int32_t rs_scan_feed(rs_scan *scan, const uint8_t *data, int64_t bytes) {
    const int64_t block = 1 << 17;
    while (bytes > 0 && !scan->status) {
        int64_t n = bytes < block ? bytes : block;
        uint8_t *space = rs_scan_space(scan, n);
        if (!space) return fail_plainly(scan, RS_NO_MEMORY);
        memcpy(space, data, (size_t)n);
        rs_scan_commit(scan, n);
        data += n;
        bytes -= n;
    }
    return scan->status;
}

#if defined(_WIN32)
RS_API int64_t rs_scan_read(rs_scan *scan, int32_t file, int64_t most) { /* files belong to one C library there */
    (void)scan, (void)file, (void)most;
    return -ENOSYS;
}
#else
RS_API int64_t rs_scan_read(rs_scan *scan, int32_t file, int64_t most) {
    const int64_t block = 1 << 18;
    int64_t done = 0;
    while (done < most && !scan->status) {
        int64_t wanted = most - done < block ? most - done : block;
        uint8_t *space = rs_scan_space(scan, wanted);
        if (!space) {
            fail_plainly(scan, RS_NO_MEMORY);
            break;
        }
        int64_t count = read(file, space, (size_t)wanted);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return -errno;
        if (count == 0) break;
        rs_scan_commit(scan, count);
        done += count;
    }
    return scan->status ? 0 : done;
}
#endif

RS_API int32_t rs_scan_finish(rs_scan *scan) {
    if (scan->status) return scan->status;
    if (scan->used && rs_scan_feed(scan, (const uint8_t *)"\n", 1)) return scan->status;
    if (scan->keep) return finish_kept(scan);
    return finish_list(scan, &scan->now) ? RS_OK : fail_plainly(scan, RS_NO_MEMORY);
}

uint64_t scan_pending(const rs_scan *scan) { return scan->used; }

void scan_trim(rs_scan *scan) {
    list_free(&scan->now);
    memset(&scan->now, 0, sizeof scan->now);
    kept_free(&scan->kept);
    free(scan->buffer);
    free(scan->items);
    free(scan->list_of);
    scan->buffer = NULL;
    scan->items = NULL;
    scan->list_of = NULL;
    scan->room = scan->used = scan->items_room = scan->list_of_room = 0;
}

RS_API void rs_scan_result(const rs_scan *scan, rs_result *result) {
    *result = (rs_result){
        .lists = (int64_t)scan->done, .hits = (int64_t)scan->hits, .ignored = (int64_t)scan->ignored.count,
        .topic = scan->topic, .length = scan->length, .tied = scan->tied, .hit_ends = scan->hit_ends,
        .rank = scan->hit_rank, .judgment = scan->hit_judgment,
        .tie_first = scan->tie_first, .tie_size = scan->tie_size,
        .ignored_bytes = scan->ignored.bytes, .ignored_starts = scan->ignored.starts,
        .tag = scan->tag, .tag_length = (int64_t)scan->tag_length,
        .status = scan->status, .line = scan->line, .fields = scan->bad_fields,
        .text = scan->bad_text, .text_length = (int64_t)scan->bad_text_length,
        .text_topic = scan->bad_topic, .text_topic_length = (int64_t)scan->bad_topic_length};
}

RS_API void rs_scan_documents(const rs_scan *scan, rs_documents *result) {
    *result = (rs_documents){.documents = (int64_t)scan->tops, .bytes = scan->top_bytes, .ends = scan->top_ends,
                             .tie_first = scan->top_first, .list_ends = scan->list_tops};
}
