"""Labellings of the unjudged documents of rankings, and pools in which these documents are judged.

A label applies to all rankings of the topic: it makes the document judged, and may change the recall base and the ideal
ranking.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement, islice

import numpy as np

from rankscope.arrays import AnyArray, Bools, Floats, Int32s, Ints
from rankscope.errors import InputError
from rankscope.judging import Judged
from rankscope.judging.lists import Lists
from rankscope.judging.pool import Aspects, Pool
from rankscope.judging.tied import TiedLists
from rankscope.measures.base import Measure
from rankscope.read import UNJUDGED
from rankscope.scan import TieGroups, Ties

HIGHEST_LABEL = 1000
"""The highest possible grade of an unjudged document: work and memory grow with it."""

Labels = Ints
"""One labelling per row: the grade of each unjudged document of the list from the top; with aspects, of each aspect."""


@dataclass(frozen=True, eq=False)
class OpenList:
    """A list that has unjudged documents."""

    number: int
    topic: int
    length: int
    rank: Ints
    first: Ints
    size: Ints
    document: Ints
    """Index of each document of the list among those of its topic; -1 if the judgments do not contain it."""
    unjudged: Bools
    known: Ints
    """Indices of the other judged documents of the topic, including those of the list, in the judgments."""
    outside: int = 0
    """Number of unjudged documents that only other lists of the topic hold; their labels follow those of this list."""
    places: Ints | None = None
    """Indices of all unjudged documents among those of the topic, if known: the greedy search for the ideal order of
    aspects prefers the first of equal documents."""

    @property
    def in_pool(self) -> Ints:
        """Indices of known documents, followed by unjudged ones, in the pool of their labels."""
        if self.places is None:
            return np.arange(len(self.known) + self.n_unjudged)
        return np.argsort(np.argsort(np.concatenate([self.known, self.places])))

    @property
    def n_unjudged(self) -> int:
        """Number of unjudged documents."""
        return int(self.unjudged.sum()) + self.outside


def best_label(judged: Judged) -> int:
    """Return the best grade of the judgments, which an unjudged document could have too."""
    best = judged.pool.max_grade
    if best > HIGHEST_LABEL:
        problem = f"the judgments have grade {best}, and an unjudged document could have any grade up to it"
        hint = f"merge grades into fewer (grades=, --grades) so that they end at {HIGHEST_LABEL} or below"
        raise InputError(problem, hint=hint)
    return best


def open_lists(judged: Judged, groups: TieGroups | None = None) -> Iterator[OpenList]:
    """Generate the lists with unjudged documents: those without a judgment, or with a negative grade.

    Ranks without a judged document belong to unjudged ones; their identity does not matter to a single ranking.
    ``groups`` are the groups of equal scores, if their orders matter.
    """
    grade, starts = judged.qrels.grade, judged.qrels.topic_offsets
    width = len(judged.topics)
    for number in open_numbers(judged).tolist():
        part = slice(judged.offsets[number], judged.offsets[number + 1])
        topic, length = number % width, int(judged.length[number])
        graded = np.flatnonzero(grade[starts[topic] : starts[topic + 1]] != UNJUDGED)
        document = np.full(length, -1, np.int64)
        document[judged.rank[part] - 1] = judged.judgment[part] - starts[topic]
        unjudged = np.ones(length, np.bool_)
        unjudged[judged.rank[part][grade[judged.judgment[part]] >= 0] - 1] = False
        other_documents = np.setdiff1d(graded, document[unjudged], assume_unique=True)
        rank = np.arange(1, length + 1)
        first, size = (rank, np.ones_like(rank)) if groups is None else groups.by_rank(number, length)
        open_documents = document[unjudged] if (document >= 0).all() else None
        yield OpenList(
            number, topic, length, rank, first, size, document, unjudged, other_documents, 0, open_documents
        )


def unjudged_counts(judged: Judged) -> Ints:
    """Return the number of unjudged documents of each list."""
    owner = judged.arrays.owner
    rated = judged.qrels.grade[judged.judgment] >= 0
    return judged.length - np.bincount(owner[rated], minlength=len(judged.length))


def open_numbers(judged: Judged) -> Ints:
    """Return the numbers of the lists that have unjudged documents."""
    return np.flatnonzero(unjudged_counts(judged))


def sorted_labellings(
    n_documents: int, grades: Sequence[int], best_first: bool, cells: int
) -> Iterator[Labels]:
    """Generate one labelling per multiset of grades, the highest on top or at the bottom, in blocks of ``cells`` cells.

    >>> [block.tolist() for block in sorted_labellings(2, [0, 1], best_first=True, cells=4)]
    [[[0, 0], [1, 0]], [[1, 1]]]
    """
    rows = combinations_with_replacement(sorted(grades), n_documents)
    while block := list(islice(rows, max(1, cells // n_documents))):
        labels = np.array(block, np.int64)
        yield labels[:, ::-1] if best_first else labels


def every_labelling(n_documents: int, max_label: int) -> Labels:
    """Return all assignments of grades from 0 to ``max_label`` to ``n_documents`` documents.

    >>> every_labelling(2, 1).tolist()
    [[0, 0], [0, 1], [1, 0], [1, 1]]
    """
    return np.indices((max_label + 1,) * n_documents).reshape(n_documents, -1).T


def labelled_lists(
    judged: Judged, chosen: Sequence[tuple[OpenList, Labels]], *, per_aspect: bool = False
) -> TiedLists:
    """Return each list once per labelling, with the pool that contains the labels.

    With ``per_aspect`` a row of labels has the grades of the first document for every aspect, then of the second.
    """
    pools = _Pools(judged, per_aspect)
    parts = []
    for open_list, labels in chosen:
        local = np.empty((len(labels), len(open_list.rank)), np.int64)
        judged_documents = open_list.document[~open_list.unjudged]
        local[:, ~open_list.unjudged] = np.searchsorted(open_list.known, judged_documents)
        base, positions = pools.add(open_list, labels)
        local[:, open_list.unjudged] = positions[:, : positions.shape[1] - open_list.outside]
        if per_aspect:
            local = open_list.in_pool[local]
        sizes = (np.full(len(labels), number) for number in (open_list.length, len(open_list.rank)))
        ranks = (np.tile(column, len(labels)) for column in (open_list.rank, open_list.first, open_list.size))
        parts.append((base[:, 0], *sizes, (local + base[:, 1:]).ravel(), *ranks))
    topic, length, width, document, rank, first, size = map(np.concatenate, zip(*parts, strict=True))
    ties = Ties(first.astype(np.int32), size.astype(np.int32))
    bounds = np.concatenate([[0], np.cumsum(width)])
    return TiedLists(Lists(pools.pool(), topic, length, bounds, rank, document), ties)


def values_under_grades(judged: Judged, measure: Measure, topic: Ints, runs: Ints, grades: Int32s) -> Floats:
    """Evaluate lists under sets of grades, each for the documents of one topic: each set is a topic of its own.

    ``topic`` has the topic of each set, ``runs`` its runs, sets x lists, and ``grades`` all grades, set by set.
    """
    starts = judged.qrels.topic_offsets
    sizes = np.diff(starts)[topic]
    pool = Pool(np.concatenate([[0], np.cumsum(sizes)]), np.ascontiguousarray(grades, np.int32))
    pool.__dict__["max_grade"] = max(judged.pool.max_grade, int(grades.max(initial=0)))
    lists = (runs * len(judged.topics) + topic[:, np.newaxis]).ravel()
    low, size = judged.offsets[lists], np.diff(judged.offsets)[lists]
    offsets = np.concatenate([[0], np.cumsum(size)])
    inside = np.repeat(low - offsets[:-1], size) + np.arange(offsets[-1])
    number = np.repeat(np.arange(len(topic)), runs.shape[1])
    shift = np.repeat((pool.offsets[:-1] - starts[topic])[number], size)
    labelled = Lists(
        pool, number, judged.length[lists], offsets, judged.rank[inside], judged.judgment[inside] + shift
    )
    return measure.evaluate(labelled).reshape(runs.shape)


class _Pools:
    """Pools of labelled topics; lists of a topic with the same labels share a pool."""

    def __init__(self, judged: Judged, per_aspect: bool) -> None:
        self.judged, self.per_aspect = judged, per_aspect
        self.grades: list[AnyArray] = []
        self.starts = [0]
        self.topic_by_key: dict[Hashable, int] = {}
        self.topics: list[int] = []
        self.aspect_rows: list[tuple[Ints, Ints, Ints]] = []

    def add(self, open_list: OpenList, labels: Labels) -> tuple[Ints, Ints]:
        """Add a pool per labelling; return its topic and first index, and the index of each document in its pool."""
        if self.per_aspect:
            pool_topics = [self._add_with_aspects(open_list, row) for row in labels]
            positions = np.tile(len(open_list.known) + np.arange(open_list.n_unjudged), (len(labels), 1))
        else:
            # The pool contains the new documents from the best grade down.
            order = np.argsort(-labels, axis=1, kind="stable")
            positions = len(open_list.known) + np.argsort(order, axis=1, kind="stable")
            pool_topics = self._add_plain(open_list, np.take_along_axis(labels, order, axis=1))
        starts = [self.starts[topic] for topic in pool_topics]
        return np.array([pool_topics, starts], np.int64).T, positions

    def _add_plain(self, open_list: OpenList, rows: Labels) -> list[int]:
        """Return the topics of labels without aspects; equal labels of the same documents share a topic."""
        if self._has_negative(open_list):
            return self._append(open_list, rows)
        prefix = (open_list.topic, len(open_list.known))
        keys = [(*prefix, row.tobytes()) for row in rows]
        new = {key: number for number, key in enumerate(keys) if key not in self.topic_by_key}
        self.topic_by_key.update(zip(new, self._append(open_list, rows[list(new.values())]), strict=True))
        return [self.topic_by_key[key] for key in keys]

    def _has_negative(self, open_list: OpenList) -> bool:
        """Return whether the list has documents of negative grade, so that known documents differ between lists."""
        start = self.judged.qrels.topic_offsets[open_list.topic]
        unjudged = open_list.document[open_list.unjudged & (open_list.document >= 0)]
        return bool((self.judged.qrels.grade[start + unjudged] != UNJUDGED).any())

    def _append(self, open_list: OpenList, rows: Labels) -> list[int]:
        """Add a pool for each row: the known documents, and those with these labels."""
        grade = self.judged.qrels.grade[self.judged.qrels.topic_offsets[open_list.topic] + open_list.known]
        self.grades.append(np.hstack([np.tile(grade, (len(rows), 1)), rows]).ravel())
        first, width = self.starts[-1], len(open_list.known) + open_list.n_unjudged
        self.starts += range(first + width, first + width * len(rows) + 1, width)
        self.topics += [open_list.topic] * len(rows)
        return list(range(len(self.topics) - len(rows), len(self.topics)))

    def _add_with_aspects(self, open_list: OpenList, row: Ints) -> int:
        aspects = self.judged.qrels.aspects
        assert aspects is not None
        by_document = row.reshape(open_list.n_unjudged, -1)
        (topic,) = self._append(open_list, by_document.max(axis=1)[np.newaxis])
        in_pool = open_list.in_pool
        grade = self.grades[-1].copy()
        self.grades[-1][in_pool] = grade
        start = self.judged.qrels.topic_offsets[open_list.topic]
        low = int(aspects.topic_offsets[open_list.topic])
        inside = np.isin(aspects.document, start + open_list.known)
        known_index = np.searchsorted(open_list.known, aspects.document[inside] - start)
        new = np.repeat(len(open_list.known) + np.arange(open_list.n_unjudged), by_document.shape[1])
        all_aspects = np.tile(np.arange(by_document.shape[1]), open_list.n_unjudged)
        aspect_index = np.concatenate([aspects.aspect[inside] - low, all_aspects])
        document = self.starts[topic] + in_pool[np.concatenate([known_index, new])]
        grades = np.concatenate([aspects.grade[inside], by_document.ravel()])
        self.aspect_rows.append((document, aspect_index, grades))
        return topic

    def pool(self) -> Pool:
        """Return all pools as one, with the best grade of the collection."""
        pool = Pool(
            np.array(self.starts, np.int64),
            np.concatenate([np.zeros(0, np.int32), *self.grades]).astype(np.int32),
            self._aspects(),
            undecided=self.judged.pool.undecided,
        )
        pool.__dict__["max_grade"] = self.judged.pool.max_grade  # The best grade is that of all topics.
        return pool

    def _aspects(self) -> Aspects | None:
        aspects = self.judged.qrels.aspects
        if aspects is None or not self.per_aspect:
            return None
        n_aspects = np.diff(aspects.topic_offsets)[self.topics]
        offsets = np.concatenate([[0], np.cumsum(n_aspects)])
        aspect = [index + offset for (_, index, _), offset in zip(self.aspect_rows, offsets, strict=False)]
        where = np.concatenate(
            [np.arange(aspects.topic_offsets[t], aspects.topic_offsets[t + 1]) for t in self.topics]
        )
        return Aspects(
            tuple(aspects.names[i] for i in where.tolist()),
            offsets,
            np.concatenate([document for document, *_ in self.aspect_rows]).astype(np.int32),
            np.concatenate(aspect).astype(np.int32),
            np.concatenate([grade for *_, grade in self.aspect_rows]).astype(np.int32),
            None if aspects.weight is None else aspects.weight[where],
        )
