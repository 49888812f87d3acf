"""Do measures rank the runs alike under pools of different depth, and however run files are ordered?

Table 3 of Moffat and Zobel (2008), and Table 1 of the study that reproduces it: every measure under every pool against
the measures under all judgments, the orderings of the run files side by side.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankscope.analysis.correlation import Coefficients, checked_methods
from rankscope.analysis.stats.matrices import (
    CompleteMatrix,
    best_of,
    chosen_by,
    complete,
    left_out,
    run_merits,
)
from rankscope.analysis.stats.sampling import depth_pool
from rankscope.errors import InputError, SettingsError
from rankscope.judging import Judged, judge
from rankscope.measures import Measure, needs_aspects, parse_many
from rankscope.read import open_collection
from rankscope.read.orders import check_order
from rankscope.result import Result, TableResult
from rankscope.scores import score
from rankscope.tables import Cell, Table

__all__ = ["MEASURES", "NOTABLE", "pool_correlation", "side_by_side"]

Floats = NDArray[np.float64]
Cells = dict[tuple[str, str], CompleteMatrix]

MEASURES = ("RR", "P@10", "Rprec", "AP", "RBP(p=0.5)", "RBP(p=0.8)", "RBP(p=0.95)", "nDCG(discount='jk')")
"""Those of the study of RBP; its nDCG has the gains 0 and 1 and base 2."""

NOTABLE = 0.01
"""A relative difference from which on two orderings are marked as different."""

FULL = "full"


def pool_correlation(
    qrels: Any,
    runs: Any,
    measures: str | Measure | Iterable[str | Measure] = MEASURES,
    *,
    against: str | Measure | Iterable[str | Measure] | None = None,
    depths: Sequence[int] = (10,),
    orders: Sequence[str] = ("trec_eval", "file"),
    method: str | Sequence[str] = "kendall",
    top: float | None = None,
    by: str | Measure = "AP",
    missing: str = "zero",
    rbo_p: float = 0.9,
    rbo_ties: str = "b",
    jobs: int | None = None,
) -> TableResult:
    """The correlation of every measure under every pool (all judgments, and the pools of ``depths``) with the
    measures ``against`` (the same ones, unless set) under all judgments, for several orderings of the run files.

    ``method``, ``top``, ``by`` are those of :func:`~rankscope.analysis.correlation.correlation`; the best runs are
    chosen under all judgments.

    Tables: ``correlations`` {a, b, method, value, p, runs, pool_a, pool_b, order}; with two orders also ``differences``
    {a, pool_a, b, method, first, second, difference, share, notable}: notable is a difference of at least 1 % of
    the first.

    Parameters
    ----------
    qrels
        Judgments: a path, a dict {topic: {document: grade}}, a data frame, or :class:`Qrels`.
    runs
        Runs: paths, directories, patterns, {name: run}, data frames, or :class:`Runs`.
    measures
        Measures under each pool.
    against
        Measures under all judgments (default: the same ones).
    depths
        Depths of the smaller pools.
    orders
        Orderings of the run files.
    method
        Methods of correlation: kendall, ap, spearman, pearson or rbo.
    top
        Share of the best runs to keep, such as 0.75 (default: all).
    by
        Measure that selects the runs of ``top``.
    missing
        Judged topics that a run lacks: zero evaluates an empty ranking, skip leaves them out.
    rbo_p
        Persistence of rank-biased overlap.
    rbo_ties
        Treatment of ties by rank-biased overlap: a, b or w.
    jobs
        Number of workers (default: all cores).

    Examples
    --------
    >>> qrels = {"q": {"a": 1, "b": 1, "c": 1}}
    >>> runs = {"r1": {"q": ["a", "x", "b"]}, "r2": {"q": ["c", "y"]}, "r3": {"q": ["z", "c", "b"]}}
    >>> found = pool_correlation(qrels, runs, ["AP"], against=["AP", "RR"], depths=[1], orders=["trec_eval"])
    >>> [(row["pool_a"], row["b"], round(row["value"], 3)) for row in found["correlations"].records()]
    [('full', 'AP', 1.0), ('full', 'RR', 0.0), ('depth 1', 'AP', 0.0), ('depth 1', 'RR', 1.0)]
    """
    methods = checked_methods(method)
    coefficient = Coefficients(rbo_p, rbo_ties)
    wanted = parse_many(measures)
    across = wanted if against is None else parse_many(against)
    if not wanted or not across or not orders:
        raise SettingsError("no measure or no ordering", hint="name at least one of each")
    asked = [*wanted, *across, *chosen_by(top, by)]
    collection = open_collection(qrels, runs, needs_aspects=needs_aspects(asked))
    judgments, files = collection
    rows: list[tuple[Cell, ...]] = []
    dropped: dict[str, Any] = {}
    for order in map(check_order, dict.fromkeys(orders)):
        judged = judge(judgments, files.with_order(order), jobs=jobs)
        cells = _cells(judged, wanted, across, depths, missing)
        chosen = _chosen(judged, by, top, missing)
        merits = {key: run_merits(matrix)[chosen] for key, matrix in cells.items()}
        lines = [key for key in merits if key[0] in map(str, wanted)]
        rows += _rows(merits, lines, [str(m) for m in across], methods, coefficient, order)
        dropped |= left_out(list(cells.values()))
    columns = ("a", "b", "method", "value", "p", "runs", "pool_a", "pool_b", "order")
    tables = {"correlations": Table("correlations", columns, rows)}
    if len(set(orders)) == 2:
        tables["differences"] = _differences(tables["correlations"], orders)
    settings = {
        "measures": [str(m) for m in wanted], "against": [str(m) for m in across], "depths": list(depths),
        "orders": list(orders), "method": list(methods), "top": top, "by": str(by) if top is not None else None,
        "missing": missing, "aspects": collection.settings["aspects"],
    }  # fmt: skip
    result = TableResult(tables, {**settings, **dropped}, main=tuple(tables))
    return replace(result, display=[side_by_side(result, method) for method in methods])


def side_by_side(result: Result, method: str | None = None) -> Table:
    """The correlations of one method as the study of RBP prints them: measures and pools down, measures across.

    A star marks what differs from the first ordering by 1 % or more.
    """
    chosen = method or str(result["correlations"].column("method")[0])
    rows = [r for r in result["correlations"].records() if r["method"] == chosen]
    values = {(r["a"], r["pool_a"], r["b"], r["order"]): r["value"] for r in rows}
    lines = list(dict.fromkeys((str(r["a"]), str(r["pool_a"])) for r in rows))
    across = list(dict.fromkeys(str(r["b"]) for r in rows))
    orders = list(dict.fromkeys(str(r["order"]) for r in rows))
    names = {(o, b): b if len(orders) == 1 else f"{b} ({o})" for o, b in product(orders, across)}
    body, marks = [], {}
    for number, line in enumerate(lines):
        cells: list[Cell] = []
        for order, b in names:
            value, first = values[*line, b, order], values[*line, b, orders[0]]
            cells.append(value)
            if _notable(first, value):
                marks[number, names[order, b]] = "*"
        body.append((*line, *cells))
    note = f" (* at least {NOTABLE:.0%} from {orders[0]})" if len(orders) > 1 else ""
    caption = f"{chosen} with the measures under all judgments{note}"
    return Table(
        f"{chosen} by pool", ("measure", "pool", *names.values()), body, 3, marks=marks, caption=caption
    )


def _cells(
    judged: Judged,
    measures: Sequence[Measure],
    against: Sequence[Measure],
    depths: Sequence[int],
    missing: str,
) -> Cells:
    """The scores of every measure under every pool, and of those against which they are held under all judgments."""
    pools = {FULL: judged} | {f"depth {k}": judged.rejudged(depth_pool(judged, k)) for k in depths}
    found = {name: score(pool, measures, missing=missing) for name, pool in pools.items()}
    cells = {(str(m), name): complete(found[name], m) for m in measures for name in pools}
    more = [m for m in against if m not in measures]
    if more:
        others = score(judged, more, missing=missing)
        cells |= {(str(m), FULL): complete(others, m) for m in more}
    return cells


def _chosen(judged: Judged, by: str | Measure, top: float | None, missing: str) -> NDArray[np.intp]:
    if len(judged.runs) < 2:
        raise InputError("correlation needs at least two runs", hint="name more runs, or scores of several")
    if top is None:
        return np.arange(len(judged.runs))
    measure = parse_many([by])[0]
    return best_of(complete(score(judged, [measure], missing=missing), measure), top)


def _rows(
    merits: Mapping[tuple[str, str], Floats],
    lines: Sequence[tuple[str, str]],
    across: Sequence[str],
    methods: Sequence[str],
    coefficient: Coefficients,
    order: str,
) -> list[tuple[Cell, ...]]:
    rows: list[tuple[Cell, ...]] = []
    for (a, pool), b, method in product(lines, across, methods):
        mine, theirs = merits[a, pool], merits[b, FULL]
        value, p, _ = coefficient(method, mine, theirs)
        rows.append((a, b, method, value, p, len(mine), pool, FULL, order))
    return rows


def _differences(correlations: Table, orders: Sequence[str]) -> Table:
    values: dict[tuple[Cell, ...], dict[Cell, Any]] = {}
    for row in correlations.records():
        where = (row["a"], row["pool_a"], row["b"], row["method"])
        values.setdefault(where, {})[row["order"]] = row["value"]
    rows: list[tuple[Cell, ...]] = []
    for key, found in values.items():
        one, other = (found[order] for order in orders)
        share = (other - one) / abs(one) if one else None
        rows.append((*key, one, other, other - one, share, _notable(one, other)))
    columns = ("a", "pool_a", "b", "method", "first", "second", "difference", "share", "notable")
    return Table("differences", columns, rows)


def _notable(first: Any, second: Any) -> bool:
    return bool(abs(second - first) >= NOTABLE * abs(first) and second != first)
