"""Run files: what is in them, and what their runs are called."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

from rankscope.errors import InputError
from rankscope.read.formats import format_and_head
from rankscope.read.metadata import metadata_in, name_in
from rankscope.read.orders import check_order
from rankscope.read.run_names import kind_of, name_of, names_of, run_files
from rankscope.read.runs import Run, Runs
from rankscope.read.source import Source, hold, named_path

__all__ = ["read_run", "read_runs"]


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
    kind = kind_of(path) if str(source) != "-" else "standard input"
    if kind == "standard input":
        run = Run("stdin", order, source=hold("-"))
    elif kind is None:
        raise InputError("no such file", path=path, hint="check the path")
    elif kind in ("a file", "a directory"):
        run = Run(name_of(path), order, source=path)
    else:  # a pipe, which can be read only once
        run = Run(name_of(path), order, source=hold(path), label=str(path))
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
                named = ", ".join(f"{entry.name} ({_said_to_be(entry)})" for entry in others)
                warnings.warn(f"{source}: left out, as no file: {named}", stacklevel=1)
            paths += files
    for path, name in zip(paths, names_of(paths), strict=True):
        runs += _runs_of(path, order, name, input_format)
    return Runs(_called(runs))


def _said_to_be(entry: Path) -> str:
    """What an entry of a directory is that is no file."""
    try:
        kind = kind_of(entry)
    except OSError:
        kind = None
    return kind or ("a link to nothing" if entry.is_symlink() else "unreadable")


def _called(runs: list[Run]) -> list[Run]:
    """Each run as its header calls it, unless another one has that name."""
    wanted = [name_in(run.metadata) or run.name for run in runs]
    times, names = Counter(wanted), {run.name for run in runs}
    return [
        replace(run, name=name) if name != run.name and times[name] == 1 and name not in names else run
        for run, name in zip(runs, wanted, strict=True)
    ]
