"""Judgments that are not whole numbers: measures of gains use them, measures of binary relevance need ``rel``."""

from __future__ import annotations

import json
import math
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankscope as rs
from rankscope.cli.main import main
from rankscope.errors import InputError, MeasureError, SettingsError
from rankscope.measures import REGISTRY

GAINS = ["nDCG", "nDCG@5", "nDCG(gains='exp2')@4", "DCG@10", "CG@3", "nCG@3", "SR@3", "SFT", "ERR", "ERR@4",
         "ERR(max_grade=3)", "RBP(graded=True)", "RBP(p=0.5,graded=True,rel=0.5)", "RBP(graded=True,max_grade=4)",
         "nDCG(judged_only=True)", "nDCG(gains='2=7')", "G", "nDCG_rel", "RnDCG", "IdealDCG"]  # fmt: skip
BINARY = [
    "AP(rel=0.5)",
    "AP(rel=1)",
    "P(rel=0.37)@3",
    "RR(rel=1.2)",
    "R(rel=0.1)@5",
    "Bpref(rel=0.5)",
    "RBP(rel=0.5)",
]


def _collection(seed: int) -> tuple[dict[str, dict[str, float]], dict[str, dict[str, float]]]:
    random = np.random.default_rng(seed)
    levels = [0.0, 0.0, 0.1, 0.37, 0.5, 1.0, 1.2, 2.0, -1.0]
    qrels, run = {}, {}
    for topic in range(6):
        names = [f"d{i:02}" for i in range(14)]
        judged = {name: float(random.choice(levels)) for name in names[:11]}
        qrels[f"q{topic}"] = judged | {"d00": 0.37}
        scores = random.permutation(14).astype(float)
        run[f"q{topic}"] = {name: float(scores[i]) for i, name in enumerate(names) if i % 5 != topic % 5}
    return qrels, run


def _naive(measure: str, judged: dict[str, float], ranking: list[str], best: float) -> float:
    """Return the value by the formula, in plain Python."""
    gains = [max(0.0, judged.get(document, 0.0)) for document in ranking]
    ideal = sorted((max(0.0, gain) for gain in judged.values()), reverse=True)

    def dcg(values: list[float], depth: int | None = None) -> float:
        return math.fsum(gain / math.log2(rank + 1) for rank, gain in enumerate(values[:depth], 1))

    def err(depth: int | None = None, best: float = best) -> float:
        left, total = 1.0, 0.0
        for rank, gain in enumerate(gains[:depth], 1):
            stop = (2**gain - 1) / 2**best
            total += left * stop / rank
            left *= 1 - stop
        return total

    def rbp(p: float, best: float, rel: float = 1e-9) -> float:
        return (1 - p) * math.fsum(min(1.0, g / best) * p**i for i, g in enumerate(gains) if g >= rel)

    def ap(rel: float) -> float:
        hits = [rank for rank, gain in enumerate(gains, 1) if gain >= rel]
        return math.fsum(i / rank for i, rank in enumerate(hits, 1)) / max(1, sum(g >= rel for g in ideal))

    powers, ideal_powers = [2**g - 1 for g in gains], [2**g - 1 for g in ideal]
    formulas: dict[str, Any] = {
        "nDCG": lambda: dcg(gains) / dcg(ideal),
        "nDCG@5": lambda: dcg(gains, 5) / dcg(ideal, 5),
        "nDCG(gains='exp2')@4": lambda: dcg(powers, 4) / dcg(ideal_powers, 4),
        "DCG@10": lambda: dcg(gains, 10),
        "CG@3": lambda: math.fsum(gains[:3]),
        "nCG@3": lambda: math.fsum(gains[:3]) / math.fsum(ideal[:3]),
        "ERR": err,
        "ERR@4": lambda: err(4),
        "ERR(max_grade=3)": lambda: err(best=3),
        "RBP(graded=True)": lambda: rbp(0.8, best),
        "RBP(p=0.5,graded=True,rel=0.5)": lambda: rbp(0.5, best, 0.5),
        "RBP(graded=True,max_grade=4)": lambda: rbp(0.8, 4),
        "AP(rel=0.5)": lambda: ap(0.5),
        "AP(rel=1)": lambda: ap(1),
        "P(rel=0.37)@3": lambda: sum(g >= 0.37 for g in gains[:3]) / 3,
        "RR(rel=1.2)": lambda: next((1 / rank for rank, g in enumerate(gains, 1) if g >= 1.2), 0.0),
        "R(rel=0.1)@5": lambda: sum(g >= 0.1 for g in gains[:5]) / sum(g >= 0.1 for g in ideal),
        "RBP(rel=0.5)": lambda: 0.2 * math.fsum(0.8**i for i, g in enumerate(gains) if g >= 0.5),
    }
    return float(formulas[measure]()) if measure in formulas else math.nan


