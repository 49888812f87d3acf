"""State shared by all views (baseline, groups, brush), and the views that compare across runs."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pytest

import rankscope as rs
from rankscope.reporting import report
from rankscope.simulation import simulate

Open = Callable[..., Any]
State = Callable[[Any], dict[str, list[str]]]
Until = Callable[[Any, str], None]


@pytest.fixture(scope="module")
def teams_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Eight runs of two teams, one of them in none."""
    folder = tmp_path_factory.mktemp("teams")
    simulate(systems=8, topics=14, grades=3, depth=60, seed=4, pool_depth=20).write(folder / "data")
    names = list(rs.read_runs(folder / "data" / "runs"))
    lines = [f"{name} {'north' if k % 2 else 'south'}" for k, name in enumerate(names[:7])]
    (folder / "teams.txt").write_text("\n".join(lines), "utf-8")
    return report(
        rs.evaluate(folder / "data" / "qrels.txt", folder / "data" / "runs", "AP ERR@20"),
        folder / "r.html",
        groups=folder / "teams.txt",
    )


def _data(page: Path) -> tuple[Path, Path]:
    return page.parent / "data" / "qrels.txt", page.parent / "data" / "runs"


def _csv(page: Any) -> list[dict[str, str]]:
    with page.expect_download() as download:
        page.get_by_role("button", name="Download CSV").click()
    return list(csv.DictReader(io.StringIO(Path(download.value.path()).read_text("utf-8"))))


def test_one_baseline_for_every_view(open_page: Open, teams_page: Path, read_state: State) -> None:
    page = open_page(teams_page, "view=runs")
    names = page.evaluate("rankscope.data.runs")
    base = names[2]
    page.get_by_label("Baseline").select_option(base)
    scores = rs.evaluate(*_data(teams_page), "AP")
    expected = {row["a"]: row for row in rs.compare(scores, base)["pairs"].records()}
    rows = _csv(page)
    assert len(expected) == 7 and len(rows) == 8
    for row in rows:
        if row["run"] == base:
            continue
        pair = expected[row["run"]]
        assert row["baseline"] == base
        for column, field in (
            ("difference", "difference"),
            ("difference_low", "low"),
            ("difference_high", "high"),
            ("p", "p"),
            ("p_adjusted", "adjusted"),
            ("wins", "wins"),
            ("losses", "losses"),
        ):
            assert float(row[column]) == pytest.approx(pair[field], abs=1e-9), (row["run"], column)
    filled = page.locator("tbody tr.first th button").all_inner_texts()
    assert set(filled) == {run for run, pair in expected.items() if pair["significant"]}
    assert page.locator("tbody tr", has=page.locator(".base")).locator("th button").all_inner_texts() == [
        base
    ]
    # head to head: B is the baseline, and another B becomes it
    page.locator("nav a", has_text="Head to head").click()
    selected = page.evaluate("rankscope.data.runs[rankscope.state.runs[0]]")
    other = selected if selected != base else names[0]
    verdict = " ".join(page.locator("[data-versus=verdict]").inner_text().split())
    assert f"against ◆ baseline {base} by AP" in verdict
    value = expected.get(other, {}).get("difference")
    assert value is None or f"{abs(value):.4f}" in verdict
    # per topic: differences from it
    page.locator("nav a", has_text="Topics").click()
    matrix = scores.matrix("AP").values
    run, topic = page.evaluate("[rankscope.state.runs[0], rankscope.state.topic]")
    reading = page.locator("output.reading").inner_text().replace("−", "-")
    shown = re.search(r"([+-]?[\d.]+) from ◆", reading)
    assert shown and float(shown[1]) == pytest.approx(matrix[run, topic] - matrix[2, topic], abs=6e-5)
    # a link keeps it
    assert read_state(page)["baseline"] == [base]
    again = open_page(teams_page, urlsplit(page.url).fragment)
    assert again.get_by_label("Baseline").input_value() == "2"
    assert again.locator(".map text .base").count() == 1


def test_groups_filter_and_colour(open_page: Open, teams_page: Path, read_state: State) -> None:
    page = open_page(teams_page, "view=runs")
    names = page.evaluate("rankscope.data.runs")
    page.get_by_label("Group").select_option(label="north (3)")
    shown = page.locator(".board tbody th button").all_inner_texts()
    assert sorted(shown) == sorted(names[1:7:2])
    page.evaluate("rankscope.state.open('archetypes')")
    assert page.locator(".bars > button").count() == 3
    assert read_state(page)["group"] == ["north"]
    page.get_by_role("button", name="Show all groups").click()
    page.evaluate("rankscope.state.open('plane')")
    page.get_by_label("Colour by").select_option("group")
    legend = page.locator("figure .legend").first.inner_text()
    topics = page.evaluate("rankscope.data.topics.length")
    counts = {name.strip(): int(n) for name, n in re.findall(r"([a-z ]+) \((\d+)\)", legend)}
    assert counts == {"south": 4 * topics, "north": 3 * topics, "no group": topics}
    page.get_by_label("Split by").select_option("group")
    planes = page.locator(".facet")
    assert planes.count() == 3
    page.get_by_label("Split by").select_option("topic")
    assert page.locator(".facet").count() == topics


