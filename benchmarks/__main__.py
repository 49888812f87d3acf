"""``python -m benchmarks``: make the workloads, let the programs take turns, write BENCHMARKS.md."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from benchmarks.agreement import Agreement
from benchmarks.load import keep_load
from benchmarks.programs import PROGRAMS, TERMINAL, typed, yardsticks
from benchmarks.report import Outcome, goals, page, workload_section
from benchmarks.sections import SECTIONS, present, with_section
from benchmarks.timing import ROOT, ExecutionError, TooSlowError, execute, python
from benchmarks.workloads import WORKLOADS

REFERENCE = "pytrec_eval"
BUDGET = 90
_LEAST = 5
"""Repetitions of the programs that goals compare, whatever they take: a median of fewer says little."""
EARLIER = " Sections that it does not name are of earlier runs, perhaps on another machine."


def say(text: str) -> None:
    """Print progress to standard error, apart from the results."""
    print(text, file=sys.stderr, flush=True)


def arguments() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small workloads, one repetition, printed only")
    parser.add_argument(
        "--only", nargs="+", metavar="NAME", help=f"some workloads or sections: W1..W4, {', '.join(SECTIONS)}"
    )
    parser.add_argument(
        "--programs", nargs="+", choices=sorted(PROGRAMS), help="default: all; quick: all but ranx"
    )
    parser.add_argument(
        "--repeats", type=int, help="repetitions (default 25, of quick programs; 1 with --quick)"
    )
    parser.add_argument(
        "--budget",
        type=float,
        default=BUDGET,
        help=f"seconds per program and workload; slow ones repeat less, those with goals {_LEAST} times ({BUDGET})",
    )
    parser.add_argument(
        "--limit", type=float, default=400, help="seconds after which a program is left out (400)"
    )
    parser.add_argument(
        "--directory", type=Path, help="keep the workloads here (default: a temporary directory)"
    )
    parser.add_argument(
        "-o", "--output", type=Path, help="the page (default BENCHMARKS.md for a complete run)"
    )
    parser.add_argument(
        "--write",
        action="store_true",
        help="with --only: put sections, or all four workloads with the goals, into the page, which keeps the others",
    )
    args = parser.parse_args()
    names = {*WORKLOADS["full"], *SECTIONS}
    if args.only and not names.issuperset(args.only):
        parser.error(f"--only knows {', '.join(sorted(names))}")
    workloads = set(args.only or ()) & set(WORKLOADS["full"])
    if args.write and (args.quick or not args.only or len(workloads) not in (0, len(WORKLOADS["full"]))):
        parser.error("--write puts what --only names into the page: sections, and all workloads or none")
    args.repeats = args.repeats or (1 if args.quick else 25)
    # ranx compiles for ten seconds at every start
    args.programs = args.programs or [name for name in PROGRAMS if not (args.quick and name == "ranx")]
    return args


def command(args: argparse.Namespace) -> str:
    """Return the command that reproduces the page, without paths of this machine."""
    words = [
        "python -m benchmarks",
        *(["--quick"] if args.quick else []),
        *(["--only", *args.only] if args.only else []),
    ]
    if set(args.programs) < set(PROGRAMS) and not args.quick:
        words += ["--programs", *args.programs]
    if args.budget != BUDGET:
        words.append(f"--budget {args.budget:g}")
    return " ".join([*words, f"--repeats {args.repeats}"])


def main() -> int:
    """Measure everything; return exit code 1 if a program failed or returned other values."""
    args = arguments()
    size = "quick" if args.quick else "full"
    names = args.only or [*WORKLOADS[size], *present()]
    results: dict[str, dict[str, Outcome]] = {}
    sections = []
    with tempfile.TemporaryDirectory() as scratch:
        for name, workload in WORKLOADS[size].items():
            if name in names:
                folder = (args.directory or Path(scratch)).resolve() / size / name
                say(f"{name}: {workload.shape}")
                execute(python("-m", "benchmarks.workloads", size, name, folder))
                results[name] = measure(folder, Path(scratch), args)
                sections.append(workload_section(workload, files(folder), results[name]))
        sections.insert(0, "" if args.quick else goals(results))
        all_outcomes = [outcome for outcomes in results.values() for outcome in outcomes.values()]
        troubles = [outcome.trouble for outcome in all_outcomes if outcome.trouble and not outcome.slow]
        for name in present():
            if name in names:
                say(name)
                sections.append(section(name, Path(scratch), args.quick, troubles))
    if args.write:
        introduction = page([], command(args), EARLIER) if results else ""
        write_sections(args.output or ROOT / "BENCHMARKS.md", list(filter(None, sections)), introduction)
        return 1 if troubles else 0
    text = page(sections, command(args))
    complete = not (args.quick or args.only)
    output = args.output or (ROOT / "BENCHMARKS.md" if complete else None)
    if output is None:
        print(text, end="")
    else:
        old = output.read_text(encoding="utf-8") if output.exists() else ""
        output.write_text(keep_load(text, old), encoding="utf-8")
        say(f"wrote {output}")
    return 1 if troubles else 0


def write_sections(output: Path, sections: list[str], introduction: str = "") -> None:
    """Replace sections of an existing page, and its introduction."""
    text = output.read_text(encoding="utf-8")
    if introduction:
        text = introduction + text[text.index("\n## ") :]
    for part in sections:
        text = with_section(text, part)
    output.write_text(text, encoding="utf-8")
    say(f"wrote {output}")


def files(folder: Path) -> str:
    """Return the size of a workload in words."""
    runs = list((folder / "runs").iterdir())
    lines = 0
    for path in runs:
        with path.open("rb") as file:
            while block := file.read(1 << 20):
                lines += block.count(b"\n")
    megabytes = sum(path.stat().st_size for path in runs) / 1e6
    judgments = (folder / "qrels.txt").stat().st_size / 1e6
    return f"{lines:,} lines, {megabytes:.0f} MB of runs, {judgments:.1f} MB of qrels"


def measure(folder: Path, scratch: Path, args: argparse.Namespace) -> dict[str, Outcome]:
    """Check all programs on one workload, then time them in turns."""
    outcomes = {name: Outcome() for name in PROGRAMS if name in args.programs}
    seconds = check(folder, scratch, outcomes, args.limit)
    baselines = yardsticks(folder)
    commands = {**baselines, **typed(folder, scratch / "values.csv")}
    repeats = {}
    for name, spent in seconds.items():
        compared = name == REFERENCE or name in commands
        repeats[name] = min(args.repeats, max(_LEAST if compared else 1, int(args.budget / spent)))
    for name, words in baselines.items():
        outcomes[name] = Outcome()
        seconds[name] = execute(words).wall
        repeats[name] = max(1, min(args.repeats, int(args.budget / max(seconds[name], 1e-3))))
    for turn in range(args.repeats):
        names = [name for name in seconds if repeats[name] > turn]
        for name in names[turn % len(names) :] + names[: turn % len(names)]:
            command = commands.get(name) or python("-m", "benchmarks.programs", name, folder)
            environment = PROGRAMS[name].environment if name in PROGRAMS else None
            outcomes[name].usages.append(execute(command, environment, terminal=name == TERMINAL))
            say(f"  {turn + 1}/{repeats[name]} {name}: {outcomes[name].usages[-1].wall:.3f} s")
    return outcomes


def check(place: Path, scratch: Path, outcomes: dict[str, Outcome], limit: float) -> dict[str, float]:
    """Execute every program once and compare the values; return the seconds of the programs to time."""
    seconds: dict[str, float] = {}
    folder = Path(tempfile.mkdtemp(dir=scratch))
    for name, outcome in outcomes.items():
        program = PROGRAMS[name]
        try:
            version(program.package)
        except PackageNotFoundError:
            say(f"  {name} is not installed and left out")
            continue
        command = python("-m", "benchmarks.programs", name, place, folder / f"{name}.tsv")
        start = time.perf_counter()
        try:
            execute(command, program.environment, limit)
        except ExecutionError as failure:
            outcome.trouble, outcome.slow = str(failure), isinstance(failure, TooSlowError)
            say(f"  {name}: {failure}")
            continue
        seconds[name] = time.perf_counter() - start
        say(f"  {name}: {seconds[name]:.1f} s to check")
    if seconds:
        order = sorted(seconds, key=lambda name: name != REFERENCE)
        output = folder / "agreement.json"
        execute(python("-m", "benchmarks.agreement", place / "runs", folder, output, *order))
        for name, fields in json.loads(output.read_text(encoding="utf-8")).items():
            agreement = outcomes[name].agreement = Agreement(*fields)
            if not agreement.holds:
                del seconds[name]
                outcomes[name].trouble = (
                    f"{agreement.differing:,} of {agreement.compared:,} values differ from {order[0]}'s, "
                    f"by up to {agreement.largest:g}, so its times do not count"
                )
                say(f"  {name}: {outcomes[name].trouble}")
    return seconds


def section(name: str, scratch: Path, quick: bool, troubles: list[str]) -> str:
    """Return the section of another part of Rankscope; report a failure and keep the other sections."""
    output = scratch / f"{name}.md"
    try:
        execute(python("-m", "benchmarks.sections", name, output, *(["--quick"] if quick else [])))
    except ExecutionError as failure:
        troubles.append(f"{name}: {failure}")
        say(f"  {troubles[-1]}")
        return ""
    return output.read_text(encoding="utf-8").strip()


if __name__ == "__main__":
    sys.exit(main())
