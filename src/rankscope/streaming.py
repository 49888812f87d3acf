"""Evaluation of runs that do not fit into memory: values are written piece by piece.

Pieces hold complete rankings (:mod:`rankscope.judging.pieces`) and are evaluated by any engine; the judgments are sent
to it once. Values are written at once, in the order of the pieces, so that the output does not depend on the engine,
and memory does not grow with the runs.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rankscope.arrays import Bools, Floats, Int32s
from rankscope.columns import CategoricalColumn
from rankscope.engines import on_engine, stream_pieces
from rankscope.errors import InputError
from rankscope.files import write_atomically
from rankscope.judging import pieces as run_pieces
from rankscope.judging.lists import Lists
from rankscope.judging.pieces import Piece
from rankscope.judging.pool import Pool
from rankscope.lazy import LazyModule
from rankscope.measures import Measure, needs_aspects
from rankscope.measures.base import evaluate_all
from rankscope.progress import progress
from rankscope.read import Qrels, open_qrels
from rankscope.read.runs import as_runs
from rankscope.read.topics import select_topics
from rankscope.scores import check_missing, require_measures
from rankscope.tables import Table

__all__ = ["StreamSummary", "evaluate_into"]

pa, pq = LazyModule("pyarrow"), LazyModule("pyarrow.parquet")


class StreamSummary(NamedTuple):
    """Path of the output, and numbers of pieces, runs, rankings and rows."""

    path: str
    pieces: int
    runs: int
    lists: int
    rows: int


class Values(NamedTuple):
    """Values of rankings: names of runs, and per ranking the index of its run, its topic and its values.

    ``run`` and ``topic`` have shape (rankings,), ``values`` (rankings, measures).
    """

    runs: Sequence[str]
    run: Int32s
    topic: Int32s
    values: Floats


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
    piece_bytes: int = run_pieces.PIECE_BYTES,
    piece_rows: int = run_pieces.PIECE_ROWS,
    jobs: int | None = None,
    engine: Any = None,
) -> StreamSummary:
    """Write rows of run, topic, measure and value for all runs and topics, in bounded memory.

    Parameters
    ----------
    output
        Path of a ``.csv``, ``.tsv`` or ``.parquet`` file, or of a new directory, which becomes a Parquet dataset. It is
        written atomically.
    qrels
        Judgments, as for :func:`rankscope.evaluate`.
    runs
        Runs as for :func:`rankscope.evaluate`, or Parquet files and directories with any number of runs. The documents
        of a ranking must be contiguous.
    measures
        Measures, or their names.
    order
        Order of the documents of a ranking.
    missing
        Whether a judged topic that a run lacks is evaluated as an empty ranking (``zero``) or left out (``skip``).
    topics
        Judged topics to evaluate; all by default.
    input_format
        Formats of the files, as for :func:`rankscope.read.open_collection`.
    piece_bytes
        Size above which plain run files are split between topics; 0 never splits.
    piece_rows
        Approximate number of rows after which Parquet files are split.
    jobs
        Number of workers.
    engine
        Engine that evaluates the pieces.

    Returns
    -------
    StreamSummary
        Path and counts.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = evaluate_into(f"{folder}/v.csv", {"q1": {"d1": 1}}, {"bm25": {"q1": {"d1": 2.0}}}, "AP")
    ...     print(Path(f"{folder}/v.csv").read_text().split())
    ['run,topic,measure,value', 'bm25,q1,AP,1.0']
    """
    check_missing(missing)
    parsed = require_measures(measures)
    writer = _make_writer(Path(output))
    formats = input_format or {}
    judged = open_qrels(qrels, needs_aspects=needs_aspects(parsed), input_format=formats.get("qrels"))
    if topics:
        judged = judged.with_topics(select_topics(topics, judged.topics))
    pieces = _split_runs(runs, order, formats.get("runs"), piece_bytes, piece_rows)
    if not pieces:
        raise InputError("there is no run to evaluate", hint="name at least one run file")
    names = [str(measure) for measure in parsed]
    is_seen: dict[str, Bools] = {}
    evaluate = partial(_evaluate_piece, qrels=judged, measures=parsed)
    evaluated = stream_pieces(evaluate, pieces, jobs=jobs)
    results = progress(evaluated, len(pieces), "pieces")
    counts = [0]

    def tables() -> Iterator[Table]:
        for values in _complete(zip(pieces, results, strict=True), judged, parsed, missing, is_seen):
            counts[0] += len(values.topic)
            yield _make_table(values, judged.topics, names)

    writer(tables())
    return StreamSummary(str(output), len(pieces), len(is_seen), counts[0], counts[0] * len(parsed))


def _split_runs(runs: Any, order: str, file_format: str | None, size: int, rows: int) -> list[Piece]:
    """Return the pieces of all runs, in their given order."""
    sources = runs if isinstance(runs, list | tuple) else [runs]
    pieces: list[Piece] = []
    for source in sources:
        may_be_parquet = isinstance(source, str | Path) and file_format in (None, "parquet")
        files = run_pieces.list_parquet_files(Path(source)) if may_be_parquet else []
        if files:
            pieces += run_pieces.split_parquet(files, Path(source).stem, order, rows)
        else:
            for run in as_runs(source, order, file_format).values():
                pieces += run_pieces.split_run(run, size)
    return pieces


def _evaluate_piece(piece: Piece, qrels: Qrels, measures: tuple[Measure, ...]) -> Values:
    runs: dict[str, int] = {}
    parts: list[tuple[list[int], Lists, Floats]] = []
    for names, lists in piece.lists(qrels, runs):
        numbers = [runs[name] for name in names]
        parts.append((numbers, lists, evaluate_all(measures, lists).T))
    return Values(
        list(runs),
        np.array([number for numbers, _, _ in parts for number in numbers], np.int32),
        np.concatenate([np.zeros(0, np.int32), *(lists.topic for _, lists, _ in parts)]).astype(np.int32),
        np.concatenate([np.empty((0, len(measures))), *(values for _, _, values in parts)]),
    )


def _complete(
    results: Iterable[tuple[Piece, Values]],
    qrels: Qrels,
    measures: tuple[Measure, ...],
    missing: str,
    is_seen: dict[str, Bools],
) -> Iterator[Values]:
    """Yield the values of every piece, then those of missing rankings; record the topics of each run in ``is_seen``.

    Repeated rankings, and runs without a judged topic, are errors.
    """
    paths: dict[str, str] = {}
    for piece, values in results:
        for number, name in enumerate(values.runs):
            paths.setdefault(name, str(piece.run.path or piece.run.source or piece.run.name))
            seen = is_seen.setdefault(name, np.zeros(len(qrels.topics), np.bool_))
            topics = values.topic[values.run == number]
            repeated = topics[seen[topics]]
            if len(repeated):
                raise InputError(
                    f"topic {qrels.topics[int(repeated[0])]!r} of run {name!r} is in two pieces",
                    path=str(piece.run.source or piece.run.name),
                    hint="let the lines of a topic follow one another, do not cut the file (a piece size of 0), or use"
                    " rankscope.spark.evaluate, which brings them together",
                )
            seen[topics] = True
        yield values
    for name, path in paths.items():
        if not is_seen[name].any():
            chosen, hint = "judgments", "check that the run and the judgments belong to the same collection"
            if qrels.unchosen:
                chosen, hint = "chosen topics", "choose others, or leave the run out"
            raise InputError(f"no topic in common with the {chosen}", path=path, hint=hint)
    if missing == "zero" and not all(seen.all() for seen in is_seen.values()):
        of_empty = evaluate_all(measures, Lists.empty(Pool.from_qrels(qrels))).T
        for name, seen in is_seen.items():
            absent = np.flatnonzero(~seen).astype(np.int32)
            if len(absent):
                yield Values([name], np.zeros(len(absent), np.int32), absent, of_empty[absent])


def _make_table(values: Values, topics: Sequence[str], measures: Sequence[str]) -> Table:
    count = len(measures)
    columns: dict[str, Any] = {
        "run": CategoricalColumn(values.runs, np.repeat(values.run, count)),
        "topic": CategoricalColumn(topics, np.repeat(values.topic, count)),
        "measure": CategoricalColumn(measures, np.tile(np.arange(count), len(values.topic))),
        "value": values.values.ravel(),
    }
    return Table.from_columns("topics", columns)


def _make_writer(output: Path) -> Callable[[Iterator[Table]], None]:
    """Return the function that writes tables to this path."""
    if output.suffix in (".csv", ".tsv"):
        return lambda tables: write_atomically(output, _iter_text(tables, output.suffix[1:]))
    if not output.parent.is_dir():
        raise InputError("there is no such directory", path=output.parent, hint="make it first")
    if output.suffix == ".parquet":
        return lambda tables: _write_parquet(output, tables)
    if output.exists():
        raise InputError("there is a file or directory already", path=output, hint="choose another name")
    return lambda tables: _write_dataset(output, tables)


def _iter_text(tables: Iterator[Table], file_format: str) -> Iterator[str]:
    """Yield the text of all tables, with a single header."""
    first = True
    for table in tables:
        text = table.csv() if file_format == "csv" else table.tsv()
        yield text if first else text.partition("\n")[2]
        first = False


def _to_arrow(table: Table) -> Any:
    kinds, columns = {"value": pa.float64()}, table.frame_columns().items()
    return pa.table({name: pa.array(list(column), kinds.get(name, pa.string())) for name, column in columns})


def _write_parquet(output: Path, tables: Iterator[Table]) -> None:
    with tempfile.TemporaryDirectory(dir=output.parent, prefix=f".{output.name[:40]}.") as folder:
        file, writer = Path(folder) / "values.parquet", None
        try:
            for table in map(_to_arrow, tables):
                writer = writer or pq.ParquetWriter(file, table.schema)
                writer.write_table(table)
        finally:
            if writer is not None:
                writer.close()
        file.replace(output)


def _write_dataset(output: Path, tables: Iterator[Table]) -> None:
    with tempfile.TemporaryDirectory(dir=output.parent, prefix=f".{output.name[:40]}.") as scratch:
        folder = Path(scratch) / "values"
        folder.mkdir()
        for number, table in enumerate(map(_to_arrow, tables)):
            pq.write_table(table, folder / f"part-{number:06}.parquet")
        folder.rename(output)
