"""One collection, one truth: Python, commands, studies, the page and the bridge give the same numbers.

In these collections every document has one subtopic, so that nothing but the measures says that the second column
names aspects.
"""

from __future__ import annotations

import base64
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankscope as rs
from rankscope.analysis.study.manifest import MANIFEST
from rankscope.cli.main import main
from rankscope.errors import InputError, MeasureError
from rankscope.measures import REGISTRY, Measure

# the subtopic of each relevant document d0, d1, ... of a topic (d4 and d5 are not relevant), and a ranking
STUDIED = [([0, 2, 1, 2], "351024"), ([0, 2, 1, 2], "351024"), ([1, 0, 2], "310245"), ([0, 1, 2], "314250")]
REPORTED = [([2, 1, 0], "150324"), ([1, 0, 0, 2], "042513"), ([0, 1, 2, 0], "150423")]
Sampled = Callable[[Sequence[Any], int], list[Any]]
QUICK: dict[str, Any] = {"repeats": 1, "replicates": 20, "ratios": [50]}


def settings(measures: Any) -> rs.StudySettings:
    return rs.StudySettings(measures=measures, **QUICK)


def write_collection(folder: Path, topics: Sequence[tuple[Sequence[int], str]]) -> tuple[Path, Path]:
    """A collection in files: the run of the rankings, and the same backwards."""
    judgments = []
    runs: dict[str, list[str]] = {"bm25": [], "dense": []}
    for t, (subtopics, ranking) in enumerate(topics, 1):
        for d in range(6):
            relevant = d < len(subtopics)
            judgments.append(f"{t} {subtopics[d] + 1 if relevant else 1} d{d} {int(relevant)}\n")
        for name, order in (("bm25", ranking), ("dense", ranking[::-1])):
            runs[name] += [f"{t} Q0 d{d} {r} {9 - r} {name}\n" for r, d in enumerate(order, 1)]
    (folder / "runs").mkdir()
    for name, lines in runs.items():
        (folder / "runs" / f"{name}.txt").write_text("".join(lines))
    (folder / "qrels.txt").write_text("".join(judgments))
    return folder / "qrels.txt", folder / "runs"


def every_measure() -> list[Measure]:
    """Return each measure of the registry, with a cutoff if it requires one."""
    actual = []
    for name, measure in REGISTRY.items():
        if measure.name == name and measure.family != "user":
            try:
                actual.append(measure @ 5 if measure.cutoff_rule == "required" else measure)
            except MeasureError:
                actual.append(measure @ 0.5)
    return actual


EVERY = every_measure()


@pytest.fixture
def web2011(data_dir: Path, tmp_path: Path) -> tuple[Path, Path]:
    """Topics of the Web track 2011 with their run, and the same run with every list backwards."""
    import gzip

    source = data_dir / "web2011_diversity"
    text = gzip.decompress((source / "runs" / "DSSA_baseline_wt2011.gz").read_bytes()).decode()
    expected = {str(topic) for topic in range(101, 109)}
    rows = [line.split() for line in text.splitlines() if line.split()[0] in expected]
    (tmp_path / "runs").mkdir()
    for name, sign in (("one", 1), ("two", -1)):
        lines = [f"{t} {q} {d} {r} {sign * float(s)!r} {name}\n" for t, q, d, r, s, _ in rows]
        (tmp_path / "runs" / f"{name}.txt").write_text("".join(lines))
    judged = (source / "qrels.diversity.txt").read_text().splitlines(keepends=True)
    (tmp_path / "qrels.txt").write_text("".join(line for line in judged if line.split()[0] in expected))
    return tmp_path / "qrels.txt", tmp_path / "runs"


# the same evaluation through every interface -----------------------------------------------------------


def evaluate_by_command(qrels: Path, runs: Path, measures: Sequence[Measure], to: Path) -> dict[str, Any]:
    arguments = ["eval", str(qrels), str(runs), "-q", "-f", "json", "-o", str(to)]
    assert main([*arguments, "-m", " ".join(map(str, measures))]) == 0
    content: dict[str, Any] = json.loads(to.read_text())
    return content


