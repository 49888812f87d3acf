"""Test whether measures have an interval-like or an interval scale, so that means of their values are meaningful.

The command enumerates all rankings of a length; no data is needed. Violated pairs of intervals are counted exactly if
that is feasible, and sampled otherwise; lengths above 20 are decided by theorems alone. If --relevant is less than the
length, rankings with more relevant documents than the topic has are left out.

examples:
  rankscope scales --length 10
  rankscope scales --length 10 --equal-relevant -m "AP ERR RBP(p=0.8) DCG"
  rankscope scales --length 5 --relevant 3 -m "Rprec Bpref"     a topic with three relevant documents
  rankscope scales --length 5 --grades 2 -m "DCG DCG(gains=exp2) ERR nDCG"
  rankscope scales --length 1000 -m "DCG(discount=jk,base=10)" -f json
  rankscope scales --length 4 --axioms -m "AP RBP(p=0.5)"       axioms of a difference structure
"""

from __future__ import annotations

import argparse
import sys
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from rankscope.choices import COUNTS
from rankscope.cli import arguments, options
from rankscope.cli.output import choose_format, emit, emit_interrupted
from rankscope.declaration import Option
from rankscope.errors import SettingsError, printable
from rankscope.text_layout import terminal_columns

if TYPE_CHECKING:
    from rankscope.lab.measurement.scales import Scales

DEFAULT = (
    "AP", "ERR", "RBP(p=0.3)", "RBP(p=0.5)", "RBP", "RBP(p=0.95)", "DCG", "DCG(discount='jk')",
    "DCG(discount='jk',base=10)",
)  # fmt: skip


@dataclass
class Options:
    """Options of the command.

    Parameters
    ----------
    length
        Length of rankings.
    relevant
        Number of relevant documents of the topic; with --grades, number of each grade (default: the length).
    grades
        Use grades 0 to G (default: 1, binary); differences are taken for each grade.
    count
        Violated pairs to count: exact: all; sample: only those in a random sample; auto: all if that is feasible.
    samples
        Number of comparable pairs in a sample.
    """

    length: Annotated[int, Option("N")] = 10
    relevant: Annotated[int | None, Option("R")] = None
    grades: Annotated[int, Option("G")] = 1
    count: Annotated[str, Option(choices=COUNTS)] = "auto"
    samples: Annotated[int, Option("N")] = 100_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    options.add_options(parser, Options)
    intervals = parser.add_mutually_exclusive_group()
    interval = "interval-like scale: only"
    equal = f"{interval} intervals with equally many relevant documents at both ends (default: both tests)"
    intervals.add_argument("--equal-relevant", action="store_true", help=equal)
    intervals.add_argument(
        "--all-intervals", action="store_true", help=f"{interval} the test over all intervals"
    )
    axioms = "test the axioms of a difference structure instead, by enumeration (at most 16 rankings)"
    parser.add_argument("--axioms", action="store_true", help=axioms)
    options.add_measures(parser, DEFAULT)
    options.add_output(parser)
    options.add_plot(parser)
    options.add_seed(parser)
    options.add_jobs(parser)


def run(args: argparse.Namespace) -> None:
    from rankscope.lab.measurement.difference_structure import difference_structure
    from rankscope.lab.measurement.verdicts import scales

    measures = arguments.parse_measures(args)
    if args.axioms:
        if args.grades != 1:
            raise SettingsError("--axioms tests binary rankings only", hint="leave out --grades")
        emit(args, difference_structure(measures, args.length, relevant=args.relevant))
        return
    equal_relevant = True if args.equal_relevant else False if args.all_intervals else None
    settings = {name: getattr(args, name) for name in (*vars(Options()), "seed", "jobs")}
    result = scales(measures, equal_relevant=equal_relevant, **settings)
    if result.partial:
        emit_interrupted(args, result)
    if args.output is None and choose_format(args) == "table":
        _write_sentences(result)
    emit(args, result)


def _write_sentences(result: Scales) -> None:
    width = min(120, terminal_columns(120))
    for sentence in result.sentences:
        text = textwrap.fill(printable(sentence), width, subsequent_indent="  ", break_on_hyphens=False)
        sys.stdout.write(text + "\n\n")
