"""Tables of a study for the report: read from its directory, and reduced to those that the report draws."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

import rankscope.json_documents as shapes
from rankscope.directories import finish_replacement
from rankscope.errors import InputError
from rankscope.tables import Table, from_json

_NOT_DRAWN = frozenset((
    "quadrants", "effort_points", "means", "depth_pool_means", "topics", "archetypes", "archetype_shares", "agreement",
    "collection",
    "gain_correlations", "focus_correlations", "correlation_matrix", "robustness_curve", "bounds_pools",
))  # fmt: skip
"""Tables that the page computes, or that repeat others in the layout of a paper."""

_POINTS = 300
_ROWS = 5000


def read_study(directory: str | Path) -> dict[str, Table]:
    """Return the tables of a study by name, from the JSON files in its directory; the first table of a name is used.

    With a manifest, only its files are read, and must be unchanged; without one, all JSON files are read.
    """
    root, hint = Path(directory), "name a directory written by rankscope study"
    if not root.is_dir():
        raise InputError("there is no such directory", path=root, hint=hint)
    result: dict[str, Table] = {}
    for path in _files(root):
        for name, rows in (
            shapes.read_json(path, _document, "write the study again").get("tables", {}).items()
        ):
            if name not in result and rows:
                result[name] = from_json(name, rows)
    if not result:
        raise InputError("the directory contains no tables", path=root, hint=hint)
    return result


def _files(root: Path) -> list[Path]:
    from rankscope.analysis.study.manifest import MANIFEST, checked_input, listed_files, read_manifest

    finish_replacement(root, MANIFEST, listed_files)
    if not (root / MANIFEST).exists():
        return sorted(path for path in root.rglob("*.json") if path.is_file())
    content = read_manifest(root)
    if "collections" in content["settings"]:
        hint = "run rankscope study on the collection of the report only"
        raise InputError("this is a study of several collections", path=root, hint=hint)
    outputs = content["outputs"]
    names = sorted(name for name in outputs if name.endswith(".json"))
    return [checked_input({"path": name, "sha256": outputs[name]}, name, root, here=False) for name in names]


_TEXT, _NUMBER = shapes.text(), shapes.optional(shapes.number())
_COLUMNS: dict[str, dict[str, shapes.Shape]] = {
    "correlations": {"a": _TEXT, "b": _TEXT, "method": _TEXT, "value": _NUMBER},
    "robustness": {"measure": _TEXT, "pool": shapes.scalar, "tau": _NUMBER},
    "power": {"measure": _TEXT, "power": _NUMBER},
    "asl": {"measure": _TEXT, "asl": _NUMBER},
    "bounds": {"depth": _NUMBER, "lower": _NUMBER, "upper": _NUMBER},
}
"""Columns that the page needs of the tables that it draws."""


def _document(content: Any, location: str) -> None:
    """Check JSON output of a command: its tables are rows of scalars with the same columns."""
    if not isinstance(content, dict):
        raise shapes.Mismatch.from_value(location, "an object", content)
    tables = content.get("tables", {})
    rows_shape = shapes.list_shape(shapes.object_shape(_TEXT, shapes.scalar))
    shapes.object_shape(_TEXT, rows_shape)(tables, "tables")
    for name, rows in tables.items():
        for i, row in enumerate(rows):
            if row.keys() != rows[0].keys():
                raise shapes.Mismatch(f"tables.{name}[{i}]", "the columns are not those of the first row")
            for column, shape in _COLUMNS.get(name, {}).items():
                if column not in row:
                    raise shapes.Mismatch(f"tables.{name}[{i}]", f"the column {column!r} is missing")
                shape(row[column], f"tables.{name}[{i}].{column}")


def for_report(tables: Mapping[str, Table]) -> dict[str, Table]:
    """Return the tables that the report draws: significance levels reduced to a few hundred points, no long tables.

    >>> rows = [("AP", "t", f"a{k}", "b", k / 1000, 0.1) for k in range(1000)]
    >>> table = Table("asl", ("measure", "test", "a", "b", "asl", "difference"), rows)
    >>> for_report({"asl": table, "means": table})["asl"].rows[:2]
    [('AP', 't', 1, 0.999), ('AP', 't', 4, 0.996)]
    """
    drawn = {name: table for name, table in tables.items() if name not in _NOT_DRAWN}
    if "asl" in drawn and {"measure", "asl"} <= set(drawn["asl"].columns):
        drawn["asl"] = _asl_curves(drawn["asl"])
    return {name: table for name, table in drawn.items() if 0 < len(table.rows) <= _ROWS}


def _asl_curves(table: Table) -> Table:
    tests = table.column("test") if "test" in table.columns else [""] * len(table)
    curves: dict[tuple[Any, Any], list[float]] = {}
    for measure, test, asl in zip(table.column("measure"), tests, table.column("asl"), strict=True):
        if isinstance(asl, int | float) and asl == asl:
            curves.setdefault((measure, test), []).append(float(asl))
    rows: list[tuple[Any, ...]] = []
    for (measure, test), levels in curves.items():
        levels.sort(reverse=True)
        spaced = np.linspace(0, len(levels) - 1, min(_POINTS, len(levels))).round().astype(int)
        rows += [(measure, test, k + 1, levels[k]) for k in np.unique(spaced).tolist()]
    return Table("asl", ("measure", "test", "pairs", "asl"), rows)
