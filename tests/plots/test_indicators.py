"""Parallel coordinates of the 2012 indicators."""

from __future__ import annotations

import numpy as np
import pytest

import rankscope as rs
from rankscope.errors import InputError, SettingsError
from rankscope.plots import plot_indicators
from rankscope.plots.indicators import COORDINATES


def test_lines_are_the_indicators_of_the_topics_by_recall_base(effort: rs.Effort) -> None:
    figure = plot_indicators(effort, "run4")
    [axes] = figure.axes
    bases = figure.table.column("recall_base")
    assert bases == sorted(bases)
    records = {row["topic"]: row for row in effort.indicators.records() if row["run"] == "run4"}
    lines = [line for line in axes.lines if len(line.get_xdata()) == 6]
    assert len(lines) == len(figure.table) == 12
    for place, (line, row) in enumerate(zip(lines, figure.table.records(), strict=True)):
        first, *rest = line.get_ydata()
        assert first == pytest.approx((place + 0.5) / 12)
        values = [records[row["topic"]][name] for name in COORDINATES]
        assert rest == pytest.approx(values, nan_ok=True)
        assert [row[name] for name in COORDINATES] == pytest.approx(values, nan_ok=True)
        assert row["recall_base"] == records[row["topic"]]["recall_base"]
    assert axes.get_ylim() == (0, 1)
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert labels == [f"{row['topic']} ({row['recall_base']})" for row in figure.table.records()]
    rho = np.nanmean(figure.table.column("Rho2012_clamped"))
    assert axes.get_title(loc="left") == f"run4: 12 topics, mean ρ {rho:.3f}"


def test_several_runs_are_averaged(effort: rs.Effort) -> None:
    figure = plot_indicators(effort)
    rows = effort.indicators.records()
    for row in figure.table.records():
        assert row["runs"] == 8
        for name in COORDINATES:
            values = [r[name] for r in rows if r["topic"] == row["topic"]]
            assert row[name] == pytest.approx(np.nanmean(np.array(values, float)))


def test_undefined_values_are_gaps() -> None:
    result = rs.effort(rs.Collection({"q": {"a": 1}}, {"r": {"q": ["x"]}}), "AP", cutoff=2)
    row = plot_indicators(result).table.records()[0]
    undefined = [name for name in COORDINATES if np.isnan(row[name])]
    assert undefined == [n for n in COORDINATES if np.isnan(float(result.indicators.records()[0][n]))]


def test_invalid_arguments_of_indicators_raise(effort: rs.Effort) -> None:
    with pytest.raises(SettingsError, match="did you mean run4"):
        plot_indicators(effort, "runn4")
    with pytest.raises(InputError, match="no topic has relevant documents"):
        plot_indicators(rs.effort(rs.Collection({"q": {"a": 0}}, {"r": {"q": ["a"]}}), "AP"))


def test_many_topics_are_labelled_sparsely() -> None:
    qrels = {f"q{t:03}": {f"d{i}": 1 for i in range(1 + t % 9)} for t in range(120)}
    figure = plot_indicators(rs.effort(rs.Collection(qrels, {"r": {t: ["x", "d0"] for t in qrels}}), "AP"))
    assert len(figure.table) == 120
    assert len(figure.axes[0].get_yticklabels()) == 9
