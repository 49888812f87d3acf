"""One run on one topic, rank by rank: grades, relative position (RP), its running sum (CRP), DCG, and marked points.

RP says how far a document stands from the ranks that its grade has in the ideal list: negative if it comes too early,
positive if too late. The points are the recall base, the turn-around, the balance points and the crossings of the axis.

examples:
  rankscope curve qrels.txt bm25.run --topic 351
  rankscope curve qrels.txt bm25.run --topic 351 --cutoff 1000 --head 30
  rankscope curve qrels.txt bm25.run --topic 351 -f json -o curve.json
  rankscope curve qrels.txt bm25.run --topic 351 --gains 0,5,10 --discount jk --base 10 --plot curve.pdf
  rankscope curve qrels.txt bm25.run --topic 351 --axis linear --bars linear --plot curve.pdf
  rankscope curve qrels.txt bm25.run --topic 351 --figure rp --plot rp.pdf    how RP arises, document by document
  # what if the document at rank 5 stood at rank 2, and that at rank 7 were one of grade 1?
  rankscope curve qrels.txt bm25.run --topic 351 --edits "m5-2 r7=1"
"""

from __future__ import annotations

import argparse
import shutil
import sys
import textwrap
from dataclasses import replace
from typing import TYPE_CHECKING

from rankscope.choices import AXES
from rankscope.cli import given, options
from rankscope.cli.output import emit, format_of
from rankscope.errors import printable
from rankscope.plots import FIGURES
from rankscope.tables import Table

if TYPE_CHECKING:
    from rankscope.analysis.curve import Curve

_HEAD = 50


def add_arguments(parser: argparse.ArgumentParser) -> None:
    options.add_collection(parser)
    parser.add_argument("--topic", required=True, metavar="T", help="the topic")
    parser.add_argument(
        "--cutoff", type=int, metavar="N", help="evaluate at N ranks (default: the documents of the list)"
    )
    parser.add_argument(
        "--head",
        type=int,
        default=_HEAD,
        metavar="N",
        help=f"ranks shown to people; 0: all (default: {_HEAD})",
    )
    parser.add_argument(
        "--gains",
        default="linear",
        help="gains of DCG: linear, exp2, or a list for grades 0, 1, ... such as 0,5,10",
    )
    parser.add_argument("--discount", default="log2", help="discount of DCG: log2 or jk (default: log2)")
    parser.add_argument("--base", type=float, default=2.0, help="base of the jk discount (default: 2)")
    parser.add_argument(
        "--edits",
        metavar="E",
        help="change the list first: m5-2 moves the document at rank 5 to rank 2, r7=1 replaces the one at rank 7 by "
        "one of grade 1 that the list lacks; several in quotes (default: the list as it is)",
    )
    options.add_output(parser)
    options.add_plot(parser)
    parser.add_argument(
        "--figure",
        choices=tuple(FIGURES["references"]),
        default="crp",
        help="what --plot draws: CRP above the bars of RP, CRP beside DCG, or how RP arises (default: crp)",
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
    parser.add_argument("--dcg", action="store_true", help="the same as --figure dcg")
    parser.add_argument("--ranks", type=int, metavar="N", help="ranks in the figure rp (default: 24)")


def run(args: argparse.Namespace) -> None:
    from rankscope.analysis.curve import curve

    qrels, runs = given.collection(args, [])
    found = curve(
        qrels,
        runs,
        args.topic,
        cutoff=args.cutoff,
        gains=args.gains,
        discount=args.discount,
        base=args.base,
        order=args.order,
        edits=args.edits,
    )
    display = [_head(found.table, args.head), *found.display[1:]]
    kind = "dcg" if args.dcg else args.figure
    more = {"ranks": args.ranks} if kind == "rp" else {"axis": args.axis, "bars": args.bars}
    if args.output is None and format_of(args) == "table":
        sys.stdout.write(_picture(found))
    emit(args, found, display=display, figure=lambda: found.plot(kind, **more))


def _picture(found: Curve) -> str:
    """CRP from the first rank to the last, for people who look at a terminal."""
    from rankscope.plots.blocks import drawn

    width = min(100, shutil.get_terminal_size((80, 24)).columns)
    twist = {str(row[0]): row[1] for row in found.values.rows}[found.label("Twist", "sign-change")]
    known = f", {found.label('Twist')} {twist:.4f}" if isinstance(twist, float) and found.recall_base else ""
    edits = f" after {found.settings['edits']}" if "edits" in found.settings else ""
    title = f"CRP of {found.run} on topic {found.topic}{edits}: {found.recall_base} relevant documents{known}"
    lines = drawn(found.crp.tolist(), width)
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
