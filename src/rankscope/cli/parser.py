"""How arguments are read, and help is written: argparse with errors of one line, and lines that a terminal can hold."""

from __future__ import annotations

import argparse
import os
import re
import sys
import textwrap
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

from rankscope.errors import printable, suggest_names

__all__ = ["Help", "Parser", "fail", "note"]

_WIDEST = 100


def fail(message: str) -> int:
    """Say in one line what went wrong; the exit code."""
    text = printable(f"rankscope: {message}").encode("utf-8", "backslashreplace").decode()
    sys.stderr.write(text + "\n")
    return 2


def note(args: argparse.Namespace, text: str) -> None:
    """A line for people, not for programs, unless they want quiet."""
    if args.quiet:
        return
    line = printable(f"rankscope: {text}")
    if sys.stderr.isatty():
        columns = _terminal_columns()
        line = textwrap.fill(
            line, columns, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
        )
    sys.stderr.write(line + "\n")


def _terminal_columns() -> int:
    """As shutil.get_terminal_size has it, which takes longer to load than all arguments to be read."""
    columns = os.environ.get("COLUMNS", "")
    if columns.isascii() and columns.isdigit() and int(columns):
        return int(columns)
    try:
        return os.get_terminal_size(sys.__stdout__.fileno()).columns or 80  # type: ignore[union-attr]
    except (AttributeError, ValueError, OSError):  # no standard output, or no terminal
        return 80


class Help(argparse.HelpFormatter):
    """Help in lines of the terminal's width: paragraphs are filled, examples broken where a shell allows it."""

    def __init__(self, prog: str, **options: Any) -> None:
        columns = min(_WIDEST, _terminal_columns())
        super().__init__(prog, **{"width": columns - 1, "max_help_position": 26, **options})

    def _format_usage(self, usage: Any, actions: Any, groups: Any, prefix: Any) -> str:
        """What must be given; the options are explained below."""
        places = [action for action in actions if not action.option_strings]
        needed = [action for action in actions if action.option_strings and action.required]
        words = [
            self._prog,
            *(self._format_args(action, str(action.metavar or action.dest)) for action in places),
        ]
        words += [self._format_action_invocation(action) for action in needed]
        return (
            textwrap.fill(f"usage: {' '.join(words)} [options]", self._width, subsequent_indent="  ") + "\n\n"
        )

    def _format_action_invocation(self, action: argparse.Action) -> str:
        """The names of an option, and its value once."""
        if not action.option_strings or action.nargs == 0:
            return super()._format_action_invocation(action)
        value = self._format_args(action, self._get_default_metavar_for_optional(action))
        return f"{', '.join(action.option_strings)} {value}"

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return "\n\n".join(map(self._filled, text.strip().split("\n\n")))

    def _filled(self, paragraph: str) -> str:
        head, *lines = paragraph.splitlines()
        if head == "examples:":
            return "\n".join([head, *(line for text in lines for line in _example(text, self._width))])
        return textwrap.fill(paragraph, self._width, break_on_hyphens=False)


def _example(line: str, width: int) -> Iterator[str]:
    """A command and, three or more spaces after it, what it is for.

    >>> list(_example("  rankscope eval q.txt runs/ -m 'AP RR' -f csv   for others", 36))
    ['  # for others', '  rankscope eval q.txt runs/ \\\\', "      -m 'AP RR' -f csv"]
    """
    if len(line) <= width:
        yield line
        return
    command, *comment = re.split(r"\s{3,}", line.strip(), maxsplit=1)
    if comment:
        yield from textwrap.wrap(f"# {comment[0]}", width, initial_indent="  ", subsequent_indent="  # ")
    shown = "  "
    for part in _parts(command):
        if len(shown) + len(part) + 3 > width and shown.strip():
            yield f"{shown.rstrip()} \\"
            shown = "      "
        shown += f"{part} "
    yield shown.rstrip()


def _parts(command: str) -> list[str]:
    """The words of a command as they are written, options together with their values."""
    words = re.findall(r"""(?:[^\s"']|"[^"]*"|'[^']*')+""", command)
    parts: list[str] = []
    for before, word in zip(["", *words], words, strict=False):
        if before.startswith("-") and not word.startswith("-"):
            parts[-1] += f" {word}"
        else:
            parts.append(word)
    return parts


class Parser(argparse.ArgumentParser):
    """argparse with errors of one line; ``-2,0=0;1=1`` is a value to it, as -2 is, and half a word no option."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"formatter_class": Help, "allow_abbrev": False, **options})
        self.color = False  # colours are the terminal's affair (Python 3.14)
        self._negative_number_matcher = re.compile(r"-\d")

    def error(self, message: str) -> NoReturn:
        raise SystemExit(fail(f"{message}; see: {self.prog} --help"))

    def read(self, words: Sequence[str]) -> argparse.Namespace:
        """What the arguments say; an option that there is not is answered before anything that may follow from it."""
        words = list(words)
        for word in words[: words.index("--")] if "--" in words else words:
            name = word.partition("=")[0]
            if name.startswith("--") and " " not in word and name not in self._option_string_actions:
                self._unknown(name)
        found, left = self.parse_known_args(words)
        for word in left:
            if word.startswith("-") and word != "-":
                self._unknown(word)
        if left:
            self.error(f"too many arguments: {' '.join(left)}")
        return found

    def _unknown(self, name: str) -> NoReturn:
        shown = [action for action in self._actions if action.help != argparse.SUPPRESS]
        words = {
            flag[2:]: flag for action in shown for flag in action.option_strings if flag.startswith("--")
        }
        close = suggest_names(name[2:], words, max_names=1) if name.startswith("--") else ""
        hint = close.replace("mean ", "mean --")
        raise SystemExit(fail(f"there is no option {name}; {hint or f'see: {self.prog} --help'}"))
