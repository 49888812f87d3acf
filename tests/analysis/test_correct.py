"""Scores corrected with human labels: exact unbiasedness, golden values, intervals, bias of the machine, and input."""

from __future__ import annotations

import json
import warnings
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.conftest import ROOT

import rankscope as rs
from rankscope.analysis.corrected_values import Corrector
from rankscope.analysis.label_sample import LabelSample, read_labels
from rankscope.cli.main import main
from rankscope.errors import InputError, MeasureError, SettingsError
from rankscope.measures.base import REGISTRY, declared_form
from rankscope.measures.forms import ShareOfIdeal, Weighted
from rankscope.measures.grammar import parse
from rankscope.scores import score

MACHINE = {"q1": {"a": 2, "b": 0, "c": 1, "d": 0}, "q2": {"a": 1, "e": 2, "f": 0}}
HUMAN = {"q1": {"a": 1, "b": 2, "c": 0, "d": 0}, "q2": {"a": 1, "e": 0, "f": 2}}
PI = {"q1": {"a": 0.5, "b": 0.25, "c": 0.8, "d": 0.3}, "q2": {"a": 0.4, "e": 1.0, "f": 0.6}}
RUNS = {
    "x": {"q1": ["a", "b", "c"], "q2": ["e", "z", "a", "f"]},
    "y": {"q1": ["d", "c", "y", "b"], "q2": ["f", "a"]},
}
ADDITIVE = (
    "P@3",
    "P(rel=2)@2",
    "RBP",
    "RBP(p=0.5,graded=true)",
    "DCG",
    "DCG(gains=exp2)@3",
    "DCG(discount=jk)@2",
)


def samples() -> Any:
    """Yield every sample of the documents with its probability."""
    documents = [(topic, doc) for topic, labels in HUMAN.items() for doc in labels]
    for drawn in product((False, True), repeat=len(documents)):
        chance = 1.0
        human: dict[str, dict[str, int]] = {"q1": {}, "q2": {}}
        for (topic, doc), is_drawn in zip(documents, drawn, strict=True):
            chance *= PI[topic][doc] if is_drawn else 1 - PI[topic][doc]
            if is_drawn:
                human[topic][doc] = HUMAN[topic][doc]
        if chance:
            yield chance, human


def every_additive() -> list[str]:
    """Return the names of all measures that are sums of gains with fixed weights."""
    names = {measure.name for measure in REGISTRY.values()}
    result = []
    for name in sorted(names):
        for text in (name, f"{name}@3"):
            try:
                measure = parse(text)
                form = declared_form(measure)
            except (MeasureError, TypeError):
                continue
            is_sum = isinstance(form, Weighted) and not isinstance(form, ShareOfIdeal)
            if (
                is_sum
                and measure.summary == "mean"
                and measure.better == "higher"
                and not measure.needs_aspects
            ):
                result.append(text)
                break
    return result


@pytest.mark.parametrize("tuning", ["plain", "tuned"])
def test_the_mean_over_all_samples_is_the_value_under_human_labels(tuning: Any) -> None:
    names = " ".join(dict.fromkeys([*ADDITIVE, *every_additive()]))
    scores = rs.evaluate(MACHINE, RUNS, names)
    truth = rs.evaluate(HUMAN, RUNS, names)
    assert {"P@3", "DCG", "RBP"} <= set(names.split())
    expected = np.zeros(truth.values.shape)
    total = 0.0
    for chance, human in samples():
        result = rs.correct(scores, human, pi=PI, tuning=tuning)
        expected += chance * result.scores.values
        total += chance
    assert total == pytest.approx(1.0, abs=1e-12)
    assert np.abs(expected - truth.values).max() < 1e-12


def test_the_sum_of_precisions_is_unbiased() -> None:
    judged = rs.evaluate(MACHINE, RUNS, "AP").require_judged("test")
    truth = rs.evaluate(HUMAN, RUNS, "AP").values[0] * [2, 2]  # both topics have two relevant documents
    expected = np.zeros(truth.shape)
    for chance, human in samples():
        corrector = corrector_for(judged, human)
        expected += chance * corrector._numerator(corrector._corrected(np.ones(2)))
    assert np.abs(expected - truth).max() < 1e-12


