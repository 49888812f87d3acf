"""What-if for the collection: excluded topics, labels of unjudged documents and other gains, against Python."""

from __future__ import annotations

import contextlib
import csv
import io
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pytest

import rankscope as rs
from rankscope.cli.main import main
from rankscope.reporting import report

Open = Callable[..., Any]
TIERS = "rankscope.data.tiers('AP', rankscope.state.changed, rankscope.data.runs.map((_, r) => r)).tiers"
MEASURES = ["AP", "nDCG", "nDCG@10", "P@10", "RBP", "Bpref", "RR", "R@100", "Judged@10", "Twist", "Rho"]


@pytest.fixture(scope="module")
def sparse(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, rs.Collection]:
    """Return a page with many unjudged documents in the first ranks, and its collection."""
    folder = tmp_path_factory.mktemp("sparse")
    simulated = rs.simulate(systems=6, topics=8, grades=3, depth=40, seed=5, pool_depth=4)
    simulated.write(folder / "data")
    collection = rs.Collection(folder / "data" / "qrels.txt", folder / "data" / "runs")
    return report(collection, folder / "r.html"), collection


def _changed(collection: rs.Collection, excluded: list[str], labels: list[tuple[str, str, int]]) -> Any:
    """Return scores of the changed judgments."""
    qrels = {topic: dict(collection.qrels.judgments(topic)) for topic in collection.qrels.topics}
    for topic, document, grade in labels:
        assert document not in qrels[topic]
        qrels[topic][document] = grade
    for topic in excluded:
        del qrels[topic]
    return rs.Collection(qrels, collection.runs)


def _unjudged(collection: rs.Collection, topic: str, run: int, start: int = 0) -> str:
    judged = collection.qrels.judgments(topic)
    ranking = list(collection.runs.values())[run].ranking(topic)[start:20]
    return next(document for document in ranking if document not in judged)


def _fragment(**values: Any) -> str:
    return urlencode({"view": "whatif", "scope": "collection", **values}, doseq=True, quote_via=quote)


def test_excluded_topics_and_labels_give_the_means_and_tiers_of_python(
    open_page: Open, sparse: tuple[Path, rs.Collection], until: Callable[[Any, str], None]
) -> None:
    path, collection = sparse
    t = collection.qrels.topics
    labels = [
        (t[0], _unjudged(collection, t[0], 0), 2),
        (t[0], _unjudged(collection, t[0], 1, 10), 1),
        (t[2], _unjudged(collection, t[2], 2), 0),
    ]
    page = open_page(path, _fragment())
    assert page.evaluate("rankscope.data.rankedEverywhere") is True
    for excluded, labelled in (([t[1], t[4]], []), ([], labels), ([t[3]], labels)):
        address = _fragment(exclude=excluded, label=["\t".join(map(str, one)) for one in labelled])
        page.evaluate("fragment => { location.hash = fragment; }", address)
        until(page, f"rankscope.state.labels.length === {len(labelled)}")
        until(page, f"rankscope.state.excluded.length === {len(excluded)}")
        scores = _changed(collection, excluded, labelled).evaluate(MEASURES)
        for measure in MEASURES:
            means = page.evaluate("m => [...rankscope.data.means(m, rankscope.state.changed)]", measure)
            assert means == pytest.approx(scores.mean(measure).tolist(), abs=1e-12), measure
        tiers = page.evaluate(TIERS)
        board = rs.leaderboard(_changed(collection, excluded, labelled).evaluate("AP"))
        expected = {row.run: row.tier for row in board.leaderboard}
        assert tiers == [expected[run] for run in scores.runs]
        rows = page.locator("[data-whatif=leaderboard] tbody tr")
        assert rows.count() == 6
        shown = {
            rows.nth(k).locator("th").inner_text().strip(): rows.nth(k).locator("td").nth(1).inner_text()
            for k in range(6)
        }
        assert shown == {run: f"{mean:.4f}" for run, mean in zip(scores.runs, scores.mean("AP"), strict=True)}


def test_gains_change_ndcg_only(open_page: Open, sparse: tuple[Path, rs.Collection]) -> None:
    path, collection = sparse
    page = open_page(path, _fragment(measure="nDCG"))
    page.get_by_label("grade 2").fill("9.5")
    page.get_by_label("grade 2").press("Enter")
    assert page.evaluate("rankscope.state.gains") == [9.5, 1]
    scores = collection.evaluate(["nDCG(gains='0,1,9.5')", "nDCG(gains='0,1,9.5')@10", "AP"])
    for name, measure in zip(("nDCG", "nDCG@10", "AP"), scores.measures, strict=True):
        means = page.evaluate("m => [...rankscope.data.means(m, rankscope.state.changed)]", name)
        assert means == pytest.approx(scores.mean(measure).tolist(), abs=1e-12)
    assert "gains 1 → 1, 2 → 9.5" in page.locator("[data-whatif=verdict]").inner_text()
    page.get_by_label("grade 1").fill("12")  # more than grade 2: refused
    page.get_by_label("grade 1").press("Enter")
    assert page.evaluate("rankscope.state.gains") == [9.5, 1]


def test_a_label_given_by_hand_is_in_the_address_and_its_command_gives_the_same(
    open_page: Open, sparse: tuple[Path, rs.Collection], tmp_path: Path
) -> None:
    path, collection = sparse
    topic = collection.qrels.topics[5]
    page = open_page(path, _fragment(topic=topic, measure="AP"))
    selects = page.get_by_label("Label of ")
    name = selects.first.get_attribute("aria-label").removeprefix("Label of ")
    assert name not in collection.qrels.judgments(topic)
    selects.first.select_option("2")
    page.get_by_label("Exclude").select_option(label=collection.qrels.topics[0])
    fragment = page.evaluate("rankscope.state.toFragment()")
    means = page.evaluate("[...rankscope.data.means('AP', rankscope.state.changed)]")
    commands = page.locator("pre").last.text_content()
    again = open_page(path, fragment)
    assert again.evaluate("[...rankscope.data.means('AP', rankscope.state.changed)]") == means
    scores = _changed(collection, [collection.qrels.topics[0]], [(topic, name, 2)]).evaluate("AP")
    assert means == pytest.approx(scores.mean("AP").tolist(), abs=1e-12)
    stub = 'rankscope() { printf "%s\\0" "$@" >words; }\n'
    done = subprocess.run(
        stub + commands, shell=True, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    words = (tmp_path / "words").read_text("utf-8").split("\0")[:-1]
    with contextlib.chdir(tmp_path):
        assert main([*words, "-f", "csv", "-o", "out.csv", "--quiet"]) == 0
    text = (tmp_path / "out.csv").read_text("utf-8")
    rows = csv.DictReader(io.StringIO(text[text.index("run,") :].split("\n\n")[0]))
    found = {row["run"]: float(row["value"]) for row in rows if row["run"]}
    assert [found[run] for run in scores.runs] == pytest.approx(means, abs=1e-12)
    again.get_by_role("button", name="Start again").click()
    assert "label" not in again.evaluate("rankscope.state.toFragment()")
