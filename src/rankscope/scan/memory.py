"""Find the hits of rankings in memory (dicts, frames), with the same results as from files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, repeat

import numpy as np
import numpy.typing as npt

from rankscope.read.orders import in_32_bits, score_keys
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


def match_lists(
    lists: Mapping[str, RunList], qrels: Qrels, order: str, name: str, ties: bool = False
) -> RunHits:
    """Find the hits of rankings by topic, in an ordering; ``name`` replaces the tag."""
    hits = []
    for topic, ranking in lists.items():
        if (t := qrels.topic_index.get(topic)) is None:
            continue
        ranking = ranking.ordered(order)
        start, stop = int(qrels.topic_offsets[t]), int(qrels.topic_offsets[t + 1])
        numbers = dict(zip(qrels.documents[start:stop], range(start, stop), strict=True))
        judgment = np.array([numbers.get(document, -1) for document in ranking.documents], np.int32)
        at = np.flatnonzero(judgment >= 0)
        rank = (at + 1).astype(np.int32)
        scores = score_keys(ranking.scores, order)
        tied = _count_tied(ranking.scores if scores is None else scores)
        found_ties = Ties.from_scores(scores, rank) if ties else None
        hits.append(ListHits(t, len(judgment), tied, rank, judgment[at], found_ties))
    ignored = (topic for topic in lists if topic not in qrels.topic_index)
    return assemble_hits(hits, ignored, name, ties)


def _count_tied(scores: npt.NDArray[np.floating] | None) -> int:
    if scores is None:
        return 0
    _, counts = np.unique(scores, return_counts=True)
    return int(counts[counts > 1].sum())


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