def test_the_sum_of_precisions_is_that_of_stat_ap() -> None:
    """Without machine: 1 / pi of each relevant document times the precision that pairs with its rank estimate."""
    judged = rs.evaluate(MACHINE, RUNS, "AP").require_judged("test")
    for _, human in samples():
        corrector = corrector_for(judged, human)
        expected = np.zeros((2, 2))
        for (r, run), (t, topic) in product(enumerate(judged.runs), enumerate(judged.topics)):
            n_above = 0.0
            for rank, doc in enumerate(RUNS[run][topic], 1):
                if human[topic].get(doc, 0) > 0:
                    expected[r, t] += (1 + n_above) / rank / PI[topic][doc]
                    n_above += 1 / PI[topic][doc]
        assert corrector._numerator(corrector._corrected(np.zeros(2))) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("tuning", "shrinkage"), [(0.0, 0.0), (0.7, 0.0), (0.7, 0.6), (1.0, 0.6)])
def test_the_expected_variance_of_ap_is_that_over_all_samples(tuning: float, shrinkage: float) -> None:
    """Enumerate labels with the probabilities of the model, for a fixed count of relevant documents."""
    lists = {"x": {"q": ["a", "b", "z", "c"]}, "y": {"q": ["d", "c", "a"]}}
    judged = rs.evaluate({"q": {"a": 1, "b": 0, "c": 1, "d": 0}}, lists, "AP").require_judged("test")
    pi, n = np.array([0.5, 0.25, 0.8, 0.3]), 4
    predicted = np.array([0.9, 0.2, 0.6, 0.4])
    truth, estimated = np.zeros(2), np.zeros(2)
    for human in product((0, 1), repeat=n):
        values, chances = [], []
        for drawn in product((False, True), repeat=n):
            sample = LabelSample(judged.qrels.grade, np.array(human, np.int32), np.array(drawn), pi)
            corrector = Corrector(judged, sample, parse("AP"))
            model, estimated_expansion = corrector.model, corrector.expansion
            assert estimated_expansion is not None
            model.group, model.share = np.arange(n), np.stack([1 - predicted, predicted], axis=1)[np.newaxis]
            corrector.expansion = expansion = estimated_expansion._replace(
                value=np.array([[0.4], [0.3]]),
                n_relevant=np.array([2.5]),
                indicators=(predicted + shrinkage * sample.inverse * (human - predicted))[:, np.newaxis],
                shrinkage=shrinkage,
                spread=predicted * (1 - predicted),
            )
            values.append(corrector._values(np.array([tuning]))[:, 0])
            chances.append(np.prod(np.where(drawn, pi, 1 - pi)))
            if any(drawn):  # Without labels there is no variance.
                variance = np.diag(corrector._covariance(np.array([tuning]))[0])
            else:
                full = corrector.sample._replace(is_labelled=np.ones(n, np.bool_))
                other = Corrector(judged, full, parse("AP"))
                other.model, other.expansion = model, expansion
                variance = np.diag(other._covariance(np.array([tuning]))[0])
            estimated += variance * chances[-1] * np.prod(np.where(human, predicted, 1 - predicted))
        truth += np.diag(np.cov(np.transpose(values), aweights=chances, ddof=0)) * np.prod(
            np.where(human, predicted, 1 - predicted)
        )
    assert estimated == pytest.approx(truth, abs=1e-12)


def test_an_uncertain_number_of_relevant_documents_costs_degrees_of_freedom() -> None:
    human, runs = synthetic()
    judged = rs.evaluate(human, runs, "AP").require_judged("test")
    sample = sample_of(judged, human, np.random.default_rng(1))
    for measure, is_uncertain in (("P@10", False), ("nDCG@10", False), ("AP", True)):
        corrector = Corrector(judged, sample, parse(measure))
        estimate, n_labels = corrector.correct(None), corrector.label_counts[0]
        assert ((estimate.freedom < n_labels - 1) == is_uncertain).all() and (estimate.freedom >= 1).all()
        assert (estimate.quantile(0.05) < estimate.quantile(0.01)).all()
    complete = sample._replace(is_labelled=np.ones(len(sample.pi), np.bool_), pi=np.ones(len(sample.pi)))
    assert (Corrector(judged, complete, parse("AP")).correct(None).freedom == len(sample.pi) - 1).all()


def corrector_for(judged: Any, human: Any) -> Corrector:
    from rankscope.analysis.label_sample import align

    return Corrector(judged, align(judged, read_labels(human), PI, None), parse("AP"))


