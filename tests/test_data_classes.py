"""Data classes are immutable, and few of them are compared by value."""

from __future__ import annotations

import dataclasses
import pkgutil
from collections.abc import Iterator
from importlib import import_module

PACKAGES = ("read", "judging", "measures", "analysis")
OTHERS = (
    "lab", "certainty", "plots", "native", "scan", "cli", "engines", "reporting", "explorer", "simulation", "trec_eval",
)  # fmt: skip
GROWING = {"Parameter", "TextList"}
"""Those that are filled while a text is read, or named by the class that has them."""
OTHERS_GROWING = {"Options", "PropertyVerdict", "_BoundSolver", "_Search", "_Summary"}
"""Those of other packages that change while a command is parsed, a search runs or text is streamed."""
VALUES = {
    "Chart", "Coefficient", "EvaluationOptions", "Finding", "Flips", "Kendall",
    "NamedFiles", "RankBiasedOverlap", "Redundancy", "Satisfaction", "StudySettings", "TextList",
    "_Filling",
}  # fmt: skip
"""Classes whose objects are compared by value."""
OTHERS_IDENTICAL = {
    "Certificates", "OpenList", "PropertiesResult", "Range", "RankWeights", "Scales",
    "Uncertainty", "_BoundSolver", "_Comparison", "_Sample", "_Search",
}  # fmt: skip
"""Classes of other packages whose objects are compared by identity."""


def data_classes(packages: tuple[str, ...] = PACKAGES) -> Iterator[type]:
    for package in packages:
        folder = import_module(f"rankscope.{package}")
        for module_info in pkgutil.walk_packages(folder.__path__, f"{folder.__name__}."):
            module = import_module(module_info.name)
            for kind in vars(module).values():
                is_own = isinstance(kind, type) and kind.__module__ == module_info.name
                if is_own and "__dataclass_params__" in vars(kind):
                    yield kind


def test_data_classes_are_frozen() -> None:
    for packages, growing in ((PACKAGES, GROWING), (OTHERS, OTHERS_GROWING)):
        kinds = data_classes(packages)
        assert {kind.__name__ for kind in kinds if not kind.__dataclass_params__.frozen} == growing  # type: ignore[attr-defined]


def test_data_classes_with_arrays_compare_by_identity() -> None:
    """Arrays that are compared are no answer but an array, and what holds them could be no key of a dict."""
    compared = [kind for kind in data_classes() if kind.__dataclass_params__.eq]  # type: ignore[attr-defined]
    assert {kind.__name__ for kind in compared} == VALUES
    arrays = ("NDArray", "Ints", "Floats", "Bools", "AnyArray")
    for kind in compared:
        if kind.__name__ not in GROWING:
            assert not [f for f in dataclasses.fields(kind) if str(f.type).startswith(("npt.", *arrays))], (
                kind
            )


def test_few_data_classes_of_other_packages_compare_by_identity() -> None:
    kinds = [kind for kind in data_classes(OTHERS) if not kind.__dataclass_params__.eq]  # type: ignore[attr-defined]
    assert {kind.__name__ for kind in kinds} == OTHERS_IDENTICAL
