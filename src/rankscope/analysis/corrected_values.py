"""Values of measures from machine labels for all documents and human labels for a random sample of them.

A measure is a function of the indicators [grade >= g] of the documents of a topic. The corrected indicator of a
document is j + s (h - j) / pi, where j and h are those of the machine and the human, and s says whether the document
is in the sample; with a weight lambda, lambda j replaces j. Its expectation is h, whatever the machine says. Sums of
gains with fixed weights are linear in the indicators, so their corrected values are exactly unbiased. A fraction is
expanded around its expectation under a model of the labels; its bias is of the second order in the errors of the model.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy.special import stdtrit

from rankscope.analysis.filled_values import LabelModel, fill
from rankscope.analysis.label_sample import LabelSample
from rankscope.arrays import AnyArray, Bools, Floats, Ints
from rankscope.errors import MeasureError
from rankscope.judging import Judged
from rankscope.measures.arithmetic import ratio
from rankscope.measures.base import Measure, declared_form
from rankscope.measures.forms import Counted, Precisions, ShareOfIdeal, Weighted

_BLOCK = 4096  # documents
_DRAWS = 32  # Of a fraction; the noise of the draws cancels, because the corrections refer to what was drawn.
MIN_LABELS, MIN_DIFFERING = 30, 5
"""Labels that count for the runs, and labels among them that differ from the machine's, for reliable intervals."""
_BANDS = (1 / 3, 2 / 3)
"""Quantiles of the weights of documents that separate the groups with moments of their own."""


class Estimate(NamedTuple):
    """Corrected values of one measure."""

    values: Floats
    """Value of each run and topic."""
    covariance: Floats
    """Covariance of the sums over topics of all runs, over samples of the labels."""
    tuning: Floats
    """Weight of the machine's labels on each topic."""
    freedom: Floats
    """Degrees of freedom of the variance of each run."""

    def quantile(self, alpha: float) -> Floats:
        """Return the quantile of Student's t for the interval of each run."""
        return np.asarray(stdtrit(self.freedom, 1 - alpha / 2))


class _Expansion(NamedTuple):
    """Point around which a fraction is expanded, and its change there."""

    value: Floats
    """Value of each run and topic."""
    indicators: Floats
    """Expected indicators of all documents, (documents, grades)."""
    gradients: Sequence[Floats] = ()
    """Change of the value with each indicator, by block of topics, (runs, documents, grades); not for AP."""
    n_relevant: Floats | None = None
    """Estimated number of relevant documents of each topic, for AP."""
    error: Floats = np.zeros(0)
    """Relative standard error of this number."""
    shrinkage: float = 0.0
    """Weight of a topic's own labels in the indicators and in this number."""
    spread: Floats = np.zeros(0)
    """Variance of the human label of each document under the model, for AP."""


