"""Is the order certain: nothing that is called so can be reversed, and stated labels do reverse."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rankscope as rs

MEASURES = ["P@5", "RBP(p=0.8)", "nDCG@5", "DCG@5", "nDCG"]


def collection(seed: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """A few runs with ties, of which some documents were judged."""
    rng = np.random.default_rng(seed)
    qrels, runs = {}, {name: {} for name in "abcde"}
    for topic in ("t1", "t2", "t3"):
        names = [f"d{i}" for i in range(14)]
        qrels[topic] = {name: int(rng.integers(0, 3)) for name in names if rng.random() < 0.75}
        qrels[topic]["d0"] = 2
        for skill, run in enumerate(runs.values()):
            noise = rng.normal(size=len(names)) * (0.3 + 0.8 * skill)
            score = np.round([qrels[topic].get(n, 0) for n in names] + noise, 1 if skill % 2 else 4)
            run[topic] = dict(zip(names[:12], score.tolist(), strict=False))
    return qrels, runs


def relabelled(qrels: dict[str, Any], labels: dict[tuple[str, str], int]) -> dict[str, Any]:
    more = {topic: dict(judged) for topic, judged in qrels.items()}
    for (topic, document), grade in labels.items():
        more[topic][document] = grade
    return more


@pytest.mark.parametrize("seed", range(3))
def test_stated_labels_reverse(seed: int) -> None:
    qrels, runs = collection(seed)
    found = rs.certain(rs.evaluate(qrels, runs, MEASURES))
    stated: dict[tuple[Any, ...], dict[tuple[str, str], int]] = {}
    for row in found["labels"].records():
        pair = (row["a"], row["b"], row["measure"])
        stated.setdefault(pair, {})[row["topic"], row["doc"]] = row["grade"]
    uncertain = [row for row in found["pairs"].records() if row["labels"]]
    assert uncertain
    for row in uncertain:
        pair = (row["a"], row["b"], row["measure"])
        assert len(stated[pair]) == row["labels"]
        means = rs.evaluate(relabelled(qrels, stated[pair]), runs, row["measure"]).means()
        a, b = (next(iter(means[name].values())) for name in pair[:2])
        assert a < b, pair


@pytest.mark.parametrize("seed", range(3))
def test_nothing_certain_is_reversed(seed: int) -> None:
    qrels, runs = collection(seed)
    pairs = rs.certain(rs.evaluate(qrels, runs, [*MEASURES, "AP", "RR"]))["pairs"].records()
    rng = np.random.default_rng(seed)
    held = {t: sorted({d for run in runs.values() for d in run[t]} - set(qrels[t])) for t in qrels}
    certain = [row for row in pairs if row["unjudged"] and row["order"] == ">"]
    tied = [row for row in pairs if row["ties"] and row["order"] == ">"]
    assert certain and tied
    for trial in range(30):
        grade = (lambda: 2 * int(rng.integers(0, 2))) if trial % 2 else (lambda: int(rng.integers(0, 3)))
        labels = {(t, d): grade() for t, names in held.items() for d in names}
        means = rs.evaluate(relabelled(qrels, labels), runs, [*MEASURES, "AP", "RR"])
        shuffled = {
            name: {t: {d: s + 1e-6 * rng.random() for d, s in one.items()} for t, one in lists.items()}
            for name, lists in runs.items()
        }
        ordered = rs.evaluate(qrels, shuffled, [*MEASURES, "AP", "RR"])
        for rows, scores in ((certain, means), (tied, ordered)):
            for row in rows:
                value = scores.mean(row["measure"])
                a, b = (value[scores.runs.index(row[key])] for key in ("a", "b"))
                assert a >= b - 1e-12, row


def test_baseline_and_errors() -> None:
    qrels, runs = collection(1)
    scores = rs.evaluate(qrels, runs, ["P@5"], ties="expected", unjudged="bounds")
    assert len(rs.certain(scores, "c")["pairs"]) == 4
    with pytest.raises(rs.errors.InputError, match="no run is called 'z'"):
        rs.certain(scores, "z")
    with pytest.raises(rs.errors.InputError, match="one run has no order"):
        rs.certain(rs.evaluate(qrels, {"a": runs["a"]}, ["P@5"]))


def test_possible_ranks_hold_the_rank() -> None:
    qrels, runs = collection(2)
    rows = rs.certain(rs.evaluate(qrels, runs, ["nDCG@5"]))["runs"].records()
    for rank, row in enumerate(rows, 1):
        assert row["first_rank"] <= rank <= row["last_rank"]
        assert row["lowest"] - 1e-12 <= row["value"] <= row["highest"] + 1e-12


def test_labels_leave_nothing_open_where_everything_is_judged() -> None:
    qrels, runs = collection(0)
    every = {t: {d: qrels[t].get(d, 0) for d in [f"d{i}" for i in range(14)]} for t in qrels}
    pairs = rs.certain(rs.evaluate(every, runs, ["P@5", "nDCG@5", "AP"]))["pairs"].records()
    assert all(row["unjudged"] for row in pairs) and not any(row["labels"] for row in pairs)
