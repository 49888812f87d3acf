"""Counts and shares of the preferences that a ranking fulfils, as defined by trec_eval's ``prefs_`` measures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rankscope.arrays import Bools, Floats, Int32s


@dataclass(frozen=True)
class PreferenceGroup:
    """Preferences of one group over the documents of a topic.

    Documents are numbered in the order of the ranking, the ``n_retrieved`` retrieved ones first; ``prefers[i, j]`` is
    True if i is preferred to j. ``level`` is NaN for documents outside the group. A group of several subgroups is
    ``partial``: levels of different subgroups are not comparable.
    """

    prefers: Bools
    level: Floats
    n_retrieved: int
    partial: bool

    @cached_property
    def n_fulfilled_both(self) -> int:
        """Number of fulfilled preferences between two retrieved documents."""
        return int(np.triu(self.prefers[: self.n_retrieved, : self.n_retrieved]).sum())

    @cached_property
    def n_both(self) -> int:
        """Number of preferences between two retrieved documents."""
        return int(self.prefers[: self.n_retrieved, : self.n_retrieved].sum())

    @cached_property
    def n_fulfilled_one(self) -> int:
        """Number of preferences of a retrieved document over an unretrieved one: fulfilled by implication."""
        return int(self.prefers[: self.n_retrieved, self.n_retrieved :].sum())

    @cached_property
    def n_one(self) -> int:
        """Number of preferences between a retrieved and an unretrieved document."""
        return self.n_fulfilled_one + int(self.prefers[self.n_retrieved :, : self.n_retrieved].sum())

    @cached_property
    def n_neither(self) -> int:
        """Number of preferences between two unretrieved documents."""
        return int(self.prefers[self.n_retrieved :, self.n_retrieved :].sum())

    @cached_property
    def _relevant(self) -> Bools:
        return self.level > 0

    @cached_property
    def _nonrelevant(self) -> Bools:
        return (self.level == 0) if self.partial else (self.level <= 0)

    def balanced(self) -> float:
        """Return the share of preferences fulfilled with as many non-relevant documents as relevant ones."""
        relevant, nonrelevant = int(self._relevant.sum()), int(self._nonrelevant.sum())
        if relevant < nonrelevant:
            return self._share_with_first_nonrelevant(relevant, len(self.level))
        found = int(self._relevant[: self.n_retrieved].sum())
        fulfilled = self.n_fulfilled_both + self.n_fulfilled_one + found * (relevant - nonrelevant)
        possible = self.n_both + self.n_one + self.n_neither + relevant * (relevant - nonrelevant)
        return _share(fulfilled, possible)

    def balanced_retrieved(self) -> float:
        """Return :meth:`balanced`, restricted to retrieved documents."""
        end = self.n_retrieved
        relevant, nonrelevant = int(self._relevant[:end].sum()), int(self._nonrelevant[:end].sum())
        if relevant < nonrelevant:
            # For partial groups, trec_eval counts all relevant documents here, retrieved or not.
            return self._share_with_first_nonrelevant(
                int(self._relevant.sum()) if self.partial else relevant, end
            )
        fulfilled = self.n_fulfilled_both + relevant * (relevant - nonrelevant)
        return _share(fulfilled, self.n_both + int(self._relevant.sum()) * (relevant - nonrelevant))

    def _share_with_first_nonrelevant(self, count: int, end: int) -> float:
        """Return the share fulfilled among the first ``end`` documents, with the first ``count`` non-relevant ones."""
        if self.partial:
            nonrelevant = np.flatnonzero(self._nonrelevant[:end])
            prefers = self.prefers[:end, :end].copy()
            prefers[nonrelevant[count:]] = False
            prefers[:, nonrelevant[count:]] = False
        else:
            prefers = self._against_first(count, end)
        fulfilled = np.triu(prefers, 1)[: self.n_retrieved]
        return _share(int(fulfilled.sum()), int(prefers.sum()))

    def _against_first(self, count: int, end: int) -> Bools:
        """Return preferences among the upper levels, and of every document over the first ones of the lowest level.

        Like trec_eval, this also compares documents of the lowest level with each other and with themselves.
        """
        level = self.level[:end]
        lowest = np.nanmin(self.level)
        prefers = self.prefers[:end, :end] & (level > lowest)
        prefers[:, np.flatnonzero(level == lowest)[:count]] = ~np.isnan(level)[:, np.newaxis]
        return prefers


@dataclass(frozen=True)
class PreferenceCounts:
    """Preferences of all groups of a topic.

    The first ``n_retrieved`` of the ``n_documents`` documents are retrieved.
    """

    groups: Sequence[PreferenceGroup]
    n_documents: int
    n_retrieved: int

    def value(self, name: str) -> float:
        """Return the value of a measure by its name in trec_eval."""
        return _VALUES[name](self)

    def total(self, *names: str) -> int:
        """Return the sum of these counts over groups."""
        return sum(getattr(group, name) for group in self.groups for name in names)

    def mean_share(self, fulfilled: Sequence[str], possible: Sequence[str]) -> float:
        """Return the share of fulfilled preferences, averaged over groups."""
        shares = []
        for group in self.groups:
            counts = [sum(getattr(group, name) for name in names) for names in (fulfilled, possible)]
            shares.append(_share(*counts))
        return _mean([share if share == share else 0.0 for share in shares])

    @cached_property
    def _votes(self) -> Int32s:
        votes = np.zeros((self.n_documents, self.n_documents), np.int32)
        for group in self.groups:
            votes += group.prefers
        return votes

    def pair_share(self, *, half_unretrieved: bool, unretrieved: bool) -> float:
        """Return the mean over document pairs of the share of groups whose preference is fulfilled."""
        votes = self._votes
        first, second = np.triu_indices(self.n_documents, 1)
        if not unretrieved:
            inside = first < self.n_retrieved if half_unretrieved else second < self.n_retrieved
            first, second = first[inside], second[inside]
        right, wrong = votes[first, second], votes[second, first]
        is_judged = right + wrong > 0
        shares = right[is_judged] / (right + wrong)[is_judged]
        # A pair of unretrieved documents counts as unfulfilled.
        shares = np.where(first[is_judged] < self.n_retrieved, shares, 0.0)
        return float(shares.mean()) if len(shares) else 0.0

    def total_share(self, fulfilled: Sequence[str], possible: Sequence[str]) -> float:
        """Return the share of fulfilled preferences over all groups."""
        share = _share(self.total(*fulfilled), self.total(*possible))
        return share if share == share else 0.0


def _share(fulfilled: int, possible: int) -> float:
    return fulfilled / possible if possible else float("nan")


def _mean(shares: Sequence[float]) -> float:
    """Return the mean over groups, or 0 if the share of a group is undefined, as in trec_eval."""
    added = sum(shares)
    return added / len(shares) if added > 0 else 0.0


_BOTH_RETRIEVED, _ANY_RETRIEVED = ("n_both",), ("n_both", "n_one")
_POSSIBLE = ("n_both", "n_one", "n_neither")
_FULFILLED_BOTH, _FULFILLED = ("n_fulfilled_both",), ("n_fulfilled_both", "n_fulfilled_one")

_VALUES: dict[str, Callable[[PreferenceCounts], float]] = {
    "prefs_num_prefs_poss": lambda c: c.total(*_POSSIBLE),
    "prefs_num_prefs_ful": lambda c: c.total(*_FULFILLED),
    "prefs_num_prefs_ful_ret": lambda c: c.total(*_FULFILLED_BOTH),
    "prefs_simp": lambda c: c.total_share(_FULFILLED, _POSSIBLE),
    "prefs_pair": lambda c: c.pair_share(half_unretrieved=True, unretrieved=True),
    "prefs_avgjg": lambda c: c.mean_share(_FULFILLED, _POSSIBLE),
    "prefs_avgjg_Rnonrel": lambda c: _mean([group.balanced() for group in c.groups]),
    "prefs_simp_ret": lambda c: c.total_share(_FULFILLED_BOTH, _BOTH_RETRIEVED),
    "prefs_pair_ret": lambda c: c.pair_share(half_unretrieved=False, unretrieved=False),
    "prefs_avgjg_ret": lambda c: c.mean_share(_FULFILLED_BOTH, _BOTH_RETRIEVED),
    "prefs_avgjg_Rnonrel_ret": lambda c: _mean([group.balanced_retrieved() for group in c.groups]),
    "prefs_simp_imp": lambda c: c.total_share(_FULFILLED, _ANY_RETRIEVED),
    "prefs_pair_imp": lambda c: c.pair_share(half_unretrieved=True, unretrieved=False),
    "prefs_avgjg_imp": lambda c: c.mean_share(_FULFILLED, _ANY_RETRIEVED),
}
