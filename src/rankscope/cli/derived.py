"""Derives commands from the declaration of an analysis: options from its signature, help from its docstring.

A command without its own module is a :class:`DerivedCommand`. A command with a special presentation has a module
with ``add_arguments`` and ``run``, which call :func:`add_arguments` and :func:`call` of this module.
"""

import argparse
from collections.abc import Callable, Container
from typing import Any

from rankscope.cli import arguments, options
from rankscope.cli.output import emit
from rankscope.declaration import Declaration
from rankscope.result import TypedResult
from rankscope.tables import Table


class DerivedCommand:
    """Command derived from an analysis, with the interface of a command module."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.__doc__ = describe(function)

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        add_arguments(parser, self.function)

    def run(self, args: argparse.Namespace) -> None:
        result = call(args, self.function)
        main, display = select_tables(args, result)
        emit(args, result, main=main, display=display)


def get_declaration(function: Callable[..., Any]) -> Declaration:
    """Return the declaration of an analysis."""
    declaration: Declaration = function.declaration  # type: ignore[attr-defined]
    return declaration


def describe(function: Callable[..., Any]) -> str:
    """Return the text of the help: the docstring up to its sections, and the examples of the declaration."""
    declared = get_declaration(function)
    examples = "\n".join(f"  {line}" for line in declared.examples.splitlines())
    return f"{options.name_flags(declared.doc.text, declared.parameters)}\n\nexamples:\n{examples}"


def add_arguments(parser: argparse.ArgumentParser, function: Callable[..., Any]) -> None:
    """Add all options of an analysis: inputs, options of the collection, parameters, tables, figures, output."""
    declared = get_declaration(function)
    tables = declared.result.specs()
    options.add_collection(parser, declared.uses, needs_qrels=declared.needs_qrels)
    if declared.input_name == "scores":
        options.add_measures(parser, declared.measures)
        if not declared.needs_rankings:
            options.add_scores(parser)
    elif any(parameter.option.metavar == "M" for parameter in declared.parameters.values()):
        options.add_plugin(parser)
    options.add_parameters(parser, declared.parameters)
    for flag in dict.fromkeys(spec.flag for spec in tables.values() if spec.flag):
        meanings = " and ".join(spec.meaning for spec in tables.values() if spec.flag == flag)
        parser.add_argument(
            *flag.split(), dest=_destination(flag), action="store_true", help=f"also show {meanings}"
        )
    options.add_topics(parser)
    add_output(parser, declared)


def add_own(parser: argparse.ArgumentParser, function: Callable[..., Any], without: Container[str]) -> None:
    """Add the options of an analysis whose inputs a command adds itself, ``without`` parameters for these."""
    declared = get_declaration(function)
    options.add_evaluation(parser, declared.uses)
    options.add_jobs(parser)
    options.add_measures(parser, declared.measures)
    options.add_parameters(parser, {k: p for k, p in declared.parameters.items() if k not in without})
    add_output(parser, declared)


def add_output(parser: argparse.ArgumentParser, declared: Declaration) -> None:
    """Add the options of output and figures."""
    options.add_output(parser)
    if declared.figures:
        options.add_plot(parser)
    if len(declared.figures) > 1:
        first, *_ = declared.figures
        parser.add_argument(
            "--figure", choices=tuple(declared.figures), help=f"figure that --plot draws (default: {first})"
        )


def _destination(flag: str) -> str:
    """Return the attribute of the arguments that a flag of tables sets."""
    name = flag.split()[-1].lstrip("-")
    return "per_topic" if name == "per-topic" else f"table_{name}"  # --topics without topics sets per_topic


def call(args: argparse.Namespace, function: Callable[..., Any]) -> Any:
    """Run an analysis with the collection, measures and parameters of the command line."""
    declared = get_declaration(function)
    parameters = parameter_values(args, function)
    if declared.input_name == "collection":
        if not declared.needs_qrels:
            _find_qrels(args)
        arguments.load_plugins(args)
        return function(arguments.open_collection(args, ()), **parameters)
    return function(arguments.evaluate(args, arguments.parse_measures(args)), **parameters)


def parameter_values(args: argparse.Namespace, function: Callable[..., Any]) -> dict[str, Any]:
    """Return the parameters of an analysis that the command line sets, or that have no default."""
    parameters = get_declaration(function).parameters
    values = {name: getattr(args, name, None) for name in parameters}
    return {name: v for name, v in values.items() if v is not None or not parameters[name].has_default}


def _find_qrels(args: argparse.Namespace) -> None:
    """Set the optional judgments: those of --qrels, or the first file if it looks like judgments."""
    from rankscope.read import looks_like_qrels

    if args.qrels is None and len(args.runs) > 1 and looks_like_qrels(args.runs[0]):
        args.qrels, *args.runs = args.runs


def select_tables(args: argparse.Namespace, result: TypedResult) -> tuple[list[str], list[Table]]:
    """Return the names of the main tables and the tables to display, with those that options add."""
    specs = result.specs()
    flags = {name: specs[name].flag for name in result.tables}
    added = [name for name, flag in flags.items() if flag and getattr(args, _destination(flag), False)]
    if not added:
        return list(result.main), list(result.display)
    names = list(result.tables)
    main = sorted({*result.main, *added}, key=names.index)
    tables = {table.name: table for table in (*result.display, *(result[name] for name in added))}
    if tables.keys() <= set(names):  # In the order of the result; tables only for display stay in front.
        tables = {name: tables[name] for name in names if name in tables}
    return main, list(tables.values())
