"""Figure of the weights that measures give ranks."""

from rankscope.lab.weights import RankWeights
from rankscope.plots.figure import Figure
from rankscope.plots.marks import legend_below, rank_ticks
from rankscope.plots.palette import series
from rankscope.plots.style import SINGLE, canvas, distinct, shorten


def plot_weights(result: RankWeights, *, width: float = SINGLE) -> Figure:
    """Draw the weight of every rank, one line per measure.

    Parameters
    ----------
    result
        Result of :func:`rankscope.lab.rank_weights`.
    width
        Width in inches.

    Returns
    -------
    Figure

    Examples
    --------
    >>> import rankscope as rs
    >>> len(plot_weights(rs.lab.rank_weights("RBP(p=0.5) P@2", depth=3)).axes[0].lines)
    2
    """
    names = distinct(row.measure for row in result.weights)
    with canvas(width, 2.3 + 0.13 * ((len(names) + 1) // 2)) as (figure, axes):
        handles = []
        for number, name in enumerate(names):
            weights = [row.weight for row in result.weights if row.measure == name]
            ranks = range(1, len(weights) + 1)
            handles += axes.plot(ranks, weights, **series(number), label=shorten(name, 30), gid=str(number))
        axes.set(xlabel="rank", ylabel="weight")
        axes.set_ylim(bottom=0)
        axes.set_xticks(rank_ticks(max(row.rank for row in result.weights), 8))
        legend_below(figure, handles, 2)
    return Figure(figure, (axes,), result.weights)
