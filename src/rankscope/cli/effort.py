"""``rankscope effort``: the derived command, cells and tests of the plane, and all rankings of small topics."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from rankscope.analysis.effort import effort
from rankscope.choices import CLASSES, EFFORTS, GAINS
from rankscope.cli import derived
from rankscope.cli.output import choose_format, emit
from rankscope.errors import SettingsError
from rankscope.progress import silence
from rankscope.result import TableResult
from rankscope.tables import Table

if TYPE_CHECKING:
    from rankscope.analysis.effort import Effort

__doc__ = derived.describe(effort)
_BY = {name.replace(" ", "-"): name for name in CLASSES}
_SIZES = {
    "relevant": ("RB", 6, "largest recall base"),
    "length": ("N", 14, "longest ranking"),
    "relevant_grades": ("G", 2, "number of relevant grades"),
}
"""Options of --enumerate: metavar, default, meaning."""


class _Enumerate(argparse.Action):
    """Flag that makes QRELS and RUN optional."""

    def __call__(self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, *_: Any) -> None:
        namespace.enumerate = True
        for action in parser._actions:
            if action.dest in ("qrels", "runs"):
                action.required = False


def add_arguments(parser: argparse.ArgumentParser) -> None:
    derived.add_arguments(parser, effort)
    parser.add_argument(
        "--cell",
        metavar="'M GAIN EFFORT'",
        help=f"list the runs and topics of one cell; gain: {', '.join(GAINS)}; effort: {', '.join(EFFORTS)}",
    )
    parser.add_argument(
        "--highlight",
        action="append",
        default=[],
        metavar="RUN[:TOPIC]",
        help="run, or its ranking for a topic, to mark in the plane; repeatable. For the figure equal-gain, the"
        " rankings to draw (default: rankings of about equal gain)",
    )
    for option, meaning in (
        ("--colour", "colour the points of the plane by class"),
        ("--facet", "draw a plane per class"),
    ):
        parser.add_argument(
            option, choices=tuple(_BY), help=f"{meaning}; the quarters of the recall bases are classes"
        )
    parser.add_argument(
        "--significance",
        action="store_true",
        help="test pairs of runs by gain and by Twist, within and across the cells of the plane (paired t test)",
    )
    parser.add_argument(
        "--alpha",
        type=float,
        default=0.05,
        metavar="A",
        help="significance level of --significance (default: 0.05)",
    )
    parser.add_argument(
        "--enumerate",
        action=_Enumerate,
        nargs=0,
        default=False,
        help="instead of QRELS and RUN: enumerate all rankings of small topics, and print the ranges of crossing,"
        " balance point, ratios and Twist of each archetype, and the entries of Figures 4 to 6 of Ferro and others"
        " (2016) that hold",
    )
    for name, (metavar, default, meaning) in _SIZES.items():
        parser.add_argument(
            f"--{name.replace('_', '-')}",
            type=int,
            default=default,
            metavar=metavar,
            help=f"with --enumerate: {meaning} (default: {default})",
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
    silence(args.quiet)
    return archetype_ranges(
        args.relevant, args.length, args.relevant_grades, crossing=args.crossing, jobs=args.jobs
    )


def _figure_options(args: argparse.Namespace, result: Effort, kind: str) -> dict[str, Any]:
    """Return the options of a figure; --highlight is a run, or a (run, topic) pair if there is no such run."""
    marks: list[str | tuple[str, str]] = []
    for text in args.highlight:
        run, colon, topic = text.rpartition(":")
        marks.append((run, topic) if colon and text not in result.judged.runs else text)
    if kind != "equal-gain":
        facet = {"facet": _BY.get(args.facet)} if kind == "plane" else {}
        return (
            {"highlight": marks, "colour": _BY.get(args.colour), **facet} if kind.startswith("plane") else {}
        )
    if not all(isinstance(mark, tuple) for mark in marks):
        raise SettingsError(
            "the figure equal-gain shows single rankings",
            hint="write --highlight RUN:TOPIC, up to four times",
        )
    return {"lists": marks}


def _cell(result: Effort, text: str) -> Table:
    words = text.rsplit(None, 2)
    if len(words) != 3:
        hint = "write a measure, a gain and an effort, such as 'AP huge huge'"
        raise SettingsError(f"--cell {text!r} names no cell", hint=hint)
    return result.points(words[0], gain=words[1], effort=words[2])
