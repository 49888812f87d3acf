"""Which verdicts change on an interval scale? Every measure beside itself, mapped to the steps between its values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from rankscope.analysis.scale_effect import on_both_scales
from rankscope.columns import Cell
from rankscope.errors import InputError, MeasureError
from rankscope.result import Result
from rankscope.scores import Scores, score
from rankscope.tables import Table

__all__ = ["interval_changes"]

_COUNTS = ("measure", "interval", "scales", "pairs", "lost", "gained", "reversed", "note")
_CHANGES = (
    "a",
    "b",
    "measure",
    "difference",
    "adjusted",
    "interval_difference",
    "interval_adjusted",
    "change",
)


def interval_changes(scores: Scores, length: int, compared: Callable[[Scores], Result]) -> list[Table]:
    """The tables ``intervals`` and ``changes`` for lists cut to a length; ``compared`` tests the runs of scores."""
    if scores.judged is None:
        raise InputError(
            "an interval scale needs the lists, and these are scores only", hint="give judgments and runs"
        )
    counts: list[tuple[Cell, ...]] = []
    changed: list[tuple[Cell, ...]] = []
    for measure in scores.measures:
        try:
            plain, mapped, scales = on_both_scales(scores.judged, measure, length)
            both = score(scores.judged, [plain, mapped], missing=scores.settings.get("missing", "zero"))
        except MeasureError as error:
            counts.append((str(measure), *(None for _ in _COUNTS[2:]), error.message))
            continue
        rows = compared(both)["pairs"].records()
        before, after = ([row for row in rows if row["measure"] == str(one)] for one in (plain, mapped))
        turns = [_turn(one, other) for one, other in zip(before, after, strict=True)]
        numbers = [turns.count(kind) for kind in ("lost", "gained", "reversed")]
        counts.append((str(plain), str(mapped), scales, len(before), *numbers, ""))
        changed += [
            (*(one[key] for key in _CHANGES[:5]), other["difference"], other["adjusted"], turn)
            for one, other, turn in zip(before, after, turns, strict=True)
            if turn
        ]
    return [
        Table(
            "intervals", _COUNTS, counts, caption=f"Verdicts that an interval scale changes, {length} ranks"
        ),
        Table("changes", _CHANGES, changed, p_values=("adjusted", "interval_adjusted")),
    ]


def _turn(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """What becomes of a verdict."""
    if before["significant"] and after["significant"]:
        return "reversed" if before["difference"] * after["difference"] < 0 else ""
    return "lost" if before["significant"] else "gained" if after["significant"] else ""
