"""Read scores from files: one matrix runs x topics for every measure.

A table may have a row per topic and a column per system:

    topic,bm25,dense
    351,0.25,0.5
    352,,0.125

or a row per run, topic and measure, as ``rankscope eval -q`` and PyTerrier write them (the column of measures, or of
runs, may be missing; the rows of the topic ``all`` are means and are left out):

    run,topic,measure,value
    bm25,351,AP,0.25
    dense,351,AP,0.5

or a row per run and topic, and a column per measure (``run,topic,AP,P@10``), or a row per run and a column per topic
(``run,351,352``), as our frames have them, or be the output of ``trec_eval -q`` and ``ir_measures -q``: see
:mod:`rankscope.read.score_rows`. Assignments of nuggets are scored (:mod:`rankscope.read.nuggets`). In the first kind
the first line has the names of the systems, and the first column has the topics if it is called ``topic`` (``query``,
``query_id``, ``qid``, or an empty name) or contains anything but numbers; otherwise topics are numbered from 1. Cells
are separated by commas or tabs. An empty cell, ``nan`` or ``NA`` is an undefined value. Files may also be JSON, JSON
lines, Parquet or Arrow, plain or compressed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from operator import itemgetter
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from rankscope.arrays import Floats
from rankscope.errors import InputError
from rankscope.read.formats import find_separator, first_data_line
from rankscope.read.ids import id_text
from rankscope.read.score_rows import MEANS, NO_SCORES, ScoreRows, open_score_rows
from rankscope.read.source import Source

T = TypeVar("T")

_TOPIC = ("topic", "topics", "query", "query_id", "qid", "")
_COLUMNS = {
    "run": ("run", "system", "run_id", "runid", "run_tag", "tag", "name"),
    "topic": ("topic", "topic_id", "qid", "query_id", "q_id", "query"),
    "measure": ("measure", "metric"),
    "value": ("value", "score"),
}
"""Names of the columns of a table with a row per value (case-insensitive)."""
_UNDEFINED = ("", "nan", "na")


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """Scores of systems on topics, ``values[run, topic]``; NaN if undefined."""

    path: str
    runs: tuple[str, ...]
    topics: tuple[str, ...]
    values: Floats
    more: tuple[str, ...] = ()
    """Other files, if several files have the scores of some runs each."""

    @property
    def paths(self) -> tuple[str, ...]:
        """Paths of the files."""
        return (self.path, *self.more)


def _parse_matrix(content: ScoreRows, path: str) -> ScoreTable:
    """Parse a table with a row per topic and a column per system."""
    header, lines = content.header, content.rows
    if not lines:
        hint = "give a line of systems and a line of scores per topic"
        raise InputError("there is no score", path=path, hint=hint)
    has_topics = header[0].strip().lower() in _TOPIC or any(parse_score(row[0]) is None for _, row in lines)
    n_names = int(has_topics)
    runs = tuple(name.strip() for name in header[n_names:])
    check_distinct(runs, "system", path, 1)
    values = np.empty((len(runs), len(lines)))
    topics: list[str] = []
    for column, (line, cells) in enumerate(lines):
        topics.append(parse_name(cells[0]) if has_topics else str(column + 1))
        values[:, column] = [
            check_score(parse_score(cell), cell, run, path, line)
            for cell, run in zip(cells[n_names:], runs, strict=True)
        ]
    check_distinct(topics, "topic", path, None)
    return ScoreTable(path, runs, tuple(topics), values)


def read_score_tables(
    source: Any,
    label: str = "<bytes>",
    is_measure: Callable[[str], bool] = str.isalpha,
    missing: str = "zero",
) -> dict[str, ScoreTable]:
    r"""Read the score matrices of a file or frame by measure; the name of an unnamed measure is empty.

    ``is_measure`` decides whether a text is the name of a measure, which distinguishes the columns of trec_eval from
    those of ir_measures; ``missing`` is the treatment of topics without nuggets.

    >>> table = read_score_tables(b"topic,bm25,dense\n351,0.25,0.5\n352,,0.125\n")[""]
    >>> table.runs, table.topics, table.values.tolist()
    (('bm25', 'dense'), ('351', '352'), [[0.25, nan], [0.5, 0.125]])
    >>> tables = read_score_tables(b"run,topic,measure,value\nbm25,351,AP,0.25\nbm25,all,AP,0.25\n")
    >>> tables["AP"].runs, tables["AP"].topics, tables["AP"].values.tolist()
    (('bm25',), ('351',), [[0.25]])
    """
    path, rows = open_score_rows(source, is_measure, missing, label)
    indices = find_columns(rows.header, _COLUMNS)
    if {"topic", "run"} <= indices.keys() and indices.keys().isdisjoint(("measure", "value")):
        rows = melt(rows, [indices["run"], indices["topic"]])
        indices = dict(zip(_COLUMNS, range(4), strict=True))
    if not {"topic", "value"} <= indices.keys() or indices.keys().isdisjoint(("measure", "run")):
        is_by_run = "".join(rows.header[:1]).strip().lower() == "run" and "topic" not in indices
        return {"": _parse_matrix(_transpose(rows) if is_by_run else rows, path)}
    columns = {meaning: [cells[index] for _, cells in rows.rows] for meaning, index in indices.items()}
    topics, scores = _map_cells(parse_name, columns["topic"]), _map_cells(parse_score, columns["value"])
    measures = _map_cells(_parse_measure, columns["measure"]) if "measure" in columns else repeat("")
    runs = _map_cells(parse_name, columns["run"]) if "run" in columns else repeat(rows.run or _stem(path))
    scores_by_measure: dict[str, dict[tuple[str, str], float]] = {}
    means: dict[tuple[str, str], tuple[int | None, float | None]] = {}
    for (line, cells), run, topic, measure, score in zip(rows.rows, runs, topics, measures, scores):  # noqa: B905
        if measure.startswith(NO_SCORES):
            continue
        if topic == MEANS and rows.has_means is not False:
            if (run, measure) in means:
                raise InputError(
                    f"{measure} of {run!r} has two values under {MEANS!r}: as the mean, and as the score of a topic",
                    path=path, line=line, hint=f"give the topic another name than {MEANS!r}",
                )  # fmt: skip
            means[run, measure] = line, score
            continue
        values, key = scores_by_measure.setdefault(measure, {}), (run, topic)
        if key in values:
            raise InputError(
                f"{measure or 'the score'} of {run!r} on topic {topic!r} occurs twice", path=path, line=line,
                hint="give one value for every run, topic and measure",
            )  # fmt: skip
        values[key] = check_score(score, cells[indices["value"]], run, path, line)
    if rows.has_means is None:
        _check_means(means, scores_by_measure, path)
    if not scores_by_measure:
        problem = "there are only means, and no score of a topic" if rows.rows else "there is no score"
        raise InputError(problem, path=path, hint="write them with -q: rankscope eval -q, trec_eval -q")
    return build_tables(scores_by_measure, path)


def find_columns(header: Sequence[str], names: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """Return the index of the column of each meaning, which has the first of its names that occurs.

    >>> find_columns(["Model", "score"], {"system": ("system", "model"), "task": ("task",), "score": ("score",)})
    {'system': 0, 'score': 1}
    """
    present = [name.strip().lower() for name in header]
    matches = {meaning: [name for name in own if name in present] for meaning, own in names.items()}
    return {meaning: present.index(own[0]) for meaning, own in matches.items() if own}


def melt(rows: ScoreRows, labels: Sequence[int]) -> ScoreRows:
    """Return rows of the cells of the columns ``labels``, the name of another column, and its cell.

    >>> melt(ScoreRows(["run", "AP", "RR"], [(2, ["bm25", 0.5, 1.0])]), [0]).rows
    [(2, ['bm25', 'AP', 0.5]), (2, ['bm25', 'RR', 1.0])]
    """
    measured = [(m, name) for m, name in enumerate(rows.header) if m not in labels]
    values = [
        (line, [*(cells[k] for k in labels), name, cells[m]])
        for line, cells in rows.rows
        for m, name in measured
    ]
    return rows._replace(rows=values)


def _transpose(rows: ScoreRows) -> ScoreRows:
    """Return a table with a row per topic, of one with a row per run."""
    header, *body = zip(rows.header, *(cells for _, cells in rows.rows), strict=True)
    return rows._replace(header=["topic", *map(str, header[1:])], rows=[(None, list(row)) for row in body])


def _check_means(
    means: dict[tuple[str, str], tuple[int | None, float | None]],
    scores_by_measure: dict[str, dict[tuple[str, str], float]],
    path: str,
) -> None:
    """Reject a value under ``all`` that is neither the mean nor the sum of the topics: it may be a topic's."""
    scores: dict[tuple[str, str], list[float]] = {}
    for measure, values in scores_by_measure.items():
        for (run, _), score in values.items():
            scores.setdefault((run, measure), []).append(score)
    for (run, measure), (line, value) in means.items():
        defined = [score for score in scores.get((run, measure), ()) if score == score]
        total = math.fsum(defined)
        expected = (total / len(defined), total) if defined else ()
        # Programs print four decimals.
        if expected and not any(
            math.isclose(value or 0.0, number, rel_tol=1e-4, abs_tol=5.1e-5) for number in expected
        ):
            raise InputError(
                f"{MEANS!r} may be a topic: its {measure or 'score'} is not the mean of the others of {run!r}",
                path=path, line=line, hint=f"remove the means, or give the topic another name than {MEANS!r}",
            )  # fmt: skip


