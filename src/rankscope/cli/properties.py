"""Find out what measures guarantee: every ranking up to a depth is evaluated, every related pair compared.

A ranking is a word: a, b, ... stand for documents relevant to one aspect and x for non-relevant ones; with --grades the
letters are grades. No data is needed.

examples:
  rankscope properties -m "ACT AP_IA RR alpha_nDCG@10"
  rankscope properties --aspects 3 --depth 8 --relevant 5 -m "ERR_IA NRBP" -f json
  rankscope properties --grades 2 --depth 6 --property swap --property replacement -m "Twist@6 nDCG"
"""

from __future__ import annotations

import argparse
import shutil
import sys
import textwrap

from rankscope.cli import options
from rankscope.cli.output import emit, emit_interrupted, format_of
from rankscope.errors import SettingsError, printable
from rankscope.lab.axioms.cases import properties
from rankscope.lab.axioms.relations import RELATIONS
from rankscope.progress import silence
from rankscope.tables import Table

DEFAULT = (
    "ACT", "AP_IA", "RR", "P@5", "P@10", "nDCG@5", "nDCG@10", "AP",
    "StRec@10", "P_IA@10", "ERR_IA", "alpha_nDCG@10", "NRBP", "CT",
)  # fmt: skip


def add_arguments(parser: argparse.ArgumentParser) -> None:
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument("--aspects", type=int, metavar="M", help="aspects of the topic (default: 2)")
    kind.add_argument("--grades", type=int, metavar="G", help="grades 0 to G instead of aspects")
    parser.add_argument("--depth", type=int, default=10, metavar="H", help="longest ranking (default: 10)")
    parser.add_argument(
        "--relevant",
        type=int,
        metavar="R",
        help="judged documents of each aspect or grade (default: the depth)",
    )
    parser.add_argument(
        "--nonrelevant", type=int, metavar="N", help="judged non-relevant documents (default: the depth)"
    )
    parser.add_argument("--weights", metavar="W,W,...", help="weights of the aspects (default: equal)")
    parser.add_argument(
        "--property",
        action="append",
        metavar="NAME",
        help=f"repeatable; one of: {', '.join(RELATIONS)}, or what a plugin defines",
    )
    parser.add_argument("--fixed-length", action="store_true", help="only rankings of exactly the depth")
    parser.add_argument(
        "--impossible",
        action="store_true",
        help="also rankings with more documents of a kind than are judged",
    )
    parser.add_argument(
        "--examples", type=int, default=1, metavar="N", help="counterexamples of each (default: 1)"
    )
    options.add_measures(parser, DEFAULT)
    options.add_output(parser)
    options.add_plot(parser)
    options.add_jobs(parser)


def run(args: argparse.Namespace) -> None:
    silence(args.quiet)
    found = properties(
        options.measures(args),
        aspects=args.aspects,
        grades=args.grades,
        depth=args.depth,
        relevant=args.relevant,
        nonrelevant=args.nonrelevant,
        weights=_weights(args.weights),
        properties=args.property,
        fixed_length=args.fixed_length,
        possible=not args.impossible,
        examples=args.examples,
        jobs=args.jobs,
    )
    if not found.complete:
        emit_interrupted(args, found)
    emit(args, found)
    if args.output is None and format_of(args) == "table":
        _write_sentences(found["counterexamples"])


def _weights(text: str | None) -> list[float] | None:
    if text is None:
        return None
    try:
        return [float(weight) for weight in text.split(",")]
    except ValueError:
        raise SettingsError(f"weights {text!r}", hint="give numbers such as 0.5,0.3,0.2") from None


def _write_sentences(examples: Table) -> None:
    width = min(120, shutil.get_terminal_size((120, 24)).columns)
    for sentence in examples.column("explanation"):
        sys.stdout.write("\n" + textwrap.fill(printable(str(sentence)), width, subsequent_indent="  ") + "\n")
