"""Time and memory of analyses of many runs and topics, and of the first page of the explorer, with their goals."""

from __future__ import annotations

import os
import re
import statistics
import subprocess
import tempfile
import time
from pathlib import Path
from urllib.request import urlopen

from benchmarks.load import write_collection
from benchmarks.timing import ROOT, Usage, execute, python
from benchmarks.workloads import Workload, make
from rankscope.tables import Table

__all__ = ["table"]

MANY, LONG, COVID, TOPICS = (126, 50, 100), (33, 225, 200), (143, 30, 100), (1, 10_000_000, 10)
COMMANDS = (
    ("overlap {q} {runs} --depth 200 -o {out}/overlap.csv", LONG, "wall s", 5.0),
    ("certain {q} {runs} -m nDCG@10 -o {out}/certain.csv", MANY, "wall s", 3.0),
    ("report {q} {runs} -o {out}/report.html", MANY, "wall s", 2.5),
    ("report {q} {runs} -o {out}/report.html", COVID, "wall s", 4.0),
    ("study {q} {runs} -o {out}/study", MANY, "wall s", 4.0),
    ("explore {q} {runs} --no-browser", MANY, "wall s", 2.0),
    ("eval {q} {runs} -m AP", TOPICS, "wall s", 25.0),
    ("eval {q} {runs} -m AP", TOPICS, "peak GB", 2.0),
)
"""Commands, the runs, topics and documents of their collection, and their goals: of ``explore``, for the first page."""


def table(quick: bool) -> str:
    """Return the median usage of each command, and whether it reaches its goal."""
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        folders: dict[tuple[int, int, int], Path | None] = {}
        for command, full, unit, goal in COMMANDS:
            shape = (full[0] // 9 + 2, 5, 20) if quick and full != COVID else full
            if shape not in folders:
                folders[shape] = _collection(shape, Path(scratch) / "x".join(map(str, shape)))
            if (folder := folders[shape]) is None:
                continue
            used = []
            for _ in range(1 if quick or full == TOPICS else 5):
                with tempfile.TemporaryDirectory(dir=scratch) as out:
                    paths = {"q": folder / "qrels.txt", "runs": folder / "runs", "out": out}
                    words = python("-m", "rankscope", *(word.format(**paths) for word in command.split()))
                    is_served = command.startswith("explore")
                    used.append(_first_page(words) if is_served else execute([*words, "--quiet"]))
            wall, cpu, memory = (statistics.median(usage[i] for usage in used) for i in range(3))
            value = {"wall s": wall, "peak GB": memory / 1000}[unit]
            shown = command.replace(" {q} {runs}", "").partition(" -o ")[0]
            size = "{:,} runs x {:,} topics x {:,} documents".format(*shape)
            rows.append(
                (shown, size, cpu, wall, memory / 1000, f"{goal:g} {unit}", "yes" if value <= goal else "no")
            )
    names = ("command", "collection", "CPU s", "wall s", "peak GB", "goal", "reached")
    text = Table("analyses", names, rows, digits=2).markdown()
    return (
        "Medians of five executions (one of 10,000,000 topics), from files to output, including the start of the\n"
        "interpreter; of `explore`, to the first page. Goals are elapsed seconds on a quiet machine with two cores.\n\n"
        + text
    )


def _collection(shape: tuple[int, int, int], folder: Path) -> Path | None:
    """Make a collection, and return its folder; that of TREC-COVID, round 1, is real, and None without the data."""
    runs, topics, depth = shape
    if shape == COVID:
        data = Path(os.environ.get("RANKSCOPE_DATA", ROOT.parent / "shared" / "data"))
        real = data / "trec_covid_r1_depth100"
        return real if real.exists() else None
    if topics > 1000:
        write_collection(folder, topics, depth, 2)
        (folder / "a.run").rename(folder / "runs")
    else:
        make(Workload("", "", runs, topics, depth), folder)
    return folder


def _first_page(command: list[str]) -> Usage:
    """Start the explorer, load its page, and end it."""
    start = time.perf_counter()
    process = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert process.stdout is not None
    address = re.search(r"http://\S+", process.stdout.readline())
    assert address is not None
    with urlopen(address.group(), timeout=60) as page:
        page.read()
    wall = time.perf_counter() - start
    process.terminate()  # SIGINT is ignored by processes that a shell starts in the background
    _, _, usage = os.wait4(process.pid, 0)
    process.returncode = 0
    return Usage(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024 / 1e6)
