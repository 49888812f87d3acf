"""Find the hits of a run: text of a TREC file in, ranks of its judged documents out.

Two scanners, one in C and one in Python, return identical results. The environment variable ``RANKSCOPE_SCANNER``
selects ``native`` or ``python``; the default is C if it was built.

A line of a run has six fields, ``topic Q0 document rank score tag``, separated by white space. Blank lines and lines
that start with ``#`` are skipped. Lines end in LF or CRLF; other line ends are errors. As in trec_eval, the second
field and text after the tag are ignored, and so is the rank unless it defines the order. Every line must be valid, even
in topics without judgments, so the validity of a run does not depend on the qrels.
"""

from __future__ import annotations

from pathlib import Path

from rankscope.native.scanner import backend_name
from rankscope.read.lines import LineProblem, locate_problems, reject_empty
from rankscope.read.orders import check_order
from rankscope.read.qrels import Qrels
from rankscope.read.runs import Run
from rankscope.read.source import Source
from rankscope.scan import native
from rankscope.scan.hits import RunHits
from rankscope.scan.memory import match_lists, match_run

__all__ = ["backend_name", "scan_run", "scan_text"]


def scan_run(run: Run, qrels: Qrels, *, jobs: int = 1, ties: bool = False) -> RunHits:
    """Find the hits of a run in a file, in bytes, or in memory; with their ``ties`` on request.

    >>> scan_run(Run.from_dict({"q1": {"d1": 0.5, "d2": 0.9}}), Qrels.from_dict({"q1": {"d1": 1}})).rank.tolist()
    [2]
    """
    run = run.load()
    if run.rows is not None:
        if backend_name() == "python":
            return match_lists(run.rows.lists(), qrels, run.order, run.name, ties)
        try:
            return native.scan_rows(run.rows, qrels, run.order, ties)._replace(tag=run.name)
        except LineProblem as problem:
            raise run.rows.repeated(problem.text, problem.topic, problem.line - 1) from None
    if run.data is not None:
        return match_run(run, qrels, ties)
    assert run.source is not None
    return scan_text(run.source, qrels, run.order, jobs=jobs, ties=ties, label=run.label)


def scan_text(
    source: str | Path | bytes | Source,
    qrels: Qrels,
    order: str = "trec_eval",
    *,
    jobs: int = 1,
    ties: bool = False,
    backend: str | None = None,
    label: str = "<bytes>",
) -> RunHits:
    r"""Find the hits of a run: a file (plain or compressed), ``-`` for standard input, or its bytes.

    ``jobs`` threads share one large plain file; ``ties`` requests the documents that share the score of a hit;
    ``label`` names bytes in messages. The first invalid line raises :class:`~rankscope.errors.InputError`.

    >>> qrels = Qrels.from_dict({"q1": {"d1": 1, "d3": 0}})
    >>> run = scan_text(b"q1 Q0 d1 1 0.5 bm25\nq1 Q0 d2 2 0.9 bm25\nq7 Q0 d1 1 3 bm25\n", qrels)
    >>> run.rank.tolist(), run.judgment.tolist(), run.length.tolist(), run.ignored_topics, run.tag
    ([2], [0], [2], ('q7',), 'bm25')
    """
    check_order(order)
    scanner = backend_name(backend)
    text = source if isinstance(source, Source) else Source.open(source, label)
    with locate_problems(text):
        if scanner == "native":
            run = native.scan_source(text, qrels, order, jobs, ties)
        else:
            from rankscope.scan import python  # only needed if the library was not built

            run = python.scan_source(text, qrels, order, ties)
    if not len(run.topic) and not run.ignored_topics:
        reject_empty(text)
    return run
