"""The means of the runs where something else is asked: at other cutoffs, and with fewer judgments."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rankscope.analysis.rank_changes import means_by_cutoff, means_by_pool
from rankscope.judging import Judged
from rankscope.measures import Measure
from rankscope.reporting.schema import Order
from rankscope.scores import score

__all__ = ["other_orders"]

MOST_HITS = 3_000_000
"""Judged documents in all lists up to which they are judged again; more would take long."""


def other_orders(judged: Judged, measures: Sequence[Measure], missing: str = "zero") -> list[Order]:
    """Of each measure the means at several cutoffs, and from smaller pools, as :func:`rankscope.certain` follows them.

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
    return [
        {
            "across": "cutoffs",
            "measure": str(m),
            "columns": [str(one) for one in found],
            "means": np.concatenate(list(found.values())),
        }
        for m, found in means_by_cutoff(judged, measures, missing).items()
        if len(found) > 1
    ]


def _pools(judged: Judged, measures: Sequence[Measure], missing: str) -> list[Order]:
    return [
        {
            "across": "pools",
            "measure": measure,
            "columns": list(found),
            "means": np.concatenate(list(found.values())),
        }
        for measure, found in means_by_pool(score(judged, measures, missing=missing)).items()
    ]
