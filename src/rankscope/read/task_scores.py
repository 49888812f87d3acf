"""Read the scores of systems on several tasks: from a table, or from a folder of MTEB results.

A table may have a row per system and a column per task:

    model,ArguAna,SciFact
    bm25,0.31,0.66
    dense,,0.71

or a row per score, optionally with a column ``topic`` (the mean over topics is the score of the task) and ``type``:

    system,task,topic,score,type
    bm25,ArguAna,q1,0.31,argument

A folder of MTEB has a file ``MODEL/REVISION/TASK.json`` for each result. If several revisions of a model have the same
task, the result of the latest version of mteb is used. The score is the mean of ``main_score`` over the subsets of the
split ``test`` (MSMARCO: ``dev``), or of the only split.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, compress
from pathlib import Path
from typing import Any, Self

import numpy as np

from rankscope.arrays import Bools, Floats
from rankscope.errors import InputError, suggest_names
from rankscope.json_documents import parse_json
from rankscope.read.score_rows import ScoreRows, open_score_rows
from rankscope.read.scores import build_tables, check_score, find_columns, melt, parse_name, parse_score
from rankscope.read.topic_data import read_topic_data

_COLUMNS = {
    "system": ("system", "model", "model_name", "run", "name"),
    "task": ("task", "task_name", "dataset", "collection"),
    "topic": ("topic", "topic_id", "qid", "query_id", "query"),
    "type": ("type", "task_type", "category"),
    "score": ("score", "value", "main_score"),
}
"""Names of the columns of a table with a row per score (case-insensitive), the score last."""
_SPLITS = {"MSMARCO": "dev"}
"""Splits of tasks whose scores MTEB does not take from ``test``."""
_MTEB = "give the folder results/ of MTEB, with MODEL/REVISION/TASK.json"


@dataclass(frozen=True, eq=False)
class TaskScores:
    """Scores of systems on tasks."""

    systems: tuple[str, ...]
    tasks: tuple[str, ...]
    topics: tuple[Floats, ...]
    """For each task an array of shape (systems, topics); a single column if there are no scores of topics."""
    types: tuple[str, ...] = ()
    """Type of each task; empty if unknown."""

    @classmethod
    def join(cls, matrices: Mapping[str, Any], first: Iterable[str] = ()) -> Self:
        """Join matrices of tasks by their runs, ``first`` some runs; a run that lacks a task has no score there."""
        systems = tuple(dict.fromkeys(chain(first, *(matrix.runs for matrix in matrices.values()))))
        topics = []
        for matrix in matrices.values():
            topics.append(np.full((len(systems), matrix.values.shape[1]), np.nan))
            topics[-1][[systems.index(run) for run in matrix.runs]] = matrix.values
        return cls(systems, tuple(matrices), tuple(topics))

    @cached_property
    def values(self) -> Floats:
        """Array of shape (systems, tasks): means over topics; NaN if a system lacks a topic, or the task."""
        return np.stack([topics.mean(axis=1) for topics in self.topics], axis=1)

    def select(self, systems: Bools, tasks: Bools) -> Self:
        """Return the scores of the systems and tasks of two masks."""
        parts = (self.systems, systems), (self.tasks, tasks), (self.topics, tasks), (self.types, tasks)
        names, kept, topics, types = (tuple(compress(*part)) for part in parts)
        return type(self)(names, kept, tuple(scores[systems] for scores in topics), types)


def read_task_scores(source: Any) -> TaskScores:
    r"""Read the scores of a file, a frame or a folder of MTEB results.

    >>> scores = read_task_scores(b"model,ArguAna,SciFact\nbm25,0.31,0.66\ndense,,0.71\n")
    >>> scores.systems, scores.tasks, scores.values.tolist()
    (('bm25', 'dense'), ('ArguAna', 'SciFact'), [[0.31, 0.66], [nan, 0.71]])
    """
    if isinstance(source, str | Path) and (folder := Path(source).expanduser()).is_dir():
        path, rows = str(folder), _read_mteb(folder)
    else:
        path, rows = open_score_rows(source, str.isalpha)
    columns = find_columns(rows.header, _COLUMNS)
    if not columns.keys() >= {"task", "score"}:
        rows, columns = melt(rows, [0]), {"system": 0, "task": 1, "score": 2}
    elif "system" not in columns:
        raise InputError("there is no column of systems", path=path, hint="name a column: system")
    scores: dict[str, dict[tuple[str, str], float]] = {}
    systems, types = dict[str, None](), dict[str, str]()
    for line, cells in rows.rows:
        *names, cell = (cells[columns[key]] if key in columns else "" for key in _COLUMNS)
        system, task, topic, kind = map(parse_name, names)
        if not system or not task:
            problem = f"a {'task' if system else 'system'} has no name"
            raise InputError(problem, path=path, line=line, hint="name every system and every task")
        if (system, topic) in scores.setdefault(task, {}):
            task_text = f"{task!r}, topic {topic!r}," if topic else f"{task!r}"
            hint = "give one score for every system and task, or a column of topics"
            problem = f"the score of {system!r} on {task_text} occurs twice"
            raise InputError(problem, path=path, line=line, hint=hint)
        if types.setdefault(task, kind) != kind:
            problem = f"task {task!r} has two types, {types[task]!r} and {kind!r}"
            raise InputError(problem, path=path, line=line, hint="give each task one type")
        systems[system] = None
        scores[task][system, topic] = check_score(parse_score(cell), cell, system, path, line)
    if not scores:
        raise InputError("there is no score", path=path, hint="separate the cells by commas or tabs")
    tables = {task: build_tables({task: own}, path)[task] for task, own in scores.items()}
    joined = TaskScores.join(tables, systems)
    named = {task: kind for task, kind in types.items() if kind}
    return replace(joined, types=read_task_types(named, joined.tasks)) if named else joined


def read_task_types(types: Any, tasks: Sequence[str]) -> tuple[str, ...]:
    """Return the type of each task, from a mapping or from a table with the columns ``task`` and ``type``."""
    label = str(types) if isinstance(types, str | Path) else "the types"
    if not isinstance(types, Mapping):
        rows = read_topic_data(types, "task").items()
        types = {task: cell for task, row in rows for name, cell in row.items() if name.lower() == "type"}
    for task in tasks:
        if not types.get(task):
            hint = suggest_names(task, types.keys() - {*tasks}) or "give every task a type"
            raise InputError(f"task {task!r} has no type", path=label, hint=hint)
    return tuple(str(types[task]).strip() for task in tasks)


def _read_mteb(folder: Path) -> ScoreRows:
    folder = folder / "results" if (folder / "results").is_dir() else folder
    paths = sorted({*folder.glob("*/*/*.json")} - {*folder.glob("*/*/model_meta.json")})
    if not paths:
        raise InputError("there is no result of MTEB", path=folder, hint=_MTEB)
    results = [_parse_mteb(path) for path in paths]
    scores = {key: score for _, key, score in results}
    scores |= {key: score for _, key, score in sorted(results, key=lambda result: result[0])}  # latest last
    return ScoreRows(["system", "task", "score"], [(None, [*key, score]) for key, score in scores.items()])


def _parse_mteb(path: Path) -> tuple[list[int], tuple[str, str], float]:
    """Return the version of mteb, the model and its task, and the score: the mean over the subsets of a split."""
    content: Any = parse_json(path.read_bytes(), path, _MTEB)
    splits = content.get("scores") if isinstance(content, dict) else None
    if not isinstance(splits, dict) or not splits:
        raise InputError("this is not a result of MTEB: it has no scores", path=path, hint=_MTEB)
    task = str(content.get("task_name") or path.stem)
    split = _SPLITS.get(task, "test")
    subsets = splits.get(split) if split in splits or len(splits) > 1 else next(iter(splits.values()))
    scores: Any = [subset.get("main_score") if isinstance(subset, dict) else None for subset in subsets or ()]
    if not scores or not all(type(score) in (int, float) and math.isfinite(score) for score in scores):
        problem = f"the split {split!r} has no main_score (there are {', '.join(map(str, splits))})"
        raise InputError(problem, path=path, hint="remove the file, or give a table of scores")
    version = [int(part) for part in re.findall(r"\d+", str(content.get("mteb_version")))]
    return version, (path.parts[-3], task), math.fsum(scores) / len(scores)
