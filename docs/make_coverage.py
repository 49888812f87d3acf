"""Measure coverage of intervals and error rates of tests by simulation, and write the tables of docs/certainty.md.

    python docs/make_coverage.py                  write the tables (some minutes)
    python docs/make_coverage.py --only errors    write some of them
    python docs/make_coverage.py --check          only check whether they would change

A synthetic collection of many topics is the population: its means, its differences and the agreement of a second
judge are known. Samples of its topics stand for the topics of an evaluation; the functions of the package compute every
interval on each sample, and the script counts the intervals that contain the true value.

The coverage of ranks depends on how close the runs are. So for ranks the runs of every sample get new true means: their
scores keep their variance over topics, their correlation and their skew, and are shifted so that the true means have a
given standard deviation, in standard errors of the difference of two runs.

Error rates are those of runs with equal true means: identical runs, whose scores are exchangeable, and those of the
synthetic collection, shifted to the same true mean. The seed of a test differs from sample to sample.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import Executor, ProcessPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from page_tables import put

import rankscope as rs
from rankscope.analysis.gate import pass_plan
from rankscope.analysis.stats.agreement import grade_bias, kappa, krippendorff_alpha
from rankscope.analysis.stats.bootstrap import resample, resample_counts
from rankscope.analysis.stats.coefficients import kendall
from rankscope.analysis.stats.intervals import (
    bootstrap_means,
    expanded,
    lower_limit,
    lower_limits,
    percentile_intervals,
    rank_intervals,
    ranks,
    reflected_interval,
    t_intervals,
)
from rankscope.analysis.stats.max_t import worse_than_best
from rankscope.analysis.stats.significance import adjust, all_pairs, paired_t, run_test
from rankscope.measures import parse_many
from rankscope.scores import score

PAGE = Path(__file__).parent / "certainty.md"
TOPICS = (25, 50, 100)
MEASURES = "AP nDCG@10 RR"
RUNS = (5, 10, 20)
SYSTEMS = (10, 20, 40)
"""Numbers of runs of simulated collections; 40 is the default of ``rankscope simulate``."""

SPREADS = (0.5, 1.0, 2.0, 4.0, 16.0)
"""Standard deviations of the true means, in standard errors of a difference: from nearly equal to well separated."""

Floats = NDArray[np.float64]


class Population(NamedTuple):
    """Scores (measures x runs x topics) under two judges, and counts of their grades by topic."""

    first: Floats
    second: Floats
    counts: Floats


@cache
def population(systems: int, topics: int = 600, depth: int = 50, seed: int = 5) -> Population:
    """Simulate a collection, and a second judge who guesses more on some topics than on others."""
    collection = rs.simulate(systems=systems, topics=topics, depth=depth, seed=seed, pool_depth=20)
    qrels = rs.Qrels.from_dict(collection.qrels)
    judged = rs.judge(
        qrels, rs.Runs([rs.Run.from_dict(lists, name=name) for name, lists in collection.runs.items()])
    )
    rng = np.random.default_rng(seed)
    topic = np.repeat(np.arange(topics), np.diff(qrels.topic_offsets))
    guesses = rng.random(len(qrels)) < rng.beta(2, 6, topics)[topic]
    other = np.where(guesses, rng.integers(0, 3, len(qrels)), qrels.grade).astype(np.int32)
    counts = np.zeros((topics, 3, 3))
    np.add.at(counts, (topic, qrels.grade, other), 1)
    measures = parse_many(MEASURES)
    first, second = (score(judgments, measures).values for judgments in (judged, judged.with_grades(other)))
    return Population(first, second, counts)


AGREEMENT: dict[str, Callable[[Floats], Any]] = {
    "kappa": kappa,
    "kappa quadratic": lambda counts: kappa(counts, "quadratic"),
    "alpha": lambda counts: krippendorff_alpha(counts + np.swapaxes(counts, -1, -2)),
    "bias of grades": lambda counts: grade_bias(counts, [0, 1, 2]),
}


def coverage(
    whole: Population, topics: int, samples: int, replicates: int = 300, seed: int = 1
) -> dict[str, float]:
    """Return the share of samples and runs whose 95 % interval contains the true value."""
    rng = np.random.default_rng(seed)
    is_covered: dict[str, list[Any]] = defaultdict(list)
    taus: dict[int, list[tuple[float, float, float]]] = defaultdict(list)
    for number in range(samples):
        topic_sample = rng.integers(0, whole.first.shape[2], topics)
        for index in range(len(whole.first)):
            sample = whole.first[index][:, topic_sample]
            _leaderboard(is_covered, whole.first[index], sample, replicates, number)
            taus[index].append(_tau(sample, whole.second[index][:, topic_sample], replicates, number))
    _agreement(is_covered, whole, topics, 4 * samples, replicates, seed)
    for (
        estimates
    ) in taus.values():  # The true tau of this many topics is estimated by the mean over all samples.
        truth = np.mean([value for value, _, _ in estimates])
        is_covered["judges: tau of the leaderboards"] += [low <= truth <= high for _, low, high in estimates]
    return {name: float(np.mean(values)) for name, values in is_covered.items()}


def _agreement(
    is_covered: dict[str, list[Any]], whole: Population, topics: int, samples: int, replicates: int, seed: int
) -> None:
    """Add the coverage of agreement statistics, which are cheap enough for more samples."""
    rng = np.random.default_rng([seed, topics])
    for number in range(samples):
        counts = whole.counts[rng.integers(0, len(whole.counts), topics)]
        weights = resample_counts(resample(topics, replicates, number))
        for name, function in AGREEMENT.items():
            low, high = percentile_intervals(
                np.atleast_2d(function(np.tensordot(weights, counts, 1))), expanded(0.05, topics)
            )
            is_covered[f"judges: {name}"].append(low[0] <= function(whole.counts.sum(axis=0)) <= high[0])


def _leaderboard(
    is_covered: dict[str, list[Any]], whole: Floats, sample: Floats, replicates: int, seed: int
) -> None:
    truth = whole.mean(axis=1)
    low, high = t_intervals(sample)
    is_covered["mean (t)"].append((low <= truth) & (truth <= high))
    resampled = bootstrap_means(sample, replicates, seed)
    low, high = percentile_intervals(resampled, expanded(0.05, sample.shape[1]))
    is_covered["mean (bootstrap)"].append((low <= truth) & (truth <= high))
    ends = np.array([lower_limit(row - sample[0]) for row in sample[1:]])
    is_covered["non-inferiority"].append(ends <= truth[1:] - truth[0])


def _tau(first: Floats, second: Floats, replicates: int, seed: int) -> tuple[float, float, float]:
    value = kendall(first.mean(axis=1), second.mean(axis=1)).tau_b
    resampled = [bootstrap_means(scores, replicates // 3, seed).T for scores in (first, second)]
    # Kendall's tau-b of all replicates at once, by the signs of the differences of all pairs of runs.
    a, b = all_pairs(len(first))
    signs = [np.sign(means[:, a] - means[:, b]) for means in resampled]
    sampled = (signs[0] * signs[1]).sum(axis=1) / np.sqrt(
        np.prod([np.abs(s).sum(axis=1) for s in signs], axis=0)
    )
    return value, *reflected_interval(value, sampled, expanded(0.05, first.shape[1]))


def shares(whole: Population, samples: int = 500) -> str:
    """Return the coverage of all intervals except ranks as a Markdown table; rank_shares continues it."""
    results = {topics: coverage(whole, topics, samples) for topics in TOPICS}
    lines = [f"| interval | {' | '.join(f'{topics} topics' for topics in TOPICS)} |", "|---|---:|---:|---:|"]
    lines += [
        f"| {name} | {' | '.join(f'{100 * results[t][name]:.1f} %' for t in TOPICS)} |"
        for name in results[TOPICS[0]]
    ]
    return "\n".join(lines) + "\n"


def true_ranks(whole: Population, topics: int, samples: int, replicates: int = 300) -> float:
    """Return the coverage of rank intervals on an unmodified collection."""
    rng = np.random.default_rng([topics, whole.first.shape[1]])
    is_covered = []
    for number in range(samples):
        scores = whole.first[number % len(whole.first)]
        sample = scores[:, rng.integers(0, scores.shape[1], topics)]
        low, high = rank_intervals(sample, bootstrap_means(sample, replicates, number))
        rank = ranks(scores.mean(axis=1, keepdims=True))[0][:, 0]
        is_covered.append((low <= rank) & (rank <= high))
    return float(np.mean(is_covered))


def rank_shares(samples: int = 150, seeds: tuple[int, ...] = (5, 6, 7)) -> str:
    """Return the rows of ranks on unmodified simulated collections, three of each size."""
    lines = []
    for systems in SYSTEMS:
        populations = [population(systems, seed=seed) for seed in seeds]
        values = [np.mean([true_ranks(whole, topics, samples) for whole in populations]) for topics in TOPICS]
        lines.append(f"| rank, {systems} runs | {' | '.join(f'{100 * share:.1f} %' for share in values)} |")
    return "\n".join(lines) + "\n"


class Ranks(NamedTuple):
    """Coverage of a method of rank intervals by true rank, and mean number of ranks in an interval."""

    held: Floats
    width: float


def percentile_ranks(sample: Floats, resampled: Floats, spread: float) -> tuple[Floats, Floats]:
    """Return percentile intervals of bootstrap ranks (Goldstein and Spiegelhalter 1996)."""
    low, high = np.quantile(ranks(resampled)[0], [0.025, 0.975], axis=1, method="inverted_cdf")
    return low, high


def tested_ranks(sample: Floats, resampled: Floats, spread: float) -> tuple[Floats, Floats]:
    """Return the ranks that simultaneous tests of a run against all others cannot exclude (Mogstad et al. 2024).

    A run is better than another one if their difference, in standard errors, exceeds the 95 % quantile of the largest
    absolute difference that bootstrap samples have by chance.
    """
    means = sample.mean(axis=1)
    runs, topics = sample.shape
    low, high = np.empty((2, runs))
    for run in range(runs):
        others = np.delete(np.arange(runs), run)
        error = (sample[others] - sample[run]).std(axis=1, ddof=1) / np.sqrt(topics)
        apart = means[others] - means[run]
        by_chance = np.abs(resampled[others] - resampled[run] - apart[:, None]) / error[:, None]
        limit = np.quantile(by_chance.max(axis=0), 0.95)
        low[run] = 1 + (apart / error > limit).sum()
        high[run] = runs - (apart / error < -limit).sum()
    return low, high


def oracle_ranks(sample: Floats, resampled: Floats, spread: float) -> tuple[Floats, Floats]:
    """Return the shortest ranges with at least 95 % of the ranks, given the true spread of the means."""
    topics, runs = sample.shape[1], len(sample)
    means = sample.mean(axis=1, keepdims=True)
    share = spread**2 / (spread**2 + 0.5)  # The variance of a mean is half the variance of a difference.
    sampled_ranks = ranks(np.sqrt(share) * means + np.sqrt(topics / (topics - 1)) * (resampled - means))[0]
    cumulated = np.cumsum([(sampled_ranks == rank).mean(axis=1) for rank in range(runs + 1)], axis=0)
    low, high = np.ones(runs), np.full(runs, float(runs))
    for size in range(runs, 0, -1):  # Shorten the ranges while they contain enough.
        inside = cumulated[size:] - cumulated[:-size]
        enough = inside.max(axis=0) >= 0.95 - 1e-9
        low = np.where(enough, inside.argmax(axis=0) + 1, low)
        high = np.where(enough, low + size - 1, high)
    return low, high


WAYS = {
    "this page": lambda sample, resampled, spread: rank_intervals(sample, resampled),
    "percentiles": percentile_ranks,
    "simultaneous tests": tested_ranks,
    "spread known, at least 95 %": oracle_ranks,
}
LAYOUTS = {
    "normal": lambda rng, runs: rng.standard_normal(runs),
    "even": lambda rng, runs: (np.arange(runs) - (runs - 1) / 2) / np.sqrt((runs**2 - 1) / 12),
    "skewed": lambda rng, runs: rng.standard_exponential(runs),
    "two groups": lambda rng, runs: np.where(np.arange(runs) % 2, 1, -1) + rng.normal(0, 0.05, runs),
}
"""Distributions of true means with standard deviation 1."""


def rank_coverage(
    whole: Population, runs: int, topics: int, spread: float, samples: int, layout: str = "normal"
) -> dict[str, Ranks]:
    """Return the coverage of rank intervals for a number of runs and topics, by method."""
    rng = np.random.default_rng([runs, topics, int(10 * spread), list(LAYOUTS).index(layout)])
    is_covered: dict[str, list[Any]] = defaultdict(list)
    width: dict[str, list[Any]] = defaultdict(list)
    for number in range(samples):
        scores = whole.first[number % len(whole.first)]
        scores = scores[rng.permutation(len(scores))[:runs]]
        around = scores - scores.mean(axis=1, keepdims=True)
        # The mean variance of a difference over pairs is twice the variance of runs around the mean of a topic.
        error = np.sqrt(2 * around.var(axis=0, ddof=1).mean() / topics)
        truth = spread * error * LAYOUTS[layout](rng, runs)
        sample = around[:, rng.integers(0, around.shape[1], topics)] + truth[:, None]
        resampled = bootstrap_means(sample, 300, number)
        rank = ranks(truth[:, None])[0][:, 0]
        for name, way in WAYS.items():
            low, high = way(sample, resampled, spread)
            is_covered[name].append(((low <= rank) & (rank <= high))[np.argsort(rank)])
            width[name].append(high - low + 1)
    return {name: Ranks(np.mean(is_covered[name], axis=0), float(np.mean(width[name]))) for name in WAYS}


def rank_tables(whole: Population, samples: int = 300) -> tuple[str, str]:
    """Return two Markdown tables: the coverage of rank intervals, and the comparison of methods."""
    results = {
        (runs, spread, topics): rank_coverage(whole, runs, topics, spread, samples)
        for runs in RUNS
        for spread in SPREADS
        for topics in TOPICS
    }
    head = " | ".join(f"{topics} topics" for topics in TOPICS)
    lines = [f"| runs | spread | {head} |", "|---:|---:|---:|---:|---:|"]
    for runs in RUNS:
        for spread in SPREADS:
            cells = [_cell(results[runs, spread, topics]["this page"]) for topics in TOPICS]
            lines.append(f"| {runs} | {spread:g} | {' | '.join(cells)} |")
    ways = [("normal", results)]
    for layout in list(LAYOUTS)[1:]:
        others = {
            (10, spread, 50): rank_coverage(whole, 10, 50, spread, samples, layout) for spread in SPREADS
        }
        ways.append((layout, others))
    return "\n".join(lines) + "\n", _ways(ways)


def _cell(result: Ranks) -> str:
    return f"{100 * result.held.mean():.1f} % ({100 * result.held.min():.0f} %), {result.width:.1f}"


def _ways(layouts: list[tuple[str, dict[tuple[int, float, int], dict[str, Ranks]]]]) -> str:
    """Return lowest and highest coverage and mean width by layout and spread, over all numbers of runs and topics."""
    lines = [f"| true means | spread | {' | '.join(WAYS)} |", "|---|---:|" + "---:|" * len(WAYS)]
    for layout, cells in layouts:
        for spread in SPREADS:
            row = []
            for name in WAYS:
                results = [(runs, result[name]) for (runs, s, _), result in cells.items() if s == spread]
                shares = [100 * result.held.mean() for _, result in results]
                width = np.mean([result.width / runs for runs, result in results])
                extremes = "–".join(dict.fromkeys(f"{end:.1f}" for end in (min(shares), max(shares))))
                row.append(f"{extremes} %, {100 * width:.0f} %")
            lines.append(f"| {layout} | {spread:g} | {' | '.join(row)} |")
    return "\n".join(lines) + "\n"


EQUAL_RUNS = {2: 1000, 5: 1000, 20: 2000, 50: 500, 100: 200, 200: 50}
"""Numbers of equally good runs, and numbers of simulated collections of each."""

REPLICATES = 200
"""Replicates of the tests: p < .05 for 10 of 201 equally likely ranks, which is a level of 4.98 %."""


def equal_runs(rng: np.random.Generator, kind: str, runs: int, topics: int, whole: Population) -> Floats:
    """Draw scores of runs with the same true mean, runs x topics; they are identical runs unless ``shifted``."""
    if kind in ("drawn", "shifted"):
        scores: Floats = whole.first[rng.integers(len(whole.first))]
        topic = rng.integers(0, scores.shape[1], topics)
        if kind == "drawn":
            return scores[rng.integers(0, len(scores), (runs, topics)), topic]
        scores = scores - scores.mean(axis=1, keepdims=True)
        return scores[rng.permutation(len(scores))[:runs]][:, topic]
    difficulty = rng.standard_normal(topics)
    if kind in ("normal", "skewed"):
        noisy: Floats = difficulty + rng.standard_normal((runs, topics))
        return noisy if kind == "normal" else np.exp(0.8 * noisy)
    return rng.binomial(10, 1 / (1 + np.exp(1 - difficulty)), (runs, topics)) / 10


def first_error(whole: Population, kind: str, runs: int, topics: int, samples: int) -> float:
    """Return the share of collections of equally good runs in which some run is reported as worse than the best."""
    rng = np.random.default_rng([runs, topics, *kind.encode()])
    is_wrong = [
        (
            worse_than_best(equal_runs(rng, kind, runs, topics, whole), replicates=REPLICATES, seed=k) < 0.05
        ).any()
        for k in range(samples)
    ]
    return float(np.mean(is_wrong))


def first_errors(whole: Population, pool: Executor) -> str:
    """Return the error rates of *tied for first* as a Markdown table."""
    kinds = ("normal", "skewed", "counts", "drawn", "shifted")
    columns = [(kind, topics) for kind in kinds for topics in (25, 50)]
    lines = [f"| runs | collections | {' | '.join(f'{kind}, {n} topics' for kind, n in columns)} |"]
    lines.append("|---:|---:|" + "---:|" * len(columns))
    cells = {
        (runs, kind, topics): pool.submit(first_error, whole, kind, runs, topics, samples)
        for runs, samples in reversed(EQUAL_RUNS.items())
        for kind, topics in columns
        if kind != "shifted" or runs <= whole.first.shape[1]
    }
    for runs, samples in EQUAL_RUNS.items():
        row = [
            f"{100 * cells[runs, *column].result():.1f} %" if (runs, *column) in cells else ""
            for column in columns
        ]
        lines.append(f"| {runs} | {samples:,} | {' | '.join(row)} |")
    return "\n".join(lines) + "\n"


def first_power(samples: int = 100, topics: int = 50) -> str:
    """Return the number of runs tied for first if true means differ, also by Holm's correction, as a Markdown table."""
    lines = ["| runs | spread | tied | the best is tied | tied by Holm | the best is tied by Holm |"]
    lines.append("|---:|---:|---:|---:|---:|---:|")
    for runs in (5, 12, 40):
        for spread in (1.0, 2.0, 4.0, 8.0):
            rng = np.random.default_rng([runs, int(spread)])
            results = []
            for number in range(samples):
                truth = spread * np.sqrt(2 / topics) * rng.standard_normal(runs)
                scores = truth[:, None] + equal_runs(rng, "normal", runs, topics, Population(*3 * (truth,)))
                is_tied = worse_than_best(scores, replicates=500, seed=number) >= 0.05
                best = int(scores.mean(axis=1).argmax())
                against = np.full(runs, best)
                holm = adjust(
                    np.where(np.arange(runs) == best, np.nan, paired_t(scores, np.arange(runs), against).p)
                )
                first = int(truth.argmax())
                results.append(
                    (is_tied.sum(), is_tied[first], (~(holm < 0.05)).sum(), not holm[first] < 0.05)
                )
            tied, held, by_holm, held_by_holm = np.mean(results, axis=0)
            lines.append(
                f"| {runs} | {spread:g} | {tied:.1f} | {100 * held:.1f} %"
                f" | {by_holm:.1f} | {100 * held_by_holm:.1f} % |"
            )
    return "\n".join(lines) + "\n"


