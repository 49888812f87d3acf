"""A figure together with the numbers that it shows."""

import io
import pickle
import warnings
from base64 import b64encode
from dataclasses import dataclass
from html import escape
from importlib import import_module
from pathlib import Path
from typing import Any

from rankscope.errors import SettingsError, printable
from rankscope.files import write_atomically
from rankscope.plots import latex
from rankscope.plots.style import apply_style, choose, current_style, current_width
from rankscope.result import Result
from rankscope.tables import Table

_METADATA: dict[str, dict[str, Any]] = {
    "pdf": {"CreationDate": None, "ModDate": None, "Producer": "Rankscope", "Creator": None},
    "svg": {"Date": None, "Creator": "Rankscope"},
    "png": {"Software": None},
    "pgf": {},
}
"""Metadata without dates and versions, so that the same figure is the same bytes."""

_MAX_DESCRIBED = 4
"""Number of axes that the alternative text describes."""

FILES = tuple(_METADATA)
"""File formats of figures."""


@dataclass(frozen=True)
class Figure:
    """A matplotlib figure, its axes, and the table of all numbers that it shows."""

    figure: Any
    """Figure of matplotlib."""
    axes: tuple[Any, ...]
    """Axes of the figure."""
    table: Table
    """Numbers that the figure shows."""

    def __repr__(self) -> str:
        width, height = self.figure.get_size_inches()
        return f"<Figure: {self.table.name}, {width:.1f} x {height:.1f} inches, {len(self.table)} rows in its table>"

    def save(self, path: str | Path) -> Path:
        """Write the figure atomically.

        Parameters
        ----------
        path
            File name that ends in ``.pdf``, ``.svg``, ``.png`` or ``.pgf``.

        Returns
        -------
        Path
            The file.
        """
        target = Path(path)
        write_atomically(target, self.render(target.suffix[1:].lower()))
        return target

    def render(self, kind: str) -> bytes:
        r"""Return the figure as the bytes of a file.

        A pgf file is for ``\input`` in a paper (``\usepackage{pgf}``) and has its fonts. With the style latex
        (:func:`rankscope.plots.using`) LaTeX typesets the text of a pdf. Both need an installed LaTeX.

        Parameters
        ----------
        kind
            File format: pdf, svg, png or pgf.

        Returns
        -------
        bytes
            Content of the file.
        """
        if kind not in FILES:
            problem = f"no figure can be a {kind or 'file without an ending'}"
            raise SettingsError(problem, hint="use .pdf, .svg, .png or .pgf")
        out = io.BytesIO()
        by_latex = kind == "pgf" or (kind == "pdf" and current_style.get() == "latex")
        with apply_style() as matplotlib, warnings.catch_warnings():
            # Text that a user added may have characters that the font lacks.
            warnings.filterwarnings("ignore", message="Glyph .* missing from font")
            figure = self._copy()
            options: dict[str, Any] = {"metadata": _METADATA[kind]}
            if by_latex:
                matplotlib.rcParams.update(latex.settings())
                figure = latex.escape_figure(figure)
                options = {"backend": "pgf", **({} if kind == "pgf" else options)}
            elif figure is not self.figure:
                _lay_out(figure, kind)
            try:
                figure.savefig(out, format=kind, **options)
            except (RuntimeError, ValueError) as error:
                if not by_latex:
                    raise
                problem = f"LaTeX cannot typeset this figure: {str(error).strip().splitlines()[0]}"
                raise SettingsError(problem, hint="write .svg or .png") from None
        return out.getvalue()

    def _copy(self) -> Any:
        """Return a copy to draw: drawing moves the axes a little, and a second drawing would start from there."""
        try:
            return pickle.loads(pickle.dumps(self.figure))
        except (pickle.PicklingError, AttributeError, TypeError):
            return self.figure  # A user added an object, such as a lambda, that cannot be pickled.

    @property
    def alt(self) -> str:
        """Description for readers who do not see the figure: titles, labels of the axes, and size of the table."""
        parts = [self.figure.get_suptitle()]
        for axes in self.axes[:_MAX_DESCRIBED]:
            parts += [axes.get_title(loc=place) for place in ("left", "center")]
            sides = ("horizontal", axes.get_xlabel()), ("vertical", axes.get_ylabel())
            parts += [f"{side} axis: {label}" for side, label in sides if label]
        texts = dict.fromkeys(" ".join(part.split()) for part in parts if part.strip())
        name = self.table.caption or self.table.name
        return "; ".join([f"Figure of {name}", *texts, f"{len(self.table):,} values"])

    def _repr_png_(self) -> bytes:
        return self.render("png")

    def _repr_html_(self) -> str:
        """Return an image for a notebook, in its size on paper and not wider than the cell, with alternative text."""
        data = b64encode(self.render("png")).decode("ascii")
        width = round(96 * float(self.figure.get_size_inches()[0]))  # pixels of CSS
        look = f"width: {width}px; max-width: 100%; background: white"
        return f'<img alt="{escape(printable(self.alt))}" style="{look}" src="data:image/png;base64,{data}">'


def _lay_out(figure: Any, kind: str) -> None:
    """Lay out the figure for a file format; otherwise matplotlib draws everything once more only for the layout."""
    from matplotlib import rcParams
    from matplotlib.backend_bases import get_registered_canvas_class

    layout = figure.get_layout_engine()
    if layout is None:
        return
    canvas = get_registered_canvas_class(kind)(figure)  # The canvas of the format measures the text.
    figure.set_dpi(canvas.fixed_dpi or rcParams["savefig.dpi"])
    layout.execute(figure)
    rcParams["figure.constrained_layout.use"] = False  # apply_style() restores it after saving.
    figure.set_layout_engine(None)


def plot(result: Result, figure: str | None = None, **options: Any) -> Figure:
    """Draw a figure of a result.

    Parameters
    ----------
    result
        Result of an analysis.
    figure
        Name of the figure, one of ``result.figures`` (default: the first one).
    **options
        Options of the function that draws it.

    Returns
    -------
    Figure
        The figure with the table of its numbers.

    Examples
    --------
    >>> import rankscope as rs
    >>> scores = rs.evaluate({"q": {"d": 1}}, {"a": {"q": ["d"]}, "b": {"q": ["x", "d"]}}, ["AP", "RR"])
    >>> plot(rs.correlate(scores, "kendall")).table.name
    'correlations'
    """
    figures = result.figures
    if not figures:
        hint = "see the functions of rankscope.plots"
        raise SettingsError(f"there is no figure of {', '.join(result.tables)}", hint=hint)
    name = choose(figure, list(figures), "there is no figure called {}")
    if (width := current_width.get()) is not None:
        options = {"width": width, **options}
    module, _, function = figures[name].rpartition(".")
    drawn: Figure = getattr(import_module(f"rankscope.plots.{module}"), function)(result, **options)
    return drawn
