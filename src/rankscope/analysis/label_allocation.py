"""Random samples of documents for people to label, so that scores of a machine judge can be corrected."""

from __future__ import annotations

from hashlib import blake2b

import numpy as np

from rankscope.analysis.corrected_values import Corrector
from rankscope.analysis.label_sample import Labels, align
from rankscope.analysis.stats.significance import all_pairs, paired_t
from rankscope.arrays import Floats, Ints
from rankscope.errors import InputError
from rankscope.judging import Judged
from rankscope.scores import Scores

_ALPHA = 0.05  # Pairs with a smaller p-value need no more labels.
_FLOOR = 0.1
"""Smallest probability as a share of that of uniform sampling, so that every document can be drawn."""


def inclusion_probabilities(scores: Scores, budget: int, labels: Labels | None = None) -> Floats:
    """Return the probability of each document: proportional to the standard deviation of its correction (Neyman 1934).

    The correction is the change of the runs with the label times h - lambda j, whose distribution is predicted from
    the labels of other topics, in one half of the allocation; in the other half, and without labels, all human grades
    are equally likely. Half of the variance is that of the means of all runs, half that of the differences of pairs
    that the machine's labels do not separate (paired t).
    The sum of the probabilities is the budget, unless documents of ``labels`` were drawn with larger ones, which they
    keep.
    """
    judged = scores.require_judged("next")
    earlier = np.zeros(len(judged.qrels))
    for topic, of_topic in (labels or {}).items():
        numbers = judged.qrels.document_numbers(topic) if topic in judged.qrels.topic_index else {}
        for doc, (_, pi) in of_topic.items():
            if doc not in numbers:
                problem = f"document {doc!r} of topic {topic!r} of the human labels has no machine label"
                raise InputError(problem, hint="give the judgments that the template was drawn from")
            earlier[numbers[doc]] = pi or 0.0
    sample = align(judged, labels or {}, None, None)
    total = np.zeros(len(earlier))
    for index, measure in enumerate(scores.measures):
        corrector = Corrector(judged, sample, measure)
        importance = _pair_weights(np.nan_to_num(scores.values[index]))
        # Half of the allocation ignores the labels, because errors that they do not show yet are possible everywhere.
        blind = corrector.restrict(np.zeros(len(judged.topics), np.bool_))
        for source in (corrector, blind) if labels else (blind,):
            square = np.zeros(len(total))
            for documents, terms in source.terms(source.tune(), total >= 0):
                square[documents] = np.einsum("rs,rdg,sdg->d", importance, terms, terms, optimize=True)
            square = np.maximum(square, 0.0)
            total += square / max(float(square.sum()), 1e-300)
    return np.maximum(scale_to_budget(np.sqrt(total), budget), earlier)


def _pair_weights(values: Floats) -> Floats:
    """Return the matrix of the quadratic form that sums the variances of means and of differences of open pairs."""
    n_runs = len(values)
    first, second = all_pairs(n_runs)
    is_open = paired_t(values, first, second).p >= _ALPHA
    laplacian = np.zeros((n_runs, n_runs))
    laplacian[first[is_open], second[is_open]] = -1.0
    laplacian += laplacian.T
    np.fill_diagonal(laplacian, -laplacian.sum(axis=1))
    return np.eye(n_runs) / n_runs + laplacian / max(float(laplacian.trace()), 1.0)


def scale_to_budget(size: Floats, budget: int) -> Floats:
    """Return probabilities proportional to ``size`` with the sum ``budget``, at most 1 and at least a floor.

    >>> scale_to_budget(np.array([0.0, 1.0, 1.0, 8.0]), 2).round(3).tolist()
    [0.05, 0.475, 0.475, 1.0]
    """
    if budget >= len(size):
        return np.ones(len(size))
    floor = _FLOOR * budget / len(size)
    size = size if size.any() else np.ones(len(size))
    low, high = 0.0, budget / max(float(size[size > 0].min()), 1e-300)
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
    heads = [f"{seed}\0{topic}\0".encode("utf-8", "surrogateescape") for topic in judged.topics]
    for d, t in enumerate(judged.qrels.topic_numbers.tolist()):
        digest = blake2b(heads[t] + judged.qrels.documents[d], digest_size=8).digest()
        number[d] = int.from_bytes(digest, "big") / 2**64
    drawn = np.flatnonzero(number < pi)
    return drawn[np.argsort(number[drawn] / pi[drawn], kind="stable")]
