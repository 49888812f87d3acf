"""Summaries of the scores of systems on several tasks, for many resamples of the tasks at once.

All summaries but Bradley-Terry's strengths are means over tasks of *terms*: scores, ranks or standardised scores.
Arrays have the shape (..., systems, tasks).

On a complete table every two systems meet on all tasks. Then the numbers of wins are sufficient for Bradley-Terry's
model, and its strengths have the order of the win rates, as have the Borda count and the mean rank.
"""

from collections.abc import Sequence

import numpy as np

from rankscope.analysis.stats.coefficients import average_ranks
from rankscope.analysis.stats.matrices import rounded
from rankscope.arrays import Floats, Ints
from rankscope.errors import InputError

BASES = {"mean": "scores", "mean-of-types": "types", "z-score": "z"}
BASES |= dict.fromkeys(("borda", "win-rate", "bradley-terry", "mean-rank"), "points")
"""Terms of each aggregate; aggregates with the same terms order systems alike."""


def compute_terms(values: Floats, basis: str) -> Floats:
    """Return the terms of a basis, whose means order the systems, best highest.

    ``points`` are the systems beaten on the task, a tie counting one half; ``z`` are deviations from the mean of the
    systems in units of their standard deviation, 0 if all are equal.

    >>> compute_terms(np.array([[0.5], [0.7], [0.5]]), "points").tolist()
    [[0.5], [2.0], [0.5]]
    """
    if basis == "points":
        return np.asarray(np.swapaxes(average_ranks(np.swapaxes(rounded(values), -1, -2)), -1, -2) - 1)
    if basis == "z":
        spread = values.std(axis=-2, keepdims=True)
        varies = spread > 1e-12 * np.abs(values).max(initial=0.0)
        deviations = values - values.mean(axis=-2, keepdims=True)
        return np.asarray(np.divide(deviations, spread, out=np.zeros_like(values), where=varies))
    return values


def weigh(terms: Floats, types: Ints) -> Floats:
    """Return the terms times weights of the tasks, so that their plain mean is that over types of the means within.

    ``types`` has the shape (..., tasks); a resample may lack a type.

    >>> weigh(np.array([[0.2, 0.4, 0.9]]), np.array([0, 0, 1])).mean(axis=-1).round(6).tolist()
    [0.6]
    """
    members = (types[..., None] == np.arange(types.max() + 1)).astype(np.float64)
    counts = members.sum(axis=-2)
    size = (members @ counts[..., None])[..., 0]  # number of tasks of the same type
    n_types = (counts > 0).sum(axis=-1, keepdims=True)
    return np.asarray(terms * (types.shape[-1] / (n_types * size))[..., None, :])


def combine(terms: Floats, types: Ints) -> Floats:
    """Return the mean over types of the means within types, (..., systems)."""
    return np.asarray(weigh(terms, types).mean(axis=-1))


def aggregate_value(aggregate: str, summary: Floats, tasks: int) -> Floats:
    """Return the values of an aggregate from the means of its terms.

    >>> points = np.array([2.0, 1.0, 0.0])
    >>> [aggregate_value(name, points, 4).tolist() for name in ("borda", "win-rate", "mean-rank")]
    [[8.0, 4.0, 0.0], [1.0, 0.5, 0.0], [1.0, 2.0, 3.0]]
    """
    if aggregate == "bradley-terry":
        return bradley_terry(summary)
    n = len(summary)
    values = {"borda": summary * tasks, "win-rate": summary / (n - 1), "mean-rank": n - summary}
    return values.get(aggregate, summary)


def find_infinite(points: Floats, systems: Sequence[str]) -> InputError | None:
    """Return an error if some systems win every comparison with all others: then strengths are infinite."""
    order = np.argsort(-points, kind="stable")
    n = len(points)
    # The best k systems win all comparisons with the others if they have the sum of n - 1, n - 2, ..., n - k points.
    lacking = np.cumsum(np.arange(n)[::-1] - points[order])[:-1]
    separated = 1 + np.flatnonzero(np.abs(lacking) < 1e-9 * n)
    if not len(separated):
        return None
    names, best = [repr(systems[s]) for s in order], separated[0]
    problems = [f"{names[0]} wins all comparisons"] if best == 1 else []
    problems += [f"{names[-1]} loses all comparisons"] if separated[-1] == n - 1 else []
    leading = ", ".join(names[:best][:3])
    group = f"the best {best} systems ({leading}, ...) win all comparisons with the others"
    problem = f"Bradley-Terry has no finite strengths: {' and '.join(problems) or group}"
    return InputError(problem, hint="use win-rate, which has the same order")


def bradley_terry(points: Floats) -> Floats:
    """Return the maximum-likelihood strengths of Bradley and Terry's model, with the sum 0, to 11 decimals.

    ``points`` are the wins of each system against all others, a tie counting one half, per task. Later digits depend on
    the machine; without them, systems with equal points have equal strengths.

    >>> bradley_terry(np.array([1.5, 1.0, 0.5])).tolist()
    [0.75630761262, 0.0, -0.75630761262]
    """
    from scipy.optimize import root
    from scipy.special import expit

    def residuals(strengths: Floats) -> tuple[Floats, Floats]:
        """Return expected minus observed wins, and their derivatives; the sum of the strengths is 0 at the root."""
        chance = expit(strengths[:, None] - strengths)
        np.fill_diagonal(chance, 0.0)
        weights = chance * (1 - chance)
        curvature = np.diag(weights.sum(axis=1)) - weights + 1 / len(points)
        return chance.sum(axis=1) - points + strengths.mean(), curvature

    strengths = root(residuals, np.zeros(len(points)), jac=True, tol=1e-13).x
    return np.asarray(np.round(strengths - strengths.mean(), 11) + 0.0)  # No strength is -0.0.


def friedman(values: Floats, alpha: float) -> tuple[float, float, float]:
    """Return Friedman's statistic and p-value, corrected for ties, and Nemenyi's critical distance (Demsar 2006)."""
    from scipy.stats import friedmanchisquare, studentized_range

    n, tasks = values.shape
    points = compute_terms(values, "points")
    statistic, p = friedmanchisquare(*points) if np.ptp(points) > 0 else (0.0, 1.0)
    quantile = studentized_range.ppf(1 - alpha, n, np.inf)
    return float(statistic), float(p), float(quantile / np.sqrt(2) * np.sqrt(n * (n + 1) / (6 * tasks)))
