"""Compare each measure with its interval-scaled version: means, variances and significant differences.

Ferrante, Ferro and Pontarollo (2017) announce this experiment. Both versions
(:class:`~rankscope.measures.interval.Interval`) score the same rankings.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from rankscope.analysis.stats.coefficients import ap_correlation, kendall
from rankscope.analysis.stats.matrices import CompleteMatrix, complete, rounded, run_merits
from rankscope.analysis.stats.significance import all_pairs, run_test
from rankscope.choices import INTERVAL_LENGTH as LENGTH
from rankscope.errors import InputError, MeasureError, SettingsError
from rankscope.judging import Judged, judge
from rankscope.measures import Measure, parse_many
from rankscope.measures.interval import Interval
from rankscope.read import open_collection
from rankscope.result import TableResult
from rankscope.scores import score
from rankscope.tables import Cell, Table

__all__ = ["LENGTH", "on_both_scales", "scale_effect", "scale_effect_of"]

FEW = 1 << 13
"""Rankings of a topic up to which the length is kept; with more, grades being told apart, it is shortened."""

_COLUMNS = (
    "measure", "interval", "length", "scales", "topics", "runs", "tau", "tau_ap", "discordant", "variance",
    "variance_interval", "tau_variance", "discordant_variance", "pairs", "significant", "significant_interval", "lost",
    "gained", "reversed", "changed", "note",
)  # fmt: skip


def scale_effect(
    qrels: Any,
    runs: Any,
    measures: str | Measure | Iterable[str | Measure] = ("AP", "P@10", "RBP", "nDCG", "ERR"),
    *,
    length: int = LENGTH,
    test: str = "t",
    alpha: float = 0.05,
    seed: int = 1,
    order: str | None = None,
    missing: str = "zero",
    jobs: int | None = None,
) -> TableResult:
    """Compare each measure with its interval-scaled version, for rankings cut to ``length``.

    Table ``scale_effect``: ``tau`` and ``tau_ap`` are Kendall's tau-b and the AP-correlation between the orders of the
    runs by mean score, and ``discordant`` counts the discordant pairs. ``variance`` and ``variance_interval`` are the
    variances of a run over topics (unbiased, averaged over runs); ``tau_variance`` and ``discordant_variance`` compare
    the orders of the runs by variance. ``significant`` and ``significant_interval`` count the pairs of runs that
    ``test`` separates at ``alpha``; ``lost`` and ``gained`` count the pairs that only one version separates,
    ``reversed`` those that both separate in opposite directions, and ``changed`` is the share of these three.
    ``scales`` is the number of distinct scales: topics with different recall bases have different scales, and means
    over them mix steps of different size. If a topic has more than 8,192 graded rankings, the length is reduced.
    ``note`` says why a measure has no values.

    Parameters
    ----------
    qrels
        Judgments: a path, a dict {topic: {document: grade}}, a data frame, or :class:`Qrels`.
    runs
        Runs: paths, directories, patterns, {name: run}, data frames, or :class:`Runs`.
    measures
        Measures to compare with their interval-scaled versions.
    length
        Rank at which rankings are cut.
    test
        Paired test: t, wilcoxon, bootstrap, randomisation or tukey.
    alpha
        Significance level.
    seed
        Seed of the random numbers.
    order
        Ordering of the run files: trec_eval, trec_eval9, ascending_id, rank or file.
    missing
        Judged topics that a run lacks: zero evaluates an empty ranking, skip leaves them out.
    jobs
        Number of workers (default: all cores).

    Examples
    --------
    >>> topics = {f"q{i}": {"a": 1, "b": i % 2, "c": 1} for i in range(6)}
    >>> runs = {"x": {q: ["a", "z", "b"] for q in topics}, "y": {q: ["z", "c", "b", "a"] for q in topics}}
    >>> found = scale_effect(topics, runs, ["AP", "Bpref"], length=4)
    >>> [(r["measure"], r["tau"], r["scales"], r["note"]) for r in found["scale_effect"].records()][0]
    ('AP@4', 1.0, 2, '')
    """
    collection = open_collection(qrels, runs, order=order)
    found = scale_effect_of(
        judge(*collection, jobs=jobs),
        parse_many(measures),
        length=length,
        test=test,
        alpha=alpha,
        seed=seed,
        missing=missing,
        jobs=jobs,
    )
    return found.with_settings(**collection.settings)


def scale_effect_of(
    judged: Judged,
    measures: Sequence[Measure],
    *,
    length: int = LENGTH,
    test: str = "t",
    alpha: float = 0.05,
    seed: int = 1,
    missing: str = "zero",
    jobs: int | None = None,
) -> TableResult:
    """:func:`scale_effect` for lists that are already judged."""
    if length < 1:
        raise SettingsError(f"lists of {length} documents", hint="give a length of at least 1, usually 10")
    if len(judged.runs) < 2 or len(judged.topics) < 2:
        raise InputError("a comparison needs at least two runs and two topics", hint="add run files")
    options: dict[str, Any] = {"alpha": alpha, "seed": seed, "jobs": jobs}
    rows = [_row(judged, measure, length, test, missing, options) for measure in measures]
    settings = {
        "measures": [str(m) for m in measures], "length": length, "test": test, "alpha": alpha, "seed": seed,
        "missing": missing,
    }  # fmt: skip
    return TableResult.of(Table("scale_effect", _COLUMNS, rows), settings=settings)


def _row(
    judged: Judged, measure: Measure, length: int, test: str, missing: str, options: dict[str, Any]
) -> tuple[Cell, ...]:
    try:
        plain, mapped, scales = on_both_scales(judged, measure, length)
        scores = score(judged, [plain, mapped], missing=missing)
        with warnings.catch_warnings():  # a topic without relevant documents is undefined twice
            warnings.simplefilter("ignore")
            matrices = complete(scores, plain), complete(scores, mapped)
    except (InputError, MeasureError) as error:
        return (str(measure), *(None for _ in _COLUMNS[2:]), error.message)
    if len(matrices[0].topics) < 2:
        return (str(measure), *(None for _ in _COLUMNS[2:]), "defined on one topic only")
    return (
        str(plain), str(mapped), mapped.cutoff, scales, len(matrices[0].topics), len(judged.runs),
        *_rankings(*matrices), *_verdicts(*matrices, test, options), "",
    )  # fmt: skip


def on_both_scales(judged: Judged, measure: Measure, length: int) -> tuple[Measure, Interval, int]:
    """The measure of lists cut to a length, the same on an interval scale, and how many scales there are."""
    if measure.cutoff_rule == "none" or measure.needs_aspects:
        raise MeasureError(f"{measure.name} cannot be cut to {length} ranks")
    while True:
        plain = measure @ (length if measure.cutoff is None else min(measure.cutoff, length))
        mapped = Interval(length, measure=str(plain))
        rankings = mapped.rankings(judged.pool)
        if length == 1 or max(rankings.values(), default=1) <= FEW:
            return plain, mapped, len(rankings)
        length -= 1


def _rankings(plain: CompleteMatrix, mapped: CompleteMatrix) -> tuple[Cell, ...]:
    means = run_merits(plain), run_merits(mapped)
    # Rounding keeps equal variances tied, as run_merits does for means.
    variances = [rounded(np.asarray(matrix.values.var(axis=1, ddof=1))) for matrix in (plain, mapped)]
    tau, spread = kendall(*means), kendall(*variances)
    return (
        tau.tau_b, ap_correlation(*means, symmetric=True), tau.discordant,
        *(float(variance.mean()) for variance in variances), spread.tau_b, spread.discordant,
    )  # fmt: skip


def _verdicts(
    plain: CompleteMatrix, mapped: CompleteMatrix, test: str, options: dict[str, Any]
) -> tuple[Cell, ...]:
    pairs = all_pairs(len(plain.values))
    before, after = (run_test(test, matrix.values, *pairs, **options) for matrix in (plain, mapped))
    first, second = before.p < options["alpha"], after.p < options["alpha"]
    turned = first & second & (before.difference * after.difference < 0)
    lost, gained = first & ~second, second & ~first
    numbers = [int(np.count_nonzero(one)) for one in (first, second, lost, gained, turned)]
    return len(first), *numbers, float(np.mean(lost | gained | turned))
