"""Columns out of pandas, polars and Arrow tables, without importing what the user does not have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rankscope.errors import InputError, nearest

__all__ = ["columns_of"]

_ALIASES = {"iteration": ("iteration", "subtopic", "subtopic_id"), "name": ("name", "run")}


def columns_of(frame: Any, required: Sequence[str], optional: Sequence[str] = ()) -> Mapping[str, list[Any]]:
    """The named columns as lists, whatever kind of table it is (or a plain dict of columns).

    >>> columns_of({"query_id": ["q1"], "doc_id": ["d1"]}, required=["query_id", "doc_id"])
    {'query_id': ['q1'], 'doc_id': ['d1']}
    """
    listed = getattr(frame, "column_names", getattr(frame, "columns", frame))
    names = [str(name) for name in listed]
    columns = {}
    for wanted in (*required, *optional):
        found = next((alias for alias in _ALIASES.get(wanted, (wanted,)) if alias in names), None)
        if found is not None:
            columns[wanted] = _as_list(frame[found])
        elif wanted in required:
            raise InputError(
                f"the table has no column {wanted!r}",
                hint=nearest(wanted, names) or f"rename a column; it has {', '.join(names) or 'none'}",
            )
    return columns


def _as_list(column: Any) -> list[Any]:
    for method in ("to_list", "to_pylist", "tolist"):
        if hasattr(column, method):
            return list(getattr(column, method)())
    return list(column)
