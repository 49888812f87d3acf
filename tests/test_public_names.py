"""The public names: all there, functions before submodules of the same name."""

from __future__ import annotations

import inspect
import pkgutil
import subprocess
import sys
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import pytest

import rankscope as rs
from rankscope.measures import REGISTRY, FunctionMeasure

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("name", [n for n in rs.__all__ if n not in ("errors", "lab", "plots", "engines")])
def test_every_public_name_resolves_and_stays_what_it_is(name: str) -> None:
    assert not isinstance(getattr(rs, name), ModuleType)
    assert getattr(rs, name) is getattr(rs, name)


def test_functions_win_over_submodules() -> None:
    import rankscope.judging
    import rankscope.simulation  # noqa: F401

    assert callable(rs.simulate)
    assert callable(rs.judge)


def test_measures_are_names_too() -> None:
    assert str(rs.nDCG @ 10) == "nDCG@10"
    assert "Twist" in dir(rs)
    with pytest.raises(AttributeError, match="no attribute 'Twits'"):
        _ = rs.Twits


def test_import_is_light() -> None:
    probe = "import sys, rankscope; print([m for m in ('numpy', 'scipy', 'matplotlib', 'pandas') if m in sys.modules])"
    process = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert process.stdout.strip() == "[]"


def test_the_default_measures_do_not_import_those_of_diversity() -> None:
    probe = "import sys, rankscope; rankscope.Twist; print('rankscope.measures.diversity' in sys.modules)"
    process = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert process.stdout.strip() == "False"


def test_completion_offers_measures_and_public_names_and_nothing_else() -> None:
    assert set(dir(rs)) == {*rs.__all__, *REGISTRY}
    assert not {"annotations", "import_module", "sys", "Any", "TYPE_CHECKING"} & set(dir(rs))


CHECKED = """
import rankscope as rs
reveal_type(rs.nDCG)
reveal_type(rs.nDCG(gains="exp2") @ 10)
reveal_type(rs.lab.scales)
reveal_type(rs.plots.plot_means)
reveal_type(rs.evaluate({}, {}, "AP").to_pandas())
rs.nDGC
rs.lab.scale
rs.plots.plot_mean
"""


@pytest.mark.slow
def test_type_checkers_know_every_name(tmp_path: Path) -> None:
    """No public name is Any to mypy, and a misspelt one is an error."""
    api = pytest.importorskip("mypy.api")
    # Other tests may have defined more measures.
    names = [name for name in dir(rs) if not isinstance(REGISTRY.get(name), FunctionMeasure)]
    everything = "".join(f"reveal_type(rs.{name})\n" for name in names)
    settings = (ROOT / "pyproject.toml").read_text("utf-8").replace('packages = ["rankscope"]', "")
    (tmp_path / "pyproject.toml").write_text(settings, "utf-8")
    options = ["--config-file", str(tmp_path / "pyproject.toml"), "--cache-dir", str(ROOT / ".mypy_cache")]
    out, _, code = api.run([*options, "-c", CHECKED + everything])
    revealed = [
        line.partition("note: Revealed type is ")[2].strip('"')
        for line in out.splitlines()
        if "Revealed" in line
    ]
    assert code == 1, out
    assert revealed[:2] == ["rankscope.measures.weighted.nDCG"] * 2
    assert "Scales" in revealed[2] and "Figure" in revealed[3]
    assert revealed[4].endswith("DataFrame") or find_spec("pandas-stubs") is None
    assert len(revealed) == 5 + len(names) and "Any" not in revealed
    assert out.count("error: ") == 3 == out.count("[attr-defined]")


def test_no_warning_at_import_or_on_the_command_line() -> None:
    for words in (["-c", "import rankscope; rankscope.evaluate"], ["-m", "rankscope", "measures", "AP"]):
        process = subprocess.run([sys.executable, "-W", "error", *words], capture_output=True, text=True)
        assert (process.returncode, process.stderr) == (0, "")


def test_one_version() -> None:
    """It is written in one place; what is installed and the citation agree with it."""
    assert version("rankscope") == rs.__version__
    assert f"\nversion: {rs.__version__}\n" in (ROOT / "CITATION.cff").read_text("utf-8")


def packages() -> list[str]:
    """Return every package of ours."""
    names = pkgutil.walk_packages(rs.__path__, "rankscope.")
    return ["rankscope", *(module.name for module in names if module.ispkg)]


@pytest.mark.parametrize("name", packages())
def test_no_module_has_the_name_of_a_function_of_its_package(name: str) -> None:
    """``import rankscope.x.y`` would take the place of the function ``y`` of ``rankscope.x``."""
    package = import_module(name)
    modules = {module.name for module in pkgutil.iter_modules(package.__path__)}
    named = {
        name
        for name in modules & set(getattr(package, "__all__", ()))
        if not inspect.ismodule(getattr(package, name))
    }
    hidden = {name for name in modules & set(vars(package)) if not inspect.ismodule(vars(package)[name])}
    assert named | hidden == set()
