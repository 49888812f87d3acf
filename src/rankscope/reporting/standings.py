"""What is decided about the runs before the page is made: who is tied for first, and what is open about each mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from rankscope.analysis.leaderboard import tied_for_first
from rankscope.certainty.values import Uncertainty, values_of
from rankscope.judging import EvaluationOptions, Judged
from rankscope.measures import Measure
from rankscope.reporting.schema import OpenRange
from rankscope.scores import Scores

__all__ = ["open_ranges", "tied_first"]

Floats = npt.NDArray[np.float64]


def tied_first(scores: Scores) -> dict[str, list[bool]]:
    """For each measure, of every run whether it is tied for first, as :func:`rankscope.leaderboard` says.

    Measures of which no value is better, or that too few topics have, are left out.

    >>> from rankscope.scores import evaluate
    >>> good, poor = ({f"q{i}": {doc: 1.0} for i in range(9)} for doc in "ab")
    >>> tied_first(evaluate({f"q{i}": {"a": 1} for i in range(9)}, {"good": good, "poor": poor}, "AP"))
    {'AP': [True, False]}
    """
    if not scores.runs:
        return {}
    found = {str(measure): tied_for_first(scores, measure) for measure in scores.measures}
    return {name: [bool(one) for one in tied] for name, tied in found.items() if None not in tied}


def open_ranges(judged: Judged, measures: Sequence[Measure], missing: str) -> dict[str, OpenRange]:
    """For each measure, the ends of every run's mean over all orders of tied documents, and over all labels.

    ``worst`` and ``best`` are those over orders, where the unjudged documents are not relevant; ``lowest`` and
    ``highest`` those over labels, in the order by document id; ``exact`` and ``tight`` say whether they are reached.
    The lists were judged with ``ties=True`` (:func:`rankscope.judge`).
    """
    if not judged.runs or not measures:
        return {}
    ends: dict[str, tuple[Floats, Uncertainty]] = {}
    for ties in ("worst", "best"):
        ends[ties] = _known(replace(judged, options=EvaluationOptions(ties)), measures, missing)
    _, labels = _known(replace(judged, options=EvaluationOptions(unjudged="bounds")), measures, missing)
    assert labels.lowest is not None and labels.highest is not None and labels.tight is not None
    found: dict[str, OpenRange] = {}
    for row, measure in enumerate(measures):
        found[str(measure)] = {
            "worst": _means(measure, ends["worst"][0][row]),
            "best": _means(measure, ends["best"][0][row]),
            "exact": all(one.exact is not None and bool(one.exact[row].all()) for _, one in ends.values()),
            "lowest": _means(measure, labels.lowest[row]),
            "highest": _means(measure, labels.highest[row]),
            "tight": labels.tight[row].all(axis=1).tolist(),
        }
    return found


def _known(judged: Judged, measures: Sequence[Measure], missing: str) -> tuple[Floats, Uncertainty]:
    values, known = values_of(judged, measures, missing)
    assert known is not None
    return values, known


def _means(measure: Measure, values: Floats) -> Floats:
    return np.array([measure.mean(row) for row in values], np.float64)
