"""Formatting of cells: p-values that are never zero, names that stay distinct."""

from __future__ import annotations

import math
import re
from json import JSONEncoder

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankscope.cells import (
    csv_cells,
    fit_text,
    format_cell,
    json_cells,
    json_value,
    shorten_names,
    text_width,
    tsv_cells,
)
from rankscope.columns import ROWS_AT_ONCE, CategoricalColumn, Cell
from rankscope.native.memory import format_floats
from rankscope.tables import Table, render
from rankscope.text_layout import no_ink


@given(st.floats(0, 1), st.integers(0, 8))
def test_no_p_value_prints_as_zero(p: float, digits: int) -> None:
    text = format_cell(p, digits, p_value=True)
    if digits > 0:
        assert re.search("[1-9]", text)
    if not text.startswith("<"):
        assert abs(float(text) - p) <= 0.5 * 10**-digits + 1e-12
    else:
        assert p < float(text[1:])


@given(st.lists(st.text("abx-漢", max_size=30), max_size=30, unique=True), st.integers(12, 40))
def test_shortened_names_fit_and_stay_distinct(names: list[str], width: int) -> None:
    short = shorten_names(names, width)
    assert all(text_width(text) <= width for text in short.values())
    assert len(set(short.values())) == len(names)


def test_shortened_names_keep_their_differences() -> None:
    names = [f"bert-large-uncased-{seed}-msmarco-passages-v2" for seed in (1, 2, 13)]
    assert list(shorten_names(names, 20).values()) == [
        "bert-large-uncase…1…", "bert-large-uncase…2…", "bert-large-uncas…13…",
    ]  # fmt: skip
    assert fit_text(names[0], 20) == fit_text(names[1], 20)  # which is why
    text = Table("t", ("a", "b", "x"), [(names[0], names[1], 0.5), (names[2], names[0], 0.25)]).text(50)
    assert text.count("uncase…1…") == 2  # the same name in both columns


def test_wide_tables_continue_below_and_spare_columns_are_named() -> None:
    columns = tuple(f"measure-{i}" for i in range(12))
    table = Table("t", ("run", *columns), [("bm25", *[i / 16 for i in range(12)])])
    text = table.text(60)
    assert max(map(len, text.splitlines())) <= 60
    assert all(name in text for name in columns)
    assert text.count("bm25") == 3
    text = Table("t", ("run", *columns), table.rows, spare=columns[3:]).text(60)
    assert "measure-4" in text.splitlines()[0]
    assert "no room for measure-5" in text


def test_marks_stand_behind_numbers_that_stay_aligned() -> None:
    table = Table("t", ("run", "AP"), [("a", 0.5), ("b", 0.25)], marks={(0, "AP"): "***", (1, "AP"): "↓"})
    assert table.text().splitlines()[2:] == ["a    0.5000***", "b    0.2500↓"]
    assert r"\textsuperscript{$\downarrow$}" in table.latex()


def test_roles_of_cells() -> None:
    table = Table(
        "t", ("run", "AP"), [("a", 0.5), ("b", 0.25), ("c", 0.125)], best={"AP": 1}, caption="Title",
        legend="Legend", marks={(1, "AP"): "*", (2, "AP"): "↓"},
    )  # fmt: skip
    text = table.titled_text(ink=lambda text, role: f"<{role}:{text}>" if role else text)
    assert text.splitlines()[0] == "<title:Title>"
    assert text.splitlines()[-1] == "<faint:Legend>"
    assert "<best:0.5000>" in text
    assert "<better:0.2500*>" in text
    assert "<worse:0.1250↓>" in text
    assert table.titled_text(ink=no_ink) == table.titled_text()


def test_long_tables_show_their_strongest_rows() -> None:
    rows = [(f"run-{i}", 0.9 if i % 100 else i / 10_000, float(i)) for i in range(8000)]
    table = Table("pairs", ("a", "p", "effect"), rows, p_values=("p",), ranked_by=("p", "effect"))
    text = render([table], "table", rest="a file gets all")
    assert len(text.splitlines()) < 50
    assert text.splitlines()[2].split() == ["run-0", "<.001", "0.0000"]
    assert text.splitlines()[3].split() == ["run-100", "0.0100", "100.0000"]
    assert text.endswith("the 40 strongest of 8,000 rows by p; a file gets all\n")
    assert len(render([table], "table").splitlines()) == 8002
    assert table._repr_html_().count("<tr>") == 61
    assert "<td>run-100</td>" in table._repr_html_()
    assert len(table.tsv().splitlines()) == len(table.csv().splitlines()) == 8001


