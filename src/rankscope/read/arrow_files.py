"""Read Parquet, Arrow and Feather: files, streams, and directories of parts, also partitioned by columns."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from rankscope.errors import InputError, require_package
from rankscope.lazy import LazyModule
from rankscope.read.compression import LONGEST_MAGIC
from rankscope.read.frames import WANTED, find_columns, missing_column
from rankscope.read.limits import FREE_COLUMNS, check_decompressed_size
from rankscope.read.source import Source

pyarrow, pc, pq = (LazyModule(name) for name in ("pyarrow", "pyarrow.compute", "pyarrow.parquet"))
dataset, ipc = LazyModule("pyarrow.dataset"), LazyModule("pyarrow.ipc")

_MAGIC = {b"PAR1": "parquet", b"ARROW1": "arrow", b"FEA1": "arrow"}
_PART = re.compile(r"part-.*|.*-\d{5}-of-\d{5}\b.*")
_MARKS = ("_SUCCESS", "_metadata", "_common_metadata")
_BATCH, _SMALL_BATCH = 1 << 16, 1 << 8  # rows
_PLAIN = {"PLAIN", "RLE", "BIT_PACKED", "PLAIN_DICTIONARY", "RLE_DICTIONARY"}


def dataset_format(folder: Path) -> str | None:
    """Return the format of a directory that is one table in parts, as Spark, Dask, Arrow and Hugging Face write it.

    Such a directory has directories called ``column=value``, a marker such as ``_SUCCESS``, or only files called
    ``part-...`` or ``...-00000-of-00002...``, and all its files are Parquet or all are Arrow. Returns None for any
    other directory, which contains runs.
    """
    entries = [entry for entry in sorted(folder.iterdir()) if not entry.name.startswith(".")]
    files = [entry for entry in entries if entry.is_file() and not entry.name.startswith("_")]
    is_partitioned = any(entry.is_dir() and "=" in entry.name for entry in entries)
    has_marker = any(entry.name in _MARKS for entry in entries)
    has_parts = files and (has_marker or all(_PART.fullmatch(file.name) for file in files))
    if not is_partitioned and not has_parts:
        return None
    formats = {_detect_format(part) for part in list_parts(folder)}
    return formats.pop() if len(formats) == 1 else None


def list_parts(folder: Path) -> list[Path]:
    """Return the files of a table in parts; names that start with a dot or an underscore are skipped."""
    paths = []
    for entry in sorted(folder.iterdir()):
        if not entry.name.startswith((".", "_")):
            paths += list_parts(entry) if entry.is_dir() else [entry]
    return paths


def _detect_format(part: Path) -> str | None:
    with part.open("rb") as file:
        head = file.read(LONGEST_MAGIC)
    return next((name for magic, name in _MAGIC.items() if head.startswith(magic)), None)


def arrow_names(source: Source, file_format: str) -> list[str]:
    """Return the names of the columns, without reading them."""
    with _locate_errors(source.label, file_format):
        return list(_open(source, file_format).schema.names)


def read_arrow(source: Source, file_format: str, kind: str | None = None) -> Any:
    """Read the columns of a ``run`` or of ``qrels``, or all columns, as an Arrow table."""
    with _locate_errors(source.label, file_format):
        opened = _open(source, file_format)
        names = list(opened.schema.names)
        if kind is None:
            return _read_columns(opened, names, source)
        selected = [*dict.fromkeys(find_columns(names, (), WANTED[kind]).values())]
        if not selected:
            raise missing_column("query_id", names, source.label)
        return _read_columns(opened, selected, source)


@contextmanager
def _locate_errors(label: str, file_format: str) -> Iterator[None]:
    """Turn exceptions of pyarrow about a damaged file into one error with its name."""
    kind = "Parquet" if file_format == "parquet" else "Arrow"
    with require_package("pyarrow", "frames", "Parquet and Arrow files", path=label):
        import pyarrow
    try:
        yield
    except (pyarrow.ArrowException, OSError, ValueError, KeyError, MemoryError) as error:
        reason = (str(error).splitlines() or ["no reason given"])[0][:120]
        problem = f"this is not {kind}, or it is damaged ({reason})"
        raise InputError(problem, path=label, hint="copy or write the file again") from None


@contextmanager
def parquet_file(path: Path) -> Iterator[tuple[Any, int]]:
    """Open a Parquet file with texts as dictionaries; also return the number of rows of a batch."""
    with _locate_errors(str(path), "parquet"):
        dictionaries, has_others = _dictionary_columns(pq.read_schema(path), [path])
        with pq.ParquetFile(path, read_dictionary=list(dictionaries)) as file:
            yield file, _SMALL_BATCH if has_others else _BATCH


def batch_validator(size: int, label: str) -> Callable[[Any], Any]:
    """Return a function that validates a batch completely, and rejects the batch that exceeds the limit of a file.

    Texts are dictionaries. Their size is counted before they are expanded, so that no file can exhaust memory.

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
        content += sum(map(_expanded_size, batch.columns))
        check_decompressed_size(content, size, label, FREE_COLUMNS)
        return batch

    return check


