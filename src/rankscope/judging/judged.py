"""Hits of all rankings of all runs, on the grid runs x topics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from rankscope.arrays import AnyArray, Bools, Indices, Int32s, Ints, NDArray, take_spans
from rankscope.caching import TransientCacheMixin, cached_property
from rankscope.engines import count_workers, current_engine, run_pieces
from rankscope.errors import InputError
from rankscope.judging.lists import Lists
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
    def is_default(self) -> bool:
        """Whether ties and unjudged documents are treated as by default."""
        return self.ties == "break" and self.unjudged == "nonrelevant"

    @property
    def settings(self) -> dict[str, Any]:
        """Entries for the settings of results; empty if all options have their defaults."""
        if self.is_default:
            return {}
        seed = {} if self.ties == "break" else {"ties_seed": self.seed}
        return {"ties": self.ties, "unjudged": self.unjudged, **seed}


@dataclass(frozen=True, eq=False)
class ListArrays:
    """Lists and their hits as flat arrays: the hits of list i are ``offsets[i]:offsets[i + 1]``, by ascending rank."""

    offsets: Ints
    rank: Int32s
    judgment: Int32s
    """Index of the judgment of each hit in the qrels."""
    length: Int32s
    """Number of documents of each list."""
    present: Bools
    """Whether the run has the list; one that it lacks is empty."""
    tied: Int32s
    """Number of documents of each list that share their score with another one."""
    ties: Ties | None = field(default=None, repr=False)
    """Group of documents with the score of each hit, if requested."""
    groups: TieGroups | None = field(default=None, repr=False)
    """Groups of documents with equal scores, if unjudged documents matter."""

    @property
    def owner(self) -> Ints:
        """Number of the list of each hit."""
        return np.repeat(np.arange(len(self.length)), np.diff(self.offsets))

    def take(self, lists: Ints) -> ListArrays:
        """Return some lists, by their numbers."""
        offsets, hits = take_spans(self.offsets, lists)
        return ListArrays(
            offsets, self.rank[hits], self.judgment[hits], self.length[lists], self.present[lists], self.tied[lists],
            None if self.ties is None else self.ties.take(hits),
            None if self.groups is None else self.groups.take(lists),
        )  # fmt: skip

    def condense(self, is_judged: Bools) -> ListArrays:
        """Return the lists with only the hits that are ``is_judged``, which get new ranks."""
        keep = np.flatnonzero(is_judged)
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
    """Details of runs that no measure needs."""

    tags: tuple[str, ...] = ()
    """Last column of the first line of each run."""
    ignored_topics: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Topics without judgments, by run."""

    def take(self, names: Sequence[str], keep: Sequence[int] | NDArray[np.integer]) -> RunDetails:
        """Return the details of some runs."""
        ignored = {name: self.ignored_topics[name] for name in names if name in self.ignored_topics}
        return RunDetails(tuple(self.tags[r] for r in keep) if self.tags else (), ignored)


