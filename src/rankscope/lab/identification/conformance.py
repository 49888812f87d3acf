"""Definitions of the measures of libraries, and the shortest inputs on which they differ from the usual ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isnan
from typing import NamedTuple

from rankscope.errors import MissingDependencyError, SettingsError
from rankscope.lab.identification.inputs import Input, inputs
from rankscope.lab.identification.libraries import RefusedError, library_function
from rankscope.lab.identification.search import identify, usual_value
from rankscope.result import TableResult
from rankscope.tables import Cell, Table

MEASURES: Mapping[str, Mapping[str, str]] = {
    "pytrec_eval": {
        "map": "AP", "recip_rank": "RR", "P_10": "P@10", "recall_10": "R@10", "Rprec": "Rprec", "bpref": "Bpref",
        "ndcg": "nDCG", "ndcg_cut_10": "nDCG@10", "success_10": "Success@10",
    },
    "ir_measures": {
        "AP": "AP", "AP@10": "AP@10", "RR": "RR", "RR@10": "RR@10", "P@10": "P@10", "R@10": "R@10", "Rprec": "Rprec",
        "Bpref": "Bpref", "nDCG": "nDCG", "nDCG@10": "nDCG@10", "Success@10": "Success@10",
    },
    "ranx": {
        "map": "AP", "map@10": "AP@10", "mrr": "RR", "mrr@10": "RR@10", "precision@10": "P@10", "recall@10": "R@10",
        "r-precision": "Rprec", "bpref": "Bpref", "ndcg": "nDCG", "ndcg@10": "nDCG@10",
        "ndcg_burges@10": "nDCG(gains='exp2')@10", "rbp.80": "RBP", "hit_rate@10": "Success@10",
    },
    "sklearn": {
        "average_precision_score": "AP", "label_ranking_average_precision_score": "AP", "dcg_score": "DCG",
        "ndcg_score": "nDCG", "ndcg_score@10": "nDCG@10",
    },
    "trectools": {
        "map": "AP", "map@10": "AP@10", "reciprocal_rank": "RR", "precision@10": "P@10", "bpref": "Bpref",
        "ndcg": "nDCG", "ndcg@10": "nDCG@10",
    },
    "cwl_eval": {"AP": "AP", "RR": "RR", "RBP(theta=0.8)": "RBP", "Precision(k=10)": "P@10"},
}  # fmt: skip
"""Names of measures in libraries, and the usual definition that each name suggests."""


class Difference(NamedTuple):
    """Input on which a library does not return the usual value."""

    input: Input
    usual: float
    theirs: float | None
    """None if the library rejects the input."""


def first_difference(text: str, usual: str) -> Difference | None:
    """Return the shortest input on which ``library:measure`` differs from a measure, else one that it rejects."""
    evaluate = library_function(text)
    refused = None
    for case in inputs():
        expected = usual_value(usual, case)
        try:
            value = evaluate(case)
        except RefusedError:
            refused = refused or Difference(case, expected, None)
            continue
        if abs(value - expected) > 1e-6 or isnan(value) != isnan(expected):
            return Difference(case, expected, value)
    return refused


_COLUMNS = (
    "library", "name", "usual", "definition", "equal", "agrees", "shortest", "usual_value", "theirs",
)  # fmt: skip


def conformance(libraries: Sequence[str] = tuple(MEASURES)) -> TableResult:
    """Identify every measure of libraries, and compare it with the usual definition.

    Table ``conformance`` {library, name, usual, definition, equal, agrees, shortest, usual_value, theirs}. Libraries
    that are not installed are listed in the settings.
    """
    rows: list[tuple[Cell, ...]] = []
    absent = []
    for library in libraries:
        for name, usual in MEASURES[library].items():
            try:
                rows.append((library, name, usual, *_conformance_cells(f"{library}:{name}", usual)))
            except MissingDependencyError:
                absent.append(library)
                break
    return TableResult.from_tables(Table("conformance", _COLUMNS, rows), settings={"absent": absent})


def _conformance_cells(text: str, usual: str) -> tuple[Cell, ...]:
    try:
        (answer,) = identify(text)["answer"].records()
    except SettingsError as error:
        return error.message, False, 0.0, None, None, None
    verdict = (answer["definition"], answer["equal"], answer["agrees"])
    first = first_difference(text, usual)
    difference = (None, None, None) if first is None else (str(first.input), first.usual, first.theirs)
    return (*verdict, *difference)
