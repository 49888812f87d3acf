"""Run tutorials, and convert them to pages of the site and to notebooks.

A block of Python is a doctest (``>>>``). A block for the shell has rankscope commands, which must return 0 or the
exit code in a comment (``# exit 1``). All blocks of a tutorial share a folder and a namespace; its figures are the
files that they save as ``figures/NAME.svg``.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import shlex
import tempfile
from base64 import b64encode
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

from book.pages import DOCS, for_the_site

FOLDER = DOCS / "tutorials"
_BLOCK = re.compile(r"^```(python|sh)\n(.*?)^```$\n?", re.MULTILINE | re.DOTALL)
_PICTURE = re.compile(r"!\[([^\]]*)\]\(figures/([^)]*)\)")
_FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


class Cell(NamedTuple):
    """A piece of a tutorial: text, Python or commands."""

    kind: str
    text: str


class Run(NamedTuple):
    """Result of running a tutorial: errors, and figures by name."""

    errors: list[str]
    figures: dict[str, str]


def names() -> list[str]:
    """Return the names of all tutorials."""
    return sorted(path.stem for path in FOLDER.glob("*.md") if path.stem != "index")


def cells(text: str) -> list[Cell]:
    """Split a page into cells."""
    pieces, last = [], 0
    for block in _BLOCK.finditer(text):
        pieces += [Cell("text", text[last : block.start()].strip()), Cell(block[1], block[2])]
        last = block.end()
    return [cell for cell in [*pieces, Cell("text", text[last:].strip())] if cell.text]


def run(name: str) -> Run:
    """Run a tutorial in an empty folder."""
    from rankscope.cli.main import main

    text = (FOLDER / f"{name}.md").read_text("utf-8")
    scope: dict[str, Any] = {"__name__": "__main__"}
    errors: list[str] = []
    previous = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            Path("figures").mkdir()
            for cell in cells(text):
                if cell.kind == "python":
                    case = doctest.DocTestParser().get_doctest(cell.text, scope, name, name, 0)
                    case.globs = scope  # All blocks share one namespace.
                    output = io.StringIO()
                    runner = doctest.DocTestRunner(optionflags=_FLAGS, verbose=False)
                    if runner.run(case, out=output.write, clear_globs=False).failed:
                        errors.append(output.getvalue())
                elif cell.kind == "sh":
                    for command, code in commands(cell.text):
                        quiet = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
                        with (
                            contextlib.redirect_stdout(quiet),
                            contextlib.redirect_stderr(io.StringIO()) as error,
                        ):
                            actual = main(command)
                        if actual != code:
                            errors.append(
                                f"{shlex.join(command)}: {actual} instead of {code}: {error.getvalue()}"
                            )
            figures = {path.name: path.read_text("utf-8") for path in sorted(Path("figures").glob("*.svg"))}
        finally:
            os.chdir(previous)
    return Run(errors, figures)


def commands(block: str) -> list[tuple[list[str], int]]:
    """Return the commands of a block with their expected exit codes."""
    pairs = []
    for line in re.sub(r"\\\n\s*", "", block).splitlines():
        program, *words = shlex.split(line, comments=True) or [""]
        if program == "rankscope":
            code = re.search(r"# exit (\d+)", line)
            pairs.append((words, int(code[1]) if code else 0))
    return pairs


def notebook(name: str, figures: dict[str, str]) -> str:
    """Return a tutorial as a notebook with its outputs and figures."""
    import nbformat
    from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

    notebook_cells = []
    text = (FOLDER / f"{name}.md").read_text("utf-8")
    descriptions = {figure: description for description, figure in _PICTURE.findall(text)}
    for number, cell in enumerate(cells(text)):
        key = f"{name}-{number}"
        if cell.kind == "text":
            notebook_cells.append(new_markdown_cell(_without_pictures(cell.text), id=key))
        elif cell.kind == "sh":
            notebook_cells.append(
                new_code_cell("\n".join(f"!{line}" for line in cell.text.splitlines()), id=key)
            )
        else:
            source, printed = _conversation(cell.text)
            outputs = [new_output("stream", name="stdout", text=printed)] if printed else []
            outputs += [
                new_output("display_data", _image(figures[figure], descriptions.get(figure, "")))
                for figure in re.findall(r"figures/(\S+?\.svg)", source)
                if figure in figures
            ]
            notebook_cells.append(new_code_cell(source, outputs=outputs, id=key))
    about = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    return str(nbformat.writes(new_notebook(cells=notebook_cells, metadata=about)))


def _image(svg: str, description: str) -> dict[str, str]:
    """Return a figure for a notebook, not wider than the cell and with a description, which an SVG alone lacks."""
    data = b64encode(svg.encode()).decode("ascii")
    look = "max-width: 100%; background: white"
    html = f'<img alt="{escape(description)}" style="{look}" src="data:image/svg+xml;base64,{data}">'
    return {"text/html": html, "image/svg+xml": svg}


def _conversation(block: str) -> tuple[str, str]:
    """Return the source of a doctest, and its expected output."""
    examples = doctest.DocTestParser().get_examples(block)
    return "".join(example.source for example in examples).rstrip(), "".join(
        example.want for example in examples
    )


def _without_pictures(text: str) -> str:
    return re.sub(_PICTURE.pattern + r"\n*", "", text)


def pages() -> dict[str, str]:
    """Return page, notebook and figures of every tutorial."""
    sources = {}
    for name in names():
        outcome = run(name)
        if outcome.errors:
            raise SystemExit(f"docs/tutorials/{name}.md: {outcome.errors[0]}")
        sources |= {f"tutorials/figures/{figure}": content for figure, content in outcome.figures.items()}
        sources[f"tutorials/{name}.ipynb"] = notebook(name, outcome.figures)
        text = (FOLDER / f"{name}.md").read_text("utf-8")
        head, _, rest = text.partition("\n")
        page = f"{head}\n\n{{download}}`Download as a notebook <{name}.ipynb>`\n{rest}"
        sources[f"tutorials/{name}.md"] = for_the_site(
            f"tutorials/{name}.md", f"docs/tutorials/{name}.md", page
        )
    return sources
