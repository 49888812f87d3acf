"""Scores from machine labels, corrected with human labels of a random sample of documents."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any

from rankscope.analysis import stats
from rankscope.analysis.compare import Comparison, compare, select_pairs
from rankscope.analysis.judge_bias import RunBias, describe_bias, find_bias
from rankscope.analysis.leaderboard import Leaderboard, leaderboard
from rankscope.choices import TUNINGS, Tuning
from rankscope.declaration import Judgments, Level, Option, RunName, analysis
from rankscope.errors import InputError, SettingsError, check_name
from rankscope.lazy import numpy as np
from rankscope.result import TypedResult, table
from rankscope.rows import MeasuredPairRow, MeasuredRunRow, RowTable, column
from rankscope.tables import Table

if TYPE_CHECKING:
    from rankscope.analysis.corrected_values import Corrector
    from rankscope.analysis.label_sample import Labels
    from rankscope.arrays import Floats
    from rankscope.judging import Judged
    from rankscope.scores import Scores

Probability = Annotated["float | Mapping[str, Mapping[str, float]] | None", Option("P", parse=float)]

_MAX_PAIRS = 20  # Without a baseline, more pairs than this are in the exports only.
_DRAWS = 8  # of labels in the jackknife, whose noise cancels: all groups have the same ones
_GROUPS = 5  # Groups of topics of the jackknife; leaving out every single topic would cost too much.


class CorrectedMean(MeasuredRunRow):
    """Mean of a run under machine, human and corrected labels."""

    machine: float = column("mean under the labels of the machine")
    human: float = column("mean estimated from the human labels alone")
    corrected: float = column("mean under machine labels, corrected with the human ones")
    low: float = column("lower end of the interval over samples of labels, for these topics")
    high: float = column("upper end of the interval over samples of labels, for these topics")
    low_topics: float = column("lower end of the interval over samples of labels and topics")
    high_topics: float = column("upper end of the interval over samples of labels and topics")
    labels: int = column("human labels of documents that count for this run")
    plain: float = column("mean corrected with weight 1 of the machine's labels", spare=True)
    weight: float = column("weight of the machine's labels, averaged over topics", spare=True)
    jackknife: float | None = column("estimated bias of a fraction (jackknife); empty for sums", spare=True)


class CorrectedDifference(MeasuredPairRow):
    """Difference of two runs under machine and corrected labels."""

    machine: float = column("difference of the means under the labels of the machine")
    corrected: float = column("difference of the corrected means")
    low: float = column("lower end of the interval over samples of labels, for these topics")
    high: float = column("upper end of the interval over samples of labels, for these topics")
    low_topics: float = column("lower end of the interval over samples of labels and topics")
    high_topics: float = column("upper end of the interval over samples of labels and topics")


class Corrected(TypedResult):
    """Corrected means, differences of runs, and the bias of the machine for each run."""

    means: RowTable[CorrectedMean] = table("means of every run and measure")
    bias: RowTable[RunBias] = table("bias of the machine for each run")
    differences: RowTable[CorrectedDifference] = table("corrected differences of runs", main=False)
    scores: Any = None
    """Corrected values of every run and topic (:class:`~rankscope.scores.Scores`), which other analyses accept."""
    baseline: str | None = None

    @property
    def display(self) -> Sequence[Table]:
        """Means, bias, and the differences if they are few or there is a baseline."""
        few = self.baseline is not None or len(self.differences) <= _MAX_PAIRS
        return [self.means, *([self.differences] if few and len(self.differences) else []), self.bias]

    @property
    def flagged(self) -> list[str]:
        """Runs that the machine favours significantly."""
        return [row.run for row in self.bias if row.flagged]

    @cached_property
    def comparison(self) -> Comparison:
        """Tests of the corrected values of each topic: they include the errors of labels and of topics."""
        return compare(self.scores, self.baseline, alpha=self.settings["alpha"])

    @cached_property
    def leaderboard(self) -> Leaderboard:
        """Ranks by the corrected values, with intervals over labels and topics."""
        return leaderboard(self.scores, alpha=self.settings["alpha"])


@analysis(
    figures={"means": "correct.plot_corrected"},
    uses=("order", "missing"),
    measures=("nDCG@10", "P@10", "RBP"),
    needs_rankings=True,
)
def correct(
    scores: Scores,
    human: Judgments,
    *,
    pi: Probability = None,
    strata: Annotated[str | None, Option("NAMES")] = None,
    tuning: Tuning = "tuned",
    baseline: RunName | None = None,
    alpha: Level = 0.05,
) -> Corrected:
    """Correct scores from machine labels with human labels of a random sample of documents.

    Sums of gains (P, RBP, DCG) are corrected without bias, whatever the machine does: the value under machine labels
    plus, for each document of the sample, weight x (human gain - machine gain) / pi, where pi is the probability that
    the document was drawn. With tuning, the machine's gains are multiplied by the weight that minimises the variance
    on the other topics, so that a useless machine does no harm. Fractions (nDCG, R, Rprec) and AP are corrected
    approximately: the column ``jackknife`` has an estimate of the bias. AP sums over pairs of ranks, with their joint
    probability. All other measures are rejected.

    A warning says if the labels are too few for the level of the intervals: fewer than 30 that count for the runs, or
    fewer than 5 of them that differ from the machine's.

    Every mean has two intervals: over samples of labels, for these topics, and over samples of labels and topics.
    Differences of runs are paired by topics and labels. The table ``bias`` compares the machine's error on the
    documents of each run with its error on those of the others, and flags runs that it favours.

    Parameters
    ----------
    scores
        Scores under the labels of the machine.
    human
        Human labels of a random sample of documents; a fifth column has their inclusion probabilities. Merging of
        grades (``grades``) applies to the machine only: give human grades on the merged scale.
    pi
        Inclusion probability of the sample, if the labels have no probabilities.
    strata
        Compute the probabilities as the labelled share of each stratum; some of topic, band (of ranks: 1-10, 11-30,
        31-100, others) and grade (of the machine), separated by commas.
    tuning
        Weight of the machine's labels: tuned to minimise the variance, or 1 (plain).
    baseline
        Run to compare with (default: all pairs).
    alpha
        Significance level; intervals have confidence 1 - alpha.

    Returns
    -------
    Corrected
        Tables ``means``, ``bias`` and ``differences``; ``scores`` for other analyses, ``comparison`` and
        ``leaderboard`` with the results of :func:`~rankscope.compare` and :func:`~rankscope.leaderboard`.

    References
    ----------
    Horvitz and Thompson 1952; Aslam, Pavlu and Yilmaz 2006; Angelopoulos et al. 2023; Holm 1979.

    Commands
    --------
    rankscope correct machine.qrels runs/ --human sample.qrels -m "P@10 nDCG@10"
    rankscope correct machine.qrels runs/ --human sample.qrels --pi 0.1 --baseline bm25
    rankscope correct machine.qrels runs/ --human sample.qrels --strata topic,grade

    Examples
    --------
    >>> import rankscope as rs
    >>> machine = {"q": {"a": 1, "b": 1, "c": 0}}
    >>> scores = rs.evaluate(machine, {"x": {"q": ["a", "b"]}, "y": {"q": ["c", "a"]}}, "P@2")
    >>> result = rs.correct(scores, {"q": {"b": 0}}, pi=0.5)
    >>> [(row.run, row.machine, row.corrected) for row in result.means]
    [('y', 0.5, 0.5), ('x', 1.0, 0.0)]
    """
    from rankscope.analysis.corrected_values import Corrector
    from rankscope.analysis.label_sample import align, read_labels

    stats.check_level(alpha)
    check_name(tuning, TUNINGS, f"no tuning is called {tuning!r}")
    first, second = select_pairs(scores.runs, () if baseline is None else (baseline,))
    if pi is not None and strata is not None:
        raise SettingsError("both pi and strata are given", hint="leave one of them out")
    labels = read_labels(human)
    judged = _judge_both(scores, labels)
    sample = align(judged, labels, pi, strata)
    weight = 1.0 if tuning == "plain" else None
    means: list[CorrectedMean] = []
    differences: list[CorrectedDifference] = []
    values: list[Floats] = []
    for index, measure in enumerate(scores.measures):
        corrector = Corrector(judged, sample, measure)
        human_only = Corrector(judged, sample._replace(is_human_only=True), measure)
        _warn_if_rough(corrector)
        estimate, is_defined = corrector.correct(weight), np.isfinite(scores.values[index])
        by_topic = np.where(is_defined, estimate.values, np.nan)
        others = human_only.correct_values(), corrector.correct_values(1.0)
        own, human_mean, plain = (_mean(each, is_defined) for each in (estimate.values, *others))
        n_topics, quantile = np.maximum(is_defined.sum(axis=1), 1), estimate.quantile(alpha)
        covariance = estimate.covariance / np.outer(n_topics, n_topics)
        variance, machine = np.diag(covariance), scores.mean(measure)
        half = quantile * np.sqrt(variance)
        is_counted = sample.is_labelled[judged.judgment] & (corrector.hit_weight > 0)
        n_labels = np.bincount(corrector.owner[is_counted] // corrector.shape[1], minlength=len(own))
        bias = _jackknife(corrector, is_defined, weight) if corrector.is_fraction else [None] * len(own)
        tunings = np.full(len(own), estimate.tuning.mean())
        over_topics = stats.t_intervals(by_topic, alpha)
        columns = machine, human_mean, own, own - half, own + half, *over_topics, n_labels, plain, tunings
        rows = list(zip(*(each.tolist() for each in columns), bias, strict=True))
        means += [CorrectedMean(scores.runs[r], str(measure), *rows[r]) for r in measure.best_first(own)]
        total = variance[first] + variance[second]
        square = total - 2 * covariance[first, second]
        square = np.where(square > 1e-12 * total, square, 0.0 * total)  # Equal runs vary by rounding only.
        half = np.maximum(quantile[first], quantile[second]) * np.sqrt(square)
        gap = own[first] - own[second]
        blocks = np.array_split(np.arange(len(first)), len(first) // 4096 + 1)  # They fit into memory.
        ends = [stats.t_intervals(by_topic[first[b]] - by_topic[second[b]], alpha) for b in blocks]
        gaps = machine[first] - machine[second], gap, gap - half, gap + half, *np.concatenate(ends, axis=1)
        for a, b, *row in zip(*(each.tolist() for each in (first, second, *gaps)), strict=True):
            differences.append(CorrectedDifference(scores.runs[a], scores.runs[b], str(measure), *row))
        values.append(by_topic)
    hit_weight = Corrector(judged, sample, scores.measures[0]).hit_weight
    bias_rows = find_bias(judged, hit_weight, sample.machine, sample.human, sample.inverse, alpha)
    settings = {
        **scores.settings, "human": str(human) if isinstance(human, str) else "labels", "strata": strata,
        "pi": pi if isinstance(pi, float | int) else None, "labels": int(sample.is_labelled.sum()),
        "documents": len(sample.pi), "tuning": tuning, "baseline": baseline, "alpha": alpha,
    }  # fmt: skip
    share = settings["labels"] / max(settings["documents"], 1)
    labelled = f"{settings['labels']:,} human labels ({share:.1%} of the documents)"
    caption = f"Means under machine labels, corrected with {labelled}"
    method = f"ranks weighted as by {scores.measures[0]}; t, Holm"
    unbiased = f"The labels do not show that the machine favours a run ({method})"
    return Corrected(
        means=CorrectedMean.table("means", means, caption=caption, legend=_LEGEND),
        bias=RunBias.table("bias", bias_rows, caption=describe_bias("The machine", bias_rows) or unbiased),
        differences=CorrectedDifference.table("differences", differences, caption="Differences a - b"),
        scores=replace(
            scores, values=np.array(values), judged=None, uncertainty=None, collection=None,
            settings={**settings, "measures": [str(m) for m in scores.measures]},
        ),
        baseline=baseline,
        settings=settings,
    )  # fmt: skip


_LEGEND = "low, high: interval over labels, for these topics; low_topics, high_topics: over labels and topics"


def _judge_both(scores: Scores, labels: Labels) -> Judged:
    """Return the rankings with the documents of both judges; runs are read again if the human has further ones."""
    from rankscope.analysis.next_judgments import with_labels
    from rankscope.judging import judge
    from rankscope.read import open_collection

    judged = scores.require_judged("correct")
    qrels = judged.qrels
    unknown = [topic for topic in labels if topic not in qrels.topic_index and topic not in qrels.unchosen]
    if unknown:
        problem = f"topic {unknown[0]!r} of the human labels has no machine labels"
        raise InputError(problem, hint="label documents of topics that the machine judged")
    known = {topic: qrels.document_numbers(topic) for topic in labels if topic in qrels.topic_index}
    new = {(t, doc): 0 for t, numbers in known.items() for doc in labels[t].keys() - numbers.keys()}
    if not new:
        return judged
    if qrels.aspects is not None:
        raise InputError("the machine judges aspects", hint="give one grade for a document")
    return judge(*open_collection(with_labels(qrels, new), scores.require_collection("correct").runs))


def _mean(values: Floats, is_defined: Any) -> Floats:
    """Return the mean of each run over the topics on which it is defined."""
    return np.asarray(np.where(is_defined, values, 0.0).sum(axis=1) / np.maximum(is_defined.sum(axis=1), 1))


def _warn_if_rough(corrector: Corrector) -> None:
    labels, differing = corrector.label_counts
    cause = ""
    if corrector.is_rough:
        cause = f"{labels} human labels count, {differing} of them differ from the machine's; label more documents"
    elif corrector.is_certain and labels and (missing := int(corrector.is_counted.sum()) - labels):
        cause = (
            f"all probabilities are 1, but {missing} documents that count have no label; give the sample's"
        )
    if cause:
        warnings.warn(f"{corrector.measure}: the intervals over labels are rough: {cause}", stacklevel=4)


def _jackknife(corrector: Corrector, is_defined: Any, weight: float | None) -> list[float]:
    """Return the bias of the mean of each run, estimated by leaving out groups of topics.

    Topics share the predicted counts and the weight of the machine's labels, which depend on all of them.
    """
    n_topics = corrector.shape[1]
    n_groups = min(_GROUPS, n_topics)
    if n_groups < 2:
        return [float("nan")] * corrector.shape[0]
    group = np.arange(n_topics) % n_groups
    whole, *parts = (
        _mean(corrector.restrict(group != g, _DRAWS).correct_values(weight), is_defined & (group != g))
        for g in range(-1, n_groups)
    )
    return list(((n_groups - 1) * (np.mean(parts, axis=0) - whole)).tolist())
