"""Evaluate runs: the mean of every measure and, with -q, the value of every topic.

examples:
  rankscope eval qrels.txt bm25.run
  rankscope eval qrels.txt runs/ -m "AP nDCG@10 RBP(p=0.8) Twist" -f latex
  rankscope eval qrels.txt runs/ -m AP --ci -f csv            with intervals of the means and of the ranks
  rankscope eval qrels.txt runs/*.gz -q -f json -o scores.json
  rankscope eval qrels.txt runs/ -q -f csv -o scores.csv      one table; the means are those of topic all
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from rankscope.analysis.leaderboard import leaderboard, with_margins
from rankscope.cli import options
from rankscope.cli.output import emit, format_of
from rankscope.judging import Judged, judge
from rankscope.result import TableResult
from rankscope.scores import Scores, score
from rankscope.tables import Table

_QUICK = 2_000  # topics: resampling more would be noticed by somebody who only wants the means
DEFAULT = ("AP", "nDCG@10", "P@10", "RR", "Rprec", "Bpref", "RBP", "Twist")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    options.add_collection(parser)
    options.add_measures(parser, DEFAULT)
    options.add_output(parser)
    options.add_plot(parser)
    options.add_topics(parser, "the value of every topic as well")
    parser.add_argument(
        "--ci",
        action=argparse.BooleanOptionalAction,
        help="95 %% intervals of means and ranks as columns (default: at the means on a terminal, where there is room)",
    )
    options.add_seed(parser)


def run(args: argparse.Namespace) -> None:
    measures = options.measures(args)
    collection = options.collection(args, measures)
    judged = judge(*collection, jobs=args.jobs)
    _report_ignored(judged)
    scores = score(judged, measures, missing=args.missing, settings=collection.settings)
    _report_missing(judged, args.missing)
    topics = [scores["topics"]] if args.per_topic else []
    if topics and format_of(args) in ("tsv", "csv"):  # one table that other programs read as one
        shown = TableResult.of(scores.topics_table(means=True), settings=scores.settings)
    else:
        means, display, settings = _means(args, scores)
        shown = TableResult.of(
            means,
            *topics,
            settings=settings,
            main=["means", *(table.name for table in topics)],
            display=[display, *topics],
        )
    emit(args, shown, figure=scores.plot)


def _means(args: argparse.Namespace, scores: Scores) -> tuple[Table, Table, Mapping[str, Any]]:
    """The means for programs, the means for people, and the settings of both."""
    wide = scores.wide()
    if args.ci:
        found = leaderboard(scores, seed=args.seed)
        means = replace(found["leaderboard"], name="means")
        return means, means, found.settings
    unasked = args.ci is None and args.format is None and not args.output
    if unasked and format_of(args) == "table" and wide.rows and len(scores.topics) <= _QUICK:
        digits = wide.digits if args.digits is None else args.digits
        found = leaderboard(scores, seed=args.seed)
        for margins in (True, False):
            roomy = with_margins(replace(wide, digits=digits), found, margins=margins)
            if roomy.fits():
                return scores["means"], roomy, scores.settings
    return scores["means"], wide, scores.settings


def _report_missing(judged: Judged, missing: str) -> None:
    lacking = (~judged.grid(judged.present)).sum(axis=1)
    if lacking.any():
        first = int(lacking.argmax())
        absent = judged.topics[int((~judged.grid(judged.present)[first]).argmax())]
        count = int((lacking > 0).sum())
        more = f", {count - 1} other runs lack some too" if count > 1 else ""
        meaning = "counted as empty lists" if missing == "zero" else "left out of its means"
        sys.stderr.write(
            f"rankscope: {judged.runs[first]!a} has nothing for {lacking[first]} of {len(judged.topics)} judged topics"
            f" (such as {absent!a}), {meaning} (--missing {missing}){more}\n"
        )


def _report_ignored(judged: Judged) -> None:
    if judged.ignored_topics:
        name, topics = next(iter(judged.ignored_topics.items()))
        more = f" and {len(judged.ignored_topics) - 1} other runs" if len(judged.ignored_topics) > 1 else ""
        what = f"{len(topics)} topic{'s' if len(topics) > 1 else ''}"
        sys.stderr.write(f"rankscope: {what} without judgments ignored in {name!a}{more}\n")