@dataclass(frozen=True, eq=False, repr=False)
class Judged(TransientCacheMixin):
    """Lists of all runs: list ``r * len(topics) + t`` is run r on topic t, and empty if the run lacks the topic.

    Grades come from ``qrels``, so that other grades or a smaller pool (:meth:`with_grades`) need no reading.
    """

    runs: tuple[str, ...]
    qrels: Qrels
    arrays: ListArrays
    details: RunDetails = RunDetails()
    options: EvaluationOptions = EvaluationOptions()
    """Treatment of ties and unjudged documents in the evaluation."""
    known_depth: int = 0
    """Depth down to which ``qrels`` has all retrieved documents, perhaps without a grade."""
    full: Judged | None = field(default=None, repr=False)
    """Same lists with all judgments, if ``qrels`` has a subset of them."""

    @property
    def offsets(self) -> Ints:
        """Index of the first hit of each list, and the number of hits."""
        return self.arrays.offsets

    @property
    def rank(self) -> Int32s:
        """Rank of each hit."""
        return self.arrays.rank

    @property
    def judgment(self) -> Int32s:
        """Index of the judgment of each hit."""
        return self.arrays.judgment

    @property
    def length(self) -> Int32s:
        """Number of documents of each list."""
        return self.arrays.length

    @property
    def present(self) -> Bools:
        """Whether the run has the list."""
        return self.arrays.present

    @property
    def tied(self) -> Int32s:
        """Number of tied documents of each list."""
        return self.arrays.tied

    @property
    def ties(self) -> Ties | None:
        """Group of documents with the score of each hit, if requested."""
        return self.arrays.ties

    @property
    def groups(self) -> TieGroups | None:
        """Groups of documents with equal scores, if requested."""
        return self.arrays.groups

    @property
    def tags(self) -> tuple[str, ...]:
        """Last column of the first line of each run."""
        return self.details.tags

    @property
    def ignored_topics(self) -> Mapping[str, tuple[str, ...]]:
        """Topics without judgments, by run."""
        return self.details.ignored_topics

    @cached_property
    def is_complete(self) -> bool:
        """Whether all runs have all topics."""
        return bool(np.count_nonzero(self.present) == len(self.present))

    @property
    def topics(self) -> Sequence[str]:
        """Judged topics."""
        return self.qrels.topics

    @property
    def best_ranks(self) -> Ints:
        """Best rank of every document in any run; a large number for documents that no run has."""
        rank = np.full(len(self.qrels), np.iinfo(np.int32).max)
        np.minimum.at(rank, self.judgment, self.rank)
        return rank

    def __repr__(self) -> str:
        return f"<Judged: {len(self.runs)} runs x {len(self.topics)} topics, {len(self.rank)} hits>"

    @cached_property
    def lists(self) -> Lists:
        """Lists of all runs."""
        width, arrays = len(self.topics), self.arrays
        topic = np.arange(width) if len(self.runs) == 1 else np.tile(np.arange(width), len(self.runs))
        return Lists(self.pool, topic, arrays.length, arrays.offsets, arrays.rank, arrays.judgment)

    def blocks(self, max_hits: int = 200_000) -> Iterator[tuple[Ints, Lists]]:
        """Yield the numbers of present lists, and the lists, in blocks that bound the memory of measures.

        The lists that no block has are :attr:`empty`.
        """
        if self.full is not None:
            for numbers, lists in self.full._cached_blocks:
                yield numbers, lists.with_pool_subset(self.pool)
        elif self.is_complete and max(len(self.present), len(self.rank)) <= max_hits:
            yield np.arange(len(self.present)), self.lists
        elif self.is_complete:  # Copies of all numbers, offsets and lengths would take 28 bytes per list.
            for part, block in self.lists.split(max_hits):
                yield np.arange(part.start, part.stop), block
        else:
            present, lists = self.present_lists()
            yield from ((present[part], block) for part, block in lists.split(max_hits))

    def present_lists(self) -> tuple[Indices, Lists]:
        """Return the numbers of the present lists, and the lists; absent lists have no hits in between."""
        present, arrays = self.present.nonzero()[0], self.arrays
        topic, starts = present % len(self.topics), np.append(self.offsets[present], self.offsets[-1])
        return present, Lists(self.pool, topic, self.length[present], starts, arrays.rank, arrays.judgment)

    @cached_property
    def _cached_blocks(self) -> list[tuple[Ints, Lists]]:
        """Blocks with their caches, which all subsets of the judgments share."""
        return list(self.blocks(1_000_000))

    @property
    def empty(self) -> Lists:
        """Empty list of each topic, for runs that lack it."""
        return Lists.empty(self.pool)

    @cached_property
    def pool(self) -> Pool:
        """Judged documents of all topics."""
        return Pool.from_qrels(self.qrels)

    def with_grades(self, grade: Int32s) -> Judged:
        """Return a copy with other grades, one per judged document; :data:`UNJUDGED` removes a judgment."""
        full = self.full or self
        is_subset = bool(((grade == full.qrels.grade) | (grade == UNJUDGED)).all())
        return replace(self, qrels=self.qrels.with_grades(grade), full=full if is_subset else None)

    def condense(self) -> Judged:
        """Return a copy without unjudged documents: those without a judgment or with a negative grade.

        Equivalent to option -J of trec_eval.
        """
        is_judged = self.qrels.grade[self.judgment] >= 0
        return replace(self, arrays=self.arrays.condense(is_judged), full=None)

    def with_runs(self, keep: Sequence[int] | NDArray[np.integer]) -> Judged:
        """Return a copy with some runs, by their numbers, and the same judgments."""
        width = len(self.topics)
        lists = (np.asarray(keep, np.int64)[:, np.newaxis] * width + np.arange(width)).ravel()
        names = tuple(self.runs[r] for r in keep)
        return replace(
            self,
            runs=names,
            arrays=self.arrays.take(lists),
            details=self.details.take(names, keep),
            full=None if self.full is None else self.full.with_runs(keep),
        )

    def grid(self, values: AnyArray) -> AnyArray:
        """Return one value per list as a matrix runs x topics."""
        return values.reshape(len(self.runs), len(self.topics))


