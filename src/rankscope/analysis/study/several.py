"""Studies of several collections: the tables of each joined, and taken apart again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from rankscope.analysis.features import side_by_side
from rankscope.tables import Table

__all__ = ["joined", "part_of"]

_COLUMN = "collection"
_LABELLED = ("gain_correlations", "focus_correlations")
"""Tables whose rows name the collection already, as papers print them."""

_NAMED = ("archetype_shares",)
"""Tables that have the column in any case."""


def joined(parts: Mapping[str, Mapping[str, Table]]) -> dict[str, Table]:
    """One table of each kind over all collections, with a first column that says which.

    >>> a = {"means": Table("means", ("run", "AP"), [("x", 0.5)])}
    >>> joined({"one": a, "two": a})["means"].rows
    [('one', 'x', 0.5), ('two', 'x', 0.5)]
    """
    kinds = dict.fromkeys(kind for tables in parts.values() for kind in tables)
    found: dict[str, Table] = {}
    for kind in kinds:
        having = {name: tables[kind] for name, tables in parts.items() if kind in tables}
        first = next(iter(having.values()))
        if kind == "collection":
            found[kind] = replace(side_by_side(having), name=kind)
        elif kind in (*_LABELLED, *_NAMED):
            found[kind] = replace(first, rows=[row for table in having.values() for row in table.rows])
        else:
            rows = [(name, *row) for name, table in having.items() for row in table.rows]
            # what is best stands out inside a collection, not over all of them
            found[kind] = replace(first, columns=(_COLUMN, *first.columns), rows=rows, best={})
    return found


def part_of(tables: Mapping[str, Table], name: str) -> dict[str, Table]:
    """The tables of one collection, as if it had been studied alone; tables that it has no row in are left out."""
    found: dict[str, Table] = {}
    for kind, table in tables.items():
        if kind == "collection":
            place = table.columns.index(name)
            features = [("Collection", name), *((row[0], row[place]) for row in table.rows)]
            found[kind] = replace(table, columns=("feature", "value"), rows=features)
        elif kind in _LABELLED:
            found[kind] = replace(
                table, rows=[row for row in table.rows if str(row[0]).endswith(f" ({name})")]
            )
        elif kind in _NAMED:
            found[kind] = replace(table, rows=[row for row in table.rows if row[0] == name])
        else:
            rows = [tuple(row[1:]) for row in table.rows if row[0] == name]
            found[kind] = replace(table, columns=table.columns[1:], rows=rows)
    return {kind: table for kind, table in found.items() if len(table)}