def test_the_brush_filters_every_view(open_page: Open, teams_page: Path, read_state: State) -> None:
    page = open_page(teams_page, "view=plane")
    box = page.locator(".overlay").bounding_box()
    page.mouse.move(box["x"] + 2, box["y"] + 0.8 * box["height"])
    page.mouse.down()
    page.mouse.move(box["x"] + 0.4 * box["width"], box["y"] + box["height"] - 2, steps=4)
    page.mouse.up()
    scores = rs.evaluate(*_data(teams_page), ["AP", "Twist"])
    gain, effort = scores.matrix("AP").values, scores.matrix("Twist").values
    x0, x1, y0, y1 = map(float, read_state(page)["brush"][0].split(","))
    inside = (effort >= x0) & (effort <= x1) & (gain >= y0) & (gain <= y1)
    assert 0 < inside.sum() < inside.size
    chip = page.locator("[data-chip=brush]")
    assert f"{inside.sum()} ranking" in chip.inner_text()
    page.locator("nav a", has_text="Leaderboard").click()
    page.locator(".controls select").first.select_option("P@10")  # the brush stays what it was
    kept = page.locator(".board tbody th button").all_inner_texts()
    assert sorted(kept) == sorted(np.array(scores.runs)[inside.any(axis=1)].tolist())
    page.evaluate("rankscope.state.open('archetypes')")
    total = page.locator("section:first-of-type tbody td:nth-child(3)").all_inner_texts()
    assert sum(int(n) for n in total) == inside.sum()
    page.locator("nav a", has_text="Rankings").click()
    offered = page.locator(".topic select option").all_text_contents()
    expected = set(np.array(scores.topics)[inside.any(axis=0)].tolist())
    assert expected <= set(offered) and len(offered) <= len(expected) + 1
    assert read_state(page)["brushed"] == ["AP"]
    again = open_page(teams_page, urlsplit(page.url).fragment)
    assert f"{inside.sum()} ranking" in again.locator("[data-chip=brush]").inner_text()
    again.get_by_role("button", name="Show all lists").click()
    assert again.locator("[data-chip]").count() == 0
    assert "brush" not in read_state(again)


def test_rows_that_collapse_are_explained_and_density_has_lines(open_page: Open, teams_page: Path) -> None:
    page = open_page(teams_page, "view=plane&measure=RR&contours=on")
    values = rs.evaluate(*_data(teams_page), "RR").matrix("RR").values.ravel()
    quartiles = np.quantile(values, [0.25, 0.5, 0.75])
    assert quartiles[1] == quartiles[2] == 1.0, "the example has ties"
    note = page.locator(".ties").inner_text()
    assert f"{(values == 1).sum()} rankings of {values.size}" in note
    assert "“high”" in note
    lines = page.locator("path.level")
    assert lines.count() == 3
    boxes = [
        lines.nth(k).evaluate("e => { const b = e.getBBox(); return b.width * b.height }") for k in range(3)
    ]
    assert boxes[0] >= boxes[1] >= boxes[2] > 0
    page.get_by_label("density lines").uncheck()
    assert lines.count() == 0


def _ranks(means: Any) -> Any:
    return [((means > one).sum() + 1 + (means >= one).sum()) / 2 for one in means]


def test_ranks_across_cutoffs_pools_and_samples(open_page: Open, teams_page: Path) -> None:
    page = open_page(teams_page, "view=orders&measure=nDCG@10")
    run = page.evaluate("rankscope.state.runs[0]")

    def places() -> list[float]:
        positions = page.locator("figure svg circle").evaluate_all(
            "all => all.map(c => +c.getAttribute('cy'))"
        )
        return [y / 18 + 0.5 for y in positions]

    def names() -> list[str]:
        return page.locator("#changes-title ~ div tbody th").all_inner_texts()

    page.get_by_label("Ranks across").select_option("cutoffs")
    measures = names()
    assert measures == [f"nDCG@{k}" for k in (5, 20, 50, 100, 1000)]
    scores = rs.evaluate(*_data(teams_page), ["nDCG@10", *measures])
    assert places() == [_ranks(scores.mean(name))[run] for name in ["nDCG@10", *measures]]
    page.get_by_label("Ranks across").select_option("pools")
    pool_means = rs.pools(
        rs.evaluate(*_data(teams_page), "nDCG@10"), pool_depth=(20, 10, 5), ratios=(50, 20, 10)
    )["means"].records()
    pools = list(dict.fromkeys(row["pool"] for row in pool_means))
    assert names() == ["depth 20", "depth 10", "depth 5", "50%", "20%", "10%"]
    assert places() == [
        _ranks(np.array([row["value"] for row in pool_means if row["pool"] == one]))[run] for one in pools
    ]
    page.get_by_label("Ranks across").select_option("samples")
    from rankscope.analysis.stats.intervals import drawn_topics

    samples = np.concatenate(list(drawn_topics(14, 1000)))[:8]
    values = scores.matrix("nDCG@10").values
    drawn = [values[:, sample].mean(axis=1).round(12) for sample in samples]
    assert places() == [_ranks(means)[run] for means in [scores.mean("nDCG@10"), *drawn]]


