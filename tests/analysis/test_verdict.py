"""Verdicts over many measures: exact regions, orders of means, and what the measures themselves say."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf

import rankscope as rs
from rankscope.analysis.stats.sign_regions import Region, sign_regions
from rankscope.analysis.verdict import _Counts, _dominance
from rankscope.choices import VERDICT_MEASURES
from rankscope.cli.main import main
from rankscope.errors import InputError, SettingsError
from rankscope.lab.cumulated_counts import orders

mp.dps = 50

polynomials = st.lists(st.integers(-4, 4), max_size=30)


def decide(qrels, runs, measures=VERDICT_MEASURES, **options):
    return rs.verdict(rs.evaluate(qrels, runs, measures), **options)


@given(polynomials)
def test_signs_at_many_points_equal_fifty_digit_arithmetic(coefficients):
    regions = sign_regions(coefficients)
    assert regions[0].low == 0 and regions[-1].high == 1
    assert all(one.high == two.low and one.sign != two.sign for one, two in pairwise(regions))
    for x in np.random.default_rng(1).random(60):
        value = sum((c * mpf(float(x)) ** k for k, c in enumerate(coefficients)), mpf(0))
        own = next(region for region in regions if region.low <= x <= region.high)
        if abs(x - own.low) > 1e-15 and abs(x - own.high) > 1e-15 and value != 0:
            assert np.sign(float(value)) == own.sign


@pytest.mark.parametrize(
    ("roots", "signs"),
    [
        ([Fraction(1, 2), Fraction(1, 2) + Fraction(1, 10**9)], [1, -1, 1]),  # close to each other
        ([Fraction(1, 3), Fraction(1, 3)], [1]),  # touches zero
        ([Fraction(10**9 - 1, 10**9)], [-1, 1]),  # close to one
        ([Fraction(1, 4), Fraction(1, 2), Fraction(3, 4)], [-1, 1, -1, 1]),  # where intervals are halved
    ],
)
def test_roots_that_floating_point_confuses(roots, signs):
    coefficients = [Fraction(1)]
    for root in roots:  # times (x - root)
        coefficients = [
            a - root * b for a, b in zip([Fraction(0), *coefficients], [*coefficients, 0], strict=True)
        ]
    scale = 10**30 * 12**6
    regions = sign_regions([int(c * scale) for c in coefficients])
    assert [region.sign for region in regions] == signs
    borders = sorted(set(roots)) if len(signs) > 1 else []
    assert [region.high for region in regions[:-1]] == pytest.approx([float(r) for r in borders], abs=1e-16)


def test_an_empty_polynomial_is_zero():
    assert sign_regions([]) == [Region(0.0, 1.0, 0)]


def collections(draw):
    topics = draw(st.integers(1, 3))
    grades = [
        [draw(st.lists(st.sampled_from([0, 1, 2]), min_size=1, max_size=8)) for _ in range(topics)]
        for _ in "ab"
    ]
    qrels = {f"q{t}": {f"{g}-{i}": g for g in range(3) for i in range(8)} for t in range(topics)}
    lists = [
        {f"q{t}": [f"{g}-{i}" for i, g in enumerate(one)] for t, one in enumerate(run)} for run in grades
    ]
    return qrels, {"a": lists[0], "b": lists[1]}


@settings(max_examples=settings().max_examples // 2)
@given(st.composite(collections)())
def test_regions_agree_with_the_measures(collection):
    regions = decide(*collection)["regions"].records()
    names = [f"{family}@{k}" for family in ("P", "R", "DCG", "nDCG") for k in range(1, 9)]
    places = [0.05, 0.3, 0.5, 0.61, 0.75, 0.9, 0.99]
    scores = rs.evaluate(*collection, [*names, *(f"RBP(p={p})" for p in places)])
    for measure in scores.measures:
        a, b = scores.mean(measure)
        rbp = measure.name == "RBP"
        parameter = measure.settings["p"] if rbp else measure.cutoff
        family = "RBP(p)" if rbp else f"{measure.name}@k"
        matching = [r for r in regions if r["family"] == family and r["from"] <= parameter <= r["to"]]
        if abs(a - b) > 1e-9 and matching:
            assert (a > b) == (matching[0]["winner"] == "a"), measure


def exact_sign(difference: list[int], top: int, bottom: int) -> int:
    """Return the exact sign of RBP's difference for p = top / bottom, in integers of more than fifty digits."""
    value, power = 0, 1
    for d in reversed(difference):
        value, power = value * top + d * power, power * bottom
    return (value > 0) - (value < 0)


