"""Is a run no worse than a baseline? The question of continuous integration, answered with a margin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import sqrt
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

_COLUMNS = (
    "run", "measure", "value", "baseline", "difference", "lower", "margin", "passed", "topics",
    "pass_probability", "margin_80", "topics_80",
)  # fmt: skip
_WANTED = 0.8
"""The probability of passing that a plan aims at, for a system that is as good as the baseline."""
_MOST_TOPICS = 2**30  # a plan that needs more topics is none
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
            "What is tested is non-inferiority within the margin: a check passes if the lower end of the one-sided"
            f" {level} interval of the difference is above -margin, or if the runs are identical. A failed check does"
            " not show that the run is worse."
            + (f" {_names(self.settings['left_out_topics'])}" if self.settings["left_out_topics"] else "")
            + "\n"
        )
        parts += [*dict.fromkeys(map(_plan, rows)), ""]
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

    What is tested is non-inferiority within the margin: a check passes if the lower end of the one-sided (1 - alpha)
    Student interval of the mean difference, topic by topic, is above -margin. Identical runs pass, whatever the
    margin. A check that fails does not show that the run is worse. All checks have to pass, which needs no correction
    for their number: a run that is worse somewhere gets through with a chance of at most alpha (Berger 1982).

    ``baseline`` is the name of one of the runs, or other scores, such as those of the last release that
    :func:`~rankscope.read_scores` reads; of several runs there, the one of the same name. Topics that only one of the
    two has are left out, and named in the settings. ``margin`` is one number, or one for each
    evaluated measure.

    Each check also says how much it can tell. ``pass_probability`` is the chance that a system exactly as good as the
    baseline passes with as many topics, if its differences are normal and vary as these do (noncentral t); with
    ``margin_80``, or with ``topics_80`` topics and the same margin, it is 80 %.

    Tables: ``gate`` {run, measure, value, baseline, difference, lower, margin, passed, topics, pass_probability,
    margin_80, topics_80} and ``topics``, the ``worst`` topics of each check {run, measure, topic, value, baseline,
    difference}. Differences are positive where the run is better, also where lower values are.

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
            passed = bool(lower > -margins[measure]) or not difference.any()
            plan = pass_plan(float(difference.std(ddof=1)), len(topics), margins[measure], alpha)
            rows.append((run, str(measure), *means, lower, margins[measure], passed, len(topics), *plan))
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


def pass_plan(spread: float, topics: int, margin: float, alpha: float) -> tuple[float, float, int | None]:
    """Return the chance that an equally good system passes, and the margin and the topics that make it 80 %.

    The lower end is above -margin if t = (mean + margin) / (s / sqrt(n)) is above its 1 - alpha quantile; for true
    differences of mean zero and standard deviation s, t is noncentral with margin sqrt(n) / s. No number of topics is
    enough for a margin of zero.

    >>> probability, wide, many = pass_plan(0.1, 50, 0.02, 0.05)
    >>> round(probability, 3), round(wide, 4), many
    (0.401, 0.0357, 156)
    """
    if spread == 0:
        return 1.0, 0.0, 2
    wide = _needed(topics, alpha) * spread / sqrt(topics)
    probability = _passing(topics, margin * sqrt(topics) / spread, alpha)
    if margin == 0:
        return probability, wide, None
    # The margin in standard deviations that n topics need falls with n: double n, then bisect.
    enough, ratio = 2, margin / spread
    while _needed(enough, alpha) / sqrt(enough) > ratio and enough < _MOST_TOPICS:
        enough *= 2
    low = enough // 2
    while enough - low > 1:
        middle = (low + enough) // 2
        low, enough = (low, middle) if _needed(middle, alpha) / sqrt(middle) <= ratio else (middle, enough)
    return probability, wide, max(2, enough) if enough < _MOST_TOPICS else None


def _passing(topics: int, shift: float, alpha: float) -> float:
    """The chance that noncentral t with n - 1 degrees of freedom exceeds the 1 - alpha quantile of the central one."""
    from scipy.special import nctdtr, stdtrit

    quantile = float(stdtrit(topics - 1, 1 - alpha))
    # Far above, the noncentral distribution underflows, and the chance is 1 to the last digit.
    return 1.0 if shift > 30 + 2 * abs(quantile) else float(1 - nctdtr(topics - 1, shift, quantile))


@lru_cache(maxsize=1024)
def _needed(topics: int, alpha: float) -> float:
    """The noncentrality with which so many topics pass with a probability of 80 %."""
    low, high = 0.0, 1.0
    while _passing(topics, high, alpha) < _WANTED:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if _passing(topics, middle, alpha) >= _WANTED else (middle, high)
    return high


def _plan(row: Mapping[str, Cell]) -> str:
    """What a check can tell, in a line of a list."""
    name = f"{_code(str(row['run']))}, {_code(str(row['measure']))}"
    chance, topics = float(row["pass_probability"] or 0), row["topics_80"]
    line = f"- {name}: a system as good as the baseline passes with probability {100 * chance:.0f} %"
    line += f" ({row['topics']} topics, this variance)"
    if chance >= _WANTED:
        return f"{line}."
    more = "" if topics is None else f", or {topics:,} topics with this margin"
    return f"{line}; 80 % takes a margin of {float(row['margin_80'] or 0):.4f}{more}."


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
