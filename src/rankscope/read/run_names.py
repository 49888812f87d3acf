"""List the run files of a path, a directory or a pattern, and name their runs, without reading the files."""

from __future__ import annotations

import errno
import glob
import os
import stat
from collections.abc import Sequence
from pathlib import Path

from rankscope.errors import InputError
from rankscope.read.arrow_files import dataset_format
from rankscope.read.source import expand_path

_SUFFIXES = (
    *(".gz", ".bz2", ".xz", ".zst"),
    *(".txt", ".run", ".trec", ".res", ".results"),
    *(".csv", ".tsv", ".jsonl", ".json", ".parquet", ".arrow", ".feather"),
)

_KINDS = {
    stat.S_IFREG: "a file",
    stat.S_IFDIR: "a directory",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
}


def run_files(source: str | Path) -> tuple[list[Path], list[Path]]:
    """Return the run files of a path, a directory or a pattern, and the entries that are no files.

    A directory may be one table in parts: see :func:`rankscope.read.arrow_files.dataset_format`. Entries that start
    with a dot are hidden.
    """
    if source == "":  # as a path it would be the working directory
        raise InputError("the name of a run is empty", hint="name a run file, a directory or a pattern")
    path = expand_path(source)
    kind = file_kind(path)
    if kind == "a directory" and dataset_format(path):
        return [path], []
    if kind == "a directory":
        entries = sorted(child for child in path.iterdir() if not child.name.startswith("."))
        problem, hint = "there is no file in this directory", "name a directory of run files"
    elif kind is not None or not glob.has_magic(str(path)):
        return [path], []
    else:
        entries = sorted(Path(match) for match in glob.glob(str(path), recursive=True))  # noqa: PTH207
        problem, hint = "no file matches this pattern", "check the pattern"
    files = [entry for entry in entries if entry.is_file() or (entry.is_dir() and dataset_format(entry))]
    if not files:
        raise InputError(problem, path=path, hint=hint)
    others = set(entries) - set(files)
    return files, [entry for entry in entries if entry in others]


def file_kind(path: Path) -> str | None:
    """Return the kind of the entry at a path, such as "a file", with one system call; None if there is no entry."""
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError, ValueError):  # ValueError: a NUL in the path
        return None
    except OSError as error:
        if error.errno == errno.ELOOP:
            return None
        raise
    return _KINDS.get(stat.S_IFMT(mode), "a device")


def unique_run_names(paths: Sequence[Path]) -> list[str]:
    """Return the name of each file, with the shortest part of the path that distinguishes files of the same name.

    >>> unique_run_names([Path("a/x/r.run"), Path("b/x/r.run"), Path("s.run"), Path("c/t.run"), Path("c/t.txt")])
    ['a/x/r', 'b/x/r', 's', 't.run', 't.txt']
    """
    groups: dict[str, list[int]] = {}
    for i, path in enumerate(paths):
        groups.setdefault(default_run_name(path), []).append(i)
    names: dict[int, str] = {}
    for name, members in groups.items():
        distinct = [name] if len(members) == 1 else _distinguish([paths[i] for i in members])
        names.update(zip(members, distinct, strict=True))
    return [names[i] for i in range(len(paths))]


def _distinguish(paths: Sequence[Path]) -> list[str]:
    absolute = [os.path.abspath(path) for path in paths]  # noqa: PTH100 (resolves ".." but no links)
    if len(set(absolute)) < len(absolute):
        repeated = next(path for i, path in enumerate(paths) if absolute[i] in absolute[:i])
        raise InputError("the run is named twice", path=repeated, hint="name it once")
    folders = [Path(path).parent.parts for path in absolute]
    share_folder = len(set(folders)) < len(folders)  # then only the suffixes distinguish them
    last = [path.name if share_folder else default_run_name(path) for path in paths]
    for depth in range(1 + max(map(len, folders))):
        parts = zip(folders, last, strict=True)
        names = ["/".join((*folder[len(folder) - depth :], name)) for folder, name in parts]
        if len(set(names)) == len(names):
            return names
    raise AssertionError("different paths differ somewhere")


def default_run_name(path: Path) -> str:
    """Return the name of a run by its file.

    >>> default_run_name(Path("runs/bm25.run.gz"))
    'bm25'
    """
    name = path.name
    for suffix in _SUFFIXES:
        if name.endswith(suffix) and len(name) > len(suffix):
            name = name[: -len(suffix)]
    return name
