"""The lists of a run file with all their documents, for whoever looks at more than hits."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import chain
from pathlib import Path

import numpy as np
import numpy.typing as npt

from rankscope.read.columns import RunList
from rankscope.read.ids import to_bytes, to_text
from rankscope.read.line_problems import LineProblem, refuse_empty
from rankscope.read.run_text import RunText, TextList
from rankscope.read.source import Source

__all__ = ["lists_in", "run_list"]


class _Lists(RunText):
    """Every line of a run, or of one topic ``only``, by topic; the rank column is free text here."""

    def __init__(self, only: str | None = None) -> None:
        super().__init__("file")
        self.lists: dict[bytes, TextList] = {}
        self._only = None if only is None else to_bytes(only)
        self._line = re.compile(rb"(?m)^\s*" + re.escape(self._only or b"") + rb"\s")

    def take(self, text: bytes) -> None:
        if self._only is None or self._line.search(text):
            super().take(text)
        else:
            self.lines += text.count(b"\n")

    def list_of(self, topic: bytes) -> TextList:
        if self._only in (None, topic):
            return self.lists.setdefault(topic, TextList())
        return TextList()


def lists_in(source: Path | bytes, label: str, only: str | None = None) -> dict[str, RunList]:
    """The list of every topic of a run file, or that of one of them, as they stand there."""
    text = Source.of(source, label)
    run = _Lists(only)
    try:
        run.read(text)
    except LineProblem as problem:
        text.check_unchanged()
        raise problem.located(text.label) from None
    if not run.lists and only is None:
        refuse_empty(text)
    return {to_text(topic): run_list(one) for topic, one in run.lists.items()}


def run_list(text: TextList) -> RunList:
    """A list of texts in columns."""
    return RunList(text.documents, np.concatenate(text.scores), _rank_column(text.ranks))


def _rank_column(ranks: Iterable[list[bytes]]) -> npt.NDArray[np.int64] | None:
    try:
        return np.fromiter(map(int, chain.from_iterable(ranks)), np.int64)
    except (ValueError, OverflowError):
        return None  # the rank column is free text for every ordering but `rank`, where the scanner checks it
