"""Write the names of analyses and figures into the stub files of rankscope and rankscope.plots.

python docs/make_names.py

A package exports the names of its stub file (``rankscope.lazy``). Every function that ``@analysis`` declares in
``analysis/`` is a name of ``rankscope``, and every function ``plot_*`` of ``plots/`` one of ``rankscope.plots``. Lines
with other names are written by hand, and stay.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "rankscope"


def _is_analysis(function: ast.FunctionDef) -> bool:
    calls = (item.func for item in function.decorator_list if isinstance(item, ast.Call))
    return any(isinstance(call, ast.Name) and call.id == "analysis" for call in calls)


def _is_figure(function: ast.FunctionDef) -> bool:
    return function.name.startswith("plot_")


RULES: dict[str, tuple[str, Callable[[ast.FunctionDef], bool]]] = {
    "__init__.pyi": ("analysis", _is_analysis),
    "plots/__init__.pyi": ("plots", _is_figure),
}
"""For each stub file, the folder of its functions and the condition that they fulfil."""


def stub(file: str, source: Path = SOURCE) -> str:
    """Return the content of a stub file."""
    folder, is_exported = RULES[file]
    generated: list[str] = []
    for path in (source / folder).rglob("*.py"):
        module = ".".join(["rankscope", *path.relative_to(source).with_suffix("").parts])
        functions = (
            node for node in ast.parse(path.read_text("utf-8")).body if isinstance(node, ast.FunctionDef)
        )
        names = [function.name for function in functions if is_exported(function)]
        generated += [f"from {module.removesuffix('.__init__')} import {name} as {name}" for name in names]
    imports, *rest = (source / file).read_text("utf-8").partition("\n\n")
    lines = sorted({*imports.splitlines(), *generated}, key=_order)
    return "\n".join(lines) + ("".join(rest) or "\n")


def _order(line: str) -> tuple[str, int, str]:
    """Return the sort key of an import: module, then constants, classes and functions by name."""
    _, module, _, name, *_ = line.split()
    return module, 0 if name.isupper() else 1 if name[:1].isupper() else 2, name


if __name__ == "__main__":
    for name in RULES:
        (SOURCE / name).write_text(stub(name), "utf-8")
