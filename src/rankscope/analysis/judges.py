"""Do judges agree? Two or more sets of judgments of the same documents, and their effect on the leaderboard."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations, pairwise
from operator import attrgetter
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from rankscope.analysis.judge_bias import JudgeBias, describe_bias, find_bias
from rankscope.choices import DISTANCES, UNJUDGED, Distance
from rankscope.declaration import Level, Option, Seed, analysis
from rankscope.errors import InputError, SettingsError, check_name
from rankscope.lazy import numpy as np
from rankscope.result import TypedResult, table
from rankscope.rows import MeasuredPairRow, PairRow, Row, RowTable, column

if TYPE_CHECKING:
    from rankscope.arrays import AnyArray, Floats, Grades, Ints
    from rankscope.judging import Judged
    from rankscope.measures import Measure
    from rankscope.read import Qrels
    from rankscope.scores import Collection, Scores

    Pairs = Sequence[tuple[int, int]]


_MAX_SENTENCES = 6  # pairs of judges; of more pairs the most and the least similar are described
MEASURES = ("AP", "nDCG@10")
"""Default measures of the leaderboards."""
Measures = Annotated["str | Measure | Sequence[str | Measure]", Option("M")]
Runs = Annotated["Collection | None", Option("RUN")]


class Agreement(Row):
    """A coefficient of agreement of two judges."""

    a: str = column()
    b: str | None = column("the second judge; empty for all judges together")
    measure: str = column("the coefficient: documents, exact, kappa, alpha, bias, ...")
    value: float = column("value of the coefficient")
    low: float | None = column()
    high: float | None = column()


class GradePair(PairRow):
    """Number of documents with a pair of grades."""

    grade_a: int | None = column("grade of the first judge; empty if not judged")
    grade_b: int | None = column("grade of the second judge; empty if not judged")
    documents: int = column("documents with this pair of grades")


class LeaderboardStatistic(MeasuredPairRow):
    """A statistic of the leaderboards under two judges."""

    statistic: str = column(
        "statistic of the two leaderboards: a correlation, the largest change of rank, or a count of pairs"
    )
    value: float = column("value of the statistic")
    low: float | None = column(default=None)
    high: float | None = column(default=None)


class RunGain(MeasuredPairRow):
    """A run under two judges."""

    run: str = column()
    value_a: float = column()
    value_b: float = column()
    difference: float = column("mean under b minus mean under a")
    gain: float = column("the difference beyond the difference of the mean run")
    low: float = column()
    high: float = column()
    rank_a: int = column("rank of the run under judge a")
    rank_b: int = column("rank of the run under judge b")


class DisputedJudgment(MeasuredPairRow):
    """A judgment on which two judges differ, and its effect on the leaderboard."""

    topic: str = column()
    doc: str = column()
    grade_a: int | None = column("grade of the first judge; empty if not judged")
    grade_b: int | None = column("grade of the second judge; empty if not judged")
    influence: float = column()
    reversed: int = column("pairs of runs that this one grade reverses")
    gains: str = column("the run that gains most by b's judgment")
    loses: str = column("the run that loses most by b's judgment")


class Conclusion(Row):
    """A sentence about the judges; with a measure, about their leaderboards."""

    measure: str | None = column()
    kind: str = column("subject: leader, tau, shared, significant, depends, alike, favours or agreement")
    sentence: str = column()


class RunPreference(MeasuredPairRow):
    """Two runs, and the number of judges under which either has the better mean."""

    prefer_a: int = column("judges under whom a is better")
    prefer_b: int = column("judges under whom b is better")
    significant_a: int = column("judges under whom a is significantly better (paired t, Holm)")
    significant_b: int = column("judges under whom b is significantly better (paired t, Holm)")


class Judges(TypedResult):
    """Agreement of judges, and their leaderboards."""

    conclusions: RowTable[Conclusion] = table("answers as sentences")
    agreement: RowTable[Agreement] = table("coefficients of agreement")
    confusion: RowTable[GradePair] = table("documents by the grades of two judges", main=False)
    pairs: RowTable[RunPreference] | None = table("pairs of runs", main=False, default=None)
    leaderboards: RowTable[LeaderboardStatistic] | None = table("similarity of leaderboards", default=None)
    bias: RowTable[RunGain] | None = table("gains of the runs under the second judge", default=None)
    alarm: RowTable[JudgeBias] | None = table(
        "error of the second judge on the documents of each run", main=False, default=None
    )
    judgments: RowTable[DisputedJudgment] | None = table(
        "disputed judgments that move the leaderboard most", main=False, default=None
    )

    shown = ("conclusions", "agreement", "leaderboards", "bias", "judgments")


class _Panel(NamedTuple):
    """Judgments of all judges: one row of grades per judge, for every document that some judge graded."""

    names: tuple[str, ...]
    qrels: Qrels
    grades: Grades


@analysis(
    figures={"confusion": "judges.plot_confusion", "slopes": "judges.plot_slopes"},
    uses=("order", "missing"),
    measures=MEASURES,
)
def judges(
    judgments: Mapping[str, Any],
    collection: Runs = None,
    measures: Measures = MEASURES,
    *,
    reference: Annotated[str | None, Option("NAME")] = None,
    consensus: bool = False,
    alpha: Level = 0.05,
    replicates: Annotated[int, Option("B")] = 1000,
    top: Annotated[int, Option("K")] = 10,
    max_disputed: Annotated[int, Option("N")] = 20,
    distance: Distance = "grade",
    seed: Seed = 1,
) -> Judges:
    """Compare judges of the same documents, such as people and a language model, or an old and a new pool.

    Agreement is computed over the documents that both judged: the share of exact agreement, Cohen's kappa (plain, and
    weighted linearly and quadratically), Krippendorff's alpha for ordered grades (also of all judges together), and the
    bias: by how much the grades of the second judge are higher. Intervals are percentiles over bootstrap samples of the
    topics that all judges have.

    With runs, the leaderboards under every two judges are compared: Kendall's tau, tau_AP (mean of both directions)
    and rank-biased overlap (p = .9) with intervals, the largest change of rank, the share of the top runs in common,
    and the pairs of runs that are significant under both judges or one (Sanderson and Soboroff 2007). The gain of a
    run is its difference minus the difference of the mean run. The table ``alarm`` compares the error of the second
    judge (its grade minus that of the first) on the documents of each run with its error on those of the others, over
    the documents that both judged, with the weights 1 / log2(rank + 1), and flags runs that it favours (t, Holm).

    Disputed judgments are sorted by the largest change of the difference of two runs if the grade of the second judge
    replaces that of the first.

    The conclusions state in sentences whether the leader changes, how similar the leaderboards are, which pairs of runs
    depend on the judge, and which judges are alike.

    Parameters
    ----------
    judgments
        Two or more sets of judgments by name, in any form that :func:`~rankscope.evaluate` accepts.
    collection
        Collection of the runs to rank under each judge; its own judgments are not used.
    measures
        Measures of the leaderboards.
    reference
        Judge that the others are compared with; every two judges if omitted.
    consensus
        Add a judge named consensus, whose grade is the median of the grades of a document (of two, the lower one).
    alpha
        Significance level.
    replicates
        Bootstrap samples of the topics.
    top
        Number of best runs whose overlap between two judges is reported.
    max_disputed
        Maximum number of disputed judgments to list; 0 lists none.
    distance
        Distance of two grades in weighted kappa: the difference of their values, or of their positions in order.
    seed
        Seed of the random numbers.

    Returns
    -------
    Judges
        Tables ``conclusions``, ``agreement`` and ``confusion``; with runs also ``leaderboards``, ``pairs``, ``bias``,
        ``alarm`` and ``judgments``.

    Commands
    --------
    rankscope judges people.qrels model.qrels
    rankscope judges person=a.txt model=b.txt --runs runs/ -m "AP nDCG@10" -f json -o judges.json
    rankscope judges person=a.txt b.txt c.txt --reference person --consensus --runs runs/
    rankscope judges old.qrels new.qrels --runs runs/ --plot slopes.pdf --figure slopes

    Examples
    --------
    >>> import rankscope as rs
    >>> people = {"q1": {"d1": 1, "d2": 0, "d3": 1}, "q2": {"d1": 1, "d2": 0}}
    >>> model = {"q1": {"d1": 1, "d2": 1, "d3": 1}, "q2": {"d1": 1, "d2": 0}}
    >>> collection = rs.Collection(None, {"x": {"q1": ["d1", "d2"]}, "y": {"q1": ["d3"]}})
    >>> result = rs.judges({"people": people, "model": model}, collection, "AP")
    >>> [(row.measure, round(row.value, 3)) for row in result.agreement][:3]
    [('documents', 5), ('exact', 0.8), ('kappa', 0.545)]
    >>> [(row.doc, row.gains, row.reversed) for row in result.judgments]
    [('d2', 'x', 0)]
    """
    from rankscope.analysis.stats.bootstrap import resample, resample_counts
    from rankscope.analysis.stats.intervals import check_level

    check_level(alpha, replicates)
    panel = _read_panel(judgments, consensus)
    pairs = list(combinations(range(len(panel.names)), 2))
    if reference is not None:
        check_name(reference, panel.names, f"no judge is called {reference!r}")
        first = panel.names.index(reference)
        pairs = [(first, other) for other in range(len(panel.names)) if other != first]
    resampled = resample_counts(resample(len(panel.qrels.topics), replicates, seed))
    check_name(distance, DISTANCES, f"no distance of grades is called {distance!r}")
    agreement, confusion = _compute_agreement(panel, pairs, resampled, alpha, distance)
    settings: dict[str, Any] = {
        "judges": list(panel.names), "topics": len(panel.qrels.topics), "alpha": alpha, "replicates": replicates,
        "seed": seed, "distance": distance, "reference": reference, "consensus": consensus,
    }  # fmt: skip
    tables: dict[str, Any] = {}
    conclusions: list[Conclusion] = []
    if collection is not None:
        judged, scores, more = _evaluate(panel, collection, measures)
        settings |= {**more, "top": top}
        options = {"top": top, "replicates": replicates, "seed": seed}
        tables = _compare_leaderboards(panel, pairs, scores, alpha, **options)
        taus, n = [row for row in tables["leaderboards"] if row.statistic == "tau"], len(judgments)
        conclusions, tables["pairs"] = _conclude_leaderboards(panel.names[:n], scores[:n], taus, alpha)
        tables["alarm"] = _sound_alarm(panel, pairs, judged, alpha, conclusions)
        tables["judgments"] = _find_disputed(panel, pairs, judged, scores, max_disputed)
    conclusions += _conclude_agreement(agreement)
    caption = "Agreement of the judges, with 95 % intervals over topics"
    return Judges(
        conclusions=Conclusion.table("conclusions", conclusions, caption="Conclusions"),
        agreement=Agreement.table("agreement", agreement, caption=caption),
        confusion=GradePair.table("confusion", confusion, caption="Documents by the grades of two judges"),
        **tables,
        settings=settings,
    )


def _evaluate(panel: _Panel, collection: Any, measures: Any) -> tuple[Judged, list[Scores], dict[str, Any]]:
    """Return the judged rankings, the scores under each judge, and the settings of the evaluation."""
    from rankscope.engines import using
    from rankscope.judging import judge
    from rankscope.measures import needs_aspects, parse_many
    from rankscope.read import open_collection
    from rankscope.scores import Collection, score

    if not isinstance(collection, Collection):
        problem = f"judges takes a Collection of runs, not a value of type {type(collection).__name__}"
        raise SettingsError(problem, hint="give it rs.Collection(None, runs)")
    collection.check_options("judges", ("order", "missing"))
    parsed = parse_many(measures)
    if needs_aspects(parsed):
        hint = "leave out measures that need aspects"
        raise SettingsError("judges give one grade to a document", hint=hint)
    inputs = open_collection(panel.qrels, collection.runs)
    with using(collection.engine, collection.jobs):
        judged = judge(*inputs)
        scores = [score(judged.with_grades(own), parsed, missing=collection.missing) for own in panel.grades]
    names = [str(measure) for measure in parsed]
    return judged, scores, {**inputs.settings, "missing": collection.missing, "measures": names}


def _conclude_agreement(agreement: Sequence[Agreement]) -> list[Conclusion]:
    """Return a sentence for every two judges: documents with the same grade, and kappa."""
    values = {(row.a, row.b, row.measure): row for row in agreement}
    sentences = []
    for (a, b, coefficient), row in values.items():
        if coefficient == "kappa":
            same, documents = values[a, b, "exact"].value, values[a, b, "documents"].value
            text = f"{a} and {b} give the same grade to {same:.0%} of {documents:,} document{'s' * (documents != 1)}"
            sentences.append(Conclusion(None, "agreement", f"{text} (kappa {_with_interval(row)})"))
    return sentences


def _with_interval(row: Agreement | LeaderboardStatistic) -> str:
    text = f"{row.value:.2f}, interval {row.low:.2f} to {row.high:.2f}"
    return text.replace(", interval nan to nan", "").replace("nan", "undefined")


def _conclude_leaderboards(
    names: Sequence[str], scores: Sequence[Scores], taus: Sequence[LeaderboardStatistic], alpha: float
) -> tuple[list[Conclusion], RowTable[RunPreference]]:
    """Return sentences about the leaderboards, and the preferences of the judges."""
    from rankscope.analysis.judge_leaderboards import Leaderboards

    conclusions: list[Conclusion] = []
    rows: list[RunPreference] = []
    for index, measure in enumerate(map(str, scores[0].measures)):
        boards = Leaderboards(names, scores, index, alpha)
        leader, *sentences = boards.sentences()
        own = [row for row in taus if row.measure == measure]
        if len(own) > _MAX_SENTENCES:
            own = [choose(own, key=attrgetter("value")) for choose in (min, max)]
        texts = [f"{row.a} and {row.b} rank the runs with tau {_with_interval(row)}" for row in own]
        sentences = [leader, *(("tau", text) for text in texts), *sentences]
        conclusions += [Conclusion(measure, *sentence) for sentence in sentences]
        rows += [RunPreference(a, b, measure, *counts) for a, b, *counts in boards.pairs()]
    table = RunPreference.table("pairs", rows, caption="Preferences of the judges for pairs of runs")
    return conclusions, table


def _read_panel(judgments: Mapping[str, Any], consensus: bool) -> _Panel:
    from rankscope.read import Qrels, open_qrels

    if len(judgments) < 2:
        raise InputError("agreement needs at least two judges", hint="name another file of judgments")
    opened = {name: open_qrels(source) for name, source in judgments.items()}
    for name, qrels in opened.items():
        if qrels.aspects is not None:
            raise InputError(f"{name!r} judges aspects", hint="give judgments with one grade for a document")
    first, *others = opened.values()
    topics = [topic for topic in first.topics if all(topic in other.topic_index for other in others)]
    if not topics:
        raise InputError("the judges have no topic in common", hint="check that the files belong together")
    union = {topic: {d: 0 for judge in opened.values() for d in judge.judgments(topic)} for topic in topics}
    qrels = Qrels.from_dict(union)
    grades = np.full((len(opened), len(qrels)), UNJUDGED, np.int32)
    for row, judge in enumerate(opened.values()):
        for topic in topics:
            numbers_by_document = qrels.document_numbers(topic)
            for document, grade in judge.judgments(topic).items():
                grades[row, numbers_by_document[document]] = grade
    names = tuple(opened)
    if consensus:
        if "consensus" in names:
            raise InputError("a judge is called consensus already", hint="give it another name")
        numbers = (grades != UNJUDGED).sum(axis=0)
        ascending = np.sort(np.where(grades == UNJUDGED, np.iinfo(np.int32).max, grades), axis=0)
        median = np.take_along_axis(ascending, np.maximum(numbers - 1, 0)[np.newaxis] // 2, axis=0)
        grades, names = np.concatenate([grades, median]), (*names, "consensus")
    return _Panel(names, qrels, grades)


# Agreement


def _compute_agreement(
    panel: _Panel, pairs: Pairs, resampled: Ints, alpha: float, distance: str
) -> tuple[list[Agreement], list[GradePair]]:
    from rankscope.analysis.stats.intervals import expanded

    tail = expanded(alpha, len(panel.qrels.topics))
    rows: list[Agreement] = []
    confusion: list[GradePair] = []
    for a, b in pairs:
        names = panel.names[a], panel.names[b]
        levels, counts = _counts(panel, a, b)
        if not counts.sum():
            message = f"{names[0]!r} and {names[1]!r} judged no common document"
            raise InputError(message, hint="compare other judges")
        rows.append(Agreement(*names, "documents", int(counts.sum()), None, None))
        for name, function in _statistics(levels, distance).items():
            rows.append(Agreement(*names, name, *_estimate(function, counts, resampled, tail)))
        confusion += [GradePair(*names, x, y, n) for x, y, n in _count_grade_pairs(panel, a, b)]
    if len(panel.names) > 2:
        rows.append(_agreement_of_all(panel, resampled, tail))
    return rows, confusion


def _estimate(
    function: Callable[[Floats], Floats], counts: Floats, resampled: Ints, tail: float
) -> tuple[float, float, float]:
    """Return a statistic of the counts of all topics, and its interval over samples of the topics."""
    from rankscope.analysis.stats.intervals import percentile_intervals

    if len(counts) < 2:
        return float(function(counts.sum(axis=0))), np.nan, np.nan
    samples = np.atleast_2d(function(np.tensordot(resampled, counts, 1)))
    low, high = percentile_intervals(samples, tail)
    return float(function(counts.sum(axis=0))), float(low[0]), float(high[0])


def _statistics(levels: AnyArray, distance: str) -> dict[str, Callable[[Floats], Floats]]:
    from rankscope.analysis.stats.agreement import exact_agreement, grade_bias, kappa, krippendorff_alpha

    grades = levels if distance == "grade" else None
    return {
        "exact": exact_agreement,
        "kappa": kappa,
        "kappa linear": lambda counts: kappa(counts, "linear", grades),
        "kappa quadratic": lambda counts: kappa(counts, "quadratic", grades),
        "alpha": lambda counts: krippendorff_alpha(counts + np.swapaxes(counts, -1, -2)),
        "bias": lambda counts: grade_bias(counts, levels),
    }


def _counts(panel: _Panel, a: int, b: int) -> tuple[AnyArray, Floats]:
    """Return the grades that occur, and the documents by pair of grades, shape (topics, grades, grades)."""
    is_common = (panel.grades[a] != UNJUDGED) & (panel.grades[b] != UNJUDGED)
    x, y = panel.grades[a][is_common], panel.grades[b][is_common]
    levels = np.unique(np.concatenate([x, y]))
    counts = np.zeros((len(panel.qrels.topics), len(levels), len(levels)))
    topic = panel.qrels.topic_numbers[is_common]
    np.add.at(counts, (topic, np.searchsorted(levels, x), np.searchsorted(levels, y)), 1)
    return levels, counts


def _count_grade_pairs(panel: _Panel, a: int, b: int) -> list[tuple[int | None, int | None, int]]:
    """Return every pair of grades that occurs, and its number of documents; None if a judge has no grade."""
    grades = np.stack([panel.grades[a], panel.grades[b]])[:, (panel.grades[[a, b]] != UNJUDGED).any(axis=0)]
    pairs, numbers = np.unique(grades, axis=1, return_counts=True)
    return [(_grade(x), _grade(y), n) for (x, y), n in zip(pairs.T.tolist(), numbers.tolist(), strict=True)]


def _agreement_of_all(panel: _Panel, resampled: Ints, tail: float) -> Agreement:
    """Return Krippendorff's alpha of all judges together."""
    from rankscope.analysis.stats.agreement import coincidences, krippendorff_alpha

    levels = np.unique(panel.grades[panel.grades != UNJUDGED])
    codes = np.where(panel.grades == UNJUDGED, -1, np.searchsorted(levels, panel.grades)).T
    starts = panel.qrels.topic_offsets
    counts = np.stack([coincidences(codes[low:high], len(levels)) for low, high in pairwise(starts)])
    estimate = _estimate(krippendorff_alpha, counts, resampled, tail)
    return Agreement("all judges", None, "alpha", *estimate)


