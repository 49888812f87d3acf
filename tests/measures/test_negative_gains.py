"""If non-relevant documents have a negative gain, all interfaces treat unjudged documents the same way."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankscope as rs
from rankscope.cli.main import main
from rankscope.errors import MeasureError
from rankscope.lab.rankings.tree import Tree
from rankscope.lab.rankings.worlds import graded_world

QRELS = {"q": {"a": 1, "b": 0}}
RUN = {"q": {"b": 3.0, "u": 2.0, "v": 1.0}}  # non-relevant, unjudged, unjudged
GAINS = "0=-0.5,1=2"
Grades = Sequence[int | None]


def collection(grades: Grades, rest: Sequence[int]) -> tuple[dict[str, dict[str, int]], dict[str, list[str]]]:
    judged = {f"d{i}": g for i, g in enumerate(grades) if g is not None}
    judged |= {f"r{i}": g for i, g in enumerate(rest)} | {"other": 1}
    return {"q": judged}, {"q": [f"d{i}" for i in range(len(grades))]}


def value(text: str, grades: Grades, rest: Sequence[int] = ()) -> float:
    qrels, run = collection(grades, rest)
    return float(rs.evaluate(qrels, run, [text]).matrix(text).values[0, 0])


def defined(grades: Grades, table: dict[int, float], unjudged: float | None = None) -> float:
    total = 0.0
    for rank, grade in enumerate(grades, 1):
        outside = grade is None or grade < 0
        gain = table[max(grade or 0, 0)] if unjudged is None or not outside else unjudged
        total += gain / math.log2(rank + 1)
    return total


def test_the_curve_and_the_measure_agree() -> None:
    actual = rs.curve(rs.Collection(QRELS, RUN), None, "q", gains=GAINS)
    text = f"DCG(gains='{GAINS}')"
    score = rs.evaluate(QRELS, RUN, [text]).matrix(text).values[0, 0]
    expected = -0.5 * sum(1 / math.log2(rank + 1) for rank in (1, 2, 3))
    assert score == pytest.approx(expected) == pytest.approx(-1.0654648767857287)
    assert actual.dcg[-1] == pytest.approx(score)


@given(
    st.lists(st.none() | st.integers(-1, 2), min_size=1, max_size=8), st.lists(st.integers(-1, 2), max_size=4)
)
def test_definition(grades: list[int | None], rest: list[int]) -> None:
    table = {0: -0.5, 1: 2.0, 2: 3.0}
    judged = [max(g, 0) for g in [*grades, *rest] if g is not None] + [1]
    best = defined(sorted((g for g in judged if g > 0), reverse=True), table)
    gains = "gains='0=-0.5,1=2,2=3'"
    assert value(f"DCG({gains})", grades, rest) == pytest.approx(defined(grades, table))
    assert value(f"DCG({gains})@3", grades, rest) == pytest.approx(defined(grades[:3], table))
    assert value(f"DCG({gains},unjudged=zero)", grades, rest) == pytest.approx(defined(grades, table, 0.0))
    assert value(f"nDCG({gains})", grades, rest) == pytest.approx(defined(grades, table) / best)
    assert value(f"IdealDCG({gains})", grades, rest) == pytest.approx(best)
    qrels, run = collection(grades, rest)
    actual = rs.curve(rs.Collection(qrels, run), None, "q", gains="0=-0.5,1=2,2=3")
    assert actual.dcg[-1] == pytest.approx(defined(grades, table))
    assert actual.ideal_dcg.max() == pytest.approx(best)


@pytest.mark.parametrize(
    "name", ["DCG", "nDCG", "CG", "nCG", "IdealDCG", "G", "nDCG_rel", "RnDCG", "D_nDCG", "DS_nDCG"]
)
@given(grades=st.lists(st.none() | st.integers(-1, 2), min_size=1, max_size=8))
def test_unjudged_is_nonrelevant_for_every_measure_of_gains(name: str, grades: list[int | None]) -> None:
    text = f"{name}(gains='0=-0.5,1=2')"
    judged = [max(grade or 0, 0) for grade in grades]
    assert value(text, grades) == pytest.approx(value(text, judged), rel=1e-12)
    assert value(name, grades) == pytest.approx(value(name, judged), rel=1e-12)


def test_the_laboratory_counts_the_same() -> None:
    tree = Tree(graded_world(2, relevant=2, nonrelevant=3), 3)
    measure = rs.measure("DCG(gains='0=-0.5,1=2,2=3')")
    expected = [defined(grades, {0: -0.5, 1: 2.0, 2: 3.0}) for grades in tree.flat().grades()]
    assert measure.evaluate(tree).tolist() == pytest.approx(expected)
    assert measure.evaluate(tree.flat()).tolist() == pytest.approx(expected)


@given(st.lists(st.none() | st.integers(0, 2), min_size=1, max_size=6))
def test_bounds_hold_whatever_the_unjudged_documents_are(grades: list[int | None]) -> None:
    text = "DCG(gains='0=-1,1=2,2=1')@6"
    qrels, run = collection(grades, [2])
    rows = rs.bounds(rs.Collection(qrels, run), p=[], measures=[text], depths=[6])["bounds"].records()
    low, high = rows[0]["lower"], rows[0]["upper"]
    at = {"worst": 0, "best": 1}
    filled = {name: [g if g is not None else fill for g in grades] for name, fill in at.items()}
    whole = {name: filled[name] + [fill] * (6 - len(grades)) for name, fill in at.items()}
    assert low == pytest.approx(value(text, whole["worst"], [2]))
    assert high == pytest.approx(value(text, whole["best"], [2]))
    judged = rs.evaluate(qrels, run, [text])
    residual = rs.measure(text).residual(judged.judged.lists)[0]  # type: ignore[attr-defined, union-attr]
    assert judged.matrix(text).values[0, 0] + residual == pytest.approx(high)


def test_trec_eval_gives_unjudged_documents_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "qrels").write_text("1 0 a 1\n1 0 b 0\n1 0 s -2\n")
    (tmp_path / "run").write_text("1 Q0 b 1 4 t\n1 Q0 u 2 3 t\n1 Q0 s 3 2 t\n1 Q0 a 4 1 t\n")
    command = ["trec_eval", "-m", "dcg.0=-0.5,1=2", str(tmp_path / "qrels"), str(tmp_path / "run")]
    assert main(command) == 0
    assert float(capsys.readouterr().out.split()[-1]) == pytest.approx(-0.5 + 2 / math.log2(5), abs=5e-5)


@pytest.mark.parametrize("name", ["nDCG", "nCG", "IdealDCG", "G", "nDCG_rel", "RnDCG", "D_nDCG"])
def test_an_ideal_list_without_end_is_refused(name: str) -> None:
    with pytest.raises(MeasureError, match="it is infinite"):
        value(f"{name}(gains='0=1,1=2')", [1, 0])
    assert value(f"{name}(gains='0=1,1=2',unjudged=zero)", [1, 0]) > 0
    assert value("DCG(gains='0=1,1=2')", [1, None]) == pytest.approx(2 + 1 / math.log2(3))
