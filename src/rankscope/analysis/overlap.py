"""How alike are the lists of two runs? Rank-biased overlap, common documents by depth, order of what is common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from itertools import combinations
from math import nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankscope.analysis.stats.coefficients import kendall
from rankscope.analysis.stats.rank_biased_overlap import common_by_depth, rank_biased_overlap
from rankscope.choices import MOST_RANKS as MOST
from rankscope.errors import InputError, SettingsError
from rankscope.read import Qrels, Run, as_runs, open_qrels
from rankscope.read.ids import in_natural_order, to_text
from rankscope.read.topics import chosen_topics
from rankscope.result import TableResult
from rankscope.scan import top_list, top_lists
from rankscope.tables import Cell, Table

__all__ = ["DEPTHS", "overlap"]

Floats = NDArray[np.float64]

DEPTHS = (1, 2, 3, 5, 10, 20, 30, 50, 100, 200, 300, 500, 1000, 2000)
_TOPIC = ("rbo", "rbo_low", "rbo_high", "kendall", "common", "jaccard")
_RELEVANT = ("relevant_a", "relevant_b", "relevant_common", "relevant_jaccard")


def overlap(
    runs: Any,
    qrels: Any = None,
    *,
    baseline: str | None = None,
    depth: int = 100,
    depths: Sequence[int] | None = None,
    rbo_p: float = 0.9,
    rbo_ties: str = "b",
    order: str | None = None,
    topics: str | Sequence[str] | None = None,
) -> TableResult:
    """How alike the lists of every two runs are (or of every run and ``baseline``), on the topics that both have.

    Of the first ``depth`` documents of both lists: their rank-biased overlap with bounds (``rbo_p``, ``rbo_ties``: see
    :func:`~.rank_biased_overlap`; documents with equal scores are tied, but not in the orders ``rank`` and ``file``,
    which have no ties), Kendall's tau-b between the ranks of the common documents, and the Jaccard coefficient, common
    documents divided by all, at every depth of ``depths``. With judgments only judged topics count, and the relevant
    documents of both lists are compared as well. ``topics`` names some of the topics, as a list, a text such as
    ``301,310-320`` or a file.

    Tables: ``overlap`` {a, b, topics, only_a, only_b, rbo, rbo_low, rbo_high, kendall, common, jaccard, ...}: means
    over topics, undefined values left out, and how many topics only one run has; ``topics``: the same for every
    topic; ``depths`` {a, b, depth, common, jaccard}: means over topics.

    >>> runs = {"one": {"q": ["a", "b", "c"]}, "other": {"q": ["b", "a", "d"]}}
    >>> found = overlap(runs, rbo_p=0.9, depths=[1, 2, 3])
    >>> [round(found["overlap"].column(name)[0], 3) for name in ("rbo", "kendall", "jaccard")]
    [0.63, -1.0, 0.5]
    >>> found["depths"].column("jaccard")
    [0.0, 1.0, 0.5]
    """
    if not 1 <= depth <= MOST:
        raise SettingsError(f"a depth of {depth}", hint=f"compare 1 to {MOST:,} ranks")
    at = _checked(depths, depth)
    named = as_runs(runs, order)
    judged = None if qrels is None else open_qrels(qrels)
    if topics and judged is not None:
        judged = judged.of_topics(chosen_topics(topics, judged.topics))
    pairs = _pairs(list(named), baseline)
    compare = _Comparison(at, depth, rbo_p, rbo_ties, judged)
    lists = {run: _Lists(named[run], depth, judged) for run in named}
    if topics and judged is None:
        every = in_natural_order({topic for one in lists.values() for topic in one.topics})
        chosen = frozenset(chosen_topics(topics, every, "is in no run"))
        lists = {run: one.of(chosen) for run, one in lists.items()}
    found = [_Pair(a, b, compare.topics(lists[a], lists[b]), lists[a], lists[b]) for a, b in pairs]
    settings: dict[str, Any] = {
        "order": named.order,
        "depth": depth,
        "depths": list(at),
        "rbo_p": rbo_p,
        "rbo_ties": rbo_ties,
    }
    if topics:
        settings["chosen_topics"] = in_natural_order(
            {topic for one in lists.values() for topic in one.topics}
        )
    tables = (_means(found, judged is not None), _topics(found, judged is not None), _depths(found, at))
    return TableResult.of(*tables, settings={**settings, "baseline": baseline}, main=("overlap", "depths"))


def _pairs(names: Sequence[str], baseline: str | None) -> list[tuple[str, str]]:
    if len(names) < 2:
        raise InputError("overlap needs at least two runs", hint="name another run file")
    if baseline is None:
        return list(combinations(names, 2))
    if baseline not in names:
        raise InputError(f"no run is called {baseline!r}", hint=f"there are {', '.join(names[:5])}")
    return [(baseline, name) for name in names if name != baseline]


def _checked(depths: Sequence[int] | None, depth: int) -> tuple[int, ...]:
    if depths is None:
        return (*(one for one in DEPTHS if one < depth), depth)
    if not depths or not all(1 <= one <= depth for one in depths):
        raise SettingsError(f"depths {list(depths)}", hint=f"give ranks from 1 to {depth}, such as 1,5,10")
    return tuple(sorted(set(depths)))


class _Lists:
    """The first documents of a run, topic by topic, and which of them are tied."""

    def __init__(self, run: Run, depth: int, judged: Qrels | None) -> None:
        if judged is None:
            each = ((topic, *top_list(one, run.order, depth)) for topic, one in run.each_list())
        else:
            each = ((judged.topics[t], names, first) for t, names, first in top_lists(run, judged, depth))
        self.topics: Mapping[str, _List] = {
            topic: _List.of(documents[:depth], first[:depth]) for topic, documents, first in each
        }

    def of(self, topics: frozenset[str]) -> _Lists:
        """Those of some topics."""
        some = copy(self)
        some.topics = {topic: one for topic, one in self.topics.items() if topic in topics}
        return some


@dataclass(frozen=True, eq=False)
class _List:
    documents: list[bytes]
    ranking: list[frozenset[bytes]]
    rank: dict[bytes, int]
    """The first rank of a document's group: tied documents have the same."""

    @classmethod
    def of(cls, documents: list[bytes], first: NDArray[np.int32]) -> _List:
        """Of documents by rank, and the first ranks at which their scores occur."""
        groups: dict[int, list[bytes]] = {}
        for document, start in zip(documents, first.tolist(), strict=True):
            groups.setdefault(start, []).append(document)
        rank = {document: start for start, group in groups.items() for document in group}
        return cls(documents, [frozenset(group) for group in groups.values()], rank)


