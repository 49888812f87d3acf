"""A figure and the numbers it shows, together."""

from __future__ import annotations

import io
import pickle
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rankscope.errors import SettingsError
from rankscope.files import write_atomically
from rankscope.plots import latex
from rankscope.plots.style import chosen_style, styled
from rankscope.tables import Table

__all__ = ["FILES", "Figure"]

_METADATA: dict[str, dict[str, Any]] = {
    "pdf": {"CreationDate": None, "ModDate": None, "Producer": "Rankscope", "Creator": None},
    "svg": {"Date": None, "Creator": "Rankscope"},
    "png": {"Software": None},
    "pgf": {},  # has none
}
"""Without dates and versions the same figure is the same bytes."""

FILES = tuple(_METADATA)
"""The kinds of files a figure can become."""


@dataclass(frozen=True)
class Figure:
    """What was drawn: the matplotlib figure, its axes, and the table of every number in it."""

    figure: Any
    axes: tuple[Any, ...]
    table: Table

    def __repr__(self) -> str:
        width, height = self.figure.get_size_inches()
        return f"<Figure: {self.table.name}, {width:.1f} x {height:.1f} inches, {len(self.table)} rows in its table>"

    def save(self, path: str | Path) -> Path:
        """Write a PDF, SVG, PNG or PGF (by the ending of the name), whole or not at all."""
        target = Path(path)
        write_atomically(target, self.render(target.suffix[1:].lower()))
        return target

    def render(self, kind: str) -> bytes:
        r"""The figure as the bytes of a pdf, svg, png or pgf file.

        A pgf file is for ``\input`` in a paper (``\usepackage{pgf}``), whose fonts its text has; with the style latex
        (:func:`rankscope.plots.using`) a pdf has its text set by LaTeX. Both need a LaTeX that can be called.
        """
        if kind not in FILES:
            raise SettingsError(
                f"no figure can be a {kind or 'file without an ending'}", hint="use .pdf, .svg, .png or .pgf"
            )
        out = io.BytesIO()
        by_latex = kind == "pgf" or (kind == "pdf" and chosen_style() == "latex")
        with styled() as matplotlib, warnings.catch_warnings():
            # text that a user added may use characters that the font lacks: no reason to speak
            warnings.filterwarnings("ignore", message="Glyph .* missing from font")
            figure = self._copy()
            options: dict[str, Any] = {"metadata": _METADATA[kind]}
            if by_latex:
                matplotlib.rcParams.update(latex.settings())
                figure, options = (
                    latex.prepared(figure),
                    {"backend": "pgf", **({} if kind == "pgf" else options)},
                )
            elif figure is not self.figure:
                _lay_out(figure, kind)
            try:
                figure.savefig(out, format=kind, **options)
            except (RuntimeError, ValueError) as error:
                if not by_latex:
                    raise
                said = str(error).strip().splitlines()[0]
                raise SettingsError(
                    f"LaTeX could not set this figure: {said}", hint="write .svg or .png"
                ) from None
        return out.getvalue()

    def _copy(self) -> Any:
        """Drawing moves the axes a little, and a second drawing would begin from there: so a copy is drawn."""
        try:
            return pickle.loads(pickle.dumps(self.figure))
        except (pickle.PicklingError, AttributeError, TypeError):
            return self.figure  # a user added something, such as a lambda, that cannot be copied

    def _repr_png_(self) -> bytes:
        return self.render("png")


def _lay_out(figure: Any, kind: str) -> None:
    """Give everything its place, as a kind of file needs it: else matplotlib draws all of it once only for that."""
    from matplotlib import rcParams
    from matplotlib.backend_bases import get_registered_canvas_class

    layout = figure.get_layout_engine()
    if layout is None:
        return
    canvas = get_registered_canvas_class(kind)(figure)  # which measures the text
    figure.set_dpi(canvas.fixed_dpi or rcParams["savefig.dpi"])
    layout.execute(figure)
    rcParams["figure.constrained_layout.use"] = False  # until the figure is saved
    figure.set_layout_engine(None)
