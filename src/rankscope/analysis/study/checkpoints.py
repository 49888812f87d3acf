"""Checkpoints of a study: finished experiments are kept until the study is written, so that it can be resumed.

A checkpoint holds one experiment on one collection. Its file is named by a digest of everything that determines its
content: versions, settings, digests of judgments, runs and plugins, the collection and the experiment. A checkpoint of
other settings or files therefore has another name and is never used.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Self

from rankscope.errors import RankscopeError
from rankscope.files import digest, write_atomically
from rankscope.tables import Table

Outcome = dict[str, Table] | str
"""Tables of an experiment, or the reason why it is impossible."""


class Checkpoints:
    """Checkpoints of one study in a directory; without a directory, nothing is kept.

    >>> Checkpoints().load_or_run("covid", "power", lambda: "one run")
    'one run'
    """

    def __init__(self, directory: Path | None = None, identity: Mapping[str, Any] | None = None) -> None:
        self.directory = directory
        self._identity = identity or {}

    @classmethod
    def next_to(cls, output: str | Path, identity: Mapping[str, Any]) -> Self:
        """Return the checkpoints of a study to be written to a directory; nothing is kept if an input has no digest."""
        target = Path(output)
        keep = target.name and _has_digests(identity)
        return cls(target.parent / f".{target.name}.parts" if keep else None, identity)

    def load_or_run(self, collection: str, experiment: str, run: Callable[[], Outcome]) -> Outcome:
        """Return the outcome of an experiment from its checkpoint, or run it and keep the outcome."""
        if self.directory is None:
            return run()
        file = self.directory / f"{self._name(collection, experiment)}.json"
        kept = _read(file)
        if kept is not None:
            return kept
        outcome = run()
        self.directory.mkdir(parents=True, exist_ok=True)
        write_atomically(file, _text(outcome))
        return outcome

    @contextmanager
    def removed_on_error(self) -> Iterator[None]:
        """Remove the checkpoints if the study is impossible; an interrupt keeps them."""
        try:
            yield
        except RankscopeError:
            self.remove()
            raise

    def remove(self) -> None:
        """Remove the checkpoints, and their directory if it is empty."""
        if self.directory is None or not self.directory.is_dir():
            return
        for file in self.directory.glob("*.json"):
            file.unlink(missing_ok=True)
        with suppress(OSError):  # The directory also has files of others.
            self.directory.rmdir()

    def _name(self, collection: str, experiment: str) -> str:
        identity = {**self._identity, "collection": collection, "experiment": experiment}
        text = json.dumps(identity, sort_keys=True, ensure_ascii=True, default=str)
        return digest(text.encode())


def _has_digests(inputs: Any) -> bool:
    """Return whether every file has a digest."""
    if isinstance(inputs, Mapping):
        return all(
            _has_digests(value) if key != "sha256" else value is not None for key, value in inputs.items()
        )
    return all(map(_has_digests, inputs)) if isinstance(inputs, list | tuple) else True


def _text(outcome: Outcome) -> str:
    """Return an outcome as JSON, which preserves numbers exactly."""
    content = outcome if isinstance(outcome, str) else [_cells(table) for table in outcome.values()]
    body = json.dumps(content, ensure_ascii=True)
    return json.dumps({"sha256": digest(body.encode()), "part": body})


def _cells(table: Table) -> list[Any]:
    digits = table.digits if isinstance(table.digits, int) else dict(table.digits)
    marks = [[*cell, mark] for cell, mark in table.marks.items()]
    return [table.name, table.columns, list(table.rows), digits, dict(table.best), marks, table.caption]


def _read(file: Path) -> Outcome | None:
    """Return the outcome in a file, or None if it is missing or damaged."""
    try:
        kept = json.loads(file.read_text("ascii"))
        if digest(kept["part"].encode()) != kept["sha256"]:
            return None
        content = json.loads(kept["part"])
        if isinstance(content, str):
            return content
        tables = {}
        for name, columns, rows, digits, best, marks, caption in content:
            marked = {(row, column): mark for row, column, mark in marks}
            tables[name] = Table(name, tuple(columns), [*map(tuple, rows)], digits, best, marked, caption)
        return tables
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
