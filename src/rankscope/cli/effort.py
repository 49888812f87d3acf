"""``rankscope effort``: the derived command, cells and tests of the plane, and all rankings of small topics."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from rankscope.analysis.effort import Effort, effort
from rankscope.choices import CLASSES, EFFORTS, GAINS
from rankscope.cli import derived, options
from rankscope.cli.output import choose_format, emit
from rankscope.declaration import Level, Option
from rankscope.errors import SettingsError
from rankscope.result import TableResult
from rankscope.tables import Table

__doc__ = derived.describe(effort)
_BY = {name.replace(" ", "-"): name for name in CLASSES}


@dataclass
class Options:
    """Options of the command in addition to those of the analysis.

    Parameters
    ----------
    highlight
        Run, or its ranking for a topic, to mark in the plane; repeatable. For the figure equal-gain, the rankings to
        draw (default: rankings of about equal gain).
    colour
        Colour the points of the plane by class; the quarters of the recall bases are classes.
    facet
        Draw a plane per class; the quarters of the recall bases are classes.
    significance
        Test pairs of runs by gain and by Twist, within and across the cells of the plane (paired t test).
    alpha
        Significance level of --significance.
    relevant
        With --enumerate: largest recall base.
    length
        With --enumerate: longest ranking.
    relevant_grades
        With --enumerate: number of relevant grades.
    """

    highlight: Annotated[Sequence[str], Option("RUN[:TOPIC]")] = ()
    colour: Annotated[str | None, Option(choices=tuple(_BY))] = None
    facet: Annotated[str | None, Option(choices=tuple(_BY))] = None
    significance: bool = False
    alpha: Level = 0.05
    relevant: Annotated[int, Option("RB")] = 6
    length: Annotated[int, Option("N")] = 14
    relevant_grades: Annotated[int, Option("G")] = 2


def add_arguments(parser: argparse.ArgumentParser) -> None:
    derived.add_arguments(parser, effort)
    words = f"gain: {', '.join(GAINS)}; effort: {', '.join(EFFORTS)}"
    cell = f"list the runs and topics of one cell; {words}"
    parser.add_argument("--cell", metavar="'M GAIN EFFORT'", help=cell)
    options.add_options(parser, Options)
    parser.add_argument(
        "--enumerate",
        action=options.InsteadOfCollection,
        nargs=0,
        default=False,
        help="instead of QRELS and RUN: enumerate all rankings of small topics, and print the ranges of crossing,"
        " balance point, ratios and Twist of each archetype, and which entries of Figures 4 to 6 of Ferro et al."
        " (2016) hold",
    )


def run(args: argparse.Namespace) -> None:
    if args.enumerate:
        emit(args, _enumerate(args))
        return
    result: Effort = derived.call(args, effort)
    kind = args.figure or ("planes" if len(result.gains) > 1 and not args.facet else "plane")
    main, display = derived.select_tables(args, result)

    def figure() -> Any:
        return result.plot(kind, **_figure_options(args, result, kind))

    if args.significance:
        tested = result.significance(alpha=args.alpha)
        more, main = dict(tested.tables), ["significance", *(["significance_pairs"] if len(main) > 3 else [])]
        settings = tested.settings
    elif args.cell is not None:
        points = _cell(result, args.cell)
        more, main, settings = {points.name: points}, [points.name], result.settings
    else:
        emit(args, result, main=main, display=display, figure=figure)
        return
    tables = {**result.tables, **more} if choose_format(args) == "json" else more
    emit(args, TableResult(tables, settings, main), figure=figure)


def _enumerate(args: argparse.Namespace) -> TableResult:
    """Return the ranges of archetypes over all rankings of small topics."""
    from rankscope.lab.ranges import archetype_ranges

    if args.qrels is not None:
        raise SettingsError("--enumerate replaces QRELS and RUN", hint="leave these out")
    return archetype_ranges(
        args.relevant, args.length, args.relevant_grades, crossing=args.crossing, jobs=args.jobs
    )


def _figure_options(args: argparse.Namespace, result: Effort, kind: str) -> dict[str, Any]:
    """Return the options of a figure; --highlight is a run, or a (run, topic) pair if there is no such run."""
    marks: list[str | tuple[str, str]] = []
    for text in args.highlight or ():
        run, colon, topic = text.rpartition(":")
        marks.append((run, topic) if colon and text not in result.judged.runs else text)
    if kind != "equal-gain":
        facet = {"facet": _BY.get(args.facet)} if kind == "plane" else {}
        plane = {"highlight": marks, "colour": _BY.get(args.colour), **facet}
        return plane if kind.startswith("plane") else {}
    if not all(isinstance(mark, tuple) for mark in marks):
        hint = "write --highlight RUN:TOPIC, up to four times"
        raise SettingsError("the figure equal-gain shows single rankings", hint=hint)
    return {"lists": marks}


def _cell(result: Effort, text: str) -> Table:
    words = text.rsplit(None, 2)
    if len(words) != 3:
        hint = "write a measure, a gain and an effort, such as 'AP huge huge'"
        raise SettingsError(f"--cell {text!r} names no cell", hint=hint)
    return result.points(words[0], gain=words[1], effort=words[2])
