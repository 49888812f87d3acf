"""Inputs that distinguish definitions: every short ranking and a few long ones, the shortest first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import permutations, product
from typing import NamedTuple

CUTOFFS = (1, 2, 3, 5, 10, 20, 100, 1000)
"""Cutoffs that can be identified."""

Grades = tuple[int | None, ...]


class Input(NamedTuple):
    """One ranking of one topic.

    ``grades`` are in the order of the file, None for an unjudged document; ``missing`` are the grades of judged
    documents that are not in the ranking; ``groups`` are the sizes of the groups of documents with equal scores, from
    the top. Within a group ids ascend in the order of the file, or ``descend``.
    """

    grades: Grades
    missing: tuple[int, ...] = ()
    groups: tuple[int, ...] = ()
    descend: bool = False

    @property
    def documents(self) -> list[str]:
        """Ids of the documents, in the order of the file."""
        size = len(self.grades)
        return [f"d{size - i if self.descend else i + 1:04d}" for i in range(size)]

    @property
    def scores(self) -> list[float]:
        """Scores of the documents: equal within a group, decreasing between groups."""
        groups = self.groups or (1,) * len(self.grades)
        return [float(len(groups) - number) for number, size in enumerate(groups) for _ in range(size)]

    @property
    def qrels(self) -> dict[str, int]:
        """Judgments of the topic."""
        listed = {d: g for d, g in zip(self.documents, self.grades, strict=True) if g is not None}
        return {**listed, **{f"m{i + 1}": g for i, g in enumerate(self.missing)}}

    @property
    def run(self) -> dict[str, float]:
        """Scores of the ranking by document."""
        return dict(zip(self.documents, self.scores, strict=True))

    @property
    def pool(self) -> list[int]:
        """Grades of all judged documents of the topic."""
        return [g for g in self.grades if g is not None] + list(self.missing)

    @property
    def is_tied(self) -> bool:
        """Whether documents of different grades have equal scores."""
        return bool(self.groups) and any(len(set(group)) > 1 for group in self.by_group())

    def by_group(self) -> Iterator[Grades]:
        """Yield the grades of each group of equal scores."""
        start = 0
        for size in self.groups or (1,) * len(self.grades):
            yield self.grades[start : start + size]
            start += size

    def __str__(self) -> str:
        """Return text such as ``list 0 (1 2) ?, missing 1``: tied documents in brackets, ? for an unjudged one."""
        shown = []
        for group in self.by_group():
            text = " ".join("?" if g is None else str(g) for g in group)
            shown.append(f"({text})" if len(group) > 1 else text)
        if len(shown) > 12:
            shown = [*shown[:5], "...", *shown[-3:], f"[{len(self.grades)} documents]"]
        listed = "list " + (" ".join(shown) or "(empty)")
        ids = ", ids descending" if self.is_tied and self.descend else ""
        return listed + ids + (f", missing {' '.join(map(str, self.missing))}" if self.missing else "")


class TopicLists(NamedTuple):
    """Arguments of a formula: the grades of a ranking, and those of all judged documents of the topic."""

    grades: Grades
    pool: tuple[int, ...]


@cache
def inputs() -> tuple[Input, ...]:
    """Return all inputs by number of documents, those without ties, unjudged documents and higher grades first."""
    return tuple(sorted(set(_generate_inputs()), key=_sort_key))


def _sort_key(case: Input) -> tuple[object, ...]:
    grades = [g for g in (*case.grades, *case.missing) if g is not None]
    return (
        len(case.grades) + len(case.missing), case.is_tied, None in case.grades, max(grades, default=0), case.missing,
        tuple(-1 if g is None else g for g in case.grades), case.groups, case.descend,
    )  # fmt: skip


def _generate_inputs() -> Iterator[Input]:
    absent: Sequence[tuple[int, ...]] = ((), (0,), (1,), (2,), (1, 1), (0, 1), (1, 2))
    for length in range(4):
        for grades in product((None, 0, 1, 2), repeat=length):
            for missing in absent:
                yield Input(grades, missing)
            for groups, missing, down in product(_compositions(length), ((), (1,)), (False, True)):
                yield Input(grades, missing, groups, down)
    for grades in product((0, 1, 2), repeat=4):
        for missing in ((), (1,), (2,)):
            yield Input(grades, missing)
    for length in (5, 6):
        for grades in product((0, 1), repeat=length):
            yield Input(grades, (1,))
    for cutoff in CUTOFFS[3:]:
        for length in (cutoff, cutoff + 1):
            yield Input((*(0,) * (length - 1), 1), (1,))
            yield Input((1, *(0,) * (length - 2), 1), (1,))
            if length < 100:
                yield Input((1,) * length, ())
                yield Input((1,) * length, (1,) * (length + 3))
                yield Input((1, *(0,) * (length - 1)), (1,))


def _compositions(length: int) -> list[tuple[int, ...]]:
    """Return the ways to split a ranking into groups of which at least one has several documents.

    >>> _compositions(3)
    [(1, 2), (2, 1), (3,)]
    """
    candidates = [parts for size in range(1, length) for parts in product(range(1, length + 1), repeat=size)]
    return sorted(parts for parts in candidates if sum(parts) == length)


def break_ties(case: Input, ties: str) -> list[Grades]:
    """Return the rankings of an input after ties are broken; for ``expected`` all possible ones.

    >>> case = Input((0, 1), groups=(2,))
    >>> break_ties(case, "descending"), break_ties(case, "file"), break_ties(case, "expected")
    ([(1, 0)], [(0, 1)], [(0, 1), (1, 0)])
    """
    groups = list(case.by_group())
    if ties == "expected":  # Every distinct order of a group is equally likely.
        orders = [sorted(set(permutations(group)), key=repr) for group in groups]
        return [tuple(g for group in order for g in group) for order in product(*orders)]
    turn = {"file": False, "descending": not case.descend, "ascending": case.descend}[ties]
    return [tuple(g for group in groups for g in (group[::-1] if turn else group))]


CIRCUMSTANCES: dict[str, Callable[[Input], bool]] = {
    "no equal scores": lambda case: not case.groups,
    "no unjudged documents in the list": lambda case: None not in case.grades,
    "some document is relevant": lambda case: any(g > 0 for g in case.pool),
    "the list is not empty": lambda case: len(case.grades) > 0,
    "the list holds all relevant documents": lambda case: not any(g > 0 for g in case.missing),
    "the list holds all judged documents": lambda case: not case.missing,
    "the list holds a relevant document": lambda case: any(g is not None and g > 0 for g in case.grades),
    "grades 0 and 1 only": lambda case: max(case.pool, default=0) <= 1,
    "lists of at most 5 documents": lambda case: len(case.grades) <= 5,
    "lists of at most 10 documents": lambda case: len(case.grades) <= 10,
    "lists of at least 10 documents": lambda case: len(case.grades) >= 10,
}
"""Classes of inputs, to describe where two definitions agree."""
