"""All rankings up to a length, which of them should score at least as much as which, and where a measure disagrees.

After the trees of Albahem and others 2018, Figures 2 to 5.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rankscope.errors import SettingsError, nearest
from rankscope.plots.figure import Figure
from rankscope.plots.style import (
    COLOURS,
    DASHES,
    DOUBLE,
    INK,
    QUIET,
    SINGLE,
    blank,
    legend_below,
    short,
    styled,
)
from rankscope.tables import Cell, Table

if TYPE_CHECKING:
    from rankscope.lab.axioms.relations import Relation
    from rankscope.lab.rankings.tree import Tree
    from rankscope.measures import Measure

__all__ = ["plot_relations", "readable_depth"]

MOST = 130
"""Rankings beyond which a tree cannot be read."""

VIOLATED = "#D55E00"
_LOOKS = ((COLOURS[0], DASHES[0]), (QUIET, DASHES[1]), (COLOURS[2], DASHES[2]), (COLOURS[3], DASHES[3]))
_CROWDED = 60  # relations beyond which those that hold are drawn faintly


@dataclass(frozen=True)
class _Edge:
    relation: int
    low: int
    high: int
    violated: bool


def plot_relations(
    measure: str | Measure | None = None,
    *,
    aspects: int | None = None,
    grades: int | None = None,
    depth: int = 2,
    relevant: int = 10,
    nonrelevant: int = 10,
    weights: Sequence[float] | None = None,
    properties: Sequence[str] | None = None,
    width: float | None = None,
) -> Figure:
    """The prefix tree of all rankings with an arrow from each to those that should not score less.

    With a ``measure`` every ranking shows its score, and arrows against which the measure scores are thick, red and
    crossed. The settings are those of :func:`rankscope.lab.properties`; ``properties`` names the relations drawn, by
    default the single steps of the case analysis.

    >>> figure = plot_relations("ACT", depth=3, properties=["irrelevance monotonicity"])
    >>> ("abx", "ab") in {(row[1], row[2]) for row in figure.table.rows if row[5]}
    True
    """
    tree = _tree(aspects, grades, depth, relevant, nonrelevant, weights)
    relations = _relations(tree, properties)
    scores, name = _scores(tree, measure)
    edges = list(_edges(tree, relations, scores))
    words = tree.words()
    size = (SINGLE if len(words) <= 20 else DOUBLE) if width is None else width
    places = _places(words, tree.world.labels)
    with styled():
        leaves = len({round(y, 6) for _, y in places if y == int(y)})
        figure = blank(size, 0.75 + 0.2 * leaves + 0.16 * ((len(relations) + 1) // 2))
        axes = figure.subplots()
        half = 0.11 if measure is None else 0.2
        _draw_nodes(axes, words, places, scores, half)
        for edge in edges:
            _draw_edge(axes, edge, places, half, faint=len(edges) > _CROWDED)
        axes.set_xlim(-0.3, depth + 0.45)
        axes.set_ylim(max(y for _, y in places) + 0.7, -0.7)
        axes.axis("off")
        wrong = sum(edge.violated for edge in edges)
        found = "" if measure is None else f"{short(name, 40)}: {wrong:,} of {len(edges):,} violated"
        found = found or f"{len(words):,} rankings, {len(edges):,} relations"
        axes.set_title(f"{found}\narrows lead to rankings that should not score less", fontsize=7.5)
        legend_below(figure, _legend(relations, wrong > 0), 2 if size < 5 else 3)
    return Figure(figure, (axes,), _table(edges, relations, words, scores, name))


def readable_depth(letters: int) -> int:
    """How long the rankings over so many letters may be for their tree to be readable.

    >>> readable_depth(3), readable_depth(2)
    (4, 6)
    """
    depth, number = 0, 1
    while number + letters ** (depth + 1) <= MOST:
        depth += 1
        number += letters**depth
    return depth


def _tree(
    aspects: int | None,
    grades: int | None,
    depth: int,
    relevant: int,
    nonrelevant: int,
    weights: Sequence[float] | None,
) -> Tree:
    from rankscope.lab.rankings.enumeration import number_of_rankings
    from rankscope.lab.rankings.tree import Tree
    from rankscope.lab.rankings.worlds import aspect_world, graded_world

    if aspects is not None and grades is not None:
        raise SettingsError(
            "both aspects and grades", hint="rankings have either aspects or grades; give one of them"
        )
    if grades is None:
        world = aspect_world(
            2 if aspects is None else aspects, relevant=relevant, nonrelevant=nonrelevant, weights=weights
        )
    else:
        world = graded_world(grades, relevant=relevant, nonrelevant=nonrelevant)
    number = number_of_rankings(len(world), depth) if depth >= 1 else 0
    if not 1 <= number <= MOST:
        raise SettingsError(
            f"a tree of depth {depth} has {number:,} rankings", hint=f"choose a depth with at most {MOST}"
        )
    return Tree(world, depth)


def _relations(tree: Tree, properties: Sequence[str] | None) -> list[Relation]:
    from rankscope.lab.axioms.relations import RELATIONS

    graded = max(tree.world.aspect) < 0
    steps = ("relevance monotonicity", "irrelevance monotonicity", "swap" if graded else "redundancy")
    chosen = []
    for name in steps if properties is None else properties:
        if name not in RELATIONS:
            raise SettingsError(f"there is no property {name!r}", hint=nearest(name, RELATIONS) or None)
        if RELATIONS[name].needs_aspects and graded:
            raise SettingsError(f"{name} needs aspects", hint="give aspects=2 instead of grades")
        chosen.append(RELATIONS[name])
    return chosen


def _scores(tree: Tree, measure: str | Measure | None) -> tuple[Any, str]:
    if measure is None:
        return np.full(tree.shape.size, np.nan), ""
    from rankscope.lab.rankings.enumeration import Evaluator
    from rankscope.measures.grammar import parse

    chosen = parse(measure) if isinstance(measure, str) else measure
    return np.asarray(Evaluator(chosen, tree.world).of(tree), np.float64), str(chosen)


def _edges(tree: Tree, relations: Sequence[Relation], scores: Any) -> Iterator[_Edge]:
    from rankscope.lab.rounding import exceeded_by, magnitude

    limits = exceeded_by(scores, magnitude(scores))
    possible = _possible(tree)
    for number, relation in enumerate(relations):
        for pairs in relation.pairs(tree, 0):
            low, high = (np.ravel(nodes) for nodes in pairs.nodes())
            both = possible[low] & possible[high]
            low, high = low[both], high[both]
            wrong = scores[low] > limits[high]
            yield from (
                _Edge(number, *found)
                for found in zip(low.tolist(), high.tolist(), wrong.tolist(), strict=True)
            )


def _possible(tree: Tree) -> Any:
    """Whether there are enough judged documents for a ranking; aspects are not limited, as in the case analysis."""
    world = tree.world
    if max(world.aspect) >= 0:
        return np.ones(tree.shape.size, np.bool_)
    kinds = list(zip(world.labels, world.judged, strict=True))
    return np.array([all(word.count(label) <= judged for label, judged in kinds) for word in tree.words()])


def _places(words: list[str], labels: Sequence[str]) -> list[tuple[float, float]]:
    """Column (length) and row of every ranking: the longest below each other, the others in the middle of theirs."""
    spelt = ["" if word == "-" else word for word in words]
    deepest = max(map(len, spelt))
    leaves = sorted((w for w in spelt if len(w) == deepest), key=lambda w: [labels.index(c) for c in w])
    rows = {word: float(row) for row, word in enumerate(leaves)}

    def row(word: str) -> float:
        if word not in rows:
            rows[word] = float(np.mean([row(word + label) for label in labels]))
        return rows[word]

    return [(float(len(word)), row(word)) for word in spelt]


def _draw_nodes(
    axes: Any, words: list[str], places: list[tuple[float, float]], scores: Any, half: float
) -> None:
    (x0, y0) = places[0]
    for x, y in places:
        if x == x0 + 1:  # nothing is said about the empty ranking: plain lines show where the tree begins
            axes.plot([x0 + half, x - half], [y0, y], color="#dddddd", linewidth=0.7, zorder=1)
    for word, (x, y), score in zip(words, places, scores.tolist(), strict=True):
        text = "∅" if word == "-" else word
        shown = f"{text}  {score:.3f}" if np.isfinite(score) else text
        axes.text(x, y, shown, ha="center", va="center", fontsize=7, gid=word, zorder=4)


def _draw_edge(
    axes: Any, edge: _Edge, places: list[tuple[float, float]], half: float, *, faint: bool
) -> None:
    from matplotlib.patches import FancyArrowPatch
    from matplotlib.path import Path

    colour, dash = (VIOLATED, "solid") if edge.violated else _LOOKS[edge.relation % len(_LOOKS)]
    (x0, y0), (x1, y1) = places[edge.low], places[edge.high]
    if x0 == x1:
        start, end = (x0 + half, y0), (x1 + half, y1)
        bend = (x0 + half + 0.1 + min(0.25, 0.06 * abs(y1 - y0)), (y0 + y1) / 2)
    else:
        side = half if x1 > x0 else -half
        start, end = (x0 + side, y0), (x1 - side, y1)
        bend = ((start[0] + end[0]) / 2, (start[1] + end[1]) / 2)
    axes.add_patch(
        FancyArrowPatch(
            path=Path([start, bend, end], [Path.MOVETO, Path.CURVE3, Path.CURVE3]), arrowstyle="-|>", mutation_scale=6,
            color=colour, linestyle=dash, linewidth=1.5 if edge.violated else 0.45 if faint else 0.8,
            zorder=3 if edge.violated else 2, shrinkA=0, shrinkB=0, clip_on=False,
        )
    )  # fmt: skip
    if edge.violated:
        middle = [0.25 * a + 0.5 * b + 0.25 * c for a, b, c in zip(start, bend, end, strict=True)]
        axes.plot(*middle, marker="x", markersize=5, markeredgewidth=1.3, color=INK, zorder=5, clip_on=False)


def _legend(relations: Sequence[Relation], violated: bool) -> list[Any]:
    from matplotlib.lines import Line2D

    handles = [
        Line2D(
            [],
            [],
            color=_LOOKS[n % len(_LOOKS)][0],
            linestyle=_LOOKS[n % len(_LOOKS)][1],
            linewidth=1,
            label=one.name,
        )
        for n, one in enumerate(relations)
    ]
    if violated:
        handles.append(
            Line2D(
                [],
                [],
                color=VIOLATED,
                linewidth=1.5,
                marker="x",
                markeredgecolor=INK,
                markersize=5,
                label="violated",
            )
        )
    return handles


def _table(
    edges: list[_Edge], relations: Sequence[Relation], words: list[str], scores: Any, name: str
) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (
            relations[edge.relation].name, words[edge.low], words[edge.high], float(scores[edge.low]),
            float(scores[edge.high]), edge.violated,
        )
        for edge in edges
    ]  # fmt: skip
    columns = ("property", "low", "high", "low_score", "high_score", "violated")
    return Table("relations", columns, rows, caption=name or "Related rankings")
