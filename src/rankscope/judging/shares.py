"""How much of a run nobody judged, and how much of its order its scores do not say: what numbers may rest on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from rankscope.judging.judged import Judged

__all__ = ["TIED_SHARE", "UNJUDGED_SHARE", "VACUOUS", "has_nonrelevant", "tied_shares", "unjudged_shares"]

UNJUDGED_SHARE = 0.2
"""From this share of unjudged documents in the first ten ranks on, a run is named."""
TIED_SHARE = 0.1
"""From this share of documents with the score of another on, a run is named."""

VACUOUS = (
    "vacuous: no document is judged non-relevant, so that every other retrieved document could be relevant"
)
"""What bounds over labels of unjudged documents are worth without judged non-relevant documents."""


def unjudged_shares(judged: Judged, depth: int = 10) -> npt.NDArray[np.float64]:
    """Of each run, the share of unjudged documents in the first ranks of its lists.

    >>> from rankscope.judging import judge
    >>> from rankscope.read import Qrels, Run
    >>> unjudged_shares(judge(Qrels.from_dict({"q": {"a": 1}}), Run.from_dict({"q": ["a", "b"]}))).tolist()
    [0.5]
    """
    slots = judged.grid(np.minimum(judged.length, depth)).sum(axis=1)
    known = judged.grid(judged.lists.hits(depth).count).sum(axis=1)
    return np.where(slots, 1 - known / np.maximum(slots, 1), 0.0)


def has_nonrelevant(judged: Judged) -> bool:
    """Whether any document is judged non-relevant; without one, nothing tells unjudged from non-relevant documents.

    >>> from rankscope.judging import judge
    >>> from rankscope.read import Qrels, Run
    >>> [has_nonrelevant(judge(Qrels.from_dict({"q": grades}), Run.from_dict({"q": ["a"]})))
    ...  for grades in ({"a": 1}, {"a": 1, "b": 0})]
    [False, True]
    """
    return bool(judged.pool.nonrelevant(1).any())


def tied_shares(judged: Judged) -> npt.NDArray[np.float64]:
    """Of each run, the share of documents that have the score of another one of their list."""
    documents = judged.grid(judged.length).sum(axis=1)
    return np.asarray(judged.grid(judged.tied).sum(axis=1) / np.maximum(documents, 1), np.float64)
