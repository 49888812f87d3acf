"""Files are what they contain: every format of docs/inputs.md, and what is refused."""

from __future__ import annotations

import importlib
import importlib.util
import io
import json
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankscope as rs
from rankscope.cli.main import main
from rankscope.errors import InputError, MissingDependencyError, SettingsError
from rankscope.read.compression import BLOCK
from rankscope.read.formats import detect_format_of_head
from rankscope.read.source import Source

DOCS = Path(__file__).parents[2] / "docs"


def _script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_inputs", DOCS / "make_inputs.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["make_inputs"] = module
    spec.loader.exec_module(module)
    return module


INPUTS = _script()
QRELS, RUN = INPUTS.TREC_QRELS, INPUTS.TREC_RUN


def named(case: Any) -> str:
    return f"{case.kind}-{case.name}"


@pytest.mark.parametrize("case", INPUTS.CASES, ids=named)
def test_every_row_of_the_page(case: Any, tmp_path: Path) -> None:
    assert INPUTS.tried(case, tmp_path) == (True, True, True)


def test_the_page_is_up_to_date() -> None:
    assert INPUTS.PAGE.read_text() == INPUTS.page(), "run python docs/make_inputs.py"


@pytest.fixture
def files(tmp_path: Path) -> SimpleNamespace:
    (tmp_path / "q.txt").write_text(QRELS)
    (tmp_path / "bm25.run").write_text(RUN)
    return SimpleNamespace(folder=tmp_path, qrels=tmp_path / "q.txt", run=tmp_path / "bm25.run")


def write_file(files: SimpleNamespace, name: str, text: str) -> Path:
    path: Path = files.folder / name
    path.write_text(text)
    return path


# what is recognised -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("head", "kind", "expected"),
    [
        (b"", "run", "trec"),
        (b"# a comment\n\n301 Q0 d1 1 2 t\n", "run", "trec"),
        (b'{"q Q0 d1 1 2 t\n', "run", "trec"),  # a strange topic
        (b"[1] Q0 d1 1 2 t\n", "run", "trec"),
        (b"301 Q0 d1 x 2 t\n", "run", "trec"),
        (b"301 0 d1 1\n", "run", "trec"),  # judgments, which the scanner refuses by line
        (b"1 0 7 1\n1 0 9 1\n", "run", "trec"),  # the same with numbers as ids
        (b"1 7 1 3.5\n1 9 2 2.5\n", "run", "columns"),
        (b"1 7 0\n1 9 1\n", "run", "columns"),
        (b"1 7 0.5\n1 9 0.25\n", "run", "columns"),
        (b"301 0 d1\n", "qrels", "trec"),
        (b"301 d1 1\n302 0 d1 1\n303 0 d1 1\n304 0 d1 1\n", "qrels", "trec"),  # one line is wrong
        (b'{"1": {"d": 1}}', "qrels", "json"),
        (b'[{"qid": 1,', "run", "json"),
        (b'{"qid": "1", "docno": "d", "score": 1}\n', "run", "jsonl"),
        (b'{\n "1": {', "run", "json"),
        (b"\xef\xbb\xbfqid;docno;score\n1;d;2,5\n", "run", "csv"),
        (b'"qid","docno","score"\r\n', "run", "csv"),
        (b"# made by hand\nqid\tdocno\tscore\n", "run", "tsv"),
        (b"query-id\tcorpus-id\tscore\n1\td\t0.5\n", "run", "tsv"),
        (b"PAR1\x15", "run", "parquet"),
        (b"ARROW1\0\0", "run", "arrow"),
    ],
)
def test_the_format_is_detected_from_the_head(head: bytes, kind: str, expected: str) -> None:
    assert detect_format_of_head(head, kind) == expected


