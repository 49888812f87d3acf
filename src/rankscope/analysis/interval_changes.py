"""Which verdicts change on an interval scale? Every measure and its interval-scaled version."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rankscope.errors import InputError, MeasureError
from rankscope.rows import MeasuredPairRow, Row, column

if TYPE_CHECKING:
    from rankscope.analysis.compare import Comparison, Pair
    from rankscope.scores import Scores


class IntervalCount(Row):
    """Number of verdicts that an interval scale changes."""

    measure: str = column()
    interval: str | None = column("the measure on an interval scale", default=None)
    scales: int | None = column("number of distinct scales: recall bases have one each", default=None)
    pairs: int | None = column(default=None)
    lost: int | None = column("pairs that are no longer significant", default=None)
    gained: int | None = column("pairs that become significant", default=None)
    reversed: int | None = column("pairs that are significant in the opposite direction", default=None)
    note: str = column("why the measure has no values", default="")


class VerdictChange(MeasuredPairRow):
    """A pair of runs whose verdict an interval scale changes."""

    difference: float = column()
    adjusted: float = column(p_value=True)
    interval_difference: float = column("a minus b on the interval scale")
    interval_adjusted: float = column("the corrected p-value on the interval scale", p_value=True)
    change: str = column("lost, gained or reversed")


def interval_changes(scores: Scores, length: int, compare: Callable[[Scores], Comparison]) -> dict[str, Any]:
    """Return the tables ``intervals`` and ``changes`` for rankings cut to a length; ``compare`` tests the runs."""
    from rankscope.analysis.scale_effect import on_both_scales
    from rankscope.scores import score

    if scores.judged is None:
        hint = "give judgments and runs"
        raise InputError("an interval scale needs rankings, and these are scores only", hint=hint)
    counts: list[IntervalCount] = []
    changes: list[VerdictChange] = []
    for measure in scores.measures:
        try:
            plain, mapped, scales = on_both_scales(scores.judged, measure, length)
            both_scores = score(
                scores.judged, [plain, mapped], missing=scores.settings.get("missing", "zero")
            )
            both_scores = replace(both_scores, weights=scores.weights)
        except MeasureError as error:
            counts.append(IntervalCount(str(measure), note=error.message))
            continue
        pairs = list(compare(both_scores).pairs)
        half = len(pairs) // 2  # The pairs of the first measure come first, in the same order.
        turns = [(x, y, _turn(x, y)) for x, y in zip(pairs[:half], pairs[half:], strict=True)]
        lost, gained, turned = (
            sum(turn == kind for *_, turn in turns) for kind in ("lost", "gained", "reversed")
        )
        counts.append(IntervalCount(str(plain), str(mapped), scales, half, lost, gained, turned))
        changes += [
            VerdictChange(x.a, x.b, x.measure, x.difference, x.adjusted, y.difference, y.adjusted, turn)
            for x, y, turn in turns
            if turn
        ]
    caption = f"Verdicts changed by an interval scale, {length} ranks"
    return {
        "intervals": IntervalCount.table("intervals", counts, caption=caption),
        "changes": VerdictChange.table("changes", changes),
    }


def _turn(before: Pair, after: Pair) -> str:
    """Return how a verdict changes, or an empty text."""
    if before.significant and after.significant:
        return "reversed" if before.difference * after.difference < 0 else ""
    return "lost" if before.significant else "gained" if after.significant else ""
