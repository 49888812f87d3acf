"""Two or more judges of the same documents: how far do they agree, and what does that do to the leaderboard?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankscope.analysis.influence import influences, reversals
from rankscope.analysis.stats.agreement import (
    coincidences,
    exact_agreement,
    grade_bias,
    kappa,
    krippendorff_alpha,
)
from rankscope.analysis.stats.bootstrap import resample, resample_counts
from rankscope.analysis.stats.intervals import check_level, expanded, percentile_intervals
from rankscope.analysis.two_leaderboards import Leaderboards
from rankscope.choices import DISTANCES
from rankscope.errors import InputError, SettingsError, suggest_names
from rankscope.judging import UNJUDGED, Judged, judge
from rankscope.measures import Measure, needs_aspects, parse_many
from rankscope.read import Qrels, open_collection, open_qrels
from rankscope.read.ids import to_text
from rankscope.result import TableResult
from rankscope.scores import Scores, score
from rankscope.tables import Cell, Table

__all__ = ["judges"]

Floats = NDArray[np.float64]
Grades = NDArray[np.int32]

_AGREEMENT = ("a", "b", "measure", "value", "low", "high")
_CONFUSION = ("a", "b", "grade_a", "grade_b", "documents")
_LEADERBOARDS = ("a", "b", "measure", "statistic", "value", "low", "high")
_BIAS = (
    "a", "b", "measure", "run", "value_a", "value_b", "difference", "gain", "low", "high", "rank_a", "rank_b",
)  # fmt: skip
_JUDGMENTS = (
    "a", "b", "measure", "topic", "doc", "grade_a", "grade_b", "influence", "reversed", "gains", "loses",
)  # fmt: skip
_ALL = "all judges"


@dataclass(frozen=True, eq=False)
class _Panel:
    """The judgments of all judges: one row of grades per judge, for every document that some judge graded."""

    names: tuple[str, ...]
    qrels: Qrels
    grades: Grades

    @property
    def topic(self) -> NDArray[np.int64]:
        """The topic of every document."""
        return np.repeat(np.arange(len(self.qrels.topics)), np.diff(self.qrels.topic_offsets))


def judges(
    judgments: Mapping[str, Any],
    runs: Any = None,
    measures: str | Measure | Iterable[str | Measure] = ("AP", "nDCG@10"),
    *,
    alpha: float = 0.05,
    replicates: int = 1000,
    top: int = 10,
    most: int = 20,
    seed: int = 1,
    distance: str = "grade",
    order: str | None = None,
    missing: str = "zero",
    jobs: int | None = None,
) -> TableResult:
    """Judgment sets against each other: people against a model, an old pool against a new one, graded against binary.

    ``judgments`` are two or more sets by name, each whatever :func:`evaluate` takes; topics count that all have.

    ``agreement`` {a, b, measure, value, low, high}, over the documents that both judged: their number, the share of
    exact agreement, Cohen's kappa (plain, and weighted linearly and quadratically by the ``distance``: the difference
    of the grades, or of their ``position`` among those that occur), Krippendorff's alpha for ordered grades (of all
    judges, too, if there are more than two), and the ``bias``: by how much b's grades are higher. Intervals are
    percentiles over bootstrap samples of the topics. ``confusion`` {a, b, grade_a, grade_b, documents}; a grade is
    empty where one of them did not judge.

    With ``runs``, for every pair of judges and every measure: ``leaderboards`` {a, b, measure, statistic, value, low,
    high}: Kendall's tau, tau_AP (both directions), rank-biased overlap (p = .9), largest rank change, share of the
    ``top`` runs in common, and pairs of runs that are significant under both judges and agree or reverse, or under one
    (after Sanderson and Soboroff). A correlation is lower with fewer topics; its interval is for as many topics of
    this kind. ``bias`` has the means of every run under both, and its ``gain`` beyond that of the mean run, with its
    interval. ``judgments`` has the ``most`` disputed ones that matter most: ``influence`` is how far that one grade
    moves two runs apart (b's grade in place of a's), ``reversed`` how many pairs of runs it reverses.

    >>> one = {"q1": {"d1": 1, "d2": 0, "d3": 1}, "q2": {"d1": 1, "d2": 0}}
    >>> other = {"q1": {"d1": 1, "d2": 1, "d3": 1}, "q2": {"d1": 1, "d2": 0}}
    >>> found = judges({"one": one, "other": other}, {"x": {"q1": ["d1", "d2"]}, "y": {"q1": ["d3"]}}, "AP")
    >>> [(row["measure"], round(row["value"], 3)) for row in found["agreement"].records()][:3]
    [('documents', 5), ('exact', 0.8), ('kappa', 0.545)]
    >>> [(row["doc"], row["gains"], row["reversed"]) for row in found["judgments"].records()]
    [('d2', 'x', 0)]
    """
    check_level(alpha, replicates)
    panel = _panel(judgments)
    pairs = list(combinations(range(len(panel.names)), 2))
    resampled = resample_counts(resample(len(panel.qrels.topics), replicates, seed))
    if distance not in DISTANCES:
        hint = suggest_names(distance, DISTANCES) or f"choose one of {', '.join(DISTANCES)}"
        raise SettingsError(f"no distance of grades is called {distance!r}", hint=hint)
    tables = [*_agreements(panel, pairs, resampled, alpha, distance)]
    settings: dict[str, Any] = {
        "judges": list(panel.names), "topics": len(panel.qrels.topics), "alpha": alpha, "replicates": replicates,
        "seed": seed, "distance": distance,
    }  # fmt: skip
    if runs is not None:
        wanted = parse_many(measures)
        if needs_aspects(wanted):
            raise SettingsError(
                "judges give one grade to a document", hint="leave out measures that need aspects"
            )
        collection = open_collection(panel.qrels, runs, order=order)
        judged = judge(*collection, jobs=jobs)
        settings |= {
            **collection.settings,
            "missing": missing,
            "measures": [str(m) for m in wanted],
            "top": top,
        }
        scored = [score(judged.rejudged(grades), wanted, missing=missing) for grades in panel.grades]
        options = {"alpha": alpha, "replicates": replicates, "seed": seed}
        tables += _on_the_runs(panel, pairs, scored, top=top, **options)
        tables.append(_disputed(panel, pairs, judged, scored, most))
    main = [table.name for table in tables if table.name in ("agreement", "leaderboards", "bias")]
    shown = [table for table in tables if len(table) and table.name != "confusion"]
    return TableResult.of(*tables, settings=settings, main=main, display=shown)


def _panel(judgments: Mapping[str, Any]) -> _Panel:
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
    union = {topic: {d: 0 for one in opened.values() for d in one.judgments(topic)} for topic in topics}
    qrels = Qrels.from_dict(union)
    grades = np.full((len(opened), len(qrels)), UNJUDGED, np.int32)
    for row, one in enumerate(opened.values()):
        for topic in topics:
            places = qrels.places(topic)
            for document, grade in one.judgments(topic).items():
                grades[row, places[document]] = grade
    return _Panel(tuple(opened), qrels, grades)


# agreement --------------------------------------------------------------------------------------------------------


def _agreements(
    panel: _Panel, pairs: Sequence[tuple[int, int]], resampled: NDArray[np.int64], alpha: float, distance: str
) -> tuple[Table, Table]:
    tail = expanded(alpha, len(panel.qrels.topics))
    rows: list[tuple[Cell, ...]] = []
    confusion: list[tuple[Cell, ...]] = []
    for a, b in pairs:
        names = panel.names[a], panel.names[b]
        levels, counts = _counts(panel, a, b)
        if not counts.sum():
            raise InputError(
                f"{names[0]!r} and {names[1]!r} judged no document both", hint="compare other judges"
            )
        total, drawn = counts.sum(axis=0), np.tensordot(resampled, counts, 1)
        rows.append((*names, "documents", int(total.sum()), None, None))
        for name, function in _statistics(levels, distance).items():
            low, high = percentile_intervals(np.atleast_2d(function(drawn)), tail)
            rows.append((*names, name, float(function(total)), float(low[0]), float(high[0])))
        confusion += [(*names, *cell) for cell in _cells(panel, a, b)]
    if len(panel.names) > 2:
        rows.append(_of_all(panel, resampled, tail))
    return (
        Table(
            "agreement", _AGREEMENT, rows, caption="How far the judges agree, with 95 % intervals over topics"
        ),
        Table("confusion", _CONFUSION, confusion, caption="Documents by the grades of two judges"),
    )


def _statistics(levels: NDArray[Any], distance: str) -> dict[str, Callable[[Floats], Floats]]:
    grades = levels if distance == "grade" else None
    return {
        "exact": exact_agreement,
        "kappa": kappa,
        "kappa linear": lambda counts: kappa(counts, "linear", grades),
        "kappa quadratic": lambda counts: kappa(counts, "quadratic", grades),
        "alpha": lambda counts: krippendorff_alpha(counts + np.swapaxes(counts, -1, -2)),
        "bias": lambda counts: grade_bias(counts, levels),
    }


def _counts(panel: _Panel, a: int, b: int) -> tuple[NDArray[Any], Floats]:
    """The grades that occur, and topics x grades x grades: how often both judges gave which."""
    both = (panel.grades[a] != UNJUDGED) & (panel.grades[b] != UNJUDGED)
    x, y = panel.grades[a][both], panel.grades[b][both]
    levels = np.unique(np.concatenate([x, y]))
    counts = np.zeros((len(panel.qrels.topics), len(levels), len(levels)))
    np.add.at(counts, (panel.topic[both], np.searchsorted(levels, x), np.searchsorted(levels, y)), 1)
    return levels, counts


def _cells(panel: _Panel, a: int, b: int) -> list[tuple[int | None, int | None, int]]:
    """Every pair of grades that occurs, and how often; None where a judge has none."""
    both = np.stack([panel.grades[a], panel.grades[b]])[:, (panel.grades[[a, b]] != UNJUDGED).any(axis=0)]
    found, number = np.unique(both, axis=1, return_counts=True)
    return [
        (None if x == UNJUDGED else x, None if y == UNJUDGED else y, n)
        for (x, y), n in zip(found.T.tolist(), number.tolist(), strict=True)
    ]


def _of_all(panel: _Panel, resampled: NDArray[np.int64], tail: float) -> tuple[Cell, ...]:
    """Krippendorff's alpha of all judges together."""
    levels = np.unique(panel.grades[panel.grades != UNJUDGED])
    places = np.where(panel.grades == UNJUDGED, -1, np.searchsorted(levels, panel.grades)).T
    starts = panel.qrels.topic_offsets
    each = np.stack([coincidences(places[low:high], len(levels)) for low, high in pairwise(starts)])
    low, high = percentile_intervals(
        np.atleast_2d(krippendorff_alpha(np.tensordot(resampled, each, 1))), tail
    )
    return (_ALL, None, "alpha", float(krippendorff_alpha(each.sum(axis=0))), float(low[0]), float(high[0]))


