"""Assemble the sources of the site in a temporary folder, and build them with Sphinx."""

from __future__ import annotations

import re
import shutil
import tempfile
from pathlib import Path

from book import api, commands, measures, schemas, tutorials
from book.pages import DOCS, ROOT, for_the_site, pictures, written_pages
from book.search import write_sections

HERE = Path(__file__).resolve().parent
GENERATED = {
    "index.md": {
        "`rankscope cite ": "[`rankscope cite`](reference/commands/cite.md), `rankscope cite ",
        "[all tables and columns](reference/index.md#generated-pages)": "[all tables and columns](reference/tables.md)",
        "function, command, [": "[function](reference/api/index.md), [command](reference/commands/index.md), [",
        "and table.": "and [table](reference/tables.md).",
    },
    "reference/index.md": {
        "- Python:": "- [Python](api/index.md):",
        "- Commands:": "- [Commands](commands/index.md):",
        "- Tables and their schemas:": "- [Tables and their schemas](tables.md):",
    },
}
"""Links to generated pages, by page: only the site has them, so pages of the repository name them without a link."""


def generated_pages() -> dict[str, str]:
    """Return the pages that are generated from the package."""
    return {**api.pages(), **commands.pages(), **schemas.pages(), **tutorials.pages(), **measures.pages()}


def start_page(text: str) -> str:
    """Convert the start page for the site: sections in a grid, and the table of contents of the sidebar."""
    sections = re.split(r"^## ", text, flags=re.MULTILINE)
    doors = [section for section in sections if section.startswith("I ")]
    for door in doors:
        title, _, body = door.partition("\n")
        steps, _, rest = body.strip().partition("\n\n")
        boxed = f":::{{container}} door\n**{title}**\n\n{steps}\n:::\n"
        first, last = door is doors[0], door is doors[-1]
        boxed = ("::::{container} doors\n" if first else "") + boxed + ("::::\n" if last else "")
        text = text.replace(f"## {door}", boxed + (f"\n{rest}\n\n" if rest else ""))
    return f"{text}\n{(HERE / 'sidebar.md').read_text('utf-8')}"


def stage(folder: Path) -> None:
    """Write the sources of the site into a folder."""
    generated = generated_pages()
    names = frozenset(generated)
    for path, source in written_pages().items():
        if path not in generated:
            text = (ROOT / source).read_text("utf-8")
            for phrase, link in GENERATED.get(path, {}).items():
                if text.count(phrase) != 1:
                    raise SystemExit(f"docs/{path}: expected once: {phrase}")
                text = text.replace(phrase, link)
            if path == "index.md":
                text = start_page(text)
            _write(folder / path, for_the_site(path, source, text, names))
    for path, text in generated.items():
        _write(folder / path, text)
    for path in set(pictures()) - names:  # tutorials draw theirs again
        _write(folder / path, (DOCS / path).read_bytes())


def build(target: Path, *, quiet: bool = True) -> int:
    """Build the site, replace the target folder, and return the exit code: not 0 after any warning."""
    from sphinx.cmd.build import main as sphinx

    with tempfile.TemporaryDirectory() as temporary:
        sources, site = Path(temporary) / "sources", Path(temporary) / "site"
        stage(sources)
        words = ["-b", "html", "-W", "--keep-going", "-n", "-c", str(HERE), "-d", f"{temporary}/doctrees"]
        code = sphinx([*words, *(["-q"] if quiet else []), str(sources), str(site)])
        if code == 0:
            write_sections(site)
            for unneeded in (".buildinfo", "objects.inv"):
                (site / unneeded).unlink(missing_ok=True)
            if target.exists():
                _reject_other_folders(target)
                shutil.rmtree(target)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copytree(site, target)
    return int(code)


def _reject_other_folders(target: Path) -> None:
    """Exit unless the folder is empty or an earlier site."""
    if any(target.iterdir()) and not (target / "searchindex.js").is_file():
        raise SystemExit(f"{target}: the folder is not an earlier site; name another one")


def _write(path: Path, content: str | bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
