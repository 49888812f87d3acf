"""The words of :mod:`rankscope.choices` are those of the code that gives them a meaning."""

from __future__ import annotations

import ast
import inspect

import rankscope as rs
from rankscope import choices
from rankscope.analysis.stats.significance import procedure
from rankscope.lab.axioms.relations import RELATIONS
from rankscope.lab.identification.libraries import CALLS
from rankscope.scores import evaluate


def test_properties_calls_and_studies_are_those_that_there_are() -> None:
    assert tuple(RELATIONS) == choices.PROPERTIES
    assert tuple(CALLS) == choices.CALLS


def test_every_test_and_coefficient_is_known() -> None:
    scores = evaluate({"q": {"d": 1}}, {"a": {"q": ["d"]}, "b": {"q": ["x", "d"]}}, ["AP", "RR"])
    rows = rs.correlate(scores, choices.COEFFICIENTS)["correlations"].records()
    assert {row["method"] for row in rows} == set(choices.COEFFICIENTS)
    named = {procedure(test, item, 0.05) for test in choices.TESTS for item in choices.CORRECTIONS}
    assert (
        len(named) == (len(choices.TESTS) - 1) * len(choices.CORRECTIONS) + 1
    )  # Tukey's needs no correction


def test_every_name_is_listed() -> None:
    assigned = [
        node
        for node in ast.parse(inspect.getsource(choices)).body
        if isinstance(node, ast.Assign | ast.AnnAssign)
    ]
    names = {
        ast.unparse(node.targets[0] if isinstance(node, ast.Assign) else node.target) for node in assigned
    }
    assert names - {"__all__"} == set(choices.__all__)
