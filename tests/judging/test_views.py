"""Views of judged lists, each against what is written down by hand: runs, aspects, every document, ideal rankings."""

from __future__ import annotations

import numpy as np
import pytest

from rankscope.errors import InputError
from rankscope.judging import UNJUDGED, Judged, Pool, judge
from rankscope.read import Qrels, Run, Runs

QRELS = {"1": {"a": 1, "b": 0, "c": 2, "d": -1}, "2": {"a": 2, "e": 1}}
RANKED = {
    "x": {"1": ["q", "c", "b", "a"], "2": ["e"]},
    "y": {"2": ["a", "q", "e"], "9": ["z"]},
    "z": {"1": ["a"], "2": ["q", "q2"]},
}


@pytest.fixture
def judged() -> Judged:
    runs = Runs(Run.from_dict(lists, name=name) for name, lists in RANKED.items())
    return judge(Qrels.from_dict(QRELS), runs)


def list_hits(judged: Judged) -> list[list[tuple[int, int]]]:
    """For each list its hits: rank and grade."""
    lists = judged.lists
    hits = lists.hits()
    return [
        [(int(r), int(g)) for o, r, g in zip(hits.list, hits.rank, hits.grade, strict=True) if o == number]
        for number in range(len(lists))
    ]


def test_selected_runs_keep_their_data_in_any_order(judged: Judged) -> None:
    pair = judged.with_runs([2, 0])
    assert pair.runs == ("z", "x")
    assert [pair.tags, judged.tags] == [(judged.tags[2], judged.tags[0]), judged.tags]
    assert pair.present.tolist() == [True, True, True, True]
    assert pair.length.tolist() == [1, 2, 4, 1]
    assert list_hits(pair) == [list_hits(judged)[n] for n in (4, 5, 0, 1)]
    assert pair.ignored_topics == {}
    assert judged.with_runs([1]).ignored_topics == {"y": ("9",)}
    assert judged.with_runs([1]).present.tolist() == [False, True]
    fewer = judged.with_grades(
        np.where(judged.qrels.grade == 2, UNJUDGED, judged.qrels.grade).astype(np.int32)
    )
    assert list_hits(fewer.with_runs([0])) == [[(3, 0), (4, 1)], [(1, 1)]]
    assert fewer.with_runs([0]).full is not None


def test_the_lists_of_some_runs(judged: Judged) -> None:
    subset = judged.with_runs([1, 2]).lists
    assert subset.topic.tolist() == [0, 1, 0, 1]
    assert subset.hits().count.tolist() == [0, 2, 1, 0]
    assert subset.hits().rank.tolist() == [1, 3, 1]
    assert subset.hits().ordinal.tolist() == [1, 2, 1]
    assert len(subset.hits()._bounds) == 5


def test_every_document_is_a_hit(judged: Judged) -> None:
    for cutoff in (None, 2):
        complete = judged.lists.documents(cutoff)
        position = 0
        for number, (name, topic) in enumerate((n, t) for n in RANKED for t in QRELS):
            for rank, document in enumerate(RANKED[name].get(topic, [])[:cutoff], 1):
                grade = QRELS[topic].get(document)
                assert (complete.list[position], complete.rank[position]) == (number, rank)
                assert complete.grade[position] == (UNJUDGED if grade is None else grade)
                assert (complete.judgment[position] == -1) == (grade is None)
                position += 1
        assert position == len(complete)


def test_lists_of_a_length_and_condensed_ones(judged: Judged) -> None:
    cut = judged.lists.with_length(3)
    assert cut.length.tolist() == [3] * 6
    assert cut.hits().rank.tolist() == [2, 3, 1, 1, 3, 1]
    condensed = judged.lists.condense()
    assert condensed.length.tolist() == [3, 1, 0, 2, 1, 0]
    assert condensed.hits().rank.tolist() == [1, 2, 3, 1, 1, 2, 1]
    assert judged.lists.condense() is condensed


def test_ordinals_among_documents_of_lower_grades(judged: Judged) -> None:
    """If judgments are removed, only the remaining ones are counted."""
    assert judged.lists.relevant(2).rank.tolist() == [2, 1]
    assert judged.lists.ordinal_among(2, 1).tolist() == [1, 1]
    assert judged.lists.ordinal_among(1, 0).tolist() == [1, 3, 1, 1, 2, 1]
    back = np.where(judged.qrels.grade == 0, UNJUDGED, judged.qrels.grade).astype(np.int32)
    fewer = judged.lists.with_pool_subset(judged.with_grades(back).pool)
    assert fewer.ordinal_among(1, 0).tolist() == [1, 2, 1, 1, 2, 1]


