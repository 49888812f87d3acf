"""Test which properties measures guarantee: evaluate all rankings up to a depth, and compare all related pairs.

A ranking is a word: the letters a, b, ... are documents relevant to one aspect, and x is a non-relevant document; with
--grades the letters are grades. With both, A is a document highly relevant to a; with --several, (ab) is relevant to
both. Each verdict is also a sentence (on a terminal, and in the table "verdicts" in JSON). No data is needed.

examples:
  rankscope properties -m "ACT AP_IA RR alpha_nDCG@10"
  rankscope properties --aspects 3 --depth 8 --relevant 5 -m "ERR_IA NRBP" -f json
  rankscope properties --aspects 2 --grades 2 --several --depth 4 -m "ERR_IA RBU D_nDCG@4"
  rankscope properties --grades 2 --depth 6 --property swap --property replacement -m "Twist@6 nDCG"
"""

from __future__ import annotations

import argparse
import shutil
import sys
import textwrap

from rankscope.choices import PROPERTIES
from rankscope.cli import arguments, options
from rankscope.cli.output import choose_format, emit, emit_interrupted
from rankscope.errors import SettingsError, printable
from rankscope.progress import silence
from rankscope.tables import Table

DEFAULT = (
    "ACT", "AP_IA", "RR", "P@5", "P@10", "nDCG@5", "nDCG@10", "AP",
    "StRec@10", "P_IA@10", "ERR_IA", "alpha_nDCG@10", "NRBP", "CT",
)  # fmt: skip


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--aspects", type=int, metavar="M", help="number of aspects (default: 2)")
    parser.add_argument(
        "--grades",
        type=int,
        metavar="G",
        help="use grades 0 to G instead of aspects; with --aspects, for each aspect",
    )
    parser.add_argument(
        "--several",
        action="store_true",
        help="include documents that are relevant to several aspects, such as (ab)",
    )
    parser.add_argument(
        "--depth", type=int, default=10, metavar="H", help="maximum length of rankings (default: 10)"
    )
    parser.add_argument(
        "--relevant",
        type=int,
        metavar="R",
        help="number of judged documents of each aspect or grade (default: the depth)",
    )
    parser.add_argument(
        "--nonrelevant",
        type=int,
        metavar="N",
        help="number of judged non-relevant documents (default: the depth)",
    )
    parser.add_argument("--weights", metavar="W,W,...", help="weights of the aspects (default: equal)")
    parser.add_argument(
        "--property",
        action="append",
        metavar="NAME",
        help=f"property to test; repeatable: {', '.join(PROPERTIES)}, or a property of a plugin (default: all)",
    )
    parser.add_argument("--fixed-length", action="store_true", help="use only rankings of the maximum length")
    parser.add_argument(
        "--impossible",
        action="store_true",
        help="include rankings with more documents of a kind than are judged",
    )
    parser.add_argument(
        "--examples",
        type=int,
        default=1,
        metavar="N",
        help="number of counterexamples per violated property (default: 1)",
    )
    options.add_measures(parser, DEFAULT)
    options.add_output(parser)
    options.add_plot(parser)
    options.add_jobs(parser)


def run(args: argparse.Namespace) -> None:
    from rankscope.lab.axioms.cases import properties

    silence(args.quiet)
    result = properties(
        arguments.parse_measures(args),
        aspects=args.aspects,
        grades=args.grades,
        depth=args.depth,
        relevant=args.relevant,
        nonrelevant=args.nonrelevant,
        weights=_weights(args.weights),
        several=args.several,
        properties=args.property,
        fixed_length=args.fixed_length,
        possible=not args.impossible,
        examples=args.examples,
        jobs=args.jobs,
    )
    if not result.complete:
        emit_interrupted(args, result)
    emit(args, result)
    if args.output is None and choose_format(args) == "table":
        _write_sentences(result["verdicts"])


def _weights(text: str | None) -> list[float] | None:
    if text is None:
        return None
    try:
        return [float(weight) for weight in text.split(",")]
    except ValueError:
        raise SettingsError(f"weights {text!r}", hint="give numbers such as 0.5,0.3,0.2") from None


def _write_sentences(verdicts: Table) -> None:
    """Write a sentence per violation, and a single one with all measures without violations."""
    width = min(120, shutil.get_terminal_size((120, 24)).columns)
    sentences = [str(row["sentence"]) for row in verdicts.records() if row["holds"] is not True]
    broken = {row["measure"] for row in verdicts.records() if row["holds"] is not True}
    sound = [str(name) for name in dict.fromkeys(verdicts.column("measure")) if name not in broken]
    if sound:
        sentences.append(f"No violation by {', '.join(sound)}.")
    for sentence in sentences:
        sys.stdout.write("\n" + textwrap.fill(printable(str(sentence)), width, subsequent_indent="  ") + "\n")
