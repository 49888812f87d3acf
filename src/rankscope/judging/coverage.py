"""Coverage of aspects: the first rank at which each ranking covers each aspect, and subtopic recall at every rank."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Any

import numpy as np

from rankscope.arrays import Bools, Floats, Ints, NDArray
from rankscope.errors import InputError, SettingsError, suggest_names
from rankscope.judging.judged import Judged
from rankscope.result import TypedResult, table
from rankscope.rows import Row, RowTable, column
from rankscope.tables import Cell, Table

_MAX_RANK = 1000
_DISPLAYED = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
"""Ranks of the displayed table; exports have every rank at which coverage rises."""


class CoverageAtRank(Row):
    """Coverage by the first documents of a run."""

    run: str = column()
    rank: int = column()
    value: float = column(
        "share of the aspects that the documents down to this rank cover (StRec), mean over topics"
    )


class AspectRank(Row):
    """Rank at which a run first covers an aspect."""

    topic: str = column()
    aspect: str = column("the aspect")
    run: str = column()
    rank: int | None = column(
        "rank of the first document relevant to the aspect; empty if the ranking has no such document"
    )


class Coverage(TypedResult):
    """Share of aspects covered by rank, and the rank at which each run first covers each aspect."""

    figures = {"curves": "coverage.plot_coverage", "aspects": "coverage.plot_aspects"}
    coverage: RowTable[CoverageAtRank] = table("the first rank, and every rank where coverage rises")
    aspects: RowTable[AspectRank] = table("every aspect, of one topic or of all")
    n_topics: int

    @property
    def main(self) -> Sequence[str]:
        """Coverage by rank, or the aspects of the selected topic."""
        return ("coverage" if self.settings["topic"] is None else "aspects",)

    @property
    def display(self) -> Sequence[Table]:
        """Table of coverage at a few ranks, or of the ranks at which runs first cover the aspects of a topic."""
        return (self._coverage_table() if self.settings["topic"] is None else self._first_covered(),)

    def _coverage_table(self) -> Table:
        """Return the coverage at a few ranks, the run with the highest value at rank 10 first."""
        ranks = [rank for rank in _DISPLAYED if rank <= self.settings["depth"]]
        values: dict[str, dict[int, float]] = {}
        for row in self.coverage:
            values.setdefault(row.run, {}).update({rank: row.value for rank in ranks if rank >= row.rank})
        order = sorted(values, key=lambda run: -np.nan_to_num(values[run][10]))
        rows: list[tuple[Cell, ...]] = [(run, *values[run].values()) for run in order]
        return Table(
            "coverage",
            ("run", *(f"StRec@{rank}" for rank in ranks)),
            rows,
            caption=f"Share of the aspects that the first documents cover, mean over {self.n_topics} topics",
        )

    def _first_covered(self) -> Table:
        """Return for each aspect the number of runs that cover it, their best and median rank, and the best run."""
        ranks: dict[str, dict[str, int]] = {}
        for row in self.aspects:
            ranks.setdefault(row.aspect, {}).update({} if row.rank is None else {row.run: row.rank})
        n_runs = len(dict.fromkeys(row.run for row in self.coverage))
        rows: list[tuple[Cell, ...]] = []
        for aspect, by_run in ranks.items():
            best = min(by_run, key=by_run.__getitem__, default="")
            ends = (by_run[best], float(median(by_run.values())), best) if by_run else (None, None, None)
            rows.append((aspect, len(by_run), n_runs, *ends))
        return Table(
            "aspects",
            ("aspect", "covered_by", "runs", "best_rank", "median_rank", "best_run"),
            rows,
            caption=f"Where runs first cover the aspects of topic {self.settings['topic']}",
        )


@dataclass(frozen=True, eq=False)
class FirstRanks:
    """Aspects of each topic that count, and the first rank at which each ranking covers each of them.

    ``names`` is topics x aspects; ``first`` has the ranks, list after list, 0 if a ranking never covers the aspect.
    """

    names: list[list[str]]
    first: NDArray[np.uint32]


def first_ranks(judged: Judged) -> FirstRanks | None:
    """Return the first rank of every aspect in every ranking; None for judgments without aspects.

    The share of aspects whose first rank is at most k is subtopic recall, ``StRec@k``.

    >>> from rankscope.judging import judge
    >>> from rankscope.read import Qrels, Run
    >>> qrels = Qrels.from_dict({"q": {"a": {"1": 1, "2": 1}, "b": {"2": 1}, "c": {"3": 0}}})
    >>> aspects = first_ranks(judge(qrels, Run.from_dict({"q": ["x", "b", "a"]}, name="r")))
    >>> aspects.names, aspects.first.tolist()
    ([['1', '2']], [3, 2])
    """
    aspects = judged.qrels.aspects
    if aspects is None:
        return None
    lists = judged.lists
    hits = lists.by_aspect.lists.relevant(1)
    first = np.zeros(len(lists.by_aspect.lists), np.int64)
    # The last assignment wins, which is that of the first rank.
    backwards = np.argsort(-hits.rank, kind="stable")
    first[hits.list[backwards]] = hits.rank[backwards]
    is_counted = lists.pool.aspects_counted(1)
    per_list = first.reshape(len(is_counted), len(lists)).T
    names = [
        [aspects.names[a] for a in range(start, stop) if is_counted[a - start, t]]
        for t, (start, stop) in enumerate(pairwise(aspects.topic_offsets.tolist()))
    ]
    return FirstRanks(names, per_list[is_counted[:, lists.topic].T].astype(np.uint32))


def compute_coverage(
    judged: Judged, topic: str | None, missing: str, settings: Mapping[str, Any]
) -> Coverage:
    """Return the coverage of rankings that are judged by aspect."""
    aspects = first_ranks(judged)
    if aspects is None:
        hint = "name judgments whose second column names aspects"
        raise InputError("these judgments have no aspects", hint=hint)
    if topic is not None and topic not in judged.topics:
        raise SettingsError(f"there is no topic {topic!r}", hint=suggest_names(topic, judged.topics))
    depth = max(10, min(_MAX_RANK, int(judged.length.max(initial=0))))
    n_aspects = np.array([len(names) for names in aspects.names], np.int64)[judged.lists.topic]
    starts = np.concatenate([[0], np.cumsum(n_aspects)]).tolist()
    first, n_topics = aspects.first.tolist(), len(judged.topics)
    shares, is_rise = _shares(judged, aspects.first, n_aspects, depth, missing)
    is_rise[:, 1] = True
    by_rank = [
        CoverageAtRank(judged.runs[r], k, float(shares[r, k])) for r, k in np.argwhere(is_rise).tolist()
    ]
    by_aspect = [
        AspectRank(name, aspect, run, first[starts[r * n_topics + t] + k] or None)
        for t, name in enumerate(judged.topics)
        if topic is None or name == topic
        for k, aspect in enumerate(aspects.names[t])
        for r, run in enumerate(judged.runs)
    ]
    return Coverage(
        n_topics=n_topics,
        coverage=CoverageAtRank.table("coverage", by_rank),
        aspects=AspectRank.table("aspects", by_aspect),
        settings={**settings, "measures": ["StRec"], "missing": missing, "topic": topic, "depth": depth},
    )


def _shares(
    judged: Judged, first: NDArray[np.uint32], n_aspects: Ints, depth: int, missing: str
) -> tuple[Floats, Bools]:
    """Return StRec at ranks 0 to depth, mean over topics, runs x ranks, and a mask of the ranks at which it rises."""
    owner = np.repeat(np.arange(len(n_aspects)), n_aspects)
    is_skipped = ~judged.present if missing == "skip" else np.zeros(len(n_aspects), np.bool_)
    is_kept = (first > 0) & (first <= depth) & ~is_skipped[owner]
    n_runs, n_topics = len(judged.runs), len(judged.topics)
    cell = (owner // max(1, n_topics)) * (depth + 1) + first
    weights = 1.0 / np.maximum(1, n_aspects)[owner]
    gain = np.bincount(cell[is_kept], weights[is_kept], n_runs * (depth + 1)).reshape(n_runs, depth + 1)
    n_counted = (~is_skipped).reshape(n_runs, n_topics).sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return gain.cumsum(axis=1) / n_counted[:, None], gain > 0
