"""Evaluate rankings, and study the measures that evaluate them.

>>> import rankscope as rs
>>> scores = rs.evaluate({"q1": {"d1": 1}}, {"q1": {"d2": 2.0, "d1": 1.0}}, ["AP", rs.nDCG @ 10])
>>> scores.mean("AP").tolist()
[0.5]
"""

from typing import Any

from rankscope.lazy import attach_stub

__version__ = "0.1.0"

_find_name, _names = attach_stub(__name__)

__all__ = ["__version__", *_names]


def __getattr__(name: str) -> Any:
    if name not in __all__ and not name.startswith("_"):
        from rankscope.measures import installed

        if (known := installed(name)) is not None:
            return known
    value = _find_name(name)
    globals()[name] = value  # Later accesses bypass __getattr__.
    return value


def __dir__() -> list[str]:
    from rankscope.measures import REGISTRY

    return sorted({*__all__, *REGISTRY})