@pytest.mark.parametrize(
    "measure", ["nDCG", "nDCG@2", "nDCG(gains=exp2)@3", "R@2", "Rprec", "AP", "AP@2", "P@2", "DCG"]
)
def test_complete_labels_give_the_human_value(measure: str) -> None:
    result = rs.correct(rs.evaluate(MACHINE, RUNS, measure), HUMAN, pi=1.0)
    truth = rs.evaluate(HUMAN, RUNS, measure)
    assert np.allclose(result.scores.values, truth.values, atol=1e-12)
    for row in result.means:
        assert row.low == pytest.approx(row.high, abs=1e-12)


def test_golden_cases_hold() -> None:
    cases = json.loads((ROOT / "tests" / "golden" / "science.json").read_text("utf-8"))["cases"]
    cases = [case for case in cases if case["function"] == "corrected"]
    assert len(cases) >= 10
    for case in cases:
        inputs = case["inputs"]
        names = {f"P@{inputs['cutoff']}": "P", f"DCG@{inputs['cutoff']}": "DCG", "RBP(p=0.8)": "RBP(p=0.8)"}
        scores = rs.evaluate({"q": inputs["machine"]}, {"run": {"q": inputs["list"]}}, list(names))
        for tuning in ("plain", "tuned"):  # a single topic has no others to tune on
            result = rs.correct(scores, {"q": inputs["human"]}, pi={"q": inputs["pi"]}, tuning=tuning)  # type: ignore[arg-type]
            for row in result.means:
                assert row.corrected == pytest.approx(case["expected"][names[row.measure]], abs=1e-12), case[
                    "name"
                ]


def synthetic(seed: int = 1, topics: int = 20, runs: int = 4, depth: int = 20) -> tuple[Any, Any]:
    """Return the judgments of a human, and runs, of a random collection."""
    rng = np.random.default_rng(seed)
    human = {
        f"q{t}": {f"d{d}": int(rng.random() < 0.4) * int(rng.integers(1, 3)) for d in range(40)}
        for t in range(topics)
    }
    lists = {}
    for r in range(runs):
        lists[f"r{r}"] = {
            topic: [
                f"d{d}"
                for d in np.argsort(-(np.array([*labels.values()]) * 0.5 + rng.normal(size=40)))[:depth]
            ]
            for topic, labels in human.items()
        }
    return human, lists


def sampled(human: Any, pi: float, rng: Any) -> Any:
    return {topic: {d: g for d, g in labels.items() if rng.random() < pi} for topic, labels in human.items()}


@pytest.mark.parametrize("measure", ["P@10", "RBP", "nDCG@10"])
def test_intervals_cover_the_human_value(measure: str) -> None:
    human, runs = synthetic()
    truth = rs.evaluate(human, runs, measure).mean(measure)
    covered, widths = [], []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        machine = {
            t: {d: g if rng.random() < 0.7 else int(rng.integers(0, 3)) for d, g in of.items()}
            for t, of in human.items()
        }
        scores = rs.evaluate(machine, runs, measure)
        judged = scores.require_judged("test")
        result = rs.correct(scores, sampled(human, 0.2, rng), pi=0.2)
        rows = {row.run: row for row in result.means}
        covered += [
            rows[run].low <= value <= rows[run].high for run, value in zip(scores.runs, truth, strict=True)
        ]
        tuned, only = variances(judged, sample_of(judged, human, rng), measure)
        widths.append(np.sqrt(tuned / only).mean())
    assert np.mean(covered) >= 0.90  # 48 intervals, four of a sample depend on each other
    assert np.mean(widths) < 0.8


def variances(judged: Any, sample: LabelSample, measure: str) -> list[Any]:
    """Return the variances of the runs over samples of labels: tuned, and with human labels alone."""
    samples = (sample, sample._replace(is_human_only=True))
    return [np.diag(Corrector(judged, s, parse(measure)).correct().covariance) for s in samples]


def sample_of(judged: Any, human: Any, rng: Any) -> LabelSample:
    grade = np.array(
        [g for topic in judged.topics for g in (human[topic][d.decode()] for d in documents(judged, topic))],
        np.int32,
    )
    is_labelled = rng.random(len(grade)) < 0.2
    machine = np.maximum(judged.qrels.grade, 0).astype(np.int32)
    return LabelSample(
        machine, np.where(is_labelled, grade, 0).astype(np.int32), is_labelled, np.full(len(grade), 0.2)
    )


def documents(judged: Any, topic: str) -> Any:
    at = judged.qrels.topic_index[topic]
    return judged.qrels.documents[judged.qrels.topic_offsets[at] : judged.qrels.topic_offsets[at + 1]]