@given(
    st.lists(
        st.tuples(
            st.text("abQ{}[]\"':,0", min_size=1, max_size=9),
            st.integers(0, 99),
            st.floats(allow_nan=False, allow_infinity=False),
        ),
        min_size=1,
        max_size=30,
    )
)
def test_a_trec_run_is_nothing_else(rows: list[tuple[str, int, float]]) -> None:
    text = "".join(f"{topic} Q0 {topic}{n} {n} {score!r} tag\n" for topic, n, score in rows)
    assert detect_format_of_head(text.encode(), "run") == "trec"


def test_file_names_do_not_affect_detection(files: SimpleNamespace) -> None:
    for name in ("r.json", "r.csv", "r.parquet", "r.gz"):
        path = write_file(files, name, RUN)
        assert rs.read_run(path).format == "trec"
        assert (
            rs.evaluate(files.qrels, path, "AP").values.tolist()
            == rs.evaluate(files.qrels, files.run, "AP").values.tolist()
        )


def test_orderings_hold_for_every_format(files: SimpleNamespace) -> None:
    rows = [
        {"qid": "1", "docno": d, "rank": r, "score": s}
        for d, r, s in (("a", 3, 0.5), ("b", 1, 0.5), ("c", 2, 9))
    ]
    path = write_file(files, "r.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    expected = {"trec_eval": "cba", "rank": "bca", "file": "abc"}
    for order, ranking in expected.items():
        assert rs.read_run(path, order=order).ranking("1") == list(ranking)


def test_members_of_a_file_are_runs_by_name(files: SimpleNamespace) -> None:
    lists = {"bm25": {"1": {"d1": 1.0}}, "dense": {"1": {"d2": 1.0}}}
    path = write_file(files, "two.json", json.dumps(lists))
    assert list(rs.read_runs(path)) == ["bm25", "dense"]
    assert rs.read_run(path, name="dense").ranking("1") == ["d2"]
    with pytest.raises(InputError, match=r"two.json: the file has 2 runs: bm25, dense; name one of them"):
        rs.read_run(path)


def test_a_detected_format_is_reported_once(files: SimpleNamespace, capsys: Any) -> None:
    lists = json.dumps(INPUTS.nested(INPUTS.RUN, 3))
    for name in ("a.json", "b.json"):
        write_file(files, name, lists)
    arguments = ["eval", str(files.qrels), str(files.run), f"{files.folder}/*.json", "-m", "AP"]

    def recognised() -> list[str]:
        """Return the notes about formats, without other notes."""
        return [line for line in capsys.readouterr().err.splitlines() if "read as" in line]

    assert main(arguments) == 0
    assert recognised() == [
        f"rankscope: {files.folder}/a.json and 1 other file: read as JSON (2 runs; --input-format overrides)"
    ]
    assert main([*arguments, "--quiet"]) == 0
    assert capsys.readouterr().err == ""
    assert main(arguments[:3]) == 0
    assert recognised() == []


def test_standard_input(files: SimpleNamespace, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    text = json.dumps(INPUTS.nested(INPUTS.RUN, 3)).encode()
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(text)))
    assert main(["eval", str(files.qrels), "-", "-m", "AP", "-f", "csv"]) == 0
    shown = capsys.readouterr()
    expected = rs.evaluate(files.qrels, files.run, "AP").mean("AP")[0]
    assert shown.out.splitlines()[1] == f"stdin,AP,{expected},3"
    assert "standard input: read as JSON" in shown.err


def test_home_is_expanded(files: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(files.folder))
    result = rs.evaluate("~/q.txt", ["~/bm25.run", "~/*.run"][1], "AP")
    assert result.values.tolist() == rs.evaluate(files.qrels, files.run, "AP").values.tolist()


