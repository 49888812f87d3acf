"""Output lines of trec_eval."""

from __future__ import annotations

from collections.abc import Iterator

from rankscope.trec_eval.names import Column
from rankscope.trec_eval.results import Results


def format_lines(results: Results, *, topics: bool, summary: bool) -> Iterator[str]:
    """Yield the lines of each topic, then the summary."""
    if topics:
        # Formatting a whole column at once avoids formatting its label for every line.
        formatted = [shown for column in results.columns if (shown := _format_column(column, results))]
        for t, topic in enumerate(results.topics):
            for label, cells in formatted:
                yield f"{label}\t{topic}\t{cells[t]}"
    if summary:
        for column in results.columns:
            if column.entry == "runid":
                yield f"{'runid':<22}\tall\t{results.tag}"
            elif column.summary != "topics":
                value = _format_value(column, results.summary(column), results.zscores)
                yield f"{_label(column, results.zscores)}\tall\t{value}"


def _format_column(column: Column, results: Results) -> tuple[str, list[str]] | None:
    """Return the label and the cells of a column, or None if it is not printed per topic."""
    if column.label in results.strings:
        return f"{column.label:<22}", [f"'{text}'" for text in results.strings[column.label]]
    if not column.in_topics:
        return None
    values = results.values[column.label]
    cells = [_format_value(column, float(value), results.zscores) for value in values]
    return _label(column, results.zscores), cells


def _label(column: Column, zscores: bool) -> str:
    return f"Z{column.label:<22}" if zscores else f"{column.label:<22}"


def _format_value(column: Column, value: float, zscores: bool) -> str:
    return f"{int(value)}" if column.whole and not zscores else f"{value:6.4f}"
