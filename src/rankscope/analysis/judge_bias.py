"""Circularity alarm: does a judge favour the documents of a run?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rankscope.analysis import stats
from rankscope.lazy import numpy as np
from rankscope.rows import PairRow, Row, column

if TYPE_CHECKING:
    from rankscope.arrays import AnyArray, Floats
    from rankscope.judging import Judged


class RunBias(Row):
    """Error of the machine on the documents of a run, compared with the other runs."""

    run: str = column()
    value: float = column("mean error (machine's grade - human grade) on this run minus on other runs")
    low: float = column("lower end of the interval over samples of labels and topics")
    high: float = column("upper end of the interval over samples of labels and topics")
    flagged: bool = column("whether the machine favours the run significantly (Holm)")
    p: float = column(
        "p-value: the larger one for the error, and for the error beyond that on documents of equal human grade",
        p_value=True,
    )
    adjusted: float = column(p_value=True)
    excess: float = column("the same mean of errors beyond those on documents of equal human grade")


class JudgeBias(RunBias, PairRow):
    """Error of judge b, with the grades of judge a taken to be right, on the documents of a run."""


def find_bias(
    judged: Judged, weight: Floats, machine: AnyArray, human: AnyArray, inverse: Floats, alpha: float
) -> list[RunBias]:
    """Return the machine's mean error on the documents of each run minus that on the other runs, most favoured first.

    A machine that confuses grades errs in favour of runs with certain grades, without knowing the runs. Therefore a
    run is flagged only if its error is also larger than the mean error on documents with the same human grade.
    Topics are the units of the t tests, so that errors that documents of a topic share are allowed for.

    Parameters
    ----------
    judged
        Rankings.
    weight
        Weight of each hit.
    machine, human
        Grades of all documents; human grades count in the sample only.
    inverse
        1 / inclusion probability of each document, and 0 outside the sample.
    alpha
        Significance level.
    """
    n_runs, n_topics = len(judged.runs), len(judged.topics)
    owner, document = judged.arrays.owner, judged.judgment
    run = owner // n_topics
    share = weight * n_topics / np.maximum(np.bincount(run, weight, minlength=n_runs), 1e-300)[run]
    error = machine.astype(np.float64) - human
    # The expectation for a human grade is the mean over all runs, with the weights of the documents in them.
    total = inverse * np.bincount(document, share, minlength=len(error))
    grade = np.unique(human, return_inverse=True)[1].reshape(-1)
    expected = np.bincount(grade, total * error) / np.maximum(np.bincount(grade, total), 1e-300)

    def compare(error: Floats) -> Floats:
        """Return the weighted errors of each run and topic minus those of the other runs."""
        terms = share * (inverse * error)[document]
        means = np.bincount(owner, terms, minlength=n_runs * n_topics).reshape(n_runs, n_topics)
        return np.asarray((means - means.mean(axis=0)) * n_runs / (n_runs - 1) if n_runs > 1 else means)

    by_topic, excess = compare(error), compare(error - expected[grade])
    p, p_excess = (stats.one_sample_t(x).p for x in (by_topic, excess))
    p = np.maximum(p, p_excess) if n_runs > 1 else np.full(1, np.nan)
    adjusted = stats.adjust(p, "holm")
    value, beyond = by_topic.mean(axis=1), excess.mean(axis=1)
    flagged = (adjusted < alpha) & (value > 0) & (beyond > 0)
    columns = (value, *stats.t_intervals(by_topic, alpha), flagged, p, adjusted, beyond)
    order = np.argsort(-value, kind="stable").tolist()
    return [RunBias(judged.runs[r], *(c[r].item() for c in columns)) for r in order]


def describe_bias(machine: str, rows: Sequence[RunBias]) -> str | None:
    """Return a sentence with the runs that a machine favours, or None."""
    flagged = [row.run for row in rows if row.flagged]
    if not flagged:
        return None
    named = ", ".join(flagged[:4]) + (f" and {len(flagged) - 4} more" if len(flagged) > 4 else "")
    return f"{machine} favours {named}: it grades their documents too high compared with others (t, Holm)"
