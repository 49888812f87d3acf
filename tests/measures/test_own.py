"""A measure of one's own: what can be said about it, and packages that bring one."""

from __future__ import annotations

import os
import pickle
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import rankscope as rs
from rankscope.cli.main import main
from rankscope.errors import MeasureError
from rankscope.measures import REGISTRY

ROOT = Path(__file__).parents[2]
QRELS = {"q1": {"d1": 1, "d2": 0, "d3": 2, "d4": -1}}
RUN = {"bm25": {"q1": ["d2", "x", "d3", "d1"]}}


def weighed(grades: list[int], counts: dict[int, int], *, weight: float = 1.0, rel: int = 1) -> float:
    """Weighed: relevant documents, weighed, as a share of all.

    a formula
    """
    return weight * sum(grade >= rel for grade in grades) / max(1, sum(counts.values()))


@pytest.fixture
def named() -> Any:
    """Names that are free again after the test."""
    before = dict(REGISTRY)
    yield
    REGISTRY.clear()
    REGISTRY.update(before)


def value(measure: Any) -> float:
    return float(rs.evaluate(QRELS, RUN, [measure]).values[0, 0, 0])


def test_all_attributes_of_a_measure_can_be_declared(named: Any) -> None:
    defined = rs.measure(
        "Weighed",
        weighed,
        range=(0, 5),
        better="lower",
        reference="us",
        parameters={"weight": "how much it counts"},
    )
    assert (defined.range, defined.better, defined.reference) == ((0.0, 5.0), "lower", "us")
    assert defined.meaning == "Weighed: relevant documents, weighed, as a share of all."
    assert {key: p.meaning for key, p in defined.parameters.items()} == {
        "weight": "how much it counts",
        "rel": "rel of the function",
    }
    assert value("Weighed") == 0.5  # counts: one of grade 1, one of grade 2, two that are not relevant
    assert value("Weighed(weight=4, rel=2)") == 1.0
    assert value(defined(rel=2) @ 2) == 0.0
    repeated = pickle.loads(pickle.dumps(defined(weight=2) @ 3))
    assert str(repeated) == "Weighed(weight=2)@3" and repeated.range == (0.0, 5.0) and value(repeated) == 0.5


def test_counts_are_those_of_the_pool(named: Any) -> None:
    arguments: list[Any] = []
    rs.measure("Seen", lambda grades, counts: arguments.append((grades, counts)) or 0, unjudged=None)
    value("Seen")
    assert arguments == [([0, None, 2, 1], {0: 2, 1: 1, 2: 1})]


@pytest.mark.parametrize(
    ("function", "options", "message"),
    [
        (lambda grades: 0, {"range": (1, 0)}, "cannot have range"),
        (lambda grades: 0, {"range": "ab"}, "cannot have range"),
        (lambda grades, *, p: 0, {}, "has no default"),
        (lambda grades, *, p=None: 0, {}, "has no default"),
        (lambda grades, *, cutoff=1: 0, {}, "cannot have a parameter 'cutoff'"),
        (lambda grades, *, range=1: 0, {}, "cannot have a parameter 'range'"),
        (lambda grades: 0, {"parameters": {"p": "x"}}, "has no parameter 'p'"),
        (lambda grades: 0, {"better": "more"}, "cannot have better"),
    ],
)
def test_invalid_definitions_are_refused(
    named: Any, function: Any, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(MeasureError, match=re.escape(message)):
        rs.measure("Odd", function, **options)
    assert "Odd" not in REGISTRY


def test_values_outside_the_range_are_refused(named: Any) -> None:
    rs.measure("Much", lambda grades: 1.5, range=(0, 1))
    with pytest.raises(MeasureError, match=r"Much returned 1\.5, which is not in its range from 0 to 1"):
        value("Much")


@pytest.mark.parametrize(
    "wrong", [lambda grades: float("nan"), lambda grades: 1 / (len(grades) - 3), lambda grades: "x"]
)
def test_undefined_values_give_no_verdict(named: Any, wrong: Any) -> None:
    """It was "0 violations of 855,921": NaN compares as neither larger nor smaller."""
    rs.measure("Wrong", wrong)
    for ask in (
        lambda: rs.lab.properties(["Wrong"], aspects=1, depth=5),
        lambda: rs.lab.scales(["Wrong"], length=4),
    ):
        with pytest.raises(MeasureError, match="Wrong"):
            ask()


# packages ---------------------------------------------------------------------------------------------------


def package(folder: Path, entries: str, code: str) -> Path:
    """A package as pip would leave it."""
    (folder / "brought.py").write_text(code)
    info = folder / "brought-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: brought\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[rankscope.measures]\n{entries}\n")
    return folder


@pytest.fixture
def installed(named: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    def install(entries: str, code: str) -> None:
        monkeypatch.syspath_prepend(str(package(tmp_path, entries, code)))
        monkeypatch.delitem(sys.modules, "brought", raising=False)

    return install


CODE = '''
import rankscope as rs

def depth(grades):
    """Depth: how long a list is."""
    return len(grades)

second = rs.measure("Second", lambda grades, *, add=0: (grades[1] if len(grades) > 1 else 0) + add, range=(0, 99))
number = 5
'''


def test_an_installed_measure_is_known_by_its_name(
    installed: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    installed("Depth = brought:depth\nSecond = brought:second", CODE)
    assert value("Depth") == 4 and value("Second(add=2)") == 2 and value("Depth@3") == 3
    assert rs.Depth.meaning == "Depth: how long a list is."
    assert main(["measures", "Second"]) == 0
    assert "add=0" in capsys.readouterr().out


def test_installed_measures_are_listed(installed: Any, capsys: pytest.CaptureFixture[str]) -> None:
    installed("Depth = brought:depth", CODE)
    assert main(["measures", "-f", "tsv"]) == 0
    assert "\tDepth\t" in capsys.readouterr().out
    with pytest.raises(MeasureError, match="did you mean Depth"):
        rs.measure("Dpeth")


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("Gone = nowhere:depth", "cannot import the installed measure Gone (ModuleNotFoundError"),
        ("Gone = brought:nothing", "cannot import the installed measure Gone (AttributeError"),
        ("Gone = brought:number", "is neither a function nor a measure"),
        ("Gone = brought:second", "the installed measure Gone is called Second"),
    ],
)
def test_a_measure_that_cannot_be_loaded_is_named(installed: Any, entry: str, message: str) -> None:
    installed(entry, CODE)
    with pytest.raises(MeasureError, match=re.escape(message)):
        rs.measure("Gone")


def test_no_package_takes_the_place_of_a_built_in_measure(installed: Any) -> None:
    installed("AP = brought:depth", CODE)
    assert value("AP") != 4


@pytest.mark.slow
def test_the_template_is_a_package_that_works(tmp_path: Path) -> None:
    """Installed by pip into a folder, used in another process."""
    shutil.copytree(ROOT / "docs" / "template", tmp_path / "template")
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation", "--no-index"]
    target = tmp_path / "site"
    subprocess.run(
        [*pip, "--target", str(target), str(tmp_path / "template")], check=True, capture_output=True
    )
    (tmp_path / "qrels").write_text("1 0 a 1\n1 0 b 0\n1 0 c 2\n")
    (tmp_path / "run").write_text("1 Q0 b 1 3 t\n1 Q0 a 2 2 t\n")
    process = subprocess.run(
        [sys.executable, "-m", "rankscope", "eval", "qrels", "run", "-m", "Early Early(depth=1)", "-f", "tsv"],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(target)}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "0.5" in process.stdout and "Early(depth=1)" in process.stdout
