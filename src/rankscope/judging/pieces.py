"""Split runs into pieces of complete rankings for workers; a piece has the location of its rankings, not their content.

A run file is one piece, or several if it is large and plain, split where topics change. A Parquet dataset has a piece
for each part of a file of about a million rows; a ranking that continues in the next part belongs to the part in which
it starts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from rankscope.errors import InputError, error_path
from rankscope.judging.lists import Lists
from rankscope.judging.rows import ListRows, check_numbers, check_rows_order
from rankscope.lazy import LazyModule
from rankscope.native.cuts import topic_cuts
from rankscope.read.arrow_files import batch_validator, list_parts, parquet_file
from rankscope.read.frames import NUMBERS, find_columns
from rankscope.read.ids import arrow_ids, to_bytes
from rankscope.read.qrels import Qrels
from rankscope.read.runs import Run
from rankscope.read.source import Source
from rankscope.scan.backends import scan_run, scan_text
from rankscope.scan.hits import RunHits

pa, pc = LazyModule("pyarrow"), LazyModule("pyarrow.compute")

PIECE_BYTES = 64 << 20
"""Approximate size of a piece of a plain file."""

PIECE_ROWS = 1 << 20
"""Approximate number of rows of a piece of a Parquet file."""

Part = tuple[list[str], Lists]
"""Run of each list, and the lists."""


@dataclass(frozen=True, eq=False)
class Piece:
    """Complete rankings of a run (between two offsets of its file) or of a Parquet file."""

    run: Run
    """Run; for a Parquet file, its path, and the name of rows without a run."""
    start: int = 0
    stop: int | None = None
    groups: tuple[int, int] | None = None
    """First and last (exclusive) row group of a Parquet file."""

    def lists(self, qrels: Qrels, runs: dict[str, int]) -> Iterator[Part]:
        """Yield the lists of judged topics in blocks; add the number of every run to ``runs``."""
        if self.groups is None:
            hits, name = self._hits(qrels), self.run.name
            topic, arrays = hits.topic.astype(np.int64), (hits.length, hits.offsets, hits.rank, hits.judgment)
            rows = ListRows(qrels, [name] * len(topic), [name], topic, *arrays)
        else:
            with error_path(str(self.run.source)):
                rows = ListRows.from_table(_read_rows(self), qrels, self.run.order)
        for name in rows.names:
            runs.setdefault(name, len(runs))
        yield from ((rows.runs[part], lists) for part, lists in rows.blocks())

    def _hits(self, qrels: Qrels) -> RunHits:
        if self.start == 0 and self.stop is None:
            return scan_run(self.run, qrels)
        source = Source.open(Path(str(self.run.source)))
        try:
            return scan_text(source.part(self.start, self.stop), qrels, self.run.order)
        except InputError as error:
            if error.line is None:
                raise
            line = error.line + sum(block.count(b"\n") for block in source.part(0, self.start).blocks())
            raise InputError(error.message, path=error.path, line=line, hint=error.hint) from None


def split_run(run: Run, size: int = PIECE_BYTES) -> list[Piece]:
    """Split a run into pieces; ``size`` 0 never splits a file."""
    path = run.source if isinstance(run.source, Path) else None
    if not size or path is None or not path.is_file() or run.format != "trec":
        return [Piece(run)]
    source, run = Source.open(path), replace(run, source=path.absolute())
    if source.is_compressed or source.size < 2 * size:
        return [Piece(run)]
    cuts = topic_cuts(path, source.size, source.size // size)
    return [Piece(run, start, stop) for start, stop in zip([0, *cuts], [*cuts, None], strict=True)]


def list_parquet_files(path: Path) -> list[Path]:
    """Return the file, or the files below a directory, if they are Parquet; else an empty list."""
    if path.is_dir():
        files = list_parts(path)
        return files if all(file.suffix == ".parquet" for file in files) else []
    if not path.is_file():
        return []
    with path.open("rb") as file:
        return [path] if file.read(4) == b"PAR1" else []


def split_parquet(files: Sequence[Path], name: str, order: str, rows: int = PIECE_ROWS) -> list[Piece]:
    """Split a Parquet dataset into pieces of about ``rows`` rows; ``name`` is the run of rows without one."""
    check_rows_order(order)
    pieces = []
    for path in files:
        with parquet_file(path) as (file, _):
            metadata = file.metadata
        run = Run(name, order, source=path.absolute())
        first = size = 0
        for group in range(metadata.num_row_groups):
            size += metadata.row_group(group).num_rows
            if size >= rows or group == metadata.num_row_groups - 1:
                pieces.append(Piece(run, groups=(first, group + 1)))
                first, size = group + 1, 0
    return pieces


def _read_rows(piece: Piece) -> Any:
    """Read the rows of the rankings that start in the row groups of a piece."""
    assert piece.groups is not None
    first, last = piece.groups
    with parquet_file(Path(str(piece.run.source))) as (file, rows):
        required = ("query_id", "doc_id", "rank" if piece.run.order == "rank" else "score")
        columns = find_columns(file.schema_arrow.names, required, ("run",), str(piece.run.source))
        names = list(columns.values())
        # One validator for all groups, because a list that continues through them is in memory as a whole.
        validate = batch_validator(Path(str(piece.run.source)).stat().st_size, str(piece.run.source))

        def read(groups: list[int]) -> Any:
            batches = file.iter_batches(batch_size=rows, row_groups=groups, columns=names, use_threads=False)
            validated = list(map(validate, batches))
            table = pa.Table.from_batches(validated) if validated else file.schema_arrow.empty_table()
            arrays: dict[str, Any] = {
                meaning: check_numbers(table[name], meaning)
                if meaning in NUMBERS
                else arrow_ids(table[name], f"column {name!r}")
                for meaning, name in columns.items()
            }
            arrays.setdefault(
                "run", pa.repeat(pa.scalar(to_bytes(piece.run.name), pa.large_binary()), len(table))
            )
            return pa.table(arrays)

        table = read(list(range(first, last)))
        if first:
            previous = _key(read([first - 1]), -1)
            table = table.slice(_count_leading(table, previous))
        group = last
        while len(table) and group < file.metadata.num_row_groups:
            more = read([group])
            count = _count_leading(more, _key(table, -1))
            table = pa.concat_tables([table, more.slice(0, count)])
            if count < len(more):
                break
            group += 1
    return table


def _key(table: Any, row: int) -> tuple[Any, Any]:
    return tuple(table[name][row].as_py() for name in ("run", "query_id"))


def _count_leading(table: Any, key: tuple[Any, Any]) -> int:
    """Return the number of rows at the beginning that belong to the ranking of a run and topic."""
    if not len(table) or _key(table, 0) != key:
        return 0
    run, topic = table["run"], table["query_id"]
    is_same = pc.and_(pc.equal(run, run[0]), pc.equal(topic, topic[0])).to_numpy(zero_copy_only=False)
    return len(is_same) if is_same.all() else int(np.argmin(is_same))
