"""Meta-evaluation: the all-pairs bootstrap against numpy pair by pair, smaller pools against reading, a whole study."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.workloads import WORKLOADS, make
from rankscope.analysis.pools import pools
from rankscope.analysis.stats.bootstrap import bootstrap_pairs, resample
from rankscope.analysis.stats.significance import all_pairs
from rankscope.analysis.study.experiments import repeat_study, study
from rankscope.choices import DEFAULT_MEASURES, RATIOS
from rankscope.engines import using
from rankscope.measures import parse_many
from rankscope.read import read_qrels, read_runs
from rankscope.scores import Collection, evaluate
from rankscope.simulation import simulate
from rankscope.tables import Cell, Table

__all__ = ["table"]

Floats = NDArray[np.float64]
Row = tuple[Cell, ...]


def table(quick: bool) -> str:
    """Return the comparisons as one Markdown table, each with its goal."""
    with tempfile.TemporaryDirectory() as scratch:
        rows = [*_bootstrap(quick), *_pools(quick, Path(scratch)), *_study(quick, Path(scratch))]
    text = Table("meta", ("work", "by", "seconds", "ratio", "goal"), rows, digits=3).markdown()
    return f"Least CPU seconds of all threads in several turns; wall seconds for the study.\n\n{text}"


def _bootstrap(quick: bool) -> list[Row]:
    runs, topics, replicates = (20, 50, 1000) if quick else (74, 50, 1000)
    values = _scores(runs, topics)
    first, second = all_pairs(runs)
    resampled = resample(topics, replicates, seed=1)
    with using(None, 1):
        ours, shared, drawn = _cpu(
            [
                lambda: bootstrap_pairs(values, first, second, resample(topics, replicates, seed=1)),
                lambda: [_pair(values[a] - values[b], resampled) for a, b in _zip(first, second)],
                lambda: _own_replicates(values, first, second, replicates),
            ],
            7,
        )
    plain = [_pair(values[a] - values[b], resampled) for a, b in _zip(first, second)]
    got = bootstrap_pairs(values, first, second, resampled)
    # Times are comparable only if the results are equal.
    if not np.array_equal(got.asl, [asl for asl, _ in plain]):
        raise AssertionError("the all-pairs bootstrap differs from the plain one")
    work = f"bootstrap, {len(first):,} pairs x {topics} topics x {replicates:,} replicates"
    return [
        (work, "rankscope", ours, 1.0, ""),
        (work, "numpy, resampling pair by pair", drawn, drawn / ours, _met(drawn / ours >= 30, "30x", quick)),
        (work, "numpy pair by pair, given the same replicates", shared, shared / ours, ""),
    ]


def _own_replicates(
    values: Floats, first: NDArray[np.intp], second: NDArray[np.intp], replicates: int
) -> None:
    generator = np.random.default_rng(1)
    topics = values.shape[1]
    for a, b in _zip(first, second):
        _pair(values[a] - values[b], generator.integers(0, topics, (replicates, topics)))


def _pair(z: Floats, resampled: NDArray[np.int64]) -> tuple[float, float]:
    """Compute Sakai's bootstrap of a pair in plain numpy, all replicates at once."""
    n = len(z)
    t = abs(z.mean() / (z.std(ddof=1) / np.sqrt(n)))
    samples = (z - z.mean())[resampled]
    means = samples.mean(axis=1)
    star = np.abs(means / (samples.std(axis=1, ddof=1) / np.sqrt(n)))
    holder = np.argsort(-star, kind="stable")[int(np.ceil(0.05 * len(star))) - 1]
    return float((star >= t).mean()), float(abs(means[holder]))


def _pools(quick: bool, scratch: Path) -> list[Row]:
    workload = WORKLOADS["quick" if quick else "full"]["W2"]
    folder = scratch / "W2"
    make(workload, folder)
    measures = parse_many(DEFAULT_MEASURES)

    def read() -> None:
        evaluate(read_qrels(folder / "qrels.txt"), read_runs(folder / "runs"), measures)

    scores = evaluate(read_qrels(folder / "qrels.txt"), read_runs(folder / "runs"), measures)
    reading, sampling = _cpu([read, lambda: pools(scores, repeats=10)], 5)
    work = f"{len(RATIOS)} ratios x 10 repeats of downsampling, W2, {len(measures)} measures"
    return [
        (f"evaluation of W2 from files, {len(measures)} measures", "rankscope", reading, 1.0, ""),
        (work, "rankscope", sampling, sampling / reading, _met(sampling / reading < 5, "below 5x", quick)),
    ]


def _study(quick: bool, scratch: Path) -> list[Row]:
    qrels, runs, name = _covid(quick, scratch)
    start = time.perf_counter()
    result = study(Collection(qrels, runs), output=scratch / "study")
    wall = time.perf_counter() - start
    start = time.perf_counter()
    identical = repeat_study(scratch / "study").identical
    again = time.perf_counter() - start
    pairs = result["power"].records()[0]["pairs"]
    work = f"study of {name}, {pairs:,} pairs x 1,000 replicates x {len(DEFAULT_MEASURES)} measures"
    return [
        (work, "rankscope", wall, None, _met(wall < 180, "below 180 s")),
        ("the same from its manifest", "rankscope", again, None, _met(identical, "identical")),
    ]


def _covid(quick: bool, scratch: Path) -> tuple[Path, Path, str]:
    """Return round 1 of TREC-COVID at depth 100, or a simulated collection of its size if the data is missing."""
    data = Path(os.environ.get("RANKSCOPE_DATA", Path(__file__).parents[2] / "shared" / "data"))
    folder = data / "trec_covid_r1_depth100"
    if folder.is_dir() and not quick:
        return folder / "qrels.txt", folder / "runs", "TREC-COVID round 1 (143 runs, depth 100)"
    systems = 20 if quick else 143
    simulate(systems=systems, topics=30, depth=100, seed=2020).write(scratch / "covid")
    return (
        scratch / "covid" / "qrels.txt",
        scratch / "covid" / "runs",
        f"a simulated collection ({systems} runs)",
    )


def _scores(runs: int, topics: int) -> Floats:
    """Return scores with effects of run and topic."""
    rng = np.random.default_rng(2024)
    effect = (
        rng.normal(0, 0.4, (runs, 1)) + rng.normal(0, 1, (1, topics)) + rng.normal(0, 0.7, (runs, topics))
    )
    return np.asarray(1 / (1 + np.exp(-effect)))


def _zip(first: NDArray[np.intp], second: NDArray[np.intp]) -> list[tuple[int, int]]:
    return list(zip(first.tolist(), second.tolist(), strict=True))


def _cpu(works: Sequence[Callable[[], object]], repeats: int) -> list[float]:
    """Return the smallest CPU time of each task, summed over threads; the tasks take turns."""
    times: list[list[float]] = [[] for _ in works]
    for _ in range(repeats):
        for work, spent in zip(works, times, strict=True):
            start = time.process_time()
            work()
            spent.append(time.process_time() - start)
    return [min(spent) for spent in times]


def _met(good: bool, goal: str, quick: bool = False) -> str:
    # the goals are for the full sizes
    return goal if quick else f"{goal}: {'met' if good else 'missed'}"


if __name__ == "__main__":
    print(table("--quick" in sys.argv))
