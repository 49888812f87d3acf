"""Colours, markers and dashes of all figures: colour-blind safe, readable in grey.

The report has the same colours, after Okabe and Ito (2008). Series also differ by marker or dash, so that they are
distinct on a grey printer.
"""

from typing import Any

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#b0578d", "#b67c00", "#3a9bd9", "#6a4fb5", "#1b1f24")
"""Colours of runs and other series, in the order of the report (``--run-0`` to ``--run-7``)."""

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "<")
DASHES = ("solid", (0, (5, 1.5)), (0, (1, 1)), (0, (5, 1.5, 1, 1.5)), (0, (3, 1, 1, 1, 1, 1)))
GAIN, LOSS, EFFORT, UNJUDGED = "#12579e", "#b8560b", "#00796b", "#8e6bbf"
"""One colour per meaning: more gain or a win, less gain or a loss, effort (CRP), and unjudged documents."""

EXACT, ABOVE, BELOW = "#c4c8c6", LOSS, GAIN
"""Colours of RP bars: a document in its interval, above it (too early: its grade is too low for the rank), below it
(too late: its grade is higher than the ideal one of the rank); as in the report."""

ARCHETYPE_COLOURS = ("#08306b", "#1f5fa8", "#5e97cc", "#8fb8d9", "#a39b86", "#e08e4d", "#c05f14", "#93400a")
QUARTER_COLOURS = ("#7fb8e6", "#3f8fd0", "#c98a2b", "#a1430d")
"""Colours of archetypes, and of the quarters of topics by recall base, as in the report."""

INK, QUIET = "#222222", "#8a8a8a"
"""Colours of text and important marks, and of secondary lines."""


def series(index: int) -> dict[str, Any]:
    """Return colour, marker and dash of a series; the three have different periods, so that 360 series differ."""
    return {
        "color": COLOURS[index % len(COLOURS)],
        "marker": MARKERS[index % len(MARKERS)],
        "linestyle": DASHES[index % len(DASHES)],
    }
