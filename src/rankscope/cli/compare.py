"""Compare runs with a baseline or with each other: which differences are significant, and how large are they?

Paired t test with Holm's correction unless --test and --correction say otherwise; tests by resampling are corrected by
step-down max-T. Intervals are simultaneous or called unadjusted. In the table of means, stars mark
runs that are better than the baseline (* .05, ** .01, *** .001) and as many ↓ those that are worse; several baselines
have a sign each; without a baseline, runs that share a letter do not differ significantly. -q says on which topics:
those that a run loses first.

examples:
  rankscope compare qrels.txt bm25.run dense.run
  rankscope compare qrels.txt runs/ --baseline bm25 -m "AP nDCG@10" -f latex
  rankscope compare qrels.txt runs/ --baseline bm25 --baseline dense --test randomisation
  rankscope compare qrels.txt runs/ --baseline bm25 --margin 0.01       which are no worse by more than .01
  rankscope compare qrels.txt runs/ --test tukey --seed 7
  rankscope compare qrels.txt runs/ -m RR --also-interval      does the scale matter?
  rankscope compare qrels.txt bm25.run dense.run -m AP --topics    which topics did I lose?
  rankscope compare qrels.txt bm25.run dense.run -m AP --plot differences.pdf
  rankscope compare qrels.txt runs/ --baseline bm25 -m AP --plot forest.pdf
"""

from __future__ import annotations

import argparse

from rankscope.choices import INTERVAL_LENGTH, TESTS
from rankscope.cli import arguments, options
from rankscope.cli.output import emit
from rankscope.plots import FIGURES

DEFAULT = ("AP", "nDCG@10", "P@10", "RBP(p=0.8)")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    options.add_collection(parser)
    options.add_scores(parser)
    options.add_measures(parser, DEFAULT)
    options.add_handling(parser)
    parser.add_argument(
        "--baseline",
        action="append",
        metavar="RUN",
        help="the run to compare with; repeatable (default: all pairs)",
    )
    parser.add_argument(
        "--margin",
        type=float,
        metavar="D",
        help="also say which runs are no worse by more than D (one-sided, level --alpha)",
    )
    parser.add_argument("--test", choices=TESTS, default="t", help="significance test (default: t)")
    options.add_correction(parser)
    parser.add_argument("--alpha", type=float, default=0.05, metavar="A", help="level (default: 0.05)")
    parser.add_argument(
        "--replicates",
        type=int,
        metavar="B",
        help="random replicates (default: 1000 for bootstrap, 5000 for tukey, 10000 for randomisation)",
    )
    parser.add_argument(
        "--also-interval",
        type=int,
        nargs="?",
        const=INTERVAL_LENGTH,
        metavar="N",
        help=f"which verdicts change on an interval scale, for lists cut to N ranks (default: {INTERVAL_LENGTH})",
    )
    options.add_topics(parser, "the difference on every topic, those that a run loses first")
    options.add_seed(parser)
    options.add_output(parser)
    options.add_plot(parser)
    parser.add_argument(
        "--figure",
        choices=tuple(FIGURES["pairs"]),
        help="of --plot: a forest of the pairs, or the differences of one pair topic by topic, which is the default for"
        " two runs",
    )


def run(args: argparse.Namespace) -> None:
    from rankscope.analysis.compare import compare

    scores = arguments.evaluate(args, arguments.parse_measures(args))
    baseline = args.baseline[0] if args.baseline and len(args.baseline) == 1 else args.baseline
    result = compare(
        scores, baseline, test=args.test, correction=args.correction, alpha=args.alpha, margin=args.margin,
        replicates=args.replicates, seed=args.seed, per_topic=args.per_topic,
        also_interval=args.also_interval, jobs=args.jobs,
    )  # fmt: skip
    more = [result[name] for name in ("intervals", "changes") if name in result.tables]
    if args.per_topic:
        emit(args, result, main=["topics"], display=[*result.display, *more, result["topics"]])
    elif more:
        emit(args, result, main=["pairs", "intervals", "changes"], display=[*result.display, *more])
    else:
        emit(args, result)
