"""Which runs differ? Tests of runs against a baseline or against each other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from math import isfinite
from typing import TYPE_CHECKING, Annotated, Any

from rankscope.analysis import stats
from rankscope.analysis.pair_rows import PairMarks, PairRows, ShownPairs, TopicDifference, topic_differences
from rankscope.analysis.power import check_comparable
from rankscope.analysis.scale_effect import IntervalCount, VerdictChange, interval_changes
from rankscope.analysis.slices import Interaction, SliceDifference, SliceMean, slice_means, slice_pairs
from rankscope.choices import INTERVAL_LENGTH, VALUE_OPTIONS, Correction, Test
from rankscope.columns import ConcatenatedRows
from rankscope.declaration import (
    AttributeName,
    Level,
    Option,
    PerTopic,
    Replicates,
    RunName,
    Seed,
    analysis,
    check_run,
    list_names,
)
from rankscope.errors import SettingsError
from rankscope.lazy import numpy as np
from rankscope.result import TypedResult, table
from rankscope.rows import MeasuredPairRow, MeasuredRunRow, RowTable, column
from rankscope.tables import Table

if TYPE_CHECKING:
    from rankscope.arrays import Floats, Indices
    from rankscope.columns import Rows
    from rankscope.measures import Measure
    from rankscope.scores import Scores


_MAX_LETTERED_RUNS = 60  # A table of more runs is too long to compare their letters by eye.
_MAX_LETTERS = 10  # A number with more letters is unreadable.
_MAX_GROUPS = 100  # The number of groups can grow exponentially; beyond this, letters are useless anyway.


class Pair(MeasuredPairRow):
    """Test of a pair of runs."""

    difference: float = column()
    p: float = column(p_value=True)
    adjusted: float = column(p_value=True)
    significant: bool = column()
    effect_size: float = column()
    low: float = column("lower end of the confidence interval of the difference")
    high: float = column("upper end of the confidence interval of the difference")
    wins: int = column()
    losses: int = column()
    ties: int = column("topics on which the two are equal")
    lower: float | None = column(
        "lower end of the one-sided interval of the difference in merit", default=None
    )
    noninferior: bool | None = column("whether a is no worse than b by more than the margin", default=None)


class RunMean(MeasuredRunRow):
    """Mean of a run, with marks of significance."""

    mean: float = column("mean over the topics")
    mark: str = column("marks of significance, as papers print them at the mean")


class Comparison(TypedResult):
    """Tests of pairs of runs."""

    pairs: RowTable[Pair] = table("every pair of runs")
    runs: RowTable[RunMean] = table("means with marks of significance", main=False)
    topics: RowTable[TopicDifference] | None = table("differences by topic", main=False, default=None)
    intervals: RowTable[IntervalCount] | None = table("verdicts that an interval scale changes", default=None)
    changes: RowTable[VerdictChange] | None = table(
        "pairs whose verdict an interval scale changes", default=None
    )
    interactions: RowTable[Interaction] | None = table("tests of interaction with slices", default=None)
    slices: RowTable[SliceDifference] | None = table("differences by slice", default=None)
    slice_means: RowTable[SliceMean] | None = table("means by slice", main=False, default=None)
    per_topic: bool = False

    @property
    def main(self) -> Sequence[str]:
        """Names of the main tables: the topics if they were requested, otherwise the pairs."""
        return ["topics"] if self.per_topic else super().main

    @property
    def display(self) -> Sequence[Table]:
        """Means with marks, pairs, and the tables that were requested."""
        flags: list[Table | None] = [self.intervals, self.changes, self.topics if self.per_topic else None]
        flags += [self.interactions, self.slices, self.slice_means]
        return [self.marked_means, self.shown_pairs, *(extra for extra in flags if extra is not None)]

    @property
    def marked_means(self) -> Table:
        """Means as papers print them: a row per run, a column per measure, marks at the numbers.

        The best run by the first measure with a direction comes first.
        """
        from rankscope.measures.grammar import external_measure

        measures = {row.measure: external_measure(row.measure, others=True) for row in self.runs}
        cells = {(row.run, row.measure): row for row in self.runs}
        directed = (name for name, measure in measures.items() if measure.better != "neither")
        runs = [row.run for row in self.best_first(next(directed, next(iter(measures))))]
        marks = {(r, name): cells[run, name].mark for r, run in enumerate(runs) for name in measures}
        baseline = self.settings["baseline"]
        reference = baseline if isinstance(baseline, str) else "several baselines"
        named = f" against {reference}" if baseline else ""
        kind = "Weighted means" if "weights" in self.settings else "Means"
        legend = _legend(baseline, any(marks.values()))
        if baseline is None and max(map(len, marks.values()), default=0) > _MAX_LETTERS:
            marks, legend = {}, "too many groups for letters: see the pairs, or name a baseline"
        return Table(
            "runs", ("run", *measures), [(run, *(cells[run, name].mean for name in measures)) for run in runs],
            best={name: measure.sign for name, measure in measures.items()}, marks=marks,
            caption=f"{kind} over {self.settings['topics']} topics{named}: {self._procedure}", legend=legend,
        )  # fmt: skip

    @property
    def shown_pairs(self) -> Table:
        """Pairs as people read them: significant differences are marked."""
        settings = self.settings
        single = isinstance(settings["baseline"], str)
        names = ("a",) if single else ("a", "b")
        margin = ("noninferior",) if "margin" in settings else ()
        shown = {"adjusted": "p", "effect_size": "effect"}
        columns = (*names, "measure", "difference", *shown, "w/l/t", *margin, "low", "high")
        within = f"; noninferior: no worse by more than {settings['margin']:g}" if margin else ""
        return Table(
            "pairs", tuple(shown.get(name, name) for name in columns), ShownPairs(self.pairs, columns),
            marks=PairMarks(self.pairs), p_values=("p",), ranked_by=("p", "effect"), spare=("low", "high"),
            caption=f"Differences a - {settings['baseline'] if single else 'b'}: {self._procedure}",
            legend=f"* a better, ↓ a worse{within}; effect: Cohen's d; w/l/t: topics that a won, lost, tied;"
            f" low, high: interval of {100 - 100 * settings['alpha']:g} %, {settings['intervals']}",
        )  # fmt: skip

    def best_first(self, measure: str) -> list[RunMean]:
        """Return the means by a measure, best first."""
        from rankscope.measures.grammar import external_measure

        rows = [row for row in self.runs if row.measure == measure]
        order = external_measure(measure, others=True).best_first(np.array([row.mean for row in rows]))
        return [rows[r] for r in order]

    @property
    def _procedure(self) -> str:
        return stats.procedure(self.settings["test"], self.settings["correction"], self.settings["alpha"])


@analysis(
    figures={
        "comparison": "compare.plot_comparison",
        "forest": "compare.plot_forest",
        "differences": "compare.plot_differences",
        "slices": "slices.plot_slices",
    },
    uses=(*VALUE_OPTIONS, "weights"),
    measures=("AP", "nDCG@10", "P@10", "RBP"),
)
def compare(
    scores: Scores,
    baseline: RunName | Sequence[RunName] | None = None,
    *,
    test: Test = "t",
    correction: Correction | None = None,
    alpha: Level = 0.05,
    margin: Annotated[float | None, Option("D")] = None,
    replicates: Replicates = None,
    seed: Seed = 1,
    per_topic: PerTopic = False,
    by: AttributeName | Sequence[AttributeName] = (),
    also_interval: Annotated[int | None, Option("N", bare=INTERVAL_LENGTH)] = None,
) -> Comparison:
    """Test runs against a baseline, or all pairs of runs, and estimate the size of their differences.

    Every pair has the mean difference a - b with its confidence interval (1 - alpha), the p-value, the p-value adjusted
    within the measure, Cohen's d of the paired differences, and the topics that a wins, loses and ties. Intervals are
    simultaneous with max-t and Tukey HSD, and for a single pair tested by t or the bootstrap: an interval excludes 0
    exactly if the difference is significant. Otherwise they are unadjusted; the settings state which. Intervals on
    slices have the level of Holm's correction, and exclude 0 exactly if the difference is significant.

    The table of means marks runs that are better than the baseline with stars (* .05, ** .01, *** .001) and worse ones
    with as many ↓. With several baselines, each has its own sign, preceded by ↓ if the run is worse. Without a
    baseline, runs that share a letter do not differ significantly.

    Parameters
    ----------
    scores
        Values of the measures and runs to compare.
    baseline
        Run to compare with; repeatable (default: all pairs).
    test
        Significance test.
    correction
        Correction for the number of pairs, within each measure (default: max-t for randomisation and bootstrap, else
        holm).
    alpha
        Significance level.
    margin
        Margin of non-inferiority: also test which runs are no worse by more than D (one-sided, at level alpha).
    replicates
        Random replicates (default: 1000 for bootstrap, 5000 for tukey, 10000 for randomisation).
    seed
        Seed of the random numbers.
    per_topic
        Also show the difference on every topic, largest losses of a first; a single pair always has this table.
    by
        Attribute of topics: also compare the runs on its slices, such as lang, or length:4 for quantile bins of a
        number; repeatable.
    also_interval
        Also show which verdicts change if every measure, cut to N ranks, is mapped to an interval scale (N without a
        value: 10).

    Returns
    -------
    Comparison
        Tables ``pairs`` and ``runs``; ``topics`` for a single pair or with per_topic; ``intervals`` (counts by
        measure) and ``changes`` (pairs whose verdict is lost, gained or reversed) with also_interval; ``slices``
        (differences on every slice), ``interactions`` (do they vary between slices?) and ``slice_means`` with by.

    References
    ----------
    Student 1908; Wilcoxon 1945; Holm 1979; Westfall and Young 1993; Benjamini and Hochberg 1995; Smucker et al.
    2007; Carterette 2012.

    Commands
    --------
    rankscope compare qrels.txt bm25.run dense.run
    rankscope compare qrels.txt runs/ --baseline bm25 -m "AP nDCG@10" -f latex
    rankscope compare qrels.txt runs/ --baseline bm25 --baseline dense --test randomisation
    rankscope compare qrels.txt runs/ --baseline bm25 --margin 0.01       which runs are worse by at most .01?
    rankscope compare qrels.txt runs/ --test tukey --seed 7
    rankscope compare qrels.txt runs/ -m RR --also-interval      does the scale matter?
    rankscope compare qrels.txt bm25.run dense.run -m AP --topics    which topics did I lose?
    rankscope compare qrels.txt bm25.run dense.run -m AP --plot differences.pdf
    rankscope compare qrels.txt runs/ --baseline bm25 -m AP --plot forest.pdf
    rankscope compare qrels.txt runs/ --topic-data topics.csv --weights traffic --by lang --by length:4

    Examples
    --------
    >>> import rankscope as rs
    >>> qrels = {f"q{i}": {"a": 1} for i in range(9)}
    >>> good = {f"q{i}": {"a": 3, "b": 2} for i in range(9)}
    >>> poor = {f"q{i}": {"b": 3, "c": 2, **({"a": 1} if i % 2 else {})} for i in range(9)}
    >>> result = rs.compare(rs.evaluate(qrels, {"good": good, "poor": poor}, ["AP"]), baseline="poor")
    >>> result.pairs[0].significant, [row.mark for row in result.runs]
    (True, ['***', ''])
    """
    matrices = [stats.complete(scores, measure) for measure in scores.measures]
    check_comparable(scores, matrices)
    baselines = list_names(baseline)
    first, second = select_pairs(scores.runs, baselines)
    if margin is not None:
        check_margin(margin, scores.measures)
    corrected = stats.correction_for(test, correction)
    options: dict[str, Any] = {"alpha": alpha, "replicates": replicates, "seed": seed}
    options |= {"test": test, "correction": corrected}
    indices = [scores.runs.index(name) for name in baselines]
    simultaneous = False
    pairs: list[Rows] = []
    runs: list[RunMean] = []
    for matrix in matrices:
        tests = stats.test_matrix(matrix, first, second, **options)
        simultaneous = tests.simultaneous
        merits = stats.rounded(matrix.measure.merit(matrix.values))
        kept = (tests.p, tests.adjusted, tests.half)
        pairs.append(PairRows(scores.runs, matrix, merits, first, second, *kept, alpha, margin))
        means = matrix.measure.means(matrix.values, matrix.weights)
        marks = _marks(matrix.measure.merit(means), indices, first, second, tests.adjusted, alpha)
        runs += map(RunMean, scores.runs, [str(matrix.measure)] * len(means), means.tolist(), marks)
    compared = list(zip(first.tolist(), second.tolist(), strict=True)) if per_topic or len(first) == 1 else []
    changes: dict[str, Any] = {}
    if also_interval is not None:
        changes = interval_changes(scores, also_interval, first, second, options)
    if by:
        changes |= slice_pairs(scores, by, first, second, alpha=alpha, seed=seed)
        changes["slice_means"] = slice_means(scores, by, alpha, "slice_means")
    without, ranked_by = ("lower", "noninferior") if margin is None else (), ("adjusted", "effect_size")
    return Comparison(
        pairs=Pair.table("pairs", ConcatenatedRows(pairs), without=without, ranked_by=ranked_by),
        runs=RunMean.table("runs", runs),
        topics=topic_differences(matrices, scores.runs, compared) if compared else None, **changes,
        per_topic=per_topic,
        settings={
            **scores.settings, "baseline": baselines[0] if len(baselines) == 1 else baselines or None, "test": test,
            "correction": corrected, "intervals": "simultaneous" if simultaneous else "unadjusted", "alpha": alpha,
            "replicates": (replicates or stats.REPLICATES[test]) if test in stats.REPLICATES else None, "seed": seed,
            **({} if margin is None else {"margin": margin}), **stats.left_out(matrices),
            **({} if also_interval is None else {"also_interval": also_interval}),
            **({"by": list_names(by)} if by else {}), "topics": len(scores.topics),
        },
    )  # fmt: skip


def _legend(baseline: str | Sequence[str] | None, is_marked: bool) -> str:
    """Return the meaning of the marks."""
    if baseline is None:
        return "runs that share a letter do not differ significantly" if is_marked else ""
    if isinstance(baseline, str):
        return "* better, ↓ worse than the baseline: one mark .05, two .01, three .001"
    signs = [f"{_sign(index)} differs from {name}" for index, name in enumerate(baseline)]
    return f"{', '.join(signs)}; after ↓ it is worse"


def _sign(index: int) -> str:
    """Return the sign of one of several baselines."""
    return "†‡§¶"[index] if index < 4 else f"({index + 1})"


def letters(means: Sequence[float], different: Iterable[tuple[int, int]]) -> list[str]:
    """Return a compact letter display: two runs share a letter exactly if they are not ``different``.

    The letters begin at the highest mean. They are empty if more than 100 would be needed.

    References
    ----------
    Piepho 2004.

    Examples
    --------
    >>> letters([0.3, 0.2, 0.1], [(0, 2)])
    ['A', 'AB', 'B']
    """
    groups = [(1 << len(means)) - 1]  # Bit r of a group says whether run r belongs to it.
    for i, j in different:
        pair_mask = (1 << i) | (1 << j)
        split = [group for group in groups if group & pair_mask == pair_mask]
        groups = [group for group in groups if group & pair_mask != pair_mask]
        for group in (g & ~(1 << k) for g in split for k in (i, j)):
            if not any(group & other == group for other in groups):
                groups = [other for other in groups if other & group != other] + [group]
        if len(groups) > _MAX_GROUPS:
            return ["" for _ in means]
    best_first = sorted(range(len(means)), key=lambda run: (-means[run], run))
    groups.sort(key=lambda group: [not group >> run & 1 for run in best_first])
    runs = range(len(means))
    return ["".join(_letter(g) for g, group in enumerate(groups) if group >> run & 1) for run in runs]


def _letter(index: int) -> str:
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"  # The columns of pairs are called a and b.
    return alphabet[index] if index < 26 else f"{alphabet[index % 26]}{index // 26}"


def select_pairs(runs: Sequence[str], baselines: Sequence[str]) -> tuple[Indices, Indices]:
    """Return every run against every baseline, each pair once; without baselines all pairs."""
    if not baselines:
        return stats.all_pairs(len(runs))
    for baseline in baselines:
        check_run(baseline, runs)
    indices = [runs.index(baseline) for baseline in baselines]
    pairs = [(r, b) for k, b in enumerate(indices) for r in range(len(runs)) if r not in indices[: k + 1]]
    first, second = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
    return first, second


def check_margin(margin: float, measures: Iterable[Measure]) -> None:
    """Validate the margin; reject measures without a direction and those that are not means."""
    if not (isfinite(margin) and margin >= 0):
        raise SettingsError(f"a margin of {margin}", hint="give a number from 0 on such as 0.005")
    for measure in measures:
        if measure.better == "neither" or measure.summary != "mean":
            problem = f"{measure} has no margin: it is not the mean of values of which some are better"
            raise SettingsError(problem, hint="use a measure such as AP or nDCG@10")


def _marks(
    merits: Floats, baselines: Sequence[int], first: Indices, second: Indices, adjusted: Floats, alpha: float
) -> list[str]:
    """Return the marks of all runs: stars, signs of baselines, or letters."""
    marks = ["" for _ in merits]
    if len(baselines) == 1:
        for run, p in zip(first.tolist(), adjusted.tolist(), strict=True):
            mark = "↓" if merits[run] < merits[baselines[0]] else "*"
            marks[run] = mark * sum(p < level for level in (0.05, 0.01, 0.001))
        return marks
    is_significant = adjusted < alpha
    different = list(zip(first[is_significant].tolist(), second[is_significant].tolist(), strict=True))
    if baselines:
        symmetric_pairs = {*different, *((b, a) for a, b in different)}
        for run, (k, b) in product(range(len(marks)), enumerate(baselines)):
            if (run, b) in symmetric_pairs:
                marks[run] += ("↓" if merits[run] < merits[b] else "") + _sign(k)
        return marks
    return marks if len(marks) > _MAX_LETTERED_RUNS else letters(merits.tolist(), different)
