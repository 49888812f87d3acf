"""Score matrices that others computed: every plain form is read, every mistake is named with its line."""

from __future__ import annotations

import gzip
import pickle

import numpy as np
import pytest

import rankscope as rs
from rankscope.errors import InputError, SettingsError
from rankscope.read.scores import read_score_tables


@pytest.mark.parametrize(
    "text, topics",
    [
        ("a,b\n.5,1\n0,2e-1\n", ("1", "2")),
        ("topic,a,b\n351,.5,1\n352,0,.2\n", ("351", "352")),
        ("\ufeffqid,a,b\r\n351,.5,1\r\n\r\n352,0,.2", ("351", "352")),
        ('"",a,b\n"q,1",.5,1\n"q\n2",0,.2\n', ("q,1", "q\n2")),
        ("system,a,b\nfirst,.5,1\nsecond,0,.2\n", ("first", "second")),
    ],
)
def test_topics_are_found(text, topics):
    table = read_score_tables(text.encode())[""]
    assert table.runs == ("a", "b")
    assert table.topics == topics
    assert table.values.tolist() == [[0.5, 0], [1, 0.2]]


def test_undefined_values():
    table = read_score_tables(b"topic,a,b\n1,,NaN\n2,na,0\n")[""]
    assert np.isnan(table.values).tolist() == [[True, True], [True, False]]


def test_names_are_text_whatever_they_are():
    table = read_score_tables("topic,a\u2028b,\x1b[31m\n1,0,1\n".encode())[""]
    assert table.runs == ("a\u2028b", "\x1b[31m")
    assert read_score_tables(b"topic,caf\xe9\n1,0\n")[""].runs == ("caf\udce9",)


@pytest.mark.parametrize(
    "text, message",
    [
        (b"", "no score"),
        (b"topic,a,b\n", "no score"),
        (b"topic,a,b\n1,0\n", r":2: 2 cells where the first line has 3"),
        (b"topic,a,b\n1,0,1\n2,0,high\n", r":3: the score 'high' of 'b' is not a number"),
        (b"topic,a,b\n1,0,inf\n", "is not a number"),
        (b"topic,a,b\n1,0,1_0\n", "is not a number"),
        (b"topic,a,a\n1,0,1\n", r":1: the system 'a' occurs twice"),
        (b"topic,a,b\n1,0,1\n1,0,1\n", "the topic '1' occurs twice"),
        (b"topic\n1\n", "there is no system"),
        (b"topic,a\n1,\0\n", "binary"),
    ],
)
def test_mistakes_are_named(text, message):
    with pytest.raises(InputError, match=message):
        read_score_tables(text, "scores.csv")


@pytest.fixture
def files(tmp_path):
    (tmp_path / "ap.csv").write_text("topic,x,y\n1,.5,.25\n2,.5,.75\n3,1,0\n")
    (tmp_path / "p10.csv.gz").write_bytes(gzip.compress(b"topic,x,y\n1,.1,.2\n2,.3,.4\n3,,.6\n"))
    return tmp_path


def test_files_become_scores(files):
    scores = rs.read_scores({"AP": files / "ap.csv", "P@10": files / "p10.csv.gz"})
    assert scores.runs == ("x", "y")
    assert scores.topics == ("1", "2", "3")
    assert scores.measures == (rs.AP, rs.P @ 10)
    assert scores.mean("AP").tolist() == pytest.approx([2 / 3, 1 / 3])
    assert scores.mean("P@10").tolist() == pytest.approx([0.2, 0.4])  # undefined values are left out
    assert scores.settings["measures"] == ["AP", "P@10"]


def test_names_without_a_measure_stand_for_values(files):
    scores = rs.read_scores(files / "ap.csv", {"official score": files / "p10.csv.gz"})
    assert [str(m) for m in scores.measures] == ["ap", "official score"]
    assert scores.matrix("official score").shape == (2, 3)
    assert pickle.loads(pickle.dumps(scores.measures)) == scores.measures
    with pytest.warns(UserWarning, match="official score is undefined on 1 of 3 topics"):
        power = rs.power(scores, "t")["power"].records()
    assert [row["topics"] for row in power] == [3, 2]
    with pytest.raises(InputError, match="only values read from a file"):
        rs.evaluate({"q": {"a": 1}}, {"q": ["a"]}, scores.measures[0])
    with pytest.raises(InputError):
        scores.matrix("nDCG")


