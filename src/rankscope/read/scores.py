"""Score matrices: what others computed, a row per topic and a column per system.

    topic,bm25,dense
    351,0.25,0.5
    352,,0.125

or, as ``rankscope eval -q`` writes them, a row per run, topic and measure; the means (topic ``all``) are left out:

    run,topic,measure,value
    bm25,351,AP,0.25
    dense,351,AP,0.5

In the first kind the first line names the systems, and the first column holds the topics if it is called ``topic``
(``query``, ``query_id``, ``qid``, or nothing) or if what is in it is no number; without it, topics are numbered from 1.
Cells are separated by commas, or by tabs. An empty cell, ``nan`` or ``NA`` is an undefined value.
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

__all__ = ["ScoreTable", "holds_scores", "read_score_table", "read_score_tables"]

_TOPIC = ("topic", "topics", "query", "query_id", "qid", "")
_LONG = ("topic", "measure", "value")
_MEANS = "all"
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
    return _matrix(list(_rows(text)), text.label)


def _matrix(rows: list[tuple[int, list[str]]], path: str) -> ScoreTable:
    """A score matrix of the lines of its file."""
    if len(rows) < 2:
        raise InputError(
            "there is no score", path=path, hint="give a line of systems and a line of scores per topic"
        )
    (_, header), *lines = rows
    topics_first = header[0].strip().lower() in _TOPIC or any(_number(cells[0]) is None for _, cells in lines)
    runs = tuple(name.strip() for name in header[1 if topics_first else 0 :])
    _refuse_twice(runs, "system", path, 1)
    values = np.empty((len(runs), len(lines)))
    topics: list[str] = []
    for column, (line, cells) in enumerate(lines):
        topics.append(cells[0].strip() if topics_first else str(column + 1))
        values[:, column] = _scores(cells[1:] if topics_first else cells, runs, path, line)
    _refuse_twice(topics, "topic", path, None)
    return ScoreTable(path, runs, tuple(topics), values)


def read_score_tables(source: str | Path | bytes, label: str = "<bytes>") -> dict[str, ScoreTable]:
    r"""The score matrices of a file by measure; a matrix that does not say what it measures stands under no name.

    >>> tables = read_score_tables(b"run,topic,measure,value\nbm25,351,AP,0.25\nbm25,all,AP,0.25\n")
    >>> tables["AP"].runs, tables["AP"].topics, tables["AP"].values.tolist()
    (('bm25',), ('351',), [[0.25]])
    """
    text = Source.of(source, label)
    rows = list(_rows(text))
    if not rows or not set(_LONG) <= {name.strip().lower() for name in rows[0][1]}:
        return {"": _matrix(rows, text.label)}
    names = [name.strip().lower() for name in rows[0][1]]
    places = [names.index(name) for name in _LONG]
    run_at = names.index("run") if "run" in names else None
    found: dict[str, dict[tuple[str, str], float]] = {}
    for line, cells in rows[1:]:
        topic, measure, cell = (cells[place] for place in places)
        run = "run" if run_at is None else cells[run_at]
        if topic == _MEANS:
            continue
        values, key = found.setdefault(measure.strip(), {}), (_unquoted(run), _unquoted(topic))
        if key in values:
            raise InputError(
                f"{measure} of {key[0]!r} on topic {key[1]!r} occurs twice", path=text.label, line=line,
                hint="give one value for every run, topic and measure",
            )  # fmt: skip
        values[key] = _scores([cell], (run,), text.label, line)[0]
    if not found:
        raise InputError("there is no score", path=text.label, hint="write it with: rankscope eval -q -f csv")
    return {measure: _grid(values, text.label) for measure, values in found.items()}


def holds_scores(path: str | Path) -> bool:
    """Whether a file is a table of scores, and not a run: CSV or TSV by its name, with no column of documents."""
    name = Path(path).name.lower().removesuffix(".gz")
    if not name.endswith((".csv", ".tsv")):
        return False
    header = next(_rows(Source.of(path)), (0, []))[1]
    return not any(cell.strip().lower().startswith("doc") for cell in header)


def _grid(values: dict[tuple[str, str], float], path: str) -> ScoreTable:
    """Values by run and topic as a matrix, both in the order in which they came first."""
    runs, topics = (tuple(dict.fromkeys(key[side] for key in values)) for side in (0, 1))
    grid = np.full((len(runs), len(topics)), math.nan)
    row, column = ({name: place for place, name in enumerate(names)} for names in (runs, topics))
    for (run, topic), value in values.items():
        grid[row[run], column[topic]] = value
    return ScoreTable(path, runs, topics, grid)


def _unquoted(text: str) -> str:
    """A name without the quote that keeps spreadsheets from running it as a formula."""
    return text[1:] if text[:1] == "'" and text[1:2] in ("=", "+", "-", "@") else text


def _rows(text: Source) -> Iterator[tuple[int, list[str]]]:
    """The cells of each line that has any, with its number; all lines have as many as the first."""
    content = b"".join(text.blocks()).decode("utf-8", "surrogateescape")
    tabs = "\t" in content.partition("\n")[0]
    reader = csv.reader(StringIO(content, newline=""), "excel-tab" if tabs else "excel")
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
