"""Scales of measures: verdicts, counterexamples, their sentences and tables, and the base class of the analyses."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import nan
from typing import Any

import numpy as np

from rankscope.arrays import Floats
from rankscope.errors import SettingsError
from rankscope.lab.measurement import distances
from rankscope.lab.measurement.counting import Tally
from rankscope.lab.measurement.interval_comparison import compare_intervals
from rankscope.lab.measurement.intervals import delta
from rankscope.lab.measurement.values import Setting, merits_on_words
from rankscope.lab.measurement.walks import Pair
from rankscope.lab.rounding import format_distinct, magnitude, slack
from rankscope.measures import Measure, parse_many
from rankscope.result import Result, TableResult
from rankscope.rows import Row, column
from rankscope.tables import Cell, Table

ALL = "interval-like (all)"
EQUAL = "interval-like (equal-relevant)"
STRONG = "interval (strong top-heaviness)"
WEAK = "interval (weak top-heaviness)"
OWN = "interval (order of the measure)"

SCALES = {
    ALL: "the interval-like scale over all intervals",
    EQUAL: "the interval-like scale over intervals with equally many relevant documents at both ends",
    STRONG: "the interval scale of strong top-heaviness",
    WEAK: "the interval scale of weak top-heaviness",
    OWN: "the interval scale of its own order",
}
"""Descriptions of the scales by name."""

FROM_WEIGHTS = (ALL, EQUAL, STRONG, WEAK)
"""Scales that the weights of ranks decide at any length; the others need the values of all rankings."""

NOTHING_VIOLATED: dict[str, Any] = {"violations": 0, "share": 0.0, "low": 0.0, "high": 0.0}
"""Numbers of a scale that is proved to hold."""


@dataclass(frozen=True)
class Counterexample:
    """Two intervals [r, s] and [u, v] on which a measure contradicts a scale, and its rises on both.

    On an interval-like scale Delta_sr <= Delta_vu although M(s) - M(r) > M(v) - M(u); on an interval scale
    the distances are equal and the rises are not (or the reverse, for a measure that never rises).
    """

    setting: Setting
    pair: Pair
    rise_sr: float
    rise_vu: float

    @property
    def length(self) -> int:
        """Length of the rankings."""
        return self.setting.length

    def ends(self) -> list[str]:
        """Return the four rankings as text."""
        return [self.setting.word(code) for code in self.pair]

    def sizes(self, scale: str) -> tuple[str, str]:
        """Return the sizes of the two intervals: difference vectors (one for each grade) or distances."""
        return self._size(scale, *self.pair[:2]), self._size(scale, *self.pair[2:])

    def _size(self, scale: str, lower: int, upper: int) -> str:
        if scale == OWN:
            return "1"  # Only single steps from one value to the next are compared.
        if scale == STRONG:
            return str(upper - lower)
        low, high = (np.array(self.setting.digits(code)) for code in (lower, upper))
        vectors = [delta(low >= grade, high >= grade) for grade in range(1, self.setting.grades + 1)]
        if scale == WEAK:
            return str(sum(int(vector[-1]) for vector in vectors))
        return " ".join(f"({','.join(map(str, vector.tolist()))})" for vector in vectors)

    def sentence(self, measure: str, scale: str) -> str:
        """Return a sentence that explains the contradiction."""
        (r, s, u, v), (small, large) = self.ends(), self.sizes(scale)
        first, second = format_distinct(self.rise_sr, self.rise_vu)
        if scale in (ALL, EQUAL):
            return (
                f"the step from {r} to {s} is no larger than the one from {u} to {v} (difference vectors {small} and"
                f" {large}), but {measure} rises by more: {first} against {second}"
            )
        steps = f"the steps from {r} to {s} and from {u} to {v} are"
        if small == large:
            return f"{steps} equally large ({small}), but {measure} rises by {first} and by {second}"
        return f"{steps} not equally large ({small} and {large}), but {measure} rises by {first} on both"


@dataclass(frozen=True)
class ScaleVerdict:
    """Verdict on one measure, one scale and one length.

    ``method`` is how the numbers were computed: "exact" (all pairs), "dynamic program" or "theorem" (the verdict is
    proved, no pairs were counted), "sampled" (the verdict is proved, ``share`` is an estimate with the 95 % confidence
    interval ``low`` to ``high``), or "partial" (interrupted: the counts are those of the pairs compared so far).
    ``share_nonempty`` is the share on an interval-like scale without pairs that contain an empty interval.
    ``fails_from`` is the shortest length at which the scale is contradicted.
    """

    measure: str
    scale: str
    setting: Setting
    holds: bool
    method: str
    because: str
    violations: int | None = None
    comparable: int | None = None
    share: float = nan
    share_nonempty: float = nan
    low: float = nan
    high: float = nan
    fails_from: int | None = None
    counterexample: Counterexample | None = None

    @property
    def length(self) -> int:
        """Length of the rankings."""
        return self.setting.length

    def sentence(self) -> str:
        """Return a sentence that states whether means are permissible, and why."""
        may = "are" if self.holds else "are not"
        return (
            f"Means of {self.measure} {may} permissible under {SCALES[self.scale]} "
            f"{self.setting}, because {self.because}{self._extent()}."
        )

    def _extent(self) -> str:
        if self.method == "exact" and self.holds:
            return f" (all {self.comparable:,} comparable pairs of intervals agree)"
        if self.method == "exact":
            return f" ({self.share:.2%} of {self.comparable:,} comparable pairs of intervals are violated)"
        if self.method == "sampled":
            interval = f"95 % interval {self.low:.2%} to {self.high:.2%}"
            return f" (about {self.share:.2%} of comparable pairs are violated, {interval}, from a sample)"
        if self.method == "partial":
            return f" (interrupted: {self.violations:,} of the {self.comparable:,} comparable pairs seen are violated)"
        return f" ({self.method})"

    def row(self) -> tuple[Cell, ...]:
        """Return the row of the table ``scales``."""
        return (
            self.measure, self.scale, self.holds, self.violations, self.comparable, self.share, self.share_nonempty,
            self.low, self.high, self.method, self.fails_from, self.length, self.setting.relevant, self.setting.grades,
        )  # fmt: skip


class ScaleRow(Row):
    """Scale of a measure, and pairs of intervals that violate it."""

    measure: str = column()
    scale: str = column()
    holds: bool | None = column()
    violations: int | None = column()
    comparable: int | None = column("pairs of intervals that can be compared")
    share: float | None = column("share of the comparable pairs that violate the scale")
    share_nonempty: float | None = column(
        "the same without pairs with an empty interval, from a ranking to itself"
    )
    low: float | None = column("lower end of the interval of the share, if it was sampled", spare=True)
    high: float | None = column("upper end of the interval of the share, if it was sampled", spare=True)
    method: str = column("exact count of pairs, or sample", spare=True)
    fails_from: int | None = column(spare=True)
    length: int = column("length of the rankings", spare=True)
    relevant: int | None = column("number of relevant documents of the rankings", spare=True)
    grades: int = column("number of relevance grades of the rankings", spare=True)


class IntervalExample(Row):
    """Two intervals of rankings on which a measure violates a scale."""

    measure: str = column()
    scale: str = column()
    length: int = column("length of the rankings")
    r: str = column("start of the first interval")
    s: str = column("end of the first interval")
    u: str = column("start of the second interval")
    v: str = column("end of the second interval")
    size_sr: int | float | str = column("size of the interval from r to s on the scale", spare=True)
    size_vu: int | float | str = column("size of the interval from u to v on the scale", spare=True)
    rise_sr: float = column("rise of the measure from r to s")
    rise_vu: float = column("rise of the measure from u to v")
    explanation: str = column()


class ScaleSentence(Row):
    """Verdict on the scale of a measure, as a sentence."""

    measure: str = column()
    scale: str = column()
    verdict: str = column()


@dataclass(frozen=True, eq=False, repr=False)
class Scales(Result):
    """Verdicts on the scales of measures, as tables and sentences.

    ``partial`` is True if the analysis was interrupted, so that verdicts are missing.
    """

    figures = {"intervals": "intervals.plot_scales"}
    verdicts: Sequence[ScaleVerdict]
    settings: Mapping[str, Any] = field(default_factory=dict)
    partial: bool = False

    @property
    def sentences(self) -> list[str]:
        """Verdict on each measure and scale as a sentence."""
        return [verdict.sentence() for verdict in self.verdicts]

    @property
    def main(self) -> Sequence[str]:
        """Names of all tables."""
        return tuple(self.tables)

    @property
    def display(self) -> Sequence[Table]:
        """Tables ``scales`` and ``counterexamples`` without constant columns and explanations."""
        same = {"length"} if any(f.method == "sampled" for f in self.verdicts) else {"length", "low", "high"}
        return (self.tables["scales"].without(same), self.tables["counterexamples"].without({"explanation"}))

    def _about(self) -> str:
        holding = sum(verdict.holds for verdict in self.verdicts)
        partial = ", interrupted" if self.partial else ""
        return f"{holding} of {len(self.verdicts)} scales hold{partial}"

    @cached_property
    def tables(self) -> Mapping[str, Table]:
        """Tables ``scales``, ``counterexamples`` and ``verdicts``."""
        examples: list[tuple[Cell, ...]] = [
            (
                f.measure, f.scale, f.counterexample.length, *f.counterexample.ends(), *f.counterexample.sizes(f.scale),
                f.counterexample.rise_sr, f.counterexample.rise_vu, f.counterexample.sentence(f.measure, f.scale),
            )
            for f in self.verdicts
            if f.counterexample is not None
        ]  # fmt: skip
        sentences = [(f.measure, f.scale, f.sentence()) for f in self.verdicts]
        caption = "Scales of measures: comparable pairs of intervals, and how many violate the scale"
        steps = "Shortest counterexamples: the steps from r to s and from u to v"
        return {
            "scales": ScaleRow.table("scales", [f.row() for f in self.verdicts], caption=caption),
            "counterexamples": IntervalExample.table("counterexamples", examples, caption=steps),
            "verdicts": ScaleSentence.table("verdicts", sentences),
        }

    @classmethod
    def row_types(cls) -> dict[str, type[Row]]:
        return {"scales": ScaleRow, "counterexamples": IntervalExample, "verdicts": ScaleSentence}

    def example(self, measure: str | Measure | None = None) -> TableResult:
        """Return the first counterexample to an interval-like scale, rank by rank; with ``measure``, that measure's."""
        for verdict in self.verdicts:
            example = verdict.counterexample
            is_requested = measure is None or parse_many(measure) == parse_many(verdict.measure)
            if example and verdict.scale in (ALL, EQUAL) and is_requested:
                r, s, u, v = example.ends()
                rises = example.rise_sr, example.rise_vu
                return compare_intervals(r, s, u, v, verdict.measure, rises=rises)
        problem = "no interval-like scale is violated: there is no counterexample to draw"
        raise SettingsError(problem, hint="try other measures or lengths")

    def verdict(self, measure: str | Measure, scale: str) -> ScaleVerdict:
        """Return the verdict on one measure and one scale."""
        named = parse_many(measure)
        return next(f for f in self.verdicts if parse_many(f.measure) == named and f.scale == scale)


