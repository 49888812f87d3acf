"""Tables of a study for the page: read back from its directory, and cut down to what the page draws."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rankscope.analysis.study.manifest import MANIFEST, listed_files
from rankscope.directories import finish_replacement
from rankscope.errors import InputError
from rankscope.tables import Table

__all__ = ["for_page", "read_study"]

_OF_THE_PAGE = ("quadrants", "means", "depth_pool_means", "topics", "archetypes", "agreement", "collection")
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
    """All tables in the JSON files of a study's directory, by name (the first file with a name wins)."""
    root = Path(directory)
    if not root.is_dir():
        raise InputError(
            "there is no such directory", path=root, hint="name the directory rankscope study wrote"
        )
    finish_replacement(root, MANIFEST, listed_files)
    found: dict[str, Table] = {}
    for path in sorted(root.rglob("*.json")):
        for name, rows in _tables(path).items():
            if name not in found and rows:
                found[name] = _from_rows(name, rows)
    if not found:
        raise InputError(
            "there are no tables here", path=root, hint="name the directory rankscope study wrote"
        )
    return found


def _tables(path: Path) -> Mapping[str, Any]:
    try:
        content = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        raise InputError("this is not a JSON file", path=path, hint="write the study again") from None
    tables = content.get("tables") if isinstance(content, dict) else None
    return tables if isinstance(tables, dict) else {}


def _from_rows(name: str, rows: Sequence[Mapping[str, Any]]) -> Table:
    columns = tuple(dict.fromkeys(key for row in rows for key in row))
    return Table(name, columns, [tuple(row.get(c) for c in columns) for row in rows])


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
