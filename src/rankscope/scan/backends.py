"""Scanning a run: the text of a TREC file in, the ranks of its judged documents out.

Two scanners give the same bytes: one in C and one in Python. The environment variable ``RANKSCOPE_SCANNER``
chooses ``native`` or ``python``; without it the one in C serves wherever it could be built.

A run has six fields a line, ``topic Q0 document rank score tag``, separated by any blanks. Blank lines and
lines that start with ``#`` are skipped. Lines end in LF or CRLF, and what other programs take for a line end is
an error. The second field is not looked at, nor is the rank unless it gives the order, nor is anything after the
tag, as in trec_eval. Every line must be right, also in topics without judgments, so whether a run can be read
does not depend on the qrels.
"""

from __future__ import annotations

from pathlib import Path

from rankscope.native.scanner import backend_name
from rankscope.read.columns import RunColumns
from rankscope.read.line_problems import LineProblem, refuse_empty
from rankscope.read.orders import check_order
from rankscope.read.qrels import Qrels
from rankscope.read.runs import Run
from rankscope.read.source import Source
from rankscope.scan import native
from rankscope.scan.hits import RunHits
from rankscope.scan.memory import hits_in_memory

__all__ = ["backend_name", "hits_in_text", "hits_of"]


def hits_of(run: Run, qrels: Qrels, *, jobs: int = 1, ties: bool = False) -> RunHits:
    """The hits of a run, wherever its lists are: in a file, in bytes, or in memory; with their ``ties`` if asked.

    >>> hits_of(Run.from_dict({"q1": {"d1": 0.5, "d2": 0.9}}), Qrels.from_dict({"q1": {"d1": 1}})).rank.tolist()
    [2]
    """
    run = run.loaded()
    if run.rows is not None:
        return _hits_in_rows(run.rows, qrels, run.order, run.name, ties)
    if run.memory is not None:
        return hits_in_memory(run.memory, qrels, run.order, run.name, ties)
    assert run.source is not None
    return hits_in_text(run.source, qrels, run.order, jobs=jobs, ties=ties, label=run.label)


def _hits_in_rows(rows: RunColumns, qrels: Qrels, order: str, name: str, ties: bool) -> RunHits:
    """The hits of a run in columns, in C where the library can; ``name`` takes the place of the tag."""
    if backend_name() == "python" or not native.takes_rows():
        return hits_in_memory(rows.lists(), qrels, order, name, ties)
    try:
        return native.hits_in_rows(rows, qrels, order, ties)._replace(tag=name)
    except LineProblem as problem:
        raise rows.repeated(problem.text, problem.topic, problem.line - 1) from None


def hits_in_text(
    source: str | Path | bytes | Source,
    qrels: Qrels,
    order: str = "trec_eval",
    *,
    jobs: int = 1,
    ties: bool = False,
    backend: str | None = None,
    label: str = "<bytes>",
) -> RunHits:
    r"""The hits of a run: a file (plain or gzipped), ``-`` for standard input, or its bytes.

    ``jobs`` threads share one large plain file; ``ties`` asks which documents share the score of a hit; ``label`` is
    what messages call bytes.
    The first line that is wrong is an :class:`~rankscope.errors.InputError`.

    >>> qrels = Qrels.from_dict({"q1": {"d1": 1, "d3": 0}})
    >>> run = hits_in_text(b"q1 Q0 d1 1 0.5 bm25\nq1 Q0 d2 2 0.9 bm25\nq7 Q0 d1 1 3 bm25\n", qrels)
    >>> run.rank.tolist(), run.judgment.tolist(), run.length.tolist(), run.ignored_topics, run.tag
    ([2], [0], [2], ('q7',), 'bm25')
    """
    check_order(order)
    scanner = backend_name(backend)
    text = source if isinstance(source, Source) else Source.of(source, label)
    try:
        if scanner == "native":
            run = native.hits_in_source(text, qrels, order, jobs, ties)
        else:
            from rankscope.scan import python  # seldom needed where there is the other

            run = python.hits_in_source(text, qrels, order, ties)
    except LineProblem as problem:
        text.check_unchanged()  # the line may be half of one file and half of another
        raise problem.located(text.label) from None
    if not len(run.topic) and not run.ignored_topics:
        refuse_empty(text)
    return run
