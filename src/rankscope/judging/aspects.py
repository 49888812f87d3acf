"""Lists by aspect: a topic with m aspects becomes m topics, and each of its lists m lists.

All diversity measures use this view. The hits of an (aspect, list) pair are the documents relevant to that aspect, so
that ``ordinal - 1`` is the number of documents of the same aspect above, and an intent-aware measure is the weighted
sum over aspects of the ordinary one.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from rankscope.judging.lists import AnyArray, Floats, Hits, Lists
from rankscope.read.qrels import UNJUDGED


class AspectLists(Lists):
    """(aspect, list) pairs as lists: pair ``a * len(lists) + l`` is list l with the grades of its a-th aspect."""

    def __init__(self, lists: Lists) -> None:
        self.pool = lists.pool.by_aspect
        self.parent = lists
        self.aspects = len(lists.pool.aspect_grades)
        topics = np.arange(self.aspects)[:, np.newaxis] * len(lists.pool)
        self.topic = (topics + lists.topic).ravel()
        self.length = np.tile(lists.length, self.aspects)

    @cached_property
    def _judged(self) -> Hits:
        return self._expand(self.parent.hits(), UNJUDGED + 1)

    def relevant(self, rel: int = 1, cutoff: int | None = None) -> Hits:
        """Return the documents of grade ``rel`` or better for the aspect, down to a rank."""
        # Most judged documents are relevant to no aspect: they are dropped before the expansion.
        return self.cache(
            ("relevant", rel, cutoff), lambda: self._expand(self.parent.relevant(rel, cutoff), rel)
        )

    def _expand(self, hits: Hits, lowest: int) -> Hits:
        parts = []
        for a, per_document in enumerate(self.parent.pool.aspect_grades):
            grade = hits.take(per_document)
            keep = np.flatnonzero(grade >= lowest)
            judgment = hits.judgment[keep].astype(np.int64) + a * len(per_document)
            parts.append((hits.list[keep] + a * len(self.parent), hits.rank[keep], grade[keep], judgment))
        return Hits(len(self), *(np.concatenate(columns) for columns in zip(*parts, strict=True)))


class ByAspect:
    """Lists and their (aspect, list) pairs."""

    def __init__(self, parent: Lists, lists: Lists) -> None:
        self.parent = parent
        self.lists = lists

    def sum_hits(self, hits: Hits, values: AnyArray, weights: Floats) -> Floats:
        """Sum a value over the hits of each (aspect, list) pair; return the weighted sum over aspects per list."""
        return self.sum_pairs(hits.sum(values), weights)

    def sum_pairs(self, values: AnyArray, weights: Floats) -> Floats:
        """Return for each list the sum over its aspects of weight times value.

        ``values`` has one entry per pair, ``weights`` one per (aspect, topic); weight 0 excludes an aspect.
        """
        total = np.zeros(len(self.parent))
        for row, weight in zip(np.reshape(values, (len(weights), -1)), weights, strict=True):
            if (weight == weight[0]).all() and weight[0] > 0:
                total += row if weight[0] == 1 else row * weight[0]
            else:
                # The value of an excluded aspect may be undefined (NaN).
                factor = self.parent.per_topic(weight)
                total += np.where(factor > 0, row * factor, 0.0)
        return total
