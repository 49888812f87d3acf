"""What is decided about the runs before the page is made: who is tied for first, and what is open about each mean."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from rankscope.analysis.leaderboard import tied_for_first
from rankscope.certainty.values import values_of
from rankscope.judging import Handling, Judged
from rankscope.measures import Measure
from rankscope.scores import score

__all__ = ["open_ranges", "tied_first"]

Floats = npt.NDArray[np.float64]


def tied_first(judged: Judged, measures: Mapping[str, Measure], missing: str) -> dict[str, list[bool]]:
    """For each measure, of every run whether it is tied for first, as :func:`rankscope.leaderboard` says.

    Measures of which no value is better, or that too few topics have, are left out.

    >>> from rankscope.judging import judge
    >>> from rankscope.measures import parse
    >>> from rankscope.read import Qrels, Run, Runs
    >>> qrels = Qrels.from_dict({f"q{i}": {"a": 1} for i in range(9)})
    >>> good, poor = ({f"q{i}": {doc: 1.0} for i in range(9)} for doc in "ab")
    >>> runs = Runs([Run.from_dict(good, name="good"), Run.from_dict(poor, name="poor")])
    >>> tied_first(judge(qrels, runs), {"AP": parse("AP")}, "zero")
    {'AP': [True, False]}
    """
    if not judged.runs or not measures:
        return {}
    scores = score(replace(judged, handling=Handling()), list(measures.values()), missing=missing)
    found = {name: tied_for_first(scores, measure) for name, measure in measures.items()}
    return {name: [bool(one) for one in tied] for name, tied in found.items() if None not in tied}


def open_ranges(judged: Judged, measures: Mapping[str, Measure], missing: str) -> dict[str, dict[str, Any]]:
    """For each measure, the ends of every run's mean over all orders of tied documents, and over all labels.

    ``worst`` and ``best`` are those over orders, where the unjudged documents are not relevant; ``lowest`` and
    ``highest`` those over labels, in the order by document id; ``exact`` and ``tight`` say whether they are reached.
    The lists were judged with ``unjudged="bounds"`` (:func:`rankscope.certainty.values.judged_as`).
    """
    wanted = list(measures.values())
    if not judged.runs or not wanted:
        return {}
    found: dict[str, dict[str, Any]] = {name: {} for name in measures}
    for ties in ("worst", "best"):
        values, known = values_of(replace(judged, handling=Handling(ties)), wanted, missing)
        assert known is not None and known.exact is not None
        for row, (name, measure) in enumerate(measures.items()):
            found[name][ties] = _means(measure, values[row])
            found[name]["exact"] = found[name].get("exact", True) and bool(known.exact[row].all())
    _, known = values_of(replace(judged, handling=Handling(unjudged="bounds")), wanted, missing)
    assert known is not None and known.lowest is not None and known.highest is not None
    assert known.tight is not None
    for row, (name, measure) in enumerate(measures.items()):
        found[name]["lowest"] = _means(measure, known.lowest[row])
        found[name]["highest"] = _means(measure, known.highest[row])
        found[name]["tight"] = known.tight[row].all(axis=1).tolist()
    return found


def _means(measure: Measure, values: Floats) -> Floats:
    return np.array([measure.mean(row) for row in values], np.float64)
