"""Measures that can look at judged documents only: at condensed lists (Sakai 2007)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankscope.measures.base import Measure, parameter

if TYPE_CHECKING:
    from rankscope.judging.lists import Floats, Lists

__all__ = ["Condensable"]


class Condensable(Measure, abstract=True):
    """A measure with the parameter ``judged_only``; its formula looks at :meth:`seen`."""

    judged_only: bool = parameter(
        False,
        "whether documents without a judgment, or with a negative grade, are first taken out of the list",
    )

    def seen(self, lists: Lists) -> Lists:
        """The lists that the formula looks at."""
        return lists.condensed() if self.judged_only else lists

    @property
    def sees_whole_lists(self) -> bool:
        return not self.judged_only

    def rank_weights(self, depth: int) -> Floats | None:
        # where the rank of a document depends on how many above it were judged, ranks of the list have no weights
        return None if self.judged_only else super().rank_weights(depth)
