"""The list of commands, which ``rankscope --help``, completion and tests use.

A new command needs one line here.
"""

import os
import sys
from collections.abc import Iterator
from typing import NamedTuple

GROUPS = {
    "evaluate": "how good are the runs?",
    "compare": "which run is better?",
    "inspect": "what happens in the rankings?",
    "trust": "can the numbers be trusted?",
    "study measures": "what do measures say and guarantee?",
    "tools": "",
}
"""Questions by group, in the order of the help."""

EVERYDAY = (
    "eval", "findings", "compare", "gate", "certain", "curve", "report", "explore", "measures", "demo",
)  # fmt: skip
"""Commands that the help shows first."""


class Command(NamedTuple):
    """Group and description of a command; at most 26 characters, so that two commands fit on a line."""

    group: str
    meaning: str


COMMANDS = {
    "eval": Command("evaluate", "means, and topics with -q"),
    "findings": Command("evaluate", "main results as sentences"),
    "trec_eval": Command("evaluate", "the output of trec_eval 10"),
    "ndeval": Command("evaluate", "the output of ndeval"),
    "compare": Command("compare", "tests and effect sizes"),
    "gate": Command("compare", "fail if worse, for CI"),
    "bench": Command("compare", "systems over many tasks"),
    "overlap": Command("compare", "similarity of rankings"),
    "verdict": Command("trust", "better by which measures?"),
    "curve": Command("inspect", "one ranking, rank by rank"),
    "effort": Command("inspect", "effort against gain"),
    "report": Command("inspect", "all views in an HTML file"),
    "explore": Command("inspect", "the report in the browser"),
    "bounds": Command("trust", "RBP bounds (residuals)"),
    "certain": Command("trust", "can the order be reversed?"),
    "next": Command("trust", "what to judge next"),
    "pools": Command("trust", "robust to fewer judgments?"),
    "leave-out": Command("trust", "bias against unpooled runs"),
    "judges": Command("trust", "do the judges agree?"),
    "correct": Command("trust", "correct a machine judge"),
    "orderings": Command("trust", "how run files are sorted"),
    "measures": Command("study measures", "explain measures"),
    "correlate": Command("study measures", "do they agree on runs?"),
    "power": Command("study measures", "discriminative power"),
    "properties": Command("study measures", "what they guarantee"),
    "scales": Command("study measures", "may they be averaged?"),
    "identify": Command("study measures", "which measure is this code"),
    "study": Command("study measures", "all experiments of a paper"),
    "cite": Command("tools", "BibTeX of measures used"),
    "demo": Command("tools", "try it with example data"),
    "simulate": Command("tools", "a synthetic collection"),
    "completion": Command("tools", "for bash, zsh or fish"),
    "help": Command("tools", "this, or help of a command"),
}
OWN_GRAMMAR = ("trec_eval",)
"""Commands whose flags argparse cannot read."""
NO_MATRICES = ("eval", "trec_eval", "ndeval", "curve", "report", "explore", "findings", "overlap")
"""Commands that multiply no large matrices: BLAS threads would only delay them, and wait busily for each other."""


def program() -> str:
    """Return the shell command that starts this program: its name, its path, or ``python -m rankscope``."""
    import shlex
    import shutil

    called = sys.argv[0] if sys.argv else ""
    installed = shutil.which("rankscope")
    if os.path.basename(called).partition(".")[0] != "rankscope":  # noqa: PTH119 (pathlib takes long to load)
        return f"{shlex.quote(_shorten_path(sys.executable or 'python3'))} -m rankscope"
    if installed is not None and os.path.realpath(installed) == os.path.realpath(called):
        return "rankscope"
    return shlex.quote(_shorten_path(called))


def _shorten_path(path: str) -> str:
    """Return the relative path if it stays below the current folder."""
    inside = os.path.relpath(path)
    return path if inside.startswith("..") else inside


def help_lines() -> Iterator[str]:
    """Yield the everyday commands, one on a line, then the others by group, two on a line.

    >>> for line in list(help_lines())[:3]: print(line)
    everyday commands
      eval        means, and topics with -q
      findings    main results as sentences
    """
    yield "everyday commands"
    yield from (f"  {name:<12}{COMMANDS[name].meaning}" for name in EVERYDAY)
    yield from ("", "more commands")
    for group, question in GROUPS.items():
        commands = {name: c for name, c in COMMANDS.items() if c.group == group and name not in EVERYDAY}
        if commands:
            yield f"{group}: {question}".rstrip(": ")
        cells = [f"{name:<12}{command.meaning:<26}" for name, command in commands.items()]
        for left, right in zip(cells[::2], [*cells[1::2], ""], strict=False):
            yield f"  {left}  {right}".rstrip()
