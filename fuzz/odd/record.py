"""Writes the counts of a soak, and the commit that it ran on, into SECURITY.md."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BEGIN, END = "<!-- soak: begin -->\n", "<!-- soak: end -->"
_LINE = re.compile(r"  - `(?P<program>[^`]+)`: (?P<counts>.*) \(commit (?P<commit>[^)]+)\)\n")


def _git(*words: str) -> str:
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def current_commit() -> str:
    """Return the short name of the commit, and whether files were changed since."""
    changed = ", with uncommitted changes" if _git("status", "--porcelain", "-uno", ":!SECURITY.md") else ""
    return _git("rev-parse", "--short=12", "HEAD") + changed


def _command(program: str) -> str:
    """Return a program without the number of its cases and its seed."""
    return re.sub(r" --(cases|seed) \d+", "", program)


def record(program: str, counts: str, page: Path = ROOT / "SECURITY.md", commit: str | None = None) -> None:
    """Write the counts of a program between the marks of a page.

    ``program`` is the command with its seed, so that runs with several seeds are all kept. Lines of the same command go
    if they are of another commit or of the same seed.
    """
    commit = current_commit() if commit is None else commit
    before, begin, rest = page.read_text("utf-8").partition(BEGIN)
    old, end, after = rest.partition(END)
    if not end:
        sys.exit("SECURITY.md has no marks for the counts of the soak")
    kept = [
        line
        for line in _LINE.finditer(old)
        if line["program"] != program
        and (line["commit"] == commit or _command(line["program"]) != _command(program))
    ]
    lines = [line[0] for line in kept] + [f"  - `{program}`: {counts} (commit {commit})\n"]
    page.write_text(f"{before}{begin}{''.join(lines)}{end}{after}", "utf-8")
