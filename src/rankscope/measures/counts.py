"""Plain counts, summed over topics."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from rankscope.measures.base import Better, Binary, Measure, threshold
from rankscope.measures.forms import Additive, Form

if TYPE_CHECKING:
    from rankscope.judging.lists import Floats, Ints, Lists

ORDER = 3
"""Position of these measures in listings."""


class _Count(Measure, abstract=True):
    """Count, which neither the order of documents nor a better grade lowers."""

    summary = "sum"
    better: Better = "neither"
    range = (0.0, float("inf"))
    cutoff_rule: ClassVar[Literal["optional", "required", "none"]] = "none"
    reference = "trec_eval"
    respects_swaps = True
    rewards_grades = True

    def evaluate(self, lists: Lists) -> Floats:
        return np.asarray(self.count(lists), np.float64)

    def count(self, lists: Lists) -> Ints:
        """Return the count of each list."""
        raise TypeError(f"{self.name} defines no count")

    def closed_form(self) -> Form:
        return Additive()


class NumQ(_Count):
    """Number of topics evaluated.

    1 for every topic

    User: No user: a count of topics.
    """

    def count(self, lists: Lists) -> Ints:
        return np.ones(len(lists), np.int64)


class NumRet(_Count):
    """Number of documents retrieved.

    all of them, or with rel only those of that grade or better

    User: Reads everything that was retrieved; the cost is the number of documents.
    """

    rel: int = threshold("count only documents of this grade or better; 0 counts all", 0)

    @property
    def uses_gains(self) -> bool:
        return not self.rel

    def count(self, lists: Lists) -> Ints:
        return lists.relevant(self.rel).count if self.rel else lists.retrieved()


class NumRel(Binary, _Count):
    """Number of relevant documents of the topic, retrieved or not (the recall base).

    R = judged documents of grade rel or better

    User: No user: the number of documents that can be gained on the topic.
    """

    def count(self, lists: Lists) -> Ints:
        return lists.recall_base(self.rel)


class NumRelRet(Binary, _Count):
    """Number of relevant documents retrieved.

    retrieved documents of grade rel or better

    User: Reads everything that was retrieved, at no cost; gains each relevant document in it.
    """

    better = "higher"
    cutoff_rule = "optional"

    def count(self, lists: Lists) -> Ints:
        return lists.relevant(self.rel, self.cutoff).count
