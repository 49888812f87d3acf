"""Agreement of two or more judges, computed from tables of counts, for many tables at once.

A table ``counts[..., i, j]`` has the documents that the first judge gave grade i and the second grade j, where i and j
are indices of the sorted grades; leading axes hold several tables, such as bootstrap samples. A ratio with denominator
0 is undefined: judges who use a single grade can neither agree nor disagree beyond chance.
"""

import numpy as np

from rankscope.arrays import ArrayLike, Floats
from rankscope.errors import check_name

WEIGHTS = ("none", "linear", "quadratic")


def exact_agreement(counts: ArrayLike) -> Floats:
    """Return the share of documents with the same grade.

    >>> float(exact_agreement([[6, 1], [1, 2]]))
    0.8
    """
    table = np.asarray(counts, np.float64)
    return _ratio(np.trace(table, axis1=-2, axis2=-1), table.sum(axis=(-2, -1)))


def kappa(counts: ArrayLike, weights: str = "none", grades: ArrayLike | None = None) -> Floats:
    """Return Cohen's kappa (1960), or weighted kappa (1968): 1 - observed disagreement / disagreement by chance.

        kappa = 1 - sum of w_ij n_ij / sum of w_ij n_i. n_.j / n

    with w = 1 for different grades (``none``), their distance (``linear``) or its square (``quadratic``). The distance
    is that of the ``grades``, or that of their positions, |i - j|, if none are given: then 0, 1 and 4 have the same
    distances as 0, 1 and 2.

    >>> [round(float(kappa([[6, 1], [1, 2]], w)), 4) for w in WEIGHTS]
    [0.5238, 0.5238, 0.5238]
    >>> counts = [[5, 1, 0], [1, 2, 1], [0, 1, 1]]
    >>> round(float(kappa(counts, "linear")), 4), round(float(kappa(counts, "linear", [0, 1, 4])), 4)
    (0.5714, 0.5)
    """
    check_name(weights, WEIGHTS, f"kappa has no weights {weights!r}")
    table = np.asarray(counts, np.float64)
    positions = np.arange(table.shape[-1]) if grades is None else np.asarray(grades, np.float64)
    apart = np.abs(positions[:, None] - positions[None, :])
    weight = {"none": apart > 0, "linear": apart, "quadratic": apart**2}[weights].astype(np.float64)
    total = table.sum(axis=(-2, -1))
    chance = _ratio(np.einsum("...i,...j,ij->...", table.sum(-1), table.sum(-2), weight), total)
    return 1 - _ratio((table * weight).sum(axis=(-2, -1)), chance)


def coincidences(grades: ArrayLike, levels: int) -> Floats:
    """Return Krippendorff's coincidence matrix of grades, units x judges; -1 stands for no grade.

    Every ordered pair of grades of a unit that m judges graded counts 1 / (m - 1).

    >>> coincidences([[0, 0, 1], [1, 1, -1]], 2).tolist()
    [[1.0, 1.0], [1.0, 2.0]]
    """
    table = np.asarray(grades, np.int64)
    votes = np.stack([(table == level).sum(axis=1) for level in range(levels)], axis=1).astype(np.float64)
    judges = votes.sum(axis=1)
    votes, judges = votes[judges > 1], judges[judges > 1]
    together = np.einsum("ui,uj,u->ij", votes, votes, 1 / (judges - 1))
    matrix: Floats = together - np.diag((votes / (judges - 1)[:, None]).sum(axis=0))
    return matrix


def krippendorff_alpha(coincidence: ArrayLike) -> Floats:
    """Return Krippendorff's alpha for ordered grades, from a coincidence matrix (two judges: counts + transpose).

        alpha = 1 - (n - 1) sum of o_ij d_ij^2 / sum of n_i n_j d_ij^2,    d_ij = sum over i..j of n_g - (n_i + n_j) / 2

    >>> counts = np.array([[6, 1], [1, 2]])
    >>> round(float(krippendorff_alpha(counts + counts.T)), 4)
    0.5476
    """
    table = np.asarray(coincidence, np.float64)
    size = table.sum(axis=-1)
    below = np.cumsum(size, axis=-1) - size / 2  # distances are those of the middles of the groups
    apart = (below[..., :, None] - below[..., None, :]) ** 2
    expected = np.einsum("...i,...j,...ij->...", size, size, apart)
    alpha: Floats = 1 - (size.sum(axis=-1) - 1) * _ratio((table * apart).sum(axis=(-2, -1)), expected)
    return alpha


def grade_bias(counts: ArrayLike, grades: ArrayLike) -> Floats:
    """Return the mean difference of the grades, second judge minus first: positive if the second is more lenient.

    >>> float(grade_bias([[6, 2], [0, 2]], [0, 1]))
    0.2
    """
    table, values = np.asarray(counts, np.float64), np.asarray(grades, np.float64)
    more = values[None, :] - values[:, None]
    return _ratio((table * more).sum(axis=(-2, -1)), table.sum(axis=(-2, -1)))


def _ratio(above: ArrayLike, below: ArrayLike) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        quotient = np.asarray(above, np.float64) / np.asarray(below, np.float64)
    return np.where(np.isfinite(quotient), quotient, np.nan)
