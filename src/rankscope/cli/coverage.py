"""Which aspects of the topics the first documents cover: subtopic recall (StRec) at every rank.

For judgments whose second column names aspects. --topic says where each run first covers each aspect of one topic.

examples:
  rankscope coverage qrels.txt runs/
  rankscope coverage qrels.txt runs/ --plot coverage.pdf --highlight bm25 --highlight diverse
  rankscope coverage qrels.txt runs/ --topic 101 --plot aspects.pdf
"""

from __future__ import annotations

import argparse

from rankscope.cli import arguments, options
from rankscope.cli.output import emit


def add_arguments(parser: argparse.ArgumentParser) -> None:
    options.add_collection(parser)
    options.add_topics(parser)
    parser.add_argument(
        "--topic",
        metavar="T",
        help="where each run first covers each aspect of this topic; --plot draws that",
    )
    options.add_output(parser)
    options.add_plot(parser)
    options.add_highlight(parser)


def run(args: argparse.Namespace) -> None:
    from rankscope.analysis.coverage import coverage_of
    from rankscope.judging import judge
    from rankscope.measures import parse_many

    collection = arguments.open_inputs(args, parse_many(["StRec"]))
    result = coverage_of(judge(*collection, jobs=args.jobs), topic=args.topic, missing=args.missing)
    kind = "curves" if args.topic is None else "aspects"
    emit(
        args,
        result.with_settings(**collection.settings),
        figure=lambda: result.plot(kind, highlight=args.highlight),
    )
