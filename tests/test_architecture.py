"""The page about the architecture says what is there: every name on it exists, and the walk happens as written."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import rankscope
from rankscope.cli.main import main
from rankscope.scan import native

SOURCE = Path(rankscope.__file__).parent
ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "architecture.md").read_text("utf-8")
HOPS = re.findall(r"^\d+\. `([^`]+)`", PAGE.partition("hop by hop")[2].partition("\n## ")[0], re.MULTILINE)


def resolved(name: str) -> Any:
    """Return the object with a dotted name below ``rankscope``: the longest module, then its attributes."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        try:
            target: Any = import_module(".".join(["rankscope", *parts[:length]]))
        except ModuleNotFoundError:
            continue
        for part in parts[length:]:
            target = getattr(target, part)
        return target
    raise AssertionError(f"there is no {name}")


def test_the_walk_is_short() -> None:
    assert 10 <= len(HOPS) <= 15


@pytest.mark.parametrize("hop", HOPS)
def test_every_hop_is_a_function(hop: str) -> None:
    path, _, function = hop.partition(":")
    if function:
        text = (SOURCE / path).read_text("utf-8")
        assert re.search(rf"^static .*\b{function}\(.*\{{$", text, re.MULTILINE)
    else:
        assert callable(resolved(hop))


def names_in(text: str) -> Iterator[str]:
    """Return the modules and functions that a text names between backticks."""
    for word in re.findall(r"`([^`\n]+)`", text):
        if re.fullmatch(
            r"(?:read|scan|judging|measures|scores|analysis|lab|plots|cli|engines|tables)\.[\w.]+", word
        ):
            yield word


@pytest.mark.parametrize("name", sorted(set(names_in(PAGE)) - set(HOPS)))
def test_every_other_name_exists(name: str) -> None:
    assert name.endswith(".py") or resolved(name) is not None


@pytest.mark.parametrize("path", sorted(set(re.findall(r"`([a-z_/]+(?:/|\.py))`", PAGE))))
def test_every_path_exists(path: str) -> None:
    """From the root of the repository, from the package, or inside the folder that its row is about."""
    if (ROOT / path).exists():
        return
    assert any(
        f"/{target.relative_to(SOURCE)}".endswith(f"/{path.rstrip('/')}") for target in SOURCE.rglob("*")
    )


def test_every_package_is_on_the_page() -> None:
    folders = {path.name + "/" for path in SOURCE.iterdir() if (path / "__init__.py").exists()}
    folders |= {path.name for path in SOURCE.glob("*.py")} - {"__init__.py", "__main__.py"}
    assert {name for name in folders if f"`{name}`" not in PAGE} == set()


@pytest.mark.skipif(
    not native.available(), reason="the walk goes through the library in C, which was not built"
)
def test_the_walk_happens_in_this_order(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rankscope.judging.kernels.is_usable", lambda: False)  # by the formula
    (tmp_path / "qrels.txt").write_text("301 0 FT911-1 1\n301 0 FT911-2 0\n")
    (tmp_path / "bm25.run").write_text("301 Q0 FT911-1 7 12.5 bm25\n301 Q0 FT911-3 8 11.5 bm25\n")
    hops_by_code = {resolved(hop).__code__: hop for hop in HOPS if ":" not in hop}
    executed: list[str] = []

    def look(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code in hops_by_code and hops_by_code[frame.f_code] not in executed:
            executed.append(hops_by_code[frame.f_code])

    before = sys.getprofile()
    sys.setprofile(look)
    try:
        code = main(
            [
                "eval",
                str(tmp_path / "qrels.txt"),
                str(tmp_path / "bm25.run"),
                "-m",
                "AP",
                "-j",
                "1",
                "-f",
                "table",
            ]
        )
    finally:
        sys.setprofile(before)
    assert code == 0
    assert executed == [hop for hop in HOPS if ":" not in hop]
    assert b"bm25  1.0000" in capfdbinary.readouterr().out
