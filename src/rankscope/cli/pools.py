"""Robustness of measures to smaller pools: does the ranking of the runs survive?

Stratified random samples of the judgments (--ratios), pools of a depth (--pool-depth), or the pool without what one run
(or group of runs, --groups) alone contributed (--leave-out).

examples:
  rankscope pools qrels.txt runs/ --ratios 90,70,50,30,10 --repeats 10 --seed 1
  rankscope pools qrels.txt runs/ --pool-depth 10 -m "P@10 AP RBP(p=0.95)"
  rankscope pools qrels.txt runs/ --top 0.75                 without the worst quarter by AP, as papers do
  rankscope pools qrels.txt runs/ --leave-out --pool-depth 10 --groups teams.txt
"""

from __future__ import annotations

import argparse

from rankscope.choices import DEFAULT_MEASURES, RATIOS, SAMPLINGS
from rankscope.cli import given, options
from rankscope.cli.output import emit
from rankscope.errors import SettingsError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    options.add_collection(parser)
    options.add_topics(parser)
    options.add_measures(parser, DEFAULT_MEASURES)
    shown = ",".join(map(str, RATIOS))
    parser.add_argument(
        "--ratios",
        type=options.decimals,
        action=options.Collected,
        metavar="P,...",
        help=f"percent of the judgments kept (default: {shown})",
    )
    parser.add_argument("--repeats", type=int, default=1, metavar="N", help="samples per ratio (default: 1)")
    parser.add_argument(
        "--sampling",
        choices=SAMPLINGS,
        default="grade",
        help="strata: each grade, relevant and not (binary), or none (uniform) (default: grade)",
    )
    parser.add_argument(
        "--pool-depth",
        type=options.whole_numbers,
        action=options.Collected,
        metavar="K,...",
        help="pools of these depths instead of samples",
    )
    parser.add_argument(
        "--leave-out",
        action="store_true",
        help="leave out what each run alone put into the --pool-depth pool",
    )
    options.add_groups(parser, "with --leave-out: ")
    parser.add_argument("--per-run", action="store_true", help="the mean of every run as well")
    options.add_top(parser)
    options.add_seed(parser)
    options.add_output(parser)
    options.add_plot(parser)
    parser.add_argument(
        "--figure",
        choices=("curves", "means"),
        help="what --plot draws: tau by pool, or the runs' means by all judgments and by the last pool",
    )


def run(args: argparse.Namespace) -> None:
    from rankscope.analysis.pools import leave_out_of, robustness_of
    from rankscope.analysis.stats.matrices import best_judged, top_settings
    from rankscope.judging import judge

    measures = given.measures(args)
    collection = given.collection(args, measures)
    judged = best_judged(judge(*collection, jobs=args.jobs), **given.top(args), missing=args.missing)
    said = {**collection.settings, **top_settings(**given.top(args))}
    if args.leave_out:
        if args.pool_depth is None or len(args.pool_depth) != 1:
            raise SettingsError(
                "--leave-out needs one --pool-depth",
                hint="give the depth of the pool, such as --pool-depth 10",
            )
        result = leave_out_of(
            judged,
            measures,
            depth=args.pool_depth[0],
            groups=args.groups,
            missing=args.missing,
            jobs=args.jobs,
        )
        emit(args, result.with_settings(**said))
        return
    depths = args.pool_depth or ()
    ratios = args.ratios if args.ratios is not None else () if depths else RATIOS
    result = robustness_of(
        judged, measures, ratios=ratios, depths=depths, sampling=args.sampling, repeats=args.repeats,
        seed=args.seed, missing=args.missing, jobs=args.jobs,
    )  # fmt: skip
    more = ["means"] if args.per_run else []
    display = [result[name] for name in ("curve", *more)]
    emit(args, result.with_settings(**said), main=["robustness", *more], display=display)
