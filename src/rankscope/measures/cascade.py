"""Measures whose user stops somewhere: their mean over all orders of tied documents, exactly."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from rankscope.measures.forms import Form

if TYPE_CHECKING:
    import numpy.typing as npt

    from rankscope.judging.lists import Floats, Ints
    from rankscope.judging.tied import Groups, TiedLists
    from rankscope.measures.base import Measure

__all__ = ["Cascade"]

_CELLS = 1 << 20
"""Cells of a padded matrix held at a time."""


class Cascade(Form):
    """The user stops at a document with a probability that its grade gives, and gains something by the rank reached.

    M = sum over ranks i of value(i) * stop_i * product over j < i of (1 - stop_j)
    The mean of the product over j documents of a group of n is e_j / C(n, j), with e_j the elementary symmetric
    function of their 1 - stop; documents before the group are as likely to be passed whatever the order inside.
    """

    def __init__(
        self, stops: Callable[[npt.NDArray[Any], int], Floats], value: Callable[[npt.NDArray[Any]], Floats]
    ) -> None:
        self.stops, self.value = stops, value

    def expected(self, measure: Measure, lists: TiedLists, value: Floats) -> Floats:
        some, fewer = self._reached(lists)
        result = value.copy()
        if len(some):
            result[some] = self._of_groups(measure, fewer)
        return result

    def _reached(self, lists: TiedLists) -> tuple[Ints, TiedLists]:
        """The lists in which tied documents matter, and their relevant documents down to one that nobody passes."""
        hits = lists.relevant(1)
        sure = np.flatnonzero(self.stops(hits.grade, lists.pool.max_grade) == 1)
        last = np.full(len(lists), np.iinfo(np.int32).max)
        owner = hits.list[sure]
        head = np.flatnonzero(np.diff(owner, prepend=-1))
        last[owner[head]] = hits.rank[sure[head]]
        tied = lists.tied(1)
        some = np.unique(tied.list[tied.first <= last[tied.list]])
        return some, lists.relevant_lists(some, last)

    def _of_groups(self, measure: Measure, lists: TiedLists) -> Floats:
        from rankscope.judging.lists import Hits

        grade = lists.grade()
        groups = lists.groups(grade >= 1)
        passes = 1.0 - self.stops(grade[groups.member], lists.pool.max_grade)
        through, stopped = _passed(groups, passes)
        reached = Hits(len(lists), groups.list, groups.first, groups.first, groups.first).product_before(
            through
        )
        group, place = groups.ranks()
        rank = groups.first[group] + place - 1
        value = np.where(rank <= (measure.cutoff or np.inf), self.value(rank), 0.0)
        return np.bincount(
            groups.list[group], weights=reached[group] * stopped * value, minlength=len(lists)
        ).astype(np.float64, copy=False)


def _passed(groups: Groups, passes: Floats) -> tuple[Floats, Floats]:
    """For each group the mean product of all, and for each of its ranks the probability of stopping there.

    Documents are added one by one to those that nobody stops at: the mean product over j of m documents is
    p(m, j) = (1 - j/m) p(m-1, j) + j/m * q p(m-1, j-1), where q is that of the m-th.
    """
    starts = np.concatenate([[0], np.cumsum(groups.size)])
    begin = np.concatenate([[0], np.cumsum(groups.held)])
    through, stopped = np.ones(len(groups.size)), np.zeros(int(starts[-1]))
    order = np.argsort(groups.size, kind="stable")
    first = 0
    while first < len(order):
        last = first + 1
        while last < len(order) and (last + 1 - first) * int(groups.size[order[last]] + 1) <= _CELLS:
            last += 1
        mine = order[first:last]
        width, most = int(groups.size[mine].max()), int(groups.held[mine].max())
        mean = np.ones((len(mine), width + 1))
        place = np.arange(1, width + 1)
        for element in range(most):
            more = np.flatnonzero(groups.held[mine] > element)
            which = mine[more]
            m = (groups.size[which] - groups.held[which] + element + 1)[:, np.newaxis]
            q = passes[begin[which] + element][:, np.newaxis]
            share = np.minimum(place / m, 1.0)
            mean[more, 1:] = (1.0 - share) * mean[more, 1:] + share * q * mean[more, :-1]
        rows = np.repeat(np.arange(len(mine)), groups.size[mine])
        at = np.arange(len(rows)) - np.repeat(
            np.cumsum(groups.size[mine]) - groups.size[mine], groups.size[mine]
        )
        stopped[starts[mine][rows] + at] = mean[rows, at] - mean[rows, at + 1]
        through[mine] = mean[np.arange(len(mine)), groups.size[mine]]
        first = last
    return through, stopped
