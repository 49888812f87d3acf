"""``rankscope curve``: the derived command, a plot of CRP in characters, and options of its figures."""

import argparse
import sys
import textwrap
from dataclasses import dataclass, replace
from typing import Annotated

from rankscope.analysis.curve import Curve, curve
from rankscope.choices import AXES
from rankscope.cli import derived, options
from rankscope.cli.output import choose_format, emit
from rankscope.declaration import Option
from rankscope.errors import printable
from rankscope.tables import Table
from rankscope.text_layout import terminal_columns

__doc__ = derived.describe(curve)


@dataclass
class Options:
    """Options of tables and figures.

    Parameters
    ----------
    head
        Number of ranks in tables; 0 for all.
    axis
        Scale of ranks in the figures crp and dcg: linear, log, or log beyond 100 ranks.
    bars
        Scale of bars in these figures: linear, log, or log if the ratio exceeds 15.
    ranks
        Number of ranks in the figure rp (default: 24).
    """

    head: Annotated[int, Option("N")] = 50
    axis: Annotated[str, Option(choices=AXES)] = "auto"
    bars: Annotated[str, Option(choices=AXES)] = "auto"
    ranks: Annotated[int | None, Option("N")] = None


def add_arguments(parser: argparse.ArgumentParser) -> None:
    derived.add_arguments(parser, curve)
    options.add_options(parser, Options)


def run(args: argparse.Namespace) -> None:
    result: Curve = derived.call(args, curve)
    more = {"ranks": args.ranks} if args.figure == "rp" else {"axis": args.axis, "bars": args.bars}
    if args.output is None and choose_format(args) == "table":
        sys.stdout.write(_picture(result))
    display = [_head(result.curve, args.head), *result.display[1:]]
    emit(args, result, display=display, figure=lambda: result.plot(args.figure, **more))


def _picture(result: Curve) -> str:
    """Return a plot of CRP in characters, for a terminal."""
    from rankscope.plots.blocks import draw_blocks

    width = min(100, terminal_columns())
    twist = {row.name: row.value for row in result.values}[result.label("Twist", "sign-change")]
    is_defined = isinstance(twist, float) and result.recall_base
    suffix = f", {result.label('Twist')} {twist:.4f}" if is_defined else ""
    edits = f" after {result.settings['edits']}" if "edits" in result.settings else ""
    ranking = f"{result.run} on topic {result.topic}{edits}"
    title = f"CRP of {ranking}: {result.recall_base} relevant documents{suffix}"
    lines = draw_blocks(result.crp.tolist(), width)
    margin = lines[0].index("│")
    reach = max(map(len, lines)) - margin - 1
    last = f"rank {result.length}"
    axis = f"{'':>{margin}} {'1':<{max(2, reach - len(last))}}{last}"
    return "\n".join([*textwrap.wrap(printable(title), width), *lines, axis, "", ""])


def _head(table: Table, rows: int) -> Table:
    """Keep the first ranks, and state the number of ranks in the caption."""
    if rows <= 0 or len(table) <= rows:
        return table
    caption = f"{table.caption} (the first {rows} of {len(table)} ranks; --head 0 shows all)"
    return replace(table, rows=table.rows[:rows], caption=caption)
