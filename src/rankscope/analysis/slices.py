"""Do runs differ alike on all slices of topics? Means and differences by slice, interaction tests, and reversals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain, compress
from typing import TYPE_CHECKING, Any

from rankscope.analysis import stats
from rankscope.declaration import list_names
from rankscope.lazy import numpy as np
from rankscope.rows import MeasuredPairRow, MeasuredRunRow, R, Row, RowTable, column

if TYPE_CHECKING:
    from rankscope.arrays import Floats, Indices
    from rankscope.scores import Scores

SIMPSON, REVERSED = "Simpson", "reversed"
"""Alarms: every slice has the other leader; a slice has another leader by a significant difference."""
By = str | Iterable[str]
"""Attributes whose slices are compared; one may be given alone."""
Key = tuple[str, str]
"""Attribute and slice."""
_OVERALL = "", ""


class _SliceRow(Row):
    """Base of rows about a slice of topics."""

    attribute: str = column("attribute that divides the topics")
    slice: str = column("value of the attribute, or range of a quantile bin")


class SliceMean(_SliceRow, MeasuredRunRow):
    """Mean of a run on a slice of topics."""

    topics: int = column("number of topics of the slice on which the measure is defined")
    value: float = column("mean over the topics of the slice")
    low: float = column("lower end of Student's interval of the mean")
    high: float = column("upper end of Student's interval of the mean")


class SliceDifference(_SliceRow, MeasuredPairRow):
    """Difference of two runs on a slice of topics."""

    topics: int = column()
    difference: float = column("mean of a minus mean of b")
    low: float = column("lower end of Student's interval of the difference, of Holm's level")
    high: float = column("upper end; the interval excludes 0 exactly if the difference is significant")
    p: float = column(p_value=True)
    adjusted: float = column("p-value by Holm's correction over pairs, attributes and slices", p_value=True)
    significant: bool = column()


class Interaction(MeasuredPairRow):
    """Test whether the difference of two runs varies between slices."""

    attribute: str = column("attribute that divides the topics")
    slices: int = column("number of slices")
    test: str = column("welch, or permutation if a slice has fewer than 5 topics or no variance")
    statistic: float = column("Welch's statistic; empty for permutations")
    p: float = column(p_value=True)
    adjusted: float = column("p-value by Holm's correction over pairs and attributes", p_value=True)
    significant: bool = column("whether the difference varies between slices")
    alarm: str = column(
        f"{SIMPSON}: one run leads overall, the other in every slice; {REVERSED}: the other run leads in a slice by a"
        " significant difference; otherwise empty"
    )


def divide(scores: Scores, by: By) -> dict[Key, Scores]:
    """Return the scores of all slices of some attributes, by attribute and name."""
    return {(a, name): part for a in list_names(by) for name, part in scores.by(a).items()}


def slice_means(scores: Scores, by: By, alpha: float = 0.05, name: str = "slices") -> RowTable[SliceMean]:
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
            terms, back = measure.split_mean(values)
            ends = map(back, stats.t_intervals(terms, alpha, part.weights))
            columns = (~np.isnan(values)).sum(axis=1), part.mean(measure), *ends
            cells = zip(part.runs, *(column.tolist() for column in columns), strict=True)
            rows += [SliceMean(run, str(measure), *key, *more) for run, *more in cells]
    return SliceMean.table(name, rows, caption="Means by slice of topics")


def slice_pairs(
    scores: Scores, by: By, first: Indices, second: Indices, *, alpha: float, seed: int
) -> dict[str, Any]:
    """Return the differences of pairs of runs on every slice, and a test of interaction for every attribute.

    Differences are over topics on which all runs have a value; the leaders that alarms compare have the highest means
    over their own topics, as in a leaderboard.
    """
    slices = divide(scores, by)
    names = [(scores.runs[a], scores.runs[b]) for a, b in zip(first.tolist(), second.tolist(), strict=True)]
    rows = []
    for measure in scores.measures:
        matrix, leads = stats.complete(scores, measure), {}
        for key, part in {_OVERALL: scores, **slices}.items():
            merits = stats.rounded(measure.merit(part.mean(measure)))
            leads[key] = merits[first] - merits[second]
        differences = replace(matrix, values=matrix.values[first] - matrix.values[second])
        rows.append(compare_slices(differences, names, slices, leads, alpha=alpha, seed=seed))
    return slice_tables(rows)


def slice_tables(rows: Iterable[tuple[list[SliceDifference], list[Interaction]]]) -> dict[str, Any]:
    """Return the tables ``slices`` and ``interactions`` of the rows of some measures."""
    differences, tests = (list(chain.from_iterable(part)) for part in zip(*rows, strict=True))
    slices = SliceDifference.table("slices", differences, caption="Differences a - b by slice of topics")
    caption = "Do differences vary between slices? Welch's test, or permutations; Holm's correction"
    return {"slices": slices, "interactions": Interaction.table("interactions", tests, caption=caption)}


def compare_slices(
    differences: stats.CompleteMatrix,
    names: Sequence[tuple[str, str]],
    slices: Mapping[Key, Scores],
    leads: Mapping[Key, Floats] | None = None,
    *,
    alpha: float = 0.05,
    seed: int = 1,
) -> tuple[list[SliceDifference], list[Interaction]]:
    """Return the rows of one measure for the differences of pairs.

    ``leads`` are differences in merit of the means that a leaderboard shows, on each slice and over all topics; without
    them, the differences themselves are in merit, and lead.
    """
    from rankscope.read.ids import id_cell

    z, weights = differences.values, differences.weights
    sign = 1 if leads is None else differences.measure.sign or 1
    index = {id_cell(topic): t for t, topic in enumerate(differences.topics)}
    topics = {
        key: [index[t] for t in map(id_cell, part.topics) if t in index] for key, part in slices.items()
    }
    parts = {
        key: (z[:, own], None if weights is None else weights[own]) for key, own in topics.items() if own
    }
    p = np.stack([stats.one_sample_t(*part).p for part in parts.values()])
    adjusted, levels = stats.adjust(p), stats.holm_levels(p, alpha)
    tests = [stats.one_sample_t(*part, level) for part, level in zip(parts.values(), levels, strict=True)]
    difference, low, high = np.stack([(test.difference, test.low, test.high) for test in tests], axis=1)
    if leads is None:
        overall = stats.rounded(stats.linearise(z, weights).mean(axis=1))
        leads = {_OVERALL: overall, **dict(zip(parts, difference, strict=True))}
    is_reversed = (sign * difference * leads[_OVERALL] < 0) & (adjusted < alpha)
    answers = []
    for attribute in dict.fromkeys(name for name, _ in parts):
        is_own = [name == attribute for name, _ in parts]
        opposed = [lead * leads[_OVERALL] < 0 for (name, _), lead in leads.items() if name == attribute]
        is_alarm = np.all(opposed, axis=0), is_reversed[is_own].any(axis=0)
        divided = [*compress(parts.values(), is_own)]
        test = stats.test_interaction(divided, seed)
        answers.append(((attribute, len(divided)), *test, np.select(is_alarm, (SIMPSON, REVERSED), "")))
    labels, kinds, statistic, p_interaction, alarm = zip(*answers, strict=True)
    holm = stats.adjust(np.stack(p_interaction))
    keys = [(*key, values.shape[1]) for key, (values, _) in parts.items()]
    pairs = [(*pair, str(differences.measure)) for pair in names]
    numbers = difference, low, high, p, adjusted, adjusted < alpha
    answer = kinds, statistic, p_interaction, holm, holm < alpha, alarm
    return _pair_rows(SliceDifference, pairs, keys, numbers), _pair_rows(Interaction, pairs, labels, answer)


def _pair_rows(kind: type[R], pairs: Sequence[Any], keys: Sequence[Any], columns: Sequence[Any]) -> list[R]:
    """Return the rows of every pair and key, from columns of the shape (keys, pairs)."""
    cells = zip(*(np.stack(column).T.ravel().tolist() for column in columns), strict=True)
    labels = ((*pair, *key) for pair in pairs for key in keys)
    return [kind(*label, *row) for label, row in zip(labels, cells, strict=True)]
