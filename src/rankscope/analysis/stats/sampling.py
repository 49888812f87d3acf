"""Smaller pools: arrays of grades in which some judgments are removed.
Every function returns one grade per judged document of the collection, :data:`~rankscope.judging.UNJUDGED` where the
judgment is not kept, ready for :meth:`~rankscope.judging.Judged.with_grades`.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from rankscope.analysis.stats.randomness import generator
from rankscope.arrays import Bools, Grades, Ints
from rankscope.choices import SAMPLINGS
from rankscope.errors import SettingsError, check_name
from rankscope.judging import UNJUDGED, Judged, Pool

_MIN_NONRELEVANT = 10


def depth_pool(judged: Judged, depth: int, runs: Bools | None = None) -> Grades:
    """Return the judgments of documents in the first ``depth`` ranks of some run (of the chosen runs, if given).

    >>> import rankscope as rs
    >>> qrels = rs.Qrels.from_dict({"q": {"a": 1, "b": 0, "c": 2}})
    >>> judged = rs.judge(qrels, rs.Run.from_dict({"q": {"b": 3, "x": 2, "c": 1}}))
    >>> [int(g) if g != UNJUDGED else None for g in depth_pool(judged, 2)]
    [None, 0, None]
    """
    if depth < 1:
        raise SettingsError(f"a pool of depth {depth}", hint="give a depth of at least 1 such as 10")
    return _keep_judgments(judged, np.bincount(_pooled(judged, depth, runs), minlength=len(judged.qrels)) > 0)


def without_group(judged: Judged, depth: int, group: Bools) -> Grades:
    """Return the judgments without those that only the given runs brought into the pool of this depth.

    Documents that no run has in its first ``depth`` ranks (judged for other reasons) stay judged.
    """
    size = len(judged.qrels)
    is_in_group = np.bincount(_pooled(judged, depth, group), minlength=size) > 0
    is_in_others = np.bincount(_pooled(judged, depth, ~group), minlength=size) > 0
    return _keep_judgments(judged, is_in_others | ~is_in_group)


def sample_size(documents: Ints | int, ratio: float, minimum: Ints | int) -> Ints:
    """Return how many of a stratum are kept at ``ratio`` percent: min(n, max(minimum, round-half-up(ratio n / 100))).

    >>> sample_size(np.array([25, 3]), 30, np.array([1, 10])).tolist()
    [8, 3]
    """
    rounded = np.floor(documents * ratio / 100 + 0.5).astype(np.int64)
    return np.asarray(np.minimum(documents, np.maximum(minimum, rounded)))


class Sampler:
    """One random order of the judgments of every stratum; smaller samples are nested in larger ones.

    ``grade``: a stratum per topic and grade (Ferro et al.); ``binary``: relevant and non-relevant documents per topic
    (Buckley and Voorhees 2004); ``uniform``: one per topic. At least 1 document of each relevant stratum and 10
    non-relevant ones are kept, at least 1 of a uniform one.

    >>> pool = Pool(np.array([0, 4]), np.array([0, 2, 1, 1], np.int32))
    >>> [int((Sampler(pool, "grade", np.random.SeedSequence(1)).sample(r) != UNJUDGED).sum()) for r in (90, 10)]
    [4, 3]
    """

    def __init__(self, pool: Pool, sampling: str, stream: np.random.SeedSequence, rel: int = 1) -> None:
        check_name(sampling, SAMPLINGS, f"no sampling is called {sampling!r}")
        self.pool = pool
        judged = np.flatnonzero(pool.grade != UNJUDGED)
        keys = generator(stream).random(len(pool.grade))[judged]
        grade = np.maximum(pool.grade[judged], 0)
        is_relevant = (grade >= rel).astype(np.int32)
        stratum = {"grade": grade, "binary": is_relevant, "uniform": np.zeros_like(grade)}[sampling]
        topic = pool.topic[judged]
        order = np.lexsort((keys, stratum, topic))
        self._documents = judged[order]
        first = np.ones(len(order), dtype=bool)
        first[1:] = (np.diff(topic[order]) != 0) | (np.diff(stratum[order]) != 0)
        starts = np.flatnonzero(first)
        self._size = np.diff(np.append(starts, len(order)))
        self._position = np.arange(len(order)) - np.repeat(starts, self._size)
        nonrelevant = stratum[order][starts] == 0
        self._minimum = np.where(nonrelevant & (sampling != "uniform"), _MIN_NONRELEVANT, 1)

    def sample(self, ratio: float) -> Grades:
        """Return the judgments kept at ``ratio`` percent."""
        if not 0 < ratio <= 100:
            hint = "give ratios between 0 and 100 such as 90,50,10"
            raise SettingsError(f"a sample of {ratio} %", hint=hint)
        keep = self._position < np.repeat(sample_size(self._size, ratio, self._minimum), self._size)
        grades = np.full(len(self.pool.grade), UNJUDGED, np.int32)
        grades[self._documents[keep]] = self.pool.grade[self._documents[keep]]
        return grades


def group_masks(runs: Sequence[str], groups: Mapping[str, str] | None) -> dict[str, Bools]:
    """Return a mask of runs for each group; without groups every run is its own group."""
    names = [run if groups is None else groups.get(run, run) for run in runs]
    return {name: np.array([other == name for other in names]) for name in dict.fromkeys(names)}


def _pooled(judged: Judged, depth: int, runs: Bools | None) -> Grades:
    """Return the judged documents (with repetitions) in the first ranks of the chosen runs."""
    inside = judged.rank <= depth
    if runs is not None:
        lists = np.repeat(runs, len(judged.topics))
        inside &= np.repeat(lists, np.diff(judged.offsets))
    return judged.judgment[inside]


def _keep_judgments(judged: Judged, keep: Bools) -> Grades:
    return np.where(keep, judged.qrels.grade, np.int32(UNJUDGED)).astype(np.int32)
