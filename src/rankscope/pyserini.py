"""A drop-in replacement for ``python -m pyserini.eval.trec_eval``, without Java: ``python -m rankscope.pyserini``.

It takes the options of trec_eval and two more. ``-m judged.5,10`` adds the share of judged documents among the first 5
and 10 rows of every topic, in the order of the file; ``-remove-unjudged`` evaluates the run without its unjudged
documents. A run in the format of MS MARCO (topic, document, rank) is converted. As in Pyserini, scores are 32-bit
floats (``--order trec_eval`` compares all bits). Judgments are a file or ``irds:ID``; names of
collections, such as those of Pyserini, are not downloaded.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from rankscope.cli.main import main
from rankscope.cli.trec_eval import evaluate, write_lines
from rankscope.cli.trec_eval import main as run_trec_eval
from rankscope.errors import InputError, SettingsError
from rankscope.read import open_qrels
from rankscope.read.source import read_bytes
from rankscope.trec_eval.layout import format_lines
from rankscope.trec_eval.options import Options, read_options

__all__ = ["trec_eval"]

_REMOVE = "-remove-unjudged"


def trec_eval(
    args: Sequence[str], query_id: str | None = None, return_per_query_results: bool = False
) -> float | dict[str, float]:
    """Evaluate a run, print the values, and return those of the last measure, as Pyserini's function does.

    Parameters
    ----------
    args
        Name of the program, which is ignored, and its arguments.
    query_id
        Topic whose value is returned (with ``-q``); None: the mean.
    return_per_query_results
        Whether to return the values of all topics (with ``-q``), with the mean as ``all``.
    """
    arguments = list(args[1:])
    options = _read_options(arguments)
    if (query_id or return_per_query_results) and not options.topics:
        raise SettingsError("values of topics are not requested", hint="add -q")
    lines = _evaluate(options, _REMOVE in arguments)
    write_lines(lines)
    values = {}
    for _, topic, text in (line.split("\t") for line in lines if "\t" in line):
        with suppress(ValueError):  # The value of runid is a name.
            values[topic] = float(text)
    return values if return_per_query_results else values[query_id or "all"]


def _run(arguments: list[str]) -> int:
    options = _read_options(arguments)
    if options.help or options.version:
        return run_trec_eval(arguments)
    write_lines(_evaluate(options, _REMOVE in arguments))
    return 0


def _read_options(arguments: Sequence[str]) -> Options:
    return read_options(["--order", "trec_eval9", *(text for text in arguments if text != _REMOVE)])


def _evaluate(options: Options, remove: bool) -> list[str]:
    """Return the lines to print."""
    judged = [name.removeprefix("judged.") for name in options.measures if name.startswith("judged.")]
    cutoffs = [_parse_cutoff(text) for names in judged for text in names.split(",")]
    options.measures = [name for name in options.measures if not name.startswith("judged.")]
    judgments, run = options.files
    if not judgments.startswith("irds:") and not Path(judgments).exists():
        hint = "give the path of a file, such as pyserini.search.get_qrels_file(NAME), or irds:ID"
        raise InputError("no such file of judgments", path=judgments, hint=hint)
    head = next(_read_rows(run), [])
    lines = ["msmarco run detected. Converting to trec..."] if len(head) == 3 else []
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        shares = []
        if lines or cutoffs or remove:
            options.files = [judgments, str(Path(folder, "run.txt"))]
            shares = _copy_run(run, options.files, cutoffs, remove)
        if options.measures or not cutoffs:
            lines += format_lines(evaluate(options), topics=options.topics, summary=options.summary)
    return lines + shares


def _parse_cutoff(text: str) -> int:
    if not text.isdecimal() or not int(text):
        raise SettingsError(f"judged.{text} has no cutoff", hint="write -m judged.5,10")
    return int(text)


def _read_rows(run: str) -> Iterator[list[str]]:
    text = read_bytes(run).decode("utf-8", "surrogateescape")
    return (row for row in map(str.split, text.split("\n")) if row)


def _copy_run(run: str, files: Sequence[str], cutoffs: Sequence[int], remove: bool) -> list[str]:
    """Write a run as trec_eval reads it, and return one line for each share of judged documents."""
    qrels = open_qrels(files[0], aspects=False)
    judged = {topic: qrels.judgments(topic) for topic in qrels.topics}
    depth: Counter[str] = Counter()
    n_rows, n_judged = Counter[int](), Counter[int]()
    with Path(files[1]).open("w", encoding="utf-8", errors="surrogateescape", newline="\n") as copy:
        for number, row in enumerate(_read_rows(run), 1):
            if len(row) == 3:
                topic, document, rank = row
                if not rank.isdecimal() or not int(rank):
                    problem = f"row {number}: the rank {rank!r} is no whole number from 1 on"
                    raise InputError(problem, path=run)
                row = [topic, "Q0", document, rank, repr(1 / int(rank)), "TEMPRUN"]
            if len(row) < 6:
                raise InputError(f"row {number} has {len(row)} fields, not 6 (or 3, of MS MARCO)", path=run)
            is_judged = row[2] in judged.get(row[0], ())
            if remove and not is_judged:
                continue
            depth[row[0]] += 1
            for cutoff in cutoffs:
                if depth[row[0]] <= cutoff:
                    n_rows[cutoff] += 1
                    n_judged[cutoff] += is_judged
            copy.write("\t".join(row) + "\n")
    return [f"{f'judged_{k}':22}\tall\t{n_judged[k] / max(1, n_rows[k]):.4f}" for k in dict.fromkeys(cutoffs)]


if __name__ == "__main__":
    sys.exit(main(run=_run))
