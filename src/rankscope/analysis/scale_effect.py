"""Compare each measure with its interval-scaled version: means, variances and significant differences.

Ferrante, Ferro and Pontarollo (2017) announce this experiment. Both versions
(:class:`~rankscope.measures.interval.Interval`) score the same rankings.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Annotated

from rankscope.analysis import stats
from rankscope.choices import INTERVAL_LENGTH, Test
from rankscope.declaration import Level, Option, Seed, analysis
from rankscope.errors import InputError, MeasureError, SettingsError
from rankscope.lazy import numpy as np
from rankscope.result import TypedResult, table
from rankscope.rows import Row, RowTable, column

if TYPE_CHECKING:
    from rankscope.judging import Judged
    from rankscope.measures import Measure
    from rankscope.measures.interval import Interval
    from rankscope.scores import Scores


FEW = 1 << 13
"""Maximum number of rankings of a topic; if graded documents make more, the length is reduced."""


class MeasureEffect(Row):
    """A measure and its interval-scaled version."""

    measure: str = column()
    interval: str | None = column("the measure on an interval scale", default=None)
    length: int | None = column("rank at which rankings are cut", default=None)
    scales: int | None = column("number of distinct scales: recall bases have one each", default=None)
    topics: int | None = column(default=None)
    runs: int | None = column("number of runs", default=None)
    tau: float | None = column("Kendall's tau-b between the orders of the runs by mean", default=None)
    tau_ap: float | None = column("AP-correlation between the orders of the runs by mean", default=None)
    discordant: int | None = column(default=None)
    variance: float | None = column("variance of a run over topics, mean over the runs", default=None)
    variance_interval: float | None = column("the same on the interval scale", default=None)
    tau_variance: float | None = column(
        "Kendall's tau-b between the orders of the runs by variance", default=None
    )
    discordant_variance: int | None = column("pairs that the two order differently by variance", default=None)
    pairs: int | None = column(default=None)
    significant: int | None = column("pairs that differ significantly", default=None)
    significant_interval: int | None = column("the same on the interval scale", default=None)
    lost: int | None = column("pairs that are no longer significant", default=None)
    gained: int | None = column("pairs that become significant", default=None)
    reversed: int | None = column("pairs that are significant in the opposite direction", default=None)
    changed: float | None = column("share of the pairs that are lost, gained or reversed", default=None)
    note: str = column("why the measure has no values", default="")


class ScaleEffect(TypedResult):
    """Effect of interval scales on the order of runs and on significant differences."""

    scale_effect: RowTable[MeasureEffect] = table("every measure")


@analysis(command=None, uses=("order", "missing"), needs_rankings=True)
def scale_effect(
    scores: Scores,
    *,
    length: Annotated[int, Option("N")] = INTERVAL_LENGTH,
    test: Test = "t",
    alpha: Level = 0.05,
    seed: Seed = 1,
) -> ScaleEffect:
    """Compare each measure with its interval-scaled version, for rankings cut to a length.

    Topics with different recall bases have different scales (``scales``), and means over them mix steps of different
    size. If a topic has more than 8,192 graded rankings, the length is reduced.

    Parameters
    ----------
    scores
        Measures and runs to compare; the scores need their rankings.
    length
        Rank at which rankings are cut.
    test
        Significance test of the pairs of runs.
    alpha
        Significance level.
    seed
        Seed of the random numbers.

    Returns
    -------
    ScaleEffect
        Table ``scale_effect`` with a row per measure.

    References
    ----------
    Ferrante, Ferro and Pontarollo 2017.

    Examples
    --------
    >>> import rankscope as rs
    >>> topics = {f"q{i}": {"a": 1, "b": i % 2, "c": 1} for i in range(6)}
    >>> runs = {"x": {q: ["a", "z", "b"] for q in topics}, "y": {q: ["z", "c", "b", "a"] for q in topics}}
    >>> result = rs.scale_effect(rs.evaluate(topics, runs, "AP Bpref"), length=4)
    >>> [(row.measure, row.tau, row.scales, row.note) for row in result.scale_effect][0]
    ('AP@4', 1.0, 2, '')
    """
    judged, missing = scores.require_judged("scale_effect"), str(scores.settings["missing"])
    if length < 1:
        raise SettingsError(f"lists of {length} documents", hint="give a length of at least 1, usually 10")
    if len(judged.runs) < 2 or len(judged.topics) < 2:
        raise InputError("a comparison needs at least two runs and two topics", hint="add run files")
    rows = [_compare(judged, measure, length, missing, test, alpha, seed) for measure in scores.measures]
    settings = {**scores.settings, "length": length, "test": test, "alpha": alpha, "seed": seed}
    return ScaleEffect(scale_effect=MeasureEffect.table("scale_effect", rows), settings=settings)


def _compare(
    judged: Judged, measure: Measure, length: int, missing: str, test: str, alpha: float, seed: int
) -> MeasureEffect:
    from rankscope.scores import score

    try:
        plain, mapped, n_scales = on_both_scales(judged, measure, length)
        scores = score(judged, [plain, mapped], missing=missing)
        with warnings.catch_warnings():  # A topic without relevant documents is undefined twice.
            warnings.simplefilter("ignore")
            matrices = stats.complete(scores, plain), stats.complete(scores, mapped)
    except (InputError, MeasureError) as error:
        return MeasureEffect(str(measure), note=error.message)
    if len(matrices[0].topics) < 2:
        return MeasureEffect(str(measure), note="defined on one topic only")
    means = [stats.run_merits(matrix) for matrix in matrices]
    # Rounding keeps equal variances tied, as run_merits does for means.
    variances = [stats.rounded(np.asarray(matrix.values.var(axis=1, ddof=1))) for matrix in matrices]
    by_mean, by_variance = stats.kendall(*means), stats.kendall(*variances)
    verdicts = _compare_verdicts(*matrices, test, alpha, seed)
    return MeasureEffect(
        str(plain), str(mapped), mapped.cutoff, n_scales, len(matrices[0].topics), len(judged.runs), by_mean.tau_b,
        stats.ap_correlation(*means, symmetric=True), by_mean.discordant, float(variances[0].mean()),
        float(variances[1].mean()), by_variance.tau_b, by_variance.discordant, *verdicts,
    )  # fmt: skip


def on_both_scales(judged: Judged, measure: Measure, length: int) -> tuple[Measure, Interval, int]:
    """Return a measure cut to a length, the same on an interval scale, and the number of distinct scales."""
    from rankscope.measures.interval import Interval

    if measure.cutoff_rule == "none" or measure.needs_aspects:
        raise MeasureError(f"{measure.name} cannot be cut to {length} ranks")
    while True:
        plain = measure @ (length if measure.cutoff is None else min(measure.cutoff, length))
        mapped = Interval(length, measure=str(plain))
        rankings = mapped.rankings(judged.pool)
        if length == 1 or max(rankings.values(), default=1) <= FEW:
            return plain, mapped, len(rankings)
        length -= 1


def _compare_verdicts(
    plain: stats.CompleteMatrix, mapped: stats.CompleteMatrix, test: str, alpha: float, seed: int
) -> tuple[int, int, int, int, int, int, float]:
    """Return the cells from ``pairs`` to ``changed``."""
    pairs = stats.all_pairs(len(plain.values))
    before, after = (
        stats.run_test(test, matrix.values, *pairs, alpha=alpha, seed=seed) for matrix in (plain, mapped)
    )
    is_significant_plain, is_significant_mapped = before.p < alpha, after.p < alpha
    is_reversed = is_significant_plain & is_significant_mapped & (before.difference * after.difference < 0)
    is_lost = is_significant_plain & ~is_significant_mapped
    is_gained = is_significant_mapped & ~is_significant_plain
    masks = (is_significant_plain, is_significant_mapped, is_lost, is_gained, is_reversed)
    n_first, n_second, n_lost, n_gained, n_turned = (int(np.count_nonzero(mask)) for mask in masks)
    changed = float(np.mean(is_lost | is_gained | is_reversed))
    return len(is_significant_plain), n_first, n_second, n_lost, n_gained, n_turned, changed
