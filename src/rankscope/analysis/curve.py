"""One list, rank by rank: grades, relative position, CRP, DCG, and the points that matter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from rankscope.analysis.list_edits import edited
from rankscope.errors import InputError, SettingsError, nearest
from rankscope.judging import Judged, judge
from rankscope.judging.lists import Lists
from rankscope.measures import REGISTRY, Measure
from rankscope.measures.archetypes import find_archetypes
from rankscope.measures.effort_curves import CROSSINGS, Curves, get_curves
from rankscope.measures.weighted import DCG
from rankscope.read import Qrels, Run, Runs, open_collection
from rankscope.read.ids import to_text
from rankscope.result import Result
from rankscope.tables import Cell, Table

__all__ = ["Curve", "curve", "curve_of"]

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

_DEEPEST = 1_000_000  # a curve has a row for every rank


@dataclass(frozen=True, eq=False, repr=False)
class Curve(Result):
    """The effort curve of one run on one topic, evaluated at N = max(cutoff, 2 RB) ranks.

    ``documents`` and ``grade`` have one entry per rank: None where the list has ended or the document is not judged.
    ``before`` has the grades of the list as the run has it, where the list was edited.
    """

    run: str
    topic: str
    documents: list[str | None]
    grade: list[int | None]
    ideal_grade: Ints
    dcg_measure: DCG
    lists: Lists
    cutoff: int
    settings: Mapping[str, Any]
    before: Sequence[int | None] | None = None

    def _about(self) -> str:
        return f"{self.run!r} on topic {self.topic!r}, {self.length} ranks, recall base {self.recall_base}"

    @cached_property
    def _curves(self) -> Curves:
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
        """The grade at each rank, 0 for everything that is not relevant."""
        return _relevance(self.grade)

    @cached_property
    def intervals(self) -> Table:
        """The ranks that each grade takes in the ideal list: min(g) and max(g)."""
        rows: list[tuple[Cell, ...]] = []
        for grade in sorted({int(g) for g in self.ideal_grade} - {0}, reverse=True):
            ranks = np.flatnonzero(self.ideal_grade == grade) + 1
            rows.append((grade, int(ranks[0]), int(ranks[-1]), len(ranks)))
        rows.append((0, self.recall_base + 1, self.length, self.length - self.recall_base))
        return Table(
            "intervals", ("grade", "first", "last", "ranks"), rows, caption="Ranks in the ideal list"
        )

    def _relative_positions(self, relevance: Ints) -> Ints:
        rank = np.arange(1, self.length + 1)
        first, last = np.zeros(self.length, np.int64), np.zeros(self.length, np.int64)
        for row in self.intervals.rows:
            grade, low, high = (int(value) for value in row[:3] if value is not None)
            first[relevance == grade], last[relevance == grade] = low, high
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
        """CRP of the list as the run has it; None where no edits were asked for."""
        if self.before is None:
            return None
        return np.cumsum(self._relative_positions(_relevance(self.before)))

    @cached_property
    def dcg(self) -> Floats:
        """DCG at each rank; a list that has ended gains nothing more."""
        return np.cumsum(self._gained)

    @cached_property
    def _gained(self) -> Floats:
        there = np.array([document is not None for document in self.documents])
        return np.where(there, self._discounted(self.relevance), 0.0)

    @cached_property
    def ideal_dcg(self) -> Floats:
        """DCG of the ideal list at each rank; nDCG divides by its highest value (gains may be negative)."""
        return np.cumsum(self._discounted(self.ideal_grade))

    def _discounted(self, grade: Ints) -> Floats:
        gain = self.dcg_measure.gain(grade, self.lists.pool.max_grade)
        return gain * self.dcg_measure.weight(np.arange(1, len(grade) + 1))

    @cached_property
    def table(self) -> Table:
        """Rank by rank; ``delta_gain`` is what the document adds to DCG beyond what the ideal list adds there.

        Of an edited list also ``crp_before``, CRP of the list as the run has it.
        """
        delta = self._gained - self._discounted(self.ideal_grade)
        columns: dict[str, list[Any]] = {
            "rank": list(range(1, self.length + 1)),
            "doc": self.documents,
            "grade": self.grade,
            "rp": self.rp.tolist(),
            "crp": self.crp.tolist(),
            "dcg": self.dcg.tolist(),
            "ideal_dcg": self.ideal_dcg.tolist(),
            "delta_gain": delta.tolist(),
            **({} if self.crp_before is None else {"crp_before": self.crp_before.tolist()}),
        }
        rows = list(zip(*columns.values(), strict=True))
        return Table("curve", tuple(columns), rows, caption=f"{self.run} on topic {self.topic}")

    @cached_property
    def places(self) -> Table:
        """For every document the ranks of its grade in the ideal list, and the nearest of them: RP = rank - nearest."""
        interval = {row[0]: row[1:3] for row in self.intervals.rows}
        rows: list[tuple[Cell, ...]] = [
            (rank, doc, grade, *interval[relevance], rank - rp, rp)
            for rank, (doc, grade, relevance, rp) in enumerate(
                zip(self.documents, self.grade, self.relevance.tolist(), self.rp.tolist(), strict=True), 1
            )
        ]
        columns = ("rank", "doc", "grade", "first", "last", "nearest", "rp")
        return Table(
            "places", columns, rows, caption="Documents and the ranks of their grade in the ideal list"
        )

    @cached_property
    def references(self) -> Table:
        """CRP at each rank of the ideal list, of a list without relevant documents, and of the full-scale list."""
        nothing = np.zeros(self.length, np.int64)
        worst = np.cumsum(self._relative_positions(nothing)).tolist()
        full = np.cumsum(self._relative_positions(self.ideal_grade[::-1])).tolist()
        rows = list(zip(range(1, self.length + 1), nothing.tolist(), worst, full, strict=True))
        columns = ("rank", "ideal", "worst", "full_scale")
        return Table("references", columns, rows, caption="CRP of the reference lists")

    def crossings(self, crossing: str = "sign-change") -> list[int]:
        """Every rank j such that CRP crosses the axis between j and j + 1; all of them if CRP is 0 everywhere."""
        if crossing not in CROSSINGS:
            raise SettingsError(f"crossing={crossing!r}", hint=f"choose one of {', '.join(CROSSINGS)}")
        a, b = self.crp[:-1], self.crp[1:]
        if not self.crp.any() or crossing == "definition":
            crossed = ((a <= 0) & (b >= 0)) | ((a >= 0) & (b <= 0))
        elif crossing == "matters":
            crossed = (a <= 0) != (b <= 0)
        else:
            crossed = ((a < 0) & (b >= 0)) | ((a > 0) & (b <= 0))
        return (np.flatnonzero(crossed) + 1).tolist() if self.recall_base else []

    @cached_property
    def points(self) -> Table:
        """The marked points: their rank (infinite if there is none) and CRP there."""
        columns, caption = ("point", "rank", "crp"), "Marked points"
        if not self.recall_base:
            return Table("points", columns, [], caption=caption)
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
        full = self.references.column("full_scale")
        rows: list[tuple[Cell, ...]] = []
        for name, rank in ranks:
            known = int(rank) if np.isfinite(rank) else None
            curve = full if name.endswith("full scale") else self.crp.tolist()
            rows.append(
                (name, float("inf") if known is None else known, None if known is None else curve[known - 1])
            )
        rows.insert(1, ("loss at the recall base", self.recall_base, int(curves.loss[0])))
        return Table("points", columns, rows, caption=caption)

    @cached_property
    def values(self) -> Table:
        """The effort measures of the list, named with its N as measures are, and its archetype."""
        names = ("Sigma", "SigmaPlus", "SigmaMinus", "Rho2012", "b_ratio", "CRP_min", "CRP_N")
        rows: list[tuple[Cell, ...]] = []
        for name in ("Twist", "Rho", "BalancePoint"):
            rows += [
                (self.label(name, mode), self._value(REGISTRY[name](crossing=mode))) for mode in CROSSINGS
            ]
        for name in names:
            rows.append((self.label(name), self._value(REGISTRY[name])))
            if "clamped" in REGISTRY[name].parameters:
                rows.append((self.label(name, "clamped"), self._value(REGISTRY[name](clamped=True))))
        rows.append(("archetype", str(find_archetypes(self.lists, cutoff=self.cutoff)[0]) or None))
        return Table("values", ("name", "value"), rows, caption=f"Effort at N = {self.length}")

    def label(self, name: str, form: str = "") -> str:
        """Return the name of an effort measure at the N of the curve: ``Twist`` is that at 1000, as everywhere."""
        measure = str(REGISTRY[name] @ self.cutoff)
        return f"{measure} ({form})" if form else measure

    def _value(self, measure: Any) -> float:
        return float((measure @ self.cutoff).evaluate(self.lists)[0])

    @property
    def tables(self) -> Mapping[str, Table]:
        """``curve``, ``points``, ``values``, ``intervals``, ``places`` and ``references``."""
        found = (self.table, self.points, self.values, self.intervals, self.places, self.references)
        return {table.name: table for table in found}

    @property
    def main(self) -> Sequence[str]:
        """All of them."""
        return tuple(self.tables)

    @property
    def display(self) -> Sequence[Table]:
        """All but the places and the reference lists."""
        return (self.table, self.points, self.values, self.intervals)

    def plot(self, figure: str | None = None, *, dcg: bool = False, **options: Any) -> Any:
        """CRP with marked points above the bars of RP (``crp``), beside DCG (``dcg``), or how RP arises (``rp``)."""
        return super().plot("dcg" if dcg else figure, **options)


def curve(
    qrels: Any,
    run: Any,
    topic: str,
    *,
    cutoff: int | None = None,
    gains: str = "linear",
    discount: str = "log2",
    base: float = 2.0,
    order: str | None = None,
    edits: str | None = None,
) -> Curve:
    """The effort curve of one run on one topic.

    ``cutoff`` is the length N at which the list is evaluated: as many ranks as it has, unless set; ranks beyond the
    end of the list, up to 2 RB, count as non-relevant documents. ``gains``, ``discount`` and ``base`` are those of DCG.
    ``edits`` change the list first, as in the page's what-if view: ``"m5-2"`` moves the document at rank 5 to rank 2,
    ``"r7=1"`` replaces the one at rank 7 by one of grade 1 that the list lacks; several are separated by spaces.
    References: Angelini and others 2012, Ferro and others 2016.

    >>> found = curve({"q1": {"d1": 1, "d2": 1, "d3": 0}}, {"q1": ["d3", "d1", "d4", "d2"]}, "q1")
    >>> found.table.column("rp"), found.table.column("crp")
    ([-2, 0, 0, 2], [-2, -2, -2, 0])
    """
    judgments, runs = open_collection(qrels, run, order=order)
    one = _one_run(runs)
    topic = str(topic)
    if topic not in judgments.topic_index:
        hint = nearest(topic, judgments.topics) or f"there are topics such as {judgments.topics[0]}"
        raise InputError(f"topic {topic!r} has no judgments", path=judgments.path, hint=hint)
    measure = DCG(gains=gains, discount=discount, base=base)
    if cutoff is not None and not 1 <= cutoff <= _DEEPEST:
        hint = f"a curve has a whole number of ranks from 1 to {_DEEPEST:,}"
        raise SettingsError(f"cutoff={cutoff}", hint=hint)
    if not one.in_memory:
        judge(
            judgments, one, allow_disjoint=True
        )  # which looks at every line, and not only at those of the topic
    ranking = one.ranking(topic)
    if not ranking and topic not in (one.memory or {}):
        raise InputError(
            f"the run has no documents for topic {topic!r}",
            path=one.path or one.name,
            hint="name a topic that it has, or another run",
        )
    known = judgments.judgments(topic)
    first, ranking = ranking, edited(ranking, edits or "", known)
    cut = int(cutoff or max(1, len(ranking)))
    small = _only(judgments, topic)
    lists = judge(small, Run.from_dict({topic: ranking}, name=one.name)).lists
    ideal = np.array(sorted((g for g in known.values() if g > 0), reverse=True), np.int64)
    length = max(cut, 2 * len(ideal))
    documents, before = _padded(ranking[:cut], length), _padded(first[:cut], length)
    return Curve(
        run=one.name,
        topic=topic,
        documents=documents,
        grade=_grades(documents, known),
        ideal_grade=np.concatenate([ideal, np.zeros(length - len(ideal), np.int64)]),
        dcg_measure=measure,
        lists=lists,
        cutoff=cut,
        settings={
            "run": one.name, "topic": topic, "cutoff": cut, "N": length, "recall_base": len(ideal), "dcg": str(measure),
            "order": one.order, **({"grades": judgments.merges} if judgments.merges else {}),
            **({"edits": edits} if edits else {}),
        },
        before=_grades(before, known) if edits else None,
    )  # fmt: skip


def curve_of(
    judged: Judged, run: str, topic: str, *, cutoff: int = 1000, dcg: Measure | None = None
) -> Curve:
    """The curve of one of many judged lists; of documents without judgment the names are not known.

    ``dcg`` is a measure whose gains, discount and base DCG shall have; DCG itself unless it has these.
    """
    for text, known, what in ((run, judged.runs, "run"), (topic, judged.topics, "topic")):
        if text not in known:
            raise SettingsError(f"there is no {what} {text!r}", hint=nearest(text, known) or None)
    judgments = judged.qrels.judgments(topic)
    row = judged.runs.index(run) * len(judged.topics) + judged.topics.index(topic)
    hits = slice(judged.offsets[row], judged.offsets[row + 1])
    longer = "?" * (1 + max(map(len, judgments), default=0))  # no judged document is called like that
    ranking = [f"{longer}{rank}" for rank in range(1, int(judged.length[row]) + 1)]
    for rank, judgment in zip(judged.rank[hits].tolist(), judged.judgment[hits].tolist(), strict=True):
        name = to_text(judged.qrels.documents[judgment])
        if name in judgments:
            ranking[rank - 1] = name
    like = {key: dcg.settings[key] for key in ("gains", "discount", "base") if dcg and key in dcg.settings}
    found = curve({topic: judgments}, Run.from_dict({topic: ranking}, name=run), topic, cutoff=cutoff, **like)
    return replace(found, documents=[name if name in judgments else None for name in found.documents])


def _padded(ranking: list[str], length: int) -> list[str | None]:
    """A list with nothing beyond its end, up to a length."""
    return [*ranking, *[None] * (length - len(ranking))]


def _grades(documents: Sequence[str | None], known: Mapping[str, int]) -> list[int | None]:
    return [None if document is None else known.get(document) for document in documents]


def _relevance(grades: Sequence[int | None]) -> Ints:
    return np.array([max(0, grade or 0) for grade in grades], np.int64)


def _only(qrels: Qrels, topic: str) -> Qrels:
    """The judgments of one topic."""
    return Qrels.from_dict({topic: qrels.judgments(topic)})


def _one_run(runs: Runs) -> Run:
    if len(runs) != 1:
        raise InputError(f"a curve shows one run, not {len(runs)}", hint="name a single run")
    return next(iter(runs.values()))
