"""Everything public can be pickled and deep-copied, and all results have the same interface."""

from __future__ import annotations

import copy
import inspect
import pickle
import pkgutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import cache, partial
from importlib import import_module
from multiprocessing import get_context
from typing import Any

import numpy as np
import pytest

import rankscope as rs
from declared import DECLARED, analysed
from rankscope.analysis.study.experiments import Repetition
from rankscope.judging import Judged
from rankscope.lab.certificates import certificates
from rankscope.measures import REGISTRY
from rankscope.result import Result, TypedResult
from rankscope.tables import ROWS_IN_HTML

WAYS: dict[str, Callable[[Any], Any]] = {
    "pickle": lambda thing: pickle.loads(pickle.dumps(thing)),
    "deepcopy": copy.deepcopy,
    "copy": copy.copy,
}


def first_three(grades: list[int]) -> float:
    """Return the share of relevant documents among the first three."""
    return sum(grade > 0 for grade in grades[:3]) / 3


def reversal(ranking: str) -> Iterator[tuple[str, str]]:
    """Return whether the ideal order scores at least as high as its reverse."""
    if list(ranking) == sorted(ranking):
        yield ranking, ranking[::-1]


QRELS = rs.Qrels.from_dict({"q1": {"d1": 1, "d2": 0, "d3": 2}, "q2": {"d1": 1, "d4": 2}})
LISTS = {
    "a": {"q1": {"d1": 3.0, "d2": 2.0, "d3": 1.0}, "q2": {"d4": 1.0}},
    "b": {"q1": {"d3": 3.0, "d2": 2.0}, "q2": {"d1": 1.0, "d4": 0.5}},
    "c": {"q1": {"d2": 3.0, "d1": 2.0}, "q2": {"d5": 1.0, "d4": 0.5}},
}
RUNS = rs.Runs([rs.Run.from_dict(one, name=name) for name, one in LISTS.items()])


@cache
def function() -> rs.Measure:
    return rs.measure("FirstThree", first_three)


@cache
def judged() -> Judged:
    return rs.judge(QRELS, RUNS)


@cache
def scores() -> rs.Scores:
    return rs.evaluate(QRELS, RUNS, ["AP", "nDCG@10", "Twist", function()])


def repetition() -> Repetition:
    with tempfile.TemporaryDirectory() as folder:
        rs.simulate(systems=3, topics=3, depth=20, seed=3, pool_depth=10).write(f"{folder}/made")
        collection = rs.Collection(f"{folder}/made/qrels.txt", f"{folder}/made/runs")
        settings = rs.StudySettings(measures="AP nDCG", repeats=1, replicates=10)
        rs.study(collection, settings, output=f"{folder}/study")
        return rs.repeat_study(f"{folder}/study")


OBJECTS: dict[str, Callable[[], Any]] = {
    "Qrels": lambda: QRELS,
    "Qrels with aspects": lambda: rs.Qrels.from_dict({"q1": {"d1": {"a": 1, "b": 0}, "d2": {"b": 1}}}),
    "Run": lambda: RUNS["a"],
    "Runs": lambda: RUNS,
    "Judged": judged,
    "Judged again": lambda: judged().with_grades(np.where(QRELS.grade == 2, rs.UNJUDGED, QRELS.grade)),
    "Measure": lambda: REGISTRY["RBP"](p=0.5) @ 7,
    "FunctionMeasure": lambda: function() @ 5,
    "ScoreMatrix": lambda: scores().matrix("AP"),
    "Evaluator": lambda: rs.Evaluator({"q1": {"d1": 1}}, "AP nDCG@10"),
    "Collection": lambda: rs.Collection(QRELS, RUNS),
    "Table": lambda: scores().wide(),
    "StudySettings": lambda: rs.StudySettings(measures="AP nDCG", top_of="all"),
    "Finding": lambda: rs.findings(scores()).items[0],
    "Dominance": lambda: rs.lab.dominance([1, 0, 2], [0, 1, 2]),
    "Relation": lambda: rs.lab.relation(reversal),
    "Figure": lambda: rs.curve(rs.Collection(QRELS, RUNS["a"]), None, "q1").plot(),
    "simulate": lambda: rs.simulate(systems=2, topics=2, depth=20, seed=3, pool_depth=10),
    "RankscopeError": lambda: rs.errors.RankscopeError("wrong"),
    "InputError": lambda: rs.errors.InputError("wrong", path="run.txt", line=3, hint="mend it"),
    "MeasureError": lambda: rs.errors.MeasureError("wrong"),
    "MissingDependencyError": lambda: rs.errors.MissingDependencyError.for_package(
        "pandas", "frames", "frames"
    ),
    "WorkerError": lambda: rs.errors.WorkerError("a worker process was killed", hint="try fewer at once"),
    "SettingsError": lambda: rs.errors.SettingsError("wrong", hint="mend it"),
}
RESULTS: dict[str, Callable[[], Result]] = {
    "Scores": scores,
    "judges": lambda: rs.judges(
        {"one": QRELS, "other": {"q1": {"d1": 0, "d3": 1}, "q2": {"d4": 2}}}, rs.Collection(None, RUNS), "AP"
    ),
    "bench": lambda: rs.bench(
        {"model": ["a", "b", "c"], "t1": [0.5, 0.4, 0.1], "t2": [0.7, 0.8, 0.2], "t3": [0.3, 0.5, 0.6]}
    ),
    "certain across": lambda: rs.certain(scores(), across="measures"),
    "significance": lambda: rs.effort(rs.Collection(QRELS, RUNS), "AP").significance(),
    "coverage": lambda: rs.Collection({"q1": {"d1": {"a": 1, "b": 0}, "d2": {"b": 1}}}, RUNS).coverage(),
    "study": lambda: rs.study(rs.Collection(QRELS, RUNS), rs.StudySettings(repeats=1, replicates=10)),
    "verdict of two": lambda: rs.verdict(scores(), ("a", "b")),
    "identify": lambda: rs.lab.identify(first_three),
    "Description": lambda: rs.Collection(QRELS, RUNS).describe(),
    "rank_weights": lambda: rs.lab.rank_weights(["RBP", "P@3"]),
    "Repetition": repetition,
    "Certificates": lambda: certificates("RR"),
    "archetype_ranges": lambda: rs.lab.archetype_ranges(2, 4),
    "difference_structure": lambda: rs.lab.difference_structure("AP", 2),
    "related_rankings": lambda: rs.lab.related_rankings("AP"),
    "compared intervals": lambda: rs.lab.scales("AP", 4).example(),
    "PropertiesResult": lambda: rs.lab.properties(["AP", function()], depth=3, properties=["swap", reversal]),
    "Scales": lambda: rs.lab.scales("AP", 4),
    **{name: partial(analysed, name) for name in DECLARED},
}
"""Results: of declared analyses, which need no entry, and of other functions."""
EXAMPLES = {**OBJECTS, **RESULTS}
"""One thing of every public kind."""


