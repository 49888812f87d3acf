"""How much attention the users behind measures give each rank: the weights of ranks, for measures that have such."""

from __future__ import annotations

from collections.abc import Iterable

from rankscope.errors import SettingsError
from rankscope.measures import Measure, parse_many
from rankscope.result import TableResult
from rankscope.tables import Cell, Table

__all__ = ["DEPTH", "rank_weights"]

DEPTH = 20
"""Ranks whose weights are shown."""


def rank_weights(measures: str | Measure | Iterable[str | Measure], *, depth: int = DEPTH) -> TableResult:
    """The weights of the ranks 1, ..., depth. Table ``weights`` {measure, rank, weight}.

    Only for measures in which a rank has a weight whatever stands there (RBP, DCG, P@k and what is made of them).

    >>> rank_weights("RBP(p=0.5) P@2", depth=3)["weights"].column("weight")
    [0.5, 0.25, 0.125, 0.5, 0.5, 0.0]
    """
    chosen = parse_many(measures)
    if depth < 1 or not chosen:
        raise SettingsError("there are no ranks to weigh", hint="name a measure, and a depth of at least 1")
    rows: list[tuple[Cell, ...]] = []
    for measure in chosen:
        weights = measure.rank_weights(depth)
        if weights is None:
            raise SettingsError(f"{measure} gives ranks no weights", hint="try RBP, DCG or P@10")
        rows += [(str(measure), rank, weight) for rank, weight in enumerate(weights.tolist(), 1)]
    settings = {"measures": [str(measure) for measure in chosen], "depth": depth}
    return TableResult.of(Table("weights", ("measure", "rank", "weight"), rows), settings=settings)
