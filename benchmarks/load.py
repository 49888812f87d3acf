"""Measure the growth of time and memory with lines, topics and runs, and the peak memory of every command.

A complete measurement takes 15 to 25 minutes on two cores, and 4 GB of disk and 7 GB of memory at the largest sizes;
--largest 6 takes two minutes. The part of BENCHMARKS.md is rewritten after every measurement, so an interrupted program
keeps its results. --parts measures some parts and keeps the others, and ``python -m benchmarks`` keeps all of them.
"""

from __future__ import annotations

import argparse
import math
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.report import machine, table
from benchmarks.timing import ROOT, ExecutionError, Usage, execute, python

BEGIN, END = "<!-- load: begin -->", "<!-- load: end -->"
STEEPEST = 1.05
ALLOWED = 200.0
"""MB in addition to the memory of the judgments."""
MEMORY_TOPICS = 1_000

CLICK = "explore {q} {a}"
"""Measured by :mod:`benchmarks.click`, which requests a ranking and ends."""

COMMANDS = {
    "eval": "eval {q} {a}",
    "eval -q": "eval {q} {a} -q -f csv",
    "eval --unjudged bounds": "eval {q} {a} --unjudged bounds -m AP -m nDCG@10 -m P@10",
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
    "leave-out": "leave-out {q} {a} {b} {c} --pool-depth 10",
    "certain --across": "certain {q} {a} {b} -m AP --across measures",
    "eval --coverage": "eval {q} {a} --coverage",
    "effort": "effort {q} {a}",
    "eval --describe": "eval {q} {a} --describe",
    "findings": "findings {q} {a} {b}",
    "certain": "certain {q} {a} {b}",
    "correct": "correct {q} {a} {b} --human {q} --pi 1",
    "next": "next {q} {a} {b} --budget 10",
    "report": "report {q} {a} -o {out}/page.html",
    "report --bounds": "report {q} {a} --bounds -o {out}/page.html",
    "study": "study {q} {a} {b} -o {out}/study",
    "explore and a click": CLICK,
    "orderings": "orderings {q} {a}",
    "overlap": "overlap {q} {a} {b} --depth 100",
}
"""Every command that reads runs; the last two compare whole lists in Python, and take longest."""


def rankscope(words: str) -> list[str]:
    """Return the command line of a Rankscope command."""
    return python("-m", "rankscope", *words.split())


def write_collection(folder: Path, topics: int, documents: int, judged: int) -> None:
    """Write judgments of two aspects, and a run with the same ranking for every topic.

    Different rankings would take a scanner the same time.
    """
    folder.mkdir(parents=True)
    lines = "".join(
        f"\0 Q0 doc{(i * 7919) % documents:07d} {i} {documents - i} r\n" for i in range(documents)
    )
    judgments = "".join(f"\0 {1 + i % 2} doc{i:07d} {i % 3}\n" for i in range(judged))
    for name, text in (("qrels.txt", judgments), ("a.run", lines)):
        with (folder / name).open("wb", buffering=1 << 22) as file:
            template = text.encode()
            for topic in range(1, topics + 1):
                file.write(template.replace(b"\0", b"%d" % topic))


def write_runs(folder: Path, runs: int) -> None:
    """Write many small runs of five topics."""
    (folder / "runs").mkdir(parents=True)
    for run in range(runs):
        lines = [f"{t} Q0 d{(i * 3 + run) % 10} {i} {-i} r{run}\n" for t in range(1, 6) for i in range(10)]
        (folder / "runs" / f"r{run}.run").write_text("".join(lines))
    (folder / "qrels.txt").write_text(
        "".join(f"{t} 0 d{i} {i % 2}\n" for t in range(1, 6) for i in range(10))
    )


def slope(sizes: Sequence[int], usages: Sequence[Usage], start: float) -> float:
    """Return the least-squares slope of log CPU seconds over log size, without the start of the program.

    System time is shown and not counted: a virtual machine may take seconds to provide memory for the first time.
    Sizes that take hardly longer than the start are left out, because they do not show growth.
    """
    pairs = [
        (math.log(n), math.log(u.cpu - u.system - start))
        for n, u in zip(sizes, usages, strict=True)
        if u.cpu - u.system > 1.5 * start
    ]
    if len(pairs) < 2:
        return math.nan
    x, y = (sum(side) / len(pairs) for side in zip(*pairs, strict=True))
    above = math.fsum((a - x) * (b - y) for a, b in pairs)
    return above / math.fsum((a - x) ** 2 for a, _ in pairs)


class Growth(NamedTuple):
    """Dimension in which a collection grows."""

    what: str
    sizes: Callable[[int], Sequence[int]]
    """By the power of ten of the most lines."""
    write: Callable[[Path, int], None]


