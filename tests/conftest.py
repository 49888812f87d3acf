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


def _shared(kind: str) -> Path | None:
    """The folder of real data: next to the one RANKSCOPE_DATA names, or beside the checkout."""
    named = os.environ.get("RANKSCOPE_DATA")
    data = Path(named) if named else ROOT.parent / "shared" / "data"
    found = data if kind == "data" else data.parent / kind
    return found if found.is_dir() else None


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """Real runs and judgments (TREC-COVID, Cranfield, Web diversity, trec_eval's own tests)."""
    found = _shared("data")
    if found is None:
        pytest.skip("real data is absent: set RANKSCOPE_DATA to its folder")
    return found


@pytest.fixture(scope="session")
def golden() -> list[dict[str, Any]]:
    """Published and derived values: cases with function, inputs, expected."""
    found = _shared("golden")
    if found is None:
        pytest.skip("golden values are absent: set RANKSCOPE_DATA to the data folder beside them")
    cases: list[dict[str, Any]] = json.loads((found / "golden.json").read_text())["cases"]
    return cases
