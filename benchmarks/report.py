"""BENCHMARKS.md: tables of medians, minima and ratios, the machine and the versions."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median

from benchmarks.agreement import TOLERANCE, Agreement
from benchmarks.programs import MEASURES, PROGRAMS, YARDSTICKS
from benchmarks.timing import Usage
from benchmarks.workloads import Workload

__all__ = ["Outcome", "goals", "machine", "page", "workload_section"]

# workload, variant of Rankscope, peer, lowest ratio of the peer's time to the variant's
GOALS = (
    *(
        (workload, command, "pytrec_eval", factor)
        for workload, factor in (("W1", 1.0), ("W2", 12.0), ("W3", 25.0), ("W4", 25.0))
        for command in ("rankscope-eval", "rankscope-eval-q")
    ),
    ("W2", "rankscope-eval", "ir_measures", 25.0),
    ("W2", "rankscope-eval", "ranx", 50.0),
    ("W2", "rankscope-python", "pytrec_eval", 1.0),
    ("W3", "rankscope", "ir_measures", 20.0),
    ("W3", "rankscope", "ranx", 40.0),
)
_TITLES = {**{name: one.title for name, one in PROGRAMS.items()}, **YARDSTICKS}
MEMORY_GOAL = ("W4", "rankscope", 150.0)


@dataclass
class Outcome:
    """Results of one program on one workload."""

    usages: list[Usage] = field(default_factory=list)
    agreement: Agreement | None = None
    trouble: str = ""
    slow: bool = False  # left out because it takes too long, which is no mistake

    @property
    def wall(self) -> float:
        """Median seconds."""
        return median(usage.wall for usage in self.usages)

    @property
    def least(self) -> float:
        """Fewest seconds."""
        return min(usage.wall for usage in self.usages)

    @property
    def memory(self) -> float:
        """Highest peak memory in MB."""
        return max(usage.memory for usage in self.usages)


def machine() -> list[str]:
    """Describe the machine and the versions."""
    model = platform.processor() or platform.machine()
    memory = ""
    if Path("/proc/cpuinfo").exists():
        models = [
            line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")
        ]
        model = models[0].partition(":")[2].strip() if models else model
    if hasattr(os, "sysconf"):
        memory = f", {os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GB of memory"
    packages = ["rankscope", "numpy", "pytrec_eval-terrier", "ir_measures", "ranx", "numba"]
    return [
        f"- Machine: {model}, {os.cpu_count()} cores{memory}, {platform.system()}",
        f"- {platform.python_implementation()} {platform.python_version()}; "
        + ", ".join(f"{name} {_version(name)}" for name in packages),
    ]


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "absent"


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table; all columns but the first are numbers."""
    lines = [" | ".join(columns), " | ".join(["---"] + ["---:"] * (len(columns) - 1))]
    lines += [" | ".join(row) for row in rows]
    return "\n".join(f"| {line} |" for line in lines)


def workload_section(workload: Workload, size: str, outcomes: dict[str, Outcome]) -> str:
    """Return the table of one workload."""
    base = outcomes.get("rankscope", Outcome())
    rows, notes = [], []
    for name, outcome in outcomes.items():
        if outcome.usages:
            rows.append(_row(_TITLES[name], outcome, base))
        notes += _notes(_TITLES[name], outcome)
    columns = [
        "program",
        "wall s, median",
        "minimum",
        "CPU s",
        "peak MB",
        "x Rankscope",
        "by minima",
        "repetitions",
    ]
    parts = [f"## {workload.name}: {workload.meaning}", f"{workload.shape}; {size}.", table(columns, rows)]
    return "\n\n".join(parts + ([" ".join(notes)] if notes else []))


def _row(title: str, outcome: Outcome, base: Outcome) -> list[str]:
    ratios = ["-", "-"]
    if base.usages:
        ratios = [f"{outcome.wall / base.wall:.2f}", f"{outcome.least / base.least:.2f}"]
    return [
        title,
        f"{outcome.wall:.3f}",
        f"{outcome.least:.3f}",
        f"{median(usage.cpu for usage in outcome.usages):.3f}",
        f"{outcome.memory:.0f}",
        *ratios,
        str(len(outcome.usages)),
    ]


def _notes(title: str, outcome: Outcome) -> list[str]:
    notes = [f"{title}: {outcome.trouble}."] if outcome.trouble else []
    agreement = outcome.agreement
    if agreement and agreement.undefined:
        notes.append(f"{title} leaves {agreement.undefined:,} values undefined.")
    if agreement and agreement.tied:
        notes.append(
            f"{title} orders tied documents in its own way: {agreement.compared:,} values of lists without ties "
            f"agree, {agreement.tied:,} of lists with ties differ by up to {agreement.largest_tied:.2g}."
        )
    return notes


def goals(results: dict[str, dict[str, Outcome]]) -> str:
    """Compare the goals of Rankscope with the measured values; return an empty text if none was measured."""
    rows = []
    for workload, ours, theirs, factor in GOALS:
        outcomes = results.get(workload, {})
        if all(name in outcomes and outcomes[name].usages for name in (ours, theirs)):
            ratio = outcomes[theirs].wall / outcomes[ours].wall
            best = outcomes[theirs].least / outcomes[ours].least
            goal = f"{workload}: {_TITLES[ours]} at least {factor:.3g} times as fast as {_TITLES[theirs]}"
            verdict = "reached" if ratio >= factor else "missed"
            rows.append([goal, f"{ratio:.1f} times", f"{best:.1f} times", verdict])
    workload, ours, limit = MEMORY_GOAL
    outcome = results.get(workload, {}).get(ours)
    if outcome and outcome.usages:
        goal = f"{workload}: {PROGRAMS[ours].title} with a peak below {limit:.0f} MB"
        verdict = "reached" if outcome.memory < limit else "missed"
        rows.append([goal, f"{outcome.memory:.0f} MB", "", verdict])
    columns = ["goal", "measured (median)", "by minima", ""]
    return "\n\n".join(["## Goals", table(columns, rows)]) if rows else ""


def page(sections: Sequence[str], command: str, remark: str = "") -> str:
    """Return the text of BENCHMARKS.md; a remark follows the command."""
    introduction = f"""# Benchmarks

Every program reads the same files and gives per-topic values of {", ".join(MEASURES)}.
Each execution is a fresh process: the start of the interpreter, all imports and, for ranx, the compilation of its
functions at every start are included. The programs take turns. One unmeasured execution of each comes first, and
its values must agree with those of pytrec_eval to {TOLERANCE:g} before its times count. CPU is user and system
time of all threads; peak memory is that of the largest process; slow programs are repeated less often. For comparison,
the tables contain the time to read the files only (`cat`), the time to start Python and import numpy (as pytrec_eval
and the others do), and, if the variable TREC_EVAL names the program, trec_eval, called once per run. `rankscope eval`
is the command with its default measures (AP, nDCG@10, P@10, RR, Rprec, Bpref,
RBP, Twist): once with a table on a terminal of 80 columns, once with the values of all topics as CSV. The check of
its values uses the measures above. `Rankscope` is the library in Python. The others are called from a small
script and keep their values in memory.

Made by `{command}`; the collections are synthetic (`rankscope simulate`), so you can repeat them.{remark}"""
    return "\n\n".join([introduction, "\n".join(machine()), *filter(None, sections)]) + "\n"
