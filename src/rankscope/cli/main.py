"""Entry point of ``rankscope COMMAND``: runs the command and reports every error in one line.

Only the module of the requested command is imported, so that ``rankscope --help`` starts fast.
"""

import argparse
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from io import TextIOWrapper
from typing import Any, NoReturn

from rankscope import __version__
from rankscope.cli.commands import COMMANDS, NO_MATRICES, OWN_GRAMMAR, help_lines
from rankscope.cli.interrupts import INTERRUPTED, interruptible
from rankscope.cli.parser import Parser, fail
from rankscope.cli.targets import validate_targets
from rankscope.cli.terminal import guarded_terminal
from rankscope.errors import RankscopeError, printable, suggest_names
from rankscope.progress import silence

_EPILOG = """try: rankscope demo
     rankscope eval qrels.txt runs/*.gz -m "AP nDCG@10"
rankscope help COMMAND explains one, rankscope measures NAME a measure."""


def main(argv: Sequence[str] | None = None, run: Callable[[list[str]], int] | None = None) -> int:
    """Run a command, or another program, and return its exit code.

    0 is success, 2 bad usage or input, 130 an interrupt (Ctrl-C), and 1 an internal error, or in ``gate`` a run that
    is worse than its baseline.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    _prepare_streams()
    with interruptible(), _warnings_as_lines():
        return _run_safely(arguments, run or dispatch)


def _run_safely(arguments: list[str], run: Callable[[list[str]], int]) -> int:
    """Run a command, and convert exceptions to a message and an exit code."""
    try:
        with guarded_terminal():
            code = run(arguments)
            sys.stdout.flush()
            return code
    except RankscopeError as error:
        return fail(str(error))
    except BrokenPipeError:  # The reader of the output (head, less) has closed the pipe.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        sys.stderr.write("\nrankscope: interrupted\n")
        return INTERRUPTED
    except (OSError, MemoryError) as error:
        return fail(_describe(error))
    except Exception as error:  # A bug: still reported in one line, with a way to see the traceback.
        if os.environ.get("RANKSCOPE_TRACEBACK"):
            raise
        location = f"{type(error).__name__}: {error}".splitlines()[0]
        fail(f"internal error ({location}); please report it (RANKSCOPE_TRACEBACK=1 shows where it happened)")
        return 1


def dispatch(arguments: list[str]) -> int:
    """Run the command that the arguments name, or print the help, and return the exit code."""
    if arguments and arguments[0] in COMMANDS:
        name, rest = arguments[0], arguments[1:]
        if name in NO_MATRICES and "numpy" not in sys.modules:
            _switch_off_blas_threads()
        module = command_module(name)
        if name in OWN_GRAMMAR:
            return int(module.main(rest))
        parser = command_parser(name)
        args = parser.read(rest)
        args.command = name
        validate_targets(args)
        return _run(module, args)
    if arguments and (not arguments[0].startswith("-") or arguments[0] in ("-", "--")):
        hint = suggest_names(arguments[0], COMMANDS) or "see rankscope --help"
        return fail(f"there is no command {arguments[0]!r}; {hint}")
    _top_parser().read(arguments)
    _top_parser().print_help()
    return 0


def _switch_off_blas_threads() -> None:
    """Start no BLAS threads, which takes time, unless the user sets their number."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def command_module(name: str) -> Any:
    """Return the module of a command, or the command derived from the analysis of the same name."""
    if find_spec(f"rankscope.cli.{name}") is not None:
        return import_module(f"rankscope.cli.{name}")
    import rankscope
    from rankscope.cli.derived import DerivedCommand

    return DerivedCommand(getattr(rankscope, name.replace("-", "_")))


def command_parser(name: str) -> Parser:
    """Return the argument parser of a command."""
    module = command_module(name)
    parser = Parser(prog=f"rankscope {name}", description=module.__doc__)
    module.add_arguments(parser)
    _add_common(parser)
    return parser


def _run(module: Any, args: argparse.Namespace) -> int:
    """Run the command on the engine of --engine, and return its exit code (0 by default)."""
    silence(args.quiet)
    if args.engine is None and args.jobs is None:  # Commands such as help do not load the engines.
        return int(module.run(args) or 0)
    from rankscope.engines import using

    with using(args.engine, args.jobs):
        return int(module.run(args) or 0)


def _add_common(parser: argparse.ArgumentParser) -> None:
    """Add options that every command accepts, so that scripts can pass them to any; some commands ignore them."""
    number, flag_only = {"type": int}, {"action": "store_true"}
    common: dict[str, Any] = {"--seed": number, "--jobs": number, "--engine": {}, "--quiet": flag_only}
    for flag, options in common.items():
        if flag not in parser._option_string_actions:
            short = ("-j",) if flag == "--jobs" else ()
            parser.add_argument(*short, flag, help=argparse.SUPPRESS, **options)


def _top_parser() -> Parser:
    parser = _Top(prog="rankscope")
    parser.add_argument("--version", action=_Version, nargs=0, help="print versions and the scanner in use")
    return parser


class _Top(Parser):
    """Parser whose help lists everyday commands first, then the others by group."""

    def format_help(self) -> str:
        head = "usage: rankscope COMMAND ...     Evaluates rankings, and studies measures."
        return "\n".join([head, "", *help_lines(), "", _EPILOG, ""])


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        from rankscope.native.scanner import backend_name

        print(f"rankscope {__version__} (scanner: {backend_name()}, Python {sys.version.split()[0]})")
        parser.exit()


def _prepare_streams() -> None:
    """Replace closed streams by the null device, and unencodable characters by question marks."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: PTH123, SIM115 (pathlib takes long to load)
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")


def _describe(error: OSError | MemoryError) -> str:
    if isinstance(error, MemoryError):
        return "not enough memory; evaluate fewer runs at a time"
    location = f"{error.filename}: " if error.filename else ""
    return f"{location}{error.strerror or error}; check the path and its permissions"


@contextmanager
def _warnings_as_lines() -> Iterator[None]:
    """Print each warning on one line, even under ``python -W error``."""
    with warnings.catch_warnings():
        if any(entry[0] == "error" for entry in warnings.filters):
            warnings.simplefilter("default")
        warnings.showwarning = _show_warning
        yield


def _show_warning(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
    sys.stderr.write(printable(f"rankscope: warning: {message}") + "\n")


if __name__ == "__main__":
    sys.exit(main())
