/* Judgments and rankings in Python objects: an extension module against the limited API of Python 3.11.

   It reads dicts and lists of plain `str`, `int` and `float`, whose hashing and comparison run no Python code, so that
   no object changes while it is read. For anything else (subclasses, numbers of numpy, ids that are not UTF-8, invalid
   values) a function returns None, and the caller converts the values in Python, which also words the errors. */
#define Py_LIMITED_API 0x030B0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "shortest.h"
#include "sorting.h"

#ifdef __GNUC__
#define PREFETCH(address) __builtin_prefetch(address)
#else
#define PREFETCH(address) ((void)(address))
#endif

enum { PADDING = 64 }; /* bytes after texts, as in native/scans.py, which saves the scanner a copy */
enum { AHEAD = 16 }; /* objects to prefetch: those of a large run are not in the cache, and each would be waited for */

/* A growing array of 4-byte integers. */
typedef struct {
    int32_t *values;
    Py_ssize_t size, capacity;
} ints;

static int ints_reserve(ints *array, Py_ssize_t more) {
    if (array->size + more <= array->capacity) return 1;
    Py_ssize_t capacity = 2 * array->capacity + more + 64;
    int32_t *values = realloc(array->values, (size_t)capacity * sizeof *values);
    if (values == NULL) {
        PyErr_NoMemory();
        return 0;
    }
    array->values = values;
    array->capacity = capacity;
    return 1;
}

static int ints_append(ints *array, int32_t value) {
    if (!ints_reserve(array, 1)) return 0;
    array->values[array->size++] = value;
    return 1;
}

static PyObject *as_buffer(const void *values, Py_ssize_t size) {
    return PyByteArray_FromStringAndSize(size ? values : "", size);
}

static PyObject *ints_as_buffer(const ints *array) {
    return as_buffer(array->values, array->size * (Py_ssize_t)sizeof *array->values);
}

#define LARGEST_GRADE (INT32_MAX - 1) /* as check_grades of read/qrels.py */

/* Judgments ------------------------------------------------------------------------------------------------------ */

typedef struct {
    uint32_t tag;   /* 32 bits of the hash: most unjudged documents differ from it, and their text is never read */
    int32_t number; /* of a judged document, from 1 on; 0: the slot is empty */
} slot;

/* Judged documents by topic: a hash table per topic, because documents of a ranking are looked up one after another. */
typedef struct {
    PyObject_HEAD
    Py_ssize_t n_topics, n_documents;
    PyObject **documents; /* owned; sorted by their bytes within a topic */
    slot *slots;
    int64_t *starts; /* first slot of each topic, and the number of slots */
} index_object;

static PyTypeObject *index_type; /* one per process: the module has no other state */

static void index_dealloc(PyObject *self) {
    index_object *index = (index_object *)self;
    PyTypeObject *type = Py_TYPE(self);
    for (Py_ssize_t i = 0; i < index->n_documents; i++) {
        if (i + AHEAD < index->n_documents) PREFETCH(index->documents[i + AHEAD]);
        Py_DECREF(index->documents[i]);
    }
    free(index->documents);
    free(index->slots);
    free(index->starts);
    PyObject_Free(self);
    Py_DECREF(type);
}

/* Return the slot of a document, which is empty if the document is not judged. */
static inline slot *index_find(const index_object *index, Py_ssize_t topic, PyObject *document) {
    const uint64_t hash = (uint64_t)PyObject_Hash(document); /* cannot fail for str, which caches it */
    const uint32_t tag = (uint32_t)(hash >> 32 ^ hash);
    slot *slots = index->slots + index->starts[topic];
    const uint64_t mask = (uint64_t)(index->starts[topic + 1] - index->starts[topic]) - 1;
    for (uint64_t at = hash & mask;; at = (at + 1) & mask) {
        if (slots[at].number == 0) return &slots[at];
        if (slots[at].tag != tag) continue;
        PyObject *judged = index->documents[slots[at].number - 1];
        if (judged == document || PyUnicode_Compare(judged, document) == 0) return &slots[at];
    }
}

static PyObject *index_ids(PyObject *self, PyObject *ignored) {
    (void)ignored;
    const index_object *index = (index_object *)self;
    PyObject *ids = PyList_New(index->n_documents);
    for (Py_ssize_t i = 0; ids && i < index->n_documents; i++) {
        PyObject *id = PyUnicode_AsUTF8String(index->documents[i]);
        if (id == NULL || PyList_SetItem(ids, i, id) < 0) Py_CLEAR(ids);
    }
    return ids;
}

