"""The declared analyses, and a small collection to call them with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import rankscope as rs
from rankscope.declaration import Declaration

QRELS = rs.Qrels.from_dict(
    {"q1": {"d1": 1, "d2": 0, "d3": 2}, "q2": {"d1": 1, "d4": 2}, "q3": {"d2": 1, "d6": 0}}
)
LISTS = {
    "a": {
        "q1": {"d1": 3.0, "d2": 2.0, "d9": 2.0, "d3": 1.0},
        "q2": {"d4": 1.0, "d8": 0.5},
        "q3": {"d2": 1.0},
    },
    "b": {"q1": {"d3": 3.0, "d2": 2.0}, "q2": {"d1": 1.0, "d4": 0.5}, "q3": {"d2": 2.0, "d7": 2.0}},
    "c": {"q1": {"d2": 3.0, "d1": 2.0, "d0": 2.0}, "q2": {"d5": 1.0, "d4": 0.5}},
    "d": {"q1": {"d3": 1.0, "d0": 1.0}, "q2": {"d4": 1.0, "d0": 1.0}, "q3": {"d2": 1.0, "d0": 1.0}},
}
ARGUMENTS: dict[str, dict[str, Any]] = {
    "compare": {"per_topic": True, "by": "recall_base:2"},
    "gate": {"baseline": "a"},
    "curve": {"run": "a", "topic": "q1"},
    "leave_out": {"pool_depth": 2},
    "correct": {"human": {"q1": {"d1": 1, "d2": 1}, "q2": {"d4": 0}, "q3": {"d2": 1}}, "pi": 0.5},
}
"""Arguments that an analysis or one of its figures requires."""
MEASURES = {"next": "P@2 nDCG"}
"""Measures of analyses that do not take AP."""
DECLARED: dict[str, Callable[..., Any]] = {
    name: function
    for space in (rs, rs.lab)
    for name in space.__all__
    if hasattr(function := getattr(space, name), "declaration")
    and function.__name__ == name  # no second name
    and function.declaration.input_name in ("scores", "collection")
}
"""Declared analyses of scores or of a collection."""


def declaration(name: str) -> Declaration:
    declaration: Declaration = DECLARED[name].declaration  # type: ignore[attr-defined]
    return declaration


def analysed(name: str, **options: Any) -> Any:
    """Return the result of an analysis of a small collection that is read with some options."""
    runs = rs.Runs([rs.Run.from_dict(one, name=run) for run, one in LISTS.items()])
    collection = rs.Collection(QRELS, runs, **options)
    first = (
        collection
        if declaration(name).input_name == "collection"
        else collection.evaluate(MEASURES.get(name, "AP P@2 nDCG"))
    )
    return DECLARED[name](first, **ARGUMENTS.get(name, {}))
