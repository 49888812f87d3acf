"""Scales where the topic has fewer relevant documents than the rankings are long, against plain enumeration."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
import pytest

import rankscope as rs
from rankscope.cli.main import main
from rankscope.errors import SettingsError
from rankscope.lab.measurement import scales as names
from rankscope.lab.measurement.counting import count_groups, count_intervals, estimate_work
from rankscope.lab.measurement.intervals import groups, interval_count, intervals, rankings, vector_count
from rankscope.lab.measurement.values import Setting
from rankscope.lab.measurement.walks import sample_few_relevant
from rankscope.measures import measure

Ranking = tuple[int, ...]
SMALL = [(length, relevant) for length in range(1, 6) for relevant in range(1, length + 1)]


@cache
def universe(length: int, relevant: int) -> list[Ranking]:
    return [r for r in product((0, 1), repeat=length) if sum(r) <= relevant]


def below(r: Ranking, s: Ranking) -> bool:
    return all(sum(r[:k]) <= sum(s[:k]) for k in range(1, len(r) + 1))


def delta(r: Ranking, s: Ranking) -> Ranking:
    return tuple(sum((i - j + 1) * (s[j] - r[j]) for j in range(i + 1)) for i in range(len(r)))


def interval_like(
    value: Callable[[Ranking], float], length: int, relevant: int, equal: bool
) -> tuple[int, int]:
    """(comparable, violated) pairs straight from the definition."""
    all_rankings = universe(length, relevant)
    result = [
        (r, s) for r in all_rankings for s in all_rankings if below(r, s) and (not equal or sum(r) == sum(s))
    ]
    sizes = np.array([delta(r, s) for r, s in result])
    rises = np.array([float(value(s) - value(r)) for r, s in result])
    comparable = (sizes[:, None] <= sizes[None]).all(axis=2)
    return int(comparable.sum()), int((comparable & (rises[:, None] > rises[None] + 1e-9)).sum())


def interval(value: Callable[[Ranking], float], length: int, relevant: int, strong: bool) -> tuple[int, int]:
    """(equal distance or equal rise, only one of them) straight from the definition."""
    all_rankings = universe(length, relevant)  # in the order of their codes
    codes = [int("".join(map(str, r)), 2) for r in all_rankings]
    result = [
        (i, j)
        for i, r in enumerate(all_rankings)
        for j, s in enumerate(all_rankings)
        if (i <= j if strong else below(r, s))
    ]
    far = np.array(
        [codes[j] - codes[i] if strong else delta(all_rankings[i], all_rankings[j])[-1] for i, j in result]
    )
    rises = np.array([float(value(all_rankings[j]) - value(all_rankings[i])) for i, j in result])
    near, same = far[:, None] == far[None], np.abs(rises[:, None] - rises[None]) < 1e-9
    return int((near | same).sum()), int((near ^ same).sum())


def average_precision(relevant: int) -> Callable[[Ranking], Fraction]:
    return lambda r: (
        sum((Fraction(sum(r[: i + 1]), i + 1) for i in range(len(r)) if r[i]), Fraction(0)) / relevant
    )


def rbp(p: Fraction) -> Callable[[Ranking], Fraction]:
    return lambda r: sum(((1 - p) * p**i * grade for i, grade in enumerate(r)), Fraction(0))


def r_precision(relevant: int) -> Callable[[Ranking], Fraction]:
    return lambda r: Fraction(sum(r[:relevant]), relevant)


@pytest.mark.parametrize(("length", "relevant"), SMALL)
def test_counts_and_verdicts_are_those_of_the_definition(length: int, relevant: int) -> None:
    by_hand = {
        "AP": average_precision(relevant),
        "RBP(p=0.5)": rbp(Fraction(1, 2)),
        "RBP(p=0.9)": rbp(Fraction(9, 10)),
        "Rprec": r_precision(relevant),
    }
    result = rs.lab.scales(list(by_hand), length, relevant=relevant)
    for name, value in by_hand.items():
        expected = {
            names.ALL: interval_like(value, length, relevant, False),
            names.EQUAL: interval_like(value, length, relevant, True),
            names.STRONG: interval(value, length, relevant, True),
            names.WEAK: interval(value, length, relevant, False),
        }
        for scale, counts in expected.items():
            verdict = result.verdict(measure(name), scale)
            assert (verdict.comparable, verdict.violations) == counts, (name, scale)
            assert verdict.holds == (counts[1] == 0), (name, scale)
            assert verdict.setting == Setting(length, relevant)


@pytest.mark.parametrize(
    ("name", "violations"), [("Rprec", 405), ("Bpref", 26), ("Rho@5", 597), ("SigmaPlus@5", 741)]
)
def test_scales_that_need_as_many_relevant_documents_as_ranks_fail_with_fewer(
    name: str, violations: int
) -> None:
    few = rs.lab.scales(name, 5, relevant=3, equal_relevant=True).verdict(measure(name), names.EQUAL)
    assert (few.holds, few.violations, few.comparable) == (False, violations, 6954)
    assert "at length 5 with 3 relevant documents" in few.sentence()
    unlimited = rs.lab.scales(name, 5, equal_relevant=True).verdict(measure(name), names.EQUAL)
    assert (unlimited.holds, unlimited.violations, unlimited.comparable) == (True, 0, 9096)


@pytest.mark.parametrize("equal", [False, True])
@pytest.mark.parametrize(("length", "relevant"), [*SMALL, (7, 2), (8, 7)])
def test_intervals_of_a_small_recall_base(length: int, relevant: int, equal: bool) -> None:
    all_rankings = universe(length, relevant)
    expected = {
        (r, s) for r in all_rankings for s in all_rankings if below(r, s) and (not equal or sum(r) == sum(s))
    }
    result, kinds = intervals(length, equal, relevant), groups(length, equal, relevant)
    written = rankings(length)
    listed = [
        (tuple(written[low].tolist()), tuple(written[high].tolist()))
        for low, high in zip(result.lower, result.upper, strict=True)
    ]
    assert set(listed) == expected and len(listed) == len(expected) == interval_count(length, equal, relevant)
    assert np.bincount(result.group, minlength=len(kinds)).tolist() == kinds.size.tolist()
    assert [tuple(kinds.delta[g].tolist()) for g in result.group] == [delta(r, s) for r, s in listed]
    assert len(kinds) == vector_count(length, equal, relevant) == len(np.unique(kinds.delta, axis=0))
    need = estimate_work(length, equal, True, relevant)
    assert need.words == len(kinds) * (len(kinds) // 64 + 1)


def test_groups_count_as_their_intervals_do() -> None:
    weights = np.array([0.3, 0.25, 0.24, 0.1, 0.05, 0.04])
    values = rankings(6) @ weights
    for relevant in range(1, 7):
        for equal in (False, True):
            by_group = count_groups(weights, 6, equal, relevant=relevant)
            assert by_group == count_intervals(values, 6, equal, relevant=relevant)


@pytest.mark.parametrize("equal", [False, True])
def test_samples_are_comparable_pairs_and_estimate_the_share(equal: bool) -> None:
    pair = sample_few_relevant(6, 20_000, np.random.default_rng(5), equal, 2)
    written = [tuple(row) for row in rankings(6).tolist()]
    pairs, counts = np.unique(np.stack(pair), axis=1, return_counts=True)
    expected, _ = interval_like(lambda r: 0.0, 6, 2, equal)
    assert pairs.shape[1] <= expected
    assert counts.max() < 20_000 / expected * 12 + 12  # uniform: none is drawn far more often
    for r, s, u, v in pairs.T[::7].tolist():
        assert below(written[r], written[s]) and below(written[u], written[v])
        assert sum(written[s]) <= 2 and sum(written[v]) <= 2
        assert all(
            a <= b for a, b in zip(delta(written[r], written[s]), delta(written[u], written[v]), strict=True)
        )
    exact = rs.lab.scales("AP", 6, relevant=2, equal_relevant=equal).verdicts[0]
    drawn = rs.lab.scales("AP", 6, relevant=2, equal_relevant=equal, count="sample", samples=20_000).verdicts[
        0
    ]
    assert drawn.method == "sampled" and drawn.holds == exact.holds
    assert drawn.low - 0.01 <= exact.share <= drawn.high + 0.01


def test_proofs_need_no_count() -> None:
    (result,) = [
        f
        for f in rs.lab.scales("RBP(p=0.5)", 18, relevant=9, equal_relevant=False).verdicts
        if f.scale == names.ALL
    ]
    assert (result.holds, result.method, result.comparable) == (True, "theorem", None)


@pytest.mark.parametrize("relevant", range(1, 7))
@pytest.mark.parametrize("name", ["RBP(p=0.5)", "DCG", "P@6"])
def test_long_rankings_follow_the_same_rules(name: str, relevant: int) -> None:
    """Compare the theorems for long rankings with counts at a length at which all pairs can be enumerated."""
    from rankscope.lab.measurement.verdicts import LongStudy

    short = rs.lab.scales(name, 6, relevant=relevant)
    study = LongStudy(measure(name), Setting(6, relevant), "auto", 1, 1, None)
    for result in map(study.verdict, names.FROM_WEIGHTS):
        counted = short.verdict(result.measure, result.scale)
        assert result.holds == counted.holds, result.scale
        example = result.counterexample
        if example is not None:
            assert all(sum(example.setting.digits(code)) <= relevant for code in example.pair)
    far = rs.lab.scales(name, 60, relevant=relevant)
    assert all("at length 60 with" in verdict for verdict in far.sentences)


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        main(["scales", "--length", "5", "--relevant", "3", "--equal-relevant", "-m", "Bpref", "-f", "json"])
        == 0
    )
    printed = json.loads(capsys.readouterr().out)
    assert printed["settings"]["relevant"] == 3
    row = printed["tables"]["scales"][0]
    assert (row["violations"], row["comparable"], row["relevant"]) == (26, 6954, 3)
    with pytest.raises(SettingsError, match="at least one"):
        rs.lab.scales("AP", 3, relevant=0)