SHIFTS = {"all equal": 0, "two groups": 1, "far apart": 3}
"""Distances of neighbouring runs in standard deviations of the scores; in two groups every other run is better."""


def pair_error(
    whole: Population, test: str, kind: str, layout: str, runs: int, topics: int, samples: int
) -> tuple[float, float]:
    """Return the shares of collections with a significant pair of equally good runs, and with a wrong interval."""
    rng = np.random.default_rng([runs, topics, SHIFTS[layout], *kind.encode()])
    first, second = all_pairs(runs)
    step = np.arange(runs) % (2 if layout == "two groups" else runs)
    is_wrong, is_missed = [], []
    for number in range(samples):
        scores = equal_runs(rng, kind, runs, topics, whole)
        shift = SHIFTS[layout] * step * scores.std()
        values = scores + shift[:, None]
        result = run_test(test, values, first, second, correction=None, replicates=REPLICATES, seed=number)
        truth = shift[first] - shift[second]
        is_wrong.append((result.adjusted[truth == 0] < 0.05).any())
        is_missed.append(((truth < result.low) | (truth > result.high)).any())
    return float(np.mean(is_wrong)), float(np.mean(is_missed))


PAIR_SAMPLES = {"randomisation": 500, "bootstrap": 250, "tukey": 250}


