"""The axioms of a difference structure against naive loops over exact fractions."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import rankscope as rs
from rankscope.errors import SettingsError
from rankscope.lab.measurement.difference_structure import AXIOMS, STEPS, Structure

Ranking = tuple[int, ...]
Leq = Callable[[Ranking, Ranking, Ranking, Ranking], bool]


def average_precision(ranking: Ranking) -> Fraction:
    result = [Fraction(sum(ranking[: k + 1]), k + 1) for k, grade in enumerate(ranking) if grade]
    return sum(result, Fraction(0)) / len(ranking)


def expected_reciprocal_rank(ranking: Ranking) -> Fraction:
    left, total = Fraction(1), Fraction(0)
    for k, grade in enumerate(ranking, 1):
        if grade:
            total, left = total + left / 2 / k, left / 2
    return total


def rbp(p: Fraction) -> Callable[[Ranking], Fraction]:
    return lambda ranking: (1 - p) * sum((grade * p**k for k, grade in enumerate(ranking)), Fraction(0))


MEASURES = {
    "AP": average_precision,
    "ERR": expected_reciprocal_rank,
    "RBP(p=0.5)": rbp(Fraction(1, 2)),
    "RBP": rbp(Fraction(4, 5)),
}


def order_by_value(value: Callable[[Ranking], Fraction]) -> Leq:
    return lambda a, b, c, d: value(a) - value(b) <= value(c) - value(d)


def is_vector_leq(a: Ranking, b: Ranking, c: Ranking, d: Ranking) -> bool:
    def vector(x: Ranking, y: Ranking) -> list[int]:
        return [sum((i - j + 1) * (x[j] - y[j]) for j in range(i + 1)) for i in range(len(x))]

    return all(first <= second for first, second in zip(vector(a, b), vector(c, d), strict=True))


STRUCTURES: dict[str, Leq] = {
    "difference vectors": is_vector_leq,
    "weak top-heaviness": order_by_value(
        lambda r: Fraction(sum((len(r) - k) * grade for k, grade in enumerate(r)))
    ),
    "strong top-heaviness": order_by_value(
        lambda r: Fraction(sum(2 ** (len(r) - k) * grade for k, grade in enumerate(r)))
    ),
    **{f"order of {name}": order_by_value(value) for name, value in MEASURES.items()},
}


def counts(leq: Leq, elements: list[Ranking]) -> dict[str, tuple[int, int]]:
    """Cases and violations of the axioms whose cases are tuples of rankings, by naive loops."""
    four = list(product(elements, repeat=4))
    order = {q: leq(*q) for q in four}
    incomparable = sum(not order[a, b, c, d] and not order[c, d, a, b] for a, b, c, d in four)
    premise = [q for q in four if order[q]]
    reversed_ = sum(not order[d, c, b, a] for a, b, c, d in premise)
    third = [
        order[a, c, x, z]
        for a, b, x, y in premise
        for c, z in product(elements, repeat=2)
        if order[b, c, y, z]
    ]
    fourth = [
        any(order[a, e, c, d] and order[c, d, a, e] for e in elements)
        and any(order[e, b, c, d] and order[c, d, e, b] for e in elements)
        for a, b, c, d in four
        if order[a, a, c, d] and order[c, d, a, b]
    ]
    return {
        "i (complete)": (len(four), incomparable),
        "ii": (len(premise), reversed_),
        "iii": (len(third), third.count(False)),
        "iv (solvability)": (len(fourth), fourth.count(False)),
    }


@pytest.mark.parametrize(("length", "relevant"), [(1, 1), (2, 2), (3, 3), (3, 2), (4, 1)])
def test_every_count_is_that_of_naive_loops(length: int, relevant: int) -> None:
    elements = [r for r in product((0, 1), repeat=length) if sum(r) <= relevant]
    result = rs.lab.difference_structure(list(MEASURES), length, relevant=relevant)
    # AP divides by the recall base, which changes no order: the naive AP divides by the length.
    rows = {(r["structure"], r["axiom"]): r for r in result["axioms"].records()}
    assert list(dict.fromkeys(structure for structure, _ in rows)) == list(STRUCTURES)
    for structure, leq in STRUCTURES.items():
        assert [axiom for name, axiom in rows if name == structure] == list(AXIOMS)
        for axiom, expected in counts(leq, elements).items():
            row = rows[structure, axiom]
            assert (row["cases"], row["violations"]) == expected, (structure, axiom)
            assert row["holds"] == (expected[1] == 0) == (row["counterexample"] is None)
        assert rows[structure, "i (transitive)"]["violations"] == 0


def test_solvability_separates_the_measures_on_an_interval_scale_from_the_others() -> None:
    result = rs.lab.difference_structure("AP ERR RBP(p=0.5) RBP DCG P@4", 4)
    rows = [r for r in result["axioms"].records() if not r["holds"]]
    assert {(r["structure"], r["axiom"]) for r in rows} == {
        ("difference vectors", "i (complete)"),
        *(
            (name, "iv (solvability)")
            for name in (
                "difference vectors",
                "order of AP",
                "order of ERR",
                "order of RBP",
                "order of DCG",
            )
        ),
    }
    solvable = {
        r["structure"] for r in result["axioms"].records() if r["axiom"].startswith("iv") and r["holds"]
    }
    own = rs.lab.scales("AP ERR RBP(p=0.5) RBP DCG P@4", 4)
    assert {f"order of {f.measure}" for f in own.verdicts if f.scale.endswith("measure)") and f.holds} == {
        name for name in solvable if name.startswith("order of")
    }


@pytest.mark.parametrize(("length", "relevant"), [(2, 2), (3, 3), (4, 4), (4, 1), (3, 1)])
def test_theorem_1_counted_steps_represent_every_structure_that_satisfies_the_axioms(
    length: int, relevant: int
) -> None:
    result = rs.lab.difference_structure("AP ERR RBP(p=0.5) RBP DCG P@4 RR", length, relevant=relevant)
    structures = dict.fromkeys(r["structure"] for r in result["axioms"].records())
    for structure in structures:
        axioms = all(r["holds"] for r in result["axioms"].records() if r["structure"] == structure)
        [steps] = [
            r
            for r in result["representations"].records()
            if r["structure"] == structure and r["measure"] == STEPS
        ]
        assert steps["holds"] or not axioms, structure  # the axioms suffice; they are not necessary


def test_only_rbp_with_one_half_represents_strong_top_heaviness() -> None:
    result = rs.lab.difference_structure("AP ERR RBP(p=0.5) RBP DCG P@4", 4)["representations"].records()
    holding = [(r["structure"], r["measure"]) for r in result if r["holds"]]
    assert holding == [
        ("weak top-heaviness", STEPS),
        ("strong top-heaviness", STEPS),
        ("strong top-heaviness", "RBP(p=0.5)"),
        ("order of RBP(p=0.5)", STEPS),
        ("order of P@4", STEPS),
    ]


def test_a_counterexample_violates_the_axiom() -> None:
    result = rs.lab.difference_structure("AP", 3)
    [row] = [r for r in result["axioms"].records() if r["structure"] == "order of AP" and not r["holds"]]
    assert row["counterexample"].startswith("D((010),(001)) <= D((001),(000)), but no ranking")
    values = {r: average_precision(r) for r in product((0, 1), repeat=3)}
    step = values[0, 1, 0] - values[0, 0, 1]
    assert 0 <= step <= values[0, 0, 1] - values[0, 0, 0]
    assert not (values[0, 0, 1] - step in values.values() and values[0, 0, 0] + step in values.values())


def test_an_order_that_is_not_transitive_or_additive_is_noticed() -> None:
    """Relations that no measure induces: each check can fail."""
    kind = np.array([[1, 0], [2, 1]])  # D(a,a), D(a,b), D(b,a) of two elements
    cyclic = Structure("cyclic", kind, np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1]], bool))
    _, violations, example = cyclic.transitive()
    assert violations > 0 and example is not None and len(example) == 6
    skewed = Structure("skewed", kind, np.array([[1, 1, 1], [0, 1, 0], [0, 1, 1]], bool))
    assert skewed.reversible()[1] > 0
    assert skewed.additive()[1] > 0 and skewed.additive()[2] is not None


@pytest.mark.parametrize("length", [5, 30])
def test_more_than_sixteen_rankings_are_refused(length: int) -> None:
    with pytest.raises(SettingsError, match="too many rankings"):
        rs.lab.difference_structure("AP", length)
    assert rs.lab.difference_structure("AP", 5, relevant=1)["axioms"].rows


def test_the_command_prints_the_tables(capsys: pytest.CaptureFixture[str]) -> None:
    from rankscope.cli.main import main

    assert main(["scales", "--axioms", "--length", "3", "-m", "AP RBP(p=0.5)"]) in (0, None)
    out = capsys.readouterr().out
    assert "iv (solvability)" in out and "counted steps" in out and "order of AP" in out