@pytest.mark.parametrize("format", ["markdown", "latex"])
def test_titles_and_legends_are_in_papers_formats(format: str) -> None:
    table = Table("t", ("run", "AP"), [("a", 0.5)], caption="Means: t test", legend="marks")
    assert "Means: t test" in render([table], format)
    assert "marks" in render([table], format)


@given(st.lists(st.floats(), max_size=50))
def test_floats_have_all_digits(values: list[float]) -> None:
    assert format_floats(np.array(values)) == [repr(value) for value in values]


def test_numbers_as_in_tables_have_all_digits() -> None:
    """Means, shares, decimal and binary fractions, and their neighbours; ties between two decimals are among them."""
    rng = np.random.default_rng(1)
    n = 20_000
    whole = rng.integers(0, 1 << 53, n)
    numbers = [rng.random(n), 10 ** rng.uniform(-5, 1, n), rng.integers(0, 99, n) / rng.integers(1, 99, n)]
    for digits in range(1, 19):
        decimal, binary = whole % 10**digits / 10**digits, whole % (1 << digits) / (1 << digits)
        numbers += [decimal, np.nextafter(decimal, 0), np.nextafter(decimal, 1), -binary]
    powers = 2.0 ** -np.arange(20)
    for array in [*numbers, powers, np.nextafter(powers, 0), np.nextafter(powers, 1)]:
        assert format_floats(array) == [repr(value) for value in array.tolist()]


def test_special_floats_are_written_like_those_of_lists() -> None:
    values = [0.1 + 0.2, 0.0, -0.0, 1 / 3] * 500
    assert csv_cells(np.array(values)) == [repr(value) for value in values]
    odd = [*values, math.nan, math.inf]
    assert csv_cells(np.array(odd)) == csv_cells(odd)


def test_zeros_keep_their_signs_among_repeated_numbers() -> None:
    numbers = np.array([-0.0, 0.0, 0.5] * 100)
    assert csv_cells(numbers) == ["-0.0", "0.0", "0.5"] * 100
    assert csv_cells(-numbers) == ["0.0", "-0.0", "-0.5"] * 100


def test_the_text_of_a_distinct_name_is_made_once_for_all_blocks_of_a_table() -> None:
    class Name(str):
        __slots__ = ()

        def __str__(self) -> str:
            written.append(str.__str__(self))
            return super().__str__()

    written: list[str] = []
    names = CategoricalColumn([Name("a"), Name("=b")], np.arange(3 * ROWS_AT_ONCE) % 2)
    table = Table.from_columns("t", {"name": names, "number": np.arange(len(names)) / 4})
    texts = ("a", "'=b")  # A spreadsheet must not run a name as a formula.
    lines = [f"{texts[i % 2]},{i / 4}" for i in range(len(names))]
    assert table.csv() == "\n".join(["name,number", *lines, ""])
    assert sorted(written) == ["=b", "a"]


@given(st.lists(st.floats(), max_size=30))
def test_floats_are_written_as_python_writes_them(numbers: list[float]) -> None:
    assert csv_cells(np.array(3 * numbers)) == [*map(repr, 3 * numbers)]


@given(st.lists(st.none() | st.booleans() | st.integers() | st.floats() | st.text("a=+,\t\n\"'", max_size=3)))
def test_a_column_is_written_as_its_values_one_by_one(values: list[Cell]) -> None:
    encode = JSONEncoder(ensure_ascii=False).encode
    assert csv_cells(values) == [text for value in values for text in csv_cells([value])]
    assert tsv_cells(values) == [text for value in values for text in tsv_cells([value])]
    assert json_cells(values, encode) == [encode(json_value(value)) for value in values]
