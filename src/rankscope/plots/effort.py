"""The effort/gain plane: what a gain costs its user (Ferro and others 2016, Figures 7 to 11)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from rankscope.analysis.effort import Effort, effort_of
from rankscope.analysis.plane import EFFORTS, GAINS
from rankscope.errors import InputError, SettingsError, nearest
from rankscope.plots.figure import Figure
from rankscope.plots.style import DOUBLE, INK, MARKERS, SINGLE, blank, legend_below, short, styled
from rankscope.scores import Scores
from rankscope.tables import Cell, Table

if TYPE_CHECKING:
    from rankscope.measures import Measure

__all__ = ["Highlight", "draw_plane", "plot_effort_gain", "plot_effort_gains", "plot_points"]

_BINS = 60  # per axis, for counting how many points lie close to each other
_HIGHLIGHTS = ("#D55E00", "#CC79A7", "#000000", "#56B4E9")

Highlight = str | tuple[str, str]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class _Plane:
    """The points of a plane with their cells."""

    lists: npt.NDArray[np.int64]
    twist: npt.NDArray[np.float64]
    gain: npt.NDArray[np.float64]
    rows: npt.NDArray[np.int64]
    columns: npt.NDArray[np.int64]
    quartiles: list[float]
    nearby: npt.NDArray[np.int64]


def plot_effort_gain(
    effort: Effort | Scores,
    measure: str | Measure | None = None,
    highlight: Iterable[Highlight] = (),
    *,
    width: float = DOUBLE,
) -> Figure:
    """Twist across, a gain measure upwards, one point per list, with the 4 x 4 grid and the share of each cell.

    Points are coloured by how many lie close to them, and are an image inside PDF and SVG files, so that a hundred
    thousand cost no more than a hundred. The matrix beside them gives the share of every cell in percent, which rows
    between close quartiles have no room for; its diagonal is framed, and the four high-high cells are dashed.
    ``highlight`` marks runs, or (run, topic) pairs. ``measure`` is the first gain measure of the analysis unless set;
    given scores, the analysis is made of their judged lists.

    >>> import rankscope as rs
    >>> found = rs.effort({"q": {"d": 1}}, {"a": {"q": ["d"]}, "b": {"q": ["x", "y", "d"]}}, "AP")
    >>> plot_effort_gain(found, highlight=["a"]).table.column("gain")
    ['huge', 'low']
    """
    found, chosen = _analysis(effort, measure)
    wanted = list(highlight)
    plane = _plane(found, chosen)
    marked = _marked(found, plane, wanted)
    wide = width >= 5
    with styled():
        figure = blank(width, 3.5 if wide else 5.6)
        points, cells = figure.subplots(
            1 if wide else 2,
            2 if wide else 1,
            **({"width_ratios": (1.45, 1)} if wide else {"height_ratios": (1.25, 1)}),
        )
        _draw_points(figure, points, plane, chosen)
        _draw_cells(cells, found.plane(chosen))
        handles = [
            _draw_marked(points, plane, index, where, one)
            for index, (one, where) in enumerate(marked.items())
        ]
        if handles:
            legend_below(figure, handles, 3 if wide else 1)
    return Figure(figure, (points, cells), _table(found, chosen, plane, marked))


def plot_effort_gains(
    effort: Effort, highlight: Iterable[Highlight] = (), *, width: float = DOUBLE
) -> Figure:
    """The effort/gain plane of every gain measure of an analysis, one below the other: see :func:`plot_effort_gain`.

    >>> import rankscope as rs
    >>> found = rs.effort({"q": {"d": 1}}, {"a": {"q": ["d"]}, "b": {"q": ["x", "y", "d"]}}, ["AP", "RR"])
    >>> figure = plot_effort_gains(found)
    >>> len(figure.axes), figure.table.columns[:4]
    (4, ('measure', 'run', 'topic', 'Twist'))
    """
    wanted = list(highlight)
    rows: list[tuple[Cell, ...]] = []
    with styled():
        figure = blank(width, 3.1 * len(effort.gains) + (0.3 if wanted else 0))
        panels = figure.subplots(len(effort.gains), 2, width_ratios=(1.45, 1), squeeze=False)
        handles: list[Any] = []
        for (points, cells), measure in zip(panels, effort.gains, strict=True):
            plane = _plane(effort, measure)
            marked = _marked(effort, plane, wanted)
            _draw_points(figure, points, plane, measure)
            _draw_cells(cells, effort.plane(measure))
            handles = [
                _draw_marked(points, plane, index, where, one)
                for index, (one, where) in enumerate(marked.items())
            ]
            rows += [(str(measure), *row) for row in _table(effort, measure, plane, marked).rows]
        if handles:
            legend_below(figure, handles, 3)
    columns = ("measure", "run", "topic", "Twist", "value", "effort", "gain", "nearby", "highlight")
    table = Table("effort and gains", columns, rows, caption="Effort/gain planes")
    return Figure(figure, tuple(panels.ravel()), table)


def _analysis(effort: Effort | Scores, measure: str | Measure | None) -> tuple[Effort, Measure]:
    if isinstance(effort, Scores):
        if effort.judged is None:
            raise InputError("these scores have no judged lists", hint="make them with rankscope.evaluate")
        gains = [m for m in effort.measures if m.name != "Twist"]
        if measure is not None:
            gains = [effort.matrix(measure).measure]
        if not gains:
            raise InputError("there is no gain measure beside Twist", hint="evaluate AP as well")
        kept = {key: effort.settings[key] for key in ("order", "aspects") if key in effort.settings}
        twist = next((m for m in effort.measures if m.name == "Twist"), None)
        like = {} if twist is None else {"crossing": twist.settings["crossing"], "cutoff": twist.cutoff}
        missing = effort.settings.get("missing", "zero")
        return effort_of(effort.judged, gains[:1], missing=missing, settings=kept, **like), gains[0]
    return effort, effort.gains[0 if measure is None else effort.number(measure)]


def draw_plane(
    figure: Any, axes: Any, effort: Effort, measure: Measure, wanted: Sequence[Highlight]
) -> list[Any]:
    """The points of a plane with some of them marked; returns what a legend should explain."""
    plane = _plane(effort, measure)
    _draw_points(figure, axes, plane, measure)
    marked = _marked(effort, plane, wanted)
    return [_draw_marked(axes, plane, index, where, one) for index, (one, where) in enumerate(marked.items())]


def plot_points(
    twist: Floats, gain: Floats, quartiles: Sequence[float], measure: Measure, said: str
) -> Figure:
    """The points of one plane by themselves, with its grid: what a study keeps of it. ``said`` is the title."""
    none = np.zeros(len(twist), np.int64)
    plane = _Plane(none, twist, gain, none, none, list(quartiles), _nearby(twist, gain))
    with styled():
        figure = blank(SINGLE, 3.0)
        axes = figure.subplots()
        _draw_points(figure, axes, plane, measure)
        axes.set_title(said, fontsize=7.5)
    values = zip(twist.tolist(), gain.tolist(), plane.nearby.tolist(), strict=True)
    columns = ("Twist", str(measure), "nearby")
    return Figure(figure, (axes,), Table("effort and gain", columns, list(values), caption=said))


def _plane(effort: Effort, measure: Measure) -> _Plane:
    lists, rows, columns = effort.cells(effort.gains.index(measure))
    gain, twist = effort.gain[effort.gains.index(measure)][lists], effort.twist[lists]
    return _Plane(lists, twist, gain, rows, columns, effort.quartiles(measure), _nearby(twist, gain))


def _nearby(twist: npt.NDArray[np.float64], gain: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """How many points lie in the same small square of the plane, the point itself included."""
    if not len(twist):
        return np.zeros(0, np.int64)
    low, high = min(0.0, float(gain.min())), max(1.0, float(gain.max()))
    x = np.minimum((twist * _BINS).astype(np.int64), _BINS - 1)
    y = np.minimum(((gain - low) / (high - low) * _BINS).astype(np.int64), _BINS - 1)
    square = x * _BINS + y
    counts: npt.NDArray[np.int64] = np.bincount(square, minlength=_BINS * _BINS)[square]
    return counts


def _draw_points(figure: Any, axes: Any, plane: _Plane, gain: Measure) -> None:
    from matplotlib import colormaps
    from matplotlib.colors import ListedColormap, LogNorm

    # the palest tenth of the map would be lost on white paper
    shades = ListedColormap(colormaps["viridis_r"](np.linspace(0.12, 1, 256)))
    order = np.argsort(plane.nearby, kind="stable")
    most = max(2, int(plane.nearby.max(initial=1)))
    dots = axes.scatter(
        plane.twist[order], plane.gain[order], c=plane.nearby[order], cmap=shades, norm=LogNorm(1, most),
        s=5 if len(order) > 500 else 12, linewidths=0, rasterized=True, clip_on=False, zorder=3, gid="lists",
    )  # fmt: skip
    if len(order) > 1 and most > 2:
        bar = figure.colorbar(
            dots, ax=axes, fraction=0.035, aspect=34, pad=0.02, ticks=_ticks(most), format="{x:g}"
        )
        bar.ax.minorticks_off()
        bar.outline.set_linewidth(0.4)
        bar.set_label("lists close to each other", fontsize=7)
    for border in (0.25, 0.5, 0.75):
        axes.axvline(border, color=INK, linewidth=0.5, zorder=4)
    for border in plane.quartiles:
        axes.axhline(border, color=INK, linewidth=0.5, zorder=4)
    axes.set_xlim(0, 1)
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1])
    axes.grid(False)
    low, high = min([0.0, *plane.gain.tolist()]), max([1.0, *plane.gain.tolist()])
    axes.set_ylim(*((high, low) if gain.better == "lower" else (low, high)))
    axes.set_xlabel("Twist (1 = no avoidable effort)")
    better = ", lower is better" if gain.better == "lower" else ""
    axes.set_ylabel(f"{short(str(gain), 40)} (gain{better})")
    axes.set_title(
        f"{len(plane.lists):,} list{'s' if len(plane.lists) != 1 else ''}, lines at the quartiles of gain"
    )


def _ticks(most: int) -> list[int]:
    return [tick for tick in (1, 3, 10, 30, 100, 300, 1000, 3000, 10_000) if tick <= most]


def _draw_cells(axes: Any, counts: npt.NDArray[np.int64]) -> None:
    """The share of each cell; the darker, the more lists."""
    from matplotlib.patches import Rectangle

    shares = 100 * counts / max(1, int(counts.sum()))
    axes.imshow(
        shares,
        origin="lower",
        aspect="auto",
        cmap="Greys",
        vmin=0,
        vmax=max(60.0, 3 * float(shares.max())),
        gid="cells",
    )
    for row in range(4):
        for column in range(4):
            axes.text(column, row, f"{shares[row, column]:.1f}", ha="center", va="center", fontsize=8)
    for cell in range(4):
        axes.add_patch(
            Rectangle((cell - 0.46, cell - 0.46), 0.92, 0.92, fill=False, linewidth=1.1, edgecolor=INK)
        )
    axes.add_patch(
        Rectangle(
            (-0.46, 1.54), 1.92, 1.92, fill=False, linewidth=1.3, edgecolor="#D55E00", linestyle=(0, (3, 1.5))
        )
    )
    axes.set_xticks(range(4), [f"{effort}" for effort in EFFORTS])
    axes.set_yticks(range(4), [f"{gain}" for gain in GAINS])
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.grid(False)
    axes.set_xlabel("effort (columns of Twist)")
    axes.set_ylabel("gain (quartiles)")
    agree, high = float(np.trace(shares)), float(shares[2:, :2].sum())
    axes.set_title(
        f"share of lists (%)\nframed: agree, {agree:.1f} %\ndashed: high-high, {high:.1f} %", fontsize=7.5
    )


def _marked(
    effort: Effort, plane: _Plane, wanted: Sequence[Highlight]
) -> dict[Highlight, npt.NDArray[np.int64]]:
    """For each highlight the places of its points in the plane."""
    runs, topics = effort.judged.runs, effort.judged.topics
    run, topic = np.divmod(plane.lists, len(topics))
    found: dict[Highlight, npt.NDArray[np.int64]] = {}
    for one in wanted:
        name, only = (one, None) if isinstance(one, str) else one
        for text, known, what in ((name, runs, "run"), (only, topics, "topic")):
            if text is not None and text not in known:
                raise SettingsError(
                    f"there is no {what} {text!r} to highlight", hint=nearest(text, known) or None
                )
        here = run == runs.index(name)
        if only is not None:
            here &= topic == topics.index(only)
        found[one] = np.flatnonzero(here)
    return found


def _name(one: Highlight) -> str:
    return short(one) if isinstance(one, str) else f"{short(one[0])}, topic {short(one[1], 16)}"


def _draw_marked(axes: Any, plane: _Plane, index: int, where: npt.NDArray[np.int64], one: Highlight) -> Any:
    return axes.plot(
        plane.twist[where], plane.gain[where], linestyle="none", marker=MARKERS[(index + 1) % len(MARKERS)],
        markersize=4.8, markerfacecolor="none", markeredgecolor=_HIGHLIGHTS[index % len(_HIGHLIGHTS)],
        markeredgewidth=1.1, zorder=5, clip_on=False, label=_name(one),
    )[0]  # fmt: skip


def _table(
    effort: Effort, measure: Measure, plane: _Plane, marked: dict[Highlight, npt.NDArray[np.int64]]
) -> Table:
    names = np.full(len(plane.lists), "", object)
    for one, where in marked.items():
        names[where] = one if isinstance(one, str) else " ".join(one)
    rows: list[tuple[Cell, ...]] = [
        (*effort.labels(index), *values)
        for index, *values in zip(
            plane.lists.tolist(), plane.twist.tolist(), plane.gain.tolist(), [EFFORTS[c] for c in plane.columns],
            [GAINS[r] for r in plane.rows], plane.nearby.tolist(), [name or None for name in names], strict=True,
        )
    ]  # fmt: skip
    columns = ("run", "topic", "Twist", str(measure), "effort", "gain", "nearby", "highlight")
    return Table("effort and gain", columns, rows, caption=f"Effort/gain plane by {measure}")
