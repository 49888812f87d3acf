"""Novelty and diversity measures of the TREC Web track, as ndeval prints them: one CSV line per topic, then the mean.

Judgments are lines of: topic subtopic document grade. Grades above 1 count as 1, negative ones as 0. Subtopics to
which no document is relevant are left out.

examples:
  rankscope ndeval qrels.diversity.txt run.gz
  rankscope ndeval -traditional -c qrels.diversity.txt run.gz > run.csv
  rankscope ndeval -baseline bm25.run -riskAlpha 2 qrels.diversity.txt run.gz
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from rankscope.errors import SettingsError, printable
from rankscope.files import write_atomically
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
from rankscope.read import Collection, open_collection, read_run

DEPTHS = (5, 10, 20)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("qrels", metavar="QRELS", help="judgments per subtopic (.gz allowed)")
    parser.add_argument("runs", metavar="RUN", nargs="+", help="run files (.gz allowed)")
    parser.add_argument(
        "-alpha", "--alpha", type=float, default=0.5, help="redundancy intolerance (default: 0.5)"
    )
    parser.add_argument("-beta", "--beta", type=float, default=0.5, help="patience of NRBP (default: 0.5)")
    parser.add_argument(
        "-traditional",
        "--traditional",
        action="store_true",
        help="order by score, then document id (default: by the rank column)",
    )
    parser.add_argument("-c", "--complete", action="store_true", help="average over all judged topics")
    parser.add_argument("-M", "--depth", type=int, default=None, metavar="N", help="cut runs at this depth")
    parser.add_argument(
        "-baseline", "--baseline", metavar="RUN", help="print risk-sensitive gains over this run"
    )
    parser.add_argument(
        "-riskAlpha",
        "--risk-alpha",
        default="0",
        metavar="A",
        help="losses against the baseline count 1 + A times (default: 0)",
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="write there instead (whole or not at all)")


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


def run(args: argparse.Namespace) -> None:
    for name in ("alpha", "beta"):
        if not 0 <= getattr(args, name) <= 1:
            raise SettingsError(f"{name} {getattr(args, name)}", hint=f"{name} lies between 0 and 1")
    if args.depth is not None and args.depth < 1:
        raise SettingsError(f"depth {args.depth}", hint="give a number of ranks from 1 on")
    risk = _risk(args.risk_alpha)
    order = "trec_eval" if args.traditional else "rank"
    measures = columns(args.alpha, args.beta)
    collection = open_collection(args.qrels, args.runs, order=order, aspects=True)
    baseline = None
    if args.baseline is not None:
        against = open_collection(collection.qrels, read_run(args.baseline, order=order))
        baseline = _evaluated(against, measures, args.depth)[0]
    lines = [",".join(["runid", "topic", *measures])]
    for one in _evaluated(collection, measures, args.depth):
        if baseline is not None:
            one = one.against(baseline, risk, args.risk_alpha, args.complete)
        lines += one.lines(len(collection.qrels.topics) if args.complete else None)
    text = "\n".join(lines) + "\n"
    if args.output:
        write_atomically(args.output, text)
    else:
        sys.stdout.write(text)


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


def _risk(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not value >= 0:
        raise SettingsError(f"riskAlpha {text!r}", hint="give a number from 0 on")
    return value


@dataclass(frozen=True)
class _Values:
    """The values of one run: a row for each of its topics, zeros for those without judgments."""

    tag: str
    rows: dict[str, Floats]
    judged: int
    width: int

    def against(self, other: _Values, risk: float, written: str, complete: bool) -> _Values:
        """Gains over another run; losses count 1 + risk times. Topics that only the other has count if complete."""
        zeros = np.zeros(self.width)
        topics = [*self.rows, *(topic for topic in other.rows if complete and topic not in self.rows)]
        rows = {}
        for topic in topics:
            gain = self.rows.get(topic, zeros) - other.rows.get(topic, zeros)
            rows[topic] = np.where(gain >= 0, gain, (1 + risk) * gain)
        tag = f"{self.tag} (rel to. {other.tag}; rs=1+a; a={written})"
        return _Values(tag, rows, max(self.judged, len(rows)), self.width)

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


def _evaluated(collection: Collection, measures: dict[str, Measure], depth: int | None) -> list[_Values]:
    judged = judge(*collection, allow_disjoint=True)
    lists = judged.lists if depth is None else _cut(judged, depth)
    values = np.stack([judged.grid(measure.of(lists)) for measure in measures.values()], axis=-1)
    present = judged.grid(judged.present)
    found = []
    for r, name in enumerate(judged.runs):
        rows = {topic: values[r, t] for t, topic in enumerate(judged.topics) if present[r, t]}
        rows |= dict.fromkeys(judged.ignored_topics.get(name, ()), np.zeros(len(measures)))
        found.append(_Values(judged.tags[r], rows, int(present[r].sum()), len(measures)))
    return found


def _number(topic: str) -> tuple[int, str]:
    """Topics by the number in their name, as ndeval reads it: what follows the first hyphen, if there is one."""
    number = re.search(r"\d+", topic.partition("-")[2] or topic)
    return (int(number[0]) if number else 0, topic)
