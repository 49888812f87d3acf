"""The figures of a study, from its tables."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rankscope.plots.bounds import plot_bounds
from rankscope.plots.correlation import plot_correlation
from rankscope.plots.pool_means import plot_pool_means
from rankscope.plots.pools import plot_robustness
from rankscope.plots.power import plot_asl
from rankscope.result import TableResult

if TYPE_CHECKING:
    from rankscope.analysis.study.experiments import Study
    from rankscope.plots.figure import Figure

__all__ = ["study_figures"]


def study_figures(study: Study) -> dict[str, Figure]:
    """Correlation, robustness, means by a shallow pool, discriminative power and bounds, each as its own figure.

    >>> import rankscope as rs
    >>> qrels = {"q1": {"a": 1, "b": 0}, "q2": {"a": 0, "b": 2}}
    >>> runs = {r: {q: {"a": i, "b": 2 - i, "c": 1.5} for q in qrels} for i, r in enumerate(["r1", "r2", "r3"])}
    >>> list(study_figures(rs.study(qrels, runs, ["AP", "nDCG"], repeats=1)))
    ['correlation', 'robustness', 'depth_pool_means', 'discriminative_power', 'bounds']
    """
    tables = study.tables
    bounds = replace(tables["bounds"], rows=[*tables["bounds"].rows, *tables["bounds_pools"].rows])
    return {
        "correlation": plot_correlation(study),
        "robustness": plot_robustness(study),
        "depth_pool_means": plot_pool_means(TableResult({"means": tables["depth_pool_means"]}, {})),
        "discriminative_power": plot_asl(study),
        "bounds": plot_bounds(TableResult({"means": bounds}, {})),
    }
