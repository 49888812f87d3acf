"""Pairs of intervals: counts, samples, worst cases and the theorem, against brute force in exact arithmetic."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankscope.lab.measurement import counting
from rankscope.lab.measurement.convexity import (
    additive_weights,
    broken_additivity,
    convexity,
    rbp_threshold,
    witness,
)
from rankscope.lab.measurement.counting import count_groups, count_intervals, estimate_work
from rankscope.lab.measurement.intervals import delta, groups, interval_count, is_below, ranking, rankings
from rankscope.lab.measurement.values import merits_at, merits_on_words
from rankscope.lab.measurement.walks import comparable_pairs, sample_pairs, worst_pair
from rankscope.measures import measure
from rankscope.native import counting as native

Ranking = tuple[int, ...]


@pytest.fixture(params=["C", "numpy"])
def counter(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Count by the C library and by numpy."""
    if request.param == "numpy":
        monkeypatch.setattr(native, "available", lambda: False)
    elif not native.available():
        pytest.skip("the library that counts was not built: no C compiler")


@cache
def _intervals(length: int, equal: bool) -> list[tuple[Ranking, Ranking, tuple[int, ...]]]:
    """(r, s, Delta_sr) straight from the definitions."""
    all_rankings = list(product((0, 1), repeat=length))
    return [
        (r, s, tuple(sum((i - j + 1) * (s[j] - r[j]) for j in range(i + 1)) for i in range(length)))
        for r in all_rankings
        for s in all_rankings
        if all(sum(r[:k]) <= sum(s[:k]) for k in range(1, length + 1)) and (not equal or sum(r) == sum(s))
    ]


@cache
def _comparable(length: int, equal: bool) -> list[tuple[int, int]]:
    result = _intervals(length, equal)
    return [
        (i, j)
        for i, (_, _, small) in enumerate(result)
        for j, (_, _, large) in enumerate(result)
        if all(a <= b for a, b in zip(small, large, strict=True))
    ]


def _brute_force(value: Any, length: int, equal: bool) -> tuple[int, int]:
    """Return the numbers of comparable and violated pairs of a measure, a function of rankings with exact values."""
    result = _intervals(length, equal)
    rise = [value(s) - value(r) for r, s, _ in result]
    pairs = _comparable(length, equal)
    return len(pairs), sum(rise[i] > rise[j] for i, j in pairs)


def _walk(length: int, equal: bool) -> int:
    """Comparable pairs by a plain dictionary of states and whole numbers of any size."""
    states = {(0, 0, 0): 1}
    for _ in range(length):
        after: dict[tuple[int, int, int], int] = {}
        for (gap, c1, c2), ways in states.items():
            for d1, d2 in product((-1, 0, 1), repeat=2):
                b1, b2 = c1 + d1, c2 + d2
                state = (gap + b2 - b1, b1, b2)
                if min(state) >= 0:
                    after[state] = after.get(state, 0) + ways * (2 - abs(d1)) * (2 - abs(d2))
        states = after
    return sum(ways for (_, c1, c2), ways in states.items() if not equal or c1 == c2 == 0)


def _rbp(p: Fraction, length: int) -> list[Fraction]:
    return [(1 - p) * p**i for i in range(length)]


def _additive(weights: list[Fraction]) -> Any:
    return lambda r: sum((w for w, grade in zip(weights, r, strict=True) if grade), Fraction(0))


def _ap(r: Ranking) -> Fraction:
    return sum((Fraction(sum(r[: i + 1]), i + 1) for i, grade in enumerate(r) if grade), Fraction(0)) / len(r)


def _err(r: Ranking) -> Fraction:
    return sum(
        (Fraction(1, (i + 1) * 2 ** sum(r[: i + 1])) for i, grade in enumerate(r) if grade), Fraction(0)
    )


