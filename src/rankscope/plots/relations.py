"""Figures of all rankings up to a length, their relations, and the relations that a measure violates.

After the trees of Albahem et al. (2018), Figures 2 to 5.
"""

from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import Any

import numpy as np

from rankscope.errors import SettingsError
from rankscope.lab.axioms.comparison import related_rankings, split_word
from rankscope.lab.axioms.verdicts import PropertiesResult
from rankscope.measures import Measure
from rankscope.plots.figure import Figure
from rankscope.plots.marks import legend_below, legend_line, write_centred
from rankscope.plots.palette import COLOURS, DASHES, INK, QUIET
from rankscope.plots.style import DOUBLE, SINGLE, canvas, shorten
from rankscope.result import Result
from rankscope.tables import Cell

MAX_RANKINGS = 130
"""Maximum number of rankings of a readable tree."""

VIOLATED = "#D55E00"
_LOOKS = ((COLOURS[0], DASHES[0]), (QUIET, DASHES[1]), (COLOURS[2], DASHES[2]), (COLOURS[3], DASHES[3]))
_CROWDED = 60  # number of relations from which those that hold have thin lines

_FONT = 7.0
_LETTER = 0.053  # width of a letter of that size in inches, on average
_GAP = 0.03  # between a label and its arrows, in inches

Position = tuple[float, float]


def plot_relations(
    measure: str | Measure | None = None, *, width: float | None = None, **options: Any
) -> Figure:
    """Draw the prefix tree of all rankings with arrows to rankings that should not score less.

    Parameters
    ----------
    measure
        Measure whose scores are written; violated arrows are thick, red and crossed.
    width
        Width in inches (default: by the number of rankings).
    **options
        Settings of :func:`rankscope.lab.related_rankings`, whose tables are drawn; by default there are 10 relevant and
        10 non-relevant documents.

    Returns
    -------
    Figure

    Examples
    --------
    >>> figure = plot_relations("ACT", depth=3, properties=["irrelevance monotonicity"])
    >>> ("abx", "ab") in {(row[1], row[2]) for row in figure.table.rows if row[5]}
    True
    """
    result = related_rankings(measure, **{"relevant": 10, "nonrelevant": 10, **options})
    return plot_related(result, width=width)


def plot_properties(
    result: PropertiesResult,
    measure: str | Measure | None = None,
    *,
    depth: int | None = None,
    width: float | None = None,
) -> Figure:
    """Draw the tree of short rankings of a case analysis, with the violations of a measure.

    Parameters
    ----------
    result
        Result of :func:`rankscope.lab.properties`.
    measure
        Measure to draw (default: the first one with violations).
    depth
        Length of the rankings (default: the length of the shortest counterexamples, if the tree is readable).
    width
        Width in inches (default: by the number of rankings).

    Returns
    -------
    Figure

    Examples
    --------
    >>> import rankscope as rs
    >>> result = rs.lab.properties("ACT", aspects=1, depth=2)
    >>> plot_properties(result, depth=2).table.name
    'relations'
    """
    selected = result.measure(measure)
    lengths = [f.shortest[0].length for f in result.verdicts if f.measure == selected and f.shortest]
    letters = len(result.settings["letters"])
    shown = min(max([2, *lengths]), readable_depth(letters), int(result.settings["depth"]))
    return plot_related(result.related_rankings(selected, shown if depth is None else depth), width=width)


