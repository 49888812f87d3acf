"""Say what matters in a collection, in sentences with numbers: who leads and who is tied with them, where measures
disagree, which topics decide, what rests on unjudged documents or ties, where effort and gain part, which means to
doubt.

The first measure leads. Every sentence is followed by the first rows of the table that it rests on; -f json has all of
them. Nobody is called best if chance spreads the means of the runs as widely.

examples:
  rankscope findings qrels.txt runs/
  rankscope findings qrels.txt runs/ -m "nDCG@10 AP Twist" --plot findings.pdf
  rankscope findings --scores AP=ap.csv --scores RR=rr.csv
  rankscope findings qrels.txt runs/ -f json -o findings.json
"""

from __future__ import annotations

import argparse

from rankscope.choices import FINDINGS_MEASURES, TESTS
from rankscope.cli import arguments, options
from rankscope.cli.output import emit
from rankscope.cli.parser import note


def add_arguments(parser: argparse.ArgumentParser) -> None:
    options.add_collection(parser)
    options.add_scores(parser)
    options.add_topics(parser)
    options.add_measures(parser, FINDINGS_MEASURES)
    parser.add_argument("--test", choices=TESTS, default="t", help="of the topics (default: t)")
    options.add_correction(parser)
    parser.add_argument("--alpha", type=float, default=0.05, metavar="A", help="level (default: 0.05)")
    options.add_seed(parser)
    options.add_output(parser)
    options.add_plot(parser)


def run(args: argparse.Namespace) -> None:
    from rankscope.analysis.findings import findings
    from rankscope.cli.notes import note_on_nonrelevant
    from rankscope.judging import judge
    from rankscope.scores import score

    measures = arguments.parse_measures(args)
    if args.scores:
        scores = arguments.evaluate(args, measures)
    else:
        opened = arguments.open_inputs(args, measures)
        judged = judge(*opened, jobs=args.jobs, ties=True)
        scores = score(judged, measures, missing=args.missing, settings=opened.settings)
        for text in note_on_nonrelevant(judged, measures):
            note(args, text)
    emit(args, findings(scores, alpha=args.alpha, test=args.test, correction=args.correction, seed=args.seed))
