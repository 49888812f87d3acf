"""Results of analyses on the command line: all tables in JSON, the main ones elsewhere; lists of numbers."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from rankscope.cli.output import emit
from rankscope.result import Result
from rankscope.tables import Table

__all__ = ["decimals", "emit_result", "whole_numbers"]


def emit_result(
    args: argparse.Namespace, result: Result, main: Sequence[str], *, display: Sequence[Table] | None = None
) -> None:
    """Print every table of a result as JSON, the ``main`` ones as TSV or CSV, and ``display`` to people."""
    json = args.format == "json" or (args.format is None and str(args.output or "").endswith(".json"))
    tables = list(result.tables.values()) if json else [result[name] for name in main]
    chosen = getattr(args, "figure", None)
    emit(args, tables, result.settings, display=display, figure=lambda: result.plot(figure=chosen))


def decimals(text: str) -> tuple[float, ...]:
    """Numbers between commas, for argparse.

    >>> decimals("90,50.5")
    (90.0, 50.5)
    """
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of numbers such as 90,50,10") from None


def whole_numbers(text: str) -> tuple[int, ...]:
    """Whole numbers between commas, for argparse.

    >>> whole_numbers("10,100")
    (10, 100)
    """
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of whole numbers such as 10,100") from None
