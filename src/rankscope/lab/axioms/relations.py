"""Properties of measures by name: relations between rankings that a measure should respect.

Each has a sentence and a function that yields the related pairs of rankings (``pairs``, ``expectations``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from rankscope.lab.axioms import expectations, pairs
from rankscope.lab.axioms.pairs import Pairs, Relation
from rankscope.lab.rankings.tree import Tree


def _induced(tree: Tree, first: int) -> Iterator[Pairs]:
    from rankscope.lab.axioms.induction import induced_pairs

    for low, high in induced_pairs(tree):
        yield Pairs(low, high)


def _step_by_step(tree: Tree, low: str, high: str) -> str:
    from rankscope.lab.axioms.induction import shortest_path

    return "yet " + " <= ".join(shortest_path(tree, low, high)) + ", step by step"


_ALBAHEM = "Albahem et al. 2018"
_FERRANTE = "Ferrante et al. 2015"
_AMIGO = "Amigó et al. 2013"
_MOFFAT = "Moffat 2013"

_RELATIONS = (
    Relation(
        "relevance monotonicity",
        "S <= S r: appending a relevant document does not lower the score",
        "appending a relevant document lowered the score",
        pairs.append_relevant,
        local=True,
        near=True,
        short="+r",
        reference=_ALBAHEM,
    ),
    Relation(
        "irrelevance monotonicity",
        "S x <= S: appending a non-relevant document does not raise the score",
        "appending a non-relevant document raised the score",
        pairs.append_nonrelevant,
        local=True,
        near=True,
        short="+x",
        reference=_ALBAHEM,
    ),
    Relation(
        "redundancy",
        "S p <= S n: a document of aspects already covered gains no more than the same of new aspects",
        "a document of an aspect already covered gained more than one of a new aspect",
        pairs.append_redundant,
        local=True,
        near=True,
        needs_aspects=True,
        short="Red",
        reference=_ALBAHEM,
    ),
    Relation(
        "induced",
        "everything that follows from the three properties above, step by step",
        "the second ranking is at least as good, step by step, and scored less",
        _induced,
        tell=_step_by_step,
        short="Ind",
        reference=_ALBAHEM,
    ),
    Relation(
        "swap",
        "exchanging a document with a more relevant one further down does not lower the score",
        "moving a more relevant document up lowered the score",
        pairs.swap,
        short="Swap",
        reference=_FERRANTE,
    ),
    Relation(
        "replacement",
        "replacing a document by a more relevant one does not lower the score",
        "replacing a document by a more relevant one lowered the score",
        pairs.replace,
        short="Repl",
        reference=_FERRANTE,
    ),
    Relation(
        "priority",
        "exchanging a document with a more relevant one right below raises the score",
        "moving a more relevant document up by one rank did not raise the score",
        expectations.swap_neighbours,
        strict=True,
        short="Prio",
        reference=_AMIGO,
    ),
    Relation(
        "deepness",
        "of two equal exchanges of neighbours the one nearer to the top raises the score more",
        "the exchange further down raised the score at least as much as the one nearer to the top",
        expectations.swap_deeper,
        strict=True,
        short="Deep",
        reference=_AMIGO,
    ),
    Relation(
        "deepness threshold",
        "where n is large, one relevant document at the top raises the score more than n after n non-relevant ones",
        "n relevant documents after n non-relevant ones raised the score as much as one at the top, large as n is",
        expectations.NamedPairs(expectations.far_down),
        strict=True,
        words=expectations.far_down,
        short="DeTh",
        reference=_AMIGO,
    ),
    Relation(
        "closeness threshold",
        "for some n, n relevant documents after n non-relevant ones raise the score more than one at the top",
        "n relevant documents after n non-relevant ones did not raise the score more than one at the top, for any n",
        expectations.NamedPairs(expectations.near_the_top),
        strict=True,
        some=True,
        words=expectations.near_the_top,
        short="ClTh",
        reference=_AMIGO,
    ),
    Relation(
        "confidence",
        "S x < S: appending a non-relevant document to a ranking with a relevant one lowers the score",
        "appending a non-relevant document did not lower the score",
        expectations.append_after_relevant,
        local=True,
        near=True,
        strict=True,
        short="Conf",
        reference=_AMIGO,
    ),
    Relation(
        "monotonicity",
        "S <= S d: appending any document does not lower the score",
        "appending a document lowered the score",
        expectations.append_any,
        local=True,
        near=True,
        short="Mono",
        reference=_MOFFAT,
    ),
    Relation(
        "convergence",
        "replacing a document by a more relevant one raises the score",
        "replacing a document by a more relevant one did not raise the score",
        pairs.replace,
        strict=True,
        short="Conv",
        reference=_MOFFAT,
    ),
    Relation(
        "top-weightedness",
        "exchanging a document with a more relevant one further down raises the score",
        "moving a more relevant document up did not raise the score",
        pairs.swap,
        strict=True,
        short="TopW",
        reference=_MOFFAT,
    ),
    Relation(
        "boundedness",
        "every score lies between 0 and 1",
        "the score does not lie between 0 and 1",
        expectations.identical_pairs,
        local=True,
        near=True,
        within=(0.0, 1.0),
        short="0-1",
        reference=_MOFFAT,
    ),
)

RELATIONS: dict[str, Relation] = {relation.name: relation for relation in _RELATIONS}
"""Every relation by its name."""


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

    return Relation(label, meaning, broken or f"this breaks: {meaning}", _FunctionPairs(function))


@dataclass(frozen=True)
class _FunctionPairs:
    """Pairs of a user-defined function, which is called for every ranking."""

    function: Callable[[str], Iterable[tuple[str, str]]]

    def __call__(self, tree: Tree, first: int) -> Iterator[Pairs]:
        low, high = [], []
        for word in tree.words():
            for worse, better in self.function("" if word == "-" else word):
                nodes = tree.node(worse), tree.node(better)
                if None not in nodes:
                    low.append(nodes[0])
                    high.append(nodes[1])
        yield Pairs(np.array(low, np.int64), np.array(high, np.int64))
