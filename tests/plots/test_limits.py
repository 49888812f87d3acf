"""Figures at their limits are as recorded: just below and above a number that changes them, and of degenerate values.

A figure draws fewer names, smaller marks or a shared row from some number of runs, topics, ranks or measures on. The
figures themselves gave the values in recorded_limits.json. After an intended change, run

    python -m tests.plots.test_limits

and review the difference before you commit it.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import re
import warnings
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
import pytest
from tests.plots.conftest import _collection, _curve
from tests.plots.test_recorded import describe_in_brief
from tests.recorded import assert_recorded, to_plain, write_recorded

import rankscope as rs
from rankscope import plots
from rankscope.errors import InputError
from rankscope.plots import curve, marks, scores, style
from rankscope.plots.blocks import draw_blocks

RECORDED = Path(__file__).with_name("recorded_limits.json")
WIDE, NARROW, COLUMN = 5.0, 4.9, 3.9
"""Widths in inches at which figures have another layout than a little below or above."""


@cache
def _scores(
    n_runs: int, n_topics: int, measures: Sequence[str] = ("AP",), slope: float = 0.3, seed: int = 1
) -> rs.Scores:
    """Return random values of runs, of which the later ones are better by up to ``slope``."""
    rng = np.random.default_rng(seed)
    rows: dict[str, Any] = {
        "run": [f"r{k}" for k in range(n_runs) for _ in range(n_topics)],
        "topic": [f"t{t}" for _ in range(n_runs) for t in range(n_topics)],
    }
    skill = np.repeat(np.linspace(0, slope, n_runs), n_topics)
    rows |= {name: (rng.random(n_runs * n_topics) * (1 - slope) + skill).round(6) for name in measures}
    return rs.read_scores(pd.DataFrame(rows))


@cache
def _constant(value: float, n_runs: int = 2, n_topics: int = 2) -> rs.Scores:
    """Return values of several runs and topics that are all the same."""
    runs, topics = [f"r{k}" for k in range(n_runs)], [f"t{t}" for t in range(n_topics)]
    cells = [(run, topic) for run in runs for topic in topics]
    frame = pd.DataFrame(cells, columns=["run", "topic"])
    return rs.read_scores(frame.assign(AP=value, Clicks=100 * value))


@cache
def _world(n_runs: int, n_topics: int) -> rs.Collection:
    return rs.Collection(
        *_collection([f"{'abc'[k % 3]}{k}" for k in range(n_runs)], [f"t{t}" for t in range(n_topics)], 9)
    )


@cache
def _effort(n_runs: int, n_topics: int) -> rs.Effort:
    return rs.effort(_world(n_runs, n_topics), "AP")


@cache
def _fruitless() -> rs.Collection:
    """Return a collection whose runs retrieve no relevant document."""
    return rs.Collection({"t": {"a": 1, "b": 0}}, {"one": {"t": ["b", "x"]}, "two": {"t": ["y"]}})


@cache
def _bench(n_systems: int, n_tasks: int) -> Any:
    rng = np.random.default_rng(7)
    table: dict[str, Any] = {"system": [f"system {k}" for k in range(n_systems)]}
    skill = np.linspace(1, 0, n_systems)
    return rs.bench(
        table | {f"task {t}": (skill + rng.random(n_systems)).tolist() for t in range(n_tasks)},
        replicates=20,
        aggregate="mean",
    )


@cache
def _aspects(n_runs: int, n_ranks: int) -> rs.Result:
    rng = np.random.default_rng(3)
    qrels = {"t": {f"d{i}": {str(i % 5): 1} for i in range(0, n_ranks, 3)}}
    runs = {f"r{k}": {"t": [f"d{i}" for i in rng.permutation(n_ranks)]} for k in range(n_runs)}
    runs["last"] = {"t": ["x"]}
    return rs.Collection(qrels, runs).coverage("t")


@cache
def _judges(n_judges: int, n_runs: int) -> Any:
    qrels, runs = _collection([f"r{k}" for k in range(n_runs)], ["1", "2", "3"], 4)
    rng = np.random.default_rng(5)
    sets = {
        f"judge {number}": {
            t: {d: int(max(0, g + rng.integers(-1, 2))) for d, g in grades.items() if rng.random() < 0.8}
            for t, grades in qrels.items()
        }
        for number in range(n_judges)
    }
    return rs.judges(sets, rs.Collection(None, runs), "AP", replicates=20)


@cache
def _corrected(n_runs: int) -> Any:
    qrels, runs = _collection([f"r{k}" for k in range(n_runs)], ["1", "2", "3"], 4)
    human = {t: {d: max(0, g - 1) for d, g in [*grades.items()][::2]} for t, grades in qrels.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return rs.correct(rs.evaluate(qrels, runs, ["P@5"]), human, pi=0.5)


@cache
def _compared(n_runs: int, n_topics: int, slope: float = 0.3, **options: Any) -> Any:
    return rs.compare(_scores(n_runs, n_topics, ("AP",), slope), replicates=20, **options)


def _ranking(grades: str, figure: str = "crp", ideal: str = "3322111", **options: Any) -> Callable[[], Any]:
    """Return a function that draws the curve of the grades of a ranking."""
    names = ("cutoff", "gains", "discount", "base", "edits")
    settings = {name: options.pop(name) for name in names if name in options}
    return lambda: _curve(grades, "run", ideal, **settings).plot(figure, **options)


def _in_style(style: str, draw: Callable[[], Any]) -> Any:
    with plots.using(style):
        return draw()


_LETTERS = "321"
_HIT_LAST = {length: "0" * (length - 1) + "3" for length in (1, 2, 15, 16, 40, 41, 100, 101)}

FIGURES: dict[str, Callable[[], Any]] = {
    **{f"curve of {length} ranks": _ranking(grades, ideal="3") for length, grades in _HIT_LAST.items()},
    "curve of an ideal ranking": _ranking("3322111"),
    "curve of a worst ranking": _ranking("00"),
    "curve without relevant documents": _ranking("00", ideal="0"),
    "curve with a large recall base": _ranking("3" * 9 + "0", ideal="3" * 9, width=WIDE),
    "curve with early crossing": _ranking("1" + "3" * 3 + "0" * 20, ideal="3331", width=NARROW),
    "curve with late crossing": _ranking("0321321" + "0" * 4 + "3" * 5, ideal="3" * 7 + "22211"),
    "curve of a long ranking": _ranking("1230" * 60 + "3", ideal="3" * 61 + "2" * 60 + "1" * 60),
    "curve with linear bars": _ranking("0" * 30 + "123", ideal="321", bars="linear"),
    "curve with logarithmic bars": _ranking("0" * 30 + "123", ideal="321", bars="log", axis="log"),
    "curve with edits": _ranking("010302", edits="m6-1", width=WIDE),
    "DCG of 40 ranks": _ranking(_HIT_LAST[40], "dcg", ideal="3", width=WIDE),
    "DCG of 41 ranks": _ranking(_HIT_LAST[41], "dcg", ideal="3", width=NARROW),
    "DCG below zero": _ranking("0010302", "dcg", gains="0=-1,1=1,2=2,3=3", bars="log"),
    "DCG without relevant documents": _ranking("00", "dcg", ideal="0"),
    "RP of one rank": _ranking("3", "rp", ideal="3"),
    "RP of 30 ranks": _ranking("0123" * 10, "rp", ideal=_LETTERS * 10, ranks=30, width=style.DOUBLE),
    "RP of 31 ranks": _ranking("0123" * 10, "rp", ideal=_LETTERS * 10, ranks=31, width=style.DOUBLE),
    "RP of 80 ranks": _ranking("0123" * 25, "rp", ideal=_LETTERS * 25, ranks=80, width=style.DOUBLE),
    "RP by default, wide": _ranking("0123" * 10, "rp", ideal=_LETTERS * 10, width=WIDE),
    "RP by default, narrow": _ranking("0123" * 10, "rp", ideal=_LETTERS * 10, width=NARROW),
    "means in the style serif": lambda: _in_style("serif", lambda: _scores(3, 3).plot()),
    "means in the style latex": lambda: _in_style("latex", lambda: _scores(3, 3).plot()),
    "curve in the style serif": lambda: _in_style("serif", _ranking("3322111")),
    "means of one run": lambda: _scores(1, 3, ("AP", "Clicks")).plot(),
    "means of equal runs": lambda: _constant(1.0, 9).plot(width=WIDE),
    "means of zeros": lambda: _constant(0.0).plot(),
    "means of many runs": lambda: _scores(50, 2).plot(),
    "heat map of one run": lambda: _scores(1, 1).plot("heat-map", width=WIDE),
    "heat map of 46 runs": lambda: _scores(46, 70).plot("heat-map", width=NARROW),
    "heat map of 48 runs": lambda: _scores(48, 72).plot("heat-map", width=WIDE),
    "heat map of zeros": lambda: _constant(0.0).plot("heat-map"),
    "topics: 60": lambda: _scores(3, 60).plot("topics", highlight=["r0", "r1", "r2"]),
    "topics: 61": lambda: _scores(3, 61).plot("topics", highlight=["r0", "r1", "r2"]),
    "topics: one": lambda: _scores(1, 1).plot("topics"),
    "topics of zeros": lambda: _constant(0.0).plot("topics"),
    "forest of 41 pairs": lambda: _compared(42, 5, baseline="r0").plot("forest", width=WIDE),
    "forest of 42 pairs": lambda: _compared(43, 5, baseline="r0").plot("forest", width=NARROW),
    "forest of distant runs": lambda: _compared(3, 40, slope=0.9).plot("forest", width=WIDE),
    "forest of equal runs": lambda: rs.compare(_constant(1.0), replicates=20).plot("forest"),
    "differences: 59 topics": lambda: _compared(2, 59, per_topic=True).plot("differences", width=COLUMN),
    "differences: 60 topics": lambda: _compared(2, 60, per_topic=True).plot("differences", width=4.0),
    "differences: 119 topics": lambda: _compared(2, 119, per_topic=True).plot("differences"),
    "differences: 120 topics": lambda: _compared(2, 120, per_topic=True).plot("differences"),
    "differences of equal runs": lambda: rs.compare(_constant(1.0), replicates=20, per_topic=True).plot(
        "differences"
    ),
    "slices of distant runs": lambda: _compared(3, 40, slope=0.9, baseline="r0", by="difficulty:3").plot(
        "slices", width=WIDE
    ),
    "slices against the best run": lambda: _compared(5, 12, by="difficulty:2").plot("slices", width=NARROW),
    "slices of 43 runs": lambda: _compared(43, 12, by="difficulty:2").plot("slices"),
    "slices of many bins": lambda: _scores(13, 30).plot("slices", by="difficulty:15", width=WIDE),
    "slices of many rows": lambda: _scores(3, 45).plot("slices", by="difficulty:45"),
    "leaderboard of 41 runs": lambda: rs.leaderboard(_scores(41, 4), replicates=20).plot(),
    "leaderboard of 43 runs": lambda: rs.leaderboard(_scores(43, 4), replicates=20).plot(width=NARROW),
    "leaderboard of zeros": lambda: rs.leaderboard(_constant(0.0), replicates=20).plot(),
    "correlation of 2 measures": lambda: rs.correlate(_scores(4, 3, ("AP", "RR"))).plot(),
    "correlation of 7 measures": lambda: _correlation(7).plot(),
    "correlation of 8 measures": lambda: _correlation(8).plot(),
    "correlation of 13 measures": lambda: _correlation(13).plot(),
    "correlation of 25 measures": lambda: _correlation(25).plot(),
    "correlation of zeros": lambda: rs.correlate(_constant(0.0, 3)).plot(),
    "power of distant runs": lambda: rs.power(_scores(12, 20, ("AP", "RR", "Clicks", "RBP"), 0.6), "t").plot(
        width=NARROW
    ),
    "power by a large level": lambda: rs.power(_scores(5, 6, ("AP", "RR")), "t", alpha=0.2).plot(width=WIDE),
    "power of equal runs": lambda: rs.power(_constant(1.0, 3), "t").plot(),
    "pools of depths": lambda: rs.pools(
        _world(5, 3).evaluate("AP P@5"), pool_depth=[25, 20, 15, 10, 5, 2, 1]
    ).plot(width=NARROW),
    "pools of few depths": lambda: rs.pools(_world(5, 3).evaluate("AP P@5"), pool_depth=[10, 5]).plot(),
    "pools of fruitless runs": lambda: rs.pools(_fruitless().evaluate("AP"), ratios=[50]).plot(width=WIDE),
    "pool means of fruitless runs": lambda: rs.pools(_fruitless().evaluate("AP"), ratios=[50]).plot("means"),
    "pool means of many measures": lambda: rs.pools(
        _world(5, 3).evaluate("AP P@5 RR nDCG Twist"), repeats=3, ratios=[50, 20]
    ).plot("means", width=WIDE),
    "pools of many measures": lambda: rs.pools(
        _world(5, 3).evaluate("AP P@5 RR nDCG P@1 P@2 P@3"), repeats=3, ratios=[50, 20]
    ).plot(),
    "bounds of 4 runs": lambda: rs.bounds(_world(4, 3), 0.5, depths=[1, 3, 10]).plot(width=NARROW),
    "bounds of 5 runs": lambda: rs.bounds(_world(5, 3), [0.5, 0.8], depths=[1, 3, 10]).plot(width=WIDE),
    "bounds of pools": lambda: rs.bounds(_world(5, 3), 0.8, ratios=[50]).plot(),
    "bounds of 2 pools": lambda: rs.bounds(_world(2, 3), 0.8, ratios=[50, 20]).plot(),
    "bounds of a topic": lambda: rs.bounds(_world(1, 1), 0.8, depths=[1, 2]).plot(),
    "overlap of 3 runs": lambda: rs.overlap(_world(3, 2), depths=[1, 5]).plot(width=NARROW),
    "overlap of 6 runs": lambda: rs.overlap(_world(6, 2), depths=[1, 5, 10]).plot(width=WIDE),
    "orderings of 43 runs": lambda: rs.orderings(_unsorted(43).evaluate("AP")).plot(width=COLUMN),
    "orderings that agree": lambda: rs.orderings(_world(2, 2).evaluate("AP")).plot(width=4.0),
    "verdict of 43 runs": lambda: rs.verdict(_world(43, 2).evaluate("AP"), depth=5).plot(),
    "verdict of equal runs": lambda: rs.verdict(_fruitless().evaluate("AP RBP P@2"), depth=5).plot(width=WIDE),
    "certain of 43 runs": lambda: rs.certain(_scores(43, 4)).plot(width=COLUMN),
    "certain of equal runs": lambda: rs.certain(_constant(1.0)).plot(width=4.0),
    "bump of 39 runs": lambda: rs.certain(_scores(39, 4, ("AP", "RR")), across="measures").plot(),
    "bump of 40 runs": lambda: rs.certain(
        _scores(40, 4, ("AP", "RR", "a long name of a measure")), across="measures"
    ).plot(width=NARROW),
    "bump of 61 runs": lambda: rs.certain(_scores(61, 4, ("AP", "RR")), across="measures").plot(
        highlight=["r0"]
    ),
    "bump with many leaders": lambda: rs.certain(
        _scores(9, 4, tuple(f"M{k}" for k in range(12)), 0.0), across="measures"
    ).plot(highlight=["r0"]),
    "bench of 40 systems": lambda: _bench(40, 3).plot("critical-distance"),
    "bench of 43 systems": lambda: _bench(43, 3).plot("critical-distance"),
    "bench of 3 systems": lambda: _bench(3, 5).plot("critical-distance", width=WIDE),
    "tiers of 43 systems": lambda: _bench(43, 3).plot(),
    "tiers of 2 systems": lambda: _bench(2, 3).plot(),
    "influence of 43 tasks": lambda: _bench(5, 43).plot("task-influence"),
    "corrected 43 runs": lambda: _corrected(43).plot(width=WIDE),
    "coverage of 12 runs": lambda: _aspects(11, 40).plot(width=NARROW),
    "coverage of 2 runs": lambda: _aspects(1, 9).plot(width=WIDE),
    "aspects of 12 runs": lambda: _aspects(11, 40).plot("aspects"),
    "aspects of 2 runs": lambda: _aspects(1, 9).plot("aspects", highlight=["last"]),
    "confusion of 2 judges": lambda: _judges(2, 3).plot("confusion"),
    "confusion of 4 judges": lambda: _judges(4, 3).plot("confusion", width=WIDE),
    "slopes of 45 runs": lambda: _judges(2, 45).plot("slopes"),
    "slopes of 2 runs": lambda: _judges(3, 2).plot("slopes"),
    "effort of 12 runs": lambda: _effort(12, 3).plot(width=WIDE, highlight=[("a0", "t1")]),
    "effort of 13 runs": lambda: _effort(13, 3).plot(width=NARROW),
    "effort of 500 rankings": lambda: _effort(5, 100).plot(colour="archetype"),
    "effort of 501 rankings": lambda: _effort(3, 167).plot(colour="recall base"),
    "effort of 25 topics": lambda: _effort(2, 25).plot(facet="topic", highlight=["a0", ("b1", "t1")]),
    "effort of a ranking": lambda: _effort(1, 1).plot(highlight=["a0"]),
    "effort of fruitless runs": lambda: rs.effort(_fruitless(), "AP").plot(),
    "effort of scores": lambda: plots.plot_effort_gain(_world(2, 3).evaluate("Twist@10 AP RR"), "RR"),
    "effort of a cost": lambda: rs.effort(_world(3, 3), "BalancePoint").plot(facet="archetype", width=NARROW),
    "archetypes of fruitless runs": lambda: rs.effort(_fruitless(), "AP").plot("archetypes", width=NARROW),
    "indicators of 14 topics": lambda: _effort(2, 14).plot("indicators", width=NARROW),
    "indicators of 15 topics": lambda: _effort(2, 15).plot("indicators", width=WIDE),
    "indicators of 32 topics": lambda: _effort(2, 32).plot("indicators"),
    "indicators of 33 topics": lambda: _effort(2, 33).plot("indicators", run="b1"),
    "indicators of a ranking": lambda: _effort(1, 1).plot("indicators"),
    "equal gain of one ranking": lambda: _effort(2, 3).plot("equal-gain", lists=[("a0", "t1")], width=WIDE),
    "equal gain of 3 rankings": lambda: _effort(2, 3).plot(
        "equal-gain", lists=[("a0", "t1"), ("a0", "t2"), ("b1", "t0")], width=NARROW
    ),
    "findings of zeros": lambda: rs.findings(_constant(0.0, 3, 4)).plot(width=NARROW),
    "findings of fruitless runs": lambda: rs.findings(_fruitless().evaluate("AP RR")).plot(width=WIDE),
    "findings in 3 columns": lambda: rs.findings(_world(4, 6).evaluate("AP P@5 BalancePoint")).plot(columns=3),
    "relations of 15 rankings": lambda: plots.plot_relations("AP", grades=1, depth=3),
    "relations of 21 rankings": lambda: plots.plot_relations("RR", grades=3, depth=2),
    "relations of 31 rankings": lambda: plots.plot_relations("P@2", grades=1, depth=4, width=NARROW),
    "relations without a measure": lambda: plots.plot_relations(aspects=2, depth=2, width=WIDE),
    "relations of rare documents": lambda: plots.plot_relations(
        "ACT", depth=3, relevant=2, nonrelevant=2, include_impossible=True
    ),
    "properties that hold": lambda: rs.lab.properties("P@1", grades=1, depth=2).plot(),
    "weights of 5 measures": lambda: rs.lab.rank_weights("P@5 RBP nDCG@10 DCG@5 P@2", depth=6).plot(),
    "scales of graded rankings": lambda: plots.plot_intervals("012", "021", "102", "210", "nDCG", width=NARROW),
    "scales without a contradiction": lambda: plots.plot_intervals("001", "010", "010", "110", "P@2", width=WIDE),
    "scales of sizes that cross": lambda: plots.plot_intervals("001", "110", "010", "011", "RBP"),
    "scales of 60 ranks": lambda: plots.plot_intervals("0" * 59 + "1", "1" * 60, "0" * 60, "0" * 59 + "1", "AP"),
    "scales of 61 ranks": lambda: plots.plot_intervals("0" * 60 + "1", "1" * 61, "0" * 61, "0" * 60 + "1"),
    "ranges of small topics": lambda: rs.lab.archetype_ranges(1, 3).plot(width=NARROW),
}  # fmt: skip


@cache
def _correlation(n_measures: int) -> Any:
    scores = _scores(6, 5, tuple(f"M{k}" for k in range(n_measures)), 0.7)
    return rs.correlate(scores, "kendall")


@cache
def _unsorted(n_runs: int) -> rs.Collection:
    """Return runs of which some have tied scores, which orders resolve differently."""
    qrels, runs = _collection([f"r{k}" for k in range(n_runs)], ["1", "2"], 6)
    scored = {
        run: {
            t: {d: -float(rank // (1 + k % 3)) for rank, d in enumerate(docs)} for t, docs in topics.items()
        }
        for k, (run, topics) in enumerate(runs.items())
    }
    return rs.Collection(qrels, scored)


def describe(name: str) -> Any:
    """Return a summary of a figure, or its error."""
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", category=UserWarning)
            return describe_in_brief(FIGURES[name]())
    except InputError as error:
        return f"{type(error).__name__}: {error}"


def _calls(
    draw: Callable[..., Any], *values: Any, limits: tuple[float, float] = (0.0, 10.0), **named: Any
) -> str:
    """Return what a function returns and what it draws on axes, as the calls of their methods."""
    axes = mock.MagicMock(name="axes")
    axes.get_xlim.return_value = axes.get_ylim.return_value = limits
    result = draw(axes, *values, **named)
    calls = [[name, _plain(arguments), _plain(options)] for name, arguments, options in axes.mock_calls]
    return re.sub(" (id=)?'?(0x[0-9a-f]+|[0-9]{6,})'?", "", json.dumps([_plain(result), calls]))


def _plain(value: Any) -> Any:
    """Return the drawn shapes of collections, the ranges of ticks, and other values as JSON has them."""
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(part) for part in value]
    if isinstance(value, mock.Mock):
        return str(value)
    if hasattr(value, "get_paths"):
        return [*(path.vertices.round(9).tolist() for path in value.get_paths()), value.get_gid()]
    if hasattr(value, "_nbins"):
        return [value._nbins, value._integer, value._min_n_ticks]
    return to_plain(value)


def _legend(n_entries: int, columns: int, width: float, letters: int) -> str:
    """Return the entries and columns of a legend below a figure, and the height that it adds."""
    handles = [
        marks.legend_line(f"{'_' if k == 1 else ''}{'x' * letters * (k % 3)}{k}") for k in range(n_entries)
    ]
    figure = mock.MagicMock()
    figure.bbox.width, figure.dpi = 110 * width, 110
    figure.get_size_inches.return_value = width, 2.0
    marks.legend_below(figure, handles, columns)
    options = figure.legend.call_args.kwargs
    labels = [handle.get_label() for handle in options.pop("handles")]
    return json.dumps(
        [len(labels), labels[1:2], labels[-1:], options, _plain(figure.set_size_inches.call_args)]
    )


def drawn_parts() -> dict[str, Any]:
    """Return what functions that figures share draw for many values."""
    rng = np.random.default_rng(2)
    ranks: list[list[int]] = [[], [1], [2], [1, 3], [5, 40], [1, 299, 300], [7, 10**6], [1, 10**7]]
    ends = [
        [(float(y), f"run {k}", "red") for k, y in enumerate(rng.integers(0, n, n))] for n in range(1, 14)
    ]
    hidden: list[list[float | None]] = [
        [],
        [None],
        [1.0],
        [2.0, None, float("nan"), -3.0],
        [0.12345, 12.345],
        [5.0, 5.0],
    ]
    bars = [
        *(
            rng.integers(-high, high + 1, n).tolist()
            for high in (0, 1, 5, 15, 16, 400, 30_000)
            for n in (1, 4, 30)
        ),
        *(
            rng.integers(0, 99, 9).tolist(),
            (-rng.integers(0, 99, 9)).tolist(),
            [0.5, -0.25, 0.0],
            [0.001] * 200,
        ),
    ]
    shares = [rng.random(n).round(digits) for n in (1, 2, 9, 60) for digits in (1, 2, 6)]
    curves = itertools.product((0, -9, -100), (0, 1, 50), (0, -120, -5000), (0, 3, 220, 10**4))
    legends = itertools.product((1, 2, 3, 4, 5, 23, 24, 25, 26), (1, 2, 4, 6), (3.3, 7.0), (1, 9))
    options = [
        *itertools.product(("auto", "log"), ("linear", "log"), (1,)),
        ("auto", "linear", 0.25),
        ("linear", "log", 1),
        ("log", "linear", 5),
        ("auto", "log", 16),
    ]
    return {
        "ranks": [_calls(marks.rank_axis, each) for each in ranks],
        "names of columns": [
            _calls(marks.name_columns, "x" * n, width) for n in (*range(1, 60, 7), 119) for width in (1, 3.3, 7)
        ],
        "names of lines": [
            _calls(marks.name_lines, each, gap, limits=limits)
            for each in ends for gap, limits in ((0.3, (9, -1)), (1, (0, 12)))
        ],
        "shared rows": [_calls(marks.draw_rest, 3, each, digits=digits) for each in hidden for digits in (2, 3)],
        "names of runs": [_calls(marks.name_runs, ["a", "b" * 30], n, width=9, noun="pair") for n in (0, 1, 2000)],
        "frames": [_calls(marks.hide_frame)],
        "ranges": [_calls(marks.draw_range, 1, 2, 3), _calls(marks.draw_range, 1, 2, 3, color="red", linewidth=9)],
        "dots": [_calls(marks.draw_dot, 1, 2, "red", filled) for filled in (True, False, None)],
        "labels": [_calls(marks.label, "a", (1, 2), (3, 4), ha="right"), _calls(marks.write_at_right, 2, "a")],
        "boxes": [_calls(marks.write_centred, 1, 2, "a", fontsize=3), _calls(marks.name_rows, ["a", "b"], fontsize=3)],
        "legends": [_legend(*each) for each in legends],
        "bars": [
            _calls(curve.draw_bars, each, colours=("r", "g", "b"), linear=linear, points=190, scale=scale, ranks=ranks)
            for scale, ranks, linear in options for each in bars
        ],
        "heights of dots": [scores._stack_dots(each, gap) for each in shares for gap in (0.01, 0.1, 0.4)],
        "limits of curves": [
            [float(f"{end:.9g}") for end in curve._limits(np.array([low, high]), np.array([deep, top]))]
            for low, high, deep, top in curves
        ],
    }  # fmt: skip


def parts() -> dict[str, Any]:
    """Return what functions that figures share compute from many values."""
    rng = np.random.default_rng(1)
    heights = [sorted(rng.integers(0, n, n).tolist()) for n in range(1, 30)]
    curves = [
        *([0.0], [0, 0], [1, 1], [-1], [2, 1], [0, 5, 0], [-3, 3]),
        *((rng.integers(-n, n, n) * shift).tolist() for n in range(2, 150, 7) for shift in (1, -0.25)),
        *(rng.integers(low, 9, 20).tolist() for low in range(-3, 4)),
        [abs(x) for x in range(-9, 10)],
    ]
    letters = rng.integers(0, 40, (40, 9)).tolist()
    names = [
        "",
        " ",
        "a",
        "run",
        "ab" * 20,
        "a\tb",
        "\u6f22\u5b57",
        "\u05e9\u05dc",
        "\u0628" * 30,
        "-1",
        "\u00e9" * 9,
    ]
    return {
        "spread": [marks.spread(each, gap) for each in heights for gap in (0.5, 1, 2.5)],
        "columns of a legend": [
            marks._fit_columns(each[:n], m, n) for each in letters for n, m in ((9, 4), (6, 6), (4, 3), (2, 2))
        ],
        "rows": [marks.split_rows(range(n), 4) for n in range(8)],
        "most rows": [len(marks.split_rows(range(n))[0]) for n in (40, 41, 42, 43)],
        "heights of rows": [marks.rows_height(range(n), range(m)) for n in (0, 1, 9) for m in (0, 2)],
        "curves on a terminal": [draw_blocks(each, *size) for each in curves for size in ((72, 12), (20, 3), (5, 2))],
        "short names": [style.shorten(name, width) for name in names for width in (1, 2, 3, 9, 28)],
        "short different names": [style.shorten_all(names, width) for width in (5, 8, 28)],
        "widths": [style.is_wide(width) for width in (4, 4.9, 5, 7)],
        "numbers": [style.finite_or_zero(x) for x in (None, "1", 2, 0.5, float("nan"), float("inf"), True)],
        "counts": [style.count(n, "run") for n in (0, 1, 2, 1000)],
        "colours": [style.choose_highlighted(names, chosen, names) for chosen in ([], ["a"], ["run", "a", "run"])],
    }  # fmt: skip


def describe_parts() -> dict[str, Any]:
    """Return the first results of each function, and a digest of all; and the settings of matplotlib."""
    texts = {
        name: [json.dumps(to_plain(result)) for result in results]
        for name, results in (parts() | drawn_parts()).items()
    }
    described = {
        name: [*results[:6], hashlib.sha256("|".join(results).encode()).hexdigest()[:12]]
        for name, results in texts.items()
    }
    usual, others = _settings("sans"), {name: _settings(name) for name in style.STYLES}
    styles = {name: {key: own[key] for key in own if own[key] != usual[key]} for name, own in others.items()}
    return described | {"settings": to_plain(style._SETTINGS), "styles": styles}


def _settings(name: str) -> dict[str, str]:
    """Return the settings of matplotlib in a style."""
    with plots.using(name), style.apply_style() as matplotlib:
        return {key: str(value) for key, value in matplotlib.rcParams.items()}


def test_shared_parts_change_only_on_purpose() -> None:
    assert_recorded(describe_parts(), RECORDED, "parts")


@pytest.mark.parametrize("name", FIGURES)
def test_figures_at_their_limits_change_only_on_purpose(name: str) -> None:
    assert_recorded(describe(name), RECORDED, name)


if __name__ == "__main__":
    write_recorded(RECORDED, {"parts": describe_parts()} | {name: describe(name) for name in FIGURES})
