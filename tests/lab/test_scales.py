"""The scales of measures: verdicts, counterexamples recomputed by hand, limits, interruption, the command."""

from __future__ import annotations

import doctest
import json
from collections.abc import Callable, Iterator
from itertools import product
from math import log, log2
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest

import rankscope.lab.measurement.scales as names
from rankscope.cli.main import main
from rankscope.cli.scales import DEFAULT
from rankscope.errors import MeasureError, SettingsError
from rankscope.lab.measurement import counting
from rankscope.lab.measurement.distances import is_evenly_spaced
from rankscope.lab.measurement.scales import Scales, wilson
from rankscope.lab.measurement.verdicts import scales
from rankscope.lab.measurement.walks import comparable_pairs
from rankscope.measures import measure

N = 10


@pytest.fixture(scope="module")
def usual(shared: Callable[[str, Callable[[], Scales]], Scales]) -> Scales:
    return shared("scales of the usual measures", lambda: scales(DEFAULT, N))


# the measures once more, written out: a second opinion on every printed score difference
def _discounted(grades: list[int], discount: Any) -> float:
    return sum(1 / discount(rank) for rank, grade in enumerate(grades, 1) if grade)


def _rbp(p: float) -> Any:
    return lambda grades: (1 - p) * sum(p ** (rank - 1) for rank, grade in enumerate(grades, 1) if grade)


def _ap(grades: list[int]) -> float:
    return sum(sum(grades[:rank]) / rank for rank, grade in enumerate(grades, 1) if grade) / N


def _err(grades: list[int]) -> float:
    going_on, total = 1.0, 0.0
    for rank, grade in enumerate(grades, 1):
        if grade:
            total += going_on * 0.5 / rank
            going_on *= 0.5
    return total


BY_HAND: dict[str, Any] = {
    "AP": _ap,
    "ERR": _err,
    "RBP(p=0.3)": _rbp(0.3),
    "RBP(p=0.5)": _rbp(0.5),
    "RBP(p=0.8)": _rbp(0.8),
    "RBP(p=0.95)": _rbp(0.95),
    "DCG": lambda grades: _discounted(grades, lambda rank: log2(1 + rank)),
    "DCG(discount=jk)": lambda grades: _discounted(grades, lambda rank: max(1, log2(rank))),
    "DCG(discount=jk,base=10)": lambda grades: _discounted(grades, lambda rank: max(1, log(rank) / log(10))),
}

ON_ALL = {"RBP(p=0.3)", "RBP(p=0.5)"}
ON_EQUAL = set(DEFAULT) - {"AP", "ERR", "DCG(discount='jk')"}


@pytest.mark.parametrize("name", DEFAULT)
def test_the_verdicts_at_length_ten(usual: Scales, name: str) -> None:
    holds = {scale: usual.verdict(measure(name), scale).holds for scale in names.SCALES}
    assert holds == {
        names.ALL: name in ON_ALL,
        names.EQUAL: name in ON_EQUAL,
        names.STRONG: name == "RBP(p=0.5)",
        names.WEAK: False,
        names.OWN: name in ("RBP(p=0.5)", "DCG(discount='jk',base=10)"),  # log10 of ten ranks: all count 1
    }


@pytest.mark.parametrize("inner", ["AP", "nDCG", "RBP", "ERR", "RR", "P@5", "Rprec"])
@pytest.mark.parametrize("setting", [{"relevant": 5}, {"relevant": 2}, {"relevant": 1, "grades": 2}])
def test_interval_measures_are_on_the_interval_scale_of_their_own_order(
    inner: str, setting: dict[str, int]
) -> None:
    """They are on no other scale unless theory predicts it: RBP(p=0.5) counts the steps of strong top-heaviness."""
    result = scales(f"Interval(measure='{inner}')@5", 5, **setting).verdicts[-1]
    assert (result.scale, result.holds, result.violations) == (names.OWN, True, 0)
    plain = scales(inner, 5, **setting).verdicts[-1]
    assert plain.holds == (inner in ("P@5", "Rprec")), inner  # which count, so that they are evenly spaced


