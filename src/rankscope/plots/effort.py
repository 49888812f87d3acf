"""The effort/gain plane: what a gain costs its user (Ferro and others 2016, Figures 7 to 11)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from rankscope.analysis.effort import Effort
from rankscope.analysis.plane import EFFORTS, GAINS, HELD, Density, density_of, run_means
from rankscope.errors import InputError, SettingsError, suggest_names
from rankscope.plots.figure import Figure
from rankscope.plots.style import (
    ABOVE,
    ARCHETYPE_COLOURS,
    COLOURS,
    DOUBLE,
    INK,
    MARKERS,
    QUARTER_COLOURS,
    QUIET,
    SINGLE,
    blank,
    legend_below,
    short,
    styled,
)
from rankscope.scores import Scores
from rankscope.tables import Cell, Table

if TYPE_CHECKING:
    from rankscope.measures import Measure

__all__ = ["Highlight", "draw_plane", "plot_effort_gain", "plot_effort_gains", "plot_points"]

_HIGHLIGHTS = ("#d55e00", "#b0578d", "#1b1f24", "#3a9bd9")
_MEANS, _CROSSES = 400, 12
"""Runs up to which their means are drawn, and up to which every mean has a bar for its spread."""

_FACETS = 250
"""Small planes that are drawn; beyond some dozens they are for a screen rather than for paper."""

Highlight = str | tuple[str, str]
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class _Plane:
    """The points of a plane with their runs."""

    run: Ints
    twist: Floats
    gain: Floats
    quartiles: list[float]
    low: float
    high: float

    @cached_property
    def density(self) -> Density | None:
        return density_of(self.twist, self.gain, self.low, self.high)

    @cached_property
    def means(self) -> Floats:
        return run_means(self.run, self.twist, self.gain)


def plot_effort_gain(
    effort: Effort | Scores,
    measure: str | Measure | None = None,
    highlight: Iterable[Highlight] = (),
    *,
    colour: str | None = None,
    facet: str | None = None,
    width: float = DOUBLE,
) -> Figure:
    """Twist across, a gain measure upwards, one point per list, with the 4 x 4 grid and the share of each cell.

    Half of the lists lie inside the inner contour, nine tenths inside the outer. The mean of every run is a diamond,
    with bars over the middle half of its topics where there are few runs or it is highlighted. Points are an image
    inside PDF and SVG files, so that a hundred thousand cost no more than a hundred. The matrix beside them gives the
    share of every cell in percent, which rows between close quartiles have no room for; its diagonal is framed, and the
    four high-high cells are dashed. ``highlight`` marks runs, or (run, topic) pairs. ``colour`` tells lists apart by
    archetype, topic or recall base; ``facet`` has a small plane for each of these instead of the matrix. ``measure`` is
    the first gain measure of the analysis unless set; given scores, the analysis is made of their judged lists.

    >>> import rankscope as rs
    >>> found = rs.effort(rs.Collection({"q": {"d": 1}}, {"a": {"q": ["d"]}, "b": {"q": ["x", "d"]}}), "AP")
    >>> plot_effort_gain(found, highlight=["a"]).table.column("gain")
    ['huge', 'low']
    """
    found, chosen = _analysis(effort, measure)
    wanted = list(highlight)
    lists, plane = _plane(found, chosen)
    marked = _marked(found, lists, wanted)
    if facet is not None:
        return _facets(found, chosen, plane, lists, marked, facet, width)
    kinds = None if colour is None else _kinds(found, lists, colour)
    wide = width >= 5
    with styled():
        figure = blank(width, 3.5 if wide else 5.6)
        points, cells = figure.subplots(
            1 if wide else 2,
            2 if wide else 1,
            **({"width_ratios": (1.45, 1)} if wide else {"height_ratios": (1.25, 1)}),
        )
        handles = _draw_points(points, plane, chosen, kinds, spread=not marked)
        _draw_cells(cells, found.plane(chosen))
        handles += _draw_marked(points, plane, marked)
        legend_below(figure, handles, 4 if wide else 1)
    return Figure(figure, (points, cells), _table(found, chosen, lists, plane, marked))


def _facets(
    effort: Effort,
    measure: Measure,
    plane: _Plane,
    lists: Ints,
    marked: dict[Highlight, Ints],
    facet: str,
    width: float,
) -> Figure:
    """A small plane for each class of lists, with the lists of the others behind."""
    kinds = _kinds(effort, lists, facet)
    shown = [k for k in range(len(kinds.names)) if (kinds.of == k).any()]
    if len(shown) > _FACETS:
        raise SettingsError(
            f"{len(shown)} small planes are too many to look at",
            hint=f"up to {_FACETS} are drawn: choose some topics, or colour={facet!r}",
        )
    fitting = (4 if len(shown) <= 24 else 6 if len(shown) <= 60 else 8) if width >= 5 else 2
    columns = max(1, min(fitting, len(shown)))
    rows = -(-max(1, len(shown)) // columns)
    with styled():
        figure = blank(width, 0.5 + 1.75 * rows * (width / columns / 1.75) ** 0.5)
        panels = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True)
        for panel in panels.flat[len(shown) :]:
            panel.set_axis_off()
        for panel, kind in zip(panels.flat, shown, strict=False):
            mine = kinds.of == kind
            panel.scatter(
                plane.twist[~mine], plane.gain[~mine], s=2, c="#dddddd", linewidths=0, rasterized=True
            )
            panel.scatter(
                plane.twist[mine], plane.gain[mine], s=7, c=kinds.colours[kind], linewidths=0, rasterized=True,
                zorder=3, gid=kinds.names[kind],
            )  # fmt: skip
            _draw_grid(panel, plane, measure, ticks=(0, 0.5, 1))
            _draw_marked(panel, plane, {one: where[mine[where]] for one, where in marked.items()})
            share = f"{int(mine.sum()):,} ({100 * mine.mean():.0f} %)"
            panel.set_title(f"{short(kinds.names[kind], int(11 * width / columns))}\n{share}", fontsize=7)
        for panel in panels[:, 0]:
            panel.set_ylabel(f"{short(str(measure), 16)}", fontsize=7)
        for column in range(columns):  # of each column the lowest panel
            panels[
                max(row for row in range(rows) if row * columns + column < max(1, len(shown))), column
            ].set_xlabel("Twist", fontsize=7)
        if marked:
            legend_below(figure, [line for line in panels.flat[0].lines if line.get_gid() == "marked"], 4)
    axes = tuple(panels.flat[: max(1, len(shown))])
    return Figure(figure, axes, _table(effort, measure, lists, plane, marked))


@dataclass(frozen=True)
class _Kinds:
    """Classes of points, with their colours."""

    of: Ints
    names: list[str]
    colours: list[str]


def _kinds(effort: Effort, lists: Ints, by: str) -> _Kinds:
    of, names = effort.classes(by)
    known = {"archetype": ARCHETYPE_COLOURS, "recall base": QUARTER_COLOURS}.get(by, COLOURS)
    return _Kinds(of[lists], names, [known[k % len(known)] for k in range(len(names))])


def plot_effort_gains(
    effort: Effort, highlight: Iterable[Highlight] = (), *, colour: str | None = None, width: float = DOUBLE
) -> Figure:
    """The effort/gain plane of every gain measure of an analysis, one below the other: see :func:`plot_effort_gain`.

    >>> import rankscope as rs
    >>> runs = {"a": {"q": ["d"]}, "b": {"q": ["x", "y", "d"]}}
    >>> found = rs.effort(rs.Collection({"q": {"d": 1}}, runs), ["AP", "RR"])
    >>> figure = plot_effort_gains(found)
    >>> len(figure.axes), figure.table.columns[:4]
    (4, ('measure', 'run', 'topic', 'Twist'))
    """
    wanted = list(highlight)
    rows: list[tuple[Cell, ...]] = []
    with styled():
        figure = blank(width, 3.1 * len(effort.gains) + 0.3)
        panels = figure.subplots(len(effort.gains), 2, width_ratios=(1.45, 1), squeeze=False)
        handles: list[Any] = []
        for (points, cells), measure in zip(panels, effort.gains, strict=True):
            lists, plane = _plane(effort, measure)
            marked = _marked(effort, lists, wanted)
            kinds = None if colour is None else _kinds(effort, lists, colour)
            handles = _draw_points(points, plane, measure, kinds, spread=not marked)
            _draw_cells(cells, effort.plane(measure))
            handles += _draw_marked(points, plane, marked)
            rows += [(str(measure), *row) for row in _table(effort, measure, lists, plane, marked).rows]
        legend_below(figure, handles, 4)
    columns = ("measure", "run", "topic", "Twist", "value", *_COLUMNS)
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
        return Effort.from_judged(effort.judged, gains[:1], missing=missing, settings=kept, **like), gains[0]
    return effort, effort.gains[0 if measure is None else effort.number(measure)]


def draw_plane(axes: Any, effort: Effort, measure: Measure, wanted: Sequence[Highlight]) -> list[Any]:
    """The points of a plane with some of them marked; returns what a legend should explain of these."""
    lists, plane = _plane(effort, measure)
    _draw_points(axes, plane, measure, spread=False)
    return _draw_marked(axes, plane, _marked(effort, lists, wanted), means=False)


def plot_points(
    run: Ints, twist: Floats, gain: Floats, quartiles: Sequence[float], measure: Measure, said: str
) -> Figure:
    """The points of one plane by themselves, with its grid: what a study keeps of it. ``said`` is the title."""
    plane = _Plane(run, twist, gain, list(quartiles), *_range(gain))
    with styled():
        figure = blank(SINGLE, 3.0)
        axes = figure.subplots()
        handles = _draw_points(axes, plane, measure)
        axes.set_title(said, fontsize=7.5)
        legend_below(figure, handles, 2)
    values = zip(twist.tolist(), gain.tolist(), _held(plane), strict=True)
    columns = ("Twist", str(measure), "contour")
    return Figure(figure, (axes,), Table("effort and gain", columns, list(values), caption=said))


def _range(gain: Floats) -> tuple[float, float]:
    return min([0.0, *gain.tolist()]), max([1.0, *gain.tolist()])


def _plane(effort: Effort, measure: Measure) -> tuple[Ints, _Plane]:
    """The lists of a plane, and the plane."""
    number = effort.gains.index(measure)
    lists, _, _ = effort.cells(number)
    gain, twist = effort.gain[number][lists], effort.twist[lists]
    run = lists // max(1, len(effort.judged.topics))
    return lists, _Plane(run, twist, gain, effort.quartiles(measure), *_range(gain))


def _held(plane: _Plane) -> list[float | None]:
    return [None] * len(plane.twist) if plane.density is None else plane.density.held


def _draw_points(
    axes: Any, plane: _Plane, gain: Measure, kinds: _Kinds | None = None, *, spread: bool = True
) -> list[Any]:
    """Every list, contours, the grid and the means of the runs; returns what a legend should explain."""
    handles: list[Any] = []
    size = 5 if len(plane.twist) > 500 else 10
    looks: dict[str, Any] = {"linewidths": 0, "rasterized": True, "clip_on": False, "zorder": 2}
    if kinds is None:
        axes.scatter(plane.twist, plane.gain, s=size, c="#8fb8d9", gid="lists", **looks)
        handles.append(_entry("a list", "#8fb8d9", "o"))
    else:
        for k, name in enumerate(kinds.names):
            mine = kinds.of == k
            if mine.any():
                looks["marker"] = marker = MARKERS[k % len(MARKERS)]
                axes.scatter(
                    plane.twist[mine], plane.gain[mine], s=1.6 * size, c=kinds.colours[k], gid=f"lists: {name}", **looks
                )  # fmt: skip
                said = f"{short(name, 24)} ({int(mine.sum()):,})"
                handles.append(_entry(said, kinds.colours[k], marker))
    handles += _draw_contours(axes, plane) + _draw_means(axes, plane, spread)
    _draw_grid(axes, plane, gain)
    axes.set_xlabel("Twist (1 = no avoidable effort)")
    better = ", lower is better" if gain.better == "lower" else ""
    axes.set_ylabel(f"{short(str(gain), 40)} (gain{better})")
    many = len(plane.twist)
    axes.set_title(f"{many:,} list{'s' if many != 1 else ''}, lines at the quartiles of gain")
    return handles


def _entry(name: str, colour: str, marker: str) -> Any:
    """A legend's entry of points, larger than they are."""
    from matplotlib.lines import Line2D

    return Line2D([], [], linestyle="none", marker=marker, markersize=4, color=colour, label=name)


