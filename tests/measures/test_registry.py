"""The registry of measures: a class registers itself, modules are imported when they are needed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import rankscope
from rankscope.measures import REGISTRY, FunctionMeasure
from rankscope.measures.registry import _home

ROOT = Path(__file__).parents[2]
OURS = {
    name: type(measure).__module__.rpartition(".")[2]
    for name, measure in REGISTRY.items()
    if type(measure).__module__.startswith("rankscope.measures.") and not isinstance(measure, FunctionMeasure)
}


def in_a_new_process(code: str) -> str:
    """Return the output of a program in a new process."""
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return process.stdout.strip()


def test_the_source_tells_the_module_of_every_name() -> None:
    assert {name: _home(name) for name in OURS} == OURS


def test_listings_begin_with_the_classic_measures_and_end_with_those_of_trec_eval() -> None:
    modules = list(dict.fromkeys(OURS.values()))
    assert (modules[0], modules[-1], next(iter(OURS))) == ("classic", "trec", "AP")


def test_one_name_loads_its_family_only() -> None:
    loaded = (
        "import sys; from rankscope.measures import parse_many; parse_many('AP nDCG@10'); print(*sys.modules)"
    )
    modules = in_a_new_process(loaded).split()
    assert "rankscope.measures.classic" in modules
    assert not {f"rankscope.measures.{name}" for name in ("effort", "diversity", "trec", "interval")} & {
        *modules
    }


def test_a_measure_is_usable_only_when_its_module_is_imported_completely(tmp_path: Path) -> None:
    """`effort --enumerate` ended with NameError: a thread found Sigma while another thread imported its module."""
    (tmp_path / "slow_import.py").write_text(
        "import time\n"
        "from rankscope.measures.base import Measure\n"
        "class Slow(Measure):\n"
        '    """A measure whose module takes half a second to import."""\n'
        '    reference = "Doe"\n'
        "time.sleep(0.5)\n"
        "complete = True\n"
    )
    code = f"""
import sys, threading, time
from rankscope import measures
measures.__path__.append({str(tmp_path)!r})
threading.Thread(target=__import__, args=["rankscope.measures.slow_import"]).start()
while "Slow" not in measures.REGISTRY._measures:
    time.sleep(0.01)
print(*(hasattr(sys.modules[type(found).__module__], "complete") for found in
        [measures.REGISTRY["Slow"], measures.REGISTRY.get("Slow")]), "Slow" in measures.REGISTRY)
"""
    assert in_a_new_process(code) == "True True True"


@pytest.mark.parametrize("first", ["AP", "trec", "Interval", "no such measure", "AP_IA"])
def test_the_order_does_not_depend_on_the_first_lookup(first: str) -> None:
    code = f"from rankscope.measures import REGISTRY; {first!r} in REGISTRY; REGISTRY.get({first!r}); print(*REGISTRY)"
    assert in_a_new_process(code).split() == [*OURS]


@pytest.mark.parametrize(
    "expression",
    [
        "len(REGISTRY)",
        "len(REGISTRY.keys())",
        "len(REGISTRY.values())",
        "len(dict(REGISTRY))",
        "len([*REGISTRY])",
    ],
)
def test_listings_contain_all_measures(expression: str) -> None:
    n_measures = len(OURS)
    assert in_a_new_process(f"from rankscope.measures import REGISTRY; print({expression})") == str(
        n_measures
    )


@pytest.mark.parametrize("name", [*OURS][::7])
def test_a_name_alone_is_known(name: str) -> None:
    code = f"from rankscope.measures import REGISTRY; print({name!r} in REGISTRY, type(REGISTRY[{name!r}]).__module__)"
    assert in_a_new_process(code).startswith("True rankscope.measures.")


NEW = '''"""A new measure."""

from rankscope.measures.base import Measure, parameter, ratio


class RootRank(Measure):
    """Mean over the relevant documents of one divided by the root of their ranks.

    RootRank = 1/R * sum over relevant documents of 1 / sqrt(rank)
    """

    aliases = ("root_rank",)
    reference = "Doe 2026"
    rel: int = parameter(1, "lowest grade that counts as relevant")

    def evaluate(self, lists):
        hits = lists.relevant(self.rel)
        return ratio(hits.sum(1 / hits.rank**0.5), lists.recall_base(self.rel))
'''


@pytest.mark.slow
def test_a_measure_is_one_file(tmp_path: Path) -> None:
    """A copy of the package with one more file knows the measure everywhere."""
    package = tmp_path / "rankscope"
    shutil.copytree(Path(rankscope.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    (package / "measures" / "root_rank.py").write_text(NEW, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])}

    def printed(*words: str) -> str:
        process = subprocess.run(
            [sys.executable, *words], env=environment, cwd=ROOT, capture_output=True, text=True, check=False
        )
        assert process.returncode == 0, process.stdout + process.stderr
        return process.stdout

    code = f"""
import sys
import rankscope as rs
from rankscope.measures import REGISTRY, parse_many
assert rs.__file__.startswith({str(tmp_path)!r})
print(*parse_many("RootRank(rel=2) root_rank"), rs.RootRank, "RootRank" in dir(rs))
print(rs.evaluate({{"q": {{"a": 1, "b": 1}}}}, {{"q": ["a", "x", "y", "b"]}}, "RootRank").mean("RootRank")[0])
print([name for name in REGISTRY][-2:])
from rankscope.lab.certificates import _all_measures, certificates
print(rs.RootRank in _all_measures(), certificates("RootRank").holds("RootRank", "relevance monotonicity"))
sys.path.insert(0, "docs")
import make_measures
print("[RootRank](RootRank.md)" in make_measures.index())
print("RootRank: rankscope.measures.root_rank" in make_measures.names())
"""
    lines = printed("-c", code).splitlines()
    assert lines[0] == "RootRank(rel=2) root_rank RootRank True"
    assert lines[1] == "0.75"
    assert lines[2] == "['RootRank', 'root_rank']"
    assert lines[3].startswith("True ")
    assert lines[4:] == ["True", "True"]
    assert "RootRank" in printed("-m", "rankscope", "measures")
    assert "Doe 2026" in printed("-m", "rankscope", "measures", "root_rank")
    swept = printed(
        "-m",
        "pytest",
        "-q",
        "--collect-only",
        "-p",
        "no:cacheprovider",
        "tests/properties/test_every_measure.py",
    )
    assert "[RootRank]" in swept
