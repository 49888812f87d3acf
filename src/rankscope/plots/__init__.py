"""Figures of results: each function draws a result and returns a :class:`Figure` with the table of its numbers.

>>> import rankscope as rs
>>> curve = rs.curve(rs.Collection({"q": {"a": 1, "b": 1}}, {"q": ["x", "a", "y", "b"]}), None, "q")
>>> rs.plots.plot_curve(curve)
<Figure: crp, 3.3 x 3.2 inches, 4 rows in its table>
"""

from rankscope.lazy import attach_stub

__getattr__, __all__ = attach_stub(__name__)