def tally_numbers(tally: Tally) -> dict[str, Any]:
    """Return the numbers of a verdict from a count of pairs."""
    share = tally.violations / tally.comparable if tally.comparable else 0.0
    numbers: dict[str, Any] = {"violations": tally.violations, "comparable": tally.comparable, "share": share}
    if tally.complete:
        return {"method": "exact", **numbers, "low": share, "high": share}
    return {"method": "partial", **numbers}


def add_nonempty_share(
    numbers: dict[str, Any], n_rankings: int, n_intervals: int, n_falling: Callable[[], int]
) -> dict[str, Any]:
    """Add the share of violations among pairs of intervals [r, s] and [u, v] with r < s and u < v.

    An empty interval is no larger than any interval, so it is the smaller one in ``n_rankings * n_intervals``
    comparable pairs. Such a pair is violated if the measure falls on the larger one, as on ``n_falling()`` intervals.
    """
    if numbers["method"] == "exact":
        comparable = numbers["comparable"] - n_rankings * n_intervals
        violations = numbers["violations"] and numbers["violations"] - n_rankings * n_falling()
        return {**numbers, "share_nonempty": violations / comparable if comparable else 0.0}
    return {**numbers, "share_nonempty": 0.0} if numbers.get("violations") == 0 else numbers


