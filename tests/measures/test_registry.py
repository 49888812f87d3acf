"""The registry of measures: families are loaded when they are asked for, and nobody notices."""

from __future__ import annotations

import subprocess
import sys

import pytest

from rankscope.measures import REGISTRY, FunctionMeasure
from rankscope.measures.registry import FAMILIES


def in_a_new_process(code: str) -> str:
    """What a program prints that has loaded nothing yet."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_every_name_is_listed_with_its_family_and_in_its_order() -> None:
    ours = {
        name: type(measure).__module__.rpartition(".")[2]
        for name, measure in REGISTRY.items()
        if type(measure).__module__.startswith("rankscope.measures.")
        and not isinstance(measure, FunctionMeasure)
    }
    assert list(ours.items()) == [
        (name, module) for module, names in FAMILIES.items() for name in names.split()
    ]


def test_one_name_loads_its_family_only() -> None:
    loaded = (
        "import sys; from rankscope.measures import parse_many; parse_many('AP nDCG@10'); print(*sys.modules)"
    )
    modules = in_a_new_process(loaded).split()
    assert "rankscope.measures.classic" in modules
    assert not {f"rankscope.measures.{name}" for name in ("effort", "diversity", "trec", "interval")} & {
        *modules
    }


@pytest.mark.parametrize("first", ["AP", "trec", "Interval", "no such measure", "AP_IA"])
def test_the_order_does_not_depend_on_what_was_asked_for_first(first: str) -> None:
    code = f"from rankscope.measures import REGISTRY; {first!r} in REGISTRY; REGISTRY.get({first!r}); print(*REGISTRY)"
    assert in_a_new_process(code).split() == [name for names in FAMILIES.values() for name in names.split()]


@pytest.mark.parametrize(
    "asked",
    [
        "len(REGISTRY)",
        "len(REGISTRY.keys())",
        "len(REGISTRY.values())",
        "len(dict(REGISTRY))",
        "len([*REGISTRY])",
    ],
)
def test_whoever_asks_for_all_gets_all(asked: str) -> None:
    many = sum(len(names.split()) for names in FAMILIES.values())
    assert in_a_new_process(f"from rankscope.measures import REGISTRY; print({asked})") == str(many)


@pytest.mark.parametrize("name", [name for names in FAMILIES.values() for name in names.split()][::7])
def test_a_name_alone_is_known(name: str) -> None:
    code = f"from rankscope.measures import REGISTRY; print({name!r} in REGISTRY, type(REGISTRY[{name!r}]).__module__)"
    assert in_a_new_process(code).startswith("True rankscope.measures.")
