"""Run files: what a name stands for (a file, a directory, a pattern), what is in it, and what it is called."""

from __future__ import annotations

import glob
import os
import stat
import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

from rankscope.errors import InputError
from rankscope.read.arrow_files import dataset_format
from rankscope.read.formats import format_and_head
from rankscope.read.metadata import metadata_in, name_in
from rankscope.read.orders import check_order
from rankscope.read.runs import Run, Runs
from rankscope.read.source import Source, hold, named_path

__all__ = ["read_run", "read_runs", "run_files"]

_SUFFIXES = (
    *(".gz", ".bz2", ".xz", ".zst"),
    *(".txt", ".run", ".trec", ".res", ".results"),
    *(".csv", ".tsv", ".jsonl", ".json", ".parquet", ".arrow", ".feather"),
)


def read_run(
    source: str | Path,
    *,
    order: str = "trec_eval",
    name: str | None = None,
    input_format: str | None = None,
) -> Run:
    """A run in a file, plain or packed; ``-`` is standard input. A TREC file is read when it is needed.

    What a file is, is seen from its content (:mod:`rankscope.read.formats`); ``input_format`` overrules it. Of a file
    with several runs, the one of this ``name``.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(f"{folder}/bm25.run").write_text("q1 Q0 d1 1 7.5 bm25\\n")
    ...     print(read_run(f"{folder}/bm25.run").name)
    bm25
    """
    found = _runs_of(source, check_order(order), name, input_format)
    if len(found) == 1:
        return replace(found[0], name=name or name_in(found[0].metadata) or found[0].name)
    return Runs(found)[name] if name is not None else _refuse_several(found, source)


def _refuse_several(found: Sequence[Run], source: str | Path) -> NoReturn:
    listed = ", ".join(run.name for run in found[:5]) + (", ..." if len(found) > 5 else "")
    what = f"the file holds {len(found)} runs: {listed}"
    raise InputError(what, path=source, hint="name one of them, or use read_runs")


def _runs_of(source: str | Path, order: str, name: str | None, chosen: str | None) -> list[Run]:
    """The runs in a file; more than one only if it names them. ``name`` is what the file alone would call its run."""
    path = named_path(source)
    if str(source) == "-":
        run = Run("stdin", order, source=hold("-"))
    elif not path.exists():
        raise InputError("no such file", path=path, hint="check the path")
    elif not path.is_file() and not path.is_dir():  # a pipe, which can be read only once
        run = Run(_name_of(path), order, source=hold(path), label=str(path))
    else:
        run = Run(_name_of(path), order, source=path)
    run = run if name is None else replace(run, name=name)
    assert run.source is not None
    text = Source.of(run.source, run.label)
    form, head = format_and_head(text, "run", chosen)
    if form == "trec":
        return [replace(run, metadata=metadata_in(text, head))]
    run = replace(run, format=form)
    from rankscope.read.foreign import may_hold_several, runs_in

    if not may_hold_several(text, form):
        return [run]
    return [replace(run, name=one or run.name, **held) for one, held in runs_in(text, form).items()]


def read_runs(*sources: str | Path, order: str = "trec_eval", input_format: str | None = None) -> Runs:
    """Runs in files, directories and glob patterns; each is called after its file, unless the file names its runs.

    Files that would have the same name get as much of their path in front as tells them apart. ``input_format``
    overrules what the files are taken for: see :mod:`rankscope.read.formats`.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     for name in ("bm25", "dense"):
    ...         _ = Path(f"{folder}/{name}.run").write_text("q1 Q0 d1 1 7.5 tag\\n")
    ...     print(list(read_runs(folder)))
    ['bm25', 'dense']
    """
    check_order(order)
    paths: list[Path] = []
    runs: list[Run] = []
    for source in sources:
        if str(source) == "-":
            runs += _runs_of("-", order, None, input_format)
        else:
            files, others = run_files(source)
            if others:
                named = ", ".join(f"{entry.name} ({_kind_of(entry)})" for entry in others)
                warnings.warn(f"{source}: left out, as no file: {named}", stacklevel=1)
            paths += files
    for path, name in zip(paths, _names_of(paths), strict=True):
        runs += _runs_of(path, order, name, input_format)
    return Runs(_called(runs))


def _called(runs: list[Run]) -> list[Run]:
    """Each run as its header calls it, unless another one has that name."""
    wanted = [name_in(run.metadata) or run.name for run in runs]
    times, names = Counter(wanted), {run.name for run in runs}
    return [
        replace(run, name=name) if name != run.name and times[name] == 1 and name not in names else run
        for run, name in zip(runs, wanted, strict=True)
    ]


def _names_of(paths: Sequence[Path]) -> list[str]:
    """The name of each file; where several have one name, with the shortest part of their path that tells them apart.

    >>> _names_of([Path("a/x/r.run"), Path("b/x/r.run"), Path("s.run"), Path("c/t.run"), Path("c/t.txt")])
    ['a/x/r', 'b/x/r', 's', 't.run', 't.txt']
    """
    alike: dict[str, list[int]] = {}
    for i, path in enumerate(paths):
        alike.setdefault(_name_of(path), []).append(i)
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
    last = [path.name if one_folder else _name_of(path) for path in paths]
    for depth in range(1 + max(map(len, folders))):
        parts = zip(folders, last, strict=True)
        names = ["/".join((*folder[len(folder) - depth :], name)) for folder, name in parts]
        if len(set(names)) == len(names):
            return names
    raise AssertionError("different paths differ somewhere")


def _name_of(path: Path) -> str:
    name = path.name
    for suffix in _SUFFIXES:
        if name.endswith(suffix) and len(name) > len(suffix):
            name = name[: -len(suffix)]
    return name


def run_files(source: str | Path) -> tuple[list[Path], list[Path]]:
    """The files that a name of runs stands for: itself, the files of a directory, or what matches a pattern.

    A directory may also be one file in parts: see :func:`rankscope.read.arrow_files.dataset_format`. Beside them,
    what stands there and is no file; entries that begin with a dot are hidden, as elsewhere.
    """
    if source == "":  # as a path it would be the working directory
        raise InputError("the name of a run is empty", hint="name a run file, a directory or a pattern")
    path = named_path(source)
    if path.is_dir() and dataset_format(path):
        return [path], []
    if path.is_dir():
        found = sorted(child for child in path.iterdir() if not child.name.startswith("."))
        what, hint = "there is no file in this directory", "name a directory of run files"
    elif path.exists() or not glob.has_magic(str(path)):
        return [path], []
    else:
        found = sorted(Path(match) for match in glob.glob(str(path), recursive=True))  # noqa: PTH207
        what, hint = "no file matches this pattern", "check the pattern"
    files = [entry for entry in found if entry.is_file() or (entry.is_dir() and dataset_format(entry))]
    if not files:
        raise InputError(what, path=path, hint=hint)
    taken = set(files)
    return files, [entry for entry in found if entry not in taken]


def _kind_of(entry: Path) -> str:
    """What an entry of a directory is that is no file."""
    try:
        mode = entry.stat().st_mode
    except OSError:
        return "a link to nothing" if entry.is_symlink() else "unreadable"
    kinds = {stat.S_IFDIR: "a directory", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket"}
    return kinds.get(stat.S_IFMT(mode), "a device")
