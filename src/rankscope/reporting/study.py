"""Tables of a study for the page: read back from its directory, and cut down to what the page draws."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from rankscope.directories import finish_replacement
from rankscope.errors import InputError
from rankscope.json_documents import (
    Mismatch,
    Shape,
    list_of,
    mapping_of,
    number,
    optional,
    read_json,
    scalar,
    text,
)
from rankscope.tables import Table, from_json

__all__ = ["for_page", "read_study"]

_OF_THE_PAGE = (
    "quadrants", "effort_points", "means", "depth_pool_means", "topics", "archetypes", "archetype_shares", "agreement",
    "collection",
)  # fmt: skip
_OF_A_PAPER = (
    "gain_correlations",
    "focus_correlations",
    "correlation_matrix",
    "robustness_curve",
    "bounds_pools",
)
_NOT_DRAWN = frozenset((*_OF_THE_PAGE, *_OF_A_PAPER))
"""Tables that the page computes itself, or that repeat others in the layout of a paper."""

_POINTS = 300
_ROWS = 5000


def read_study(directory: str | Path) -> dict[str, Table]:
    """The tables of a study, from the JSON files in its directory, by name (the first file with a name wins).

    With a manifest these are the files that it lists, as they were written; without one, all that are there.
    """
    root = Path(directory)
    if not root.is_dir():
        raise InputError(
            "there is no such directory", path=root, hint="name the directory rankscope study wrote"
        )
    found: dict[str, Table] = {}
    for path in _files(root):
        for name, rows in read_json(path, _document, "write the study again").get("tables", {}).items():
            if name not in found and rows:
                found[name] = from_json(name, rows)
    if not found:
        raise InputError(
            "there are no tables here", path=root, hint="name the directory rankscope study wrote"
        )
    return found


def _files(root: Path) -> list[Path]:
    from rankscope.analysis.study.manifest import MANIFEST, checked_input, listed_files, read_manifest

    finish_replacement(root, MANIFEST, listed_files)
    if not (root / MANIFEST).exists():
        return sorted(path for path in root.rglob("*.json") if path.is_file())
    content = read_manifest(root)
    if "collections" in content["settings"]:
        raise InputError(
            "this is a study of several collections", path=root, hint="make one of the collection of the page"
        )
    outputs = content["outputs"]
    names = sorted(name for name in outputs if name.endswith(".json"))
    return [checked_input({"path": name, "sha256": outputs[name]}, name, root, here=False) for name in names]


_COLUMNS: dict[str, dict[str, Shape]] = {
    "correlations": {"a": text(), "b": text(), "method": text(), "value": optional(number())},
    "robustness": {"measure": text(), "pool": scalar, "tau": optional(number())},
    "power": {"measure": text(), "power": optional(number())},
    "asl": {"measure": text(), "asl": optional(number())},
    "bounds": {"depth": optional(number()), "lower": optional(number()), "upper": optional(number())},
}
"""What the page needs of the tables that it draws."""


def _document(content: Any, place: str) -> None:
    """A JSON document as commands print it: if it has tables, they are rows of plain values with the same columns."""
    if not isinstance(content, dict):
        raise Mismatch.from_value(place, "an object", content)
    tables = content.get("tables", {})
    mapping_of(text(), list_of(mapping_of(text(), scalar)))(tables, "tables")
    for name, rows in tables.items():
        for i, row in enumerate(rows):
            if row.keys() != rows[0].keys():
                raise Mismatch(f"tables.{name}[{i}]", "the columns are not those of the first row")
            for column, shape in _COLUMNS.get(name, {}).items():
                if column not in row:
                    raise Mismatch(f"tables.{name}[{i}]", f"the column {column!r} is missing")
                shape(row[column], f"tables.{name}[{i}].{column}")


def for_page(tables: Mapping[str, Table]) -> dict[str, Table]:
    """What the page draws: significance levels as curves of a few hundred points, long tables left out.

    >>> rows = [("AP", "t", f"a{k}", "b", k / 1000, 0.1) for k in range(1000)]
    >>> table = Table("asl", ("measure", "test", "a", "b", "asl", "difference"), rows)
    >>> for_page({"asl": table, "means": table})["asl"].rows[:2]
    [('AP', 't', 1, 0.999), ('AP', 't', 4, 0.996)]
    """
    found = {name: table for name, table in tables.items() if name not in _NOT_DRAWN}
    if "asl" in found and {"measure", "asl"} <= set(found["asl"].columns):
        found["asl"] = _asl_curves(found["asl"])
    return {name: table for name, table in found.items() if 0 < len(table.rows) <= _ROWS}


def _asl_curves(table: Table) -> Table:
    tests = table.column("test") if "test" in table.columns else [""] * len(table)
    curves: dict[tuple[Any, Any], list[float]] = {}
    for measure, test, asl in zip(table.column("measure"), tests, table.column("asl"), strict=True):
        if isinstance(asl, int | float) and asl == asl:
            curves.setdefault((measure, test), []).append(float(asl))
    rows: list[tuple[Any, ...]] = []
    for (measure, test), levels in curves.items():
        levels.sort(reverse=True)
        places = np.unique(
            np.linspace(0, len(levels) - 1, min(_POINTS, len(levels))).round().astype(int)
        ).tolist()
        rows += [(measure, test, place + 1, levels[place]) for place in places]
    return Table("asl", ("measure", "test", "pairs", "asl"), rows)