static PyMethodDef index_methods[] = {
    {"ids", index_ids, METH_NOARGS, "Return the judged documents of all topics as bytes."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot index_slots[] = {
    {Py_tp_dealloc, index_dealloc},
    {Py_tp_methods, index_methods},
    {Py_tp_doc, "Judged documents by topic."},
    {0, NULL},
};

static PyType_Spec index_spec = {
    "rankscope.native._memory.Index", sizeof(index_object), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, index_slots,
};

typedef struct {
    uint64_t prefix; /* first eight bytes as a number: comparing it decides most comparisons */
    const char *text;
    Py_ssize_t length;
    PyObject *document, *object; /* borrowed from the dict; the object is the grade */
    int32_t grade;
} judgment;

/* Read the text of a document; 0 if it is not UTF-8. */
static int read_text(judgment *item) {
    item->text = PyUnicode_AsUTF8AndSize(item->document, &item->length);
    if (item->text == NULL) {
        PyErr_Clear();
        return 0;
    }
    uint8_t head[8] = {0};
    memcpy(head, item->text, (size_t)(item->length < 8 ? item->length : 8));
    item->prefix = word_order(word_at(head));
    return 1;
}

static int compare_texts(const char *a, Py_ssize_t a_length, const char *b, Py_ssize_t b_length) {
    int order = memcmp(a, b, (size_t)(a_length < b_length ? a_length : b_length));
    return order ? order : (a_length > b_length) - (a_length < b_length);
}

static int compare_judgments(const void *a, const void *b) {
    const judgment *left = a, *right = b;
    if (left->prefix != right->prefix) return left->prefix < right->prefix ? -1 : 1;
    return compare_texts(left->text, left->length, right->text, right->length);
}

static void sort_judgments(judgment *judgments, Py_ssize_t n) {
    if (n > 24) {
        qsort(judgments, (size_t)n, sizeof *judgments, compare_judgments);
        return;
    }
    for (Py_ssize_t i = 1; i < n; i++) {
        const judgment item = judgments[i];
        Py_ssize_t at = i;
        for (; at > 0 && compare_judgments(&judgments[at - 1], &item) > 0; at--) judgments[at] = judgments[at - 1];
        judgments[at] = item;
    }
}

/* Read the judgments of a topic in the order of the ids; 1: read, 0: unusual. */
static int read_judgments(PyObject *graded, judgment *judgments) {
    PyObject *document, *grade;
    Py_ssize_t position = 0, n = 0;
    int sorted = 1;
    for (; PyDict_Next(graded, &position, &document, &grade); n++) {
        PREFETCH(document);
        judgments[n].document = document;
        judgments[n].object = grade;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        judgment *item = &judgments[i];
        if (!PyUnicode_CheckExact(item->document) || !PyLong_CheckExact(item->object)) return 0;
        int overflow;
        const long value = PyLong_AsLongAndOverflow(item->object, &overflow);
        if (overflow || value < -LARGEST_GRADE || value > LARGEST_GRADE || !read_text(item)) return 0;
        item->grade = (int32_t)value;
        if (i && sorted && compare_judgments(item - 1, item) > 0) sorted = 0;
    }
    if (!sorted) sort_judgments(judgments, n);
    return 1;
}

/* index_judgments([topic, ...], [{document: grade}, ...]) -> (index, grades, offsets) or None.

   Documents are numbered by topic, and within a topic by their bytes; buffers of their grades (int32) and of the first
   number of each topic (int64). */
static PyObject *index_judgments(PyObject *module, PyObject *arguments) {
    (void)module;
    PyObject *names, *topics;
    if (!PyArg_ParseTuple(arguments, "O!O!", &PyList_Type, &names, &PyList_Type, &topics)) return NULL;
    const Py_ssize_t n_topics = PyList_Size(topics);
    if (PyList_Size(names) != n_topics) {
        PyErr_SetString(PyExc_ValueError, "expected judgments of each topic");
        return NULL;
    }
    PyObject *result = NULL, *grade_buffer = NULL, *offset_buffer = NULL;
    index_object *index = PyObject_New(index_object, index_type);
    judgment *judgments = NULL;
    Py_ssize_t total = 0, longest = 0;
    int64_t n_slots = 0;
    int status = 1;
    if (index == NULL) return NULL;
    index->n_topics = n_topics;
    index->n_documents = 0;
    index->documents = NULL;
    index->slots = NULL;
    index->starts = malloc(((size_t)n_topics + 1) * sizeof *index->starts);
    offset_buffer = PyByteArray_FromStringAndSize(NULL, (n_topics + 1) * (Py_ssize_t)sizeof(int64_t));
    if (index->starts == NULL || offset_buffer == NULL) {
        if (offset_buffer) PyErr_NoMemory();
        goto end;
    }
    int64_t *offsets = (int64_t *)PyByteArray_AsString(offset_buffer);
    for (Py_ssize_t t = 0; t < n_topics; t++) {
        PyObject *graded = PyList_GetItem(topics, t);
        if (!PyUnicode_CheckExact(PyList_GetItem(names, t)) || !PyDict_CheckExact(graded)) {
            status = 0;
            goto end;
        }
        const Py_ssize_t size = PyDict_Size(graded);
        int64_t room = 2;
        while (room < 2 * size) room *= 2;
        offsets[t] = total;
        index->starts[t] = n_slots;
        total += size;
        n_slots += room;
        if (size > longest) longest = size;
    }
    offsets[n_topics] = total;
    index->starts[n_topics] = n_slots;
    judgments = malloc(((size_t)longest + 1) * sizeof *judgments);
    index->documents = malloc(((size_t)total + 1) * sizeof *index->documents);
    index->slots = calloc((size_t)n_slots + 1, sizeof *index->slots);
    grade_buffer = PyByteArray_FromStringAndSize(NULL, total * (Py_ssize_t)sizeof(int32_t));
    if (!judgments || !index->documents || !index->slots || !grade_buffer) {
        if (grade_buffer) PyErr_NoMemory();
        goto end;
    }
    int32_t *grades = (int32_t *)PyByteArray_AsString(grade_buffer);
    for (Py_ssize_t t = 0; t < n_topics; t++) {
        status = read_judgments(PyList_GetItem(topics, t), judgments);
        if (status != 1) goto end;
        slot *slots = index->slots + index->starts[t];
        const uint64_t mask = (uint64_t)(index->starts[t + 1] - index->starts[t]) - 1;
        for (Py_ssize_t i = 0; i < offsets[t + 1] - offsets[t]; i++) {
            PyObject *document = judgments[i].document;
            const uint64_t hash = (uint64_t)PyObject_Hash(document);
            uint64_t at = hash & mask;
            while (slots[at].number) at = (at + 1) & mask; /* keys of a dict are distinct: no comparison */
            grades[index->n_documents] = judgments[i].grade;
            Py_INCREF(document);
            index->documents[index->n_documents++] = document;
            slots[at] = (slot){(uint32_t)(hash >> 32 ^ hash), (int32_t)index->n_documents};
        }
    }
    result = PyTuple_Pack(3, index, grade_buffer, offset_buffer);
end:
    Py_DECREF(index);
    Py_XDECREF(grade_buffer);
    Py_XDECREF(offset_buffer);
    free(judgments);
    if (result == NULL && !PyErr_Occurred() && status == 0) Py_RETURN_NONE;
    return result;
}

/* Rankings ------------------------------------------------------------------------------------------------------- */

typedef struct {
    int by_score;  /* otherwise the order of the dict or list */
    int in_32_bits;
    int ascending; /* order of tied ids */
    int ties;      /* whether to report the ties of hits */
} settings;

typedef struct {
    int32_t topic;
    PyObject *ranking; /* borrowed */
} listed;

/* Room for one ranking. */
typedef struct {
    PyObject **documents, **scores; /* borrowed, in the order of the input */
    sorting_item *items, *spare;
    Py_ssize_t capacity;
    uint64_t *keys; /* hash table for has_ties */
    uint64_t n_keys;
} room;

typedef struct {
    ints topic, length, tied, rank, judgment, first, size;
    int64_t *offsets;
} hits;

static int room_reserve(room *space, Py_ssize_t n) {
    if (n <= space->capacity) return 1;
    PyObject **documents = realloc(space->documents, (size_t)n * sizeof *documents);
    if (documents) space->documents = documents;
    PyObject **scores = realloc(space->scores, (size_t)n * sizeof *scores);
    if (scores) space->scores = scores;
    sorting_item *items = realloc(space->items, (size_t)n * sizeof *items);
    if (items) space->items = items;
    sorting_item *spare = realloc(space->spare, (size_t)n * sizeof *spare);
    if (spare) space->spare = spare;
    if (!documents || !scores || !items || !spare) {
        PyErr_NoMemory();
        return 0;
    }
    space->capacity = n;
    return 1;
}

/* Return a key that ascends where the score descends, and is equal for equal scores, such as 0 and -0. */
static uint64_t descending_key(double score) {
    uint64_t bits;
    score += 0.0; /* -0 becomes 0 */
    memcpy(&bits, &score, sizeof bits);
    return bits >> 63 ? bits : ~bits & ~((uint64_t)1 << 63);
}

static PyTypeObject *double_type; /* numpy.float64, whose __float__ is that of float, unlike that of other subclasses */

static void find_double_type(void) {
    PyObject *name = double_type ? NULL : PyUnicode_FromString("numpy");
    PyObject *numpy = name ? PyImport_GetModule(name) : NULL; /* none has its numbers unless it was imported */
    if (numpy) double_type = (PyTypeObject *)PyObject_GetAttrString(numpy, "float64");
    Py_XDECREF(numpy);
    Py_XDECREF(name);
    PyErr_Clear();
}

/* Read a ranking into the room; 1: read, 0: unusual, -1: error. */
static int read_ranking(PyObject *ranking, room *space, const settings *how, Py_ssize_t *length) {
    if (PyDict_CheckExact(ranking)) {
        PyObject *document, *score;
        Py_ssize_t position = 0, n = 0;
        if (!room_reserve(space, PyDict_Size(ranking))) return -1;
        while (PyDict_Next(ranking, &position, &document, &score)) {
            PREFETCH(document);
            PREFETCH(score);
            space->documents[n] = document;
            space->scores[n++] = score;
        }
        for (Py_ssize_t i = 0; i < n; i++) {
            double value;
            if (!PyUnicode_CheckExact(space->documents[i])) return 0;
            score = space->scores[i];
            if (PyFloat_CheckExact(score) || Py_IS_TYPE(score, double_type)) {
                value = PyFloat_AsDouble(score);
            } else if (PyLong_CheckExact(score)) {
                value = PyLong_AsDouble(score);
                if (value == -1.0 && PyErr_Occurred()) {
                    PyErr_Clear();
                    return 0;
                }
            } else {
                return 0;
            }
            if (isnan(value)) return 0;
            if (how->in_32_bits) value = (double)(float)value;
            space->items[i].key = descending_key(value);
            space->items[i].index = (uint32_t)i;
        }
        *length = n;
        return 1;
    }
    if (!PyList_CheckExact(ranking)) return 0;
    Py_ssize_t n = PyList_Size(ranking);
    if (!room_reserve(space, n)) return -1;
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *document = PyList_GetItem(ranking, i);
        if (!PyUnicode_CheckExact(document)) return 0;
        space->documents[i] = document;
        space->items[i].key = (uint64_t)i; /* distinct: a list has no ties */
        space->items[i].index = (uint32_t)i;
    }
    PyObject *distinct = PySet_New(ranking);
    if (distinct == NULL) return -1;
    int repeated = PySet_Size(distinct) != n;
    Py_DECREF(distinct);
    *length = n;
    return !repeated;
}

/* Sort a group of tied documents by their ids; 1: sorted, 0: an id is not UTF-8, -1: error. */
static int sort_tied(sorting_item *items, Py_ssize_t n, PyObject **documents, int ascending) {
    judgment *ids = malloc((size_t)n * sizeof *ids);
    if (ids == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        ids[i].grade = (int32_t)items[i].index;
        ids[i].document = documents[items[i].index];
        if (!read_text(&ids[i])) {
            free(ids);
            return 0;
        }
    }
    sort_judgments(ids, n);
    for (Py_ssize_t i = 0; i < n; i++) items[ascending ? i : n - 1 - i].index = (uint32_t)ids[i].grade;
    free(ids);
    return 1;
}

/* Return whether two keys are equal, or -1 on error. A table of keys is faster than sorting. */
static int has_ties(room *space, Py_ssize_t n) {
    uint64_t size = 16;
    int bits = 4;
    for (; size < 2 * (uint64_t)n; size *= 2) bits++;
    if (size > space->n_keys) {
        uint64_t *keys = realloc(space->keys, (size_t)size * sizeof *keys);
        if (keys == NULL) {
            PyErr_NoMemory();
            return -1;
        }
        space->keys = keys;
        space->n_keys = size;
    }
    memset(space->keys, 0, (size_t)size * sizeof *space->keys); /* 0 would be the key of a NaN */
    for (Py_ssize_t i = 0; i < n; i++) {
        const uint64_t key = space->items[i].key;
        uint64_t at = key * UINT64_C(0x9E3779B97F4A7C15) >> (64 - bits);
        for (; space->keys[at]; at = (at + 1) & (size - 1))
            if (space->keys[at] == key) return 1;
        space->keys[at] = key;
    }
    return 0;
}

static void add_hit(hits *found, Py_ssize_t rank, int32_t number, Py_ssize_t first, Py_ssize_t size, int ties) {
    found->rank.values[found->rank.size++] = (int32_t)rank;
    found->judgment.values[found->judgment.size++] = number - 1;
    if (ties) {
        found->first.values[found->first.size++] = (int32_t)first;
        found->size.values[found->size.size++] = (int32_t)size;
    }
}

/* Find the hits of distinct scores by counting the scores above each; 0 if there are too many hits for that. */
static int find_untied(const listed *list, const index_object *index, const room *space, Py_ssize_t n,
                       const settings *how, hits *found) {
    enum { MOST = 24 }; /* more hits take longer than sorting all scores */
    sorting_item hit[MOST];
    uint64_t n_hits = 0;
    for (Py_ssize_t i = 0; i < n; i++) {
        const int32_t number = index_find(index, list->topic, space->documents[i])->number;
        if (number == 0) continue;
        if (n_hits == MOST) return 0;
        hit[n_hits].key = space->items[i].key;
        hit[n_hits++].index = (uint32_t)number;
    }
    sorting_by_insertion(hit, n_hits);
    for (uint64_t h = 0; h < n_hits; h++) {
        Py_ssize_t rank = 1;
        for (Py_ssize_t i = 0; i < n; i++) rank += space->items[i].key < hit[h].key;
        add_hit(found, rank, (int32_t)hit[h].index, rank, 1, how->ties);
    }
    return 1;
}

/* Find the hits of documents that are sorted by key; equal keys are tied. */
static int find_sorted(const listed *list, const index_object *index, const room *space, Py_ssize_t n,
                       const settings *how, hits *found, int32_t *tied) {
    sorting_item *items = space->items;
    for (Py_ssize_t start = 0, stop; start < n; start = stop) {
        for (stop = start + 1; stop < n && items[stop].key == items[start].key;) stop++;
        if (stop - start > 1) {
            *tied += (int32_t)(stop - start);
            const int status = sort_tied(items + start, stop - start, space->documents, how->ascending);
            if (status != 1) return status;
        }
        for (Py_ssize_t i = start; i < stop; i++) {
            const int32_t number = index_find(index, list->topic, space->documents[items[i].index])->number;
            if (number) add_hit(found, i + 1, number, start + 1, stop - start, how->ties);
        }
    }
    return 1;
}

/* Find the hits of a ranking; 1: read, 0: unusual, -1: error. */
static int find_hits(const listed *list, const index_object *index, room *space, const settings *how, hits *found) {
    Py_ssize_t n;
    int status = read_ranking(list->ranking, space, how, &n);
    if (status != 1 || list->topic < 0) return status;
    if (!ints_reserve(&found->rank, n) || !ints_reserve(&found->judgment, n)) return -1;
    if (how->ties && (!ints_reserve(&found->first, n) || !ints_reserve(&found->size, n))) return -1;
    sorting_item *items = space->items;
    int32_t tied = 0;
    int ties = 0, sorted = 1;
    if (PyDict_CheckExact(list->ranking)) {
        for (Py_ssize_t i = 1; i < n && sorted; i++) sorted = items[i - 1].key < items[i].key;
        ties = sorted ? 0 : has_ties(space, n);
        if (ties < 0) return -1;
    }
    if (ties && !how->by_score) { /* equal scores are counted although they do not matter */
        sorting_by_key(items, space->spare, (uint64_t)n);
        for (Py_ssize_t i = 0; i < n; i++)
            tied += (i && items[i].key == items[i - 1].key) || (i + 1 < n && items[i].key == items[i + 1].key);
    }
    if (!how->by_score) {
        for (Py_ssize_t i = 0; i < n; i++) items[i] = (sorting_item){(uint64_t)i, (uint32_t)i};
        sorted = 1;
    }
    if (sorted || ties || !find_untied(list, index, space, n, how, found)) {
        if (!sorted) sorting_by_key(items, space->spare, (uint64_t)n);
        status = find_sorted(list, index, space, n, how, found, &tied);
        if (status != 1) return status;
    }
    return ints_append(&found->topic, list->topic) && ints_append(&found->length, (int32_t)n) &&
                   ints_append(&found->tied, tied)
               ? 1
               : -1;
}

static int compare_topics(const void *a, const void *b) {
    const listed *left = a, *right = b;
    return (left->topic > right->topic) - (left->topic < right->topic);
}

/* match({topic: ranking}, {topic: t}, index, by_score, in_32_bits, ascending, ties)
   -> (topic, length, offsets, rank, judgment, tied, first, size, ignored topics) or None.

   Buffers of the hits of the judged topics, in the order of their numbers t: see scan/hits.py, RunHits. A ranking is a
   dict {document: score} or a list of documents. */
static PyObject *match(PyObject *module, PyObject *arguments) {
    (void)module;
    PyObject *run, *topic_index, *result = NULL, *ignored = NULL;
    index_object *index;
    settings how;
    if (!PyArg_ParseTuple(arguments, "OO!O!pppp", &run, &PyDict_Type, &topic_index, index_type, &index,
                          &how.by_score, &how.in_32_bits, &how.ascending, &how.ties))
        return NULL;
    if (!PyDict_CheckExact(run)) Py_RETURN_NONE;
    find_double_type();
    int status = 1, sorted = 1;
    Py_ssize_t n_lists = 0, position = 0;
    room space = {0};
    hits found = {0};
    PyObject *topic, *ranking;
    listed *lists = malloc(((size_t)PyDict_Size(run) + 1) * sizeof *lists);
    found.offsets = malloc(((size_t)PyDict_Size(run) + 1) * sizeof *found.offsets);
    ignored = PyList_New(0);
    if (lists == NULL || found.offsets == NULL || ignored == NULL) {
        if (ignored) PyErr_NoMemory();
        goto end;
    }
    while (PyDict_Next(run, &position, &topic, &ranking)) {
        if (!PyUnicode_CheckExact(topic)) {
            status = 0;
            goto end;
        }
        PyObject *number = PyDict_GetItemWithError(topic_index, topic);
        listed list = {-1, ranking};
        if (number == NULL) {
            if (PyErr_Occurred() || PyList_Append(ignored, topic) < 0) goto end;
            status = find_hits(&list, index, &space, &how, &found); /* only reads it: every ranking must be valid */
            if (status != 1) goto end;
            continue;
        }
        long t = PyLong_AsLong(number);
        if (t < 0 || t >= index->n_topics) {
            if (!PyErr_Occurred()) PyErr_SetString(PyExc_IndexError, "the index has no such topic");
            goto end;
        }
        list.topic = (int32_t)t;
        if (n_lists && lists[n_lists - 1].topic > list.topic) sorted = 0;
        lists[n_lists++] = list;
    }
    if (!sorted) qsort(lists, (size_t)n_lists, sizeof *lists, compare_topics);
    found.offsets[0] = 0;
    for (Py_ssize_t i = 0; i < n_lists; i++) {
        status = find_hits(&lists[i], index, &space, &how, &found);
        if (status != 1) goto end;
        found.offsets[i + 1] = found.rank.size;
    }
    result = Py_BuildValue("(NNNNNNNNO)", ints_as_buffer(&found.topic), ints_as_buffer(&found.length),
                           as_buffer(found.offsets, (n_lists + 1) * (Py_ssize_t)sizeof *found.offsets),
                           ints_as_buffer(&found.rank), ints_as_buffer(&found.judgment),
                           ints_as_buffer(&found.tied), ints_as_buffer(&found.first),
                           ints_as_buffer(&found.size), ignored);
end:
    Py_XDECREF(ignored);
    free(lists);
    free(found.offsets);
    free(space.documents);
    free(space.scores);
    free(space.items);
    free(space.spare);
    free(space.keys);
    free(found.topic.values);
    free(found.length.values);
    free(found.tied.values);
    free(found.rank.values);
    free(found.judgment.values);
    free(found.first.values);
    free(found.size.values);
    if (result == NULL && !PyErr_Occurred() && status == 0) Py_RETURN_NONE;
    return result;
}

/* Values ----------------------------------------------------------------------------------------------------------- */

enum { COUNT, ANY, FIRST, PRECISION, WEIGHTED, BASE, PREFERENCE }; /* as TERMS of judging/kernels.py */

typedef struct {
    int term;
    int32_t rel, cutoff;
    /* By grade from 0 on, by rank from 1 on, by topic; the first two are caps and scales by topic for PREFERENCE. */
    const double *gains, *weights, *divisors;
    Py_ssize_t n_gains, n_weights, n_divisors;
} kernel;

/* Read doubles in bytes. */
static const double *read_doubles(PyObject *bytes, Py_ssize_t *n) {
    *n = PyBytes_Size(bytes) / (Py_ssize_t)sizeof(double);
    return *n < 0 ? NULL : (const double *)PyBytes_AsString(bytes);
}

/* Read (term, rel, cutoff, gains, weights, divisors). */
static int read_kernel(PyObject *tuple, kernel *read) {
    PyObject *gains, *weights, *divisors;
    if (!PyTuple_Check(tuple)) PyErr_SetString(PyExc_TypeError, "a kernel is a tuple");
    return PyTuple_Check(tuple) && PyArg_ParseTuple(tuple, "iiiSSS", &read->term, &read->rel, &read->cutoff, &gains, &weights, &divisors) &&
           (read->gains = read_doubles(gains, &read->n_gains)) &&
           (read->weights = read_doubles(weights, &read->n_weights)) &&
           (read->divisors = read_doubles(divisors, &read->n_divisors));
}

/* Return the value of a list; its hits are added in the order of their ranks, as numpy.bincount adds them. */
static double evaluate_list(const kernel *k, const int32_t *rank, const int32_t *grade, int64_t n, int64_t topic) {
    const double divisor = k->divisors[k->n_divisors == 1 ? 0 : topic];
    const double cutoff = k->term == BASE ? divisor : (double)k->cutoff;
    double sum = 0.0;
    int64_t found = 0, nonrelevant = 0;
    for (int64_t h = 0; h < n && (double)rank[h] <= cutoff; h++) {
        if (grade[h] < k->rel) {
            nonrelevant += grade[h] >= 0;
            continue;
        }
        found++;
        if (k->term == PREFERENCE) {
            const double above = (double)nonrelevant < k->gains[topic] ? (double)nonrelevant : k->gains[topic];
            sum += 1.0 - (k->weights[topic] != 0.0 ? above / k->weights[topic] : 0.0);
        }
        if (k->term == PRECISION) sum += (double)found / (double)rank[h];
        if (k->term == WEIGHTED) sum += k->gains[grade[h]] * k->weights[rank[h] - 1];
        if (k->term == FIRST) {
            sum = 1.0 / (double)rank[h];
            break;
        }
    }
    if (k->term == ANY) sum = found > 0;
    if (k->term == COUNT || k->term == BASE) sum = (double)found;
    return divisor != 0.0 ? sum / divisor : 0.0;
}

/* Return the sum of gain x weight over the documents of a topic with a positive gain, largest gains first; `depth` is
   raised to the depth that weights must have. A topic has few different grades, which are counted and sorted; `counts`
   has a 0 for every grade, before and after. */
static double sum_ideal(const kernel *k, const int32_t *grade, int64_t n, sorting_item *grades, sorting_item *spare,
                        int64_t *counts, int64_t *depth) {
    int64_t n_grades = 0, rank = 0;
    for (int64_t i = 0; i < n; i++) {
        if (grade[i] < k->rel || !(k->gains[grade[i]] > 0.0)) continue;
        if (counts[grade[i]]++ == 0)
            grades[n_grades++] = (sorting_item){descending_key(k->gains[grade[i]]), (uint32_t)grade[i]};
    }
    sorting_by_key(grades, spare, (uint64_t)n_grades);
    double sum = 0.0;
    for (int64_t i = 0; i < n_grades; i++) {
        int64_t *count = &counts[grades[i].index], last = rank + *count;
        if (last > k->cutoff) last = k->cutoff;
        for (; rank < last && rank < k->n_weights; rank++) sum += k->gains[grades[i].index] * k->weights[rank];
        rank = last;
        *count = 0;
    }
    if (rank > k->n_weights && rank > *depth) *depth = rank;
    return sum;
}

/* sum_ideals(offsets, grade, kernel) -> sums, or the depth that weights must have

   A buffer of doubles, one per topic: the sums of a weighted kernel for ideal rankings. Offsets of topics are int64, the
   grades of judgments int32. */
static PyObject *sum_ideals(PyObject *module, PyObject *arguments) {
    (void)module;
    Py_buffer views[2];
    PyObject *tuple, *result = NULL;
    kernel k;
    if (!PyArg_ParseTuple(arguments, "y*y*O", &views[0], &views[1], &tuple)) return NULL;
    const int64_t *offsets = views[0].buf, n_grades = views[1].len / (Py_ssize_t)sizeof(int32_t);
    const int32_t *grade = views[1].buf;
    const Py_ssize_t n_topics = views[0].len / (Py_ssize_t)sizeof *offsets - 1;
    sorting_item *items = NULL;
    int64_t longest = 0, *counts = NULL;
    if (!read_kernel(tuple, &k)) goto end;
    int valid = k.term == WEIGHTED && k.rel >= 0 && n_topics >= 0 && offsets[0] == 0 && offsets[n_topics] == n_grades;
    for (Py_ssize_t t = 0; valid && t < n_topics; t++) {
        valid = offsets[t] <= offsets[t + 1];
        if (offsets[t + 1] - offsets[t] > longest) longest = offsets[t + 1] - offsets[t];
    }
    for (int64_t i = 0; valid && i < n_grades; i++) valid = grade[i] < k.n_gains;
    if (!valid) {
        PyErr_SetString(PyExc_ValueError, "the arrays are not those of judgments");
        goto end;
    }
    items = malloc(2 * ((size_t)longest + 1) * sizeof *items);
    counts = calloc((size_t)k.n_gains + 1, sizeof *counts);
    result = PyByteArray_FromStringAndSize(NULL, n_topics * (Py_ssize_t)sizeof(double));
    if (items == NULL || counts == NULL || result == NULL) {
        if (result) PyErr_NoMemory();
        Py_CLEAR(result);
        goto end;
    }
    double *sums = (double *)PyByteArray_AsString(result);
    int64_t depth = 0;
    Py_BEGIN_ALLOW_THREADS
    for (Py_ssize_t t = 0; t < n_topics; t++)
        sums[t] = sum_ideal(&k, grade + offsets[t], offsets[t + 1] - offsets[t], items, items + longest, counts,
                            &depth);
    Py_END_ALLOW_THREADS
    if (depth) {
        Py_DECREF(result);
        result = PyLong_FromLongLong(depth);
    }
end:
    free(items);
    free(counts);
    for (int i = 0; i < 2; i++) PyBuffer_Release(&views[i]);
    return result;
}

/* evaluate_hits(topic, offsets, rank, judgment, grade, kernels) -> values, or the depth that weights must have

   A buffer of doubles, kernels x lists. Topics and offsets of lists are int64, ranks and judgments of hits and the grades
   of judgments int32; see judging/kernels.py. */
static PyObject *evaluate_hits(PyObject *module, PyObject *arguments) {
    (void)module;
    Py_buffer views[5];
    PyObject *tuples, *result = NULL;
    if (!PyArg_ParseTuple(arguments, "y*y*y*y*y*O!", &views[0], &views[1], &views[2], &views[3], &views[4],
                          &PyList_Type, &tuples))
        return NULL;
    const int64_t *topic = views[0].buf, *offsets = views[1].buf;
    const int32_t *rank = views[2].buf, *judgment = views[3].buf, *grades = views[4].buf;
    const int64_t n_lists = views[0].len / (Py_ssize_t)sizeof *topic, n_hits = views[2].len / (Py_ssize_t)sizeof *rank;
    const int64_t n_grades = views[4].len / (Py_ssize_t)sizeof *grades;
    const Py_ssize_t n_kernels = PyList_Size(tuples);
    int32_t *grade = malloc(((size_t)n_hits + 1) * sizeof *grade), highest = 0, deepest = 0;
    kernel *kernels = malloc(((size_t)n_kernels + 1) * sizeof *kernels);
    if (grade == NULL || kernels == NULL) {
        PyErr_NoMemory();
        goto end;
    }
    int valid = views[1].len == (n_lists + 1) * (Py_ssize_t)sizeof *offsets && views[3].len == views[2].len;
    valid = valid && offsets[0] == 0 && offsets[n_lists] == n_hits;
    int64_t last = -1;
    for (int64_t l = 0; valid && l < n_lists; l++) {
        valid = offsets[l] <= offsets[l + 1] && topic[l] >= 0;
        if (topic[l] > last) last = topic[l];
    }
    for (int64_t h = 0; valid && h < n_hits; h++) {
        valid = judgment[h] >= 0 && judgment[h] < n_grades && rank[h] > 0;
        if (!valid) break;
        grade[h] = grades[judgment[h]];
        if (grade[h] > highest) highest = grade[h];
        if (rank[h] > deepest) deepest = rank[h];
    }
    int32_t depth = 0;
    for (Py_ssize_t i = 0; i < n_kernels; i++) {
        kernel *k = &kernels[i];
        if (!read_kernel(PyList_GetItem(tuples, i), k)) goto end;
        valid = valid && (k->n_divisors == 1 || last < k->n_divisors);
        if (k->term == PREFERENCE) valid = valid && last < k->n_gains && last < k->n_weights;
        if (k->term != WEIGHTED) continue;
        valid = valid && k->rel >= 0 && highest < k->n_gains;
        const int32_t needed = deepest < k->cutoff ? deepest : k->cutoff;
        if (needed > k->n_weights && needed > depth) depth = needed;
    }
    if (!valid) {
        PyErr_SetString(PyExc_ValueError, "the arrays are not those of lists");
        goto end;
    }
    if (depth) {
        result = PyLong_FromLong(depth);
        goto end;
    }
    result = PyByteArray_FromStringAndSize(NULL, n_kernels * n_lists * (Py_ssize_t)sizeof(double));
    if (result == NULL) goto end;
    double *value = (double *)PyByteArray_AsString(result);
    Py_BEGIN_ALLOW_THREADS
    for (Py_ssize_t i = 0; i < n_kernels; i++) {
        const kernel *k = &kernels[i];
        for (int64_t l = 0; l < n_lists; l++)
            *value++ = evaluate_list(k, rank + offsets[l], grade + offsets[l], offsets[l + 1] - offsets[l], topic[l]);
    }
    Py_END_ALLOW_THREADS
end:
    free(grade);
    free(kernels);
    for (int i = 0; i < 5; i++) PyBuffer_Release(&views[i]);
    return result;
}

/* Results -------------------------------------------------------------------------------------------------------- */

/* as_dicts({topic: ranking}, {topic: t}, topics, labels, values) -> {topic: {label: value}} or None

   The values of the evaluated topics of a run, in its order: `topics` has the number t of each row (int32, ascending),
   `values` is a buffer of doubles, labels x rows. */
static PyObject *as_dicts(PyObject *module, PyObject *arguments) {
    (void)module;
    PyObject *run, *topic_index, *labels, *topic, *ranking;
    Py_buffer topics, values;
    if (!PyArg_ParseTuple(arguments, "O!O!y*O!y*", &PyDict_Type, &run, &PyDict_Type, &topic_index, &topics,
                          &PyList_Type, &labels, &values))
        return NULL;
    const Py_ssize_t n_labels = PyList_Size(labels), n_rows = topics.len / (Py_ssize_t)sizeof(int32_t);
    const int32_t *numbers = topics.buf;
    Py_ssize_t position = 0, row = 0;
    PyObject *result = PyDict_New();
    if (values.len != n_labels * n_rows * (Py_ssize_t)sizeof(double)) {
        PyErr_SetString(PyExc_IndexError, "the values are not one per label and row");
        goto fail;
    }
    while (result && PyDict_Next(run, &position, &topic, &ranking)) {
        if (!PyUnicode_CheckExact(topic)) {
            Py_DECREF(result);
            Py_INCREF(Py_None);
            result = Py_None;
            break;
        }
        PyObject *number = PyDict_GetItemWithError(topic_index, topic);
        if (number == NULL && !PyErr_Occurred()) continue;
        const long t = number ? PyLong_AsLong(number) : -1;
        if (PyErr_Occurred()) goto fail;
        if (row >= n_rows || numbers[row] != t) { /* usually the next row, otherwise it is searched */
            Py_ssize_t low = 0, high = n_rows;
            while (low < high) {
                row = low + (high - low) / 2;
                if (numbers[row] < t)
                    low = row + 1;
                else
                    high = row;
            }
            row = low;
            if (row >= n_rows || numbers[row] != t) continue;
        }
        PyObject *entry = PyDict_New();
        int set = entry ? PyDict_SetItem(result, topic, entry) : -1;
        Py_XDECREF(entry); /* the result has it */
        for (Py_ssize_t i = 0; set == 0 && i < n_labels; i++) {
            PyObject *value = PyFloat_FromDouble(((const double *)values.buf)[i * n_rows + row]);
            set = value ? PyDict_SetItem(entry, PyList_GetItem(labels, i), value) : -1;
            Py_XDECREF(value);
        }
        if (set < 0) goto fail;
        row++;
    }
    goto end;
fail:
    Py_CLEAR(result);
end:
    PyBuffer_Release(&topics);
    PyBuffer_Release(&values);
    return result;
}

/* Arrays --------------------------------------------------------------------------------------------------------- */

/* Sort the documents of a group by score, ties by position; write their indices and the ties of each rank. */
static int32_t sort_group(const double *scores, Py_ssize_t start, Py_ssize_t stop, int ascending, sorting_item *items,
                          sorting_item *spare, int32_t *order, int32_t *first, int32_t *size) {
    const Py_ssize_t n = stop - start;
    int32_t tied = 0;
    for (Py_ssize_t i = 0; i < n; i++) items[i] = (sorting_item){descending_key(scores[start + i]), (uint32_t)i};
    sorting_by_key(items, spare, (uint64_t)n);
    for (Py_ssize_t low = 0, high; low < n; low = high) {
        for (high = low + 1; high < n && items[high].key == items[low].key;) high++;
        if (high - low > 1) tied += (int32_t)(high - low);
        for (Py_ssize_t i = low; i < high; i++) {
            const Py_ssize_t from = ascending ? i : low + high - 1 - i;
            order[start + i] = (int32_t)(start + items[from].index);
            first[start + i] = (int32_t)low + 1;
            size[start + i] = (int32_t)(high - low);
        }
    }
    return tied;
}

/* sort_groups(scores, offsets, ascending) -> (order, first, size, tied)

   Buffers of the documents of each group by descending score (double, not NaN), ties by position: the index of each
   document, the first rank and the size of its group of equal scores; and the number of tied documents per group. */
static PyObject *sort_groups(PyObject *module, PyObject *arguments) {
    (void)module;
    Py_buffer scores, offsets;
    int ascending;
    if (!PyArg_ParseTuple(arguments, "y*y*p", &scores, &offsets, &ascending)) return NULL;
    const int64_t *starts = offsets.buf;
    const Py_ssize_t n = scores.len / (Py_ssize_t)sizeof(double);
    const Py_ssize_t n_groups = offsets.len / (Py_ssize_t)sizeof(int64_t) - 1;
    Py_ssize_t longest = 0;
    int valid = n_groups >= 0 && starts[0] == 0 && starts[n_groups] == n && n <= INT32_MAX;
    for (Py_ssize_t g = 0; valid && g < n_groups; g++) {
        valid = starts[g] <= starts[g + 1] && starts[g + 1] <= n;
        if (valid && starts[g + 1] - starts[g] > longest) longest = (Py_ssize_t)(starts[g + 1] - starts[g]);
    }
    PyObject *parts[4] = {NULL}, *result = NULL;
    sorting_item *items = malloc(((size_t)longest + 1) * sizeof *items);
    sorting_item *spare = malloc(((size_t)longest + 1) * sizeof *spare);
    if (!valid) {
        PyErr_SetString(PyExc_ValueError, "the offsets are not those of the scores");
        goto end;
    }
    if (items == NULL || spare == NULL) {
        PyErr_NoMemory();
        goto end;
    }
    int32_t *arrays[4];
    for (int i = 0; i < 4; i++) {
        parts[i] = PyByteArray_FromStringAndSize(NULL, (i < 3 ? n : n_groups) * (Py_ssize_t)sizeof(int32_t));
        if (parts[i] == NULL) goto end;
        arrays[i] = (int32_t *)PyByteArray_AsString(parts[i]);
    }
    Py_BEGIN_ALLOW_THREADS
    for (Py_ssize_t g = 0; g < n_groups; g++)
        arrays[3][g] = sort_group(scores.buf, (Py_ssize_t)starts[g], (Py_ssize_t)starts[g + 1], ascending, items, spare,
                                  arrays[0], arrays[1], arrays[2]);
    Py_END_ALLOW_THREADS
    result = PyTuple_Pack(4, parts[0], parts[1], parts[2], parts[3]);
end:
    for (int i = 0; i < 4; i++) Py_XDECREF(parts[i]);
    free(items);
    free(spare);
    PyBuffer_Release(&scores);
    PyBuffer_Release(&offsets);
    return result;
}

/* join_texts(texts) -> (data, starts) or None: the texts in UTF-8, and where each begins (int64).

   Texts are a list, or an array of numpy objects, whose buffer has their addresses. They are read once, because most of
   the time is spent waiting for their memory. */
static PyObject *join_texts(PyObject *module, PyObject *texts) {
    (void)module;
    Py_buffer view = {0};
    const int is_list = PyList_Check(texts);
    if (!is_list && PyObject_GetBuffer(texts, &view, PyBUF_SIMPLE) < 0) return NULL;
    PyObject **objects = view.buf, *result = NULL;
    const Py_ssize_t n = is_list ? PyList_Size(texts) : view.len / (Py_ssize_t)sizeof *objects;
    Py_ssize_t room = 16 * n;
    PyObject *starts = PyByteArray_FromStringAndSize(NULL, (n + 1) * (Py_ssize_t)sizeof(int64_t));
    PyObject *data = starts ? PyByteArray_FromStringAndSize(NULL, room) : NULL;
    if (data == NULL) goto end;
    int64_t *start = (int64_t *)PyByteArray_AsString(starts);
    char *bytes = PyByteArray_AsString(data);
    Py_ssize_t total = 0;
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *text = is_list ? PyList_GetItem(texts, i) : objects[i];
        Py_ssize_t length;
        if (i + AHEAD < n) PREFETCH(is_list ? PyList_GetItem(texts, i + AHEAD) : objects[i + AHEAD]);
        const int is_text = text != NULL && PyUnicode_CheckExact(text);
        const char *utf8 = is_text ? PyUnicode_AsUTF8AndSize(text, &length) : NULL;
        if (utf8 == NULL) {
            PyErr_Clear();
            Py_INCREF(Py_None);
            result = Py_None;
            goto end;
        }
        start[i] = total;
        if (length > room - total) {
            room = 2 * (total + length);
            if (PyByteArray_Resize(data, room) < 0) goto end;
            bytes = PyByteArray_AsString(data);
        }
        memcpy(bytes + total, utf8, (size_t)length);
        total += length;
    }
    start[n] = total;
    if (PyByteArray_Resize(data, total + PADDING) < 0) goto end;
    memset(PyByteArray_AsString(data) + total, 0, PADDING);
    result = PyTuple_Pack(2, data, starts);
end:
    Py_XDECREF(starts);
    Py_XDECREF(data);
    if (!is_list) PyBuffer_Release(&view);
    return result;
}

