"""``rankscope gate``: the derived command, a baseline from a file, and an exit code."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from rankscope.analysis.gate import gate
from rankscope.cli import arguments, derived
from rankscope.cli.output import choose_format, emit, emit_text
from rankscope.errors import SettingsError

if TYPE_CHECKING:
    from rankscope.measures import Measure
    from rankscope.scores import Scores

__doc__ = derived.describe(gate)
FAILED = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    derived.add_arguments(parser, gate)
    for action in parser._actions:
        if action.dest == "format":
            action.help = "output format (default: by the file name of -o, otherwise a Markdown report)"


def run(args: argparse.Namespace) -> int:
    measures = arguments.parse_measures(args)
    scores, baseline = arguments.evaluate(args, measures), _read_baseline(args, measures)
    if args.topics:
        common = set(scores.topics).intersection(baseline.topics)
        baseline = baseline.with_topics(common or baseline.topics)
    result = gate(scores, **{**derived.parameter_values(args, gate), "baseline": baseline})
    output_format = choose_format(args)
    if output_format == "markdown" or (args.format is None and output_format in ("table", "tsv")):
        emit_text(args, result.report())
    else:
        emit(args, result)
    return 0 if result.passed else FAILED


def _read_baseline(args: argparse.Namespace, measures: list[Measure]) -> Scores:
    """Return the scores of the baseline: from a file of scores, or of its run."""
    from rankscope.read.scores import is_score_table
    from rankscope.scores import read_scores

    if is_score_table(args.baseline):
        return read_scores(args.baseline)
    if args.qrels is None:
        raise SettingsError("--scores needs a baseline of scores", hint="name a CSV or TSV file of scores")
    run = argparse.Namespace(**{**vars(args), "runs": [args.baseline], "topics": None, "quiet": True})
    return arguments.open_collection(run, measures).evaluate(measures)
