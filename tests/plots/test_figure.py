"""Properties of all figures: files, repetition, no display, and untrusted names."""

from __future__ import annotations

import base64
import html
import io
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import rankscope as rs
from rankscope import plots
from rankscope.cli.main import main
from rankscope.errors import SettingsError
from rankscope.plots.figure import FILES as EVERY_FILE
from rankscope.plots.figure import Figure
from rankscope.plots.marks import name_columns
from rankscope.plots.palette import series
from rankscope.plots.style import DOUBLE, SINGLE, apply_style, shorten

FILES = tuple(kind for kind in EVERY_FILE if kind != "pgf")
"""The kinds of files that need no LaTeX; tests/plots/test_paper.py has the other."""

HOSTILE = [
    "x" * 200,
    r"$\frac{1}{0}$ a_b^c",
    "<script>&amp;</script>",
    "שלום عربي",
    "a\x00\x1b[31m\nb\t\u202e",
    "\udc80 not utf-8",
    "漢字 😀",
    "",
    "_hidden",
    r"%s {0} {x} \ ~",
]


def all_figures(qrels: Any, runs: Any) -> dict[str, Callable[[], Figure]]:
    """Return all figures of a collection."""
    scores = rs.evaluate(qrels, runs, ["AP", "RBP(p=0.8)", "Twist"])
    effort = rs.effort(rs.Collection(qrels, runs), ["AP"])
    first, topic = next(iter(runs)), next(iter(qrels))
    curve = rs.curve(rs.Collection(qrels, {first: runs[first]}), None, topic)
    figures: dict[str, Callable[[], Figure]] = {
        "crp": curve.plot,
        "dcg": lambda: curve.plot("dcg"),
        "rp": lambda: curve.plot(figure="rp"),
        "archetypes": lambda: effort.plot("archetypes"),
        "effort": lambda: effort.plot(highlight=list(runs)[:10]),
        "indicators": lambda: effort.plot("indicators", run=first),
        "mean indicators": lambda: effort.plot("indicators"),
        "means": scores.plot,
        "bounds": lambda: rs.bounds(rs.Collection(qrels, runs)).plot(),
    }
    if len(runs) > 1:
        figures["correlation"] = lambda: rs.correlate(scores, "kendall").plot()
        figures["pools"] = lambda: rs.pools(rs.evaluate(qrels, runs, ["AP", "Twist"]), repeats=2).plot()
        if len(qrels) > 1:
            figures["power"] = lambda: rs.power(scores, "t").plot()
    return figures


ALONE: dict[str, Callable[[], Figure]] = {
    "relations": lambda: plots.plot_relations("ACT", depth=3),
    "intervals": lambda: plots.plot_intervals("001", "010", "010", "100", "DCG"),
    "archetypes alone": plots.plot_archetypes,
}
NAMES = (
    "crp",
    "dcg",
    "rp",
    "archetypes",
    "effort",
    "indicators",
    "means",
    "bounds",
    "correlation",
    "pools",
    "power",
    *ALONE,
)


@pytest.fixture(scope="session")
def figures(collection: Any) -> dict[str, Callable[[], Figure]]:
    return {**all_figures(*collection), **ALONE}


@pytest.fixture(scope="module")
def long_names(make_collection: Callable[..., Any]) -> dict[str, Callable[[], Figure]]:
    """Figures of runs and topics with long names, from one evaluation."""
    collection = make_collection(["x" * 200, *"abcde"], ["y" * 200, "1", "2"])
    return {**all_figures(*collection), **ALONE}


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_the_same_figure_is_the_same_bytes(
    name: str, figures: dict[str, Callable[[], Figure]], tmp_path: Path
) -> None:
    figure = figures[name]()
    first = {kind: figure.save(tmp_path / f"figure.{kind}").read_bytes() for kind in FILES}
    assert first["pdf"].startswith(b"%PDF") and first["svg"].endswith(b"</svg>\n")
    assert figures[name]().render("svg") == first["svg"]
    assert len(figure.table) and figure.axes
    assert figure.figure.get_size_inches()[0] in (SINGLE, DOUBLE)


