"""One look for all figures: colour-blind safe, readable in grey, text taken as it is.

The qualitative colours are those of Okabe and Ito (2008); every series also differs by marker or dash, so that a
figure survives a grey printer. Names are data: mathematical markup in them is never interpreted.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rankscope.errors import MissingDependencyError

__all__ = ["ABOVE", "BELOW", "COLOURS", "DASHES", "EXACT", "MARKERS", "matplotlib_modules", "short", "styled"]

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000", "#F0E442")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
DASHES = ("solid", (0, (5, 1.5)), (0, (1, 1)), (0, (5, 1.5, 1, 1.5)), (0, (3, 1, 1, 1, 1, 1)))
EXACT, ABOVE, BELOW = "#009E73", "#D55E00", "#0072B2"
"""RP bars: a document in its interval, above it (too early), below it (too late)."""

_SETTINGS: dict[str, Any] = {
    "text.parse_math": False,
    "text.usetex": False,
    "axes.formatter.use_mathtext": False,
    "axes.unicode_minus": True,
    "font.family": ["DejaVu Sans"],
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.labelsize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.7,
    "axes.grid": True,
    "grid.color": "#e3e3e3",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "lines.linewidth": 1.4,
    "lines.markersize": 4,
    "figure.dpi": 110,
    "savefig.dpi": 200,
    "figure.constrained_layout.use": True,
    "pdf.fonttype": 42,
    "svg.fonttype": "path",
    "svg.hashsalt": "rankscope",
}


def matplotlib_modules() -> Any:
    """matplotlib's figure module, loaded when a figure is first drawn; no display is ever needed."""
    try:
        import matplotlib
        import matplotlib.figure
    except ImportError:
        raise MissingDependencyError.of("matplotlib", "plots", "figures") from None
    return matplotlib


@contextmanager
def styled() -> Iterator[Any]:
    """Draw inside this context: the settings hold for the figure and nothing of the user's is changed."""
    matplotlib = matplotlib_modules()
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_SETTINGS)
        yield matplotlib


def short(name: str, width: int = 28) -> str:
    """A name that fits beside an axis: control characters shown, the middle of long ones left out.

    >>> short("x" * 40, 11)
    'xxxxx…xxxxx'
    """
    from rankscope.errors import printable

    text = printable(name)
    if len(text) <= width:
        return text
    return text[: width // 2] + "…" + text[len(text) - (width - width // 2 - 1) :]
