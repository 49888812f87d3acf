"""The page in a real browser: reading it, drilling down, sharing a view."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
from scipy import stats

import rankscope as rs
from rankscope.reporting import report
from rankscope.simulation import simulate

Open = Callable[..., Any]
State = Callable[[Any], dict[str, list[str]]]
Until = Callable[[Any, str], None]
Settled = Callable[[Any], None]
Views = Callable[[Any], list[str]]


def _point(page: Any, name: str = "AP", index: int = 0) -> tuple[float, float, int]:
    """Return the position of list ``index`` in the plane, in pixels of the window."""
    box = page.locator(".overlay").bounding_box()
    x, y = page.evaluate(
        """([name, i]) => {
            const {data} = rankscope;
            const gain = data.values(name, data.defaults);
            const top = Math.ceil(10 * Math.max(...gain) - 1e-9) / 10;
            return [data.values('Twist', data.defaults)[i], gain[i] / top];
        }""",
        [name, index],
    )
    return box["x"] + x * box["width"], box["y"] + (1 - y) * box["height"], index


def _lonely(page: Any) -> int:
    """A list whose point in the plane has no other within some distance."""
    return int(
        page.evaluate(
            """() => {
                const {data} = rankscope;
                const x = data.values('Twist', data.defaults), y = data.values('AP', data.defaults);
                let best = 0, most = -1;
                for (let i = 0; i < x.length; i++) {
                    let least = Infinity;
                    for (let j = 0; j < x.length; j++)
                        if (i !== j) least = Math.min(least, Math.hypot(x[i] - x[j], y[i] - y[j]));
                    if (least > most) { most = least; best = i; }
                }
                return best;
            }"""
        )
    )


def test_an_address_of_a_former_view_opens_its_place(open_page: Open, study_page: Path, until: Until) -> None:
    page = open_page(study_page)
    assert page.evaluate("rankscope.state.view") == "runs", "the leaderboard is the first screen"
    assert page.locator("nav[aria-label=Views] a").count() <= 8
    for name, view, title in (
        ("findings", "runs", "Key findings"),
        ("summary", "runs", "The collection"),
        ("indicators", "archetypes", "CRP indicators, topic by topic"),
    ):
        page.evaluate("name => { location.hash = `view=${name}`; }", name)
        until(page, f"rankscope.state.view === {view!r} && scrollY > 0")
        top = page.get_by_role("heading", name=title).bounding_box()["y"]
        assert -5 <= top < 850, name
        page.evaluate("scrollTo(0, 0)")


def test_the_skip_link_leads_to_the_view(open_page: Open, collection_page: Path) -> None:
    page = open_page(collection_page)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent").startswith("Skip")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "view"


def test_tiers_and_rank_intervals_are_those_of_the_leaderboard(
    open_page: Open, tmp_path: Path, until: Until
) -> None:
    """Tiers by the t tests and Holm's correction of Python, of all runs and among those of a group."""
    generated = simulate(systems=24, topics=40, grades=2, depth=60, seed=11)
    groups = {run: "north" if k % 2 else "south" for k, run in enumerate(generated.runs)}
    path = rs.report(
        rs.evaluate(generated.qrels, generated.runs, "AP RR"), tmp_path / "r.html", groups=groups
    )
    page = open_page(path)
    for measure in ("AP", "RR", "Twist"):
        page.evaluate("measure => { rankscope.state.measure = measure; }", measure)
        for group in (None, "north"):
            page.evaluate("group => { rankscope.state.group = group === null ? null : 1; }", group)
            kept = [run for run in generated.runs if group is None or groups[run] == group]
            scores = rs.evaluate(generated.qrels, {run: generated.runs[run] for run in kept}, measure)
            board = {row.run: row for row in rs.leaderboard(scores).leaderboard}
            until(page, "document.querySelector('td.ranks').textContent !== '…'")
            rows = page.locator(".board tbody tr").evaluate_all(
                "all => all.map(row => ['th', '.tier', '.ranks'].map(c => row.querySelector(c).textContent.trim()))"
            )
            assert [row[0] for row in rows] == list(board), "ranks within the group"
            for run, tier, ranks in rows:
                assert (tier, ranks) == (str(board[run].tier), board[run].rank_range), (measure, run)
            if measure == "AP":
                assert len({tier for _, tier, _ in rows}) > 2


