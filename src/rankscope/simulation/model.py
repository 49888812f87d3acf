"""How a synthetic collection comes about: systems, topics, documents, lists, and the pool that is judged.

Every topic has candidate documents with a latent *topicality*; the most topical are relevant. A system sees

    score = ability * topicality + shared attraction + taste of its family + own noise

so systems err together (all fall for the same attractive documents, relatives more so), good systems do
better on most topics, and easy topics are easy for most systems. A family has no words for half of the
documents and hardly finds them, so that what one family brings into the pool is missing from the lists of
another. Only some systems feed the pool.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rankscope.errors import SettingsError
from rankscope.simulation.dice import Dice

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]
    Candidates = NDArray[np.intp]

__all__ = ["FAMILIES", "List", "Settings", "System", "Topic", "make_systems", "make_topic"]

_CORE = 12_000  # candidates that compete for the first ranks; deeper lists are filled with weaker documents
_OVERLOOKED = 0.5  # share of the documents that a family has no words for
_DEEPEST = 1_000_000
_MISSES = 0.04  # share of topics that a forgetful system leaves out


class Family(NamedTuple):
    """Systems built alike: the same taste, similar ability, scores of the same look."""

    name: str
    ability: float
    scale: float  # of the scores written
    decimals: int  # few decimals give many ties
    full: bool  # False: lists end where the system has nothing more to say


FAMILIES = (
    Family("lexical", 0.90, 2.0, 4, True),
    Family("dense", 1.00, 0.05, 5, True),
    Family("hybrid", 1.45, 0.5, 5, True),
    Family("boolean", 0.50, 1.0, 2, False),
    Family("feedback", 1.10, 2.0, 3, True),
    Family("reranked", 1.70, 0.06, 5, True),
    Family("graph", 0.70, 8.0, 2, True),
)


class System(NamedTuple):
    """A maker of runs."""

    name: str
    family: int
    ability: float
    pooled: bool
    forgetful: bool


class List(NamedTuple):
    """One system on one topic: candidates in its order, and their scores in units of the last decimal."""

    candidates: Candidates
    ticks: Integers


class Topic(NamedTuple):
    """All lists of a topic and its judgments."""

    number: int
    lists: list[List | None]  # one per system; None: the system left the topic out
    judged: Candidates
    grades: Integers  # of the judged
    aspects: Integers  # judged x aspects: grade for every aspect


@dataclass(frozen=True)
class Settings:
    """The arguments of :func:`rankscope.simulation.simulate`."""

    systems: int
    topics: int
    grades: int
    depth: int
    seed: int
    pool_depth: int
    aspects: int
    sparse: bool

    def check(self) -> None:
        """Refuse what makes no collection."""
        lowest = {
            "systems": 1,
            "topics": 1,
            "grades": 2,
            "depth": 1,
            "seed": 0,
            "pool_depth": 1,
            "aspects": 0,
        }
        for name, least in lowest.items():
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
                raise SettingsError(f"{name} is {value!r}", hint=f"give a whole number of at least {least}")
        if self.depth > _DEEPEST:
            raise SettingsError(f"depth is {self.depth}", hint=f"give at most {_DEEPEST:,} documents")
        if self.grades > 10:
            raise SettingsError(f"grades is {self.grades}", hint="give between 2 (binary) and 10")

    @property
    def candidates(self) -> int:
        """Documents per topic that a system may return."""
        return _CORE if self.depth <= _CORE // 2 else _CORE + 2 * self.depth


def make_systems(settings: Settings) -> list[System]:
    """The systems: families take turns, and relatives differ in ability."""
    dice = Dice(settings.seed, 1)
    made = []
    for index, deviation in enumerate(dice.bell(settings.systems).tolist()):
        member, family = divmod(index, len(FAMILIES))
        ability = max(0.08, FAMILIES[family].ability + 0.2 * deviation)
        name = f"{FAMILIES[family].name}-{member + 1}"
        made.append(System(name, family, ability, pooled=index % 4 != 3, forgetful=index % 10 == 8))
    return made


def make_topic(settings: Settings, systems: list[System], number: int) -> Topic:
    """One topic with its documents, lists and judgments; depends on no other topic."""
    count = settings.candidates
    dice = Dice(settings.seed, 2, number)
    ease = float(dice.skewed(1, 0.38)[0])
    topicality = dice.bell(count)
    attraction = dice.bell(count)
    topicality[_CORE:] -= 1.5
    attraction[_CORE:] -= 1.5
    grades = _make_grades(settings, dice, topicality)
    aspects = _make_aspects(settings, dice, grades)
    tastes = [
        attraction + _taste(settings, number, family, aspects)
        for family in range(min(len(FAMILIES), settings.systems))
    ]
    signal = topicality * ease
    lists = [
        _make_list(
            settings, system, signal, tastes[system.family], Dice(settings.seed, 4, number, index), number
        )
        for index, system in enumerate(systems)
    ]
    judged = _pool(settings, systems, lists, grades)
    return Topic(number, lists, judged, grades[judged], aspects[judged])


def _make_grades(settings: Settings, dice: Dice, topicality: Floats) -> Integers:
    """True grades of all candidates: the most topical are relevant, a quarter of these of grade 2..."""
    size = float(dice.skewed(1, 1.25)[0])
    second = float(dice.uniform(1)[0])
    worth = topicality + 0.5 * dice.bell(len(topicality))
    if settings.sparse:
        recall_base = 2 if second < 1 / 16 else 1
    else:
        recall_base = min(max(4, int(270.0 * size)), _CORE // 4)
    best = np.argsort(-worth[:_CORE], kind="stable")[:recall_base]
    grades = np.zeros(len(topicality), dtype=np.int64)
    if settings.sparse:
        topicality[best] += 1.0  # the judged document of a sparse collection answers the question well
    for grade in range(1, settings.grades):
        grades[best] = grade
        best = best[: (len(best) + 3) // 4]
    return grades


def _make_aspects(settings: Settings, dice: Dice, grades: Integers) -> Integers:
    """Candidates x aspects: each relevant document treats one aspect fully and perhaps others in passing."""
    table = np.zeros((len(grades), settings.aspects), dtype=np.int64)
    relevant = np.flatnonzero(grades)
    if settings.aspects:
        # a square makes the first aspects the popular ones
        choice = dice.uniform(len(relevant))
        main = (choice * choice * settings.aspects).astype(np.int64)
        for aspect in range(settings.aspects):
            passing = dice.uniform(len(relevant)) < 0.15
            table[relevant, aspect] = np.where(main == aspect, grades[relevant], passing)
    return table


def _taste(settings: Settings, number: int, family: int, aspects: Integers) -> Floats:
    """What relatives make of each candidate; half of them they have no words for."""
    dice = Dice(settings.seed, 3, number, family)
    liking: Floats = 0.8 * dice.bell(len(aspects)) + _preference(aspects, family)
    if not settings.sparse:  # what was judged in a sparse collection is what systems found
        liking[dice.uniform(len(aspects)) < _OVERLOOKED] -= 7.0
    return liking


def _preference(aspects: Integers, family: int) -> Floats:
    """Every family favours some aspect, so one list is less diverse than all lists together."""
    liked = np.zeros(len(aspects))
    if aspects.shape[1]:
        liked[aspects[:, family % aspects.shape[1]] > 0] = 0.8
    return liked


def _make_list(
    settings: Settings, system: System, signal: Floats, taste: Floats, dice: Dice, topic: int
) -> List | None:
    """What a system returns; None if it leaves the topic out (never the first, so no run is empty)."""
    luck = float(dice.bell(1)[0])
    shortfall, lapse = dice.uniform(2).tolist()
    if system.forgetful and topic > 0 and lapse < _MISSES:
        return None
    family = FAMILIES[system.family]
    ability = system.ability * max(0.1, 1.0 + 0.34 * luck)
    score = signal * ability + 0.42 * (taste + 1.2 * dice.bell(len(signal)))
    length = settings.depth if family.full else max(1, int(settings.depth * (0.05 + 0.95 * shortfall)))
    length = min(length, len(score))
    # cutting first and sorting what is left is several times faster than sorting everything
    least = np.partition(score, len(score) - length)[len(score) - length]
    kept = np.flatnonzero(score >= least)
    order = kept[np.argsort(-score[kept], kind="stable")[:length]]
    ticks = np.maximum(np.floor((score[order] + 9.0) * (family.scale * 10.0**family.decimals)), 0.0)
    return List(order, ticks.astype(np.int64))


def _pool(
    settings: Settings, systems: list[System], lists: list[List | None], grades: Integers
) -> Candidates:
    """The candidates that were judged: the union of the first documents of the pooled systems."""
    if settings.sparse:
        return np.flatnonzero(grades)
    seen = np.zeros(len(grades), dtype=bool)
    for system, found in zip(systems, lists, strict=True):
        if system.pooled and found is not None:
            seen[found.candidates[: settings.pool_depth]] = True
    if not grades[seen].any():
        seen[np.argmax(grades)] = True  # a topic without a relevant document would not have been kept
    return np.flatnonzero(seen)
