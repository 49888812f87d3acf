"""Replacement of a directory of results in rare situations; see also tests/faults/test_replacement.py."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from rankscope import files as layer
from rankscope.directories import replace_directory
from rankscope.errors import InputError

MANIFEST = "manifest.json"


def listed(place: Path) -> dict[str, str | None]:
    """Return the contents of the files that the manifest of a directory lists."""
    try:
        manifest = json.loads((place / MANIFEST).read_text("utf-8"))
    except OSError:
        raise InputError("this is no result", path=place, hint="choose another directory") from None
    return {**manifest, MANIFEST: None}


def result(**texts: str) -> dict[str, bytes]:
    """Files of a result with their manifest."""
    contents = {name.replace("_", "/"): text.encode() for name, text in texts.items()}
    digests = {name: hashlib.sha256(data).hexdigest() for name, data in contents.items()}
    return {**contents, MANIFEST: json.dumps(digests).encode()}


def write_directory(place: Path, **texts: str) -> None:
    replace_directory(place, result(**texts), MANIFEST, listed)


def contents(place: Path) -> dict[str, str]:
    return {
        path.relative_to(place).as_posix(): path.read_text()
        for path in place.rglob("*")
        if path.is_file() and path.name != MANIFEST
    }


@pytest.fixture(autouse=True)
def usual_disk() -> Iterator[None]:
    yield
    layer.disk = layer.Disk()


def test_a_file_is_no_directory(tmp_path: Path) -> None:
    (tmp_path / "there").write_text("mine")
    with pytest.raises(InputError, match="this is a file"):
        write_directory(tmp_path / "there", a="1")
    assert (tmp_path / "there").read_text() == "mine"


def test_an_empty_directory_is_taken(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir(mode=0o750)
    write_directory(tmp_path / "there", a="1", b_c="2")
    assert contents(tmp_path / "there") == {"a": "1", "b/c": "2"}
    assert (tmp_path / "there").stat().st_mode & 0o777 == 0o750
    assert [path.name for path in tmp_path.iterdir()] == ["there"]


class Stubborn(layer.Disk):
    """A place that no directory can be moved to, as one where something is mounted."""

    def __init__(self, target: Path) -> None:
        self.target = target

    def rename(self, path: Path, target: Path) -> None:
        if target == self.target:
            raise OSError(16, "Device or resource busy")
        super().rename(path, target)


@pytest.mark.parametrize("there", [False, True])
def test_where_nothing_can_be_moved_to_the_files_are_written_inside(tmp_path: Path, there: bool) -> None:
    target = tmp_path / "mounted"
    if there:
        target.mkdir()
    layer.disk = Stubborn(target)
    write_directory(target, a="1", b_c="2")
    assert contents(target) == {"a": "1", "b/c": "2"}
    assert [path.name for path in tmp_path.iterdir()] == ["mounted"]
    assert sorted(path.name for path in target.iterdir()) == ["a", "b", MANIFEST]


def test_a_failure_inside_leaves_no_directory_behind(tmp_path: Path) -> None:
    class Full(Stubborn):
        def write(self, path: Path, data: bytes) -> None:
            if path.parent.name == ".rankscope-new":
                raise OSError(28, "No space left on device")
            super().write(path, data)

    layer.disk = Full(tmp_path / "mounted")
    with pytest.raises(InputError, match="No space left on device"):
        write_directory(tmp_path / "mounted", a="1")
    assert list(tmp_path.iterdir()) == []


def test_a_file_added_during_the_exchange_is_kept(tmp_path: Path) -> None:
    target = tmp_path / "s"
    write_directory(target, a="1")

    class Busy(layer.Disk):
        def exchange(self, path: Path, other: Path) -> bool:
            (target / "notes").mkdir()
            (target / "notes" / "mine.txt").write_text("mine")
            return super().exchange(path, other)

    layer.disk = Busy()
    write_directory(target, a="2", b_c="3")
    assert contents(target) == {"a": "2", "b/c": "3", "notes/mine.txt": "mine"}
    assert [path.name for path in tmp_path.iterdir()] == ["s"]


def test_leftovers_of_killed_replacements_are_removed_after_an_hour(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "s"
    for name, files in (("whole", result(a="1")), ("half", {"a": b"1"})):
        for file, data in files.items():
            folder = tmp_path / f".s.rankscope-{name}"
            folder.mkdir(exist_ok=True)
            (folder / file).write_bytes(data)
    outside = tmp_path / ".s.rankscope-foreign"
    outside.mkdir()
    (outside / MANIFEST).write_text(json.dumps({"../kept": None}))
    (tmp_path / "kept").write_text("mine")
    write_directory(target, a="2")
    assert len(list(tmp_path.glob(".s.*"))) == 3  # they may be at work still
    later = time.time() + 7200
    monkeypatch.setattr(time, "time", lambda: later)
    write_directory(target, a="3")
    assert [path.name for path in tmp_path.glob(".s.*")] == [outside.name]  # it names what is not its own
    assert (tmp_path / "kept").read_text() == "mine"
    assert contents(target) == {"a": "3"}


@pytest.mark.skipif(os.name != "posix", reason="links need POSIX")
def test_a_listed_file_that_became_a_link_is_refused(tmp_path: Path) -> None:
    write_directory(tmp_path / "s", a="1")
    (tmp_path / "outside").write_text("1")
    (tmp_path / "s" / "a").unlink()
    (tmp_path / "s" / "a").symlink_to(tmp_path / "outside")
    with pytest.raises(InputError, match="'a' is not a file of this directory"):
        write_directory(tmp_path / "s", a="2")
    assert (tmp_path / "outside").read_text() == "1"
