"""The pages of the measures: those of docs/measures, and what a reader wants to look up beside them."""

from __future__ import annotations

from book.pages import DOCS, ORPHAN


def pages() -> dict[str, str]:
    """A page for each measure."""
    written = sorted(path for path in (DOCS / "measures").glob("*.md") if path.stem != "README")
    return {f"measures/{path.name}": ORPHAN + path.read_text("utf-8") for path in written}
