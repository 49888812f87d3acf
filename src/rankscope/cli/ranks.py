"""How firm are the ranks of the runs? Their order by other measures, cutoffs, smaller pools, or samples of the topics.

The first order is that of the measure (of several, of the first one); the others are held against it: how many pairs of
runs stand the other way round. --plot draws every run as a line through its ranks.

examples:
  rankscope ranks qrels.txt runs/                                     by the usual measures
  rankscope ranks qrels.txt runs/ -m "nDCG@10 AP RBP ERR@20"
  rankscope ranks qrels.txt runs/ -m AP --across pools --plot pools.pdf
  rankscope ranks qrels.txt runs/ -m nDCG@10 --across cutoffs --cutoffs 5,20,100
  rankscope ranks qrels.txt runs/ -m AP --across samples --highlight bm25 --highlight dense --plot samples.pdf
"""

from __future__ import annotations

import argparse

from rankscope.choices import ACROSS, FOLLOWED_CUTOFFS, FOLLOWED_DEPTHS, FOLLOWED_MEASURES, FOLLOWED_RATIOS
from rankscope.cli import arguments, options
from rankscope.cli.output import emit


def add_arguments(parser: argparse.ArgumentParser) -> None:
    options.add_collection(parser)
    options.add_topics(parser)
    options.add_measures(parser, FOLLOWED_MEASURES)
    parser.add_argument(
        "--across",
        choices=ACROSS,
        default="measures",
        help="what the ranks are followed across; cutoffs, pools and samples are of one measure, AP unless it is named"
        " (default: measures)",
    )
    for option, letter, default, what, kind in (
        ("--cutoffs", "K", FOLLOWED_CUTOFFS, "of --across cutoffs", options.whole_numbers),
        ("--pool-depth", "K", FOLLOWED_DEPTHS, "of --across pools: their depths", options.whole_numbers),
        (
            "--ratios",
            "P",
            FOLLOWED_RATIOS,
            "of --across pools: percent of the judgments kept",
            options.decimals,
        ),
    ):
        shown = ",".join(map(str, default))
        parser.add_argument(
            option,
            type=kind,
            action=options.CollectNumbers,
            default=default,
            metavar=f"{letter},...",
            help=f"{what} (default: {shown})",
        )
    parser.add_argument(
        "--samples",
        type=int,
        default=8,
        metavar="N",
        help="of --across samples: how many samples of the topics (default: 8)",
    )
    options.add_seed(parser)
    options.add_output(parser)
    options.add_plot(parser)
    options.add_highlight(parser)


def run(args: argparse.Namespace) -> None:
    from rankscope.analysis.ranks import default_measures, ranks_of
    from rankscope.judging import judge

    args.default_measures = list(default_measures(args.across))
    measures = arguments.parse_measures(args)
    collection = arguments.open_inputs(args, measures)
    result = ranks_of(
        judge(*collection, jobs=args.jobs), measures, across=args.across, cutoffs=args.cutoffs,
        depths=args.pool_depth, ratios=args.ratios, samples=args.samples, seed=args.seed, missing=args.missing,
        jobs=args.jobs,
    )  # fmt: skip
    emit(
        args,
        result.with_settings(**collection.settings),
        figure=lambda: result.plot(highlight=args.highlight),
    )
