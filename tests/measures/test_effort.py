"""Effort measures against the plain definitions, and every fact known about them."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankscope.choices import CROSSINGS
from rankscope.errors import MeasureError
from rankscope.judging.lists import Lists
from rankscope.judging.pool import Pool
from rankscope.lab.rankings.enumeration import Evaluator
from rankscope.lab.rankings.tree import Tree
from rankscope.lab.rankings.worlds import graded_world
from rankscope.measures import REGISTRY, measure
from rankscope.measures.effort_curves import get_curves, get_ideal
from rankscope.measures.effort_weights import WeightedCurves

# the definitions, word by word ------------------------------------------------------------------------------


class Reference:
    """One list by the definitions: vectors of full length, fractions, no shortcut."""

    def __init__(self, grades: Sequence[int], counts: dict[int, int], cutoff: int) -> None:
        counts = {g: c for g, c in counts.items() if g > 0 and c > 0}
        self.counts = counts
        self.RB = sum(counts.values())
        self.N = max(cutoff, 2 * self.RB)
        self.grades = [max(0, g) for g in grades[:cutoff]]
        self.grades += [0] * (self.N - len(self.grades))
        self.ideal = [g for g in sorted(counts, reverse=True) for _ in range(counts[g])]
        self.ideal += [0] * (self.N - self.RB)
        self.full = self.ideal[::-1]
        self.rp, self.crp = self.curve(self.grades)
        self.s_plus = sum(x for x in self.rp if x > 0)
        self.s_minus = -sum(x for x in self.rp if x < 0)
        full_rp, self.full_crp = self.curve(self.full)
        self.fs_plus = sum(x for x in full_rp if x > 0)
        self.fs_minus = -sum(x for x in full_rp if x < 0)
        self.firsts: dict[str, float] = {}

    def interval(self, grade: int) -> tuple[int, int]:
        if grade == 0:
            return self.RB + 1, self.N
        last = sum(c for g, c in self.counts.items() if g >= grade)
        return last - self.counts[grade] + 1, last

    def curve(self, grades: Sequence[int]) -> tuple[list[int], list[int]]:
        rp = []
        for j, grade in enumerate(grades, 1):
            low, high = self.interval(grade)
            rp.append(j - low if j < low else j - high if j > high else 0)
        return rp, list(itertools.accumulate(rp))

    def crossings(self, mode: str) -> list[int]:
        steps = list(enumerate(itertools.pairwise(self.crp), 1))
        if not any(self.crp):
            return [j for j, _ in steps]
        if mode == "sign-change":
            return [j for j, (a, b) in steps if (a < 0 and b >= 0) or (a > 0 and b <= 0)]
        if mode == "definition":
            return [j for j, (a, b) in steps if (a <= 0 and b >= 0) or (a >= 0 and b <= 0)]
        return [j for j, (a, b) in steps if (a <= 0) != (b <= 0)]

    def first(self, mode: str) -> float:
        if mode not in self.firsts:
            self.firsts[mode] = min(self.crossings(mode), default=math.inf)
        return self.firsts[mode]

    def rho(self, mode: str) -> Fraction:
        beta = max(self.RB, self.first(mode))
        return Fraction(0) if beta == math.inf else Fraction(self.RB, int(beta))

    @property
    def sigma_plus(self) -> Fraction:
        return 1 - Fraction(self.s_plus, self.fs_plus)

    @property
    def sigma_minus(self) -> Fraction:
        return 1 - Fraction(self.s_minus, self.fs_minus)

    @property
    def sigma(self) -> Fraction:
        a, b = self.sigma_plus, self.sigma_minus
        return 2 * a * b / (a + b) if a + b else Fraction(0)

    def tau(self, mode: str) -> Fraction:
        return (self.rho(mode) + self.sigma) / 2

    def turn_around(self) -> int:
        return self.RB if not any(self.crp) else self.crp.index(min(self.crp)) + 1

    def regained(self) -> float:
        if not any(self.crp):
            return self.RB
        return next((j for j in range(self.turn_around() + 1, self.N + 1) if self.crp[j - 1] >= 0), math.inf)

    def full_regained(self) -> int:
        return next(j for j in range(self.RB + 1, self.N + 1) if self.full_crp[j - 1] >= 0)

    def values(self) -> dict[str, float]:
        """Return the values of all effort measures by their texts without cutoff."""
        b_r, b_w, low = self.regained(), self.full_regained(), self.turn_around()
        end = self.full_crp[-1]
        values: dict[str, float] = {
            "Sigma": float(self.sigma),
            "SigmaPlus": float(self.sigma_plus),
            "SigmaMinus": float(self.sigma_minus),
            "Rho2012": self.RB / b_r,
            "Rho2012(clamped=True)": self.RB / max(self.RB, b_r),
            "b_ratio": 1 - b_r / b_w,
            "b_ratio(clamped=True)": max(0.0, 1 - b_r / b_w),
            "CRP_min": 1 - self.crp[low - 1] / self.full_crp[low - 1],
            "CRP_N": 1 - self.crp[-1] / end if end else math.nan,
            "CRP_N(clamped=True)": min(1.0, max(0.0, 1 - self.crp[-1] / end)) if end else math.nan,
        }
        for mode in CROSSINGS:
            values[f"Twist(crossing={mode!r})"] = float(self.tau(mode))
            values[f"Rho(crossing={mode!r})"] = float(self.rho(mode))
            values[f"BalancePoint(crossing={mode!r})"] = max(self.RB, self.first(mode))
        return values


# lists from grades ------------------------------------------------------------------------------------------


def make_lists(topics: Sequence[tuple[dict[int, int], Sequence[Sequence[int | None]]]]) -> Lists:
    """Lists with given grades (None: unjudged), several per topic; a topic is how many documents each grade has."""
    grades, offsets = [], [0]
    topic, length, starts, ranks, judgments = [], [], [0], [], []
    for t, (counts, written) in enumerate(topics):
        have = Counter(counts)
        for item in written:
            for g, c in Counter(g for g in item if g is not None).items():
                have[g] = max(have[g], c) if g <= 0 else have[g]
        position = {}
        for g, c in have.items():
            position[g] = len(grades)
            grades += [g] * c
        offsets.append(len(grades))
        for item in written:
            used: Counter[int] = Counter()
            for rank, g in enumerate(item, 1):
                if g is not None:
                    assert used[g] < have[g], "more documents of a grade than were judged"
                    ranks.append(rank)
                    judgments.append(position[g] + used[g])
                    used[g] += 1
            topic.append(t)
            length.append(len(item))
            starts.append(len(ranks))
    pool = Pool(np.array(offsets), np.array(grades, np.int32))
    arrays = [np.array(topic, np.int64), np.array(length, np.int32), np.array(starts, np.int64)]
    return Lists(pool, *arrays, np.array(ranks, np.int32), np.array(judgments, np.int32))


def tau(
    grades: Sequence[int], counts: dict[int, int], cutoff: int | None = None, text: str = "Twist"
) -> float:
    return float(
        (measure(text) @ (cutoff or max(1, len(grades)))).evaluate(make_lists([(counts, [grades])]))[0]
    )


@st.composite
def topics(draw: st.DrawFn, longest: int = 30) -> tuple[dict[int, int], list[int | None], int]:
    """Counts per grade, a list that may hold them (short, long, unjudged and negative documents), and a cutoff."""
    counts = draw(st.dictionaries(st.integers(1, 4), st.integers(0, 4), min_size=1, max_size=4))
    if not any(counts.values()):
        counts[1] = 1
    relevant = [g for g, c in counts.items() for _ in range(c)]
    taken = draw(st.lists(st.sampled_from(range(len(relevant))), unique=True, max_size=len(relevant)))
    others = draw(st.lists(st.sampled_from([0, -2, None]), max_size=longest - len(relevant)))
    written = draw(st.permutations([relevant[i] for i in taken] + others))
    return counts, list(written), draw(st.integers(1, longest))


def every_list(counts: dict[int, int], length: int) -> Iterator[tuple[int, ...]]:
    for word in itertools.product([0, *counts], repeat=length):
        have = Counter(word)
        if all(have[g] <= c for g, c in counts.items()):
            yield word


# sparse = definition ----------------------------------------------------------------------------------------


def assert_same(lists: Lists, references: Sequence[Reference | None], cutoff: int) -> None:
    values = [{} if item is None else item.values() for item in references]
    for name in Reference([1], {1: 1}, 2).values():
        actual = (measure(name) @ cutoff).evaluate(lists)
        expected = [item.get(name, math.nan) for item in values]
        np.testing.assert_allclose(actual, expected, rtol=1e-12, atol=1e-12, err_msg=name)
    for rank in {1, (cutoff + 1) // 2, cutoff}:
        actual = (measure("CRP") @ rank).evaluate(lists)
        expected = [math.nan if item is None else item.crp[rank - 1] for item in references]
        defined = ~np.isnan(expected)
        np.testing.assert_array_equal(actual[defined], np.array(expected)[defined])


@given(topics())
def test_one_list(topic: tuple[dict[int, int], list[int | None], int]) -> None:
    counts, written, cutoff = topic
    grades = [0 if g is None else g for g in written]
    assert_same(make_lists([(counts, [written])]), [Reference(grades, counts, cutoff)], cutoff)


@pytest.mark.parametrize("cutoff", [1, 7, 100, 1000, pytest.param(10_000, marks=pytest.mark.slow)])
def test_many_lists_of_many_topics(cutoff: int) -> None:
    """Up to 10,000 ranks, recall bases above and below the cutoff, absent grades, empty and unjudged lists."""
    dice = np.random.default_rng(cutoff)
    collection, references = [], []
    for base in (1, 3, 12, 60, 0, 700):
        counts = {g: int(n) for g, n in zip((1, 2, 4), dice.multinomial(base, [0.5, 0.3, 0.2]), strict=True)}
        relevant = [g for g, n in counts.items() for _ in range(n)]
        written = [[], [None] * 5, [0, -1, 0], sorted(relevant, reverse=True)]
        for length in (3, 50, 400, 12_000 if base == 60 else 100):
            taken = dice.permutation(relevant)[: min(length, int(dice.integers(0, len(relevant) + 1)))]
            item: list[int | None] = [None if dice.random() < 0.5 else 0] * length
            for position, g in zip(np.sort(dice.permutation(length)[: len(taken)]), taken, strict=True):
                item[position] = int(g)
            written.append(item)
        collection.append((counts, written))
        for item in written:
            grades = [0 if g is None else g for g in item]
            references.append(Reference(grades, counts, cutoff) if base else None)
    assert_same(make_lists(collection), references, cutoff)


def test_batch_is_one_by_one() -> None:
    counts = {1: 2, 2: 1}
    words = list(every_list(counts, 5))
    together = measure("Twist@5").evaluate(make_lists([(counts, words)]))
    assert together.tolist() == [tau(word, counts) for word in words]


def test_no_relevant_document_is_undefined() -> None:
    lists = make_lists([({}, [[0, None]]), ({1: 1}, [[1]])])
    for defined in {m for m in REGISTRY.values() if m.family == "effort"}:
        values = defined.evaluate(lists)
        assert np.isnan(values[0]) and not np.isnan(values[1]), defined
    assert measure("Twist").mean(measure("Twist").evaluate(lists)) == 1.0


@pytest.mark.parametrize(
    "name", ["Twist", "Twist(crossing='matters')", "SigmaPlus(patience=0.5)", "CRP", "b_ratio"]
)
def test_on_the_tree_of_all_rankings(name: str) -> None:
    """Trees of the laboratory and explicit lists have the same values."""
    tree = Tree(graded_world(2, relevant=2, nonrelevant=4), 4)
    item = measure(name) @ 8
    np.testing.assert_allclose(
        Evaluator(item, tree.world).evaluate(tree), item.evaluate(tree.flat()), atol=1e-14
    )


def test_relevance_threshold() -> None:
    lists = make_lists([({1: 2, 2: 1}, [[1, 2, 1, 0]])])
    assert measure("Twist(rel=2)@4").evaluate(lists)[0] == tau([0, 1, 0, 0], {1: 1})


# facts ------------------------------------------------------------------------------------------------------

SMALL = [
    ({1: 1}, 4),
    ({1: 2}, 6),
    ({1: 3}, 6),
    ({1: 1, 2: 1}, 6),
    ({1: 2, 2: 1}, 6),
    ({1: 1, 2: 2}, 7),
    ({1: 1, 3: 1, 7: 1}, 6),
]


@lru_cache
def _reference(word: tuple[int, ...], counts: tuple[tuple[int, int], ...]) -> Reference:
    return Reference(word, dict(counts), len(word))


def check_facts(word: tuple[int, ...], counts: dict[int, int]) -> None:
    """Published properties hold for every list of N >= 2 RB ranks."""
    item = _reference(word, tuple(counts.items()))
    RB, N, crp = item.RB, item.N, item.crp
    lists = make_lists([(counts, [word])])
    curves = get_curves(lists, 1, N)
    names = ("Rho", "Sigma", "SigmaPlus", "SigmaMinus", "Twist")
    value = {name: float((measure(name) @ N).evaluate(lists)[0]) for name in names}
    assert all(0 <= x <= 1 for x in value.values())
    assert (value["Twist"] == 1) == (list(word) == item.ideal[:N])
    if not any(word):
        assert value["Twist"] == 0
    top = max(g for g, c in counts.items() if c)
    assert min(item.rp) >= -RB and max(item.rp) <= N - counts[top]
    assert min(item.rp[RB:]) >= 0
    assert next((x for x in item.rp if x), -1) < 0
    assert min(crp) >= -RB * (RB + 1) // 2
    if max(counts.values()) <= N - 2 * RB + 1:
        assert max(crp) <= item.full_crp[-1]
    assert (value["SigmaMinus"] == 0) == (not any(word[:RB]))
    if value["Rho"] == 0:
        assert value["Twist"] < 0.5
    if value["Rho"] == 1:
        assert value["Twist"] >= 0.5
    elif value["Rho"]:
        assert value["Rho"] <= RB / (RB + 1)
    if list(word) == item.full and N >= 3 * RB:
        assert value["Twist"] <= 0.25
    assert tau((*word, 0), counts) >= value["Twist"] - 1e-15
    relabelled = {g: 3 * i + 2 for i, g in enumerate(sorted(counts))}
    assert (
        tau([relabelled.get(g, 0) for g in word], {relabelled[g]: c for g, c in counts.items()})
        == value["Twist"]
    )
    if len(counts) == 1:
        assert max(crp[:RB]) <= 0
    by_mode = {mode: tau(word, counts, text=f"Rho(crossing={mode!r})") for mode in CROSSINGS}
    assert by_mode["definition"] >= by_mode["sign-change"] >= by_mode["matters"]
    # what the sparse computation rests on
    assert curves.minimum[0] == min(crp) and curves.end[0] == crp[-1] and curves.loss[0] == crp[RB - 1]


@pytest.mark.parametrize(("counts", "length"), SMALL)
def test_facts_exhaustively(counts: dict[int, int], length: int) -> None:
    words = list(every_list(counts, length))
    for word in words:
        check_facts(word, counts)
    # and against the definitions, all of them at once
    references = [_reference(word, tuple(counts.items())) for word in words]
    assert_same(make_lists([(counts, words)]), references, length)


@given(topics())
def test_facts(topic: tuple[dict[int, int], list[int | None], int]) -> None:
    counts, written, _ = topic
    counts = {g: c for g, c in counts.items() if c}
    word = [max(0, g or 0) for g in written]
    word += [0] * (2 * sum(counts.values()) - len(word))
    check_facts(tuple(word), counts)


@given(topics(), st.integers(1, 40))
def test_appending_nonrelevant_documents_never_lowers_twist(
    topic: tuple[dict[int, int], list[int | None], int], more: int
) -> None:
    counts, written, _ = topic
    lists = make_lists([(counts, [written])])
    assert (measure("Twist") @ (40 + more)).evaluate(lists)[0] >= (measure("Twist") @ 40).evaluate(lists)[
        0
    ] - 1e-15


def test_proposition_2_needs_room() -> None:
    """CRP exceeds its published upper bound on the published example: 24 > 23."""
    word = [1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 2, 2, 3, 3]
    lists = make_lists([({3: 2, 2: 2, 1: 3}, [word])])
    assert measure("CRP@15").evaluate(lists)[0] == 24
    assert get_curves(lists, 1, 15).full_end[0] == 23


def test_twist_breaks_swap_and_replacement() -> None:
    assert tau([0, 0, 0, 0, 1, 0], {1: 2}) == 0.25
    assert tau([0, 0, 0, 1, 0, 0], {1: 2}) == 0
    assert tau([0, 1, 0, 0], {1: 2}) == 0.25
    assert tau([0, 1, 1, 0], {1: 2}) == pytest.approx(2 / 9, abs=1e-15)


def test_padding_to_twice_the_recall_base() -> None:
    """Without it the backward space ratio of this list would be negative."""
    assert tau([0, 0, 0], {1: 2}, text="SigmaMinus") == 0


# weights ----------------------------------------------------------------------------------------------------


def weighted_reference(
    item: Reference, patience: float, values: dict[int, float] | None
) -> tuple[list[float], float]:
    """Return the weighted curve, and the space of a list without relevant documents, rank by rank."""

    def weight(j: int, grade: int) -> float:
        apart = 1.0 if values is None else abs(values[grade] - values[item.ideal[j - 1]])
        return float(j) ** (patience - 1) * apart

    rp = [x * weight(j, g) for j, (x, g) in enumerate(zip(item.rp, item.grades, strict=True), 1)]
    worst = sum((item.RB + 1 - j) * weight(j, 0) for j in range(1, item.RB + 1))
    return rp, worst


@given(topics())
def test_weights_of_one_are_twist(topic: tuple[dict[int, int], list[int | None], int]) -> None:
    counts, written, cutoff = topic
    lists = make_lists([(counts, [written])])
    plain, weighted = get_curves(lists, 1, cutoff), WeightedCurves(lists, 1, cutoff, 1.0, "equal")
    for name in ("rp", "before", "after", "forward", "backward", "full_forward", "full_backward", "end"):
        np.testing.assert_array_equal(getattr(plain, name), getattr(weighted, name), err_msg=name)
    for mode in CROSSINGS:
        np.testing.assert_array_equal(plain.crossing(mode), weighted.crossing(mode))


@given(topics(), st.sampled_from([0.0, 0.3, 0.9, 1.0]), st.sampled_from(["equal", "linear", "0,1,2,5,11"]))
def test_weighted_curves(
    topic: tuple[dict[int, int], list[int | None], int], patience: float, grades: str
) -> None:
    counts, written, cutoff = topic
    word = [0 if g is None else g for g in written]
    item = Reference(word, counts, cutoff)
    tables = {"equal": None, "linear": {g: float(g) for g in range(5)}}
    values = tables.get(grades, dict(enumerate([0.0, 1.0, 2.0, 5.0, 11.0])))
    rp, worst = weighted_reference(item, patience, values)
    lists = make_lists([(counts, [written])])
    curves = WeightedCurves(lists, 1, cutoff, patience, grades)
    assert curves.end[0] == pytest.approx(sum(rp), abs=1e-9)
    assert curves.forward[0] == pytest.approx(sum(x for x in rp if x > 0), abs=1e-9)
    assert curves.full_backward[0] == pytest.approx(worst)
    crp = np.cumsum(rp)
    hits = curves.hits.rank
    np.testing.assert_allclose(curves.after, crp[hits - 1], atol=1e-9)
    crp[np.abs(crp) < 1e-9] = 0
    first = next((j for j, (a, b) in enumerate(itertools.pairwise(crp), 1) if a < 0 <= b), math.inf)
    assert curves.crossing("sign-change")[0] == (first if crp.any() else 1)
    for name in ("Twist", "Rho", "Sigma", "SigmaPlus", "SigmaMinus"):
        value = (measure(name)(patience=patience, grades=grades) @ cutoff).evaluate(lists)[0]
        assert -1e-12 <= value <= 1 + 1e-12, name
    ideal = item.grades == item.ideal
    assert (measure("Twist")(patience=patience, grades=grades) @ cutoff).evaluate(lists)[0] == 1 or not ideal


@pytest.mark.parametrize("patience", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("grades", ["equal", "linear", "0,1,50"])
def test_no_list_strays_further_than_the_weights_allow(patience: float, grades: str) -> None:
    counts = {1: 2, 2: 1}
    lists = make_lists([(counts, list(every_list(counts, 7)))])
    curves = WeightedCurves(lists, 1, 7, patience, grades)
    forward = curves.hits.sum(np.maximum(curves.rp, 0))
    assert (forward <= curves.full_forward * (1 + 1e-12)).all()
    assert (forward - curves.end <= curves.full_backward * (1 + 1e-12)).all()
    for name in ("SigmaPlus", "SigmaMinus"):
        values = (measure(name)(patience=patience, grades=grades) @ 7).evaluate(lists)
        assert values.min() == pytest.approx(0, abs=1e-12) and values.max() == 1


@lru_cache
def every_order(counts: tuple[tuple[int, int], ...], length: int) -> Lists:
    return make_lists([(dict(counts), list(every_list(dict(counts), length)))])


@pytest.mark.parametrize("patience", [0.0, 0.2, 0.5, 0.9, 1.0])
@pytest.mark.parametrize(
    ("counts", "length"),
    [({1: 3, 2: 1}, 8), ({1: 2, 2: 1, 3: 1}, 8), ({1: 1, 2: 2, 3: 1}, 8), ({2: 1, 4: 2}, 7)],
)
@pytest.mark.parametrize("grades", ["equal", "linear", "0,1,1.1,1.2,9"])
def test_the_longest_spaces_are_those_of_a_list(
    counts: dict[int, int], length: int, grades: str, patience: float
) -> None:
    """Enumeration of all orders of the documents finds the divisor."""
    lists = every_order(tuple(counts.items()), length)
    curves = WeightedCurves(lists, 1, length, patience, grades)
    forward = curves.hits.sum(np.maximum(curves.rp, 0))
    assert forward.max() == pytest.approx(curves.full_forward[0], rel=1e-12)
    assert (forward - curves.end).max() == pytest.approx(curves.full_backward[0], rel=1e-12)


def test_the_farthest_list_leaves_no_forward_space() -> None:
    counts = {1: 3, 2: 1}
    lists = make_lists([(counts, list(every_list(counts, 8)))])
    values = measure("SigmaPlus(patience=0.5,grades='linear')@8").evaluate(lists)
    assert values.min() == pytest.approx(0, abs=1e-12)  # 0.0249 with each term as large as it can be alone


def test_distances_between_grades_do_not_affect_binary_judgments() -> None:
    counts = {1: 2}
    for word in every_list(counts, 5):
        assert tau(word, counts, text="Twist(grades='linear')") == pytest.approx(tau(word, counts), abs=1e-15)


def test_impatient_users_mind_early_misplacements_more() -> None:
    early, late = [0, 1, 1, 1, 0, 0], [1, 1, 0, 1, 0, 0]
    plain = tau(early, {1: 3}, text="SigmaMinus") / tau(late, {1: 3}, text="SigmaMinus")
    impatient = tau(early, {1: 3}, text="SigmaMinus(patience=0)") / tau(
        late, {1: 3}, text="SigmaMinus(patience=0)"
    )
    assert impatient < plain


# the measures as values -------------------------------------------------------------------------------------


def test_canonical_text() -> None:
    assert str(measure("Twist@1000")) == "Twist"
    assert str(measure("Twist(crossing=definition)@100")) == "Twist(crossing='definition')@100"
    assert measure("Twist @ 1000") == measure("Twist(patience=1, grades='equal')")
    assert {m.name for m in REGISTRY.values() if m.family == "effort"} == {
        "Twist", "Rho", "Sigma", "SigmaPlus", "SigmaMinus", "BalancePoint",
        "CRP", "CRP_min", "CRP_N", "b_ratio", "Rho2012", "TwistTime", "BalanceTime",
    }  # fmt: skip


@pytest.mark.parametrize(
    "text", ["Twist(crossing=never)", "Twist(patience=2)", "Twist(grades='1,2')", "Twist(grades=x)"]
)
def test_refused(text: str) -> None:
    with pytest.raises(MeasureError):
        measure(text)


def test_grade_without_a_value() -> None:
    with pytest.raises(MeasureError, match="grade 2"):
        tau([2], {2: 1}, text="Twist(grades='0,1')")


def test_ideal_intervals() -> None:
    ideal = get_ideal(make_lists([({3: 2, 2: 2, 1: 3}, [[0]]), ({}, []), ({5: 1}, [])]).pool)
    assert ideal.first.tolist() == [1, 1, 3, 3, 5, 5, 5, 1]
    assert ideal.last.tolist() == [2, 2, 4, 4, 7, 7, 7, 1]
    assert ideal.total_last.tolist() == [33, 0, 1]
