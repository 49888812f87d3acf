"""Which documents to judge next: those whose labels can still reverse the order of runs.

Writes them with their influence and the runs that hold them. --template makes a file of judgments to be filled in:
replace each ? by a grade, and name it with --judged to go on from there. --simulate takes the judgments for the truth
and says how many are needed in this order, by pooling to a depth, and at random.

examples:
  rankscope next qrels.txt runs/ -m nDCG@10 --budget 200 --template todo.txt
  rankscope next qrels.txt runs/ -m nDCG@10 --judged todo.txt
  rankscope next qrels.txt runs/ -m P@10 --simulate
"""

from __future__ import annotations

import argparse

from rankscope.cli import arguments, options
from rankscope.cli.output import emit
from rankscope.cli.parser import note
from rankscope.errors import SettingsError
from rankscope.files import write_atomically

DEFAULT = ("nDCG@10",)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    options.add_collection(parser)
    options.add_measures(parser, DEFAULT)
    options.add_topics(parser)
    parser.add_argument(
        "--budget", type=int, default=200, metavar="N", help="how many documents (default: 200)"
    )
    parser.add_argument("--template", metavar="FILE", help="write judgments to be filled in")
    parser.add_argument(
        "--judged", action="append", default=[], metavar="FILE", help="a filled template; repeatable"
    )
    parser.add_argument(
        "--simulate",
        action="store_true",
        help="compare this order of judging with others, on these judgments",
    )
    parser.add_argument(
        "--batch", type=int, default=100, metavar="N", help="with --simulate: judged at a time (default: 100)"
    )
    options.add_seed(parser)
    options.add_output(parser)


def run(args: argparse.Namespace) -> None:
    from rankscope.analysis.certain import knowing_documents, knowing_scores
    from rankscope.analysis.next_judgments import (
        judging_orders,
        next_judgments,
        read_template,
        template,
        with_labels,
    )
    from rankscope.cli.notes import note_on_nonrelevant

    measures = arguments.parse_measures(args)
    collection = arguments.open_inputs(args, measures)
    qrels, runs = collection
    if args.batch < 1:
        raise SettingsError(f"--batch {args.batch}", hint="give at least 1")
    for path in args.judged:
        qrels = with_labels(qrels, read_template(path))
    if args.simulate:
        if len(measures) != 1:
            raise SettingsError("--simulate looks at one measure", hint="name one with -m")
        emit(
            args,
            judging_orders(qrels, runs, measures[0], batch=args.batch, seed=args.seed, jobs=args.jobs),
        )
        return
    more = collection._replace(qrels=qrels)
    scores = knowing_scores(
        more, measures, missing=args.missing, jobs=args.jobs, settings=collection.settings
    )
    result = next_judgments(scores, args.budget)
    if args.template:
        write_atomically(args.template, template(result))
    emit(args, result)
    for text in note_on_nonrelevant(knowing_documents(scores), measures):
        note(args, text)
