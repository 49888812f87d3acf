"""Significance tests for many pairs of runs at once, and corrections for multiple tests.

Scores are a matrix runs x topics without NaN; pairs are two index arrays. A test returns a
:class:`PairTests`: per pair the p-value and a confidence interval for the mean difference. Runs that are identical
on every topic have p = 1 in every test.
"""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from math import ceil

import numpy as np

from rankscope.analysis.stats.bootstrap import bootstrap_max_t, bootstrap_pairs, resample
from rankscope.analysis.stats.matrices import rounded
from rankscope.analysis.stats.max_t import Flips, StepDown, flip_pairs
from rankscope.analysis.stats.randomisation import EXACT_UP_TO, exact_randomisation
from rankscope.analysis.stats.randomness import generator, streams
from rankscope.analysis.stats.weighting import contributions, degrees_of_freedom, linearise
from rankscope.analysis.stats.wilcoxon import wilcoxon_p
from rankscope.arrays import Bools, Floats, Indices, Ints
from rankscope.choices import CORRECTIONS, TESTS
from rankscope.engines import run_pieces
from rankscope.errors import SettingsError, check_name
from rankscope.progress import advance, progress

_Pairs = tuple[Floats, Indices, Indices]
"""Values (runs, topics), and the runs of each pair."""

REPLICATES = {"randomisation": 10_000, "bootstrap": 1000, "tukey": 5000}
TEST_NAMES = {
    "t": "paired t test",
    "normal": "normal test",
    "wilcoxon": "Wilcoxon's signed-rank test",
    "randomisation": "paired randomisation test",
    "bootstrap": "paired bootstrap test",
    "tukey": "randomised Tukey HSD",
}
_CORRECTION_NAMES = {
    "max-t": "step-down max-T correction",
    "holm": "Holm's correction",
    "bonferroni": "Bonferroni's correction",
    "bh": "Benjamini-Hochberg correction",
    "none": "no correction",
}


def correction_for(test: str, correction: str | None = None) -> str:
    """Return the correction of a test, by default step-down max-T for resampling tests and Holm's for others.

    >>> correction_for("randomisation"), correction_for("t"), correction_for("tukey", "holm")
    ('max-t', 'holm', 'none')
    """
    if correction is not None:
        check_name(correction, CORRECTIONS, f"no correction is called {correction!r}")
    if test == "tukey":  # its p-values are adjusted already
        return "none"
    resampling = test in ("randomisation", "bootstrap")
    if correction == "max-t" and not resampling:
        hint = "choose randomisation or bootstrap, or holm"
        raise SettingsError(f"max-t corrects tests by resampling, not {test!r}", hint=hint)
    return correction or ("max-t" if resampling else "holm")


def procedure(test: str, correction: str, alpha: float) -> str:
    """Return the name of the test and its correction for the titles of tables.

    >>> procedure("t", "holm", 0.05), procedure("tukey", "none", 0.01)
    ("paired t test, Holm's correction, level .05", 'randomised Tukey HSD, level .01')
    """
    corrected = "" if test == "tukey" else f", {_CORRECTION_NAMES[correction]}"  # Tukey's is adjusted already
    return f"{TEST_NAMES[test]}{corrected}, level {f'{alpha:g}'.removeprefix('0')}"


_PAIRS_AT_ONCE = 4096
_DIFFERENCES_AT_ONCE = 2**21  # pairs x topics, where there are many topics
_REPLICATES_IN_PIECE = 100  # each piece has its own random stream, so the number of jobs changes nothing
_NEGLIGIBLE = 1e-12


