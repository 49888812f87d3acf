"""Parquet, Arrow and Feather: files, streams, and directories of parts, also with columns in the names of folders."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from rankscope.errors import InputError, MissingDependencyError
from rankscope.read.frames import COLUMNS, WANTED, found_column
from rankscope.read.limits import FREE_COLUMNS, check_unpacked
from rankscope.read.packing import LONGEST_MAGIC
from rankscope.read.source import Source

if TYPE_CHECKING:
    import pyarrow

__all__ = [
    "arrow_names",
    "batch_checker",
    "dataset_format",
    "parquet_file",
    "read_arrow",
    "read_arrow_columns",
]

_MAGIC = {b"PAR1": "parquet", b"ARROW1": "arrow", b"FEA1": "arrow"}
_PART = re.compile(r"part-.*|.*-\d{5}-of-\d{5}\b.*")
_MARKS = ("_SUCCESS", "_metadata", "_common_metadata")
_BATCH, _SMALL_BATCH = 1 << 16, 1 << 8  # rows
_PLAIN = {"PLAIN", "RLE", "BIT_PACKED", "PLAIN_DICTIONARY", "RLE_DICTIONARY"}
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
    with _checked(source.label, form):
        return list(_opened(source, form).schema.names)


def read_arrow_columns(source: Source, form: str) -> pyarrow.Table:
    """All columns, as an Arrow table."""
    with _checked(source.label, form):
        opened = _opened(source, form)
        return _taken(opened, list(opened.schema.names), source)


def read_arrow(source: Source, form: str, kind: str) -> pyarrow.Table:
    """The columns that mean something in a run or in judgments, as an Arrow table."""
    with _checked(source.label, form):
        opened = _opened(source, form)
        names = list(opened.schema.names)
        wanted = [found_column(meaning, names) for meaning in WANTED[kind]]
        chosen = [name for name in dict.fromkeys(wanted) if name is not None]
        if not chosen:
            called = ", ".join(COLUMNS["query_id"])
            what = f"there is no column for query_id ({called})"
            raise InputError(what, path=source.label, hint=f"rename one of: {', '.join(names) or 'none'}")
        return _taken(opened, chosen, source)


@contextmanager
def _checked(label: str, form: str) -> Iterator[None]:
    """Turn whatever pyarrow raises for a damaged file into one error that names it."""
    kind = "Parquet" if form == "parquet" else "Arrow"
    try:
        import pyarrow
    except ImportError:
        missing = MissingDependencyError.for_package("pyarrow", "frames", "Parquet and Arrow files")
        raise MissingDependencyError(missing.message, path=label, hint=missing.hint) from None
    try:
        yield
    except (pyarrow.ArrowException, OSError, ValueError, KeyError, MemoryError) as error:
        what = f"this is not {kind}, or it is damaged ({_first_line(error)})"
        raise InputError(what, path=label, hint=_DAMAGED) from None


@contextmanager
def parquet_file(path: Path) -> Iterator[tuple[Any, int]]:
    """Open a Parquet file with texts as dictionaries; also return the rows to read at a time."""
    with _checked(str(path), "parquet"):
        import pyarrow.parquet as pq

        with pq.ParquetFile(path) as plain:
            dictionaries, others = _dictionaries(plain.schema_arrow, [plain.metadata])
        with pq.ParquetFile(path, read_dictionary=list(dictionaries)) as file:
            yield file, _SMALL_BATCH if others else _BATCH


def batch_checker(size: int, label: str) -> Callable[[Any], Any]:
    """Return a function that validates a batch in full, and rejects a batch with which a file exceeds its limit.

    Texts are read as dictionaries, which a hostile file cannot inflate: their content is counted before it is unpacked.

    Parameters
    ----------
    size
        Number of bytes of the file.
    label
        Name of the file in error messages.
    """
    content = 0

    def check(batch: Any) -> Any:
        nonlocal content
        batch.validate(full=True)
        content += sum(map(_content, batch.columns))
        check_unpacked(content, size, label, FREE_COLUMNS)
        return batch

    return check


def _content(array: Any) -> int:
    """Number of bytes of an array without its dictionary."""
    import pyarrow
    import pyarrow.compute as pc

    kinds = pyarrow.types
    if not kinds.is_dictionary(array.type):
        return int(array.nbytes)
    values = array.dictionary
    if not (kinds.is_integer(values.type) or kinds.is_floating(values.type)):
        lengths: Any = pc.binary_length(values)
        used = pc.sum(pc.take(lengths, array.indices)).as_py() or 0
    else:
        used = 0
    return 8 * len(array) + int(used)


def _dictionaries(schema: Any, parts: Iterable[Any]) -> tuple[set[str], bool]:
    """Return the columns of Parquet that can be read as dictionaries, and whether others hold texts.

    pyarrow reads only plain and dictionary encodings so. Others are read in small batches: prefixes that values share
    (DELTA_BYTE_ARRAY) inflate a file as well.
    """
    import pyarrow

    kinds = pyarrow.types
    texts = {field.name for field in schema if not kinds.is_primitive(field.type)}
    found = {field.name for field in schema if kinds.is_string(field.type) or kinds.is_binary(field.type)}
    for about in parts:
        for group in range(about.num_row_groups):
            for number in range(about.num_columns):
                column = about.row_group(group).column(number)
                if not _PLAIN.issuperset(column.encodings):
                    found.discard(column.path_in_schema)
    return found, bool(texts - found)


def _taken(opened: Any, chosen: list[str], source: Source) -> pyarrow.Table:
    """Return columns as a table, batch by batch."""
    import pyarrow

    size = source.size
    if source.is_directory and source.path is not None:
        size = sum(part.stat().st_size for part in _parts(source.path))
    found = list(map(batch_checker(size, source.label), opened.batches(chosen)))
    if found:
        return pyarrow.Table.from_batches(found)
    kinds = {name: opened.schema.field(name).type for name in chosen}
    return pyarrow.table({name: pyarrow.array([], kind) for name, kind in kinds.items()})


class _Stream(NamedTuple):
    """An Arrow file or stream, of which nothing but the schema has been read."""

    reader: Any

    @property
    def schema(self) -> Any:
        """Its columns."""
        return self.reader.schema

    def batches(self, chosen: list[str]) -> Iterator[Any]:
        """Return some columns batch by batch."""
        if not hasattr(self.reader, "get_batch"):
            return (batch.select(chosen) for batch in self.reader)
        return (
            self.reader.get_batch(number).select(chosen) for number in range(self.reader.num_record_batches)
        )


class _Dataset(NamedTuple):
    """Files of one table, of which nothing but the schema has been read."""

    data: Any
    rows: int

    @property
    def schema(self) -> Any:
        """Its columns."""
        return self.data.schema

    def batches(self, chosen: list[str]) -> Iterator[Any]:
        """Return some columns batch by batch, so that no more than one is in memory before it is checked."""
        ahead = {"batch_readahead": 1, "fragment_readahead": 1, "use_threads": False}
        found: Iterator[Any] = self.data.to_batches(columns=chosen, batch_size=self.rows, **ahead)
        return found


def _opened(source: Source, form: str) -> _Stream | _Dataset:
    """A dataset or an Arrow file, of which nothing but the schema has been read."""
    import pyarrow
    import pyarrow.ipc
    from pyarrow import dataset

    plain = source.path is not None and not source.packed
    whole = pyarrow.BufferReader(_whole(source)) if not plain else None
    if form != "parquet" and not source.is_directory:
        head = source.head()
        if head.startswith(b"FEA1"):
            what = "this is Feather V1, whose content cannot be validated"
            hint = "write it again as Feather V2 (the default) or Parquet"
            raise InputError(what, path=source.label, hint=hint)
        data: Any = whole or pyarrow.OSFile(str(source.path), "rb")
        read: Any = pyarrow.ipc.open_file if head.startswith(b"ARROW1") else pyarrow.ipc.open_stream
        return _Stream(read(data))

    def opened(kind: Any) -> Any:
        if whole is not None:
            fragment = kind.make_fragment(whole)
            return dataset.FileSystemDataset([fragment], fragment.physical_schema, kind)
        if not source.is_directory:
            return dataset.dataset(str(source.path), format=kind)
        assert source.path is not None
        parts = [str(part) for part in _parts(source.path)]
        columns = dataset.HivePartitioning.discover(infer_dictionary=False)
        root = str(source.path)
        return dataset.dataset(parts, format=kind, partitioning=columns, partition_base_dir=root)

    if form != "parquet":
        return _Dataset(opened("ipc"), _BATCH)
    data = opened(dataset.ParquetFileFormat())
    parts = (fragment.metadata for fragment in data.get_fragments())
    dictionaries, others = _dictionaries(data.schema, parts)
    kind = dataset.ParquetFileFormat(dictionary_columns=dictionaries)
    return _Dataset(opened(kind), _SMALL_BATCH if others else _BATCH)


def _whole(source: Source) -> bytes:
    return b"".join(source.held_blocks(text=False))


def _first_line(error: Exception | MemoryError) -> str:
    return (str(error).splitlines() or ["no reason given"])[0][:120]
