"""The committed bundle is what its sources build, byte for byte, and fit to be inlined."""

from __future__ import annotations

import os
import subprocess
from importlib.resources import files
from pathlib import Path

WEB = Path(__file__).parents[2] / "web"
ASSETS = Path(str(files("rankscope.reporting") / "assets"))


def test_bundle_is_what_the_sources_build(tmp_path: Path, node_modules: Path) -> None:
    assert (node_modules / "vite").is_dir()
    built = subprocess.run(
        ["sh", str(WEB / "build.sh")],
        env={**os.environ, "RANKSCOPE_ASSETS": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    for name in ("page.js", "page.css"):
        same = (tmp_path / name).read_bytes() == (ASSETS / name).read_bytes()
        assert same, f"{name} differs from what web/ builds: run web/build.sh and commit the result"


def test_nothing_in_the_bundle_ends_its_element_early() -> None:
    script = (ASSETS / "page.js").read_text("utf-8").lower()
    style = (ASSETS / "page.css").read_text("utf-8").lower()
    assert "</script" not in script
    assert "<!--<script" not in script
    assert "</style" not in style


def test_the_bundle_names_no_address() -> None:
    allowed = (
        "http://www.w3.org/",
        "https://svelte.dev/e/",
    )  # name spaces, and Svelte's explanations of errors
    for name in ("page.js", "page.css"):
        text = (ASSETS / name).read_text("utf-8")
        for scheme in ("http://", "https://", "ws://", "wss://"):
            at = text.find(scheme)
            while at >= 0:
                assert text.startswith(allowed, at), text[at : at + 80]
                at = text.find(scheme, at + 1)