def test_tiers_of_many_runs_follow_the_first_view(open_page: Open, tmp_path: Path, until: Until) -> None:
    rng = np.random.default_rng(5)
    values = rng.random((210, 8)) / 5 + rng.random((210, 1))
    scores = rs.read_scores(
        {
            "run": [f"run{r}" for r in range(210) for _ in range(8)],
            "topic": [f"t{t}" for _ in range(210) for t in range(8)],
            "AP": values.ravel().tolist(),
        }
    )
    page = open_page(rs.report(scores, tmp_path / "many.html"))
    read = "[...document.querySelectorAll('td.tier')].map(cell => cell.textContent)"
    page.evaluate("rankscope.state.measure = 'AP'; rankscope.state.filter = 'run1'")
    until(page, f"{read}.length > 1 && !{read}.includes('…')")
    board = {row.run: row for row in rs.leaderboard(scores).leaderboard}
    names = page.locator(".board tbody th").evaluate_all("all => all.map(one => one.textContent.trim())")
    assert page.evaluate(read) == [str(board[name].tier) for name in names]
    assert len(set(page.evaluate(read))) > 1
    until(page, "document.querySelector('td.ranks').textContent !== '…'")
    # another order of all runs waits again, while the names are there
    shown = page.evaluate(
        f"""async () => {{
            rankscope.state.settings = {{...rankscope.state.settings, subset: {{key: 'few', topics: [0, 1, 2]}}}};
            await new Promise(requestAnimationFrame);
            return {read};
        }}"""
    )
    assert set(shown) == {"…"}
    until(page, f"!{read}.includes('…')")


def test_best_of_a_group_is_the_baseline_in_one_click(open_page: Open, study_page: Path) -> None:
    page = open_page(study_page)
    group = page.evaluate("rankscope.data.groups.names[1]")
    page.get_by_role("group", name="Compare with the best of").get_by_text(group, exact=True).click()
    best = page.evaluate(
        """() => {
            const {data: d, state: s} = rankscope;
            return d.bestFirst(s.measure, d.means(s.measure, s.settings)).find(r => d.groupOf(r) === 1);
        }"""
    )
    assert page.evaluate("rankscope.state.baseline") == best
    # an interval excludes zero exactly if the run differs from the baseline
    rows = page.evaluate("rankscope.data.against('AP', rankscope.state.settings, rankscope.state.baseline)")
    for r, row in enumerate(rows):
        if r != best:
            assert (row["adjustedLow"] > 0 or row["adjustedHigh"] < 0) == (row["adjusted"] < 0.05)
    assert {row["adjusted"] < 0.05 for r, row in enumerate(rows) if r != best} == {True, False}


def test_the_leaderboard_never_overflows(open_page: Open, study_page: Path, until: Until) -> None:
    page = open_page(study_page, "view=runs")
    names = page.evaluate("rankscope.data.measures.map(m => m.name)")
    for width in (1440, 700, 390):
        page.set_viewport_size({"width": width, "height": 900})
        for columns in (None, names):
            page.evaluate("columns => { rankscope.state.columns = columns; }", columns)
            until(page, "document.documentElement.scrollWidth <= innerWidth")
        assert page.get_by_role("button", name="Copy link").bounding_box()["height"] < 50, "on one line"
    page.locator(".scroll:has(.board)").evaluate("e => { e.scrollLeft = 500; }")
    left = page.locator(".board tbody th").first.bounding_box()["x"]
    assert left >= page.locator(".scroll:has(.board)").bounding_box()["x"] - 1, "names stay in sight"
    page.evaluate("rankscope.state.columns = null")
    page.set_viewport_size({"width": 1440, "height": 900})
    page.get_by_text("Columns", exact=True).click()
    page.get_by_label("RR", exact=True).check()
    assert page.locator(".board thead th", has_text="RR").count() == 1


def test_many_runs_are_cut_and_chosen_ones_stay(open_page: Open, tmp_path: Path) -> None:
    generated = simulate(systems=70, topics=5, depth=10, seed=2, pool_depth=5)
    page = open_page(rs.report(rs.evaluate(generated.qrels, generated.runs, "AP"), tmp_path / "r.html"))
    assert page.locator(".board tbody tr").count() == 40
    page.evaluate(
        "const {state: s, data: d} = rankscope; s.baseline = d.bestFirst('AP', d.means('AP', s.settings))[69]"
    )
    assert page.locator(".board tbody tr").count() == 41
    page.get_by_role("button", name="Show all 70 runs").click()
    assert page.locator(".board tbody tr").count() == 70


