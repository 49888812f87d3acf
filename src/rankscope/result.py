"""What every analysis returns: tables and the settings that repeat them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rankscope.tables import Table, render

__all__ = ["Result"]


@dataclass(frozen=True, eq=False)
class Result:
    """The tables of an analysis by name, and the settings (seed included) with which it can be repeated.

    >>> result = Result({"pairs": Table("pairs", ("a", "p"), [("bm25", 0.25)])}, {"seed": 1})
    >>> result["pairs"].rows
    [('bm25', 0.25)]
    """

    tables: Mapping[str, Table]
    settings: Mapping[str, Any]

    def __getitem__(self, name: str) -> Table:
        return self.tables[name]

    def __str__(self) -> str:
        return render(self.tables.values(), "table")

    def plot(self, **options: Any) -> Any:
        """The figure of the result, if there is one: see :mod:`rankscope.plots`."""
        from rankscope.plots import plot

        return plot(self, **options)

    def _repr_html_(self) -> str:
        return "".join(f"<h4>{table.name}</h4>{table._repr_html_()}" for table in self.tables.values())
