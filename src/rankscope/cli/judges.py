"""``rankscope judges``: named files of judgments, and runs to rank under each judge."""

from __future__ import annotations

import argparse
from pathlib import Path

from rankscope.analysis.judges import judges
from rankscope.cli import arguments, derived
from rankscope.cli.output import emit
from rankscope.errors import InputError

__doc__ = derived.describe(judges)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    files = "two or more files of judgments of the same documents, with names such as person=qrels.txt"
    parser.add_argument("judgments", metavar="[NAME=]QRELS", nargs="+", help=files)
    parser.add_argument("--runs", nargs="+", metavar="RUN", help="runs to rank under each judge")
    derived.add_own(parser, judges, without=("collection", "measures"))
    parser.set_defaults(qrels=None)


def run(args: argparse.Namespace) -> None:
    parameters = derived.parameter_values(args, judges)
    measures = arguments.parse_measures(args)
    collection = None if args.runs is None else arguments.open_collection(args, ())
    emit(args, judges(_read_names(args.judgments), collection, measures, **parameters))


def _read_names(texts: list[str]) -> dict[str, str]:
    """Return the files by their names on the command line, or else by their file names."""
    paths: dict[str, str] = {}
    for name, path in map(arguments.split_named_file, texts):
        key = name or Path(path).name
        if key in paths:
            raise InputError(f"two judges are called {key!r}", hint=f"name them, such as first={path}")
        paths[key] = path
    return paths
