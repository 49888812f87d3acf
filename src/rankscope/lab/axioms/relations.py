"""Properties of measures by name: relations between rankings that a measure should respect.

Each is a function that yields the related pairs of rankings. Its docstring states the property and its violation, and
is shown to users. Most properties of Amigó et al. 2013 and Moffat 2013 are strict: moving a relevant document up must
raise the score, not only keep it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial, reduce
from inspect import cleandoc
from typing import Any, TypeVar

import numpy as np

from rankscope.lab.axioms.pairs import (
    Pairs,
    Relation,
    Stretch,
    Word,
    induced_pairs,
    level_nodes,
    nodes_with_letters,
    row,
    shortest_path,
)
from rankscope.lab.rankings.tree import Tree
from rankscope.lab.rankings.worlds import World

_ALBAHEM = "Albahem et al. 2018"
_FERRANTE = "Ferrante et al. 2015"
_AMIGO = "Amigó et al. 2013"
_MOFFAT = "Moffat 2013"

RELATIONS: dict[str, Relation] = {}
"""Every relation by its name."""

Cases = Iterator[list[tuple[Word, Word]]]
_Function = TypeVar("_Function", bound=Callable[..., Iterator[Any]])


def _declare(
    short: str, reference: str, *, explicit: bool = False, **options: Any
) -> Callable[[_Function], _Function]:
    """Add a function of pairs, or of explicit rankings, to the relations under its name, with its docstring."""

    def declare(function: _Function) -> _Function:
        name = options.pop("name", function.__name__.replace("_", " "))
        meaning, _, broken = (
            " ".join(part.split()).rstrip(".")
            for part in cleandoc(function.__doc__ or "").partition("Violation:")
        )
        pairs = partial(_explicit_pairs, words=function) if explicit else function
        words = function if explicit else None
        RELATIONS[name] = Relation(
            name, meaning, broken, pairs, words=words, short=short, reference=reference, **options
        )
        return function

    return declare


def _extensions(tree: Tree, first: int, letters: Iterable[int]) -> Iterator[tuple[Stretch, Stretch]]:
    """Yield non-empty rankings S, and their extensions S d by each of these letters."""
    for level in range(max(first, 2), tree.shape.depth + 1):
        for letter in letters:
            yield level_nodes(tree, level - 1), row(tree, level, letter)


def _relevant(world: World, is_relevant: bool = True) -> list[int]:
    """Return the letters of relevant documents, or of the others."""
    return [letter for letter, grade in enumerate(world.grades) if (grade > 0) == is_relevant]


@_declare("+r", _ALBAHEM, local=True)
def relevance_monotonicity(tree: Tree, first: int) -> Iterator[Pairs]:
    """S <= S r: appending a relevant document does not lower the score.

    Violation: appending a relevant document lowered the score.
    """
    for ranking, extended in _extensions(tree, first, _relevant(tree.world)):
        yield Pairs(ranking, extended)


@_declare("+x", _ALBAHEM, local=True)
def irrelevance_monotonicity(tree: Tree, first: int) -> Iterator[Pairs]:
    """S x <= S: appending a non-relevant document does not raise the score.

    Violation: appending a non-relevant document raised the score.
    """
    for ranking, extended in _extensions(tree, first, _relevant(tree.world, False)):
        yield Pairs(extended, ranking)


@_declare("Red", _ALBAHEM, local=True, needs_aspects=True)
def redundancy(tree: Tree, first: int) -> Iterator[Pairs]:
    """S p <= S n: a document of aspects already covered gains no more than the same of new aspects.

    Violation: a document of an aspect already covered gained more than one of a new aspect.
    """
    kinds = tree.world.kinds
    covered = [tree.count_letters([kind[a] > 0 for kind in kinds]) > 0 for a in range(tree.world.aspects)]
    fitting = []
    for old, new, seen, unseen in tree.world.redundant_pairs:
        where = reduce(np.logical_and, [covered[a] for a in seen])
        fitting.append((old, new, reduce(np.greater, [covered[a] for a in unseen], where)))
    for level in range(max(first, 2), tree.shape.depth + 1):
        parents = slice(tree.shape.starts[level - 1], tree.shape.starts[level])
        for old, new, where in fitting:
            if where[parents].any():
                yield Pairs(row(tree, level, old), row(tree, level, new), where[parents])


def _step_by_step(tree: Tree, low: str, high: str) -> str:
    return "yet " + " <= ".join(shortest_path(tree, low, high)) + ", step by step"


@_declare("Ind", _ALBAHEM, tell=_step_by_step)
def induced(tree: Tree, first: int) -> Iterator[Pairs]:
    """everything that follows from the three properties above, step by step.

    Violation: the second ranking is at least as good, step by step, and scored less.
    """
    for low, high in induced_pairs(tree):
        yield Pairs(low, high)


@_declare("Swap", _FERRANTE)
def swap(tree: Tree, first: int, farthest: int | None = None) -> Iterator[Pairs]:
    """exchanging a document with a more relevant one further down does not lower the score.

    Violation: moving a more relevant document up lowered the score.
    """
    for level in range(max(first, 2), tree.shape.depth + 1):
        for upper in range(1, level):
            for lower in range(upper + 1, min(level, upper + (farthest or level)) + 1):
                for worse, better in tree.world.better_pairs:
                    yield Pairs(
                        nodes_with_letters(tree, level, {upper: worse, lower: better}),
                        nodes_with_letters(tree, level, {upper: better, lower: worse}),
                    )


@_declare("Repl", _FERRANTE)
def replacement(tree: Tree, first: int) -> Iterator[Pairs]:
    """replacing a document by a more relevant one does not lower the score.

    Violation: replacing a document by a more relevant one lowered the score.
    """
    for level in range(max(first, 1), tree.shape.depth + 1):
        for rank in range(1, level + 1):
            for worse, better in tree.world.better_pairs:
                yield Pairs(
                    nodes_with_letters(tree, level, {rank: worse}),
                    nodes_with_letters(tree, level, {rank: better}),
                )


@_declare("Prio", _AMIGO, strict=True)
def priority(tree: Tree, first: int) -> Iterator[Pairs]:
    """exchanging a document with a more relevant one right below raises the score.

    Violation: moving a more relevant document up by one rank did not raise the score.
    """
    return swap(tree, first, farthest=1)


@_declare("Deep", _AMIGO, strict=True)
def deepness(tree: Tree, first: int) -> Iterator[Pairs]:
    """of two equal exchanges of neighbours the one nearer to the top raises the score more.

    Violation: the exchange further down raised the score at least as much as the one nearer to the top.
    """
    for level in range(max(first, 4), tree.shape.depth + 1):
        for upper in range(1, level - 2):
            for lower in range(upper + 2, level):
                for worse, better in tree.world.better_pairs:
                    wrong, right = (worse, better), (better, worse)
                    yield Pairs(
                        nodes_with_letters(tree, level, _pairwise(upper, wrong, lower, right)),
                        nodes_with_letters(tree, level, _pairwise(upper, right, lower, wrong)),
                    )


def _pairwise(upper: int, above: Word, lower: int, below: Word) -> dict[int, int]:
    return {upper: above[0], upper + 1: above[1], lower: below[0], lower + 1: below[1]}


def _explicit_pairs(tree: Tree, first: int, words: Callable[[World, int], Cases]) -> Iterator[Pairs]:
    """Yield one ``Pairs`` per case of a relation that names its rankings, as nodes of a tree that contains them."""
    for case in words(tree.world, tree.shape.depth):
        word = tree.world.word
        pairs = [[tree.find_node(word(w)) for w in pair] for pair in case if len(pair[0]) >= first]
        nodes = np.array(pairs, np.int64).reshape(-1, 2)
        yield Pairs(nodes[:, 0], nodes[:, 1])


def _first_and_last(world: World, depth: int) -> Cases:
    """Yield, per kind, pairs for every n: one relevant document at the top, and n of them after n others.

    >>> from rankscope.lab.rankings.worlds import graded_world
    >>> list(_first_and_last(graded_world(1, relevant=4, nonrelevant=4), 4))
    [[((1, 0), (0, 1)), ((1, 0, 0, 0), (0, 0, 1, 1))]]
    """
    for r in _relevant(world):
        for x in _relevant(world, False):
            max_n = min(depth // 2, world.judged[r], (world.judged[x] + 1) // 2)
            yield [((r, *(x,) * (2 * n - 1)), (x,) * n + (r,) * n) for n in range(1, max_n + 1)]


@_declare("DeTh", _AMIGO, strict=True, explicit=True)
def deepness_threshold(world: World, depth: int) -> Cases:
    """where n is large, one relevant document at the top raises the score more than n after n non-relevant ones.

    Violation: n relevant documents after n non-relevant ones raised the score as much as one at the top, large as n
    is.
    """
    for case in _first_and_last(world, depth):
        yield [pair[::-1] for pair in case[-1:]]


@_declare("ClTh", _AMIGO, strict=True, some=True, explicit=True)
def closeness_threshold(world: World, depth: int) -> Cases:
    """for some n, n relevant documents after n non-relevant ones raise the score more than one at the top.

    Violation: n relevant documents after n non-relevant ones did not raise the score more than one at the top, for any
    n.
    """
    return _first_and_last(world, depth)


@_declare("Conf", _AMIGO, local=True, strict=True)
def confidence(tree: Tree, first: int) -> Iterator[Pairs]:
    """S x < S: appending a non-relevant document to a ranking with a relevant one lowers the score.

    Violation: appending a non-relevant document did not lower the score.
    """
    has_relevant = tree.relevant().count > 0
    for ranking, extended in _extensions(tree, first, _relevant(tree.world, False)):
        yield Pairs(extended, ranking, ranking.select(has_relevant))


@_declare("Mono", _MOFFAT, local=True)
def monotonicity(tree: Tree, first: int) -> Iterator[Pairs]:
    """S <= S d: appending any document does not lower the score.

    Violation: appending a document lowered the score.
    """
    for ranking, extended in _extensions(tree, first, range(len(tree.world))):
        yield Pairs(ranking, extended)


@_declare("Conv", _MOFFAT, strict=True)
def convergence(tree: Tree, first: int) -> Iterator[Pairs]:
    """replacing a document by a more relevant one raises the score.

    Violation: replacing a document by a more relevant one did not raise the score.
    """
    return replacement(tree, first)


@_declare("TopW", _MOFFAT, strict=True, name="top-weightedness")
def top_weightedness(tree: Tree, first: int) -> Iterator[Pairs]:
    """exchanging a document with a more relevant one further down raises the score.

    Violation: moving a more relevant document up did not raise the score.
    """
    return swap(tree, first)


@_declare("0-1", _MOFFAT, local=True, within=(0.0, 1.0))
def boundedness(tree: Tree, first: int) -> Iterator[Pairs]:
    """every score lies between 0 and 1.

    Violation: the score does not lie between 0 and 1.
    """
    for level in range(first, tree.shape.depth + 1):
        yield Pairs(level_nodes(tree, level), level_nodes(tree, level))


def relation(
    function: Callable[[str], Iterable[tuple[str, str]]],
    *,
    name: str | None = None,
    broken: str | None = None,
) -> Relation:
    """Return a relation from a function of a ranking.

    :func:`rankscope.lab.properties` accepts such a function directly, too.

    Parameters
    ----------
    function
        Function that takes a ranking as text and yields pairs (worse, better) of rankings. Pairs with a ranking that
        is too long or has unknown letters are skipped. The first line of its docstring is the meaning of the property.
    name
        Name of the property; by default that of the function.
    broken
        Description of a violation.

    Returns
    -------
    Relation
        The property.

    Examples
    --------
    >>> def reversal(ranking):
    ...     "the ideal order does not score less than its reverse"
    ...     if list(ranking) == sorted(ranking):
    ...         yield ranking, ranking[::-1]
    >>> relation(reversal).meaning
    'the ideal order does not score less than its reverse'
    """
    label = name or getattr(function, "__name__", "relation").replace("_", " ")
    meaning = (function.__doc__ or label).strip().split("\n")[0]

    return Relation(
        label, meaning, broken or f"this breaks: {meaning}", partial(_function_pairs, function=function)
    )


def _function_pairs(
    tree: Tree, first: int, function: Callable[[str], Iterable[tuple[str, str]]]
) -> Iterator[Pairs]:
    """Yield the pairs of a user-defined function, which is called for every ranking."""
    low, high = [], []
    for word in tree.words():
        for worse, better in function("" if word == "-" else word):
            nodes = tree.find_node(worse), tree.find_node(better)
            if None not in nodes:
                low.append(nodes[0])
                high.append(nodes[1])
    yield Pairs(np.array(low, np.int64), np.array(high, np.int64))
