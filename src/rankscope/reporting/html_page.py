"""The HTML file of the report, which is self-contained and makes no requests.

Script and style are inlined, and a Content-Security-Policy allows only their SHA-256 digests, so that untrusted names
cannot run as scripts. The data is JSON in a script element of a type that browsers do not execute.
"""

import base64
import hashlib
from collections.abc import Mapping
from html import escape
from importlib.resources import files
from typing import Any

from rankscope.reporting.page_data import as_json


def render_report(document: Mapping[str, Any]) -> str:
    """Return the HTML file with its data.

    >>> text = render_report({"title": "<hr>", "runs": ["</script>"]})
    >>> text.startswith("<!doctype html>"), "<hr>" in text, text.count("</script>")
    (True, False, 2)
    """
    data = f'<script type="application/json" id="data">{as_json(document)}</script>\n'
    return shell(str(document["title"]), data=data)


def shell(title: str, *, data: str = "", connect: str = "'none'") -> str:
    """Return the HTML document around the data; ``connect`` is its ``connect-src`` (the explorer: its server)."""
    assets = files("rankscope.reporting") / "assets"
    script = (assets / "page.js").read_text("utf-8").strip()
    style = (assets / "page.css").read_text("utf-8").strip()
    policy = f"script-src '{digest(script)}'; style-src '{digest(style)}'; connect-src {connect}"
    body = (
        '<div id="page"><p class="loading">Reading the data…</p></div>\n'
        '<noscript><p class="failure">This report needs JavaScript.</p></noscript>\n'
        f"{data}<script>{script}</script>"
    )
    head = '<meta name="referrer" content="no-referrer">\n<link rel="icon" href="data:,">\n'
    return render_document(title, style, body, policy, head)


def render_document(title: str, style: str, body: str, policy: str, head: str = "") -> str:
    """Return an HTML document that loads nothing but what the policy and pictures in the document need."""
    safe = escape(title.encode("utf-8", "replace").decode("utf-8"))
    policy = f"default-src 'none'; {policy}; img-src data:; base-uri 'none'; form-action 'none'"
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"{head}<title>{safe}</title>\n<style>{style}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def digest(text: str) -> str:
    """Return the digest of an inline script or style for a Content-Security-Policy."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")
