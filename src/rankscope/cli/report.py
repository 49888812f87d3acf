"""Write one HTML page about a collection: data, runs, effort and gain, curves, what-if.

The page holds its data, opens from disk, and makes no request. Curves and measures are computed in the browser.
Its findings are those of `rankscope findings` with the same -m; other usual measures can be chosen on the page.

examples:
  rankscope report qrels.txt runs/ -o report.html
  rankscope report qrels.txt runs/ -m "alpha_nDCG@20 ERR@20" --title "Web track"
  rankscope report qrels.txt runs/ --study my-study/
  rankscope report qrels.txt runs/ --texts docs.jsonl --texts topics.tsv
  rankscope report qrels.txt runs/ --groups teams.txt
  rankscope report qrels.txt runs/ --groups '^[a-z]+'     the team is how the name of the run begins
  rankscope report qrels.txt runs/ --ranges      each mean with what ties and unjudged documents leave open
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankscope.choices import FINDINGS_MEASURES
from rankscope.cli import arguments, options
from rankscope.files import write_atomically

if TYPE_CHECKING:
    from rankscope.reporting.schema import Document


def add_arguments(parser: argparse.ArgumentParser) -> None:
    options.add_collection(parser)
    options.add_topics(parser)
    options.add_measures(parser, FINDINGS_MEASURES)
    add_page_options(parser)
    parser.add_argument(
        "-o", "--output", metavar="FILE", default="report.html", help="the page (default: report.html)"
    )


def add_page_options(parser: argparse.ArgumentParser) -> None:
    """What the page shows, for report and explore alike."""
    parser.add_argument(
        "--title", metavar="TEXT", help="title of the page (default: the name of the judgments)"
    )
    parser.add_argument(
        "--cutoff", type=int, default=1000, metavar="N", help="N of the effort measures (default: 1000)"
    )
    parser.add_argument("--study", metavar="DIR", help="show the tables of a study written there, too")
    parser.add_argument(
        "--texts",
        action="append",
        default=[],
        metavar="[documents=|topics=]FILE",
        help="texts of documents and topics for the head-to-head view, cut: JSON lines, or id, tab, text, or irds:ID;"
        " repeatable",
    )
    options.add_groups(parser, "groups of runs (teams) to filter and colour by: ")
    parser.add_argument(
        "--ranges",
        action="store_true",
        help="how far tied scores and unjudged documents can move each mean, too (takes longer)",
    )
    names = parser.add_mutually_exclusive_group()
    names.add_argument(
        "--everything",
        action="store_true",
        default=None,
        help="include document names and judged non-relevant documents even if they are many",
    )
    names.add_argument(
        "--lean", dest="everything", action="store_false", help="leave them out even if they are few"
    )


def run(args: argparse.Namespace) -> None:
    from rankscope.reporting.html_page import page

    text = page(document_of(args))
    if args.output == "-":
        sys.stdout.buffer.write(text.encode("utf-8"))
        return
    write_atomically(args.output, text)
    size = Path(args.output).stat().st_size if Path(args.output).is_file() else len(text)
    print(f"{args.output}: {size / 1e6:.1f} MB, opens in a browser")


def document_of(args: argparse.Namespace) -> Document:
    """The data of the page for what the command line names."""
    from rankscope import reporting
    from rankscope.errors import SettingsError
    from rankscope.reporting.study import read_study

    if args.cutoff < 1:
        raise SettingsError(f"--cutoff {args.cutoff}", hint="N is a number of ranks from 1 on")
    measures = arguments.parse_measures(args)
    if not args.measure:  # the page has its own, at its N
        measures = []
    study = read_study(args.study) if args.study else None
    collection = arguments.open_inputs(args, measures)
    return reporting.document_of(
        collection,
        measures,
        title=args.title,
        missing=args.missing,
        length=args.cutoff,
        study=study,
        everything=args.everything,
        texts=args.texts,
        groups=args.groups,
        jobs=args.jobs,
        ranges=args.ranges,
        source=reporting.source_of(collection, **named(args)),
    )


def named(args: argparse.Namespace) -> dict[str, Any]:
    """How the command line names the collection and has it read."""
    return {
        name: getattr(args, name)
        for name in (
            "qrels",
            "runs",
            "order",
            "missing",
            "grades",
            "topics",
            "input_format",
            "study",
            "groups",
        )
    }
