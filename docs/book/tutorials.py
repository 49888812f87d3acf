"""Tutorials: one source each, which is run, is a page of the site, and becomes a notebook.

A block of Python is a conversation (``>>>``) and must print what it says. A block for the shell has commands of ours,
which must end with 0, or with the code in a comment (``# exit 1``). All blocks of a tutorial share a folder and their
names; what they save as ``figures/NAME.svg`` are its figures.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import shlex
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from book.pages import DOCS, for_the_site

FOLDER = DOCS / "tutorials"
_BLOCK = re.compile(r"^```(python|sh)\n(.*?)^```$\n?", re.MULTILINE | re.DOTALL)
_FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


class Cell(NamedTuple):
    """A piece of a tutorial: text, Python or commands."""

    kind: str
    text: str


class Run(NamedTuple):
    """What running a tutorial gave: what was wrong, and its figures by name."""

    wrong: list[str]
    figures: dict[str, str]


def names() -> list[str]:
    """The tutorials."""
    return sorted(path.stem for path in FOLDER.glob("*.md") if path.stem != "index")


def cells(text: str) -> list[Cell]:
    """A page, cut into its pieces."""
    found, last = [], 0
    for block in _BLOCK.finditer(text):
        found += [Cell("text", text[last : block.start()].strip()), Cell(block[1], block[2])]
        last = block.end()
    return [cell for cell in [*found, Cell("text", text[last:].strip())] if cell.text]


def run(name: str) -> Run:
    """Run a tutorial in an empty folder."""
    from rankscope.cli.main import main

    text = (FOLDER / f"{name}.md").read_text("utf-8")
    scope: dict[str, Any] = {"__name__": "__main__"}
    wrong: list[str] = []
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            Path("figures").mkdir()
            for cell in cells(text):
                if cell.kind == "python":
                    case = doctest.DocTestParser().get_doctest(cell.text, scope, name, name, 0)
                    case.globs = scope  # later blocks go on where earlier ones ended
                    said = io.StringIO()
                    runner = doctest.DocTestRunner(optionflags=_FLAGS, verbose=False)
                    if runner.run(case, out=said.write, clear_globs=False).failed:
                        wrong.append(said.getvalue())
                elif cell.kind == "sh":
                    for command, code in commands(cell.text):
                        quiet = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
                        with (
                            contextlib.redirect_stdout(quiet),
                            contextlib.redirect_stderr(io.StringIO()) as error,
                        ):
                            ended = main(command)
                        if ended != code:
                            wrong.append(
                                f"{shlex.join(command)}: {ended} instead of {code}: {error.getvalue()}"
                            )
            figures = {path.name: path.read_text("utf-8") for path in sorted(Path("figures").glob("*.svg"))}
        finally:
            os.chdir(here)
    return Run(wrong, figures)


def commands(block: str) -> list[tuple[list[str], int]]:
    """The commands of a block with the exit codes they should have."""
    found = []
    for line in re.sub(r"\\\n\s*", "", block).splitlines():
        program, *words = shlex.split(line, comments=True) or [""]
        if program == "rankscope":
            code = re.search(r"# exit (\d+)", line)
            found.append((words, int(code[1]) if code else 0))
    return found


def notebook(name: str, figures: dict[str, str]) -> str:
    """The tutorial as a notebook, with what it prints and draws."""
    import nbformat
    from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

    made = []
    for number, cell in enumerate(cells((FOLDER / f"{name}.md").read_text("utf-8"))):
        key = f"{name}-{number}"
        if cell.kind == "text":
            made.append(new_markdown_cell(_without_pictures(cell.text), id=key))
        elif cell.kind == "sh":
            made.append(new_code_cell("\n".join(f"!{line}" for line in cell.text.splitlines()), id=key))
        else:
            source, printed = _conversation(cell.text)
            outputs = [new_output("stream", name="stdout", text=printed)] if printed else []
            outputs += [
                new_output("display_data", {"image/svg+xml": figures[drawn]})
                for drawn in re.findall(r"figures/(\S+?\.svg)", source)
                if drawn in figures
            ]
            made.append(new_code_cell(source, outputs=outputs, id=key))
    about = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    return str(nbformat.writes(new_notebook(cells=made, metadata=about)))


def _conversation(block: str) -> tuple[str, str]:
    """What was typed, and what was answered."""
    examples = doctest.DocTestParser().get_examples(block)
    return "".join(one.source for one in examples).rstrip(), "".join(one.want for one in examples)


def _without_pictures(text: str) -> str:
    return re.sub(r"!\[[^\]]*\]\(figures/[^)]*\)\n*", "", text)


def pages() -> dict[str, str]:
    """Every tutorial as a page, its notebook, and its figures."""
    made = {}
    for name in names():
        done = run(name)
        if done.wrong:
            raise SystemExit(f"docs/tutorials/{name}.md: {done.wrong[0]}")
        made |= {f"tutorials/figures/{figure}": content for figure, content in done.figures.items()}
        made[f"tutorials/{name}.ipynb"] = notebook(name, done.figures)
        text = (FOLDER / f"{name}.md").read_text("utf-8")
        head, _, rest = text.partition("\n")
        page = f"{head}\n\n{{download}}`Take it away as a notebook <{name}.ipynb>`\n{rest}"
        made[f"tutorials/{name}.md"] = for_the_site(f"tutorials/{name}.md", f"docs/tutorials/{name}.md", page)
    return made