def test_coverage_of_aspects_by_rank(open_page: Open, until: Until, tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    lines = [
        f"{topic} {aspect} d{document} {int(rng.random() < 0.12)}"
        for topic in ("1", "2", "3")
        for aspect in range(1, 6)
        for document in range(40)
    ]
    (tmp_path / "qrels.txt").write_text("\n".join(lines), "utf-8")
    runs = {
        name: {t: {f"d{d}": float(rng.random()) for d in range(40)} for t in ("1", "2", "3")}
        for name in "abc"
    }
    path = report(rs.evaluate(tmp_path / "qrels.txt", runs, "alpha_nDCG@20 StRec@10"), tmp_path / "r.html")
    page = open_page(path, "view=runs")
    assert page.locator("h2").first.inner_text() == "Leaderboard by alpha_nDCG@20", "measures of aspects lead"
    page.evaluate("rankscope.state.open('coverage')")
    for run in (0, 1, 2):
        page.evaluate("r => { rankscope.state.runs = [r] }", run)
        shown = page.locator("[data-coverage=reading] b").first.inner_text()
        expected = rs.evaluate(tmp_path / "qrels.txt", runs, "StRec@10").mean("StRec@10")[run]
        assert float(shown) == pytest.approx(expected, abs=6e-5)
    first = page.evaluate("Array.from(rankscope.data.firstRanks(0))")
    ranked = sorted(runs["a"]["1"], key=lambda d: -runs["a"]["1"][d])
    relevant: dict[str, set[str]] = {}
    for line in lines:
        topic, aspect, document, grade = line.split()
        if topic == "1" and grade == "1":
            relevant.setdefault(aspect, set()).add(document)
    assert first == [min(ranked.index(d) for d in found) + 1 for _, found in sorted(relevant.items())]
    page.set_viewport_size({"width": 390, "height": 844})
    until(page, "document.documentElement.scrollWidth <= 390")


def test_curves_say_what_is_under_the_pointer(open_page: Open, teams_page: Path) -> None:
    page = open_page(teams_page, "view=versus")
    chart = page.locator("[data-chart=versus-CRP]")
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 60)
    a, b = (
        page.evaluate("k => rankscope.data.runs[+document.querySelectorAll('.controls select')[k].value]", k)
        for k in (0, 1)
    )
    match = re.fullmatch(
        r"rank (\d+): A (\S+), B (\S+)", chart.locator("text.tip").text_content().replace("−", "-")
    )
    assert match
    qrels, runs = _data(teams_page)
    topic = page.evaluate("rankscope.data.topics[rankscope.state.topic]")
    for name, shown in ((a, match[2]), (b, match[3])):
        curve = rs.curve(rs.Collection(qrels, runs / f"{name}.txt"), None, topic, cutoff=1000)
        assert curve.crp[int(match[1]) - 1] == int(shown)
    page.evaluate("rankscope.state.view = 'whatif'; rankscope.state.edits = 'm9-1'")
    chart = page.locator("main figure svg").first
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 60)
    assert re.match(r"rank \d+: before \S+, now \S+", chart.locator("text.tip").text_content())


def test_lists_of_runs_and_topics_have_what_the_filters_leave(open_page: Open, teams_page: Path) -> None:
    page = open_page(teams_page, "view=map&group=north&brush=0,0.3,0,0.2&brushed=AP")
    kept = page.evaluate(
        "[rankscope.data.runs.filter((_, r) => rankscope.state.keepsRun(r)), "
        "rankscope.data.topics.filter((_, t) => rankscope.state.keepsTopic(t))]"
    )
    assert 0 < len(kept[1]) < 14
    assert page.locator("#topics ~ figure tbody th").all_inner_texts() == kept[1]
    page.locator("nav a", has_text="Head to head").click()
    offered = set(page.locator(".controls select").first.locator("option").all_text_contents())
    assert set(kept[0]) <= offered and len(offered) <= len(kept[0]) + 2
