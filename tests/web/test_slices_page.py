"""Slices of the topics on the page: means and differences by slice, the filter, and weights; numbers of Python."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankscope as rs
from rankscope.errors import SettingsError
from rankscope.simulation import simulate

BY = ["lang", "length:2", "kind"]
_CELLS = """([name, baseline]) => {
    const {data: d, state: s} = rankscope, settings = {...s.settings, subset: undefined};
    const runs = baseline === null ? null : d.againstBySlice(name, settings, d.runs.indexOf(baseline));
    return d.slices.flatMap(({name: attribute, slices}, a) => slices.flatMap((slice, k) => {
        const cells = runs ? runs[a][k] : d.intervals(name, {...settings, subset: d.subset(a, k)});
        return cells.map((c, r) =>
            [attribute, slice.name, d.runs[r], c.n, c.mean, c.low, c.high, c.adjusted, c.strong]);
    }));
}"""


@pytest.fixture(scope="module")
def weighted(tmp_path_factory: pytest.TempPathFactory) -> tuple[rs.Scores, Path]:
    """Return scores with slices and weights of topics, and their report."""
    generated = simulate(systems=6, topics=40, grades=3, depth=60, seed=9)
    data = {
        topic: {
            "lang": ("en", "it", "de")[k % 3],
            "length": 1 + k * 7 % 11,
            "traffic": 1 + k % 4,
            "kind": "rare" if k % 10 == 3 else "common",
        }
        for k, topic in enumerate(generated.qrels)
    }
    collection = rs.Collection(generated.qrels, generated.runs, topic_data=data, weights="traffic")
    scores = collection.evaluate("AP nDCG@10 Twist")
    return scores, rs.report(scores, tmp_path_factory.mktemp("slices") / "r.html", by=BY)


def test_slices_have_the_means_and_differences_of_python(weighted: Any, open_page: Any, until: Any) -> None:
    scores, path = weighted
    page = open_page(path, "view=slices&measure=nDCG@10")
    means = {
        (attribute, name, run): (part, r)
        for attribute in BY
        for name, part in scores.by(attribute).items()
        for r, run in enumerate(part.runs)
    }
    cells = page.evaluate(_CELLS, ["nDCG@10", None])
    assert len(cells) == len(means) == 6 * 7
    for attribute, name, run, n, mean, *_ in cells:
        part, r = means[attribute, name, run]
        assert (n, mean) == (len(part.topics), pytest.approx(part.mean("nDCG@10")[r], abs=1e-12))
    shown = page.locator("section tbody tr").first.locator("td .n").all_inner_texts()
    best = scores.runs[scores.best_first("nDCG@10")[0]]
    assert shown == [f"{p.mean('nDCG@10')[scores.runs.index(best)]:.3f}" for p in scores.by("lang").values()]
    base = scores.runs[2]
    result = rs.compare(scores.with_measures(["nDCG@10"]), base, by=BY)
    expected = {(row.attribute, row.slice, row.a): row for row in result.slices}
    compared = [cell for cell in page.evaluate(_CELLS, ["nDCG@10", base]) if cell[2] != base]
    assert len(compared) == len(expected)
    for attribute, name, run, n, mean, low, high, p, strong in compared:
        row = expected[attribute, name, run]
        assert (n, strong) == (row.topics, row.significant)
        assert (mean, p) == (pytest.approx(row.difference, abs=1e-9), pytest.approx(row.adjusted, abs=1e-7))
        assert (low, high) == pytest.approx((row.low, row.high), abs=1e-7)
    tests = page.evaluate(
        """([name, baseline]) => {
            const {data: d, state: s} = rankscope;
            return d.interactions(name, {...s.settings, subset: undefined}, d.runs.indexOf(baseline)).flatMap(
                (runs, a) => runs.map((t, r) => [d.slices[a].name, d.runs[r], t.test, t.p, t.adjusted, t.alarm]));
        }""",
        ["nDCG@10", base],
    )
    claimed = {(row.attribute, row.a): row for row in result.interactions}
    assert {row.test for row in claimed.values()} == {"welch", "permutation"}
    for attribute, run, test, p, adjusted, alarm in tests:
        if run != base:
            row = claimed[attribute, run]
            assert (test, alarm) == (row.test, row.alarm)
            assert (p, adjusted) == pytest.approx((row.p, row.adjusted), abs=1e-7)
    for k, attribute in enumerate(BY):
        page.evaluate(
            "values => { Object.assign(rankscope.state, values); }",
            {"baseline": scores.runs.index(base), "attribute": k},
        )
        title = attribute.split(":")[0]
        page.get_by_role("heading", name=f"nDCG@10 by {title}", exact=True).wait_for()
        caption = page.locator("figcaption").first.text_content()
        assert caption.endswith(f"p: adjusted p value of the interaction with {title}.")
        column = page.locator("section tbody tr").evaluate_all(
            """all => all.map(row =>
                [row.querySelector('th button').title, row.querySelector('td.p').textContent.trim()])"""
        )
        for run, text in column:
            row = claimed.get((attribute, run))
            shown = "" if row is None else f"{row.adjusted:.4f} {row.alarm}".strip()
            assert text == ("< .0001" if row and row.adjusted < 0.0001 else shown)


def test_means_intervals_ranks_and_tiers_are_weighted(weighted: Any, open_page: Any, until: Any) -> None:
    scores, path = weighted
    page = open_page(path, "view=runs")
    for measure in ("AP", "Twist"):
        page.evaluate("measure => { rankscope.state.measure = measure; }", measure)
        until(page, "document.querySelector('td.ranks').textContent !== '…'")
        rows = page.locator(".board tbody tr").evaluate_all(
            "all => all.map(r => ['th', '.mean', '.tier', '.ranks'].map(c => r.querySelector(c).textContent.trim()))"
        )
        board = {row.run: row for row in rs.leaderboard(scores.with_measures([measure])).leaderboard}
        assert [row[0] for row in rows] == list(board)
        for run, *shown in rows:
            row = board[run]
            assert shown == [f"{row.value:.4f}", str(row.tier), row.rank_range]


def test_an_edited_ranking_changes_the_weighted_mean_of_its_topics(weighted: Any, open_page: Any) -> None:
    scores, path = weighted
    page = open_page(path, "view=whatif&measure=AP")
    sentence, state = page.locator(".standing"), "rankscope.state"
    run, topic = page.evaluate(
        f"[rankscope.data.runs[{state}.runs[0]], rankscope.data.topics[{state}.topic]]"
    )
    sliced = next(name for name, part in scores.by("lang").items() if topic in part.topics)
    page.evaluate(f"{state}.edits = 'm9-1 m8-1 m7-1 m6-1'")
    edited = page.evaluate("() => Number(document.querySelectorAll('tr[data-measure=AP] td')[1].textContent)")
    for part, choose in ((scores, ""), (scores.by("lang")[sliced], sliced)):
        if choose:
            page.locator("label", has_text="Slice").locator("select").select_option(
                label=f"{choose} ({len(part.topics)})"
            )
        values = part.matrix("AP").values.copy()
        r, t = part.runs.index(run), part.topics.index(topic)
        assert abs(values[r, t] - edited) > 1e-3
        values[r, t] = edited
        means = np.average(values, axis=1, weights=part.weights)
        assert np.abs(means - values.mean(axis=1)).max() > 1e-3, "the weights matter"
        rank = int((means > means[r]).sum()) + 1
        text = sentence.inner_text()
        shown = re.search(r"would be (\d+)\w\w of 6 by AP \(([\d.]+)", text)
        assert shown and int(shown[1]) == rank
        assert float(shown[2]) == pytest.approx(means[r], abs=1e-4)


def test_the_link_of_the_slices_finding_shows_its_claim(
    weighted: Any, open_page: Any, read_state: Any
) -> None:
    scores, path = weighted
    finding = next(one for one in rs.findings(scores, by=BY) if one.kind == "slices")
    page = open_page(path)
    card = page.locator("article[data-kind=slices]")
    assert card.locator(".sentence").inner_text() == finding.sentence
    address = card.locator(".more a").get_attribute("href")
    card.locator(".more a").click()
    state = read_state(page)
    leader, attribute = finding.link["run"][0], finding.numbers.get("attribute", BY[0])
    assert (state["view"], state["baseline"]) == (["slices"], [leader])
    assert page.locator("#slices-title").inner_text() == f"{scores.measures[0]} by {attribute}"
    rows = [dict(zip(finding.evidence.columns, row, strict=True)) for row in finding.evidence.rows]
    claimed = {
        (row["b"], row["slice"]): f"{-row['difference']:+.3f}".replace("-", "−")
        for row in rows
        if row["attribute"] == attribute
    }
    head = page.locator("thead button").all_inner_texts()
    cells = page.locator("section tbody tr").evaluate_all(
        """all => all.map(row => ['th button', 'td .n'].map(
            cell => [...row.querySelectorAll(cell)].map(e => e.title || e.textContent)))"""
    )
    shown = {(run, name): text for (run,), texts in cells for name, text in zip(head, texts, strict=False)}
    assert claimed and claimed.items() <= shown.items()
    other = open_page(path, address.removeprefix("#"))
    assert other.locator("section tbody").inner_text() == page.locator("section tbody").inner_text()


def test_a_slice_filters_every_view(weighted: Any, open_page: Any, read_state: Any, read_views: Any) -> None:
    scores, path = weighted
    page = open_page(path, "view=runs&measure=AP")
    page.locator("label", has_text="Slice").locator("select").select_option(label="it (13)")
    part = scores.by("lang")["it"]
    shown = page.locator("td.mean").all_inner_texts()
    assert shown == sorted((f"{value:.4f}" for value in part.mean("AP")), reverse=True)
    assert read_state(page)["slice"] == ["it"]
    kept = "rankscope.data.topics.filter((_, t) => rankscope.state.keepsTopic(t))"
    assert page.evaluate(kept) == list(part.topics)
    for view in read_views(page):
        page.evaluate("view => rankscope.state.open(view)", view)
        page.locator("main h2").first.wait_for()
    again = open_page(path, f"view=map&slice=it&topic={part.topics[0]}")
    assert again.locator("#topics ~ figure tbody tr").count() == 13
    again.get_by_role("button", name="Show all topics").click()
    assert again.locator("#topics ~ figure tbody tr").count() == 40


def test_bounds_with_weights_are_rejected(tmp_path: Path) -> None:
    collection = rs.Collection({"q": {"d": 1}}, {"q": ["d"]}, weights={"q": 2})
    with pytest.raises(SettingsError, match="bounds have no weights"):
        rs.report(collection, tmp_path / "r.html", bounds=True)
