"""Evaluators and arrays give the values of ``evaluate``, bit for bit."""

from __future__ import annotations

import os
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import rankscope as rs
import rankscope.pytrec_eval as drop_in
from rankscope.errors import InputError, SettingsError
from rankscope.judging import kernels
from rankscope.measures import REGISTRY, Measure
from rankscope.native.memory import sum_ideals

QRELS = {"q1": {"d1": 2, "d2": 0, "d3": 1}, "q2": {"d1": 1, "d9": 1}, "q3": {"d4": 0}}
RUN = {"q1": {"d3": 0.5, "d1": 0.5, "x": 0.9}, "q2": {"d9": 2, "x": 1.5}, "q7": {"d1": 1.0}}
NAMES = ("AP", "nDCG@10", "RR", "ERR", "P@2", "Bpref")


def all_measures() -> list[Measure]:
    """Return every measure, with a cutoff where it needs one."""
    known = [
        measure for name, measure in REGISTRY.items() if measure.name == name and measure.family != "user"
    ]
    return [
        measure @ (0.5 if measure.name == "IPrec" else 5) if measure.cutoff_rule == "required" else measure
        for measure in known
    ]


def same(first: rs.Scores, other: rs.Scores) -> bool:
    return (first.runs, first.measures) == (other.runs, other.measures) and (
        first.values.tobytes() == other.values.tobytes()
    )


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"ties": "expected"},
        {"unjudged": "condense"},
        {"unjudged": "bounds"},
        {"missing": "skip"},
        {"order": "ascending_id"},
        {"topics": ["q1", "q3"]},
        {"grades": "0=0;1,2=1"},
    ],
)
def test_an_evaluator_returns_the_scores_of_a_collection(options: dict[str, Any], tmp_path: Path) -> None:
    evaluator = rs.Evaluator(QRELS, NAMES, **options)
    path = tmp_path / "a.run"
    path.write_text(
        "".join(f"{t} Q0 {d} 1 {s} a\n" for t, ranking in RUN.items() for d, s in ranking.items())
    )
    frame = pd.DataFrame(
        [(t, d, s) for t, ranking in RUN.items() for d, s in ranking.items()],
        columns=["qid", "docno", "score"],
    )
    for runs in (RUN, rs.Run.from_dict(RUN), frame, path, {"a": RUN, "b": {"q1": ["d1"]}}):
        expected = rs.Collection(QRELS, runs, **options).evaluate(NAMES)
        for _ in range(2):
            result = evaluator(runs)
            assert same(result, expected)
            assert result.settings == expected.settings
            assert result.topics == expected.topics


def test_an_evaluator_prepares_judgments_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    monkeypatch.setattr(kernels, "sum_ideals", lambda *arrays: calls.append(1) or sum_ideals(*arrays))
    evaluator = rs.Evaluator(QRELS, "nDCG nDCG@5")
    for score in (0.1, 0.9):
        evaluator({"q1": {"d1": score, "d2": 0.5}})
    assert len(calls) == 2  # one per measure
    assert repr(evaluator) == "<Evaluator: nDCG nDCG@5 on 3 judged topics>"


def test_an_evaluator_finds_aspects_and_checks_its_options() -> None:
    qrels = {"q": {"a": {"1": 1}, "b": {"2": 1}}}
    run = {"q": ["b", "a"]}
    assert same(rs.Evaluator(qrels, "alpha_nDCG@5")(run), rs.evaluate(qrels, run, "alpha_nDCG@5"))
    for wrong in ({"ties": "no"}, {"missing": "no"}, {"order": "no"}, {"unjudged": "no"}):
        with pytest.raises(SettingsError):
            rs.Evaluator(QRELS, "AP", **wrong)
    with pytest.raises(SettingsError, match="no measure"):
        rs.Evaluator(QRELS, [])
    with pytest.raises(InputError, match="no topic in common"):
        rs.Evaluator(QRELS, "AP")({"q8": {"d": 1.0}})


