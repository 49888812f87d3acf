"""Weights that measures give ranks: the attention of the user behind them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from rankscope.errors import SettingsError
from rankscope.result import TypedResult, table
from rankscope.rows import Row, RowTable, column

if TYPE_CHECKING:
    from rankscope.measures import Measure

DEPTH = 20
"""Number of ranks shown by default."""


class RankWeight(Row):
    """Weight of a rank."""

    measure: str = column()
    rank: int = column()
    weight: float = column("weight that the measure gives the rank")


class RankWeights(TypedResult):
    """Weights of the first ranks."""

    figures = {"curves": "weights.plot_weights"}
    weights: RowTable[RankWeight] = table("every measure and rank")


def rank_weights(measures: str | Measure | Iterable[str | Measure], *, depth: int = DEPTH) -> RankWeights:
    """Return the weights of the first ranks.

    Parameters
    ----------
    measures
        Measures in which the weight of a rank does not depend on the documents: RBP, DCG, P@k and their variants.
    depth
        Number of ranks.

    Returns
    -------
    RankWeights
        Table ``weights``.

    Examples
    --------
    >>> [row.weight for row in rank_weights("RBP(p=0.5) P@2", depth=3).weights]
    [0.5, 0.25, 0.125, 0.5, 0.5, 0.0]
    """
    from rankscope.measures import parse_many

    parsed = parse_many(measures)
    if depth < 1 or not parsed:
        raise SettingsError("there are no ranks to weigh", hint="name a measure, and a depth of at least 1")
    rows: list[RankWeight] = []
    for measure in parsed:
        weights = measure.rank_weights(depth)
        if weights is None:
            raise SettingsError(f"{measure} gives ranks no weights", hint="try RBP, DCG or P@10")
        rows += [RankWeight(str(measure), rank, weight) for rank, weight in enumerate(weights.tolist(), 1)]
    settings = {"measures": [str(measure) for measure in parsed], "depth": depth}
    return RankWeights(weights=RankWeight.table("weights", rows), settings=settings)
