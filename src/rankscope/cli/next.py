"""``rankscope next``: the derived command, and templates of judgments to fill in."""

import argparse

from rankscope.analysis.next_judgments import next, read_template, with_labels
from rankscope.cli import arguments, derived
from rankscope.cli.output import emit
from rankscope.cli.parser import note
from rankscope.files import write_atomically

__doc__ = derived.describe(next)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    derived.add_arguments(parser, next)
    template = "write judgments to fill in: replace each ? by a grade"
    parser.add_argument("--template", metavar="FILE", help=template)
    judged = "filled template, whose grades join the judgments; repeatable"
    parser.add_argument("--judged", action="append", default=[], metavar="FILE", help=judged)


def run(args: argparse.Namespace) -> None:
    from rankscope.analysis.certain_pairs import evaluate_with_unjudged
    from rankscope.cli.notes import note_on_nonrelevant

    measures, parameters = arguments.parse_measures(args), derived.parameter_values(args, next)
    collection = arguments.open_collection(args, measures)
    labels = {}
    if args.purpose == "correct":  # Human labels do not join those of the machine.
        from rankscope.analysis.label_sample import merge_labels

        labels = parameters["human"] = merge_labels([*([args.human] if args.human else []), *args.judged])
    else:
        for path in args.judged:
            collection = collection.with_qrels(with_labels(collection.qrels, read_template(path)))
    is_complete = args.simulate or args.purpose == "correct"
    scores = collection.evaluate(measures) if is_complete else evaluate_with_unjudged(collection, measures)
    result = next(scores, **parameters)
    if args.template:
        grades = {(t, d): g for t, of in labels.items() for d, (g, _) in of.items() if g is not None}
        write_atomically(args.template, result.template(grades))
    emit(args, result)
    for text in () if is_complete else note_on_nonrelevant(scores.require_judged("next"), measures):
        note(args, text)
