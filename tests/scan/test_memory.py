"""Lists in memory give the hits of the same lists in a file."""

from __future__ import annotations

import re
import sys
from concurrent.futures import ThreadPoolExecutor
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankscope.errors import InputError
from rankscope.native import memory
from rankscope.read import Qrels, Run
from rankscope.read.ids import id_text
from rankscope.read.orders import ORDERS
from rankscope.scan import RunHits, scan_run
from rankscope.scan.memory import match_lists, match_plain, match_run

needs_extension = pytest.mark.skipif(memory._memory is None, reason="the extension module was not built")

QRELS = Qrels.from_dict({"1": {"a": 1, "b": 0, "é": 2}, "2": {"a": 1}})
scores = st.sampled_from([1.0, 1.0 + 1e-9, 2.0, -0.0, 0.0, 3e38, 1e39, -1e-46, 0.1])
lists = st.dictionaries(st.sampled_from(["a", "b", "c", "é", "z"]), scores, min_size=1)


def in_a_file(run: dict[str, dict[str, float]], order: str) -> RunHits:
    lines = [f"{t} Q0 {d} {i} {s!r} t" for t, one in run.items() for i, (d, s) in enumerate(one.items(), 1)]
    return scan_run(Run("t", order, source="\n".join(lines).encode()), QRELS, ties=True)


@given(st.dictionaries(st.sampled_from(["1", "2", "3"]), lists, min_size=1), st.sampled_from(ORDERS))
def test_dicts_are_scanned_like_files(run: dict[str, dict[str, float]], order: str) -> None:
    in_memory = scan_run(Run.from_dict(run, order=order), QRELS, ties=True)
    from_file = in_a_file(run, order)
    for name in ("topic", "length", "offsets", "rank", "judgment", "tied", "ignored_topics"):
        assert list(getattr(in_memory, name)) == list(getattr(from_file, name)), name
    assert in_memory.ties is not None
    assert from_file.ties is not None
    assert in_memory.ties.first.tolist() == from_file.ties.first.tolist()
    assert in_memory.ties.size.tolist() == from_file.ties.size.tolist()


def test_ties_of_32_bits_are_counted_for_dicts() -> None:
    run = {"1": {"a": 1.0, "b": 1.0 + 1e-9}}
    assert scan_run(Run.from_dict(run, order="trec_eval9"), QRELS).tied.tolist() == [2]
    assert scan_run(Run.from_dict(run, order="trec_eval"), QRELS).tied.tolist() == [0]


FIELDS = ("topic", "length", "offsets", "rank", "judgment", "tied", "ignored_topics", "tag")


def as_lists(hits: RunHits | None) -> dict[str, Any]:
    assert hits is not None
    ties = () if hits.ties is None else (hits.ties.first.tolist(), hits.ties.size.tolist())
    return {**{name: list(getattr(hits, name)) for name in FIELDS}, "ties": ties}


class Text(str):
    """A text whose hash and comparison run Python code."""

    def __hash__(self) -> int:
        return hash(str(self))

    def __eq__(self, other: object) -> bool:
        return str(self) == other


ids = st.sampled_from(["a", "b", "c", "é", "z", "10", 10, 11.0, b"a", Text("q"), "\udce9", "\ud800"])
numbers = st.one_of(
    scores,
    st.integers(-3, 3),
    st.booleans(),
    scores.map(np.float64),
    st.sampled_from([0.1, 2.0]).map(np.float32),
)
rankings = st.one_of(
    st.dictionaries(ids, numbers),
    st.lists(ids, unique_by=lambda value: id_text(value, "document")),
    st.dictionaries(ids, numbers).map(MappingProxyType),
)