@cache
def example(name: str) -> Any:
    return EXAMPLES[name]()


def snapshot(thing: Any) -> Any:
    """Return the content of an object as comparable values."""
    if isinstance(thing, BaseException):
        return str(thing), vars(thing)
    if isinstance(thing, rs.Table):
        return thing.name, thing.columns, thing.tsv(), thing.caption
    if isinstance(thing, rs.Qrels):
        judgments = {topic: thing.judgments(topic) for topic in thing.topics}
        return judgments, thing.aspects and snapshot(vars(thing.aspects))
    if isinstance(thing, rs.Run):
        return thing.name, thing.order, {topic: thing.ranking(topic) for topic in thing.lists()}
    if isinstance(thing, Mapping):
        return {key: snapshot(value) for key, value in thing.items()}
    if isinstance(thing, np.ndarray):
        return thing.tolist()
    if isinstance(thing, rs.ScoreMatrix):
        return thing.values.tolist(), thing.runs, thing.topics, thing.measure
    if hasattr(thing, "tables"):
        return snapshot(thing.tables), dict(thing.settings)
    if hasattr(thing, "table"):
        return snapshot(thing.table)
    if isinstance(thing, Judged):
        return thing.runs, snapshot(thing.qrels), thing.rank.tolist(), thing.lists.hits().grade.tolist()
    return str(thing)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", EXAMPLES)
def test_a_copy_has_the_same_content(name: str, way: str) -> None:
    value = example(name)
    before = snapshot(value)
    repeated = WAYS[way](value)
    assert type(repeated).__name__ == type(value).__name__
    assert snapshot(repeated) == before
    assert snapshot(value) == before


def test_every_public_class_has_an_example() -> None:
    spaces = (rs, rs.lab, rs.plots, rs.errors, rs.engines)
    public = {
        value for space in spaces for name in space.__all__ if inspect.isclass(value := getattr(space, name))
    }
    shown = {kind for name in EXAMPLES for kind in type(example(name)).__mro__}
    assert not public - shown, "add an example above"


def test_caches_are_not_pickled() -> None:
    fresh = rs.judge(QRELS, RUNS)
    size = len(pickle.dumps(fresh))
    assert fresh.lists.relevant(1).count.tolist() == [2, 1, 1, 2, 1, 1]
    assert fresh.pool.recall_base(1).tolist() == [2, 2]
    assert len(pickle.dumps(fresh)) == size


def test_a_copied_pool_is_a_pool_of_its_own() -> None:
    repeated = copy.deepcopy(judged())
    assert repeated.pool is not judged().pool
    assert repeated.pool.recall_base(1).tolist() == judged().pool.recall_base(1).tolist() == [2, 2]


def test_a_function_measure_out_of_a_pickle_replaces_no_other() -> None:
    old = rs.measure("Changing", first_three)
    kept = pickle.dumps(old)
    assert pickle.loads(kept) is old
    new = rs.measure("Changing", len)
    lists = rs.judge(rs.Qrels.from_dict({"q": {"d": 1}}), rs.Run.from_dict({"q": {"d": 1.0}})).lists
    assert pickle.loads(kept).evaluate(lists).tolist() == [1 / 3]
    assert type(rs.measure("Changing")) is type(new)
    assert new.evaluate(lists).tolist() == [1.0]


