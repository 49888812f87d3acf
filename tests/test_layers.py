"""Nothing points backwards: which package may import which, held against every import there is.

Every import of ours is an arrow: at the top of a module, inside a function, and under ``TYPE_CHECKING``.
Readers of a module must know the names in its types, and an import in a function is a hidden dependency. Importing
the version from ``rankscope`` itself does not count: the root package is loaded before anything else and loads nothing.

The only exceptions are in :data:`EXCEPTIONS`: a result can draw itself, and scores can open the explorer, so that
people find both where they look for them. Modules that are loaded by name (``import_module``) are in :data:`BY_NAME`.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from textwrap import indent
from typing import NamedTuple

import pytest

import rankscope

EVERYWHERE = "arrays choices lazy errors progress caching frames columns cells tables result rows engines"
"""The ground that every station stands on: it knows nothing of rankings, and nothing of the disk."""

GROUND = {
    "arrays": "",
    "choices": "",
    "lazy": "",
    "errors": "",
    "progress": "",
    "caching": "",
    "frames": "errors",
    "columns": "arrays lazy",
    "cells": "columns errors lazy native",  # its C code writes numbers
    "text_layout": "cells errors",
    "tables": "arrays errors lazy frames columns cells text_layout",
    "result": "errors caching tables",
    "docstrings": "",
    "vocabulary": "",
    "rows": "columns tables vocabulary",
    "engines": "errors lazy progress",
    # what writes files
    "files": "errors progress",
    "directories": "errors files",
    "json_documents": "errors",
    # C code and its bindings, which know bytes, files and arrays, and nothing of Qrels and Run
    "native": "arrays errors engines",
}

STATIONS = {
    # files become lists, lists become hits, hits become values
    "read": "json_documents native",
    "scan": "read native",
    "judging": "read native scan",
    "measures": "judging",
    "certainty": "read scan judging measures",
    "scores": "read judging measures certainty",
    "evaluation": "read scan judging certainty scores",
    # analyses of values and rankings, and of measures themselves
    "declaration": "docstrings measures scores",
    "analysis.stats": "native judging measures scores",
    "analysis": "declaration read scan judging measures certainty scores analysis.stats lab.cumulated_counts",
    "analysis.findings": "declaration judging measures scores analysis analysis.stats lab.measurement",
    "analysis.study": "declaration files directories json_documents read judging measures scores analysis"
    " analysis.findings analysis.stats",
    "lab.rounding": "",
    "lab.cumulated_counts": "",
    "lab.rankings": "judging measures lab.rounding",
    "lab.axioms": "measures lab.rankings lab.rounding",
    "lab.measurement": "native measures lab.rankings lab.rounding",
    "lab.identification": "read judging measures",
    "lab": "measures lab.cumulated_counts lab.identification lab.rankings lab.axioms lab.measurement",
    # what is shown
    "plots": "files measures scores analysis analysis.findings analysis.study lab lab.axioms lab.measurement"
    " lab.rounding",
    "reporting": "declaration files directories json_documents read judging measures certainty scores analysis"
    " analysis.findings analysis.stats analysis.study",
    "explorer": "declaration read judging scores reporting",
    # outside the main path: replacements for other programs and libraries, and simulated collections
    "simulation": "",
    "citations": "measures",
    "trec_eval": "read scan judging measures",
    "ndeval": "read judging measures",
    "pytrec_eval": "native read scan judging measures evaluation trec_eval",
    "ir_measures": "read measures scores",
    "sentence_transformers": "scores evaluation",
    "spark": "read judging measures scores",
    "streaming": "files read judging measures scores",
}

ALLOWED = {
    **GROUND,
    **{name: f"{EVERYWHERE} {text}" for name, text in STATIONS.items()},
    # the doors: commands, and the public names
    "cli": "*",
    "__main__": "cli",
    "pyserini": "errors read trec_eval cli",
    "": "*",
}
"""Permitted imports of each package (``*``: all); a module belongs to the longest matching name."""

DOORS = ("", "__main__", "cli", "pyserini")

EXCEPTIONS = {
    ("result", "Result.plot", "plots"): "every result draws itself",
    ("scores", "Scores.explore", "explorer"): "scores open the explorer",
}
"""(module, function, package): the imports that point backwards, inside these functions or for their types alone."""

BY_NAME = {
    "lazy": "public names, and those of packages that help and completion pass through",
    "measures.registry": "so are the families of measures",
    "lab.identification.libraries": "other libraries, where they are installed",
    "plots.figure": "the module that draws a figure of a result",
    "cli.main": "only the requested command is loaded",
    "cli.plugins": "plugins are named by the user",
    "native.memory": "the extension module, which may not have been built",
}
"""The modules that import by name, where no arrow can be seen."""

CIRCLES = {
    frozenset(
        {"judging.aspects", "judging.lists", "judging.pool"}
    ): "a pool has ideal rankings, and lists have a pool",
    frozenset(
        {"read.datasets", "read.foreign", "read.qrels", "read.run_files", "read.runs"}
    ): "files of other formats become judgments and runs, which know what to do with a file",
}
"""Modules inside one package that load each other; names in types do not count here."""


class Arrow(NamedTuple):
    """One import: from which module, inside which function (empty: at the top), of which module, and where."""

    source: str
    function: str
    target: str
    line: int
    typing: bool


@cache
def sources() -> Mapping[str, str]:
    """Return the text of every module of ours by its name without ``rankscope.``."""
    root = Path(rankscope.__file__).parent
    names = {}
    for path in root.rglob("*.py"):
        parts = path.relative_to(root).with_suffix("").parts
        stub = path.with_suffix(".pyi")  # The stub of a package declares its lazy imports.
        types = stub.read_text("utf-8") if stub.exists() else ""
        lazy = f"\nif TYPE_CHECKING:\n{indent(types, '    ')}" if types else ""
        names[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path.read_text("utf-8") + lazy
    return names


def arrows(modules: Mapping[str, str]) -> list[Arrow]:
    """Yield every import of ours in some modules, real or hypothetical."""
    modules_by_name = {*sources(), *modules}
    return [
        Arrow(name, function, target, line, typing)
        for name, text in modules.items()
        for function, typing, node in _imports(ast.parse(text))
        for target, line in _targets(name, node, modules_by_name)
    ]


@cache
def ours() -> list[Arrow]:
    """Return every import of ours."""
    return arrows(sources())


def _imports(
    tree: ast.AST, function: str = "", typing: bool = False
) -> Iterator[tuple[str, bool, ast.Import | ast.ImportFrom]]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield function, typing, node
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield from _imports(node, f"{function}.{node.name}".strip("."), typing)
        else:
            checked = isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
            yield from _imports(node, function, typing or checked)


def _targets(
    source: str, node: ast.Import | ast.ImportFrom, modules_by_name: Collection[str]
) -> Iterator[tuple[str, int]]:
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    elif node.level:  # relative to the package of the module
        base = ".".join(["rankscope", *source.split(".")][: -node.level or None])
        whole = f"{base}.{node.module}" if node.module else base
        names = [f"{whole}.{alias.name}" for alias in node.names]
    else:
        names = [f"{node.module}.{alias.name}" for alias in node.names]
    for name in names:
        if name.partition(".")[0] == "rankscope" and name != "rankscope.__version__":
            inside = name.partition(".")[2]
            yield _module(inside, modules_by_name), node.lineno


def _module(name: str, modules_by_name: Collection[str]) -> str:
    """Return the module of a dotted name: the longest existing one."""
    while name and name not in modules_by_name:
        name = name.rpartition(".")[0]
    return name


def package(module: str) -> str:
    """Return the entry of the table that a module belongs to."""
    while module not in ALLOWED:
        if "." not in module:
            return module
        module = module.rpartition(".")[0]
    return module


def excepted(arrow: Arrow) -> bool:
    """Whether an import that points backwards is one of the exceptions; a type may be named for the function."""
    expected = [
        (module, function) for module, function, target in EXCEPTIONS if target == package(arrow.target)
    ]
    return any(
        arrow.source == module and (arrow.function == function or (arrow.typing and not arrow.function))
        for module, function in expected
    )


def forbidden(names: Iterable[Arrow]) -> list[str]:
    """Return the forbidden imports, one line each."""
    wrong = []
    for arrow in names:
        source, target = package(arrow.source), package(arrow.target)
        if source not in ALLOWED:
            wrong.append(f"{arrow.source} is in no package of the table: add it")
        elif source != target and ALLOWED[source] != "*" and target not in ALLOWED[source].split():
            if excepted(arrow):
                continue
            what = f"{source} may not know {target or 'the public names'}"
            wrong.append(f"{arrow.source}:{arrow.line} imports {arrow.target}: {what}")
    return wrong


def test_every_import_is_allowed() -> None:
    assert forbidden(ours()) == []


def test_every_allowed_import_exists() -> None:
    """Check that every import that the table allows exists."""
    used = {(package(a.source), package(a.target)) for a in ours()}
    listed = {(source, target) for source, text in STATIONS.items() for target in text.split()}
    assert listed - used == set()


def test_every_exception_exists() -> None:
    used = {(a.source, a.function, package(a.target)) for a in ours()}
    assert set(EXCEPTIONS) <= used


@pytest.mark.parametrize(
    ("module", "text", "complaint"),
    [
        ("measures.bad", "from rankscope.scores import Scores", "measures may not know scores"),
        ("measures.bad", "import rankscope.read", "measures may not know read"),
        ("analysis.bad", "from rankscope import plots", "analysis may not know plots"),
        ("analysis.bad", "def plot():\n    from rankscope.plots import plot", "analysis may not know plots"),
        (
            "lab.bad",
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from rankscope.plots import Figure",
            "lab may not know plots",
        ),
        ("lab.axioms.bad", "from ...plots import plot", "lab.axioms may not know plots"),
        ("analysis.stats.bad", "from rankscope.analysis.power import power", "analysis.stats may not know analysis"),
        ("read.bad", "async def f():\n    import rankscope.scan.native", "read may not know scan"),
        ("tables", "class T:\n    def f(self):\n        import rankscope.cli.main", "tables may not know cli"),
        ("result", "def other():\n    from rankscope.plots import plot", "result may not know plots"),
        ("engines.bad", "from rankscope import evaluate", "engines may not know the public names"),
        ("unheard_of", "from rankscope import errors", "unheard_of is in no package of the table"),
    ],
)  # fmt: skip
def test_a_forbidden_import_is_found(module: str, text: str, complaint: str) -> None:
    [line] = forbidden(arrows({module: text}))
    assert complaint in line


@pytest.mark.parametrize(
    ("module", "text"),
    [
        ("measures.fine", "from rankscope.judging import Lists"),
        ("analysis.fine", "from rankscope import __version__\nimport numpy, rankscopelike"),
        ("cli.fine", "import rankscope.plots\nfrom . import options"),
        ("plots.fine", "from rankscope.analysis.curve import Curve"),
    ],
)
def test_allowed_imports_are_not_reported(module: str, text: str) -> None:
    assert forbidden(arrows({module: text})) == []


def test_there_is_no_import_cycle_between_packages() -> None:
    graph: dict[str, set[str]] = {name: set() for name in ALLOWED}
    for arrow in ours():
        source, target = package(arrow.source), package(arrow.target)
        if source != target and not excepted(arrow):
            graph[source].add(target)
    order = list(TopologicalSorter(graph).static_order())
    assert order.index("read") < order.index("scan") < order.index("judging") < order.index("measures")
    with pytest.raises(CycleError):
        list(TopologicalSorter({**graph, "measures": {"analysis"}}).static_order())


def test_the_table_has_no_cycle() -> None:
    packages = set(ALLOWED) - set(DOORS)
    graph = {
        name: (packages if text == "*" else set(text.split()))
        for name, text in ALLOWED.items()
        if name in packages
    }
    list(TopologicalSorter(graph).static_order())


def test_import_cycles_between_modules_are_few() -> None:
    graph: dict[str, set[str]] = {}
    for arrow in ours():
        ignored = arrow.typing or excepted(arrow) or arrow.source in DOORS
        if not ignored and arrow.source != arrow.target:
            graph.setdefault(arrow.source, set()).add(arrow.target)
    assert {circle for circle in circles(graph) if len(circle) > 1} == set(CIRCLES)


def circles(graph: Mapping[str, set[str]]) -> set[frozenset[str]]:
    """Return the strongly connected sets of modules."""
    reached: dict[str, set[str]] = {}
    for start in graph:
        visited: set[str] = set()
        waiting = [start]
        while waiting:
            for target in graph.get(waiting.pop(), ()):
                if target not in visited:
                    visited.add(target)
                    waiting.append(target)
        reached[start] = visited
    return {
        frozenset(other for other in reached[module] if module in reached.get(other, ()))
        for module in graph
        if module in reached[module]
    }


def test_modules_loaded_by_name_are_known() -> None:
    names = {
        name
        for name, text in sources().items()
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call)
        and ast.unparse(node.func) in ("import_module", "__import__", "importlib.import_module")
    }
    assert names == set(BY_NAME)
