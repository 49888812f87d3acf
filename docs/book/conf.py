"""Settings of the site for Sphinx; `docs/build` builds it."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from sphinx.pycode.parser import Parser
from sphinx.search.en import SearchEnglish

import rankscope
from book import api

project = "Rankscope"
author = "The Rankscope developers"
copyright = author
version = release = rankscope.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
myst_enable_extensions = ["attrs_block", "attrs_inline", "colon_fence", "deflist", "fieldlist"]
myst_heading_anchors = 4
suppress_warnings = ["myst.header"]  # a page may begin its examples with a heading of any level
highlight_language = "none"

html_theme = "furo"
html_title = f"Rankscope {version}"
html_static_path = ["static"]
html_css_files = ["book.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_last_updated_fmt = None
autodoc_typehints = "none"
autodoc_member_order = "bysource"


def setup(app: Any) -> None:
    """Docstrings are completed; a name of ours that is not public is text."""
    app.connect("autodoc-process-docstring", api.complete)
    app.connect("missing-reference", api.public)
    app.connect("html-page-context", beside_the_sidebar, priority=400)  # before the theme asks for it
    # the words of the pages come again and again: what the search reduces each of them to is worked out once
    SearchEnglish.stem = cache(SearchEnglish.stem)  # type: ignore[method-assign]
    # autodoc reads whole modules for the lines that each definition is on, which only links to sources would need
    Parser.parse_definition = lambda self: None  # type: ignore[method-assign]


SIDEBARS: dict[tuple[Any, ...], str] = {}


def beside_the_sidebar(app: Any, page: str, template: str, context: dict[str, Any], tree: Any) -> None:
    """Pages that the sidebar does not lead to have the same one in a folder, which is made once."""
    if "toctree" not in context or "orphan" not in app.env.metadata[page]:
        return
    make = context["toctree"]

    def sidebar(**options: Any) -> str:
        asked = (page.rpartition("/")[0], *sorted(options.items()))
        if asked not in SIDEBARS:
            SIDEBARS[asked] = make(**options)
        return SIDEBARS[asked]

    context["toctree"] = sidebar
