"""Means of the runs at other cutoffs, and from smaller pools."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from rankscope.analysis.rank_changes import means_by_cutoff, means_by_pool
from rankscope.arrays import Floats
from rankscope.judging import Judged
from rankscope.measures import Measure
from rankscope.reporting.schema import Order
from rankscope.scores import score

MAX_HITS = 3_000_000
"""Maximum number of hits of all lists; judging more of them again would take long."""


def other_orders(judged: Judged, measures: Sequence[Measure], missing: str = "zero") -> list[Order]:
    """Return the means of each measure at several cutoffs and from smaller pools, as in :func:`rankscope.certain`.

    >>> from rankscope.judging import judge
    >>> from rankscope.measures import parse
    >>> from rankscope.read import Qrels, Run, Runs
    >>> runs = Runs(Run.from_dict({"q": ["a"]}, name=name) for name in "xy")
    >>> lists = judge(Qrels.from_dict({"q": {"a": 1}}), runs)
    >>> [(one["across"], one["columns"][:2]) for one in other_orders(lists, [parse("P@10")])]
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
