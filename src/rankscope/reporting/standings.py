"""Standings of the runs in the report: runs tied for first, bounds of means, and orders at other cutoffs and pools."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from rankscope.analysis.leaderboard import tied_for_first
from rankscope.analysis.rank_changes import means_by_cutoff, means_by_pool
from rankscope.arrays import Floats
from rankscope.certainty.values import Uncertainty, compute_values
from rankscope.judging import EvaluationOptions, Judged
from rankscope.measures import Measure
from rankscope.reporting.schema import OpenRange, Order
from rankscope.scores import Scores, score

MAX_HITS = 3_000_000
"""Maximum number of hits of all lists; judging more of them again would take long."""


def tied_first(scores: Scores) -> dict[str, list[bool]]:
    """Return for each measure a mask of the runs tied for first, as in :func:`rankscope.leaderboard`.

    Measures without a direction, or with too few topics, are omitted.

    >>> from rankscope.scores import evaluate
    >>> good, poor = ({f"q{i}": {doc: 1.0} for i in range(9)} for doc in "ab")
    >>> tied_first(evaluate({f"q{i}": {"a": 1} for i in range(9)}, {"good": good, "poor": poor}, "AP"))
    {'AP': [True, False]}
    """
    if not scores.runs:
        return {}
    masks = {str(measure): tied_for_first(scores, measure) for measure in scores.measures}
    return {name: [bool(value) for value in mask] for name, mask in masks.items() if None not in mask}


def open_ranges(judged: Judged, measures: Sequence[Measure], missing: str) -> dict[str, OpenRange]:
    """Return for each measure the bounds of all means over orders of tied documents, and over labels.

    ``worst`` and ``best`` are over orders, with unjudged documents not relevant; ``lowest`` and ``highest`` are over
    labels, in the order by document id; ``exact`` and ``tight`` state whether they are attained. The lists must be
    judged with ``ties=True`` (:func:`rankscope.judge`).
    """
    if not judged.runs or not measures:
        return {}
    ends: dict[str, tuple[Floats, Uncertainty]] = {}
    for ties in ("worst", "best"):
        ends[ties] = _evaluate(replace(judged, options=EvaluationOptions(ties)), measures, missing)
    _, labels = _evaluate(replace(judged, options=EvaluationOptions(unjudged="bounds")), measures, missing)
    assert labels.lowest is not None and labels.highest is not None and labels.tight is not None
    ranges: dict[str, OpenRange] = {}
    for row, measure in enumerate(measures):
        ranges[str(measure)] = {
            "worst": _means(measure, ends["worst"][0][row]),
            "best": _means(measure, ends["best"][0][row]),
            "exact": all(end.exact is not None and bool(end.exact[row].all()) for _, end in ends.values()),
            "lowest": _means(measure, labels.lowest[row]),
            "highest": _means(measure, labels.highest[row]),
            "tight": labels.tight[row].all(axis=1).tolist(),
        }
    return ranges


def _evaluate(judged: Judged, measures: Sequence[Measure], missing: str) -> tuple[Floats, Uncertainty]:
    values, uncertainty = compute_values(judged, measures, missing)
    assert uncertainty is not None
    return values, uncertainty


def _means(measure: Measure, values: Floats) -> Floats:
    return np.array([measure.mean(row) for row in values], np.float64)


def other_orders(judged: Judged, measures: Sequence[Measure], missing: str) -> list[Order]:
    """Return the means of each measure at several cutoffs and from smaller pools, as in :func:`rankscope.certain`.

    >>> from rankscope.judging import judge
    >>> from rankscope.measures import parse
    >>> from rankscope.read import Qrels, Run, Runs
    >>> runs = Runs(Run.from_dict({"q": ["a"]}, name=name) for name in "xy")
    >>> lists = judge(Qrels.from_dict({"q": {"a": 1}}), runs)
    >>> [(one["across"], one["columns"][:2]) for one in other_orders(lists, [parse("P@10")], "zero")]
    [('cutoffs', ['P@5', 'P@10']), ('pools', ['all judgments', 'depth 20'])]
    """
    if len(judged.runs) < 2 or not len(judged.topics) or len(judged.rank) > MAX_HITS:
        return []
    cutoffs = means_by_cutoff(judged, measures, missing)
    orders: list[tuple[Literal["cutoffs", "pools"], Any, Mapping[Any, Floats]]] = [
        *(("cutoffs", measure, means) for measure, means in cutoffs.items() if len(means) > 1),
        *(("pools", *order) for order in means_by_pool(score(judged, measures, missing=missing)).items()),
    ]
    return [
        {"across": across, "measure": str(m), "columns": [*map(str, means)], "means": np.concatenate([*means.values()])}
        for across, m, means in orders
    ]  # fmt: skip
