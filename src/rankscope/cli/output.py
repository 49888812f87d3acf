"""Where results go, the same way for every command: standard output or a file, in the format asked for."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

from rankscope.cli.terminal import ink, write
from rankscope.files import write_atomically
from rankscope.progress import progress
from rankscope.result import Result
from rankscope.tables import Table, json_parts, render_parts

__all__ = ["emit", "emit_interrupted", "emit_text", "file_digests", "format_of", "shown_to_people"]

_REST = "-o FILE or a pipe gets all of them"


def emit(
    args: argparse.Namespace,
    result: Result,
    *,
    main: Sequence[str] | None = None,
    display: Sequence[Table] | None = None,
    figure: Callable[[], Any] | None = None,
) -> None:
    """Print the result of a command, and write its figure if --plot asks for it.

    JSON has every table; TSV and CSV have the ``main`` ones; a terminal, Markdown and LaTeX those to ``display``. Both
    are what the result says they are, unless the options of the command ask for others; people then read the main ones.
    """
    picture = _picture(args, figure or (lambda: result.plot(getattr(args, "figure", None))))
    format = format_of(args)
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
        parts = shown_to_people(tables) if _on_terminal(args, format) else render_parts(tables, format)
    if args.output and args.output != "-":
        write_atomically(args.output, _counted(parts, tables))
    else:
        for part in parts if sys.stdout.isatty() else _counted(parts, tables):
            write(part, looks=_on_terminal(args, format))
    if picture is not None:
        write_atomically(args.plot, picture)


def emit_text(args: argparse.Namespace, text: str) -> None:
    """Print a report of a command, or write it where -o says."""
    if args.output and args.output != "-":
        write_atomically(args.output, text)
    else:
        write(text)


def emit_interrupted(args: argparse.Namespace, result: Result) -> NoReturn:
    """Show people what was found before an interruption, every table marked; files and programs get nothing."""
    if not args.output and format_of(args) == "table":
        shown = [
            replace(table, caption=f"INTERRUPTED, so far: {table.caption or table.name}")
            for table in result.display
        ]
        for part in shown_to_people(_with_digits(shown, args.digits)):
            write(part, looks=True)
    raise KeyboardInterrupt


def _picture(args: argparse.Namespace, figure: Callable[[], Any]) -> bytes | None:
    """The figure as a file, drawn before anything is written, so that a failure leaves nothing behind."""
    if not getattr(args, "plot", None):
        return None
    from rankscope.plots import using

    with using(args.style):
        content: bytes = figure().render(Path(args.plot).suffix[1:].lower())
    return content


def format_of(args: argparse.Namespace) -> str:
    """The format asked for; else by the name of the file, else a table for a person, TSV for a pipe."""
    if args.format is not None:
        return str(args.format)
    if args.output and args.output != "-":
        suffixes = {".csv": "csv", ".json": "json", ".md": "markdown", ".tex": "latex", ".txt": "table"}
        return suffixes.get(Path(args.output).suffix, "tsv")
    return "table" if sys.stdout.isatty() else "tsv"


def _with_digits(tables: Iterable[Table], digits: int | None) -> list[Table]:
    return [table if digits is None else replace(table, digits=digits) for table in tables]


def _counted(parts: Iterable[str], tables: Sequence[Table]) -> Iterable[str]:
    """The parts of a text, with a bar for people if there are many rows."""
    blocks = sum(table.blocks for table in tables)
    return progress(parts, blocks, "writing") if blocks > 1 else parts


def shown_to_people(tables: Iterable[Table]) -> Iterator[str]:
    """Tables for standard output: on a terminal with weight and colour, and without thousands of rows."""
    return render_parts(tables, "table", ink=ink(), rest=_REST if sys.stdout.isatty() else "")


def _on_terminal(args: argparse.Namespace, format: str) -> bool:
    return format == "table" and args.output in (None, "-") and sys.stdout.isatty()


def file_digests(args: argparse.Namespace) -> dict[str, Any]:
    """SHA-256 of the files that went in, so that a result can be repeated with the same ones."""
    from rankscope.analysis.study.manifest import input_digest
    from rankscope.cli.arguments import list_collections, split_named_file
    from rankscope.read.run_names import run_files

    if not hasattr(args, "qrels"):
        return {}
    several = list_collections(args)
    sources = [*(args.runs or ()), *(run for one in several for run in one.runs)]
    again = [source for source in dict.fromkeys(sources) if not _passes_once(source)]
    runs = [str(path) for source in again for path in run_files(source)[0]]
    scores = [split_named_file(text)[1] for text in getattr(args, "scores", None) or ()]
    if args.command == "gate":
        scores.append(args.baseline)
    if args.command == "judges":
        scores += [split_named_file(text)[1] for text in args.judgments]
    judgments = [args.qrels, *(one.qrels for one in several)]
    others = [path for path in (*judgments, *scores) if path and not _passes_once(path)]
    named = [path for path in (*others, *runs) if path]
    return {"files": {path: input_digest(path) for path in named}}


def _passes_once(source: str) -> bool:
    """Whether this is standard input or a pipe: gone when it has been read."""
    return source == "-" or (
        Path(source).exists() and not Path(source).is_file() and not Path(source).is_dir()
    )
