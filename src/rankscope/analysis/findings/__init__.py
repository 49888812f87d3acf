"""The main results of an evaluation as sentences with numbers: each rule is a function, each finding is data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from rankscope.analysis.findings.finding import Chart, Finding, Findings
from rankscope.choices import FINDINGS_MEASURES, VALUE_OPTIONS, Correction, Test
from rankscope.declaration import AttributeName, Level, Option, Seed, analysis, list_names

if TYPE_CHECKING:
    from rankscope.scores import Scores

__all__ = ["Chart", "Finding", "Findings", "findings"]


@analysis(
    figures={"findings": "findings.plot_findings"},
    uses=(*VALUE_OPTIONS, "weights"),
    covers=("bounds",),
    measures=FINDINGS_MEASURES,
)
def findings(
    scores: Scores,
    *,
    test: Test = "t",
    correction: Correction | None = None,
    alpha: Level = 0.05,
    replicates: Annotated[int, Option("B")] = 1000,
    seed: Seed = 1,
    by: AttributeName | Sequence[AttributeName] = (),
) -> Findings:
    """Report the main results of an evaluation as sentences with numbers.

    Most findings concern the first measure: the leader and the runs that are tied with it, the pairs of runs that the
    topics separate, measures that disagree, topics with the most influence, topics without which another run would
    lead, and hard topics. The others concern unjudged and tied documents, high gain at high effort, CRP curves that
    never return to 0, and means of ordinal measures.

    Each sentence is followed by the first rows of the table that it is based on; JSON has all rows. Findings about
    rankings are omitted for scores from a file, and findings about unjudged and tied documents if topics have weights.
    No run is called the leader if chance alone explains the spread.

    Parameters
    ----------
    scores
        Runs to report on.
    test
        Test over topics.
    correction
        Correction for the number of pairs, within each measure (default: max-t for randomisation and bootstrap, else
        holm).
    alpha
        Significance level.
    replicates
        Number of replicates of the bootstrap.
    seed
        Seed of the random numbers.
    by
        Attribute of topics: also report whether the lead depends on its slices, such as lang, or length:4 for
        quantile bins of a number; repeatable.

    Returns
    -------
    Findings
        The findings, the most important first, and the tables that they are based on.

    Commands
    --------
    rankscope findings qrels.txt runs/
    rankscope findings qrels.txt runs/ -m "nDCG@10 AP Twist" --plot findings.pdf
    rankscope findings --scores AP=ap.csv --scores RR=rr.csv
    rankscope findings qrels.txt runs/ -f json -o findings.json
    rankscope findings qrels.txt runs/ --topic-data topics.csv --by lang

    Examples
    --------
    >>> import rankscope as rs
    >>> qrels = {f"q{i}": {"a": 1} for i in range(9)}
    >>> good = {f"q{i}": {"a": 3, "b": 2} for i in range(9)}
    >>> poor = {f"q{i}": {"b": 3, "c": 2, **({"a": 1} if i % 2 else {})} for i in range(9)}
    >>> result = rs.findings(rs.evaluate(qrels, {"good": good, "poor": poor}, ["AP", "RR"]))
    >>> print(result.get("leader").sentence)  # doctest: +ELLIPSIS
    good leads by AP: its mean of 1.0000 over 9 topics differs significantly from that of every other run (1); ...
    >>> result.leader[0].value
    1.0
    """
    from rankscope.analysis.findings.basis import Basis
    from rankscope.analysis.findings.rules import RULES
    from rankscope.analysis.stats.intervals import check_level
    from rankscope.analysis.stats.significance import correction_for

    check_level(alpha, replicates)
    corrected = correction_for(test, correction)
    basis = Basis(scores, alpha, test, corrected, replicates, seed, tuple(list_names(by)))
    items = tuple(finding for rule in RULES if (finding := rule(basis)) is not None)
    settings = {
        **scores.settings, "alpha": alpha, "test": test, "correction": corrected, "replicates": replicates,
        "seed": seed, **({"by": list_names(by)} if by else {}),
    }  # fmt: skip
    return Findings.from_items(items, settings)
