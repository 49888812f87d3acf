"""Scores in the forms in which other programs write them."""

from __future__ import annotations

import contextlib
import io
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankscope as rs
from rankscope.cli.main import main
from rankscope.errors import InputError
from rankscope.read.score_rows import parse_bare_rows

QRELS = "1 0 d1 1\n1 0 d2 0\n1 0 d4 1\n2 0 d3 2\n2 0 d1 1\n3 0 d5 1\n"
RUNS = {
    "bm25": "1 Q0 d2 1 2.5 bm25\n1 Q0 d1 2 1.5 bm25\n2 Q0 d3 1 9 bm25\n3 Q0 d6 1 9 bm25\n3 Q0 d5 2 1 bm25\n",
    "dense": "1 Q0 d1 1 2.5 dense\n1 Q0 d4 2 1.5 dense\n2 Q0 d1 1 9 dense\n3 Q0 d5 1 9 dense\n",
}


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "q.txt").write_text(QRELS)
    for name, text in RUNS.items():
        (tmp_path / f"{name}.run").write_text(text)
    return tmp_path


def evaluated(files: Path, measures: str = "AP nDCG@10") -> rs.Scores:
    return rs.evaluate(files / "q.txt", [files / "bm25.run", files / "dense.run"], measures)


def printed(main_of: Any, arguments: list[str]) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        main_of(arguments)
    return out.getvalue()


def same(scores: rs.Scores, expected: rs.Scores, digits: float = 1e-12) -> None:
    assert scores.runs == expected.runs
    assert scores.topics == expected.topics
    for measure in expected.measures:
        np.testing.assert_allclose(
            scores.matrix(measure).values, expected.matrix(measure).values, rtol=0, atol=digits
        )


def test_output_of_trec_eval(files: Path, capsys: Any) -> None:
    for name in RUNS:
        assert main(["trec_eval", "-q", "-c", str(files / "q.txt"), str(files / f"{name}.run")]) == 0
        (files / f"{name}.eval").write_text(capsys.readouterr().out)
    scores = rs.read_scores(files / "bm25.eval", files / "dense.eval")
    same(scores, evaluated(files, "AP P@5 RR Rprec Bpref IPrec@0.1 NumRel"), 5e-5)
    assert scores.settings["scores"] == [str(files / "bm25.eval"), str(files / "dense.eval")]
    for command in ("compare", "correlate", "power"):
        options = [f"--scores={files / 'bm25.eval'}", f"--scores={files / 'dense.eval'}"]
        assert main([command, *options, "-f", "json"]) == 0
        assert str(files / "dense.eval") in capsys.readouterr().out


