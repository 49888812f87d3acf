"""The names that other people's scripts depend on: measures, commands, options, tables, Python calls."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankscope as rs
from rankscope.cli.commands import COMMANDS
from rankscope.cli.main import main
from rankscope.measures import REGISTRY

CLASSIC = """P@5 R@5 AP RR Rprec Bpref SetP SetR SetF IPrec@0.5 infAP GMAP Judged@5 Success@5 Compat
    RBP(p=0.5,rel=2,graded=True) nDCG(gains='0,1,3',discount='jk',base=3) DCG ERR NumRet NumRel NumRelRet NumQ"""
EFFORT = """Twist(crossing='matters') Rho Sigma SigmaPlus SigmaMinus BalancePoint CRP@5 CRP_min CRP_N b_ratio Rho2012"""
DIVERSITY = """alpha_nDCG(alpha=0.3) alpha_DCG NRBP(alpha=0.3,beta=0.2) nNRBP ERR_IA nERR_IA AP_IA P_IA@5 StRec@5
    D_nDCG DS_nDCG(gamma=0.3) CT(preset='equation7') ACT nCT"""

TABLES = {
    "eval": {"means": "run measure value topics", "topics": "run topic measure value"},
    "compare": {"pairs": "a b measure difference p adjusted significant effect_size"},
    "certain": {
        "pairs": "a b measure order ties unjudged topics",
        "runs": "run measure value lowest highest first_rank last_rank",
    },
    "findings": {"findings": "kind sentence evidence"},
    "next": {"next": "topic doc influence runs"},
    "curve": {"curve": "rank doc grade rp crp dcg ideal_dcg", "points": ""},
    "effort": {
        "archetypes": "run topic archetype",
        "summary": "archetype count share",
        "quadrants": "measure gain effort count share",
        "indicators": "",
    },
    "correlate": {"correlations": "a b method value p runs"},
    "pools": {"robustness": "measure pool repeat tau", "means": ""},
    "power": {"power": "measure test alpha pairs significant power delta", "asl": "measure a b asl"},
    "bounds": {"bounds": "run topic p depth lower upper"},
    "properties": {"properties": "measure property cases violations", "counterexamples": ""},
    "scales": {"scales": "measure scale holds violations comparable", "counterexamples": ""},
    "orderings": {"swaps": "run share", "effect": ""},
    "measures": {"measures": "measure parameters reference"},
}
OPTIONS = {
    "eval": ["-q"],
    "curve": ["--topic", "301"],
    "pools": ["--ratios", "90,50", "--repeats", "2"],
    "power": ["--replicates", "50"],
    "properties": ["--aspects", "2", "--depth", "4", "--relevant", "4"],
    "scales": ["--length", "4", "--equal-relevant"],
}
DATALESS = ("properties", "scales", "measures")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small synthetic collection: qrels.txt, qrels.diversity.txt, runs/."""
    root = tmp_path_factory.mktemp("interfaces") / "made"
    rs.simulate(systems=4, topics=6, grades=3, depth=30, seed=3, pool_depth=15, aspects=3).write(root)
    return root


def rankscope(
    *arguments: str | Path, stdin: bytes | None = None, **environment: str
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "rankscope", *map(str, arguments)],
        input=stdin,
        capture_output=True,
        env={**os.environ, **environment},
    )


def called(*arguments: str | Path) -> subprocess.CompletedProcess[bytes]:
    """Run the same in this process, where how a process begins and ends is not the question."""
    out, error = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    words = list(map(str, arguments))
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
        try:
            code: Any = main(words)
        except SystemExit as ended:  # after --help, and what the parser refuses
            code = ended.code or 0
    stdout, stderr = (stream.detach().getvalue() for stream in (out, error))  # type: ignore[attr-defined]
    return subprocess.CompletedProcess(words, code, stdout, stderr)


def answered(folder: Path, command: str, *more: str) -> dict[str, Any]:
    files = [] if command in DATALESS else [folder / "qrels.txt", folder / "runs"]
    if command == "curve":
        files[1] = sorted((folder / "runs").iterdir())[0]
    process = called(command, *files, *OPTIONS.get(command, ()), *more, "-f", "json")
    assert process.returncode == 0, process.stderr
    answer: dict[str, Any] = json.loads(process.stdout)
    return answer


