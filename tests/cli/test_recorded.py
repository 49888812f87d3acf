"""Every command has its recorded options, and some calls their recorded exit code, output and notes.

The commands themselves gave the values in recorded.json; other tests compare numbers with other programs. These tests
detect unintended changes. After an intended change, run

    python -m tests.cli.test_recorded

and review the difference before you commit it.
"""

from __future__ import annotations

import contextlib
import io
import os
import shlex
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.plots.conftest import _collection
from tests.recorded import assert_recorded, to_plain, write_recorded

from rankscope.cli.commands import COMMANDS, OWN_GRAMMAR, program
from rankscope.cli.main import command_parser, main

RECORDED = Path(__file__).with_name("recorded.json")
MAX_LINES = 14
"""Number of lines of an output that are recorded."""

CALLS = """
eval qrels.txt runs
eval qrels.txt runs -m "AP P@5" -q --format csv
eval qrels.txt runs/b.txt -m BalancePoint --digits 2
eval qrels.txt runs --topics 2,3 -m "AP nDCG@5" --format json
eval qrels.txt runs -m RR -o means.tsv
eval qrels.txt runs -m "Rho AP" --format markdown
eval qrels.txt runs --topics 9
eval qrels.txt runs --stream -m AP
eval qrels.txt missing.txt
eval qrels.txt runs --digits x
eval qrels.txt runs -o x.svg --plot x.svg
eval qrels.txt runs -o qrels.txt
eval qrels.txt runs --jbos 2
trec_eval -m map -m P.5 qrels.txt runs/a.txt
trec_eval -q -m recip_rank qrels.txt runs/a.txt
trec_eval -m map qrels.txt close.txt
ndeval aspects.txt runs/a.txt
ndeval aspects.txt runs/a.txt -M 2
ndeval aspects.txt runs/a.txt -M 1
ndeval aspects.txt runs/a.txt -M 0
ndeval aspects.txt runs/a.txt -alpha 2
ndeval aspects.txt runs/b.txt -baseline runs/a.txt -riskAlpha 0
ndeval aspects.txt runs/b.txt -baseline runs/a.txt -riskAlpha 0.5
ndeval aspects.txt runs/b.txt -baseline runs/a.txt -riskAlpha -1
compare qrels.txt runs -m AP
gate qrels.txt runs/a.txt --baseline runs/b.txt -m AP
gate qrels.txt runs/b.txt --baseline runs/a.txt -m AP
overlap runs
verdict qrels.txt runs
verdict qrels.txt runs/a.txt runs/b.txt
curve qrels.txt runs/a.txt --topic 2
curve qrels.txt runs/a.txt
effort qrels.txt runs
effort qrels.txt runs --enumerate
effort --enumerate --relevant 2 --length 4
bounds qrels.txt runs
certain qrels.txt runs -m AP
next qrels.txt runs
pools qrels.txt runs --repeats 1 --ratios 50
orderings qrels.txt runs
correlate qrels.txt runs
power qrels.txt runs
eval qrels.txt runs --format table
eval qrels.txt runs -m "AP P@5" -q --format table
eval qrels.txt runs -m "AP nDCG@10 P@5" --unjudged bounds --format table
eval qrels.txt runs -m "Rho BalancePoint" --format table
eval --collection x=qrels.txt:runs -m AP
curve qrels.txt runs/a.txt --topic 2 --format table
curve qrels.txt runs/a.txt --topic 2 --head 3 --format table
compare qrels.txt runs -m AP --format table
effort qrels.txt runs --format table
certain qrels.txt runs -m AP --format table
properties -m "AP ACT" --depth 3 --format table
properties -m "P@2 ACT" --format table
scales -m "P@2 RR" --length 3 --format table
scales -m P@2 --length 3 --all-intervals --format table
scales -m P@2 --length 3 --equal-relevant --format table
measures nDCG
measures AP
measures "RBP(p=0.5)"
measures nDCG@10
measures Nothing
properties -m "AP ACT" --depth 3
properties -m P@2 --depth 3 --format tsv
scales -m P@2 --length 3
cite -m "AP nDCG"
cite
simulate new --systems 2 --topics 3 --depth 20
simulate new2 --systems 0
help nothing
evl qrels.txt runs
""".strip().splitlines()


def describe_options(command: str) -> Any:
    """Return the arguments of a command: names, default, number of values, placeholder, choices."""
    options = {}
    for action in command_parser(command)._actions:
        name = " ".join(action.option_strings) or action.dest
        # A word that the parser would show instead of its default is no setting.
        default = None if action.default == "==SUPPRESS==" else action.default
        options[name] = {
            "default": repr(default),
            "values": str(action.nargs),
            "placeholder": str(action.metavar),
            "choices": " ".join(map(str, action.choices or ())),
            "required": action.required,
        }
    return to_plain(options)


@contextlib.contextmanager
def small_files() -> Iterator[Path]:
    """Create a folder with judgments and runs, the working directory in the block."""
    qrels, runs = _collection(["a", "b", "c"], ["1", "2", "3"])
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        Path("runs").mkdir()
        Path("qrels.txt").write_text(
            "".join(f"{topic} 0 {d} {g}\n" for topic, judged in qrels.items() for d, g in judged.items())
        )
        Path("aspects.txt").write_text(
            "".join(
                f"{topic} {1 + number % 2} {d} {int(g > 1)}\n"
                for topic, judged in qrels.items()
                for number, (d, g) in enumerate(judged.items())
            )
        )
        for name, rankings in runs.items():
            Path(f"runs/{name}.txt").write_text(
                "".join(
                    f"{topic} Q0 {d} {rank} {-rank} {name}\n"
                    for topic, documents in rankings.items()
                    for rank, d in enumerate(documents, 1)
                )
            )
        # Scores that differ as 64-bit numbers only.
        close = [f"1 Q0 d{i} {i + 1} {0.5 + i * 1e-10:.12f} close\n" for i in range(15)]
        Path("close.txt").write_text("".join(close))
        yield Path(folder)


def describe_call(line: str) -> Any:
    """Return the exit code of a call, the first lines of its output, their number, and its notes."""
    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8", newline="\n"), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code: object = main(shlex.split(line))
        except SystemExit as stopped:
            code = stopped.code
    out.seek(0)
    lines = out.read().replace(program(), "rankscope").splitlines()
    notes = err.getvalue().splitlines()[:MAX_LINES]
    return {"code": str(code), "lines": len(lines), "output": lines[:MAX_LINES], "notes": notes}


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with small_files() as path:
        yield path


@pytest.fixture(autouse=True)
def plain_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("NO_COLOR", "1")


def all_options() -> Any:
    return {command: describe_options(command) for command in COMMANDS if command not in OWN_GRAMMAR}


def test_options_of_commands_change_only_on_purpose() -> None:
    assert_recorded(all_options(), RECORDED, "options")


@pytest.mark.parametrize("line", CALLS)
def test_calls_change_only_on_purpose(line: str, folder: Path) -> None:
    assert_recorded(describe_call(line), RECORDED, line)


if __name__ == "__main__":
    os.environ |= {"COLUMNS": "100", "NO_COLOR": "1"}
    with small_files():
        recorded = {"options": all_options()} | {line: describe_call(line) for line in CALLS}
    write_recorded(RECORDED, recorded)