def test_drawing_a_figure_does_not_change_it(b_t: rs.Curve) -> None:
    figure = b_t.plot()
    first = {kind: figure.render(kind) for kind in FILES}
    assert {kind: figure.render(kind) for kind in FILES} == first
    assert figure._repr_png_() == first["png"]
    assert {kind: b_t.plot().render(kind) for kind in FILES} == first


def test_names_are_only_data(make_collection: Callable[..., Any]) -> None:
    qrels, runs = make_collection(HOSTILE, HOSTILE[:5])
    for make in all_figures(qrels, runs).values():
        svg = make().render("svg").decode()
        assert "<script" not in svg and "\x00" not in svg
    for name in HOSTILE:
        figure = rs.curve(rs.Collection(qrels, {name: runs[name]}), None, HOSTILE[1]).plot()
        assert shorten(name, 18) in figure.axes[0].get_title(loc="left")


def test_highlights_with_hostile_names_are_in_the_legend(make_collection: Callable[..., Any]) -> None:
    figure = rs.effort(rs.Collection(*make_collection(HOSTILE, ["1", "2"])), "AP").plot(highlight=HOSTILE)
    texts = [t.get_text() for t in figure.figure.legends[0].get_texts()]
    assert [text.lstrip("\u200e") for text in texts[-len(HOSTILE) :]] == [
        shorten(name).lstrip("\u200e") for name in HOSTILE
    ]


def test_the_command_line_sets_the_width(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        main(["simulate", str(tmp_path / "c"), "--systems", "3", "--topics", "4", "--depth", "20", "--quiet"])
        == 0
    )
    files = [str(tmp_path / "c" / "qrels.txt"), str(tmp_path / "c" / "runs")]
    target = tmp_path / "figure.svg"
    for words in (
        ["certain", *files, "-m", "P@5"],
        ["eval", *files, "-m", "AP"],
        ["properties", "-m", "AP", "--depth", "2"],
    ):
        assert main([*words, "--quiet", "--plot", str(target), "--width", "3.3"]) == 0
        assert 'width="237.6pt"' in target.read_text("utf-8"), words
    with pytest.raises(SystemExit):
        main(["certain", *files, "--plot", str(target), "--width", "0"])
    assert "from 2 to 40" in capsys.readouterr().err


def test_a_figure_fits_a_notebook_and_has_alternative_text(make_collection: Callable[..., Any]) -> None:
    qrels, runs = make_collection(['<b>"&', "other"], ["1", "2"])
    figure = rs.curve(rs.Collection(qrels, runs), '<b>"&', "1").plot()
    page = figure._repr_html_()
    [alt] = re.findall(
        r'<img alt="([^"]*)" style="width: 317px; max-width: 100%;[^"]*" src="data:image/png;base64,', page
    )
    assert html.unescape(alt) == figure.alt and "<b>" not in page
    assert '<b>"&, topic 1' in figure.alt and "vertical axis: CRP (ranks)" in figure.alt
    assert base64.b64decode(page.split("base64,")[1].split('"')[0]) == figure.render("png")


def test_one_run_and_one_topic(make_collection: Callable[..., Any]) -> None:
    for make in all_figures(*make_collection(["only"], ["1"])).values():
        assert make().render("svg")


def test_one_topic_of_several_runs(make_collection: Callable[..., Any]) -> None:
    figures = all_figures(*make_collection(["a", "b", "c"], ["1"]))
    for name in ("correlation", "pools", "bounds", "means"):
        assert figures[name]().render("svg")


def test_five_hundred_runs(make_collection: Callable[..., Any]) -> None:
    qrels, runs = make_collection([f"run{i:03}" for i in range(500)], ["1", "2", "3"])
    figures = all_figures(qrels, runs)
    for name in ("archetypes", "effort", "mean indicators", "means", "correlation", "power"):
        assert len(figures[name]().render("pdf")) < 500_000


