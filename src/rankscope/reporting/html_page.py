"""The HTML file of the report, which is self-contained and makes no requests.

Script and style are inlined, and a Content-Security-Policy allows only their SHA-256 digests, so that untrusted names
cannot run as scripts. The data is JSON in a script element of a type that browsers do not execute.
"""

import base64
import hashlib
from collections.abc import Mapping, Sequence
from html import escape
from importlib.resources import files
from typing import Any

from rankscope.reporting.page_data import as_json
from rankscope.result import Result, TypedResult
from rankscope.tables import Table

_STYLE = (
    "body{font:15px/1.45 system-ui,sans-serif;color:#222;max-width:75em;margin:2em auto;padding:0 1em}"
    "table{border-collapse:collapse;font-size:13px;font-variant-numeric:tabular-nums}"
    "th,td{padding:.15em .6em;text-align:left;border-bottom:1px solid #e6e6e6}"
    "figure{display:inline-block;vertical-align:top;margin:1em 2em 1em 0}figcaption,p{color:#555}"
)
_MAX_ROWS = 200  # of tables that are not displayed


def render_report(document: Mapping[str, Any]) -> str:
    """Return the HTML file with its data.

    >>> text = render_report({"title": "<hr>", "runs": ["</script>"]})
    >>> text.startswith("<!doctype html>"), "<hr>" in text, text.count("</script>")
    (True, False, 2)
    """
    data = f'<script type="application/json" id="data">{as_json(document)}</script>\n'
    return shell(str(document["title"]), data=data)


def render_result(result: Result, shown: Sequence[Table], pictures: Mapping[str, bytes]) -> str:
    """Return an HTML document without scripts: figures in SVG, the tables ``shown``, and first rows of the others.

    >>> from rankscope.result import TableResult
    >>> result = TableResult({"runs": Table("runs", ("run",), [("<b>",)])}, {})
    >>> "<td>&lt;b&gt;</td>" in render_result(result, result.display, {})
    True
    """
    figures = "".join(
        f'<figure><img alt="{escape(name)}" src="data:image/svg+xml;base64,{base64.b64encode(svg).decode("ascii")}">'
        f"<figcaption>{escape(name.replace('-', ' '))}</figcaption></figure>"
        for name, svg in pictures.items()
    )
    meanings = (
        {name: spec.meaning for name, spec in result.specs().items()}
        if isinstance(result, TypedResult)
        else {}
    )
    tables: list[tuple[str, Table, int | None]]
    tables = [(table.caption or table.name, table, None) for table in shown]
    others = result.tables.keys() - {table.name for table in shown}
    tables += [
        (meanings.get(name, name), result[name], _MAX_ROWS) for name in result.tables if name in others
    ]
    sections = "".join(
        f"<h2>{escape(heading)}</h2>{table.html(limit)}<p>{escape(table.legend)}</p>"
        for heading, table, limit in tables
        if len(table)
    )
    body = f"<h1>{escape(tables[0][0])}</h1>\n{figures}\n{sections}".encode("utf-8", "replace").decode(
        "utf-8"
    )
    return render_document(tables[0][0], _STYLE, body, f"style-src '{digest(_STYLE)}'")


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
