"""The programs that are compared, each from files to per-topic values in memory, in the way its manual shows.

``python -m benchmarks.programs NAME DIRECTORY [FILE]`` is one measured execution; the values are also written to the
file, for the comparison between programs, if there is one.
"""

from __future__ import annotations

import atexit
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

__all__ = ["MEASURES", "PROGRAMS", "TERMINAL", "YARDSTICKS", "Program", "typed", "yardsticks"]

MEASURES = ("AP", "nDCG", "nDCG@10", "P@10", "RR", "Rprec", "Bpref")

TERMINAL = "rankscope-eval"
"""Program that prints a table to a terminal of 80 columns."""

Value = tuple[str, str, str, float]  # run, topic, measure, value
Evaluation = Callable[[Path, list[Path]], Callable[[], Iterator[Value]]]


def rankscope(qrels: Path, runs: list[Path], jobs: int | None = None) -> Callable[[], Iterator[Value]]:
    """Evaluate all runs with Rankscope in one call."""
    import rankscope as rs

    judgments = rs.read_qrels(qrels)
    scores = rs.evaluate(judgments, rs.read_runs(*runs), list(MEASURES), jobs=jobs)

    def values() -> Iterator[Value]:
        for measure in MEASURES:
            matrix = scores.matrix(measure)
            for run, row in zip(matrix.runs, matrix.values.tolist(), strict=True):
                for topic, value in zip(matrix.topics, row, strict=True):
                    yield run, topic, measure, value

    return values


def rankscope_one_job(qrels: Path, runs: list[Path]) -> Callable[[], Iterator[Value]]:
    """Evaluate all runs with Rankscope on one core."""
    return rankscope(qrels, runs, jobs=1)


def _eval(qrels: Path, runs: list[Path], written: Path) -> list[str]:
    words = ["eval", str(qrels), *map(str, runs), "-q", "-m", " ".join(MEASURES), "-o", str(written)]
    return [*words, "--quiet", "-f", "csv"]


def typed(directory: Path, written: Path) -> dict[str, list[str]]:
    """Return the commands as people type them, with the default measures: these are timed."""
    import shutil  # what is loaded before would count for the others

    program = shutil.which("rankscope", path=str(Path(sys.executable).parent))
    begin = [program] if program else [sys.executable, "-m", "rankscope"]
    words = [*begin, "eval", str(directory / "qrels.txt"), *map(str, sorted((directory / "runs").iterdir()))]
    return {TERMINAL: words, "rankscope-eval-q": [*words, "-q", "-f", "csv", "-o", str(written)]}


