"""Correlation between measures over the runs: do they rank the runs alike?

Kendall's tau-b (with tau-a, discordant pairs and ties) and AP-correlation unless --method says otherwise. --top 0.75
keeps the best three quarters of the runs by AP, as papers do. --method rbo is the rank-biased overlap of the two
rankings of the runs: the top counts most, and ties are treated after Corsi and Urbano (2024). --pool-depth and
--orders show what smaller pools and the ordering of run files do to the correlations (the study of RBP, Table 1).

Measures of which lower values are better count with the other sign, so that 1 always means the same ranking.

examples:
  rankscope correlate qrels.txt runs/
  rankscope correlate qrels.txt runs/ -m "AP nDCG@10 Twist" --top 0.75 -f latex
  rankscope correlate qrels.txt runs/ --method rbo --rbo-p 0.8        agreement at the top
  rankscope correlate qrels.txt runs/ --pool-depth 10 --orders trec_eval,file --against "RR P@10 Rprec AP"
  rankscope correlate qrels.txt runs/ -m "AP RBP(p=0.5)" --swaps      which pairs of runs change order
"""

from __future__ import annotations

import argparse

from rankscope.choices import COEFFICIENTS, DEFAULT_MEASURES, ORDERS
from rankscope.cli import given, options
from rankscope.cli.output import emit
from rankscope.errors import SettingsError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    options.add_collection(parser)
    options.add_scores(parser)
    options.add_measures(parser, DEFAULT_MEASURES)
    parser.add_argument(
        "--method",
        action="append",
        choices=COEFFICIENTS,
        help="coefficient; repeatable (default: kendall and ap)",
    )
    options.add_rbo(parser)
    parser.add_argument(
        "--pool-depth",
        type=options.whole_numbers,
        action=options.Collected,
        metavar="K,...",
        help="also under pools of these depths: every measure and pool against the measures under all judgments",
    )
    parser.add_argument(
        "--orders",
        metavar="A,B",
        help=f"orderings of the run files side by side, of {', '.join(ORDERS)} (differences of 1 %% marked)",
    )
    parser.add_argument(
        "--against",
        action="append",
        metavar="M",
        help="with these two: the measures that make the columns (default: all)",
    )
    options.add_top(parser)
    options.add_topics(parser, "the correlation on every topic as well")
    parser.add_argument(
        "--swaps", action="store_true", help="list the pairs of runs that two measures order differently"
    )
    options.add_output(parser)
    options.add_plot(parser)


def run(args: argparse.Namespace) -> None:
    from rankscope.analysis.correlation import correlation

    if args.pool_depth is not None or args.orders is not None:
        _across_pools(args)
        return
    measures = given.measures(args)
    scores = given.evaluated(args, measures)
    methods = args.method or ("kendall", "ap")
    result = correlation(
        scores,
        methods,
        **given.top(args),
        measures=scores.measures if args.scores else measures,
        per_topic=args.per_topic,
        swaps=args.swaps,
        rbo_p=args.rbo_p,
        rbo_ties=args.rbo_ties,
    )
    emit(args, result)


def _across_pools(args: argparse.Namespace) -> None:
    from rankscope.analysis.pool_correlation import pool_correlation

    if args.scores or args.per_topic or args.swaps or args.plot:
        raise SettingsError(
            "--pool-depth and --orders make one table of runs",
            hint="leave out --scores, -q, --swaps and --plot",
        )
    measures = given.measures(args)
    qrels, runs = given.collection(args, measures)
    methods = args.method or ("kendall",)
    result = pool_correlation(
        qrels, runs, measures, against=args.against, depths=args.pool_depth or (),
        orders=(args.order,) if args.orders is None else args.orders.split(","), method=methods, top=args.top,
        by=args.by, missing=args.missing, rbo_p=args.rbo_p, rbo_ties=args.rbo_ties, jobs=args.jobs,
    )  # fmt: skip
    emit(args, result)