# what is refused --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text", "kind", "message"),
    [
        (
            "b.tsv",
            "query-id\tcorpus-id\tscore\n1\td1\t1\n",
            "run",
            r"b.tsv: this is a BEIR qrels file \(query-id",
        ),
        (
            "q.csv",
            "qid,docno,label\n1,d1,1\n",
            "run",
            "q.csv: this is a table of judgments; name the qrels first",
        ),
        (
            "r.csv",
            "qid,docno,score\n1,d1,1\n",
            "qrels",
            "r.csv: this is a table of a run: it has scores and no",
        ),
        ("q3", "1 d1 1\n1 d2 0\n2 d3 2\n", "run", "q3: these look like judgments"),
        ("m", "".join(f"1 d{r} {r}\n" for r in range(1, 9)), "qrels", "m: this looks like a run of MS MARCO"),
        (
            "x.csv",
            "qid,docno,score\n1,d1,1\n1,d1,2\n",
            "run",
            "x.csv:3: document 'd1' occurs twice in topic '1'",
        ),
        ("x.csv", "qid,docno,score\n1,d1,\n", "run", "x.csv:2: there is no score; remove the line"),
        ("x.csv", "qid,docno,score\n,d1,1\n", "run", "x.csv:2: there is no query_id"),
        ("x.csv", "qid,docno,score\n1,d1,nan\n", "run", "x.csv:2: NaN score"),
        ("x.csv", "qid,docno,score\n1,d1,1_0\n", "run", "x.csv:2: score '1_0' is not a number"),
        ("x.csv", "qid,docno,score\n1,d1\n", "run", "x.csv:2: 2 cells where the header has 3"),
        ("x.csv", 'qid,docno,score\n1,"d1,1\n', "run", "x.csv:2: not a line of a table"),
        (
            "x.csv",
            "qid,docno,text\n1,d1,1\n",
            "run",
            r"x.csv:1: there is no column for score \(score\); rename",
        ),
        ("x.csv", "qid,docno,score\n1,d1,1\r1,d2,2\n", "run", "x.csv:2: a line ends in CR"),
        ("x.csv", "qid,docno,score\r1,d1,1\r1,d2,2\r", "run", "a line ends in CR, not in LF or CRLF"),
        (
            "x.csv",
            "qid,docno,label\n1,d1,1\n1,d1,2\n",
            "qrels",
            "x.csv:3: document 'd1' of topic '1' is judged 2",
        ),
        (
            "x.csv",
            "qid,docno,label\n1,d1,9999999999\n",
            "qrels",
            "x.csv:2: relevance '9999999999' is not a 32-bit",
        ),
        ("x.csv", "qid,docno,score\n", "run", "no topic in common"),
        ("x.json", '{"1": {"d1": 1}', "run", "x.json:1: the text is not valid JSON; give"),
        ("x.json", '{"1": {"d1": 1, "d1": 2}}', "run", "x.json: 'd1' occurs twice"),
        ("x.json", '{"1": {"d1": NaN}}', "run", "x.json: the text is not valid JSON"),
        ("x.json", '{"1": {"d1": "high"}}', "run", "x.json: a score of topic '1' is not a number"),
        ("x.json", '{"1": {"d1": -1.5}}', "qrels", "x.json: a negative grade is not a whole number"),
        ("x.json", '{"1": 2}', "run", "x.json: this JSON has no rankings of documents"),
        ("x.json", '["d1", "d2"]', "run", "no rankings of documents"),
        (
            "x.json",
            '{"test": {"1": {"d": 1}}, "dev": {"1": {"d": 1}}}',
            "run",
            "topic '1' occurs in several splits",
        ),
        (
            "x.jsonl",
            '{"qid": 1, "docno": "d", "score": 1}\n{"qid": 1}\n',
            "run",
            "x.jsonl:2: there is no doc_id",
        ),
        (
            "x.jsonl",
            '{"qid": 1, "docno": "d", "score": 1}\n{"qid"\n',
            "run",
            "x.jsonl:2: the text is not valid JSON",
        ),
        (
            "x.jsonl",
            '{"qid": 1, "docno": "d", "score": 1}\n[]\n',
            "run",
            "x.jsonl:2: the line is not an object",
        ),
        (
            "x.jsonl",
            '{"qid": 1, "docno": "d", "score": true}\n',
            "run",
            "x.jsonl:1: score 'True' is not a number",
        ),
        ("x", "1 d1 1\n1 d2 2\n1 d3\n", "run", "x:3: 2 fields where"),
    ],
)
def test_bad_files(files: SimpleNamespace, name: str, text: str, kind: str, message: str) -> None:
    path = files.folder / name
    path.write_bytes(text.encode())
    with pytest.raises(InputError, match=message):
        rs.evaluate(path if kind == "qrels" else files.qrels, files.run if kind == "qrels" else path, "AP")