@dataclass(frozen=True)
class _Comparison:
    """What is asked of two lists."""

    at: tuple[int, ...]
    depth: int
    p: float
    ties: str
    judged: Qrels | None

    def topics(self, a: _Lists, b: _Lists) -> dict[str, _Found]:
        both = in_natural_order(topic for topic in a.topics if topic in b.topics)
        return {topic: self.lists(topic, a.topics[topic], b.topics[topic]) for topic in both}

    def lists(self, topic: str, a: _List, b: _List) -> _Found:
        rbo = rank_biased_overlap(a.ranking, b.ranking, self.p, ties=self.ties)
        common = [document for document in a.documents if document in b.rank]
        tau = kendall([-a.rank[d] for d in common], [-b.rank[d] for d in common]).tau_b
        counts = common_by_depth(a.documents, b.documents, self.depth)[np.array(self.at) - 1]
        either = [min(d, len(a.documents)) + min(d, len(b.documents)) for d in self.at] - counts
        jaccard = _jaccard(len(common), len(a.documents) + len(b.documents) - len(common))
        row = (rbo.value, rbo.low, rbo.high, tau, len(common), jaccard)
        return _Found(row, self._relevant(topic, a, b), counts, np.array([*map(_jaccard, counts, either)]))

    def _relevant(self, topic: str, a: _List, b: _List) -> tuple[float, ...]:
        if self.judged is None:
            return ()
        grades = self.judged.judgments(topic)
        mine, theirs = ({d for d in one.documents if grades.get(to_text(d), 0) > 0} for one in (a, b))
        return len(mine), len(theirs), len(mine & theirs), _jaccard(len(mine & theirs), len(mine | theirs))


def _jaccard(common: float, either: float) -> float:
    return common / either if either else nan


@dataclass(frozen=True, eq=False)
class _Found:
    """Two lists compared."""

    row: tuple[float, ...]
    relevant: tuple[float, ...]
    common: NDArray[np.int64]
    jaccard: Floats


@dataclass(frozen=True, eq=False)
class _Pair:
    """Two runs compared."""

    a: str
    b: str
    topics: Mapping[str, _Found]
    lists_a: _Lists
    lists_b: _Lists


def _means(pairs: Sequence[_Pair], judged: bool) -> Table:
    names = (*_TOPIC, *(_RELEVANT if judged else ()))
    rows: list[tuple[Cell, ...]] = []
    for pair in pairs:
        values = [(*found.row, *found.relevant) for found in pair.topics.values()]
        alone = [len(lists.topics) - len(values) for lists in (pair.lists_a, pair.lists_b)]
        rows.append((pair.a, pair.b, len(values), *alone, *_defined_means(values, len(names))))
    return Table(
        "overlap",
        ("a", "b", "topics", "only_a", "only_b", *names),
        rows,
        ranked_by=("rbo",),
        spare=("only_a", "only_b", "rbo_low", "rbo_high"),
        caption="How alike the lists of two runs are: rank-biased overlap and common documents, means over topics",
    )


def _topics(pairs: Sequence[_Pair], judged: bool) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (pair.a, pair.b, topic, *found.row, *found.relevant)
        for pair in pairs
        for topic, found in pair.topics.items()
    ]
    return Table("topics", ("a", "b", "topic", *_TOPIC, *(_RELEVANT if judged else ())), rows)


def _depths(pairs: Sequence[_Pair], at: Sequence[int]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for pair in pairs:
        common = _defined_means([found.common for found in pair.topics.values()], len(at))
        jaccard = _defined_means([found.jaccard for found in pair.topics.values()], len(at))
        rows += [(pair.a, pair.b, *row) for row in zip(at, common, jaccard, strict=True)]
    return Table(
        "depths",
        ("a", "b", "depth", "common", "jaccard"),
        rows,
        caption="Common documents of two runs by depth",
    )


def _defined_means(values: Sequence[Any], width: int) -> list[float]:
    """The mean of every column over the rows where it is defined."""
    table = np.array([np.asarray(row, np.float64) for row in values]).reshape(-1, width)
    defined = ~np.isnan(table)
    sums, counts = np.where(defined, table, 0).sum(axis=0), defined.sum(axis=0)
    return [float(total / count) if count else nan for total, count in zip(sums, counts, strict=True)]
