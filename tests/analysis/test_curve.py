"""One list rank by rank, on the example of the Twist paper and against the measures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankscope as rs
from rankscope.choices import CROSSINGS
from rankscope.cli.main import main
from rankscope.errors import InputError, MeasureError, SettingsError

COUNTS = {3: 2, 2: 2, 1: 3}
RUNS = {
    "i": [3, 3, 2, 2, 1, 1, 1] + [0] * 8,
    "w": [0] * 15,
    "fs": [0] * 8 + [1, 1, 1, 2, 2, 3, 3],
    "a": [3, 3, 2, 0, 1, 2, 0, 0, 0, 1, 0, 0, 0, 0, 0],
    "b": [3, 0, 1, 0, 2, 0, 0, 0, 2, 1, 0, 0, 3, 1, 0],
}
RP = {
    "fs": [-7, -6, -5, -4, -3, -2, -1, 0, 2, 3, 4, 8, 9, 12, 13],
    "a": [0, 0, 0, -4, 0, 2, -1, 0, 0, 3, 0, 0, 0, 0, 0],
    "b": [0, -6, -2, -4, 1, -2, -1, 0, 5, 3, 0, 0, 11, 7, 0],
}
CRP = {
    "fs": [-7, -13, -18, -22, -25, -27, -28, -28, -26, -23, -19, -11, -2, 10, 23],
    "a": [0, 0, 0, -4, -4, -2, -3, -3, -3, 0, 0, 0, 0, 0, 0],
    "b": [0, -6, -8, -12, -11, -13, -14, -14, -9, -6, -6, -6, 5, 12, 12],
}


def judged() -> dict[str, dict[str, int]]:
    return {"t": {f"g{g}-{k}": g for g, c in COUNTS.items() for k in range(c)} | {"nr-0": 0}}


def ranking(grades: list[int]) -> list[str]:
    used: dict[int, int] = {}
    documents = []
    for g in grades:
        documents.append(f"g{g}-{used.get(g, 0)}" if g else f"nr-{used.get(g, 0)}")
        used[g] = used.get(g, 0) + 1
    return documents


def paper(name: str, **options: Any) -> rs.Curve:
    return rs.curve(rs.Collection(judged(), {"t": ranking(RUNS[name])}), None, "t", **options)


@pytest.mark.parametrize("name", RP)
def test_the_published_vectors(name: str) -> None:
    curve = paper(name)
    assert curve.curve.column("rp") == RP[name]
    assert curve.curve.column("crp") == CRP[name]
    assert curve.curve.column("rank") == list(range(1, 16))
    assert curve.references.column("full_scale") == CRP["fs"]
    assert curve.references.column("ideal") == [0] * 15
    assert curve.references.column("worst") == [-7, -13, -18, -22, -25, -27] + [-28] * 9


@pytest.mark.parametrize("name", RP)
def test_the_published_vectors_from_files(
    name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    qrels, run = tmp_path / "qrels.txt", tmp_path / "run.txt"
    qrels.write_text("".join(f"t 0 {d} {g}\n" for d, g in judged()["t"].items()))
    run.write_text("".join(f"t Q0 {d} {r} {-r} x\n" for r, d in enumerate(ranking(RUNS[name]), 1)))
    assert main(["curve", str(qrels), str(run), "--topic", "t", "-f", "json"]) == 0
    tables = json.loads(capfd.readouterr().out)["tables"]
    assert [row["rp"] for row in tables["curve"]] == RP[name]
    assert [row["crp"] for row in tables["curve"]] == CRP[name]
    assert set(tables["curve"][0]) >= {"rank", "doc", "grade", "rp", "crp", "dcg", "ideal_dcg", "delta_gain"}
    assert [row["rank"] - row["nearest"] for row in tables["places"]] == RP[name]
    assert set(tables) == {"curve", "points", "values", "intervals", "places", "references"}


def test_points() -> None:
    points = {row["point"]: (row["rank"], row["crp"]) for row in paper("b").points.records()}
    assert points == {
        "recall base": (7, -14), "loss at the recall base": (7, -14), "turn-around": (7, -14),
        "balance 2012": (13, 5), "balance 2012 of full scale": (14, 10),
        "balance (sign-change)": (12, -6), "balance (definition)": (7, -14), "balance (matters)": (12, -6),
        "first crossing (sign-change)": (12, -6), "first crossing (definition)": (1, 0),
        "first crossing (matters)": (12, -6), "crossing": (12, -6),
    }  # fmt: skip
    never = {row["point"]: (row["rank"], row["crp"]) for row in paper("w").points.records()}
    assert never["balance (sign-change)"] == (float("inf"), None)
    ideal = {row["point"]: row["rank"] for row in paper("i").points.records()}
    assert ideal["balance (matters)"] == ideal["turn-around"] == ideal["balance 2012"] == 7
    assert "crossing" not in ideal


def test_dcg_is_the_measure() -> None:
    settings = {"gains": "0,5,10,15", "discount": "jk", "base": 10.0}
    curve = paper("b", **settings)
    for k in (1, 5, 10, 15):
        measure = rs.DCG(**settings) @ k
        normal = rs.nDCG(**settings) @ k
        scores = rs.evaluate(judged(), {"t": ranking(RUNS["b"])}, [measure, normal])
        assert curve.dcg[k - 1] == pytest.approx(scores.mean(measure)[0])
        assert curve.dcg[k - 1] / curve.ideal_dcg[k - 1] == pytest.approx(scores.mean(normal)[0])
    delta = np.cumsum(curve.curve.column("delta_gain"))
    np.testing.assert_allclose(delta, curve.dcg - curve.ideal_dcg, atol=1e-12)


@given(st.permutations([3, 2, 2, 1, 0, 0, 0, 0]), st.integers(1, 12))
def test_dense_and_sparse_agree(grades: list[int], cutoff: int) -> None:
    """Compare the curve, which has every rank, with the measures, which use hits only."""
    qrels = {"t": {f"d{r}": g for r, g in enumerate(grades)}}
    dense = rs.curve(rs.Collection(qrels, {"t": [f"d{r}" for r in range(8)]}), None, "t", cutoff=cutoff)
    values = {row["name"]: row["value"] for row in dense.values.records()}
    backward, forward = -dense.rp[dense.rp < 0].sum(), dense.rp[dense.rp > 0].sum()
    full = np.diff([0, *dense.references.column("full_scale")])
    assert values[dense.label("SigmaPlus")] == pytest.approx(1 - forward / full[full > 0].sum(), abs=1e-12)
    assert values[dense.label("SigmaMinus")] == pytest.approx(1 + backward / full[full < 0].sum(), abs=1e-12)
    points = {row["point"]: row["rank"] for row in dense.points.records()}
    for mode in CROSSINGS:
        assert points[f"first crossing ({mode})"] == min(dense.crossings(mode), default=float("inf"))
    assert points["turn-around"] == (np.argmin(dense.crp) + 1 if dense.crp.any() else 4)


def test_ranks_beyond_the_list_are_nonrelevant() -> None:
    curve = rs.curve(rs.Collection({"q": {"a": 1, "b": 1, "c": 1, "d": -1}}, {"q": ["a", "d"]}), None, "q")
    assert curve.length == 6
    assert curve.curve.column("doc") == ["a", "d", None, None, None, None]
    assert curve.curve.column("grade") == [1, -1, None, None, None, None]
    assert curve.curve.column("rp") == [0, -2, -1, 0, 0, 0]
    assert curve.settings["cutoff"] == 2 and curve.settings["N"] == 6


def test_cutoff() -> None:
    assert paper("b", cutoff=30).length == 30
    cut = paper("b", cutoff=5)
    assert cut.length == 14 and cut.curve.column("doc")[5:] == [None] * 9
    values = {row["name"]: row["value"] for row in paper("b", cutoff=1000).values.records()}
    assert (
        values["Twist (sign-change)"]
        == rs.evaluate(judged(), {"t": ranking(RUNS["b"])}, "Twist").mean("Twist")[0]
    )


def test_a_run_without_the_topic_and_a_topic_without_relevant_documents() -> None:
    with pytest.raises(InputError, match="the run has no documents for topic 'q'"):
        rs.curve(rs.Collection({"q": {"a": 1}, "r": {"a": 1}}, {"r": ["a"]}), None, "q")
    empty = rs.curve(rs.Collection({"q": {"a": 1}, "r": {"a": 1}}, {"r": ["a"], "q": []}), None, "q")
    assert empty.curve.column("crp") == [-1, -1]
    nothing = rs.curve(rs.Collection({"q": {"a": 0}}, {"q": ["a", "b"]}), None, "q")
    assert nothing.curve.column("crp") == [0, 0]
    assert len(nothing.points) == 0
    values = {row["name"]: row["value"] for row in nothing.values.records()}
    assert np.isnan(values["Twist@2 (sign-change)"]) and values["archetype"] is None


def test_refused() -> None:
    with pytest.raises(InputError, match="topic 'u' has no judgments"):
        rs.curve(rs.Collection(judged(), {"t": ["x"]}), None, "u")
    with pytest.raises(InputError, match="one run, not 2"):
        rs.curve(rs.Collection(judged(), {"x": {"t": ["a"]}, "y": {"t": ["a"]}}), None, "t")
    with pytest.raises(SettingsError, match="cutoff"):
        paper("a", cutoff=0)
    with pytest.raises(MeasureError, match="discount"):
        paper("a", discount="none")
    with pytest.raises(SettingsError, match="crossing"):
        paper("a").crossings("never")


def test_the_terminal_shows_the_first_ranks(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    qrels, run = tmp_path / "qrels.txt", tmp_path / "run.txt"
    qrels.write_text("t 0 d1 1\n")
    run.write_text("".join(f"t Q0 d{r} {r} {-r} x\n" for r in range(200)))
    assert main(["curve", str(qrels), str(run), "--topic", "t", "-f", "table", "--head", "3"]) == 0
    text = capfd.readouterr().out
    assert "the first 3 of 200 ranks" in text and "d2" in text and "d3" not in text
    assert main(["curve", str(qrels), str(run), "--topic", "u"]) == 2
    assert "topic 'u' has no judgments" in capfd.readouterr().err


def test_a_point_that_does_not_exist_is_infinite_in_json(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Not null, which says that a number is undefined."""
    qrels, run = tmp_path / "qrels.txt", tmp_path / "run.txt"
    qrels.write_text("t 0 a 1\nt 0 b 1\n")
    run.write_text("t Q0 x 1 2 r\nt Q0 y 2 1 r\n")
    assert main(["curve", str(qrels), str(run), "--topic", "t", "-f", "json"]) == 0
    points = {row["point"]: row for row in json.loads(capfd.readouterr().out)["tables"]["points"]}
    assert points["balance (sign-change)"] == {
        "point": "balance (sign-change)", "rank": "Infinity", "crp": None
    }  # fmt: skip


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (" more of it", "3 fields"),
        ("2 Q0 d1 1 x t\n", "not a number"),
        ("2 Q0 d1 1 1 t\r2 Q0 d2 2 1 t", "CR"),
    ],
)
def test_lines_of_other_topics_are_checked_as_well(tmp_path, line, message):
    """Wherever they stand: a large file is looked into in portions, and a last line without an end is one of them."""
    path = tmp_path / "long.run"
    path.write_text("1 Q0 d1 1 9 t\n" + "".join(f"2 Q0 x{i} {i} {-i} t\n" for i in range(5000)) + line)
    with pytest.raises(InputError, match=message):
        rs.curve(rs.Collection({"1": {"d1": 1}, "2": {"d1": 1}}, path), None, "1")


