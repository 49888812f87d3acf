"""Documentation that is generated is up to date."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

DOCS = Path(__file__).parents[1] / "docs"


def _script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_measure_pages_are_those_of_the_registry() -> None:
    built_in = _script("make_measures").pages()
    present = {path.name: path.read_text("utf-8") for path in (DOCS / "measures").glob("*.md")}
    assert {name for name in built_in if built_in[name] != present.get(name)} == set()
    assert present.keys() <= built_in.keys()


def test_type_checkers_know_the_measures_of_the_registry() -> None:
    script = _script("make_measures")
    assert script.NAMES.read_text("utf-8") == script.names()
