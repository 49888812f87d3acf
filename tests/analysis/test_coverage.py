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
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(DOCS)
        spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def whole(script: ModuleType) -> Any:
    return script.population(systems=12, topics=100, depth=20)


def test_intervals_hold_the_truth_about_as_often_as_they_promise(script: ModuleType, whole: Any) -> None:
    coverage = script.coverage(whole, topics=25, samples=60, replicates=120)
    assert len(coverage) == 8
    # of 60 samples; with the fixed seed the shares are always the same, and chance alone stays well inside
    assert min(coverage.values()) > 0.83, coverage
    # the means of runs are not all held, as they would be by intervals that are too wide
    assert coverage["mean (t)"] < 0.99
    assert coverage["non-inferiority"] < 0.99


def test_intervals_that_are_too_narrow_are_noticed(
    script: ModuleType, whole: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    # the same with 68 % intervals of means, and tails of a tenth
    monkeypatch.setattr(script, "t_intervals", lambda values, plain=script.t_intervals: plain(values, 0.32))
    monkeypatch.setattr(script, "expanded", lambda alpha, topics: 0.1)
    coverage = script.coverage(whole, topics=25, samples=60, replicates=120)
    assert coverage["mean (t)"] < 0.8
    assert coverage["judges: kappa"] < 0.83


def test_rank_intervals_hold_ranks_that_are_open_about_as_often_as_they_promise(
    script: ModuleType, whole: Any
) -> None:
    coverage = script.rank_coverage(whole, runs=12, topics=25, spread=1.0, samples=60)
    assert 0.92 < coverage["this page"].held.mean() < 0.98
    assert coverage["this page"].width < 0.9 * coverage["simultaneous tests"].width
    close = script.rank_coverage(whole, runs=12, topics=25, spread=0.5, samples=60)
    assert close["percentiles"].held.mean() < close["this page"].held.mean() - 0.02
    apart = script.rank_coverage(whole, runs=12, topics=25, spread=16.0, samples=20)
    assert apart["this page"].held.mean() > 0.96
    assert apart["this page"].width < 2


def test_rank_intervals_hold_the_ranks_of_a_collection_as_it_is(script: ModuleType, whole: Any) -> None:
    assert 0.93 < script.true_ranks(whole, topics=25, samples=30) < 0.99


def test_the_page_has_the_tables_of_the_command(page_table: Any) -> None:
    table = page_table("coverage")
    assert len(table) == 11
    for name, *three in table:
        shares = [float(share.removesuffix(" %")) for share in three]
        assert min(shares) >= 93, name
        if name != "rank, 10 runs":  # many of these ranks are certain, so that their intervals always cover
            assert max(shares) <= 97, name
    ranked = page_table("ranks")
    assert [(row[0], row[1]) for row in ranked] == [
        (str(runs), f"{spread:g}") for runs in (5, 10, 20) for spread in (0.5, 1, 2, 4, 16)
    ]
    for runs, spread, *three in ranked:
        shares = [float(cell.split(" %")[0]) for cell in three]
        assert min(shares) >= 93, (runs, spread)
        if float(spread) <= 2 and int(runs) >= 10:  # where ranks are open, and ranges have many lengths
            assert max(shares) <= 97, (runs, spread)
    assert len(page_table("ways")) == 20
