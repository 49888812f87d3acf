"""List the commands, or explain one of them with its options and examples.

examples:
  rankscope help
  rankscope help eval
"""

import argparse

from rankscope.cli.commands import COMMANDS
from rankscope.errors import check_name


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("about", metavar="COMMAND", nargs="?", help="the command to explain")


def run(args: argparse.Namespace) -> None:
    from rankscope.cli.main import dispatch

    if args.about is not None:
        check_name(args.about, COMMANDS, f"there is no command {args.about!r}", hint="see: rankscope help")
    dispatch(["--help"] if args.about is None else [args.about, "--help"])
