"""Helpers that read numbers from tables and format them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Rows = Sequence[Mapping[str, Any]]


def pick(rows: Rows, **wanted: Any) -> Mapping[str, Any]:
    """Return the only row with these values.

    >>> pick([{"a": 1, "b": 2}, {"a": 3, "b": 4}], a=3)["b"]
    4
    """
    [match] = [row for row in rows if all(row[key] == value for key, value in wanted.items())]
    return match


def column(rows: Rows, name: str) -> list[Any]:
    """Return the values of a column."""
    return [row[name] for row in rows]


def vector(values: Iterable[Any]) -> str:
    """Format numbers as a vector.

    >>> vector([0, -6, 5])
    '(0, -6, 5)'
    """
    return "(" + ", ".join(f"{value:g}" for value in values) + ")"


def percent(share: float, digits: int = 1) -> str:
    """Format a share in percent.

    >>> percent(0.9086)
    '90.9 %'
    """
    return f"{100 * float(share):.{digits}f} %"


def lines(*parts: str) -> str:
    """Join parts of a cell by line breaks."""
    return "<br>".join(parts)


def values(tables: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values that `curve` prints, by name without N."""
    return {re.sub(r"@\d+", "", row["name"]): row["value"] for row in tables["values"]}


def points(tables: Mapping[str, Any]) -> dict[str, Any]:
    """Return the marked ranks of a curve by name."""
    return {row["point"]: row["rank"] for row in tables["points"]}


def means(tables: Mapping[str, Any]) -> dict[tuple[str, str], float]:
    """Return the means of `eval` by run and measure."""
    return {(row["run"], row["measure"]): row["value"] for row in tables["means"]}
