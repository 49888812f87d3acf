"""Find the hits of rows in Arrow columns: many rankings of many runs at once, without an object per document.

Clusters provide such rows (a bucket of Spark, a piece of a Parquet dataset). Results and errors are the same as for
files: the ordering compares scores, the bytes of ids break ties, and a missing id, an invalid score, or a repeated
document is an error.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from rankscope.arrays import Floats, Ints
from rankscope.errors import InputError, SettingsError
from rankscope.judging.lists import Lists
from rankscope.judging.pool import Pool
from rankscope.lazy import LazyModule
from rankscope.read.columns import as_list, parse_numbers
from rankscope.read.grades import check_grades
from rankscope.read.ids import arrow_ids, to_bytes, to_text, to_texts
from rankscope.read.orders import check_order, is_by_score, score_keys, ties_descend
from rankscope.read.qrels import Qrels

pa, pc = LazyModule("pyarrow"), LazyModule("pyarrow.compute")

_BLOCK_HITS = 200_000  # bounds the memory of measures


def check_rows_order(order: str) -> str:
    """Return the ordering; reject ``file``, because the rows of a table have no order."""
    if check_order(order) == "file":
        hint = "choose trec_eval, trec_eval9, ascending_id or rank"
        raise SettingsError("rows of a table have no order of lines", hint=hint)
    return order


class _JudgedDocuments(NamedTuple):
    """Judged topics and distinct documents in Arrow arrays of bytes, and the judgments of their pairs."""

    topics: Any
    documents: Any
    keys: Ints
    """Sorted keys of (topic, document)."""
    judgment: Ints
    """Index of the judgment of each key."""

    @classmethod
    def from_qrels(cls, qrels: Qrels) -> _JudgedDocuments:
        """Return the judged documents of judgments, which their copies share."""
        return qrels.tables.get("arrow", lambda: cls._build(qrels))

    @classmethod
    def _build(cls, qrels: Qrels) -> _JudgedDocuments:
        topics = pa.array([to_bytes(topic) for topic in qrels.topics], pa.large_binary())
        documents = pa.array(qrels.documents, pa.large_binary())
        distinct = pc.unique(documents)
        key = qrels.topic_numbers * len(distinct) + _lookup(documents, distinct)
        order = np.argsort(key, kind="stable")
        return cls(topics, distinct, key[order], order)

    def find(self, topic: Ints, documents: Any) -> Ints:
        """Return the index of the judgment of each row (number of its topic, document as bytes), or -1."""
        number = _lookup(documents, self.documents)
        judgment = np.full(len(topic), -1, np.int64)
        candidates = np.flatnonzero((number >= 0) & (topic >= 0))
        if len(candidates):
            key = topic[candidates] * len(self.documents) + number[candidates]
            position = np.minimum(np.searchsorted(self.keys, key), len(self.keys) - 1)
            is_judged = self.keys[position] == key
            judgment[candidates[is_judged]] = self.judgment[position[is_judged]]
        return judgment


class ListRows(Lists):
    """Lists of rows: run, topic, length and hits of each.

    >>> import pyarrow as pa
    >>> rows = pa.table({"run": ["a", "a"], "query_id": ["q", "q"], "doc_id": ["x", "y"], "score": [1.0, 2.0]})
    >>> lists = ListRows.from_table(rows, Qrels.from_dict({"q": {"x": 1}}))
    >>> lists.runs, lists.topic.tolist(), lists.length.tolist(), lists.rank.tolist()
    (['a'], [0], [2], [2])
    """

    def __init__(self, qrels: Qrels, runs: list[str], names: Sequence[str], *arrays: Any) -> None:
        """``runs`` has the run of each list, ``names`` also the runs without a judged topic."""
        super().__init__(Pool.from_qrels(qrels), *arrays)
        self.qrels, self.runs, self.names = qrels, runs, names

    @classmethod
    def from_table(cls, table: Any, qrels: Qrels, order: str = "trec_eval") -> ListRows:
        """Find the hits of rows with the columns run, query_id, doc_id, and score or rank; skip unjudged topics.

        A row without a document declares a ranking, which may be empty.
        """
        judged, width = _JudgedDocuments.from_qrels(qrels), max(1, len(qrels.topics))
        topic = _lookup(arrow_ids(table["query_id"], "query_id"), judged.topics)
        run = arrow_ids(table["run"], "run").dictionary_encode()
        names = to_texts(run.dictionary.to_pylist())
        code = run.indices.to_numpy(zero_copy_only=False).astype(np.int64)
        is_judged = topic >= 0
        if not is_judged.all():
            table, topic, code = table.filter(is_judged), topic[is_judged], code[is_judged]
        lists, number = np.unique(code * width + topic, return_inverse=True)
        has_document = pc.is_valid(table["doc_id"]).to_numpy(zero_copy_only=False)
        if not has_document.all():
            table, topic, number = table.filter(has_document), topic[has_document], number[has_document]
        documents, meaning = arrow_ids(table["doc_id"], "doc_id"), "rank" if order == "rank" else "score"
        values = check_numbers(table[meaning], meaning)
        scores = score_keys(values, order)
        keys = values if scores is None else -scores
        number = number.astype(np.int64)
        _reject_duplicates(documents, number)
        sorted_rows = _sort_rows(documents, number, keys, order)
        length = np.bincount(number, minlength=len(lists)).astype(np.int32)
        starts = np.concatenate([[0], np.cumsum(length)]).astype(np.int64)
        judgment = judged.find(topic, documents)[sorted_rows]
        hits = np.flatnonzero(judgment >= 0)
        owner = np.searchsorted(starts, hits, side="right") - 1
        return cls(
            qrels,
            [names[r] for r in (lists // width).tolist()],
            names,
            lists % width,
            length,
            np.searchsorted(owner, np.arange(len(lists) + 1)).astype(np.int64),
            (hits - starts[owner] + 1).astype(np.int32),
            judgment[hits].astype(np.int32),
        )

    @property
    def topics(self) -> list[str]:
        """Topic of each list."""
        names = self.qrels.topics
        return [names[t] for t in self.topic.tolist()]

    def blocks(self) -> Iterator[tuple[slice, Lists]]:
        """Yield the lists in blocks."""
        return self.split(_BLOCK_HITS)


def _lookup(texts: Any, values: Any) -> Ints:
    """Return the index of each text among some values, or -1."""
    index = pc.fill_null(pc.index_in(texts, values), -1).to_numpy(zero_copy_only=False)
    return np.asarray(index, np.int64)


def check_numbers(column: Any, meaning: str) -> Floats:
    """Return a column of scores, ranks or grades as numbers; ranks and grades must be integers."""
    if meaning == "relevance":
        values = check_grades(as_list(column))
        if values.dtype.kind == "f":
            raise InputError("a grade is not a whole number", hint="bin the gains first")
        return values.astype(np.float64)
    values, invalid = parse_numbers(column)
    if invalid is not None:
        raise InputError(f"the column {meaning} has no numbers", hint="give numbers")
    if np.isnan(values).any():
        raise InputError(f"a {meaning} is missing or NaN", hint="remove the row or give a number")
    if meaning == "rank" and not (values == np.floor(values)).all():
        raise InputError("a rank is not an integer", hint="give integers, or scores")
    return values


def _sort_rows(documents: Any, lists: Ints, keys: Floats, order: str) -> Ints:
    """Return the rows sorted by list and key (smaller is better), and those with equal scores by the bytes of ids."""
    rows = np.argsort(lists, kind="stable")  # fast, because rows mostly come list by list
    is_same_list, by_row = np.diff(lists[rows]) == 0, keys[rows]
    if not (is_same_list & (by_row[1:] <= by_row[:-1])).any():
        return rows
    rows = np.lexsort((keys, lists))
    by_row = keys[rows]
    is_tied = is_same_list & (by_row[1:] == by_row[:-1])
    if not is_tied.any():
        return rows
    if not is_by_score(order):
        hint = "give each document its own rank, or choose another ordering"
        raise InputError("two documents of a ranking have the same rank", hint=hint)
    positions = np.flatnonzero(np.append(is_tied, False) | np.append(False, is_tied))
    tied = rows[positions]
    direction = "descending" if ties_descend(order) else "ascending"
    by_id = pc.rank(documents.take(pa.array(tied)), direction, tiebreaker="dense")
    rows[positions] = tied[np.lexsort((np.asarray(by_id), keys[tied], lists[tied]))]
    return rows


def _reject_duplicates(documents: Any, lists: Ints) -> None:
    encoded = documents.dictionary_encode()
    code = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    key = lists * max(1, len(encoded.dictionary)) + code
    order = np.argsort(key, kind="stable")
    repeated = np.flatnonzero(np.diff(key[order]) == 0)
    if len(repeated):
        document = to_text(documents[int(order[repeated[0]])].as_py())
        raise InputError(f"document {document!r} occurs twice in a list", hint="keep one of the two rows")
