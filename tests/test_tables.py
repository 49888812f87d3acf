"""The table layer: each format against a parser that is not ours, and hostile text in every one."""

from __future__ import annotations

import csv
import io
import json
import math

import numpy as np
import pytest

from rankscope import columns
from rankscope.columns import CategoricalColumn, Columns, ConcatenatedRows
from rankscope.errors import SettingsError
from rankscope.tables import FORMATS, Table, from_json, json_text, render

HOSTILE = 'a\tb\nc|<script>&$x_y^~{}%#"\\é\x1b[31m=1'
TABLE = Table(
    "t",
    ("name", "value", "count", "flag"),
    [(HOSTILE, 0.123456789, 3, True), ("plain", math.nan, None, False), ("=SUM(A1)", math.inf, 10, True)],
    best={"value": 1, "count": -1},
    marks={(0, "value"): "*"},
    caption="A caption",
)


def test_text_is_aligned_and_without_control_characters() -> None:
    lines = TABLE.text().split("\n")
    assert len(lines) == 5
    assert "\x1b" not in TABLE.text()
    assert "0.1235*" in lines[2]
    assert "–" in lines[3]
    assert "∞" in lines[4]


def test_text_fits_the_terminal() -> None:
    wide = Table("t", ("name", "value"), [("x" * 200, 0.5), ("漢字" * 40, 0.25)])
    assert max(map(len, wide.text(60).split("\n"))) <= 60
    assert "…" in wide.text(60)


def test_tsv_has_one_line_a_row_and_all_digits() -> None:
    lines = TABLE.tsv().splitlines()
    assert [len(line.split("\t")) for line in lines] == [4, 4, 4, 4]
    assert float(lines[1].split("\t")[1]) == 0.123456789


def test_tsv_defuses_formulas_as_csv_does() -> None:
    for text in ("=cmd|' /C calc'!A0", "+1", "-1", "@SUM(A1)"):
        table = Table("t", ("name", "value"), [(text, -0.5)])
        assert table.tsv().splitlines()[1] == f"'{text}\t-0.5"
    assert Table("t", ("=x",), [("a",)]).tsv().splitlines()[0] == "'=x"


def test_csv_reads_back_and_defuses_formulas() -> None:
    rows = list(csv.reader(io.StringIO(TABLE.csv())))
    assert rows[1][0] == HOSTILE
    assert rows[3][0] == "'=SUM(A1)"
    assert float(rows[1][1]) == 0.123456789


def test_markdown_and_latex_escape_and_mark_the_best() -> None:
    markdown = TABLE.markdown()
    assert len(markdown.splitlines()) == 5
    assert r"\|\<script\>" in markdown
    assert "**3**" in markdown
    latex = TABLE.latex()
    assert r"\textless{}script\textgreater{}\&\$x\_y\textasciicircum{}\textasciitilde{}\{\}\%\#" in latex
    assert r"0.1235\textsuperscript{*}" in latex
    assert r"\textbf{3}" in latex


def test_html_is_escaped() -> None:
    assert "<script>" not in TABLE._repr_html_()
    assert "&lt;script&gt;" in TABLE._repr_html_()


def test_json_is_strict() -> None:
    parsed = json.loads(json_text("eval", {"seed": 1, "x": math.nan, "m": [object]}, [TABLE]))
    assert parsed["command"] == "eval"
    assert parsed["tables"]["t"][0] == {"name": HOSTILE, "value": 0.123456789, "count": 3, "flag": True}
    assert parsed["tables"]["t"][1]["value"] is None
    assert parsed["settings"]["x"] is None


def test_json_tells_infinite_from_undefined() -> None:
    """Undefined is null; infinite numbers have words, and are numbers again when a study is read back."""
    rows = [("Infinity", math.inf, 1), ("-Infinity", -math.inf, None), ("b", math.nan, 2), ("c", 0.5, 3)]
    table = Table("t", ("run", "value", "count"), rows)
    parsed = json.loads(json_text("eval", {"limit": math.inf}, [table]))
    assert [row["value"] for row in parsed["tables"]["t"]] == ["Infinity", "-Infinity", None, 0.5]
    assert parsed["settings"]["limit"] == "Infinity"
    repeated = from_json("t", parsed["tables"]["t"])
    assert repeated.column("run") == ["Infinity", "-Infinity", "b", "c"]
    assert repeated.column("value") == [math.inf, -math.inf, None, 0.5]
    assert repeated.column("count") == [1, None, 2, 3]


def test_lone_surrogates_do_not_break_json() -> None:
    text = json_text("eval", {}, [Table("t", ("a",), [("\udce9",)])])
    assert json.loads(text)["tables"]["t"][0]["a"]


@pytest.mark.parametrize("format", [f for f in FORMATS if f != "json"])
def test_several_tables_have_names(format: str) -> None:
    text = render([TABLE, TABLE], format)
    assert text.count("A caption" if format == "table" else "t") >= 2
    assert render([TABLE], format)


def test_unknown_format() -> None:
    with pytest.raises(SettingsError, match="no format is called 'xml'"):
        render([TABLE], "xml")


def test_columns_and_records() -> None:
    assert TABLE.column("count") == [3, None, 10]
    assert TABLE.records()[1]["flag"] is False
    assert len(TABLE) == 3


NAMES = ("run", "value", "count", "flag", "note")
NOTES = ("=é\n", None, None, None)
ROWS = [
    (f"r{i % 3}\t,\"=", (0.1 * i, math.nan, math.inf, -math.inf, 1e-300)[i % 5], i, i % 2 == 0, NOTES[i % 4])
    for i in range(11)
]  # fmt: skip


