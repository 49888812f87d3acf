"""Lists in memory give the hits of the same lists in a file."""

from __future__ import annotations

import gc
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankscope.errors import InputError
from rankscope.native import memory
from rankscope.read import Qrels, Run
from rankscope.read.columns import TextColumn
from rankscope.read.ids import id_text, to_bytes
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
    count = [sys.getrefcount(value) for value in (document, topic, score, grade)]
    for _ in range(100):
        qrels = Qrels.from_dict(judgments)
        match_plain(run, qrels, "trec_eval", "r", True)
        match_plain({topic: {document: object()}}, qrels, "trec_eval", "r")
        Qrels.from_plain({topic: {document: 1.5}})
    del qrels
    assert [sys.getrefcount(value) for value in (document, topic, score, grade)] == count


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
    result = scan_run(Run.from_dict({"1": {"a": 1.0, "b": 1.0}}, order=order), QRELS, ties=True)
    assert result.ties is not None
    assert result.ties.first.tolist() == result.rank.tolist()
    assert result.ties.size.tolist() == [1, 1]


class Surprising(str):
    """A text whose hash or comparison fails, or changes the dict that is being read."""

    action: Any = staticmethod(lambda: None)

    def __hash__(self) -> int:
        self.action()
        return super().__hash__()

    def __eq__(self, other: object) -> bool:
        self.action()
        return super().__eq__(other)


class Odd(float):
    """A number whose conversion runs Python code."""

    action: Any = staticmethod(lambda: None)

    def __float__(self) -> float:
        self.action()
        return 7.0


def fail() -> None:
    raise RuntimeError("no hash")


@pytest.mark.parametrize("kind", ["document", "topic", "score"])
@pytest.mark.parametrize("action", ["nothing", "failure", "growth", "clearing"])
@pytest.mark.parametrize("order", ["trec_eval", "file"])
def test_objects_that_run_code_while_they_are_read_have_the_result_of_python(
    kind: str, action: str, order: str
) -> None:
    """Check exceptions and mutation in ``__hash__``, ``__eq__`` and ``__float__``; nothing may crash."""
    outcomes = []
    for scanner in ("native", "python"):
        document, topic, score = Surprising("a"), Surprising("1"), Odd(0.5)
        ranking: dict[Any, Any] = {"b": 0.75, (document if kind == "document" else "a"): score, "c": 0.25}
        if kind != "score":
            ranking["a"] = 0.5
        run: dict[Any, Any] = {(topic if kind == "topic" else "1"): ranking, "2": {"a": 1.0}}
        odd = {"document": document, "topic": topic, "score": score}[kind]
        odd.action = {
            "nothing": lambda: None,
            "failure": fail,
            "growth": lambda ranking=ranking: ranking.setdefault("more", 1.0),
            "clearing": ranking.clear,
        }[action]
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("RANKSCOPE_SCANNER", scanner)
            try:
                outcomes.append(as_lists(scan_run(Run.from_dict(run, "r", order), QRELS, ties=True)))
            except (InputError, RuntimeError) as error:
                outcomes.append({type(error).__name__: str(error)})
    assert outcomes[0] == outcomes[1]


@needs_extension
def test_judgments_of_unusual_or_empty_topics_are_read_in_python_or_left_out() -> None:
    assert Qrels.from_plain({Text("1"): {"a": 1}}) is Qrels.from_plain({1: {"a": 1}}) is None
    assert Qrels.from_plain({"1": {}}) is Qrels.from_plain({"1": []}) is None
    kept = Qrels.from_plain({"2": {"a": 1}, "10": {}, "1": {"b": 0}})
    assert kept is not None and kept.topics == ("1", "2") and kept.topic_offsets.tolist() == [0, 1, 2]