class Corrector:
    """Corrects the values of one measure.

    Parameters
    ----------
    judged
        Rankings, with the documents of both judges.
    sample
        Grades of both judges.
    measure
        Measure with a closed form: a sum of gains with fixed weights, a fraction of such sums, or average precision.
    n_draws
        Number of draws of all labels from the model, for fractions.
    """

    def __init__(self, judged: Judged, sample: LabelSample, measure: Measure, n_draws: int = _DRAWS) -> None:
        form = declared_form(measure)
        is_known = isinstance(form, Weighted | Counted | Precisions) and not measure.needs_aspects
        if not is_known or measure.summary != "mean" or measure.better != "higher":
            raise MeasureError(
                f"{measure} cannot be corrected from a sample of labels",
                hint="use sums of gains (P, RBP, DCG), fractions of them (nDCG, R, Rprec) or AP",
            )
        self.judged, self.sample, self.measure, self.form = judged, sample, measure, form
        self.n_draws = n_draws
        self.shape = len(judged.runs), len(judged.topics)
        self.owner, self.topic = judged.arrays.owner, judged.qrels.topic_numbers
        # The best grade is that of the machine, which does not depend on the sample.
        self.best = max(int(sample.machine.max(initial=0)), 1)
        if isinstance(form, Weighted):
            self.grades = np.unique(np.concatenate([sample.machine, sample.human, [0, 1]]))
            gain = np.asarray(form.gain(self.grades, self.best), np.float64)
            self.step = np.diff(gain)
            if gain[0] != 0:
                problem = f"{measure} gives non-relevant documents a gain, and cannot be corrected"
                raise MeasureError(problem, hint="give grade 0 no gain")
        else:
            self.grades, self.step = np.array([0, form.rel]), np.ones(1)  # type: ignore[union-attr]
        self.is_fraction = not isinstance(form, Weighted) or isinstance(form, ShareOfIdeal)
        self.machine = np.zeros_like(sample.machine) if sample.is_human_only else sample.machine
        reaches = np.stack([self.machine, sample.human])[:, :, np.newaxis] >= self.grades[1:]
        self.j, self.h = (np.asarray(x, np.float64) for x in reaches)

    @cached_property
    def hit_weight(self) -> Floats:
        """Weight of each hit; 1 down to the cutoff for recall."""
        rank = self.judged.rank.astype(np.int64)
        if isinstance(self.form, Weighted):
            return self.form.weights(self.measure, rank)
        if isinstance(self.form, Precisions):
            return np.where(rank <= (self.measure.cutoff or np.inf), self.form.weight(rank), 0.0)
        return np.ones(len(rank))

    @cached_property
    def importance(self) -> Floats:
        """Sum over runs of the squared weight of each document."""
        return np.asarray(np.bincount(self.judged.judgment, self.hit_weight**2, len(self.topic)), np.float64)

    @property
    def is_counted(self) -> Bools:
        """Whether the label of each document counts for some run."""
        return np.asarray(self.is_fraction | (self.importance > 0))

    @cached_property
    def label_counts(self) -> tuple[int, int]:
        """Number of labels that count for some run, and number of them that differ from the machine's."""
        is_labelled = self.sample.is_labelled & self.is_counted
        differs = ((self.h != self.j) & (self.step != 0)).any(axis=1)
        return int(is_labelled.sum()), int((is_labelled & differs).sum())

    @property
    def is_rough(self) -> bool:
        """Whether the labels are too few for the level of intervals: some kinds of errors may not be seen."""
        n_labels, n_differing = self.label_counts
        return not self.is_certain and (n_labels < MIN_LABELS or n_differing < MIN_DIFFERING)

    @property
    def is_certain(self) -> bool:
        """Whether all labels have the inclusion probability 1."""
        return bool((self.sample.pi[self.sample.is_labelled] >= 1).all())

    def _sum_hits(self, terms: Floats) -> Floats:
        sums = np.bincount(self.owner, terms, len(self.judged.length))
        return np.asarray(sums.reshape(self.shape), np.float64)

    def _sum_topics(self, x: AnyArray, documents: Any = slice(None)) -> Floats:
        """Return the sums over the documents of each topic."""
        return np.asarray(np.bincount(self.topic[documents], x, self.shape[1]), np.float64)

    def _above(self, terms: Floats) -> Floats:
        """Return the sum of the terms of the hits above each hit of the same ranking."""
        total = np.concatenate([[0.0], np.cumsum(terms)])
        return np.asarray(total[:-1] - total[self.judged.offsets[self.owner]])

    @cached_property
    def blocks(self) -> list[tuple[int, int]]:
        """First topic of each block, and the one after its last: blocks fit into memory, and are few."""
        offsets, starts = self.judged.qrels.topic_offsets, [0]
        while starts[-1] < self.shape[1]:
            last = int(np.searchsorted(offsets[1:], offsets[starts[-1]] + _BLOCK, side="right"))
            starts.append(max(starts[-1] + 1, last))
        return list(pairwise(starts))

    def hits(self, first: int, last: int) -> tuple[Ints, Ints]:
        """Return the indices of the hits of a block of topics, and their runs."""
        lists = np.arange(self.shape[0]) * self.shape[1]
        start = self.judged.offsets[lists + first]
        size = self.judged.offsets[lists + last] - start
        run = np.repeat(np.arange(self.shape[0]), size)
        return (start - np.cumsum(size) + size)[run] + np.arange(size.sum()), run

    # Estimates ----------------------------------------------------------------------------------------------------

    def correct(self, tuning: float | None = None) -> Estimate:
        """Return the corrected values; without ``tuning``, with the weights that minimise the variance."""
        tunings = self.tune(tuning)
        covariance, freedom = self._covariance(tunings)
        return Estimate(self._values(tunings), covariance, tunings, freedom)

    def correct_values(self, tuning: float | None = None) -> Floats:
        """Return the corrected values alone."""
        return self._values(self.tune(tuning))

    def restrict(self, is_kept: Bools, n_draws: int = _DRAWS) -> Corrector:
        """Return a corrector without the labels of topics that are not ``is_kept``."""
        sample = self.sample._replace(is_labelled=self.sample.is_labelled & is_kept[self.topic])
        return Corrector(self.judged, sample, self.measure, n_draws)

    def _corrected(self, tunings: Floats) -> Floats:
        """Return the corrected indicators, (documents, grades)."""
        scaled = tunings[self.topic, np.newaxis] * self.j
        return scaled + self.sample.inverse[:, np.newaxis] * (self.h - scaled)

    def _values(self, tunings: Floats) -> Floats:
        x, expansion = self._corrected(tunings), self.expansion
        if expansion is None:
            return self._numerator(x)
        if expansion.n_relevant is not None:
            change = self._sum_topics(x[:, 0]) - expansion.n_relevant
            return ratio(self._numerator(x) - expansion.value * change, expansion.n_relevant)
        values, change = expansion.value.copy(), x - expansion.indicators
        for docs, gradient in self.gradients(np.ones(len(x), np.bool_)):
            np.add.at(values.T, self.topic[docs], self._apply(gradient, change[docs]).T)
        return values

    @staticmethod
    def _apply(gradient: Floats, x: Floats) -> Floats:
        """Return the sum over grades of the gradient times x, (runs, documents)."""
        return np.asarray(np.einsum("rdg,dg->rd", gradient, x))

    def _numerator(self, x: Floats) -> Floats:
        gain = (x @ self.step)[self.judged.judgment]
        if isinstance(self.form, Precisions):
            gain = gain * (1.0 + self._above(gain))
        return self._sum_hits(self.hit_weight * gain)

    @cached_property
    def model(self) -> LabelModel:
        """Model of human grades by machine grade and by weight in the runs."""
        weight = self.importance
        limits = np.quantile(weight[weight > 0], _BANDS) if weight.any() else weight[:0]
        band = np.where(weight > 0, np.searchsorted(limits, weight, side="left") + 1, 0)
        return LabelModel(self, np.searchsorted(self.grades, self.machine, side="right") - 1, band)

    @cached_property
    def expansion(self) -> _Expansion | None:
        """Point around which fractions are expanded, which all weights of the machine share; None for sums."""
        if not self.is_fraction:
            return None
        model = self.model
        if not isinstance(self.form, Precisions):
            values, indicators, gradients = zip(*fill(self, model, self.n_draws), strict=True)
            return _Expansion(np.concatenate(values, axis=1), np.concatenate(indicators), gradients)
        h, inverse = self.h[:, 0], self.sample.inverse
        is_certain = self.sample.is_labelled & (self.sample.pi >= 1)
        predicted = np.where(is_certain, h, 1.0 - model.cumulative[self.topic, model.group, 0])
        # The count of a topic lies between that of the prediction and that of its own labels, the closer to the
        # latter the smaller their sampling variance is against the error of the prediction.
        prior, residual = self._sum_topics(predicted), h - predicted
        own = prior + self._sum_topics(inverse * residual)
        variance = self._sum_topics(inverse * np.maximum(inverse - 1, 0) * residual**2).mean()
        spread = max(((own - prior) ** 2).mean() - variance, 0.0)
        share = spread / (spread + variance) if variance > 0 else 1.0
        count = np.maximum(prior + share * (own - prior), 0.25 * prior)
        is_complete = self._sum_topics(~is_certain) == 0
        count = np.where(is_complete, own, count)
        value = ratio(self._numerator(predicted[:, np.newaxis]), count)
        error = ratio(np.where(is_complete, 0.0, share * np.sqrt(variance)), count)
        likely = (predicted + share * inverse * residual)[:, np.newaxis]
        return _Expansion(value, likely, (), count, error, share, predicted * (1.0 - predicted))

    # Variances ----------------------------------------------------------------------------------------------------

    def tune(self, tuning: float | None = None) -> Floats:
        """Return the weight of the machine's labels on each topic, by default the one that minimises the variance.

        That is computed from the labels of the other topics, so that it does not depend on the topic's own.
        """
        n_topics = self.shape[1]
        if tuning is not None:
            return np.full(n_topics, tuning)
        product, square = np.zeros(n_topics), np.zeros(n_topics)
        factor = self.sample.inverse * np.maximum(self.sample.inverse - 1, 0)
        for docs, gradient in self.gradients(self.sample.is_labelled):
            h, j = (self._apply(gradient, x[docs]) for x in (self.h, self.j))
            product += self._sum_topics((h * j).sum(axis=0) * factor[docs], docs)
            square += self._sum_topics((j * j).sum(axis=0) * factor[docs], docs)
        others = square.sum() - square
        is_known = others > 1e-9 * max(square.sum(), 1e-300)
        tuned = np.divide(product.sum() - product, others, out=np.ones(n_topics), where=is_known)
        return np.asarray(np.maximum(tuned, 0.0))

    def gradients(self, is_used: Bools) -> Iterator[tuple[Ints, Floats]]:
        """Yield documents of each block of topics, and the change of the runs with their indicators.

        It has the shape (runs, documents, grades). For AP, which is quadratic, it is that at the expected indicators.
        """
        expansion, offsets, weight = self.expansion, self.judged.qrels.topic_offsets, self.hit_weight
        if isinstance(self.form, Precisions) and expansion is not None:
            gain = expansion.indicators[self.judged.judgment, 0]
            terms = weight * gain
            total = self._sum_hits(terms).ravel()[self.owner]
            weight = weight * (1.0 + self._above(gain)) + total - self._above(terms) - terms
        for block, (first, last) in enumerate(self.blocks):
            low, high = int(offsets[first]), int(offsets[last])
            kept = np.flatnonzero(is_used[low:high])
            if expansion is not None and expansion.gradients:
                yield low + kept, expansion.gradients[block][:, kept]
                continue
            at, run = self.hits(first, last)
            matrix = np.zeros((self.shape[0], high - low))
            matrix[run, self.judged.judgment[at] - low] = weight[at]
            if expansion is None:
                kept = kept[self.importance[low + kept] > 0]
            elif expansion.n_relevant is not None:
                topic = self.topic[low:high]
                matrix = ratio(matrix - expansion.value[:, topic], expansion.n_relevant[topic])
            yield low + kept, matrix[:, kept, np.newaxis] * self.step

    def terms(self, tunings: Floats, is_used: Bools) -> Iterator[tuple[Ints, Floats]]:
        """Yield documents, and the change of the runs with their residuals h - lambda j, (runs, documents, grades).

        There is a residual for each human grade, multiplied by the root of the probability of the grade: the sum of
        the squares of the changes is their expected square.
        """
        reaches = np.tri(len(self.grades), len(self.grades) - 1, -1)
        for docs, gradient in self.gradients(is_used):
            topic = self.topic[docs]
            residual = reaches - (tunings[topic, np.newaxis] * self.j[docs])[:, np.newaxis]
            residual *= np.sqrt(self.model.share[topic, self.model.group[docs]])[:, :, np.newaxis]
            yield docs, np.matmul(gradient.swapaxes(0, 1), residual.swapaxes(1, 2)).swapaxes(0, 1)

    def _covariance(self, tunings: Floats) -> tuple[Floats, Floats]:
        """Return the covariance of the sums over topics, and the degrees of freedom of its diagonal.

        It is expected under the model of the human grades (anticipated variance, Isaki and Fuller 1982). If the
        probabilities of all documents are known, the variance of every document counts; otherwise those of the
        sample, weighted by 1 / pi.
        """
        sample, expansion, n_runs = self.sample, self.expansion, self.shape[0]
        total, freedom = np.zeros((n_runs, n_runs)), np.full(n_runs, max(self.label_counts[0] - 1.0, 1.0))
        if not sample.is_labelled.any():
            return total + np.nan, freedom
        is_known = not np.isnan(sample.pi).any()
        is_used = np.ones(len(sample.pi), np.bool_) if is_known else sample.is_labelled
        with np.errstate(invalid="ignore"):
            factor = (1.0 / sample.pi - 1.0) if is_known else sample.inverse * (sample.inverse - 1.0)
        factor = np.maximum(np.nan_to_num(factor), 0.0)
        by_topic = np.zeros(self.shape)
        for docs, terms in self.terms(tunings, is_used):
            part = terms * np.sqrt(factor[docs])[:, np.newaxis]
            if isinstance(self.form, Precisions):
                np.add.at(by_topic.T, self.topic[docs], (part**2).sum(axis=2).T)
            flat = part.reshape(n_runs, -1)
            total += flat @ flat.T
        if expansion is None or expansion.n_relevant is None:
            return total, freedom
        # AP has products of two indicators. Both vary over samples, and each changes with the human label of the other,
        # except for the variance that the expected indicators have already, because they follow the labels.
        share, scaled = self.model.share[self.topic, self.model.group], tunings[self.topic] * self.j[:, 0]
        square = factor * (share[:, 0] * scaled**2 + share[:, 1] * (1.0 - scaled) ** 2)
        spread = expansion.spread * (1.0 - expansion.shrinkage**2 * (1.0 + factor))
        sampled, graded = square[self.judged.judgment], spread[self.judged.judgment]
        products = sampled * self._above(sampled + graded) + graded * self._above(sampled)
        products = ratio(self._sum_hits(self.hit_weight**2 * products), expansion.n_relevant**2)
        scale = np.maximum(1.0 + ratio(products.sum(axis=1), np.diag(total)), 0.5)
        # The variance of a topic is about proportional to 1 / n_relevant^2, whose error costs degrees of freedom
        # (Satterthwaite 1946); every topic has one at least.
        square = (by_topic + products) ** 2 * np.minimum(2.0 * expansion.error**2, 1.0)
        loss = ratio(square.sum(axis=1), (np.diag(total) * scale) ** 2)
        return total * np.sqrt(np.outer(scale, scale)), 1.0 / (1.0 / freedom + loss)