def _map_cells(parse: Callable[[Any], T], cells: list[Any]) -> list[T]:
    """Parse the cells of a column, each distinct text once."""
    if not all(type(cell) is str for cell in cells):
        return [parse(cell) for cell in cells]
    parsed = {cell: parse(cell) for cell in set(cells)}
    return [parsed[cell] for cell in cells]


def _stem(path: str) -> str:
    """Return the name of a run derived from its file name."""
    name = Path(path).name
    for _ in range(2):
        stem, dot, suffix = name.rpartition(".")
        name = stem if dot and stem and len(suffix) <= 7 and not suffix.isdigit() else name
    return name or "run"


def is_score_table(path: str | Path) -> bool:
    """Return whether a file is a table of scores: CSV or TSV by its name, without a column of documents."""
    name = Path(path).name.lower().removesuffix(".gz")
    if not name.endswith((".csv", ".tsv")):
        return False
    header = first_data_line(Source.open(path).head())
    names = header.split(find_separator(header))
    return not any(name.strip().lower().startswith("doc") for name in names)


def build_tables(
    scores_by_measure: dict[str, dict[tuple[str, str], float]], path: str
) -> dict[str, ScoreTable]:
    """Build matrices of the same runs and topics, in order of first occurrence."""
    keys = [key for values in scores_by_measure.values() for key in values]
    runs, topics = (tuple(dict.fromkeys(map(itemgetter(side), keys))) for side in (0, 1))
    row, column = ({name: index for index, name in enumerate(names)} for names in (runs, topics))
    tables = {}
    for measure, values in scores_by_measure.items():
        matrix = np.full((len(runs), len(topics)), math.nan)
        matrix[[row[run] for run, _ in values], [column[topic] for _, topic in values]] = [*values.values()]
        tables[measure] = ScoreTable(path, runs, topics, matrix)
    return tables


