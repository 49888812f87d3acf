"""What a name of runs stands for (a file, a directory, a pattern), and what the runs in files are called.

Without reading the files, and without loading what reads them.
"""

from __future__ import annotations

import errno
import glob
import os
import stat
from collections.abc import Sequence
from pathlib import Path

from rankscope.errors import InputError
from rankscope.read.arrow_files import dataset_format
from rankscope.read.source import named_path

__all__ = ["kind_of", "name_of", "names_of", "run_files"]

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
    """The files that a name of runs stands for: itself, the files of a directory, or what matches a pattern.

    A directory may also be one file in parts: see :func:`rankscope.read.arrow_files.dataset_format`. Beside them,
    what stands there and is no file; entries that begin with a dot are hidden, as elsewhere.
    """
    if source == "":  # as a path it would be the working directory
        raise InputError("the name of a run is empty", hint="name a run file, a directory or a pattern")
    path = named_path(source)
    kind = kind_of(path)
    if kind == "a directory" and dataset_format(path):
        return [path], []
    if kind == "a directory":
        found = sorted(child for child in path.iterdir() if not child.name.startswith("."))
        what, hint = "there is no file in this directory", "name a directory of run files"
    elif kind is not None or not glob.has_magic(str(path)):
        return [path], []
    else:
        found = sorted(Path(match) for match in glob.glob(str(path), recursive=True))  # noqa: PTH207
        what, hint = "no file matches this pattern", "check the pattern"
    files = [entry for entry in found if entry.is_file() or (entry.is_dir() and dataset_format(entry))]
    if not files:
        raise InputError(what, path=path, hint=hint)
    taken = set(files)
    return files, [entry for entry in found if entry not in taken]


def kind_of(path: Path) -> str | None:
    """What there is at a path, in words, by one look; None if there is nothing."""
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError, ValueError):  # a NUL in a name is no name
        return None
    except OSError as error:
        if error.errno == errno.ELOOP:
            return None
        raise
    return _KINDS.get(stat.S_IFMT(mode), "a device")


def names_of(paths: Sequence[Path]) -> list[str]:
    """The name of each file; where several have one name, with the shortest part of their path that tells them apart.

    >>> names_of([Path("a/x/r.run"), Path("b/x/r.run"), Path("s.run"), Path("c/t.run"), Path("c/t.txt")])
    ['a/x/r', 'b/x/r', 's', 't.run', 't.txt']
    """
    alike: dict[str, list[int]] = {}
    for i, path in enumerate(paths):
        alike.setdefault(name_of(path), []).append(i)
    names = {members[0]: name for name, members in alike.items() if len(members) == 1}
    for members in alike.values():
        if len(members) > 1:
            names.update(zip(members, _told_apart([paths[i] for i in members]), strict=True))
    return [names[i] for i in range(len(paths))]


def _told_apart(paths: Sequence[Path]) -> list[str]:
    whole = [os.path.abspath(path) for path in paths]  # noqa: PTH100 (with ".." resolved, and links not)
    if len(set(whole)) < len(whole):
        again = next(path for i, path in enumerate(paths) if whole[i] in whole[:i])
        raise InputError("the run is named twice", path=again, hint="name it once")
    folders = [Path(path).parent.parts for path in whole]
    one_folder = len(set(folders)) < len(folders)  # then only the endings tell them apart
    last = [path.name if one_folder else name_of(path) for path in paths]
    for depth in range(1 + max(map(len, folders))):
        parts = zip(folders, last, strict=True)
        names = ["/".join((*folder[len(folder) - depth :], name)) for folder, name in parts]
        if len(set(names)) == len(names):
            return names
    raise AssertionError("different paths differ somewhere")


def name_of(path: Path) -> str:
    """What the run in a file is called after it.

    >>> name_of(Path("runs/bm25.run.gz"))
    'bm25'
    """
    name = path.name
    for suffix in _SUFFIXES:
        if name.endswith(suffix) and len(name) > len(suffix):
            name = name[: -len(suffix)]
    return name
