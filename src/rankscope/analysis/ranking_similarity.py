"""Similarity of two rankings: rank-biased overlap, Kendall's tau, common documents by depth."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import compress, count
from math import nan
from typing import NamedTuple

import numpy as np

from rankscope.analysis.stats.coefficients import kendall_by_group
from rankscope.analysis.stats.rank_biased_overlap import Groups, overlaps
from rankscope.arrays import AnyArray, Bools, Floats, Grades, Int32s, Ints
from rankscope.judging.judged import reject_disjoint
from rankscope.progress import blocks
from rankscope.read import Qrels
from rankscope.read.ids import sort_naturally
from rankscope.read.topics import select_topics
from rankscope.scan import top_list, top_lists
from rankscope.scores import Collection

_List = tuple[str, Ints, Grades]
"""Topic of a ranking, its documents by rank, and the first ranks at which their scores occur."""


class Rankings:
    """First documents of the rankings of a run, one ranking after the other."""

    def __init__(self, lists: Sequence[_List], numbers: Mapping[str, int]) -> None:
        lists = sorted(lists, key=lambda entry: numbers[entry[0]])
        topics, documents, firsts = zip(*lists, strict=True) if lists else ((), (), ())
        # Number of the topic of each ranking, ascending.
        self.topic = np.array([numbers[topic] for topic in topics], np.int64)
        # First document of each ranking, and the number of documents.
        self.start = np.cumsum([0, *map(len, documents)])
        # Numbers of pairs of topic and document. The last elements are those of no document, at index -1.
        self.document = np.concatenate([*documents, np.full(1, -1)])
        # First and last rank of the documents with the same score.
        self.top = np.concatenate([*firsts, np.zeros(1, np.int32)]).astype(np.int64)
        rank = np.arange(len(self.top)) - np.repeat(self.start, np.diff(self.start, append=len(self.top))) + 1
        sizes = np.diff(np.flatnonzero(self.top == rank), append=len(self.top) - 1)
        self.bottom = np.append(np.repeat(sizes, sizes), 1) + self.top - 1

    def padded(self, rows: Ints, width: int) -> tuple[Ints, Groups]:
        """Return documents and groups of some rankings as arrays of one width; beyond an end, there is document -1."""
        length = np.diff(self.start)[rows]
        rank = np.arange(1, width + 1)
        is_inside = rank <= length[:, None]
        index = np.where(is_inside, self.start[rows, None] + rank - 1, -1)
        top, bottom = (np.where(is_inside, side[index], rank) for side in (self.top, self.bottom))
        return self.document[index], Groups(top, bottom, length)


_MAX_CELLS = 1 << 16
"""Ranks that are compared at once: their arrays fit the cache of a processor."""


class Documents:
    """Numbers of pairs of topic and document, in order of appearance."""

    def __init__(self) -> None:
        numbers = count()
        self.by_topic: dict[str, dict[bytes, int]] = defaultdict(lambda: defaultdict(numbers.__next__))

    def relevant(self, qrels: Qrels) -> Bools:
        """Return whether documents are relevant, by number, and False at the end, for no document."""
        is_relevant = np.zeros(sum(map(len, self.by_topic.values())) + 1, np.bool_)
        for topic, documents in self.by_topic.items():
            first, last = qrels.topic_offsets[qrels.topic_index[topic] :][:2].tolist()
            names = compress(qrels.documents[first:last], qrels.as_judged(qrels.grade[first:last]) > 0)
            is_relevant[[documents[name] for name in names if name in documents]] = True
        return is_relevant


def get_rankings(
    collection: Collection, depth: int, documents: Documents
) -> tuple[list[str], dict[str, Rankings]]:
    """Return topics in natural order, and the first documents of every ranking by run; number the documents."""
    rankings: dict[str, list[_List]] = {}
    for name, run in collection.runs.items():
        if collection.has_qrels:
            qrels = collection.qrels
            lists = ((qrels.topics[t], names, first) for t, names, first in top_lists(run, qrels, depth))
        else:
            lists = ((topic, *top_list(ranked, run.order, depth)) for topic, ranked in run.iterate_lists())
        rankings[name] = [
            (
                topic,
                np.fromiter(map(documents.by_topic[topic].__getitem__, names[:depth]), np.int64),
                first[:depth],
            )
            for topic, names, first in lists
        ]
        if collection.has_qrels and not rankings[name]:
            reject_disjoint(collection.qrels, run, [topic for topic, _ in run.iterate_lists()])
    topics = sort_naturally(documents.by_topic)
    if collection.topics and not collection.has_qrels:
        topics = [*select_topics(collection.topics, topics, "is in no run")]
    numbers = {topic: number for number, topic in enumerate(topics)}
    return topics, {
        run: Rankings([entry for entry in lists if entry[0] in numbers], numbers)
        for run, lists in rankings.items()
    }


class _Side(NamedTuple):
    """Rankings of a run on some topics."""

    documents: Ints
    """Documents, topics x ranks, -1 beyond the end of a ranking."""
    groups: Groups
    n_relevant: Ints


class Similarities(NamedTuple):
    """Similarity of the rankings of two runs, topic by topic."""

    topics: Ints
    """Numbers of the topics."""
    values: Sequence[AnyArray]
    """Columns of :class:`~rankscope.analysis.overlap.TopicOverlap` from ``rbo`` on."""
    common: Ints
    jaccard: Floats
    """Common documents and Jaccard coefficient, topics x depths."""


@dataclass(frozen=True, eq=False)
class Comparison:
    """Comparison of the rankings of pairs of runs."""

    rankings: Mapping[str, Rankings]
    at: tuple[int, ...]
    p: float
    ties: str
    n_documents: int
    relevant: Bools | None
    """Whether documents are relevant, by number, and False at the end; None without judgments."""

    def __call__(self, pairs: Sequence[tuple[str, str]]) -> list[Similarities]:
        """Compare the runs of each pair."""
        # Working memory, by number of a document: its index in a ranking, or -1; -1 at the end.
        indices = np.full(self.n_documents + 1, -1, np.int32)
        return [self.topics(self.rankings[a], self.rankings[b], indices) for a, b in pairs]

    def _side(self, run: Rankings, rows: Ints, width: int) -> _Side:
        """Return the rankings of a run on some topics, by their indices."""
        documents, groups = run.padded(rows, width)
        is_relevant = np.zeros(documents.shape) if self.relevant is None else self.relevant[documents]
        return _Side(documents, groups, is_relevant.sum(axis=1))

    def topics(self, a: Rankings, b: Rankings, indices: Int32s) -> Similarities:
        """Compare the rankings of two runs on the topics that both have."""
        topics, *common = np.intersect1d(a.topic, b.topic, assume_unique=True, return_indices=True)
        rows = np.column_stack(common)
        lengths = np.column_stack([np.diff(a.start)[rows[:, 0]], np.diff(b.start)[rows[:, 1]]])
        values = []
        counts = np.zeros((len(rows), len(self.at)), np.int64)
        step = max(1, _MAX_CELLS // max(1, int(lengths.max(initial=0))))
        for part in blocks(max(1, len(rows)), step):
            width = int(lengths[part].max(initial=0))
            first, second = (self._side(run, rows[part, i], width) for i, run in enumerate((a, b)))
            more, counts[part] = self._compare(first, second, indices)
            values.append(more)
        either = np.minimum(self.at, lengths[:, :1]) + np.minimum(self.at, lengths[:, 1:]) - counts
        columns = [np.concatenate(parts) for parts in zip(*values, strict=True)]
        return Similarities(topics, columns, counts, _jaccard(counts, either))

    def _compare(self, a: _Side, b: _Side, indices: Int32s) -> tuple[list[AnyArray], Ints]:
        """Return columns of values by topic, and the numbers of common documents at all depths."""
        (documents, groups, n_relevant), (others, others_groups, n_others) = a, b
        n_topics, width = documents.shape
        indices[documents] = np.arange(documents.size).reshape(documents.shape)
        indices[-1] = -1  # no document
        index_in_a = indices.take(others)
        indices[documents] = -1
        in_b = np.flatnonzero(index_in_a >= 0)
        in_a = index_in_a.take(in_b).astype(np.int64)
        row = in_b // max(1, width)
        rbo = overlaps(groups, others_groups, np.array([in_a, in_b]), self.p, self.ties)
        tau = kendall_by_group(groups.top.take(in_a), others_groups.top.take(in_b), row, n_topics)
        common = np.bincount(row, minlength=n_topics)
        n_depths = len(self.at)
        depth = np.searchsorted(self.at, np.arange(1, width + 1))
        later = row * (n_depths + 1) + depth.take(np.maximum(in_a, in_b) - row * width)
        shape = n_topics, n_depths + 1
        by_depth = np.bincount(later, minlength=n_topics * (n_depths + 1)).reshape(shape)[:, :-1]
        columns = [*rbo, tau, common, _jaccard(common, groups.length + others_groups.length - common)]
        if self.relevant is not None:
            n_common = np.bincount(row[self.relevant.take(others.take(in_b))], minlength=n_topics)
            columns += [n_relevant, n_others, n_common, _jaccard(n_common, n_relevant + n_others - n_common)]
        return columns, np.cumsum(by_depth, axis=1)


def _jaccard(common: Ints, either: Ints) -> Floats:
    with np.errstate(invalid="ignore"):  # 0/0 is undefined.
        return np.asarray(common / either)


def defined_means(table: AnyArray) -> list[float]:
    """Return the mean of every column over the rows where it is defined."""
    defined = ~np.isnan(table)
    sums, counts = np.where(defined, table, 0).sum(axis=0), defined.sum(axis=0)
    return [float(total / count) if count else nan for total, count in zip(sums, counts, strict=True)]
