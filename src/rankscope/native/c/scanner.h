/* The run scanner: text of a TREC run in, hits out.
 *
 * A table has the judged documents of all topics; it is immutable, so that scans in several threads share it.
 * A scan takes the text in blocks of any size and returns, for every judged topic of the run, the number of retrieved
 * documents and the ranks of the judged ones.
 * No function keeps global state, and none calls back: a caller may hold no lock while it scans. */
#ifndef RANKSCOPE_SCANNER_H
#define RANKSCOPE_SCANNER_H

#include <stdint.h>

#if defined(_WIN32)
#define RS_API __declspec(dllexport)
#else
#define RS_API __attribute__((visibility("default")))
#endif

#define RS_VERSION 6

enum rs_order { RS_TREC_EVAL = 0, RS_TREC_EVAL9 = 1, RS_ASCENDING_ID = 2, RS_RANK = 3, RS_FILE = 4 };

enum rs_status {
    RS_OK = 0,
    RS_NO_MEMORY = 1,
    RS_RETURNING_TOPIC = 2, /* a topic comes back after another one: scan again with `keep` */
    RS_TOO_LONG = 3,        /* a list of 2^31 documents or a line of 2^31 bytes */
    RS_NUL = 4,
    RS_FIELDS = 5,
    RS_BAD_RANK = 6,
    RS_BAD_SCORE = 7,
    RS_NAN_SCORE = 8,
    RS_DUPLICATE = 9,
    RS_LINE_END = 10 /* a character at which other programs end lines, where a line could end */
};

typedef struct rs_table rs_table;
typedef struct rs_scan rs_scan;

/* Results of a scan. Pointers stay valid until the scan is freed or given more text. */
typedef struct {
    int64_t lists, hits, ignored;
    const int32_t *topic, *length, *tied; /* one per list, lists in order of appearance */
    const int64_t *hit_ends;              /* one per list: where its hits end */
    const int32_t *rank, *judgment;       /* one per hit */
    const int32_t *tie_first, *tie_size;  /* one per hit if asked for: the documents with its score, itself included */
    const uint8_t *ignored_bytes;         /* names of topics without judgments, joined */
    const uint64_t *ignored_starts;       /* ignored + 1 of them */
    const uint8_t *tag;
    int64_t tag_length;
    /* the first problem, if there is one */
    int64_t status, line, fields;
    const uint8_t *text, *text_topic;
    int64_t text_length, text_topic_length;
} rs_result;

/* The documents at the top of the lists, if requested: document d is bytes[d ? ends[d-1] : 0 .. ends[d]-1],
 * and those of list l end with document list_ends[l]-1. They come by rank, but those with one score in any order: all of
 * them have the rank of the first, tie_first. */
typedef struct {
    int64_t documents;
    const uint8_t *bytes;
    const uint64_t *ends;
    const int32_t *tie_first;
    const int64_t *list_ends;
} rs_documents;

RS_API int32_t rs_version(void);
/* Gives memory that was freed back to the system, of which the C library may keep much after work in threads. */
RS_API void rs_trim(void);

/* Topic t is topic_bytes[topic_starts[t] : topic_starts[t+1]]; its judged documents are those numbered
 * offsets[t] .. offsets[t+1]-1; document d is document_bytes[document_starts[d] : document_starts[d+1]]. The key of the
 * hash is any two random numbers: results do not depend on it, but with a known key a file could be crafted to be slow. */
RS_API rs_table *rs_table_new(int64_t topics, const uint8_t *topic_bytes, const uint64_t *topic_starts,
                              const int64_t *offsets, const uint8_t *document_bytes, const uint64_t *document_starts,
                              const uint64_t key[2]);
RS_API void rs_table_free(rs_table *table);

/* `keep` holds every list until the end, for files whose topics come back. */
RS_API rs_scan *rs_scan_new(const rs_table *table, int32_t order, int32_t keep);
RS_API void rs_scan_free(rs_scan *scan);

/* Asks for tie_first and tie_size, before any text. */
RS_API void rs_scan_ties(rs_scan *scan);
/* Asks for the documents of each list down to a depth, and the others with the score of the last, before any text. */
RS_API void rs_scan_first(rs_scan *scan, int64_t depth);