def judge(
    qrels: Qrels,
    runs: Runs | Run,
    *,
    jobs: int | None = None,
    allow_disjoint: bool = False,
    ties: bool = False,
) -> Judged:
    """Find the judged documents in all runs, and with ``ties`` the documents that share their scores.

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
        Ranks and grades of the judged documents of each ranking. If judgments are gains such as 0.37, their grades are
        the ordinal numbers of the gains in ``qrels.gains``.

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
    hits = _scan_runs(qrels, runs, jobs, ties)
    if not allow_disjoint:
        for run, run_hits in zip(runs.values(), hits, strict=True):
            if len(run_hits.topic) == 0:
                reject_disjoint(qrels, run, run_hits.ignored_topics)
    return assemble(qrels, tuple(runs), hits)


def _scan_runs(qrels: Qrels, runs: Runs, jobs: int | None, ties: bool) -> list[RunHits]:
    """Find the hits of every run on the current engine."""
    scanned = list(runs.values())
    if len(scanned) == 1 and scanned[0].in_memory and current_engine() is None:
        return [scan_run(scanned[0], qrels, ties=ties)]
    if current_engine() is not None:
        remote = [
            replace(run, source=run.source.absolute()) if isinstance(run.source, Path) else run
            for run in scanned
        ]
        return run_pieces(partial(scan_run, qrels=qrels, ties=ties), remote, label="runs")
    processes = backend_name() == "python" and not all(run.in_memory for run in scanned)
    size = 0
    if is_visible() and not processes:
        size = sum(Path(run.path).stat().st_size for run in scanned if run.path and Path(run.path).is_file())
    label = "" if size else "runs"  # show only one progress bar
    scanner = partial(scan_run, qrels=qrels, jobs=max(1, count_workers(jobs) // len(scanned)), ties=ties)
    with reading(size, "runs"):
        return run_pieces(scanner, scanned, jobs=jobs, processes=processes, label=label)


def reject_disjoint(qrels: Qrels, run: Run, topics: Sequence[str]) -> None:
    """Raise an error for a run without a judged topic, unless the judgments of one of its ``topics`` were left out."""
    if not qrels.unchosen.intersection(topics):
        first = topics[0] if topics else "none"
        raise InputError(
            f"no topic in common with the judgments (this run has {first!r}, they have {qrels.topics[0]!r})",
            path=run.path or run.name,
            hint="check that the run and the judgments belong to the same collection",
        )


def assemble(qrels: Qrels, names: tuple[str, ...], hits: Sequence[RunHits]) -> Judged:
    """Combine the hits of runs in flat arrays."""
    ignored = {
        name: unjudged
        for name, run in zip(names, hits, strict=True)
        if run.ignored_topics
        and (unjudged := tuple(topic for topic in run.ignored_topics if topic not in qrels.unchosen))
    }
    details = RunDetails(tuple([run.tag for run in hits]), ignored)
    width = len(qrels.topics)
    if len(hits) == 1 and len(hits[0].topic) == width:  # the hits of a single complete run are the arrays
        run = hits[0]
        present = np.ones(width, np.bool_)
        complete = ListArrays(run.offsets, run.rank, run.judgment, run.length, present, run.tied, run.ties)
        return Judged(names, qrels, complete, details)
    size = len(names) * width
    count = np.zeros(size, np.int64)
    length = np.zeros(size, np.int32)
    tied = np.zeros(size, np.int32)
    present = np.zeros(size, np.bool_)
    for r, run in enumerate(hits):
        lists = r * width + run.topic
        count[lists] = np.diff(run.offsets)
        length[lists] = run.length
        tied[lists] = run.tied
        present[lists] = True
    ties = [run.ties for run in hits if run.ties is not None]
    arrays = ListArrays(
        offsets=np.concatenate([[0], np.cumsum(count)]),
        rank=np.concatenate([run.rank for run in hits]),
        judgment=np.concatenate([run.judgment for run in hits]),
        length=length,
        present=present,
        tied=tied,
        ties=Ties.concatenate(ties) if ties else None,
    )
    return Judged(names, qrels, arrays, details)