def evaluate_by_report(qrels: Any, runs: Any, measures: Sequence[Measure], to: Path) -> dict[str, Any]:
    """Return the data of the report, with the values of the measures that Python computes for it."""
    text = rs.report(rs.evaluate(qrels, runs, list(measures)), to).read_text()
    actual = re.search(r'<script type="application/json" id="data">(.*?)</script>', text)
    assert actual is not None
    document: dict[str, Any] = json.loads(actual[1])
    for item in document["measures"]:
        item["values"] = np.frombuffer(base64.b64decode(item["values"]["base64"]), "<f8")
    return document


def evaluate_by_bridge(
    qrels: Path, run: Path, measures: Sequence[Measure]
) -> Mapping[Measure, dict[str, float]]:
    ir_measures = pytest.importorskip("ir_measures")
    bridge = pytest.importorskip("rankscope.ir_measures")
    measures_by_own = {}
    for measure in measures:
        item = ir_measures.measures.registry[measure.name]
        if measure.name == "RBP":
            item = item(rel=1)  # without a level it is graded there
        if measure.cutoff is not None and measure.cutoff != measure.default_cutoff:
            item = item @ measure.cutoff
        assert bridge.provider.supports(item), item
        measures_by_own[item] = measure
    judged = list(ir_measures.read_trec_qrels(str(qrels)))
    evaluator = bridge.provider.evaluator(list(measures_by_own), judged)
    actual: dict[Measure, dict[str, float]] = {measure: {} for measure in measures}
    for metric in evaluator.iter_calc(list(ir_measures.read_trec_run(str(run)))):
        actual[measures_by_own[metric.measure]][metric.query_id] = metric.value
    return actual


def same(a: Any, b: Any) -> None:
    np.testing.assert_array_equal(np.asarray(a, np.float64), np.asarray(b, np.float64))


# the wrong numbers there were -------------------------------------------------------------------------------


def test_a_study_reads_subtopics_as_the_command_does(tmp_path: Path) -> None:
    qrels, runs = write_collection(tmp_path, STUDIED)
    result = rs.study(rs.Collection(qrels, runs), settings("AP ERR_IA"), output=tmp_path / "python")
    means = {row["run"]: row["ERR_IA"] for row in result["means"].records()}
    assert round(means["bm25"], 3) == 0.218  # it was 0.488: a topic with one aspect
    options = ["--repeats", "1", "--replicates", "20", "--ratios", "50", "-m", "AP ERR_IA"]
    assert main(["study", str(qrels), str(runs), "-o", str(tmp_path / "command"), *options]) == 0
    manifests = [json.loads((tmp_path / by / MANIFEST).read_text()) for by in ("python", "command")]
    assert manifests[0]["outputs"] == manifests[1]["outputs"]
    for manifest in manifests:
        assert manifest["settings"]["aspects"] is True
    for by in ("python", "command"):  # 19 of 36 files differed
        assert rs.repeat_study(tmp_path / by).changed == ()


def test_report_and_bridge_read_subtopics_as_evaluate_does(tmp_path: Path) -> None:
    qrels, runs = write_collection(tmp_path, REPORTED)
    scores = rs.evaluate(qrels, runs, "ERR_IA")
    assert round(scores.means()["bm25"][rs.ERR_IA], 3) == 0.264
    document = evaluate_by_report(qrels, runs, [rs.ERR_IA], tmp_path / "report.html")
    (actual,) = (item for item in document["measures"] if item["name"] == "ERR_IA")
    assert round(actual["values"][:3].mean(), 3) == 0.264  # it was 0.615
    assert document["settings"]["aspects"] is True
    bridged = evaluate_by_bridge(qrels, runs / "bm25.txt", [rs.ERR_IA])[rs.ERR_IA]
    assert round(sum(bridged.values()) / 3, 3) == 0.264  # it was 0.615


def test_judgments_that_were_read_before_are_no_exception(tmp_path: Path) -> None:
    qrels, runs = write_collection(tmp_path, REPORTED)
    judgments = rs.read_qrels(qrels)
    assert round(rs.evaluate(judgments, runs, "ERR_IA").means()["bm25"][rs.ERR_IA], 3) == 0.264
    assert (
        round(rs.evaluate(judgments, runs, "AP").means()["bm25"][rs.AP], 9)
        == round(rs.evaluate(qrels, runs, "AP ERR_IA").means()["bm25"][rs.AP], 9)
    )  # fmt: skip
    refused = rs.read_qrels(qrels, aspects=False)
    assert round(rs.evaluate(refused, runs, "ERR_IA").means()["bm25"][rs.ERR_IA], 3) == 0.615


