"""Published values of archetypes against every list of small topics; counterexamples against the definitions."""

from __future__ import annotations

import itertools
import json
import math
import re
from fractions import Fraction

import pytest

from rankscope.cli.main import main
from rankscope.errors import SettingsError
from rankscope.lab import archetype_ranges
from rankscope.lab.ranges import COLUMNS, QUANTITIES
from rankscope.result import Result

# one list by the definitions --------------------------------------------------------------------------------


def values(grades: list[int], counts: dict[int, int], crossing: str = "sign-change") -> dict[str, object]:
    """Return the archetype and the quantities of a ranking, literally by their definitions."""
    base, n = sum(counts.values()), len(grades)
    ideal = sorted((g for g, c in counts.items() for _ in range(c)), reverse=True) + [0] * (n - base)

    def positions(row: list[int]) -> list[int]:
        first = {g: ideal.index(g) + 1 for g in set(ideal)}
        last = {g: n - ideal[::-1].index(g) for g in set(ideal)}
        return [j - first[g] if j < first[g] else max(0, j - last[g]) for j, g in enumerate(row, 1)]

    rp, full = positions(grades), positions(ideal[::-1])
    crp = list(itertools.accumulate(rp))
    steps = list(enumerate(itertools.pairwise(crp), 1))
    tests = {
        "sign-change": lambda a, b: a < 0 <= b or b <= 0 < a,
        "definition": lambda a, b: a <= 0 <= b or b <= 0 <= a,
        "matters": lambda a, b: (a <= 0) != (b <= 0),
    }
    m = min((j for j, (a, b) in steps if tests[crossing](a, b)), default=math.inf) if any(crp) else 1
    beta = max(base, m)
    rho = Fraction(0) if beta == math.inf else Fraction(base, int(beta))
    plus = 1 - Fraction(sum(x for x in rp if x > 0), sum(x for x in full if x > 0))
    minus = 1 - Fraction(sum(x for x in rp if x < 0), sum(x for x in full if x < 0))
    sigma = 2 * plus * minus / (plus + minus) if plus + minus else Fraction(0)
    if not any(grades):
        name = "worst"
    elif not any(crp):
        name = "ideal"
    elif grades == ideal[::-1]:
        name = "full scale"
    elif m > base:
        name = "typical B" if m == math.inf else "typical A"
    elif any(crp[j - 1] < 0 for j in range(int(m) + 2, base + 1)):
        name = "ups-and-downs"
    else:
        name = "excellent A" if all(grades[:base]) else "excellent B"
    result = (m, beta, rho, plus, minus, sigma, (rho + sigma) / 2)
    return {"archetype": name, **dict(zip(QUANTITIES, result, strict=True))}


def read_list(text: str) -> tuple[list[int], dict[int, int]]:
    """A list as the tables write it."""
    match = re.match(r"(\d+) \(RB = \d+: (.*?)\)", text)
    assert match is not None
    counts = {int(g): int(c) for c, g in re.findall(r"(\d+) of grade (\d+)", match[2])}
    return [int(letter) for letter in match[1]], counts


@pytest.fixture(scope="module")
def result() -> Result:
    """RB up to 6, N up to 14, two grades: 1.1 million lists."""
    return archetype_ranges()


# statements of the paper ------------------------------------------------------------------------------------

REFUTED = {
    ("full scale", "first crossing"), ("full scale", "BalancePoint"), ("full scale", "Rho"), ("full scale", "Twist"),
    ("excellent", "SigmaPlus"), ("excellent", "SigmaMinus"), ("excellent", "Sigma"), ("excellent", "Twist"),
    ("ups-and-downs", "SigmaPlus"), ("ups-and-downs", "SigmaMinus"), ("ups-and-downs", "Sigma"),
    ("typical B", "SigmaPlus"),
}  # fmt: skip


