"""Descriptions of collections: sizes, and the depth of the pool that the data have."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankscope as rs
from rankscope.cli.main import main
from rankscope.judging import judge
from rankscope.judging.description import describe, judged_depths
from rankscope.read import Qrels, Run, Runs


def pooled(
    depth: int, runs: int = 5, topics: int = 4, seed: int = 1
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Runs of 30 documents that were judged to a depth, and no further."""
    rng = np.random.default_rng(seed)
    lists = {
        f"r{r}": {f"q{t}": [f"d{i}" for i in rng.permutation(400)[:30]] for t in range(topics)}
        for r in range(runs)
    }
    qrels: dict[str, Any] = {}
    for run in lists.values():
        for topic, documents in run.items():
            for document in documents[:depth]:
                qrels.setdefault(topic, {})[document] = int(rng.integers(0, 3))
    return qrels, lists


@pytest.mark.parametrize("depth", [1, 3, 10])
def test_the_depth_of_a_pool_is_found(depth: int) -> None:
    qrels, lists = pooled(depth)
    features = dict(rs.Collection(qrels, lists).describe().features.rows)
    # further documents may be judged by chance, as they were in another run's first ranks
    assert depth <= features["Pool depth (all runs)"] <= depth + 2
    assert features["Pool depth (all runs)"] <= features["Pool depth (half of the runs)"]
    assert features["Longest list"] == 30 and features["Median length of a list"] == 30
    assert features["Judged documents"] == sum(map(len, qrels.values()))
    assert features["Relevant documents"] == sum(g > 0 for t in qrels.values() for g in t.values())


def test_a_run_that_was_not_pooled_does_not_hide_the_depth() -> None:
    qrels, lists = pooled(5, runs=4)
    lists["late"] = {topic: [f"x{i}" for i in range(30)] for topic in qrels}
    description = rs.Collection(qrels, lists).describe()
    features = dict(description["features"].rows)
    assert features["Pool depth (all runs)"] == 0 and features["Pool depth (half of the runs)"] >= 5
    assert {row["run"]: row["depth"] for row in description["runs"].records()}["late"] == 0


def test_depths_one_by_one() -> None:
    qrels, lists = pooled(4)
    del lists["r2"]["q1"]
    lists["r3"]["q0"] = [d for d in lists["r3"]["q0"] if d in qrels["q0"]]  # judged to its end
    judged = judge(
        Qrels.from_dict(qrels), Runs([Run.from_dict(result, name) for name, result in lists.items()])
    )
    depths = judged_depths(judged)
    for (r, run), (t, topic) in itertools.product(enumerate(judged.runs), enumerate(judged.topics)):
        documents = lists[run].get(topic)
        if documents is None:
            assert math.isnan(depths[r, t])
            continue
        prefix = list(itertools.takewhile(lambda d, t=topic: d in qrels[t], documents))
        assert depths[r, t] == (math.inf if len(prefix) == len(documents) else len(prefix))
    tables = describe(judged)
    runs = {row["run"]: row for row in tables["runs"].records()}
    for r, run in enumerate(judged.runs):
        finite = depths[r][~np.isnan(depths[r])]
        assert runs[run]["depth"] == finite.min() and runs[run]["topics"] == len(finite)
        assert runs[run]["median_depth"] == sorted(finite)[(len(finite) - 1) // 2]
    for t, row in enumerate(tables["topics"].records()):
        assert row["depth"] == np.nanmin(depths[:, t]) and row["judged"] == len(qrels[row["topic"]])


def test_trec_covid_was_judged_to_depth_seven(data_dir: Any) -> None:
    """According to the track, the pool has the first seven documents of the pooled runs."""
    home = data_dir / "trec_covid_r1_depth100"
    description = rs.Collection(home / "qrels.txt", home / "runs", order="trec_eval9").describe()
    features = dict(description["features"].rows)
    assert features["Runs"] == 143 and features["Relevance grades"] == "0, 1, 2"
    # most runs that were judged at all were judged to this depth on every topic
    depths = description["runs"].column("depth")
    pooled_runs = [depth for depth in depths if depth >= 3]
    assert max(set(pooled_runs), key=pooled_runs.count) == 7


def write(place: Path, qrels: dict[str, Any], lists: dict[str, Any]) -> Path:
    (place / "runs").mkdir(parents=True)
    lines = [f"{t} 0 {d} {g}\n" for t, topics in qrels.items() for d, g in topics.items()]
    (place / "qrels.txt").write_text("".join(lines))
    for name, topics in lists.items():
        lines = [f"{t} Q0 {d} {r} {-r} {name}\n" for t, ds in topics.items() for r, d in enumerate(ds, 1)]
        (place / "runs" / f"{name}.txt").write_text("".join(lines))
    return place


def test_the_command(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    shallow, deep = (write(tmp_path / str(depth), *pooled(depth)) for depth in (2, 6))
    assert main(["eval", "--describe", str(shallow / "qrels.txt"), str(shallow / "runs"), "-f", "json"]) == 0
    alone = json.loads(capfd.readouterr().out)["tables"]
    assert set(alone) == {"features", "runs", "topics"}
    named = [f"{place.name}={place}/qrels.txt:{place}/runs" for place in (shallow, deep)]
    assert main(["eval", "--describe", "--collection", named[0], "--collection", named[1], "-f", "json"]) == 0
    answer = json.loads(capfd.readouterr().out)
    table = {row["feature"]: row for row in answer["tables"]["features"]}
    assert table["Topics"]["2"] == table["Topics"]["6"] == 4
    for row in alone["features"][1:]:
        assert table[row["feature"]]["2"] == row["value"]
    assert len(answer["settings"]["files"]) == 2 + 5 + 5
    assert (
        main(
            [
                "eval",
                "--describe",
                str(shallow / "qrels.txt"),
                str(shallow / "runs"),
                "--collection",
                named[1],
            ]
        )
        == 2
    )
    alone_words = ["eval", str(shallow / "qrels.txt"), str(shallow / "runs")]
    assert main([*alone_words, "--describe", "--ties", "best"]) == 2
    assert (
        "--describe evaluates no measures, and does not take --ties and --unjudged; omit"
        in capfd.readouterr().err
    )
    assert main(["eval", "--collection", named[0]]) == 2
    assert "only --describe takes several collections" in capfd.readouterr().err
    assert main([*alone_words, "--describe", "--name", "news", "-q", "-f", "csv"]) == 0
    assert "Collection,news" in capfd.readouterr().out
