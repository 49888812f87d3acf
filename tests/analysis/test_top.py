"""The best share of the runs: the same runs in every analysis, and as if the others had never been there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankscope as rs
from rankscope.analysis.stats.matrices import best_judged, best_runs
from rankscope.cli.main import main
from rankscope.errors import SettingsError
from rankscope.judging import judge
from rankscope.read import Qrels, Run, Runs
from rankscope.scores import score


def small(seed: int = 5, runs: int = 8, topics: int = 6) -> tuple[dict[str, Any], dict[str, Any]]:
    rng = np.random.default_rng(seed)
    qrels = {f"q{t}": {f"d{i}": int(g) for i, g in enumerate(rng.integers(0, 3, 12))} for t in range(topics)}
    lists = {
        f"r{r}": {
            topic: [f"d{i}" for i in rng.permutation(16)]
            for topic in qrels
            if rng.random() < 0.9 or topic == "q0"
        }
        for r in range(runs)
    }
    return qrels, lists


def judge_lists(qrels: dict[str, Any], lists: dict[str, Any]) -> Any:
    runs = Runs([Run.from_dict(result, name) for name, result in lists.items()])
    return judge(Qrels.from_dict(qrels), runs, ties=True)


@pytest.mark.parametrize("keep", [[0, 2, 5], [7, 1], [3], list(range(8))])
def test_selected_runs_have_the_values_that_they_have_alone(keep: list[int]) -> None:
    qrels, lists = small()
    names = list(lists)
    subset = judge_lists(qrels, lists).with_runs(keep)
    alone = judge_lists(qrels, {names[r]: lists[names[r]] for r in keep})
    assert subset.runs == alone.runs and subset.topics == alone.topics and subset.tags == alone.tags
    for field in ("offsets", "rank", "judgment", "length", "present", "tied"):
        np.testing.assert_array_equal(getattr(subset, field), getattr(alone, field))
    np.testing.assert_array_equal(subset.ties.first, alone.ties.first)
    fewer = subset.qrels.grade.copy()
    fewer[::3] = np.iinfo(np.int32).min
    measures = [rs.measure("AP"), rs.measure("Twist"), rs.measure("Bpref")]
    a, b = (score(one.with_grades(fewer), measures).values for one in (subset, alone))
    np.testing.assert_array_equal(a, b)
    repeated = judge_lists(qrels, lists).with_grades(fewer).with_runs(keep)
    np.testing.assert_array_equal(score(repeated, measures).values, a)


def test_the_best_by_a_measure_in_every_analysis() -> None:
    qrels, lists = small()
    scores = rs.evaluate(qrels, lists, ["AP", "nDCG"])
    order = sorted(lists, key=lambda name: -scores.mean("nDCG")[scores.runs.index(name)])
    best = {name: lists[name] for name in lists if name in order[:6]}
    few = {"top": 0.75, "by": "nDCG"}
    assert best_runs(scores, 0.75, "nDCG").runs == tuple(best)
    assert best_judged(judge_lists(qrels, lists), 0.75, "nDCG").runs == tuple(best)
    alone = rs.evaluate(qrels, best, ["AP", "nDCG"])
    assert (
        rs.correlate(scores, "kendall", **few)["correlations"].rows
        == rs.correlate(alone, "kendall")["correlations"].rows
    )
    power = rs.power(scores, "t", **few)
    assert power["asl"].rows == rs.power(alone, "t")["asl"].rows
    assert power.settings["top"] == 0.75 and power.settings["by"] == "nDCG"
    only = rs.power(scores.with_measures(["AP"]), "t", **few)["power"].column("measure")
    assert only == ["AP"]
    pools = rs.pools(rs.evaluate(qrels, lists, ["AP"]), **few, repeats=2)
    assert pools["means"].rows == rs.pools(rs.evaluate(qrels, best, ["AP"]), repeats=2)["means"].rows
    shallow = rs.pools(rs.evaluate(qrels, lists, ["AP"]), **few, pool_depth=3)
    assert shallow["means"].rows == rs.pools(rs.evaluate(qrels, best, ["AP"]), pool_depth=3)["means"].rows
    effort = rs.effort(rs.Collection(qrels, lists), "AP", **few)
    assert effort.archetypes.rows == rs.effort(rs.Collection(qrels, best), "AP").archetypes.rows
    assert (
        effort.settings["top"] == 0.75
        and rs.effort(rs.Collection(qrels, lists), "AP").settings.get("top") is None
    )


def test_shares_are_checked() -> None:
    qrels, lists = small()
    for share in (0.0, -1, 1.5):
        with pytest.raises(SettingsError, match="top"):
            rs.effort(rs.Collection(qrels, lists), "AP", top=share)


@pytest.mark.parametrize("command", ["effort", "pools", "power", "correlate"])
def test_the_commands(command: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    qrels, lists = small()
    (tmp_path / "qrels").write_text(
        "".join(f"{t} 0 {d} {g}\n" for t, topics in qrels.items() for d, g in topics.items())
    )
    (tmp_path / "runs").mkdir()
    for name, topics in lists.items():
        lines = [f"{t} Q0 {d} {r} {-r} {name}\n" for t, ds in topics.items() for r, d in enumerate(ds, 1)]
        (tmp_path / "runs" / name).write_text("".join(lines))
    files = [str(tmp_path / "qrels"), str(tmp_path / "runs"), "-m", "AP nDCG", "-f", "json"]
    assert main([command, *files, "--top", "0.5", "--by", "P@5"]) == 0
    answer = json.loads(capfd.readouterr().out)
    assert answer["settings"]["top"] == 0.5 and answer["settings"]["by"] == "P@5"
    kept = {
        "effort": lambda t: len({row["run"] for row in t["archetypes"]}),
        "pools": lambda t: len({row["run"] for row in t["means"]}),
        "power": lambda t: len({row["a"] for row in t["asl"]} | {row["b"] for row in t["asl"]}),
        "correlate": lambda t: t["correlations"][0]["runs"],
    }
    assert kept[command](answer["tables"]) == 4
    named = {
        row[key] for rows in answer["tables"].values() for row in rows for key in row if key == "measure"
    }
    assert "P@5" not in named
    assert main([command, *files, "--top", "2"]) == 2
