"""Do runs differ alike on all slices of topics? Means and differences by slice, interaction tests, and reversals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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


Slices = Mapping[str, Mapping[str, "Indices"]]
"""Indices of the topics of each slice, by attribute and slice."""


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
        position = {topic: t for t, topic in enumerate(matrix.topics)}
        cells = {
            attribute: {name: part.matrix(measure).topic_cells for name, part in slices.items()}
            for attribute, slices in parts.items()
        }
        kept = {
            attribute: {
                name: np.array([position[t] for t in topics if t in position], np.intp)
                for name, topics in slices.items()
            }
            for attribute, slices in cells.items()
        }

        def leads(some: Scores, by: Any = measure) -> Floats:
            merits = rounded(by.merit(some.mean(by)))
            return np.asarray(merits[first] - merits[second])

        overall = leads(scores)
        within = {attribute: [leads(part) for part in slices.values()] for attribute, slices in parts.items()}
        z = matrix.values[first] - matrix.values[second]
        rows = compare_slices(
            str(measure), names, z, kept, matrix.weights, sign=measure.sign or 1, overall=overall, within=within,
            alpha=alpha, seed=seed,
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
    slices: Slices,
    weights: Floats | None,
    *,
    sign: int = 1,
    overall: Floats | None = None,
    within: Mapping[str, Sequence[Floats]] | None = None,
    alpha: float = 0.05,
    seed: int = 1,
) -> tuple[list[SliceDifference], list[Interaction]]:
    """Return the rows of one measure for differences of pairs x topics.

    ``overall`` and ``within`` are differences in merit of the means that a leaderboard shows, in all and by slice; by
    default those of ``z``.
    """
    from scipy.special import stdtrit

    from rankscope.analysis.stats.interaction import SMALL_SLICE, permuted_anova, welch_anova
    from rankscope.analysis.stats.matrices import rounded
    from rankscope.analysis.stats.significance import adjust, holm_levels, run_test
    from rankscope.analysis.stats.weighting import degrees_of_freedom
    from rankscope.measures.base import weighted_means

    pairs, values = len(names), np.concatenate([z, np.zeros((1, z.shape[1]))])
    pair_indices = np.arange(pairs), np.full(pairs, pairs)
    if overall is None:
        plain = np.ones(z.shape[1]) if weights is None else weights
        overall = sign * rounded(weighted_means(z, plain))
    tests = {
        (attribute, name): run_test(
            "t", values[:, topics], *pair_indices, correction="none", alpha=alpha,
            weights=None if weights is None else weights[topics],
        )
        for attribute, parts in slices.items() for name, topics in parts.items() if len(topics)
    }  # fmt: skip
    if not tests:
        return [], []
    p = np.concatenate([test.p for test in tests.values()])
    family = np.stack([adjust(p), holm_levels(p, alpha)], axis=1).reshape(len(tests), pairs, 2)
    for ((attribute, name), test), (adjusted, level) in zip(
        list(tests.items()), family.swapaxes(1, 2), strict=True
    ):
        topics = slices[attribute][name]
        freedom = degrees_of_freedom(z[:1, topics], None if weights is None else weights[topics])
        half = test.half * stdtrit(freedom, 1 - level / 2) / stdtrit(freedom, 1 - alpha / 2)
        tests[attribute, name] = replace(test, adjusted=adjusted, half=half)
    differences = [
        SliceDifference(
            *names[k], measure, attribute, name, len(slices[attribute][name]), float(test.difference[k]),
            float(test.low[k]), float(test.high[k]), float(test.p[k]), float(test.adjusted[k]),
            bool(test.adjusted[k] < alpha),
        )
        for k in range(pairs) for (attribute, name), test in tests.items()
    ]  # fmt: skip
    answers: list[tuple[str, int, Any, Floats, Floats, Any]] = []
    for attribute, parts in slices.items():
        filled = [topics for topics in parts.values() if len(topics)]
        statistic, p = welch_anova(z, filled, weights)
        if min(map(len, filled)) < SMALL_SLICE:
            statistic = np.full(pairs, np.nan)
        permuted = np.isnan(statistic) & (len(filled) > 1)
        if permuted.any():
            p[permuted] = permuted_anova(z[permuted], filled, weights, seed=seed)
        turned = np.zeros(pairs, np.bool_)
        for name in (name for name in parts if (attribute, name) in tests):
            test = tests[attribute, name]
            turned |= (sign * test.difference * overall < 0) & (test.adjusted < alpha)
        leads = (within or {}).get(attribute) or [
            sign * tests[attribute, n].difference for n in parts if len(parts[n])
        ]
        simpson = np.all([lead * overall < 0 for lead in leads], axis=0)
        alarms = np.where(simpson, SIMPSON, np.where(turned, REVERSED, ""))
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