def test_shortened_names_stay_distinct(open_page: Open, tmp_path: Path) -> None:
    names = [f"a-long-prefix-of-a-run-{k}-and-a-long-common-end-of-it" for k in ("one", "two", "three")] + [
        "b"
    ]
    runs = {name: {"q": {"d": 1.0}} for name in names}
    page = open_page(rs.report(rs.Collection({"q": {"d": 1}}, runs), tmp_path / "r.html"))
    for letters in (12, 20, 30, 80):
        short = page.evaluate("n => rankscope.data.runs.map((_, r) => rankscope.data.short(r, n))", letters)
        assert len(set(short)) == len(names)
        assert all(len(name) <= letters for name in short)
        assert not any("#" in name for name in short)
        assert short == names if letters == 80 else all("…" in name for name in short[:3])
    # Two groups whose names end alike: names of the second show what differs from the first.
    names = [f"indri_{model}_{part}-filtered" for part in ("cata", "catb") for model in ("rm", "ql")]
    runs = {name: {"q": {"d": 1.0}} for name in names}
    page = open_page(rs.report(rs.Collection({"q": {"d": 1}}, runs), tmp_path / "alike.html"))
    for letters in (14, 17, 20):
        short = page.evaluate("n => rankscope.data.runs.map((_, r) => rankscope.data.short(r, n))", letters)
        assert len(set(short)) == 4
        assert all("rm" in name for name in short[0::2]) and all("ql" in name for name in short[1::2])
        assert {len(name) for name in short} == {letters}


def test_a_share_that_rounds_to_zero_has_no_sign(open_page: Open, tmp_path: Path) -> None:
    """The order of the runs on the last topic is nearly the opposite: its share of the variance is negative."""
    values = {"good": [0.9, 0.8, 0.2000], "poor": [0.1, 0.2, 0.2002]}
    rows = [(run, f"t{t}", v) for run, one in values.items() for t, v in enumerate(one)]
    table = {name: [row[k] for row in rows] for k, name in enumerate(("run", "topic", "AP"))}
    page = open_page(rs.report(rs.read_scores(table), tmp_path / "r.html"), "view=map")
    cells = page.locator("main table td").all_inner_texts()
    assert "0.0%" in cells
    assert not [cell for cell in cells if cell in ("-0.0%", "−0.0%")]


def test_documents_of_a_changed_ranking_stay_distinct_on_a_narrow_screen(
    open_page: Open, tmp_path: Path, until: Until
) -> None:
    names = [f"clueweb09-en0011-54-{number:05}" for number in range(5)]
    runs = {"run": {"q": {name: float(rank) for rank, name in enumerate(names)}}}
    page = open_page(rs.report(rs.Collection({"q": {names[0]: 1}}, runs), tmp_path / "r.html"), "view=whatif")
    page.set_viewport_size({"width": 390, "height": 800})
    # names get shorter in the frame after that of the new width
    until(page, "[...document.querySelectorAll('.list .clip')].every(e => e.scrollWidth <= e.clientWidth)")
    shown = page.locator(".list .clip").all_inner_texts()
    assert len(set(shown)) == len(names)


def test_every_view_opens_without_error_or_request(
    open_page: Open, study_page: Path, aspects_page: Path, view: str
) -> None:
    page = open_page(aspects_page if view == "coverage" else study_page, f"view={view}")
    assert page.evaluate("rankscope.state.view") == view
    assert page.locator("nav a[aria-current=page]").count() == 1
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_plane_to_curves(open_page: Open, collection_page: Path, read_state: State) -> None:
    page = open_page(collection_page, "view=plane")
    index = _lonely(page)
    x, y, _ = _point(page, index=index)
    page.mouse.click(x, y)
    topics = page.evaluate("rankscope.data.topics.length")
    run, topic = page.evaluate(
        "i => [rankscope.data.runs[rankscope.data.runOf(i)], rankscope.data.topics[rankscope.data.topicOf(i)]]",
        index,
    )
    assert topics == 12
    article = page.get_by_role("article", name=f"{run} on topic {topic}", exact=True)
    article.wait_for()
    assert article.locator("svg[data-chart=crp] path.run").get_attribute("d").startswith("M")
    assert read_state(page)["run"] == [run]
    assert read_state(page)["topic"] == [topic]


def test_points_on_one_pixel_are_offered_by_name(open_page: Open, tmp_path: Path, read_state: State) -> None:
    same = {"q1": {"d1": 3.0, "d9": 2.0, "d2": 1.0}}
    report(
        rs.Collection({"q1": {"d1": 1, "d2": 1}}, {"one": same, "two": same, "three": same}),
        tmp_path / "r.html",
    )
    page = open_page(tmp_path / "r.html", "view=plane")
    x, y, _ = _point(page)
    page.mouse.click(x, y)
    offered = page.locator(".candidates button")
    assert offered.count() == 3
    offered.filter(has_text="three").click()
    assert read_state(page)["run"] == ["three"]


