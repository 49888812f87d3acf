"""Options: those that commands share, and those that parameters and classes declare."""

import argparse
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from rankscope.choices import INPUT_FORMATS, ORDERS, TIES, UNJUDGED_AS
from rankscope.declaration import Option, Parameter, parse_parameters
from rankscope.docstrings import plain_text
from rankscope.engines.choice import KINDS
from rankscope.errors import SettingsError, suggest_names
from rankscope.tables import FORMATS

_MAX_DIGITS = 100


@dataclass(frozen=True)
class Evaluation:
    """Options of a collection that an analysis declares to honour.

    Parameters
    ----------
    order
        how to sort a ranking: trec_eval: by score, ties by descending document id; trec_eval9: the same with 32-bit
        scores; ascending_id: by score, ties by ascending document id; rank: by the rank column; file: keep the order of
        lines
    missing
        judged topics that a run lacks: zero: evaluate an empty ranking, as trec_eval -c; skip: leave the topic out
    ties
        documents with equal scores: break: sort them as --order does; expected: take the mean over all orders; best:
        take the best order; worst: take the worst order
    unjudged
        documents without a judgment: nonrelevant: count them as not relevant; condense: remove them from the rankings;
        bounds: print the bounds of each value over all possible grades
    topic_data
        attributes of topics: CSV, TSV or JSON lines with a column of topics
    weights
        column of --topic-data with positive weights of topics, such as traffic (default: equal weights)
    """

    order: Annotated[str, Option(choices=ORDERS)] = "trec_eval"
    missing: Annotated[str, Option(choices=("zero", "skip"))] = "zero"
    ties: Annotated[str, Option(choices=TIES)] = "break"
    unjudged: Annotated[str, Option(choices=UNJUDGED_AS)] = "nonrelevant"
    topic_data: Annotated[str | None, Option("FILE")] = None
    weights: Annotated[str | None, Option("COLUMN")] = None


def name_flags(text: str, names: Iterable[str]) -> str:
    """Replace the names of parameters, in backquotes, by those of options, and remove other markup."""
    for name in names:
        text = text.replace(f"``{name}``", _flag(name))
    return plain_text(text)


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")


def add_options(parser: argparse.ArgumentParser, *declared: type) -> None:
    """Add the options that the fields and the docstrings of classes declare."""
    for options_class in declared:
        add_parameters(parser, parse_parameters(options_class))


def add_parameters(parser: argparse.ArgumentParser, parameters: Mapping[str, Parameter]) -> None:
    """Add the options of parameters."""
    for parameter in parameters.values():
        _add_parameter(parser, parameter, name_flags(parameter.help, parameters))


def _add_parameter(parser: argparse.ArgumentParser, parameter: Parameter, text: str) -> None:
    flags = [*parameter.option.flags, _flag(parameter.name)]
    text = text.rstrip(".").replace("%", "%%")
    if not text[1:2].isupper():  # Help starts in lower case, except for abbreviations.
        text = text[:1].lower() + text[1:]
    if parameter.kind is bool:
        action = "store_true" if parameter.default is False else argparse.BooleanOptionalAction
        parser.add_argument(*flags, dest=parameter.name, action=action, help=text)
        return
    more: dict[str, Any] = {"metavar": parameter.option.metavar, "choices": parameter.choices}
    words = tuple((parameter.option.metavar or "").split())
    if parameter.option.parse is not None:
        more |= {"type": parameter.option.parse, "default": parameter.default}
    elif len(words) > 1:
        more |= {"nargs": len(words), "metavar": words}
    elif parameter.several and parameter.kind is not str:
        more |= {"type": whole_numbers if parameter.kind is int else decimals}
        more |= {"action": CollectNumbers}
    else:
        more |= {"type": parameter.kind, "action": "append" if parameter.several else "store"}
        more |= {} if parameter.several else {"default": parameter.default}
    if parameter.option.bare is not None:
        more |= {"nargs": "?", "const": parameter.option.bare}
    default = _format_default(parameter.default)
    if default and "(default" not in text:
        text += f" (default: {default})"
    if parameter.required:
        more["required"] = True
    parser.add_argument(*flags, dest=parameter.name, help=text, **more)


