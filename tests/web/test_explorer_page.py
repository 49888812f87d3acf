"""The page as the explorer and notebooks show it."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import rankscope as rs
from rankscope.explorer import notebook


@pytest.fixture(scope="module")
def address(collection_page: Path) -> Iterator[str]:
    pytest.importorskip("starlette", reason="the extra explore is not installed")
    pytest.importorskip("uvicorn", reason="the extra explore is not installed")
    data = collection_page.parent / "data"
    command = [sys.executable, "-m", "rankscope", "explore", str(data / "qrels.txt"), str(data / "runs")]
    process = subprocess.Popen([*command, "--no-browser"], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    match = re.search(r"http://\S+", process.stdout.readline())
    assert match
    yield match.group()
    process.kill()
    process.communicate()


@pytest.fixture
def tab(chromium: Any) -> Iterator[Any]:
    page = chromium.new_page(viewport={"width": 1400, "height": 900})
    page.set_default_timeout(120_000)  # A busy machine may need far more than the usual 30 s.
    yield page
    page.close()


def test_the_explorer_sends_requests_only_to_its_own_server(
    tab: Any, address: str, collection_page: Path
) -> None:
    problems: list[str] = []
    requests: list[str] = []
    tab.on("console", lambda m: problems.append(m.text) if m.type in ("error", "warning") else None)
    tab.on("pageerror", lambda error: problems.append(str(error)))
    tab.on("request", lambda request: requests.append(request.url))
    tab.goto(address + "#view=curves")
    tab.wait_for_selector("main h2")
    data = collection_page.parent / "data"
    runs = rs.read_runs(data / "runs")
    run, topic = tab.evaluate(
        "[rankscope.data.runs[rankscope.state.runs[0]], rankscope.data.topics[rankscope.state.topic]]"
    )
    ranking = runs[run].ranking(topic)
    tab.get_by_role("cell", name=ranking[0], exact=True).wait_for()
    shown = tab.locator("#documents-title ~ div tbody tr td:nth-child(2)").all_inner_texts()
    assert shown == ranking[: len(shown)]
    assert len(shown) >= 100
    assert problems == []
    outside = [url for url in requests if not url.startswith((address, "data:"))]
    assert outside == []


def test_the_explorer_has_the_scores_of_the_report(tab: Any, address: str, collection_page: Path) -> None:
    script = "['AP', 'Twist', 'Bpref'].map(m => Array.from(rankscope.data.means(m, rankscope.data.defaults)))"
    tab.goto(address)
    tab.wait_for_selector("main h2")
    served = tab.evaluate(script)
    tab.goto(collection_page.as_uri())
    tab.wait_for_selector("main h2")
    assert tab.evaluate(script) == served


def test_the_page_runs_inside_a_notebook(tab: Any, collection_page: Path, tmp_path: Path) -> None:
    data = collection_page.parent / "data"
    scores = rs.evaluate(data / "qrels.txt", data / "runs", ["AP", "ERR@20"])
    problems: list[str] = []
    tab.on("console", lambda m: problems.append(m.text) if m.type in ("error", "warning") else None)
    tab.on("pageerror", lambda error: problems.append(str(error)))
    outer = f"<!doctype html><title>notebook</title><script>window.secret = 1</script>{notebook(scores)._repr_html_()}"
    (tmp_path / "notebook.html").write_text(outer, "utf-8")
    tab.goto((tmp_path / "notebook.html").as_uri())
    frame = tab.frame_locator("iframe")
    frame.get_by_role("link", name="Leaderboard", exact=True).click()
    frame.get_by_role("heading", name="Leaderboard by AP").wait_for()
    assert frame.get_by_role("option", name="ERR@20", include_hidden=True).count() > 0
    inside = tab.frames[1]
    reach = "(() => { try { return String(parent.secret) } catch (e) { return e.name } })()"
    assert inside.evaluate(reach) == "SecurityError"
    assert problems == []


def test_the_page_says_when_its_server_is_gone(tab: Any, address: str) -> None:
    tab.goto(address + "#view=curves")
    tab.wait_for_selector("main h2")
    tab.route("**/list/**", lambda route: route.abort())
    tab.get_by_label("Next topic").click()
    tab.get_by_role("alert").wait_for()
    assert "The explorer no longer answers" in tab.get_by_role("alert").inner_text()
    tab.unroute("**/list/**")
    tab.get_by_label("Next topic").click()
    tab.get_by_role("alert").wait_for(state="detached")


def test_the_explorer_finds_unjudged_documents(tab: Any, address: str, collection_page: Path) -> None:
    data = collection_page.parent / "data"
    qrels, runs = rs.read_qrels(data / "qrels.txt"), rs.read_runs(data / "runs")
    topic = qrels.topics[4]
    judged = qrels.judgments(topic)
    document = next(d for d in next(iter(runs.values())).ranking(topic) if d not in judged)
    tab.goto(address + "#view=curves")
    tab.wait_for_selector("main h2")
    tab.get_by_label("Find a document").fill(document)
    tab.get_by_role("button", name="Search complete rankings").click()
    tab.get_by_text(f"In all rankings of {len(runs)} runs").wait_for()
    row = tab.locator("table.places tr", has=tab.get_by_role("button", name=topic, exact=True)).last
    cells = [" ".join(text.split()) for text in row.locator("th, td").all_inner_texts()]
    ranks = sorted(
        (run.ranking(topic).index(document) + 1, r, name)
        for r, (name, run) in enumerate(runs.items())
        if document in run.ranking(topic)
    )
    assert cells[:2] == [document, topic] and cells[2] == "?"
    assert cells[-1] == ", ".join(f"{name} {rank}" for rank, _, name in ranks)
