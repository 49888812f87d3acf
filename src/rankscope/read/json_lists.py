"""Runs and judgments in JSON: lists by topic (pytrec_eval, ranx, BEIR, MTEB), rows, or one object a line."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from rankscope.errors import InputError
from rankscope.json_documents import parse_json
from rankscope.read.delimited import FileTable, file_table, require
from rankscope.read.frames import WANTED, found_column, is_table
from rankscope.read.ids import id_text
from rankscope.read.source import Source, whole_lines

__all__ = ["SPLIT", "read_json_lines", "read_json_lists"]

SPLIT = re.compile(r"(?i)(train|dev|test|validation|val|eval|default)(\W.*|\d*)")
_ABOUT = ("mteb_model_meta",)
_LINES = 'give one object a line, such as {"qid": "1", "docno": "d1", "score": 0.5}'
_HINT = "give {topic: {document: number}}, a list of rows, or an object with such columns"


def read_json_lists(source: Source, kind: str) -> dict[str, Any]:
    """What a JSON document holds, by run: lists by topic, or a table. A single run, and judgments, have no name.

    >>> read_json_lists(Source.of(b'{"test": {"q1": {"d1": 0.5}}}'), "run")
    {'': {'q1': {'d1': 0.5}}}
    >>> read_json_lists(Source.of(b'{"bm25": {"q1": {"d1": 0.5}}, "dense": {"q1": {"d1": 1}}}'), "run").keys()
    dict_keys(['bm25', 'dense'])
    """
    content = parse_json(b"".join(source.held_blocks()), source.label, _HINT)
    if isinstance(content, list):
        if content and all(isinstance(row, dict) for row in content):
            return {"": _same_names(content, source.label)}
    elif isinstance(content, dict):
        content = {name: value for name, value in content.items() if name not in _ABOUT}
        if is_table(content) or _has_columns(content):
            return {"": _by_rows(content)}
        depth = _depth(content)
        if depth == 4 or (depth == 3 and all(map(SPLIT.fullmatch, content))):
            return {"": _together(content, depth, source.label)}
        if depth == 3 and kind == "run":
            return content
        if depth in (2, 3):
            return {"": {topic: _as_scores(listed) for topic, listed in content.items()}}
    raise InputError("this JSON holds no lists of documents", path=source.label, hint=_HINT)


def read_json_lines(source: Source, kind: str) -> FileTable:
    r"""The columns of objects, one a line.

    >>> read_json_lines(Source.of(b'{"qid": 1, "docno": "d1", "score": 2}\n'), "run").columns
    {'query_id': [1], 'doc_id': ['d1'], 'score': array([2.])}
    """
    names: dict[str, str] = {}
    columns: dict[str, list[Any]] = {}
    numbers: list[int] = []
    before = 0
    for block in whole_lines(source.line_blocks(held=True)):
        for number, line in enumerate(block.split(b"\n")[:-1], before + 1):
            if not line.strip() or (not numbers and line.startswith(b"#")):
                continue
            row = parse_json(line, source.label, _LINES, number)
            if not isinstance(row, dict):
                raise InputError("the line is not an object", path=source.label, line=number, hint=_LINES)
            if not numbers:
                found = {meaning: found_column(meaning, list(row)) for meaning in WANTED[kind]}
                names = {meaning: name for meaning, name in found.items() if name is not None}
                require(names, kind, source.label, number, list(row))
                columns = {meaning: [] for meaning in names}
            for meaning, name in names.items():
                columns[meaning].append(row.get(name))
            numbers.append(number)
        before += block.count(b"\n")
    if not numbers:
        raise InputError("there is no line with data", path=source.label, hint=_LINES)
    return file_table(columns, numbers, source.label)


def _as_scores(listed: Any) -> Any:
    """A list of pairs of documents and scores as an object; anything else as it is."""
    if isinstance(listed, list) and listed and all(isinstance(one, list) and len(one) == 2 for one in listed):
        found = {id_text(document, "document"): score for document, score in listed}
        return found if len(found) == len(listed) else [document for document, _ in listed]
    return listed


def _same_names(rows: list[dict[str, Any]], path: str) -> list[dict[str, Any]]:
    for number, row in enumerate(rows, 1):
        if set(row) != set(rows[0]):
            what = f"row {number} has other columns than the first one"
            raise InputError(what, path=path, hint="give every row the same columns")
    return rows


def _has_columns(content: Mapping[str, Any]) -> bool:
    """Whether these are columns by row number, as pandas writes them."""
    return all(isinstance(value, dict) for value in content.values()) and is_table(
        {name: list(value.values()) for name, value in content.items()}
    )


def _by_rows(content: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: list(value.values()) if isinstance(value, dict) else value for name, value in content.items()
    }


def _depth(content: Any) -> int:
    """How many names lead to a number, or to a list of documents."""
    depth = 0
    while isinstance(content, dict):
        filled = [value for value in content.values() if value not in ({}, [])]
        depth += 1
        if not filled:
            return 2 if depth == 1 and content else depth
        content = filled[0]
    return depth + isinstance(content, list)


def _together(content: Mapping[str, Any], depth: int, path: str) -> dict[str, Any]:
    """The topics of all splits (and of all parts of a task), each of which has its own."""
    if depth == 2:
        return dict(content)
    found: dict[str, Any] = {}
    for name, part in content.items():
        if not isinstance(part, dict):
            raise InputError(f"{name!r} has no lists by topic", path=path, hint=_HINT)
        for topic, documents in _together(part, depth - 1, path).items():
            if topic in found:
                what = f"topic {topic!r} occurs in several splits"
                raise InputError(what, path=path, hint="keep one split in the file")
            found[topic] = documents
    return found
