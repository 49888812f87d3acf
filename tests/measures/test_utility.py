"""Rank-biased utility, time-biased gain, terminal documents and D-measures, one document at a time."""

from __future__ import annotations

from math import log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankscope as rs
from rankscope.errors import MeasureError
from rankscope.judging import judge
from rankscope.measures import measure
from rankscope.read import Qrels, Run

ASPECTS = "ab"
DOCUMENTS = [f"d{k}" for k in range(6)]
grades = st.integers(-1, 3)
judgments = st.dictionaries(
    st.sampled_from(DOCUMENTS), st.dictionaries(st.sampled_from(ASPECTS), grades, min_size=1), min_size=1
)
rankings = st.lists(st.sampled_from([*DOCUMENTS, "x", "y"]), unique=True)


def value(name, judged, ranking, weights=None):
    qrels = Qrels.from_dict({"q": judged})
    if weights is not None:
        qrels = qrels.with_aspect_weights({"q": weights})
    return float(measure(name).evaluate(judge(qrels, Run.from_dict({"q": ranking})).lists)[0])


def relevant_aspects(judged):
    return sorted({a for by_aspect in judged.values() for a, g in by_aspect.items() if g > 0})


def utility(judged, ranking, k, p, e, settles, weight):
    aspects = relevant_aspects(judged)
    left, total = dict.fromkeys(aspects, 1.0), 0.0
    for i, document in enumerate(ranking[:k], 1):
        gained = 0.0
        for a in aspects:
            r = settles(a, max(0, judged.get(document, {}).get(a, 0)))
            gained += r * left[a] / len(aspects)
            left[a] *= 1 - r
        total += weight(i) * (gained - e)
    return total


@given(judgments, rankings, st.integers(1, 8))
def test_rank_biased_utility(judged, ranking, k):
    best = max((g for by_aspect in judged.values() for g in by_aspect.values()), default=1)
    expected = utility(judged, ranking, k, 0.9, 0.1, lambda a, g: g / max(1, best), lambda i: 0.9**i)
    assert value(f"RBU(p=0.9,e=0.1)@{k}", judged, ranking) == pytest.approx(expected, abs=1e-12)


@given(judgments, rankings)
def test_rank_biased_utility_as_the_program_of_its_authors_has_it(judged, ranking):
    def settles(aspect, grade):
        best = max(by_aspect.get(aspect, 0) for by_aspect in judged.values())
        return (2**grade - 1) / 2**best

    expected = utility(judged, ranking, 99, 0.8, 0.03, settles, lambda i: 0.2 * 0.8 ** (i - 1))
    name = "RBU(p=0.8,e=0.03,preset='evall')"
    assert value(name, judged, ranking) == pytest.approx(expected, abs=1e-12)


def test_utility_falls_with_every_document_that_gains_nothing():
    judged = {"a1": {"a": 1}, "a2": {"a": 1}, "b1": {"b": 1}}
    worth = [
        value("RBU", judged, ranking) for ranking in (["a1", "b1"], ["a1", "b1", "a2"], ["a1", "b1", "x"])
    ]
    assert worth[0] > worth[1] == worth[2]


@given(st.lists(st.sampled_from([0, 1, 2]), max_size=8), st.floats(0, 2000))
def test_time_biased_gain(word, words):
    qrels = {"q": {f"d{i}": g for i, g in enumerate(word)} | {"other": 1}}
    ranking = [f"d{i}" for i in range(len(word))]
    clock = total = 0.0
    for grade in word:
        total += 0.4928 * 2 ** (-clock / 224) if grade else 0
        clock += 4.4 + (0.018 * words + 7.8) * (0.64 if grade else 0.39)
    actual = rs.evaluate(qrels, {"q": ranking}, rs.TBG(words=words)).values.item() if ranking else 0
    assert actual == pytest.approx(total)


def test_time_biased_gain_is_rbp_where_all_documents_take_the_same_time():
    text = "TBG(half_life=10,gain=0.2,look=10,words=0,decision=0)"
    qrels, run = {"q": {"a": 1, "b": 1}}, {"q": ["a", "x", "b"]}
    scores = rs.evaluate(qrels, run, [text, "RBP(p=0.5)"])
    assert scores.mean(text)[0] == pytest.approx(scores.mean("RBP(p=0.5)")[0] * 0.2 / 0.5)


WEIGHTS = {
    "P": lambda i: 1 / 5,
    "RBP": lambda i: 0.2 * 0.8 ** (i - 1),
    "DCG": lambda i: 1 / log2(1 + i),
    "nDCG": lambda i: 1 / log2(1 + i),
}