# measures -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", f"{CLASSIC} {EFFORT} {DIVERSITY}".split())
def test_measures_of_the_list(text: str, folder: Path) -> None:
    first = rs.measure(text)
    assert str(first) == text
    assert rs.measure(str(first)) == first
    assert hash(rs.measure(str(first))) == hash(first)
    assert pickle.loads(pickle.dumps(first)) == first
    assert getattr(rs, first.name) == REGISTRY[first.name]
    qrels = "qrels.diversity.txt" if first.needs_aspects else "qrels.txt"
    assert len(rs.evaluate(folder / qrels, folder / "runs", text).mean(text)) == 4


def test_measures_are_values() -> None:
    assert rs.AP(rel=2) == rs.measure("AP( rel = 2 )") != rs.AP
    assert rs.nDCG @ 10 == rs.measure("nDCG @10") == rs.measure("nDCG@10")
    assert str(rs.RBP(p=0.8)) == "RBP"
    assert len({rs.AP, rs.measure("AP"), rs.AP(rel=1), rs.AP @ 5}) == 2
    assert {str(getattr(rs, name) @ 7) for name in ("Twist", "Rho", "Sigma")} == {
        "Twist@7",
        "Rho@7",
        "Sigma@7",
    }
    assert rs.Twist @ 1000 == rs.Twist
    with pytest.raises(AttributeError):
        rs.AP.rel = 3
    with pytest.raises(rs.errors.MeasureError, match="did you mean nDCG"):
        rs.measure("nDGC@10")


def first_grade(grades: list[int]) -> float:
    """Return the grade of the first document."""
    return float(grades[0]) if grades else 0.0


def test_a_function_is_a_measure_everywhere(folder: Path, tmp_path: Path) -> None:
    own = rs.measure("FirstGrade", first_grade)
    scores = rs.evaluate(folder / "qrels.txt", folder / "runs", [own, "AP", "FirstGrade@1"])
    assert np.isfinite(scores.mean("FirstGrade")).all()
    assert pickle.loads(pickle.dumps(own)) == own == rs.measure("FirstGrade")
    assert rs.correlate(scores, "kendall").tables["correlations"].rows
    assert rs.power(scores, test="t", seed=1).tables["power"].rows
    assert rs.compare(scores).tables["pairs"].rows
    assert (
        rs.pools(rs.evaluate(folder / "qrels.txt", folder / "runs", [own, "AP"]), ratios=[50], seed=1)
        .tables["robustness"]
        .rows
    )
    assert rs.effort(rs.Collection(folder / "qrels.txt", folder / "runs"), [own]).tables["quadrants"].rows
    assert rs.lab.properties([own], grades=2, depth=3, properties=["swap"]).tables["properties"].rows
    assert rs.lab.scales([own], length=3).tables["scales"].rows
    plugin = tmp_path / "first_plugin.py"
    plugin.write_text(
        "import rankscope as rs\nrs.measure('FirstFromFile', lambda grades: float(bool(grades and grades[0] > 0)))\n"
    )
    named = ["--plugin", plugin, "-m", "FirstFromFile AP"]
    collection = [folder / "qrels.txt", folder / "runs"]
    for command in ("eval", "compare", "correlate", "pools", "effort", "orderings"):
        process = rankscope(command, *collection, *named)
        assert process.returncode == 0, process.stderr
        assert b"FirstFromFile" in process.stdout
    for laboratory in (
        ["properties", "--depth", "3"],
        ["scales", "--length", "3"],
        ["measures", "FirstFromFile"],
    ):
        process = rankscope(*laboratory, *(named if laboratory[0] != "measures" else named[:2]))
        assert b"FirstFromFile" in process.stdout, process.stderr


def test_a_function_that_fails_is_the_users_error(folder: Path, tmp_path: Path) -> None:
    plugin = tmp_path / "failing_plugin.py"
    plugin.write_text("import rankscope as rs\nrs.measure('Failing', lambda grades: 1 / 0)\n")
    process = rankscope("eval", folder / "qrels.txt", folder / "runs", "--plugin", plugin, "-m", "Failing")
    assert process.returncode == 2
    assert b"Failing failed" in process.stderr
    assert b"ZeroDivisionError" in process.stderr
    assert b"internal" not in process.stderr


