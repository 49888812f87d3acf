"""A run as flat columns: what frames and files of other formats become, without an object for each document.

Ids stand one after the other in one array of bytes, as in Arrow, whose buffers are taken over as they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rankscope.errors import InputError
from rankscope.read.ids import arrow_ids, id_text, to_bytes, to_text
from rankscope.read.orders import permutation

__all__ = ["RunColumns", "RunList", "Texts"]


@dataclass(frozen=True, eq=False)
class RunList:
    """What a run returned for one topic, in the order of its file: documents, scores, and ranks if it gave any."""

    documents: list[bytes]
    scores: npt.NDArray[np.float64] | None = None
    ranks: npt.NDArray[np.int64] | None = None

    def ordered(self, order: str) -> RunList:
        """The same list in one of the orderings."""
        if order == "file":
            return RunList(self.documents.copy(), self.scores, self.ranks)
        index = permutation(self.documents, self.scores, self.ranks, order)
        return RunList(
            [self.documents[i] for i in index.tolist()],
            None if self.scores is None else self.scores[index],
            None if self.ranks is None else self.ranks[index],
        )


class Texts(NamedTuple):
    """Texts one after the other in UTF-8: text i is ``data[starts[i]:starts[i + 1]]``."""

    data: npt.NDArray[np.uint8]
    starts: npt.NDArray[np.int64]

    @classmethod
    def of(cls, column: Any, what: str) -> Texts:
        """Return a column of ids of any type as text (:func:`rankscope.read.ids.id_text`); ``what`` names the column.

        >>> Texts.of(["q1", 7, 8.0, b"9"], "topic").pieces()
        [b'q1', b'7', b'8', b'9']
        """
        if isinstance(column, Texts):
            return column
        if getattr(getattr(column, "dtype", None), "kind", "") in ("m", "M"):
            raise InputError(
                f"{what}: values of type {column.dtype} are not ids", hint="convert them to text"
            )
        objects = str(getattr(column, "dtype", "")) == "object"  # which Arrow would look at one by one
        if objects and (runs := _same_objects(column)) is not None:
            return cls.of(column.to_numpy()[runs[0]], what)._repeated(runs[1])
        found = cls._joined(column) if objects else None
        found = _arrow_texts(column, what) if found is None else found
        found = cls._joined(column) if found is None and not objects else found
        if found is not None:
            return found
        values = column.tolist() if hasattr(column, "tolist") else list(column)
        values = [to_bytes(id_text(value, what)) for value in values]
        return cls._of_lengths(b"".join(values), map(len, values), len(values))

    @classmethod
    def _joined(cls, column: Any) -> Texts | None:
        """Texts that are objects, without a step in Python for each; None if one is no text or has several lines."""
        values = column.tolist() if hasattr(column, "tolist") else list(column)
        try:
            lines = "\n".join(values).encode("utf-8", "surrogateescape")
        except (TypeError, UnicodeEncodeError):
            return None
        ends = np.flatnonzero(np.frombuffer(lines, np.uint8) == ord("\n"))
        if len(ends) != len(values) - 1:
            return None
        starts = np.concatenate([[0], ends - np.arange(len(ends)), [len(lines) - len(ends)]])
        return cls(np.frombuffer(lines.translate(None, b"\n"), np.uint8), starts)

    def _repeated(self, counts: npt.NDArray[np.int64]) -> Texts:
        """Each text so many times."""
        data = b"".join(piece * count for piece, count in zip(self.pieces(), counts.tolist(), strict=True))
        starts = np.zeros(int(counts.sum()) + 1, np.int64)
        np.cumsum(np.repeat(np.diff(self.starts), counts), out=starts[1:])
        return Texts(np.frombuffer(data, np.uint8), starts)

    @classmethod
    def _of_lengths(cls, data: bytes, lengths: Any, count: int) -> Texts:
        starts = np.zeros(count + 1, np.int64)
        np.cumsum(np.fromiter(lengths, np.int64, count), out=starts[1:])
        return cls(np.frombuffer(data, np.uint8), starts)

    def pieces(self) -> list[bytes]:
        """Each text."""
        first = int(self.starts[0])
        data = self.data[first : int(self.starts[-1])].tobytes()
        return [data[start:stop] for start, stop in pairwise((self.starts - first).tolist())]

    def taken(self, rows: npt.NDArray[np.int64]) -> Texts:
        """The texts of some rows."""
        pieces = self.pieces()
        chosen = [pieces[row] for row in rows.tolist()]
        return self._of_lengths(b"".join(chosen), map(len, chosen), len(chosen))

    def groups(self) -> dict[bytes, npt.NDArray[np.int64]]:
        """The rows that have each text, in the order in which they first occur."""
        rows: dict[bytes, list[int]] = {}
        for row, text in enumerate(self.pieces()):
            rows.setdefault(text, []).append(row)
        return {text: np.array(mine, np.int64) for text, mine in rows.items()}


def _same_objects(column: Any) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]] | None:
    """Where a column of pandas goes on to another object, and for how many rows, if that is seldom; else None.

    A hot place: the topics of a run are mostly one object for many rows, and addresses tell that without a look at
    the objects.
    """
    values = column.to_numpy() if hasattr(column, "to_numpy") else None
    if not (
        isinstance(values, np.ndarray) and values.ndim == 1 and values.flags.c_contiguous and len(values)
    ):
        return None
    address = np.frombuffer(values, np.intp)
    firsts = np.concatenate([[0], np.flatnonzero(address[1:] != address[:-1]) + 1])
    if 4 * len(firsts) > len(values):
        return None
    return firsts, np.diff(firsts, append=len(values))


def _arrow_texts(column: Any, what: str) -> Texts | None:
    """Return a column of pyarrow, polars or pandas without an object for each id; None if Arrow cannot hold it."""
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
    array = arrow_ids(array, what)
    _, offsets, data = array.buffers()
    if not len(array) or offsets is None:
        return Texts(np.zeros(0, np.uint8), np.zeros(len(array) + 1, np.int64))
    starts = np.frombuffer(offsets, np.int64)[array.offset : array.offset + len(array) + 1]
    return Texts(np.frombuffer(data, np.uint8) if data is not None else np.zeros(0, np.uint8), starts)


@dataclass(frozen=True, eq=False)
class RunColumns:
    """The documents of a run, a row each, in the order they were given.

    >>> columns = RunColumns.of({"query_id": ["q1", "q1"], "doc_id": ["d1", "d2"], "score": [0.5, 0.9]})
    >>> columns.lists()["q1"].documents
    [b'd1', b'd2']
    """

    topics: Texts
    documents: Texts
    scores: npt.NDArray[np.float64]
    ranks: npt.NDArray[np.int64] | None = None
    lines: npt.NDArray[np.int64] | None = None
    """Where each row stands in its file."""
    path: str | None = None

    @classmethod
    def of(
        cls,
        columns: Mapping[str, Any],
        lines: npt.NDArray[np.int64] | None = None,
        path: str | None = None,
    ) -> RunColumns:
        """Columns by their meanings: query_id, doc_id, and score or rank; the smaller the rank, the better."""
        topics, documents = (Texts.of(columns[name], name) for name in ("query_id", "doc_id"))
        ranks = whole_numbers(columns["rank"]) if "rank" in columns else None
        made = cls(topics, documents, np.zeros(0), ranks, lines, path)
        if "score" in columns:
            scores, wrong = fractions(columns["score"])
        elif ranks is not None:
            scores, wrong = -ranks.astype(np.float64), None
        else:
            raise InputError("a rank is not a whole number", path=path, hint="give whole numbers, or scores")
        if wrong is None and np.isnan(scores).any():
            row, what = int(np.isnan(scores).argmax()), "NaN"
        elif wrong is not None:
            row, what = wrong, "not a number"
        else:
            return replace(made, scores=scores)
        topic = to_text(topics.taken(np.array([row])).pieces()[0])
        raise made.problem(
            f"a score of topic {topic!r} is {what}", row, "remove the document or give a number"
        )

    def problem(self, what: str, row: int, hint: str) -> InputError:
        """What is wrong in a row, with its line."""
        line = None if self.lines is None else int(self.lines[row])
        return InputError(what, path=self.path, line=line, hint=hint)

    def taken(self, rows: npt.NDArray[np.int64]) -> RunColumns:
        """Some of the rows."""
        return replace(
            self,
            topics=self.topics.taken(rows),
            documents=self.documents.taken(rows),
            scores=self.scores[rows],
            ranks=None if self.ranks is None else self.ranks[rows],
            lines=None if self.lines is None else self.lines[rows],
        )

    def split(self, names: Texts) -> dict[str, RunColumns]:
        """The rows of each run, whose names are in another column."""
        rows = names.groups()
        if len(rows) == 1:
            return {to_text(name): self for name in rows}
        return {to_text(name): self.taken(mine) for name, mine in rows.items()}

    def lists(self) -> dict[str, RunList]:
        """Every list by its topic."""
        documents = self.documents.pieces()
        found = {}
        problems: list[tuple[int, bytes]] = []
        for topic, rows in self.topics.groups().items():
            mine = [documents[row] for row in rows.tolist()]
            if len(set(mine)) < len(mine):
                problems.append((_second(mine, rows), topic))
            ranks = None if self.ranks is None else self.ranks[rows]
            found[to_text(topic)] = RunList(mine, self.scores[rows], ranks)
        if problems:
            row, topic = min(problems)
            raise self.repeated(documents[row], topic, row)
        return found

    def repeated(self, document: bytes, topic: bytes, row: int) -> InputError:
        """What to say about a document that a list has for the second time."""
        what = f"document {to_text(document)!r} occurs twice in topic {to_text(topic)!r}"
        return self.problem(what, row, "keep one of the two")


def _second(documents: Sequence[bytes], rows: npt.NDArray[np.int64]) -> int:
    """The row of the first document that occurs for the second time."""
    seen: set[bytes] = set()
    for row, document in zip(rows.tolist(), documents, strict=True):
        if document in seen:
            return int(row)
        seen.add(document)
    raise AssertionError("no document occurs twice")


def fractions(column: Any) -> tuple[npt.NDArray[np.float64], int | None]:
    """A column as numbers, and the first row that is none."""
    try:
        return np.ascontiguousarray(column, np.float64), None
    except (TypeError, ValueError):
        values = column.tolist() if hasattr(column, "tolist") else list(column)
    found = np.full(len(values), np.nan)
    for row, value in enumerate(values):
        try:
            found[row] = float(value)
        except (TypeError, ValueError):
            return found, row
    return found, None


def whole_numbers(column: Any) -> npt.NDArray[np.int64] | None:
    """A column of ranks; None if one is no whole number."""
    found, wrong = fractions(column)
    if wrong is not None or not (np.abs(found) < 2.0**53).all() or not (found == np.floor(found)).all():
        return None
    return found.astype(np.int64)
