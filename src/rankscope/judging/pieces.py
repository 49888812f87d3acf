"""Runs cut into pieces of complete lists, small enough for any worker: the piece says where they are, not what.

A run file is one piece, or, if it is large and plain, several, cut where topics change. A Parquet dataset has a piece
for each part of a file of about a million rows; a list that goes on in the next part belongs to the one it began in.
Nothing is read when pieces are made but the places to cut at.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from rankscope.errors import InputError, error_path
from rankscope.judging.lists import Lists
from rankscope.judging.rows import ListRows, PooledQrels, check_rows_order, checked_numbers
from rankscope.native.cuts import topic_cuts
from rankscope.read.arrow_files import batch_validator, parquet_file
from rankscope.read.frames import COLUMNS, NUMBERS
from rankscope.read.ids import arrow_ids, to_bytes
from rankscope.read.runs import Run
from rankscope.scan.backends import scan_run, scan_text
from rankscope.scan.hits import RunHits

__all__ = ["Piece", "parquet_files", "pieces_of_parquet", "pieces_of_run"]

PIECE_BYTES = 64 << 20
"""Of a plain file: about so much text is in memory at a time."""

PIECE_ROWS = 1 << 20
"""Of a Parquet file, about."""

Part = tuple[list[str], Lists]
"""The run of each list, and the lists as measures see them."""


@dataclass(frozen=True, eq=False)
class Piece:
    """Some complete lists: of a run (between two places of its file, if it is cut), or of a Parquet file."""

    run: Run
    """The run, or what a Parquet file without a column of runs is called."""
    start: int = 0
    stop: int | None = None
    groups: tuple[int, int] | None = None
    """The row groups of a Parquet file, the second not included."""

    def lists(self, judgments: PooledQrels, runs: dict[str, int] | None = None) -> Iterator[Part]:
        """The lists of judged topics, some at a time; ``runs`` gets the number of every run, with lists or without."""
        numbers = {} if runs is None else runs
        if self.groups is not None:
            with error_path(str(self.run.source)):
                rows = ListRows.of(_rows(self), judgments, self.run.order)
            for name in rows.names:
                numbers.setdefault(name, len(numbers))
            for part, lists in rows.blocks():
                yield rows.runs[part], lists
            return
        numbers.setdefault(self.run.name, len(numbers))
        hits = self._hits(judgments)
        for lists in _blocks(hits, judgments):
            yield [self.run.name] * len(lists), lists

    def _hits(self, judgments: PooledQrels) -> RunHits:
        if self.start == 0 and self.stop is None:
            return scan_run(self.run, judgments.qrels)
        path = Path(str(self.run.source))
        with path.open("rb") as file:
            # The newline before a later piece keeps its first bytes from being taken for a byte order mark.
            first = max(0, self.start - 1)
            file.seek(first)
            text = file.read() if self.stop is None else file.read(self.stop - first)
        try:
            return scan_text(text, judgments.qrels, self.run.order, label=str(path))
        except InputError as error:
            if error.line is None:
                raise
            raise InputError(
                error.message,
                path=error.path,
                line=error.line + _lines_before(path, first),
                hint=error.hint,
            ) from None


def pieces_of_run(run: Run, size: int = PIECE_BYTES) -> list[Piece]:
    """The pieces of a run; ``size`` 0 never cuts a file."""
    path = run.source if isinstance(run.source, Path) else None
    if not size or path is None or not path.is_file() or not _is_plain(run, path):
        return [Piece(run)]
    run = replace(run, source=path.absolute())
    length = path.stat().st_size
    if length < 2 * size:
        return [Piece(run)]
    cuts = topic_cuts(path, length, length // size)
    return [Piece(run, start, stop) for start, stop in zip([0, *cuts], [*cuts, None], strict=True)]


def _is_plain(run: Run, path: Path) -> bool:
    """Whether the bytes of a file can be cut: TREC lines that are not packed."""
    with path.open("rb") as file:
        head = file.read(4)
    packed = head[:2] == b"\x1f\x8b" or head[:3] == b"BZh" or head in (b"\xfd7zX", b"\x28\xb5\x2f\xfd")
    return getattr(run, "format", "trec") == "trec" and not packed


def _blocks(hits: RunHits, judgments: PooledQrels) -> Iterator[Lists]:
    rows = ListRows(
        judgments,
        [""] * len(hits.topic),
        hits.topic.astype(np.int64),
        hits.length,
        hits.offsets,
        hits.rank,
        hits.judgment,
    )
    return (lists for _, lists in rows.blocks())


def _lines_before(path: Path, place: int) -> int:
    """How many lines of a file end before a place in it."""
    count = 0
    with path.open("rb") as file:
        while place > 0 and (block := file.read(min(place, 1 << 20))):
            count += block.count(b"\n")
            place -= len(block)
    return count


def parquet_files(path: Path) -> list[Path]:
    """The files of a Parquet dataset: the file itself, or those in a directory and its folders; empty if it is none."""
    if path.is_dir():
        inside = sorted(
            file
            for file in path.rglob("*")
            if file.is_file() and not any(p.startswith((".", "_")) for p in file.relative_to(path).parts)
        )
        return inside if inside and all(file.suffix == ".parquet" for file in inside) else []
    if not path.is_file():
        return []
    with path.open("rb") as file:
        return [path] if file.read(4) == b"PAR1" else []


def pieces_of_parquet(files: Sequence[Path], name: str, order: str, rows: int = PIECE_ROWS) -> list[Piece]:
    """The pieces of a Parquet dataset, each of about so many rows; ``name`` is that of a run without one."""
    check_rows_order(order)
    found = []
    for path in files:
        with parquet_file(path) as (file, _):
            about = file.metadata
        run = Run(name, order, source=path.absolute())
        first = size = 0
        for group in range(about.num_row_groups):
            size += about.row_group(group).num_rows
            if size >= rows or group == about.num_row_groups - 1:
                found.append(Piece(run, groups=(first, group + 1)))
                first, size = group + 1, 0
    return found


def _rows(piece: Piece) -> Any:
    """The rows of the lists that begin in the row groups of a piece."""
    import pyarrow as pa

    assert piece.groups is not None
    first, last = piece.groups
    with parquet_file(Path(str(piece.run.source))) as (file, rows):
        columns = _columns(file.schema_arrow.names, piece)
        chosen = list(columns.values())
        # One checker for all groups: a list that continues through them is held in memory as a whole.
        check = batch_validator(Path(str(piece.run.source)).stat().st_size, str(piece.run.source))

        def read(groups: list[int]) -> Any:
            batches = file.iter_batches(batch_size=rows, row_groups=groups, columns=chosen, use_threads=False)
            kept = list(map(check, batches))
            table = pa.Table.from_batches(kept) if kept else file.schema_arrow.empty_table()
            found: dict[str, Any] = {
                meaning: checked_numbers(table[name], meaning)
                if meaning in NUMBERS
                else arrow_ids(table[name], f"column {name!r}")
                for meaning, name in columns.items()
            }
            found.setdefault(
                "run", pa.repeat(pa.scalar(to_bytes(piece.run.name), pa.large_binary()), len(table))
            )
            return pa.table(found)

        table = read(list(range(first, last)))
        if first:
            begun = _key(read([first - 1]), -1)
            table = table.slice(_leading(table, begun))
        group = last
        while len(table) and group < file.metadata.num_row_groups:
            more = read([group])
            count = _leading(more, _key(table, -1))
            table = pa.concat_tables([table, more.slice(0, count)])
            if count < len(more):
                break
            group += 1
    return table


def _columns(names: Sequence[str], piece: Piece) -> dict[str, str]:
    """The columns of a file by what they mean."""
    lower = {name.strip().lower(): name for name in reversed(names)}
    found = {}
    for wanted in ("query_id", "doc_id", "rank" if piece.run.order == "rank" else "score", "run"):
        name = next((lower[alias] for alias in COLUMNS[wanted] if alias in lower), None)
        if name is not None:
            found[wanted] = name
        elif wanted != "run":
            raise InputError(
                f"the file has no column for {wanted} ({', '.join(COLUMNS[wanted])})",
                path=str(piece.run.source),
                hint=f"rename one of: {', '.join(names)}",
            )
    return found


def _key(table: Any, row: int) -> tuple[Any, Any]:
    return tuple(table[name][row].as_py() for name in ("run", "query_id"))


def _leading(table: Any, key: tuple[Any, Any]) -> int:
    """How many rows at the beginning are of the list with this run and topic."""
    if not len(table) or _key(table, 0) != key:
        return 0
    import pyarrow.compute as pc

    run, topic = table["run"], table["query_id"]
    same = pc.and_(pc.equal(run, run[0]), pc.equal(topic, topic[0])).to_numpy(zero_copy_only=False)
    return len(same) if same.all() else int(np.argmin(same))
