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
    """A flag with which QRELS and RUN need not be named."""

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
        help="a run, or its ranking for a topic, to mark in the plane; repeatable. For the figure equal-gain, the"
        " rankings to draw instead of those found",
    )
    for option, what in (
        ("--colour", "colour the points of the plane by class"),
        ("--facet", "draw a plane per class"),
    ):
        parser.add_argument(
            option, choices=tuple(_BY), help=f"{what}; the quarters of the recall bases are classes"
        )
    parser.add_argument(
        "--significance",
        action="store_true",
        help="test pairs of runs by gain and by Twist, within and across the cells of the plane (paired t test)",
    )
    parser.add_argument(
        "--alpha", type=float, default=0.05, metavar="A", help="level of --significance (default: 0.05)"
    )
    parser.add_argument(
        "--enumerate",
        action=_Enumerate,
        nargs=0,
        default=False,
        help="instead of QRELS and RUN: enumerate all rankings of small topics, and show for each archetype what"
        " crossing, balance point, ratios and Twist can be, and which entries of Figures 4 to 6 of Ferro and others"
        " (2016) hold",
    )
    for name, (metavar, default, meaning) in _SIZES.items():
        parser.add_argument(
            f"--{name.replace('_', '-')}",
            type=int,
            default=default,
            metavar=metavar,
            help=f"of --enumerate: {meaning} (default: {default})",
        )


def run(args: argparse.Namespace) -> None:
    if args.enumerate:
        emit(args, _enumerated(args))
        return
    found: Effort = derived.call(args, effort)
    kind = args.figure or ("planes" if len(found.gains) > 1 and not args.facet else "plane")
    main, display = derived.select_tables(args, found)

    def figure() -> Any:
        return found.plot(kind, **_marks(args, found, kind))

    if args.significance:
        tested = found.significance(alpha=args.alpha)
        more, main = dict(tested.tables), ["significance", *(["significance_pairs"] if len(main) > 3 else [])]
        settings = tested.settings
    elif args.cell is not None:
        points = _cell(found, args.cell)
        more, main, settings = {points.name: points}, [points.name], found.settings
    else:
        emit(args, found, main=main, display=display, figure=figure)
        return
    tables = {**found.tables, **more} if choose_format(args) == "json" else more
    emit(args, TableResult(tables, settings, main), figure=figure)


def _enumerated(args: argparse.Namespace) -> TableResult:
    """Return what is possible on all rankings of small topics."""
    from rankscope.lab.ranges import archetype_ranges

    if args.qrels is not None:
        raise SettingsError("--enumerate takes the place of QRELS and RUN", hint="leave these out")
    silence(args.quiet)
    return archetype_ranges(
        args.relevant, args.length, args.relevant_grades, crossing=args.crossing, jobs=args.jobs
    )


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
