"""``rankscope curve``: the derived command, a picture of CRP for people, and the looks of its figures."""

from __future__ import annotations

import argparse
import shutil
import sys
import textwrap
from dataclasses import replace
from typing import TYPE_CHECKING

from rankscope.analysis.curve import curve
from rankscope.choices import AXES
from rankscope.cli import derived
from rankscope.cli.output import choose_format, emit
from rankscope.errors import printable
from rankscope.tables import Table

if TYPE_CHECKING:
    from rankscope.analysis.curve import Curve

__doc__ = derived.describe(curve)
_HEAD = 50


def add_arguments(parser: argparse.ArgumentParser) -> None:
    derived.add_arguments(parser, curve)
    parser.add_argument(
        "--head",
        type=int,
        default=_HEAD,
        metavar="N",
        help=f"ranks shown to people; 0: all (default: {_HEAD})",
    )
    parser.add_argument(
        "--axis",
        choices=AXES,
        default="auto",
        help="ranks in the figures crp and dcg: linear, log, or log beyond 100 ranks (default: auto)",
    )
    parser.add_argument(
        "--bars",
        choices=AXES,
        default="auto",
        help="bars in these figures: linear, log, or log where the largest is 15 times the smallest (default: auto)",
    )
    parser.add_argument("--ranks", type=int, metavar="N", help="ranks in the figure rp (default: 24)")


def run(args: argparse.Namespace) -> None:
    found: Curve = derived.call(args, curve)
    more = {"ranks": args.ranks} if args.figure == "rp" else {"axis": args.axis, "bars": args.bars}
    if args.output is None and choose_format(args) == "table":
        sys.stdout.write(_picture(found))
    display = [_head(found.curve, args.head), *found.display[1:]]
    emit(args, found, display=display, figure=lambda: found.plot(args.figure, **more))


def _picture(found: Curve) -> str:
    """CRP from the first rank to the last, for people who look at a terminal."""
    from rankscope.plots.blocks import draw_blocks

    width = min(100, shutil.get_terminal_size((80, 24)).columns)
    twist = {row.name: row.value for row in found.values}[found.label("Twist", "sign-change")]
    known = f", {found.label('Twist')} {twist:.4f}" if isinstance(twist, float) and found.recall_base else ""
    edits = f" after {found.settings['edits']}" if "edits" in found.settings else ""
    title = f"CRP of {found.run} on topic {found.topic}{edits}: {found.recall_base} relevant documents{known}"
    lines = draw_blocks(found.crp.tolist(), width)
    margin = lines[0].index("│")
    reach = max(map(len, lines)) - margin - 1
    last = f"rank {found.length}"
    axis = f"{'':>{margin}} {'1':<{max(2, reach - len(last))}}{last}"
    return "\n".join([*textwrap.wrap(printable(title), width), *lines, axis, "", ""])


def _head(table: Table, rows: int) -> Table:
    """The first ranks, with a word about the others."""
    if rows <= 0 or len(table) <= rows:
        return table
    caption = f"{table.caption} (the first {rows} of {len(table)} ranks; --head 0 shows all)"
    return replace(table, rows=table.rows[:rows], caption=caption)
