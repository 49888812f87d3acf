"""How quickly the page stands and answers: load time, click to curves, size, in headless Chromium.

    python -m benchmarks.web [--lists 20000 100000] [--clicks 31]

The collections are random lists with TREC-like recall bases; their content does not matter for speed, their size does.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from rankscope.judge import Judged
from rankscope.read import Qrels
from rankscope.report.page import page
from rankscope.report.payload import payload
from rankscope.tables import Table

ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
TOPICS = 50
SEED = 1


def collection(lists: int, depth: int = 1000) -> Judged:
    """Random judged lists: recall bases with a heavy tail, relevant documents denser at the top."""
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
    return Judged(
        runs=tuple(f"run-{r:04d}" for r in range(runs)),
        qrels=qrels,
        offsets=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        rank=np.concatenate(ranks),
        judgment=np.concatenate(places),
        length=np.full(size, depth, np.int32),
        present=np.ones(size, np.bool_),
        tied=np.zeros(size, np.int32),
    )


def measure(browser: Any, path: Path, clicks: int) -> dict[str, float]:
    """Milliseconds from navigation to the drawn plane, and from a click to the drawn curves."""
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


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--lists", type=int, nargs="+", default=[20_000, 100_000])
    parser.add_argument("--clicks", type=int, default=31)
    parser.add_argument("--data", metavar="DIR", help="also a real collection: DIR/qrels.txt and DIR/runs")
    args = parser.parse_args()
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if chromium is None:
        raise SystemExit("no Chromium in the PATH")
    from playwright.sync_api import sync_playwright

    rows = []
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        for lists in args.lists:
            judged = collection(lists)
            start = time.perf_counter()
            text = page(payload(judged, title=f"{lists:,} lists"))
            seconds = time.perf_counter() - start
            rows.append(
                _row(f"{lists:,} random lists", browser, Path(folder) / f"{lists}.html", text, seconds, args)
            )
        if args.data:
            start = time.perf_counter()
            text = _real(Path(args.data))
            seconds = time.perf_counter() - start
            rows.append(_row(Path(args.data).name, browser, Path(folder) / "real.html", text, seconds, args))
        browser.close()
    columns = ("collection", "page_s", "page_MB", "load_ms", "click_ms", "slowest_click_ms")
    digits = {"page_s": 2, "page_MB": 2, "load_ms": 0, "click_ms": 1, "slowest_click_ms": 1}
    print(Table("web", columns, rows, digits=digits).text())


def _real(folder: Path) -> str:
    from rankscope.judge import judge
    from rankscope.read import read_qrels, read_runs

    judged = judge(read_qrels(folder / "qrels.txt"), read_runs(folder / "runs"))
    return page(payload(judged, title=folder.name))


def _row(
    name: str, browser: Any, path: Path, text: str, seconds: float, args: argparse.Namespace
) -> tuple[str, float, float, float, float, float]:
    path.write_text(text, "utf-8")
    found = measure(browser, path, args.clicks)
    return name, seconds, path.stat().st_size / 1e6, found["load"], found["click"], found["slowest"]


if __name__ == "__main__":
    main()
