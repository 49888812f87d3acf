"""The report: its data, its notes, its page."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankscope as rs
from rankscope.cli.main import main
from rankscope.judging import judge
from rankscope.reporting import build_document, html_page, report
from rankscope.reporting.html_page import render_report, split_arrays
from rankscope.reporting.notes import notes
from rankscope.reporting.page_data import as_json, as_stream, payload

WEB = Path(__file__).parents[2] / "web"
KINDS = {"u8": "u1", "u16": "<u2", "u32": "<u4", "i32": "<i4", "f32": "<f4", "f64": "<f8"}
QRELS = {"q1": {"a": 3, "b": 1, "c": 0, "d": -1}, "q2": {"a": 1, "e": 3}, "q3": {"z": 0}}
RUNS = {
    "one": {"q1": {"c": 9.0, "b": 8.0, "x": 7.0, "a": 6.0}, "q2": {"y": 2.0, "e": 1.0}},
    "two": {"q1": {"a": 1.0, "b": 1.0}, "q2": {"a": 1.0}, "q3": {"z": 1.0}, "q9": {"z": 1.0}},
}


def _judged(qrels: Any = QRELS, runs: Any = RUNS) -> Any:
    return judge(
        rs.Qrels.from_dict(qrels), rs.Runs(rs.Run.from_dict(lists, name=name) for name, lists in runs.items())
    )


def test_payload_holds_ranks_and_grades_of_relevant_documents() -> None:
    data = payload(_judged(), title="T")
    assert data["runs"] == ["one", "two"]
    assert data["topics"] == ["q1", "q2", "q3"]
    assert data["grades"] == [3, 1]
    assert data["topic"]["counts"].reshape(3, 2).tolist() == [[1, 1], [1, 1], [0, 0]]
    assert data["topic"]["nonrelevant"].tolist() == [2, 0, 1]
    assert data["list"]["hits"].tolist() == [2, 1, 0, 2, 1, 0]
    assert data["list"]["rank"].tolist() == [2, 4, 2, 1, 2, 1]
    assert data["list"]["grade"].tolist() == [1, 0, 0, 1, 0, 1]
    assert data["list"]["retrieved"].tolist() == [4, 2, 0, 2, 1, 1]
    assert data["list"]["judged10"].tolist() == [3, 1, 0, 2, 1, 1]
    assert data["nonrelevant"]["hits"].tolist() == [1, 0, 0, 0, 0, 1]
    assert data["documents"]["names"] == [["a", "b"], ["a", "e"], []]
    assert data["documents"]["hit"].tolist() == [1, 0, 1, 1, 0, 0]


def _merge(into: Any, part: Any) -> None:
    for key, value in part.items() if isinstance(part, dict) else enumerate(part):
        if isinstance(into, dict) and key not in into:
            into[key] = value
        else:
            _merge(into[key], value)


def test_a_large_report_is_written_in_parts_that_merge_to_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    data = payload(_judged(), title="T")
    assert "data-parts" not in render_report(data)
    whole = json.loads(as_json(data))
    monkeypatch.setattr(html_page, "LARGE", 0)
    parts = [json.loads(as_json(part)) for part in split_arrays(data)]
    assert len(parts) == 3 and json.loads(as_json(data)) == whole
    assert [m["name"] for m in parts[0]["measures"] if "values" in m] == [data["lead"]]
    merged = parts[0]
    for part in parts[1:]:
        _merge(merged, part)
    assert merged == whole
    text = render_report(data)
    places = [text.index(f'id="{name}"') for name in ("data", "data-1", "data-2")]
    assert places[0] < text.rindex("<script>") < places[1] < places[2]


def test_optional_parts_can_be_left_out() -> None:
    data = payload(_judged(), title="T", documents=False)
    assert "documents" not in data
    assert "nonrelevant" not in data


def test_json_and_stream_hold_the_same_data() -> None:
    data = payload(_judged(), title="T", measures=[rs.ERR @ 20])
    text = json.loads(as_json(data))
    raw = b"".join(as_stream(data))
    length = int.from_bytes(raw[8:12], "little")
    header = json.loads(raw[16 : 16 + length])
    start = 16 + -(-length // 8) * 8

    def unpacked(value: Any) -> Any:
        if isinstance(value, dict) and "base64" in value:
            return np.frombuffer(base64.b64decode(value["base64"]), KINDS[value["dtype"]]).tolist()
        if isinstance(value, dict) and "at" in value:
            assert value["at"] % 8 == 0
            kind = KINDS[value["dtype"]]
            return np.frombuffer(raw, kind, value["length"], start + value["at"]).tolist()
        if isinstance(value, dict):
            return {key: unpacked(inner) for key, inner in value.items()}
        return [unpacked(inner) for inner in value] if isinstance(value, list) else value

    assert repr(unpacked(text)) == repr(unpacked(header))  # NaN is not equal to itself
    assert unpacked(text)["list"]["rank"] == data["list"]["rank"].tolist()


def test_every_measure_travels_with_what_the_registry_knows() -> None:
    measures = [rs.AP, rs.Twist, rs.ERR @ 20, rs.AP(rel=2), rs.GMAP, rs.NumRelRet, rs.BalancePoint]
    data = payload(_judged(), title="T", measures=measures)
    names = [m["name"] for m in data["measures"]]
    assert names[-5:] == ["ERR@20", "AP(rel=2)", "GMAP", "NumRelRet", "BalancePoint"]
    assert len(set(names)) == len(names)
    assert data["lead"] == "AP"
    scores = rs.evaluate(QRELS, RUNS, names)
    board = rs.leaderboard(scores)["leaderboard"].records()
    for sent in data["measures"]:
        measure = rs.measure(sent["name"])
        assert (sent["meaning"], sent["summary"], sent["better"]) == (
            measure.meaning,
            measure.summary,
            measure.better,
        )
        assert (sent["low"] is None, sent["high"] is None) == tuple(np.isinf(measure.range).tolist())
        np.testing.assert_array_equal(sent["values"].reshape(2, 3), scores.matrix(measure).values)
        np.testing.assert_array_equal(sent["means"], scores.mean(measure))
        rows = {row["run"]: row for row in board if row["measure"] == sent["name"]}
        for end, part in (("low", sent["mean_low"]), ("high", sent["mean_high"])):
            np.testing.assert_array_equal(part, [rows[run][end] for run in RUNS])


def test_effort_is_measured_at_the_length_of_the_page() -> None:
    data = payload(_judged(), title="T", measures=[rs.Twist], settings={"length": 7})
    formulas = {m["name"]: m.get("formula") for m in data["measures"]}
    assert formulas["Twist@7"] == "Twist"
    assert formulas["Twist"] is None, "asked for at another length: the page has no formula for it"


def test_the_first_requested_gain_leads(tmp_path: Path) -> None:
    """As in the findings; effort, which the page holds against a gain, and counts do not lead."""
    run = rs.Run.from_dict({"q1": ["a", "b"]})
    plain = judge(rs.Qrels.from_dict({"q1": {"a": 1}}), run)
    assert payload(plain, title="T")["lead"] == "AP"
    assert payload(plain, title="T", measures=[rs.Twist, rs.NumRel, rs.ERR, rs.AP])["lead"] == "ERR"
    assert payload(plain, title="T", measures=[rs.Twist])["lead"] == "AP"
    for measures in ([], [rs.ERR], [rs.P @ 5, rs.AP]):
        page = payload(plain, title="T", measures=measures)
        assert page["lead"] == page["settings"]["findings"][0]
    (tmp_path / "qrels.txt").write_text("q1 1 a 1\nq1 2 b 1\n")
    judged = judge(rs.read_qrels(tmp_path / "qrels.txt", aspects=True), run)
    assert payload(judged, title="T", measures=[rs.alpha_nDCG @ 20, rs.ERR])["lead"] == "alpha_nDCG@20"


def test_the_description_of_the_data_is_current() -> None:
    """Check that the schema, the types and the README of the page are generated from schema.py."""
    process = subprocess.run(
        [sys.executable, str(WEB / "make_types.py"), "--check"], capture_output=True, text=True, check=False
    )
    assert process.returncode == 0, process.stdout + process.stderr


@pytest.mark.parametrize("documents", [True, False, None])
def test_the_data_is_as_described(documents: bool | None) -> None:
    table = rs.Table("power", ("measure", "power"), [("AP", 0.5), ("RR", float("nan"))])
    data = payload(_judged(), title="T", measures=[rs.GMAP], study={"power": table}, documents=documents)
    schema = json.loads((WEB / "payload.schema.json").read_text("utf-8"))
    for document in (json.loads(as_json(data)), {**json.loads(as_json(data)), "server": True}):
        _check(document, schema, schema["$defs"], "document")
    with pytest.raises(AssertionError):
        _check({**json.loads(as_json(data)), "more": 1}, schema, schema["$defs"], "document")
    with pytest.raises(AssertionError):
        _check({**json.loads(as_json(data)), "lead": 1}, schema, schema["$defs"], "document")


_KINDS: dict[str, Any] = {
    "string": str, "integer": int, "number": (int, float), "boolean": bool, "null": type(None),
    "object": dict, "array": list,
}  # fmt: skip


def _check(value: Any, schema: dict[str, Any], parts: dict[str, Any], place: str) -> None:
    """Whether a value is as a schema of ours says."""
    if "$ref" in schema:
        schema = parts[schema["$ref"].rpartition("/")[2]]
    if not schema.keys() - {"description"}:
        return
    if "enum" in schema:
        assert value in schema["enum"], place
        return
    if "anyOf" in schema:
        assert any(_fits(value, item, parts) for item in schema["anyOf"]), place
        return
    assert isinstance(value, _KINDS[schema["type"]]), place
    if schema["type"] == "array":
        for k, item in enumerate(value):
            _check(item, schema["items"], parts, f"{place}[{k}]")
    elif schema["type"] == "object":
        properties, others = schema.get("properties", {}), schema["additionalProperties"]
        assert set(schema.get("required", ())) <= set(value), place
        for key, item in value.items():
            assert key in properties or others is not False, f"{place}.{key}"
            _check(item, properties.get(key, others), parts, f"{place}.{key}")


def _fits(value: Any, schema: dict[str, Any], parts: dict[str, Any]) -> bool:
    try:
        _check(value, schema, parts, "")
    except AssertionError:
        return False
    return True


def test_missing_topics_are_undefined_when_skipped() -> None:
    data = payload(_judged(), title="T", measures=[rs.ERR @ 20], settings={"missing": "skip"})
    for entry in data["measures"]:
        assert np.isnan(entry["values"][2])
    assert data["archetype"][2] == 255


def test_runs_tied_for_first_are_those_of_the_leaderboard() -> None:
    simulation = rs.simulate(systems=8, topics=20, depth=50, seed=4)
    scores = rs.evaluate(simulation.qrels, simulation.runs, ["AP", "nDCG@10", "Twist@40", "ERR@20"])
    data = payload(scores.judged, title="T", measures=[rs.ERR @ 20, rs.NumRet], settings={"length": 40})
    board = rs.leaderboard(scores)["leaderboard"].records()
    for measure, name in (
        ("AP", "AP"),
        ("nDCG@10", "nDCG@10"),
        ("Twist@40", "Twist@40"),
        ("ERR@20", "ERR@20"),
    ):
        expected = {row["run"]: row["tied_for_first"] for row in board if row["measure"] == measure}
        assert data["tied_first"][name] == [expected[run] for run in data["runs"]]
        assert {True, False} == set(data["tied_first"][name])
    assert "NumRet" not in data["tied_first"] and "Judged@10" not in data["tied_first"]


def test_the_report_includes_ranges_of_means_on_request(tmp_path: Path) -> None:
    target = report(rs.evaluate(QRELS, RUNS, "ERR@20 Twist"), tmp_path / "page.html", bounds=True)
    inside = re.search(r'id="data">(.*?)</script>', target.read_text("utf-8"), re.S)
    assert inside is not None
    ranges = json.loads(inside.group(1))["ranges"]
    assert "Twist" not in ranges and "ERR@20" in ranges
    for name, entry in ranges.items():
        numbers = {
            key: np.frombuffer(base64.b64decode(entry[key]["base64"]))
            for key in entry
            if key not in ("exact", "tight")
        }
        for ties in ("worst", "best"):
            assert numbers[ties] == pytest.approx(rs.evaluate(QRELS, RUNS, name, ties=ties).mean(name))
        bounds = rs.evaluate(QRELS, RUNS, name, unjudged="bounds").bounds(name)
        for end, bound in zip(("lowest", "highest"), bounds, strict=True):
            assert numbers[end] == pytest.approx(bound.values.mean(axis=1))
        assert entry["exact"] and len(entry["tight"]) == 2
    assert numbers["highest"][0] > numbers["lowest"][0]
    assert "ranges" not in payload(_judged(), title="T")


@pytest.mark.parametrize("grades", [1, 2, 40, 300])
def test_any_number_of_grades(grades: int) -> None:
    qrels = {"q": {f"d{g}": g for g in range(grades + 1)}}
    run = {"r": {"q": {f"d{g}": float(g) for g in range(grades + 1)}}}
    data = payload(_judged(qrels, run), title="T")
    assert [data["grades"][g] for g in data["list"]["grade"].tolist()] == list(range(grades, 0, -1))


def test_notes_say_what_is_wrong_with_the_data() -> None:
    by_kind = {note["kind"]: note for note in notes(_judged())}
    assert by_kind["missing topics"]["items"] == ["one: q3"]
    assert by_kind["topics without judgments"]["items"] == ["two: q9"]
    assert by_kind["no relevant documents"]["items"] == ["q3"]
    assert by_kind["tied scores"]["items"] == ["two: 2 documents"]
    assert by_kind["negative grades"]["text"].startswith("1 judgment below zero")
    assert by_kind["unjudged documents"]["text"].startswith("20.0% of the documents")
    assert by_kind["unjudged documents"]["items"] == ["one: 33.3%"]
    assert len(by_kind["short lists"]["items"]) == 5


def test_a_clean_collection_has_no_notes() -> None:
    documents = {f"d{k}": int(k > 0) for k in range(12)}
    scores = {document: float(k) for k, document in enumerate(documents)}
    assert notes(_judged({"q": documents}, {"r": {"q": scores}})) == []


class _Elements(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def test_page_is_self_contained_and_its_policy_fits(tmp_path: Path) -> None:
    report(rs.Collection(QRELS, RUNS), tmp_path / "r.html", title="</title><script>alert(1)</script>")
    text = (tmp_path / "r.html").read_text("utf-8")
    elements = _Elements()
    elements.feed(text)
    scripts = [attributes for tag, attributes in elements.found if tag == "script"]
    assert scripts == [{"type": "application/json", "id": "data"}, {}]
    assert not [a for _, a in elements.found if "src" in a or (a.get("href") or "data:").startswith("http")]
    policy = next(a["content"] for t, a in elements.found if t == "meta" and a.get("http-equiv"))
    assert policy is not None
    assert policy.startswith("default-src 'none'")
    script = re.findall(r"<script>(.*?)</script>", text, re.S)[-1]
    style = re.search(r"<style>(.*?)</style>", text, re.S)
    assert style is not None
    for content, name in ((script, "script-src"), (style.group(1), "style-src")):
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{name} 'sha256-{digest}'" in policy


def test_data_in_the_page_is_exactly_the_payload() -> None:
    names = ["</script>", "a&b<c>", "\u2028\u2029", "\udcff"]
    data = {"title": "T", "runs": names}
    text = render_report(data)
    inside = re.search(r'id="data">(.*?)</script>', text, re.S)
    assert inside is not None
    assert not set("<>&\u2028\u2029") & set(inside.group(1))
    assert json.loads(inside.group(1))["runs"] == names
    text.encode("utf-8")


def test_same_data_gives_the_same_bytes(tmp_path: Path) -> None:
    first = report(rs.Collection(QRELS, RUNS), tmp_path / "a.html").read_bytes()
    assert first == report(rs.Collection(QRELS, RUNS), tmp_path / "b.html").read_bytes()


def _write(folder: Path) -> tuple[str, str]:
    (folder / "qrels.txt").write_text("q1 0 a 1\nq1 0 b 0\n")
    (folder / "bm25.txt").write_text("q1 Q0 b 1 2.0 x\nq1 Q0 a 2 1.0 x\n")
    return str(folder / "qrels.txt"), str(folder / "bm25.txt")


def test_command_writes_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    qrels, run = _write(tmp_path)
    target = tmp_path / "out.html"
    assert main(["report", qrels, run, "-o", str(target), "-m", "ERR@20", "--title", "Mine"]) == 0
    assert "<title>Mine</title>" in target.read_text("utf-8")
    assert "out.html" in capsys.readouterr().out
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_command_leaves_nothing_behind_when_it_fails(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    qrels, run = _write(tmp_path)
    Path(run).write_text("q1 Q0 a 1 NaN x\n")
    assert main(["report", qrels, run, "-o", str(tmp_path / "out.html")]) == 2
    assert not (tmp_path / "out.html").exists()
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize(
    "wrong", [["--cutoff", "0"], ["--study", "nowhere"], ["-o", "no/such/folder/x.html"]]
)
def test_command_explains_wrong_options(
    tmp_path: Path, wrong: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    qrels, run = _write(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert main(["report", qrels, run, *wrong]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_study_tables_reach_the_page(tmp_path: Path) -> None:
    qrels, run = _write(tmp_path)
    (tmp_path / "study").mkdir()
    rows = [{"a": "AP", "b": "Twist", "method": "tau-b", "value": 0.5}]
    (tmp_path / "study" / "correlations.json").write_text(json.dumps({"tables": {"correlations": rows}}))
    assert (
        main(["report", qrels, run, "-o", str(tmp_path / "o.html"), "--study", str(tmp_path / "study")]) == 0
    )
    inside = re.search(r'id="data">(.*?)</script>', (tmp_path / "o.html").read_text("utf-8"), re.S)
    assert inside is not None
    assert json.loads(inside.group(1))["study"]["correlations"]["rows"] == [["AP", "Twist", "tau-b", 0.5]]


def test_trec_covid_page_is_small_and_quick(data_dir: Path, tmp_path: Path) -> None:
    import time

    folder = data_dir / "trec_covid_r1_depth100"
    start = time.process_time()
    target = report(rs.Collection(folder / "qrels.txt", folder / "runs"), tmp_path / "covid.html")
    assert time.process_time() - start < 30
    assert target.stat().st_size < 6_000_000


def test_tables_of_a_study_are_cut_down_for_the_page() -> None:
    from rankscope.reporting.study import for_report

    rng = np.random.default_rng(1)
    rows = [
        (m, "bootstrap", f"a{k}", "b", float(rng.random()), 0.1) for m in ("AP", "RR") for k in range(2000)
    ]
    asl = rs.Table("asl", ("measure", "test", "a", "b", "asl", "difference"), rows)
    long = rs.Table("long", ("x",), [(k,) for k in range(6000)])
    shown = for_report(
        {"asl": asl, "long": long, "quadrants": asl, "power": rs.Table("power", ("x",), [(1,)])}
    )
    assert sorted(shown) == ["asl", "power"]
    curve = [row for row in shown["asl"].rows if row[0] == "AP"]
    levels = sorted((row[4] for row in rows if row[0] == "AP"), reverse=True)
    assert len(curve) == 300
    assert all(levels[int(str(pairs)) - 1] == level for _, _, pairs, level in curve)
    assert curve[0][2:] == (1, levels[0])
    assert curve[-1][2:] == (2000, levels[-1])


def test_a_study_written_by_the_command_is_read_back(tmp_path: Path) -> None:
    from rankscope.reporting.study import read_study
    from rankscope.simulation import simulate

    simulate(systems=4, topics=6, grades=3, depth=40, seed=2, pool_depth=20).write(tmp_path / "data")
    collection = rs.Collection(tmp_path / "data/qrels.txt", tmp_path / "data/runs")
    rs.study(collection, rs.StudySettings(measures="AP Twist", repeats=1), output=tmp_path / "s")
    tables = read_study(tmp_path / "s")
    assert {"correlations", "robustness", "power", "asl", "bounds"} <= set(tables)
    assert {"a", "b", "method", "value"} <= set(tables["correlations"].columns)
    assert {"measure", "pool", "tau"} <= set(tables["robustness"].columns)
    assert {"measure", "test", "alpha", "pairs", "significant", "power", "delta"} <= set(
        tables["power"].columns
    )
    assert {"p", "depth", "lower", "upper"} <= set(tables["bounds"].columns)


def test_the_report_takes_scores_or_a_collection_and_rejects_options_that_it_does_not_honour(
    tmp_path: Path,
) -> None:
    target = tmp_path / "r.html"
    assert '"findings":["AP"]' in report(rs.evaluate(QRELS, RUNS, "AP"), target).read_text()
    assert '"Twist@20"' in report(rs.Collection(QRELS, RUNS), target, cutoff=20).read_text()
    for options in ({"ties": "expected"}, {"unjudged": "bounds"}):
        with pytest.raises(rs.errors.SettingsError, match="report does not honour"):
            report(rs.Collection(QRELS, RUNS, **options), target)
    with pytest.raises(rs.errors.SettingsError, match=r"not a value of type dict; give it rs\.Collection"):
        report(QRELS, target)  # type: ignore[arg-type]
    with pytest.raises(rs.errors.SettingsError, match="a cutoff of 0"):
        report(rs.Collection(QRELS, RUNS), target, cutoff=0)


def test_the_report_names_the_command_that_reads_the_same_files(tmp_path: Path) -> None:
    rs.simulate(systems=2, topics=2, depth=10, seed=3, pool_depth=5).write(tmp_path / "c")
    qrels, runs = str(tmp_path / "c/qrels.txt"), str(tmp_path / "c/runs")
    collection = rs.Collection(qrels, [runs], order="rank", missing="skip", topics="301", grades="0,1=0;2=1")
    source = build_document(collection, [])["source"]
    assert (source["qrels"], source["runs"]) == (qrels, [runs])
    assert source["options"] == [
        "--order", "rank", "--missing", "skip", "--grades", "0,1=0;2=1", "--topics", "301"
    ]  # fmt: skip
    assert "source" not in build_document(rs.Collection(QRELS, RUNS), [])


@pytest.mark.parametrize("complete", [True, False])
def test_every_document_in_the_first_ranks_has_a_name(
    complete: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    from rankscope.reporting import page_data

    simulated = rs.simulate(systems=4, topics=5, grades=3, depth=60, seed=8, pool_depth=10)
    collection = rs.Collection(simulated.qrels, simulated.runs)
    if not complete:
        monkeypatch.setattr(page_data, "SMALL", 10)
    result = page_data.top_documents(collection.qrels, collection.runs)
    assert result is not None and result["complete"] is complete
    ends = np.cumsum(result["hits"])
    first = np.cumsum([0, *map(len, result["names"])])
    for r, run in enumerate(collection.runs.values()):
        for t, topic in enumerate(collection.qrels.topics):
            i = r * len(collection.qrels.topics) + t
            part = slice(ends[i] - result["hits"][i], ends[i])
            named = {
                int(rank): (result["names"][t][d], bool(result["judged"][first[t] + d]))
                for rank, d in zip(result["rank"][part], result["document"][part], strict=True)
            }
            grades = collection.qrels.judgments(topic)
            everyone = {d for other in collection.runs.values() for d in other.ranking(topic)[:20]}
            expected = {
                rank: (d, d in grades)
                for rank, d in enumerate(run.ranking(topic), 1)
                if grades.get(d, 0) < 1 and (rank <= 20 or (complete and d not in grades and d in everyone))
            }
            assert named == expected
    monkeypatch.setattr(page_data, "MAX_NAMED_LISTS", 19)
    assert page_data.top_documents(collection.qrels, collection.runs) is None