@dataclass(frozen=True, eq=False)
class PairTests:
    """Per pair: mean difference (first minus second), p-values, confidence interval, and critical difference.

    ``half`` is half the width of the interval around the difference. ``delta`` is the absolute difference of means
    from which on this pair would be significant at alpha (NaN for Wilcoxon, whose statistic is not a mean, for the
    randomisation test, which uses only the observed differences, and with max-T). ``adjusted`` are the
    p-values corrected for the number of pairs. ``simultaneous``: all intervals together hold the true differences
    with 1 - alpha; otherwise each does so by itself.
    """

    difference: Floats
    p: Floats
    half: Floats
    delta: Floats
    adjusted: Floats
    simultaneous: bool = False

    @property
    def low(self) -> Floats:
        """Lower ends of the intervals."""
        return self.difference - self.half

    @property
    def high(self) -> Floats:
        """Upper ends of the intervals."""
        return self.difference + self.half


def all_pairs(runs: int) -> tuple[Indices, Indices]:
    """Return every pair of runs once: ``runs (runs - 1) / 2`` of them.

    >>> len(all_pairs(61)[0])
    1830
    """
    first, second = np.triu_indices(runs, 1)
    return first, second


def run_test(
    test: str,
    values: Floats,
    first: Indices,
    second: Indices,
    *,
    correction: str | None = "none",
    alpha: float = 0.05,
    replicates: int | None = None,
    seed: int = 1,
    weights: Floats | None = None,
) -> PairTests:
    """Run one of :data:`TESTS` on every pair, and correct the p-values for the number of pairs.

    ``correction`` is one of :data:`CORRECTIONS`, or None for that of the test (:func:`correction_for`). Warns if no
    pair can be significant, however large its difference is. The engine and the jobs are those of
    :func:`~rankscope.engines.using`, and change no number.

    With ``weights`` of the topics, t and the bootstrap test linearised weighted means, randomisation and Tukey HSD the
    weighted contributions of the topics (:mod:`~rankscope.analysis.stats.weighting`). Wilcoxon's test has no weights.
    """
    check_name(test, TESTS, f"no test is called {test!r}")
    if not 0 < alpha < 1:
        raise SettingsError(f"alpha is {alpha}", hint="give a level between 0 and 1 such as 0.05")
    if weights is not None and test == "wilcoxon":
        hint = "choose t, randomisation, bootstrap or tukey"
        raise SettingsError("Wilcoxon's test ranks topics, and does not test a weighted mean", hint=hint)
    correction = correction_for(test, correction)
    replicates = REPLICATES.get(test, 1) if replicates is None else replicates
    if test in REPLICATES and replicates < 1:
        raise SettingsError(f"{replicates} replicates", hint=f"give at least 1, usually {REPLICATES[test]}")
    if correction != "none":
        _warn_if_hopeless(test, correction, values.shape[1], len(first), replicates, alpha)
    pairs = linearise(values, weights), first, second
    freedom = (
        float(degrees_of_freedom(values[:1], weights)[0]) if len(values) and weights is not None else None
    )
    if test == "t":
        outcome = paired_t(*pairs, alpha=alpha, freedom=freedom)
    elif test == "wilcoxon":
        outcome = _wilcoxon(*pairs, alpha)
    elif test == "tukey":
        weighted = contributions(values, weights)
        outcome = tukey_hsd(weighted, first, second, alpha=alpha, replicates=replicates, seed=seed)
    elif test == "randomisation":
        outcome = _randomisation(
            pairs, alpha, Flips(values.shape[1], replicates, seed), correction == "max-t",
            (contributions(values, weights), first, second), freedom,
        )  # fmt: skip
    elif correction == "max-t":
        outcome = _max_t(pairs, bootstrap_max_t(*pairs, resample(values.shape[1], replicates, seed)), alpha)
    else:
        outcome = _bootstrap(pairs, alpha, resample(values.shape[1], replicates, seed))
    if correction in ("none", "max-t"):
        return outcome
    # A single pair has one interval, which is that of its test, unless it is borrowed from Student.
    alone = len(first) == 1 and test in ("t", "bootstrap")
    return replace(outcome, adjusted=adjust(outcome.p, correction), simultaneous=alone)


