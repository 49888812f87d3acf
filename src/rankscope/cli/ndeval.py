"""Novelty and diversity measures of the TREC Web track, as ndeval prints them: one CSV line per topic, then the mean.

Judgments are lines of: topic subtopic document grade. Grades above 1 count as 1, negative ones as 0. Subtopics to
which no document is relevant are left out.

examples:
  rankscope ndeval qrels.diversity.txt run.gz
  rankscope ndeval -traditional -c qrels.diversity.txt run.gz > run.csv
  rankscope ndeval -baseline bm25.run -riskAlpha 2 qrels.diversity.txt run.gz
"""

from __future__ import annotations

import argparse
import sys

from rankscope.errors import SettingsError
from rankscope.files import write_atomically


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("qrels", metavar="QRELS", help="judgments per subtopic (.gz allowed)")
    parser.add_argument("runs", metavar="RUN", nargs="+", help="run files (.gz allowed)")
    parser.add_argument(
        "-alpha", "--alpha", type=float, default=0.5, help="redundancy intolerance (default: 0.5)"
    )
    parser.add_argument("-beta", "--beta", type=float, default=0.5, help="patience of NRBP (default: 0.5)")
    parser.add_argument(
        "-traditional",
        "--traditional",
        action="store_true",
        help="order by score, then document id (default: by the rank column)",
    )
    parser.add_argument("-c", "--complete", action="store_true", help="average over all judged topics")
    parser.add_argument("-M", "--depth", type=int, default=None, metavar="N", help="cut runs at this depth")
    parser.add_argument(
        "-baseline", "--baseline", metavar="RUN", help="print risk-sensitive gains over this run"
    )
    parser.add_argument(
        "-riskAlpha",
        "--risk-alpha",
        default="0",
        metavar="A",
        help="losses against the baseline count 1 + A times (default: 0)",
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="write there instead (whole or not at all)")


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
    text = "\n".join(lines) + "\n"
    if args.output:
        write_atomically(args.output, text)
    else:
        sys.stdout.write(text)


def _risk(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not value >= 0:
        raise SettingsError(f"riskAlpha {text!r}", hint="give a number from 0 on")
    return value
