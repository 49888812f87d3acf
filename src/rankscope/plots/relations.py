"""All rankings up to a length, which of them should score at least as much as which, and where a measure disagrees.

After the trees of Albahem and others 2018, Figures 2 to 5.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rankscope.errors import SettingsError
from rankscope.lab.axioms.related import related, split_word
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
from rankscope.tables import Cell

if TYPE_CHECKING:
    from rankscope.lab.axioms.comparison import AnyRelation
    from rankscope.lab.axioms.verdicts import PropertiesResult
    from rankscope.measures import Measure
    from rankscope.result import Result

__all__ = ["plot_properties", "plot_related", "plot_relations", "readable_depth"]

MOST = 130
"""Rankings beyond which a tree cannot be read."""

VIOLATED = "#D55E00"
_LOOKS = ((COLOURS[0], DASHES[0]), (QUIET, DASHES[1]), (COLOURS[2], DASHES[2]), (COLOURS[3], DASHES[3]))
_CROWDED = 60  # relations beyond which those that hold are drawn faintly

Place = tuple[float, float]


def plot_relations(
    measure: str | Measure | None = None,
    *,
    aspects: int | None = None,
    grades: int | None = None,
    depth: int = 2,
    relevant: int = 10,
    nonrelevant: int = 10,
    weights: Sequence[float] | None = None,
    properties: Sequence[AnyRelation] | None = None,
    width: float | None = None,
) -> Figure:
    """The prefix tree of all rankings with an arrow from each to those that should not score less.

    With a ``measure`` every ranking shows its score, and arrows against which the measure scores are thick, red and
    crossed. The settings are those of :func:`rankscope.lab.related`, whose tables are drawn.

    >>> figure = plot_relations("ACT", depth=3, properties=["irrelevance monotonicity"])
    >>> ("abx", "ab") in {(row[1], row[2]) for row in figure.table.rows if row[5]}
    True
    """
    found = related(
        measure, aspects=aspects, grades=grades, depth=depth, relevant=relevant, nonrelevant=nonrelevant,
        weights=weights, properties=properties,
    )  # fmt: skip
    return plot_related(found, width=width)


def plot_properties(
    result: PropertiesResult,
    measure: str | Measure | None = None,
    *,
    depth: int | None = None,
    width: float | None = None,
) -> Figure:
    """The tree of short rankings of a case analysis, with the violations of a measure.

    The first measure that has any, unless set; as deep as its shortest counterexamples, if such a tree can be read.

    >>> import rankscope as rs
    >>> found = rs.lab.properties("ACT", aspects=1, depth=2)
    >>> plot_properties(found, depth=2).table.name
    'relations'
    """
    chosen = result.measure(measure)
    lengths = [f.shortest[0].length for f in result.findings if f.measure == chosen and f.shortest]
    letters = len(result.settings["letters"])
    shown = min(max([2, *lengths]), readable_depth(letters), int(result.settings["depth"]))
    return plot_related(result.related(chosen, shown if depth is None else depth), width=width)


def plot_related(result: Result, *, width: float | None = None) -> Figure:
    """The figure of related rankings: every number is one of their tables; impossible rankings are pale.

    >>> import rankscope as rs
    >>> plot_related(rs.lab.related("AP", grades=1, depth=2)).table.name
    'relations'
    """
    relations, rankings = result["relations"], result["rankings"].records()
    if len(rankings) > MOST:
        raise SettingsError(
            f"a tree of depth {result.settings['depth']} has {len(rankings):,} rankings",
            hint=f"choose a depth with at most {MOST}",
        )
    names, pairs = list(result.settings["properties"]), relations.records()
    measure = result.settings["measure"]
    places = _places([str(row["ranking"]) for row in rankings])
    size = (SINGLE if len(rankings) <= 20 else DOUBLE) if width is None else width
    with styled():
        leaves = len({round(y, 6) for _, y in places.values() if y == int(y)})
        figure = blank(size, 0.75 + 0.2 * leaves + 0.16 * ((len(names) + 1) // 2))
        axes = figure.subplots()
        half = 0.11 if measure is None else 0.2
        _draw_rankings(axes, rankings, places, half)
        for pair in pairs:
            look = _LOOKS[names.index(str(pair["property"])) % len(_LOOKS)]
            _draw_pair(axes, pair, look, places, half, faint=len(pairs) > _CROWDED)
        axes.set_xlim(-0.3, result.settings["depth"] + 0.45)
        axes.set_ylim(max(y for _, y in places.values()) + 0.7, -0.7)
        axes.axis("off")
        wrong = sum(bool(pair["violated"]) for pair in pairs)
        found = "" if measure is None else f"{short(measure, 40)}: {wrong:,} of {len(pairs):,} violated"
        found = found or f"{len(rankings):,} rankings, {len(pairs):,} relations"
        axes.set_title(f"{found}\narrows lead to rankings that should not score less", fontsize=7.5)
        legend_below(figure, _legend(names, wrong > 0), 2 if size < 5 else 3)
    return Figure(figure, (axes,), relations)


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


def _places(words: list[str]) -> dict[str, Place]:
    """Column (length) and row of every ranking: the longest below each other, the others in the middle of theirs."""
    spelt = ["" if word == "-" else word for word in words]
    length = {word: len(split_word(word)) for word in spelt}
    labels = [word for word in spelt if length[word] == 1]
    deepest = max(length.values())
    longest = [word for word in spelt if length[word] == deepest]
    leaves = sorted(longest, key=lambda w: [labels.index(letter) for letter in split_word(w)])
    rows = {word: float(row) for row, word in enumerate(leaves)}

    def row(word: str) -> float:
        if word not in rows:
            rows[word] = float(np.mean([row(word + label) for label in labels]))
        return rows[word]

    return {word or "-": (float(length[word]), row(word)) for word in spelt}


def _draw_rankings(axes: Any, rankings: list[dict[str, Cell]], places: dict[str, Place], half: float) -> None:
    x0, y0 = places["-"]
    for x, y in places.values():
        if x == x0 + 1:  # nothing is said about the empty ranking: plain lines show where the tree begins
            axes.plot([x0 + half, x - half], [y0, y], color="#dddddd", linewidth=0.7, zorder=1)
    for row in rankings:
        word, score = str(row["ranking"]), float(row["score"] or 0)
        text = "∅" if word == "-" else word
        shown = f"{text}  {score:.3f}" if np.isfinite(score) else text
        colour = INK if row["possible"] else "#bbbbbb"
        axes.text(
            *places[word], shown, ha="center", va="center", fontsize=7, gid=word, zorder=4, color=colour
        )


def _draw_pair(
    axes: Any,
    pair: dict[str, Cell],
    look: tuple[str, Any],
    places: dict[str, Place],
    half: float,
    *,
    faint: bool,
) -> None:
    from matplotlib.patches import FancyArrowPatch
    from matplotlib.path import Path

    violated = bool(pair["violated"])
    colour, dash = (VIOLATED, "solid") if violated else look
    (x0, y0), (x1, y1) = places[str(pair["low"])], places[str(pair["high"])]
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
            color=colour, linestyle=dash, linewidth=1.5 if violated else 0.45 if faint else 0.8,
            zorder=3 if violated else 2, shrinkA=0, shrinkB=0, clip_on=False,
        )
    )  # fmt: skip
    if violated:
        middle = [0.25 * a + 0.5 * b + 0.25 * c for a, b, c in zip(start, bend, end, strict=True)]
        axes.plot(*middle, marker="x", markersize=5, markeredgewidth=1.3, color=INK, zorder=5, clip_on=False)


def _legend(names: Sequence[str], violated: bool) -> list[Any]:
    from matplotlib.lines import Line2D

    handles = [
        Line2D(
            [],
            [],
            color=_LOOKS[n % len(_LOOKS)][0],
            linestyle=_LOOKS[n % len(_LOOKS)][1],
            linewidth=1,
            label=name,
        )
        for n, name in enumerate(names)
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
