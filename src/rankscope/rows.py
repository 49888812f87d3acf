"""Typed rows: a table declares its columns, their types and their meanings once, as the fields of a class.

``Row`` subclasses are tuples, so a :class:`~rankscope.tables.Table` stores them without conversion. Large tables may
store columns instead.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from keyword import iskeyword
from operator import itemgetter
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar, cast, dataclass_transform, get_type_hints

from rankscope.columns import Cell
from rankscope.tables import Table
from rankscope.vocabulary import VOCABULARY

_REQUIRED = object()


class ColumnSpec(NamedTuple):
    """Meaning and format of a column; see :func:`column`."""

    meaning: str
    p_value: bool = False
    spare: bool = False
    digits: int | None = None
    default: Any = _REQUIRED


def column(
    meaning: str = "",
    *,
    p_value: bool = False,
    spare: bool = False,
    digits: int | None = None,
    default: Any = _REQUIRED,
) -> Any:
    """Declare a column of a :class:`Row`; the default meaning is in :data:`~rankscope.vocabulary.VOCABULARY`.

    Parameters
    ----------
    meaning
        Meaning of a cell, which the JSON schema and the documentation quote.
    p_value
        Whether the column contains p-values, which have their own format and order.
    spare
        Whether a narrow terminal may omit the column.
    digits
        Number of decimals displayed.
    default
        Default cell; a column with a default may be omitted from a table.
    """
    return ColumnSpec(meaning, p_value, spare, digits, default)


class _RowType(type):
    """Creates rows without ``__dict__``: smaller, and of one layout, so that a row can have several bases."""

    def __new__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> _RowType:
        return super().__new__(cls, name, bases, {"__slots__": (), **namespace})


@dataclass_transform(frozen_default=True, field_specifiers=(column,))
class Row(tuple[Cell, ...], metaclass=_RowType):
    """A row of a table, whose cells are also attributes; ``from_`` is the attribute of the column ``from``.

    A subclass has the columns of its bases, the last base first, and then its own.

    >>> class Mean(Row):
    ...     run: str = column()
    ...     value: float = column("Mean over topics.")
    >>> Mean("bm25", value=0.25), Mean("bm25", 0.25).value, Mean.specs["run"].meaning
    (Mean(run='bm25', value=0.25), 0.25, 'name of the run')
    >>> Mean.table("means", [Mean("bm25", 0.25), Mean("dense", 0.5)])[1].run
    'dense'
    >>> class Named(Row):
    ...     topic: str = column()
    >>> class TopicMean(Mean, Named):
    ...     pass
    >>> list(TopicMean.specs)
    ['topic', 'run', 'value']
    """

    specs: ClassVar[dict[str, ColumnSpec]] = {}

    def __init_subclass__(cls) -> None:
        declared = {_column_name(name): vars(cls).get(name) for name in cls.__annotations__}
        own = {name: spec for name, spec in declared.items() if isinstance(spec, ColumnSpec)}
        # The order of the data class: the columns of the last base come first.
        inherited = [base.specs for base in reversed(cls.__bases__) if issubclass(base, Row)]
        own = {name: _with_meaning(cls, name, spec) for name, spec in own.items()}
        cls.specs = {name: spec for specs in (*inherited, own) for name, spec in specs.items()}
        for index, name in enumerate(cls.specs):
            attribute = f"{name}_" if iskeyword(name) else name
            setattr(cls, attribute, property(itemgetter(index), doc=cls.specs[name].meaning))

    def __new__(cls, *cells: Any, **named: Any) -> Row:
        if named or len(cells) != len(cls.specs):
            cells = cls._complete(cells, named)
        return tuple.__new__(cls, cells)

    @classmethod
    def _complete(cls, cells: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, ...]:
        named = {_column_name(name): cell for name, cell in named.items()}
        values = {**dict(zip(cls.specs, cells, strict=False)), **named}
        row = tuple(values.get(name, spec.default) for name, spec in cls.specs.items())
        if len(values) != len(cells) + len(named) or values.keys() - cls.specs.keys() or _REQUIRED in row:
            raise TypeError(f"{cls.__name__} has the columns {', '.join(cls.specs)}, not {', '.join(values)}")
        return row

    def __getnewargs__(self) -> tuple[Cell, ...]:
        return tuple(self)

    def __repr__(self) -> str:
        cells = ", ".join(f"{name}={cell!r}" for name, cell in zip(self.specs, self, strict=True))
        return f"{type(self).__name__}({cells})"

    @classmethod
    def types(cls) -> dict[str, Any]:
        """Return the declared type of each column."""
        hints = {_column_name(name): hint for name, hint in get_type_hints(cls).items()}
        return {name: hints[name] for name in cls.specs}

    @classmethod
    def table(
        cls: type[R], name: str, rows: Sequence[Sequence[Cell]], *, without: Collection[str] = (), **more: Any
    ) -> RowTable[R]:
        """Return a table of rows, or of columns (:mod:`rankscope.columns`), ``without`` some of its columns.

        ``more`` are fields of :class:`~rankscope.tables.Table`: caption, legend, ranked_by, best, marks.
        """
        digits = {name: spec.digits for name, spec in cls.specs.items() if spec.digits is not None}
        more["p_values"] = tuple(name for name, spec in cls.specs.items() if spec.p_value)
        more["spare"] = tuple(name for name, spec in cls.specs.items() if spec.spare)
        table = RowTable(name, tuple(cls.specs), rows, digits or 4, row_type=cls, **more)
        return cast("RowTable[R]", table.without(without)) if without else table


R = TypeVar("R", bound=Row)


@dataclass(frozen=True, repr=False)
class RowTable(Table, Generic[R]):
    """A table of typed rows; iteration and indexing return :class:`Row` objects."""

    row_type: type[R] = Row  # type: ignore[assignment]

    @cached_property
    def _whole(self) -> bool:
        return self.columns == tuple(self.row_type.specs)

    def __getitem__(self, index: int) -> R:
        return self._typed(self.rows[index])

    def __iter__(self) -> Iterator[R]:
        return map(self._typed, self.rows)

    def _typed(self, row: Sequence[Cell]) -> R:
        if isinstance(row, self.row_type):
            return row
        return (
            self.row_type(*row) if self._whole else self.row_type(**dict(zip(self.columns, row, strict=True)))
        )

    def subset(self, name: str, rows: Iterable[R], caption: str = "") -> Table:
        """Return a plain table of some of the rows, with the columns of this one."""
        positions = [list(self.row_type.specs).index(column) for column in self.columns]
        return Table(name, self.columns, [tuple(row[i] for i in positions) for row in rows], caption=caption)


def _column_name(attribute: str) -> str:
    """Return the column of an attribute, which has an underscore behind it if the column is a Python keyword."""
    return attribute[:-1] if attribute.endswith("_") and iskeyword(attribute[:-1]) else attribute


def _with_meaning(cls: type[Row], name: str, spec: ColumnSpec) -> ColumnSpec:
    meaning = spec.meaning or VOCABULARY.get(name)
    if meaning is None:
        problem = f"column {name} of {cls.__name__} has no meaning: give it one, or add it to the vocabulary"
        raise TypeError(problem)
    return spec._replace(meaning=meaning)


class PairRow(Row):
    """Base of rows about two runs, measures or judges."""

    a: str = column()
    b: str = column()


class MeasuredPairRow(PairRow):
    """Base of rows about two runs or judges by a measure."""

    measure: str = column()


class MeasuredRunRow(Row):
    """Base of rows about a run by a measure."""

    run: str = column()
    measure: str = column()


class RankingRow(Row):
    """Base of rows about the ranking of a run for a topic."""

    run: str = column()
    topic: str = column()
