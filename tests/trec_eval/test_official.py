"""The official test outputs of trec_eval 10, byte for byte, and real collections to every printed digit."""

from __future__ import annotations

import csv
import gzip
import shlex
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

import rankscope
from rankscope.cli import trec_eval
from rankscope.cli.main import main
from rankscope.trec_eval.layout import format_lines
from rankscope.trec_eval.options import read_options

COMMANDS = 15


def official(data_dir: Path) -> list[tuple[list[str], str]]:
    """Return the commands of trec_eval's own tests with the files of their expected output."""
    commands = []
    for line in (data_dir / "trec_eval_test" / "COMMANDS.txt").read_text().splitlines():
        if line.startswith("trec_eval "):
            command, expected = line.split("->")
            commands.append((shlex.split(command)[1:], expected.strip()))
    return commands


@pytest.mark.parametrize("scanner", [pytest.param("native", marks=pytest.mark.needs("native")), "python"])
@pytest.mark.parametrize("number", range(COMMANDS))
def test_official_output(
    number: int,
    scanner: str,
    data_dir: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsysbinary: pytest.CaptureFixture[bytes],
) -> None:
    monkeypatch.setenv("RANKSCOPE_SCANNER", scanner)
    monkeypatch.chdir(data_dir / "trec_eval_test")
    commands = official(data_dir)
    assert len(commands) == COMMANDS
    arguments, expected = commands[number]
    assert main(["trec_eval", *arguments]) == 0
    printed = capsysbinary.readouterr()
    assert printed.out == Path(expected).read_bytes()
    assert printed.err == b""


def test_run_from_standard_input(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    folder = data_dir / "trec_eval_test"
    with (folder / "results.test").open() as run:
        monkeypatch.setattr("sys.stdin", run)
        assert main(["trec_eval", str(folder / "qrels.test"), "-"]) == 0
    assert capsysbinary.readouterr().out == (folder / "out.test").read_bytes()


COLLECTIONS = {
    "cranfield": "-q -c -M1000 -m all_trec",
    "trec_covid_r1_full24": "-q -c -M1000 -m all_trec -m ndcg_cut.10,20 -m rbp.p=0.5",
    "trec_covid_r1_depth100": "-q -c -M1000 -m all_trec -m ndcg_cut.10,20 -m rbp.p=0.5",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", COLLECTIONS)
def test_every_topic_of_every_run(name: str, data_dir: Path, sampled: Any) -> None:
    """Compare with every line of trec_eval 10.0's output for a whole collection."""
    folder = data_dir / name
    expected: dict[str, set[str]] = defaultdict(set)
    for row in gzip.decompress((folder / "trec_eval_10.0.tsv.gz").read_bytes()).decode().splitlines():
        of_run, label, rest = row.split("\t", 2)
        expected[of_run].add(f"{label:<22}\t{rest}")  # which was kept without the spaces
    del expected["run"]
    runs = sorted((folder / "runs").iterdir())
    assert {run.name.removesuffix(".gz") for run in runs} == set(expected)
    for run in sampled(runs, 40):
        options = read_options([*COLLECTIONS[name].split(), str(folder / "qrels.txt"), str(run)])
        printed = format_lines(trec_eval.evaluate(options), topics=True, summary=True)
        assert set(printed) == expected[run.name.removesuffix(".gz")], run.name


LEADERBOARD = {
    "MAP": "AP",
    "bpref": "Bpref",
    "ndcg@10": "nDCG@10",
    "p@5": "P@5",
    "RBP(p=.5)": "RBP(p=0.5,graded=True,max_grade=2)",
}


def test_official_leaderboard(data_dir: Path) -> None:
    """Compare with the TREC-COVID round 1 leaderboard of trec_eval 9, which reads 32-bit scores."""
    folder = data_dir / "trec_covid_r1_full24"
    runs = rankscope.read_runs(folder / "runs", order="trec_eval9")
    scores = rankscope.evaluate(rankscope.read_qrels(folder / "qrels.txt"), runs, list(LEADERBOARD.values()))
    means = scores.means()
    with (folder / "official_leaderboard.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert {row["run"] for row in rows} == set(means)
    for row in rows:
        for column, measure in LEADERBOARD.items():
            assert f"{means[row['run']][rankscope.measure(measure)]:.4f}" == row[column], (row["run"], column)


def test_64_bit_scores_change_one_run_of_the_leaderboard(data_dir: Path) -> None:
    """Scores of this run differ only beyond 32 bits, so that trec_eval 9 sees ties and trec_eval 10 does not."""
    folder = data_dir / "trec_covid_r1_full24"
    qrels = rankscope.read_qrels(folder / "qrels.txt")
    means = {
        order: rankscope.evaluate(
            qrels, rankscope.read_runs(folder / "runs" / "BERT.gz", order=order), ["AP"]
        ).means()
        for order in ("trec_eval9", "trec_eval")
    }
    commands = {order: f"{mean['BERT'][rankscope.measure('AP')]:.4f}" for order, mean in means.items()}
    assert commands == {"trec_eval9": "0.0653", "trec_eval": "0.0652"}
