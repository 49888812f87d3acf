"""How well does a measure tell runs apart? Discriminative power (Sakai 2006)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

from rankscope.analysis import stats
from rankscope.choices import DEFAULT_MEASURES, Test
from rankscope.columns import CategoricalColumn, Columns, ConcatenatedRows, constant_column
from rankscope.declaration import MeasureName, Option, Replicates, Seed, Top, analysis
from rankscope.errors import InputError, SettingsError
from rankscope.lazy import numpy as np
from rankscope.result import TypedResult, table
from rankscope.rows import Row, RowTable, column
from rankscope.tables import Table

if TYPE_CHECKING:
    from rankscope.columns import Cell, Rows
    from rankscope.scores import Scores


_TITLES = {"wilcoxon": "Wilcoxon", "t": "t test", "tukey": "Tukey HSD"}


class _Tested(Row):
    measure: str = column()
    test: str = column()


class Separation(_Tested):
    """Number of pairs of runs that a measure separates by a test at a level."""

    alpha: float = column("significance level", digits=3)
    pairs: int = column()
    significant: int = column("number of pairs that differ significantly")
    power: float = column("share of the pairs that differ significantly")
    delta: float = column("a difference of means that is enough for any pair to be significant")
    topics: int = column()


class PairLevel(_Tested):
    """Significance level of a pair of runs."""

    a: str = column()
    b: str = column()
    asl: float = column("achieved significance level: the p-value of the test of this pair", p_value=True)
    difference: float = column()


class LevelCount(_Tested):
    """Number of pairs up to a significance level."""

    asl: float = column("an achieved significance level")
    pairs: int = column("number of pairs with at most this ASL")


class Power(TypedResult):
    """Discriminative power of measures."""

    power: RowTable[Separation] = table("every measure, test and level")
    asl: RowTable[PairLevel] = table("the significance level of every pair", flag="--per-pair")
    curve: RowTable[LevelCount] = table("pairs by significance level", main=False)

    @property
    def significant_pairs(self) -> Table:
        """Numbers of significant pairs as papers print them: measures down, tests across."""
        counts = {(row.measure, row.test, row.alpha): row.significant for row in self.power}
        kinds = list(dict.fromkeys((row.test, row.alpha) for row in self.power))
        columns = [f"{_TITLES.get(test, test)} {100 - 100 * alpha:g}%" for test, alpha in kinds]
        measures = dict.fromkeys(row.measure for row in self.power)
        body: list[tuple[Cell, ...]] = [
            (measure, *(counts[measure, *kind] for kind in kinds)) for measure in measures
        ]
        pairs = self.power[0].pairs if len(self.power) else 0
        caption = f"Pairs of runs that differ significantly, of {pairs:,}"
        return Table("significant_pairs", ("measure", *columns), body, caption=caption)

    @property
    def display(self) -> Sequence[Table]:
        """With several tests or levels, the significant pairs side by side come first."""
        several = len({(row.test, row.alpha) for row in self.power}) > 1
        return (self.significant_pairs, self.power) if several else (self.power,)


@analysis(figures={"curves": "power.plot_asl"}, measures=DEFAULT_MEASURES)
def power(
    scores: Scores,
    test: Test | Sequence[Test] = "bootstrap",
    *,
    alpha: Annotated[float | Sequence[float], Option("A")] = 0.05,
    replicates: Replicates = None,
    top: Top = None,
    by: MeasureName = "AP",
    seed: Seed = 1,
) -> Power:
    """Compute discriminative power: the share of pairs of runs that each measure separates significantly.

    bootstrap is the paired bootstrap test, with the same samples of topics for every pair and measure; tukey is the
    randomised Tukey HSD test; randomisation is the paired randomisation test (all signs for up to 20 topics). A pair is
    significant if its achieved significance level (ASL) is below alpha. With several tests or levels the numbers of
    significant pairs are shown side by side, as papers print them.

    Parameters
    ----------
    scores
        Values of the measures and runs to compare.
    test
        Significance test; repeatable.
    alpha
        Significance level, or several.
    replicates
        Random replicates (default: 1000 for bootstrap, 5000 for tukey, 10000 for randomisation).
    top
        Share of the runs to keep, the best ones, such as 0.75 (default: all).
    by
        Measure that selects the runs of ``top``.
    seed
        Seed of the random numbers.

    Returns
    -------
    Power
        Tables ``power``, ``asl`` and ``curve``.

    References
    ----------
    Sakai 2006; Carterette 2012; Ferro et al. 2016.

    Commands
    --------
    rankscope power qrels.txt runs/
    rankscope power qrels.txt runs/ --test t --test wilcoxon --alpha 0.05,0.01
    rankscope power --scores AP=ap.csv --scores P@10=p10.csv --test wilcoxon --test t --alpha 0.05,0.01
    rankscope power qrels.txt runs/ --top 0.75                 without the worst quarter by AP, as papers do
    rankscope power qrels.txt runs/ -m "AP Twist" --test tukey --seed 7 -f json -o power.json

    Examples
    --------
    >>> import rankscope as rs
    >>> good = {f"q{i}": {"a": 3, "b": 2} for i in range(9)}
    >>> poor = {topic: {"b": 1} for topic in good}
    >>> scores = rs.evaluate({topic: {"a": 1} for topic in good}, {"good": good, "poor": poor}, ["AP", "P@1"])
    >>> result = rs.power(scores, ["wilcoxon", "t"], alpha=[0.05, 0.01])
    >>> result.power[0].significant, result.power[0].power
    (1, 1.0)
    >>> print(result.significant_pairs.text())
    measure  Wilcoxon 95%  Wilcoxon 99%  t test 95%  t test 99%
    ───────────────────────────────────────────────────────────
    AP                  1             1           1           1
    P@1                 1             1           1           1
    """
    tests = (test,) if isinstance(test, str) else tuple(test)
    alphas = (alpha,) if isinstance(alpha, int | float) else tuple(alpha)
    if not tests or not alphas:
        noun = "level" if tests else "test"
        raise SettingsError(f"no {noun} is named", hint=f"name a {noun}, such as {0.05 if tests else 't'}")
    for level in alphas:
        stats.check_level(level)
    scores = stats.best_runs(scores, top, by)
    matrices = [stats.complete(scores, measure) for measure in scores.measures]
    check_comparable(scores, matrices)
    first, second = stats.all_pairs(len(scores.runs))
    separated: list[Separation] = []
    asl: list[Rows] = []
    curve: list[Rows] = []
    names = (CategoricalColumn(scores.runs, first), CategoricalColumn(scores.runs, second))
    for matrix in matrices:
        for name in tests:
            label = (str(matrix.measure), name)
            for level in alphas:
                # It has no delta, and p does not depend on alpha.
                if name != "wilcoxon" or level == alphas[0]:
                    outcome = stats.run_test(
                        name, matrix.values, first, second, alpha=level, replicates=replicates, seed=seed
                    )
                if name == "bootstrap":
                    # Sakai's ASL is the share b/B of the replicates; p is (b + 1)/(B + 1), which counts the data too.
                    size = replicates or stats.REPLICATES[name]
                    outcome = replace(outcome, p=np.rint(outcome.p * (size + 1) - 1) / size)
                count, delta = int(np.count_nonzero(outcome.p < level)), float(outcome.delta.max())
                pairs, topics = len(first), len(matrix.topics)
                separated.append(Separation(*label, level, pairs, count, count / pairs, delta, topics))
            constants = [constant_column(word, len(first)) for word in label]
            asl.append(Columns([*constants, *names, outcome.p, outcome.difference]))
            levels, counts = np.unique(outcome.p, return_counts=True)
            constants = [constant_column(word, len(levels)) for word in label]
            curve.append(Columns([*constants, levels, np.cumsum(counts)]))
    test_names = ", ".join(stats.TEST_NAMES[name] for name in tests)
    caption = f"Discriminative power over {len(scores.runs)} runs: {test_names}"
    legend = "power: share of the pairs of runs that differ significantly; delta: difference that is needed"
    levels_caption = "Achieved significance level of every pair of runs"
    ranked_by = ("asl", "difference")
    return Power(
        power=Separation.table("power", separated, caption=caption, legend=legend),
        asl=PairLevel.table("asl", ConcatenatedRows(asl), ranked_by=ranked_by, caption=levels_caption),
        curve=LevelCount.table("curve", ConcatenatedRows(curve)),
        settings={
            **scores.settings, "test": list(tests), "alpha": list(alphas),
            "replicates": {t: replicates or n for t, n in stats.REPLICATES.items() if t in tests}, "seed": seed,
            "measures": [str(measure) for measure in scores.measures], **stats.top_settings(top, by),
            **stats.left_out(matrices),
        },
    )  # fmt: skip


def check_comparable(scores: Scores, matrices: Sequence[stats.CompleteMatrix]) -> None:
    """Raise an error for a single run or a single topic, which no paired test can compare."""
    if len(scores.runs) < 2:
        raise InputError("comparing needs at least two runs", hint="name more runs, or scores of several")
    for matrix in matrices:
        if len(matrix.topics) < 2:
            problem = f"{matrix.measure} is defined on one topic only, a paired test needs at least two"
            raise InputError(problem, hint="evaluate on more topics, or leave the measure out")