def _draw_contours(axes: Any, plane: _Plane) -> list[Any]:
    from matplotlib.lines import Line2D

    density = plane.density
    if density is None:
        return []
    handles = []
    for level, share, dash, thick in zip(
        density.levels, HELD, ("solid", (0, (4, 1.5))), (1.1, 0.8), strict=True
    ):
        looks = {"colors": "#12579e", "linewidths": thick, "linestyles": [dash], "zorder": 3}
        axes.contour(density.twist, density.gain, density.height, levels=[level], **looks)
        name = f"{100 * share:.0f} % of the lists inside"
        handles.append(Line2D([], [], color="#12579e", linewidth=thick, linestyle=dash, label=name))
    return handles


def _draw_means(axes: Any, plane: _Plane, spread: bool) -> list[Any]:
    """A diamond for the mean of every run; with few runs, bars over the middle half of its topics."""
    means = plane.means
    if not 1 < len(means) <= _MEANS:
        return []
    crosses = spread and len(means) <= _CROSSES
    if crosses:
        for x, left, right, y, low, high in means.tolist():
            axes.plot([left, right], [y, y], color=INK, linewidth=0.6, zorder=4)
            axes.plot([x, x], [low, high], color=INK, linewidth=0.6, zorder=4)
    name = "mean of a run" + (", bars: middle half of its topics" if crosses else "")
    return list(
        axes.plot(
            means[:, 0], means[:, 3], linestyle="none", marker="D", markersize=3.4, markerfacecolor="white",
            markeredgecolor=INK, markeredgewidth=0.7, zorder=5, label=name, gid="means",
        )
    )  # fmt: skip


