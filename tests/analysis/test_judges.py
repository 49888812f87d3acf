"""Judges against each other: agreement, leaderboards, who gains, and which judgments matter."""

from __future__ import annotations

import json
from itertools import pairwise

import numpy as np
import pytest
from scipy import stats

import rankscope as rs
from rankscope.analysis.influence import influences
from rankscope.cli.main import main
from rankscope.errors import InputError, SettingsError
from rankscope.measures import REGISTRY


def noisy(qrels, share, seed=1, grades=3):
    """A judge who guesses for a share of the documents."""
    rng = np.random.default_rng(seed)
    return {
        topic: {d: int(rng.integers(0, grades)) if rng.random() < share else g for d, g in judged.items()}
        for topic, judged in qrels.items()
    }


def agreement(result, a=None, b=None):
    rows = [r for r in result["agreement"].records() if a is None or (r["a"], r["b"]) == (a, b)]
    return {row["measure"]: row for row in rows}


def test_agreement_is_that_of_scikit_learn_and_krippendorff(small):
    metrics, package = pytest.importorskip("sklearn.metrics"), pytest.importorskip("krippendorff")
    qrels, _ = small
    sets = {"a": qrels, "b": noisy(qrels, 0.4), "c": noisy(qrels, 0.7, 2)}
    del sets["c"]["t0"]["d00"]
    result = rs.judges(sets, seed=2, replicates=100)
    keys = [(t, d) for t in qrels for d in qrels[t]]
    grades = {name: [one[t].get(d) for t, d in keys] for name, one in sets.items()}
    for a, b in (("a", "b"), ("a", "c"), ("b", "c")):
        x, y = zip(*[p for p in zip(grades[a], grades[b], strict=True) if None not in p], strict=True)
        got = agreement(result, a, b)
        assert got["documents"]["value"] == len(x)
        assert got["exact"]["value"] == pytest.approx(metrics.accuracy_score(x, y))
        assert got["kappa"]["value"] == pytest.approx(metrics.cohen_kappa_score(x, y))
        for weights in ("linear", "quadratic"):
            expected = metrics.cohen_kappa_score(x, y, weights=weights)
            assert got[f"kappa {weights}"]["value"] == pytest.approx(expected)
        assert got["alpha"]["value"] == pytest.approx(package.alpha([x, y], level_of_measurement="ordinal"))
        assert got["bias"]["value"] == pytest.approx(np.mean(np.subtract(y, x)))
        assert all(
            row["low"] <= row["value"] <= row["high"] for name, row in got.items() if name != "documents"
        )
    data = [[np.nan if g is None else g for g in one] for one in grades.values()]
    everybody = agreement(result, "all judges", None)["alpha"]["value"]
    assert everybody == pytest.approx(package.alpha(data, level_of_measurement="ordinal"))
    cells = [row for row in result["confusion"].records() if (row["a"], row["b"]) == ("a", "c")]
    assert sum(row["documents"] for row in cells) == len(keys)
    assert sum(row["documents"] for row in cells if row["grade_b"] is None) == 1


def test_a_judge_agrees_with_themselves(small):
    qrels, runs = small
    result = rs.judges({"one": qrels, "same": qrels}, rs.Collection(None, runs), replicates=50)
    got = agreement(result)
    assert [got[name]["value"] for name in ("exact", "kappa", "kappa quadratic", "alpha", "bias")] == [
        1,
        1,
        1,
        1,
        0,
    ]
    boards = {row["statistic"]: row for row in result["leaderboards"].records() if row["measure"] == "AP"}
    for name in ("tau", "tau_ap", "rbo"):
        assert boards[name]["value"] == pytest.approx(boards[name]["low"]) == pytest.approx(1)
    assert boards["largest rank change"]["value"] == boards["reverse"]["value"] == 0
    assert boards["only first"]["value"] == boards["only second"]["value"] == 0
    assert set(result["bias"].column("difference")) == {0.0}
    assert not len(result["judgments"])


