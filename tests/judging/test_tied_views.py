"""Groups of tied documents, condensed lists and shares of runs, against lists written down by hand."""

from __future__ import annotations

import numpy as np
import pytest

from rankscope.judging import Judged, judge
from rankscope.judging.shares import tied_shares, unjudged_shares
from rankscope.judging.tied import TiedLists
from rankscope.read import Qrels, Run, Runs

QRELS = {"1": {"a": 1, "b": 0, "c": 2, "d": -1}, "2": {"a": 2, "e": 1, "f": 1}}
SCORED = {
    # topic 1: x | a b q c | d; topic 2: e f
    "r": {"1": {"x": 9, "a": 5, "b": 5, "q": 5, "c": 5, "d": 1}, "2": {"e": 3, "f": 3}},
    "s": {"1": {"c": 7, "a": 6}, "2": {"a": 4, "z": 4, "e": 2}},
    "t": {"2": {"y": 5, "z": 5, "e": 4, "a": 4}},
}


@pytest.fixture
def judged() -> Judged:
    runs = Runs(Run.from_dict(lists, name=name) for name, lists in SCORED.items())
    return judge(Qrels.from_dict(QRELS), runs, ties=True)


def list_hits(lists: object) -> list[list[tuple[int, int]]]:
    """For each list its hits: rank and grade."""
    hits = lists.hits()  # type: ignore[attr-defined]
    rows: list[list[tuple[int, int]]] = [[] for _ in range(len(lists))]  # type: ignore[arg-type]
    for owner, rank, grade in zip(hits.list.tolist(), hits.rank.tolist(), hits.grade.tolist(), strict=True):
        rows[owner].append((rank, grade))
    return [sorted(row) for row in rows]


def test_groups_have_their_best_documents_first_or_last(judged: Judged) -> None:
    tied = TiedLists.from_judged(judged, np.arange(6))
    assert tied.topic.tolist() == [0, 1, 0, 1, 0, 1]
    assert tied.length.tolist() == [6, 2, 2, 3, 0, 4]
    assert list_hits(tied.sorted_groups(best_first=True)) == [
        [(2, 2), (3, 1), (4, 0), (6, -1)],
        [(1, 1), (2, 1)],
        [(1, 2), (2, 1)],
        [(1, 2), (3, 1)],
        [],
        [(3, 2), (4, 1)],
    ]
    assert list_hits(tied.sorted_groups(best_first=False)) == [
        [(3, 0), (4, 1), (5, 2), (6, -1)],  # unjudged documents are the worst
        [(1, 1), (2, 1)],
        [(1, 2), (2, 1)],
        [(2, 2), (3, 1)],
        [],
        [(3, 1), (4, 2)],
    ]


def test_some_lists_in_another_order(judged: Judged) -> None:
    tied = TiedLists.from_judged(judged, np.array([5, 3]))
    assert (tied.topic.tolist(), tied.length.tolist()) == ([1, 1], [4, 3])
    assert list_hits(tied.sorted_groups(best_first=True)) == [[(3, 2), (4, 1)], [(1, 2), (3, 1)]]


def test_which_lists_depend_on_how_ties_are_broken(judged: Judged) -> None:
    """Only documents of equal grade may be exchanged; not different grades, and no unjudged document."""
    assert TiedLists.from_judged(judged, np.arange(6)).has_unequal_ties().tolist() == [
        True,
        False,
        False,
        True,
        False,
        True,
    ]


def test_documents_of_the_lowest_grade_are_alike_too() -> None:
    run = Run.from_dict({"1": {"a": 1, "b": 1}, "2": {"a": 1, "b": 1}})
    qrels = Qrels.from_dict({"1": {"a": 0, "b": 0}, "2": {"a": 0, "b": 1}})
    assert TiedLists.from_judged(judge(qrels, run, ties=True), np.arange(2)).has_unequal_ties().tolist() == [
        False,
        True,
    ]


def test_documents_are_alike_only_under_every_aspect() -> None:
    qrels = {"1": {"a": {"i": 1}, "b": {"ii": 1}, "c": {"i": 1}}}
    runs = Runs(
        [
            Run.from_dict({"1": {"a": 1, "b": 1}}, name="differ"),
            Run.from_dict({"1": {"a": 1, "c": 1}}, name="alike"),
        ]
    )
    tied = TiedLists.from_judged(judge(Qrels.from_dict(qrels), runs, ties=True), np.arange(2))
    assert tied.has_unequal_ties().tolist() == [True, False]


def test_groups_of_hits_of_a_kind(judged: Judged) -> None:
    tied = TiedLists.from_judged(judged, np.arange(6))
    groups = tied.groups(tied.grade() >= 1)
    assert groups.list.tolist() == [0, 1, 2, 2, 3, 3, 5]
    assert groups.first.tolist() == [2, 1, 1, 2, 1, 3, 3]
    assert groups.size.tolist() == [4, 2, 1, 1, 2, 1, 2]
    assert groups.n_hits.tolist() == [2, 2, 1, 1, 1, 1, 2]
    assert groups.before.tolist() == [0, 0, 0, 1, 0, 1, 0]
    apart = tied.groups(tied.grade() >= 1, tied.grade())
    assert apart.list.tolist() == [0, 0, 1, 2, 2, 3, 3, 5, 5]
    assert apart.n_hits.tolist() == [1, 1, 2, 1, 1, 1, 1, 1, 1]


def test_condensed_lists_have_neither_unjudged_nor_pooled_documents(judged: Judged) -> None:
    condensed = judged.condense()
    assert condensed.length.tolist() == [3, 2, 2, 2, 0, 2]
    assert condensed.ties is not None
    tied = TiedLists.from_judged(condensed, np.arange(6))
    assert list_hits(tied.sorted_groups(best_first=True)) == [
        [(1, 2), (2, 1), (3, 0)],
        [(1, 1), (2, 1)],
        [(1, 2), (2, 1)],
        [(1, 2), (2, 1)],
        [],
        [(1, 2), (2, 1)],
    ]
    assert condensed.ties.first.tolist() == [1, 1, 1, 1, 1, 1, 2, 1, 2, 1, 1]
    assert condensed.ties.size.tolist() == [3, 3, 3, 2, 2, 1, 1, 1, 1, 2, 2]


def test_shares_of_runs(judged: Judged) -> None:
    assert unjudged_shares(judged).tolist() == pytest.approx([2 / 8, 1 / 5, 2 / 4])
    assert unjudged_shares(judged, 2).tolist() == pytest.approx([2 / 4, 1 / 4, 2 / 2])
    assert tied_shares(judged).tolist() == pytest.approx([6 / 8, 2 / 5, 4 / 4])


def test_the_share_of_unjudged_documents_covers_ten_ranks() -> None:
    ranked = [f"d{n}" for n in range(12)]
    for judged, share in ((ranked[:10], 0.0), (ranked[:9], 0.1), (ranked[1:], 0.1)):
        qrels = Qrels.from_dict({"q": dict.fromkeys(judged, 1)})
        assert unjudged_shares(judge(qrels, Run.from_dict({"q": ranked}))).round(9).tolist() == [share]
