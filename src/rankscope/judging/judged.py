"""Runs against judgments: every list of every run as hits, on the grid runs x topics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rankscope.caching import TransientCacheMixin
from rankscope.engines import cores, current, run_pieces
from rankscope.errors import InputError
from rankscope.judging.lists import Ints, Lists
from rankscope.judging.pool import Pool
from rankscope.progress import is_visible, reading
from rankscope.read.qrels import UNJUDGED, Qrels
from rankscope.read.runs import Run, Runs
from rankscope.scan import RunHits, TieGroups, Ties, backend_name, scan_run

__all__ = ["UNJUDGED", "EvaluationOptions", "Judged", "judge"]


@dataclass(frozen=True)
class EvaluationOptions:
    """Options of an evaluation: how to treat tied and unjudged documents.

    :func:`rankscope.certainty.values.validate_options` checks their values; ``seed`` is that of sampled orders.
    """

    ties: str = "break"
    unjudged: str = "nonrelevant"
    seed: int = 1

    @property
    def settings(self) -> dict[str, Any]:
        """Entries for the settings of results; empty if all options have their defaults."""
        said: dict[str, Any] = {"ties": self.ties, "unjudged": self.unjudged}
        if self.ties != "break":
            said |= {"ties_seed": self.seed}
        return {} if self == EvaluationOptions(seed=self.seed) else said


@dataclass(frozen=True, eq=False)
class ListArrays:
    """Lists and their hits as flat arrays: the hits of list i are ``offsets[i]:offsets[i + 1]``, by ascending rank."""

    offsets: Ints
    rank: npt.NDArray[np.int32]
    judgment: npt.NDArray[np.int32]
    """Index of the judgment of each hit in the qrels."""
    length: npt.NDArray[np.int32]
    """Number of documents of each list."""
    present: npt.NDArray[np.bool_]
    """Whether the run has the list; one that it lacks is empty."""
    tied: npt.NDArray[np.int32]
    """Number of documents of each list that share their score with another one."""
    ties: Ties | None = field(default=None, repr=False)
    """For each hit the documents that share its score, if they were asked for."""
    groups: TieGroups | None = field(default=None, repr=False)
    """All groups of documents with equal scores, if the unjudged ones among them matter."""

    @property
    def owner(self) -> Ints:
        """The list of each hit."""
        return np.repeat(np.arange(len(self.length)), np.diff(self.offsets))

    def take(self, lists: Ints) -> ListArrays:
        """Return some of the lists, by their numbers, in that order."""
        size = np.diff(self.offsets)[lists]
        offsets = np.concatenate([[0], np.cumsum(size)])
        hits = np.arange(offsets[-1]) + np.repeat(self.offsets[lists] - offsets[:-1], size)
        return ListArrays(
            offsets, self.rank[hits], self.judgment[hits], self.length[lists], self.present[lists], self.tied[lists],
            None if self.ties is None else self.ties.take(hits),
            None if self.groups is None else self.groups.take(lists),
        )  # fmt: skip

    def condensed(self, rated: npt.NDArray[np.bool_]) -> ListArrays:
        """Return the lists reduced to the hits that are ``rated``, which get new ranks."""
        keep = np.flatnonzero(rated)
        owner = self.owner[keep]
        count = np.bincount(owner, minlength=len(self.length))
        offsets = np.concatenate([[0], np.cumsum(count)])
        rank = (np.arange(len(keep)) - offsets[owner] + 1).astype(np.int32)
        ties = None
        if self.ties is not None:
            group = owner * (int(self.length.max(initial=0)) + 1) + self.ties.first[keep]
            start = np.searchsorted(group, group)
            size = np.searchsorted(group, group, side="right") - start
            ties = Ties(rank[start] if len(rank) else rank, size.astype(np.int32))
        length = count.astype(np.int32)
        return ListArrays(offsets, rank, self.judgment[keep], length, self.present, self.tied, ties)


@dataclass(frozen=True, eq=False)
class RunDetails:
    """Facts about runs that no measure needs."""

    tags: tuple[str, ...] = ()
    """The last column of the first line of each run."""
    ignored_topics: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Topics without judgments, by the name of the run that has some."""

    def of_runs(self, names: Sequence[str], keep: Sequence[int] | npt.NDArray[np.integer]) -> RunDetails:
        """Return those of some runs."""
        ignored = {name: self.ignored_topics[name] for name in names if name in self.ignored_topics}
        return RunDetails(tuple(self.tags[r] for r in keep) if self.tags else (), ignored)


