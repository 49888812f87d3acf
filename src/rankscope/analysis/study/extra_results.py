"""Results that a study draws but does not keep: comparison with the best run, findings, ranks, coverage, orderings."""

from rankscope.analysis.certain import certain
from rankscope.analysis.compare import compare
from rankscope.analysis.findings import findings
from rankscope.analysis.orderings import orderings
from rankscope.errors import InputError
from rankscope.measures import needs_aspects
from rankscope.result import Result
from rankscope.scores import Collection, Scores, as_scores


def extra_results(scores: Scores, seed: int = 1) -> tuple[dict[str, Result], dict[str, str]]:
    """Return further results by name, and the reasons why others are impossible.

    These are ``scores``; ``comparison`` of every run with the best run by the first measure, topic by topic;
    ``findings``; ``ranks`` of the runs across the measures; ``coverage``, if a measure needs aspects; ``orderings``, if
    the runs are files.

    >>> import rankscope as rs
    >>> runs = {"good": {"q1": ["a"], "q2": ["a"]}, "poor": {"q1": ["b", "a"], "q2": ["b"]}}
    >>> results, left_out = extra_results(rs.evaluate({"q1": {"a": 1}, "q2": {"a": 1}}, runs, "AP"))
    >>> list(results), closest_pair(results["comparison"])
    (['scores', 'findings', 'comparison', 'ranks', 'orderings'], ('poor', 'good'))
    """
    collection = scores.require_collection("extra_results")
    # Ranks, coverage and orderings do not honour ties and unjudged.
    plain = Collection(collection.qrels, collection.runs, missing=collection.missing, jobs=collection.jobs)
    results: dict[str, Result] = {"scores": scores, "findings": findings(scores)}
    left_out: dict[str, str] = {}
    if len(scores.runs) > 1 and len(scores.topics) > 1:
        first = scores.measures[0]
        best = scores.runs[int(first.best_first(scores.mean(first))[0])]
        results["comparison"] = compare(as_scores(scores.matrix(first)), best, per_topic=True)
    else:
        left_out["comparison"] = "two runs and two topics are needed"
    ordering = [measure for measure in scores.measures if measure.better != "neither"]
    if len(scores.runs) > 1 and ordering:
        results["ranks"] = certain(plain.evaluate(ordering), across="measures", seed=seed)
    else:
        left_out["ranks"] = "two runs and a measure with a direction are needed"
    if needs_aspects(scores.measures):
        results["coverage"] = plain.coverage()
    try:
        results["orderings"] = orderings(plain.evaluate(scores.measures))
    except InputError as error:
        left_out["orderings"] = str(error)
    return results, left_out


def closest_pair(comparison: Result) -> tuple[str, str]:
    """Return the pair of runs with the smallest difference: the runner-up and the best run."""
    rows = comparison["pairs"].records()
    nearest = min(rows, key=lambda row: abs(float(str(row["difference"] or 0.0))))
    return str(nearest["a"]), str(nearest["b"])