def test_leaderboards_are_those_of_two_evaluations(small):
    qrels, runs = small
    other = noisy(qrels, 0.6)
    result = rs.judges(
        {"one": qrels, "other": other}, rs.Collection(None, runs), ["AP", "nDCG@10"], top=3, replicates=50
    )
    for measure in ("AP", "nDCG@10"):
        first, second = (rs.evaluate(one, runs, [measure]).matrix(measure).values for one in (qrels, other))
        boards = {
            r["statistic"]: r["value"] for r in result["leaderboards"].records() if r["measure"] == measure
        }
        a, b = first.mean(axis=1), second.mean(axis=1)
        assert boards["tau"] == pytest.approx(stats.kendalltau(a, b).statistic)
        order = [set(np.argsort(-x)[:3]) for x in (a, b)]
        assert boards["top 3 in common"] == pytest.approx(len(order[0] & order[1]) / 3)
        ranked = [stats.rankdata(-x, "min") for x in (a, b)]
        assert boards["largest rank change"] == np.abs(ranked[0] - ranked[1]).max()
        counted = sum(boards[name] for name in ("agree", "reverse", "only first", "only second", "neither"))
        assert counted == 15
        gains = second - first - (second - first).mean(axis=0)
        rows = {r["run"]: r for r in result["bias"].records() if r["measure"] == measure}
        for run in range(6):
            row = rows[f"run{run}"]
            assert (row["value_a"], row["value_b"]) == pytest.approx((a[run], b[run]))
            interval = stats.ttest_1samp(gains[run], 0).confidence_interval()
            assert (row["low"], row["high"]) == pytest.approx(tuple(interval))
            assert (row["rank_a"], row["rank_b"]) == (ranked[0][run], ranked[1][run])
    assert sum(rows[f"run{r}"]["gain"] for r in range(6)) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("measure", ["AP", "nDCG@10", "RBP", "Bpref", "Twist", "P@5", "ERR"])
def test_one_grade_changed_is_evaluated_again(small, measure):
    qrels, runs = small
    other = noisy(qrels, 0.15)
    for topic in other:
        other[topic].pop(next(iter(other[topic])))
    result = rs.judges(
        {"one": qrels, "other": other}, rs.Collection(None, runs), measure, max_disputed=10_000, replicates=2
    )
    rows = result["judgments"].records()
    before = rs.evaluate(qrels, runs, measure).mean(measure)
    disputed = {(t, d) for t in qrels for d in qrels[t] if max(0, qrels[t][d]) != max(0, other[t].get(d, 0))}
    assert {(row["topic"], row["doc"]) for row in rows} == disputed
    assert [row["influence"] for row in rows] == sorted((row["influence"] for row in rows), reverse=True)
    for row in rows[:4] + rows[-2:]:
        changed = {topic: dict(judged) for topic, judged in qrels.items()}
        if row["grade_b"] is None:
            del changed[row["topic"]][row["doc"]]
        else:
            changed[row["topic"]][row["doc"]] = row["grade_b"]
        assert row["grade_a"] == qrels[row["topic"]][row["doc"]]
        after = rs.evaluate(changed, runs, measure).mean(measure)
        assert row["influence"] == pytest.approx(np.ptp(after - before), abs=1e-12)
        reversed_ = sum(
            (round(before[i] - before[j], 12)) * (round(after[i] - after[j], 12)) < 0
            for i in range(6)
            for j in range(i)
        )
        assert row["reversed"] == reversed_


def test_large_topics_are_evaluated_in_parts(small, monkeypatch):
    qrels = rs.Qrels.from_dict(small[0])
    judged = rs.judge(qrels, rs.Runs([rs.Run.from_dict(one, name=name) for name, one in small[1].items()]))
    other = np.where(np.arange(len(qrels)) % 3 == 0, 2, qrels.grade).astype(np.int32)
    whole = list(influences(judged, qrels.grade, other, REGISTRY["AP"]))
    monkeypatch.setattr("rankscope.analysis.influence._HITS_AT_ONCE", 500)
    parts = list(influences(judged, qrels.grade, other, REGISTRY["AP"]))
    assert [one.document for one in whole] == [one.document for one in parts]
    np.testing.assert_allclose([one.moves for one in whole], [one.moves for one in parts])


