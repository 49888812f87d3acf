"""Scanning a run: the text of a TREC file in, the ranks of its judged documents out.

Two scanners give the same bytes: one in C and one in Python. The environment variable ``RANKSCOPE_SCANNER``
chooses ``native`` or ``python``; without it the one in C serves wherever it could be built.

A run has six fields a line, ``topic Q0 document rank score tag``, separated by any blanks. Blank lines and
lines that start with ``#`` are skipped. The second field is not looked at, nor is the rank unless it gives the
order, nor is anything after the tag, as in trec_eval. Every line must be right, also in topics without
judgments, so whether a run can be read does not depend on the qrels.
"""

from __future__ import annotations

import os
from pathlib import Path

from rankscope.errors import InputError, SettingsError
from rankscope.read import scan_native
from rankscope.read.blocks import Source
from rankscope.read.orders import check_order
from rankscope.read.qrels import Qrels
from rankscope.read.scanned import COLUMNS, LineProblem, ScannedRun

__all__ = ["ScannedRun", "backend_name", "scan_run"]

VARIABLE = "RANKSCOPE_SCANNER"


def backend_name(backend: str | None = None) -> str:
    """Which scanner is in use, ``native`` or ``python``."""
    wanted = backend or os.environ.get(VARIABLE) or ("native" if scan_native.available() else "python")
    if wanted not in ("native", "python"):
        raise SettingsError(f"no scanner is called {wanted!r}", hint=f"set {VARIABLE} to native or python")
    if wanted == "native" and not scan_native.available():
        raise SettingsError(
            "the native scanner was not built",
            hint=f"install a C compiler and reinstall Rankscope, or set {VARIABLE}=python",
        )
    return wanted


def scan_run(
    source: str | Path | bytes,
    qrels: Qrels,
    order: str = "trec_eval",
    *,
    jobs: int = 1,
    backend: str | None = None,
    label: str = "<bytes>",
) -> ScannedRun:
    r"""The hits of a run: a file (plain or gzipped), ``-`` for standard input, or its bytes.

    ``jobs`` threads share one large plain file; ``label`` is what messages call bytes.
    The first line that is wrong is an :class:`~rankscope.errors.InputError`.

    >>> qrels = Qrels.from_dict({"q1": {"d1": 1, "d3": 0}})
    >>> run = scan_run(b"q1 Q0 d1 1 0.5 bm25\nq1 Q0 d2 2 0.9 bm25\nq7 Q0 d1 1 3 bm25\n", qrels)
    >>> run.rank.tolist(), run.judgment.tolist(), run.length.tolist(), run.ignored_topics, run.tag
    ([2], [0], [2], ('q7',), 'bm25')
    """
    check_order(order)
    scanner = backend_name(backend)
    text = Source.of(source, label)
    try:
        if scanner == "native":
            run = scan_native.scan(text, qrels, order, jobs)
        else:
            from rankscope.read import scan_python  # seldom needed where there is the other

            run = scan_python.scan(text, qrels, order)
    except LineProblem as problem:
        raise problem.located(text.label) from None
    if not len(run.topic) and not run.ignored_topics:
        what = "the file is empty" if text.size == 0 else "there is no line with data"
        raise InputError(what, path=text.label, hint=f"a run has lines of: {COLUMNS}")
    return run
