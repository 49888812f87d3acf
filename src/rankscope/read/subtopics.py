"""The second column of judgments, and the aspects of diversity topics that it may name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from rankscope.read.ids import in_natural_order, to_bytes, to_text

if TYPE_CHECKING:
    from rankscope.read.qrels import Qrels

__all__ = ["Aspects", "Rows", "Subtopics", "numbered", "taken"]

Rows = range | list[int]
"""The rows of one topic; consecutive ones, the normal case, as a range."""


@dataclass(frozen=True, eq=False)
class Aspects:
    """Judgments per aspect (subtopic) of diversity topics.

    Entry e says that document ``document[e]`` (an index into the judged documents) has grade ``grade[e]`` for
    aspect ``aspect[e]``; the aspects of topic t are ``topic_offsets[t]:topic_offsets[t + 1]``. ``weight`` says how
    much each aspect counts; None means equally.
    """

    names: tuple[str, ...]
    topic_offsets: npt.NDArray[np.int64]
    document: npt.NDArray[np.int32]
    aspect: npt.NDArray[np.int32]
    grade: npt.NDArray[np.int32]
    weight: npt.NDArray[np.float64] | None = None

    def of(self, topics: Sequence[int], documents: npt.NDArray[np.int64]) -> Aspects:
        """The aspects of some topics, whose judged documents are these; both are numbered anew."""
        spans = [range(int(self.topic_offsets[t]), int(self.topic_offsets[t + 1])) for t in topics]
        kept = np.array([a for span in spans for a in span], np.int64)
        place = np.full(len(self.names), -1, np.int32)
        place[kept] = np.arange(len(kept))
        number = np.full(max(self.document.max(initial=-1), documents.max(initial=-1)) + 1, -1, np.int32)
        number[documents] = np.arange(len(documents))
        mine = place[self.aspect] >= 0
        return Aspects(
            names=tuple(self.names[a] for a in kept.tolist()),
            topic_offsets=np.concatenate([[0], np.cumsum([len(span) for span in spans])]).astype(np.int64),
            document=number[self.document[mine]],
            aspect=place[self.aspect[mine]],
            grade=self.grade[mine],
            weight=None if self.weight is None else self.weight[kept],
        )


@dataclass(frozen=True, eq=False)
class Subtopics:
    """The columns of judgments with the rows of each topic: what aspects are made of, once they are asked for."""

    groups: Mapping[str, Rows]
    documents: Sequence[bytes]
    names: Sequence[bytes]
    grades: npt.NDArray[np.int32]

    @cached_property
    def several(self) -> bool:
        """Whether the column tells anything apart."""
        return len(set(self.names)) > 1

    @cached_property
    def overlap(self) -> bool:
        """Whether some document of a topic was judged under several names, which only aspects explain."""
        if not self.several:
            return False
        for rows in self.groups.values():
            first: dict[bytes, bytes] = {}
            for row in rows:
                if first.setdefault(self.documents[row], self.names[row]) != self.names[row]:
                    return True
        return False

    def as_aspects(self, qrels: Qrels) -> Aspects:
        """The column as the aspects of judgments that were made of the same rows."""
        names: list[str] = []
        offsets = [0]
        parts: list[tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]]] = []
        for t, topic in enumerate(qrels.topics):
            rows = self.groups[topic]
            called = taken(self.names, rows)
            mine = in_natural_order({to_text(name) for name in set(called)})
            index = {to_bytes(name): a for a, name in enumerate(mine)}
            start = int(qrels.topic_offsets[t])
            place = {d: i for i, d in enumerate(qrels.documents[start : qrels.topic_offsets[t + 1]])}
            document, aspect = numbered(taken(self.documents, rows), place), numbered(called, index)
            # a judgment that is repeated counts once
            entry, first = np.unique(document * len(mine) + aspect, return_index=True)
            graded = self.grades[rows.start : rows.stop] if isinstance(rows, range) else self.grades[rows]
            parts.append((entry // len(mine) + start, entry % len(mine) + len(names), graded[first]))
            names += mine
            offsets.append(len(names))
        judged, under, given = (
            np.concatenate(column).astype(np.int32) for column in zip(*parts, strict=True)
        )
        return Aspects(tuple(names), np.array(offsets, np.int64), judged, under, given)


def taken(column: Sequence[bytes], rows: Rows) -> Sequence[bytes]:
    """The entries of a column in some of its rows."""
    return column[rows.start : rows.stop] if isinstance(rows, range) else [column[row] for row in rows]


def numbered(column: Sequence[bytes], numbers: Mapping[bytes, int]) -> npt.NDArray[np.int64]:
    """The entries of a column as numbers."""
    return np.fromiter(map(numbers.__getitem__, column), np.int64, len(column))