def test_the_variance_is_that_of_the_design_where_the_machine_rarely_errs(measure: str = "P@10") -> None:
    _, runs = synthetic(topics=60)
    human = {topic: {f"d{d}": 1 + d % 2 for d in range(40)} for topic in runs["r0"]}  # as on Cranfield
    for seed in range(10):
        rng = np.random.default_rng(seed)
        machine = {t: {d: g * (rng.random() > 0.03) for d, g in of.items()} for t, of in human.items()}
        judged = rs.evaluate(machine, runs, measure).require_judged("test")
        corrector = Corrector(judged, sample_of(judged, human, rng), parse(measure))
        estimate = corrector.correct(None)
        truth = np.concatenate([[human[t][d.decode()] for d in documents(judged, t)] for t in judged.topics])
        residual = (truth[:, np.newaxis] >= corrector.grades[1:]) - estimate.tuning[0] * corrector.j
        exact = np.zeros(len(runs))
        for docs, gradient in corrector.gradients(np.ones(len(truth), np.bool_)):
            exact += (np.einsum("rdg,dg->rd", gradient, residual[docs]) ** 2 * (1 / 0.2 - 1)).sum(axis=1)
        ratio = np.sqrt(np.diag(estimate.covariance) / exact)
        assert np.abs(ratio - 1).max() < 0.15, seed


def test_a_useless_machine_costs_at_most_five_percent() -> None:
    human, runs = synthetic()
    widths = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        machine = {t: {d: int(rng.integers(0, 3)) for d in of} for t, of in human.items()}
        judged = rs.evaluate(machine, runs, "P@10").require_judged("test")
        tuned, only = variances(judged, sample_of(judged, human, rng), "P@10")
        widths.append(np.sqrt(tuned / only).mean())
    assert np.mean(widths) < 1.05


def test_a_planted_bias_is_flagged_and_no_run_without_one() -> None:
    human, runs = synthetic(topics=30)
    flagged: dict[bool, list[list[str]]] = {True: [], False: []}
    for is_planted, seed in product((True, False), range(15)):
        rng = np.random.default_rng(seed)
        machine = {
            topic: {
                d: g
                + int(rng.integers(-1, 2))
                + (is_planted and rng.random() < 0.8 and d in runs["r2"][topic][:5])
                for d, g in of.items()
            }
            for topic, of in human.items()
        }
        # Negative grades count as 0 in measures; here errors should be symmetric, so grades start at 1.
        shifted = {topic: {d: g + 1 for d, g in of.items()} for topic, of in machine.items()}
        truth = {topic: {d: g + 1 for d, g in of.items()} for topic, of in human.items()}
        result = rs.correct(rs.evaluate(shifted, runs, "RBP(p=0.7)"), sampled(truth, 0.5, rng), pi=0.5)
        flagged[is_planted].append(result.flagged)
    assert np.mean([names == ["r2"] for names in flagged[True]]) >= 0.8
    assert np.mean([bool(names) for names in flagged[False]]) <= 0.2  # level .05 in 15 samples


def test_differences_are_paired_through_the_sample() -> None:
    human, runs = synthetic()
    runs["copy"] = runs["r0"]
    machine = {topic: dict.fromkeys(of, 1) for topic, of in human.items()}
    result = rs.correct(
        rs.evaluate(machine, runs, "P@10 nDCG@10 AP"),
        sampled(human, 0.2, np.random.default_rng(1)),
        pi=0.2,
        baseline="r0",
    )
    same = [row for row in result.differences if row.a == "copy"]
    assert len(same) == 3
    assert [row.corrected for row in same] == pytest.approx([0] * 3, abs=1e-12)
    assert [row.high - row.low for row in same][:2] == pytest.approx([0, 0], abs=1e-12)
    assert {row.b for row in result.differences} == {"r0"}


def test_corrected_scores_go_to_comparison_and_leaderboard() -> None:
    human, runs = synthetic()
    result = rs.correct(
        rs.evaluate(human, runs, "P@10"), sampled(human, 0.3, np.random.default_rng(1)), pi=0.3
    )
    assert {row.a for row in result.comparison.pairs} == {"r0", "r1", "r2"}
    assert [row.value for row in result.leaderboard.leaderboard] == pytest.approx(
        [row.corrected for row in result.means]
    )
    for name in ("comparison", "leaderboard"):
        assert getattr(result, name).plot().axes
    assert result.plot().axes
    mean = result.means[0]
    assert mean.low_topics < mean.low and mean.high < mean.high_topics


