"""Do measures rank the runs alike under pools of different depth, and in every ordering of the run files?

Table 3 of Moffat and Zobel (2008), and Table 1 of the study that reproduces it: every measure under every pool against
the measures under all judgments, the orderings of the run files side by side.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING, Annotated, Any

from rankscope.analysis import stats
from rankscope.choices import Coefficient, RboTies
from rankscope.declaration import MeasureName, Option, Top, analysis
from rankscope.errors import InputError, SettingsError
from rankscope.result import TypedResult, table
from rankscope.rows import PairRow, Row, RowTable, column
from rankscope.tables import Table

if TYPE_CHECKING:
    from rankscope.columns import Cell
    from rankscope.judging import Judged
    from rankscope.measures import Measure
    from rankscope.scores import Scores

    Measures = Sequence[Measure]
    Cells = dict[tuple[str, str], stats.CompleteMatrix]


NOTABLE = 0.01
"""Relative difference from which two orderings are marked as different."""

FULL = "full"


class PooledCorrelation(PairRow):
    """Correlation of a measure under a pool with a measure under all judgments."""

    method: str = column("the correlation coefficient")
    value: float = column("the correlation")
    p: float | None = column(p_value=True)
    runs: int = column("number of runs")
    pool_a: str = column("pool of the first measure: full, or a depth")
    pool_b: str = column("pool of the second measure")
    order: str = column("ordering of the run files")


class OrderDifference(Row):
    """Difference of a correlation between two orderings."""

    a: str = column()
    pool_a: str = column("pool of the first measure: full, or a depth")
    b: str = column()
    method: str = column("the correlation coefficient")
    first: float = column("the correlation in the first ordering")
    second: float = column("the correlation in the second ordering")
    difference: float = column("second minus first")
    share: float | None = column("difference divided by the absolute value of the first")
    notable: bool = column("whether the difference is at least 1 % of the first")


class PoolCorrelation(TypedResult):
    """Correlations of measures across pools and orderings."""

    correlations: RowTable[PooledCorrelation] = table("every measure, pool and ordering")
    differences: RowTable[OrderDifference] | None = table("differences of two orderings", default=None)

    @property
    def display(self) -> Sequence[Table]:
        """A table for each method."""
        return [self.side_by_side(method) for method in self.settings["method"]]

    def side_by_side(self, method: str | None = None) -> Table:
        """Return the correlations of a method as papers print them: measures and pools down, measures across.

        A star marks values that differ from the first ordering by 1 % or more.
        """
        method = method or self.correlations[0].method
        rows = [row for row in self.correlations if row.method == method]
        values = {(row.a, row.pool_a, row.b, row.order): row.value for row in rows}
        lines = list(dict.fromkeys((row.a, row.pool_a) for row in rows))
        orders = list(dict.fromkeys(row.order for row in rows))
        columns = list(product(orders, dict.fromkeys(row.b for row in rows)))
        names = [b if len(orders) == 1 else f"{b} ({order})" for order, b in columns]
        body: list[tuple[Cell, ...]] = [
            (*line, *(values[*line, b, order] for order, b in columns)) for line in lines
        ]
        marks = {
            (number, name): "*"
            for number, line in enumerate(lines)
            for name, (order, b) in zip(names, columns, strict=True)
            if _is_notable(values[*line, b, orders[0]], values[*line, b, order])
        }
        note = f" (* at least {NOTABLE:.0%} from {orders[0]})" if len(orders) > 1 else ""
        caption = f"{method} with the measures under all judgments{note}"
        return Table(f"{method} by pool", ("measure", "pool", *names), body, 3, marks=marks, caption=caption)


@analysis(command=None, uses=("order", "missing"), needs_rankings=True)
def pool_correlation(
    scores: Scores,
    *,
    against: MeasureName | Sequence[MeasureName] | None = None,
    pool_depth: Annotated[int | Sequence[int], Option("K,...")] = (),
    orders: Annotated[Sequence[str] | None, Option("A,B")] = None,
    method: Coefficient | Sequence[Coefficient] = "kendall",
    top: Top = None,
    by: MeasureName = "AP",
    rbo_p: Annotated[float, Option("P")] = 0.9,
    rbo_ties: RboTies = "b",
) -> PoolCorrelation:
    """Correlate every measure under every pool with the measures under all judgments.

    The pools are all judgments and those of the depths. With several orderings of the run files, the correlations are
    shown side by side. The best runs are chosen under all judgments.

    Parameters
    ----------
    scores
        Measures and runs to correlate; the scores need their rankings and their collection.
    against
        Measures to correlate with, across pools and orderings (default: the same ones).
    pool_depth
        Depths of further pools: every measure and pool is correlated with the measures under all judgments.
    orders
        Orderings of the run files to show side by side, such as trec_eval,file (default: the order of the collection).
    method
        Correlation coefficient, or several.
    top
        Share of the runs to keep, the best ones, such as 0.75 (default: all).
    by
        Measure that selects the top runs.
    rbo_p
        Persistence of rank-biased overlap.
    rbo_ties
        Treatment of ties in rank-biased overlap.

    Returns
    -------
    PoolCorrelation
        Table ``correlations``; ``differences`` with several orderings.

    References
    ----------
    Moffat and Zobel 2008.

    Examples
    --------
    >>> import rankscope as rs
    >>> qrels = {"q": {"a": 1, "b": 1, "c": 1}}
    >>> runs = {"r1": {"q": ["a", "x", "b"]}, "r2": {"q": ["c", "y"]}, "r3": {"q": ["z", "c", "b"]}}
    >>> result = rs.pool_correlation(rs.evaluate(qrels, runs, "AP"), against=["AP", "RR"], pool_depth=1)
    >>> [(row.pool_a, row.b, round(row.value, 3)) for row in result.correlations]
    [('full', 'AP', 1.0), ('full', 'RR', 0.0), ('depth 1', 'AP', 0.0), ('depth 1', 'RR', 1.0)]
    """
    from rankscope.analysis.correlation import checked_methods, coefficient
    from rankscope.judging import judge
    from rankscope.measures import parse_many
    from rankscope.read.orders import check_order

    methods = checked_methods(method)
    measures, collection = list(scores.measures), scores.require_collection("pool_correlation")
    across = measures if against is None else parse_many(against)
    across = [measures[measures.index(m)] if m in measures else m for m in across]
    default = collection.runs.order
    if orders is None and not isinstance(default, str):
        raise SettingsError("the runs are in different orders", hint="name orders, such as trec_eval")
    named = [name for text in orders or [str(default)] for name in text.split(",")]
    depths = [pool_depth] if isinstance(pool_depth, int) else list(pool_depth)
    if not across or not named:
        raise SettingsError("no measure or no ordering", hint="name at least one of each")
    if len(scores.runs) < 2:
        raise InputError("correlation needs at least two runs", hint="name more runs, or scores of several")
    collection = collection.for_measures([*measures, *across, *stats.chosen_by(top, by)])
    rows: list[PooledCorrelation] = []
    dropped: dict[str, Any] = {}
    for order in map(check_order, dict.fromkeys(named)):
        judged = judge(collection.qrels, collection.runs.with_order(order))
        cells = _evaluate_pools(judged, measures, across, depths, collection.missing)
        best = [judged.runs.index(run) for run in stats.best_judged(judged, top, by, collection.missing).runs]
        merits = {key: stats.run_merits(matrix)[best] for key, matrix in cells.items()}
        lines = [(a, pool) for a, pool in cells if a in map(str, measures)]
        for (a, pool), b, name in product(lines, map(str, across), methods):
            pair = merits[a, pool], merits[b, FULL]
            value, p, _ = coefficient(name, *pair, rbo_p=rbo_p, rbo_ties=rbo_ties)
            rows.append(PooledCorrelation(a, b, name, value, p, len(best), pool, FULL, order))
        dropped |= stats.left_out(list(cells.values()))
    correlations = PooledCorrelation.table("correlations", rows)
    return PoolCorrelation(
        correlations=correlations, differences=_differences(correlations, named) if len(set(named)) == 2 else None,
        settings={
            "measures": [str(measure) for measure in measures], "against": [str(measure) for measure in across],
            "depths": depths, "orders": named, "method": list(methods), "top": top,
            "by": str(by) if top is not None else None, "missing": collection.missing,
            "aspects": collection.settings["aspects"], **dropped,
        },
    )  # fmt: skip


def _evaluate_pools(
    judged: Judged, measures: Measures, against: Measures, depths: Sequence[int], missing: str
) -> Cells:
    """Return the scores of every measure under every pool, and of ``against`` under all judgments."""
    from rankscope.scores import score

    pools = {FULL: judged} | {f"depth {k}": judged.with_grades(stats.depth_pool(judged, k)) for k in depths}
    scores = {name: score(pool, measures, missing=missing) for name, pool in pools.items()}
    cells = {(str(m), name): stats.complete(scores[name], m) for m in measures for name in pools}
    if more := [m for m in against if m not in measures]:
        others = score(judged, more, missing=missing)
        cells |= {(str(m), FULL): stats.complete(others, m) for m in more}
    return cells


def _differences(
    correlations: RowTable[PooledCorrelation], orders: Sequence[str]
) -> RowTable[OrderDifference]:
    values: dict[tuple[str, str, str, str], dict[str, float]] = {}
    for row in correlations:
        values.setdefault((row.a, row.pool_a, row.b, row.method), {})[row.order] = row.value
    rows: list[OrderDifference] = []
    for key, by_order in values.items():
        first, second = (by_order[order] for order in orders)
        share = (second - first) / abs(first) if first else None
        notable = _is_notable(first, second)
        rows.append(OrderDifference(*key, first, second, second - first, share, notable))
    return OrderDifference.table("differences", rows)


def _is_notable(first: float, second: float) -> bool:
    return bool(abs(second - first) >= NOTABLE * abs(first) and second != first)
