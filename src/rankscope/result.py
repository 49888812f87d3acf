"""What every analysis returns: tables, the settings that repeat them, and the ways out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, dataclass_transform, get_args, get_type_hints

from rankscope.errors import SettingsError, nearest
from rankscope.once import Derived
from rankscope.tables import Table, render

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

    from rankscope.plots.figure import Figure

__all__ = ["Result", "TableResult", "TypedResult", "table"]


class Result(Derived):
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
            hint = nearest(name, self.tables) or f"there are {', '.join(self.tables)}"
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
    ) -> TableResult:
        """The result with these tables, each under its own name."""
        return cls({table.name: table for table in tables}, settings, main, display)

    def with_settings(self, **more: Any) -> TableResult:
        """The same result with further settings in front of its own."""
        return replace(self, settings={**more, **self.settings})


def table(meaning: str, *, main: bool = True, flag: str = "", default: Any = ...) -> Any:
    """Declare a table of a :class:`TypedResult`.

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
    said = {"meaning": meaning, "main": main and not flag, "flag": flag}
    return field(metadata=said) if default is ... else field(default=default, metadata=said)


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
    def declared(cls) -> dict[str, Mapping[str, Any]]:
        """What was declared of each table: meaning, main, flag."""
        return {one.name: one.metadata for one in fields(cls) if "flag" in one.metadata}

    @classmethod
    def row_types(cls) -> dict[str, Any]:
        """The class of the rows of each table."""
        hints = get_type_hints(cls)
        kinds = {
            name: get_args(hints[name])[0] for name in cls.declared()
        }  # Row, or RowTable[Row] of an optional one
        return {name: (get_args(kind) or (kind,))[0] for name, kind in kinds.items()}

    @property
    def tables(self) -> Mapping[str, Table]:
        """All tables that were computed, by name."""
        return {name: found for name in self.declared() if (found := getattr(self, name)) is not None}

    @property
    def main(self) -> Sequence[str]:
        """The names of the tables that are the answer."""
        declared = self.declared()
        return [name for name in self.tables if declared[name]["main"]]