def _format_default(default: Any) -> str:
    """Format a default as it is typed on the command line."""
    if default is None or default == ():
        return ""
    return ",".join(map(str, default)) if isinstance(default, tuple | list) else str(default)


def add_evaluation(parser: argparse.ArgumentParser, uses: Container[str]) -> None:
    """Add the options of a collection that an analysis honours."""
    for name, parameter in parse_parameters(Evaluation).items():
        if name == "unjudged" and "bounds" not in uses:
            text, offered = parameter.help.partition("; bounds:")[0], UNJUDGED_AS[:2]
            parameter = replace(parameter, help=text, choices=offered)
        if name in uses or (name == "topic_data" and "weights" in uses):
            add_parameters(parser, {name: parameter})


def add_collection(
    parser: argparse.ArgumentParser, uses: Container[str] = ("order", "missing"), *, needs_qrels: bool = True
) -> None:
    """Add QRELS, RUN and the options that read and evaluate them."""
    formats = "judgments: TREC, BEIR, CSV, JSON, Parquet, ..., plain or compressed"
    if needs_qrels:
        parser.add_argument("qrels", metavar="QRELS", help=f"{formats} (- for standard input)")
        add_runs(parser)
    else:
        add_runs(parser)
        parser.add_argument("--qrels", metavar="QRELS", help=f"{formats}; you can also name them before RUN")
    add_evaluation(parser, uses)
    grades = "merge grades of the judgments, such as '0,1=0;2=1;3,4=2', or bin numbers: '0-0.2=0;0.2-1=1'"
    parser.add_argument("--grades", type=_merges, metavar="OLD=NEW;...", help=grades)
    columns = "names of columns of tables, such as topic=query,doc=item_id,grade=label"
    parser.add_argument("--columns", metavar="COLUMN=NAME,...", help=f"{columns} (default: recognise them)")
    add_jobs(parser)


def _merges(text: str) -> str:
    from rankscope.read.grades import normalise_merges

    try:
        return normalise_merges(text)
    except SettingsError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def add_runs(parser: argparse.ArgumentParser) -> None:
    """Add RUN and --input-format."""
    runs = "run files, directories or patterns: TREC, MS MARCO, CSV, JSON, Parquet, ..., plain or compressed"
    parser.add_argument("runs", metavar="RUN", nargs="+", help=f"{runs}; NAME=FILE names a run")
    text = f"format of the files ({', '.join(INPUT_FORMATS)}), if it is not recognised; repeatable"
    look: Any = {"type": _input_format, "action": _CollectFormats, "metavar": "[qrels=|runs=]F"}
    parser.add_argument("--input-format", help=text, **look)


def _input_format(text: str) -> dict[str, str]:
    """Return the format of judgments and runs that one --input-format sets."""
    kind, equals, name = text.rpartition("=")
    if (equals and kind not in ("qrels", "runs")) or name not in INPUT_FORMATS:
        hint = suggest_names(name, INPUT_FORMATS) or f"choose one of {', '.join(INPUT_FORMATS)}"
        raise argparse.ArgumentTypeError(f"unknown file format {text!r}; {hint}")
    return {kind: name} if equals else {"qrels": name, "runs": name}


class _CollectFormats(argparse.Action):
    """Combines repeated --input-format options; the last one for a kind of files wins."""

    def __call__(self, parser: Any, namespace: Any, value: Any, *_: Any) -> None:
        setattr(namespace, self.dest, {**(getattr(namespace, self.dest) or {}), **value})


def add_topics(parser: argparse.ArgumentParser, each: str | None = None) -> None:
    """Add --topics and, if ``each`` describes output per topic, -q."""
    note = ""
    if each is not None:
        parser.add_argument("-q", "--per-topic", action="store_true", help=each)
        note = "; without LIST the same as -q"
    text = f"only these topics, such as 1,5-9, or a file of topics (default: all){note}"
    parser.add_argument("--topics", action=_Topics, nargs="?", const="", metavar="LIST", help=text)
    parser.set_defaults(per_topic=False)


