"""axe-core finds nothing in any view, light or dark, desktop or phone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Open = Callable[..., Any]
Settled = Callable[[Any], None]


@pytest.fixture(scope="module")
def axe(node_modules: Path) -> str:
    return (node_modules / "axe-core" / "axe.min.js").read_text("utf-8")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(
    visit: Open, places: list[tuple[Path, str]], axe: str, settled: Settled, scheme: str, sampled: Open
) -> None:
    assert {"view=study", "view=coverage", "view=plane&facet=group"} <= {fragment for _, fragment in places}
    # the policy of the page would refuse a foreign script, which is its duty; for this test it is put aside
    by_view = {}
    for path, fragment in sampled(places, 4):
        page = visit(path, fragment, color_scheme=scheme, lax=True)
        page.set_viewport_size({"width": 390 if scheme == "dark" else 1400, "height": 900})
        if not page.evaluate("'axe' in window"):
            page.evaluate(axe)
        view = fragment.removeprefix("view=")
        settled(page)
        summary = page.locator("details.save summary")
        if summary.count():
            summary.first.click()
        by_view[view] = page.evaluate(
            """axe.run({resultTypes: ['violations']}).then(r => r.violations.map(v => ({
                id: v.id, impact: v.impact, nodes: v.nodes.slice(0, 4).map(n => n.html.slice(0, 160)),
            })))"""
        )
    messages = {
        view: [(one["id"], one["nodes"][:1]) for one in problems]
        for view, problems in by_view.items()
        if problems
    }
    assert messages == {}, messages
