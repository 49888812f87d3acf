"""How much effort runs cost: archetypes of their curves, effort/gain planes, and the 2012 indicators.

The plane sets Twist (huge effort below 1/4, high below 1/2, medium below 3/4, low from there on) against the quartiles
of a gain measure; a gain equal to a quartile belongs to the row below it, and the tables say when quartiles coincide.
-q adds the archetype and the indicators of every run and topic; --cell lists the runs and topics in one cell of a
plane; --significance counts the pairs of runs that differ by gain, by Twist, or by both. JSON always has the tables
about lists too, among them lists of equal gain from huge to low effort.

examples:
  rankscope effort qrels.txt runs/
  rankscope effort qrels.txt runs/ -m "AP nDCG@10" --crossing matters
  rankscope effort qrels.txt runs/ --cell "AP huge huge"      great by AP, at a huge effort
  rankscope effort qrels.txt runs/ --top 0.75                  without the worst quarter by AP
  rankscope effort qrels.txt runs/ -q -f csv -o effort.csv
  rankscope effort qrels.txt runs/ -m "AP nDCG" --plot planes.pdf                  the planes of both
  rankscope effort qrels.txt runs/ -m AP --colour archetype --plot plane.pdf       or --facet recall-base
  rankscope effort qrels.txt runs/ -m nDCG --figure equal-gain --plot equal.pdf    equal gain, from huge to low effort
  rankscope effort qrels.txt runs/ -m nDCG --figure equal-gain --highlight bm25:351 --highlight dense:351 --plot two.pdf
  rankscope effort qrels.txt runs/ -m AP --significance        do gain and effort differ together?
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from rankscope.choices import CLASSES, CROSSINGS, DEFAULT_GAINS, EFFORTS, GAINS
from rankscope.cli import given, options
from rankscope.cli.output import emit, format_of
from rankscope.errors import SettingsError
from rankscope.plots import FIGURES
from rankscope.result import TableResult
from rankscope.tables import Table

if TYPE_CHECKING:
    from rankscope.analysis.effort import Effort

_BY = {name.replace(" ", "-"): name for name in CLASSES}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    options.add_collection(parser)
    options.add_measures(parser, DEFAULT_GAINS)
    parser.add_argument(
        "--crossing",
        choices=CROSSINGS,
        default="sign-change",
        help="what counts as a crossing (default: sign-change)",
    )
    parser.add_argument("--cutoff", type=int, default=1000, metavar="N", help="N of Twist (default: 1000)")
    parser.add_argument(
        "--cell",
        metavar="'M GAIN EFFORT'",
        help=f"list the runs and topics of one cell; gain: {', '.join(GAINS)}; effort: {', '.join(EFFORTS)}",
    )
    options.add_topics(parser, "every run and topic as well")
    options.add_top(parser)
    options.add_output(parser)
    options.add_plot(parser)
    parser.add_argument(
        "--figure",
        choices=tuple(FIGURES["quadrants"]),
        help="what --plot draws: the plane of the first gain, the planes of all of them, lists of equal gain with their"
        " curves, archetypes, or the 2012 indicators (default: planes, or plane of a single gain)",
    )
    parser.add_argument(
        "--highlight",
        action="append",
        default=[],
        metavar="RUN[:TOPIC]",
        help="a run, or its list for a topic, to mark in the plane; repeatable. For the figure equal-gain, the lists to"
        " draw instead of those found",
    )
    for option, what in (
        (
            "--colour",
            "tell the lists of the plane apart by archetype, topic, recall base or group of their run",
        ),
        (
            "--facet",
            "a small plane for each archetype, topic, quarter of the recall bases or group, of the first gain",
        ),
    ):
        parser.add_argument(option, choices=tuple(_BY), help=what)
    options.add_groups(parser, "with --colour or --facet group: ")
    parser.add_argument(
        "--significance",
        action="store_true",
        help="test pairs of runs by gain and by Twist, within and across the cells of the plane (paired t test)",
    )
    parser.add_argument(
        "--alpha", type=float, default=0.05, metavar="A", help="level of --significance (default: 0.05)"
    )


def run(args: argparse.Namespace) -> None:
    from rankscope.analysis.effort import effort_of
    from rankscope.judging import judge

    gains = given.measures(args)
    collection = given.collection(args, gains)
    found = effort_of(
        judge(*collection, jobs=args.jobs), gains, crossing=args.crossing, cutoff=args.cutoff, **given.top(args),
        missing=args.missing, groups=args.groups, settings=collection.settings,
    )  # fmt: skip
    kind = args.figure or ("planes" if len(gains) > 1 and not args.facet else "plane")

    def figure() -> Any:
        return found.plot(kind, **_marks(args, found, kind))

    if args.significance:
        tested = found.significance(alpha=args.alpha)
        tables = {**found.tables, **tested.tables} if format_of(args) == "json" else tested.tables
        main = ["significance", *(["significance_pairs"] if args.per_topic else [])]
        emit(args, TableResult(tables, tested.settings, main), figure=figure)
        return
    if args.cell is not None:
        points = _cell(found, args.cell)
        tables = {**found.tables, points.name: points} if format_of(args) == "json" else {points.name: points}
        emit(args, TableResult(tables, found.settings, [points.name]), figure=figure)
        return
    lists = ["archetypes", "indicators"] if args.per_topic else []
    display = [*found.display, *(found[name] for name in lists)]
    emit(args, found, main=[*found.main, *lists], display=display, figure=figure)


def _marks(args: argparse.Namespace, found: Effort, kind: str) -> dict[str, Any]:
    """What --highlight says, for a figure: runs, or (run, topic) pairs where a name is no run."""
    marks: list[str | tuple[str, str]] = []
    for text in args.highlight:
        run, colon, topic = text.rpartition(":")
        marks.append((run, topic) if colon and text not in found.judged.runs else text)
    if kind != "equal-gain":
        facet = {"facet": _BY.get(args.facet)} if kind == "plane" else {}
        return (
            {"highlight": marks, "colour": _BY.get(args.colour), **facet} if kind.startswith("plane") else {}
        )
    if not all(isinstance(mark, tuple) for mark in marks):
        raise SettingsError(
            "the figure equal-gain shows single lists", hint="write --highlight RUN:TOPIC, up to four times"
        )
    return {"lists": marks}


def _cell(found: Effort, text: str) -> Table:
    words = text.rsplit(None, 2)
    if len(words) != 3:
        hint = "write a measure, a gain and an effort, such as 'AP huge huge'"
        raise SettingsError(f"--cell {text!r} names no cell", hint=hint)
    return found.points(words[0], gain=words[1], effort=words[2])
