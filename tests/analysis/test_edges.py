"""Where an analysis changes its mind: the last value that still counts, ties in an order, and lines that are named."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import RegularGridInterpolator

import rankscope as rs
from rankscope.analysis import plane, scale_effect
from rankscope.analysis.findings.basis import Basis
from rankscope.analysis.findings.scale import badge
from rankscope.analysis.next_judgments import read_template
from rankscope.analysis.pair_rows import topic_differences
from rankscope.analysis.stats.coefficients import pearson
from rankscope.analysis.stats.matrices import complete
from rankscope.analysis.stats.significance import run_test
from rankscope.analysis.study import manifest_schema
from rankscope.analysis.study.experiments import _default_name
from rankscope.errors import InputError
from rankscope.judging import judge
from rankscope.lab.measurement.scales import Scales
from rankscope.read import open_collection


def test_lists_are_cut_down_to_one_rank_where_there_are_always_too_many_rankings(small, monkeypatch):
    monkeypatch.setattr(scale_effect, "FEW", 0)
    judged = judge(*open_collection(*small))
    plain, mapped, _ = scale_effect.on_both_scales(judged, rs.measure("AP"), 4)
    assert (str(plain), mapped.cutoff) == ("AP@1", 1)


def test_pairs_of_measures_that_disagree_equally_are_in_the_order_of_their_names(scored):
    values = np.array([[0.9, 0.8], [0.5, 0.4], [0.1, 0.2]])
    result = rs.findings(scored({"AP": values, "RR": values, "Bpref": values}), replicates=20)
    rows = result.get("disagreement").evidence.rows
    assert [row[:2] for row in rows] == [("AP", "Bpref"), ("AP", "RR"), ("RR", "Bpref")]


def test_only_the_first_four_doubtful_means_are_named(scored):
    values = np.array([[0.9, 0.8], [0.5, 0.4]])
    names = ["AP", "AP@3", "AP@4", "AP@5", "AP@6"]
    four = rs.findings(scored(dict.fromkeys(names[:4], values)), replicates=20).get("scale").sentence
    assert "4 of 4 measures are ordinal, so that their means are doubtful (AP, AP@3, AP@4 and AP@5):" in four
    five = rs.findings(scored(dict.fromkeys(names, values)), replicates=20).get("scale").sentence
    assert (
        "5 of 5 measures are ordinal, so that their means are doubtful (AP, AP@3, AP@4, AP@5 and others):"
        in five
    )


def test_the_largest_number_of_intervals_in_a_manifest():
    check = manifest_schema._OPTIONAL["intervals"]
    check(2**31 - 1, "intervals")
    for refused in (0, 2**31):
        with pytest.raises(Exception, match="whole number"):
            check(refused, "intervals")


def test_heights_between_squares_are_those_of_scipy():
    rng = np.random.default_rng(3)
    bins = plane._BINS
    height = rng.random((bins, bins))
    places = [rng.uniform(0, bins - 1, 50) for _ in range(2)]
    expected = RegularGridInterpolator((np.arange(bins), np.arange(bins)), height)(np.stack(places, axis=1))
    np.testing.assert_allclose(plane._between(height, places), expected)


def test_a_bad_line_of_a_template_is_named(tmp_path):
    file = tmp_path / "filled.txt"
    for text, line in (("q1 0 a x\n", 1), ("q1 0 a 1\n\nq1 0\n", 3), ("q1 0 a 1\nq1 0 a 2\n", 2)):
        file.write_text(text)
        with pytest.raises(InputError) as refused:
            read_template(file)
        assert refused.value.line == line


@pytest.mark.parametrize(
    ("file", "name"),
    [("trec8/qrels.txt", "trec8"), ("trec8/QRELS.gz", "trec8"), ("trec8/robust.txt", "robust")],
)
def test_a_collection_is_called_after_its_folder_or_its_judgments(file, name):
    qrels = rs.Qrels.from_dict({"q": {"a": 1}})
    object.__setattr__(qrels, "path", file)
    assert _default_name(qrels) == name


def test_two_points_always_lie_on_a_line():
    assert (pearson([1, 2], [5, 3]).value, pearson([1, 2], [5, 3]).p) == (-1.0, 1.0)
    assert pearson([1, 2, 3], [2, 4, 6]).p == 0.0


def test_a_measure_that_is_defined_on_one_topic_is_reported():
    qrels = {"1": {"a": 1, "b": 0}, "2": {"a": 0}}
    runs = {"x": {"1": ["a", "b"], "2": ["a"]}, "y": {"1": ["b", "a"], "2": ["a"]}}
    [row] = rs.scale_effect(rs.evaluate(qrels, runs, "Twist"), length=3)["scale_effect"].records()
    assert row["measure"] == "Twist" and "defined on one topic only" in row.values()


def test_measures_on_one_topic_disagree_without_significance(scored):
    values = np.array([[0.9, 0.8, 0.7], [0.1, 0.3, 0.2]])
    holes = np.array([[0.1, np.nan, np.nan], [0.9, np.nan, np.nan]])
    finding = rs.findings(scored({"AP": values, "Twist": holes}), replicates=20).get("disagreement")
    assert (finding.numbers["swapped"], finding.numbers["contradict"]) == (1, 0)


def test_findings_read_the_ties_of_rankings_that_were_judged_without_them(small):
    basis = Basis(rs.evaluate(*small, "AP"), 0.05, "t", "holm", 50, 1)
    assert basis.lists.ties is None and basis.tied_lists.ties is not None


def test_differences_on_topics_are_those_of_the_values(scored):
    values = np.array([[0.5, 0.1, 0.9], [0.25, 0.6, 0.9]])
    matrix = complete(scored({"AP": values}), rs.measure("AP"))
    rows = topic_differences([matrix], ["r0", "r1"], [(0, 1)]).rows
    assert [row[3:] for row in rows] == [
        ("t1", 0.1, 0.6, -0.5),
        ("t2", 0.9, 0.9, 0.0),
        ("t0", 0.5, 0.25, 0.25),
    ]


def test_the_scale_of_the_scores_changes_no_test():
    values = np.array([[0.5, 0.1, 0.9, 0.4], [0.25, 0.6, 0.3, 0.2]])
    first, second = np.array([0]), np.array([1])
    usual, tiny = (run_test("t", factor * values, first, second).p for factor in (1.0, 2.0**-80))
    assert 0 < usual[0] < 1 and tiny.tolist() == usual.tolist()


def test_an_interruption_of_the_laboratory_ends_the_findings(monkeypatch):
    def interrupted(measure, length, **options):
        return Scales([], {}, partial=True)

    monkeypatch.setattr("rankscope.analysis.findings.scale.scales", interrupted)
    with pytest.raises(KeyboardInterrupt):
        badge(rs.measure("RBP(p=0.123)"))  # that nothing has asked about before