# leaderboards -----------------------------------------------------------------------------------------------------


def _on_the_runs(
    panel: _Panel, pairs: Sequence[tuple[int, int]], scored: Sequence[Scores], *, top: int, **options: Any
) -> tuple[Table, Table]:
    leaderboards: list[tuple[Cell, ...]] = []
    bias: list[tuple[Cell, ...]] = []
    for a, b in pairs:
        for measure in scored[a].measures:
            label = panel.names[a], panel.names[b], str(measure)
            first, second = (scored[one].matrix(measure).values for one in (a, b))
            known = np.isfinite(first).all(axis=0) & np.isfinite(second).all(axis=0)
            if known.sum() < 2:
                raise InputError(
                    f"{measure} is defined on {known.sum()} topics for both judges",
                    hint="leave the measure out, or give judgments of more topics",
                )
            both = Leaderboards(measure, scored[a].runs, first[:, known], second[:, known])
            if len(both.runs) > 1:
                leaderboards += [(*label, *row) for row in both.likeness(top=top, **options)]
            bias += [(*label, *row) for row in both.gains(options["alpha"])]
    return (
        Table("leaderboards", _LEADERBOARDS, leaderboards, caption="What that does to the order of the runs"),
        Table("bias", _BIAS, bias, caption="Who gains under the second judge"),
    )


