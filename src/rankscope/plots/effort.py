"""Figures of the effort/gain plane (Ferro et al. 2016, Figures 7 to 11)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np

from rankscope.analysis.effort import Effort
from rankscope.analysis.plane import HELD, Density, estimate_density, run_means
from rankscope.arrays import Bools, Floats, Ints
from rankscope.choices import EFFORTS, GAINS
from rankscope.errors import InputError
from rankscope.measures import Measure
from rankscope.plots import marks, palette
from rankscope.plots.figure import Figure
from rankscope.plots.style import DOUBLE, SINGLE, canvas, check_highlight, count, is_wide, shorten
from rankscope.scores import Scores
from rankscope.tables import Cell, Table

_HIGHLIGHTS = ("#d55e00", "#b0578d", "#1b1f24", "#3a9bd9")
_POINT = "#8fb8d9"
_MAX_MEANS, _MAX_CROSSES = 400, 12
"""Maximum numbers of runs for which means are drawn, and for which each mean has bars for its spread."""

_MAX_FACETS = 56
"""Maximum number of small planes in two columns of a page, where seven rows of eight fit; one column has half."""

Highlight = str | tuple[str, str]


Kind = tuple[str, str, Bools]
"""Name, colour and points of a class of points."""


@dataclass(frozen=True)
class _Plane:
    """Points of a plane with their runs."""

    measure: Measure
    run: Ints
    twist: Floats
    gain: Floats
    quartiles: Sequence[float]

    @property
    def ends(self) -> tuple[float, float]:
        """Lowest and highest gain of the axis."""
        return min(0.0, self.gain.min(initial=0.0)), max(1.0, self.gain.max(initial=1.0))

    @cached_property
    def density(self) -> Density | None:
        return estimate_density(self.twist, self.gain, *self.ends)

    @property
    def contours(self) -> list[float | None]:
        """Share of the contour around each point."""
        return [None] * len(self.twist) if self.density is None else self.density.held

    def means(self, points: Any = slice(None)) -> Floats:
        """Return the means of runs, and the middle half of their topics, over some points."""
        return run_means(self.run[points], self.twist[points], self.gain[points])


@dataclass(frozen=True)
class _EffortPlane(_Plane):
    """Plane of an analysis; its points are the rankings with the indices ``lists``."""

    effort: Effort
    lists: Ints

    @classmethod
    def from_effort(cls, effort: Effort, measure: Measure) -> Self:
        number = effort.gains.index(measure)
        lists, _, _ = effort.cells(number)
        run, gain = lists // max(1, len(effort.judged.topics)), effort.gain[number][lists]
        return cls(measure, run, effort.twist[lists], gain, effort.quartiles(measure), effort, lists)

    def classify(self, by: str) -> list[Kind]:
        kind, names = self.effort.classes(by)
        special = {"archetype": palette.ARCHETYPE_COLOURS, "recall base": palette.QUARTER_COLOURS}
        colours = special.get(by, palette.COLOURS)
        return [(name, colours[k % len(colours)], kind[self.lists] == k) for k, name in enumerate(names)]

    def find(self, highlights: Iterable[Highlight]) -> dict[Highlight, Ints]:
        """Return the points of each highlighted run, or ranking of a run."""
        runs, topics = self.effort.judged.runs, self.effort.judged.topics
        points: dict[Highlight, Ints] = {}
        for key in highlights:
            name, topic = (key, None) if isinstance(key, str) else key
            check_highlight([name], runs)
            mask = self.run == runs.index(name)
            if topic is not None:
                check_highlight([topic], topics, "topic")
                mask &= self.lists % len(topics) == topics.index(topic)
            points[key] = np.flatnonzero(mask)
        return points

    def table(self, marked: dict[Highlight, Ints]) -> Table:
        names = np.full(len(self.lists), "", object)
        for key, points in marked.items():
            names[points] = key if isinstance(key, str) else " ".join(key)
        effort, lists = self.effort, self.lists
        _, gain_index, effort_index = effort.cells(effort.gains.index(self.measure))
        rows: list[tuple[Cell, ...]] = [
            (*effort.labels(index), *values)
            for index, *values in zip(
                lists.tolist(), self.twist.tolist(), self.gain.tolist(), [EFFORTS[i] for i in effort_index],
                [GAINS[i] for i in gain_index], self.contours, [name or None for name in names],
                effort.archetype[lists].tolist(), effort.recall_base[lists].tolist(), strict=True,
            )
        ]  # fmt: skip
        columns = ("run", "topic", "Twist", str(self.measure), *_COLUMNS)
        return Table("effort and gain", columns, rows, caption=f"Effort/gain plane by {self.measure}")


_COLUMNS = ("effort", "gain", "contour", "highlight", "archetype", "recall_base")


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
        Classes of rankings that each have a small plane, instead of the matrix. If not all fit on a page, the
        smallest share one.
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
    plane = _EffortPlane.from_effort(*_as_effort(effort, measure))
    if facet is not None:
        return _draw_facets(plane, plane.find(highlight), facet, width)
    height = 3.5 if is_wide(width) else 5.6
    figure, axes, [table] = _draw_planes([plane], highlight, colour, width, height)
    return Figure(figure, axes, table)


def _draw_planes(
    planes: Sequence[_EffortPlane],
    highlight: Iterable[Highlight],
    colour: str | None,
    width: float,
    height: float,
) -> tuple[Any, tuple[Any, ...], list[Table]]:
    """Draw planes one below the other, each with the shares of its cells beside it, or below in a narrow figure."""
    n, highlights = len(planes), list(highlight)
    shape: tuple[int, int] = (n, 2)
    ratios: dict[str, Any] = {"width_ratios": (1.45, 1)}
    if not is_wide(width):
        shape, ratios = (2 * n, 1), {"height_ratios": (1.25, 1) * n}
    tables, handles = [], []
    with canvas(width, height, *shape, squeeze=False, **ratios) as (figure, grid):
        for (points, cells), plane in zip(grid.reshape(n, 2), planes, strict=True):
            marked = plane.find(highlights)
            kinds = plane.classify(colour) if colour else ()
            handles = _draw_points(points, plane, kinds, spread=not marked)
            _draw_cells(cells, plane.effort.plane(plane.measure))
            handles += _draw_marked(points, plane, marked)
            tables.append(plane.table(marked))
        marks.legend_below(figure, handles, 4)
    return figure, tuple(grid.ravel()), tables


def _draw_facets(plane: _EffortPlane, marked: dict[Highlight, Ints], facet: str, width: float) -> Figure:
    """Draw a small plane for each class of rankings, with the other rankings in grey."""
    kinds = plane.classify(facet)
    sizes = [int(is_kind.sum()) for *_, is_kind in kinds]
    present = [k for k, size in enumerate(sizes) if size]
    steps = ((24, 4), (42, 6), (_MAX_FACETS, 8)) if is_wide(width) else ((14, 2), (_MAX_FACETS // 2, 4))
    max_columns = next((columns for limit, columns in steps if len(present) <= limit), steps[-1][1])
    shown, rest = marks.split_rows(sorted(present, key=lambda k: -sizes[k]), steps[-1][0] - 1)
    classes = [kinds[k] for k in sorted(shown)]
    if rest:
        classes.append((f"{len(rest)} more", palette.QUIET, np.any([kinds[k][-1] for k in rest], axis=0)))
    columns = max(1, min(max_columns, len(classes)))
    rows = -(-max(1, len(classes)) // columns)
    height = 0.7 + 1.75 * rows * (width / columns / 1.75) ** 0.5
    with canvas(width, height, rows, columns, squeeze=False, sharex=True, sharey=True) as (figure, panels):
        axes = tuple(panels.flat[: max(1, len(classes))])
        for panel in panels.flat[len(classes) :]:
            panel.set_axis_off()
        for panel, (name, colour, is_kind) in zip(axes, classes, strict=False):
            for mask, style in (
                (~is_kind, {"s": 2, "c": "#dddddd"}),
                # Points of the worst rankings lie in the corner, where clipping would hide them.
                (is_kind, {"s": 7, "c": colour, "zorder": 3, "gid": name, "clip_on": False}),
            ):
                panel.scatter(plane.twist[mask], plane.gain[mask], linewidths=0, rasterized=True, **style)
            _draw_grid(panel, plane, ticks=(0, 0.5, 1))
            marks.limit_ticks(panel.yaxis, 2, integer=False)
            inside = {key: at[is_kind[at]] for key, at in marked.items()}
            handles = _draw_marked(panel, plane, inside, means=False, is_small=True)
            share = f"{int(is_kind.sum()):,} ({100 * is_kind.mean():.0f} %)"
            panel.set_title(f"{shorten(name, int(11 * width / columns))}\n{share}", fontsize=7)
        for panel in panels[:, 0]:
            panel.set_ylabel(f"{shorten(str(plane.measure), 16)}", fontsize=7)
        for panel in axes[-columns:]:  # lowest of each column
            panel.set_xlabel("Twist", fontsize=7)
            panel.tick_params(labelbottom=True)
        other = marks.legend_dot("another ranking", "#dddddd", markersize=3)
        lines = "lines: quarters of Twist, quartiles of gain"
        line = marks.legend_line(lines, color=palette.QUIET, linewidth=0.5)
        marks.legend_below(figure, [*handles, other, line], 4)
    return Figure(figure, axes, plane.table(marked))


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
    planes = [_EffortPlane.from_effort(effort, measure) for measure in effort.gains]
    height = 3.1 * len(planes) + 0.3 if is_wide(width) else (3 + 2.2 / len(planes)) * len(planes) + 0.4
    figure, axes, tables = _draw_planes(planes, highlight, colour, width, height)
    rows = [(table.columns[3], *row) for table in tables for row in table.rows]
    columns = ("measure", "run", "topic", "Twist", "value", *_COLUMNS)
    return Figure(figure, axes, Table("effort and gains", columns, rows, caption="Effort/gain planes"))


def _as_effort(effort: Effort | Scores, measure: str | Measure | None) -> tuple[Effort, Measure]:
    """Return the analysis of effort (of the rankings of scores, if necessary) and the gain measure."""
    if isinstance(effort, Scores):
        if effort.judged is None:
            raise InputError("these scores have no rankings", hint="compute them with rankscope.evaluate")
        gains = [m for m in effort.measures if m.name != "Twist"]
        if measure is not None:
            gains = [effort.matrix(measure).measure]
        if not gains:
            raise InputError("these scores have no gain measure", hint="evaluate AP as well")
        options: dict[str, Any] = {"missing": effort.settings.get("missing", "zero")}
        options["settings"] = {
            key: effort.settings[key] for key in ("order", "aspects") if key in effort.settings
        }
        twist = next((m for m in effort.measures if m.name == "Twist"), None)
        if twist is not None:
            options |= {"crossing": twist.settings["crossing"], "cutoff": twist.cutoff}
        return Effort.from_judged(effort.judged, gains[:1], **options), gains[0]
    return effort, effort.gains[0 if measure is None else effort.number(measure)]


def draw_plane(
    axes: Any, effort: Effort, measure: Measure, highlights: Sequence[Highlight]
) -> list[list[Any]]:
    """Draw the points of a plane with some of them marked; return the entries of a legend for these and for the rest.

    The means of runs, diamonds like some marks, are left out.
    """
    plane = _EffortPlane.from_effort(effort, measure)
    handles = _draw_points(axes, plane, spread=None)
    return [_draw_marked(axes, plane, plane.find(highlights), means=False), handles]


def draw_effort_points(
    run: Ints, twist: Floats, gain: Floats, quartiles: Sequence[float], measure: Measure, title: str
) -> Figure:
    """Draw the points and the grid of a plane from the numbers that a study keeps."""
    plane = _Plane(measure, run, twist, gain, quartiles)
    with canvas(SINGLE, 3.0) as (figure, axes):
        handles = _draw_points(axes, plane)
        axes.set_title(title, fontsize=7.5)
        marks.legend_below(figure, handles, 2)
    values = zip(twist.tolist(), gain.tolist(), plane.contours, strict=True)
    columns = ("Twist", str(measure), "contour")
    return Figure(figure, (axes,), Table("effort and gain", columns, list(values), caption=title))


def _draw_points(
    axes: Any, plane: _Plane, kinds: Sequence[Kind] = (), spread: bool | None = True
) -> list[Any]:
    """Draw rankings, contours, grid and, unless ``spread`` is None, means of runs; return the entries of a legend."""
    handles: list[Any] = []
    size = 5 if len(plane.twist) > 500 else 10
    style: dict[str, Any] = {"linewidths": 0, "rasterized": True, "clip_on": False, "zorder": 2}
    entry: dict[str, Any] = {"linestyle": "none", "markersize": 4}  # larger than the points
    if not kinds:
        axes.scatter(plane.twist, plane.gain, s=size, c=_POINT, gid="lists", **style)
        handles.append(marks.legend_line("a ranking", color=_POINT, marker="o", **entry))
    else:
        for k, (name, colour, is_kind) in enumerate(kinds):
            marker = palette.MARKERS[k % len(palette.MARKERS)]
            if is_kind.any():
                style |= {"s": 1.6 * size, "c": colour, "marker": marker, "gid": f"lists: {name}"}
                axes.scatter(plane.twist[is_kind], plane.gain[is_kind], **style)
                text = f"{shorten(name, 24)} ({int(is_kind.sum()):,})"
                handles.append(marks.legend_line(text, color=colour, marker=marker, **entry))
    handles += _draw_contours(axes, plane) + ([] if spread is None else _draw_means(axes, plane, spread))
    _draw_grid(axes, plane)
    better = ", lower is better" if plane.measure.better == "lower" else ""
    axes.set_xlabel("Twist (1 = no avoidable effort)")
    axes.set_ylabel(f"{shorten(str(plane.measure), 40)} (gain{better})")
    axes.set_title(f"{count(len(plane.twist), 'ranking')}, lines: quartiles of gain")
    return handles


def _draw_contours(axes: Any, plane: _Plane) -> list[Any]:
    density = plane.density
    if density is None:
        return []
    handles = []
    lines: tuple[tuple[Any, float], ...] = (("solid", 1.1), ((0, (4, 1.5)), 0.8))
    for level, share, (dash, thick) in zip(density.levels, HELD, lines, strict=True):
        style = {"colors": palette.INK, "linewidths": thick, "linestyles": [dash], "zorder": 3}
        axes.contour(density.twist, density.gain, density.height, levels=[level], **style)
        name = f"{100 * share:.0f} % of the rankings inside"
        handles.append(marks.legend_line(name, color=palette.INK, linewidth=thick, linestyle=dash))
    return handles


def _draw_means(axes: Any, plane: _Plane, spread: bool) -> list[Any]:
    """Draw a diamond for the mean of each run and, for few runs, bars over the middle half of its topics."""
    means = plane.means()
    if not 1 < len(means) <= _MAX_MEANS:
        return []
    has_bars = spread and len(means) <= _MAX_CROSSES
    for mean in means.tolist() if has_bars else ():
        _draw_cross(axes, mean, color=palette.INK, linewidth=0.6, zorder=4)
    name = "mean of a run" + (", bars: middle half of its topics" if has_bars else "")
    look: dict[str, Any] = {"markersize": 3.4, "markerfacecolor": "white", "markeredgecolor": palette.INK}
    look |= {"linestyle": "none", "marker": "D", "markeredgewidth": 0.7, "zorder": 5}
    return list(axes.plot(means[:, 0], means[:, 3], label=name, gid="means", **look))


def _draw_cross(axes: Any, mean: Sequence[float], **style: Any) -> None:
    """Draw bars over the middle half of the topics of a run, by Twist and by gain."""
    x, left, right, y, low, high = mean
    axes.plot([left, right], [y, y], **style)
    axes.plot([x, x], [low, high], **style)


def _draw_grid(axes: Any, plane: _Plane, ticks: Sequence[float] = (0, 0.25, 0.5, 0.75, 1)) -> None:
    for border in (0.25, 0.5, 0.75):
        axes.axvline(border, color=palette.QUIET, linewidth=0.5, zorder=1)
    for border in plane.quartiles:
        axes.axhline(border, color=palette.QUIET, linewidth=0.5, zorder=1)
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.grid(False)
    axes.set(xlim=(0, 1), ylim=plane.ends[::-1] if plane.measure.better == "lower" else plane.ends)


def _draw_cells(axes: Any, counts: Ints) -> None:
    """Draw the share of each cell; darker cells have more rankings."""
    shares = 100 * counts / max(1, int(counts.sum()))
    top = max(60.0, 3 * float(shares.max()))
    axes.imshow(shares, origin="lower", aspect="auto", cmap="Greys", vmin=0, vmax=top, gid="cells")
    for (row, column), share in np.ndenumerate(shares):
        marks.write_centred(axes, column, row, f"{share:.1f}", fontsize=8)
    for cell in range(4):
        marks.draw_box(axes, cell - 0.46, cell - 0.46, 0.92, 0.92, linewidth=1.1, edgecolor=palette.INK)
    dashed: Any = {"edgecolor": palette.ABOVE, "linestyle": (0, (3, 1.5))}
    marks.draw_box(axes, -0.46, 1.54, 1.92, 1.92, linewidth=1.3, **dashed)
    axes.set_xticks(range(4), EFFORTS)
    axes.set_yticks(range(4), GAINS)
    marks.hide_frame(axes)
    axes.set(xlabel="effort (columns of Twist)", ylabel="gain (quartiles)")
    agree, high = float(np.trace(shares)), float(shares[2:, :2].sum())
    title = f"share of rankings (%)\nframed: agree, {agree:.1f} %\ndashed: high-high, {high:.1f} %"
    axes.set_title(title, fontsize=7.5)


def _name(key: Highlight) -> str:
    return shorten(key) if isinstance(key, str) else f"{shorten(key[0])}, topic {shorten(key[1], 16)}"


def _draw_marked(
    axes: Any, plane: _Plane, marked: dict[Highlight, Ints], *, means: bool = True, is_small: bool = False
) -> list[Any]:
    """Draw the points of each highlight and, for a run, its mean with bars over the middle half of its topics.

    Small marks are filled, and as large as the points of a small plane, which larger marks would cover.
    """
    handles = []
    for index, (key, points) in enumerate(marked.items()):
        colour = _HIGHLIGHTS[index % len(_HIGHLIGHTS)]
        marker = palette.MARKERS[(index + 1) % len(palette.MARKERS)]
        style: dict[str, Any] = {"linestyle": "none", "zorder": 6, "clip_on": False, "gid": "marked"}
        style |= {"marker": marker, "markeredgecolor": colour}
        size, face, edge = (3.2, colour, 0.0) if is_small else (4.8, "none", 1.0)
        handle = marks.legend_line(
            _name(key), markersize=size, markerfacecolor=face, markeredgewidth=edge, **style
        )
        handles.append(handle)
        if len(points):  # An empty line that is not clipped would disturb the layout.
            handle.set_data(plane.twist[points], plane.gain[points])
            axes.add_line(handle)
        if means and isinstance(key, str) and len(points) > 1:
            [mean] = plane.means(points).tolist()
            bars = {"color": colour, "linewidth": 1.3, "solid_capstyle": "butt", "zorder": 6, "gid": "spread"}
            _draw_cross(axes, mean, **bars)
            axes.plot(mean[0], mean[3], **{**style, "gid": "mean"}, markersize=5.5, markerfacecolor=colour)
    return handles