def test_the_drop_in_uses_an_evaluator() -> None:
    evaluator = drop_in.RelevanceEvaluator(QRELS, {"map", "num_q"})
    assert isinstance(evaluator._evaluator, rs.Evaluator)
    assert set(evaluator._evaluator.measures) == {rs.AP, rs.NumQ}
    assert drop_in.RelevanceEvaluator(QRELS, set()).evaluate({"q1": {"d1": 1.0}}) == {"q1": {}}


# arrays ---------------------------------------------------------------------------------------------------------------


def as_dicts(labels: Any, scores: Any) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """Return judgments and a run whose ids are positions."""
    qrels, run = {}, {}
    for row, (grades, values) in enumerate(zip(labels, scores, strict=True)):
        kept = [place for place, grade in enumerate(grades) if grade >= 0]
        if kept:
            qrels[f"{row:05}"] = {f"{place:05}": int(grades[place]) for place in kept}
            run[f"{row:05}"] = {f"{place:05}": float(values[place]) for place in kept}
    return qrels, run


def random_arrays(ties: bool = False, seed: int = 3) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    labels = rng.choice([-1, 0, 0, 0, 1, 2], (40, 60))
    scores = rng.integers(0, 9, labels.shape) / 8 if ties else rng.random(labels.shape)
    return labels, scores


@pytest.mark.parametrize("order", ["trec_eval", "trec_eval9", "ascending_id"])
@pytest.mark.parametrize("ties", ["break", "expected", "best", "worst"])
def test_arrays_have_the_values_of_ids(order: str, ties: str) -> None:
    labels, scores = random_arrays(ties=True)
    result = rs.evaluate_arrays(labels, scores, measures=NAMES, order=order, ties=ties)
    expected = rs.evaluate(*as_dicts(labels, scores), NAMES, order=order, ties=ties)
    assert result.values.tobytes() == expected.values.tobytes()
    assert result.topics == tuple(map(str, range(40)))


