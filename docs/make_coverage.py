"""How often do the intervals hold the truth? Simulated, and written into docs/certainty.md.

    python docs/make_coverage.py             writes the table (some minutes)
    python docs/make_coverage.py --check     only says which shares would change

A synthetic collection of many topics is the truth: its means, ranks, differences, and how far a second judge agrees,
are known. Samples of its topics are what somebody would have evaluated; every interval is computed on each by the
functions of the package, and counted if it holds the truth.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import rankscope as rs
from rankscope.analysis.stats.agreement import grade_bias, kappa, krippendorff_alpha
from rankscope.analysis.stats.bootstrap import resample, resample_counts
from rankscope.analysis.stats.coefficients import kendall
from rankscope.analysis.stats.intervals import (
    bootstrap_means,
    expanded,
    lower_limit,
    percentile_intervals,
    rank_intervals,
    ranks,
    reflected_interval,
    t_intervals,
)
from rankscope.measures import parse_many
from rankscope.scores import score

PAGE = Path(__file__).parent / "certainty.md"
TOPICS = (25, 50, 100)
MEASURES = "AP nDCG@10 RR"
_PLACE = re.compile(r"(<!-- coverage -->\n).*?(<!-- end -->)", re.DOTALL)

Floats = NDArray[np.float64]


class Population(NamedTuple):
    """All topics: measures x runs x topics under two judges, and how often both gave which grade."""

    first: Floats
    second: Floats
    counts: Floats


def population(systems: int = 16, topics: int = 600, depth: int = 50, seed: int = 5) -> Population:
    """A synthetic collection, and a second judge who guesses more on some topics than on others."""
    made = rs.simulate(systems=systems, topics=topics, depth=depth, seed=seed, pool_depth=20)
    qrels = rs.Qrels.from_dict(made.qrels)
    judged = rs.judge(
        qrels, rs.Runs([rs.Run.from_dict(lists, name=name) for name, lists in made.runs.items()])
    )
    rng = np.random.default_rng(seed)
    topic = np.repeat(np.arange(topics), np.diff(qrels.topic_offsets))
    guesses = rng.random(len(qrels)) < rng.beta(2, 6, topics)[topic]
    other = np.where(guesses, rng.integers(0, 3, len(qrels)), qrels.grade).astype(np.int32)
    counts = np.zeros((topics, 3, 3))
    np.add.at(counts, (topic, qrels.grade, other), 1)
    measures = parse_many(MEASURES)
    first, second = (score(one, measures).values for one in (judged, judged.rejudged(other)))
    return Population(first, second, counts)


AGREEMENT = {
    "kappa": kappa,
    "kappa quadratic": lambda counts: kappa(counts, "quadratic"),
    "alpha": lambda counts: krippendorff_alpha(counts + np.swapaxes(counts, -1, -2)),
    "bias of grades": lambda counts: grade_bias(counts, [0, 1, 2]),
}


def coverage(
    whole: Population, topics: int, samples: int, replicates: int = 300, seed: int = 1
) -> dict[str, float]:
    """The share of samples of so many topics, and of runs, whose 95 % interval holds the truth."""
    rng = np.random.default_rng(seed)
    held: dict[str, list[Any]] = defaultdict(list)
    taus: dict[int, list[tuple[float, float, float]]] = defaultdict(list)
    for number in range(samples):
        taken = rng.integers(0, whole.first.shape[2], topics)
        for index in range(len(whole.first)):
            mine = whole.first[index][:, taken]
            _leaderboard(held, whole.first[index], mine, replicates, number)
            taus[index].append(_tau(mine, whole.second[index][:, taken], replicates, number))
    held["rank, of the run held least"] = [np.min(np.mean(held["rank"], axis=0))]
    _agreement(held, whole, topics, 4 * samples, replicates, seed)
    for found in taus.values():  # what so many topics give on average is known from all samples
        truth = np.mean([value for value, _, _ in found])
        held["judges: tau of the leaderboards"] += [low <= truth <= high for _, low, high in found]
    return {name: float(np.mean(values)) for name, values in held.items()}


def _agreement(
    held: dict[str, list[Any]], whole: Population, topics: int, samples: int, replicates: int, seed: int
) -> None:
    """What the judges agree on: quick, so that more samples are drawn."""
    rng = np.random.default_rng([seed, topics])
    for number in range(samples):
        counts = whole.counts[rng.integers(0, len(whole.counts), topics)]
        drawn = resample_counts(resample(topics, replicates, number))
        for name, function in AGREEMENT.items():
            low, high = percentile_intervals(
                np.atleast_2d(function(np.tensordot(drawn, counts, 1))), expanded(0.05, topics)
            )
            held[f"judges: {name}"].append(low[0] <= function(whole.counts.sum(axis=0)) <= high[0])


def _leaderboard(held: dict[str, list[Any]], whole: Floats, mine: Floats, replicates: int, seed: int) -> None:
    truth = whole.mean(axis=1)
    low, high = t_intervals(mine)
    held["mean (t)"].append((low <= truth) & (truth <= high))
    drawn = bootstrap_means(mine, replicates, seed)
    low, high = percentile_intervals(drawn, expanded(0.05, mine.shape[1]))
    held["mean (bootstrap)"].append((low <= truth) & (truth <= high))
    rank = ranks(truth[:, None])[0][:, 0]
    first, last = rank_intervals(drawn)
    held["rank"].append((first <= rank) & (rank <= last))
    ends = np.array([lower_limit(row - mine[0]) for row in mine[1:]])
    held["non-inferiority"].append(ends <= truth[1:] - truth[0])


def _tau(first: Floats, second: Floats, replicates: int, seed: int) -> tuple[float, float, float]:
    value = kendall(first.mean(axis=1), second.mean(axis=1)).tau_b
    drawn = [bootstrap_means(one, replicates // 3, seed).T for one in (first, second)]
    sampled = np.array([kendall(a, b).tau_b for a, b in zip(*drawn, strict=True)])
    return value, *reflected_interval(value, sampled, expanded(0.05, first.shape[1]))


def table(samples: int = 500) -> str:
    """The shares in Markdown."""
    whole = population()
    found = {topics: coverage(whole, topics, samples) for topics in TOPICS}
    lines = [f"| interval | {' | '.join(f'{topics} topics' for topics in TOPICS)} |", "|---|---:|---:|---:|"]
    lines += [
        f"| {name} | {' | '.join(f'{100 * found[t][name]:.1f} %' for t in TOPICS)} |"
        for name in found[TOPICS[0]]
    ]
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="write nothing")
    args = parser.parse_args()
    made = table()
    page = PAGE.read_text("utf-8")
    print(made, end="")
    if args.check:
        return int(made not in page)
    PAGE.write_text(_PLACE.sub(lambda place: place[1] + made + place[2], page), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
