"""README: its examples run, its claims about official programs name what really is the same."""

from __future__ import annotations

import gzip
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import distribution
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import rankscope as rs
from rankscope.cli.main import main
from rankscope.ndeval import make_columns

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")
QUICK = {  # the same commands on less
    "study": ["--repeats", "1", "--replicates", "20"],
    "properties": ["--depth", "3"],
    "scales": ["--length", "4"],
}


def block(heading: str, language: str) -> str:
    match = re.search(rf"^## {heading}\n+```{language}\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
    assert match is not None
    return match[1]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Create the files that the examples name: qrels.txt, runs/ with bm25, run.txt, four.toml, mymetrics.py."""
    root = tmp_path_factory.mktemp("readme")
    rs.simulate(systems=4, topics=5, grades=3, depth=30, seed=3, pool_depth=15).write(root / "made")
    shutil.move(root / "made" / "runs", root / "runs")
    first, second, *_ = sorted((root / "runs").iterdir())
    first.rename(root / "runs" / "bm25.txt")
    with gzip.open(root / "runs" / f"{second.stem}.txt.gz", "wb") as packed:
        packed.write(second.read_bytes())
    second.unlink()
    judgments = (root / "made" / "qrels.txt").read_text()
    (root / "qrels.txt").write_text(re.sub(r"^301 ", "351 ", judgments, flags=re.MULTILINE))
    for run in (root / "runs").glob("*.txt"):
        run.write_text(re.sub(r"^301 ", "351 ", run.read_text(), flags=re.MULTILINE))
    shutil.copy(root / "runs" / "bm25.txt", root / "run.txt")
    tables = [f'[collections.{name}]\nqrels = "qrels.txt"\nruns = "runs"\n' for name in ("one", "two")]
    (root / "four.toml").write_text("\n".join(tables))
    (root / "mymetrics.py").write_text("def ndcg(grades):\n    return float(sum(grades))\n")
    return root


@pytest.mark.parametrize("line", block("In a terminal", "sh").splitlines())
def test_examples_in_a_terminal(
    line: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    program, *words = shlex.split(line, comments=True)
    assert program == "rankscope"
    if "--plot" in words:
        pytest.importorskip("matplotlib")
        assert "rankscope[plots]" in line
    monkeypatch.chdir(folder)
    arguments = [str(p) for word in words for p in (sorted(Path().glob(word)) if "*" in word else [word])]
    code = main([*arguments, *QUICK.get(words[0], ())])
    out = capsysbinary.readouterr()
    assert (code, b"Traceback" in out.err) == (0, False), out.err


def test_examples_in_python(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for package in ("matplotlib", "pandas", "polars"):
        pytest.importorskip(package)
    monkeypatch.chdir(folder)
    (folder / "runs" / "bm25.txt").rename(folder / "runs" / "bm25.run")
    shutil.copy(folder / "runs" / "bm25.run", folder / "runs" / "bm25.txt")
    (folder / "runs" / "bm25.run").unlink()
    with gzip.open(folder / "runs" / "bm25.txt.gz", "wb") as packed:
        packed.write((folder / "runs" / "bm25.txt").read_bytes())
    names: dict[str, Any] = {}
    exec(block("In Python", "python").replace("depth=10", "depth=3"), names)
    assert (folder / "curve.pdf").stat().st_size > 1000
    assert names["scores"].runs
    assert names["mine"] in rs.evaluate(folder / "qrels.txt", folder / "run.txt", names["mine"]).measures


def test_the_install_makes_the_program_known() -> None:
    """Check that the README first runs the demo by its path, and then puts ``rankscope`` on the PATH."""
    first = README[README.index("```sh") :]
    assert ".venv/bin/rankscope demo" in first
    assert ". .venv/bin/activate && pip install -q '.[all]'" in first
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    assert {"all", *re.findall(r"rankscope\[(\w+)\]", README)} <= extras.keys()
    listed = re.search(r"or one of (.*?)\.", README)
    assert listed is not None
    assert extras["all"] == [f"rankscope[{','.join(re.findall(r'`(.+?)`', listed[1]))}]"]


def test_the_first_output_is_that_of_the_demo(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["demo", "--quiet"]) == 0
    shown = re.findall(r"^```text\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)[0].splitlines()
    printed = capsys.readouterr().out.splitlines()
    assert shown[-1] == "..." and printed[: len(shown) - 1] == shown[:-1]


def test_the_comparison_states_what_other_packages_have() -> None:
    pytrec_eval, ir_measures = (pytest.importorskip(name) for name in ("pytrec_eval", "ir_measures"))
    ranx = find_spec("ranx")
    if ranx is None or ranx.origin is None:
        pytest.skip("ranx is not installed")
    rows = {row[0]: row[1:] for row in re.findall(r"^\| " + r"([^|]*) \| " * 6 + "*$", README, re.MULTILINE)}
    package = Path(ranx.origin).parent  # An import takes seconds.
    assert {path.stem for path in (package / "statistical_tests").glob("[!_]*.py")} == {
        "paired_student_t_test", "fisher_randomization_test", "tukey_hsd_test",
    }  # fmt: skip
    assert rows["significance tests"][1:] == ("no", "no", "no", "t, Fisher, Tukey")
    assert (package / "meta" / "fuse.py").is_file() and (package / "meta" / "optimize_fusion.py").is_file()
    assert rows["fusion of runs"] == ("no", "no", "no", "no", "yes, with tuning")
    assert hasattr(ir_measures, "define") and not hasattr(pytrec_eval, "define")
    assert rows["measures of your own"][2:] == ("no", "yes", "no")
    scripts = {name: [e.name for e in distribution(name).entry_points] for name in ("ir_measures", "ranx")}
    assert scripts == {"ir_measures": ["ir_measures"], "ranx": []}
    assert rows["interface"][3:] == ("command, Python", "Python")
    track = (ROOT / "BENCHMARKS.md").read_text("utf-8").split("## W2")[1].split("## W3")[0]
    seconds = dict(re.findall(r"^\| ([\w-]+) \| ([\d.]+) \|", track, re.MULTILINE))
    times = [seconds[name] for name in ("Rankscope", "pytrec_eval-terrier", "ir_measures", "ranx")]
    [row] = [values for name, values in rows.items() if "BENCHMARKS.md" in name]
    assert [value for value in row if value != "not measured"] == [f"{float(time):.1f}" for time in times]


def official() -> dict[str, str]:
    rows = re.findall(r"^\| (trec_eval 10|gdeval|ndeval|TREC-DD cube test) \|[^|]*\| (.*) \|$", README, re.M)
    assert len(rows) == 4
    return dict(rows)


def named_in(text: str) -> list[str]:
    return [name for name in re.findall(r"`([^`]+)`", text) if not name.startswith("-")]


def test_measures_named_for_official_programs() -> None:
    """gdeval's are those that tests/measures/test_peers.py compares with its script; ndeval's make its columns."""
    named = {name: named_in(text) for name, text in official().items()}
    assert [rs.measure(name) for name in named["gdeval"]] == [
        rs.measure("ERR(max_grade=4)@20"),
        rs.measure("nDCG(gains=exp2)@20"),
    ]
    files = {
        str(one) for name, one in make_columns(0.5, 0.5).items() if "@" not in name or name.endswith("@20")
    }
    assert {str(rs.measure(name)) for name in named["ndeval"]} == files
    assert [str(rs.measure(name)) for name in named["trec_eval 10"]] == ["AP", "P@10", "nDCG@10"]
    assert {"CT", "ACT"} <= set(named["TREC-DD cube test"])


def test_the_claim_about_ndeval_is_so(tmp_path: Path) -> None:
    """Evaluated by ``eval``, the measures of the table are what ``rankscope ndeval`` prints."""
    rs.simulate(systems=2, topics=6, grades=2, depth=40, seed=7, pool_depth=30, aspects=4).write(
        tmp_path / "m"
    )
    qrels, run = tmp_path / "m" / "qrels.diversity.txt", sorted((tmp_path / "m" / "runs").iterdir())[0]
    measures = named_in(official()["ndeval"])
    scores = rs.evaluate(qrels, run, measures, order="rank")
    assert main(["ndeval", "-c", str(qrels), str(run), "-o", str(tmp_path / "out.csv")]) == 0
    head, *_, last = [line.split(",") for line in (tmp_path / "out.csv").read_text().splitlines()]
    printed = dict(zip(head, last, strict=True))
    by_column = {str(one): name for name, one in make_columns(0.5, 0.5).items()}
    for measure in scores.measures:
        assert printed[by_column[measure.canonical_name]] == f"{scores.mean(measure)[0]:.6f}"


@pytest.mark.slow
def test_the_demo_names_the_program_as_it_can_be_typed(tmp_path: Path) -> None:
    ways = {"module": [sys.executable, "-m", "rankscope"]}
    script = Path(sys.executable).parent / "rankscope"
    if script.is_file():
        ways["path"] = [str(script)]
    for words in ways.values():
        process = subprocess.run(
            [*words, "demo", "a demo", "--quiet"], cwd=tmp_path, capture_output=True, text=True, check=True
        )
        first, *others = [line.removeprefix("next").strip() for line in process.stdout.splitlines()[-3:]]
        repeated = subprocess.run(["sh", "-c", first], cwd=tmp_path, capture_output=True, text=True)
        assert repeated.returncode == 0, (first, repeated.stderr)
        typed = first.partition(" eval ")[0]
        assert [line.partition(typed)[2].split()[0] for line in others] == ["curve", "effort"]