def test_topics_without_relevant_documents(make_collection: Callable[..., Any]) -> None:
    qrels, runs = make_collection(["a", "b", "c"], ["1", "2", "3"])
    qrels["2"] = dict.fromkeys(qrels["2"], 0)
    for name, make in all_figures(qrels, runs).items():
        if name in ("correlation", "power"):
            with pytest.warns(UserWarning, match="left out"):
                figure = make()
        else:
            figure = make()
        assert figure.render("svg")


def covered(figure: Figure) -> bool:
    """Whether a legend lies over some axes."""
    figure.figure.draw_without_rendering()
    legends = [*figure.figure.legends, *(a.get_legend() for a in figure.axes if a.get_legend())]
    inside = [axes.get_window_extent() for axes in figure.axes]
    return any(legend.get_window_extent().overlaps(box.padded(-1)) for legend in legends for box in inside)


@pytest.mark.parametrize("name", NAMES)
def test_legends_cover_nothing_and_everything_is_on_the_page(
    name: str, long_names: dict[str, Callable[[], Figure]]
) -> None:
    figure = long_names[name]()
    assert not covered(figure)
    page = figure.figure.bbox.padded(2)
    boxes = [
        *(a.get_tightbbox() for a in figure.axes),
        *(one.get_window_extent() for one in figure.figure.legends),
    ]
    for box in boxes:
        assert page.x0 <= box.x0 and box.x1 <= page.x1 and page.y0 <= box.y0 and box.y1 <= page.y1, (
            name,
            box,
            page,
        )


def test_no_display_no_pyplot_no_change_of_settings() -> None:
    from matplotlib import get_cachedir  # which knows the fonts already: to look for them takes seconds

    program = """
import sys
import rankscope as rs
assert "matplotlib" not in sys.modules
figure = rs.curve(rs.Collection({"q": {"a": 1}}, {"q": ["x", "a"]}), None, "q")
assert "matplotlib" not in sys.modules
figure = figure.plot()
import matplotlib
before = dict(matplotlib.rcParams)
figure.render("pdf"), figure.render("png"), figure.render("svg")
assert "matplotlib.pyplot" not in sys.modules
assert dict(matplotlib.rcParams) == before and matplotlib.rcParams["text.parse_math"]
"""
    environment = {"MPLBACKEND": "TkAgg", "PATH": "/usr/bin", "MPLCONFIGDIR": get_cachedir()}
    process = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    assert process.returncode == 0, process.stderr


def test_a_file_that_is_no_figure(b_t: rs.Curve, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SettingsError, match=r"use \.pdf, \.svg, \.png or \.pgf"):
        b_t.plot().save(tmp_path / "figure.jpg")
    with pytest.raises(SettingsError, match="without an ending"):
        b_t.plot().save(tmp_path / "figure")
    assert not list(tmp_path.iterdir())
    with pytest.raises(SystemExit, match="2"):
        main(["scales", "--length", "3", "--plot", "figure.gif"])
    assert "does not end in .pdf, .svg, .png or .pgf" in capfd.readouterr().err


def test_additions_of_a_user_are_drawn(b_t: rs.Curve) -> None:
    figure = b_t.plot()
    plain = figure.render("png")
    figure.axes[0].set_title("漢 my own title")
    changed = figure.render("png")
    assert changed != plain
    figure.axes[0].yaxis.set_major_formatter(lambda value, place: f"<{value:g}>")
    assert figure.render("png") not in (plain, changed)


def test_grey_paper_tells_series_apart() -> None:
    looks = [tuple(series(n).values()) for n in range(300)]
    assert len(set(looks)) == 300
    assert len({(look[1], look[2]) for look in looks[:45]}) == 45


def test_a_long_legend_ends_with_how_many_more() -> None:
    rows = [(f"m{i:02}", pool, 1, 0.5, 0.5, 0.1, 9) for i in range(30) for pool in (50, 10)]
    columns = ("measure", "pool", "repeat", "tau", "tau_ap", "change", "judgments")
    from rankscope.plots import plot_robustness
    from rankscope.result import TableResult
    from rankscope.tables import Table

    figure = plot_robustness(TableResult({"robustness": Table("robustness", columns, rows)}, {}))
    texts = [t.get_text() for t in figure.figure.legends[0].get_texts()]
    assert len(texts) == 24 and texts[-1] == "and 7 more"


