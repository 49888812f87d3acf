"""Open several named collections, from arguments of the command line or from a TOML file.

NAME=QRELS:RUNS                          RUNS is a run, a directory of runs or a pattern

[collections.covid]                      one table for each collection
qrels = "covid/qrels.txt"                paths are relative to the directory of the file
runs = ["covid/runs", "more/*.gz"]       or a single text
order = "trec_eval9"                     optional, as is grades = "0=0;1,2=1"
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rankscope.errors import InputError, SettingsError, check_name
from rankscope.read.collection import Inputs, open_collection
from rankscope.read.datasets import IRDS
from rankscope.read.orders import ORDERS

_HINT = "write NAME=QRELS:RUNS, such as covid=covid/qrels.txt:covid/runs"
_KEYS = ("qrels", "runs", "order", "grades")


@dataclass(frozen=True)
class NamedFiles:
    """Files of a collection, and optionally how to open them."""

    name: str
    qrels: str
    runs: tuple[str, ...]
    order: str | None = None
    grades: str | None = None


def named_collection(text: str) -> NamedFiles:
    """Parse ``NAME=QRELS:RUNS``; the paths may contain colons if QRELS is an existing file.

    >>> named_collection("covid=covid/qrels.txt:covid/runs")
    NamedFiles(name='covid', qrels='covid/qrels.txt', runs=('covid/runs',), order=None, grades=None)
    """
    name, equals, files = text.partition("=")
    colons = [index for index, letter in enumerate(files) if letter == ":"]
    colons = colons[1:] if files.startswith(IRDS) else colons
    separators = [index for index in colons if Path(files[:index]).is_file()] or colons[:1]
    split = separators[-1] if separators else 0
    qrels, runs = files[:split], files[split + 1 :]
    if not (name.strip() and equals and qrels and runs):
        raise SettingsError(f"{text!r} names no collection", hint=_HINT)
    return NamedFiles(name.strip(), qrels, (runs,))


def read_collections(path: str | Path) -> list[NamedFiles]:
    """Read the collections of a TOML file."""
    file = Path(path)
    hint = "write a table [collections.NAME] with qrels and runs for each collection"
    try:
        content = tomllib.loads(file.read_bytes().decode())
    except OSError as error:
        raise InputError(f"cannot read ({error.strerror})", path=file, hint="check the path") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"this is not TOML ({error})", path=file, hint=hint) from None
    for key in content:
        if key != "collections":
            raise InputError(f"unknown key {key!r}", path=file, hint=hint)
    tables = content.get("collections")
    if not isinstance(tables, dict) or not tables:
        raise InputError("there is no collection", path=file, hint=hint)
    return [_parse_collection(name, table, file) for name, table in tables.items()]


def _parse_collection(name: str, table: Any, file: Path) -> NamedFiles:
    key_path = f"collections.{name}"
    if not name.strip() or not isinstance(table, dict):
        raise InputError(f"{key_path} is not a table", path=file, hint="give it qrels and runs")
    for key in table:
        problem = f"{key_path} has an unknown key {key!r}"
        check_name(key, _KEYS, problem, listed="there are", error=InputError, path=file)
    runs = table.get("runs")
    runs = [runs] if isinstance(runs, str) else runs
    texts = (table.get("qrels"), table.get("order", ""), table.get("grades", ""))
    if not (
        all(isinstance(text, str) for text in texts)
        and table["qrels"]
        and isinstance(runs, list)
        and runs
        and all(isinstance(run, str) and run for run in runs)
    ):
        hint = 'write qrels = "qrels.txt" and runs = "runs" or a list of texts'
        raise InputError(f"{key_path} has no paths of judgments and runs", path=file, hint=hint)
    if table.get("order", ORDERS[0]) not in ORDERS:
        hint = f"choose one of {', '.join(ORDERS)}"
        raise InputError(f"{key_path} has the unknown order {table['order']!r}", path=file, hint=hint)

    def resolve(text: str) -> str:
        return text if text.startswith((IRDS, "~")) else str(file.parent / text)

    paths = tuple(resolve(run) for run in runs)
    return NamedFiles(name, resolve(table["qrels"]), paths, table.get("order"), table.get("grades"))


def open_named(
    listed: Iterable[NamedFiles],
    *,
    order: str = "trec_eval",
    grades: str | None = None,
    needs_aspects: bool = False,
    input_format: Mapping[str, str] | None = None,
) -> dict[str, Inputs]:
    """Open collections by name; ``order`` and ``grades`` are the defaults of collections that do not set them."""
    opened: dict[str, Inputs] = {}
    for files in listed:
        if files.name in opened:
            raise SettingsError(f"two collections are called {files.name!r}", hint="rename one of them")
        opened[files.name] = open_collection(
            files.qrels, list(files.runs), order=files.order or order, grades=files.grades or grades,
            needs_aspects=needs_aspects, input_format=input_format,
        )  # fmt: skip
    return opened
