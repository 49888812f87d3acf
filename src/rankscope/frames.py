"""Conversion of columns to pandas, polars and Arrow.

A column of a frame has one type. Integers mixed with floats, and integers beyond 64 bits, become floats; other mixtures
(a pool named 10 and one named "depth 10") become text. ``None`` is a missing value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from rankscope.errors import require_package

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

_KINDS = {bool: "truth", int: "whole", float: "number", str: "text"}
_NAMES = (*_KINDS.values(), "nothing")
_TYPES: dict[str, Callable[[Any], Any]] = {kind: plain for plain, kind in _KINDS.items()}


class Column(NamedTuple):
    """Values of one kind: ``truth``, ``whole``, ``number``, ``text``, or ``nothing`` where all are missing."""

    kind: str
    values: Any


class FrameMixin:
    """An object with columns that can be converted to data frames."""

    def frame_columns(self) -> Mapping[str, Sequence[Any]]:
        """Return the columns by name, all of equal length."""
        raise TypeError(f"{type(self).__name__} has no columns")

    def to_pandas(self) -> pandas.DataFrame:
        """Return a pandas data frame."""
        with require_package("pandas", "frames", "data frames"):
            import pandas
        columns = _typed(self.frame_columns())
        try:
            return pandas.DataFrame({name: column.values for name, column in columns.items()})
        except UnicodeEncodeError:  # pandas can store undecodable bytes only as objects.
            series = {
                name: pandas.Series(column.values, dtype=object if column.kind == "text" else None)
                for name, column in columns.items()
            }
            return pandas.DataFrame(series)

    def to_polars(self) -> polars.DataFrame:
        """Return a polars data frame."""
        with require_package("polars", "frames", "data frames"):
            import polars
        kinds = (polars.Boolean, polars.Int64, polars.Float64, polars.String, polars.Null)
        types: dict[str, Any] = dict(zip(_NAMES, kinds, strict=True))
        columns = _typed(self.frame_columns(), readable=True)
        return polars.DataFrame(
            [polars.Series(name, column.values, types[column.kind]) for name, column in columns.items()]
        )

    def to_arrow(self) -> pyarrow.Table:
        """Return an Arrow table."""
        with require_package("pyarrow", "frames", "data frames"):
            import pyarrow
        kinds = (pyarrow.bool_, pyarrow.int64, pyarrow.float64, pyarrow.string, pyarrow.null)
        types: dict[str, Callable[[], Any]] = dict(zip(_NAMES, kinds, strict=True))
        columns = _typed(self.frame_columns(), readable=True)
        arrays = (pyarrow.array(c.values, types[c.kind](), from_pandas=False) for c in columns.values())
        return pyarrow.table(dict(zip(columns, arrays, strict=True)))


def _typed(columns: Mapping[str, Sequence[Any]], *, readable: bool = False) -> dict[str, Column]:
    """Return the columns with their kinds; ``readable`` escapes bytes that are not valid UTF-8."""
    typed = {name: _column(values) for name, values in columns.items()}
    if not readable:
        return typed
    return {
        name: Column(column.kind, _readable(column.values)) if column.kind == "text" else column
        for name, column in typed.items()
    }


def _column(values: Any) -> Column:
    """Return the kind of a column, and its values converted to that kind.

    >>> _column([1, 2.5, None]), _column([10, "depth 10"]), _column([2**70])
    (Column(kind='number', values=[1.0, 2.5, None]), Column(kind='text', values=['10', 'depth 10']),
     Column(kind='number', values=[1.1805916207174113e+21]))
    """
    if hasattr(values, "dtype") and values.dtype.kind in "biuf":
        if values.dtype.kind == "i":  # Some counts are stored in fewer bytes.
            values = values.astype("int64", copy=False)
        return Column({"b": "truth", "f": "number"}.get(values.dtype.kind, "whole"), values)
    types = set(map(type, values))
    if not types <= {*_KINDS, type(None)}:  # For example numpy scalars.
        values = [value.item() if hasattr(value, "item") else value for value in values]
        types = set(map(type, values))
    kinds = {_KINDS.get(kind, "text") for kind in types - {type(None)}}
    if not kinds:
        return Column("nothing", list(values))
    if kinds == {"whole"} and not all(value is None or -(2**63) <= value < 2**63 for value in values):
        kinds = {"number"}
    if kinds == {"whole", "number"}:
        kinds = {"number"}
    if len(kinds) > 1:
        kinds = {"text"}
    [kind] = kinds
    if types <= {_TYPES[kind], type(None)}:
        return Column(kind, list(values))
    make = _TYPES[kind]
    return Column(kind, [None if value is None else make(value) for value in values])


def _readable(values: list[str | None]) -> list[str | None]:
    r"""Escape surrogates, which stand for undecodable bytes and cannot be encoded as UTF-8.

    >>> _readable([b"caf\xe9".decode("utf-8", "surrogateescape"), None])
    ['caf\\udce9', None]
    """
    try:
        "".join(value for value in values if value is not None).encode()
    except UnicodeEncodeError:
        return [
            None if text is None else text.encode("utf-8", "backslashreplace").decode() for text in values
        ]
    return values
