"""Read runs and judgments in JSON: rankings by topic (pytrec_eval, ranx, BEIR, MTEB), rows, or one object per line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from rankscope.errors import InputError
from rankscope.json_documents import parse_json
from rankscope.read.delimited import FileTable, find_file_columns, parse_columns
from rankscope.read.frames import is_table
from rankscope.read.ids import id_text
from rankscope.read.nuggets import iterate_nuggets
from rankscope.read.source import Source, iterate_lines

SPLIT = re.compile(r"(?i)(train|dev|test|validation|val|eval|default)(\W.*|\d*)")
_METADATA = ("mteb_model_meta",)
_LINES = 'give one object per line, such as {"qid": "1", "docno": "d1", "score": 0.5}'
_HINT = "give {topic: {document: number}}, a list of rows, or an object with such columns"


def read_json_lists(source: Source, kind: str) -> dict[str, Any]:
    """Return rankings by topic, or a table, by the name of the run; empty for a single run and for judgments.

    >>> read_json_lists(Source.open(b'{"test": {"q1": {"d1": 0.5}}}'), "run")
    {'': {'q1': {'d1': 0.5}}}
    >>> read_json_lists(Source.open(b'{"bm25": {"q1": {"d1": 0.5}}, "dense": {"q1": {"d1": 1}}}'), "run").keys()
    dict_keys(['bm25', 'dense'])
    """
    content = parse_json(b"".join(source.memory_blocks()), source.label, _HINT)
    if isinstance(content, list):
        if content and all(isinstance(row, dict) for row in content):
            return {"": _check_columns(content, source.label)}
    elif isinstance(content, dict):
        content = {name: value for name, value in content.items() if name not in _METADATA}
        # pandas writes a column as an object of rows by their numbers.
        lists = {
            name: list(rows.values()) if isinstance(rows, dict) else rows for name, rows in content.items()
        }
        is_nested = all(isinstance(value, dict) for value in content.values())
        if is_table(content) or (is_nested and is_table(lists)):
            return {"": lists}
        depth = _depth(content)
        if depth == 4 or (depth == 3 and all(map(SPLIT.fullmatch, content))):
            return {"": _merge_splits(content, depth, source.label)}
        if depth == 3 and kind == "run":
            return content
        if depth in (2, 3):
            return {"": {topic: _pairs_to_scores(ranking) for topic, ranking in content.items()}}
    raise InputError("this JSON has no rankings of documents", path=source.label, hint=_HINT)


def iterate_objects(source: Source, hint: str, *, skip_comments: bool = False) -> Iterator[tuple[int, Any]]:
    """Yield number and object of every line with data of JSON lines, optionally after comments."""
    for number, line in iterate_lines(source.line_blocks(in_memory=True)):
        if not line.strip() or (skip_comments and line.startswith(b"#")):
            continue
        row = parse_json(line, source.label, hint, number)
        if not isinstance(row, dict):
            raise InputError("the line is not an object", path=source.label, line=number, hint=hint)
        skip_comments = False
        yield number, row


def read_json_lines(source: Source, kind: str) -> FileTable:
    r"""Read the columns of JSON lines.

    >>> read_json_lines(Source.open(b'{"qid": 1, "docno": "d1", "score": 2}\n'), "run").columns
    {'query_id': [1], 'doc_id': ['d1'], 'score': array([2.])}
    """
    names: dict[str, str] = {}
    columns: dict[str, list[Any]] = {}
    numbers: list[int] = []
    objects = iterate_objects(source, _LINES, skip_comments=True)
    first: tuple[int, Any] = next(objects, (0, {}))
    if kind == "qrels" and "nuggets" in first[1]:
        return _read_assignments(chain((first,), objects), source.label)
    for number, row in chain((first,), objects) if first[0] else ():
        if not numbers:
            names = find_file_columns(list(row), kind, source.label, number)
            columns = {meaning: [] for meaning in names}
        for meaning, name in names.items():
            columns[meaning].append(row.get(name))
        numbers.append(number)
    if not numbers:
        raise InputError("there is no line with data", path=source.label, hint=_LINES)
    return parse_columns(columns, numbers, source.label)


def _read_assignments(objects: Iterable[tuple[int, Any]], path: str) -> FileTable:
    """Return the assignments of nuggets as judgments: a document is a nugget of a run, its grade the support."""
    rows = [
        (nuggets.topic, f"{nuggets.run}:{index}", grade, nuggets.line)
        for nuggets in iterate_nuggets(objects, path)
        for index, grade in enumerate(nuggets.grades, 1)
    ]
    topics, documents, grades, lines = map(list, zip(*rows, strict=True)) if rows else ([], [], [], [])
    return parse_columns({"query_id": topics, "doc_id": documents, "relevance": grades}, lines, path)


def _pairs_to_scores(ranking: Any) -> Any:
    """Return a list of [document, score] pairs as a dict, and any other value unchanged."""
    if not isinstance(ranking, list) or not ranking:
        return ranking
    if not all(isinstance(pair, list) and len(pair) == 2 for pair in ranking):
        return ranking
    scores = {id_text(document, "document"): score for document, score in ranking}
    return scores if len(scores) == len(ranking) else [document for document, _ in ranking]


def _check_columns(rows: list[dict[str, Any]], path: str) -> list[dict[str, Any]]:
    for number, row in enumerate(rows, 1):
        if set(row) != set(rows[0]):
            problem = f"row {number} has different columns from the first row"
            raise InputError(problem, path=path, hint="give every row the same columns")
    return rows


def _depth(content: Any) -> int:
    """Return the depth of nesting above numbers, or lists of documents."""
    depth = 0
    while isinstance(content, dict):
        values = [value for value in content.values() if value not in ({}, [])]
        depth += 1
        if not values:
            return 2 if depth == 1 and content else depth
        content = values[0]
    return depth + isinstance(content, list)


def _merge_splits(content: Mapping[str, Any], depth: int, path: str) -> dict[str, Any]:
    """Merge the topics of all splits (and of all parts of a task)."""
    if depth == 2:
        return dict(content)
    topics: dict[str, Any] = {}
    for name, part in content.items():
        if not isinstance(part, dict):
            raise InputError(f"{name!r} has no rankings by topic", path=path, hint=_HINT)
        for topic, documents in _merge_splits(part, depth - 1, path).items():
            if topic in topics:
                problem = f"topic {topic!r} occurs in several splits"
                raise InputError(problem, path=path, hint="keep one split in the file")
            topics[topic] = documents
    return topics
