"""Evaluation in loops: judgments that are prepared once, and arrays of labels and scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from rankscope.arrays import AnyArray, Bools, Ints
from rankscope.certainty.values import validate_options
from rankscope.errors import InputError, SettingsError
from rankscope.judging import Lists, Pool
from rankscope.judging.judged import assemble
from rankscope.read import Qrels, Runs, as_runs
from rankscope.read.grades import check_grades, number_grades
from rankscope.read.ids import id_text
from rankscope.read.orders import check_order, is_by_score
from rankscope.read.qrels import LazySequence
from rankscope.scan import RunHits
from rankscope.scan.memory import match_arrays
from rankscope.scores import DEFAULT_MEASURES, Collection, Measures, Scores, require_measures, score

__all__ = ["Evaluator", "evaluate_arrays"]


class Evaluator:
    """An evaluator of runs with judgments and measures that are prepared once, for loops and training.

    ``evaluator(runs)`` returns the same :class:`Scores` as ``evaluate(qrels, runs, measures)``, without reading the
    judgments and computing their ideal rankings again.

    Parameters
    ----------
    qrels
        Judgments: a path, a dict {topic: {document: grade}}, a data frame, or :class:`Qrels`.
    measures
        Measures, by name or value; a text may name several, separated by spaces.
    order, missing, ties, unjudged, topics, grades, seed, jobs, engine
        As for :class:`Collection`.

    Examples
    --------
    >>> evaluator = Evaluator({"q1": {"d1": 1, "d2": 0}}, ["nDCG@10", "RR"])
    >>> for run in ({"q1": {"d1": 0.2, "d2": 0.7}}, {"q1": {"d1": 0.9, "d2": 0.7}}):
    ...     evaluator(run).mean("RR").tolist()
    [0.5]
    [1.0]
    >>> evaluator({"bm25": {"q1": ["d2", "d1"]}, "dense": {"q1": ["d1"]}}).mean("RR").tolist()
    [0.5, 1.0]
    """

    qrels: Qrels
    """Judgments."""
    measures: tuple[Any, ...]
    """Measures to evaluate."""

    def __init__(
        self,
        qrels: Qrels | Mapping[str, Mapping[str, int]] | str | Path | Any,
        measures: Measures = DEFAULT_MEASURES,
        *,
        order: str | None = None,
        missing: str = "zero",
        ties: str = "break",
        unjudged: str = "nonrelevant",
        topics: str | Sequence[str] | None = None,
        grades: str | None = None,
        seed: int = 1,
        jobs: int | None = None,
        engine: Any = None,
    ) -> None:
        self.measures = require_measures(measures)
        collection = Collection(
            qrels, Runs([]), order=order, missing=missing, ties=ties, unjudged=unjudged, topics=topics, grades=grades,
            seed=seed, jobs=jobs, engine=engine,
        )  # fmt: skip
        self._order = None if order is None else check_order(order)
        self._collection = collection.for_measures(self.measures)
        self.qrels = self._collection.opened.qrels
        self._pool = Pool.from_qrels(self.qrels)  # keeps it for all runs

    def __repr__(self) -> str:
        return f"<Evaluator: {' '.join(map(str, self.measures))} on {len(self.qrels.topics)} judged topics>"

    def __call__(self, runs: Any) -> Scores:
        """Return the value of every measure for every run and topic.

        Parameters
        ----------
        runs
            Runs, as for :func:`evaluate`: a dict {topic: {document: score}}, a frame, a :class:`Run`, paths, or a dict
            of these by name.
        """
        return self._collection.with_runs(as_runs(runs, self._order)).evaluate_parsed(self.measures)

    def lists(self, hits: RunHits) -> Lists:
        """Return the judged rankings of a run for the topics that it has, given its hits."""
        topic = hits.topic.astype(np.int64)
        return Lists(self._pool, topic, hits.length, hits.offsets, hits.rank, hits.judgment)


def evaluate_arrays(
    labels: Any,
    scores: Any,
    groups: Any = None,
    measures: Measures = DEFAULT_MEASURES,
    *,
    order: str = "trec_eval",
    ties: str = "break",
    seed: int = 1,
) -> Scores:
    """Evaluate arrays of labels and scores, as models that learn to rank have them.

    Every document has a label, which is its grade, and needs no id. Arrays of numpy, torch, jax and others work without
    a copy where they share their memory with numpy, and so do lists.

    Parameters
    ----------
    labels
        Grades: an array of shape (rankings, documents), or a flat one with ``groups``. Padding is left out: masked
        entries (:mod:`numpy.ma`), and entries whose label is negative or NaN.
    scores
        Scores of the same shape, or a dict of them by the name of the run.
    groups
        For flat arrays: the id of the ranking of every document (``qid`` of XGBoost, ``group_id`` of CatBoost), or the
        sizes of consecutive rankings (``group`` of LightGBM), whose sum is the number of documents. None: the
        documents are one ranking. As many groups as documents are ids.
    measures
        Measures, by name or value; a text may name several, separated by spaces.
    order
        Order of tied documents: by descending position in the array (``trec_eval``, and ``trec_eval9`` with 32-bit
        scores), or by ascending position (``ascending_id``).
    ties
        Value for tied documents: in that order (break), the mean over all orders (expected, as
        ``sklearn.metrics.ndcg_score``), or in the best or the worst order.
    seed
        Seed of orders of tied documents that are sampled.

    Returns
    -------
    Scores
        Values of every ranking. Topics are named by the ids of groups, or numbered from 0 on; a ranking without
        documents has no value, and is left out of means.

    Examples
    --------
    >>> labels, scores = [[2, 0, 1], [0, 1, -1]], [[0.9, 0.5, 0.1], [0.3, 0.4, 0.0]]
    >>> evaluate_arrays(labels, scores, measures="RR nDCG").values.round(3).tolist()
    [[[1.0, 1.0]], [[0.95, 1.0]]]
    >>> evaluate_arrays([2, 0, 1, 0, 1], [0.9, 0.5, 0.1, 0.3, 0.4], [3, 2], "RR nDCG").mean("nDCG").round(3).tolist()
    [0.975]
    """
    options = validate_options(ties, seed=seed)
    if not is_by_score(check_order(order)):
        hint = "choose trec_eval, trec_eval9 or ascending_id"
        raise SettingsError(f"arrays have no order {order!r}", hint=hint)
    parsed = require_measures(measures)
    grades, is_padding = _as_array(labels, "labels")
    by_run = {name: _as_array(array, "scores") for name, array in scores.items()} if isinstance(scores, Mapping) else {
        "run": _as_array(scores, "scores")
    }  # fmt: skip
    for values, is_masked in by_run.values():
        if values.shape != grades.shape:
            hint = "give one score per label"
            raise InputError(f"the labels have shape {grades.shape} and the scores {values.shape}", hint=hint)
        is_padding = is_padding | is_masked
    is_padding = is_padding | ~(grades >= 0)  # a NaN is not
    names, sizes, rows = _group(grades.shape, groups)
    flat_padding = is_padding.ravel() if rows is None else is_padding.ravel()[rows]
    kept = np.flatnonzero(~flat_padding)
    bounds = np.concatenate([[0], np.cumsum(sizes)])
    offsets = np.searchsorted(kept, bounds)
    position = kept - np.repeat(bounds[:-1], np.diff(offsets))
    index = kept if rows is None else rows[kept]
    grade, gains = number_grades(check_grades(grades.ravel()[index]))
    qrels = Qrels(
        names, offsets, LazySequence(lambda: _position_ids(position), len(kept)), grade, gains=gains
    )
    hits = []
    for name, (values, _) in by_run.items():
        kept_scores = np.ascontiguousarray(values.ravel()[index], np.float64)
        if np.isnan(kept_scores).any():
            row = int(np.searchsorted(offsets, np.flatnonzero(np.isnan(kept_scores))[0], side="right")) - 1
            hint = "mask the document or give a number"
            raise InputError(f"a score of ranking {names[row]} is NaN", hint=hint)
        hits.append(match_arrays(kept_scores, offsets, order, str(name), ties=ties != "break"))
    judged = replace(assemble(qrels, tuple(map(str, by_run)), hits), options=options)
    return score(judged, parsed, missing="skip", settings={"order": order, "aspects": False})


def _as_array(values: Any, name: str) -> tuple[AnyArray, Bools]:
    """Return an array of any library as numpy's, and its mask."""
    if hasattr(values, "detach"):  # a tensor of torch, perhaps with a gradient or on another device
        values = values.detach().cpu()
        if str(values.dtype) == "torch.bfloat16":  # numpy has no such type; every value is a 32-bit float
            values = values.float()
    mask = np.ma.getmaskarray(values) if isinstance(values, np.ma.MaskedArray) else None
    try:
        array = np.asarray(values)  # through the buffer or the array interface, which share memory
        if array.dtype.kind == "O" and hasattr(values, "__dlpack__"):
            array = np.from_dlpack(values)
    except (TypeError, ValueError, RuntimeError, BufferError) as problem:
        raise InputError(f"the {name} are not an array: {problem}", hint="give an array of numbers") from None
    if array.dtype.kind not in "iufb" or array.ndim not in (1, 2):
        hint = "give numbers in one dimension, or in two (rankings x documents)"
        raise InputError(f"the {name} are an array of {array.dtype} with {array.ndim} dimensions", hint=hint)
    return array, np.zeros(array.shape, np.bool_) if mask is None else mask


