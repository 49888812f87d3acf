"""The reference of the Python API: docstrings with types, return values and errors added.

Docstrings (numpydoc) define the meaning of parameters and return values. Names, defaults and types come from the
signatures.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import rankscope as rs
from rankscope.docstrings import parse_docstring

FOLDER = "reference/api"
GROUPS: dict[str, tuple[str, tuple[str, ...]]] = {
    "reading": ("Reading", ("read_qrels", "read_run", "read_runs", "read_scores", "simulate")),
    "evaluating": ("Evaluating", ("evaluate", "evaluate_arrays", "evaluate_into", "judge", "measure")),
    "comparing": (
        "Comparing runs",
        ("compare", "gate", "leaderboard", "verdict", "overlap", "curve", "effort"),
    ),
    "doubting": (
        "Doubting numbers",
        (
            "certain",
            "next",
            "next_judgments",
            "judges",
            "bounds",
            "pools",
            "leave_out",
            "orderings",
        ),
    ),
    "meta-evaluation": ("Studying measures", ()),
    "showing": ("Showing", ("report", "explore", "cite")),
}
"""Pages of functions; meta-evaluation has all functions that no other page lists."""
MODULES = {
    "lab": "The laboratory",
    "plots": "Figures",
    "engines": "Engines",
    "pytrec_eval": "Replacement for pytrec_eval",
    "spark": "Spark",
    "ir_measures": "ir_measures and PyTerrier",
    "errors": "Errors",
}
_READS = {"qrels", "runs", "run", "source", "sources", "judgments"}


def functions() -> dict[str, Callable[..., Any]]:
    """Return all public functions by their names below ``rankscope``."""
    names = {name: getattr(rs, name) for name in rs.__all__}
    for module in MODULES:
        loaded = import_module(f"rankscope.{module}")
        names |= {f"{module}.{name}": getattr(loaded, name) for name in loaded.__all__}
    return {name: value for name, value in names.items() if inspect.isfunction(value)}


def classes() -> dict[str, type]:
    """Return all public classes by their names below ``rankscope``."""
    names = {name: getattr(rs, name) for name in rs.__all__}
    for module in MODULES:
        loaded = import_module(f"rankscope.{module}")
        names |= {f"{module}.{name}": getattr(loaded, name) for name in loaded.__all__}
    return {name: value for name, value in names.items() if inspect.isclass(value)}


def meaning(function: str, parameter: str) -> str | None:
    """Return the meaning of a parameter, or None if it is undocumented."""
    return parse_docstring(functions()[function].__doc__).parameters.get(parameter)


def type_name(annotation: Any) -> str:
    """Return a type as it is written in the source, whether its evaluation was postponed or not."""
    if isinstance(annotation, str):
        return annotation
    return re.sub(r"(?:\w+\.)+(?=\w)", "", inspect.formatannotation(annotation))


def returned(function: Callable[..., Any]) -> str | None:
    """Return the description of the return value, or None if it is undocumented."""
    declared = type_name(inspect.signature(function).return_annotation)
    if declaration := getattr(function, "declaration", None):
        tables = [f"``{name}`` ({table.meaning})" for name, table in declaration.result.specs().items()]
        return f"{_first_line(declaration.result)} Tables: {', '.join(tables)}."
    doc = parse_docstring(function.__doc__)
    section = doc.sections.get("Returns", "")
    summary = " ".join(doc.text.split("\n\n")[0].split())
    if "\n" in section:
        return " ".join(section.split("\n", 1)[1].split())
    if summary.startswith("Return "):
        return summary.removeprefix("Return ")
    described = {name.rpartition(".")[2]: _first_line(kind) for name, kind in classes().items()}
    described |= {"None": "None.", "Iterator[None]": "A context manager.", "TableResult": "The tables above."}
    return described.get(declared)


def raised(name: str, function: Callable[..., Any]) -> Iterator[tuple[str, str]]:
    """Yield the errors that a function raises, each with its condition."""
    parameters = inspect.signature(function).parameters.keys()
    if name.startswith("pytrec_eval."):
        yield "TypeError", "if an argument has a type that pytrec_eval rejects, too"
        return
    if name.startswith("plots."):
        yield "MissingDependencyError", "without matplotlib (rankscope[plots])"
        yield "SettingsError", "if there is nothing of this kind to draw"
        return
    if parameters & {"scores", "collection"} and hasattr(function, "declaration"):
        yield "InputError", "if the scores or the collection lack something that the analysis needs"
    if parameters & _READS:
        yield "InputError", "if a file or value cannot be used: which, in which line, and what to do"
    if parameters & {"measures", "measure", "text", "gains", "against"}:
        yield "MeasureError", "if there is no such measure, or not with these parameters"
    if "engine" in parameters:
        yield "WorkerError", "if workers keep dying"
    yield "SettingsError", "if an argument is outside its range"


def fields(name: str, function: Callable[..., Any]) -> list[str]:
    """Return parameters, result and errors as a field list of reStructuredText."""
    lines = []
    for key, parameter in inspect.signature(function).parameters.items():
        lines.append(f":param {key}: {meaning(name, key)}")
        is_open = parameter.annotation in (parameter.empty, "Any", Any)
        kind = "" if is_open else type_name(parameter.annotation)
        if kind:
            lines.append(f":type {key}: ``{kind}``")
    declared = type_name(inspect.signature(function).return_annotation)
    lines.append(f":returns: {returned(function)}")
    if declared != "None":
        lines.append(f":rtype: ``{declared}``")
    lines += [f":raises {error}: {when}" for error, when in raised(name, function)]
    return lines


def complete(app: Any, kind: str, name: str, value: Any, options: Any, lines: list[str]) -> None:
    """Insert the fields into a docstring before its example; called by Sphinx."""
    doc = parse_docstring("\n".join(lines))
    short = name.removeprefix("rankscope.")
    if kind == "function" and short in functions():
        added = fields(short, value)
    elif doc.parameters:
        added = [f":param {key}: {meant}" for key, meant in doc.parameters.items()]
    else:
        added = []
    text = doc.text.split("\n")
    example = next((i for i, line in enumerate(text) if line.startswith(">>> ")), len(text))
    shown = [*text[:example], "", *added, ""]
    if example < len(text):
        shown += [*([".. rubric:: Example", ""] if added else []), *text[example:]]
    for title, body in doc.sections.items():
        if title not in ("Parameters", "Returns", "Raises"):
            literal = title == "Commands"
            shown += ["", f".. rubric:: {title}", "", *(["::", ""] if literal else [])]
            shown += [f"   {line}" if literal else line for line in body.split("\n")]
    lines[:] = [line if line.lstrip().startswith((">>>", "...")) else _plain(line) for line in shown]


def _plain(line: str) -> str:
    """Escape signs of statistics (``*``, ``|t|``) that are not markup."""
    parts = re.split(r"(``.*?``)", line)
    parts[::2] = [
        re.sub(r"(?<!\S)\*+(?=\s)|\|", lambda signs: "".join(f"\\{c}" for c in signs[0]), p)
        for p in parts[::2]
    ]
    return "".join(parts)


def pages() -> dict[str, str]:
    """Return the pages of the API in reStructuredText, the markup of docstrings."""
    public_functions = functions()
    named = {name for _, names in GROUPS.values() for name in names}
    rest = tuple(name for name in public_functions if "." not in name and name not in named)
    sources = {}
    for page, (title, names) in GROUPS.items():
        sources[f"{FOLDER}/{page}.rst"] = _page(
            title, "rankscope", [f"rankscope.{name}" for name in names or rest]
        )
    sources[f"{FOLDER}/objects.rst"] = _page(
        "Objects", "rankscope", [], [f"rankscope.{name}" for name in classes() if "." not in name]
    )
    for module, title in MODULES.items():
        members = [f"rankscope.{name}" for name in public_functions if name.startswith(f"{module}.")]
        kinds = [f"rankscope.{name}" for name in classes() if name.startswith(f"{module}.")]
        sources[f"{FOLDER}/{module}.rst"] = _page(
            f"{title}: ``rankscope.{module}``", f"rankscope.{module}", members, kinds
        )
    return {f"{FOLDER}/index.md": _index(), **{path: _ORPHAN_RST + text for path, text in sources.items()}}


_ORPHAN_RST = ":orphan:\n\n"


def _page(title: str, module: str, members: list[str], kinds: list[str] = []) -> str:  # noqa: B006 (not changed)
    lines = [title, "=" * len(title), "", f".. py:currentmodule:: {module}", ""]
    for name in kinds:
        lines += [f".. autoclass:: {name}", "   :members:", "   :show-inheritance:", ""]
    for name in members:
        lines += [f".. autofunction:: {name}", ""]
    return "\n".join(lines)


def _index() -> str:
    public_functions = functions()
    named = {name for _, names in GROUPS.values() for name in names}
    lines = [
        "# Python",
        "",
        "```python",
        "import rankscope as rs",
        "```",
        "",
        "Every measure is also a name in the package (`rs.nDCG @ 10`, `rs.RBP(p=0.5)`):",
        "[Measures](../../measures/README.md).",
        "Functions return a `Result`: `tables`, `settings`, exports (`to_pandas`, `to_latex`, ...) and `plot()`.",
        "",
    ]
    for page, (title, names) in GROUPS.items():
        members = names or tuple(name for name in public_functions if "." not in name and name not in named)
        lines += [f"## [{title}]({page}.rst)", "", "| function | |", "|---|---|"]
        lines += [
            f"| [`{name}`](#rankscope.{name}) | {_first_line(public_functions[name])} |" for name in members
        ]
        lines.append("")
    lines += ["## Objects and modules", "", "| page | |", "|---|---|"]
    lines += ["| [Objects](objects.rst) | judgments, runs, scores, results and tables |"]
    for module, title in MODULES.items():
        about = _first_line(import_module(f"rankscope.{module}"))
        lines.append(f"| [{title}]({module}.rst) | {about} |")
    return "\n".join([*lines, ""])


def _first_line(value: Any) -> str:
    first = (inspect.getdoc(value) or "").split("\n\n")[0].replace("\n", " ")
    return re.sub(r":\w+:`~?\.?([^`]*)`", r"`\1`", first).replace("``", "`").replace("|", "\\|")


def public(app: Any, env: Any, node: Any, contents: Any) -> Any:
    """Resolve a reference to the public name of an object, or to plain text if it is not public."""
    if node.get("refdomain") != "py":
        return None
    target = str(node["reftarget"])
    name = target.rpartition(".")[2]
    objects = env.get_domain("py").objects
    for candidate in (
        f"rankscope.{target}",
        f"rankscope.{name}",
        *(f"rankscope.{m}.{name}" for m in MODULES),
    ):
        if candidate in objects:
            from sphinx.util.nodes import make_refnode

            entry = objects[candidate]
            return make_refnode(
                app.builder, node["refdoc"], entry.docname, entry.node_id, contents, candidate
            )
    return contents
