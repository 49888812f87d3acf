"""One look for all figures: colour-blind safe, readable in grey, text taken as it is.

Colours are those of the page, after Okabe and Ito (2008); every series also differs by marker or dash, so that a figure
survives a grey printer. Names are data: mathematical markup in them is never interpreted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any
from unicodedata import bidirectional

from rankscope.errors import MissingDependencyError, SettingsError, printable, suggest_names

__all__ = [
    "ABOVE",
    "ARCHETYPE_COLOURS",
    "BELOW",
    "COLOURS",
    "DASHES",
    "DOUBLE",
    "EXACT",
    "INK",
    "MARKERS",
    "QUARTER_COLOURS",
    "QUIET",
    "SINGLE",
    "STYLES",
    "blank",
    "chosen_style",
    "drawn_into",
    "highlighted",
    "label",
    "legend_below",
    "matplotlib_modules",
    "names_at_the_end",
    "rank_axis",
    "series",
    "short",
    "spread",
    "styled",
    "using",
]

STYLES = ("sans", "serif", "latex")
"""Whose fonts the text has."""

SINGLE, DOUBLE = 3.4, 7.0
"""The widths of one and of two columns of a paper, in inches."""

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#b0578d", "#b67c00", "#3a9bd9", "#6a4fb5", "#1b1f24")
"""Of runs and other series, in the order in which the page gives them (``--run-0`` to ``--run-7``)."""

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "<")
DASHES = ("solid", (0, (5, 1.5)), (0, (1, 1)), (0, (5, 1.5, 1, 1.5)), (0, (3, 1, 1, 1, 1, 1)))
EXACT, ABOVE, BELOW = "#c4c8c6", "#b8560b", "#12579e"
"""RP bars: a document in its interval, above it (too early), below it (too late); the page's exact, early and late."""

ARCHETYPE_COLOURS = ("#08306b", "#1f5fa8", "#5e97cc", "#8fb8d9", "#a39b86", "#e08e4d", "#c05f14", "#93400a")
QUARTER_COLOURS = ("#7fb8e6", "#3f8fd0", "#c98a2b", "#a1430d")
"""Of archetypes, and of the quarters of topics by recall base, as on the page."""

INK, QUIET = "#222222", "#8a8a8a"
"""Text and marks that must be seen, and lines that only guide the eye."""

_LOG_RANKS = (1, 3, 10, 30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000)

LEFT_TO_RIGHT = "\u200e"
"""An invisible character that reads from left to right."""

MOST_ENTRIES = 24
"""Entries of a legend; further series are drawn and stand in the table, but are not listed."""

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
    "axes.titley": 1.0,  # nothing lies above the axes: to look for it takes a tenth of the time of a figure
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
    """matplotlib's figure module, loaded when a figure is first drawn; no display is ever needed."""
    try:
        import matplotlib
        import matplotlib.figure
    except ImportError:
        raise MissingDependencyError.for_package("matplotlib", "plots", "figures") from None
    return matplotlib


@contextmanager
def styled() -> Iterator[Any]:
    """Draw inside this context: the settings hold for the figure and nothing of the user's is changed."""
    matplotlib = matplotlib_modules()
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_SETTINGS)
        if chosen_style() != "sans":
            # a serif font like Times that comes with matplotlib; what it lacks is taken from the usual one
            matplotlib.rcParams.update({"font.family": ["STIXGeneral", "DejaVu Sans"], "font.size": 9})
        yield matplotlib


_STYLE: ContextVar[str] = ContextVar("style", default="sans")


def chosen_style() -> str:
    """The style of the figures that are drawn now."""
    return _STYLE.get()