# Leaderboards


def _compare_leaderboards(
    panel: _Panel, pairs: Pairs, scored: Sequence[Scores], alpha: float, **options: Any
) -> dict[str, Any]:
    """Return the tables ``leaderboards`` and ``bias``."""
    from rankscope.analysis.judge_leaderboards import Leaderboards

    leaderboards: list[LeaderboardStatistic] = []
    bias: list[RunGain] = []
    for a, b in pairs:
        for index, measure in enumerate(map(str, scored[a].measures)):
            names = panel.names[a], panel.names[b]
            boards = Leaderboards(names, (scored[a], scored[b]), index, alpha)
            if (n_topics := boards.values.shape[2]) < 2:
                problem = f"{measure} is defined on {n_topics} topics for both judges"
                raise InputError(problem, hint="leave the measure out, or give judgments of more topics")
            if len(boards.runs) > 1:
                rows = boards.similarity(**options)
                leaderboards += [LeaderboardStatistic(*names, measure, *row) for row in rows]
            bias += [RunGain(*names, measure, *row) for row in boards.gains()]
    caption = "Similarity of the leaderboards under two judges"
    return {
        "leaderboards": LeaderboardStatistic.table("leaderboards", leaderboards, caption=caption),
        "bias": RunGain.table("bias", bias, caption="Gains of the runs under the second judge"),
    }


