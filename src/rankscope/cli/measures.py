"""List every measure with its parameters, reference and meaning; or explain one, with the user behind it.

--plot draws how much each rank counts, for measures that give ranks weights. --certificates adds what measures
guarantee: properties of rankings and scales of measurement, found by looking at every short ranking (some seconds for
all measures).

examples:
  rankscope measures
  rankscope measures nDCG
  rankscope measures "RBP(p=0.95)" --plot weights.svg
  rankscope measures nDCG --certificates
  rankscope measures --certificates -f json -o measures.json
"""

from __future__ import annotations

import argparse
import shutil
import sys
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rankscope.cli import arguments, options
from rankscope.cli.output import choose_format, emit
from rankscope.cli.terminal import ink, write
from rankscope.errors import MeasureError, SettingsError, printable, suggest_names
from rankscope.result import TableResult
from rankscope.tables import Table
from rankscope.text_layout import Ink

if TYPE_CHECKING:
    from rankscope.measures import Measure


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="M", nargs="?", help="this measure only")
    parser.add_argument(
        "--certificates", action="store_true", help="what each measure guarantees, by enumeration"
    )
    options.add_plugin(parser)
    options.add_output(parser)
    options.add_plot(parser)


def run(args: argparse.Namespace) -> None:
    from rankscope.lab.weights import rank_weights
    from rankscope.measures import REGISTRY, load_installed

    arguments.load_plugins(args)
    if not args.name:
        load_installed()
    named = [_named(args.name)] if args.name else []
    table = listing(named)
    if args.plot and not named:
        raise SettingsError(
            "--plot draws one measure", hint="name it: rankscope measures RBP --plot weights.svg"
        )
    if args.certificates:
        from rankscope.lab.certificates import certificates

        result = certificates([_certified(args.name)] if args.name else None)
        tables = {table.name: table, **result.tables}
        emit(args, TableResult(tables, result.settings, tuple(tables), result.display))
    elif named and args.format is None and args.output is None and not args.plot:
        sys.stdout.write(explain(named[0], _usable(args.name)))
    elif not named and args.output is None and choose_format(args) == "table":
        write(listed(list(dict.fromkeys(REGISTRY.values())), ink()), is_styled=True)
    else:
        usable = _usable(args.name) if named else None
        weighty = usable is not None and (args.plot or usable.rank_weights(1) is not None)
        more = rank_weights([usable]).tables.values() if usable is not None and weighty else ()
        emit(args, TableResult.of(table, *more, settings={}, display=[_short(table)]))


def listing(named: Sequence[Measure] = ()) -> Table:
    """Some measures, or every one of the registry, a row each."""
    from rankscope.measures import REGISTRY

    rows = [
        (
            measure.family,
            measure.name,
            ", ".join(f"{key}={p.default!r}" for key, p in measure.parameters.items()),
            {"required": "yes", "optional": "optional", "none": "no"}[measure.cutoff_rule],
            measure.meaning,
            measure.reference,
            measure.range[0],
            measure.range[1],
            measure.summary,
            measure.better,
            measure.user,
        )
        for measure in named or dict.fromkeys(REGISTRY.values())
    ]
    rows.sort(key=lambda row: row[0])
    columns = (
        "family",
        "measure",
        "parameters",
        "cutoff",
        "meaning",
        "reference",
        "low",
        "high",
        "over_topics",
        "better",
        "user",
    )
    return Table("measures", columns, rows)


def listed(measures: Sequence[Measure], ink: Ink) -> str:
    """Measures by family, each with its meaning, in lines that a terminal can hold."""
    width = min(100, shutil.get_terminal_size((80, 24)).columns)
    names = {one: printable(one.name) + ("@k" if one.cutoff_rule == "required" else "") for one in measures}
    indent = 2 + max(map(len, names.values())) + 2
    lines = []
    for family in sorted({measure.family for measure in measures}):
        lines += ["", ink(family, "title")]
        for measure in (one for one in measures if one.family == family):
            meaning = textwrap.wrap(printable(measure.meaning), width - indent, break_on_hyphens=False) or [
                ""
            ]
            lines.append(f"  {names[measure]:<{indent - 4}}  {meaning[0]}")
            lines += [" " * indent + more for more in meaning[1:]]
    about = "@k: needs a cutoff; parameters, formula and user of one: rankscope measures nDCG"
    lines += ["", *(ink(line, "faint") for line in textwrap.wrap(about, width))]
    return "\n".join(lines[1:]) + "\n"


def _short(table: Table) -> Table:
    """What a reader looks for in a list of all measures."""
    shown = ("family", "measure", "better", "parameters", "cutoff", "meaning")
    columns = [table.column(name) for name in shown]
    return Table(table.name, shown, list(zip(*columns, strict=True)))


def explain(measure: Measure, usable: Measure) -> str:
    """All that is known about one measure, as text; ``usable`` is the same with parameters and a cutoff."""
    from rankscope.measures.spellings import alternative_names

    lines = [measure.meaning, "", *([measure.formula, ""] if measure.formula else [])]
    if measure.user:
        lines += [f"its user: {measure.user}", ""]
    for key, p in measure.parameters.items():
        lines.append(f"  {key}={p.default!r}  {p.meaning} ({p.allowed()})")
    if measure.cutoff_rule != "none":
        default = "" if measure.default_cutoff is None else f", default {measure.default_cutoff:g}"
        lines.append(f"  @k  {measure.cutoff_meaning} ({measure.cutoff_rule}{default})")
    if others := [*measure.aliases, *alternative_names(measure.name)]:
        lines += ["", f"also written: {', '.join(dict.fromkeys(others))}"]
    weights = usable.rank_weights(8)
    if weights is not None:
        lines += ["", f"weights of the ranks of {usable}: {', '.join(f'{w:.4g}' for w in weights)}, ..."]
    low, high = measure.range
    known = [f"range {low:g} to {high:g}", f"better: {measure.better}", f"over topics: {measure.summary}"]
    known.append(measure.reference)
    lines += ["", "; ".join(filter(None, known))]
    lines += ["", f"what it guarantees: rankscope measures {measure.name} --certificates"]
    width = min(100, shutil.get_terminal_size((80, 24)).columns)
    return (
        "\n".join(shown for text in lines for line in text.split("\n") for shown in _hung(line, width)) + "\n"
    )


def _hung(line: str, width: int) -> list[str]:
    """A line in lines of some width, the further ones indented."""
    indent = " " * (len(line) - len(line.lstrip()) + 4)
    return textwrap.wrap(line, width, subsequent_indent=indent, break_on_hyphens=False) or [""]


def _named(text: str) -> Measure:
    from rankscope.measures import REGISTRY, installed
    from rankscope.measures.spellings import respelled

    name = text.partition("@")[0].partition("(")[0].strip()
    if name not in REGISTRY:
        name = (respelled(text, REGISTRY) or name).partition("@")[0].partition("(")[0]
    known = installed(name)
    if known is None:
        raise MeasureError(
            f"there is no measure {name!r}", hint=suggest_names(name, REGISTRY) or "see: rankscope measures"
        )
    return known


def _certified(text: str) -> Measure:
    """The measure that is looked at: a cutoff is chosen where there must be one."""
    from rankscope.lab.certificate_model import CUTOFF

    return _usable(text, CUTOFF)


def _usable(text: str, cutoff: int = 10) -> Measure:
    """The measure with its parameters, and with a cutoff where there must be one."""
    from rankscope.measures.grammar import parse

    named = _named(text)
    if text.strip() != named.name or named.cutoff_rule != "required":
        return parse(text)
    return named @ (0.5 if named.name == "IPrec" else cutoff)
