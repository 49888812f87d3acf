"""Exact mean of cascade measures over all orders of tied documents."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from rankscope.measures.forms import Form

if TYPE_CHECKING:
    from rankscope.arrays import AnyArray, Floats, Ints
    from rankscope.judging.tied import HitGroups, TiedLists
    from rankscope.measures.base import Measure

_CELLS = 1 << 20
"""Number of cells of one padded matrix, which bounds memory."""


class Cascade(Form):
    """A cascade: the user stops at a document with a probability given by its grade and gains a value of the rank.

    M = sum over ranks i of value(i) * stop_i * product over j < i of (1 - stop_j)
    The mean of the product over j documents of a group of n is e_j / C(n, j), with e_j the elementary symmetric
    function of their 1 - stop; the probability of passing the documents above a group does not depend on its order.
    """

    def __init__(self, stops: Callable[[AnyArray, int], Floats], value: Callable[[AnyArray], Floats]) -> None:
        self.stops, self.value = stops, value

    def expected(self, measure: Measure, lists: TiedLists, value: Floats) -> Floats:
        rows, reachable = self._select_reachable(lists)
        result = value.copy()
        if len(rows):
            result[rows] = self._expected_over_groups(measure, reachable)
        return result

    def _select_reachable(self, lists: TiedLists) -> tuple[Ints, TiedLists]:
        """Return the lists in which ties matter, cut at the first document where every user stops."""
        hits = lists.relevant(1)
        sure = np.flatnonzero(self.stops(hits.grade, lists.pool.max_grade) == 1)
        last = np.full(len(lists), np.iinfo(np.int32).max)
        owner = hits.list[sure]
        head = np.flatnonzero(np.diff(owner, prepend=-1))
        last[owner[head]] = hits.rank[sure[head]]
        tied = lists.tied(1)
        rows = np.unique(tied.list[tied.first <= last[tied.list]])
        return rows, lists.relevant_lists(rows, last)

    def _expected_over_groups(self, measure: Measure, lists: TiedLists) -> Floats:
        from rankscope.judging.lists import Hits

        grade = lists.grade()
        groups = lists.groups(grade >= 1)
        passes = 1.0 - self.stops(grade[groups.member], lists.pool.max_grade)
        pass_probability, stop_probability = _pass_and_stop_probabilities(groups, passes)
        reached = Hits(len(lists), groups.list, groups.first, groups.first, groups.first).product_before(
            pass_probability
        )
        group, position = groups.ranks()
        rank = groups.first[group] + position - 1
        value = np.where(rank <= (measure.cutoff or np.inf), self.value(rank), 0.0)
        return np.bincount(
            groups.list[group], weights=reached[group] * stop_probability * value, minlength=len(lists)
        ).astype(np.float64, copy=False)


def _pass_and_stop_probabilities(groups: HitGroups, passes: Floats) -> tuple[Floats, Floats]:
    """Return the mean probability of passing each whole group, and of stopping at each of its ranks.

    The recursion adds documents one at a time, starting from those with stopping probability 0. The mean product over
    j of m documents is p(m, j) = (1 - j/m) p(m-1, j) + j/m * q p(m-1, j-1), where q belongs to the m-th document.
    """
    starts = np.concatenate([[0], np.cumsum(groups.size)])
    begin = np.concatenate([[0], np.cumsum(groups.n_hits)])
    pass_probability, stop_probability = np.ones(len(groups.size)), np.zeros(int(starts[-1]))
    order = np.argsort(groups.size, kind="stable")
    first = 0
    while first < len(order):
        last = first + 1
        while last < len(order) and (last + 1 - first) * int(groups.size[order[last]] + 1) <= _CELLS:
            last += 1
        block = order[first:last]
        width, max_held = int(groups.size[block].max()), int(groups.n_hits[block].max())
        mean = np.ones((len(block), width + 1))
        position = np.arange(1, width + 1)
        for element in range(max_held):
            active = np.flatnonzero(groups.n_hits[block] > element)
            group = block[active]
            m = (groups.size[group] - groups.n_hits[group] + element + 1)[:, np.newaxis]
            q = passes[begin[group] + element][:, np.newaxis]
            share = np.minimum(position / m, 1.0)
            mean[active, 1:] = (1.0 - share) * mean[active, 1:] + share * q * mean[active, :-1]
        rows = np.repeat(np.arange(len(block)), groups.size[block])
        size = groups.size[block]
        at = np.arange(len(rows)) - np.repeat(np.cumsum(size) - size, size)
        stop_probability[starts[block][rows] + at] = mean[rows, at] - mean[rows, at + 1]
        pass_probability[block] = mean[np.arange(len(block)), groups.size[block]]
        first = last
    return pass_probability, stop_probability
