"""Find the hits of rows in Arrow columns: many lists of many runs at once, without an object per document.

Clusters provide such rows (a bucket of Spark, a piece of a Parquet dataset). Results and errors are the same as for
files: the ordering compares scores, the bytes of ids break ties, and a missing id, an invalid score, or a repeated
document is an error.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from rankscope.arrays import Bools, Floats, Ints
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


class PooledQrels:
    """Judgments with cached indices to look up rows."""

    def __init__(self, qrels: Qrels) -> None:
        self.qrels = qrels

    def __reduce__(self) -> tuple[Any, ...]:
        return PooledQrels, (self.qrels,)

    @cached_property
    def pool(self) -> Pool:
        """Judged documents of all topics."""
        return Pool.from_qrels(self.qrels)

    @cached_property
    def topics(self) -> Any:
        """Judged topics as an Arrow array of bytes."""
        return pa.array([to_bytes(topic) for topic in self.qrels.topics], pa.large_binary())

    @cached_property
    def _documents(self) -> tuple[Any, Ints, Ints]:
        """Distinct judged documents, sorted keys of (topic, document), and the judgment of each key."""
        documents = pa.array(self.qrels.documents, pa.large_binary())
        distinct = pc.unique(documents)
        key = self.qrels.topic_numbers * len(distinct) + _lookup(documents, distinct)
        order = np.argsort(key, kind="stable")
        return distinct, key[order], order

    def judgments(self, topic: Ints, documents: Any) -> Ints:
        """Return the index of the judgment of each row (number of its topic, document as bytes), or -1."""
        distinct, keys, order = self._documents
        number = _lookup(documents, distinct)
        judgment = np.full(len(topic), -1, np.int64)
        candidates = np.flatnonzero((number >= 0) & (topic >= 0))
        if len(candidates):
            key = topic[candidates] * len(distinct) + number[candidates]
            position = np.minimum(np.searchsorted(keys, key), len(keys) - 1)
            is_judged = keys[position] == key
            judgment[candidates[is_judged]] = order[position[is_judged]]
        return judgment


class _Columns(NamedTuple):
    """Columns of rows: ids as an Arrow array of bytes, the number of the list, and the sort key."""

    documents: Any
    list: Ints
    keys: Floats
    """Sort keys; smaller is better."""
    order: str


class ListRows(Lists):
    """Lists of rows: run, topic, length and hits of each.

    >>> import pyarrow as pa
    >>> rows = pa.table({"run": ["a", "a"], "query_id": ["q", "q"], "doc_id": ["x", "y"], "score": [1.0, 2.0]})
    >>> lists = ListRows.from_table(rows, PooledQrels(Qrels.from_dict({"q": {"x": 1}})))
    >>> lists.runs, lists.topic.tolist(), lists.length.tolist(), lists.rank.tolist()
    (['a'], [0], [2], [2])
    """

    def __init__(self, judgments: PooledQrels, runs: list[str], names: Sequence[str], *arrays: Any) -> None:
        """``runs`` has the run of each list, ``names`` also the runs without a judged topic."""
        super().__init__(judgments.pool, *arrays)
        self.judgments, self.runs, self.names = judgments, runs, names

    @classmethod
    def from_table(cls, table: Any, judgments: PooledQrels, order: str = "trec_eval") -> ListRows:
        """Find the hits of rows with the columns run, query_id, doc_id, and score or rank; skip unjudged topics.

        A row without a document declares a list, which may be empty.
        """
        topic = _lookup(arrow_ids(table["query_id"], "query_id"), judgments.topics)
        run = arrow_ids(table["run"], "run").dictionary_encode()
        names = to_texts(run.dictionary.to_pylist())
        code = run.indices.to_numpy(zero_copy_only=False).astype(np.int64)
        is_judged = topic >= 0
        if not is_judged.all():
            table, topic, code = table.filter(is_judged), topic[is_judged], code[is_judged]
        lists, number = np.unique(code * len(judgments.topics) + topic, return_inverse=True)
        has_document = pc.is_valid(table["doc_id"]).to_numpy(zero_copy_only=False)
        if not has_document.all():
            table, topic, number = table.filter(has_document), topic[has_document], number[has_document]
        documents, meaning = arrow_ids(table["doc_id"], "doc_id"), "rank" if order == "rank" else "score"
        values = check_numbers(table[meaning], meaning)
        scores = score_keys(values, order)
        keys = values if scores is None else -scores
        columns = _Columns(documents, number.astype(np.int64), keys, order)
        sorted_rows = _sort_rows(columns)
        length = np.bincount(columns.list, minlength=len(lists)).astype(np.int32)
        starts = np.concatenate([[0], np.cumsum(length)]).astype(np.int64)
        judgment = judgments.judgments(topic, columns.documents)[sorted_rows]
        hits = np.flatnonzero(judgment >= 0)
        owner = np.searchsorted(starts, hits, side="right") - 1
        return cls(
            judgments,
            [names[r] for r in (lists // max(1, len(judgments.topics))).tolist()],
            names,
            lists % max(1, len(judgments.topics)),
            length,
            np.searchsorted(owner, np.arange(len(lists) + 1)).astype(np.int64),
            (hits - starts[owner] + 1).astype(np.int32),
            judgment[hits].astype(np.int32),
        )

    @property
    def topics(self) -> list[str]:
        """Topic of each list."""
        names = self.judgments.qrels.topics
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


def _sort_rows(columns: _Columns) -> Ints:
    """Return the rows sorted by list and key."""
    order = np.argsort(columns.list, kind="stable")  # fast, because rows mostly come list by list
    lists, keys = columns.list[order], columns.keys[order]
    is_same_list = lists[1:] == lists[:-1]
    if (is_same_list & (keys[1:] <= keys[:-1])).any():
        order = np.lexsort((columns.keys, columns.list))
        lists, keys = columns.list[order], columns.keys[order]
        is_tied = (lists[1:] == lists[:-1]) & (keys[1:] == keys[:-1])
        if is_tied.any():
            order = _break_ties(columns, order, is_tied)
    _reject_duplicates(columns)
    return order


def _break_ties(columns: _Columns, order: Ints, is_tied: Bools) -> Ints:
    """Sort documents with equal scores by the bytes of their ids; equal ranks are an error."""
    if not is_by_score(columns.order):
        hint = "give each document its own rank, or choose another ordering"
        raise InputError("two documents of a ranking have the same rank", hint=hint)
    positions = np.flatnonzero(np.append(is_tied, False) | np.append(False, is_tied))
    rows = order[positions]
    documents = columns.documents.take(pa.array(rows))
    by_id = pc.rank(
        documents, "descending" if ties_descend(columns.order) else "ascending", tiebreaker="dense"
    )
    result = order.copy()
    result[positions] = rows[np.lexsort((np.asarray(by_id), columns.keys[rows], columns.list[rows]))]
    return result


def _reject_duplicates(columns: _Columns) -> None:
    encoded = columns.documents.dictionary_encode()
    code = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    key = columns.list * max(1, len(encoded.dictionary)) + code
    order = np.argsort(key, kind="stable")
    repeated = np.flatnonzero(np.diff(key[order]) == 0)
    if len(repeated):
        row = int(order[repeated[0]])
        document = to_text(columns.documents[row].as_py())
        raise InputError(f"document {document!r} occurs twice in a list", hint="keep one of the two rows")
