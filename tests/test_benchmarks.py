"""The benchmarks: their measurements and files, and a quick pass of all installed programs."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]

pytest.importorskip("resource", reason="times of child processes need a POSIX system")


@pytest.fixture
def part(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Import a module of the benchmarks, which are not installed."""
    monkeypatch.syspath_prepend(str(ROOT))
    return lambda name: import_module(f"benchmarks.{name}")


def test_usage_counts_time_and_memory(part: Any) -> None:
    timing = part("timing")
    idle = timing.execute(timing.python("-c", "import time; time.sleep(0.3)"))
    assert 0.3 <= idle.wall < 60
    assert idle.cpu < idle.wall
    busy = timing.execute(timing.python("-c", "x = b'x' * 400_000_000; sum(range(3_000_000))"))
    assert busy.cpu > 0.02
    assert busy.memory > 400


def test_memory_is_that_of_the_program(part: Any) -> None:
    """Measured from a small process, as the benchmarks do it: a child starts with the memory of its parent."""
    measure = """
from benchmarks import timing
print(timing.execute(timing.python("-c", "x = b'x' * 400_000_000")).memory)"""
    root = part("timing").ROOT
    process = subprocess.run(
        [sys.executable, "-c", measure], capture_output=True, text=True, check=True, cwd=root
    )
    assert 400 < float(process.stdout) < 500


def test_failures_are_reported(part: Any) -> None:
    timing = part("timing")
    with pytest.raises(timing.ExecutionError, match="ValueError: so it goes"):
        timing.execute(timing.python("-c", "raise ValueError('so it goes')"))
    with pytest.raises(timing.ExecutionError, match="code 3, without a word"):
        timing.execute(timing.python("-c", "raise SystemExit(3)"))
    with pytest.raises(timing.TooSlowError, match="not done in 0 s"):
        timing.execute(timing.python("-c", "import time; time.sleep(600)"), limit=0.2)


def test_agreement(part: Any, tmp_path: Path) -> None:
    agreement = part("agreement")
    reference = {("a", "1", "AP"): 0.5, ("b", "1", "AP"): 0.5}
    other = {("a", "1", "AP"): 0.5, ("b", "1", "AP"): 0.4}
    assert not agreement.compare(other, reference).holds
    assert agreement.compare(other, reference, frozenset({("b", "1")})).holds
    assert not agreement.compare({}, {}).holds
    assert not agreement.compare({}, reference).holds
    (tmp_path / "x.txt").write_text("1 Q0 d1 1 2.0 x\n1 Q0 d2 2 2.0 x\n2 Q0 d1 1 2.0 x\n2 Q0 d2 2 1.0 x\n")
    assert agreement.tied_lists(tmp_path) == {("x", "1")}


def test_a_program_can_print_to_a_terminal(part: Any, tmp_path: Path) -> None:
    timing, marker = part("timing"), tmp_path / "seen"
    command = f"import os; open({str(marker)!r}, 'w').write(f'{{os.isatty(1)}} {{os.get_terminal_size(1).columns}}')"
    timing.execute(timing.python("-c", command + "; print('x' * 1_000_000)"), terminal=True)
    assert marker.read_text() == "True 80"


def test_page(part: Any) -> None:
    report, timing, workloads = part("report"), part("timing"), part("workloads")
    workload = workloads.WORKLOADS["full"]["W2"]
    outcomes = {
        "rankscope": report.Outcome([timing.Usage(wall, 1.0, 50) for wall in (0.5, 0.3, 0.4)]),
        "rankscope-eval": report.Outcome([timing.Usage(0.48, 1.0, 50), timing.Usage(0.52, 1.0, 50)]),
        "cat": report.Outcome([timing.Usage(0.1, 0.1, 1)]),
        "pytrec_eval": report.Outcome([timing.Usage(6.0, 5.0, 70)]),
        "ranx": report.Outcome(trouble="not done in 9 s", slow=True),
    }
    text = report.page(
        [report.goals({"W2": outcomes}), report.workload_section(workload, "1 line", outcomes)],
        "python -m benchmarks",
    )
    assert "| Rankscope | 0.400 | 0.300 | 1.000 | 50 | 1.00 | 1.00 | 3 |" in text
    assert "| pytrec_eval-terrier | 6.000 | 6.000 | 5.000 | 70 | 15.00 | 20.00 | 1 |" in text
    assert "ranx: not done in 9 s." in text
    assert "| cat FILES > /dev/null | 0.100 | 0.100 | 0.100 | 1 | 0.25 | 0.33 | 1 |" in text
    assert "at least 12 times as fast as pytrec_eval-terrier | 12.0 times | 12.5 times | reached |" in text
    assert str(ROOT) not in text


