"""Manifests and the JSON of studies are data: whatever they hold, one line refuses them, or they mean what they say."""

from __future__ import annotations

import copy
import itertools
import json
import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from rankscope.analysis.study.manifest import MANIFEST, read_manifest
from rankscope.cli.main import main
from rankscope.errors import InputError

QUICK = ["--replicates", "10", "--repeats", "1", "--ratios", "50", "-m", "AP,nDCG", "--seed", "3"]
ODD: list[Any] = [
    None, True, -1, 0, 1, 10**30, -(10**400), 0.5, 1e308, "", "x", "\0", "AP", "../..", "/etc/passwd", "\ud800",
    "9" * 5000, [], {}, [None], [[]], {"": ""}, [1, 2], ["AP", "AP"], ["nope", "AP"], {"path": 1}, [{"name": "a"}],
]  # fmt: skip


@pytest.fixture(scope="module")
def studied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A place with a collection and a study of it in ``s``."""
    folder = tmp_path_factory.mktemp("studied")
    (folder / "runs").mkdir()
    (folder / "qrels.txt").write_text(
        "".join(f"q{t} 0 d{i} {(i + t) % 3}\n" for t in range(4) for i in range(9))
    )
    for r in range(3):
        lines = [f"q{t} Q0 d{(i * (r + 1) + t) % 10} {i} {9 - i} r{r}\n" for t in range(4) for i in range(5)]
        (folder / "runs" / f"r{r}.txt").write_text("".join(lines))
    words = ["study", str(folder / "qrels.txt"), str(folder / "runs"), "-o", str(folder / "s"), *QUICK]
    assert main(words) == 0
    named = [f"--collection={name}={folder / 'qrels.txt'}:{folder / 'runs'}" for name in ("a", "b")]
    assert main(["study", *named, "-o", str(folder / "several"), *QUICK]) == 0
    return folder


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield every location in a document."""
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from places(inner, (*path, key))


def changed(document: Any, rng: random.Random) -> Any:
    """Damage a document at one to three locations."""
    document = copy.deepcopy(document)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        path = rng.choice([p for p in places(document) if p] or [()])
        if not path:
            return rng.choice(ODD)
        inside = document
        for key in path[:-1]:
            inside = inside[key]
        key, kind = path[-1], rng.randrange(5)
        if kind == 0:
            del inside[key]
        elif kind == 1 and isinstance(inside, dict):
            inside[rng.choice(["", "x", "kind", "path", "\0"])] = inside.pop(key)
        elif kind == 2 and isinstance(inside, list):
            inside.append(inside[key])
        else:
            inside[key] = copy.deepcopy(rng.choice(ODD))
    return document