def test_output_of_ir_measures(files: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    ir_measures = pytest.importorskip("ir_measures.__main__")
    for output, end in (("tsv", "txt"), ("jsonl", "jsonl")):
        paths = []
        for name in RUNS:
            arguments = [
                "-q",
                "--output",
                output,
                str(files / "q.txt"),
                str(files / f"{name}.run"),
                "AP nDCG@10",
            ]
            monkeypatch.setattr(sys, "argv", ["ir_measures", *arguments])
            ir_measures.main_cli()
            paths.append(files / f"{name}.{end}")
            paths[-1].write_text(capsys.readouterr().out)
        same(rs.read_scores(*paths), evaluated(files), 5e-5)


def test_metrics_of_ir_measures(files: Path) -> None:
    ir_measures = pytest.importorskip("ir_measures")
    qrels = ir_measures.read_trec_qrels(str(files / "q.txt"))
    run = ir_measures.read_trec_run(str(files / "bm25.run"))
    metrics = list(ir_measures.iter_calc([ir_measures.AP, ir_measures.nDCG @ 10], qrels, run))
    scores = rs.read_scores(metrics)
    expected = rs.evaluate(files / "q.txt", files / "bm25.run", "AP nDCG@10")
    assert scores.measures == expected.measures
    for measure in expected.measures:
        values = dict(zip(scores.topics, scores.matrix(measure).values[0], strict=True))
        assert values == pytest.approx(
            dict(zip(expected.topics, expected.matrix(measure).values[0], strict=True))
        )


def test_our_own_output(files: Path) -> None:
    expected = evaluated(files)
    for name in ("s.csv", "s.tsv", "s.json"):
        arguments = ["eval", str(files / "q.txt"), str(files / "bm25.run"), str(files / "dense.run"), "-q"]
        assert main([*arguments, "-m", "AP nDCG@10", "-o", str(files / name)]) == 0
        same(rs.read_scores(files / name), expected)
    with pytest.raises(
        InputError, match=r"m\.json: there are no scores of topics; write it with: rankscope eval -q"
    ):
        main_of = [*arguments[:-1], "-o", str(files / "m.json")]
        assert main(main_of) == 0
        rs.read_scores(files / "m.json")


def test_frames(files: Path) -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    expected = evaluated(files)
    same(rs.read_scores(expected.to_pandas()), expected)
    same(rs.read_scores(expected.to_polars()), expected)
    same(rs.read_scores(expected.to_arrow()), expected)
    perquery = expected.to_pandas().rename(columns={"run": "name", "topic": "qid"})
    same(rs.read_scores(perquery), expected)
    wide = pandas.DataFrame(
        {"topic": expected.topics} | dict(zip(expected.runs, expected.values[0], strict=True))
    )
    scores = rs.read_scores({"AP": wide})
    np.testing.assert_array_equal(scores.values[0], expected.values[0])
    perquery.to_parquet(files / "s.parquet")
    same(rs.read_scores(files / "s.parquet"), expected)
    assert polars is not None


def test_scores_of_an_unknown_measure_are_read(files: Path, capsys: Any) -> None:
    """Such as those of nuggets, or of a language model that judges answers."""
    path = files / "nuggets.txt"
    rows = [
        (run, "vital_recall", topic, (r + 1) * t / 10)
        for r, run in enumerate("abc")
        for t, topic in enumerate("123", 1)
    ]
    path.write_text("".join(f"{run}\t{name}\t{topic}\t{value}\n" for run, name, topic, value in rows))
    assert main(["compare", "--scores", str(path), "-f", "json"]) == 0
    assert "vital_recall" in capsys.readouterr().out
    scores = rs.read_scores(path)
    assert scores.topics == ("1", "2", "3")
    assert scores.mean("vital_recall").tolist() == pytest.approx([0.2, 0.4, 0.6])


def test_columns_of_files_without_a_header_are_recognised() -> None:
    def is_measure(text: str) -> bool:
        return text in ("AP", "map")

    def header(*rows: str) -> list[str]:
        return parse_bare_rows(enumerate(map(str.split, rows), 1), is_measure, "x").header

    assert header("map 301 .5", "map all .5") == ["measure", "topic", "value"]
    assert header("301 AP .5", "all AP .5") == ["topic", "measure", "value"]
    assert header("301 AP .5", "302 AP .5") == ["topic", "measure", "value"]
    assert header("nuggets 301 .5", "nuggets 302 .5") == ["measure", "topic", "value"]
    assert header("bm25 301 AP .5") == ["run", "topic", "measure", "value"]
    assert header("bm25 map 301 .5") == ["run", "measure", "topic", "value"]
    assert header("bm25 nuggets 301 .5", "bm25 nuggets all .5") == ["run", "measure", "topic", "value"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("map\t1\t.5\nmap\t1\t.25\n", r"x\.txt:2: map of 'x' on topic '1' occurs twice"),
        ("map\t1\t.5\nmap\t2\n", r"x\.txt:2: 2 fields where the first line has 3"),
        ("map\tall\t.5\n", r"x\.txt: there are only means, and no score of a topic; write them with -q"),
        ("map\t1\t.5\nmap\t2\thigh\n", r"x\.txt:2: the score 'high' of 'x' is not a number"),
        (
            '{"topic": "1", "measure": "AP", "value": 1}\n[1]\n',
            r"x\.txt:2: the text is not valid JSON|:2: the line is not",
        ),
        ("[]", r"x\.txt: this JSON has no scores"),
    ],
)
def test_bad_files(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "x.txt").write_text(text)
    with pytest.raises(InputError, match=message):
        rs.read_scores(tmp_path / "x.txt")


