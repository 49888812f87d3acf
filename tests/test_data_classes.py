"""Data classes: what is read, judged, measured or analysed is not changed once it is made, and seldom compared."""

from __future__ import annotations

import dataclasses
import pkgutil
from collections.abc import Iterator
from importlib import import_module

PACKAGES = ("read", "judging", "measures", "analysis")
GROWING = {"_Columns", "TextList", "StepDown"}
"""Those that are filled while a text is read or replicates are counted."""
VALUES = {
    *(
        "Chart",
        "Coefficient",
        "Coefficients",
        "Finding",
        "Flips",
        "EvaluationOptions",
        "Kendall",
        "NamedFiles",
        "RankBiasedOverlap",
    ),
    *(
        "Redundancy",
        "Satisfaction",
        "StudySettings",
        "Swaps",
        "_Columns",
        "Comparison",
        "_Count",
        "_Evaluation",
        "_Smaller",
    ),
    *("StudySettings", "TextList", "_Without"),
}
"""Those that are equal if what they hold is equal."""


def data_classes() -> Iterator[type]:
    for package in PACKAGES:
        folder = import_module(f"rankscope.{package}")
        for found in pkgutil.walk_packages(folder.__path__, f"{folder.__name__}."):
            module = import_module(found.name)
            for made in vars(module).values():
                mine = isinstance(made, type) and made.__module__ == found.name
                if mine and "__dataclass_params__" in vars(made):
                    yield made


def test_what_was_made_stays_as_it_is() -> None:
    changeable = {made.__name__ for made in data_classes() if not made.__dataclass_params__.frozen}  # type: ignore[attr-defined]
    assert changeable == GROWING


def test_what_holds_arrays_is_compared_with_itself_only() -> None:
    """Arrays that are compared are no answer but an array, and what holds them could be no key of a dict."""
    compared = [made for made in data_classes() if made.__dataclass_params__.eq]  # type: ignore[attr-defined]
    assert {made.__name__ for made in compared} == VALUES
    arrays = ("NDArray", "Ints", "Floats", "Bools", "AnyArray")
    for made in compared:
        if made.__name__ not in GROWING:
            assert not [f for f in dataclasses.fields(made) if str(f.type).startswith(("npt.", *arrays))], (
                made
            )
