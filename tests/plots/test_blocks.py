"""Curves of block characters: in their frame, through the right points."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankscope.plots.blocks import draw_blocks

FINITE = st.floats(-1e6, 1e6, allow_nan=False)


@given(st.lists(FINITE, min_size=1, max_size=300), st.integers(30, 120), st.integers(3, 20))
def test_a_curve_stays_in_its_frame(values: list[float], width: int, height: int) -> None:
    lines = draw_blocks(values, width, height)
    assert len(lines) == height
    assert max(map(len, lines)) <= width
    assert len({line.index("│") for line in lines}) == 1


def test_the_axis_and_the_ends() -> None:
    assert draw_blocks([0, 1, 2, 3], width=20, height=2) == ["3 │ ▞", "0 │▞─"]
    assert draw_blocks([0, -1, -2, -3], width=20, height=2) == [" 0 │▚─", "-3 │ ▚"]
    assert draw_blocks([0, 0], width=20, height=3)[1].startswith(" 0 │")


@pytest.mark.parametrize("count", [1, 2, 3, 1000])
def test_the_highest_and_lowest_values_are_named(count: int) -> None:
    lines = draw_blocks([*[0.0] * count, -7.0, 5.0], width=60, height=9)
    assert lines[0].split("│")[0].strip() == "5"
    assert lines[-1].split("│")[0].strip() == "-7"