def test_regions_of_rbp_at_ten_thousand_persistences():
    simulation = rs.simulate(systems=6, topics=8, depth=60, seed=5, pool_depth=30)
    runs = dict(list(simulation.runs.items())[:4])
    checked = 0
    for a, b in (("lexical-1", name) for name in runs if name != "lexical-1"):
        regions = [
            r
            for r in decide(simulation.qrels, runs, pair=(a, b))["regions"].records()
            if r["family"] == "RBP(p)"
        ]
        difference = [0] * 60
        for topic, grades in simulation.qrels.items():
            for sign, run in ((1, a), (-1, b)):
                for rank, document in enumerate(rs.Run.from_dict(runs[run]).ranking(topic)):
                    difference[rank] += sign * (grades.get(document, 0) > 0)
        for top in range(1, 10_000):
            winner = next(r["winner"] for r in regions if r["from"] <= top / 10_000 <= r["to"])
            assert winner == {1: a, -1: b, 0: "both"}[exact_sign(difference, top, 10_000)]
            checked += 1
    assert checked == 3 * 9_999


QRELS = {"q": {"a": 1, "b": 2, "n": 0}, "r": {"c": 1}}
RUNS = {
    "x": {"q": ["b", "a"], "r": ["c"]},
    "y": {"q": ["a", "b"], "r": ["n", "c"]},
    "z": {"q": ["n", "a"], "r": ["m", "n", "c"]},
    "same": {"q": ["b", "a"], "r": ["c"]},
}


def test_pairs_shares_and_ranks_of_many_runs():
    result = decide(QRELS, RUNS)
    pairs = {(r["a"], r["b"]): (r["winner"], r["order"]) for r in result["pairs"].records()}
    assert pairs["x", "y"] == ("x", "every topic") and pairs["x", "same"] == ("both", "every topic")
    assert sum(row["pairs"] for row in result["shares"].records() if row["of"] == "means") == 6
    assert sum(row["share"] for row in result["shares"].records() if row["of"] == "lists") == pytest.approx(1)
    ranks = {row["run"]: (row["best_first"], row["worst_first"]) for row in result["runs"].records()}
    assert ranks == {"x": (1, 2), "same": (1, 2), "y": (3, 3), "z": (4, 4)}
    for (a, b), (winner, order) in pairs.items():
        assert decide(QRELS, RUNS, pair=(a, b))["verdict"].rows[0][2:4] == (winner, order)


def test_measures_are_placed_in_their_regions_and_contradictions_are_named():
    runs = {"x": {"q": ["a", "n", "m"]}, "y": {"q": ["n", "a", "b"]}}
    result = decide(
        {"q": {"a": 1, "b": 1}}, runs, ["RBP(p=0.5)", "RBP(p=0.9)", "P@2", "AP", "RBP(p=0.9,rel=2)"]
    )
    regions = dict(
        zip(result["measures"].column("measure"), result["measures"].column("region"), strict=True)
    )
    assert regions["RBP(p=0.5)"] == "p from 0 to 0.618" and regions["RBP(p=0.9)"] == "p from 0.618 to 1"
    assert regions["P@2"] == "k from 2 to 2" and regions["AP"] == "" and regions["RBP(p=0.9,rel=2)"] == ""
    backwards = rs.measure("LastRank", lambda grades: float(grades[-1]) if grades else 0.0)
    pair = {"x": {"q": ["a", "b", "n"]}, "y": {"q": ["a", "n", "b"]}}
    (row,) = decide({"q": {"a": 1, "b": 1, "n": 0}}, pair, ["AP", backwards])["topics"].records()
    assert (row["first_order"], row["against"]) == ("x", "LastRank")