@pytest.mark.parametrize("p, strong", [(0.3, True), (0.5, True), (0.8, False)])
def test_positions_of_rbp_are_binary_numbers_if_the_first_rank_outweighs_the_rest(
    p: float, strong: bool
) -> None:
    result = scales(f"Interval(measure='RBP(p={p})')@5", 5)
    holds = {finding.scale: finding.holds for finding in result.verdicts}
    assert (holds[names.STRONG], holds[names.WEAK], holds[names.OWN]) == (strong, False, True)


def test_the_counts_of_the_own_order_equal_a_plain_loop() -> None:
    values = [0.0, 0.2, 0.2, 0.3, 0.5, 0.6, 0.6, 1.0]  # of the rankings 000, 001, ...
    counted = measure("Uneven_for_scales", lambda grades: values[_number([0, *map(int, grades)])])
    (result,) = [f for f in scales(counted, 3).verdicts if f.scale == names.OWN]
    position = {value: k for k, value in enumerate(sorted(set(values)))}
    ends = [(a, b) for i, a in enumerate(values) for b in values[i:]]
    pairs = [
        (position[b] - position[a] == position[d] - position[c], abs((b - a) - (d - c)) < 1e-9)
        for (a, b), (c, d) in product(ends, ends)
    ]
    assert result.comparable == sum(near or equal for near, equal in pairs)
    assert result.violations == sum(near != equal for near, equal in pairs)
    assert result.because.startswith(
        "the steps from (000) to (001) and from (001) to (011) are equally large (1), but"
    )


def test_every_pair_was_counted(usual: Scales) -> None:
    for finding in usual.verdicts:
        assert finding.method == "exact"
        assert finding.violations is not None and finding.comparable
        assert finding.holds == (finding.violations == 0)
        assert finding.share == finding.violations / finding.comparable
        if finding.scale in (names.ALL, names.EQUAL):
            assert finding.comparable == comparable_pairs(N, finding.scale == names.EQUAL)


def _grades(text: str) -> list[int]:
    return [int(digit) for digit in text.strip("()")]


def _delta(r: list[int], s: list[int]) -> list[int]:
    return [sum((i - j + 1) * (s[j] - r[j]) for j in range(i + 1)) for i in range(len(r))]


def _number(grades: list[int]) -> int:
    return int("".join(map(str, grades)), 2)


def test_every_counterexample_is_confirmed_by_hand_arithmetic(usual: Scales) -> None:
    by_canonical_name = {str(measure(name)): value for name, value in BY_HAND.items()}
    rows = usual.tables["counterexamples"].records()
    assert len(rows) == sum(not finding.holds for finding in usual.verdicts)
    for row in rows:
        value, scale = by_canonical_name[str(row["measure"])], row["scale"]
        r, s, u, v = (_grades(str(row[end])) for end in "rsuv")
        for low, high in ((r, s), (u, v)):
            assert len(low) == len(high) == row["length"]
            if scale not in (names.STRONG, names.OWN):
                assert all(sum(low[:k]) <= sum(high[:k]) for k in range(1, len(low) + 1))
        first, second = value(s) - value(r), value(v) - value(u)
        assert row["rise_sr"] == pytest.approx(first, abs=1e-12)
        assert row["rise_vu"] == pytest.approx(second, abs=1e-12)
        if scale in (names.ALL, names.EQUAL):
            assert all(a <= b for a, b in zip(_delta(r, s), _delta(u, v), strict=True))
            assert first > second + 1e-9
            assert row["size_sr"] == "(" + ",".join(map(str, _delta(r, s))) + ")"
            assert row["size_vu"] == "(" + ",".join(map(str, _delta(u, v))) + ")"
            if scale == names.EQUAL:
                assert sum(r) == sum(s) and sum(u) == sum(v)
        elif scale == names.OWN:
            levels = sorted(
                {round(value(list(word)), 12) for word in product((0, 1), repeat=int(row["length"]))}
            )
            places = [levels.index(round(value(word), 12)) for word in (r, s, u, v)]
            assert places[1] - places[0] == places[3] - places[2] == 1 and abs(first - second) > 1e-12
        else:
            weak = scale == names.WEAK
            distance = [_delta(a, b)[-1] if weak else _number(b) - _number(a) for a, b in ((r, s), (u, v))]
            assert [row["size_sr"], row["size_vu"]] == list(map(str, distance))
            assert distance[0] == distance[1] and abs(first - second) > 1e-9


