"""The first screen and the head-to-head view, driven in a real browser; their numbers are Python's."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest

import rankscope as rs
from rankscope.reporting import report
from rankscope.reporting.findings import find
from rankscope.simulation import simulate

SCRIPT = "<img src=x onerror=\"document.title='run'\"><script>document.title='run'</script>"


def read_text(path: Path) -> str:
    return gzip.open(path, "rt").read() if path.suffix == ".gz" else path.read_text()


def plain_qrels(folder: Path) -> dict[str, dict[str, int]]:
    grades: dict[str, dict[str, int]] = {}
    for line in read_text(folder / "data" / "qrels.txt").splitlines():
        topic, _, doc, grade = line.split()
        grades.setdefault(topic, {})[doc] = int(grade)
    return grades


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A collection with texts, two of them hostile, and its report."""
    folder = tmp_path_factory.mktemp("versus")
    simulate(systems=6, topics=10, grades=3, depth=60, seed=4, pool_depth=30).write(folder / "data")
    qrels = plain_qrels(folder)
    documents = sorted({doc for judged in qrels.values() for doc, grade in judged.items() if grade > 0})
    lines = [
        json.dumps({"_id": doc, "title": f"about {doc}", "text": SCRIPT + " word" * 200}) for doc in documents
    ]
    (folder / "docs.jsonl").write_text("\n".join(lines))
    (folder / "topics.tsv").write_text("".join(f"{t}\tquery {t} {SCRIPT}\n" for t in qrels))
    report(
        rs.Collection(folder / "data" / "qrels.txt", folder / "data" / "runs"),
        folder / "report.html",
        texts=[folder / "docs.jsonl", folder / "topics.tsv"],
    )
    return folder


@pytest.fixture(scope="module")
def scores(place: Path) -> rs.Scores:
    return rs.evaluate(place / "data" / "qrels.txt", place / "data" / "runs", "AP nDCG@10 P@10 RR Twist")


_IN_SIGHT = """() => {
    const {top, bottom} = document.querySelector('.finding').getBoundingClientRect();
    return top >= 0 && bottom <= innerHeight;
}"""
_VIEW = "[...document.querySelectorAll('main > :not(aside)')].map((e) => e.innerText).join(' ')"


def _claims(finding: Any) -> list[str]:
    """Return the texts that the view of a finding must contain, apart from the repeated sentence."""
    n = finding.numbers
    rows = [dict(zip(finding.evidence.columns, row, strict=True)) for row in finding.evidence.rows]
    if finding.kind == "ties":  # The page has the bounds of every mean with --bounds only.
        return [f"{n['value']:.4f}"]
    return {
        "leader": lambda: [f"{n['value']:.4f}", f"({n['tied']} run"],
        "separation": lambda: [f"{n['significant']:,} of {n['pairs']:,} pairs of runs do"],
        "disagreement": lambda: [f"{n['swapped']:,} ({n['share']:.1%})"],
        "decisive_topics": lambda: [f"{n['share']:.1%}"],
        "fragile_lead": lambda: [
            f"A wins {n['wins']} topic",
            f"loses {n['losses']}",
            f"Topic {rows[0]['topic']}",
        ],
        "hard_topics": lambda: [f"{n['mean']:.4f}", f"{n['best']:.4f}"],
        "unjudged": lambda: [f"{n['precision']:.4f}"],
        "high_effort": lambda: [f"{n['share']:.1%}"],
        "no_return": lambda: [f"{n['count']:,} of {n['lists']:,} rankings"],
        "scale": lambda: [f"at length {n['length']}, {n['example']}"] if "example" in n else [],
    }[finding.kind]()