def test_refusals():
    with pytest.raises(InputError, match="two runs"):
        decide(QRELS, {"x": RUNS["x"]})
    with pytest.raises(InputError, match="no run is called"):
        decide(QRELS, RUNS, pair=("x", "absent"))
    with pytest.raises(SettingsError, match="depth of 0"):
        decide(QRELS, RUNS, depth=0)


@pytest.fixture(scope="module")
def collection_dir(tmp_path_factory):
    folder = tmp_path_factory.mktemp("verdict")
    rs.simulate(systems=4, topics=5, depth=30, seed=3, pool_depth=10).write(folder)
    return folder


def test_the_command_gives_the_results_of_python(collection_dir, tmp_path, capsys):
    files = [str(collection_dir / "qrels.txt"), str(collection_dir / "runs")]
    names = sorted(path.stem for path in (collection_dir / "runs").iterdir())[:2]
    pair = ["--pair", *(name.removesuffix(".run") for name in names)]
    assert main(["verdict", *files, *pair, "-f", "json", "--plot", str(tmp_path / "v.svg")]) == 0
    answer = json.loads(capsys.readouterr().out)
    expected = decide(*files, pair=(pair[1], pair[2]))
    assert set(answer["tables"]) == {"verdict", "regions", "measures", "topics"}
    for name, table in expected.tables.items():
        assert answer["tables"][name] == table.records()
    assert (tmp_path / "v.svg").read_bytes().startswith(b"<?xml")
    assert main(["verdict", *files, "-f", "table"]) == 0
    shown = capsys.readouterr().out
    assert "Number of pairs of runs that each order decides" in shown and "every topic" in shown


def test_three_quarters_of_the_pairs_of_trec_covid_are_decided(data_dir):
    """As the documentation says."""
    folder = data_dir / "trec_covid_r1_depth100"
    shares = decide(folder / "qrels.txt", folder / "runs")["shares"].records()
    means = {row["order"]: row["pairs"] for row in shares if row["of"] == "means"}
    assert means == {"every topic": 357, "first": 6737, "second": 292, "none": 2767}


@pytest.mark.parametrize("runs", [2, 3])
def test_hits_are_counted_once_whatever_the_topics_and_grades(runs, monkeypatch):
    """An earlier version scanned all hits for every topic, and counted every grade of the judgments."""
    topics = 300
    qrels = {str(t): {"a": 1 + t, "b": 1000 + t} for t in range(topics)}
    lists = {str(r): {str(t): ["ab"[r % 2], "ba"[r % 2]] for t in range(topics)} for r in range(runs)}
    n_hits = cells = 0
    original = _Counts.cumulate

    def counted(self, keep=slice(None)):
        nonlocal n_hits, cells
        counts = original(self, keep)
        n_hits += len(self.level[keep])
        cells = max(cells, counts.size if not isinstance(keep, slice) else 0)
        return counts

    monkeypatch.setattr(_Counts, "cumulate", counted)
    decide(qrels, lists, "AP")
    assert n_hits <= 4 * 2 * topics * runs
    assert cells == runs * 2 * 2  # runs x grades of a topic x ranks


def test_dominance_of_many_runs_is_that_of_every_pair():
    """Compare runs as vectors: a few coordinates rule out most pairs."""
    generator = np.random.default_rng(5)
    for depth in (1, 3, 40):
        counts = np.cumsum(generator.integers(0, 2, (9, 2, depth)), axis=2)
        counts[4] = counts[2]
        first, second = _dominance(counts)
        for i, j in product(range(9), repeat=2):
            by_order = orders(counts[i] - counts[j])
            assert (first[i, j], second[i, j]) == (by_order.first[0], by_order.convex[0])