def _disputed(
    panel: _Panel, pairs: Sequence[tuple[int, int]], judged: Judged, scored: Sequence[Scores], most: int
) -> Table:
    """The judgments on which judges differ, those that move the leaderboard most first."""
    rows: list[tuple[Cell, ...]] = []
    for a, b in pairs if most else ():
        first, second = panel.grades[a], panel.grades[b]
        for measure in scored[a].measures:
            if measure.summary != "mean":
                continue
            merits = measure.merit(scored[a].mean(measure))
            found = []
            for one in influences(judged, first, second, measure):
                moves = measure.merit(np.nan_to_num(one.moves, nan=0.0, posinf=0.0, neginf=0.0))
                found.append((float(np.ptp(moves)), one.document, one.topic, moves))
            for reach, document, topic, moves in sorted(found, key=lambda one: (-one[0], one[1]))[:most]:
                rows.append(
                    (
                        panel.names[a], panel.names[b], str(measure), panel.qrels.topics[topic],
                        to_text(panel.qrels.documents[document]), _grade(first[document]), _grade(second[document]),
                        reach, reversals(merits, merits + moves), judged.runs[int(moves.argmax())],
                        judged.runs[int(moves.argmin())],
                    )
                )  # fmt: skip
    return Table("judgments", _JUDGMENTS, rows, caption="The judgments that move the leaderboard most")


def _grade(grade: Any) -> int | None:
    return None if grade == UNJUDGED else int(grade)
