"""The hosted workflow can be read by a server, and runs what the project promises: three systems, every Python."""

from __future__ import annotations

import os
import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[1]
FILES = [
    *sorted((ROOT / ".github").rglob("*.yml")),
    *sorted((ROOT / "docs" / "workflows").glob("*.yml")),
    ROOT / ".pre-commit-config.yaml",
    ROOT / "action.yml",
]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_the_file_is_yaml(path: Path) -> None:
    assert isinstance(yaml.safe_load(path.read_text("utf-8")), dict)


@pytest.fixture
def workflow() -> dict[Any, Any]:
    read: dict[Any, Any] = yaml.safe_load((ROOT / ".github" / "workflows" / "tests.yml").read_text("utf-8"))
    return read


def steps(workflow: dict[Any, Any]) -> list[dict[str, Any]]:
    return [step for job in workflow["jobs"].values() for step in job["steps"]]


def test_jobs_have_the_required_fields(workflow: dict[Any, Any]) -> None:
    assert set(workflow) == {
        "name",
        True,
        "permissions",
        "concurrency",
        "jobs",
    }  # yaml reads the key "on" as true
    assert set(workflow[True]) == {"push", "pull_request"}
    for name, job in workflow["jobs"].items():
        assert re.fullmatch(r"[A-Za-z_][\w-]*", name)
        assert {"runs-on", "steps", "timeout-minutes"} <= set(job)
    for step in steps(workflow):
        assert ("uses" in step) != ("run" in step), step
        assert set(step) <= {"name", "if", "uses", "with", "run", "env", "shell"}, step
        if "uses" in step:
            assert re.fullmatch(r"actions/[a-z-]+@v\d+", step["uses"])


def test_expressions_name_what_there_is(workflow: dict[Any, Any]) -> None:
    text = (ROOT / ".github" / "workflows" / "tests.yml").read_text("utf-8")
    matrix = workflow["jobs"]["everything"]["strategy"]["matrix"]
    named = re.findall(r"\$\{\{\s*([\w.]+)\s*\}\}", text)
    assert text.count("${{") == len(named) > 0
    assert set(named) <= {f"matrix.{key}" for key in matrix} | {"github.ref"}


def test_every_python_that_is_announced_is_tried_on_three_systems(workflow: dict[Any, Any]) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    announced = [c.rsplit(" ", 1)[1] for c in project["classifiers"] if re.search(r":: 3\.\d+$", c)]
    matrix = workflow["jobs"]["everything"]["strategy"]["matrix"]
    assert matrix["python"] == announced
    assert project["requires-python"] == f">={announced[0]}"
    assert [system.split("-")[0] for system in matrix["os"]] == ["ubuntu", "macos", "windows"]


def test_the_workflow_calls_existing_options(workflow: dict[Any, Any]) -> None:
    called = [step["run"] for step in steps(workflow) if "tests/run" in step.get("run", "")]
    assert len(called) == 2
    options = re.findall(r'add_argument\(\s*"(--[\w-]+)"', (ROOT / "tests" / "run").read_text("utf-8"))
    for command in called:
        program, script, *flags = shlex.split(command)
        assert program == "python"
        assert (ROOT / script).is_file()
        assert set(flags) <= set(options)
    path = workflow["jobs"]["everything"]["steps"][1]["with"]["cache-dependency-path"]
    assert (ROOT / path).is_file()


@pytest.mark.skipif(os.name == "nt", reason="Windows keeps no such bit")
def test_scripts_can_be_run() -> None:
    for script in (".ci/run", "tests/run", "tests/mutate", "tests/record"):
        assert os.access(ROOT / script, os.X_OK), script