@contextmanager
def using(style: str) -> Iterator[None]:
    """Draw and save figures in a style: sans (the usual one), serif (like Times), or latex.

    With latex, LaTeX sets the text of a PDF in the fonts of an article. It does so for every ``.pgf`` file, whose fonts
    are those of the paper that includes it.

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
    """An empty figure of a size in inches, made without a display; call it inside :func:`styled`.

    Inside :func:`drawn_into` it is the panel of a larger figure, whatever the size.
    """
    panel = _PANEL.get()
    return matplotlib_modules().figure.Figure(figsize=(width, height)) if panel is None else panel


@contextmanager
def drawn_into(panel: Any) -> Iterator[None]:
    """Whatever is drawn here becomes a panel of a larger figure."""
    before = _PANEL.set(panel)
    try:
        yield
    finally:
        _PANEL.reset(before)


def series(index: int) -> dict[str, Any]:
    """Colour, marker and dash of the n-th series; the three have different periods, so that 360 series differ."""
    return {
        "color": COLOURS[index % len(COLOURS)],
        "marker": MARKERS[index % len(MARKERS)],
        "linestyle": DASHES[index % len(DASHES)],
    }


def rank_axis(axes: Any, ranks: Sequence[int]) -> None:
    """A horizontal axis of ranks, closer together the deeper they are."""
    from matplotlib.ticker import NullLocator

    deepest = max(ranks, default=1)
    axes.set_xscale("log")
    axes.set_xticks([tick for tick in _LOG_RANKS if tick <= deepest] or [1])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.set_xlim(min(ranks, default=1) / 1.1, deepest * 1.1)


def label(axes: Any, text: str, point: tuple[float, float], offset: tuple[float, float], **looks: Any) -> Any:
    """A word beside a point, ``offset`` points away from it, on a paler ground so that lines do not cross it out."""
    paper = {"boxstyle": "square,pad=0.1", "facecolor": "white", "edgecolor": "none", "alpha": 0.75}
    return axes.annotate(
        text,
        point,
        offset,
        textcoords="offset points",
        fontsize=6.5,
        color=INK,
        bbox=paper,
        zorder=6,
        **looks,
    )


def spread(places: Sequence[float], gap: float) -> list[float]:
    """Rising places moved as little as need be so that no two are closer than ``gap``: for names beside points.

    >>> spread([1, 1, 1, 5], 1)
    [0.0, 1.0, 2.0, 5.0]
    """
    groups: list[tuple[float, int]] = []  # the middle of names that touch each other, and how many they are
    for place in places:
        middle, many = float(place), 1
        while groups and middle - groups[-1][0] < gap * (many + groups[-1][1]) / 2 - 1e-9:
            before, more = groups.pop()
            middle, many = (before * more + middle * many) / (more + many), more + many
        groups.append((middle, many))
    return [middle + gap * (k - (many - 1) / 2) for middle, many in groups for k in range(many)]


def highlighted(runs: Sequence[str], asked: Sequence[str], best: Sequence[str]) -> list[str]:
    """The runs to draw in colour: those asked for, or the best ones, as many as there are colours.

    >>> highlighted(["a", "b"], [], ["b", "a"]), highlighted(["a", "b"], ["a", "a"], ["b", "a"])
    (['b', 'a'], ['a'])
    """
    for name in asked:
        if name not in runs:
            raise SettingsError(
                f"there is no run {name!r} to highlight", hint=suggest_names(name, runs) or None
            )
    return list(dict.fromkeys(asked)) or list(best[: len(COLOURS)])


def names_at_the_end(axes: Any, ends: Sequence[tuple[float, str, str]], gap: float) -> None:
    """The names of lines beside their right ends, in their colours, moved apart where they would touch.

    ``ends`` are height, name and colour, line by line; ``gap`` is the height of a name in the units of the axis.
    """
    order = sorted(range(len(ends)), key=lambda k: ends[k][0])
    places = spread([ends[k][0] for k in order], gap)
    low, high = sorted(axes.get_ylim())
    for k in range(len(places)):  # inside the axes, as far as there is room
        places[k] = max(places[k], low + gap / 2 if k == 0 else places[k - 1] + gap)
    for k in reversed(range(len(places))):
        places[k] = min(places[k], high - gap / 2 if k == len(places) - 1 else places[k + 1] - gap)
    for k, place in zip(order, places, strict=True):
        height, name, colour = ends[k]
        axes.annotate(
            short(name, 20), (1.0, height), (12, place), xycoords=("axes fraction", "data"),
            textcoords=("offset points", "data"), va="center", fontsize=6.5, color=colour, annotation_clip=False,
            arrowprops={
                "arrowstyle": "-", "color": colour, "linewidth": 0.5, "shrinkA": 0, "shrinkB": 3, "relpos": (0, 0.5),
            },
        )  # fmt: skip


def legend_below(figure: Any, handles: Sequence[Any], columns: int) -> Any:
    """A legend beneath all axes, where it covers nothing; of very many entries only the first."""
    shown = list(handles)
    if len(shown) > MOST_ENTRIES:
        from matplotlib.lines import Line2D

        more = Line2D([], [], linestyle="none", label=f"and {len(shown) - MOST_ENTRIES + 1} more")
        shown = [*shown[: MOST_ENTRIES - 1], more]
    for handle in shown:
        if handle.get_label().startswith("_"):  # matplotlib would leave it out
            handle.set_label(LEFT_TO_RIGHT + handle.get_label())
    if _PANEL.get() is not None:  # a panel may be narrow: about 13 letters of a legend fit into an inch
        longest = max((len(handle.get_label()) for handle in shown), default=0)
        columns = min(columns, int(figure.bbox.width / figure.dpi * 13 / (longest + 7)))
    return figure.legend(handles=shown, loc="outside lower center", ncols=max(1, min(columns, len(shown))))


@cache
def _glyphs() -> frozenset[int]:
    """The characters of the font that comes with matplotlib, so that figures are the same on every machine."""
    from matplotlib.font_manager import findfont
    from matplotlib.ft2font import FT2Font

    return frozenset(FT2Font(findfont("DejaVu Sans")).get_charmap())


def short(name: str, width: int = 28) -> str:
    """A name that fits beside an axis: control characters shown, the middle of long ones left out.

    Characters that the font lacks are written as escapes, which tell names apart where empty boxes would not.

    >>> short("x" * 40, 11), short("a\\nb"), short("漢"), short("")
    ('xxxxx…xxxxx', 'a\\\\nb', '\\\\u6f22', "''")
    """
    text = printable(str(name)) if str(name).strip() else repr(str(name))
    if not text.isascii():
        known = _glyphs()
        text = "".join(c if ord(c) in known else ascii(c)[1:-1] for c in text)
    if len(text) > width:
        text = text[: width // 2] + "…" + text[len(text) - (width - width // 2 - 1) :]
    # a name written from right to left must not turn round what stands beside it
    rightwards = any(bidirectional(c) in ("R", "AL") for c in text)
    return LEFT_TO_RIGHT + text + LEFT_TO_RIGHT if rightwards else text
