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

#include "sorting.h"

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
    const char *text;
    Py_ssize_t length;
    PyObject *document; /* borrowed from the dict */
    int32_t grade;
} judgment;

static int compare_texts(const char *a, Py_ssize_t a_length, const char *b, Py_ssize_t b_length) {
    int order = memcmp(a, b, (size_t)(a_length < b_length ? a_length : b_length));
    return order ? order : (a_length > b_length) - (a_length < b_length);
}

static int compare_judgments(const void *a, const void *b) {
    const judgment *left = a, *right = b;
    return compare_texts(left->text, left->length, right->text, right->length);
}

/* Read the judgments of a topic in the order of the ids; 1: read, 0: unusual, -1: error. */
static int read_judgments(PyObject *graded, judgment *judgments) {
    PyObject *document, *grade;
    Py_ssize_t position = 0, n = 0;
    int sorted = 1;
    while (PyDict_Next(graded, &position, &document, &grade)) {
        if (!PyUnicode_CheckExact(document) || !PyLong_CheckExact(grade)) return 0;
        int overflow;
        long value = PyLong_AsLongAndOverflow(grade, &overflow);
        if (overflow || value < -LARGEST_GRADE || value > LARGEST_GRADE) return 0;
        judgment *last = &judgments[n];
        last->text = PyUnicode_AsUTF8AndSize(document, &last->length);
        if (last->text == NULL) {
            PyErr_Clear();
            return 0;
        }
        last->document = document;
        last->grade = (int32_t)value;
        if (n && compare_judgments(last - 1, last) > 0) sorted = 0;
        n++;
    }
    if (!sorted) qsort(judgments, (size_t)n, sizeof *judgments, compare_judgments);
    return 1;
}

/* index_judgments([{document: grade}, ...]) -> (documents, numbers, grades, offsets) or None.

   The judged documents of all topics as bytes, sorted within a topic; a dict {document: its number} per topic; and
   buffers of the grades (int32) and of the first number of each topic (int64). */
static PyObject *index_judgments(PyObject *module, PyObject *topics) {
    (void)module;
    Py_ssize_t n_topics = PyList_Check(topics) ? PyList_Size(topics) : -1;
    if (n_topics < 0) {
        PyErr_SetString(PyExc_TypeError, "expected a list of dicts");
        return NULL;
    }
    PyObject *result = NULL, *documents = NULL, *numbers = NULL;
    ints grades = {0};
    judgment *judgments = NULL;
    int64_t *offsets = malloc(((size_t)n_topics + 1) * sizeof *offsets);
    Py_ssize_t total = 0, longest = 0;
    int status = 1;
    if (offsets == NULL) {
        PyErr_NoMemory();
        goto end;
    }
    offsets[0] = 0;
    for (Py_ssize_t t = 0; t < n_topics; t++) {
        PyObject *graded = PyList_GetItem(topics, t);
        if (!PyDict_CheckExact(graded)) {
            status = 0;
            goto end;
        }
        Py_ssize_t size = PyDict_Size(graded);
        total += size;
        offsets[t + 1] = total;
        if (size > longest) longest = size;
    }
    judgments = malloc(((size_t)longest + 1) * sizeof *judgments);
    if (judgments == NULL || !ints_reserve(&grades, total)) {
        if (judgments == NULL) PyErr_NoMemory();
        goto end;
    }
    documents = PyList_New(total);
    numbers = PyList_New(n_topics);
    if (documents == NULL || numbers == NULL) goto end;
    for (Py_ssize_t t = 0; t < n_topics; t++) {
        PyObject *graded = PyList_GetItem(topics, t);
        Py_ssize_t size = (Py_ssize_t)(offsets[t + 1] - offsets[t]);
        status = read_judgments(graded, judgments);
        if (status != 1) goto end;
        PyObject *index = PyDict_Copy(graded); /* has the right size; the grades are replaced below */
        if (index == NULL || PyList_SetItem(numbers, t, index) < 0) goto end;
        for (Py_ssize_t i = 0; i < size; i++) {
            PyObject *number = PyLong_FromLongLong(offsets[t] + i);
            PyObject *id = PyBytes_FromStringAndSize(judgments[i].text, judgments[i].length);
            int set = number && id ? PyDict_SetItem(index, judgments[i].document, number) : -1;
            Py_XDECREF(number);
            if (set < 0) {
                Py_XDECREF(id);
                goto end;
            }
            PyList_SetItem(documents, (Py_ssize_t)offsets[t] + i, id);
            grades.values[grades.size++] = judgments[i].grade;
        }
    }
    PyObject *grade_buffer = ints_as_buffer(&grades);
    PyObject *offset_buffer = as_buffer(offsets, (n_topics + 1) * (Py_ssize_t)sizeof *offsets);
    if (grade_buffer && offset_buffer) result = PyTuple_Pack(4, documents, numbers, grade_buffer, offset_buffer);
    Py_XDECREF(grade_buffer);
    Py_XDECREF(offset_buffer);
end:
    Py_XDECREF(documents);
    Py_XDECREF(numbers);
    free(grades.values);
    free(judgments);
    free(offsets);
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
    PyObject *numbers; /* borrowed */
} listed;

