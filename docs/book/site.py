"""Put the sources of the site together in a folder of their own, and let Sphinx build it."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from book import api, commands, measures, schemas, tutorials
from book.pages import DOCS, ROOT, for_the_site, pictures, written_pages

HERE = Path(__file__).resolve().parent


def generated_pages() -> dict[str, str]:
    """Every page that follows from the package: the reference."""
    return {**api.pages(), **commands.pages(), **schemas.pages(), **tutorials.pages(), **measures.pages()}


def stage(folder: Path) -> None:
    """Write the sources of the site into a folder."""
    made = generated_pages()
    names = frozenset(made)
    for place, source in written_pages().items():
        if place not in made:
            text = (ROOT / source).read_text("utf-8")
            _write(folder / place, for_the_site(place, source, text, names))
    for place, text in made.items():
        _write(folder / place, text)
    for place in pictures():
        _write(folder / place, (DOCS / place).read_bytes())


def build(target: Path, *, quiet: bool = True) -> int:
    """Build the site into a folder, which is replaced; the exit code, not 0 if there was any warning."""
    from sphinx.cmd.build import main as sphinx

    with tempfile.TemporaryDirectory() as temporary:
        sources, site = Path(temporary) / "sources", Path(temporary) / "site"
        stage(sources)
        words = ["-b", "html", "-W", "--keep-going", "-n", "-c", str(HERE), "-d", f"{temporary}/doctrees"]
        code = sphinx([*words, *(["-q"] if quiet else []), str(sources), str(site)])
        if code == 0:
            for unneeded in (".buildinfo", "objects.inv"):
                (site / unneeded).unlink(missing_ok=True)
            if target.exists():
                _refuse_strangers(target)
                shutil.rmtree(target)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copytree(site, target)
    return int(code)


def _refuse_strangers(target: Path) -> None:
    """Only an earlier site, or an empty folder, is replaced."""
    if any(target.iterdir()) and not (target / "searchindex.js").is_file():
        raise SystemExit(f"{target}: there is something else in this folder; name another one")


def _write(path: Path, content: str | bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
