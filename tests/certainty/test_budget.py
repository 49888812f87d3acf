"""Enumerations of labellings and orders have a budget: beyond it a range is proved and marked, not enumerated."""

from __future__ import annotations

import random

import numpy as np
import pytest

import rankscope as rs
from rankscope.certainty import unjudged


def collection(topics: int, documents: int, judged: float) -> tuple[dict, dict]:
    rng = random.Random(3)
    qrels: dict = {}
    run: dict = {}
    for topic in map(str, range(topics)):
        run[topic] = {f"d{d}": float(rng.randint(0, 3)) for d in range(documents)}
        qrels[topic] = {d: rng.randint(0, 4) for d in run[topic] if rng.random() < judged} | {"x": 2}
    return qrels, run


def ranges(qrels: dict, run: dict) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    scores = rs.evaluate(qrels, {"r": run}, "Twist", ties="expected", unjudged="bounds")
    uncertainty = scores.uncertainty
    assert uncertainty is not None
    return uncertainty.lowest[0, 0], uncertainty.highest[0, 0], uncertainty.tight[0, 0]


def test_labellings_times_orders_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """143 lines took 25 s: each of thousands of labellings was evaluated in thousands of orders."""
    evaluated = 0
    original = unjudged.tied_values

    def counted(measures, lists, *arguments, **options):
        nonlocal evaluated
        evaluated += len(lists)
        return original(measures, lists, *arguments, **options)

    monkeypatch.setattr(unjudged, "tied_values", counted)
    _, _, tight = ranges(*collection(13, 11, 0.5))
    assert not tight.all()
    assert evaluated < 13 * 2000  # 20,000 labellings of each list before


def test_ranges_that_are_not_tight_contain_the_enumerated_ranges(monkeypatch: pytest.MonkeyPatch) -> None:
    inputs = collection(6, 6, 0.5)
    low, high, tight = ranges(*inputs)
    assert tight.all()
    monkeypatch.setattr(unjudged, "MAX_EVALUATIONS", 1)
    wide_low, wide_high, wide_tight = ranges(*inputs)
    assert (wide_low <= low).all()
    assert (wide_high >= high).all()
    assert not wide_tight.all()
