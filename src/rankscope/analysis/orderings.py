"""Does it matter in which order a run file is read? Two orderings of the same files compared."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any

import numpy as np

from rankscope.analysis.stats.coefficients import ap_correlation, kendall
from rankscope.analysis.stats.matrices import rounded, row_means
from rankscope.engines import on_engine, run_pieces
from rankscope.errors import SettingsError
from rankscope.judging import judge
from rankscope.measures import Measure, needs_aspects, parse_many
from rankscope.read import Qrels, Run, open_collection
from rankscope.read.ids import to_bytes
from rankscope.read.orders import check_order, permutation
from rankscope.result import TableResult
from rankscope.scores import score
from rankscope.tables import Cell, Table

__all__ = ["Swaps", "count_swaps", "orderings"]


_SWAPS = ("share", "documents", "swapped", "nonrelevant", "equal", "different")


@dataclass(frozen=True)
class Swaps:
    """Ranks at which two orderings of a run have different documents, by the grades of the two."""

    documents: int
    swapped: int
    nonrelevant: int
    equal: int
    different: int

    def __add__(self, other: Swaps) -> Swaps:
        mine, theirs = vars(self), vars(other)
        return Swaps(**{name: mine[name] + theirs[name] for name in mine})


@on_engine
def orderings(
    qrels: Any,
    runs: Any,
    measures: str | Measure | Iterable[str | Measure] = ("RR", "P@10", "Rprec", "AP", "RBP", "nDCG"),
    *,
    orders: Sequence[str] = ("file", "trec_eval"),
    missing: str = "zero",
    jobs: int | None = None,
    engine: Any = None,
) -> TableResult:
    """How two orderings of the same run files differ, and what that does to measures and to the ranking of runs.

    Tables: ``swaps`` {run, share, documents, swapped, nonrelevant, equal, different}: of the documents of judged
    topics, those whose rank another document takes, and among these swaps the shares between two non-relevant (or
    unjudged) documents, between equally relevant ones, and between documents of different relevance (only these
    can change a measure), and ``total`` the same over all runs; ``effect`` {run, measure, first, second, difference};
    ``ranking`` {measure, tau, p, tau_ap, discordant, mean_change, max_change}: the ranking of the runs under one
    ordering against that under the other.

    >>> result = orderings({"q": {"a": 1}}, {"q": {"x": 1.0, "a": 2.0, "y": 0.5}}, ["RR"])
    >>> result["swaps"].records()[0]["swapped"], result["effect"].records()[0]["difference"]
    (2, 0.5)
    """
    if len(orders) != 2:
        raise SettingsError(f"{len(orders)} orderings", hint="give two, such as file,trec_eval")
    first, second = (check_order(order) for order in orders)
    wanted = parse_many(measures)
    collection = open_collection(qrels, runs, needs_aspects=needs_aspects(wanted))
    judgments, files = collection
    values = []
    for order in (first, second):
        judged = judge(judgments, files.reordered(order), jobs=jobs)
        scores = score(judged, wanted, missing=missing).values
        values.append([rounded(row_means(m, one)) for m, one in zip(wanted, scores, strict=True)])
    work = _Count(judgments, (first, second))
    counted = run_pieces(work, list(files.values()), jobs=jobs, processes=len(files) > 8, label="orderings")
    tables = (
        Table(
            "swaps",
            ("run", *_SWAPS),
            [(run, *_shares(s)) for run, s in zip(files, counted, strict=True)],
            caption=f"Documents that stand elsewhere in the order {second} than in {first}",
        ),
        Table(
            "total", _SWAPS, [_shares(sum(counted, Swaps(0, 0, 0, 0, 0)))], caption="The same over all runs"
        ),
        _effect_table(list(files), wanted, *values),
        _ranking_table(wanted, *values),
    )
    settings = {
        "orders": [first, second],
        "aspects": collection.settings["aspects"],
        "measures": [str(m) for m in wanted],
        "missing": missing,
    }
    main = [table.name for table in tables]
    shown = [table for table in tables if table.name != "effect"]  # which has a row for every run and measure
    return TableResult.of(*tables, settings=settings, main=main, display=shown)


@dataclass(frozen=True)
class _Count:
    qrels: Qrels
    orders: tuple[str, str]

    def __call__(self, run: Run) -> Swaps:
        return count_swaps(self.qrels, run, *self.orders)


def count_swaps(qrels: Qrels, run: Run, first: str, second: str) -> Swaps:
    """Compare two orderings of one run rank by rank, over its judged topics."""
    total = Swaps(0, 0, 0, 0, 0)
    for topic, found in run.reordered("file").each_list():
        if topic not in qrels.topic_index:
            continue
        one, other = (
            permutation(found.documents, found.scores, found.ranks, order) for order in (first, second)
        )
        moved = np.flatnonzero(one != other)
        swapped = nonrelevant = equal = 0
        if len(moved):
            relevant = {to_bytes(d): g for d, g in qrels.judgments(topic).items() if g > 0}
            grade = np.fromiter(map(relevant.get, found.documents, repeat(0)), np.int64)
            before, after = grade[one[moved]], grade[other[moved]]
            swapped = len(moved)
            nonrelevant = int(((before == 0) & (after == 0)).sum())
            equal = int(((before == after) & (before > 0)).sum())
        total += Swaps(len(one), swapped, nonrelevant, equal, swapped - nonrelevant - equal)
    return total


def _shares(swaps: Swaps) -> tuple[Cell, ...]:
    parts = (swaps.nonrelevant, swaps.equal, swaps.different)
    shares = [part / swaps.swapped if swaps.swapped else None for part in parts]
    share = swaps.swapped / swaps.documents if swaps.documents else None
    return (share, swaps.documents, swaps.swapped, *shares)


def _effect_table(runs: Sequence[str], measures: Sequence[Measure], first: Any, second: Any) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for m, measure in enumerate(measures):
        for r, run in enumerate(runs):
            before, after = float(first[m][r]), float(second[m][r])
            rows.append((run, str(measure), before, after, after - before))
    return Table("effect", ("run", "measure", "first", "second", "difference"), rows)


def _ranking_table(measures: Sequence[Measure], first: Any, second: Any) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for measure, before, after in zip(measures, first, second, strict=True):
        defined = ~(np.isnan(before) | np.isnan(after))
        before, after = before[defined], after[defined]
        merits = measure.merit(before), measure.merit(after)
        tau = kendall(*merits)
        with np.errstate(invalid="ignore"):  # from infinite to infinite is no change that has a size
            moved = np.abs(after - before)
        rows.append(
            (str(measure), tau.tau_b, tau.p, ap_correlation(*merits), tau.discordant,
             float(moved.mean()) if len(moved) else None, float(moved.max()) if len(moved) else None)
        )  # fmt: skip
    return Table(
        "ranking",
        ("measure", "tau", "p", "tau_ap", "discordant", "mean_change", "max_change"),
        rows,
        p_values=("p",),
        caption="Rankings of the runs by both orders (Kendall's tau-b, AP correlation), and changes of their means",
    )
