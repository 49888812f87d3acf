"""The means of the runs where something else is asked: at other cutoffs, and with fewer judgments."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import numpy as np

from rankscope.analysis.pools import mean_scores, robustness_of
from rankscope.errors import MeasureError
from rankscope.judging import Judged
from rankscope.judging.lists import Floats
from rankscope.measures import Measure
from rankscope.reporting.schema import Order

__all__ = ["CUTOFFS", "DEPTHS", "RATIOS", "other_orders"]

CUTOFFS = (5, 10, 20, 50, 100, 1000)
DEPTHS = (20, 10, 5)
RATIOS = (50, 20, 10)
MOST_HITS = 3_000_000
"""Judged documents in all lists up to which they are judged again; more would take long."""


def other_orders(judged: Judged, measures: Sequence[Measure], missing: str = "zero") -> list[Order]:
    """Of each measure the means at several cutoffs, and from smaller pools (:func:`rankscope.pool_robustness`).

    >>> from rankscope.judging import judge
    >>> from rankscope.measures import parse
    >>> from rankscope.read import Qrels, Run, Runs
    >>> runs = Runs(Run.from_dict({"q": ["a"]}, name=name) for name in "xy")
    >>> lists = judge(Qrels.from_dict({"q": {"a": 1}}), runs)
    >>> [(one["across"], one["columns"][:2]) for one in other_orders(lists, [parse("P@10")])]
    [('cutoffs', ['P@5', 'P@10']), ('pools', ['all judgments', 'depth 20'])]
    """
    if len(judged.runs) < 2 or not len(judged.topics) or len(judged.rank) > MOST_HITS:
        return []
    return [*_cutoffs(judged, measures, missing), *_pools(judged, measures, missing)]


def _cutoffs(judged: Judged, measures: Sequence[Measure], missing: str) -> list[Order]:
    deeper = {m: found for m in measures if m.family != "effort" and len(found := _at_cutoffs(m)) > 1}
    means: dict[Measure, Floats] = {}
    for one in dict.fromkeys(one for found in deeper.values() for one in found):
        with suppress(MeasureError):  # too many rankings for an interval scale, for example
            means[one] = mean_scores(judged, [one], missing)[0]
    deeper = {m: [one for one in found if one in means] for m, found in deeper.items()}
    return [
        {
            "across": "cutoffs",
            "measure": str(m),
            "columns": [str(one) for one in found],
            "means": np.concatenate([means[one] for one in found]),
        }
        for m, found in deeper.items()
        if len(found) > 1
    ]


def _at_cutoffs(measure: Measure) -> list[Measure]:
    """The measure at all cutoffs that it can have."""
    if measure.cutoff_rule == "none":
        return []
    found = []
    for cutoff in CUTOFFS:
        try:
            found.append((measure @ cutoff).complete())
        except MeasureError:
            continue
    return found


def _pools(judged: Judged, measures: Sequence[Measure], missing: str) -> list[Order]:
    done = robustness_of(judged, measures, ratios=RATIOS, depths=DEPTHS, missing=missing)["means"]
    rows: dict[str, dict[str, list[float]]] = {}
    for _, measure, pool, _, value, _ in done.rows:
        label = "all judgments" if pool == "full" else pool if isinstance(pool, str) else f"{pool}%"
        rows.setdefault(str(measure), {}).setdefault(str(label), []).append(float(value))  # type: ignore[arg-type]
    return [
        {
            "across": "pools",
            "measure": measure,
            "columns": list(found),
            "means": np.concatenate([np.array(values) for values in found.values()]),
        }
        for measure, found in rows.items()
    ]
