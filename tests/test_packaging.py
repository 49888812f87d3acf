"""Distribution: the source archive is complete, and the tests install the pinned versions."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def tracked() -> list[str]:
    """Return the files of the repository."""
    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        pytest.skip("this is no checkout")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    return [name for name in listed.decode().split("\0") if name and (ROOT / name).is_file()]


@pytest.mark.slow
def test_the_source_archive_has_every_file(tmp_path: Path) -> None:
    """Tests with their data, documents, benchmarks, and the sources of the page: all that the repository has."""
    pytest.importorskip("setuptools")
    names = tracked()
    for name in names:
        (tmp_path / "tree" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / "tree" / name)
    program = f"from setuptools import build_meta; build_meta.build_sdist({str(tmp_path)!r})"
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path / "tree", capture_output=True, check=True)
    (archive,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(archive) as file:
        packed = {member.name.split("/", 1)[1] for member in file if member.isfile()}
    assert sorted(set(names) - packed) == []
    generated = {"PKG-INFO", "setup.cfg"}
    assert [
        name for name in packed - set(names) - generated if not name.startswith("src/rankscope.egg-info/")
    ] == []


def pins(path: Path) -> dict[str, str]:
    """Return the versions that a file pins, by normalised name."""
    versions = re.findall(r"^([A-Za-z0-9_.-]+)==([^\s;\\]+)", path.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[-_.]+", "-", name).lower(): version for name, version in versions}


def test_pins_and_digests_agree() -> None:
    hashed, pinned = pins(ROOT / "tests" / "hashes.txt"), pins(ROOT / "constraints.txt")
    assert len(hashed) > 50
    differ = {
        name: (hashed[name], pinned[name])
        for name in hashed.keys() & pinned.keys()
        if hashed[name] != pinned[name]
    }
    assert differ == {}, "make tests/hashes.txt again: its first lines say how"


def test_every_pin_has_digests_and_no_address() -> None:
    text = (ROOT / "tests" / "hashes.txt").read_text("utf-8")
    for entry in re.split(r"^(?=[A-Za-z])", text, flags=re.MULTILINE)[1:]:
        assert re.search(r"--hash=sha256:[0-9a-f]{64}", entry), entry
    assert "://" not in text