def test_every_entry_is_confirmed_or_refuted(result: Result) -> None:
    entries = [row for row in result["entries"].records() if row["figure"] != "text"]
    assert [(row["archetype"], row["quantity"]) for row in entries] == [
        (name, quantity) for quantity in QUANTITIES for name in COLUMNS
    ]
    assert {row["verdict"] for row in entries} == {"confirmed", "refuted"}
    assert {(r["archetype"], r["quantity"]) for r in entries if r["verdict"] == "refuted"} == REFUTED
    assert result.settings["lists"] == 1_097_839


def test_counterexamples_are_what_they_say(result: Result) -> None:
    for row in result["entries"].records():
        if row["verdict"] == "confirmed":
            assert row["violations"] == 0 and row["counterexample"] is None
            continue
        text = str(row["counterexample"])
        expected = values(*read_list(text))
        match = re.search(r"is (.*) with (.*) (\S+)$", text)
        assert match is not None
        assert expected["archetype"] == match[1] and row["quantity"] == match[2]
        assert float(expected[match[2]]) == pytest.approx(float(match[3]), abs=1e-3)  # type: ignore[arg-type]


def test_the_bounds_of_the_paper_are_reached_but_not_kept(result: Result) -> None:
    """A full-scale ranking of N = 3 has Rho 1/2 and Twist 1/4, which are said to be below; it crosses at N - RB."""
    expected = values([0, 0, 1], {1: 1})
    assert (expected["archetype"], expected["Rho"], expected["Twist"]) == (
        "full scale",
        Fraction(1, 2),
        Fraction(1, 4),
    )
    assert expected["first crossing"] == 2  # and not at N - RB + 1 = 3 or later


def test_ranges_are_attained_by_their_lists(result: Result) -> None:
    for row in result["ranges"].records():
        assert row["lists"] > 0
        for end in ("lowest", "highest"):
            expected = values(*read_list(str(row[f"{end}_list"])))
            assert expected["archetype"] == row["archetype"]
            assert float(expected[str(row["quantity"])]) == pytest.approx(row[end], abs=1e-12)  # type: ignore[arg-type]


@pytest.mark.parametrize("crossing", ["sign-change", "definition", "matters"])
def test_ranges_of_very_small_topics_one_by_one(crossing: str) -> None:
    """Everything again without arrays: RB up to 2, N up to 5, two grades."""
    expected: dict[tuple[str, str], list[float]] = {}
    for n, counts in itertools.product(range(2, 6), ({1: 1}, {1: 2}, {1: 1, 2: 1})):
        if n < 2 * sum(counts.values()):
            continue
        for row in itertools.product([0, *counts], repeat=n):
            if all(row.count(grade) <= count for grade, count in counts.items()):
                computed = values(list(row), counts, crossing)
                for quantity in QUANTITIES:
                    expected.setdefault((str(computed["archetype"]), quantity), []).append(
                        float(computed[quantity])
                    )  # type: ignore[arg-type]
    table = archetype_ranges(2, 5, crossing=crossing)["ranges"].records()
    for row in table:
        mine_too = expected.get((str(row["archetype"]), str(row["quantity"])), [])
        assert row["lists"] == len(mine_too)
        if mine_too:
            assert (row["lowest"], row["highest"]) == pytest.approx((min(mine_too), max(mine_too)))
        else:
            assert row["lowest"] is None and row["lowest_list"] is None


def test_settings_are_checked() -> None:
    for settings in ({"relevant": 0}, {"length": 1}, {"grades": 10}, {"relevant": 40, "length": 90}):
        with pytest.raises(SettingsError):
            archetype_ranges(**settings)
    with pytest.raises(SettingsError, match="crossing"):
        archetype_ranges(crossing="never")


def test_the_command(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["effort", "--enumerate", "--relevant", "2", "--length", "4", "-f", "json"]) == 0
    answer = json.loads(capfd.readouterr().out)
    assert set(answer["tables"]) == {"ranges", "entries", "summary"} and answer["settings"]["lists"] == 44
    assert main(["effort", "--enumerate", "--relevant", "0"]) == 2
