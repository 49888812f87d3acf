"""``eval`` for the person at the terminal: what it warns of, what it shows, which topics, which level, which order."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import rankscope as rs
from rankscope.cli.main import main


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("eval") / "made"
    rs.simulate(systems=4, topics=9, grades=3, depth=30, seed=3, pool_depth=30).write(root)
    return root


def run_command(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, str, str]:
    try:
        code = main([*map(str, arguments)])
    except SystemExit as stop:
        code = int(stop.code or 0)
    return code, *capsys.readouterr()


def table(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines()]


def test_the_number_of_topics_is_in_the_table(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = folder / "qrels.txt", folder / "runs"
    _, out, _ = run_command(capsys, "eval", *files, "-m", "AP", "-f", "table")
    assert out.startswith("Means over 9 topics")
    run = sorted((folder / "runs").iterdir())[0]
    short = folder.parent / "short.txt"
    short.write_text("".join(line for line in run.read_text().splitlines(True) if line[:3] in ("301", "302")))
    _, out, err = run_command(capsys, "eval", *files, short, "-m", "AP", "-f", "table", "--missing", "skip")
    rows = {line[0]: line for line in table(out)}
    assert rows["run"][:2] == ["run", "topics"]
    assert (rows["short"][1], rows[run.stem][1]) == ("2", "9")
    assert "'short' has nothing for 7 of 9 judged topics (such as '303'), left out of its means" in err


def test_every_topic_is_a_table_of_topics_and_measures(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = sorted((folder / "runs").iterdir())[0]
    arguments = ("eval", folder / "qrels.txt", run, "-m", "AP NumRet", "-q", "-f")
    _, out, _ = run_command(capsys, *arguments, "table")
    lines = table(out[out.index("Every topic of ") :])
    assert lines[1] == ["topic", "AP", "NumRet"]
    values = rs.evaluate(folder / "qrels.txt", run, ["AP", "NumRet"]).per_topic()[run.stem]
    assert lines[3:] == [[t, f"{one[rs.AP]:.4f}", f"{one[rs.NumRet]:.0f}"] for t, one in values.items()]
    assert "topic,AP" not in run_command(capsys, *arguments, "csv")[1]  # programs get one value a line


@pytest.mark.parametrize("named", ["301,304-306", "file"])
def test_some_topics(named: str, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if named == "file":
        named = str(tmp_path / "topics.txt")
        Path(named).write_text("301\n304\n305\n306\n")
    arguments = ("eval", folder / "qrels.txt", folder / "runs", "-m", "AP", "--topics", named)
    answer = json.loads(run_command(capsys, *arguments, "-f", "json")[1])
    assert answer["settings"]["chosen_topics"] == ["301", "304", "305", "306"]
    all_scores = rs.evaluate(folder / "qrels.txt", folder / "runs", "AP")
    expected = all_scores.with_topics(["301", "304", "305", "306"]).means()
    assert {row["run"]: row["value"] for row in answer["tables"]["means"]} == {
        run: means[rs.AP] for run, means in expected.items()
    }
    assert {row["topics"] for row in answer["tables"]["means"]} == {4}
    code, _, err = run_command(capsys, *arguments[:-1], "351")
    assert (code, err) == (2, "rankscope: topic '351' has no judgments; did you mean 301?\n") or "351" in err


def test_the_level_of_relevance(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = folder / "qrels.txt", folder / "runs"
    answer = json.loads(
        run_command(capsys, "eval", *files, "-m", "AP P(rel=1)@5 nDCG", "-l", "2", "-f", "json")[1]
    )
    expected = rs.evaluate(*files, ["AP(rel=2)", "P(rel=2)@5", "nDCG"])
    assert answer["settings"]["measures"] == ["AP(rel=2)", "P(rel=2)@5", "nDCG"]
    assert [row["value"] for row in answer["tables"]["means"]] == [
        value for means in expected.means().values() for value in means.values()
    ]
    code, _, err = run_command(capsys, "eval", *files, "-m", "nDCG", "-l", "2")
    assert (code, err) == (
        2, "rankscope: no level of relevance in nDCG; name a measure that has one, such as AP\n",
    )  # fmt: skip


def test_the_order_of_the_runs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = folder / "qrels.txt", folder / "runs"
    means = rs.evaluate(*files, ["AP", "RR"]).means()
    names = list(means)

    def order(*more: str) -> list[str]:
        out = run_command(capsys, "eval", *files, "-m", "AP RR", "-f", "table", *more)[1]
        return [line[0] for line in table(out) if line[0] in names]

    by = {m: sorted(names, key=lambda run: -means[run][m]) for m in (rs.AP, rs.RR)}
    assert order() == by[rs.AP]
    assert order("--sort", "RR") == order("--sort", "mrr") == by[rs.RR]
    assert order("--sort", "run") == sorted(names)
    assert order("--sort", "input") == names
    assert order("--sort", "AP", "-l", "2")
    out = run_command(capsys, "eval", *files, "-m", "AP RR", "--sort", "RR")[1]
    assert list(dict.fromkeys(line[0] for line in table(out)[1:])) == by[rs.RR]
    assert run_command(capsys, "eval", *files, "-m", "AP", "--sort", "RR")[0] == 2


def test_complete_as_in_trec_eval(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = folder / "qrels.txt", folder / "runs"
    usual = run_command(capsys, "eval", *files)
    assert run_command(capsys, "eval", *files, "-c") == usual
    assert "(default: zero)" in " ".join(run_command(capsys, "eval", "--help")[1].split())


def test_a_note_warns_about_unjudged_and_tied_documents(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "qrels").write_text("1 0 a 1\n1 0 b 0\n")
    lines = [f"1 Q0 {name} {rank} {5 - rank} t\n" for rank, name in enumerate("abcd", 1)]
    (tmp_path / "unjudged").write_text("".join(lines))
    (tmp_path / "tied").write_text("1 Q0 a 1 1.0 t\n1 Q0 b 2 1.0 t\n")
    (tmp_path / "fine").write_text("1 Q0 a 1 2.0 t\n1 Q0 b 2 1.0 t\n")
    files = [tmp_path / name for name in ("qrels", "unjudged", "tied", "fine")]
    code, out, err = run_command(capsys, "eval", *files, "-m", "AP")
    assert code == 0
    assert err == (
        "rankscope: 50% of the first ten documents of 'unjudged' are unjudged and count as not relevant;"
        " --unjudged bounds shows their possible effect\n"
        "rankscope: 100% of the documents of 'tied' have tied scores; --order decides their ranks,"
        " and rankscope orderings shows the effect\n"
    )
    assert run_command(capsys, "eval", *files, "-m", "AP", "--quiet") == (0, out, "")
    assert run_command(capsys, "eval", files[0], files[3], "-m", "AP")[2] == ""


@pytest.mark.parametrize("option", ["--order rank", "--grades 1=0", "--columns doc=id", "--input-format csv"])
@pytest.mark.parametrize("command", ["eval", "compare"])
def test_saved_scores_reject_options_that_read_rankings(
    command: str, option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    saved = tmp_path / "scores.csv"
    saved.write_text("topic,a,b\n1,0.1,0.2\n2,0.3,0.5\n3,0.2,0.2\n")
    assert run_command(capsys, command, "--scores", saved)[0] == 0
    code, _, err = run_command(capsys, command, "--scores", saved, *option.split())
    assert code == 2 and "how to read QRELS and RUN" in err
