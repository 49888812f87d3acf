"""Every function of the laboratory has its recorded tables, settings, sentences and errors on small settings.

The laboratory itself computed the values in recorded.json; other tests compare them with brute force and papers. These
tests detect unintended changes. After an intended change, run

    python -m tests.lab.test_recorded

and review the difference before you commit it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.recorded import (
    assert_recorded,
    describe_error,
    describe_tables,
    find_difference,
    to_plain,
    write_recorded,
)

from rankscope.errors import SettingsError
from rankscope.lab import (
    archetype_ranges,
    difference_structure,
    dominance,
    identify,
    properties,
    rank_weights,
    related_rankings,
    scales,
)
from rankscope.lab.axioms.relations import RELATIONS
from rankscope.lab.certificate_model import guarantees, render_page
from rankscope.lab.certificates import certificates
from rankscope.lab.identification.conformance import first_difference
from rankscope.lab.identification.inputs import CIRCUMSTANCES, inputs
from rankscope.lab.identification.libraries import LIBRARIES, library_script
from rankscope.lab.identification.variants import formulas
from rankscope.lab.measurement.interval_comparison import compare_intervals

RECORDED = Path(__file__).with_name("recorded.json")
MEASURES = "AP RR nDCG@3 ACT BalancePoint"
GRADED = ["swap", "priority", "deepness", "confidence", "convergence", "boundedness", "closeness threshold"]


def average_of_retrieved(grades: list[int], pool: list[int]) -> float:
    """Divide by the retrieved instead of all relevant documents, and refuse long rankings."""
    hits = [rank for rank, grade in enumerate(grades, 1) if grade > 0]
    return sum(n / rank for n, rank in enumerate(hits, 1)) / len(hits) if len(grades) < 50 else 1 / 0


def half_of_reciprocal_rank(qrels: dict[str, int], run: dict[str, float]) -> float:
    ranked = sorted(run, key=lambda document: -run[document])
    return next((0.5 / rank for rank, document in enumerate(ranked, 1) if qrels.get(document, 0) > 0), 0.0)


CALLS: dict[str, Callable[[], Any]] = {
    "properties": lambda: properties(MEASURES, depth=4),
    "properties of few documents": lambda: properties(
        MEASURES, depth=4, relevant=2, nonrelevant=1, include_impossible=True, fixed_length=True, examples=2
    ),
    "properties of weighted aspects": lambda: properties(
        "AP_IA alpha_nDCG StRec", aspects=2, grades=2, depth=3, weights=[0.75, 0.25], multi_aspect=True
    ),
    "properties of grades": lambda: properties(MEASURES, grades=2, depth=4, properties=GRADED),
    "properties of any ranking": lambda: properties(
        "P@2 RBP", grades=1, depth=3, properties=list(RELATIONS)[3:]
    ),
    "related": lambda: related_rankings("AP", depth=2),
    "related grades": lambda: related_rankings(
        "Twist", grades=2, depth=2, relevant=1, include_impossible=True
    ),
    "related without scores": lambda: related_rankings(
        aspects=1, depth=2, properties=["monotonicity"], fixed_length=True
    ),
    "scales": lambda: scales("AP RBP(p=0.5) P@4 ERR", 4),
    "scales of few relevant documents": lambda: scales("AP DCG", 5, relevant=2, equal_relevant=True),
    "scales from a sample": lambda: scales("AP RBP", 6, count="sample", samples=300, equal_relevant=False),
    "scales of few relevant documents from a sample": lambda: scales(
        "AP", 6, relevant=3, count="sample", samples=300
    ),
    "scales of grades": lambda: scales("DCG AP RBP(graded=True,max_grade=2)", 3, grades=2),
    "scales of grades from a sample": lambda: scales(
        "AP", 3, grades=2, relevant=2, count="sample", samples=300
    ),
    "scales of long rankings": lambda: scales("RBP(p=0.5) RBP AP", 30),
    "difference structure": lambda: difference_structure("AP RBP(p=0.5)", 3, relevant=2),
    "archetype ranges": lambda: archetype_ranges(2, 6, crossing="matters"),
    "intervals": lambda: compare_intervals("0102", "1020", "0110", "2100", "nDCG"),
    "identify": lambda: identify(average_of_retrieved),
    "identify another": lambda: identify(half_of_reciprocal_rank, name="half"),
    "rank weights": lambda: rank_weights("RBP P@2 nDCG", depth=4),
    "certificates": lambda: certificates("RR ACT RBP(p=0.5)"),
}
ERRORS: dict[str, tuple[Callable[..., Any], dict[str, list[Any]]]] = {
    "properties": (
        partial(properties, "AP"),
        {
            "depth": [0, 99], "aspects": [0, 21], "grades": [0, 10], "relevant": [0], "nonrelevant": [0],
            "weights": [[1.0], [1.0, -1.0]], "properties": [["x"], ["swop"]],
        },
    ),
    "graded properties": (
        partial(properties, "AP", grades=1, depth=3),
        {"multi_aspect": [True], "weights": [[1.0]], "properties": [["redundancy"]]},
    ),
    "related": (partial(related_rankings, "AP"), {"depth": [0, 30], "properties": [["x"]]}),
    "scales": (
        partial(scales, "AP"),
        {"length": [0, 1001], "relevant": [0], "grades": [0, 10, 2], "count": ["x"], "samples": [0]},
    ),
    "difference structure": (partial(difference_structure, "AP"), {"length": [0, 5, 99], "relevant": [0]}),
    "archetype ranges": (
        archetype_ranges, {"relevant": [0, 101], "length": [1, 101, 60], "grades": [0, 10], "crossing": ["x"]},
    ),
    "identify": (
        lambda **options: identify(**{"function": len, **options}),
        {"call": ["x", "grades"], "function": ["x", "ranx", "ranks:map", lambda: 0, lambda a, b, c: 0]},
    ),
    "intervals": (
        lambda **ends: compare_intervals(**{"r": "01", "s": "10", "u": "00", "v": "01", **ends}),
        {"r": ["", "x1", "011", "11"], "v": ["00"], "measure": ["AP", "x"]},
    ),
    "rank weights": (
        lambda **options: rank_weights(**{"measures": "P@3", **options}), {"depth": [0], "measures": ["AP"]},
    ),
}  # fmt: skip


def describe_call(name: str) -> Any:
    try:
        result = CALLS[name]()
    except SettingsError as error:
        return str(error)
    described: dict[str, Any] = {
        "text": repr(result), "main": result.main, "display": [table.columns for table in result.display],
        "settings": result.settings, **describe_tables(result),
    }  # fmt: skip
    return to_plain(described)


def describe_errors(name: str) -> dict[str, str]:
    call, options = ERRORS[name]
    return {
        f"{option}={getattr(value, '__name__', value)!r} {index}": describe_error(call, **{option: value})
        for option, values in options.items()
        for index, value in enumerate(values)
    }


def describe_definitions() -> dict[str, Any]:
    """Return inputs, variants and texts of the identification, and the pages of certificates."""
    computed = certificates("RR ACT ACT(preset='equation7') ACT(preset='equation7',time='iterations') DCG")
    case = next(case for case in inputs() if case.is_tied and None in case.grades)
    return {
        "inputs": [str(item) for item in inputs()[::20]],
        "number of inputs": len(inputs()),
        "circumstances": {name: sum(map(holds, inputs())) for name, holds in CIRCUMSTANCES.items()},
        "variants": [[item.name, item.oddities] for item in formulas()[::40]],
        "number of variants": len(formulas()),
        "scripts": {
            name: library_script(f"{name}:{example}", case) for name, (_, example) in LIBRARIES.items()
        },
        "page": render_page(computed).splitlines(),
        "guarantees": guarantees(computed, "ACT"),
        "dominance": [str(dominance(a, b)) for a, b in (([1, 0, None], [0, 1, 1]), ([2], [1, 1, 2]))],
    }


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_result_is_the_recorded_one(name: str) -> None:
    assert_recorded(describe_call(name), RECORDED, name)


@pytest.mark.parametrize("name", ERRORS)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_errors_are_the_recorded_ones(name: str) -> None:
    assert_recorded(describe_errors(name), RECORDED, f"errors of {name}")


def test_definitions_are_the_recorded_ones() -> None:
    assert_recorded(to_plain(describe_definitions()), RECORDED, "definitions")


def test_the_first_difference_of_a_library_is_the_shortest() -> None:
    pytest.importorskip("sklearn")
    difference = first_difference("sklearn:ndcg_score", "nDCG")
    assert difference is not None
    assert len(difference.input.grades) + len(difference.input.missing) <= 2


def test_a_failure_names_table_row_column_and_both_values() -> None:
    expected = {
        "settings": {"seed": 1},
        "pairs": ["caption", ["run", "p"], 2, ["bm25", 0.5], ["dense", 0.25]],
    }
    actual = {"settings": {"seed": 1}, "pairs": ["caption", ["run", "p"], 2, ["bm25", 0.5], ["dense", 0.75]]}
    assert find_difference(actual, expected, "compare") == "compare, pairs, row 2, p: 0.75 instead of 0.25"
    assert find_difference(expected, expected, "compare") is None


def record() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        values: dict[str, Any] = {name: describe_call(name) for name in CALLS}
        values |= {f"errors of {name}": describe_errors(name) for name in ERRORS}
        write_recorded(RECORDED, {**values, "definitions": to_plain(describe_definitions())})


if __name__ == "__main__":
    record()
