"""Is a run no worse than a baseline? The question of continuous integration, answered with a margin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankscope.analysis.compare import check_margin
from rankscope.analysis.stats.intervals import check_level, lower_limit
from rankscope.errors import InputError, MeasureError, SettingsError, suggest_names
from rankscope.measures import Measure
from rankscope.measures.external import external_measure
from rankscope.measures.grammar import parse
from rankscope.result import TableResult
from rankscope.scores import ScoreMatrix, Scores, as_scores
from rankscope.tables import Cell, Table

__all__ = ["Gate", "gate"]

Floats = NDArray[np.float64]

_COLUMNS = ("run", "measure", "value", "baseline", "difference", "lower", "margin", "passed", "topics")
_TOPICS = ("run", "measure", "topic", "value", "baseline", "difference")


@dataclass(frozen=True, eq=False, repr=False)
class Gate(TableResult):
    """The answer of :func:`gate`: its tables, whether everything ``passed``, and a short report."""

    @property
    def passed(self) -> bool:
        """Whether every run is no worse than the baseline by more than the margin, in every measure."""
        return all(bool(row["passed"]) for row in self["gate"].records())

    def report(self) -> str:
        """The answer in Markdown, for the page of a pull request: the verdict, the numbers, and who lost most."""
        rows = self["gate"].records()
        failed = [row for row in rows if not row["passed"]]
        level = f"{100 * (1 - self.settings['alpha']):g} %"
        verdict = f"{len(failed)} of {len(rows)} checks failed" if failed else "no worse than the baseline"
        parts = [f"## Retrieval: {verdict}\n", self["gate"].markdown()]
        parts.append(
            f"A check passes if the lower end of the one-sided {level} interval of the difference is above -margin."
            + (f" {_names(self.settings['left_out_topics'])}" if self.settings["left_out_topics"] else "")
            + "\n"
        )
        if failed and len(self["topics"]):
            lost = {(row["run"], row["measure"]) for row in failed}
            mine = [row for row in self["topics"].rows if (row[0], row[1]) in lost]
            parts += ["Topics that lost most:\n", Table("topics", _TOPICS, mine).markdown()]
        return "\n".join(parts)


def gate(
    scores: Scores | ScoreMatrix,
    baseline: Scores | ScoreMatrix | str,
    *,
    margin: float | Mapping[str, float] = 0.005,
    alpha: float = 0.05,
    worst: int = 5,
) -> Gate:
    """Whether each run is no worse than a baseline by more than a margin, measure by measure.

    A check passes if the lower end of the one-sided (1 - alpha) Student interval of the mean difference, topic by
    topic, is above -margin (non-inferiority). All checks have to pass, which needs no correction for their number: a
    run that is worse somewhere gets through with a chance of at most alpha (Berger 1982).

    ``baseline`` is the name of one of the runs, or other scores, such as those of the last release that
    :func:`~rankscope.read_scores` reads; of several runs there, the one of the same name. Topics that only one of the
    two has are left out, and named in the settings. ``margin`` is one number, or one for each
    evaluated measure.

    Tables: ``gate`` {run, measure, value, baseline, difference, lower, margin, passed, topics} and ``topics``, the
    ``worst`` topics of each check {run, measure, topic, value, baseline, difference}. Differences are positive where
    the run is better, also where lower values are.

    >>> import rankscope as rs
    >>> qrels = {f"q{i}": {"a": 1} for i in range(9)}
    >>> before = rs.evaluate(qrels, {"run": {f"q{i}": ["a", "b"] for i in range(9)}}, ["AP"])
    >>> after = rs.evaluate(qrels, {"run": {f"q{i}": ["b", "a"] if i == 3 else ["a"] for i in range(9)}}, ["AP"])
    >>> gate(before, before).passed, gate(after, before).passed
    (True, False)
    >>> gate(after, before)["topics"].rows
    [('run', 'AP', 'q3', 0.5, 1.0, -0.5)]
    """
    scores = as_scores(scores)
    baseline = baseline if isinstance(baseline, str) else as_scores(baseline)
    check_level(alpha)
    if worst < 0:
        raise SettingsError(f"the {worst} worst topics", hint="give a whole number from 0 on")
    names = [run for run in scores.runs if run != baseline]
    if not names:
        raise InputError("there is no run to hold against the baseline", hint="name a run file beside it")
    margins = _margins(scores.measures, margin)
    rows: list[tuple[Cell, ...]] = []
    lost: list[tuple[Cell, ...]] = []
    unmatched: dict[str, None] = {}
    for run in names:
        for measure in scores.measures:
            other, name = (
                (scores, baseline) if isinstance(baseline, str) else (baseline, _counterpart(run, baseline))
            )
            topics, mine, theirs, left = _matched(scores, run, other, name, measure)
            unmatched |= dict.fromkeys(left)
            difference = measure.merit(mine) - measure.merit(theirs)
            lower = lower_limit(difference, alpha)
            means = (float(mine.mean()), float(theirs.mean()), float(difference.mean()))
            passed = bool(lower > -margins[measure])
            rows.append((run, str(measure), *means, lower, margins[measure], passed, len(topics)))
            for t in np.argsort(difference, kind="stable")[:worst].tolist():
                if difference[t] < 0:
                    values = (float(mine[t]), float(theirs[t]), float(difference[t]))
                    lost.append((run, str(measure), topics[t], *values))
    settings: dict[str, Any] = {
        **scores.settings,
        "baseline": baseline if isinstance(baseline, str) else dict(baseline.settings),
        "margin": {str(measure): number for measure, number in margins.items()},
        "alpha": alpha,
        "left_out_topics": list(unmatched),
    }
    tables = {"gate": Table("gate", _COLUMNS, rows), "topics": Table("topics", _TOPICS, lost)}
    return Gate(tables, settings, display=(tables["gate"], *([tables["topics"]] if lost else [])))


def _margins(measures: Sequence[Measure], margin: float | Mapping[str, float]) -> dict[Measure, float]:
    """Return the margin of each measure; a margin of a measure that is not evaluated is an error."""
    if not isinstance(margin, Mapping):
        named = dict.fromkeys(measures, margin)
    else:
        named = {}
        for name, number in margin.items():
            if (measure := _named(name)) in named:
                raise SettingsError(f"{name!r} names {measure} again", hint="give each measure one margin")
            named[measure] = number
        for measure in named:
            if measure not in measures:
                raise SettingsError(
                    f"the margin of {measure} has no effect, since {measure} is not evaluated",
                    hint=f"evaluate it, too (-m), or leave out its margin; evaluated: {', '.join(map(str, measures))}",
                )
        for measure in measures:
            if measure not in named:
                hint = "give a number for it, or one for all measures"
                raise SettingsError(f"{measure} has no margin", hint=hint)
    for measure, number in named.items():
        check_margin(number, [measure])
    return {measure: float(named[measure]) for measure in measures}


def _named(text: str) -> Measure:
    """The measure of a name as anybody spells it, or of values only."""
    try:
        return parse(text)
    except MeasureError:
        return external_measure(text)


def _counterpart(run: str, baseline: Scores) -> str:
    """The run of the baseline that stands against this one."""
    if len(baseline.runs) == 1:
        return baseline.runs[0]
    if run not in baseline.runs:
        raise InputError(
            f"the baseline has {len(baseline.runs)} runs and none is called {run!r}",
            hint=suggest_names(run, baseline.runs)
            or f"its runs are called {', '.join(baseline.runs[:3])} ...",
        )
    return run


def _matched(
    scores: Scores, run: str, baseline: Scores, other: str, measure: Measure
) -> tuple[list[str], Floats, Floats, list[str]]:
    """The topics that both have a value for, the values, and the topics that only one has."""
    if other not in baseline.runs:
        hint = (
            suggest_names(other, baseline.runs) or f"the runs are called {', '.join(baseline.runs[:3])} ..."
        )
        raise InputError(f"no run is called {other!r}", hint=hint)
    mine, theirs = (
        {
            topic: value
            for topic, value in zip(one.topics, one.matrix(measure).values[one.runs.index(name)], strict=True)
            if np.isfinite(value)
        }
        for one, name in ((scores, run), (baseline, other))
    )
    common = [topic for topic in mine if topic in theirs]
    both = frozenset(common)
    left = [topic for topic in dict.fromkeys((*scores.topics, *baseline.topics)) if topic not in both]
    if len(common) < 2:
        raise InputError(
            f"the run and the baseline share {len(common)} topics on which {measure} is defined",
            hint="evaluate both on the same topics, at least two",
        )
    return common, np.array([mine[t] for t in common]), np.array([theirs[t] for t in common]), left


def _names(topics: list[str], most: int = 5) -> str:
    """Which topics were left out, in a sentence."""
    named = ", ".join(_code(topic) for topic in topics[:most]) + (" ..." if len(topics) > most else "")
    return f"Left out, because only one of the two has a value: {len(topics)} topics ({named})."


def _code(text: str) -> str:
    """A name in Markdown, which must not become markup."""
    return Table("x", ("x",), [(text,)]).markdown().splitlines()[2].removeprefix("| ").removesuffix(" |")