def test_brushing_the_plane(open_page: Open, collection_page: Path, read_state: State) -> None:
    page = open_page(collection_page, "view=plane")
    box = page.locator(".overlay").bounding_box()
    page.mouse.move(box["x"] + 2, box["y"] + 2)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, steps=4)
    page.mouse.up()
    heading = page.get_by_role("heading", name=re.compile("brushed point"))
    shown = int(heading.inner_text().split()[0].replace(",", ""))
    x0, x1, y0, y1 = map(float, read_state(page)["brush"][0].split(","))
    expected = page.evaluate(
        """([x0, x1, y0, y1]) => {
            const {data} = rankscope, x = data.values('Twist', data.defaults), y = data.values('AP', data.defaults);
            return x.filter((v, i) => v >= x0 && v <= x1 && y[i] >= y0 && y[i] <= y1).length;
        }""",
        [x0, x1, y0, y1],
    )
    assert shown == expected > 0
    page.locator(".overlay").focus()
    page.keyboard.press("Escape")
    assert "brush" not in read_state(page)


def test_cells_of_the_plane_are_those_of_the_definition(open_page: Open, collection_page: Path) -> None:
    page = open_page(collection_page, "view=plane")
    folder = collection_page.parent / "data"
    scores = rs.evaluate(folder / "qrels.txt", folder / "runs", ["AP", "Twist"])
    gain, effort = scores.matrix("AP").values.ravel(), scores.matrix("Twist").values.ravel()
    rows = np.searchsorted(np.quantile(gain, [0.25, 0.5, 0.75]), gain, side="left")
    columns = np.minimum(3, (effort * 4).astype(int))
    expected = [[int(((rows == g) & (columns == e)).sum()) for e in range(4)] for g in (3, 2, 1, 0)]
    shown = page.locator("table.cells td button").evaluate_all("all => all.map(b => parseInt(b.textContent))")
    assert [shown[4 * k : 4 * k + 4] for k in range(4)] == expected
    assert sum(shown) == len(gain)


def test_cells_of_tied_gains_are_those_of_the_analysis(open_page: Open, tmp_path: Path) -> None:
    """P@10 takes eleven values: many lists stand on a quartile, and quartiles coincide."""
    simulate(systems=9, topics=15, grades=2, depth=60, seed=5, pool_depth=20).write(tmp_path / "data")
    qrels, runs = tmp_path / "data" / "qrels.txt", tmp_path / "data" / "runs"
    page = open_page(report(rs.Collection(qrels, runs), tmp_path / "r.html"), "view=plane&measure=RR")
    for name in ("RR", "P@10", "Rprec"):
        result = rs.effort(rs.Collection(qrels, runs), [name])
        page.get_by_label("Gain measure").select_option(name)
        page.locator("h2", has_text=f"{name} against effort").wait_for()
        button = page.locator("table.cells td button")
        shown = button.evaluate_all("all => all.map(b => parseInt(b.textContent))")
        assert [shown[4 * k : 4 * k + 4] for k in range(4)] == result.plane(name)[::-1].tolist(), name
        alike = result.agreement.records()[0]["coincide"] is not None
        assert ("coincide" in page.locator(".below .note").first.inner_text()) == alike
        for index, expected in enumerate(shown):  # each cell brushes just its own points
            button.nth(index).click()
            heading = page.get_by_role("heading", name=re.compile("brushed point"))
            assert int(heading.inner_text().split()[0].replace(",", "")) == expected, (name, index)


def test_sorting_the_runs(open_page: Open, collection_page: Path) -> None:
    page = open_page(collection_page, "view=runs")

    def column(place: int) -> list[str]:
        return [
            text.strip() for text in page.locator(f".board tbody tr > :nth-child({place})").all_inner_texts()
        ]

    means = [float(v) for v in column(6)]
    assert means == sorted(means, reverse=True)
    page.get_by_role("button", name=re.compile("^AP")).click()
    assert [float(v) for v in column(6)] == sorted(means)
    assert page.locator("th[aria-sort=ascending]").count() == 1
    page.get_by_role("button", name=re.compile("^Run$")).click()
    assert column(2) == sorted(column(2))
    page.get_by_role("searchbox").fill("reranked")
    assert column(2) and all("reranked" in name for name in column(2))


