"""Lists that are read one after the other are those that are read together, and are not held."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankscope.errors import InputError
from rankscope.read import ORDERS, Run, read_run

lines = st.tuples(st.sampled_from(["1", "2", "q"]), st.integers(0, 400), st.sampled_from(["3", "2.5", "-1"]))


def to_text(rows: list[tuple[str, int, str]]) -> str:
    scores = {(topic, document): score for topic, document, score in rows}
    return "".join(
        f" {topic}\tQ0 d{document} 1 {score} tag\r\n" for (topic, document), score in scores.items()
    )


@given(st.lists(lines, min_size=1, max_size=300), st.sampled_from(ORDERS), st.booleans())
def test_lists_are_the_same_in_any_order_of_lines(
    rows: list[tuple[str, int, str]], order: str, noted: bool
) -> None:
    text = ("# a comment\n\n" if noted else "") + to_text(rows)
    run = Run("run", order, source=text.encode())
    expected = run.lists()
    lists = list(run.iterate_lists())
    assert len(lists) == len(expected)
    assert {topic: ranking.documents for topic, ranking in lists} == {
        t: ranking.documents for t, ranking in expected.items()
    }
    for topic, ranking in lists:
        assert ranking.scores is not None
        assert ranking.scores.tolist() == expected[topic].scores.tolist()  # type: ignore[union-attr]


@pytest.mark.parametrize("topics", [["7", "70"], ["7", "7b", "7"], ["70", "7"], ["7"], ["7", "7", "7c", "7"]])
def test_topics_with_a_common_prefix_are_distinct(topics: list[str]) -> None:
    text = "".join(f"{topic} Q0 d{n} 1 1 t\n" for n, topic in enumerate(topics))
    documents = {
        topic: ranking.documents
        for topic, ranking in Run("run", "file", source=text.encode()).iterate_lists()
    }
    assert documents == {
        topic: [b"d%d" % n for n, other in enumerate(topics) if other == topic]
        for topic in dict.fromkeys(topics)
    }


def test_runs_in_memory_have_the_same_lists() -> None:
    run = Run.from_dict({"1": {"a": 1.0, "b": 2.0}})
    assert [(topic, one.documents) for topic, one in run.iterate_lists()] == [("1", [b"b", b"a"])]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty"),
        ("# nothing\n", "no line with data"),
        ("1 Q0 a 1 x t\n", "not a number"),
        ("1 Q0 a 1 1 t\n2 Q0 a 1 1 t\n1 Q0 a 2 .5 t\n", "occurs twice in topic '1'"),
    ],
)
def test_iteration_raises_the_same_errors(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        list(Run("run", "trec_eval", source=text.encode()).iterate_lists())


@pytest.mark.slow
def test_a_file_is_not_held(tmp_path: Path) -> None:
    path = tmp_path / "long.run"
    with path.open("w") as file:
        for topic in range(100):
            file.writelines(f"{topic} Q0 document-{i} {i} {-i} t\n" for i in range(1000))

    def peak(each: bool) -> int:
        tracemalloc.start()
        run = read_run(path)
        lengths = [
            len(ranking.documents) for _, ranking in (run.iterate_lists() if each else run.lists().items())
        ]
        assert lengths == [1000] * 100
        peak_bytes = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return peak_bytes

    assert peak(True) * 3 < peak(False)
