"""Scales of measures: interval-like, or interval under strong or weak top-heaviness or in the measure's own order.

Theorems decide the verdicts from the 2^N values of the measure (see ``convexity`` and ``distances``). The counts of
violated pairs are exact if that is feasible, and otherwise sampled, with a confidence interval.

Theorems alone decide on rankings that are too long for enumeration. A measure that is a sum of gain times weight is
additive by definition, so its N weights decide. Any other measure is refuted by two intervals with equal difference
vectors and unequal rises, if such a pair exists among short rankings padded with non-relevant documents.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import chain, compress
from typing import Any

import numpy as np

from rankscope.arrays import Floats
from rankscope.choices import COUNTS
from rankscope.engines import on_engine
from rankscope.errors import SettingsError, check_name
from rankscope.lab.measurement import convexity, counting, distances, walks
from rankscope.lab.measurement import scales as scale_results
from rankscope.lab.measurement.graded import GradedStudy
from rankscope.lab.measurement.intervals import interval_count, rankings
from rankscope.lab.measurement.scales import MAX_INTERVALS, EnumeratedStudy, Scales, ScaleStudy, ScaleVerdict
from rankscope.lab.measurement.values import Setting, merits_at, merits_on_words
from rankscope.lab.rounding import ABSOLUTE, RELATIVE, magnitude, slack
from rankscope.measures import Measure, parse_many
from rankscope.measures.weighted import WeightedPrecision

MAX_LENGTH = 20
"""Maximum length at which all rankings are evaluated: 2^20 of them."""

_FEASIBLE_MEMORY = 4 << 30
_MAX_PROVABLE = 30  # The dynamic program keeps all its layers, whose size grows as N^5.


@on_engine
def scales(
    measures: str | Measure | Iterable[str | Measure],
    length: int = 10,
    *,
    equal_relevant: bool | None = None,
    relevant: int | None = None,
    grades: int = 1,
    count: str = "auto",
    samples: int = 100_000,
    seed: int = 1,
    jobs: int | None = None,
    engine: Any = None,
) -> Scales:
    """Decide whether measures are on interval-like and interval scales, on all rankings of a length.

    An interruption (Ctrl-C) returns the verdicts so far, marked as partial.

    Parameters
    ----------
    measures
        Measures, or their names.
    length
        Length of the rankings.
    equal_relevant
        Intervals of the interval-like scale: True for those with equally many relevant documents at both ends, False
        for all intervals, None for both scales.
    relevant
        Recall base; by default ``length``. There are no rankings with more relevant documents.
    grades
        Highest grade. Above 1, ``relevant`` documents of each grade exist, and there is a difference vector per grade.
    count
        Pairs that are compared to count violations: "exact" for all pairs, "sample" for a sample of comparable pairs,
        "auto" for all pairs if that takes seconds, else a sample.
    samples
        Number of sampled pairs.
    seed
        Seed of the random numbers.
    jobs
        Number of workers; None or 0 for all cores.
    engine
        Where to compute, see :mod:`rankscope.engines`.

    Returns
    -------
    Scales
        Verdicts, shares of violated pairs, and the shortest counterexamples.

    References
    ----------
    Ferrante, Ferro and Pontarollo 2017.

    Examples
    --------
    >>> result = scales("RBP(p=0.8)", length=4)
    >>> print(result.sentences[0])  # doctest: +NORMALIZE_WHITESPACE
    Means of RBP(p=0.8) are not permissible under the interval-like scale over all intervals at length 4, because
    already at length 2 the step from (00) to (01) is no larger than the one from (01) to (10)
    (difference vectors (0,1) and (1,1)), but RBP(p=0.8) rises by more: 0.1600 against 0.0400
    (9.29% of 7,695 comparable pairs of intervals are violated).
    """
    parsed = parse_many(measures)
    setting = Setting.from_arguments(length, relevant, grades)
    _check(count, samples)
    requested = _scales(equal_relevant, length)
    settings = {
        "measures": [str(measure) for measure in parsed], "length": length, "equal_relevant": equal_relevant,
        "relevant": setting.relevant, "grades": grades, "count": count, "samples": samples, "seed": seed,
        "tolerance": f"a larger rise exceeds the other by {RELATIVE:g} of it + {ABSOLUTE:g} of the largest score",
    }  # fmt: skip
    verdicts: list[ScaleVerdict] = []
    try:
        for measure in parsed:
            kind = GradedStudy if grades > 1 else _Study if length <= MAX_LENGTH else LongStudy
            study = kind(measure, setting, count, samples, seed, jobs)
            for scale in requested:
                verdicts.append(study.verdict(scale))
                if verdicts[-1].method == "partial":
                    raise KeyboardInterrupt
    except KeyboardInterrupt:
        return Scales(verdicts, {**settings, "partial": True}, partial=True)
    return Scales(verdicts, settings)


def _scales(equal_relevant: bool | None, length: int) -> list[str]:
    excluded = {None: "", True: scale_results.ALL, False: scale_results.EQUAL}[equal_relevant]
    scales = scale_results.SCALES if length <= MAX_LENGTH else scale_results.FROM_WEIGHTS
    return [scale for scale in scales if scale != excluded]


def _check(count: str, samples: int) -> None:
    check_name(count, COUNTS, f"no way to count is called {count!r}")
    if samples < 1:
        raise SettingsError(f"{samples} samples", hint="draw at least one pair")


@lru_cache(maxsize=4)
def _draw_sample(
    length: int, equal_relevant: bool, samples: int, seed: int, relevant: int | None = None
) -> walks.Pair:
    """Draw a sample of comparable pairs, cached because it is the same for all measures."""
    rng = np.random.default_rng([seed, length, equal_relevant, *([] if relevant is None else [relevant])])
    if relevant is None:
        return walks.sample_pairs(length, samples, rng, equal_relevant)
    return walks.sample_few_relevant(length, samples, rng, equal_relevant, relevant)


class _Study(EnumeratedStudy):
    """Analysis of one measure on all binary rankings up to a length."""

    def __init__(self, measure: Measure, setting: Setting, *options: Any) -> None:
        super().__init__(measure, setting, *options)
        self.length = setting.length
        self.relevant = setting.relevant if setting.is_limited else None
        for n in range(1, self.length):  # The shortest ranking without a value is the easiest to read.
            self.merits(n)

    def _interval_like(self, scale: str, equal_relevant: bool) -> ScaleVerdict:
        weights = convexity.additive_weights(self.values, equal_relevant)
        holds = weights is not None and self._convexity(weights, equal_relevant).holds
        numbers = scale_results.add_nonempty_share(
            self._numbers(weights, holds, equal_relevant),
            self.n_rankings,
            interval_count(self.length, equal_relevant, self.relevant),
            lambda: distances.n_falling(self.values, equal_relevant, self.relevant),
        )
        if holds and not numbers.get("violations"):
            zeros = "" if equal_relevant else ", also when continued by zeros"
            return self._holds(scale, f"it adds up weights that are convex{zeros}", numbers)
        shortest: Iterable[tuple[int, walks.Pair | None]]
        shortest = ((n, self._violation(n, equal_relevant)) for n in range(1, self.length + 1))
        if weights is not None and holds:
            # Curvatures that are each too small to be distinguished from rounding can add up to a violation.
            shortest = chain(shortest, [(self.length, self._violated(weights, equal_relevant))])
        return self._shortest_failure(scale, shortest, numbers)

    def _violated(self, weights: Floats, equal_relevant: bool) -> walks.Pair | None:
        """Return the pair that an additive measure violates most, if its rankings exist in the topic."""
        pair = walks.worst_pair(weights, equal_relevant).pair
        return pair if not np.isnan(self.values[list(pair)]).any() else None

    def _convexity(self, weights: Floats, equal_relevant: bool) -> convexity.Convexity:
        return convexity.convexity(
            weights, equal_relevant, noise=ABSOLUTE * magnitude(self.merits(len(weights)))
        )

    def _violation(self, length: int, equal_relevant: bool) -> walks.Pair | None:
        """Return a violated pair at a length, or None if the theorems exclude it."""
        weights = convexity.additive_weights(self.merits(length), equal_relevant)
        if weights is None:
            return convexity.broken_additivity(self.merits(length), equal_relevant)
        fails_at = self._convexity(weights, equal_relevant).fails_at
        return None if fails_at is None else convexity.witness(length, fails_at, equal_relevant)

    def _numbers(self, weights: Floats | None, holds: bool, equal_relevant: bool) -> dict[str, Any]:
        """Return the numbers of violated and comparable pairs, exact or sampled."""
        need = counting.estimate_work(self.length, equal_relevant, weights is not None, self.relevant)
        if self.count == "exact" and need.memory > _FEASIBLE_MEMORY:
            intervals = interval_count(self.length, equal_relevant, self.relevant)
            raise SettingsError(
                f"counting the pairs of {intervals:,} intervals of length {self.length} for {self.name} takes "
                f"{need.memory / 2**30:.1f} GiB and {need.words:,} machine words",
                hint="use a smaller length, or sample",
            )
        feasible = need.words <= counting.FEASIBLE_WORDS and need.memory <= _FEASIBLE_MEMORY
        if self.count == "exact" or (self.count == "auto" and feasible):
            return scale_results.tally_numbers(self._tally(weights, equal_relevant))
        if self.relevant is not None:
            proved = {"method": "theorem", **scale_results.NOTHING_VIOLATED}
            return proved if holds else self._sampled(equal_relevant, None)
        comparable = walks.comparable_pairs(self.length, equal_relevant)
        if holds and weights is not None and self.length <= _MAX_PROVABLE:
            excess = walks.worst_pair(weights, equal_relevant).excess
            if excess <= slack(0.0, magnitude(self.values)) * 10:
                counted = {"method": "dynamic program", "comparable": comparable}
                return counted | scale_results.NOTHING_VIOLATED
        return self._sampled(equal_relevant, comparable)

    def _tally(self, weights: Floats | None, equal_relevant: bool) -> counting.Tally:
        values, label = self.values, f"{self.name}: pairs of intervals"
        options: dict[str, Any] = {"label": label, "jobs": self.jobs, "relevant": self.relevant}
        if weights is None:
            return counting.count_intervals(values, self.length, equal_relevant, **options)
        return counting.count_groups(weights, self.length, equal_relevant, scale=magnitude(values), **options)

    def _sampled(self, equal_relevant: bool, comparable: int | None) -> dict[str, Any]:
        values = self.values
        pair = _draw_sample(self.length, equal_relevant, self.samples, self.seed, self.relevant)
        small, large = values[pair.s] - values[pair.r], values[pair.v] - values[pair.u]
        return self._sampled_numbers(small, large, values, comparable=comparable)

    def _is_counted(self, heaviness: distances.Heaviness) -> bool:
        n_intervals = distances.chain_intervals(self.length, heaviness, self.relevant)
        return n_intervals <= MAX_INTERVALS and self.count != "sample"

    def _interval(self, scale: str) -> ScaleVerdict:
        heaviness: distances.Heaviness = "strong" if scale == scale_results.STRONG else "weak"
        numbers: dict[str, Any] = {"method": "theorem"}
        if self._is_counted(heaviness):
            numbers = scale_results.tally_numbers(distances.count_distances(self.values, heaviness))
        if distances.is_interval_scale(self.values, heaviness):
            because = "every step up the order raises it by the same amount"
            return self._holds(scale, because, {**scale_results.NOTHING_VIOLATED, **numbers})
        pairs = ((n, distances.unequal_pair(self.merits(n), heaviness)) for n in range(1, self.length + 1))
        return self._shortest_failure(scale, pairs, numbers)


_SHORT = 6  # maximal length of the rankings that are searched for a violation of additivity


class LongStudy(ScaleStudy):
    """Analysis of one measure on binary rankings that are too long for enumeration.

    >>> from rankscope.measures import measure
    >>> study = LongStudy(measure("RBP(p=0.5)"), Setting(100, 100), "auto", 1, 1, None)
    >>> [study.verdict(scale).holds for scale in scale_results.FROM_WEIGHTS]
    [True, True, True, False]
    """

    def __init__(self, measure: Measure, setting: Setting, *options: Any) -> None:
        super().__init__(measure, setting, *options)
        self.weights: Floats | None = None
        if isinstance(measure, WeightedPrecision):
            codes = [0, *(1 << bit for bit in range(setting.length - 1, -1, -1))]
            values = merits_at(measure, codes, setting.length, setting.relevant)
            self.weights = values[1:] - values[0]

    def _merits_at(self, length: int, codes: Sequence[int]) -> Floats:
        if self.weights is None:
            return merits_on_words(self.measure, length, self.setting.relevant)[list(codes)]
        weights = self.weights[:length].tolist()
        rankings = map(self.setting.with_length(length).digits, codes)
        return np.array([sum(compress(weights, grades)) for grades in rankings], np.float64)

    def _interval_like(self, scale: str, equal_relevant: bool) -> ScaleVerdict:
        if self.weights is None:
            return self._not_additive(scale)
        holds = convexity.convexity(self.weights, equal_relevant).holds
        zeros = "" if equal_relevant else ", continued by zeros"
        because = f"it adds up weights that are {'' if holds else 'not '}convex{zeros}"
        return self._additive(scale, holds, because, self.setting.length)

    def _interval(self, scale: str) -> ScaleVerdict:
        if self.weights is None:
            return self._not_additive(scale)
        ranks = np.arange(self.setting.length, 0, -1, dtype=np.float64)
        is_strong = scale == scale_results.STRONG
        share = self.weights / (2.0 ** (ranks - self.setting.length - 1) if is_strong else ranks)
        holds = bool(self.weights[-1] != 0 and np.ptp(share) <= RELATIVE * np.abs(share).max())
        shape = "halve from rank to rank" if is_strong else "fall in equal steps to zero behind the last rank"
        because = f"its weights {'' if holds else 'do not '}{shape}"
        return self._additive(scale, holds, because, min(self.setting.length, _SHORT))

    def _additive(self, scale: str, holds: bool, because: str, longest: int) -> ScaleVerdict:
        """Return the verdict on a weighted sum, with the shortest counterexample up to a length."""
        if holds:
            return self._holds(scale, because, {"method": "theorem", **scale_results.NOTHING_VIOLATED})
        for n in range(1, longest + 1):
            pair = self._violation(n, scale)
            if pair is not None:
                return self._fails(scale, n, pair, {"method": "theorem"})
        return ScaleVerdict(self.name, scale, self.setting, False, method="theorem", because=because)

    def _violation(self, length: int, scale: str) -> walks.Pair | None:
        """Return a pair that contradicts the scale, for rankings of a length."""
        assert self.weights is not None
        weights = self.weights[:length]
        if scale in (scale_results.ALL, scale_results.EQUAL):
            fails_at = convexity.convexity(weights, scale == scale_results.EQUAL).fails_at
            return (
                None
                if fails_at is None
                else convexity.witness(length, fails_at, scale == scale_results.EQUAL)
            )
        grades = rankings(length)
        values = np.where(grades.sum(axis=1) <= self.setting.relevant, grades @ weights, np.nan)
        return distances.unequal_pair(values, "strong" if scale == scale_results.STRONG else "weak")

    def _not_additive(self, scale: str) -> ScaleVerdict:
        """Return the verdict on a measure that is not a weighted sum.

        Intervals with equal difference vectors have equal distances on every scale, so a violation of additivity
        refutes all of them.
        """
        length, relevant = self.setting.length, self.setting.relevant
        for n in range(1, _SHORT + 1):
            pair = convexity.broken_additivity(
                merits_on_words(self.measure, n, relevant), scale == scale_results.EQUAL
            )
            if pair is None:
                continue
            padded = merits_at(self.measure, [code << (length - n) for code in pair], length, relevant)
            small, large = padded[1] - padded[0], padded[3] - padded[2]
            if abs(small - large) > slack(large, float(np.abs(padded).max())):
                return self._fails(scale, n, pair, {"method": "theorem"})
        hint = "only measures that are sums of gain times weight can be decided there; use a length up to 20"
        raise SettingsError(f"{self.name} on all 2^{length} rankings of length {length}", hint=hint)
