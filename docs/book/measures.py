"""Pages of measures: docs/measures with MathML, pitfalls and BibTeX added."""

from __future__ import annotations

import re

from book.formulas import set_formula
from book.pages import DOCS, ORPHAN, for_the_site
from rankscope.citations import find_keys, load_entries
from rankscope.measures import REGISTRY, Measure

_FORMULA = re.compile(r"^```\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def pages() -> dict[str, str]:
    """Return a page for each measure."""
    sources = {}
    for path in sorted((DOCS / "measures").glob("*.md")):
        if path.stem != "README":
            target = f"measures/{path.name}"
            text = for_the_site(target, f"docs/{target}", path.read_text("utf-8"))
            sources[target] = ORPHAN + page(REGISTRY[path.stem], text)
    return sources


def page(measure: Measure, text: str) -> str:
    """Add the formula in MathML, pitfalls and BibTeX to the page of a measure."""
    typed = f'```{{raw}} html\n<div class="formula">{set_formula(measure.formula)}</div>\n```'
    text = _FORMULA.sub(lambda _: typed, text, count=1)
    keys = find_keys(measure.reference)
    lines = [text.rstrip(), "", "## Pitfalls", "", *(f"- {pitfall}" for pitfall in pitfalls(measure)), ""]
    lines += ["## Citation", "", "```sh", f"rankscope cite -m {_named(measure)}", "```", ""]
    lines += [
        "```bibtex",
        *(load_entries()[key].replace(", title", ",\n  title", 1) for key in keys),
        "```",
        "",
    ]
    return "\n".join(lines)


def pitfalls(measure: Measure) -> list[str]:
    """Return the pitfalls that follow from the declaration of a measure."""
    sentences = []
    if measure.better == "lower":
        sentences.append(
            "Lower values are better: tables and tests here take this into account, a spreadsheet does not."
        )
    if measure.better == "neither":
        sentences.append("It describes a ranking; none of its values is better than another.")
    if measure.needs_aspects:
        sentences.append(
            "It needs judgments by aspect; documents that are judged without aspects have a single aspect."
        )
    if measure.cutoff_rule == "required":
        sentences.append(
            f"It needs a cutoff, and values at different cutoffs are different measures: `{_named(measure)}`."
        )
    elif measure.default_cutoff is not None:
        sentences.append(
            f"Rankings are evaluated to rank {measure.default_cutoff:g} unless you name a cutoff; report it in a paper."
        )
    if "max_grade" in measure.parameters:
        sentences.append(
            "The highest grade is that of the collection unless you set `max_grade`, so the same ranking can have"
            " another value in another collection."
        )
    if measure.summary != "mean":
        sentences.append(f"The value over topics is the {measure.summary}, not the mean.")
    if "rel" in measure.parameters:
        sentences.append(
            "Grades below `rel` count as not relevant, even if assessors meant “somewhat relevant”."
        )
    if not sentences:
        sentences.append("An unjudged document counts as not relevant unless you set `--unjudged`.")
    sentences.append(
        "A mean over topics assumes that equal differences have equal meaning: [Scales](../scales.md)."
    )
    return sentences


def _named(measure: Measure) -> str:
    if measure.cutoff_rule != "required":
        return measure.name
    return f"{measure.name}@{0.1 if 'recall' in measure.cutoff_meaning else 10}"
