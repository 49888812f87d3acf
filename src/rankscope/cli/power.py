"""Discriminative power: the share of pairs of runs that each measure tells apart.

Sakai's paired bootstrap unless --test says otherwise; the same replicates for every pair and measure. With several
tests or levels the numbers of significant pairs are shown side by side, as papers print them.

examples:
  rankscope power qrels.txt runs/
  rankscope power qrels.txt runs/ --test t --test wilcoxon --alpha 0.05,0.01
  rankscope power --scores AP=ap.csv --scores P@10=p10.csv --test wilcoxon --test t --alpha 0.05,0.01
  rankscope power qrels.txt runs/ --top 0.75                 without the worst quarter by AP, as papers do
  rankscope power qrels.txt runs/ -m "AP Twist" --test tukey --seed 7 -f json -o power.json
"""

from __future__ import annotations

import argparse

from rankscope.choices import DEFAULT_MEASURES, TESTS
from rankscope.cli import given, options
from rankscope.cli.output import emit


def add_arguments(parser: argparse.ArgumentParser) -> None:
    options.add_collection(parser)
    options.add_topics(parser)
    options.add_scores(parser)
    options.add_measures(parser, DEFAULT_MEASURES)
    parser.add_argument(
        "--test", action="append", choices=TESTS, help="significance test; repeatable (default: bootstrap)"
    )
    parser.add_argument(
        "--alpha",
        type=options.decimals,
        action=options.Collected,
        default=(0.05,),
        metavar="A",
        help="level, or several between commas; repeatable (default: 0.05)",
    )
    parser.add_argument(
        "--replicates",
        type=int,
        metavar="B",
        help="random replicates (default: 1000 for bootstrap, 5000 for tukey, 10000 for randomisation)",
    )
    parser.add_argument(
        "--per-pair", action="store_true", help="the significance level of every pair as well"
    )
    options.add_top(parser)
    options.add_seed(parser)
    options.add_output(parser)
    options.add_plot(parser)


def run(args: argparse.Namespace) -> None:
    from rankscope.analysis.power import discriminative_power

    measures = given.measures(args)
    scores = given.evaluated(args, measures)
    result = discriminative_power(
        scores,
        args.test or "bootstrap",
        alpha=args.alpha,
        replicates=args.replicates,
        seed=args.seed,
        **given.top(args),
        measures=scores.measures if args.scores else measures,
        jobs=args.jobs,
    )
    more = ["asl"] if args.per_pair else []
    display = [*result.display, *(result[name] for name in more)]
    emit(args, result, main=[*result.main, *more], display=display)
