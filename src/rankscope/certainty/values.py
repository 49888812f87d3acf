"""Values of measures for judged lists, under the options for tied and unjudged documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from rankscope.arrays import AnyArray, Bools, Floats, Indices, Weights
from rankscope.choices import TIES, UNJUDGED_AS
from rankscope.errors import check_name, error_path
from rankscope.judging import EvaluationOptions, Judged, judge
from rankscope.measures.base import Measure, declared_form, evaluate_all
from rankscope.read import Qrels, Runs

_HITS = 1 << 20
"""Hits of tied lists that are evaluated together."""


@dataclass(frozen=True, eq=False)
class Uncertainty:
    """Uncertainty of values, each array measures x runs x topics; None if it was not requested."""

    error: Floats | None = None
    """Standard error of a value that is the mean of sampled orders of tied documents; 0 where it is exact."""
    exact: Bools | None = None
    """Whether all orders of tied documents were taken into account."""
    lowest: Floats | None = None
    highest: Floats | None = None
    """Ends of the range over all labellings of the unjudged documents of the list."""
    tight: Bools | None = None
    """Whether both ends are attained; otherwise they are valid bounds that may be loose."""

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Names of the fields that are set: ``error`` and ``exact`` under ties, ``lowest``, ``highest``, ``tight``."""
        return tuple(field.name for field in fields(self) if getattr(self, field.name) is not None)

    def table_columns(
        self, measures: Sequence[Measure], run: AnyArray, topic: AnyArray, weights: Weights = None
    ) -> dict[str, AnyArray]:
        """Return the columns of a table of values, one row per (run, topic) and measure; a topic index equal to the
        number of topics stands for the mean."""
        columns: dict[str, AnyArray] = {}
        for index, name in enumerate(self.columns):
            values = getattr(self, name)
            width = values.shape[2]
            lists = values[:, run, np.minimum(topic, width - 1)]
            for row in np.flatnonzero(topic == width).tolist():
                r = int(run[row])
                lists[:, row] = [self.for_mean(m, i, r, weights)[index] for i, m in enumerate(measures)]
            columns[name] = lists.T.ravel()
        return columns

    def with_runs(self, keep: Indices) -> Uncertainty:
        """Return the uncertainty of some of the runs."""
        return replace(self, **{name: getattr(self, name)[:, keep] for name in self.columns})

    def with_measures(self, keep: Sequence[int]) -> Uncertainty:
        """Return the uncertainty of some of the measures."""
        return replace(self, **{name: getattr(self, name)[list(keep)] for name in self.columns})

    def with_topics(self, keep: Sequence[int]) -> Uncertainty:
        """Return the uncertainty of some of the topics."""
        return replace(self, **{name: getattr(self, name)[:, :, list(keep)] for name in self.columns})

    def for_mean(
        self, measure: Measure, index: int, run: int, weights: Weights = None
    ) -> tuple[float | bool, ...]:
        """Return the uncertainty of the mean of a run over topics, assuming independent errors."""
        values: list[float | bool] = []
        for name in self.columns:
            row = getattr(self, name)[index, run]
            if name in ("exact", "tight"):
                values.append(bool(row.all()))
            elif name == "error":
                defined = row[~np.isnan(row)]
                if weights is not None:
                    share = weights[~np.isnan(row)]
                    defined = defined * (share / share.mean() if len(share) else share)
                total = float(np.sqrt((defined**2).sum()))
                values.append(total if measure.summary == "sum" else total / max(1, len(defined)))
            else:
                values.append(float(measure.means(row[None, :], weights)[0]))
        return tuple(values)


def validate_options(ties: str = "break", unjudged: str = "nonrelevant", seed: int = 1) -> EvaluationOptions:
    """Return the options of an evaluation, or raise an error if a value is unknown.

    >>> validate_options("expected").settings
    {'ties': 'expected', 'unjudged': 'nonrelevant', 'ties_seed': 1}
    """
    check_name(ties, TIES, f"ties={ties!r}")
    check_name(unjudged, UNJUDGED_AS, f"unjudged={unjudged!r}")
    return EvaluationOptions(ties, unjudged, seed)


def judge_with_options(qrels: Qrels, runs: Runs, options: EvaluationOptions, **judge_options: Any) -> Judged:
    """Return the lists with everything that these options need; ``judge_options`` as for :func:`rankscope.judge`."""
    bounds = options.unjudged == "bounds"
    if bounds and qrels.aspects is not None:
        from rankscope.certainty.documents import with_documents

        qrels = with_documents(qrels, runs)  # ideal orders of aspects depend on which documents they are
    judged = judge(qrels, runs, ties=bounds or options.ties != "break", **judge_options)
    if bounds and options.ties != "break":
        from rankscope.certainty.documents import with_groups

        judged = with_groups(judged, runs)
    return judged if judged.options == options else replace(judged, options=options)


