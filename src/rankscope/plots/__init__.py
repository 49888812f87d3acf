"""Figures: every one takes something computed and returns what was drawn together with its table.

>>> import rankscope as rs
>>> found = rs.curve(rs.Collection({"q": {"a": 1, "b": 1}}, {"q": ["x", "a", "y", "b"]}), None, "q")
>>> rs.plots.plot_curve(found)
<Figure: crp, 3.4 x 2.9 inches, 4 rows in its table>
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from rankscope.errors import SettingsError, suggest_names

_HOME = {
    "Figure": "figure",
    "extra_figures": "study",
    "plot_archetype_ranges": "ranges",
    "plot_archetypes": "archetypes",
    "plot_asl": "power",
    "plot_aspects": "coverage",
    "plot_bounds": "bounds",
    "plot_bump": "bump",
    "plot_certain": "certain",
    "plot_compared": "intervals",
    "plot_comparison": "compare",
    "plot_confusion": "judges",
    "plot_correlation": "correlation",
    "plot_coverage": "coverage",
    "plot_curve": "crp",
    "plot_dcg": "dcg",
    "plot_differences": "compare",
    "plot_effort_gain": "effort",
    "plot_effort_gains": "effort",
    "plot_equal_gain": "equal_gain",
    "plot_findings": "findings",
    "plot_forest": "compare",
    "plot_heat_map": "heat_map",
    "plot_indicators": "indicators",
    "plot_intervals": "intervals",
    "plot_leaderboard": "leaderboard",
    "plot_means": "means",
    "plot_orderings": "orderings",
    "plot_overlap": "overlap",
    "plot_pool_means": "pool_means",
    "plot_properties": "relations",
    "plot_ranks": "verdict",
    "plot_regions": "verdict",
    "plot_related": "relations",
    "plot_relations": "relations",
    "plot_robustness": "pools",
    "plot_rp": "rp",
    "plot_scales": "intervals",
    "plot_slopes": "judges",
    "plot_topics": "topics",
    "plot_verdict": "verdict",
    "plot_weights": "weights",
    "study_figures": "study",
    "using": "style",
}

FIGURES = {
    "findings": {"findings": "plot_findings"},
    "entries": {"archetypes": "plot_archetype_ranges"},
    "properties": {"relations": "plot_properties"},
    "relations": {"relations": "plot_related"},
    "scales": {"intervals": "plot_scales"},
    "comparison": {"intervals": "plot_compared"},
    "coverage": {"curves": "plot_coverage", "aspects": "plot_aspects"},
    "means": {"means": "plot_means", "heat-map": "plot_heat_map", "topics": "plot_topics"},
}
"""Figures of results of analyses that are not declared, by the table that tells them apart; the first by default."""

__all__ = [
    "FIGURES",
    "Figure",
    "extra_figures",
    "plot",
    "plot_archetype_ranges",
    "plot_archetypes",
    "plot_asl",
    "plot_aspects",
    "plot_bounds",
    "plot_bump",
    "plot_certain",
    "plot_compared",
    "plot_comparison",
    "plot_confusion",
    "plot_correlation",
    "plot_coverage",
    "plot_curve",
    "plot_dcg",
    "plot_differences",
    "plot_effort_gain",
    "plot_effort_gains",
    "plot_equal_gain",
    "plot_findings",
    "plot_forest",
    "plot_heat_map",
    "plot_indicators",
    "plot_intervals",
    "plot_leaderboard",
    "plot_means",
    "plot_orderings",
    "plot_overlap",
    "plot_pool_means",
    "plot_properties",
    "plot_ranks",
    "plot_regions",
    "plot_related",
    "plot_relations",
    "plot_robustness",
    "plot_rp",
    "plot_scales",
    "plot_slopes",
    "plot_topics",
    "plot_verdict",
    "plot_weights",
    "study_figures",
    "using",
]


def plot(result: Result, figure: str | None = None, **options: Any) -> Figure:
    """The figure of any result of an analysis, chosen by its tables; ``figure`` chooses where there are several.

    >>> import rankscope as rs
    >>> scores = rs.evaluate({"q": {"d": 1}}, {"a": {"q": ["d"]}, "b": {"q": ["x", "d"]}}, ["AP", "RR"])
    >>> plot(rs.correlate(scores, "kendall")).table.name
    'correlations'
    """
    names = result.figures or next((kinds for table, kinds in FIGURES.items() if table in result.tables), {})
    if not names:
        raise SettingsError(
            f"there is no figure of {', '.join(result.tables)}", hint="see the functions of rankscope.plots"
        )
    chosen = figure or next(iter(names))
    if chosen not in names:
        raise SettingsError(
            f"there is no figure called {chosen!r}",
            hint=suggest_names(chosen, names) or f"choose one of {', '.join(names)}",
        )
    drawn: Figure = _load(names[chosen])(result, **options)
    return drawn


def _load(name: str) -> Any:
    """A function of ours, as ``plot_x`` or ``module.plot_x``."""
    module, _, function = name.rpartition(".")
    return getattr(import_module(f"rankscope.plots.{module or _HOME[name]}"), function)


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name in _HOME:
            return _load(name)
        raise AttributeError(f"module 'rankscope.plots' has no attribute {name!r}")


if TYPE_CHECKING:
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
