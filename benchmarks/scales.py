"""Scales: how the counts, the dynamic program and the whole command grow with the length of the rankings.

``python -m benchmarks.scales`` prints the tables; times are the best of three, or one where it takes long.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

from rankscope.cli.scales import DEFAULT
from rankscope.lab.measurement.convexity import additive_weights
from rankscope.lab.measurement.counting import count_groups, count_intervals
from rankscope.lab.measurement.intervals import groups, interval_count
from rankscope.lab.measurement.values import merits_on_words
from rankscope.lab.measurement.verdicts import scales
from rankscope.lab.measurement.walks import comparable_pairs, sample_pairs, worst_pair
from rankscope.measures import measure

__all__ = ["table"]

_PATIENCE = 2.0  # seconds from which one repetition is enough


def table(quick: bool = False) -> str:
    """Return the section as Markdown; ``quick`` omits the long lengths."""
    return "\n".join(
        [*_counts(9 if quick else 12), "", *_walks(14 if quick else 24), "", *_whole(8 if quick else 10)]
    )


def _counts(longest: int) -> list[str]:
    lines = [
        "Violated pairs of intervals, all of them counted: an additive measure (RBP(p=0.8)) and any other (AP).",
        "",
        "| N | intervals | difference vectors | comparable pairs | additive | any measure | additive, equal-relevant "
        "| any measure, equal-relevant |",
        "|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for length in range(6, longest + 1):
        additive, other = (
            merits_on_words(measure("RBP(p=0.8)"), length),
            merits_on_words(measure("AP"), length),
        )
        weights = additive_weights(additive)
        assert weights is not None
        times = []
        for equal in (False, True):
            times.append(_time(lambda w=weights, n=length, e=equal: count_groups(w, n, e)))
            times.append(_time(lambda v=other, n=length, e=equal: count_intervals(v, n, e)))
        lines.append(
            f"| {length} | {interval_count(length):,} | {len(groups(length)):,} | {comparable_pairs(length):,} | "
            + " | ".join(map(_shown, times))
            + " |"
        )
    return lines


def _walks(longest: int) -> list[str]:
    lines = [
        "One pass over the ranks: the largest violation of an additive measure (or the proof that there is none), "
        "the number of comparable pairs, and 100,000 of them drawn.",
        "",
        "| N | values of AP on 2^N rankings | largest violation | comparable pairs | sample |",
        "|---:|---:|---:|---:|---:|",
    ]
    import numpy as np

    for length in (6, 8, 10, 12, 14, 16, 20, 24):
        if length > longest:
            break
        weights = 0.2 * 0.8 ** np.arange(length)
        times = [
            _time(lambda n=length: merits_on_words(measure("AP"), n)) if length <= 20 else None,
            _time(lambda w=weights: worst_pair(w)),
            _time(lambda n=length: comparable_pairs(n)),
            _time(lambda n=length: sample_pairs(n, 100_000, np.random.default_rng(1))),
        ]
        lines.append(f"| {length} | " + " | ".join("" if t is None else _shown(t) for t in times) + " |")
    return lines


def _whole(length: int) -> list[str]:
    seconds = _time(lambda: scales(DEFAULT, length))
    return [
        f"`rankscope scales --length {length}` for {', '.join(DEFAULT)}, on all four scales, everything counted: "
        f"{_shown(seconds)}."
    ]


def _time(work: Callable[[], object]) -> float:
    """Return the smallest of three times in seconds, or a single time if it is long."""
    best = float("inf")
    for _ in range(3):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
        if best > _PATIENCE:
            break
    return best


def _shown(seconds: float) -> str:
    return f"{seconds * 1000:.1f} ms" if seconds < 1 else f"{seconds:.1f} s"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scales", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="leave the long lengths out")
    print(table(parser.parse_args().quick))