# commands -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", TABLES)
def test_tables_of_the_commands(command: str, folder: Path) -> None:
    answer = answered(folder, command)
    assert list(answer) == ["rankscope", "command", "settings", "tables"]
    assert (answer["rankscope"], answer["command"]) == (rs.__version__, command)
    for name, columns in TABLES[command].items():
        assert name in answer["tables"]
        for row in answer["tables"][name]:
            assert set(columns.split()) <= set(row)
    if command not in DATALESS:
        assert "order" in answer["settings"] or "orders" in answer["settings"]
        assert all(len(digest) == 64 for digest in answer["settings"]["files"].values())
        assert str(folder / "qrels.txt") in answer["settings"]["files"]
    if command in ("compare", "pools", "power", "scales"):
        assert answer["settings"]["seed"] == 1


@pytest.mark.parametrize("command", [name for name in COMMANDS if name not in ("trec_eval", "completion")])
def test_common_options(command: str) -> None:
    shown = called(command, "--help").stdout.decode()
    assert shown.index("usage:") < shown.index("examples:") < shown.index("options:")
    parsed = called(command, "--seed", "1", "-j", "2", "--jobs=2", "--quiet", "--help")
    assert parsed.returncode == 0
    if command in TABLES and command not in DATALESS:
        for flag in ("--format", "--output", "--order", "--missing", "--seed", "--jobs", "--quiet"):
            # A curve shows one ranking, to which a missing topic does not matter.
            assert flag in shown or flag == "--seed" or (command, flag) == ("curve", "--missing")
        assert "--measure" in shown or command == "curve"


def test_trec_eval_explains_itself() -> None:
    process = rankscope("trec_eval", "--help")
    assert process.returncode == 0
    assert b"examples:" in process.stdout


@pytest.mark.parametrize("command", ["compare", "pools", "power", "bounds", "scales"])
def test_a_seed_gives_the_same_bytes_for_any_number_of_jobs(command: str, folder: Path) -> None:
    more = {"compare": ["--test", "tukey", "--replicates", "300"], "bounds": ["--ratios", "50"]}.get(
        command, []
    )
    first, two = (answered(folder, command, *more, "--seed", "7", "-j", jobs) for jobs in "13")
    assert json.dumps(first) == json.dumps(two)


@pytest.mark.needs("native")
def test_the_scanners_give_the_same_bytes(folder: Path) -> None:
    collection = [folder / "qrels.txt", folder / "runs"]
    for command in (
        ["eval", *collection, "-q"],
        ["trec_eval", "-q", collection[0], min(collection[1].iterdir())],
    ):
        native, python = (rankscope(*command, RANKSCOPE_SCANNER=name) for name in ("native", "python"))
        assert native.stdout == python.stdout
        assert native.returncode == python.returncode == 0
    assert b"scanner: python" in rankscope("--version", RANKSCOPE_SCANNER="python").stdout


def test_sources(folder: Path, tmp_path: Path) -> None:
    qrels, runs = folder / "qrels.txt", sorted((folder / "runs").iterdir())
    whole = rankscope("eval", qrels, folder / "runs", "-m", "AP").stdout
    assert rankscope("eval", qrels, *runs, "-m", "AP").stdout == whole
    assert rankscope("eval", qrels, folder / "runs" / "*.txt", "-m", "AP").stdout == whole
    packed = tmp_path / "packed"
    packed.mkdir()
    for run in runs:
        (packed / f"{run.name}.gz").write_bytes(gzip.compress(run.read_bytes()))
    (tmp_path / "qrels.gz").write_bytes(gzip.compress(qrels.read_bytes()))
    assert rankscope("eval", tmp_path / "qrels.gz", packed, "-m", "AP").stdout == whole
    piped = rankscope("eval", "-", *runs, "-m", "AP", stdin=qrels.read_bytes())
    assert piped.stdout == whole
    first = rankscope("eval", qrels, "-", "-m", "AP", stdin=runs[0].read_bytes()).stdout
    assert first.splitlines()[1].split(b"\t")[2] == whole.splitlines()[1].split(b"\t")[2]
    assert rankscope("eval", qrels, "", "-m", "AP").returncode == 2


@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="there are no named pipes to give as files")
def test_pipes_given_as_files(folder: Path) -> None:
    run = sorted((folder / "runs").iterdir())[0]

    def through_pipes(command: str) -> subprocess.CompletedProcess[bytes]:
        line = f'"{sys.executable}" -m rankscope {command}'
        return subprocess.run(["bash", "-c", line, "-", folder / "qrels.txt", run], capture_output=True)

    actual = json.loads(through_pipes('curve <(cat "$1") <(cat "$2") --topic 301 -f json').stdout)
    assert actual["settings"]["files"] == {}
    assert actual["tables"]["curve"][0]["doc"] == rs.read_run(run).ranking("301")[0]
    assert through_pipes('orderings <(cat "$1") <(cat "$2") -m AP').returncode == 0
    assert b"/dev/fd/" in through_pipes('eval <(cat "$1") <(echo x) -m AP').stderr


