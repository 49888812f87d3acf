"""Figures of the effort/gain plane (Ferro and others 2016, Figures 7 to 11)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from rankscope.analysis.effort import Effort
from rankscope.analysis.plane import HELD, Density, estimate_density, run_means
from rankscope.choices import EFFORTS, GAINS
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
    canvas,
    count,
    entry,
    hide_frame,
    legend_below,
    short,
)
from rankscope.scores import Scores
from rankscope.tables import Cell, Table

if TYPE_CHECKING:
    from rankscope.measures import Measure

_HIGHLIGHTS = ("#d55e00", "#b0578d", "#1b1f24", "#3a9bd9")
_MAX_MEANS, _MAX_CROSSES = 400, 12
"""Number of runs up to which their means are drawn, and up to which each mean has bars for its spread."""

_MAX_FACETS = 250
"""Maximum number of small planes; more than some dozens are for a screen rather than for paper."""

Highlight = str | tuple[str, str]
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class _Plane:
    """Points of a plane with their runs."""

    run: Ints
    twist: Floats
    gain: Floats
    quartiles: list[float]
    low: float
    high: float

    @cached_property
    def density(self) -> Density | None:
        return estimate_density(self.twist, self.gain, self.low, self.high)

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
    """Draw rankings as points of Twist and a gain measure, and the share of each cell of the 4 x 4 grid.

    Half of the rankings are inside the inner contour, and 90 % inside the outer one. The mean of each run is a diamond;
    if there are few runs, or the run is highlighted, bars show the middle half of its topics. Points are rasterized in
    PDF and SVG files, so that many points do not make the file large. The matrix to the right has the share of each
    cell in percent; its diagonal is framed, and the four high-high cells are dashed.

    Parameters
    ----------
    effort
        Result of :func:`rankscope.effort`, or scores with rankings.
    measure
        Gain measure (default: the first one).
    highlight
        Runs, or (run, topic) pairs, to mark.
    colour
        Classes of rankings to colour: archetype, topic or recall base.
    facet
        Classes of rankings that each have a small plane, instead of the matrix.
    width
        Width in inches.

    Returns
    -------
    Figure

    Examples
    --------
    >>> import rankscope as rs
    >>> effort = rs.effort(rs.Collection({"q": {"d": 1}}, {"a": {"q": ["d"]}, "b": {"q": ["x", "d"]}}), "AP")
    >>> plot_effort_gain(effort, highlight=["a"]).table.column("gain")
    ['huge', 'low']
    """
    analysis, gain = _as_effort(effort, measure)
    lists, plane = _build_plane(analysis, gain)
    marked = _find_marked(analysis, lists, list(highlight))
    if facet is not None:
        return _draw_facets(analysis, gain, plane, lists, marked, facet, width)
    kinds = None if colour is None else _classify(analysis, lists, colour)
    is_wide = width >= 5
    height, shape = (3.5, (1, 2)) if is_wide else (5.6, (2, 1))
    ratios: Any = {"width_ratios": (1.45, 1)} if is_wide else {"height_ratios": (1.25, 1)}
    with canvas(width, height, *shape, **ratios) as (figure, (points, cells)):
        handles = _draw_points(points, plane, gain, kinds, spread=not marked)
        _draw_cells(cells, analysis.plane(gain))
        handles += _draw_marked(points, plane, marked)
        legend_below(figure, handles, 4 if is_wide else 1)
    return Figure(figure, (points, cells), _table(analysis, gain, lists, plane, marked))


def _draw_facets(
    effort: Effort,
    measure: Measure,
    plane: _Plane,
    lists: Ints,
    marked: dict[Highlight, Ints],
    facet: str,
    width: float,
) -> Figure:
    """Draw a small plane for each class of rankings, with the other rankings in grey."""
    kinds = _classify(effort, lists, facet)
    present = [k for k in range(len(kinds.names)) if (kinds.kind == k).any()]
    if len(present) > _MAX_FACETS:
        raise SettingsError(
            f"{len(present)} small planes are too many for a figure",
            hint=f"up to {_MAX_FACETS} are drawn: choose some topics, or colour={facet!r}",
        )
    fitting = (4 if len(present) <= 24 else 6 if len(present) <= 60 else 8) if width >= 5 else 2
    columns = max(1, min(fitting, len(present)))
    rows = -(-max(1, len(present)) // columns)
    height = 0.5 + 1.75 * rows * (width / columns / 1.75) ** 0.5
    with canvas(width, height, rows, columns, squeeze=False, sharex=True, sharey=True) as (figure, panels):
        for panel in panels.flat[len(present) :]:
            panel.set_axis_off()
        for panel, kind in zip(panels.flat, present, strict=False):
            is_kind = kinds.kind == kind
            panel.scatter(
                plane.twist[~is_kind], plane.gain[~is_kind], s=2, c="#dddddd", linewidths=0, rasterized=True
            )
            panel.scatter(
                plane.twist[is_kind], plane.gain[is_kind], s=7, c=kinds.colours[kind], linewidths=0, rasterized=True,
                zorder=3, gid=kinds.names[kind],
            )  # fmt: skip
            _draw_grid(panel, plane, measure, ticks=(0, 0.5, 1))
            handles = _draw_marked(panel, plane, {key: at[is_kind[at]] for key, at in marked.items()})
            share = f"{int(is_kind.sum()):,} ({100 * is_kind.mean():.0f} %)"
            panel.set_title(f"{short(kinds.names[kind], int(11 * width / columns))}\n{share}", fontsize=7)
        for panel in panels[:, 0]:
            panel.set_ylabel(f"{short(str(measure), 16)}", fontsize=7)
        for panel in panels.flat[
            max(0, len(present) - columns) : max(1, len(present))
        ]:  # lowest of each column
            panel.set_xlabel("Twist", fontsize=7)
        if marked:
            legend_below(figure, handles, 4)
    axes = tuple(panels.flat[: max(1, len(present))])
    return Figure(figure, axes, _table(effort, measure, lists, plane, marked))


@dataclass(frozen=True)
class _Kinds:
    """Class of each point, and names and colours of the classes."""

    kind: Ints
    names: list[str]
    colours: list[str]


def _classify(effort: Effort, lists: Ints, by: str) -> _Kinds:
    kind, names = effort.classes(by)
    colours = {"archetype": ARCHETYPE_COLOURS, "recall base": QUARTER_COLOURS}.get(by, COLOURS)
    return _Kinds(kind[lists], names, [colours[k % len(colours)] for k in range(len(names))])


def plot_effort_gains(
    effort: Effort, highlight: Iterable[Highlight] = (), *, colour: str | None = None, width: float = DOUBLE
) -> Figure:
    """Draw the effort/gain planes of all gain measures, one below the other (see :func:`plot_effort_gain`).

    Parameters
    ----------
    effort
        Result of :func:`rankscope.effort`.
    highlight
        Runs, or (run, topic) pairs, to mark.
    colour
        Classes of rankings to colour: archetype, topic or recall base.
    width
        Width in inches.

    Returns
    -------
    Figure

    Examples
    --------
    >>> import rankscope as rs
    >>> runs = {"a": {"q": ["d"]}, "b": {"q": ["x", "y", "d"]}}
    >>> effort = rs.effort(rs.Collection({"q": {"d": 1}}, runs), ["AP", "RR"])
    >>> figure = plot_effort_gains(effort)
    >>> len(figure.axes), figure.table.columns[:4]
    (4, ('measure', 'run', 'topic', 'Twist'))
    """
    highlights = list(highlight)
    rows: list[tuple[Cell, ...]] = []
    n = len(effort.gains)
    with canvas(width, 3.1 * n + 0.3, n, 2, width_ratios=(1.45, 1), squeeze=False) as (figure, panels):
        handles: list[Any] = []
        for (points, cells), measure in zip(panels, effort.gains, strict=True):
            lists, plane = _build_plane(effort, measure)
            marked = _find_marked(effort, lists, highlights)
            kinds = None if colour is None else _classify(effort, lists, colour)
            handles = _draw_points(points, plane, measure, kinds, spread=not marked)
            _draw_cells(cells, effort.plane(measure))
            handles += _draw_marked(points, plane, marked)
            rows += [(str(measure), *row) for row in _table(effort, measure, lists, plane, marked).rows]
        legend_below(figure, handles, 4)
    columns = ("measure", "run", "topic", "Twist", "value", *_COLUMNS)
    table = Table("effort and gains", columns, rows, caption="Effort/gain planes")
    return Figure(figure, tuple(panels.ravel()), table)


def _as_effort(effort: Effort | Scores, measure: str | Measure | None) -> tuple[Effort, Measure]:
    """Return the analysis of effort (of the rankings of scores, if necessary) and the gain measure."""
    if isinstance(effort, Scores):
        if effort.judged is None:
            raise InputError("these scores have no rankings", hint="compute them with rankscope.evaluate")
        gains = [m for m in effort.measures if m.name != "Twist"]
        if measure is not None:
            gains = [effort.matrix(measure).measure]
        if not gains:
            raise InputError("there is no gain measure except Twist", hint="evaluate AP as well")
        kept = {key: effort.settings[key] for key in ("order", "aspects") if key in effort.settings}
        twist = next((m for m in effort.measures if m.name == "Twist"), None)
        like = {} if twist is None else {"crossing": twist.settings["crossing"], "cutoff": twist.cutoff}
        missing = effort.settings.get("missing", "zero")
        return Effort.from_judged(effort.judged, gains[:1], missing=missing, settings=kept, **like), gains[0]
    return effort, effort.gains[0 if measure is None else effort.number(measure)]


def draw_plane(axes: Any, effort: Effort, measure: Measure, highlights: Sequence[Highlight]) -> list[Any]:
    """Draw the points of a plane with some of them marked, and return the entries of a legend for these."""
    lists, plane = _build_plane(effort, measure)
    _draw_points(axes, plane, measure, spread=False)
    return _draw_marked(axes, plane, _find_marked(effort, lists, highlights), means=False)


def plot_points(
    run: Ints, twist: Floats, gain: Floats, quartiles: Sequence[float], measure: Measure, title: str
) -> Figure:
    """Draw the points and the grid of a plane from the numbers that a study keeps."""
    plane = _Plane(run, twist, gain, list(quartiles), *_range(gain))
    with canvas(SINGLE, 3.0) as (figure, axes):
        handles = _draw_points(axes, plane, measure)
        axes.set_title(title, fontsize=7.5)
        legend_below(figure, handles, 2)
    values = zip(twist.tolist(), gain.tolist(), _contours(plane), strict=True)
    columns = ("Twist", str(measure), "contour")
    return Figure(figure, (axes,), Table("effort and gain", columns, list(values), caption=title))


def _range(gain: Floats) -> tuple[float, float]:
    return min(0.0, gain.min(initial=0.0)), max(1.0, gain.max(initial=1.0))


def _build_plane(effort: Effort, measure: Measure) -> tuple[Ints, _Plane]:
    """Return the indices of the rankings of a plane, and the plane."""
    number = effort.gains.index(measure)
    lists, _, _ = effort.cells(number)
    gain, twist = effort.gain[number][lists], effort.twist[lists]
    run = lists // max(1, len(effort.judged.topics))
    return lists, _Plane(run, twist, gain, effort.quartiles(measure), *_range(gain))


def _contours(plane: _Plane) -> list[float | None]:
    """Return the share of the contour around each point."""
    return [None] * len(plane.twist) if plane.density is None else plane.density.held


def _draw_points(
    axes: Any, plane: _Plane, gain: Measure, kinds: _Kinds | None = None, *, spread: bool = True
) -> list[Any]:
    """Draw rankings, contours, grid and means of runs, and return the entries of a legend."""
    handles: list[Any] = []
    size = 5 if len(plane.twist) > 500 else 10
    looks: dict[str, Any] = {"linewidths": 0, "rasterized": True, "clip_on": False, "zorder": 2}
    if kinds is None:
        axes.scatter(plane.twist, plane.gain, s=size, c="#8fb8d9", gid="lists", **looks)
        handles.append(entry("a ranking", color="#8fb8d9", marker="o", **_MARKS))
    else:
        for k, (name, colour) in enumerate(zip(kinds.names, kinds.colours, strict=True)):
            is_kind = kinds.kind == k
            if is_kind.any():
                looks["marker"] = marker = MARKERS[k % len(MARKERS)]
                axes.scatter(
                    plane.twist[is_kind], plane.gain[is_kind], s=1.6 * size, c=colour, gid=f"lists: {name}", **looks
                )  # fmt: skip
                text = f"{short(name, 24)} ({int(is_kind.sum()):,})"
                handles.append(entry(text, color=colour, marker=marker, **_MARKS))
    handles += _draw_contours(axes, plane) + _draw_means(axes, plane, spread)
    _draw_grid(axes, plane, gain)
    axes.set_xlabel("Twist (1 = no avoidable effort)")
    better = ", lower is better" if gain.better == "lower" else ""
    axes.set_ylabel(f"{short(str(gain), 40)} (gain{better})")
    axes.set_title(f"{count(len(plane.twist), 'ranking')}, lines at the quartiles of gain")
    return handles


_MARKS = {"linestyle": "none", "markersize": 4}  # Entries of a legend are larger than the points.


def _draw_contours(axes: Any, plane: _Plane) -> list[Any]:
    density = plane.density
    if density is None:
        return []
    handles = []
    for level, share, dash, thick in zip(
        density.levels, HELD, ("solid", (0, (4, 1.5))), (1.1, 0.8), strict=True
    ):
        looks = {"colors": "#12579e", "linewidths": thick, "linestyles": [dash], "zorder": 3}
        axes.contour(density.twist, density.gain, density.height, levels=[level], **looks)
        name = f"{100 * share:.0f} % of the rankings inside"
        handles.append(entry(name, color="#12579e", linewidth=thick, linestyle=dash))
    return handles


def _draw_means(axes: Any, plane: _Plane, spread: bool) -> list[Any]:
    """Draw a diamond for the mean of each run and, for few runs, bars over the middle half of its topics."""
    means = plane.means
    if not 1 < len(means) <= _MAX_MEANS:
        return []
    has_bars = spread and len(means) <= _MAX_CROSSES
    if has_bars:
        for x, left, right, y, low, high in means.tolist():
            axes.plot([left, right], [y, y], color=INK, linewidth=0.6, zorder=4)
            axes.plot([x, x], [low, high], color=INK, linewidth=0.6, zorder=4)
    name = "mean of a run" + (", bars: middle half of its topics" if has_bars else "")
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
    """Draw the share of each cell; darker cells have more rankings."""
    from matplotlib.patches import Rectangle

    shares = 100 * counts / max(1, int(counts.sum()))
    top = max(60.0, 3 * float(shares.max()))
    axes.imshow(shares, origin="lower", aspect="auto", cmap="Greys", vmin=0, vmax=top, gid="cells")
    for (row, column), share in np.ndenumerate(shares):
        axes.text(column, row, f"{share:.1f}", ha="center", va="center", fontsize=8)
    for cell in range(4):
        axes.add_patch(
            Rectangle((cell - 0.46, cell - 0.46), 0.92, 0.92, fill=False, linewidth=1.1, edgecolor=INK)
        )
    dashed: Any = {"linewidth": 1.3, "edgecolor": ABOVE, "linestyle": (0, (3, 1.5))}
    axes.add_patch(Rectangle((-0.46, 1.54), 1.92, 1.92, fill=False, **dashed))
    axes.set_xticks(range(4), EFFORTS)
    axes.set_yticks(range(4), GAINS)
    hide_frame(axes)
    axes.set_xlabel("effort (columns of Twist)")
    axes.set_ylabel("gain (quartiles)")
    agree, high = float(np.trace(shares)), float(shares[2:, :2].sum())
    axes.set_title(
        f"share of rankings (%)\nframed: agree, {agree:.1f} %\ndashed: high-high, {high:.1f} %", fontsize=7.5
    )


def _find_marked(effort: Effort, lists: Ints, highlights: Sequence[Highlight]) -> dict[Highlight, Ints]:
    """Return the indices of the points of each highlight."""
    runs, topics = effort.judged.runs, effort.judged.topics
    run, topic = np.divmod(lists, max(1, len(topics)))
    points: dict[Highlight, Ints] = {}
    for key in highlights:
        name, only = (key, None) if isinstance(key, str) else key
        for text, names, noun in ((name, runs, "run"), (only, topics, "topic")):
            if text is not None and text not in names:
                raise SettingsError(
                    f"there is no {noun} {text!r} to highlight", hint=suggest_names(text, names) or None
                )
        mask = run == runs.index(name)
        if only is not None:
            mask &= topic == topics.index(only)
        points[key] = np.flatnonzero(mask)
    return points


def _name(key: Highlight) -> str:
    return short(key) if isinstance(key, str) else f"{short(key[0])}, topic {short(key[1], 16)}"


def _draw_marked(axes: Any, plane: _Plane, marked: dict[Highlight, Ints], *, means: bool = True) -> list[Any]:
    """Draw the points of each highlight and, for a run, its mean with bars over the middle half of its topics."""
    handles = []
    for index, (key, points) in enumerate(marked.items()):
        colour = _HIGHLIGHTS[index % len(_HIGHLIGHTS)]
        looks: dict[str, Any] = {
            "linestyle": "none", "marker": MARKERS[(index + 1) % len(MARKERS)], "markeredgecolor": colour, "zorder": 6,
            "clip_on": False, "gid": "marked",
        }  # fmt: skip
        handle = entry(_name(key), markersize=4.8, markerfacecolor="none", markeredgewidth=1.0, **looks)
        handles.append(handle)
        if len(points):  # An empty line that is not clipped would disturb the layout.
            handle.set_data(plane.twist[points], plane.gain[points])
            axes.add_line(handle)
        if means and isinstance(key, str) and len(points) > 1:
            [[x, left, right, y, low, high]] = run_means(
                plane.run[points], plane.twist[points], plane.gain[points]
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
    for key, points in marked.items():
        names[points] = key if isinstance(key, str) else " ".join(key)
    _, gain_index, effort_index = effort.cells(effort.gains.index(measure))
    rows: list[tuple[Cell, ...]] = [
        (*effort.labels(index), *values)
        for index, *values in zip(
            lists.tolist(), plane.twist.tolist(), plane.gain.tolist(), [EFFORTS[i] for i in effort_index],
            [GAINS[i] for i in gain_index], _contours(plane), [name or None for name in names],
            effort.archetype[lists].tolist(), effort.recall_base[lists].tolist(), strict=True,
        )
    ]  # fmt: skip
    columns = ("run", "topic", "Twist", str(measure), *_COLUMNS)
    return Table("effort and gain", columns, rows, caption=f"Effort/gain plane by {measure}")
