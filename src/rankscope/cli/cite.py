"""Print BibTeX entries of Rankscope, and of the papers that define measures and methods.

Most methods are named after the command that uses them (--method compare, --method power); leaderboard is eval --ci,
and ties is --ties.

examples:
  rankscope cite
  rankscope cite -m "Twist RBP"
  rankscope cite -m "AP nDCG@10" --method compare -o used.bib
"""

import argparse

from rankscope.citations import METHODS, cite
from rankscope.cli import arguments, options
from rankscope.cli.output import emit_text


def add_arguments(parser: argparse.ArgumentParser) -> None:
    options.add_measures(parser, ())
    text = f"method to cite; repeatable: {', '.join(METHODS)}"
    names = tuple(METHODS)
    parser.add_argument("--method", action="append", default=[], choices=names, metavar="NAME", help=text)
    options.add_output_file(parser)


def run(args: argparse.Namespace) -> None:
    emit_text(args, cite(arguments.parse_measures(args), args.method))