def test_matrices_must_fit_together(files):
    (files / "z.csv").write_text("topic,x,z\n1,0,0\n2,0,0\n3,0,0\n")
    with pytest.raises(InputError, match="its systems are not those of"):
        rs.read_scores(files / "ap.csv", files / "z.csv")
    (files / "z.csv").write_text("topic,x,y\n1,0,0\n2,0,0\n")
    with pytest.raises(InputError, match="its topics are not those of"):
        rs.read_scores(files / "ap.csv", files / "z.csv")
    with pytest.raises(InputError, match="two files hold AP"):
        rs.read_scores({"AP": files / "ap.csv"}, {"AP": files / "ap.csv"})
    with pytest.raises(SettingsError, match="no file"):
        rs.read_scores()
    with pytest.raises(InputError, match=r"absent\.csv"):
        rs.read_scores(files / "absent.csv")


@pytest.mark.parametrize(
    "file, name",
    [
        ("bm25.results", "bm25"),
        ("bm25.eval.gz", "bm25"),
        ("run.p10.measured", "run.p10.measured"),  # no ending, but a part of the name
        ("v1.2", "v1.2"),
        (".hidden", ".hidden"),
        ("a.b.c.d", "a.b"),
    ],
)
def test_scores_without_the_name_of_a_run_are_called_after_their_file(tmp_path, file, name):
    lines = b"map\t1\t0.5\nmap\t2\t0.25\nmap\tall\t0.375\n"
    (tmp_path / file).write_bytes(gzip.compress(lines) if file.endswith(".gz") else lines)
    assert rs.read_scores(tmp_path / file).runs == (name,)


def test_lines_about_the_run_are_no_scores():
    from rankscope.read.score_rows import parse_bare_rows

    lines = [(1, ["runid", "all", "bm25"]), (2, ["map", "q", "0.5"]), (3, ["relstring", "q", "'10'"])]
    result = parse_bare_rows(lines, str.islower, "x")
    assert result.rows == [(2, ["map", "q", "0.5"])]
    assert result.run == "bm25"


@pytest.mark.parametrize("seed", range(5))
def test_long_tables_are_the_same_of_texts_and_of_numbers(seed):
    """Columns of only text are parsed by distinct value; columns that contain a number, cell by cell."""
    chance = np.random.default_rng(seed)
    keys = [(r, t, m) for r in "ab" for t in ("1", "2", "all") for m in ("map", "P_5", "runid")]
    rows = [keys[i] for i in chance.permutation(len(keys))[: int(chance.integers(6, len(keys)))]]
    rows = [*rows, ("c", "7", "map")]
    values = [str(chance.integers(100) / 100) for _ in rows]
    names = ("run", "topic", "measure")
    texts = {name: [row[i] for row in rows] for i, name in enumerate(names)} | {"value": values}
    mixed = {**texts, "value": [*values[:-1], float(values[-1])]}
    for item, other in zip(*(read_score_tables(table).items() for table in (texts, mixed)), strict=True):
        assert (item[0], item[1].runs, item[1].topics) == (other[0], other[1].runs, other[1].topics)
        np.testing.assert_array_equal(item[1].values, other[1].values)


@pytest.mark.parametrize(
    "more, message",
    [
        ("a,1,AP,.5", r"3.*AP of 'a' on topic '1' occurs twice"),
        ("a,2,AP,x", r"3.*the score 'x' of 'a' is not a number"),
        ("a,2,AP", r"3.*3 cells where the first line has 4"),
    ],
)
def test_errors_in_a_long_table_name_the_line(more, message):
    with pytest.raises(InputError, match=message):
        read_score_tables(f"run,topic,measure,value\na,1,AP,.25\n{more}\n".encode())
