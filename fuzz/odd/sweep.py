"""Every command that reads judgments and runs, with every file format and id type, against the same data as plain text.

Files have the same names in every format, and every command runs inside the directory of its files. The output must
therefore be the same bytes.
"""

from __future__ import annotations

import contextlib
import io
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from odd import formats
from rankscope.cli.main import COMMANDS, main

N_TOPICS, N_RUNS, N_DOCUMENTS = 5, 3, 9
_ALL, _JSON = ["qrels", "runs"], ["-f", "json"]
_AP = ["-m", "AP"]
COMMAND_LINES: dict[str, list[str]] = {
    "eval": [*_ALL, "-q", "-m", "AP nDCG@10 Twist", *_JSON],
    "findings": [*_ALL, *_AP, *_JSON],
    "trec_eval": ["-q", "-m", "map", "-m", "P.5", "qrels", "runs/r0"],
    "ndeval": ["aspects", "runs/r0"],
    "compare": [*_ALL, *_AP, "--replicates", "20", *_JSON],
    "gate": ["qrels", "runs/r0", "--baseline", "runs/r1", *_AP, *_JSON],
    "overlap": ["runs", *_JSON],
    "verdict": [*_ALL, *_AP, *_JSON],
    "curve": ["qrels", "runs/r0", "--topic", "1", *_JSON],
    "effort": [*_ALL, *_JSON],
    "report": [*_ALL, *_AP, "-o", "report.html"],
    "bounds": [*_ALL, *_JSON],
    "certain": [*_ALL, "-m", "P@3", *_JSON],
    "correct": [*_ALL, "--human", "second", "--pi", "1", "-m", "P@3", *_JSON],
    "next": [*_ALL, "-m", "P@3", "--budget", "3", *_JSON],
    "pools": [*_ALL, *_AP, "--repeats", "2", *_JSON],
    "leave-out": [*_ALL, *_AP, "--pool-depth", "3", *_JSON],
    "judges": ["a=qrels", "b=second", "--runs", "runs", *_AP, *_JSON],
    "orderings": [*_ALL, *_AP, *_JSON],
    "correlate": [*_ALL, "-m", "AP RR", *_JSON],
    "power": [*_ALL, *_AP, "--replicates", "20", *_JSON],
    "study": [*_ALL, "-m", "AP RR", "--replicates", "10", "--repeats", "1", "-o", "study"],
}
"""Arguments of each command; it runs in the directory of its files."""

NO_FILES = {
    "bench",
    "measures",
    "properties",
    "scales",
    "identify",
    "cite",
    "demo",
    "simulate",
    "completion",
    "help",
}
"""Commands that read neither judgments nor runs (``bench`` only with ``--collections``)."""

SERVERS = {"explore"}
"""Commands that read what another command of the sweep reads (``report``), and then serve it until they are stopped."""


class Pair(NamedTuple):
    """A command, and the format and id types of its files."""

    command: str
    form: str
    qrels_type: str
    run_type: str

    @property
    def is_rejected(self) -> bool:
        """Whether the command must reject the files."""
        return not formats.NOT_IDS.keys().isdisjoint((self.run_type, self.qrels_type))


def all_pairs() -> Iterator[Pair]:
    """Yield every command with every format and id type; judgments and runs have different types where possible."""
    for command in COMMAND_LINES:
        for form in formats.FORMATS:
            types = formats.id_types(form)
            for number, run_type in enumerate(types):
                yield Pair(command, form, types[(number + 1) % len(types)], run_type)
            if form in formats.TEXT_FORMATS:
                continue
            wrong = [
                name for name in formats.NOT_IDS if form in formats.BINARY_FORMATS or name not in ("time",)
            ]
            for name in wrong:
                yield Pair(command, form, "text", name)
                if command != "overlap":
                    yield Pair(command, form, name, "text")


def forgotten_commands() -> set[str]:
    """Return the commands that the sweep does not know."""
    return set(COMMANDS) ^ (COMMAND_LINES.keys() | NO_FILES | SERVERS)


