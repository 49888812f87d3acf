"""Samples of judgments: how many of each stratum are kept."""

from __future__ import annotations

import numpy as np
import pytest

from rankscope.analysis.stats.sampling import Sampler
from rankscope.judging import UNJUDGED, Pool


@pytest.mark.parametrize(
    ("ratio", "relevant", "nonrelevant"), [(10, 1, 10), (20, 1, 10), (30, 2, 15), (90, 5, 45), (100, 6, 50)]
)
@pytest.mark.parametrize("sampling", ["grade", "binary"])
def test_one_relevant_and_ten_non_relevant_documents_are_always_kept(
    sampling: str, ratio: float, relevant: int, nonrelevant: int
) -> None:
    grade = np.array([1] * 6 + [0] * 50, np.int32)
    kept = Sampler(Pool(np.array([0, 56]), grade), sampling, np.random.SeedSequence(3)).sample(ratio)
    assert int((kept == 1).sum()) == relevant
    assert int((kept == 0).sum()) == nonrelevant
    assert set(kept.tolist()) <= {0, 1, UNJUDGED}
