"""Laboratory: analyses of measures on every possible ranking.

``properties`` tests axioms over aspects or grades, ``related_rankings`` lists the pairs of rankings that it compares,
``scales`` tests whether means are permissible, and ``rank_weights`` lists the weights of ranks. All use the code that
evaluates runs.
"""

from rankscope.lazy import attach_stub

__getattr__, __all__ = attach_stub(__name__)
