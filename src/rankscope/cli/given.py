"""What the arguments of a command give: measures, collections, scores."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankscope.choices import ORDERS
from rankscope.declaration import OPTIONS
from rankscope.errors import SettingsError, printable
from rankscope.progress import silence

if TYPE_CHECKING:
    from rankscope.judging import EvaluationOptions
    from rankscope.measures import Measure
    from rankscope.read import Inputs, Qrels, Run
    from rankscope.read.named_collections import NamedFiles
    from rankscope.scores import Collection, Scores

__all__ = [
    "collection",
    "collections",
    "evaluated",
    "evaluation_options",
    "load_plugins",
    "measures",
    "named_collections",
    "named_file",
    "opened",
    "reading_ahead",
    "report_formats",
    "top",
]


def measures(args: argparse.Namespace) -> list[Measure]:
    """The measures that were asked for, after loading the plugins that may define them."""
    from rankscope.measures import parse_many

    load_plugins(args)
    chosen = parse_many(args.measure or args.default_measures)
    if args.measure and not chosen:  # some commands need none
        raise SettingsError("no measure is named", hint="try -m AP, or see: rankscope measures")
    return chosen


def load_plugins(args: argparse.Namespace) -> None:
    """Import what --plugin names."""
    if getattr(args, "plugin", None):
        from rankscope.cli.plugins import load_plugin

        for plugin in args.plugin:
            load_plugin(plugin)


def collection(args: argparse.Namespace, measures: Iterable[Measure]) -> Inputs:
    """The judgments and runs of :func:`opened`, for commands that are not derived."""
    return opened(args, measures).inputs


def opened(args: argparse.Namespace, measures: Iterable[Measure]) -> Collection:
    """The collection that was named, with judgments as these measures and the one of --by need them."""
    from rankscope.measures import parse_many
    from rankscope.scores import Collection

    silence(args.quiet)
    chosen = [] if getattr(args, "top", None) is None else parse_many([getattr(args, "by", "AP")])
    said = {
        name: value
        for name in (*OPTIONS, "seed", "topics", "grades", "input_format", "jobs")
        if (value := getattr(args, name, None)) is not None
    }
    found = Collection(args.qrels, args.runs, **said)
    qrels = [found.qrels] if found.has_qrels else []
    report_formats((*qrels, *found.runs.values()), args.quiet)
    return found.for_measures([*measures, *chosen])


def named_collections(args: argparse.Namespace) -> list[NamedFiles]:
    """The collections that --collections and --collection name."""
    file, named = getattr(args, "collections", None), getattr(args, "collection", None)
    if not file and not named:
        return []
    from rankscope.read.named_collections import named_collection, read_collections

    return [*(read_collections(file) if file else []), *map(named_collection, named or ())]


def collections(args: argparse.Namespace, measures: Iterable[Measure]) -> dict[str, Inputs]:
    """The several collections that were named, opened for these measures."""
    from rankscope.measures import needs_aspects
    from rankscope.read.named_collections import open_named

    silence(args.quiet)
    if args.qrels is not None:
        raise SettingsError(
            "--collection takes the place of QRELS and RUN", hint="name them as another --collection"
        )
    if getattr(args, "topics", None):
        raise SettingsError(
            "--topics are those of one collection",
            hint="name its QRELS and RUN files instead of --collection",
        )
    listed = named_collections(args)
    opened = open_named(
        listed, order=args.order, grades=args.grades, needs_aspects=needs_aspects(measures),
        input_format=args.input_format,
    )  # fmt: skip
    found: list[Qrels | Run] = [one.qrels for one in opened.values()]
    report_formats([*found, *(run for one in opened.values() for run in one.runs.values())], args.quiet)
    return opened


def report_formats(opened: Iterable[Qrels | Run], quiet: bool) -> None:
    """Say once what files were recognised as, if they are not the usual ones."""
    from rankscope.read.collection import recognised

    for said in () if quiet else recognised(opened):
        sys.stderr.write(printable(f"rankscope: {said}") + "\n")


def reading_ahead(args: argparse.Namespace) -> AbstractContextManager[None]:
    """Let files be read while what evaluates them is loaded, where the options ask for nothing but that."""
    ties = args.ties != "break" or args.unjudged == "bounds"
    if args.engine is not None or args.stream or args.topics or args.plugin:
        return nullcontext()
    from rankscope.native.ahead import Wanted, reading_ahead
    from rankscope.read.ids import in_natural_order

    return reading_ahead(
        args.qrels, args.runs, in_natural_order, Wanted(ORDERS.index(args.order), ties), args.jobs
    )


def evaluated(args: argparse.Namespace, measures: Sequence[Measure]) -> Scores:
    """The values of measures for the collection that was named."""
    if getattr(args, "scores", None):
        return _given(args)
    return opened(args, measures).evaluate(measures)


def _given(args: argparse.Namespace) -> Scores:
    """The values in the files of --scores."""
    from rankscope.read.topics import chosen_topics
    from rankscope.scores import read_scores

    if args.qrels is not None or args.measure:
        raise SettingsError("--scores takes the place of QRELS, RUN and -m", hint="leave these out")
    if evaluation_options(args).settings:
        raise SettingsError(
            "--ties and --unjudged need the lists, and --scores has values only", hint="name QRELS and RUN"
        )
    load_plugins(args)  # which may define the measures
    scores = read_scores(*({name: path} if name else path for name, path in map(named_file, args.scores)))
    return scores.of_topics(chosen_topics(args.topics, scores.topics)) if args.topics else scores


def named_file(text: str) -> tuple[str, str]:
    """The measure (or nothing) and the file of ``[M=]FILE``.

    >>> named_file("RBP(p=0.5)=x.csv"), named_file("x.csv"), named_file("P@10=a=b.csv")
    (('RBP(p=0.5)', 'x.csv'), ('', 'x.csv'), ('P@10', 'a=b.csv'))
    """
    match = re.fullmatch(r"([^=(]+(?:\([^)]*\))?(?:@[0-9.]+)?)=(.+)", text, re.DOTALL)
    return ("", text) if match is None or Path(text).exists() else (match[1], match[2])


def evaluation_options(args: argparse.Namespace) -> EvaluationOptions:
    """What --ties and --unjudged say; as usual for commands without them."""
    from rankscope.certainty.values import validate_options

    said = {
        name: value
        for name in ("ties", "unjudged", "seed")
        if (value := getattr(args, name, None)) is not None
    }
    return validate_options(**said)


def top(args: argparse.Namespace) -> dict[str, Any]:
    """What --top and --by say, for an analysis."""
    from rankscope.measures import parse_many

    by = args.by if getattr(args, "scores", None) else parse_many([args.by])[0]
    return {"top": args.top, "by": by}
