"""The short way of ``eval``: plain files, the usual measures, rows for programs; without numpy, which takes most of the
time of a short command to load.

What is asked for in any other way, and files that are unusual in any way, are left to the usual way, which can do
everything. Nothing is decided here: names, formats, formulas, means and tables come from where the usual way has them,
and both give the same bytes.
"""

from __future__ import annotations

import argparse
from array import array
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from rankscope.cli import given
from rankscope.cli.output import format_of
from rankscope.columns import Coded
from rankscope.errors import RankscopeError
from rankscope.progress import silence, visible
from rankscope.tables import Table

if TYPE_CHECKING:
    from rankscope.judging.plain_lists import PlainLists
    from rankscope.judging.plain_runs import PlainRun
    from rankscope.measures import Measure
    from rankscope.read.source import Source
    from rankscope.scan.judgments import Judgments
    from rankscope.vectors import Vector

__all__ = ["short_way"]

_WITH_A_BAR = 1 << 28  # bytes: who waits for more sees how far reading is, which the usual way shows
_AS_USUAL = {
    **dict.fromkeys(("engine", "topics", "plugin", "sort", "plot", "grades", "input_format"), None),
    **dict.fromkeys(("stream", "ci"), False),
    "ties": "break",
    "unjudged": "nonrelevant",
}


class _Plain(NamedTuple):
    """What was evaluated: of each run and measure a value for every topic."""

    runs: Sequence[str]
    topics: Sequence[str]
    measures: Sequence[Measure]
    values: Sequence[Sequence[Vector]]


def short_way(args: argparse.Namespace) -> Table | None:
    """The table to print; None if it takes the usual way. Files are being read ahead."""
    if format_of(args) not in ("tsv", "csv") or "-" in (args.qrels, *args.runs):
        return None
    if any((getattr(args, name) or usual) != usual for name, usual in _AS_USUAL.items()):
        return None
    from rankscope.scan import ahead
    from rankscope.vectors import BeyondVectors, available

    if not (ahead.is_reading() and available()):
        return None
    try:
        found = _evaluated(args)
    except (BeyondVectors, RankscopeError, OSError):  # the usual way says what is wrong, if anything
        return None
    if found is None:
        return None
    return _topics(found) if args.per_topic else _means(found)


def _evaluated(args: argparse.Namespace) -> _Plain | None:
    from rankscope.judging.plain_lists import PlainLists
    from rankscope.judging.plain_runs import plain_pool, plain_run
    from rankscope.measures import at_level
    from rankscope.scan import ahead

    silence(args.quiet)
    measures = given.measures(args)
    if args.rel is not None:
        measures = at_level(measures, args.rel)
    judgments = _judgments(args.qrels)
    if judgments is None or judgments.several or any(measure.needs_aspects for measure in measures):
        return None
    pool = plain_pool(judgments)
    lacking = PlainLists.empty(pool)
    empty = [_vector(measure, lacking) for measure in measures]  # first: it tells whether vectors will do
    sources = _sources(args.runs)
    if sources is None or (visible() and sum(source.size for _, source in sources) > _WITH_A_BAR):
        return None
    ahead.hurry()
    values = []
    for _, source in sources:
        parts = ahead.parts_of(source.stamp)
        run = plain_run(pool, parts) if parts else None
        if run is None or not source.is_unchanged() or not (run.complete or args.missing == "zero"):
            return None
        if not args.quiet and _worth_a_note(run):
            return None
        values.append(
            [_by_topic(run, measure, missing) for measure, missing in zip(measures, empty, strict=True)]
        )
    return _Plain([name for name, _ in sources], judgments.topics, measures, values)


def _judgments(name: str) -> Judgments | None:
    """The judgments of a plain file, which have been read ahead."""
    from rankscope.read.datasets import dataset_id
    from rankscope.read.formats import format_of as format_of_file
    from rankscope.read.source import Source, only_file
    from rankscope.scan.ahead import judgments_read

    if dataset_id(name):
        return None
    text = Source.of(only_file(name))
    return judgments_read(text.stamp) if format_of_file(text, "qrels") == "trec" else None


def _sources(names: Sequence[str]) -> list[tuple[str, Source]] | None:
    """The run files by the names of their runs, if all are plain TREC files that are called after themselves."""
    from rankscope.read.formats import format_and_head
    from rankscope.read.run_names import kind_of, names_of, run_files
    from rankscope.read.source import Source

    paths = []
    for name in names:
        files, others = run_files(name)
        if others or any(kind_of(file) != "a file" for file in files):  # a pipe can be read only once
            return None
        paths += files
    found = []
    for path, name in zip(paths, names_of(paths), strict=True):
        source = Source.of(path)
        form, head = format_and_head(source, "run")
        if form != "trec" or head.startswith(b"#"):  # which may be a header that names the run
            return None
        found.append((name, source))
    return found


def _vector(measure: Measure, lists: PlainLists) -> Vector:
    """The value of every list, if the formula knows nothing but vectors."""
    from rankscope.vectors import BeyondVectors, Vector

    try:
        values = measure.of(lists)  # type: ignore[arg-type]
    except Exception as error:  # measures of other packages may do anything
        raise BeyondVectors(str(measure)) from error
    if not isinstance(values, Vector):
        raise BeyondVectors(str(measure))
    return values


def _by_topic(run: PlainRun, measure: Measure, missing: Vector) -> Vector:
    """The value of every topic; of one that the run does not have, that of an empty list."""
    values = missing.copy()
    values.put(run.lists.topic, _vector(measure, run.lists))
    return values


def _worth_a_note(run: PlainRun) -> bool:
    """Whether the usual way would say something about the run: see :mod:`rankscope.cli.notes`."""
    from rankscope.judging.shares import TIED_SHARE, UNJUDGED_SHARE

    slots, known = run.lists.retrieved(10).total(), len(run.lists.hits(10))
    unjudged = 1 - known / slots if slots else 0.0
    tied = run.tied / max(run.lists.length.total(), 1)
    return run.ignored or not run.complete or unjudged >= UNJUDGED_SHARE or tied >= TIED_SHARE


def _topics(found: _Plain) -> Table:
    """As :meth:`rankscope.scores.Scores.topics_table` with means."""
    many, width, runs = len(found.measures), len(found.topics) + 1, len(found.runs)
    value, topic, run = array("d"), array("i", bytes(4 * many * width)), array("i")
    for number, values in enumerate(found.values):
        mine = array("d", bytes(8 * many * width))
        for place, (measure, one) in enumerate(zip(found.measures, values, strict=True)):
            mine[place::many] = array("d", one) + array("d", [measure.mean(one)])
        value += mine
        run += array("i", [number]) * (many * width)
    for place in range(many):
        topic[place::many] = array("i", range(width))
    return Table.of_columns(
        "topics",
        {
            "run": Coded(found.runs, run),
            "topic": Coded((*found.topics, "all"), topic * runs),
            "measure": Coded(list(map(str, found.measures)), array("i", range(many)) * (width * runs)),
            "value": value,
        },
    )


def _means(found: _Plain) -> Table:
    """As :meth:`rankscope.scores.Scores.means_table`."""
    rows = [
        (run, str(measure), measure.mean(mine), len(found.topics))
        for run, values in zip(found.runs, found.values, strict=True)
        for measure, mine in zip(found.measures, values, strict=True)
    ]
    return Table("means", ("run", "measure", "value", "topics"), rows)
