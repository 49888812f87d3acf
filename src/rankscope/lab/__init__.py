"""Laboratory: analyses of measures on every possible ranking.

``properties`` tests axioms over aspects or grades, ``related`` lists the pairs of rankings that it compares, and
``scales`` tests whether means are permissible, and ``rank_weights`` lists the weights of ranks. All use the code that
evaluates runs.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

_HOME = {
    "Dominance": "cumulated_counts",
    "PropertiesResult": "axioms.cases",
    "archetype_ranges": "ranges",
    "difference_structure": "measurement.difference_structure",
    "dominance": "cumulated_counts",
    "identify": "identification.search",
    "properties": "axioms.cases",
    "rank_weights": "weights",
    "related": "axioms.related",
    "RELATIONS": "axioms.relations",
    "Relation": "axioms.pairs",
    "relation": "axioms.relations",
    "scales": "measurement.verdicts",
    "values_on_binary": "rankings.enumeration",
}

__all__ = [
    "RELATIONS",
    "Dominance",
    "PropertiesResult",
    "Relation",
    "archetype_ranges",
    "difference_structure",
    "dominance",
    "identify",
    "properties",
    "rank_weights",
    "related",
    "relation",
    "scales",
    "values_on_binary",
]


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name in _HOME:
            return getattr(import_module(f"rankscope.lab.{_HOME[name]}"), name)
        raise AttributeError(f"module 'rankscope.lab' has no attribute {name!r}")


if TYPE_CHECKING:
    from rankscope.lab.axioms.cases import PropertiesResult as PropertiesResult
    from rankscope.lab.axioms.cases import properties as properties
    from rankscope.lab.axioms.pairs import Relation as Relation
    from rankscope.lab.axioms.related import related as related
    from rankscope.lab.axioms.relations import RELATIONS as RELATIONS
    from rankscope.lab.axioms.relations import relation as relation
    from rankscope.lab.cumulated_counts import Dominance as Dominance
    from rankscope.lab.cumulated_counts import dominance as dominance
    from rankscope.lab.identification.search import identify as identify
    from rankscope.lab.measurement.difference_structure import difference_structure as difference_structure
    from rankscope.lab.measurement.verdicts import scales as scales
    from rankscope.lab.ranges import archetype_ranges as archetype_ranges
    from rankscope.lab.rankings.enumeration import values_on_binary as values_on_binary
    from rankscope.lab.weights import rank_weights as rank_weights
