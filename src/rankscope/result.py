"""What every analysis returns: tables, the settings that repeat them, and the ways out."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self, TypeVar, dataclass_transform, get_args

from rankscope.caching import TransientCacheMixin
from rankscope.errors import SettingsError, suggest_names
from rankscope.tables import Table, Tables, render

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

    from rankscope.plots.figure import Figure

__all__ = ["Result", "TableResult", "TypedResult", "lazy_table", "table"]

T = TypeVar("T")


class Result(TransientCacheMixin):
    """The one kind of result: whoever knows one knows them all.

    ``tables`` are all its tables by name, as programs read them; ``settings`` (seed included) are what repeats it.
    ``main`` names the tables that are the answer, the others say more. ``display`` has the tables that people read
    first: fewer numbers, runs down and measures across. ``result["pairs"]`` is one table; exports without a name take
    the first of the main ones (frames and CSV) or of the displayed ones (LaTeX and Markdown).
    """

    figures: ClassVar[Mapping[str, str]] = {}
    """Figures that show it, as ``{name: "module.function"}`` below :mod:`rankscope.plots`; set by the declaration."""

    if TYPE_CHECKING:  # dataclasses would take properties for defaults of their fields

        @property
        def tables(self) -> Mapping[str, Table]: ...

        @property
        def settings(self) -> Mapping[str, Any]: ...

    @property
    def main(self) -> Sequence[str]:
        """The names of the tables that are the answer."""
        return tuple(self.tables)[:1]

    @property
    def display(self) -> Sequence[Table]:
        """The tables that people read first."""
        return [self[name] for name in self.main]

    def __getitem__(self, name: str) -> Table:
        if name not in self.tables:
            hint = suggest_names(name, self.tables) or f"there are {', '.join(self.tables)}"
            raise SettingsError(f"there is no table {name!r}", hint=hint)
        return self.tables[name]

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self._about()}>"

    def _about(self) -> str:
        """What it is about, in a few words."""
        sizes = [f"{name} ({len(table):,})" for name, table in self.tables.items()]
        return ", ".join([*sizes[:4], *(["..."] if len(sizes) > 4 else [])]) or "no tables"

    def __str__(self) -> str:
        return render(self.display, "table", rest="its tables and exports have all of them").rstrip("\n")

    def _repr_html_(self) -> str:
        """How a notebook shows it: the displayed tables, each with its first rows, and the names of the others."""
        from html import escape

        shown = list(self.display)
        parts = [f"<h4>{escape(table.caption or table.name)}</h4>{table._repr_html_()}" for table in shown]
        others = [name for name in self.tables if name not in {table.name for table in shown}]
        more = f"<p>more tables: {escape(', '.join(others))}</p>" if others else ""
        return "".join(parts) + more

    def plot(self, figure: str | None = None, **options: Any) -> Figure:
        """The figure of the result, where there is one; ``figure`` names one of several. See :mod:`rankscope.plots`."""
        from rankscope.plots import plot

        return plot(self, figure, **options)

    def to_pandas(self, name: str | None = None) -> pandas.DataFrame:
        """A table as a pandas frame."""
        return self._for_programs(name).to_pandas()

    def to_polars(self, name: str | None = None) -> polars.DataFrame:
        """A table as a polars frame."""
        return self._for_programs(name).to_polars()

    def to_arrow(self, name: str | None = None) -> pyarrow.Table:
        """A table as an Arrow table."""
        return self._for_programs(name).to_arrow()

    def to_csv(self, name: str | None = None) -> str:
        """A table as CSV, with all digits."""
        return self._for_programs(name).csv()

    def to_latex(self, name: str | None = None, *, digits: int | None = None) -> str:
        """A table as a booktabs tabular, rounded, best values bold, names escaped."""
        return self._for_people(name, digits).latex()

    def to_markdown(self, name: str | None = None, *, digits: int | None = None) -> str:
        """A table in Markdown, rounded, best values bold."""
        return self._for_people(name, digits).markdown()

    def _for_programs(self, name: str | None) -> Table:
        return self[next(iter(self.main)) if name is None else name]

    def _for_people(self, name: str | None, digits: int | None) -> Table:
        shown = {table.name: table for table in reversed(self.display)}
        found = self.display[0] if name is None else shown[name] if name in shown else self[name]
        return found if digits is None else replace(found, digits=digits)


@dataclass(frozen=True, eq=False, repr=False)
class TableResult(Result):
    """A result that is nothing but its tables.

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
    def of(
        cls,
        *tables: Table,
        settings: Mapping[str, Any],
        main: Sequence[str] = (),
        display: Sequence[Table] = (),
    ) -> Self:
        """Return the result with these tables, each under its own name."""
        return cls({table.name: table for table in tables}, settings, main, display)

    def with_settings(self, **more: Any) -> Self:
        """The same result with further settings in front of its own."""
        return replace(self, settings={**more, **self.settings})


class TableSpec(NamedTuple):
    """What was declared of a table: see :func:`table`."""

    meaning: str
    main: bool
    flag: str


def table(meaning: str, *, main: bool = True, flag: str = "", default: Any = ...) -> Any:
    """Declare a table of a :class:`TypedResult` as a field.

    Parameters
    ----------
    meaning
        What the table shows.
    main
        Whether it is part of the answer: TSV and CSV have the main tables, and people read them first.
    flag
        Option of the command that adds the table to the answer, such as ``-q --per-topic``; it is not ``main`` then.
    default
        None for a table that is computed on demand only.
    """
    said = {"table": TableSpec(meaning, main and not flag, flag)}
    return field(metadata=said) if default is ... else field(default=default, metadata=said)


def lazy_table(
    meaning: str, *, main: bool = True, flag: str = ""
) -> Callable[[Callable[[Any], T]], cached_property[T]]:
    """Declare a table that a method computes when it is first used; parameters as for :func:`table`."""

    def declare(method: Callable[[Any], T]) -> cached_property[T]:
        found = _LazyTable(method)
        found.spec = TableSpec(meaning, main and not flag, flag)
        return found

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

    settings: Mapping[str, Any]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        dataclass(frozen=True, eq=False, repr=False, kw_only=True)(cls)

    @classmethod
    def specs(cls) -> dict[str, TableSpec]:
        """What was declared of each table."""
        given = {one.name: one.metadata["table"] for one in fields(cls) if "table" in one.metadata}
        return given | {name: one.spec for name, one in vars(cls).items() if isinstance(one, _LazyTable)}

    @classmethod
    def row_types(cls) -> dict[str, Any]:
        """The class of the rows of each table."""
        found = {}
        for name in cls.specs():
            one = vars(cls).get(name)
            written = (
                one.func.__annotations__["return"]
                if isinstance(one, _LazyTable)
                else cls.__annotations__[name]
            )
            kind = get_args(eval(written, vars(sys.modules[cls.__module__])))[0]
            found[name] = (get_args(kind) or (kind,))[0]  # Row, or RowTable[Row] of an optional table
        return found

    @property
    def tables(self) -> Mapping[str, Table]:
        """All tables that were computed, by name."""
        return Tables({name: partial(getattr, self, name) for name in self.specs() if self._is_there(name)})

    def _is_there(self, name: str) -> bool:
        return name not in vars(self) or vars(self)[name] is not None

    @property
    def main(self) -> Sequence[str]:
        """The names of the tables that are the answer."""
        specs = self.specs()
        return [name for name in self.tables if specs[name].main]
