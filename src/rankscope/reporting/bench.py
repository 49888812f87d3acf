"""The HTML page of a leaderboard over several tasks: figures and tables, self-contained, without scripts."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from html import escape

from rankscope.analysis.bench import Bench
from rankscope.reporting.html_page import digest, render_document

_STYLE = (
    "body{font:15px/1.45 system-ui,sans-serif;color:#222;max-width:75em;margin:2em auto;padding:0 1em}"
    "table{border-collapse:collapse;font-size:13px;font-variant-numeric:tabular-nums}"
    "th,td{padding:.15em .6em;text-align:left;border-bottom:1px solid #e6e6e6}"
    "figure{display:inline-block;vertical-align:top;margin:1em 2em 1em 0;max-width:100%}figcaption,p{color:#555}"
    "img{max-width:100%;height:auto}div{overflow-x:auto}"
)


def bench_page(result: Bench, pictures: Mapping[str, bytes]) -> str:
    """Return the page with the displayed tables, the tables of tasks and separation, and figures in SVG.

    >>> import rankscope as rs
    >>> result = rs.bench({"model": ["<b>", "b"], "t1": [0.5, 0.4], "t2": [0.7, 0.8]}, aggregate="mean")
    >>> "<b>" in bench_page(result, {}).partition("<body>")[2].replace("<b>0", "")
    False
    """
    shown = list(result.display)
    figures = "".join(
        f'<figure><img alt="{escape(name)}" src="data:image/svg+xml;base64,{b64encode(svg).decode("ascii")}">'
        f"<figcaption>{escape(name.replace('-', ' ').capitalize())}</figcaption></figure>"
        for name, svg in pictures.items()
    )
    others = [(result.specs()[name].meaning, result[name]) for name in ("separation", "friedman", "tasks")]
    headed = [("Ranks and tiers", shown[0]), *((table.caption or table.name, table) for table in shown[1:])]
    tables = "".join(
        f"<h2>{escape(heading[:1].upper() + heading[1:])}</h2>"
        f'<div role="region" aria-label="{escape(heading)}" tabindex="0">{table.html()}</div>'
        f"<p>{escape(table.legend)}</p>"
        for heading, table in [*headed, *others]
        if len(table)
    )
    body = f"<h1>{escape(shown[0].caption)}</h1>\n{figures}\n{tables}".encode("utf-8", "replace").decode(
        "utf-8"
    )
    return render_document(shown[0].caption, _STYLE, body, f"style-src '{digest(_STYLE)}'")
