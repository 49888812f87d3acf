"""Archetypes of CRP curves (Ferro et al. 2016, Table 2 and Figure 3)."""

from __future__ import annotations

import numpy as np

from rankscope.arrays import Bools, Floats, Ints, NDArray
from rankscope.judging.lists import Hits, Lists
from rankscope.measures.effort_curves import Curves, get_curves

ARCHETYPES = {
    "ideal": "CRP is 0 at every rank",
    "excellent A": "recovered by RB, and only relevant documents in the first RB ranks",
    "excellent B": "recovered by RB, with non-relevant documents in the first RB ranks",
    "ups-and-downs": "recovered by RB, then below the axis again before RB",
    "typical A": "recovered after RB",
    "typical B": "never recovered",
    "full scale": "the ideal list reversed",
    "worst": "no relevant document retrieved",
}
"""Archetypes and their conditions, from the best to the worst."""

Names = NDArray[np.str_]


def find_archetypes(
    lists: Lists, *, crossing: str = "sign-change", cutoff: int = 1000, rel: int = 1
) -> Names:
    """Return the archetype of each list; an empty string if the topic has no relevant document.

    Conditions are tested in this order: worst, ideal, full scale; then by the first crossing m: the excellent family
    if m <= RB, typical A if m > RB, typical B without a crossing. Inside the family a list is ups-and-downs if
    CRP < 0 again at a rank in m + 2 .. RB, else excellent A if the first RB ranks hold relevant documents only, else
    excellent B.

    >>> from rankscope.judging import judge
    >>> from rankscope.read import Qrels, Run
    >>> qrels = Qrels.from_dict({"q1": {"d1": 1, "d2": 1}})
    >>> find_archetypes(judge(qrels, Run.from_dict({"q1": ["x", "d1", "d2", "y"]})).lists).tolist()
    ['typical B']
    """
    curves = get_curves(lists, rel, cutoff)
    hits, base = curves.hits, curves.base
    m = curves.crossing(crossing)
    top = hits.sum(hits.rank <= base[hits.list])
    tests = {
        "": base == 0,
        "worst": hits.count == 0,
        "ideal": curves.level,
        "full scale": _is_full_scale(hits, base, curves.length),
        "typical B": np.isinf(m),
        "typical A": m > base,
        "ups-and-downs": _is_negative_again(curves, m),
        "excellent A": top == base,
    }
    return np.select(list(tests.values()), list(tests), "excellent B")


def _is_full_scale(hits: Hits, base: Ints, length: Ints) -> Bools:
    """Return whether all relevant documents occupy the last RB ranks in ascending order of grade."""
    is_descending = np.zeros(len(hits))
    is_descending[1:] = (hits.grade[1:] < hits.grade[:-1]) & (hits.list[1:] == hits.list[:-1])
    is_at_end = hits.first(hits.rank, -1) == length - base + 1
    return np.asarray((hits.count == base) & is_at_end & (hits.sum(is_descending) == 0))


def _is_negative_again(curves: Curves, m: Floats) -> Bools:
    """Return whether CRP < 0 at a rank in m + 2 .. RB. CRP falls between hits, so the ends of the gaps suffice."""
    hits, base = curves.hits, curves.base
    start, end = m[hits.list] + 2, base[hits.list]
    above = (curves.before < 0) & (hits.rank - 1 >= start) & (hits.rank - 1 <= end)
    below = (curves.after < 0) & (hits.rank >= start) & (hits.rank <= end)
    at_base = (curves.loss < 0) & (base >= m + 2)
    return np.asarray((hits.sum(above | below) > 0) | at_base)
