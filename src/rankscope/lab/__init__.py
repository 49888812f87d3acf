"""Laboratory: analyses of measures on every possible ranking.

``properties`` tests axioms over aspects or grades, ``related`` lists the pairs of rankings that it compares, and
``scales`` tests whether means are permissible, and ``rank_weights`` lists the weights of ranks. All use the code that
evaluates runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankscope.lazy import lazy_getattr

_HOME = {
    "axioms.cases": ("properties",),
    "axioms.pairs": ("Relation",),
    "axioms.related": ("related",),
    "axioms.relations": ("RELATIONS", "relation"),
    "axioms.verdicts": ("PropertiesResult",),
    "cumulated_counts": ("Dominance", "dominance"),
    "identification.search": ("identify",),
    "measurement.difference_structure": ("difference_structure",),
    "measurement.verdicts": ("scales",),
    "ranges": ("archetype_ranges",),
    "rankings.enumeration": ("values_on_binary",),
    "weights": ("rank_weights",),
}
"""Public names by module; a module is imported when one of its names is first used."""

__all__ = [*sorted(name for names in _HOME.values() for name in names)]

if not TYPE_CHECKING:
    __getattr__ = lazy_getattr("rankscope.lab", _HOME)
else:
    from rankscope.lab.axioms.cases import properties as properties
    from rankscope.lab.axioms.pairs import Relation as Relation
    from rankscope.lab.axioms.related import related as related
    from rankscope.lab.axioms.relations import RELATIONS as RELATIONS
    from rankscope.lab.axioms.relations import relation as relation
    from rankscope.lab.axioms.verdicts import PropertiesResult as PropertiesResult
    from rankscope.lab.cumulated_counts import Dominance as Dominance
    from rankscope.lab.cumulated_counts import dominance as dominance
    from rankscope.lab.identification.search import identify as identify
    from rankscope.lab.measurement.difference_structure import difference_structure as difference_structure
    from rankscope.lab.measurement.verdicts import scales as scales
    from rankscope.lab.ranges import archetype_ranges as archetype_ranges
    from rankscope.lab.rankings.enumeration import values_on_binary as values_on_binary
    from rankscope.lab.weights import rank_weights as rank_weights
