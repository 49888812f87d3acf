"""The effort/gain plane: where every list stands by Twist and by a gain measure.

The plane (Ferro and others 2016) has Twist across, cut at 1/4, 1/2 and 3/4 into huge, high, medium and low effort,
and a gain measure upwards, cut at its quartiles over all lists into low, medium, high and huge gain. A Twist on a
border belongs to the column above it, a gain equal to a quartile to the row below: many lists may have the same gain,
and those that gain nothing are never high.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from rankscope.choices import CLASSES, EFFORTS, GAINS
from rankscope.errors import SettingsError, suggest_names
from rankscope.lazy import LazyModule
from rankscope.rows import Row, column

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from rankscope.judging import Judged
    from rankscope.measures import Measure

    Floats = npt.NDArray[np.float64]
    Ints = npt.NDArray[np.int64]
else:
    np = LazyModule("numpy")

__all__ = [
    "CLASSES",
    "EFFORTS",
    "GAINS",
    "HELD",
    "Density",
    "EqualGain",
    "Planes",
    "chosen_word",
    "density_of",
    "run_means",
]

HELD = (0.5, 0.9)
"""The shares of the lists that lie inside the contours of a plane."""

_QUARTERS = (0.25, 0.5, 0.75)
_BINS, _BLUR, _FEW = 64, 2.0, 20
"""Squares of a density along an axis, the deviation of its blur in squares, and lists below which there is none."""


def chosen_word(word: str, known: tuple[str, ...], what: str) -> int:
    """The place of a word among those there are, or an error that names them."""
    if word not in known:
        raise SettingsError(
            f"there is no {what} called {word!r}",
            hint=suggest_names(word, known) or f"choose one of {', '.join(known)}",
        )
    return known.index(word)


class EqualGain(Row):
    """A ranking of a certain effort, one of several whose gains are as close as possible."""

    measure: str = column()
    gain: str = column()
    effort: str = column()
    run: str = column()
    topic: str = column()
    value: float = column("value of the gain measure")
    Twist: float = column("the measure Twist of the list, see Measures")
    archetype: str = column()


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Planes:
    """Twist, archetype and gains of every list, and its cell in the plane of each gain measure.

    ``archetype`` and ``twist`` have one value per list (run by run, topic by topic), ``gain`` one such array per
    measure; lists that are left out (no relevant document, or missing with ``missing="skip"``) are empty text or NaN.
    """

    judged: Judged
    gains: tuple[Measure, ...]
    archetype: npt.NDArray[np.str_]
    twist: Floats
    gain: tuple[Floats, ...]
    settings: Mapping[str, Any]

    @cached_property
    def counted(self) -> Ints:
        """The lists that are not left out."""
        return np.flatnonzero(self.archetype != "")

    def labels(self, index: int) -> tuple[str, str]:
        """The run and the topic of a list."""
        run, topic = divmod(int(index), len(self.judged.topics))
        return self.judged.runs[run], self.judged.topics[topic]

    def number(self, measure: str | Measure) -> int:
        """The place of a gain measure among those of the analysis."""
        from rankscope.measures.grammar import parse

        wanted = parse(measure) if isinstance(measure, str) else measure
        if wanted not in self.gains:
            known = [str(gain) for gain in self.gains]
            raise SettingsError(f"{wanted} is not one of the gains", hint=f"there are {', '.join(known)}")
        return self.gains.index(wanted)

    def cells(self, number: int) -> tuple[Ints, Ints, Ints]:
        """The lists of a plane, with the row and the column of each; where lower gains are better, they are above."""
        gain = self.gains[number].merit(self.gain[number])
        where = self.counted[np.isfinite(gain[self.counted])]
        if not len(where):
            return where, where, where
        rows = np.searchsorted(np.quantile(gain[where], _QUARTERS), gain[where], side="left")
        columns = np.searchsorted(_QUARTERS, self.twist[where], side="right")
        return where, rows, columns

    def quartiles(self, measure: str | Measure) -> list[float]:
        """The quartiles of a gain measure over the lists of its plane, the borders of its rows; none without lists."""
        number = self.number(measure)
        where, _, _ = self.cells(number)
        return np.quantile(self.gain[number][where], _QUARTERS).tolist() if len(where) else []

    def plane(self, measure: str | Measure) -> Ints:
        """How many lists are in each cell: gain from low to huge down, effort from huge to low across."""
        _, rows, columns = self.cells(self.number(measure))
        return np.bincount(rows * 4 + columns, minlength=16).reshape(4, 4)

    @cached_property
    def recall_base(self) -> Ints:
        """The number of relevant documents of the topic of each list."""
        return np.asarray(self.judged.lists.recall_base(1), np.int64)

    def classes(self, by: str) -> tuple[Ints, list[str]]:
        """The class of each list (-1: left out) and the names of the classes: see :data:`CLASSES`.

        The classes by recall base are the quarters of the topics: up to the lower quartile, the median, and so on.
        Those by group are the groups of runs that the analysis was given.
        """
        from rankscope.measures.archetypes import ARCHETYPES

        chosen_word(by, CLASSES, "class of lists")
        topics = len(self.judged.topics)
        if by == "archetype":
            names = list(ARCHETYPES)
            found = np.array([names.index(str(name)) if name else -1 for name in self.archetype], np.int64)
        elif by == "topic":
            names, found = list(self.judged.topics), np.arange(len(self.twist)) % max(1, topics)
        elif by == "group":
            names, of_run = self._groups()
            found = np.repeat(of_run, topics)
        else:
            base = self.recall_base[:topics]
            borders = np.quantile(base, _QUARTERS) if topics else np.zeros(3)
            ends = [*borders.tolist(), float(base.max(initial=0))]
            names = [f"up to {int(end):,} relevant" for end in ends]
            found = np.searchsorted(borders, self.recall_base, side="left")
        return np.where(self.archetype == "", -1, found), names

    def _groups(self) -> tuple[list[str], Ints]:
        """The groups of runs as they first occur, and the place of that of each run; runs without one come last."""
        given = self.settings.get("groups")
        if not given:
            raise SettingsError("no groups of runs are known", hint="name them: groups=, or --groups")
        names = list(dict.fromkeys(given[run] for run in self.judged.runs if run in given))
        place = {name: k for k, name in enumerate(names)}
        of_run = [place[given[run]] if run in given else len(names) for run in self.judged.runs]
        bare = ["no group"] if len(names) in of_run else []
        return [*names, *bare], np.array(of_run, np.int64)


def run_means(run: Ints, twist: Floats, gain: Floats) -> Floats:
    """For each run the mean, the lower and the upper quartile of Twist, then of the gain, over its lists.

    >>> run_means(np.array([0, 0]), np.array([0.0, 1.0]), np.array([0.5, 0.5]))
    array([[0.5 , 0.25, 0.75, 0.5 , 0.5 , 0.5 ]])
    """
    found = []
    for one in np.unique(run):
        mine = run == one
        values = (twist[mine], gain[mine])
        found.append([x for v in values for x in (float(v.mean()), *np.quantile(v, (0.25, 0.75)).tolist())])
    return np.array(found, np.float64).reshape(-1, 6)


@dataclass(frozen=True, eq=False)
class Density:
    """How densely lists lie in a plane: ``height`` at (gain, Twist), and the heights that hold the shares of HELD."""

    twist: Floats
    gain: Floats
    height: Floats
    levels: tuple[float, ...]
    held: list[float | None]
    """For each list the share of the innermost contour around it, None outside of all."""


def density_of(twist: Floats, gain: Floats, low: float, high: float) -> Density | None:
    """The lists counted in squares of a plane and blurred; None for so few that a contour would say nothing.

    The contour of a share is as high as the list that so many lie at least as densely as: half of the lists are inside
    that of 0.5.

    >>> found = density_of(np.linspace(0, 1, 40), np.full(40, 0.5), 0, 1)
    >>> [found.held.count(share) for share in (0.5, 0.9, None)]
    [20, 16, 4]
    """
    if len(twist) < _FEW:
        return None
    places = [np.clip(((v - a) / (b - a) * _BINS).astype(np.int64), 0, _BINS - 1)
              for v, a, b in ((gain, low, high), (twist, 0.0, 1.0))]  # fmt: skip
    counts = np.bincount(places[0] * _BINS + places[1], minlength=_BINS**2).reshape(_BINS, _BINS)
    reach = int(4 * _BLUR)
    kernel = np.exp(-0.5 * (np.arange(-reach, reach + 1) / _BLUR) ** 2)
    kernel /= kernel.sum()
    height: Floats = np.pad(counts.astype(np.float64), reach, mode="symmetric")
    for axis in (0, 1):
        height = np.apply_along_axis(np.convolve, axis, height, kernel, "valid")
    at = _between(height, [np.clip((v - a) / (b - a) * _BINS - 0.5, 0, _BINS - 1)
                           for v, a, b in ((gain, low, high), (twist, 0.0, 1.0))])  # fmt: skip
    # lists that lie equally densely are held in their order, so that a share holds as many as it says
    order = np.argsort(-at, kind="stable")
    ends = [int(np.ceil(share * len(twist))) for share in HELD]
    held: list[float | None] = [None] * len(twist)
    for share, end in reversed(list(zip(HELD, ends, strict=True))):
        for index in order[:end].tolist():
            held[index] = share
    middle = (np.arange(_BINS) + 0.5) / _BINS
    return Density(
        middle, low + middle * (high - low), height, tuple(float(at[order[end - 1]]) for end in ends), held
    )


def _between(height: Floats, places: list[Floats]) -> Floats:
    """The height between the middles of squares, as a contour is drawn between them."""
    low = [np.minimum(place.astype(np.int64), _BINS - 2) for place in places]
    (y, x), (v, u) = low, (place - below for place, below in zip(places, low, strict=True))
    upper = height[y + 1, x] * (1 - u) + height[y + 1, x + 1] * u
    lower = height[y, x] * (1 - u) + height[y, x + 1] * u
    found: Floats = lower * (1 - v) + upper * v
    return found
