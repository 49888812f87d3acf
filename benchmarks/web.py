"""Load time, response time and size of the report, in headless Chromium.

    python -m benchmarks.web [--lists 20000 100000] [--clicks 31]

The collections are random rankings with recall bases as in TREC; speed depends on their size, not on their content.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import rankscope as rs
from rankscope.judging import Judged
from rankscope.judging.judged import ListArrays
from rankscope.read import Qrels
from rankscope.reporting.html_page import render_report
from rankscope.reporting.page_data import payload
from rankscope.tables import Table

__all__ = ["table"]

ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
COVID = (
    Path(os.environ.get("RANKSCOPE_DATA", Path(__file__).parents[2] / "shared" / "data"))
    / "trec_covid_r1_depth100"
)
"""Round 1 of TREC-COVID: 143 runs on 30 topics."""
TOPICS = 50
SEED = 1


def collection(lists: int, depth: int = 1000) -> Judged:
    """Return random judged rankings: recall bases with a heavy tail, relevant documents denser at the top."""
    rng = np.random.default_rng(SEED)
    runs = -(-lists // TOPICS)
    relevant = np.clip(rng.lognormal(3.6, 0.8, TOPICS), 3, 400).astype(int)
    judgments = {
        f"{301 + t}": {f"doc-{t}-{k}": int(rng.integers(1, 4)) for k in range(n)}
        for t, n in enumerate(relevant)
    }
    qrels = Qrels.from_dict(judgments)
    starts = qrels.topic_offsets
    ranks, places, counts = [], [], []
    for _ in range(runs):
        skill = rng.uniform(0.2, 0.9)
        for t in range(TOPICS):
            n = rng.binomial(relevant[t], skill)
            rank = np.unique((depth * rng.beta(0.6, 3, n)).astype(np.int32) + 1)
            ranks.append(rank)
            places.append(rng.permutation(relevant[t])[: len(rank)].astype(np.int32) + np.int32(starts[t]))
            counts.append(len(rank))
    size = runs * TOPICS
    arrays = ListArrays(
        offsets=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        rank=np.concatenate(ranks),
        judgment=np.concatenate(places),
        length=np.full(size, depth, np.int32),
        present=np.ones(size, np.bool_),
        tied=np.zeros(size, np.int32),
    )
    return Judged(tuple(f"run-{r:04d}" for r in range(runs)), qrels, arrays)


def measure(browser: Any, path: Path, clicks: int) -> dict[str, float]:
    """Measure milliseconds from navigation to the drawn plane, and from a click to the drawn curves.

    The page does not take clicks before it has read all parts of the data.
    """
    loads = []
    for _ in range(5):
        tab = browser.new_page(viewport={"width": 1400, "height": 900})
        tab.goto(path.as_uri() + "#view=plane", wait_until="commit")
        tab.wait_for_selector("svg[data-chart=crp] path.run")
        tab.wait_for_timeout(300)
        # counted by the page itself from the start of the navigation
        loads.append(tab.evaluate("performance.getEntriesByName('rankscope:ready')[0].startTime"))
        if len(loads) < 5:
            tab.close()
    tab.wait_for_selector("#page:not([inert])")
    waits = tab.evaluate(_CLICKS, clicks)
    tab.close()
    return {"load": statistics.median(loads), "click": statistics.median(waits), "slowest": max(waits)}


_CLICKS = """async (clicks) => {
    const target = document.querySelector('.overlay');
    const paint = () => new Promise(done => requestAnimationFrame(() => setTimeout(done)));
    const box = target.getBoundingClientRect();
    const {data} = rankscope, x = data.values('Twist', data.defaults), y = data.values('AP', data.defaults);
    const waits = [];
    for (let k = 0; k < clicks; k++) {
        const i = Math.floor(((k * 0.6180339887) % 1) * x.length);
        const at = {clientX: box.left + x[i] * box.width, clientY: box.top + (1 - y[i]) * box.height,
                    bubbles: true, button: 0, pointerId: 1};
        target.setPointerCapture = () => undefined;
        const before = document.querySelector('path.run').getAttribute('d');
        const start = performance.now();
        target.dispatchEvent(new PointerEvent('pointerdown', at));
        target.dispatchEvent(new PointerEvent('pointerup', at));
        await paint();
        if (document.querySelector('path.run').getAttribute('d') !== before) waits.push(performance.now() - start);
    }
    return waits;
}"""


def measure_report(browser: Any, path: Path, clicks: int) -> dict[str, float]:
    """Measure the CPU time of the main thread, in ms, of the first view and of clicks on every tab and on runs.

    CPU time does not depend on what else the machine does.
    """
    tab = browser.new_page(viewport={"width": 1400, "height": 900})
    session = tab.context.new_cdp_session(tab)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def spent() -> float:
        metrics = session.send("Performance.getMetrics")["metrics"]
        return 1000 * float(next(one["value"] for one in metrics if one["name"] == "TaskDuration"))

    loads, waits = [], []
    for _ in range(5):
        tab.goto("about:blank")
        start = spent()
        tab.goto(path.as_uri(), wait_until="commit")
        tab.wait_for_selector(".board tbody tr")
        loads.append(spent() - start)
    tab.locator("td.ranks", has_text=re.compile(r"\d")).first.wait_for()
    tabs = [f"header nav:first-of-type a:nth-child({k})" for k in (*range(2, 7), 1)]
    runs = [f".board tbody tr:nth-child({1 + 7 * k % 40}) th button" for k in range(clicks - len(tabs))]
    for selector in [*tabs, *runs]:
        start = spent()
        tab.evaluate(_CLICK, selector)
        waits.append(spent() - start)
        tab.wait_for_timeout(200)
    tab.close()
    return {"load": statistics.median(loads), "click": statistics.median(waits), "slowest": max(waits)}


_CLICK = """async (selector) => {
    document.querySelector(selector).click();
    await new Promise(done => requestAnimationFrame(() => setTimeout(done)));
}"""

GOALS = {20_000: (1000.0, 100.0), 100_000: (2000.0, 150.0)}
"""Lists: milliseconds until the page stands, and from a click to the curves."""

_COLUMNS = (
    "collection",
    "made (s)",
    "page (MB)",
    "stands after (ms)",
    "click to curves (ms)",
    "slowest click (ms)",
)
_DIGITS = dict(zip(_COLUMNS[1:], (2, 2, 0, 1, 1), strict=True))


def table(quick: bool) -> str:
    """Return the section of BENCHMARKS.md: load and click times against their goals."""
    sizes = [2_000] if quick else list(GOALS)
    try:
        rows = results(sizes, clicks=7 if quick else 31, real=None if quick else COVID)
    except _NothingToMeasureWithError as error:
        return f"Not measured: {error}.\n"
    text = Table("web", _COLUMNS, rows, digits=_DIGITS).markdown()
    verdicts = [
        f"{size:,} lists within {load / 1000:g} s and {click:g} ms: "
        + ("met" if row[3] <= load and row[4] <= click else "missed")
        for (size, (load, click)), row in zip(GOALS.items(), rows, strict=False)
        if not quick
    ]
    if not quick and len(rows) > len(sizes):
        met = "met" if rows[-1][3] <= 1000 and rows[-1][4] <= 100 else "missed"
        verdicts.append(f"{rows[-1][0]} within 1 s and 100 ms: {met}")
    goals = f"\nGoals: {'; '.join(verdicts)}.\n" if verdicts else ""
    return (
        f"Random lists of depth 1,000 on {TOPICS} topics; headless Chromium, the effort/gain plane as first view; "
        "median of 5 loads (counted by the page from the start of the navigation) and of the clicks. TREC-COVID: the "
        "report as `rankscope report` writes it, the leaderboard as first view, clicks on tabs and on runs; CPU "
        "time of the main thread."
        f"\n\n{text}\n{goals}"
    )


class _NothingToMeasureWithError(Exception):
    """No browser, or no Playwright."""


Row = tuple[str, float, float, float, float, float]


def results(sizes: list[int], clicks: int, real: Path | None = None) -> list[Row]:
    """Return a row for each random collection, and for a real one."""
    chromium = next(
        filter(None, map(shutil.which, ("chromium", "chromium-headless-shell", "google-chrome"))), None
    )
    if chromium is None:
        raise _NothingToMeasureWithError("there is no Chromium in the PATH")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        raise _NothingToMeasureWithError("Playwright is not installed") from None

    rows = []
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        target = Path(folder) / "page.html"
        for lists in sizes:
            judged = collection(lists)
            start = time.perf_counter()
            target.write_text(render_report(payload(judged, title=f"{lists:,} lists")), "utf-8")
            rows.append(_row(f"{lists:,} lists", time.perf_counter() - start, browser, target, clicks))
        if real is not None and real.is_dir():
            start = time.perf_counter()
            rs.report(rs.Collection(real / "qrels.txt", real / "runs"), target)
            seconds = time.perf_counter() - start
            rows.append(_row(real.name, seconds, browser, target, clicks, measure_report))
        browser.close()
    return rows


def _row(
    name: str,
    seconds: float,
    browser: Any,
    path: Path,
    clicks: int,
    how: Callable[..., dict[str, float]] = measure,
) -> Row:
    found = how(browser, path, clicks)
    return name, seconds, path.stat().st_size / 1e6, found["load"], found["click"], found["slowest"]


def main() -> None:
    """Print the table for the requested sizes."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--lists", type=int, nargs="*", default=list(GOALS))
    parser.add_argument("--clicks", type=int, default=31)
    parser.add_argument(
        "--data", type=Path, metavar="DIR", help="a real collection, too: DIR/qrels.txt and DIR/runs"
    )
    args = parser.parse_args()
    try:
        rows = results(args.lists, args.clicks, args.data)
    except _NothingToMeasureWithError as error:
        raise SystemExit(str(error)) from None
    print(Table("web", _COLUMNS, rows, digits=_DIGITS).text())


if __name__ == "__main__":
    main()