@pytest.mark.parametrize("measure", ["RR", "ERR", "Bpref", "Twist", "GMAP", "SetP", "P(judged_only=true)@5"])
def test_other_measures_are_rejected_by_name(measure: str) -> None:
    with pytest.raises(MeasureError, match=measure.split("(")[0]):
        rs.correct(rs.evaluate(MACHINE, RUNS, measure), HUMAN, pi=0.5)


def test_probabilities_come_from_strata() -> None:
    sample = {"q1": {"a": 1, "b": 2, "c": 0}, "q2": {"e": 0}}
    result = rs.correct(rs.evaluate(MACHINE, RUNS, "DCG"), sample, strata="topic", tuning="plain")
    pi = {"q1": dict.fromkeys("abcd", 0.75), "q2": dict.fromkeys("aef", 1 / 3)}
    same = rs.correct(rs.evaluate(MACHINE, RUNS, "DCG"), sample, pi=pi, tuning="plain")
    assert np.allclose(result.scores.values, same.scores.values)
    with pytest.raises(SettingsError, match="no document of stratum"):
        rs.correct(rs.evaluate(MACHINE, RUNS, "DCG"), sample, strata="topic,band,grade")
    with pytest.raises(SettingsError, match="no stratum is called 'x'"):
        rs.correct(rs.evaluate(MACHINE, RUNS, "DCG"), sample, strata="x")


def test_documents_that_only_the_human_judged_count() -> None:
    result = rs.correct(rs.evaluate(MACHINE, RUNS, "P@2"), {"q2": {"z": 1}}, pi=0.5, tuning="plain")
    assert result.scores.values[0, 0].tolist() == [0.5, 0.5 + 1.0]


def write(folder: Path, lines: str) -> list[str]:
    """Write a sample and the collection, and return the arguments of the command."""
    (folder / "machine.qrels").write_text(
        "".join(f"{t} 0 {d} {g}\n" for t, of in MACHINE.items() for d, g in of.items())
    )
    for run, lists in RUNS.items():
        text = "".join(
            f"{t} Q0 {d} {i} {-i} {run}\n" for t, docs in lists.items() for i, d in enumerate(docs)
        )
        (folder / f"{run}.run").write_text(text)
    (folder / "sample.qrels").write_text(lines)
    return [
        "correct",
        *(str(folder / name) for name in ("machine.qrels", "x.run", "y.run")),
        "--human",
        str(folder / "sample.qrels"),
    ]


def test_the_command_reads_probabilities_from_the_fifth_column(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = write(tmp_path, "q1 0 b 2 0.25\nq2 0 e 0 0.5\n")
    assert main([*arguments, "-m", "P@2", "-f", "json", "--tuning", "plain"]) == 0
    document = json.loads(capsys.readouterr().out)
    rows = {row["run"]: row for row in document["tables"]["means"]}
    assert rows["x"]["corrected"] == pytest.approx((0.5 + 0.5 / 0.25 + 0.5 - 0.5 / 0.5) / 2)
    assert {"machine", "human", "low", "high", "low_topics", "high_topics", "labels"} <= rows["x"].keys()
    assert {"run", "value", "low", "high", "flagged"} <= document["tables"]["bias"][0].keys()
    assert str(tmp_path / "sample.qrels") in document["settings"]["files"]
    assert main([*write(tmp_path, "q1 0 b 2\nq2 0 e 0\n"), "-m", "P@2", "--pi", "0.5", "-f", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["settings"]["pi"] == 0.5
    assert main([*write(tmp_path, "q1 0 b 2\nq2 0 e 0\n"), "-m", "P@2", "--pi", "0.5", "-f", "table"]) == 0
    assert "corrected with 2 human labels" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        ("q1 0 b 2\n", "no inclusion probability"),
        ("q1 0 b 2 0\n", "'0' is no inclusion probability"),
        ("q1 0 b 2 1.5\n", "'1.5' is no inclusion probability"),
        ("q1 0 b 2 nan\n", "'nan' is no inclusion probability"),
        ("q1 0 b x 0.5\n", "'x' is no grade"),
        ("q1 0 b 1 x\n", "'x' is no inclusion probability"),
        ("q1 0 b 1 0_1.5\n", "'0_1.5' is no inclusion probability; give a number from 1e-50 to 1"),
        ("q1 0 b 1 1e-300\n", "'1e-300' is no inclusion probability; give a number from 1e-50 to 1"),
        ("q1 0 b 1_0 0.5\n", "'1_0' is no grade; write a whole number, or leave ?"),
        ("q1 0 b 3000000000 0.5\n", "'3000000000' is no grade"),
        ("q1 0 b 99999999999999999999 0.5\n", "'99999999999999999999' is no grade"),
        ("q1 0 b\n", "3 fields"),
        ("q1 0 b 1 0.5\nq1 0 b 2 0.5\n", "'b' has two grades"),
        ("q1 0 b 1 0.5\nq1 0 b 1 0.4\n", "'b' has two labels"),
        ("q9 0 b 1 0.5\n", "topic 'q9' of the human labels has no machine labels"),
        ("q1 0 b ? 0.5\n", "there is no label"),
        ("", "there is no label"),
    ],
)
def test_a_bad_sample_gets_one_clear_line(
    lines: str, problem: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*write(tmp_path, lines), "-m", "P@2"]) != 0
    error = capsys.readouterr().err
    assert problem in error and len(error.strip().splitlines()) <= 2


