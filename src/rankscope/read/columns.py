"""Runs in flat columns, for frames and files of other formats, without a Python object per document.

All ids of a column are in one array of bytes, as in Arrow, whose buffers are used without a copy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from rankscope.arrays import Floats, Ints, NDArray
from rankscope.errors import InputError
from rankscope.native.memory import join_texts
from rankscope.read.ids import arrow_ids, id_text, to_bytes, to_text
from rankscope.read.orders import permutation

Lines = Ints
"""Line of each row in its file."""


@dataclass(frozen=True, eq=False)
class RunList:
    """Ranking of one topic in the order of its file: documents, and optionally scores and ranks."""

    documents: list[bytes]
    scores: Floats | None = None
    ranks: Ints | None = None

    def ordered(self, order: str) -> RunList:
        """Return a sorted copy."""
        if order == "file":
            return RunList(self.documents.copy(), self.scores, self.ranks)
        index = permutation(self.documents, self.scores, self.ranks, order)
        return RunList(
            [self.documents[i] for i in index.tolist()],
            None if self.scores is None else self.scores[index],
            None if self.ranks is None else self.ranks[index],
        )


class TextColumn(NamedTuple):
    """A column of texts in UTF-8: text i is ``data[starts[i]:starts[i + 1]]``."""

    data: NDArray[np.uint8]
    starts: Ints

    @classmethod
    def from_column(cls, column: Any, location: str) -> TextColumn:
        """Return ids of any type as text (:func:`rankscope.read.ids.id_text`); messages name the column ``location``.

        >>> TextColumn.from_column(["q1", 7, 8.0, b"9"], "topic").pieces()
        [b'q1', b'7', b'8', b'9']
        """
        if isinstance(column, TextColumn):
            return column
        if getattr(getattr(column, "dtype", None), "kind", "") in ("m", "M"):
            hint = "convert them to text"
            raise InputError(f"{location}: values of type {column.dtype} are not ids", hint=hint)
        is_object = (
            str(getattr(column, "dtype", "")) == "object" and column.ndim == 1
        )  # slow to convert with Arrow
        if not is_object and (result := _from_arrow(column, location)) is not None:
            return result
        values: Any = np.ascontiguousarray(column) if is_object else as_list(column)
        if (joined := join_texts(values)) is not None:
            return cls(*joined)
        return cls._from_pieces([to_bytes(id_text(value, location)) for value in as_list(column)])

    @classmethod
    def _from_pieces(cls, pieces: Sequence[bytes]) -> TextColumn:
        starts = np.zeros(len(pieces) + 1, np.int64)
        np.cumsum(np.fromiter(map(len, pieces), np.int64, len(pieces)), out=starts[1:])
        return cls(np.frombuffer(b"".join(pieces), np.uint8), starts)

    def pieces(self) -> list[bytes]:
        """Return the texts."""
        first = int(self.starts[0])
        data = self.data[first : int(self.starts[-1])].tobytes()
        return [data[start:stop] for start, stop in pairwise((self.starts - first).tolist())]

    def take(self, rows: Ints) -> TextColumn:
        """Return some rows."""
        pieces = self.pieces()
        return self._from_pieces([pieces[row] for row in rows.tolist()])

    def groups(self) -> dict[bytes, Ints]:
        """Return the rows of each distinct text, in order of first occurrence."""
        rows: dict[bytes, list[int]] = {}
        for row, text in enumerate(self.pieces()):
            rows.setdefault(text, []).append(row)
        return {text: np.array(numbers, np.int64) for text, numbers in rows.items()}


def _from_arrow(column: Any, location: str) -> TextColumn | None:
    """Convert a column of pyarrow, polars or pandas without an object per id; None if Arrow cannot represent it."""
    if type(column).__module__.partition(".")[0] not in ("pyarrow", "polars", "pandas"):
        return None
    try:
        import pyarrow
    except ImportError:
        return None
    try:
        array = column.to_arrow() if hasattr(column, "to_arrow") else column
        if not isinstance(array, pyarrow.Array | pyarrow.ChunkedArray):
            array = pyarrow.array(array, from_pandas=True)
    except (pyarrow.ArrowException, UnicodeError, TypeError, ValueError):
        return None
    array = arrow_ids(array, location)
    _, offsets, data = array.buffers()
    if not len(array) or offsets is None:
        return TextColumn(np.zeros(0, np.uint8), np.zeros(len(array) + 1, np.int64))
    starts = np.frombuffer(offsets, np.int64)[array.offset : array.offset + len(array) + 1]
    return TextColumn(np.frombuffer(data if data is not None else b"", np.uint8), starts)


@dataclass(frozen=True, eq=False)
class RunColumns:
    """Rows of a run, one per document, in the order of the input.

    >>> columns = RunColumns.from_columns({"query_id": ["q1", "q1"], "doc_id": ["d1", "d2"], "score": [0.5, 0.9]})
    >>> columns.lists()["q1"].documents
    [b'd1', b'd2']
    """

    topics: TextColumn
    documents: TextColumn
    scores: Floats
    ranks: Ints | None = None
    lines: Lines | None = None
    path: str | None = None

    @classmethod
    def from_columns(
        cls, columns: Mapping[str, Any], lines: Lines | None = None, path: str | None = None
    ) -> RunColumns:
        """Return a run from the columns query_id, doc_id, and score or rank, of which smaller is better."""
        topics, documents = (TextColumn.from_column(columns[name], name) for name in ("query_id", "doc_id"))
        ranks = parse_ranks(columns["rank"]) if "rank" in columns else None
        if "score" in columns:
            scores, invalid = parse_numbers(columns["score"])
        elif ranks is not None:
            scores, invalid = -ranks.astype(np.float64), None
        else:
            raise InputError("a rank is not an integer", path=path, hint="give integers, or scores")
        run = cls(topics, documents, scores, ranks, lines, path)
        if invalid is not None:
            row, fault = invalid, "not a number"
        elif np.isnan(scores).any():
            row, fault = int(np.isnan(scores).argmax()), "NaN"
        else:
            return run
        topic = to_text(topics.take(np.array([row])).pieces()[0])
        hint = "remove the document or give a number"
        raise run.problem(f"a score of topic {topic!r} is {fault}", row, hint)

    def problem(self, problem: str, row: int, hint: str) -> InputError:
        """Return the error for a row."""
        line = None if self.lines is None else int(self.lines[row])
        return InputError(problem, path=self.path, line=line, hint=hint)

    def take(self, rows: Ints) -> RunColumns:
        """Return some rows."""
        return replace(
            self,
            topics=self.topics.take(rows),
            documents=self.documents.take(rows),
            scores=self.scores[rows],
            ranks=None if self.ranks is None else self.ranks[rows],
            lines=None if self.lines is None else self.lines[rows],
        )

    def split(self, names: TextColumn) -> dict[str, RunColumns]:
        """Split the rows by the names of runs in another column."""
        groups = names.groups()
        if len(groups) == 1:
            return {to_text(name): self for name in groups}
        return {to_text(name): self.take(rows) for name, rows in groups.items()}

    def lists(self) -> dict[str, RunList]:
        """Return the ranking of every topic."""
        documents = self.documents.pieces()
        lists = {}
        repeated: list[tuple[int, bytes]] = []
        for topic, rows in self.topics.groups().items():
            ids = [documents[row] for row in rows.tolist()]
            if (second := find_repeated(ids)) is not None:
                repeated.append((int(rows[second]), topic))
            ranks = None if self.ranks is None else self.ranks[rows]
            lists[to_text(topic)] = RunList(ids, self.scores[rows], ranks)
        if repeated:
            row, topic = min(repeated)
            raise self.repeated(documents[row], topic, row)
        return lists

    def repeated(self, document: bytes, topic: bytes, row: int) -> InputError:
        """Return the error for a document that occurs for the second time."""
        problem = f"document {to_text(document)!r} occurs twice in topic {to_text(topic)!r}"
        return self.problem(problem, row, "keep one of the two")


def as_list(column: Any) -> list[Any]:
    """Return the values of a column of any kind as a list."""
    for method in ("to_list", "to_pylist", "tolist"):
        if hasattr(column, method):
            values: list[Any] = getattr(column, method)()
            return values
    return list(column)


def find_repeated(documents: Sequence[bytes]) -> int | None:
    """Return the index of the first document that occurs for the second time, or None."""
    if len(set(documents)) == len(documents):
        return None
    seen: set[bytes] = set()
    for index, document in enumerate(documents):
        if document in seen:
            return index
        seen.add(document)
    raise AssertionError("a document occurs twice")


def parse_numbers(column: Any) -> tuple[Floats, int | None]:
    """Return a column as numbers, and the first row that is no number, or None."""
    try:
        return np.ascontiguousarray(column, np.float64), None
    except (TypeError, ValueError):
        values = as_list(column)
    numbers = np.full(len(values), np.nan)
    for row, value in enumerate(values):
        try:
            numbers[row] = float(value)
        except (TypeError, ValueError):
            return numbers, row
    return numbers, None


def parse_ranks(column: Any) -> Ints | None:
    """Return a column of ranks; None if one is not an integer."""
    ranks, invalid = parse_numbers(column)
    if invalid is not None or not (np.abs(ranks) < 2.0**53).all() or not (ranks == np.floor(ranks)).all():
        return None
    return ranks.astype(np.int64)
