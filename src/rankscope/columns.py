"""Rows of a table that are stored as columns or computed in blocks.

A million tuples take half a gigabyte; the same numbers as columns take eight bytes each. Iteration yields tuples of
plain values; writers of tables use the columns of a block of rows at a time.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, overload

from rankscope.lazy import numpy as np

if TYPE_CHECKING:
    from rankscope.arrays import AnyArray, NDArray

Cell: TypeAlias = str | int | float | bool | None
Column: TypeAlias = "Sequence[Cell] | AnyArray"
T = TypeVar("T")
Mapped: TypeAlias = "dict[int, tuple[Sequence[Cell], list[T]]]"
"""Results of a function for the distinct values of columns, by the identity of these values, which it keeps alive."""

ROWS_AT_ONCE = 16_384


class CategoricalColumn(Sequence[Cell]):
    """A column with few distinct values: the values, and for each row the index of its value.

    >>> import numpy as np
    >>> list(CategoricalColumn(("bm25", "dense"), np.array([1, 0, 1])))
    ['dense', 'bm25', 'dense']
    """

    def __init__(self, values: Sequence[Cell], codes: NDArray[np.integer[Any]]) -> None:
        self.values, self.codes = values, codes

    def __len__(self) -> int:
        return len(self.codes)

    @overload
    def __getitem__(self, index: int) -> Cell: ...
    @overload
    def __getitem__(self, index: slice) -> CategoricalColumn: ...
    def __getitem__(self, index: int | slice) -> Cell | CategoricalColumn:
        if isinstance(index, slice):
            return CategoricalColumn(self.values, self.codes[index])
        return self.values[int(self.codes[index])]

    def map_values(self, function: Callable[[Cell], T], cache: Mapped[T] | None = None) -> list[T]:
        """Return the result of a function for each row; calls it once per distinct value.

        With ``cache``, the results are kept for other parts of the column.
        """
        cache = {} if cache is None else cache
        if id(self.values) not in cache:
            cache[id(self.values)] = self.values, [function(value) for value in self.values]
        results = np.empty(len(self.values), object)
        results[:] = cache[id(self.values)][1]
        mapped: list[T] = results[self.codes].tolist()  # faster than a loop
        return mapped

    def tolist(self) -> list[Cell]:
        """Return the values of all rows."""
        return list(map(self.values.__getitem__, self.codes.tolist()))


def constant_column(value: Cell, length: int) -> CategoricalColumn:
    """Return a column of one value, which needs no memory.

    >>> list(constant_column("AP", 2))
    ['AP', 'AP']
    """
    import numpy as np

    return CategoricalColumn((value,), np.broadcast_to(np.int8(0), length))


class Rows(Sequence[Sequence[Cell]], ABC):
    """Rows that are stored or computed as blocks of columns.

    Subclasses implement ``__len__`` and ``block``. An instance is equal to a list of the same rows.
    """

    @abstractmethod
    def block(self, start: int, stop: int) -> Sequence[Column]:
        """Return the columns of the rows from ``start`` to ``stop - 1``, which must exist."""

    def columns(self) -> list[Column]:
        """Return the columns of all rows."""
        blocks = list(self.blocks()) or [self.block(0, 0)]
        return [_concatenate(column) for column in zip(*blocks, strict=True)]

    def blocks(self) -> Iterator[Sequence[Column]]:
        """Yield the columns of blocks of rows."""
        for start in range(0, len(self), ROWS_AT_ONCE):
            yield self.block(start, min(len(self), start + ROWS_AT_ONCE))

    def __iter__(self) -> Iterator[tuple[Cell, ...]]:
        for columns in self.blocks():
            yield from zip(*map(to_values, columns), strict=True)

    @overload
    def __getitem__(self, index: int) -> tuple[Cell, ...]: ...
    @overload
    def __getitem__(self, index: slice) -> list[tuple[Cell, ...]]: ...
    def __getitem__(self, index: int | slice) -> tuple[Cell, ...] | list[tuple[Cell, ...]]:
        rows = range(len(self))[index]
        if isinstance(rows, int):
            return next(zip(*map(to_values, self.block(rows, rows + 1)), strict=True))
        if rows.step != 1 or not rows:
            return [self[row] for row in rows]
        return list(zip(*map(to_values, self.block(rows.start, rows.stop)), strict=True))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(a == tuple(b) for a, b in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {len(self):,} rows>"


class Columns(Rows):
    """Rows stored as columns: lists, numpy arrays or :class:`CategoricalColumn`.

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
        """Return the columns of some rows."""
        return [column[start:stop] for column in self._columns]

    def columns(self) -> list[Column]:
        """Return the columns of all rows."""
        return list(self._columns)


