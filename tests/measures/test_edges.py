"""Where a formula changes its mind: the last value that still counts, and the first that does not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rankscope as rs
from rankscope.errors import MeasureError
from rankscope.measures import Measure
from rankscope.measures.base import parameter, weights_down_to
from rankscope.measures.classic import AP
from rankscope.measures.effort_curves import FractionalCurves
from rankscope.measures.trec import _MAX_GRADES


def test_below_the_cutoff_a_rank_weighs_nothing() -> None:
    assert weights_down_to(4, lambda rank: 1.0 / rank, 2).tolist() == [1.0, 0.5, 0.0, 0.0]
    assert weights_down_to(2, lambda rank: 1.0 / rank, None).tolist() == [1.0, 0.5]


def test_the_largest_grade_that_a_measure_of_every_grade_takes() -> None:
    def value(grade: int) -> float:
        return float(rs.evaluate({"q": {"a": grade}}, {"r": {"q": ["a"]}}, "TopicRBP").mean("TopicRBP")[0])

    assert value(_MAX_GRADES) == pytest.approx(0.1)
    with pytest.raises(MeasureError, match="the limit is"):
        value(_MAX_GRADES + 1)


def test_a_value_is_written_out_up_to_59_characters() -> None:
    letter = parameter("a", "a letter", choices=("a",))
    letter.__set_name__(Measure, "letter")
    for length, shown in ((57, "x" * 57), (58, "x" * 19)):
        with pytest.raises(MeasureError) as refused:
            letter.check("Mine", "x" * length)
        assert f"letter='{shown}" in str(refused.value)
        assert ("..." in str(refused.value)) == (length == 58)


def test_declared_properties_belong_to_the_formula() -> None:
    """A subclass of AP with another formula does not inherit the declared properties of AP."""

    class Other(AP, abstract=True):
        def evaluate(self, lists: Any) -> Any:
            return np.zeros(len(lists))

    class Declared(Other, abstract=True):
        respects_swaps = True

        def evaluate(self, lists: Any) -> Any:
            return np.ones(len(lists))

    assert AP.respects_swaps is True
    assert Other.respects_swaps is Measure.respects_swaps and Other.closed_form is Measure.closed_form
    assert Declared.respects_swaps is True


@pytest.mark.needs("peers")
@pytest.mark.parametrize("unjudged", range(4))
def test_the_last_point_of_rndcg_needs_two_documents_more_than_are_relevant(unjudged: int) -> None:
    pytrec_eval = pytest.importorskip("pytrec_eval")
    qrels = {"q": {"a": 2, "b": 1, "c": 0}}
    ranking = ["c", "a", *(f"u{number}" for number in range(unjudged))]
    run = {"q": {document: float(-rank) for rank, document in enumerate(ranking)}}
    peer = pytrec_eval.RelevanceEvaluator(qrels, {"Rndcg"}).evaluate(run)["q"]["Rndcg"]
    own = rs.evaluate(qrels, {"r": run}, "RnDCG").mean("RnDCG")[0]
    assert own == pytest.approx(peer)


def test_the_official_bound_of_the_cube_test_where_nothing_is_relevant() -> None:
    qrels = rs.Qrels.from_columns([b"q"], [b"1"], [b"a"], np.zeros(1, np.int32), aspects=True)
    name = "nCT(bound='trec-dd-2017',iteration=5)"
    scores = rs.evaluate(qrels, {"r": {"q": ["a", "b"]}}, name)
    assert scores.values.ravel().tolist() == [0.0]


def test_rounding_makes_no_space_negative() -> None:
    curves = object.__new__(FractionalCurves)
    vars(curves).update(
        forward=np.array([1.0, 3.0]), end=np.array([1.0 + 1e-15, 0.0]), full_backward=np.array([2.0, 2.0])
    )
    assert curves.backward.tolist() == [0.0, 2.0]
