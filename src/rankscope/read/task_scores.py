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

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rankscope.arrays import Floats
from rankscope.errors import InputError, suggest_names
from rankscope.json_documents import parse_json
from rankscope.read.score_rows import ScoreRows, open_score_rows
from rankscope.read.scores import check_score, parse_name, parse_score

_COLUMNS = {
    "system": ("system", "model", "model_name", "run", "name"),
    "task": ("task", "task_name", "dataset", "collection"),
    "score": ("score", "value", "main_score"),
    "topic": ("topic", "topic_id", "qid", "query_id", "query"),
    "type": ("type", "task_type", "category"),
}
"""Names of the columns of a table with a row per score (case-insensitive)."""
_SPLITS = {"MSMARCO": "dev"}
"""Splits of tasks whose scores MTEB does not take from ``test``."""
_MTEB = "give the folder results/ of MTEB, with MODEL/REVISION/TASK.json"


@dataclass(frozen=True, eq=False)
class TaskScores:
    """Scores of systems on tasks."""

    systems: tuple[str, ...]
    tasks: tuple[str, ...]
    values: Floats
    """Array of shape (systems, tasks); NaN for a missing score."""
    types: tuple[str, ...] = ()
    """Type of each task; empty if unknown."""
    topics: tuple[Floats, ...] = ()
    """For each task an array of shape (systems, topics); empty if there are no scores of topics."""

    def select(self, systems: Sequence[int], tasks: Sequence[int]) -> TaskScores:
        """Return the scores of some systems on some tasks."""
        return TaskScores(
            tuple(self.systems[s] for s in systems), tuple(self.tasks[t] for t in tasks),
            self.values[np.ix_(systems, tasks)], tuple(self.types[t] for t in tasks if self.types),
            tuple(self.topics[t][systems] for t in tasks if self.topics),
        )  # fmt: skip


def read_task_scores(source: Any) -> TaskScores:
    r"""Read the scores of a file, a frame or a folder of MTEB results.

    >>> scores = read_task_scores(b"model,ArguAna,SciFact\nbm25,0.31,0.66\ndense,,0.71\n")
    >>> scores.systems, scores.tasks, scores.values.tolist()
    (('bm25', 'dense'), ('ArguAna', 'SciFact'), [[0.31, 0.66], [nan, 0.71]])
    """
    if isinstance(source, str | Path) and Path(source).expanduser().is_dir():
        return _read_mteb(Path(source).expanduser())
    path, rows = open_score_rows(source, str.isalpha)
    scores: dict[tuple[str, str, str], float] = {}
    types: dict[str, str] = {}
    for line, system, task, topic, kind, cell in _iterate_cells(rows, path):
        if (system, task, topic) in scores:
            task_text = f"{task!r}, topic {topic!r}," if topic else f"{task!r}"
            hint = "give one score for every system and task, or a column of topics"
            problem = f"the score of {system!r} on {task_text} occurs twice"
            raise InputError(problem, path=path, line=line, hint=hint)
        if types.setdefault(task, kind) != kind:
            problem = f"task {task!r} has two types, {types[task]!r} and {kind!r}"
            raise InputError(problem, path=path, line=line, hint="give each task one type")
        scores[system, task, topic] = check_score(parse_score(cell), cell, system, path, line)
    return _build(scores, types, path)


def _iterate_cells(rows: ScoreRows, path: str) -> Iterator[tuple[int | None, str, str, str, str, Any]]:
    """Yield line, system, task, topic, type and score of each cell of a table; missing texts are empty."""
    names = [name.strip().lower() for name in rows.header]
    columns = {
        key: [names.index(name) for name in aliases if name in names][:1] for key, aliases in _COLUMNS.items()
    }
    if not (columns["task"] and columns["score"]):
        for line, cells in rows.rows:
            for task, cell in zip(rows.header[1:], cells[1:], strict=True):
                yield line, parse_name(cells[0]), task.strip(), "", "", cell
        return
    if not columns["system"]:
        raise InputError("there is no column of systems", path=path, hint="name a column: system")
    for line, cells in rows.rows:
        texts = [
            "".join(parse_name(cells[k]) for k in columns[key]) for key in ("system", "task", "topic", "type")
        ]
        yield line, texts[0], texts[1], texts[2], texts[3], cells[columns["score"][0]]


