"""What all tests share: where real data and published values are, and small collections."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).parents[1]

# the usual pass tries the same examples every time; a thorough one looks for new ones
settings.register_profile(
    "quick", max_examples=60, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile(
    "thorough", max_examples=2000, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile(os.environ.get("RANKSCOPE_HYPOTHESIS", "quick"))


DATA = Path(os.environ.get("RANKSCOPE_DATA") or ROOT.parent / "shared" / "data")
"""Where official files are looked for; docs/data.md says how to get them."""


class OfficialFiles:
    """The folder of official files: ``data_dir / "cranfield"`` is a collection, or a visible skip."""

    def __truediv__(self, name: str) -> Path:
        if not (DATA / name).is_dir():
            pytest.skip(f"the official files {name} are absent: see docs/data.md")
        return DATA / name


@pytest.fixture(scope="session")
def data_dir() -> OfficialFiles:
    """Real runs and judgments (TREC-COVID, Cranfield, Web diversity, trec_eval's own tests)."""
    return OfficialFiles()


Cases = list[dict[str, Any]]


def _cases(name: str) -> Cases:
    cases: Cases = json.loads((ROOT / "tests" / "golden" / name).read_text("utf-8"))["cases"]
    return cases


@pytest.fixture(scope="session")
def golden() -> Cases:
    """Published and derived values: cases with function, inputs, expected."""
    return _cases("golden.json")


@pytest.fixture(scope="session")
def certainty() -> Cases:
    """Exact values under ties and unjudged documents, dominance and interval mappings, by enumeration."""
    return _cases("certainty.json")