/* Room for `wanted` more bytes, to be filled by the caller and then committed; NULL without memory. */
RS_API uint8_t *rs_scan_space(rs_scan *scan, int64_t wanted);
RS_API int32_t rs_scan_commit(rs_scan *scan, int64_t bytes);
RS_API int32_t rs_scan_feed(rs_scan *scan, const uint8_t *data, int64_t bytes);
/* Scans up to `most` bytes of an open file; how many there were, or minus the system's error number. */
RS_API int64_t rs_scan_read(rs_scan *scan, int32_t file, int64_t most);
/* Rows instead of text: row i is document document_starts[i] .. document_starts[i+1]-1 of the bytes, likewise its topic.
 * No score is NaN. After the last of each bytes 64 more must be readable. Ranks may be NULL where they do not order. */
RS_API int32_t rs_scan_rows(rs_scan *scan, int64_t rows, const uint8_t *topics, const int64_t *topic_starts,
                            const uint8_t *documents, const int64_t *document_starts, const double *scores,
                            const int64_t *ranks);
RS_API int32_t rs_scan_finish(rs_scan *scan);
RS_API void rs_scan_result(const rs_scan *scan, rs_result *result);
RS_API void rs_scan_documents(const rs_scan *scan, rs_documents *result);

/* Judgments: lines of `topic iteration document grade`, if all of them are usual. The caller must be able to parse other
 * files, and reports errors. */
typedef struct rs_qrels rs_qrels;

enum rs_column { RS_TOPICS = 0, RS_ITERATIONS = 1, RS_DOCUMENTS = 2 };

/* Topics by number or else by their bytes, and the judgments of each by the bytes of the document: those of topic t are
 * offsets[t] .. offsets[t+1]-1. Pointers stay valid until the judgments are freed. */
typedef struct {
    int64_t topics, iterations, documents;
    int64_t topics_length, iterations_length, documents_length; /* bytes that rs_qrels_names writes */
    const int32_t *offsets, *grades;
    const uint16_t *codes; /* number of the iteration of each judgment; NULL if all have the same */
} rs_judgments;

/* NULL without memory. */
RS_API rs_qrels *rs_qrels_new(const uint64_t key[2]);
RS_API void rs_qrels_free(rs_qrels *qrels);
/* More text, in blocks of any size; 0 if a line is unusual, or without memory: then the judgments can only be freed. */
RS_API int32_t rs_qrels_feed(rs_qrels *qrels, const uint8_t *data, int64_t bytes);
/* Ends the text and arranges the judgments, once; 0 also if there are none or a document is judged twice in a topic. */
RS_API int32_t rs_qrels_finish(rs_qrels *qrels);
RS_API void rs_qrels_result(const rs_qrels *qrels, rs_judgments *result);
/* Writes the names of a column, each followed by a newline. */
RS_API void rs_qrels_names(const rs_qrels *qrels, int32_t column, uint8_t *lines);
/* The table of the judgments, which belongs to them; NULL without memory. One thread at a time may ask for it. */
RS_API const rs_table *rs_qrels_table(rs_qrels *qrels);

/* Plain run files, or parts of them, that are scanned ahead, while a program is still loading. A part with anything
 * unusual is RS_GIVEN_UP; the caller scans it again and reports errors. */
typedef struct rs_ahead rs_ahead;

enum rs_state { RS_FREE = 0, RS_BUSY = 1, RS_DONE = 2, RS_GIVEN_UP = 3, RS_CLAIMED = 4 };

/* Part p is the bytes starts[p] .. stops[p]-1 of a file of sizes[p] bytes. NULL without memory or where files cannot be
 * shared with the library. The table must outlive it. */
RS_API rs_ahead *rs_ahead_new(const rs_table *table, int32_t order, int32_t ties, int64_t parts, const char *const *paths,
                              const int64_t *starts, const int64_t *stops, const int64_t *sizes);
/* No thread may be inside rs_ahead_run. */
RS_API void rs_ahead_free(rs_ahead *ahead);
/* Scans part after part until all are done or it is stopped. Any number of threads may call it. */
RS_API void rs_ahead_run(rs_ahead *ahead);
/* From now on no part is begun; `at_once` also ends those that are being scanned. */
RS_API void rs_ahead_stop(rs_ahead *ahead, int32_t at_once);
/* Returns the state of a part; a free part is claimed for the caller, and no thread scans it. */
RS_API int32_t rs_ahead_claim(rs_ahead *ahead, int64_t part);
/* The scan of a part that is done, which the caller has to free; NULL if it was taken before. `stamp` gets device, inode,
 * size and time of the file. */
RS_API rs_scan *rs_ahead_scan(rs_ahead *ahead, int64_t part, uint64_t stamp[4]);

#endif
