"""The command ``findings``, which reads the groups of tied documents together with the rankings."""

import argparse

from rankscope.analysis.findings import findings
from rankscope.cli import arguments, derived
from rankscope.cli.output import emit
from rankscope.cli.parser import note

__doc__ = derived.describe(findings)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    derived.add_arguments(parser, findings)


def run(args: argparse.Namespace) -> None:
    from rankscope.cli.notes import note_on_nonrelevant

    measures = arguments.parse_measures(args)
    if args.scores:
        scores = arguments.evaluate(args, measures)
    else:
        scores = arguments.open_collection(args, measures).with_tie_groups().evaluate(measures)
    emit(args, findings(scores, **derived.parameter_values(args, findings)))
    for text in () if scores.judged is None else note_on_nonrelevant(scores.judged, measures):
        note(args, text)
