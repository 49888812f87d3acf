"""Which runs differ? Tests of runs against a baseline or against each other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankscope.analysis.interval_changes import interval_changes
from rankscope.analysis.pair_rows import PairMarks, PairRows, ShownPairs
from rankscope.analysis.power import check_comparable
from rankscope.analysis.stats.matrices import CompleteMatrix, complete, left_out, rounded
from rankscope.analysis.stats.significance import REPLICATES, all_pairs, correction_for, procedure, run_test
from rankscope.analysis.topic_differences import topic_differences
from rankscope.columns import Cell, ConcatenatedRows, Rows
from rankscope.engines import on_engine
from rankscope.errors import InputError, SettingsError, suggest_names
from rankscope.measures import Measure
from rankscope.measures.external import external_measure
from rankscope.result import Result, TableResult
from rankscope.scores import ScoreMatrix, Scores, as_scores
from rankscope.tables import Table

__all__ = ["check_margin", "compare", "letters"]

Indices = NDArray[np.intp]
Floats = NDArray[np.float64]

_LETTERED = 60  # more runs than this get no letters: nobody can read them
_READABLE = 10  # letters at a number
_MOST_GROUPS = 100  # of runs that do not differ; beyond, letters would say nothing and take forever
_COLUMNS = (
    "a", "b", "measure", "difference", "p", "adjusted", "significant", "effect_size", "low", "high",
    "wins", "losses", "ties",
)  # fmt: skip


@on_engine
def compare(
    scores: Scores | ScoreMatrix,
    baseline: str | Sequence[str] | None = None,
    *,
    test: str = "t",
    correction: str | None = None,
    alpha: float = 0.05,
    margin: float | None = None,
    replicates: int | None = None,
    seed: int = 1,
    per_topic: bool = False,
    also_interval: int | None = None,
    jobs: int | None = None,
    engine: Any = None,
) -> TableResult:
    """Every run against one or several baselines, or every pair of runs, for every measure.

    Each row of ``pairs`` has the mean difference a - b with its confidence interval (1 - alpha), the p-value, the
    p-value adjusted within the measure (``max-t``: Westfall and Young's step-down max-T, the default for tests by
    resampling; ``holm``, the default for others, ``bonferroni``, ``bh``; Tukey HSD is adjusted already), Cohen's d
    of the paired differences, and on how many topics a wins (has the better value), loses, ties. ``runs`` has the means
    with marks: against a baseline stars if better (* .05, ** .01, *** .001) and as many ↓ if worse; a sign of its own
    for each of several baselines that a run differs from, after ↓ if it is worse; otherwise letters: runs that share
    one do not differ significantly. ``per_topic`` adds ``topics``: the differences topic by topic, a's losses first;
    where there is one pair only, they are always there.

    Intervals are simultaneous with max-t and Tukey HSD, and for a single pair tested by t or the bootstrap: one that
    excludes 0 belongs to a significant difference. Otherwise they are unadjusted, each for itself; ``intervals`` in the
    settings says which.

    With a ``margin`` each row also says whether a is ``noninferior``: no worse than b by more than the margin, because
    the ``lower`` end of the one-sided interval (1 - alpha) of the difference is above -margin.

    ``also_interval`` compares every measure, cut to so many ranks, with itself on an interval scale
    (:class:`~rankscope.measures.interval.Interval`): ``changes`` has the pairs whose verdict that changes, lost (no
    longer significant), gained, or reversed; ``intervals`` counts them by measure.

    >>> import rankscope as rs
    >>> qrels = {f"q{i}": {"a": 1} for i in range(9)}
    >>> good = {f"q{i}": {"a": 3, "b": 2} for i in range(9)}
    >>> poor = {f"q{i}": {"b": 3, "c": 2, **({"a": 1} if i % 2 else {})} for i in range(9)}
    >>> result = compare(rs.evaluate(qrels, {"good": good, "poor": poor}, ["AP"]), baseline="poor")
    >>> result["pairs"].records()[0]["significant"], result["runs"].column("mark")
    (True, ['***', ''])
    """
    scores = as_scores(scores)
    matrices = [complete(scores, measure) for measure in scores.measures]
    check_comparable(scores, matrices)
    baselines = [baseline] if isinstance(baseline, str) else list(dict.fromkeys(baseline or ()))
    first, second = _pairs(scores.runs, baselines)
    if margin is not None:
        check_margin(margin, scores.measures)
    correction = correction_for(test, correction)
    simultaneous = False
    pairs: list[Rows] = []
    runs: list[tuple[Cell, ...]] = []
    for matrix in matrices:
        done = run_test(
            test, matrix.values, first, second, correction=correction, alpha=alpha, replicates=replicates,
            seed=seed, jobs=jobs,
        )  # fmt: skip
        adjusted, simultaneous = done.adjusted, done.simultaneous
        merits = rounded(matrix.measure.merit(matrix.values))
        kept = (done.p, adjusted, done.half)
        pairs.append(PairRows(scores.runs, matrix, merits, first, second, *kept, alpha, margin))
        places = [scores.runs.index(one) for one in baselines]
        marks = _marks(matrix, places, (first, second), adjusted, adjusted < alpha)
        means = [matrix.measure.mean(row) for row in matrix.values]
        for run, mean, mark in zip(scores.runs, means, marks, strict=True):
            runs.append((run, str(matrix.measure), mean, mark))
    settings: dict[str, Any] = {
        **scores.settings,
        "baseline": baseline if baseline is None or isinstance(baseline, str) else list(baseline),
        "test": test,
        "correction": correction,
        "intervals": "simultaneous" if simultaneous else "unadjusted",
        "alpha": alpha,
        "replicates": (replicates or REPLICATES[test]) if test in REPLICATES else None,
        "seed": seed,
        **({} if margin is None else {"margin": margin}),
        **left_out(matrices),
    }
    names = _COLUMNS if margin is None else (*_COLUMNS, "lower", "noninferior")
    tables = [
        Table(
            "pairs",
            names,
            ConcatenatedRows(pairs),
            p_values=("p", "adjusted"),
            ranked_by=("adjusted", "effect_size"),
        ),
        Table("runs", ("run", "measure", "mean", "mark"), runs),
    ]
    if per_topic or len(first) == 1:
        compared = list(zip(first.tolist(), second.tolist(), strict=True))
        tables.append(topic_differences(matrices, scores.runs, compared))
    if also_interval is not None:

        def again(both: Scores) -> TableResult:
            return compare(
                both, baseline, test=test, correction=correction, alpha=alpha, replicates=replicates, seed=seed,
                jobs=jobs,
            )  # fmt: skip

        tables += interval_changes(scores, also_interval, again)
        settings["also_interval"] = also_interval
    result = TableResult.of(*tables, settings={**settings, "topics": len(scores.topics)})
    return replace(result, display=(marked_means(result), shown_pairs(result)))


def marked_means(result: Result) -> Table:
    """The means of :func:`compare` as papers print them: runs down, measures across, marks at the numbers.

    The best run by the first measure that knows what is better comes first.
    """
    rows = result["runs"].records()
    measures = {str(row["measure"]): external_measure(str(row["measure"])) for row in rows}
    means = {(row["run"], row["measure"]): (row["mean"], str(row["mark"])) for row in rows}
    runs = list(dict.fromkeys(row["run"] for row in rows))
    knowing = [name for name, measure in measures.items() if measure.better != "neither"]
    first = (knowing or list(measures))[0]
    column = [float("nan") if (mean := means[run, first][0]) is None else float(mean) for run in runs]
    runs = [runs[r] for r in measures[first].best_first(column)]
    marks = {(r, name): means[run, name][1] for r, run in enumerate(runs) for name in measures}
    body = [(run, *(means[run, name][0] for name in measures)) for run in runs]
    best = {name: measure.sign for name, measure in measures.items()}
    about = result.settings
    against = about["baseline"]
    crowded = against is None and max(map(len, marks.values()), default=0) > _READABLE
    marks = {} if crowded else marks
    named = (
        "" if against is None else f" against {against if isinstance(against, str) else 'several baselines'}"
    )
    caption = f"Means over {about['topics']} topics{named}: {_procedure(about)}"
    legend = "too many groups for letters: see the pairs, or name a baseline" if crowded else ""
    legend = legend or _key(against, any(marks.values()))
    return Table("runs", ("run", *measures), body, 4, best, marks, caption, legend)


def _key(baseline: str | Sequence[str] | None, marked: bool) -> str:
    """What the marks stand for."""
    if baseline is None:
        return "runs that share a letter do not differ significantly" if marked else ""
    if isinstance(baseline, str):
        return "* better, ↓ worse than the baseline: one mark .05, two .01, three .001"
    signs = [f"{_sign(place)} differs from {name}" for place, name in enumerate(dict.fromkeys(baseline))]
    return f"{', '.join(signs)}; after ↓ it is worse"


def shown_pairs(result: Result) -> Table:
    """The pairs of :func:`compare` as people read them: differences marked where they are significant."""
    about, pairs = result.settings, result["pairs"]
    single = isinstance(about["baseline"], str)
    names = ("a",) if single else ("a", "b")
    margin = ("noninferior",) if "margin" in about else ()
    columns = (*names, "measure", "difference", "adjusted", "effect_size", "w/l/t", *margin, "low", "high")
    within = f"; noninferior: no worse by more than {about['margin']:g}" if margin else ""
    return Table(
        "pairs",
        (*names, "measure", "difference", "p", "effect", "w/l/t", *margin, "low", "high"),
        ShownPairs(pairs, columns),
        marks=PairMarks(pairs),
        p_values=("p",),
        ranked_by=("p", "effect"),
        spare=("low", "high"),
        caption=f"Differences a - {about['baseline'] if single else 'b'}: {_procedure(about)}",
        legend=f"* a better, ↓ a worse{within}; effect: Cohen's d; w/l/t: topics that a won, lost, tied;"
        f" low, high: interval of {100 - 100 * about['alpha']:g} %, {about['intervals']}",
    )


def _procedure(about: Mapping[str, Any]) -> str:
    return procedure(about["test"], about["correction"], about["alpha"])


def _sign(place: int) -> str:
    """The sign of the n-th of several baselines."""
    return "†‡§¶"[place] if place < 4 else f"({place + 1})"


def letters(means: Sequence[float], different: Iterable[tuple[int, int]]) -> list[str]:
    """A compact letter display (Piepho 2004): two runs share a letter exactly if they are not ``different``.

    The letters begin at the highest mean. Empty when more than 100 letters would be needed.

    >>> letters([0.3, 0.2, 0.1], [(0, 2)])
    ['a', 'ab', 'b']
    """
    groups = [(1 << len(means)) - 1]
    for i, j in different:
        both = (1 << i) | (1 << j)
        split = [group for group in groups if group & both == both]
        groups = [group for group in groups if group & both != both]
        for group in (g & ~(1 << k) for g in split for k in (i, j)):
            if not any(group & other == group for other in groups):
                groups = [other for other in groups if other & group != other] + [group]
        if len(groups) > _MOST_GROUPS:
            return ["" for _ in means]
    best_first = sorted(range(len(means)), key=lambda run: (-means[run], run))
    groups.sort(key=lambda group: [not group >> run & 1 for run in best_first])
    return [
        "".join(_letter(g) for g, group in enumerate(groups) if group >> run & 1) for run in range(len(means))
    ]


def _letter(index: int) -> str:
    alphabet = "abcdefghijklmnopqrstuvwxyz"
    return alphabet[index] if index < 26 else f"{alphabet[index % 26]}{index // 26}"


def _pairs(runs: Sequence[str], baselines: Sequence[str]) -> tuple[Indices, Indices]:
    """Every run against every baseline, each pair once; without baselines all pairs."""
    if not baselines:
        return all_pairs(len(runs))
    for baseline in baselines:
        if baseline not in runs:
            hint = suggest_names(baseline, runs) or f"the runs are called {', '.join(runs[:3])} ..."
            raise InputError(f"no run is called {baseline!r}", hint=hint)
    places = [runs.index(baseline) for baseline in baselines]
    pairs = [(r, b) for k, b in enumerate(places) for r in range(len(runs)) if r != b and r not in places[:k]]
    first, second = (np.array(side, dtype=np.intp) for side in zip(*pairs, strict=True))
    return first, second


def check_margin(margin: float, measures: Iterable[Measure]) -> None:
    """Refuse a margin that is none, and measures whose differences have no direction or are no differences of means."""
    if not (margin >= 0 and isfinite(margin)):
        raise SettingsError(f"a margin of {margin}", hint="give a number from 0 on such as 0.005")
    for measure in measures:
        if measure.better == "neither" or measure.summary != "mean":
            raise SettingsError(
                f"{measure} has no margin: it is not the mean of values of which some are better",
                hint="use a measure such as AP or nDCG@10",
            )


def _marks(
    matrix: CompleteMatrix,
    baselines: Sequence[int],
    pairs: tuple[Indices, Indices],
    adjusted: Floats,
    significant: NDArray[np.bool_],
) -> list[str]:
    first, second = pairs
    marks = ["" for _ in matrix.values]
    means = matrix.measure.merit(np.array([matrix.measure.mean(row) for row in matrix.values]))
    if len(baselines) == 1:
        for run, p in zip(first.tolist(), adjusted.tolist(), strict=True):
            mark = "↓" if means[run] < means[baselines[0]] else "*"
            marks[run] = mark * sum(p < level for level in (0.05, 0.01, 0.001))
        return marks
    found = list(zip(first[significant].tolist(), second[significant].tolist(), strict=True))
    if baselines:
        both = {*found, *((b, a) for a, b in found)}
        return [
            "".join(
                ("↓" if means[run] < means[b] else "") + _sign(k)
                for k, b in enumerate(baselines)
                if (run, b) in both
            )
            for run in range(len(marks))
        ]
    if len(marks) > _LETTERED:
        return marks
    return letters(means.tolist(), found)