def test_tables_on_a_terminal_and_tsv_in_a_pipe(folder: Path) -> None:
    pty = pytest.importorskip("pty", reason="there are no pseudo-terminals here")
    command = [
        sys.executable,
        "-m",
        "rankscope",
        "eval",
        str(folder / "qrels.txt"),
        str(folder / "runs"),
        "-m",
        "AP",
    ]
    parent, child = pty.openpty()
    running = subprocess.Popen(command, stdout=child, stderr=subprocess.DEVNULL)
    os.close(child)
    shown = b""
    try:
        while block := os.read(parent, 4096):
            shown += block
    except OSError:  # the other end is closed
        pass
    assert running.wait() == 0
    os.close(parent)
    assert "────" in shown.decode()
    assert b"\t" not in shown
    assert rankscope(*command[3:]).stdout.startswith(b"run\tmeasure\tvalue\ttopics\n")


def test_exit_codes(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "bad.run").write_text("301 Q0 d1 1 2.0\n")
    process = rankscope("eval", folder / "qrels.txt", tmp_path / "bad.run", "-o", tmp_path / "out.json")
    assert process.returncode == 2
    assert process.stderr.count(b"\n") == 1
    assert b"bad.run:1: " in process.stderr
    assert b"; " in process.stderr
    assert not (tmp_path / "out.json").exists()
    assert rankscope("eval", folder / "qrels.txt", folder / "runs", "--digits", "-1").returncode == 2
    assert rankscope("curve", folder / "qrels.txt", folder / "runs", "--topic", "301").returncode == 2


def test_streams_that_are_closed_or_know_no_unicode(folder: Path) -> None:
    line = f'"{sys.executable}" -m rankscope eval "$1" "$2" -m AP'
    for end in ("2>&-", ">&-", "<&-"):
        process = subprocess.run(
            ["bash", "-c", f"{line} {end}", "-", folder / "qrels.txt", folder / "runs"], capture_output=True
        )
        assert process.returncode == 0, process.stderr
        assert (b"AP" in process.stdout) == (end != ">&-")
    assert (
        rankscope(
            "properties", "--depth", "3", "-m", "AP", "-f", "table", PYTHONIOENCODING="ascii"
        ).returncode
        == 0
    )


def test_absurd_sizes_are_refused_at_once(folder: Path) -> None:
    run = sorted((folder / "runs").iterdir())[0]
    assert (
        rankscope("curve", folder / "qrels.txt", run, "--topic", "301", "--cutoff", "2147483647").returncode
        == 2
    )
    assert rankscope("properties", "--depth", "1000000000000", "-m", "AP").returncode == 2


@pytest.mark.parametrize("grade", ["2147483646", "1500"])
def test_huge_grades(grade: str, tmp_path: Path) -> None:
    (tmp_path / "q").write_text(f"1 0 d1 {grade}\n1 0 d2 1\n2 0 d1 1\n")
    (tmp_path / "r").write_text("1 Q0 d1 1 2 t\n1 Q0 d2 2 1 t\n2 Q0 d1 1 1 t\n")
    values = rs.evaluate(
        tmp_path / "q", tmp_path / "r", "ERR nERR_IA alpha_nDCG nNRBP Compat DCG(gains='1=3')"
    ).values
    assert np.isfinite(values).all()
    assert rs.evaluate(tmp_path / "q", tmp_path / "r", "ERR").matrix("ERR").values.tolist() == [[1.0, 0.0]]
    with pytest.raises(rs.errors.MeasureError, match="2\\^grade is too large"):
        rs.evaluate(tmp_path / "q", tmp_path / "r", "nDCG(gains=exp2)")


def test_one_measure_in_every_format() -> None:
    assert b"range 0 to 1" in called("measures", "nDCG").stdout
    (row,) = json.loads(called("measures", "nDCG", "-f", "json").stdout)["tables"]["measures"]
    assert (row["measure"], row["low"], row["high"]) == ("nDCG", 0.0, 1.0)
    tables = json.loads(called("measures", "RR", "--certificates", "-f", "json").stdout)["tables"]
    assert {first["measure"] for first in tables["certificates"]} == {"RR"}


