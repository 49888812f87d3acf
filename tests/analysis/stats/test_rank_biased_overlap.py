"""Rank-biased overlap against published examples, another implementation, and all orders of tied items."""

from __future__ import annotations

import json
from itertools import permutations, product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankscope as rs
from rankscope.analysis.stats.rank_biased_overlap import (
    TIES,
    rank_biased_overlap,
    ranking_by_score,
)
from rankscope.errors import InputError, SettingsError

PACKAGE = json.loads((Path(__file__).parents[2] / "golden" / "rbo_package.json").read_text())["cases"]

# the example of the authors of the treatment of ties: value, low, high at p = .95
TIED = (
    ["red", {"blue", "green"}, "yellow", "pink"],
    [{"blue", "red"}, "white", {"yellow", "black", "purple"}, "green"],
)
PUBLISHED = {
    "a": (0.6922853, 0.3310519, 0.8930692),
    "w": (0.7068257, 0.3429684, 0.9049857),
    "b": (0.7207131, 0.3509163, 0.9129336),
}


def flat(ranking):
    return [item for group in ranking for item in (group if isinstance(group, set) else [group])]


def orders(ranking):
    for groups in product(*(permutations(sorted(group)) for group in ranking)):
        yield [item for group in groups for item in group]


@st.composite
def rankings(draw, max_items=8):
    """Two rankings with ties over some of the same items."""
    pair = []
    for _ in range(2):
        items = draw(st.permutations(range(max_items)))[: draw(st.integers(1, max_items))]
        groups, rest = [], list(items)
        while rest:
            size = draw(st.integers(1, 3))
            groups.append(set(rest[:size]))
            rest = rest[size:]
        pair.append(groups)
    return pair


@pytest.mark.parametrize("ties", TIES)
def test_the_published_example_with_ties(ties):
    result = rank_biased_overlap(*TIED, 0.95, ties=ties)
    assert (result.value, result.low, result.high) == pytest.approx(PUBLISHED[ties], abs=5e-8)
    assert result.residual == pytest.approx(0.5620173, abs=5e-8)
    assert rank_biased_overlap(TIED[1], TIED[0], 0.95, ties=ties) == result


def test_the_published_average_overlap():
    # Webber and others (2010): abcdefg and zcavwxy agree by .312 on average over seven depths
    runs = {name: {"1": [*ranking]} for name, ranking in (("one", "abcdefg"), ("other", "zcavwxy"))}
    result = rs.overlap(rs.Collection(None, runs), depth=7, depths=range(1, 8))
    agreement = np.array([row.common / row.depth for row in result.depths])
    assert [round(a, 3) for a in agreement] == [0, 0, 0.667, 0.5, 0.4, 0.333, 0.286]
    assert agreement.mean() == pytest.approx(0.312, abs=5e-4)


@pytest.mark.parametrize("case", PACKAGE)
def test_overlap_equals_another_implementation(case):
    for ties in TIES:  # without ties all variants are the same
        result = rank_biased_overlap(case["a"], case["b"], case["p"], ties=ties)
        assert result.value == pytest.approx(case["ext"], abs=1e-12)
        assert result.low <= result.value <= result.high


def test_random_rankings_against_the_package():
    rbo = pytest.importorskip("rbo", reason="the package rbo is not installed")
    rng = np.random.default_rng(5)
    for _ in range(300):
        a, b = (rng.permutation(40)[: rng.integers(1, 41)].tolist() for _ in range(2))
        p = float(rng.uniform(0.05, 0.99))
        expected = rbo.RankingSimilarity(a, b).rbo_ext(p)
        assert rank_biased_overlap(a, b, p).value == pytest.approx(expected, abs=1e-12)


@given(rankings(max_items=6))
def test_variant_a_is_the_mean_over_all_orders(both):
    result = rank_biased_overlap(*both, 0.8, ties="a")
    broken = [rank_biased_overlap(x, y, 0.8) for x in orders(both[0]) for y in orders(both[1])]
    assert result.low == pytest.approx(np.mean([overlap.low for overlap in broken]), abs=1e-12)
    if len(flat(both[0])) == len(flat(both[1])):
        assert result.value == pytest.approx(np.mean([overlap.value for overlap in broken]), abs=1e-12)
        assert result.high == pytest.approx(np.mean([overlap.high for overlap in broken]), abs=1e-12)


@given(rankings())
def test_variants_are_ordered_and_b_agrees_with_itself(both):
    a, b = (rank_biased_overlap(*both, 0.9, ties=ties) for ties in "ab")
    assert a.value <= b.value + 1e-12
    assert a.low <= b.low + 1e-12
    assert rank_biased_overlap(both[0], both[0], 0.9, ties="b").value == pytest.approx(1)
    assert rank_biased_overlap(both[0], both[0], 0.9, ties="w").value == pytest.approx(1)


@given(rankings(max_items=10), st.integers(1, 6), st.integers(1, 6), st.sampled_from([0.5, 0.9, 0.98]))
def test_the_bounds_hold_for_every_continuation(both, first, second, p):
    prefixes = both[0][:first], both[1][:second]
    untied = [begun + flat(whole[len(begun) :]) for begun, whole in zip(prefixes, both, strict=True)]
    for ties in TIES:
        prefix, whole = (rank_biased_overlap(*pair, p, ties=ties) for pair in (prefixes, untied))
        assert prefix.low - 1e-12 <= whole.low <= whole.value + 1e-12
        assert whole.value - 1e-12 <= whole.high <= prefix.high + 1e-12
    prefix, whole = (rank_biased_overlap(*pair, p, ties="a") for pair in (prefixes, both))
    assert prefix.low - 1e-12 <= whole.low
    assert whole.high <= prefix.high + 1e-12


def test_bounds_are_attained():
    # nothing in common afterwards, and everything: hundreds of ranks bring the ends to the bounds
    prefix = rank_biased_overlap("abc", "bcd", 0.9)
    apart = rank_biased_overlap([*"abc", *range(300)], [*"bcd", *range(1000, 1300)], 0.9)
    alike = rank_biased_overlap([*"abc", "d", *range(300)], [*"bcd", "a", *range(300)], 0.9)
    assert apart.value == pytest.approx(prefix.low, abs=1e-12)
    assert alike.value == pytest.approx(prefix.high, abs=1e-12)


def test_empty_rankings_have_bounds_only():
    for a, b in (([], []), ([], "ab"), ("ab", [])):
        result = rank_biased_overlap(a, b)
        assert np.isnan(result.value)
        assert (result.low, result.high) == (0, 1)


def test_scores_become_rankings():
    assert ranking_by_score([0.5, 0.7, 0.5]) == [{1}, {0, 2}]
    assert ranking_by_score([]) == []


@pytest.mark.parametrize("p", [0, 1, -0.5, 2, float("nan")])
def test_a_persistence_outside_its_range_is_rejected(p):
    with pytest.raises(SettingsError, match="persistence"):
        rank_biased_overlap("ab", "ba", p)


def test_other_mistakes_are_refused():
    with pytest.raises(SettingsError, match="ties"):
        rank_biased_overlap("ab", "ba", ties="c")
    with pytest.raises(InputError, match="twice"):
        rank_biased_overlap("aba", "ba")
