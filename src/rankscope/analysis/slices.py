"""Do runs differ alike on all slices of topics? Means and differences by slice, interaction tests, and reversals."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain, compress
from typing import TYPE_CHECKING, Any

from rankscope.analysis import stats
from rankscope.declaration import list_names
from rankscope.lazy import numpy as np
from rankscope.rows import MeasuredPairRow, MeasuredRunRow, R, RowTable, column

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


def divide(scores: Scores, by: str | Iterable[str]) -> dict[tuple[str, str], Scores]:
    """Return the scores of all slices of some attributes, by attribute and name."""
    return {(a, name): part for a in list_names(by) for name, part in scores.by(a).items()}


def slice_means(scores: Scores, by: str | Iterable[str], alpha: float = 0.05) -> RowTable[SliceMean]:
    """Return topics, mean and interval of every slice, run and measure.

    >>> import rankscope as rs
    >>> scores = rs.evaluate({"q1": {"a": 1}, "q2": {"b": 1}, "q3": {"b": 1}}, {"r": {"q1": ["a"], "q3": ["b"]}}, "RR")
    >>> data = {"q1": {"lang": "en"}, "q2": {"lang": "it"}, "q3": {"lang": "it"}}
    >>> [(row.slice, row.topics, row.value) for row in slice_means(scores.with_topic_data(data), ["lang"])]
    [('en', 1, 1.0), ('it', 2, 0.5)]
    """
    rows: list[SliceMean] = []
    for key, part in divide(scores, by).items():
        for measure in scores.measures:
            values = part.matrix(measure).values
            terms, back = stats.averaged(measure, values)
            ends = map(back, stats.t_intervals(terms, alpha, part.weights))
            columns = (~np.isnan(values)).sum(axis=1), part.mean(measure), *ends
            cells = zip(part.runs, *(column.tolist() for column in columns), strict=True)
            rows += [SliceMean(run, str(measure), *key, *more) for run, *more in cells]
    return SliceMean.table("slices", rows, caption="Means by slice of topics")


def slice_pairs(
    scores: Scores, by: str | Iterable[str], first: Indices, second: Indices, *, alpha: float, seed: int
) -> dict[str, Any]:
    """Return the differences of pairs of runs on every slice, and a test of interaction for every attribute.

    Differences are over topics on which all runs have a value; the leaders that alarms compare have the highest means
    over their own topics, as in a leaderboard.
    """
    from rankscope.read.ids import id_cell

    slices = divide(scores, by)
    members = {key: {*map(id_cell, part.topics)} for key, part in slices.items()}
    names = [(scores.runs[a], scores.runs[b]) for a, b in zip(first.tolist(), second.tolist(), strict=True)]
    rows = []
    for measure in scores.measures:
        matrix = stats.complete(scores, measure)
        means = [part.mean(measure) for part in (scores, *slices.values())]
        merits = np.stack([stats.rounded(measure.merit(mean)) for mean in means])
        rows.append(
            compare_slices(
                str(measure), names, matrix.values[first] - matrix.values[second], matrix.topics, members,
                matrix.weights, leads=merits[:, first] - merits[:, second], sign=measure.sign or 1,
                alpha=alpha, seed=seed,
            )
        )  # fmt: skip
    return slice_tables(rows)


Comparison = tuple[list[SliceDifference], list[Interaction]]


def slice_tables(rows: Iterable[Comparison]) -> dict[str, Any]:
    """Return the tables ``slices`` and ``interactions`` of the rows of some measures."""
    differences, interactions = (list(chain.from_iterable(part)) for part in zip(*rows, strict=True))
    caption = "Do differences vary between slices? Welch's test, or permutations; Holm's correction"
    return {
        "slices": SliceDifference.table(
            "slices", differences, caption="Differences a - b by slice of topics"
        ),
        "interactions": Interaction.table("interactions", interactions, caption=caption),
    }


def compare_slices(
    measure: str,
    names: Sequence[tuple[str, str]],
    z: Floats,
    topics: Sequence[str | int],
    slices: Mapping[tuple[str, str], Collection[str | int]],
    weights: Floats | None,
    *,
    leads: Floats | None = None,
    sign: int = 1,
    alpha: float = 0.05,
    seed: int = 1,
) -> Comparison:
    """Return the rows of one measure for differences of pairs x topics; ``slices`` are topics by attribute and name.

    ``leads`` are differences in merit of the means that a leaderboard shows, over all topics and then on each slice; by
    default those of ``z``.
    """
    indices = [np.flatnonzero([topic in part for topic in topics]) for part in slices.values()]
    filled = [k for k, own in enumerate(indices) if len(own)]
    if not filled:
        return [], []
    attributes = np.array([attribute for attribute, _ in slices])
    parts = [(z[:, indices[k]], None if weights is None else weights[indices[k]]) for k in filled]
    p = np.stack([stats.one_sample_t(*part).p for part in parts])
    adjusted, levels = (
        x.reshape(p.shape) for x in (stats.adjust(p.ravel()), stats.holm_levels(p.ravel(), alpha))
    )
    tests = [stats.one_sample_t(*part, level) for part, level in zip(parts, levels, strict=True)]
    difference, low, high = np.stack([(test.difference, test.low, test.high) for test in tests], axis=1)
    within, slice_of_lead = (sign * difference, filled) if leads is None else (leads[1:], slice(None))
    overall = sign * stats.rounded(stats.linearise(z, weights).mean(axis=1)) if leads is None else leads[0]
    is_reversed = (sign * difference * overall < 0) & (adjusted < alpha)
    answers = []
    for attribute in dict.fromkeys(attributes.tolist()):
        is_own = attributes[filled] == attribute
        is_simpson = (within[attributes[slice_of_lead] == attribute] * overall < 0).all(axis=0)
        alarm = np.where(is_simpson, SIMPSON, np.where(is_reversed[is_own].any(axis=0), REVERSED, ""))
        own = [indices[k] for k in compress(filled, is_own)]
        answers.append(((attribute, len(own)), *stats.test_interaction(z, own, weights, seed), alarm))
    labels, kinds, statistic, p_interaction, alarm = zip(*answers, strict=True)
    holm = stats.adjust(np.concatenate(p_interaction)).reshape(len(answers), -1)
    keys = [(*key, len(own)) for key, own in zip(slices, indices, strict=True) if len(own)]
    differences = difference, low, high, p, adjusted, adjusted < alpha
    interactions = kinds, statistic, p_interaction, holm, holm < alpha, alarm
    return (
        _pair_rows(SliceDifference, names, measure, keys, differences),
        _pair_rows(Interaction, names, measure, labels, interactions),
    )


def _pair_rows(
    kind: type[R], names: Sequence[tuple[str, str]], measure: str, keys: Sequence[Any], columns: Sequence[Any]
) -> list[R]:
    """Return the rows of every pair and key, from columns of the shape (keys, pairs)."""
    cells = zip(*(np.stack(column).T.ravel().tolist() for column in columns), strict=True)
    labels = ((*pair, measure, *key) for pair in names for key in keys)
    return [kind(*label, *row) for label, row in zip(labels, cells, strict=True)]