def test_the_ideal_list_of_each_topic() -> None:
    pool = Pool(np.array([0, 4, 4, 7]), np.array([0, 2, UNJUDGED, 2, -1, 1, 3], np.int32))
    ideal = pool.ideal
    assert ideal.length.tolist() == [3, 0, 3]
    assert ideal.topic.tolist() == [0, 1, 2]
    hits = ideal.hits()
    assert hits.list.tolist() == [0, 0, 0, 2, 2, 2]
    assert hits.rank.tolist() == [1, 2, 3, 1, 2, 3]
    assert hits.grade.tolist() == [2, 2, 0, 3, 1, -1]
    assert hits.judgment.tolist() == [1, 3, 0, 6, 5, 4]


ASPECTS = {"1": {"a": {"i": 1}, "b": {"i": 0, "ii": 2}, "c": {"ii": 1}}, "2": {"a": {"iii": 1}}}


def test_lists_seen_aspect_by_aspect() -> None:
    """A list once for each aspect: hits with the grades of the aspect, and documents of a pool of its own."""
    qrels = Qrels.from_dict(ASPECTS)
    runs = Runs(
        [
            Run.from_dict({"1": ["x", "b", "a", "c"], "2": ["a"]}, name="r"),
            Run.from_dict({"1": ["c"]}, name="s"),
        ]
    )
    lists = judge(qrels, runs).lists
    pairs = lists.by_aspect.lists
    assert len(pairs) == 8
    assert pairs.topic.tolist() == [0, 1, 0, 1, 2, 3, 2, 3]
    assert pairs.length.tolist() == [4, 1, 1, 0] * 2
    hits = pairs.relevant()
    assert hits.list.tolist() == [0, 1, 4, 4, 6]
    assert hits.rank.tolist() == [3, 1, 2, 4, 1]
    assert hits.grade.tolist() == [1, 1, 2, 1, 1]
    assert pairs.pool.grade[hits.judgment].tolist() == hits.grade.tolist()
    assert pairs.pool.topic[hits.judgment].tolist() == pairs.topic[hits.list].tolist()
    judged = pairs.hits()
    assert [
        (int(o), int(r), int(g)) for o, r, g in zip(judged.list, judged.rank, judged.grade, strict=True)
    ] == [
        (0, 2, 0),
        (0, 3, 1),
        (1, 1, 1),
        (4, 2, 2),
        (4, 4, 1),
        (6, 1, 1),
    ]
    assert pairs.recall_base().tolist() == [1, 1, 1, 1, 2, 0, 2, 0]
    weights = lists.pool.aspect_weights()
    assert weights.tolist() == [[0.5, 1.0], [0.5, 0.0]]
    by = lists.by_aspect
    assert by.sum_pairs(np.arange(8), weights).tolist() == [2.0, 1.0, 4.0, 3.0]
    undefined = np.array([0, 1, 2, 3, 4, np.nan, 6, np.nan])
    assert by.sum_pairs(undefined, weights).tolist() == [2.0, 1.0, 4.0, 3.0]
    assert by.sum_hits(hits, hits.rank, weights).tolist() == [4.5, 1.0, 0.5, 0.0]


def test_ordinals_of_some_hits_are_those_of_all() -> None:
    qrels = Qrels.from_dict({"1": {"a": 1, "b": 1, "c": 1}, "2": {"d": 1, "e": 1}})
    run = Run.from_dict({"1": ["x", "b", "a", "c"], "2": ["e", "d"]})
    hits = judge(qrels, run).lists.relevant(1)
    for subset in ([0], [1, 2], [0, 2, 4], [3], [0, 1, 2, 3, 4]):
        index = np.array(subset)
        assert hits.ordinals_at(index).tolist() == hits.ordinal[index].tolist()


def test_grades_of_unjudged_documents_are_zero_or_none() -> None:
    lists = judge(Qrels.from_dict({"q": {"a": 2}}), Run.from_dict({"q": ["x", "a", "y"]})).lists
    assert (lists.grades(), lists.grades(None)) == ([[0, 2, 0]], [[None, 2, None]])


def test_an_aspect_without_weight_may_be_undefined() -> None:
    qrels = Qrels.from_columns(
        [b"q", b"q"], [b"1", b"2"], [b"a", b"b"], np.array([1, 1], np.int32), aspects=True
    )
    by_aspect = judge(qrels, Run.from_dict({"q": ["a", "b"]})).lists.by_aspect
    assert by_aspect.sum_pairs(np.array([3.0, np.nan]), np.array([[0.5], [0.0]])).tolist() == [1.5]


def test_the_error_of_a_run_of_other_topics_names_its_first_topic() -> None:
    with pytest.raises(InputError, match="this run has 'other', they have 'q'"):
        judge(Qrels.from_dict({"q": {"a": 1}}), Run.from_dict({"other": ["a"], "third": ["a"]}))
