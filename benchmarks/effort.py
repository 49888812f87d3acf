"""Time of effort measures relative to AP, on judged runs."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from statistics import median

from rankscope.analysis.effort import DEFAULT_GAINS, Effort
from rankscope.judging import Judged, judge
from rankscope.measures import parse_many
from rankscope.read import read_qrels, read_runs
from rankscope.simulation import simulate
from rankscope.tables import Table

__all__ = ["table"]

GOAL = 2.0
"""Twist may take this many times as long as AP."""

_EFFORT = "Twist Rho Sigma SigmaPlus SigmaMinus BalancePoint CRP CRP_min CRP_N b_ratio Rho2012"
_JOBS = {
    "AP": ["AP"],
    "Twist": ["Twist"],
    "Twist, crossing matters": ["Twist(crossing='matters')"],
    "Twist, weighted": ["Twist(patience=0.5,grades='linear')"],
    "all eleven effort measures": [_EFFORT],
}


def table(quick: bool) -> str:
    """Return milliseconds for all rankings of a collection as large as round 1 of TREC-COVID, and their ratio to AP."""
    systems, topics, depth = (40, 30, 300) if quick else (143, 30, 1000)
    judged = _collection(systems, topics, depth)
    repeats = 5 if quick else 15
    times = _times(judged, repeats)
    base = [times["AP"][i] for i in (0, 1)]
    rows = [(name, first, first / base[0], again, again / base[1]) for name, (first, again) in times.items()]
    columns = ("from one Judged", "first (ms)", "x AP", "again (ms)", "x AP again")
    ratio = times["Twist"][0] / base[0]
    verdict = "met" if ratio <= GOAL else "missed"
    text = Table("effort", columns, rows, digits=2).markdown()
    return (
        f"{systems} runs x {topics} topics x {depth:,} documents, {len(judged.rank):,} judged documents in the lists; "
        f"median CPU time of {repeats} times. *First* includes picking the relevant documents out of the judged ones, "
        f"*again* does not; the effort measures share one computation.\n\n{text}\n"
        f"Goal: Twist in at most {GOAL:g} times the time of AP: {verdict} ({ratio:.2f}).\n"
    )


def _collection(systems: int, topics: int, depth: int) -> Judged:
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "collection"
        simulate(systems=systems, topics=topics, depth=depth, seed=2020).write(folder)
        return judge(read_qrels(folder / "qrels.txt"), read_runs(folder / "runs"))


def _times(judged: Judged, repeats: int) -> dict[str, tuple[float, float]]:
    """Return the median milliseconds of each job on new and on cached rankings; jobs take turns."""
    first: dict[str, list[float]] = {name: [] for name in (*_JOBS, "archetypes and planes")}
    again: dict[str, list[float]] = {name: [] for name in first}
    for _ in range(repeats):
        for name in first:
            fresh = replace(judged)
            work = _work(name, fresh)
            first[name].append(_milliseconds(work))
            again[name].append(_milliseconds(work))
    return {name: (median(first[name]), median(again[name])) for name in first}


def _work(name: str, judged: Judged) -> Callable[[], object]:
    if name not in _JOBS:
        gains = parse_many(DEFAULT_GAINS)
        return lambda: Effort.from_judged(judged, gains).tables
    measures = parse_many(_JOBS[name])
    return lambda: [measure.evaluate(judged.lists) for measure in measures]


def _milliseconds(work: Callable[[], object]) -> float:
    start = time.process_time()  # The work has one thread; CPU time excludes other programs.
    work()
    return 1000 * (time.process_time() - start)


if __name__ == "__main__":
    print(table("--quick" in sys.argv))
