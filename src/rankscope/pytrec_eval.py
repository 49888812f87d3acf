"""A drop-in replacement for pytrec_eval: the same calls, keys, values and errors.

With ``import rankscope.pytrec_eval as pytrec_eval`` a script that uses pytrec_eval runs unchanged. As in pytrec_eval,
scores are compared as 32-bit floats, ties are broken by document id, and topics without judgments or without a ranking
are left out.

>>> qrel = {"q1": {"d1": 0, "d2": 1}}
>>> RelevanceEvaluator(qrel, {"map", "ndcg_cut_5"}).evaluate({"q1": {"d1": 2.0, "d2": 1.0}})
{'q1': {'map': 0.5, 'ndcg_cut_5': 0.6309297535714575}}
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from itertools import chain
from math import exp
from operator import index
from typing import Any, TypeVar

import numpy as np

from rankscope.arrays import Floats
from rankscope.evaluation import Evaluator
from rankscope.judging import Lists
from rankscope.measures.base import REGISTRY, evaluate_all
from rankscope.measures.classic import IPrec
from rankscope.measures.trec import AvgIPrec
from rankscope.native.memory import as_dicts
from rankscope.read.qrels import Qrels
from rankscope.read.runs import Run
from rankscope.scan.memory import match_plain, match_run
from rankscope.trec_eval.names import ENTRIES, NICKNAMES, Column, RelevanceSettings, parse_columns

__all__ = [
    "RelevanceEvaluator",
    "compute_aggregated_measure",
    "parse_qrel",
    "parse_run",
    "supported_measures",
    "supported_nicknames",
]

__version__ = "0.5.11"  # Version of pytrec_eval that this module reproduces; other packages check it.

_NOT_IN_PYTREC_EVAL = {"rbp", "rbp_resid", "unj"}  # Measures of trec_eval 10; pytrec_eval wraps trec_eval 9.

supported_nicknames: dict[str, set[str]] = {
    name: set(entries) - _NOT_IN_PYTREC_EVAL for name, entries in NICKNAMES.items()
}
"""Names of sets of measures."""

supported_measures: set[str] = supported_nicknames["all_trec"] & set(ENTRIES)
"""Names of the measures without parameters."""

Number = TypeVar("Number", int, float)

_NUM_Q = REGISTRY["NumQ"]
"""Value of a column without a measure: 1, which is the number of queries."""

_PARAMETERS = r"[\._]([0-9]+(?:\.[0-9]+)?(?:,[0-9]+(?:\.[0-9]+)?)*)"


class RelevanceEvaluator:
    """An evaluator of runs with fixed judgments and measures.

    Parameters
    ----------
    query_relevance
        Judgments, ``{query: {document: grade}}``.
    measures
        Names such as ``map``, ``P_5``, ``ndcg_cut.10,20``, or nicknames such as ``official``.
    relevance_level
        Lowest relevant grade.
    judged_docs_only_flag
        Whether to remove unjudged documents from rankings.
    """

    def __init__(
        self,
        query_relevance: Mapping[str, Mapping[str, int]],
        measures: Iterable[str],
        relevance_level: int = 1,
        judged_docs_only_flag: bool = False,
    ) -> None:
        expanded = (supported_nicknames.get(name, {name}) for name in measures)
        names = _merge_parameters(frozenset(chain.from_iterable(expanded)))
        relevance_level, judged_only = _to_int32(relevance_level), _to_int32(judged_docs_only_flag)
        if relevance_level < 1:
            raise TypeError("Argument relevance_level should be positive.")
        columns = _columns(names, relevance_level)
        self._judged_only = bool(judged_only)
        self._labels = [column.label for column in columns]
        self._measures = [column.measure or _NUM_Q for column in columns]
        self._corrected = [(row, column) for row, column in enumerate(columns) if _is_corrected(column)]
        self._qrels = Qrels.from_plain(query_relevance) if isinstance(query_relevance, dict) else None
        if self._qrels is None:
            judgments = {query: graded for query, graded in query_relevance.items() if len(graded) > 0}
            _check_judgments(judgments)
            self._qrels = Qrels.from_dict(judgments) if judgments else None
        self._evaluator = None if self._qrels is None else Evaluator(self._qrels, self._measures or "AP")

    def evaluate(self, scores: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
        """Return ``{query: {measure: value}}`` of a run ``{query: {document: score}}``, for judged queries."""
        if not scores:
            return {}
        if not isinstance(scores, dict):
            raise TypeError("Argument object scores should be of type dictionary.")
        hits = None if self._qrels is None else match_plain(scores, self._qrels, "trec_eval9", "run")
        if hits is None or not _all_instances(scores.values(), dict):
            _check_scores(scores)
        if (
            self._qrels is None
            or self._evaluator is None
            or self._qrels.topic_index.keys().isdisjoint(scores)
        ):
            return {}
        if hits is None:
            hits = match_run(Run.from_dict(_without_nan(scores), order="trec_eval9"), self._qrels)
        lists = self._evaluator.lists(hits)
        if self._judged_only:
            lists = lists.condense()
        values = evaluate_all(self._measures, lists)
        for row, column in self._corrected:
            _correct(values[row], column, lists)
        return as_dicts(scores, self._qrels.topic_index, hits.topic, self._labels, values)


def _without_nan(scores: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
    """Return the scores with NaN replaced by -inf, because pytrec_eval sorts NaN last."""
    lowest = -float("inf")
    return {
        query: {document: score if score == score else lowest for document, score in ranking.items()}
        for query, ranking in scores.items()
    }


def _is_corrected(column: Column) -> bool:
    """Return whether values of a column differ from those of its measure."""
    is_text = column.measure is None and column.entry != "num_q"
    return is_text or column.summary == "geometric" or isinstance(column.measure, IPrec | AvgIPrec)


def _correct(values: Floats, column: Column, lists: Lists) -> None:
    """Change the values of a column in place to those of pytrec_eval."""
    if column.measure is None:
        values[:] = 0.0  # A text in trec_eval.
    elif isinstance(measure := column.measure, IPrec | AvgIPrec):
        # The precision of an empty list, as pytrec_eval divides it.
        lowest = measure.cutoff if isinstance(measure, IPrec) else min(map(float, measure.levels.split(",")))
        needed = float(lowest or 0) * lists.recall_base(measure.rel) + 0.9
        values[(lists.length == 0) & (needed < 1)] = np.nan
    if column.summary == "geometric":
        np.log(values, out=values)


@lru_cache
def _columns(names: tuple[str, ...], relevance_level: int) -> list[Column]:
    """Return the columns to evaluate; cached because many evaluators share their measures."""
    columns = parse_columns(names, RelevanceSettings(relevance_level, rounding="up"), "qrels")
    # In the keys of pytrec_eval, cutoffs are the only parameters.
    return [
        replace(column, label=column.entry) if ENTRIES[column.entry].parameters == "numbers" else column
        for column in columns
    ]


def _to_int32(number: Any) -> int:
    """Return a 32-bit integer of any type, such as a numpy integer."""
    try:
        whole = index(number)
    except TypeError:
        whole = 1 << 31
    if not -(1 << 31) <= whole < 1 << 31:
        raise TypeError("Expected object_relevance_per_qid dictionary and measures set.")
    return whole


def _check_judgments(judgments: Mapping[Any, Any]) -> None:
    for query, graded in judgments.items():
        if not isinstance(query, str):
            raise TypeError("Expected string as key.")
        if not isinstance(graded, dict):
            raise TypeError("Expected dictionary as value.")
        for document, grade in graded.items():
            if not isinstance(document, str):
                raise TypeError("Expected mapping of document id to query relevance or matching score.")
            if not isinstance(grade, int):
                raise TypeError("Expected relevance to be integer.")


def _check_scores(run: Mapping[Any, Any]) -> None:
    lists = run.values()
    if not (
        _all_instances(run, str)
        and _all_instances(lists, dict)
        and _all_instances(chain.from_iterable(lists), str)
        and _all_instances(chain.from_iterable(map(dict.values, lists)), int | float)
    ):
        raise TypeError("Unable to extract query/object scores.")


def _all_instances(values: Iterable[Any], kind: Any) -> bool:
    """Return whether all things are instances of a type; tests each distinct type once, which is fast."""
    return all(issubclass(type_, kind) for type_ in set(map(type, values)))


@lru_cache
def _merge_parameters(names: frozenset[str]) -> tuple[str, ...]:
    """Return one text ``name.p1,p2`` per measure with the parameters of all its occurrences."""
    parameters: defaultdict[str, set[str]] = defaultdict(set)
    for name in names:
        if name in supported_measures:
            parameters[name] |= set()
            continue
        longest_first = sorted(supported_measures, key=len, reverse=True)
        matches = (re.match(f"({re.escape(measure)}){_PARAMETERS}", name) for measure in longest_first)
        match = next(filter(None, matches), None)
        if match is None:
            raise ValueError(f"unsupported measure {name}")
        takes = ENTRIES[match[1]].parameters != "none"  # pytrec_eval ignores parameters of other measures.
        parameters[match[1]] |= set(match[2].split(",")) if takes else set()
    return tuple(f"{name}.{','.join(sorted(texts))}" if texts else name for name, texts in parameters.items())


def parse_run(f_run: Iterable[str]) -> dict[str, dict[str, float]]:
    """Return ``{query: {document: score}}`` from the lines of a run.

    Parameters
    ----------
    f_run
        Lines of a run, such as an open file.

    Examples
    --------
    >>> dict(parse_run(["q1 Q0 d1 1 0.5 bm25"]))
    {'q1': {'d1': 0.5}}
    """
    rows = (line.strip().split() for line in f_run)
    return _group((query, document, float(score)) for query, _, document, _, score, _ in rows)


def parse_qrel(f_qrel: Iterable[str]) -> dict[str, dict[str, int]]:
    """Return ``{query: {document: grade}}`` from the lines of qrels.

    Parameters
    ----------
    f_qrel
        Lines of judgments, such as an open file.

    Examples
    --------
    >>> dict(parse_qrel(["q1 0 d1 2"]))
    {'q1': {'d1': 2}}
    """
    rows = (line.strip().split() for line in f_qrel)
    return _group((query, document, int(grade)) for query, _, document, grade in rows)


def _group(rows: Iterable[tuple[str, str, Number]]) -> dict[str, dict[str, Number]]:
    """Return ``{query: {document: number}}``."""
    groups: defaultdict[str, dict[str, Number]] = defaultdict(dict)
    for query, document, number in rows:
        if document in groups[query]:
            raise AssertionError(f"document {document!r} occurs twice")
        groups[query][document] = number
    return groups


def compute_aggregated_measure(measure: str, values: list[float]) -> float:
    """Return the summary over queries: the sum of counts, the geometric mean of ``gm_`` logarithms, else the mean.

    Parameters
    ----------
    measure
        Name of the measure in pytrec_eval.
    values
        Values of the measure, one per topic.

    Examples
    --------
    >>> compute_aggregated_measure("map", [0.25, 0.75]), compute_aggregated_measure("num_q", [1, 1])
    (0.5, 2.0)
    """
    if measure.startswith("num_"):
        return float(np.sum(values))
    if measure.startswith("gm_"):
        return exp(np.sum(values) / len(values))
    return float(np.mean(values))
