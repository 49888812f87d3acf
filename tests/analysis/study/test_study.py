"""The study: its tables, its manifest, and repeating it to the byte."""

from __future__ import annotations

import dataclasses
import json
import shutil

import pytest

import rankscope as rs
from rankscope.analysis.study import manifest_schema
from rankscope.analysis.study.experiments import repeat_study, study
from rankscope.analysis.study.manifest import MANIFEST, manifest_text, read_manifest, write_directory
from rankscope.cli.main import main
from rankscope.errors import InputError

QUICK = {"repeats": 2, "replicates": 50}


def settings(measures, **more):
    return rs.StudySettings(measures=measures, **QUICK, **more)


@pytest.fixture
def files(tmp_path, small):
    qrels, runs = small
    lines = [f"{t} 0 {d} {g}\n" for t, graded in qrels.items() for d, g in graded.items()]
    (tmp_path / "qrels.txt").write_text("".join(lines))
    (tmp_path / "runs").mkdir()
    for name, lists in runs.items():
        text = "".join(
            f"{t} Q0 {d} {r} {s} {name}\n"
            for t, scored in lists.items()
            for r, (d, s) in enumerate(scored.items(), 1)
        )
        (tmp_path / "runs" / f"{name}.txt").write_text(text)
    return tmp_path


def contents(directory):
    return {
        str(p.relative_to(directory)): p.read_bytes() for p in sorted(directory.rglob("*")) if p.is_file()
    }


def command(files, directory, *more):
    arguments = [str(files / "qrels.txt"), str(files / "runs"), "-o", str(directory), *more]
    return main(["study", *arguments, "--repeats", "2", "--replicates", "50"])


def test_tables_agree_with_the_analyses(small):
    result = study(rs.Collection(*small), settings("AP RBP nDCG Twist", name="toy"))
    scores = rs.evaluate(*small, ["AP", "RBP", "nDCG", "Twist"])
    assert result["correlations"].rows == rs.correlate(scores, ["kendall", "ap"])["correlations"].rows
    top = rs.correlate(scores, "kendall", top=0.75)
    tau = {(r["a"], r["b"]): r["value"] for r in top["correlations"].records()}
    assert result["gain_correlations"].rows == [("AP (toy)", tau["AP", "RBP"], tau["AP", "nDCG"])]
    focus = [tau[other, "Twist"] for other in ("AP", "RBP", "nDCG")]
    assert result["focus_correlations"].rows == [("Twist (toy)", *focus)]
    power = rs.power(scores, replicates=50, seed=1)
    assert result["power"].rows == power["power"].rows
    classic = rs.power(scores, ["wilcoxon"], alpha=0.01)["power"].records()
    assert [row[2] for row in result["significant_pairs"].rows] == [r["significant"] for r in classic]
    robust = rs.pools(rs.evaluate(*small, ["AP", "RBP", "nDCG", "Twist"]), repeats=2)
    assert result["robustness"].rows == robust["robustness"].rows
    assert {r["pool"] for r in result["bounds"].records()} == {"full"}
    assert {r["pool"] for r in result["bounds_pools"].records()} == {"depth 10", "10%"}
    assert sum(result["archetypes"].column("count")) == 6 * 8


def test_a_study_is_the_same_bytes_again(files, tmp_path, capsys):
    assert command(files, tmp_path / "one") == 0
    assert command(files, tmp_path / "two", "-j", "3") == 0
    first, second = contents(tmp_path / "one"), contents(tmp_path / "two")
    assert first == second
    assert {"manifest.json", "tables/power.csv", "tables/power.tex", "figures/robustness.json"} <= set(first)
    capsys.readouterr()
    assert main(["study", "--from", str(tmp_path / "one" / MANIFEST), "-o", str(tmp_path / "three")]) == 0
    assert "identical" in capsys.readouterr().out
    assert contents(tmp_path / "three") == first


def test_intervals_are_shown_at_the_requested_length_and_repeated(files, small, tmp_path, capsys):
    assert command(files, tmp_path / "one", "--intervals", "5", "-m", "AP RR") == 0
    shown = capsys.readouterr().out
    expected = rs.scale_effect(rs.evaluate(*small, ["AP", "RR"]), length=5)["scale_effect"]
    assert "Interval(measure='AP@5')@5" in shown and "tau_ap" in shown
    result = study(rs.Collection(*small), settings("AP RR", intervals=5))
    assert result["scale_effect"].rows == expected.rows
    assert "scale_effect" in result.main
    assert read_manifest(tmp_path / "one")["settings"]["intervals"] == 5
    assert main(["study", "--from", str(tmp_path / "one" / MANIFEST)]) == 0
    assert "identical" in capsys.readouterr().out
    assert command(files, tmp_path / "two", "-m", "AP RR") == 0
    assert "Interval" not in capsys.readouterr().out
    assert "Interval(measure='AP@10')@10" in (tmp_path / "two" / "tables" / "scale_effect.csv").read_text()


def test_the_manifest_lists_inputs_and_outputs(files, tmp_path):
    command(files, tmp_path / "s", "--seed", "7")
    content = read_manifest(tmp_path / "s")
    assert content["settings"]["seed"] == 7
    assert content["versions"]["rankscope"] == rs.__version__
    assert [run["name"] for run in content["inputs"]["runs"]] == [f"run{k}" for k in range(6)]
    assert len(content["inputs"]["qrels"]["sha256"]) == 64
    assert set(content["outputs"]) == set(contents(tmp_path / "s")) - {MANIFEST}