@pytest.mark.parametrize(
    ("name", "scale", "fails_from"),
    [
        ("DCG(discount=jk)", names.EQUAL, 3),
        ("DCG(discount=jk,base=10)", names.EQUAL, 11),
        ("DCG(discount=jk)", names.ALL, 2),
        ("AP", names.EQUAL, 3),
        ("ERR", names.EQUAL, 3),
        ("RBP(p=0.51)", names.ALL, 2),
        ("RBP(p=0.5)", names.WEAK, 3),
    ],
)
def test_the_counterexample_is_as_short_as_can_be(name: str, scale: str, fails_from: int) -> None:
    at = {
        n: scales(name, n, count="sample", samples=10).verdict(measure(name), scale)
        for n in (fails_from - 1, fails_from, 12)
    }
    assert at[fails_from - 1].holds
    for length in (fails_from, 12):
        result = at[length]
        assert not result.holds and result.fails_from == fails_from
        assert result.counterexample is not None and result.counterexample.length == fails_from


@pytest.mark.parametrize("p", [0.01, 0.3, 0.49, 0.5, 0.501, 0.6, 0.9, 0.99])
def test_rbp_is_interval_like_up_to_one_half_and_always_between_equal_ends(p: float) -> None:
    for length in (2, 5, 9, 17, 60, 1000):
        result = scales(f"RBP(p={p})", length, count="auto" if length < 6 else "sample", samples=10)
        assert result.verdicts[0].holds == (p <= 0.5), length
        assert result.verdicts[1].holds, length


def test_long_rankings_are_decided_by_theorems() -> None:
    for length in (21, 100):
        result = scales(
            ["DCG", "nDCG", "DCG(discount=jk,base=10)", "AP", "ERR", "P@10", "RBP(p=0.5)"], length
        )
        equal = {f.measure: f.holds for f in result.verdicts if f.scale == names.EQUAL}
        assert equal == {
            "DCG": True, "nDCG": True, "DCG(discount=jk,base=10)": False, "AP": False, "ERR": False,
            "P@10": False, "RBP(p=0.5)": True,
        }  # fmt: skip
        assert {f.measure for f in result.verdicts if f.scale == names.STRONG and f.holds} == {"RBP(p=0.5)"}
        assert not any(f.holds for f in result.verdicts if f.scale == names.WEAK)
        assert {f.method for f in result.verdicts} == {"theorem"}
        for finding in result.verdicts:
            assert finding.holds or finding.counterexample is not None


def test_short_and_long_rankings_are_decided_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    import rankscope.lab.measurement.verdicts as measurement

    usual_measures = [*DEFAULT, "nDCG", "P@3", "RR"]
    short = scales(usual_measures, 8).verdicts
    monkeypatch.setattr(measurement, "MAX_LENGTH", 7)
    long = scales(usual_measures, 8).verdicts
    assert [(f.measure, f.scale, f.holds, f.fails_from) for f in short if f.scale != names.OWN] == [
        (f.measure, f.scale, f.holds, f.fails_from) for f in long
    ]


def test_linear_weights_are_an_interval_scale_under_weak_top_heaviness() -> None:
    linear = measure("Linear", lambda grades: sum(len(grades) - i for i, grade in enumerate(grades) if grade))
    result = scales([linear], 6)
    assert [f.holds for f in result.verdicts] == [True, True, False, True, True]


