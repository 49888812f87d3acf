"""How rows take numbers out of tables and write them down."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Rows = Sequence[Mapping[str, Any]]


def pick(rows: Rows, **wanted: Any) -> Mapping[str, Any]:
    """The one row with these values.

    >>> pick([{"a": 1, "b": 2}, {"a": 3, "b": 4}], a=3)["b"]
    4
    """
    [found] = [row for row in rows if all(row[key] == value for key, value in wanted.items())]
    return found


def column(rows: Rows, name: str) -> list[Any]:
    """The values of a column."""
    return [row[name] for row in rows]


def vector(values: Iterable[Any]) -> str:
    """Numbers between brackets.

    >>> vector([0, -6, 5])
    '(0, -6, 5)'
    """
    return "(" + ", ".join(f"{value:g}" for value in values) + ")"


def percent(share: float, digits: int = 1) -> str:
    """A share of one in percent.

    >>> percent(0.9086)
    '90.9 %'
    """
    return f"{100 * float(share):.{digits}f} %"


def lines(*parts: str) -> str:
    """Parts of a cell one below the other."""
    return "<br>".join(parts)


def values(tables: Mapping[str, Any]) -> dict[str, Any]:
    """The table of names and values that `curve` prints, as a mapping; names without their N."""
    return {re.sub(r"@\d+", "", row["name"]): row["value"] for row in tables["values"]}


def points(tables: Mapping[str, Any]) -> dict[str, Any]:
    """The marked ranks of a curve, by name."""
    return {row["point"]: row["rank"] for row in tables["points"]}


def means(tables: Mapping[str, Any]) -> dict[tuple[str, str], float]:
    """The table of means of `eval`, by run and measure."""
    return {(row["run"], row["measure"]): row["value"] for row in tables["means"]}
