"""Drop-in for trec_eval 10: the same options, the same bytes.

examples:
  rankscope trec_eval qrels.txt bm25.run
  rankscope trec_eval -q -c -m map -m P.5,10 -m ndcg_cut.10 qrels.txt bm25.run
  rankscope trec_eval -h -m bpref
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from rankscope import __version__
from rankscope.errors import printable
from rankscope.trec_eval.options import Options, read_options

if TYPE_CHECKING:
    from rankscope.trec_eval.results import Results


def main(argv: Sequence[str]) -> int:
    """Run with trec_eval's own arguments."""
    options = read_options(argv)
    if options.version:
        sys.stdout.write(f"trec_eval version 10.0 (rankscope {__version__})\n")
    elif options.help:
        from rankscope.trec_eval.guide import guide

        sys.stdout.write(guide(options))
    else:
        from rankscope.trec_eval.layout import lines
        from rankscope.trec_eval.results import read_zscores

        results = evaluate(options)
        if options.zscores is not None:
            results = results.as_zscores(read_zscores(options.zscores))
        _write(lines(results, topics=options.topics, summary=options.summary))
    return 0


def evaluate(options: Options) -> Results:
    """The values that the options ask for."""
    from rankscope.read import open_qrels, read_run
    from rankscope.trec_eval.names import Wanted, parsed

    columns = parsed(
        options.measures or ["official"], Wanted(options.level, options.documents), options.judgments
    )
    judgments, run = options.files[0], read_run(options.files[1])
    if options.judgments == "qrels":
        from rankscope.trec_eval.results import evaluate_qrels

        return evaluate_qrels(open_qrels(judgments, aspects=False), run, columns, options)
    if options.judgments == "qrels_jg":
        from rankscope.trec_eval.groups import evaluate_groups, read_groups

        return evaluate_groups(read_groups(judgments), run, columns, options)
    from rankscope.trec_eval.prefs import evaluate_prefs, read_prefs

    prefs = read_prefs(judgments, from_qrels=options.judgments == "qrels_prefs")
    return evaluate_prefs(prefs, run, columns, options)


def _write(text: Iterable[str]) -> None:
    if sys.stdout.isatty():  # ids are whatever a file says, and must not disturb a terminal
        sys.stdout.writelines("\t".join(map(printable, line.split("\t"))) + "\n" for line in text)
    else:
        sys.stdout.flush()
        sys.stdout.buffer.write("".join(f"{line}\n" for line in text).encode("utf-8", "surrogateescape"))
