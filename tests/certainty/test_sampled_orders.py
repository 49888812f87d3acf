"""Sampled orders of tied documents against all of them, on lists where both are possible."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

import rankscope as rs
from rankscope.certainty.orders import MAX_ORDERS, evaluate_orders
from rankscope.judging import judge
from rankscope.judging.tied import TiedLists
from rankscope.measures import REGISTRY, Measure, parse
from rankscope.measures.base import declared_form
from rankscope.read import Qrels, Run, Runs

SAMPLED = [
    measure @ 15 if measure.cutoff_rule != "none" and measure.default_cutoff else measure
    for name, measure in REGISTRY.items()
    if measure.name == name and measure.family != "user" and measure.cutoff_rule != "required"
    if declared_form(measure) is None and not measure.needs_aspects and measure.name != "Interval"
]
"""Measures without a closed form, whose orders are enumerated or sampled."""


def tied_lists(n_lists: int, seed: int) -> TiedLists:
    """Lists of up to a dozen documents in a few groups of equal scores."""
    rng = np.random.default_rng(seed)
    qrels: dict[str, dict[str, int]] = {}
    run: dict[str, dict[str, float]] = {}
    for number in range(n_lists):
        length = int(rng.integers(4, 12))
        names = [f"d{i}" for i in range(length + 3)]
        grades = rng.choice([-1, 0, 0, 1, 1, 2], len(names)).tolist()
        qrels[f"q{number}"] = {"d0": 1, **{d: g for d, g in zip(names[1:], grades, strict=False) if g >= 0}}
        run[f"q{number}"] = {name: float(rng.integers(0, 3)) for name in names[:length]}
    judged = judge(Qrels.from_dict(qrels), Runs([Run.from_dict(run, name="r")]), ties=True)
    return TiedLists.from_judged(judged, np.arange(n_lists))


def test_twist_is_among_the_sampled() -> None:
    assert {"Twist", "Rho", "Sigma", "CRP_min", "Compat"} <= {measure.name for measure in SAMPLED}


def test_samples_are_within_four_standard_errors_of_enumeration() -> None:
    lists = tied_lists(40, seed=1)
    names = np.arange(len(lists))
    far = compared = 0
    for measure, sampled, enumerated in zip(
        SAMPLED,
        evaluate_orders(SAMPLED, lists, names, max_orders=0, samples=1000),
        evaluate_orders(SAMPLED, lists, names, max_orders=10**6),
        strict=True,
    ):
        assert enumerated.every.all() and not sampled.every.any()
        open_ = enumerated.lowest < enumerated.highest
        endless = np.isinf(enumerated.mean)
        assert (sampled.mean == enumerated.mean)[endless].all() and not sampled.error[endless].any(), measure
        distance = np.abs(np.where(endless, 0.0, sampled.mean) - np.where(endless, 0.0, enumerated.mean))
        open_ &= ~endless
        assert (distance[open_] <= 4 * sampled.error[open_]).all(), measure
        assert (distance[~open_] <= 1e-12).all() and (sampled.error[~open_] <= 1e-12).all(), measure
        # sampled orders are a subset of the enumerated ones
        assert (sampled.lowest >= enumerated.lowest - 1e-12).all() and (
            sampled.highest <= enumerated.highest + 1e-12
        ).all()
        far += int((distance[open_] > sampled.error[open_]).sum())
        compared += int(open_.sum())
    # errors that were far too large would hold anything: about a third of the means are farther than one from the truth
    assert compared > 300
    assert 0.2 < far / compared < 0.45


@pytest.mark.parametrize("name", ["Twist@20", "Rho@20", "CRP_min@20"])
def test_a_list_beyond_enumeration_has_a_standard_error(name: str) -> None:
    # 18 documents of one score, 7 of them relevant: 31,824 permutations
    documents = [f"d{i:02}" for i in range(18)]
    qrels = {"q": dict.fromkeys(documents[:7], 1) | {"elsewhere": 1}}
    scores = rs.evaluate(qrels, {"r": {"q": dict.fromkeys(documents, 1.0)}}, name, ties="expected")
    assert scores.uncertainty is not None and scores.uncertainty.error is not None
    error = float(scores.uncertainty.error[0, 0, 0])
    assert error > 0 and not scores.uncertainty.exact.any()
    estimate = float(scores.values[0, 0, 0])
    assert abs(estimate - _mean_of_all(parse(name), qrels, documents)) <= 4 * error


def _mean_of_all(measure: Measure, qrels: dict[str, dict[str, int]], documents: list[str]) -> float:
    """Return the mean over all positions of the relevant documents, each evaluated as a list."""
    relevant, others = documents[:7], documents[7:]
    rows = list(combinations(range(18), 7))
    assert len(rows) > MAX_ORDERS
    rank = np.array(rows, np.int32).ravel() + 1
    judged = judge(Qrels.from_dict(qrels), Run.from_dict({"q": relevant + others}), ties=True)
    lists = TiedLists.from_judged(judged, np.array([0]))
    hits, offsets = np.tile(judged.judgment, len(rows)), np.arange(len(rows) + 1) * 7
    return float(measure.evaluate(lists.with_hits(np.zeros(len(rows), np.int64), offsets, rank, hits)).mean())


@pytest.mark.parametrize("n_samples", [1, 2])
def test_the_standard_error_is_that_of_the_mean_of_the_sampled_orders(n_samples: int) -> None:
    """Two values have the standard deviation |a - b| / sqrt(2), so that their mean has the error |a - b| / 2."""
    lists = tied_lists(40, seed=1)
    (drawn,) = evaluate_orders(
        [parse("Twist@15")], lists, np.arange(len(lists)), max_orders=0, samples=n_samples
    )
    np.testing.assert_allclose(drawn.error, (drawn.highest - drawn.lowest) / 2, atol=1e-15)
    np.testing.assert_allclose(drawn.mean, (drawn.highest + drawn.lowest) / 2, atol=1e-15)
    assert (drawn.error > 0).any() == (n_samples == 2)
    (every,) = evaluate_orders([parse("Twist@15")], lists, np.arange(len(lists)))
    assert not every.error.any()
