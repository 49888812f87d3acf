"""Writes the results of all commands: to standard output or a file, in the requested format, with figures."""

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

from rankscope.cli.terminal import ink, write
from rankscope.errors import SettingsError
from rankscope.files import write_atomically
from rankscope.progress import progress
from rankscope.result import Result
from rankscope.tables import Table, json_parts, render_parts

_REST = "-o FILE or a pipe gets all of them"  # shown below a table whose rows are not all printed


def emit(
    args: argparse.Namespace,
    result: Result,
    *,
    main: Sequence[str] | None = None,
    display: Sequence[Table] | None = None,
    figure: Callable[[], Any] | None = None,
) -> None:
    """Write the result of a command, and its figure if there is a --plot.

    JSON has all tables, TSV and CSV have the ``main`` ones, and a terminal, Markdown and LaTeX those to ``display``. An
    HTML file has the displayed ones first, the others, and all figures.
    By default these are the tables that the result declares; ``main`` without ``display`` replaces both.
    """
    picture = _render_figure(args, figure or (lambda: result.plot(getattr(args, "figure", None))))
    format = choose_format(args)
    if format == "json":
        settings = {**result.settings, **file_digests(args)}
        tables = list(result.tables.values())
        parts = json_parts(args.command, settings, tables)
    elif format in ("tsv", "csv"):
        tables = [result[name] for name in main or result.main]
        parts = render_parts(tables, format)
    else:
        shown = display or [result[name] for name in main or ()] or result.display
        tables = _with_digits(shown, args.digits)
        if format == "html":
            from rankscope.reporting.html_page import render_result

            parts = iter([render_result(result, tables, _render_figures(args, result))])
        else:
            parts = render_for_terminal(tables) if _is_styled(args, format) else render_parts(tables, format)
    if args.output and args.output != "-":
        write_atomically(args.output, _with_progress(parts, tables))
    else:
        for part in parts if sys.stdout.isatty() else _with_progress(parts, tables):
            write(part, is_styled=_is_styled(args, format))
    if picture is not None:
        write_atomically(args.plot, picture)


def emit_text(args: argparse.Namespace, text: str) -> None:
    """Write text to the file of -o, or to standard output."""
    if args.output and args.output != "-":
        write_atomically(args.output, text)
    else:
        write(text)


def emit_interrupted(args: argparse.Namespace, result: Result) -> NoReturn:
    """Print the partial tables of an interrupted command, marked as such; files and pipes get nothing."""
    if not args.output and choose_format(args) == "table":
        shown = [
            replace(table, caption=f"INTERRUPTED, so far: {table.caption or table.name}")
            for table in result.display
        ]
        for part in render_for_terminal(_with_digits(shown, args.digits)):
            write(part, is_styled=True)
    raise KeyboardInterrupt


def _render_figure(args: argparse.Namespace, figure: Callable[[], Any]) -> bytes | None:
    """Draw the figure before anything is written, so that an error leaves no files behind."""
    if not getattr(args, "plot", None):
        return None
    from rankscope.plots import using

    with using(args.style, args.width):
        content: bytes = figure().render(Path(args.plot).suffix[1:].lower())
    return content


def _render_figures(args: argparse.Namespace, result: Result) -> dict[str, bytes]:
    """Draw all figures of a result in SVG, except those whose tables it lacks."""
    from rankscope.plots import using

    pictures = {}
    with using(getattr(args, "style", "sans"), getattr(args, "width", None)):
        for name in result.figures:
            with suppress(SettingsError):
                pictures[name] = result.plot(name).render("svg")
    return pictures


def choose_format(args: argparse.Namespace) -> str:
    """Return the format of -f, of the file name of -o, or by default a table on a terminal and TSV in a pipe."""
    suffix = Path(args.output or "").suffix.lower()
    if suffix in (".xlsx", ".xls", ".ods"):
        problem = f"{args.output}: {suffix} files cannot be written"
        raise SettingsError(problem, hint="write .csv, which spreadsheets open")
    if args.format is not None:
        return str(args.format)
    if args.output and args.output != "-":
        other = suffix[1:] if suffix in (".csv", ".json", ".html") else "tsv"
        return {".md": "markdown", ".tex": "latex", ".txt": "table"}.get(suffix, other)
    return "table" if sys.stdout.isatty() else "tsv"


def _with_digits(tables: Iterable[Table], digits: int | None) -> list[Table]:
    return [table if digits is None else replace(table, digits=digits) for table in tables]


def _with_progress(parts: Iterable[str], tables: Sequence[Table]) -> Iterable[str]:
    """Add a progress bar if there are many rows."""
    blocks = sum(table.blocks for table in tables)
    return progress(parts, blocks, "writing") if blocks > 1 else parts


def render_for_terminal(tables: Iterable[Table]) -> Iterator[str]:
    """Render tables for standard output: on a terminal with bold type and colour, and only the first rows."""
    return render_parts(tables, "table", ink=ink(), rest=_REST if sys.stdout.isatty() else "")


def _is_styled(args: argparse.Namespace, format: str) -> bool:
    """Return whether tables are printed to a terminal."""
    return format == "table" and args.output in (None, "-") and sys.stdout.isatty()


def file_digests(args: argparse.Namespace) -> dict[str, Any]:
    """Return the SHA-256 digests of the input files, so that a result can be repeated with the same ones."""
    from rankscope.analysis.study.manifest import input_digest
    from rankscope.cli.arguments import list_collections, present, split_named_file
    from rankscope.read.run_names import run_files

    if not hasattr(args, "qrels"):
        return {}
    collections = list_collections(args)
    named = [split_named_file(source)[1] for source in args.runs or ()]
    sources = [*named, *(run for collection in collections for run in collection.runs)]
    files = [source for source in dict.fromkeys(sources) if not _is_stream(source)]
    runs = [str(path) for source in files for path in run_files(source)[0]]
    texts = [text for several in present(args, "scores", "judgments").values() for text in several]
    scores = [split_named_file(text)[1] for text in texts]
    if args.command == "gate":
        scores.append(args.baseline)
    options = present(args, "topic_data", "human", "judged", "judges", "source", "types").values()
    paths = [path for value in options for path in ([value] if isinstance(value, str) else value)]
    scores += [path for path in paths if Path(path).is_file()]
    judgments = [args.qrels, *(collection.qrels for collection in collections)]
    others = [path for path in (*judgments, *scores) if path and not _is_stream(path)]
    return {"files": {path: input_digest(path) for path in (*others, *runs) if path}}


def _is_stream(source: str) -> bool:
    """Return whether this is standard input or a pipe, which cannot be read a second time."""
    path = Path(source)
    return source == "-" or (path.exists() and not path.is_file() and not path.is_dir())