@given(st.lists(st.booleans(), max_size=7), st.integers(0, 3))
def test_terminal_documents(word, missed):
    base = sum(word) + missed
    qrels = {
        "q": {f"d{i}": int(g) for i, g in enumerate(word)} | {f"m{i}": 1 for i in range(missed)} | {"x": 0}
    }
    ranking = [f"d{i}" for i in range(len(word))]
    gain = sum(word) / base if base else 1.0
    gains = [*map(float, word), gain][:5]
    for name, weight in WEIGHTS.items():
        total = sum(g * weight(i) for i, g in enumerate(gains, 1))
        if name == "nDCG":
            total /= sum(weight(i) for i in range(1, min(base + 1, 5) + 1))
        assert value(
            f"Terminal(measure='{name}')@5", {k: {"": g} for k, g in qrels["q"].items()}, ranking
        ) == pytest.approx(total)
    hits = [i for i, g in enumerate(word, 1) if g]
    average = sum(n / i for n, i in enumerate(hits, 1)) + gain * (len(hits) + gain) / (len(word) + 1)
    reciprocal = 1 / hits[0] if hits else gain / (len(word) + 1)
    plain = {k: {"": g} for k, g in qrels["q"].items()}
    assert value("Terminal(measure='AP')", plain, ranking) == pytest.approx(average / (base + 1))
    assert value("Terminal(measure='RR')", plain, ranking) == pytest.approx(reciprocal)


def test_ending_after_the_last_relevant_document_is_best():
    qrels, run = {"q": {"a": 1, "b": 1}}, {}
    for name, ranking in {"early": "a", "right": "ab", "late": "abx", "later": "abxy"}.items():
        run[name] = {"q": list(ranking)}
    for inside in ("RBP", "AP", "nDCG", "DCG"):
        actual = dict(
            zip(run, rs.evaluate(qrels, run, f"Terminal(measure='{inside}')").values.ravel(), strict=True)
        )
        assert max(actual, key=actual.get) == "right"
        assert actual["late"] > actual["later"]
    # a topic without relevant documents is best answered by nothing
    empty = rs.evaluate({"q": {"a": 0}}, {"none": {"q": []}, "some": {"q": ["a"]}}, "Terminal(measure='RR')")
    assert empty.values.ravel().tolist() == [1, 0.5]


def test_the_laboratory_says_what_terminal_documents_guarantee():
    actual = rs.lab.properties("Terminal RBP", grades=1, depth=5, relevant=3)
    assert actual.violations("Terminal", "irrelevance monotonicity") == 0
    utility = rs.lab.properties("RBU TBG", aspects=2, depth=5)
    for name in ("irrelevance monotonicity", "redundancy"):
        assert utility.violations("RBU", name) == 0
    # Only RBU penalises a document that gains less than its effort.
    assert utility.violations("RBU", "relevance monotonicity") > 0
    assert utility.violations("TBG", "relevance monotonicity") == 0


@given(judgments, rankings)
def test_d_measures_add_up_grades(judged, ranking):
    total = {d: {"": sum(max(0, g) for g in by_aspect.values())} for d, by_aspect in judged.items()}
    for inside in ("nDCG", "ERR", "AP", "Twist@8", "RBP(graded=True)"):
        name, _, cutoff = inside.partition("@")
        actual = value(f"D(measure='{name}')" + (f"@{cutoff}" if cutoff else ""), judged, ranking)
        assert actual == pytest.approx(value(inside, total, ranking), nan_ok=True)


@given(judgments, rankings, st.sampled_from([None, {"a": 0.75, "b": 0.25}]))
def test_d_and_d_sharp_of_ndcg_are_the_usual_ones(judged, ranking, weights):
    if weights is not None and relevant_aspects(judged) != ["a", "b"]:
        weights = None
    for general, usual in (("D(measure='nDCG')@4", "D_nDCG@4"), ("DS(gamma=0.3)@4", "DS_nDCG(gamma=0.3)@4")):
        expected = value(usual, judged, ranking, weights)
        assert value(general, judged, ranking, weights) == pytest.approx(expected, abs=1e-12)


def test_texts_and_mistakes():
    assert str(rs.measure("DS(measure='ERR')@10")) == "DS(measure='ERR')@10"
    assert rs.measure("Dsharp@5") == rs.DS @ 5
    with pytest.raises(MeasureError, match="Terminal cannot have"):
        rs.measure("Terminal(measure='ERR')")
    with pytest.raises(MeasureError, match="Terminal cannot have"):
        rs.measure("Terminal(measure='RBP(graded=True)')")
    with pytest.raises(MeasureError, match="D cannot have"):
        rs.measure("D(measure='alpha_nDCG')")
    with pytest.raises(MeasureError, match="both excluded"):
        rs.measure("RBU(p=1)")
    with pytest.raises(MeasureError, match="half_life=0"):
        rs.measure("TBG(half_life=0)")
    weights = {"a": 2**0.5, "b": 1.0}
    with pytest.raises(MeasureError, match="denominators"):
        value("D", {"d": {"a": 1, "b": 1}}, ["d"], weights)
