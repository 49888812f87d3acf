"""``python -m benchmarks.load``: how time and memory grow with lines, topics and runs; its part of BENCHMARKS.md.

Takes gigabytes of disk at the largest sizes (3 GB for 10^8 lines), removed as it goes. ``--largest 7`` stops at 10^7
lines. The complete page of ``python -m benchmarks`` keeps this part as it finds it.
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from benchmarks.report import machine, table
from benchmarks.timing import ROOT, ExecutionError, Usage, execute, python

BEGIN, END = "<!-- load: begin -->", "<!-- load: end -->"
STEEPEST = 1.05
ALLOWED = 200.0
"""MB beside what the judgments take."""
MEMORY_TOPICS = 1_000

RUN_COMMANDS = {
    "eval": "eval {q} {a}",
    "eval -q": "eval {q} {a} -q -f csv",
    "trec_eval": "trec_eval -q {q} {a}",
    "ndeval": "ndeval {q} {a}",
    "curve": "curve {q} {a} --topic 500",
    "compare": "compare {q} {a} {b}",
    "gate": "gate {q} {a} --baseline {b}",
    "correlate": "correlate {q} {a} {b} {c}",
    "power": "power {q} {a} {b} {c}",
    "verdict": "verdict {q} {a} {b}",
    "judges": "judges x={q} y={q} --runs {a} {b} {c}",
    "bounds": "bounds {q} {a}",
    "pools": "pools {q} {a} {b} {c} --repeats 2",
    "effort": "effort {q} {a}",
    "features": "features {q} {a}",
    "findings": "findings {q} {a} {b}",
    "report": "report {q} {a} -o {out}/page.html",
}
"""Every command that reads runs with the scanner and ends by itself; the explorer loads what the report loads, and a
study asks all of these."""

LIST_COMMANDS = {
    "orderings": "orderings {q} {a}",
    "overlap": "overlap {q} {a} {b} --depth 100",
}
"""Commands that compare whole lists, one after the other, in Python: measured on a tenth of the lines."""

DOCUMENT_COMMANDS = {
    "certain": "certain {q} {a} {b}",
    "next": "next {q} {a} {b} --budget 10",
    "eval --unjudged bounds": "eval {q} {a} --unjudged bounds -m P@10",
}
"""Commands about unjudged documents: all that were retrieved must have a name and a place, so that memory follows the
lines. They are measured on a run of a million."""


def rankscope(words: str) -> list[str]:
    """A command of ours."""
    return python("-m", "rankscope", *words.split())


def write_collection(place: Path, topics: int, documents: int, judged: int) -> None:
    """Judgments and one run: the same list for every topic, which costs a scanner as much as different ones."""
    place.mkdir(parents=True)
    lines = "".join(
        f"\0 Q0 doc{(i * 7919) % documents:07d} {i} {documents - i} r\n" for i in range(documents)
    )
    judgments = "".join(f"\0 0 doc{i:07d} {i % 3}\n" for i in range(judged))
    for name, text in (("qrels.txt", judgments), ("a.run", lines)):
        with (place / name).open("wb", buffering=1 << 22) as file:
            template = text.encode()
            for topic in range(1, topics + 1):
                file.write(template.replace(b"\0", b"%d" % topic))


def write_runs(place: Path, runs: int) -> None:
    """Many small runs of five topics."""
    (place / "runs").mkdir(parents=True)
    for run in range(runs):
        lines = [f"{t} Q0 d{(i * 3 + run) % 10} {i} {-i} r{run}\n" for t in range(1, 6) for i in range(10)]
        (place / "runs" / f"r{run}.run").write_text("".join(lines))
    (place / "qrels.txt").write_text("".join(f"{t} 0 d{i} {i % 2}\n" for t in range(1, 6) for i in range(10)))


def slope(sizes: Sequence[int], usages: Sequence[Usage], start: float) -> float:
    """The log-log slope of CPU seconds without the start of the program: that of the best straight line.

    Sizes that take hardly longer than the start say nothing about growth and are left out.
    """
    pairs = [
        (math.log(n), math.log(u.cpu - start))
        for n, u in zip(sizes, usages, strict=True)
        if u.cpu > 1.5 * start
    ]
    if len(pairs) < 2:
        return math.nan
    x, y = (sum(side) / len(pairs) for side in zip(*pairs, strict=True))
    above = math.fsum((a - x) * (b - y) for a, b in pairs)
    return above / math.fsum((a - x) ** 2 for a, _ in pairs)


def growth(what: str, sizes: Sequence[int], measured: Sequence[Usage], start: float) -> list[list[str]]:
    """Rows of the first table."""
    steep = slope(sizes, measured, start)
    last = (
        "too quick to say"
        if math.isnan(steep)
        else f"{steep:.2f}" + ("" if steep <= STEEPEST else " (too steep)")
    )
    rows = [
        [what, f"{size:,}", f"{one.wall:.1f}", f"{one.cpu:.1f}", f"{one.memory:,.0f}", ""]
        for size, one in zip(sizes, measured, strict=True)
    ]
    rows[-1][-1] = last
    return rows


def say(text: str) -> None:
    """Tell what is going on."""
    print(text, file=sys.stderr, flush=True)


def measure(name: str, words: str, limit: float) -> Usage:
    """One execution."""
    done = execute(rankscope(words), limit=limit)
    say(f"  {name}: {done.wall:.1f} s, {done.cpu:.1f} s CPU, {done.memory:.0f} MB")
    return done


def scaling(scratch: Path, largest: int, limit: float) -> str:
    """Lines, topics and runs, ten times as many at a time."""
    write_runs(scratch / "start", 1)
    words = f"eval {scratch}/start/qrels.txt {scratch}/start/runs -m AP --quiet"
    measure("start", words, limit)
    start = min(measure("start", words, limit).cpu for _ in range(3))
    rows: list[list[str]] = []
    shapes = {
        "lines (1,000 a topic)": [(10**p, 10 ** (p - 3), 1_000, 10) for p in range(5, largest + 1)],
        "topics (10 lines each)": [(10**p, 10**p, 10, 2) for p in range(4, largest)],
    }
    for what, sizes in shapes.items():
        measured = []
        for size, topics, documents, judged in sizes:
            place = scratch / "grown"
            write_collection(place, topics, documents, judged)
            measured.append(
                measure(f"{size:,} {what}", f"eval {place}/qrels.txt {place}/a.run -m AP --quiet", limit)
            )
            remove(place)
        rows += growth(what, [size for size, *_ in sizes], measured, start)
    counts = (500, 2_000, 5_000, 20_000) if largest > 5 else (5, 50)
    measured = []
    for runs in counts:
        write_runs(scratch / "grown", runs)
        words = f"eval {scratch}/grown/qrels.txt {scratch}/grown/runs -m AP --quiet"
        measured.append(measure(f"{runs:,} runs", words, limit))
        remove(scratch / "grown")
    rows += growth("runs (50 lines each)", counts, measured, start)
    return table(["`eval -m AP` of", "size", "wall s", "CPU s", "peak MB", "slope"], rows)


def memory(scratch: Path, largest: int, limit: float) -> str:
    """The peak of every command that reads a run, beside that of one that reads the judgments and next to nothing."""
    return _peaks(scratch / "memory", 10**largest, RUN_COMMANDS, limit)


def memory_of_lists(scratch: Path, largest: int, limit: float) -> str:
    """The same of commands that hold a list at a time."""
    return _peaks(scratch / "lists", 10 ** (largest - 1), LIST_COMMANDS, limit)


def memory_of_documents(scratch: Path, limit: float) -> str:
    """The same of commands that keep every document that was retrieved."""
    return _peaks(scratch / "documents", 10**6, DOCUMENT_COMMANDS, limit)


def _peaks(place: Path, lines: int, commands: Mapping[str, str], limit: float) -> str:
    write_collection(place, MEMORY_TOPICS, lines // MEMORY_TOPICS, 100)
    for name in "bc":
        (place / f"{name}.run").symlink_to("a.run")
    (place / "one.run").write_text("1 Q0 doc0000001 1 1 r\n")
    words = {"q": f"{place}/qrels.txt", "out": str(place), **{name: f"{place}/{name}.run" for name in "abc"}}
    base = measure("judgments", f"eval {words['q']} {place}/one.run --quiet", limit).memory
    rows = [["judgments alone", "", "", f"{base:,.0f}", ""]]
    for name, command in commands.items():
        try:
            done = measure(name, command.format(**words), limit)
        except ExecutionError as failure:
            say(f"  {name}: {failure}")
            rows.append([f"`{name}`", "", "", "", str(failure)])
            continue
        verdict = "reached" if done.memory <= base + ALLOWED else "too much"
        rows.append([f"`{name}`", f"{done.wall:.1f}", f"{done.cpu:.1f}", f"{done.memory:,.0f}", verdict])
    remove(place)
    title = f"judgments + {ALLOWED:.0f} MB"
    return table(["command", "wall s", "CPU s", "peak MB", title], rows)


def remove(place: Path) -> None:
    """A directory and all that is in it."""
    import shutil

    shutil.rmtree(place)


def kept(page: str, old: str) -> str:
    """A new page with the part about load of the old one, if there is one.

    >>> kept("# New\\n", f"# Old\\n{BEGIN}\\nload\\n{END}\\n") == f"# New\\n\\n{BEGIN}\\nload\\n{END}\\n"
    True
    """
    if BEGIN not in old or END not in old:
        return page
    part = old[old.index(BEGIN) : old.index(END) + len(END)]
    return replaced(page, part)


def replaced(page: str, part: str) -> str:
    """A page with this part about load, in the place of the one it has, else at its end."""
    if BEGIN in page and END in page:
        return page[: page.index(BEGIN)] + part + page[page.index(END) + len(END) :]
    return f"{page.rstrip()}\n\n{part}\n"


def section(parts: Iterable[str], largest: int, command: str) -> str:
    """All of it, between its marks."""
    grown, peaks, lists, documents = parts
    lines = f"10^{largest}"
    text = [
        "## Load",
        f"Made by `{command}`; each execution is a fresh process, on a machine that others use too.\n"
        "The slope is that of log CPU time, without the start of the program, over log size; at most"
        f" {STEEPEST} is wanted.",
        "\n".join(machine()[:1]),
        grown,
        f"Peak memory of every command that reads a run, on one of {lines} lines ({MEMORY_TOPICS:,} topics;\n"
        "commands that compare runs read it two or three times, under different names):",
        peaks,
        f"Commands that compare whole lists read them one by one, and slower; on a run of 10^{largest - 1} lines:",
        lists,
        "Commands about unjudged documents keep every document that was retrieved, by its name, so that their memory\n"
        "follows the lines; on a run of 10^6 lines:",
        documents,
    ]
    return "\n\n".join([BEGIN, *text, END])


def main() -> None:
    """Measure, and write the part."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.load", description=__doc__)
    parser.add_argument(
        "--largest", type=int, default=8, choices=range(5, 10), help="power of ten of lines (8)"
    )
    parser.add_argument(
        "--directory", type=Path, help="where the files are made (default: a temporary directory)"
    )
    parser.add_argument("--limit", type=float, default=3600, help="seconds after which a command is stopped")
    parser.add_argument(
        "-o", "--output", type=Path, default=ROOT / "BENCHMARKS.md", help="the page; - to print"
    )
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=args.directory) as scratch:
        parts = [
            scaling(Path(scratch), args.largest, args.limit),
            memory(Path(scratch), args.largest, args.limit),
            memory_of_lists(Path(scratch), args.largest, args.limit),
            memory_of_documents(Path(scratch), args.limit),
        ]
    text = section(parts, args.largest, f"python -m benchmarks.load --largest {args.largest}")
    if str(args.output) == "-":
        print(text)
        return
    old = args.output.read_text(encoding="utf-8") if args.output.exists() else "# Benchmarks\n"
    args.output.write_text(replaced(old, text), encoding="utf-8")
    say(f"wrote {args.output}")


if __name__ == "__main__":
    main()
