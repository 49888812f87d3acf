"""Shares of unjudged and of tied documents of runs, which limit the reliability of scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rankscope.read.qrels import UNJUDGED

if TYPE_CHECKING:
    from rankscope.arrays import Floats
    from rankscope.judging.judged import Judged


UNJUDGED_SHARE = 0.2
"""Smallest share of unjudged documents in the first ten ranks for which a note names a run."""
TIED_SHARE = 0.1
"""Smallest share of tied documents for which a note names a run."""

VACUOUS = (
    "vacuous: no document is judged non-relevant, so that every other retrieved document could be relevant"
)
"""Note on bounds over labels of unjudged documents without judged non-relevant documents."""


def unjudged_shares(judged: Judged, depth: int = 10) -> Floats:
    """Return the share of unjudged documents in the first ranks of each run.

    >>> from rankscope.judging import judge
    >>> from rankscope.read import Qrels, Run
    >>> unjudged_shares(judge(Qrels.from_dict({"q": {"a": 1}}), Run.from_dict({"q": ["a", "b"]}))).tolist()
    [0.5]
    """
    slots = judged.grid(np.minimum(judged.length, depth)).sum(axis=1)
    shallow = np.flatnonzero(judged.rank <= depth)
    shallow = shallow[judged.pool.grade[judged.judgment[shallow]] != UNJUDGED]  # Judgments may be removed.
    first_of_run = judged.offsets[:: len(judged.topics)]
    n_judged = np.diff(np.searchsorted(shallow, first_of_run))
    return np.where(slots, 1 - n_judged / np.maximum(slots, 1), 0.0)


def has_nonrelevant(judged: Judged) -> bool:
    """Return whether any document is judged non-relevant; otherwise unjudged documents may be non-relevant ones.

    >>> from rankscope.judging import judge
    >>> from rankscope.read import Qrels, Run
    >>> [has_nonrelevant(judge(Qrels.from_dict({"q": grades}), Run.from_dict({"q": ["a"]})))
    ...  for grades in ({"a": 1}, {"a": 1, "b": 0})]
    [False, True]
    """
    return bool(judged.pool.nonrelevant(1).any())


def tied_shares(judged: Judged) -> Floats:
    """Return the share of documents of each run that share their score with another one of their ranking."""
    documents = judged.grid(judged.length).sum(axis=1)
    return np.asarray(judged.grid(judged.tied).sum(axis=1) / np.maximum(documents, 1), np.float64)
