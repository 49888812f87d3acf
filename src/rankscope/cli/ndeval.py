"""Print novelty and diversity measures of the TREC Web track as ndeval does: one CSV line per topic, then the mean.

Lines of judgments have the fields topic, subtopic, document and grade. Grades above 1 count as 1, negative ones as 0.
Subtopics without relevant documents are left out.

examples:
  rankscope ndeval qrels.diversity.txt run.gz
  rankscope ndeval -traditional -c qrels.diversity.txt run.gz > run.csv
  rankscope ndeval -baseline bm25.run -riskAlpha 2 qrels.diversity.txt run.gz
"""

from __future__ import annotations

import argparse

from rankscope.cli import options
from rankscope.cli.output import emit_text
from rankscope.errors import SettingsError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("qrels", metavar="QRELS", help="judgments per subtopic, plain or .gz")
    parser.add_argument("runs", metavar="RUN", nargs="+", help="run files, plain or .gz")
    parser.add_argument(
        "-alpha", "--alpha", type=float, default=0.5, help="redundancy intolerance (default: 0.5)"
    )
    parser.add_argument("-beta", "--beta", type=float, default=0.5, help="patience of NRBP (default: 0.5)")
    parser.add_argument(
        "-traditional",
        "--traditional",
        action="store_true",
        help="sort by score, then document id (default: by the rank column)",
    )
    parser.add_argument("-c", "--complete", action="store_true", help="average over all judged topics")
    parser.add_argument(
        "-M", "--depth", type=int, default=None, metavar="N", help="evaluate the first N ranks only"
    )
    parser.add_argument(
        "-baseline", "--baseline", metavar="RUN", help="print risk-sensitive gains over this run"
    )
    parser.add_argument(
        "-riskAlpha",
        "--risk-alpha",
        default="0",
        metavar="A",
        help="weight losses against the baseline by 1 + A (default: 0)",
    )
    options.add_output_file(parser)


def run(args: argparse.Namespace) -> None:
    from rankscope.ndeval import evaluate, make_columns
    from rankscope.read import open_collection, read_run

    for name in ("alpha", "beta"):
        if not 0 <= getattr(args, name) <= 1:
            raise SettingsError(f"{name} {getattr(args, name)}", hint=f"{name} lies between 0 and 1")
    if args.depth is not None and args.depth < 1:
        raise SettingsError(f"depth {args.depth}", hint="give a number of ranks from 1 on")
    risk = _risk(args.risk_alpha)
    order = "trec_eval" if args.traditional else "rank"
    measures = make_columns(args.alpha, args.beta)
    collection = open_collection(args.qrels, args.runs, order=order, aspects=True)
    baseline = None
    if args.baseline is not None:
        against = open_collection(collection.qrels, read_run(args.baseline, order=order))
        baseline = evaluate(against, measures, args.depth)[0]
    lines = [",".join(["runid", "topic", *measures])]
    for values in evaluate(collection, measures, args.depth):
        if baseline is not None:
            values = values.subtract(baseline, risk, args.risk_alpha, args.complete)
        lines += values.lines(len(collection.qrels.topics) if args.complete else None)
    emit_text(args, "\n".join(lines) + "\n")


def _risk(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not value >= 0:
        raise SettingsError(f"riskAlpha {text!r}", hint="give a number from 0 on")
    return value
