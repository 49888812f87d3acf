"""Measures that can ignore unjudged documents: condensed lists (Sakai 2007)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rankscope.measures.base import Measure, parameter

if TYPE_CHECKING:
    from rankscope.judging.kernels import Kernel
    from rankscope.judging.lists import Floats, Lists


class Condensable(Measure, abstract=True):
    """Base class of measures with the parameter ``judged_only``; the formula uses :meth:`visible_lists`."""

    judged_only: bool = parameter(
        False,
        "whether documents without a judgment or with a negative grade are removed from the ranking first",
    )

    def visible_lists(self, lists: Lists) -> Lists:
        """Return the lists that the formula uses: condensed ones with ``judged_only``."""
        return lists.condense() if self.judged_only else lists

    def plain_kernel(self, term: str, divisor: Any = 1.0) -> Kernel | None:
        """Return a kernel of relevant documents down to the cutoff; None with ``judged_only``."""
        from rankscope.judging.kernels import Kernel

        return None if self.judged_only else Kernel(term, getattr(self, "rel", 1), self.cutoff, divisor)

    @property
    def sees_whole_lists(self) -> bool:
        return not self.judged_only

    def rank_weights(self, depth: int) -> Floats | None:
        # In a condensed list the rank of a document depends on the judged documents above it, so ranks have no weights.
        return None if self.judged_only else super().rank_weights(depth)
