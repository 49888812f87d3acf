"""Which files of the repository are pages of the site, and where their links lead there.

A page keeps its place under docs/; some of the repository's first level come along. A link to a file that is no page
(a test, a template) becomes its name: the site must be readable without the repository.
"""

from __future__ import annotations

import os.path
import re
from functools import cache
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
FROM_ROOT = {
    "BENCHMARKS.md": "benchmarks.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "release/CHECKLIST.md": "release-checklist.md",
}
ORPHAN = "---\norphan: true\n---\n\n"
"""Before a page that a list leads to, and not the sidebar, which would be too long for reading and for building."""
_IN_SITE = {"docs/README.md": "index.md", "README.md": "index.md"}
_FENCE = re.compile(r"^(?:```|~~~).*?^(?:```|~~~)\s*?$", re.MULTILINE | re.DOTALL)
_END = re.compile(r"\n(\n`{3,}\s*)$")  # the empty line after an example, which doctest wants and nobody else
_CODE = re.compile(r"`[^`\n]*`")
_LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(([^()\s]+)\)")


def written_pages() -> dict[str, str]:
    """Every page that people wrote: the place in the site and the file of the repository."""
    found = {
        str(path.relative_to(DOCS).as_posix()): path.relative_to(ROOT).as_posix()
        for path in sorted(DOCS.rglob("*.md"))
        if path != DOCS / "README.md" and not path.is_relative_to(DOCS / "template")
    }
    return {**found, **{place: name for name, place in FROM_ROOT.items()}}


@cache
def _places() -> dict[str, str]:
    """The place of every file that is a page."""
    return {name: page for page, name in written_pages().items()} | _IN_SITE


def pictures() -> list[str]:
    """The pictures of pages, by their places under docs/."""
    found = (path for kind in ("*.svg", "*.png") for path in DOCS.rglob(kind))
    return sorted(
        path.relative_to(DOCS).as_posix() for path in found if not path.is_relative_to(DOCS / "book")
    )


def for_the_site(place: str, source: str, text: str, generated: frozenset[str] = frozenset()) -> str:
    """A page as the site has it: links of the repository lead to pages, those to other files are names."""
    places = _places()
    here, origin = PurePosixPath(place).parent, PurePosixPath(source).parent

    def moved(link: re.Match[str]) -> str:
        label, target = link[1], link[2]
        file, hash_, anchor = target.partition("#")
        if "://" in target or not file:
            return link[0]
        named = os.path.normpath(origin / file)
        page = places.get(named) or (file if os.path.normpath(here / file) in generated else None)
        if page is None:
            return label if label.startswith("`") else f"{label} (`{named}`)"
        there = page if page == file else os.path.relpath(page, here)
        return f"[{label}]({PurePosixPath(there).as_posix()}{hash_}{anchor})"

    def outside_code(part: str) -> str:
        kept: list[str] = []

        def put_by(code: re.Match[str]) -> str:
            kept.append(code[0])
            return f"\0{len(kept) - 1}\0"

        hidden = _CODE.sub(put_by, part)
        return re.sub(r"\0(\d+)\0", lambda number: kept[int(number[1])], _LINK.sub(moved, hidden))

    pieces, last = [], 0
    for fence in _FENCE.finditer(text):
        pieces += [outside_code(text[last : fence.start()]), _END.sub(r"\1", fence[0])]
        last = fence.end()
    return "".join([*pieces, outside_code(text[last:])])