def test_mistakes_are_answered_in_one_line(small):
    qrels, runs = small
    with pytest.raises(InputError, match="at least two judges"):
        rs.judges({"one": qrels})
    with pytest.raises(InputError, match="no topic in common"):
        rs.judges({"one": qrels, "other": {"x": {"d": 1}}})
    with pytest.raises(InputError, match="judged no common document"):
        rs.judges({"one": {"q": {"a": 1}}, "other": {"q": {"b": 1}}})
    with pytest.raises(SettingsError, match="one grade to a document"):
        rs.judges({"one": qrels, "other": qrels}, rs.Collection(None, runs), "ERR_IA")
    with pytest.raises(SettingsError, match="alpha"):
        rs.judges({"one": qrels, "other": qrels}, alpha=2)


def test_the_command_and_its_figures(small, tmp_path, capsys):
    for name, judgments in (("a", small[0]), ("b", noisy(small[0], 0.3))):
        lines = [f"{t} 0 {d} {g}" for t, judged in judgments.items() for d, g in judged.items()]
        (tmp_path / f"{name}.qrels").write_text("\n".join(lines) + "\n")
    (tmp_path / "runs").mkdir()
    for name, lists in small[1].items():
        lines = [f"{t} Q0 {d} 0 {s} {name}" for t, judgments in lists.items() for d, s in judgments.items()]
        (tmp_path / "runs" / f"{name}.run").write_text("\n".join(lines) + "\n")
    files = [f"person={tmp_path / 'a.qrels'}", str(tmp_path / "b.qrels")]
    drawn = tmp_path / "slopes.svg"
    options = ["--runs", str(tmp_path / "runs"), "-m", "AP", "--replicates", "50"]
    assert main(["judges", *files, *options, "-f", "json", "--plot", str(drawn), "--figure", "slopes"]) == 0
    answer = json.loads(capsys.readouterr().out)
    tables = {"conclusions", "agreement", "confusion", "leaderboards", "pairs", "bias", "alarm", "judgments"}
    assert tables == answer["tables"].keys()
    assert answer["tables"]["agreement"][0].keys() == {"a", "b", "measure", "value", "low", "high"}
    assert answer["tables"]["agreement"][0]["a"] == "person"
    assert answer["settings"]["files"].keys() >= {str(tmp_path / "a.qrels"), str(tmp_path / "b.qrels")}
    assert drawn.stat().st_size > 1000
    assert main(["judges", *files, "-f", "table", "--plot", str(tmp_path / "confusion.png")]) == 0
    assert "kappa quadratic" in capsys.readouterr().out
    assert main(["judges", *files, "--plot", str(drawn), "--figure", "slopes"]) == 2
    assert main(["judges", files[1], files[1]]) == 2
    assert main(["judges", *files, "-o", str(tmp_path / "a.qrels")]) == 2


# real judgments ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def covid(data_dir):
    """Return the judgments of TREC-COVID round 1 and every sixth run."""
    folder = data_dir / "trec_covid_r1_depth100"
    runs = sorted((folder / "runs").iterdir())[::6]
    return rs.read_qrels(folder / "qrels.txt"), [str(run) for run in runs]


def list_judgments(qrels):
    return {topic: qrels.judgments(topic) for topic in qrels.topics}


def test_round_one_against_a_stratified_half(covid):
    from rankscope.analysis.stats.sampling import Sampler
    from rankscope.judging import Pool

    qrels, runs = covid
    pool = Pool(qrels.topic_offsets, qrels.grade)
    half = qrels.with_grades(Sampler(pool, "grade", np.random.SeedSequence(3)).sample(50))
    result = rs.judges(
        {"all": qrels, "half": list_judgments(half)},
        rs.Collection(None, runs),
        "AP Bpref",
        max_disputed=5,
        replicates=200,
    )
    assert agreement(result)["kappa"]["value"] == 1  # where both judged, they are the same
    assert agreement(result)["documents"]["value"] == len(judgments_documents(half))
    boards = {(r["measure"], r["statistic"]): r for r in result["leaderboards"].records()}
    assert boards["AP", "tau"]["value"] > 0.85
    assert boards["AP", "reverse"]["value"] == 0
    assert all(row["grade_b"] is None for row in result["judgments"].records())