def pair_errors(whole: Population, pool: Executor) -> str:
    """Return the family-wise error rates of tests of all pairs and of their intervals as a Markdown table."""
    columns = [
        ("normal", "all equal"), ("normal", "two groups"), ("normal", "far apart"), ("skewed", "all equal"),
        ("drawn", "all equal"), ("shifted", "all equal"), ("shifted", "two groups"),
    ]  # fmt: skip
    head = " | ".join(f"{kind}, {layout}" for kind, layout in columns)
    lines = [f"| test | runs | topics | {head} |", "|---|---:|---:|" + "---:|" * len(columns)]
    rows = [(test, *size) for test in PAIR_SAMPLES for size in ((5, 25), (20, 25), (20, 50))]
    cells = {
        (row, column): pool.submit(pair_error, whole, row[0], *column, *row[1:], PAIR_SAMPLES[row[0]])
        for row in rows
        for column in columns
    }
    for row in rows:
        texts = []
        for column in columns:
            wrong, missed = cells[row, column].result()
            texts.append(
                ("" if column[1] == "far apart" else f"{100 * wrong:.1f} %, ") + f"{100 * missed:.1f} %"
            )
        lines.append(f"| {' | '.join(map(str, row))} | {' | '.join(texts)} |")
    return "\n".join(lines) + "\n"