def test_intervals_of_the_runs_and_who_is_tied_for_first(open_page: Open, collection_page: Path) -> None:
    page = open_page(collection_page, "view=runs")
    folder = collection_page.parent / "data"
    scores = rs.evaluate(folder / "qrels.txt", folder / "runs", "AP")
    values = scores.matrix("AP").values
    with page.expect_download() as download:
        page.get_by_role("button", name="Download CSV").click()
    rows = list(csv.DictReader(io.StringIO(Path(download.value.path()).read_text("utf-8"))))
    names = list(rs.read_runs(folder / "runs"))
    means = values.mean(axis=1)
    half = stats.t.ppf(0.975, values.shape[1] - 1) * stats.sem(values, axis=1)
    for row in rows:
        r = names.index(row["run"])
        assert float(row["AP"]) == pytest.approx(means[r], abs=1e-12)
        assert float(row["low"]) == pytest.approx(means[r] - half[r], abs=1e-12)
        assert float(row["high"]) == pytest.approx(means[r] + half[r], abs=1e-12)
    tied = {row["run"]: row["tied_for_first"] == "true" for row in rows}
    board = rs.leaderboard(scores)["leaderboard"].records()
    assert tied == {row["run"]: row["tied_for_first"] for row in board}
    marked = page.locator("tbody tr.first th").all_inner_texts()
    assert set(marked) == {run for run, first in tied.items() if first}
    assert 0 < len(marked) < len(rows)
    page.goto(page.url.split("#")[0] + "#view=runs&measure=Twist&length=30")
    page.get_by_text("Changed here: N = 30").wait_for()
    assert page.locator("tbody tr.first").count() == 0, "not known for changed settings"


@pytest.mark.parametrize("measure", ["AP", "Twist", "nDCG@10"])
def test_ranks_of_the_runs_over_samples_of_topics(
    open_page: Open, collection_page: Path, measure: str
) -> None:
    """Check that the page uses the samples drawn by Python, so that the ranges are equal."""
    page = open_page(collection_page, f"view=runs&measure={measure}")
    page.wait_for_function("document.querySelector('td.ranks').textContent !== '…'")
    folder = collection_page.parent / "data"
    board = rs.leaderboard(rs.evaluate(folder / "qrels.txt", folder / "runs", measure))[
        "leaderboard"
    ].records()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download CSV").click()
    rows = list(csv.DictReader(io.StringIO(Path(download.value.path()).read_text("utf-8"))))
    ranges = {row["run"]: (row["first_rank"], row["last_rank"]) for row in rows}
    assert ranges == {row["run"]: (str(row["first_rank"]), str(row["last_rank"])) for row in board}
    for run, ends in ranges.items():
        text = page.locator(".board tbody tr", has_text=run).locator("td.ranks").inner_text()
        assert text == "–".join(dict.fromkeys(ends))


def test_bounds_of_the_means_are_shown_on_request(
    open_page: Open, collection_page: Path, tmp_path: Path
) -> None:
    folder = collection_page.parent / "data"
    files = (folder / "qrels.txt", folder / "runs")
    page = open_page(
        rs.report(rs.Collection(*files), tmp_path / "ranges.html", bounds=True), "view=runs&measure=P@10"
    )
    bounds = rs.evaluate(*files, "P@10", unjudged="bounds").bounds("P@10")
    ends = {
        run: tuple(f"{float(bound.values[r].mean()):.4f}" for bound in bounds)
        for r, run in enumerate(bounds[0].runs)
    }
    for row in page.locator(".board tbody tr").all():
        run, cells = row.locator("th").inner_text(), row.locator("td.open").all_inner_texts()
        low, high = ends[run]
        assert cells[1] == ("–" if low == high else f"{low}–{high}")
    assert any(low != high for low, high in ends.values())
    assert open_page(collection_page, "view=runs").locator("td.open").count() == 0


def test_a_shared_address_shows_the_same_view(
    open_page: Open, collection_page: Path, read_state: State
) -> None:
    page = open_page(
        collection_page, "view=plane&measure=nDCG&brush=0.1,0.6,0.2,0.9&crossing=matters&length=50"
    )
    page.locator("nav a", has_text="Rankings").click()
    page.get_by_label("Add a run").select_option(index=2)
    page.get_by_label("Next topic").click()
    read_state(page)
    fragment = urlsplit(page.url).fragment
    again = open_page(collection_page, fragment)
    assert read_state(again) == parse_qs(fragment)
    assert again.locator("article").count() == 2
    articles = [page.locator("article").nth(k).get_attribute("aria-label") for k in range(2)]
    assert [again.locator("article").nth(k).get_attribute("aria-label") for k in range(2)] == articles
    assert again.evaluate("[rankscope.state.settings.crossing, rankscope.state.settings.length]") == [
        "matters",
        50,
    ]
    page.go_back()
    assert read_state(page)["view"] == ["plane"]


