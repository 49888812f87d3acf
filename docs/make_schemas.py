"""Generate docs/reference/schemas.json: the tables of every command's JSON, with the types of their columns.

python docs/make_schemas.py            add new tables and columns
python docs/make_schemas.py --check    only report lost columns

The file is a promise: its columns stay until the next version of the schemas. New columns may be added; removing a
column or changing its type needs a new version.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, get_args

from book.schemas import declared

from rankscope.cli.commands import COMMANDS, OWN_GRAMMAR
from rankscope.cli.main import command_parser

FILE = Path(__file__).parent / "reference" / "schemas.json"
VERSION = 1
Tables = dict[str, dict[str, str]]


def undeclared() -> set[str]:
    """Return the commands that print tables and are not declared."""
    flags = {
        name: command_parser(name)._option_string_actions for name in COMMANDS if name not in OWN_GRAMMAR
    }
    return {name for name, options in flags.items() if "--format" in options} - declared().keys()


def answered() -> dict[str, Tables]:
    """Return the current tables of every command."""
    if missing := undeclared():
        raise SystemExit(f"declare the rows of the tables of {', '.join(sorted(missing))}")
    return {command: _declared(tables) for command, tables in sorted(declared().items())}


def _declared(tables: dict[str, Any]) -> Tables:
    """Return the column types of tables, from the classes of their rows."""
    return {
        name: {
            column: " or ".join(
                sorted({_KINDS[type_] for type_ in get_args(kind) or (kind,) if type_ in _KINDS})
            )
            for column, kind in rows.types().items()
        }
        for name, rows in tables.items()
    }


_KINDS = {bool: "boolean", int: "number", float: "number", str: "text", list: "list", dict: "object"}


def promised() -> dict[str, Tables]:
    """Return the promised tables."""
    commands: dict[str, Tables] = json.loads(FILE.read_text("utf-8"))["commands"]
    return commands


def lost(current: dict[str, Tables]) -> list[str]:
    """Return promised columns that are missing or have another type; empty columns have no type yet."""
    return [
        f"{command}: {table}.{column}: {kind}"
        for command, tables in promised().items()
        for table, columns in tables.items()
        for column, kind in columns.items()
        if not _holds(kind, current.get(command, {}).get(table, {}).get(column))
    ]


def _holds(kind: str, current: str | None) -> bool:
    return current is not None and (
        "empty" in (kind, current) or bool(set(kind.split(" or ")) & set(current.split(" or ")))
    )


def main() -> int:
    """Write the promise, or compare it with --check."""
    current = answered()
    losses = lost(current) if FILE.exists() else []
    print("\n".join(f"lost: {line}" for line in losses) or "nothing is lost")
    if "--check" in sys.argv or losses:
        return 1 if losses else 0
    FILE.write_text(json.dumps({"version": VERSION, "commands": current}, indent=1) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