def write_collection(folder: Path, form: str, qrels_type: str, run_type: str) -> None:
    """Write judgments, those of a second judge, judgments of aspects, and runs."""
    (folder / "runs").mkdir(parents=True)
    pairs = [(t, 10 * t + d) for t in range(1, N_TOPICS + 1) for d in range(N_DOCUMENTS)]
    judged = [pair for number, pair in enumerate(pairs) if number % 5]
    for name, shift in (("qrels", 0), ("second", 1), ("aspects", 2)):
        columns = {"qid": [t for t, _ in judged], "docno": [d for _, d in judged]}
        if name == "aspects":
            columns["iteration"] = [1 + d % 2 for _, d in judged]
        columns["label"] = [(t * d + (d + shift) % 4) % 3 for t, d in judged]
        (folder / name).write_bytes(formats.encode(columns, form, qrels_type))
    for r in range(N_RUNS):
        rows = [
            (t, 10 * t + (d * (r + 2) + r * t) % (N_DOCUMENTS + 2), d + 1, float(20 - d // 2))
            for t in range(1, N_TOPICS + 1)
            for d in range(N_DOCUMENTS)
        ]
        columns = dict(
            zip(("qid", "docno", "rank", "score"), map(list, zip(*rows, strict=True)), strict=True)
        )
        (folder / "runs" / f"r{r}").write_bytes(formats.encode(columns, form, run_type))


def run_command(command: str, folder: Path) -> tuple[int, str, str]:
    """Run a command in a directory of this process; return the exit code, its results, and its errors."""
    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.StringIO()
    words = [command, *COMMAND_LINES[command]]
    with contextlib.chdir(folder), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main(words)
        except SystemExit as ended:
            code = int(ended.code or 0)
    out.seek(0)
    # Results name the digests of their files, which differ between formats.
    results = re.sub(r"\b[0-9a-f]{64}\b", "DIGEST", out.read() + _written_results(folder))
    return code, results, "\n".join(line for line in err.getvalue().splitlines() if " read as " not in line)


def _written_results(folder: Path) -> str:
    """Return the data of a report, or the tables of a study, and remove them."""
    if (folder / "report.html").exists():
        text = (folder / "report.html").read_text("utf-8")
        (folder / "report.html").unlink()
        found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text)
        assert found is not None
        return found[1]
    if (folder / "study").exists():
        files = sorted((folder / "study").rglob("*.csv"))
        text = "".join(f"{path.name}\n{path.read_text('utf-8')}" for path in files)
        shutil.rmtree(folder / "study")
        return text
    return ""


class Sweep:
    """Collections in a directory, written once for each format and pair of types, and the results of plain text."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._expected: dict[str, tuple[int, str, str]] = {}

    def _collection(self, form: str, qrels_type: str, run_type: str) -> Path:
        # Reports and studies are titled by the name of their directory, so all have the same.
        folder = self._folder / re.sub(r"\W", "-", f"{form}.{qrels_type}.{run_type}") / "collection"
        if not folder.exists():
            write_collection(folder, form, qrels_type, run_type)
        return folder

    def problem(self, pair: Pair) -> str | None:
        """Run a command on both; return how it differs from plain text, or None."""
        folder = self._collection(pair.form, pair.qrels_type, pair.run_type)
        code, results, err = run_command(pair.command, folder)
        if pair.is_rejected:
            if code != 2 or not err or "\n" in err:
                return f"exit code {code} instead of one line: {err!r}"
            named = any(name in err for name in ("qrels", "second", "aspects", "runs/r"))
            return None if named else f"the error names no file: {err!r}"
        if pair.command not in self._expected:
            plain = self._collection("trec", "text", "text")
            self._expected[pair.command] = run_command(pair.command, plain)
        expected = self._expected[pair.command]
        if expected[0] not in (0, 1) or not expected[1]:
            return f"plain text fails with {expected[0]}: {expected[2]!r}"
        if (code, results) == expected[:2]:
            return None
        return f"exit code {code} instead of {expected[0]}, {_first_difference(results, expected[1])} {err!r}"


def _first_difference(result: str, expected: str) -> str:
    both = enumerate(zip(result, expected, strict=False))
    at = next((index for index, (ours, theirs) in both if ours != theirs), min(len(result), len(expected)))
    begin = max(0, at - 60)
    return f"{result[begin : at + 60]!r} instead of {expected[begin : at + 60]!r}"
