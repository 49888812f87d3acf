"""Similarity of two rankings: rank-biased overlap, Kendall's tau, common documents by depth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import nan
from typing import Any

import numpy as np

from rankscope.analysis.stats.coefficients import kendall
from rankscope.analysis.stats.rank_biased_overlap import common_by_depth, rank_biased_overlap
from rankscope.arrays import Floats, Grades, Ints
from rankscope.judging.judged import reject_disjoint
from rankscope.read import Qrels
from rankscope.read.ids import sort_naturally, to_text
from rankscope.read.topics import select_topics
from rankscope.scan import top_list, top_lists
from rankscope.scores import Collection


@dataclass(frozen=True, eq=False)
class Ranking:
    """First documents of a ranking, with their ties."""

    documents: list[bytes]
    groups: list[frozenset[bytes]]
    """Documents that share a score, best first."""
    rank: dict[bytes, int]
    """First rank of the group of each document."""

    @classmethod
    def from_ranks(cls, documents: list[bytes], first: Grades) -> Ranking:
        """Return the ranking of documents by rank, given the first ranks at which their scores occur."""
        groups: dict[int, list[bytes]] = {}
        for document, start in zip(documents, first.tolist(), strict=True):
            groups.setdefault(start, []).append(document)
        rank = {document: start for start, group in groups.items() for document in group}
        return cls(documents, [frozenset(group) for group in groups.values()], rank)


def get_rankings(collection: Collection, depth: int) -> dict[str, dict[str, Ranking]]:
    """Return the first ``depth`` documents of every ranking, by run and topic."""
    rankings: dict[str, dict[str, Ranking]] = {}
    for name, run in collection.runs.items():
        if collection.has_qrels:
            qrels = collection.qrels
            lists = ((qrels.topics[t], names, first) for t, names, first in top_lists(run, qrels, depth))
        else:
            lists = ((topic, *top_list(ranked, run.order, depth)) for topic, ranked in run.iterate_lists())
        rankings[name] = {
            topic: Ranking.from_ranks(names[:depth], first[:depth]) for topic, names, first in lists
        }
        if collection.has_qrels and not rankings[name]:
            reject_disjoint(collection.qrels, run, [topic for topic, _ in run.iterate_lists()])
    if collection.topics and not collection.has_qrels:
        topics = sort_naturally({topic for by_topic in rankings.values() for topic in by_topic})
        kept = frozenset(select_topics(collection.topics, topics, "is in no run"))
        return {run: {t: lists[t] for t in lists if t in kept} for run, lists in rankings.items()}
    return rankings


@dataclass(frozen=True, eq=False)
class Similarity:
    """Similarity of two rankings."""

    values: tuple[float, ...]
    """Columns of :class:`~rankscope.analysis.overlap.TopicOverlap` from ``rbo`` on."""
    common: Ints
    jaccard: Floats
    """Common documents and Jaccard coefficient at every depth."""


@dataclass(frozen=True)
class Comparison:
    """Settings of the comparison of two rankings."""

    at: tuple[int, ...]
    depth: int
    p: float
    ties: str
    qrels: Qrels | None

    def topics(self, a: Mapping[str, Ranking], b: Mapping[str, Ranking]) -> dict[str, Similarity]:
        """Compare the rankings of two runs on the topics that both have."""
        common = sort_naturally(topic for topic in a if topic in b)
        return {topic: self.rankings(topic, a[topic], b[topic]) for topic in common}

    def rankings(self, topic: str, a: Ranking, b: Ranking) -> Similarity:
        """Compare two rankings of a topic."""
        rbo = rank_biased_overlap(a.groups, b.groups, self.p, ties=self.ties)
        common = [document for document in a.documents if document in b.rank]
        tau = kendall([-a.rank[d] for d in common], [-b.rank[d] for d in common]).tau_b
        counts = common_by_depth(a.documents, b.documents, self.depth)[np.array(self.at) - 1]
        either = [min(d, len(a.documents)) + min(d, len(b.documents)) for d in self.at] - counts
        jaccard = _jaccard(len(common), len(a.documents) + len(b.documents) - len(common))
        values = (rbo.value, rbo.low, rbo.high, tau, len(common), jaccard, *self._relevant(topic, a, b))
        return Similarity(values, counts, np.array([*map(_jaccard, counts, either)]))

    def _relevant(self, topic: str, a: Ranking, b: Ranking) -> tuple[float, ...]:
        if self.qrels is None:
            return ()
        grades = self.qrels.judgments(topic)
        first, second = ({d for d in side.documents if grades.get(to_text(d), 0) > 0} for side in (a, b))
        common = len(first & second)
        return len(first), len(second), common, _jaccard(common, len(first | second))


def _jaccard(common: float, either: float) -> float:
    return common / either if either else nan


def defined_means(values: Sequence[Any], width: int) -> list[float]:
    """Return the mean of every column over the rows where it is defined."""
    table = np.array([np.asarray(row, np.float64) for row in values]).reshape(-1, width)
    defined = ~np.isnan(table)
    sums, counts = np.where(defined, table, 0).sum(axis=0), defined.sum(axis=0)
    return [float(total / count) if count else nan for total, count in zip(sums, counts, strict=True)]
