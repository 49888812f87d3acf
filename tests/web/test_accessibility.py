"""axe-core finds nothing in any view, light or dark, desktop or phone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Open = Callable[..., Any]
Until = Callable[[Any, str], None]


@pytest.fixture(scope="module")
def axe(node_modules: Path) -> str:
    return (node_modules / "axe-core" / "axe.min.js").read_text("utf-8")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(open_page: Open, study_page: Path, axe: str, until: Until, scheme: str) -> None:
    # the policy of the page would refuse a foreign script, which is its duty; for this test it is put aside
    page = open_page(study_page, color_scheme=scheme, bypass_csp=True)
    page.evaluate(axe)
    width = 390 if scheme == "dark" else 1400
    page.set_viewport_size({"width": width, "height": 900})
    found = {}
    for view in page.evaluate("rankscope.state.views.map(([view]) => view)"):
        page.evaluate("view => { location.hash = `view=${view}`; }", view)
        until(page, f"rankscope.state.view === {view!r}")
        page.locator("main h2").first.wait_for()
        page.wait_for_timeout(100)
        summary = page.locator("details.save summary")
        if summary.count():
            summary.first.click()
        found[view] = page.evaluate(
            """axe.run().then(r => r.violations.map(v => ({
                id: v.id, impact: v.impact, nodes: v.nodes.slice(0, 4).map(n => n.html.slice(0, 160)),
            })))"""
        )
    assert "study" in found
    said = {view: [(one["id"], one["nodes"][:1]) for one in problems] for view, problems in found.items() if problems}
    assert said == {}, said
