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

import numpy as np

from rankscope.reporting.page_data import as_json
from rankscope.result import Result, TypedResult
from rankscope.tables import Table

_STYLE = (
    "body{font:15px/1.45 system-ui,sans-serif;color:#222;max-width:75em;margin:2em auto;padding:0 1em}"
    "table{border-collapse:collapse;font-size:13px;font-variant-numeric:tabular-nums}"
    "th,td{padding:.15em .6em;text-align:left;border-bottom:1px solid #e6e6e6}"
    "figure{display:inline-block;vertical-align:top;margin:1em 2em 1em 0;max-width:100%}figcaption,p{color:#555}"
    "img{max-width:100%;height:auto}div{overflow-x:auto}"
)
_MAX_ROWS = 200  # of tables that are not displayed

LARGE = 4_000_000
"""Size of the arrays of lists in bytes from which a report is written in parts: less is read within a few frames."""


def render_report(document: Mapping[str, Any]) -> str:
    """Return the HTML file with its data.

    >>> text = render_report({"title": "<hr>", "runs": ["</script>"]})
    >>> text.startswith("<!doctype html>"), "<hr>" in text, text.count("</script>")
    (True, False, 2)
    """
    first, *later = split_arrays(document)
    parts = f' data-parts="{len(later)}"' if later else ""
    data = f'<script type="application/json" id="data"{parts}>{as_json(first)}</script>\n'
    rest = (
        f'\n<script type="application/json" id="data-{k}">{as_json(part)}</script>'
        for k, part in enumerate(later, 1)
    )
    return shell(str(document["title"]), data=data, rest="".join(rest))


def split_arrays(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return a large document as parts, so that the browser shows its first view before it has read all of them.

    The leaderboard needs the first part, the plane and its curves the second. The others have only arrays, at their
    places in the document. A small document is one part.

    Parameters
    ----------
    document : Mapping
        The data of a report.

    Returns
    -------
    list of dict
        The parts; merged, they are the document.
    """
    arrays = [*document.get("list", {}).values(), *(m["values"] for m in document.get("measures", ()))]
    if sum(array.nbytes for array in arrays) < LARGE:
        return [dict(document)]
    first = {**document, "list": {}, "measures": []}
    curves: dict[str, Any] = {"list": {}, "measures": []}
    other: dict[str, Any] = {"measures": []}
    for name, array in document["list"].items():
        (first if name in ("retrieved", "judged10") else curves)["list"][name] = array
    for name in ("nonrelevant", "documents", "top"):
        if name in document:
            part = document[name]
            curves[name] = {key: value for key, value in part.items() if isinstance(value, np.ndarray)}
            first[name] = {key: value for key, value in part.items() if key not in curves[name]}
    for measure in document["measures"]:
        # The page looks into the values of requested measures for their range when it starts.
        is_first = measure["name"] == document["lead"] or measure["kind"] == "given"
        is_effort = measure.get("formula") == "Twist"
        home = first if is_first else curves if is_effort else other
        for part in (first, curves, other):
            part["measures"].append({"values": measure["values"]} if part is home else {})
        first["measures"][-1].update((key, value) for key, value in measure.items() if key != "values")
    return [first, curves, other]


def render_result(result: Result, shown: Sequence[Table], pictures: Mapping[str, bytes]) -> str:
    """Return an HTML document without scripts: figures in SVG, the tables ``shown``, and first rows of the others.

    >>> from rankscope.result import TableResult
    >>> result = TableResult({"runs": Table("runs", ("run",), [("<b>",)])}, {})
    >>> "<td>&lt;b&gt;</td>" in render_result(result, result.display, {})
    True
    """
    figures = "".join(
        f'<figure><img alt="{escape(name)}" src="data:image/svg+xml;base64,{base64.b64encode(svg).decode("ascii")}">'
        f"<figcaption>{escape(name.replace('-', ' ').capitalize())}</figcaption></figure>"
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
    title = tables[0][0]  # and the heading of the first table
    sections = "".join(
        f"<h2>{escape(heading[:1].upper() + heading[1:])}</h2>"
        * (heading != title)
        + f'<div role="region" aria-label="{escape(heading)}" tabindex="0">{table.html(limit)}</div>'
        f"<p>{escape(table.legend)}</p>"
        for heading, table, limit in tables
        if len(table)
    )
    body = f"<h1>{escape(title)}</h1>\n{figures}\n{sections}".encode("utf-8", "replace").decode("utf-8")
    return render_document(title, _STYLE, body, f"style-src '{digest(_STYLE)}'")


def shell(title: str, *, data: str = "", rest: str = "", connect: str = "'none'") -> str:
    """Return the HTML document around the data.

    ``rest`` are parts of the data behind the script, and ``connect`` is its ``connect-src`` (the explorer: its server).
    """
    assets = files("rankscope.reporting") / "assets"
    script = (assets / "page.js").read_text("utf-8").strip()
    style = (assets / "page.css").read_text("utf-8").strip()
    policy = f"script-src '{digest(script)}'; style-src '{digest(style)}'; connect-src {connect}"
    body = (
        '<div id="page"><p class="loading">Reading the data…</p></div>\n'
        '<noscript><p class="failure">This report needs JavaScript.</p></noscript>\n'
        f"{data}<script>{script}</script>{rest}"
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