def compute_values(
    judged: Judged, measures: Sequence[Measure], missing: str = "zero"
) -> tuple[Floats, Uncertainty | None]:
    """Return the values of measures, measures x runs x topics, and their uncertainty."""
    options, gains = judged.options, judged.qrels.gains
    if gains is not None:
        with error_path(judged.qrels.path, judged.qrels.decimal_line):
            measures = [measure.for_gains(gains) for measure in measures]
        if options.unjudged == "bounds":
            judged.qrels.require_grades("unjudged=bounds")
    if options.unjudged == "condense":
        judged = judged.condense()
    shape = (len(measures), len(judged.runs), len(judged.topics))
    expects = options.ties == "expected"
    has_forms = [expects and declared_form(measure) is not None for measure in measures]
    values = _evaluate(judged, measures, missing, has_forms)
    if options.ties == "break" and options.unjudged != "bounds":
        return values.reshape(shape), None
    error: AnyArray | None = None
    exact: AnyArray | None = None
    if options.ties != "break":
        error, exact = np.zeros(values.shape), np.ones(values.shape, np.bool_)
        without_form = [index for index, has_form in enumerate(has_forms) if not has_form]
        for where, lists in _tied_blocks(judged) if without_form else ():
            remaining = [measures[index] for index in without_form]
            from rankscope.certainty.orders import tied_values

            tied = tied_values(remaining, lists, options.ties, numbers=where, seed=options.seed)
            for index, tied_value in zip(without_form, tied, strict=True):
                values[index, where] = tied_value.value
                error[index, where] = tied_value.error
                exact[index, where] = tied_value.exact
        error, exact = error.reshape(shape), exact.reshape(shape)
    if options.unjudged != "bounds":
        return values.reshape(shape), Uncertainty(error, exact)
    from rankscope.certainty.unjudged import ranges

    bounds = ranges(judged, measures, values, options)
    lowest, highest, tight = (
        np.array([getattr(tied_value, name) for tied_value in bounds]).reshape(shape)
        for name in ("lowest", "highest", "tight")
    )
    return values.reshape(shape), Uncertainty(error, exact, lowest, highest, tight)


def _evaluate(judged: Judged, measures: Sequence[Measure], missing: str, has_forms: Sequence[bool]) -> Floats:
    """Return the values in the order by document id, measures x lists; with ``has_forms``, means over all orders."""
    size = judged.present.size
    flat: Floats | None = None
    if not judged.is_complete:
        absent = np.nan if missing == "skip" else evaluate_all(measures, judged.empty)[:, np.newaxis]
        shape = (len(measures), len(judged.runs), len(judged.topics))
        flat = np.broadcast_to(absent, shape).reshape(len(measures), -1).copy()
    blocks: Any = judged.blocks()
    if any(has_forms):
        from rankscope.judging.tied import TiedLists

        blocks = TiedLists.blocks(judged)
    for where, lists in blocks:
        block = evaluate_all(measures, lists)
        for index in (i for i, has_form in enumerate(has_forms) if has_form):
            form = declared_form(measures[index])
            assert form is not None
            block[index] = form.expected(measures[index], lists, block[index])
        if len(where) == size:
            return block
        flat = np.empty((len(measures), size)) if flat is None else flat
        flat[:, where] = block
    return np.empty((len(measures), size)) if flat is None else flat


def _tied_blocks(judged: Judged) -> Any:
    """Generate batches of the lists in which tied documents differ, with their numbers."""
    from rankscope.judging.tied import TiedLists

    assert judged.ties is not None
    tied = np.concatenate([[0], np.cumsum(judged.ties.size > 1)])[judged.offsets]
    with_ties = np.flatnonzero(np.diff(tied) > 0)
    if not len(with_ties):
        return
    size = np.cumsum(np.diff(judged.offsets)[with_ties])
    for part in np.split(with_ties, np.flatnonzero(np.diff(size // _HITS)) + 1):
        lists = TiedLists.from_judged(judged, part)
        unequal = lists.has_unequal_ties()
        if unequal.all():
            yield part, lists
        elif unequal.any():
            yield part[unequal], TiedLists.from_judged(judged, part[unequal])
