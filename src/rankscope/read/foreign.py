"""Files of other formats than TREC: judgments and runs out of them, as if their rows had been a frame."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rankscope.errors import InputError, error_path
from rankscope.read.arrow_files import arrow_names, read_arrow
from rankscope.read.columns import RunColumns, Texts
from rankscope.read.delimited import FileTable, read_bare_columns, read_delimited
from rankscope.read.formats import data_lines, separator_of
from rankscope.read.frames import found_column, meaning_of
from rankscope.read.json_lists import SPLIT, read_json_lines, read_json_lists
from rankscope.read.source import Source

if TYPE_CHECKING:
    from rankscope.read.qrels import Qrels

__all__ = ["judgments_in", "may_hold_several", "run_in", "runs_in"]


def judgments_in(source: Source, form: str, aspects: bool | None = None) -> Qrels:
    """The judgments in a file of a format."""
    from rankscope.read.qrels import Qrels

    with error_path(source.label):
        content = _contents(source, form, "qrels")[""]
        if isinstance(content, FileTable):
            columns = content.columns
            iterations = columns.get("iteration")
            found = Qrels.from_columns(
                Texts.of(columns["query_id"], "query_id").pieces(),
                None if iterations is None else Texts.of(iterations, "iteration").pieces(),
                Texts.of(columns["doc_id"], "doc_id").pieces(),
                columns["relevance"].astype("int32"),
                lines=content.lines,
                path=source.label,
                aspects=aspects,
            )
        elif _is_lists(content):
            found = Qrels.from_dict(content)
        else:
            found = Qrels.from_frame(content, aspects=aspects)
    return replace(found, path=source.label, format=form)


def runs_in(source: Source, form: str) -> dict[str, dict[str, Any]]:
    """The runs in a file of a format by name: what each holds, for the fields of a Run. A single one has no name."""
    from rankscope.read.runs import Run, Runs

    with error_path(source.label):
        found: dict[str, dict[str, Any]] = {}
        for name, content in _contents(source, form, "run").items():
            if isinstance(content, FileTable):
                columns = RunColumns.of(content.columns, content.lines, source.label)
                if "run" not in content.columns:
                    return {"": {"rows": columns}}
                each = columns.split(Texts.of(content.columns["run"], "run"))
                return {run: {"rows": one} for run, one in each.items()}
            if _is_lists(content):
                found[name] = {"memory": Run.from_dict(content).memory}
            else:
                runs = Runs.from_frame(content)
                alone = list(runs) == ["run"] and found_column("run", list(_names(content))) is None
                for run, one in runs.items():
                    assert one.rows is not None
                    found["" if alone else run] = {"rows": replace(one.rows, path=source.label)}
    return found


def run_in(source: Source, form: str) -> dict[str, Any]:
    """The only run in a file."""
    found = runs_in(source, form)
    if len(found) != 1:
        raise InputError(
            f"the file holds {len(found)} runs", path=source.label, hint="open it with read_runs, or by name"
        )
    return next(iter(found.values()))


def may_hold_several(source: Source, form: str) -> bool:
    """Whether the first lines of a file say that it names its runs."""
    if form in ("csv", "tsv"):
        lines = data_lines(source.head())
        text = lines[0].decode("utf-8", "replace") if lines else ""
        names = [name.strip().strip('"') for name in text.split(separator_of(text))]
        return found_column("run", names) is not None
    if form in ("json", "jsonl"):
        return _json_names_runs(source.head())
    return form in ("parquet", "arrow") and found_column("run", arrow_names(source, form)) is not None


_KEY = rb'"((?:[^"\\]|\\.)*)"\s*:\s*'
_NESTED = re.compile(rb"\s*\{\s*" + _KEY + rb"\{\s*" + _KEY + rb"\{")
_OBJECT = re.compile(rb"\s*\[?\s*(\{[^{}]*)", re.DOTALL)


def _json_names_runs(head: bytes) -> bool:
    nested = _NESTED.match(head)
    if nested:
        return not SPLIT.fullmatch(nested[1].decode("utf-8", "replace"))
    first = _OBJECT.match(head)
    names = re.findall(_KEY, first[1]) if first else []
    return any(meaning_of(name.decode("utf-8", "replace")) == "run" for name in names)


def _contents(source: Source, form: str, kind: str) -> dict[str, Any]:
    """What a file holds, by run: a table, or lists by topic. Without names there is one, called nothing."""
    if form in ("csv", "tsv", "beir"):
        lines = data_lines(source.head())
        separator = (
            "\t" if form == "beir" else separator_of(lines[0].decode("utf-8", "replace") if lines else "")
        )
        return {"": read_delimited(source, separator, kind)}
    if form == "columns":
        return {"": read_bare_columns(source, kind)}
    if form == "jsonl":
        return {"": read_json_lines(source, kind)}
    if form in ("parquet", "arrow"):
        return {"": read_arrow(source, form, kind)}
    return read_json_lists(source, kind)


def _is_lists(content: Any) -> bool:
    """Whether this is ``{topic: {document: ...}}`` rather than a table."""
    from rankscope.read.frames import is_table

    return isinstance(content, Mapping) and not is_table(content)


def _names(content: Any) -> Any:
    from rankscope.read.frames import names_of

    if isinstance(content, list):
        return content[0]
    return names_of(content)
