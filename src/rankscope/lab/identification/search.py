"""``identify`` finds the definition that a function computes, or the nearest one with the shortest counterexample."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import combinations
from math import nan
from typing import Any

import numpy as np

from rankscope.arrays import Bools, Floats, Indices
from rankscope.errors import MeasureError, SettingsError
from rankscope.judging import judge
from rankscope.lab.identification.inputs import CIRCUMSTANCES, CUTOFFS, Input, TopicLists, break_ties, inputs
from rankscope.lab.identification.libraries import (
    CALLS,
    RefusedError,
    has_scores,
    library_function,
    make_caller,
)
from rankscope.lab.identification.variants import FAMILIES, formulas, rbp_formulas
from rankscope.measures import REGISTRY, Measure
from rankscope.progress import progress
from rankscope.read import open_collection
from rankscope.result import TableResult
from rankscope.rows import Row, column
from rankscope.tables import Cell, Table

Core = Callable[[TopicLists], float]

EMPTY = {
    0.0: "",
    1.0: "1 for a topic without relevant documents",
    nan: "undefined for a topic without relevant documents",
}
UNJUDGED = {"nonrelevant": "", "condensed": "unjudged documents taken out of the list"}
TIES = {
    "descending": "",
    "file": "ties in the order of the file",
    "ascending": "ties by ascending document id",
    "expected": "the mean over all orders of ties",
}
"""Conventions of a definition besides its formula, with descriptions; the usual convention has an empty one."""

N_NEAREST, N_CANDIDATES, N_SAMPLE, MAX_SHORT = 5, 60, 30, 6
"""Numbers of definitions shown, of candidates, and of inputs in the first sample; length of a short ranking."""

MIN_RANKINGS, MIN_LENGTHS = 20, 3
"""Minimal numbers of distinct rankings, and of their lengths, on which a function must return a number. A function that
accepts only rankings of ten documents or more has 24 of 8 lengths; fewer do not distinguish variants of a measure."""


@dataclass(frozen=True)
class Definition:
    """Formula with its conventions for empty topics, unjudged documents and ties."""

    name: str
    core: Core
    oddities: int = 0
    empty: float = 0.0
    unjudged: str = "nonrelevant"
    ties: str = "descending"

    def __call__(self, case: Input) -> float:
        """Return the value for an input."""
        return float(self.values(_indices([case]))[0])

    def values(self, indices: Indices) -> Floats:
        """Return the values for the inputs with these indices."""
        numbers, offsets = _list_indices(self.unjudged, self.ties)
        counts = offsets[indices + 1] - offsets[indices]
        owner = np.repeat(np.arange(len(indices)), counts)
        nth = np.arange(len(owner)) - (np.cumsum(counts) - counts)[owner]
        values = _column(self.core).values_at(numbers[offsets[indices][owner] + nth])
        values = np.where(np.isnan(values), self.empty, values)
        return np.bincount(owner, values, len(indices)) / counts

    def __str__(self) -> str:
        words = [EMPTY[self.empty], UNJUDGED[self.unjudged], TIES[self.ties]]
        return "; ".join([self.name, *(text for text in words if text)])


class Answer(Row):
    """Definition that a function computes, or the nearest one."""

    function: str = column("identified function")
    definition: str = column("definition that the function computes, or the nearest one")
    equal: bool = column("whether the definition agrees on all inputs")
    agrees: float = column("share of the inputs on which definition and function agree")
    where: str = column("circumstances under which the two agree")
    shortest: str | None = column("shortest input on which they differ")
    ours: float | None = column("value of the definition on the shortest input on which they differ")
    theirs: float | None = column("value of the function on the shortest input on which they differ")


class NearDefinition(Row):
    """Definition that is close to a function."""

    measure: str = column()
    agrees: int = column("number of inputs on which definition and function agree")
    inputs: int = column("number of tested inputs")
    shortest: str | None = column("shortest input on which they differ")


class Identification(TableResult):
    """Definition that a function computes, and the nearest ones."""

    @classmethod
    def row_types(cls) -> dict[str, type[Row]]:
        return {"answer": Answer, "nearest": NearDefinition}


def identify(
    function: Callable[..., Any] | str, *, call: str | None = None, name: str | None = None
) -> Identification:
    """Identify the definition that a function computes, by comparing it with all variants on every short ranking.

    Parameters
    ----------
    function
        Function of grades, or of judgments and a run (see :data:`~.calls.CALLS`), or the name of a measure of a library
        such as ``"pytrec_eval:ndcg_cut_10"`` or ``"sklearn:ndcg_score"`` (see :mod:`~.libraries`).
    call
        Kind of call; by default guessed from the names of the parameters.
    name
        Name of the function in the result; by default its own.

    Returns
    -------
    Identification
        ``answer`` {function, definition, equal, agrees, where, shortest, ours, theirs}: the definition that equals the
        function on all inputs that it accepts, or the nearest one, the inputs on which they agree, and the shortest
        input on which they differ, with both values; ``nearest`` {measure, agrees, inputs, shortest}: the five nearest
        definitions; ``refused`` {input, error}.

    Raises
    ------
    SettingsError
        If the function returns a number for too few different rankings to name a definition; it names the first error.

    Examples
    --------
    >>> def average(grades, pool):  # divides by the number of retrieved instead of all relevant documents
    ...     hits = [i for i, g in enumerate(grades, 1) if g > 0]
    ...     return sum(n / i for n, i in enumerate(hits, 1)) / max(1, len(hits))
    >>> identify(average)["answer"].records()[0]["definition"]
    'AP, divided by the relevant documents found'
    """
    if isinstance(function, str):
        label, called, evaluate = name or function, "library", library_function(function)
    else:
        label = name or str(getattr(function, "__name__", "function"))
        called, evaluate = make_caller(function, call)
    tested = [case for case in inputs() if has_scores(called) or not case.groups]
    values, refused = _call_on_inputs(evaluate, tested)
    accepted = [case for case in tested if case in values]
    if not _is_varied([case for case in _plain() if case in values]):
        signature = "" if called == "library" else f", called as {CALLS[called][0].partition(':')[0]}"
        raise SettingsError(
            f"{label} could not be called: it returned a number for {len(accepted)} of {len(tested)} inputs{signature}"
            + (f"; first error: {next(iter(refused.values()))}" if refused else ""),
            hint=f"choose another way to call it ({', '.join(CALLS)})" if signature else "",
        )
    comparisons = [
        _Comparison.from_values(definition, accepted, values, bool(refused))
        for definition in _nearest(accepted, values)
    ]
    comparisons.sort(key=lambda item: (-item.agrees, item.definition.oddities, len(str(item.definition))))
    answer = Answer.table("answer", [comparisons[0].answer(label)], caption="The definition that it computes")
    rows = [(str(c.definition), c.agrees, len(accepted), c.shortest) for c in comparisons[:N_NEAREST]]
    nearest = NearDefinition.table("nearest", rows, caption="The nearest definitions")
    errors = Table("refused", ("input", "error"), [(str(case), error) for case, error in refused.items()])
    return Identification.from_tables(
        answer, nearest, errors,
        settings={"function": label, "call": called, "inputs": len(accepted), "refused": len(refused)},
        main=("answer", "nearest"), display=(_answer_lines(answer), nearest),
    )  # fmt: skip


def _answer_lines(answer: Table) -> Table:
    """Return the answer as a table of two columns, without empty values."""
    (row,) = answer.records()
    measure, *oddities = re.split("[;,] ", str(row["definition"]))
    rows: list[tuple[Cell, ...]] = [("definition", measure), *(("but", words) for words in oddities)]
    names = ("equal", "where", "shortest", "ours", "theirs")
    rows += [(name, row[name]) for name in names if row[name] not in (None, "")]
    return Table("answer", ("function", str(row["function"])), rows, caption=answer.caption)


def _call_on_inputs(
    evaluate: Callable[[Input], float], tested: Iterable[Input]
) -> tuple[dict[Input, float], dict[Input, str]]:
    """Return the values of a function on inputs, and the errors on the inputs that it rejects."""
    values: dict[Input, float] = {}
    refused: dict[Input, str] = {}
    for case in progress(list(tested), label="inputs"):
        try:
            values[case] = evaluate(case)
        except RefusedError as error:
            refused[case] = str(error)
    return values, refused


def _all_equal(a: Floats, b: Floats) -> Bools:
    """Return the mask of values that are equal up to rounding.

    >>> _all_equal(np.array([nan, 1.0, np.inf, np.inf]), np.array([nan, 1 + 1e-7, np.inf, 1.0])).tolist()
    [True, True, True, False]
    """
    allowed = np.maximum(1e-6 * np.maximum(np.abs(a), np.abs(b)), 1e-9)
    with np.errstate(invalid="ignore"):
        near = np.isfinite(a) & np.isfinite(b) & (np.abs(a - b) <= allowed)
    same: Bools = near | (a == b) | (np.isnan(a) & np.isnan(b))
    return same


@dataclass(frozen=True, eq=False)
class _Sample:
    """Indices of inputs, and the values of the function on them."""

    indices: Indices
    values: Floats

    @classmethod
    def from_values(cls, cases: Sequence[Input], values: dict[Input, float]) -> _Sample:
        return cls(_indices(cases), np.array([values[case] for case in cases], np.float64))

    def is_equal(self, definition: Definition) -> Bools:
        """Return the mask of inputs on which a definition agrees with the function."""
        return _all_equal(definition.values(self.indices), self.values)


@cache
def _input_indices() -> dict[Input, int]:
    return {case: number for number, case in enumerate(inputs())}


def _indices(cases: Sequence[Input]) -> Indices:
    """Return the indices of inputs among all inputs."""
    number = _input_indices()
    return np.array([number[case] for case in cases], np.intp)


@cache
def _list_indices(unjudged: str, ties: str) -> tuple[Indices, Indices]:
    """Return the indices of the rankings of every input, one for each order of ties, and the offsets of the inputs."""
    number = {lists: index for index, lists in enumerate(_all_lists())}
    by_input: list[list[int]] = []
    for case in inputs():
        orders = break_ties(case, ties) if case.is_tied else [case.grades]
        if unjudged == "condensed":
            orders = [tuple(g for g in grades if g is not None) for grades in orders]
        by_input.append([number[TopicLists(grades, tuple(case.pool))] for grades in orders])
    offsets = np.cumsum([0, *map(len, by_input)])
    return np.array([index for own in by_input for index in own], np.intp), offsets


class _Column:
    """Values of a formula for all rankings, computed on first use."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._values = np.zeros(len(_all_lists()))
        self._is_computed = np.zeros(len(_all_lists()), bool)

    def values_at(self, indices: Indices) -> Floats:
        """Return the values for the rankings with these indices."""
        lists = _all_lists()
        for index in np.unique(indices[~self._is_computed[indices]]).tolist():
            self._values[index] = self._core(lists[index])
        self._is_computed[indices] = True
        return self._values[indices]


