"""Reproducible archives: sorted names, and fixed times, owners and modes."""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from platforms import Platform

_LIBRARIES = (".so", ".dll", ".dylib")
_EARLIEST = 315532800  # 1980, the first year that a zip archive can hold


def source_date(root: Path) -> int:
    """Return the time of all files: SOURCE_DATE_EPOCH, or the last commit."""
    text = os.environ.get("SOURCE_DATE_EPOCH", "")
    if text.isdecimal():
        return max(int(text), _EARLIEST)
    shown = subprocess.run(
        ["git", "log", "-1", "--format=%ct"], cwd=root, capture_output=True, text=True, check=True
    )
    return max(int(shown.stdout), _EARLIEST)


def checkout(root: Path, folder: Path) -> Path:
    """Copy the files that the repository tracks."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=root, capture_output=True, check=True
    ).stdout.decode()
    for name in filter(None, listed.split("\0")):
        if (root / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(root / name, folder / name)
    return folder


def _setuptools(tree: Path, call: str, output: Path) -> Path:
    """Build an archive with setuptools, without a compiler: the libraries are compiled separately."""
    program = f"from setuptools import build_meta; build_meta.{call}({str(output)!r})"
    process = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tree,
        capture_output=True,
        text=True,
        env={**os.environ, "CC": "false"},
    )
    if process.returncode != 0:
        raise SystemExit(f"setuptools failed: {process.stderr.strip()}")
    shutil.rmtree(tree / "build", ignore_errors=True)
    (archive,) = output.iterdir()
    return archive


def source_archive(tree: Path, folder: Path, when: int) -> Path:
    """Write the source archive of setuptools again, with a fixed order, times and owners."""
    with tempfile.TemporaryDirectory() as temporary:
        archive_path = _setuptools(tree, "build_sdist", Path(temporary))
        with tarfile.open(archive_path) as archive:
            files = {
                member.name: (archive.extractfile(member), member.mode)
                for member in archive
                if member.isfile()
            }
            content = {name: (file.read() if file else b"", mode) for name, (file, mode) in files.items()}
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
            for name in sorted(content):
                data, mode = content[name]
                member = tarfile.TarInfo(name)
                member.size, member.mtime, member.mode = len(data), when, 0o755 if mode & 0o100 else 0o644
                archive.addfile(member, io.BytesIO(data))
    target = folder / archive_path.name
    target.write_bytes(gzip.compress(packed.getvalue(), 9, mtime=when))
    return target


def wheel_files(tree: Path) -> dict[str, bytes]:
    """Return the files of a wheel for any platform: the package and its description, without libraries."""
    with tempfile.TemporaryDirectory() as temporary:
        wheel = _setuptools(tree, "build_wheel", Path(temporary))
        with zipfile.ZipFile(wheel) as archive:
            files = {name: archive.read(name) for name in archive.namelist() if not name.endswith("/")}
    unwanted = ("/WHEEL", "/RECORD", "/.gitignore")  # Each platform has its own WHEEL and RECORD.
    return {name: data for name, data in files.items() if not name.endswith((*unwanted, *_LIBRARIES))}


def write_wheel(
    folder: Path, files: dict[str, bytes], platform: Platform, libraries: dict[str, bytes], when: int
) -> Path:
    """Write one wheel: the common files, the libraries of its platform, and its metadata."""
    (home,) = {name.split("/")[0] for name in files if name.split("/")[0].endswith(".dist-info")}
    tags = "".join(f"Tag: py3-none-{tag}\n" for tag in platform.tag.split("."))
    about = f"Wheel-Version: 1.0\nGenerator: rankscope release\nRoot-Is-Purelib: false\n{tags}"
    content = {**files, **libraries, f"{home}/WHEEL": about.encode()}
    rows = [f"{name},{_digest(content[name])},{len(content[name])}" for name in sorted(content)]
    content[f"{home}/RECORD"] = "\n".join([*rows, f"{home}/RECORD,,", ""]).encode()
    target = folder / f"{home.removesuffix('.dist-info')}-py3-none-{platform.tag}.whl"
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name in sorted(content, key=lambda name: (name.startswith(home), name)):
            entry = zipfile.ZipInfo(name, time.gmtime(when)[:6])
            entry.compress_type, entry.create_system = zipfile.ZIP_DEFLATED, 3
            entry.external_attr = (0o100755 if name.endswith(_LIBRARIES) else 0o100644) << 16
            archive.writestr(entry, content[name])
    target.write_bytes(packed.getvalue())
    return target


def _digest(data: bytes) -> str:
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def check_wheel(wheel: Path, libraries: dict[str, bytes], tree: Path) -> None:
    """Refuse a wheel that lacks a file of the package, has one too many, or whose list of files is wrong."""
    with zipfile.ZipFile(wheel) as archive:
        content = {name: archive.read(name) for name in archive.namelist()}
    package = tree / "src" / "rankscope"
    expected = {
        f"rankscope/{path.relative_to(package).as_posix()}"
        for path in package.rglob("*")
        if path.is_file() and path.name != ".gitignore"
    }
    names = {name for name in content if name.startswith("rankscope/")}
    if names != expected | libraries.keys():
        raise SystemExit(
            f"{wheel.name}: differs from the tree in {sorted(names ^ (expected | libraries.keys()))}"
        )
    (record,) = (name for name in content if name.endswith(".dist-info/RECORD"))
    listed = dict(line.rsplit(",", 2)[:2] for line in content[record].decode().splitlines())
    if listed.pop(record) or listed != {
        name: _digest(data) for name, data in content.items() if name != record
    }:
        raise SystemExit(f"{wheel.name}: RECORD does not describe it")
