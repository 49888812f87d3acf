"""Growth of CPU time with the size of hostile input, as a slope on logarithmic axes.

``python -m benchmarks --only growth --write`` measures and writes the section. A slope of 1 means that time is
proportional to the size. Times are CPU times, measured inside one process, which other processes of the machine
disturb less than elapsed times. Where valgrind is installed, the slope of the number of instructions is measured as
well; it does not depend on caches and other processes.
"""

from __future__ import annotations

import gzip
import io
import json
import math
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, suppress
from pathlib import Path
from typing import NamedTuple

import numpy as np
import zstandard

import rankscope as rs
from rankscope.errors import InputError
from rankscope.json_documents import parse_json
from rankscope.progress import silence
from rankscope.read.source import Source
from rankscope.read.topics import select_topics
from rankscope.scan import scan_text

__all__ = ["CASES", "MAX_SLOPES", "Case", "Measured", "instruction_slopes", "measure", "table"]

MAX_SLOPES = {"topics": 1.05, "lines": 1.05, "runs": 2.05}
"""Largest slope that is allowed, by the quantity that grows."""


_ENOUGH_SECONDS = 6.0
"""CPU seconds after which a case is not repeated more often than required: short times vary most."""


class Case(NamedTuple):
    """Work whose time grows: ``prepare`` makes input of a size and returns the function to time."""

    name: str
    grows: str
    small: int
    large: int
    prepare: Callable[[int, Path], Callable[[], object]]


class Measured(NamedTuple):
    """CPU seconds of a case at both sizes."""

    case: Case
    small: float
    large: float

    @property
    def slope(self) -> float:
        """Exponent of the growth."""
        return math.log(self.large / self.small) / math.log(self.case.large / self.case.small)


def _rejected(work: Callable[[], object]) -> Callable[[], object]:
    def run() -> None:
        with suppress(InputError):
            work()

    return run


def _scan(path: Path, scanner: str) -> Callable[[], object]:
    qrels = rs.Qrels.from_dict({"1": {"d": 1}})
    return _rejected(lambda: scan_text(path, qrels, jobs=2, backend=scanner))


def _without_newlines(scanner: str) -> Callable[[int, Path], Callable[[], object]]:
    def prepare(size: int, folder: Path) -> Callable[[], object]:
        path = folder / f"long-{size}"
        path.write_bytes(b"x" * 9000)
        os.truncate(path, size)
        return _scan(path, scanner)

    return prepare


def _empty_lines(size: int, folder: Path) -> Callable[[], object]:
    path = folder / f"empty-{size}"
    path.write_bytes(b"\n" * size)
    return _scan(path, "python")


def _alternating_topics(size: int, folder: Path) -> Callable[[], object]:
    path = folder / f"alternating-{size}"
    # Fields of fixed width: longer lines in the larger file would count as growth.
    path.write_text("".join(f"{i % 1000:03} Q0 d{i:08} 0 {size - i:08} t\n" for i in range(size)))
    return _scan(path, "native")


def _empty_members(compress: Callable[[bytes], bytes]) -> Callable[[int, Path], Callable[[], object]]:
    def prepare(size: int, _: Path) -> Callable[[], object]:
        source = Source.open(compress(b"") * size)
        return lambda: list(source.blocks())

    return prepare


def _topic_ranges(size: int, folder: Path) -> Callable[[], object]:
    path = folder / f"topics-{size}"
    path.write_text("".join(f"{first}-{size}\n" for first in range(size)))
    topics = [*map(str, range(size))]
    return lambda: select_topics(str(path), topics)


def _json_object(size: int) -> bytes:
    return ("{" + ", ".join([*(f'"{i:07}": 1' for i in range(size)), f'"{size - 1:07}": 2']) + "}").encode()


def _repeated_key(size: int, _: Path) -> Callable[[], object]:
    data = _json_object(size)
    return _rejected(lambda: parse_json(data, "x.json", ""))


def _plain_json(size: int, _: Path) -> Callable[[], object]:
    data = _json_object(size)
    return lambda: json.loads(data)


