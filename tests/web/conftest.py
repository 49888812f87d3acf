"""A real browser for the page: the system's Chromium, driven by Playwright."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest

import rankscope as rs

WEB = Path(__file__).parents[2] / "web"

WINDOW = {"width": 1400, "height": 900}
MAX_WAIT = 120_000.0  # Milliseconds; on a busy machine, a page takes far longer than on an idle one.
MEDIA = {"media": "null", "color_scheme": "light", "reduced_motion": "no-preference"}


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "without(*views): views of the page that a test of every view leaves out"
    )
    config.addinivalue_line("markers", "also(*views): former views, which addresses still name")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Parametrize tests that take a ``view`` by the views in the sources of the page."""
    if "view" in metafunc.fixturenames:
        left_out = {name for mark in metafunc.definition.iter_markers("without") for name in mark.args}
        names = _views()
        assert left_out <= set(names)
        moved = [name for mark in metafunc.definition.iter_markers("also") for name in mark.args]
        metafunc.parametrize("view", [name for name in [*names, *moved] if name not in left_out])


def _views() -> list[str]:
    """Return the views of the page in the order of its navigation bar."""
    source = (WEB / "src" / "state.svelte.ts").read_text("utf-8")
    listed = re.search(r"export const VIEWS = \[(.*?)\] as const;", source, re.S)
    assert listed
    return re.findall(r'\["(\w+)", "', listed[1])


@pytest.fixture(scope="session")
def views() -> list[str]:
    """Return all views of the page, including those that only some collections have."""
    return _views()


@pytest.fixture(scope="session")
def read_views() -> Callable[[Any], list[str]]:
    """Return a function that reads the available views of an open page."""
    return lambda page: list(page.evaluate("rankscope.state.views.map(([view]) => view)"))


@pytest.fixture(scope="session")
def places(views: list[str], study_page: Path, aspects_page: Path) -> list[tuple[Path, str]]:
    """Return pages and fragments of all views, and of all facets of the plane."""
    split = [f"plane&facet={kind}" for kind in ("archetype", "topic", "recall base", "group")]
    edited = {"whatif": "whatif&edits=m3-1"}
    addresses = [
        (aspects_page if view == "coverage" else study_page, edited.get(view, view)) for view in views
    ]
    return [
        (page, f"view={view}") for page, view in [*addresses, *((study_page, address) for address in split)]
    ]


