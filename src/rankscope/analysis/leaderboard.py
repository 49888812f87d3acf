"""What is a mean over topics worth? The leaderboard with the intervals of its numbers and of its ranks."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankscope.analysis.stats.intervals import (
    bootstrap_means,
    check_level,
    expanded,
    percentile_intervals,
    rank_intervals,
    ranks,
    t_intervals,
)
from rankscope.analysis.stats.matrices import averaged, complete, rounded
from rankscope.analysis.stats.max_t import worse_than_best
from rankscope.errors import InputError
from rankscope.measures import Measure
from rankscope.result import Result, TableResult
from rankscope.scores import ScoreMatrix, Scores, as_scores
from rankscope.tables import Cell, Table

__all__ = ["FIRST", "leaderboard", "tied_for_first", "with_margins"]

Floats = NDArray[np.float64]

FIRST = "multiple comparisons with the best: step-down max-T over random signs"
"""The test of who is tied for first, for titles."""

_COLUMNS = (
    "run", "measure", "value", "topics", "low", "high", "bootstrap_low", "bootstrap_high",
    "rank", "first_rank", "last_rank", "tied_for_first",
)  # fmt: skip


def leaderboard(
    scores: Scores | ScoreMatrix,
    *,
    alpha: float = 0.05,
    replicates: int = 1000,
    seed: int = 1,
) -> TableResult:
    """The means of all runs, and how far they would move with other topics of the same kind.

    ``leaderboard`` has a row per run and measure: the mean ``value`` over ``topics`` with its confidence interval (1 -
    alpha), Student's (``low``, ``high``) and from bootstrap samples of the topics (``bootstrap_low``,
    ``bootstrap_high``: percentiles, as wide as Student's for few topics, Hesterberg 2015); its ``rank``, and the range
    from ``first_rank`` to ``last_rank`` that holds its rank over all topics that could have been asked with 1 - alpha
    (:func:`~rankscope.analysis.stats.intervals.rank_intervals`); and whether it is ``tied_for_first``
    (:func:`tied_for_first`). Ranks and ties are empty for measures of which no value is better. Of scores that were
    evaluated with ``ties=`` or ``unjudged=`` rows also have what is known of the mean: ``error`` and ``exact``,
    ``lowest``, ``highest`` and ``tight``.

    >>> import rankscope as rs
    >>> qrels = {f"q{i}": {"a": 1} for i in range(9)}
    >>> good = {f"q{i}": {"a": 3, "b": 2} for i in range(9)}
    >>> poor = {f"q{i}": {"b": 3, "c": 2, **({"a": 1} if i % 2 else {})} for i in range(9)}
    >>> result = leaderboard(rs.evaluate(qrels, {"good": good, "poor": poor}, ["AP"]))
    >>> [(r["rank"], r["first_rank"], r["last_rank"], r["tied_for_first"]) for r in result["leaderboard"].records()]
    [(1, 1, 1, True), (2, 2, 2, False)]
    """
    scores = as_scores(scores)
    check_level(alpha, replicates)
    rows: list[tuple[Cell, ...]] = []
    for measure in scores.measures:
        values = scores.matrix(measure).values
        columns = [*_means(measure, values, scores.mean(measure), alpha, replicates, seed)]
        columns.append(tied_for_first(scores, measure, alpha=alpha, replicates=replicates, seed=seed))
        columns += _known(scores, measure)
        mine = list(zip(scores.runs, [str(measure)] * len(values), *columns, strict=True))
        rows += [mine[r] for r in measure.best_first(scores.mean(measure))]
    settings: Mapping[str, Any] = {
        **scores.settings, "alpha": alpha, "tied_for_first": FIRST, "replicates": replicates, "seed": seed,
    }  # fmt: skip
    more = () if scores.uncertainty is None else scores.uncertainty.columns
    return TableResult.of(Table("leaderboard", (*_COLUMNS, *more), rows), settings=settings)


def _known(scores: Scores, measure: Measure) -> list[list[Any]]:
    """What ties and unjudged documents leave open of each mean, a column for each thing that is known."""
    if scores.uncertainty is None:
        return []
    place = scores.measures.index(measure)
    rows = [scores.uncertainty.of_mean(measure, place, run) for run in range(len(scores.runs))]
    return [list(column) for column in zip(*rows, strict=True)]


def _means(
    measure: Measure, values: Floats, means: Floats, alpha: float, replicates: int, seed: int
) -> list[list[Any]]:
    """The columns from the value to the last rank."""
    count = (~np.isnan(values)).sum(axis=1)
    terms, back = averaged(measure, values)
    drawn = bootstrap_means(terms, replicates, seed)
    student = [back(end) for end in t_intervals(terms, alpha)]
    tails = {int(n): expanded(alpha, int(n)) for n in np.unique(count)}
    bootstrap = np.full((2, len(values)), np.nan)
    for topics, tail in tails.items():
        if topics > 1:
            bootstrap[:, count == topics] = percentile_intervals(back(drawn[count == topics]), tail)
    columns: list[list[Any]] = [one.tolist() for one in (means, count, *student, *bootstrap)]
    if measure.better == "neither":
        return [*columns, *([None] * len(values) for _ in range(3))]
    now = ranks(rounded(measure.merit(means))[:, None])[0][:, 0]
    ends = rank_intervals(measure.merit(terms), measure.merit(drawn), alpha)
    return [*columns, now.tolist(), *(end.tolist() for end in ends)]


def tied_for_first(
    scores: Scores,
    measure: str | Measure,
    *,
    alpha: float = 0.05,
    replicates: int = 1000,
    seed: int = 1,
) -> list[bool | None]:
    """Say of every run whether it may be the best: no test shows that it is worse than the best run.

    The test is valid although the best run is chosen by the same topics
    (:func:`~rankscope.analysis.stats.max_t.worse_than_best`): with a chance of at least 1 - alpha no run that is truly
    best is left out. So equal runs are all tied in 1 - alpha of the collections, however many there are.

    Only topics count on which all runs have a value. None for all where no value is better, or no two topics are left.

    >>> import rankscope as rs
    >>> qrels = {f"q{i}": {"a": 1} for i in range(9)}
    >>> runs = {name: {f"q{i}": {"a": 3, "b": 2} for i in range(9)} for name in ("one", "other")}
    >>> tied_for_first(rs.evaluate(qrels, runs, ["AP"]), "AP")
    [True, True]
    """
    unknown: list[bool | None] = [None for _ in scores.runs]
    if scores.matrix(measure).measure.better == "neither":
        return unknown
    try:
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore", UserWarning
            )  # which topics are left out can be seen in their numbers
            matrix = complete(scores, measure)
    except InputError:
        return unknown
    if len(matrix.topics) < 2:
        return unknown
    terms = averaged(matrix.measure, matrix.values)[0]
    terms = matrix.measure.merit(terms if np.isfinite(terms).all() else matrix.values)
    return [bool(p >= alpha) for p in worse_than_best(terms, replicates=replicates, seed=seed)]


def with_margins(table: Table, result: Result, *, margins: bool = True) -> Table:
    """The table of means that people read, with what :func:`leaderboard` knows: margins, ranks, who is tied for first.

    Each number gets half the width of Student's interval, unless there is no room for ``margins``; the ranks are those
    by the first measure that has some.

    >>> import rankscope as rs
    >>> runs = {"good": {f"q{i}": ["a"] for i in range(4)}, "poor": {f"q{i}": ["b", "a"][:i] for i in range(4)}}
    >>> scores = rs.evaluate({f"q{i}": {"a": 1} for i in range(4)}, runs, ["AP"])
    >>> print(with_margins(scores.wide(), leaderboard(scores)).text())
    run   rank              AP
    ──────────────────────────
    good  1     1.0000 ±0.0000
    poor  2     0.2500 ±0.4593
    """
    records = {(str(r["run"]), str(r["measure"])): r for r in result["leaderboard"].records()}
    names, runs = table.columns[1:], [str(row[0]) for row in table.rows]
    level = f"{100 * (1 - result.settings['alpha']):g} %"
    said = []
    if margins:
        table = replace(table, marks={**table.marks, **_margins(table, records)})
        said.append(f"± {level} of the mean over topics (t, unadjusted)")
    ranked = next((name for name in names if runs and records.get((runs[0], name), {}).get("rank")), None)
    if ranked is not None:
        mine = [records[run, ranked] for run in runs]
        rows = [(row[0], _range(found), *row[1:]) for row, found in zip(table.rows, mine, strict=True)]
        table = replace(table, columns=("run", "rank", *names), rows=rows)
        said.append(f"rank: {level} range by {ranked} over topics")
        tied = {run: found for run, found in zip(runs, mine, strict=True) if found["tied_for_first"]}
        if any(found["first_rank"] != 1 for found in tied.values()):
            said.append("a range is of one run alone; tied for first is tested for all runs together")
        first = f"tied for first by {ranked}: {_listed(list(tied))}" if len(tied) > 1 else ""
        table = replace(table, caption="; ".join(filter(None, (table.caption, first))))
    return replace(table, legend="; ".join(said))


def _margins(
    table: Table, records: Mapping[tuple[str, str], Mapping[str, Cell]]
) -> dict[tuple[int, str], str]:
    """Half the width of each mean's interval, where it has one."""
    marks = {}
    for place, row in enumerate(table.rows):
        for name in table.columns[1:]:
            low, high = (records[str(row[0]), name][end] for end in ("low", "high"))
            if isinstance(low, float) and isinstance(high, float) and np.isfinite(high - low):
                marks[place, name] = f" ±{table.format_cell((high - low) / 2, name)}"
    return marks


def _range(row: Mapping[str, Cell]) -> str:
    first, last = row["first_rank"], row["last_rank"]
    return str(first) if first == last else f"{first}–{last}"


def _listed(names: list[str], most: int = 4) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
