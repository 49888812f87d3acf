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
    """Complete docstrings, and convert references to private names to text."""
    app.connect("autodoc-process-docstring", api.complete)
    app.connect("missing-reference", api.public)
    app.connect("html-page-context", share_sidebar, priority=400)  # before the theme renders it
    app.connect("html-page-context", add_search)
    # Cache word stems for the search index: pages repeat the same words.
    SearchEnglish.stem = cache(SearchEnglish.stem)  # type: ignore[method-assign]
    # Skip the source lines of definitions: autodoc parses whole modules for them, and only source links need them.
    Parser.parse_definition = lambda self: None  # type: ignore[method-assign]


def add_search(app: Any, page: str, template: str, context: dict[str, Any], tree: Any) -> None:
    """Load the own search on its page, after that of Sphinx; the build writes sections.js at its end."""
    if page == "search":
        for script in ("sections.js", "search.js"):
            app.add_js_file(script, loading_method="defer", priority=900)


SIDEBARS: dict[tuple[Any, ...], str] = {}


def share_sidebar(app: Any, page: str, template: str, context: dict[str, Any], tree: Any) -> None:
    """Render one sidebar per folder for pages that the sidebar does not list."""
    if "toctree" not in context or "orphan" not in app.env.metadata[page]:
        return
    render = context["toctree"]

    def sidebar(**options: Any) -> str:
        key = (page.rpartition("/")[0], *sorted(options.items()))
        if key not in SIDEBARS:
            SIDEBARS[key] = render(**options)
        return SIDEBARS[key]

    context["toctree"] = sidebar