def test_grades_and_probabilities_of_python_are_checked_too() -> None:
    scores = rs.evaluate(MACHINE, RUNS, "P@2")
    for grade in (3e9, 0.5, float("nan"), "high", 10**30):
        with pytest.raises(InputError, match=r"the labels of topic 'q1': .* is no grade"):
            rs.correct(scores, {"q1": {"b": grade}}, pi=0.5)
    with pytest.raises(InputError, match="the labels of topic 'q1' have no inclusion probability"):
        rs.correct(scores, {"q1": {"b": 1}}, pi={"q1": {"a": 0.5}})


def test_probabilities_have_one_source() -> None:
    scores = rs.evaluate(MACHINE, RUNS, "P@2")
    with pytest.raises(SettingsError, match="the labels have probabilities of their own; leave out pi"):
        rs.correct(scores, {"q1": {"b": (1, 0.5)}}, pi=0.1)
    for strata in ("", " , "):
        with pytest.raises(SettingsError, match="no stratum is named; name some of topic, band, grade"):
            rs.correct(scores, {"q1": {"b": 1}}, strata=strata)


def test_the_probability_1_with_missing_labels_gives_a_warning() -> None:
    scores, complete = rs.evaluate(MACHINE, RUNS, "P@2"), {t: dict(of) for t, of in HUMAN.items()}
    rs.correct(scores, complete, pi=1.0)
    with pytest.warns(UserWarning, match="all probabilities are 1, but 6 documents that count have no label"):
        rs.correct(scores, {"q1": {"b": 1}}, pi=1.0)


