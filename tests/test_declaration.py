"""Everything that follows from declaring an analysis, for every analysis that is declared."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any, get_args

import pytest

import rankscope as rs
from declared import ARGUMENTS, DECLARED, LISTS, QRELS, analysed, declaration
from rankscope.choices import COLLECTION_OPTIONS
from rankscope.cli.commands import COMMANDS
from rankscope.cli.main import command_parser, main
from rankscope.errors import InputError, SettingsError
from rankscope.result import TypedResult
from rankscope.rows import Row, column

CHANGED: dict[str, Any] = {
    "order": "file", "missing": "skip", "ties": "worst", "unjudged": "condense", "weights": {"q1": 1, "q2": 9, "q3": 2}
}  # fmt: skip
"""For each option of a collection, a value that changes results."""
COMMANDED = [name for name in DECLARED if declaration(name).command is not None]


def to_tsv(result: TypedResult) -> dict[str, str]:
    return {name: table.tsv() for name, table in result.tables.items()}


@pytest.mark.filterwarnings("ignore:.* is undefined on .* topics, which are left out:UserWarning")
@pytest.mark.parametrize("option", COLLECTION_OPTIONS)
@pytest.mark.parametrize("name", DECLARED)
def test_every_option_of_a_collection_is_honoured_or_rejected(name: str, option: str) -> None:
    if option in declaration(name).uses:
        assert to_tsv(analysed(name, **{option: CHANGED[option]})) != to_tsv(analysed(name))
        return
    if option in declaration(name).covers:
        assert to_tsv(analysed(name, **{option: CHANGED[option]})) == to_tsv(analysed(name))
        return
    with pytest.raises(SettingsError, match=f"does not honour {option}="):
        analysed(name, **{option: CHANGED[option]})


@pytest.mark.parametrize("name", COMMANDED)
def test_the_command_offers_exactly_the_options_that_are_honoured(name: str) -> None:
    flags = {
        flag
        for action in command_parser(str(declaration(name).command))._actions
        for flag in action.option_strings
    }
    assert {option for option in COLLECTION_OPTIONS if f"--{option}" in flags} == set(declaration(name).uses)
    assert {f"--{key.replace('_', '-')}" for key in declaration(name).parameters} <= flags | {"--measures"}


@pytest.mark.parametrize("name", DECLARED)
def test_a_declared_analysis_is_documented(name: str) -> None:
    declared = declaration(name)
    if declared.command is not None:
        assert declared.command in COMMANDS and declared.examples.startswith(f"rankscope {declared.command} ")
    assert list(declared.doc.parameters) == [declared.input_name, *declared.parameters]
    assert "Examples" in declared.doc.sections
    assert inspect.getdoc(declared.result)


@pytest.mark.parametrize("name", DECLARED)
def test_tables_have_the_declared_columns_and_types(name: str) -> None:
    result = analysed(name)
    assert isinstance(result, TypedResult) and isinstance(result, declaration(name).result)
    kinds = result.row_types()
    for key, table in result.tables.items():
        assert getattr(result, key) is table and table.name == key
        types = kinds[key].types()
        assert [one for one in types if one in table.columns] == list(table.columns)
        for row in table:  # type: ignore[attr-defined]
            assert isinstance(row, kinds[key])
            for column_name, cell in zip(kinds[key].specs, row, strict=True):
                allowed = (
                    *get_args(types[column_name]),
                    types[column_name],
                    *([int] if float in _kinds(types[column_name]) else []),
                )
                assert cell is None or type(cell) in allowed, (key, column_name, cell)


def _kinds(kind: Any) -> tuple[Any, ...]:
    return get_args(kind) or (kind,)


@pytest.mark.parametrize("name", [name for name in DECLARED if declaration(name).figures])
def test_every_figure_draws_the_result(name: str) -> None:
    pytest.importorskip("matplotlib")
    for figure, function in declaration(name).figures.items():
        assert analysed(name).plot(figure).table.columns
        assert function.split(".")[-1] in rs.plots.__all__


@pytest.mark.parametrize("name", [name for name in DECLARED if declaration(name).needs_rankings])
def test_scores_without_rankings_are_refused_in_one_line(name: str) -> None:
    frame = {"name": ["a", "b"], "qid": ["1", "1"], "measure": ["AP", "AP"], "value": [0.5, 0.25]}
    with pytest.raises(
        InputError, match=f"^{name} needs rankings, and these scores have values only; evaluate "
    ):
        DECLARED[name](rs.read_scores(frame), **ARGUMENTS.get(name, {}))


@pytest.mark.parametrize("name", DECLARED)
def test_an_argument_that_is_not_a_collection_raises_in_one_line(name: str) -> None:
    with pytest.raises(
        SettingsError, match=r"not a value of type dict; give it rs\.Collection\(qrels, runs\)"
    ):
        DECLARED[name]({"q1": {"d1": 1}}, **ARGUMENTS.get(name, {}))


def test_a_collection_reads_its_files_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rs.simulate(systems=2, topics=2, depth=10, seed=3, pool_depth=5).write(tmp_path / "c")
    collection = rs.Collection(tmp_path / "c/qrels.txt", tmp_path / "c/runs")
    first = collection.evaluate("AP")
    for path in (tmp_path / "c/runs").iterdir():
        path.unlink()
    assert collection.evaluate("AP RR").matrix("AP").values.tolist() == first.matrix("AP").values.tolist()
    assert first.collection is collection and first.judged is collection.judged


def test_evaluate_is_a_collection_in_one_call() -> None:
    options: dict[str, Any] = {"missing": "skip", "ties": "expected", "order": "file"}
    actual, expected = (
        rs.evaluate(QRELS, LISTS, "AP", **options),
        rs.Collection(QRELS, LISTS, **options).evaluate("AP"),
    )
    assert actual.settings == expected.settings and str(actual.values.tolist()) == str(
        expected.values.tolist()
    )


def test_a_row_knows_its_columns() -> None:
    class Mean(Row):
        run: str = column()
        value: float | None = column("Mean.", default=None)

    assert Mean("bm25") == ("bm25", None) and Mean("bm25", value=0.5).value == 0.5
    for wrong in (
        lambda: Mean(),
        lambda: Mean("a", run="b"),
        lambda: Mean("a", other=1),
        lambda: Mean("a", 1.0, 2),
    ):  # type: ignore[call-arg]
        with pytest.raises(TypeError, match="Mean has the columns run, value"):
            wrong()
    with pytest.raises(TypeError, match="column strange of Strange has no meaning"):
        type("Strange", (Row,), {"__annotations__": {"strange": str}, "strange": column()})
    table = Mean.table("means", [Mean("bm25")], without=("value",))
    assert (table.columns, table[0]) == (("run",), ("bm25", None))


def test_help_names_defaults_and_choices(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["overlap", "--help"])
    text = re.sub(r"\s+", " ", capsys.readouterr().out)
    assert "--depth K number of ranks to compare, up to 5,000 (default: 100)" in text
    assert "--rbo-ties {a,b,w} treatment of ties" in text
