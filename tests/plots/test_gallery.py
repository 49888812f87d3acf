"""The gallery: every picture has the command beneath it that makes it, and every command works."""

from __future__ import annotations

import re
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def gallery() -> ModuleType:
    spec = spec_from_file_location("make_gallery", DOCS / "make_gallery.py")
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_picture_is_made_by_the_command_beneath_it(gallery: ModuleType) -> None:
    page = (DOCS / "gallery.md").read_text(encoding="utf-8")
    pictures = gallery.pictures(page)
    assert len(pictures) == len(set(pictures)) >= 14
    for picture in pictures:
        beneath = page[page.index(f"]({picture})") :]
        command = re.search(r"```(?:sh|python)\n(.*?)```", beneath, re.DOTALL)
        assert command is not None and picture in command[1]
        content = (DOCS / picture).read_bytes()
        assert content.endswith(b"</svg>\n") and len(content) < (
            400_000 if "findings" in picture else 200_000
        )
    assert {f"images/{path.name}" for path in (DOCS / "images").iterdir()} >= set(pictures)


def test_the_commands_work(gallery: ModuleType) -> None:
    page = (DOCS / "gallery.md").read_text(encoding="utf-8")
    languages = [language for language, _ in gallery.blocks(page)]
    assert languages.count("python") == 5 and languages.count("sh") >= 12
    pictures = gallery.run(page)
    assert list(pictures) == sorted(gallery.pictures(page))
    assert all(content.endswith(b"</svg>\n") for content in pictures.values())
