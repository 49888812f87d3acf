"""Judgments and runs as bytes in every file format, with ids of every type that the format can hold."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

import pyarrow as pa
import pyarrow.ipc as ipc
import pyarrow.parquet as pq
import zstandard

Columns = Mapping[str, Sequence[Any]]
"""Columns of a table: ids (as integers; ``iteration`` is optional) and numbers."""

IDS = ("qid", "docno", "iteration")
TAG = "r0"
"""Tag of TREC runs: ``ndeval`` prints it, and the name of the file if a format has no tags."""

ARROW_TYPES: dict[str, Any] = {
    "text": pa.string(), "large text": pa.large_string(), "view": pa.string_view(), "bytes": pa.binary(),
    "int": pa.int64(), "double": pa.float64(), "dictionary": pa.dictionary(pa.int32(), pa.string()),
}  # fmt: skip
JSON_TYPES: dict[str, Callable[[int], Any]] = {"text": str, "int": int, "double": float}
NOT_IDS: dict[str, Any] = {
    "fraction": 1.5, "missing": None, "bool": True, "time": datetime(2026, 1, 1), "list": [1], "struct": {"id": 1},
}  # fmt: skip
"""Values that no id can have, by the name of their type."""

PACKINGS: dict[str, Callable[[bytes], bytes]] = {
    "": bytes, "gzip": lambda data: gzip.compress(data, mtime=0), "zstd": zstandard.compress
}  # fmt: skip
BINARY_FORMATS = ("parquet", "parquet plain", "parquet zstd", "arrow", "arrow zstd", "stream", "stream lz4")
TEXT_FORMATS = ("trec", "trec gzip", "trec zstd", "csv", "csv gzip", "tsv")
JSON_FORMATS = ("json", "json zstd", "jsonl", "jsonl gzip")
FORMATS = (*BINARY_FORMATS, *JSON_FORMATS, *TEXT_FORMATS)


def id_types(form: str) -> list[str]:
    """Return the names of the id types that a format can hold."""
    if form in TEXT_FORMATS:
        return ["text"]
    if form in JSON_FORMATS:
        return [*JSON_TYPES]
    return [name for name in ARROW_TYPES if name != "view" or not form.startswith("parquet")]


def encode(columns: Columns, form: str, id_type: str) -> bytes:
    """Return a table in a format; an id type of :data:`NOT_IDS` puts such a value into the last row."""
    base, _, packing = form.partition(" ")
    if form in BINARY_FORMATS:
        return _encode_arrow(_arrow_table(columns, id_type), base, packing)
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    convert = JSON_TYPES.get(id_type, str)
    rows = [row | {name: convert(row[name]) for name in IDS if name in row} for row in rows]
    if id_type in NOT_IDS:
        rows[-1]["docno"] = NOT_IDS[id_type]
    if base in ("json", "jsonl"):
        text = json.dumps(rows) if base == "json" else "".join(json.dumps(row) + "\n" for row in rows)
    elif base == "trec":
        text = "".join(_trec_line(row) for row in rows)
    else:
        out = io.StringIO()
        writer = csv.DictWriter(
            out, [*columns], delimiter="," if base == "csv" else "\t", lineterminator="\n"
        )
        writer.writeheader()
        writer.writerows(rows)
        text = out.getvalue()
    return PACKINGS[packing](text.encode())


def _trec_line(row: Mapping[str, Any]) -> str:
    if "score" in row:
        return f"{row['qid']} Q0 {row['docno']} {row['rank']} {row['score']!r} {TAG}\n"
    return f"{row['qid']} {row.get('iteration', 0)} {row['docno']} {row['label']}\n"


def _arrow_table(columns: Columns, id_type: str) -> pa.Table:
    arrays: dict[str, Any] = {name: pa.array(values) for name, values in columns.items()}
    for name in IDS:
        if name not in arrays:
            continue
        numbers = arrays[name]
        if id_type in ("int", "double"):
            arrays[name] = numbers.cast(ARROW_TYPES[id_type])
        elif id_type == "dictionary":
            arrays[name] = numbers.cast(pa.string()).dictionary_encode()
        else:
            arrays[name] = numbers.cast(pa.string()).cast(ARROW_TYPES.get(id_type, pa.string()))
    if id_type == "fraction":
        arrays["docno"] = pa.array([*map(float, columns["docno"][:-1]), 1.5])
    elif id_type == "missing":
        arrays["docno"] = pa.array([*map(str, columns["docno"][:-1]), None])
    elif id_type in NOT_IDS:
        arrays["docno"] = pa.array([NOT_IDS[id_type]] * len(columns["docno"]))
    return pa.table(arrays)


def _encode_arrow(table: pa.Table, base: str, packing: str) -> bytes:
    out = io.BytesIO()
    if base == "parquet":
        compression = packing if packing == "zstd" else "none"
        pq.write_table(table, out, compression=compression, use_dictionary=not packing, row_group_size=8)
    else:
        open_writer = ipc.new_file if base == "arrow" else ipc.new_stream
        with open_writer(out, table.schema, options=ipc.IpcWriteOptions(compression=packing or None)) as sink:
            sink.write_table(table, 8)
    return out.getvalue()


def decode(data: bytes, form: str) -> list[dict[str, Any]]:
    """Return the rows of a file of a binary or JSON format, read by the libraries of others without any limit.

    Raises whatever a library raises for a damaged file.
    """
    base, _, packing = form.partition(" ")
    if base == "parquet":
        return pq.read_table(pa.BufferReader(data)).to_pylist()
    if base in ("arrow", "stream"):
        table = (ipc.open_file if base == "arrow" else ipc.open_stream)(pa.BufferReader(data)).read_all()
        table.validate(full=True)
        return table.to_pylist()
    if packing == "zstd":
        data = zstandard.ZstdDecompressor().stream_reader(data, read_across_frames=True).read()
    elif packing == "gzip":
        data = gzip.decompress(data)
    if base == "json":
        return json.loads(data)
    return [json.loads(line) for line in data.split(b"\n") if line.strip()]
