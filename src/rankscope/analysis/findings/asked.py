"""All rules, asked one after another."""

from __future__ import annotations

from collections.abc import Callable

from rankscope.analysis.findings.basis import Basis
from rankscope.analysis.findings.documents import ties, unjudged
from rankscope.analysis.findings.effort import parting, unreturned
from rankscope.analysis.findings.finding import Finding, Findings
from rankscope.analysis.findings.order import apart, disagreement, leader
from rankscope.analysis.findings.scale import scale
from rankscope.analysis.findings.topics import deciding, hard, overtaking
from rankscope.analysis.stats.intervals import check_level
from rankscope.analysis.stats.significance import correction_for
from rankscope.scores import ScoreMatrix, Scores, as_scores

__all__ = ["RULES", "findings"]

RULES: tuple[Callable[[Basis], Finding | None], ...] = (
    leader, apart, disagreement, deciding, overtaking, hard, unjudged, ties, parting, unreturned, scale,
)  # fmt: skip
"""The rules in the order in which their findings are read; each answers with a finding, or with nothing."""


def findings(
    scores: Scores | ScoreMatrix,
    *,
    alpha: float = 0.05,
    test: str = "t",
    correction: str | None = None,
    replicates: int = 1000,
    seed: int = 1,
) -> Findings:
    """What matters in a collection, as sentences with numbers, each with the table that it rests on.

    The first measure leads: who is best by it and who is tied with them (``leader``), how many pairs of runs the topics
    tell apart (``apart``), where measures disagree about the order (``disagreement``), which topics decide
    (``deciding``), on which the lead hangs (``overtaking``), which are hard (``hard``); which scores rest on documents
    that nobody judged (``unjudged``) or on the order of documents with equal scores (``ties``); where effort and gain
    part (``parting``), which curves never return (``unreturned``), and which means the laboratory warns about
    (``scale``). Rules that need the lists are silent about scores alone, and nobody is called best if chance spreads
    the means of the runs as widely.

    ``test`` and ``correction`` are those of :func:`rankscope.compare`, ``alpha``, ``replicates`` and ``seed`` those of
    :func:`rankscope.leaderboard`.

    >>> import rankscope as rs
    >>> qrels = {f"q{i}": {"a": 1} for i in range(9)}
    >>> good = {f"q{i}": {"a": 3, "b": 2} for i in range(9)}
    >>> poor = {f"q{i}": {"b": 3, "c": 2, **({"a": 1} if i % 2 else {})} for i in range(9)}
    >>> found = findings(rs.evaluate(qrels, {"good": good, "poor": poor}, ["AP", "RR"]))
    >>> print(found.of("leader").sentence)  # doctest: +ELLIPSIS
    good leads by AP: the test tells its mean of 1.0000 over 9 topics from those of all other runs, 1; next is poor...
    """
    scores = as_scores(scores)
    check_level(alpha, replicates)
    correction = correction_for(test, correction)
    basis = Basis(scores, alpha, test, correction, replicates, seed)
    found = tuple(one for rule in RULES if (one := rule(basis)) is not None)
    settings = {
        **scores.settings, "alpha": alpha, "test": test, "correction": correction, "replicates": replicates,
        "seed": seed,
    }  # fmt: skip
    return Findings(found, settings)
