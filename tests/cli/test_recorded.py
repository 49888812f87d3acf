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
MAX_LINES = 40
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
eval qrels.txt runs --sort AP --rel 2 -m "AP P@5" --format latex
eval qrels.txt runs -m "AP P@5" --no-ci --format table
eval qrels.txt runs -m AP -q --format markdown
eval qrels.txt runs --describe --format table
eval aspects.txt runs --coverage --topic 1
eval aspects.txt runs -m "alpha_nDCG@5 StRec@5"
eval qrels.txt x=runs/a.txt y=runs/b.txt -m AP --missing skip
eval qrels.txt runs --order file --ties expected -m AP
eval qrels.txt runs --unjudged condense -m AP
eval qrels.txt runs --grades "0,1=0;2,3=1" -m AP
eval qrels.txt runs --input-format csv
eval qrels.txt runs --input-format qrels=trec --input-format runs=trec -m AP
eval qrels.txt runs --topic-data topics.csv --weights traffic -m AP
eval qrels.txt runs --topic-data topics.csv --by lang -m AP --format table
eval qrels.txt runs --topic-data topics.csv --by length:2 -m AP
eval qrels.txt runs --weights traffic
eval qrels.txt runs -m AP --name demo
eval qrels.txt runs -m AP --plot x.svg --width 1
eval qrels.txt runs -m AP --plot x.svg --width 41
eval qrels.txt runs -m AP --plot x.svg --style nothing
eval qrels.txt runs -m AP --plot x.txt
eval qrels.txt runs --plugin missing.py -m Half
eval qrels.txt runs --plugin broken.py -m Half
eval --scores scores.csv --format table
eval --nuggets nuggets.jsonl
eval -m AP
eval qrels.txt
findings qrels.txt runs -m AP
findings qrels.txt runs -m AP --format json
findings qrels.txt runs --topic-data topics.csv --by lang -m AP
compare qrels.txt runs -m AP --baseline a --per-topic --format table
compare qrels.txt runs -m AP --baseline a --baseline b --format latex
compare qrels.txt runs -m AP --baseline x
compare qrels.txt runs -m AP --baseline a --margin 0.05 --format table
compare qrels.txt runs -m AP --test wilcoxon --correction bonferroni --alpha 0.1
compare qrels.txt runs -m AP --test randomisation --replicates 200 --seed 3
compare qrels.txt runs -m "AP RR" --also-interval 3 --format table
compare qrels.txt runs -m AP --topic-data topics.csv --by lang --baseline a --format table
compare --scores scores.csv
compare qrels.txt runs/a.txt -m AP
gate qrels.txt runs/b.txt --baseline runs/a.txt -m "AP P@5" --margin 0.5
gate qrels.txt runs/b.txt --baseline runs/a.txt -m AP --worst 2 --format table
gate qrels.txt runs/b.txt --baseline runs/a.txt -m AP --topic-data topics.csv --by lang
gate --scores scores.csv --baseline a
gate qrels.txt runs/b.txt -m AP
bench tasks.csv
bench tasks.csv --aggregate borda --format table
bench tasks.csv --missing-cells nothing
bench --collection x=qrels.txt:runs --collection y=aspects.txt:runs -m AP
overlap runs --qrels qrels.txt --baseline a --depth 5
overlap runs --depths 2,5 --rbo-p 0.8 --per-topic --format table
verdict qrels.txt runs -m AP --pair a b --per-topic
verdict qrels.txt runs --depth 2 --format json
curve qrels.txt runs --run a --topic 2 --cutoff 5 --discount jk
curve qrels.txt runs/a.txt --topic 2 --edits m5-2 --format table
curve qrels.txt runs/a.txt --topic 7
curve qrels.txt runs --topic 2 --run x
effort qrels.txt runs --significance --format table
effort qrels.txt runs --per-topic --cutoff 5
effort qrels.txt runs --groups "^(.)" --by group
effort qrels.txt runs --gains nDCG --top 0.5
report qrels.txt runs -m AP --title Small -o report.html
report qrels.txt runs -m AP
explore qrels.txt runs --port 65536
explore qrels.txt runs --port x
explore qrels.txt runs --host 0.0.0.0 --port -1
bounds qrels.txt runs --p 0.5,0.8 --depths 5,10 --format table
bounds qrels.txt runs --measures "RBP AP" --show a
certain qrels.txt runs -m AP --baseline a --no-labels --format table
certain qrels.txt runs -m P@5 --cutoffs 2,5
certain qrels.txt runs -m AP --judges qrels.txt
certain --scores scores.csv
next qrels.txt runs --budget 2 --format table
next qrels.txt runs -m P@5 --budget 3 --template labels.txt
next qrels.txt runs --for correct --human human.txt --budget 2
next qrels.txt runs --simulate --batch 2 --target 0.9
pools qrels.txt runs --ratios 50 --repeats 2 --per-run --format table
pools qrels.txt runs --pool-depth 3 --by depth
leave-out qrels.txt runs -m AP --pool-depth 3
leave-out qrels.txt runs --groups "^(.)" --pool-depth 3 --top 0.5
judges qrels.txt aspects.txt
judges qrels.txt aspects.txt --runs runs -m AP --format table
judges qrels.txt aspects.txt --reference x
correct qrels.txt runs --human human.txt -m P@5
correct qrels.txt runs --human human.txt -m P@5 --baseline a --format table
correct qrels.txt runs --human human.txt -m Twist
orderings qrels.txt runs --orders trec_eval,file -m AP
measures RBP --plot x.svg
correlate qrels.txt runs -m "AP P@5 RR" --swaps --format table
correlate qrels.txt runs -m "AP P@5" --method rbo --top 0.75
correlate qrels.txt runs -m "AP P@5" --against AP --per-topic
power qrels.txt runs -m "AP P@5" --per-pair --format table
power qrels.txt runs -m AP --test bootstrap --replicates 50
properties -m AP --depth 3 --property nothing
properties -m "AP P@2" --depth 3 --fixed-length --examples 1
scales -m "AP RR" --length 4 --axioms --format table
scales -m AP --length 3 --count 2
identify gain.py:half
identify gain.py:nothing
study qrels.txt runs -m AP
study qrels.txt runs -m "AP P@5" --ratios 50 --repeats 1 --replicates 20 --name small -o study
cite --method power
completion bash
completion nothing
simulate small --systems 2 --topics 2 --depth 5 --gzip
help
help compare
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
        Path("human.txt").write_text(
            "".join(
                f"{topic} 0 {d} {g} 0.5\n"
                for topic, judged in qrels.items()
                for d, g in list(judged.items())[::2]
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
        Path("topics.csv").write_text("topic,lang,length,traffic\n1,de,3,5\n2,en,8,1\n3,de,4,2\n")
        Path("scores.csv").write_text("topic,a,b\n1,0.5,0.25\n2,0.75,0.5\n3,0.25,0.5\n")
        Path("tasks.csv").write_text("system,x,y,z\na,0.5,0.4,0.7\nb,0.4,0.6,0.2\nc,0.3,0.1,\n")
        Path("gain.py").write_text("def half(grades):\n    return sum(grades) / 2\n")
        Path("broken.py").write_text("import nothing_of_this_name\n")
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
    folder = f"{Path.cwd()}{os.sep}"
    lines = out.read().replace(program(), "rankscope").replace(folder, "").splitlines()
    notes = err.getvalue().replace(folder, "").splitlines()[:MAX_LINES]
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
