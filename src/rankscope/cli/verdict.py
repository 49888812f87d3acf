"""Is one run better than another whatever the measure? Names the largest family of measures under which it is.

Cumulated counts of documents decide it. First order: every additive measure with non-increasing weights agrees (on a
list every measure that respects swap and replacement). Second order: every one with convex weights. Otherwise some
measures prefer one run and some the other: of two runs the regions are shown, exactly, for every persistence of RBP
and every cutoff of P, R, DCG and nDCG. Of more runs: how many pairs each order decides, and the ranks that a run can
have; -q shows every pair.

examples:
  rankscope verdict qrels.txt bm25.run dense.run
  rankscope verdict qrels.txt runs/ --pair bm25 dense -m "AP Twist nDCG@10" -q --plot regions.pdf
  rankscope verdict qrels.txt runs/ -f json -o verdict.json
"""

from __future__ import annotations

import argparse

from rankscope.choices import VERDICT_DEPTH, VERDICT_MEASURES
from rankscope.cli import arguments, options
from rankscope.cli.output import emit


def add_arguments(parser: argparse.ArgumentParser) -> None:
    options.add_collection(parser)
    options.add_measures(parser, VERDICT_MEASURES)
    parser.add_argument("--pair", nargs=2, metavar=("A", "B"), help="these two runs only")
    parser.add_argument(
        "--depth",
        type=int,
        default=VERDICT_DEPTH,
        metavar="K",
        help=f"ranks compared (default: {VERDICT_DEPTH:,})",
    )
    options.add_topics(parser, "every topic or pair as well")
    options.add_output(parser)
    options.add_plot(parser)


def run(args: argparse.Namespace) -> None:
    from rankscope.analysis.verdict import verdict

    measures = arguments.parse_measures(args)
    collection = arguments.open_inputs(args, measures)
    result = verdict(
        *collection,
        measures,
        pair=None if args.pair is None else (args.pair[0], args.pair[1]),
        depth=args.depth,
        jobs=args.jobs,
    )
    emit(args, result, main=list(result.tables) if args.per_topic else None)
