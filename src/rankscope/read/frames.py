"""Columns out of what holds tables: pandas, polars, Arrow, numpy records, named tuples, dicts of columns.

Nothing is imported that the user does not have, and columns go by the names that people use: those of ir_measures,
PyTerrier, trec_eval's formats, MTEB and BEIR.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rankscope.errors import InputError

__all__ = [
    "COLUMNS",
    "NUMBERS",
    "WANTED",
    "as_list",
    "by_columns",
    "found_column",
    "is_table",
    "meaning_of",
    "names_of",
    "table_columns",
]

COLUMNS = {
    "query_id": ("query_id", "qid", "q_id", "topic", "topic_id", "query-id"),
    "doc_id": (
        "doc_id",
        "docno",
        "docid",
        "doc",
        "document",
        "document_id",
        "pid",
        "passage_id",
        "corpus-id",
        "corpus_id",
    ),
    "score": ("score",),
    "rank": ("rank",),
    "relevance": ("relevance", "label", "rel", "grade"),
    "iteration": ("iteration", "subtopic", "subtopic_id", "iter"),
    "run": ("run", "system", "run_id", "name"),
}
"""What a column means, and what it may be called, in any case; the first that is there counts."""

NUMBERS = ("score", "rank", "relevance")
"""The meanings of columns that hold numbers; all others hold ids."""


_MEANINGS = {alias: meaning for meaning, aliases in COLUMNS.items() for alias in aliases}


def meaning_of(name: Any) -> str | None:
    """What a column of this name means, if anything.

    >>> meaning_of("DocNo"), meaning_of("text")
    ('doc_id', None)
    """
    return _MEANINGS.get(str(name).strip().lower())


WANTED = {
    "qrels": ("query_id", "doc_id", "relevance", "iteration"),
    "run": ("query_id", "doc_id", "score", "rank", "run"),
}
"""The meanings that judgments and runs may have."""


def table_columns(table: Any, required: Sequence[str], optional: Sequence[str] = ()) -> dict[str, Any]:
    """Return the columns with these meanings, whatever kind of table it is: ids as ``Texts``, numbers as they are.

    >>> columns = table_columns({"qid": ["q1", 7], "score": [2, 1]}, required=["query_id", "score"])
    >>> columns["query_id"].pieces(), columns["score"]
    ([b'q1', b'7'], [2, 1])
    """
    from rankscope.read.columns import Texts

    table = by_columns(table)
    names = names_of(table)
    if not names and not isinstance(table, Mapping):
        raise InputError(
            f"{type(table).__name__} without columns holds neither lists nor judgments",
            hint="give the path of a file, a dict by topic and document, or a data frame",
        )
    columns = {}
    for wanted in (*required, *optional):
        found = found_column(wanted, names)
        if found is not None:
            column = table[found]
            columns[wanted] = column if wanted in NUMBERS else Texts.of(column, f"column {str(found)!r}")
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
    names = names_of(by_columns(thing))
    return found_column("query_id", names) is not None and found_column("doc_id", names) is not None


def by_columns(table: Any) -> Any:
    """Rows that know their fields (named tuples, dataclasses do not) as columns; anything else as it is."""
    if isinstance(table, list | tuple) and table and all(hasattr(row, "_fields") for row in table):
        return {name: [getattr(row, name, None) for row in table] for name in table[0]._fields}
    if isinstance(table, list | tuple) and table and all(isinstance(row, Mapping) for row in table):
        return {name: [row.get(name) for row in table] for name in table[0]}
    return table


def names_of(table: Any) -> list[Any]:
    """The names of the columns of a table; none if it has none."""
    listed = getattr(getattr(table, "dtype", None), "names", None)  # numpy records
    if listed is None:
        listed = getattr(table, "column_names", getattr(table, "columns", table))
    return list(listed) if isinstance(table, Mapping) or listed is not table else []


def found_column(wanted: str, names: Sequence[Any]) -> Any:
    """The name, of these, of the column with a meaning; None if there is none.

    BEIR calls grades scores.

    >>> found_column("doc_id", ["qid", "docid", "docno"])
    'docno'
    >>> found_column("relevance", ["query-id", "corpus-id", "score"]), found_column("relevance", ["qid", "score"])
    ('score', None)
    """
    lower = {str(name).strip().lower(): name for name in reversed(names)}
    found = next((lower[alias] for alias in COLUMNS[wanted] if alias in lower), None)
    if found is None and wanted == "relevance" and lower.keys() >= {"query-id", "corpus-id"}:
        return lower.get("score")
    return found


def as_list(column: Any) -> list[Any]:
    """Return the values of a column of any kind as a list."""
    for method in ("to_list", "to_pylist", "tolist"):
        if hasattr(column, method):
            return list(getattr(column, method)())
    return list(column)