def _warn_if_hopeless(
    test: str, correction: str, topics: int, pairs: int, replicates: int, alpha: float
) -> None:
    """Warn if no adjusted p-value can be below alpha with these numbers of pairs, topics and replicates."""
    min_sampled_p = 1 / (replicates + 1)
    if test == "randomisation":
        exact = Flips(topics, replicates, 0).every if correction == "max-t" else topics <= EXACT_UP_TO
        min_p = 2.0 ** (1 - topics) if exact else min_sampled_p
    else:
        min_p = {"t": 0.0, "wilcoxon": 2.0 ** (1 - topics)}.get(test, min_sampled_p)
    times = pairs if correction in ("holm", "bonferroni") else 1
    if min_p * times >= alpha:
        cause = f"{replicates:,} replicates" if min_p == min_sampled_p else f"{topics} topics"
        remedy = (
            "max-t" if times > 1 and min_p < alpha and min_p == min_sampled_p else "more " + cause.split()[1]
        )
        warnings.warn(
            f"no pair can be significant: with {cause} and {pairs:,} pairs the smallest adjusted p is"
            f" {min(1.0, min_p * times):.2g} ({TEST_NAMES[test]}, {_CORRECTION_NAMES[correction]}); use {remedy}",
            stacklevel=3,
        )


def paired_t(
    values: Floats,
    first: Indices,
    second: Indices,
    *,
    alpha: float | Floats = 0.05,
    freedom: float | None = None,
) -> PairTests:
    """Run Student's paired t test, two-sided: t = mean(z) / (sd(z)/sqrt(n)), by default with n - 1 degrees of freedom.

    A constant difference has p = 0; a single topic leaves p undefined unless the runs are identical there.

    >>> values = np.array([[0.4, 0.5, 0.7], [0.1, 0.3, 0.6]])
    >>> float(paired_t(values, np.array([0]), np.array([1])).p[0].round(6))
    0.07418
    """
    from scipy.special import stdtr, stdtrit

    topics = values.shape[1]
    freedom = topics - 1 if freedom is None else freedom
    mean, error = _mean_and_error(values, first, second)
    if topics < 2:
        undefined, p = np.full(len(mean), np.nan), np.where(mean == 0, 1.0, np.nan)
        return PairTests(mean, p, undefined, undefined, p)
    p = np.empty(len(mean))
    for block in _blocks(len(mean), topics):
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.abs(mean[block]) / error[block]
        p[block] = np.where(np.isnan(t), 1.0, 2 * stdtr(freedom, -t))
    delta = stdtrit(freedom, 1 - alpha / 2) * error
    return PairTests(mean, p, delta, delta, p, len(p) == 1)


def one_sample_t(values: Floats, weights: Floats | None = None, alpha: float | Floats = 0.05) -> PairTests:
    """Run Student's t test that the mean of each row is 0, two-sided, with weights of the topics.

    >>> one_sample_t(np.array([[0.3, 0.2, 0.1]])).p.round(5).tolist()
    [0.07418]
    """
    rows = np.arange(len(values))
    against_zero = np.vstack([linearise(values, weights), np.zeros((1, values.shape[1]))])
    freedom = float(degrees_of_freedom(values[:1], weights)[0])
    return paired_t(against_zero, rows, np.full(len(rows), len(rows)), alpha=alpha, freedom=freedom)


