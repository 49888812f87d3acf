"""How many preferences a ranking keeps, in the several ways trec_eval counts them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

__all__ = ["Counts", "Group"]

Matrix = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Group:
    """The preferences of one group over the documents of a topic.

    Documents are numbered as the ranking has them, the ``retrieved`` ones first; ``prefers[i, j]`` says that i is to
    stand before j. ``level`` is NaN for documents the group does not know. The groups made of several subgroups are
    ``partial``: their levels cannot be compared.
    """

    prefers: Matrix
    level: npt.NDArray[np.float64]
    retrieved: int
    partial: bool

    @cached_property
    def kept_both(self) -> int:
        """Preferences that the ranking keeps, both documents retrieved."""
        return int(np.triu(self.prefers[: self.retrieved, : self.retrieved]).sum())

    @cached_property
    def both(self) -> int:
        """Preferences between documents that were both retrieved."""
        return int(self.prefers[: self.retrieved, : self.retrieved].sum())

    @cached_property
    def kept_one(self) -> int:
        """Preferences of a retrieved document over one that was not: kept, by implication."""
        return int(self.prefers[: self.retrieved, self.retrieved :].sum())

    @cached_property
    def one(self) -> int:
        """Preferences of which one document was retrieved."""
        return self.kept_one + int(self.prefers[self.retrieved :, : self.retrieved].sum())

    @cached_property
    def neither(self) -> int:
        """Preferences of which no document was retrieved."""
        return int(self.prefers[self.retrieved :, self.retrieved :].sum())

    @cached_property
    def _relevant(self) -> Matrix:
        return self.level > 0

    @cached_property
    def _nonrelevant(self) -> Matrix:
        return (self.level == 0) if self.partial else (self.level <= 0)

    def balanced(self) -> float:
        """The share of preferences kept if there were as many non-relevant documents as relevant ones."""
        relevant, nonrelevant = int(self._relevant.sum()), int(self._nonrelevant.sum())
        if relevant < nonrelevant:
            return self._with_first_nonrelevant(relevant, len(self.level))
        kept = (
            self.kept_both
            + self.kept_one
            + int(self._relevant[: self.retrieved].sum()) * (relevant - nonrelevant)
        )
        possible = self.both + self.one + self.neither + relevant * (relevant - nonrelevant)
        return _share(kept, possible)

    def balanced_retrieved(self) -> float:
        """The same over retrieved documents only."""
        end = self.retrieved
        relevant, nonrelevant = int(self._relevant[:end].sum()), int(self._nonrelevant[:end].sum())
        if relevant < nonrelevant:
            # trec_eval keeps as many non-relevant documents as there are relevant ones, retrieved or not, here
            return self._with_first_nonrelevant(int(self._relevant.sum()) if self.partial else relevant, end)
        kept = self.kept_both + relevant * (relevant - nonrelevant)
        return _share(kept, self.both + int(self._relevant.sum()) * (relevant - nonrelevant))

    def _with_first_nonrelevant(self, count: int, end: int) -> float:
        """The share kept among the first ``end`` documents with only the first non-relevant ones of them."""
        if self.partial:
            nonrelevant = np.flatnonzero(self._nonrelevant[:end])
            prefers = self.prefers[:end, :end].copy()
            prefers[nonrelevant[count:]] = False
            prefers[:, nonrelevant[count:]] = False
        else:
            prefers = self._against_first(count, end)
        kept = np.triu(prefers, 1)[: self.retrieved]
        return _share(int(kept.sum()), int(prefers.sum()))

    def _against_first(self, count: int, end: int) -> Matrix:
        """Preferences among the upper levels, and of every document over the first of the lowest level.

        Of every document: trec_eval compares the documents of the lowest level with each other and themselves too.
        """
        level = self.level[:end]
        lowest = np.nanmin(self.level)
        prefers = self.prefers[:end, :end] & (level > lowest)
        prefers[:, np.flatnonzero(level == lowest)[:count]] = ~np.isnan(level)[:, np.newaxis]
        return prefers


@dataclass(frozen=True)
class Counts:
    """The preferences of all groups of a topic, ``size`` documents of which the first ``retrieved`` were retrieved."""

    groups: Sequence[Group]
    size: int
    retrieved: int

    def value(self, name: str) -> float:
        """A measure by trec_eval's name for it."""
        return _VALUES[name](self)

    def added(self, *names: str) -> int:
        """Counts of the groups together."""
        return sum(getattr(group, name) for group in self.groups for name in names)

    def mean_share(self, kept: Sequence[str], possible: Sequence[str]) -> float:
        """The share of preferences kept, averaged over groups."""
        shares = [
            _share(sum(getattr(group, name) for name in kept), sum(getattr(group, name) for name in possible))
            for group in self.groups
        ]
        return _mean([share if share == share else 0.0 for share in shares])

    @cached_property
    def _votes(self) -> npt.NDArray[np.int32]:
        votes = np.zeros((self.size, self.size), np.int32)
        for group in self.groups:
            votes += group.prefers
        return votes

    def pairs(self, *, unseen_halves: bool, unseen: bool) -> float:
        """The mean over pairs of documents of the share of groups whose preference is kept."""
        votes = self._votes
        first, second = np.triu_indices(self.size, 1)
        if not unseen:
            inside = first < self.retrieved if unseen_halves else second < self.retrieved
            first, second = first[inside], second[inside]
        right, wrong = votes[first, second], votes[second, first]
        some = right + wrong > 0
        shares = right[some] / (right + wrong)[some]
        # neither document retrieved: the pair counts as a failure
        shares = np.where(first[some] < self.retrieved, shares, 0.0)
        return float(shares.mean()) if len(shares) else 0.0

    def simple(self, kept: Sequence[str], possible: Sequence[str]) -> float:
        """The share of all preferences that is kept."""
        share = _share(self.added(*kept), self.added(*possible))
        return share if share == share else 0.0