def judgments_documents(qrels):
    return [d for topic in qrels.topics for d in qrels.judgments(topic)]


def test_graded_against_binary(covid):
    qrels, runs = covid
    binary = qrels.with_merged_grades("0=0;1,2=1")
    result = rs.judges(
        {"graded": qrels, "binary": binary}, rs.Collection(None, runs), "AP nDCG@10", replicates=200
    )
    boards = {(r["measure"], r["statistic"]): r["value"] for r in result["leaderboards"].records()}
    assert boards["AP", "tau"] == 1  # AP knows no grades
    assert 0.8 < boards["nDCG@10", "tau"] < 1
    cells = {(r["grade_a"], r["grade_b"]): r["documents"] for r in result["confusion"].records()}
    assert set(cells) == {(0, 0), (1, 1), (2, 1)}
    share = cells[2, 1] / sum(cells.values())
    assert agreement(result)["bias"]["value"] == pytest.approx(-share)


@pytest.mark.parametrize("share", [0.1, 0.3, 0.6])
def test_the_kappa_of_a_simulated_judge_lies_in_the_interval(covid, share):
    # a judge who draws a share of the grades at random from the grades that there are agrees by kappa = 1 - share
    qrels, _ = covid
    rng = np.random.default_rng(11)
    guessed = rng.permutation(qrels.grade)
    other = np.where(rng.random(len(qrels)) < share, guessed, qrels.grade).astype(np.int32)
    result = rs.judges({"nist": qrels, "simulated": qrels.with_grades(other)}, seed=5)
    for name in ("kappa", "kappa linear", "kappa quadratic"):
        row = agreement(result)[name]
        assert row["low"] <= 1 - share <= row["high"]
        assert row["high"] - row["low"] < 0.12


def test_names_of_slopes_do_not_cover_each_other() -> None:
    """Runs of equal rank had their names in one place."""
    qrels = {
        "one": {q: {"a": 1, "b": 0} for q in "qr"},
        "other": {q: {"a": int(q == "r"), "b": 1} for q in "qr"},
    }
    runs = {f"run-{i}": dict.fromkeys("qr", ["a", "b"] if i % 3 else ["b", "a"]) for i in range(12)}
    figure = rs.judges(qrels, rs.Collection(None, runs), "AP").plot("slopes")
    figure.figure.draw_without_rendering()
    for end in ("rank_a", "rank_b"):
        names = [text for text in figure.axes[0].texts if text.get_gid() == f"name {end}"]
        assert len(names) == 12
        boxes = sorted((text.get_window_extent() for text in names), key=lambda box: box.y0)
        assert all(low.y1 <= high.y0 + 0.5 for low, high in pairwise(boxes))
    page = figure.figure.bbox
    assert all(page.y0 <= t.get_window_extent().y0 and t.get_window_extent().y1 <= page.y1 for t in names)


def test_the_page_states_the_known_agreement(page_table):
    halves = [row for row in page_table("two sets") if row[0].startswith("half")]
    assert len(halves) == 6
    for row in halves:
        assert row[2] == "1.000"  # kappa where both judged
        assert row[7] == "0"  # no significant pair is reversed
    graded = {row[3]: row for row in page_table("two sets") if row[0] == "binary"}
    assert graded["AP"][4].startswith("1.000")
    assert graded["AP"][7:10] == ["0", "0", "0"]
    *_, every = page_table("known kappa")
    assert all(float(share.removesuffix(" %")) >= 93 for share in every[1:4])
    assert all(float(row[1]) < 1e-12 for row in page_table("random tables"))


