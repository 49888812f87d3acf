"""Read the metadata in the first comments of a run: the headers of ir_metadata (Breuer et al. 2022).

    # ir_metadata.start
    # tag: bm25
    # method:
    #   retrieval:
    #     - name: bm25
    # ir_metadata.end

The notation is a subset of YAML: keys, texts, and lists with one item per line.
"""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Mapping
from typing import Any

from rankscope.read.source import Source, iterate_lines

_START, _END = "ir_metadata.start", "ir_metadata.end"
_MAX_HEADER = 1 << 20  # bytes
_KEY = re.compile(r"""("[^"]*"|'[^']*'|[^\s#'"-][^:#]*?)\s*:(?:\s+(.*))?""")
_NAMES = (("tag",), ("run",), ("method", "name"), ("name",))


def read_metadata(source: Source) -> dict[str, Any]:
    """Return the metadata of a text; empty without a header."""
    if not source.head().removeprefix(BOM_UTF8).startswith(b"#"):
        return {}
    header: list[str] = []
    size = 0
    for _, line in iterate_lines(source.line_blocks()):
        text = line.decode("utf-8", "replace").rstrip()
        size += len(line)
        if (text and not text.startswith("#")) or size > _MAX_HEADER:
            return {}
        comment = text.removeprefix("#")
        if comment.strip() == _END:
            return parse_metadata(header[1:]) if header else {}
        if header or comment.strip() == _START:
            header.append(comment.removeprefix(" "))
    return {}


def parse_metadata(lines: list[str]) -> dict[str, Any]:
    """Parse keys, texts, and lists with one item per line.

    >>> parse_metadata(["tag: bm25", "method:", "  retrieval:", "    - name: bm25", "      k1: 0.9", "    - rm3"])
    {'tag': 'bm25', 'method': {'retrieval': [{'name': 'bm25', 'k1': '0.9'}, 'rm3']}}
    """
    rows = []
    for line in lines:
        text = line.strip()
        while text.startswith("- ") and _KEY.fullmatch(text[2:].strip()):  # an object in a list
            rows.append((len(line) - len(line.lstrip()), "-"))
            line = line.replace("- ", "  ", 1)
            text = line.strip()
        if text and not text.startswith("#"):
            rows.append((len(line) - len(line.lstrip()), text))
    content, _ = _parse_block(rows, 0, rows[0][0]) if rows else ({}, 0)
    return content if isinstance(content, dict) else {}


def _parse_block(rows: list[tuple[int, str]], row: int, indent: int) -> tuple[Any, int]:
    """Parse the rows from ``row`` on with at least this indent; return their value and the next row."""
    content: Any = [] if rows[row][1].startswith("-") else {}
    while row < len(rows) and rows[row][0] >= indent:
        text = rows[row][1]
        if isinstance(content, list) and rows[row][0] == indent and not text.startswith("-"):
            break  # a list may have the same indent as its key
        if text.startswith("-") and isinstance(content, list):
            if text == "-" and row + 1 < len(rows) and rows[row + 1][0] > indent:
                value, row = _parse_block(rows, row + 1, rows[row + 1][0])
            else:
                value, row = _unquote(text[1:]), row + 1
            content.append(value)
            continue
        match = _KEY.fullmatch(text)
        row += 1
        if match is None or isinstance(content, list):
            continue  # notation that is not supported
        has_block = row < len(rows) and (
            rows[row][0] > indent or (rows[row][0] == indent and rows[row][1].startswith("-"))
        )
        if not match[2] and has_block:
            content[_unquote(match[1])], row = _parse_block(rows, row, rows[row][0])
        else:
            content[_unquote(match[1])] = _unquote(match[2] or "")
    return content, row


def _unquote(text: str) -> str:
    text = text.strip()
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" else text


def run_name_in_metadata(metadata: Mapping[str, Any]) -> str | None:
    """Return the name of the run in its metadata, or None.

    >>> run_name_in_metadata({"method": {"name": "bm25"}}), run_name_in_metadata({"actor": {"name": "Mary"}})
    ('bm25', None)
    """
    for keys in _NAMES:
        value: Any = metadata
        for key in keys:
            value = value.get(key) if isinstance(value, dict) else None
        if isinstance(value, str) and value:
            return value
    return None
