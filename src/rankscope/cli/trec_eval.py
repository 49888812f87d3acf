"""Replace trec_eval 10, with the same options and the same output, byte for byte.

examples:
  rankscope trec_eval qrels.txt bm25.run
  rankscope trec_eval -q -c -m map -m P.5,10 -m ndcg_cut.10 qrels.txt bm25.run
  rankscope trec_eval -h -m bpref
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from rankscope import __version__
from rankscope.errors import InputError, printable
from rankscope.trec_eval.options import Options, read_options

if TYPE_CHECKING:
    from rankscope.read import Qrels, Run
    from rankscope.trec_eval.results import Results

_MAX_SIZE = 1 << 28
"""Maximum size in bytes of a run that is evaluated again with the 32-bit scores of trec_eval 9."""


def main(argv: Sequence[str]) -> int:
    """Run with trec_eval's own arguments."""
    options = read_options(argv)
    if options.version:
        sys.stdout.write(f"trec_eval version 10.0 (rankscope {__version__})\n")
    elif options.help:
        from rankscope.trec_eval.help_text import format_help

        sys.stdout.write(format_help(options))
    else:
        from rankscope.trec_eval.layout import format_lines

        results = evaluate(options)
        write_lines(format_lines(results, topics=options.topics, summary=options.summary))
        if options.summary and options.order == "trec_eval" and _is_read_quickly(options.files[1]):
            _note_on_32_bits(results, evaluate(replace(options, order="trec_eval9")))
    return 0


def evaluate(options: Options) -> Results:
    """Return the values of the requested measures, as z-scores with -Z."""
    from rankscope.trec_eval.results import read_zscores

    results = _evaluate(options)
    return results if options.zscores is None else results.as_zscores(read_zscores(options.zscores))


def _evaluate(options: Options) -> Results:
    from rankscope.read import open_qrels, read_run
    from rankscope.read.qrels import RepeatedJudgments
    from rankscope.trec_eval.names import RelevanceSettings, parse_columns

    relevance = RelevanceSettings(options.level, options.n_documents)
    columns = parse_columns(options.measures or ["official"], relevance, options.judgments)
    judgments, run = options.files[0], read_run(options.files[1], order=options.order)
    _reject_columns(run, "topic Q0 document rank score tag")
    if options.judgments == "qrels":
        from rankscope.trec_eval.results import evaluate_qrels

        with warnings.catch_warnings():  # trec_eval rejects repeated judgments
            warnings.simplefilter("error", RepeatedJudgments)
            try:
                qrels = open_qrels(judgments, aspects=False)
            except RepeatedJudgments as repeated:
                raise repeated.first from None
        _reject_columns(qrels, "topic iteration document grade")
        if qrels.decimal_line is not None:
            hint = "trec_eval reads integers; use rankscope eval"
            raise InputError("a grade is not an integer", path=qrels.path, line=qrels.decimal_line, hint=hint)
        return evaluate_qrels(qrels, run, columns, options)
    if options.judgments == "qrels_jg":
        from rankscope.trec_eval.groups import evaluate_groups, read_groups

        return evaluate_groups(read_groups(judgments), run, columns, options)
    from rankscope.trec_eval.prefs import evaluate_prefs, read_prefs

    prefs = read_prefs(judgments, from_qrels=options.judgments == "qrels_prefs")
    return evaluate_prefs(prefs, run, columns, options)


def _reject_columns(opened: Qrels | Run, fields: str) -> None:
    """Raise InputError for columns without a header: trec_eval takes them for damaged lines."""
    if opened.format == "columns":
        raise InputError(f"trec_eval reads lines of: {fields}", path=opened.path, hint="use rankscope eval")


def _is_read_quickly(run: str) -> bool:
    """Return whether a run can be read a second time without a noticeable delay."""
    path = Path(run)
    return path.is_file() and path.stat().st_size <= _MAX_SIZE


def _note_on_32_bits(results: Results, rounded: Results) -> None:
    """Print one note if the 32-bit scores of trec_eval 9 tie documents and change a printed mean."""
    from rankscope.trec_eval.layout import format_lines

    exact_lines, rounded_lines = (
        list(format_lines(values, topics=False, summary=True)) for values in (results, rounded)
    )
    changed = [
        (a.split("\t"), b.split("\t")) for a, b in zip(exact_lines, rounded_lines, strict=True) if a != b
    ]
    if changed:
        (name, _, value), (_, _, other) = changed[0]
        suffix = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
        sys.stderr.write(
            f"rankscope: trec_eval 9 reads scores as 32-bit numbers and has other ties: {name.strip()} is {other} there"
            f" and {value} here{suffix}; --order trec_eval9 prints its values\n"
        )


def write_lines(text: Iterable[str]) -> None:
    """Write lines to standard output, as bytes unless it is a terminal."""
    if sys.stdout.isatty():  # Untrusted ids are escaped.
        sys.stdout.writelines("\t".join(map(printable, line.split("\t"))) + "\n" for line in text)
    else:
        sys.stdout.flush()
        sys.stdout.buffer.write("".join(f"{line}\n" for line in text).encode("utf-8", "surrogateescape"))
