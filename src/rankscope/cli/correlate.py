"""``rankscope correlate``: the derived command, and the correlation across pools and orderings."""

from __future__ import annotations

import argparse

from rankscope.analysis.correlation import correlate
from rankscope.choices import ORDERS
from rankscope.cli import arguments, derived, options
from rankscope.cli.output import emit
from rankscope.errors import SettingsError

__doc__ = derived.describe(correlate)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    derived.add_arguments(parser, correlate)
    parser.add_argument(
        "--pool-depth",
        type=options.whole_numbers,
        action=options.CollectNumbers,
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


def run(args: argparse.Namespace) -> None:
    if args.pool_depth is not None or args.orders is not None:
        _across_pools(args)
    else:
        emit(args, derived.call(args, correlate))


def _across_pools(args: argparse.Namespace) -> None:
    from rankscope.analysis.pool_correlation import pool_correlation

    if (
        args.scores
        or args.per_topic
        or args.swaps
        or args.plot
        or arguments.parse_evaluation_options(args).settings
    ):
        raise SettingsError(
            "--pool-depth and --orders make one table of runs",
            hint="leave out --scores, -q, --swaps, --plot, --ties and --unjudged",
        )
    measures = arguments.parse_measures(args)
    qrels, runs = arguments.open_inputs(args, measures)
    methods = args.method or ("kendall",)
    result = pool_correlation(
        qrels, runs, measures, against=args.against, depths=args.pool_depth or (),
        orders=(args.order,) if args.orders is None else args.orders.split(","), method=methods, top=args.top,
        by=args.by, missing=args.missing, rbo_p=args.rbo_p, rbo_ties=args.rbo_ties, jobs=args.jobs,
    )  # fmt: skip
    emit(args, result)
