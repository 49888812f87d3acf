"""The tables of tests/mutate follow the code and the tests."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

TESTS = Path(__file__).parent


@pytest.fixture(scope="module")
def mutate() -> Iterator[ModuleType]:
    loader = importlib.machinery.SourceFileLoader("mutate_program", str(TESTS / "mutate"))
    spec = importlib.util.spec_from_loader(loader.name, loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[loader.name] = module  # Data classes look up their module.
    loader.exec_module(module)
    yield module
    del sys.modules[loader.name]


def test_every_package_has_tests_that_exist(mutate: ModuleType) -> None:
    assert set(mutate.EXTRA_TESTS) <= set(mutate.PACKAGES)
    for package in mutate.PACKAGES:
        names = mutate.package_tests(package)
        assert names and not [name for name in names if not (TESTS / name).exists()], package


def test_entries_for_lines_that_no_longer_exist_are_reported(
    mutate: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    entries = [
        {"file": f"src/rankscope/native/{file}", "was": was}
        for file, was in [("cuts.py", "_BUFFER = 1"), ("cuts.py", "return []"), ("gone.py", "return []")]
    ]
    monkeypatch.setattr(mutate, "EQUIVALENT", entries)
    assert mutate.stale_entries("native") == [entries[0], entries[2]]
    assert mutate.stale_entries("cli") == []


def test_equivalent_changes_are_explained_once(mutate: ModuleType) -> None:
    keys = [(entry["file"], entry["was"], entry.get("becomes")) for entry in mutate.EQUIVALENT]
    assert len(set(keys)) == len(keys)
    assert all(entry["why"].strip() and entry["was"] != entry.get("becomes") for entry in mutate.EQUIVALENT)


def test_lines_outside_of_functions_are_executed_by_an_import(mutate: ModuleType) -> None:
    code = "A = 1\n\n\nclass B:\n    c: int = 2\n\n    def d(self, e=3,\n          f=4):\n        return e\n"
    assert [mutate.is_in_function(code, line) for line in (1, 5, 7, 8, 9)] == [
        False,
        False,
        False,
        False,
        True,
    ]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="every change is tested in a forked process")
@pytest.mark.filterwarnings(
    "ignore:This process:DeprecationWarning"
)  # of Python 3.12 on: it has several threads
def test_a_module_that_runs_its_main_function_on_import_is_detected(
    mutate: ModuleType, tmp_path: Path
) -> None:
    """With != instead of ==, a module ends the process of the tests when they import it."""
    code = 'import sys\n\nif __name__ == "__main__":\n    sys.exit()\n'
    module = tmp_path / "src" / "ending.py"
    module.parent.mkdir()
    workshop = object.__new__(mutate.Workshop)
    workshop.copy, workshop.output = tmp_path, tmp_path / "output.txt"

    def work() -> int:
        sys.dont_write_bytecode = True  # All texts have the same time, and two of them the same length.
        importlib.import_module("ending")
        return 0

    statuses = []
    for text in (code, code.replace("==", "!="), "raise KeyboardInterrupt"):
        module.write_text(text)
        statuses.append(workshop.run_forked(work, 60))
    assert statuses == [0, 1, 70]  # The last one means that the tests could not be run.
    assert "ending" not in sys.modules


@pytest.mark.skipif(not hasattr(os, "fork"), reason="every change is tested in a forked process")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_processes_that_tests_spawn_import_the_tests_of_the_copy(mutate: ModuleType, tmp_path: Path) -> None:
    workshop = object.__new__(mutate.Workshop)
    workshop.copy, workshop.output = tmp_path, tmp_path / "output.txt"

    def work() -> int:
        return sys.path[:2] != [str(tmp_path / "src"), str(tmp_path)]

    assert workshop.run_forked(work, 60) == 0
