"""Links: they work in every copy of the page, tell whether its data are the same, and contain no local path."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

import rankscope as rs
from rankscope.reporting import build_document, report

Open = Callable[..., Any]
QRELS = {f"q{k}": {"a": 1, "b": 0} for k in range(4)}
RUNS = {name: {topic: list(order) for topic in QRELS} for name, order in (("one", "abc"), ("two", "bca"))}


@pytest.fixture(scope="module")
def copies(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return the page, a copy of it under another name, and a page with another grade."""
    folder = tmp_path_factory.mktemp("links")
    other = {**QRELS, "q1": {"a": 1, "b": 1}}
    return {
        name: report(rs.Collection(qrels, RUNS), folder / f"{name}.html", title="Example")
        for name, qrels in (("mine", QRELS), ("yours", QRELS), ("other", other))
    }


def _copied_link(page: Any) -> str:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy link", exact=True).first.click()
    page.locator("[role=status]", has_text="copied").first.wait_for()
    return str(page.evaluate("navigator.clipboard.readText()"))


def test_a_link_names_no_directory_and_is_recognised_by_other_copies(
    open_page: Open, copies: dict[str, Path]
) -> None:
    page = open_page(copies["mine"], "view=versus&topic=q2")
    page.evaluate("rankscope.state.note = 'look at q2 & tell me'")
    link = _copied_link(page)
    assert link.startswith("mine.html#") and "/" not in link.replace("%2F", "/").split("#")[0]
    fragment = urlsplit(link).fragment
    assert parse_qs(fragment)["note"] == ["look at q2 & tell me"]

    same = open_page(copies["yours"], fragment)
    assert same.locator("[data-link=same]").count() == 1 and same.locator("[data-link=differs]").count() == 0
    assert "look at q2 & tell me" in same.locator("[data-link=note]").inner_text()
    assert same.evaluate("[rankscope.state.view, rankscope.state.topic]") == ["versus", 2]

    other = open_page(copies["other"], "")
    other.locator("summary", has_text="Settings").click()
    other.get_by_label("Open a link").fill(link)
    other.get_by_label("Open a link").press("Enter")
    text = other.locator("[data-link=differs]").inner_text()
    assert "different judgments." in text and "runs" not in text
    assert other.evaluate("rankscope.state.topic") == 2


def test_fingerprints_name_the_part_that_differs() -> None:
    def parts(qrels: Any, runs: Any, **options: Any) -> dict[str, str]:
        return dict(build_document(rs.Collection(qrels, runs, **options), ())["fingerprint"])

    base = parts(QRELS, RUNS)
    assert base == parts(dict(reversed(QRELS.items())), RUNS)

    def differing(other: dict[str, str]) -> list[str]:
        return [name for name, value in other.items() if value != base[name]]

    assert differing(parts(QRELS, {"one": RUNS["one"], "new": RUNS["two"]})) == ["runs"]
    assert differing(parts(QRELS, {**RUNS, "two": {topic: ["c", "b", "a"] for topic in QRELS}})) == [
        "rankings"
    ]
    assert differing(parts(QRELS, RUNS, missing="skip")) == ["settings"]
