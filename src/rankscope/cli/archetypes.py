"""What crossing, balance point, ratios and Twist can be for each archetype: all lists of small topics; no data needed.

Every topic of 1 to --relevant documents of up to --grades grades and each of its lists of 2 RB to --length ranks is
classified and measured. The first table has for each archetype and quantity the smallest and largest value that
occurs, with a list; the second has every entry of Figures 4 to 6 of Ferro and others (2016), confirmed, or refuted by
the shortest list. Lists are written as grades, rank by rank.

examples:
  rankscope archetypes
  rankscope archetypes --relevant 4 --length 10 --crossing matters
  rankscope archetypes --plot archetypes.pdf
  rankscope archetypes -f json -o archetypes.json
"""

from __future__ import annotations

import argparse

from rankscope.choices import CROSSINGS
from rankscope.cli import options
from rankscope.cli.output import emit
from rankscope.progress import silence


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--relevant", type=int, default=6, metavar="RB", help="largest recall base (default: 6)"
    )
    parser.add_argument("--length", type=int, default=14, metavar="N", help="longest list (default: 14)")
    parser.add_argument("--grades", type=int, default=2, metavar="G", help="relevant grades (default: 2)")
    parser.add_argument(
        "--crossing",
        choices=CROSSINGS,
        default="sign-change",
        help="what counts as a crossing (default: sign-change)",
    )
    options.add_jobs(parser)
    options.add_output(parser)
    options.add_plot(parser)


def run(args: argparse.Namespace) -> None:
    from rankscope.lab.ranges import archetype_ranges

    silence(args.quiet)
    result = archetype_ranges(args.relevant, args.length, args.grades, crossing=args.crossing, jobs=args.jobs)
    emit(args, result)