def _plain_dict(size: int, _: Path) -> Callable[[], object]:
    names = [f"{i:07}" for i in range(size)]
    return lambda: dict.fromkeys(names)


def _collection(topics: int, runs: int, grades: int = 3, documents: int = 8) -> tuple[dict, dict]:
    rng = random.Random(1)
    names = [f"d{d}" for d in range(documents)]
    qrels = {f"t{t}": {name: rng.randrange(grades) for name in names[::2]} | {"x": 1} for t in range(topics)}
    lists = {
        f"r{r}": {topic: {d: float(rng.randrange(9)) for d in names} for topic in qrels} for r in range(runs)
    }
    return qrels, lists


def _gate(topics: int, _: Path) -> Callable[[], object]:
    qrels, runs = _collection(topics, 2)
    scores = rs.evaluate(qrels, runs, ["AP"])
    return lambda: rs.gate(scores, "r0")


def _verdict(topics: int, _: Path) -> Callable[[], object]:
    return _verdict_on(*_collection(topics, 3))


def _verdict_grades(topics: int, _: Path) -> Callable[[], object]:
    return _verdict_on(*_collection(topics, 3, grades=1_000_000))


def _verdict_runs(runs: int, _: Path) -> Callable[[], object]:
    return _verdict_on(*_collection(20, runs))


def _verdict_on(qrels: dict, runs: dict) -> Callable[[], object]:
    scores = rs.evaluate(qrels, runs, ["AP"])
    return lambda: rs.verdict(scores)


def _bounds(topics: int, _: Path) -> Callable[[], object]:
    qrels, runs = _collection(topics, 1, documents=11)
    return lambda: rs.evaluate(qrels, runs, "Twist", ties="expected", unjudged="bounds")


def _compare_runs(runs: int, _: Path) -> Callable[[], object]:
    values = np.random.default_rng(1).random((runs, 30))
    names = tuple(f"r{r}" for r in range(runs))
    scores = rs.ScoreMatrix(values, names, tuple(map(str, range(30))), rs.measure("AP"))
    return lambda: rs.compare(scores)


CASES = (
    Case("run without newlines, scanner in C", "lines", 1 << 28, 1 << 32, _without_newlines("native")),
    Case("run without newlines, scanner in Python", "lines", 1 << 28, 1 << 32, _without_newlines("python")),
    Case("empty lines, scanner in Python", "lines", 64_000_000, 512_000_000, _empty_lines),
    Case("alternating topics, scanner in C", "lines", 1_600_000, 12_800_000, _alternating_topics),
    Case("empty gzip members", "lines", 20_000, 160_000, _empty_members(gzip.compress)),
    Case("empty zstd members", "lines", 20_000, 160_000, _empty_members(zstandard.compress)),
    Case("`--topics` with a file of overlapping ranges", "lines", 25_000, 200_000, _topic_ranges),
    Case("JSON with a repeated key", "lines", 400_000, 3_200_000, _repeated_key),
    Case("the same JSON in `json.loads`, for comparison", "lines", 400_000, 3_200_000, _plain_json),
    Case("`dict.fromkeys` of its names, for comparison", "lines", 400_000, 3_200_000, _plain_dict),
    Case("`gate`", "topics", 12_500, 100_000, _gate),
    Case("`verdict`, three runs", "topics", 1000, 8000, _verdict),
    Case("`verdict`, every judgment of another grade", "topics", 250, 2000, _verdict_grades),
    Case("`eval -m Twist --ties expected --unjudged bounds`", "topics", 4, 32, _bounds),
    Case("`verdict`, 20 topics", "runs", 100, 400, _verdict_runs),
    Case("`compare`, 30 topics", "runs", 250, 1000, _compare_runs),
)


