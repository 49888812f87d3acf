"""Find columns in tables: pandas, polars, Arrow, numpy records, named tuples, dicts of columns.

No optional package is imported. Column names are those of ir_measures, PyTerrier, the formats of trec_eval, MTEB and
BEIR.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from rankscope.errors import InputError, SettingsError

COLUMNS = {
    "query_id": ("query_id", "qid", "q_id", "topic", "topic_id", "query-id", "session_id", "query"),
    "doc_id": (
        *("doc_id", "docno", "docid", "doc", "document", "document_id", "pid", "passage_id"),
        *("corpus-id", "corpus_id", "item_id", "product_id"),
    ),
    "score": ("score",),
    "rank": ("rank",),
    "relevance": ("relevance", "label", "rel", "grade"),
    "iteration": ("iteration", "subtopic", "subtopic_id", "iter"),
    "run": ("run", "system", "run_id", "name"),
}
"""Meanings of columns, and their accepted names (case-insensitive); the first one present is used."""

NUMBERS = ("score", "rank", "relevance")
"""Meanings of columns of numbers; all other columns have ids."""


_CHOSEN: ContextVar[Mapping[str, str]] = ContextVar("columns", default={})  # noqa: B039 (it is never changed)
_MEANINGS = {alias: meaning for meaning, aliases in COLUMNS.items() for alias in aliases}


def column_meaning(name: Any) -> str | None:
    """Return the meaning of a column of this name, or None.

    >>> column_meaning("DocNo"), column_meaning("text")
    ('doc_id', None)
    """
    lower = str(name).strip().lower()
    overrides = {column.lower(): meaning for meaning, column in _CHOSEN.get().items()}
    return overrides.get(lower, _MEANINGS.get(lower))


@contextmanager
def using_columns(columns: str | Mapping[str, str] | None) -> Iterator[None]:
    """Read tables with other names of columns: ``topic=query,doc=item_id,grade=label``, or a mapping.

    >>> with using_columns("doc=sku"):
    ...     find_column("doc_id", ["query", "sku"]), find_column("query_id", ["query", "sku"])
    ('sku', 'query')
    """
    if isinstance(columns, str):
        parts = [part.partition("=") for part in columns.split(",")]
        columns = {meaning.strip(): name.strip() for meaning, _, name in parts}
    overrides = {}
    for key, name in (columns or {}).items():
        meaning = _MEANINGS.get(key.lower())
        if meaning is None or not name:
            hint = "write topic=query,doc=item_id,grade=label; also score, rank, run and subtopic"
            raise SettingsError(f"columns cannot have {key}={name}", hint=hint)
        overrides[meaning] = name
    token = _CHOSEN.set(overrides)
    try:
        yield
    finally:
        _CHOSEN.reset(token)


WANTED = {
    "qrels": ("query_id", "doc_id", "relevance", "iteration"),
    "run": ("query_id", "doc_id", "score", "rank", "run"),
}
"""Meanings of the columns of judgments and runs."""


def table_columns(table: Any, required: Sequence[str], optional: Sequence[str] = ()) -> dict[str, Any]:
    """Return the columns with these meanings of a table of any kind: ids as ``TextColumn``, numbers unchanged.

    >>> columns = table_columns({"qid": ["q1", 7], "score": [2, 1]}, required=["query_id", "score"])
    >>> columns["query_id"].pieces(), columns["score"]
    ([b'q1', b'7'], [2, 1])
    """
    from rankscope.read.columns import TextColumn

    table = as_columns(table)
    names = column_names(table)
    if not names and not isinstance(table, Mapping):
        hint = "give the path of a file, a dict by topic and document, or a data frame"
        raise InputError(f"{type(table).__name__} has no columns of rankings or judgments", hint=hint)
    return {
        meaning: table[name]
        if meaning in NUMBERS
        else TextColumn.from_column(table[name], f"column {str(name)!r}")
        for meaning, name in find_columns(names, required, optional).items()
    }


def find_columns(
    names: Sequence[Any],
    required: Sequence[str],
    optional: Sequence[str] = (),
    path: str | None = None,
    line: int | None = None,
) -> dict[str, Any]:
    """Return the names of the columns with these meanings; reject a table without a required one."""
    meanings = dict.fromkeys((*required, *optional))
    columns = {meaning: name for meaning in meanings if (name := find_column(meaning, names)) is not None}
    for meaning in required:
        if meaning not in columns:
            raise missing_column(meaning, names, path, line)
    return columns


def missing_column(
    meaning: str, names: Sequence[Any], path: str | None = None, line: int | None = None
) -> InputError:
    """Return the error for a required column that is missing."""
    return InputError(
        f"there is no column for {meaning} ({', '.join(COLUMNS[meaning])})",
        path=path, line=line, hint=f"rename one of: {', '.join(map(str, names)) or 'none'}; or name it by columns",
    )  # fmt: skip


def is_table(thing: Any) -> bool:
    """Return whether this is a table with a column of topics and one of documents.

    >>> is_table({"q1": {"d1": 1}}), is_table({"qid": ["q1"], "docno": ["d1"]})
    (False, True)
    """
    if isinstance(thing, str):
        return False
    if isinstance(thing, Mapping) and any(isinstance(value, Mapping) for value in thing.values()):
        return False
    names = column_names(as_columns(thing))
    return find_column("query_id", names) is not None and find_column("doc_id", names) is not None


def as_columns(table: Any) -> Any:
    """Return a list of named tuples or dicts as a dict of columns, and any other object unchanged."""
    if isinstance(table, list | tuple) and table and all(hasattr(row, "_fields") for row in table):
        return {name: [getattr(row, name, None) for row in table] for name in table[0]._fields}
    if isinstance(table, list | tuple) and table and all(isinstance(row, Mapping) for row in table):
        return {name: [row.get(name) for row in table] for name in table[0]}
    return table


def column_names(table: Any) -> list[Any]:
    """Return the names of the columns of a table; an empty list if this is no table."""
    names = getattr(getattr(table, "dtype", None), "names", None)  # numpy records
    if names is None:
        names = getattr(table, "column_names", getattr(table, "columns", table))
    return list(names) if isinstance(table, Mapping) or names is not table else []


def find_column(meaning: str, names: Sequence[Any]) -> Any:
    """Return the name of the column with a meaning, or None; the column ``score`` of BEIR qrels has grades.

    >>> find_column("doc_id", ["qid", "docid", "docno"])
    'docno'
    >>> find_column("relevance", ["query-id", "corpus-id", "score"]), find_column("relevance", ["qid", "score"])
    ('score', None)
    """
    lower = {str(name).strip().lower(): name for name in reversed(names)}
    for meaning_of_override, column in _CHOSEN.get().items():
        if meaning_of_override == meaning and column.lower() in lower:
            return lower[column.lower()]
        lower.pop(column.lower(), None)
    name = next((lower[alias] for alias in COLUMNS[meaning] if alias in lower), None)
    if name is None and meaning == "relevance" and lower.keys() >= {"query-id", "corpus-id"}:
        return lower.get("score")
    return name
