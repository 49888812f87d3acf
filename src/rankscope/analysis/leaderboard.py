"""How reliable are means over topics? A leaderboard with confidence intervals of means and ranks."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

from rankscope.analysis import stats
from rankscope.choices import VALUE_OPTIONS
from rankscope.declaration import Level, Option, Seed, analysis
from rankscope.errors import InputError
from rankscope.lazy import numpy as np
from rankscope.result import TypedResult, table
from rankscope.rows import MeasuredRunRow, RowTable, column
from rankscope.tables import Table

if TYPE_CHECKING:
    from rankscope.arrays import Floats
    from rankscope.measures import Measure
    from rankscope.scores import ScoreMatrix, Scores


FIRST = "multiple comparisons with the best: step-down max-T over random signs"
"""The test of which runs are tied for first, for titles."""
TIERS = "no two runs of a tier differ: paired t tests of all pairs, Holm's correction"
"""The rule of tiers, for titles."""


class Standing(MeasuredRunRow):
    """Mean and rank of a run by a measure, with intervals."""

    value: float = column("mean over the topics (weighted with weights), or the summary of the measure")
    topics: int = column("number of topics on which the measure is defined")
    low: float = column("lower end of Student's interval of the mean")
    high: float = column("upper end of Student's interval of the mean")
    bootstrap_low: float = column("lower end of the bootstrap interval of the mean")
    bootstrap_high: float = column("upper end of the bootstrap interval of the mean")
    rank: int | None = column("rank of the run; empty for measures without a direction")
    first_rank: int | None = column("first rank of the interval of the rank")
    last_rank: int | None = column("last rank of the interval of the rank")
    tied_for_first: bool | None = column("whether the topics do not distinguish the run from the best one")
    tier: int | None = column("tier, from 1: neighbours of which no two differ significantly")
    error: float | None = column("standard error of the mean over sampled orders of ties", default=None)
    exact: bool | None = column("whether the mean over all orders of ties is exact", default=None)
    lowest: float | None = column("lowest mean over all labels of unjudged documents", default=None)
    highest: float | None = column("highest mean over all labels of unjudged documents", default=None)
    tight: bool | None = column("whether labels attain both bounds", default=None)

    @property
    def rank_range(self) -> str:
        """Interval of the rank as text."""
        is_single = self.first_rank == self.last_rank
        return str(self.first_rank) if is_single else f"{self.first_rank}–{self.last_rank}"


_MAX_NAMED = 4  # A caption names no more of the runs that are tied for first.
_UNCERTAINTY = ("error", "exact", "lowest", "highest", "tight")


class Leaderboard(TypedResult):
    """Means and ranks of runs, with intervals."""

    leaderboard: RowTable[Standing] = table("every run and measure, best first")


@analysis(
    command=None,
    figures={"intervals": "leaderboard.plot_leaderboard"},
    uses=(*VALUE_OPTIONS, "weights", "bounds"),
)
def leaderboard(
    scores: Scores, *, alpha: Level = 0.05, replicates: Annotated[int, Option("B")] = 1000, seed: Seed = 1
) -> Leaderboard:
    """Estimate how far the means and ranks of runs would move with other topics of the same kind.

    The interval of a mean is Student's (``low``, ``high``) and the percentile interval of bootstrap samples of the
    topics (``bootstrap_low``, ``bootstrap_high``), expanded for few topics (Hesterberg 2015). The rank over the
    population of topics lies between ``first_rank`` and ``last_rank`` with confidence 1 - alpha
    (:func:`~rankscope.analysis.stats.intervals.rank_intervals`). ``tied_for_first`` is the result of
    :func:`tied_for_first`, ``tier`` that of :func:`run_tiers`. Scores that were evaluated with ``ties=`` or
    ``unjudged=`` have further columns: ``error`` and ``exact``, ``lowest``, ``highest`` and ``tight``. With weights of
    topics the means are weighted; bootstrap samples draw topics with equal chance and carry their weights.

    Parameters
    ----------
    scores
        Values of the measures and runs to rank.
    alpha
        Significance level; intervals have confidence 1 - alpha.
    replicates
        Bootstrap samples of the topics.
    seed
        Seed of the random numbers.

    Returns
    -------
    Leaderboard
        Table ``leaderboard``: mean and rank of every run by every measure, with intervals.

    References
    ----------
    Hesterberg 2015.

    Examples
    --------
    >>> import rankscope as rs
    >>> qrels = {f"q{i}": {"a": 1} for i in range(9)}
    >>> good = {f"q{i}": {"a": 3, "b": 2} for i in range(9)}
    >>> poor = {f"q{i}": {"b": 3, "c": 2, **({"a": 1} if i % 2 else {})} for i in range(9)}
    >>> result = rs.leaderboard(rs.evaluate(qrels, {"good": good, "poor": poor}, ["AP"]))
    >>> [(row.rank, row.rank_range, row.tied_for_first) for row in result.leaderboard]
    [(1, '1', True), (2, '2', False)]
    """
    stats.check_level(alpha, replicates)
    rows: list[Standing] = []
    uncertainty_columns = () if scores.uncertainty is None else scores.uncertainty.columns
    for index, measure in enumerate(scores.measures):
        means = scores.mean(measure)
        columns = _columns(scores.matrix(measure), means, alpha, replicates, seed)
        columns.append(tied_for_first(scores, measure, alpha=alpha, replicates=replicates, seed=seed))
        columns.append(run_tiers(scores, measure, alpha=alpha))
        cells = list(zip(*columns, strict=True))
        for r in measure.best_first(means):
            more = scores.uncertainty
            limits = () if more is None else more.for_mean(measure, index, r, scores.weights)
            named: dict[str, Any] = dict(zip(uncertainty_columns, limits, strict=True))
            rows.append(Standing(scores.runs[r], str(measure), *cells[r], **named))
    without = [name for name in _UNCERTAINTY if name not in uncertainty_columns]
    settings = {
        "alpha": alpha,
        "tied_for_first": FIRST,
        "tier": TIERS,
        "replicates": replicates,
        "seed": seed,
    }
    return Leaderboard(
        leaderboard=Standing.table("leaderboard", rows, without=without),
        settings={**scores.settings, **settings},
    )


def _columns(
    matrix: ScoreMatrix, means: Floats, alpha: float, replicates: int, seed: int
) -> list[Sequence[Any]]:
    """Return the columns from ``value`` to ``last_rank``."""
    measure, values, weights = matrix.measure, matrix.values, matrix.weights
    n_topics = (~np.isnan(values)).sum(axis=1)
    terms, back = measure.split_mean(values)
    samples = stats.bootstrap_means(terms, replicates, seed, weights)
    student = [back(end) for end in stats.t_intervals(terms, alpha, weights)]
    bootstrap = np.full((2, len(values)), np.nan)
    freedom = stats.degrees_of_freedom(terms, weights)
    for n, of_t in {*zip(n_topics[n_topics > 1].tolist(), freedom[n_topics > 1].tolist(), strict=True)}:
        tail, rows = stats.expanded(alpha, n, of_t), (n_topics == n) & (freedom == of_t)
        bootstrap[:, rows] = stats.percentile_intervals(back(samples[rows]), tail)
    columns: list[Sequence[Any]] = [array.tolist() for array in (means, n_topics, *student, *bootstrap)]
    if measure.better == "neither":
        return [*columns, *([None] * len(values) for _ in range(3))]
    ranks = stats.ranks(stats.rounded(measure.merit(means)))[0]
    ends = stats.rank_intervals(measure.merit(terms), measure.merit(samples), alpha, weights)
    return [*columns, ranks.tolist(), *(end.tolist() for end in ends)]


def tied_for_first(
    scores: Scores, measure: str | Measure, *, alpha: float = 0.05, replicates: int = 1000, seed: int = 1
) -> list[bool | None]:
    """Return for every run whether it may be the best: no test shows that it is worse than the best run.

    The test is valid although the best run is chosen by the same topics
    (:func:`~rankscope.analysis.stats.max_t.worse_than_best`): with a probability of at least 1 - alpha no run that is
    truly best is left out. Equal runs are therefore all tied in 1 - alpha of the collections, however many there are.

    Only topics count on which all runs have a value. All entries are None if the measure has no direction, or fewer
    than two topics are left.

    Examples
    --------
    >>> import rankscope as rs
    >>> qrels = {f"q{i}": {"a": 1} for i in range(9)}
    >>> runs = {name: {f"q{i}": {"a": 3, "b": 2} for i in range(9)} for name in ("bm25", "dense")}
    >>> tied_for_first(rs.evaluate(qrels, runs, ["AP"]), "AP")
    [True, True]
    """
    matrix = _comparable(scores, measure)
    if matrix is None:
        return [None for _ in scores.runs]
    terms = matrix.measure.split_mean(matrix.values)[0]
    terms = matrix.measure.merit(terms if np.isfinite(terms).all() else matrix.values)
    terms = stats.contributions(terms, matrix.weights)
    return [bool(p >= alpha) for p in stats.worse_than_best(terms, replicates=replicates, seed=seed)]


def run_tiers(scores: Scores, measure: str | Measure, *, alpha: float = 0.05) -> list[int | None]:
    """Return the tier of every run, from 1: neighbours in the order of means of which no two differ significantly.

    Runs are compared as by :func:`rankscope.compare` without a baseline: paired t tests of all pairs, with Holm's
    correction. All entries are None under the same conditions as those of :func:`tied_for_first`.

    Examples
    --------
    >>> import rankscope as rs
    >>> qrels = {f"q{i}": {"a": 1} for i in range(9)}
    >>> runs = {name: {t: {"a": 3, "b": 2} for t in qrels} for name in ("bm25", "dense")}
    >>> runs["poor"] = {t: {"b": 2, "c": 1, **({"a": 0.5} if t < "q3" else {})} for t in qrels}
    >>> run_tiers(rs.evaluate(qrels, runs, ["AP"]), "AP")
    [1, 1, 2]
    """
    matrix = _comparable(scores, measure)
    if matrix is None:
        return [None for _ in scores.runs]
    first, second = stats.all_pairs(len(scores.runs))
    tests = stats.test_matrix(matrix, first, second, test="t", correction="holm", alpha=alpha)
    separated = np.zeros((len(scores.runs), len(scores.runs)), np.bool_)
    separated[first, second] = separated[second, first] = tests.adjusted < alpha
    return stats.tiers(stats.rounded(matrix.measure.merit(scores.mean(measure))), separated)


def _comparable(scores: Scores, measure: str | Measure) -> stats.CompleteMatrix | None:
    """Return the values on the topics that all runs have; None without a direction or with fewer than two topics."""
    if scores.matrix(measure).measure.better == "neither":
        return None
    try:
        with warnings.catch_warnings():  # The column topics shows which topics are left out.
            warnings.simplefilter("ignore", UserWarning)
            matrix = stats.complete(scores, measure)
    except InputError:
        return None
    return matrix if len(matrix.topics) > 1 else None


def with_margins(means: Table, result: Leaderboard, *, margins: bool = True) -> Table:
    """Return the table of means with margins, ranks and the runs that are tied for first.

    Parameters
    ----------
    means
        Means as people read them: a row per run, a column per measure.
    result
        Leaderboard of the same runs.
    margins
        Whether to add half the width of Student's interval to each number. The ranks are those by the first measure
        with a direction.

    Examples
    --------
    >>> import rankscope as rs
    >>> runs = {"good": {f"q{i}": ["a"] for i in range(4)}, "poor": {f"q{i}": ["b", "a"][:i] for i in range(4)}}
    >>> scores = rs.evaluate({f"q{i}": {"a": 1} for i in range(4)}, runs, ["AP"])
    >>> print(with_margins(scores.wide(), leaderboard(scores)).text())
    run   rank              AP
    ──────────────────────────
    good  1     1.0000 ±0.0000
    poor  2     0.2500 ±0.4593
    """
    standings = {(row.run, row.measure): row for row in result.leaderboard}
    names, runs = means.columns[1:], [str(row[0]) for row in means.rows]
    level = f"{100 * (1 - result.settings['alpha']):g} %"
    legend = []
    if margins:
        half_widths = {
            (r, name): (row.high - row.low) / 2
            for r, run in enumerate(runs)
            for name in names
            # Bounds and errors, which options add as columns, have no interval over topics.
            if (row := standings.get((run, name))) and np.isfinite(row.high - row.low)
        }
        marks = {cell: f" ±{means.format_cell(half, cell[1])}" for cell, half in half_widths.items()}
        means = replace(means, marks={**means.marks, **marks})
        legend.append(f"± {level} of the mean over topics (t, unadjusted)")
    first_run = {row.measure: row for row in result.leaderboard if runs and row.run == runs[0]}
    ranked = next((name for name in names if name in first_run and first_run[name].rank), None)
    if ranked is not None:
        by_run = [standings[run, ranked] for run in runs]
        rows = [(row[0], place.rank_range, *row[1:]) for row, place in zip(means.rows, by_run, strict=True)]
        means = replace(means, columns=("run", "rank", *names), rows=rows)
        legend.append(f"rank: {level} confidence interval by {ranked} over topics")
        tied = [standing for standing in by_run if standing.tied_for_first]
        if any(standing.first_rank != 1 for standing in tied):
            legend.append("rank intervals hold for single runs; ties for first place are tested jointly")
        names_tied = ", ".join(standing.run for standing in tied[:_MAX_NAMED])
        more = f" and {len(tied) - _MAX_NAMED} more" if len(tied) > _MAX_NAMED else ""
        first = f"tied for first by {ranked}: {names_tied}{more}" if len(tied) > 1 else ""
        means = replace(means, caption="; ".join(filter(None, (means.caption, first))))
    return replace(means, legend="; ".join(legend))
