"""Generate docs/papers.md (every item of the five papers with its command) and docs/findings.md.

python docs/make_papers.py            run every row and write the page
python docs/make_papers.py --check    only check whether the page is up to date
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS))

from papers import crp, lists, properties, rbp, scales, twist  # noqa: E402
from papers import findings as findings_page  # noqa: E402
from papers.row import STATUSES, Detail, Made, Row, make  # noqa: E402, F401
from papers.running import COLLECTIONS, EXAMPLES, LEADERBOARD, OTHERS, data_folder, folders, four  # noqa: E402, F401

PAGE = DOCS / "papers.md"
FINDINGS = DOCS / "findings.md"
WRITTEN = "<!-- written by docs/make_papers.py from docs/papers: change it there, and run it -->"
FINDINGS_HEAD = "| finding | numbers | command or example |\n|---|---|---|"
PAPERS = (twist, crp, properties, scales, rbp)
HEAD = "| item | what it is | command or example | paper | ours | why |\n|---|---|---|---:|---:|---|"


def page(made: dict[str, list[Made]]) -> str:
    """Return the page, given the rows of each paper."""
    counts = Counter(row.status for rows in made.values() for row in rows)
    return "\n\n".join([preface(counts), *(section(paper, made[paper.__name__]) for paper in PAPERS)]) + "\n"


def section(paper: ModuleType, rows: Iterable[Made]) -> str:
    """Return the section of a paper: its table, and the longer tables below it."""
    rows = list(rows)
    table = "\n".join([HEAD, *(row.line for row in rows)])
    below = [longer(row, row.detail) for row in rows if row.detail]
    return "\n\n".join([f"## {paper.TITLE}", " ".join(paper.ABOUT.split()), table, *below])


def longer(row: Made, detail: Detail) -> str:
    """Return a table below the main one."""
    head = "| " + " | ".join(detail.columns) + " |\n|---|" + "---:|" * (len(detail.columns) - 1)
    body = "\n".join("| " + " | ".join(cells) + " |" for cells in detail.rows)
    return "\n\n".join([f"### {row.cells[0]}", *([detail.note] if detail.note else []), f"{head}\n{body}"])


def preface(counts: Counter[str]) -> str:
    """Return the introduction: meanings of the statuses, and variables of the commands."""
    statuses = "\n".join(
        f"| {status} | {counts[status]} | {meaning} |"
        for status, meaning in STATUSES.items()
        if counts[status]
    )
    places = {**{name: parts for name, (_, parts) in COLLECTIONS.items()}, **OTHERS}
    collections = "\n".join(
        f'{name}="{" ".join(f"$RANKSCOPE_DATA/{part}" for part in parts.split())}"'
        for name, parts in places.items()
    )
    examples = "\n".join(f"{name.upper()}=docs/papers/examples/{name}" for name in lists.EXAMPLES)
    return f"""{WRITTEN}

# Five papers, item by item

This page lists every definition, equation, table, figure and announced piece of work of the five papers that
Rankscope started from, with its command, the published value, our value, and the reason for any difference.
[Findings](findings.md) collects the errors and ambiguities of the papers.

`python docs/make_papers.py` runs every row and writes this page; a test runs the rows again and compares.

| the last column begins with | rows | meaning |
|---|---:|---|
{statuses}

Run the commands from the root of the repository, with these variables.

```sh
{examples}
{collections}
FOUR="{four("$RANKSCOPE_DATA")}"
SCORES=$RANKSCOPE_DATA/score_matrices
LEADERBOARD=$RANKSCOPE_DATA/{LEADERBOARD}
```

`$RANKSCOPE_DATA` is the folder of [official files](data.md): TREC-COVID round 1 (the 25 runs of full length),
Cranfield, and the Web tracks of 2011 and 2012 with the runs that are public (one and nine). If the data of a
paper are not public, its tables are computed from these."""


def findings(made: list[list[Made]]) -> str:
    """Return the page of findings, given the rows of each section."""
    parts = [WRITTEN, "# Findings about papers and programs", " ".join(findings_page.INTRODUCTION.split())]
    for (title, text, _), rows in zip(findings_page.SECTIONS, made, strict=True):
        table = "\n".join([FINDINGS_HEAD, *(finding(row) for row in rows)])
        parts += [f"## {title}", " ".join(text.split()), table]
    return "\n\n".join(parts) + "\n"


def finding(row: Made) -> str:
    """Return a line of the page of findings."""
    _, title, command, _, numbers, _ = row.cells
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in (title, numbers, command)) + " |"


def made_rows(paper: ModuleType) -> list[Made]:
    """Run every row of a paper."""
    return [make(row) for row in paper.ROWS]


def main() -> int:
    """Write the page and the files of its examples, or compare them with --check."""
    if data_folder() is None:
        print("the collections are absent: set RANKSCOPE_DATA to their folder")
        return 2
    expected = {EXAMPLES / name: text for name, text in lists.files().items()}
    if "--check" not in sys.argv:
        for path, text in expected.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
    pages = {
        PAGE: page({paper.__name__: made_rows(paper) for paper in PAPERS}),
        FINDINGS: findings([[make(row) for row in rows] for _, _, rows in findings_page.SECTIONS]),
    }
    expected |= pages
    if "--check" in sys.argv:
        stale = [
            path for path, text in expected.items() if not path.exists() or path.read_text("utf-8") != text
        ]
        print("\n".join(f"out of date: {path.relative_to(DOCS.parent)}" for path in stale) or "up to date")
        return 1 if stale else 0
    for path, text in pages.items():
        path.write_text(text, "utf-8")
    print(f"{sum(len(paper.ROWS) for paper in PAPERS)} rows in {PAGE}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
