"""`rankscope trec_eval` on inputs that C trec_eval rejects or reads otherwise."""

from __future__ import annotations

from pathlib import Path

import pytest

from rankscope.cli.main import main
from rankscope.read import read_qrels

RUN = "1 Q0 a 1 2.0 r\n1 Q0 b 2 1.0 r\n"


def run_command(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    code = main(["trec_eval", *map(str, words)])
    return code, *capsys.readouterr()


def files(folder: Path, qrels: str, run: str) -> tuple[Path, Path]:
    (folder / "q").write_text(qrels)
    (folder / "r").write_text(run)
    return folder / "q", folder / "r"


def test_a_repeated_judgment_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    qrels, run = files(tmp_path, "1 0 a 1\n1 0 b 1\n1 1 a 1\n", RUN)
    code, out, err = run_command(capsys, "-m", "map", qrels, run)
    assert (code, out) == (2, "")
    assert (
        err
        == f"rankscope: {qrels}:3: document 'a' of topic '1' is judged 1 again; keep one of the two judgments\n"
    )
    with pytest.warns(UserWarning, match="1 judgment is repeated with the same grade"):
        assert len(read_qrels(qrels, aspects=False).documents) == 2


@pytest.mark.parametrize(
    ("qrels", "run", "problem"),
    [
        ("1 0 b 2.0\n1 0 a 1.5\n", RUN, "q:2: this analysis needs grades, and 1.5 is not a whole number"),
        ("1 0 b 0\n1 0 a 1e1\n", RUN, "q:2: a grade is not an integer; trec_eval reads integers"),
        ("1 0 a 1\n", RUN.replace("2.0", "nan"), "r:1: NaN score"),
    ],
)
def test_fractions_of_grades_and_scores_that_are_not_numbers_are_errors(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], qrels: str, run: str, problem: str
) -> None:
    code, out, err = run_command(capsys, *files(tmp_path, qrels, run))
    assert (code, out, err.count("\n")) == (2, "", 1) and problem in err


def test_a_note_names_the_order_of_trec_eval_9_if_that_changes_a_printed_mean(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    near = "1 Q0 a 1 1.00000002 r\n1 Q0 b 2 1.00000001 r\n"
    qrels, run = files(tmp_path, "1 0 a 1\n1 0 b 0\n", near)
    code, out, err = run_command(capsys, "-m", "map", "-m", "recip_rank", qrels, run)
    assert (code, out.split()) == (0, ["map", "all", "1.0000", "recip_rank", "all", "1.0000"])
    assert err == (
        "rankscope: trec_eval 9 reads scores as 32-bit numbers and has other ties: map is 0.5000 there and 1.0000 here"
        " and 1 more; --order trec_eval9 prints its values\n"
    )
    code, out, err = run_command(capsys, "--order", "trec_eval9", "-m", "map", qrels, run)
    assert (code, out.split(), err) == (0, ["map", "all", "0.5000"], "")
    assert run_command(capsys, "-m", "num_rel_ret", qrels, run)[2] == ""  # ties change no printed number
    assert run_command(capsys, "-n", "-q", "-m", "map", qrels, run)[2] == ""  # no mean is printed
    assert (
        run_command(capsys, "--order", "ascending_id", "-m", "map", *files(tmp_path, "1 0 a 1\n", RUN))[0]
        == 0
    )
    code, _, err = run_command(capsys, "--order", "x", qrels, run)
    assert code == 2 and "unknown order 'x'" in err


def test_columns_without_a_header_are_rejected_as_trec_eval_does(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    qrels, run = tmp_path / "q.txt", tmp_path / "r.txt"
    qrels.write_text("2 d5 1\n")
    run.write_text("2 Q0 d5 1 3 tag\n")
    assert main(["trec_eval", str(qrels), str(run)]) == 2
    assert "trec_eval reads lines of: topic iteration document grade" in capsys.readouterr().err
    qrels.write_text("2 0 d5 1\n")
    run.write_text("2\td5\t1\n")
    assert main(["trec_eval", str(qrels), str(run)]) == 2
    assert "trec_eval reads lines of: topic Q0 document rank score tag" in capsys.readouterr().err