def _draw_grid(
    axes: Any, plane: _Plane, gain: Measure, ticks: Sequence[float] = (0, 0.25, 0.5, 0.75, 1)
) -> None:
    for border in (0.25, 0.5, 0.75):
        axes.axvline(border, color=QUIET, linewidth=0.5, zorder=1)
    for border in plane.quartiles:
        axes.axhline(border, color=QUIET, linewidth=0.5, zorder=1)
    axes.set_xlim(0, 1)
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.grid(False)
    ends = (plane.high, plane.low) if gain.better == "lower" else (plane.low, plane.high)
    axes.set_ylim(*ends)


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
            (-0.46, 1.54), 1.92, 1.92, fill=False, linewidth=1.3, edgecolor=ABOVE, linestyle=(0, (3, 1.5))
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


def _marked(effort: Effort, lists: Ints, wanted: Sequence[Highlight]) -> dict[Highlight, Ints]:
    """For each highlight the places of its points in the plane."""
    runs, topics = effort.judged.runs, effort.judged.topics
    run, topic = np.divmod(lists, max(1, len(topics)))
    found: dict[Highlight, Ints] = {}
    for one in wanted:
        name, only = (one, None) if isinstance(one, str) else one
        for text, known, what in ((name, runs, "run"), (only, topics, "topic")):
            if text is not None and text not in known:
                raise SettingsError(
                    f"there is no {what} {text!r} to highlight", hint=suggest_names(text, known) or None
                )
        here = run == runs.index(name)
        if only is not None:
            here &= topic == topics.index(only)
        found[one] = np.flatnonzero(here)
    return found


