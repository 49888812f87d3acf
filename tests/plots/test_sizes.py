"""Every declared figure is readable in a column of a paper, for 10, 40 and 126 runs: no text overlaps or is cut off."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

DOCS = Path(__file__).parents[2] / "docs"
SIZES = {10: 90, 40: 20, 126: 12}
"""Topics by runs; more than 60 topics have other figures."""
MAX_HEIGHT, MIN_SIZE = 9.5, 5.0
"""Height of a page in inches, and the smallest size of a letter in points."""
ANY_SIZE = ("curve", "properties", "related", "archetype-ranges", "weights", "scales", "intervals", "study")
"""Results that are the same for any number of runs."""
FAMILIES = (
    "bm25",
    "splade-v3-doc",
    "monot5-3b-msmarco-10k_rerank",
    "colbert",
    "rrf_fusion-of-five-systems",
    "dense",
)


@pytest.fixture(scope="session")
def gallery() -> ModuleType:
    spec = spec_from_file_location("make_figure_sizes", DOCS / "make_figure_sizes.py")
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session", params=[10, pytest.param(40, marks=pytest.mark.slow), 126])
def sources(request: Any, gallery: ModuleType, make_collection: Callable[..., Any]) -> Any:
    """Analyses of a collection of each size; names are as long as those at TREC, and many of them are alike."""
    names = [f"{FAMILIES[k % len(FAMILIES)]}-{k // len(FAMILIES) + 1}" for k in range(request.param)]
    qrels, runs = make_collection(names, [f"{301 + t}" for t in range(SIZES[request.param])])
    aspects = {t: {d: {str(k % 5): 1} for k, d in enumerate(own)} for t, own in list(qrels.items())[:3]}
    scored = {
        name: {
            t: {d: float(len(ranking) - k // 2) for k, d in enumerate(ranking)} for t, ranking in own.items()
        }
        for name, own in runs.items()
    }
    generated = gallery.make_sources(qrels, scored, (aspects, runs))
    return {name: make for name, make in generated.items() if request.param == 10 or name not in ANY_SIZE}


def texts(figure: Any) -> Iterator[Any]:
    """Yield the texts of a figure that are drawn."""
    for axes in figure.axes:
        yield from (*axes.texts, axes.title, axes._left_title, axes._right_title)
        for axis in (axes.xaxis, axes.yaxis) if axes.axison else ():
            if axis.get_visible():
                yield from (axis.label, axis.offsetText)
                for tick in axis._update_ticks():
                    yield from (tick.label1, tick.label2)
    for part in figure.findobj(lambda artist: hasattr(artist, "legend_handles")):
        yield from (*part.get_texts(), part.get_title())
    for part in (figure, *figure.subfigs):
        yield from part.texts


def boxes(drawn: Any) -> list[tuple[str, Any, Any]]:
    """Return the texts of a figure, their extents in pixels, and those without space above and below the letters."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.text import Text
    from matplotlib.transforms import Bbox

    from rankscope.plots.style import apply_style

    with apply_style():
        renderer = FigureCanvasAgg(drawn.figure).get_renderer()
        drawn.figure.draw_without_rendering()
        result = {}
        for text in texts(drawn.figure):
            if text.get_visible() and text.get_text().strip():
                box = Text.get_window_extent(text, renderer)  # An annotation would add its arrow.
                across, down = (0.2, 0.02) if text.get_rotation() == 90 else (0.02, 0.2)
                dx, dy = across * box.width, down * box.height
                inner = Bbox.from_extents(box.x0 + dx, box.y0 + dy, box.x1 - dx, box.y1 - dy)
                result[id(text)] = text.get_text(), box, inner
        return list(result.values())


def problems(drawn: Any) -> list[str]:
    """Return the overlaps of texts, the texts that the border of the figure cuts, and those that are too small."""
    result = boxes(drawn)
    small = [
        f"{text.get_text()!r} has {text.get_fontsize():g} points"
        for text in texts(drawn.figure)
        if text.get_visible() and text.get_text().strip() and text.get_fontsize() < MIN_SIZE
    ]
    width, height = drawn.figure.bbox.width, drawn.figure.bbox.height
    cut = [
        f"{text!r} is cut"
        for text, box, _ in result
        if box.x0 < -1 or box.y0 < -1 or box.x1 > width + 1 or box.y1 > height + 1
    ]
    inner = np.array([box.extents for _, _, box in result]).reshape(-1, 2, 2)
    low, high = inner.min(axis=1), inner.max(axis=1)
    meet = (low[:, np.newaxis] <= high).all(axis=2)
    pairs = np.argwhere(np.triu(meet & meet.T, 1))
    return small + cut + [f"{result[i][0]!r} overlaps {result[j][0]!r}" for i, j in pairs]


def test_no_text_of_a_figure_overlaps_another_or_is_cut(
    gallery: ModuleType, sources: Any, sampled: Callable[..., Any]
) -> None:
    result = {}
    selection = dict(sampled([*sources.items()], 12))
    for name, draw in gallery.figures(selection):
        drawn = draw()
        width, height = drawn.figure.get_size_inches()
        assert width == gallery.SINGLE == 3.3
        assert height <= MAX_HEIGHT, f"{name} is {height:.1f} inches high"
        result[name] = problems(drawn)
    assert len(result) >= (35 if len(selection) == len(sources) else len(selection))
    assert not {name: [*several[:4], len(several)] for name, several in result.items() if several}


def test_overlaps_and_cut_texts_are_found(gallery: ModuleType) -> None:
    from rankscope import plots

    drawn = plots.plot_archetypes(width=3.3)
    assert not problems(drawn)
    for x in (0.1, 0.12):
        drawn.figure.text(x, 0.5, "overlapping")
    drawn.figure.text(0.95, 0.9, "beyond the border")
    assert {text.split(" ")[-1] for text in problems(drawn)} >= {"cut", "'overlapping'"}


def test_the_gallery_has_every_declared_figure(
    gallery: ModuleType, make_collection: Callable[..., Any]
) -> None:
    qrels, runs = make_collection([f"run-{k}" for k in range(4)], ["1", "2", "3"])
    aspects = {t: {d: {"1": 1} for d in own} for t, own in qrels.items()}
    generated = gallery.make_sources(qrels, runs, (aspects, runs))
    drawn = {function for make in generated.values() for function in make().figures.values()}
    assert drawn == gallery.declared_figures()
