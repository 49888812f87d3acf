"""``rankscope bench``: a table of scores, a folder of MTEB results, or several collections."""

import argparse

from rankscope.analysis.bench import bench
from rankscope.cli import arguments, derived, options
from rankscope.cli.output import emit
from rankscope.errors import SettingsError

__doc__ = derived.describe(bench)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    table = "table of scores (a column per task, or the columns system, task, score)"
    parser.add_argument("source", metavar="SCORES", nargs="?", help=f"{table}, or folder of MTEB results")
    options.add_collections(parser)
    derived.add_own(parser, bench, without=("measure",))
    parser.set_defaults(qrels=None, runs=[], grades=None, input_format=None)


def run(args: argparse.Namespace) -> None:
    several = bool(args.collection or args.collections)
    if several == (args.source is not None):
        hint = "name a table, a folder of MTEB results, --collection or --collections"
        problem = "there are two sources of scores" if several else "there are no scores"
        raise SettingsError(problem, hint=hint)
    measures = arguments.parse_measures(args) if several or args.measure else []
    if len(measures) > 1:
        raise SettingsError(f"bench compares one measure, not {len(measures)}", hint="name one with -m")
    parameters = derived.parameter_values(args, bench) | {"measure": next(iter(measures), None)}
    emit(args, bench(arguments.several_collections(args, measures) if several else args.source, **parameters))
