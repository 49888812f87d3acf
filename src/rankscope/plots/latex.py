r"""Prepares figures that LaTeX typesets: PGF for ``\input``, or a PDF in the fonts of a paper.

matplotlib passes texts to LaTeX as source code. Names are untrusted, so that texts and tick labels are escaped.
"""

import shutil
from typing import Any

import numpy as np

from rankscope.cells import latex_text
from rankscope.errors import SettingsError

_SYSTEMS = ("xelatex", "lualatex", "pdflatex")

_SIGNS = {
    "−": r"\ensuremath{-}", "Δ": r"\ensuremath{\Delta}", "β": r"\ensuremath{\beta}", "α": r"\ensuremath{\alpha}",
    "τ": r"\ensuremath{\tau}", "ρ": r"\ensuremath{\rho}", "≤": r"\ensuremath{\le}", "≥": r"\ensuremath{\ge}",
    "∅": r"\ensuremath{\emptyset}", "·": r"\ensuremath{\cdot}", "→": r"\ensuremath{\rightarrow}",
    "×": r"\ensuremath{\times}", "↓": r"\ensuremath{\downarrow}", "↑": r"\ensuremath{\uparrow}",
    "σ": r"\ensuremath{\sigma}", "∞": r"\ensuremath{\infty}", "✓": r"\ensuremath{\surd}", "✗": r"\ensuremath{\times}",
    "–": "--", "—": "---", "…": r"\dots{}", "\u200e": "",
}  # fmt: skip
"""Symbols of figures as commands that every LaTeX has."""


def tex_system() -> str:
    """Return the installed LaTeX, or raise an error."""
    system = next((name for name in _SYSTEMS if shutil.which(name)), None)
    if system is None:
        names = f"{', '.join(_SYSTEMS[:-1])} or {_SYSTEMS[-1]}"
        hint = "install one of them, or write .pdf, .svg or .png without the style latex"
        raise SettingsError(f"LaTeX must typeset this figure, and there is no {names}", hint=hint)
    return system


def settings() -> dict[str, Any]:
    """Return the settings of matplotlib for LaTeX; fonts and packages are those of the document."""
    return {"pgf.texsystem": tex_system(), "pgf.rcfonts": False, "pgf.preamble": "", "font.family": ["serif"]}


def tex(text: str) -> str:
    r"""Escape a text for LaTeX; letters other than Latin ones become escapes, because fonts may lack them.

    >>> print(tex("50 % of a_b"), tex("Δ ≤ é"), tex("\\input{x}"), tex("ש"))
    50 \% of a\_b \ensuremath{\Delta} \ensuremath{\le} é \textbackslash{}input\{x\} \textbackslash{}u05e9
    """
    return "".join(_SIGNS[c] if c in _SIGNS else latex_text(_latin(c)) for c in text)


def _latin(character: str) -> str:
    return character if character.isascii() or "\u00c0" <= character <= "\u017f" else ascii(character)[1:-1]


def escape_figure(figure: Any) -> Any:
    """Escape all texts of a figure, and replace images, which would be files of their own."""
    from matplotlib.image import AxesImage
    from matplotlib.text import Text

    for axes in figure.findobj(lambda artist: hasattr(artist, "xaxis")):
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter(_escape_formatter(axis.get_major_formatter()))
    for text in figure.findobj(Text):
        text.set_text(tex(text.get_text()))
    for artist in figure.findobj(lambda artist: artist.get_rasterized()):
        artist.set_rasterized(False)
    for image in figure.findobj(AxesImage):
        _replace_image(image)
    return figure


def _replace_image(image: Any) -> None:
    """Replace the image of a matrix by a mesh with a square per number."""
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


def _escape_formatter(formatter: Any) -> Any:
    from matplotlib.ticker import Formatter

    class Escaped(Formatter):
        """Formatter that escapes the labels of another one."""

        def __call__(self, x: float, pos: int | None = None) -> str:
            return tex(formatter(x, pos))

        def format_ticks(self, values: Any) -> list[str]:
            return [tex(label) for label in formatter.format_ticks(values)]

        def get_offset(self) -> str:
            return tex(formatter.get_offset())

    escaped = Escaped()
    if formatter.axis is not None:
        escaped.set_axis(formatter.axis)
    return escaped