@pytest.fixture(scope="session")
def node_modules(shared: Callable[[str, Callable[[], str]], str]) -> Path:
    """Install the packages of the page once for all processes, or skip with a message."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        pytest.skip("Node.js is absent")

    def install() -> str:
        if (WEB / "node_modules" / ".package-lock.json").is_file():
            return ""
        command = ["npm", "install", "--no-package-lock", "--no-save", "--loglevel=error"]
        process = subprocess.run(command, cwd=WEB, capture_output=True, text=True, timeout=600, check=False)
        return process.stderr.strip()[:200] or "npm printed no message" if process.returncode else ""

    if error := shared("packages of the page", install):
        pytest.skip(f"npm cannot install the packages of the page: {error}")
    return WEB / "node_modules"


class Tab:
    """A browser tab that records console errors and network requests, which a page must not cause."""

    def __init__(self, browser: Any, lax: bool) -> None:
        self.page = browser.new_context(viewport=WINDOW, bypass_csp=lax).new_page()
        self.page.set_default_timeout(MAX_WAIT)
        self.problems: list[str] = []
        report = self.problems.append
        self.page.on("console", lambda m: report(m.text) if m.type in ("error", "warning") else None)
        self.page.on("pageerror", lambda error: report(str(error)))
        self.page.on("request", self._request)

    def _request(self, request: Any) -> None:
        if not request.url.startswith(("file:", "data:", "blob:", "about:")):
            self.problems.append(f"request to {request.url}")

    def show(self, path: Path, fragment: str, **media: str) -> Any:
        """Open a page from disk and wait until it stands."""
        self.page.emulate_media(**{**MEDIA, **media})
        self.page.goto(path.resolve().as_uri() + (f"#{fragment}" if fragment else ""))
        self.page.wait_for_selector("main h2")
        return self.page

    def clear(self) -> list[str]:
        """Make it like a new one; what went wrong in it until now."""
        for other in self.page.context.pages[1:]:
            other.close()
        self.page.goto("about:blank")
        self.page.mouse.up()
        self.page.mouse.move(-1, -1)
        if self.page.viewport_size != WINDOW:
            self.page.set_viewport_size(WINDOW)
        problems = self.problems[:]
        self.problems.clear()
        return problems


@pytest.fixture(scope="session")
def free_tabs() -> dict[bool, list[Tab]]:
    """Tabs that no test uses, strict and lax ones: a new one, with a process of its own, takes most of a second."""
    return {False: [], True: []}


@pytest.fixture(scope="session")
def until() -> Callable[[Any, str], None]:
    """Waits until an expression holds in a page (Playwright's own waiting needs eval, which the policy forbids)."""

    def wait(page: Any, expression: str) -> None:
        holds = page.evaluate(
            f"""async () => {{
                for (const end = performance.now() + 60_000; performance.now() < end;) {{
                    if ({expression}) return true;
                    await new Promise((done) => setTimeout(done, 5));
                }}
                return false;
            }}"""
        )
        assert holds, f"still not: {expression}"

    return wait


@pytest.fixture(scope="session")
def settled() -> Callable[[Any], None]:
    """Waits until a page has not changed for three frames."""

    def wait(page: Any) -> None:
        page.evaluate(
            """async () => {
                let quiet = 0;
                const watch = new MutationObserver(() => { quiet = 0; });
                watch.observe(document, {subtree: true, childList: true, attributes: true, characterData: true});
                for (; quiet < 3; quiet++) await new Promise(requestAnimationFrame);
                watch.disconnect();
            }"""
        )

    return wait


@pytest.fixture(scope="session")
def read_state(until: Callable[[Any, str], None]) -> Callable[[Any], dict[str, list[str]]]:
    """Return a function that reads the state from the fragment once the page has updated it."""

    def state(page: Any) -> dict[str, list[str]]:
        until(page, "location.hash.slice(1) === rankscope.state.toFragment()")
        return parse_qs(urlsplit(page.url).fragment)

    return state


@pytest.fixture
def open_page(chromium: Any, free_tabs: dict[bool, list[Tab]]) -> Iterator[Callable[..., Any]]:
    """Return a function that opens a page; fail if the page reported a problem (a lax tab ignores its policy)."""
    taken: list[tuple[bool, Tab]] = []

    def show(path: Path, fragment: str = "", lax: bool = False, **media: str) -> Any:
        tab = free_tabs[lax].pop() if free_tabs[lax] else Tab(chromium, lax)
        taken.append((lax, tab))
        return tab.show(path, fragment, **media)

    yield show
    problems = []
    for lax, tab in taken:
        problems += tab.clear()
        free_tabs[lax].append(tab)
    assert problems == []


@pytest.fixture
def visit(open_page: Callable[..., Any], until: Callable[[Any, str], None]) -> Callable[..., Any]:
    """Shows a view of a page, which is opened when it is first asked for."""
    opened: dict[Path, Any] = {}

    def go(path: Path, fragment: str, **options: Any) -> Any:
        if path not in opened:
            opened[path] = open_page(path, fragment, **options)
        page = opened[path]
        page.evaluate("fragment => { location.hash = fragment; }", fragment)
        until(page, f"rankscope.state.view === {parse_qs(fragment)['view'][0]!r}")
        page.locator("main h2").first.wait_for()
        return page

    return go


@pytest.fixture(scope="session")
def collection_page(
    tmp_path_factory: pytest.TempPathFactory, shared: Callable[[str, Callable[[], Path]], Path]
) -> Path:
    """A report about a small synthetic collection."""
    from rankscope.reporting import report
    from rankscope.simulation import simulate

    def make() -> Path:
        folder = tmp_path_factory.mktemp("page")
        simulate(systems=8, topics=12, grades=3, depth=120, seed=3, pool_depth=40).write(folder / "data")
        return report(
            rs.evaluate(folder / "data" / "qrels.txt", folder / "data" / "runs", "AP ERR@20"),
            folder / "report.html",
        )

    return shared("the page of a small collection", make)


@pytest.fixture(scope="session")
def study_page(
    collection_page: Path, tmp_path_factory: pytest.TempPathFactory, shared: Callable[..., Any]
) -> Path:
    """Write a report of the same collection with a study."""
    from rankscope.cli.main import main

    def make() -> Path:
        folder = tmp_path_factory.mktemp("study")
        data = collection_page.parent / "data"
        files = [str(data / "qrels.txt"), str(data / "runs"), "--quiet"]
        settings = ["-m", "AP nDCG Twist", "--repeats", "2", "--replicates", "50", "--p", "0.8"]
        assert main(["study", *files, *settings, "-o", str(folder / "study")]) == 0
        page = folder / "report.html"
        attributes = [f"{topic},{'odd' if topic % 2 else 'even'},{topic % 5}" for topic in range(301, 313)]
        (folder / "topics.csv").write_text("\n".join(["topic,parity,length", *attributes]))
        by = ["--topic-data", str(folder / "topics.csv"), "--by", "parity", "--by", "length:2"]
        more = ["-m", "AP ERR@20", "--study", str(folder / "study"), "--groups", "^[a-g][a-z]*", *by]
        assert main(["report", *files, *more, "-o", str(page)]) == 0
        return page

    return shared("the page of a small collection with a study", make)


@pytest.fixture(scope="session")
def aspects_page(tmp_path_factory: pytest.TempPathFactory, shared: Callable[..., Any]) -> Path:
    """A report about judgments with aspects: three runs, six topics of five aspects."""
    from rankscope.reporting import report

    def make() -> Path:
        folder = tmp_path_factory.mktemp("aspects")
        rng = np.random.default_rng(5)
        topics, documents = range(101, 107), range(40)
        lines = [
            f"{topic} {aspect} d{document} {int(rng.random() < 0.12)}"
            for topic in topics
            for aspect in range(1, 6)
            for document in documents
        ]
        (folder / "qrels.txt").write_text("\n".join(lines), "utf-8")
        (folder / "runs").mkdir()
        for name in ("one", "two", "three"):
            scored = [f"{t} Q0 d{d} 0 {rng.random():.6f} {name}" for t in topics for d in documents]
            (folder / "runs" / f"{name}.txt").write_text("\n".join(scored), "utf-8")
        measures = "alpha_nDCG@20 StRec@10"
        return report(rs.evaluate(folder / "qrels.txt", folder / "runs", measures), folder / "report.html")

    return shared("the page of judgments with aspects", make)
