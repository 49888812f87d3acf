"""Fixtures of tests of figures: the example of the Twist paper, a small collection, and access to drawn artists."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import rankscope as rs

pytest.importorskip("matplotlib")


@pytest.fixture(scope="session", autouse=True)
def quick_to_embed(light_fonts: None) -> None:
    """Draw all figures with light fonts."""


LISTS = {"a_t": "332012000100000", "b_t": "301020002100310"}
"""Runs A and B of Ferro et al. (2016); hr, fr, pr, nr are 3, 2, 1, 0."""


def _curve(grades: str, name: str = "run", ideal: str = "3322111", **options: Any) -> rs.Curve:
    judged = {f"r{number}": int(grade) for number, grade in enumerate(ideal)}
    left = {grade: [d for d, g in judged.items() if g == int(grade)] for grade in set(ideal)}
    ranking = [left[g].pop(0) if g != "0" else f"n{rank}" for rank, g in enumerate(grades)]
    return rs.curve(rs.Collection({"t": judged}, {name: {"t": ranking}}), None, "t", **options)


@pytest.fixture
def make_curve() -> Callable[..., rs.Curve]:
    """Function that computes the curve of grades, by default on the topic of the example of the paper."""
    return _curve


@pytest.fixture
def a_t() -> rs.Curve:
    return _curve(LISTS["a_t"], "a_t")


@pytest.fixture
def b_t() -> rs.Curve:
    return _curve(LISTS["b_t"], "b_t")


def _collection(runs: list[str], topics: list[str], seed: int = 1) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    qrels = {t: {f"d{i}": int(g) for i, g in enumerate(rng.integers(0, 4, 15))} for t in topics}
    rankings = {}
    for number, name in enumerate(runs):
        skill = number / max(1, len(runs) - 1)
        rankings[name] = {
            t: sorted(
                [f"d{i}" for i in range(25)],
                key=lambda d, t=t: -(skill * qrels[t].get(d, 0) + 2 * rng.random()),  # type: ignore[misc]
            )
            for t in topics
        }
    return qrels, rankings


@pytest.fixture(scope="session")
def make_collection() -> Callable[..., tuple[Any, Any]]:
    """Function that generates judgments and runs with given names; later runs are better."""
    return _collection


@pytest.fixture(scope="session")
def collection() -> tuple[Any, Any]:
    return _collection([f"run{i}" for i in range(8)], [f"{t}" for t in range(1, 13)])


@pytest.fixture(scope="session")
def effort(collection: tuple[Any, Any]) -> rs.Effort:
    return rs.effort(rs.Collection(*collection), ["AP", "nDCG"])


@pytest.fixture(scope="session")
def scores(collection: tuple[Any, Any]) -> rs.Scores:
    return rs.evaluate(*collection, ["AP", "nDCG@10", "RBP(p=0.8)", "Twist"])


@pytest.fixture
def find_artist() -> Callable[[Any, str], Any]:
    """Function that returns the artist of axes with an id."""

    def find(axes: Any, gid: str) -> Any:
        [artist] = axes.findobj(lambda a: a.get_gid() == gid)
        return artist

    return find
