"""The generative model of synthetic collections: systems, topics, documents, rankings and the judged pool.

Every topic has candidate documents with a latent *topicality*; the most topical are relevant. A system sees

    score = ability * topicality + shared attraction + taste of its family + own noise

so that errors of systems are correlated (all retrieve the same attractive documents, systems of one family more so),
good systems do better on most topics, and easy topics are easy for most systems. A family overlooks half of the
documents, so that many pooled documents of one family are missing from the rankings of another. Only some systems
contribute to the pool.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rankscope.arrays import Floats, Indices, Ints, NDArray
from rankscope.errors import SettingsError


class RandomStream:
    """A reproducible stream of random numbers, independent for each key.

    >>> first, same, other = (RandomStream(*key).uniform(2).tolist() for key in ((1, 2), (1, 2), (1, 3)))
    >>> first == same != other
    True
    """

    def __init__(self, *key: int) -> None:
        self._bits = np.random.PCG64(np.random.SeedSequence(key))

    def uniform(self, count: int) -> Floats:
        """Return numbers in [0, 1), multiples of 2^-53."""
        return (self._raw(count) >> np.uint64(11)).astype(np.float64) * 2.0**-53

    def normal(self, count: int) -> Floats:
        """Return approximately normal numbers, mean 0 and variance 1: sums of the four 16-bit parts of raw numbers."""
        raw = self._raw(count)
        lanes = np.uint64(0x0000FFFF0000FFFF)
        pairs = (raw & lanes) + ((raw >> np.uint64(16)) & lanes)
        total = (pairs & np.uint64(0xFFFFFFFF)) + (pairs >> np.uint64(32))
        return (total.astype(np.float64) - 131070.0) * (1.7320508075688772 / 65536.0)

    def log_normal(self, count: int, spread: float) -> Floats:
        """Return approximately log-normal numbers with median 1: (1 + z/8)^8, close to exp(z), z = spread * normal."""
        root = np.maximum(1.0 + self.normal(count) * (spread / 8.0), 0.0)
        square = root * root
        fourth = square * square
        eighth: Floats = fourth * fourth
        return eighth

    def _raw(self, count: int) -> NDArray[np.uint64]:
        raw: NDArray[np.uint64] = self._bits.random_raw(count)
        return raw


# Candidates that compete for the first ranks; deeper rankings are filled with weaker documents.
_N_CORE = 12_000
_P_OVERLOOKED = 0.5  # Share of the documents that a family overlooks.
_MAX_DEPTH = 1_000_000
_MINIMUMS = {"systems": 1, "topics": 1, "grades": 2, "depth": 1, "seed": 0, "pool_depth": 1, "aspects": 0}
_P_MISSING_TOPIC = 0.04  # Share of topics that a forgetful system omits.


class Family(NamedTuple):
    """Similar systems: the same taste, similar ability, the same scale and precision of scores."""

    name: str
    ability: float
    scale: float  # Factor of the written scores.
    decimals: int  # Few decimals cause many ties.
    full: bool  # False: rankings may be shorter than the depth.


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
    """A simulated retrieval system."""

    name: str
    family: int
    ability: float
    pooled: bool
    forgetful: bool


class RankedList(NamedTuple):
    """Ranking of a system for a topic: candidates in its order, and scores in units of the last decimal."""

    candidates: Indices
    ticks: Ints


class Topic(NamedTuple):
    """Rankings and judgments of a topic."""

    number: int
    lists: list[RankedList | None]  # One per system; None if the system omits the topic.
    judged: Indices
    grades: Ints  # Grades of the judged candidates.
    aspects: Ints  # Grade of each judged candidate for each aspect, shape (judged, aspects).


@dataclass(frozen=True)
class Settings:
    """Arguments of :func:`rankscope.simulation.simulate`."""

    systems: int
    topics: int
    grades: int
    depth: int
    seed: int
    pool_depth: int
    aspects: int
    sparse: bool

    def validate(self) -> None:
        """Raise SettingsError for values outside their range."""
        for name, minimum in _MINIMUMS.items():
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < minimum:
                raise SettingsError(f"{name} is {value!r}", hint=f"give a whole number of at least {minimum}")
        if self.depth > _MAX_DEPTH:
            raise SettingsError(f"depth is {self.depth}", hint=f"give at most {_MAX_DEPTH:,} documents")
        if self.grades > 10:
            raise SettingsError(f"grades is {self.grades}", hint="give between 2 (binary) and 10")

    @property
    def candidates(self) -> int:
        """Number of documents per topic that a system may return."""
        return _N_CORE if self.depth <= _N_CORE // 2 else _N_CORE + 2 * self.depth


def make_systems(settings: Settings) -> list[System]:
    """Return the systems, cycling through families; systems of a family differ in ability."""
    stream = RandomStream(settings.seed, 1)
    systems = []
    for index, deviation in enumerate(stream.normal(settings.systems).tolist()):
        member, family = divmod(index, len(FAMILIES))
        ability = max(0.08, FAMILIES[family].ability + 0.2 * deviation)
        name = f"{FAMILIES[family].name}-{member + 1}"
        systems.append(System(name, family, ability, pooled=index % 4 != 3, forgetful=index % 10 == 8))
    return systems


def make_topic(settings: Settings, systems: list[System], number: int) -> Topic:
    """Return a topic with its documents, rankings and judgments, independent of other topics."""
    count = settings.candidates
    stream = RandomStream(settings.seed, 2, number)
    ease = float(stream.log_normal(1, 0.38)[0])
    topicality = stream.normal(count)
    attraction = stream.normal(count)
    topicality[_N_CORE:] -= 1.5
    attraction[_N_CORE:] -= 1.5
    grades = _make_grades(settings, stream, topicality)
    aspects = _make_aspects(settings, stream, grades)
    tastes = [
        attraction + _make_taste(settings, number, family, aspects)
        for family in range(min(len(FAMILIES), settings.systems))
    ]
    signal = topicality * ease
    streams = (RandomStream(settings.seed, 4, number, index) for index in range(len(systems)))
    lists = [
        _make_list(settings, system, signal, tastes[system.family], own_stream, number)
        for system, own_stream in zip(systems, streams, strict=True)
    ]
    judged = _select_pool(settings, systems, lists, grades)
    return Topic(number, lists, judged, grades[judged], aspects[judged])


def _make_grades(settings: Settings, stream: RandomStream, topicality: Floats) -> Ints:
    """Return the true grades: the most topical candidates have grade 1, the best quarter of them grade 2, and so on."""
    size = float(stream.log_normal(1, 1.25)[0])
    sparse_draw = float(stream.uniform(1)[0])
    worth = topicality + 0.5 * stream.normal(len(topicality))
    if settings.sparse:
        recall_base = 2 if sparse_draw < 1 / 16 else 1
    else:
        recall_base = min(max(4, int(270.0 * size)), _N_CORE // 4)
    best = np.argsort(-worth[:_N_CORE], kind="stable")[:recall_base]
    grades = np.zeros(len(topicality), dtype=np.int64)
    if settings.sparse:
        topicality[best] += 1.0  # The judged document of a sparse collection answers the question well.
    for grade in range(1, settings.grades):
        grades[best] = grade
        best = best[: (len(best) + 3) // 4]
    return grades


def _make_aspects(settings: Settings, stream: RandomStream, grades: Ints) -> Ints:
    """Return grades, shape (candidates, aspects): a relevant document covers one aspect and may mention others."""
    aspect_grades = np.zeros((len(grades), settings.aspects), dtype=np.int64)
    relevant = np.flatnonzero(grades)
    if settings.aspects:
        # Squaring makes the first aspects more frequent.
        choice = stream.uniform(len(relevant))
        main_aspect = (choice * choice * settings.aspects).astype(np.int64)
        for aspect in range(settings.aspects):
            is_mentioned = stream.uniform(len(relevant)) < 0.15
            aspect_grades[relevant, aspect] = np.where(main_aspect == aspect, grades[relevant], is_mentioned)
    return aspect_grades


def _make_taste(settings: Settings, number: int, family: int, aspects: Ints) -> Floats:
    """Return the bonus of a family for each candidate; candidates it overlooks get a large negative one."""
    stream = RandomStream(settings.seed, 3, number, family)
    liking: Floats = 0.8 * stream.normal(len(aspects)) + _aspect_bonus(aspects, family)
    if not settings.sparse:  # Judged documents of sparse collections were found by systems.
        liking[stream.uniform(len(aspects)) < _P_OVERLOOKED] -= 7.0
    return liking


def _aspect_bonus(aspects: Ints, family: int) -> Floats:
    """Return the bonus of a family for its favourite aspect, which makes each ranking less diverse than their union."""
    bonus = np.zeros(len(aspects))
    if aspects.shape[1]:
        bonus[aspects[:, family % aspects.shape[1]] > 0] = 0.8
    return bonus


def _make_list(
    settings: Settings, system: System, signal: Floats, taste: Floats, stream: RandomStream, topic: int
) -> RankedList | None:
    """Return the ranking of a system, or None if it omits the topic (never the first, so that no run is empty)."""
    luck = float(stream.normal(1)[0])
    shortfall, lapse = stream.uniform(2).tolist()
    if system.forgetful and topic > 0 and lapse < _P_MISSING_TOPIC:
        return None
    family = FAMILIES[system.family]
    ability = system.ability * max(0.1, 1.0 + 0.34 * luck)
    score = signal * ability + 0.42 * (taste + 1.2 * stream.normal(len(signal)))
    length = settings.depth if family.full else max(1, int(settings.depth * (0.05 + 0.95 * shortfall)))
    length = min(length, len(score))
    # Partitioning first and sorting only the selected documents is several times faster than sorting everything.
    threshold = np.partition(score, len(score) - length)[len(score) - length]
    candidates = np.flatnonzero(score >= threshold)
    order = candidates[np.argsort(-score[candidates], kind="stable")[:length]]
    ticks = np.maximum(np.floor((score[order] + 9.0) * (family.scale * 10.0**family.decimals)), 0.0)
    return RankedList(order, ticks.astype(np.int64))


def _select_pool(
    settings: Settings, systems: list[System], lists: list[RankedList | None], grades: Ints
) -> Indices:
    """Return the judged candidates: the union of the first documents of the pooled systems."""
    if settings.sparse:
        return np.flatnonzero(grades)
    is_judged = np.zeros(len(grades), dtype=bool)
    for system, ranking in zip(systems, lists, strict=True):
        if system.pooled and ranking is not None:
            is_judged[ranking.candidates[: settings.pool_depth]] = True
    if not grades[is_judged].any():
        is_judged[np.argmax(grades)] = True  # Test collections drop topics without relevant documents.
    return np.flatnonzero(is_judged)
