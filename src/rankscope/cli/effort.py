"""How much effort runs cost: archetypes of their curves, effort/gain planes, and the 2012 indicators.

The plane sets Twist (huge effort below 1/4, high below 1/2, medium below 3/4, low from there on) against the quartiles
of a gain measure; a gain equal to a quartile belongs to the row below it, and the tables say when quartiles coincide.
-q adds the archetype and the indicators of every run and topic; --cell lists the runs and topics in one cell of a
plane. JSON always has everything.

examples:
  rankscope effort qrels.txt runs/
  rankscope effort qrels.txt runs/ -m "AP nDCG@10" --crossing matters
  rankscope effort qrels.txt runs/ --cell "AP huge huge"      great by AP, at a huge effort
  rankscope effort qrels.txt runs/ --top 0.75                  without the worst quarter by AP
  rankscope effort qrels.txt runs/ -q -f csv -o effort.csv
  rankscope effort qrels.txt runs/ -m AP --plot plane.pdf
"""

from __future__ import annotations

import argparse
from typing import Any

from rankscope.analysis.effort import DEFAULT_GAINS, EFFORTS, GAINS, Effort, effort_of
from rankscope.cli import options
from rankscope.cli.output import emit, format_of
from rankscope.errors import SettingsError
from rankscope.judging import judge
from rankscope.measures.effort_curves import CROSSINGS
from rankscope.plots import FIGURES
from rankscope.result import TableResult
from rankscope.tables import Table


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
    parser.add_argument("-q", "--topics", action="store_true", help="every run and topic as well")
    options.add_top(parser)
    options.add_output(parser)
    options.add_plot(parser)
    parser.add_argument(
        "--figure",
        choices=tuple(FIGURES["quadrants"]),
        default="plane",
        help="what --plot draws (default: plane, of the first measure)",
    )
    parser.add_argument(
        "--highlight",
        action="append",
        default=[],
        metavar="RUN",
        help="a run to mark in the plane; repeatable",
    )


def run(args: argparse.Namespace) -> None:
    gains = options.measures(args)
    collection = options.collection(args, gains)
    found = effort_of(
        judge(*collection, jobs=args.jobs), gains, crossing=args.crossing, cutoff=args.cutoff, **options.top(args),
        missing=args.missing, settings=collection.settings,
    )  # fmt: skip
    more = {"highlight": args.highlight} if args.figure == "plane" else {}

    def figure() -> Any:
        return found.plot(args.figure, **more)

    if args.cell is not None:
        points = _cell(found, args.cell)
        tables = {**found.tables, points.name: points} if format_of(args) == "json" else {points.name: points}
        emit(args, TableResult(tables, found.settings, [points.name]), figure=figure)
        return
    lists = ["archetypes", "indicators"] if args.topics else []
    display = [*found.display, *(found[name] for name in lists)]
    emit(args, found, main=[*found.main, *lists], display=display, figure=figure)


def _cell(found: Effort, text: str) -> Table:
    words = text.rsplit(None, 2)
    if len(words) != 3:
        hint = "write a measure, a gain and an effort, such as 'AP huge huge'"
        raise SettingsError(f"--cell {text!r} names no cell", hint=hint)
    return found.points(words[0], gain=words[1], effort=words[2])
