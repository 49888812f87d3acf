"""Utility of a ranking to its user, net of cost: rank-biased utility and time-biased gain."""

from __future__ import annotations

from math import log

import numpy as np

from rankscope.judging.lists import Floats, Hits, Lists
from rankscope.measures.base import OPEN, Binary, parameter, weights_down_to
from rankscope.measures.diversity import Diversity

ORDER = 7
"""Position of these measures in listings."""


class RBU(Diversity):
    """Rank-biased utility: what each aspect still gains from a document, less the effort of looking at it.

    RBU@k = sum over ranks i <= k of p^i ( sum over aspects a of w_a r(i,a) prod over j < i of (1 - r(j,a)) - e )
    r = grade / max_grade;  ranks at which the ranking has no document cost nothing
    preset evall: the program of the authors, (1 - p) p^(i-1) instead of p^i, r = (2^grade - 1) / 2^g with g the
    best grade of the aspect (there p = 0.8 and e = 0.03 unless set)

    User: Goes on to the next rank with probability p and wants all aspects, each satisfied a little more by every
    document; gains what is new and pays an effort e for each document, so that a shorter ranking can be better.
    """

    reference = "Amigo, Spina and Carrillo-de-Albornoz 2018"
    range = (-float("inf"), float("inf"))
    p: float = parameter(0.99, "probability of going on to the next rank", low=0, high=1, excluded=OPEN)
    e: float = parameter(0.05, "effort of looking at a document", low=0, high=1e6)
    max_grade: int = parameter(0, "best grade possible; 0 takes it from the judgments", low=0)
    preset: str = parameter(
        "definition", "definition: as printed in the paper; evall: the program of its authors",
        choices=("definition", "evall"),
    )  # fmt: skip

    def evaluate(self, lists: Lists) -> Floats:
        hits = lists.by_aspect.lists.relevant(1, self.cutoff)
        chance = self._chance(lists, hits)
        worth = chance * hits.product_before(1 - chance) * hits.at_rank(self.weight)
        gained = lists.by_aspect.sum_hits(hits, worth, lists.pool.aspect_weights())
        looked_at = self.weight(np.ones(1))[0] * (1 - self.p ** lists.retrieved(self.cutoff)) / (1 - self.p)
        return np.asarray(gained - self.e * looked_at)

    def weight(self, rank: Floats) -> Floats:
        """Return the weight of each rank."""
        if self.preset == "evall":
            return np.asarray((1 - self.p) * self.p ** (rank - 1.0))
        return np.asarray(self.p**rank, np.float64)

    def rank_weights(self, depth: int) -> Floats | None:
        return weights_down_to(depth, self.weight, self.cutoff)

    def _chance(self, lists: Lists, hits: Hits) -> Floats:
        """r: how much of an aspect a document satisfies."""
        pool = lists.pool.by_aspect
        if self.preset == "definition":
            return np.minimum(hits.grade / (self.max_grade or pool.max_grade), 1.0)
        best = np.zeros(len(pool))
        np.maximum.at(best, pool.topic, np.maximum(pool.grade, 0))
        top = lists.by_aspect.lists.per_topic(best)[hits.list] if not self.max_grade else self.max_grade
        return np.asarray((2.0**hits.grade - 1) / 2.0**top)


class TBG(Binary):
    """Time-biased gain: relevant documents gain less the more time has passed when the user reaches them.

    TBG = sum over relevant documents of gain * 2^(-T / half_life);  T = seconds spent on the documents above,
    look + (word * words + decision) P(click) each, with P(click) = click for relevant documents, else other_click

    User: Reads summaries and opens some documents against the clock, and stops at any second with the same chance;
    gains each relevant document found by then, while reading costs time.
    """

    reference = "Smucker and Clarke 2012"
    range = (0.0, float("inf"))
    half_life: float = parameter(
        224.0,
        "seconds after which half of the users have stopped",
        low=0,
        excluded="give seconds, such as 224",
    )
    gain: float = parameter(0.4928, "of a relevant document: that it is clicked and found relevant", low=0)
    words: float = parameter(150.0, "length of a document in words", low=0)
    look: float = parameter(4.4, "seconds to look at a summary", low=0)
    word: float = parameter(0.018, "seconds to read a word", low=0)
    decision: float = parameter(7.8, "seconds to decide about a document that was opened", low=0)
    click: float = parameter(0.64, "probability that a relevant document is opened", low=0, high=1)
    other_click: float = parameter(0.39, "probability that another document is opened", low=0, high=1)

    def seconds(self, click: float) -> float:
        """Return the time spent on a document that is opened with some probability."""
        return float(self.look + (self.word * self.words + self.decision) * click)

    def evaluate(self, lists: Lists) -> Floats:
        hits = lists.relevant(self.rel, self.cutoff)
        relevant, other = self.seconds(self.click), self.seconds(self.other_click)
        passed = hits.at_rank(lambda rank: (rank - 1.0) * other) + (hits.ordinal - 1) * (relevant - other)
        return hits.sum(self.gain * np.exp(passed * (-log(2) / self.half_life)))
