"""Command line options of trec_eval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from getopt import GetoptError, gnu_getopt

from rankscope.errors import SettingsError, check_name

FORMATS = ("qrels", "qrels_jg", "prefs", "qrels_prefs")

_SHORT = "hvqm:cl:nD:JN:M:R:T:oZ:"
_LONG = {
    "help": "h",
    "version": "v",
    "query_eval_wanted": "q",
    "measure=": "m",
    "complete_rel_info_wanted": "c",
    "level_for_rel=": "l",
    "nosummary": "n",
    "Debug_level=": "D",
    "Judged_docs_only": "J",
    "Number_docs_in_coll=": "N",
    "Max_retrieved_per_topic=": "M",
    "Rel_info_format=": "R",
    "Results_format=": "T",
    "Output_old_results_format=": "o",
    "Zscore=": "Z",
    "order=": "order",
}
USAGE = (
    "trec_eval [-q] [-m measure[.params]] [-c] [-n] [-l N] [-M N] [-N N] [-J] [-R format] [-Z file] qrels run"
)


@dataclass
class Options:
    """Parsed command line of trec_eval."""

    help: bool = False
    version: bool = False
    topics: bool = False
    summary: bool = True
    complete: bool = False
    judged_only: bool = False
    level: int = 1
    max_rank: int | None = None
    n_documents: int = 0
    judgments: str = "qrels"
    order: str = "trec_eval"
    zscores: str | None = None
    measures: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)


def read_options(argv: Sequence[str]) -> Options:
    """Parse options and file names, in any order.

    >>> options = read_options(["-q", "-mP.5,10", "-l2", "qrels", "-c", "run"])
    >>> options.topics, options.measures, options.level, options.complete, options.files
    (True, ['P.5,10'], 2, True, ['qrels', 'run'])
    """
    try:
        flags, files = gnu_getopt(list(argv), _SHORT, list(_LONG))
    except GetoptError as error:
        raise SettingsError(error.msg, hint=f"usage: {USAGE}") from None
    options = Options(files=files)
    long = {f"--{name.rstrip('=')}": letter for name, letter in _LONG.items()}
    for flag, value in flags:
        _apply(options, long.get(flag, flag[1:]), value)
    if not (options.help or options.version) and len(files) != 2:
        raise SettingsError(f"{len(files)} files where two are needed", hint=f"usage: {USAGE}")
    return options


_SWITCHES = {
    "h": ("help", True), "v": ("version", True), "q": ("topics", True), "c": ("complete", True),
    "J": ("judged_only", True), "n": ("summary", False),
}  # fmt: skip
_NUMBERS = {"l": ("level", 1), "M": ("max_rank", 1), "N": ("n_documents", 0)}
"""Fields of options that are numbers, and their minimums."""
_TEXTS = {"R": "judgments", "Z": "zscores", "order": "order"}


def _apply(options: Options, flag: str, value: str) -> None:
    if flag == "R":
        check_name(value, FORMATS, f"there is no format {value!r} of judgments")
    if flag == "T" and value != "trec_results":
        raise SettingsError(f"there is no format {value!r} of runs", hint="the only one is trec_results")
    if flag == "D" and value.partition(".")[0] != "0":
        raise SettingsError("-D, trec_eval's own debugging output, is not supported", hint="leave it out")
    if flag in _SWITCHES:
        setattr(options, *_SWITCHES[flag])
    elif flag in _NUMBERS:
        name, minimum = _NUMBERS[flag]
        try:
            number = int(value)
        except ValueError:
            number = minimum - 1
        if not minimum <= number < 2**62:
            raise SettingsError(f"-{flag} cannot be {value!r}", hint=f"give a whole number from {minimum} on")
        setattr(options, name, number)
    elif flag in _TEXTS:
        setattr(options, _TEXTS[flag], value)
    elif flag == "m":
        options.measures.append(value)
