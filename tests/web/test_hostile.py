"""Names are untrusted text: whatever they hold, they are shown and nothing else."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import rankscope as rs
from rankscope.reporting import report

Open = Callable[..., Any]
Until = Callable[[Any, str], None]
Settled = Callable[[Any], None]
NAMES = [
    "</script><img src=x onerror=window.hacked=1>",
    "<!--<script>window.hacked=1</script>",
    "$& $1 ${window.hacked=1} {{x}} {@html x}",
    "\u202eright-to-left עברית",
    "line\u2028and\u2029paragraph",
    "long" * 50,
    "javascript:window.hacked=1",
    "\"'`;--&amp;&lt;",
    "=cmd|' /C calc'!A0",
    "__proto__",
    "constructor",
    "日本語 🂡 é",
    "odd byte \udcff",
]
Views = Callable[[Any], list[str]]


@pytest.fixture(scope="module")
def hostile_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    qrels = {topic: {f"{topic}{k}": k % 3 for k in range(6)} for topic in NAMES}
    runs = {
        name: {topic: {f"{topic}{k}": float((k * 7 + r) % 11) for k in range(8)} for topic in NAMES[r % 3 :]}
        for r, name in enumerate(NAMES)
    }
    rows = [(a, b, "tau", 0.5) for a in NAMES[:3] for b in NAMES[:3]]
    study = {
        "correlations": rs.Table("correlations", ("a", "b", "method", "value"), rows),
        NAMES[0]: rs.Table(NAMES[0], (NAMES[0], "x"), [(NAMES[1], float("nan")), (NAMES[2], 1.5)]),
    }
    folder = tmp_path_factory.mktemp("hostile")
    return report(rs.Collection(qrels, runs), folder / "r.html", title=NAMES[0], study=study)


def test_hostile_names_are_only_text(
    open_page: Open, hostile_page: Path, until: Until, settled: Settled, read_views: Views
) -> None:
    page = open_page(hostile_page)
    for view in read_views(page):
        page.evaluate("view => { location.hash = `view=${view}`; }", view)
        until(page, f"rankscope.state.view === {view!r}")
        page.locator("main h2").first.wait_for()
        settled(page)
        assert page.evaluate("window.hacked") is None
        assert page.locator("img, script[src], iframe, object, embed, link[href^=http]").count() == 0
        assert page.locator("h1").inner_text() == NAMES[0]
        assert page.title().startswith(NAMES[0])
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), view
        page.set_viewport_size({"width": 390, "height": 844})
        until(page, "innerWidth === 390 && document.documentElement.scrollWidth <= 390")
        page.set_viewport_size({"width": 1400, "height": 900})
        until(page, "innerWidth === 1400")


def test_hostile_names_leave_the_page_as_text(
    open_page: Open, hostile_page: Path, until: Until, read_views: Views
) -> None:
    page = open_page(hostile_page)
    for view in read_views(page):
        page.evaluate("view => { location.hash = `view=${view}`; }", view)
        until(page, f"rankscope.state.view === {view!r}")
        page.locator("main h2").first.wait_for()
        for index in range(min(2, page.locator("details.save").count())):
            figure = page.locator("details.save").nth(index)
            figure.locator("summary").click()
            with page.expect_download() as download:
                figure.get_by_role("button", name="SVG", exact=True).click()
            root = ElementTree.fromstring(Path(download.value.path()).read_bytes())
            allowed = (
                "svg title desc g rect path circle line text tspan polygon defs clipPath linearGradient stop"
            )
            assert {element.tag.rpartition("}")[2] for element in root.iter()} <= set(allowed.split()), view
            assert not [name for element in root.iter() for name in element.attrib if name.startswith("on")]
            with page.expect_download() as download:
                figure.get_by_role("button", name="Table (LaTeX)").click()
            tex = Path(download.value.path()).read_text("utf-8", "surrogateescape")
            program = [line for line in tex.split("\n") if not line.startswith("%")]
            assert not re.search(r"(?<!\\)[#$^]", "".join(program).replace("$\\infty$", "")), view
    assert page.evaluate("window.hacked") is None


def test_names_survive_to_the_last_character(open_page: Open, hostile_page: Path) -> None:
    page = open_page(hostile_page, "view=runs")
    assert page.evaluate("rankscope.data.runs") == NAMES
    shown = page.locator(".board tbody th button").evaluate_all("all => all.map(b => b.title)")
    assert sorted(shown) == sorted(NAMES)


def test_a_view_of_hostile_names_can_be_shared(open_page: Open, hostile_page: Path, until: Until) -> None:
    page, again = open_page(hostile_page, "view=curves"), open_page(hostile_page)
    for number in range(len(NAMES)):
        page.evaluate("n => rankscope.state.choose(n, rankscope.data.topics.length - 1 - n)", number)
        until(page, "location.hash.slice(1) === rankscope.state.toFragment()")
        fragment = page.evaluate("location.hash")
        if number % 4:  # An open page follows its address; to load the page again takes much longer.
            again.evaluate("fragment => { location.hash = fragment; }", fragment)
            until(again, "location.hash.slice(1) === rankscope.state.toFragment()")
        else:
            again.goto("about:blank")
            again.goto(hostile_page.resolve().as_uri() + fragment)
            again.wait_for_selector("main h2")
        run, topic = again.evaluate("[rankscope.state.runs[0], rankscope.state.topic]")
        assert (run, topic) == (number, len(NAMES) - 1 - number)


def test_csv_holds_no_formula(open_page: Open, hostile_page: Path) -> None:
    page = open_page(hostile_page, "view=runs")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download CSV").click()
    text = Path(download.value.path()).read_text("utf-8")
    assert "'=cmd" in text
    assert ",=cmd" not in text


def test_the_policy_stops_what_should_never_get_there(
    open_page: Open, hostile_page: Path, tmp_path: Path
) -> None:
    """Even markup put into the file by hand does not run: the policy names the page's own script and no other."""
    text = hostile_page.read_text("utf-8").replace("</body>", "<script>window.hacked = 1</script></body>")
    (tmp_path / "changed.html").write_text(text, "utf-8")
    context = open_page(hostile_page).context
    page = context.new_page()
    page.set_default_timeout(120_000)  # A busy machine may need far more than the usual 30 s.
    page.goto((tmp_path / "changed.html").as_uri())
    page.wait_for_selector("main h2")
    assert page.evaluate("window.hacked") is None