def damaged(text: bytes, rng: random.Random) -> bytes:
    """Damage the bytes of a file."""
    at = rng.randrange(len(text))
    kinds = [
        text[:at],
        text[:at] + bytes([rng.randrange(256)]) + text[at + 1 :],
        text[:at]
        + rng.choice([b"\0", b"NaN", b"-Infinity", b'"', b"{", b"]", b",", b"1e999", b"\xff"])
        + text[at:],
        text[: at // 2] + text[at:],
        b"[" * 100_000,
        text + text,
    ]
    return rng.choice(kinds)


def outcome(words: list[str], capsys: pytest.CaptureFixture[str]) -> int:
    """Check the output, and return the exit code."""
    code = main(words)
    error = capsys.readouterr().err
    assert code in (0, 2), error
    assert "internal error" not in error
    assert "Traceback" not in error
    assert code == 0 or (error.startswith("rankscope: ") and error.count("\n") == 1), error
    return code


@pytest.mark.parametrize("kind", ["s", "several"])
def test_damaged_manifests_are_refused_in_one_line(kind, studied, tmp_path, capsys, monkeypatch) -> None:
    folder = tmp_path / "far" / "down"  # a manifest may name ../.., where the files of all tests shall not be
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    rng = random.Random(5)
    original = (studied / kind / MANIFEST).read_bytes()
    document = json.loads(original)
    document["outputs"] = dict(list(document["outputs"].items())[:4])  # accidents shall happen to all parts
    refused, cases = 0, 5 * settings().max_examples  # besides all fields, below
    for case in range(cases):
        text = (
            damaged(original, rng)
            if case % 4 == 0
            else json.dumps(changed(document, rng)).encode("utf-8", "replace")
        )
        (folder / "m.json").write_bytes(text)
        before = sorted(tmp_path.rglob("*"))
        refused += outcome(["study", "--from", "m.json", "--quiet", "-j", "1"], capsys) == 2
        assert sorted(tmp_path.rglob("*")) == before
    assert refused > 5 / 6 * cases  # a name may change without harm


def test_damaged_tables_are_refused_in_one_line(studied, tmp_path, capsys, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    rng = random.Random(6)
    files = sorted((studied / "s" / "figures").glob("*.json"))
    run, qrels = str(studied / "runs" / "r0.txt"), str(studied / "qrels.txt")
    (tmp_path / "t").mkdir()
    codes = []
    for case in range(2 * settings().max_examples):
        original = rng.choice(files).read_bytes()
        text = (
            damaged(original, rng)
            if case % 4 == 0
            else json.dumps(changed(json.loads(original), rng)).encode("utf-8", "replace")
        )
        (tmp_path / "t" / "x.json").write_bytes(text)
        codes.append(outcome(["report", qrels, run, "--study", "t", "-o", "o.html", "--quiet"], capsys))
    assert {0, 2} == set(codes)


@pytest.mark.parametrize("kind", ["s", "several"])
def test_every_field_is_checked(kind, studied, tmp_path) -> None:
    document = json.loads((studied / kind / MANIFEST).read_text())
    for path in places(document):
        for odd in ({"surprise": []}, [object.__name__] * 2 if path[-1:] != ("measures",) else [1, 2]):
            if not path or path[-1] == "pictures":
                continue
            changed_document = copy.deepcopy(document)
            inside = changed_document
            for key in path[:-1]:
                inside = inside[key]
            inside[path[-1]] = odd
            (tmp_path / "m.json").write_text(json.dumps(changed_document))
            with pytest.raises(InputError):
                read_manifest(tmp_path / "m.json")


@pytest.mark.parametrize(
    "field, value, message",
    [
        (("settings", "alpha"), 7, "settings.alpha: a number from 0 to 1 is expected, not 7"),
        (("settings", "alpha"), True, "settings.alpha: a number from 0 to 1 is expected, not True"),
        (("settings", "order"), "best", "settings.order: one of trec_eval,"),
        (("inputs", "runs"), {}, "inputs.runs: a list of 2 or more"),
        (("format",), 99, "by rankscope 0.1.0 in another format than 2"),
        (("kind",), "package", "the manifest of a study is expected"),
        (("outputs", "../x"), "0" * 64, "a name in outputs: the path of a file in the directory"),
        (("surprise",), 1, "surprise: there should be no such field"),
    ],
)  # fmt: skip
def test_the_line_says_what_is_wrong(studied, tmp_path, capsys, field, value, message) -> None:
    document = json.loads((studied / "s" / MANIFEST).read_text())
    inside = document
    for key in field[:-1]:
        inside = inside[key]
    inside[field[-1]] = value
    (tmp_path / "m.json").write_text(json.dumps(document))
    assert main(["study", "--from", str(tmp_path / "m.json")]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert "name a manifest.json that rankscope" in error


def test_a_manifest_of_an_earlier_version_gets_a_clear_line(studied, tmp_path, capsys) -> None:
    document = json.loads((studied / "s" / MANIFEST).read_text())
    del document["format"]
    (tmp_path / "m.json").write_text(json.dumps(document))
    assert main(["study", "--from", str(tmp_path / "m.json")]) == 2
    assert "the manifest was written by rankscope 0.1.0 in another format than 2" in capsys.readouterr().err


def test_a_name_that_is_given_twice_is_refused(studied, tmp_path) -> None:
    text = (studied / "s" / MANIFEST).read_text().replace('"alpha"', '"seed": 9, "alpha"')
    (tmp_path / "m.json").write_text(text)
    with pytest.raises(InputError, match="'seed' occurs twice"):
        read_manifest(tmp_path / "m.json")


def test_endless_documents_are_refused(monkeypatch) -> None:
    monkeypatch.setattr("rankscope.json_documents.MAX_BYTES", 1000)
    if Path("/dev/zero").exists():
        with pytest.raises(InputError, match="longer than"):
            read_manifest("/dev/zero")


def test_the_tables_of_a_study_are_those_that_it_wrote(studied, tmp_path, capsys, monkeypatch) -> None:
    import shutil

    shutil.copytree(studied / "s", tmp_path / "s")
    words = ["report", str(studied / "qrels.txt"), str(studied / "runs"), "--study", str(tmp_path / "s")]
    words += ["-o", str(tmp_path / "o.html")]
    assert main(words) == 0
    (tmp_path / "s" / "mine.json").write_text("{")  # not one of its files
    assert main(words) == 0
    path = tmp_path / "s/figures/correlation.json"
    path.write_text(path.read_text().replace("kendall", "kendal"))
    capsys.readouterr()
    assert main(words) == 2
    assert "figures/correlation.json changed since the study" in capsys.readouterr().err


# plugins --------------------------------------------------------------------------------------------------------------

PLUGIN = """
import pathlib
pathlib.Path("was-run").write_text("yes")
import rankscope as rs
rs.measure("Mine{n}", lambda grades: sum(g > 0 for g in grades[:3]) / 3)
"""


NUMBERS = itertools.count(1)  # modules are found by name, so every test has one of its own


@pytest.fixture(params=["file", "module"])
def with_plugin(request, studied, tmp_path, monkeypatch) -> Path:
    """A working directory with a study whose measure a plugin defines; the plugin has not been run since."""
    monkeypatch.chdir(tmp_path)
    number = next(NUMBERS)
    (tmp_path / f"mine{number}.py").write_text(PLUGIN.format(n=number))
    name = f"mine{number}.py" if request.param == "file" else f"mine{number}"
    words = ["study", str(studied / "qrels.txt"), str(studied / "runs"), "-o", "s", *QUICK]
    assert main([*words[:-4], "-m", f"AP,Mine{number}", "--plugin", name]) == 0
    (tmp_path / "was-run").unlink()
    forget(number)
    return tmp_path


def forget(number: int) -> None:
    import sys

    from rankscope.measures import REGISTRY

    sys.modules.pop(f"mine{number}", None)
    REGISTRY.pop(f"Mine{number}", None)


def test_plugins_of_a_manifest_run_only_when_allowed(with_plugin: Path, capsys) -> None:
    plugin = read_manifest("s")["inputs"]["plugins"][0]
    capsys.readouterr()
    assert main(["study", "--from", "s"]) == 2
    error = capsys.readouterr().err
    assert f"this study needs plugins, which run code: {plugin['name']} (SHA-256 {plugin['sha256']})" in error
    assert "add --allow-plugins" in error
    assert not Path("was-run").exists()
    assert main(["study", "--from", "s", "--allow-plugins"]) == 0
    output = capsys.readouterr()
    assert "identical" in output.out
    assert plugin["sha256"] in output.err
    assert Path("was-run").exists()


def test_a_plugin_that_changed_is_not_run(with_plugin: Path, capsys) -> None:
    path = next(with_plugin.glob("mine*.py"))
    path.write_text(path.read_text() + "\n")
    assert main(["study", "--from", "s", "--allow-plugins"]) == 2
    assert "the plugin changed since the study was run" in capsys.readouterr().err
    assert not Path("was-run").exists()


def test_the_changed_line_of_a_plugin_is_named(with_plugin: Path, capsys) -> None:
    path = next(with_plugin.glob("mine*.py"))
    path.write_text(path.read_text().replace("grades[:3]", "grades[:4]"))
    assert main(["study", "--from", "s", "--allow-plugins"]) == 2
    error = capsys.readouterr().err
    assert f"{path.name}: the plugin changed since the study was run: line 5 was 'rs.measure(" in error
    assert "grades[:4]" in error and "move the plugin away" in error
    assert not Path("was-run").exists()


def test_a_study_carries_its_plugins(with_plugin: Path, capsys, tmp_path: Path, monkeypatch) -> None:
    next(with_plugin.glob("mine*.py")).unlink()
    elsewhere = tmp_path / "elsewhere"
    shutil.move(with_plugin / "s", elsewhere / "s")
    monkeypatch.chdir(elsewhere)
    assert main(["study", "--from", "s"]) == 2
    assert not Path("was-run").exists()
    assert main(["study", "--from", "s", "--allow-plugins"]) == 0
    assert "identical" in capsys.readouterr().out
    assert Path("was-run").exists()


def test_a_source_that_is_not_the_one_of_the_digest_is_not_run(with_plugin: Path, capsys) -> None:
    next(with_plugin.glob("mine*.py")).unlink()
    path = Path("s") / "manifest.json"
    path.write_text(path.read_text().replace("grades[:3]", "grades[:4]"))
    assert main(["study", "--from", "s", "--allow-plugins"]) == 2
    assert "does not have its digest" in capsys.readouterr().err
    assert not Path("was-run").exists()


def test_a_plugin_that_the_user_names_needs_no_other_permission(with_plugin: Path, capsys) -> None:
    name = read_manifest("s")["inputs"]["plugins"][0]["name"]
    assert main(["study", "--from", "s", "--plugin", name]) == 0
    assert "identical" in capsys.readouterr().out
