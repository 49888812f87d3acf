"""The HTML file of the report, which is self-contained and makes no requests.

Script and style are inlined, and a Content-Security-Policy allows only their SHA-256 digests, so that untrusted names
cannot run as scripts. The data is JSON in a script element of a type that browsers do not execute.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from html import escape
from importlib.resources import files
from typing import Any

import numpy as np

from rankscope.reporting.page_data import as_json

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
