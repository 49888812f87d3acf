"""Score matrices: what others computed, a row per topic and a column per system.

    topic,bm25,dense
    351,0.25,0.5
    352,,0.125

The first line names the systems. The first column holds the topics if it is called ``topic`` (``query``, ``query_id``,
``qid``, or nothing) or if what is in it is no number; without it, topics are numbered from 1. An empty cell, ``nan`` or
``NA`` is an undefined value.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

import numpy as np
import numpy.typing as npt

from rankscope.errors import InputError
from rankscope.read.source import Source

__all__ = ["ScoreTable", "read_score_table"]

_TOPIC = ("topic", "topics", "query", "query_id", "qid", "")
_UNDEFINED = ("", "nan", "na")


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """The scores of systems on topics, ``values[run, topic]``; NaN where there is none."""

    path: str
    runs: tuple[str, ...]
    topics: tuple[str, ...]
    values: npt.NDArray[np.float64]


def read_score_table(source: str | Path | bytes, label: str = "<bytes>") -> ScoreTable:
    r"""A score matrix in a CSV file, plain or gzipped; ``-`` is standard input.

    >>> table = read_score_table(b"topic,bm25,dense\n351,0.25,0.5\n352,,0.125\n")
    >>> table.runs, table.topics, table.values.tolist()
    (('bm25', 'dense'), ('351', '352'), [[0.25, nan], [0.5, 0.125]])
    """
    text = Source.of(source, label)
    rows = list(_rows(text))
    if len(rows) < 2:
        raise InputError(
            "there is no score", path=text.label, hint="give a line of systems and a line of scores per topic"
        )
    (_, header), *lines = rows
    topics_first = header[0].strip().lower() in _TOPIC or any(_number(cells[0]) is None for _, cells in lines)
    runs = tuple(name.strip() for name in header[1 if topics_first else 0 :])
    _refuse_twice(runs, "system", text.label, 1)
    values = np.empty((len(runs), len(lines)))
    topics: list[str] = []
    for column, (line, cells) in enumerate(lines):
        topics.append(cells[0].strip() if topics_first else str(column + 1))
        values[:, column] = _scores(cells[1:] if topics_first else cells, runs, text.label, line)
    _refuse_twice(topics, "topic", text.label, None)
    return ScoreTable(text.label, runs, tuple(topics), values)


def _rows(text: Source) -> Iterator[tuple[int, list[str]]]:
    """The cells of each line that has any, with its number; all lines have as many as the first."""
    reader = csv.reader(StringIO(b"".join(text.blocks()).decode("utf-8", "surrogateescape"), newline=""))
    width = None
    try:
        for cells in reader:
            if not cells:
                continue
            width = len(cells) if width is None else width
            if len(cells) != width:
                raise InputError(
                    f"{len(cells)} cells where the first line has {width}",
                    path=text.label,
                    line=reader.line_num,
                    hint="give a cell for every system, empty if there is no score",
                )
            yield reader.line_num, cells
    except csv.Error as error:
        raise InputError(
            f"not a line of CSV ({error})", path=text.label, line=reader.line_num, hint="check the quotes"
        ) from None


def _scores(cells: list[str], runs: tuple[str, ...], path: str, line: int) -> list[float]:
    scores = [_number(cell) for cell in cells]
    for run, cell, score in zip(runs, cells, scores, strict=True):
        if score is None:
            raise InputError(
                f"the score {cell.strip()!r} of {run!r} is not a number",
                path=path,
                line=line,
                hint="give a number, or leave the cell empty",
            )
    return [score for score in scores if score is not None]


def _number(cell: str) -> float | None:
    """The score in a cell, NaN if it is undefined, or None if it is no score."""
    text = cell.strip()
    if text.lower() in _UNDEFINED:
        return math.nan
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and "_" not in text else None


def _refuse_twice(names: tuple[str, ...] | list[str], what: str, path: str, line: int | None) -> None:
    if len(set(names)) < len(names) or not names:
        twice = next((name for name in names if names.count(name) > 1), None)
        message = f"there is no {what}" if twice is None else f"the {what} {twice!r} occurs twice"
        raise InputError(message, path=path, line=line, hint=f"name every {what} once")
