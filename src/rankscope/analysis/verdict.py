"""Is one run better than another whatever the measure? The largest family of measures by which it is.

For a single topic, :mod:`rankscope.lab.cumulated_counts` decides it. For means over topics the sums of the cumulated
counts do, for additive measures with one vector of weights for all topics (P@k, DCG, RBP; any gains): summation by
parts. Where no order decides, the regions of the parameter in which one or the other run wins are exact: RBP for every
persistence (:mod:`~.stats.sign_regions`), P, R, DCG and nDCG for every cutoff.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Annotated, Any

from rankscope.analysis import stats
from rankscope.choices import VERDICT_DEPTH, VERDICT_MEASURES
from rankscope.declaration import Option, analysis, check_run
from rankscope.errors import InputError, SettingsError
from rankscope.lazy import numpy as np
from rankscope.progress import blocks, progress
from rankscope.result import TypedResult, table
from rankscope.rows import PairRow, Row, RowTable, column

if TYPE_CHECKING:
    from rankscope.arrays import Bools, NDArray
    from rankscope.columns import Rows
    from rankscope.judging import Judged
    from rankscope.measures import Measure
    from rankscope.scores import Scores

    Ints = NDArray[np.signedinteger[Any]]


FAMILIES = ("P", "R", "DCG", "nDCG")
"""Measures whose cutoffs have regions; RBP has regions of its persistence."""

_CUTOFFS = 50  # Cutoffs evaluated together; evaluation keeps intermediate arrays of each in memory.
_BLOCK = 1 << 17  # Pairs compared at once: their masks fit into the cache of a core.

ORDERS = {
    "every topic": "every measure that respects swap and replacement, on every topic",
    "first": "every additive measure with non-increasing weights",
    "second": "every additive measure with convex non-increasing weights",
    "none": "some measures only",
}
"""The orders, strongest first, and the measures that agree if it holds."""


class PairOrder(PairRow):
    """Strongest order of a pair of runs."""

    winner: str | None = column()
    order: str = column("the strongest order that holds")


class StrongestOrder(PairOrder):
    """Strongest order of two runs."""

    family: str = column("the measures that agree")


class Region(Row):
    """A range of cutoffs or persistences in which one run wins."""

    family: str = column("measures of the region, by their parameter")
    from_: float = column("first value of the parameter")
    to: float = column("last value of the parameter")
    winner: str = column("the better run; both if they are equal")


class MeasureWinner(Row):
    """Winner by a measure."""

    measure: str = column()
    a: float = column("mean of the first run")
    b: float = column("mean of the second run")
    winner: str = column("the better run; both if they are equal")
    region: str = column("region of the measure, if its family has regions")


class TopicOrder(Row):
    """Dominance on a topic."""

    topic: str = column()
    first_order: str | None = column("the run that dominates at first order; both if they are equal")
    second_order: str | None = column("the run that dominates at second order; both if they are equal")
    convex: str | None = column("the run that is better by all convex non-increasing weights, cut off or not")
    crossing: int | None = column("first rank at which the lead in documents of some grade changes")
    against: str = column("measures that contradict the first order")


class OrderShare(Row):
    """Number of pairs that an order decides."""

    of: str = column("what is compared: means over topics, or single rankings")
    order: str = column("the strongest order that holds")
    pairs: int = column("pairs that the order decides")
    share: float = column()


class RunRanks(Row):
    """Ranks that a run can have."""

    run: str = column()
    best_first: int = column("best rank by any additive measure with non-increasing weights")
    worst_first: int = column("worst rank by any additive measure with non-increasing weights")
    best_second: int = column("best rank by any additive measure with convex non-increasing weights")
    worst_second: int = column("worst rank by any additive measure with convex non-increasing weights")


class Verdict(TypedResult):
    """Families of measures by which runs are better; tables of two runs, or of many."""

    verdict: RowTable[StrongestOrder] | None = table("the strongest order of two runs", default=None)
    regions: RowTable[Region] | None = table("regions of cutoffs and persistence", default=None)
    measures: RowTable[MeasureWinner] | None = table("the winner by each measure", default=None)
    topics: RowTable[TopicOrder] | None = table("every topic", flag="-q --per-topic", default=None)
    shares: RowTable[OrderShare] | None = table("pairs that each order decides", default=None)
    runs: RowTable[RunRanks] | None = table("ranks that each run can have", default=None)
    pairs: RowTable[PairOrder] | None = table("every pair of runs", flag="-q --per-topic", default=None)


@analysis(
    figures={"verdict": "verdict.plot_verdict"},
    uses=("order",),
    measures=VERDICT_MEASURES,
    needs_rankings=True,
)
def verdict(
    scores: Scores,
    pair: Annotated[tuple[str, str] | None, Option("A B")] = None,
    *,
    depth: Annotated[int, Option("K")] = VERDICT_DEPTH,
) -> Verdict:
    """Find the largest family of measures by which one run is better than another.

    Cumulated counts of relevant documents decide. First order: every additive measure with non-increasing weights
    agrees (on a single topic every measure that respects swap and replacement). Second order: every additive measure
    with convex weights agrees. Otherwise some measures prefer one run and some the other: for two runs, the regions
    are exact for every persistence of RBP and every cutoff of P, R, DCG and nDCG. For more runs the result has the
    number of pairs that each order decides, and the ranks that a run can have. A topic that a run lacks counts as an
    empty ranking.

    Parameters
    ----------
    scores
        Runs to compare, and measures to place in the regions of two runs; the scores need their rankings.
    pair
        Two runs to compare (default: all runs).
    depth
        Number of ranks to compare.

    Returns
    -------
    Verdict
        For two runs the tables ``verdict``, ``regions``, ``measures`` and ``topics``, for more runs ``shares``,
        ``runs`` and ``pairs``; the other fields are None.

    Commands
    --------
    rankscope verdict qrels.txt bm25.run dense.run
    rankscope verdict qrels.txt runs/ --pair bm25 dense -m "AP Twist nDCG@10" -q --plot regions.pdf
    rankscope verdict qrels.txt runs/ -f json -o verdict.json

    Examples
    --------
    >>> import rankscope as rs
    >>> runs = {"x": {"q": ["a", "n", "b"], "r": ["c"]}, "y": {"q": ["n", "a", "b"], "r": ["n", "c"]}}
    >>> result = rs.verdict(rs.evaluate({"q": {"a": 1, "b": 2}, "r": {"c": 1}}, runs, "AP"))
    >>> result.verdict[0].winner, result.verdict[0].order, result.topics[0].first_order
    ('x', 'every topic', 'x')
    """
    if depth < 1:
        raise SettingsError(f"a depth of {depth}", hint="compare at least 1 rank, usually 1000")
    if pair is not None:
        if pair[0] == pair[1]:
            raise InputError(f"the pair names {pair[0]!r} twice", hint="name two different runs")
        for name in pair:
            check_run(name, scores.runs)
        scores = stats.with_runs(scores, np.array([scores.runs.index(name) for name in pair], np.intp))
    judged = scores.require_judged("verdict")
    if len(judged.runs) < 2:
        raise InputError("a verdict needs at least two runs", hint="name another run file")
    counts = _Counts(judged, depth)
    tables = _pair_tables(scores, judged, counts) if len(judged.runs) == 2 else _many_tables(counts)
    # A topic that a run lacks is an empty ranking, whatever the collection says.
    settings = {name: value for name, value in scores.settings.items() if name != "missing"}
    return Verdict(**tables, settings={**settings, "depth": depth})


class _Counts:
    """Relevant documents of all rankings: run, topic, grade and rank of each."""

    def __init__(self, judged: Judged, depth: int) -> None:
        self.runs, self.topics = judged.runs, judged.topics
        self.depth = max(1, min(depth, int(judged.length.max(initial=1))))
        hits = judged.lists.relevant(1, self.depth)
        self.run, self.topic = np.divmod(hits.list, len(judged.topics))
        self.level, self.rank = hits.grade, hits.rank

    def cumulate(self, keep: slice | Ints = slice(None)) -> Ints:
        """Return the documents of each level or better among the first k (runs, levels, ranks), of some of the hits.

        Levels that do not occur are left out: their counts are those of the next one, and there may be thousands.
        """
        present, level = np.unique(self.level[keep], return_inverse=True)
        shape = (len(self.runs), max(1, len(present)), self.depth)
        cell = np.ravel_multi_index((self.run[keep], level, self.rank[keep] - 1), shape)
        at_rank = np.bincount(cell, minlength=int(np.prod(shape))).reshape(shape)
        of_level = np.cumsum(at_rank, axis=2, dtype=np.int32)
        return np.cumsum(of_level[:, ::-1], axis=1, dtype=np.int32)[:, ::-1]

    def cumulate_by_topic(self) -> Iterable[Ints]:
        """Yield the cumulated counts of each topic."""
        order = np.argsort(self.topic, kind="stable")
        ends = np.searchsorted(self.topic[order], np.arange(len(self.topics) + 1))
        for start, stop in pairwise(ends.tolist()):
            yield self.cumulate(order[start:stop])


# Two runs


def _pair_tables(scores: Scores, judged: Judged, counts: _Counts) -> dict[str, Any]:
    from rankscope.lab.cumulated_counts import orders

    topics, everywhere = _topics(counts, scores)
    total = counts.cumulate()
    by_order = orders(total[0] - total[1])
    dominant = {"every topic": everywhere, "first": by_order.first, "second": by_order.convex}
    order = next((name for name, (a, b) in dominant.items() if a or b), "none")
    winner = _dominant_run(judged.runs, dominant[order]) if order in dominant else None
    strongest = StrongestOrder(judged.runs[0], judged.runs[1], winner, order, ORDERS[order])
    regions = _regions(judged, counts)
    winners = _winners(scores, regions)
    return {
        "verdict": StrongestOrder.table("verdict", [strongest], caption="Strongest order"),
        "regions": Region.table("regions", regions, caption="Winner by the mean"),
        "measures": MeasureWinner.table("measures", winners, caption="Winner by each requested measure"),
        "topics": TopicOrder.table("topics", topics, caption="Dominant run on each topic"),
    }


def _topics(counts: _Counts, scores: Scores) -> tuple[list[TopicOrder], tuple[bool, bool]]:
    """Return the orders on each topic, and for each run whether it dominates at first order on every topic."""
    from rankscope.lab.cumulated_counts import orders

    rows: list[TopicOrder] = []
    everywhere = (True, True)
    for index, (topic, count) in enumerate(zip(counts.topics, counts.cumulate_by_topic(), strict=True)):
        difference = count[0] - count[1]
        by_order = orders(difference)
        a, b = map(bool, by_order.first)
        everywhere = (everywhere[0] and a, everywhere[1] and b)
        first, second, convex = (_dominant_run(counts.runs, masks) for masks in by_order)
        against = "" if a == b else _contradictions(scores, index, a)
        rows.append(TopicOrder(topic, first, second, convex, _crossing(difference), against))
    return rows, everywhere


def _dominant_run(names: Sequence[str], masks: tuple[Any, Any]) -> str | None:
    a, b = map(bool, masks)
    return "both" if a and b else names[0] if a else names[1] if b else None


def _crossing(difference: Ints) -> int | None:
    """Return the first rank at which the lead in documents of some level has changed."""
    ranks: list[int] = []
    for row in difference:
        signs = np.sign(row)
        lead = signs[np.flatnonzero(signs)][:1]
        ranks += (np.flatnonzero(signs == -lead)[:1] + 1).tolist() if len(lead) else []
    return min(ranks, default=None)


def _contradictions(scores: Scores, topic: int, is_first: bool) -> str:
    """Return the names of the measures that prefer the dominated run on a topic."""
    signs = {measure: _sign(measure, *scores.matrix(measure).values[:, topic]) for measure in scores.measures}
    return " ".join(str(measure) for measure, sign in signs.items() if sign and (sign > 0) != is_first)


def _sign(measure: Measure, a: float, b: float) -> int:
    """Return 1 if a is better than b, -1 if it is worse, 0 if they are equal up to rounding, or undefined."""
    first, second = stats.rounded(measure.merit(np.array([a, b])))
    return 0 if measure.better == "neither" else int(first > second) - int(first < second)


def _regions(judged: Judged, counts: _Counts) -> list[Region]:
    from rankscope.measures import REGISTRY
    from rankscope.scores import score

    rows: list[Region] = []
    cutoffs = range(1, counts.depth + 1)
    for family in progress(FAMILIES, label="regions"):
        signs: list[int] = []
        for part in blocks(len(cutoffs), _CUTOFFS):
            scores = score(judged, [REGISTRY[family] @ k for k in cutoffs[part]])
            signs += [_sign(measure, *scores.mean(measure)) for measure in scores.measures]
        for sign, group in groupby(cutoffs, key=lambda k: signs[k - 1]):
            ranks = list(group)
            rows.append(Region(f"{family}@k", ranks[0], ranks[-1], _winner(judged.runs, sign)))
    at_rank = np.diff(counts.cumulate()[:, 0], axis=1, prepend=0)  # relevant documents of any grade
    of_rbp = stats.sign_regions.sign_regions((at_rank[0] - at_rank[1]).tolist())
    return rows + [Region("RBP(p)", low, high, _winner(judged.runs, sign)) for low, high, sign in of_rbp]


def _winner(names: Sequence[str], sign: int) -> str:
    return {1: names[0], -1: names[1], 0: "both"}[sign]


def _winners(scores: Scores, regions: Sequence[Region]) -> list[MeasureWinner]:
    rows: list[MeasureWinner] = []
    for measure in scores.measures:
        a, b = scores.mean(measure).tolist()
        winner = _winner(scores.runs, _sign(measure, a, b))
        rows.append(MeasureWinner(str(measure), a, b, winner, _describe_region(measure, regions)))
    return rows


def _describe_region(measure: Measure, regions: Sequence[Region]) -> str:
    """Return the region of a measure that belongs to one of the families, or an empty text."""
    is_rbp = measure.name == "RBP"
    value: Any = measure.settings.get("p") if is_rbp else measure.cutoff
    family = "RBP(p)" if is_rbp else f"{measure.name}@k"
    for row in regions if value and _is_plain(measure, value) else ():
        if row.family == family and row.from_ <= value <= row.to:
            return f"p from {row.from_:.4g} to {row.to:.4g}" if is_rbp else f"k from {row.from_} to {row.to}"
    return ""


def _is_plain(measure: Measure, value: Any) -> bool:
    """Whether a measure differs from the default of its family by the parameter of the regions only."""
    from rankscope.measures import REGISTRY

    default = REGISTRY.get(measure.name)
    return default is not None and measure == (default(p=value) if measure.name == "RBP" else default @ value)


# Many runs


def _many_tables(counts: _Counts) -> dict[str, Any]:
    size, n_topics = len(counts.runs), len(counts.topics)
    pairs = np.triu_indices(size, 1)
    everywhere = np.ones((size, size), bool)
    on_lists = np.zeros(3, np.int64)
    for cumulated in progress(counts.cumulate_by_topic(), total=n_topics, label="topics"):
        first, second = _dominance(cumulated)
        everywhere &= first
        on_lists += np.bincount(_strongest([first, second], pairs), minlength=3)
    first, second = _dominance(counts.cumulate())
    strongest = _strongest([everywhere, first, second], pairs)
    on_means = np.bincount(strongest, minlength=len(ORDERS))
    shares = [
        OrderShare(of, order, n, n / (len(strongest) * times))
        for of, numbers, times in (("means", on_means, 1), ("lists", on_lists, n_topics))
        for order, n in zip([*ORDERS][-len(numbers) :], numbers.tolist(), strict=True)
    ]
    runs = _possible_ranks(counts.runs, first, second)
    orders = _pair_columns(counts.runs, [everywhere, first, second], pairs, strongest)
    caption = "Ranks that a run can have by measures of the family"
    decided = "Number of pairs of runs that each order decides"
    return {
        "shares": OrderShare.table("shares", shares, caption=decided),
        "runs": RunRanks.table("runs", runs, caption=caption),
        "pairs": PairOrder.table("pairs", orders, caption="Strongest order of each pair"),
    }


def _dominance(counts: Ints) -> tuple[Bools, Bools]:
    """Return masks (runs, runs): run i dominates run j at first order, and by all convex weights (equal: both do)."""
    size = len(counts)
    flat = counts.reshape(size, -1)
    sums = np.cumsum(counts, axis=2, dtype=np.int32).reshape(size, -1)  # at most depth² / 2 documents
    return _at_least(flat), _at_least(np.hstack([sums, counts[:, :, -1]]))


def _at_least(vectors: Ints) -> Bools:
    """Return a mask (rows, rows): no coordinate of row i is smaller than that of row j."""
    size = len(vectors)
    columns = np.ascontiguousarray(vectors.T, dtype=np.min_scalar_type(int(vectors.max(initial=0))))
    is_new = (columns[1:] != columns[:-1]).any(axis=1)
    columns = columns[np.append(True, is_new)]
    mask = np.ones((size, size), bool)
    for part in blocks(size, max(1, _BLOCK // size)):
        rows = mask[part]
        is_at_least = np.empty_like(rows)
        for values in columns:
            np.greater_equal(values[part, None], values, out=is_at_least)
            np.logical_and(rows, is_at_least, out=rows)
    return mask


def _strongest(masks: Sequence[Bools], pairs: tuple[Ints, Ints]) -> Ints:
    """Return for each pair the index of the first mask that orders it; the number of masks if none does."""
    strongest = np.full(len(pairs[0]), len(masks))
    for index, mask in reversed([*enumerate(masks)]):
        strongest[(mask | mask.T)[pairs]] = index
    return strongest


def _pair_columns(
    names: Sequence[str], masks: Sequence[Bools], pairs: tuple[Ints, Ints], strongest: Ints
) -> Rows:
    """Return the rows of ``pairs`` as columns: 2,000 runs have two million."""
    from rankscope.columns import CategoricalColumn, Columns

    i, j = pairs
    winner = np.full(len(i), len(names) + 1)
    for index, mask in enumerate(masks):
        won, lost = mask[i, j], mask[j, i]
        by_mask = np.where(won & lost, len(names), np.where(won, i, j))
        winner = np.where(strongest == index, by_mask, winner)
    words = (names, names, (*names, "both", None), tuple(ORDERS))
    return Columns([*map(CategoricalColumn, words, (i, j, winner, strongest))])


def _possible_ranks(names: Sequence[str], first: Bools, second: Bools) -> list[RunRanks]:
    """Return the ranks that runs can have: runs that dominate a run are above it, those it dominates below."""
    columns = []
    for mask in (first, second):
        strictly = mask & ~mask.T
        columns += [(1 + strictly.sum(axis=0)).tolist(), (len(names) - strictly.sum(axis=1)).tolist()]
    return sorted(map(RunRanks, names, *columns), key=lambda row: row[1:])