def tukey_hsd(
    values: Floats,
    first: Indices,
    second: Indices,
    *,
    alpha: float = 0.05,
    replicates: int = 5000,
    seed: int = 1,
) -> PairTests:
    """Run the randomised Tukey HSD test (Carterette 2012) on all pairs at once; p needs no further correction.

    Each replicate shuffles the scores of every topic over the runs and takes the range of the runs' means;
    p = (1 + reached) / (1 + replicates), where a range reaches the absolute difference of the pair or is wider.

    >>> values = np.array([[9, 8, 9, 7, 8, 6], [2, 1, 1, 2, 1, 0], [1, 1, 2, 2, 1, 1]]) / 10
    >>> first, second = all_pairs(3)
    >>> [p < 0.05 for p in tukey_hsd(values, first, second, replicates=500).p.tolist()]
    [True, True, False]
    """
    pieces = -(-replicates // _REPLICATES_IN_PIECE)
    sizes = [min(_REPLICATES_IN_PIECE, replicates - k * _REPLICATES_IN_PIECE) for k in range(pieces)]
    shuffle = partial(_shuffled_ranges, np.ascontiguousarray(values.T))
    ranges = run_pieces(shuffle, list(zip(streams(seed, pieces), sizes, strict=True)), label="Tukey HSD")
    ordered = np.sort(np.concatenate(ranges))
    mean, _ = _mean_and_error(values, first, second)
    # a range equal to the difference counts, also when rounding makes it a little smaller
    reached = np.abs(mean) * (1 - 1e-9)
    p = (1 + replicates - np.searchsorted(ordered, reached, side="left")) / (1 + replicates)
    p = np.where(mean == 0, 1.0, p)
    rank = ceil(alpha * (1 + replicates) - 1e-9) - 1
    delta = np.broadcast_to(ordered[replicates - rank] if rank else np.inf, mean.shape)
    return PairTests(mean, p, delta, delta, p, True)


def _shuffled_ranges(values: Floats, piece: tuple[np.random.SeedSequence, int]) -> Floats:
    """Return the ranges of the means of one piece of the replicates; ``values`` is topics x runs."""
    stream, replicates = piece
    rng = generator(stream)
    topics, runs = values.shape
    total, shuffled = np.zeros((2, replicates, runs))
    for topic in range(topics):
        advance()
        np.copyto(shuffled, values[topic])
        rng.permuted(shuffled, axis=1, out=shuffled)
        total += shuffled
    total /= topics
    return np.asarray(total.max(axis=1) - total.min(axis=1))


def _wilcoxon(values: Floats, first: Indices, second: Indices, alpha: float) -> PairTests:
    student = paired_t(values, first, second, alpha=alpha)
    largest = float(np.abs(values).max(initial=0.0))
    p = np.empty(len(first))
    for block, z in _differences(values, first, second):
        p[block] = wilcoxon_p(rounded(z, largest))
    return PairTests(student.difference, p, student.half, np.broadcast_to(np.nan, p.shape), p)


def _randomisation(
    pairs: _Pairs, alpha: float, flips: Flips, joint: bool, flipped: _Pairs, freedom: float | None
) -> PairTests:
    """Test with all signs for up to 20 topics, with random signs beyond; the interval is Student's or max-T's.

    The signs of ``flipped`` are drawn; the values of ``pairs`` have the same means, and the errors of the intervals.
    """
    p: Floats | None = None
    if flips.topics <= EXACT_UP_TO:
        p = np.empty(len(pairs[1]))
        for block, z in _differences(*flipped):
            p[block] = exact_randomisation(z)
    if joint or p is None:
        step_down = flip_pairs(*flipped, flips)
        if joint:
            return _max_t(pairs, step_down, alpha, p)
        p = step_down.p
    student = paired_t(*pairs, alpha=alpha, freedom=freedom)
    p = np.where(student.difference == 0, 1.0, p)
    return PairTests(student.difference, p, student.half, np.broadcast_to(np.nan, p.shape), p)


def _max_t(pairs: _Pairs, step_down: StepDown, alpha: float, exact: Floats | None = None) -> PairTests:
    """Return p-values adjusted by step-down max-T, and the intervals of its first step.

    A statistic r / sqrt(n) of a pair is t / sqrt(t^2 + n - 1), so that the critical r of the largest statistic is a
    critical t for all pairs: an interval excludes zero only if its pair is significant in the first step.
    """
    mean, error = _mean_and_error(*pairs)
    p = np.where(mean == 0, 1.0, step_down.p if exact is None else exact)
    adjusted = np.where(mean == 0, 1.0, np.maximum(step_down.adjusted, p))
    topics = pairs[0].shape[1]
    share = min(1.0, step_down.critical(alpha) ** 2 / topics)
    if share > 1 - _NEGLIGIBLE:  # no statistic is large enough: nothing is known about a difference
        half = np.full(len(p), np.inf)
    else:
        half = step_down.factor * np.sqrt((topics - 1) * share / (1 - share)) * error
    return PairTests(mean, p, half, np.broadcast_to(np.nan, p.shape), adjusted, True)


def _bootstrap(pairs: _Pairs, alpha: float, resampled: Ints) -> PairTests:
    replicates = len(resampled)
    result = bootstrap_pairs(*pairs, resampled, alpha=alpha)
    mean, error = _mean_and_error(*pairs)
    with np.errstate(invalid="ignore"):
        # an infinite critical value with no error at all: the interval is the difference itself
        width = np.where(error > 0, result.critical * error, 0.0)
    p = np.where(mean == 0, 1.0, (1 + np.rint(result.asl * replicates)) / (1 + replicates))
    return PairTests(mean, p, width, result.delta, p, len(p) == 1)


def _blocks(pairs: int, topics: int) -> Iterator[slice]:
    """Generate blocks of pairs, which bounds the memory, with a progress bar if there are many."""
    size = min(_PAIRS_AT_ONCE, max(1, _DIFFERENCES_AT_ONCE // topics))
    for start in progress(range(0, pairs, size), label="blocks of pairs"):
        yield slice(start, start + size)


def _differences(values: Floats, first: Indices, second: Indices) -> Iterator[tuple[slice, Floats]]:
    """Yield the differences of the pairs by topic, a block of pairs at a time."""
    for block in _blocks(len(first), values.shape[1]):
        yield block, values[first[block]] - values[second[block]]


def _mean_and_error(values: Floats, first: Indices, second: Indices) -> tuple[Floats, Floats]:
    """Return the mean difference and its standard error per pair; rounding errors are set to zero."""
    topics = values.shape[1]
    zero = float(np.abs(values).max(initial=0.0)) * _NEGLIGIBLE
    means, errors = np.empty(len(first)), np.empty(len(first))
    for block, z in _differences(values, first, second):
        mean = z.mean(axis=1)
        spread = np.sqrt(np.square(z - mean[:, None]).sum(axis=1) / max(1, topics - 1))
        mean[np.abs(mean) <= zero] = 0.0
        spread[spread <= zero] = 0.0
        means[block] = mean
        errors[block] = spread / np.sqrt(topics)
    return means, errors


def effects(
    values: Floats, first: Indices, second: Indices, weights: Floats | None = None
) -> tuple[Floats, Floats]:
    """Return the mean difference of each pair, and Cohen's d of the paired differences, mean(z)/sd(z).

    d is 0 for identical runs, infinite for a constant difference.

    >>> effects(np.array([[0.4, 0.6], [0.2, 0.2]]), np.array([0]), np.array([1]))[1].round(4).tolist()
    [2.1213]
    """
    topics = values.shape[1]
    mean, error = _mean_and_error(linearise(values, weights), first, second)
    if weights is not None:  # d is about the distribution of weighted topics, not about the error of the mean
        for block, z in _differences(values, first, second):
            squares = weights / weights.mean() * np.square(z - mean[block, None])
            deviation = np.sqrt(squares.sum(axis=1) / max(1, topics - 1) / topics)
            error[block] = np.where(error[block] > 0, deviation, 0)
    if topics < 2:
        return mean, np.where(mean == 0, 0.0, np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        return mean, np.where(mean == 0, 0.0, mean / (error * np.sqrt(topics)))


def outcomes(merits: Floats, first: Indices, second: Indices) -> tuple[Indices, Indices]:
    """Count the topics on which the first run of each pair has the higher value, and the lower value.

    >>> [count.tolist() for count in outcomes(np.array([[3, 1, 2], [1, 1, 0]]), np.array([0]), np.array([1]))]
    [[2], [0]]
    """
    wins, losses = np.empty(len(first), np.intp), np.empty(len(first), np.intp)
    for block in _blocks(len(first), merits.shape[1]):
        a, b = merits[first[block]], merits[second[block]]
        wins[block], losses[block] = (a > b).sum(axis=1), (a < b).sum(axis=1)
    return wins, losses


def adjust(p: Floats, correction: str = "holm") -> Floats:
    """Correct the p-values of a family of hypotheses, an array of any shape, for multiple tests.

    ``bonferroni``: m p. ``holm`` (1979): the k-th smallest times m - k + 1, never below an earlier one. ``bh``
    (Benjamini and Hochberg 1995, false discovery rate): the k-th smallest times m/k, never above a later one.
    Undefined p-values stay undefined and do not count.

    >>> adjust(np.array([0.01, 0.04, 0.03]), "holm").tolist()
    [0.03, 0.06, 0.06]
    >>> adjust(np.array([0.01, 0.04, 0.03]), "bh").round(3).tolist()
    [0.03, 0.04, 0.04]
    """
    check_name(correction, CORRECTIONS, f"no correction is called {correction!r}")
    shape, p = p.shape, np.asarray(p, dtype=np.float64).ravel()
    adjusted = p.copy()
    defined = np.flatnonzero(~np.isnan(p))
    m = len(defined)
    if correction == "none" or m == 0:
        return adjusted.reshape(shape)
    order = defined[np.argsort(p[defined], kind="stable")]
    ordered = p[order]
    if correction == "bonferroni":
        corrected = ordered * m
    elif correction == "holm":
        corrected = np.maximum.accumulate(ordered * (m - np.arange(m)))
    else:
        corrected = np.minimum.accumulate((ordered * (m / np.arange(1, m + 1)))[::-1])[::-1]
    adjusted[order] = np.minimum(corrected, 1.0)
    return adjusted.reshape(shape)


def holm_levels(p: Floats, alpha: float = 0.05) -> Floats:
    """Return the level of the interval of each difference in a family that Holm's correction tests.

    An interval of level 1 - a excludes zero exactly if p < a. A significant difference has the largest a at which the
    procedure rejects it, alpha p / adjusted; all others share that of the first hypothesis that it retains,
    alpha / (m - r) after r of m rejections. So an interval excludes zero exactly if the adjusted p-value is below
    alpha.

    >>> holm_levels(np.array([0.01, 0.04, 0.2, 0.03])).tolist()
    [0.0125, 0.016666666666666666, 0.016666666666666666, 0.016666666666666666]
    """
    positive = np.maximum(
        p, np.finfo(float).tiny
    )  # A constant difference has p = 0, and the level alpha / m.
    adjusted = adjust(positive)
    retained = int((adjusted >= alpha).sum())
    return np.asarray(alpha * np.where(adjusted < alpha, positive / adjusted, 1 / max(1, retained)))


def tiers(merits: Floats, separated: Bools) -> list[int | None]:
    """Return the tier of each system, from 1; a tier ends before the first system separated from one of its members.

    Parameters
    ----------
    merits : array of systems, best highest
    separated : array of systems x systems

    >>> tiers(np.array([0.3, 0.1, 0.2]), np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]], bool))
    [1, 2, 1]
    """
    found: list[int | None] = [None] * len(merits)
    members: list[int] = []
    tier = 1
    for system in np.argsort(-merits, kind="stable").tolist():
        if separated[members, system].any():
            members, tier = [], tier + 1
        members.append(system)
        found[system] = tier
    return found
