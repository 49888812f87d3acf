"""Expected values of fractions over human labels that a model predicts, and their change with each label.

The model has the probability of each human grade by group of documents, estimated on the other topics, and a normal
effect of the topic that its documents share. Labels of all documents are drawn from it. A fraction is evaluated on
each draw, and on the draw with the grade of one document replaced, for every document and grade: the sum that changes
is that of a few counts, so all replacements together cost little more than the draw.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.special import ndtr, ndtri

from rankscope.arrays import Floats, Ints
from rankscope.measures.forms import Counted, Weighted

if TYPE_CHECKING:
    from rankscope.analysis.corrected_values import Corrector

_PRIOR = 2.0
"""Labels that the documents with the same machine grade, and all documents, count for in smaller groups."""
_SEED = 1  # The same labels are drawn for every measure and tuning, so that their values are comparable.


class FilledBlock(NamedTuple):
    """Expected values of a block of topics under the model."""

    value: Floats
    """Expected value, (runs, topics)."""
    indicators: Floats
    """Expected indicators [grade >= g], (documents, grades)."""
    gradient: Floats
    """Change of the expected value with each indicator, (runs, documents, grades)."""


class LabelModel:
    """Predicts the grades that people would give, for each topic from the labels of the others.

    The probabilities of a group are shrunk towards those of its machine grade, and these towards those of all
    documents: with few labels, the machine is taken to be uninformative rather than correct.
    """

    def __init__(self, corrector: Corrector, grade: Ints, band: Ints) -> None:
        self.sample, self.topic, self.n_topics = corrector.sample, corrector.topic, corrector.shape[1]
        self.category = np.searchsorted(corrector.grades, self.sample.human, side="right") - 1
        n_bands, n_grades = int(band.max(initial=0)) + 1, len(corrector.grades)
        self.group = grade * n_bands + band
        is_in = self.sample.is_labelled
        weight = self.sample.inverse[is_in]
        table = np.zeros((self.n_topics, n_grades, n_bands, n_grades))
        index = self.topic[is_in], grade[is_in], band[is_in], self.category[is_in]
        np.add.at(table, index, weight / max(weight.mean(), 1e-300) if len(weight) else 0)
        others = table.sum(axis=0) - table
        share = np.full((self.n_topics, 1, 1, n_grades), 1 / n_grades)
        # All documents have the prior of Jeffreys (1946), half a label of each grade.
        for counts, n_prior in (
            (others.sum(axis=(1, 2), keepdims=True), n_grades / 2),
            (others.sum(axis=2, keepdims=True), _PRIOR),
            (others, _PRIOR),
        ):
            share = (counts + n_prior * share) / (counts.sum(axis=3, keepdims=True) + n_prior)
        self.share = share.reshape(self.n_topics, -1, n_grades)
        """Probability of each human grade, (topics, groups, grades)."""
        self.cumulative = self.share.cumsum(axis=2)[:, :, :-1]
        """Probability of a grade below the second, third, ... one, (topics, groups, grades)."""

    @cached_property
    def correlation(self) -> float:
        """Correlation of the normal variables of two documents of a topic."""
        is_in = self.sample.is_labelled
        topic, group = self.topic[is_in], self.group[is_in]
        # The score of a grade is the mean of the standard normal variable whose interval stands for it.
        ends = np.pad(ndtri(np.clip(self.cumulative, 1e-12, 1 - 1e-12)), ((0, 0), (0, 0), (1, 1)))
        density = np.exp(-(ends**2) / 2) / np.sqrt(2 * np.pi)
        density[:, :, [0, -1]] = 0.0
        score = -np.diff(density, axis=2) / self.share
        variance = (score**2 * self.share).sum(axis=2)[topic, group]
        score = score[topic, group, self.category[is_in]]

        def products(x: Floats) -> float:
            """Return the sum of the products of all two labels of the same topic."""
            total = np.bincount(topic, x, minlength=self.n_topics)
            return float((total**2).sum() - (x**2).sum())

        return float(np.clip(products(score) / max(products(variance), 1e-300), 0.0, 0.9))

    def draw(self, topic: Ints, documents: slice, n_draws: int) -> Ints:
        """Return drawn grades as indices, (draws, documents); the draws of a document are stratified."""
        rng = np.random.default_rng([_SEED, documents.start])
        shape = n_draws, len(topic) + int(np.ptp(topic)) + 1
        normal = ndtri((np.argsort(rng.random(shape), axis=0) + rng.random(shape)) / n_draws)
        shared = normal[:, len(topic) + topic - topic[0]]
        own = np.sqrt(1 - self.correlation) * normal[:, : len(topic)]
        limits = self.cumulative[topic, self.group[documents]]
        level = ndtr(np.sqrt(self.correlation) * shared + own)
        drawn = np.zeros(level.shape, np.int64)
        for g in range(limits.shape[1]):
            drawn += level > limits[:, g]
        return drawn


def fill(corrector: Corrector, model: LabelModel, n_draws: int) -> Iterator[FilledBlock]:
    """Yield the expected values of all blocks of topics; documents that are labelled for certain keep their grades."""
    sample, offsets = corrector.sample, corrector.judged.qrels.topic_offsets
    is_certain = sample.is_labelled & (sample.pi >= 1)
    for first, last in corrector.blocks:
        documents = slice(int(offsets[first]), int(offsets[last]))
        drawn = model.draw(corrector.topic[documents], documents, n_draws)
        drawn = np.where(is_certain[documents], model.category[documents], drawn)
        yield _evaluate(corrector, first, last, drawn)


def _evaluate(corrector: Corrector, first: int, last: int, drawn: Ints) -> FilledBlock:
    form, step = corrector.form, corrector.step
    n_runs, n_topics, (n_draws, n) = corrector.shape[0], last - first, drawn.shape
    at, run = corrector.hits(first, last)
    judged, offsets = corrector.judged, corrector.judged.qrels.topic_offsets[first : last + 1]
    bounds = offsets - offsets[0]
    topic = np.repeat(np.arange(n_topics), np.diff(bounds))
    document, rank = judged.judgment[at] - offsets[0], judged.rank[at]
    grades = np.arange(len(step) + 1)
    reaches = (grades[:, np.newaxis] > grades[:-1]).astype(np.int64)  # (grades, indicators)
    gains = np.concatenate([[0.0], np.cumsum(step)])
    gain, indicators = gains[drawn], reaches[drawn]
    counts = np.diff(np.pad(indicators.cumsum(axis=1), ((0, 0), (1, 0), (0, 0)))[:, bounds], axis=1)
    ranks = np.arange(1, int(np.diff(bounds).max(initial=0)) + 2)
    weights = form.weights(corrector.measure, ranks) if isinstance(form, Weighted) else np.ones(len(ranks))
    ideal = np.concatenate([[0.0], np.cumsum(weights)])
    owner = run * n_topics + topic[document], np.arange(len(at))
    lists = csr_array((np.ones(len(at)), owner), shape=(n_runs * n_topics, len(at)))

    def sums(change: int) -> tuple[Floats, Floats]:
        """Return numerators, (runs, topics, draws), and weights of hits, for a number of further relevant documents."""
        if isinstance(form, Counted):
            depth = form.depth(np.maximum(counts[:, :, 0] + change, 0))
            weight = (rank <= depth[:, topic[document]]).astype(np.float64)
        else:
            weight = corrector.hit_weight[at][np.newaxis]
        return (lists @ (weight * gain[:, document]).T).reshape(n_runs, n_topics, n_draws), weight

    # 1 / the denominator of every draw in which one document changes its grade; 0 if it is 0.
    changed = counts[:, :, np.newaxis, np.newaxis] - reaches[:, np.newaxis] + reaches
    denominator = ideal[np.clip(changed, 0, len(ranks))] @ step
    inverse = np.divide(1.0, denominator, out=np.zeros(denominator.shape), where=denominator > 0)
    of_document = inverse[np.arange(n_draws)[:, np.newaxis], topic, drawn] / n_draws
    gradient: Floats = np.zeros((n_runs, n, len(step)))
    value: Floats = np.zeros((n_runs, n_topics))
    # The depth of R-precision changes with the number of relevant documents; all other weights are fixed.
    for change in (-1, 0, 1) if isinstance(form, Counted) else (0,):
        total, weight = sums(change)
        factor = of_document
        if isinstance(form, Counted):
            factor = factor * (grades - drawn[:, :, np.newaxis] == change)
        steps = np.diff(factor, axis=2)
        for t in range(n_topics):
            part = steps[:, bounds[t] : bounds[t + 1]].reshape(n_draws, -1)
            gradient[:, bounds[t] : bounds[t + 1]] += (total[:, t] @ part).reshape(n_runs, -1, len(step))
        steps = np.diff(factor * (gains - gain[:, :, np.newaxis]), axis=2)
        if isinstance(form, Counted):
            gradient[run, document] += (weight[:, :, np.newaxis] * steps[:, document]).sum(axis=0)
        else:
            gradient[run, document] += weight[0][:, np.newaxis] * steps.sum(axis=0)[document]
        if change == 0:
            value = (total * inverse[:, :, 0, 0].T).mean(axis=2)
    return FilledBlock(value, indicators.mean(axis=0), gradient)
