"""Write the texts of all sections of the site as a script, which the page of the search loads from the folder."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path

_VOID = {"area", "base", "br", "col", "hr", "img", "input", "link", "meta", "source", "wbr"}
_HEADINGS = {"h1", "h2", "h3", "h4", "h5", "h6"}


class _Sections(HTMLParser):
    """Titles and texts of the sections of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.sections: list[tuple[str, list[str], list[str]]] = []
        """Anchor, title and text of each section."""
        self._depth: list[tuple[str, str]] = []  # open elements of the main part, with what they are for
        self._stack: list[int] = []  # open sections
        self.feed(html)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        names = dict(attributes)
        if not self._depth and names.get("role") != "main":
            return
        if tag in _VOID:
            return
        kind = ""
        if tag == "section":
            kind = "section"
            self._stack.append(len(self.sections))
            self.sections.append((names.get("id") or "", [], []))
        elif tag in _HEADINGS:
            kind = "title"
        elif tag in ("script", "style", "nav") or "headerlink" in (names.get("class") or ""):
            kind = "skip"
        self._depth.append((tag, kind))

    def handle_endtag(self, tag: str) -> None:
        if self._depth and tag not in _VOID:
            # Elements whose end tag may be left out, such as p, end with the one around them.
            while self._depth:
                name, kind = self._depth.pop()
                if kind == "section":
                    self._stack.pop()
                if name == tag:
                    break

    def handle_data(self, data: str) -> None:
        kinds = {kind for _, kind in self._depth}
        if self._stack and "skip" not in kinds:
            _, title, text = self.sections[self._stack[-1]]
            (title if "title" in kinds else text).append(data)


def sections(site: Path) -> list[tuple[str, str, str, str]]:
    """Return address, title of the page, title and text of each section of the site."""
    rows = []
    for path in sorted(site.rglob("*.html")):
        address = path.relative_to(site).as_posix()
        if address in ("search.html", "genindex.html", "py-modindex.html"):
            continue
        parts = _Sections(path.read_text("utf-8")).sections
        page = _join(parts[0][1]) if parts else ""
        for number, (anchor, title, text) in enumerate(parts):
            target = f"{address}#{anchor}" if number else address
            rows.append((target, page, _join(title), _join(text)))
    return rows


def _join(texts: list[str]) -> str:
    return " ".join("".join(texts).split())


def write_sections(site: Path) -> None:
    """Write ``_static/sections.js``."""
    rows = json.dumps(sections(site), ensure_ascii=False, separators=(",", ":"))
    # Both are line ends for old scripts, and no text may end the script.
    script = rows.replace("\u2028", " ").replace("\u2029", " ").replace("</", "<\\/")
    (site / "_static" / "sections.js").write_text(f"const SECTIONS={script};\n", encoding="utf-8")
