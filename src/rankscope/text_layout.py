"""Layout of tables for a terminal: alignment, line width, bold and colour."""

import os
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from typing import TypeAlias

from rankscope.cells import fit_text, shorten_names, text_width, tone
from rankscope.errors import printable

Ink: TypeAlias = Callable[[str, str], str]
"""Function that styles a text by its role: ``title``, ``head``, ``best``, ``better``, ``worse`` or ``faint``."""

_GAP = 2
_MIN_WIDTH = 12  # Minimum width of a shortened text column.
_PROSE = "sentence"  # Name of columns of sentences, which are wrapped in the last place instead of shortened.


def no_ink(text: str, role: str) -> str:
    """Return the text without styles."""
    return text


def terminal_columns(default: int = 80) -> int:
    """Return the width of the terminal, as ``shutil.get_terminal_size`` does, which takes long to import."""
    columns = os.environ.get("COLUMNS", "")
    if columns.isascii() and columns.isdigit() and int(columns):
        return int(columns)
    try:
        return os.get_terminal_size(sys.__stdout__.fileno()).columns or default  # type: ignore[union-attr]
    except (AttributeError, ValueError, OSError):  # Standard output is closed, or not a terminal.
        return default


def _wrap(text: str, width: int | None, role: str, ink: Ink) -> list[str]:
    lines = textwrap.wrap(printable(text), max(20, width or 120), break_on_hyphens=False)
    return [ink(line, role) for line in lines]


class Grid:
    """Formatted cells of a table, their properties, and the widths of its columns.

    ``cells`` returns an iterable of blocks of rows, on each call from the start. ``numeric`` tells which columns are
    right-aligned, ``best`` which cells are bold; ``marks`` follow cells; ``spare`` columns may be left out.
    """

    def __init__(
        self,
        columns: Sequence[str],
        cells: Callable[[], Iterable[Sequence[Sequence[str]]]],
        numeric: Sequence[bool],
        best: Set[tuple[int, int]],
        marks: Mapping[tuple[int, int], str],
        spare: Sequence[int],
    ) -> None:
        self.names = [printable(name) for name in columns]
        self.cells, self.numeric, self.best, self.marks, self.spare = cells, numeric, best, marks, spare
        self.mark_width = [0] * len(self.names)  # Width of the marks after the cells.
        for (_, column), mark in marks.items():
            self.mark_width[column] = max(self.mark_width[column], len(mark))
        self.widths = [text_width(name) for name in self.names]
        self.filled = [False] * len(self.names)
        for rows in cells():
            for i, texts in enumerate(zip(*rows, strict=True)):
                self.widths[i] = max(self.widths[i], max(map(text_width, texts)) + self.mark_width[i])
                self.filled[i] = self.filled[i] or any(texts)
        self.short: dict[int, dict[str, str]] = {}
        self.n_labels = next((i for i, number in enumerate(numeric) if number), len(self.names))

    def parts(self, width: int | None, ink: Ink, title: str = "", legend: str = "") -> Iterator[str]:
        """Yield the text of the table in pieces, without a final newline.

        Empty columns are left out. If the table is too wide, spare columns are left out and named in a note. Other
        columns that do not fit follow below, after repeated row names.
        """
        indices = self.filled_columns()
        omitted: list[str] = []
        if width is not None:
            for spare in (i for i in reversed(self.spare) if i in indices):
                if self.total(indices) <= width:
                    break
                indices.remove(spare)
                omitted.insert(0, self.names[spare])
            self.narrow(width, indices)
        yield from (f"{line}\n" for line in _wrap(title, width, "title", ink))
        for number, part in enumerate(self.split(indices, width)):
            yield "\n\n" if number else ""
            yield from self.block(part, ink)
        note = f"no room for {', '.join(omitted)}: widen the terminal, or write to a file" if omitted else ""
        for text in (legend, note):
            yield from (f"\n{line}" for line in _wrap(text, width, "faint", ink))

    def filled_columns(self) -> list[int]:
        """Return the columns that are not empty; all columns if all are."""
        return [i for i in range(len(self.names)) if self.filled[i] or not any(self.filled)]

    def total(self, indices: Sequence[int]) -> int:
        """Return the total width of these columns."""
        return sum(self.widths[i] for i in indices) + _GAP * (len(indices) - 1)

    def narrow(self, width: int, indices: Sequence[int]) -> None:
        """Narrow the widest text columns until these columns fit."""
        before = list(self.widths)
        while self.total(indices) > width:
            columns = [(self.widths[i], i) for i in indices if not self.numeric[i]]
            wide = [column for column in columns if column[0] > _MIN_WIDTH]
            if not wide:
                break
            self.widths[max(wide)[1]] -= 1
        if before != self.widths:
            narrowest = min(w for i, w in enumerate(self.widths) if w != before[i])
            cells = (cell for rows in self.cells() for row in rows for cell in enumerate(row))
            texts = {t: None for i, t in cells if not self.numeric[i] and text_width(t) > narrowest}
            for column_width in set(self.widths):
                long = [text for text in texts if text_width(text) > column_width]
                self.short[column_width] = shorten_names(long, column_width)

    def split(self, indices: list[int], width: int | None) -> list[list[int]]:
        """Split the columns into parts that fit, each starting with the row names; a single column may be too wide."""
        if width is None:
            return [indices]
        labels = [i for i in indices if i < self.n_labels] or indices[:1]
        parts: list[list[int]] = [list(labels)]
        for i in indices[len(labels) :]:
            if self.total([*parts[-1], i]) > width and len(parts[-1]) > len(labels):
                parts.append(list(labels))
            parts[-1].append(i)
        return parts

    def block(self, indices: Sequence[int], ink: Ink) -> Iterator[str]:
        """Yield the lines of some columns, without a final newline."""
        gap = " " * _GAP
        head = [self._cell(fit_text(self.names[i], self.widths[i]), i, "head", ink) for i in indices]
        yield gap.join(head).rstrip() + "\n" + ink("─" * self.total(indices), "faint")
        start = 0
        for rows in self.cells():
            lines = []
            for r, row in enumerate(rows, start):
                cells, rest = [], []
                for i in indices:
                    mark = self.marks.get((r, i), "")
                    role = tone(mark) or ("best" if (r, i) in self.best else "")
                    text = self.short.get(self.widths[i], {}).get(row[i], row[i]) if self.short else row[i]
                    if i == indices[-1] and self.names[i] == _PROSE:
                        text, *rest = textwrap.wrap(row[i], self.widths[i], break_on_hyphens=False) or [""]
                    cells.append(self._cell(text, i, role, ink, mark))
                indent = " " * (self.total(indices) - self.widths[indices[-1]])
                lines += ["\n" + gap.join(cells).rstrip(), *(f"\n{indent}{line}" for line in rest)]
            yield "".join(lines)
            start += len(rows)

    def _cell(self, text: str, column: int, role: str, ink: Ink, mark: str = "") -> str:
        """Return a padded cell: numbers right-aligned before their marks, texts left-aligned."""
        padding = " " * (self.mark_width[column] - len(mark)) if role != "head" else ""
        space = " " * (self.widths[column] - text_width(text) - len(mark) - len(padding))
        styled = ink(f"{text}{mark}", role) if role else f"{text}{mark}"
        return f"{space}{styled}{padding}" if self.numeric[column] else f"{styled}{padding}{space}"
