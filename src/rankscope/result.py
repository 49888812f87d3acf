"""Results of analyses: tables, settings that reproduce them, and exports."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self, TypeVar, dataclass_transform, get_args

from rankscope.caching import TransientCacheMixin
from rankscope.errors import check_name
from rankscope.tables import Table, Tables, render

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

    from rankscope.plots.figure import Figure

T = TypeVar("T")


class Result(TransientCacheMixin):
    """Base class of all results.

    ``tables`` has all tables by name; ``settings`` (seed included) reproduce the result. ``main`` names the most
    important tables. ``display`` has tables for reading, often with a row per run and a column per measure.
    ``result["pairs"]`` is one table; exports without a name take the first main table (frames and CSV) or the first
    displayed one (LaTeX and Markdown).
    """

    figures: ClassVar[Mapping[str, str]] = {}
    """Figures of the result, as ``{name: "module.function"}`` below :mod:`rankscope.plots`; set by the declaration."""

    if TYPE_CHECKING:  # Data classes would take properties for defaults of fields.

        @property
        def tables(self) -> Mapping[str, Table]: ...

        @property
        def settings(self) -> Mapping[str, Any]: ...

    @property
    def main(self) -> Sequence[str]:
        """Names of the main tables."""
        return tuple(self.tables)[:1]

    @property
    def display(self) -> Sequence[Table]:
        """Tables for reading."""
        return [self[name] for name in self.main]

    def __getitem__(self, name: str) -> Table:
        check_name(name, self.tables, f"there is no table {name!r}", listed="there are")
        return self.tables[name]

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the names of the tables."""
        return iter(self.tables)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self._about()}>"

    def _about(self) -> str:
        """Return a short description for ``repr``."""
        sizes = [f"{name} ({len(table):,})" for name, table in self.tables.items()]
        return ", ".join([*sizes[:4], *(["..."] if len(sizes) > 4 else [])]) or "no tables"

    def __str__(self) -> str:
        return render(self.display, "table", rest="its tables and exports have all of them").rstrip("\n")

    def _repr_html_(self) -> str:
        """Return HTML for a notebook: first rows of the displayed tables, and the names of the others."""
        from html import escape

        shown = list(self.display)
        parts = [f"<h4>{escape(table.caption or table.name)}</h4>{table._repr_html_()}" for table in shown]
        others = [name for name in self.tables if name not in {table.name for table in shown}]
        more = f"<p>more tables: {escape(', '.join(others))}</p>" if others else ""
        return "".join(parts) + more

    def plot(self, figure: str | None = None, **options: Any) -> Figure:
        """Draw one of ``figures`` of the result (default: the first). See :mod:`rankscope.plots`."""
        from rankscope.plots import plot

        return plot(self, figure, **options)

    def to_pandas(self, name: str | None = None) -> pandas.DataFrame:
        """Return a table as a pandas frame."""
        return self._for_programs(name).to_pandas()

    def to_polars(self, name: str | None = None) -> polars.DataFrame:
        """Return a table as a polars frame."""
        return self._for_programs(name).to_polars()

    def to_arrow(self, name: str | None = None) -> pyarrow.Table:
        """Return a table as an Arrow table."""
        return self._for_programs(name).to_arrow()

    def to_csv(self, name: str | None = None) -> str:
        """Return a table as CSV, with all digits."""
        return self._for_programs(name).csv()

    def to_latex(self, name: str | None = None, *, digits: int | None = None) -> str:
        """Return a table as a booktabs tabular, rounded, with bold best values and escaped names."""
        return self._for_people(name, digits).latex()

    def to_markdown(self, name: str | None = None, *, digits: int | None = None) -> str:
        """Return a table in Markdown, rounded, with bold best values."""
        return self._for_people(name, digits).markdown()

    def _for_programs(self, name: str | None) -> Table:
        return self[next(iter(self.main)) if name is None else name]

    def _for_people(self, name: str | None, digits: int | None) -> Table:
        shown = {table.name: table for table in reversed(self.display)}
        selected = self.display[0] if name is None else shown[name] if name in shown else self[name]
        return selected if digits is None else replace(selected, digits=digits)