@pytest.mark.slow
def test_quick_pass(sampled: Any) -> None:
    workloads = sampled(["W2", "W3"], 1)
    command = [sys.executable, "-m", "benchmarks", "--quick", "--only", *workloads]
    programs = ["rankscope", "rankscope-eval", "rankscope-python", "pytrec_eval", "ir_measures"]
    process = subprocess.run(
        [*command, "--programs", *programs],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert process.returncode == 0, process.stderr
    assert all(f"## {name}" in process.stdout for name in workloads)
    assert "| Rankscope without C |" in process.stdout
    assert "| rankscope eval QRELS RUNS |" in process.stdout
    assert "| cat FILES > /dev/null |" in process.stdout
    wrong = subprocess.run(
        [*command, "W9"], cwd=ROOT, capture_output=True, text=True, timeout=300, check=False
    )
    assert wrong.returncode == 2
    assert "--only knows" in wrong.stderr


@pytest.mark.slow
def test_dicts(part: Any) -> None:
    pytest.importorskip("pytrec_eval")
    dicts = part("dicts")
    lines = dicts.table(quick=True).splitlines()
    assert sum(line.startswith(("| 1", "| 3", "| 5")) for line in lines) == 2 * len(dicts.SIZES)
    assert sum("goal" in line for line in lines) == 3  # two tables and the sentence about arrays
    qrels, run = dicts.collection(dicts.Size(3, 2, 5))
    assert len(qrels) == len(run) == 3 and all(len(one) == 5 for one in run.values())


def test_load_is_measured_and_kept(part: Any, tmp_path: Path) -> None:
    """Numbers that grow as a known power have its slope; files of the size asked for; a page that is kept."""
    load, usage = part("load"), part("timing").Usage
    for power in (1.0, 1.5):
        measured = [usage(0, 0.3 + 1e-6 * n**power, 50) for n in (10**5, 10**6, 10**7)]
        assert load.slope((10**5, 10**6, 10**7), measured, 0.3) == pytest.approx(power)
    assert (
        load.growth("lines", (10, 100), [usage(1, 0.3, 9), usage(1, 0.31, 9)], 0.3)[-1][-1]
        == "too quick to say"
    )
    load.write_collection(tmp_path / "c", topics=3, documents=20, judged=4)
    lines = (tmp_path / "c" / "a.run").read_text().splitlines()
    assert len(lines) == 60 and len({tuple(line.split()[:3:2]) for line in lines}) == 60
    old = load.replaced("# Page\n", f"{load.BEGIN}\nfirst\n{load.END}")
    assert load.keep_load("# New\n", old) == f"# New\n\n{load.BEGIN}\nfirst\n{load.END}\n"
    assert load.keep_load("# New\n", "# Old\n") == "# New\n"
    assert "first" not in load.replaced(old, f"{load.BEGIN}\nsecond\n{load.END}")


def test_the_load_benchmark_keeps_completed_measurements(
    part: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A command that fails has its row, an interrupt leaves the rows before it, and parts not asked for are kept."""
    load, usage, failure = part("load"), part("timing").Usage, part("timing").ExecutionError
    page = tmp_path / "page.md"
    page.write_text(load.replaced("# Page\n", load.section({"runs": "old runs", "memory": "old"}, "before")))
    counted: list[str] = []

    def measure(name: str, words: str, limit: float) -> Any:
        counted.append(name)
        if name == "eval":
            raise failure("no luck")
        if name == "curve":
            raise KeyboardInterrupt
        return usage(1.0, 1.0, 50.0)

    monkeypatch.setattr(load, "measure", measure)
    arguments = ["load", "--largest", "5", "--parts", "lines,memory", "-o", str(page)]
    monkeypatch.setattr("sys.argv", [*arguments, "--directory", str(tmp_path)])
    with pytest.raises(KeyboardInterrupt):
        load.main()
    sections = load.find_parts(page.read_text())
    assert sections["runs"] == "old runs" and "100,000" in sections["lines"]
    assert (
        "no luck" in sections["memory"]
        and "`ndeval` | 1.0" in sections["memory"]
        and "old" not in sections["memory"]
    )
    assert "curve" in counted and "compare" not in counted


def test_every_command_that_reads_runs_has_its_memory_measured(part: Any) -> None:
    from rankscope.cli.commands import COMMANDS

    others = {
        "bench",  # reads tables of scores, or small collections
        "cite",
        "demo",
        "simulate",
        "measures",
        "properties",
        "scales",
        "identify",
    }
    load = part("load")
    measured = {words.split()[0] for words in load.COMMANDS.values()}
    assert measured <= set(COMMANDS)
    rest = set(COMMANDS) - others - {"completion", "help"}
    assert rest <= measured


def test_a_section_takes_the_place_of_the_old_one_and_load_stays_last(part: Any) -> None:
    put = part("sections").with_section
    load = "<!-- load: begin -->\n\n## Load\n\nabc\n\n<!-- load: end -->\n"
    page = "# Page\n\n## A\n\nold\n\n## B\n\nb\n"
    assert put(page, "## A\n\nnew") == page.replace("old", "new")
    assert put(f"{page}\n{load}", "## C\n\nc") == f"{page}\n## C\n\nc\n\n{load}"
    assert put(put(page, "## C\n\nc"), "## C\n\nd") == f"{page}\n## C\n\nd\n"


def test_workloads_take_the_place_of_the_old_ones_with_the_introduction(part: Any, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# Old\n\nold words\n\n## Goals\n\nold\n\n## W1: one\n\nold\n\n## Effort\n\nkept\n")
    part("__main__").write_sections(page, ["## Goals\n\nnew", "## W1: one\n\nnew"], "# New\n\nnew words\n")
    assert page.read_text() == (
        "# New\n\nnew words\n\n## Goals\n\nnew\n\n## W1: one\n\nnew\n\n## Effort\n\nkept\n"
    )
