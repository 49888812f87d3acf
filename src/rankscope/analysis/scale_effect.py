"""Compare each measure with its interval-scaled version: means, variances, significant differences and verdicts.

Ferrante, Ferro and Pontarollo (2017) announce this experiment. Both versions
(:class:`~rankscope.measures.interval.Interval`) score the same rankings.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

from rankscope.analysis import stats
from rankscope.analysis.power import check_comparable
from rankscope.choices import INTERVAL_LENGTH, Test
from rankscope.declaration import Level, Option, Seed, analysis
from rankscope.errors import InputError, MeasureError, SettingsError
from rankscope.lazy import numpy as np
from rankscope.result import TypedResult, table
from rankscope.rows import MeasuredPairRow, Row, RowTable, column

if TYPE_CHECKING:
    from rankscope.arrays import Bools, Floats, Indices, NDArray
    from rankscope.judging import Judged
    from rankscope.measures import Measure
    from rankscope.measures.interval import Interval
    from rankscope.scores import Scores


FEW = 1 << 13
"""Maximum number of rankings of a topic; if graded documents make more, the length is reduced."""


_CHANGES = ("lost", "gained", "reversed")
"""Changes of a verdict, as columns of tables are called."""


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


class IntervalCount(Row):
    """Number of verdicts that an interval scale changes."""

    measure: str = column()
    interval: str | None = column("the measure on an interval scale", default=None)
    scales: int | None = column("number of distinct scales: recall bases have one each", default=None)
    pairs: int | None = column(default=None)
    lost: int | None = column("pairs that are no longer significant", default=None)
    gained: int | None = column("pairs that become significant", default=None)
    reversed: int | None = column("pairs that are significant in the opposite direction", default=None)
    note: str = column("why the measure has no values", default="")


class VerdictChange(MeasuredPairRow):
    """A pair of runs whose verdict an interval scale changes."""

    difference: float = column()
    adjusted: float = column(p_value=True)
    interval_difference: float = column("a minus b on the interval scale")
    interval_adjusted: float = column("the corrected p-value on the interval scale", p_value=True)
    change: str = column("lost, gained or reversed")


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
    judged = scores.require_judged("scale_effect")
    if length < 1:
        raise SettingsError(f"lists of {length} documents", hint="give a length of at least 1, usually 10")
    if len(judged.runs) < 2 or len(judged.topics) < 2:
        raise InputError("a comparison needs at least two runs and two topics", hint="add run files")
    options = {"test": test, "alpha": alpha, "seed": seed}
    rows = [_compare(scores, measure, length, options) for measure in scores.measures]
    settings = {**scores.settings, "length": length, **options}
    return ScaleEffect(scale_effect=MeasureEffect.table("scale_effect", rows), settings=settings)


def _compare(scores: Scores, measure: Measure, length: int, options: Mapping[str, Any]) -> MeasureEffect:
    try:
        with warnings.catch_warnings():  # A topic without relevant documents is undefined twice.
            warnings.simplefilter("ignore")
            n_scales, *matrices = _evaluate_both(scores, measure, length)
    except (InputError, MeasureError) as error:
        return MeasureEffect(str(measure), note=error.message)
    plain, mapped = matrices
    if len(plain.topics) < 2:
        return MeasureEffect(str(measure), note="defined on one topic only")
    means = [stats.run_merits(matrix) for matrix in matrices]
    # Rounding keeps equal variances tied, as run_merits does for means.
    variances = [stats.rounded(np.asarray(matrix.values.var(axis=1, ddof=1))) for matrix in matrices]
    by_mean, by_variance = stats.kendall(*means), stats.kendall(*variances)
    *_, significant, changes = _test_both(matrices, *stats.all_pairs(len(plain.values)), options)
    return MeasureEffect(
        str(plain.measure), str(mapped.measure), mapped.measure.cutoff, n_scales, len(plain.topics), len(plain.values),
        by_mean.tau_b, stats.ap_correlation(*means, symmetric=True), by_mean.discordant, float(variances[0].mean()),
        float(variances[1].mean()), by_variance.tau_b, by_variance.discordant, len(changes),
        int(significant[0].sum()), int(significant[1].sum()), *_count(changes), float(np.mean(changes != "")),
    )  # fmt: skip


def interval_changes(
    scores: Scores, length: int, first: Indices, second: Indices, options: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the tables ``intervals`` and ``changes`` of pairs for rankings cut to a length."""
    if scores.judged is None:
        hint = "give judgments and runs"
        raise InputError("an interval scale needs rankings, and these are scores only", hint=hint)
    counts: list[IntervalCount] = []
    rows: list[VerdictChange] = []
    for measure in scores.measures:
        try:
            n_scales, *matrices = _evaluate_both(scores, measure, length)
        except MeasureError as error:
            counts.append(IntervalCount(str(measure), note=error.message))
            continue
        check_comparable(scores, matrices)
        differences, adjusted, _, changes = _test_both(matrices, first, second, options)
        plain, mapped = (str(matrix.measure) for matrix in matrices)
        counts.append(IntervalCount(plain, mapped, n_scales, len(changes), *_count(changes)))
        for pair in np.flatnonzero(changes != "").tolist():
            names = scores.runs[first[pair]], scores.runs[second[pair]], plain
            (x, y), (p, q) = differences[:, pair].tolist(), adjusted[:, pair].tolist()
            rows.append(VerdictChange(*names, x, p, y, q, str(changes[pair])))
    caption = f"Verdicts changed by an interval scale, {length} ranks"
    return {
        "intervals": IntervalCount.table("intervals", counts, caption=caption),
        "changes": VerdictChange.table("changes", rows),
    }


def _evaluate_both(
    scores: Scores, measure: Measure, length: int
) -> tuple[int, stats.CompleteMatrix, stats.CompleteMatrix]:
    """Return the number of scales, and the values of a measure cut to a length and of its interval-scaled version."""
    from rankscope.scores import score

    judged = scores.require_judged("scale_effect")
    plain, mapped, n_scales = on_both_scales(judged, measure, length)
    both = score(judged, [plain, mapped], missing=str(scores.settings.get("missing", "zero")))
    both = replace(both, weights=scores.weights)
    return n_scales, stats.complete(both, plain), stats.complete(both, mapped)


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


def _test_both(
    matrices: Sequence[stats.CompleteMatrix], first: Indices, second: Indices, options: Mapping[str, Any]
) -> tuple[Floats, Floats, Bools, NDArray[np.str_]]:
    """Return differences, adjusted p-values and significance by both versions, and how each verdict changes."""
    tests = [stats.test_matrix(matrix, first, second, **options) for matrix in matrices]
    differences = np.array([stats.effects(m.values, first, second, m.weights)[0] for m in matrices])
    adjusted = np.array([test.adjusted for test in tests])
    before, after = significant = adjusted < options["alpha"]
    is_reversed = before & after & (differences[0] * differences[1] < 0)
    changes = np.select([before & ~after, after & ~before, is_reversed], _CHANGES, "")
    return differences, adjusted, significant, changes


def _count(changes: NDArray[np.str_]) -> tuple[int, int, int]:
    lost, gained, is_reversed = (int(np.count_nonzero(changes == change)) for change in _CHANGES)
    return lost, gained, is_reversed
