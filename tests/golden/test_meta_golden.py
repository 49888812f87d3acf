"""Meta-evaluation against the golden cases."""

from __future__ import annotations

import numpy as np
import pytest

from rankscope.analysis.stats.bootstrap import bootstrap_pairs
from rankscope.analysis.stats.coefficients import kendall
from rankscope.analysis.stats.sampling import depth_pool, sample_size
from rankscope.analysis.stats.significance import all_pairs
from rankscope.judging import judge
from rankscope.read import Qrels, Run, Runs
from rankscope.read.orders import permutation


def cases(golden, function):
    selected = [case for case in golden if case["function"] == function]
    assert selected, f"no golden case for {function}"
    return selected


def test_kendall(golden):
    for case in cases(golden, "kendall"):
        tau = kendall(case["inputs"]["x"], case["inputs"]["y"])
        assert tau.tau_a == pytest.approx(case["expected"]["tau_a"], abs=1e-12), case["name"]
        assert tau.tau_b == pytest.approx(case["expected"]["tau_b"], abs=1e-12), case["name"]


def test_paired_bootstrap_with_given_replicates(golden):
    for case in cases(golden, "paired_bootstrap"):
        inputs = case["inputs"]
        values, resampled = np.array([inputs["x"], inputs["y"]]), np.array(inputs["replicates"])
        result = bootstrap_pairs(values, np.array([0]), np.array([1]), resampled, alpha=inputs["alpha"])
        assert result.asl[0] == case["expected"]["asl"], case["name"]
        assert result.delta[0] == pytest.approx(case["expected"]["delta"], abs=1e-12), case["name"]


def test_number_of_pairs(golden):
    for case in cases(golden, "pairs"):
        assert len(all_pairs(case["inputs"]["runs"])[0]) == case["expected"]


def ordered(items, order):
    documents = [document.encode() for document, _, _ in items]
    scores = np.array([score for _, _, score in items])
    ranks = np.array([rank for _, rank, _ in items])
    return [documents[k].decode() for k in permutation(documents, scores, ranks, order)]


def test_orderings(golden):
    for case in cases(golden, "trec_eval_order"):
        order = "trec_eval9" if case["inputs"]["single_precision"] else "trec_eval"
        assert ordered(case["inputs"]["items"], order) == case["expected"], case["name"]
    for case in cases(golden, "original_order"):
        assert ordered(case["inputs"]["items"], "file") == case["expected"], case["name"]


def test_sample_sizes(golden):
    for case in cases(golden, "sample_size"):
        got = [sample_size(n, ratio, least) for n, ratio, least in case["inputs"]["cases"]]
        assert got == case["expected"]


def test_depth_pool(golden):
    for case in cases(golden, "depth_k_pool"):
        inputs = case["inputs"]
        qrels = Qrels.from_dict({"q": inputs["qrels"]})
        runs = Runs(Run.from_dict({"q": documents}, name=name) for name, documents in inputs["runs"].items())
        judged = judge(qrels, runs)
        assert judged.with_grades(depth_pool(judged, inputs["k"])).qrels.judgments("q") == case["expected"]
