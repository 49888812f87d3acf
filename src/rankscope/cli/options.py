"""Options that commands share."""

from __future__ import annotations

import argparse
from collections.abc import Container, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankscope.choices import CORRECTIONS, INPUT_FORMATS, ORDERS, RBO_TIES
from rankscope.engines.choice import KINDS
from rankscope.errors import SettingsError, suggest_names
from rankscope.tables import FORMATS

if TYPE_CHECKING:
    pass

__all__ = [
    "Collected",
    "add_collection",
    "add_collections",
    "add_evaluation",
    "add_handling",
    "add_highlight",
    "add_jobs",
    "add_measures",
    "add_output",
    "add_plot",
    "add_plugin",
    "add_rbo",
    "add_runs",
    "add_scores",
    "add_seed",
    "add_style",
    "add_top",
    "add_topics",
    "decimals",
    "whole_numbers",
]

_MOST_DECIMALS = 100

_EVALUATION: dict[str, dict[str, Any]] = {
    "order": {
        "choices": ORDERS,
        "default": "trec_eval",
        "help": "what orders a list: trec_eval: the score, ties by document id; trec_eval9: the same with scores of 32"
        " bits; ascending_id: the score, ties by ascending document id; rank: the rank column; file: the"
        " lines (default: trec_eval)",
    },
    "missing": {
        "choices": ("zero", "skip"),
        "default": "zero",
        "help": "judged topics that a run lacks: evaluate an empty list (zero, as trec_eval -c), or leave them out"
        " (skip) (default: zero)",
    },
    "ties": {
        "choices": ("break", "expected", "best", "worst"),
        "default": "break",
        "help": "documents of equal score: in the order of their ids, the mean over all orders, the best or the worst"
        " order (default: break)",
    },
    "unjudged": {
        "choices": ("nonrelevant", "condense", "bounds"),
        "default": "nonrelevant",
        "help": "documents without a judgment: not relevant, taken out of the lists, or of any grade, which gives every"
        " value a range (default: nonrelevant)",
    },
}
"""Options of a collection, by name: those that an analysis may honour or not."""


def add_evaluation(parser: argparse.ArgumentParser, uses: Container[str]) -> None:
    """The options of a collection that an analysis honours."""
    for name, said in _EVALUATION.items():
        if name in uses:
            choices = [word for word in said["choices"] if word != "bounds" or word in uses]
            parser.add_argument(f"--{name}", **{**said, "choices": choices})


def add_collection(
    parser: argparse.ArgumentParser, uses: Container[str] = ("order", "missing"), *, needs_qrels: bool = True
) -> None:
    """QRELS RUN [RUN ...] and how to read them."""
    judged = "judgments: TREC, BEIR, CSV, JSON, Parquet, ..., plain or packed"
    if needs_qrels:
        parser.add_argument("qrels", metavar="QRELS", help=f"{judged} (- for standard input)")
        add_runs(parser)
    else:
        add_runs(parser)
        parser.add_argument(
            "--qrels", metavar="QRELS", help=f"{judged}; they may also be named before the runs"
        )
    add_evaluation(parser, uses)
    parser.add_argument(
        "--grades",
        type=_merges,
        metavar="OLD=NEW;...",
        help="merge grades of the judgments, such as '0,1=0;2=1;3,4=2' (default: as they are)",
    )
    add_jobs(parser)


def _merges(text: str) -> str:
    from rankscope.read.grades import merge_table, written_merges

    try:
        return written_merges(merge_table(text))
    except SettingsError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def add_runs(parser: argparse.ArgumentParser) -> None:
    """RUN [RUN ...] and how to read them."""
    parser.add_argument(
        "runs",
        metavar="RUN",
        nargs="+",
        help="run files, directories or patterns: TREC, MS MARCO, CSV, JSON, Parquet, ..., plain or packed",
    )
    parser.add_argument(
        "--input-format",
        type=_input_format,
        action=_Formats,
        metavar="[qrels=|runs=]F",
        help=f"what the files are ({', '.join(INPUT_FORMATS)}), if it is not what they look like; repeatable",
    )


def _input_format(text: str) -> dict[str, str]:
    """What one --input-format says: both kinds of files, or one of them, are of a format."""
    kind, equals, name = text.rpartition("=")
    if (equals and kind not in ("qrels", "runs")) or name not in INPUT_FORMATS:
        known = suggest_names(name, INPUT_FORMATS) or f"choose one of {', '.join(INPUT_FORMATS)}"
        raise argparse.ArgumentTypeError(f"no format of files is called {text!r}; {known}")
    return {kind: name} if equals else {"qrels": name, "runs": name}