@lru_cache(2000)
def _column(core: Core) -> _Column:
    """Return the cached values of a formula, shared by all conventions and all calls of :func:`identify`."""
    return _Column(core)


# The search determines first the formula, on inputs where no convention matters, and then each convention.


def _nearest(accepted: Sequence[Input], values: dict[Input, float]) -> list[Definition]:
    plain = [case for case in _plain() if case in values]
    short = [case for case in plain if len(case.grades) <= MAX_SHORT] or plain
    sampled = short[:: max(1, len(short) // N_SAMPLE)]
    sample = _Sample.from_values(sampled, values)
    candidates = _likely_definitions(tuple(sampled), sample, _persistence(values))
    if not any(sample.is_equal(item).all() for item in candidates):
        candidates = _best([*candidates, *_registry()], sample, N_CANDIDATES)
    candidates = _best(candidates, _Sample.from_values(short, values), 4 * N_NEAREST)
    candidates = _best(candidates, _Sample.from_values(plain, values), N_NEAREST)
    return [_choose_circumstances(core, accepted, values) for core in candidates]


def _best(definitions: Sequence[Definition], sample: _Sample, number: int) -> list[Definition]:
    """Return the definitions that agree most often, and all that agree as often as the last of them."""
    scored = [(int(sample.is_equal(item).sum()), item) for item in definitions]
    scored.sort(key=lambda pair: (-pair[0], pair[1].oddities))
    threshold = scored[min(number, len(scored)) - 1][0]
    return [item for agrees, item in scored if agrees >= threshold][: 2 * number]


@cache
def _plain() -> tuple[Input, ...]:
    """Return the inputs for which no convention matters: no ties, no unjudged documents, some relevant document."""
    untied = (case for case in inputs() if not case.is_tied and None not in case.grades)
    return tuple(case for case in untied if any(g > 0 for g in case.pool))


def _is_varied(plain: Sequence[Input]) -> bool:
    """Return whether inputs suffice to name a formula.

    There must be enough rankings of different lengths, and the same documents in different orders. Rankings are
    counted instead of inputs, because many inputs have the same ranking, for instance the empty one.
    """
    rankings = {case.grades for case in plain}
    orders = len(rankings) - len({tuple(sorted(map(str, grades))) for grades in rankings})
    return len(rankings) >= MIN_RANKINGS and len({*map(len, rankings)}) >= MIN_LENGTHS and orders > 0


def _choose_circumstances(
    core: Definition, accepted: Sequence[Input], values: dict[Input, float]
) -> Definition:
    """Return the formula with the conventions under which it agrees most often."""
    accepted = [case for case in accepted if len(case.grades) <= MAX_SHORT]
    plain = [case for case in accepted if not case.is_tied and None not in case.grades]
    tied, untied = ([case for case in accepted if case.is_tied == is_tied] for is_tied in (True, False))
    best = core
    conventions: tuple[tuple[str, Iterable[object], list[Input]], ...]
    conventions = (("empty", EMPTY, plain), ("unjudged", UNJUDGED, untied), ("ties", TIES, tied))
    for convention, choices, cases in conventions:
        candidates = [_with_changes(best, **{convention: choice}) for choice in choices]
        sample = _Sample.from_values(cases, values)
        agrees = [int(sample.is_equal(definition).sum()) for definition in candidates]
        best = candidates[agrees.index(max(agrees))]  # the first of several equally good ones
    return best


def _with_changes(definition: Definition, **changes: Any) -> Definition:
    changed = replace(definition, **changes)
    conventions = ("empty", "unjudged", "ties")
    odd = sum(getattr(changed, key) != getattr(Definition, key) for key in conventions)
    return replace(changed, oddities=definition.oddities + odd)


def _likely_definitions(sampled: tuple[Input, ...], sample: _Sample, p: float | None) -> list[Definition]:
    """Return the variants that agree most often on a few inputs, including RBP with the p that the values suggest."""
    definitions, table = _variant_table(sampled)
    agrees = np.isclose(table, sample.values, rtol=1e-6, atol=1e-9, equal_nan=True).sum(axis=1)
    best = [definitions[i] for i in np.argsort(-agrees, kind="stable")[:N_CANDIDATES].tolist()]
    more = () if p is None else rbp_formulas(p)
    others = [Definition(formula.name, formula, formula.oddities) for formula in more]
    return _best([*best, *others], sample, N_CANDIDATES)


@lru_cache(8)
def _variant_table(sample: tuple[Input, ...]) -> tuple[list[Definition], Floats]:
    """Return all variants and their values for a sample of inputs (variants, inputs)."""
    definitions = [Definition(formula.name, formula, formula.oddities) for formula in formulas()]
    return definitions, np.array([definition.values(_indices(sample)) for definition in definitions])


def _persistence(values: dict[Input, float]) -> float | None:
    """Return the p that the second rank suggests if the function is RBP, else None."""
    first, second = (values.get(Input(grades)) for grades in ((1, 0), (0, 1)))
    p = second / first if first and second is not None else 0.0
    return round(p, 9) if 0 < p < 1 else None


@cache
def _registry() -> tuple[Definition, ...]:
    """Return the measures of the registry without a formula in ``variants``."""
    definitions = []
    for name in sorted({measure.name for measure in REGISTRY.values()} - FAMILIES.keys()):
        measure = REGISTRY[name]
        excluded = measure.name in ("GMAP", "GMBpref", "NumQ", "Interval")
        if excluded or measure.needs_aspects or measure.family == "user":
            continue
        try:
            cut = [] if measure.cutoff_rule == "none" else [measure @ k for k in CUTOFFS]
        except MeasureError:  # The cutoff of this measure is not a rank.
            continue
        whole = [] if measure.cutoff_rule == "required" and measure.cutoff is None else [measure]
        definitions += [Definition(str(item), _registry_formula(item)) for item in [*whole, *cut]]
    return tuple(definitions)


def _registry_formula(measure: Measure) -> Core:
    """Return a measure of the registry as a function of rankings, all of which are evaluated on first use."""

    @cache
    def values() -> dict[TopicLists, float]:
        try:
            values = measure.evaluate(_judged_lists().lists)
        except MeasureError:
            return dict.fromkeys(_all_lists(), nan)
        return dict(zip(_all_lists(), values.tolist(), strict=True))

    return lambda lists: values()[lists]


@cache
def _all_lists() -> tuple[TopicLists, ...]:
    lists: dict[TopicLists, None] = {}
    for case in inputs():
        for grades in break_ties(case, "expected"):
            lists[TopicLists(grades, tuple(case.pool))] = None
            lists[TopicLists(tuple(g for g in grades if g is not None), tuple(case.pool))] = None
    return tuple(lists)


@cache
def _judged_lists() -> Any:
    """Return all rankings as topics of one collection."""
    qrels: dict[str, dict[str, int]] = {}
    run: dict[str, list[str]] = {}
    for number, lists in enumerate(_all_lists()):
        topic = f"{number:06d}"
        absent = list(lists.pool)
        documents = []
        judged = {}
        for i, g in enumerate(lists.grades):
            documents.append(f"d{i:04d}")
            if g is not None:
                judged[documents[-1]] = g
                absent.remove(g)
        qrels[topic] = {**judged, **{f"m{i}": g for i, g in enumerate(absent)}} or {"none": 0}
        run[topic] = documents
    return judge(*open_collection(qrels, {"run": run}, order="file"))


@cache
def _definitions_by_name() -> dict[str, Definition]:
    by_name = {item.name: item for item in _registry()}
    return by_name | {item.name: Definition(item.name, item) for item in formulas()}


def usual_value(measure: str, case: Input) -> float:
    """Return the value of a measure of the registry by its usual definition, with ties broken as by trec_eval.

    >>> usual_value("AP", Input((0, 1), (1,)))
    0.25
    """
    return _definitions_by_name()[measure](case)


# Results


@dataclass(frozen=True, eq=False)
class _Comparison:
    """Comparison of a definition with the values of a function."""

    definition: Definition
    agrees: int
    different: Sequence[Input]
    known: Sequence[Input]
    values: dict[Input, float]
    has_refused: bool
    """Whether the function rejected other inputs, which were not compared."""

    @classmethod
    def from_values(
        cls, definition: Definition, accepted: Sequence[Input], values: dict[Input, float], has_refused: bool
    ) -> _Comparison:
        agrees = _Sample.from_values(accepted, values).is_equal(definition).tolist()
        different = [case for case, equal in zip(accepted, agrees, strict=True) if not equal]
        return cls(definition, len(accepted) - len(different), different, accepted, values, has_refused)

    @property
    def _difference(self) -> tuple[str, float, float] | None:
        """Shortest input on which they differ, with both values; None if there is no such input."""
        case = next(iter(self.different), None)
        return None if case is None else (str(case), self.definition(case), self.values[case])

    @property
    def shortest(self) -> str:
        """Shortest input on which they differ, with both values, as text."""
        return "{}: {:.6g}, not {:.6g}".format(*self._difference) if self._difference else ""

    def answer(self, label: str) -> tuple[Cell, ...]:
        """Return the row of the answer for the function with this label."""
        agrees, difference = self.agrees / len(self.known), self._difference
        about = (label, str(self.definition), difference is None, agrees, self.where())
        return (*about, *(difference or (None, None, None)))

    def where(self) -> str:
        """Return the largest class of inputs, by at most two conditions, on which they agree."""
        if not self.different:
            return "on all inputs that it accepts" if self.has_refused else "everywhere"
        failed = set(self.different)
        best = (0, "")
        names = list(CIRCUMSTANCES)
        for conditions in [*combinations(names, 1), *combinations(names, 2)]:
            inside = [case for case in self.known if all(CIRCUMSTANCES[name](case) for name in conditions)]
            if inside and not failed.intersection(inside) and len(inside) > best[0]:
                best = (len(inside), " and ".join(conditions))
        return best[1]
