"""Style of all figures, and helpers that draw them: colour-blind safe, readable in grey.

The report has the same colours, after Okabe and Ito (2008). Series also differ by marker or dash, so that they are
distinct on a grey printer. Names are untrusted: mathematical markup in them is not interpreted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from math import isfinite
from typing import Any
from unicodedata import bidirectional

from rankscope.errors import MissingDependencyError, SettingsError, printable, suggest_names

STYLES = ("sans", "serif", "latex")
"""Fonts of the text: DejaVu Sans, a font like Times, or the fonts of LaTeX."""

SINGLE, DOUBLE = 3.4, 7.0
"""Widths of one and of two columns of a paper, in inches."""

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#b0578d", "#b67c00", "#3a9bd9", "#6a4fb5", "#1b1f24")
"""Colours of runs and other series, in the order of the report (``--run-0`` to ``--run-7``)."""

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "<")
DASHES = ("solid", (0, (5, 1.5)), (0, (1, 1)), (0, (5, 1.5, 1, 1.5)), (0, (3, 1, 1, 1, 1, 1)))
EXACT, ABOVE, BELOW = "#c4c8c6", "#b8560b", "#12579e"
"""Colours of RP bars: a document in its interval, above it (too early), below it (too late); as in the report."""

ARCHETYPE_COLOURS = ("#08306b", "#1f5fa8", "#5e97cc", "#8fb8d9", "#a39b86", "#e08e4d", "#c05f14", "#93400a")
QUARTER_COLOURS = ("#7fb8e6", "#3f8fd0", "#c98a2b", "#a1430d")
"""Colours of archetypes, and of the quarters of topics by recall base, as in the report."""

INK, QUIET = "#222222", "#8a8a8a"
"""Colours of text and important marks, and of secondary lines."""

_LOG_RANKS = (1, 3, 10, 30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000)

LEFT_TO_RIGHT = "\u200e"
"""Left-to-right mark, an invisible character."""

MAX_ENTRIES = 24
"""Number of entries of a legend; further series are drawn and are in the table, but not in the legend."""

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
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "xtick.color": "#444444",
    "ytick.color": "#444444",
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
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


def matplotlib_modules() -> Any:
    """Import matplotlib when a figure is first drawn; figures need no display."""
    try:
        import matplotlib
        import matplotlib.figure
    except ImportError:
        raise MissingDependencyError.for_package("matplotlib", "plots", "figures") from None
    return matplotlib


@contextmanager
def styled() -> Iterator[Any]:
    """Apply the style to figures drawn in this context, and restore the settings of the user after it."""
    matplotlib = matplotlib_modules()
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_SETTINGS)
        if chosen_style() != "sans":
            # The serif font of matplotlib, like Times; DejaVu Sans has the glyphs that it lacks.
            matplotlib.rcParams.update({"font.family": ["STIXGeneral", "DejaVu Sans"], "font.size": 9})
        yield matplotlib


_STYLE: ContextVar[str] = ContextVar("style", default="sans")


def chosen_style() -> str:
    """Return the style of :func:`using`."""
    return _STYLE.get()


@contextmanager
def using(style: str) -> Iterator[None]:
    """Draw and save figures in a style.

    With latex, LaTeX typesets the text of a PDF in the fonts of an article. It always typesets ``.pgf`` files, in the
    fonts of the paper that includes them.

    Parameters
    ----------
    style
        Style of figures: sans (the default one), serif (like Times), or latex.

    Examples
    --------
    >>> import rankscope as rs
    >>> with rs.plots.using("serif"):
    ...     figure = rs.curve(rs.Collection({"q": {"a": 1}}, {"q": ["x", "a"]}), None, "q").plot()
    >>> figure.axes[0].title.get_fontfamily()[0]
    'STIXGeneral'
    """
    if style not in STYLES:
        raise SettingsError(
            f"there is no style {style!r}",
            hint=suggest_names(style, STYLES) or f"choose one of {', '.join(STYLES)}",
        )
    before = _STYLE.set(style)
    try:
        yield
    finally:
        _STYLE.reset(before)


_PANEL: ContextVar[Any] = ContextVar("panel", default=None)


def blank(width: float, height: float) -> Any:
    """Return an empty figure of a size in inches; call it inside :func:`styled`.

    Inside :func:`drawn_into` it is the panel of a larger figure, of any size.
    """
    panel = _PANEL.get()
    return matplotlib_modules().figure.Figure(figsize=(width, height)) if panel is None else panel


@contextmanager
def canvas(width: float, height: float, rows: int = 1, columns: int = 1, **options: Any) -> Iterator[Any]:
    """Apply the style, and yield a figure of a size in inches and its axes."""
    with styled():
        figure = blank(width, height)
        yield figure, figure.subplots(rows, columns, **options)


@contextmanager
def drawn_into(panel: Any) -> Iterator[None]:
    """Draw figures of this context into a panel of a larger figure."""
    before = _PANEL.set(panel)
    try:
        yield
    finally:
        _PANEL.reset(before)


def series(index: int) -> dict[str, Any]:
    """Return colour, marker and dash of a series; the three have different periods, so that 360 series differ."""
    return {
        "color": COLOURS[index % len(COLOURS)],
        "marker": MARKERS[index % len(MARKERS)],
        "linestyle": DASHES[index % len(DASHES)],
    }


def rank_axis(axes: Any, ranks: Sequence[int]) -> None:
    """Make the horizontal axis a logarithmic axis of ranks."""
    from matplotlib.ticker import NullLocator

    deepest = max(ranks, default=1)
    axes.set_xscale("log")
    axes.set_xticks([tick for tick in _LOG_RANKS if tick <= deepest] or [1])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.set_xlim(min(ranks, default=1) / 1.1, deepest * 1.1)


def label(axes: Any, text: str, point: tuple[float, float], offset: tuple[float, float], **looks: Any) -> Any:
    """Write text ``offset`` points away from a point, on a white background that hides lines behind it."""
    paper = {"boxstyle": "square,pad=0.1", "facecolor": "white", "edgecolor": "none", "alpha": 0.75}
    return axes.annotate(
        text, point, offset, textcoords="offset points", fontsize=6.5, color=INK, bbox=paper, zorder=6, **looks
    )  # fmt: skip


def name_rows(axes: Any, names: Sequence[str], **looks: Any) -> None:
    """Write a name at each row of the vertical axis, the first row on top, without ticks and grid lines."""
    axes.set_yticks(range(len(names)), names, **looks)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="y", visible=False)


def hide_frame(axes: Any) -> None:
    """Hide ticks, grid lines and spines, for a table of cells."""
    axes.tick_params(length=0)
    axes.grid(visible=False)
    axes.spines[:].set_visible(False)


def entry(label: str, **looks: Any) -> Any:
    """Return a line or marker for a legend."""
    from matplotlib.lines import Line2D

    return Line2D([], [], label=label, **looks)


def count(n: int, noun: str) -> str:
    """Format a number of things.

    >>> count(1, "run"), count(1200, "topic")
    ('1 run', '1,200 topics')
    """
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def distinct(values: Iterable[object]) -> list[str]:
    """Return the distinct values as text, in their order."""
    return list(dict.fromkeys(map(str, values)))


def finite(value: Any) -> float:
    """Return a number, or 0 if it is undefined or infinite."""
    return float(value) if isinstance(value, int | float) and isfinite(value) else 0.0


def choose(name: object, names: Sequence[str], problem: str) -> str:
    """Return the name, or the first one if it is None; raise an error with suggestions if there is no such name."""
    selected = names[0] if name is None else str(name)
    if selected not in names:
        hint = suggest_names(selected, names) or f"choose one of {', '.join(names)}"
        raise SettingsError(problem.format(repr(selected)), hint=hint)
    return selected


def spread(positions: Sequence[float], gap: float) -> list[float]:
    """Move ascending positions apart as little as possible, so that no two are closer than ``gap``.

    >>> spread([1, 1, 1, 5], 1)
    [0.0, 1.0, 2.0, 5.0]
    """
    groups: list[tuple[float, int]] = []  # centre and size of groups of adjacent positions
    for position in positions:
        centre, size = float(position), 1
        while groups and centre - groups[-1][0] < gap * (size + groups[-1][1]) / 2 - 1e-9:
            before, more = groups.pop()
            centre, size = (before * more + centre * size) / (more + size), more + size
        groups.append((centre, size))
    return [centre + gap * (k - (size - 1) / 2) for centre, size in groups for k in range(size)]


def choose_highlighted(runs: Sequence[str], highlight: Sequence[str], best: Sequence[str]) -> list[str]:
    """Return the runs to draw in colour: those of ``highlight``, or the best ones, one per colour.

    >>> choose_highlighted(["a", "b"], [], ["b", "a"]), choose_highlighted(["a", "b"], ["a", "a"], ["b", "a"])
    (['b', 'a'], ['a'])
    """
    for name in highlight:
        if name not in runs:
            raise SettingsError(
                f"there is no run {name!r} to highlight", hint=suggest_names(name, runs) or None
            )
    return list(dict.fromkeys(highlight)) or list(best[: len(COLOURS)])


def name_lines(axes: Any, ends: Sequence[tuple[float, str, str]], gap: float) -> None:
    """Write the names of lines at their right ends, in their colours, moved apart where they would overlap.

    ``ends`` has height, name and colour of each line; ``gap`` is the height of a name in data units.
    """
    order = sorted(range(len(ends)), key=lambda k: ends[k][0])
    positions = spread([ends[k][0] for k in order], gap)
    low, high = sorted(axes.get_ylim())
    # Two passes keep the names inside the axes, as far as there is room.
    for k in range(len(positions)):
        positions[k] = max(positions[k], low + gap / 2 if k == 0 else positions[k - 1] + gap)
    for k in reversed(range(len(positions))):
        positions[k] = min(
            positions[k], high - gap / 2 if k == len(positions) - 1 else positions[k + 1] - gap
        )
    for k, position in zip(order, positions, strict=True):
        height, name, colour = ends[k]
        axes.annotate(
            short(name, 20), (1.0, height), (12, position), xycoords=("axes fraction", "data"),
            textcoords=("offset points", "data"), va="center", fontsize=6.5, color=colour, annotation_clip=False,
            arrowprops={
                "arrowstyle": "-", "color": colour, "linewidth": 0.5, "shrinkA": 0, "shrinkB": 3, "relpos": (0, 0.5),
            },
        )  # fmt: skip


def legend_below(figure: Any, handles: Sequence[Any], columns: int) -> Any:
    """Add a legend below all axes, with at most :data:`MAX_ENTRIES` entries."""
    shown = list(handles)
    if len(shown) > MAX_ENTRIES:
        more = entry(f"and {len(shown) - MAX_ENTRIES + 1} more", linestyle="none")
        shown = [*shown[: MAX_ENTRIES - 1], more]
    for handle in shown:
        if handle.get_label().startswith("_"):  # matplotlib leaves out labels that start with an underscore.
            handle.set_label(LEFT_TO_RIGHT + handle.get_label())
    if _PANEL.get() is not None:  # A panel may be narrow; an inch has room for about 13 letters of a legend.
        longest = max((len(handle.get_label()) for handle in shown), default=0)
        columns = min(columns, int(figure.bbox.width / figure.dpi * 13 / (longest + 7)))
    return figure.legend(handles=shown, loc="outside lower center", ncols=max(1, min(columns, len(shown))))


@cache
def _glyphs() -> frozenset[int]:
    """Return the characters of the font of matplotlib, with which figures are the same on every machine."""
    from matplotlib.font_manager import findfont
    from matplotlib.ft2font import FT2Font

    return frozenset(FT2Font(findfont("DejaVu Sans")).get_charmap())


def short(name: str, width: int = 28) -> str:
    """Shorten a name in its middle, and escape control characters and characters that the font lacks.

    Escapes keep names distinct that would all be empty boxes.

    >>> short("x" * 40, 11), short("a\\nb"), short("漢"), short("")
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