static PyObject *format_float(double number) {
    char text[SHORTEST_SIZE];
    const int length = shortest_write(number, text);
    if (length) return PyUnicode_FromStringAndSize(text, length);
    char *other = PyOS_double_to_string(number, 'r', 0, Py_DTSF_ADD_DOT_0, NULL);
    PyObject *result = other ? PyUnicode_FromString(other) : NULL;
    PyMem_Free(other);
    return result;
}

/* format_floats(numbers) -> list: doubles as Python writes them, with all digits. */
static PyObject *format_floats(PyObject *module, PyObject *numbers) {
    (void)module;
    Py_buffer view;
    if (PyObject_GetBuffer(numbers, &view, PyBUF_SIMPLE) < 0) return NULL;
    const double *values = view.buf;
    const Py_ssize_t n = view.len / (Py_ssize_t)sizeof *values;
    PyObject *texts = PyList_New(n), *zero = format_float(0.0), *one = format_float(1.0);
    for (Py_ssize_t i = 0; i < n && texts; i++) {
        const int is_common = values[i] == 1 || (values[i] == 0 && !signbit(values[i]));
        PyObject *text = is_common ? values[i] == 1 ? one : zero : format_float(values[i]);
        if (is_common) Py_XINCREF(text);
        if (text == NULL || PyList_SetItem(texts, i, text) < 0) Py_CLEAR(texts);
    }
    Py_XDECREF(zero);
    Py_XDECREF(one);
    PyBuffer_Release(&view);
    return texts;
}