class _Topics(argparse.Action):
    """Sets the topics of --topics LIST, or output per topic if there is no LIST."""

    def __call__(self, parser: Any, namespace: Any, value: Any, *_: Any) -> None:
        if not value and not any(action.dest == "per_topic" for action in parser._actions):
            parser.error("--topics needs topics, such as 1,5-9")
        namespace.per_topic = namespace.per_topic or not value
        namespace.topics = value or namespace.topics


def add_scores(parser: argparse.ArgumentParser) -> None:
    """Add --scores, for commands that need no rankings."""
    text = (
        "instead of QRELS and RUN: scores from eval -q, trec_eval -q or ir_measures -q, or CSV with a row per topic and"
        " a column per system (of measure M); repeatable"
    )
    parser.add_argument("--scores", action=InsteadOfCollection, metavar="[M=]FILE", help=text)
    text = "instead of QRELS and RUN: assignments of nuggets to answers, JSON lines of the TREC RAG track; repeatable"
    parser.add_argument("--nuggets", dest="scores", action=InsteadOfCollection, metavar="FILE", help=text)


def add_collections(parser: argparse.ArgumentParser) -> None:
    """Add --collection and --collections, for commands that take several collections."""
    runs = "where RUNS is a run, a directory or a pattern; repeatable"
    text = f"instead of QRELS and RUN: one of several collections, {runs}"
    parser.add_argument("--collection", action=InsteadOfCollection, metavar="NAME=QRELS:RUNS", help=text)
    keys = "qrels, runs and, optionally, order and grades"
    text = f"the same from a TOML file with a table [collections.NAME] per collection: {keys}"
    parser.add_argument("--collections", action=_CollectionsFile, metavar="FILE", help=text)


class InsteadOfCollection(argparse.Action):
    """Repeatable option, or flag, that makes QRELS and RUN optional."""

    def __call__(self, parser: Any, namespace: Any, value: Any, *_: Any) -> None:
        setattr(namespace, self.dest, [*(getattr(namespace, self.dest) or ()), value])
        for action in parser._actions:
            if action.dest in ("qrels", "runs"):
                action.required = False


class _CollectionsFile(InsteadOfCollection):
    """Option with one value that makes QRELS and RUN optional."""

    def __call__(self, parser: Any, namespace: Any, value: Any, *_: Any) -> None:
        super().__call__(parser, namespace, value)
        setattr(namespace, self.dest, value)


def add_jobs(parser: argparse.ArgumentParser) -> None:
    """Add -j, --engine and --quiet."""
    parser.add_argument("-j", "--jobs", type=int, metavar="N", help="number of workers (default: all cores)")
    engine = f"engine that runs the work: {', '.join(KINDS)} (default: local, the cores of this machine)"
    parser.add_argument("--engine", metavar="E", help=engine)
    parser.add_argument("--quiet", action="store_true", help="print no progress bars and no notes")


def add_measures(parser: argparse.ArgumentParser, default: Sequence[str]) -> None:
    """Add -m and --plugin."""
    text = "measure such as nDCG@10; repeatable, or several in quotes or separated by commas"
    text += f" (default: {' '.join(default) or 'none'})"
    parser.add_argument("-m", "--measure", action="append", metavar="M", help=text)
    add_plugin(parser)
    parser.set_defaults(default_measures=list(default))


def add_plugin(parser: argparse.ArgumentParser) -> None:
    """Add --plugin."""
    text = "import a Python module or file that defines measures"
    parser.add_argument("--plugin", action="append", default=[], metavar="MODULE", help=text)


def add_output(parser: argparse.ArgumentParser) -> None:
    """Add -f, -o and --digits."""
    text = "output format (default: by the file name of -o, otherwise table on a terminal and tsv in a pipe)"
    parser.add_argument("-f", "--format", choices=FORMATS, help=text)
    add_output_file(parser)
    digits = "number of decimals in the formats table, markdown and latex"
    parser.add_argument("--digits", type=_digits, metavar="N", help=digits)


