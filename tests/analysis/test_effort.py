"""Archetypes by their definition, effort/gain planes, indicators, and the command."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankscope as rs
from rankscope.analysis.effort import EFFORTS, GAINS, Effort
from rankscope.choices import CROSSINGS
from rankscope.cli.main import main
from rankscope.errors import SettingsError
from rankscope.judging import judge
from rankscope.measures.effort_curves import ARCHETYPES, find_archetypes

# archetypes -----------------------------------------------------------------------------------------------


def plain_archetype(curve: rs.Curve, crossing: str) -> str:
    """Return the archetype by definition, from the values at every rank."""
    RB, crp, grades = curve.recall_base, curve.crp.tolist(), curve.relevance.tolist()
    if not any(grades):
        return "worst"
    if not any(crp):
        return "ideal"
    if grades == curve.ideal_grade[::-1].tolist():
        return "full scale"
    m = min(curve.crossings(crossing), default=None)
    if m is None:
        return "typical B"
    if m > RB:
        return "typical A"
    if any(crp[j - 1] < 0 for j in range(m + 2, RB + 1)):
        return "ups-and-downs"
    return "excellent B" if 0 in grades[:RB] else "excellent A"


@pytest.mark.parametrize(
    ("counts", "length"),
    [({1: 2}, 5), ({1: 2, 2: 1}, 6), ({1: 1, 2: 2}, 6), ({1: 1, 2: 1, 3: 1}, 6), ({2: 3}, 7)],
)
def test_archetypes_of_every_list(counts: dict[int, int], length: int) -> None:
    documents = {f"g{g}-{k}": g for g, c in counts.items() for k in range(c)}
    frequencies: Counter[str] = Counter()
    runs = {}
    for word in itertools.product([0, *counts], repeat=length):
        have = Counter(word)
        if all(have[g] <= c for g, c in counts.items()):
            used: Counter[int] = Counter()
            ranking = []
            for r, g in enumerate(word):
                ranking.append(f"g{g}-{used[g]}" if g else f"x{r}")
                used[g] += 1
            runs["".join(map(str, word))] = {"t": ranking}
    qrels = {"t": documents}
    for crossing in CROSSINGS:
        effort = rs.effort(rs.Collection(qrels, runs), "AP", crossing=crossing, cutoff=length)
        sample = list(runs) if crossing == "sign-change" else list(runs)[::7]
        names = dict(zip(effort.archetypes.column("run"), effort.archetypes.column("archetype"), strict=True))
        for word in sample:
            curve = rs.curve(rs.Collection(qrels, runs[word]), None, "t", cutoff=length)
            assert names[word] == plain_archetype(curve, crossing), (word, crossing)
            frequencies[str(names[word])] += 1
    assert (
        frequencies["worst"]
        and frequencies["ideal"]
        and frequencies["typical B"]
        and set(frequencies) <= set(ARCHETYPES)
    )


def test_every_archetype_occurs() -> None:
    """Lists of each kind, with the counts of the Twist paper."""
    words = {
        "ideal": [3, 3, 2, 2, 1, 1, 1],
        "excellent A": [3, 2, 3, 2, 1, 1, 1],
        "typical A": [3, 0, 1, 0, 2, 0, 0, 0, 2, 1, 0, 0, 3, 1],
        "typical B": [3, 0, 3],
        "full scale": [0] * 8 + [1, 1, 1, 2, 2, 3, 3],
        "worst": [0, 0],
        "ups-and-downs": [2, 1, 3, 3, 2, 0, 0],
    }
    counts = {3: 2, 2: 2, 1: 3}
    documents = {f"g{g}-{k}": g for g, c in counts.items() for k in range(c)}
    runs = {}
    for name, word in words.items():
        used: Counter[int] = Counter()
        ranking = []
        for r, g in enumerate(word):
            ranking.append(f"g{g}-{used[g]}" if g else f"x{r}")
            used[g] += 1
        runs[name] = {"t": ranking}
    for name, lists in runs.items():
        [result] = find_archetypes(
            judge(rs.Qrels.from_dict({"t": documents}), rs.Run.from_dict(lists)).lists, cutoff=15
        )
        assert result == plain_archetype(
            rs.curve(rs.Collection({"t": documents}, lists), None, "t", cutoff=15), "sign-change"
        )
        assert result == name or name in ("excellent A", "ups-and-downs")


# planes ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def collection(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from rankscope.simulation import simulate

    folder = tmp_path_factory.mktemp("effort")
    simulate(systems=6, topics=8, depth=60, grades=3, seed=3).write(folder / "made")
    return folder / "made"


@pytest.fixture(scope="module")
def effort(collection: Path) -> Effort:
    return rs.effort(rs.Collection(collection / "qrels.txt", collection / "runs"), cutoff=60)


def test_shares(effort: Effort) -> None:
    assert sum(effort.summary.column("share")) == pytest.approx(1)
    assert sum(effort.summary.column("count")) == len(effort.archetypes) == len(effort.indicators) == 48
    assert len(effort.quadrants) == 16 * 4
    for measure in effort.gains:
        rows = [row for row in effort.quadrants.records() if row["measure"] == str(measure)]
        assert {(row["gain"], row["effort"]) for row in rows} == set(itertools.product(GAINS, EFFORTS))
        assert sum(row["count"] for row in rows) == 48
        assert sum(row["share"] for row in rows) == pytest.approx(1)


def test_points_are_those_of_the_cell(effort: Effort) -> None:
    """Assert that every list is in exactly one cell, by its Twist and the quartile of its gain."""
    gain = effort.gain[0]
    quartiles = np.quantile(gain, [0.25, 0.5, 0.75])
    points = []
    for g, row in enumerate(GAINS):
        for e, column in enumerate(EFFORTS):
            table = effort.points("AP", gain=row, effort=column)
            assert len(table) == effort.plane("AP")[g, e]
            for record in table.records():
                assert e / 4 <= record["Twist"] < (e + 1) / 4 or record["Twist"] == 1
                assert (quartiles < record["AP"]).sum() == g
                points.append((record["run"], record["topic"]))
            assert table.column("AP") == sorted(table.column("AP"), reverse=True)
    assert len(points) == len(set(points)) == 48


def test_diagonal_and_high_high(effort: Effort) -> None:
    for row, measure in zip(effort.agreement.records(), effort.gains, strict=True):
        cells = {
            (r["gain"], r["effort"]): r["count"]
            for r in effort.quadrants.records()
            if r["measure"] == str(measure)
        }
        diagonal = [("low", "huge"), ("medium", "high"), ("high", "medium"), ("huge", "low")]
        assert row["diagonal"] == sum(cells[cell] for cell in diagonal)
        high = itertools.product(("high", "huge"), ("huge", "high"))
        assert row["high_high"] == sum(cells[cell] for cell in high)
        assert row["high_high_share"] == pytest.approx(row["high_high"] / 48)


def test_borders() -> None:
    """Twist of exactly 1/4 is high effort, and a gain on a quartile is in the lower row."""
    runs = {"a": {"q": ["x", "x2", "x3", "x4", "d1", "x5"]}, "b": {"q": ["d1", "d2"]}}
    result = rs.effort(rs.Collection({"q": {"d1": 1, "d2": 1}}, runs), "SetR", cutoff=6)
    assert result.twist.tolist() == [0.25, 1.0]
    assert result.plane("SetR").tolist() == [[0, 1, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 1]]
    same = rs.effort(rs.Collection({"q": {"d1": 1}}, {"a": {"q": ["x"]}, "b": {"q": ["y"]}}), "AP")
    assert same.plane("AP")[0].tolist() == [2, 0, 0, 0]
    assert same.agreement.records()[0]["coincide"] == "all quartiles = 0"


def test_tied_gains() -> None:
    """Half of the lists gain nothing, which is low; the rows between equal quartiles are empty and said to be."""
    qrels = {"q": {"d1": 1, "d2": 1}}
    runs = {name: {"q": ["x"]} for name in "abcd"} | {name: {"q": ["d1"]} for name in "efg"}
    result = rs.effort(rs.Collection(qrels, runs | {"h": {"q": ["d1", "d2"]}}), "P@2")
    assert result.quartiles("P@2") == [0.0, 0.25, 0.5]
    assert result.plane("P@2").sum(axis=1).tolist() == [4, 0, 3, 1]
    assert result.agreement.records()[0]["coincide"] is None
    result = rs.effort(rs.Collection(qrels, runs | {"i": {"q": ["y"]}}), "P@2")
    assert result.quartiles("P@2") == [0.0, 0.0, 0.5]
    assert result.plane("P@2").sum(axis=1).tolist() == [5, 0, 3, 0]
    assert result.agreement.records()[0]["coincide"] == "lower quartile = median = 0"
    assert result.planes()[0].caption.endswith("(lower quartile = median = 0: no ranking lies between)")


def test_lists_that_gain_nothing_are_low_on_a_real_collection(data_dir: Any) -> None:
    folder = data_dir / "cranfield"
    result = rs.effort(rs.Collection(folder / "qrels.txt", folder / "runs"), "P@5")
    [row] = result.agreement.records()
    assert 100 * row["diagonal_share"] == pytest.approx(49.2, abs=0.05)
    assert 100 * row["high_high_share"] == pytest.approx(30.1, abs=0.05)
    assert result.plane("P@5")[0].sum() >= (result.gain[0] == 0).sum() == 2111


def test_undefined_topics_and_missing_lists_are_left_out() -> None:
    qrels = {"q": {"d": 1}, "none": {"d": 0}, "r": {"d": 1}}
    run = {"q": ["d"], "none": ["d"]}
    assert rs.effort(rs.Collection(qrels, run), "AP").archetypes.rows == [
        ("run", "q", "ideal"),
        ("run", "r", "worst"),
    ]
    skipped = rs.effort(rs.Collection(qrels, run, missing="skip"), "AP")
    assert skipped.archetypes.rows == [("run", "q", "ideal")]
    assert skipped.plane("AP").sum() == 1
    nothing = rs.effort(rs.Collection({"none": {"d": 0}}, {"none": ["d"]}), "AP")
    assert len(nothing.archetypes) == 0 and nothing.plane("AP").sum() == 0
    assert np.isnan(nothing.summary.column("share")).all()


def test_indicators_are_the_measures(effort: Effort) -> None:
    lists = effort.judged.lists
    for name in ("Twist", "Rho", "Sigma", "Rho2012", "b_ratio", "CRP_min", "CRP_N"):
        np.testing.assert_array_equal(effort.indicators.column(name), (rs.measure(name) @ 60).evaluate(lists))
    clamped = np.array(
        [effort.indicators.column(f"{name}_clamped") for name in ("Rho2012", "b_ratio", "CRP_N")]
    )
    assert ((clamped >= 0) & (clamped <= 1)).all()
    long = np.array(effort.indicators.column("N")) == 60
    at_end = (rs.measure("CRP") @ 60).evaluate(lists)
    assert long.any()
    np.testing.assert_array_equal(np.array(effort.indicators.column("crp_at_N"))[long], at_end[long])


def test_refused(effort: Effort) -> None:
    with pytest.raises(SettingsError, match="not one of the gains"):
        effort.points("P@5")
    with pytest.raises(SettingsError, match="no gain called 'hug'; did you mean huge"):
        effort.points("AP", gain="hug")
    with pytest.raises(SettingsError, match="crossing"):
        rs.effort(rs.Collection({"q": {"d": 1}}, {"q": ["d"]}), "AP", crossing="never")


# the command ----------------------------------------------------------------------------------------------


def test_command(collection: Path, capfd: pytest.CaptureFixture[str]) -> None:
    paths = [str(collection / "qrels.txt"), str(collection / "runs")]
    assert main(["effort", *paths, "-f", "json", "--cutoff", "60", "--cell", "AP huge high"]) == 0
    output = json.loads(capfd.readouterr().out)
    lists = {"equal_gain", "archetypes", "indicators", "points"}
    assert set(output["tables"]) == {"summary", "quadrants", "agreement", *lists}
    assert output["settings"]["crossing"] == "sign-change" and output["settings"]["cutoff"] == 60
    cell = [
        r
        for r in output["tables"]["quadrants"]
        if (r["measure"], r["gain"], r["effort"]) == ("AP", "huge", "high")
    ]
    assert [len(output["tables"]["points"])] == [r["count"] for r in cell]
    assert set(output["tables"]["archetypes"][0]) == {"run", "topic", "archetype"}
    assert main(["effort", *paths, "-f", "table", "-m", "AP"]) == 0
    text = capfd.readouterr().out
    assert "huge gain" in text and "Archetypes of 48 rankings" in text and "Effort indicators" not in text
    assert main(["effort", *paths, "-q", "-f", "csv"]) == 0
    assert "indicators" in capfd.readouterr().out
    spaced = ["-m", "RBP(p=0.8,rel=2)", "--cell", "RBP(p=0.8, rel=2) low low"]
    assert main(["effort", *paths, "-f", "json", *spaced]) == 0
    assert "points" in json.loads(capfd.readouterr().out)["tables"]
    assert main(["effort", *paths, "--cell", "AP"]) == 2
    assert "names no cell" in capfd.readouterr().err


def test_figures(collection: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    paths = [str(collection / "qrels.txt"), str(collection / "runs")]
    assert main(["effort", *paths, "-m", "AP", "--plot", str(tmp_path / "plane.svg")]) == 0
    [first, *_] = sorted((collection / "runs").iterdir())
    inputs = [paths[0], str(first), "--topic", "301"]
    assert main(["curve", *inputs, "--plot", str(tmp_path / "curve.svg")]) == 0
    capfd.readouterr()
    assert all((tmp_path / name).read_text().startswith("<?xml") for name in ("plane.svg", "curve.svg"))


@pytest.mark.parametrize(
    ("name", "lists"), [("trec_covid_r1_depth100", 143 * 30), ("trec_covid_r1_full24", 25 * 30)]
)
def test_trec_covid(name: str, lists: int, data_dir: Path) -> None:
    result = rs.effort(rs.Collection(data_dir / name / "qrels.txt", data_dir / name / "runs"))
    assert sum(result.summary.column("count")) == lists
    assert sum(result.summary.column("share")) == pytest.approx(1, abs=1e-12)
    for measure in result.gains:
        assert result.plane(measure).shape == (4, 4) and result.plane(measure).sum() == lists


@pytest.mark.parametrize("topics", [1, 2, 3])
def test_lists_belong_to_their_topics(topics):
    qrels = {f"q{t}": {"a": 1, "b": 1} for t in range(topics)}
    runs = {name: {topic: ["x", "a", "b"] for topic in qrels} for name in ("r", "s")}
    classes, names = rs.effort(rs.Collection(qrels, runs)).classes("topic")
    assert names == list(qrels)
    assert classes.tolist() == [*range(topics), *range(topics)]
