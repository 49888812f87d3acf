"""Test which properties measures guarantee: evaluate all rankings up to a depth, and compare all related pairs.

A ranking is a word: the letters a, b, ... are documents relevant to one aspect, and x is a non-relevant document; with
--grades the letters are grades. With both, A is a document highly relevant to a; with --multi-aspect, (ab) is relevant
to both. Each verdict is also a sentence (on a terminal, and in the table "verdicts" in JSON). No data is needed.

examples:
  rankscope properties -m "ACT AP_IA RR alpha_nDCG@10"
  rankscope properties --aspects 3 --depth 8 --relevant 5 -m "ERR_IA NRBP" -f json
  rankscope properties --aspects 2 --grades 2 --multi-aspect --depth 4 -m "ERR_IA RBU D_nDCG@4"
  rankscope properties --grades 2 --depth 6 --property swap --property replacement -m "Twist@6 nDCG"
"""

import argparse
import sys
import textwrap
from dataclasses import dataclass
from typing import Annotated

from rankscope.choices import PROPERTIES
from rankscope.cli import arguments, options
from rankscope.cli.output import choose_format, emit, emit_interrupted
from rankscope.declaration import Option
from rankscope.errors import printable
from rankscope.tables import Table
from rankscope.text_layout import terminal_columns

DEFAULT = (
    "ACT", "AP_IA", "RR", "P@5", "P@10", "nDCG@5", "nDCG@10", "AP",
    "StRec@10", "P_IA@10", "ERR_IA", "alpha_nDCG@10", "NRBP", "CT",
)  # fmt: skip


@dataclass
class Options:
    """Options of the command.

    Parameters
    ----------
    aspects
        Number of aspects (default: 2).
    grades
        Use grades 0 to G instead of aspects; with --aspects, for each aspect.
    multi_aspect
        Include documents that are relevant to several aspects, such as (ab).
    depth
        Maximum length of rankings.
    relevant
        Number of judged documents of each aspect or grade (default: the depth).
    nonrelevant
        Number of judged non-relevant documents (default: the depth).
    weights
        Weights of the aspects (default: equal).
    fixed_length
        Use only rankings of the maximum length.
    include_impossible
        Include rankings with more documents of a kind than are judged.
    examples
        Number of counterexamples per violated property.
    """

    aspects: Annotated[int | None, Option("M")] = None
    grades: Annotated[int | None, Option("G")] = None
    multi_aspect: bool = False
    depth: Annotated[int, Option("H")] = 10
    relevant: Annotated[int | None, Option("R")] = None
    nonrelevant: Annotated[int | None, Option("N")] = None
    weights: Annotated[str | None, Option("W,W,...", parse=options.decimals)] = None
    fixed_length: bool = False
    include_impossible: bool = False
    examples: Annotated[int, Option("N")] = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    options.add_options(parser, Options)
    meaning = (
        f"property to test; repeatable: {', '.join(PROPERTIES)}, or a property of a plugin (default: all)"
    )
    parser.add_argument("--property", action="append", metavar="NAME", help=meaning)
    options.add_measures(parser, DEFAULT)
    options.add_output(parser)
    options.add_plot(parser)
    options.add_jobs(parser)


def run(args: argparse.Namespace) -> None:
    from rankscope.lab.axioms.cases import properties

    settings = {name: getattr(args, name) for name in (*vars(Options()), "jobs")}
    result = properties(arguments.parse_measures(args), properties=args.property, **settings)
    if not result.complete:
        emit_interrupted(args, result)
    emit(args, result)
    if args.output is None and choose_format(args) == "table":
        _write_sentences(result["verdicts"])


def _write_sentences(verdicts: Table) -> None:
    """Write a sentence per violation, and a single one with all measures without violations."""
    width = min(120, terminal_columns(120))
    sentences = [str(row["sentence"]) for row in verdicts.records() if row["holds"] is not True]
    broken = {row["measure"] for row in verdicts.records() if row["holds"] is not True}
    sound = [str(name) for name in dict.fromkeys(verdicts.column("measure")) if name not in broken]
    if sound:
        sentences.append(f"No violation by {', '.join(sound)}.")
    for sentence in sentences:
        sys.stdout.write("\n" + textwrap.fill(printable(str(sentence)), width, subsequent_indent="  ") + "\n")
