"""``rankscope certain``: the derived command, which reads files once, and warns about vacuous bounds."""

import argparse

from rankscope.analysis.certain import certain
from rankscope.choices import FOLLOWED_MEASURES
from rankscope.cli import arguments, derived, options
from rankscope.cli.output import emit
from rankscope.cli.parser import note

__doc__ = derived.describe(certain)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    derived.add_arguments(parser, certain)
    options.add_highlight(parser)


def run(args: argparse.Namespace) -> None:
    from rankscope.analysis.certain_pairs import evaluate_with_unjudged
    from rankscope.cli.notes import note_on_nonrelevant

    if args.across is not None:
        args.default_measures = FOLLOWED_MEASURES if args.across == "measures" else FOLLOWED_MEASURES[:1]
    measures = arguments.parse_measures(args)
    if args.across or args.scores:
        scores = arguments.evaluate(args, measures)
    else:
        scores = evaluate_with_unjudged(arguments.open_collection(args, measures), measures)
    result = certain(scores, **derived.parameter_values(args, certain))
    emit(args, result, figure=lambda: result.plot(highlight=args.highlight))
    for text in (
        () if args.across or args.scores else note_on_nonrelevant(scores.require_judged("certain"), measures)
    ):
        note(args, text)