@pytest.mark.parametrize(
    "fragment", ["view=nonsense", "run=%00&topic=%ff", "brush=a,b", "edits=m0-99999 r1=77", "x", "%"]
)
def test_addresses_that_make_no_sense_are_harmless(
    open_page: Open, collection_page: Path, fragment: str
) -> None:
    page = open_page(collection_page, fragment)
    page.locator("nav a", has_text="What if").click()
    page.get_by_role("heading", name="What if the ranking were different?").wait_for()


def test_heat_map_to_curves(open_page: Open, collection_page: Path, read_state: State) -> None:
    page = open_page(collection_page, "view=map")
    box = page.locator(".cells canvas").bounding_box()
    page.mouse.click(box["x"] + box["width"] * 0.4, box["y"] + box["height"] * 0.6)
    state = read_state(page)
    assert (
        page.get_by_role(
            "article", name=f"{state['run'][0]} on topic {state['topic'][0]}", exact=True
        ).count()
        == 1
    )
    page.locator(".cells").focus()
    page.keyboard.press("ArrowRight")
    assert read_state(page)["topic"] != state["topic"]
    assert read_state(page)["run"] == state["run"]


def test_brushing_an_indicator(open_page: Open, collection_page: Path, read_state: State) -> None:
    page = open_page(collection_page, "view=indicators")
    axis = page.locator("[data-axis=CRP_min]").bounding_box()
    x = axis["x"] + axis["width"] / 2
    page.mouse.move(x, axis["y"] + 20)
    page.mouse.down()
    page.mouse.move(x, axis["y"] + axis["height"] * 0.6, steps=3)
    page.mouse.up()
    _, low, high = read_state(page)["ranges"][0].split(":")
    heading = page.get_by_role("heading", name=re.compile(r"\d+ of \d+ rankings")).inner_text()
    expected = page.evaluate(
        """([low, high]) => {
            const {data, state} = rankscope, v = data.indicators(data.defaults).CRP_min;
            return data.topics.filter((_, t) => {
                const x = v[data.index(state.runs[0], t)];
                return x >= low - 1e-4 && x <= high + 1e-4;
            }).length;
        }""",
        [float(low), float(high)],
    )
    assert int(heading.split()[0]) == expected < 12


def test_archetype_shares(open_page: Open, collection_page: Path, read_state: State) -> None:
    page = open_page(collection_page, "view=archetypes")
    shares = page.locator("section:first-of-type tbody td:nth-child(4)").all_inner_texts()
    assert sum(float(text.rstrip("%")) for text in shares) == pytest.approx(100, abs=0.5)
    page.locator("section:first-of-type tbody button:not([disabled])").first.click()
    page.locator(".members button").first.click()
    assert read_state(page)["view"] == ["curves"]


def test_keyboard_alone_reaches_a_curve(open_page: Open, collection_page: Path, read_state: State) -> None:
    page = open_page(collection_page, "view=plane")
    before = read_state(page)
    page.locator(".overlay").focus()
    page.keyboard.press("ArrowUp")
    after = read_state(page)
    assert (before["run"], before["topic"]) != (after["run"], after["topic"])
    slider = page.get_by_role("slider").first
    slider.focus()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    assert slider.get_attribute("aria-valuenow") == "2"
    assert slider.get_attribute("aria-valuetext").startswith("rank 2: ")


def test_colours_can_be_chosen(open_page: Open, collection_page: Path) -> None:
    page = open_page(collection_page, color_scheme="dark")
    background = "getComputedStyle(document.documentElement).backgroundColor"
    dark = page.evaluate(background)
    page.get_by_text("Settings").click()
    page.get_by_label("Colours").select_option("light")
    light = page.evaluate(background)
    page.get_by_label("Colours").select_option("dark")
    assert light != dark == page.evaluate(background)


def test_no_view_scrolls_sideways(visit: Open, places: list[tuple[Path, str]], until: Until) -> None:
    """Neither at the width of a desktop nor at that of a phone."""
    for width in (1440, 390):
        for path, fragment in places:
            page = visit(path, fragment)
            page.set_viewport_size({"width": width, "height": 844})
            until(page, f"innerWidth === {width} && document.documentElement.scrollWidth <= {width}")


def test_an_address_of_another_collection_says_so(open_page: Open, collection_page: Path) -> None:
    page = open_page(collection_page, "view=runs&measure=XYZ&run=absent&topic=77x")
    alert = page.get_by_role("alert").inner_text()
    assert "measure XYZ, run absent, topic 77x" in alert
    best = page.evaluate("rankscope.data.runs[rankscope.state.runs[0]]")
    assert best in alert
    page.get_by_role("button", name="Close").click()
    assert page.get_by_role("alert").count() == 0


