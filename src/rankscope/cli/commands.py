"""The commands, each with the question that it answers: what ``rankscope --help``, completion and tests go by.

A new command is a module of this package and a line here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

__all__ = [
    "COMMANDS",
    "GROUPS",
    "NO_MATRICES",
    "OWN_GRAMMAR",
    "Command",
    "listed",
    "program",
]

GROUPS = {
    "evaluate": "how good are the runs?",
    "compare": "which run is better?",
    "look": "what happens in the lists?",
    "doubt": "can the numbers be trusted?",
    "study measures": "what do measures say, and what do they promise?",
    "tools": "",
}


class Command(NamedTuple):
    """The group of a command, and its meaning in at most 26 characters, so that two fit on a line."""

    group: str
    meaning: str


COMMANDS = {
    "eval": Command("evaluate", "means, and topics with -q"),
    "features": Command("evaluate", "what a collection is like"),
    "findings": Command("evaluate", "what matters, in sentences"),
    "trec_eval": Command("evaluate", "the output of trec_eval 10"),
    "ndeval": Command("evaluate", "the output of ndeval"),
    "coverage": Command("evaluate", "aspects covered by rank"),
    "compare": Command("compare", "tests and effect sizes"),
    "gate": Command("compare", "fail if worse, for CI"),
    "overlap": Command("compare", "how alike the lists are"),
    "verdict": Command("doubt", "better by which measures?"),
    "curve": Command("look", "one list, rank by rank"),
    "effort": Command("look", "effort against gain"),
    "report": Command("look", "all of it on one HTML page"),
    "explore": Command("look", "the page, in the browser"),
    "bounds": Command("doubt", "unjudged documents and RBP"),
    "certain": Command("doubt", "can the order be reversed?"),
    "next": Command("doubt", "what to judge next"),
    "pools": Command("doubt", "fewer judgments"),
    "leave-out": Command("doubt", "bias to pooled runs"),
    "ranks": Command("doubt", "how firm is the order?"),
    "judges": Command("doubt", "do the judges agree?"),
    "orderings": Command("doubt", "how run files are sorted"),
    "measures": Command("study measures", "every measure explained"),
    "correlate": Command("study measures", "do they agree on runs?"),
    "power": Command("study measures", "pairs of runs told apart"),
    "properties": Command("study measures", "what they guarantee"),
    "scales": Command("study measures", "may they be averaged?"),
    "identify": Command("study measures", "which one is this code?"),
    "study": Command("study measures", "a measure paper in one go"),
    "cite": Command("tools", "BibTeX of what was used"),
    "demo": Command("tools", "the first thing to run"),
    "simulate": Command("tools", "a synthetic collection"),
    "completion": Command("tools", "for bash, zsh or fish"),
    "help": Command("tools", "this, or one command's"),
}
OWN_GRAMMAR = ("trec_eval",)
"""Commands whose flags argparse cannot read."""
NO_MATRICES = ("eval", "trec_eval", "ndeval", "curve")
"""Commands that multiply no large matrices, so that threads for it would only make their start longer."""


def program() -> str:
    """What to type in this shell to run the program again: its name, its path, or Python with the module."""
    import os
    import shlex
    import shutil
    import sys

    called = sys.argv[0] if sys.argv else ""
    found = shutil.which("rankscope")
    if os.path.basename(called).partition(".")[0] != "rankscope":  # noqa: PTH119 (pathlib takes long to load)
        return f"{shlex.quote(_near(sys.executable or 'python3'))} -m rankscope"
    if found is not None and os.path.realpath(found) == os.path.realpath(called):
        return "rankscope"
    return shlex.quote(_near(called))


def _near(path: str) -> str:
    """A path from here, if that is no detour."""
    import os

    inside = os.path.relpath(path)
    return path if inside.startswith("..") else inside


def listed() -> Iterator[str]:
    """The commands by group, two on a line.

    >>> for line in list(listed())[:3]: print(line)
    evaluate: how good are the runs?
      eval        means, and topics with -q   features    what a collection is like
      findings    what matters, in sentences  trec_eval   the output of trec_eval 10
    """
    for group, question in GROUPS.items():
        yield f"{group}: {question}".rstrip(": ")
        cells = [f"{name:<12}{one.meaning:<26}" for name, one in COMMANDS.items() if one.group == group]
        for left, right in zip(cells[::2], [*cells[1::2], ""], strict=False):
            yield f"  {left}  {right}".rstrip()