def read_task_types(types: Mapping[str, str] | str | Path, tasks: Sequence[str]) -> tuple[str, ...]:
    """Return the type of each task, from a mapping or from a table with the columns ``task`` and ``type``."""
    label = "the types"
    if not isinstance(types, Mapping):
        label, rows = open_score_rows(types, str.isalpha)
        names = [name.strip().lower() for name in rows.header]
        if not {"task", "type"} <= set(names):
            hint = "begin the file with: task,type"
            raise InputError("there is no column of tasks and types", path=label, hint=hint)
        columns = names.index("task"), names.index("type")
        types = {parse_name(cells[columns[0]]): parse_name(cells[columns[1]]) for _, cells in rows.rows}
    for task in tasks:
        if not types.get(task):
            hint = suggest_names(task, types) or "give every task a type"
            raise InputError(f"task {task!r} has no type", path=label, hint=hint)
    return tuple(types[task] for task in tasks)


def _build(scores: Mapping[tuple[str, str, str], float], types: Mapping[str, str], path: str) -> TaskScores:
    """Build the matrix of each task; a system that lacks a topic of a task has no score on the task."""
    if not scores:
        raise InputError("there is no score", path=path, hint="give a system, a task and a score in each row")
    systems, tasks, all_topics = (tuple(dict.fromkeys(key[side] for key in scores)) for side in range(3))
    row = {system: index for index, system in enumerate(systems)}
    columns: dict[str, dict[str, int]] = {task: {} for task in tasks}
    for _, task, topic in scores:
        columns[task].setdefault(topic, len(columns[task]))
    topics = {task: np.full((len(systems), len(columns[task])), math.nan) for task in tasks}
    for (system, task, topic), score in scores.items():
        topics[task][row[system], columns[task][topic]] = score
    values = np.stack([matrix.mean(axis=1) for matrix in topics.values()], axis=1)
    kinds = tuple(types.get(task, "") for task in tasks)
    return TaskScores(
        systems, tasks, values, kinds if all(kinds) else (), tuple(topics.values()) if any(all_topics) else ()
    )


def _read_mteb(folder: Path) -> TaskScores:
    folder = folder / "results" if (folder / "results").is_dir() else folder
    newest: dict[tuple[str, str, str], tuple[list[int], float]] = {}
    for path in sorted(folder.glob("*/*/*.json")):
        if path.name == "model_meta.json":
            continue
        content = parse_json(path.read_bytes(), path, _MTEB)
        task, score = _parse_mteb(content, path)
        version = [int(part) for part in re.findall(r"\d+", str(content.get("mteb_version")))]
        key = path.parts[-3], task, ""
        if key not in newest or newest[key][0] <= version:
            newest[key] = version, score
    if not newest:
        raise InputError("there is no result of MTEB", path=folder, hint=_MTEB)
    return _build({key: score for key, (_, score) in newest.items()}, {}, str(folder))


def _parse_mteb(content: Any, path: Path) -> tuple[str, float]:
    """Return the task and its score, the mean over the subsets of a split."""
    splits = content.get("scores") if isinstance(content, dict) else None
    if not isinstance(splits, dict) or not splits:
        raise InputError("this is not a result of MTEB: it has no scores", path=path, hint=_MTEB)
    task = str(content.get("task_name") or path.stem)
    split = _SPLITS.get(task, "test")
    subsets = splits.get(split) if split in splits or len(splits) > 1 else next(iter(splits.values()))
    scores: list[Any] = [
        subset.get("main_score") if isinstance(subset, dict) else None for subset in subsets or ()
    ]
    if not scores or not all(type(score) in (int, float) and math.isfinite(score) for score in scores):
        problem = f"the split {split!r} has no main_score (there are {', '.join(map(str, splits))})"
        raise InputError(problem, path=path, hint="remove the file, or give a table of scores")
    return task, math.fsum(scores) / len(scores)
