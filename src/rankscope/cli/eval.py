"""Evaluate runs: the mean of every measure and, with -q, the value of every topic.

A line may have 16,777,216 bytes, and a packed file unpack to 1 GB or 250 times its size: more is refused. The
environment variables RANKSCOPE_LONGEST_LINE and RANKSCOPE_UNPACKED_RATIO raise these limits, for every command.

examples:
  rankscope eval qrels.txt bm25.run
  rankscope eval qrels.txt runs/ -m "AP nDCG@10 RBP(p=0.8) Twist" -f latex
  rankscope eval qrels.txt runs/ -m AP --ci -f csv            with intervals of the means and of the ranks
  rankscope eval qrels.txt bm25.run -q --topics 301,310-320   these topics, one by one
  rankscope eval qrels.txt runs/ -l 2 --sort RR               only grades from 2 on are relevant
  rankscope eval qrels.txt runs/*.gz -q -f json -o scores.json
  rankscope eval qrels.txt runs/ -q -f csv -o scores.csv      one table; the means are those of topic all
  rankscope eval qrels.txt lake/ --stream -o values.parquet --engine dask   more than fits into memory
  rankscope eval qrels.txt runs/ --ties expected --unjudged bounds   what equal scores and missing judgments leave open
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rankscope.cli import arguments, options
from rankscope.cli.output import choose_format, emit
from rankscope.cli.parser import note
from rankscope.errors import SettingsError
from rankscope.plots import FIGURES
from rankscope.progress import silence
from rankscope.result import TableResult
from rankscope.tables import Table

if TYPE_CHECKING:
    from rankscope.measures import Measure
    from rankscope.scores import Scores

_QUICK = 2_000  # topics: resampling more would be noticed by somebody who only wants the means
_RANK_WIDTH = len("  rank")  # the narrowest column of ranks
DEFAULT = ("AP", "nDCG@10", "P@10", "RR", "Rprec", "Bpref", "RBP", "Twist")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    options.add_collection(parser)
    parser.add_argument(
        "-c",
        dest="missing",
        action="store_const",
        const="zero",
        help="the same as --missing zero, as in trec_eval",
    )
    options.add_topics(parser, "the value of every topic as well")
    options.add_measures(parser, DEFAULT)
    options.add_handling(parser)
    parser.add_argument(
        "-l",
        "--rel",
        type=int,
        metavar="GRADE",
        help="lowest grade that counts as relevant, for every measure that has rel and does not set it (default: 1)",
    )
    parser.add_argument(
        "--sort",
        metavar="M",
        help="runs by this measure, by name (run), or as they are named (given) (default: the first measure)",
    )
    parser.add_argument(
        "--ci",
        action=argparse.BooleanOptionalAction,
        help="95 %% intervals of means and ranks as columns (default: at the means on a terminal, where there is room)",
    )
    parser.add_argument(
        "--stream",
        action="store_true",
        help="write the value of every topic as it comes, in bounded memory, to -o FILE.csv, FILE.tsv, FILE.parquet or"
        " a new directory (a Parquet dataset)",
    )
    options.add_seed(parser)
    options.add_output(parser)
    options.add_plot(parser)
    parser.add_argument(
        "--figure",
        choices=tuple(FIGURES["means"]),
        help="of --plot: the means of the runs, or the first measure on every topic: as a heat map, or the span of all"
        " runs and the median one (default: means)",
    )
    parser.add_argument(
        "--highlight",
        action="append",
        default=[],
        metavar="RUN",
        help="of --figure topics: a run with marks of its own; repeatable",
    )


def run(args: argparse.Namespace) -> None:
    with arguments.read_ahead(args):
        _evaluate(args)


def _evaluate(args: argparse.Namespace) -> None:
    from rankscope.certainty.values import judged_as
    from rankscope.cli.notes import notes_on
    from rankscope.measures import at_level
    from rankscope.scores import score

    measures = arguments.parse_measures(args)
    if args.rel is not None:
        measures = at_level(measures, args.rel)
    if args.stream:
        _stream(args, measures)
        return
    collection = arguments.open_inputs(args, measures)
    judged = judged_as(*collection, arguments.parse_evaluation_options(args), jobs=args.jobs)
    scores = score(judged, measures, missing=args.missing, settings=collection.settings)
    if args.sort is not None:
        scores = _sorted(scores, args.sort, args.rel)
    if args.per_topic and choose_format(args) in ("tsv", "csv"):  # one table that other programs read as one
        shown = TableResult.of(scores.topics_table(means=True), settings=scores.settings)
    else:
        means, display, settings = _means(args, scores)
        shown = TableResult.of(
            means,
            *([scores["topics"]] if args.per_topic else []),
            settings=settings,
            main=["means", *(["topics"] if args.per_topic else [])],
            display=[_with_topics(display, scores), *([scores.wide_topics()] if args.per_topic else [])],
        )
    emit(args, shown, figure=_figure(args, scores))
    for text in () if args.quiet else notes_on(judged, args.missing, measures):
        note(args, text)


def _figure(args: argparse.Namespace, scores: Scores) -> Callable[[], Any]:
    """The means, with --ci the leaderboard, or the figure that is named."""
    if args.figure is not None or not args.ci:
        more = {"highlight": args.highlight} if args.figure == "topics" else {}
        return lambda: scores.plot(args.figure, **more)
    from rankscope.analysis.leaderboard import leaderboard

    return lambda: leaderboard(scores, seed=args.seed).plot()


def _stream(args: argparse.Namespace, measures: Sequence[Measure]) -> None:
    """The value of every topic, written piece by piece."""
    from rankscope.measures import needs_aspects
    from rankscope.read import open_qrels
    from rankscope.streaming import evaluate_into

    if args.output in (None, "-"):
        raise SettingsError(
            "--stream needs a place to write to", hint="add -o FILE.csv, FILE.parquet or a directory"
        )
    refused = {
        "--ties and --unjudged": arguments.parse_evaluation_options(args).settings,
        "--ci": args.ci,
        "--sort": args.sort is not None,
        "--plot": args.plot is not None,
        "-f and --digits": args.format is not None or args.digits is not None,
    }
    for name in (name for name, asked in refused.items() if asked):
        raise SettingsError(
            f"--stream writes plain values, row by row, to the kind of file that -o names, and {name} need more",
            hint=f"leave out --stream, or {name}",
        )
    silence(args.quiet)
    said = args.input_format or {}
    qrels = open_qrels(
        args.qrels,
        needs_aspects=needs_aspects(measures),
        grades=args.grades,
        input_format=said.get("qrels"),
    )
    done = evaluate_into(
        args.output,
        qrels,
        args.runs,
        measures,
        order=args.order,
        missing=args.missing,
        topics=args.topics,
        input_format=said,
        jobs=args.jobs,
    )
    note(args, f"{done.rows:,} values of {done.lists:,} lists in {done.path}")


def _sorted(scores: Scores, by: str, rel: int | None) -> Scores:
    """The runs in the order that --sort asks for."""
    import numpy as np

    from rankscope.analysis.stats.matrices import with_runs

    return with_runs(scores, np.array(_order(scores, by, rel)))


def _order(scores: Scores, by: str, rel: int | None) -> list[int]:
    """The numbers of the runs in the order that --sort asks for."""
    from rankscope.measures import at_level, parse_many

    if by == "given":
        return list(range(len(scores.runs)))
    if by == "run":
        return sorted(range(len(scores.runs)), key=scores.runs.__getitem__)
    named = by in map(str, scores.measures) or rel is None
    return scores.best_first(by if named else at_level(parse_many([by]), rel or 1)[0])


def _with_topics(table: Table, scores: Scores) -> Table:
    """The means with the number of topics of each run, where that is not the same for all."""
    import numpy as np

    counts = dict(zip(scores.runs, (~np.isnan(scores.values[0])).sum(axis=1).tolist(), strict=True))
    if len(set(counts.values())) < 2 or "topics" in table.columns:
        return table
    rows = [(row[0], counts[str(row[0])], *row[1:]) for row in table.rows]
    return replace(table, columns=(table.columns[0], "topics", *table.columns[1:]), rows=rows)


def _means(args: argparse.Namespace, scores: Scores) -> tuple[Table, Table, Mapping[str, Any]]:
    """The means for programs, the means for people, and the settings of both."""
    wide = scores.wide(range(len(scores.runs)) if args.sort is not None else None)
    if args.ci:
        from rankscope.analysis.leaderboard import leaderboard

        found = leaderboard(scores, seed=args.seed)
        means = replace(found["leaderboard"], name="means")
        return means, means, found.settings
    unasked = args.ci is None and args.format is None and not args.output and scores.uncertainty is None
    if unasked and choose_format(args) == "table" and wide.rows and len(scores.topics) <= _QUICK:
        plain = wide if args.digits is None else replace(wide, digits=args.digits)
        roomy = _with_intervals(plain, scores, args.seed)
        if roomy is not None:
            return scores["means"], roomy, scores.settings
    return scores["means"], wide, scores.settings


def _with_intervals(table: Table, scores: Scores, seed: int) -> Table | None:
    """Return the means with margins and ranks, or with ranks alone, as far as they fit; computes no others."""
    from rankscope.analysis.leaderboard import leaderboard, with_margins

    widths = [len(f" ±{table.format_cell(0.0, name)}") for name in table.columns[1:]]
    several = len(scores.runs) > 1  # the rank of one run says nothing
    ranked = next((measure for measure in scores.measures if several and measure.better != "neither"), None)
    if table.fits(more=sum(widths) + (_RANK_WIDTH if ranked is not None else 0)):
        roomy = with_margins(table, leaderboard(scores, seed=seed))
        if roomy.fits():
            return roomy
    if ranked is None or not table.fits(more=_RANK_WIDTH):
        return None
    roomy = with_margins(table, leaderboard(scores.matrix(ranked), seed=seed), margins=False)
    return roomy if roomy.fits() else None
