"""Scores that others computed, or that were kept: matrices runs x topics, one for every measure.

A table with a row per topic and a column per system:

    topic,bm25,dense
    351,0.25,0.5
    352,,0.125

or with a row per run, topic and measure, as ``rankscope eval -q`` and PyTerrier write them (the measure, or the run,
may be missing; the topic ``all`` stands for means, which are left out):

    run,topic,measure,value
    bm25,351,AP,0.25
    dense,351,AP,0.5

or what ``trec_eval -q`` and ``ir_measures -q`` print: see :mod:`rankscope.read.score_rows`. In the first kind the first
line names the systems, and the first column holds the topics if it is called ``topic`` (``query``, ``query_id``,
``qid``, or nothing) or if what is in it is no number; without it, topics are numbered from 1. Cells are separated by
commas, or by tabs. An empty cell, ``nan`` or ``NA`` is an undefined value. Files may also be JSON, JSON lines, Parquet
or Arrow, plain or packed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import repeat
from operator import itemgetter
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from rankscope.errors import InputError
from rankscope.read.formats import data_lines, separator_of
from rankscope.read.ids import id_text
from rankscope.read.score_rows import MEANS, NO_SCORES, ScoreRows, rows_of_table, score_rows
from rankscope.read.source import Source

__all__ = ["ScoreTable", "holds_scores", "read_score_table", "read_score_tables"]

T = TypeVar("T")

_TOPIC = ("topic", "topics", "query", "query_id", "qid", "")
_COLUMNS = {
    "run": ("run", "system", "run_id", "runid", "run_tag", "tag", "name"),
    "topic": ("topic", "topic_id", "qid", "query_id", "q_id", "query"),
    "measure": ("measure", "metric"),
    "value": ("value", "score"),
}
"""What the columns of a table with a row per value may be called, in any case."""
_UNDEFINED = ("", "nan", "na")


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """The scores of systems on topics, ``values[run, topic]``; NaN where there is none."""

    path: str
    runs: tuple[str, ...]
    topics: tuple[str, ...]
    values: npt.NDArray[np.float64]
    more: tuple[str, ...] = ()
    """Other files, if there are several with the scores of some of the runs each."""

    @property
    def paths(self) -> tuple[str, ...]:
        """All files."""
        return (self.path, *self.more)


def read_score_table(source: str | Path | bytes, label: str = "<bytes>") -> ScoreTable:
    r"""A score matrix in a CSV file, plain or gzipped; ``-`` is standard input.

    >>> table = read_score_table(b"topic,bm25,dense\n351,0.25,0.5\n352,,0.125\n")
    >>> table.runs, table.topics, table.values.tolist()
    (('bm25', 'dense'), ('351', '352'), [[0.25, nan], [0.5, 0.125]])
    """
    return read_score_tables(source, label)[""]


def _matrix(found: ScoreRows, path: str) -> ScoreTable:
    """A score matrix of the lines of its file."""
    header, lines = found.header, found.rows
    if not lines:
        raise InputError(
            "there is no score", path=path, hint="give a line of systems and a line of scores per topic"
        )
    topics_first = header[0].strip().lower() in _TOPIC or any(_number(cells[0]) is None for _, cells in lines)
    runs = tuple(name.strip() for name in header[1 if topics_first else 0 :])
    _refuse_twice(runs, "system", path, 1)
    values = np.empty((len(runs), len(lines)))
    topics: list[str] = []
    for column, (line, cells) in enumerate(lines):
        topics.append(_text(cells[0]) if topics_first else str(column + 1))
        values[:, column] = _scores(cells[1:] if topics_first else cells, runs, path, line)
    _refuse_twice(topics, "topic", path, None)
    return ScoreTable(path, runs, tuple(topics), values)


def read_score_tables(
    source: Any, label: str = "<bytes>", is_measure: Callable[[str], bool] = str.isalpha
) -> dict[str, ScoreTable]:
    r"""The score matrices of a file or frame by measure; a matrix that does not say what it measures has no name.

    ``is_measure`` says whether a text names a measure, which tells the columns of trec_eval from those of ir_measures.

    >>> tables = read_score_tables(b"run,topic,measure,value\nbm25,351,AP,0.25\nbm25,all,AP,0.25\n")
    >>> tables["AP"].runs, tables["AP"].topics, tables["AP"].values.tolist()
    (('bm25',), ('351',), [[0.25]])
    """
    if isinstance(source, str | Path | bytes):
        text = Source.of(source, label)
        path, rows = text.label, score_rows(text, is_measure)
    else:
        path, rows = "the table", rows_of_table(source)
    places = {meaning: _place(rows.header, names) for meaning, names in _COLUMNS.items()}
    long = places["topic"] is not None and places["value"] is not None
    if not long or (places["measure"] is None and places["run"] is None):
        return {"": _matrix(rows, path)}
    columns = {key: [cells[at] for _, cells in rows.rows] for key, at in places.items() if at is not None}
    topics, scores = _each(_text, columns["topic"]), _each(_number, columns["value"])
    measures = _each(_measure, columns["measure"]) if "measure" in columns else repeat("")
    runs = _each(_text, columns["run"]) if "run" in columns else repeat(rows.run or _stem(path))
    found: dict[str, dict[tuple[str, str], float]] = {}
    means: dict[tuple[str, str], tuple[int | None, float | None]] = {}
    for (line, cells), run, topic, measure, score in zip(rows.rows, runs, topics, measures, scores):  # noqa: B905
        if measure.startswith(NO_SCORES):
            continue
        if topic == MEANS and rows.has_means is not False:
            if (run, measure) in means:
                raise InputError(
                    f"{measure} of {run!r} has two values under {MEANS!r}: as the mean, and as the score of a topic",
                    path=path, line=line, hint=f"call the topic otherwise than {MEANS!r}",
                )  # fmt: skip
            means[run, measure] = line, score
            continue
        values, key = found.setdefault(measure, {}), (run, topic)
        if key in values:
            of = f"{measure} of {run!r}" if measure else f"the score of {run!r}"
            raise InputError(
                f"{of} on topic {topic!r} occurs twice", path=path, line=line,
                hint="give one value for every run, topic and measure",
            )  # fmt: skip
        values[key] = _checked(score, cells[places["value"] or 0], run, path, line)
    if rows.has_means is None:
        _check_means(means, found, path)
    if not found:
        what = "there are only means, and no score of a topic" if rows.rows else "there is no score"
        raise InputError(what, path=path, hint="write them with -q: rankscope eval -q, trec_eval -q")
    return _grids(found, path)


def _check_means(
    means: dict[tuple[str, str], tuple[int | None, float | None]],
    found: dict[str, dict[tuple[str, str], float]],
    path: str,
) -> None:
    """Reject a value under ``all`` that is neither the mean nor the sum of the topics: it may be that of a topic."""
    scores: dict[tuple[str, str], list[float]] = {}
    for measure, values in found.items():
        for (run, _), score in values.items():
            scores.setdefault((run, measure), []).append(score)
    for (run, measure), (line, value) in means.items():
        finite = [score for score in scores.get((run, measure), ()) if score == score]
        total = math.fsum(finite)
        near = (total / len(finite), total) if finite else ()
        if near and not any(math.isclose(value or 0.0, one, rel_tol=1e-4, abs_tol=5.1e-5) for one in near):
            raise InputError(
                f"{MEANS!r} may be a topic: its {measure or 'score'} is not the mean of the others of {run!r}",
                path=path, line=line, hint=f"remove the means, or call the topic otherwise than {MEANS!r}",
            )  # fmt: skip


def _each(meaning: Callable[[Any], T], cells: list[Any]) -> list[T]:
    """What each cell of a column means; the same words come again and again, and are looked at once."""
    if not all(type(cell) is str for cell in cells):
        return [meaning(cell) for cell in cells]
    known = {cell: meaning(cell) for cell in set(cells)}
    return [known[cell] for cell in cells]


def _place(header: list[str], names: tuple[str, ...]) -> int | None:
    lower = [name.strip().lower() for name in header]
    return next((lower.index(name) for name in names if name in lower), None)


def _stem(path: str) -> str:
    """What a file without the name of its run is called after."""
    name = Path(path).name
    for _ in range(2):
        stem, dot, suffix = name.rpartition(".")
        name = stem if dot and stem and len(suffix) <= 7 and not suffix.isdigit() else name
    return name or "run"


def holds_scores(path: str | Path) -> bool:
    """Whether a file is a table of scores, and not a run: CSV or TSV by its name, with no column of documents."""
    name = Path(path).name.lower().removesuffix(".gz")
    if not name.endswith((".csv", ".tsv")):
        return False
    lines = data_lines(Source.of(path).head())
    first = lines[0].decode("utf-8", "replace") if lines else ""
    header = first.split(separator_of(first))
    return not any(cell.strip().lower().startswith("doc") for cell in header)


def _grids(found: dict[str, dict[tuple[str, str], float]], path: str) -> dict[str, ScoreTable]:
    """Values by run and topic as matrices of the same runs and topics, in the order in which they came first."""
    keys = [key for values in found.values() for key in values]
    runs, topics = (tuple(dict.fromkeys(map(itemgetter(side), keys))) for side in (0, 1))
    row, column = ({name: place for place, name in enumerate(names)} for names in (runs, topics))
    tables = {}
    for measure, values in found.items():
        grid = np.full((len(runs), len(topics)), math.nan)
        grid[[row[run] for run, _ in values], [column[topic] for _, topic in values]] = [*values.values()]
        tables[measure] = ScoreTable(path, runs, topics, grid)
    return tables


def _measure(cell: Any) -> str:
    """A name of a measure, which may be an object of ir_measures."""
    return _text(cell if isinstance(cell, bytes) else str(cell))


def _text(cell: Any) -> str:
    """A name without the quote that keeps spreadsheets from running it as a formula."""
    text = id_text(cell, "the scores").strip()
    return text[1:] if text[:1] == "'" and text[1:2] in ("=", "+", "-", "@") else text


def _scores(cells: list[Any], runs: tuple[str, ...], path: str, line: int | None) -> list[float]:
    scores = map(_number, cells)
    return [_checked(*each, path, line) for each in zip(scores, cells, runs, strict=True)]


def _checked(score: float | None, cell: Any, run: str, path: str, line: int | None) -> float:
    """The score in a cell, if it is one."""
    if score is None:
        raise InputError(
            f"the score {str(cell).strip()!r} of {run!r} is not a number",
            path=path,
            line=line,
            hint="give a number, or leave the cell empty",
        )
    return score


def _number(cell: Any) -> float | None:
    """The score in a cell, NaN if it is undefined, or None if it is no score."""
    text = "" if cell is None else str(cell).strip()
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