class _Formats(argparse.Action):
    """Several --input-format together; of those for one kind of files the last counts."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, value: Any, *_: Any
    ) -> None:
        setattr(namespace, self.dest, {**(getattr(namespace, self.dest) or {}), **value})


def add_topics(parser: argparse.ArgumentParser, each: str | None = None) -> None:
    """--topics for some of the topics and, where a command can show ``each`` of them, -q."""
    alone = ""
    if each is not None:
        parser.add_argument("-q", "--per-topic", action="store_true", help=each)
        alone = "; alone the same as -q"
    parser.add_argument(
        "--topics",
        action=_Topics,
        nargs="?",
        const="",
        metavar="LIST",
        help=f"only these topics, such as 1,5-9, or a file of them (default: all){alone}",
    )
    parser.set_defaults(per_topic=False)


class _Topics(argparse.Action):
    """--topics with some topics, or alone, which asks for each of them."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, value: Any, *_: Any
    ) -> None:
        each = any(action.dest == "per_topic" for action in parser._actions)
        if not value and not each:
            parser.error("--topics needs topics, such as 1,5-9")
        namespace.per_topic = namespace.per_topic or not value
        namespace.topics = value or namespace.topics


def add_scores(parser: argparse.ArgumentParser) -> None:
    """--scores for commands that need no more than the score of every system and topic."""
    parser.add_argument(
        "--scores",
        action=_InsteadOfCollection,
        metavar="[M=]FILE",
        help="instead of QRELS and RUN: scores that were kept, or that others computed: what eval -q, trec_eval -q or"
        " ir_measures -q wrote, or CSV with a row per topic and a column per system (of measure M); repeatable",
    )


def add_collections(parser: argparse.ArgumentParser) -> None:
    """--collection and --collections for commands that take several."""
    parser.add_argument(
        "--collection",
        action=_InsteadOfCollection,
        metavar="NAME=QRELS:RUNS",
        help="instead of QRELS and RUN: one of several collections, where RUNS is a run, a directory or a pattern;"
        " repeatable",
    )
    parser.add_argument(
        "--collections",
        metavar="FILE",
        help="the same from a TOML file with a table [collections.NAME] for each, with qrels, runs and, if it is"
        " needed, order and grades",
    )


class _InsteadOfCollection(argparse.Action):
    """An option that can be repeated, and with which QRELS and RUN need not be named."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, value: Any, *_: Any
    ) -> None:
        setattr(namespace, self.dest, [*(getattr(namespace, self.dest) or ()), value])
        for action in parser._actions:
            if action.dest in ("qrels", "runs"):
                action.required = False


def add_jobs(parser: argparse.ArgumentParser) -> None:
    """-j, --engine and --quiet."""
    parser.add_argument(
        "-j", "--jobs", type=int, default=None, metavar="N", help="workers (default: all cores)"
    )
    parser.add_argument(
        "--engine",
        metavar="E",
        help=f"where the work runs: {', '.join(KINDS)} (default: local, the cores of this machine)",
    )
    parser.add_argument(
        "--quiet", action="store_true", help="no progress bars, and no notes on what was read"
    )


def add_measures(parser: argparse.ArgumentParser, default: Sequence[str]) -> None:
    """-m, and --plugin for measures of the user's own."""
    parser.add_argument(
        "-m",
        "--measure",
        action="append",
        metavar="M",
        help="a measure such as nDCG@10; repeatable, or several in quotes or with commas"
        f" (default: {' '.join(default) or 'none'})",
    )
    add_plugin(parser)
    parser.set_defaults(default_measures=list(default))


def add_handling(parser: argparse.ArgumentParser) -> None:
    """--ties and --unjudged."""
    add_evaluation(parser, ("ties", "unjudged", "bounds"))


def add_plugin(parser: argparse.ArgumentParser) -> None:
    """--plugin for measures of the user's own."""
    parser.add_argument(
        "--plugin",
        action="append",
        default=[],
        metavar="MODULE",
        help="import a Python module or file that defines measures",
    )


def add_output(parser: argparse.ArgumentParser) -> None:
    """-f, -o and --digits."""
    parser.add_argument(
        "-f",
        "--format",
        choices=FORMATS,
        help="of the output (default: by the name of -o, else a table on a terminal, TSV when piped)",
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="write there instead (whole or not at all)")
    parser.add_argument(
        "--digits", type=_decimals, default=None, metavar="N", help="decimals in table, markdown and latex"
    )


def _decimals(text: str) -> int:
    number = int(text) if text.isdecimal() else -1
    if not 0 <= number <= _MOST_DECIMALS:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0 to {_MOST_DECIMALS}")
    return number


def add_plot(parser: argparse.ArgumentParser) -> None:
    """--plot for commands that have a figure."""
    parser.add_argument(
        "--plot",
        type=_figure_file,
        metavar="FILE",
        help="also draw the figure into FILE (.pdf, .svg, .png, or .pgf for a paper in LaTeX)",
    )
    add_style(parser)


