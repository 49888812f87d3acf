"""Values per topic, z scores and summaries."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rankscope.errors import InputError
from rankscope.judging import Floats, Pool
from rankscope.read import Qrels, Run
from rankscope.trec_eval.collection import Found, find, lists_of, relstrings
from rankscope.trec_eval.lines import number, rows
from rankscope.trec_eval.names import Column
from rankscope.trec_eval.options import Options

__all__ = ["Results", "evaluate_qrels", "read_zscores", "total"]

NO_ZSCORE = -1000000.0
ZScores = Mapping[tuple[str, str], tuple[float, float]]


@dataclass(frozen=True)
class Results:
    """The values of each column, one for each topic. Columns without numbers have none; relstrings stand apart.

    The value of a geometric mean is the logarithm, as trec_eval adds it up (and makes a z score of it).
    """

    topics: list[str]
    tag: str
    columns: list[Column]
    values: dict[str, Floats]
    strings: dict[str, list[str]]
    zscores: bool = False

    def as_zscores(self, reference: ZScores) -> Results:
        """Each value as its distance from the mean of reference runs, in standard deviations."""
        values = {
            label: np.array(
                [
                    _zscore(value, reference.get((topic, label)))
                    for topic, value in zip(self.topics, row, strict=True)
                ]
            )
            for label, row in self.values.items()
        }
        return Results(self.topics, self.tag, self.columns, values, self.strings, zscores=True)

    def summary(self, column: Column) -> float:
        """One value for all topics."""
        if column.entry == "num_q":
            return float(len(self.topics))
        added = total(self.values[column.label])
        if column.summary == "sum":
            return added
        mean = added / len(self.topics)
        return math.exp(mean) if column.summary == "geometric" else mean


def total(values: npt.NDArray[np.float64]) -> float:
    """The sum in the order given: the digits that are printed may depend on it."""
    return float(np.cumsum(values)[-1]) if len(values) else 0.0


def _zscore(value: float, reference: tuple[float, float] | None) -> float:
    if reference is None:
        return NO_ZSCORE
    mean, deviation = reference
    if deviation:
        return (value - mean) / deviation
    return 0.0 if value == mean else NO_ZSCORE


def read_zscores(path: str) -> dict[tuple[str, str], tuple[float, float]]:
    """Lines of ``topic measure mean deviation``."""
    found = {}
    for line, (topic, label, mean, deviation) in rows(path, 4, "topic measure mean deviation"):
        found[topic, label] = (number(mean, path, line), number(deviation, path, line))
    if not found:
        raise InputError("the file is empty", path=path, hint="give lines of: topic measure mean deviation")
    return found


def evaluate_qrels(qrels: Qrels, run: Run, columns: list[Column], options: Options) -> Results:
    """Everything that is computed from ordinary judgments."""
    found, tag = find(qrels, run, options)
    cut = [one.as_cut(options, qrels.grade) for one in found.values()]
    index = [qrels.topic_index[topic] for topic in found]
    lists = lists_of(Pool(qrels.topic_offsets, qrels.grade), index, cut)
    values, strings = {}, {}
    for column in columns:
        if column.entry == "relstring":
            strings[column.label] = _strings(column, cut, qrels)
        elif column.measure is not None:
            row = np.array(column.measure.evaluate(lists), np.float64)
            values[column.label] = (
                np.log(row) if column.summary == "geometric" else _corrected(column, row, cut)
            )
    return Results(list(found), tag, columns, values, strings)


def _strings(column: Column, found: Sequence[Found], qrels: Qrels) -> list[str]:
    strings = relstrings(found, qrels.grade, column.length)
    if column.label != "relstring":
        return strings
    return ["" if one.missing else text for one, text in zip(found, strings, strict=True)]


def _corrected(column: Column, row: Floats, found: Sequence[Found]) -> Floats:
    """What trec_eval puts right again for missing topics, by the name in its output.

    So ``utility`` is 0 there, but ``utility_1,-1,0,0`` is not.
    """
    if column.label in ("num_ret", "utility", "rbp_resid") or column.label.startswith("unj"):
        row[[one.missing for one in found]] = 0.0
    return row
