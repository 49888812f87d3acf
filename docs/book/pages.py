"""Select the files of the repository that become pages of the site, and rewrite their links.

A page keeps its path below docs/; some files of the top level are added. A link to a file that is not a page (a test, a
template) becomes its name, so that the site is readable without the repository.
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
"""Front matter of pages that a list links to; with them the sidebar would be too long to read and to build."""
_IN_SITE = {"docs/README.md": "index.md", "README.md": "index.md"}
_FENCE = re.compile(r"^(?:```|~~~).*?^(?:```|~~~)\s*?$", re.MULTILINE | re.DOTALL)
_END = re.compile(r"\n(\n`{3,}\s*)$")  # The empty line that doctest needs after an example.
_CODE = re.compile(r"`[^`\n]*`")
_LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(([^()\s]+)\)")


def written_pages() -> dict[str, str]:
    """Return the hand-written pages: path in the site, and file in the repository."""
    paths = {
        str(path.relative_to(DOCS).as_posix()): path.relative_to(ROOT).as_posix()
        for path in sorted(DOCS.rglob("*.md"))
        if path != DOCS / "README.md" and not {DOCS / "template", DOCS / "book"} & set(path.parents)
    }
    return {**paths, **{place: name for name, place in FROM_ROOT.items()}}


@cache
def _places() -> dict[str, str]:
    """Return the path in the site of every file that is a page."""
    return {name: page for page, name in written_pages().items()} | _IN_SITE


def pictures() -> list[str]:
    """Return the paths of all pictures below docs/."""
    paths = (path for kind in ("*.svg", "*.png") for path in DOCS.rglob(kind))
    return sorted(
        path.relative_to(DOCS).as_posix() for path in paths if not path.is_relative_to(DOCS / "book")
    )


def for_the_site(page_path: str, source: str, text: str, generated: frozenset[str] = frozenset()) -> str:
    """Convert a page for the site: links lead to pages of the site, or become names of files."""
    places = _places()
    parent, origin = PurePosixPath(page_path).parent, PurePosixPath(source).parent

    def rewrite(link: re.Match[str]) -> str:
        label, target = link[1], link[2]
        file, hash_, anchor = target.partition("#")
        if "://" in target or not file:
            return link[0]
        named = os.path.normpath(origin / file)
        page = places.get(named) or (file if os.path.normpath(parent / file) in generated else None)
        if page is None:
            return label if label.startswith("`") else f"{label} (`{named}`)"
        path = page if page == file else os.path.relpath(page, parent)
        return f"[{label}]({PurePosixPath(path).as_posix()}{hash_}{anchor})"

    def outside_code(part: str) -> str:
        kept: list[str] = []

        def hide(code: re.Match[str]) -> str:
            kept.append(code[0])
            return f"\0{len(kept) - 1}\0"

        hidden = _CODE.sub(hide, part)
        return re.sub(r"\0(\d+)\0", lambda number: kept[int(number[1])], _LINK.sub(rewrite, hidden))

    pieces, last = [], 0
    for fence in _FENCE.finditer(text):
        pieces += [outside_code(text[last : fence.start()]), _END.sub(r"\1", fence[0])]
        last = fence.end()
    return "".join([*pieces, outside_code(text[last:])])
