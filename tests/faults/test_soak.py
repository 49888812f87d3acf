"""The soak itself: a short one finds nothing, and what it should find, it finds."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from dataclasses import replace
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

FUZZ = Path(__file__).parents[2] / "fuzz"
pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="every case is a forked process")


@pytest.fixture(scope="module")
def soak() -> Any:
    """Import the fuzzer as a module."""
    path = list(sys.path)
    loader = SourceFileLoader("soak", str(FUZZ / "soak"))
    module = module_from_spec(spec_from_loader("soak", loader))  # type: ignore[arg-type]
    sys.modules["soak"] = module
    try:
        loader.exec_module(module)
        yield module
    finally:
        sys.path[:] = path
        del sys.modules["soak"]


def test_a_short_soak_finds_no_defect() -> None:
    cases = str(settings().max_examples)
    program = [sys.executable, str(FUZZ / "soak"), "--cases", cases, "--seed", "11", "--jobs", "1"]
    ended = subprocess.run(program, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert f"{cases} cases with seed 11" in ended.stdout


def world(soak: Any, folder: Path, *, hostile: bool = False) -> tuple[Any, bytes]:
    """A case of numbers, and the right answer to it."""
    rng = random.Random(1)
    folder.mkdir(exist_ok=True)
    qrels = b"1 0 d1 1\n1 0 d2 0\n2 0 d1 2\n"
    run = b"1 Q0 d2 1 2 t\n1 Q0 d1 2 1 t\n" + (b"1 Q0 d1 3 0 t\n" if hostile else b"")
    names = soak.cases.write_files(folder, qrels, [run])
    while (case := soak.cases._numbers(rng, qrels, [run], names)).expected[:2] != (
        "eval",
        "trec_eval",
    ) or "-" in case.words:
        pass
    values = {"1": {"AP": 0.5, "RR": 0.5, "P@5": 0.2, "R@5": 1.0, "nDCG@10": 0.6309297535714575}}
    values["2"] = dict.fromkeys(values["1"], 0.0)
    topics = [
        {"run": "run0", "topic": t, "measure": m, "value": v} for t in values for m, v in values[t].items()
    ]
    means = [{"run": "run0", "measure": m, "value": v / 2, "topics": 2} for m, v in values["1"].items()]
    return case, json.dumps({"tables": {"topics": topics, "means": means}}).encode()


def test_correct_output_passes(soak: Any, tmp_path: Path) -> None:
    case, answer = world(soak, tmp_path)
    before = soak.contents(tmp_path)
    assert soak.find_problem(case, soak.Ended(0, answer, "", 0.1), before, tmp_path) is None
    case, _ = world(soak, tmp_path / "more", hostile=True)
    ended = soak.Ended(2, b"", "rankscope: run0.txt:3: document 'd1' occurs twice in topic '1'\n", 0.1)
    assert soak.find_problem(case, ended, soak.contents(tmp_path), tmp_path) is None


@pytest.mark.parametrize(
    "code, error, problem",
    [
        (None, "", "it hangs"),
        (1, "rankscope: internal error (KeyError: 1)\n", "exit code 1"),
        (-11, "", "exit code -11"),
        (130, "\nrankscope: interrupted\n", "exit code 130"),
        (2, "rankscope: internal error (KeyError: 1)\n", "an error of ours"),
        (2, "", "0 lines of errors"),
        (2, "rankscope: a\nrankscope: b\n", "2 lines of errors"),
        (2, "something else\n", "1 lines of errors"),
        (0, "rankscope: a\n", "1 lines of errors"),
        (0, "rankscope: warning: invalid value encountered in divide\n", "a warning of numpy's"),
        (2, "rankscope: \x1b[31m\n", "control characters"),
        (2, "rankscope: q.txt: no\n", "rejected valid files"),
    ],
)
def test_the_soak_test_checks_the_output_of_commands(
    soak: Any, tmp_path: Path, code: int | None, error: str, problem: str
) -> None:
    case, answer = world(soak, tmp_path)
    ended = soak.Ended(code, answer, error, 0.1)
    assert problem in str(soak.find_problem(case, ended, soak.contents(tmp_path), tmp_path))


def test_wrong_numbers_are_detected(soak: Any, tmp_path: Path) -> None:
    case, answer = world(soak, tmp_path)
    before = soak.contents(tmp_path)
    for wrong in (
        answer.replace(b"0.2", b"0.4"),
        answer.replace(b"0.25", b"0.26"),
        answer.replace(b'"1"', b'"3"'),
    ):
        problem = soak.find_problem(case, soak.Ended(0, wrong, "", 0.1), before, tmp_path)
        assert problem is not None and (" is " in problem or "KeyError" in problem)
    hostile, _ = world(soak, tmp_path / "more", hostile=True)
    verdict = soak.find_problem(hostile, soak.Ended(0, answer, "", 0.1), soak.contents(tmp_path), tmp_path)
    assert verdict == "accepted invalid files"


def test_modified_input_files_are_detected(soak: Any, tmp_path: Path) -> None:
    case, answer = world(soak, tmp_path)
    before = soak.contents(tmp_path)
    (tmp_path / ".out.json.tmp").write_text("half")
    assert "left behind" in soak.find_problem(case, soak.Ended(0, answer, "", 0.1), before, tmp_path)
    refused = soak.Ended(2, b"", "rankscope: no\n", 0.1)
    assert "although nothing was done" in soak.find_problem(case, refused, before, tmp_path)
    (tmp_path / ".out.json.tmp").unlink()
    (tmp_path / "q.txt").write_text("gone")
    assert "q.txt was changed" in soak.find_problem(case, soak.Ended(0, answer, "", 0.1), before, tmp_path)


def test_an_incomplete_study_is_detected(soak: Any, tmp_path: Path) -> None:
    (tmp_path / "made").mkdir()
    study = soak.first_study(tmp_path / "made")
    folder = tmp_path / "world"
    folder.mkdir()
    import shutil

    shutil.copytree(study, folder / "study")
    before = soak.contents(folder)
    assert soak.killed_problem(before, before, folder) is None
    (folder / "study" / "tables" / "means.csv").write_text("half of the other")
    assert "neither" in soak.killed_problem(before, soak.contents(folder), folder)


def test_a_case_is_determined_by_its_number(soak: Any, tmp_path: Path) -> None:
    (tmp_path / "made").mkdir()
    study = soak.first_study(tmp_path / "made")
    worlds = []
    for repeated in range(2):
        folder = tmp_path / f"world{repeated}"
        folder.mkdir()
        case = soak.cases.make_case(random.Random("7/3"), folder, study)
        worlds.append((case.words, soak.contents(folder)))
    assert worlds[0] == worlds[1]


def test_the_plain_measures_are_those_of_trec_eval(soak: Any) -> None:
    pytrec_eval = pytest.importorskip("pytrec_eval")
    rng = random.Random(3)
    names = soak.cases.OFFICIAL
    for _ in range(200):
        judged = {f"d{i}": rng.choice([-1, 0, 0, 1, 2, 3]) for i in rng.sample(range(15), 8)}
        if not any(grade > 0 for grade in judged.values()):
            continue
        scored = {
            f"d{i}": rng.choice([0.5, 1.0, 2.0, rng.randint(0, 40) / 4]) for i in rng.sample(range(18), 12)
        }
        rows = [(name.encode(), score, b"1") for name, score in scored.items()]
        documents = soak.cases.plain.ranking(rows, "trec_eval")
        plain = soak.cases.plain.values({name.encode(): grade for name, grade in judged.items()}, documents)
        evaluator = pytrec_eval.RelevanceEvaluator(
            {"q": judged}, {"map", "recip_rank", "P.5", "recall.5", "ndcg_cut.10"}
        )
        official = evaluator.evaluate({"q": scored})["q"]
        assert {name: plain[measure] for name, measure in names.items()} == pytest.approx(official, abs=1e-9)


def test_output_followed_by_an_interrupt_passes(soak: Any, tmp_path: Path) -> None:
    case, _ = world(soak, tmp_path)
    before = soak.contents(tmp_path)
    gate = replace(case, kind="words", words=["gate", "q.txt", "run0.txt"])
    assert soak.find_problem(gate, soak.Ended(1, b"", "", 0.1), before, tmp_path) is None
    message = "rankscope: internal error (KeyError: 1)\n"
    assert "an error of ours" in soak.find_problem(gate, soak.Ended(1, b"", message, 0.1), before, tmp_path)
    late = replace(case, kind="words", words=["eval"], interrupt=0.1)
    messages = "rankscope: q.txt: no such file; check the path\n\nrankscope: interrupted\n"
    assert soak.find_problem(late, soak.Ended(130, b"", messages, 0.1), before, tmp_path) is None
    assert "2 lines" in soak.find_problem(late, soak.Ended(2, b"", messages, 0.1), before, tmp_path)


def test_slow_and_large_commands_are_detected(soak: Any, tmp_path: Path) -> None:
    case, answer = world(soak, tmp_path)
    before = soak.contents(tmp_path)
    ended = soak.Ended(0, answer, "", 0.1, 1 << 20)
    assert soak.find_problem(case, ended, before, tmp_path) is None
    slow = ended._replace(cpu_seconds=soak.MAX_CPU_SECONDS + 1)
    assert soak.find_problem(case, slow, before, tmp_path) == "it takes 21 s of CPU time"
    large = ended._replace(memory=2 * soak.MAX_MEMORY)
    assert soak.find_problem(case, large, before, tmp_path) == "it takes 2048 MB of memory"


def test_counts_are_recorded_per_program_and_commit(soak: Any, tmp_path: Path) -> None:
    page = tmp_path / "SECURITY.md"
    page.write_text("a\n<!-- soak: begin -->\n  by hand\n<!-- soak: end -->\nz\n")
    soak.record("fuzz/soak --seed 1", "0 not well", page, "abc")
    soak.record("fuzz/soak --seed 2", "1 not well", page, "abc")
    soak.record("fuzz/soak --seed 1", "2 not well", page, "abc")
    assert page.read_text() == (
        "a\n<!-- soak: begin -->\n"
        "  - `fuzz/soak --seed 2`: 1 not well (commit abc)\n"
        "  - `fuzz/soak --seed 1`: 2 not well (commit abc)\n"
        "<!-- soak: end -->\nz\n"
    )
    soak.record("fuzz/binary --seed 3", "0 defects", page, "def")
    assert page.read_text().count("commit abc") == 2
    soak.record("fuzz/soak --cases 9 --seed 3", "0 not well", page, "def")
    assert (page.read_text().count("commit abc"), page.read_text().count("commit def")) == (0, 2)