def _values(value: Any, length: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.array([float(value(tuple(r))) for r in rankings(length).tolist()])


WEIGHTS = {
    "RBP(p=1/2)": lambda n: _rbp(Fraction(1, 2), n),
    "RBP(p=4/5)": lambda n: _rbp(Fraction(4, 5), n),
    "RBP(p=3/10)": lambda n: _rbp(Fraction(3, 10), n),
    "reciprocal": lambda n: [Fraction(1, i + 1) for i in range(n)],
    "linear": lambda n: [Fraction(n - i) for i in range(n)],
    "constant": lambda n: [Fraction(1, n)] * n,
    "rising": lambda n: [Fraction(i + 1) for i in range(n)],
    "negative": lambda n: [Fraction(-1, i + 1) for i in range(n)],
    "zero": lambda n: [Fraction(0)] * n,
    "top two": lambda n: [Fraction(1, 2)] * 2 + [Fraction(0)] * (n - 2) if n > 1 else [Fraction(1, 2)],
    "not convex": lambda n: (
        [Fraction(9), Fraction(8), Fraction(2), Fraction(1), Fraction(0)][:n] + [Fraction(0)] * (n - 5)
    ),
}


@pytest.mark.usefixtures("counter")
@pytest.mark.parametrize("equal", [False, True])
@pytest.mark.parametrize("length", [1, 2, 3, 4])
@pytest.mark.parametrize("name", WEIGHTS)
def test_additive_counts_equal_brute_force(name: str, length: int, equal: bool) -> None:
    weights = WEIGHTS[name](length)
    comparable, violated = _brute_force(_additive(weights), length, equal)
    floats = np.array([float(w) for w in weights])
    assert count_groups(floats, length, equal) == (comparable, violated, True)
    assert count_intervals(rankings(length) @ floats, length, equal) == (comparable, violated, True)
    assert comparable_pairs(length, equal) == comparable


@pytest.mark.usefixtures("counter")
@pytest.mark.parametrize("equal", [False, True])
@pytest.mark.parametrize("length", [1, 2, 3, 4])
@pytest.mark.parametrize("value", [_ap, _err])
def test_counts_of_other_measures_equal_brute_force(value: Any, length: int, equal: bool) -> None:
    assert count_intervals(_values(value, length), length, equal) == (
        *_brute_force(value, length, equal),
        True,
    )


@given(st.integers(1, 3), st.booleans(), st.data())
@settings(max_examples=settings().max_examples // 2)
def test_counts_of_any_values_equal_brute_force(length: int, equal: bool, data: st.DataObject) -> None:
    whole = data.draw(st.lists(st.integers(-3, 3), min_size=2**length, max_size=2**length))
    lookup = dict(zip(product((0, 1), repeat=length), whole, strict=True))
    result = count_intervals(np.array(whole, dtype=float), length, equal)
    assert result == (*_brute_force(lookup.__getitem__, length, equal), True)


@pytest.mark.usefixtures("counter")
@pytest.mark.parametrize("equal", [False, True])
@pytest.mark.parametrize("length", [6, 7])
def test_groups_and_intervals_agree_where_brute_force_is_too_slow(length: int, equal: bool) -> None:
    weights = np.array([0.2 * 0.8**i for i in range(length)])
    assert count_groups(weights, length, equal) == count_intervals(rankings(length) @ weights, length, equal)


@pytest.mark.parametrize("equal", [False, True])
@pytest.mark.parametrize("length", [8, 14, 18])
def test_comparable_pairs_are_counted_exactly_at_any_length(length: int, equal: bool) -> None:
    expected = _walk(length, equal)
    assert comparable_pairs(length, equal) == expected
    if length == 8:
        assert count_groups(np.ones(length), length, equal).comparable == expected
    if length == 18 and not equal:
        assert expected > 2**64  # beyond machine words


@pytest.mark.usefixtures("counter")
@pytest.mark.parametrize("jobs", [1, 3])
@pytest.mark.parametrize(
    ("slice", "block", "piece"), [(1, 1, 1), (2, 7, 40), (3, 1 << 20, 5), (1 << 20, 5, 1 << 20)]
)
def test_how_the_work_is_cut_changes_nothing(
    slice: int, block: int, piece: int, jobs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    values, weights = _values(_ap, 5), np.array([3.0, 1, 1, 1, 0.5])
    expected = count_intervals(values, 5, False), count_groups(weights, 5, False)
    monkeypatch.setattr(counting, "_SLICE_WORDS", slice)
    monkeypatch.setattr(counting, "_BLOCK_WORDS", block)
    monkeypatch.setattr(counting, "_PIECE_WORDS", piece)
    assert count_intervals(values, 5, False, jobs=jobs) == expected[0]
    assert count_groups(weights, 5, False, jobs=jobs) == expected[1]


@pytest.mark.skipif(not native.available(), reason="the library that counts was not built: no C compiler")
@pytest.mark.parametrize("equal", [False, True])
def test_the_library_counts_what_numpy_counts(equal: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    dice = np.random.default_rng(5)
    cases = [
        (9, merits_on_words(measure("AP"), 9)),
        (8, dice.random(2**8)),
        (8, dice.integers(0, 3, 2**8) / 2),
    ]
    by_library = [count_intervals(values, length, equal) for length, values in cases]
    monkeypatch.setattr(native, "available", lambda: False)
    assert by_library == [count_intervals(values, length, equal) for length, values in cases]


def test_a_library_of_another_version_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "counting.so").write_bytes(b"not a library")
    monkeypatch.setattr("rankscope.native.libraries.__file__", str(tmp_path / "libraries.py"))
    assert native._library.__wrapped__() is None


def test_bits_are_counted_without_the_instruction_of_numpy_2(monkeypatch: pytest.MonkeyPatch) -> None:
    words = np.random.default_rng(1).integers(0, 2**64, (3, 5), dtype=np.uint64)
    expected = [[bin(word).count("1") for word in row] for row in words.tolist()]
    assert counting._popcount(words).tolist() == expected
    monkeypatch.delattr(np, "bitwise_count", raising=False)
    assert counting._popcount(words).tolist() == expected


@pytest.mark.parametrize("equal", [False, True])
@pytest.mark.parametrize("length", range(1, 9))
def test_the_work_is_estimated_before_it_begins(length: int, equal: bool) -> None:
    vectors = len(groups(length, equal))
    assert estimate_work(length, equal, additive=True).words == vectors * (vectors // 64 + 1)
    assert estimate_work(length, equal, additive=False).words == vectors * (
        interval_count(length, equal) // 64 + 1
    )


@pytest.mark.usefixtures("counter")
def test_an_interruption_keeps_the_counts_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(items: Any, *_: Any) -> Iterator[Any]:
        for index, item in enumerate(items):
            if index == 20:
                raise KeyboardInterrupt
            yield item

    values = _values(_ap, 5)
    everything = count_intervals(values, 5, False)
    monkeypatch.setattr(counting, "_PIECE_WORDS", 1)
    monkeypatch.setattr(counting, "progress", interrupted)
    partial = count_intervals(values, 5, False)
    assert not partial.complete
    assert 0 < partial.comparable < everything.comparable
    assert 0 <= partial.violations <= everything.violations


@pytest.mark.parametrize("equal", [False, True])
def test_samples_are_uniform_over_comparable_pairs(equal: bool) -> None:
    length, samples = 3, 200_000
    pair = sample_pairs(length, samples, np.random.default_rng(7), equal)
    drawn = np.stack(pair, axis=1)
    distinct, times = np.unique(drawn, axis=0, return_counts=True)
    for r, s, u, v in distinct[:200].tolist():
        ends = [ranking(c, length) for c in (r, s, u, v)]
        assert is_below(ends[0], ends[1]) and is_below(ends[2], ends[3])
        assert (delta(*ends[:2]) <= delta(*ends[2:])).all()
    cells = comparable_pairs(length, equal)
    assert len(distinct) == cells
    expected = samples / cells
    chi_square = float(((times - expected) ** 2 / expected).sum())
    assert abs(chi_square - (cells - 1)) < 5 * (2 * cells) ** 0.5


@pytest.mark.parametrize("equal", [False, True])
def test_the_same_seed_draws_the_same_sample(equal: bool) -> None:
    first, second = (sample_pairs(12, 50, np.random.default_rng(3), equal) for _ in range(2))
    assert all((a == b).all() for a, b in zip(first, second, strict=True))


@pytest.mark.parametrize("equal", [False, True])
@pytest.mark.parametrize("length", [1, 2, 3, 4])
@pytest.mark.parametrize("name", WEIGHTS)
def test_the_dynamic_program_finds_the_largest_violation(name: str, length: int, equal: bool) -> None:
    weights = WEIGHTS[name](length)
    value = _additive(weights)
    result = _intervals(length, equal)
    rise = [value(s) - value(r) for r, s, _ in result]
    worst = worst_pair([float(w) for w in weights], equal)
    assert worst.excess == pytest.approx(
        float(max(rise[i] - rise[j] for i, j in _comparable(length, equal))), abs=1e-12
    )
    r, s, u, v = (ranking(c, length) for c in worst.pair)
    assert is_below(r, s) and is_below(u, v) and (delta(r, s) <= delta(u, v)).all()
    assert float((value(s) - value(r)) - (value(v) - value(u))) == pytest.approx(worst.excess, abs=1e-12)
    if equal:
        assert sum(r) == sum(s) and sum(u) == sum(v)


ADDITIVE = [
    *(f"RBP(p={p})" for p in (0.05, 0.3, 0.5, 0.51, 0.8, 0.95)),
    *("DCG", "DCG@4", "DCG(discount=jk)", "DCG(discount=jk,base=3)", "DCG(discount=jk,base=10)"),
    *("nDCG", "nDCG@3", "nDCG(discount=jk)", "P@1", "P@2", "P@5", "P@8", "R@4", "R@8", "RBP(p=0.4)@3"),
]


@pytest.mark.parametrize("equal", [False, True])
@pytest.mark.parametrize("name", ADDITIVE)
def test_the_theorem_the_enumeration_and_the_dynamic_program_agree(name: str, equal: bool) -> None:
    for length in range(1, 9):
        values = merits_on_words(measure(name), length, relevant=8)
        weights = additive_weights(values)
        assert weights is not None
        verdict = convexity(weights, equal)
        assert verdict.holds == (count_groups(weights, length, equal).violations == 0), length
        assert verdict.holds == (worst_pair(weights, equal).excess < 1e-12), length
        if length <= 6:
            assert verdict.holds == (count_intervals(values, length, equal).violations == 0), length


@given(st.lists(st.integers(-2, 12), min_size=1, max_size=6), st.booleans())
def test_the_theorem_holds_for_any_weights(weights: list[int], equal: bool) -> None:
    verdict = convexity([float(w) for w in weights], equal)
    length = len(weights)
    assert verdict.holds == (count_groups(np.array(weights, dtype=float), length, equal).violations == 0)
    if verdict.fails_at is None:
        return
    r, s, u, v = (ranking(c, length) for c in witness(length, verdict.fails_at, equal))
    value = _additive([Fraction(w) for w in weights])
    assert is_below(r, s) and is_below(u, v) and (delta(r, s) <= delta(u, v)).all()
    assert value(s) - value(r) > value(v) - value(u)
    assert max(map(sum, (r, s, u, v))) <= 1
    assert not equal or (sum(r), sum(u)) == (sum(s), sum(v))


@given(st.integers(1, 4), st.booleans(), st.data())
def test_any_measure_is_decided_by_additivity_and_convexity(
    length: int, equal: bool, data: st.DataObject
) -> None:
    weights = sorted(data.draw(st.lists(st.integers(0, 6), min_size=length, max_size=length)), reverse=True)
    by_count = data.draw(st.lists(st.integers(-5, 5), min_size=length + 1, max_size=length + 1))
    bump = data.draw(st.sampled_from([0, 0, 1]))
    odd = data.draw(st.integers(0, 2**length - 1))
    with_count = data.draw(st.booleans())
    values = (rankings(length) @ np.array(weights)).astype(float)
    if with_count:
        values += np.array(by_count)[rankings(length).sum(axis=1)]
    values[odd] += bump
    result = additive_weights(values, equal)
    decided = result is not None and convexity(result, equal).holds
    assert decided == (count_intervals(values, length, equal).violations == 0)
    broken = broken_additivity(values, equal)
    assert (broken is None) == (result is not None)
    if broken is not None:
        r, s, u, v = broken
        assert (
            delta(ranking(r, length), ranking(s, length)).tolist()
            == delta(ranking(u, length), ranking(v, length)).tolist()
        )
        assert values[s] - values[r] > values[v] - values[u]


def test_a_part_that_counts_relevant_documents_matters_only_between_unequal_ends() -> None:
    all_rankings = rankings(4)
    values = all_rankings @ np.array([0.5, 0.25, 0.125, 0.0625]) + all_rankings.sum(axis=1) ** 2
    assert additive_weights(values) is None
    assert count_intervals(values, 4, True).violations == 0
    assert additive_weights(values, equal_relevant=True) is not None


def test_values_on_the_tree_are_those_of_lists_written_out() -> None:
    for name in ("AP", "ERR", "RR", "Bpref", "nDCG@3", "RBP", "Rprec", "Twist"):
        for length in (1, 4):
            result = merits_on_words(measure(name), length, relevant=5)
            assert result == pytest.approx(
                merits_at(measure(name), range(2**length), length, relevant=5), abs=1e-12
            )


def test_a_threshold_needs_a_sign_change() -> None:
    assert np.isnan(rbp_threshold((0, 0), (0, 1), (0, 0), (0, 1)))
    assert np.isnan(rbp_threshold((0, 0), (0, 1), (0, 0), (1, 0)))
    assert rbp_threshold((0, 0), (0, 1), (0, 1), (1, 0)) == pytest.approx(0.5)
