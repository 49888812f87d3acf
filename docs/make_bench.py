"""Compute the tables of docs/leaderboards.md: the MTEB leaderboard, and the coverage of rank intervals.

    python docs/make_bench.py                     write the tables
    python docs/make_bench.py --check             only check whether they would change
    python docs/make_bench.py --only mteb         the tables of the MTEB scores, within seconds

The MTEB scores are in RANKSCOPE_DATA/mteb_retrieval/main_scores.csv (nDCG@10 of 302 models on 15 tasks).

In a simulated benchmark the score of system m on topic q of task t is

    quality(m) + task(t) + interaction(m, t) + topic(q) + error(m, q)

with normal terms whose standard deviations are SPREAD. If tasks are a sample, the true rank is that by quality; if only
topics are, it is that by the scores without the terms of topics.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from page_tables import put

import rankscope as rs
from rankscope.analysis.bench_orders import order_systems
from rankscope.analysis.stats.aggregates import compute_terms
from rankscope.read.task_scores import TaskScores

PAGE = Path(__file__).parent / "leaderboards.md"
DATA = Path(os.environ.get("RANKSCOPE_DATA") or Path(__file__).parents[2] / "shared" / "data")
SCORES = DATA / "mteb_retrieval" / "main_scores.csv"
SPREAD = {"quality": 0.04, "task": 0.15, "interaction": 0.04, "topic": 0.2, "error": 0.15}
TOPICS = 50
BENCHMARKS = {10: 100, 50: 25}
"""Number of simulated benchmarks by their number of systems."""
AGGREGATES = ("mean", "win-rate")


def percent(part: float, whole: float) -> str:
    return f"{100 * part / whole:.1f} %"


def model(name: str) -> str:
    return name.replace("__", "/")


def markdown(header: str, rows: list[tuple[Any, ...]]) -> str:
    names = [name.strip() for name in header.split("|")]
    rule = "|".join("---" if k == 0 else "---:" for k in range(len(names)))
    lines = [f"| {' | '.join(names)} |", f"|{rule}|", *(f"| {' | '.join(map(str, row))} |" for row in rows)]
    return "\n".join(lines) + "\n"


def mteb_tables() -> dict[str, str]:
    """Return the tables of the leaderboard of MTEB."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # 105 models are left out, as the page says.
        result = rs.bench(SCORES)
        bounds = rs.bench(SCORES, missing_cells="bounds", aggregate="mean")
    counts = [
        (
            row.aggregate,
            model(result.leader(row.aggregate)),
            f"{row.adjacent_separated} of {row.adjacent}",
            percent(row.separated, row.pairs),
            row.tiers,
        )
        for row in result.separation
    ]
    top = [
        (
            model(row.system), f"{row.value:.4f}", f"{row.first_rank}–{row.last_rank}", row.tier,
        )
        for row in result.board
        if row.aggregate == "mean"
    ][:12]  # fmt: skip
    tiers = [row.tier for row in result.board if row.aggregate == "mean"]
    sizes = [(tier, tiers.count(tier)) for tier in sorted(set(tiers), key=int)]  # type: ignore[arg-type]
    others = [
        (row.without, model(row.leader), f"{row.changed:,}", f"{row.tau:.3f}")
        for row in result.fragility
        if row.change == "aggregate" and row.aggregate == "mean"
    ]
    fewest = [
        (row.aggregate, row.without.replace(";", ", "), model(row.leader))
        for row in result.fragility
        if row.change == "leader"
    ]
    influence = sorted(
        (row for row in result.fragility if row.aggregate == "mean" and row.change == "task"),
        key=lambda row: -row.changed,
    )
    single = [(row.without, f"{row.changed:,}", f"{row.tau:.3f}", model(row.leader)) for row in influence[:5]]
    test = result.friedman[0]
    board = [row.system for row in result.board if row.aggregate == "mean"]
    p = {frozenset((row.a, row.b)): row.p for row in result.pairs if row.aggregate == "mean"}
    close = sum(float(p[frozenset(pair)] or 0) < 0.05 for pair in pairwise(board))
    wide = [row.last_rank - row.first_rank for row in bounds.board]
    facts = [
        ("models with all 15 scores", test.systems),
        ("Friedman's chi-squared, with 196 degrees of freedom", f"{test.statistic:.0f}"),
        ("Nemenyi's critical distance of mean ranks", f"{test.critical_distance:.1f}"),
        ("neighbours by the mean with p < .05 before the correction", f"{close} of {test.systems - 1}"),
        ("all 302 models with bounds: median width of the bounds of a rank", f"{np.median(wide):.0f}"),
    ]
    return {
        "top": markdown("model | mean | ranks (95 %) | tier", top),
        "tiers": markdown("tier by mean | models", sizes),
        "separation": markdown("aggregate | leader | separated neighbours | separated pairs | tiers", counts),
        "aggregates": markdown(
            "aggregate | leader | pairs ordered differently than by the mean | tau", others
        ),
        "fewest": markdown("aggregate | fewest tasks to leave out | then the leader is", fewest),
        "single tasks": markdown("task left out | changed pairs | tau | leader", single),
        "facts": markdown("quantity | value", facts),
    }


