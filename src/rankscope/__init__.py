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
    "rankscope.judging": ("judge",),
    "rankscope.measures": ("Measure", "measure"),
    "rankscope.scores": ("Collection", "ScoreMatrix", "Scores", "evaluate", "read_scores"),
    "rankscope.citations": ("cite",),
    "rankscope.streaming": ("evaluate_into",),
    "rankscope.tables": ("Table",),
    "rankscope.result": ("Result",),
    "rankscope.simulation": ("simulate",),
    "rankscope.analysis.curve": ("Curve", "curve"),
    "rankscope.analysis.effort": ("Effort", "effort"),
    "rankscope.analysis.findings": ("Finding", "Findings", "findings"),
    "rankscope.analysis.correlation": ("correlate",),
    "rankscope.analysis.power": ("power",),
    "rankscope.analysis.compare": ("compare",),
    "rankscope.analysis.certain": ("certain",),
    "rankscope.analysis.next_judgments": ("next", "next_judgments"),
    "rankscope.analysis.gate": ("Gate", "gate"),
    "rankscope.analysis.judges": ("judges",),
    "rankscope.analysis.leaderboard": ("leaderboard",),
    "rankscope.analysis.pool_correlation": ("pool_correlation",),
    "rankscope.analysis.pools": ("leave_out", "pools"),
    "rankscope.analysis.orderings": ("orderings",),
    "rankscope.analysis.overlap": ("overlap",),
    "rankscope.analysis.bounds": ("bounds",),
    "rankscope.analysis.scale_effect": ("scale_effect",),
    "rankscope.analysis.verdict": ("verdict",),
    "rankscope.analysis.study.experiments": ("repeat_study", "study"),
    "rankscope.analysis.study.settings": ("StudySettings",),
    "rankscope.reporting": ("report",),
    "rankscope.explorer": ("explore",),
}
"""Modules of the public names; a module is imported when one of its names is first used."""

_MODULES = ("errors", "lab", "plots", "engines")
_WHERE = {name: module for module, names in _HOME.items() for name in names}

__all__ = ["__version__", *sorted(_WHERE), *_MODULES]


if not TYPE_CHECKING:  # type checkers know every name from below, and a misspelt one is an error to them

    def __getattr__(name: str) -> Any:
        if name in _WHERE:
            return getattr(import_module(_WHERE[name]), name)
        if name in _MODULES:
            return import_module(f"rankscope.{name}")
        if not name.startswith("_"):
            from rankscope.measures import installed

            if (known := installed(name)) is not None:
                return known
        raise AttributeError(f"module 'rankscope' has no attribute {name!r}")


def __dir__() -> list[str]:
    from rankscope.measures import REGISTRY

    return sorted({*__all__, *REGISTRY})


if TYPE_CHECKING:
    from rankscope import engines as engines
    from rankscope import errors as errors
    from rankscope import lab as lab
    from rankscope import plots as plots
    from rankscope.analysis.bounds import bounds as bounds
    from rankscope.analysis.certain import certain as certain
    from rankscope.analysis.compare import compare as compare
    from rankscope.analysis.correlation import correlate as correlate
    from rankscope.analysis.curve import Curve as Curve
    from rankscope.analysis.curve import curve as curve
    from rankscope.analysis.effort import Effort as Effort
    from rankscope.analysis.effort import effort as effort
    from rankscope.analysis.findings import Finding as Finding
    from rankscope.analysis.findings import Findings as Findings
    from rankscope.analysis.findings import findings as findings
    from rankscope.analysis.gate import Gate as Gate
    from rankscope.analysis.gate import gate as gate
    from rankscope.analysis.judges import judges as judges
    from rankscope.analysis.leaderboard import leaderboard as leaderboard
    from rankscope.analysis.next_judgments import next as next
    from rankscope.analysis.next_judgments import next_judgments as next_judgments
    from rankscope.analysis.orderings import orderings as orderings
    from rankscope.analysis.overlap import overlap as overlap
    from rankscope.analysis.pool_correlation import pool_correlation as pool_correlation
    from rankscope.analysis.pools import leave_out as leave_out
    from rankscope.analysis.pools import pools as pools
    from rankscope.analysis.power import power as power
    from rankscope.analysis.scale_effect import scale_effect as scale_effect
    from rankscope.analysis.study.experiments import repeat_study as repeat_study
    from rankscope.analysis.study.experiments import study as study
    from rankscope.analysis.study.settings import StudySettings as StudySettings
    from rankscope.analysis.verdict import verdict as verdict
    from rankscope.citations import cite as cite
    from rankscope.explorer import explore as explore
    from rankscope.judging import judge as judge
    from rankscope.measures import Measure as Measure
    from rankscope.measures import measure as measure
    from rankscope.measures.names import *  # noqa: F403 (every measure of the registry)
    from rankscope.read import UNJUDGED as UNJUDGED
    from rankscope.read import Qrels as Qrels
    from rankscope.read import Run as Run
    from rankscope.read import Runs as Runs
    from rankscope.read import read_qrels as read_qrels
    from rankscope.read import read_run as read_run
    from rankscope.read import read_runs as read_runs
    from rankscope.reporting import report as report
    from rankscope.result import Result as Result
    from rankscope.scores import Collection as Collection
    from rankscope.scores import ScoreMatrix as ScoreMatrix
    from rankscope.scores import Scores as Scores
    from rankscope.scores import evaluate as evaluate
    from rankscope.scores import read_scores as read_scores
    from rankscope.simulation import simulate as simulate
    from rankscope.streaming import evaluate_into as evaluate_into
    from rankscope.tables import Table as Table
