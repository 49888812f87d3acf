"""Documents with grades for aspects, and with several aspects, against a case analysis written out in plain Python."""

from __future__ import annotations

from itertools import product

import pytest

import rankscope as rs
from rankscope.judging import judge
from rankscope.lab.rankings.tree import Tree
from rankscope.lab.rankings.worlds import aspect_world, graded_world, split_word
from rankscope.measures import measure
from rankscope.read import Qrels, Run

JUDGED = 3


def label_kinds(aspects, grades, several):
    """{letter: {aspect: grade}} by another way: every vector of grades, with as many aspects as are allowed."""
    result = {}
    for vector in product(range(grades + 1), repeat=aspects):
        named = {"abc"[a]: g for a, g in enumerate(vector) if g}
        if len(named) <= (aspects if several else 1):
            text = "".join(a.upper() if g == 2 else a for a, g in named.items())
            result[text if len(text) == 1 else f"({text})" if text else "x"] = named
    return result


def evaluate_all(name, kinds, depth):
    """Return the score of every ranking, each evaluated as a run."""
    documents = {f"{label}{k}": kind for label, kind in kinds.items() for k in range(JUDGED)}
    aspects = sorted({a for kind in kinds.values() for a in kind})
    qrels = Qrels.from_dict({"q": {d: {a: kind.get(a, 0) for a in aspects} for d, kind in documents.items()}})
    words = [word for n in range(depth + 1) for word in product(kinds, repeat=n)]
    runs = [
        Run.from_dict({"q": [f"{label}{word[:i].count(label)}" for i, label in enumerate(word)]}, str(n))
        for n, word in enumerate(words)
    ]
    values = measure(name).evaluate(judge(qrels, rs.Runs(runs)).lists)
    return dict(zip(words, values.tolist(), strict=True))


def related(kinds, words):
    """(property, low, high): the three properties, word for word."""
    for word in words:
        if not word[:-1]:
            continue
        stem, last = word[:-1], word[-1]
        if kinds[last]:
            yield "relevance monotonicity", stem, word
        else:
            yield "irrelevance monotonicity", word, stem
        covered = {a for label in stem for a in kinds[label]}
        for other in kinds:
            old, new = kinds[last], kinds[other]
            gone = {a: g for a, g in old.items() if a not in new}
            come = {a: g for a, g in new.items() if a not in old}
            kept = all(old[a] == new[a] for a in old if a in new)
            alike = kept and gone and sorted(gone.values()) == sorted(come.values())
            if alike and gone.keys() <= covered and not come.keys() & covered:
                yield "redundancy", word, (*stem, other)


WORLDS = [
    ({"aspects": 2, "grades": 2}, 3),
    ({"aspects": 2, "multi_aspect": True}, 3),
    ({"aspects": 3, "multi_aspect": True}, 2),
    ({"aspects": 2, "grades": 2, "multi_aspect": True}, 2),
]


@pytest.mark.parametrize("name", ["AP_IA", "ERR_IA", "RBU", "alpha_nDCG", "DS@2"])
@pytest.mark.parametrize("world, depth", WORLDS)
def test_counts_are_those_of_plain_python(name, world, depth):
    result = rs.lab.properties(
        name, **world, depth=depth, relevant=JUDGED, nonrelevant=JUDGED,
        properties=["relevance monotonicity", "irrelevance monotonicity", "redundancy"],
    )  # fmt: skip
    kinds = label_kinds(world["aspects"], world.get("grades", 1), world.get("multi_aspect", False))
    scores = evaluate_all(name, kinds, depth)
    counts = {one.relation.name: [0, 0] for one in result.verdicts}
    for property, low, high in related(kinds, scores):
        counts[property][0] += 1
        counts[property][1] += scores[low] > scores[high] + 1e-9
    assert {f.relation.name: [f.cases, f.violations] for f in result.verdicts} == counts


def test_letters():
    assert aspect_world(2, relevant=1, nonrelevant=1, multi_aspect=True).labels == ("a", "b", "(ab)", "x")
    assert aspect_world(1, relevant=1, nonrelevant=1, grades=3).labels == ("(a1)", "(a2)", "(a3)", "x")
    assert split_word("(aB)x-") == ["(aB)", "x"]
    tree = Tree(aspect_world(2, relevant=1, nonrelevant=1, multi_aspect=True), 2)
    assert [tree.find_node("" if word == "-" else word) for word in tree.words()] == list(range(21))
    assert tree.find_node("(ba)") is None


def test_better_documents_are_so_for_every_aspect():
    world = aspect_world(2, relevant=1, nonrelevant=1, grades=2, multi_aspect=True)
    names = {(world.labels[low], world.labels[high]) for low, high in world.better_pairs}
    assert ("a", "(aB)") in names and ("x", "a") in names and ("(Ab)", "(AB)") in names
    assert ("A", "(ab)") not in names and ("a", "b") not in names and ("a", "a") not in names
    graded = graded_world(2, relevant=1, nonrelevant=1)
    assert graded.better_pairs == [(0, 1), (0, 2), (1, 2)]


def test_swap_and_replacement_handle_several_aspects():
    result = rs.lab.properties(
        "ERR_IA StRec@3 AP_IA", aspects=2, multi_aspect=True, depth=3, properties=["swap", "replacement"]
    )
    assert {f.violations for f in result.verdicts} == {0}
    assert all(f.cases for f in result.verdicts)


def test_verdicts_can_be_quoted():
    result = rs.lab.properties("ACT RR", depth=4, relevant=10)
    verdicts = {(r["measure"], r["property"]): r for r in result["verdicts"].records()}
    act = verdicts["ACT", "irrelevance monotonicity"]
    assert act["holds"] is False
    assert act["sentence"] == (
        "ACT violates irrelevance monotonicity (appending a non-relevant document does not raise the score) in 30 of "
        "39 cases (76.9%) among all rankings of up to 4 documents over a, b, x (10 judged of each relevant kind); the "
        "shortest is ACT(abx) = 0.0833 > ACT(ab) = 0.0750: appending a non-relevant document raised the score."
    )
    assert verdicts["RR", "induced"]["sentence"].startswith(
        "RR satisfies the induced order (everything that follows"
    )
    short = rs.lab.properties("RR", depth=1, properties=["redundancy"])["verdicts"].records()[0]
    assert short["holds"] is None
    assert short["sentence"].startswith("RR was not tested for redundancy")


def test_figure_of_documents_with_several_aspects():
    pytest.importorskip("matplotlib")
    figure = rs.lab.properties("AP_IA", aspects=2, multi_aspect=True, depth=3).plot()
    assert {"(ab)x", "(ab)(ab)", "a(ab)"} <= {word for row in figure.table.rows for word in row[1:3]}
