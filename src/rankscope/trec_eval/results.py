"""Values per topic, z scores and summaries of trec_eval."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from rankscope.errors import InputError
from rankscope.judging import Floats, Pool
from rankscope.read import Qrels, Run
from rankscope.trec_eval.collection import build_lists, find_rankings, format_relstring
from rankscope.trec_eval.fields import parse_number, read_rows
from rankscope.trec_eval.names import Column
from rankscope.trec_eval.options import Options

NO_ZSCORE = -1000000.0
ZScores = Mapping[tuple[str, str], tuple[float, float]]


@dataclass(frozen=True)
class Results:
    """Values of each numeric column by topic; ``strings`` holds relstrings.

    Columns with a geometric mean hold logarithms, which trec_eval sums and converts to z scores.
    """

    topics: list[str]
    tag: str
    columns: list[Column]
    values: dict[str, Floats]
    strings: dict[str, list[str]]
    zscores: bool = False

    def as_zscores(self, reference: ZScores) -> Results:
        """Return the results with z scores relative to the means and deviations of reference runs."""
        values = {}
        for label, row in self.values.items():
            by_topic = zip(self.topics, row, strict=True)
            values[label] = np.array([_zscore(v, reference.get((topic, label))) for topic, v in by_topic])
        return Results(self.topics, self.tag, self.columns, values, self.strings, zscores=True)

    def summary(self, column: Column) -> float:
        """Return the summary of a column over topics."""
        if column.entry == "num_q":
            return float(len(self.topics))
        values = self.values[column.label]
        # The last printed digit may depend on the order of the sum.
        total = float(np.cumsum(values)[-1]) if len(values) else 0.0
        if column.summary == "sum":
            return total
        mean = total / len(self.topics)
        return math.exp(mean) if column.summary == "geometric" else mean


def _zscore(value: float, reference: tuple[float, float] | None) -> float:
    if reference is None:
        return NO_ZSCORE
    mean, deviation = reference
    if deviation:
        return (value - mean) / deviation
    return 0.0 if value == mean else NO_ZSCORE


def read_zscores(path: str) -> dict[tuple[str, str], tuple[float, float]]:
    """Read lines of ``topic measure mean deviation``."""
    zscores = {}
    for line, (topic, label, mean, deviation) in read_rows(path, "topic measure mean deviation"):
        zscores[topic, label] = (parse_number(mean, path, line), parse_number(deviation, path, line))
    if not zscores:
        raise InputError("the file is empty", path=path, hint="give lines of: topic measure mean deviation")
    return zscores


def evaluate_qrels(qrels: Qrels, run: Run, columns: list[Column], options: Options) -> Results:
    """Evaluate a run with ordinary judgments."""
    rankings = find_rankings(qrels, run, options)
    index = np.array([qrels.topic_index[topic] for topic in rankings.topics])
    lists = build_lists(Pool(qrels.topic_offsets, qrels.grade), index, rankings.arrays, options)
    is_missing = ~rankings.arrays.present
    values, strings = {}, {}
    for column in columns:
        if column.entry == "relstring":
            shown = [*map(format_relstring, lists.truncate(column.length).grades(None))]
            if column.label == "relstring":
                shown = ["" if missing else text for missing, text in zip(is_missing, shown, strict=True)]
            strings[column.label] = shown
        elif column.measure is not None:
            row = np.array(column.measure.evaluate(lists), np.float64)
            # trec_eval compares output labels: utility is 0 for a missing topic, but utility_1,-1,0,0 is not.
            if column.label in ("num_ret", "utility", "rbp_resid") or column.label.startswith("unj"):
                row[is_missing] = 0.0
            values[column.label] = np.log(row) if column.summary == "geometric" else row
    return Results(rankings.topics, rankings.tag, columns, values, strings)
