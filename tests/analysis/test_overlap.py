"""The lists of two runs compared, against plain sets, scipy and the rank-biased overlap of the rankings."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import rankscope as rs
from rankscope.analysis.stats.rank_biased_overlap import rank_biased_overlap
from rankscope.errors import InputError, SettingsError

RUNS = {
    "one": {"1": {"a": 9, "b": 8, "c": 8, "d": 7, "e": 1}, "2": {"a": 1, "b": 0.5}},
    "other": {"1": {"b": 5, "a": 4, "x": 3, "d": 3, "c": 2}, "2": {"x": 1, "y": 0.5}, "3": {"a": 1}},
}


def overlap(runs, qrels=None, order=None, **options):
    return rs.overlap(rs.Collection(qrels, runs, order=order), **options)


def row(result, table="overlap", **fields):
    (record,) = [r for r in result[table].records() if all(r[k] == v for k, v in fields.items())]
    return record


def test_values_of_one_topic_equal_sets_and_scipy():
    result = overlap(RUNS, rbo_p=0.8, rbo_ties="a")
    record = row(result, "topics", topic="1")
    expected = rank_biased_overlap(["a", {"b", "c"}, "d", "e"], ["b", "a", {"x", "d"}, "c"], 0.8, ties="a")
    assert (record["rbo"], record["rbo_low"], record["rbo_high"]) == (
        expected.value,
        expected.low,
        expected.high,
    )
    assert record["common"] == 4
    assert record["jaccard"] == pytest.approx(4 / 6)
    scores = [RUNS["one"]["1"][d] for d in "abcd"], [RUNS["other"]["1"][d] for d in "abcd"]
    assert record["kendall"] == pytest.approx(stats.kendalltau(*scores).statistic)


def test_means_leave_out_undefined_values():
    result = overlap(RUNS)
    mean, first, second = row(result), *(row(result, "topics", topic=t) for t in "12")
    assert (mean["topics"], mean["only_a"], mean["only_b"]) == (2, 0, 1)
    assert mean["rbo"] == pytest.approx((first["rbo"] + second["rbo"]) / 2)
    assert math.isnan(second["kendall"])
    assert mean["kendall"] == first["kendall"]
    assert second["rbo"] == second["jaccard"] == 0


def test_jaccard_by_depth():
    result = overlap({name: {"1": lists["1"]} for name, lists in RUNS.items()}, depth=5, depths=[1, 2, 3, 5])
    # trec_eval puts the larger document id first in a tie: one = a c b d e, other = b a x d c
    assert [r["common"] for r in result["depths"].records()] == [0, 1, 2, 4]
    assert result["depths"].column("jaccard") == pytest.approx([0, 1 / 3, 2 / 4, 4 / 6])


def test_ties_are_those_of_the_ordering():
    tied, untied = (
        row(overlap(RUNS, order=order, rbo_ties="w"), "topics", topic="1") for order in ("trec_eval", "file")
    )
    expected = rank_biased_overlap("abcde", "baxdc", 0.9)
    assert untied["rbo"] == expected.value
    assert tied["rbo"] != untied["rbo"]
    # as 32-bit numbers these scores are equal
    near = {"one": {"1": {"a": 1.0000000001, "b": 1.0}}, "other": {"1": {"a": 2.0, "b": 1.0}}}
    full, half = (row(overlap(near, order=order)) for order in ("trec_eval", "trec_eval9"))
    assert full["rbo"] == 1 > half["rbo"]
    assert math.isnan(half["kendall"])


def test_judgments_choose_topics_and_compare_relevant_documents():
    qrels = {"1": {"a": 1, "b": 2, "x": 1, "c": 0, "d": -1}, "9": {"a": 1}}
    result = overlap(RUNS, qrels)
    assert row(result)["topics"] == 1
    assert row(result)["only_b"] == 0
    record = row(result, "topics", topic="1")
    assert [record[n] for n in ("relevant_a", "relevant_b", "relevant_common")] == [2, 3, 2]
    assert record["relevant_jaccard"] == pytest.approx(2 / 3)


def test_pairs_and_baseline():
    runs = {name: {"1": ["a", "b"]} for name in ("x", "y", "z")}
    assert [(r["a"], r["b"]) for r in overlap(runs)["overlap"].records()] == [
        ("x", "y"),
        ("x", "z"),
        ("y", "z"),
    ]
    assert [(r["a"], r["b"]) for r in overlap(runs, baseline="y")["overlap"].records()] == [
        ("y", "x"),
        ("y", "z"),
    ]
    assert set(overlap(runs)["overlap"].column("rbo")) == {1.0}


def test_depth_cuts_lists():
    assert row(overlap(RUNS, depth=2), "topics", topic="1")["common"] == 1
    assert overlap(RUNS, depth=2).settings["depths"] == [1, 2]


@pytest.mark.parametrize(
    "options, message",
    [
        ({"depth": 0}, "depth of 0"),
        ({"depth": 10**6}, "compare 1 to 5,000"),
        ({"depths": [0]}, "from 1 to 100"),
        ({"depths": [101]}, "from 1 to 100"),
        ({"rbo_p": 1.0}, "persistence"),
        ({"rbo_ties": "x"}, "choose one of a, b, w"),
    ],
)
def test_settings_are_checked(options, message):
    with pytest.raises(SettingsError, match=message):
        overlap(RUNS, **options)


def test_runs_are_checked():
    with pytest.raises(InputError, match="at least two runs"):
        overlap({"1": ["a"]})
    with pytest.raises(InputError, match="no run is called 'none'"):
        overlap(RUNS, baseline="none")


def test_runs_without_a_common_topic_have_no_values():
    record = row(overlap({"one": {"1": ["a"]}, "other": {"2": ["a"]}}))
    assert (record["topics"], record["only_a"], record["only_b"]) == (0, 1, 1)
    assert math.isnan(record["rbo"])


def test_figure(tmp_path):
    pytest.importorskip("matplotlib")
    figure = overlap(RUNS).plot()
    assert figure.table.columns == ("a", "b", "depth", "common", "jaccard")
    assert figure.save(tmp_path / "overlap.svg").stat().st_size > 1000


@pytest.mark.parametrize("scanner", ["native", "python"])
@pytest.mark.parametrize("lines", ["9 Q0 a 1 1 t\n", "", "\n"])
def test_runs_that_eval_rejects_are_rejected(
    lines: str, scanner: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run without a judged topic, or without any line, was compared as if it were empty."""
    monkeypatch.setenv("RANKSCOPE_SCANNER", scanner)
    monkeypatch.chdir(tmp_path)
    for name, text in (("q", "1 0 a 1\n"), ("a", "1 Q0 a 1 1 t\n"), ("b", lines)):
        Path(name).write_text(text)
    messages = []
    for ask in (lambda: rs.evaluate("q", ["a", "b"], "AP"), lambda: overlap(["a", "b"], "q")):
        with pytest.raises(InputError) as raised:
            ask()
        messages.append(str(raised.value))
    assert messages[0] == messages[1]