def wilson(violated: int, drawn: int) -> tuple[float, float]:
    """Return the 95 % confidence interval of a share (Wilson 1927).

    >>> low, high = wilson(0, 100)
    >>> round(low, 4), round(high, 4)
    (0.0, 0.037)
    """
    z = 1.959963984540054
    share = violated / drawn
    centre = (share + z * z / (2 * drawn)) / (1 + z * z / drawn)
    half = z / (1 + z * z / drawn) * float(np.sqrt(share * (1 - share) / drawn + z * z / (4 * drawn * drawn)))
    # At the ends the formula yields 0 and 1 up to rounding.
    return 0.0 if violated == 0 else centre - half, 1.0 if violated == drawn else centre + half


MAX_INTERVALS = 1 << 24
"""Maximum number of intervals whose distances are counted."""


class ScaleStudy(ABC):
    """Analysis of one measure on all rankings of a setting and on shorter ones."""

    def __init__(
        self, measure: Measure, setting: Setting, count: str, samples: int, seed: int, jobs: int | None
    ) -> None:
        self.measure, self.name, self.setting = measure, str(measure), setting
        self.count, self.samples, self.seed, self.jobs = count, samples, seed, jobs

    def verdict(self, scale: str) -> ScaleVerdict:
        """Return the verdict on one scale."""
        if scale in (STRONG, WEAK):
            return self._interval(scale)
        return self._interval_like(scale, scale == EQUAL)

    @abstractmethod
    def _interval_like(self, scale: str, equal_relevant: bool) -> ScaleVerdict:
        """Return the verdict on a scale whose intervals are those of the rankings."""

    @abstractmethod
    def _interval(self, scale: str) -> ScaleVerdict:
        """Return the verdict on a strong or weak interval scale."""

    @abstractmethod
    def _merits_at(self, length: int, codes: Sequence[int]) -> Floats:
        """Return the merits of the rankings of a length with these codes."""

    def _holds(self, scale: str, because: str, numbers: dict[str, Any]) -> ScaleVerdict:
        return ScaleVerdict(self.name, scale, self.setting, True, because=because, **numbers)

    def _fails(self, scale: str, length: int, pair: Pair, numbers: dict[str, Any]) -> ScaleVerdict:
        """Return a negative verdict with a counterexample of some length."""
        at = self._merits_at(length, pair)
        rises = float(at[1] - at[0]), float(at[3] - at[2])
        example = Counterexample(self.setting.with_length(length), pair, *rises)
        already = "" if length == self.setting.length else f"already at length {length} "
        return ScaleVerdict(
            self.name, scale, self.setting, False, because=already + example.sentence(self.name, scale),
            fails_from=length, counterexample=example, **numbers,
        )  # fmt: skip

    def _shortest_failure(
        self, scale: str, pairs: Iterable[tuple[int, Pair | None]], numbers: dict[str, Any]
    ) -> ScaleVerdict:
        """Return a negative verdict with the first counterexample among those of several lengths."""
        length, pair = next((n, pair) for n, pair in pairs if pair is not None)
        return self._fails(scale, length, pair, numbers)

    def _sampled_numbers(self, small: Floats, large: Floats, values: Floats, **more: Any) -> dict[str, Any]:
        """Return the numbers of a sample, given the rises on the smaller and on the larger intervals."""
        violated = int((small > large + slack(large, magnitude(values))).sum())
        low, high = wilson(violated, self.samples)
        return {"method": "sampled", **more, "share": violated / self.samples, "low": low, "high": high}


