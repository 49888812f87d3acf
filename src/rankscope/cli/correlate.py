"""``rankscope correlate``: the derived command, and the correlation across pools and orderings."""

import argparse

from rankscope.analysis.correlation import correlate
from rankscope.analysis.pool_correlation import pool_correlation
from rankscope.cli import arguments, derived, options
from rankscope.cli.output import emit
from rankscope.errors import SettingsError

__doc__ = derived.describe(correlate)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    derived.add_arguments(parser, correlate)
    parameters = derived.get_declaration(pool_correlation).parameters
    options.add_parameters(parser, {name: parameters[name] for name in ("pool_depth", "orders", "against")})


def run(args: argparse.Namespace) -> None:
    if args.pool_depth is None and args.orders is None:
        emit(args, derived.call(args, correlate))
        return
    evaluation = arguments.parse_evaluation_options(args).settings
    if args.scores or args.per_topic or args.swaps or args.plot or evaluation:
        hint = "leave out --scores, -q, --swaps, --plot, --ties and --unjudged"
        raise SettingsError("--pool-depth and --orders make one table of runs", hint=hint)
    args.method = args.method or ["kendall"]
    emit(args, derived.call(args, pool_correlation))
