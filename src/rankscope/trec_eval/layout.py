"""The lines that trec_eval prints."""

from __future__ import annotations

from collections.abc import Iterator

from rankscope.trec_eval.names import Column
from rankscope.trec_eval.results import Results

__all__ = ["lines"]


def lines(results: Results, *, topics: bool, summary: bool) -> Iterator[str]:
    """The values of each topic, then those of all of them."""
    if topics:
        # what a column shows is put together once, and not for every line
        of_columns = [shown for column in results.columns if (shown := _of_topics(column, results))]
        for t, topic in enumerate(results.topics):
            for label, cells in of_columns:
                yield f"{label}\t{topic}\t{cells[t]}"
    if summary:
        for column in results.columns:
            if column.entry == "runid":
                yield f"{'runid':<22}\tall\t{results.tag}"
            elif column.summary != "topics":
                value = _shown(column, results.summary(column), results.zscores)
                yield f"{_label(column, results.zscores)}\tall\t{value}"


def _of_topics(column: Column, results: Results) -> tuple[str, list[str]] | None:
    """The label and the cells of a column, if it is printed for topics."""
    if column.label in results.strings:
        return f"{column.label:<22}", [f"'{text}'" for text in results.strings[column.label]]
    if not column.in_topics:
        return None
    values = results.values[column.label]
    cells = [_shown(column, float(value), results.zscores) for value in values]
    return _label(column, results.zscores), cells


def _label(column: Column, zscores: bool) -> str:
    return f"Z{column.label:<22}" if zscores else f"{column.label:<22}"


def _shown(column: Column, value: float, zscores: bool) -> str:
    return f"{int(value)}" if column.whole and not zscores else f"{value:6.4f}"