def rankscope_command(qrels: Path, runs: list[Path]) -> Callable[[], Iterator[Value]]:
    """Evaluate with the command line of Rankscope, which also writes the value of every topic to a file."""
    from rankscope.cli.main import main as command

    written = qrels.with_name(f"values-{os.getpid()}.csv")
    atexit.register(written.unlink, missing_ok=True)
    if command(_eval(qrels, runs, written)):
        raise SystemExit("rankscope eval did not work")

    def values() -> Iterator[Value]:
        import csv  # what is loaded before would count

        with written.open(newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                if row["topic"] != "all":  # which are the means
                    yield row["run"], row["topic"], row["measure"], float(row["value"])

    return values


def pytrec_eval(qrels: Path, runs: list[Path]) -> Callable[[], Iterator[Value]]:
    """Evaluate with pytrec_eval-terrier: its readers, one evaluator for all runs."""
    import pytrec_eval as library

    names = dict(
        zip(("map", "ndcg", "ndcg_cut_10", "P_10", "recip_rank", "Rprec", "bpref"), MEASURES, strict=True)
    )
    with qrels.open() as file:
        evaluator = library.RelevanceEvaluator(
            library.parse_qrel(file), {"map", "ndcg", "ndcg_cut.10", "P.10", "recip_rank", "Rprec", "bpref"}
        )
    results = {}
    for path in runs:
        with path.open() as file:
            results[path.stem] = evaluator.evaluate(library.parse_run(file))

    def values() -> Iterator[Value]:
        for run, topics in results.items():
            for topic, by_measure in topics.items():
                for name, measure in names.items():
                    yield run, topic, measure, by_measure[name]

    return values


def ir_measures(qrels: Path, runs: list[Path]) -> Callable[[], Iterator[Value]]:
    """Evaluate with ir_measures: its readers, one evaluator for all runs."""
    import ir_measures as library

    measures = [library.parse_measure(name) for name in MEASURES]
    evaluator = library.evaluator(measures, list(library.read_trec_qrels(str(qrels))))
    results = {path.stem: list(evaluator.iter_calc(library.read_trec_run(str(path)))) for path in runs}

    def values() -> Iterator[Value]:
        for run, metrics in results.items():
            for metric in metrics:
                yield run, metric.query_id, str(metric.measure), metric.value

    return values


def ranx(qrels: Path, runs: list[Path]) -> Callable[[], Iterator[Value]]:
    """Evaluate with ranx: its readers, one call per run."""
    library: Any = import_module("ranx")  # it has no types
    names = dict(
        zip(("map", "ndcg", "ndcg@10", "precision@10", "mrr", "r-precision", "bpref"), MEASURES, strict=True)
    )
    judgments = library.Qrels.from_file(str(qrels), kind="trec")
    results = {
        path.stem: library.evaluate(
            judgments,
            library.Run.from_file(str(path), kind="trec"),
            list(names),
            return_mean=False,
            make_comparable=True,
        )
        for path in runs
    }

    def values() -> Iterator[Value]:
        topics = sorted(judgments.keys())  # ranx gives its values in this order
        for run, by_measure in results.items():
            for name, measure in names.items():
                for topic, value in zip(topics, by_measure[name], strict=True):
                    yield run, topic, measure, float(value)

    return values


class Program(NamedTuple):
    """A program, the package whose version is shown, and remarks on its values."""

    name: str
    title: str
    package: str
    evaluate: Evaluation
    ties: bool = True  # False: tied documents keep no defined order, so lists with ties are not compared
    environment: Mapping[str, str] = MappingProxyType({})


PROGRAMS = {
    program.name: program
    for program in (
        Program("rankscope", "Rankscope", "rankscope", rankscope),
        Program(TERMINAL, "rankscope eval QRELS RUNS", "rankscope", rankscope_command),
        Program(
            "rankscope-eval-q", "rankscope eval QRELS RUNS -q -f csv -o FILE", "rankscope", rankscope_command
        ),
        Program("rankscope-1", "Rankscope, one job", "rankscope", rankscope_one_job),
        Program(
            "rankscope-python",
            "Rankscope without C",
            "rankscope",
            rankscope,
            environment={"RANKSCOPE_SCANNER": "python"},
        ),
        Program("pytrec_eval", "pytrec_eval-terrier", "pytrec_eval-terrier", pytrec_eval),
        Program("ir_measures", "ir_measures", "ir_measures", ir_measures),
        Program("ranx", "ranx", "ranx", ranx, ties=False),
    )
}


def yardsticks(directory: Path) -> dict[str, list[str]]:
    """Return commands for comparison: read the files, load numpy, and run the trec_eval of TREC_EVAL."""
    qrels, runs = str(directory / "qrels.txt"), [str(path) for path in sorted((directory / "runs").iterdir())]
    commands = {"cat": ["cat", qrels, *runs], "numpy": [sys.executable, "-c", "import numpy"]}
    if program := os.environ.get("TREC_EVAL"):
        options = "-q -c -m map -m ndcg -m ndcg_cut.10 -m P.10 -m recip_rank -m Rprec -m bpref"
        loop = f'for run in "$@"; do "$0" {options} "$QRELS" "$run" || exit 1; done'
        commands["trec_eval"] = ["env", f"QRELS={qrels}", "sh", "-c", loop, program, *runs]
    return commands


YARDSTICKS = {
    "cat": "cat FILES > /dev/null",
    "numpy": 'python -c "import numpy"',
    "trec_eval": "trec_eval, once a run",
}


def main(program: str, directory: str, output: str | None = None) -> None:
    """Execute one program. Nothing else is imported here, because its time would count."""
    folder = Path(directory)
    values = PROGRAMS[program].evaluate(folder / "qrels.txt", sorted((folder / "runs").iterdir()))
    if output:
        with Path(output).open("w", encoding="utf-8") as file:
            file.writelines(
                f"{run}\t{topic}\t{measure}\t{value!r}\n" for run, topic, measure, value in values()
            )


if __name__ == "__main__":
    main(*sys.argv[1:])
