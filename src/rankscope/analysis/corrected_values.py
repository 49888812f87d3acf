"""Values of measures from machine labels for all documents and human labels for a random sample of them.

A measure is a function of the indicators [grade >= g] of the documents of a topic. The corrected indicator of a
document is j + s (h - j) / pi, where j and h are those of the machine and the human, and s says whether the document
is in the sample; with a weight lambda, lambda j replaces j. Its expectation is h, whatever the machine says. Sums of
gains with fixed weights are linear in the indicators, so their corrected values are exactly unbiased. A fraction is
expanded around an estimate of its denominator, which leaves a bias of the second order.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from rankscope.analysis.label_sample import LabelSample
from rankscope.arrays import AnyArray, Bools, Floats, Ints
from rankscope.certainty.declared import declared_form
from rankscope.errors import MeasureError
from rankscope.judging import Judged
from rankscope.measures import Measure
from rankscope.measures.forms import Counted, Precisions, ShareOfIdeal, Weighted

_PRIOR = 2.0
"""Labels that the moments of all documents count for in each group of documents, so that small groups have some."""
_PSEUDO_ERRORS = 2.0
"""Errors of one grade that join the observed ones: with few labels, all of them may be correct by chance.

Agresti and Coull (1998) add as many to intervals of shares.
"""
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


class _Expansion(NamedTuple):
    """Denominator of each topic, and how it and the values depend on the number of documents of each grade."""

    counts: Floats
    """Estimated numbers of documents with grade g or better, (topics, grades)."""
    denominator: Floats
    slope: Floats
    """Change of the denominator with the counts, (topics, grades)."""
    quotient: Floats
    """Approximate value of each run and topic."""
    shift: Floats
    """Change of the numerator with the count of relevant documents, which R-precision has, (runs, topics)."""


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
    """

    def __init__(self, judged: Judged, sample: LabelSample, measure: Measure) -> None:
        form = declared_form(measure)
        is_known = isinstance(form, Weighted | Counted | Precisions) and not measure.needs_aspects
        if not is_known or measure.summary != "mean" or measure.better != "higher":
            raise MeasureError(
                f"{measure} cannot be corrected from a sample of labels",
                hint="use sums of gains (P, RBP, DCG), fractions of them (nDCG, R, Rprec) or AP",
            )
        self.judged, self.sample, self.measure, self.form = judged, sample, measure, form
        self.shape = len(judged.runs), len(judged.topics)
        self.owner = judged.arrays.owner
        self.topic = np.repeat(np.arange(self.shape[1]), np.diff(judged.qrels.topic_offsets))
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
        self.j, self.h = (
            (grade[:, np.newaxis] >= self.grades[1:]).astype(np.float64)
            for grade in (sample.machine, sample.human)
        )

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
        return self._sum_by(self.judged.judgment, self.hit_weight**2, len(self.topic))

    @staticmethod
    def _sum_by(index: AnyArray, terms: AnyArray, size: int) -> Floats:
        return np.bincount(index, terms, minlength=size).astype(np.float64, copy=False)

    def _sum_hits(self, terms: Floats) -> Floats:
        return self._sum_by(self.owner, terms, len(self.judged.length)).reshape(self.shape)

    def _sum_topics(self, x: Floats) -> Floats:
        """Return the sums over the documents of each topic, (topics, grades)."""
        return np.stack([np.bincount(self.topic, column, minlength=self.shape[1]) for column in x.T], axis=1)

    def _above(self, terms: Floats) -> Floats:
        """Return the sum of the terms of the hits above each hit of the same list."""
        total = np.concatenate([[0.0], np.cumsum(terms)])
        return np.asarray(total[:-1] - total[self.judged.offsets[self.owner]])

    # Estimates ----------------------------------------------------------------------------------------------------

    def correct(self, tuning: float | None, *, is_human_only: bool = False) -> Estimate:
        """Return the corrected values; without ``tuning``, with the weights that minimise the variance.

        The weight of a topic is computed from the labels of the other topics, so that it does not depend on its own.
        """
        group = self._groups(is_human_only)
        expansion = self._expand(group) if self.is_fraction else None
        tunings = self._tune(expansion) if tuning is None else np.full(self.shape[1], tuning)
        return Estimate(
            self._values(tunings, expansion), self._covariance(tunings, expansion, group), tunings
        )

    def correct_values(self, tuning: float | None, is_kept: Bools | None = None) -> Floats:
        """Return the corrected values alone; labels of topics that are not ``is_kept`` are not used."""
        if is_kept is not None:
            is_labelled = self.sample.is_labelled & is_kept[self.topic]
            return Corrector(
                self.judged, self.sample._replace(is_labelled=is_labelled), self.measure
            ).correct_values(tuning)
        expansion = self._expand(self._groups(False)) if self.is_fraction else None
        tunings = self._tune(expansion) if tuning is None else np.full(self.shape[1], tuning)
        return self._values(tunings, expansion)

    def _corrected(self, tunings: Floats) -> Floats:
        """Return the corrected indicators, (documents, grades)."""
        scaled = tunings[self.topic, np.newaxis] * self.j
        return scaled + self.sample.inverse[:, np.newaxis] * (self.h - scaled)

    def _values(self, tunings: Floats, expansion: _Expansion | None) -> Floats:
        x = self._corrected(tunings)
        if expansion is None:
            return self._numerator(x)
        numerator = self._numerator(x, expansion.counts)
        change = ((self._sum_topics(x) - expansion.counts) * expansion.slope).sum(axis=1)
        shift = expansion.shift * (self._sum_topics(x) - expansion.counts)[:, 0]
        return self._divide(numerator + shift - expansion.quotient * change, expansion.denominator)

    @staticmethod
    def _divide(numerator: Floats, denominator: Floats) -> Floats:
        out = np.zeros(np.broadcast_shapes(numerator.shape, denominator.shape))
        return np.divide(numerator, denominator, out=out, where=denominator > 0)

    def _numerator(self, x: Floats, counts: Floats | None = None) -> Floats:
        gain = (x @ self.step)[self.judged.judgment]
        if isinstance(self.form, Precisions):
            return self._sum_hits(self.hit_weight * gain * (1.0 + self._above(gain)))
        weight = self.hit_weight
        if isinstance(self.form, Counted) and counts is not None:
            depth = self._depth(self.form, counts)[self.owner % self.shape[1]]
            weight = np.clip(depth - self.judged.rank + 1.0, 0.0, 1.0)  # The depth may be between two ranks.
        return self._sum_hits(weight * gain)

    @staticmethod
    def _depth(form: Counted, counts: Any) -> Floats:
        return np.asarray(form.depth(counts[:, 0]), np.float64)

    def _denominator(self, counts: Floats) -> Floats:
        if not isinstance(self.form, ShareOfIdeal):
            return counts[:, 0]
        last = int(np.ceil(counts.max(initial=0.0))) + 1
        weights = self.form.weights(self.measure, np.arange(1, last + 1))
        total = np.concatenate([[0.0], np.cumsum(weights)])
        return np.asarray(np.interp(counts, np.arange(last + 1), total) @ self.step)

    def _groups(self, is_human_only: bool) -> Ints:
        """Return the group of each document: by machine grade and by its weight in the runs."""
        weight = self.importance
        positive = weight[weight > 0]
        band = np.searchsorted(np.quantile(positive, _BANDS), weight, side="left") + 1 if len(positive) else 0
        band = np.where(weight > 0, band, 0)
        grade = 0 if is_human_only else np.searchsorted(self.grades, self.sample.machine, side="right")
        return np.unique(band + 8 * np.asarray(grade), return_inverse=True)[1].reshape(-1) + 0 * band

    def _group_means(self, terms: Floats, group: Ints, pseudo: Floats | float = 0.0) -> Floats:
        """Return the mean of terms (documents, ...) of each group, estimated from the sample.

        ``pseudo`` is added to the sum of the terms over all labels.
        """
        is_in = self.sample.is_labelled
        inverse = self.sample.inverse[is_in]
        flat = terms[is_in].reshape(len(inverse), int(np.prod(terms.shape[1:])))
        overall = inverse @ flat / max(inverse.sum(), 1e-300) + np.ravel(pseudo) / max(len(inverse), 1)
        n_groups = int(group.max(initial=0)) + 1
        prior = _PRIOR * (inverse.mean() if len(inverse) else 1.0)
        sums = np.stack([np.bincount(group[is_in], inverse * c, minlength=n_groups) for c in flat.T], axis=1)
        sizes = np.bincount(group[is_in], inverse, minlength=n_groups)[:, np.newaxis]
        sums = sums + sizes * np.ravel(pseudo) / max(len(inverse), 1)
        return np.asarray((sums + prior * overall) / (sizes + prior)).reshape(n_groups, *terms.shape[1:])

    def _expand(self, group: Ints) -> _Expansion:
        """Return the point around which fractions are expanded.

        The counts of a topic lie between those that the groups of its documents predict and those that its own labels
        estimate, the closer to the latter the smaller their sampling variance is against the error of the prediction.
        """
        predicted = self._group_means(self.h, group)[group]
        is_certain = self.sample.is_labelled & (self.sample.pi >= 1)
        predicted = np.where(is_certain[:, np.newaxis], self.h, predicted)
        prior = self._sum_topics(predicted)
        residual = self.h - predicted
        own = prior + self._sum_topics(self.sample.inverse[:, np.newaxis] * residual)
        factor = self.sample.inverse * np.maximum(self.sample.inverse - 1, 0)
        variance = self._sum_topics(factor[:, np.newaxis] * residual**2).mean(axis=0)
        spread = np.maximum(((own - prior) ** 2).mean(axis=0) - variance, 0.0)
        share = np.where(variance > 0, spread / np.maximum(spread + variance, 1e-300), 1.0)
        counts = np.maximum(prior + share * (own - prior), 0.25 * prior)
        complete = self._is_complete[:, np.newaxis]
        counts = np.where(complete, own, counts)
        counts = np.minimum.accumulate(counts, axis=1)
        denominator = self._denominator(counts)
        slope = np.stack(
            [
                self._denominator(counts + 0.5 * unit)
                - self._denominator(np.maximum(counts - 0.5 * unit, 0.0))
                for unit in np.eye(counts.shape[1])
            ],
            axis=1,
        )
        numerator = self._numerator(predicted, counts)
        shift = np.zeros(self.shape)
        if isinstance(self.form, Counted):
            shift = self._numerator(predicted, counts + 0.5) - self._numerator(predicted, counts - 0.5)
        return _Expansion(counts, denominator, slope, self._divide(numerator, denominator), shift)

    @cached_property
    def _is_complete(self) -> Bools:
        """Whether all documents of a topic are labelled with certainty."""
        is_certain = self.sample.is_labelled & (self.sample.pi >= 1)
        return np.asarray(self._sum_by(self.topic, ~is_certain, self.shape[1]) == 0)

    # Variances ----------------------------------------------------------------------------------------------------

    def _tune(self, expansion: _Expansion | None) -> Floats:
        """Return the weight of the machine's labels on each topic that minimises the variance on the other topics."""
        n_topics = self.shape[1]
        product, square = np.zeros(n_topics), np.zeros(n_topics)
        factor = self.sample.inverse * np.maximum(self.sample.inverse - 1, 0)
        for t, docs, weight, count in self._coefficients(expansion, self.sample.is_labelled):
            h, j = (
                weight * (x[docs] @ self.step) - count * (x[docs] @ self._slope(expansion, t))
                for x in (self.h, self.j)
            )
            product[t], square[t] = ((h * j) @ factor[docs]).sum(), ((j * j) @ factor[docs]).sum()
        others = square.sum() - square
        is_known = others > 1e-9 * max(square.sum(), 1e-300)
        tuned = np.divide(product.sum() - product, others, out=np.ones(n_topics), where=is_known)
        return np.asarray(np.maximum(tuned, 0.0))

    def _slope(self, expansion: _Expansion | None, topic: int) -> Floats:
        return np.zeros(len(self.step)) if expansion is None else expansion.slope[topic]

    def _coefficients(
        self, expansion: _Expansion | None, is_used: Bools
    ) -> Iterator[tuple[int, Ints, Floats, Floats]]:
        """Yield for every topic documents, and the influence of their gains and counts on the runs.

        The influence of gains has the shape (runs, documents), that of counts (runs, 1).
        """
        n_runs, n_topics = self.shape
        offsets, hits = self.judged.qrels.topic_offsets, self.judged.offsets
        weight = self._gradient(expansion)
        lists = np.arange(n_runs) * n_topics
        for t in range(n_topics):
            low, high = int(offsets[t]), int(offsets[t + 1])
            matrix = np.zeros((n_runs, high - low))
            size = hits[lists + t + 1] - hits[lists + t]
            at = np.repeat(hits[lists + t] - np.cumsum(size) + size, size) + np.arange(size.sum())
            matrix[np.repeat(np.arange(n_runs), size), self.judged.judgment[at] - low] = weight[at]
            count = np.zeros((n_runs, 1))
            is_kept = is_used[low:high]
            if expansion is not None:
                denominator = expansion.denominator[t]
                matrix = self._divide(matrix, np.asarray(denominator))
                count = self._divide(
                    (expansion.quotient - expansion.shift)[:, t : t + 1], np.asarray(denominator)
                )
            else:
                is_kept = is_kept & (self.importance[low:high] > 0)
            kept = np.flatnonzero(is_kept)
            yield t, low + kept, matrix[:, kept], count

    def _gradient(self, expansion: _Expansion | None) -> Floats:
        """Return the change of the numerator with the gain of each hit."""
        if isinstance(self.form, Counted) and expansion is not None:
            depth = self._depth(self.form, expansion.counts)[self.owner % self.shape[1]]
            return np.asarray(np.clip(depth - self.judged.rank + 1.0, 0.0, 1.0))
        if not isinstance(self.form, Precisions) or expansion is None:
            return self.hit_weight
        gain = (self._group_means(self.h, self._groups(False))[self._groups(False)] @ self.step)[
            self.judged.judgment
        ]
        terms = self.hit_weight * gain
        total = np.bincount(self.owner, terms, minlength=len(self.judged.length))[self.owner]
        return self.hit_weight * (1.0 + self._above(gain)) + total - self._above(terms) - terms

    def _covariance(self, tunings: Floats, expansion: _Expansion | None, group: Ints) -> Floats:
        """Return the covariance of the sums over topics, from pooled second moments of the residuals.

        If the probabilities of all documents are known, the variance of every document counts; otherwise those of
        the sample, weighted by 1 / pi.
        """
        sample = self.sample
        residual = self.h - tunings[self.topic, np.newaxis] * self.j
        is_active = self.step != 0
        pseudo = np.diag(_PSEUDO_ERRORS * is_active / max(is_active.sum(), 1))
        moments = self._group_means(residual[:, :, np.newaxis] * residual[:, np.newaxis, :], group, pseudo)
        value, vector = np.linalg.eigh(moments)
        root = vector * np.sqrt(np.maximum(value, 0.0))[:, np.newaxis, :]
        is_known = not np.isnan(sample.pi).any()
        is_used = np.ones(len(sample.pi), np.bool_) if is_known else sample.is_labelled
        with np.errstate(invalid="ignore"):
            factor = (1.0 / sample.pi - 1.0) if is_known else sample.inverse * (sample.inverse - 1.0)
        total = np.zeros((self.shape[0], self.shape[0]))
        if not sample.is_labelled.any():
            return total + np.nan
        for t, docs, weight, count in self._coefficients(expansion, is_used):
            scale = np.sqrt(np.maximum(factor[docs], 0.0))[:, np.newaxis]
            gain = scale * np.einsum("g,dgk->dk", self.step, root[group[docs]])
            counted = scale * np.einsum("g,dgk->dk", self._slope(expansion, t), root[group[docs]])
            for k in range(gain.shape[1]):
                part = weight * gain[:, k] - count * counted[:, k]
                total += part @ part.T
        if isinstance(self.form, Precisions) and expansion is not None:
            # Products of the indicators of two documents also have the product of their variances.
            document = np.nan_to_num(factor) * moments[group, 0, 0]
            variance = document[self.judged.judgment]
            terms = self._sum_hits(self.hit_weight**2 * variance * self._above(variance))
            total += np.diag(self._divide(terms, expansion.denominator**2).sum(axis=1))
        return total
