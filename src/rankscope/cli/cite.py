"""Print what to cite, as BibTeX: Rankscope, the papers behind measures, and those behind methods.

Methods are named like the commands that use them: --method compare, --method power, ...

examples:
  rankscope cite
  rankscope cite -m "Twist RBP"
  rankscope cite -m "AP nDCG@10" --method compare -o used.bib
"""

from __future__ import annotations

import argparse

from rankscope.citations import METHODS, cite
from rankscope.cli import arguments, options
from rankscope.cli.output import emit_text


def add_arguments(parser: argparse.ArgumentParser) -> None:
    options.add_measures(parser, ())
    parser.add_argument(
        "--method",
        action="append",
        choices=tuple(METHODS),
        metavar="NAME",
        default=[],
        help=f"the papers behind a method; repeatable: {', '.join(METHODS)}",
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="write there instead (whole or not at all)")


def run(args: argparse.Namespace) -> None:
    emit_text(args, cite(arguments.parse_measures(args), args.method))
