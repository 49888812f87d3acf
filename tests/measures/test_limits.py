"""What parameters may be: the lowest grades, the deepest cutoffs, gains of fractions and of nothing."""

from __future__ import annotations

import pytest

import rankscope as rs
from rankscope.errors import MeasureError
from rankscope.measures import REGISTRY
from rankscope.measures.function import FunctionMeasure

WITH_REL = sorted(
    {
        one.name
        for one in REGISTRY.values()
        if "rel" in one.parameters and not isinstance(one, FunctionMeasure)
        if one.name != "NumRet"  # it counts all documents, or those of a grade
    }
)


@pytest.mark.parametrize("name", WITH_REL)
def test_a_relevant_document_has_grade_1_at_least(name: str) -> None:
    cutoff = "@5" if REGISTRY[name].cutoff_rule == "required" and name != "IPrec" else ""
    cutoff = "@0.5" if name == "IPrec" else cutoff
    assert rs.measure(f"{name}(rel=1){cutoff}").settings["rel"] == 1
    with pytest.raises(MeasureError, match="rel"):
        rs.measure(f"{name}(rel=0){cutoff}")


def test_the_deepest_cutoff() -> None:
    assert (rs.AP @ 10_000_000).cutoff == 10_000_000
    with pytest.raises(MeasureError, match="from 1 to 10,000,000"):
        rs.AP @ 10_000_001


QRELS = {"q": {"a": 2, "b": 1, "c": 1, "n": 0}}
RUNS = {"r": {"q": ["b", "a", "n", "c"]}}


@pytest.mark.parametrize("name", ["SR", "SFT"])
def test_gains_may_be_fractions_and_nothing(name: str) -> None:
    """A grade without a gain is as if it were not relevant."""
    cut = "@3" if REGISTRY[name].cutoff_rule == "required" else ""
    half = rs.evaluate(
        QRELS, RUNS, [f"{name}(gains='1=0.5,2=1'){cut}", f"{name}(gains='1=1,2=2'){cut}"]
    ).values[:, 0, 0]
    assert (half >= 0).all()
    nothing = rs.evaluate(QRELS, RUNS, f"{name}(gains='1=0,2=1'){cut}").values[0, 0, 0]
    only = {"q": {document: grade if grade == 2 else 0 for document, grade in QRELS["q"].items()}}
    assert nothing == pytest.approx(rs.evaluate(only, RUNS, f"{name}(gains='1=0,2=1'){cut}").values[0, 0, 0])
    with pytest.raises(MeasureError, match="negative gains"):
        rs.measure(f"{name}(gains='1=-1,2=1'){cut}")
