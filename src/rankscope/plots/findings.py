"""Findings side by side: a small chart for each, under its sentence."""

import textwrap
from collections.abc import Callable
from math import ceil
from typing import Any

from rankscope.analysis.findings import Chart, Finding, Findings
from rankscope.errors import printable
from rankscope.plots.figure import Figure
from rankscope.plots.marks import draw_box, draw_dot, draw_range, name_rows, write_centred
from rankscope.plots.palette import ABOVE, COLOURS, INK, QUIET
from rankscope.plots.style import DOUBLE, canvas, finite_or_zero, is_wide, shorten
from rankscope.tables import Table

_ROWS = 8
"""Rows of the evidence that a small chart shows."""


def plot_findings(
    result: Findings, *, width: float = DOUBLE, columns: int | None = None, limit: int | None = None
) -> Figure:
    """Draw every finding with its sentence and a small chart of the first rows of its evidence.

    Parameters
    ----------
    result
        Result of :func:`rankscope.findings`.
    width
        Width in inches.
    columns
        Number of columns of panels (default: two, or one in the width of a column of a paper).
    limit
        Maximum number of findings (default: all, or three in the width of a column, which fit on a page).

    Examples
    --------
    >>> import rankscope as rs
    >>> runs = {"good": {f"q{i}": ["a"] for i in range(4)}, "poor": {f"q{i}": ["b", "a"][:i] for i in range(4)}}
    >>> found = rs.findings(rs.evaluate({f"q{i}": {"a": 1} for i in range(4)}, runs, ["AP"]))
    >>> len(plot_findings(found).axes) == len(found)
    True
    """
    findings = result.items[: (None if is_wide(width) else 3) if limit is None else limit]
    columns = columns or (2 if is_wide(width) else 1)
    lines = max(1, ceil(len(findings) / columns))
    letters = int((width / columns - 0.9) * 18)  # beside the names of the rows
    with canvas(width, 2.5 * lines, lines, columns, squeeze=False) as (figure, grid):
        axes = list(grid.ravel())
        for panel in axes[len(findings) :]:
            panel.set_axis_off()
        for panel, finding in zip(axes, findings, strict=False):
            sentence = textwrap.fill(printable(finding.sentence), letters, break_on_hyphens=False)
            above = panel.set_title(sentence, fontsize=6.5, wrap=False)
            panel.annotate(
                textwrap.fill(finding.title, int(0.85 * letters)), (0, 1.02), xycoords=above, va="bottom", fontsize=6.5,
                fontweight="bold", gid="title",
            )  # fmt: skip
            _FORMS[finding.chart.form](panel, finding)
            if finding.chart.caption:
                panel.set_xlabel(textwrap.fill(printable(finding.chart.caption), letters), fontsize=6)
    table = result["findings"] if findings else Table("findings", (), [])
    return Figure(figure, tuple(axes[: len(findings)]), table)


def _first_rows(finding: Finding) -> list[dict[str, Any]]:
    return finding.evidence.records()[:_ROWS]


def _labels(axes: Any, rows: list[dict[str, Any]], chart: Chart) -> None:
    names = [" / ".join(shorten(str(row[name]), 20) for name in chart.label) for row in rows]
    name_rows(axes, names, fontsize=6)
    axes.set_ylim(max(len(rows), 4) - 0.5, -0.5)
    axes.tick_params(axis="x", labelsize=6)
    axes.locator_params(axis="x", nbins=4)
    if chart.percent:
        from matplotlib.ticker import PercentFormatter

        axes.xaxis.set_major_formatter(PercentFormatter(1, decimals=None))


def _bars(axes: Any, finding: Finding) -> None:
    rows, chart = _first_rows(finding), finding.chart
    for index, row in enumerate(rows):
        colour = COLOURS[0] if not chart.strong or row[chart.strong] else QUIET
        axes.barh(index, finite_or_zero(row[chart.value]), height=0.62, color=colour)
    axes.axvline(0, color=INK, linewidth=0.6)
    _labels(axes, rows, chart)


def _dots(axes: Any, finding: Finding) -> None:
    rows, chart = _first_rows(finding), finding.chart
    for index, row in enumerate(rows):
        draw_range(axes, finite_or_zero(row[chart.low]), finite_or_zero(row[chart.high]), index)
        is_strong = not chart.strong or bool(row[chart.strong])
        draw_dot(axes, finite_or_zero(row[chart.value]), index, COLOURS[0], is_strong)
    _labels(axes, rows, chart)


def _plane(axes: Any, finding: Finding) -> None:
    """Draw the cells of the plane: huge gain on top, huge effort at the left, shares as numbers and shades."""
    cells = {(str(row["gain"]), str(row["effort"])): row for row in finding.evidence.records()}
    gains, efforts = (list(dict.fromkeys(key[k] for key in cells)) for k in (0, 1))
    shares = [[finite_or_zero(cells[g, e][finding.chart.value]) for e in efforts] for g in gains]
    top = max(map(max, shares)) or 1.0
    axes.imshow(shares, cmap="Blues", vmin=0, vmax=1.6 * top, aspect="auto", origin="lower")
    for y, row in enumerate(shares):
        for x, share in enumerate(row):
            write_centred(axes, x, y, f"{share:.0%}" if share else "·", fontsize=6, color=INK)
    axes.set_xticks(range(len(efforts)), [f"{effort}\neffort" for effort in efforts], fontsize=6)
    axes.set_yticks(range(len(gains)), gains, fontsize=6)
    axes.set_ylabel("gain", fontsize=6)
    axes.grid(visible=False)
    # A frame around cells that stand out: much gain at much effort.
    across, down = ([k for k, n in enumerate(names) if n in ("high", "huge")] for names in (efforts, gains))
    if across and down:
        size = across[-1] - across[0] + 0.94, down[-1] - down[0] + 0.94
        style: Any = {"linewidth": 1.1, "edgecolor": ABOVE, "linestyle": (0, (3, 1.5))}
        draw_box(axes, across[0] - 0.47, down[0] - 0.47, *size, **style)


def _badges(axes: Any, finding: Finding) -> None:
    """Draw a word per row: an outlined badge for interval-like measures, a filled one for ordinal measures."""
    rows = _first_rows(finding)
    axes.set_xlim(0, 1)
    for index, row in enumerate(rows):
        word = str(row[finding.chart.value])
        is_doubtful = word == "ordinal"
        text = f"{word}, from length {row['fails_from']}" if is_doubtful else word
        edge, face = (COLOURS[1], COLOURS[1]) if is_doubtful else (COLOURS[2], "white")
        box = {"boxstyle": "round,pad=0.25", "facecolor": face, "edgecolor": edge}
        axes.text(0.03, index, text, va="center", fontsize=6, color="white" if is_doubtful else INK, bbox=box)
    axes.set_xticks([])
    _labels(axes, rows, finding.chart)
    axes.grid(visible=False)


_FORMS: dict[str, Callable[[Any, Any], None]]
_FORMS = {"bars": _bars, "dots": _dots, "plane": _plane, "badges": _badges}
