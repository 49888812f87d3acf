"""The table layer: each format against a parser that is not ours, and hostile text in every one."""

from __future__ import annotations

import csv
import io
import json
import math

import pytest

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
    again = from_json("t", parsed["tables"]["t"])
    assert again.column("run") == ["Infinity", "-Infinity", "b", "c"]
    assert again.column("value") == [math.inf, -math.inf, None, 0.5]
    assert again.column("count") == [1, None, 2, 3]


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