def gate_rates(whole: Population, samples: int = 20_000) -> str:
    """Return the share of equally good systems that pass the gate, and of those worse by the margin, as a table."""
    lines = [
        "| topics | margin / sd | announced | normal | simulated | worse by the margin: normal | simulated |"
    ]
    lines.append("|---:|---:|---:|---:|---:|---:|---:|")
    rng = np.random.default_rng(3)
    scores = whole.first[0]
    pool = np.stack([scores[r] - scores[r - 1] for r in range(1, len(scores), 2)])
    pool = (pool - pool.mean(axis=1, keepdims=True)) / pool.std(axis=1, keepdims=True)
    for topics in TOPICS:
        for wanted in (0.2, 0.5, 0.8, 0.95):
            margin = next(m for m in np.arange(0.01, 3, 0.01) if pass_plan(1.0, topics, m, 0.05)[0] >= wanted)
            rows = rng.integers(0, len(pool), samples)[:, None]
            drawn = {
                "normal": rng.standard_normal((samples, topics)),
                "simulated": pool[rows, rng.integers(0, pool.shape[1], (samples, topics))],
            }
            ends = {name: lower_limits(z) for name, z in drawn.items()}
            passed = [f"{100 * (end > -margin).mean():.1f} %" for end in ends.values()]
            slipped = [f"{100 * (end - margin > -margin).mean():.1f} %" for end in ends.values()]
            announced = f"{100 * pass_plan(1.0, topics, float(margin), 0.05)[0]:.1f} %"
            cells = (str(topics), f"{margin:.2f}", announced, *passed, *slipped)
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


PARTS = ("errors", "coverage", "ranks")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="write nothing")
    parser.add_argument("--only", choices=PARTS, help="the tables of one section")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes for error rates")
    args = parser.parse_args()
    whole = population(20, seed=5)
    parts: dict[str, Callable[[], dict[str, str]]] = {
        "coverage": lambda: {"coverage": shares(whole) + rank_shares()},
        "ranks": lambda: dict(zip(("ranks", "ways"), rank_tables(whole), strict=True)),
        "errors": lambda: {
            "first": first_errors(whole, pool),
            "power": first_power(),
            "pairs": pair_errors(whole, pool),
            "gate": gate_rates(whole),
        },
    }
    code = 0
    with ProcessPoolExecutor(args.jobs) as pool:
        for part in [args.only] if args.only else PARTS:
            start = time.perf_counter()
            code |= put(PAGE, parts[part](), check=args.check)
            print(f"{part}: {time.perf_counter() - start:.0f} s", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
