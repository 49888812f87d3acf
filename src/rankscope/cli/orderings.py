"""What the ordering of a run file does: two orderings of the same files, compared document by document.

trec_eval sorts by score and breaks ties by document id; a program that keeps the lines as they are sees another run.

examples:
  rankscope orderings qrels.txt runs/
  rankscope orderings qrels.txt runs/ --orders trec_eval9,trec_eval -m "AP P@10 RBP(p=0.95)"
"""

from __future__ import annotations

import argparse

from rankscope.choices import ORDERS
from rankscope.cli import given, options
from rankscope.cli.output import emit

DEFAULT = ("RR", "P@10", "Rprec", "AP", "RBP(p=0.5)", "RBP(p=0.8)", "RBP(p=0.95)", "nDCG")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    options.add_collection(parser)
    options.add_topics(parser)
    options.add_measures(parser, DEFAULT)
    parser.add_argument(
        "--orders",
        default="file,trec_eval",
        metavar="A,B",
        help=f"two of {', '.join(ORDERS)} (default: file,trec_eval; --order is not used)",
    )
    options.add_output(parser)
    options.add_plot(parser)


def run(args: argparse.Namespace) -> None:
    from rankscope.analysis.orderings import orderings

    measures = given.measures(args)
    qrels, runs = given.collection(args, measures)
    result = orderings(
        qrels, runs, measures, orders=args.orders.split(","), missing=args.missing, jobs=args.jobs
    )
    emit(args, result)
