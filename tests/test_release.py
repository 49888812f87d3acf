"""Releases: reproducible wheels of every platform, and recipes that name this version."""

from __future__ import annotations

import re
import shutil
import struct
import sys
import zipfile
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import SimpleNamespace

import pytest

import rankscope as rs

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "release"))

import packing  # noqa: E402
import platforms  # noqa: E402

WHEN = 1_700_000_000


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the files of the repository."""
    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        pytest.skip("this is no checkout")
    return packing.checkout(ROOT, tmp_path_factory.mktemp("release") / "tree")


def library(platform: platforms.Platform) -> bytes:
    """Return the first bytes of a library."""
    if platform.kind == "elf":
        return b"\x7fELF" + bytes(14) + struct.pack("<H", platform.machine)
    if platform.kind == "macho":
        return b"\xcf\xfa\xed\xfe" + struct.pack("<I", platform.machine)
    return b"MZ" + bytes(58) + struct.pack("<I", 64) + b"PE\0\0" + struct.pack("<H", platform.machine)


def test_eight_platforms() -> None:
    assert len({platform.tag for platform in platforms.PLATFORMS}) == len(platforms.PLATFORMS) == 8
    for platform in platforms.PLATFORMS:
        platforms.check_library(platform, library(platform))
        for other in platforms.PLATFORMS:
            if (other.kind, other.machine) != (platform.kind, platform.machine):
                with pytest.raises(SystemExit, match="the library is for"):
                    platforms.check_library(platform, library(other))


def test_a_library_that_asks_too_much_is_refused() -> None:
    glibc, musl = platforms.PLATFORMS[0], platforms.PLATFORMS[2]
    platforms.check_library(glibc, library(glibc) + b"GLIBC_2.14")
    with pytest.raises(SystemExit, match="needs glibc"):
        platforms.check_library(glibc, library(glibc) + b"GLIBC_2.34")
    with pytest.raises(SystemExit, match="needs glibc"):
        platforms.check_library(musl, library(musl) + b"GLIBC_2.2")
    with pytest.raises(SystemExit, match="a path of this machine"):
        platforms.check_library(glibc, library(glibc) + str(Path.home()).encode() + b"/x")


def libraries(platform: platforms.Platform) -> dict[str, bytes]:
    pytest.importorskip("setuptools")
    return {name: library(platform) for name in platforms.libraries(platform, ROOT)}


def test_every_library_of_the_package_is_compiled() -> None:
    """Check that every C source belongs to one library of setup.py; only wheels for Windows lack the module."""
    pytest.importorskip("setuptools")
    for platform in platforms.PLATFORMS:
        named = platforms.libraries(platform, ROOT)
        module = {"rankscope/native/_memory.abi3.so": ["src/rankscope/native/c/memory.c"]}
        if platform.kind == "pe":
            assert all(name.endswith(".dll") for name in named)
            named |= module
        assert module.items() <= named.items()
        sources = [ROOT / source for listed in named.values() for source in listed]
        assert sorted(sources) == sorted((ROOT / "src").rglob("*.c"))


@pytest.mark.slow
def test_wheels_are_whole_and_the_same_bytes(tree: Path, tmp_path: Path) -> None:
    """A wheel has all files of the package, one library and a correct RECORD; twice the same."""
    pytest.importorskip("setuptools")
    files = packing.wheel_files(tree)
    for platform in platforms.PLATFORMS[::3]:
        wheels = []
        for folder in ("one", "two"):
            (tmp_path / folder).mkdir(exist_ok=True)
            wheel = packing.write_wheel(tmp_path / folder, files, platform, libraries(platform), WHEN)
            packing.check_wheel(wheel, libraries(platform), tree)
            wheels.append(wheel.read_bytes())
        assert wheels[0] == wheels[1]
        assert wheel.name == f"rankscope-{rs.__version__}-py3-none-{platform.tag}.whl"
    fewer = {name: data for name, data in files.items() if not name.endswith("scores.py")}
    broken = packing.write_wheel(tmp_path, fewer, platform, libraries(platform), WHEN)
    with pytest.raises(SystemExit, match=r"scores\.py"):
        packing.check_wheel(broken, libraries(platform), tree)
    with zipfile.ZipFile(wheel) as archive:
        assert {entry.date_time for entry in archive.infolist()} == {(2023, 11, 14, 22, 13, 20)}
        assert (
            f"Tag: py3-none-{platform.tag}"
            in archive.read(f"rankscope-{rs.__version__}.dist-info/WHEEL").decode()
        )


def test_the_time_is_that_of_the_source(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", str(WHEN))
    assert packing.source_date(ROOT) == WHEN
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1")
    assert packing.source_date(ROOT) == 315532800
    monkeypatch.delenv("SOURCE_DATE_EPOCH")
    answer = SimpleNamespace(stdout=f"{WHEN}\n")
    monkeypatch.setattr(packing.subprocess, "run", lambda *_, **__: answer)
    assert packing.source_date(ROOT) == WHEN


def test_recipes_name_this_version_and_what_is_needed() -> None:
    recipe = (ROOT / "release" / "conda" / "recipe.yaml").read_text("utf-8")
    project = (ROOT / "pyproject.toml").read_text("utf-8")
    assert f'version: "{rs.__version__}"' in recipe
    for name, minimum in re.findall(r'"(numpy|scipy)>=([^"]+)"', project):
        assert f"- {name} >={minimum}" in recipe
    assert re.search(r'requires-python = ">=3\.11"', project) and "- python >=3.11" in recipe
    container = (ROOT / "release" / "Containerfile").read_text("utf-8")
    extras = re.search(r"rankscope\[([\w,]+)\]", container)
    assert extras is not None
    assert all(f"\n{extra} = [" in project for extra in extras[1].split(","))


def test_the_wheel_that_is_tried_is_the_one_the_environment_takes(tmp_path: Path) -> None:
    """By the platforms that its own pip names, the best first."""
    loader = SourceFileLoader("release_try", str(ROOT / "release" / "try"))
    script = module_from_spec(spec_from_loader(loader.name, loader))  # type: ignore[arg-type]
    sys.modules[loader.name] = script
    loader.exec_module(script)
    for platform in platforms.PLATFORMS:
        (tmp_path / f"rankscope-{rs.__version__}-py3-none-{platform.tag}.whl").touch()
    for takes, tag in {
        "manylinux_2_40_x86_64 manylinux_2_17_x86_64 manylinux2014_x86_64 linux_x86_64": "manylinux_2_17_x86_64",
        "musllinux_1_2_aarch64 musllinux_1_1_aarch64 linux_aarch64": "musllinux_1_2_aarch64",
        "macosx_14_0_arm64 macosx_11_0_arm64": "macosx_11_0_arm64",
    }.items():
        assert tag in script.chosen(tmp_path, takes.split()).name
    with pytest.raises(SystemExit, match="0 wheels for linux_riscv64"):
        script.chosen(tmp_path, ["linux_riscv64"])
    folder = script.Place(tmp_path, "python3")
    assert folder.inside(tmp_path / "tmp" / "bare") == "/tmp/bare"
