"""List every measure with its parameters, reference and meaning; or explain one.

examples:
  rankscope measures
  rankscope measures nDCG
  rankscope measures --certificates
"""

from __future__ import annotations

import argparse
import sys

from rankscope.cli import options
from rankscope.cli.output import emit
from rankscope.errors import MeasureError, nearest
from rankscope.measures import REGISTRY, Measure
from rankscope.tables import Table

NAME = "measures"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", help="explain this measure")
    parser.add_argument(
        "--certificates", action="store_true", help="what each measure guarantees, by enumeration"
    )
    options.add_output(parser)


def run(args: argparse.Namespace) -> None:
    if args.certificates:
        from rankscope.lab.certificates import certificates

        result = certificates()
        emit(args, list(result.tables.values()), result.settings)
    elif args.name:
        sys.stdout.write(explain(_named(args.name)))
    else:
        emit(args, [listing()], {}, display=[_short(listing())])


def listing() -> Table:
    """Every measure of the registry, a row each."""
    rows = [
        (
            measure.family,
            measure.name,
            ", ".join(f"{key}={p.default!r}" for key, p in measure.parameters.items()),
            {"required": "yes", "optional": "optional", "none": "no"}[measure.cutoff_rule],
            measure.meaning,
            measure.reference,
        )
        for measure in dict.fromkeys(REGISTRY.values())
    ]
    rows.sort(key=lambda row: row[0])
    return Table("measures", ("family", "measure", "parameters", "cutoff", "meaning", "reference"), rows)


def _short(table: Table) -> Table:
    return Table(table.name, table.columns[:5], [row[:5] for row in table.rows])


def explain(measure: Measure) -> str:
    """All that is known about one measure, as text."""
    lines = [measure.meaning, "", measure.formula, ""]
    for key, p in measure.parameters.items():
        lines.append(f"  {key}={p.default!r}  {p.meaning} ({p.allowed()})")
    if measure.cutoff_rule != "none":
        default = "" if measure.default_cutoff is None else f", default {measure.default_cutoff:g}"
        lines.append(f"  @k  {measure.cutoff_meaning} ({measure.cutoff_rule}{default})")
    low, high = measure.range
    lines += ["", f"range {low:g} to {high:g}; over topics: {measure.summary}; {measure.reference}"]
    return "\n".join(lines) + "\n"


def _named(text: str) -> Measure:
    name = text.partition("@")[0].partition("(")[0].strip()
    if name not in REGISTRY:
        raise MeasureError(
            f"there is no measure {name!r}", hint=nearest(name, REGISTRY) or "see: rankscope measures"
        )
    return REGISTRY[name]
