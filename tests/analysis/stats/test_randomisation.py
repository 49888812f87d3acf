"""The paired randomisation test against scipy, enumeration and itself."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from rankscope.analysis.stats.max_t import Flips, flip_pairs
from rankscope.analysis.stats.randomisation import exact_randomisation
from rankscope.analysis.stats.significance import all_pairs, run_test


@pytest.mark.parametrize("topics", [2, 5, 9])
def test_all_signs_are_those_of_scipy(topics):
    x, y = np.random.default_rng(topics).random((2, topics))
    expected = stats.permutation_test(
        (x, y), lambda a, b, axis=-1: (a - b).mean(axis=axis), permutation_type="samples", n_resamples=np.inf
    )
    assert exact_randomisation((x - y)[None])[0] == pytest.approx(expected.pvalue, abs=1e-12)


@given(st.lists(st.integers(-4, 4), min_size=1, max_size=9))
def test_ties_count_despite_rounding(whole):
    # tenths: their sums are equal on paper, not in binary
    sums = [
        abs(sum(s * z for s, z in zip(signs, whole, strict=True)))
        for signs in product((1, -1), repeat=len(whole))
    ]
    expected = np.mean([one >= abs(sum(whole)) for one in sums])
    assert exact_randomisation(np.array([whole]) * 0.1)[0] == pytest.approx(expected, abs=1e-12)


def test_twenty_topics_are_counted_and_drawn_signs_come_close():
    values = np.random.default_rng(4).random((4, 20)) + np.array([[0.0], [0.1], [0.2], [0.0]])
    first, second = all_pairs(4)
    exact = run_test("randomisation", values, first, second)
    drawn = sampled_randomisation(values, first, second, replicates=40_000, seed=3)
    assert np.abs(exact.p - drawn).max() < 4 * 0.5 / np.sqrt(40_000)
    assert (exact.p * 2**20 % 2 == 0).all()


def test_more_topics_are_drawn_by_the_seed_and_agree_with_scipy():
    values = np.random.default_rng(5).random((3, 60)) + np.array([[0.0], [0.08], [0.0]])
    pairs = all_pairs(3)
    first, repeated, other = (run_test("randomisation", values, *pairs, seed=seed).p for seed in (1, 1, 2))
    assert first.tobytes() == repeated.tobytes()
    assert first.tobytes() != other.tobytes()
    for p, a, b in zip(first, *pairs, strict=True):
        expected = stats.permutation_test(
            (values[a], values[b]),
            lambda a, b, axis=-1: (a - b).mean(axis=axis),
            permutation_type="samples",
            n_resamples=9999,
            vectorized=True,
            rng=np.random.default_rng(1),
        ).pvalue
        assert p == pytest.approx(expected, abs=4 * np.sqrt(2) * 0.5 / 100)


def test_blocks_of_signs_change_nothing_but_the_signs(monkeypatch):
    values = np.random.default_rng(5).random((2, 30))
    whole = sampled_randomisation(values, *all_pairs(2), replicates=500, seed=1)
    monkeypatch.setattr("rankscope.analysis.stats.max_t._SIGNS_AT_ONCE", 300)
    assert sampled_randomisation(values, *all_pairs(2), replicates=500, seed=1).tolist() == whole.tolist()


def sampled_randomisation(values, first, second, *, replicates, seed):
    return flip_pairs(values, first, second, Flips(values.shape[1], replicates, seed)).p
