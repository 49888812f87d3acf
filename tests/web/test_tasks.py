"""Frequent tasks take few clicks, and exports have the numbers of the screen."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import rankscope as rs
from rankscope.plots import palette
from rankscope.reporting import report
from rankscope.simulation import simulate

Open = Callable[..., Any]
Until = Callable[[Any, str], None]
WEB = Path(__file__).parents[2] / "web"
_BOARD = """() => [...document.querySelectorAll('.board tbody tr')].map(row => ({
    run: row.querySelector('th button').title,
    cells: [...row.querySelectorAll('td.n')].map(cell => cell.textContent.trim()),
}))"""


@pytest.fixture(scope="module")
def scores() -> rs.Scores:
    """Twelve runs of two types, whose names are part of their type."""
    generated = simulate(systems=12, topics=20, grades=3, depth=40, seed=6, pool_depth=20)
    runs = {
        f"{'manual' if k % 3 == 0 else 'automatic'}-{name}": run
        for k, (name, run) in enumerate(generated.runs.items())
    }
    return rs.evaluate(generated.qrels, runs, "AP nDCG@10")


@pytest.fixture(scope="module")
def tasks_page(scores: rs.Scores, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return report(scores, tmp_path_factory.mktemp("tasks") / "r.html", groups="^[a-z]+")


class _Clicks:
    """Clicks the elements of a page and counts them."""

    def __init__(self, page: Any) -> None:
        self.page, self.count = page, 0

    def __call__(self, locator: Any, **options: Any) -> None:
        self.count += 1
        locator.click(**options)


def _saved(page: Any, click: Callable[[Any], None], button: str) -> bytes:
    with page.expect_download() as download:
        click(page.get_by_role("button", name=button, exact=True).first)
    return Path(download.value.path()).read_bytes()


def test_is_a_run_better_than_the_best_automatic_run(
    open_page: Open, tasks_page: Path, scores: rs.Scores
) -> None:
    page = open_page(tasks_page)
    click = _Clicks(page)
    click(page.get_by_role("group", name="Compare with the best of").get_by_role("button", name="automatic"))
    assert click.count <= 3
    best = next(scores.runs[r] for r in scores.best_first("AP") if scores.runs[r].startswith("automatic"))
    assert page.locator(".lead b").inner_text() == best
    expected = {row.a: row for row in rs.compare(scores.with_measures(["AP"]), best).pairs}
    rows = {row["run"]: row["cells"] for row in page.evaluate(_BOARD)}
    assert set(rows) == {*expected, best}
    for run, row in expected.items():
        difference, p, won = rows[run][4:7]
        assert float(difference.replace("−", "-")) == pytest.approx(row.difference, abs=6e-5)
        assert p == "< .0001" if row.adjusted < 0.0001 else float(p) == pytest.approx(row.adjusted, abs=6e-5)
        assert won == f"{row.wins}–{row.losses}"


def test_why_is_a_run_bad_on_a_topic(open_page: Open, tasks_page: Path, scores: rs.Scores) -> None:
    page = open_page(tasks_page)
    click = _Clicks(page)
    click(page.locator("nav a", has_text="Topics").first)
    cells = page.locator(".cells canvas")
    box = cells.bounding_box()
    # the worst run on the topic that is easiest for the median run: the lower left corner
    click(cells, position={"x": 4, "y": box["height"] - 6})
    page.evaluate("globalThis.s = rankscope.state")
    run, topic = page.evaluate("[rankscope.data.runs[s.runs[0]], rankscope.data.topics[s.topic]]")
    assert run == scores.runs[scores.best_first("AP")[-1]]
    click(page.get_by_role("link", name=f"Documents and curves on topic {topic}"))
    assert click.count <= 3
    documents = page.locator("table", has=page.locator("caption", has_text=run)).locator("tbody tr")
    assert documents.count() > 5 and "too early" in documents.first.locator("xpath=..").inner_text()


def test_two_runs_on_a_topic_with_their_documents(
    open_page: Open, tasks_page: Path, scores: rs.Scores
) -> None:
    page = open_page(tasks_page)
    first, second, third = (scores.runs[r] for r in scores.best_first("AP")[:3])
    click = _Clicks(page)
    click(page.locator("nav a", has_text="Head to head"))
    topic = page.locator("section table tbody th button").nth(4)
    name = topic.inner_text()
    click(topic)
    assert click.count <= 2
    assert page.locator("#versus-topic .name").inner_text() == name
    for side, run in (("A", first), ("B", second)):
        shown = page.locator(f".side[data-side={side}]")
        assert shown.locator("h4 .name").inner_text() == run and shown.locator("li .rank").count() == 10
    # any other run, on the topic that is shown
    page.locator("nav a", has_text="Leaderboard").click()
    click = _Clicks(page)
    click(page.locator(f".board th button[title='{third}']"))
    click(page.locator("nav a", has_text="Head to head"))
    assert click.count <= 2
    assert page.locator(".side[data-side=B] h4 .name").inner_text() == third


def test_a_figure_for_a_paper_and_a_link_for_a_co_author(
    open_page: Open, tasks_page: Path, scores: rs.Scores, until: Until
) -> None:
    """Files have the numbers of the screen, even if they are requested before the screen is complete."""
    page = open_page(tasks_page)
    click = _Clicks(page)
    page.evaluate(
        """() => {
            const {data, state} = rankscope, own = data.rankRanges.bind(data);
            const clicked = new Promise(done => { window.onceClicked = done });
            data.rankRanges = async (...all) => { await clicked; return own(...all) };
            state.measure = 'nDCG@10';
        }"""
    )
    click(page.locator("details.save summary").first)
    assert page.locator("td.ranks").first.inner_text() == "…"
    page.evaluate("addEventListener('click', () => setTimeout(onceClicked, 200), {once: true})")
    svg = ElementTree.fromstring(_saved(page, click, "SVG"))
    assert click.count == 2
    board = page.evaluate(_BOARD)
    assert all(re.fullmatch(r"\d+(–\d+)?", row["cells"][2]) for row in board)
    texts = [e.text for e in svg.iter("{http://www.w3.org/2000/svg}text")]
    drawn = {text for text in texts if text}
    for row in board:
        _, _, ranks, mean = row["cells"][:4]
        assert {ranks, mean} <= drawn, row["run"]
    tex = _saved(page, click, "Table (LaTeX)").decode()
    cells = [
        line.rstrip("\\ ").replace("\\_", "_").split(" & ") for line in tex.splitlines() if " & " in line
    ]
    head, *body = [[cell.strip() for cell in line] for line in cells]
    lines = {line[0]: line for line in body}
    for row in board:
        tier, ranks, mean = row["cells"][1:4]
        values = dict(zip(head, lines.pop(row["run"]), strict=True))
        assert values["value"] == mean and values["tier"] == tier
        assert ranks in (values["first_rank"], f"{values['first_rank']}–{values['last_rank']}")
    assert not lines
    assert "ranks are 95\\% confidence intervals" in tex
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    click = _Clicks(page)
    click(page.get_by_role("button", name="Copy link", exact=True).first)
    page.locator("[role=status]", has_text="copied").first.wait_for()
    assert click.count == 1
    link = page.evaluate("navigator.clipboard.readText()")
    assert link.startswith("r.html#view=runs") and "nDCG%4010" in link


def test_the_report_has_the_colours_of_figures() -> None:
    style = (WEB / "src" / "app.css").read_text("utf-8").split("@media")[0]
    variables = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", style))
    series = {"run": palette.COLOURS, "shape": palette.ARCHETYPE_COLOURS, "quarter": palette.QUARTER_COLOURS}
    expected = {f"{name}-{k}": colour for name, colours in series.items() for k, colour in enumerate(colours)}
    expected |= {"accent": palette.GAIN, "early": palette.LOSS, "effort": palette.EFFORT}
    expected |= {"unjudged": palette.UNJUDGED, "exact": palette.EXACT, "late": palette.BELOW}
    assert {name: variables.get(name) for name in expected} == expected
