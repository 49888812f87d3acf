"""The browser's numbers are Python's numbers."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankscope as rs
from rankscope.choices import CROSSINGS
from rankscope.judging import Judged, judge
from rankscope.measures import parse_many
from rankscope.scores import score

LISTS = 1000
TOLERANCE = 1e-9
EFFORT = ("Twist", "Rho", "Sigma", "SigmaPlus", "SigmaMinus", "Rho2012", "CRP_min", "CRP_N", "b_ratio")


@pytest.fixture(scope="module")
def console(chromium: Any, collection_page: Path) -> Any:
    page = chromium.new_page()
    page.set_default_timeout(120_000)  # A busy machine may need far more than the usual 30 s.
    page.goto(collection_page.as_uri())
    page.wait_for_selector("main h2")
    yield page
    page.close()


def _sent(cases: list[dict[str, Any]]) -> str:
    """Lists for the page, as text: Playwright would take seconds to hand over as many objects one by one."""
    return json.dumps([{**case, "grades": [g or 0 for g in case["grades"]]} for case in cases])


def _random_lists(seed: int) -> list[dict[str, Any]]:
    """Lists of every kind: short and long, binary and graded, RB beyond N, empty, all relevant, none relevant."""
    rng = np.random.default_rng(seed)
    cases = []
    for _ in range(LISTS):
        levels = sorted(rng.choice([1, 2, 3, 4, 7], size=rng.integers(1, 4), replace=False).tolist())
        counts = {int(g): int(rng.integers(1, 12)) for g in levels}
        counts[0] = int(rng.integers(0, 15))
        pool = [g for g, n in counts.items() for _ in range(n)]
        length = int(rng.integers(0, 60))
        unjudged = [None] * max(0, length - int(rng.integers(0, len(pool) + 1)))
        full = pool + unjudged + [None] * 5
        order = rng.permutation(len(full))[:length]
        cases.append({"counts": counts, "grades": [full[i] for i in order]})
    return cases


@cache
def _judged(seed: int) -> tuple[list[dict[str, Any]], Judged]:
    """Return the random lists of a seed, and the same lists judged as the topics of one run."""
    cases = _random_lists(seed)
    qrels, run = {}, {}
    for number, case in enumerate(cases):
        left = {g: [f"{number}-{g}-{k}" for k in range(n)] for g, n in case["counts"].items()}
        qrels[str(number)] = {document: g for g, documents in left.items() for document in documents}
        unjudged = (f"{number}-u-{k}" for k in range(1000))
        ranked = [next(unjudged) if g is None else left[g].pop() for g in case["grades"]]
        if ranked:
            run[str(number)] = {document: -float(rank) for rank, document in enumerate(ranked)}
    return cases, judge(rs.Qrels.from_dict(qrels), rs.Run.from_dict(run))


@pytest.mark.parametrize("crossing", CROSSINGS)
@pytest.mark.parametrize("length", [1000, 25])
def test_browser_and_python_agree_on_random_lists(console: Any, crossing: str, length: int) -> None:
    cases, judged = _judged(7)
    in_page = {
        "AP": "AP",
        "nDCG": "nDCG",
        "nDCG@10": "nDCG@10",
        "RBP": "RBP(p=0.8)",
        "RBP(p=0.5)": "RBP(p=0.5)",
        "P@10": "P@10",
        "RR": "RR",
        "Rprec": "Rprec",
        "R@100": "R@100",
        **{
            name: f"{name}(crossing='{crossing}')@{length}"
            if name in ("Twist", "Rho")
            else f"{name}@{length}"
            for name in EFFORT
        },
    }
    python = score(judged, parse_many(list(in_page.values())))
    text = console.evaluate(
        """([cases, settings]) => JSON.stringify(JSON.parse(cases).map(c => {
            const d = rankscope.measureAll(c.grades, c.counts, settings);
            // JSON has no infinities, which some indicators do take
            return Object.fromEntries(Object.entries(d.values).map(([k, v]) => [k, String(v)]));
        }))""",
        [_sent(cases), {"crossing": crossing, "length": length}],
    )
    values = json.loads(text)
    assert len(values) == LISTS
    for name, measure in in_page.items():
        expected = python.matrix(measure).values[0]
        actual = np.array([float(row[name].replace("Infinity", "inf")) for row in values])
        np.testing.assert_allclose(actual, expected, rtol=0, atol=TOLERANCE, err_msg=name)


def test_browser_and_python_agree_with_the_papers_gains(console: Any) -> None:
    cases, judged = _judged(11)
    assert all(any(n for g, n in case["counts"].items() if g > 0) for case in cases)
    measure = "nDCG(gains='0,5,10,15,20,25,30,35',discount='jk',base=10)@1000"
    python = score(judged, parse_many([measure])).values[0, 0]
    actual = console.evaluate(
        "cases => JSON.parse(cases).map(c => rankscope.measureAll(c.grades, c.counts, {dcg: 'jk10'}).values.nDCG)",
        _sent(cases),
    )
    np.testing.assert_allclose(actual, python, rtol=0, atol=TOLERANCE)


def test_short_lists_are_not_to_blame_for_few_judged_documents(
    open_page: Callable[..., Any], tmp_path: Path
) -> None:
    """Judged@10 divides by what stands in the first ten ranks, here as in Python."""
    qrels = {"1": {"a": 1, "b": 0, "c": 0}, "2": {"a": 1}}
    runs = {
        "short": {"1": {"a": 3.0, "x": 2.0, "b": 1.0}, "2": {"a": 1.0}},
        "none": {"1": {f"x{i}": -float(i) for i in range(30)} | {"c": 9.0}},
    }
    page = open_page(rs.report(rs.Collection(qrels, runs), tmp_path / "short.html"))
    actual = page.evaluate("Array.from(rankscope.data.values('Judged@10', rankscope.state.settings))")
    expected = rs.evaluate(qrels, runs, ["Judged@10"]).matrix("Judged@10").values
    np.testing.assert_allclose(actual, expected.ravel(), rtol=0, atol=TOLERANCE)


def _number(value: Any) -> float:
    if isinstance(value, dict):
        return float(Fraction(value["frac"]))
    return float(value)


def test_published_and_derived_values(console: Any, golden: list[dict[str, Any]]) -> None:
    cases = [case for case in golden if case["function"] == "twist_all"]
    assert len(cases) > 100
    names = {"sign-change": "sign-change", "definition3": "definition", "matters": "matters"}
    for key, mode in names.items():
        sent = [
            {
                "grades": case["inputs"]["run"],
                "counts": case["inputs"]["counts"],
                "length": case["inputs"].get("N") or len(case["inputs"]["run"]),
            }
            for case in cases
        ]
        texts = console.evaluate(
            """([cases, crossing]) => cases.map(c => {
                const d = rankscope.measureAll(c.grades, c.counts, {length: c.length, crossing});
                return JSON.stringify(d, (k, v) => typeof v === 'number' && !Number.isFinite(v) ? String(v) : v);
            })""",
            [sent, mode],
        )
        for case, text in zip(cases, texts, strict=True):
            values = json.loads(text)
            expected = case["expected"]
            if expected is None:  # no relevant document: undefined
                assert values["effort"] is None, case["name"]
                continue
            for curve in ("rp", "crp"):  # long ones are printed only at their beginning
                assert values[curve][: len(expected[curve])] == expected[curve], case["name"]
            effort = values["effort"]
            actual = {
                "sigma": expected["sigma"],
                "sigmaPlus": expected["sigma_plus"],
                "sigmaMinus": expected["sigma_minus"],
                "rho": expected[key]["rho"],
                "twist": expected[key]["tau"],
                "balance": expected[key]["beta"],
                "turn": expected["crp2012"]["min"],
                "balance2012": expected["crp2012"]["b_r"],
                "worstBalance": expected["crp2012"]["b_w"],
                "lossAtR": expected["crp2012"]["loss_at_R"],
                "crpAtTurn": expected["crp2012"]["crp_at_min"],
            }
            for name, value in actual.items():
                assert _number(str(effort[name]).replace("Infinity", "inf")) == pytest.approx(
                    _number(value), abs=1e-12
                ), (case["name"], mode, name)
            if key == "sign-change" and "archetype" in expected:
                assert _letters(effort["archetype"]) == _letters(expected["archetype"]), case["name"]


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.lower()))


def test_archetypes_and_cells_are_those_of_the_analysis(console: Any, collection_page: Path) -> None:
    folder = collection_page.parent / "data"
    result = rs.effort(rs.Collection(folder / "qrels.txt", folder / "runs"), ["AP"])
    computed = {(run, topic): _letters(kind) for run, topic, kind in result.tables["archetypes"].rows}
    kinds, runs, topics = console.evaluate(
        "[Array.from(rankscope.data.archetypes(rankscope.data.defaults)), rankscope.data.runs, rankscope.data.topics]"
    )
    names = "ideal excellentA excellentB upsanddowns typicalA typicalB fullscale worst".lower().split()
    shown = {
        (run, topic): names[kinds[r * len(topics) + t]]
        for r, run in enumerate(runs)
        for t, topic in enumerate(topics)
    }
    assert shown == computed


def test_browsers_without_native_base64_read_the_same(
    chromium: Any, console: Any, collection_page: Path
) -> None:
    page = chromium.new_page()
    page.set_default_timeout(120_000)  # A busy machine may need far more than the usual 30 s.
    page.add_init_script("delete Uint8Array.fromBase64")
    page.goto(collection_page.as_uri())
    page.wait_for_selector("main h2")
    script = "Array.from(rankscope.data.means('nDCG', rankscope.data.defaults))"
    assert page.evaluate("typeof Uint8Array.fromBase64") == "undefined"
    assert page.evaluate(script) == console.evaluate(script)
    page.close()


def test_the_page_shows_the_scores_of_eval(console: Any, collection_page: Path) -> None:
    folder = collection_page.parent / "data"
    names = ["AP", "nDCG", "nDCG@10", "RBP", "P@10", "Rprec", "Bpref", "Twist", "ERR@20"]
    scores = rs.evaluate(folder / "qrels.txt", folder / "runs", names)
    for name in names:
        values = console.evaluate(
            "name => Array.from(rankscope.data.values(name, rankscope.data.defaults), v => Number.isNaN(v) ? null : v)",
            name,
        )
        actual = np.array([np.nan if v is None else v for v in values]).reshape(len(scores.runs), -1)
        np.testing.assert_allclose(actual, scores.matrix(name).values, rtol=0, atol=TOLERANCE, err_msg=name)
