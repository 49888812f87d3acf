"""What a run says about itself in the comments at its beginning: the headers of ir_metadata (Breuer and others 2022).

    # ir_metadata.start
    # tag: bm25
    # method:
    #   retrieval:
    #     - name: bm25
    # ir_metadata.end

The notation is that of YAML, of which keys, texts and lists in lines of their own are understood.
"""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Mapping
from typing import Any

from rankscope.read.source import Source, whole_lines

__all__ = ["metadata_in", "name_in", "parse_metadata"]

_START, _END = "ir_metadata.start", "ir_metadata.end"
_MOST = 1 << 20  # bytes of a header
_KEY = re.compile(r"""("[^"]*"|'[^']*'|[^\s#'"-][^:#]*?)\s*:(?:\s+(.*))?""")
_NAMES = (("tag",), ("run",), ("method", "name"), ("name",))


def metadata_in(source: Source, head: bytes) -> dict[str, Any]:
    """What the header of a text says, which begins with these bytes; nothing if it has none."""
    if not head.removeprefix(BOM_UTF8).startswith(b"#"):
        return {}
    found: list[str] = []
    size = 0
    for block in whole_lines(source.line_blocks()):
        for line in block.split(b"\n")[:-1]:
            text = line.decode("utf-8", "replace").rstrip()
            size += len(line)
            if (text and not text.startswith("#")) or size > _MOST:
                return {}
            said = text.removeprefix("#").strip()
            if said == _END:
                return parse_metadata(found[1:]) if found else {}
            if found or said == _START:
                found.append(text.removeprefix("#").removeprefix(" "))
    return {}


def parse_metadata(lines: list[str]) -> dict[str, Any]:
    """Keys, texts and lists in lines of their own.

    >>> parse_metadata(["tag: bm25", "method:", "  retrieval:", "    - name: bm25", "      k1: 0.9", "    - rm3"])
    {'tag': 'bm25', 'method': {'retrieval': [{'name': 'bm25', 'k1': '0.9'}, 'rm3']}}
    """
    rows = []
    for line in lines:
        text = line.strip()
        while text.startswith("- ") and _KEY.fullmatch(text[2:].strip()):  # an object in a list begins
            rows.append((len(line) - len(line.lstrip()), "-"))
            line = line.replace("- ", "  ", 1)
            text = line.strip()
        if text and not text.startswith("#"):
            rows.append((len(line) - len(line.lstrip()), text))
    found, _ = _block(rows, 0, rows[0][0]) if rows else ({}, 0)
    return found if isinstance(found, dict) else {}


def _block(rows: list[tuple[int, str]], at: int, indent: int) -> tuple[Any, int]:
    """The rows from a place on that are indented as much, as one value, and where the next one begins."""
    found: Any = [] if rows[at][1].startswith("-") else {}
    while at < len(rows) and rows[at][0] >= indent:
        text = rows[at][1]
        if isinstance(found, list) and rows[at][0] == indent and not text.startswith("-"):
            break  # a list may stand as far left as its key
        inner = at + 1 < len(rows) and rows[at + 1][0] > indent
        if text.startswith("-") and isinstance(found, list):
            value: Any = _text(text[1:].strip())
            if text == "-" and inner:
                value, at = _block(rows, at + 1, rows[at + 1][0])
            else:
                at += 1
            found.append(value)
            continue
        match = _KEY.fullmatch(text)
        at += 1
        if match is None or isinstance(found, list):
            continue  # not a notation that is understood here
        begins = at < len(rows) and (
            rows[at][0] > indent or (rows[at][0] == indent and rows[at][1].startswith("-"))
        )
        if not match[2] and begins:
            found[_text(match[1])], at = _block(rows, at, rows[at][0])
        else:
            found[_text(match[1])] = _text(match[2] or "")
    return found, at


def _text(written: str) -> str:
    text = written.strip()
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" else text


def name_in(metadata: Mapping[str, Any]) -> str | None:
    """How a header calls its run.

    >>> name_in({"method": {"name": "bm25"}}), name_in({"actor": {"name": "Mary"}})
    ('bm25', None)
    """
    for keys in _NAMES:
        value: Any = metadata
        for key in keys:
            value = value.get(key) if isinstance(value, dict) else None
        if isinstance(value, str) and value:
            return value
    return None
