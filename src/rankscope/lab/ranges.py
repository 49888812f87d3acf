"""Ranges of the components of Twist for each archetype, on all rankings of small topics.

Figures 4 to 6 of Ferro et al. (2016) state bounds of the first crossing, the balance point, the ratios and Twist for
each archetype. This module classifies and measures all rankings of all topics up to a recall base and a length. It
returns the smallest and largest values with example rankings, and for every published entry whether it holds, with a
counterexample if it does not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from rankscope.arrays import Bools, Floats, Ints, NDArray
from rankscope.choices import CROSSINGS
from rankscope.engines import on_engine, run_pieces
from rankscope.errors import SettingsError, check_name
from rankscope.lab.rankings import explicit
from rankscope.measures import REGISTRY
from rankscope.measures.effort_curves import ARCHETYPES, find_archetypes, get_curves
from rankscope.measures.interval import number_of_rankings
from rankscope.result import TableResult
from rankscope.rows import Row, column
from rankscope.tables import Cell, Table

QUANTITIES = ("first crossing", "BalancePoint", "Rho", "SigmaPlus", "SigmaMinus", "Sigma", "Twist")
"""Rows of the published figures."""

_EXCELLENT = ("excellent A", "excellent B")

COLUMNS: dict[str, tuple[str, ...]] = {
    name: _EXCELLENT if name == "excellent" else (name,)
    for name in ("ideal", "worst", "full scale", "excellent", "ups-and-downs", "typical A", "typical B")
}
"""Columns of the published figures, and their archetypes."""

_TENDS = "below 1, and nearer to 1 than to 0"
_LONG = "N >= 3 RB"


@dataclass(frozen=True)
class _Group:
    """Rankings of one topic and one length, with their archetypes and values."""

    counts: tuple[int, ...]
    rows: explicit.Letters
    archetype: NDArray[np.str_]
    values: dict[str, Floats]

    @property
    def base(self) -> int:
        return sum(self.counts)

    @cached_property
    def indices(self) -> dict[str, Ints]:
        """Indices of the rankings of each archetype that occurs."""
        return {name: index for name in ARCHETYPES if len(index := np.flatnonzero(self.archetype == name))}

    @property
    def length(self) -> int:
        return int(self.rows.shape[1])

    def list_text(self, index: int) -> str:
        """Return a ranking as text: its grades, and the numbers of documents per grade of its topic."""
        grades = ", ".join(f"{count} of grade {grade}" for grade, count in enumerate(self.counts, 1) if count)
        return f"{''.join(map(str, self.rows[index].tolist()))} (RB = {self.base}: {grades})"


Test = Callable[[Floats, "_Group"], Bools | bool]


@dataclass(frozen=True)
class _Entry:
    """Entry of a published figure: a statement on a quantity for some archetypes, and its test."""

    figure: str
    archetype: str
    quantity: str
    published: str
    holds: Test
    reading: str
    members: tuple[str, ...]

    def violations(self, group: _Group) -> tuple[int, Ints]:
        """Return the number of rankings that the entry concerns, and the indices of its violations."""
        if self.reading == _LONG and group.length < 3 * group.base:
            return 0, np.zeros(0, np.int64)
        members = [group.indices[name] for name in self.members if name in group.indices]
        index = np.sort(np.concatenate(members)) if members else np.zeros(0, np.int64)
        is_held = np.broadcast_to(self.holds(group.values[self.quantity][index], group), index.shape)
        return len(index), index[~is_held]


def _equals(value: float) -> Test:
    return lambda values, group: values == value


def _below(value: float) -> Test:
    return lambda values, group: values < value


def _entries() -> Iterator[_Entry]:
    """Yield the entries of Figures 4, 5 and 6 of Ferro et al. (2016), and two sentences of the text."""
    infinite, less_half = ("+\N{INFINITY}", _equals(float("inf"))), ("< 1/2", _below(1 / 2))
    tends = ("\N{RIGHTWARDS ARROW} 1", lambda values, group: (values < 1) & (values > 0.5), _TENDS)
    # Figure 4 also writes this bound as (w - 1) RB + 1 with N = w RB, where Proposition 3 requires w >= 3.
    at_end = "\N{GREATER-THAN OR EQUAL TO} N - RB + 1"
    late = (at_end, lambda values, group: values >= group.length - group.base + 1, _LONG)
    after = ("\N{GREATER-THAN OR EQUAL TO} RB + 1", lambda values, group: values >= group.base + 1)
    excellent = ("\N{LESS-THAN OR EQUAL TO} RB", lambda values, group: values <= group.base)
    falls = ("< RB", lambda values, group: values < group.base)
    near = ("\N{LESS-THAN OR EQUAL TO} RB / (RB + 1)", lambda v, group: v <= group.base / (group.base + 1))
    unity, nothing, less = ("1", _equals(1)), ("0", _equals(0)), ("< 1", _below(1))
    quarter = ("< 1/4", _below(1 / 4), _LONG)
    base = ("RB", lambda values, group: values == group.base)
    columns: dict[str, list[Any]] = {
        "ideal": [unity, base, unity, unity, unity, unity, unity],
        "worst": [infinite, infinite, nothing, unity, nothing, nothing, nothing],
        "full scale": [late, late, (*less_half, _LONG), nothing, nothing, nothing, quarter],
        "excellent": [excellent, base, unity, tends, tends, tends, tends],
        "ups-and-downs": [falls, base, unity, tends, tends, tends, tends],
        "typical A": [after, after, near, less, less, less, less],
        "typical B": [infinite, infinite, nothing, unity, less, less, less_half],
    }
    figures = [*["Figure 4"] * 3, *["Figure 5"] * 3, "Figure 6"]
    for figure, quantity, cells in zip(figures, QUANTITIES, zip(*columns.values(), strict=True), strict=True):
        for name, (published, holds, *reading) in zip(columns, cells, strict=True):
            yield _Entry(figure, name, quantity, published, holds, "".join(reading), COLUMNS[name])
    # Two sentences of the text make statements about archetypes.
    other = tuple(name for name in ARCHETYPES if name not in ("worst", "full scale"))
    yield _Entry(
        "text", "all but worst and full scale", "SigmaMinus", "> 0", lambda values, group: values > 0, "", other
    )  # fmt: skip
    yield _Entry(
        "text", "excellent", "Twist", "not with binary relevance",
        lambda values, group: np.full(len(values), len(group.counts) > 1), "", _EXCELLENT,
    )  # fmt: skip


@dataclass
class _Summary:
    """Smallest and largest value of a quantity, or the violations of an entry with the first counterexample."""

    lists: int = 0
    low: tuple[float, str] = (float("inf"), "")
    high: tuple[float, str] = (-float("inf"), "")
    violations: int = 0
    example: str = ""


class ArchetypeRange(Row):
    """Range of a quantity over all rankings of an archetype."""

    archetype: str = column()
    quantity: str = column("Twist, or a component of it")
    lists: int = column("number of enumerated rankings of the archetype")
    lowest: float | None = column("lowest value over these rankings")
    lowest_list: str | None = column("ranking with the lowest value")
    highest: float | None = column("highest value over these rankings")
    highest_list: str | None = column("ranking with the highest value")


class PublishedEntry(Row):
    """Published entry about a quantity of an archetype, and its verdict."""

    figure: str = column("figure of the paper")
    archetype: str = column()
    quantity: str = column("Twist, or a component of it")
    published: str = column("entry in the paper")
    reading: str | None = column("interpretation of the entry")
    lists: int = column("number of rankings that the entry is about")
    violations: int = column()
    verdict: str = column()
    counterexample: str | None = column()


class FigureSummary(Row):
    """Numbers of entries of a figure."""

    figure: str = column("figure of the paper")
    entries: int = column("number of published entries")
    confirmed: int = column("number of entries that no ranking contradicts")
    refuted: int = column("number of entries that a ranking contradicts")


class ArchetypeRanges(TableResult):
    """Ranges of the quantities of each archetype, and the published entries about them."""

    figures = {"archetypes": "archetypes.plot_archetype_ranges"}

    @classmethod
    def row_types(cls) -> dict[str, type[Row]]:
        return {"ranges": ArchetypeRange, "entries": PublishedEntry, "summary": FigureSummary}


@on_engine
def archetype_ranges(
    relevant: int = 6,
    length: int = 14,
    grades: int = 2,
    *,
    crossing: str = "sign-change",
    jobs: int | None = None,
    engine: Any = None,
) -> ArchetypeRanges:
    """Return the ranges of crossing, balance point, ratios and Twist per archetype, on all rankings of small topics.

    Rankings have 2 RB to ``length`` ranks. Shorter rankings are padded to 2 RB, so they are included.

    Parameters
    ----------
    relevant
        Largest recall base RB.
    length
        Maximum length of the rankings.
    grades
        Highest grade.
    crossing
        Definition of the first crossing.
    jobs
        Number of workers; None or 0 for all cores.
    engine
        Where to compute, see :mod:`rankscope.engines`.

    Returns
    -------
    ArchetypeRanges
        ``ranges`` {archetype, quantity, lists, lowest, lowest_list, highest, highest_list}, and ``entries`` {figure,
        archetype, quantity, published, reading, lists, violations, verdict, counterexample}: every entry of Figures 4
        to 6 of Ferro et al. (2016), and two sentences of their text, confirmed, or refuted by the shortest ranking.

    Examples
    --------
    >>> result = archetype_ranges(relevant=2, length=4)
    >>> [row for row in result["ranges"].records() if row["archetype"] == "typical B"][-1]["highest"]
    0.4
    """
    check_name(crossing, CROSSINGS, f"crossing={crossing!r}")
    _check(relevant, length, grades)
    pieces = [(counts, n, crossing) for counts, n in _topics(relevant, length, grades)]
    entries = list(_entries())
    ranges = {(name, quantity): _Summary() for name in ARCHETYPES for quantity in QUANTITIES}
    checked = [_Summary() for _ in entries]
    for own_ranges, own_checked in run_pieces(_analyse_topic, pieces, jobs=jobs, label="topics"):
        for key, summary in own_ranges.items():
            _merge(ranges[key], summary)
        for merged, summary in zip(checked, own_checked, strict=True):
            _merge(merged, summary)
    total = sum(ranges[name, QUANTITIES[0]].lists for name in ARCHETYPES)
    settings = {
        "relevant": relevant, "length": length, "grades": grades, "crossing": crossing, "lists": total,
        "topics": len({counts for counts, _, _ in pieces}),
    }  # fmt: skip
    published = _entries_table(entries, checked)
    tables = (_ranges_table(ranges, total), published, _summary_table(published))
    return ArchetypeRanges.from_tables(*tables, settings=settings, main=("ranges", "entries"))


def _check(relevant: int, length: int, grades: int) -> None:
    limits = (("relevant", relevant, 1, 100), ("length", length, 2, 100), ("grades", grades, 1, 9))
    for name, value, low, high in limits:
        if not low <= value <= high:
            raise SettingsError(f"{name}={value}", hint=f"choose a number from {low} to {high}")
    n_lists = 0
    for counts, n in _topics(relevant, length, grades):
        n_lists += number_of_rankings(n, counts)
        if n_lists > explicit.MAX_LISTS:
            lists = f"{explicit.MAX_LISTS:,} lists of up to {length} ranks"
            problem = f"there are over {lists} for up to {relevant} relevant documents"
            raise SettingsError(problem, hint="choose fewer relevant documents, ranks or grades")


def _topics(relevant: int, length: int, grades: int) -> Iterator[tuple[tuple[int, ...], int]]:
    """Yield the topics and the lengths of their rankings, short ones first."""
    for n in range(2, length + 1):
        for base in range(1, min(relevant, n // 2) + 1):
            yield from ((counts, n) for counts in explicit.iter_recall_bases(base, grades))


def _analyse_topic(
    piece: tuple[tuple[int, ...], int, str],
) -> tuple[dict[tuple[str, str], _Summary], list[_Summary]]:
    group = _group(*piece)
    ranges = {}
    for name, index in group.indices.items():
        for quantity in QUANTITIES:
            values = group.values[quantity][index]
            low, high = index[values.argmin()], index[values.argmax()]
            lowest = float(values.min()), group.list_text(low)
            highest = float(values.max()), group.list_text(high)
            ranges[name, quantity] = _Summary(len(index), lowest, highest)
    checked = []
    for entry in _entries():
        lists, broken = entry.violations(group)
        example = ""
        if len(broken):
            value, archetype = group.values[entry.quantity][broken[0]], group.archetype[broken[0]]
            example = f"{group.list_text(broken[0])} is {archetype} with {entry.quantity} {value:.4g}"
        checked.append(_Summary(lists, violations=len(broken), example=example))
    return ranges, checked


def _group(counts: tuple[int, ...], length: int, crossing: str) -> _Group:
    rows = explicit.multiset_permutations(counts, length)
    lists = explicit.lists_from_rows(rows, counts)
    values = {"first crossing": get_curves(lists, 1, length).crossing(crossing)}
    for name in QUANTITIES[1:]:
        measure = REGISTRY[name]
        configured = measure(crossing=crossing) if "crossing" in measure.parameters else measure
        values[name] = (configured @ length).evaluate(lists)
    return _Group(counts, rows, find_archetypes(lists, crossing=crossing, cutoff=length), values)


def _merge(into: _Summary, other: _Summary) -> None:
    """Merge the summary of another topic; topics are ordered by length, so the first example is the shortest."""
    into.lists += other.lists
    into.low = other.low if other.low[0] < into.low[0] else into.low
    into.high = other.high if other.high[0] > into.high[0] else into.high
    into.violations += other.violations
    into.example = into.example or other.example


def _ranges_table(ranges: dict[tuple[str, str], _Summary], total: int) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for (name, quantity), summary in ranges.items():
        # The limits are still infinite if the archetype has no rankings, or only rankings without a crossing.
        low, high = (summary.low, summary.high) if summary.lists else ((None, None), (None, None))
        if summary.lists and not summary.low[1]:
            low, high = (float("inf"), summary.high[1]), (float("inf"), summary.high[1])
        rows.append((name, quantity, summary.lists, *low, *high))
    return ArchetypeRange.table("ranges", rows, caption=f"What occurs in {total:,} lists")


def _entries_table(entries: list[_Entry], checked: list[_Summary]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for entry, summary in zip(entries, checked, strict=True):
        verdict = "refuted" if summary.violations else "confirmed" if summary.lists else "no such list"
        rows.append(
            (entry.figure, entry.archetype, entry.quantity, entry.published, entry.reading or None, summary.lists,
             summary.violations, verdict, summary.example or None)
        )  # fmt: skip
    return PublishedEntry.table("entries", rows, caption="Published entries, and whether they hold")


def _summary_table(entries: Table) -> Table:
    """Return the table of the numbers of entries, confirmed and refuted ones of each figure."""
    verdicts = [(str(row["figure"]), row["verdict"]) for row in entries.records()]
    rows: list[tuple[Cell, ...]] = []
    for figure in (*dict.fromkeys(name for name, _ in verdicts if name != "text"), "all figures"):
        own = [v for name, v in verdicts if name == figure or (figure == "all figures" and name != "text")]
        rows.append((figure, len(own), own.count("confirmed"), own.count("refuted")))
    return FigureSummary.table("summary", rows, caption="Published entries by figure")
