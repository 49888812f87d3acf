"""axe-core finds nothing serious in any view, light or dark, desktop or phone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Open = Callable[..., Any]
VIEWS = [
    "findings",
    "summary",
    "runs",
    "orders",
    "map",
    "plane",
    "curves",
    "versus",
    "indicators",
    "archetypes",
    "whatif",
]


@pytest.fixture(scope="module")
def axe(node_modules: Path) -> str:
    return (node_modules / "axe-core" / "axe.min.js").read_text("utf-8")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("view", VIEWS)
def test_axe_finds_nothing_serious(
    open_page: Open, collection_page: Path, axe: str, view: str, scheme: str
) -> None:
    # the policy of the page would refuse a foreign script, which is its duty; for this test it is put aside
    page = open_page(collection_page, f"view={view}", color_scheme=scheme, bypass_csp=True)
    page.wait_for_timeout(100)
    page.evaluate(axe)
    width = 390 if scheme == "dark" else 1400
    page.set_viewport_size({"width": width, "height": 900})
    found = page.evaluate(
        """axe.run().then(r => r.violations.map(v => ({
            id: v.id, impact: v.impact, nodes: v.nodes.slice(0, 4).map(n => n.html.slice(0, 160)),
        })))"""
    )
    serious = [one for one in found if one["impact"] in ("serious", "critical")]
    assert serious == []