def test_a_matrix_is_as_good_as_scores(files: Path) -> None:
    scores = evaluated(files, "AP")
    matrix = scores.matrix("AP")
    assert rs.compare(matrix)["pairs"].rows == rs.compare(scores)["pairs"].rows
    assert rs.power(matrix, "t")["power"].rows == rs.power(scores, "t")["power"].rows
    assert rs.gate(matrix, "bm25")["gate"].rows == rs.gate(scores, "bm25")["gate"].rows
    assert rs.leaderboard(matrix).tables.keys() == rs.leaderboard(scores).tables.keys()
    with pytest.raises(InputError, match="correlation needs at least two measures"):
        rs.correlate(matrix, "kendall")


@pytest.mark.slow
def test_official_output_of_trec_eval(data_dir: Path) -> None:
    scores = rs.read_scores(data_dir / "cranfield" / "trec_eval_10.0.tsv.gz")
    runs = data_dir / "cranfield" / "runs"
    expected = rs.evaluate(data_dir / "cranfield" / "qrels.txt", runs, "AP P@10")
    for measure in expected.measures:
        official, computed = scores.matrix(measure), expected.matrix(measure)
        rows = [official.runs.index(run) for run in computed.runs]
        columns = [official.topics.index(topic) for topic in computed.topics]
        np.testing.assert_allclose(
            official.values[np.ix_(rows, columns)], computed.values, rtol=0, atol=5.1e-5
        )


def test_a_topic_called_like_the_means_is_not_lost(tmp_path: Path) -> None:
    """It would be taken for the mean: refused, with what to do."""
    (tmp_path / "q.txt").write_text(QRELS.replace("3 0", "all 0"))
    (tmp_path / "bm25.run").write_text(RUNS["bm25"].replace("3 Q0", "all Q0"))
    files = [str(tmp_path / name) for name in ("q.txt", "bm25.run")]
    main(["eval", *files, "-m", "AP", "-q", "-f", "csv", "-o", str(tmp_path / "scores.csv")])
    with pytest.raises(
        InputError, match=r"AP of 'bm25' has two values under 'all'.*give the topic another name"
    ):
        rs.read_scores(tmp_path / "scores.csv")


def test_a_topic_called_all_is_kept_in_json_that_has_its_means_elsewhere(tmp_path: Path, capsys: Any) -> None:
    """``compare --scores`` left it out, and the difference changed its sign."""
    files = []
    for name in RUNS:
        (tmp_path / f"{name}.run").write_text(RUNS[name].replace("3 Q0", "all Q0"))
        files.append(str(tmp_path / f"{name}.run"))
    (tmp_path / "q.txt").write_text(QRELS.replace("3 0", "all 0"))
    words = [str(tmp_path / "q.txt"), *files, "-m", "AP", "-q", "-f", "json"]
    main(["eval", *words, "-o", str(tmp_path / "scores.json")])
    scores = rs.read_scores(tmp_path / "scores.json")
    direct = rs.evaluate(tmp_path / "q.txt", files, "AP")
    assert set(scores.topics) == set(direct.topics) and "all" in scores.topics
    assert scores.mean("AP").tolist() == pytest.approx(direct.mean("AP").tolist(), abs=1e-15)
    rows = json.loads((tmp_path / "scores.json").read_text())["tables"]["topics"]
    (tmp_path / "rows.json").write_text(json.dumps(rows))
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for path in (tmp_path / "rows.json", tmp_path / "rows.jsonl"):
        with pytest.raises(
            InputError, match=r"'all' may be a topic: its AP is not the mean .*; remove the means"
        ):
            rs.read_scores(path)
