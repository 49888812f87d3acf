"""Classic measures against their definitions, rank by rank, and by hand where a number says more."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankscope.errors import MeasureError
from rankscope.judging import Lists, Pool
from rankscope.measures import measure

Grades = Sequence[int | None]


def make_lists(grades: Grades, rest: Sequence[int]) -> Lists:
    """One list written as grades (None: unjudged), and the grades of the judged documents that it lacks."""
    judged = [grade for grade in grades if grade is not None]
    ranks = [rank for rank, grade in enumerate(grades, 1) if grade is not None]
    pool = Pool(np.array([0, len(judged) + len(rest)]), np.array([*judged, *rest], np.int32))
    hits = np.arange(len(judged), dtype=np.int32)
    return Lists(
        pool,
        np.zeros(1, np.int64),
        np.array([len(grades)]),
        np.array([0, len(judged)]),
        np.array(ranks, np.int32),
        hits,
    )


def value(text: str, grades: Grades, rest: Sequence[int] = ()) -> float:
    actual = measure(text).evaluate(make_lists(grades, rest))
    assert actual.shape == (1,)
    return float(actual[0])


grades = st.lists(st.none() | st.integers(-1, 3), max_size=12)
rests = st.lists(st.integers(-1, 3), max_size=8)


# definitions ------------------------------------------------------------------------------------------------


def gain(grade: int | None) -> int:
    return max(grade or 0, 0)


def base(grades: Grades, rest: Sequence[int], rel: int = 1) -> int:
    return sum(gain(grade) >= rel for grade in [*grades, *rest])


def dcg(gains: Sequence[float], discount: Callable[[int], float]) -> float:
    return sum(g / discount(i) for i, g in enumerate(gains, 1))


def log2(rank: int) -> float:
    return math.log2(1 + rank)


def jk(b: float) -> Callable[[int], float]:
    return lambda rank: max(1.0, math.log(rank, b))


def over(a: float, b: float) -> float:
    return a / b if b else 0.0


def ndcg(
    of: Callable[[int], float], discount: Callable[[int], float], k: int, grades: Grades, rest: Sequence[int]
) -> float:
    best = sorted((of(gain(grade)) for grade in [*grades, *rest]), reverse=True)
    return over(dcg([of(gain(grade)) for grade in grades[:k]], discount), dcg(best[:k], discount))


def err(grades: Grades, best: int) -> float:
    going_on, total = 1.0, 0.0
    for rank, grade in enumerate(grades, 1):
        stop = (2 ** gain(grade) - 1) / 2**best
        total += going_on * stop / rank
        going_on *= 1 - stop
    return total


def average_precision(grades: Grades, rest: Sequence[int]) -> float:
    total, n_hits = 0.0, 0
    for rank, grade in enumerate(grades, 1):
        if gain(grade):
            n_hits += 1
            total += n_hits / rank
    return over(total, base(grades, rest))


def bpref(grades: Grades, rest: Sequence[int]) -> float:
    judged = [grade for grade in [*grades, *rest] if grade is not None]
    r, n = base(grades, rest), judged.count(0)
    above, total = 0, 0.0
    for grade in grades:
        if grade == 0:
            above += 1
        elif gain(grade):
            total += 1 - min(above, r) / min(n, r) if above else 1.0
    return over(total, r)


def interpolated(level: float, grades: Grades, rest: Sequence[int]) -> float:
    needed = math.floor(level * base(grades, rest) + 0.5)
    n_hits = np.cumsum([gain(grade) > 0 for grade in grades]).tolist()
    return max((n / rank for rank, n in enumerate(n_hits, 1) if n >= needed), default=0.0)


def unjudged(grade: int | None) -> bool:
    return grade is None or grade < 0


def topic_rbp(p: float, grades: Grades, rest: Sequence[int]) -> float:
    best = max([1, *(gain(grade) for grade in [*grades, *rest])])
    return (1 - p) * sum(gain(grade) / best * p ** (i - 1) for i, grade in enumerate(grades, 1))


def residual(p: float, grades: Grades) -> float:
    if not any(map(unjudged, grades)):
        return 0.0
    return (1 - p) * sum(p ** (i - 1) for i, grade in enumerate(grades, 1) if unjudged(grade)) + p ** len(
        grades
    )


def yaap(grades: Grades, rest: Sequence[int]) -> float:
    total = average_precision(grades, rest) * base(grades, rest)
    return math.log((1 + total) / (1 + base(grades, rest) - total))


@given(grades, rests)
def test_definitions(grades: Grades, rest: Sequence[int]) -> None:
    best = max([1, *(gain(grade) for grade in [*grades, *rest])])
    steep = [0.0, 5.0, 10.0, 15.0]
    odd = {0: 0.0, 1: 4.0, 2: 2.0, 3: 9.0}  # gains that do not grow with the grade
    definitions = {
        "AP": average_precision(grades, rest),
        "Bpref": bpref(grades, rest),
        "ERR": err(grades, best),
        "ERR(max_grade=4)@3": err(grades[:3], 4),
        "DCG": dcg([gain(grade) for grade in grades], log2),
        "DCG(gains=exp2)@4": dcg([2 ** gain(grade) - 1 for grade in grades[:4]], log2),
        "DCG(discount=jk,base=3)": dcg([gain(grade) for grade in grades], jk(3)),
        "nDCG": ndcg(float, log2, 99, grades, rest),
        "nDCG@3": ndcg(float, log2, 3, grades, rest),
        "nDCG(gains='0,5,10,15',discount=jk,base=10)@5": ndcg(steep.__getitem__, jk(10), 5, grades, rest),
        "nDCG(gains='1=4,3=9')@4": ndcg(odd.__getitem__, log2, 4, grades, rest),
        "nDCG(gains='0,4,2,9')": ndcg(odd.__getitem__, log2, 99, grades, rest),
        "IdealDCG@2": dcg(sorted((gain(g) for g in [*grades, *rest]), reverse=True)[:2], log2),
        "RBP": 0.2 * sum(0.8**i for i, grade in enumerate(grades) if gain(grade)),
        "RBP(p=0.5,graded=True)": 0.5 * sum(gain(grade) / best * 0.5**i for i, grade in enumerate(grades)),
        "RBP(p=0.5,graded=True,max_grade=2)@3": 0.5
        * sum(min(gain(grade) / 2, 1) * 0.5**i for i, grade in enumerate(grades[:3])),
        "IPrec@0.25": interpolated(0.25, grades, rest),
        "AvgIPrec(levels='0.1,0.5')": (interpolated(0.1, grades, rest) + interpolated(0.5, grades, rest)) / 2,
        "Judged@4": over(sum(grade is not None for grade in grades[:4]), len(grades[:4])),
        "Unjudged@4": sum(map(unjudged, grades[:4])) / 4,
        "TopicRBP": topic_rbp(0.9, grades, rest),
        "RBPResidual(p=0.7)": residual(0.7, grades),
        "YAAP": yaap(grades, rest),
        "RprecMult@1": value("Rprec", grades, rest),
    }
    for text, expected in definitions.items():
        assert value(text, grades, rest) == pytest.approx(expected, abs=1e-12), text


@given(grades, rests, st.sampled_from(["P@3", "RBP(p=0.7)", "RBP(p=0.5,graded=True,max_grade=3)@4", "DCG@5"]))
def test_residual_is_what_unjudged_documents_can_add(grades: Grades, rest: Sequence[int], text: str) -> None:
    """No list with better documents in the places of the unjudged ones gains more, and one gains just that."""
    best = max([1, *(gain(grade) for grade in [*grades, *rest])])
    item = measure(text)
    if text.startswith("RBP(p=0.5"):
        best = 3
    lists = make_lists(grades, [*rest, best])
    filled = [best if grade is None else grade for grade in [*grades, *[None] * 300]]
    reached = value(text, filled, [*rest, best])
    lower, upper = item.evaluate(lists)[0], item.evaluate(lists)[0] + item.residual(lists)[0]  # type: ignore[attr-defined]
    assert reached == pytest.approx(upper, abs=1e-12)
    assert upper >= lower - 1e-12


# by hand ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "grades", "rest", "expected"),
    [
        ("AP", [1, 0, 1], [1], (1 + 2 / 3) / 3),
        ("AP@2", [1, 0, 1], [1], 1 / 3),
        ("AP(rel=2)", [1, 2], [], 1 / 2),
        ("GMAP", [0], [1], 0.00001),
        ("RR", [None, 0, 2], [], 1 / 3),
        ("RR@2", [None, 0, 2], [], 0.0),
        ("R@2", [1, 1, 1], [1], 0.5),
        ("Rprec", [1, 0, 1], [], 0.5),
        ("Bpref", [0, 1], [0], 0.0),
        ("Bpref", [-1, 1], [0], 1.0),  # pooled but not judged, so it does not count
        ("Bpref", [None, 1, 0, 1], [0, 0, 1], (1 + 1 - 1 / 3) / 3),
        ("SetP", [1, 0, 0, None], [], 0.25),
        ("SetR", [1], [1, 1, 1], 0.25),
        ("SetF", [1, 0], [1], 0.5),
        ("SetF(beta=3)", [1, 0, 0, 0], [1], 4 * 0.125 / (0.75 + 0.5)),
        ("SetAP", [1, 0], [1], 0.25),
        ("SetRelP", [1, 0, 0], [], 1.0),
        ("RelP@5", [1, 0, 0], [], 1.0),
        ("infAP", [1, 0, 1], [], (1 + 1 / 3 + 2 / 3 * 1 * 1.00001 / 2.00002) / 2),
        ("infAP", [1, -1, 1], [], (1 + 1 / 3 + 2 / 3 * 1 * 1.00001 / 1.00002) / 2),
        ("infAP", [1, None, 1], [], (1 + 1 / 3 + 2 / 3 * 0.5 * 1.00001 / 1.00002) / 2),
        ("Success@1", [0, 1], [], 0.0),
        ("Success@2", [0, 1], [], 1.0),
        ("Utility", [1, 0, None], [1], -1.0),
        ("Utility(a=0,b=0,c=0,d=1,documents=10)", [1, 0, None], [1], 6.0),
        ("NumNonrelRet", [1, 0, None, -1, 0], [0], 2.0),
        ("NumRet", [1, None], [], 2.0),
        ("NumRet(rel=1)", [1, None], [], 1.0),
        ("BinG", [0, 1], [1], 1 / math.log2(3) / 2),
        # the ideal ranking has gains 2, 1: its cost so far is 2 and 3, then one more for each rank
        ("G", [None, 2, 1], [], (2 / math.log2(2 + 3 - 2) + 1 / math.log2(2 + 4 - 3)) / 3),
        # nDCG at rank 1 (one document of grade 2) and at rank 2, then of the whole list of four
        ("RnDCG", [0, 2, 0, 1], [], None),
        ("nDCG_rel", [0, 1], [1], None),
        ("Compat(p=0.5)", [1, 1], [], 1.0),
        ("Compat(p=0.5)", [0, 1], [], (0.5 * 0.5) / (1 + 0.5 * 0.5)),
    ],
)
def test_by_hand(text: str, grades: Grades, rest: Sequence[int], expected: float | None) -> None:
    if text == "RnDCG":
        two, fourth = 1 / math.log2(3), 1 / math.log2(5)
        ideal = 2 + two
        expected = (0 + 2 * two / ideal + (2 * two + fourth) / ideal) / 3
    if text == "nDCG_rel":
        two = 1 / math.log2(3)
        expected = 2 * (two / (1 + two)) / 2
    assert value(text, grades, rest) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("length", [0, 1, 5])
def test_without_relevant_documents_everything_is_zero(length: int) -> None:
    for text in (
        "AP",
        "RR",
        "R@5",
        "Rprec",
        "Bpref",
        "SetP",
        "SetR",
        "SetF",
        "IPrec@0.1",
        "infAP",
        "nDCG",
        "ERR",
    ):
        assert value(text, [0] * length, [0, -1]) == 0.0, text
    for text in (
        "Compat",
        "RelP@5",
        "SetRelP",
        "SetAP",
        "BinG",
        "G",
        "nDCG_rel",
        "RnDCG",
        "RprecMult@0.5",
        "YAAP",
    ):
        assert value(text, [0] * length, [0, -1]) == 0.0, text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nDGC@10", "did you mean nDCG"),
        ("RBP(p=2)", "p is a number from 0 to 1"),
        ("RBP(p=1)", "both excluded"),
        ("P", "P needs a cutoff; write P@10"),
        ("P@0", "whole number of ranks"),
        ("P@2.5", "whole number of ranks"),
        ("AP(rel=0)", "rel is a number above 0"),
        ("AP(rel=-1)", "rel is a number above 0"),
        ("AP(level=2)", "no parameter 'level'"),
        ("IPrec@2", "cannot have the recall 2"),
        ("IPrec(rounding=down)@0.5", "rounding is nearest or up"),
        ("nDCG(gains='1,2')", "needs gain 0 for non-relevant"),
        ("nDCG(gains=quadratic)", "cannot have gains='quadratic'"),
        ("nDCG(gains='1=x')", "cannot have gains='1=x'"),
        ("nDCG(gains='0,inf')", "cannot have gains='0,inf'"),
        ("DCG(base=1)", "base is greater than 1"),
        ("DCG(discount=log)", "discount is log2 or jk"),
        ("AvgIPrec(levels='0.1,half')", "cannot have levels"),
        ("AvgIPrec(levels='7')", "cannot have the recall 7"),
        ("RprecMult@0", "cannot have the multiple 0"),
        ("Compat(p=0)", "both excluded"),
        ("TopicRBP(gains=none)", "cannot have gains='none'"),
        ("Rprec@5", "Rprec has no cutoff"),
        ("AP@ten", "no number after @"),
        ("AP(rel=2", "is not a measure"),
    ],
)
def test_invalid_measures_raise(text: str, message: str) -> None:
    with pytest.raises(MeasureError, match=r".") as caught:
        measure(text)
    assert message in str(caught.value)


def test_parameters_that_contradict_the_grades_raise() -> None:
    with pytest.raises(MeasureError, match="meets grade 3"):
        value("ERR(max_grade=2)", [3])
    with pytest.raises(MeasureError, match="no gain for grade 3"):
        value("nDCG(gains='0,1,2')", [1, 3])
    for text in ("nDCG", "IdealDCG", "RnDCG", "nDCG_rel"):
        with pytest.raises(MeasureError, match="has no residual"):
            measure(text).residual(make_lists([1], []))  # type: ignore[attr-defined]


@pytest.mark.parametrize("topics", [1, 7, 8, 9, 50, 127, 128, 129, 1000])
def test_means_of_rows_have_the_bits_of_one_row_after_another(topics: int) -> None:
    values = np.random.default_rng(topics).random((5, topics))
    for matrix in (values, np.asfortranarray(values), values[::2], np.where(values < 0.1, np.nan, values)):
        assert (
            measure("AP").means(matrix).tobytes()
            == np.array([measure("AP").mean(row) for row in matrix]).tobytes()
        )