def _expanded_size(array: Any) -> int:
    """Return the number of bytes of an array without its dictionary."""
    kinds = pyarrow.types
    if not kinds.is_dictionary(array.type):
        return int(array.nbytes)
    values = array.dictionary
    if not (kinds.is_integer(values.type) or kinds.is_floating(values.type)):
        lengths = pc.binary_length(values)
        used = pc.sum(pc.take(lengths, array.indices)).as_py() or 0
    else:
        used = 0
    return 8 * len(array) + int(used)


def _dictionary_columns(schema: Any, parts: Iterable[Any]) -> tuple[set[str], bool]:
    """Return the columns of Parquet files that can be read as dictionaries, and whether other columns have texts.

    pyarrow reads only plain and dictionary encodings as dictionaries. Other encodings, such as DELTA_BYTE_ARRAY with
    its shared prefixes, can inflate a file as well, and are read in small batches.
    """
    kinds = pyarrow.types
    texts = {field.name for field in schema if not kinds.is_primitive(field.type)}
    names = {field.name for field in schema if kinds.is_string(field.type) or kinds.is_binary(field.type)}
    for part in parts:
        with pq.ParquetFile(part) as file:
            numbers = [n for n in range(file.metadata.num_columns) if file.schema.column(n).path in names]
            for group in range(file.metadata.num_row_groups if numbers else 0):
                # pyarrow aborts the process for damaged metadata of a column, but raises an error if its data is read.
                columns = [file.schema.column(number).path for number in numbers]
                next(file.iter_batches(1, row_groups=[group], columns=columns, use_threads=False), None)
                for number, name in zip(numbers, columns, strict=True):
                    if not _PLAIN.issuperset(file.metadata.row_group(group).column(number).encodings):
                        names.discard(name)
    return names, bool(texts - names)


def _read_columns(opened: Any, names: list[str], source: Source) -> Any:
    """Read columns batch by batch."""
    size = source.size
    if source.is_directory and source.path is not None:
        size = sum(part.stat().st_size for part in list_parts(source.path))
    batches = list(map(batch_validator(size, source.label), opened.batches(names)))
    if batches:
        return pyarrow.Table.from_batches(batches)
    kinds = {name: opened.schema.field(name).type for name in names}
    return pyarrow.table({name: pyarrow.array([], kind) for name, kind in kinds.items()})


class _TableReader(NamedTuple):
    """Schema of an open table, and a function that reads its batches."""

    schema: Any
    batches: Callable[[list[str]], Iterable[Any]]
    """Reads some columns batch by batch, with at most one batch in memory before it is validated."""


def _open(source: Source, file_format: str) -> _TableReader:
    """Open a table and read its schema."""
    path = source.path if source.path is not None and not source.is_compressed else None
    content = None if path else pyarrow.BufferReader(b"".join(source.memory_blocks(text=False)))
    if file_format != "parquet" and not source.is_directory:
        head = source.head()
        if head.startswith(b"FEA1"):
            problem = "this is Feather V1, whose content cannot be validated"
            hint = "write it again as Feather V2 (the default) or Parquet"
            raise InputError(problem, path=source.label, hint=hint)
        data = content or pyarrow.OSFile(str(path), "rb")
        is_file = head.startswith(b"ARROW1")
        reader = ipc.open_file(data) if is_file else ipc.open_stream(data)
        batches = map(reader.get_batch, range(reader.num_record_batches)) if is_file else reader
        return _TableReader(reader.schema, lambda names: (batch.select(names) for batch in batches))

    parts = list_parts(path) if path and source.is_directory else [path or content]

    def open_dataset(kind: Any) -> Any:
        if path is None:
            fragment = kind.make_fragment(content)
            return dataset.FileSystemDataset([fragment], fragment.physical_schema, kind)
        columns = dataset.HivePartitioning.discover(infer_dictionary=False)
        root = path if source.is_directory else path.parent
        names = [str(part) for part in parts]
        return dataset.dataset(names, format=kind, partitioning=columns, partition_base_dir=str(root))

    kind, size = dataset.IpcFileFormat(), _BATCH
    if file_format == "parquet":
        schema = open_dataset(dataset.ParquetFileFormat()).schema
        dictionaries, has_others = _dictionary_columns(schema, parts)
        kind = dataset.ParquetFileFormat(dictionary_columns=dictionaries)
        size = _SMALL_BATCH if has_others else _BATCH
    opened = open_dataset(kind)
    options = {"batch_size": size, "batch_readahead": 1, "fragment_readahead": 1, "use_threads": False}
    return _TableReader(opened.schema, lambda names: opened.to_batches(columns=names, **options))
