"""Generate docs/conformance.md: which definitions libraries compute, found by experiment.

python docs/make_conformance.py            write the page (takes a few minutes)
python docs/make_conformance.py ranx       only print the definitions of one library
"""

from __future__ import annotations

import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

from rankscope.lab.identification.conformance import MEASURES, conformance
from rankscope.lab.identification.inputs import inputs
from rankscope.lab.identification.libraries import library_script

PAGE = Path(__file__).parent / "conformance.md"
PACKAGES = {
    "pytrec_eval": "pytrec_eval-terrier",
    "ir_measures": "ir_measures",
    "ranx": "ranx",
    "sklearn": "scikit-learn",
    "trectools": "trectools",
    "cwl_eval": "cwl-eval",
}
HEAD = """# Conformance: what libraries compute under the names of measures

`python docs/make_conformance.py` generates this page. It evaluates {inputs:,} short inputs with every library (all
rankings of up to three documents with grades 0 to 2 and unjudged ones, with and without ties, with judged documents
missing, and some longer ones), and compares the values with every variant of every measure.
`rankscope identify ranx:ndcg@10` does the same for one of them. No part of this page is written by hand.

*Definition* is the variant that the library computes on all of these inputs, or the nearest variant with the share of
inputs on which both agree. *Shortest difference* is the smallest input on which the library departs from the usual
definition (trec_eval), with the usual value and the library's value. It lists grades from the top, tied documents in
brackets, ? for unjudged documents, and after *missing* the judged documents that the ranking lacks. The end of the page
has three lines of code to reproduce each.
"""


def cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    return "" if value is None else str(value).replace("|", "\\|")


def line(row: dict[str, Any]) -> str:
    definition = cell(row["definition"])
    if not row["equal"]:
        definition += f" ({100 * float(row['agrees'] or 0):.1f} % of the inputs)"
    value = "refused" if row["shortest"] and row["theirs"] is None else cell(row["theirs"])
    shown = [row["name"], row["usual"], definition, row["shortest"], row["usual_value"]]
    return "| " + " | ".join([*map(cell, shown), value]) + " |"


def page() -> str:
    rows = conformance()["conformance"].records()
    parts = [HEAD.format(inputs=len(inputs()))]
    scripts = []
    for library in MEASURES:
        members = [row for row in rows if row["library"] == library]
        parts.append(f"## {library} {version(PACKAGES[library])}\n")
        parts.append(
            "| name | usual | definition | shortest difference | usual value | theirs |\n|---|---|---|---|---:|---:|"
        )
        for row in members:
            parts.append(line(row))
            text = f"{library}:{row['name']}"
            if row["shortest"] and row["theirs"] is not None:
                example = next(example for example in inputs() if str(example) == row["shortest"])
                heading = f"`{text}`, {row['theirs']:.6g} and not {row['usual_value']:.6g}:"
                scripts.append(f"{heading}\n\n```python\n{library_script(text, example)}\n```\n")
        parts.append("")
    return "\n".join([*parts, "## Three lines each\n", *scripts]).rstrip("\n") + "\n"


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(conformance(sys.argv[1:]))
    else:
        PAGE.write_text(page(), encoding="utf-8")
