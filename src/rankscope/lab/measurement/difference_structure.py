"""Difference structures: the axioms of Definition 1 and the scale of Theorem 1 (Ferrante, Ferro and Pontarollo 2017).

A difference structure orders the differences Delta_ab between rankings such that an interval scale exists. The axioms:

    i    the order is complete and transitive
    ii   Delta_ab <= Delta_cd implies Delta_dc <= Delta_ba
    iii  Delta_ab <= Delta_a'b' and Delta_bc <= Delta_b'c' imply Delta_ac <= Delta_a'c'
    iv   solvability: Delta_aa <= Delta_cd <= Delta_ab implies that some d' and d'' satisfy
         Delta_ad' ~ Delta_cd ~ Delta_d''b

Theorem 1: then a measure M exists with Delta_ab <= Delta_cd if and only if M(a) - M(b) <= M(c) - M(d). Everything is
checked by enumerating all rankings, so counts are exact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rankscope.arrays import AnyArray, Bools, Floats, Ints, NDArray
from rankscope.errors import SettingsError
from rankscope.lab.measurement.distances import positions
from rankscope.lab.measurement.intervals import delta, rankings
from rankscope.lab.measurement.values import Setting, merits_on_words
from rankscope.lab.rounding import magnitude, slack
from rankscope.measures import Measure, parse_many
from rankscope.result import TableResult
from rankscope.tables import Cell, Table

MAX_RANKINGS = 16
"""Axiom iii compares all pairs of triples: 16^6 sextuples take a second, 32^6 would take a minute."""

STEPS = "counted steps"
"""Scale that the proof of Theorem 1 constructs: the number of distinct differences up to that from the bottom."""

Check = tuple[int, int, tuple[int, ...] | None]
"""Number of cases and of violations, and the elements of the first violation."""


@dataclass(frozen=True)
class Structure:
    """An order of the differences between n elements.

    ``kind[a, b]`` (n, n) is the class of Delta_ab, and ``is_leq[k, l]`` (classes, classes) says whether class k is at
    most class l.
    """

    name: str
    kind: Ints
    is_leq: Bools

    @classmethod
    def from_values(cls, name: str, values: Floats) -> Structure:
        """Order differences as numbers: Delta_ab is values[a] - values[b], compared with the usual tolerance."""
        differences = values[:, None] - values
        sorted_differences = np.sort(differences.ravel())
        scale = magnitude(values)
        lowest = sorted_differences[
            np.concatenate([[True], np.diff(sorted_differences) > slack(sorted_differences[:-1], scale)])
        ]
        kind = np.searchsorted(lowest - slack(lowest, scale), differences, side="right") - 1
        return cls(name, kind, np.asarray(lowest[:, None] <= lowest + slack(lowest, scale)))

    @classmethod
    def from_vectors(cls, name: str, grades: NDArray[np.int8]) -> Structure:
        """Order difference vectors: one is at most another if it is at most as large at every rank."""
        vectors = np.array([[delta(b, a) for b in grades] for a in grades])
        distinct, kind = np.unique(vectors.reshape(-1, vectors.shape[-1]), axis=0, return_inverse=True)
        is_leq = np.asarray((distinct[:, None] <= distinct).all(axis=-1))
        return cls(name, kind.reshape(vectors.shape[:2]), is_leq)

    @cached_property
    def quadruples(self) -> Bools:
        """Whether Delta_ab <= Delta_cd, by a, b, c, d (n, n, n, n)."""
        return np.asarray(self.is_leq[self.kind[:, :, None, None], self.kind])

    def complete(self) -> Check:
        """Axiom i: of two differences one is at most the other. Proper intervals come first as counterexamples."""
        either = self.quadruples | self.quadruples.transpose(2, 3, 0, 1)
        proper = self.is_leq[self.kind[0, 0]][self.kind]
        shown = ~either & proper[:, :, None, None] & proper
        return either.size, int((~either).sum()), _first(shown if shown.any() else ~either)

    def transitive(self) -> Check:
        """Axiom i: Delta_ab <= Delta_cd <= Delta_ef implies Delta_ab <= Delta_ef, counted by distinct differences."""
        below = self.is_leq[:, :, None] & self.is_leq
        broken = below & ~self.is_leq[:, None, :]
        first = _first(broken)
        elements = first and tuple(int(i) for k in first for i in np.argwhere(self.kind == k)[0])
        return int(below.sum()), int(broken.sum()), elements

    def reversible(self) -> Check:
        """Axiom ii."""
        broken = self.quadruples & ~self.quadruples.transpose(3, 2, 1, 0)
        return int(self.quadruples.sum()), int(broken.sum()), _first(broken)

    def additive(self) -> Check:
        """Axiom iii, by the distinct triples of differences."""
        n = len(self.kind)
        a, b, c = (index.ravel() for index in np.indices((n, n, n)))
        triples = np.stack([self.kind[a, b], self.kind[b, c], self.kind[a, c]], axis=1)
        distinct, where, count = np.unique(triples, axis=0, return_index=True, return_counts=True)
        cases = violations = 0
        first = None
        for row, weight, source in zip(distinct, count, where, strict=True):
            premise = self.is_leq[row[0], distinct[:, 0]] & self.is_leq[row[1], distinct[:, 1]]
            broken = premise & ~self.is_leq[row[2], distinct[:, 2]]
            cases += int(weight * count[premise].sum())
            violations += int(weight * count[broken].sum())
            if first is None and broken.any():
                other = where[np.argmax(broken)]
                first = tuple(int(x[i]) for i in (source, other) for x in (a, b, c))
        return cases, violations, first

    def solvable(self) -> Check:
        """Axiom iv: every difference no larger than Delta_ab can be laid off from a downwards and from b upwards."""
        same = self.is_leq & self.is_leq.T
        down = np.asarray(same[self.kind].any(axis=1))  # (a, class): some d' has Delta_ad' in the class
        up = np.asarray(same[self.kind].any(axis=0))  # (b, class): some d'' has Delta_d''b in the class
        zero = self.kind[0, 0]
        premise = self.is_leq[zero][self.kind] & self.quadruples.transpose(2, 3, 0, 1)
        broken = premise & ~(down[:, self.kind][:, None] & up[:, self.kind][None])
        return int(premise.sum()), int(broken.sum()), _first(broken)

    def represented(self, other: Structure) -> Check:
        """Theorem 1: Delta_ab <= Delta_cd in this structure if and only if in the other one."""
        broken = self.quadruples != other.quadruples
        return broken.size, int(broken.sum()), _first(broken)

    def step_structure(self) -> Structure:
        """Return the structure of the scale that counts the distinct positive differences up to that to the bottom."""
        bottom = int(np.argmax((self.is_leq[self.kind, self.kind[0, 0]]).sum(axis=1)))
        zero = self.kind[0, 0]
        positive = self.is_leq[zero] & ~self.is_leq[:, zero]
        steps = (self.is_leq & positive[:, None]).sum(axis=0)
        return Structure.from_values(STEPS, steps[self.kind[:, bottom]].astype(np.float64))


AXIOMS: dict[str, tuple[Callable[[Structure], Check], str]] = {
    "i (complete)": (Structure.complete, "neither D({0},{1}) <= D({2},{3}) nor the reverse"),
    "i (transitive)": (
        Structure.transitive,
        "D({0},{1}) <= D({2},{3}) <= D({4},{5}), but not D({0},{1}) <= D({4},{5})",
    ),
    "ii": (Structure.reversible, "D({0},{1}) <= D({2},{3}), but not D({3},{2}) <= D({1},{0})"),
    "iii": (
        Structure.additive,
        "D({0},{1}) <= D({3},{4}) and D({1},{2}) <= D({4},{5}), but not D({0},{2}) <= D({3},{5})",
    ),
    "iv (solvability)": (
        Structure.solvable,
        "D({2},{3}) <= D({0},{1}), but no ranking is D({2},{3}) below {0}, or none is that much above {1}",
    ),
}
"""Axioms of Definition 1: the check, and the text of a counterexample. D(a,b) is Delta_ab."""


def difference_structure(
    measures: str | Measure | Iterable[str | Measure], length: int = 4, *, relevant: int | None = None
) -> TableResult:
    """Check the axioms of a difference structure on all rankings of a length.

    The structures are the difference vectors of Definition 2, the natural distances of weak and of strong
    top-heaviness, and the differences of each measure. Table ``axioms`` has one row per structure and axiom: ``cases``
    counts the tuples of rankings that satisfy the premise, ``violations`` those that violate the conclusion, and
    ``counterexample`` is the first of them. Table ``representations`` checks Theorem 1: whether the scale that counts
    steps represents a structure, and which of the measures represent the three structures that do not depend on them.

    Parameters
    ----------
    measures
        Measures or their names.
    length
        Length of the rankings; there may be at most 16 of them.
    relevant
        Recall base of the topic; the length unless set.

    Returns
    -------
    TableResult
        Tables ``axioms`` and ``representations``.

    References
    ----------
    Ferrante, Ferro and Pontarollo 2017, Definition 1 and Theorem 1.

    Examples
    --------
    >>> found = difference_structure("AP RBP(p=0.5)", length=2)
    >>> [(r["structure"], r["violations"]) for r in found["axioms"].records() if r["axiom"].startswith("iv")][2:]
    [('strong top-heaviness', 0), ('order of AP', 9), ('order of RBP(p=0.5)', 0)]
    """
    parsed = parse_many(measures)
    setting = Setting.from_arguments(length, relevant)
    grades = rankings(length) if length <= MAX_RANKINGS else np.empty((0, 0), np.int8)
    codes = np.flatnonzero(grades.sum(axis=1) <= setting.relevant)
    if not 1 <= len(codes) <= MAX_RANKINGS:
        hint = f"there may be at most {MAX_RANKINGS}, as at length 4"
        raise SettingsError(f"too many rankings to enumerate the axioms {setting}", hint=hint)
    scores = [
        Structure.from_values(str(m), merits_on_words(m, length, setting.relevant)[codes]) for m in parsed
    ]
    structures = [
        Structure.from_vectors("difference vectors", grades[codes]),
        Structure.from_values("weak top-heaviness", positions(length, "weak")[codes].astype(np.float64)),
        Structure.from_values("strong top-heaviness", positions(length, "strong")[codes].astype(np.float64)),
        *(Structure(f"order of {score.name}", score.kind, score.is_leq) for score in scores),
    ]
    names = [setting.word(int(code)) for code in codes]
    columns = ("holds", "cases", "violations", "counterexample")
    tables = (
        Table(
            "axioms", ("structure", "axiom", *columns), list(_axiom_rows(structures, names)),
            caption="Axioms of a difference structure; D(a,b) is the difference of a and b",
        ),
        Table(
            "representations", ("structure", "measure", *columns),
            list(_representation_rows(structures, scores, names)),
            caption="Whether score differences are ordered as the differences of a structure",
        ),
    )  # fmt: skip
    settings = {"measures": [str(m) for m in parsed], "length": length, "relevant": setting.relevant}
    return TableResult.from_tables(*tables, settings=settings, main=tuple(table.name for table in tables))


def _axiom_rows(structures: Sequence[Structure], names: Sequence[str]) -> Iterator[tuple[Cell, ...]]:
    for structure in structures:
        for axiom, (check, text) in AXIOMS.items():
            yield (structure.name, axiom, *_cells(check(structure), text, names))


def _representation_rows(
    structures: Sequence[Structure], scores: Sequence[Structure], names: Sequence[str]
) -> Iterator[tuple[Cell, ...]]:
    text = "D({0},{1}) and D({2},{3}) are ordered differently"
    for structure in structures:
        others = () if structure.name.startswith("order of ") else scores
        for score in (structure.step_structure(), *others):
            yield (structure.name, score.name, *_cells(structure.represented(score), text, names))


def _cells(check: Check, text: str, names: Sequence[str]) -> tuple[Cell, ...]:
    cases, violations, elements = check
    example = None if elements is None else text.format(*(names[i] for i in elements))
    return violations == 0, cases, violations, example


def _first(mask: AnyArray) -> tuple[int, ...] | None:
    """Return the indices of the first true entry, or None."""
    return tuple(map(int, np.unravel_index(np.argmax(mask), mask.shape))) if mask.any() else None
