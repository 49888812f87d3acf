"""Read judgments and runs from files of other formats than TREC, as from frames."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rankscope.errors import InputError, error_path
from rankscope.read.arrow_files import arrow_names, read_arrow
from rankscope.read.columns import Lines
from rankscope.read.delimited import read_bare_columns, read_delimited
from rankscope.read.formats import find_separator, first_data_line
from rankscope.read.frames import column_meaning, find_column, is_table
from rankscope.read.json_lists import SPLIT, read_json_lines, read_json_lists
from rankscope.read.source import Source

if TYPE_CHECKING:
    from rankscope.read.qrels import Qrels


def read_judgments(source: Source, file_format: str, aspects: bool | None = None) -> Qrels:
    """Read the judgments of a file of a format."""
    from rankscope.read.qrels import Qrels

    with error_path(source.label):
        content, lines = _read_content(source, file_format, "qrels")[""]
        if is_table(content) or not isinstance(content, Mapping):
            qrels = Qrels.from_frame(content, aspects=aspects, path=source.label, lines=lines)
        else:
            qrels = Qrels.from_dict(content)
    return replace(qrels, path=source.label, format=file_format)


def read_named_runs(source: Source, file_format: str) -> dict[str, dict[str, Any]]:
    """Read the runs of a file: fields of a ``Run`` by name. The name of a single unnamed run is empty."""
    from rankscope.read.runs import Run, split_table

    with error_path(source.label):
        fields: dict[str, dict[str, Any]] = {}
        for name, (content, lines) in _read_content(source, file_format, "run").items():
            if isinstance(content, Mapping) and not is_table(content):
                run = Run.from_dict(content)
                run.validate()  # here, where errors name the file
                fields[name] = {"data": run.data}
            else:
                rows_by_run = split_table(content, lines, source.label)
                fields |= {part: {"rows": rows} for part, rows in rows_by_run.items()}
    return fields


def read_single_run(source: Source, file_format: str) -> dict[str, Any]:
    """Read the only run of a file."""
    runs = read_named_runs(source, file_format)
    if len(runs) != 1:
        hint = "open it with read_runs, or by name"
        raise InputError(f"the file has {len(runs)} runs", path=source.label, hint=hint)
    return next(iter(runs.values()))


def may_name_runs(source: Source, file_format: str) -> bool:
    """Return whether the first lines of a file have names of runs."""
    if file_format in ("csv", "tsv"):
        text = first_data_line(source.head())
        names = [name.strip().strip('"') for name in text.split(find_separator(text))]
        return find_column("run", names) is not None
    if file_format in ("json", "jsonl"):
        return _json_names_runs(source.head())
    return (
        file_format in ("parquet", "arrow")
        and find_column("run", arrow_names(source, file_format)) is not None
    )


_KEY = rb'"((?:[^"\\]|\\.)*)"\s*:\s*'
_NESTED = re.compile(rb"\s*\{\s*" + _KEY + rb"\{\s*" + _KEY + rb"\{")
_OBJECT = re.compile(rb"\s*\[?\s*(\{[^{}]*)", re.DOTALL)


def _json_names_runs(head: bytes) -> bool:
    nested = _NESTED.match(head)
    if nested:
        return not SPLIT.fullmatch(nested[1].decode("utf-8", "replace"))
    first = _OBJECT.match(head)
    names = re.findall(_KEY, first[1]) if first else []
    return any(column_meaning(name.decode("utf-8", "replace")) == "run" for name in names)


def _read_content(source: Source, file_format: str, kind: str) -> dict[str, tuple[Any, Lines | None]]:
    """Return tables with the lines of their rows, if known, or rankings by topic, by the name of the run.

    The name is empty if the file does not name runs.
    """
    if file_format in ("csv", "tsv", "beir"):
        separator = "\t" if file_format == "beir" else find_separator(first_data_line(source.head()))
        return {"": read_delimited(source, separator, kind)}
    if file_format == "columns":
        return {"": read_bare_columns(source, kind)}
    if file_format == "jsonl":
        return {"": read_json_lines(source, kind)}
    if file_format in ("parquet", "arrow"):
        return {"": (read_arrow(source, file_format, kind), None)}
    return {name: (content, None) for name, content in read_json_lists(source, kind).items()}
