"""One ranking, rank by rank: grades, relative position, CRP, DCG, and the points that matter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any

from rankscope.analysis.list_edits import apply_edits
from rankscope.choices import CROSSINGS
from rankscope.declaration import Option, RunName, analysis, check_run
from rankscope.errors import InputError, SettingsError, check_name, suggest_names
from rankscope.lazy import numpy as np
from rankscope.result import TypedResult, lazy_table
from rankscope.rows import Row, RowTable, column

if TYPE_CHECKING:
    from rankscope.arrays import Floats, Ints
    from rankscope.judging import Judged
    from rankscope.judging.lists import Lists
    from rankscope.measures import Measure
    from rankscope.measures.effort_curves import Curves
    from rankscope.measures.weighted import DCG
    from rankscope.read import Qrels, Run
    from rankscope.scores import Collection
    from rankscope.tables import Table


_DEEPEST = 1_000_000  # a curve has a row for every rank


class Rank(Row):
    """One rank of the ranking."""

    rank: int = column("the rank, from 1")
    doc: str | None = column()
    grade: int | None = column()
    rp: int = column()
    crp: int = column()
    dcg: float = column("DCG down to this rank")
    ideal_dcg: float = column("DCG of the ideal ranking down to this rank")
    delta_gain: float = column("discounted gain of the document minus that of the ideal ranking at this rank")
    crp_before: int | None = column("CRP of the ranking as the run has it, before the edits", default=None)


class Point(Row):
    """A marked point of the curve."""

    point: str = column("the marked point of the curve")
    rank: float = column("its rank; infinite if the curve does not have the point")
    crp: int | None = column()


class Value(Row):
    """An effort measure of the ranking, or its archetype."""

    name: str = column("name of the value")
    value: float | str | None = column("value of the measure, or the archetype")


class Interval(Row):
    """Ranks of a grade in the ideal ranking."""

    grade: int = column("the grade")
    first: int = column("first rank of this grade in the ideal ranking")
    last: int = column("last rank of this grade in the ideal ranking")
    ranks: int = column("number of ranks")


class Place(Row):
    """A document, and the ranks of its grade in the ideal ranking: RP = rank - nearest."""

    rank: int = column()
    doc: str | None = column()
    grade: int | None = column()
    first: int = column("first rank of this grade in the ideal ranking")
    last: int = column("last rank of this grade in the ideal ranking")
    nearest: int = column(
        "the rank of the ideal ranking that is nearest to the document's rank; RP is their difference"
    )
    rp: int = column()


class Reference(Row):
    """CRP of the reference rankings at a rank."""

    rank: int = column()
    ideal: int = column("CRP of the ideal ranking: 0 everywhere")
    worst: int = column("CRP of a ranking without relevant documents")
    full_scale: int = column("CRP of the ideal ranking reversed, over all N ranks")


class Curve(TypedResult):
    """Effort curve of one run on one topic, evaluated at N = max(cutoff, 2 RB) ranks.

    ``documents`` and ``grade`` have one entry per rank: None after the end of the ranking, or for an unjudged document.
    ``before`` has the grades of the ranking before it was edited.
    """

    run: str
    topic: str
    documents: list[str | None]
    grade: list[int | None]
    ideal_grade: Ints
    dcg_measure: DCG
    lists: Lists
    cutoff: int
    before: Sequence[int | None] | None = None

    def _about(self) -> str:
        return f"{self.run!r} on topic {self.topic!r}, {self.length} ranks, recall base {self.recall_base}"

    @cached_property
    def _curves(self) -> Curves:
        from rankscope.measures.effort_curves import get_curves

        return get_curves(self.lists, 1, self.cutoff)

    @property
    def recall_base(self) -> int:
        """RB, the number of relevant documents of the topic."""
        return int(self._curves.base[0])

    @property
    def length(self) -> int:
        """N, the number of ranks."""
        return int(self._curves.length[0])

    @cached_property
    def relevance(self) -> Ints:
        """Grade at each rank, 0 for documents that are not relevant."""
        return _relevance(self.grade)

    def _ends(self, relevance: Ints) -> tuple[Ints, Ints]:
        """Return the first and the last rank of each grade in the ideal ranking, whose grades fall."""
        first, last = (np.searchsorted(-self.ideal_grade, -relevance, side) for side in ("left", "right"))
        return first + 1, last

    def _relative_positions(self, relevance: Ints) -> Ints:
        rank = np.arange(1, self.length + 1)
        first, last = self._ends(relevance)
        rp: Ints = np.minimum(rank - first, 0) + np.maximum(rank - last, 0)
        return rp

    @cached_property
    def rp(self) -> Ints:
        """RP, the relative position at each rank."""
        return self._relative_positions(self.relevance)

    @cached_property
    def crp(self) -> Ints:
        """CRP, the cumulated relative position at each rank."""
        return np.cumsum(self.rp)

    @cached_property
    def crp_before(self) -> Ints | None:
        """CRP of the ranking before it was edited; None without edits."""
        before = self.before
        return None if before is None else np.cumsum(self._relative_positions(_relevance(before)))

    @cached_property
    def dcg(self) -> Floats:
        """DCG at each rank; constant after the end of the ranking."""
        return np.cumsum(self._gained)

    @cached_property
    def _gained(self) -> Floats:
        is_retrieved = np.array([document is not None for document in self.documents])
        return np.where(is_retrieved, self._discounted(self.relevance), 0.0)

    @cached_property
    def ideal_dcg(self) -> Floats:
        """DCG of the ideal ranking at each rank; nDCG divides by its highest value (gains may be negative)."""
        return np.cumsum(self._discounted(self.ideal_grade))

    def _discounted(self, grade: Ints) -> Floats:
        gain = self.dcg_measure.gain(grade, self.lists.pool.max_grade)
        return gain * self.dcg_measure.weight(np.arange(1, len(grade) + 1))

    @lazy_table("rank by rank")
    def curve(self) -> RowTable[Rank]:
        """Rank by rank, with ``crp_before`` if the ranking was edited."""
        delta = self._gained - self._discounted(self.ideal_grade)
        before = [None] * self.length if self.crp_before is None else self.crp_before.tolist()
        arrays = [array.tolist() for array in (self.rp, self.crp, self.dcg, self.ideal_dcg, delta)]
        rows = [*map(Rank, range(1, self.length + 1), self.documents, self.grade, *arrays, before)]
        without = () if self.before is not None else ("crp_before",)
        return Rank.table("curve", rows, without=without, caption=f"{self.run} on topic {self.topic}")

    @lazy_table("marked points")
    def points(self) -> RowTable[Point]:
        """Marked points: rank (infinite if CRP never gets there) and CRP."""
        if not self.recall_base:
            return Point.table("points", [], caption="Marked points")
        curves = self._curves
        ranks: list[tuple[str, float]] = [
            ("recall base", self.recall_base),
            ("turn-around", curves.turn_around[0]),
            ("balance 2012", curves.regained[0]),
            ("balance 2012 of full scale", curves.full_regained[0]),
        ]
        ranks += [(f"balance ({mode})", curves.balance(mode)[0]) for mode in CROSSINGS]
        ranks += [(f"first crossing ({mode})", curves.crossing(mode)[0]) for mode in CROSSINGS]
        if self.crp.any():
            ranks += [("crossing", rank) for rank in self.crossings()]
        rows = [self._point(name, rank) for name, rank in ranks]
        rows.insert(1, Point("loss at the recall base", self.recall_base, int(curves.loss[0])))
        return Point.table("points", rows, caption="Marked points")

    def _point(self, name: str, rank: float) -> Point:
        if not np.isfinite(rank):
            return Point(name, float("inf"), None)
        row = self.references[int(rank) - 1]
        return Point(
            name, row.rank, row.full_scale if name.endswith("full scale") else int(self.crp[row.rank - 1])
        )

    @lazy_table("effort measures of the list, and its archetype")
    def values(self) -> RowTable[Value]:
        """Effort measures of the ranking, named with N, and its archetype."""
        from rankscope.measures import REGISTRY
        from rankscope.measures.effort_curves import find_archetypes

        rows = []
        for name in ("Twist", "Rho", "BalancePoint"):
            rows += [self._value(REGISTRY[name](crossing=mode), mode) for mode in CROSSINGS]
        for name in ("Sigma", "SigmaPlus", "SigmaMinus", "Rho2012", "b_ratio", "CRP_min", "CRP_N"):
            rows.append(self._value(REGISTRY[name]))
            if "clamped" in REGISTRY[name].parameters:
                rows.append(self._value(REGISTRY[name](clamped=True), "clamped"))
        rows.append(Value("archetype", str(find_archetypes(self.lists, cutoff=self.cutoff)[0]) or None))
        return Value.table("values", rows, caption=f"Effort at N = {self.length}")

    @lazy_table("the ranks that each grade takes in the ideal ranking")
    def intervals(self) -> RowTable[Interval]:
        """Ranks of each grade in the ideal ranking: min(g) and max(g)."""
        grades = np.unique(self.ideal_grade)[::-1]
        first, last = self._ends(grades)
        columns = (column.tolist() for column in (grades, first, last, last - first + 1))
        rows = [*map(Interval, *columns)]
        return Interval.table("intervals", rows, caption="Ranks in the ideal ranking")

    @lazy_table("for every document the ranks of its grade in the ideal ranking")
    def places(self) -> RowTable[Place]:
        """For every document, the ranks of its grade in the ideal ranking, and the nearest one: RP = rank - nearest."""
        arrays = (*self._ends(self.relevance), np.arange(1, self.length + 1) - self.rp, self.rp)
        columns = (array.tolist() for array in arrays)
        rows = [*map(Place, range(1, self.length + 1), self.documents, self.grade, *columns)]
        return Place.table("places", rows, caption="Documents and the ideal ranks of their grade")

    @lazy_table("CRP of the reference rankings")
    def references(self) -> RowTable[Reference]:
        """CRP of the ideal ranking, of a ranking without relevant documents, and of the full-scale ranking."""
        nothing = np.zeros(self.length, np.int64)
        worst = np.cumsum(self._relative_positions(nothing)).tolist()
        full = np.cumsum(self._relative_positions(self.ideal_grade[::-1])).tolist()
        rows = [*map(Reference, range(1, self.length + 1), nothing.tolist(), worst, full)]
        return Reference.table("references", rows, caption="CRP of the reference rankings")

    def crossings(self, crossing: str = "sign-change") -> list[int]:
        """Return every rank j such that CRP crosses the axis between j and j + 1; all ranks if CRP is 0 everywhere."""
        check_name(crossing, CROSSINGS, f"crossing={crossing!r}")
        a, b = self.crp[:-1], self.crp[1:]
        if not self.crp.any() or crossing == "definition":
            is_crossed = ((a <= 0) & (b >= 0)) | ((a >= 0) & (b <= 0))
        elif crossing == "matters":
            is_crossed = (a <= 0) != (b <= 0)
        else:
            is_crossed = ((a < 0) & (b >= 0)) | ((a > 0) & (b <= 0))
        return (np.flatnonzero(is_crossed) + 1).tolist() if self.recall_base else []

    def label(self, name: str, variant: str = "") -> str:
        """Return the name of an effort measure with the cutoff N of the curve; ``Twist`` alone means N = 1000."""
        from rankscope.measures import REGISTRY

        measure = str(REGISTRY[name] @ self.cutoff)
        return f"{measure} ({variant})" if variant else measure

    def _value(self, measure: Any, variant: str = "") -> Value:
        return Value(
            self.label(measure.name, variant), float((measure @ self.cutoff).evaluate(self.lists)[0])
        )

    @property
    def display(self) -> Sequence[Table]:
        """Tables that people read: all but ``places`` and ``references``."""
        return (self.curve, self.points, self.values, self.intervals)


@analysis(
    figures={"crp": "curve.plot_curve", "dcg": "curve.plot_dcg", "rp": "curve.plot_rp"}, uses=("order",)
)
def curve(
    collection: Collection,
    run: RunName | None,
    topic: Annotated[str, Option("T")],
    *,
    cutoff: Annotated[int | None, Option("N")] = None,
    gains: str = "linear",
    discount: str = "log2",
    base: float = 2.0,
    edits: Annotated[str | None, Option("E")] = None,
) -> Curve:
    """Follow one run on one topic, rank by rank: grades, relative position (RP), CRP, DCG, and marked points.

    RP is the distance of a document from the ranks of its grade in the ideal ranking: negative if the document comes
    too early, positive if too late. CRP is the running sum of RP. The points are the recall base, the turn-around, the
    balance points and the crossings of the axis.

    Parameters
    ----------
    collection
        Judgments and runs.
    run
        Name of the run (default: the only run of the collection).
    topic
        Topic whose ranking is shown.
    cutoff
        Number N of ranks to evaluate (default: the length of the ranking). N is at least 2 RB; ranks beyond the end of
        the ranking count as non-relevant documents.
    gains
        Gains of DCG: linear, exp2, or a list for grades 0, 1, ... such as 0,5,10.
    discount
        Discount of DCG: log2 or jk.
    base
        Base of the jk discount.
    edits
        Changes to the ranking before it is evaluated, separated by spaces: m5-2 moves the document at rank 5 to rank 2;
        r7=1 replaces the document at rank 7 by a document of grade 1 that the ranking lacks.

    Returns
    -------
    Curve
        Tables ``curve``, ``points``, ``values``, ``intervals``, ``places`` and ``references``.

    References
    ----------
    Angelini et al. 2012, Ferro et al. 2016.

    Commands
    --------
    rankscope curve qrels.txt bm25.run --topic 351
    rankscope curve qrels.txt bm25.run --topic 351 --cutoff 1000 --head 30
    rankscope curve qrels.txt bm25.run --topic 351 -f json -o curve.json
    rankscope curve qrels.txt bm25.run --topic 351 --gains 0,5,10 --discount jk --base 10 --plot curve.pdf
    rankscope curve qrels.txt bm25.run --topic 351 --axis linear --bars linear --plot curve.pdf
    rankscope curve qrels.txt bm25.run --topic 351 --figure rp --plot rp.pdf    how RP arises, document by document
    # what if: move the document at rank 5 to rank 2, and replace that at rank 7 by one of grade 1
    rankscope curve qrels.txt bm25.run --topic 351 --edits "m5-2 r7=1"

    Examples
    --------
    >>> import rankscope as rs
    >>> collection = rs.Collection({"q1": {"d1": 1, "d2": 1, "d3": 0}}, {"q1": ["d3", "d1", "d4", "d2"]})
    >>> result = rs.curve(collection, None, "q1")
    >>> [(row.rp, row.crp) for row in result.curve]
    [(-2, -2), (0, -2), (0, -2), (2, 0)]
    """
    selected, topic = _select_run(collection, run), str(topic)
    qrels = collection.qrels
    if topic not in qrels.topic_index:
        hint = suggest_names(topic, qrels.topics) or f"there are topics such as {qrels.topics[0]}"
        raise InputError(f"topic {topic!r} has no judgments", path=qrels.path, hint=hint)
    if cutoff is not None and not 1 <= cutoff <= _DEEPEST:
        hint = f"a curve has a whole number of ranks from 1 to {_DEEPEST:,}"
        raise SettingsError(f"cutoff={cutoff}", hint=hint)
    return _curve(qrels, selected, topic, cutoff, {"gains": gains, "discount": discount, "base": base}, edits)


def _curve(
    qrels: Qrels, run: Run, topic: str, cutoff: int | None, dcg: Mapping[str, Any], edits: str | None = None
) -> Curve:
    from rankscope.judging import judge
    from rankscope.measures.weighted import DCG
    from rankscope.read import Qrels, Run

    measure = DCG(**dcg)
    if not run.in_memory:  # Judging validates every line, not only those of the topic.
        judge(qrels, run, allow_disjoint=True)
    ranking = run.ranking(topic)
    if not ranking and topic not in (run.memory or {}):
        hint = "name a topic that it has, or another run"
        problem = f"the run has no documents for topic {topic!r}"
        raise InputError(problem, path=run.path or run.name, hint=hint)
    judgments = qrels.judgments(topic)
    unedited, ranking = ranking, apply_edits(ranking, edits or "", judgments)
    cut = int(cutoff or max(1, len(ranking)))
    ideal = np.array(sorted((g for g in judgments.values() if g > 0), reverse=True), np.int64)
    length = max(cut, 2 * len(ideal))
    documents, before = _pad(ranking[:cut], length), _pad(unedited[:cut], length)
    return Curve(
        run=run.name,
        topic=topic,
        documents=documents,
        grade=_grades(documents, judgments),
        ideal_grade=np.concatenate([ideal, np.zeros(length - len(ideal), np.int64)]),
        dcg_measure=measure,
        lists=judge(Qrels.from_dict({topic: judgments}), Run.from_dict({topic: ranking}, name=run.name)).lists,
        cutoff=cut,
        settings={
            "run": run.name, "topic": topic, "cutoff": cut, "N": length, "recall_base": len(ideal), "dcg": str(measure),
            "order": run.order, **({"grades": qrels.merges} if qrels.merges else {}),
            **({"edits": edits} if edits else {}),
        },
        before=_grades(before, judgments) if edits else None,
    )  # fmt: skip


def curve_from_judged(
    judged: Judged, run: str, topic: str, *, cutoff: int = 1000, dcg: Measure | None = None
) -> Curve:
    """Return the curve of one of many judged rankings; unjudged documents have no names.

    DCG has the gains, the discount and the base of the measure ``dcg``, where it has these parameters.
    """
    for name, names, kind in ((run, judged.runs, "run"), (topic, judged.topics, "topic")):
        check_name(name, names, f"there is no {kind} {name!r}", listed="there are")
    from rankscope.read import Qrels, Run
    from rankscope.read.ids import to_text

    judgments = judged.qrels.judgments(topic)
    row = judged.runs.index(run) * len(judged.topics) + judged.topics.index(topic)
    hits = slice(judged.offsets[row], judged.offsets[row + 1])
    prefix = "?" * (1 + max(map(len, judgments), default=0))  # longer than the name of any judged document
    ranking = [f"{prefix}{rank}" for rank in range(1, int(judged.length[row]) + 1)]
    for rank, judgment in zip(judged.rank[hits].tolist(), judged.judgment[hits].tolist(), strict=True):
        name = to_text(judged.qrels.documents[judgment])
        if name in judgments:
            ranking[rank - 1] = name
    settings = dcg.settings if dcg else {}
    parameters = {key: settings[key] for key in ("gains", "discount", "base") if key in settings}
    padded = Run.from_dict({topic: ranking}, name=run)
    result = _curve(Qrels.from_dict({topic: judgments}), padded, topic, cutoff, parameters)
    return replace(result, documents=[name if name in judgments else None for name in result.documents])


def _pad(ranking: list[str], length: int) -> list[str | None]:
    """Return a ranking padded with None up to a length."""
    return [*ranking, *[None] * (length - len(ranking))]


def _grades(documents: Sequence[str | None], judgments: Mapping[str, int]) -> list[int | None]:
    return [None if document is None else judgments.get(document) for document in documents]


def _relevance(grades: Sequence[int | None]) -> Ints:
    return np.array([max(0, grade or 0) for grade in grades], np.int64)


def _select_run(collection: Collection, name: str | None) -> Run:
    runs = collection.runs
    if name is None and len(runs) != 1:
        raise InputError(f"a curve shows one run, not {len(runs)}", hint="name a single run")
    if name is not None:
        check_run(name, list(runs))
    return next(iter(runs.values())) if name is None else runs[name]
