"""Read the complete rankings of a run file, for analyses that need more than hits."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import chain
from pathlib import Path

import numpy as np

from rankscope.arrays import Ints
from rankscope.read.columns import RunList
from rankscope.read.ids import to_bytes, to_text
from rankscope.read.line_problems import locate_problems, reject_empty
from rankscope.read.run_text import RunText, TextList
from rankscope.read.source import Source


class _ListReader(RunText):
    """Collects the lines of all topics, or of one topic ``only``; the rank column may be any text."""

    def __init__(self, only: str | None = None) -> None:
        super().__init__("file")
        self.lists: dict[bytes, TextList] = {}
        self._only = None if only is None else to_bytes(only)
        self._line = re.compile(rb"(?m)^\s*" + re.escape(self._only or b"") + rb"\s")

    def feed(self, text: bytes) -> None:
        if self._only is None or self._line.search(text):
            super().feed(text)
        else:
            self.lines += text.count(b"\n")

    def list_for(self, topic: bytes) -> TextList:
        return self.lists.setdefault(topic, TextList()) if self._only in (None, topic) else TextList()


def read_lists(source: Path | bytes, label: str, only: str | None = None) -> dict[str, RunList]:
    """Return the ranking of every topic of a run file, or of one topic, in the order of the file."""
    text = Source.open(source, label)
    run = _ListReader(only)
    with locate_problems(text):
        run.read(text)
    if not run.lists and only is None:
        reject_empty(text)
    return {to_text(topic): as_run_list(ranking) for topic, ranking in run.lists.items()}


def as_run_list(ranking: TextList) -> RunList:
    """Convert a parsed ranking."""
    return RunList(ranking.documents, np.concatenate(ranking.scores), parse_text_ranks(ranking.ranks))


def parse_text_ranks(ranks: Iterable[list[bytes]]) -> Ints | None:
    """Return the ranks as integers; None if one is not an integer."""
    try:
        return np.fromiter(map(int, chain.from_iterable(ranks)), np.int64)
    except (ValueError, OverflowError):
        return None  # only the ordering `rank` needs integers, and the scanner validates them
