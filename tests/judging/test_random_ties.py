"""Views of lists with ties, each against plain Python on random collections."""

from __future__ import annotations

from itertools import groupby, pairwise
from typing import Any

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from rankscope.judging import UNJUDGED, Judged, judge
from rankscope.judging import tied as tied_module
from rankscope.judging.shares import tied_shares, unjudged_shares
from rankscope.judging.tied import TiedLists, bisect_ranges
from rankscope.read import Qrels, Run, Runs
from rankscope.read.ids import to_text

documents = st.sampled_from([f"d{i}" for i in range(9)])
judgments = st.dictionaries(
    st.sampled_from(["1", "2", "3"]), st.dictionaries(documents, st.integers(-1, 2), min_size=1), min_size=1
)
lists = st.dictionaries(
    st.sampled_from(["1", "2", "3", "4"]), st.dictionaries(documents, st.integers(1, 3)), min_size=1
)
collections = st.tuples(judgments, st.lists(lists, min_size=1, max_size=3), st.sets(documents, max_size=4))
"""Judgments, runs, and the documents whose judgments were removed."""

Group = list[tuple[int, int | None]]
"""The documents of a group: rank, and grade or None."""


def written_out(
    qrels: dict[str, dict[str, int]], runs: list[dict[str, dict[str, int]]], back: set[str]
) -> list[list[Group]]:
    """Return the groups of tied documents of every list, by run and topic."""
    result = []
    for run in runs:
        for topic in sorted(qrels):
            left = {document: grade for document, grade in qrels[topic].items() if document not in back}
            ranked = sorted(run.get(topic, {}).items(), key=lambda item: (item[1], item[0]), reverse=True)
            placed = [(rank, left.get(d), score) for rank, (d, score) in enumerate(ranked, 1)]
            groups = groupby(placed, key=lambda item: item[2])
            result.append([[(rank, grade) for rank, grade, _ in group] for _, group in groups])
    return result


def build_judged(
    qrels: dict[str, dict[str, int]], runs: list[dict[str, dict[str, int]]], back: set[str]
) -> Judged:
    named = Runs(
        Run.from_dict({t: {d: float(s) for d, s in item.items()} for t, item in run.items()}, name=f"r{n}")
        for n, run in enumerate(runs)
    )
    judged = judge(Qrels.from_dict(qrels), named, allow_disjoint=True, ties=True)
    taken = np.isin([to_text(document) for document in judged.qrels.documents], sorted(back))
    return judged.with_grades(np.where(taken, UNJUDGED, judged.qrels.grade).astype(np.int32))


def all_lists(judged: Judged) -> TiedLists:
    return TiedLists.from_judged(judged, np.arange(len(judged.length)))


def first_rank(group: Group) -> int:
    return group[0][0]


@given(collections, st.integers(1, 2))
def test_tied_hits(collection: Any, rel: int) -> None:
    expected = []
    before = 0
    starts, counts = [], []
    for number, groups in enumerate(written_out(*collection)):
        relevant = [(r, g) for group in groups for r, g in group if g is not None and g >= rel]
        for group in groups:
            own = [(r, g) for r, g in group if g is not None and g >= rel]
            if (
                len(group) > 1
                and own
                and len({g for _, g in own} | ({0} if len(own) < len(group) else set())) > 1
            ):
                starts.append(len(expected))
                counts.append(len(own))
                for rank, grade in own:
                    folder = relevant.index((rank, grade))
                    expected.append(
                        (number, rank, grade, before + folder, folder + 1, first_rank(group), len(group))
                    )
        before += len(relevant)
    tied = all_lists(build_judged(*collection)).tied(rel)
    columns = (tied.list, tied.rank, tied.grade, tied.among, tied.ordinal, tied.first, tied.size)
    assert list(zip(*(column.tolist() for column in columns), strict=True)) == expected
    assert (tied.start.tolist(), tied.n_hits.tolist()) == (starts, counts)


@given(collections, st.booleans())
def test_groups_of_a_kind(collection: Any, by_grade: bool) -> None:
    tied = all_lists(build_judged(*collection))
    grade = tied.grade()
    expected = []
    for number, groups in enumerate(written_out(*collection)):
        n_before = 0
        for group in groups:
            kinds = sorted({g for _, g in group if g is not None and g >= 0})
            for kind in [[k] for k in kinds] if by_grade else [kinds] if kinds else []:
                n_hits = sum(g in kind for _, g in group)
                expected.append((number, first_rank(group), len(group), n_hits, n_before))
                n_before += n_hits
    result = tied.groups(grade >= 0, grade if by_grade else None)
    columns = (result.list, result.first, result.size, result.n_hits, result.before)
    assert list(zip(*(column.tolist() for column in columns), strict=True)) == expected
    assert np.bincount(result.owner, minlength=len(expected)).tolist() == [
        n_hits for *_, n_hits, _ in expected
    ]
    assert sorted(result.member.tolist()) == np.flatnonzero(grade >= 0).tolist()
    group, folder = result.ranks()
    assert list(zip(group.tolist(), folder.tolist(), strict=True)) == [
        (g, p) for g, (_, _, size, _, _) in enumerate(expected) for p in range(1, size + 1)
    ]


