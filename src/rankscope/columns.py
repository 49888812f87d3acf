"""Rows of a table that are kept as columns, or made in blocks when they are wanted.

A million tuples take half a gigabyte; the same numbers as columns take eight bytes each. Whoever looks at rows sees
tuples of plain values; whoever writes a table takes its columns a block of rows at a time.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, overload

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Cell", "Coded", "Columns", "Joined", "Rows", "as_rows", "blocks_of", "kind_of", "plain"]

Cell: TypeAlias = str | int | float | bool | None
Column: TypeAlias = "Sequence[Cell] | NDArray[Any]"
T = TypeVar("T")

ROWS_AT_ONCE = 16_384


class Coded(Sequence[Cell]):
    """A column with few different values: each of them once, and for every row which one it is.

    >>> import numpy as np
    >>> list(Coded(("bm25", "dense"), np.array([1, 0, 1])))
    ['dense', 'bm25', 'dense']
    """

    def __init__(self, values: Sequence[Cell], codes: NDArray[np.integer[Any]]) -> None:
        self.values, self.codes = values, codes

    def __len__(self) -> int:
        return len(self.codes)

    @overload
    def __getitem__(self, index: int) -> Cell: ...
    @overload
    def __getitem__(self, index: slice) -> Coded: ...
    def __getitem__(self, index: int | slice) -> Cell | Coded:
        if isinstance(index, slice):
            return Coded(self.values, self.codes[index])
        return self.values[int(self.codes[index])]

    def each(self, function: Callable[[Cell], T]) -> list[T]:
        """The function of every value, asked once for each different one."""
        done = [function(value) for value in self.values]
        return list(map(done.__getitem__, self.codes.tolist()))

    def tolist(self) -> list[Cell]:
        """The values of all rows."""
        return list(map(self.values.__getitem__, self.codes.tolist()))


class Rows(Sequence[Sequence[Cell]], ABC):
    """Rows that come in blocks of columns.

    Two methods make one: ``__len__``, and ``block``, the columns of some of the rows. It is equal to a list of the
    same rows.
    """

    @abstractmethod
    def block(self, start: int, stop: int) -> Sequence[Column]:
        """The columns of the rows from ``start`` to before ``stop``, which are there."""

    def columns(self) -> list[Column]:
        """The columns of all rows."""
        parts = list(self.blocks()) or [self.block(0, 0)]
        return [_together(column) for column in zip(*parts, strict=True)]

    def blocks(self) -> Iterator[Sequence[Column]]:
        """The columns, some rows at a time."""
        for start in range(0, len(self), ROWS_AT_ONCE):
            yield self.block(start, min(len(self), start + ROWS_AT_ONCE))

    def __iter__(self) -> Iterator[tuple[Cell, ...]]:
        for columns in self.blocks():
            yield from zip(*map(plain, columns), strict=True)

    @overload
    def __getitem__(self, index: int) -> tuple[Cell, ...]: ...
    @overload
    def __getitem__(self, index: slice) -> list[tuple[Cell, ...]]: ...
    def __getitem__(self, index: int | slice) -> tuple[Cell, ...] | list[tuple[Cell, ...]]:
        wanted = range(len(self))[index]
        if isinstance(wanted, int):
            return next(zip(*map(plain, self.block(wanted, wanted + 1)), strict=True))
        if wanted.step != 1 or not wanted:
            return [self[row] for row in wanted]
        return list(zip(*map(plain, self.block(wanted.start, wanted.stop)), strict=True))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(a == tuple(b) for a, b in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {len(self):,} rows>"


class Columns(Rows):
    """Rows that are held as columns: lists, numpy arrays, :class:`Coded` ones.

    >>> import numpy as np
    >>> rows = Columns([["a", "b"], np.array([0.25, 0.5])])
    >>> rows[1], rows == [("a", 0.25), ("b", 0.5)]
    (('b', 0.5), True)
    """

    def __init__(self, columns: Sequence[Column]) -> None:
        if len({len(column) for column in columns}) > 1:
            raise ValueError("columns of one table are equally long")
        self._columns = list(columns)

    def __len__(self) -> int:
        return len(self._columns[0]) if self._columns else 0

    def block(self, start: int, stop: int) -> Sequence[Column]:
        """The columns of some rows."""
        return [column[start:stop] for column in self._columns]

    def columns(self) -> list[Column]:
        """The columns of all rows."""
        return list(self._columns)


class Joined(Rows):
    """The rows of several, one after the other.

    >>> list(Joined([Columns([["a"], [1]]), Columns([["b", "c"], [2, 3]])]))
    [('a', 1), ('b', 2), ('c', 3)]
    """

    def __init__(self, parts: Sequence[Rows]) -> None:
        self.parts = [part for part in parts if len(part)] or list(parts[:1])

    def __len__(self) -> int:
        return sum(map(len, self.parts))

    def block(self, start: int, stop: int) -> Sequence[Column]:
        """The columns of some rows, of as many parts as have them."""
        found: list[Sequence[Column]] = []
        before = 0
        for part in self.parts:
            own = range(max(start - before, 0), min(stop - before, len(part)))
            if own or (part is self.parts[-1] and not found):
                found.append(part.block(own.start, max(own.start, own.stop)))
            before += len(part)
        return found[0] if len(found) == 1 else [_together(column) for column in zip(*found, strict=True)]

    def blocks(self) -> Iterator[Sequence[Column]]:
        """The blocks of every part."""
        for part in self.parts:
            yield from part.blocks()


class _Listed(Rows):
    """Rows that are rows already."""

    def __init__(self, rows: Sequence[Sequence[Cell]]) -> None:
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    def block(self, start: int, stop: int) -> Sequence[Column]:
        """The columns of some rows."""
        return list(zip(*self._rows[start:stop], strict=True))


def as_rows(rows: Sequence[Sequence[Cell]]) -> Rows:
    """Rows of any kind, in blocks of columns."""
    return rows if isinstance(rows, Rows) else _Listed(rows)


def blocks_of(rows: Sequence[Sequence[Cell]]) -> Iterator[Sequence[Column]]:
    """The columns of rows of any kind, some rows at a time."""
    return as_rows(rows).blocks()


def kind_of(column: Column) -> str:
    """``f`` for a column of floats, ``i`` and ``u`` for whole numbers, as numpy has it; nothing for any other.

    >>> import numpy as np
    >>> kind_of(np.array([0.5])), kind_of(["bm25"])
    ('f', '')
    """
    return column.dtype.kind if hasattr(column, "dtype") else ""


def plain(column: Column) -> Sequence[Cell]:
    """The values of a column as Python has them."""
    values: Sequence[Cell] = column.tolist() if hasattr(column, "tolist") else column
    return values


def _together(parts: Sequence[Column]) -> Column:
    """One column of several pieces."""
    if len(parts) == 1:
        return parts[0]
    first = parts[0]
    if hasattr(first, "dtype") and all(hasattr(part, "dtype") for part in parts):
        import numpy as np

        return np.concatenate(parts)  # type: ignore[arg-type]
    if isinstance(first, Coded) and all(isinstance(p, Coded) and p.values is first.values for p in parts):
        import numpy as np

        return Coded(first.values, np.concatenate([part.codes for part in parts]))  # type: ignore[union-attr]
    return [value for part in parts for value in plain(part)]