/* Room for one ranking. */
typedef struct {
    PyObject **documents; /* borrowed, in the order of the input */
    sorting_item *items, *spare;
    Py_ssize_t capacity;
} room;

typedef struct {
    ints topic, length, tied, rank, judgment, first, size;
    int64_t *offsets;
} hits;

static int room_reserve(room *space, Py_ssize_t n) {
    if (n <= space->capacity) return 1;
    PyObject **documents = realloc(space->documents, (size_t)n * sizeof *documents);
    if (documents) space->documents = documents;
    sorting_item *items = realloc(space->items, (size_t)n * sizeof *items);
    if (items) space->items = items;
    sorting_item *spare = realloc(space->spare, (size_t)n * sizeof *spare);
    if (spare) space->spare = spare;
    if (!documents || !items || !spare) {
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

/* Read a ranking into the room; 1: read, 0: unusual, -1: error. */
static int read_ranking(PyObject *ranking, room *space, const settings *how, Py_ssize_t *length) {
    if (PyDict_CheckExact(ranking)) {
        PyObject *document, *score;
        Py_ssize_t position = 0, n = 0;
        if (!room_reserve(space, PyDict_Size(ranking))) return -1;
        while (PyDict_Next(ranking, &position, &document, &score)) {
            double value;
            if (!PyUnicode_CheckExact(document)) return 0;
            if (PyFloat_Check(score)) {
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
            space->documents[n] = document;
            space->items[n].key = descending_key(value);
            space->items[n].index = (uint32_t)n;
            n++;
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
        ids[i].text = PyUnicode_AsUTF8AndSize(documents[items[i].index], &ids[i].length);
        if (ids[i].text == NULL) {
            PyErr_Clear();
            free(ids);
            return 0;
        }
    }
    qsort(ids, (size_t)n, sizeof *ids, compare_judgments);
    for (Py_ssize_t i = 0; i < n; i++) items[ascending ? i : n - 1 - i].index = (uint32_t)ids[i].grade;
    free(ids);
    return 1;
}

/* Find the hits of a ranking; 1: read, 0: unusual, -1: error. */
static int find_hits(const listed *list, room *space, const settings *how, hits *found) {
    Py_ssize_t n;
    int status = read_ranking(list->ranking, space, how, &n);
    if (status != 1 || list->numbers == NULL) return status;
    sorting_item *items = space->items;
    const int has_scores = PyDict_CheckExact(list->ranking), scored = how->by_score && has_scores;
    int32_t tied = 0;
    int sorted = 1;
    if (scored)
        for (Py_ssize_t i = 1; i < n && sorted; i++) sorted = items[i - 1].key < items[i].key;
    if (!sorted) sorting_by_key(items, space->spare, (uint64_t)n);
    if (!ints_reserve(&found->rank, n) || !ints_reserve(&found->judgment, n)) return -1;
    if (how->ties && (!ints_reserve(&found->first, n) || !ints_reserve(&found->size, n))) return -1;
    for (Py_ssize_t start = 0, stop; start < n; start = stop) {
        stop = start + 1;
        if (scored)
            while (stop < n && items[stop].key == items[start].key) stop++;
        if (stop - start > 1) {
            tied += (int32_t)(stop - start);
            status = sort_tied(items + start, stop - start, space->documents, how->ascending);
            if (status != 1) return status;
        }
        for (Py_ssize_t i = start; i < stop; i++) {
            PyObject *number = PyDict_GetItemWithError(list->numbers, space->documents[items[i].index]);
            if (number == NULL) {
                if (PyErr_Occurred()) return -1;
                continue;
            }
            found->rank.values[found->rank.size++] = (int32_t)i + 1;
            found->judgment.values[found->judgment.size++] = (int32_t)PyLong_AsLong(number);
            if (how->ties) {
                found->first.values[found->first.size++] = (int32_t)start + 1;
                found->size.values[found->size.size++] = (int32_t)(stop - start);
            }
        }
    }
    if (has_scores && !scored) { /* equal scores are counted although they do not matter */
        sorting_by_key(items, space->spare, (uint64_t)n);
        for (Py_ssize_t i = 0; i < n; i++)
            tied += (i && items[i].key == items[i - 1].key) || (i + 1 < n && items[i].key == items[i + 1].key);
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

/* match({topic: ranking}, {topic: t}, [{document: number}, ...], by_score, in_32_bits, ascending, ties)
   -> (topic, length, offsets, rank, judgment, tied, first, size, ignored topics) or None.

   Buffers of the hits of the judged topics, in the order of their numbers t: see scan/hits.py, RunHits. A ranking is a
   dict {document: score} or a list of documents. */
static PyObject *match(PyObject *module, PyObject *arguments) {
    (void)module;
    PyObject *run, *topic_index, *numbers, *result = NULL, *ignored = NULL;
    settings how;
    if (!PyArg_ParseTuple(arguments, "OO!O!pppp", &run, &PyDict_Type, &topic_index, &PyList_Type, &numbers,
                          &how.by_score, &how.in_32_bits, &how.ascending, &how.ties))
        return NULL;
    if (!PyDict_CheckExact(run)) Py_RETURN_NONE;
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
        listed list = {-1, ranking, NULL};
        if (number == NULL) {
            if (PyErr_Occurred() || PyList_Append(ignored, topic) < 0) goto end;
            status = find_hits(&list, &space, &how, &found); /* only reads it: every ranking must be valid */
            if (status != 1) goto end;
            continue;
        }
        long t = PyLong_AsLong(number);
        list.numbers = t < 0 ? NULL : PyList_GetItem(numbers, (Py_ssize_t)t);
        if (list.numbers == NULL || !PyDict_CheckExact(list.numbers)) {
            if (!PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "expected a dict of documents per topic");
            goto end;
        }
        list.topic = (int32_t)t;
        if (n_lists && lists[n_lists - 1].topic > list.topic) sorted = 0;
        lists[n_lists++] = list;
    }
    if (!sorted) qsort(lists, (size_t)n_lists, sizeof *lists, compare_topics);
    found.offsets[0] = 0;
    for (Py_ssize_t i = 0; i < n_lists; i++) {
        status = find_hits(&lists[i], &space, &how, &found);
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
    free(space.items);
    free(space.spare);
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

static PyMethodDef functions[] = {
    {"index_judgments", index_judgments, METH_O, "Return judged documents, their numbers, grades and offsets."},
    {"match", match, METH_VARARGS, "Return the hits of a run as buffers."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_memory", "Judgments and rankings in Python objects.", 0, functions, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__memory(void) { return PyModule_Create(&definition); }
