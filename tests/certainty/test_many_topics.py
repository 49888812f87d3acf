"""Many topics of few runs are solved together: the same statements as one by one, in linear time."""

from __future__ import annotations

import random
from typing import Any

import pytest

import rankscope as rs
from rankscope.certainty import witnesses
from rankscope.certainty.labels import values_under_grades


def collection(topics: int, seed: int = 1, runs: str = "ABC") -> tuple[dict[str, Any], dict[str, Any]]:
    luck = random.Random(seed)
    documents = "abcdefghij"
    qrels = {
        f"q{t}": {d: luck.randint(-1, 2) for d in luck.sample(documents, luck.randint(1, 8))} | {"z": 1}
        for t in range(topics)
    }
    lists = {
        run: {
            f"q{t}": {d: float(luck.randint(1, 9)) for d in luck.sample(documents, luck.randint(1, 9))}
            for t in range(topics)
        }
        for run in runs
    }
    return qrels, lists


@pytest.mark.parametrize("measure", ["nDCG@5", "nDCG", "P@3", "RBP(p=0.8)", "RR", "Success@2", "R@3", "AP"])
def test_statements_do_not_depend_on_the_size_of_batches(
    measure: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    scores = rs.evaluate(*collection(25), measure)
    expected = rs.certain(scores, labels=True)
    monkeypatch.setattr("rankscope.certainty.pairs._CELLS", 1)
    monkeypatch.setattr("rankscope.certainty.witnesses._CELLS", 1)
    got = rs.certain(scores, labels=True)
    for table in ("pairs", "runs", "ranges", "labels"):
        for row, other in zip(got[table].records(), expected[table].records(), strict=True):
            assert row == {k: pytest.approx(v) if isinstance(v, float) else v for k, v in other.items()}


@pytest.mark.parametrize("measure", ["nDCG@5", "RR", "AP"])
def test_the_number_of_evaluations_does_not_grow_with_the_number_of_topics(
    measure: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []

    def count(*arguments: Any) -> Any:
        calls.append(len(arguments[2]))
        return values_under_grades(*arguments)

    monkeypatch.setattr(witnesses, "values_under_grades", count)
    for topics in (20, 160):
        calls.clear()
        rs.certain(rs.evaluate(*collection(topics, runs="AB"), measure), labels=True)
        assert len(calls) <= 4
    assert max(calls) > 100


def test_the_fewest_labels_are_chosen_by_most_change_per_label() -> None:
    luck = random.Random(3)
    for _ in range(100):
        steps = {
            t: [(n, -luck.random() * n) for n in sorted(luck.sample(range(1, 9), luck.randint(1, 4)))]
            for t in range(luck.randint(1, 6))
        }
        total = 0.8 * -sum(min(change for _, change in topic) for topic in steps.values())
        sizes, changes = dict.fromkeys(steps, 0), dict.fromkeys(steps, 0.0)
        while total + sum(changes.values()) >= 0:
            options = [
                ((change - changes[t]) / (n - sizes[t]), t, n, change)
                for t in steps
                for n, change in steps[t]
                if n > sizes[t]
            ]
            if not options:
                break
            _, t, n, change = min(options)
            sizes[t], changes[t] = n, change
        else:
            assert witnesses._fewest(total, 0.0, steps) == {t: n for t, n in sizes.items() if n}


@pytest.mark.parametrize("needed", [1, 2, 3, 4, 6, 8, 12, 16, 32, 64, 128])
def test_the_fewest_labels_that_reverse_a_pair_are_listed(needed: int) -> None:
    """A has one relevant document fewer than B needs; weights of 1/256 leave no rounding errors."""
    qrels = {"q": {f"r{i}": 1 for i in range(needed - 1)} | {f"n{i}": 0 for i in range(256)}}
    runs = {"A": {"q": list(qrels["q"])}, "B": {"q": [f"u{i}" for i in range(256)]}}
    result = rs.certain(rs.evaluate(qrels, runs, "P@256"), labels=True)
    (row,) = result["pairs"].records()
    assert (row["unjudged"], row["labels"]) == (False, needed)
    assert {label["doc"] for label in result["labels"].records()} <= set(runs["B"]["q"])
