"""Columns out of what holds tables: pandas, polars, Arrow, numpy records, named tuples, dicts of columns.

Nothing is imported that the user does not have, and columns go by the names that people use: those of ir_measures,
PyTerrier, trec_eval's formats, MTEB and BEIR.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rankscope.errors import InputError

__all__ = ["COLUMNS", "columns_of", "is_table", "text_of"]

COLUMNS = {
    "query_id": ("query_id", "qid", "q_id", "topic", "topic_id", "query-id"),
    "doc_id": ("doc_id", "docno", "docid", "doc", "document", "pid", "corpus-id"),
    "score": ("score",),
    "rank": ("rank",),
    "relevance": ("relevance", "label", "rel", "grade"),
    "iteration": ("iteration", "subtopic", "subtopic_id", "iter"),
    "run": ("run", "system", "run_id", "name"),
}
"""What a column means, and what it may be called, in any case; the first that is there counts."""


def columns_of(table: Any, required: Sequence[str], optional: Sequence[str] = ()) -> Mapping[str, list[Any]]:
    """The columns with these meanings as lists, whatever kind of table it is.

    >>> columns_of({"qid": ["q1"], "docno": ["d1"]}, required=["query_id", "doc_id"])
    {'query_id': ['q1'], 'doc_id': ['d1']}
    """
    table = _by_columns(table)
    names = _names(table)
    columns = {}
    for wanted in (*required, *optional):
        found = _found(wanted, names)
        if found is not None:
            columns[wanted] = _as_list(table[found])
        elif wanted in required:
            called = ", ".join(COLUMNS[wanted])
            shown = ", ".join(map(str, names)) or "none"
            raise InputError(
                f"the table has no column for {wanted} ({called})", hint=f"rename one of: {shown}"
            )
    return columns


def is_table(thing: Any) -> bool:
    """Whether this is a table with a column of topics and one of documents.

    >>> is_table({"q1": {"d1": 1}}), is_table({"qid": ["q1"], "docno": ["d1"]})
    (False, True)
    """
    if isinstance(thing, str):
        return False
    if isinstance(thing, Mapping) and any(isinstance(value, Mapping) for value in thing.values()):
        return False
    names = _names(_by_columns(thing))
    return _found("query_id", names) is not None and _found("doc_id", names) is not None


def text_of(identifier: Any, what: str) -> str:
    """An id as text: numbers are ids too, and what is missing is not.

    >>> text_of(301, "topic"), text_of(301.0, "topic"), text_of("q1", "topic")
    ('301', '301', 'q1')
    """
    if isinstance(identifier, str):
        return identifier
    if identifier is None or identifier != identifier:
        raise InputError(f"the table has a {what} without an id", hint="fill the gap or remove the row")
    if isinstance(identifier, float) and identifier.is_integer():
        return str(int(identifier))
    if isinstance(identifier, bytes):
        return identifier.decode("utf-8", "surrogateescape")
    return str(identifier)


def _by_columns(table: Any) -> Any:
    """Rows that know their fields (named tuples, dataclasses do not) as columns; anything else as it is."""
    if isinstance(table, list | tuple) and table and all(hasattr(row, "_fields") for row in table):
        return {name: [getattr(row, name, None) for row in table] for name in table[0]._fields}
    if isinstance(table, list | tuple) and table and all(isinstance(row, Mapping) for row in table):
        return {name: [row.get(name) for row in table] for name in table[0]}
    return table


def _names(table: Any) -> list[Any]:
    listed = getattr(getattr(table, "dtype", None), "names", None)  # numpy records
    if listed is None:
        listed = getattr(table, "column_names", getattr(table, "columns", table))
    return list(listed) if isinstance(table, Mapping) or listed is not table else []


def _found(wanted: str, names: Sequence[Any]) -> Any:
    lower = {str(name).strip().lower(): name for name in reversed(names)}
    return next((lower[alias] for alias in COLUMNS[wanted] if alias in lower), None)


def _as_list(column: Any) -> list[Any]:
    for method in ("to_list", "to_pylist", "tolist"):
        if hasattr(column, method):
            return list(getattr(column, method)())
    return list(column)
