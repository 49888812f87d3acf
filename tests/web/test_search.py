"""A document is looked for in every topic and every run."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

import rankscope as rs
from rankscope.reporting import report

Open = Callable[..., Any]
State = Callable[[Any], dict[str, list[str]]]


def _read_answer(page: Any) -> dict[tuple[str, str], dict[str, str]]:
    """Return the rows of the answer by document and topic."""
    names = ("grade", "runs", "median", "ranks")
    rows = {}
    for row in page.locator("table.places tbody tr").all():
        document, topic, *rest = (
            re.sub(r"\s+", " ", text).strip() for text in row.locator("th, td").all_inner_texts()
        )
        rows[document, topic] = dict(zip(names, rest, strict=True))
    return rows


def test_a_document_is_found_in_every_topic_and_run(
    open_page: Open, tmp_path: Path, read_state: State
) -> None:
    qrels = {
        "q1": {"news-7": 2, "news-8": 1, "x": 0},
        "q2": {"news-7": 1, "y": 1},
        "q3": {"z": 1, "news-7": 0},
    }
    runs = {
        "one": {"q1": ["x", "news-7"], "q2": ["y"], "q3": ["news-7", "z"]},
        "two": {"q1": ["news-7", "news-8"], "q2": ["x", "y", "z", "news-7"], "q3": ["z"]},
        "three": {"q1": ["x"], "q2": ["news-7"], "q3": ["z"]},
    }
    page = open_page(report(rs.Collection(qrels, runs), tmp_path / "r.html"), "view=curves&topic=q3")
    page.get_by_label("Find a document").fill("NEWS-7")
    assert _read_answer(page) == {
        ("news-7", "q1"): {"grade": "2", "runs": "2 of 3", "median": "1.5", "ranks": "two 1, one 2"},
        ("news-7", "q2"): {"grade": "1", "runs": "2 of 3", "median": "2.5", "ranks": "three 1, two 4"},
    }
    answer = page.locator(".answer").inner_text()
    assert answer.startswith("Found 2 among the relevant documents of all topics.")
    assert "This page has the names of relevant documents only" in answer  # q3 judged it, as not relevant
    page.get_by_label("Find a document").fill("news")
    assert [name for name, _ in _read_answer(page)] == ["news-7", "news-8", "news-7"]
    # one click leads to the list, and the address keeps the search
    page.locator("table.places tr", has_text="q2").get_by_role("button", name="three").click()
    state = read_state(page)
    assert (state["topic"], state["document"]) == (["q2"], ["news"]) and "three" in state["run"]
    again = open_page(tmp_path / "r.html", urlsplit(page.url).fragment)
    assert _read_answer(again) == _read_answer(page)
    again.get_by_label("Find a document").fill("nothing")
    assert (
        again.locator(".answer").inner_text().startswith("No name of a relevant document contains this text.")
    )


def test_every_rank_is_that_of_the_run(open_page: Open, collection_page: Path) -> None:
    page = open_page(collection_page, "view=curves")
    folder = collection_page.parent / "data"
    document = page.evaluate("rankscope.data.relevant(3)[0]")
    page.get_by_label("Find a document").fill(document)
    qrels, runs = rs.read_qrels(folder / "qrels.txt"), rs.read_runs(folder / "runs")
    expected = {}
    for topic in qrels.topics:
        if qrels.judgments(topic).get(document, 0) > 0:
            ranks = [(name, run.ranking(topic)) for name, run in runs.items()]
            found_ranks = sorted(
                (ranking.index(document) + 1, r, name)
                for r, (name, ranking) in enumerate(ranks)
                if document in ranking
            )
            expected[document, topic] = (
                ", ".join(f"{name} {rank}" for rank, _, name in found_ranks) or "no run has it"
            )
    shown = {key: row["ranks"] for key, row in _read_answer(page).items() if key[0] == document}
    assert shown == expected and len(expected) >= 1


def test_a_page_without_names_states_this(open_page: Open, tmp_path: Path) -> None:
    lean = report(rs.Collection({"q": {"a": 1}}, {"r": {"q": ["a"]}}), tmp_path / "r.html", documents=False)
    page = open_page(lean, "view=curves")
    assert page.get_by_label("Find a document").count() == 0
    assert "this page was written without their names" in page.locator("main").inner_text()


@pytest.mark.parametrize("brushed", [False, True])
def test_the_search_respects_the_brush(open_page: Open, collection_page: Path, brushed: bool) -> None:
    brush = "&brush=0,0.4,0,1" if brushed else ""
    page = open_page(collection_page, f"view=curves&document=1{brush}")
    kept = page.evaluate(
        "[rankscope.data.runs.filter((_, r) => rankscope.state.keepsRun(r)), "
        "rankscope.data.topics.filter((_, t) => rankscope.state.keepsTopic(t))]"
    )
    shown = _read_answer(page)
    assert shown and {topic for _, topic in shown} <= set(kept[1])
    assert {row["runs"].split(" of ")[1] for row in shown.values()} == {str(len(kept[0]))}
