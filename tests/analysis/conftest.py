"""Fixtures: a small collection in memory, and scores without a collection."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from rankscope.measures import parse_many
from rankscope.scores import Scores


def collection(runs=6, topics=8, documents=40, seed=3, depth=25):
    """Judgments (grades 0..2, a third unjudged) and runs of rising quality, with tied scores."""
    rng = np.random.default_rng(seed)
    qrels, lists = {}, {f"run{r}": {} for r in range(runs)}
    for t in range(topics):
        grades = rng.choice([0, 0, 0, 1, 2], documents)
        grades[:2] = 1, 0
        judged = rng.random(documents) < 0.67
        judged[:2] = True
        names = [f"d{k:02}" for k in range(documents)]
        qrels[f"t{t}"] = {n: int(g) for n, g, j in zip(names, grades, judged, strict=True) if j}
        for r in range(runs):
            scores = (grades * (0.2 + 0.3 * r) + rng.random(documents) * 2).round(1)
            best = np.argsort(-scores, kind="stable")[:depth]
            lists[f"run{r}"][f"t{t}"] = {names[k]: float(scores[k]) for k in best}
    return qrels, lists


@pytest.fixture(scope="session")
def small():
    """(qrels, runs) as dicts."""
    return collection()


@pytest.fixture
def scored():
    """A function that makes Scores of plain matrices: {measure: runs x topics}."""

    def make(matrices):
        measures = parse_many(list(matrices))
        values = np.array([np.asarray(m, float) for m in matrices.values()])
        runs = tuple(f"r{k}" for k in range(values.shape[1]))
        topics = tuple(f"t{k}" for k in range(values.shape[2]))
        return Scores(runs, topics, tuple(measures), values)

    return make


@pytest.fixture
def with_hole(scored):
    """Three runs, five topics, Twist undefined for all on one topic and for one run on another."""
    rng = np.random.default_rng(1)
    twist = rng.random((3, 5))
    twist[:, 1] = math.nan
    twist[2, 3] = math.nan
    return scored({"AP": rng.random((3, 5)), "Twist": twist})


@pytest.fixture
def page_table():
    """Return a function that reads the body of a generated table of docs/certainty.md: ``page_table(name)``."""
    page = (Path(__file__).parents[2] / "docs" / "certainty.md").read_text("utf-8")

    def cells(name):
        table = page.partition(f"<!-- {name} -->\n")[2].partition("<!-- end -->")[0].splitlines()
        return [[part.strip() for part in row.split("|")[1:-1]] for row in table[2:]]

    return cells