@pytest.mark.parametrize("seed", range(5))
def test_values_are_those_of_the_formulas_with_gains(seed: int) -> None:
    qrels, run = _collection(seed)
    best = max(gain for judged in qrels.values() for gain in judged.values())
    scores = rs.evaluate(qrels, run, [*GAINS, *BINARY])
    for measure in map(str, scores.measures):
        for topic, value in zip(scores.topics, scores.matrix(measure).values[0].tolist(), strict=True):
            ranking = sorted(run[topic], key=run[topic].__getitem__, reverse=True)
            naive = _naive(measure, qrels[topic], ranking, best)
            assert math.isnan(naive) or value == pytest.approx(naive, abs=1e-14), (measure, topic)


def test_dicts_frames_arrays_and_files_give_identical_bits(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    qrels, run = _collection(7)
    run = {topic: {d: s for d, s in ranking.items() if d in qrels[topic]} for topic, ranking in run.items()}
    measures = [*GAINS, *BINARY]
    expected = rs.evaluate(qrels, run, measures).values
    rows = [(topic, d, gain) for topic, judged in qrels.items() for d, gain in judged.items()]
    text = "".join(f"{topic} 0 {d} {gain!r}\n" for topic, d, gain in rows)
    (tmp_path / "qrels").write_text(text)
    (tmp_path / "qrels.csv").write_text("query,doc,grade\n" + "".join(f"{t},{d},{g!r}\n" for t, d, g in rows))
    (tmp_path / "qrels.json").write_text(json.dumps(qrels))
    (tmp_path / "run").write_text(
        "".join(f"{t} Q0 {d} 0 {s!r} r\n" for t, ranking in run.items() for d, s in ranking.items())
    )
    frame = pandas.DataFrame(rows, columns=["query_id", "doc_id", "relevance"])
    sources: list[Any] = [frame, rs.Qrels(qrels), rs.Qrels.from_frame(rs.Qrels(qrels).frame_columns()),
                          pickle.loads(pickle.dumps(rs.Qrels(qrels)))]  # fmt: skip
    sources += [tmp_path / name for name in ("qrels", "qrels.csv", "qrels.json")]
    for source in sources:
        for runs in (run, tmp_path / "run"):
            assert rs.evaluate(source, runs, measures).values.tobytes() == expected.tobytes(), source
    assert rs.Evaluator(qrels, measures)(run).values.tobytes() == expected.tobytes()
    # Arrays have a label for every retrieved document, so that the pool is what was retrieved.
    full = {
        topic: {d: qrels[topic][d] for d in ranking if qrels[topic][d] >= 0} for topic, ranking in run.items()
    }
    run = {topic: {d: run[topic][d] for d in judged} for topic, judged in full.items()}
    labels = [gain for judged in full.values() for gain in judged.values()]
    scored = [score for ranking in run.values() for score in ranking.values()]
    arrays = rs.evaluate_arrays(labels, scored, [len(judged) for judged in full.values()], measures)
    assert arrays.values.tobytes() == rs.evaluate(full, run, measures).values.tobytes()


def test_ndcg_of_gains_is_that_of_scikit_learn() -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    random = np.random.default_rng(3)
    labels, scores = random.random((20, 12)).round(2), random.integers(0, 6, (20, 12)).astype(float)
    for measure, k in (("nDCG", None), ("nDCG@5", 5)):
        ours = rs.evaluate_arrays(labels, scores, measures=measure, ties="expected").values[0, 0]
        theirs = [metrics.ndcg_score(labels[[i]], scores[[i]], k=k) for i in range(len(labels))]
        assert ours == pytest.approx(theirs, abs=1e-12)


def test_whole_numbers_as_floats_are_grades() -> None:
    qrels = rs.Qrels({"q": {"a": 2.0, "b": 0.0}})
    assert qrels.gains is None and qrels.judgments("q") == {"a": 2, "b": 0}
    measures = ["AP", "AP(rel=0.5)", "AP(rel=1.5)", "AP(rel=2)"]
    values = rs.evaluate({"q": {"a": 1, "b": 2}}, {"q": ["x", "a", "b"]}, measures).values.ravel().tolist()
    assert values == [pytest.approx((1 / 2 + 2 / 3) / 2)] * 2 + [pytest.approx(1 / 3)] * 2


@pytest.mark.parametrize(
    ("measure", "message"),
    [
        ("AP", r"^AP needs rel=, since 0\.37 is not a whole number; write AP\(rel=0\.5\), for example$"),
        ("P@5", r"^P@5 needs rel="),
        ("RBP", r"^RBP needs rel="),
        ("Twist", r"^Twist needs grades, since 0\.37 is not a whole number; bin them: --grades"),
        ("Twist(rel=2)", r"needs grades"),
        ("nDCG(gains='0,1')", r"nDCG has no gain for 0\.37; gains='0,1' has those of grades"),
        ("ERR(max_grade=1)", r"^ERR\(max_grade=1\) meets grade 1\.5"),
    ],
)
def test_other_measures_need_rel_or_grades_in_one_line(measure: str, message: str) -> None:
    with pytest.raises(MeasureError, match=message):
        rs.evaluate({"q": {"a": 0.37, "b": 1.5}}, {"q": ["a", "b"]}, measure)


def test_every_measure_either_evaluates_gains_or_names_itself() -> None:
    for measure in REGISTRY.values():
        requested = (
            measure
            if measure.cutoff_rule != "required"
            else measure @ (0.5 if measure.name == "IPrec" else 5)
        )
        try:
            scores = rs.evaluate({"q": {"a": 0.37, "b": 1.5, "c": 0}}, {"q": ["a", "c", "b"]}, [requested])
        except MeasureError as error:
            assert str(requested) in str(error) and "\n" not in str(error)
        else:
            assert requested.uses_gains and scores.values.shape == (1, 1, 1)


def test_rel_of_a_measure_counts_as_set_even_if_it_is_the_default() -> None:
    qrels, run = {"q": {"a": 0.37, "b": 1.5}}, {"q": ["a", "b"]}
    for measure in ("AP(rel=1)", rs.AP(rel=1), rs.AP(rel=1) @ 5, pickle.loads(pickle.dumps(rs.AP(rel=1)))):
        assert rs.evaluate(qrels, run, measure).values.ravel().tolist() == [0.5]
    with pytest.raises(MeasureError, match="needs rel="):
        rs.evaluate(qrels, run, pickle.loads(pickle.dumps(rs.AP @ 5)))


def test_functions_of_the_user_get_gains() -> None:
    first = rs.measure("FirstGain", lambda grades, counts: grades[0] + max(counts))
    assert rs.evaluate({"q": {"a": 0.37, "b": 1.5}}, {"q": ["a", "b"]}, first).values.ravel().tolist() == [
        1.87
    ]


def test_analyses_of_scores_take_gains_and_those_of_rankings_ask_for_grades() -> None:
    qrels, run = _collection(2)
    other = {topic: dict(reversed(ranking.items())) for topic, ranking in run.items()}
    collection = rs.Collection(qrels, {"a": run, "b": other})
    scores = collection.evaluate("nDCG ERR")
    assert rs.compare(scores).pairs and rs.leaderboard(scores).leaderboard
    for analysis in (
        lambda: rs.effort(collection),
        collection.describe,
        lambda: rs.pools(scores),
        lambda: collection.qrels,
    ):
        with pytest.raises(
            InputError, match=r"needs grades, and 0\.1 is not a whole number; bin them: --grades"
        ):
            analysis()
    with pytest.raises(InputError, match="unjudged=bounds needs grades"):
        rs.evaluate(qrels, run, "nDCG", unjudged="bounds")


def test_gains_can_be_binned_later_but_not_merged() -> None:
    qrels = rs.Qrels({"q": {"a": 0.1, "b": 0.5, "c": -1}})
    assert qrels.with_merged_grades("-2-0=0;0-0.2=1;0.2-1=2").judgments("q") == {"a": 1, "b": 2, "c": 0}
    with pytest.raises(InputError, match="merging of grades needs grades"):
        qrels.with_merged_grades("0=0;1=1")
    with pytest.raises(SettingsError):
        qrels.with_merged_grades("x")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("1 0 b -0.5", "q:2: grade '-0.5' is not a 32-bit integer or a gain from 0 on"),
        ("1 0 b nan", "q:2: grade 'nan' is not"),
        ("1 0 b 1e400", "q:2: grade '1e400' is not"),
        ("1 0 a 0.25", "q:2: document 'a' of topic '1' is judged 0.25 here and 0.5 before"),
    ],
)
def test_bad_gains_are_named_by_file_and_line(tmp_path: Path, line: str, message: str) -> None:
    (tmp_path / "q").write_text(f"1 0 a 0.5\n{line}\n")
    with pytest.raises(InputError, match=message):
        rs.read_qrels(tmp_path / "q")


def test_the_command_evaluates_gains(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "qrels").write_text("1 0 a 0.37\n1 0 b 1.5\n1 0 c 0\n")
    (tmp_path / "run").write_text("1 Q0 a 1 3 r\n1 Q0 b 2 2 r\n1 Q0 c 3 1 r\n")
    files = [str(tmp_path / "qrels"), str(tmp_path / "run")]
    assert main(["eval", *files, "-m", "DCG", "-m", "AP(rel=0.5)", "-f", "json"]) == 0
    means = {row["measure"]: row["value"] for row in json.loads(capsys.readouterr().out)["tables"]["means"]}
    assert means == {"DCG": pytest.approx(0.37 + 1.5 / math.log2(3)), "AP(rel=0.5)": 0.5}
    assert main(["eval", *files, "-m", "AP"]) == 2
    assert "qrels:1: AP needs rel=, since 0.37 is not a whole number" in capsys.readouterr().err
    assert main(["trec_eval", *files]) == 2
    assert "qrels:1: this analysis needs grades, and 0.37 is not a whole number" in capsys.readouterr().err
