"""Platforms of the wheels: options of the compiler for each, and checks of the compiled libraries."""

from __future__ import annotations

import re
import struct
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import NamedTuple

FLAGS = (
    "-O3",
    "-std=c11",
    "-DRS_PORTABLE",
    "-fvisibility=hidden",
    "-ffp-contract=off",
    "-shared",
    "-s",
    "-g0",
    "-fno-sanitize=undefined",
)
OLDEST_GLIBC = (2, 17)
MODULE_SUFFIX = ".abi3"
"""Part of the name of the extension module that says that it uses the limited API."""


class Platform(NamedTuple):
    """Tag of a wheel, target of the compiler, and expected kind of the library."""

    tag: str
    target: str
    kind: str
    machine: int
    suffix: str = ".so"


PLATFORMS = (
    Platform("manylinux_2_17_x86_64.manylinux2014_x86_64", "x86_64-linux-gnu.2.17", "elf", 62),
    Platform("manylinux_2_17_aarch64.manylinux2014_aarch64", "aarch64-linux-gnu.2.17", "elf", 183),
    Platform("musllinux_1_2_x86_64", "x86_64-linux-musl", "elf", 62),
    Platform("musllinux_1_2_aarch64", "aarch64-linux-musl", "elf", 183),
    Platform("macosx_11_0_x86_64", "x86_64-macos.11.0", "macho", 0x01000007),
    Platform("macosx_11_0_arm64", "aarch64-macos.11.0", "macho", 0x0100000C),
    Platform("win_amd64", "x86_64-windows-gnu", "pe", 0x8664, ".dll"),
    Platform("win_arm64", "aarch64-windows-gnu", "pe", 0xAA64, ".dll"),
)


def libraries(platform: Platform, tree: Path) -> dict[str, list[str]]:
    """Return the sources of each library by its path in a wheel, as setup.py declares them.

    The extension module is among them except on Windows, where it needs other headers of Python and ``python3.lib``,
    which cibuildwheel has; without it Rankscope reads dicts in Python, with the same results. Elsewhere the headers of
    this Python serve: the limited API is the same on all 64-bit platforms.
    """
    import setuptools  # noqa: F401  # isort: skip (first, since it brings the distutils that Python 3.12 has no longer)
    from distutils.core import run_setup  # isort: skip

    extensions = run_setup(str(tree / "setup.py"), stop_after="init").ext_modules
    return {
        extension.name.replace(".", "/") + MODULE_SUFFIX * extension.py_limited_api + platform.suffix: list(
            extension.sources
        )
        for extension in extensions
        if not (extension.py_limited_api and platform.kind == "pe")
    }


def compiled(platform: Platform, tree: Path) -> dict[str, bytes]:
    """Compile the libraries of a platform from the sources of a tree."""
    return {name: _compiled(platform, tree, sources) for name, sources in libraries(platform, tree).items()}


def _compiled(platform: Platform, tree: Path, sources: list[str]) -> bytes:
    with tempfile.TemporaryDirectory() as temporary:
        output = Path(temporary) / f"library{platform.suffix}"
        extra = ["-fPIC", f"-I{sysconfig.get_paths()['include']}"] if platform.kind != "pe" else []
        if platform.kind == "macho":
            # Without the first option the name of the temporary folder is in it; Python has what the module lacks.
            extra += ["-Wl,-install_name,@rpath/library.so", "-Wl,-undefined,dynamic_lookup"]
        words = [sys.executable, "-m", "ziglang", "cc", "-target", platform.target, *FLAGS, *extra]
        # relative names, so that no path of this machine is in the library
        process = subprocess.run(
            [*words, "-o", str(output), *sources], cwd=tree, capture_output=True, text=True
        )
        if process.returncode != 0:
            raise SystemExit(f"{platform.target}: the compiler failed: {process.stderr.strip()}")
        return output.read_bytes()


def find_machine(library: bytes) -> tuple[str, int]:
    """Return the format and the machine of a library from its first bytes.

    >>> find_machine(b"\\x7fELF" + bytes(14) + b"\\x3e\\x00")
    ('elf', 62)
    """
    if library[:4] == b"\x7fELF":
        return "elf", struct.unpack_from("<H", library, 18)[0]
    if library[:4] == b"\xcf\xfa\xed\xfe":
        return "macho", struct.unpack_from("<I", library, 4)[0]
    if library[:2] == b"MZ":
        return "pe", struct.unpack_from("<H", library, struct.unpack_from("<I", library, 60)[0] + 4)[0]
    return "unknown", 0


def check_library(platform: Platform, library: bytes) -> None:
    """Refuse a library of another machine, of a newer C library, or with paths of this machine."""
    if find_machine(library) != (platform.kind, platform.machine):
        raise SystemExit(f"{platform.tag}: the library is for {find_machine(library)}")
    needed = [(int(a), int(b)) for a, b in re.findall(rb"GLIBC_(\d+)\.(\d+)", library)]
    if "gnu" in platform.target and platform.kind == "elf":
        if max(needed, default=(0, 0)) > OLDEST_GLIBC:
            raise SystemExit(f"{platform.tag}: needs glibc {max(needed)}")
    elif needed:
        raise SystemExit(f"{platform.tag}: needs glibc")
    if any(
        path in library for path in (str(Path.home()).encode() + b"/", tempfile.gettempdir().encode() + b"/")
    ):
        raise SystemExit(f"{platform.tag}: a path of this machine is in the library")
