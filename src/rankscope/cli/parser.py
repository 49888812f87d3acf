"""Parses arguments and formats help: argparse with one-line errors, and help that fits the terminal."""

import argparse
import re
import sys
import textwrap
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

from rankscope.errors import printable, suggest_names
from rankscope.text_layout import terminal_columns

_MAX_WIDTH = 100  # Longer lines are hard to read.


def fail(message: str) -> int:
    """Print an error message and return the exit code."""
    text = printable(f"rankscope: {message}").encode("utf-8", "backslashreplace").decode()
    sys.stderr.write(text + "\n")
    return 2


def note(args: argparse.Namespace, text: str) -> None:
    """Print a note to standard error unless --quiet is set."""
    if args.quiet:
        return
    line = printable(f"rankscope: {text}")
    if sys.stderr.isatty():
        width = terminal_columns()
        line = textwrap.fill(
            line, width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
        )
    sys.stderr.write(line + "\n")


class Help(argparse.HelpFormatter):
    """Formatter that wraps paragraphs at the width of the terminal, and examples where a shell allows line breaks."""

    def __init__(self, prog: str, **options: Any) -> None:
        columns = min(_MAX_WIDTH, terminal_columns())
        super().__init__(prog, **{"width": columns - 1, "max_help_position": 26, **options})

    def _format_usage(self, usage: Any, actions: Any, groups: Any, prefix: Any) -> str:
        """Show required arguments only; the other options are explained below."""
        positional = [action for action in actions if not action.option_strings]
        required = [action for action in actions if action.option_strings and action.required]
        words = [
            self._prog,
            *(self._format_args(action, str(action.metavar or action.dest)) for action in positional),
            *map(self._format_action_invocation, required),
        ]
        return (
            textwrap.fill(f"usage: {' '.join(words)} [options]", self._width, subsequent_indent="  ") + "\n\n"
        )

    def _format_action_invocation(self, action: argparse.Action) -> str:
        """Show all names of an option, and its value once."""
        if not action.option_strings or action.nargs == 0:
            return super()._format_action_invocation(action)
        value = self._format_args(action, self._get_default_metavar_for_optional(action))
        return f"{', '.join(action.option_strings)} {value}"

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return "\n\n".join(map(self._wrap, text.strip("\n").split("\n\n")))

    def _wrap(self, paragraph: str) -> str:
        head, *lines = paragraph.splitlines()
        if head == "examples:":
            return "\n".join([head, *(line for text in lines for line in _wrap_example(text, self._width))])
        if paragraph.startswith("  "):  # preformatted lines, such as a table or formulas
            wrap = textwrap.TextWrapper(self._width, subsequent_indent=" " * 8, break_on_hyphens=False)
            return "\n".join(
                line if len(line) <= self._width else wrap.fill(line) for line in paragraph.splitlines()
            )
        return textwrap.fill(paragraph, self._width, break_on_hyphens=False)


def _wrap_example(line: str, width: int) -> Iterator[str]:
    """Yield the lines of an example: a command and, three or more spaces after it, a comment.

    >>> list(_wrap_example("  rankscope eval q.txt runs/ -m 'AP RR' -f csv   for others", 36))
    ['  # for others', '  rankscope eval q.txt runs/ \\\\', "      -m 'AP RR' -f csv"]
    """
    # A copied line must run without changes.
    line = re.sub(r"(?<=\S)(\s{3,})(?=[^\s#])", r"\1# ", line, count=1)
    if len(line) <= width:
        yield line
        return
    command, *comment = re.split(r"\s{3,}", line.strip(), maxsplit=1)
    if comment:
        yield from textwrap.wrap(comment[0], width, initial_indent="  ", subsequent_indent="  # ")
    current = "  "
    for part in _split_command(command):
        if len(current) + len(part) + 3 > width and current.strip():
            yield f"{current.rstrip()} \\"
            current = "      "
        current += f"{part} "
    yield current.rstrip()


def _split_command(command: str) -> list[str]:
    """Split a command into words, and keep options together with their values."""
    words = re.findall(r"""(?:[^\s"']|"[^"]*"|'[^']*')+""", command)
    parts: list[str] = []
    for before, word in zip(["", *words], words, strict=False):
        if before.startswith("-") and not word.startswith("-"):
            parts[-1] += f" {word}"
        else:
            parts.append(word)
    return parts


class Parser(argparse.ArgumentParser):
    """argparse with one-line errors; ``-2,0=0;1=1`` is a value, as -2 is, and options cannot be abbreviated."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"formatter_class": Help, "allow_abbrev": False, **options})
        self.color = False  # Python 3.14 would add escape sequences, which the guarded terminal escapes.
        self._negative_number_matcher = re.compile(r"-\d")

    def error(self, message: str) -> NoReturn:
        raise SystemExit(fail(f"{message}; see: {self.prog} --help"))

    def read(self, words: Sequence[str]) -> argparse.Namespace:
        """Parse the arguments; unknown options are reported before errors that they may cause."""
        words = list(words)
        for word in words[: words.index("--")] if "--" in words else words:
            name = word.partition("=")[0]
            if name.startswith("--") and " " not in word and name not in self._option_string_actions:
                self._reject(name)
        args, unparsed = self.parse_known_args(words)
        for word in unparsed:
            if word.startswith("-") and word != "-":
                self._reject(word)
        if unparsed:
            self.error(f"too many arguments: {' '.join(unparsed)}")
        return args

    def _reject(self, name: str) -> NoReturn:
        """Report an unknown option, with the most similar one."""
        shown = [action for action in self._actions if action.help != argparse.SUPPRESS]
        words = {
            flag[2:]: flag for action in shown for flag in action.option_strings if flag.startswith("--")
        }
        close = suggest_names(name[2:], words, max_names=1) if name.startswith("--") else ""
        hint = close.replace("mean ", "mean --")
        raise SystemExit(fail(f"there is no option {name}; {hint or f'see: {self.prog} --help'}"))
