"""Read runs from files, directories and patterns, and name them."""

from __future__ import annotations

import warnings
from collections import Counter
from dataclasses import replace
from pathlib import Path

from rankscope.errors import InputError
from rankscope.read.formats import detect_format
from rankscope.read.metadata import read_metadata, run_name_in_metadata
from rankscope.read.orders import check_order
from rankscope.read.run_names import default_run_name, file_kind, run_files, unique_run_names
from rankscope.read.runs import Run, Runs
from rankscope.read.source import Source, expand_path


def read_run(
    source: str | Path, *, order: str = "trec_eval", name: str | None = None, input_format: str | None = None
) -> Run:
    """Read a run from a file; a TREC file is read when it is needed.

    Parameters
    ----------
    source
        Path, plain or compressed; ``-`` for standard input.
    order
        Order of a ranking: trec_eval, trec_eval9, ascending_id, rank or file.
    name
        Name of the run; selects one of the runs of a file with several.
    input_format
        Format of the file, if it is not the one detected (:mod:`rankscope.read.formats`).

    Returns
    -------
    Run
        The run.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(f"{folder}/bm25.run").write_text("q1 Q0 d1 1 7.5 bm25\\n")
    ...     print(read_run(f"{folder}/bm25.run").name)
    bm25
    """
    runs = _read_file(source, check_order(order), name, input_format)
    if len(runs) == 1:
        return replace(runs[0], name=name or run_name_in_metadata(runs[0].metadata) or runs[0].name)
    if name is not None:
        return Runs(runs)[name]
    names = ", ".join(run.name for run in runs[:5]) + (", ..." if len(runs) > 5 else "")
    problem = f"the file has {len(runs)} runs: {names}"
    raise InputError(problem, path=source, hint="name one of them, or use read_runs")


def _read_file(source: str | Path, order: str, name: str | None, requested: str | None) -> list[Run]:
    """Read the runs of a file; ``name`` is the name of a run that the file does not name."""
    path = expand_path(source)
    is_stdin = str(source) == "-"
    if not is_stdin and file_kind(path) is None:
        raise InputError("no such file", path=path, hint="check the path")
    text = Source.open(source)
    content = text.data if text.path is None else text.path
    run = Run(
        name or ("stdin" if is_stdin else default_run_name(path)), order, source=content, label=text.label
    )
    file_format = detect_format(text, "run", requested)
    if file_format == "trec":
        return [replace(run, metadata=read_metadata(text))]
    run = replace(run, format=file_format)
    from rankscope.read.foreign import may_name_runs, read_named_runs

    if not may_name_runs(text, file_format):
        return [run]
    named = read_named_runs(text, file_format)
    return [replace(run, name=run_name or run.name, **fields) for run_name, fields in named.items()]


def read_runs(*sources: str | Path, order: str = "trec_eval", input_format: str | None = None) -> Runs:
    """Read runs from files, directories and glob patterns.

    A run has the name in its file, or else the name of its file; files of the same name get the shortest part of their
    path that distinguishes them.

    Parameters
    ----------
    *sources
        Paths, plain or compressed, directories, glob patterns, or ``-`` for standard input.
    order
        Order of a ranking: trec_eval, trec_eval9, ascending_id, rank or file.
    input_format
        Format of the files, if it is not the one detected (:mod:`rankscope.read.formats`).

    Returns
    -------
    Runs
        The runs by name.

    Examples
    --------
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
            runs += _read_file("-", order, None, input_format)
        else:
            files, others = run_files(source)
            if others:
                named = ", ".join(f"{entry.name} ({_describe_entry(entry)})" for entry in others)
                warnings.warn(f"{source}: skipped entries that are not files: {named}", stacklevel=1)
            paths += files
    for path, name in zip(paths, unique_run_names(paths), strict=True):
        runs += _read_file(path, order, name, input_format)
    return Runs(_apply_metadata_names(runs))


def _describe_entry(entry: Path) -> str:
    """Return the kind of a directory entry that is no file."""
    try:
        kind = file_kind(entry)
    except OSError:
        kind = None
    return kind or ("a broken link" if entry.is_symlink() else "unreadable")


def _apply_metadata_names(runs: list[Run]) -> list[Run]:
    """Rename each run to the name in its header, unless another run has that name."""
    header_names = [run_name_in_metadata(run.metadata) or run.name for run in runs]
    counts, names = Counter(header_names), {run.name for run in runs}
    return [
        replace(run, name=name) if name != run.name and counts[name] == 1 and name not in names else run
        for run, name in zip(runs, header_names, strict=True)
    ]