static PyMethodDef functions[] = {
    {"index_judgments", index_judgments, METH_VARARGS, "Return an index of judged documents, grades and offsets."},
    {"match", match, METH_VARARGS, "Return the hits of a run as buffers."},
    {"evaluate_hits", evaluate_hits, METH_VARARGS, "Return the values of kernels for lists as a buffer."},
    {"sum_ideals", sum_ideals, METH_VARARGS, "Return the sums of a kernel for ideal rankings as a buffer."},
    {"as_dicts", as_dicts, METH_VARARGS, "Return the values of the topics of a run as dicts."},
    {"format_floats", format_floats, METH_O, "Return doubles as texts with all digits."},
    {"join_texts", join_texts, METH_O, "Return texts in UTF-8 as one buffer, and where each begins."},
    {"sort_groups", sort_groups, METH_VARARGS, "Return the documents of groups by descending score."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_memory", "Judgments and rankings in Python objects.", 0, functions, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__memory(void) {
    if (index_type == NULL) index_type = (PyTypeObject *)PyType_FromSpec(&index_spec);
    PyObject *module = index_type ? PyModule_Create(&definition) : NULL;
    if (module && PyModule_AddIntConstant(module, "VERSION", 9) < 0) Py_CLEAR(module); /* as VERSION of memory.py */
    return module;
}
