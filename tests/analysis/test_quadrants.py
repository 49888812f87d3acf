"""Inside the effort/gain plane: lists of equal gain, curves of lists, and tests within and across its cells."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ttest_rel

import rankscope as rs
from rankscope.analysis.plane import equal_gain, nearest_values
from rankscope.analysis.quadrant_tests import quadrant_significance
from rankscope.cli.main import main
from rankscope.errors import InputError, SettingsError


def collection(seed: int = 2, runs: int = 6, topics: int = 25) -> tuple[dict[str, Any], dict[str, Any]]:
    rng = np.random.default_rng(seed)
    qrels = {f"q{t}": {f"d{i}": int(g) for i, g in enumerate(rng.integers(0, 4, 14))} for t in range(topics)}
    lists: dict[str, Any] = {f"r{r}": {} for r in range(runs)}
    for (topic, judged), (r, name) in itertools.product(qrels.items(), enumerate(lists)):
        worth = [0.3 * r * judged.get(f"d{i}", 0) + 2 * rng.random() for i in range(22)]
        lists[name][topic] = [f"d{i}" for i in np.argsort(worth)[::-1]]
    return qrels, lists


@pytest.fixture(scope="module")
def effort() -> rs.Effort:
    return rs.effort(rs.Collection(*collection()), ["AP", "P@5"], cutoff=30)


# lists of equal gain ----------------------------------------------------------------------------------------

rows = st.lists(st.lists(st.integers(0, 30), min_size=1, max_size=5).map(sorted), min_size=1, max_size=4)


@given(rows)
def test_the_closest_values(groups: list[list[int]]) -> None:
    selected = [group[i] for group, i in zip(groups, nearest_values(groups), strict=True)]
    spread = {
        (max(some) - min(some), -max(some)) for some in itertools.product(*groups)
    }  # closest, then largest
    assert (max(selected) - min(selected), -max(selected)) == min(spread)


def test_equal_gain_of_every_measure(effort: rs.Effort) -> None:
    table = effort.equal_gain
    for measure in ("AP", "P@5"):
        rows = [record for record in table.records() if record["measure"] == measure]
        row = "huge" if measure == "AP" else "medium"  # more than half of the lists have the best P@5
        cells = {
            cost: [r[measure] for r in effort.points(measure, row, cost).records()]
            for cost in ("huge", "high", "medium", "low")
        }
        cells = {cost: values for cost, values in cells.items() if values}
        assert [record["effort"] for record in rows] == list(cells) and len(rows) > 1
        spread = min(max(some) - min(some) for some in itertools.product(*cells.values()))
        values = [record["value"] for record in rows]
        assert max(values) - min(values) == spread
        for record in rows:
            inside = effort.points(measure, row, record["effort"]).records()
            assert record["gain"] == row
            assert (record["run"], record["topic"]) in {(r["run"], r["topic"]) for r in inside}
    assert {row["gain"] for row in equal_gain(effort, "low").records()} == {"low"}
    with pytest.raises(SettingsError, match="gain"):
        equal_gain(effort, "enormous")


# curves of lists --------------------------------------------------------------------------------------------


def test_the_curve_of_a_list_is_that_of_its_run(effort: rs.Effort) -> None:
    qrels, lists = collection()
    for run, topic in (("r0", "q3"), ("r5", "q24")):
        curve = effort.curve(run, topic, "AP")
        other = rs.curve(rs.Collection(qrels, {run: lists[run]}), None, topic, cutoff=30)
        assert curve.rp.tolist() == other.rp.tolist() and curve.dcg.tolist() == other.dcg.tolist()
        assert curve.values.rows == other.values.rows and curve.grade == other.grade
        judged = [doc if doc in qrels[topic] else None for doc in other.documents]
        assert curve.documents == judged
    for run, topic in (("absent", "q3"), ("r0", "q99")):
        with pytest.raises(SettingsError, match="there is no"):
            effort.curve(run, topic)


def test_the_curve_has_the_gains_of_the_measure() -> None:
    result = rs.effort(rs.Collection(*collection()), ["AP", "nDCG(gains='exp2',discount='jk',base=10)"])
    qrels, lists = collection()
    other = rs.curve(
        rs.Collection(qrels, {"r1": lists["r1"]}),
        None,
        "q0",
        cutoff=1000,
        gains="exp2",
        discount="jk",
        base=10,
    )
    assert result.curve("r1", "q0").dcg.tolist() == other.dcg.tolist()
    assert result.curve("r1", "q0", "AP").dcg_measure == rs.measure("DCG")


# significance -----------------------------------------------------------------------------------------------


def test_pairs_are_tested_on_their_own_topics(effort: rs.Effort) -> None:
    """Recompute every p value with scipy on independently selected topics."""
    result = quadrant_significance(effort, min_topics=4)
    cells = {}
    for measure, gain, cost in itertools.product(
        ("AP", "P@5"), ("low", "medium", "high", "huge"), ("huge", "high", "medium", "low")
    ):
        for row in effort.points(measure, gain, cost).records():
            cells[measure, row["run"], row["topic"]] = (gain, cost, row[measure], row["Twist"])
    rows = result["significance_pairs"].records()
    assert {row["where"] for row in rows} == {"all", "within", "across", "cell"}
    runs, topics = effort.judged.runs, effort.judged.topics
    count = 0
    for measure, (a, b) in itertools.product(("AP", "P@5"), itertools.combinations(runs, 2)):
        pairs = [(cells[measure, a, t], cells[measure, b, t]) for t in topics]
        parts = {("all", None, None): pairs}
        parts["within", None, None] = [(x, y) for x, y in pairs if x[:2] == y[:2]]
        parts["across", None, None] = [(x, y) for x, y in pairs if x[:2] != y[:2]]
        for x, y in pairs:
            if x[:2] == y[:2]:
                parts.setdefault(("cell", *x[:2]), []).append((x, y))
        for (where, gain, cost), some in parts.items():
            matching = [
                row
                for row in rows
                if (row["measure"], row["a"], row["b"], row["where"], row["gain"], row["effort"])
                == (measure, a, b, where, gain, cost)
            ]
            if len(some) < 4:
                assert not matching
                continue
            [row] = matching
            count += 1
            assert row["topics"] == len(some)
            for index, name in ((2, "gain"), (3, "twist")):
                x, y = ([pair[side][index] for pair in some] for side in (0, 1))
                expected = ttest_rel(x, y).pvalue if x != y else 1.0
                assert row[f"{name}_p"] == pytest.approx(expected, abs=1e-9)
                assert row[f"{name}_difference"] == pytest.approx(np.mean(x) - np.mean(y))
    assert count == len(rows) > 60


def test_the_summary_counts_the_pairs(effort: rs.Effort) -> None:
    result = quadrant_significance(effort, alpha=0.1, min_topics=4)
    pairs = result["significance_pairs"].records()
    for row in result["significance"].records():
        matching = [p for p in pairs if all(p[k] == row[k] for k in ("measure", "where", "gain", "effort"))]
        assert row["pairs"] == len(matching)
        significant = [p for p in matching if p["gain_p"] < 0.1 and p["twist_p"] < 0.1]
        along = [p for p in significant if p["gain_difference"] * p["twist_difference"] > 0]
        neither = [p for p in matching if p["gain_p"] >= 0.1 and p["twist_p"] >= 0.1]
        assert (row["both"], row["opposite"]) == (len(along), len(significant) - len(along))
        assert row["neither"] == len(neither)
        assert sum(row[k] for k in ("both", "opposite", "gain_only", "effort_only", "neither")) == len(
            matching
        )
        if matching:
            assert row["agreement"] == (len(along) + len(neither)) / len(matching)
            assert row["topics"] == pytest.approx(np.mean([p["topics"] for p in matching]))
        else:
            assert row["agreement"] is None and row["topics"] is None
    assert result.settings["alpha"] == 0.1


def test_lower_may_be_better() -> None:
    """Fewer ranks to the balance point and a higher Twist speak for the same run."""
    qrels = {f"q{i}": {"d": 1, "e": 1} for i in range(7)}
    good = {t: ["d", *"xyz"[: i % 3], "e"] for i, t in enumerate(qrels)}
    poor = {t: [*"uvw"[: 1 + i % 3], "d", "r", "s", "t", "e"] for i, t in enumerate(qrels)}
    result = rs.effort(
        rs.Collection(qrels, {"good": good, "poor": poor}), ["BalancePoint", "AP"]
    ).significance()
    for row in result["significance"].records():
        if row["where"] == "all":
            assert row["opposite"] == 0
    [pair] = [row for row in result["significance_pairs"].records() if row["where"] == "all"][:1]
    assert pair["measure"] == "BalancePoint" and pair["gain_difference"] < 0 < pair["twist_difference"]


def test_a_difference_that_never_varies_is_certain() -> None:
    qrels = {f"q{i}": {"d": 1} for i in range(6)}
    lists = {"good": ["d", "x"], "poor": ["x", "y", "d"]}
    runs = {name: dict.fromkeys(qrels, ranks) for name, ranks in lists.items()}
    rows = quadrant_significance(rs.effort(rs.Collection(qrels, runs), "AP"))["significance_pairs"].records()
    assert [row["gain_p"] for row in rows if row["where"] == "all"] == [0.0]
    same = {"a": runs["good"], "b": runs["good"]}
    rows = quadrant_significance(rs.effort(rs.Collection(qrels, same), "AP"))["significance_pairs"].records()
    assert [row["gain_p"] for row in rows if row["where"] == "all"] == [1.0]


def test_invalid_arguments_of_quadrant_tests_raise(effort: rs.Effort) -> None:
    with pytest.raises(SettingsError, match="alpha"):
        effort.significance(alpha=1)
    with pytest.raises(SettingsError, match="min_topics"):
        effort.significance(min_topics=1)
    qrels, lists = collection()
    with pytest.raises(InputError, match="two runs"):
        rs.effort(rs.Collection(qrels, {"r0": lists["r0"]}), "AP").significance()


# the command ------------------------------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    qrels, lists = collection()
    lines = [f"{t} 0 {d} {g}\n" for t, topics in qrels.items() for d, g in topics.items()]
    (tmp_path / "qrels").write_text("".join(lines))
    (tmp_path / "runs").mkdir()
    for name, topics in lists.items():
        lines = [f"{t} Q0 {d} {r} {-r} {name}\n" for t, ds in topics.items() for r, d in enumerate(ds, 1)]
        (tmp_path / "runs" / f"{name}.txt").write_text("".join(lines))
    return [str(tmp_path / "qrels"), str(tmp_path / "runs"), "-m", "AP P@5"]


def test_the_command(files: list[str], tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["effort", *files, "--significance", "-f", "json"]) == 0
    tables = json.loads(capfd.readouterr().out)["tables"]
    assert {"significance", "significance_pairs", "equal_gain", "archetypes"} <= set(tables)
    assert main(["effort", *files, "--significance", "-f", "csv"]) == 0
    assert capfd.readouterr().out.startswith("measure,where,gain,effort,pairs")
    assert main(["effort", *files, "--significance", "--alpha", "7"]) == 2
    assert "alpha" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ([], 0),
        (["--highlight", "r1"], 0),
        (["--highlight", "r1:q3", "--highlight", "r2"], 0),
        (["--figure", "equal-gain"], 0),
        (["--figure", "equal-gain", "--highlight", "r1:q3", "--highlight", "r4:q3"], 0),
        (["--figure", "equal-gain", "--highlight", "r1"], 2),
        (["--figure", "equal-gain", "--highlight", "r1:nowhere"], 2),
        (["--highlight", "r1:nowhere"], 2),
        (["--figure", "plane"], 0),
    ],
)
def test_figures(files: list[str], tmp_path: Path, options: list[str], code: int) -> None:
    pytest.importorskip("matplotlib")
    out = tmp_path / "figure.svg"
    assert main(["effort", *files, *options, "--plot", str(out)]) == code
    assert out.exists() == (code == 0)
