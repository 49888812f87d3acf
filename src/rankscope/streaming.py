"""Evaluation of more than fits into memory: values are written as pieces of the runs are done.

Pieces hold complete lists (:mod:`rankscope.judging.pieces`) and are looked at by whichever engine; the judgments are
sent to it once. What comes back is written at once, in the order of the pieces, so that the bytes do not depend on the
engine, and memory here does not grow with the runs.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rankscope.columns import CategoricalColumn
from rankscope.engines import on_engine, stream_pieces
from rankscope.errors import InputError, SettingsError
from rankscope.files import write_atomically
from rankscope.judging.lists import Lists
from rankscope.judging.pieces import (
    PIECE_BYTES,
    PIECE_ROWS,
    Piece,
    parquet_files,
    pieces_of_parquet,
    pieces_of_run,
)
from rankscope.judging.rows import PooledQrels
from rankscope.measures import Measure, needs_aspects, parse_many
from rankscope.progress import progress
from rankscope.read import open_qrels
from rankscope.read.runs import as_runs
from rankscope.read.topics import chosen_topics
from rankscope.scores import MISSING
from rankscope.tables import Table

__all__ = ["Written", "evaluate_into"]


class Written(NamedTuple):
    """What was written: where, and how many pieces, runs, lists and rows went into it."""

    path: str
    pieces: int
    runs: int
    lists: int
    rows: int


class Values(NamedTuple):
    """Some lists: which run and topic each is of, and the value of every measure for it."""

    runs: Sequence[str]
    run: npt.NDArray[np.int32]
    topic: npt.NDArray[np.int32]
    values: npt.NDArray[np.float64]


@on_engine
def evaluate_into(
    output: str | Path,
    qrels: Any,
    runs: Any,
    measures: str | Measure | Iterable[str | Measure],
    *,
    order: str = "trec_eval",
    missing: str = "zero",
    topics: str | Sequence[str] | None = None,
    input_format: Mapping[str, str] | None = None,
    piece_bytes: int = PIECE_BYTES,
    piece_rows: int = PIECE_ROWS,
    jobs: int | None = None,
    engine: Any = None,
) -> Written:
    """Write the value of every measure for every run and topic, in bounded memory: rows of run, topic, measure, value.

    ``output`` ends in ``.csv`` or ``.tsv`` (one text file), in ``.parquet`` (one Parquet file), or names a directory
    that is not there yet, which becomes a Parquet dataset; it appears whole or not at all. ``runs`` are what
    :func:`rankscope.evaluate` takes, or Parquet files and directories of them, which may hold any number of runs. Plain
    run files of more than ``piece_bytes`` are cut where topics change (0 never cuts), Parquet files after about
    ``piece_rows`` rows; the documents of a list must follow one another. ``engine`` says where pieces are looked at.
    ``topics`` names some of the judged topics, ``input_format`` what the files are
    (:func:`rankscope.read.open_collection`).

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = evaluate_into(f"{folder}/v.csv", {"q1": {"d1": 1}}, {"bm25": {"q1": {"d1": 2.0}}}, "AP")
    ...     print(Path(f"{folder}/v.csv").read_text().split())
    ['run,topic,measure,value', 'bm25,q1,AP,1.0']
    """
    if missing not in MISSING:
        raise SettingsError(f"missing={missing!r}", hint=f"choose one of {', '.join(MISSING)}")
    wanted = tuple(parse_many(measures))
    if not wanted:
        raise SettingsError("there is no measure to evaluate", hint="name at least one, such as AP")
    writer = _writer(Path(output))
    said = input_format or {}
    opened = open_qrels(qrels, needs_aspects=needs_aspects(wanted), input_format=said.get("qrels"))
    if topics:
        opened = opened.of_topics(chosen_topics(topics, opened.topics))
    judgments = PooledQrels(opened)
    pieces = _pieces(runs, order, said.get("runs"), piece_bytes, piece_rows)
    if not pieces:
        raise InputError("there is no run to evaluate", hint="name at least one run file")
    names = [str(measure) for measure in wanted]
    kept = _Kept(judgments, wanted, missing)
    found = progress(stream_pieces(_Evaluated(judgments, wanted), pieces, jobs=jobs), len(pieces), "pieces")
    counts = [0]

    def tables() -> Iterator[Table]:
        for values in kept.all(zip(pieces, found, strict=True)):
            counts[0] += len(values.topic)
            yield _table(values, judgments.qrels.topics, names)

    writer(tables())
    return Written(str(output), len(pieces), len(kept.seen), counts[0], counts[0] * len(wanted))


def _pieces(runs: Any, order: str, form: str | None, size: int, rows: int) -> list[Piece]:
    """The pieces of all runs, in the order they were given."""
    sources = runs if isinstance(runs, list | tuple) else [runs]
    found: list[Piece] = []
    for source in sources:
        named = isinstance(source, str | Path) and form in (None, "parquet")
        files = parquet_files(Path(source)) if named else []
        if files:
            found += pieces_of_parquet(files, Path(source).stem, order, rows)
        else:
            for run in as_runs(source, order, form).values():
                found += pieces_of_run(run, size)
    return found


@dataclass(frozen=True, eq=False)
class _Evaluated:
    """The values of the lists in a piece; judgments and measures are what all pieces share."""

    judgments: PooledQrels
    measures: tuple[Measure, ...]

    def __call__(self, piece: Piece) -> Values:
        runs: dict[str, int] = {}
        parts: list[tuple[list[int], Lists, list[npt.NDArray[np.float64]]]] = []
        for names, lists in piece.lists(self.judgments, runs):
            numbers = [runs[name] for name in names]
            parts.append((numbers, lists, [measure.evaluate(lists) for measure in self.measures]))
        return Values(
            list(runs),
            np.array([number for numbers, _, _ in parts for number in numbers], np.int32),
            np.concatenate([np.zeros(0, np.int32), *(lists.topic for _, lists, _ in parts)]).astype(np.int32),
            np.concatenate(
                [np.empty((0, len(self.measures))), *(np.stack(values, axis=1) for _, _, values in parts)]
            ),
        )


class _Kept:
    """Which lists there were: none may come twice, and those that did not come are empty."""

    def __init__(self, judgments: PooledQrels, measures: tuple[Measure, ...], missing: str) -> None:
        self._judgments, self._measures, self._missing = judgments, measures, missing
        self.seen: dict[str, npt.NDArray[np.bool_]] = {}

    def all(self, found: Iterable[tuple[Piece, Values]]) -> Iterator[Values]:
        """The values of every piece, and after them those of the lists that runs lack."""
        named: dict[str, str] = {}
        for piece, values in found:
            for name in values.runs:
                named.setdefault(name, str(piece.run.path or piece.run.source or piece.run.name))
            self._note(piece, values)
            yield values
        for name, path in named.items():
            if not self.seen[name].any():
                chosen = bool(self._judgments.qrels.unchosen)
                raise InputError(
                    "no topic in common with the " + ("chosen topics" if chosen else "judgments"),
                    path=path,
                    hint="choose others, or leave the run out"
                    if chosen
                    else "check that the run and the judgments belong to the same collection",
                )
        if self._missing == "zero":
            yield from self._lacking()

    def _note(self, piece: Piece, values: Values) -> None:
        topics = self._judgments.qrels.topics
        for number, name in enumerate(values.runs):
            mine = values.topic[values.run == number]
            seen = self.seen.setdefault(name, np.zeros(len(topics), np.bool_))
            again = mine[seen[mine]]
            if len(again):
                raise InputError(
                    f"topic {topics[int(again[0])]!r} of run {name!r} is in two pieces",
                    path=str(piece.run.source or piece.run.name),
                    hint="let the lines of a topic follow one another, do not cut the file (a piece size of 0), or use"
                    " rankscope.spark.evaluate, which brings them together",
                )
            seen[mine] = True

    def _lacking(self) -> Iterator[Values]:
        if all(seen.all() for seen in self.seen.values()):
            return
        width, none = len(self._judgments.qrels.topics), np.zeros(0, np.int32)
        empty = Lists(
            self._judgments.pool,
            np.arange(width),
            np.zeros(width, np.int32),
            np.zeros(width + 1, np.int64),
            none,
            none,
        )
        values = np.stack([measure.evaluate(empty) for measure in self._measures], axis=1)
        for name, seen in self.seen.items():
            absent = np.flatnonzero(~seen).astype(np.int32)
            if len(absent):
                yield Values([name], np.zeros(len(absent), np.int32), absent, values[absent])


def _table(values: Values, topics: Sequence[str], measures: Sequence[str]) -> Table:
    count = len(measures)
    columns: dict[str, Any] = {
        "run": CategoricalColumn(values.runs, np.repeat(values.run, count)),
        "topic": CategoricalColumn(topics, np.repeat(values.topic, count)),
        "measure": CategoricalColumn(measures, np.tile(np.arange(count), len(values.topic))),
        "value": values.values.ravel(),
    }
    return Table.from_columns("topics", columns)


def _writer(output: Path) -> Callable[[Iterator[Table]], None]:
    """What writes tables to this place."""
    if output.suffix in (".csv", ".tsv"):
        return lambda tables: write_atomically(output, _text(tables, output.suffix[1:]))
    if not output.parent.is_dir():
        raise InputError("there is no such directory", path=output.parent, hint="make it first")
    if output.suffix == ".parquet":
        return lambda tables: _write_parquet(output, tables)
    if output.exists():
        raise InputError("there is a file or directory already", path=output, hint="choose another name")
    return lambda tables: _write_dataset(output, tables)


def _text(tables: Iterator[Table], form: str) -> Iterator[str]:
    """The tables as one: the columns are named once."""
    first = True
    for table in tables:
        text = table.csv() if form == "csv" else table.tsv()
        yield text if first else text.partition("\n")[2]
        first = False


def _arrow(table: Table) -> Any:
    import pyarrow as pa

    columns = table.frame_columns()
    kinds = {"value": pa.float64()}
    return pa.table(
        {name: pa.array(list(columns[name]), kinds.get(name, pa.string())) for name in table.columns}
    )


def _write_parquet(output: Path, tables: Iterator[Table]) -> None:
    import pyarrow.parquet as pq

    with tempfile.TemporaryDirectory(dir=output.parent, prefix=f".{output.name[:40]}.") as place:
        made, writer = Path(place) / "values.parquet", None
        try:
            for table in map(_arrow, tables):
                writer = writer or pq.ParquetWriter(made, table.schema)
                writer.write_table(table)
        finally:
            if writer is not None:
                writer.close()
        made.replace(output)


def _write_dataset(output: Path, tables: Iterator[Table]) -> None:
    import pyarrow.parquet as pq

    place = Path(tempfile.mkdtemp(dir=output.parent, prefix=f".{output.name[:40]}."))
    try:
        for number, table in enumerate(map(_arrow, tables)):
            pq.write_table(table, place / f"part-{number:06}.parquet")
        place.chmod(0o755)
        place.rename(output)
    except BaseException:
        shutil.rmtree(place, ignore_errors=True)
        raise
