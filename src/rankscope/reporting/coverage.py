"""Which aspects of its topic a list covers, and at which rank first: subtopic recall at every rank follows from it."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from rankscope.judging import Judged
from rankscope.reporting.schema import Coverage

__all__ = ["coverage"]


def coverage(judged: Judged) -> Coverage | None:
    """The aspects that count, and for each list the first rank of each; None for judgments without aspects.

    The share of aspects whose first rank is k or above is subtopic recall, ``StRec@k``.

    >>> from rankscope.judging import judge
    >>> from rankscope.read import Run, read_qrels
    >>> import tempfile
    >>> from pathlib import Path
    >>> path = Path(tempfile.mkdtemp()) / "qrels.txt"
    >>> _ = path.write_text("q 1 a 1\\nq 2 b 1\\nq 2 a 1\\nq 3 c 0\\n")
    >>> found = coverage(judge(read_qrels(path, aspects=True), Run.from_dict({"q": ["x", "b", "a"]}, name="r")))
    >>> found["names"], found["first"].tolist()
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
    return {"names": names, "first": per_list[keep].astype(np.uint32)}