def plot_related(result: Result, *, width: float | None = None) -> Figure:
    """Draw the tree of related rankings; impossible rankings are pale.

    Parameters
    ----------
    result
        Result of :func:`rankscope.lab.related_rankings`.
    width
        Width in inches (default: by the number of rankings).

    Returns
    -------
    Figure

    Examples
    --------
    >>> import rankscope as rs
    >>> plot_related(rs.lab.related_rankings("AP", grades=1, depth=2)).table.name
    'relations'
    """
    relations, rankings = result["relations"], result["rankings"].records()
    if len(rankings) > MAX_RANKINGS:
        problem = f"a tree of depth {result.settings['depth']} has {len(rankings):,} rankings"
        raise SettingsError(problem, hint=f"choose a depth with at most {MAX_RANKINGS}")
    names, pairs = list(result.settings["properties"]), relations.records()
    measure = result.settings["measure"]
    positions = _find_positions([str(row["ranking"]) for row in rankings])
    size = (SINGLE if len(rankings) <= 20 else DOUBLE) if width is None else width
    n_leaves = len({round(y, 6) for _, y in positions.values() if y == int(y)})
    n_violated = sum(bool(pair["violated"]) for pair in pairs)
    with canvas(size, 0.75 + 0.2 * n_leaves + 0.16 * ((len(names) + 1) // 2)) as (figure, axes):
        labels = {str(row["ranking"]): _label(row) for row in rankings}
        depth = int(result.settings["depth"])
        # Arrows begin and end beside the labels: half the width of each, in units of the axis.
        unit = (depth + 1.1) / (0.97 * size)
        halves = {word: (_LETTER * len(label) / 2 + _GAP) * unit for word, label in labels.items()}
        _draw_rankings(axes, rankings, labels, positions, halves)
        for pair in pairs:
            look = _LOOKS[names.index(str(pair["property"])) % len(_LOOKS)]
            _draw_pair(axes, pair, look, positions, halves, is_thin=len(pairs) > _CROWDED)
        axes.set_xlim(-halves["-"], depth + max(halves.values()) + 0.25)
        axes.set_ylim(max(y for _, y in positions.values()) + 0.7, -0.7)
        axes.axis("off")
        title = f"{len(rankings):,} rankings, {len(pairs):,} relations"
        if measure is not None:
            title = f"{shorten(measure, 40)}: {n_violated:,} of {len(pairs):,} violated"
        axes.set_title(f"{title}\narrows lead to rankings that should not score less", fontsize=7.5)
        legend_below(figure, _legend_entries(names, n_violated > 0), 2 if size < 5 else 3)
    return Figure(figure, (axes,), relations)


def readable_depth(letters: int) -> int:
    """Return the maximum length of rankings over a number of letters whose tree is readable.

    >>> readable_depth(3), readable_depth(2)
    (4, 6)
    """
    depth, number = 0, 1
    while number + letters ** (depth + 1) <= MAX_RANKINGS:
        depth += 1
        number += letters**depth
    return depth


def _find_positions(words: list[str]) -> dict[str, Position]:
    """Return column (length) and row of each ranking: the longest in rows, others in the middle of their extensions."""
    rankings = ["" if word == "-" else word for word in words]
    length = {word: len(split_word(word)) for word in rankings}
    labels = [word for word in rankings if length[word] == 1]
    deepest = max(length.values())
    longest = [word for word in rankings if length[word] == deepest]
    leaves = sorted(longest, key=lambda w: [labels.index(letter) for letter in split_word(w)])
    rows = {word: float(row) for row, word in enumerate(leaves)}

    def row(word: str) -> float:
        if word not in rows:
            rows[word] = float(np.mean([row(word + label) for label in labels]))
        return rows[word]

    return {word or "-": (float(length[word]), row(word)) for word in rankings}


def _label(row: Mapping[str, Cell]) -> str:
    word, score = str(row["ranking"]), float(row["score"] or 0)
    text = "∅" if word == "-" else word
    return f"{text}  {score:.3f}" if np.isfinite(score) else text


def _draw_rankings(
    axes: Any,
    rankings: list[dict[str, Cell]],
    labels: Mapping[str, str],
    positions: dict[str, Position],
    halves: Mapping[str, float],
) -> None:
    x0, y0 = positions["-"]
    for word, (x, y) in positions.items():
        if x == x0 + 1:  # The empty ranking has no relations: plain lines show the root of the tree.
            ends = [x0 + halves["-"], x - halves[word]]
            axes.plot(ends, [y0, y], color="#dddddd", linewidth=0.7, zorder=1)
    for row in rankings:
        word = str(row["ranking"])
        colour = INK if row["possible"] else "#bbbbbb"
        write_centred(axes, *positions[word], labels[word], fontsize=_FONT, gid=word, zorder=4, color=colour)


def _draw_pair(
    axes: Any,
    pair: dict[str, Cell],
    look: tuple[str, Any],
    positions: dict[str, Position],
    halves: Mapping[str, float],
    *,
    is_thin: bool,
) -> None:
    from matplotlib.patches import FancyArrowPatch
    from matplotlib.path import Path

    is_violated = bool(pair["violated"])
    colour, dash = (VIOLATED, "solid") if is_violated else look
    low, high = str(pair["low"]), str(pair["high"])
    (x0, y0), (x1, y1) = positions[low], positions[high]
    way = 1 if x1 >= x0 else -1
    start = (x0 + way * halves[low], y0)
    end = (x1 + (halves[high] if x0 == x1 else -way * halves[high]), y1)
    aside = 0.1 + min(0.25, 0.06 * abs(y1 - y0)) if x0 == x1 else 0.0
    bend = ((start[0] + end[0]) / 2 + aside, (y0 + y1) / 2)
    axes.add_patch(
        FancyArrowPatch(
            path=Path([start, bend, end], [Path.MOVETO, Path.CURVE3, Path.CURVE3]), arrowstyle="-|>", mutation_scale=6,
            color=colour, linestyle=dash, linewidth=1.5 if is_violated else 0.45 if is_thin else 0.8,
            zorder=3 if is_violated else 2, shrinkA=0, shrinkB=0, clip_on=False,
        )
    )  # fmt: skip
    if is_violated:
        middle = [0.25 * a + 0.5 * b + 0.25 * c for a, b, c in zip(start, bend, end, strict=True)]
        axes.plot(*middle, marker="x", markersize=5, markeredgewidth=1.3, color=INK, zorder=5, clip_on=False)


def _legend_entries(names: Sequence[str], has_violations: bool) -> list[Any]:
    style = zip(names, cycle(_LOOKS), strict=False)
    handles = [legend_line(name, color=colour, linestyle=dash, linewidth=1) for name, (colour, dash) in style]
    if has_violations:
        cross = {"marker": "x", "markeredgecolor": INK, "markersize": 5}
        handles.append(legend_line("violated", color=VIOLATED, linewidth=1.5, **cross))
    return handles
