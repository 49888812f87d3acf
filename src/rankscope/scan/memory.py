"""Find the hits of rankings in memory (dicts, frames), with the same results as from files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, repeat

import numpy as np
import numpy.typing as npt

from rankscope.read.ids import to_bytes
from rankscope.read.orders import in_32_bits, permutation, score_keys
from rankscope.read.qrels import UNJUDGED, Qrels
from rankscope.read.runs import RunList
from rankscope.scan.hits import ListHits, RunHits, Ties, assemble_hits

RankedGrades = tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], npt.NDArray[np.int64]]
"""Ranks, grades and offsets."""
ScoredLists = Sequence[Mapping[str, float]]
JudgedLists = Sequence[Mapping[str, int]]

_FEW, _SHORT = 60, 100
"""Up to ``_FEW`` documents in all rankings, plain Python is fastest; rankings of up to ``_SHORT`` documents are sorted
together in one table; longer ones are sorted one by one, and only their judged documents are located."""


class DocumentIndex:
    """Indices of the judged documents, by topic; the dict of a topic is built when it is first used."""

    def __init__(self, qrels: Qrels) -> None:
        self._documents, self._offsets = qrels.documents, qrels.topic_offsets.tolist()
        self.topic = {to_bytes(name): t for t, name in enumerate(qrels.topics)}
        self._numbers: dict[int, dict[bytes, int]] = {}

    @classmethod
    def from_qrels(cls, qrels: Qrels) -> DocumentIndex:
        """Return the index of judgments, which their copies share."""
        return qrels.tables.get("python", lambda: cls(qrels))

    def numbers(self, topic: int) -> dict[bytes, int]:
        """Return the indices of the judged documents of a topic."""
        if topic not in self._numbers:
            start, stop = self._offsets[topic], self._offsets[topic + 1]
            self._numbers[topic] = dict(zip(self._documents[start:stop], range(start, stop), strict=True))
        return self._numbers[topic]

    def find_hits(self, topic: int, ranking: RunList, order: str, ties: bool) -> ListHits:
        """Find the hits of a ranking of a topic, in an ordering."""
        numbers = self.numbers(topic)
        count = len(ranking.documents)
        index = permutation(ranking.documents, ranking.scores, ranking.ranks, order)
        judgment = np.fromiter(map(numbers.get, ranking.documents, repeat(-1)), np.int32, count)[index]
        at = np.flatnonzero(judgment >= 0)
        rank = (at + 1).astype(np.int32)
        keys = score_keys(ranking.scores, order)
        if keys is not None:
            keys = keys[index]
        tied = 0 if ranking.scores is None else _count_tied(np.sort(ranking.scores) if keys is None else keys)
        return ListHits(
            topic, count, tied, rank, judgment[at], Ties.from_scores(keys, rank) if ties else None
        )


def _count_tied(ordered: npt.NDArray[np.floating]) -> int:
    """Return the number of scores, in order, that are not unique."""
    is_same = np.concatenate([[False], ordered[1:] == ordered[:-1], [False]])
    return int(np.count_nonzero(is_same[1:] | is_same[:-1]))


def match_lists(
    lists: Mapping[str, RunList], qrels: Qrels, order: str, name: str, ties: bool = False
) -> RunHits:
    """Find the hits of rankings by topic, in an ordering; ``name`` replaces the tag."""
    index = DocumentIndex.from_qrels(qrels)
    judged = {topic: t for topic in lists if (t := qrels.topic_index.get(topic)) is not None}
    hits = [index.find_hits(t, lists[topic], order, ties) for topic, t in judged.items()]
    return assemble_hits(hits, (topic for topic in lists if topic not in judged), name, ties)


def rank_judged(lists: ScoredLists, judged: JudgedLists) -> RankedGrades:
    """Return ranks and grades of the judged documents of rankings ``{document: score}``, ordered as trec_eval 9 does.

    ``judged`` has the grades of the topic of each ranking (or any integers). The hits of ranking l are
    ``offsets[l]:offsets[l + 1]``, by rank.

    >>> rank_judged([{"d1": 1.0, "d2": 3.0, "d3": 1.0}], [{"d1": 7, "d9": 8}])
    (array([3], dtype=int32), array([7], dtype=int32), array([0, 1]))
    """
    lengths = [*map(len, lists)]
    if max(lengths, default=0) > _SHORT:
        return _rank_in_long_lists(lists, judged)
    if sum(lengths) > _FEW:
        return _rank_in_short_lists(lists, judged, lengths)
    return _rank_in_few_lists(lists, judged)


def _rank_in_few_lists(lists: ScoredLists, judged: JudgedLists) -> RankedGrades:
    """Rank in plain Python."""
    ranks, grades, offsets = [], [], [0]
    for scores, judgments in zip(lists, judged, strict=True):
        for rank, name in enumerate(_sort_documents(scores), 1):
            if name in judgments:
                ranks.append(rank)
                grades.append(judgments[name])
        offsets.append(len(ranks))
    return np.array(ranks, np.int32), np.array(grades, np.int32), np.array(offsets)


def _rank_in_short_lists(lists: ScoredLists, judged: JudgedLists, lengths: Sequence[int]) -> RankedGrades:
    """Rank in one table with a padded row per ranking, all rows sorted at once."""
    size = sum(lengths)
    is_document = np.arange(max(lengths)) < np.array(lengths)[:, np.newaxis]
    values = np.full(is_document.shape, np.inf, np.float32)  # a stable sort keeps the padding at the end
    values[is_document] = _ascending(chain.from_iterable(scores.values() for scores in lists), size)
    order = values.argsort(axis=1, kind="stable")
    # The grades of all documents without a loop in Python.
    grades = chain.from_iterable(map(map, (known.get for known in judged), lists, repeat(repeat(UNJUDGED))))
    grade = np.full(is_document.shape, UNJUDGED, np.int32)
    grade[is_document] = np.fromiter(grades, np.int32, size)
    row = np.arange(len(lists))[:, np.newaxis]
    values, grade = values[row, order], grade[row, order]
    has_ties = ((values[:, 1:] == values[:, :-1]) & is_document[:, 1:]).any(axis=1)
    for i in np.flatnonzero(has_ties).tolist():
        grade[i, : lengths[i]] = [judged[i].get(name, UNJUDGED) for name in _sort_documents(lists[i])]
    owner, column = (grade != UNJUDGED).nonzero()
    offsets = np.searchsorted(owner, np.arange(len(lists) + 1))
    return (column + 1).astype(np.int32), grade[owner, column], offsets


def _sort_documents(scores: Mapping[str, float]) -> list[str]:
    """Return the documents from rank 1 on; among equal scores the greater id comes first."""
    values = (-_ascending(scores.values(), len(scores))).tolist()
    return [name for _, name in sorted(zip(values, scores, strict=True), reverse=True)]


def _ascending(scores: Iterable[float], size: int) -> npt.NDArray[np.float32]:
    """Return the negated scores in 32 bits; NaN counts as the lowest score."""
    values = -in_32_bits(np.fromiter(scores, np.float64, size))
    values[np.isnan(values)] = np.inf
    return values


def _rank_in_long_lists(lists: ScoredLists, judged: JudgedLists) -> RankedGrades:
    """Rank only the judged documents, and the documents tied with one of them."""
    retrieved = [
        [name for name in judgments if name in scores]
        if len(judgments) < len(scores)
        else [name for name in scores if name in judgments]
        for scores, judgments in zip(lists, judged, strict=True)
    ]
    starts = np.cumsum([0, *map(len, lists)])
    offsets = np.cumsum([0, *map(len, retrieved)])
    size = int(offsets[-1])
    values = _ascending(chain.from_iterable(scores.values() for scores in lists), int(starts[-1]))
    hit_scores = (scores[name] for scores, names in zip(lists, retrieved, strict=True) for name in names)
    hit_values = _ascending(hit_scores, size)
    grades = (grades[name] for grades, names in zip(judged, retrieved, strict=True) for name in names)
    grade = np.fromiter(grades, np.int32, size)
    n_above = np.empty(size, np.int64)
    list_bounds, hit_bounds = starts.tolist(), offsets.tolist()
    for i, names in enumerate(retrieved):
        if names:
            hits = slice(hit_bounds[i], hit_bounds[i + 1])
            unsorted = values[list_bounds[i] : list_bounds[i + 1]]
            ascending = np.sort(unsorted)
            n_above[hits] = ascending.searchsorted(hit_values[hits])
            tied = np.flatnonzero(ascending.searchsorted(hit_values[hits], "right") - n_above[hits] > 1)
            if len(tied):
                n_above[hits] += _ranks_in_ties(lists[i], unsorted, names, hit_values[hits], tied.tolist())
    order = np.lexsort((n_above, np.repeat(np.arange(len(lists)), np.diff(offsets))))
    return (n_above[order] + 1).astype(np.int32), grade[order], offsets


def _ranks_in_ties(
    scores: Mapping[str, float],
    values: npt.NDArray[np.float32],
    names: Sequence[str],
    hit_values: npt.NDArray[np.float32],
    tied: Sequence[int],
) -> npt.NDArray[np.int64]:
    """Return the number of documents above each hit with the same score: those with greater ids."""
    groups: dict[float, list[str]] = {float(hit_values[i]): [] for i in tied}
    for name, value in zip(scores, values.tolist(), strict=True):
        if value in groups:
            groups[value].append(name)
    position = {name: i for group in groups.values() for i, name in enumerate(sorted(group, reverse=True))}
    n_above = np.zeros(len(names), np.int64)
    n_above[list(tied)] = [position[names[i]] for i in tied]
    return n_above
