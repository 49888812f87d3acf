"""A study replaces an earlier one, and nothing else, whatever happens in between."""

from __future__ import annotations

import hashlib
import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from disks import Dead, Faulty, Full, Killing

from rankscope import files as layer
from rankscope.analysis.study.manifest import (
    MANIFEST,
    listed_files,
    manifest_text,
    write_directory,
)
from rankscope.directories import COMMITTED, STAGED, finish_replacement
from rankscope.errors import InputError

OLD = {"tables/a.csv": b"old a\n", "tables/gone/b.csv": b"old b\n", "figures/x.json": b"{}\n"}
NEW = {"tables/a.csv": b"new a, longer\n", "tables/c.csv": b"new c\n"}
MINE = {"notes.txt": b"mine", "tables/mine.txt": b"mine, too", ".git/config": b"[core]"}


def add_manifest(files: dict[str, bytes]) -> dict[str, bytes]:
    return {**files, MANIFEST: manifest_text({"made": sorted(files)}, {}, files)}


def opened(target: Path) -> None:
    """Open a study as every command does, which completes an interrupted replacement."""
    finish_replacement(target, MANIFEST, listed_files)


def contents(place: Path) -> dict[str, bytes]:
    return {p.relative_to(place).as_posix(): p.read_bytes() for p in place.rglob("*") if p.is_file()}


def put(place: Path, files: dict[str, bytes]) -> None:
    for name, data in files.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_bytes(data)


@pytest.fixture(autouse=True)
def usual_disk() -> Iterator[None]:
    yield
    layer.disk = layer.Disk()


@pytest.fixture(params=["alone", "with files of the user's", "without exchange"])
def situation(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, dict[str, bytes], bool]:
    """A directory with a study, what else is in it, and whether directories can be exchanged."""
    other_files = MINE if request.param.startswith("with files") else {}
    target = tmp_path / "s"
    write_directory(target, add_manifest(OLD))
    put(target, other_files)
    return target, other_files, request.param != "without exchange"


def steps(target: Path, exchanges: bool) -> int:
    """Count the steps of a replacement by running it."""
    layer.disk = counting = Faulty(exchanges=exchanges)
    write_directory(target, add_manifest(NEW))
    layer.disk = layer.Disk()
    write_directory(target, add_manifest(OLD))
    return counting.steps


def test_a_death_at_any_step_leaves_the_old_study_or_the_new_one(situation, tmp_path) -> None:
    target, other_files, exchanges = situation
    old, new = add_manifest(OLD) | other_files, add_manifest(NEW) | other_files
    outcomes = set()
    for last in range(steps(target, exchanges)):
        layer.disk = Faulty(last, exchanges)
        with pytest.raises(Dead):
            write_directory(target, add_manifest(NEW))
        layer.disk = layer.Disk()
        in_one_step = exchanges and not other_files
        if in_one_step:  # without anybody's help
            assert contents(target) in (old, new), last
        assert other_files.items() <= contents(target).items()
        opened(target)
        study = {k: v for k, v in contents(target).items() if not k.startswith(STAGED)}
        assert study in (old, new), last
        outcomes.add(study == new)
        write_directory(target, add_manifest(OLD))
        assert contents(target) == old, last
    assert outcomes == {False, True}


def test_a_full_disk_leaves_the_old_study_and_no_trace(situation, tmp_path) -> None:
    target, other_files, exchanges = situation
    for last in range(steps(target, exchanges)):
        layer.disk = full = Full(last, exchanges)
        try:
            write_directory(target, add_manifest(NEW))
        except InputError as error:
            assert "No space left" in str(error)
            if not (
                target / COMMITTED
            ).exists():  # else the new study was complete, and its files must only be moved
                assert contents(target) == add_manifest(OLD) | other_files
                assert [p.name for p in tmp_path.iterdir()] == ["s"]
        layer.disk = layer.Disk()
        assert full.steps
        write_directory(target, add_manifest(OLD))


def killed(target: Path, last: int, exchanges: bool) -> int:
    """Replace the study in a process that is killed at a step; return its exit code."""
    child = os.fork()
    if child == 0:
        try:
            layer.disk = Killing(last, exchanges)
            write_directory(target, add_manifest(NEW))
        finally:
            os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no SIGKILL here")
def test_a_real_kill_at_any_step_leaves_the_old_study_or_the_new_one(situation) -> None:
    target, other_files, exchanges = situation
    old, new = add_manifest(OLD) | other_files, add_manifest(NEW) | other_files
    for last in range(steps(target, exchanges)):
        assert killed(target, last, exchanges) == -signal.SIGKILL
        if exchanges and not other_files:
            assert contents(target) in (old, new), last
        opened(target)
        study = {k: v for k, v in contents(target).items() if not k.startswith(STAGED)}
        assert study in (old, new), last
        write_directory(target, add_manifest(OLD))
        assert contents(target) == old


def test_a_death_while_a_first_study_is_written_leaves_nothing_or_all_of_it(tmp_path) -> None:
    layer.disk = counting = Faulty()
    write_directory(tmp_path / "counted", add_manifest(NEW))
    for last in range(counting.steps):
        target = tmp_path / f"s{last}"
        layer.disk = Faulty(last)
        with pytest.raises(Dead):
            write_directory(target, add_manifest(NEW))
        assert not target.exists() or contents(target) == add_manifest(NEW)


