"""``rankscope COMMAND``: finds the command, and turns everything that goes wrong into one line.

Only the module of the command that was asked for is loaded, so that ``rankscope --help`` stays light.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from io import TextIOWrapper
from typing import Any, NoReturn

from rankscope import __version__
from rankscope.cli.interrupts import INTERRUPTED, interruptible
from rankscope.cli.targets import refuse_overwriting
from rankscope.cli.terminal import guarded_terminal
from rankscope.errors import RankscopeError, nearest, printable

__all__ = ["COMMANDS", "main"]

COMMANDS = {
    "eval": "means of measures over topics, and with -q the value of every topic",
    "compare": "runs against a baseline or each other: tests, effect sizes, corrections",
    "features": "what collections are made of, and how deep their pools are",
    "curve": "one run on one topic, rank by rank: grades, relative position, CRP, DCG",
    "effort": "archetypes of runs, effort/gain quadrants, the 2012 indicators",
    "correlate": "correlation between measures over the runs",
    "pools": "robustness of measures to shallow or sampled pools",
    "power": "discriminative power of measures",
    "bounds": "lower and upper bounds of RBP by depth",
    "orderings": "what the ordering of a run file does to measures",
    "overlap": "how alike the lists of runs are: rank-biased overlap, common documents",
    "study": "the experiments of a measure paper in one go, repeatable from a manifest",
    "properties": "what measures guarantee, by exhaustive case analysis",
    "scales": "whether a measure is on an interval scale, and may be averaged",
    "archetypes": "what effort measures can be for each archetype, on every list of small topics",
    "measures": "every measure with parameters, reference and meaning",
    "report": "one self-contained HTML page about a collection",
    "explore": "the same page served interactively to the browser",
    "simulate": "write a synthetic collection",
    "demo": "simulate, evaluate and report: the first thing to run",
    "trec_eval": "drop-in for trec_eval 10: same flags, same output",
    "ndeval": "drop-in for ndeval: same CSV",
    "completion": "print a completion script for bash, zsh or fish",
}
_OWN_GRAMMAR = ("trec_eval",)  # commands whose flags argparse cannot read

_EPILOG = """examples:
  rankscope demo                                        a first look, with a synthetic collection
  rankscope eval qrels.txt bm25.run -m "AP nDCG@10"     means of two measures
  rankscope eval qrels.txt runs/*.gz -q -f csv -o o.csv every topic, into a file
  rankscope curve qrels.txt bm25.run --topic 351        one list, rank by rank
  rankscope properties -m "AP RR ACT"                   what these measures guarantee

`rankscope COMMAND --help` says more about each command."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; the exit code is 0 for done, 2 for bad usage or input, 130 for Ctrl-C, 1 for an error of ours."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    _prepare_streams()
    with interruptible(), _warnings_as_lines():
        return _ended(arguments)


def _ended(arguments: list[str]) -> int:
    try:
        with guarded_terminal():
            code = _dispatch(arguments)
            sys.stdout.flush()
            return code
    except RankscopeError as error:
        return _fail(str(error))
    except BrokenPipeError:  # the reader of our output (head, less) has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        sys.stderr.write("\nrankscope: interrupted\n")
        return INTERRUPTED
    except (OSError, MemoryError) as error:
        return _fail(_describe(error))
    except Exception as error:  # an error of ours: still one line, and a way to see more
        if os.environ.get("RANKSCOPE_TRACEBACK"):
            raise
        where = f"{type(error).__name__}: {error}".splitlines()[0]
        _fail(f"internal error ({where}); please report it (RANKSCOPE_TRACEBACK=1 shows where it happened)")
        return 1


def _dispatch(arguments: list[str]) -> int:
    if arguments and arguments[0] in COMMANDS:
        name, rest = arguments[0], arguments[1:]
        module = import_module(f"rankscope.cli.{name}")
        if name in _OWN_GRAMMAR:
            return int(module.main(rest))
        parser = _Parser(
            prog=f"rankscope {name}",
            description=(module.__doc__ or COMMANDS[name]).strip(),
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        module.add_arguments(parser)
        _add_common(parser)
        args = parser.parse_args(rest)
        args.command = name
        refuse_overwriting(args)
        module.run(args)
        return 0
    _top_parser().parse_args(arguments)
    if not arguments:
        _top_parser().print_help()
        return 0
    known = nearest(arguments[0], COMMANDS)
    return _fail(f"there is no command {arguments[0]!r}; {known or 'see rankscope --help'}")


def _add_common(parser: argparse.ArgumentParser) -> None:
    """Options that every command takes, so that scripts can pass them to any; where they mean nothing, silently."""
    known = {flag for action in parser._actions for flag in action.option_strings}
    if "--seed" not in known:
        parser.add_argument("--seed", type=int, help=argparse.SUPPRESS)
    if "--jobs" not in known:
        parser.add_argument("-j", "--jobs", type=int, help=argparse.SUPPRESS)
    if "--quiet" not in known:
        parser.add_argument("--quiet", action="store_true", help=argparse.SUPPRESS)


class _Parser(argparse.ArgumentParser):
    """argparse with errors of one line, to which ``-2,0=0;1=1`` is a value, as -2 is."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._negative_number_matcher = re.compile(r"-\d")

    def error(self, message: str) -> NoReturn:
        raise SystemExit(_fail(f"{message}; see: {self.prog} --help"))


def _top_parser() -> argparse.ArgumentParser:
    listed = "\n".join(f"  {name:<12}{help}" for name, help in COMMANDS.items())
    parser = _Parser(
        prog="rankscope",
        usage="rankscope COMMAND ...",
        description=f"Measure rankings, and measure the measures.\n\ncommands:\n{listed}",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print versions and the scanner in use")
    parser.add_argument("command", nargs="?", help=argparse.SUPPRESS)
    parser.add_argument("rest", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    return parser


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        from rankscope.scan.backends import backend_name

        print(f"rankscope {__version__} (scanner: {backend_name()}, Python {sys.version.split()[0]})")
        parser.exit()


def _prepare_streams() -> None:
    """Make closed streams harmless, and let a terminal without Unicode show question marks instead of nothing."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: PTH123, SIM115 (pathlib takes long to load)
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")


def _fail(message: str) -> int:
    text = printable(f"rankscope: {message}").encode("utf-8", "backslashreplace").decode()
    sys.stderr.write(text + "\n")
    return 2


def _describe(error: OSError | MemoryError) -> str:
    if isinstance(error, MemoryError):
        return "not enough memory; evaluate fewer runs at a time"
    where = f"{error.filename}: " if error.filename else ""
    return f"{where}{error.strerror or error}; check the path and its permissions"


@contextmanager
def _warnings_as_lines() -> Iterator[None]:
    """A warning is a line, also where ``python -W error`` would make it an error."""
    with warnings.catch_warnings():
        if any(entry[0] == "error" for entry in warnings.filters):
            warnings.simplefilter("default")
        warnings.showwarning = _show_warning
        yield


def _show_warning(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
    sys.stderr.write(printable(f"rankscope: warning: {message}") + "\n")


if __name__ == "__main__":
    sys.exit(main())
