"""Commands that compare many runs: medians of fresh processes, from files to output, beside their goals."""

from __future__ import annotations

import statistics
import tempfile
from pathlib import Path

from benchmarks.timing import execute, python
from benchmarks.workloads import Workload, make
from rankscope.tables import Table

__all__ = ["table"]

COMMANDS = {
    "overlap {q} {runs} --depth 200 -o {out}/overlap.csv": ((33, 225, 200), 5.0),
    "certain {q} {runs} -m nDCG@10 -o {out}/certain.csv": ((126, 50, 100), 3.0),
    "report {q} {runs} -o {out}/report.html": ((126, 50, 100), 2.5),
    "study {q} {runs} -o {out}/study": ((126, 50, 100), 4.0),
}
"""Commands, the runs, topics and documents of their collection, and their goals in CPU seconds."""


def table(quick: bool) -> str:
    """Return CPU and wall seconds of each command."""
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        for command, ((runs, topics, depth), goal) in COMMANDS.items():
            workload = Workload("", "", *((4, 5, 20) if quick else (runs, topics, depth)))
            folder = Path(scratch) / workload.shape
            make(workload, folder)
            used = []
            for turn in range(1 if quick else 5):
                (out := folder / f"{command.split()[0]}-{turn}").mkdir()
                paths = {"q": folder / "qrels.txt", "runs": folder / "runs", "out": out}
                words = [word.format(**paths) for word in command.split()]
                used.append(execute(python("-m", "rankscope", *words, "--quiet")))
            cpu, wall = (statistics.median(usage[i] for usage in used) for i in (1, 0))
            shown = command.replace(" {q} {runs}", "").partition(" -o ")[0]
            rows.append((shown, workload.shape, cpu, wall, goal, "yes" if cpu <= goal else "no"))
    names = ("command", "collection", "CPU s", "wall s", "goal, CPU s", "reached")
    text = Table("analyses", names, rows, digits=2).markdown()
    return f"Medians of {len(used)} executions, from files to output, including the start of the interpreter.\n\n{text}"
