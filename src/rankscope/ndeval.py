"""A reimplementation of ndeval with Rankscope's measures: columns, gains over a baseline, output lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from rankscope.errors import printable
from rankscope.judging import Floats, judge
from rankscope.measures import diversity
from rankscope.measures.base import Measure
from rankscope.read import Inputs

__all__ = ["Values", "evaluate", "make_columns"]

DEPTHS = (5, 10, 20)


def make_columns(alpha: float, beta: float) -> dict[str, Measure]:
    """Return the measures of ndeval's columns by name."""
    families: dict[str, Measure] = {
        "ERR-IA": diversity.ERR_IA(alpha=alpha, preset="ndeval"),
        "nERR-IA": diversity.nERR_IA(alpha=alpha, preset="ndeval"),
        "alpha-DCG": diversity.alpha_DCG(alpha=alpha, preset="ndeval"),
        "alpha-nDCG": diversity.alpha_nDCG(alpha=alpha),
    }
    measures = {f"{name}@{k}": measure @ k for name, measure in families.items() for k in DEPTHS}
    measures |= {
        "NRBP": diversity.NRBP(alpha=alpha, beta=beta),
        "nNRBP": diversity.nNRBP(alpha=alpha, beta=beta),
        "MAP-IA": diversity.AP_IA(),
    }
    return measures | {
        f"{name}@{k}": m @ k
        for name, m in (("P-IA", diversity.P_IA()), ("strec", diversity.StRec()))
        for k in DEPTHS
    }


@dataclass(frozen=True)
class Values:
    """Values of one run: a row per topic, zeros for topics without judgments."""

    tag: str
    rows: dict[str, Floats]
    judged: int
    width: int

    def subtract(self, other: Values, risk: float, risk_text: str, complete: bool) -> Values:
        """Return gains over another run, losses weighted by 1 + risk.

        Topics that only the other run has are included if ``complete``.
        """
        zeros = np.zeros(self.width)
        topics = [*self.rows, *(topic for topic in other.rows if complete and topic not in self.rows)]
        rows = {}
        for topic in topics:
            gain = self.rows.get(topic, zeros) - other.rows.get(topic, zeros)
            rows[topic] = np.where(gain >= 0, gain, (1 + risk) * gain)
        tag = f"{self.tag} (rel to. {other.tag}; rs=1+a; a={risk_text})"
        return Values(tag, rows, max(self.judged, len(rows)), self.width)

    def lines(self, topics: int | None) -> Iterator[str]:
        """Yield one line per topic, sorted by number, and the mean over judged topics or over ``topics`` topics."""
        total = np.zeros(self.width)
        for topic in sorted(self.rows, key=_topic_key):
            total += self.rows[topic]
            yield self._line(topic, self.rows[topic])
        number = self.judged if topics is None else max(topics, self.judged)
        yield self._line("amean", total / number if number else total)

    def _line(self, name: str, values: Floats) -> str:
        return ",".join([printable(self.tag), printable(name), *(f"{value:.6f}" for value in values)])


def evaluate(collection: Inputs, measures: dict[str, Measure], depth: int | None) -> list[Values]:
    """Return the values of each run, for rankings cut at ``depth``."""
    judged = judge(*collection, allow_disjoint=True)
    lists = judged.lists if depth is None else judged.lists.truncate(depth)
    values = np.stack([judged.grid(measure.evaluate(lists)) for measure in measures.values()], axis=-1)
    present = judged.grid(judged.present)
    results = []
    for r, name in enumerate(judged.runs):
        rows = {topic: values[r, t] for t, topic in enumerate(judged.topics) if present[r, t]}
        rows |= dict.fromkeys(judged.ignored_topics.get(name, ()), np.zeros(len(measures)))
        results.append(Values(judged.tags[r], rows, int(present[r].sum()), len(measures)))
    return results


def _topic_key(topic: str) -> tuple[int, str]:
    """Return the sort key of a topic: the number in its name, after the first hyphen if there is one, as in ndeval."""
    number = re.search(r"\d+", topic.partition("-")[2] or topic)
    return (int(number[0]) if number else 0, topic)
