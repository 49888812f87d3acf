"""Comparison of two intervals of rankings, rank by rank, and of the rises of a measure on them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rankscope.errors import SettingsError
from rankscope.lab.measurement.intervals import cumsum, delta, is_below
from rankscope.lab.measurement.values import merits_on_grades
from rankscope.lab.rounding import magnitude, upper_limits
from rankscope.measures import Measure
from rankscope.measures.grammar import parse
from rankscope.result import TableResult
from rankscope.tables import Cell, Table

Ranking = str | Sequence[int]
"""Grades from rank 1 on, as numbers or as text such as ``"0110"``."""


class IntervalComparison(TableResult):
    """Two intervals of rankings and their difference vectors."""

    figures = {"intervals": "intervals.plot_compared"}


def compare_intervals(
    r: Ranking,
    s: Ranking,
    u: Ranking,
    v: Ranking,
    measure: str | Measure | None = None,
    *,
    rises: tuple[float, float] | None = None,
) -> IntervalComparison:
    """Compare the intervals [r, s] and [u, v]: their difference vectors, and the rises of a measure.

    If Delta_sr <= Delta_vu at every rank, a measure on an interval-like scale must not rise more on [r, s] than on
    [u, v] (Ferrante, Ferro and Pontarollo 2017).

    Parameters
    ----------
    r, s, u, v
        Rankings of equal length with r <= s and u <= v.
    measure
        Measure or its name.
    rises
        Rises of the measure on both intervals; by default they are computed.

    Returns
    -------
    IntervalComparison
        ``comparison`` {measure, rise_sr, rise_vu, no_larger, contradiction} and ``intervals`` {rank, r, sum_r, s,
        sum_s, u, sum_u, v, sum_v, delta_sr, delta_vu}. With several grades there are rows for each {grade}, and the
        sums count documents of that grade or better.

    Examples
    --------
    >>> result = compare_intervals("001", "010", "010", "100", "DCG(discount='jk')")
    >>> result["intervals"].column("delta_sr"), result["intervals"].column("delta_vu")
    ([0, 1, 1], [1, 1, 1])
    >>> result["comparison"].records()[0]["contradiction"]
    True
    """
    ends = {name: _grades(value, name) for name, value in zip("rsuv", (r, s, u, v), strict=True)}
    _check(ends)
    name, known_rises = _rises(ends, measure, rises)
    table = _table(ends)
    first, second = (np.array(table.column(column), np.int64) for column in ("delta_sr", "delta_vu"))
    no_larger = bool((first <= second).all())
    contradicts = None
    if known_rises is not None:
        rise = np.array(known_rises)
        contradicts = no_larger and bool(rise[0] > upper_limits(rise[1:], magnitude(rise))[0])
    row: tuple[Cell, ...] = (name, *(known_rises or (None, None)), no_larger, contradicts)
    columns = ("measure", "rise_sr", "rise_vu", "no_larger", "contradiction")
    texts = {end: "".join(map(str, grades)) for end, grades in ends.items()}
    return IntervalComparison.from_tables(
        Table("comparison", columns, [row]), table, settings={"measure": name, **texts}, main=("intervals",)
    )


def _grades(value: Ranking, name: str) -> tuple[int, ...]:
    try:
        grades = tuple(int(grade) for grade in (value.strip("()") if isinstance(value, str) else value))
    except ValueError:
        grades = (-1,)
    if not grades or set(grades) - set(range(10)):
        hint = "write its grades, such as '0110' or '0210'"
        raise SettingsError(f"{name}={value!r} is no ranking", hint=hint)
    return grades


def _at_least(ends: dict[str, tuple[int, ...]]) -> list[dict[str, tuple[int, ...]]]:
    """Return the binary rankings of each grade: whether documents have that grade or better."""
    best = max(1, *(max(ranking) for ranking in ends.values()))
    return [
        {name: tuple(int(value >= grade) for value in ranking) for name, ranking in ends.items()}
        for grade in range(1, best + 1)
    ]


def _check(ends: dict[str, tuple[int, ...]]) -> None:
    if len({len(ranking) for ranking in ends.values()}) != 1:
        raise SettingsError("the four rankings differ in length", hint="give rankings of equal length")
    for low, high in ("rs", "uv"):
        if not all(is_below(binary[low], binary[high]) for binary in _at_least(ends)):
            hint = "every prefix of the second must have at least as many documents of each grade or better"
            raise SettingsError(f"{low} is not below {high}", hint=hint)


def _rises(
    ends: dict[str, tuple[int, ...]], measure: str | Measure | None, rises: tuple[float, float] | None
) -> tuple[str | None, tuple[float, float] | None]:
    """Return the name of a measure and its rises on the two intervals."""
    if measure is None or rises is not None:
        return None if measure is None else str(measure), rises
    parsed = parse(measure) if isinstance(measure, str) else measure
    at = merits_on_grades(parsed, [ends[name] for name in "rsuv"]).tolist()
    return str(parsed), (at[1] - at[0], at[3] - at[2])


def _table(ends: dict[str, tuple[int, ...]]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    by_grade = _at_least(ends)
    for grade, binary in enumerate(by_grade, start=1):
        columns: dict[str, list[Any]] = {"grade": [grade] * len(ends["r"])} if len(by_grade) > 1 else {}
        columns["rank"] = list(range(1, len(ends["r"]) + 1))
        for name in "rsuv":
            columns[name] = list(ends[name])
            columns[f"sum_{name}"] = cumsum(binary[name]).tolist()
        columns["delta_sr"] = delta(binary["r"], binary["s"]).tolist()
        columns["delta_vu"] = delta(binary["u"], binary["v"]).tolist()
        rows += zip(*columns.values(), strict=True)
    return Table("intervals", tuple(columns), rows, caption="Two intervals and their difference vectors")
