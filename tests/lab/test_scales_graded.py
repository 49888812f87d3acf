"""Scales over graded rankings, against plain enumeration."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import product
from math import log2

import numpy as np
import pytest

import rankscope as rs
from rankscope.cli.main import main
from rankscope.errors import MeasureError, SettingsError
from rankscope.lab.measurement import scales as names
from rankscope.lab.measurement.graded import (
    GradedStudy,
    listed_intervals,
    sample_interval_pairs,
    violated_pair,
)
from rankscope.lab.measurement.intervals import rankings
from rankscope.lab.measurement.values import Setting
from rankscope.measures import measure

Ranking = tuple[int, ...]
SETTINGS = [(1, 1, 2), (2, 2, 2), (3, 3, 2), (3, 1, 2), (3, 2, 2), (2, 2, 3), (2, 1, 3), (3, 3, 1), (3, 2, 1)]


def universe(length: int, relevant: int, grades: int) -> list[Ranking]:
    words = product(range(grades + 1), repeat=length)
    return [r for r in words if all(r.count(g) <= relevant for g in range(1, grades + 1))]


def projected(r: Ranking, grade: int) -> list[int]:
    return [int(g >= grade) for g in r]


def below(r: Ranking, s: Ranking, grades: int) -> bool:
    return all(
        sum(projected(r, g)[:k]) <= sum(projected(s, g)[:k])
        for g in range(1, grades + 1)
        for k in range(1, len(r) + 1)
    )


def delta(r: Ranking, s: Ranking, grades: int) -> list[int]:
    return [
        sum((i - j + 1) * (projected(s, g)[j] - projected(r, g)[j]) for j in range(i + 1))
        for g in range(1, grades + 1)
        for i in range(len(r))
    ]


def expected(value: Callable[[Ranking], float], setting: tuple[int, int, int]) -> dict[str, tuple[int, int]]:
    """(comparable, violated) pairs for each scale, straight from the definitions."""
    length, _, grades = setting
    all_rankings = universe(*setting)
    result = {}
    for name, equal in ((names.ALL, False), (names.EQUAL, True)):
        intervals = [
            (r, s) for r in all_rankings for s in all_rankings
            if below(r, s, grades) and (not equal or sorted(r) == sorted(s))
        ]  # fmt: skip
        sizes = np.array([delta(r, s, grades) for r, s in intervals])
        rises = np.array([value(s) - value(r) for r, s in intervals])
        fits = (sizes[:, None] <= sizes[None]).all(axis=2)
        result[name] = int(fits.sum()), int((fits & (rises[:, None] > rises[None] + 1e-9)).sum())
    codes = [sum(g * (grades + 1) ** (length - 1 - j) for j, g in enumerate(r)) for r in all_rankings]
    steps = [sum(delta((0,) * length, r, grades)[length - 1 :: length]) for r in all_rankings]
    for name, position in ((names.STRONG, codes), (names.WEAK, steps)):
        pairs = [
            (i, j) for i in range(len(all_rankings)) for j in range(len(all_rankings))
            if (i <= j if name == names.STRONG else below(all_rankings[i], all_rankings[j], grades))
        ]  # fmt: skip
        far = np.array([position[j] - position[i] for i, j in pairs])
        rises = np.array([value(all_rankings[j]) - value(all_rankings[i]) for i, j in pairs])
        near, same = far[:, None] == far[None], np.abs(rises[:, None] - rises[None]) < 1e-9
        result[name] = int((near | same).sum()), int((near ^ same).sum())
    return result


def dcg(gain: Callable[[int], float], discount: Callable[[int], float]) -> Callable[[Ranking], float]:
    return lambda r: sum(gain(g) / discount(i) for i, g in enumerate(r, 1))


def err(best: int) -> Callable[[Ranking], float]:
    def value(r: Ranking) -> float:
        left, total = 1.0, 0.0
        for i, g in enumerate(r, 1):
            satisfied = (2**g - 1) / 2**best
            total, left = total + left * satisfied / i, left * (1 - satisfied)
        return total

    return value


@pytest.mark.parametrize("setting", SETTINGS)
def test_counts_and_verdicts_are_those_of_the_definition(setting: tuple[int, int, int]) -> None:
    length, relevant, grades = setting
    by_hand = {
        "DCG": dcg(float, lambda i: log2(1 + i)),
        "DCG(gains='exp2')": dcg(lambda g: 2.0**g - 1, lambda i: log2(1 + i)),
        "DCG(discount='jk')": dcg(float, lambda i: max(1.0, log2(i))),
        f"ERR(max_grade={grades})": err(grades),
        "RBP(p=0.5,graded=True)": lambda r: sum(0.5**i * g / grades for i, g in enumerate(r, 1)),
    }
    result = rs.lab.scales(list(by_hand), length, relevant=relevant, grades=grades)
    for name, value in by_hand.items():
        for scale, counts in expected(value, setting).items():
            verdict = result.verdict(measure(name), scale)
            assert (verdict.comparable, verdict.violations) == counts, (name, scale)
            assert verdict.holds == (counts[1] == 0)
            example = verdict.counterexample
            assert (example is None) == verdict.holds
            if example is not None and scale in (names.ALL, names.EQUAL):
                r, s, u, v = (example.setting.digits(code) for code in example.pair)
                assert below(r, s, grades) and below(u, v, grades)
                assert all(a <= b for a, b in zip(delta(r, s, grades), delta(u, v, grades), strict=True))
                assert value(s) - value(r) == pytest.approx(example.rise_sr)
                assert example.rise_sr > example.rise_vu == pytest.approx(value(v) - value(u))


def test_one_grade_is_the_binary_case(monkeypatch: pytest.MonkeyPatch) -> None:
    """Enumeration yields the same counts as the theory of binary rankings."""
    for relevant in (2, 4):
        binary = rs.lab.scales("AP RBP DCG(discount='jk')", 4, relevant=relevant)
        for finding in binary.verdicts:
            study = GradedStudy(measure(finding.measure), Setting(4, relevant), "auto", 100, 1, None)
            listed = study.verdict(finding.scale)
            assert (listed.holds, listed.violations, listed.comparable, listed.fails_from) == (
                finding.holds, finding.violations, finding.comparable, finding.fails_from,
            )  # fmt: skip


def test_gains_need_not_be_evenly_spaced() -> None:
    """Verdicts that follow from swaps and replacements do not depend on the distances between grades."""
    result = rs.lab.scales("DCG DCG(gains='exp2') DCG(gains='1=1,2=100')", 4, grades=2, equal_relevant=True)
    for finding in result.verdicts:
        if finding.scale == names.EQUAL:
            assert finding.holds and "gains of the ranks and grades that are convex" in finding.because
            assert "over the grades 0 to 2 with 4 documents of each" in finding.sentence()


def test_samples_are_comparable_and_estimate_the_share() -> None:
    listed = listed_intervals(Setting(3, 3, 2))
    small, large = sample_interval_pairs(listed, 500, np.random.default_rng(1))
    delta = listed.kinds.delta
    assert len(small) == 500 and (delta[listed.group[small]] <= delta[listed.group[large]]).all()
    exact = rs.lab.scales("ERR", 4, grades=2, equal_relevant=False).verdicts[0]
    drawn = rs.lab.scales("ERR", 4, grades=2, equal_relevant=False, count="sample", samples=20_000).verdicts[
        0
    ]
    assert (drawn.method, drawn.holds) == ("sampled", False)
    assert drawn.low - 0.01 <= exact.share <= drawn.high + 0.01
    proved = rs.lab.scales("DCG", 4, grades=2, equal_relevant=True, count="sample").verdicts[0]
    assert (proved.method, proved.holds) == ("theorem", True)


def test_a_sample_without_a_contradiction_is_no_verdict() -> None:
    """A measure that is not additive by a hair: one pair in a sample will not show it."""

    def almost_additive(grades: list[int]) -> float:
        return sum(w * g for w, g in zip((3, 2, 1), grades, strict=False)) + 0.5 * (grades == [0, 1, 2])

    nearly = rs.measure("Nearly", almost_additive)
    with pytest.raises(SettingsError, match="proves nothing"):
        rs.lab.scales(nearly, 3, grades=2, equal_relevant=True, count="sample", samples=1)
    assert not rs.lab.scales(nearly, 3, grades=2, equal_relevant=True).verdicts[0].holds


def test_consistent_values_have_no_contradiction() -> None:
    values = rankings(3, grades=2).astype(float) @ np.array([3.0, 2.0, 1.0])
    assert violated_pair(Setting(3, 3, 2), values, equal_relevant=True) is None


def test_invalid_arguments_raise() -> None:
    with pytest.raises(SettingsError, match="a length up to 8"):
        rs.lab.scales("DCG", 9, grades=2)
    with pytest.raises(SettingsError, match="from 1 to 9"):
        rs.lab.scales("DCG", 2, grades=10)
    undefined = rs.measure("Undefined", lambda grades: float("nan") if grades == [0, 2] else 1.0)
    with pytest.raises(MeasureError, match=r"\(02\)"):
        rs.lab.scales([undefined], 2, grades=2)


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [
        "--length",
        "3",
        "--grades",
        "2",
        "--relevant",
        "2",
        "--all-intervals",
        "-m",
        "ERR",
        "-f",
        "json",
    ]
    assert main(["scales", *arguments]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["settings"]["grades"] == 2
    row = printed["tables"]["counterexamples"][0]
    assert row["size_sr"].count("(") == 2  # a difference vector for each grade
