"""Print: every view has the same content on paper as on the screen."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import rankscope as rs

Open = Callable[..., Any]
Until = Callable[[Any, str], None]
Settled = Callable[[Any], None]

_ON_PAPER = {
    "plane": ("path.points", lambda d: d.count("M")),
    "archetypes": ("path.lines.kept", lambda d: d.count("M")),
    "map": (".vectors path", lambda d: d.count("M")),
}


def _count_shapes(page: Any) -> dict[str, Any]:
    return dict(
        page.evaluate(
            """() => {
                const seen = (e) => e.getBoundingClientRect().width > 0;
                const figures = [...document.querySelectorAll('main figure')];
                const texts = figures.flatMap((f) => [...f.querySelectorAll('svg text')]).filter(seen);
                const axes = figures.flatMap((f) => [...f.querySelectorAll('svg .axis, svg .grid')]).length;
                const shapes = figures.flatMap((f) => [...f.querySelectorAll('svg circle, svg rect')]);
                const [marks, said] = [shapes.filter(seen).length, texts.map((t) => t.textContent).sort()];
                return {marks, texts: said, axes, figures: figures.length};
            }"""
        )
    )


def test_paper_has_what_the_screen_has(
    visit: Open, places: list[tuple[Path, str]], until: Until, sampled: Open
) -> None:
    for path, fragment in sampled(places, 4):
        page = visit(path, fragment)
        view = parse_qs(fragment)["view"][0]
        page.locator("main figure").first.wait_for()
        if "facet" in fragment:
            page.locator(".facet").first.wait_for()
            _compare_split_planes(page, until)
        _compare_with_paper(page, view, until)


def _compare_split_planes(page: Any, until: Until) -> None:
    """On paper every list is a point of one of the small planes; titles and counts are those of the screen."""
    titles = page.locator(".facet .title").all_inner_texts()
    assert len(titles) > 1
    page.emulate_media(media="print")
    until(page, "rankscope.state.vector === true")
    assert page.locator(".facet .title").all_inner_texts() == titles
    paths = page.locator(".facet path.dots").evaluate_all("all => all.map(p => p.getAttribute('d'))")
    drawn = [path.count("M") for path in paths]
    assert drawn == [int(title.split("\n")[-1].replace(",", "")) for title in titles]
    assert sum(drawn) == page.evaluate("rankscope.data.size")
    page.emulate_media(media="screen")
    until(page, "rankscope.state.vector === false")


def _compare_with_paper(page: Any, view: str, until: Until) -> None:
    screen = _count_shapes(page)
    assert screen["figures"] >= 1
    pdf = page.pdf()
    page.emulate_media(media="print")
    until(page, "rankscope.state.vector === true")
    paper = _count_shapes(page)
    assert paper["figures"] == screen["figures"], view
    assert (paper["axes"] > 0) == (screen["axes"] > 0)
    assert abs(paper["axes"] - screen["axes"]) <= 0.2 * screen["axes"], view
    # paper has another width, so that an axis may have other ticks; names and legends are the same
    missing = {text for text in screen["texts"] if not re.fullmatch(r"[−\d.,]+", text)} - set(paper["texts"])
    assert not missing, view
    # a canvas on the screen is replaced by vector shapes on paper
    assert screen["marks"] <= paper["marks"] or view in _ON_PAPER, view
    assert page.locator("main canvas").count() == 0, "on paper everything is drawn in vectors"
    lists = page.evaluate("rankscope.data.size")
    if view in _ON_PAPER:
        selector, count = _ON_PAPER[view]
        paths = page.locator(selector).evaluate_all("all => all.map(p => p.getAttribute('d'))")
        expected = page.evaluate("rankscope.data.topics.length") if view == "archetypes" else lists
        number = sum(map(count, paths[:1] if view == "plane" else paths))
        assert number == expected
        assert _count_moves(pdf) >= expected
    widest = page.locator("main figure svg").evaluate_all(
        "all => Math.max(...all.map(e => e.getBoundingClientRect().right))"
    )
    assert widest <= page.evaluate("innerWidth"), view
    page.emulate_media(media="screen")
    until(page, "rankscope.state.vector === false")


def test_no_chart_is_wider_than_narrow_paper(
    visit: Open, places: list[tuple[Path, str]], until: Until, sampled: Open
) -> None:
    """Browsers lay out paper before charts can adapt to its width, so charts of the screen must shrink."""
    for path, fragment in sampled(places, 4):
        page = visit(path, fragment)
        page.locator("main figure").first.wait_for()
        page.emulate_media(media="print")
        until(page, "rankscope.state.vector === true")
        # in one go, so that no observer of sizes comes between
        wide = page.evaluate(
            """() => {
                const main = document.querySelector('main');
                main.style.width = '560px';
                const edge = main.getBoundingClientRect().right + 1;
                const charts = [...document.querySelectorAll('main figure svg')].filter((e) => !e.closest('table'));
                const wide = charts.filter((e) => e.getBoundingClientRect().right > edge);
                const found = wide.map((e) => e.outerHTML.slice(0, 90));
                main.style.width = '';
                return found;
            }"""
        )
        assert wide == [], fragment
        page.emulate_media(media="screen")
        until(page, "rankscope.state.vector === false")


def _count_moves(pdf: bytes) -> int:
    """Return the number of path segments in a PDF."""
    n_moves = 0
    for stream in re.finditer(rb"stream\r?\n(.*?)endstream", pdf, re.S):
        try:
            n_moves += len(re.findall(rb" m\s", zlib.decompress(stream[1])))
        except zlib.error:
            continue
    return n_moves


def test_tall_figures_begin_on_the_first_page(open_page: Open, settled: Settled, tmp_path: Path) -> None:
    """Neither heat map nor bars, longer than a page together, wait for a page of their own; no page is left empty."""
    from rankscope.reporting import report

    topics = [f"q{k}" for k in range(6)]
    runs = {
        f"run-{k:03}": {t: [f"d{(k * 7 + i) % 11}" for i in range(9)] for t in topics} for k in range(110)
    }
    page = open_page(
        report(rs.Collection({t: {"d1": 1, "d2": 1} for t in topics}, runs), tmp_path / "r.html"), "view=map"
    )
    for view, marks in (("map", 300), ("archetypes", 40), ("runs", 40)):
        page.evaluate("view => { rankscope.state.view = view; }", view)
        settled(page)
        drawn = _count_shapes_by_page(page.pdf(format="A4"))
        assert len(drawn) > 1, view
        assert drawn[0] > marks, (view, drawn)
        assert min(drawn) > 0, (view, drawn)


def _count_shapes_by_page(pdf: bytes) -> list[int]:
    """Return the number of shapes on each page of a PDF."""
    objects = {int(m[1]): m[2] for m in re.finditer(rb"(\d+) 0 obj\s(.*?)endobj", pdf, re.S)}
    counts = []
    for content in (o for o in objects.values() if re.search(rb"/Type\s*/Page\b(?!s)", o)):
        reference = re.search(rb"/Contents\s+(\d+) 0 R", content)
        assert reference is not None
        stream = re.search(rb"stream\r?\n(.*?)endstream", objects[int(reference[1])], re.S)
        assert stream is not None
        counts.append(len(re.findall(rb"[ \n](?:m|re)\s", zlib.decompress(stream[1]))))
    return counts


def test_paper_has_every_column_of_the_leaderboard(open_page: Open, tmp_path: Path, until: Until) -> None:
    """Bounds, groups and differences from a baseline have columns of their own."""
    from rankscope.simulation import simulate

    generated = simulate(systems=6, topics=12, grades=3, depth=60, seed=9, pool_depth=20)
    scores = rs.evaluate(generated.qrels, generated.runs, "AP nDCG@10")
    path = rs.report(scores, tmp_path / "r.html", groups="^[a-z]+", bounds=True)
    page = open_page(path, "view=runs", media="print")
    page.set_viewport_size({"width": 794, "height": 1123})
    for base in ("null", "2"):
        page.evaluate(f"rankscope.state.baseline = {base}")
        until(page, "document.documentElement.scrollWidth <= 794")
        assert page.locator(".board thead").get_by_text("Labels").is_visible()
    page.emulate_media(media="screen")
    for width in (1440, 1280, 1200):
        page.set_viewport_size({"width": width, "height": 900})
        until(page, f"innerWidth === {width} && document.documentElement.scrollWidth <= {width}")
