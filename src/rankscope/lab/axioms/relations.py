"""Relations between rankings: pairs of which the second should not score less than the first.

Each relation is given twice: as a sentence, and as stretches of the prefix tree's arrays, so that a million pairs are
compared in one step. A relation is *local* when a pair consists of a ranking and its extension, or of two extensions of
one ranking: local ones need only a block of the tree at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rankscope.lab.rankings.tree import Tree
from rankscope.lab.rankings.worlds import World

__all__ = ["RELATIONS", "Pairs", "Relation", "Stretch", "relation"]

Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Stretch:
    """Some nodes of a tree: ``nodes[start:stop]``, seen in a shape, of which an index takes a part."""

    start: int
    stop: int
    shape: tuple[int, ...] = (-1,)
    index: tuple[Any, ...] = ()

    def of(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The values of these nodes."""
        return np.asarray(values[self.start : self.stop].reshape(self.shape)[self.index])

    def nodes(self) -> npt.NDArray[np.int64]:
        """Their numbers."""
        return np.asarray(np.arange(self.start, self.stop).reshape(self.shape)[self.index])


@dataclass(frozen=True)
class Pairs:
    """Pairs of nodes, one from each stretch, in order; only those that ``mask`` marks, if it is given."""

    low: Stretch | npt.NDArray[np.int64]
    high: Stretch | npt.NDArray[np.int64]
    mask: Bools | None = None

    def of(
        self, values: npt.NDArray[Any], highs: npt.NDArray[Any] | None = None
    ) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """The values of the lower and of the higher rankings, the latter from ``highs`` if it is given."""
        highs = values if highs is None else highs
        low = self.low.of(values) if isinstance(self.low, Stretch) else values[self.low]
        high = self.high.of(highs) if isinstance(self.high, Stretch) else highs[self.high]
        return (low, high) if self.mask is None else (low[self.mask], high[self.mask])

    def nodes(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """The numbers of the lower and of the higher rankings."""
        low = self.low.nodes() if isinstance(self.low, Stretch) else self.low
        high = self.high.nodes() if isinstance(self.high, Stretch) else self.high
        return (low, high) if self.mask is None else (low[self.mask], high[self.mask])


@dataclass(frozen=True)
class Relation:
    """A property that a measure may have: ``score(low) <= score(high)`` for all its pairs.

    Where lower scores are better (``measure.better``) it is ``>=``, and what ``meaning`` and ``broken`` say of lowering
    and raising is said the other way round.

    ``pairs(tree, first)`` yields them for the rankings whose length is at least ``first`` (0: all). ``broken`` says
    what happened where a measure breaks it; ``tell(tree, low, high)``, if given, says it for two rankings.
    """

    name: str
    meaning: str
    broken: str
    pairs: Callable[[Tree, int], Iterator[Pairs]]
    local: bool = False
    needs_aspects: bool = False
    tell: Callable[[Tree, str, str], str] | None = None


def _level(tree: Tree, level: int) -> Stretch:
    return Stretch(tree.shape.starts[level], tree.shape.starts[level + 1])


def _row(tree: Tree, level: int, letter: int) -> Stretch:
    row = tree.shape.row(level, letter)
    return Stretch(row.start, row.stop)


def _levels(tree: Tree, first: int) -> range:
    """The lengths of extensions of rankings that are not empty."""
    return range(max(first, 2), tree.shape.depth + 1)


def _relevant(world: World) -> list[int]:
    return [letter for letter, grade in enumerate(world.grades) if grade > 0]


def _nonrelevant(world: World) -> list[int]:
    return [letter for letter, grade in enumerate(world.grades) if grade <= 0]


def _append_relevant(tree: Tree, first: int) -> Iterator[Pairs]:
    for level in _levels(tree, first):
        for letter in _relevant(tree.world):
            yield Pairs(_level(tree, level - 1), _row(tree, level, letter))


def _append_nonrelevant(tree: Tree, first: int) -> Iterator[Pairs]:
    for level in _levels(tree, first):
        for letter in _nonrelevant(tree.world):
            yield Pairs(_row(tree, level, letter), _level(tree, level - 1))


def _append_redundant(tree: Tree, first: int) -> Iterator[Pairs]:
    covered = (tree.by_aspect.lists.relevant().count > 0).reshape(tree.world.aspects, -1)
    for level in _levels(tree, first):
        parents = covered[:, tree.shape.starts[level - 1] : tree.shape.starts[level]]
        for old, new, seen, unseen in tree.world.redundant:
            mask = np.asarray(parents[list(seen)].all(axis=0) & ~parents[list(unseen)].any(axis=0))
            yield Pairs(_row(tree, level, old), _row(tree, level, new), mask)


def _swap(tree: Tree, first: int) -> Iterator[Pairs]:
    letters = len(tree.world)
    for level in range(max(first, 2), tree.shape.depth + 1):
        whole = _level(tree, level)
        for upper in range(1, level):
            for lower in range(upper + 1, level + 1):
                gap = lower - upper - 1
                shape = (letters ** (level - lower), letters, letters**gap, letters, letters ** (upper - 1))
                for worse, better in tree.world.better:
                    low = (slice(None), better, slice(None), worse, slice(None))
                    high = (slice(None), worse, slice(None), better, slice(None))
                    yield Pairs(
                        Stretch(whole.start, whole.stop, shape, low),
                        Stretch(whole.start, whole.stop, shape, high),
                    )


def _replace(tree: Tree, first: int) -> Iterator[Pairs]:
    letters = len(tree.world)
    for level in range(max(first, 1), tree.shape.depth + 1):
        whole = _level(tree, level)
        for rank in range(1, level + 1):
            shape = (letters ** (level - rank), letters, letters ** (rank - 1))
            for worse, better in tree.world.better:
                yield Pairs(
                    Stretch(whole.start, whole.stop, shape, (slice(None), worse, slice(None))),
                    Stretch(whole.start, whole.stop, shape, (slice(None), better, slice(None))),
                )


def _induced(tree: Tree, first: int) -> Iterator[Pairs]:
    from rankscope.lab.axioms.induction import induced_pairs

    for low, high in induced_pairs(tree):
        yield Pairs(low, high)


def _step_by_step(tree: Tree, low: str, high: str) -> str:
    from rankscope.lab.axioms.induction import way_up

    return "yet " + " <= ".join(way_up(tree, low, high)) + ", step by step"


RELATIONS: dict[str, Relation] = {}
"""Every relation by its name."""


def _built_in() -> None:
    for one in (
        Relation(
            "relevance monotonicity",
            "S <= S r: appending a relevant document does not lower the score",
            "appending a relevant document lowered the score",
            _append_relevant,
            local=True,
        ),
        Relation(
            "irrelevance monotonicity",
            "S x <= S: appending a non-relevant document does not raise the score",
            "appending a non-relevant document raised the score",
            _append_nonrelevant,
            local=True,
        ),
        Relation(
            "redundancy",
            "S p <= S n: a document of aspects already covered gains no more than the same of new aspects",
            "a document of an aspect already covered gained more than one of a new aspect",
            _append_redundant,
            local=True,
            needs_aspects=True,
        ),
        Relation(
            "induced",
            "everything that follows from the three properties above, step by step",
            "the second ranking is at least as good, step by step, and scored less",
            _induced,
            tell=_step_by_step,
        ),
        Relation(
            "swap",
            "exchanging a document with a more relevant one further down does not lower the score",
            "moving a more relevant document up lowered the score",
            _swap,
        ),
        Relation(
            "replacement",
            "replacing a document by a more relevant one does not lower the score",
            "replacing a document by a more relevant one lowered the score",
            _replace,
        ),
    ):
        RELATIONS[one.name] = one


_built_in()


def relation(
    function: Callable[[str], Iterable[tuple[str, str]]],
    *,
    name: str | None = None,
    broken: str | None = None,
) -> Relation:
    """A relation from a function that takes a ranking as text and yields pairs (worse, better) of rankings.

    It can be given to :func:`rankscope.lab.properties` as it is. Pairs with a ranking that is too long, or has other
    letters, are passed over.

    >>> def reversal(ranking):
    ...     "the ideal order does not score less than its reverse"
    ...     if list(ranking) == sorted(ranking):
    ...         yield ranking, ranking[::-1]
    >>> relation(reversal).meaning
    'the ideal order does not score less than its reverse'
    """
    label = name or getattr(function, "__name__", "relation").replace("_", " ")
    meaning = (function.__doc__ or label).strip().split("\n")[0]

    return Relation(label, meaning, broken or f"this breaks: {meaning}", _InWords(function))


@dataclass(frozen=True)
class _InWords:
    """The pairs of a function of the user's, found ranking by ranking."""

    function: Callable[[str], Iterable[tuple[str, str]]]

    def __call__(self, tree: Tree, first: int) -> Iterator[Pairs]:
        low, high = [], []
        for word in tree.words():
            for worse, better in self.function("" if word == "-" else word):
                places = tree.node(worse), tree.node(better)
                if None not in places:
                    low.append(places[0])
                    high.append(places[1])
        yield Pairs(np.array(low, np.int64), np.array(high, np.int64))
