"""Random samples of documents for people to label, so that scores of a machine judge can be corrected."""

from __future__ import annotations

from hashlib import blake2b

import numpy as np

from rankscope.analysis.corrected_values import Corrector
from rankscope.analysis.label_sample import LabelSample
from rankscope.analysis.stats.significance import all_pairs, paired_t
from rankscope.arrays import Floats, Ints
from rankscope.judging import Judged
from rankscope.scores import Scores

_FLOOR = 0.1
"""Smallest probability as a share of that of uniform sampling, so that every document can be drawn."""


def inclusion_probabilities(scores: Scores, budget: int, alpha: float = 0.05) -> Floats:
    """Return the probability of each document: proportional to its weight in open differences (Neyman 1934).

    The weight is the root of the sum, over the pairs of runs that the machine's labels do not separate (paired t), of
    (weight in A - weight in B)^2. Before any label is known, the machine is equally likely to err everywhere. The sum
    of the probabilities is the budget. They do not depend on human labels, so that a larger budget draws the
    documents of a smaller one again.
    """
    judged = scores.require_judged("next")
    total = np.zeros(len(judged.qrels))
    for index, measure in enumerate(scores.measures):
        none = np.zeros(len(total), np.int32)
        machine = np.maximum(judged.qrels.grade, 0)
        sample = LabelSample(machine, none, none.astype(np.bool_), np.ones(len(total)))
        corrector = Corrector(judged, sample, measure)
        square = _open_squares(corrector, np.nan_to_num(scores.values[index]), alpha)
        total += np.sqrt(square / max(float(square.sum()), 1e-300))
    return scale_to_budget(total, budget)


def _open_squares(corrector: Corrector, values: Floats, alpha: float) -> Floats:
    """Return the sum over open pairs of the squared difference of weights of each document."""
    n_runs = len(values)
    first, second = all_pairs(n_runs)
    is_open = paired_t(values, first, second).p >= alpha
    if not is_open.any():
        is_open[:] = True
    laplacian = np.zeros((n_runs, n_runs))
    laplacian[first[is_open], second[is_open]] = -1.0
    laplacian += laplacian.T
    np.fill_diagonal(laplacian, -laplacian.sum(axis=1))
    square = np.zeros(len(corrector.topic))
    every = np.ones(len(square), np.bool_)
    for documents, gradient in corrector.gradients(None, None, every):
        weight = gradient.sum(axis=2)
        square[documents] = ((laplacian @ weight) * weight).sum(axis=0)
    return np.maximum(square, 0.0)


def scale_to_budget(size: Floats, budget: int) -> Floats:
    """Return probabilities proportional to ``size`` with the sum ``budget``, at most 1 and at least a floor.

    >>> scale_to_budget(np.array([0.0, 1.0, 1.0, 8.0]), 2).round(3).tolist()
    [0.05, 0.475, 0.475, 1.0]
    """
    if budget >= len(size):
        return np.ones(len(size))
    floor = _FLOOR * budget / len(size)
    low, high = 0.0, budget / max(float(size[size > 0].min(initial=np.inf)), 1e-300) if size.any() else 1.0
    if not size.any():
        size = np.ones(len(size))
    for _ in range(200):  # Bisection is valid because the sum never decreases with the factor.
        middle = (low + high) / 2
        low, high = (middle, high) if np.clip(middle * size, floor, 1.0).sum() < budget else (low, middle)
    return np.asarray(np.clip(high * size, floor, 1.0))


def draw(judged: Judged, pi: Floats, seed: int) -> Ints:
    """Return the drawn documents in random order.

    Every document has a random number of its own, which depends on the seed and its ids only: samples of larger
    budgets contain those of smaller ones, as long as the probabilities grow.
    """
    number = np.empty(len(pi))
    offsets = judged.qrels.topic_offsets
    for t, topic in enumerate(judged.topics):
        head = f"{seed}\0{topic}\0".encode("utf-8", "surrogateescape")
        for d in range(int(offsets[t]), int(offsets[t + 1])):
            digest = blake2b(head + judged.qrels.documents[d], digest_size=8).digest()
            number[d] = int.from_bytes(digest, "big") / 2**64
    drawn = np.flatnonzero(number < pi)
    return drawn[np.argsort(number[drawn] / pi[drawn], kind="stable")]
