"""What leaves the page: figures, their data and tables, the commands that make them again, and paper."""

from __future__ import annotations

import csv
import io
import json
import re
import shlex
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from rankscope.cli.main import main

Open = Callable[..., Any]
Until = Callable[[Any, str], None]
State = Callable[[Any], dict[str, list[str]]]
SVG = "{http://www.w3.org/2000/svg}"
VIEWS = ["runs", "orders", "map", "plane", "curves", "versus", "indicators", "archetypes"]
TABLES = {"versus": "topics"}
"""Tables of the commands that are not called like the view."""


def _saved(page: Any, button: str) -> bytes:
    with page.expect_download() as download:
        page.get_by_role("button", name=button, exact=True).first.click()
    return Path(download.value.path()).read_bytes()


def _rows(text: str) -> list[dict[str, str]]:
    """The rows of the first table of a CSV, as the page and commands write it."""
    first = re.split(r"^# .*$", text, flags=re.M)
    return list(csv.DictReader(io.StringIO(next(part.strip() for part in first if part.strip()))))


def _number(text: Any) -> float:
    return float(str(text).replace("Infinity", "inf")) if text not in ("", None) else float("nan")


@pytest.mark.parametrize("view", VIEWS)
def test_a_figure_leaves_with_caption_and_command(open_page: Open, collection_page: Path, view: str) -> None:
    page = open_page(collection_page, f"view={view}", color_scheme="dark")
    page.get_by_text("Save or cite this figure").first.click()
    caption, command = (page.locator(f".save {part}").first.inner_text() for part in ("p.note", "pre"))
    root = ElementTree.fromstring(_saved(page, "SVG"))
    assert root.tag == f"{SVG}svg"
    assert root.attrib["width"] == "3.400in" or abs(float(root.attrib["width"][:-2]) - 3.4) < 0.02
    assert root.findtext(f"{SVG}title") == caption
    assert root.findtext(f"{SVG}desc") == f"{caption}\n{command}"
    drawn = [
        element for element in root.iter() if element.tag in (f"{SVG}path", f"{SVG}rect", f"{SVG}circle")
    ]
    assert len(drawn) > 3
    assert len(list(root.iter(f"{SVG}text"))) > 5
    assert not [e for e in root.iter() if "style" in e.attrib or e.tag in (f"{SVG}script", f"{SVG}image")]
    picture = _saved(page, "PNG")
    assert picture[:8] == b"\x89PNG\r\n\x1a\n"
    assert abs(int.from_bytes(picture[16:20], "big") - 1020) < 8, "three hundred dots an inch"
    # the page is as it was
    assert page.evaluate("[rankscope.state.vector, document.documentElement.dataset.theme ?? null]") == [
        False,
        None,
    ]
    tex = _saved(page, "Table (LaTeX)").decode()
    assert tex.count("\\toprule") == tex.count("\\bottomrule") == 1
    assert tex.startswith(f"% {command.splitlines()[0]}")


@pytest.mark.parametrize("view", VIEWS)
def test_the_command_reproduces_the_data(
    open_page: Open,
    collection_page: Path,
    view: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    until: Until,
) -> None:
    page = open_page(collection_page, f"view={view}&measure=nDCG@10&length=60")
    if view == "runs":
        page.locator("td.ranks", has_text=re.compile(r"\d")).first.wait_for()
    page.get_by_text("Save or cite this figure").first.click()
    shown = _rows(_saved(page, "Data (CSV)").decode())
    monkeypatch.chdir(tmp_path)
    command = page.locator(".save pre").first.inner_text().splitlines()[-1]
    words = shlex.split(command)
    assert words[0] == "rankscope"
    # the figure of the command is drawn by tests of the figures; here its data counts
    plot = words.index("--plot") if "--plot" in words else len(words)
    assert main([*words[1:plot], *words[plot + 2 :], "--quiet"]) == 0
    (written,) = [path for path in tmp_path.iterdir() if path.suffix in (".csv", ".json")]
    if written.suffix == ".json":
        found = json.loads(written.read_text())["tables"][TABLES.get(view, view)]
    else:
        found = _rows(written.read_text())
    if view in ("plane", "orders"):
        wide: dict[tuple[str, str], dict[str, Any]] = {}
        for row in found:
            wide.setdefault((row["run"], row.get("topic", "")), {})[row["measure"]] = row["value"]
        found = [{"run": r, **({"topic": t} if t else {}), **values} for (r, t), values in wide.items()]
    keys = [name for name in ("run", "topic", "rank", "measure") if name in shown[0] and name in found[0]]
    known = {tuple(str(row[k]) for k in keys): row for row in found}
    assert len(shown) > 5
    for row in shown:
        mine = known[tuple(row[k] for k in keys)]
        for name in row.keys() - set(keys) - {"run", "topic", "grade"}:
            if name in ("archetype", "tied_for_first", "a", "b"):
                assert str(mine[name]) == row[name]
            else:
                assert _number(row[name]) == pytest.approx(_number(mine[name]), abs=1e-12, nan_ok=True), name


