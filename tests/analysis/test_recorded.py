"""Regression tests: every analysis of a small collection returns its recorded tables, sentences, settings and errors.

The analyses themselves wrote recorded.json; other tests check the numbers against other programs, papers and
definitions. These tests detect unintended changes of a number, a default or a word. After an intended change, run

    python -m tests.analysis.test_recorded

and review the difference before you commit it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest
from tests.recorded import assert_recorded, describe_error, describe_tables, to_plain, write_recorded

import rankscope as rs
from rankscope.choices import DEFAULT_MEASURES, VERDICT_MEASURES

RECORDED = Path(__file__).with_name("recorded.json")
TOPICS = [str(n) for n in range(1, 10)]
JUDGED = {
    topic: {f"d{n}": grade for n in range(14) if (grade := (n * n + 3 * t + n * t) % 7 - 2) < 4}
    for t, topic in enumerate(TOPICS, 1)
}
LISTS = {
    name: {
        topic: {
            f"d{(n * (2 * r + 3) + t * t + r) % 17}": float(9 - n // (1 + (r + t) % 3)) for n in range(10 + r)
        }
        for t, topic in enumerate(TOPICS)
        if (r, t) != (3, 4)
    }
    for r, name in enumerate(["bm25", "dense", "fused", "lm", "old", "uni-a", "uni-b"])
}
QRELS = rs.Qrels.from_dict(JUDGED)
RUNS = rs.Runs([rs.Run.from_dict(lists, name=name) for name, lists in LISTS.items()])
OTHER = {
    topic: {document: max(0, grade - 1) for document, grade in mine.items()} for topic, mine in JUDGED.items()
}
BENCH = {"model": ["a", "b", "c"], "t1": [0.5, 0.4, 0.1], "t2": [0.7, None, 0.2], "t3": [0.3, 0.5, 0.6]}
ORDERED = ("RR", "P@10", "Rprec", "AP", "RBP", "nDCG")
FEW = {"replicates": 40, "seed": 5}


@cache
def scores() -> rs.Scores:
    return rs.evaluate(QRELS, RUNS, "AP nDCG@10 P@5 RBP Twist")


@cache
def matrix() -> Any:
    return scores().matrix("AP")


def run_study(like: str | None = None, **settings: Any) -> rs.Result:
    """Study the collection as a published study, or with some settings."""
    options = {name: settings.pop(name) for name in ("missing", "ties", "unjudged") if name in settings}
    make = rs.StudySettings if like is None else partial(rs.StudySettings.from_published, like)
    named = settings if like else {"measures": "AP P@5", **settings}
    return rs.study(rs.Collection(QRELS, RUNS, **options), make(**named))


def ranges(**options: str) -> rs.Scores:
    return rs.evaluate(QRELS, RUNS, "P@5 nDCG@5", **options)  # type: ignore[arg-type]


def collected(function: Callable[..., Any], qrels: Any, measures: Any = None, **options: Any) -> Any:
    """Run an analysis of the collection, or of its scores; the options may contain those of the collection."""
    reading = {key: options.pop(key) for key in ("order", "missing", "topics", "jobs") if key in options}
    collection = rs.Collection(qrels, RUNS, **reading)
    return function(collection if measures is None else collection.evaluate(measures), **options)


def evaluate_measures(options: dict[str, Any]) -> rs.Scores:
    """Pop the measures from the options, and return their scores."""
    return scores().with_measures(options.pop("measures", scores().measures))


CALLS: dict[str, Callable[[], Any]] = {
    "curve": lambda: collected(rs.curve, QRELS, run="bm25", topic="3"),
    "curve with other gains": lambda: rs.curve(
        rs.Collection(QRELS, RUNS["lm"]), None, "2", cutoff=6, gains="exp2", discount="jk", base=3
    ),
    "effort": lambda: rs.effort(rs.Collection(QRELS, RUNS)),
    "effort of the best": lambda: rs.effort(
        rs.Collection(QRELS, RUNS, missing="skip"), "AP", crossing="matters", cutoff=7, top=0.5
    ),
    "correlation": lambda: rs.correlate(scores(), "kendall"),
    "correlation of all kinds": lambda: rs.correlate(
        scores(),
        ["kendall", "ap", "spearman", "pearson", "rbo"],
        top=0.6,
        by="P@5",
        per_topic=True,
        swaps=True,
        rbo_p=0.8,
    ),
    "power": lambda: rs.power(scores(), **FEW),  # type: ignore[arg-type]
    "power of tests": lambda: rs.power(scores(), ["t", "wilcoxon", "tukey"], alpha=[0.01, 0.1], top=0.6),
    "compare": lambda: rs.compare(scores()),
    "compare with a baseline": lambda: rs.compare(
        scores(),
        "bm25",
        test="randomisation",
        correction="none",
        alpha=0.1,
        per_topic=True,
        **FEW,  # type: ignore[arg-type]
    ),
    "compare within a margin": lambda: rs.compare(matrix(), ["lm", "old"], margin=0.05, replicates=30),
    "compare on an interval scale": lambda: rs.compare(
        scores(), "old", also_interval=3, test="wilcoxon", correction="bh"
    ),
    "leaderboard": lambda: rs.leaderboard(scores(), **FEW),  # type: ignore[arg-type]
    "leaderboard of one measure": lambda: rs.leaderboard(matrix(), alpha=0.2, replicates=50),
    "certain": lambda: rs.certain(ranges(ties="expected")),
    "certain of labels": lambda: rs.certain(ranges(unjudged="bounds"), "bm25", alpha=0.1),
    "certain across pools": lambda: rs.certain(scores(), across="pools", seed=2),
    "certain across samples": lambda: rs.certain(scores(), across="samples", samples=2, alpha=0.1),
    "next": lambda: rs.next(ranges(unjudged="bounds"), budget=7),
    "judging orders": lambda: rs.next(rs.evaluate(QRELS, RUNS, "P@5"), simulate=True, batch=20, target=0.8),
    "gate": lambda: rs.gate(scores(), "bm25"),
    "gate with margins": lambda: rs.gate(
        scores(), "fused", margin=dict.fromkeys(map(str, scores().measures), 0.1), alpha=0.1, worst=2
    ),
    "judges": lambda: rs.judges({"one": QRELS, "other": OTHER}, rs.Collection(None, RUNS), replicates=30),
    "judges alone": lambda: rs.judges({"one": QRELS, "other": OTHER}, replicates=30, max_disputed=3, seed=2),
    "bench": lambda: rs.bench(
        {"one": scores(), "two": scores()}, measure="AP", sample="nested", replicates=50
    ),
    "bench with bounds": lambda: rs.bench(BENCH, missing_cells="bounds", aggregate=["mean", "win-rate"]),
    "correct": lambda: rs.correct(rs.evaluate(OTHER, RUNS, "P@5 nDCG@5 AP"), QRELS, pi=0.5),
    "correct plainly": lambda: rs.correct(
        rs.evaluate(OTHER, RUNS, "RBP"), QRELS, strata="topic", tuning="plain", baseline="bm25", alpha=0.1
    ),
    "bounds": lambda: rs.bounds(rs.Collection(QRELS, RUNS)),
    "bounds at depths": lambda: rs.bounds(
        rs.Collection(QRELS, RUNS), 0.7, depths=[2, 5], measures="P@5", pool_depth=4, ratios=50
    ),
    "pools": lambda: collected(rs.pools, QRELS, DEFAULT_MEASURES, repeats=2),
    "pools of a depth": lambda: collected(rs.pools, QRELS, "AP P@5", pool_depth=[1, 3], top=0.6, by="P@5"),
    "leave out": lambda: rs.leave_out(rs.evaluate(QRELS, RUNS, "AP nDCG"), pool_depth=2),
    "leave out teams": lambda: rs.leave_out(rs.evaluate(QRELS, RUNS, "AP"), pool_depth=3, groups="^(uni)-"),
    "orderings": lambda: collected(rs.orderings, QRELS, ORDERED),
    "overlap": lambda: collected(rs.overlap, None),
    "overlap with a baseline": lambda: collected(
        rs.overlap, QRELS, baseline="lm", depth=5, depths=[1, 3], rbo_p=0.7
    ),
    "verdict": lambda: collected(rs.verdict, QRELS, VERDICT_MEASURES),
    "verdict of a pair": lambda: collected(rs.verdict, QRELS, "AP RR", pair=("bm25", "old"), depth=4),
    "findings": lambda: rs.findings(scores(), **FEW),  # type: ignore[arg-type]
    "features": lambda: rs.Collection(QRELS, RUNS).describe("made"),
    "scale effect": lambda: collected(rs.scale_effect, QRELS, "AP P@5 RR", length=5),
    "rank weights": lambda: rs.lab.rank_weights(["RBP", "P@3", "nDCG"], depth=6),
    "pool correlation": lambda: collected(
        rs.pool_correlation, QRELS, "AP nDCG", pool_depth=10, orders=["trec_eval", "file"]
    ),
    "study as it is": lambda: run_study(),
    "study like a published one": lambda: run_study("twist", repeats=1, **FEW),
    "study": lambda: run_study(repeats=1, ratios=[50], **FEW),
}


OPTIONS: dict[str, tuple[Callable[..., Any], dict[str, list[Any]]]] = {
    "curve": (
        lambda **said: collected(rs.curve, QRELS, **{"run": "bm25", "topic": "3", **said}),
        {"topic": ["99"], "cutoff": [0], "gains": ["x"], "discount": ["x"], "base": [1, 0], "order": ["x"]},
    ),
    "effort": (
        lambda **said: collected(rs.effort, QRELS, **said),
        {"crossing": ["x"], "cutoff": [0], "top": [0, 1, 60], "by": ["x"], "missing": ["x"], "jobs": [-1]},
    ),
    "correlation": (
        lambda **said: rs.correlate(evaluate_measures(said), **{"method": "kendall", **said}),
        {
            "method": ["x", []], "top": [0, 1], "by": ["x"], "rbo_p": [0, 1], "rbo_ties": ["x"],
            "measures": [["AP"]],
        },
    ),
    "power": (
        lambda **said: rs.power(evaluate_measures(said), **said),
        {"test": ["x", []], "alpha": [0, 1, []], "replicates": [0], "seed": [-1], "top": [0, 1], "measures": [["RR"]]},
    ),
    "compare": (
        lambda **said: rs.compare(scores(), **said),
        {
            "baseline": ["x", ["bm25", "x"]], "test": ["x"], "correction": ["x"], "alpha": [0, 1], "margin": [0, -1],
            "replicates": [0], "seed": [-1], "also_interval": [0, 99],
        },
    ),
    "leaderboard": (
        lambda **said: rs.leaderboard(scores(), **said),
        {"alpha": [0, 1], "replicates": [0], "seed": [-1]},
    ),
    "certain": (
        lambda **said: rs.certain(scores(), **said),
        {
            "baseline": ["x"], "alpha": [0, 1], "test": ["x"], "correction": ["x"], "across": ["x"], "samples": [0],
        },
    ),
    "next": (lambda **said: rs.next(scores(), **said), {"budget": [0, -1]}),
    "judging orders": (
        lambda **said: rs.next(
            rs.evaluate(QRELS, RUNS, said.pop("measure", "nDCG@10")), simulate=True, **said
        ),
        {"measure": ["x", "AP P@5"], "batch": [0], "target": [-1, 0, 2], "seed": [-1]},
    ),
    "gate": (
        lambda **said: rs.gate(scores(), **{"baseline": "bm25", **said}),
        {"baseline": ["x"], "margin": [-1, {}, {"x": 1}], "alpha": [0, 1], "worst": [-1]},
    ),
    "judges": (
        lambda **said: rs.judges(**{"judgments": {"one": QRELS, "other": OTHER}, **said}),
        {
            "judgments": [{"one": QRELS}, {}], "alpha": [0, 1], "replicates": [0], "top": [0], "max_disputed": [0, -1],
            "seed": [-1],
        },
    ),
    "bench": (
        lambda **said: rs.bench(BENCH, **{"missing_cells": "bounds", "replicates": 20, **said}),
        {
            "aggregate": ["x", "bradley-terry"], "types": [{}], "missing_cells": ["x", "systems"],
            "sample": ["x", "topics"],
            "score_range": [(1, 0), (0, 0.1)], "test": ["tukey"], "correction": ["x", "max-t"], "alpha": [0, 1],
            "replicates": [0], "measure": ["AP"],
        },
    ),
    "correct": (
        lambda **said: rs.correct(rs.evaluate(OTHER, RUNS, "P@5"), **{"human": QRELS, **said}),
        {
            "human": [{"x": {"d": 1}}, "nowhere.txt"], "pi": [None, 0, 2], "strata": ["x"], "tuning": ["x"],
            "baseline": ["x"], "alpha": [0, 1],
        },
    ),
    "bounds": (
        lambda **said: rs.bounds(rs.Collection(QRELS, RUNS), **said),
        {"p": [0, 1, []], "depths": [[], [0]], "show": ["x"], "pool_depth": [0], "ratios": [0, 101], "measures": ["x"]},
    ),
    "pools": (
        lambda **said: collected(rs.pools, QRELS, DEFAULT_MEASURES, **said),
        {
            "ratios": [[0], [101], []], "pool_depth": [0, []], "sampling": ["x"], "repeats": [0], "seed": [-1],
            "top": [0, 1],
        },
    ),
    "leave out": (
        lambda **said: collected(rs.leave_out, QRELS, DEFAULT_MEASURES, **{"pool_depth": 2, **said}),
        {"pool_depth": [0], "groups": ["(", "x"]},
    ),
    "orderings": (
        lambda **said: collected(rs.orderings, QRELS, ORDERED, **said),
        {"orders": [["x", "file"], ["file"]], "missing": ["x"]},
    ),
    "overlap": (
        lambda **said: collected(rs.overlap, None, **said),
        {"baseline": ["x"], "depth": [0], "depths": [[0], []], "rbo_p": [0, 1], "rbo_ties": ["x"], "topics": ["99"]},
    ),
    "verdict": (
        lambda **said: collected(rs.verdict, QRELS, **{"measures": VERDICT_MEASURES, **said}),
        {"pair": [("bm25", "x"), ("bm25", "bm25")], "depth": [0], "measures": ["x", []]},
    ),
    "findings": (
        lambda **said: rs.findings(scores(), **said),
        {"alpha": [0, 1], "test": ["x"], "correction": ["x"], "replicates": [0], "seed": [-1]},
    ),
    "scale effect": (
        lambda **said: collected(rs.scale_effect, QRELS, **{"measures": "AP P@10 RBP nDCG ERR", **said}),
        {"length": [0, 99], "test": ["x"], "alpha": [0, 1], "measures": [[], "Twist"]},
    ),
    "rank weights": (
        lambda **said: rs.lab.rank_weights(**{"measures": ["RBP"], **said}),
        {"depth": [0], "measures": [["AP"], []]},
    ),
    "study": (
        lambda **said: run_study(**{"repeats": 1, "replicates": 9, **said}),
        {
            "focus": ["x"], "top": [0, 1], "ratios": [[0], []], "repeats": [0], "sampling": ["x"], "pool_depth": [0],
            "alpha": [0, 1], "replicates": [0], "p": [[0], []], "intervals": [0], "seed": [-1], "missing": ["x"],
            "ties": ["x"], "unjudged": ["x"], "like": ["x"],
        },
    ),
}  # fmt: skip
"""Each analysis with values that an option may not have, or nearly so."""


def answers(name: str) -> dict[str, str]:
    call, options = OPTIONS[name]
    return {
        f"{option}={describe_value(value)}": describe_error(call, **{option: value})
        for option, values in options.items()
        for value in values
    }


def describe_value(value: Any) -> str:
    return str(sorted(value)) if isinstance(value, dict) else repr(value)


def describe_result(result: Any) -> dict[str, Any]:
    items = getattr(result, "items", ())
    findings = [{"kind": item.kind} | vars(item) | {"evidence": len(item.evidence)} for item in items]
    settings = {"settings": result.settings, "main": result.main}
    return to_plain({**settings, **describe_tables(result), "findings": findings})  # type: ignore[no-any-return]


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_an_analysis_returns_its_recorded_result(name: str) -> None:
    assert_recorded(describe_result(CALLS[name]()), RECORDED, name)


@pytest.mark.parametrize("name", OPTIONS)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_an_option_is_refused_as_it_was(name: str) -> None:
    assert_recorded(answers(name), RECORDED, f"options of {name}")


def record() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        values: dict[str, Any] = {name: describe_result(call()) for name, call in CALLS.items()}
        write_recorded(RECORDED, {**values, **{f"options of {name}": answers(name) for name in OPTIONS}})


if __name__ == "__main__":
    record()