def test_an_address_keeps_what_was_set_in_a_view(
    open_page: Open, collection_page: Path, read_state: State
) -> None:
    page = open_page(collection_page, "view=curves")
    page.get_by_label("full-scale ranking").check()
    page.locator("nav a", has_text="Effort").click()
    page.locator("nav a", has_text="Curve shapes").click()
    page.get_by_label("all 8 runs").check()
    page.get_by_label("Sort by").select_option("typical B")
    page.locator("section:first-of-type tbody button:not([disabled])").first.click()
    page.locator("nav a", has_text="Leaderboard").click()
    page.get_by_role("searchbox").fill("re")
    kept = read_state(page)
    again = open_page(collection_page, urlsplit(page.url).fragment)
    assert read_state(again) == kept
    assert again.get_by_role("searchbox").input_value() == "re"
    again.locator("nav a", has_text="Effort").click()
    again.locator("nav a", has_text="Curve shapes").click()
    assert again.get_by_label("Sort by").input_value() == "typical B"
    assert again.locator(".members").count() == 1
    assert again.get_by_label("all 8 runs").is_checked()
    again.locator("nav a", has_text="Rankings").click()
    assert again.locator("path.reference").count() >= 1


def test_escape_and_a_click_elsewhere_close_the_settings(open_page: Open, collection_page: Path) -> None:
    page = open_page(collection_page)
    page.get_by_text("Settings", exact=True).click()
    page.get_by_label("Evaluation length N").focus()
    page.keyboard.press("Escape")
    assert not page.get_by_label("Evaluation length N").is_visible()
    assert page.evaluate("document.activeElement.textContent") == "Settings"
    page.keyboard.press("Enter")
    assert page.get_by_label("Evaluation length N").is_visible()
    page.get_by_role("heading", level=1).click()
    assert not page.get_by_label("Evaluation length N").is_visible()


def test_the_recall_base_has_an_axis_of_counts(open_page: Open, collection_page: Path) -> None:
    page = open_page(collection_page, "view=indicators")
    largest = page.evaluate("Math.max(...rankscope.data.judgments.map((t) => t.recallBase))")
    axis = page.locator("g:has(> [data-axis=R])")
    ticks = [int(text.replace(",", "")) for text in axis.locator("text[text-anchor=end]").all_text_contents()]
    assert len(ticks) >= 3 and 1 < max(ticks) <= largest


def test_one_run_on_one_topic_is_singular(
    open_page: Open, settled: Settled, tmp_path: Path, read_views: Views
) -> None:
    page = open_page(
        report(rs.Collection({"q1": {"a": 1}}, {"only": {"q1": {"a": 1.0}}}), tmp_path / "r.html")
    )
    assert page.locator(".size").inner_text().startswith("1 run × 1 topic;")
    for view in read_views(page):
        page.evaluate("view => { rankscope.state.view = view }", view)
        settled(page)
        assert not re.search(
            r"\b1 (runs|topics|lists|relevant documents|points)\b", page.locator("#page").inner_text()
        ), view


def test_chosen_runs_keep_their_colours_in_every_view(
    open_page: Open, collection_page: Path, read_state: State
) -> None:
    page = open_page(collection_page, "view=runs")
    names = page.locator(".board tbody th button").all_inner_texts()
    for name in names[1:4]:
        page.locator(".board").get_by_role("button", name=name, exact=True).click()

    def marks() -> dict[str, str]:
        colours = page.locator(".size i.mark").evaluate_all(
            "all => all.map(i => [i.nextElementSibling.textContent, getComputedStyle(i).backgroundColor])"
        )
        return dict(colours)

    first = marks()
    assert len(set(first.values())) == 4
    page.locator(".board").get_by_role("button", name=names[1], exact=True).click()  # no longer chosen
    page.locator(".board").get_by_role("button", name=names[5], exact=True).click()
    current = marks()
    assert {name: current[name] for name in (names[0], names[2], names[3])} == {
        name: first[name] for name in (names[0], names[2], names[3])
    }
    assert current[names[5]] == first[names[1]], "a colour that is free again"
    page.locator("nav a", has_text="Rankings").click()
    drawn = page.locator("article").evaluate_all(
        """all => all.map(a => [a.querySelector('b').textContent,
                                getComputedStyle(a.querySelector('path.run')).stroke])"""
    )
    assert dict(drawn) == current
    read_state(page)
    again = open_page(collection_page, urlsplit(page.url).fragment)
    page = again
    assert marks() == current