def _share(kept: int, possible: int) -> float:
    return kept / possible if possible else float("nan")


def _mean(shares: Sequence[float]) -> float:
    """The mean over groups; 0 if one of them has none, as trec_eval leaves a sum that is no number out."""
    added = sum(shares)
    return added / len(shares) if added > 0 else 0.0


_BOTH, _ONE, _ALL = ("both",), ("both", "one"), ("both", "one", "neither")
_KEPT_BOTH, _KEPT = ("kept_both",), ("kept_both", "kept_one")

_VALUES: dict[str, Callable[[Counts], float]] = {
    "prefs_num_prefs_poss": lambda c: c.added(*_ALL),
    "prefs_num_prefs_ful": lambda c: c.added(*_KEPT),
    "prefs_num_prefs_ful_ret": lambda c: c.added(*_KEPT_BOTH),
    "prefs_simp": lambda c: c.simple(_KEPT, _ALL),
    "prefs_pair": lambda c: c.pairs(unseen_halves=True, unseen=True),
    "prefs_avgjg": lambda c: c.mean_share(_KEPT, _ALL),
    "prefs_avgjg_Rnonrel": lambda c: _mean([group.balanced() for group in c.groups]),
    "prefs_simp_ret": lambda c: c.simple(_KEPT_BOTH, _BOTH),
    "prefs_pair_ret": lambda c: c.pairs(unseen_halves=False, unseen=False),
    "prefs_avgjg_ret": lambda c: c.mean_share(_KEPT_BOTH, _BOTH),
    "prefs_avgjg_Rnonrel_ret": lambda c: _mean([group.balanced_retrieved() for group in c.groups]),
    "prefs_simp_imp": lambda c: c.simple(_KEPT, _ONE),
    "prefs_pair_imp": lambda c: c.pairs(unseen_halves=True, unseen=False),
    "prefs_avgjg_imp": lambda c: c.mean_share(_KEPT, _ONE),
}
