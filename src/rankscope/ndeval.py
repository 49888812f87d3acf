"""What ndeval prints, with Rankscope's measures: its columns, gains over a baseline, its lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from rankscope.errors import printable
from rankscope.judging import Floats, Judged, Lists, judge
from rankscope.measures.base import Measure
from rankscope.measures.diversity import (
    AP_IA,
    ERR_IA,
    NRBP,
    P_IA,
    StRec,
    alpha_DCG,
    alpha_nDCG,
    nERR_IA,
    nNRBP,
)
from rankscope.read import Collection

__all__ = ["Values", "columns", "evaluated"]

DEPTHS = (5, 10, 20)


def columns(alpha: float, beta: float) -> dict[str, Measure]:
    """ndeval's columns, each with the measure that it is."""
    families: dict[str, Measure] = {
        "ERR-IA": ERR_IA(alpha=alpha, preset="ndeval"),
        "nERR-IA": nERR_IA(alpha=alpha, preset="ndeval"),
        "alpha-DCG": alpha_DCG(alpha=alpha, preset="ndeval"),
        "alpha-nDCG": alpha_nDCG(alpha=alpha),
    }
    found = {f"{name}@{k}": measure @ k for name, measure in families.items() for k in DEPTHS}
    found |= {"NRBP": NRBP(alpha=alpha, beta=beta), "nNRBP": nNRBP(alpha=alpha, beta=beta), "MAP-IA": AP_IA()}
    return found | {
        f"{name}@{k}": m @ k for name, m in (("P-IA", P_IA()), ("strec", StRec())) for k in DEPTHS
    }


def _cut(judged: Judged, depth: int) -> Lists:
    """The lists without what stands below a rank."""
    keep = judged.rank <= depth
    before = np.concatenate([[0], np.cumsum(keep)])
    return Lists(
        judged.pool,
        judged.lists.topic,
        np.minimum(judged.length, depth),
        before[judged.offsets],
        judged.rank[keep],
        judged.judgment[keep],
    )


@dataclass(frozen=True)
class Values:
    """The values of one run: a row for each of its topics, zeros for those without judgments."""

    tag: str
    rows: dict[str, Floats]
    judged: int
    width: int

    def against(self, other: Values, risk: float, written: str, complete: bool) -> Values:
        """Gains over another run; losses count 1 + risk times. Topics that only the other has count if complete."""
        zeros = np.zeros(self.width)
        topics = [*self.rows, *(topic for topic in other.rows if complete and topic not in self.rows)]
        rows = {}
        for topic in topics:
            gain = self.rows.get(topic, zeros) - other.rows.get(topic, zeros)
            rows[topic] = np.where(gain >= 0, gain, (1 + risk) * gain)
        tag = f"{self.tag} (rel to. {other.tag}; rs=1+a; a={written})"
        return Values(tag, rows, max(self.judged, len(rows)), self.width)

    def lines(self, topics: int | None) -> Iterator[str]:
        """One line for each topic, by number, then the mean over the judged ones, or over so many topics."""
        total = np.zeros(self.width)
        for topic in sorted(self.rows, key=_number):
            total += self.rows[topic]
            yield self._line(topic, self.rows[topic])
        number = self.judged if topics is None else max(topics, self.judged)
        yield self._line("amean", total / number if number else total)

    def _line(self, name: str, values: Floats) -> str:
        return ",".join([printable(self.tag), printable(name), *(f"{value:.6f}" for value in values)])


def evaluated(collection: Collection, measures: dict[str, Measure], depth: int | None) -> list[Values]:
    judged = judge(*collection, allow_disjoint=True)
    lists = judged.lists if depth is None else _cut(judged, depth)
    values = np.stack([judged.grid(measure.evaluate(lists)) for measure in measures.values()], axis=-1)
    present = judged.grid(judged.present)
    found = []
    for r, name in enumerate(judged.runs):
        rows = {topic: values[r, t] for t, topic in enumerate(judged.topics) if present[r, t]}
        rows |= dict.fromkeys(judged.ignored_topics.get(name, ()), np.zeros(len(measures)))
        found.append(Values(judged.tags[r], rows, int(present[r].sum()), len(measures)))
    return found


def _number(topic: str) -> tuple[int, str]:
    """Topics by the number in their name, as ndeval reads it: what follows the first hyphen, if there is one."""
    number = re.search(r"\d+", topic.partition("-")[2] or topic)
    return (int(number[0]) if number else 0, topic)