def test_a_sample_estimates_the_share_that_is_counted() -> None:
    counted = scales(["AP", "RBP(p=0.95)"], 8, equal_relevant=False)
    sampled = scales(["AP", "RBP(p=0.95)"], 8, equal_relevant=False, count="sample", samples=40_000, seed=3)
    for exact, estimate in zip(counted.verdicts, sampled.verdicts, strict=True):
        assert estimate.holds == exact.holds
        if exact.scale == names.ALL:
            assert estimate.method == "sampled" and estimate.violations is None
            assert estimate.low <= exact.share <= estimate.high
            assert estimate.comparable == exact.comparable
    repeated = scales(["AP"], 8, equal_relevant=False, count="sample", samples=40_000, seed=3)
    assert repeated.verdicts[0] == sampled.verdicts[0]


def test_beyond_counting_the_dynamic_program_proves_and_the_sample_estimates() -> None:
    result = scales(["RBP(p=0.5)", "AP"], 14, equal_relevant=False, samples=2000)
    assert result.verdict("RBP(p=0.5)", names.ALL).method == "dynamic program"
    assert result.verdict("RBP(p=0.5)", names.ALL).violations == 0
    assert result.verdict("AP", names.ALL).method == "sampled"
    assert "from a sample" in result.verdict("AP", names.ALL).sentence()


@pytest.mark.parametrize("values", [[0.0], [0.3, 0.3, 0.3], [0.0, 1.0], [0.2, 0.6, 0.4, 0.4]])
def test_values_without_two_different_steps_are_evenly_spaced(values: list[float]) -> None:
    assert is_evenly_spaced(np.array(values))
    assert not is_evenly_spaced(np.array([*values, 2.5, 3.75]))


