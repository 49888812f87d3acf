"""Figures of results: each function draws a result and returns a :class:`Figure` with the table of its numbers.

>>> import rankscope as rs
>>> curve = rs.curve(rs.Collection({"q": {"a": 1, "b": 1}}, {"q": ["x", "a", "y", "b"]}), None, "q")
>>> rs.plots.plot_curve(curve)
<Figure: crp, 3.4 x 2.9 inches, 4 rows in its table>
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from rankscope.errors import SettingsError
from rankscope.lazy import lazy_getattr
from rankscope.plots.style import choose

_SAME_NAME = (
    "archetypes", "bounds", "bump", "certain", "correlation", "dcg", "equal_gain", "findings", "heat_map", "indicators",
    "leaderboard", "means", "orderings", "overlap", "pool_means", "rp", "topics", "weights",
)  # fmt: skip
"""Modules whose only public function is ``plot_`` and their name."""

_HOME = {
    **{name: (f"plot_{name}",) for name in _SAME_NAME},
    "compare": ("plot_comparison", "plot_differences", "plot_forest"),
    "coverage": ("plot_aspects", "plot_coverage"),
    "crp": ("plot_curve",),
    "effort": ("plot_effort_gain", "plot_effort_gains"),
    "figure": ("Figure",),
    "intervals": ("plot_compared", "plot_intervals", "plot_scales"),
    "judges": ("plot_confusion", "plot_slopes"),
    "pools": ("plot_robustness",),
    "power": ("plot_asl",),
    "ranges": ("plot_archetype_ranges",),
    "relations": ("plot_properties", "plot_related", "plot_relations"),
    "study": ("extra_figures", "study_figures"),
    "style": ("using",),
    "verdict": ("plot_ranks", "plot_regions", "plot_verdict"),
}
"""Public names by module; a module is imported when one of its names is first used."""

__all__ = ["plot", *sorted(name for names in _HOME.values() for name in names)]


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
        raise SettingsError(
            f"there is no figure of {', '.join(result.tables)}", hint="see the functions of rankscope.plots"
        )
    name = choose(figure, list(figures), "there is no figure called {}")
    module, _, function = figures[name].rpartition(".")
    drawn: Figure = getattr(import_module(f"rankscope.plots.{module}"), function)(result, **options)
    return drawn


if not TYPE_CHECKING:
    __getattr__ = lazy_getattr("rankscope.plots", _HOME)
else:
    from rankscope.plots.archetypes import plot_archetypes as plot_archetypes
    from rankscope.plots.bounds import plot_bounds as plot_bounds
    from rankscope.plots.bump import plot_bump as plot_bump
    from rankscope.plots.certain import plot_certain as plot_certain
    from rankscope.plots.compare import plot_comparison as plot_comparison
    from rankscope.plots.compare import plot_differences as plot_differences
    from rankscope.plots.compare import plot_forest as plot_forest
    from rankscope.plots.correlation import plot_correlation as plot_correlation
    from rankscope.plots.coverage import plot_aspects as plot_aspects
    from rankscope.plots.coverage import plot_coverage as plot_coverage
    from rankscope.plots.crp import plot_curve as plot_curve
    from rankscope.plots.dcg import plot_dcg as plot_dcg
    from rankscope.plots.effort import plot_effort_gain as plot_effort_gain
    from rankscope.plots.effort import plot_effort_gains as plot_effort_gains
    from rankscope.plots.equal_gain import plot_equal_gain as plot_equal_gain
    from rankscope.plots.figure import Figure as Figure
    from rankscope.plots.findings import plot_findings as plot_findings
    from rankscope.plots.heat_map import plot_heat_map as plot_heat_map
    from rankscope.plots.indicators import plot_indicators as plot_indicators
    from rankscope.plots.intervals import plot_compared as plot_compared
    from rankscope.plots.intervals import plot_intervals as plot_intervals
    from rankscope.plots.intervals import plot_scales as plot_scales
    from rankscope.plots.judges import plot_confusion as plot_confusion
    from rankscope.plots.judges import plot_slopes as plot_slopes
    from rankscope.plots.leaderboard import plot_leaderboard as plot_leaderboard
    from rankscope.plots.means import plot_means as plot_means
    from rankscope.plots.orderings import plot_orderings as plot_orderings
    from rankscope.plots.overlap import plot_overlap as plot_overlap
    from rankscope.plots.pool_means import plot_pool_means as plot_pool_means
    from rankscope.plots.pools import plot_robustness as plot_robustness
    from rankscope.plots.power import plot_asl as plot_asl
    from rankscope.plots.ranges import plot_archetype_ranges as plot_archetype_ranges
    from rankscope.plots.relations import plot_properties as plot_properties
    from rankscope.plots.relations import plot_related as plot_related
    from rankscope.plots.relations import plot_relations as plot_relations
    from rankscope.plots.rp import plot_rp as plot_rp
    from rankscope.plots.study import extra_figures as extra_figures
    from rankscope.plots.study import study_figures as study_figures
    from rankscope.plots.style import using as using
    from rankscope.plots.topics import plot_topics as plot_topics
    from rankscope.plots.verdict import plot_ranks as plot_ranks
    from rankscope.plots.verdict import plot_regions as plot_regions
    from rankscope.plots.verdict import plot_verdict as plot_verdict
    from rankscope.plots.weights import plot_weights as plot_weights
    from rankscope.result import Result