class EnumeratedStudy(ScaleStudy):
    """Analysis of one measure by its values on all rankings of a setting."""

    def __init__(self, measure: Measure, setting: Setting, *options: Any) -> None:
        super().__init__(measure, setting, *options)
        self._merits: dict[int, Floats] = {}

    def merits(self, length: int) -> Floats:
        """Return the merits of all rankings of a length, indexed by code; NaN where the topic has too few documents."""
        if length not in self._merits:
            setting = self.setting
            self._merits[length] = merits_on_words(self.measure, length, setting.relevant, setting.grades)
        return self._merits[length]

    @property
    def values(self) -> Floats:
        """Merits of the rankings of the full length."""
        return self.merits(self.setting.length)

    @property
    def n_rankings(self) -> int:
        """Number of rankings of the full length."""
        return int(np.count_nonzero(~np.isnan(self.values)))

    def _merits_at(self, length: int, codes: Sequence[int]) -> Floats:
        return self.merits(length)[list(codes)]

    def verdict(self, scale: str) -> ScaleVerdict:
        return self._own_order() if scale == OWN else super().verdict(scale)

    def _own_order(self) -> ScaleVerdict:
        # Shorter rankings have other values, which prove nothing about these.
        values = self.values
        numbers: dict[str, Any] = {"method": "theorem"}
        is_few = self.n_rankings * (self.n_rankings + 1) // 2 <= MAX_INTERVALS
        if is_few and (self.count != "sample" or self.setting.grades > 1):
            numbers = tally_numbers(distances.count_steps(values))
        if distances.is_evenly_spaced(values):
            return self._holds(OWN, "its values are evenly spaced", {**NOTHING_VIOLATED, **numbers})
        return self._fails(OWN, self.setting.length, distances.uneven_steps(values), numbers)