def add_highlight(parser: argparse.ArgumentParser) -> None:
    """--highlight, for figures that draw some runs in colour among all of them."""
    parser.add_argument(
        "--highlight",
        action="append",
        default=[],
        metavar="RUN",
        help="a run to draw in colour; repeatable (default: the best ones, up to eight)",
    )


def add_style(parser: argparse.ArgumentParser) -> None:
    """--style for commands that draw."""
    parser.add_argument(
        "--style",
        type=_style,
        default="sans",
        metavar="S",
        help="text of the figure: sans, serif (like Times), or latex (a PDF that LaTeX sets) (default: sans)",
    )


def _style(name: str) -> str:
    if name == "sans":  # the usual one, for which nothing has to be loaded
        return name
    from rankscope.plots.style import STYLES

    if name not in STYLES:
        raise argparse.ArgumentTypeError(f"{name!r} is none of {', '.join(STYLES)}")
    return _settable(name, name == "latex")


def _settable(name: str, by_latex: bool) -> str:
    """The same name, if LaTeX need not set the figure, or can."""
    if by_latex:
        from rankscope.plots.latex import tex_system

        try:
            tex_system()
        except SettingsError as error:
            raise argparse.ArgumentTypeError(str(error)) from None
    return name


def _figure_file(name: str) -> str:
    # known before any work is done
    if Path(name).suffix.lower() not in (".pdf", ".svg", ".png", ".pgf"):
        raise argparse.ArgumentTypeError(f"{name!r} does not end in .pdf, .svg, .png or .pgf")
    if not Path(name).absolute().parent.is_dir():
        raise argparse.ArgumentTypeError(f"there is no directory for {name!r}")
    return _settable(name, Path(name).suffix.lower() == ".pgf")


def add_rbo(parser: argparse.ArgumentParser) -> None:
    """--rbo-p and --rbo-ties for commands that compute rank-biased overlap."""
    parser.add_argument(
        "--rbo-p",
        type=float,
        default=0.9,
        metavar="P",
        help="persistence of rank-biased overlap: the closer to 1, the deeper it looks (default: 0.9)",
    )
    parser.add_argument(
        "--rbo-ties",
        choices=RBO_TIES,
        default="b",
        help="what ties are to rank-biased overlap: an order not known (a), the same corrected so that a ranking agrees"
        " with itself (b), equality (w) (default: b)",
    )


def add_top(parser: argparse.ArgumentParser) -> None:
    """--top and --by for commands that may leave the worst runs out."""
    parser.add_argument(
        "--top",
        type=float,
        metavar="F",
        help="only the best share F of the runs, such as 0.75 (default: all)",
    )
    parser.add_argument(
        "--by", default="AP", metavar="M", help="the measure that --top goes by (default: AP)"
    )


def add_groups(parser: argparse.ArgumentParser, what: str) -> None:
    """--groups for commands that know groups of runs."""
    parser.add_argument(
        "--groups",
        metavar="FILE|REGEX",
        help=f"{what}a file with lines of `run group`, or a regular expression whose first parentheses (or all of it)"
        " match the group in names of runs",
    )


def add_correction(parser: argparse.ArgumentParser) -> None:
    """Add ``--correction``, whose default depends on the test."""
    parser.add_argument(
        "--correction",
        choices=CORRECTIONS,
        help="for the number of pairs, within each measure (default: max-t for randomisation and bootstrap, else holm)",
    )


def add_seed(parser: argparse.ArgumentParser) -> None:
    """--seed for commands that draw random numbers."""
    parser.add_argument(
        "--seed", type=int, default=1, metavar="N", help="seed of the random numbers (default: 1)"
    )


class Collected(argparse.Action):
    """Numbers between commas from an option that may be given several times: all of them, each once.

    >>> parser = argparse.ArgumentParser()
    >>> _ = parser.add_argument("--alpha", type=decimals, action=Collected, default=(0.1,))
    >>> parser.parse_args(["--alpha", "0.05", "--alpha", "0.01,0.05"]).alpha, parser.parse_args([]).alpha
    ((0.05, 0.01), (0.1,))
    """

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        before = getattr(namespace, self.dest)
        given = () if before is self.default else before
        setattr(namespace, self.dest, tuple(dict.fromkeys((*given, *values))))


def decimals(text: str) -> tuple[float, ...]:
    """Numbers between commas, for argparse.

    >>> decimals("90,50.5")
    (90.0, 50.5)
    """
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of numbers such as 90,50,10") from None


def whole_numbers(text: str) -> tuple[int, ...]:
    """Whole numbers between commas, for argparse.

    >>> whole_numbers("10,100")
    (10, 100)
    """
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of whole numbers such as 10,100") from None