def _in_columns() -> Columns:
    names = tuple(dict.fromkeys(row[0] for row in ROWS))
    codes = np.array([names.index(row[0]) for row in ROWS], np.int16)
    value, count, flag = (np.array([row[i] for row in ROWS]) for i in (1, 2, 3))
    return Columns(
        [CategoricalColumn(names, codes), value, count.astype(np.int32), flag, [row[4] for row in ROWS]]
    )


def _parts() -> ConcatenatedRows:
    rows = _in_columns()
    return ConcatenatedRows(
        [Columns(rows.block(start, stop)) for start, stop in ((0, 0), (0, 4), (4, 5), (5, 11))]
    )


def _same(a: object, b: object) -> bool:
    return repr(a) == repr(b)  # NaN is not equal to itself


@pytest.mark.parametrize("at_once", [1, 4, 1000])
@pytest.mark.parametrize("make", [_in_columns, _parts])
def test_columns_are_written_like_rows(monkeypatch, make, at_once: int) -> None:
    """Check that columns in blocks of any size are written with the same bytes as rows, in all formats."""
    best = {"value": 1, "count": -1}
    whole = Table("t", NAMES, ROWS, best=best, marks={(9, "value"): "*"})
    expected = {format: render([whole, whole], format) for format in FORMATS if format != "json"}
    records = [{key: _strict(value) for key, value in row.items()} for row in whole.records()]
    document = json.dumps({"t": records}, ensure_ascii=False, indent=1)[1:-2].replace("\n", "\n ")
    monkeypatch.setattr(columns, "ROWS_AT_ONCE", at_once)
    table = Table("t", NAMES, make(), best=best, marks={(9, "value"): "*"})
    assert {format: render([table, table], format) for format in expected} == expected
    assert json_text("eval", {"seed": 1}, [table]) == json_text("eval", {"seed": 1}, [whole])
    assert document in json_text("eval", {}, [table])
    assert _same(list(table.rows), ROWS)
    assert _same([table.column(name) for name in NAMES], [whole.column(name) for name in NAMES])
    assert _same(table.records(), whole.records())
    assert table._repr_html_() == whole._repr_html_()
    for frame in ("to_pandas", "to_polars", "to_arrow"):
        assert str(getattr(table, frame)()) == str(getattr(whole, frame)())


def _strict(value: object) -> object:
    if isinstance(value, float):
        return (
            None
            if math.isnan(value)
            else value
            if math.isfinite(value)
            else f"{value:f}".replace("inf", "Infinity")
        )
    return value


@pytest.mark.parametrize("make", [_in_columns, _parts])
def test_rows_in_columns_are_a_sequence(make) -> None:
    rows = make()
    assert len(rows) == 11
    assert _same(rows[0], ROWS[0]) and _same(rows[-1], ROWS[-1])
    assert _same(rows[3:6], ROWS[3:6]) and _same(rows[::-2], ROWS[::-2]) and rows[5:5] == []
    assert rows[5:6] == ROWS[5:6] and rows != ROWS[:3] and rows != 1
    finite = [row for row in ROWS if math.isfinite(row[1])]
    assert Columns(list(zip(*finite, strict=True))) == finite
    with pytest.raises(IndexError):
        rows[11]
    with pytest.raises(ValueError, match="equally long"):
        Columns([[1], [1, 2]])


def test_no_rows_in_columns() -> None:
    for rows in (Columns([[], np.empty(0)]), ConcatenatedRows([Columns([[], []])])):
        table = Table("t", ("a", "b"), rows)
        for format in FORMATS[:3]:
            assert format == "json" or render([table], format) == render([Table("t", ("a", "b"), [])], format)
        assert json.loads(json_text("eval", {}, [table]))["tables"] == {"t": []}
        assert list(table.to_pandas().columns) == ["a", "b"]
    assert json.loads(json_text("eval", {}, []))["tables"] == {}


def test_csv_of_coded_columns_is_that_of_the_same_rows() -> None:
    texts = [
        "a,b",
        '"q"',
        "x\ny",
        "",
        "=1+1",
        " lead",
        "cr\rx",
        "plain",
        None,
        "é\t",
        "'",
        '""',
        "\x00"[:0],
        "#1",
    ]
    numbers = np.array([0.1, -0.0, np.nan, np.inf, -np.inf, 1e300, 5e-324, 1.0, 2.5, 3, 1 / 3, 7, 8, 9])
    columns = {
        "text": CategoricalColumn(texts, np.arange(len(texts))),
        "number": numbers,
        "more,": CategoricalColumn(["x", "y"], np.arange(14) % 2),
    }
    table = Table.from_columns("t", columns)
    assert table.csv() == Table("t", table.columns, [tuple(row) for row in table.rows]).csv()


def test_a_column_without_any_text_is_not_shown() -> None:
    table = Table("x", ("run", "alarm", "AP"), [("a", "", 0.5), ("b", "", 0.25)])
    assert table.text(80).split("\n")[0].split() == ["run", "AP"]
    assert "alarm" in table.tsv()
    assert Table("x", ("run", "alarm"), []).text(80).split("\n")[0].split() == ["run", "alarm"]


def test_sentences_in_the_last_column_are_wrapped_and_complete() -> None:
    sentence = "first and second lead with equal means under both judges, and no other run is close to them"
    rows = [("leader", sentence), ("shared", "all pairs"), ("empty", "")]
    table = Table("conclusions", ("kind", "sentence"), rows)
    lines = table.text(40).split("\n")
    assert all(len(line) <= 40 for line in lines)
    assert " ".join(line[8:].strip() for line in lines[2:6]).strip().startswith(sentence)
    assert {line[:8] for line in lines[3:5]} == {" " * 8}
    assert "…" not in table.text(40)
    assert lines[-2:] == ["shared  all pairs", "empty"]
