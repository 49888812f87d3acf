"""Which values are better, on the page: order, marks, colours, and the plane."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankscope as rs
from rankscope.measures import measure

Open = Callable[..., Any]
COST = "BalancePoint@8"
QRELS = {t: {"a": 1, "b": 1, "u": 1} for t in ("1", "2")}
RUNS = {
    "later": {t: ["x", "y", "z", "a", "w", "b", "v", "u"] for t in QRELS},
    "never": {t: ["x", "y", "z", "w", "v", "s", "r", "p"] for t in QRELS},
    "early": {t: ["a", "x", "b", "y", "u", "z", "w", "v"] for t in QRELS},
    "late": {t: ["x", "y", "a", "b", "z", "w", "u", "v"] for t in QRELS},
}
ORDER = ["early", "late", "later", "never"]


@pytest.fixture(scope="session")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report in which one run never recovers, so that its balance point is infinite."""
    target = tmp_path_factory.mktemp("better") / "report.html"
    return rs.report(rs.evaluate(QRELS, RUNS, [COST, "NumRet", "ERR"]), target, cutoff=8)


def _column(page: Any, place: int) -> list[str]:
    return [text.strip() for text in page.locator(f".board tbody tr > :nth-child({place})").all_inner_texts()]


def test_the_page_has_the_directions_of_python(open_page: Open, page_file: Path) -> None:
    page = open_page(page_file)
    directions = page.evaluate("rankscope.data.measures.map((m) => [m.name, m.better])")
    assert len(directions) > 20
    assert dict(directions) == {name: measure(name).better for name, _ in directions}


def test_the_lowest_comes_first_and_infinity_last(open_page: Open, page_file: Path) -> None:
    page = open_page(page_file, f"view=runs&measure={COST}")
    assert _column(page, 2) == ORDER
    assert page.locator("td.mean").last.inner_text() == "∞"
    assert page.locator("th[aria-sort=ascending]").inner_text().startswith(COST)
    assert page.get_by_text(f"Lower values of {COST} are better").count() == 1
    page.get_by_role("button", name=re.compile(f"^{COST}")).click()
    assert _column(page, 2) == ORDER[::-1]
    page.get_by_role("button", name=re.compile("^AP")).click()
    assert _column(page, 2)[0] == "early"
    assert page.locator("th[aria-sort=descending]").inner_text().startswith("AP")


def test_a_count_marks_no_run(open_page: Open, page_file: Path) -> None:
    page = open_page(page_file, "view=runs&measure=NumRet")
    assert page.get_by_text("NumRet does not order runs").count() == 1
    assert page.locator("tbody tr.first").count() == 0


def test_the_first_run_chosen_is_the_best(open_page: Open, page_file: Path) -> None:
    page = open_page(page_file)
    order = page.evaluate(
        "(name) => rankscope.data.bestFirst(name, rankscope.data.means(name, rankscope.data.defaults))", COST
    )
    assert [list(RUNS)[r] for r in order] == ORDER
    undefined = page.evaluate("rankscope.data.bestFirst('AP', [NaN, 0.25, 0.5, NaN])")
    assert undefined == [2, 1, 0, 3]


def test_the_heat_map_has_the_best_runs_above(open_page: Open, page_file: Path) -> None:
    page = open_page(page_file, f"view=map&measure={COST}")
    names = page.locator("svg text.run").evaluate_all(
        "all => all.map(one => one.lastChild.textContent.trim())"
    )
    assert names == ORDER
    worse, better = re.findall(r"[\d.]+", page.locator(".legend").inner_text())
    assert float(worse) > float(better)


def test_the_plane_has_the_better_end_above(open_page: Open, page_file: Path) -> None:
    page = open_page(page_file, f"view=plane&measure={COST}")
    counts = [[int(re.findall(r"\d+", cell)[0]) for cell in row] for row in _cells(page)]
    effort = rs.effort(rs.Collection(QRELS, RUNS), COST, cutoff=8)
    assert counts == effort.plane(COST)[::-1].tolist()
    page.locator("table.cells tbody tr").first.get_by_role("button").nth(2).click()
    brushed = page.get_by_role("heading", name=re.compile("brushed point")).inner_text()
    assert int(brushed.split()[0]) == int(effort.plane(COST)[3, 2]) == 2
    ticks = page.locator(".scatter svg text[text-anchor=end]:not(.count)")
    places = [float(box["y"]) for box in (ticks.nth(k).bounding_box() for k in range(ticks.count()))]
    values = [float(text) for text in ticks.all_text_contents()]
    assert np.corrcoef(values, places)[0, 1] > 0.99, "larger ranks lie lower"


def _cells(page: Any) -> list[list[str]]:
    rows = page.locator("table.cells tbody tr")
    return [rows.nth(k).locator("td").all_inner_texts() for k in range(rows.count())]
