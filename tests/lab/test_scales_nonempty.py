"""Shares without empty intervals, against a comparison of all pairs of intervals."""

from __future__ import annotations

from itertools import product

import pytest

import rankscope as rs
from rankscope.lab.measurement.scales import ALL, EQUAL
from rankscope.measures import measure


@pytest.mark.parametrize("grades", [1, 2])
@pytest.mark.parametrize("relevant", [4, 2])
@pytest.mark.parametrize("scale", [ALL, EQUAL])
@pytest.mark.parametrize("name", ["AP", "ERR", "DCG", "Twist@3"])
def test_the_share_without_empty_intervals_is_that_of_all_other_pairs(
    name: str, scale: str, relevant: int, grades: int
) -> None:
    length = 4 if grades == 1 else 3
    words = [
        word
        for word in product(range(grades + 1), repeat=length)
        if all(word.count(grade) <= relevant for grade in range(1, grades + 1))
    ]
    qrels = {
        "q": {f"{grade}-{k}": grade for grade in range(grades + 1) for k in range(max(relevant, length))}
    }
    qrels["q"] = {d: g for d, g in qrels["q"].items() if g == 0 or int(d[2:]) < relevant}
    runs = {
        str(word): {"q": [f"{grade}-{word[:k].count(grade)}" for k, grade in enumerate(word)]}
        for word in words
    }
    values = dict(zip(words, rs.evaluate(qrels, runs, [name]).values.ravel().tolist(), strict=True))

    def vector(low: tuple[int, ...], high: tuple[int, ...]) -> list[int]:
        return [
            sum((i - j + 1) * ((high[j] >= grade) - (low[j] >= grade)) for j in range(i + 1))
            for grade in range(1, grades + 1)
            for i in range(length)
        ]

    def is_below(low: tuple[int, ...], high: tuple[int, ...]) -> bool:
        return all(
            sum(g >= grade for g in low[:k]) <= sum(g >= grade for g in high[:k])
            for grade in range(1, grades + 1)
            for k in range(1, length + 1)
        )

    intervals = [
        (vector(low, high), values[high] - values[low])
        for low, high in product(words, repeat=2)
        if low != high and is_below(low, high) and (scale == ALL or sorted(low) == sorted(high))
    ]
    pairs = [
        (first[1], second[1])
        for first, second in product(intervals, repeat=2)
        if all(a <= b for a, b in zip(first[0], second[0], strict=True))
    ]
    violated = sum(small > large + 1e-9 for small, large in pairs)
    result = rs.lab.scales(name, length, relevant=relevant, grades=grades, count="exact")
    finding = result.verdict(measure(name), scale)
    assert finding.share_nonempty == pytest.approx(violated / len(pairs), abs=1e-12)
    assert finding.violations == 0 or finding.share_nonempty != finding.share