def test_archetypes_are_drawn_from_lists_that_are_such(open_page: Open, collection_page: Path) -> None:
    from rankscope.judging import judge
    from rankscope.measures.effort_curves import ARCHETYPES, find_archetypes

    page = open_page(collection_page, "view=archetypes")
    shapes = page.locator("svg.shape").evaluate_all("all => all.map(e => e.getAttribute('aria-label'))")
    assert len(shapes) == len(ARCHETYPES)
    for name, label in zip(ARCHETYPES, shapes, strict=True):
        grades = [int(g) for g in label.split()[-1]]
        left = {g: [f"{g}-{k}" for k in range(3)] for g in (2, 1)}
        qrels = rs.Qrels.from_dict({"q": {d: g for g, documents in left.items() for d in documents}})
        ranked = [left[g].pop() if g else f"x{k}" for k, g in enumerate(grades)]
        archetypes = find_archetypes(judge(qrels, rs.Run.from_dict({"q": ranked})).lists, cutoff=12)
        assert archetypes.tolist() == [name]


def test_points_coloured_by_archetype(open_page: Open, collection_page: Path, read_state: State) -> None:
    page = open_page(collection_page, "view=plane")
    page.get_by_label("Colour by").select_option("archetype")
    legend = page.locator("figure .legend").inner_text()
    assert sum(int(n) for n in re.findall(r"\((\d+)\)", legend)) == page.evaluate("rankscope.data.size")
    page.get_by_label("Colour by").select_option("recall base")
    legend = page.locator("figure .legend").inner_text()
    assert sum(int(n) for n in re.findall(r"\((\d+)\)", legend)) == page.evaluate("rankscope.data.size")
    assert read_state(page)["tint"] == ["recall base"]


def test_the_point_under_the_pointer_is_named(open_page: Open, collection_page: Path) -> None:
    page = open_page(collection_page, "view=plane")
    x, y, index = _point(page, index=_lonely(page))
    page.mouse.move(x, y)
    run = page.evaluate("i => rankscope.data.runs[rankscope.data.runOf(i)]", index)
    assert page.locator("text.tip").text_content().startswith(run)


def test_runs_have_names_beside_their_lines_on_phones(
    open_page: Open, collection_page: Path, until: Until
) -> None:
    page = open_page(collection_page, "view=orders")
    page.set_viewport_size({"width": 390, "height": 844})
    until(page, "document.querySelector('figure svg').clientWidth < 390")
    named = page.locator("figure svg text > title").all_text_contents()
    assert sorted(named) == sorted(page.evaluate("rankscope.data.runs"))
    edges = page.locator("figure svg text").evaluate_all(
        "all => all.map(e => e.getBoundingClientRect().right)"
    )
    assert max(edges) <= 390


def test_ranks_by_every_measure(open_page: Open, collection_page: Path) -> None:
    page = open_page(collection_page, "view=orders")
    folder = collection_page.parent / "data"
    names = page.locator("figure svg text.ink").all_text_contents()
    measures = [
        name for name in names if name in ("AP", "nDCG@10", "RBP", "P@10", "RR", "Bpref", "Twist", "ERR@20")
    ]
    assert len(measures) == 8
    scores = rs.evaluate(folder / "qrels.txt", folder / "runs", measures)
    places = page.locator("figure svg circle").evaluate_all("all => all.map(c => +c.getAttribute('cy'))")
    run = page.evaluate("rankscope.data.runs[rankscope.state.runs[0]]")
    for name, y in zip(measures, places, strict=True):
        means = scores.mean(name)
        mean = means[scores.runs.index(run)]
        rank = ((means > mean).sum() + 1 + (means >= mean).sum()) / 2
        assert y / 18 + 0.5 == pytest.approx(rank), name
    rows = page.locator("#changes-title ~ div tbody tr")
    for k in range(rows.count()):
        name, share, best = rows.nth(k).locator("th, td").all_inner_texts()
        # means that differ by rounding errors only are equal, as in rs.certain
        a, b = scores.mean("AP").round(12), scores.mean(name).round(12)
        pairs = [(i, j) for i in range(len(a)) for j in range(i) if a[i] != a[j] and b[i] != b[j]]
        swapped = sum((a[i] > a[j]) != (b[i] > b[j]) for i, j in pairs)
        assert share == f"{swapped} ({100 * swapped / len(pairs):.1f}%)"
        assert best == scores.runs[scores.best_first(name)[0]]
