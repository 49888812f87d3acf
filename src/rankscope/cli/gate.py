"""Test that a run is no worse than a baseline by more than a margin (non-inferiority): exit code 1 if not shown.

A check passes if the lower end of the one-sided interval (95 % unless --alpha says otherwise) of the mean difference is
above -margin, measure by measure; identical runs pass. A failed check does not show that the run is worse: the report
says with which probability a system as good as the baseline passes, and which margin or number of topics makes it 80 %.
--baseline is a run, or scores that were kept: a CSV or TSV file written by
`rankscope eval -q`, or with a row per topic and a column per system. The report is Markdown unless -f says otherwise;
it names the topics that lost most.

examples:
  rankscope gate qrels.txt new.run --baseline old.run -m nDCG@10 --margin 0.005
  rankscope gate qrels.txt new.run --baseline old.run --topics 301-325
  rankscope eval qrels.txt old.run -m "nDCG@10 AP" -q -f csv -o baseline.csv
  rankscope gate qrels.txt new.run --baseline baseline.csv -m "nDCG@10 AP" --margin nDCG@10=0.01,AP=0.02 -o gate.md
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from rankscope.cli import arguments, options
from rankscope.cli.output import choose_format, emit, emit_text

if TYPE_CHECKING:
    from rankscope.measures import Measure
    from rankscope.scores import Scores

DEFAULT = ("nDCG@10",)
FAILED = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    options.add_collection(parser)
    options.add_measures(parser, DEFAULT)
    options.add_topics(parser)
    parser.add_argument(
        "--baseline",
        required=True,
        metavar="FILE",
        help="a run, or scores of rankscope eval -q (.csv or .tsv)",
    )
    parser.add_argument(
        "--margin",
        type=_margins,
        default=0.005,
        metavar="D",
        help="a loss that does not matter, for all measures or as M=D,... (default: 0.005)",
    )
    parser.add_argument(
        "--alpha", type=float, default=0.05, metavar="A", help="one-sided level (default: 0.05)"
    )
    parser.add_argument(
        "--worst", type=int, default=5, metavar="N", help="topics that lost most to name (default: 5)"
    )
    options.add_output(parser)


def _margins(text: str) -> float | dict[str, float]:
    """One margin, or several as M=D between commas.

    >>> _margins("0.01"), _margins("RBP(p=0.5)=0.01,AP=0.02")
    (0.01, {'RBP(p=0.5)': 0.01, 'AP': 0.02})
    """
    try:
        if "=" not in text:
            return float(text)
        pairs = [
            (name.strip(), float(number))
            for name, _, number in (one.rpartition("=") for one in text.split(","))
        ]
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a margin such as 0.005 or AP=0.01,RR=0.02"
        ) from None
    names = [name for name, _ in pairs]
    if twice := [name for name in names if names.count(name) > 1]:
        raise argparse.ArgumentTypeError(f"{text!r} names {twice[0]!r} twice; give each measure one margin")
    return dict(pairs)


def run(args: argparse.Namespace) -> int:
    from rankscope.analysis.gate import gate

    measures = arguments.parse_measures(args)
    scores, baseline = arguments.evaluate(args, measures), _baseline(args, measures)
    if args.topics:
        baseline = baseline.of_topics(scores.topics)
    result = gate(scores, baseline, margin=args.margin, alpha=args.alpha, worst=args.worst)
    if args.format == "markdown" or (
        args.format is None and choose_format(args) in ("table", "tsv", "markdown")
    ):
        emit_text(args, result.report())
    else:
        emit(args, result)
    return 0 if result.passed else FAILED


def _baseline(args: argparse.Namespace, measures: list[Measure]) -> Scores:
    """The scores of the baseline: kept, or of its run."""
    from rankscope.judging import judge
    from rankscope.read import open_collection
    from rankscope.read.scores import holds_scores
    from rankscope.scores import read_scores, score

    if holds_scores(args.baseline):
        return read_scores(args.baseline)
    opened = open_collection(
        args.qrels,
        args.baseline,
        order=args.order,
        needs_aspects=any(measure.needs_aspects for measure in measures),
        grades=args.grades,
        input_format=args.input_format,
    )
    return score(judge(*opened, jobs=args.jobs), measures, missing=args.missing, settings=opened.settings)
