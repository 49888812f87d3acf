"""Tables of a study, read back for the page."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rankscope.errors import InputError
from rankscope.report.payload import study_tables
from rankscope.tables import Table

__all__ = ["read_study"]

_LARGEST = 200_000
"""Rows beyond which a table would make the page slow; such tables stay in the study's directory."""


def read_study(directory: str | Path) -> dict[str, Table]:
    """All tables in the JSON files of a study's directory, by name (the first file with a name wins)."""
    root = Path(directory)
    if not root.is_dir():
        raise InputError(
            "there is no such directory", path=root, hint="name the directory rankscope study wrote"
        )
    found: dict[str, Table] = {}
    for path in sorted(root.rglob("*.json")):
        for name, table in study_tables(_tables(path)).items():
            if name not in found and 0 < len(table.rows) <= _LARGEST:
                found[name] = table
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