def test_every_finding_opens_a_view_that_shows_it(
    place: Path, scores: rs.Scores, open_page: Any, read_state: Any
) -> None:
    page = open_page(place / "report.html")
    assert page.text_content("nav [aria-current]") == "Leaderboard"
    usual = rs.evaluate(place / "data" / "qrels.txt", place / "data" / "runs", "AP nDCG@10 P@10 RBP Twist")
    expected = rs.findings(usual)
    shown = {card.get_attribute("data-kind"): card for card in page.query_selector_all("article[data-kind]")}
    assert list(shown) == [finding.kind for finding in expected]
    assert len(shown) >= 6
    for finding in expected:
        assert shown[finding.kind].query_selector(".sentence").text_content() == finding.sentence
        assert shown[finding.kind].query_selector("svg, table, .badges")
    for finding in expected:  # every link goes where it says
        page.click(f"article[data-kind={finding.kind}] .more a")
        state = read_state(page)
        assert state["view"] == [finding.view]
        if "run" in finding.link:
            assert state["run"] == finding.link["run"]
        if "topic" in finding.link:
            assert state["topic"] == [finding.link["topic"]]
        assert page.text_content(".finding .name") == finding.sentence
        page.wait_for_function(_IN_SIGHT)
        text = " ".join(page.evaluate(_VIEW).split())
        for claim in _claims(finding):
            assert claim in text, (finding.kind, claim)
        page.click("nav a:text('Leaderboard')")
        assert "finding" not in read_state(page)


def test_rank_stability_shows_the_measures_that_disagree(tmp_path: Path, open_page: Any) -> None:
    """Even of more measures than the view has room for."""
    generated = simulate(systems=8, topics=12, grades=3, depth=40, seed=3, pool_depth=20)
    names = "AP nDCG nDCG@5 nDCG@10 nDCG@20 P@5 P@10 P@20 RBP RR Rprec Sigma Twist"
    scores = rs.evaluate(generated.qrels, generated.runs, names)
    page = open_page(report(scores, tmp_path / "r.html"))
    finding = next(one for one in page.evaluate("rankscope.data.findings") if one["kind"] == "disagreement")
    page.locator("article[data-kind=disagreement] a").click()
    columns = page.locator("main svg text.ink").all_text_contents()
    assert {finding["numbers"]["a"], finding["numbers"]["b"]} <= set(columns)


def test_shares_of_other_than_ten_ranks_are_shown_as_evidence(
    tmp_path: Path, open_page: Any, until: Any
) -> None:
    generated = simulate(systems=5, topics=8, grades=3, depth=40, seed=3, pool_depth=4)
    scores = rs.evaluate(generated.qrels, generated.runs, "nDCG@20")
    page = open_page(report(scores, tmp_path / "r.html"))
    page.locator("article[data-kind=unjudged] .more a").click()
    share = page.evaluate("rankscope.data.findings.find(one => one.kind === 'unjudged').numbers.share")
    assert page.locator(".finding svg text", has_text=f"{share:.1%}").first.is_visible()
    assert page.locator(".board thead", has_text="Judged@10").count() == 0
    page.set_viewport_size({"width": 390, "height": 844})
    until(page, "innerWidth === 390 && document.documentElement.scrollWidth <= 390")


def test_seven_documents(place: Path, open_page: Any, until: Any) -> None:
    """Check the numbers of the example, its animation, and that it respects reduced motion."""
    page = open_page(place / "report.html", reduced_motion="reduce")
    judged = {"t": {f"r{k}": 1 for k in range(3)}}
    listed = {"t": ["n1", "r0", "n2", "r1", "n3", "n4", "r2"]}
    scores = rs.evaluate(judged, listed, "Rho@7 Sigma@7 Twist@7")
    words = page.text_content(".seven .words")
    for value in scores.values[:, 0, 0]:
        assert f"{value:.3f}" in words
    curve = rs.curve(rs.Collection(judged, listed), None, "t", cutoff=7)
    label = page.get_attribute(".seven svg", "aria-label")
    assert [int(x) for x in re.findall(r"-?\d+", label)] == curve.crp.tolist()
    assert page.evaluate("document.querySelector('.seven').classList.contains('still')")
    assert page.text_content(".seven .reading").strip().startswith("Rank 7: relevant")
    page.click(".seven button")
    until(page, "document.querySelector('.seven .reading').textContent.trim().startsWith('Rank 3')")
    page.click(".seven button")
    page.fill(".seven input[type=range]", "4")
    assert "it is 1 too late. CRP is −3." in " ".join(page.text_content(".seven .reading").split())


def numbers(text: str) -> list[float]:
    return [float(x.replace("−", "-").replace("+", "")) for x in re.findall(r"[+−]?\d+\.\d+", text)]


