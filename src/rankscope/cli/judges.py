"""Judges against each other: people against a language model, an old pool against a new one.

How far two or more sets of judgments of the same documents agree (kappa, weighted kappa, Krippendorff's alpha, bias)
and, with --runs, what they do to the leaderboard: correlations with intervals, pairs of runs that are significant under
both, which runs gain, and the disputed judgments that move most. A file can have a name: person=qrels.txt.

examples:
  rankscope judges people.qrels model.qrels
  rankscope judges person=a.txt model=b.txt --runs runs/ -m "AP nDCG@10" -f json -o judges.json
  rankscope judges old.qrels new.qrels --runs runs/ --plot slopes.pdf --figure slopes
"""

from __future__ import annotations

import argparse
from pathlib import Path

from rankscope.choices import DISTANCES, ORDERS
from rankscope.cli import arguments, options
from rankscope.cli.output import emit
from rankscope.errors import InputError
from rankscope.progress import silence

DEFAULT = ("AP", "nDCG@10")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "judgments",
        metavar="[NAME=]QRELS",
        nargs="+",
        help="two or more files of judgments of the same documents",
    )
    parser.add_argument("--runs", nargs="+", metavar="RUN", help="runs to rank under each judge")
    parser.add_argument(
        "--order", choices=ORDERS, default="trec_eval", help="what orders a list (default: trec_eval)"
    )
    parser.add_argument(
        "--missing",
        choices=("zero", "skip"),
        default="zero",
        help="judged topics that a run lacks (default: zero)",
    )
    options.add_jobs(parser)
    options.add_measures(parser, DEFAULT)
    parser.add_argument("--alpha", type=float, default=0.05, metavar="A", help="level (default: 0.05)")
    parser.add_argument(
        "--replicates", type=int, default=1000, metavar="B", help="samples of topics (default: 1000)"
    )
    parser.add_argument(
        "--top", type=int, default=10, metavar="K", help="best runs to look for under both (default: 10)"
    )
    parser.add_argument(
        "--most", type=int, default=20, metavar="N", help="disputed judgments to list (default: 20; 0: none)"
    )
    parser.add_argument(
        "--distance",
        choices=DISTANCES,
        default="grade",
        help="of grades in weighted kappa: that of their numbers, or of their positions (default: grade)",
    )
    parser.add_argument(
        "--figure",
        choices=("confusion", "slopes"),
        default=None,
        help="what --plot draws (default: confusion)",
    )
    options.add_seed(parser)
    options.add_output(parser)
    options.add_plot(parser)
    parser.set_defaults(qrels=None)


def run(args: argparse.Namespace) -> None:
    from rankscope.analysis.judges import judges

    silence(args.quiet)
    measures = arguments.parse_measures(args)
    result = judges(
        _named(args.judgments), args.runs, measures, alpha=args.alpha, replicates=args.replicates, top=args.top,
        most=args.most, seed=args.seed, distance=args.distance, order=args.order, missing=args.missing, jobs=args.jobs,
    )  # fmt: skip
    emit(args, result)


def _named(texts: list[str]) -> dict[str, str]:
    """The files by the name that was given to each, or else by the file's own."""
    named: dict[str, str] = {}
    for name, path in map(arguments.split_named_file, texts):
        known = name or Path(path).name
        if known in named:
            raise InputError(f"two judges are called {known!r}", hint=f"name them, such as first={path}")
        named[known] = path
    return named
