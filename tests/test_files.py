"""Files are written whole or not at all, keep their mode, and two directories change places where the system can."""

from __future__ import annotations

import ctypes
import os
import stat
import sys
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from rankscope import files
from rankscope.directories import replace_directory
from rankscope.errors import InputError
from rankscope.files import Disk, digest, write_atomically

POSIX = pytest.mark.skipif(os.name != "posix", reason="modes and pipes are different there")


def test_a_file_has_the_digest_of_its_content(tmp_path: Path) -> None:
    content = bytes(range(256)) * 5000
    (tmp_path / "file").write_bytes(content)
    assert digest(tmp_path / "file") == digest(content) != digest(content[1:])


@POSIX
def test_a_new_file_has_the_usual_mode_and_a_replaced_one_its_own(tmp_path: Path) -> None:
    path = tmp_path / "file"
    before = os.umask(0o027)
    try:
        write_atomically(path, "new")
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    path.chmod(0o604)
    write_atomically(path, "replaced")
    assert (stat.S_IMODE(path.stat().st_mode), path.read_text()) == (0o604, "replaced")


@POSIX
def test_a_pipe_is_written_into_and_stays_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader: list[bytes] = []
    thread = Thread(target=lambda: reader.append(pipe.read_bytes()))
    thread.start()
    write_atomically(pipe, "through")
    thread.join(300)
    assert reader == [b"through"]
    assert pipe.is_fifo()
    assert sorted(tmp_path.iterdir()) == [pipe]


def test_write_errors_are_reported_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot write"):
        write_atomically(tmp_path / "absent" / "file", "text")
    (tmp_path / "folder").mkdir()
    with pytest.raises(InputError, match="cannot write"):
        write_atomically(tmp_path / "folder", "text")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder"]


def test_an_interrupted_write_leaves_no_partial_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Stopped(Disk):
        def rename(self, path: Path, target: Path) -> None:
            raise KeyboardInterrupt

    (tmp_path / "file").write_text("old")
    monkeypatch.setattr(files, "disk", Stopped())
    with pytest.raises(KeyboardInterrupt):
        write_atomically(tmp_path / "file", "new")
    assert [path.read_text() for path in tmp_path.iterdir()] == ["old"]


class Library:
    """A C library in which names change places by one of two calls."""

    def __init__(self, call: str | None, answer: int = 0) -> None:
        self.asked: list[tuple[Any, ...]] = []
        if call:
            setattr(self, call, lambda *words: self.asked.append(words) or answer)


@pytest.mark.parametrize(
    ("platform", "call", "answer", "works"),
    [
        ("linux", "renameat2", 0, True),
        ("linux", "renameat2", -1, False),  # a file system that cannot
        ("darwin", "renamex_np", 0, True),
        ("darwin", "renamex_np", -1, False),
        ("linux", None, 0, False),  # an old library
        ("win32", "renameat2", 0, False),
    ],
)
def test_each_system_exchanges_in_its_own_way(
    platform: str, call: str | None, answer: int, works: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = Library(call, answer)
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(ctypes, "CDLL", lambda *_, **__: library)
    assert Disk().exchange(Path("a"), Path("b")) is works
    expected = {"renameat2": [(-100, b"a", -100, b"b", 2)], "renamex_np": [(b"a", b"b", 2)]}
    assert library.asked == ([] if platform == "win32" else expected.get(call or "", []))


@pytest.mark.skipif(sys.platform != "linux", reason="shown where it is known to work")
def test_two_directories_are_exchanged(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / name).mkdir()
        (tmp_path / name / name).touch()
    if not Disk().exchange(tmp_path / "a", tmp_path / "b"):
        pytest.skip("this file system cannot")
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["b"]


class _Logged(files.Disk):
    """Logs what reaches the medium, and when names change."""

    def __init__(self) -> None:
        self.log: list[tuple[str, str]] = []

    def sync(self, path: Path) -> None:
        super().sync(path)
        self.log.append(("sync", "directory" if path.is_dir() else path.read_text()))

    def rename(self, path: Path, target: Path) -> None:
        super().rename(path, target)
        self.log.append(("rename", target.name))

    def exchange(self, path: Path, other: Path) -> bool:
        completed = super().exchange(path, other)
        self.log.append(("rename", other.name))
        return completed


def test_content_is_flushed_before_the_rename(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A power loss could otherwise replace the earlier result by an empty file."""
    disk = _Logged()
    monkeypatch.setattr(files, "disk", disk)
    files.write_atomically(tmp_path / "out", iter(["a", "b"]))
    assert disk.log == [("sync", "ab"), ("rename", "out"), ("sync", "directory")]


@pytest.mark.parametrize("foreign", [False, True])
def test_a_directory_is_flushed_before_it_replaces_the_result(
    foreign: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exchanged as a whole, or changed from within because there is a file of the user's."""
    names = {"manifest": None, "sub/x": None}
    target = tmp_path / "out"
    for round_ in range(2):
        disk = _Logged()
        monkeypatch.setattr(files, "disk", disk)
        content = {"sub/x": b"x", "manifest": b"m"}
        replace_directory(target, content, "manifest", lambda _: names)
        first = next(i for i, entry in enumerate(disk.log) if entry[0] == "rename")
        before = disk.log[:first]
        assert set(before[:2]) == {("sync", "x"), ("sync", "m")}
        assert before[2:] == [("sync", "directory")] * 2  # sub, and the directory itself
        assert disk.log[-1] == ("sync", "directory")
        if foreign and not round_:
            (target / "mine").write_text("mine")