def test_scores_travel_to_another_process() -> None:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        means = pool.submit(best_mean, scores()).result(timeout=300)
    assert means == best_mean(scores())


def best_mean(found: rs.Scores) -> float:
    """Asked in another process, which knows no measure of the user's before the scores arrive."""
    return float(np.nanmax(found.mean("FirstThree")))


def every_kind(kind: type) -> Iterator[type]:
    """A class and all that are derived from it."""
    yield kind
    for subclass in kind.__subclasses__():
        yield from every_kind(subclass)


def test_every_result_is_among_them() -> None:
    for module in pkgutil.walk_packages(rs.__path__, "rankscope."):
        if not module.name.endswith(("__main__", "ir_measures", "spark")):
            import_module(module.name)
    results = {kind for kind in every_kind(Result) if kind.__module__.startswith("rankscope.")}
    assert results - {Result, TypedResult} == {type(example(name)) for name in RESULTS}
    assert not [name for name in OBJECTS if isinstance(example(name), Result)]


def test_every_function_that_returns_a_result_has_an_example() -> None:
    kinds = {kind.__name__ for kind in every_kind(Result)}
    for space in (rs, rs.lab):
        for name in space.__all__:
            function = getattr(space, name)
            returned = str(getattr(function, "__annotations__", {}).get("return", ""))
            declared = hasattr(function, "declaration")
            assert declared or returned not in kinds or {name, returned} & set(EXAMPLES), (
                f"add an example of {name}"
            )


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_has_tables_settings_and_exports(name: str) -> None:
    result = example(name)
    assert isinstance(result, Result)
    assert result.tables and all(one.name == key for key, one in result.tables.items())
    assert isinstance(result.settings, Mapping) and result.settings
    assert set(result.main) <= set(result.tables) and result.main
    assert result.display and all(isinstance(one, rs.Table) for one in result.display)
    for key, table in result.tables.items():
        assert result[key].tsv() == table.tsv()
        assert result.to_csv(key) == table.csv()
        assert list(result.to_pandas(key)) == list(result.to_polars(key).columns) == list(table.columns)
        assert result.to_arrow(key).num_rows == len(result.to_polars(key)) == len(table)
        assert result.to_latex(key).startswith("% \\usepackage{booktabs}")
        assert result.to_markdown(key).startswith("| ")
    assert result.to_csv() == result.to_csv(result.main[0])
    assert result.to_latex() == result.display[0].latex()
    assert result.to_markdown(digits=2) == replace(result.display[0], digits=2).markdown()


@pytest.mark.parametrize("name", RESULTS)
def test_the_tables_of_a_result_have_the_columns_of_their_rows(name: str) -> None:
    result = example(name)
    for key, rows in (result.row_types() if hasattr(result, "row_types") else {}).items():
        if key in result.tables:
            columns = set(result[key].columns)
            assert columns <= rows.specs.keys()
            assert {column for column, spec in rows.specs.items() if spec.default is not None} <= columns


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_shows_itself_in_one_line_in_text_and_in_a_notebook(name: str) -> None:
    result = example(name)
    assert repr(result).startswith(f"<{type(result).__name__}: ")
    assert len(repr(result)) < 200 and "\n" not in repr(result)
    beginning = result.display[0].caption or result.display[0].columns[0]
    assert " ".join(str(result).split()).startswith(" ".join(beginning.split()))  # long ones are wrapped
    html = result._repr_html_()
    assert html.count("<table>") == len(result.display)
    assert html.count("<tr>") <= (ROWS_IN_HTML + 1) * len(result.display)


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_says_which_tables_there_are(name: str) -> None:
    with pytest.raises(
        rs.errors.SettingsError, match=r"there is no table 'nothing'; (there are|did you mean)"
    ):
        example(name).to_pandas("nothing")


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_has_a_figure_or_raises(name: str) -> None:
    result = example(name)
    try:
        figure = result.plot()
    except rs.errors.SettingsError as error:
        assert str(error).startswith(("there is no figure of", "no interval-like scale is violated"))
    else:
        assert figure.table.rows
        with pytest.raises(rs.errors.SettingsError, match="there is no figure called 'nothing'"):
            result.plot("nothing")


def test_a_notebook_is_not_flooded() -> None:
    rows = [(f"run <{i}>", i / 1000) for i in range(1000)]
    html = rs.Table("means", ("run", "AP"), rows, best={"AP": 1})._repr_html_()
    assert html.count("<tr>") == ROWS_IN_HTML + 1
    assert html.endswith("<p>and 940 more rows</p>")
    assert "run &lt;0&gt;" in html
    assert "<b>" not in html  # the best is the last, and not shown
    few = rs.Table("means", ("run", "AP"), rows[: ROWS_IN_HTML + 1])
    assert few._repr_html_().endswith("<p>and 1 more row</p>")
    assert "more row" not in rs.Table("means", ("run", "AP"), rows[:ROWS_IN_HTML])._repr_html_()


def test_a_table_says_what_it_is_in_one_line() -> None:
    assert repr(rs.Table("means", ("run", "AP"), [("a", 0.5)])) == "<Table 'means': 1 row of run, AP>"