def test_a_difference_is_named(files, tmp_path, capsys):
    command(files, tmp_path / "s")
    path = tmp_path / "s" / MANIFEST
    content = json.loads(path.read_text())
    content["outputs"]["tables/power.csv"] = "0" * 64
    path.write_text(json.dumps(content))
    repeated = repeat_study(path)
    assert not repeated.identical
    assert repeated.changed == ("tables/power.csv",)
    assert main(["study", "--from", str(path)]) == 2
    assert "1 of 42 files differ: tables/power.csv" in capsys.readouterr().err


def test_another_version_is_mentioned(files, tmp_path, capsys):
    command(files, tmp_path / "s")
    path = tmp_path / "s" / MANIFEST
    content = json.loads(path.read_text())
    content["versions"]["numpy"] = "1.0"
    path.write_text(json.dumps(content))
    capsys.readouterr()
    assert main(["study", "--from", str(path)]) == 0
    assert "numpy 1.0 then" in capsys.readouterr().out


def test_changed_or_missing_inputs_are_refused(files, tmp_path):
    command(files, tmp_path / "s")
    run = files / "runs" / "run3.txt"
    text = run.read_text()
    run.write_text(text.replace("run3", "other"))
    with pytest.raises(InputError, match="run run3 changed"):
        repeat_study(tmp_path / "s")
    run.unlink()
    with pytest.raises(InputError, match="no such file"):
        repeat_study(tmp_path / "s")


def test_some_of_the_topics_and_again_from_the_manifest(files, small, tmp_path, capsys):
    qrels, runs = small
    subset = sorted(qrels)[1:4]
    assert command(files, tmp_path / "some", "--topics", ",".join(subset), "-m", "AP nDCG") == 0
    capsys.readouterr()
    assert read_manifest(tmp_path / "some")["settings"]["chosen_topics"] == subset
    selected = rs.Collection({topic: qrels[topic] for topic in subset}, runs)
    fewer = study(selected, settings("AP nDCG"))
    assert (tmp_path / "some" / "tables" / "robustness.csv").read_bytes() == fewer.files()[
        "tables/robustness.csv"
    ]
    assert main(["study", "--from", str(tmp_path / "some")]) == 0
    assert "identical" in capsys.readouterr().out
    conflicting = [f"--collection=x={files / 'qrels.txt'}:{files / 'runs'}", "--topics", subset[0]]
    assert main(["study", *conflicting, "-o", str(tmp_path / "x")]) == 2
    assert "--topics selects topics of a single collection" in capsys.readouterr().err


def test_a_study_of_data_in_memory_cannot_be_repeated(small, tmp_path):
    study(rs.Collection(*small), settings("AP nDCG"), output=tmp_path / "s")
    with pytest.raises(InputError, match="came from memory"):
        repeat_study(tmp_path / "s")


def test_the_directory_is_written_atomically(tmp_path, monkeypatch):
    target = tmp_path / "s"
    first, second = (
        {**files, MANIFEST: manifest_text({}, {}, files)} for files in ({"a/b.csv": b"1"}, {"c.csv": b"2"})
    )
    write_directory(target, first)
    write_directory(target, second)
    assert contents(target) == second
    with pytest.raises((InputError, TypeError)):
        write_directory(target, {"c.csv": "not bytes", MANIFEST: b"{}"})
    assert contents(target) == second
    assert [p.name for p in tmp_path.iterdir()] == ["s"]
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("")
    with pytest.raises(InputError, match="not a study"):
        write_directory(tmp_path / "mine", {MANIFEST: b"{}"})
    assert (tmp_path / "mine" / "thesis.tex").exists()


def test_the_report_can_read_the_tables(files, tmp_path):
    from rankscope.reporting.study import read_study

    command(files, tmp_path / "s")
    assert {"correlations", "robustness", "power", "asl", "bounds"} <= set(read_study(tmp_path / "s"))


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["study"], "no collection"),
        (["study", "--from", "nowhere.json"], "cannot read"),
        (["study", "{}/qrels.txt", "{}/runs"], "add -o DIR"),
        (["study", "{}/qrels.txt", "{}/runs/run1.txt", "-o", "{}/x"], "at least two runs"),
        (["study", "{}/qrels.txt", "{}/runs", "-m", "AP", "-o", "{}/x"], "at least two"),
        (["study", "{}/qrels.txt", "{}/runs", "--focus", "RR", "-o", "{}/x"], "RR is not among"),
    ],
)
def test_invalid_study_commands_print_one_line(files, capsys, arguments, message):
    assert main([a.format(files) for a in arguments]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not (files / "x").exists()


def test_a_manifest_must_be_one(tmp_path):
    (tmp_path / "a.json").write_text("{}")
    (tmp_path / "b.json").write_text("[")
    for name in ("a.json", "b.json"):
        with pytest.raises(InputError, match="not"):
            read_manifest(tmp_path / name)


def test_identical_runs_and_undefined_topics_can_be_studied(small, tmp_path):
    qrels, runs = small
    qrels = {**qrels, "empty": {"d01": 0, "d02": 0}}
    same = dict.fromkeys(("a", "b", "c"), runs["run2"])
    with pytest.warns(UserWarning, match="Twist is undefined on 1 of 9"):
        result = study(rs.Collection(qrels, same), rs.StudySettings(**QUICK), output=tmp_path / "s")
    assert set(result["power"].column("significant")) == {0}
    shutil.rmtree(tmp_path / "s")


def test_the_manifest_has_the_fields_of_the_settings() -> None:
    """A field that the schema lacks could not be repeated, and one that only the schema has would never be set."""
    fields = {field.name for field in dataclasses.fields(rs.StudySettings)} - {"name"}
    required, optional = set(manifest_schema._SETTINGS), set(manifest_schema._OPTIONAL)
    evaluation = {"missing", "ties", "unjudged"}
    assert (required | optional) - evaluation == fields
    assert not required & optional
