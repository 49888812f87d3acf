"""Groups of tests with special requirements: missing ones are named, and CI fails without them."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import tomllib
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

TESTS = Path(__file__).parent
GROUPS = tomllib.loads((TESTS / "groups.toml").read_text("utf-8"))


@pytest.fixture
def runner() -> ModuleType:
    loader = SourceFileLoader("runner", str(TESTS / "run"))
    spec = importlib.util.spec_from_loader("runner", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def test_every_group_says_what_it_needs() -> None:
    for name, needs in GROUPS.items():
        assert {"what", "get", "expected"} <= set(needs), name
        assert needs["expected"] in ("always", "where possible")
        assert {"programs", "modules", "probe", "fixtures"} & set(needs), name


def test_missing_packages_are_named_but_not_installed_without_permission(
    runner: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(runner.shutil, "which", lambda name: "/bin/apt-get" if name == "apt-get" else None)
    monkeypatch.setattr(runner, "run", lambda *command, **options: pytest.fail("something was installed"))
    runner.system_packages(allowed=False)
    out = capsys.readouterr().out
    assert "without chromium the tests of the page in a real browser are left out: install Chromium" in out
    for needs in GROUPS.values():
        assert ("programs" in needs and not needs.get("planned")) == (f"tests of {needs['what']} are" in out)


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="there is no apt-get on this system")
def test_an_installation_is_announced_before_it_begins(
    runner: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    began = []

    def run(*command: str, **options: object) -> None:
        began.append((command, capsys.readouterr().out))
        raise runner.StepError(100, ["E: no such package"])

    monkeypatch.setattr(runner.shutil, "which", lambda name: "/bin/apt-get" if name == "apt-get" else None)
    monkeypatch.setattr(runner.os, "geteuid", lambda: 0)
    monkeypatch.setattr(runner, "run", run)
    runner.system_packages(allowed=True)
    assert [command for command, _ in began] == [("apt-get", "update", "-q")]
    assert (
        "installing chromium, chromium-headless-shell, clang, default-jre-headless, gcc" in began[0][1]
        and "--no-system" in began[0][1]
    )
    out = capsys.readouterr().out
    assert "that did not work: E: no such package" in out
    assert "without chromium" in out


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="there is no apt-get on this system")
@pytest.mark.parametrize("usual", [True, False], ids=["beside", "instead of"])
def test_the_faster_browser_is_installed_beside_the_usual_one_or_instead_of_it(
    runner: ModuleType, monkeypatch: pytest.MonkeyPatch, usual: bool
) -> None:
    present = {"apt-get", "gcc", "java", "npm", *["chromium"] * usual}
    installed: list[str] = []

    def run(*command: str, **options: object) -> None:
        installed.extend(command[4:])
        present.update(command[4:])

    monkeypatch.setattr(runner.shutil, "which", lambda name: name if name in present else None)
    monkeypatch.setattr(runner.os, "geteuid", lambda: 0)
    monkeypatch.setattr(runner, "run", run)
    runner.system_packages(allowed=True)
    assert installed == ["chromium-headless-shell"]
    runner.system_packages(allowed=True)
    assert installed == ["chromium-headless-shell"]


@pytest.mark.slow
def test_a_complete_run_fails_when_a_group_was_left_out() -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--complete"]
    tests = ["tests/trec_eval/test_official.py", "tests/test_tables.py"]
    environment = {**os.environ, "RANKSCOPE_DATA": "nowhere"}
    process = subprocess.run(
        [*command, *tests], cwd=TESTS.parent, env=environment, capture_output=True, text=True
    )
    assert process.returncode == 1
    messages = [line for line in process.stdout.splitlines() if line.startswith("left out: ")]
    assert messages[0].endswith("tests of official files and real runs (no folder nowhere): see docs/data.md")
    assert "left out: browser should have run here" in messages
    assert "left out: data should have run here" not in messages


@pytest.fixture
def shared(request: pytest.FixtureRequest) -> Any:
    """Return the module of the shared fixtures."""
    plugins = request.config.pluginmanager.get_plugins()
    return next(plugin for plugin in plugins if getattr(plugin, "__file__", "") == str(TESTS / "conftest.py"))


class Case:
    def __init__(self, name: str, *numbers: int, is_product: bool = True) -> None:
        self.nodeid = f"tests/test_x.py::{name}"
        self.get_closest_marker = {"product": pytest.mark.product(*numbers).mark if is_product else None}.get


def test_the_sample_of_a_product_depends_on_the_seed_and_leaves_no_function_out(shared: Any) -> None:
    n_cases = shared.N_CASES
    cases = [Case(f"test_product[{n}]") for n in range(3 * n_cases)]
    cases += [Case(f"test_small_product[{n}]", 5) for n in range(3 * n_cases)]
    others = [Case("test_product_of_two[0]"), Case("test_product_of_two[1]")]
    others += [Case(f"test_whole[{n}]", is_product=False) for n in range(2 * n_cases)]
    samples = [shared.sample_products([*cases, *others], seed) for seed in "aab"]
    assert samples[0] == samples[1] != samples[2]
    for sample in samples:
        assert len(sample) == n_cases + 5 + len(others) and sample[n_cases + 5 :] == others
        assert sum("small" in case.nodeid for case in sample) == 5
        assert sample == [case for case in [*cases, *others] if case in sample]  # in the same order


@pytest.mark.slow
@pytest.mark.parametrize(("profile", "processes"), [("quick", 2), ("full", 0)])
def test_the_quick_profile_alone_samples_products_and_tells_the_seed(profile: str, processes: int) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", str(processes)]
    selection = ["tests/properties/test_every_measure.py", "-k", "immutable"]
    environment = {**os.environ, "RANKSCOPE_HYPOTHESIS": profile, "RANKSCOPE_SEED": "any"}
    process = subprocess.run(
        [*command, *selection], cwd=TESTS.parent, env=environment, capture_output=True, text=True, check=True
    )
    passed = re.search(r"^(\d+) passed", process.stdout, re.MULTILINE)
    unsampled = re.search(
        r"^left out: (\d+) cases of products.*RANKSCOPE_SEED=any", process.stdout, re.MULTILINE
    )
    assert passed
    if profile == "quick":
        assert unsampled and int(passed[1]) == 60 < int(unsampled[1])
    else:
        assert unsampled is None and int(passed[1]) > 300


class DoctestModule:
    """Stands for the collector of pytest, which has this name."""


@pytest.mark.parametrize(("text", "is_kept"), [("x = 1\n", False), ("# >>> x\n", True)])
def test_modules_without_examples_have_no_doctests(
    shared: Any, text: str, is_kept: bool, tmp_path: Path
) -> None:
    (tmp_path / "x.py").write_text(text)
    collectors = [object(), DoctestModule()]
    hook = shared.Examples().pytest_collect_file(tmp_path / "x.py")
    next(hook)
    with pytest.raises(StopIteration) as ended:
        hook.send(collectors)
    assert ended.value.value == collectors[: 1 + is_kept]


@pytest.mark.parametrize("processes", [1, 2, 3, 8])
def test_long_files_are_begun_first_and_no_test_is_lost(shared: Any, processes: int) -> None:
    """Process n gets the n-th part of all tests, which begins with every n-th of the long files, whole."""
    n_short = 24 - len(shared.LONG) % -24  # so that any of these numbers of processes has equal parts
    files = [*(f"test_short{n}.py" for n in range(n_short)), *sorted(shared.LONG)]
    assert all((TESTS / name).is_file() for name in shared.LONG)
    items = [SimpleNamespace(nodeid=f"tests/{name}::test_{n}") for name in files for n in range(5)]
    ordered = shared.longest_first(items, processes)
    assert sorted(one.nodeid for one in ordered) == sorted(one.nodeid for one in items)
    part = len(items) // processes
    for process in range(processes):
        begun = [one.nodeid.partition("::")[0] for one in ordered[process * part : (process + 1) * part]]
        long = [f"tests/{name}" for name in shared.LONG[process::processes]]
        assert list(dict.fromkeys(begun))[: len(long)] == long
        assert all(begun.count(name) == 5 for name in long)


def test_processes_of_pip_install_every_package_once(runner: ModuleType) -> None:
    text = (TESTS / "hashes.txt").read_text("utf-8")
    entries = re.compile(r"^[A-Za-z0-9].*==.*(?:\n .*)*", re.MULTILINE)
    parts = runner.divide(text)
    assert len(parts) == runner.N_PIPS and all(parts)
    together = [entry for part in parts for entry in entries.findall(part)]
    assert sorted(together) == sorted(entries.findall(text)) and len(together) > 100
    assert "".join(parts).count("--hash=") == text.count("--hash=sha256")


def test_works_at_the_same_time_all_end_before_an_error_is_raised(runner: ModuleType) -> None:
    ended = []

    def failing() -> None:
        raise runner.StepError(3, ["ERROR: no such package"])

    with pytest.raises(runner.StepError):
        runner.together(failing, lambda: ended.append(1), lambda: ended.append(2))
    assert sorted(ended) == [1, 2]


def test_one_process_compiles_the_tests_before_several_run_them(
    runner: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    commands: list[list[str]] = []

    def run(*command: object, **options: object) -> None:
        commands.append([str(word) for word in command])
        if "--collect-only" in command:
            raise runner.StepError(2, ["ERROR: a test file that cannot be imported"])

    monkeypatch.setattr(runner, "run", run)
    monkeypatch.setitem(runner.BYTECODE, "PYTHONPYCACHEPREFIX", str(tmp_path))
    runner.tests(runner.Steps(), [*runner.COVERAGE, "tests/lab"])
    collect, complete = commands
    assert collect[-2:] == ["--collect-only", "tests/lab"] and not set(runner.COVERAGE) & set(collect)
    assert "--collect-only" not in complete and {*runner.COVERAGE, "-n"} <= set(complete)
    (tmp_path / "lab").mkdir()
    (tmp_path / "lab" / "test_tree.cpython-311-pytest-9.0.0.pyc").touch()
    runner.tests(runner.Steps(), ["tests/lab"])
    assert len(commands) == 3 and "--collect-only" not in commands[2]
