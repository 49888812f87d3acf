"""Rejects commands that would overwrite one of their input files, before any work is done."""

import argparse
import glob
import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from rankscope.errors import InputError, SettingsError

_TARGETS = ("output", "plot", "template")
_WORDS = ("command", "name", "title")
"""Options whose values are never files, even if a file has the same name."""


def validate_targets(args: argparse.Namespace) -> None:
    """Raise an error if a file would be written that is also read, by any path, or that is written twice."""
    values = [getattr(args, name, None) for name in _TARGETS]
    targets = [value for value in values if isinstance(value, str) and value not in ("", "-")]
    if len({os.path.realpath(target) for target in targets}) < len(targets):
        raise SettingsError("-o and --plot name the same file", path=targets[0], hint="name two files")
    for target in targets:
        written = {key: path for path in _list_replaced(Path(target)) if (key := _identity(path))}
        if not written:
            continue
        for source in _list_sources(args):
            if path := written.get(_identity(source) or ()):
                raise SettingsError("this file is also read", path=path, hint="write to another file")


def _identity(file: str | Path | int) -> tuple[int, ...] | None:
    """Return device and inode of a regular file, which all its paths and links share; None for anything else."""
    try:
        status = os.stat(file)  # noqa: PTH116 (Path.stat takes no descriptor)
    except (OSError, ValueError):
        return None
    return (status.st_dev, status.st_ino) if stat.S_ISREG(status.st_mode) else None


def _list_replaced(target: Path) -> Iterator[Path]:
    """Yield the existing files that would be replaced."""
    if not target.is_dir():
        yield target
        return
    from rankscope.analysis.study.manifest import listed_files

    try:
        yield from (target / name for name in listed_files(target))
    except InputError:
        return  # A directory that is not a study is not replaced.


def _list_sources(args: argparse.Namespace) -> Iterator[str | Path | int]:
    """Yield all files that are read: those of arguments, in directories, of patterns, and sources of plugins.

    ``-`` is standard input, with the descriptor 0.
    """
    from rankscope.cli.arguments import list_collections, split_named_file

    collections = list_collections(args)
    for collection in collections:
        yield from _list_files(collection.qrels)
    named = (run for collection in collections for run in collection.runs)
    for text in [*(getattr(args, "runs", None) or ()), *named]:
        yield from _list_run_files(split_named_file(text)[1])
    for name, value in vars(args).items():
        if name in (*_TARGETS, *_WORDS, "runs", "collection"):
            continue
        for text in value if isinstance(value, list | tuple) else [value]:
            if not isinstance(text, str) or not text:
                continue
            if name in ("plugin", "function"):
                from rankscope.cli.plugins import source_files

                yield from source_files(text.rpartition(":")[0] if name == "function" else text)
            yield from _list_files(split_named_file(text)[1] if name in ("scores", "judgments") else text)


def _list_run_files(text: str) -> Iterator[str | Path | int]:
    """Yield the files of a run argument: a file, a directory or a pattern."""
    if os.path.isfile(text):  # noqa: PTH113 (the usual case needs no module that takes long to load)
        yield text
        return
    from rankscope.read.run_names import run_files

    with suppress(InputError, OSError):
        for path in run_files(text)[0]:
            yield from _list_files(path)


def _list_files(name: str | Path) -> Iterator[str | Path | int]:
    """Yield the file of that name, the files in the directory, or those that match the pattern."""
    text = str(name)
    if text == "-":
        yield 0
        return
    if os.path.isfile(text) or not (os.path.exists(text) or glob.has_magic(text) or text.startswith("~")):  # noqa: PTH110, PTH113
        yield text
        return
    from rankscope.read.source import expand_path

    path = expand_path(name)
    try:
        if path.is_dir():
            yield from path.rglob("*")
        elif glob.has_magic(str(path)) and not path.exists():
            yield from map(Path, glob.glob(str(path), recursive=True))  # noqa: PTH207 (patterns may be absolute)
        else:
            yield path
    except (OSError, ValueError):
        return