def test_leftovers_of_a_killed_replacement_are_removed_in_time(tmp_path, monkeypatch) -> None:
    target = tmp_path / "s"
    write_directory(target, add_manifest(OLD))
    for last in range(steps(target, True)):
        layer.disk = Faulty(last)
        with pytest.raises(Dead):
            write_directory(target, add_manifest(NEW))
        layer.disk = layer.Disk()
        write_directory(target, add_manifest(OLD))
    assert len(list(tmp_path.iterdir())) > 1
    monkeypatch.setattr("rankscope.directories._MAX_AGE", -1.0)
    write_directory(target, add_manifest(NEW))
    assert [p.name for p in tmp_path.iterdir()] == ["s"]


@pytest.mark.parametrize(
    "manifest", [b"{}", b'{"kind": "web app", "name": "x"}', b"[", b'{"kind": "rankscope study"}']
)
def test_a_directory_with_a_manifest_of_another_kind_is_refused(tmp_path, manifest) -> None:
    files = {MANIFEST: manifest, ".git/HEAD": b"ref", "src/main.js": b"x"}
    put(tmp_path / "web", files)
    with pytest.raises(InputError, match="not a study"):
        write_directory(tmp_path / "web", add_manifest(NEW))
    assert contents(tmp_path / "web") == files


@pytest.mark.parametrize(
    "name", ["../out.txt", "/etc/hosts", "a/../../out.txt", "C:x", "a\\b", "", "link/out.txt"]
)
def test_a_manifest_cannot_name_files_elsewhere(tmp_path, name) -> None:
    (tmp_path / "out.txt").write_text("mine")
    target = tmp_path / "s"
    write_directory(target, add_manifest(OLD))
    (target / "link").symlink_to(tmp_path)
    content = json.loads((target / MANIFEST).read_text())
    content["outputs"][name] = hashlib.sha256(b"mine").hexdigest()
    (target / MANIFEST).write_text(json.dumps(content))
    with pytest.raises(InputError):
        write_directory(target, add_manifest(NEW))
    assert (tmp_path / "out.txt").read_text() == "mine"
    assert (target / "tables/a.csv").read_bytes() == OLD["tables/a.csv"]


def test_files_that_were_changed_or_are_in_the_way_are_not_overwritten(tmp_path) -> None:
    target = tmp_path / "s"
    write_directory(target, add_manifest(OLD))
    (target / "tables/a.csv").write_bytes(b"edited by hand")
    with pytest.raises(InputError, match=r"tables/a.csv: the file was changed"):
        write_directory(target, add_manifest(NEW))
    (target / "tables/a.csv").write_bytes(OLD["tables/a.csv"])
    (target / "tables/c.csv").write_bytes(b"mine")
    with pytest.raises(InputError, match=r"tables/c.csv: rankscope did not write this file"):
        write_directory(target, add_manifest(NEW))
    (target / "tables/c.csv").unlink()
    (target / "plots").write_bytes(b"mine")
    with pytest.raises(InputError, match="did not write"):
        write_directory(target, add_manifest({"plots/x.json": b""}))
    assert contents(target) == add_manifest(OLD) | {"plots": b"mine"}


def test_empty_directories_of_the_user_stay_and_ours_are_removed(tmp_path) -> None:
    target = tmp_path / "s"
    write_directory(target, add_manifest(OLD))
    (target / "mine").mkdir()
    write_directory(target, add_manifest(NEW))
    assert sorted(p.name for p in target.iterdir()) == [MANIFEST, "mine", "tables"]
    assert contents(target) == add_manifest(NEW)


def test_the_directory_keeps_its_mode_and_a_link_to_it_stays(tmp_path) -> None:
    target, link = tmp_path / "s", tmp_path / "link"
    link.symlink_to(target)
    write_directory(link, add_manifest(OLD))
    target.chmod(0o750)
    write_directory(link, add_manifest(NEW))
    assert link.is_symlink()
    assert target.stat().st_mode & 0o777 == 0o750
    assert contents(target) == add_manifest(NEW)


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write everywhere")
def test_a_directory_whose_parent_cannot_be_written_is_used_as_it_is(tmp_path) -> None:
    target = tmp_path / "parent" / "s"
    target.mkdir(parents=True)
    target.parent.chmod(0o500)
    try:
        write_directory(target, add_manifest(OLD))
        write_directory(target, add_manifest(NEW))
    finally:
        target.parent.chmod(0o700)
    assert contents(target) == add_manifest(NEW)


def test_pictures_belong_to_the_study_even_if_they_changed(tmp_path) -> None:
    text = manifest_text({}, {}, OLD, ["figures/x.pdf"])
    write_directory(tmp_path / "s", {**OLD, "figures/x.pdf": b"%PDF", MANIFEST: text})
    assert listed_files(tmp_path / "s")["figures/x.pdf"] is None
    (tmp_path / "s/figures/x.pdf").write_bytes(b"%PDF other")
    write_directory(tmp_path / "s", add_manifest(NEW))
    assert contents(tmp_path / "s") == add_manifest(NEW)
