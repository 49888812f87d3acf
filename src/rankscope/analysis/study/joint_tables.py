"""Tables of studies of several collections: join the tables of each, and select those of one."""

from collections.abc import Mapping
from dataclasses import replace

from rankscope.judging.description import join_features
from rankscope.tables import Table

_COLUMN = "collection"
_LABELLED = ("gain_correlations", "focus_correlations")
"""Tables whose first cells name the collection, as papers print them."""

_NAMED = ("archetype_shares",)
"""Tables that always have the column ``collection``."""


def join_tables(parts: Mapping[str, Mapping[str, Table]]) -> dict[str, Table]:
    """Return one table of each kind over all collections, with a first column ``collection``.

    >>> a = {"means": Table("means", ("run", "AP"), [("x", 0.5)])}
    >>> join_tables({"one": a, "two": a})["means"].rows
    [('one', 'x', 0.5), ('two', 'x', 0.5)]
    """
    kinds = dict.fromkeys(kind for tables in parts.values() for kind in tables)
    result: dict[str, Table] = {}
    for kind in kinds:
        having = {name: tables[kind] for name, tables in parts.items() if kind in tables}
        first = next(iter(having.values()))
        if kind == "collection":
            result[kind] = replace(join_features(having), name=kind)
        elif kind in (*_LABELLED, *_NAMED):
            result[kind] = replace(first, rows=[row for table in having.values() for row in table.rows])
        else:
            rows = [(name, *row) for name, table in having.items() for row in table.rows]
            # Best values are marked within a collection only, so the joint table has no marks.
            result[kind] = replace(first, columns=(_COLUMN, *first.columns), rows=rows, best={})
    return result


def select_tables(tables: Mapping[str, Table], name: str) -> dict[str, Table]:
    """Return the tables of one collection, as if it had been studied alone; tables without rows are omitted."""
    result: dict[str, Table] = {}
    for kind, table in tables.items():
        if kind == "collection":
            index = table.columns.index(name)
            features = [("Collection", name), *((row[0], row[index]) for row in table.rows)]
            result[kind] = replace(table, columns=("feature", "value"), rows=features)
        elif kind in _LABELLED:
            rows = [row for row in table.rows if str(row[0]).endswith(f" ({name})")]
            result[kind] = replace(table, rows=rows)
        elif kind in _NAMED:
            result[kind] = replace(table, rows=[row for row in table.rows if row[0] == name])
        else:
            rows = [tuple(row[1:]) for row in table.rows if row[0] == name]
            result[kind] = replace(table, columns=table.columns[1:], rows=rows)
    return {kind: table for kind, table in result.items() if len(table)}
