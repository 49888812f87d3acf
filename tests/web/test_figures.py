"""Exports of the page: figures with their data, tables, the commands that reproduce them, and print."""

from __future__ import annotations

import base64
import csv
import io
import json
import re
import shlex
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs
from xml.etree import ElementTree

import numpy as np
import pytest

import rankscope as rs
from rankscope.cli.main import main

pytestmark = pytest.mark.usefixtures("light_fonts")
Open = Callable[..., Any]
Until = Callable[[Any, str], None]
Settled = Callable[[Any], None]
State = Callable[[Any], dict[str, list[str]]]
SVG = "{http://www.w3.org/2000/svg}"
Places = list[tuple[Path, str]]
LOCAL = re.compile(r"file:|(?:^|[\s'\"=>])/(?:tmp|home|root|work|Users|private)/")
"""A path of this machine, which no file may contain."""
TABLES = {"versus": "topics"}
"""Tables of the commands that are not called like the view."""


def _saved(page: Any, button: str) -> bytes:
    with page.expect_download() as download:
        page.get_by_role("button", name=button, exact=True).first.click()
    return Path(download.value.path()).read_bytes()


def _rows(text: str) -> list[dict[str, str]]:
    """Parse the first table of a CSV written by the page or a command."""
    first = re.split(r"^# .*$", text, flags=re.M)
    return list(csv.DictReader(io.StringIO(next(part.strip() for part in first if part.strip()))))


def _number(text: Any) -> float:
    return float(str(text).replace("Infinity", "inf")) if text not in ("", None) else float("nan")


OVERLAPS = """svg => {
    const host = document.createElement('div');
    host.className = 'offscreen';
    const read = new DOMParser().parseFromString(svg, 'image/svg+xml');
    const root = document.importNode(read.documentElement, true);
    host.append(root);
    document.body.append(host);
    const texts = [...root.querySelectorAll('text')].map((e) => {
        const b = e.getBBox(), m = e.getScreenCTM();
        // lines of text may touch: letters fill the middle of their box
        const [dx, dy] = [Math.min(1, b.width / 8), 0.22 * b.height];
        const [left, right, top, bottom] = [b.x + dx, b.x + b.width - dx, b.y + dy, b.y + b.height - dy];
        const corners = [[left, top], [right, top], [right, bottom], [left, bottom]];
        return {text: e.textContent, corners: corners.map(([x, y]) => new DOMPoint(x, y).matrixTransform(m))};
    });
    host.remove();
    // two convex shapes are apart if a side of one separates them
    const apart = (p, q) => [[p, q], [q, p]].some(([one, two]) => one.some((a, k) => {
        const b = one[(k + 1) % 4], along = (c) => c.x * (b.y - a.y) + c.y * (a.x - b.x);
        const [s, t] = [one.map(along), two.map(along)];
        return Math.max(...s) <= Math.min(...t) || Math.max(...t) <= Math.min(...s);
    }));
    return texts.flatMap((one, i) => texts.slice(0, i).filter((two) => !apart(one.corners, two.corners))
        .map((two) => [two.text, one.text]));
}"""
"""Pairs of texts of an SVG that overlap."""

OUTSIDE = """svg => {
    const host = document.createElement('div');
    host.className = 'offscreen';
    const read = new DOMParser().parseFromString(svg, 'image/svg+xml');
    const root = document.importNode(read.documentElement, true);
    host.append(root);
    document.body.append(host);
    const edge = root.getBoundingClientRect(), slack = 0.01 * edge.width;
    const found = [...root.querySelectorAll('text')].filter((e) => {
        const {left, right, top, bottom} = e.getBoundingClientRect();
        const across = left < edge.left - slack || right > edge.right + slack;
        return right > left && (across || top < edge.top - slack || bottom > edge.bottom + slack);
    }).map((e) => e.textContent);
    host.remove();
    return found;
}"""
"""Texts of an SVG that its edges cut."""