@pytest.mark.parametrize("drawn", [1, 7, 100, 20_000])
def test_the_wilson_interval_is_that_of_scipy(drawn: int) -> None:
    for violated in {0, 1, drawn // 3, drawn // 2, drawn - 1, drawn}:
        expected = binomtest(violated, drawn).proportion_ci(0.95, method="wilson")
        assert wilson(violated, drawn) == pytest.approx((expected.low, expected.high), rel=1e-9, abs=1e-12)


def test_the_wilson_interval_reaches_its_ends_exactly() -> None:
    assert wilson(0, 10)[0] == 0.0 and wilson(10, 10)[1] == 1.0


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"length": 0}, "from 1 to 1000"),
        ({"length": 1001}, "from 1 to 1000"),
        ({"length": 5, "relevant": 0}, "at least one"),
        ({"length": 5, "count": "some"}, "did you mean sample"),
        ({"length": 5, "samples": 0}, "at least one"),
        ({"length": 16, "count": "exact"}, "GiB"),
    ],
)
def test_invalid_settings_are_rejected(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(SettingsError, match=words):
        scales("AP", **settings)


def test_an_undefined_measure_is_refused_with_the_ranking() -> None:
    undefined = measure("Undefined", lambda grades: float("nan") if grades == [0, 1] else 1.0)
    with pytest.raises(MeasureError, match=r"\(01\)"):
        scales([undefined], 2)


def test_a_long_measure_that_no_theorem_decides_is_refused() -> None:
    plain = measure("Plain", lambda grades: float(sum(grades)))
    with pytest.raises(SettingsError, match="up to 20"):
        scales([plain], 21)


def test_the_recall_base_is_a_setting() -> None:
    small, large = scales("AP", 3), scales("AP", 3, relevant=30)
    assert small.settings["relevant"] == 3 and large.settings["relevant"] == 30
    first, second = small.verdicts[0].counterexample, large.verdicts[0].counterexample
    assert first is not None and second is not None
    assert first.rise_sr == pytest.approx(10 * second.rise_sr)
    assert small.verdicts[0].violations == large.verdicts[0].violations


def test_results_of_an_interrupted_analysis_are_marked_as_partial(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = 0

    def interrupted(items: Any, *_: Any) -> Iterator[Any]:
        nonlocal calls
        calls += 1
        for index, item in enumerate(items):
            if calls == 2 and index == 3:
                raise KeyboardInterrupt
            yield item

    monkeypatch.setattr(counting, "_PIECE_WORDS", 1)
    monkeypatch.setattr(counting, "progress", interrupted)
    result = scales(["AP", "RBP(p=0.5)"], 5)
    assert result.partial and result.settings["partial"]
    assert [f.method for f in result.verdicts] == ["exact", "partial"]
    assert "interrupted" in result.sentences[1]


def test_verdicts_state_their_reason(usual: Scales) -> None:
    assert len(usual.sentences) == len(names.SCALES) * len(DEFAULT)
    jk = usual.verdict(measure("DCG(discount=jk)"), names.EQUAL).sentence()
    assert jk.startswith("Means of DCG(discount='jk') are not permissible under the interval-like scale")
    text = "(001) to (010) is no larger than the one from (010) to (100) (difference vectors (0,1,1) and (1,1,1))"
    assert text in jk
    assert "rises by more: 0.3691 against 0.0000" in jk
    assert (
        usual.verdict(measure("RBP(p=0.5)"), names.STRONG)
        .sentence()
        .startswith("Means of RBP(p=0.5) are permissible")
    )


def _command(capsysbinary: pytest.CaptureFixture[bytes], *arguments: str) -> tuple[int, str, str]:
    status = main(["scales", *arguments])
    out, err = capsysbinary.readouterr()
    return status, out.decode(), err.decode()


def test_the_command_prints_json(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    status, out, _ = _command(capsysbinary, "--length", "4", "-m", "AP RBP(p=0.5)", "-f", "json")
    assert status == 0
    result = json.loads(out)
    assert result["command"] == "scales" and result["settings"]["length"] == 4
    rows = {(row["measure"], row["scale"]): row for row in result["tables"]["scales"]}
    assert (rows["AP", names.ALL]["violations"], rows["AP", names.ALL]["comparable"]) == (841, 7695)
    assert (rows["AP", names.EQUAL]["violations"], rows["AP", names.EQUAL]["comparable"]) == (31, 1043)
    assert rows["RBP(p=0.5)", names.STRONG]["holds"] is True
    assert {row["measure"] for row in result["tables"]["counterexamples"]} == {"AP", "RBP(p=0.5)"}
    assert len(result["tables"]["verdicts"]) == 2 * len(names.SCALES)


@pytest.mark.parametrize(
    ("flag", "kept"), [("--equal-relevant", names.EQUAL), ("--all-intervals", names.ALL)]
)
def test_the_command_restricts_the_intervals(
    flag: str, kept: str, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    _, out, _ = _command(capsysbinary, "--length", "3", "-m", "AP", flag, "-f", "json")
    assert [row["scale"] for row in json.loads(out)["tables"]["scales"]] == [
        kept,
        names.STRONG,
        names.WEAK,
        names.OWN,
    ]


def test_the_command_writes_verdicts_for_people(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    _, out, _ = _command(capsysbinary, "--length", "3", "-m", "DCG(discount=jk)", "-f", "table")
    assert "Means of DCG(discount=jk) are not permissible" in out
    assert "(010)" in out


def test_the_command_refuses_in_one_line(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    status, out, err = _command(capsysbinary, "--length", "18", "--count", "exact", "-m", "AP")
    assert status == 2 and out == ""
    assert err.count("\n") == 1 and "intervals of length 18" in err


def test_the_examples_of_the_documentation_run() -> None:
    page = Path(__file__).parents[2] / "docs" / "scales.md"
    failed, tried = doctest.testfile(
        str(page), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE
    )
    assert tried > 5 and failed == 0