@given(collections, st.booleans())
def test_the_best_documents_of_each_group_first_or_last(collection: Any, best_first: bool) -> None:
    result = all_lists(build_judged(*collection)).sorted_groups(best_first)
    expected = []
    for groups in written_out(*collection):
        grades = [
            sorted((UNJUDGED if g is None else g for _, g in group), reverse=best_first) for group in groups
        ]
        expected.append([None if g == UNJUDGED else g for group in grades for g in group])
    assert result.grades(None) == expected


@given(collections)
@example(
    ({"1": {"d0": 1, "d1": 2}}, [{"1": {"d0": 1, "d1": 1, "d2": 1}}], {"d0", "d1"})
)  # none is judged any more
def test_which_lists_the_order_of_ties_can_change(collection: Any) -> None:
    judged = build_judged(*collection)
    expected = [
        any(len({g for _, g in group}) > 1 for group in groups) for groups in written_out(*collection)
    ]
    assert all_lists(judged).has_unequal_ties().tolist() == expected


@given(collections, st.integers(1, 9))
def test_relevant_hits_of_groups_that_begin_early(collection: Any, last: int) -> None:
    tied = all_lists(build_judged(*collection))
    where = np.arange(0, len(tied), 2)
    result = tied.relevant_lists(where, np.full(len(tied), last))
    written = written_out(*collection)
    expected = [
        [
            r
            for group in written[number]
            if first_rank(group) <= last
            for r, g in group
            if g is not None and g >= 1
        ]
        for number in where.tolist()
    ]
    starts = result.offsets.tolist()
    ranks = result.rank.tolist()
    assert [ranks[low:high] for low, high in pairwise(starts)] == expected
    assert result.length.tolist() == [sum(map(len, written[number])) for number in where.tolist()]


@given(collections, st.integers(1, 5))
def test_blocks_of_any_size_hold_all_lists(collection: Any, size: int) -> None:
    judged = build_judged(*collection)
    usual, tied_module._BLOCK_HITS = tied_module._BLOCK_HITS, size
    try:
        parts = list(TiedLists.blocks(judged)) if judged.present.any() else []
    finally:
        tied_module._BLOCK_HITS = usual
    assert [int(n) for where, _ in parts for n in where] == np.flatnonzero(judged.present).tolist()
    for where, part in parts:
        alone = TiedLists.from_judged(judged, where)
        assert part.grades(None) == alone.grades(None)
        assert part.topic.tolist() == alone.topic.tolist()
        assert [column.tolist() for column in part.ties] == [column.tolist() for column in alone.ties]


@given(collections)
def test_condensed_lists_keep_their_ties(collection: Any) -> None:
    condensed = build_judged(*collection).condense()
    expected = []
    for groups in written_out(*collection):
        at = 1
        for group in groups:
            n_judged = sum(g is not None and g >= 0 for _, g in group)
            expected += [(at, n_judged)] * n_judged
            at += n_judged
    assert condensed.ties is not None
    assert list(zip(condensed.ties.first.tolist(), condensed.ties.size.tolist(), strict=True)) == expected


@given(collections, st.integers(1, 4))
def test_shares_of_runs(collection: Any, depth: int) -> None:
    judged = build_judged(*collection)
    written = written_out(*collection)
    width = len(judged.topics)
    for number, (tied, unjudged) in enumerate(
        zip(tied_shares(judged), unjudged_shares(judged, depth), strict=True)
    ):
        own = written[number * width : (number + 1) * width]
        shared = [len(group) > 1 for groups in own for group in groups for _ in group]
        assert tied == sum(shared) / max(1, len(shared))
        early = [g is None for groups in own for group in groups for r, g in group if r <= depth]
        assert np.isclose(unjudged, sum(early) / max(1, len(early)), atol=1e-15)


@given(
    st.lists(st.tuples(st.lists(st.integers(0, 9), max_size=7).map(sorted), st.integers(0, 10)), max_size=5)
)
def test_ranges_are_bisected_like_plain_counting(ranges: list[tuple[list[int], int]]) -> None:
    values = np.array([*(value for subset, _ in ranges for value in subset), 0])
    sizes = np.array([len(subset) for subset, _ in ranges], np.int64)
    high = np.cumsum(sizes)
    requested = np.array([w for _, w in ranges], np.int64)
    expected = [
        int(start) + sum(value < w for value in subset)
        for start, (subset, w) in zip(high - sizes, ranges, strict=True)
    ]
    assert bisect_ranges(values, high - sizes, high, requested).tolist() == expected
