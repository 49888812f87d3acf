"""The page shows the numbers of Python: for every measure of the registry, on collections with past differences."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankscope as rs
from rankscope.reporting import report
from rankscope.reporting.page_data import standard_measures

Open = Callable[..., Any]
Until = Callable[[Any, str], None]
Sampled = Callable[[Sequence[Any], int], list[Any]]
RUNS, TOPICS = 6, 7


def _write(folder: Path) -> tuple[Path, Path]:
    """Judgments with subtopics, several grades and negative ones; runs with unjudged documents, of which one lacks a
    topic and one has a list without relevant documents."""
    rng = np.random.default_rng(18)
    judgments: list[str] = []
    for t in range(TOPICS):
        for d in range(30):
            for subtopic in rng.choice(3, size=rng.integers(1, 3), replace=False) + 1:
                grade = rng.choice([-2, -1, 0, 0, 1, 1, 2, 3])
                judgments.append(f"{t} {subtopic} d{d} {grade}\n")
    (folder / "qrels.txt").write_text("".join(judgments))
    (folder / "runs").mkdir()
    for r in range(RUNS):
        lines = []
        for t in range(TOPICS - (r == 4)):
            ranked = rng.permutation(60)[: rng.integers(8, 50)]
            ranked = ranked + 60 if (r, t) == (2, 3) else ranked
            lines += [f"{t} Q0 d{d} {k} {-k} x\n" for k, d in enumerate(ranked, 1)]
        (folder / "runs" / f"run{r}.txt").write_text("".join(lines))
    return folder / "qrels.txt", folder / "runs"


_SHOWN = """async (names) => {
    const settle = () => new Promise((done) => setTimeout(done));
    const found = {};
    for (const name of names) {
        rankscope.state.measure = name;
        await settle();
        const rows = [...document.querySelectorAll('.board tbody tr')];
        found[name] = {
            title: document.querySelector('main h2').textContent,
            order: rows.map((row) => row.querySelector('th').textContent),
            means: rows.map((row) => row.querySelector('.mean').textContent),
            data: Array.from(rankscope.data.means(name, rankscope.state.settings), String),
            values: Array.from(rankscope.data.values(name, rankscope.state.settings), String),
            meaning: rankscope.data.measure(name).meaning,
        };
    }
    return JSON.stringify(found);
}"""


def _numbers(texts: list[str]) -> Any:
    return np.array([float(text.replace("Infinity", "inf")) for text in texts])


def _printed(value: float, measure: Any) -> str:
    if np.isnan(value):
        return "–"
    if np.isinf(value):
        return "∞" if value > 0 else "−∞"
    return f"{value:.{0 if measure.summary == 'sum' else 4}f}".replace("-", "−")


@pytest.mark.product(2)
@pytest.mark.parametrize("missing", ["zero", "skip"])
@pytest.mark.parametrize("documents", [True, False], ids=["documents", "no documents"])
def test_every_measure_of_the_registry_is_pythons(
    open_page: Open, every_measure: list[Any], sampled: Sampled, tmp_path: Path, documents: bool, missing: str
) -> None:
    qrels, runs = _write(tmp_path)
    chosen = sampled(every_measure, 25)
    target = report(
        rs.evaluate(qrels, runs, chosen, missing=missing), tmp_path / "r.html", documents=documents
    )
    measures = list(dict.fromkeys((*chosen, *standard_measures())))
    scores = rs.evaluate(qrels, runs, measures, missing=missing)
    page = open_page(target, "view=runs")
    shown = json.loads(page.evaluate(_SHOWN, [str(measure) for measure in measures]))
    assert len(shown) == len(measures) > 20 and len(every_measure) > 80
    for measure in measures:
        row = shown[str(measure)]
        assert row["title"] == f"Leaderboard by {measure}"
        assert row["meaning"] == measure.meaning
        np.testing.assert_array_equal(_numbers(row["data"]), scores.mean(measure), err_msg=str(measure))
        np.testing.assert_array_equal(_numbers(row["values"]), scores.matrix(measure).values.ravel())
        order = measure.best_first(scores.mean(measure))
        assert row["order"] == [scores.runs[r] for r in order], measure
        assert row["means"] == [_printed(scores.mean(measure)[r], measure) for r in order], measure


@pytest.mark.parametrize("documents", [True, False], ids=["documents", "no documents"])
def test_the_formulas_of_the_page_are_compared_with_python_once(
    open_page: Open, tmp_path: Path, until: Until, documents: bool
) -> None:
    """Negative grades among them: Bpref does not count such documents as judged."""
    qrels, runs = _write(tmp_path)
    page = open_page(report(rs.Collection(qrels, runs), tmp_path / "r.html", documents=documents, cutoff=25))
    until(page, "rankscope.state.agreement !== null")
    agreement = page.evaluate("rankscope.state.agreement")
    assert agreement == {"measures": 20 if documents else 19, "lists": RUNS * TOPICS, "differences": []}
    assert (
        f"agree with it ({agreement['measures']} measures, 42 rankings)"
        in page.locator("footer").inner_text()
    )


def test_differing_formulas_are_reported(open_page: Open, tmp_path: Path) -> None:
    """Values of tied lists are means over orders, which no formula of the page knows."""
    qrels = {f"q{t}": {"a": 1, "b": 0, "c": 1} for t in range(3)}
    runs = {f"q{t}": {"a": 1.0, "b": 1.0, "c": 0.5} for t in range(3)}
    scores = rs.evaluate(qrels, runs, ["AP"], ties="expected")
    from rankscope.explorer import notebook

    (tmp_path / "r.html").write_text(notebook(scores).html, "utf-8")
    page = open_page(tmp_path / "r.html", "view=runs")
    page.get_by_role("alert").wait_for()
    assert "AP by up to 0.1250 on 3 rankings" in page.get_by_role("alert").inner_text()
    shown = page.locator("td.mean").inner_text()
    assert shown == f"{scores.mean('AP')[0]:.4f}"


def test_a_lean_page_keeps_bpref(open_page: Open, tmp_path: Path) -> None:
    qrels, runs = _write(tmp_path)
    page = open_page(
        report(rs.Collection(qrels, runs), tmp_path / "r.html", documents=False), "view=whatif&measure=Bpref"
    )
    assert page.get_by_text("Bpref is left out: this report has no ranks").count() == 1
    page.locator("nav a", has_text="Leaderboard").click()
    expected = sorted(rs.evaluate(qrels, runs, "Bpref").mean("Bpref"), reverse=True)
    assert page.locator("td.mean").all_inner_texts() == [f"{v:.4f}" for v in expected]


def test_changed_settings_are_computed_in_the_browser_and_reported(open_page: Open, tmp_path: Path) -> None:
    qrels, runs = _write(tmp_path)
    page = open_page(
        report(rs.Collection(qrels, runs), tmp_path / "r.html"), "view=runs&measure=Twist&length=15&dcg=jk10"
    )
    expected = rs.evaluate(qrels, runs, "Twist@15").mean("Twist@15")
    means = page.evaluate("Array.from(rankscope.data.means('Twist', rankscope.state.settings))")
    np.testing.assert_allclose(means, expected, rtol=0, atol=1e-12)
    assert "Changed here: N = 15, gains 5 × grade, log₁₀." in page.locator(".changed").inner_text()
    page.get_by_role("button", name="Settings of the evaluation").click()
    means = page.evaluate("Array.from(rankscope.data.means('Twist', rankscope.state.settings))")
    assert means == rs.evaluate(qrels, runs, "Twist").mean("Twist").tolist()
    assert page.locator(".changed").count() == 0
