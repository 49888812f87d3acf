"""What collections are made of: topics, runs, lengths, grades, judgments, and the depth of the pool found in the data.

The pool depth is the number of ranks down to which every document of a run is judged on every topic: the depth that at
least half of the runs reach, and the one that all of them reach. -q adds every run and topic. Several collections
(--collection, --collections) stand side by side, as in Table 1 of Ferro and others (2016).

examples:
  rankscope features qrels.txt runs/
  rankscope features qrels.txt runs/ -q
  rankscope features --collection covid=covid/qrels.txt:covid/runs --collection cran=cran/qrels.txt:cran/runs -f latex
  rankscope features --collections four.toml -f json -o features.json
"""

from __future__ import annotations

import argparse

from rankscope.cli import arguments, options
from rankscope.cli.output import emit
from rankscope.errors import SettingsError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    options.add_collection(parser)
    for action in parser._actions:
        if action.dest in ("qrels", "runs"):  # --collections may take their place
            action.nargs = "?" if action.dest == "qrels" else "*"
            action.required = False
    options.add_collections(parser)
    parser.add_argument("--name", default="collection", metavar="TEXT", help="name of the collection")
    options.add_topics(parser, "every run and topic as well")
    options.add_output(parser)


def run(args: argparse.Namespace) -> None:
    from rankscope.analysis.features import features_of, features_of_several
    from rankscope.judging import judge

    if args.collection or args.collections:
        opened = arguments.open_named_collections(args, [])
        judged = {name: judge(*collection, jobs=args.jobs) for name, collection in opened.items()}
        said = {name: collection.settings for name, collection in opened.items()}
        result = features_of_several(judged).with_settings(opened=said)
    elif args.qrels is None or not args.runs:
        raise SettingsError("there is no collection", hint="name QRELS and RUN files, or --collection")
    else:
        one = arguments.open_inputs(args, [])
        result = features_of(judge(*one, jobs=args.jobs), args.name).with_settings(**one.settings)
    more = ["runs", "topics"] if args.per_topic else []
    emit(args, result, main=["features", *more])
