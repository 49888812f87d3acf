"""Figures in papers: text set by LaTeX, fonts, grey printers, and the colours of the page."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any
from unicodedata import lookup

import pytest

import rankscope as rs
from rankscope.cli.main import main
from rankscope.errors import SettingsError
from rankscope.plots import palette
from rankscope.plots.figure import Figure
from rankscope.plots.latex import tex, tex_system

WEB = Path(__file__).parents[2] / "web" / "src"
FAKE = r"""#!{python}
# as much of LaTeX as matplotlib talks to: a prompt, and the size of whatever is set
import sys
for line in sys.stdin:
    if "pgf_backend_query_start" in line:
        sys.stdout.write("**pgf_backend_query_start\n\n*")
    elif "sbox0" in line:
        sys.stdout.write(f"\n{{0.4 * len(line)}}pt,7.0pt,2.0pt\n\n*")
    elif "@@end" in line:
        break
    sys.stdout.flush()
"""
HOSTILE = r"\input{/etc/passwd} 50% a_b $x$ #1 ^^M {&~"


@pytest.fixture
def some_latex(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A PATH with nothing in it but a program that answers matplotlib as LaTeX does."""
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / "xelatex"
    program.write_text(FAKE.format(python=sys.executable))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))
    return folder


@pytest.fixture
def two_figures(make_collection: Callable[..., Any]) -> dict[str, Figure]:
    qrels, runs = make_collection([HOSTILE, "b", "c"], ["1", "2", "3"])
    return {
        "curve": rs.curve(rs.Collection(qrels, {HOSTILE: runs[HOSTILE]}), None, "1").plot(),
        "plane": rs.effort(rs.Collection(qrels, runs), "AP").plot(highlight=[HOSTILE]),
        "map": rs.evaluate(qrels, runs, ["AP"]).plot("heat-map"),
    }


def test_latex_sets_names_as_they_are(some_latex: Path, two_figures: dict[str, Figure]) -> None:
    for name, figure in two_figures.items():
        text = figure.render("pgf").decode()
        assert text.startswith("%% Creator: Matplotlib, PGF backend") and "\\begin{pgfpicture}" in text
        program = re.sub(r"^%.*$", "", text, flags=re.M)
        assert r"\input" not in program
        assert r"\textbackslash{}input\{/" in program, name
        assert "includegraphics" not in program, "one file is the whole figure"
        names = re.findall(r"\\selectfont\\catcode.*?\\def%\{\\%\}(.*?)\}%", text)
        assert len(names) > 8, name
        assert all(part.isascii() for part in names)
    assert figure.render("pgf").decode() == text
    assert b"DejaVu" not in two_figures["curve"].render("pgf"), "the fonts are those of the paper"


def test_without_latex_one_line_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], b_t: rs.Curve
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SettingsError, match="there is no xelatex, lualatex or pdflatex; install one of them"):
        b_t.plot().save(tmp_path / "figure.pgf")
    with rs.plots.using("latex"), pytest.raises(SettingsError, match="LaTeX must typeset this figure"):
        b_t.plot().render("pdf")
    scales = ["scales", "--length", "3", "--equal-relevant", "-m", "DCG(discount=jk)"]
    for options in (
        ["--plot", str(tmp_path / "a.pgf")],
        ["--plot", str(tmp_path / "a.pdf"), "--style", "latex"],
    ):
        with pytest.raises(SystemExit, match="2"):
            main([*scales, *options])
        assert "there is no xelatex" in capfd.readouterr().err.splitlines()[-1]
    assert not list(tmp_path.iterdir())


def test_a_paper_includes_the_figure(tmp_path: Path, two_figures: dict[str, Figure]) -> None:
    try:
        system = shutil.which(tex_system())
    except SettingsError as error:
        pytest.skip(str(error))
    assert system is not None
    for name, figure in two_figures.items():
        figure.save(tmp_path / f"{name}.pgf")
    pages = "".join(f"\\input{{{name}.pgf}}\n" for name in two_figures)
    paper = f"\\documentclass{{article}}\\usepackage{{pgf}}\\begin{{document}}{pages}\\end{{document}}"
    (tmp_path / "paper.tex").write_text(paper)
    process = subprocess.run(
        [system, "-halt-on-error", "paper.tex"], cwd=tmp_path, capture_output=True, text=True
    )
    assert process.returncode == 0, process.stdout[-1000:]


