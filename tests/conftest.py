"""Shared fixtures: groups of tests with requirements, published values, official files, effort of random tests."""

from __future__ import annotations

import gc
import hashlib
import io
import json
import os
import pickle
import shutil
import signal
import time
import tomllib
import warnings
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import nullcontext
from datetime import date
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

# ranx would compile for a minute; interpreted, the same code takes a millisecond here.
os.environ.setdefault("NUMBA_DISABLE_JIT", "1")
# One process per core runs tests already; more threads of OpenBLAS would wait for each other.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

ROOT = Path(__file__).parents[1]
GROUPS: dict[str, dict[str, Any]] = tomllib.loads((ROOT / "tests" / "groups.toml").read_text("utf-8"))
DATA = Path(os.environ.get("RANKSCOPE_DATA") or ROOT.parent / "shared" / "data")
"""Directories of official files; docs/data.md explains how to get them."""

# Quick (default) and full (tests/run --coverage) try the same examples every time; a thorough pass looks for new ones.
for name, examples in (("quick", 15), ("full", 60)):
    settings.register_profile(
        name,
        max_examples=examples,
        derandomize=True,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
    )
settings.register_profile(
    "thorough", max_examples=2000, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
PROFILE = os.environ.get("RANKSCOPE_HYPOTHESIS", "quick")
settings.load_profile(PROFILE)

# The quick profile runs a sample of each product; worker processes inherit its seed.
SEED = os.environ.setdefault("RANKSCOPE_SEED", date.today().isoformat())
N_CASES = 60
"""Number of cases of a product (mark ``product``) in its sample, unless the mark has a number."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--complete", action="store_true", help="fail when tests that could run here were left out"
    )


@cache
def missing(group: str) -> str | None:
    """Return the requirement of a group that this machine lacks, or None if its tests can run."""
    needs = GROUPS[group]
    if "probe" in needs:
        module, _, function = needs["probe"].partition(":")
        return None if getattr(import_module(module), function)() else "not built"
    if "programs" in needs and not any(map(shutil.which, needs["programs"])):
        return f"no {needs['programs'][0]}"
    if "folder" in needs and not (ROOT / needs["folder"]).is_dir():
        return f"no folder {needs['folder']}"
    absent = [module for module in needs.get("modules", ()) if find_spec(module) is None]
    if absent:
        return f"no {', '.join(absent)}"
    return f"no folder {DATA}" if group == "data" and not DATA.is_dir() else None


def _groups(item: pytest.Item) -> set[str]:
    """Return the groups of a test, by its marks and its fixtures."""
    marked = {name for mark in item.iter_markers("needs") for name in mark.args}
    names = set(getattr(item, "fixturenames", ()))
    return marked | {name for name, needs in GROUPS.items() if names & set(needs.get("fixtures", ()))}


LONG = (
    "test_spark.py", "test_site.py", "test_papers.py", "test_benchmarks.py", "web/test_page.py",
    "web/test_figures.py", "analysis/findings/test_findings.py", "analysis/test_bench.py",
    "faults/test_full_disk.py", "test_dask.py", "web/test_firefox.py", "lab/test_scales.py",
    "test_readme.py", "faults/test_binary.py", "trec_eval/test_official.py",
    "lab/test_difference_structure.py", "certainty/test_recorded.py", "web/test_bundle.py",
    "faults/test_soak.py", "plots/test_sizes.py", "web/test_same_numbers.py", "web/test_accessibility.py",
    "web/test_paper.py", "plots/test_figure.py", "web/test_hostile.py", "web/test_together.py",
    "test_one_door.py", "cli/test_hostile.py", "faults/test_stated_limits.py", "web/test_whatif.py",
    "test_release.py", "measures/test_registry.py", "faults/test_replacement.py", "lab/test_lumped.py",
    "web/test_findings_page.py", "lab/test_identify.py", "plots/test_gallery.py", "web/test_search.py",
    "test_streaming.py", "native/c/test_variants.py", "analysis/test_certain_covid.py",
    "web/test_explorer_page.py", "certainty/test_many_topics.py", "analysis/test_certain.py",
    "plots/test_meta.py", "web/test_better.py", "native/test_readahead.py", "analysis/study/test_several.py",
    "certainty/test_joint_brute_force.py", "faults/test_interrupts.py", "lab/test_certificates.py",
    "faults/test_memory.py", "lab/test_conformance.py",
)  # fmt: skip
"""The files that take longest, or begin with something that does (Spark, a browser, the site), the longest first."""


def longest_first(items: list[pytest.Item], processes: int) -> list[pytest.Item]:
    """Order the tests: every process has an equal part of them in a row, and takes from the end of another's
    when it is done. The long files are dealt to the beginnings, so that they stay whole and do not delay the end.
    """
    files: dict[str, list[pytest.Item]] = {}
    for item in items:
        files.setdefault(item.nodeid.partition("::")[0].removeprefix("tests/"), []).append(item)
    long = [files.pop(name) for name in LONG if name in files]
    rest = [item for file in files.values() for item in file]
    ordered: list[pytest.Item] = []
    for process in range(processes):
        own = [item for file in long[process::processes] for item in file]
        size = (len(items) - len(ordered)) // (processes - process)
        more = max(0, size - len(own))
        ordered += [*own, *rest[:more]]
        del rest[:more]
    return [*ordered, *rest]


def draw(cases: Sequence[Any], number: int, seed: str) -> list[Any]:
    """Return a random sample of cases, in their order."""
    indices = Random(seed).sample(range(len(cases)), min(number, len(cases)))
    return [cases[index] for index in sorted(indices)]


def sample_products(items: list[pytest.Item], seed: str) -> list[pytest.Item]:
    """Return the tests with a sample of the cases of each function that is marked as a product.

    A sample has ``N_CASES`` cases, or as many as the argument of the mark says.
    """
    products: dict[str, list[pytest.Item]] = {}
    numbers: dict[str, int] = {}
    for item in items:
        if mark := item.get_closest_marker("product"):
            name = item.nodeid.partition("[")[0]
            products.setdefault(name, []).append(item)
            numbers[name] = mark.args[0] if mark.args else N_CASES
    left_out = {
        item
        for name, cases in products.items()
        for item in {*cases} - {*draw(cases, numbers[name], f"{seed} {name}")}
    }
    return [item for item in items if item not in left_out]


@pytest.fixture
def sampled(request: pytest.FixtureRequest) -> Callable[[Sequence[Any], int], list[Any]]:
    """Function that samples the cases of a sweep within one test; only the profile quick samples."""
    seed = f"{SEED} {request.node.nodeid}"
    return lambda cases, number: draw(cases, number, seed) if PROFILE == "quick" else list(cases)


@pytest.hookimpl(trylast=True)  # after pytest's own arrangement
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    n_collected = len(items)
    if PROFILE == "quick" and not any("::" in word for word in config.args):
        items[:] = sample_products(items, SEED)
    report: Any = config.pluginmanager.get_plugin("left-out")
    if report is None:  # in a worker
        config.workeroutput["n_unsampled"] = n_collected - len(items)  # type: ignore[attr-defined]
    else:
        report.n_unsampled = n_collected - len(items)
    items[:] = longest_first(items, getattr(config, "workerinput", {}).get("workercount", 1))
    for item in items:
        for group in sorted(_groups(item)):
            if GROUPS[group].get("planned"):
                raise pytest.UsageError(
                    f"{item.nodeid} needs {group}: take 'planned' away in tests/groups.toml"
                )
            item.user_properties.append(("group", group))


class Examples:
    """Collects no doctests of modules without examples: doctest would inspect all their objects."""

    @pytest.hookimpl(wrapper=True)
    def pytest_collect_file(self, file_path: Path) -> Generator[None, list[Any], list[Any]]:
        collectors = yield
        is_doctest = [type(collector).__name__ == "DoctestModule" for collector in collectors]
        if any(is_doctest) and b">>> " not in file_path.read_bytes():
            return [c for c, skipped in zip(collectors, is_doctest, strict=True) if not skipped]
        return collectors


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Thirteen thousand tests and what they import stay until the end: the collector need not look through them."""
    if not session.config.pluginmanager.hasplugin("dsession"):  # which lets other processes collect
        gc.disable()


def pytest_collection_finish() -> None:
    gc.freeze()  # without collecting: collection makes little garbage, and finding it takes half a second
    gc.set_threshold(100_000, *gc.get_threshold()[1:])  # as the program itself does
    gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    for name, group in item.user_properties:
        if name == "group" and (lack := missing(str(group))):
            pytest.skip(f"{lack}: {GROUPS[str(group)]['get']}")


@pytest.hookimpl(trylast=True)  # after the fixtures of the file
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Fail if the tests of a file left sockets or pipes open in cyclic garbage.

    Otherwise their ResourceWarnings appear whenever the garbage is collected, perhaps in a test of another file that
    counts the lines of standard error.
    """
    if nextitem is not None and nextitem.path == item.path:
        return
    with warnings.catch_warnings(record=True) as leaks:
        warnings.simplefilter("always", ResourceWarning)
        gc.collect()
    assert [str(leak.message) for leak in leaks] == []


class LeftOut:
    """Counts the tests of every group that ran and that were skipped, and prints the counts at the end."""

    def __init__(self, complete: bool) -> None:
        self.complete = complete
        self.n_unsampled = 0
        self.ran: Counter[str] = Counter()
        self.skipped: Counter[str] = Counter()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        groups = [str(value) for name, value in report.user_properties if name == "group"]
        if report.skipped:
            lacking = [group for group in groups if missing(group)]
            self.skipped.update([*lacking, *groups, "other"][:1])
        elif report.when == "call":
            self.ran.update(groups)

    def wrong(self) -> list[str]:
        """Return the groups that could run here but did not, or not completely."""
        return [
            name
            for name, needs in GROUPS.items()
            if not needs.get("planned")
            and (needs["expected"] == "always" or not missing(name))
            and (self.skipped[name] or not self.ran[name])
        ]

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self.complete and self.wrong() and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        self.n_unsampled = getattr(node, "workeroutput", {}).get("n_unsampled", 0)  # the same in every worker

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if self.n_unsampled:
            terminalreporter.write_line(
                f"left out: {self.n_unsampled} cases of products, beyond their samples"
                f" (RANKSCOPE_SEED={SEED} repeats them): tests/run --coverage runs all"
            )
        for name, count in sorted(self.skipped.items()):
            needs = GROUPS.get(name, {"what": "no group", "get": "the reasons are among the skipped ones"})
            lack = missing(name) if name in GROUPS else None
            terminalreporter.write_line(
                f"left out: {count} tests of {needs['what']} ({lack or 'skipped'}): {needs['get']}"
            )
        if self.complete:
            for name in self.wrong():
                terminalreporter.write_line(f"left out: {name} should have run here", red=True)


def pytest_configure(config: pytest.Config) -> None:
    # who is started in the background ignores Ctrl-C, and so would every command that the tests start and interrupt
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    config.addinivalue_line(
        "markers", "needs(group): left out where a group of tests/groups.toml lacks something"
    )
    config.addinivalue_line(
        "markers", "product(number): many similar cases, of which the quick profile runs a sample"
    )
    config.pluginmanager.register(Examples())
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(LeftOut(config.getoption("--complete")), "left-out")


class OfficialFiles:
    """Return the folder of official files: ``data_dir / "cranfield"`` is a collection, or a visible skip."""

    def __truediv__(self, name: str) -> Path:
        if not (DATA / name).is_dir():
            pytest.skip(f"the official files {name} are absent: see docs/data.md")
        return DATA / name


@pytest.fixture(scope="session")
def data_dir() -> OfficialFiles:
    """Real runs and judgments (TREC-COVID, Cranfield, Web diversity, trec_eval's own tests)."""
    return OfficialFiles()


Cases = list[dict[str, Any]]


def _cases(name: str) -> Cases:
    cases: Cases = json.loads((ROOT / "tests" / "golden" / name).read_text("utf-8"))["cases"]
    return cases


@pytest.fixture(scope="session")
def golden() -> Cases:
    """Published and derived values: cases with function, inputs, expected."""
    return _cases("golden.json")


@pytest.fixture(scope="session")
def certainty() -> Cases:
    """Exact values under ties and unjudged documents, dominance and interval mappings, by enumeration."""
    return _cases("certainty.json")


class Shared:
    """Return a function that computes a value once for all processes of a test run: ``shared(name, make)``."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, name: str, make: Callable[[], Any]) -> Any:
        """Return the result of ``make``, from this process or from the first one that called it; it is pickled."""
        file = self.folder / f"{hashlib.sha256(name.encode()).hexdigest()}.pickle"
        lock = file.with_suffix(".lock")
        end = time.monotonic() + 300
        while not file.exists():
            try:
                lock.mkdir()
            except FileExistsError:  # another process is at it
                if time.monotonic() > end:
                    return make()  # or was killed
                time.sleep(0.1)
                continue
            try:
                part = file.with_suffix(".part")
                part.write_bytes(pickle.dumps(make()))
                part.replace(file)
            finally:
                lock.rmdir()
        return pickle.loads(file.read_bytes())


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Shared:
    """See :class:`Shared`; the folder is that of the run, above those of its processes."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "shared-between-processes"
    folder.mkdir(exist_ok=True)
    return Shared(folder)


USUAL = {*range(32, 127), *map(ord, "−–—…·×Δαβτρ≤≥∅→↑↓")}
"""Characters of almost all figures."""


@pytest.fixture(scope="session")
def light_fonts() -> Iterator[None]:
    """Subset the fonts of PDF files once, with all usual characters, instead of for each figure.

    Nor has it the tables by which letters are set, which nothing in a PDF reads: matplotlib has placed every letter.
    The same characters still give the same bytes.
    """
    options = pytest.importorskip("fontTools.subset").Options
    embedding = pytest.importorskip("matplotlib.backends._backend_pdf_ps")
    from matplotlib.font_manager import get_font

    cut_out, written = embedding.get_glyphs_subset, embedding.font_as_file

    @cache
    def usual(font: Any) -> frozenset[int]:
        return frozenset(glyph for code, glyph in get_font(font).get_charmap().items() if code in USUAL)

    @cache
    def subset(font: Any, glyphs: frozenset[int]) -> Any:
        return cut_out(font, set(glyphs)).__enter__()  # and stays open

    @cache
    def content(font: Any) -> bytes:
        return bytes(written(font).getvalue())

    with pytest.MonkeyPatch.context() as light:
        tables = [*options._drop_tables_default, "GSUB", "GPOS", "GDEF", "kern"]
        light.setattr(options, "_drop_tables_default", tables)
        light.setattr(
            embedding,
            "get_glyphs_subset",
            lambda font, glyphs: nullcontext(subset(font, usual(font) | frozenset(glyphs))),
        )
        light.setattr(embedding, "font_as_file", lambda font: io.BytesIO(content(font)))
        _measure_text_once(light)
        yield


def _measure_text_once(light: pytest.MonkeyPatch) -> None:
    """Cache the sizes of texts for all figures."""
    from matplotlib import rcParams, text
    from matplotlib.backend_bases import RendererBase
    from matplotlib.backends._backend_pdf_ps import RendererPDFPSBase
    from matplotlib.backends.backend_agg import RendererAgg
    from matplotlib.font_manager import get_font

    rules = (
        "font.family",
        "font.serif",
        "font.sans-serif",
        "font.monospace",
        "text.hinting",
        "pdf.use14corefonts",
    )

    def remembered(measure: Callable[..., Any]) -> Callable[..., Any]:
        measures: dict[Any, Any] = {}

        def size(self: Any, s: str, prop: Any, ismath: Any) -> Any:
            if ismath:
                return measure(self, s, prop, ismath)
            style = tuple(str(rcParams[rule]) for rule in rules)
            names = type(self), s, prop.copy(), self.points_to_pixels(1), style
            if names not in measures:
                measures[names] = measure(self, s, prop, ismath)
            return measures[names]

        return size

    for renderer in (RendererBase, RendererAgg, RendererPDFPSBase):
        light.setattr(
            renderer, "get_text_width_height_descent", remembered(renderer.get_text_width_height_descent)
        )

    class Metrics:
        """Of a font only what is in its tables."""

        def __init__(self, font: Any) -> None:
            self.get_sfnt_table = cache(font.get_sfnt_table)

    @cache
    def metrics(paths: tuple[Any, ...]) -> Metrics:
        return Metrics(get_font(paths))

    light.setattr(text, "get_font", lambda paths: metrics(tuple(paths)))


@pytest.fixture(scope="session")
def every_measure() -> list[Any]:
    """Return every measure of the registry once, with a cutoff if it requires one."""
    from rankscope.measures import REGISTRY

    measures = [one for name, one in REGISTRY.items() if one.name == name and one.family != "user"]
    names = {
        one.name: 0.5 if one.name == "IPrec" else 10 for one in measures if one.cutoff_rule == "required"
    }
    return [one @ names[one.name] if one.name in names else one for one in measures]


ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """Launch Chromium, or skip with a message if it is not installed."""
    api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    needs = GROUPS["browser"]
    # The shell has no window to draw: tests of the page take a third less CPU time in it.
    path = next(filter(None, map(shutil.which, [*needs["faster"], *needs["programs"]])), None)
    if path is None:
        pytest.skip("no Chromium in the PATH: the tests of the page need one")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield browser
        browser.close()
