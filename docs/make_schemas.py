"""Generate docs/reference/schemas.json: the tables of every command's JSON, with the types of their columns.

python docs/make_schemas.py            add new tables and columns
python docs/make_schemas.py --check    only report lost columns

The file is a promise: its columns stay until the next version of the schemas. New columns may be added; removing a
column or changing its type needs a new version.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any, get_args

from book.schemas import declared

import rankscope as rs
from rankscope.cli.commands import COMMANDS, OWN_GRAMMAR
from rankscope.cli.main import command_parser
from rankscope.cli.main import main as rankscope

FILE = Path(__file__).parent / "reference" / "schemas.json"
VERSION = 1
Tables = dict[str, dict[str, str]]

CALLS = {
    "eval": "eval qrels.txt runs -q",
    "properties": "properties -m ACT --depth 3",
    "scales": "scales -m RBP --length 3",
    "identify": "identify measure.py:first",
    "effort-enumerate": "effort --enumerate --relevant 2 --length 6",
    "measures": "measures AP",
}
"""Calls that print the tables of commands that no declaration describes, by the name of the schema."""


def undeclared() -> set[str]:
    """Return the commands that print tables and are not declared."""
    flags = {
        name: command_parser(name)._option_string_actions for name in COMMANDS if name not in OWN_GRAMMAR
    }
    return {name for name, options in flags.items() if "--format" in options} - declared().keys()


def answered() -> dict[str, Tables]:
    """Return the current tables of every command."""
    missing = undeclared() - CALLS.keys()
    if missing:
        raise SystemExit(f"add calls of {', '.join(sorted(missing))}, or declare them")
    previous = Path.cwd()
    schemas = {}
    with tempfile.TemporaryDirectory() as folder:
        rs.simulate(systems=4, topics=5, depth=20, pool_depth=10, seed=3).write(f"{folder}/c")
        os.chdir(f"{folder}/c")
        try:
            judged = Path("qrels.txt").read_text().splitlines()
            Path("second.txt").write_text(
                "\n".join(line[:-1] + "1" if i % 9 == 0 else line for i, line in enumerate(judged))
            )
            fields = [line.split() for line in judged]
            Path("aspects.txt").write_text(
                "\n".join(f"{topic} {1 + i % 3} {d} {g}" for i, (topic, _, d, g) in enumerate(fields))
            )
            Path("measure.py").write_text(
                "def first(grades):\n    return float(bool(grades) and grades[0] > 0)\n"
            )
            for name, words in CALLS.items():
                schemas[name] = _tables(name, words.split())
        finally:
            os.chdir(previous)
    return schemas | {command: _declared(tables) for command, tables in declared().items()}


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


def _tables(name: str, words: list[str]) -> Tables:
    with contextlib.redirect_stderr(io.StringIO()) as errors:
        try:
            code = rankscope([*words, "-f", "json", "-o", f"{name}.json", "--quiet"])
        except SystemExit as end:
            code = end.code
    if code != 0:
        raise SystemExit(f"rankscope {' '.join(words)}: {errors.getvalue()}")
    tables: dict[str, list[dict[str, Any]]] = json.loads(Path(f"{name}.json").read_text("utf-8"))["tables"]
    return {table: _columns(rows) for table, rows in tables.items() if rows}


def _columns(rows: list[dict[str, Any]]) -> dict[str, str]:
    """Return the type of every column from its non-empty values: text, number, boolean, or several."""
    kinds: dict[str, set[str]] = {}
    for row in rows:
        for key, value in row.items():
            kinds.setdefault(key, set()).update([] if value is None else [_KINDS.get(type(value), "text")])
    return {key: " or ".join(sorted(names)) or "empty" for key, names in kinds.items()}


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
