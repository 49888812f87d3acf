"""Documentation that is generated is up to date."""

from __future__ import annotations

import importlib.util
import json
import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from rankscope.lab.certificate_model import Certificates, render_page
from rankscope.lab.certificates import certificates

DOCS = Path(__file__).parents[1] / "docs"


def _script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_measure_pages_are_those_of_the_registry(
    shared: Callable[[str, Callable[[], Certificates]], Certificates],
) -> None:
    script = _script("make_measures")
    computed = shared("certificates", certificates)
    built_in = script.pages(computed)
    present = {path.name: path.read_text("utf-8") for path in script.existing_files()}
    assert {name for name in built_in if built_in[name] != present.get(name)} == set()
    assert present.keys() <= built_in.keys()
    assert (DOCS / "certificates.md").read_text("utf-8") == render_page(computed)


def test_type_checkers_know_the_measures_of_the_registry() -> None:
    script = _script("make_measures")
    assert script.NAMES.read_text("utf-8") == script.names()


def test_links_lead_to_files() -> None:
    """Relative links and pictures of all pages work on a plain Git host; test_site.py checks generated pages."""
    pages = [*DOCS.parent.glob("*.md"), *DOCS.rglob("*.md"), *(DOCS.parent / "web").glob("*.md")]
    dead = [
        f"{page.name}: {link}"
        for page in pages
        for link in re.findall(r"\]\(([^)#\s]+)", page.read_text("utf-8"))
        if "://" not in link and not (page.parent / link).exists()
    ]
    assert len(pages) > 20 and dead == []


def test_pages_have_no_directives_of_sphinx() -> None:
    pages = [page for page in DOCS.rglob("*.md") if DOCS / "book" not in page.parents]
    raw = [
        page.name
        for page in pages
        if re.search(r"^(```|:::+)\{|\{(doc|download|ref)\}`", page.read_text("utf-8"), re.M)
    ]
    assert raw == []


def test_every_version_of_python_that_is_promised_is_tried() -> None:
    project = tomllib.loads((DOCS.parent / "pyproject.toml").read_text("utf-8"))["project"]
    named = [c.rpartition(" ")[2] for c in project["classifiers"] if re.search(r":: 3\.\d+$", c)]
    workflow = (DOCS.parent / ".github" / "workflows" / "tests.yml").read_text("utf-8")
    assert f"python: {json.dumps(named)}" in workflow
    assert project["requires-python"] == f">={named[0]}"
