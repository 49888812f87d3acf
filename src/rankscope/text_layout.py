"""A table laid out for a terminal: aligned, within its width, with weight and colour where there are any."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import TypeAlias

from rankscope.cells import fitted, shortened, text_width, tone
from rankscope.errors import printable

__all__ = ["Grid", "Ink", "no_ink"]

Ink: TypeAlias = Callable[[str, str], str]
"""Gives a text the look of its role: ``title``, ``head``, ``best``, ``better``, ``worse`` or ``faint``."""

_GAP = 2
_NARROWEST = 12  # that a column of text becomes


def no_ink(text: str, role: str) -> str:
    """No weight and no colour."""
    return text


@dataclass(frozen=True)
class Grid:
    """Cells as people read them, rows of texts in blocks that can be asked for again, and what is known about them.

    ``numeric`` says which columns are numbers, ``best`` which cells are the best of theirs; ``marks`` stand behind
    cells; ``spare`` names columns that may be left out.
    """

    columns: Sequence[str]
    cells: Callable[[], Iterable[Sequence[Sequence[str]]]]
    numeric: Sequence[bool]
    best: AbstractSet[tuple[int, int]] = field(default_factory=frozenset)
    marks: Mapping[tuple[int, int], str] = field(default_factory=dict)
    spare: Sequence[str] = ()

    def parts(
        self, width: int | None = None, ink: Ink = no_ink, title: str = "", legend: str = ""
    ) -> Iterator[str]:
        """The lines of the table, in pieces without a last line end.

        Columns that have no room stand below, after the names of their rows again. Those that the table can spare are
        left out instead, and named.
        """
        columns = _Columns(self)
        indices = list(range(len(self.columns)))
        spared: list[str] = []
        if width is not None:
            for name in reversed(self.spare):
                if columns.total(indices) <= width:
                    break
                indices.remove(self.columns.index(name))
                spared.insert(0, name)
            columns.narrow(width, indices)
        yield from (f"{line}\n" for line in _filled(title, width, "title", ink))
        for number, part in enumerate(columns.split(indices, width)):
            yield "\n\n" if number else ""
            yield from columns.block(part, ink)
        note = f"no room for {', '.join(spared)}: widen the terminal, or write to a file" if spared else ""
        for text in (legend, note):
            yield from (f"\n{line}" for line in _filled(text, width, "faint", ink))


def _filled(text: str, width: int | None, role: str, ink: Ink) -> list[str]:
    lines = textwrap.wrap(printable(text), max(20, width or 120), break_on_hyphens=False)
    return [ink(line, role) for line in lines]


class _Columns:
    """The columns of a table, and how wide they are."""

    def __init__(self, grid: Grid) -> None:
        self.names = [printable(name) for name in grid.columns]
        self.numeric, self.cells, self.best, self.marks = grid.numeric, grid.cells, grid.best, grid.marks
        self.room = [0] * len(self.names)  # for marks, behind the numbers
        for (_, column), mark in self.marks.items():
            self.room[column] = max(self.room[column], len(mark))
        self.widths = [text_width(name) for name in self.names]
        for rows in grid.cells():
            for i, texts in enumerate(zip(*rows, strict=True)):
                self.widths[i] = max(self.widths[i], max(map(text_width, texts)) + self.room[i])
        self.short: dict[int, dict[str, str]] = {}
        self.labels = next((i for i, number in enumerate(self.numeric) if number), len(self.names))

    def total(self, indices: Sequence[int]) -> int:
        """The width of a table of these columns."""
        return sum(self.widths[i] for i in indices) + _GAP * (len(indices) - 1)

    def narrow(self, width: int, indices: Sequence[int]) -> None:
        """Take space from the widest columns of text until a table of these columns fits."""
        before = list(self.widths)
        while self.total(indices) > width:
            wide = [
                (self.widths[i], i) for i in indices if not self.numeric[i] and self.widths[i] > _NARROWEST
            ]
            if not wide:
                break
            self.widths[max(wide)[1]] -= 1
        if before != self.widths:
            narrowest = min(w for i, w in enumerate(self.widths) if w != before[i])
            texts = {
                text: None
                for rows in self.cells()
                for row in rows
                for i, text in enumerate(row)
                if not self.numeric[i] and text_width(text) > narrowest
            }
            for wide_enough in set(self.widths):
                self.short[wide_enough] = shortened(
                    (t for t in texts if text_width(t) > wide_enough), wide_enough
                )

    def split(self, indices: list[int], width: int | None) -> list[list[int]]:
        """The columns in parts that fit, each after the columns of names; a single one may be wider."""
        if width is None:
            return [indices]
        labels = [i for i in indices if i < self.labels] or indices[:1]
        parts: list[list[int]] = [list(labels)]
        for i in indices[len(labels) :]:
            if self.total([*parts[-1], i]) > width and len(parts[-1]) > len(labels):
                parts.append(list(labels))
            parts[-1].append(i)
        return parts

    def block(self, indices: Sequence[int], ink: Ink) -> Iterator[str]:
        """The lines of some columns, without a last line end."""
        gap = " " * _GAP
        head = [self._cell(fitted(self.names[i], self.widths[i]), i, "head", ink) for i in indices]
        yield gap.join(head).rstrip() + "\n" + ink("─" * self.total(indices), "faint")
        start = 0
        for rows in self.cells():
            lines = []
            for r, row in enumerate(rows, start):
                cells = []
                for i in indices:
                    mark = self.marks.get((r, i), "")
                    role = tone(mark) or ("best" if (r, i) in self.best else "")
                    text = self.short.get(self.widths[i], {}).get(row[i], row[i]) if self.short else row[i]
                    cells.append(self._cell(text, i, role, ink, mark))
                lines.append("\n" + gap.join(cells).rstrip())
            yield "".join(lines)
            start += len(rows)

    def _cell(self, text: str, column: int, role: str, ink: Ink, mark: str = "") -> str:
        """A cell in its column: numbers under each other, marks behind them."""
        behind = " " * (self.room[column] - len(mark)) if role != "head" else ""
        space = " " * (self.widths[column] - text_width(text) - len(mark) - len(behind))
        looking = ink(f"{text}{mark}", role) if role else f"{text}{mark}"
        return f"{space}{looking}{behind}" if self.numeric[column] else f"{looking}{behind}{space}"
