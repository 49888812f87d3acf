"""The gate: non-inferiority against a run or kept scores, its report and its exit code."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import yaml
from scipy import stats

import rankscope as rs
from rankscope.analysis.gate import pass_plan
from rankscope.cli.main import main
from rankscope.errors import InputError, SettingsError

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def simulated(tmp_path_factory):
    """A collection with two runs, and the kept scores of one."""
    folder = tmp_path_factory.mktemp("gate")
    collection = rs.simulate(systems=6, topics=20, depth=50, seed=4, pool_depth=20)
    collection.write(folder / "simulated")
    return folder / "simulated"


def paths(simulated, *names):
    return [
        str(simulated / "qrels.txt"),
        *(str(next((simulated / "runs").glob(f"{name}*"))) for name in names),
    ]


def test_every_number_is_that_of_a_one_sided_t_test(small):
    scores = rs.evaluate(*small, ["AP", "nDCG@10"])
    result = rs.gate(scores, "run4", margin={"AP": 0.02, "ndcg_cut_10": 0.3}, alpha=0.1)
    rows = result["gate"].records()
    assert [(row["run"], row["measure"]) for row in rows[:2]] == [("run0", "AP"), ("run0", "nDCG@10")]
    assert len(rows) == 10
    for row in rows:
        values = scores.matrix(row["measure"]).values
        candidate, baseline = values[scores.runs.index(row["run"])], values[4]
        interval = stats.ttest_rel(candidate, baseline, alternative="greater").confidence_interval(0.9)
        assert row["lower"] == pytest.approx(interval.low)
        assert row["difference"] == pytest.approx(row["value"] - row["baseline"])
        assert row["margin"] == (0.02 if row["measure"] == "AP" else 0.3)
        assert row["passed"] == (row["lower"] > -row["margin"])
    assert result.passed == all(row["passed"] for row in rows)
    assert {row["passed"] for row in rows} == {True, False}


def test_the_topics_with_the_largest_losses_come_first(small):
    scores = rs.evaluate(*small, ["AP"])
    result = rs.gate(scores, "run5", worst=3)
    values = scores.matrix("AP").values
    for run in scores.runs[:5]:
        lost = [row for row in result["topics"].records() if row["run"] == run]
        z = values[scores.runs.index(run)] - values[5]
        expected = sorted(z[z < 0])[:3]
        assert [row["difference"] for row in lost] == pytest.approx(expected)


def test_lower_values_are_better_where_the_measure_says_so(scored):
    scores = scored({"BalancePoint": [[50.0, 51, 52], [20.0, 21, 22], [49.0, 51, 51]]})
    rows = rs.gate(scores, "r2", margin=2)["gate"].records()
    assert [(row["run"], row["passed"]) for row in rows] == [("r0", True), ("r1", True)]
    assert rows[1]["difference"] == pytest.approx(29.333333)
    assert not rs.gate(scores, "r1", margin=2).passed


def test_topics_are_matched_by_name_and_the_others_are_named(scored):
    before, after = scored({"AP": np.arange(8)[None] / 10}), scored({"AP": np.arange(6)[None] / 10})
    result = rs.gate(after, before)
    assert result.passed
    assert result["gate"].records()[0]["topics"] == 6
    assert result.settings["left_out_topics"] == ["t6", "t7"]
    assert "Left out" in result.report()
    lonely = rs.Scores(("r0",), ("x", "y"), before.measures, np.zeros((1, 1, 2)))
    with pytest.raises(InputError, match="share 0 topics"):
        rs.gate(after, lonely)


def test_mistakes_are_answered_in_one_line(small, scored):
    scores = rs.evaluate(*small, ["AP"])
    with pytest.raises(InputError, match="no run is called 'bm25'"):
        rs.gate(scores, "bm25")
    with pytest.raises(InputError, match="no run to compare with the baseline"):
        rs.gate(scored({"AP": [[0.1, 0.2]]}), "r0")
    with pytest.raises(SettingsError, match="AP has no margin"):
        rs.gate(rs.evaluate(*small, ["AP", "RR"]), "run0", margin={"RR": 0.1})
    with pytest.raises(InputError, match="6 runs and none is called 'r0'"):
        rs.gate(scored({"AP": [[0.1, 0.2]]}), scores)
    with pytest.raises(InputError, match="was not evaluated"):
        rs.gate(scored({"RR": [[0.1, 0.2]]}), scored({"AP": [[0.1, 0.2]]}))


def test_a_margin_of_a_measure_that_is_not_evaluated_is_rejected(small, simulated, capsys):
    scores = rs.evaluate(*small, ["RR@10"])
    unknown = "the margin of R@100 has no effect, since R@100 is not evaluated; evaluate it, too"
    with pytest.raises(SettingsError, match=unknown):
        rs.gate(scores, "run0", margin={"MRR@10": 0.05, "recall@100": 0.02})
    with pytest.raises(SettingsError, match=r"names RR@10 again"):
        rs.gate(scores, "run0", margin={"MRR@10": 0.05, "RR@10": 0.02})
    qrels, good, poor = paths(simulated, "hybrid-1", "boolean-1")
    command = ["gate", qrels, poor, "--baseline", good, "-m", "MRR@10"]
    assert main([*command, "--margin", "MRR@10=.05,recall@100=.02"]) == 2
    out, err = capsys.readouterr()
    assert not out and err.count("\n") == 1 and "R@100 is not evaluated" in err
    with pytest.raises(SystemExit, match="2"):
        main([*command, "--margin", "MRR@10=.05,MRR@10=.02"])
    assert "'MRR@10' twice" in capsys.readouterr().err


def test_the_command_fails_with_one_and_a_report(simulated, capsys):
    qrels, good, poor = paths(simulated, "hybrid-1", "boolean-1")
    assert main(["gate", qrels, good, "--baseline", good]) == 0
    assert "no worse than the baseline" in capsys.readouterr().out
    assert main(["gate", qrels, poor, "--baseline", good, "-m", "AP nDCG@10"]) == 1
    out, err = capsys.readouterr()
    assert out.startswith("## Retrieval: 2 of 2 checks failed\n")
    assert "Topics with the largest losses:" in out
    assert err == ""
    assert main(["gate", qrels, poor, "--baseline", good, "-m", "AP", "-f", "json"]) == 1
    answer = json.loads(capsys.readouterr().out)
    row = answer["tables"]["gate"][0]
    assert {"measure", "value", "baseline", "difference", "lower", "margin", "passed"} <= row.keys()
    assert good in answer["settings"]["files"]
    assert main(["gate", qrels, poor, "--baseline", "absent.run"]) == 2
    with pytest.raises(SystemExit, match="2"):
        main(["gate", qrels, poor, "--baseline", good, "--margin", "AP=x"])


@pytest.mark.parametrize("kind", ["csv", "tsv", "csv.gz"])
def test_saved_scores_give_the_result_of_the_run(simulated, tmp_path, capsys, kind):
    qrels, good, poor = paths(simulated, "hybrid-1", "boolean-1")
    kept = tmp_path / f"kept.{kind.removesuffix('.gz')}"
    assert main(["eval", qrels, good, "-m", "AP nDCG@10", "-q", "-o", str(kept)]) == 0
    if kind.endswith(".gz"):
        import gzip

        (tmp_path / "kept.csv.gz").write_bytes(gzip.compress(kept.read_bytes()))
        kept = tmp_path / "kept.csv.gz"
    tables = []
    for baseline in (good, str(kept)):
        assert main(["gate", qrels, poor, "--baseline", baseline, "-m", "AP nDCG@10", "-f", "json"]) == 1
        tables.append(json.loads(capsys.readouterr().out)["tables"])
    assert tables[0] == tables[1]
    scores = rs.read_scores(kept)
    assert [str(m) for m in scores.measures] == ["AP", "nDCG@10"]
    assert rs.read_scores({"AP": kept}).measures == (rs.measure("AP"),)
    with pytest.raises(InputError, match="it holds no RR"):
        rs.read_scores({"RR": kept})


def test_topics_can_be_selected(simulated, tmp_path, capsys):
    """Like other commands, gate has --topics, and does not report unselected topics as left out."""
    qrels, good, poor = paths(simulated, "hybrid-1", "boolean-1")
    kept = tmp_path / "kept.csv"
    assert main(["eval", qrels, good, "-m", "AP", "-q", "-o", str(kept)]) == 0
    for baseline in (good, str(kept)):
        main(["gate", qrels, poor, "--baseline", baseline, "-m", "AP", "--topics", "301-303", "-f", "json"])
        answer = json.loads(capsys.readouterr().out)
        assert answer["tables"]["gate"][0]["topics"] == 3
        assert answer["settings"]["left_out_topics"] == []


def test_a_repeated_value_in_saved_scores_is_rejected(tmp_path):
    (tmp_path / "x.csv").write_text("run,topic,measure,value\na,1,AP,.5\na,1,AP,.25\n")
    with pytest.raises(InputError, match=r"x\.csv:3: AP of 'a' on topic '1' occurs twice"):
        rs.read_scores(tmp_path / "x.csv")


def test_names_do_not_become_markup(scored):
    before = scored({"AP": [[0.5, 0.6, 0.4]]})
    topics = ("<b>", "|x|", "`[y](z)")
    odd = rs.Scores(("**a** | b",), topics, before.measures, np.array([[[0.1, 0.2, 0.1]]]))
    other = rs.Scores(("r",), (*topics, "<img>"), before.measures, np.array([[[0.5, 0.6, 0.4, 0.1]]]))
    report = rs.gate(odd, other).report()
    assert not re.search(r"(?<!\\)<|\*\*a", report)
    assert all(line.count("|") - line.count("\\|") in (0, 7, 13) for line in report.splitlines())


@pytest.mark.skipif(os.name == "nt", reason="the step is a shell script")
def test_the_action_runs_its_command_with_the_inputs_as_they_are(simulated, tmp_path):
    action = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
    step = action["runs"]["steps"][-1]
    assert "${{" not in step["run"]  # an input in the text of a script could be a command
    qrels, good, poor = paths(simulated, "hybrid-1", "boolean-1")
    defaults = {
        "qrels": qrels,
        "baseline": good,
        **{k: v["default"] for k, v in action["inputs"].items() if "default" in v},
    }
    shim = tmp_path / "bin" / "rankscope"
    shim.parent.mkdir()
    shim.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m rankscope "$@"\n')
    shim.chmod(0o755)
    for run, code in ((good, 0), (poor, 1), ("$(touch pwned).run", 2)):
        inputs = {**defaults, "run": run}
        variables = {
            name: inputs[re.fullmatch(r"\$\{\{ inputs\.(\w+) \}\}", value)[1]]
            for name, value in step["env"].items()
        }
        where = {
            "RUNNER_TEMP": str(tmp_path),
            "GITHUB_OUTPUT": str(tmp_path / "out"),
            "GITHUB_STEP_SUMMARY": str(tmp_path / "sum"),
        }
        (tmp_path / "rankscope-gate.md").unlink(missing_ok=True)
        environment = {
            **os.environ,
            **variables,
            **where,
            "PATH": f"{shim.parent}{os.pathsep}{os.environ['PATH']}",
        }
        process = subprocess.run(
            ["bash", "-e", "-c", step["run"]], env=environment, cwd=tmp_path, capture_output=True
        )
        assert process.returncode == code, process.stderr
    assert not (tmp_path / "pwned").exists()
    assert "checks failed" in (tmp_path / "sum").read_text("utf-8")


def test_topics_are_matched_in_one_pass() -> None:
    """A linear search per topic once took an hour for 10^5 topics."""
    topics = [f"t{i}" for i in range(100_000)]
    qrels = {topic: {"a": 1} for topic in topics}
    run = {topic: ["a"] for topic in topics[:-1]}
    scores = rs.evaluate(qrels, {"old": run, "new": run}, ["RR"], missing="skip")
    start = time.process_time()
    result = rs.gate(scores, "old")
    assert time.process_time() - start < 10
    assert result.settings["left_out_topics"] == topics[-1:]


def test_an_equally_good_system_passes_with_the_probability_of_noncentral_t():
    for spread, topics, margin, alpha in ((0.1, 50, 0.02, 0.05), (0.3, 9, 0.2, 0.1), (0.2, 200, 0.005, 0.05)):
        probability, wide, n_topics = pass_plan(spread, topics, margin, alpha)
        quantile = stats.t.ppf(1 - alpha, topics - 1)
        shift = margin * np.sqrt(topics) / spread
        assert probability == pytest.approx(stats.nct.sf(quantile, topics - 1, shift), abs=1e-9)
        assert pass_plan(spread, topics, wide, alpha)[0] == pytest.approx(0.8, abs=1e-6)
        assert (
            pass_plan(spread, n_topics, margin, alpha)[0]
            >= 0.8
            > pass_plan(spread, n_topics - 1, margin, alpha)[0]
        )


def test_simulated_systems_pass_with_the_announced_probability(scored):
    rng = np.random.default_rng(7)
    margin, topics, spread = 0.02, 30, 0.08
    z = rng.normal(0, spread, (4000, topics))
    base = rng.random(topics)
    scores = scored({"AP": np.concatenate([base[None], base + z])})
    rows = rs.gate(scores, "r0", margin=margin, worst=0)["gate"].records()
    passed = np.mean([row["passed"] for row in rows])
    assert passed == pytest.approx(pass_plan(spread, topics, margin, 0.05)[0], abs=4 * 0.5 / np.sqrt(4000))
    # the spread is estimated from each run: the probabilities that are reported vary around the true one
    assert np.median([row["pass_probability"] for row in rows]) == pytest.approx(passed, abs=0.03)


def test_identical_runs_pass_whatever_the_margin(scored):
    values = np.random.default_rng(1).random(12)
    result = rs.gate(scored({"AP": [values, values]}), "r0", margin=0)
    row = result["gate"].records()[0]
    assert result.passed
    assert (row["pass_probability"], row["margin_80"], row["topics_80"]) == (1, 0, 2)
    other = rs.gate(
        scored({"AP": [values, values + np.where(np.arange(12) % 2, 0.01, -0.01)]}), "r0", margin=0
    )
    row = other["gate"].records()[0]
    assert not other.passed
    assert row["pass_probability"] == pytest.approx(0.05)
    assert row["topics_80"] is None


def test_the_report_states_the_test_and_its_power(scored):
    rng = np.random.default_rng(3)
    base = rng.random(30)
    report = rs.gate(scored({"AP": [base, base + rng.normal(0, 0.2, 30)]}), "r0").report()
    assert "non-inferiority within the margin" in report
    assert "A failed check does not show that the run is worse" in report
    assert re.search(
        r"r1, AP: a system as good as the baseline passes with probability \d+ % \(30 topics", report
    )
    assert re.search(r"80 % takes a margin of 0\.\d{4}, or [\d,]+ topics with this margin", report)


def test_scores_are_tested_against_scores(simulated, tmp_path, capsys):
    qrels, good, poor = paths(simulated, "hybrid-1", "boolean-1")
    kept = {name: str(tmp_path / f"{name}.csv") for name in ("good", "poor")}
    for name, run in (("good", good), ("poor", poor)):
        assert main(["eval", qrels, run, "-m", "AP", "-q", "-o", kept[name]]) == 0
    assert main(["gate", "--scores", kept["good"], "--baseline", kept["good"]]) == 0
    assert main(["gate", "--scores", kept["poor"], "--baseline", kept["good"]]) == 1
    capsys.readouterr()
    assert main(["gate", "--scores", kept["poor"], "--baseline", good]) == 2
    assert "--scores needs a baseline of scores" in capsys.readouterr().err


def test_ties_of_the_baseline_are_those_of_the_runs(simulated, capsys):
    qrels, run, _ = paths(simulated, "hybrid-1", "boolean-1")
    for ties in ("expected", "worst"):
        assert main(["gate", qrels, run, "--baseline", run, "--ties", ties, "-f", "json"]) == 0
        answer = json.loads(capsys.readouterr().out)
        assert answer["settings"]["ties"] == answer["settings"]["baseline"]["ties"] == ties
        assert [row["difference"] for row in answer["tables"]["gate"]] == [0.0]
