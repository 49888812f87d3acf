"""Parquet, Arrow and Feather: files, streams, and directories of parts, also with columns in the names of folders."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankscope.errors import InputError, MissingDependencyError
from rankscope.read.frames import COLUMNS, WANTED, found_column
from rankscope.read.packing import LONGEST_MAGIC
from rankscope.read.source import Source

if TYPE_CHECKING:
    import pyarrow

__all__ = ["arrow_names", "dataset_format", "read_arrow", "read_arrow_columns"]

_MAGIC = {b"PAR1": "parquet", b"ARROW1": "arrow", b"FEA1": "arrow"}
_PART = re.compile(r"part-.*|.*-\d{5}-of-\d{5}\b.*")
_MARKS = ("_SUCCESS", "_metadata", "_common_metadata")
_DAMAGED = "copy or write the file again"


def dataset_format(folder: Path) -> str | None:
    """The format of a directory that is one table in parts, as Spark, Dask, Arrow and Hugging Face write them.

    Such a directory has folders called ``column=value``, a mark such as ``_SUCCESS``, or nothing but files called
    ``part-...`` or ``...-00000-of-00002...``; all its files are Parquet, or all Arrow. Any other holds runs.
    """
    entries = [entry for entry in sorted(folder.iterdir()) if not entry.name.startswith(".")]
    files = [entry for entry in entries if entry.is_file() and not entry.name.startswith("_")]
    folders = [entry for entry in entries if entry.is_dir() and "=" in entry.name]
    marked = any(entry.name in _MARKS for entry in entries)
    if not folders and not (files and (marked or all(_PART.fullmatch(file.name) for file in files))):
        return None
    formats = {_format_of(part) for part in _parts(folder)}
    return formats.pop() if len(formats) == 1 else None


def _parts(folder: Path) -> list[Path]:
    """The files of a table in parts; what begins with a dot or an underline is none."""
    found = []
    for entry in sorted(folder.iterdir()):
        if not entry.name.startswith((".", "_")):
            found += _parts(entry) if entry.is_dir() else [entry]
    return found


def _format_of(part: Path) -> str | None:
    with part.open("rb") as file:
        head = file.read(LONGEST_MAGIC)
    return next((name for magic, name in _MAGIC.items() if head.startswith(magic)), None)


def arrow_names(source: Source, form: str) -> list[str]:
    """The names of the columns, without reading them."""
    return list(_opened(source, form).schema.names)


def read_arrow_columns(source: Source, form: str) -> pyarrow.Table:
    """All columns, as an Arrow table."""
    table = _opened(source, form)
    return _taken(table, list(table.schema.names), source.label)


def read_arrow(source: Source, form: str, kind: str) -> pyarrow.Table:
    """The columns that mean something in a run or in judgments, as an Arrow table."""
    label = source.label
    table = _opened(source, form)
    names = list(table.schema.names)
    wanted = [found_column(meaning, names) for meaning in WANTED[kind]]
    chosen = [name for name in dict.fromkeys(wanted) if name is not None]
    if not chosen:
        called = ", ".join(COLUMNS["query_id"])
        what = f"there is no column for query_id ({called})"
        raise InputError(what, path=label, hint=f"rename one of: {', '.join(names) or 'none'}")
    return _taken(table, chosen, label)


def _taken(table: Any, chosen: list[str], label: str) -> pyarrow.Table:
    try:
        found: pyarrow.Table = (
            table.to_table(columns=chosen) if hasattr(table, "to_table") else table.select(chosen)
        )
        return found
    except (OSError, ValueError, KeyError) as error:  # those of pyarrow are among these
        raise InputError(f"cannot be read ({_first_line(error)})", path=label, hint=_DAMAGED) from None


def _opened(source: Source, form: str) -> Any:
    """A dataset, of which nothing but the schema has been read, or a table."""
    try:
        from pyarrow import dataset
    except ImportError:
        label = source.label
        missing = MissingDependencyError.for_package("pyarrow", "frames", "Parquet and Arrow files")
        raise MissingDependencyError(missing.message, path=label, hint=missing.hint) from None
    kind: Any = "parquet" if form == "parquet" else "ipc"
    try:
        if source.is_directory:
            assert source.path is not None
            parts = [str(part) for part in _parts(source.path)]
            root = str(source.path)
            partitioning = dataset.HivePartitioning.discover(infer_dictionary=False)
            return dataset.dataset(parts, format=kind, partitioning=partitioning, partition_base_dir=root)
        if source.path is not None and not source.packed:
            with source.path.open("rb") as file:
                head = file.read(6)
            if head.startswith((b"PAR1", b"ARROW1")):
                return dataset.dataset(str(source.path), format=kind)
        return _in_memory(b"".join(source.data_blocks()), form)
    except (OSError, ValueError, KeyError) as error:
        what = f"this is not {'Parquet' if form == 'parquet' else 'Arrow'} ({_first_line(error)})"
        raise InputError(what, path=source.label, hint=_DAMAGED) from None


def _in_memory(data: bytes, form: str) -> Any:
    import pyarrow
    import pyarrow.feather
    import pyarrow.ipc
    import pyarrow.parquet

    buffer: Any = pyarrow.BufferReader(data)
    if form == "parquet":
        return pyarrow.parquet.read_table(buffer)
    if data.startswith(b"FEA1"):
        return pyarrow.feather.read_table(buffer)
    if data.startswith(b"ARROW1"):
        return pyarrow.ipc.open_file(buffer).read_all()
    return pyarrow.ipc.open_stream(buffer).read_all()


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or ["no reason given"])[0][:120]
