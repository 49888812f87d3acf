"""The arrows of the figure of relative positions are the positions of the table."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import rankscope as rs
from rankscope.cli.main import main
from rankscope.errors import SettingsError
from rankscope.plots import plot_rp
from rankscope.plots.palette import ABOVE, BELOW


def arrows(axes: Any) -> dict[int, tuple[tuple[float, float], str]]:
    """Return, for each rank that an arrow points to, its start and end on the axis, and its colour."""
    ends_by_rank = {}
    for text in axes.texts:
        if (text.get_gid() or "").startswith("rank "):
            rank = int(text.get_gid().removeprefix("rank "))
            ends_by_rank[rank] = ((text.xyann[0], text.xy[0]), text.arrowprops["color"])
    return ends_by_rank


def test_the_figure_of_the_paper(b_t: rs.Curve) -> None:
    """Rank 2 holds a non-relevant document that comes from rank 8, rank 9 a fairly relevant one from rank 4."""
    figure = plot_rp(b_t)
    records = {row["rank"]: row for row in figure.table.records()}
    assert (records[2]["first"], records[2]["nearest"], records[2]["rp"]) == (8, 8, -6)
    assert (records[9]["last"], records[9]["nearest"], records[9]["rp"]) == (4, 4, 5)
    assert records[1]["rp"] == 0
    drawn = arrows(figure.axes[0])
    assert drawn[2] == ((8, 2), ABOVE) and drawn[9] == ((4, 9), BELOW)


def test_an_arrow_is_as_long_as_its_position(b_t: rs.Curve) -> None:
    figure = plot_rp(b_t)
    drawn = arrows(figure.axes[0])
    assert set(drawn) == {rank for rank, rp in enumerate(b_t.rp.tolist(), 1) if rp}
    for rank, ((start, end), _) in drawn.items():
        assert end - start == b_t.rp[rank - 1]
    assert figure.table.column("rp") == b_t.rp.tolist()
    shown = [text.get_text() for text in figure.axes[0].texts]
    assert {"+11", "\N{MINUS SIGN}6"} <= set(shown)


def test_a_long_list_is_cut(make_curve: Callable[..., rs.Curve]) -> None:
    curve = make_curve("0000003" + "0" * 500)
    figure = plot_rp(curve, 5)
    assert figure.table.column("rank") == [1, 2, 3, 4, 5]
    assert all(start <= 5.6 for (start, _), _ in arrows(figure.axes[0]).values())
    assert len(plot_rp(curve).table) == 24
    for ranks in (0, 81):
        with pytest.raises(SettingsError, match="ranks"):
            plot_rp(curve, ranks)


def test_a_topic_without_relevant_documents() -> None:
    figure = plot_rp(rs.curve(rs.Collection({"q": {"a": 0}}, {"q": ["a", "b"]}), None, "q"))
    assert figure.table.column("rp") == [0, 0] and not arrows(figure.axes[0])


def test_the_command(tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text("1 0 a 1\n1 0 b 2\n")
    (tmp_path / "run").write_text("1 Q0 x 1 3 r\n1 Q0 a 2 2 r\n1 Q0 b 3 1 r\n")
    files = [str(tmp_path / "qrels"), str(tmp_path / "run"), "--topic", "1"]
    out = tmp_path / "rp.svg"
    assert main(["curve", *files, "--figure", "rp", "--ranks", "2", "--plot", str(out)]) == 0
    assert out.read_bytes().endswith(b"</svg>\n")
    assert main(["curve", *files, "--figure", "rp", "--ranks", "900", "--plot", str(out)]) == 2
