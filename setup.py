"""Builds the libraries and the extension module in C, if there is a compiler; see pyproject.toml."""

from __future__ import annotations

import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:  # setuptools before 70.1
    from wheel.bdist_wheel import bdist_wheel

NATIVE = "src/rankscope/native/c"
MODULE = "_memory"
"""End of the name of the extension module; the others are libraries that know nothing of Python."""
SUFFIX = ".dll" if sys.platform == "win32" else ".so"


class BuildLibrary(build_ext):
    """Libraries without a version in their names and without symbols but those of their headers; one module."""

    def get_ext_filename(self, fullname: str) -> str:
        if fullname.endswith(MODULE):
            return super().get_ext_filename(fullname)
        return str(Path(*fullname.split("."))) + SUFFIX

    def get_export_symbols(self, ext: Extension) -> list[str]:
        return super().get_export_symbols(ext) if ext.name.endswith(MODULE) else ext.export_symbols

    def build_extension(self, ext: Extension) -> None:
        if self.compiler.compiler_type == "msvc":
            ext.extra_compile_args = ["/O2", "/std:c11"]
        else:
            ext.extra_compile_args = ["-O3", "-std=c11", "-fvisibility=hidden", "-ffp-contract=off"]
        super().build_extension(ext)


class PlatformWheel(bdist_wheel):
    """One wheel per platform serves every version of Python: libraries of ctypes, and a module of the limited API."""

    def get_tag(self) -> tuple[str, str, str]:
        _, _, platform = super().get_tag()
        return "cp311", "abi3", platform


setup(
    ext_modules=[
        Extension(
            "rankscope.native.c.scanner",
            sources=[f"{NATIVE}/{name}.c" for name in ("scanner", "table", "qrels", "ahead")],
            depends=[str(header) for header in sorted(Path(NATIVE).glob("*.h"))],
            optional=True,  # without a compiler the scanner in Python serves, with the same results
        ),
        Extension(
            "rankscope.native.c.counting",
            sources=[f"{NATIVE}/counting.c"],
            optional=True,  # without a compiler numpy counts the same
        ),
        Extension(
            f"rankscope.native.{MODULE}",
            sources=[f"{NATIVE}/memory.c"],
            depends=[f"{NATIVE}/shortest.h", f"{NATIVE}/sorting.h"],
            py_limited_api=True,
            optional=True,  # without a compiler dicts are read in Python, with the same results
        ),
    ],
    cmdclass={"build_ext": BuildLibrary, "bdist_wheel": PlatformWheel},
)
