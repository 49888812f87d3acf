"""The numbers of findings once more: files read line by line, measures as loops, tests by scipy. Nothing of ours."""

from __future__ import annotations

import gzip
import math
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, product
from pathlib import Path

import numpy as np
from scipy import stats

N = 1000


def lines(path: Path) -> Iterator[list[str]]:
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as file:
        for line in file:
            if fields := line.split():
                yield fields


def read_qrels(path: Path) -> dict[str, dict[str, int]]:
    grades: dict[str, dict[str, int]] = defaultdict(dict)
    for topic, _, doc, grade in lines(path):
        grades[topic][doc] = int(grade)
    return dict(grades)


def read_run(path: Path) -> tuple[str, dict[str, dict[str, float]]]:
    scores: dict[str, dict[str, float]] = defaultdict(dict)
    names: list[str] = []
    for topic, _, doc, _, score, name in lines(path):
        scores[topic][doc] = float(score)
        names = names or [name]
    return names[0], dict(scores)


def ranked(documents: dict[str, float]) -> list[str]:
    return [doc for _, doc in sorted(zip(documents.values(), documents, strict=True), reverse=True)]


def ap(relevant: list[bool], base: int) -> float:
    n_found, total = 0, 0.0
    for rank, is_relevant in enumerate(relevant, 1):
        if is_relevant:
            n_found += 1
            total += n_found / rank
    return total / base if base else 0.0


def rho_and_twist(grades: list[int], counts: dict[int, int]) -> tuple[float, float]:
    """Return Rho and Twist (sign-change, N = 1000) of a list of grades, given the number of documents per grade."""
    base = sum(counts.values())
    if base == 0:
        return math.nan, math.nan
    length = max(N, 2 * base)
    upper, reach = {}, 0
    for grade in sorted(counts, reverse=True):
        reach += counts[grade]
        upper[grade] = (reach - counts[grade] + 1, reach)
    low, high = np.full(length, base + 1), np.full(length, length)
    for index, grade in enumerate(grades[:N]):
        if grade > 0:
            low[index], high[index] = upper[grade]
    rank = np.arange(1, length + 1)
    rp = np.where(rank < low, rank - low, np.where(rank > high, rank - high, 0))
    crp = np.cumsum(rp)
    turned = ((crp[:-1] < 0) & (crp[1:] >= 0)) | ((crp[:-1] > 0) & (crp[1:] <= 0))
    m = 1.0 if not crp.any() else float(np.argmax(turned)) + 1 if turned.any() else math.inf
    rho = base / max(base, m)
    plus = base * (length - base) + base * (base + 1) / 2 - sum(c * upper[g][1] for g, c in counts.items())
    minus = base * (base + 1) / 2
    a, b = 1 - rp[rp > 0].sum() / plus, 1 - -rp[rp < 0].sum() / minus
    sigma = 2 * a * b / (a + b) if a + b > 0 else 0.0
    return rho, (rho + sigma) / 2


