"""List all measures with parameters, reference and meaning, or explain one measure and its user model.

--plot draws the weights of ranks, for measures that have them. --certificates adds the properties and the scale that
each measure guarantees, from an enumeration of all short rankings (some seconds for all measures).

examples:
  rankscope measures
  rankscope measures nDCG
  rankscope measures "RBP(p=0.95)" --plot weights.svg
  rankscope measures nDCG --certificates
  rankscope measures --certificates -f json -o measures.json
"""

from __future__ import annotations

import argparse
import sys
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rankscope.cli import arguments, options
from rankscope.cli.output import choose_format, emit
from rankscope.cli.terminal import ink, write
from rankscope.errors import MeasureError, SettingsError, printable, suggest_names
from rankscope.result import TableResult
from rankscope.rows import Row, column
from rankscope.tables import Table
from rankscope.text_layout import Ink, terminal_columns

if TYPE_CHECKING:
    from rankscope.measures import Measure


class MeasureRow(Row):
    """Description of a measure."""

    family: str = column("family of the measure: classic, effort, diversity or user")
    measure: str = column()
    parameters: str = column("parameters of the measure with their defaults")
    cutoff: str = column("whether the measure takes a cutoff: required, optional or none")
    meaning: str = column("meaning of the measure")
    reference: str = column("paper that defines the measure")
    low: float = column("lowest value")
    high: float = column("highest value")
    over_topics: str = column("summary of the values of topics: mean, sum or geometric mean")
    better: str = column("better values: higher, lower or neither")
    user: str = column("user model of the measure")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="M", nargs="?", help="measure to explain (default: list all)")
    certificates = "add guaranteed properties, from an enumeration"
    parser.add_argument("--certificates", action="store_true", help=certificates)
    options.add_plugin(parser)
    options.add_output(parser)
    options.add_plot(parser)


def run(args: argparse.Namespace) -> None:
    from rankscope.lab.weights import rank_weights
    from rankscope.measures import REGISTRY, load_installed

    arguments.load_plugins(args)
    if not args.name:
        load_installed()
    named = [_find_measure(args.name)] if args.name else []
    table = tabulate(named)
    if args.plot and not named:
        hint = "name one: rankscope measures RBP --plot weights.svg"
        raise SettingsError("--plot needs a measure", hint=hint)
    if args.certificates:
        from rankscope.lab.certificate_model import CUTOFF
        from rankscope.lab.certificates import certificates

        certified = certificates([_complete(args.name, CUTOFF)] if args.name else None)
        tables = {table.name: table, **certified.tables}
        emit(args, TableResult(tables, certified.settings, tuple(tables), certified.display))
    elif named and args.format is None and args.output is None and not args.plot:
        sys.stdout.write(explain(named[0], _complete(args.name)))
    elif not named and args.output is None and choose_format(args) == "table":
        write(list_by_family(list(dict.fromkeys(REGISTRY.values())), ink()), is_styled=True)
    else:
        measure = _complete(args.name) if named else None
        has_weights = measure is not None and (args.plot or measure.rank_weights(1) is not None)
        weights = rank_weights([measure]) if measure is not None and has_weights else None
        more = () if weights is None else weights.tables.values()
        result = TableResult.from_tables(table, *more, settings={}, display=[_shorten(table)])
        emit(args, result, figure=None if weights is None else weights.plot)


def tabulate(measures: Sequence[Measure] = ()) -> Table:
    """Return a table of some measures, by default all, with one row per measure."""
    from rankscope.measures import REGISTRY

    cutoffs = {"required": "yes", "optional": "optional", "none": "no"}
    rows = []
    for m in sorted(measures or dict.fromkeys(REGISTRY.values()), key=lambda measure: measure.family):
        parameters = ", ".join(f"{key}={p.default!r}" for key, p in m.parameters.items())
        facts = (m.meaning, m.reference, *m.range, m.summary, m.better, m.user)
        rows.append((m.family, m.name, parameters, cutoffs[m.cutoff_rule], *facts))
    return MeasureRow.table("measures", rows)


