"""The figures of a study, from its tables: one per experiment, with a panel for each collection."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from rankscope.analysis.study.experiments import Study
from rankscope.analysis.study.extra_results import closest_pair
from rankscope.measures import parse_many
from rankscope.plots.bounds import plot_bounds
from rankscope.plots.correlation import plot_correlation
from rankscope.plots.effort import draw_effort_points
from rankscope.plots.figure import Figure
from rankscope.plots.pools import plot_pool_means, plot_robustness
from rankscope.plots.power import plot_asl
from rankscope.plots.scores import draw_means
from rankscope.plots.style import DOUBLE, blank, drawn_into, shorten
from rankscope.result import Result, TableResult
from rankscope.tables import Table

_Draw = Callable[["Study"], Figure]


def study_figures(study: Study) -> dict[str, Figure]:
    """Correlation, robustness, means by a shallow pool, discriminative power, bounds, means, and a plane per gain.

    With several collections each figure has a panel for every collection that has the experiment (Ferro et al. 2016,
    Figures 7 to 10 and 12 to 14; Ferro and Silvello 2015, Figure 3).

    Parameters
    ----------
    study
        Result of :func:`rankscope.study`.

    Returns
    -------
    dict[str, Figure]
        Figures by name.

    Examples
    --------
    >>> import rankscope as rs
    >>> qrels = {"q1": {"a": 1, "b": 0}, "q2": {"a": 0, "b": 2}}
    >>> runs = {r: {q: {"a": i, "b": 2 - i, "c": 1.5} for q in qrels} for i, r in enumerate(["r1", "r2", "r3"])}
    >>> collection = rs.Collection(qrels, runs)
    >>> settings = rs.StudySettings(measures="AP nDCG", repeats=1)
    >>> list(study_figures(rs.study({"one": collection, "two": collection}, settings)))[:5]
    ['correlation', 'robustness', 'depth_pool_means', 'discriminative_power', 'bounds']
    """
    parts = {name: study.select(name) for name in study.collections}
    drawn: dict[str, Figure] = {}
    for figure, (table, draw) in _figures(study).items():
        having = {name: part for name, part in parts.items() if table in part.tables}
        if len(having) == 1:
            drawn[figure] = draw(next(iter(having.values())))
        elif having:
            drawn[figure] = _panels(having, draw, 1 if figure == "bounds" else 2)
    return drawn


def extra_figures(results: Mapping[str, Result]) -> dict[str, Figure]:
    """Return the figures of results that a study does not keep, by name.

    Parameters
    ----------
    results
        Results of :func:`rankscope.analysis.study.extra_results.extra_results`.

    Examples
    --------
    >>> import rankscope as rs
    >>> from rankscope.analysis.study.extra_results import extra_results
    >>> runs = {"good": {"q1": ["a"], "q2": ["a"]}, "poor": {"q1": ["b", "a"], "q2": ["b"]}}
    >>> scores = rs.evaluate({"q1": {"a": 1}, "q2": {"a": 1}}, runs, "AP")
    >>> list(extra_figures(extra_results(scores)[0]))
    ['heat_map', 'topics', 'findings', 'forest', 'differences', 'ranks', 'orderings']
    """
    scores = results["scores"]
    drawn = {"heat_map": scores.plot("heat-map"), "topics": scores.plot("topics")}
    drawn["findings"] = results["findings"].plot()
    if "comparison" in results:
        comparison = results["comparison"]
        drawn["forest"] = comparison.plot("forest")
        drawn["differences"] = comparison.plot("differences", pair=closest_pair(comparison))
    drawn |= {name: results[name].plot() for name in ("ranks", "coverage", "orderings") if name in results}
    return drawn


def _figures(study: Study) -> dict[str, tuple[str, _Draw]]:
    """Return the figures, each with the table that it needs and the function that draws it."""
    figures: dict[str, tuple[str, _Draw]] = {
        "correlation": ("correlations", plot_correlation),
        "robustness": ("robustness", plot_robustness),
        "depth_pool_means": ("depth_pool_means", _pool_means),
        "discriminative_power": ("asl", plot_asl),
        "bounds": ("bounds", _bounds),
        "means": ("means", _means),
    }
    names: dict[str, int] = {}
    for measure in study["effort_points"].columns:
        if measure in ("collection", "run", "topic", "Twist"):
            continue
        word = re.sub(r"[^A-Za-z0-9@.]+", "_", measure).strip("_")
        names[word] = names.get(word, 0) + 1
        key = f"effort_gain-{word}" + (f"-{names[word]}" if names[word] > 1 else "")
        figures[key] = ("effort_points", partial(_plane, measure=measure))
    return figures


def _pool_means(part: Study) -> Figure:
    return plot_pool_means(TableResult({"means": part["depth_pool_means"]}, {}))


def _bounds(part: Study) -> Figure:
    rows = [*part["bounds"].rows, *part["bounds_pools"].rows]
    return plot_bounds(TableResult({"means": replace(part["bounds"], rows=rows)}, {}))


def _means(part: Study) -> Figure:
    table = part["means"]
    measures = parse_many(list(table.columns[1:]))
    means = {measure: np.array(table.column(str(measure)), np.float64) for measure in measures}
    return draw_means([str(run) for run in table.column("run")], means)


def _plane(part: Study, measure: str) -> Figure:
    points = part["effort_points"]
    twist, gain = (np.array(points.column(name), np.float64) for name in ("Twist", measure))
    [agreement] = [row for row in part["agreement"].records() if row["measure"] == measure]
    quartiles = [agreement[name] for name in ("lower_quartile", "median", "upper_quartile")]
    defined = [float(str(value)) for value in quartiles if value is not None]
    defined = [value for value in defined if np.isfinite(value)]
    agree, high = (100 * float(str(agreement[name])) for name in ("diagonal_share", "high_high_share"))
    title = f"{len(twist):,} rankings: agree {agree:.1f} %, high-high {high:.1f} %"
    is_defined = np.isfinite(gain)
    _, run = np.unique(np.array(points.column("run"), object).astype(str), return_inverse=True)
    numbers = (run[is_defined], twist[is_defined], gain[is_defined])
    return draw_effort_points(*numbers, defined, parse_many([measure])[0], title)


def _panels(parts: dict[str, Study], draw: _Draw, columns: int) -> Figure:
    """Draw the same figure of several collections, in a number of columns."""
    rows = -(-len(parts) // columns)
    with blank(DOUBLE, (3.4 if columns > 1 else 2.9) * rows) as figure:
        panels = figure.subfigures(rows, columns, squeeze=False).ravel()
        axes: list[Any] = []
        tables: dict[str, Table] = {}
        for panel, (name, part) in zip(panels, parts.items(), strict=False):
            panel.suptitle(shorten(name, 40), fontsize=8.5, fontweight="bold")
            with drawn_into(panel):
                figure_of_part = draw(part)
            for panel_axes in figure_of_part.axes:
                panel_axes.set_title(panel_axes.get_title(loc="left"), loc="left", fontsize=7)
            axes += figure_of_part.axes
            tables[name] = figure_of_part.table
    first = next(iter(tables.values()))
    together = [(name, *row) for name, table in tables.items() for row in table.rows]
    table = Table(first.name, ("collection", *first.columns), together, caption=first.caption)
    return Figure(figure, tuple(axes), table)
