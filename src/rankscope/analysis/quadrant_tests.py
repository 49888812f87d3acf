"""Do significant differences in gain coincide with significant differences in effort?

Announced as future work by Ferro et al. (2016). On a topic, each ranking of a pair of runs lies in a cell of the
effort/gain plane. The topics of the pair are divided into those where both rankings lie in the same cell (*within*,
also cell by cell) and the others (*across*); both differences are tested on each part.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

from rankscope.analysis.plane import Planes
from rankscope.analysis.stats.intervals import moments
from rankscope.analysis.stats.significance import all_pairs
from rankscope.arrays import Bools, Floats, Ints
from rankscope.choices import EFFORTS, GAINS
from rankscope.errors import InputError, SettingsError
from rankscope.result import TypedResult, table
from rankscope.rows import Row, RowTable, column


class _Part(Row):
    measure: str = column()
    where: str = column("part of the plane: all, within cells, across cells, or a cell")
    gain: str | None = column()
    effort: str | None = column()


class PartCount(_Part):
    """Pairs of runs by the significance of their differences in gain and in effort."""

    pairs: int = column("number of pairs of runs with enough topics")
    topics: float | None = column("mean number of topics of a pair")
    both: int = column("pairs that differ significantly in both, in the same direction")
    opposite: int = column(
        "pairs that differ significantly in both: the run that gains more costs more effort"
    )
    gain_only: int = column("pairs that differ significantly in gain only")
    effort_only: int = column("pairs that differ significantly in effort only")
    neither: int = column("pairs that do not differ significantly")
    agreement: float | None = column("share of the pairs that are significant by both, or by neither")


class PartPair(_Part):
    """Differences of a pair of runs in a part of the plane."""

    a: str = column()
    b: str = column()
    topics: int = column()
    gain_difference: float = column("mean difference in gain, a minus b")
    gain_p: float = column("p-value of the difference in gain")
    twist_difference: float = column("mean difference in Twist, a minus b")
    twist_p: float = column("p-value of the difference in Twist")


class QuadrantSignificance(TypedResult):
    """Significant differences in gain and in effort, by part of the plane."""

    significance: RowTable[PartCount] = table("counts of significant pairs by part of the plane")
    significance_pairs: RowTable[PartPair] = table("differences of every pair", main=False)


_Tested = tuple[Floats, Floats]
"""Mean difference of every pair on its topics, and the p-value (NaN on too few topics)."""


def quadrant_significance(
    effort: Planes, *, alpha: float = 0.05, min_topics: int = 5
) -> QuadrantSignificance:
    """Count the pairs of runs that differ significantly in gain and in Twist, by gain measure and part of the plane.

    The test is a paired two-sided t test on the topics of the part; pairs with fewer than ``min_topics`` are omitted.

    >>> import rankscope as rs
    >>> qrels = {f"q{i}": {"d": 1} for i in range(9)}
    >>> good = {q: ["d", "x", *"stuv"[: i % 3]] for i, q in enumerate(qrels)}
    >>> poor = {q: [*"stuvw"[: 2 + i % 3], "d"] for i, q in enumerate(qrels)}
    >>> collection = rs.Collection(qrels, {"good": good, "poor": poor})
    >>> result = quadrant_significance(rs.effort(collection, "AP"))
    >>> result.significance[0].both
    1
    """
    if not 0 < alpha < 1:
        raise SettingsError(f"alpha={alpha}", hint="choose a level between 0 and 1, such as 0.05")
    if min_topics < 2:
        raise SettingsError(f"min_topics={min_topics}", hint="a paired test needs at least two topics")
    if len(effort.judged.runs) < 2:
        raise InputError("comparing needs at least two runs", hint="name more runs, or scores of several")
    runs = effort.judged.runs
    first, second = all_pairs(len(runs))
    counts: list[PartCount] = []
    pairs: list[PartPair] = []
    for number, measure in enumerate(effort.gains):
        cell = np.full(effort.judged.grid(effort.twist).shape, -1, np.int64)
        where, rows, columns = effort.cells(number)
        cell.ravel()[where] = 4 * rows + columns
        gain, twist = (effort.judged.grid(values) for values in (effort.gain[number], effort.twist))
        for part, topics in _parts(cell[first], cell[second]):
            tested = topics.sum(axis=1)
            has_enough = tested >= min_topics
            by_gain, by_effort = (_t_tests(v[first] - v[second], topics, has_enough) for v in (gain, twist))
            label = (str(measure), *part)
            by_merit = measure.merit(by_gain[0]), by_gain[1]
            counts.append(PartCount(*label, *_count(by_merit, by_effort, tested, has_enough, alpha)))
            for i in np.flatnonzero(has_enough).tolist():
                names = runs[first[i]], runs[second[i]]
                values = (float(column[i]) for column in (*by_gain, *by_effort))
                pairs.append(PartPair(*label, *names, int(tested[i]), *values))
    caption = f"Significant differences (t test, alpha {alpha:g})"
    return QuadrantSignificance(
        significance=PartCount.table("significance", counts, caption=caption),
        significance_pairs=PartPair.table("significance_pairs", pairs),
        settings={**effort.settings, "alpha": alpha, "min_topics": min_topics, "test": "t"},
    )


def _parts(a: Ints, b: Ints) -> Iterator[tuple[tuple[str, str | None, str | None], Bools]]:
    """Yield the parts of the plane (where, gain, effort) and the topics of each pair in them (pairs, topics).

    ``a`` and ``b`` have the cells of the rankings of each pair and topic (-1: no ranking).
    """
    is_defined = (a >= 0) & (b >= 0)
    yield ("all", None, None), is_defined
    yield ("within", None, None), is_defined & (a == b)
    yield ("across", None, None), is_defined & (a != b)
    for cell, (gain, cost) in enumerate(product(GAINS, EFFORTS)):
        yield ("cell", gain, cost), is_defined & (a == cell) & (b == cell)


def _t_tests(difference: Floats, topics: Bools, has_enough: Bools) -> _Tested:
    """Return Student's paired t test of every pair on its own topics; p is 1 if there is no difference."""
    from scipy.special import stdtr

    mean, error, size = moments(np.where(topics, difference, np.nan))
    # A difference that is the same on every topic up to rounding has no standard error.
    error[error <= 1e-12 * np.abs(mean)] = 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = np.where(mean == 0, 0.0, np.abs(mean) / error)
    return mean, np.where(has_enough, 2 * stdtr(size - 1, -statistic), np.nan)


def _count(gain: _Tested, effort: _Tested, topics: Ints, has_enough: Bools, alpha: float) -> tuple[Any, ...]:
    more, less = gain[1] < alpha, effort[1] < alpha
    same = np.sign(gain[0]) == np.sign(effort[0])
    kinds = (more & less & same, more & less & ~same, more & ~less, ~more & less, ~more & ~less)
    counts = [int((kind & has_enough).sum()) for kind in kinds]
    total = int(has_enough.sum())
    mean = float(topics[has_enough].mean()) if total else None
    return (total, mean, *counts, (counts[0] + counts[4]) / total if total else None)