def _save_figure(page: Any, place: int = 0) -> tuple[str, str]:
    """Save a figure as SVG, check the file, and return the caption and the commands."""
    inside = page.locator("details.save").nth(place)
    # Clicks of a pointer scroll and wait for frames: the first figure of a view has them, the others are saved by code.
    if place or inside.evaluate("details => details.open"):
        inside.evaluate("details => { details.open = true; }")
    else:
        inside.locator("summary").click()
    caption, command = (inside.locator(part).first.inner_text() for part in ("p.note >> nth=-1", "pre"))
    svg = (_export(page, "SVG", place) if place else _saved(page, "SVG")).decode()
    assert page.evaluate(OVERLAPS, svg) == [] == page.evaluate(OUTSIDE, svg)
    assert "${" not in caption
    root = ElementTree.fromstring(svg)
    assert root.tag == f"{SVG}svg"
    assert root.attrib["width"] == "3.400in" or abs(float(root.attrib["width"][:-2]) - 3.4) < 0.02
    assert root.findtext(f"{SVG}title") == caption
    description = root.findtext(f"{SVG}desc")
    assert description.startswith(caption) and description.count("\n") == command.count("\n") + 1
    # the command is that of the screen without directories of this machine
    for own, shown in zip(
        description.splitlines()[-command.count("\n") - 1 :], command.splitlines(), strict=True
    ):
        assert [Path(word).name for word in shlex.split(own)] == [
            Path(word).name for word in shlex.split(shown)
        ]
    assert LOCAL.search(svg) is None
    assert float(root.attrib["height"][:-2]) <= 9.1 or "borders as in the plane" in caption
    drawn = [e for e in root.iter() if e.tag in (f"{SVG}path", f"{SVG}rect", f"{SVG}circle", f"{SVG}line")]
    assert len(drawn) > 1
    assert len(list(root.iter(f"{SVG}text"))) > 2
    assert not [e for e in root.iter() if "style" in e.attrib or e.tag in (f"{SVG}script", f"{SVG}image")]
    assert not [e for e in root.iter() if e.attrib.get("fill", "").startswith("color")]
    return caption, command


def _read_pdf(data: bytes) -> str:
    """Return the title and the texts of a PDF of the page, one per line."""
    assert data.startswith(b"%PDF-1.4") and data.endswith(b"%%EOF\n")
    start = int(data.rsplit(b"startxref\n", 1)[1].split(b"\n")[0])
    n_objects = int(data[start:].split()[2])
    entries = [line for line in data[start:].splitlines() if line.endswith(b" 00000 n ")]
    assert len(entries) == n_objects - 1
    for number, entry in enumerate(entries, 1):
        assert data[int(entry[:10]) :].startswith(b"%d 0 obj" % number)
    title = re.search(rb"/Title <feff([0-9a-f]*)>", data)
    stream = re.search(rb"/Filter /FlateDecode /Length (\d+) >>\nstream\n", data)
    assert title and stream
    content = zlib.decompress(data[stream.end() : stream.end() + int(stream[1])]).decode("ascii")
    assert content.count("q ") + content.count("q\n") >= content.count("Q") > 3
    shown = re.findall(r"BT 0 Tr .*<([0-9a-f]*)> Tj", content)
    texts = [bytes.fromhex(text).replace(b"\x01", b"-").decode("cp1252") for text in shown]
    return "\n".join([bytes.fromhex(title[1].decode()).decode("utf-16-be"), *texts])


def _export(page: Any, button: str, place: int = 0) -> bytes:
    """Return the file that a button of a figure saves, without a pointer and a download."""
    url = page.evaluate(
        """([name, place]) => new Promise((done) => {
            const make = URL.createObjectURL, click = HTMLAnchorElement.prototype.click;
            // Nothing is saved: after such downloads, Chromium sometimes drops that of the next click.
            HTMLAnchorElement.prototype.click = () => { HTMLAnchorElement.prototype.click = click; };
            URL.createObjectURL = (blob) => {
                URL.createObjectURL = make;
                const reader = new FileReader();
                reader.onload = () => done(reader.result);
                reader.readAsDataURL(blob);
                return make.call(URL, blob);
            };
            const buttons = document.querySelectorAll('details.save')[place].querySelectorAll('button');
            [...buttons].find((button) => button.textContent === name).click();
        })""",
        [button, place],
    )
    return base64.b64decode(url.partition(",")[2])


