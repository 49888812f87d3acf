"""The pages of the measures: those of docs/measures, with the formula set in type, what to mind, and the BibTeX."""

from __future__ import annotations

import re

from book.formulas import set_formula
from book.pages import DOCS, ORPHAN, for_the_site
from rankscope.citations import find_keys, load_entries
from rankscope.measures import REGISTRY, Measure

_FORMULA = re.compile(r"^```\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def pages() -> dict[str, str]:
    """A page for each measure."""
    made = {}
    for path in sorted((DOCS / "measures").glob("*.md")):
        if path.stem != "README":
            place = f"measures/{path.name}"
            text = for_the_site(place, f"docs/{place}", path.read_text("utf-8"))
            made[place] = ORPHAN + page(REGISTRY[path.stem], text)
    return made


def page(measure: Measure, text: str) -> str:
    """The page of a measure, completed."""
    typed = f'```{{raw}} html\n<div class="formula">{set_formula(measure.formula)}</div>\n```'
    text = _FORMULA.sub(lambda _: typed, text, count=1)
    keys = find_keys(measure.reference)
    lines = [text.rstrip(), "", "## What to mind", "", *(f"- {one}" for one in pitfalls(measure)), ""]
    lines += ["## To cite it", "", "```sh", f"rankscope cite -m {_named(measure)}", "```", ""]
    lines += [
        "```bibtex",
        *(load_entries()[key].replace(", title", ",\n  title", 1) for key in keys),
        "```",
        "",
    ]
    return "\n".join(lines)


def pitfalls(measure: Measure) -> list[str]:
    """What goes wrong with a measure, as far as its definition says it."""
    found = []
    if measure.better == "lower":
        found.append("Lower values are better: tables and tests here know it, a spreadsheet does not.")
    if measure.better == "neither":
        found.append("It describes a list; no value of it is better than another.")
    if measure.needs_aspects:
        found.append(
            "It needs judgments by aspect; documents that are judged without aspects have a single one."
        )
    if measure.cutoff_rule == "required":
        found.append(
            f"It needs a cutoff, and values at different cutoffs are different measures: `{_named(measure)}`."
        )
    elif measure.default_cutoff is not None:
        found.append(
            f"Lists are evaluated to rank {measure.default_cutoff:g} unless a cutoff is named; say which in a paper."
        )
    if "max_grade" in measure.parameters:
        found.append(
            "The best grade is that of the collection unless `max_grade` is set, so that the same list can have"
            " another value in another collection."
        )
    if measure.summary != "mean":
        found.append(f"Over topics it is the {measure.summary}, not the mean.")
    if "rel" in measure.parameters:
        found.append("Grades below `rel` count as not relevant, also where a person meant “somewhat”.")
    if not found:
        found.append(
            "A document without a judgment counts as not relevant unless `--unjudged` says otherwise."
        )
    found.append("Means over topics assume that its steps mean the same everywhere: [Scales](../scales.md).")
    return found


def _named(measure: Measure) -> str:
    if measure.cutoff_rule != "required":
        return measure.name
    return f"{measure.name}@{0.1 if 'recall' in measure.cutoff_meaning else 10}"
