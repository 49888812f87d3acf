"""The CRP curve and the bars of RP have the values of their table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from matplotlib.colors import to_hex, to_rgb

import rankscope as rs
from rankscope.errors import SettingsError
from rankscope.plots import plot_curve
from rankscope.plots.bars import MIN_WIDTH, find_stretches
from rankscope.plots.palette import ABOVE, BELOW, EXACT

Find = Callable[[Any, str], Any]
PAPER = {
    "a_t": (
        [0, 0, 0, -4, 0, 2, -1, 0, 0, 3, 0, 0, 0, 0, 0],
        [0, 0, 0, -4, -4, -2, -3, -3, -3, 0, 0, 0, 0, 0, 0],
    ),
    "b_t": (
        [0, -6, -2, -4, 1, -2, -1, 0, 5, 3, 0, 0, 11, 7, 0],
        [0, -6, -8, -12, -11, -13, -14, -14, -9, -6, -6, -6, 5, 12, 12],
    ),
}
FULL = [-7, -13, -18, -22, -25, -27, -28, -28, -26, -23, -19, -11, -2, 10, 23]


def boxes(axes: Any, find_artist: Find) -> dict[int, tuple[str, float, float]]:
    """From the rectangles: for each rank its colour, its height and the width of its rectangle."""
    bars_by_rank = {}
    for name in ("zero", "negative", "positive"):
        collection = find_artist(axes, name)
        if not collection.get_paths():
            continue
        colour = to_hex(collection.get_facecolors()[0])
        for path in collection.get_paths():
            low, high = path.vertices.min(axis=0), path.vertices.max(axis=0)
            height = high[1] if name == "positive" else low[1] if name == "negative" else 0.0
            ranks = (
                range(round(low[0] + 0.5), round(high[0] - 0.5) + 1)
                if name == "zero"
                else [
                    round(
                        (low[0] + high[0]) / 2 if axes.get_xscale() == "linear" else (low[0] * high[0]) ** 0.5
                    )
                ]
            )
            for rank in ranks:
                bars_by_rank[rank] = (colour, height, high[0] - low[0])
    return bars_by_rank


@pytest.mark.parametrize("name", PAPER)
def test_the_examples_of_the_paper(name: str, request: pytest.FixtureRequest, find_artist: Find) -> None:
    figure = plot_curve(request.getfixturevalue(name))
    rp, crp = PAPER[name]
    assert figure.table.column("rp") == rp
    assert figure.table.column("crp") == crp
    assert figure.table.column("full_scale") == FULL
    top, bar = figure.axes
    line = find_artist(top, "crp")
    assert line.get_xdata().tolist() == list(range(1, 16))
    assert line.get_ydata().tolist() == crp
    assert find_artist(top, "full scale").get_ydata().tolist() == FULL
    assert set(find_artist(top, "ideal").get_ydata()) == {0}
    assert set(find_artist(top, "recall base").get_xdata()) == {7}
    colours = {0: EXACT, -1: ABOVE, 1: BELOW}
    assert {rank: box[:2] for rank, box in boxes(bar, find_artist).items()} == {
        rank: (colours[int(np.sign(value))], value) for rank, value in enumerate(rp, start=1)
    }


def test_marked_points(b_t: rs.Curve, a_t: rs.Curve, find_artist: Find) -> None:
    figure = plot_curve(b_t)
    turn, balance = find_artist(figure.axes[0], "turn-around"), find_artist(figure.axes[0], "balance point")
    assert (turn.get_xdata()[0], turn.get_ydata()[0]) == (7, -14)
    assert (balance.get_xdata()[0], balance.get_ydata()[0]) == (12, 0)
    points = figure.table.column("points")
    assert points[6] == "recall base, turn-around" and points[11] == "balance point"
    turn, balance = (find_artist(plot_curve(a_t).axes[0], name) for name in ("turn-around", "balance point"))
    assert (turn.get_xdata()[0], turn.get_ydata()[0]) == (4, -4)
    assert balance.get_xdata()[0] == 9


def test_labels(b_t: rs.Curve) -> None:
    figure = plot_curve(b_t)
    top, bar = figure.axes
    assert top.get_title(loc="left") == "b_t, topic t"
    assert (top.get_ylabel(), bar.get_ylabel(), bar.get_xlabel()) == ("CRP (ranks)", "RP (ranks)", "rank")
    legend = [text.get_text() for text in figure.figure.legends[0].get_texts()]
    bars = ["up: too late", "down: too early", "flat: in its interval"]
    assert legend == ["this ranking (Twist@15 0.525)", "full scale", *bars]
    beside = {text.get_text() for text in top.texts}
    assert beside == {"recall base 7", "turn-around 7", "β 12"}
    low, high = top.get_ylim()
    assert low < -28 and high > 23
    assert top.get_xlim() == (0.5, 15.5)


def test_a_list_that_never_recovers(make_curve: Callable[..., rs.Curve]) -> None:
    figure = plot_curve(make_curve("300000000000000"))
    texts = [text.get_text() for text in figure.axes[0].texts]
    assert "no balance point" in texts and not any("β" in text for text in texts)


@pytest.mark.parametrize("axis", ["auto", "linear"])
def test_every_misplaced_rank_of_a_long_list_is_wide_enough(
    make_curve: Callable[..., rs.Curve], find_artist: Find, axis: str
) -> None:
    grades = ["0"] * 1000
    for rank, grade in ((100, "3"), (333, "2"), (334, "1"), (777, "1"), (999, "3")):
        grades[rank] = grade
    figure = plot_curve(make_curve("".join(grades)), axis=axis)
    bars = figure.axes[1]
    bars_by_rank = boxes(bars, find_artist)
    assert bars.get_xscale() == ("log" if axis == "auto" else "linear")
    assert bars.get_xlabel() == ("rank (log scale)" if axis == "auto" else "rank")
    assert bars.get_ylabel() == "RP (log)" and {-100, -10, -1, 0, 10, 100} >= set(bars.get_yticks()) > {0}
    figure.figure.draw_without_rendering()
    wide = {}
    for name in ("negative", "positive"):
        for path in find_artist(bars, name).get_paths():
            x = bars.transData.transform(path.vertices)[:, 0]
            rank = round(
                path.vertices[:, 0].mean() if axis == "linear" else path.vertices[:2, 0].prod() ** 0.5
            )
            wide[rank] = np.ptp(x) / figure.figure.dpi * 72
    for rank, value in enumerate(figure.table.column("rp"), start=1):
        colour, height, _ = bars_by_rank[rank]
        assert height == value
        assert colour == (EXACT if value == 0 else ABOVE if value < 0 else BELOW)
        if value:
            assert wide[rank] >= 0.9 * MIN_WIDTH


def test_a_misplaced_rank_of_a_long_list_survives_an_image(make_curve: Callable[..., rs.Curve]) -> None:
    import io

    from matplotlib.image import imread

    grades = "3322111" + "0" * 493 + "0" * 500
    late = grades[:6] + "0" + grades[7:700] + "1" + grades[701:]
    pixels = imread(io.BytesIO(plot_curve(make_curve(late)).render("png")))
    blue = np.array(to_rgb(BELOW))
    lower = pixels[int(0.55 * len(pixels)) : int(0.72 * len(pixels)), int(0.5 * pixels.shape[1]) :, :3]
    assert (np.abs(lower - blue).max(axis=2) < 0.02).any(axis=0).sum() >= 2


def test_the_full_scale_list_does_not_squeeze_the_curve(make_curve: Callable[..., rs.Curve]) -> None:
    figure = plot_curve(make_curve("302201" + "0" * 994))
    low, high = figure.axes[0].get_ylim()
    crp = np.array(figure.table.column("crp"))
    assert max(figure.table.column("full_scale")) > 3 * high
    assert low < crp.min() and crp.max() < high and (crp.max() - crp.min()) > 0.05 * (high - low)
    assert any("ends at" in text.get_text() for text in figure.figure.legends[0].get_texts())


def test_a_topic_without_relevant_documents() -> None:
    figure = plot_curve(rs.curve(rs.Collection({"q": {"a": 0}}, {"q": ["a", "b", "c"]}), None, "q"))
    assert figure.table.column("rp") == [0, 0, 0]
    assert figure.table.column("points") == [None] * 3
    assert figure.render("svg")


def test_an_empty_list(make_curve: Callable[..., rs.Curve]) -> None:
    figure = plot_curve(make_curve(""))
    assert figure.table.column("place") == ["above"] * 7 + ["exact"] * 7


def test_scales_are_chosen(b_t: rs.Curve, find_artist: Find) -> None:
    top, bar = plot_curve(b_t, axis="log", bars="log").axes
    assert (top.get_xscale(), bar.get_yscale()) == ("log", "symlog")
    assert boxes(bar, find_artist)[2][:2] == (ABOVE, -6)
    linear = plot_curve(b_t, bars="linear").axes[1]
    assert linear.get_yscale() == "linear" and linear.get_ylabel() == "RP (ranks)"
    with pytest.raises(SettingsError, match="did you mean log"):
        plot_curve(b_t, axis="lag")


def test_stretches() -> None:
    assert find_stretches(np.array([False, False])) == []
    assert find_stretches(np.array([False, True, True, False, True])) == [(2, 3), (5, 5)]


def test_the_full_scale_ranking_is_shown_down_to_twelve_spans_of_the_curve() -> None:
    from rankscope.plots.curve import _limits

    flat = np.zeros(3)  # The span of a flat curve is 2.
    assert _limits(flat, np.array([-24.0, 0.0]))[0] < -24 < _limits(flat, np.array([-24.1, 0.0]))[0]