@needs_extension
def test_thousands_of_calls_keep_no_memory() -> None:
    """Count references of every object and all blocks of memory, for results, refusals and errors."""
    documents = ["".join(["doc", str(i)]) for i in range(30)]
    run: dict[str, Any] = {"1": dict.fromkeys(documents, 0.5), "2": documents[::3], "x": {"a": 1.0}}
    judgments = {"1": dict.fromkeys(documents[::2], 3000), "2": {"a": 1}}
    refused: list[Any] = [
        {"1": {documents[0]: object()}},
        {1: {}},
        {"1": [documents[0]] * 2},
        {"1": ()},
        {"1": {"a": 2j}},
    ]
    module = memory._memory
    scores, offsets, rows = np.array([0.1, 0.3, 0.3]), np.array([0, 3]), np.array([0, -1], np.int32)

    def work() -> None:
        qrels = Qrels.from_dict(judgments)
        index, names = qrels.memory_index(), qrels.topic_index
        assert match_plain(run, qrels, "trec_eval", "r", True) is not None
        assert index.ids()
        for wrong in refused:
            assert module.match(wrong, names, index, True, False, False, True) is None
        for arguments in ((run, {"1": 9}, index), (run, {"1": "no"}, index), (run, names, None)):
            with pytest.raises((TypeError, IndexError)):
                module.match(*arguments, True, False, False, True)
        assert module.index_judgments(["1"], [{documents[0]: 1, documents[1]: 0.5}]) is None
        assert module.join_texts([*documents, 1]) is None
        assert len(module.join_texts(documents)) == 2
        module.sort_groups(scores, offsets, True)
        with pytest.raises(ValueError, match="offsets"):
            module.sort_groups(scores, offsets[:1], True)
        module.as_dicts(run, names, rows, documents[:2], np.zeros((2, len(rows))))
        with pytest.raises(IndexError):
            module.as_dicts(run, names, rows, documents[:2], np.zeros((2, 1 + len(rows))))
        kernels = [(4, 1, 9, np.ones(3).tobytes(), np.ones(2).tobytes(), np.ones(1).tobytes())]
        zero, two = np.zeros(1, np.int64), np.array([0, 2])
        rank, judgment, grade = (np.array(numbers, np.int32) for numbers in ([1, 2], [0, 1], [2, 1]))
        assert len(module.evaluate_hits(zero, two, rank, judgment, grade, kernels)) == 8
        assert module.evaluate_hits(zero, two, rank + 5, judgment, grade, kernels) == 7
        for arguments in (
            (zero, two, rank - 1, judgment, grade),
            (zero, two, rank, judgment + 1, grade),
            (zero, two, rank, judgment, grade + 1),
            (zero, two + 1, rank, judgment, grade),
            (zero, zero, rank, judgment, grade),
            (zero - 1, two, rank, judgment, grade),
        ):
            with pytest.raises(ValueError, match="lists"):
                module.evaluate_hits(*arguments, kernels)
        with pytest.raises(TypeError):
            module.evaluate_hits(zero, two, rank, judgment, grade, [1])
        with pytest.raises(ValueError, match="lists"):  # a cap and a scale per topic
            module.evaluate_hits(zero, two, rank, judgment, grade, [(6, 1, 9, b"", b"", bytes(8))])
        assert len(module.sum_ideals(two, grade, kernels[0])) == 8
        assert module.sum_ideals(two * 2, np.ones(4, np.int32), kernels[0]) == 4
        for arguments in ((two, grade + 1), (two + 1, grade), (zero, grade), (zero[:0], grade)):
            with pytest.raises(ValueError, match="judgments"):
                module.sum_ideals(*arguments, kernels[0])

    def held() -> list[int]:
        gc.collect()
        return [sys.getrefcount(value) for value in (*documents, run, judgments, scores, offsets, rows)]

    for _ in range(20):
        work()  # fills caches
    before, blocks = held(), sys.getallocatedblocks()
    for _ in range(2000):
        work()
    assert held() == before
    assert sys.getallocatedblocks() - blocks < 200  # less than one block in ten calls


@needs_extension
def test_threads_may_change_a_run_that_others_read() -> None:
    """Every result is that of the dict before or after a change."""
    run = {"1": {f"d{i}": float(i) for i in range(200)}}
    qrels = Qrels.from_dict({"1": {f"d{i}": 1 for i in range(0, 200, 7)}})
    stop = Event()

    def change() -> None:
        while not stop.is_set():
            run["1"]["more"] = -1.0
            del run["1"]["more"]

    with ThreadPoolExecutor(4) as pool:
        changing = pool.submit(change)
        hits = [*pool.map(lambda _: match_plain(run, qrels, "trec_eval", "r"), range(300))]
        stop.set()
        changing.result()
    expected = as_lists(match_plain(run, qrels, "trec_eval", "r"))
    assert {tuple(as_lists(result)["length"]) for result in hits} <= {(200,), (201,)}
    assert all(as_lists(result)["rank"] == expected["rank"] for result in hits)


@given(st.lists(st.one_of(st.text(), ids)))
def test_texts_are_joined_as_in_python(values: list[Any]) -> None:
    joined = [TextColumn.from_column(pd.Series(values, dtype=object), "column")]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RANKSCOPE_SCANNER", "python")
        joined.append(TextColumn.from_column(pd.Series(values, dtype=object), "column"))
    assert (
        joined[0].pieces() == joined[1].pieces() == [to_bytes(id_text(value, "column")) for value in values]
    )
