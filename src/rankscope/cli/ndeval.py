"""Novelty and diversity measures of the TREC Web track, as ndeval prints them: one CSV line per topic, then the mean.

Judgments are lines of: topic subtopic document grade. Grades above 1 count as 1, negative ones as 0. Subtopics to
which no document is relevant are left out.

examples:
  rankscope ndeval qrels.diversity.txt run.gz
  rankscope ndeval -traditional -c qrels.diversity.txt run.gz > run.csv
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator

import numpy as np

from rankscope.errors import SettingsError, printable
from rankscope.files import write_atomically
from rankscope.judge import Floats, Judged, Lists, judge
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
from rankscope.measures.measure import Measure
from rankscope.read import read_qrels, read_runs

NAME = "ndeval"
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
    qrels = read_qrels(args.qrels, aspects=True)
    runs = read_runs(*args.runs, order="trec_eval" if args.traditional else "rank")
    judged = judge(qrels, runs, allow_disjoint=True)
    measures = columns(args.alpha, args.beta)
    lists = judged.lists if args.depth is None else _cut(judged, args.depth)
    values = np.stack([judged.grid(measure.of(lists)) for measure in measures.values()], axis=-1)
    lines = [",".join(["runid", "topic", *measures])]
    for r in range(len(judged.runs)):
        lines += _lines(judged, r, values[r], args.complete)
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


def _lines(judged: Judged, r: int, values: Floats, complete: bool) -> Iterator[str]:
    """The lines of one run: its topics by number (those without judgments as zeros), then the mean."""
    tag = printable(judged.tags[r])
    present = judged.grid(judged.present)[r]
    rows = {topic: values[t] for t, topic in enumerate(judged.topics) if present[t]}
    zeros = np.zeros(values.shape[1])
    rows |= dict.fromkeys(judged.ignored_topics.get(judged.runs[r], ()), zeros)
    total = zeros.copy()
    for topic in sorted(rows, key=_number):
        total += rows[topic]
        yield ",".join([tag, printable(topic), *(f"{value:.6f}" for value in rows[topic])])
    topics = len(present) if complete else int(present.sum())
    mean = total / topics if topics else zeros
    yield ",".join([tag, "amean", *(f"{value:.6f}" for value in mean)])


def _number(topic: str) -> tuple[int, str]:
    """Topics by the number in their name, as ndeval reads it: what follows the first hyphen, if there is one."""
    number = re.search(r"\d+", topic.partition("-")[2] or topic)
    return (int(number[0]) if number else 0, topic)
