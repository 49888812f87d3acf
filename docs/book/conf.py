"""Settings of the site for Sphinx; `docs/build` builds it."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

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
    # the words of the pages come again and again: what the search reduces each of them to is worked out once
    SearchEnglish.stem = cache(SearchEnglish.stem)  # type: ignore[method-assign]
