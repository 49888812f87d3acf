"""Simulate weighted intervals and the reversal alarm, and write the tables of docs/tutorials/slices.md.

    python docs/make_slices.py             write the tables (about two minutes)
    python docs/make_slices.py --check     only check whether they would change

Topics are drawn from a population in which weights are lognormal, and topics with more weight are harder, so
that the weighted mean differs from the plain one. Collections without interaction have two equally good runs whose
differences do not depend on the slices.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from page_tables import put

import rankscope as rs
from rankscope.analysis.stats.intervals import t_intervals
from rankscope.scores import Scores

PAGE = Path(__file__).parent / "tutorials" / "slices.md"
TOPICS = (25, 50, 100, 200)
SPREADS = (0.0, 0.5, 1.0, 1.5)
"""Standard deviations of the logarithm of the weights."""


def difficulty(weights: Any) -> Any:
    """Return the first parameter of the beta distribution of the scores of topics with these weights."""
    return 1 + 2 / (1 + weights)


def coverage(samples: int = 4000) -> str:
    """Return the share of 95 % intervals that contain the weighted mean of the population."""
    lines = ["| topics | spread of log weights | effective topics | coverage |", "|---|---|---|---|"]
    for spread in SPREADS:
        rng = np.random.default_rng([1, int(10 * spread)])
        population = np.exp(rng.normal(0, spread, 2_000_000))
        shape = difficulty(population)
        truth = np.average(shape / (shape + 2), weights=population)
        for topics in TOPICS:
            inside, effective = 0, 0.0
            for _ in range(samples):
                w = np.exp(rng.normal(0, spread, topics))
                low, high = t_intervals(rng.beta(difficulty(w), 2)[None, :], weights=w if spread else None)
                inside += int(low[0] <= truth <= high[0])
                effective += w.sum() ** 2 / np.square(w).sum() / samples
            lines.append(f"| {topics} | {spread:g} | {effective:.0f} | {100 * inside / samples:.1f} % |")
    return "\n".join(lines) + "\n"


def scores_from(values: Any, attributes: dict[str, Any]) -> Scores:
    """Return scores of runs with attributes of their topics."""
    topics = [f"t{i}" for i in range(len(values[0]))]
    matrix = {"topic": topics, **{f"r{r}": [*map(float, row)] for r, row in enumerate(values)}}
    data = {t: {name: str(column[i]) for name, column in attributes.items()} for i, t in enumerate(topics)}
    return rs.read_scores({"AP": matrix}).with_topic_data(data)


def planted(rng: np.random.Generator) -> Scores:
    """Return two runs of which one leads on every slice, and the other overall, because they lack other topics."""
    labels = np.repeat(["easy", "hard"], 40)
    level = np.where(labels == "easy", 0.8, 0.2)
    a, b = level + rng.normal(0, 0.02, 80), level + 0.05 + rng.normal(0, 0.02, 80)
    a[40 + rng.choice(40, 30, replace=False)] = np.nan
    b[rng.choice(40, 30, replace=False)] = np.nan
    return scores_from([a, b], {"s0": labels})


def reversed_slice(rng: np.random.Generator) -> Scores:
    """Return two runs of which the second leads on the smaller of two slices."""
    difference = np.concatenate([rng.normal(0.15, 0.1, 60), rng.normal(-0.15, 0.1, 20)])
    base = rng.random(80)
    return scores_from([base + difference, base], {"s0": np.repeat(["x", "y"], [60, 20])})


def no_interaction(slices: int, attributes: int, missing: float) -> Any:
    """Return a function that draws two equally good runs; each lacks a share of the topics."""

    def draw(rng: np.random.Generator) -> Scores:
        base = rng.random(50)
        values = np.array([base + rng.normal(0, 0.1, 50), base + rng.normal(0, 0.1, 50)])
        values[rng.random(values.shape) < missing] = np.nan
        return scores_from(values, {f"s{i}": rng.integers(0, slices, 50) for i in range(attributes)})

    return draw


def alarms() -> str:
    """Return how often the alarm is raised, and how often an interaction is significant."""
    cases = [
        ("planted Simpson reversals", 100, planted, 1),
        ("another leader on a slice of 20 of 80 topics", 100, reversed_slice, 1),
        ("no interaction, 2 slices", 1000, no_interaction(2, 1, 0.0), 1),
        ("no interaction, 3 attributes of 4 slices", 1000, no_interaction(4, 3, 0.0), 3),
        ("no interaction, 2 slices, 10 % of the topics missing", 1000, no_interaction(2, 1, 0.1), 1),
    ]
    lines = ["| collections | alarm | significant interaction |", "|---|---|---|"]
    for name, samples, draw, attributes in cases:
        rng = np.random.default_rng([2, samples, attributes])
        raised = significant = 0
        for _ in range(samples):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)
                rows = list(rs.compare(draw(rng), by=[f"s{i}" for i in range(attributes)]).interactions or ())
            raised += any(row.alarm for row in rows)
            significant += any(row.significant for row in rows)
        lines.append(f"| {name} | {raised} of {samples:,} | {significant} of {samples:,} |")
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="only check whether the tables would change")
    arguments = parser.parse_args()
    return put(PAGE, {"coverage": coverage(), "alarms": alarms()}, check=arguments.check)


if __name__ == "__main__":
    sys.exit(main())