@dataclass
class Values:
    """Matrices by measure, all higher-is-better means over topics."""

    runs: list[str]
    topics: list[str]
    values: dict[str, np.ndarray]

    def mean(self, measure: str) -> np.ndarray:
        return self.values[measure].mean(axis=1)

    @cached_property
    def pairs(self) -> list[tuple[int, int]]:
        return list(combinations(range(len(self.runs)), 2))

    def significant(self, measure: str) -> np.ndarray:
        """Holm over all pairs of paired t tests."""
        x = self.values[measure]
        a, b = np.array(self.pairs).T
        p = stats.ttest_rel(x[a], x[b], axis=1).pvalue
        p = np.where(np.isnan(p), 1.0, p)
        return holm(p) < 0.05

    def tied(self, measure: str) -> set[str]:
        """Runs not shown to be worse than the best, by the largest t of all runs in question over random signs."""
        x = self.values[measure]
        z = x[None] - x[:, None]  # z[i, j]: what run i lacks to run j, topic by topic
        norm = np.sqrt(np.square(z).sum(axis=2))
        norm[norm < 1e-12] = np.inf
        observed = (z.sum(axis=2) / norm).max(axis=1)
        n = x.shape[1]
        with np.errstate(divide="ignore", invalid="ignore"):
            t = observed * np.sqrt((n - 1) / np.maximum(n - observed**2, 0))
            smaller = t * np.sqrt((n - 1) / (n + 1))  # the small-sample factor of joint comparisons
            joint = np.where(np.isfinite(t), np.sqrt(n) * smaller / np.sqrt(smaller**2 + n - 1), observed)
        if 2 ** (n - 1) <= 1000:
            signs = np.array(list(product([1, -1], repeat=n)))
        else:
            half = 2 * np.random.Generator(np.random.PCG64(1)).integers(0, 2, (1000, n)) - 1
            signs = np.concatenate([half, -half, np.ones((1, n)), -np.ones((1, n))])
        sums = x @ signs.T
        drawn = np.array([((sums - sums[run]) / norm[run][:, None]).max(axis=0) for run in range(len(x))])
        left = list(np.argsort(-observed, kind="stable"))
        while left:
            reached = (drawn[left].max(axis=0) >= joint[left[0]] * (1 - 1e-9)).mean()
            if observed[left[0]] <= 0 or reached >= 0.05:
                break
            left.pop(0)
        return {self.runs[r] for r in left}

    def swapped(self, first: str, second: str) -> np.ndarray:
        a, b = np.array(self.pairs).T
        x, y = np.round(self.mean(first), 12), np.round(self.mean(second), 12)
        return (x[a] - x[b]) * (y[a] - y[b]) < 0


def holm(p: np.ndarray) -> np.ndarray:
    order = np.argsort(p)
    steps = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(steps, 1)
    return adjusted


@dataclass
class Lists(Values):
    """Values together with the lists that they came from."""

    unjudged: np.ndarray
    retrieved: np.ndarray
    rho: np.ndarray
    base: np.ndarray
    ap_best: np.ndarray
    ap_worst: np.ndarray


def evaluated(qrels: dict[str, dict[str, int]], runs: dict[str, dict[str, dict[str, float]]]) -> Lists:
    """AP, P@10, RBP(p=0.8) and Twist of every run on every topic, and what the other rules need."""
    shape = len(runs), len(qrels)
    names = ("AP", "P@10", "RBP", "Twist")
    values = {name: np.zeros(shape) for name in names}
    unjudged, retrieved, rho, best, worst = (np.zeros(shape) for _ in range(5))
    bases = np.array([sum(g > 0 for g in judged.values()) for judged in qrels.values()])
    weights = 0.2 * 0.8 ** np.arange(100_000)
    for t, judged in enumerate(qrels.values()):
        counts: dict[int, int] = defaultdict(int)
        for grade in judged.values():
            if grade > 0:
                counts[grade] += 1
        for r, run in enumerate(runs.values()):
            documents = run.get(list(qrels)[t], {})
            order = ranked(documents)
            grades = [judged.get(doc, 0) for doc in order]
            relevant = [grade > 0 for grade in grades]
            values["AP"][r, t] = ap(relevant, int(bases[t]))
            values["P@10"][r, t] = sum(relevant[:10]) / 10
            values["RBP"][r, t] = weights[: len(relevant)][relevant].sum()
            rho[r, t], values["Twist"][r, t] = rho_and_twist(grades, counts)
            unjudged[r, t] = sum(doc not in judged for doc in order[:10])
            retrieved[r, t] = min(10, len(order))
            best[r, t] = worst[r, t] = values["AP"][r, t]
            if len(set(documents.values())) < len(order):
                tied = [(-documents[doc], one) for doc, one in zip(order, relevant, strict=True)]
                best[r, t] = ap(
                    [one for _, one in sorted(tied, key=lambda x: (x[0], not x[1]))], int(bases[t])
                )
                worst[r, t] = ap([one for _, one in sorted(tied)], int(bases[t]))
    return Lists(list(runs), list(qrels), values, unjudged, retrieved, rho, bases, best, worst)