def _group(shape: tuple[int, ...], groups: Any) -> tuple[tuple[str, ...], Ints, Ints | None]:
    """Return names and sizes of rankings, and the rows by ranking; None if they are in order."""
    n_documents = int(np.prod(shape))
    if groups is None:
        count = shape[0] if len(shape) == 2 else 1
        return tuple(map(str, range(count))), np.full(count, n_documents // max(1, count)), None
    if len(shape) == 2:
        raise SettingsError("arrays of two dimensions have groups already", hint="leave groups out")
    ids = np.asarray(groups.detach().cpu() if hasattr(groups, "detach") else groups)
    if ids.ndim != 1:
        raise InputError("groups are not one-dimensional", hint="give ids of documents or sizes of rankings")
    if len(ids) != n_documents:
        if ids.dtype.kind not in "iu" or (ids < 0).any() or int(ids.sum()) != n_documents:
            raise InputError(
                f"there are {n_documents} documents, and groups are neither their ids nor sizes with this sum",
                hint="give an id per document, or sizes of consecutive rankings",
            )
        return tuple(map(str, range(len(ids)))), ids.astype(np.int64), None
    distinct, first, inverse = np.unique(ids, return_index=True, return_inverse=True)
    by_appearance = np.argsort(first)
    new_index = np.empty(len(distinct), np.int64)
    new_index[by_appearance] = np.arange(len(distinct))
    names = tuple(id_text(name, "groups") for name in distinct[by_appearance].tolist())
    if len(set(names)) < len(names):
        raise InputError("two groups have the same id as text", hint="give ids of one type")
    group = new_index[inverse]
    sizes = np.bincount(group, minlength=len(names))
    return names, sizes, None if (np.diff(group) >= 0).all() else np.argsort(group, kind="stable")


def _position_ids(position: Ints) -> list[bytes]:
    """Return ids of documents that sort as their positions."""
    width = len(str(int(position.max(initial=0))))
    return [b"%0*d" % (width, number) for number in position.tolist()]
