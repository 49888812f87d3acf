"""Rankscope measures rankings, and measures the measures.

>>> import rankscope as rs
>>> scores = rs.evaluate({"q1": {"d1": 1}}, {"q1": {"d2": 2.0, "d1": 1.0}}, ["AP", rs.nDCG @ 10])
>>> scores.mean("AP").tolist()
[0.5]
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOME = {
    "rankscope.read": ("Qrels", "Run", "Runs", "UNJUDGED", "read_qrels", "read_run", "read_runs"),
    "rankscope.judge": ("judge",),
    "rankscope.measures": ("Measure", "measure"),
    "rankscope.scores": ("ScoreMatrix", "Scores", "evaluate"),
    "rankscope.tables": ("Table",),
    "rankscope.simulate": ("simulate",),
    "rankscope.analysis.curve": ("Curve", "curve"),
    "rankscope.analysis.effort": ("Effort", "effort"),
    "rankscope.analysis.correlation": ("correlation",),
    "rankscope.analysis.power": ("discriminative_power",),
    "rankscope.analysis.compare": ("compare",),
    "rankscope.analysis.pools": ("pool_robustness",),
    "rankscope.analysis.orderings": ("orderings",),
    "rankscope.analysis.bounds": ("bounds",),
    "rankscope.analysis.study": ("study",),
    "rankscope.report": ("report",),
    "rankscope.explorer": ("explore",),
}
"""Where the public names live; each module is loaded when one of its names is first used."""

_MODULES = ("errors", "lab", "plots", "engines")
_WHERE = {name: module for module, names in _HOME.items() for name in names}

__all__ = ["__version__", *sorted(_WHERE), *_MODULES]


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        return getattr(import_module(_WHERE[name]), name)
    if name in _MODULES:
        return import_module(f"rankscope.{name}")
    if not name.startswith("_"):
        from rankscope.measures import REGISTRY

        if name in REGISTRY:
            return REGISTRY[name]
    raise AttributeError(f"module 'rankscope' has no attribute {name!r}")


def __dir__() -> list[str]:
    from rankscope.measures import REGISTRY

    return sorted({*globals(), *_WHERE, *_MODULES, *REGISTRY})


if TYPE_CHECKING:
    from rankscope.judge import judge
    from rankscope.measures import Measure, measure
    from rankscope.read import UNJUDGED, Qrels, Run, Runs, read_qrels, read_run, read_runs
    from rankscope.scores import ScoreMatrix, Scores, evaluate
    from rankscope.tables import Table
