"""Style of all figures, and helpers that draw them.

Names are untrusted: mathematical markup in them is not interpreted.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from math import isfinite
from typing import Any, TypeVar
from unicodedata import bidirectional

from rankscope.cells import shorten_names
from rankscope.errors import SettingsError, check_name, printable, require_package, suggest_names
from rankscope.plots.palette import COLOURS, INK

R = TypeVar("R")
K = TypeVar("K")
V = TypeVar("V")
STYLES = ("sans", "serif", "latex")
"""Fonts of the text: DejaVu Sans, a font like Times, or the fonts of LaTeX."""

SINGLE, DOUBLE = 3.3, 7.0
"""Widths of one and of two columns of a paper, in inches."""


LEFT_TO_RIGHT = "\u200e"
"""Left-to-right mark, an invisible character."""


_SETTINGS: dict[str, Any] = {
    "text.parse_math": False,
    "text.usetex": False,
    "text.color": INK,
    "axes.formatter.use_mathtext": False,
    "axes.unicode_minus": True,
    "font.family": ["DejaVu Sans"],
    "font.size": 8,
    "axes.titlesize": 8.5,
    "axes.titlelocation": "left",
    "axes.titlepad": 5,
    "axes.titley": 1.0,  # Nothing is above the axes; the search for it takes a tenth of the time of a figure.
    "axes.labelsize": 8,
    "axes.labelcolor": INK,
    "axes.edgecolor": "#555555",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "axes.grid": True,
    "grid.color": "#e6e6e6",
    "grid.linewidth": 0.5,
    "axes.axisbelow": True,
    "legend.fontsize": 7,
    "legend.frameon": False,
    "legend.handlelength": 2.0,
    "legend.columnspacing": 1.4,
    "legend.labelspacing": 0.35,
    "lines.linewidth": 1.2,
    "lines.markersize": 3.5,
    "hatch.linewidth": 0.5,
    "figure.dpi": 110,
    "savefig.dpi": 300,
    "figure.constrained_layout.use": True,
    "figure.constrained_layout.h_pad": 0.03,
    "figure.constrained_layout.w_pad": 0.03,
    "pdf.fonttype": 42,
    "svg.fonttype": "path",
    "svg.hashsalt": "rankscope",
}
for _axis in ("xtick", "ytick"):
    _SETTINGS |= {f"{_axis}.labelsize": 7, f"{_axis}.color": "#444444", f"{_axis}.labelcolor": INK}
    _SETTINGS |= {f"{_axis}.major.width": 0.6, f"{_axis}.major.size": 2.5}


current_style: ContextVar[str] = ContextVar("style", default="sans")
"""Style of :func:`using`."""
current_width: ContextVar[float | None] = ContextVar("width", default=None)
"""Width of :func:`using` in inches, or None if figures have their own widths."""
current_panel: ContextVar[Any] = ContextVar("panel", default=None)
"""Panel of a larger figure into which figures are drawn, or None."""


def matplotlib_modules() -> Any:
    """Import matplotlib when a figure is first drawn; figures need no display."""
    with require_package("matplotlib", "plots", "figures"):
        import matplotlib
        import matplotlib.figure
    return matplotlib


@contextmanager
def apply_style() -> Iterator[Any]:
    """Apply the style to figures drawn in this context, and restore the settings of the user after it."""
    matplotlib = matplotlib_modules()
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_SETTINGS)
        if current_style.get() != "sans":
            # The serif font of matplotlib, like Times; DejaVu Sans has the glyphs that it lacks.
            matplotlib.rcParams.update({"font.family": ["STIXGeneral", "DejaVu Sans"], "font.size": 9})
        yield matplotlib


@contextmanager
def using(style: str = "sans", width: float | None = None) -> Iterator[None]:
    """Draw and save figures in a style and a width.

    With latex, LaTeX typesets the text of a PDF in the fonts of an article. It always typesets ``.pgf`` files, in the
    fonts of the paper that includes them.

    Parameters
    ----------
    style
        Style of figures: sans (the default one), serif (like Times), or latex.
    width
        Width in inches of the figures of results, such as 3.3 for a column of a paper (default: by the figure).

    Examples
    --------
    >>> import rankscope as rs
    >>> with rs.plots.using("serif"):
    ...     figure = rs.curve(rs.Collection({"q": {"a": 1}}, {"q": ["x", "a"]}), None, "q").plot()
    >>> figure.axes[0].title.get_fontfamily()[0]
    'STIXGeneral'
    """
    before = current_style.set(choose(style, STYLES, "there is no style {}")), current_width.set(width)
    try:
        yield
    finally:
        current_style.reset(before[0])
        current_width.reset(before[1])


@contextmanager
def blank(width: float, height: float) -> Iterator[Any]:
    """Apply the style, and yield an empty figure of a size in inches.

    Inside :func:`drawn_into` it is the panel of a larger figure, of any size.
    """
    with apply_style() as matplotlib:
        panel = current_panel.get()
        yield matplotlib.figure.Figure(figsize=(width, height)) if panel is None else panel


@contextmanager
def canvas(width: float, height: float, rows: int = 1, columns: int = 1, **options: Any) -> Iterator[Any]:
    """Apply the style, and yield a figure of a size in inches and its axes."""
    with blank(width, height) as figure:
        yield figure, figure.subplots(rows, columns, **options)


@contextmanager
def drawn_into(panel: Any) -> Iterator[None]:
    """Draw figures of this context into a panel of a larger figure."""
    before = current_panel.set(panel)
    try:
        yield
    finally:
        current_panel.reset(before)


def count(n: int, noun: str) -> str:
    """Format a number of things.

    >>> count(1, "run"), count(1200, "topic")
    ('1 run', '1,200 topics')
    """
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def distinct(values: Iterable[object]) -> list[str]:
    """Return the distinct values as text, in their order."""
    return list(dict.fromkeys(map(str, values)))


def group(pairs: Iterable[tuple[K, V]]) -> dict[K, list[V]]:
    """Return the values of each key, in their order.

    >>> group([("a", 1), ("b", 2), ("a", 3)])
    {'a': [1, 3], 'b': [2]}
    """
    values: dict[K, list[V]] = {}
    for key, value in pairs:
        values.setdefault(key, []).append(value)
    return values


def finite_or_zero(value: Any) -> float:
    """Return a number, or 0 if it is undefined or infinite."""
    return float(value) if isinstance(value, int | float) and isfinite(value) else 0.0


def choose(name: object, names: Sequence[str], problem: str) -> str:
    """Return the name, or the first one if it is None; raise an error with suggestions if there is no such name."""
    selected = names[0] if name is None else str(name)
    check_name(selected, names, problem.format(repr(selected)))
    return selected


def choose_measure(rows: Iterable[R], measure: object, problem: str) -> tuple[str, list[R]]:
    """Return the name of a measure, by default the first one of the rows, and its rows."""
    listed: list[Any] = list(rows)
    name = choose(measure, distinct(row.measure for row in listed), problem)
    return name, [row for row in listed if row.measure == name]


def check_highlight(highlight: Iterable[str], names: Sequence[str], noun: str = "run") -> None:
    """Raise an error if a name to highlight does not exist."""
    for name in highlight:
        if name not in names:
            hint = suggest_names(name, names) or None
            raise SettingsError(f"there is no {noun} {name!r} to highlight", hint=hint)


def choose_highlighted(runs: Sequence[str], highlight: Sequence[str], best: Sequence[str]) -> list[str]:
    """Return the runs to draw in colour: those of ``highlight``, or the best ones, one per colour.

    >>> choose_highlighted(["a", "b"], [], ["b", "a"]), choose_highlighted(["a", "b"], ["a", "a"], ["b", "a"])
    (['b', 'a'], ['a'])
    """
    check_highlight(highlight, runs)
    return list(dict.fromkeys(highlight)) or list(best[: len(COLOURS)])


@cache
def _glyphs() -> frozenset[int]:
    """Return the characters of the font of matplotlib, with which figures are the same on every machine."""
    from matplotlib.font_manager import findfont
    from matplotlib.ft2font import FT2Font

    return frozenset(FT2Font(findfont("DejaVu Sans")).get_charmap())


def shorten(name: str, width: int = 28) -> str:
    """Shorten a name in its middle, and escape control characters and characters that the font lacks.

    Escapes keep names distinct that would all be empty boxes.

    >>> shorten("x" * 40, 11), shorten("a\\nb"), shorten("漢"), shorten("")
    ('xxxxx…xxxxx', 'a\\\\nb', '\\\\u6f22', "''")
    """
    text = printable(str(name)) if str(name).strip() else repr(str(name))
    if not text.isascii():
        glyphs = _glyphs()
        text = "".join(c if ord(c) in glyphs else ascii(c)[1:-1] for c in text)
    if len(text) > width:
        text = text[: width // 2] + "…" + text[len(text) - (width - width // 2 - 1) :]
    # Marks around a right-to-left name keep the direction of the text next to it.
    is_right_to_left = any(bidirectional(c) in ("R", "AL") for c in text)
    return LEFT_TO_RIGHT + text + LEFT_TO_RIGHT if is_right_to_left else text


def shorten_all(names: Iterable[object], width: int) -> list[str]:
    """Shorten names so that different names stay different.

    >>> shorten_all(["run-with-a-long-name-1", "run-with-a-long-name-2", "bm25"], 12)
    ['run-wi…ame-1', 'run-wi…ame-2', 'bm25']
    """
    texts = [str(name) for name in names]
    short = shorten_names(texts, width)
    return [shorten(short[text], width) for text in texts]


def is_wide(width: float) -> bool:
    """Return whether a figure is wider than a column of a paper, with room for panels side by side."""
    return width >= 5