def test_a_grade_below_an_open_line_of_a_template_gives_a_warning(tmp_path: Path) -> None:
    """Lines are in random order, so that the first ones are a random subset; others may be chosen by hand."""
    path = tmp_path / "todo.txt"
    path.write_text("q1 0 b 2 0.5\nq2 0 e 1 0.5\nq1 0 a ? 0.5\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_labels(path)
    path.write_text("q1 0 b 2 0.5\nq1 0 a ? 0.5\nq2 0 e 1 0.5\n")
    with pytest.warns(
        UserWarning, match=r"todo\.txt: the intervals over labels are rough: lines with a grade follow"
    ):
        read_labels(path)


def test_open_lines_of_a_template_scale_the_probabilities(tmp_path: Path) -> None:
    write(tmp_path, "q1 0 b 2 0.5\nq1 0 a ? 0.5\n")
    assert read_labels(tmp_path / "sample.qrels") == {"q1": {"b": (2, 0.25)}}


def test_a_drawn_template_can_be_read_and_extended(tmp_path: Path) -> None:
    human, runs = synthetic()
    scores = rs.evaluate(human, runs, "P@10")
    first, second = (rs.next(scores, budget, purpose="correct", seed=3) for budget in (100, 200))
    assert first.sample is not None and second.sample is not None
    drawn = {(row.topic, row.doc) for row in first.sample}
    assert drawn <= {(row.topic, row.doc) for row in second.sample}
    assert 70 < len(drawn) < 130
    labels = {(topic, doc): human[topic][doc] for topic, doc in drawn}
    (tmp_path / "todo.txt").write_text(second.template(labels))
    read = read_labels(tmp_path / "todo.txt")
    assert {(topic, doc) for topic, of in read.items() for doc in of} == drawn
    (tmp_path / "done.txt").write_text(first.template(labels))
    result = rs.correct(scores, tmp_path / "done.txt")
    assert [row.corrected for row in result.means] == pytest.approx([row.machine for row in result.means])


def test_the_template_of_the_command_keeps_filled_grades(tmp_path: Path) -> None:
    _, *files, _, sample = write(tmp_path, "q1 0 a 1 0.5\n")
    todo = tmp_path / "todo.txt"
    command = [
        "next",
        *files,
        "-m",
        "P@2",
        "--for",
        "correct",
        "--budget",
        "7",
        "--template",
        str(todo),
        "--judged",
        sample,
    ]
    assert main(command) == 0
    assert sorted(line.split()[3] for line in todo.read_text().splitlines()) == ["1", *"??????"]
    assert {line.split()[4] for line in todo.read_text().splitlines()} == {"1"}


def test_the_allocation_has_a_smaller_variance_than_uniform_sampling() -> None:
    from rankscope.analysis.label_allocation import inclusion_probabilities

    human, runs = synthetic()
    scores = rs.evaluate(human, runs, "P@10")
    judged = scores.require_judged("test")
    pi = inclusion_probabilities(scores, 200)
    assert pi.sum() == pytest.approx(200) and pi.min() >= 0.1 * 200 / len(pi) - 1e-12
    corrector = Corrector(judged, sample_of(judged, human, np.random.default_rng(1)), parse("P@10"))
    variances = []
    for chance in (pi, np.full(len(pi), 200 / len(pi))):
        total = 0.0
        for docs, weight in corrector.gradients(np.ones(len(pi), np.bool_)):
            total += float(((weight[0] - weight[1])[:, 0] ** 2 * (1 / chance[docs] - 1)).sum())
        variances.append(total)
    assert variances[0] < 0.7 * variances[1]


def expected_error(scores: Any, human: Any, machine: Any, pi: Any) -> float:
    """Return the exact sum of the variances of the differences of all pairs, with weight 1 of the machine."""
    judged = scores.require_judged("test")
    corrector = Corrector(judged, sample_of(judged, human, np.random.default_rng(1)), parse("P@10"))
    error = np.concatenate(
        [[(human[t][d.decode()] > 0) != (machine[t][d.decode()] > 0) for d in documents(judged, t)]
         for t in judged.topics]
    )  # fmt: skip
    total = 0.0
    for docs, weight in corrector.gradients(np.ones(len(pi), np.bool_)):
        spread = len(weight) * weight[:, :, 0].var(axis=0) * len(weight)
        total += float((error[docs] * spread * (1 / pi[docs] - 1)).sum())
    return total


@pytest.mark.parametrize("shift", [0.0, 3.0])
def test_the_allocation_is_no_worse_than_uniform_sampling_for_very_different_runs(shift: float) -> None:
    from rankscope.analysis.label_allocation import inclusion_probabilities

    human, runs = synthetic(topics=30, runs=3)
    rng = np.random.default_rng(5)
    for r in range(2):  # runs that the machine separates
        runs[f"far{r}"] = {
            t: sorted(of, key=lambda d, of=of: -shift * (-1) ** r * of[d] + rng.normal())[:20]  # type: ignore[misc]
            for t, of in human.items()
        }
    machine = {
        t: {d: g if rng.random() < 0.8 else int(rng.integers(3)) for d, g in of.items()}
        for t, of in human.items()
    }
    scores = rs.evaluate(machine, runs, "P@10")
    pi = inclusion_probabilities(scores, 200)
    uniform = np.full(len(pi), 200 / len(pi))
    assert expected_error(scores, human, machine, pi) < expected_error(scores, human, machine, uniform)


def test_the_allocation_prefers_documents_on_which_the_machine_errs(tmp_path: Path) -> None:
    human, runs = synthetic()
    machine = {t: {d: g if g or int(d[1:]) % 2 else 1 for d, g in of.items()} for t, of in human.items()}
    scores = rs.evaluate(machine, runs, "P@10")
    first = rs.next(scores, 150, purpose="correct")
    assert first.sample is not None
    labels = {(row.topic, row.doc): human[row.topic][row.doc] for row in first.sample}
    (tmp_path / "todo.txt").write_text(first.template(labels))
    blind = rs.next(scores, 300, purpose="correct")
    second = rs.next(scores, 300, purpose="correct", human=tmp_path / "todo.txt")
    assert second.sample is not None and blind.sample is not None
    assert labels.keys() <= {(row.topic, row.doc) for row in second.sample}

    def share(result: Any) -> float:
        """Return the share of documents that the machine calls relevant: only there it errs."""
        return float(np.mean([machine[row.topic][row.doc] > 0 for row in result.sample]))

    assert share(second) > share(blind) + 0.05
    assert 250 < len(second.sample) < 350
    with pytest.raises(rs.errors.InputError, match="is in the template, but not drawn with seed 2"):
        rs.next(scores, 300, purpose="correct", human=tmp_path / "todo.txt", seed=2)
    for unknown in ({"q0": {"x": (1, 0.5)}}, {"x": {"d0": (1, 0.5)}}):
        with pytest.raises(rs.errors.InputError, match="of the human labels has no machine label"):
            rs.next(scores, 300, purpose="correct", human=unknown)
    with pytest.raises(rs.errors.InputError, match="no inclusion probability"):
        rs.next(scores, 300, purpose="correct", human={"q0": {"d0": 1}})
    with pytest.raises(SettingsError, match="human labels do not join"):
        rs.next(scores, 300, human=tmp_path / "todo.txt")


@pytest.mark.parametrize("measure", ["nDCG@3", "nDCG(gains=exp2)", "R@2", "Rprec"])
def test_expected_fractions_and_their_gradients_are_those_of_replaced_grades(measure: str) -> None:
    from rankscope.analysis.filled_values import LabelModel, fill

    human, runs = synthetic(topics=3, runs=2, depth=5)
    human = {topic: dict([*of.items()][:7]) for topic, of in human.items()}
    judged = rs.evaluate(human, runs, measure).require_judged("test")
    corrector = Corrector(judged, sample_of(judged, human, np.random.default_rng(2)), parse(measure))
    corrector.blocks[:] = [(0, 2), (2, 3)]
    offsets, parsed, n = judged.qrels.topic_offsets, [parse(measure)], len(judged.qrels)
    model = LabelModel(corrector, np.zeros(n, np.int64), np.zeros(n, np.int64))
    grades = np.zeros((4, n), np.int32)
    for first, last in corrector.blocks:
        documents = slice(int(offsets[first]), int(offsets[last]))
        drawn = model.draw(corrector.topic[documents], documents, 4)
        grades[:, documents] = corrector.grades[drawn]

    def mean(replaced: Any) -> Any:
        return np.mean([score(judged.with_grades(row), parsed).values[0] for row in replaced], axis=0)

    filled = list(fill(corrector, model, 4))
    assert np.concatenate([part.value for part in filled], axis=1) == pytest.approx(mean(grades), abs=1e-12)
    gradient = np.concatenate([part.gradient for part in filled], axis=1)
    for document in range(n):
        values = []
        for grade in corrector.grades:
            replaced = grades.copy()
            replaced[:, document] = grade
            values.append(mean(replaced)[:, corrector.topic[document]])
        assert pytest.approx(np.diff(values, axis=0), abs=1e-12) == gradient[:, document].T


def test_a_machine_that_confuses_grades_favours_no_run() -> None:
    """Runs with more relevant documents have more of the errors that the machine makes on them."""
    human, runs = synthetic(topics=40)
    runs["best"] = {topic: sorted(of, key=of.get, reverse=True)[:20] for topic, of in human.items()}
    flagged, plain = 0, 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        machine = {
            topic: {d: g + int(g > 0 and rng.random() < 0.5) for d, g in of.items()}
            for topic, of in human.items()
        }
        result = rs.correct(rs.evaluate(machine, runs, "P@10"), sampled(human, 0.5, rng), pi=0.5)
        flagged += bool(result.flagged)
        plain += next(row for row in result.bias if row.run == "best").low > 0
    assert plain >= 8  # The error on its documents is larger indeed,
    assert flagged <= 1  # but not larger than on other documents that people gave the same grade.


def test_too_few_labels_or_differences_make_intervals_rough() -> None:
    human, runs = synthetic()
    flipped = [(topic, d) for topic, of in human.items() for d in of if d in runs["r0"][topic][:10]]

    def warn(n_labels: int, n_differing: int, pi: float = 0.5) -> bool:
        machine = {topic: dict(of) for topic, of in human.items()}
        for topic, d in flipped[:n_differing]:
            machine[topic][d] = int(not human[topic][d])
        sample: dict[str, dict[str, int]] = {}
        for topic, d in flipped[:n_labels]:
            sample.setdefault(topic, {})[d] = human[topic][d]
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            rs.correct(rs.evaluate(machine, runs, "P@10"), sample, pi=pi)
        text = f"{n_labels} human labels count, {n_differing} of them differ"
        return any(
            "intervals over labels are rough" in str(w.message) and text in str(w.message) for w in found
        )

    assert not warn(30, 5)
    assert warn(29, 5)
    assert warn(30, 4)
    assert not warn(30, 4, pi=1.0)  # All documents that can be drawn are labelled.