def _data(page: Any, place: int = 0) -> list[dict[str, str]]:
    """Return the rows of the exported CSV of a figure."""
    return _rows(_export(page, "Data (CSV)", place).decode())


def test_every_figure_leaves_with_caption_and_command(
    visit: Open, places: Places, sampled: Callable[..., Places]
) -> None:
    places = sampled(places, 4)
    for path, fragment in places:
        page = visit(path, fragment, color_scheme="dark")
        view, split = parse_qs(fragment)["view"][0], "facet" in fragment
        page.locator("details.save").first.wait_for()
        n_figures = page.locator("details.save").count()
        assert (
            n_figures
            >= {"runs": 6, "map": 2, "archetypes": 2, "study": 5, "versus": 2, "plane": 2}.get(view, 1)
            + split
        )
        captions = set()
        for index in range(n_figures):
            caption, command = _save_figure(page, index)
            captions.add(caption)
            assert command.startswith("rankscope ")
            assert "--plot" in command
        assert len(captions) == n_figures
        picture = _saved(page, "PNG")
        assert picture[:8] == b"\x89PNG\r\n\x1a\n"
        assert abs(int.from_bytes(picture[16:20], "big") - 1020) < 8, "three hundred dots an inch"
        # the page is as it was
        settings = "[rankscope.state.vector, document.documentElement.dataset.theme ?? null]"
        assert page.evaluate(settings) == [False, None]
        save = _saved if (path, fragment) == places[0] else _export
        tex = save(page, "Table (LaTeX)").decode()
        assert tex.count("\\toprule") == tex.count("\\bottomrule") == 1
        command = page.locator("details.save pre").first.inner_text()
        first = tex.splitlines()[0].removeprefix("% ")
        assert shlex.split(first)[:2] == shlex.split(command.splitlines()[0])[:2]
        pdf = _read_pdf(save(page, "PDF"))
        assert pdf and not [
            text for text in (tex, pdf, save(page, "Data (CSV)").decode()) if LOCAL.search(text)
        ]


@pytest.mark.product(4)
@pytest.mark.also("indicators")
@pytest.mark.without("slices", "study", "whatif")  # which have several figures, or edited ones
def test_the_command_reproduces_the_data(
    open_page: Open,
    collection_page: Path,
    aspects_page: Path,
    view: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    until: Until,
) -> None:
    path = aspects_page if view == "coverage" else collection_page
    page = open_page(path, f"view={view}&measure=nDCG@10&length=60")
    assert "--plot" in page.locator(".save pre").first.text_content().split()
    if view == "runs":
        page.locator("td.ranks", has_text=re.compile(r"\d")).first.wait_for()
    place = 1 if view == "indicators" else 0
    shown = _data(page, place)
    monkeypatch.chdir(tmp_path)
    command = page.locator(".save pre").nth(place).text_content().splitlines()[-1]
    words = shlex.split(command)
    assert words[0] == "rankscope"
    # the figure of the command is drawn by tests of the figures; here its data counts
    plot = words.index("--plot") if "--plot" in words else len(words)
    assert main([*words[1:plot], *words[plot + 2 :], "--quiet"]) == 0
    (written,) = [path for path in tmp_path.iterdir() if path.suffix in (".csv", ".json")]
    if written.suffix == ".json":
        rows_of_command = json.loads(written.read_text())["tables"][TABLES.get(view, view)]
    else:
        rows_of_command = _rows(written.read_text())
    if view == "plane":
        wide: dict[tuple[str, str], dict[str, Any]] = {}
        for row in rows_of_command:
            wide.setdefault((row["run"], row.get("topic", "")), {})[row["measure"]] = row["value"]
        rows_of_command = [
            {"run": r, **({"topic": t} if t else {}), **values} for (r, t), values in wide.items()
        ]
    keys = [
        name
        for name in ("run", "topic", "rank", "measure", "by")
        if name in shown[0] and name in rows_of_command[0]
    ]
    keys = [name for name in keys if name != "rank" or view not in ("orders", "runs")]
    by_key = {tuple(str(row[k]) for k in keys): row for row in rows_of_command}
    assert len(shown) > 5
    for row in shown:
        expected = by_key[tuple(row[k] for k in keys)]
        for name in row.keys() - set(keys) - {"run", "topic", "grade"}:
            if name in ("archetype", "tied_for_first", "a", "b"):
                assert str(expected[name]) == row[name]
            else:
                assert _number(row[name]) == pytest.approx(_number(expected[name]), abs=1e-12, nan_ok=True), (
                    name
                )