GROWTH = {
    "lines": Growth(
        "lines (1,000 a topic)",
        lambda largest: [10**p for p in range(5, largest + 1)],
        lambda place, size: write_collection(place, size // 1_000, 1_000, 10),
    ),
    "topics": Growth(
        "topics (10 lines each)",
        lambda largest: [10**p for p in range(4, largest)],
        lambda place, size: write_collection(place, size, 10, 2),
    ),
    "runs": Growth(
        "runs (50 lines each)",
        lambda largest: (500, 2_000, 5_000, 20_000) if largest > 5 else (5, 50),
        lambda place, size: write_runs(place, size),
    ),
}
PARTS = (*GROWTH, "memory")


def growth(what: str, sizes: Sequence[int], measured: Sequence[Usage], start: float) -> list[list[str]]:
    """Rows of a table of growth, as far as it was measured; the last has the slope if all was."""
    rows = [
        [
            what,
            f"{size:,}",
            f"{usage.wall:.1f}",
            f"{usage.cpu:.1f}",
            f"{usage.system:.1f}",
            f"{usage.memory:,.0f}",
            "",
        ]
        for size, usage in zip(sizes, measured, strict=False)
    ]
    if len(measured) == len(sizes):
        steep = slope(sizes, measured, start)
        rows[-1][-1] = (
            "too quick to say"
            if math.isnan(steep)
            else f"{steep:.2f}" + ("" if steep <= STEEPEST else " (too steep)")
        )
    return rows


def say(text: str) -> None:
    """Print progress to standard error."""
    print(text, file=sys.stderr, flush=True)


def measure(name: str, words: str, limit: float) -> Usage:
    """Measure one execution."""
    program = (
        python("-m", "benchmarks.click", *words.split()[1:])
        if words.startswith("explore")
        else rankscope(words)
    )
    usage = execute(program, limit=limit)
    say(f"  {name}: {usage.wall:.1f} s, {usage.cpu:.1f} s CPU, {usage.memory:.0f} MB")
    return usage


Write = Callable[[str], None]
"""Function that writes a part of the page after each measurement."""


def scaling(scratch: Path, way: Growth, largest: int, limit: float, write: Write) -> None:
    """Measure increasing sizes until all are measured or one fails."""
    write_runs(scratch / "start", 1)
    words = f"eval {scratch}/start/qrels.txt {scratch}/start/runs -m AP --quiet"
    measure("start", words, limit)
    start = min(usage.cpu - usage.system for usage in (measure("start", words, limit) for _ in range(3)))
    remove(scratch / "start")
    columns = ["`eval -m AP` of", "size", "wall s", "CPU s", "of it system", "peak MB", "slope"]
    sizes, measured = way.sizes(largest), list[Usage]()
    rows: list[list[str]] = []
    for size in sizes:
        folder = scratch / "grown"
        try:
            way.write(folder, size)
            runs = folder / "runs" if (folder / "runs").exists() else folder / "a.run"
            measured.append(
                measure(f"{size:,} {way.what}", f"eval {folder}/qrels.txt {runs} -m AP --quiet", limit)
            )
            rows = growth(way.what, sizes, measured, start)
        except (ExecutionError, OSError) as failure:
            say(f"  {size:,} {way.what}: {failure}")
            rows = [
                *growth(way.what, sizes, measured, start),
                [way.what, f"{size:,}", "", "", "", "", str(failure)],
            ]
            break
        finally:
            remove(folder)
            write(table(columns, rows))


def memory(scratch: Path, lines: int, commands: Mapping[str, str], limit: float, write: Write) -> None:
    """Measure the peak memory of every command that reads a run, and of a command that only reads the judgments."""
    folder = scratch / "memory"
    write_collection(folder, MEMORY_TOPICS, lines // MEMORY_TOPICS, 100)
    for name in "bc":
        (folder / f"{name}.run").symlink_to("a.run")
    (folder / "one.run").write_text("1 Q0 doc0000001 1 1 r\n")
    words = {
        "q": f"{folder}/qrels.txt",
        "out": str(folder),
        **{name: f"{folder}/{name}.run" for name in "abc"},
    }
    base = measure("judgments", f"eval {words['q']} {folder}/one.run --quiet", limit).memory
    rows = [["judgments alone", "", "", f"{base:,.0f}", ""]]
    for name, command in commands.items():
        try:
            usage = measure(name, command.format(**words), limit)
        except ExecutionError as failure:
            say(f"  {name}: {failure}")
            rows.append([f"`{name}`", "", "", "", str(failure)])
        else:
            verdict = "reached" if usage.memory <= base + ALLOWED else "too much"
            rows.append(
                [f"`{name}`", f"{usage.wall:.1f}", f"{usage.cpu:.1f}", f"{usage.memory:,.0f}", verdict]
            )
        write(
            f"Peak memory of every command that reads a run, on one of {lines:,} lines ({MEMORY_TOPICS:,} topics;\n"
            "commands that compare runs read it two or three times, under different names):\n\n"
            + table(["command", "wall s", "CPU s", "peak MB", f"judgments + {ALLOWED:.0f} MB"], rows)
        )
    remove(folder)


def remove(folder: Path) -> None:
    """Remove a directory with its content."""
    shutil.rmtree(folder, ignore_errors=True)


def keep_load(page: str, old: str) -> str:
    """Return a new page with the part about load of the old one, if it exists.

    >>> keep_load("# New\\n", f"# Old\\n{BEGIN}\\nload\\n{END}\\n") == f"# New\\n\\n{BEGIN}\\nload\\n{END}\\n"
    True
    """
    if BEGIN not in old or END not in old:
        return page
    part = old[old.index(BEGIN) : old.index(END) + len(END)]
    return replaced(page, part)


def replaced(page: str, part: str) -> str:
    """Return a page with its part about load replaced or appended."""
    if BEGIN in page and END in page:
        return page[: page.index(BEGIN)] + part + page[page.index(END) + len(END) :]
    return f"{page.rstrip()}\n\n{part}\n"


def _mark(part: str) -> str:
    return f"<!-- load: {part} -->"


def find_parts(page: str) -> dict[str, str]:
    """Return the parts of a page by name.

    >>> find_parts(section({"lines": "l", "runs": "r"}, "python -m benchmarks.load")) == {"lines": "l", "runs": "r"}
    True
    """
    parts = re.findall(r"<!-- load: (\w+) -->\n(.*?)(?=\n*<!-- load: )", page, re.DOTALL)
    return {name: text.strip() for name, text in parts if name in PARTS}


def section(parts: Mapping[str, str], command: str) -> str:
    """Return the whole part between its marks, without sections that were not measured."""
    text = [
        "## Load",
        f"Made by `{command}`; each execution is a fresh process.\n"
        "The slope is that of log CPU time, without the program's start and the system's part (a virtual machine may\n"
        "take seconds to hand over each new GB), over log size; at most"
        f" {STEEPEST} is wanted.",
        "\n".join(machine()[:1]),
        *(f"{_mark(name)}\n\n{parts[name]}" for name in PARTS if name in parts),
    ]
    return "\n\n".join([BEGIN, *text, END])


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.load",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--largest", type=int, default=8, choices=range(5, 10), help="power of ten of lines (8)"
    )
    parser.add_argument(
        "--parts",
        type=_several(PARTS),
        default=list(PARTS),
        help=f"between commas, of {','.join(PARTS)} (all)",
    )
    parser.add_argument(
        "--commands",
        type=_several(COMMANDS),
        default=list(COMMANDS),
        help="of the part memory, between commas (all)",
    )
    parser.add_argument(
        "--directory", type=Path, help="directory of the temporary files (default: the system's)"
    )
    parser.add_argument(
        "--limit", type=float, default=900, help="seconds after which a command is stopped (900)"
    )
    parser.add_argument(
        "-o", "--output", type=Path, default=ROOT / "BENCHMARKS.md", help="the page; - to print"
    )
    return parser.parse_args()


def _several(choices: Iterable[str]) -> Callable[[str], list[str]]:
    def names(text: str) -> list[str]:
        names_given = [name.strip() for name in text.split(",")]
        for name in names_given:
            if name not in choices:
                raise argparse.ArgumentTypeError(f"{name!r} is not one of {', '.join(choices)}")
        return names_given

    return names


def main() -> None:
    """Measure, and write the page after each measurement."""
    args = _arguments()
    printed = str(args.output) == "-"
    old = (
        args.output.read_text(encoding="utf-8") if not printed and args.output.exists() else "# Benchmarks\n"
    )
    parts = find_parts(old) if set(args.parts) < set(PARTS) else {}
    command = "python -m benchmarks.load" + (f" --largest {args.largest}" if args.largest != 8 else "")

    def create_writer(part: str) -> Write:
        def write(text: str) -> None:
            parts[part] = text
            if not printed:
                args.output.write_text(replaced(old, section(parts, command)), encoding="utf-8")

        return write

    with tempfile.TemporaryDirectory(dir=args.directory) as scratch:
        for part in args.parts:
            if part in GROWTH:
                scaling(Path(scratch), GROWTH[part], args.largest, args.limit, create_writer(part))
            else:
                commands = {name: COMMANDS[name] for name in args.commands}
                memory(Path(scratch), 10**args.largest, commands, args.limit, create_writer(part))
    if printed:
        print(section(parts, command))
    else:
        say(f"wrote {args.output}")


if __name__ == "__main__":
    main()
