"""The page of a measure agrees with the registry: parameters, bounds, range, weights of ranks.

Its certificates take longer: tests/test_docs.py looks at them.
"""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from rankscope.errors import MeasureError
from rankscope.measures import REGISTRY, Measure, parse

DOCS = Path(__file__).parents[2] / "docs"
GUARANTEES = "## What it guarantees\n"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_measures", DOCS / "make_measures.py")
    assert spec is not None
    assert spec.loader is not None
    module: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.guarantees = lambda attributes, name: []
    return module  # type: ignore[no-any-return]


def test_pages_and_pictures_of_the_registry(script: Any) -> None:
    for measure in script._built_in():
        promised, _, _ = (DOCS / "measures" / f"{measure.name}.md").read_text("utf-8").partition(GUARANTEES)
        text, _, _ = script.page(measure, None).partition(GUARANTEES)
        assert text == promised, "run python docs/make_measures.py"
        drawn = DOCS / "measures" / f"{measure.name}.svg"
        assert script.picture(measure) == (drawn.read_text("utf-8") if drawn.exists() else "")


MEASURES = sorted({measure.name: measure for measure in REGISTRY.values()}.values(), key=lambda m: m.name)


def spelled(measure: Measure, setting: str) -> str:
    cutoff = "" if measure.cutoff_rule != "required" or measure.default_cutoff is not None else "@10"
    return f"{measure.name}({setting}){cutoff}"


@pytest.mark.parametrize("measure", MEASURES, ids=lambda measure: measure.name)
def test_parameters_end_where_their_page_says(measure: Measure) -> None:
    """A bound is allowed, and what lies beyond it is refused with the words of the page."""
    for key, parameter in measure.parameters.items():
        for bound, beyond in ((parameter.low, -1), (parameter.high, 1)):
            if bound is None or isinstance(parameter.default, bool | str):
                continue
            step = 1 if isinstance(parameter.default, int) else 0.25
            outside = f"{key}={bound + beyond * step}"
            with pytest.raises(MeasureError) as caught:
                parse(spelled(measure, outside))
            assert parameter.allowed() in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        *(f"Twist(grades={grades!r})@9" for grades in ("0,1,1", "0,2,1", "1,2", "0", "x", "0,inf", "")),
        *(f"TwistTime(times={times!r})@9" for times in ("0", "-1,2", "x", "1,inf", "")),
        *(f"nDCG(gains={gains!r})" for gains in ("0,x", "-", "1=x", "=2", "0,nan")),
        *(f"AvgIPrec(levels={levels!r})" for levels in ("1.1", "-0.1", "x", "")),
    ],
)  # fmt: skip
def test_texts_that_no_parameter_may_be(text: str) -> None:
    with pytest.raises(MeasureError) as caught:
        parse(text)
    assert caught.value.hint


def test_declared_attributes_are_the_recorded_ones() -> None:
    """Declared attributes, such as direction and properties, are the recorded ones (see test_recorded.py)."""
    recorded = json.loads(Path(__file__).with_name("recorded.json").read_text("utf-8"))["declared"]
    assert declared() == recorded


def declared() -> dict[str, dict[str, str]]:
    """Return the plain attributes of the class of every measure."""
    attributes = {}
    for measure in MEASURES:
        if measure.family != "user":
            kind = type(measure)
            of_instances = ("_", "requested_name", "has_rel", "gain_table")
            values = {key: getattr(kind, key) for key in dir(kind) if not key.startswith(of_instances)}
            plain = {
                key: value
                for key, value in values.items()
                if isinstance(value, bool | int | float | str | tuple)
            }
            attributes[measure.name] = {
                key: repr(value) for key, value in plain.items() if len(repr(value)) < 80
            }
    return attributes
