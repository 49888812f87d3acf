"""Ranks in groups of equal scores agree with plain loops, for random lists of more runs than ranks and fewer."""

from __future__ import annotations

import random

import numpy as np
import pytest

from rankscope.certainty.documents import ABSENT, TopicHits, fixed_ranks, group_ranks


def _random_hits(luck: random.Random) -> TopicHits:
    """Return the hits of a topic: lists of one to twelve runs, whose groups of equal scores have gaps of other hits."""
    rows = []
    for run in range(luck.randint(1, 12)):
        documents, rank = luck.sample(range(9), luck.randint(0, 6)), 1
        while documents:
            rank += luck.randint(0, 1)  # A document without a judgment is no hit.
            size = min(luck.randint(1, 3), len(documents))
            group, documents = documents[:size], documents[size:]
            rows += [(run, d, rank + k, rank, rank + size - 1) for k, d in enumerate(group)]
            rank += size
    run, document, rank_of, first, last = np.array(rows, np.int64).reshape(-1, 5).T
    is_open = np.array([luck.random() < 0.6 for _ in range(9)])[document]
    return TopicHits(0, run, document, rank_of, first, last, is_open, 0)


@pytest.mark.parametrize("seed", range(40))
def test_orders_in_groups_and_their_ends_are_those_of_plain_loops(seed: int) -> None:
    hits = _random_hits(random.Random(seed))
    is_relevant = ~hits.is_open & (hits.document % 2 == 0)
    rows = list(zip(hits.run.tolist(), hits.first.tolist(), strict=True))
    for best_first in (True, False):
        rank = fixed_ranks(hits, is_relevant, best_first)
        for group in set(rows):
            members = [k for k, row in enumerate(rows) if row == group]
            kinds = [2 if is_relevant[k] else int(hits.is_open[k]) for k in members]
            in_order = [kind for _, kind in sorted(zip(rank[members].tolist(), kinds, strict=True))]
            assert sorted(rank[members]) == [*range(group[1], group[1] + len(members))]
            assert in_order == sorted(kinds, reverse=best_first)
        for best_end in (True, False):
            ends = group_ranks(hits, rank, best_end)
            for k, row in enumerate(rows):
                mates = [j for j, other in enumerate(rows) if other == row and hits.is_open[j]]
                expected = (min if best_end else max)(rank[mates].tolist()) if hits.is_open[k] else rank[k]
                assert ends[k] == expected
    assert max(rank, default=0) < ABSENT