def test_the_commands_of_orders_draw_what_the_page_has(
    open_page: Open, collection_page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, until: Until
) -> None:
    monkeypatch.chdir(tmp_path)
    page = open_page(collection_page, "view=orders&measure=nDCG@10")
    n_columns = {"measures": 8, "cutoffs": 6, "pools": 7, "samples": 9}
    for across, columns in n_columns.items():
        page.evaluate("across => { rankscope.state.across = across; }", across)
        until(page, f"document.querySelector('.save pre').textContent.includes('--across {across}')")
        shown = _data(page)
        words = shlex.split(page.locator(".save pre").first.text_content())
        drawn = [words[k + 1] for k, word in enumerate(words) if word == "--highlight"]
        assert drawn == page.evaluate("rankscope.state.runs.map((r) => rankscope.data.runs[r])")
        assert main([*words[1:-1], "ranks.svg", "--quiet"]) == 0
        assert Path("ranks.svg").read_bytes().startswith(b"<?xml")
        expected = {(row["run"], row["by"]): row for row in _rows(Path("ranks.csv").read_text())}
        assert len(shown) == len(expected) == 8 * columns
        assert list(dict.fromkeys(row["by"] for row in shown)) == list(
            dict.fromkeys(by for _, by in expected)
        )
        for row in shown:
            for name in ("value", "rank"):
                assert float(row[name]) == pytest.approx(
                    float(expected[row["run"], row["by"]][name]), abs=1e-12
                )