def simulate(systems: int, tasks: int, seed: int) -> tuple[TaskScores, dict[str, Any], dict[str, Any]]:
    """Return the scores of a benchmark, and the true merits over all tasks and over these tasks."""
    rng = np.random.default_rng([seed, systems, tasks])
    quality = rng.normal(0, SPREAD["quality"], systems)
    expected = quality[:, None] + rng.normal(0.5, SPREAD["task"], tasks)
    expected = expected + rng.normal(0, SPREAD["interaction"], (systems, tasks))
    topics = []
    for task in range(tasks):
        noise = rng.normal(0, SPREAD["topic"], TOPICS) + rng.normal(0, SPREAD["error"], (systems, TOPICS))
        topics.append(expected[:, [task]] + noise)
    names = (tuple(f"s{k}" for k in range(systems)), tuple(f"t{k}" for k in range(tasks)))
    fixed = {"mean": expected.mean(axis=1), "win-rate": compute_terms(expected, "points").mean(axis=1)}
    return TaskScores(*names, tuple(topics)), dict.fromkeys(AGGREGATES, quality), fixed


def coverage() -> dict[str, str]:
    """Return the share of rank intervals that hold the true rank."""
    rows: list[tuple[Any, ...]] = []
    for tasks in (5, 15, 40):
        for systems, count in BENCHMARKS.items():
            for sample in ("tasks", "nested", "topics"):
                held = dict.fromkeys(AGGREGATES, 0)
                width = wrong = 0.0
                for seed in range(count):
                    scores, population, fixed = simulate(systems, tasks, seed)
                    test = {
                        "test": "normal" if sample == "topics" else "t",
                        "correction": "holm",
                        "alpha": 0.05,
                    }
                    orders = order_systems(
                        scores, AGGREGATES, None, sample=sample, replicates=300, seed=seed, **test
                    )
                    true = fixed if sample == "topics" else population
                    for name in AGGREGATES:
                        rank = 1 + (true[name][None, :] > true[name][:, None] + 1e-12).sum(axis=1)
                        held[name] += int(((orders[name].first <= rank) & (rank <= orders[name].last)).sum())
                    order = orders["mean"]
                    width += float((order.last - order.first + 1).mean())
                    reverse = np.sign(order.merits[:, None] - order.merits) != np.sign(
                        true["mean"][:, None] - true["mean"]
                    )
                    wrong += bool((order.separated & reverse).any())
                shares = [percent(held[name], systems * count) for name in AGGREGATES]
                rows.append((sample, tasks, systems, *shares, f"{width / count:.1f}", percent(wrong, count)))
                print(*rows[-1], file=sys.stderr, flush=True)
    header = "sampled | tasks | systems | mean | win-rate | ranks in an interval | with a wrong pair"
    return {"coverage": markdown(header, rows)}


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parts: dict[str, Callable[[], dict[str, str]]] = {"mteb": mteb_tables, "coverage": coverage}
    parser.add_argument("--check", action="store_true", help="write nothing")
    parser.add_argument("--only", choices=parts, help="the tables of one part")
    args = parser.parse_args()
    code = 0
    for name in [args.only] if args.only else parts:
        if name == "mteb" and not SCORES.is_file():
            print(f"skipped: {SCORES} is absent; set RANKSCOPE_DATA", file=sys.stderr)
            continue
        code |= put(PAGE, parts[name](), check=args.check)
    return code


if __name__ == "__main__":
    sys.exit(main())