def test_judging_by_hand_requires_a_decision_about_aspects(tmp_path: Path) -> None:
    qrels, runs = write_collection(tmp_path, REPORTED)
    files = rs.read_runs(runs)
    lists = rs.judge(rs.read_qrels(qrels), files).lists
    for item in EVERY:
        if item.needs_aspects:
            with pytest.raises(
                InputError, match="was not decided; use evaluate, or read_qrels with aspects="
            ):
                item.evaluate(lists)
        else:
            same(item.evaluate(lists), rs.evaluate(qrels, runs, item).values.ravel())
    for aspects, mean in ((True, 0.264), (False, 0.615)):
        decided = rs.judge(rs.read_qrels(qrels, aspects=aspects), files["bm25"]).lists
        assert round(rs.ERR_IA.evaluate(decided).mean(), 3) == mean


def test_every_analysis_reads_subtopics_alike(tmp_path: Path) -> None:
    qrels, runs = write_collection(tmp_path, STUDIED)
    expected = rs.evaluate(qrels, runs, "ERR_IA").mean("ERR_IA").tolist()
    robust = rs.pools(rs.evaluate(qrels, runs, "AP ERR_IA"), pool_depth=6)
    actual = [
        r["value"] for r in robust["means"].records() if (r["measure"], r["pool"]) == ("ERR_IA", "full")
    ]
    assert actual == pytest.approx(expected)
    left = rs.leave_out(rs.evaluate(qrels, runs, "ERR_IA"), pool_depth=6)
    assert [r["value"] for r in left["leave_out"].records()] == pytest.approx(expected)
    ordered = rs.orderings(rs.evaluate(qrels, runs, "ERR_IA"))
    assert [r["first"] for r in ordered["effect"].records()] == pytest.approx(expected)
    gained = rs.effort(rs.Collection(qrels, runs), "ERR_IA")
    same(gained.gain[0], rs.evaluate(qrels, runs, "ERR_IA").values[0].ravel())
    for result in (robust, left, ordered, gained):
        assert result.settings["aspects"] is True


def test_the_measure_that_runs_are_chosen_by_counts_too(tmp_path: Path) -> None:
    qrels, runs = write_collection(tmp_path, STUDIED)
    arguments = ["correlate", str(qrels), str(runs), "-m", "AP RR", "--top", "1", "--by", "ERR_IA"]
    assert main([*arguments, "-f", "json", "-o", str(tmp_path / "c.json")]) == 0
    assert json.loads((tmp_path / "c.json").read_text())["settings"]["aspects"] is True


# every measure, on both kinds of collections ----------------------------------------------------------------


@pytest.fixture(params=["one subtopic a document", pytest.param("web2011", marks=pytest.mark.slow)])
def collection(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, Path]:
    if request.param == "web2011":
        actual: tuple[Path, Path] = request.getfixturevalue("web2011")
        return actual
    return write_collection(tmp_path, [*STUDIED, *REPORTED])


def test_only_measures_that_need_aspects_look_at_them(tmp_path: Path) -> None:
    qrels, runs = write_collection(tmp_path, [*STUDIED, *REPORTED])
    short = [m @ 2 if m.cutoff_rule != "none" and m.name != "IPrec" else m for m in EVERY]
    values = [
        rs.evaluate(rs.read_qrels(qrels, aspects=aspects), runs, short).values for aspects in (True, False)
    ]
    for item, apart, whole in zip(short, *values, strict=True):
        # with aspects that count alike and one of them a document, all global gains are the same
        looks = item.needs_aspects and item.name not in ("D", "D_nDCG")
        assert np.array_equal(apart, whole, equal_nan=True) != looks, item