@dataclass(frozen=True, eq=False)
class Judged(TransientCacheMixin):
    """All lists of all runs: list ``r * len(topics) + t`` is run r on topic t, empty where the run has no such topic.

    Grades come from ``qrels``, so judging again (other grades, a smaller pool) needs no reading:
    see :meth:`rejudged`.
    """

    runs: tuple[str, ...]
    qrels: Qrels
    arrays: ListArrays
    details: RunDetails = RunDetails()
    options: EvaluationOptions = EvaluationOptions()
    """What ties and unjudged documents are when the lists are evaluated."""
    known_to: int = 0
    """The depth down to which retrieved documents have a place in ``qrels``, if only without a grade."""
    full: Judged | None = field(default=None, repr=False)
    """The same lists under all judgments, if these are some of them."""

    @property
    def offsets(self) -> Ints:
        """Where the hits of each list begin, and where the last ones end."""
        return self.arrays.offsets

    @property
    def rank(self) -> npt.NDArray[np.int32]:
        """Rank of each hit."""
        return self.arrays.rank

    @property
    def judgment(self) -> npt.NDArray[np.int32]:
        """Index of the judgment of each hit."""
        return self.arrays.judgment

    @property
    def length(self) -> npt.NDArray[np.int32]:
        """Number of documents of each list."""
        return self.arrays.length

    @property
    def present(self) -> npt.NDArray[np.bool_]:
        """Whether the run has the list."""
        return self.arrays.present

    @property
    def tied(self) -> npt.NDArray[np.int32]:
        """Number of tied documents of each list."""
        return self.arrays.tied

    @property
    def ties(self) -> Ties | None:
        """For each hit the documents that share its score, if they were asked for."""
        return self.arrays.ties

    @property
    def groups(self) -> TieGroups | None:
        """All groups of documents with equal scores, if they were asked for."""
        return self.arrays.groups

    @property
    def tags(self) -> tuple[str, ...]:
        """The last column of the first line of each run."""
        return self.details.tags

    @property
    def ignored_topics(self) -> Mapping[str, tuple[str, ...]]:
        """Topics without judgments, by the name of the run that has some."""
        return self.details.ignored_topics

    @property
    def topics(self) -> tuple[str, ...]:
        """The judged topics."""
        return self.qrels.topics

    def __repr__(self) -> str:
        return f"<Judged: {len(self.runs)} runs x {len(self.topics)} topics, {len(self.rank)} hits>"

    @cached_property
    def lists(self) -> Lists:
        """The lists as measures see them."""
        return self.lists_of_runs(0, len(self.runs))

    def lists_of_runs(self, first: int, last: int) -> Lists:
        """The lists of some of the runs only."""
        width = len(self.topics)
        part = slice(first * width, last * width)
        low, high = self.offsets[part.start], self.offsets[part.stop]
        offsets = self.offsets[part.start : part.stop + 1] - low
        topic = np.tile(np.arange(width), last - first)
        return Lists(
            self.pool, topic, self.length[part], offsets, self.rank[low:high], self.judgment[low:high]
        )

    def blocks(self, most: int = 200_000) -> Iterator[tuple[Ints, Lists]]:
        """The lists that runs have, in blocks of about so many hits and lists, which bounds the memory of measures.

        Each block comes with the numbers of its lists; those that no block has are :attr:`empty`.
        """
        if self.full is not None:
            yield from ((where, lists.under(self.pool)) for where, lists in self.full._kept_blocks)
            return
        present = np.flatnonzero(self.present)
        starts = np.append(self.offsets[present], self.offsets[-1])  # absent lists have no hits between them
        first = 0
        while first < len(present):
            last = min(int(np.searchsorted(starts, starts[first] + most, side="right")) - 1, first + most)
            last = max(first + 1, last)
            where, low, high = present[first:last], starts[first], starts[last]
            topic, offsets = where % len(self.topics), starts[first : last + 1] - low
            hits = self.rank[low:high], self.judgment[low:high]
            yield where, Lists(self.pool, topic, self.length[where], offsets, *hits)
            first = last

    @cached_property
    def _kept_blocks(self) -> list[tuple[Ints, Lists]]:
        """The blocks with what has been found in them, for everything that looks at fewer judgments."""
        return list(self.blocks(1_000_000))

    @property
    def empty(self) -> Lists:
        """For each topic the list of a run that does not have it."""
        width, none = len(self.topics), np.zeros(0, np.int32)
        return Lists(
            self.pool, np.arange(width), np.zeros(width, np.int32), np.zeros(width + 1, np.int64), none, none
        )

    @cached_property
    def pool(self) -> Pool:
        """The judged documents of each topic."""
        qrels = self.qrels
        return Pool(qrels.topic_offsets, qrels.grade, qrels.aspects, undecided=qrels.subtopics is not None)

    def rejudged(self, grade: npt.NDArray[np.int32]) -> Judged:
        """The same lists under other grades, one per judged document; :data:`UNJUDGED` takes a judgment back."""
        full = self.full or self
        fewer = bool(((grade == full.qrels.grade) | (grade == UNJUDGED)).all())
        return replace(self, qrels=self.qrels.with_grades(grade), full=full if fewer else None)

    def condensed(self) -> Judged:
        """The lists without their unjudged documents: each ends with its last judged one.

        Unjudged is what has no judgment or a negative grade, as for trec_eval -J.
        """
        rated = self.qrels.grade[self.judgment] >= 0
        return replace(self, arrays=self.arrays.condensed(rated), full=None)

    def with_runs(self, keep: Sequence[int] | npt.NDArray[np.integer]) -> Judged:
        """The lists of some of the runs, by their numbers, in that order; the judgments stay what they are."""
        width = len(self.topics)
        lists = (np.asarray(keep, np.int64)[:, np.newaxis] * width + np.arange(width)).ravel()
        names = tuple(self.runs[r] for r in keep)
        return replace(
            self,
            runs=names,
            arrays=self.arrays.take(lists),
            details=self.details.of_runs(names, keep),
            full=None if self.full is None else self.full.with_runs(keep),
        )

    def grid(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """One value per list as a matrix runs x topics."""
        return values.reshape(len(self.runs), len(self.topics))


def judge(
    qrels: Qrels,
    runs: Runs | Run,
    *,
    jobs: int | None = None,
    allow_disjoint: bool = False,
    ties: bool = False,
) -> Judged:
    """Find the judged documents in all runs, and which others share their scores if ``ties`` are asked for.

    Parameters
    ----------
    qrels
        Judgments.
    runs
        Run or runs.
    jobs
        Number of workers (default: all cores).
    allow_disjoint
        Whether runs and judgments may have no topic in common.
    ties
        Whether to find the documents that share the score of a judged one.

    Returns
    -------
    Judged
        Ranks and grades of the judged documents of each ranking.

    Examples
    --------
    >>> qrels = Qrels.from_dict({"q1": {"d1": 1, "d2": 0}})
    >>> judge(qrels, Run.from_dict({"q1": {"d1": 0.5, "d3": 0.9}})).rank.tolist()
    [2]
    """
    if isinstance(runs, Run):
        runs = Runs([runs])
    if not runs:
        raise InputError("there is no run to evaluate", hint="name at least one run file")
    found = _found(qrels, runs, jobs, ties)
    if not allow_disjoint:
        _refuse_disjoint(qrels, runs, found)
    return _assemble(qrels, tuple(runs), found)


def _bytes_of(runs: Sequence[Run]) -> int:
    return sum(Path(run.path).stat().st_size for run in runs if run.path and Path(run.path).is_file())


def _found(qrels: Qrels, runs: Runs, jobs: int | None, ties: bool) -> list[RunHits]:
    """The hits of every run, wherever they are looked for."""
    each = list(runs.values())
    if current() is not None:
        there = [
            replace(run, source=run.source.absolute()) if isinstance(run.source, Path) else run
            for run in each
        ]
        return run_pieces(_HitsOf(qrels, 1, ties), there, label="runs")
    processes = backend_name() == "python" and not all(run.in_memory for run in each)
    size = _bytes_of(each) if is_visible() and not processes else 0
    label = "" if size else "runs"  # one bar is enough
    work = _HitsOf(qrels, max(1, cores(jobs) // len(each)), ties)
    with reading(size, "runs"):
        return run_pieces(work, each, jobs=jobs, processes=processes, label=label)


@dataclass(frozen=True, eq=False)
class _HitsOf:
    """The judged documents of a run; the judgments are what all pieces of the work share."""

    qrels: Qrels
    jobs: int
    ties: bool

    def __call__(self, run: Run) -> RunHits:
        return scan_run(run, self.qrels, jobs=self.jobs, ties=self.ties)


def _refuse_disjoint(qrels: Qrels, runs: Runs, found: Sequence[RunHits]) -> None:
    for run, one in zip(runs.values(), found, strict=True):
        if len(one.topic) == 0:
            refuse_disjoint(qrels, run, one.ignored_topics)


def refuse_disjoint(qrels: Qrels, run: Run, topics: Sequence[str]) -> None:
    """Raise an error for a run without a judged topic, unless the judgments of one of its ``topics`` were left out."""
    if not qrels.unchosen.intersection(topics):
        mine = topics[0] if topics else "none"
        raise InputError(
            f"no topic in common with the judgments (this run has {mine!r}, they have {qrels.topics[0]!r})",
            path=run.path or run.name,
            hint="check that the run and the judgments belong to the same collection",
        )


def _assemble(qrels: Qrels, names: tuple[str, ...], found: Sequence[RunHits]) -> Judged:
    width = len(qrels.topics)
    size = len(names) * width
    hits = np.zeros(size, np.int64)
    length = np.zeros(size, np.int32)
    tied = np.zeros(size, np.int32)
    present = np.zeros(size, np.bool_)
    for r, one in enumerate(found):
        where = r * width + one.topic
        hits[where] = np.diff(one.offsets)
        length[where] = one.length
        tied[where] = one.tied
        present[where] = True
    ignored = {
        name: unjudged
        for name, one in zip(names, found, strict=True)
        if (unjudged := tuple(topic for topic in one.ignored_topics if topic not in qrels.unchosen))
    }
    ties = [one.ties for one in found if one.ties is not None]
    arrays = ListArrays(
        offsets=np.concatenate([[0], np.cumsum(hits)]),
        rank=np.concatenate([one.rank for one in found]),
        judgment=np.concatenate([one.judgment for one in found]),
        length=length,
        present=present,
        tied=tied,
        ties=Ties.concatenate(ties) if ties else None,
    )
    return Judged(names, qrels, arrays, RunDetails(tuple(one.tag for one in found), ignored))
