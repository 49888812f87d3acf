"""CRP and DCG: curves, bars and negative gains."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from matplotlib.colors import to_hex

import rankscope as rs
from rankscope.plots import plot_dcg
from rankscope.plots.palette import EXACT, GAIN, LOSS

Find = Callable[[Any, str], Any]


def heights(axes: Any, find_artist: Find, name: str) -> dict[int, float]:
    bars = {}
    for path in find_artist(axes, name).get_paths():
        x, y = path.vertices[:, 0], path.vertices[:, 1]
        bars[round((x.min() + x.max()) / 2)] = float(y.max() if name == "positive" else y.min())
    return bars


def test_curves_and_bars_are_the_table(b_t: rs.Curve, find_artist: Find) -> None:
    figure = plot_dcg(b_t)
    crp, dcg, _, delta = figure.axes
    assert find_artist(crp, "crp").get_ydata().tolist() == figure.table.column("crp")
    assert find_artist(dcg, "dcg").get_ydata().tolist() == figure.table.column("dcg")
    assert find_artist(dcg, "ideal dcg").get_ydata().tolist() == figure.table.column("ideal_dcg")
    values = dict(enumerate(figure.table.column("delta_gain"), start=1))
    assert heights(delta, find_artist, "positive") == pytest.approx(
        {r: v for r, v in values.items() if v > 1e-12}
    )
    assert heights(delta, find_artist, "negative") == pytest.approx(
        {r: v for r, v in values.items() if v < -1e-12}
    )
    places = figure.table.column("gain_place")
    assert places == ["same" if abs(v) < 1e-12 else "gain" if v > 0 else "loss" for v in values.values()]
    for name, colour in (("negative", LOSS), ("zero", EXACT), ("positive", GAIN)):
        assert to_hex(find_artist(delta, name).get_facecolors()[0]) == colour


def test_the_values_by_hand(make_curve: Callable[..., rs.Curve]) -> None:
    figure = plot_dcg(make_curve("0100", ideal="11"))
    weight = 1 / np.log2(3)
    assert figure.table.column("dcg") == pytest.approx([0, weight, weight, weight])
    assert figure.table.column("ideal_dcg") == pytest.approx([1, 1 + weight, 1 + weight, 1 + weight])
    assert figure.table.column("delta_gain") == pytest.approx([-1, 0, 0, 0])


def test_negative_gains(make_curve: Callable[..., rs.Curve], find_artist: Find) -> None:
    figure = plot_dcg(make_curve("301020002100310", gains="0=-1,1=1,2=2,3=3", discount="jk"))
    dcg = figure.table.column("dcg")
    # the weights of the paper's Figure 2: -1, 1, 2, 3; the discount max(1, log2 rank)
    gains = [{"0": -1, "1": 1, "2": 2, "3": 3}[g] for g in "301020002100310"]
    weights = 1 / np.maximum(1, np.log2(np.arange(1, 16)))
    assert dcg == pytest.approx(np.cumsum(gains * weights).tolist())
    assert min(np.diff(dcg)) < 0
    assert find_artist(figure.axes[1], "dcg").get_ydata().tolist() == dcg


def test_labels(b_t: rs.Curve) -> None:
    figure = plot_dcg(b_t)
    crp, dcg, rp, delta = figure.axes
    assert crp.get_title(loc="left") == "effort: b_t, topic t" and dcg.get_title(loc="left") == "gain: DCG"
    assert [a.get_ylabel() for a in figure.axes] == ["CRP (ranks)", "DCG (gain)", "RP (ranks)", "Δ gain"]
    assert dcg.get_ylim()[0] == 0
    assert rp.get_xlabel() == delta.get_xlabel() == "rank"
    assert figure.figure.get_size_inches()[0] == 7.0
