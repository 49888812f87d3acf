"""Converts the arguments of a command to measures, collections and scores."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankscope.choices import COLLECTION_OPTIONS, ORDERS
from rankscope.errors import SettingsError, printable

if TYPE_CHECKING:
    from rankscope.judging import EvaluationOptions
    from rankscope.measures import Measure
    from rankscope.native.readahead import ReadAhead
    from rankscope.read import Inputs, Qrels, Run
    from rankscope.read.named_collections import NamedFiles
    from rankscope.scores import Collection, Scores


def parse_measures(args: argparse.Namespace) -> list[Measure]:
    """Return the measures of -m, or the default ones; plugins are loaded first because they may define measures."""
    from rankscope.measures import parse_many

    load_plugins(args)
    measures = parse_many(args.measure or args.default_measures)
    if args.measure and not measures:
        raise SettingsError("no measure is named", hint="try -m AP, or see: rankscope measures")
    return measures


def load_plugins(args: argparse.Namespace) -> None:
    """Import the modules of --plugin."""
    if getattr(args, "plugin", None):
        from rankscope.cli.plugins import load_plugin

        for plugin in args.plugin:
            load_plugin(plugin)


def present(args: argparse.Namespace, *names: str) -> dict[str, Any]:
    """Return the arguments with these names that the command has and that are set."""
    return {name: value for name in names if (value := getattr(args, name, None)) is not None}


def open_collection(
    args: argparse.Namespace, measures: Iterable[Measure], ahead: ReadAhead | None = None
) -> Collection:
    """Open QRELS and RUN, with aspects if one of the measures or the measure of --by needs them.

    ``ahead`` holds files that are being read in the background.
    """
    from rankscope.measures import parse_many
    from rankscope.scores import Collection

    selecting = [] if getattr(args, "top", None) is None else parse_many([getattr(args, "by", "AP")])
    settings = present(
        args, *COLLECTION_OPTIONS, "topic_data", "seed", "topics", "grades", "input_format", "columns", "jobs"
    )
    qrels = args.qrels
    if ahead is not None:
        from rankscope.read.qrels import read_qrels_ahead

        qrels = read_qrels_ahead(qrels, ahead, input_format=(args.input_format or {}).get("qrels"))
    named = [split_named_file(source) for source in args.runs]
    runs = args.runs
    if any(name for name, _ in named):
        runs = [{name: path} if name else path for name, path in named]
    collection = Collection(qrels, runs, **settings)
    opened = [collection.opened.qrels] if collection.has_qrels else []
    report_formats((*opened, *collection.runs.values()), args.quiet)
    return collection.for_measures([*measures, *selecting])


def list_collections(args: argparse.Namespace) -> list[NamedFiles]:
    """Return the files of --collections and --collection."""
    file, named = getattr(args, "collections", None), getattr(args, "collection", None)
    if not file and not named:
        return []
    from rankscope.read.named_collections import named_collection, read_collections

    return [*(read_collections(file) if file else []), *map(named_collection, named or ())]


def open_named_collections(args: argparse.Namespace, measures: Iterable[Measure]) -> dict[str, Inputs]:
    """Open the collections of --collections and --collection, by name."""
    from rankscope.measures import needs_aspects
    from rankscope.read.named_collections import open_named

    if args.qrels is not None:
        hint = "name these files as another --collection"
        raise SettingsError("--collection replaces QRELS and RUN", hint=hint)
    if getattr(args, "topics", None):
        hint = "name its QRELS and RUN files instead of --collection"
        raise SettingsError("--topics selects topics of a single collection", hint=hint)
    opened = open_named(
        list_collections(args), order=args.order, grades=args.grades, needs_aspects=needs_aspects(measures),
        input_format=args.input_format,
    )  # fmt: skip
    files: list[Qrels | Run] = [inputs.qrels for inputs in opened.values()]
    report_formats([*files, *(run for inputs in opened.values() for run in inputs.runs.values())], args.quiet)
    return opened


def several_collections(args: argparse.Namespace, measures: Iterable[Measure]) -> dict[str, Collection]:
    """Return the collections of --collections and --collection by name, with the options of evaluation."""
    from rankscope.scores import Collection

    options = present(args, "missing", "ties", "unjudged", "seed", "jobs")
    opened = open_named_collections(args, measures)
    return {name: Collection(*files, **options) for name, files in opened.items()}


def report_formats(opened: Iterable[Qrels | Run], quiet: bool) -> None:
    """Print one line for each recognised format that is not the default one."""
    from rankscope.read.collection import describe_formats

    for line in () if quiet else describe_formats(opened):
        sys.stderr.write(printable(f"rankscope: {line}") + "\n")


def read_ahead(args: argparse.Namespace) -> AbstractContextManager[ReadAhead | None]:
    """Start reading the files while numpy is loaded, unless an option changes how they are read."""
    ties = args.ties != "break" or args.unjudged == "bounds"
    is_renamed = args.columns or "=" in "".join(args.runs) or "-" in (args.grades or "")
    if args.engine is not None or args.stream or args.topics or args.plugin or is_renamed:
        return nullcontext()
    from rankscope.native.readahead import read_ahead

    return read_ahead(args.qrels, args.runs, ORDERS.index(args.order), ties, args.jobs)


def evaluate(args: argparse.Namespace, measures: Sequence[Measure]) -> Scores:
    """Evaluate measures on QRELS and RUN, or read the scores of --scores."""
    if getattr(args, "scores", None):
        return _read_scores(args)
    return open_collection(args, measures).evaluate(measures)


def _read_scores(args: argparse.Namespace) -> Scores:
    """Read the files of --scores."""
    from rankscope.scores import read_scores

    if args.qrels is not None or args.measure:
        raise SettingsError("--scores replaces QRELS, RUN and -m", hint="leave these out")
    if parse_evaluation_options(args).settings:
        problem = "--ties and --unjudged need rankings, and --scores has only values"
        raise SettingsError(problem, hint="name QRELS and RUN")
    reads_rankings = (getattr(args, name, None) for name in ("grades", "columns", "input_format"))
    if getattr(args, "order", ORDERS[0]) != ORDERS[0] or any(reads_rankings):
        options = "--order, --grades, --columns and --input-format"
        problem = f"{options} tell how to read QRELS and RUN, which --scores replaces"
        raise SettingsError(problem, hint="leave them out")
    load_plugins(args)  # Plugins may define the measures of the files.
    files = ({name: path} if name else path for name, path in map(split_named_file, args.scores))
    scores = read_scores(*files, **present(args, "missing"))
    scores = scores.with_topics(args.topics) if args.topics else scores
    return scores.with_topic_data(**present(args, "topic_data", "weights"))


def split_named_file(text: str) -> tuple[str, str]:
    """Return the measure or run (possibly empty) and the file of ``[M=]FILE``.

    >>> split_named_file("RBP(p=0.5)=x.csv"), split_named_file("x.csv"), split_named_file("P@10=a=b.csv")
    (('RBP(p=0.5)', 'x.csv'), ('', 'x.csv'), ('P@10', 'a=b.csv'))
    """
    match = re.fullmatch(r"([^=(/]+(?:\([^)]*\))?(?:@[0-9.]+)?)=(.+)", text, re.DOTALL)
    return ("", text) if match is None or Path(text).exists() else (match[1], match[2])


def parse_evaluation_options(args: argparse.Namespace) -> EvaluationOptions:
    """Parse --ties, --unjudged and --seed; commands without these options get the defaults."""
    from rankscope.certainty.values import validate_options

    return validate_options(**present(args, "ties", "unjudged", "seed"))