# Python ---------------------------------------------------------------------------------------------------------------


def test_the_example(folder: Path, tmp_path: Path) -> None:
    qrels = rs.read_qrels(folder / "qrels.txt")
    runs = rs.read_runs(str(folder / "runs" / "*.txt"), order="trec_eval")
    scores = rs.evaluate(qrels, runs, ["AP", "nDCG@10", rs.RBP(p=0.8), "Twist"])
    name = next(iter(runs))
    assert scores.means()[name][rs.AP] == pytest.approx(scores.matrix("AP").values[0].mean())
    assert set(scores.per_topic()[name]) == set(qrels.topics)
    matrix = scores.matrix("AP")
    assert (matrix.runs, matrix.topics, matrix.shape) == (tuple(runs), qrels.topics, (4, 6))
    assert np.asarray(matrix).shape == (4, 6)
    assert "\\toprule" in scores.to_latex()
    for frames, call in (
        ("pandas", scores.to_pandas),
        ("polars", scores.to_polars),
        ("pyarrow", scores.to_arrow),
    ):
        pytest.importorskip(frames)
        assert call().shape == (4 * 6 * 4, 4)
    assert rs.correlate(scores, "kendall").tables["correlations"].rows
    power = rs.power(scores, test="bootstrap", seed=1)
    assert power.settings["seed"] == 1
    repeated = rs.power(scores, test="bootstrap", seed=1)
    assert power.tables["asl"].rows == repeated.tables["asl"].rows
    assert rs.pools(rs.evaluate(qrels, runs, ["AP", "Twist"])).tables["robustness"].rows
    assert rs.lab.properties(["AP", "RR"], aspects=2, depth=4).tables["properties"].rows
    assert rs.lab.scales(["AP", "RBP(p=0.5)"], length=4).tables["scales"].rows
    pytest.importorskip("matplotlib")
    figure = rs.curve(rs.Collection(qrels, runs[name]), run=None, topic="301").plot()
    assert figure.table.rows
    figure.save(tmp_path / "x.pdf")
    assert (tmp_path / "x.pdf").read_bytes().startswith(b"%PDF")


def test_dicts_and_frames() -> None:
    qrels, run = {"q1": {"d1": 1, "d2": 0}}, {"q1": {"d2": 2.0, "d1": 1.0}}
    assert rs.evaluate(qrels, run, "AP").mean("AP").tolist() == [0.5]
    assert rs.evaluate(qrels, {"a": run, "b": {"q1": ["d1"]}}, "AP").mean("AP").tolist() == [0.5, 1.0]
    assert rs.Qrels.from_dict(qrels).judgments("q1") == {"d1": 1, "d2": 0}
    pandas = pytest.importorskip("pandas")
    judged = pandas.DataFrame({"query_id": ["q1", "q1"], "doc_id": ["d1", "d2"], "relevance": [1, 0]})
    ranked = pandas.DataFrame({"query_id": ["q1", "q1"], "doc_id": ["d2", "d1"], "score": [2.0, 1.0]})
    assert rs.Qrels.from_frame(judged).judgments("q1") == {"d1": 1, "d2": 0}
    assert rs.evaluate(judged, ranked, "AP").mean("AP").tolist() == [0.5]


def test_inside_ir_measures() -> None:
    ir_measures = pytest.importorskip("ir_measures")
    bridge = pytest.importorskip("rankscope.ir_measures")
    qrels = [ir_measures.Qrel("q1", "d1", 1), ir_measures.Qrel("q1", "d2", 0)]
    run = [ir_measures.ScoredDoc("q1", "d2", 2.0), ir_measures.ScoredDoc("q1", "d1", 1.0)]
    measures = [
        bridge.Twist,
        ir_measures.AP,
        bridge.parse_measure("Twist@5"),
        bridge.parse_measure("ACT"),
    ]
    actual = ir_measures.calc_aggregate(measures, qrels, run)
    assert actual[ir_measures.AP] == 0.5
    own = rs.evaluate({"q1": {"d1": 1, "d2": 0}}, {"q1": {"d2": 2.0, "d1": 1.0}}, ["Twist", "Twist@5", "ACT"])
    assert [actual[first] for first in (measures[0], *measures[2:])] == [
        float(own.mean(m)[0]) for m in own.measures
    ]