def _name(one: Highlight) -> str:
    return short(one) if isinstance(one, str) else f"{short(one[0])}, topic {short(one[1], 16)}"


def _draw_marked(axes: Any, plane: _Plane, marked: dict[Highlight, Ints], *, means: bool = True) -> list[Any]:
    """The points of each highlight, and of a run its mean with bars over the middle half of its topics."""
    handles = []
    for index, (one, where) in enumerate(marked.items()):
        colour = _HIGHLIGHTS[index % len(_HIGHLIGHTS)]
        looks: dict[str, Any] = {
            "linestyle": "none", "marker": MARKERS[(index + 1) % len(MARKERS)], "markeredgecolor": colour, "zorder": 6,
            "clip_on": False, "gid": "marked",
        }  # fmt: skip
        handles += axes.plot(
            plane.twist[where], plane.gain[where], markersize=4.8, markerfacecolor="none", markeredgewidth=1.0,
            label=_name(one), **looks,
        )  # fmt: skip
        if means and isinstance(one, str) and len(where) > 1:
            [[x, left, right, y, low, high]] = run_means(
                plane.run[where], plane.twist[where], plane.gain[where]
            )
            for ends in (([left, right], [y, y]), ([x, x], [low, high])):
                axes.plot(*ends, color=colour, linewidth=1.3, zorder=6, solid_capstyle="butt", gid="spread")
            axes.plot([x], [y], **{**looks, "gid": "mean"}, markersize=5.5, markerfacecolor=colour)
    return handles


_COLUMNS = ("effort", "gain", "contour", "highlight", "archetype", "recall_base")


def _table(
    effort: Effort, measure: Measure, lists: Ints, plane: _Plane, marked: dict[Highlight, Ints]
) -> Table:
    names = np.full(len(lists), "", object)
    for one, where in marked.items():
        names[where] = one if isinstance(one, str) else " ".join(one)
    _, rows_of, columns_of = effort.cells(effort.gains.index(measure))
    rows: list[tuple[Cell, ...]] = [
        (*effort.labels(index), *values)
        for index, *values in zip(
            lists.tolist(), plane.twist.tolist(), plane.gain.tolist(), [EFFORTS[c] for c in columns_of],
            [GAINS[r] for r in rows_of], _held(plane), [name or None for name in names],
            effort.archetype[lists].tolist(), effort.recall_base[lists].tolist(), strict=True,
        )
    ]  # fmt: skip
    columns = ("run", "topic", "Twist", str(measure), *_COLUMNS)
    return Table("effort and gain", columns, rows, caption=f"Effort/gain plane by {measure}")
