"""The five orderings of a run (see the reproducibility study of Moffat and Zobel's RBP).

``trec_eval``     score descending, ties by document id descending in byte order, scores as 64-bit numbers
``trec_eval9``    the same with scores rounded to 32 bits, as trec_eval up to 9 and pytrec_eval read them
``ascending_id``  score descending, ties by document id ascending in byte order, scores as 64-bit numbers
``rank``          the rank column ascending, ties in the order of the file
``file``          the order of the lines
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rankscope.arrays import Floats, Ints
from rankscope.choices import ORDERS
from rankscope.errors import check_name

__all__ = ["ORDERS", "check_order", "is_by_score", "permutation", "score_keys", "ties_descend"]


def check_order(order: str) -> str:
    """Return the order; reject unknown names."""
    check_name(order, ORDERS, f"unknown order {order!r}")
    return order


def is_by_score(order: str) -> bool:
    """Return whether an ordering compares scores."""
    return order not in ("rank", "file")


def ties_descend(order: str) -> bool:
    """Return whether an ordering that compares scores puts the greater of two tied document ids first."""
    return order != "ascending_id"


def score_keys(scores: Floats | None, order: str) -> Floats | None:
    """Return the numbers that an ordering compares, equal for tied documents; None if it does not compare scores.

    >>> score_keys(np.array([0.1, np.float32(0.1)]), "trec_eval9").tolist() == [float(np.float32(0.1))] * 2
    True
    """
    if not is_by_score(order) or scores is None:
        return None
    if order != "trec_eval9":
        return scores
    with np.errstate(over="ignore"):  # larger scores become infinite, as in trec_eval up to 9
        return scores.astype(np.float32).astype(np.float64)


def permutation(documents: Sequence[bytes], scores: Floats | None, ranks: Ints | None, order: str) -> Ints:
    """Return the indices that sort the documents of a ranking, given in the order of the file.

    A ranking without scores (or without ranks) keeps its order.

    >>> permutation([b"a", b"b", b"c"], np.array([1.0, 1.0, 2.0]), None, "trec_eval").tolist()
    [2, 1, 0]
    >>> permutation([b"b", b"a", b"c"], np.array([1.0, 1.0, 2.0]), None, "ascending_id").tolist()
    [2, 1, 0]
    """
    if order == "rank" and ranks is not None:
        return np.argsort(ranks, kind="stable")
    keys = score_keys(scores, order)
    if keys is None:
        return np.arange(len(documents))
    by_score = np.argsort(-keys, kind="stable")
    ordered = keys[by_score]
    is_same = np.concatenate([[False], ordered[1:] == ordered[:-1], [False]])
    tied = np.flatnonzero(is_same[1:] | is_same[:-1])
    if len(tied):  # Sorts by id first and then, stably, by score.
        members = by_score[tied]
        names = [documents[row] for row in members.tolist()]
        by_id = sorted(range(len(tied)), key=names.__getitem__, reverse=ties_descend(order))
        by_score[tied] = members[by_id][np.argsort(-ordered[tied][by_id], kind="stable")]
    return by_score
