"""Errors name the wrong line, the problem and the remedy: in every format with lines, at every position.

The tests also read the text in blocks of a few bytes, so that a line begins in one block and ends in another.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import pytest

import rankscope as rs
from rankscope.errors import InputError
from rankscope.read import read_qrels, read_run, run_text, source
from rankscope.read.texts import read_texts

ROWS = 5
RUN, QRELS = "topic Q0 document rank score tag", "topic iteration document grade"
COMPLETE = "complete the line or remove it"
NUMBER = "remove the line or give a number"
SCORE = "give a number, or leave the cell empty"
TEXTS = "each line is an object with an id (_id, doc_id, query_id ...) and a text (title, text, query ...)"


class Form(NamedTuple):
    """A format: what stands before the rows, a row that is right, and how it is read."""

    before: str
    row: str
    read: Any


def lists(path: Path) -> None:
    read_run(path).lists()


def one_by_one(path: Path) -> None:
    list(read_run(path).iterate_lists())


def read_by_rank(path: Path) -> None:
    rs.evaluate({"1": {"d0": 1}}, read_run(path, order="rank"), "AP")


def texts(path: Path) -> None:
    read_texts([path], {"d0"}, ())


FORMS = {
    "run": Form("# a run\n\n", "1 Q0 d{n} {n} {n}.5 t", lists),
    "one by one": Form("# a run\n\n", "1 Q0 d{n} {n} {n}.5 t", one_by_one),
    "by rank": Form("", "1 Q0 d{n} {n} {n}.5 t", read_by_rank),
    "qrels": Form("# judged\n\n", "1 0 d{n} {n}", read_qrels),
    "csv run": Form("# a table\nqid,docno,score\n", "1,d{n},{n}.5", lists),
    "csv ranks": Form("qid,docno,rank\n", "1,d{n},{n}", lists),
    "csv qrels": Form("qid,docno,label\n", "1,d{n},{n}", read_qrels),
    "columns": Form("# columns\n", "1 d{n} {n}.5", lists),
    "column qrels": Form("", "1 d{n} 1", read_qrels),
    "jsonl run": Form("", '{{"qid": "1", "docno": "d{n}", "score": {n}}}', lists),
    "scores": Form("# printed\n", "map\t30{n}\t0.{n}", rs.read_scores),
    "score matrix": Form("topic,bm25,dense\n", "30{n},0.{n},0", rs.read_scores),
    "score rows": Form("run,topic,measure,value\n", "bm25,30{n},AP,0.{n}", rs.read_scores),
    "score lines": Form("", '{{"run": "r", "topic": "{n}", "measure": "AP", "value": 1}}', rs.read_scores),
    "texts": Form("", "d{n}\ta text", texts),
    "json texts": Form("", '{{"_id": "d{n}", "text": "a text"}}', texts),
}

CASES = [
    ("run", "1", f"1 field where a run has 6: {RUN}; {COMPLETE}"),
    ("run", "1 Q0 d 1 1", f"5 fields where a run has 6: {RUN}; {COMPLETE}"),
    (
        "run",
        "1 0 d 1",
        f"4 fields where a run has 6: {RUN}; this looks like a qrels file; name the qrels first and the runs after it",
    ),
    ("run", "1 Q0 d 1 high t", "score 'high' is not a number; give a decimal number such as 12.5 or 1e-3"),
    ("run", "1 Q0 d 1 1_0 t", "score '1_0' is not a number; give a decimal number such as 12.5 or 1e-3"),
    ("run", "1 Q0 d 1 -NaN t", "NaN score; remove the line or give a number"),
    ("run", "1 Q0 d 1 " + "x" * 61 + " t", f"score '{'x' * 57}...' is not a number; give a decimal number"),
    ("run", "1 Q0 d 1 " + "x" * 60 + " t", f"score '{'x' * 60}' is not a number; give a decimal number"),
    ("run", "1 Q0 d 1 1 ta\u2028g", "a line ends in U+2028, not in LF or CRLF; end lines in LF or CRLF"),
    ("run", "1 Q0 d 1 1 ta\x1dg", "a line ends in GS, not in LF or CRLF; end lines in LF or CRLF"),
    ("qrels", "1 0 d 1\x1e", "a line ends in RS, not in LF or CRLF; end lines in LF or CRLF"),
    ("one by one", "1 Q0 d 1 high t", "score 'high' is not a number; give a decimal number such as 12.5"),
    ("by rank", "1 Q0 d first 1 t", "rank 'first' is not an integer; correct it, or choose another order"),
    ("by rank", "1 Q0 d 1.0 1 t", "rank '1.0' is not an integer; correct it, or choose another order"),
    ("qrels", "1", f"1 field where qrels have 4: {QRELS}; {COMPLETE}"),
    ("qrels", "1 0 d", f"3 fields where qrels have 4: {QRELS}; {COMPLETE}"),
    (
        "qrels",
        "1 0 d 1 1",
        f"5 fields where qrels have 4: {QRELS}; preference judgments and judgment groups have five; give ordinary",
    ),
    (
        "qrels",
        "1 Q0 d 1 1 t",
        f"6 fields where qrels have 4: {QRELS}; this looks like a run; name the qrels first and the runs after it",
    ),
    ("qrels", "1 0 a b c d 1", f"7 fields where qrels have 4: {QRELS}; ids must not contain spaces"),
    (
        "qrels",
        "1 0 d high",
        "grade 'high' is not a 32-bit integer or a gain from 0 on; grades are numbers such as 0, 1, 2 or 0.37",
    ),
    (
        "csv run",
        "1",
        "1 cell where the header has 3; complete the line, or put quotes around text with separators",
    ),
    ("csv run", "1,d,1,1", "4 cells where the header has 3; complete the line, or put quotes around text"),
    ("csv run", ",d,1", f"there is no query_id; {COMPLETE}"),
    ("csv run", "1,,1", f"there is no doc_id; {COMPLETE}"),
    ("csv run", "1,d,", f"there is no score; {NUMBER}"),
    ("csv run", "1,d,+nan", f"NaN score; {NUMBER}"),
    ("csv run", "1,d," + "x" * 70, f"score '{'x' * 60}' is not a number; {NUMBER}"),
    ("csv ranks", "1,d,1.5", f"rank '1.5' is not a 32-bit integer; {NUMBER}"),
    (
        "csv qrels",
        "1,d,2147483647",
        f"relevance '2147483647' is not a 32-bit integer or a gain from 0 on; {NUMBER}",
    ),
    ("csv qrels", "1,d,inf", f"relevance 'inf' is not a 32-bit integer or a gain from 0 on; {NUMBER}"),
    ("columns", "1", f"1 field where runs of columns have: query_id doc_id score; {COMPLETE}"),
    ("columns", "1 d", f"2 fields where runs of columns have: query_id doc_id score; {COMPLETE}"),
    ("column qrels", "1 d", f"2 fields where qrels of columns have: query_id doc_id relevance; {COMPLETE}"),
    ("jsonl run", "[1]", "the line is not an object; give one object per line, such as"),
    ("jsonl run", '{"qid": "1", "score": 1}', f"there is no doc_id; {COMPLETE}"),
    ("jsonl run", '{"qid": [], "docno": "d", "score": 1}', f"query_id: [] (list) is not an id; {COMPLETE}"),
    ("jsonl run", '{"qid": "1", "docno": "d", "score": true}', f"score 'True' is not a number; {NUMBER}"),
    ("jsonl run", '{"qid": "1", "docno": "d"}', f"there is no score; {NUMBER}"),
    ("scores", "map", "1 field where the first line has 3; give a value for every topic and measure"),
    ("scores", "map\t9", "2 fields where the first line has 3; give a value for every topic and measure"),
    ("scores", "map\t9\thigh", f"the score 'high' of 'text' is not a number; {SCORE}"),
    (
        "score matrix",
        "9,1",
        "2 cells where the first line has 3; give a cell for every column, empty if there is no value",
    ),
    ("score matrix", "9,0,inf", f"the score 'inf' of 'dense' is not a number; {SCORE}"),
    ("score matrix", "9,high,0", f"the score 'high' of 'bm25' is not a number; {SCORE}"),
    ("score rows", "bm25,9,AP,1_0", f"the score '1_0' of 'bm25' is not a number; {SCORE}"),
    (
        "score lines",
        "[1]",
        "the line is not an object; give rows with run, topic, measure and value, such as",
    ),
    ("texts", "d", "the line has no tab; each line is an id, a tab and a text; or give JSON lines"),
    ("json texts", "[1]", f"the line has no id; {TEXTS}"),
    ("json texts", '{"text": "x"}', f"the line has no id; {TEXTS}"),
]


@pytest.mark.parametrize("pieces", [1 << 18, 7])
@pytest.mark.parametrize(("form", "wrong", "message"), CASES, ids=lambda value: str(value)[:40])
def test_a_wrong_line(
    form: str, wrong: str, message: str, pieces: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "BLOCK", pieces)
    monkeypatch.setattr(run_text, "_PORTION", pieces)
    monkeypatch.setenv("RANKSCOPE_SCANNER", "python")
    before, row, read = FORMS[form]
    path = tmp_path / "text"
    for index in (1, 2, ROWS):  # the first row may determine the format
        rows = [row.format(n=n) for n in range(ROWS)]
        rows.insert(index, wrong)
        path.write_text(before + "\n".join(rows) + "\n")
        with pytest.raises(InputError) as caught:
            read(path)
        line = before.count("\n") + index + 1
        assert str(caught.value).startswith(f"{path}:{line}: {message}")
        assert caught.value.hint
