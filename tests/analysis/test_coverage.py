"""Intervals hold the truth about as often as they promise: a small version of docs/make_coverage.py."""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = spec_from_file_location("make_coverage", DOCS / "make_coverage.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def whole(script: ModuleType) -> Any:
    return script.population(systems=12, topics=100, depth=20)


def test_intervals_hold_the_truth_about_as_often_as_they_promise(script: ModuleType, whole: Any) -> None:
    found = script.coverage(whole, topics=25, samples=60, replicates=120)
    assert len(found) == 10
    # of 60 samples; with the fixed seed the shares are always the same, and chance alone stays well inside
    assert min(found.values()) > 0.83, found
    # the means of runs are not all held, as they would be by intervals that are too wide
    assert found["mean (t)"] < 0.99
    assert found["non-inferiority"] < 0.99


def test_intervals_that_are_too_narrow_are_noticed(
    script: ModuleType, whole: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    # the same with 68 % intervals of means, and tails of a tenth
    monkeypatch.setattr(script, "t_intervals", lambda values, plain=script.t_intervals: plain(values, 0.32))
    monkeypatch.setattr(script, "expanded", lambda alpha, topics: 0.1)
    found = script.coverage(whole, topics=25, samples=60, replicates=120)
    assert found["mean (t)"] < 0.8
    assert found["judges: kappa"] < 0.83


def test_the_page_has_the_table_of_the_command() -> None:
    page = (DOCS / "certainty.md").read_text("utf-8")
    table = page.partition("<!-- coverage -->\n")[2].partition("<!-- end -->")[0].splitlines()
    assert table[0] == "| interval | 25 topics | 50 topics | 100 topics |"
    assert len(table) == 12
    shares = {
        cells[1]: [float(cell.removesuffix(" %")) for cell in cells[2:5]]
        for cells in ([part.strip() for part in row.split("|")] for row in table[2:])
    }
    for name, three in shares.items():
        assert all(93 <= share <= (100 if name.startswith("rank") else 97) for share in three), name