@dataclass(frozen=True, eq=False, repr=False)
class TableResult(Result):
    """A result without typed tables.

    >>> pairs = Table("pairs", ("a", "p"), [("bm25", 0.25), ("dense", 0.5)])
    >>> result = TableResult({"pairs": pairs}, {"seed": 1})
    >>> result, result["pairs"].rows
    (<TableResult: pairs (2)>, [('bm25', 0.25), ('dense', 0.5)])
    >>> print(result.to_csv(), end="")
    a,p
    bm25,0.25
    dense,0.5
    """

    tables: Mapping[str, Table]
    settings: Mapping[str, Any]
    main: Sequence[str] = ()
    display: Sequence[Table] = ()

    def __post_init__(self) -> None:
        main = tuple(self.main) or tuple(self.tables)[:1]
        object.__setattr__(self, "main", main)
        object.__setattr__(self, "display", tuple(self.display) or tuple(self[name] for name in main))

    @classmethod
    def from_tables(
        cls,
        *tables: Table,
        settings: Mapping[str, Any],
        main: Sequence[str] = (),
        display: Sequence[Table] = (),
    ) -> Self:
        """Return the result with these tables, each under its own name."""
        return cls({table.name: table for table in tables}, settings, main, display)

    def with_settings(self, **more: Any) -> Self:
        """Return the result with further settings in front of its own."""
        return replace(self, settings={**more, **self.settings})


class TableSpec(NamedTuple):
    """Declaration of a table: see :func:`table`."""

    meaning: str
    main: bool
    flag: str


def table(meaning: str, *, main: bool = True, flag: str = "", default: Any = ...) -> Any:
    """Declare a table of a :class:`TypedResult` as a field.

    Parameters
    ----------
    meaning
        Content of the table.
    main
        Whether it is a main table; TSV and CSV have the main tables.
    flag
        Option of the command that makes it a main table, such as ``-q --per-topic``.
    default
        None for a table that is computed on demand only.
    """
    metadata = {"table": TableSpec(meaning, main and not flag, flag)}
    return field(metadata=metadata) if default is ... else field(default=default, metadata=metadata)


def lazy_table(
    meaning: str, *, main: bool = True, flag: str = ""
) -> Callable[[Callable[[Any], T]], cached_property[T]]:
    """Declare a table that a method computes when it is first used; parameters as for :func:`table`."""

    def declare(method: Callable[[Any], T]) -> cached_property[T]:
        lazy = _LazyTable(method)
        lazy.spec = TableSpec(meaning, main and not flag, flag)
        return lazy

    return declare


class _LazyTable(cached_property[Any]):
    spec: TableSpec


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(table, field))
@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class TypedResult(Result):
    """A result with its tables as fields.

    >>> from rankscope.rows import Row, RowTable, column
    >>> class Mean(Row):
    ...     run: str = column()
    ...     value: float = column("Mean over topics.")
    >>> class Means(TypedResult):
    ...     means: RowTable[Mean] = table("Means of the runs.")
    >>> result = Means(means=Mean.table("means", [Mean("bm25", 0.25)]), settings={"seed": 1})
    >>> result.means[0].value, result.tables["means"].records(), list(result.main)
    (0.25, [{'run': 'bm25', 'value': 0.25}], ['means'])
    """

    shown: ClassVar[Sequence[str]] = ()
    """Names of the displayed tables, if they are not the main ones; those without rows are not displayed."""
    settings: Mapping[str, Any]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        dataclass(frozen=True, eq=False, repr=False, kw_only=True)(cls)

    @classmethod
    def specs(cls) -> dict[str, TableSpec]:
        """Return the declaration of each table."""
        eager = {item.name: item.metadata["table"] for item in fields(cls) if "table" in item.metadata}
        return eager | {name: item.spec for name, item in vars(cls).items() if isinstance(item, _LazyTable)}

    @classmethod
    def row_types(cls) -> dict[str, Any]:
        """Return the class of the rows of each table."""
        types = {}
        for name in cls.specs():
            item = vars(cls).get(name)
            annotation: Any = cls.__annotations__.get(name)
            if isinstance(item, _LazyTable):
                annotation = item.func.__annotations__["return"]
            kind = get_args(eval(annotation, vars(sys.modules[cls.__module__])))[0]
            types[name] = (get_args(kind) or (kind,))[0]  # Row, or RowTable[Row] of an optional table
        return types

    @property
    def tables(self) -> Mapping[str, Table]:
        """Computed tables by name."""
        available = filter(self._is_available, self.specs())
        return Tables({name: partial(getattr, self, name) for name in available})

    def _is_available(self, name: str) -> bool:
        return name not in vars(self) or vars(self)[name] is not None

    @property
    def main(self) -> Sequence[str]:
        """Names of the main tables."""
        specs = self.specs()
        return [name for name in self.tables if specs[name].main]

    @property
    def display(self) -> Sequence[Table]:
        """Tables for reading."""
        listed = [self[name] for name in self.shown if name in self.tables]
        return [table for table in listed if len(table)] or listed or super().display