def test_judges_of_other_documents_are_named():
    with pytest.raises(
        InputError, match=r"^'one' and 'two' judged no common document; compare other judges$"
    ):
        rs.judges({"one": {"q": {"a": 1}}, "two": {"q": {"b": 1}}})


def test_weighted_kappa_of_judges_uses_grades_unless_positions_are_requested():
    """Judges who use the grades 0, 1 and 4."""
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(2)
    x, y = rng.choice([0, 1, 4], (2, 60))
    sets = {name: {"q1": {f"d{k}": int(g) for k, g in enumerate(one)}} for name, one in (("a", x), ("b", y))}
    for distance, labels in (("grade", range(5)), ("position", [0, 1, 4])):
        got = agreement(rs.judges(sets, replicates=10, distance=distance))
        for weights in ("linear", "quadratic"):
            expected = metrics.cohen_kappa_score(x, y, weights=weights, labels=labels)
            assert got[f"kappa {weights}"]["value"] == pytest.approx(expected)
    with pytest.raises(SettingsError, match="no distance of grades"):
        rs.judges(sets, distance="grades")


def test_options_that_judges_do_not_honour_are_rejected(small):
    qrels, runs = small
    sets = {"one": qrels, "same": qrels}
    with pytest.raises(SettingsError, match="judges does not honour ties='expected'"):
        rs.judges(sets, rs.Collection(None, runs, ties="expected"))
    with pytest.raises(SettingsError, match=r"give it rs\.Collection\(None, runs\)"):
        rs.judges(sets, runs)


def test_the_alarm_names_the_run_that_a_judge_favours() -> None:
    rng = np.random.default_rng(4)
    human = {f"q{t}": {f"d{d}": int(rng.integers(0, 3)) for d in range(30)} for t in range(30)}
    runs = {
        f"r{r}": {topic: [f"d{d}" for d in rng.permutation(30)[:10]] for topic in human} for r in range(4)
    }
    fair = {t: {d: max(g + int(rng.integers(-1, 2)), 0) for d, g in of.items()} for t, of in human.items()}
    model = {t: {d: g + (d in runs["r2"][t][:5]) for d, g in of.items()} for t, of in fair.items()}
    collection = rs.Collection(None, runs)
    judgments = {"people": human, "fair": fair, "model": model}
    result = rs.judges(judgments, collection, "P@5", reference="people", replicates=20, max_disputed=0)
    assert result.alarm is not None
    assert {(row.a, row.b, row.run) for row in result.alarm if row.flagged} == {("people", "model", "r2")}
    sentences = [row.sentence for row in result.conclusions if row.kind == "favours"]
    assert len(sentences) == 1 and sentences[0].startswith("compared with people, model favours r2")
    # The error of a run is the weighted mean over the documents that both judged.
    weight = 1 / np.log2(np.arange(2, 12))
    errors = [
        np.mean([[model[t][d] - human[t][d] for d in runs[run][t]] @ weight for t in human]) / weight.sum()
        for run in sorted(runs)
    ]
    rows = {row.run: row.value for row in result.alarm if row.b == "model"}
    assert rows["r2"] == pytest.approx(errors[2] - np.mean(errors[:2] + errors[3:]))


def test_a_single_topic_and_an_undefined_kappa_have_no_interval():
    """All bootstrap samples of one topic are equal, and say nothing about others."""
    first, second = {"q": {"a": 1, "b": 0, "c": 1}}, {"q": {"a": 1, "b": 0, "c": 0}}
    result = rs.judges({"x": first, "y": second})
    rows = [row for row in result.agreement if row.measure != "documents"]
    assert rows and all(np.isnan([row.low, row.high]).all() for row in rows)
    [sentence] = [row.sentence for row in result.conclusions]
    assert sentence == "x and y give the same grade to 67% of 3 documents (kappa 0.40)"
    [sentence] = [row.sentence for row in rs.judges({"x": {"q": {"a": 1}}, "y": {"q": {"a": 1}}}).conclusions]
    assert sentence == "x and y give the same grade to 100% of 1 document (kappa undefined)"
