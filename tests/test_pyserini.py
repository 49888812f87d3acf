"""The drop-in for ``python -m pyserini.eval.trec_eval``; expected values are counted by hand."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from rankscope.cli.trec_eval import main as trec_eval_main
from rankscope.errors import InputError, SettingsError
from rankscope.pyserini import trec_eval

QRELS = "q1 0 d1 1\nq1 0 d2 0\nq2 0 d1 1\nq3 0 d7 1\n"
RUN = (
    "q1 Q0 d9 1 3 bm25\nq1 Q0 d1 2 2 bm25\nq1 Q0 d2 3 1 bm25\n"
    "q2 Q0 d8 1 2 bm25\nq2 Q0 d1 2 1 bm25\nq3 Q0 d5 1 1 bm25\n"
)


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    for name, text in (("qrels.txt", QRELS), ("run.txt", RUN)):
        (tmp_path / name).write_text(text)
    return [str(tmp_path / "qrels.txt"), str(tmp_path / "run.txt")]


def output(capfd: pytest.CaptureFixture[str]) -> list[list[str]]:
    sys.stdout.flush()
    return [[field.strip() for field in line.split("\t")] for line in capfd.readouterr().out.splitlines()]


def test_options_and_output_are_those_of_trec_eval(
    files: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    arguments = ["-q", "-c", "-m", "map", "-m", "P.1,2", *files]
    trec_eval_main(arguments)
    expected = output(capfd)
    assert trec_eval(["trec_eval", *arguments]) == 0.3333  # P_2, the last measure: (1/2 + 1/2 + 0) / 3
    assert output(capfd) == expected
    assert trec_eval(["trec_eval", *arguments], query_id="q2") == 0.5
    values = trec_eval(["", *arguments], return_per_query_results=True)
    assert values == {"q1": 0.5, "q2": 0.5, "q3": 0.0, "all": 0.3333}


def test_judged_counts_the_first_rows_of_every_topic(
    files: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    assert trec_eval(["", "-c", "-m", "judged.1,2,10", *files]) == 0.5
    assert output(capfd) == [  # 0 of 3, 2 of 5, 3 of 6
        ["judged_1", "all", "0.0000"],
        ["judged_2", "all", "0.4000"],
        ["judged_10", "all", "0.5000"],
    ]
    trec_eval(["", "-m", "recip_rank", "-m", "judged.2", *files])
    assert output(capfd) == [["recip_rank", "all", "0.3333"], ["judged_2", "all", "0.4000"]]


def test_unjudged_documents_are_removed_before_everything_else(
    files: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    arguments = ["", "-m", "recip_rank", "-m", "judged.1", *files, "-remove-unjudged"]
    trec_eval(arguments)  # Nothing of q3 remains, and without -c it is not in the mean.
    assert output(capfd) == [["recip_rank", "all", "1.0000"], ["judged_1", "all", "1.0000"]]
    trec_eval([*arguments, "-c"])
    assert output(capfd)[0] == ["recip_rank", "all", "0.6667"]


def test_runs_of_ms_marco_are_converted(files: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    Path(files[1]).write_text("q1\td9\t1\nq1\td1\t2\nq2\td1\t1\n")
    assert trec_eval(["", "-c", "-m", "runid", "-m", "recip_rank", *files]) == 0.5  # (1/2 + 1 + 0) / 3
    assert output(capfd)[:2] == [
        ["msmarco run detected. Converting to trec..."],
        ["runid", "all", "TEMPRUN"],
    ]
    Path(files[1]).write_text("q1\td9\tfirst\n")
    with pytest.raises(InputError, match="row 1: the rank 'first'"):
        trec_eval(["", "-m", "map", *files])


def test_scores_are_compared_with_32_bits_as_in_pyserini(
    files: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    Path(files[1]).write_text("q1 Q0 d1 1 1.000000002 x\nq1 Q0 d9 2 1.000000001 x\n")
    assert trec_eval(["", "-m", "recip_rank", *files]) == 0.5
    assert trec_eval(["", "-m", "recip_rank", "--order", "trec_eval", *files]) == 1.0


def test_mistakes_are_explained(files: list[str]) -> None:
    with pytest.raises(InputError, match="msmarco-passage-dev: no such file of judgments; give the path"):
        trec_eval(["", "-m", "map", "msmarco-passage-dev", files[1]])
    with pytest.raises(SettingsError, match="has no cutoff"):
        trec_eval(["", "-m", "judged.x", *files])
    with pytest.raises(SettingsError, match="add -q"):
        trec_eval(["", "-m", "map", *files], query_id="q1")
    Path(files[1]).write_text("q1 Q0 d9 1 3\n")
    with pytest.raises(InputError, match="row 1 has 5 fields"):
        trec_eval(["", "-m", "judged.1", *files])


def test_the_module_is_a_program(files: list[str]) -> None:
    command = [sys.executable, "-m", "rankscope.pyserini", "-c", "-m", "map", "-m", "judged.2"]
    result = subprocess.run([*command, *files], capture_output=True, text=True, check=True)
    assert result.stdout.split() == ["map", "all", "0.3333", "judged_2", "all", "0.4000"]
    failed = subprocess.run([*command, "beir", files[1]], capture_output=True, text=True, check=False)
    assert (failed.returncode, failed.stdout, failed.stderr.count("\n")) == (2, "", 1)