@pytest.mark.parametrize("measure", ["AP", "Twist", "RR"])
def test_head_to_head_is_compare(
    place: Path, scores: rs.Scores, open_page: Any, read_state: Any, measure: str
) -> None:
    """Any pair, any measure: difference, interval, p, effect size, wins and losses are those of rs.compare."""
    a, b = scores.runs[1], scores.runs[4]
    page = open_page(place / "report.html", f"view=versus&run={scores.runs[0]}&run={b}&measure={measure}")
    page.select_option("section select >> nth=0", label=a)
    pair = rs.evaluate(place / "data" / "qrels.txt", place / "data" / "runs", measure)
    keep = [pair.runs.index(one) for one in (a, b)]
    two = rs.Scores((a, b), pair.topics, pair.measures, pair.values[:, keep])
    compared = rs.compare(two, b, correction="none", per_topic=True)
    row = compared["pairs"].records()[0]
    text = " ".join(page.text_content("[data-versus=verdict]").split())
    assert text.startswith(f"{a} ") and f"against {b} by {measure} over 10 topics" in text
    shown = numbers(text)
    expected = [row[name] for name in ("difference", "low", "high")]
    assert shown[:3] == pytest.approx(expected, abs=6e-5)
    assert shown[3] == pytest.approx(row["p"], abs=6e-5)
    assert shown[4] == pytest.approx(row["effect_size"], abs=6e-3)
    assert f"A wins {row['wins']} topic" in text and f"loses {row['losses']}, ties {row['ties']}" in text
    lost = [cell.text_content() for cell in page.query_selector_all("section table tbody th button")]
    assert lost == compared["topics"].column("topic")
    assert read_state(page)["run"] == [a, b]
    page.click(f"section table tbody th button:text-is('{lost[0]}')")
    assert read_state(page)["topic"] == [lost[0]]
    page.click("button:text('Swap')")
    assert read_state(page)["run"] == [b, a]


def test_aligned_lists_and_texts(place: Path, open_page: Any) -> None:
    """Moved, lost and gained documents, with their texts: cut, and never run."""
    qrels = plain_qrels(place)
    files = sorted((place / "data" / "runs").iterdir())[:2]
    runs = [[line.split() for line in read_text(file).splitlines()] for file in files]
    a, b = (lines[0][5] for lines in runs)
    topic = next(iter(qrels))
    page = open_page(place / "report.html", f"view=versus&run={a}&run={b}&topic={topic}&measure=AP")
    ranks = []
    for lines in runs:
        found_here = [(float(line[4]), line[2]) for line in lines if line[0] == topic]
        listed = [doc for _, doc in sorted(found_here, reverse=True)]
        ranks.append({doc: k for k, doc in enumerate(listed, 1) if qrels[topic].get(doc, 0) > 0})
    rows = {}
    shown = page.locator("tr[data-change]:not(.other)").evaluate_all(
        """all => all.map(row => [
            row.querySelector('td .clip').textContent, row.querySelector('td .text').textContent,
            row.dataset.change, [...row.querySelectorAll('td')].map(cell => cell.textContent),
        ])"""
    )
    for name, text, change, cells in shown:
        rows[name] = (cells[2], cells[3], change)
        assert text.startswith(f"about {name} <img") and len(text) <= 280
    expected = {}
    for doc in {*ranks[0], *ranks[1]}:
        x, y = ranks[0].get(doc), ranks[1].get(doc)
        kind = "gained" if y is None else "lost" if x is None else "up" if x < y else "down" if x > y else ""
        expected[doc] = (str(x or "–"), str(y or "–"), kind)
    assert rows == expected
    kinds = [kind for _, _, kind in expected.values()]
    words = " ".join(page.text_content("[data-versus=moves]").split())
    assert (
        f"{kinds.count('up')} higher in A, {kinds.count('down')} lower in A, {kinds.count('gained')} only in A,"
        f" {kinds.count('lost')} only in B, {kinds.count('')} at the same rank" in words
    )
    assert page.text_content(".query").startswith(f"query {topic} <img")
    assert not page.query_selector("main img, main script")
    assert page.title() != "run"
    for name in ("CRP", "DCG"):
        lines = page.query_selector_all(
            f"[data-chart=versus-{name}] path.a, [data-chart=versus-{name}] path.b"
        )
        assert len(lines) == 2 and all(len(line.get_attribute("d")) > 20 for line in lines)


def test_findings_of_a_page_without_anything_to_compare() -> None:
    scores = rs.evaluate({"q": {"d": 1}}, {"q": ["x", "d"]}, "AP")
    assert {finding["kind"] for finding in find(scores, scores.measures)} <= {
        "unjudged",
        "no_return",
        "high_effort",
        "scale",
    }
