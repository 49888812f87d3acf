r"""Figures whose text LaTeX sets: PGF for ``\input``, or a PDF in the fonts of a paper.

matplotlib asks a running LaTeX how wide words are, and gives it every text as a program. Names are data: before that,
every character that LaTeX would act on is escaped, in texts and in the labels of ticks.
"""

from __future__ import annotations

import shutil
from typing import Any

import numpy as np

from rankscope.cells import latex_text
from rankscope.errors import SettingsError

__all__ = ["prepared", "settings", "tex", "tex_system"]

_SYSTEMS = ("xelatex", "lualatex", "pdflatex")

_SIGNS = {
    "−": r"\ensuremath{-}", "Δ": r"\ensuremath{\Delta}", "β": r"\ensuremath{\beta}", "α": r"\ensuremath{\alpha}",
    "τ": r"\ensuremath{\tau}", "ρ": r"\ensuremath{\rho}", "≤": r"\ensuremath{\le}", "≥": r"\ensuremath{\ge}",
    "∅": r"\ensuremath{\emptyset}", "·": r"\ensuremath{\cdot}", "→": r"\ensuremath{\rightarrow}",
    "×": r"\ensuremath{\times}", "↓": r"\ensuremath{\downarrow}", "↑": r"\ensuremath{\uparrow}",
    "–": "--", "—": "---", "…": r"\dots{}", "\u200e": "",
}  # fmt: skip
"""What the figures write beyond letters, as every LaTeX knows it."""


def tex_system() -> str:
    """The LaTeX that measures the text of a figure, or an error that says what is missing."""
    found = next((name for name in _SYSTEMS if shutil.which(name)), None)
    if found is None:
        raise SettingsError(
            f"text of figures can only be set by LaTeX, and there is no {', '.join(_SYSTEMS[:-1])} or {_SYSTEMS[-1]}",
            hint="install one of them, or write .pdf, .svg or .png without the style latex",
        )
    return found


def settings() -> dict[str, Any]:
    """matplotlib's settings for a figure of LaTeX: fonts and packages are those of the document."""
    return {"pgf.texsystem": tex_system(), "pgf.rcfonts": False, "pgf.preamble": "", "font.family": ["serif"]}


def tex(text: str) -> str:
    r"""A text as LaTeX shows it; letters beyond Latin are written as escapes, which no font lacks.

    >>> print(tex("50 % of a_b"), tex("Δ ≤ é"), tex("\\input{x}"), tex("ש"))
    50 \% of a\_b \ensuremath{\Delta} \ensuremath{\le} é \textbackslash{}input\{x\} \textbackslash{}u05e9
    """
    return "".join(_SIGNS[c] if c in _SIGNS else latex_text(_latin(c)) for c in text)


def _latin(character: str) -> str:
    return character if character.isascii() or "\u00c0" <= character <= "\u017f" else ascii(character)[1:-1]


def prepared(figure: Any) -> Any:
    """A figure, made ready for LaTeX: texts escaped, and nothing in it that would be a picture in a file of its own."""
    from matplotlib.image import AxesImage
    from matplotlib.text import Text

    for axes in figure.findobj(lambda artist: hasattr(artist, "xaxis")):
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter(_escaped(axis.get_major_formatter()))
    for text in figure.findobj(Text):
        text.set_text(tex(text.get_text()))
    for artist in figure.findobj(lambda artist: artist.get_rasterized()):
        artist.set_rasterized(False)
    for image in figure.findobj(AxesImage):
        _as_squares(image)
    return figure


def _as_squares(image: Any) -> None:
    """An image of a matrix as a square for each of its numbers."""
    values = image.get_array()
    left, right, bottom, top = image.get_extent()
    across = np.linspace(left, right, values.shape[1] + 1)
    ends = (top, bottom) if image.origin == "upper" else (bottom, top)
    axes = image.axes
    limits = axes.get_xlim(), axes.get_ylim()
    axes.pcolormesh(
        across, np.linspace(*ends, values.shape[0] + 1), values, cmap=image.get_cmap(), norm=image.norm,
        zorder=image.get_zorder(),
    )  # fmt: skip
    axes.set(xlim=limits[0], ylim=limits[1])
    image.remove()


def _escaped(formatter: Any) -> Any:
    from matplotlib.ticker import Formatter

    class Escaped(Formatter):
        """The labels of another formatter, escaped."""

        def __call__(self, x: float, pos: int | None = None) -> str:
            return tex(formatter(x, pos))

        def format_ticks(self, values: Any) -> list[str]:
            return [tex(label) for label in formatter.format_ticks(values)]

        def get_offset(self) -> str:
            return tex(formatter.get_offset())

    found = Escaped()
    if formatter.axis is not None:
        found.set_axis(formatter.axis)
    return found
