"""Kappa and alpha against scikit-learn and krippendorff, on random tables."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankscope.analysis.stats.agreement import (
    coincidences,
    exact_agreement,
    grade_bias,
    kappa,
    krippendorff_alpha,
)
from rankscope.errors import SettingsError

GRADES = st.integers(2, 5).flatmap(
    lambda levels: st.lists(
        st.tuples(st.integers(0, levels - 1), st.integers(0, levels - 1)), min_size=1, max_size=60
    )
)


def table(pairs, levels=5):
    counts = np.zeros((levels, levels))
    for a, b in pairs:
        counts[a, b] += 1
    return counts


@pytest.mark.parametrize("weights", ["linear", "quadratic"])
def test_weighted_kappa_uses_the_distances_of_grades(weights):
    """Grades 0, 1 and 4 as if there were documents of all grades from 0 to 4, for scikit-learn."""
    metrics = pytest.importorskip("sklearn.metrics")
    counts = np.random.default_rng(3).integers(0, 9, (3, 3))
    x, y = (
        np.repeat([0, 1, 4], counts.sum(axis=1)),
        np.concatenate([np.repeat([0, 1, 4], row) for row in counts]),
    )
    expected = metrics.cohen_kappa_score(x, y, weights=weights, labels=range(5))
    assert float(kappa(counts, weights, [0, 1, 4])) == pytest.approx(expected, abs=1e-12)
    assert float(kappa(counts, weights)) == pytest.approx(
        metrics.cohen_kappa_score(x, y, weights=weights), abs=1e-12
    )
    assert float(kappa(counts, weights)) != pytest.approx(expected, abs=1e-3)


@given(GRADES)
@pytest.mark.parametrize("weights", ["none", "linear", "quadratic"])
def test_kappa_is_that_of_scikit_learn(weights, pairs):
    metrics = pytest.importorskip("sklearn.metrics")
    a, b = zip(*pairs, strict=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # one grade only
        expected = metrics.cohen_kappa_score(
            a, b, labels=range(5), weights=None if weights == "none" else weights
        )
    got = float(kappa(table(pairs), weights))
    assert got == pytest.approx(expected, abs=1e-12, nan_ok=True)
    assert float(exact_agreement(table(pairs))) == pytest.approx(metrics.accuracy_score(a, b))
    assert float(grade_bias(table(pairs), range(5))) == pytest.approx(np.mean(np.subtract(b, a)))


@given(st.integers(2, 4), st.integers(2, 5), st.integers(1, 25), st.integers(0, 2**32))
def test_alpha_is_that_of_the_package(judges, levels, units, seed):
    package = pytest.importorskip("krippendorff")
    rng = np.random.default_rng(seed)
    grades = rng.integers(0, levels, (units, judges))
    grades[rng.random(grades.shape) < 0.25] = -1
    coincidence = coincidences(grades, levels)
    got = float(krippendorff_alpha(coincidence))
    rated = grades[(grades >= 0).sum(axis=1) > 1]
    if len(np.unique(rated[rated >= 0])) < 2:
        assert math.isnan(got)
        return
    data = np.where(grades < 0, np.nan, grades).T
    expected = package.alpha(data, level_of_measurement="ordinal", value_domain=list(range(levels)))
    assert got == pytest.approx(expected, abs=1e-9)


def test_two_judges_need_only_their_counts():
    pairs = [(0, 0), (0, 1), (2, 2), (1, 2), (1, 1), (0, 0)]
    counts = table(pairs, 3)
    np.testing.assert_allclose(coincidences(pairs, 3), counts + counts.T)


def test_statistics_of_many_tables_equal_those_of_each_table():
    counts = np.random.default_rng(1).integers(0, 9, (7, 4, 4)).astype(float)
    for function in (
        kappa,
        lambda c: kappa(c, "quadratic"),
        exact_agreement,
        lambda c: krippendorff_alpha(c + c.swapaxes(-1, -2)),
    ):
        np.testing.assert_allclose(function(counts), [float(function(one)) for one in counts])


def test_agreement_on_a_single_grade_is_undefined():
    assert math.isnan(kappa([[4, 0], [0, 0]]))
    assert math.isnan(krippendorff_alpha([[8, 0], [0, 0]]))
    assert math.isnan(exact_agreement(np.zeros((2, 2))))
    with pytest.raises(SettingsError, match="did you mean linear"):
        kappa([[1, 0], [0, 1]], "liner")
