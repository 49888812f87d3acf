"""Print novelty and diversity measures of the TREC Web track as ndeval does: one CSV line per topic, then the mean.

Lines of judgments have the fields topic, subtopic, document and grade. Grades above 1 count as 1, negative ones as 0.
Subtopics without relevant documents are left out.

examples:
  rankscope ndeval qrels.diversity.txt run.gz
  rankscope ndeval -traditional -c qrels.diversity.txt run.gz > run.csv
  rankscope ndeval -baseline bm25.run -riskAlpha 2 qrels.diversity.txt run.gz
"""

import argparse
from dataclasses import dataclass
from typing import Annotated

from rankscope.cli import options
from rankscope.cli.output import emit_text
from rankscope.declaration import Option
from rankscope.errors import SettingsError


@dataclass
class Options:
    """Options of ndeval, with two dashes as well.

    Parameters
    ----------
    alpha
        Redundancy intolerance.
    beta
        Patience of NRBP.
    traditional
        Sort by score, then document id (default: by the rank column).
    complete
        Average over all judged topics.
    depth
        Evaluate the first N ranks only.
    baseline
        Print risk-sensitive gains over this run.
    risk_alpha
        Weight losses against the baseline by 1 + A.
    """

    alpha: Annotated[float, Option("ALPHA", ("-alpha",))] = 0.5
    beta: Annotated[float, Option("BETA", ("-beta",))] = 0.5
    traditional: Annotated[bool, Option(flags=("-traditional",))] = False
    complete: Annotated[bool, Option(flags=("-c",))] = False
    depth: Annotated[int | None, Option("N", ("-M",))] = None
    baseline: Annotated[str | None, Option("RUN", ("-baseline",))] = None
    risk_alpha: Annotated[str, Option("A", ("-riskAlpha",))] = "0"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("qrels", metavar="QRELS", help="judgments per subtopic, plain or .gz")
    parser.add_argument("runs", metavar="RUN", nargs="+", help="run files, plain or .gz")
    options.add_options(parser, Options)
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