_ON_PAPER = {
    "plane": ("path.points", lambda d: d.count("M")),
    "indicators": ("path.lines.kept", lambda d: d.count("M")),
    "map": (".vectors path", lambda d: d.count("M")),
}


def _drawn(page: Any) -> dict[str, Any]:
    return dict(
        page.evaluate(
            """() => {
                const seen = (e) => e.getBoundingClientRect().width > 0;
                const figures = [...document.querySelectorAll('main figure')];
                const texts = figures.flatMap((f) => [...f.querySelectorAll('svg text')]).filter(seen);
                const axes = figures.flatMap((f) => [...f.querySelectorAll('svg .axis, svg .grid')]).length;
                return {texts: texts.map((t) => t.textContent).sort(), axes, figures: figures.length};
            }"""
        )
    )


@pytest.mark.parametrize("view", VIEWS)
def test_paper_has_what_the_screen_has(
    open_page: Open, collection_page: Path, view: str, until: Until
) -> None:
    page = open_page(collection_page, f"view={view}")
    screen = _drawn(page)
    assert screen["figures"] >= 1
    pdf = page.pdf()
    page.emulate_media(media="print")
    until(page, "rankscope.state.vector === true")
    paper = _drawn(page)
    assert (paper["axes"] > 0) == (screen["axes"] > 0)
    assert abs(paper["axes"] - screen["axes"]) <= 0.2 * screen["axes"]
    # paper has another width, so that an axis may have other ticks; names and legends are the same
    missing = {text for text in screen["texts"] if not re.fullmatch(r"[−\d.,]+", text)} - set(paper["texts"])
    assert not missing
    assert page.locator("main canvas").count() == 0, "on paper everything is drawn in vectors"
    lists = page.evaluate("rankscope.data.size")
    if view in _ON_PAPER:
        selector, count = _ON_PAPER[view]
        paths = page.locator(selector).evaluate_all("all => all.map(p => p.getAttribute('d'))")
        expected = page.evaluate("rankscope.data.topics.length") if view == "indicators" else lists
        number = sum(map(count, paths[:1] if view == "plane" else paths))
        assert number == expected
        assert _moves(pdf) >= expected
    widest = page.locator("main figure svg").evaluate_all(
        "all => Math.max(...all.map(e => e.getBoundingClientRect().right))"
    )
    assert widest <= page.evaluate("innerWidth")
    page.emulate_media(media="screen")
    until(page, "rankscope.state.vector === false")


def _moves(pdf: bytes) -> int:
    """How many pieces of lines a PDF draws."""
    found = 0
    for stream in re.finditer(rb"stream\r?\n(.*?)endstream", pdf, re.S):
        try:
            found += len(re.findall(rb" m\s", zlib.decompress(stream[1])))
        except zlib.error:
            continue
    return found


def test_talk_mode_has_the_shape_of_a_slide(open_page: Open, collection_page: Path, state_of: State) -> None:
    page = open_page(collection_page, "view=runs&talk=on")
    box = page.locator("#page").bounding_box()
    assert box["width"] / box["height"] == pytest.approx(16 / 9, abs=0.01)
    assert page.locator("footer").is_hidden()
    page.keyboard.press("PageDown")
    assert state_of(page)["view"] == ["orders"]
    assert state_of(page)["talk"] == ["on"]
    page.keyboard.press("Escape")
    assert "talk" not in state_of(page)
    assert page.locator("footer").is_visible()
