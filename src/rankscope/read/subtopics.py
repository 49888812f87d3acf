"""Second column of judgments, and the aspects of diversity topics that it may name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from rankscope.arrays import AnyArray, Floats, Int32s, Ints, NDArray, take_spans
from rankscope.read.ids import sort_naturally, to_texts

if TYPE_CHECKING:
    from rankscope.read.qrels import Qrels


Rows = range | list[int]
"""Rows of one topic; consecutive rows, the normal case, as a range."""


@dataclass(frozen=True, eq=False)
class Aspects:
    """Judgments per aspect (subtopic) of diversity topics.

    Document ``document[e]`` (an index into the judged documents) has grade ``grade[e]`` for aspect ``aspect[e]``; the
    aspects of topic t are ``topic_offsets[t]:topic_offsets[t + 1]``. ``weight`` has the weight of each aspect; None
    means equal weights.
    """

    names: tuple[str, ...]
    topic_offsets: Ints
    document: Int32s
    aspect: Int32s
    grade: Int32s
    weight: Floats | None = None

    def select(self, topics: Sequence[int], documents: Ints) -> Aspects:
        """Return the aspects of some topics, whose judged documents are ``documents``; both are renumbered."""
        offsets, kept = take_spans(self.topic_offsets, np.array(topics, np.int64))
        new_aspect = np.full(len(self.names), -1, np.int32)
        new_aspect[kept] = np.arange(len(kept))
        n_documents = max(self.document.max(initial=-1), documents.max(initial=-1)) + 1
        new_document = np.full(n_documents, -1, np.int32)
        new_document[documents] = np.arange(len(documents))
        is_kept = new_aspect[self.aspect] >= 0
        return Aspects(
            names=tuple(self.names[a] for a in kept.tolist()),
            topic_offsets=offsets,
            document=new_document[self.document[is_kept]],
            aspect=new_aspect[self.aspect[is_kept]],
            grade=self.grade[is_kept],
            weight=None if self.weight is None else self.weight[kept],
        )


@dataclass(frozen=True, eq=False)
class Subtopics:
    """Second column of judgments, from which aspects are built on demand."""

    names: Sequence[bytes]
    """Distinct names of the column."""
    name: NDArray[np.integer]
    """Index of the name of every row."""
    grades: Int32s
    document: AnyArray | None = None
    """Index of the judged document of every row; None if row i is judged document i."""

    @classmethod
    def from_column(cls, column: Sequence[bytes], document: Ints, grades: Int32s) -> Subtopics:
        """Return the subtopics of rows with these names, documents and grades."""
        numbers = {name: n for n, name in enumerate(dict.fromkeys(column))}
        return cls([*numbers], lookup_numbers(column, numbers), grades, document)

    @property
    def has_several_names(self) -> bool:
        """Whether the second column has several distinct values."""
        return len(self.names) > 1

    @property
    def rows(self) -> AnyArray:
        """Index of the judged document of every row."""
        return np.arange(len(self.name)) if self.document is None else self.document

    @property
    def pairs(self) -> AnyArray:
        """A number for the document and the name of every row."""
        return np.asarray(self.rows * len(self.names) + self.name)

    @property
    def has_overlap(self) -> bool:
        """Whether a document of a topic was judged under several names, which only aspects explain."""
        return self.has_several_names and _count_distinct(self.pairs) > _count_distinct(self.rows)

    def select(self, documents: Ints, n_documents: int) -> Subtopics:
        """Return the rows of some of the documents, which are renumbered."""
        new_document = np.full(n_documents, -1, np.int64)
        new_document[documents] = np.arange(len(documents))
        document = new_document[self.rows]
        is_kept = document >= 0
        return Subtopics(self.names, self.name[is_kept], self.grades[is_kept], document[is_kept])

    def as_aspects(self, qrels: Qrels) -> Aspects:
        """Return the aspects of judgments with the same documents."""
        offsets, size = qrels.topic_offsets, len(self.names)
        topic = np.arange(len(offsets) - 1).repeat(np.diff(offsets))[self.rows]
        pairs, pair = np.unique(topic * size + self.name, return_inverse=True)
        bounds = np.searchsorted(pairs, np.arange(len(offsets)) * size)
        texts = to_texts(self.names)
        names: list[str] = []
        aspect_number = np.empty(len(pairs), np.int64)
        for start, stop in pairwise(bounds.tolist()):
            numbers = {texts[n]: k for k, n in enumerate((pairs[start:stop] % size).tolist(), start)}
            for name in sort_naturally(numbers):
                aspect_number[numbers[name]] = len(names)
                names.append(name)
        # A repeated judgment counts once.
        entries, first = np.unique(self.rows * len(names) + aspect_number[pair], return_index=True)
        document, aspect = (column.astype(np.int32) for column in np.divmod(entries, len(names)))
        return Aspects(tuple(names), bounds, document, aspect, self.grades[first])


def _count_distinct(values: AnyArray) -> int:
    ordered = np.sort(values)
    return int(np.count_nonzero(ordered[1:] != ordered[:-1])) + min(1, len(ordered))


def select_rows(column: Sequence[bytes], rows: Rows) -> Sequence[bytes]:
    """Return some rows of a column."""
    return column[rows.start : rows.stop] if isinstance(rows, range) else [column[row] for row in rows]


def lookup_numbers(column: Sequence[bytes], numbers: Mapping[bytes, int]) -> Ints:
    """Return the number of every entry of a column."""
    return np.fromiter(map(numbers.__getitem__, column), np.int64, len(column))