def test_every_pair_of_rankings_is_compared_as_alone():
    rng = np.random.default_rng(3)
    documents = [f"d{i}" for i in range(30)]
    runs = {
        name: {
            str(topic): {d: float(s) for d, s in zip(rng.permutation(documents)[:size], scores, strict=False)}
            for topic in range(1, 30)
            if (size := rng.integers(0, 12)) and len(scores := rng.integers(0, 9, 12))
        }
        for name in "abc"
    }
    together = overlap(runs, depth=8, rbo_ties="a")
    for a, b in (("a", "b"), ("a", "c"), ("b", "c")):
        for topic in runs[a].keys() & runs[b].keys():
            alone = overlap({name: {topic: runs[name][topic]} for name in (a, b)}, depth=8, rbo_ties="a")
            expected = row(alone, "topics")
            assert row(together, "topics", a=a, b=b, topic=topic) == pytest.approx(
                expected, abs=0, nan_ok=True
            )
            common = sorted(d for d in runs[a][topic] if d in runs[b][topic])
            if max(len(runs[name][topic]) for name in (a, b)) <= 8:  # nothing is cut off
                assert expected["common"] == len(common)
                scores = ([runs[name][topic][d] for d in common] for name in (a, b))
                tau = stats.kendalltau(*scores).statistic if len(common) > 1 else math.nan
                assert expected["kendall"] == pytest.approx(tau, nan_ok=True)
