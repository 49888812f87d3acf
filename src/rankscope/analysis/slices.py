"""Do runs differ alike on all slices of topics? Means and differences by slice, interaction tests, and reversals."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rankscope.lazy import numpy as np
from rankscope.rows import MeasuredPairRow, MeasuredRunRow, RowTable, column

if TYPE_CHECKING:
    from rankscope.arrays import Floats, Indices
    from rankscope.scores import Scores

SIMPSON, REVERSED = "Simpson", "reversed"
"""Alarms: every slice has the other leader; a slice has another leader by a significant difference."""


class SliceMean(MeasuredRunRow):
    """Mean of a run on a slice of topics."""

    attribute: str = column("attribute that divides the topics")
    slice: str = column("value of the attribute, or range of a quantile bin")
    topics: int = column("number of topics of the slice on which the measure is defined")
    value: float = column("mean over the topics of the slice")
    low: float = column("lower end of Student's interval of the mean")
    high: float = column("upper end of Student's interval of the mean")


class SliceDifference(MeasuredPairRow):
    """Difference of two runs on a slice of topics."""

    attribute: str = column("attribute that divides the topics")
    slice: str = column("value of the attribute, or range of a quantile bin")
    topics: int = column()
    difference: float = column("mean of a minus mean of b")
    low: float = column("lower end of Student's interval of the difference, of Holm's level")
    high: float = column(
        "upper end of the interval, which excludes 0 exactly if the difference is significant"
    )
    p: float = column(p_value=True)
    adjusted: float = column(
        "the p-value, by Holm's correction over pairs, attributes and slices", p_value=True
    )
    significant: bool = column()


class Interaction(MeasuredPairRow):
    """Test whether the difference of two runs varies between slices."""

    attribute: str = column("attribute that divides the topics")
    slices: int = column("number of slices")
    test: str = column("welch, or permutation if a slice has fewer than 5 topics or no variance")
    statistic: float = column("Welch's statistic; empty for permutations")
    p: float = column(p_value=True)
    adjusted: float = column("the p-value, by Holm's correction over pairs and attributes", p_value=True)
    significant: bool = column("whether the difference varies between slices")
    alarm: str = column(
        f"{SIMPSON}: one run leads overall, the other in every slice; {REVERSED}: the other run leads in a slice by a"
        " significant difference; otherwise empty"
    )


def slice_means(scores: Scores, by: Sequence[str], alpha: float = 0.05) -> RowTable[SliceMean]:
    """Return topics, mean and interval of every slice, run and measure.

    >>> import rankscope as rs
    >>> scores = rs.evaluate({"q1": {"a": 1}, "q2": {"b": 1}, "q3": {"b": 1}}, {"r": {"q1": ["a"], "q3": ["b"]}}, "RR")
    >>> data = {"q1": {"lang": "en"}, "q2": {"lang": "it"}, "q3": {"lang": "it"}}
    >>> [(row.slice, row.topics, row.value) for row in slice_means(scores.with_topic_data(data), ["lang"])]
    [('en', 1, 1.0), ('it', 2, 0.5)]
    """
    from rankscope.analysis.stats.intervals import t_intervals
    from rankscope.analysis.stats.matrices import averaged

    rows: list[SliceMean] = []
    for attribute in by:
        for name, part in scores.by(attribute).items():
            for measure in scores.measures:
                matrix = part.matrix(measure)
                terms, back = averaged(measure, matrix.values)
                ends = [back(end).tolist() for end in t_intervals(terms, alpha, part.weights)]
                counts = (~np.isnan(matrix.values)).sum(axis=1).tolist()
                for run, *cells in zip(part.runs, counts, part.mean(measure).tolist(), *ends, strict=True):
                    rows.append(SliceMean(run, str(measure), attribute, name, *cells))
    return SliceMean.table("slices", rows, caption="Means by slice of topics")


def slice_pairs(
    scores: Scores, by: Sequence[str], first: Indices, second: Indices, *, alpha: float = 0.05, seed: int = 1
) -> tuple[RowTable[SliceDifference], RowTable[Interaction]]:
    """Return the differences of pairs of runs on every slice, and a test of interaction for every attribute.

    Differences are over topics on which all runs have a value; the leaders that alarms compare have the highest means
    over their own topics, as in a leaderboard.
    """
    from rankscope.analysis.stats.matrices import complete, rounded

    differences: list[SliceDifference] = []
    interactions: list[Interaction] = []
    names = [(scores.runs[a], scores.runs[b]) for a, b in zip(first.tolist(), second.tolist(), strict=True)]
    parts = {attribute: scores.by(attribute) for attribute in by}
    for measure in scores.measures:
        matrix = complete(scores, measure)
        members = {
            attribute: {name: {*part.matrix(measure).topic_cells} for name, part in slices.items()}
            for attribute, slices in parts.items()
        }

        def leads(some: Scores, by: Any = measure) -> Floats:
            merits = rounded(by.merit(some.mean(by)))
            return np.asarray(merits[first] - merits[second])

        overall = leads(scores)
        within = {attribute: [leads(part) for part in slices.values()] for attribute, slices in parts.items()}
        z = matrix.values[first] - matrix.values[second]
        rows = compare_slices(
            str(measure), names, z, matrix.topics, members, matrix.weights, sign=measure.sign or 1, overall=overall,
            within=within, alpha=alpha, seed=seed,
        )  # fmt: skip
        differences += rows[0]
        interactions += rows[1]
    return slice_tables(differences, interactions)


def slice_tables(
    differences: Sequence[SliceDifference], interactions: Sequence[Interaction]
) -> tuple[RowTable[SliceDifference], RowTable[Interaction]]:
    """Return the two tables."""
    caption = "Do differences vary between slices? Welch's test, or permutations; Holm's correction"
    return (
        SliceDifference.table("slices", differences, caption="Differences a - b by slice of topics"),
        Interaction.table("interactions", interactions, caption=caption),
    )


def compare_slices(
    measure: str,
    names: Sequence[tuple[str, str]],
    z: Floats,
    topics: Sequence[str | int],
    members: Mapping[str, Mapping[str, Collection[str | int]]],
    weights: Floats | None,
    *,
    sign: int = 1,
    overall: Floats | None = None,
    within: Mapping[str, Sequence[Floats]] | None = None,
    alpha: float = 0.05,
    seed: int = 1,
) -> tuple[list[SliceDifference], list[Interaction]]:
    """Return the rows of one measure for differences of pairs x topics; ``members`` are topics by attribute and slice.

    ``overall`` and ``within`` are differences in merit of the means that a leaderboard shows, in all and by slice; by
    default those of ``z``.
    """
    from scipy.special import stdtrit

    from rankscope.analysis.stats.interaction import SMALL_SLICE, permuted_anova, welch_anova
    from rankscope.analysis.stats.matrices import rounded
    from rankscope.analysis.stats.significance import adjust, holm_levels, run_test
    from rankscope.analysis.stats.weighting import degrees_of_freedom, linearise

    pairs, values = len(names), np.concatenate([z, np.zeros((1, z.shape[1]))])
    pair_indices = np.arange(pairs), np.full(pairs, pairs)
    if overall is None:
        overall = sign * rounded(linearise(z, weights).mean(axis=1))
    slices = {
        (attribute, name): indices
        for attribute, parts in members.items()
        for name, part in parts.items()
        if len(indices := np.flatnonzero([topic in part for topic in topics]))
    }
    if not slices:
        return [], []
    own = [None if weights is None else weights[indices] for indices in slices.values()]
    tests = [
        run_test("t", values[:, indices], *pair_indices, alpha=alpha, weights=w)
        for indices, w in zip(slices.values(), own, strict=True)
    ]
    p = np.concatenate([test.p for test in tests])
    adjusted, levels = (made.reshape(len(tests), pairs) for made in (adjust(p), holm_levels(p, alpha)))
    for k, indices in enumerate(slices.values()):
        freedom = degrees_of_freedom(z[:1, indices], own[k])
        half = tests[k].half * stdtrit(freedom, 1 - levels[k] / 2) / stdtrit(freedom, 1 - alpha / 2)
        tests[k] = replace(tests[k], adjusted=adjusted[k], half=half)
    differences = [
        SliceDifference(
            *names[k], measure, *key, len(slices[key]), float(test.difference[k]), float(test.low[k]),
            float(test.high[k]), float(test.p[k]), float(test.adjusted[k]), bool(test.adjusted[k] < alpha),
        )
        for k in range(pairs) for key, test in zip(slices, tests, strict=True)
    ]  # fmt: skip
    answers: list[tuple[str, int, Any, Floats, Floats, Any]] = []
    for attribute in members:
        filled = [indices for key, indices in slices.items() if key[0] == attribute]
        outcomes = [test for key, test in zip(slices, tests, strict=True) if key[0] == attribute]
        statistic, p = welch_anova(z, filled, weights)
        if min(map(len, filled)) < SMALL_SLICE:
            statistic = np.full(pairs, np.nan)
        permuted = np.isnan(statistic) & (len(filled) > 1)
        if permuted.any():
            p[permuted] = permuted_anova(z[permuted], filled, weights, seed=seed)
        turned = [(sign * test.difference * overall < 0) & (test.adjusted < alpha) for test in outcomes]
        leads = within[attribute] if within else [sign * test.difference for test in outcomes]
        simpson = np.all([lead * overall < 0 for lead in leads], axis=0)
        alarms = np.where(simpson, SIMPSON, np.where(np.any(turned, axis=0), REVERSED, ""))
        answers.append((attribute, len(filled), permuted, statistic, p, alarms))
    holm = adjust(np.concatenate([answer[4] for answer in answers])).reshape(len(answers), pairs)
    interactions = [
        Interaction(
            *names[k], measure, attribute, count, "permutation" if permuted[k] else "welch", float(statistic[k]),
            float(p[k]), float(holm[i][k]), bool(holm[i][k] < alpha), str(alarms[k]),
        )
        for k in range(pairs)
        for i, (attribute, count, permuted, statistic, p, alarms) in enumerate(answers)
    ]  # fmt: skip
    return differences, interactions