def test_the_commands_of_coverage_draw_what_the_page_has(
    open_page: Open, aspects_page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    page = open_page(aspects_page, "view=coverage&topic=103")
    commands = page.locator("details.save pre").all_text_contents()
    assert len(commands) == 2
    for place, (command, keys) in enumerate(zip(commands, (("run", "rank"), ("aspect", "run")), strict=True)):
        words = shlex.split(command)
        shown = _data(page, place)
        assert main([*words[1:-1], "figure.svg", "--quiet"]) == 0
        assert Path("figure.svg").read_bytes().startswith(b"<?xml")
        rows = _rows(Path(words[words.index("-o") + 1]).read_text())
        by_key = {tuple(row[key] for key in keys): row for row in rows}
        assert len(shown) == len(by_key) > 10
        for row in shown:
            expected = by_key[tuple(row[key] for key in keys)]
            if place == 0:
                assert float(row["value"]) == pytest.approx(float(expected["value"]), abs=1e-12)
            else:
                assert row["rank"] == expected["rank"] and row["topic"] == expected["topic"] == "103"


def _run_command(command: str) -> None:
    words = shlex.split(command)
    plot = words.index("--plot") if "--plot" in words else len(words)
    assert main([*words[1:plot], *words[plot + 2 :], "--quiet"]) == 0


def test_commands_reproduce_the_data_of_views_of_several_figures(
    open_page: Open, study_page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, until: Until
) -> None:
    monkeypatch.chdir(tmp_path)
    page = open_page(study_page, "view=map&measure=nDCG@10")

    def read_figures(view: str) -> list[tuple[str, list[dict[str, str]]]]:
        page.evaluate("fragment => { location.hash = fragment; }", f"view={view}&measure=nDCG@10")
        until(page, f"rankscope.state.view === {view.split('&')[0]!r}")
        page.locator("details.save").first.wait_for()
        commands = page.locator("details.save pre").all_text_contents()
        return [(command.splitlines()[-1], _data(page, k)) for k, command in enumerate(commands)]

    findings = read_figures("runs")[1:]
    kinds = page.locator("article[data-kind]").evaluate_all("all => all.map(e => e.dataset.kind)")
    assert len({command for command, _ in findings}) == 1 and len(kinds) == len(findings)
    _run_command(findings[0][0])
    tables = json.loads((tmp_path / "findings.json").read_text())["tables"]
    assert [row["kind"] for row in tables["findings"]] == kinds
    for row, (_, rows) in zip(tables["findings"], findings, strict=True):
        for actual, expected in zip(rows, tables[row["evidence"]], strict=False):
            for name, value in actual.items():
                _same(value, expected[name])

    command, topics = read_figures("map")[-1]
    _run_command(command)
    values: dict[str, list[float]] = {}
    for row in _rows((tmp_path / "topics.csv").read_text()):
        if row["topic"] not in ("all", ""):
            values.setdefault(row["topic"], []).append(float(row["value"]))
    assert len(topics) == len(values) == 12
    for row in topics:
        own = sorted(values[row["topic"]])
        for name, value in (("lowest", own[0]), ("median", np.median(own)), ("highest", own[-1])):
            assert float(row[name]) == pytest.approx(value, abs=1e-12)

    _, rows = read_figures("versus&topic=302")[1]
    commands = page.locator("details.save pre").nth(1).text_content().splitlines()
    runs = list(dict.fromkeys(row["run"] for row in rows))
    assert len(commands) == len(runs) == 2
    for command, run in zip(commands, runs, strict=True):
        _run_command(command)
        actual = {row["rank"]: row for row in _rows((tmp_path / "curve.csv").read_text())}
        own = [row for row in rows if row["run"] == run]
        assert len(own) > 5
        for row in own:
            for name in row.keys() & {"crp", "dcg", "ideal_dcg"}:
                assert float(row[name]) == pytest.approx(float(actual[row["rank"]][name]), abs=1e-12)

    figures = read_figures("study")
    assert len({command for command, _ in figures}) == 1
    _run_command(figures[0][0])
    written = tmp_path / "again" / "tables"
    again = {
        name: _rows((written / f"{name}.csv").read_text()) for name in ("correlations", "robustness", "power")
    }
    names = [rows[0].keys() for _, rows in figures]
    assert len(names) == 5 and names[1:4] == [{"series": "", "x": "", "y": ""}.keys()] * 3
    by_pair = {(row["a"], row["b"], row["method"]): float(row["value"]) for row in again["correlations"]}
    for row in figures[0][1]:
        assert float(row["value"]) == pytest.approx(by_pair[row["a"], row["b"], row["method"]], abs=1e-9)
    for row in figures[1][1]:
        own = [
            float(r["tau"])
            for r in again["robustness"]
            if r["measure"] == row["series"] and float(r["pool"]) == float(row["x"])
        ]
        assert own and float(row["y"]) == pytest.approx(float(np.mean(own)), abs=1e-9)
    for row, other in zip(figures[4][1], again["power"], strict=True):
        assert row["measure"] == other["measure"] and float(row["power"]) == pytest.approx(
            float(other["power"])
        )


def test_commands_are_about_the_slice_and_the_group_that_charts_show(
    open_page: Open, study_page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, until: Until
) -> None:
    monkeypatch.chdir(tmp_path)
    page = open_page(study_page, "view=runs&measure=nDCG@10")
    page.evaluate("rankscope.state.setSlice({attribute: 1, slice: 0}); rankscope.state.group = 0;")
    topics = page.evaluate("rankscope.data.slices[1].slices[0].topics.map((t) => rankscope.data.topics[t])")
    runs = page.evaluate("rankscope.data.runs.filter((_, r) => rankscope.data.groupOf(r) === 0)")
    assert 2 <= len(topics) < 12 and 1 <= len(runs) < 8
    until(page, "document.querySelector('.save pre').textContent.includes('--topics')")
    page.locator("td.ranks", has_text=re.compile(r"\d")).first.wait_for()
    _run_command(page.locator(".save pre").first.text_content())
    board = {row["run"]: row for row in _rows(Path("runs.csv").read_text())}
    shown = _data(page)
    assert len(shown) == len(board) == len(runs)
    for row in shown:
        for name in ("value", "topics", "low", "high", "first_rank", "last_rank"):
            assert _number(row[name]) == pytest.approx(_number(board[row["run"]][name]), abs=1e-12), name
    for view, file, of_group in (
        ("map", "scores.csv", True),
        ("archetypes", "archetypes.json", True),
        ("orders", "ranks.csv", False),
    ):
        page.evaluate("view => { rankscope.state.view = view; }", view)
        until(page, "document.querySelector('.save pre').textContent.includes('--topics')")
        _run_command(page.locator(".save pre").first.text_content())
        text = Path(file).read_text()
        rows = json.loads(text)["tables"]["archetypes"] if file.endswith("json") else _rows(text)
        assert {row["run"] for row in rows} == set(runs if of_group else page.evaluate("rankscope.data.runs"))
        if view != "orders":
            assert {row["topic"] for row in rows} - {"all", ""} == set(topics)
        else:
            expected = {(row["run"], row["by"]): float(row["value"]) for row in rows}
            for row in _data(page):
                assert float(row["value"]) == pytest.approx(expected[row["run"], row["by"]], abs=1e-12)


def test_the_command_of_differences_on_topics_draws_them(
    open_page: Open, collection_page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, until: Until
) -> None:
    monkeypatch.chdir(tmp_path)
    page = open_page(collection_page, "view=map&measure=nDCG@10")
    page.evaluate("rankscope.state.baseline = 2")
    until(page, "document.querySelector('.save pre').textContent.includes('--baseline')")
    words = shlex.split(page.locator(".save pre").first.text_content())
    base = page.evaluate("rankscope.data.runs[2]")
    assert words[words.index("--baseline") + 1] == base
    assert main([*words[1:-1], "map.svg", "--quiet"]) == 0
    assert f"difference in nDCG@10 from {base}" in Path("map.svg").read_text()


def test_files_have_as_many_rows_as_asked_for(open_page: Open, tmp_path: Path) -> None:
    """The page shows forty of many runs; the caption of a file counts all of them."""
    topics = {f"q{k}": {"d1": 1, "d2": 1} for k in range(4)}
    runs = {f"run-{k:03}": {t: [f"d{(k * 7 + i) % 11}" for i in range(9)] for t in topics} for k in range(70)}
    page = open_page(rs.report(rs.Collection(topics, runs), tmp_path / "r.html"), "view=runs")
    page.locator("details.save summary").first.click()
    page.locator("details.save p.note", has_text="Shown").first.wait_for()
    caption, _ = _save_figure(page)
    assert caption.endswith("Shown: the first 20 of 70 rows, and chosen runs.")
    page.get_by_label("Rows at most").first.fill("30")
    svg = _export(page, "SVG").decode()
    assert len(re.findall(r">run-\d{3}<", svg)) == 30
    assert page.locator(".board tbody tr").count() == 40


@pytest.mark.product(2)
@pytest.mark.parametrize("kind", ["archetype", "topic", "recall base", "group"])
def test_commands_reproduce_split_planes(
    open_page: Open, study_page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.chdir(tmp_path)
    page = open_page(study_page, f"view=plane&measure=nDCG@10&facet={kind}")
    index = page.locator("details.save").count() - 1
    rows = _data(page, index)
    commands = page.locator("details.save pre").nth(index).text_content().splitlines()
    assert "--plot" in commands[0] and f"--facet {kind.replace(' ', '-')}" in commands[0]
    for command in commands:
        _run_command(command)
    words = shlex.split(commands[0])
    assert main([*words[1:-1], "planes.svg", "--quiet"]) == 0
    values = {(r["run"], r["topic"], r["measure"]): r["value"] for r in _rows(Path("planes.csv").read_text())}
    assert len(rows) == 96
    for row in rows:
        for measure in ("Twist", "nDCG@10"):
            expected = float(values[row["run"], row["topic"], measure])
            assert float(row[measure]) == pytest.approx(expected, abs=1e-12)
    if kind in ("archetype", "recall base"):
        tables = json.loads(Path("classes.json").read_text())["tables"]
        of = {
            (r["run"], r["topic"]): r for r in tables["archetypes" if kind == "archetype" else "indicators"]
        }
        for row in rows:
            expected = of[row["run"], row["topic"]]
            if kind == "archetype":
                assert row["archetype"] == expected["archetype"]
            else:
                (most,) = re.findall(r"[\d,]+", row["recall base"])
                assert expected["recall_base"] <= int(most.replace(",", ""))
    elif kind == "topic":
        assert all(row["plane"] == row["topic"] for row in rows)
    else:
        assert {row["run"].split("-")[0]: row["group"] for row in rows} == {
            "boolean": "boolean", "dense": "dense", "feedback": "feedback", "graph": "graph",
            "hybrid": "no group", "lexical": "no group", "reranked": "no group",
        }  # fmt: skip


def _same(shown: str, known: Any) -> None:
    """A cell of a CSV of the page, and the value that a command has for it."""
    if isinstance(known, bool) or known is None or isinstance(known, str):
        assert shown == ("" if known is None else str(known).lower() if isinstance(known, bool) else known)
    else:
        assert float(shown) == pytest.approx(known, abs=1e-12)


def test_a_slide_begins_at_its_top_and_has_no_controls(
    open_page: Open, settled: Settled, collection_page: Path
) -> None:
    page = open_page(collection_page, "view=map")
    page.evaluate("scrollTo(0, 400)")
    page.evaluate("rankscope.state.talk = true")
    settled(page)
    assert page.evaluate("[scrollY, document.getElementById('page').scrollTop]") == [0, 0]
    assert page.locator("nav").is_hidden() and page.locator(".controls").first.is_hidden()
    assert page.locator("main h2").first.is_visible() and page.locator("main figure").first.is_visible()


def test_names_that_the_page_cuts_are_cut_in_the_figure(open_page: Open, tmp_path: Path) -> None:
    from rankscope.reporting import report

    long = "a-very-long-name-of-a-run-that-no-column-has-room-for"
    runs = {name: {"q1": ["a", "b"], "q2": ["b", "a"]} for name in (long, "short")}
    page = open_page(
        report(rs.Collection({"q1": {"a": 1}, "q2": {"a": 1}}, runs), tmp_path / "r.html"), "view=runs"
    )
    page.locator("details.save summary").first.click()
    root = ElementTree.fromstring(_saved(page, "SVG"))
    texts = [element.text or "" for element in root.iter(f"{SVG}text")]
    assert "short" in texts and long not in texts
    cut = [text.partition("…") for text in texts if "…" in text]
    assert [head for head, _, tail in cut if head and tail and long.startswith(head) and long.endswith(tail)]


def test_talk_mode_has_the_shape_of_a_slide(
    open_page: Open, collection_page: Path, read_state: State
) -> None:
    page = open_page(collection_page, "view=runs&talk=on")
    box = page.locator("#page").bounding_box()
    assert box["width"] / box["height"] == pytest.approx(16 / 9, abs=0.01)
    assert page.locator("footer").is_hidden()
    page.keyboard.press("PageDown")
    assert read_state(page)["view"] == ["map"]
    assert read_state(page)["talk"] == ["on"]
    page.keyboard.press("Escape")
    assert "talk" not in read_state(page)
    assert page.locator("footer").is_visible()
