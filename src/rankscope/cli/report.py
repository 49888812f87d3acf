"""Write the report of a collection: data, runs, effort and gain, curves, what-if, in one HTML file.

The report contains its data, opens from disk, and makes no requests. Curves and measures are computed in the browser.
Its findings are those of `rankscope findings` with the same -m; you can choose other usual measures in the report.

examples:
  rankscope report qrels.txt runs/ -o report.html
  rankscope report qrels.txt runs/ -m "alpha_nDCG@20 ERR@20" --title "Web track"
  rankscope report qrels.txt runs/ --study my-study/
  rankscope report qrels.txt runs/ --texts docs.jsonl --texts topics.tsv
  rankscope report qrels.txt runs/ --groups teams.txt
  rankscope report qrels.txt runs/ --groups '^[a-z]+'     the first letters of the name of a run are its team
  rankscope report qrels.txt runs/ --topic-data topics.csv --by lang     does the lead depend on the language?
  rankscope report qrels.txt runs/ --bounds      each mean with its bounds over ties and unjudged documents
  rankscope report --scores scores.csv           of scores without rankings: only the views that need none
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankscope.choices import FINDINGS_MEASURES
from rankscope.cli import arguments, options
from rankscope.declaration import parse_parameters
from rankscope.files import write_atomically
from rankscope.reporting import build_document, document_from_scores, report

if TYPE_CHECKING:
    from rankscope.measures import Measure
    from rankscope.scores import Collection

_PARAMETERS = parse_parameters(report, omit=("scores", "path"))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_report_options(parser)
    options.add_scores(parser)
    parser.add_argument(
        "-o", "--output", metavar="FILE", default="report.html", help="file to write (default: report.html)"
    )


def add_report_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that report and explore share."""
    options.add_collection(parser, ("order", "missing", "weights"))
    options.add_topics(parser)
    options.add_measures(parser, FINDINGS_MEASURES)
    options.add_parameters(parser, _PARAMETERS)


def run(args: argparse.Namespace) -> None:
    from rankscope.reporting.html_page import render_report

    if args.scores:
        document = document_from_scores(arguments.evaluate(args, ()), **report_values(args))
    else:
        document = build_document(*open_report(args), **report_values(args))
    text = render_report(document)
    if args.output == "-":
        sys.stdout.buffer.write(text.encode("utf-8"))
        return
    write_atomically(args.output, text)
    size = Path(args.output).stat().st_size if Path(args.output).is_file() else len(text)
    print(f"{args.output}: {size / 1e6:.1f} MB, opens in a browser")


def open_report(args: argparse.Namespace) -> tuple[Collection, list[Measure]]:
    """Return the collection and the measures of -m; without -m, the report takes the default ones at its cutoff."""
    measures = arguments.parse_measures(args)
    collection = arguments.open_collection(args, measures)
    return collection, measures if args.measure else []


def report_values(args: argparse.Namespace) -> dict[str, Any]:
    """Return the options of the report that the command line sets."""
    return arguments.present(args, *_PARAMETERS)
