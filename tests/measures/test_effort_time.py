"""Twist by the clock: against its definition on every small list, and Twist where all documents take the same time."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankscope as rs
from rankscope.choices import CROSSINGS
from rankscope.errors import MeasureError
from rankscope.lab.rankings.enumeration import Evaluator
from rankscope.lab.rankings.explicit import iter_recall_bases, lists_from_rows, multiset_permutations
from rankscope.lab.rankings.tree import Tree
from rankscope.lab.rankings.worlds import graded_world
from rankscope.measures import measure
from rankscope.measures.effort_time import get_timed_curves, parse_times

TIMES = ["1", "3", "1,2", "1,1,4", "2,3,3", "1,10", "1,2,50", "5,6,7", "1,100,100", "4,4,9"]


class Reference:
    """One list by the definition: a clock for every rank, fractions, no shortcut."""

    def __init__(self, grades: list[int], counts: tuple[int, ...], times: str) -> None:
        seconds = [Fraction(value) for value in times.split(",")]
        self.seconds = seconds + [seconds[-1]] * len(counts)
        ideal = [g for g in range(len(counts), 0, -1) for _ in range(counts[g - 1])]
        self.base = len(ideal)
        ideal += [0] * (len(grades) - len(ideal))
        clock = self.clock(ideal)
        self.end = clock[self.base] if self.base < len(clock) else clock[-1] + self.seconds[ideal[-1]]
        first = {g: clock[ideal.index(g)] for g in set(ideal) if g}
        last = {g: clock[len(ideal) - 1 - ideal[::-1].index(g)] for g in set(ideal) if g}
        self.times_of_list = self.clock(grades)
        self.rp = []
        for time, grade in zip(self.times_of_list, grades, strict=True):
            if grade == 0:
                self.rp.append(min(Fraction(0), time - self.end))
            else:
                self.rp.append(min(Fraction(0), time - first[grade]) + max(Fraction(0), time - last[grade]))
        self.crp = list(itertools.accumulate(self.rp))

    def clock(self, grades: list[int]) -> list[Fraction]:
        return [Fraction(0), *itertools.accumulate(self.seconds[g] for g in grades)][:-1]

    @property
    def spaces(self) -> tuple[Fraction, Fraction]:
        return sum((x for x in self.rp if x > 0), Fraction(0)), -sum(
            (x for x in self.rp if x < 0), Fraction(0)
        )

    def balance(self, mode: str) -> Fraction | float:
        """max(E, T(m + 1)) for the first crossing m."""
        if not any(self.crp):
            return self.end
        tests = {
            "sign-change": lambda a, b: a < 0 <= b or b <= 0 < a,
            "definition": lambda a, b: a <= 0 <= b or b <= 0 <= a,
            "matters": lambda a, b: (a <= 0) != (b <= 0),
        }
        steps = enumerate(itertools.pairwise(self.crp), 1)
        m = next((j for j, (a, b) in steps if tests[mode](a, b)), None)
        return math.inf if m is None else max(self.end, self.times_of_list[m])


def small_topics() -> list[tuple[tuple[int, ...], int]]:
    return [
        (counts, n)
        for base in (1, 2, 3)
        for counts in iter_recall_bases(base, 2)
        for n in (2 * base, 2 * base + 1)
    ]


@pytest.mark.parametrize("times", TIMES)
def test_every_small_list(times: str) -> None:
    """Curves, spaces, the longest spaces that any list has, and both measures."""
    for counts, n in small_topics():
        rows = multiset_permutations(counts, n)
        lists = lists_from_rows(rows, counts)
        references = [Reference(row, counts, times) for row in rows.tolist()]
        curves = get_timed_curves(lists, 1, n, times, "TwistTime")
        forward, backward = ([float(r.spaces[side]) for r in references] for side in (0, 1))
        np.testing.assert_allclose(curves.forward, forward, atol=1e-9)
        np.testing.assert_allclose(curves.backward, backward, atol=1e-9)
        # the largest attained, by looking at all of them
        np.testing.assert_allclose(curves.full_forward, max(forward), rtol=1e-12)
        np.testing.assert_allclose(curves.full_backward, max(backward), rtol=1e-12)
        for mode in CROSSINGS:
            balance = [float(r.balance(mode)) for r in references]
            actual = measure(f"BalanceTime(times='{times}',crossing='{mode}')@{n}").evaluate(lists)
            np.testing.assert_allclose(actual, balance, rtol=1e-12)
            expected = []
            for reference, time, plus, minus in zip(references, balance, forward, backward, strict=True):
                rho = 0.0 if math.isinf(time) else float(reference.end) / time
                a, b = 1 - plus / max(forward), 1 - minus / max(backward)
                expected.append((rho + (2 * a * b / (a + b) if a + b > 0 else 0.0)) / 2)
            actual = measure(f"TwistTime(times='{times}',crossing='{mode}')@{n}").evaluate(lists)
            np.testing.assert_allclose(actual, expected, atol=1e-9)
            assert (actual >= 0).all() and (actual <= 1).all()


@pytest.mark.parametrize("times", ["1,5", "1,2,3,9", "1,1,30,30", "2,7,8,100"])
def test_the_longest_forward_space_of_three_grades(times: str) -> None:
    """Yield all orders of the relevant documents after the others, where the longest space occurs."""
    for counts in [*iter_recall_bases(5, 3), (3, 2, 1), (2, 2, 2), (1, 1, 4)]:
        base = sum(counts)
        n = 2 * base
        rows = np.array(sorted({(0,) * (n - base) + word for word in _words(counts)}), np.int8)
        curves = get_timed_curves(lists_from_rows(rows, counts), 1, n, times, "TwistTime")
        spaces = [float(Reference(row, counts, times).spaces[0]) for row in rows.tolist()]
        assert curves.full_forward[0] == pytest.approx(max(spaces), rel=1e-12)


def _words(counts: tuple[int, ...]) -> set[tuple[int, ...]]:
    letters = [grade for grade, count in enumerate(counts, 1) for _ in range(count)]
    return set(itertools.permutations(letters))


graded = st.lists(st.sampled_from([None, 0, 0, 0, 1, 2, 3]), min_size=0, max_size=40)


@settings(max_examples=settings().max_examples * 5 // 2)
@given(
    graded,
    st.lists(st.integers(1, 3), max_size=6),
    st.sampled_from([5, 17, 1000]),
    st.sampled_from(CROSSINGS),
)
def test_one_second_per_document_is_twist_bit_by_bit(
    grades: list[int | None], missing: list[int], n: int, mode: str
) -> None:
    documents = [f"d{i}" for i in range(len(grades))]
    judged = {d: g for d, g in zip(documents, grades, strict=True) if g is not None}
    judged |= {f"m{i}": g for i, g in enumerate(missing)} | {"none": 0}
    names = [f"TwistTime(times='1',crossing='{mode}')@{n}", f"Twist(crossing='{mode}')@{n}"]
    names += [f"BalanceTime(times='1',crossing='{mode}')@{n}", f"BalancePoint(crossing='{mode}')@{n}"]
    by_time, by_rank, time, rank = rs.evaluate({"t": judged}, {"t": documents}, names).values.ravel().tolist()
    assert by_time == by_rank or (math.isnan(by_time) and math.isnan(by_rank))
    assert time == rank or (math.isnan(time) and math.isnan(rank))


def test_any_time_that_is_the_same_for_all_is_twist() -> None:
    counts = (3, 2)
    lists = lists_from_rows(multiset_permutations(counts, 11), counts)
    expected = measure("Twist@11").evaluate(lists)
    for times in ("7", "0.1", "8.495,8.495,8.495"):
        np.testing.assert_allclose(
            measure(f"TwistTime(times='{times}')@11").evaluate(lists), expected, atol=1e-12
        )


def test_extremes() -> None:
    counts = (2, 2)
    rows = multiset_permutations(counts, 9)
    actual = measure("TwistTime@9").evaluate(lists_from_rows(rows, counts))
    ideal = [row[:4].tolist() == [2, 2, 1, 1] for row in rows]
    assert (actual[ideal] == 1).all() and (actual[~np.array(ideal)] < 1).all()
    assert (actual[~rows.any(axis=1)] == 0).all()


def test_real_sizes_are_quick_and_in_range(tmp_path: object) -> None:
    rng = np.random.default_rng(4)
    qrels = {f"q{t}": {f"d{i}": int(g) for i, g in enumerate(rng.integers(0, 5, 900))} for t in range(10)}
    runs = {f"r{r}": {q: [f"d{i}" for i in rng.permutation(1500)[:1000]] for q in qrels} for r in range(5)}
    values = rs.evaluate(qrels, runs, ["TwistTime", "TwistTime(times='2,10,20,40,300')", "Twist"]).values
    assert (values >= 0).all() and (values <= 1).all()
    assert len(set(values[1].ravel().tolist())) == values[1].size


def test_seconds() -> None:
    assert parse_times("5, 10,30", "TwistTime") == [5, 10, 30]
    for text in ("", "0", "-1,2", "2,1", "1,nan", "inf", "fast", "1,,2"):
        with pytest.raises(MeasureError, match="times"):
            measure(f"TwistTime(times='{text}')")


def test_the_laboratory_has_the_values_of_lists() -> None:
    world = graded_world(2, relevant=2, nonrelevant=5)
    tree = Tree(world, 5)
    item = measure("TwistTime(times='1,2,7')@5")
    np.testing.assert_allclose(Evaluator(item, world).evaluate(tree), item.evaluate(tree.flat()), atol=1e-12)
