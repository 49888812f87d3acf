"""Is one run better than another whatever the measure? The largest family of measures under which it is.

On a list :mod:`rankscope.lab.cumulated_counts` decides it. For means over topics the same holds of the sums of the
cumulated counts, for additive measures with one vector of weights for all topics (P@k, DCG, RBP; any gains): summation
by parts. Where no order decides, the regions of the parameter in which one or the other run wins are exact: RBP for
every persistence (:mod:`~.stats.sign_regions`), P, R, DCG and nDCG for every cutoff.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankscope.analysis.stats.matrices import rounded
from rankscope.analysis.stats.sign_regions import sign_regions
from rankscope.choices import VERDICT_DEPTH as DEPTH
from rankscope.choices import VERDICT_MEASURES as DEFAULT
from rankscope.errors import InputError, SettingsError, suggest_names
from rankscope.judging import Judged, judge
from rankscope.lab.cumulated_counts import orders
from rankscope.measures import REGISTRY, Measure, needs_aspects, parse_many
from rankscope.progress import progress
from rankscope.read import Runs, open_collection
from rankscope.result import TableResult
from rankscope.scores import Scores, score
from rankscope.tables import Cell, Table

__all__ = ["DEFAULT", "DEPTH", "FAMILIES", "ORDERS", "verdict", "verdict_of"]

Ints = NDArray[np.signedinteger[Any]]
Bools = NDArray[np.bool_]

FAMILIES = ("P", "R", "DCG", "nDCG")
"""Measures whose cutoffs have regions; RBP has regions of its persistence."""

_CUTOFFS = 50
"""Those looked at together: what a measure sees down to each is remembered until then."""

ORDERS = {
    "every topic": "every measure that respects swap and replacement, on every topic",
    "first": "every additive measure with non-increasing weights",
    "second": "every additive measure with convex non-increasing weights",
    "none": "some measures only",
}
"""The orders, the strongest first, and which measures agree where it holds."""


def verdict(
    qrels: Any,
    runs: Any,
    measures: str | Measure | Iterable[str | Measure] = DEFAULT,
    *,
    pair: tuple[str, str] | None = None,
    depth: int = DEPTH,
    order: str | None = None,
    jobs: int | None = None,
) -> TableResult:
    """Which runs are better than which by all measures of a family; a run without a topic has an empty list there.

    Of two runs (``pair``, or if there are just two) the tables are ``verdict`` {a, b, winner, order, family}, the
    strongest order of the means; ``topics`` {topic, first_order, second_order, convex, crossing, against}, who
    dominates on each list (``both``: equal), the first rank at which the lead changes hands, and which of ``measures``
    contradict the first order; ``regions`` {family, from, to, winner}; ``measures`` {measure, a, b, winner, region}.

    Of more runs: ``shares`` {of, order, pairs, share} for means and for lists; ``pairs`` {a, b, winner, order};
    ``runs`` {run, best_first, worst_first, best_second, worst_second}, the ranks that a run can have by any measure of
    the two families.

    >>> runs = {"x": {"q": ["a", "n", "b"], "r": ["c"]}, "y": {"q": ["n", "a", "b"], "r": ["n", "c"]}}
    >>> found = verdict({"q": {"a": 1, "b": 2}, "r": {"c": 1}}, runs)
    >>> found["verdict"].rows[0][2:4], found["topics"].rows[0][:3]
    (('x', 'every topic'), ('q', 'x', 'x'))
    """
    parsed = parse_many(measures)
    collection = open_collection(qrels, runs, order=order, needs_aspects=needs_aspects(parsed))
    chosen = collection.runs
    if pair is not None:
        chosen = Runs([chosen[_known(name, chosen)] for name in pair])
    found = verdict_of(judge(collection.qrels, chosen, jobs=jobs), parsed, depth=depth)
    return found.with_settings(**collection.settings)


def _known(name: str, runs: Iterable[str]) -> str:
    names = list(runs)
    if name not in names:
        hint = suggest_names(name, names) or f"there are {', '.join(names[:5])}"
        raise InputError(f"no run is called {name!r}", hint=hint)
    return name


def verdict_of(judged: Judged, measures: Sequence[Measure], *, depth: int = DEPTH) -> TableResult:
    """:func:`verdict` for lists that are already judged."""
    if depth < 1:
        raise SettingsError(f"a depth of {depth}", hint="compare at least 1 rank, usually 1000")
    if len(judged.runs) < 2:
        raise InputError("a verdict needs at least two runs", hint="name another run file")
    counts = _Counts.of(judged, depth)
    settings = {"measures": [str(m) for m in measures], "depth": depth}
    two = len(judged.runs) == 2
    tables = _pair_tables(judged, measures, counts) if two else _many_tables(counts)
    return TableResult.of(*tables, settings=settings, main=[table.name for table in tables[:-1]])


@dataclass(frozen=True, eq=False)
class _Counts:
    """Which relevant documents the lists have where: all that the orders are made of."""

    runs: tuple[str, ...]
    topics: tuple[str, ...]
    depth: int
    run: Ints
    topic: Ints
    level: Ints
    rank: Ints

    @classmethod
    def of(cls, judged: Judged, depth: int) -> _Counts:
        longest = max(1, min(depth, int(judged.length.max(initial=1))))
        hits = judged.lists.relevant(1, longest)
        width = len(judged.topics)
        found = (hits.list // width, hits.list % width, hits.grade, hits.rank)
        return cls(judged.runs, judged.topics, longest, *(one.astype(np.int64) for one in found))

    def of_topics(self, keep: slice | Ints = slice(None)) -> Ints:
        """Documents of each level or better among the first k, runs x levels x ranks, of all or some of the hits.

        Levels that do not occur are left out: their counts are those of the next one, and there may be thousands.
        """
        present, level = np.unique(self.level[keep], return_inverse=True)
        shape = (len(self.runs), max(1, len(present)), self.depth)
        place = np.ravel_multi_index((self.run[keep], level, self.rank[keep] - 1), shape)
        at = np.bincount(place, minlength=int(np.prod(shape))).reshape(shape)
        of_level = np.cumsum(at, axis=2, dtype=np.int32)
        return np.cumsum(of_level[:, ::-1], axis=1, dtype=np.int32)[:, ::-1]

    def of_each_topic(self) -> Iterable[Ints]:
        """The same, topic by topic."""
        order = np.argsort(self.topic, kind="stable")
        ends = np.searchsorted(self.topic[order], np.arange(len(self.topics) + 1))
        for start, stop in pairwise(ends.tolist()):
            yield self.of_topics(order[start:stop])


# two runs


def _pair_tables(judged: Judged, measures: Sequence[Measure], counts: _Counts) -> list[Table]:
    names = judged.runs
    scores = score(judged, measures)
    topics, everywhere = _topics(counts, scores)
    total = counts.of_topics()
    found = orders(total[0] - total[1])
    by = {"every topic": everywhere, "first": found.first, "second": found.convex}
    order = next((name for name, (a, b) in by.items() if a or b), "none")
    winner = _who(names, *map(bool, by[order])) if order in by else None
    row = (*names, winner, order, ORDERS[order])
    regions = _regions(judged, counts)
    return [
        Table("verdict", ("a", "b", "winner", "order", "family"), [row], caption="The strongest order"),
        Table("regions", ("family", "from", "to", "winner"), regions, caption="Who wins by the mean"),
        _measures(scores, regions),
        topics,
    ]


def _topics(counts: _Counts, scores: Scores) -> tuple[Table, tuple[bool, bool]]:
    rows: list[tuple[Cell, ...]] = []
    everywhere = [True, True]
    for number, (topic, count) in enumerate(zip(counts.topics, counts.of_each_topic(), strict=True)):
        difference = count[0] - count[1]
        found = orders(difference)
        everywhere = [mine and bool(here) for mine, here in zip(everywhere, found.first, strict=True)]
        who = [_who(counts.runs, *map(bool, one)) for one in found]
        against = _against(scores, number, *map(bool, found.first))
        rows.append((topic, *who, _crossing(difference), against))
    columns = ("topic", "first_order", "second_order", "convex", "crossing", "against")
    return Table("topics", columns, rows, caption="Who dominates on each list"), (
        everywhere[0],
        everywhere[1],
    )


def _who(names: Sequence[str], a: bool, b: bool) -> str | None:
    return "both" if a and b else names[0] if a else names[1] if b else None


def _crossing(difference: Ints) -> int | None:
    """The first rank at which the lead in documents of some level has changed hands."""
    places: list[int] = []
    for row in difference:
        signs = np.sign(row)
        lead = signs[np.flatnonzero(signs)][:1]
        places += (np.flatnonzero(signs == -lead)[:1] + 1).tolist() if len(lead) else []
    return min(places, default=None)


def _against(scores: Scores, topic: int, a: bool, b: bool) -> str:
    """The measures that say the opposite of the first order on a list."""
    if a == b:
        return ""
    return " ".join(
        str(measure)
        for measure in scores.measures
        if (sign := _sign(measure, *scores.matrix(measure).values[:, topic])) and (sign > 0) != a
    )


def _sign(measure: Measure, a: float, b: float) -> int:
    """1 if a value is better than another, -1 if it is worse, 0 if they are equal but for rounding, or undefined."""
    first, second = rounded(measure.merit(np.array([a, b])))
    return 0 if measure.better == "neither" else int(first > second) - int(first < second)


def _regions(judged: Judged, counts: _Counts) -> list[tuple[Cell, ...]]:
    rows: list[tuple[Cell, ...]] = []
    cutoffs = range(1, counts.depth + 1)
    for family in progress(FAMILIES, label="regions"):
        signs: list[int] = []
        for start in range(0, len(cutoffs), _CUTOFFS):
            scores = score(judged, [REGISTRY[family] @ k for k in cutoffs[start : start + _CUTOFFS]])
            signs += [_sign(one, *scores.mean(one)) for one in scores.measures]
        for sign, group in groupby(zip(cutoffs, signs, strict=True), key=lambda one: one[1]):
            ranks = [k for k, _ in group]
            rows.append((f"{family}@k", ranks[0], ranks[-1], _winner(judged.runs, sign)))
    at = np.diff(counts.of_topics()[:, 0], axis=1, prepend=0)  # relevant documents at each rank
    found = sign_regions((at[0] - at[1]).tolist())
    return rows + [("RBP(p)", low, high, _winner(judged.runs, sign)) for low, high, sign in found]


def _winner(names: Sequence[str], sign: int) -> str:
    return {1: names[0], -1: names[1], 0: "both"}[sign]


def _measures(scores: Scores, regions: Sequence[tuple[Cell, ...]]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for measure in scores.measures:
        a, b = (float(value) for value in scores.mean(measure))
        rows.append(
            (str(measure), a, b, _winner(scores.runs, _sign(measure, a, b)), _region_of(measure, regions))
        )
    return Table(
        "measures", ("measure", "a", "b", "winner", "region"), rows, caption="The measures asked for"
    )


def _region_of(measure: Measure, regions: Sequence[tuple[Cell, ...]]) -> str:
    """The region that a measure lies in, if it belongs to one of the families."""
    place: Any = measure.settings.get("p") if measure.name == "RBP" else measure.cutoff
    family = "RBP(p)" if measure.name == "RBP" else f"{measure.name}@k"
    for name, low, high, _ in regions if place and _is_plain(measure, place) else ():
        if name == family and float(low or 0) <= place <= float(high or 0):
            return f"p from {low:.4g} to {high:.4g}" if family == "RBP(p)" else f"k from {low} to {high}"
    return ""


def _is_plain(measure: Measure, place: Any) -> bool:
    """Whether a measure of a family differs from its usual form by the place in the family only."""
    usual = REGISTRY.get(measure.name)
    return usual is not None and measure == (usual(p=place) if measure.name == "RBP" else usual @ place)


# many runs


def _many_tables(counts: _Counts) -> list[Table]:
    size = len(counts.runs)
    every = np.ones((size, size), bool)
    on_lists = np.zeros(3, np.int64)
    for of_topic in progress(counts.of_each_topic(), total=len(counts.topics), label="topics"):
        here_first, here_second = _dominates(of_topic)
        every &= here_first
        on_lists += _decided(here_first, here_second)
    first, second = _dominates(counts.of_topics())
    pairs = _pairs(counts.runs, every, first, second)
    tables = [_shares(pairs, on_lists, len(counts.topics)), _ranks(counts.runs, first, second)]
    return [
        *tables,
        Table("pairs", ("a", "b", "winner", "order"), pairs, caption="The strongest order of each pair"),
    ]


def _dominates(counts: Ints) -> tuple[Bools, Bools]:
    """Whether run i dominates run j at first order, and at second order by all convex weights (equal: both do)."""
    size = len(counts)
    first, second = np.eye(size, dtype=bool), np.eye(size, dtype=bool)
    for i in range(size - 1):
        found = orders(counts[i] - counts[i + 1 :])
        for matrix, (a, b) in ((first, found.first), (second, found.convex)):
            matrix[i, i + 1 :], matrix[i + 1 :, i] = a, b
    return first, second


def _decided(first: Bools, second: Bools) -> Ints:
    """How many pairs are decided at first order, at second only, and not at all."""
    upper = np.triu_indices(len(first), 1)
    one = (first | first.T)[upper]
    two = (second | second.T)[upper] & ~one
    return np.array([one.sum(), two.sum(), (~one & ~two).sum()])


def _pairs(names: Sequence[str], every: Bools, first: Bools, second: Bools) -> list[tuple[Cell, ...]]:
    orders_of = (("every topic", every), ("first", first), ("second", second))
    i, j = np.triu_indices(len(names), 1)
    strongest, wins, loses = np.full(len(i), len(orders_of)), np.zeros(len(i), bool), np.zeros(len(i), bool)
    for place, (_, matrix) in reversed([*enumerate(orders_of)]):
        decided = matrix[i, j] | matrix[j, i]
        strongest[decided], wins[decided], loses[decided] = (
            place,
            matrix[i, j][decided],
            matrix[j, i][decided],
        )
    said = [*(name for name, _ in orders_of), "none"]
    pairs = zip(*(one.tolist() for one in (i, j, strongest, wins, loses)), strict=True)
    return [
        (names[a], names[b], _who((names[a], names[b]), won, lost), said[place])
        for a, b, place, won, lost in pairs
    ]


def _shares(pairs: Sequence[tuple[Cell, ...]], on_lists: Ints, topics: int) -> Table:
    found = [row[3] for row in pairs]
    rows: list[tuple[Cell, ...]] = [
        ("means", order, found.count(order), found.count(order) / len(found)) for order in ORDERS
    ]
    number = len(found) * topics
    names = [order for order in ORDERS if order != "every topic"]
    rows += [("lists", name, int(n), n / number) for name, n in zip(names, on_lists, strict=True)]
    return Table(
        "shares", ("of", "order", "pairs", "share"), rows, caption="How many pairs of runs each order decides"
    )


def _ranks(names: Sequence[str], first: Bools, second: Bools) -> Table:
    """The ranks that a run can have: those that dominate it are above it, those it dominates below."""
    columns = []
    for matrix in (first, second):
        strictly = matrix & ~matrix.T
        columns += [1 + strictly.sum(axis=0), len(names) - strictly.sum(axis=1)]
    rows: list[tuple[Cell, ...]] = [(name, *(int(one[i]) for one in columns)) for i, name in enumerate(names)]
    rows.sort(key=lambda row: row[1:])
    return Table(
        "runs",
        ("run", "best_first", "worst_first", "best_second", "worst_second"),
        rows,
        caption="The ranks that a run can have by any measure of the family",
    )
