"""List the commands, or explain one of them with its options and examples.

examples:
  rankscope help
  rankscope help eval
"""

from __future__ import annotations

import argparse

from rankscope.cli.commands import COMMANDS
from rankscope.errors import SettingsError, suggest_names


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("about", metavar="COMMAND", nargs="?", help="the command to explain")


def run(args: argparse.Namespace) -> None:
    from rankscope.cli.main import dispatch

    if args.about is not None and args.about not in COMMANDS:
        hint = suggest_names(args.about, COMMANDS) or "see: rankscope help"
        raise SettingsError(f"there is no command {args.about!r}", hint=hint)
    dispatch(["--help"] if args.about is None else [args.about, "--help"])