def _sound_alarm(
    panel: _Panel, pairs: Pairs, judged: Judged, alpha: float, conclusions: list[Conclusion]
) -> RowTable[JudgeBias]:
    """Return the errors of the second judges on the documents of each run; add favoured runs to the conclusions."""
    rows: list[JudgeBias] = []
    weight = 1.0 / np.log2(judged.rank + 1.0)
    for a, b in pairs:
        human, machine = np.maximum(panel.grades[[a, b]], 0)
        is_shared = (panel.grades[[a, b]] != UNJUDGED).all(axis=0)
        bias = find_bias(judged, weight, machine, human, is_shared.astype(np.float64), alpha)
        rows += [JudgeBias(panel.names[a], panel.names[b], *row) for row in bias]
        sentence = describe_bias(panel.names[b], bias)
        if sentence is not None:
            conclusions.append(Conclusion(None, "favours", f"compared with {panel.names[a]}, {sentence}"))
    caption = "Error of judge b on the documents of each run minus on other runs, if judge a is right"
    return JudgeBias.table("alarm", rows, caption=caption)


def _find_disputed(
    panel: _Panel, pairs: Pairs, judged: Judged, scored: Sequence[Scores], max_disputed: int
) -> RowTable[DisputedJudgment]:
    """Return the disputed judgments, sorted by their effect on the leaderboard, largest first."""
    from rankscope.analysis.influence import count_reversals, influences
    from rankscope.read.ids import to_text

    rows: list[DisputedJudgment] = []
    for a, b in pairs if max_disputed else ():
        first, second = panel.grades[a], panel.grades[b]
        for measure in scored[a].measures:
            if measure.summary != "mean":
                continue
            merits = measure.merit(scored[a].mean(measure))
            disputes = []
            for influence in influences(judged, first, second, measure):
                moves = measure.merit(np.nan_to_num(influence.moves, nan=0.0, posinf=0.0, neginf=0.0))
                disputes.append((float(np.ptp(moves)), influence.document, influence.topic, moves))
            disputes.sort(key=lambda dispute: (-dispute[0], dispute[1]))
            for reach, document, topic, moves in disputes[:max_disputed]:
                label = panel.names[a], panel.names[b], str(measure), panel.qrels.topics[topic]
                grades = _grade(first[document]), _grade(second[document])
                effect = reach, count_reversals(merits, merits + moves)
                runs = judged.runs[int(moves.argmax())], judged.runs[int(moves.argmin())]
                name = to_text(panel.qrels.documents[document])
                rows.append(DisputedJudgment(*label, name, *grades, *effect, *runs))
    caption = "Disputed judgments with the largest effect on the leaderboard"
    return DisputedJudgment.table("judgments", rows, caption=caption)


def _grade(grade: Any) -> int | None:
    """Return a grade, or None for an unjudged document."""
    return None if grade == UNJUDGED else int(grade)
