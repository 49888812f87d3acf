"""The public names: all there, functions before submodules of the same name."""

from __future__ import annotations

import subprocess
import sys
from types import ModuleType

import pytest

import rankscope as rs


@pytest.mark.parametrize("name", [n for n in rs.__all__ if n not in ("errors", "lab", "plots", "engines")])
def test_every_public_name_resolves_and_stays_what_it_is(name: str) -> None:
    assert not isinstance(getattr(rs, name), ModuleType)
    assert getattr(rs, name) is getattr(rs, name)


def test_functions_win_over_submodules() -> None:
    import rankscope.judging
    import rankscope.simulation  # noqa: F401

    assert callable(rs.simulate)
    assert callable(rs.judge)


def test_measures_are_names_too() -> None:
    assert str(rs.nDCG @ 10) == "nDCG@10"
    assert "Twist" in dir(rs)
    with pytest.raises(AttributeError, match="no attribute 'Twits'"):
        _ = rs.Twits


def test_import_is_light() -> None:
    probe = "import sys, rankscope; print([m for m in ('numpy', 'scipy', 'matplotlib', 'pandas') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