class SelectedColumns(Rows):
    """Rows with some of the columns of other rows.

    >>> SelectedColumns(Columns([[1, 2], ["a", "b"]]), [1])[0]
    ('a',)
    """

    def __init__(self, rows: Rows, indices: Sequence[int]) -> None:
        self._rows, self._indices = rows, tuple(indices)

    def __len__(self) -> int:
        return len(self._rows)

    def block(self, start: int, stop: int) -> Sequence[Column]:
        """Return the columns of some rows."""
        columns = self._rows.block(start, stop)
        return [columns[index] for index in self._indices]


class ConcatenatedRows(Rows):
    """Several :class:`Rows`, concatenated.

    >>> list(ConcatenatedRows([Columns([["a"], [1]]), Columns([["b", "c"], [2, 3]])]))
    [('a', 1), ('b', 2), ('c', 3)]
    """

    def __init__(self, parts: Sequence[Rows]) -> None:
        self.parts = [part for part in parts if len(part)] or list(parts[:1])

    def __len__(self) -> int:
        return sum(map(len, self.parts))

    def block(self, start: int, stop: int) -> Sequence[Column]:
        """Return the columns of rows, which may span several parts."""
        blocks: list[Sequence[Column]] = []
        start_of_part = 0
        for part in self.parts:
            rows = range(max(start - start_of_part, 0), min(stop - start_of_part, len(part)))
            if rows or (part is self.parts[-1] and not blocks):
                blocks.append(part.block(rows.start, max(rows.start, rows.stop)))
            start_of_part += len(part)
        return blocks[0] if len(blocks) == 1 else [*map(_concatenate, zip(*blocks, strict=True))]

    def blocks(self) -> Iterator[Sequence[Column]]:
        """Yield the blocks of all parts."""
        for part in self.parts:
            yield from part.blocks()


class _RowList(Rows):
    """Rows stored as a sequence of rows."""

    def __init__(self, rows: Sequence[Sequence[Cell]]) -> None:
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    def block(self, start: int, stop: int) -> Sequence[Column]:
        """Return the columns of some rows."""
        return list(zip(*self._rows[start:stop], strict=True))


def as_rows(rows: Sequence[Sequence[Cell]]) -> Rows:
    """Return rows of any kind as :class:`Rows`."""
    return rows if isinstance(rows, Rows) else _RowList(rows)


def iter_blocks(rows: Sequence[Sequence[Cell]]) -> Iterator[Sequence[Column]]:
    """Yield the columns of blocks of rows of any kind."""
    return as_rows(rows).blocks()


def dtype_kind(column: Column) -> str:
    """Return the numpy kind of an array (``f`` for floats, ``i`` and ``u`` for integers), or an empty string.

    >>> import numpy as np
    >>> dtype_kind(np.array([0.5])), dtype_kind(["bm25"])
    ('f', '')
    """
    return column.dtype.kind if hasattr(column, "dtype") else ""


def to_values(column: Column) -> Sequence[Cell]:
    """Return the values of a column as Python objects."""
    values: Sequence[Cell] = column.tolist() if hasattr(column, "tolist") else column
    return values


def _concatenate(parts: Sequence[Column]) -> Column:
    """Return the concatenation of columns, as an array or categorical column if all parts are."""
    if len(parts) == 1:
        return parts[0]
    first = parts[0]
    if hasattr(first, "dtype") and all(hasattr(part, "dtype") for part in parts):
        return np.concatenate(parts)  # type: ignore[arg-type]
    if isinstance(first, CategoricalColumn) and all(
        isinstance(p, CategoricalColumn) and p.values is first.values for p in parts
    ):
        return CategoricalColumn(first.values, np.concatenate([part.codes for part in parts]))  # type: ignore[union-attr]
    return [value for part in parts for value in to_values(part)]
