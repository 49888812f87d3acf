"""The lines that trec_eval prints."""

from __future__ import annotations

from collections.abc import Iterator

from rankscope.trec_eval.names import Column
from rankscope.trec_eval.results import Results

__all__ = ["lines"]


def lines(results: Results, *, topics: bool, summary: bool) -> Iterator[str]:
    """The values of each topic, then those of all of them."""
    if topics:
        for t, topic in enumerate(results.topics):
            for column in results.columns:
                if column.label in results.strings:
                    yield f"{column.label:<22}\t{topic}\t'{results.strings[column.label][t]}'"
                elif column.in_topics:
                    yield _line(column, topic, float(results.values[column.label][t]), results.zscores)
    if summary:
        for column in results.columns:
            if column.entry == "runid":
                yield f"{'runid':<22}\tall\t{results.tag}"
            elif column.summary != "topics":
                yield _line(column, "all", results.summary(column), results.zscores)


def _line(column: Column, topic: str, value: float, zscores: bool) -> str:
    if zscores:
        return f"Z{column.label:<22}\t{topic}\t{value:6.4f}"
    shown = f"{int(value)}" if column.whole else f"{value:6.4f}"
    return f"{column.label:<22}\t{topic}\t{shown}"
