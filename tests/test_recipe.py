"""The recipe of CONTRIBUTING for an analysis with a command and a figure: its source files are three."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]
MODULE = '''"""Differences between the runs of each topic."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankscope.declaration import analysis
from rankscope.result import TypedResult, table
from rankscope.rows import Row, RowTable, column

if TYPE_CHECKING:
    from rankscope.scores import Scores


class Gap(Row):
    """Difference of a topic."""

    topic: str = column()
    gap: float = column("highest minus lowest value")


class Gaps(TypedResult):
    """Differences between the runs of each topic."""

    gaps: RowTable[Gap] = table("every topic")


@analysis(figures={"bars": "gaps.plot_gaps"}, measures=("AP",))
def gaps(scores: Scores) -> Gaps:
    """Measure how far runs are apart on each topic.

    Parameters
    ----------
    scores
        Runs to compare.

    Commands
    --------
    rankscope gaps qrels.txt runs/ -m AP
    """
    matrix = scores.matrix(scores.measures[0])
    widths = (matrix.values.max(axis=0) - matrix.values.min(axis=0)).tolist()
    rows = [Gap(topic, width) for topic, width in zip(matrix.topics, widths, strict=True)]
    return Gaps(gaps=Gap.table("gaps", rows), settings=scores.settings)
'''
FIGURE = '''"""Figure of gaps."""

from __future__ import annotations

from rankscope.plots.figure import Figure
from rankscope.plots.style import SINGLE, canvas
from rankscope.result import Result


def plot_gaps(result: Result, *, width: float = SINGLE) -> Figure:
    """Draw a bar per topic."""
    with canvas(width, 2.0) as (figure, axes):
        axes.bar(result["gaps"].column("topic"), result["gaps"].column("gap"))
    return Figure(figure, (axes,), result["gaps"])
'''


def make_names() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_names", ROOT / "docs" / "make_names.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_stub_files_name_every_analysis_and_every_figure() -> None:
    script = make_names()
    for name in script.RULES:
        assert script.stub(name) == (script.SOURCE / name).read_text("utf-8"), "run python docs/make_names.py"


def test_three_source_files_make_an_analysis_with_a_command_and_a_figure(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    source = tmp_path / "rankscope"
    shutil.copytree(ROOT / "src" / "rankscope", source, ignore=shutil.ignore_patterns("__pycache__"))
    (source / "analysis" / "gaps.py").write_text(MODULE, "utf-8")
    (source / "plots" / "gaps.py").write_text(FIGURE, "utf-8")
    commands = source / "cli" / "commands.py"
    line = 'COMMANDS = {\n    "gaps": Command("compare", "differences by topic"),\n'
    commands.write_text(commands.read_text("utf-8").replace("COMMANDS = {\n", line), "utf-8")
    script = make_names()
    for name in script.RULES:
        (source / name).write_text(script.stub(name, source), "utf-8")
    (tmp_path / "qrels.txt").write_text("q 0 a 1\n", "utf-8")
    for run, first in (("x", "a"), ("y", "b")):
        (tmp_path / run).write_text(f"q Q0 {first} 1 2 {run}\nq Q0 c 2 1 {run}\n", "utf-8")
    command = [
        sys.executable,
        "-m",
        "rankscope",
        "gaps",
        "qrels.txt",
        "x",
        "y",
        "--plot",
        "gaps.svg",
        "-f",
        "csv",
    ]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("topic,gap\nq,1.0\n", 0), done.stderr
    assert (tmp_path / "gaps.svg").read_text("utf-8").startswith("<?xml")
    code = "import rankscope as rs; print(rs.gaps.__name__, rs.plots.plot_gaps.__name__, rs.__file__)"
    names = subprocess.check_output([sys.executable, "-c", code], cwd=tmp_path, text=True).split()
    assert names == ["gaps", "plot_gaps", str(source / "__init__.py")]


@pytest.mark.parametrize(("number", "limit"), [("two", 2), ("at most five", 5), ("at most four", 4)])
def test_a_recipe_lists_as_many_files_as_it_says(number: str, limit: int) -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    recipe = text.partition(f"ou write {number} files by hand:\n\n")[2].partition("\n\n")[0]
    assert len(re.findall(r"^\d\. ", recipe, re.MULTILINE)) == limit


def test_functions_and_constants_of_the_recipes_exist() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8").partition("## Structure")[2].partition("## Style")[0]
    names = set(re.findall(r"`(?:\w+\.)?(\w+)\(", text)) | set(
        re.findall(r"`(?:\w+\.)*([A-Z][A-Z_]+)`", text)
    )
    sources = [*(ROOT / "src").rglob("*.py"), *(ROOT / "tests").rglob("*.py")]
    code = "\n".join(path.read_text("utf-8") for path in sources)
    defined = set(re.findall(r"(?:def|class) (\w+)", code))
    defined |= set(re.findall(r"^ *(\w+)(?:: [^=\n]+)? = ", code, re.MULTILINE))
    assert {"blank", "canvas", "COLLECTION_OPTIONS", "NEITHER"} <= names
    assert names - {"x", "x_of", "TYPE_CHECKING"} <= defined


def test_steps_of_the_recordings_exist() -> None:
    steps = re.findall(r'"([\w./]+)",?$', (ROOT / "tests" / "record").read_text("utf-8"), re.MULTILINE)
    files = [step if step.endswith(".py") else f"{step.replace('.', '/')}.py" for step in steps]
    assert len(files) > 8
    assert not [file for file in files if not (ROOT / file).is_file()]
