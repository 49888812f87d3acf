"""Pages of commands, generated from their parsers."""

from __future__ import annotations

import argparse
import inspect
import os
import re
from importlib import import_module

from book.pages import ORPHAN
from rankscope.cli.commands import COMMANDS, GROUPS, OWN_GRAMMAR
from rankscope.cli.main import command_parser

FOLDER = "reference/commands"
_WIDTH = "100"


def pages() -> dict[str, str]:
    """Return a page for each command, and an index by group."""
    return {
        f"{FOLDER}/index.md": _index(),
        **{f"{FOLDER}/{name}.md": ORPHAN + page(name) for name in COMMANDS},
    }


def _index() -> str:
    lines = [
        "# Commands",
        "",
        "`rankscope COMMAND QRELS RUN [RUN ...] [options]`. These pages are generated from the program;",
        "`rankscope help eval` prints the same in a terminal.",
        "",
    ]
    for group, question in GROUPS.items():
        lines += [
            f"## {group.capitalize()}" + (f": {question}" if question else ""),
            "",
            "| command | |",
            "|---|---|",
        ]
        lines += [
            f"| [{name}]({name}.md) | {_cell(command.meaning)} |"
            for name, command in COMMANDS.items()
            if command.group == group
        ]
        lines.append("")
    return "\n".join(lines)


def page(name: str) -> str:
    """Return the page of a command: purpose, examples and options."""
    lines = [f"# rankscope {name}", ""]
    if name in OWN_GRAMMAR:
        module = import_module(f"rankscope.cli.{name}")
        lines += [
            *_described(module.__doc__ or ""),
            "It takes the options of trec_eval: [trec_eval](../../trec_eval.md#options).",
        ]
        return "\n".join(lines) + "\n"
    parser = command_parser(name)
    lines += ["```text", _usage(parser), "```", "", *_described(parser.description or "")]
    actions = [action for action in parser._actions if action.help != argparse.SUPPRESS]
    for title, members in (
        ("Arguments", [action for action in actions if not action.option_strings]),
        ("Options", [action for action in actions if action.option_strings]),
    ):
        if members:
            lines += [f"## {title}", "", "| | meaning |", "|---|---|"]
            lines += [f"| {_names(action)} | {_meaning(action)} |" for action in members]
            lines.append("")
    return "\n".join(lines)


def _described(text: str) -> list[str]:
    """Convert a docstring to Markdown: paragraphs, and examples as commands."""
    lines: list[str] = []
    for paragraph in inspect.cleandoc(text).split("\n\n"):
        head, *rest = paragraph.splitlines()
        if head == "examples:":
            lines += ["```sh", *map(_example, rest), "```", ""]
        elif rest and all(line.startswith("  ") for line in rest):
            lines += [f"{_text(head)}", "", "```text", *(line[2:] for line in rest), "```", ""]
        else:
            lines += [_text(paragraph), ""]
    return lines


def _example(line: str) -> str:
    """Return a command with its purpose as a comment."""
    command, *comment = re.split(r"\s{3,}", line.strip(), maxsplit=1)
    return command + (f"  # {comment[0]}" if comment else "")


def _usage(parser: argparse.ArgumentParser) -> str:
    before = os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = _WIDTH
    try:
        return parser.format_usage().strip()
    finally:
        if before is None:
            del os.environ["COLUMNS"]
        else:
            os.environ["COLUMNS"] = before


def _names(action: argparse.Action) -> str:
    if not action.option_strings:
        return f"`{action.metavar or action.dest}`"
    value = ""
    if action.nargs != 0:
        shown = action.metavar or (
            "{" + ",".join(map(str, action.choices)) + "}" if action.choices else action.dest.upper()
        )
        value = " " + (" ".join(shown) if isinstance(shown, tuple) else shown)
    return ", ".join(
        f"`{flag}{value if flag == action.option_strings[-1] else ''}`" for flag in action.option_strings
    )


def _meaning(action: argparse.Action) -> str:
    text = (action.help or "").replace("%(default)s", str(action.default)).replace("%%", "%")
    if not text and action.choices:
        text = "one of " + ", ".join(map(str, action.choices))
    return _cell(text)


def _text(text: str) -> str:
    """Escape text of the terminal for Markdown; only code is markup."""
    return re.sub(r"(?<![`\w])([*_<])", r"\\\1", text.replace("``", "`"))


def _cell(text: str) -> str:
    return _text(text).replace("|", "\\|").replace("\n", " ")
