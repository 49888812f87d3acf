"""The laboratory: what a measure guarantees, on every possible ranking.

``properties`` is the case analysis over aspects or grades, ``scales`` asks whether means are permissible. Both evaluate
measures with the code that evaluates runs.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

_HOME = {
    "PropertiesResult": "cases",
    "properties": "cases",
    "RELATIONS": "relations",
    "Relation": "relations",
    "relation": "relations",
    "scales": "measurement",
    "values_on_binary": "rankings",
}

__all__ = [
    "RELATIONS",
    "PropertiesResult",
    "Relation",
    "properties",
    "relation",
    "scales",
    "values_on_binary",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"rankscope.lab.{_HOME[name]}"), name)
    raise AttributeError(f"module 'rankscope.lab' has no attribute {name!r}")


if TYPE_CHECKING:
    from rankscope.lab.cases import PropertiesResult as PropertiesResult
    from rankscope.lab.cases import properties as properties
    from rankscope.lab.measurement import scales as scales
    from rankscope.lab.rankings import values_on_binary as values_on_binary
    from rankscope.lab.relations import RELATIONS as RELATIONS
    from rankscope.lab.relations import Relation as Relation
    from rankscope.lab.relations import relation as relation
