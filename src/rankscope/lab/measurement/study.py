"""Base class of the scale analyses of one measure, on binary and on graded rankings."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any

from rankscope.arrays import Floats, Ints
from rankscope.lab.measurement import scales as scale_results
from rankscope.lab.measurement.distances import count_steps, is_evenly_spaced, uneven_steps
from rankscope.lab.measurement.scales import Counterexample, ScaleVerdict
from rankscope.lab.measurement.values import Setting
from rankscope.lab.measurement.walks import Pair
from rankscope.lab.rounding import magnitude, slack
from rankscope.measures import Measure

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
        if scale in (scale_results.STRONG, scale_results.WEAK):
            return self._interval(scale)
        if scale == scale_results.OWN:
            return self._own_order()
        return self._interval_like(scale, scale == scale_results.EQUAL)

    @abstractmethod
    def _interval_like(self, scale: str, equal_relevant: bool) -> ScaleVerdict:
        """Return the verdict on a scale whose intervals are those of the rankings."""

    @abstractmethod
    def _interval(self, scale: str) -> ScaleVerdict:
        """Return the verdict on a strong or weak interval scale."""

    def _own_order(self) -> ScaleVerdict:
        """Return the verdict on the scale of the measure's own order, if all rankings are evaluated."""
        raise TypeError(f"{type(self).__name__} does not evaluate all rankings")

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

    def _check_spacing(self, values: Floats, codes: Ints, is_counted: bool) -> ScaleVerdict:
        """Return the verdict on the scale of the measure's own order.

        Shorter rankings have other values, which prove nothing about these.
        """
        numbers = scale_results.tally_numbers(count_steps(values)) if is_counted else {"method": "theorem"}
        if is_evenly_spaced(values):
            numbers = {**scale_results.NOTHING_VIOLATED, **numbers}
            return self._holds(scale_results.OWN, "its values are evenly spaced", numbers)
        pair = Pair(*(int(codes[index]) for index in uneven_steps(values)))
        return self._fails(scale_results.OWN, self.setting.length, pair, numbers)

    def _sampled_numbers(self, small: Floats, large: Floats, values: Floats, **more: Any) -> dict[str, Any]:
        """Return the numbers of a sample, given the rises on the smaller and on the larger intervals."""
        violated = int((small > large + slack(large, magnitude(values))).sum())
        low, high = scale_results.wilson(violated, self.samples)
        return {"method": "sampled", **more, "share": violated / self.samples, "low": low, "high": high}
