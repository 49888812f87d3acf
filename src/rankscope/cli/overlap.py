"""How alike the lists of runs are: rank-biased overlap, common documents by depth, order of what is common.

Every two runs (or every run and --baseline) are compared topic by topic. Documents with equal scores are tied; the
orders rank and file have no ties. With judgments, named first or by --qrels, only judged topics count, and the
relevant documents are compared as well.

examples:
  rankscope overlap bm25.run dense.run
  rankscope overlap qrels.txt bm25.run dense.run --depth 1000 --rbo-p 0.95 -q
  rankscope overlap bm25.run dense.run --topics 301,310-320
  rankscope overlap runs/ --baseline bm25 --depths 1,5,10 --plot overlap.pdf
"""

from __future__ import annotations

import argparse

from rankscope.choices import MOST_RANKS
from rankscope.cli import given, options
from rankscope.cli.output import emit
from rankscope.progress import silence


def add_arguments(parser: argparse.ArgumentParser) -> None:
    options.add_runs(parser)
    parser.add_argument(
        "--qrels", metavar="QRELS", help="judgments: only judged topics, and the relevant documents compared"
    )
    parser.add_argument("--baseline", metavar="RUN", help="compare this run with every other one")
    parser.add_argument(
        "--depth",
        type=int,
        default=100,
        metavar="K",
        help=f"ranks compared, up to {MOST_RANKS:,} (default: 100)",
    )
    parser.add_argument(
        "--depths",
        type=options.whole_numbers,
        action=options.Collected,
        metavar="K,...",
        help="ranks at which common documents are counted (default: 1,2,3,5,10,20,... to --depth)",
    )
    options.add_rbo(parser)
    options.add_topics(parser, "every topic as well")
    options.add_jobs(parser)
    options.add_output(parser)
    options.add_plot(parser)


def run(args: argparse.Namespace) -> None:
    from rankscope.analysis.overlap import overlap
    from rankscope.read import looks_like_qrels, open_qrels, read_runs

    silence(args.quiet)
    if args.qrels is None and len(args.runs) > 1 and looks_like_qrels(args.runs[0]):
        args.qrels, *args.runs = args.runs
    said = args.input_format or {}
    runs = read_runs(*args.runs, order=args.order, input_format=said.get("runs"))
    qrels = None if args.qrels is None else open_qrels(args.qrels, input_format=said.get("qrels"))
    given.report_formats([*([] if qrels is None else [qrels]), *runs.values()], args.quiet)
    result = overlap(
        runs,
        qrels,
        baseline=args.baseline,
        depth=args.depth,
        depths=args.depths,
        rbo_p=args.rbo_p,
        rbo_ties=args.rbo_ties,
        order=args.order,
        topics=args.topics,
    )
    emit(args, result, main=["overlap", *(["topics"] if args.per_topic else []), "depths"])