@given(st.dictionaries(ids, rankings), st.sampled_from(ORDERS), st.booleans())
def test_the_extension_finds_the_hits_that_python_finds(run: dict[Any, Any], order: str, ties: bool) -> None:
    """Check ids and scores of any type, valid or invalid."""
    qrels = Qrels.from_dict({"a": {"a": 1, "é": 0, "10": 2, "\udce9": 1}, "10": {"z": 1, "b": 1, "11": 0}})
    read = Run.from_dict(run, "r", order)
    try:
        expected = as_lists(match_lists(read.memory or {}, qrels, order, "r", ties))
    except InputError as error:
        with pytest.raises(InputError, match=re.escape(str(error))):
            match_run(read, qrels, ties)
    else:
        assert as_lists(match_run(read, qrels, ties)) == expected


@needs_extension
@given(
    st.dictionaries(st.sampled_from(["1", "2", "10"]), lists, min_size=1),
    st.sampled_from(ORDERS),
    st.booleans(),
)
def test_plain_dicts_are_read_by_the_extension(run: dict[str, Any], order: str, ties: bool) -> None:
    expected = as_lists(match_lists(Run.from_dict(run).memory or {}, QRELS, order, "r", ties))
    assert as_lists(match_plain(run, QRELS, order, "r", ties)) == expected


grades = st.one_of(
    st.integers(-2, 3), st.sampled_from([2**31 - 2, 2**31 - 1, -(2**31), 2**40, 1.0, True, None])
)


@given(st.dictionaries(ids, st.dictionaries(ids, grades, max_size=5), max_size=4))
def test_the_extension_indexes_the_judgments_that_python_indexes(judgments: dict[Any, Any]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RANKSCOPE_SCANNER", "python")
        expected = outcome(judgments)
    assert outcome(judgments) == expected


def outcome(judgments: dict[Any, Any]) -> object:
    try:
        qrels = Qrels.from_dict(judgments)
    except InputError as error:
        return str(error)
    return qrels.topics, list(qrels.documents), qrels.grade.tolist(), qrels.topic_offsets.tolist()


@needs_extension
@pytest.mark.parametrize("length", [1, 47, 48, 49, 300])
def test_lists_of_any_length_are_sorted(length: int) -> None:
    rng = np.random.default_rng(length)
    run = {"1": {f"d{i}": float(rng.integers(-20, 20)) for i in range(length)}}
    qrels = Qrels.from_dict({"1": {f"d{i}": 1 for i in range(0, length, 3)}})
    for order in ORDERS:
        expected = as_lists(match_lists(Run.from_dict(run).memory or {}, qrels, order, "r", True))
        assert as_lists(match_plain(run, qrels, order, "r", True)) == expected


@needs_extension
def test_no_reference_is_kept_or_lost() -> None:
    document, topic, score, grade = "".join(["d", "1"]), "".join(["q", "1"]), float("0.5"), int("1000")
    run, judgments = {topic: {document: score, "x": 0.25}}, {topic: {document: grade}}
    count = [sys.getrefcount(thing) for thing in (document, topic, score, grade)]
    for _ in range(100):
        qrels = Qrels.from_dict(judgments)
        match_plain(run, qrels, "trec_eval", "r", True)
        match_plain({topic: {document: object()}}, qrels, "trec_eval", "r")
        Qrels.from_plain({topic: {document: 1.5}})
    del qrels
    assert [sys.getrefcount(thing) for thing in (document, topic, score, grade)] == count


@needs_extension
def test_threads_share_judgments() -> None:
    run = {str(t): {f"d{i}": float(i % 7) for i in range(50)} for t in range(20)}
    qrels = Qrels.from_dict({str(t): {f"d{i}": 1 for i in range(0, 50, 4)} for t in range(20)})
    with ThreadPoolExecutor(4) as pool:
        results = [
            as_lists(hits) for hits in pool.map(lambda _: match_run(Run.from_dict(run), qrels), range(40))
        ]
    assert all(result == results[0] for result in results)


@pytest.mark.parametrize("order", ["rank", "file"])
def test_orders_without_scores_have_no_ties(order: str) -> None:
    found = scan_run(Run.from_dict({"1": {"a": 1.0, "b": 1.0}}, order=order), QRELS, ties=True)
    assert found.ties is not None
    assert found.ties.first.tolist() == found.rank.tolist()
    assert found.ties.size.tolist() == [1, 1]
