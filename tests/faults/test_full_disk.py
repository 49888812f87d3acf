"""No room: whatever was there before stays whole, nothing half is left, and one line says why."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(os.name != "posix", reason="limits are set here as POSIX has them")

COMMANDS = [
    "eval qrels.txt runs -q -f json -o {place}/old.json",
    "eval qrels.txt runs -m AP -o {place}/old.json --plot {place}/figure.png",
    "report qrels.txt runs -o {place}/old.json",
    "study qrels.txt runs -m AP,RR --repeats 1 --replicates 10 -o {place}/study",
    "simulate {place}/made --systems 5 --topics 20 --depth 200",
    "simulate {place}/made --systems 5 --topics 20 --depth 200 --gzip",
]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A collection whose results take more room than there is."""
    folder = tmp_path_factory.mktemp("data")
    (folder / "runs").mkdir()
    judged = [f"{t} 0 d{i} {i % 3}\n" for t in range(60) for i in range(20)]
    (folder / "qrels.txt").write_text("".join(judged))
    for r in range(4):
        lines = [f"{t} Q0 d{(i * (r + 1)) % 31} {i} {-i} r{r}\n" for t in range(60) for i in range(25)]
        (folder / "runs" / f"r{r}.txt").write_text("".join(dict.fromkeys(lines)))
    words = [
        "study",
        "qrels.txt",
        "runs",
        "-m",
        "AP,nDCG",
        "--repeats",
        "1",
        "--replicates",
        "10",
        "-o",
        "study",
    ]
    assert run(words, folder).returncode == 0
    return folder


def run(words: list[str], folder: Path, limit: int | None = None) -> subprocess.CompletedProcess[str]:
    """A command; ``limit`` is the most bytes that a file may have."""

    def limited() -> None:
        import resource

        if limit is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    return subprocess.run(
        [sys.executable, "-m", "rankscope", *words, "--quiet"],
        cwd=folder, capture_output=True, text=True, check=False, preexec_fn=limited,
    )  # fmt: skip


def contents(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def furnished(folder: Path, data: Path) -> dict[str, bytes]:
    """Write a file and a study that a command may replace; return all files."""
    (folder / "old.json").write_text("before")
    shutil.copytree(data / "study", folder / "study")
    return contents(folder)


def check(words: str, folder: Path, data: Path, before: dict[str, bytes], limit: int | None = None) -> None:
    ended = run([word.format(place=folder) for word in words.split()], data, limit)
    assert ended.returncode == 2, ended.stderr
    assert ended.stderr.startswith("rankscope: ")
    assert ended.stderr.count("\n") == 1
    assert "internal error" not in ended.stderr
    assert "too large" in ended.stderr or "No space left" in ended.stderr
    assert contents(folder) == before


@pytest.mark.parametrize("words", COMMANDS)
def test_a_file_that_may_not_grow(words: str, data: Path, tmp_path: Path) -> None:
    check(words, tmp_path, data, furnished(tmp_path, data), limit=500)


@pytest.fixture
def small_disk(tmp_path: Path, data: Path) -> Iterator[Path]:
    """A disk with room for what is there, and a few kilobytes more."""
    mount_point = tmp_path / "small"
    mount_point.mkdir()
    size = (
        sum(max(4096, -(-p.stat().st_size // 4096) * 4096) for p in (data / "study").rglob("*")) + 24 * 4096
    )
    program = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(mount_point)]
    if (
        os.geteuid()
        or shutil.which("mount") is None
        or subprocess.run(program, capture_output=True).returncode
    ):
        pytest.skip("a disk of our own is not permitted here")
    try:
        yield mount_point
    finally:
        subprocess.run(["umount", str(mount_point)], check=True)


@pytest.mark.parametrize("words", COMMANDS)
def test_a_disk_that_is_full(words: str, data: Path, small_disk: Path) -> None:
    before = furnished(small_disk, data)
    filler = small_disk / "filler"
    with filler.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(b"x" * 4096)
        except OSError:
            pass
    before["filler"] = filler.read_bytes()
    check(words, small_disk, data, before)


def test_a_device_that_is_full(data: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full")
    for words in ("eval qrels.txt runs -o /dev/full", "report qrels.txt runs -o /dev/full"):
        ended = run(words.split(), data)
        assert ended.returncode == 2
        assert "No space left" in ended.stderr
        assert ended.stderr.count("\n") == 1
    with Path("/dev/full").open("wb") as full:
        for words in ("eval qrels.txt runs -q", "trec_eval qrels.txt runs/r0.txt"):
            program = [sys.executable, "-m", "rankscope", *words.split()]
            ended = subprocess.run(
                program, cwd=data, stdout=full, stderr=subprocess.PIPE, text=True, check=False
            )
            assert ended.returncode == 2, ended.stderr
            assert "Traceback" not in ended.stderr
            assert ended.stderr.count("\n") == 1