@pytest.mark.parametrize("scanner", ["native", "python"])
@settings(max_examples=settings().max_examples // 2)
@given(data=st.data())
def test_groups_are_rows(scanner: str, data: st.DataObject) -> None:
    """Random shapes: rows with padding, sizes, and ids in any order."""
    shape = data.draw(st.tuples(st.integers(1, 4), st.integers(1, 60)))
    labels = data.draw(arrays(np.int64, shape, elements=st.integers(-1, 3)))
    scores = data.draw(arrays(np.float64, shape, elements=st.sampled_from([0.0, -0.0, 1.0, -1.5, np.inf])))
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(os.environ, "RANKSCOPE_SCANNER", scanner)
        rows = rs.evaluate_arrays(labels, scores, measures=NAMES)
        qrels, run = as_dicts(labels, scores)
        if qrels:
            expected = rs.evaluate(qrels, run, NAMES).values
            has_documents = (labels >= 0).any(axis=1)
            assert rows.values[:, :, has_documents].tobytes() == expected.tobytes()
            assert np.isnan(rows.values[:, :, ~has_documents]).all()
        if shape[1] > 1:  # as many groups as documents would be ids
            sizes = np.full(shape[0], shape[1])
            flat = rs.evaluate_arrays(labels.ravel(), scores.ravel(), sizes, NAMES)
            assert flat.values.tobytes() == rows.values.tobytes()
            ids = np.repeat([f"q{i}" for i in range(shape[0])], shape[1])
            mixed = np.argsort(
                np.tile(np.arange(shape[1]), shape[0]), kind="stable"
            )  # a document of each in turn
            by_id = rs.evaluate_arrays(labels.ravel()[mixed], scores.ravel()[mixed], ids[mixed], NAMES)
            assert by_id.values.tobytes() == rows.values.tobytes()
            assert by_id.topics == tuple(f"q{i}" for i in range(shape[0]))


def test_padding_is_masked_negative_or_nan() -> None:
    labels, scores = random_arrays()
    expected = rs.evaluate_arrays(labels, scores, measures=NAMES).values.tobytes()
    masked = np.ma.masked_array(np.maximum(labels, 0), labels < 0)
    missing = np.where(labels < 0, np.nan, labels)
    unscored = np.ma.masked_array(np.where(labels < 0, np.nan, scores), labels < 0)
    for grades, values in (
        (masked, scores),
        (missing, scores),
        (missing.tolist(), scores),
        (abs(labels), unscored),
    ):
        assert rs.evaluate_arrays(grades, values, measures=NAMES).values.tobytes() == expected
    assert (
        rs.evaluate_arrays(labels, np.where(labels < 0, np.nan, scores), measures=NAMES).values.tobytes()
        == expected
    )


class Tensor:
    """An array of another library, which offers DLPack alone."""

    def __init__(self, values: Any) -> None:
        self.values = values

    def __dlpack__(self, **options: Any) -> Any:
        return self.values.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self.values.__dlpack_device__()


class Trained:
    """A tensor that has a gradient, like one of torch."""

    def __init__(self, values: Any) -> None:
        self.values = values

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        raise RuntimeError("Can't call numpy() on Tensor that requires grad")

    def detach(self) -> Trained:
        return self

    def cpu(self) -> Any:
        return self.values


@pytest.mark.parametrize("convert", [Tensor, Trained, pl.Series, pd.Series, list, memoryview])
def test_arrays_of_other_libraries_are_read(convert: Any) -> None:
    labels, scores, sizes = np.array([1, 0, 2, 1]), np.array([0.1, 0.5, 0.2, 0.3]), np.array([3, 1])
    expected = rs.evaluate_arrays(labels, scores, sizes, NAMES)
    assert same(rs.evaluate_arrays(convert(labels), convert(scores), sizes, NAMES), expected)


@pytest.mark.parametrize("package", ["torch", "jax.numpy"])
def test_real_tensors_are_read(package: str) -> None:
    library = pytest.importorskip(package)
    labels, scores = random_arrays()
    make = getattr(library, "tensor", library.asarray)
    expected = rs.evaluate_arrays(labels, scores.astype(np.float32), measures=NAMES)
    assert same(rs.evaluate_arrays(make(labels), make(scores.astype(np.float32)), measures=NAMES), expected)


def test_tensors_with_gradients_of_any_precision_are_read() -> None:
    torch = pytest.importorskip("torch")
    labels, scores = random_arrays(ties=True)  # multiples of 1/8, which every precision has
    expected = rs.evaluate_arrays(labels, scores, measures=NAMES)
    for precision in (torch.float64, torch.float32, torch.float16, torch.bfloat16):
        for grades in (torch.tensor(labels), torch.tensor(labels, dtype=precision)):
            tensor = torch.tensor(scores, dtype=precision, requires_grad=True)
            assert same(rs.evaluate_arrays(grades, tensor, measures=NAMES), expected)
    sizes = torch.tensor([60] * 40)
    flat = rs.evaluate_arrays(
        torch.tensor(labels).ravel(), torch.tensor(scores).ravel(), sizes, measures=NAMES
    )
    assert same(flat, expected)


def test_several_runs_share_labels() -> None:
    labels, scores = random_arrays()
    result = rs.evaluate_arrays(labels, {"a": scores, "b": -scores}, measures=NAMES)
    for index, values in enumerate((scores, -scores)):
        alone = rs.evaluate_arrays(labels, values, measures=NAMES)
        assert result.values[:, index].tobytes() == alone.values[:, 0].tobytes()
    assert result.runs == ("a", "b")
    assert len(rs.compare(result, baseline="a").pairs) == len(NAMES)


def test_expected_ties_are_those_of_scikit_learn() -> None:
    from sklearn.metrics import ndcg_score

    labels, scores = random_arrays(ties=True)
    labels = np.maximum(labels, 0)
    result = rs.evaluate_arrays(labels, scores, measures="nDCG nDCG@10", ties="expected")
    for row in range(len(labels)):
        for index, k in enumerate((None, 10)):
            expected = ndcg_score(labels[row : row + 1], scores[row : row + 1], k=k)
            assert result.values[index, 0, row] == pytest.approx(expected, abs=1e-12)


def test_positions_are_the_ids_of_documents() -> None:
    scores = rs.evaluate_arrays([[0, -1, 1], [2, 0, 0]], [[0.1, 0.2, 0.3], [3, 2, 1]], measures="AP")
    judged = scores.require_judged("a test")
    assert judged.qrels.judgments("0") == {"0": 0, "2": 1}
    assert judged.qrels.judgments("1") == {"0": 2, "1": 0, "2": 0}
    repeated = pickle.loads(pickle.dumps(judged.qrels))
    assert repeated.documents == judged.qrels.documents == [b"0", b"2", b"0", b"1", b"2"]


@pytest.mark.parametrize(
    ("labels", "scores", "groups", "message"),
    [
        ([1, 0], [0.1], None, "shape"),
        ([[1, 0]], [[0.1, float("nan")]], None, "ranking 0 is NaN"),
        ([1.5, 0], [0.1, 0.2], None, "AP needs rel="),
        ([[[1]]], [[[1]]], None, "3 dimensions"),
        (["a"], [1], None, "array of"),
        ([[1], [2, 3]], [1], None, "labels are not an array"),
        ([1, 0], [0.1, 0.2], [1, 2, 3], "neither"),
        ([1, 0, 1], [0.1, 0.2, 0.3], [4, -1], "neither"),
        ([1, 0], [0.1, 0.2], [[1, 1]], "one-dimensional"),
        ([[1, 0]], [[0.1, 0.2]], [2], "groups already"),
        ([1, 0], [0.1, 0.2], [1.5, 2.5], "groups"),
    ],
)
def test_invalid_arrays_are_errors_of_one_line(labels: Any, scores: Any, groups: Any, message: str) -> None:
    with pytest.raises((InputError, SettingsError), match=message) as caught:
        rs.evaluate_arrays(labels, scores, groups, "AP")
    assert "\n" not in str(caught.value)
    with pytest.raises(SettingsError, match="order 'file'"):
        rs.evaluate_arrays([1], [1], measures="AP", order="file")


# the same run in every form -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ties", [False, True])
def test_a_run_has_the_same_bits_in_every_form(ties: bool, tmp_path: Path) -> None:
    """Check every measure on dicts, lists of rows, frames, arrays and files, with both scanners."""
    labels, scores = random_arrays(ties, seed=8)
    qrels, run = as_dicts(labels, scores)
    measures = all_measures()
    assert len(measures) > 60
    expected = rs.evaluate(qrels, run, measures)
    rows = [(t, d, s) for t, ranking in run.items() for d, s in ranking.items()]
    text = pd.DataFrame(rows, columns=["qid", "docno", "score"])
    objects = text.astype({"qid": object, "docno": object})
    lines = "".join(f"{t} Q0 {d} 0 {s!r} a\n" for t, d, s in rows)
    (tmp_path / "a.run").write_text(lines)
    (tmp_path / "qrels").write_text(
        "".join(f"{t} 0 {d} {g}\n" for t, graded in qrels.items() for d, g in graded.items())
    )
    text.to_parquet(tmp_path / "a.parquet")
    forms: dict[str, Any] = {
        "text": text,
        "objects": objects,
        "categories": text.astype({"qid": "category", "docno": "category"}),
        "polars": pl.from_pandas(text),
        "columns": {name: text[name].tolist() for name in text},
        "records": text.to_dict("records"),
        "file": tmp_path / "a.run",
        "parquet": tmp_path / "a.parquet",
    }
    for scanner in ("native", "python"):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("RANKSCOPE_SCANNER", scanner)
            for name, form in forms.items():
                result = rs.evaluate(tmp_path / "qrels" if name == "file" else qrels, form, measures)
                for index, measure in enumerate(measures):
                    same_bits = result.values[index].tobytes() == expected.values[index].tobytes()
                    assert same_bits, (scanner, name, measure)
            result = rs.evaluate_arrays(labels, scores, measures=measures)
            for index, measure in enumerate(measures):
                assert result.values[index].tobytes() == expected.values[index].tobytes(), (scanner, measure)