def test_math_in_a_name_is_written_as_it_is(b_t: rs.Curve) -> None:
    with apply_style() as matplotlib:
        assert not matplotlib.rcParams["text.parse_math"]
    a, b = b_t.plot(), b_t.plot()
    a.axes[0].set_title("$x^2$")
    b.axes[0].set_title("$x^2$", parse_math=False)
    assert a.render("png") == b.render("png")


def test_png_is_at_print_resolution(b_t: rs.Curve) -> None:
    from matplotlib.image import imread

    pixels = imread(io.BytesIO(b_t.plot().render("png")))
    assert pixels.shape[1] == round(300 * SINGLE)
    assert np.ptp(pixels[..., :3]) > 0.9


@pytest.mark.parametrize(
    ("command", "options"),
    [
        ("eval", []), ("correlate", []), ("pools", []), ("power", ["--test", "t"]), ("bounds", []),
        ("effort", []), ("effort", ["--figure", "archetypes"]), ("effort", ["--figure", "indicators"]),
    ],
)  # fmt: skip
def test_plot_on_commands(
    command: str,
    options: list[str],
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    make_collection: Callable[..., Any],
) -> None:
    qrels, runs = make_collection(["a", "b", "c"], ["1", "2", "3"])
    lines = [f"{t} 0 {d} {g}\n" for t, grades in qrels.items() for d, g in grades.items()]
    (tmp_path / "qrels.txt").write_text("".join(lines))
    (tmp_path / "runs").mkdir()
    for name, rankings in runs.items():
        lines = [
            f"{t} Q0 {d} {i + 1} {100 - i} {name}\n"
            for t, docs in rankings.items()
            for i, d in enumerate(docs)
        ]
        (tmp_path / "runs" / name).write_text("".join(lines))
    target = tmp_path / "figure.svg"
    assert (
        main([command, str(tmp_path / "qrels.txt"), str(tmp_path / "runs"), *options, "--plot", str(target)])
        == 0
    )
    assert target.read_bytes().endswith(b"</svg>\n")
    capfd.readouterr()


def test_a_failure_leaves_nothing_behind(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    scales = ["scales", "--length", "3", "--equal-relevant", "-m", "DCG(discount=jk)", "--plot"]
    assert main([*scales, str(tmp_path / "a.pdf"), "-o", str(tmp_path / "absent" / "b.json")]) == 2
    with pytest.raises(SystemExit, match="2"):
        main([*scales, str(tmp_path / "absent" / "a.pdf"), "-o", str(tmp_path / "b.json")])
    assert "there is no directory" in capfd.readouterr().err
    nothing = ["-m", "RBP(p=0.5)", "-o", str(tmp_path / "b.json")]
    assert (
        main(["scales", "--length", "3", "--equal-relevant", "--plot", str(tmp_path / "a.pdf"), *nothing])
        == 2
    )
    assert not list(tmp_path.iterdir())


def test_plot_on_commands_without_data(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["properties", "--depth", "3", "-m", "ACT", "--plot", str(tmp_path / "tree.pdf")]) == 0
    length = ["--length", "3", "--equal-relevant"]
    assert main(["scales", *length, "-m", "DCG(discount=jk)", "--plot", str(tmp_path / "intervals.pdf")]) == 0
    assert main(["scales", *length, "-m", "RBP(p=0.5)", "--plot", str(tmp_path / "nothing.pdf")]) == 2
    assert "no counterexample to draw" in capfd.readouterr().err
    assert sorted(p.name for p in tmp_path.iterdir()) == ["intervals.pdf", "tree.pdf"]


def test_names_of_up_to_twelve_letters_are_written_whole_below_columns() -> None:
    written: list[str] = []
    axes = SimpleNamespace(set_xticks=lambda ticks, texts, **style: written.extend(texts))
    name_columns(axes, ["abcdefghijkl", "ABCDEFGHIJKLM"], 3.3)
    assert written[0] == "abcdefghijkl" and len(written[1]) <= 12 and "…" in written[1]
