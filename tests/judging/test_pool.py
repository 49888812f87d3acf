"""The judged documents of topics, and what is counted of them."""

from __future__ import annotations

import numpy as np

from rankscope.judging import UNJUDGED, Pool


def test_a_removed_judgment_is_neither_relevant_nor_non_relevant() -> None:
    pool = Pool(np.array([0, 5, 6]), np.array([2, UNJUDGED, 0, -1, UNJUDGED, UNJUDGED], np.int32))
    assert pool.recall_base(1).tolist() == [1, 0]
    assert pool.nonrelevant(1).tolist() == [2, 0]
    assert pool.nonrelevant(3).tolist() == [3, 0]
    assert pool.counts(0) == {0: 2, 2: 1}
    assert pool.counts(1) == {}
