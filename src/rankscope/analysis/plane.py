"""The effort/gain plane: Twist and a gain measure of every ranking.

The plane (Ferro et al. 2016) has Twist across, cut at 1/4, 1/2 and 3/4 into huge, high, medium and low effort,
and a gain measure upwards, cut at its quartiles over all rankings into low, medium, high and huge gain. A Twist on a
border belongs to the column above it, a gain equal to a quartile to the row below: many rankings may have the same
gain, and a ranking without gain is never high. Rankings of equal gain are those of Figure 11 there: about the same gain
at efforts from huge to low.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from rankscope.choices import CLASSES, EFFORTS, GAINS
from rankscope.errors import SettingsError, check_name
from rankscope.lazy import numpy as np
from rankscope.rows import Row, RowTable, column

if TYPE_CHECKING:
    from rankscope.arrays import Floats, Ints, NDArray
    from rankscope.judging import Judged
    from rankscope.measures import Measure


HELD = (0.5, 0.9)
"""Shares of the rankings that lie inside the contours of a plane."""

_QUARTERS = (0.25, 0.5, 0.75)
_BINS = 64  # Squares of a density along an axis.
_BLUR = 2.0  # Standard deviation of the blur, in squares.
_MIN_RANKINGS = 20  # A contour of fewer rankings is meaningless.


def find_choice(word: str, choices: tuple[str, ...], kind: str) -> int:
    """Return the index of a word among the choices, or raise an error that names them."""
    check_name(word, choices, f"there is no {kind} called {word!r}")
    return choices.index(word)


class EqualGain(Row):
    """A ranking of a certain effort, one of several whose gains are as close as possible."""

    measure: str = column()
    gain: str = column()
    effort: str = column()
    run: str = column()
    topic: str = column()
    value: float = column("value of the gain measure")
    Twist: float = column("the measure Twist of the ranking, see Measures")
    archetype: str = column()


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Planes:
    """Twist, archetype and gains of every ranking, and its cell in the plane of each gain measure.

    ``archetype`` and ``twist`` have shape (runs * topics), ``gain`` has one such array per measure; rankings that are
    left out (no relevant document, or missing with ``missing="skip"``) are empty text or NaN.
    """

    judged: Judged
    gains: tuple[Measure, ...]
    archetype: NDArray[np.str_]
    twist: Floats
    gain: tuple[Floats, ...]
    settings: Mapping[str, Any]

    @cached_property
    def counted(self) -> Ints:
        """Indices of the rankings that are not left out."""
        return np.flatnonzero(self.archetype != "")

    def labels(self, index: int) -> tuple[str, str]:
        """Return the run and the topic of a ranking."""
        run, topic = divmod(int(index), len(self.judged.topics))
        return self.judged.runs[run], self.judged.topics[topic]

    def number(self, measure: str | Measure) -> int:
        """Return the index of a gain measure."""
        from rankscope.measures.grammar import parse

        parsed = parse(measure) if isinstance(measure, str) else measure
        if parsed not in self.gains:
            names = ", ".join(map(str, self.gains))
            raise SettingsError(f"{parsed} is not one of the gains", hint=f"there are {names}")
        return self.gains.index(parsed)

    def cells(self, number: int) -> tuple[Ints, Ints, Ints]:
        """Return the rankings of a plane with their rows, from the worst gain to the best, and their columns."""
        gain = self.gains[number].merit(self.gain[number])
        where = self.counted[np.isfinite(gain[self.counted])]
        if not len(where):
            return where, where, where
        rows = np.searchsorted(np.quantile(gain[where], _QUARTERS), gain[where], side="left")
        columns = np.searchsorted(_QUARTERS, self.twist[where], side="right")
        return where, rows, columns

    def quartiles(self, measure: str | Measure) -> list[float]:
        """Return the quartiles of a gain measure, the borders of its rows; an empty list without rankings."""
        number = self.number(measure)
        where, _, _ = self.cells(number)
        return np.quantile(self.gain[number][where], _QUARTERS).tolist() if len(where) else []

    def plane(self, measure: str | Measure) -> Ints:
        """Return the number of rankings in each cell: gain from low to huge down, effort from huge to low across."""
        _, rows, columns = self.cells(self.number(measure))
        return np.bincount(rows * 4 + columns, minlength=16).reshape(4, 4)

    @cached_property
    def recall_base(self) -> Ints:
        """Number of relevant documents of the topic of each ranking."""
        return np.asarray(self.judged.lists.recall_base(1), np.int64)

    def classes(self, by: str) -> tuple[Ints, list[str]]:
        """Return the class of each ranking (-1: left out) and the names of the classes: see :data:`CLASSES`.

        Classes by recall base are quarters of the topics: up to the lower quartile, the median, and so on. Classes by
        group are the groups of runs in the settings.
        """
        from rankscope.measures.effort_curves import ARCHETYPES

        find_choice(by, CLASSES, "class of rankings")
        topics = len(self.judged.topics)
        if by == "archetype":
            names = list(ARCHETYPES)
            codes = np.array([names.index(str(name)) if name else -1 for name in self.archetype], np.int64)
        elif by == "topic":
            names, codes = list(self.judged.topics), np.arange(len(self.twist)) % max(1, topics)
        elif by == "group":
            names, groups = self._groups()
            codes = np.repeat(groups, topics)
        else:
            base = self.recall_base[:topics]
            borders = np.quantile(base, _QUARTERS) if topics else np.zeros(3)
            ends = [*borders.tolist(), float(base.max(initial=0))]
            names = [f"up to {int(end):,} relevant" for end in ends]
            codes = np.searchsorted(borders, self.recall_base, side="left")
        return np.where(self.archetype == "", -1, codes), names

    def _groups(self) -> tuple[list[str], Ints]:
        """Return the names of the groups, and the index of the group of each run; runs without a group come last."""
        groups = self.settings.get("groups")
        if not groups:
            raise SettingsError("no groups of runs are known", hint="name them: groups=, or --groups")
        names = list(dict.fromkeys(groups[run] for run in self.judged.runs if run in groups))
        codes = [names.index(groups[run]) if run in groups else len(names) for run in self.judged.runs]
        rest = ["no group"] if len(names) in codes else []
        return [*names, *rest], np.array(codes, np.int64)


def nearest_values(groups: Sequence[Sequence[float]]) -> list[int]:
    """Return an index into each ascending group of numbers that minimises the range of the selected numbers.

    If there are several minima, the one with the largest numbers is returned.

    >>> nearest_values([[0.1, 0.5, 0.9], [0.2, 0.52], [0.51, 0.8]])
    [1, 1, 0]
    """
    # Start at the largest numbers: only a smaller number in place of the highest one can reduce the range.
    at = [len(group) - 1 for group in groups]
    queue = [(-group[-1], g) for g, group in enumerate(groups)]
    heapq.heapify(queue)
    lowest = min(group[-1] for group in groups)
    smallest_range, best = np.inf, list(at)
    while True:
        highest, g = queue[0]
        if -highest - lowest < smallest_range:
            smallest_range, best = -highest - lowest, list(at)
        at[g] -= 1
        if at[g] < 0:
            return best
        lowest = min(lowest, groups[g][at[g]])
        heapq.heapreplace(queue, (-groups[g][at[g]], g))


def equal_gain(effort: Planes, gain: str | None = None) -> RowTable[EqualGain]:
    """Return a ranking of each effort in a row of the plane, such that their gains are as close as possible.

    ``gain`` names the row, by default the highest one that has rankings: if many rankings have the maximum gain, none
    lies above the upper quartile. Efforts without rankings in the row are left out.

    >>> import rankscope as rs
    >>> lists = {"a": ["d", "e", "x"], "b": ["d", "x", "e"], "c": ["x", "d", "y"], "z": ["x", "y", "z"]}
    >>> runs = {name: {"q": ranks} for name, ranks in lists.items()}
    >>> result = rs.effort(rs.Collection({"q": {"d": 1, "e": 1}}, runs), "R@2")
    >>> [row[1:5] for row in equal_gain(result, gain="low")]
    [('low', 'huge', 'z', 'q')]
    """
    wanted_row = None if gain is None else find_choice(gain, GAINS, "gain")
    selected: list[EqualGain] = []
    for number, measure in enumerate(effort.gains):
        values = effort.gain[number]
        row = int(effort.cells(number)[1].max(initial=0)) if wanted_row is None else wanted_row
        for cost, index in _select(effort, number, row).items():
            run, topic = effort.labels(index)
            value, twist = float(values[index]), float(effort.twist[index])
            archetype = str(effort.archetype[index])
            selected.append(
                EqualGain(str(measure), GAINS[row], EFFORTS[cost], run, topic, value, twist, archetype)
            )
    return EqualGain.table("equal_gain", selected, caption="Rankings of about equal gain, by effort")


def _select(effort: Planes, number: int, row: int) -> dict[int, int]:
    """Return the selected ranking of each column in a row of the plane of a gain measure."""
    where, rows, columns = effort.cells(number)
    values = effort.gain[number]
    groups: dict[int, Ints] = {}
    for cost in range(4):
        inside = where[(rows == row) & (columns == cost)]
        if len(inside):
            # Of rankings with equal gain, the one in the middle of its column is the most typical.
            off_centre = np.abs(effort.twist[inside] - (cost + 0.5) / 4)
            groups[cost] = inside[np.lexsort((-inside, -off_centre, values[inside]))]
    picks = nearest_values([values[group].tolist() for group in groups.values()]) if groups else []
    return {cost: int(group[pick]) for (cost, group), pick in zip(groups.items(), picks, strict=True)}


def run_means(run: Ints, twist: Floats, gain: Floats) -> Floats:
    """Return the mean and the quartiles of Twist, then of the gain, over the rankings of each run (runs, 6).

    >>> run_means(np.array([0, 0]), np.array([0.0, 1.0]), np.array([0.5, 0.5]))
    array([[0.5 , 0.25, 0.75, 0.5 , 0.5 , 0.5 ]])
    """
    rows = []
    for index in np.unique(run):
        is_of_run = run == index
        values = (twist[is_of_run], gain[is_of_run])
        rows.append([x for v in values for x in (float(v.mean()), *np.quantile(v, (0.25, 0.75)).tolist())])
    return np.array(rows, np.float64).reshape(-1, 6)


@dataclass(frozen=True, eq=False)
class Density:
    """Density of rankings in a plane: ``height`` at (gain, Twist), and the ``levels`` of the contours of HELD."""

    twist: Floats
    gain: Floats
    height: Floats
    levels: tuple[float, ...]
    held: list[float | None]
    """Share of the innermost contour around each ranking; None outside of all contours."""


def estimate_density(twist: Floats, gain: Floats, low: float, high: float) -> Density | None:
    """Return the blurred number of rankings in squares of a plane; None for fewer than 20 rankings.

    The contour of a share encloses that share of the rankings, the densest ones.

    >>> density = estimate_density(np.linspace(0, 1, 40), np.full(40, 0.5), 0, 1)
    >>> [density.held.count(share) for share in (0.5, 0.9, None)]
    [20, 16, 4]
    """
    if len(twist) < _MIN_RANKINGS:
        return None
    squares = [np.clip(((v - a) / (b - a) * _BINS).astype(np.int64), 0, _BINS - 1)
              for v, a, b in ((gain, low, high), (twist, 0.0, 1.0))]  # fmt: skip
    counts = np.bincount(squares[0] * _BINS + squares[1], minlength=_BINS**2).reshape(_BINS, _BINS)
    reach = int(4 * _BLUR)
    kernel = np.exp(-0.5 * (np.arange(-reach, reach + 1) / _BLUR) ** 2)
    kernel /= kernel.sum()
    height: Floats = np.pad(counts.astype(np.float64), reach, mode="symmetric")
    for axis in (0, 1):
        height = np.apply_along_axis(np.convolve, axis, height, kernel, "valid")
    heights = _between(height, [np.clip((v - a) / (b - a) * _BINS - 0.5, 0, _BINS - 1)
                           for v, a, b in ((gain, low, high), (twist, 0.0, 1.0))])  # fmt: skip
    # A stable order separates equally dense rankings, so that a contour encloses its share exactly.
    order = np.argsort(-heights, kind="stable")
    ends = [int(np.ceil(share * len(twist))) for share in HELD]
    contour: list[float | None] = [None] * len(twist)
    for share, end in reversed(list(zip(HELD, ends, strict=True))):
        for index in order[:end].tolist():
            contour[index] = share
    middle = (np.arange(_BINS) + 0.5) / _BINS
    levels = tuple(float(heights[order[end - 1]]) for end in ends)
    return Density(middle, low + middle * (high - low), height, levels, contour)


def _between(height: Floats, positions: list[Floats]) -> Floats:
    """Return heights between the middles of squares by bilinear interpolation, as contours are drawn."""
    low = [np.minimum(position.astype(np.int64), _BINS - 2) for position in positions]
    (y, x), (v, u) = low, (position - below for position, below in zip(positions, low, strict=True))
    upper = height[y + 1, x] * (1 - u) + height[y + 1, x + 1] * u
    lower = height[y, x] * (1 - u) + height[y, x + 1] * u
    heights: Floats = lower * (1 - v) + upper * v
    return heights