def measure(case: Case, folder: Path, repeats: int = 3, enough: float = _ENOUGH_SECONDS) -> Measured:
    """Time a case at both sizes, in turns, and return the turn with the median slope.

    In each turn the small size is repeated as often as the large one contains it. Both take about as long, so that a
    change of the machine's speed affects both alike.
    """
    small, large = (case.prepare(size, folder) for size in (case.small, case.large))
    times = case.large // case.small
    turns: list[Measured] = []
    spent = 0.0
    while len(turns) < repeats or spent < enough:
        turn = Measured(case, _cpu_seconds(small, times) / times, _cpu_seconds(large, 1))
        spent += times * turn.small + turn.large
        turns.append(turn)
    return sorted(turns, key=lambda turn: turn.slope)[len(turns) // 2]


def _cpu_seconds(task: Callable[[], object], times: int) -> float:
    start = time.process_time()
    for _ in range(times):
        task()
    return max(time.process_time() - start, 1e-4)


def instruction_slopes(cases: Sequence[Case]) -> dict[str, float]:
    """Return for each case the slope of the number of instructions, counted by callgrind at smaller sizes.

    Each case is prepared, and prepared and run, in processes of their own; the difference is the work. The result is
    empty where valgrind is not installed.
    """
    if shutil.which("valgrind") is None:
        return {}
    valgrind = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    command = [*valgrind, sys.executable, "-m", __name__]
    process = subprocess.run(
        [*command, *(case.name for case in cases)], capture_output=True, text=True, check=True,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )  # fmt: skip
    counts = dict(re.findall(r"^==(\d+)== Collected : (\d+)", process.stderr, re.MULTILINE))
    slopes = {}
    for line in process.stdout.splitlines():
        name, *pids = line.split("\t")
        prepared_small, small, prepared_large, large = (int(counts[pid]) for pid in pids)
        slope = math.log((large - prepared_large) / (small - prepared_small)) / math.log(_TIMES)
        slopes[name] = max(0.0, slope)  # below 0 is noise of start-up
    return slopes


_TIMES = 4
"""Ratio of the two sizes at which instructions are counted."""


def _run_for_counting(names: Sequence[str]) -> None:
    silence(True)
    with tempfile.TemporaryDirectory() as folder:
        for case in CASES:
            if case.name in names:
                small = max(2, case.small // 16)
                processes = [
                    _run_in_child(case, size, run, Path(folder))
                    for size in (small, _TIMES * small)
                    for run in (False, True)
                ]
                print(case.name, *processes, sep="\t")


def _run_in_child(case: Case, size: int, run: bool, folder: Path) -> int:
    sys.stdout.flush()
    child = os.fork()
    if not child:
        task = case.prepare(size, folder)
        if run:
            task()
        os._exit(0)
    os.waitpid(child, 0)
    return child


def table(quick: bool = False) -> str:
    """Return the section as Markdown; ``quick`` measures a sixteenth of the size, once."""
    lines = [
        "CPU seconds for input that once took quadratic or unbounded time, at two sizes (for files, both larger than"
        " the caches of the processor). A slope of 1 means that time is proportional to the size. It may be at most"
        " 1.05 in topics and lines, and 2.05 in runs, whose pairs grow"
        f" quadratically. Load average during the measurement: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores.",
        "",
        "The last column is the slope of the number of instructions (callgrind), which caches do not affect. Large JSON"
        " objects have a larger slope in time: their names are keys of Python dicts, which access memory at random."
        " Once a dict outgrows the caches, each access waits for memory, in `json.loads` and in a bare dict as well.",
        "",
        "| | grows in | size | CPU s | size | CPU s | slope in time | in instructions |",
        "|---|---|---:|---:|---:|---:|---:|---:|",
    ]
    slopes = {} if quick else instruction_slopes([case for case in CASES if case.grows == "lines"])
    silence(True)
    with tempfile.TemporaryDirectory() as folder, redirect_stderr(io.StringIO()):
        for case in CASES:
            if quick:
                case = case._replace(small=max(2, case.small // 16), large=max(4, case.large // 16))
            result = measure(case, Path(folder), 1, 0.0) if quick else measure(case, Path(folder))
            size = "bytes" if case.small >= 1 << 24 else case.grows
            counted = f"{slopes[case.name]:.2f}" if case.name in slopes else ""
            lines.append(
                f"| {case.name} | {size} | {case.small:,} | {result.small:.3f} | {case.large:,} | {result.large:.3f} "
                f"| {result.slope:.2f} | {counted} |"
            )
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    _run_for_counting(sys.argv[1:])