def test_a_detected_format_can_be_overridden(files: SimpleNamespace, capsys: Any) -> None:
    path = write_file(files, "grades.tsv", "1\td1\t1\n1\td2\t2\n1\td3\t3\n1\td4\t4\n1\td5\t5\n")
    with pytest.raises(InputError, match="run of MS MARCO"):
        rs.read_qrels(path)
    assert rs.read_qrels(path, input_format="columns").judgments("1")["d5"] == 5
    assert main(["eval", str(path), str(files.run), "--input-format", "qrels=columns", "-m", "P@2"]) == 0
    capsys.readouterr()
    assert main(["eval", str(files.qrels), str(files.run), "--input-format", "jsonl"]) == 2
    assert "q.txt:1: the text is not valid JSON; give one object per line" in capsys.readouterr().err
    with pytest.raises(SettingsError, match="unknown file format 'jason'; did you mean json"):
        rs.read_qrels(path, input_format="jason")
    with pytest.raises(SystemExit):
        main(["eval", str(path), str(files.run), "--input-format", "jason"])
    assert "unknown file format 'jason'; did you mean json" in capsys.readouterr().err


def test_zstd_needs_its_package(files: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    path = files.folder / "r.zst"
    path.write_bytes(INPUTS.zstd(RUN.encode()))
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(
        MissingDependencyError,
        match=r"r.zst: files compressed with zstd need zstandard; install it with: pip install 'rankscope\[zstd\]'",
    ):
        rs.evaluate(files.qrels, path, "AP")


@pytest.mark.parametrize(("module", "packing", "name"), [("bz2", "bzip2", "r.bz2"), ("lzma", "xz", "r.xz")])
def test_a_python_without_bzip2_or_xz_reads_all_else(
    module: str, packing: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python can be compiled without the two; only such files then need them."""
    packed = importlib.import_module(module).compress(b"1 Q0 d1 1 2.0 t\n")
    (tmp_path / name).write_bytes(packed)
    assert rs.evaluate({"1": {"d1": 1}}, str(tmp_path / name), "RR").mean("RR").tolist() == [1.0]
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingDependencyError, match=rf"{name}: this Python has no {packing}; decompress"):
        rs.evaluate({"1": {"d1": 1}}, str(tmp_path / name), "RR")


@pytest.mark.parametrize("packing", ["gzip", "bzip2", "xz", "zstd"])
def test_packed_content_comes_in_bounded_pieces(packing: str) -> None:
    pack = {case.name: case.write for case in INPUTS.CASES}[packing]
    assert pack is not None
    data = {"gzip": INPUTS.gzip, "bzip2": INPUTS.bz2, "xz": INPUTS.lzma}.get(packing)
    compress = INPUTS.zstd if data is None else data.compress
    packed = compress(b"x" * (3 * BLOCK)) + compress(b"y\n")
    source = Source.open(packed)
    assert source.compression == packing
    blocks = list(source.blocks())
    assert max(map(len, blocks)) <= BLOCK
    assert b"".join(blocks) == b"x" * (3 * BLOCK) + b"y\n"
    assert source.head() == b"x" * (1 << 13)
    for wrong in (packed[:-1], packed[: len(packed) // 3], packed + b"rest"):
        with pytest.raises(InputError, match=r"ends too early|damaged"):
            list(Source.open(wrong).blocks())


# studies ----------------------------------------------------------------------------------------------------


def test_studies_are_repeated_with_every_format(files: SimpleNamespace, capsys: Any) -> None:
    """Also where a guess was overruled, and where one file holds the runs."""
    write_file(
        files, "grades.tsv", "".join(f"{t}\t{d}\t{g}\n" for t in "123" for g, d in enumerate("abcde", 1))
    )
    runs = {
        name: {t: {d: float(ord(d) * s) for d in "abcde"} for t in "123"} for name, s in (("x", 1), ("y", -1))
    }
    write_file(files, "two.json", json.dumps(runs))
    created = [
        "--repeats",
        "1",
        "--replicates",
        "9",
        "--ratios",
        "50",
        "-m",
        "AP RR",
        "--input-format",
        "qrels=columns",
    ]
    out = files.folder / "study"
    assert (
        main(
            [
                "study",
                str(files.folder / "grades.tsv"),
                str(files.folder / "two.json"),
                "-o",
                str(out),
                *created,
            ]
        )
        == 0
    )
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["inputs"]["qrels"]["format"] == "columns"
    assert [(run["name"], run["format"]) for run in manifest["inputs"]["runs"]] == [
        ("x", "json"),
        ("y", "json"),
    ]
    capsys.readouterr()
    assert main(["study", "--from", str(out)]) == 0
    assert "identical" in capsys.readouterr().out
    write_file(files, "two.json", json.dumps(runs) + " ")
    assert main(["study", "--from", str(out)]) == 2
    assert "changed since the study" in capsys.readouterr().err


@pytest.mark.parametrize("case", INPUTS.SCORE_CASES, ids=lambda case: case.name)
def test_every_kind_of_scores(case: Any, tmp_path: Path) -> None:
    assert INPUTS.scored(case, tmp_path) == (True, True, True)


@pytest.mark.parametrize(("start", "named"), [(b"PAR1", "Parquet"), (b"ARROW1\0\0", "Arrow")])
def test_the_error_of_a_damaged_file_names_its_expected_format(
    tmp_path: Path, start: bytes, named: str
) -> None:
    pytest.importorskip("pyarrow")
    (tmp_path / "damaged").write_bytes(start + b"\xff" * 64)
    with pytest.raises(InputError, match=f"this is not {named}, or it is damaged "):
        rs.read_runs(tmp_path / "damaged")


def test_no_input_is_overwritten(
    files: SimpleNamespace, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    """Neither a part of a table, nor what ~ or a pattern stands for."""
    monkeypatch.setenv("HOME", str(files.folder))
    case = next(case for case in INPUTS.CASES if case.name == "Parquet in parts" and case.kind == "run")
    parts = case.write(files.folder)
    part = next(path for path in sorted(parts.rglob("*")) if path.is_file())
    before = part.read_bytes()
    qrels, run = str(files.qrels), str(files.run)
    for arguments, target in (
        ([qrels, str(parts)], part),
        (["~/q.txt", run], files.qrels),
        ([f"{files.folder}/q.t*", run], files.qrels),
        ([qrels, "~/bm25.run"], files.run),
    ):
        assert main(["eval", *arguments, "-o", str(target)]) == 2
        assert "this file is also read; write to another file" in capsys.readouterr().err
    assert part.read_bytes() == before
    assert (files.qrels.read_text(), files.run.read_text()) == (QRELS, RUN)


def test_rows_in_json_have_the_same_columns(tmp_path: Path) -> None:
    row = {"qid": "1", "docno": "a", "score": 2}
    path = tmp_path / "r.json"
    path.write_text(json.dumps([row, {"score": 1, "docno": "b", "qid": "1"}]))
    assert rs.read_run(path).ranking("1") == ["a", "b"]
    path.write_text(json.dumps([row, {"qid": "1", "docno": "b"}]))
    with pytest.raises(InputError, match="row 2 has different columns from the first row"):
        rs.read_run(path).ranking("1")


def test_topics_without_a_document_are_lists_of_a_run() -> None:
    from rankscope.read.json_lists import read_json_lists

    assert read_json_lists(Source.open(b'{"1": {}, "2": {}}'), "run") == {"": {"1": {}, "2": {}}}
    assert read_json_lists(Source.open(b'{"r": {"1": {}}}'), "run") == {"": {"r": {"1": {}}}}
