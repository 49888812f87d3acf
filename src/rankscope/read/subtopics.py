"""Second column of judgments, and the aspects of diversity topics that it may name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from rankscope.arrays import AnyArray, Floats, Int32s, Ints
from rankscope.read.ids import sort_naturally, to_bytes, to_text

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
        spans = [range(int(self.topic_offsets[t]), int(self.topic_offsets[t + 1])) for t in topics]
        kept = np.array([a for span in spans for a in span], np.int64)
        new_aspect = np.full(len(self.names), -1, np.int32)
        new_aspect[kept] = np.arange(len(kept))
        n_documents = max(self.document.max(initial=-1), documents.max(initial=-1)) + 1
        new_document = np.full(n_documents, -1, np.int32)
        new_document[documents] = np.arange(len(documents))
        is_kept = new_aspect[self.aspect] >= 0
        return Aspects(
            names=tuple(self.names[a] for a in kept.tolist()),
            topic_offsets=np.concatenate([[0], np.cumsum([len(span) for span in spans])]).astype(np.int64),
            document=new_document[self.document[is_kept]],
            aspect=new_aspect[self.aspect[is_kept]],
            grade=self.grade[is_kept],
            weight=None if self.weight is None else self.weight[kept],
        )


@dataclass(frozen=True, eq=False)
class Subtopics:
    """Columns of judgments and the rows of each topic, from which aspects are built on demand."""

    groups: Mapping[str, Rows]
    documents: Sequence[bytes]
    names: Sequence[bytes]
    grades: Int32s

    @cached_property
    def has_several_names(self) -> bool:
        """Whether the second column has several distinct values."""
        return len(set(self.names)) > 1

    @cached_property
    def has_overlap(self) -> bool:
        """Whether a document of a topic was judged under several names, which only aspects explain."""
        if not self.has_several_names:
            return False
        for rows in self.groups.values():
            first: dict[bytes, bytes] = {}
            for row in rows:
                if first.setdefault(self.documents[row], self.names[row]) != self.names[row]:
                    return True
        return False

    def as_aspects(self, qrels: Qrels) -> Aspects:
        """Return the aspects of judgments with the same rows."""
        names: list[str] = []
        offsets = [0]
        parts: list[tuple[AnyArray, AnyArray, AnyArray]] = []
        for t, topic in enumerate(qrels.topics):
            rows = self.groups[topic]
            column = select_rows(self.names, rows)
            topic_names = sort_naturally({to_text(name) for name in set(column)})
            aspect_number = {to_bytes(name): a for a, name in enumerate(topic_names)}
            start = int(qrels.topic_offsets[t])
            ids = qrels.documents[start : qrels.topic_offsets[t + 1]]
            document_number = {name: i for i, name in enumerate(ids)}
            document = lookup_numbers(select_rows(self.documents, rows), document_number)
            aspect = lookup_numbers(column, aspect_number)
            # A repeated judgment counts once.
            count = len(topic_names)
            entry, first = np.unique(document * count + aspect, return_index=True)
            grades = self.grades[rows.start : rows.stop] if isinstance(rows, range) else self.grades[rows]
            parts.append((entry // count + start, entry % count + len(names), grades[first]))
            names += topic_names
            offsets.append(len(names))
        documents, aspects, all_grades = (
            np.concatenate(column).astype(np.int32) for column in zip(*parts, strict=True)
        )
        return Aspects(tuple(names), np.array(offsets, np.int64), documents, aspects, all_grades)


def select_rows(column: Sequence[bytes], rows: Rows) -> Sequence[bytes]:
    """Return some rows of a column."""
    return column[rows.start : rows.stop] if isinstance(rows, range) else [column[row] for row in rows]


def lookup_numbers(column: Sequence[bytes], numbers: Mapping[bytes, int]) -> Ints:
    """Return the number of every entry of a column."""
    return np.fromiter(map(numbers.__getitem__, column), np.int64, len(column))