def add_output_file(parser: argparse.ArgumentParser) -> None:
    """Add -o."""
    parser.add_argument("-o", "--output", metavar="FILE", help="write to FILE atomically")


def _digits(text: str) -> int:
    number = int(text) if text.isdecimal() else -1
    if not 0 <= number <= _MAX_DIGITS:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0 to {_MAX_DIGITS}")
    return number


def add_plot(parser: argparse.ArgumentParser) -> None:
    """Add --plot, --width and --style."""
    text = "also draw a figure to FILE (.pdf, .svg, .png, or .pgf for LaTeX)"
    parser.add_argument("--plot", type=_figure_file, metavar="FILE", help=text)
    text = "width of the figure: 3.3 for one column of a paper, 7 for two (default: by the figure)"
    parser.add_argument("--width", type=_inches, metavar="INCHES", help=text)
    add_style(parser)


def _inches(text: str) -> float:
    try:
        width = float(text)
    except ValueError:
        width = 0.0
    if not 2 <= width <= 40:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of inches from 2 to 40")
    return width


def add_highlight(parser: argparse.ArgumentParser) -> None:
    """Add --highlight, for figures that draw only some runs in colour."""
    text = "run to draw in colour; repeatable (default: the best runs, up to eight)"
    parser.add_argument("--highlight", action="append", default=[], metavar="RUN", help=text)


def add_style(parser: argparse.ArgumentParser) -> None:
    """Add --style."""
    text = "font of the figure: sans, serif (like Times), or latex (a PDF typeset by LaTeX) (default: sans)"
    parser.add_argument("--style", type=_style, default="sans", metavar="S", help=text)


def _style(name: str) -> str:
    if name == "sans":  # The default needs no import of plots.
        return name
    from rankscope.plots.style import STYLES

    if name not in STYLES:
        raise argparse.ArgumentTypeError(f"{name!r} is not one of {', '.join(STYLES)}")
    return _check_latex(name, name == "latex")


def _check_latex(name: str, needs_latex: bool) -> str:
    """Return the name, or raise an error if LaTeX is needed and not installed."""
    if needs_latex:
        from rankscope.plots.latex import tex_system

        try:
            tex_system()
        except SettingsError as error:
            raise argparse.ArgumentTypeError(str(error)) from None
    return name


def _figure_file(name: str) -> str:
    # Bad names are reported before any work is done.
    if Path(name).suffix.lower() not in (".pdf", ".svg", ".png", ".pgf"):
        raise argparse.ArgumentTypeError(f"{name!r} does not end in .pdf, .svg, .png or .pgf")
    if not Path(name).absolute().parent.is_dir():
        raise argparse.ArgumentTypeError(f"there is no directory for {name!r}")
    return _check_latex(name, Path(name).suffix.lower() == ".pgf")


def add_seed(parser: argparse.ArgumentParser) -> None:
    """Add --seed."""
    text = "seed of the random numbers (default: 1)"
    parser.add_argument("--seed", type=int, default=1, metavar="N", help=text)


class CollectNumbers(argparse.Action):
    """Combines the numbers of a repeated option, without duplicates.

    >>> parser = argparse.ArgumentParser()
    >>> _ = parser.add_argument("--alpha", type=decimals, action=CollectNumbers, default=(0.1,))
    >>> parser.parse_args(["--alpha", "0.05", "--alpha", "0.01,0.05"]).alpha, parser.parse_args([]).alpha
    ((0.05, 0.01), (0.1,))
    """

    def __call__(self, parser: Any, namespace: Any, values: Any, *_: Any) -> None:
        before = getattr(namespace, self.dest)
        earlier = () if before is self.default else before
        setattr(namespace, self.dest, tuple(dict.fromkeys((*earlier, *values))))


def decimals(text: str) -> tuple[float, ...]:
    """Parse numbers separated by commas.

    >>> decimals("90,50.5")
    (90.0, 50.5)
    """
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of numbers such as 90,50,10") from None


def whole_numbers(text: str) -> tuple[int, ...]:
    """Parse integers separated by commas.

    >>> whole_numbers("10,100")
    (10, 100)
    """
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of whole numbers such as 10,100") from None
