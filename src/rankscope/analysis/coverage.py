"""Which aspects of its topic a list covers, and at which rank first: subtopic recall at every rank follows from it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankscope.engines import on_engine
from rankscope.errors import InputError, SettingsError, suggest_names
from rankscope.judging import Judged, judge
from rankscope.read import open_collection
from rankscope.result import TableResult
from rankscope.tables import Cell, Table

__all__ = ["FirstRanks", "coverage", "coverage_of", "first_ranks"]

Floats = NDArray[np.float64]

_DEEPEST = 1000
_SHOWN = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
"""Ranks that people are shown; programs get every rank at which something changes."""


@dataclass(frozen=True, eq=False)
class FirstRanks:
    """Of every topic the aspects that count, and for each list the first rank at which it covers each of them.

    ``names`` is topics x aspects; ``first`` has the ranks, list after list, 0 where the list never covers the aspect.
    """

    names: list[list[str]]
    first: NDArray[np.uint32]


def first_ranks(judged: Judged) -> FirstRanks | None:
    """The first rank of every aspect in every list; None for judgments without aspects.

    The share of aspects whose first rank is k or above is subtopic recall, ``StRec@k``.

    >>> from rankscope.read import Qrels, Run
    >>> qrels = Qrels.from_dict({"q": {"a": {"1": 1, "2": 1}, "b": {"2": 1}, "c": {"3": 0}}})
    >>> found = first_ranks(judge(qrels, Run.from_dict({"q": ["x", "b", "a"]}, name="r")))
    >>> found.names, found.first.tolist()
    ([['1', '2']], [3, 2])
    """
    aspects = judged.qrels.aspects
    if aspects is None:
        return None
    lists = judged.lists
    hits = lists.by_aspect.lists.relevant(1)
    first = np.zeros(len(lists.by_aspect.lists), np.int64)
    backwards = np.argsort(-hits.rank, kind="stable")  # the last that is written is the first of the list
    first[hits.list[backwards]] = hits.rank[backwards]
    counted = lists.pool.aspects_counted(1)
    per_list = first.reshape(len(counted), len(lists)).T
    keep = counted[:, lists.topic].T
    ends = aspects.topic_offsets.tolist()
    names = [
        [aspects.names[a] for a in range(start, stop) if counted[a - start, t]]
        for t, (start, stop) in enumerate(pairwise(ends))
    ]
    return FirstRanks(names, per_list[keep].astype(np.uint32))


@on_engine
def coverage(
    qrels: Any,
    runs: Any,
    *,
    topic: str | None = None,
    order: str | None = None,
    missing: str = "zero",
    jobs: int | None = None,
    engine: Any = None,
) -> TableResult:
    """Which share of the aspects of a topic the first k documents cover, for every k, and where each is first covered.

    Tables: ``coverage`` {run, rank, value}: StRec@rank as mean over the topics, at the first rank and at every rank
    where it rises, up to the depth of the lists (1000 at most); ``aspects`` {topic, aspect, run, rank}: the rank of the
    first document relevant to the aspect, empty if the list has none, of one ``topic`` or of all.

    >>> qrels = {"q": {"a": {"1": 1}, "b": {"2": 1}}}
    >>> found = coverage(qrels, {"good": {"q": ["a", "b"]}, "poor": {"q": ["x", "y", "b"]}})
    >>> found["coverage"].rows
    [('good', 1, 0.5), ('good', 2, 1.0), ('poor', 1, 0.0), ('poor', 3, 0.5)]
    >>> found["aspects"].rows[-1]
    ('q', '2', 'poor', 3)
    """
    collection = open_collection(qrels, runs, order=order, needs_aspects=True)
    judged = judge(*collection, jobs=jobs)
    return coverage_of(judged, topic=topic, missing=missing).with_settings(**collection.settings)


def coverage_of(judged: Judged, *, topic: str | None = None, missing: str = "zero") -> TableResult:
    """:func:`coverage` for lists that are already judged, with aspects."""
    found = first_ranks(judged)
    if found is None:
        raise InputError(
            "these judgments have no aspects", hint="name judgments whose second column names aspects"
        )
    if topic is not None and topic not in judged.topics:
        raise SettingsError(f"there is no topic {topic!r}", hint=suggest_names(topic, judged.topics))
    deep = max(10, min(_DEEPEST, int(judged.length.max(initial=0))))
    shares, steps = _shares(judged, found, deep, missing)
    rows: list[tuple[Cell, ...]] = [
        (run, rank, float(shares[r, rank]))
        for r, run in enumerate(judged.runs)
        for rank in range(1, deep + 1)
        if rank == 1 or steps[r, rank]
    ]
    settings = {"measures": ["StRec"], "missing": missing, "topic": topic, "depth": deep}
    return TableResult.of(
        Table("coverage", ("run", "rank", "value"), rows),
        _aspects(judged, found, topic),
        settings=settings,
        main=["aspects" if topic is not None else "coverage"],
        display=[_first_covered(judged, found, topic) if topic is not None else _wide(judged, shares, deep)],
    )


def _shares(judged: Judged, found: FirstRanks, deep: int, missing: str) -> tuple[Floats, NDArray[np.bool_]]:
    """StRec at the ranks 0 to ``deep`` of every run, as mean over topics, and at which of them it rises."""
    many = np.array([len(names) for names in found.names], np.int64)[judged.lists.topic]
    lists = np.repeat(np.arange(len(many)), many)
    kept = (found.first > 0) & (found.first <= deep)
    skipped = ~judged.present if missing == "skip" else np.zeros(len(many), np.bool_)
    kept &= ~skipped[lists]
    run, topics = len(judged.runs), len(judged.topics)
    at = (lists // max(1, topics)) * (deep + 1) + found.first
    weights = 1.0 / np.maximum(1, many)[lists]
    risen = np.bincount(at[kept], weights[kept], run * (deep + 1)).reshape(run, deep + 1)
    counted = (~skipped).reshape(run, topics).sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return risen.cumsum(axis=1) / counted[:, None], risen > 0


def _aspects(judged: Judged, found: FirstRanks, topic: str | None) -> Table:
    """Where every list first covers every aspect of its topic."""
    many = [len(names) for names in found.names]
    starts = np.concatenate([[0], np.cumsum(np.array(many, np.int64)[judged.lists.topic])])
    topics, first = len(judged.topics), found.first.tolist()
    rows: list[tuple[Cell, ...]] = [
        (name, aspect, run, first[starts[r * topics + t] + k] or None)
        for t, name in enumerate(judged.topics)
        if topic is None or name == topic
        for k, aspect in enumerate(found.names[t])
        for r, run in enumerate(judged.runs)
    ]
    return Table("aspects", ("topic", "aspect", "run", "rank"), rows)


def _wide(judged: Judged, shares: Floats, deep: int) -> Table:
    """The share of aspects at a few ranks, the run with most at the tenth first."""
    ranks = [rank for rank in _SHOWN if rank <= deep]
    order = np.argsort(-np.nan_to_num(shares[:, 10]), kind="stable")
    rows: list[tuple[Cell, ...]] = [(judged.runs[r], *shares[r, ranks].tolist()) for r in order]
    return Table(
        "coverage",
        ("run", *(f"StRec@{rank}" for rank in ranks)),
        rows,
        caption=f"Share of the aspects that the first documents cover, mean over {len(judged.topics)} topics",
    )


def _first_covered(judged: Judged, found: FirstRanks, topic: str) -> Table:
    """Of one topic a row per aspect: how many runs cover it, how early at best, and the runs that do so."""
    rows: list[tuple[Cell, ...]] = []
    ranks: dict[Cell, list[tuple[int, str]]] = {}
    for _, aspect, run, rank in _aspects(judged, found, topic).rows:
        ranks.setdefault(aspect, [])
        if rank is not None:
            ranks[aspect].append((int(str(rank)), str(run)))
    for aspect, known in ranks.items():
        best = min((rank for rank, _ in known), default=None)
        median = float(np.median([rank for rank, _ in known])) if known else None
        first = next((run for rank, run in known if rank == best), None)
        rows.append((aspect, len(known), len(judged.runs), best, median, first))
    return Table(
        "aspects",
        ("aspect", "covered_by", "runs", "best_rank", "median_rank", "best_run"),
        rows,
        caption=f"Where runs first cover the aspects of topic {topic}",
    )