EDITED = {"q": {"a": 2, "b": 1, "c": 1, "n": 0, "m": 0}}


def test_an_edited_ranking_equals_the_expected_ranking() -> None:
    run = {"q": ["n", "a", "x", "b", "y", "z"]}
    curve = rs.curve(rs.Collection(EDITED, run), None, "q", edits="m4-1 r3=1 r6=0")
    written = rs.curve(rs.Collection(EDITED, {"q": ["b", "n", "c", "x", "y", "m"]}), None, "q")
    assert curve.documents == written.documents
    assert curve.settings == {**written.settings, "edits": "m4-1 r3=1 r6=0"}
    before = rs.curve(rs.Collection(EDITED, run), None, "q")
    assert curve.curve.column("crp_before") == before.curve.column("crp")
    assert [row[:-1] for row in curve.curve.rows] == written.curve.rows
    for name in ("points", "values", "places"):
        assert curve[name].rows == written[name].rows, name
    assert "crp_before" not in before.curve.columns and before.crp_before is None


def test_a_replacement_may_keep_the_document_or_add_an_unjudged_one() -> None:
    run = {"q": ["b", "n", "c", "m", "other-1"]}
    assert rs.curve(rs.Collection(EDITED, run), None, "q", edits="r1=1").documents[0] == "b"
    assert rs.curve(rs.Collection(EDITED, run), None, "q", edits="r1=0").documents[0] == "other-2"


@pytest.mark.parametrize(
    ("edits", "message"),
    [
        ("m1-9", "no rank 9"),
        ("m0-1", "no rank 0"),
        ("r1=7", "no document of grade 7"),
        ("r2=1", "no document of grade 1 that the ranking lacks"),
        ("up", "no edit is called 'up'"),
        ("r1=-1", "no edit is called"),
    ],
)
def test_impossible_edits_are_explained(edits: str, message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        rs.curve(rs.Collection(EDITED, {"q": ["b", "n", "c"]}), None, "q", edits=edits)


def test_the_figure_of_an_edited_list_has_both_curves() -> None:
    pytest.importorskip("matplotlib")
    figure = rs.curve(rs.Collection(EDITED, {"q": ["n", "a", "x", "b"]}), None, "q", edits="m2-1").plot()
    lines = {line.get_gid(): list(line.get_ydata()) for line in figure.axes[0].lines}
    assert lines["crp"] == figure.table.column("crp")
    assert lines["before"] == figure.table.column("crp_before") != lines["crp"]