def test_serif_figures(b_t: rs.Curve, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with rs.plots.using("serif"):
        pdf = b_t.plot().render("pdf")
    assert b"STIXGeneral" in pdf and b"STIXGeneral" not in b_t.plot().render("pdf")
    with pytest.raises(SettingsError, match="did you mean serif"), rs.plots.using("serife"):
        pass
    scales = ["scales", "--length", "3", "--equal-relevant", "-m", "DCG(discount=jk)", "--style", "serif"]
    assert main([*scales, "--plot", str(tmp_path / "a.pdf")]) == 0
    assert b"STIXGeneral" in (tmp_path / "a.pdf").read_bytes()
    capfd.readouterr()


def test_every_sign_of_the_figures_is_known_to_latex() -> None:
    sources = (Path(palette.__file__).parent).glob("*.py")
    texts = [
        text for path in sources for text in re.findall(r'f?"([^"\n]*[^\x00-\x7f][^"\n]*)"', with_signs(path))
    ]
    signs = {c for text in texts for c in text if not c.isascii()} - set(style_blocks())
    signs -= set("漢ש’")  # examples of docstrings
    unknown = {sign for sign in signs if not tex(sign).isascii() or "textbackslash" in tex(sign)}
    # Letters of authors' names are in every Latin font.
    assert signs and unknown <= {"é", "ä"}, "add its LaTeX command to _SIGNS of plots/latex.py"


def with_signs(path: Path) -> str:
    """Return the text of a module with signs instead of their names."""
    return re.sub(r"\\N\{([A-Z ]+)\}", lambda match: lookup(match[1]), path.read_text("utf-8"))


def style_blocks() -> str:
    from rankscope.plots import blocks

    return blocks._BLOCKS + "│─"


def luminance(colour: Any) -> float:
    from matplotlib.colors import to_rgb

    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), to_rgb(colour), strict=True))


def without_colour(handle: Any) -> tuple[Any, ...]:
    """Return the appearance of an entry of a legend on a grey printer."""
    from matplotlib.lines import Line2D

    if isinstance(handle, Line2D):
        dash = (
            handle.get_linestyle(),
            handle._unscaled_dash_pattern if handle.get_linestyle() == "--" else None,
        )
        face = handle.get_markerfacecolor()
        filled = (
            None if handle.get_marker() in ("None", "") else "open" if face in ("none", "white") else "filled"
        )
        return ("line", str(handle.get_marker()), str(dash), filled)
    return ("patch", handle.get_hatch(), round(luminance(handle.get_facecolor()[:3]), 1))


def test_grey_printers_tell_everything_apart(
    effort: rs.Effort, scores: rs.Scores, collection: tuple[Any, Any], a_t: rs.Curve
) -> None:
    qrels, runs = collection
    figures = {
        "curve": a_t.plot(),
        "gain": a_t.plot("dcg"),
        "plane": effort.plot(highlight=["run1", "run2"]),
        "archetypes": effort.plot(colour="archetype"),
        "recall base": effort.plot(colour="recall base"),
        "robustness": rs.pools(rs.evaluate(qrels, runs, ["AP", "nDCG", "P@5", "Twist"]), repeats=2).plot(),
        "power": rs.power(scores, "t").plot(),
        "bounds": rs.bounds(rs.Collection(qrels, runs)).plot(),
    }
    for name, figure in figures.items():
        handles = [h for legend in figure.figure.legends for h in legend.legend_handles]
        assert len(handles) > 1, name
        for first, second in combinations(handles, 2):
            same = without_colour(first) == without_colour(second)
            # bars of RP differ by their direction, which is what their labels say
            text = {str(h.get_label()).split(":")[0] for h in (first, second)}
            assert not same or text == {"up", "down"}, (name, first, second)


def test_figures_and_page_have_one_palette() -> None:
    sheet = (WEB / "app.css").read_text("utf-8")
    light = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", sheet[: sheet.index("@media")]))
    assert tuple(light[f"run-{k}"] for k in range(8)) == palette.COLOURS
    assert (light["exact"], light["early"], light["late"]) == (palette.EXACT, palette.ABOVE, palette.BELOW)
    assert (light["late"], light["early"]) == (palette.GAIN, palette.LOSS)
    assert len({palette.GAIN, palette.LOSS, palette.EFFORT, palette.UNJUDGED}) == 4
    for name, colours in (("shape", palette.ARCHETYPE_COLOURS), ("quarter", palette.QUARTER_COLOURS)):
        assert tuple(light[f"{name}-{k}"] for k in range(len(colours))) == colours
