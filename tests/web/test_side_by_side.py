"""Two rankings side by side: names, grades, texts and lines between common documents."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import rankscope as rs
from rankscope.reporting import report

Open = Callable[..., Any]
QRELS = {"t1": {"a": 2, "b": 1, "n": 0}, "t2": {"b": 1}}
A = ["a", "n", *(f"u{k}" for k in range(1, 30)), "b"]
B = ["u3", "b", "u40", "a", *(f"v{k}" for k in range(1, 30)), "u1"]


@pytest.fixture(scope="module")
def pair_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pair")
    (folder / "topics.tsv").write_text("t1\tthe heating of wings\nt2\tother\n", "utf-8")
    (folder / "docs.tsv").write_text("a\tHeated wings of an aircraft\nn\tA boat\nu1\tA wing\n", "utf-8")
    runs = {"first": {"t1": A, "t2": A}, "second": {"t1": B, "t2": B}}
    return report(
        rs.Collection(QRELS, runs),
        folder / "r.html",
        texts=[f"documents={folder / 'docs.tsv'}", f"topics={folder / 'topics.tsv'}"],
    )


def _rows(page: Any, side: str) -> list[list[str]]:
    """Return rank, grade, name and note of each row of a side."""
    return page.locator(f"[data-side={side}] li").evaluate_all(
        """rows => rows.map((row) => [row.querySelector('.rank').textContent,
            row.querySelector('.chip').firstChild.textContent, row.querySelector('.name').textContent,
            row.querySelector('.away')?.textContent ?? ''])"""
    )


def test_both_rankings_show_names_grades_and_the_rank_in_the_other(open_page: Open, pair_page: Path) -> None:
    page = open_page(pair_page, "view=versus&run=first&run=second&topic=t1")
    a, b = _rows(page, "A"), _rows(page, "B")
    assert [row[2] for row in a] == A[:10] and [row[2] for row in b] == B[:10]
    assert a[0] == ["1", "2", "a", ""] and a[1] == ["2", "0", "n", "not in the first 20 of B"]
    assert a[2] == ["3", "?", "u1", "rank 34 in B"] and a[3][3] == "not in B"
    assert b[1] == ["2", "1", "b", "rank 32 in A"]
    # a and u3 are in the first ten of both
    assert page.locator(".links path").count() == 2 and page.locator(".links path.hit").count() == 1
    assert "2 of the first 10 documents in both" in page.locator("[data-side=summary]").inner_text()


def test_words_of_the_topic_stand_out_in_excerpts(open_page: Open, pair_page: Path) -> None:
    page = open_page(pair_page, "view=versus&run=first&run=second&topic=t1")
    assert page.locator("p.query").inner_text() == "the heating of wings"
    texts = page.locator("[data-side=A] .text")
    assert texts.nth(0).inner_text() == "Heated wings of an aircraft"
    assert page.locator("[data-side=A] mark").all_inner_texts() == ["Heated", "wings", "wing"]


def test_an_excerpt_unfolds_by_keyboard(open_page: Open, pair_page: Path) -> None:
    page = open_page(pair_page, "view=curves&run=first&topic=t1")
    first, second = (page.locator(".lists .text[role=button]").nth(k) for k in range(2))
    first.focus()
    for key, is_open in (("Enter", "true"), ("Space", "false"), ("Enter", "true")):
        page.keyboard.press(key)
        assert first.get_attribute("aria-expanded") == is_open
    assert first.evaluate("e => getComputedStyle(e).display") == "block"
    page.keyboard.press("Tab")
    assert second.evaluate("e => e === document.activeElement")
    assert second.get_attribute("aria-expanded") == "false"


def test_twenty_ranks_are_part_of_the_address(open_page: Open, pair_page: Path) -> None:
    page = open_page(pair_page, "view=versus&run=first&run=second&topic=t1&top=20")
    assert [row[2] for row in _rows(page, "B")] == B[:20]
    page.get_by_role("button", name="Top 10").click()
    assert len(_rows(page, "B")) == 10
    page.get_by_role("button", name="Top 20").click()
    assert "top=20" in page.evaluate("rankscope.state.toFragment()")


def test_documents_of_the_first_ranks_have_names_in_every_panel(open_page: Open, pair_page: Path) -> None:
    page = open_page(pair_page, "view=curves&run=first&topic=t1")
    names = page.locator(".lists tbody .clip").all_inner_texts()
    assert names == [*A[:20], "b"] and page.locator("p.query").count() == 1
    assert page.locator(".lists .text").first.inner_text() == "Heated wings of an aircraft"
    page.evaluate("rankscope.state.view = 'whatif'")
    assert page.locator(".list tbody .clip").all_inner_texts()[:20] == A[:20]
    assert page.locator(".list .text").nth(1).inner_text() == "A boat"
