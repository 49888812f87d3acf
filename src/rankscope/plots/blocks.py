"""Draws a curve with block characters on a terminal, four points per character."""

from collections.abc import Sequence
from itertools import pairwise

_BLOCKS = " ▘▝▀▖▌▞▛▗▚▐▜▄▙▟█"
"""Block characters, indexed by their filled quarters: upper left 1, upper right 2, lower left 4, lower right 8."""


def draw_blocks(values: Sequence[float], width: int = 72, height: int = 12) -> list[str]:
    """Return lines of text that show a curve, the axis at 0, and the highest and lowest value.

    If there are more values than points, each point shows the first of its values.

    >>> for line in draw_blocks([0, -1, -2, -3, -2, -1, 0, 1], width=12, height=4): print(line)
     1 │   ▐
     0 │▚──▌
       │▝▖▞
    -3 │ ▐▘
    """
    low, high = min(0.0, min(values)), max(0.0, max(values))
    if low == high:
        low, high = low - 1, high + 1
    labels = {0: f"{high:.4g}", height - 1: f"{low:.4g}"}
    points = 2 * height - 1
    axis = round((high - 0.0) / (high - low) * points) // 2
    labels.setdefault(axis, "0")
    if low == 0:
        labels[height - 1] = "0"
    if high == 0:
        labels[0] = "0"
    margin = max(map(len, labels.values()))
    columns = max(1, width - margin - 3)
    across = min(2 * columns, max(2, len(values)))
    rows = [round((high - values[x * len(values) // across]) / (high - low) * points) for x in range(across)]
    filled = _connect(rows)
    lines = []
    for row in range(height):
        cells = ""
        for column in range((across + 1) // 2):
            quarters = [(row * 2 + down, column * 2 + right) in filled for down in (0, 1) for right in (0, 1)]
            block = _BLOCKS[sum(1 << k for k, on in enumerate(quarters) if on)]
            cells += "─" if block == " " and row == axis else block
        lines.append(f"{labels.get(row, ''):>{margin}} │{cells.rstrip()}")
    return lines


def _connect(rows: Sequence[int]) -> set[tuple[int, int]]:
    """Return the points of a curve, connected by vertical lines."""
    points = {(rows[0], 0)}
    for x, (before, after) in enumerate(pairwise(rows), 1):
        step = 1 if after >= before else -1
        start = before + step if abs(after - before) > 1 else after
        points |= {(y, x) for y in range(start, after + step, step)}
    return points