@pytest.mark.slow
def test_evaluate_command_page_and_bridge_agree(
    collection: tuple[Path, Path], tmp_path: Path, sampled: Sampled
) -> None:
    qrels, runs = collection
    measures = list(dict.fromkeys([rs.ERR_IA, *sampled(EVERY, 30)]))
    scores = rs.evaluate(qrels, runs, measures)
    assert scores.settings["aspects"] is True
    alone = [rs.evaluate(rs.read_qrels(qrels), runs, item).values[0] for item in measures]
    same(alone, scores.values)

    printed = evaluate_by_command(qrels, runs, measures, tmp_path / "scores.json")
    keys = {(row["run"], row["topic"], row["measure"]): row["value"] for row in printed["tables"]["topics"]}
    for (run, topic, name), value in keys.items():
        expected = scores.values[
            [*map(str, measures)].index(name), scores.runs.index(run), scores.topics.index(topic)
        ]
        assert math.isnan(expected) if value is None else float(value) == expected, (run, topic, name)
    assert len(keys) == scores.values.size
    assert {k: printed["settings"][k] for k in ("order", "aspects")} == {
        "order": "trec_eval",
        "aspects": True,
    }

    document = evaluate_by_report(qrels, runs, measures, tmp_path / "report.html")
    assert {str(m) for m in measures} <= {item["name"] for item in document["measures"]}
    for item in document["measures"]:
        if rs.measure(item["name"]) not in measures:
            continue
        same(item["values"].reshape(len(scores.runs), -1), scores.matrix(item["name"]).values)

    first = scores.runs[0]
    for measure, bridged in evaluate_by_bridge(qrels, runs / f"{first}.txt", measures).items():
        same([bridged[topic] for topic in scores.topics], scores.matrix(measure).values[0])


# A study of every measure omits topics, and warns about it.
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.* is undefined on .* topics, which are left out:UserWarning")
def test_studies_agree_and_repeat_themselves(
    collection: tuple[Path, Path], tmp_path: Path, sampled: Sampled
) -> None:
    qrels, runs = collection
    every = list(dict.fromkeys([rs.ERR_IA, *sampled(EVERY, 30)]))
    values = rs.evaluate(qrels, runs, every).values
    comparable = (
        np.isfinite(values).all(axis=1).sum(axis=1) > 1
    )  # on two topics at least, as every test needs
    studied = [item for item, enough in zip(every, comparable, strict=True) if enough]
    assert {item.name for item in every} - {item.name for item in studied} <= {
        "BalancePoint",
        "BalanceTime",
        "b_ratio",
    }
    named = " ".join(map(str, studied))
    rs.study(rs.Collection(qrels, runs), settings(studied), output=tmp_path / "python")
    options = ["--repeats", "1", "--replicates", "20", "--ratios", "50", "-m", named]
    assert main(["study", str(qrels), str(runs), "-o", str(tmp_path / "command"), *options]) == 0
    manifests = [json.loads((tmp_path / by / MANIFEST).read_text()) for by in ("python", "command")]
    assert manifests[0]["outputs"] == manifests[1]["outputs"]
    assert main(["study", "--from", str(tmp_path / "python")]) == 0


def test_a_study_is_repeated_in_the_orderings_it_was_made_in(tmp_path: Path) -> None:
    qrels, runs = write_collection(tmp_path, STUDIED)
    read = rs.read_runs(runs, order="file")
    mixed = rs.Runs([read["bm25"], read["dense"].with_order("rank")])
    for name, runs_given in (("file", read), ("mixed", mixed)):
        rs.study(rs.Collection(qrels, runs_given), settings("AP ERR_IA"), output=tmp_path / name)
        assert rs.repeat_study(tmp_path / name).identical
    recorded = json.loads((tmp_path / "mixed" / MANIFEST).read_text())["settings"]
    assert recorded["order"] == {"bm25": "file", "dense": "rank"}


def test_a_manifest_names_the_ordering_of_each_run(tmp_path: Path) -> None:
    qrels, runs = write_collection(tmp_path, STUDIED)
    rs.study(rs.Collection(qrels, runs), settings("AP ERR_IA"), output=tmp_path / "s")
    manifest = json.loads((tmp_path / "s" / MANIFEST).read_text())
    for order, message in (
        ({"bm25": "file"}, "settings.order: one ordering for each run"),
        ({"bm25": "file", "dense": "sideways"}, "settings.order.dense: one of trec_eval"),
        ([], "settings.order: one of trec_eval"),
    ):
        manifest["settings"]["order"] = order
        (tmp_path / "s" / MANIFEST).write_text(json.dumps(manifest))
        with pytest.raises(InputError, match=re.escape(message)):
            rs.repeat_study(tmp_path / "s")
