"""The tables of the commands' JSON, from docs/reference/schemas.json: a page, and a JSON Schema for each command."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import rankscope as rs
from book.pages import DOCS
from rankscope.cli.commands import COMMANDS
from rankscope.cli.measures import MeasureRow
from rankscope.judging.coverage import Coverage
from rankscope.judging.description import Description
from rankscope.lab.axioms.verdicts import PropertiesResult
from rankscope.lab.identification.search import Identification
from rankscope.lab.measurement.scales import Scales
from rankscope.lab.ranges import ArchetypeRanges

FILE = DOCS / "reference" / "schemas.json"
_RESULTS: dict[str, Any] = {
    "effort-enumerate": ArchetypeRanges,
    "eval": rs.Scores,
    "eval-coverage": Coverage,
    "eval-describe": Description,
    "identify": Identification,
    "properties": PropertiesResult,
    "scales": Scales,
}
"""Results of commands that are not analyses of a collection."""
_TYPES = {"text": "string", "number": "number", "boolean": "boolean", "list": "array", "object": "object"}
_INFINITE = {"enum": ["Infinity", "-Infinity"]}


@cache
def declared() -> dict[str, dict[str, Any]]:
    """Return the row classes of all tables of declared analyses, and of methods of collections, by command."""
    spaces = (getattr(space, name) for space in (rs, rs.lab) for name in space.__all__)
    declarations = [declaration.declaration for declaration in spaces if hasattr(declaration, "declaration")]
    tables = {one.command: one.result.row_types() for one in declarations if one.command is not None}
    tables |= {command: result.row_types() for command, result in _RESULTS.items()}
    return tables | {"measures": {"measures": MeasureRow}}


def meaning(command: str, table: str, column: str) -> str | None:
    """Return the meaning of a column, or None if it is undocumented."""
    rows = declared().get(command, {}).get(table)
    return None if rows is None or column not in rows.specs else str(rows.specs[column].meaning)


def find_command(name: str) -> str:
    """Return the command of a schema; ``eval-describe`` describes the output of ``eval --describe``."""
    return name if name in COMMANDS else name.partition("-")[0]


def schema(version: int, command: str, tables: dict[str, dict[str, str]]) -> dict[str, Any]:
    """Return the JSON Schema of the output of a command with -f json."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"rankscope:schemas/{version}/{command}",
        "type": "object",
        "required": ["rankscope", "command", "settings", "tables"],
        "properties": {
            "rankscope": {"type": "string"},
            "command": {"const": find_command(command)},
            "settings": {"type": "object"},
            "tables": {
                "type": "object",
                "properties": {
                    name: {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "properties": {
                                column: {"description": meaning(command, name, column), **_cell(kind)}
                                for column, kind in columns.items()
                            },
                        },
                    }
                    for name, columns in tables.items()
                },
            },
        },
    }


def _cell(kind: str) -> dict[str, Any]:
    """Return the schema of a cell: its type or null, and text for infinite numbers."""
    if kind == "empty":
        return {}
    types = [_TYPES[name] for name in kind.split(" or ")]
    allowed = {"type": [*types, "null"]}
    return {"anyOf": [allowed, _INFINITE]} if "number" in types and "string" not in types else allowed


def pages() -> dict[str, str]:
    """Return the page of all tables, and the schemas."""
    stored = json.loads(FILE.read_text("utf-8"))
    version, commands = stored["version"], stored["commands"]
    lines = [
        "# Tables and their schemas",
        "",
        "With `-f json` every command answers with one object:",
        "",
        "```json",
        '{"rankscope": "0.1.0", "command": "eval", "settings": {}, "tables": {"means": []}}',
        "```",
        "",
        "`settings` are enough to repeat it (options, seed, digests of the files), and a table is a list of rows.",
        'An undefined number is `null`, an infinite one the text `"Infinity"` or `"-Infinity"`. `-f tsv` and `-f csv`',
        "have the main tables.",
        "",
        f"These are schemas of version {version}. Columns may be added at any time, so ignore what you do not know;",
        "taking one away, or changing its type or meaning, makes a new version, and a test holds every column below.",
        "",
    ]
    for command, tables in commands.items():
        lines += [
            f"## {command}",
            "",
            f"[rankscope {find_command(command)}](commands/{find_command(command)}.md);"
            f" {{download}}`JSON Schema <schemas/{command}.json>`",
            "",
        ]
        for name, columns in tables.items():
            lines += [f"`{name}`", "", "| column | type | meaning |", "|---|---|---|"]
            lines += [
                f"| `{column}` | {kind} | {meaning(command, name, column)} |"
                for column, kind in columns.items()
            ]
            lines.append("")
    schemas = {
        f"reference/schemas/{command}.json": json.dumps(schema(version, command, tables), indent=1)
        for command, tables in commands.items()
    }
    return {"reference/tables.md": "\n".join(lines), **schemas}
