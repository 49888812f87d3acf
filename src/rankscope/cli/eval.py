"""Evaluate runs: print the mean of each measure and, with -q, the value of each topic.

Lines of more than 16,777,216 bytes, and compressed files that expand to more than 1 GB or 250 times their size, are
rejected. The environment variables RANKSCOPE_LONGEST_LINE and RANKSCOPE_UNPACKED_RATIO raise these limits for all
commands.

examples:
  rankscope eval qrels.txt bm25.run
  rankscope eval qrels.txt runs/ -m "AP nDCG@10 RBP(p=0.8) Twist" -f latex
  rankscope eval qrels.txt runs/ -m AP --ci -f csv            with confidence intervals of means and ranks
  rankscope eval qrels.txt bm25.run -q --topics 301,310-320   the values of some topics
  rankscope eval qrels.txt runs/ -l 2 --sort RR               grades of 2 and above are relevant
  rankscope eval qrels.txt runs/*.gz -q -f json -o scores.json
  rankscope eval qrels.txt runs/ -q -f csv -o scores.csv      one table; rows of topic "all" are means
  rankscope eval qrels.txt lake/ --stream -o values.parquet --engine dask   for data larger than memory
  rankscope eval --scores scores.csv --ci                     means of saved scores
  rankscope eval qrels.txt runs/ --ties expected --unjudged bounds   the effect of ties and missing judgments
  rankscope eval qrels.txt runs/ --topic-data topics.csv --weights traffic --by lang --by length:4   slices
  rankscope eval qrels.txt runs/ --describe                          topics, runs, judgments, depth of the pool
  rankscope eval --describe --collections four.toml -f latex         collections side by side
  rankscope eval qrels.txt runs/ --coverage --plot coverage.pdf --highlight bm25   aspects covered by rank
  rankscope eval qrels.txt runs/ --coverage --topic 101 --plot aspects.pdf         where runs cover aspects of a topic
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

from rankscope.choices import COLLECTION_OPTIONS, SCORE_FIGURES
from rankscope.cli import arguments, options
from rankscope.cli.output import choose_format, emit
from rankscope.cli.parser import note
from rankscope.declaration import Option
from rankscope.errors import SettingsError
from rankscope.lazy import numpy as np
from rankscope.result import Result, TableResult
from rankscope.tables import Table

if TYPE_CHECKING:
    from rankscope.measures import Measure
    from rankscope.native.readahead import ReadAhead
    from rankscope.scores import Scores

_MAX_RESAMPLED_TOPICS = 2_000  # Intervals that were not requested must not delay the means noticeably.
_RANK_WIDTH = len("  rank")  # the smallest width of a column of ranks
DEFAULT = ("AP", "nDCG@10", "P@10", "RR", "Rprec", "Bpref", "RBP", "Twist")


@dataclass
class Options:
    """Options of the command.

    Parameters
    ----------
    rel
        Lowest grade that counts as relevant, for measures with a parameter rel that is not set (default: 1).
    sort
        Measure to sort runs by, or run (by name), or input (order of the command line) (default: the first measure).
    ci
        Print 95 % confidence intervals of means and ranks (default: on a terminal, if there is room).
    stream
        Evaluate in bounded memory, and write the value of each topic to -o FILE.csv, FILE.tsv, FILE.parquet or a new
        directory (a Parquet dataset).
    describe
        Instead of evaluating, describe the collection: topics, runs, lengths, grades, judgments, and the depth of its
        pool (the rank down to which all documents of half of the runs, or of all runs, are judged); -q adds every run
        and topic.
    name
        Name of the collection, for --describe.
    coverage
        Instead of evaluating measures, print the share of aspects that the first documents cover (StRec) at every
        rank; for judgments whose second column names aspects.
    topic
        With --coverage, print the ranks at which each run first covers the aspects of this topic.
    figure
        Figure that --plot draws: the means of the runs, the first measure on each topic, as a heat map, or as the
        range and median of all runs (topics), or its means on slices (default: slices with --by, else means).
    highlight
        Run to mark in --figure topics, or to colour in the figure of --coverage; repeatable.
    baseline
        Run from which --figure heat-map draws differences.
    by
        Attribute of topics: also print means and intervals of its slices, such as lang, or length:4 for quantile bins
        of a number; recall_base, judged and difficulty need no --topic-data; repeatable.
    """

    rel: Annotated[int | None, Option("GRADE", ("-l",))] = None
    sort: Annotated[str | None, Option("M")] = None
    ci: bool | None = None
    stream: bool = False
    describe: bool = False
    name: Annotated[str, Option("TEXT")] = "collection"
    coverage: bool = False
    topic: Annotated[str | None, Option("T")] = None
    figure: Annotated[str | None, Option(choices=tuple(SCORE_FIGURES))] = None
    highlight: Annotated[Sequence[str], Option("RUN")] = ()
    baseline: Annotated[str | None, Option("RUN")] = None
    by: Annotated[Sequence[str], Option("A[:K]")] = ()


def add_arguments(parser: argparse.ArgumentParser) -> None:
    options.add_collection(parser, (*COLLECTION_OPTIONS, "bounds"))
    zero = "the same as --missing zero, as in trec_eval"
    parser.add_argument("-c", dest="missing", action="store_const", const="zero", help=zero)
    options.add_topics(parser, "also print the value of each topic")
    options.add_measures(parser, DEFAULT)
    options.add_scores(parser)
    options.add_collections(parser)
    options.add_options(parser, Options)
    options.add_seed(parser)
    options.add_output(parser)
    options.add_plot(parser)


def run(args: argparse.Namespace) -> None:
    if args.topic is not None and not args.coverage:
        raise SettingsError("only --coverage takes --topic", hint="restrict the topics with --topics")
    if args.describe or args.coverage:
        _reject_options(args)
        (_describe if args.describe else _print_coverage)(args)
        return
    if args.scores and (args.stream or args.rel is not None):
        problem = "--stream and -l need rankings, and --scores has only values"
        raise SettingsError(problem, hint="name QRELS and RUN")
    if args.collection or args.collections:
        raise SettingsError("only --describe takes several collections", hint="name QRELS and RUN files")
    with nullcontext() if args.scores else arguments.read_ahead(args) as ahead:
        _evaluate(args, ahead)


def _evaluate(args: argparse.Namespace, ahead: ReadAhead | None) -> None:
    from rankscope.certainty.values import judge_with_options
    from rankscope.cli.notes import notes_on
    from rankscope.measures import at_level
    from rankscope.scores import score

    measures = arguments.parse_measures(args)
    if args.rel is not None:
        measures = at_level(measures, args.rel)
    if args.stream:
        _stream(args, measures)
        return
    judged = None
    if args.scores:
        scores = arguments.evaluate(args, measures)
    else:
        collection = arguments.open_collection(args, measures, ahead)
        evaluation_options = arguments.parse_evaluation_options(args)
        judged = judge_with_options(*collection.opened, evaluation_options, jobs=args.jobs)
        scores = score(judged, measures, missing=args.missing, collection=collection)
    if args.sort is not None:
        scores = _sort_runs(scores, args.sort, args.rel)
    if args.per_topic and choose_format(args) in ("tsv", "csv"):  # a single table for other programs
        shown = TableResult.from_tables(scores.topics_table(means=True), settings=scores.settings)
    else:
        means, display, settings = _build_means(args, scores)
        tables, displayed = [means], [_with_topics(display, scores)]
        if args.by:
            from rankscope.analysis.slices import slice_means

            tables.append(slice_means(scores, args.by))
            displayed.append(tables[-1])
            settings = {**settings, "by": args.by}
        if args.per_topic:
            tables.append(scores["topics"])
            displayed.append(scores.wide_topics())
        main = [table.name for table in tables]
        shown = TableResult.from_tables(*tables, settings=settings, main=main, display=displayed)
    emit(args, shown, figure=_choose_figure(args, scores))
    for text in () if args.quiet or judged is None else notes_on(judged, args.missing, measures):
        note(args, text)


def _reject_options(args: argparse.Namespace) -> None:
    """Raise an error for options that --describe or --coverage do not honour."""
    mode = "--describe" if args.describe else "--coverage"
    rejected = {
        "-m": args.measure, "--ties and --unjudged": arguments.parse_evaluation_options(args).settings,
        "-l": args.rel is not None, "--weights": args.weights, "--sort": args.sort, "--ci": args.ci,
        "--stream": args.stream, "--scores": args.scores, "--figure": args.figure,
    }  # fmt: skip
    if args.describe:
        rejected |= {"--missing skip": args.missing != "zero", "--plot": args.plot}
        rejected["--coverage"] = args.coverage
    else:
        rejected |= {"-q": args.per_topic, "--collection": args.collection or args.collections}
    for name in (name for name, is_set in rejected.items() if is_set):
        raise SettingsError(f"{mode} evaluates no measures, and does not take {name}", hint=f"omit {name}")


def _print_coverage(args: argparse.Namespace) -> None:
    """Print the coverage of aspects."""
    from rankscope.measures import parse_many

    result = arguments.open_collection(args, parse_many(["StRec"])).coverage(args.topic)
    figure = "curves" if args.topic is None else "aspects"
    emit(args, result, figure=lambda: result.plot(figure, highlight=args.highlight or ()))


def _describe(args: argparse.Namespace) -> None:
    """Print the features of one collection or of several."""
    from rankscope.judging import judge
    from rankscope.judging.description import describe_several

    result: Result
    if args.collection or args.collections:
        opened = arguments.open_named_collections(args, [])
        judged = {name: judge(*inputs, jobs=args.jobs) for name, inputs in opened.items()}
        settings = {name: inputs.settings for name, inputs in opened.items()}
        result = describe_several(judged).with_settings(opened=settings)
    else:
        result = arguments.open_collection(args, []).describe(args.name)
    emit(args, result, main=["features", *(["runs", "topics"] if args.per_topic else [])])


def _choose_figure(args: argparse.Namespace, scores: Scores) -> Callable[[], Any]:
    """Return a function that draws the figure of --figure, by default slices, means or, with --ci, the leaderboard."""
    figure = args.figure or ("slices" if args.by else None)
    if figure or not args.ci:
        plot_options: dict[str, Any] = {"highlight": args.highlight or ()} if figure == "topics" else {}
        plot_options |= {"baseline": args.baseline} if figure == "heat-map" else {}
        plot_options |= {"by": args.by[0]} if figure == "slices" and args.by else {}
        return lambda: scores.plot(figure, **plot_options)
    from rankscope.analysis.leaderboard import leaderboard

    return lambda: leaderboard(scores, seed=args.seed).plot()


def _stream(args: argparse.Namespace, measures: Sequence[Measure]) -> None:
    """Write the value of each topic in bounded memory."""
    from rankscope.measures import needs_aspects
    from rankscope.read import open_qrels
    from rankscope.streaming import evaluate_into

    if args.output in (None, "-"):
        hint = "add -o FILE.csv, FILE.parquet or a directory"
        raise SettingsError("--stream needs an output file", hint=hint)
    rejected = {
        "--ties and --unjudged": arguments.parse_evaluation_options(args).settings, "--ci": args.ci,
        "--weights": args.weights, "--sort": args.sort, "--plot": args.plot, "--columns": args.columns,
        "-f and --digits": args.format or args.digits is not None,
    }  # fmt: skip
    for name in (name for name, is_set in rejected.items() if is_set):
        problem = f"--stream cannot be combined with {name}: it writes plain values to the file of -o"
        raise SettingsError(problem, hint=f"leave out --stream, or {name}")
    formats = args.input_format or {}
    qrels_options = {"grades": args.grades, "input_format": formats.get("qrels")}
    qrels = open_qrels(args.qrels, needs_aspects=needs_aspects(measures), **qrels_options)
    run_options = {name: getattr(args, name) for name in ("order", "missing", "topics", "jobs")}
    stream = evaluate_into(args.output, qrels, args.runs, measures, input_format=formats, **run_options)
    note(args, f"{stream.rows:,} values of {stream.lists:,} rankings in {stream.path}")


def _sort_runs(scores: Scores, by: str, rel: int | None) -> Scores:
    """Return the scores with runs in the order of --sort."""
    from rankscope.analysis.stats.matrices import with_runs

    return with_runs(scores, np.array(_sorted_indices(scores, by, rel)))


def _sorted_indices(scores: Scores, by: str, rel: int | None) -> list[int]:
    """Return the indices of the runs in the order of --sort."""
    from rankscope.measures import at_level, parse_many

    if by == "input":
        return list(range(len(scores.runs)))
    if by == "run":
        return sorted(range(len(scores.runs)), key=scores.runs.__getitem__)
    named = by in map(str, scores.measures) or rel is None
    return scores.best_first(by if named else at_level(parse_many([by]), rel or 1)[0])


def _with_topics(table: Table, scores: Scores) -> Table:
    """Add the number of topics of each run to the means, if it differs between runs."""
    counts = dict(zip(scores.runs, (~np.isnan(scores.values[0])).sum(axis=1).tolist(), strict=True))
    if len(set(counts.values())) < 2 or "topics" in table.columns:
        return table
    rows = [(row[0], counts[str(row[0])], *row[1:]) for row in table.rows]
    return replace(table, columns=(table.columns[0], "topics", *table.columns[1:]), rows=rows)


def _build_means(args: argparse.Namespace, scores: Scores) -> tuple[Table, Table, Mapping[str, Any]]:
    """Return the table of means for export, the one to display, and the settings of both."""
    wide = scores.wide(range(len(scores.runs)) if args.sort is not None else None)
    if args.ci:
        from rankscope.analysis.leaderboard import leaderboard, with_margins

        board = leaderboard(scores, seed=args.seed)
        return replace(board["leaderboard"], name="means"), with_margins(wide, board), board.settings
    is_default = args.ci is None and args.format is None and not args.output and scores.uncertainty is None
    is_quick = len(scores.topics) <= _MAX_RESAMPLED_TOPICS
    if is_default and choose_format(args) == "table" and wide.rows and is_quick:
        plain = wide if args.digits is None else replace(wide, digits=args.digits)
        extended = _with_intervals(plain, scores, args.seed)
        if extended is not None:
            return scores["means"], extended, scores.settings
    return scores["means"], wide, scores.settings


def _with_intervals(table: Table, scores: Scores, seed: int) -> Table | None:
    """Return the means with margins and ranks, or with ranks only, or None if neither fits the terminal."""
    from rankscope.analysis.leaderboard import leaderboard, with_margins

    widths = [len(f" ±{table.format_cell(0.0, name)}") for name in table.columns[1:]]
    measures = scores.measures if len(scores.runs) > 1 else ()  # The rank of a single run is always 1.
    ranked = next((measure for measure in measures if measure.better != "neither"), None)
    if table.fits(more=sum(widths) + (_RANK_WIDTH if ranked is not None else 0)):
        extended = with_margins(table, leaderboard(scores, seed=seed))
        if extended.fits():
            return extended
    if ranked is None or not table.fits(more=_RANK_WIDTH):
        return None
    extended = with_margins(table, leaderboard(scores.with_measures([ranked]), seed=seed), margins=False)
    return extended if extended.fits() else None
