"""A row of the page: an item of a paper, its command, the published value and ours."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from papers.running import needs, run_source

EQUAL = "equal"
HOLDS = "holds"
DIFFERS = "differs"
OTHER_DATA = "other data"
SHOWN = "shown"
PEOPLE = "needs people"
OPEN = "open"
STATUSES = {
    EQUAL: "the paper prints the same value",
    HOLDS: "the paper claims it without printing it, and the claim is true",
    DIFFERS: "the paper prints or claims something else; the reason is given",
    OTHER_DATA: "the paper's runs are not public; computed with the collections below instead",
    SHOWN: "the paper prints no number (a definition, a sketch, an announcement); the command computes or draws it",
    PEOPLE: "cannot be computed: it needs a study with people",
    OPEN: "no command computes it yet",
}


@dataclass(frozen=True)
class Detail:
    """A table below the main one, for items with more numbers than a cell holds."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""


@dataclass(frozen=True)
class Row:
    """One item of a paper.

    `command` is a rankscope command with the variables of the page, `python` an expression; `ours`, `why` and `detail` take
    the result of either. If the paper claims something without printing it, `holds` decides whether the claim is true; a row
    is equal only if the paper prints our value. `people` names what only a study with people can show, `waits` what is
    missing until a command computes the item.
    """

    item: str
    what: str
    command: str = ""
    python: str = ""
    paper: str = ""
    ours: Callable[[Any], str] | None = None
    why: str | Callable[[Any], str] = ""
    detail: Callable[[Any], Detail] | None = None
    holds: Callable[[Any], bool] | None = None
    people: str = ""
    waits: str = ""

    @property
    def needs(self) -> frozenset[str]:
        """Collections that the row needs."""
        return needs(self.command or self.python)


@dataclass(frozen=True)
class Made:
    """Result of a row: cells, status, and the table below if there is one."""

    cells: tuple[str, ...]
    status: str
    detail: Detail | None = None

    @property
    def line(self) -> str:
        """Line of the table in Markdown."""
        return "| " + " | ".join(cell.replace("|", "\\|") for cell in self.cells) + " |"


def make(row: Row) -> Made:
    """Run a row."""
    if row.waits:
        return Made((row.item, row.what, "", row.paper, "", f"**{OPEN}**: {row.waits}"), OPEN)
    if row.people:
        return Made((row.item, row.what, "", row.paper, "", f"**{PEOPLE}**: {row.people}"), PEOPLE)
    if row.ours is None:
        raise ValueError(f"{row.item}: has a command, but no function that formats its result")
    result = run_source(row.command, row.python)
    result_text = row.ours(result)
    why = row.why(result) if callable(row.why) else row.why
    status = _status(row, result_text) if row.holds is None else HOLDS if row.holds(result) else DIFFERS
    if status == DIFFERS and not why:
        raise ValueError(
            f"{row.item}: the paper has {row.paper!r}, we have {result_text!r}, and no reason is given"
        )
    shown = f"`{row.command or row.python}`"
    detail = row.detail(result) if row.detail else None
    return Made((row.item, row.what, shown, row.paper, result_text, _because(status, why)), status, detail)


def _status(row: Row, ours: str) -> str:
    if not row.paper:
        return SHOWN
    if row.paper == ours:
        return EQUAL
    return OTHER_DATA if row.needs else DIFFERS


def _because(status: str, why: str) -> str:
    return f"**{status}**: {why}" if why else f"**{status}**"
