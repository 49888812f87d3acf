"""Studies of several collections: each as if it were alone, together in one directory, repeated from a manifest."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankscope as rs
from rankscope.analysis.study.experiments import Study, study
from rankscope.analysis.study.manifest import MANIFEST
from rankscope.analysis.study.settings import PUBLISHED
from rankscope.cli.main import main
from rankscope.errors import InputError, SettingsError

QUICK: dict[str, Any] = {"repeats": 2, "replicates": 50}
FAST = ["--repeats", "2", "--replicates", "50", "--quiet"]
MEASURES = ["AP", "RBP", "nDCG", "Twist"]


def run_study(qrels: Any, runs: Any = None, **settings: Any) -> Study:
    """Study a collection, or several of a mapping."""
    several = {name: rs.Collection(*files) for name, files in qrels.items()} if runs is None else None
    return study(
        several or rs.Collection(qrels, runs), rs.StudySettings(**{"measures": MEASURES, **QUICK, **settings})
    )


def collection(seed: int, runs: int, topics: int) -> tuple[dict[str, Any], dict[str, Any]]:
    rng = np.random.default_rng(seed)
    qrels = {f"{t}": {f"d{i}": int(g) for i, g in enumerate(rng.integers(0, 3, 15))} for t in range(topics)}
    lists: dict[str, Any] = {f"run{r}": {} for r in range(runs)}
    for r, run in enumerate(lists.values()):
        for topic, judged in qrels.items():
            worth = [0.2 * r * judged.get(f"d{i}", 0) + rng.random() for i in range(25)]
            run[topic] = {f"d{i}": float(w) for i, w in enumerate(worth)}
    return qrels, lists


@pytest.fixture(scope="module")
def three() -> dict[str, tuple[Any, Any]]:
    """Two collections, and one of a single run."""
    return {"first": collection(1, 8, 6), "second": collection(2, 5, 9), "single": collection(3, 1, 4)}


@pytest.fixture
def files(three: dict[str, tuple[Any, Any]], tmp_path: Path) -> Path:
    for name, (qrels, lists) in three.items():
        (tmp_path / name / "runs").mkdir(parents=True)
        lines = [f"{t} 0 {d} {g}\n" for t, topics in qrels.items() for d, g in topics.items()]
        (tmp_path / name / "qrels.txt").write_text("".join(lines))
        for run, topics in lists.items():
            lines = [f"{t} Q0 {d} 0 {s} {run}\n" for t, scores in topics.items() for d, s in scores.items()]
            (tmp_path / name / "runs" / f"{run}.txt").write_text("".join(lines))
    return tmp_path


def named(files: Path, *names: str) -> list[str]:
    return [text for n in names for text in ("--collection", f"{n}={files / n}/qrels.txt:{files / n}/runs")]


def test_every_collection_is_as_if_it_were_alone(three: dict[str, tuple[Any, Any]]) -> None:
    result = run_study(three)
    assert list(result.collections) == ["first", "second", "single"]
    for name in ("first", "second"):
        alone, part = run_study(*three[name], name=name), result.select(name)
        assert set(part.tables) == set(alone.tables)
        for kind, table in alone.tables.items():
            assert part[kind].columns == table.columns and part[kind].rows == table.rows, kind
    rows = result["left_out"].records()
    assert {(row["collection"], row["experiment"]) for row in rows} == {
        ("single", experiment) for experiment in ("correlations", "pools", "power", "scales")
    }
    assert {"archetypes", "bounds", "means", "effort_points", "collection"} <= set(
        result.select("single").tables
    )
    with pytest.raises(SettingsError, match="no collection 'third'"):
        result.select("third")


def test_tables_as_a_paper_prints_them(three: dict[str, tuple[Any, Any]]) -> None:
    result = run_study(three)
    assert result["collection"].columns == ("feature", "first", "second", "single")
    assert result["collection"].rows[:2] == [("Topics", 6, 9, 4), ("Runs", 8, 5, 1)]
    assert [row[0] for row in result["focus_correlations"].rows] == ["Twist (first)", "Twist (second)"]
    shares = result["archetype_shares"]
    assert [row[0] for row in shares.rows] == ["first", "second", "single"]
    for row in shares.records():
        parts = ("ideal", "worst", "typical A", "typical B", "excellent", "full scale")
        assert sum(row[part] for part in parts) == pytest.approx(100)
    assert [row["total"] for row in shares.records()] == [48, 45, 4]


def test_points_are_those_of_the_planes(three: dict[str, tuple[Any, Any]]) -> None:
    result = run_study(*three["first"])
    scores = rs.evaluate(*three["first"], ["AP", "Twist"])
    points = result["effort_points"].records()
    assert [row["Twist"] for row in points] == scores.matrix("Twist").values.ravel().tolist()
    assert [row["AP"] for row in points] == scores.matrix("AP").values.ravel().tolist()


def test_the_best_runs_in_the_experiments_that_are_named(three: dict[str, tuple[Any, Any]]) -> None:
    qrels, lists = three["first"]
    result = run_study(qrels, lists, top=0.5, top_of="pools,power")
    scores = rs.evaluate(qrels, lists, MEASURES)
    order = np.argsort(-scores.mean("AP"), kind="stable")[:4]
    best = {scores.runs[r]: lists[scores.runs[r]] for r in sorted(order.tolist())}
    alone = run_study(qrels, best)
    for kind in ("power", "asl", "significant_pairs", "robustness", "depth_pool_means"):
        assert result[kind].rows == alone[kind].rows, kind
    everything = run_study(qrels, lists)
    for kind in ("archetypes", "bounds", "scale_effect", "means", "correlations"):
        assert result[kind].rows == everything[kind].rows, kind
    whole = run_study(qrels, lists, top=0.5, top_of="all")
    for kind in ("archetypes", "bounds", "scale_effect", "power"):
        assert whole[kind].rows == alone[kind].rows, kind
    assert whole.settings["top_of"] == ["effort", "pools", "power", "scales", "bounds"]
    with pytest.raises(SettingsError, match="no experiment 'pool'"):
        run_study(qrels, lists, top_of=["pool"])


def test_like_the_paper(three: dict[str, tuple[Any, Any]]) -> None:
    collection = rs.Collection(*three["first"])
    result = study(collection, rs.StudySettings.from_published("twist", repeats=1))
    assert result.settings["measures"] == ["AP", "Bpref", "RBP", "nDCG(discount='jk',base=10)", "Twist"]
    assert result.settings["top_of"] == ["pools", "power"] and result.settings["replicates"] == 1000
    other = rs.StudySettings.from_published("twist", measures=["AP", "P@5"], repeats=1, alpha=0.01)
    changed = study(collection, other)
    assert changed.settings["focus"] == "P@5" and changed.settings["alpha"] == 0.01
    with pytest.raises(SettingsError, match="no published study 'twits'"):
        rs.StudySettings.from_published("twits")
    # the gains of the paper, base 5, are the grades times 5: the same nDCG
    names = [PUBLISHED["twist"]["measures"][3], "nDCG(gains='0,5,10',discount='jk',base=10)"]
    published, standard = rs.evaluate(*three["first"], names).values
    np.testing.assert_allclose(published, standard, rtol=1e-14)


def test_invalid_arguments_of_study_raise(three: dict[str, tuple[Any, Any]]) -> None:
    with pytest.raises(SettingsError, match=r"takes a Collection, .* not a value of type dict"):
        study({"first": three["first"][0]})  # type: ignore[dict-item]
    with pytest.raises(SettingsError, match="their own names"):
        run_study(three, name="x")
    with pytest.raises(SettingsError, match="differ in missing, ties or unjudged"):
        study({missing: rs.Collection(*three["first"], missing=missing) for missing in ("zero", "skip")})
    with pytest.raises(InputError, match="no collection"):
        study({})
    with pytest.raises(InputError, match="at least two runs"):
        run_study(*three["single"])


# directories ------------------------------------------------------------------------------------------------


def contents(directory: Path) -> dict[str, bytes]:
    return {
        str(p.relative_to(directory)): p.read_bytes() for p in sorted(directory.rglob("*")) if p.is_file()
    }


def test_a_study_of_several_is_the_same_bytes_again(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    collections = named(files, "first", "second", "single")
    assert main(["study", *collections, *FAST, "--like", "twist", "-o", str(files / "a")]) == 0
    assert main(["study", *collections, *FAST, "--like", "twist", "-j", "1", "-o", str(files / "b")]) == 0
    assert contents(files / "a") == contents(files / "b")
    capsys.readouterr()
    assert main(["study", "--from", str(files / "a"), "-o", str(files / "c")]) == 0
    assert capsys.readouterr().out.startswith("identical")
    assert contents(files / "a") == contents(files / "c")
    manifest = json.loads((files / "a" / MANIFEST).read_text())
    assert [one["name"] for one in manifest["settings"]["collections"]] == ["first", "second", "single"]
    assert len(manifest["inputs"]["collections"][0]["runs"]) == 8


def test_a_file_of_collections(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (files / "two.toml").write_text(
        '[collections.first]\nqrels = "first/qrels.txt"\nruns = "first/runs"\n'
        '[collections.second]\nqrels = "second/qrels.txt"\nruns = "second/runs"\ngrades = "0,1=0;2=1"\n'
    )
    assert main(["study", "--collections", str(files / "two.toml"), *FAST, "-o", str(files / "s")]) == 0
    settings = json.loads((files / "s" / MANIFEST).read_text())["settings"]
    assert settings["collections"][1]["grades"] == "0,1=0;2=1" and "grades" not in settings["collections"][0]
    capsys.readouterr()
    assert main(["study", "--from", str(files / "s")]) == 0
    run = files / "second" / "runs" / "run0.txt"
    run.write_text(run.read_text() + "0 Q0 new 0 -5 x\n")
    assert main(["study", "--from", str(files / "s")]) == 2
    assert "run run0 of second changed" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c: c["settings"]["collections"].pop(), "inputs.collections"),
        (lambda c: c["settings"]["collections"][0].update(name="x"), "inputs.collections"),
        (lambda c: c["settings"]["collections"][0].update(order="best"), r"settings.collections\[0\].order"),
        (lambda c: c["inputs"].pop("collections"), "collections"),
        (lambda c: c["settings"].update(top_of=["x"]), "settings.top_of"),
        (lambda c: c["settings"].update(name="x"), "name"),
        (lambda c: c["inputs"]["collections"][0]["runs"].clear(), r"inputs.collections\[0\].runs"),
    ],
)
def test_every_field_of_the_manifest_is_checked(
    files: Path, capsys: pytest.CaptureFixture[str], change: Any, message: str
) -> None:
    assert main(["study", *named(files, "first", "second"), *FAST, "-o", str(files / "a")]) == 0
    content = json.loads((files / "a" / MANIFEST).read_text())
    change(content)
    (files / "bad.json").write_text(json.dumps(content))
    capsys.readouterr()
    assert main(["study", "--from", str(files / "bad.json")]) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert re.search(message, err)


def test_contradictory_commands_are_rejected(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = ["-o", str(files / "a")]
    mixed = [str(files / "first" / "qrels.txt"), str(files / "first" / "runs"), *named(files, "second")]
    for arguments, message in (
        ([*mixed, *out], "replaces QRELS and RUN"),
        ([*named(files, "first", "first"), *out], "two collections are called"),
        (["--collection", "nothing", *out], "names no collection"),
        (["--collections", str(files / "none.toml"), *out], "cannot read"),
        ([*named(files, "first"), "--name", "x", *out], "their own names"),
        (
            [*named(files, "first"), "-o", str(files / "first" / "qrels.txt")],
            "this file is also read",
        ),
        (out, "there is no collection"),
    ):
        assert main(["study", *arguments]) == 2
        err = capsys.readouterr().err
        assert message in err and err.count("\n") == 1
    assert not (files / "a").exists()


def test_the_page_shows_one_collection(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["study", *named(files, "first", "second"), *FAST, "-o", str(files / "a")]) == 0
    inputs = [str(files / "first" / "qrels.txt"), str(files / "first" / "runs")]
    assert main(["report", *inputs, "--study", str(files / "a"), "-o", str(files / "page.html")]) == 2
    assert "several collections" in capsys.readouterr().err


def test_four_collections_in_two_minutes(
    data_dir: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    covid, cranfield = data_dir / "trec_covid_r1_full24", data_dir / "cranfield"
    web = [data_dir / f"web{year}_diversity" for year in (2011, 2012)]
    folders = {"covid": covid, "cranfield": cranfield, "web2011": web[0], "web2012": web[1]}
    collections = []
    for name, folder in folders.items():
        judgments = "qrels.adhoc.txt" if name.startswith("web") else "qrels.txt"
        collections += ["--collection", f"{name}={folder / judgments}:{folder / 'runs'}"]
    start = sum(os.times()[:4])  # CPU seconds, with those of ended processes
    assert main(["study", *collections, "--like", "twist", "--quiet", "-o", str(tmp_path / "four")]) == 0
    assert sum(os.times()[:4]) - start < 120
    capsys.readouterr()
    assert main(["study", "--from", str(tmp_path / "four")]) == 0
    assert capsys.readouterr().out.startswith("identical")
