"""Finished parts of a study, kept until all of it is written: whoever was interrupted begins where it ended.

A part is one experiment on one collection. Its file is named by a digest of all that decides its content: the versions,
the settings, the digests of the judgments, runs and plugins, the collection and the experiment. Other settings or
changed files have other names, and what does not fit is never used. Once the study is written the parts are removed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from rankscope.errors import RankscopeError
from rankscope.files import digest, write_atomically
from rankscope.tables import Table

__all__ = ["Parts"]

Found = dict[str, Table] | str
"""The tables of an experiment, or why it is not possible."""


class Parts:
    """Parts of one study in a directory; without one, nothing is kept.

    >>> Parts().of("covid", "power", lambda: "one run")
    'one run'
    """

    def __init__(self, directory: Path | None = None, about: Mapping[str, Any] | None = None) -> None:
        self.directory = directory
        self._about = about or {}

    @classmethod
    def beside(cls, output: str | Path, about: Mapping[str, Any]) -> Parts:
        """Those of a study that will be written to a directory; none if something has no digest to know it by."""
        target = Path(output)
        known = _identified(about)
        return cls(target.parent / f".{target.name}.parts" if known and target.name else None, about)

    def of(self, collection: str, experiment: str, make: Callable[[], Found]) -> Found:
        """The part that is there already, or else a new one, which is kept."""
        if self.directory is None:
            return make()
        file = self.directory / f"{self._name(collection, experiment)}.json"
        kept = _read(file)
        if kept is not None:
            return kept
        found = make()
        self.directory.mkdir(parents=True, exist_ok=True)
        write_atomically(file, _text(found))
        return found

    @contextmanager
    def unless_refused(self) -> Iterator[None]:
        """What cannot be done leaves nothing behind; what was interrupted leaves its parts."""
        try:
            yield
        except RankscopeError:
            self.remove()
            raise

    def remove(self) -> None:
        """The study is written, and its parts are no longer needed; those of others stay."""
        if self.directory is None or not self.directory.is_dir():
            return
        for file in self.directory.glob("*.json"):
            file.unlink(missing_ok=True)
        with suppress(OSError):  # not empty: somebody else's
            self.directory.rmdir()

    def _name(self, collection: str, experiment: str) -> str:
        about = {**self._about, "collection": collection, "experiment": experiment}
        text = json.dumps(about, sort_keys=True, ensure_ascii=True, default=str)
        return digest(text.encode())


def _identified(inputs: Any) -> bool:
    """Whether every file has a digest."""
    if isinstance(inputs, Mapping):
        return all(
            _identified(value) if key != "sha256" else value is not None for key, value in inputs.items()
        )
    return all(map(_identified, inputs)) if isinstance(inputs, list | tuple) else True


def _text(found: Found) -> str:
    """A part as JSON; numbers survive it bit for bit."""
    if isinstance(found, str):
        content: dict[str, Any] = {"impossible": found}
    else:
        content = {
            "tables": [
                {
                    "name": name,
                    "columns": list(table.columns),
                    "rows": [list(row) for row in table.rows],
                    "digits": table.digits if isinstance(table.digits, int) else dict(table.digits),
                    "best": dict(table.best),
                    "marks": [[*place, mark] for place, mark in table.marks.items()],
                    "caption": table.caption,
                }
                for name, table in found.items()
            ]
        }
    body = json.dumps(content, ensure_ascii=True)
    return json.dumps({"sha256": digest(body.encode()), "part": body})


def _read(file: Path) -> Found | None:
    """A part as it was kept; None if it is not there, or not whole."""
    try:
        kept = json.loads(file.read_text("ascii"))
        if digest(kept["part"].encode()) != kept["sha256"]:
            return None
        content = json.loads(kept["part"])
        if "impossible" in content:
            return str(content["impossible"])
        return {
            one["name"]: Table(
                one["name"],
                tuple(one["columns"]),
                [tuple(row) for row in one["rows"]],
                one["digits"],
                one["best"],
                {(row, column): mark for row, column, mark in one["marks"]},
                one["caption"],
            )
            for one in content["tables"]
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