def list_by_family(measures: Sequence[Measure], ink: Ink) -> str:
    """Return a list of measures and their meanings by family, wrapped at the width of the terminal."""
    width = min(100, terminal_columns())
    names = {
        measure: printable(measure.name) + ("@k" if measure.cutoff_rule == "required" else "")
        for measure in measures
    }
    indent = 2 + max(map(len, names.values())) + 2
    lines = []
    for family in sorted({measure.family for measure in measures}):
        lines += ["", ink(family, "title")]
        for measure in measures:
            if measure.family == family:
                text = printable(measure.meaning)
                meaning = textwrap.wrap(text, width - indent, break_on_hyphens=False) or [""]
                lines.append(f"  {names[measure]:<{indent - 4}}  {meaning[0]}")
                lines += [" " * indent + more for more in meaning[1:]]
    about = "@k: needs a cutoff. For parameters, formula and user model: rankscope measures nDCG"
    lines += ["", *(ink(line, "faint") for line in textwrap.wrap(about, width))]
    return "\n".join(lines[1:]) + "\n"


def _shorten(table: Table) -> Table:
    """Keep the columns that are useful in a list of all measures."""
    shown = ("family", "measure", "better", "parameters", "cutoff", "meaning")
    return Table(table.name, shown, list(zip(*map(table.column, shown), strict=True)))


def explain(measure: Measure, complete: Measure) -> str:
    """Return the description of a measure; ``complete`` is the measure with parameters and a cutoff."""
    from rankscope.measures.spellings import alternative_names

    lines = [measure.meaning, "", *([measure.formula, ""] if measure.formula else [])]
    if measure.user:
        lines += [f"user model: {measure.user}", ""]
    for key, p in measure.parameters.items():
        lines.append(f"  {key}={p.default!r}  {p.meaning} ({p.allowed()})")
    if measure.cutoff_rule != "none":
        default = "" if measure.default_cutoff is None else f", default {measure.default_cutoff:g}"
        lines.append(f"  @k  {measure.cutoff_meaning} ({measure.cutoff_rule}{default})")
    if others := [*measure.aliases, *alternative_names(measure.name)]:
        lines += ["", f"also written: {', '.join(dict.fromkeys(others))}"]
    weights = complete.rank_weights(8)
    if weights is not None:
        lines += ["", f"weights of the ranks of {complete}: {', '.join(f'{w:.4g}' for w in weights)}, ..."]
    low, high = measure.range
    facts = [f"range {low:g} to {high:g}", f"better: {measure.better}", f"over topics: {measure.summary}"]
    lines += ["", "; ".join(filter(None, [*facts, measure.reference]))]
    lines += ["", f"guaranteed properties: rankscope measures {measure.name} --certificates"]
    width = min(100, terminal_columns())
    wrapped = [part for text in lines for line in text.split("\n") for part in _wrap(line, width)]
    return "\n".join(wrapped) + "\n"


def _wrap(line: str, width: int) -> list[str]:
    """Wrap a line with a hanging indent."""
    indent = " " * (len(line) - len(line.lstrip()) + 4)
    return textwrap.wrap(line, width, subsequent_indent=indent, break_on_hyphens=False) or [""]


def _find_measure(text: str) -> Measure:
    """Return the registered measure of a name, without its parameters."""
    from rankscope.measures import REGISTRY, installed
    from rankscope.measures.spellings import respelled

    name = text.partition("@")[0].partition("(")[0].strip()
    if name not in REGISTRY:
        name = (respelled(text, REGISTRY) or name).partition("@")[0].partition("(")[0]
    measure = installed(name)
    if measure is None:
        hint = suggest_names(name, REGISTRY) or "see: rankscope measures"
        raise MeasureError(f"there is no measure {name!r}", hint=hint)
    return measure


def _complete(text: str, cutoff: int = 10) -> Measure:
    """Return a measure with its parameters, and with a cutoff if it requires one."""
    from rankscope.measures.grammar import parse

    measure = _find_measure(text)
    if text.strip() != measure.name or measure.cutoff_rule != "required":
        return parse(text)
    return measure @ (0.5 if measure.name == "IPrec" else cutoff)