def _parse_measure(cell: Any) -> str:
    """Return the name of a measure, which may be an object of ir_measures."""
    return parse_name(cell if isinstance(cell, bytes) else str(cell))


def parse_name(cell: Any) -> str:
    """Return a name without the quote that keeps spreadsheets from running it as a formula."""
    text = id_text(cell, "the scores").strip()
    return text[1:] if text[:1] == "'" and text[1:2] in ("=", "+", "-", "@") else text


def check_score(score: float | None, cell: Any, run: str, path: str, line: int | None) -> float:
    """Return the score of a cell; reject an invalid one."""
    if score is None:
        problem = f"the score {str(cell).strip()!r} of {run!r} is not a number"
        raise InputError(problem, path=path, line=line, hint="give a number, or leave the cell empty")
    return score


def parse_score(cell: Any) -> float | None:
    """Return the score of a cell, NaN if it is undefined, or None if it is invalid."""
    text = "" if cell is None else str(cell).strip()
    if text.lower() in _UNDEFINED:
        return math.nan
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and "_" not in text else None


def check_distinct(names: tuple[str, ...] | list[str], kind: str, path: str, line: int | None) -> None:
    """Reject no names, and a name that occurs twice."""
    if len(set(names)) < len(names) or not names:
        repeated = next((name for name in names if names.count(name) > 1), None)
        message = f"there is no {kind}" if repeated is None else f"the {kind} {repeated!r} occurs twice"
        raise InputError(message, path=path, line=line, hint=f"name every {kind} once")
