"""What a command writes must not be what it reads: known before any work is done."""

from __future__ import annotations

import argparse
import glob
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from rankscope.errors import InputError, SettingsError

__all__ = ["refuse_overwriting"]

_TARGETS = ("output", "plot", "template")
_WORDS = ("command", "name", "title")
"""Options whose values are words of the user's, even where a file has the same name."""


def refuse_overwriting(args: argparse.Namespace) -> None:
    """An error if a file that is written is also read, by whatever path, or is written twice."""
    values = [getattr(args, name, None) for name in _TARGETS]
    targets = [value for value in values if isinstance(value, str) and value not in ("", "-")]
    if len({os.path.realpath(target) for target in targets}) < len(targets):
        raise SettingsError("-o and --plot name the same file", path=targets[0], hint="name two files")
    for target in targets:
        written = {key: path for path in _replaced(Path(target)) if (key := _identity(path))}
        if not written:
            continue
        for source in _read(args):
            if path := written.get(_identity(source) or ()):
                raise SettingsError(
                    "this is one of the files that are read", path=path, hint="write to another place"
                )


def _identity(file: Path | int) -> tuple[int, ...] | None:
    """The same for every path, link and descriptor of a file; None if there is none, or it is a device or a pipe."""
    try:
        status = os.stat(file)  # noqa: PTH116 (a path has no descriptor)
    except (OSError, ValueError):
        return None
    return (status.st_dev, status.st_ino) if stat.S_ISREG(status.st_mode) else None


def _replaced(target: Path) -> Iterator[Path]:
    """The files that are there and would be replaced."""
    if not target.is_dir():
        yield target
        return
    from rankscope.analysis.study.manifest import listed_files

    try:
        yield from (target / name for name in listed_files(target))
    except InputError:
        return  # not a study: it will not be replaced


def _read(args: argparse.Namespace) -> Iterator[Path | int]:
    """Every file that an argument names, or that stands in a directory or matches a pattern that one names.

    Standard input counts where ``-`` names it, and the source of a module where a plugin or a function does.
    """
    from rankscope.cli.arguments import list_collections, split_named_file
    from rankscope.cli.plugins import source_files
    from rankscope.read.run_names import run_files

    several = list_collections(args)
    for one in several:
        yield from _files(one.qrels)
    for text in [*(getattr(args, "runs", None) or ()), *(run for one in several for run in one.runs)]:
        try:
            for path in run_files(text)[0]:
                yield from _files(path)
        except (InputError, OSError):
            continue
    for name, value in vars(args).items():
        if name in (*_TARGETS, *_WORDS, "runs", "collection"):
            continue
        for text in value if isinstance(value, list | tuple) else [value]:
            if not isinstance(text, str) or not text:
                continue
            if name in ("plugin", "function"):
                yield from source_files(text.rpartition(":")[0] if name == "function" else text)
            yield from _files(split_named_file(text)[1] if name in ("scores", "judgments") else text)


def _files(name: str | Path) -> Iterator[Path | int]:
    """The file that a text names, those below a directory, or those that match a pattern; 0 is standard input."""
    from rankscope.read.source import named_path  # reading loads numpy, and help needs none

    if str(name) == "-":
        yield 0
        return

    path = named_path(name)
    try:
        if path.is_dir():
            yield from path.rglob("*")
        elif glob.has_magic(str(path)) and not path.exists():
            yield from map(Path, glob.glob(str(path), recursive=True))  # noqa: PTH207 (patterns may be absolute)
        else:
            yield path
    except (OSError, ValueError):
        return
