"""ndeval's command line; its numbers are tested against the official outputs among the golden tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from rankscope.cli.main import main

QRELS = """\
1 1 d1 1
1 2 d1 0
1 1 d2 0
1 2 d2 2
2 1 d1 1
2 1 d3 1
10 1 d9 1
"""


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    texts = {
        "qrels": QRELS,
        # the rank column and the scores disagree; topic 3 has no judgments
        "run": "1 Q0 d1 1 1.0 mine\n1 Q0 d2 2 2.0 mine\n2 Q0 d3 1 9 mine\n3 Q0 d1 1 9 mine\n",
        "other": "1 Q0 d2 1 1.0 base\n10 Q0 d9 1 1 base\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    return {name: str(tmp_path / name) for name in texts}


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, str]]:
    assert main(["ndeval", *arguments]) == 0
    lines = [line.split(",") for line in capsys.readouterr().out.splitlines()]
    return [dict(zip(lines[0], line, strict=True)) for line in lines[1:]]


def test_topics_by_number_and_the_mean_over_judged_ones(
    files: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    rows = printed(capsys, files["qrels"], files["run"])
    assert [(row["runid"], row["topic"]) for row in rows] == [("mine", t) for t in ("1", "2", "3", "amean")]
    assert [row["MAP-IA"] for row in rows] == ["0.750000", "0.500000", "0.000000", "0.625000"]
    complete = printed(capsys, "-c", files["qrels"], files["run"])
    assert complete[-1]["MAP-IA"] == "0.416667"  # three judged topics


def test_both_orderings(files: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    by_rank = printed(capsys, "-M", "1", files["qrels"], files["run"])[0]
    by_score = printed(capsys, "-traditional", "-M", "1", files["qrels"], files["run"])[0]
    assert by_rank["strec@5"] == by_score["strec@5"] == "0.500000"
    whole = printed(capsys, files["qrels"], files["run"])[0]
    assert whole["strec@5"] == "1.000000"
    assert whole["P-IA@5"] == "0.200000" and by_rank["P-IA@5"] == "0.100000"


@pytest.mark.parametrize("end", ["0", "1"])
def test_alpha_and_beta_may_be_the_ends_of_their_range(
    end: str, files: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert printed(capsys, "-alpha", end, "-beta", end, files["qrels"], files["run"])


def test_alpha_changes_the_measures_that_use_it(
    files: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    plain = printed(capsys, files["qrels"], files["run"])[1]
    other = printed(capsys, "-alpha", "0.1", "-beta", "0.9", files["qrels"], files["run"])[1]
    changed = {name for name in plain if plain[name] != other[name]}
    assert {"NRBP", "nNRBP", "alpha-DCG@5", "ERR-IA@5"} <= changed
    assert not changed & {"MAP-IA", "P-IA@5", "strec@5"}


def test_risk_against_a_baseline(files: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    rows = printed(capsys, "-baseline", files["other"], "-riskAlpha", "2", files["qrels"], files["run"])
    assert {row["runid"] for row in rows} == {"mine (rel to. base; rs=1+a; a=2)"}
    # topic 1: 0.75 against 0.5; topic 2: 0.5 against nothing; topic 3 is not judged
    assert [row["MAP-IA"] for row in rows] == ["0.250000", "0.500000", "0.000000", "0.250000"]
    output = printed(
        capsys, "-c", "-baseline", files["other"], "-riskAlpha", "2", files["qrels"], files["run"]
    )
    # topic 10 is lost, and counts three times
    assert [row["topic"] for row in output] == ["1", "2", "3", "10", "amean"]
    assert output[3]["MAP-IA"] == "-3.000000"
    assert output[4]["MAP-IA"] == f"{(0.25 + 0.5 - 3) / 4:.6f}"


def test_several_runs_and_a_file(files: dict[str, str], tmp_path: Path) -> None:
    target = tmp_path / "out.csv"
    assert main(["ndeval", "-o", str(target), files["qrels"], files["run"], files["other"]]) == 0
    lines = target.read_text().splitlines()
    assert lines[0].startswith("runid,topic,ERR-IA@5,") and len(lines) == 1 + 4 + 3


@pytest.mark.parametrize(
    "flags, message",
    [
        (["-alpha", "2"], "alpha 2.0; alpha lies between 0 and 1"),
        (["-M", "0"], "depth 0; give a number of ranks from 1 on"),
        (["-riskAlpha", "-1"], "riskAlpha '-1'; give a number from 0 on"),
        (["-riskAlpha", "much"], "riskAlpha 'much'; give a number from 0 on"),
    ],
)
def test_wrong_flags(
    flags: list[str], message: str, files: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["ndeval", *flags, files["qrels"], files["run"]]) == 2
    assert capsys.readouterr().err == f"rankscope: {message}\n"
