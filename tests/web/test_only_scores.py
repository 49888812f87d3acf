"""The page of scores without rankings: only views that need none, and a note."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.reporting.test_only_scores import frame

import rankscope as rs


def test_the_page_of_scores_has_the_views_that_need_no_rankings(
    tmp_path: Path, visit: Callable[..., Any], read_views: Callable[[Any], list[str]]
) -> None:
    path = rs.report(rs.read_scores(frame()), tmp_path / "scores.html", title="Scores")
    page = visit(path, "view=runs")
    assert read_views(page) == ["runs", "map"]
    for view in read_views(page):
        page = visit(path, f"view={view}")
        assert "written from scores without rankings" in page.locator("body").inner_text()
        assert page.locator("main h2").count() > 0
    text = visit(path, "view=runs").locator("main").inner_text()
    assert "Judged documents" not in text and "not relevant" not in text
    page.evaluate("location.hash = 'view=curves'")
    assert page.evaluate("rankscope.state.view") == "runs"
