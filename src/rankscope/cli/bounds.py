"""Lower and upper bounds of RBP by depth: how much could the unjudged documents still change?

-m adds other weighted-precision measures (P@k, DCG@k, graded RBP). --pool-depth and --ratios repeat the bounds under a
shallow pool and under samples of the judgments.

examples:
  rankscope bounds qrels.txt bm25.run
  rankscope bounds qrels.txt runs/ --p 0.5,0.8,0.95 --depths 1,10,100 --ratios 10
  rankscope bounds qrels.txt runs/ --show bm25 --show dense --pool-depth 10 --plot bounds.pdf
  rankscope bounds qrels.txt runs/ --p 0.8 -m "P@10 DCG@20" -f json -o bounds.json
"""

from __future__ import annotations

import argparse

from rankscope.choices import PERSISTENCE
from rankscope.cli import arguments, options
from rankscope.cli.output import emit


def add_arguments(parser: argparse.ArgumentParser) -> None:
    options.add_collection(parser)
    options.add_topics(parser)
    options.add_measures(parser, ())
    parser.add_argument(
        "--p",
        type=options.decimals,
        action=options.Collected,
        default=PERSISTENCE,
        metavar="P,...",
        help=f"persistence of RBP (default: {','.join(map(str, PERSISTENCE))})",
    )
    parser.add_argument(
        "--depths",
        type=options.whole_numbers,
        action=options.Collected,
        metavar="D,...",
        help="ranks (default: 1,2,3,5,10,20,... to the longest list)",
    )
    parser.add_argument(
        "--show",
        action="append",
        metavar="RUN",
        help="only the bounds of this run, while all runs make the pool; repeatable (up to four have a line each)",
    )
    parser.add_argument("--pool-depth", type=int, metavar="K", help="also under the pool of this depth")
    parser.add_argument(
        "--ratios",
        type=options.decimals,
        action=options.Collected,
        metavar="P,...",
        help="also under samples of P percent of the judgments",
    )
    options.add_seed(parser)
    options.add_output(parser)
    options.add_plot(parser)


def run(args: argparse.Namespace) -> None:
    from rankscope.analysis.bounds import bounds_of
    from rankscope.judging import judge
    from rankscope.measures import REGISTRY

    more = arguments.parse_measures(args) if args.measure else []
    measures = [*(REGISTRY["RBP"](p=p) for p in args.p), *more]
    collection = arguments.open_inputs(args, measures)
    judged = judge(*collection, jobs=args.jobs)
    result = bounds_of(
        judged, measures, depths=args.depths, show=args.show, pool_depth=args.pool_depth, ratio=args.ratios,
        seed=args.seed,
    )  # fmt: skip
    emit(args, result.with_settings(**collection.settings, p=list(args.p)))
