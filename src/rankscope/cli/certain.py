"""Is the order of the runs certain? Which pairs ties and labels cannot reverse, and which labels reverse the others.

For every pair of runs: would another order of documents with equal scores, or other labels of unjudged documents,
reverse the order by the mean? A document has one label, which counts for all runs. An empty cell means neither proved
nor refuted; 'exact' says whether a range is exact or a proved bound. Other topics are a matter of chance: 'significant'
('topics' of the pairs in JSON) says whether a test at level --alpha tells the runs apart, which is no proof. The figure
shows who may stand where.

examples:
  rankscope certain qrels.txt runs/ -m nDCG@10
  rankscope certain qrels.txt runs/ -m "P@10 RBP" --baseline bm25 -f json
  rankscope certain qrels.txt runs/ -m nDCG@10 --plot order.pdf
"""

from __future__ import annotations

import argparse

from rankscope.choices import TESTS
from rankscope.cli import arguments, options
from rankscope.cli.output import emit
from rankscope.cli.parser import note

DEFAULT = ("nDCG@10", "P@10")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    options.add_collection(parser)
    options.add_measures(parser, DEFAULT)
    options.add_topics(parser)
    parser.add_argument("--baseline", metavar="RUN", help="only pairs with this run (default: all pairs)")
    parser.add_argument("--test", choices=TESTS, default="t", help="of the topics (default: t)")
    options.add_correction(parser)
    parser.add_argument("--alpha", type=float, default=0.05, metavar="A", help="level (default: 0.05)")
    parser.add_argument(
        "--labels",
        action=argparse.BooleanOptionalAction,
        help="list labels that reverse each pair, and all ranges (default: for up to 1,000 pairs)",
    )
    options.add_seed(parser)
    options.add_output(parser)
    options.add_plot(parser)


def run(args: argparse.Namespace) -> None:
    from rankscope.analysis.certain import certain, evaluate_with_unjudged
    from rankscope.cli.notes import note_on_nonrelevant

    measures = arguments.parse_measures(args)
    scores = evaluate_with_unjudged(arguments.open_collection(args, measures), measures)
    result = certain(
        scores, args.baseline, alpha=args.alpha, test=args.test, correction=args.correction, labels=args.labels,
        seed=args.seed,
    )  # fmt: skip
    emit(args, result)
    for text in note_on_nonrelevant(scores.require_judged("certain"), measures):
        note(args, text)
