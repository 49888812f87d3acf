"""Rows of Arrow columns against judgments: many lists of many runs at once, without an object for each document.

This is what a cluster hands over (a bucket of Spark, a piece of a Parquet dataset). The values are those of the same
lists in files: scores are compared as the ordering says, ties are broken by the bytes of the ids, and what is refused
there (an id that is missing, a score that is no number, a document that occurs twice) is refused here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rankscope.errors import InputError, SettingsError
from rankscope.judging.lists import Ints, Lists
from rankscope.judging.pool import Pool
from rankscope.read.columns import as_list, parse_numbers
from rankscope.read.ids import arrow_ids, to_bytes, to_text, to_texts
from rankscope.read.orders import check_order, is_by_score, score_keys, ties_descend
from rankscope.read.qrels import Qrels, check_grades

__all__ = ["ListRows", "PooledQrels", "check_rows_order", "checked_numbers"]

_HITS_AT_ONCE = 200_000


def check_rows_order(order: str) -> str:
    """An ordering that needs no order of the rows: tables of a cluster have none."""
    if check_order(order) == "file":
        raise SettingsError(
            "rows of a table have no order of lines",
            hint="choose trec_eval, trec_eval9, ascending_id or rank",
        )
    return order


class PooledQrels:
    """Judgments with what is derived from them for looking rows up, made once for all of them."""

    def __init__(self, qrels: Qrels) -> None:
        self.qrels = qrels

    def __reduce__(self) -> tuple[Any, ...]:
        return PooledQrels, (self.qrels,)

    @cached_property
    def pool(self) -> Pool:
        """The judged documents of each topic."""
        qrels = self.qrels
        return Pool(qrels.topic_offsets, qrels.grade, qrels.aspects, undecided=qrels.subtopics is not None)

    @cached_property
    def topics(self) -> Any:
        """The judged topics as an Arrow array of bytes."""
        import pyarrow as pa

        return pa.array([to_bytes(topic) for topic in self.qrels.topics], pa.large_binary())

    @cached_property
    def _documents(self) -> tuple[Any, npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """The different judged documents; and sorted keys of topic and document with their judgments."""
        import pyarrow as pa
        import pyarrow.compute as pc

        documents = pa.array(self.qrels.documents, pa.large_binary())
        different = pc.unique(documents)
        number = pc.index_in(documents, different).to_numpy(zero_copy_only=False).astype(np.int64)
        topic = np.repeat(np.arange(len(self.qrels.topics)), np.diff(self.qrels.topic_offsets))
        key = topic * len(different) + number
        order = np.argsort(key, kind="stable")
        return different, key[order], order

    def judgments(self, topic: npt.NDArray[np.int64], documents: Any) -> npt.NDArray[np.int64]:
        """The number of the judgment of each row (its topic by number, its document as bytes); -1 if it has none."""
        import pyarrow.compute as pc

        different, keys, order = self._documents
        number = pc.fill_null(pc.index_in(documents, different), -1).to_numpy(zero_copy_only=False)
        found = np.full(len(topic), -1, np.int64)
        known = np.flatnonzero((number >= 0) & (topic >= 0))
        if len(known):
            key = topic[known] * len(different) + number[known]
            place = np.minimum(np.searchsorted(keys, key), len(keys) - 1)
            there = keys[place] == key
            found[known[there]] = order[place[there]]
        return found


class _Columns(NamedTuple):
    """Ids as Arrow arrays of bytes, with the number of the list of each row; scores or ranks as an array."""

    documents: Any
    list: npt.NDArray[np.int64]
    keys: npt.NDArray[np.float64]
    """What orders a list: the smaller, the better."""
    by_score: bool
    ties_descend: bool
    """Whether the greater of two ids with equal scores comes first."""


@dataclass(frozen=True, eq=False)
class ListRows:
    """The lists that rows make up: for each its run, its topic, its length, its hits.

    >>> import pyarrow as pa
    >>> rows = pa.table({"run": ["a", "a"], "query_id": ["q", "q"], "doc_id": ["x", "y"], "score": [1.0, 2.0]})
    >>> found = ListRows.of(rows, PooledQrels(Qrels.from_dict({"q": {"x": 1}})))
    >>> found.runs, found.topic.tolist(), found.length.tolist(), found.rank.tolist()
    (['a'], [0], [2], [2])
    """

    judgments: PooledQrels
    runs: list[str]
    """The run of each list."""
    topic: Ints
    """The number of its topic among the judged ones."""
    length: npt.NDArray[np.int32]
    offsets: Ints
    rank: npt.NDArray[np.int32]
    judgment: npt.NDArray[np.int32]
    names: Sequence[str] = ()
    """Every run among the rows, also one without a judged topic."""

    @classmethod
    def of(cls, table: Any, judgments: PooledQrels, order: str = "trec_eval") -> ListRows:
        """Rows with the columns run, query_id, doc_id, and score or rank; those of unjudged topics are left out.

        A row without a document says no more than that there is such a list, perhaps an empty one.
        """
        import pyarrow.compute as pc

        topic = _numbers_of(arrow_ids(table["query_id"], "query_id"), judgments.topics)
        run = arrow_ids(table["run"], "run").dictionary_encode()
        names = to_texts(run.dictionary.to_pylist())
        code = run.indices.to_numpy(zero_copy_only=False).astype(np.int64)
        judged = topic >= 0
        if not judged.all():
            table, topic, code = table.filter(judged), topic[judged], code[judged]
        whole = code * len(judgments.topics) + topic
        lists, number = np.unique(whole, return_inverse=True)
        real = pc.is_valid(table["doc_id"]).to_numpy(zero_copy_only=False)
        if not real.all():
            table, topic, number = table.filter(real), topic[real], number[real]
        columns = _columns(table, number.astype(np.int64), order)
        arranged = _arranged(columns)
        length = np.bincount(columns.list, minlength=len(lists)).astype(np.int32)
        starts = np.concatenate([[0], np.cumsum(length)]).astype(np.int64)
        found = judgments.judgments(topic, columns.documents)[arranged]
        hits = np.flatnonzero(found >= 0)
        owner = np.searchsorted(starts, hits, side="right") - 1
        return cls(
            judgments,
            [names[r] for r in (lists // max(1, len(judgments.topics))).tolist()],
            lists % max(1, len(judgments.topics)),
            length,
            np.searchsorted(owner, np.arange(len(lists) + 1)).astype(np.int64),
            (hits - starts[owner] + 1).astype(np.int32),
            found[hits].astype(np.int32),
            names,
        )

    def __len__(self) -> int:
        return len(self.runs)

    @property
    def topics(self) -> list[str]:
        """The topic of each list."""
        names = self.judgments.qrels.topics
        return [names[t] for t in self.topic.tolist()]

    def blocks(self) -> Iterator[tuple[slice, Lists]]:
        """The lists as measures see them, some at a time, which bounds the memory of measures."""
        first = 0
        while first < len(self):
            until = np.searchsorted(self.offsets, self.offsets[first] + _HITS_AT_ONCE, side="right") - 1
            last = max(first + 1, min(int(until), first + _HITS_AT_ONCE, len(self)))
            low, high = self.offsets[first], self.offsets[last]
            part = slice(first, last)
            yield (
                part,
                Lists(
                    self.judgments.pool,
                    self.topic[part],
                    self.length[part],
                    self.offsets[first : last + 1] - low,
                    self.rank[low:high],
                    self.judgment[low:high],
                ),
            )
            first = last


def _numbers_of(texts: Any, among: Any) -> npt.NDArray[np.int64]:
    """Where each text stands among others; -1 if it does not."""
    import pyarrow.compute as pc

    found = pc.fill_null(pc.index_in(texts, among), -1).to_numpy(zero_copy_only=False)
    return np.asarray(found, np.int64)


def _columns(table: Any, number: npt.NDArray[np.int64], order: str) -> _Columns:
    documents = arrow_ids(table["doc_id"], "doc_id")
    meaning = "rank" if order == "rank" else "score"
    given = checked_numbers(table[meaning], meaning)
    compared = score_keys(given, order)
    keys = given if compared is None else -compared
    return _Columns(documents, number, keys, is_by_score(order), ties_descend(order))


def checked_numbers(column: Any, meaning: str) -> npt.NDArray[np.float64]:
    """Return a column of scores, ranks or grades as numbers; ranks and grades must be whole."""
    if meaning == "relevance":
        return check_grades(as_list(column)).astype(np.float64)
    given, wrong = parse_numbers(column)
    if wrong is not None:
        raise InputError(f"the column {meaning} has no numbers", hint="give numbers")
    if np.isnan(given).any():
        raise InputError(f"a {meaning} is missing or NaN", hint="remove the row or give a number")
    if meaning == "rank" and not (given == np.floor(given)).all():
        raise InputError("a rank is not a whole number", hint="give whole numbers, or scores")
    return given


def _arranged(columns: _Columns) -> npt.NDArray[np.int64]:
    """The rows list by list, each in its ordering."""
    order = np.argsort(columns.list, kind="stable")  # of rows that mostly come list by list
    lists, keys = columns.list[order], columns.keys[order]
    same = lists[1:] == lists[:-1]
    if (same & (keys[1:] <= keys[:-1])).any():
        order = np.lexsort((columns.keys, columns.list))
        lists, keys = columns.list[order], columns.keys[order]
        same = lists[1:] == lists[:-1]
        tied = same & (keys[1:] == keys[:-1])
        if tied.any():
            order = _ties_broken(columns, order, tied)
    _refuse_duplicates(columns)
    return order


def _ties_broken(
    columns: _Columns, order: npt.NDArray[np.int64], tied: npt.NDArray[np.bool_]
) -> npt.NDArray[np.int64]:
    """Sort documents with equal scores by the bytes of their ids; equal ranks are an error."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not columns.by_score:
        raise InputError(
            "two documents of a list have the same rank", hint="give each its own, or choose another ordering"
        )
    places = np.flatnonzero(np.append(tied, False) | np.append(False, tied))
    rows = order[places]
    documents = columns.documents.take(pa.array(rows))
    place = pc.rank(documents, "descending" if columns.ties_descend else "ascending", tiebreaker="dense")
    broken = order.copy()
    broken[places] = rows[np.lexsort((np.asarray(place), columns.keys[rows], columns.list[rows]))]
    return broken


def _refuse_duplicates(columns: _Columns) -> None:
    coded = columns.documents.dictionary_encode()
    code = coded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    key = columns.list * max(1, len(coded.dictionary)) + code
    order = np.argsort(key, kind="stable")
    again = np.flatnonzero(np.diff(key[order]) == 0)
    if len(again):
        row = int(order[again[0]])
        document = to_text(columns.documents[row].as_py())
        raise InputError(f"document {document!r} occurs twice in a list", hint="keep one of the two rows")
