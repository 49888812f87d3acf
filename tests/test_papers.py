"""The page about the five papers says what its commands print, and leaves no item out."""

from __future__ import annotations

import doctest
import functools
import importlib
import importlib.util
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from numbers import Real
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

DOCS = Path(__file__).parents[1] / "docs"


def _generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_papers", DOCS / "make_papers.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["make_papers"] = module
    spec.loader.exec_module(module)
    return module


MAKER = _generator()
RUNNING = importlib.import_module("papers.running")
TWIST = importlib.import_module("papers.twist")
PAGE = (DOCS / "papers.md").read_text("utf-8")
CASES = [
    pytest.param(row, id=f"{paper.__name__.split('.')[-1]}-{number}-{row.item}")
    for paper in MAKER.PAPERS
    for number, row in enumerate(paper.ROWS)
]
NUMBERED = {
    "papers.twist": {"Definition": 15, "Proposition": 3, "Figure": 14, "Table": 4},
    "papers.crp": {"Equation": 10, "Figure": 3},
    "papers.properties": {"Equation": 11, "Figure": 5, "Table": 1},
    "papers.scales": {"Definition": 3, "Theorem": 1, "Equation": 2},
    "papers.rbp": {"Figure": 5, "Table": 3},
}
"""Numbers of definitions, equations and so on in each paper."""


@pytest.fixture(scope="session", autouse=True)
def every_command_once(shared: Callable[[str, Callable[[], Any]], Any], light_fonts: None) -> Iterator[None]:
    """Studies of four collections are the work of many rows: whichever process comes first does it for all.

    Each draws the figures of its tables. The additional ones of single collections are drawn by the study of the Twist
    paper alone, which has all kinds of them: test_a_study_of_four_collections_draws_every_figure.
    """
    study = importlib.import_module("rankscope.cli.study")
    alone = RUNNING._tables

    def output(command: str) -> Any:
        with pytest.MonkeyPatch.context() as patch:
            if command != TWIST.STUDY:
                patch.setattr(study, "_pictures", lambda args, match, _: study._figures(args, match))
            return alone(command)

    RUNNING._tables = functools.cache(lambda command: shared(command, lambda: output(command)))
    yield
    RUNNING._tables = alone


@pytest.mark.slow
def test_a_study_of_four_collections_draws_every_figure(data_dir: Any) -> None:
    for folder in MAKER.folders(RUNNING.needs(TWIST.STUDY)):
        assert data_dir / folder
    tables = RUNNING.run_source(TWIST.STUDY, "")
    planes = ("AP", "Bpref", "RBP", "nDCG_discount_jk_base_10")
    together = {"correlation", "robustness", "depth_pool_means", "discriminative_power", "bounds", "means"}
    additional = {"heat_map", "topics", "findings", "forest", "differences", "ranks", "orderings"}
    kinds = {
        number: additional if number != 3 else additional - {"forest", "differences", "ranks"}
        for number in range(1, 5)
    }
    figures = {f"{kind}-{number}" for number, some in kinds.items() for kind in some}
    expected = {*together, *(f"effort_gain-{plane}" for plane in planes), *figures}
    assert {name.removesuffix(".pdf") for name in tables["files"] if name.endswith(".pdf")} == expected
    for name in figures:  # Each has a file with its numbers.
        assert tables[name] and f"{name}.csv" in tables["files"]


@pytest.mark.slow
@pytest.mark.product(30)
@pytest.mark.parametrize("row", CASES)
def test_a_row_is_what_its_command_prints(row: Any, data_dir: Any) -> None:
    for folder in MAKER.folders(row.needs):
        assert data_dir / folder
    output = MAKER.make(row)
    assert output.line in PAGE.splitlines()
    if output.detail:
        assert MAKER.longer(output, output.detail) in PAGE


NUMBER = re.compile(r"(?<![\w.])[-+]?\d(?:[\d,]*\d)?(?:\.\d+)?")


def _numbers(result: Any) -> Iterator[float]:
    """Return every number in the output of a command, or in the value of an expression."""
    if isinstance(result, dict):
        result = [*result.keys(), *result.values()]
    if isinstance(result, str):
        yield from (float(text.replace(",", "")) for text in NUMBER.findall(result[:100_000]))
    elif isinstance(result, (list, tuple)):
        for part in result:
            yield from _numbers(part)
    elif isinstance(result, Real) and not isinstance(result, bool):
        yield float(result)


def absent_numbers(row: Any, cell: str, output: Any) -> list[str]:
    """Return the numbers of a cell that are neither in the array of the output nor in its command or text."""
    shown = np.abs(np.append(output, [*_numbers([row.what, row.command, row.python])]))
    return [
        text
        for text in NUMBER.findall(re.sub("`[^`]*`", "", cell))
        for value, slack in [
            (abs(float(text.replace(",", ""))), 0.500001 / 10 ** len(text.partition(".")[2]))
        ]
        if not any((np.abs(value - factor * shown) <= slack).any() for factor in (1, 100))
    ]


@functools.cache
def numbers_of_source(command: str, python: str) -> Any:
    """Return every number in the output of a command or expression, which many rows share."""
    return np.array(list(_numbers(RUNNING.run_source(command, python))))


def test_a_number_that_no_command_prints_is_noticed() -> None:
    row = MAKER.Row("Table 0", "rank 7", command="rankscope eval -m P@5")
    result = {"means": [{"value": 0.12345, "share": "0.905"}]}
    output = list(_numbers(result))
    assert absent_numbers(row, "0.123, 90.5 %, 7, P@5", output) == []
    assert absent_numbers(row, "0.124, 91 %, -8", output) == ["0.124", "-8"]


@pytest.mark.slow
@pytest.mark.product(30)
@pytest.mark.parametrize(
    "row",
    [*CASES, *(pytest.param(r, id=r.item) for _, _, rows in MAKER.findings_page.SECTIONS for r in rows)],
)
def test_every_number_of_a_row_is_in_the_output_of_its_command(row: Any, data_dir: Any) -> None:
    for folder in MAKER.folders(row.needs):
        assert data_dir / folder
    if row.ours is not None:
        result = RUNNING.run_source(row.command, row.python)
        output = numbers_of_source(row.command, row.python)
        assert absent_numbers(row, row.ours(result), output) == []


def test_a_row_is_equal_only_if_the_paper_prints_what_comes_out() -> None:
    rows = [line.removeprefix("| ").split(" | ") for line in PAGE.splitlines() if "| **" in line]
    equal = [cells for cells in rows if cells[-1].startswith("**equal**")]
    assert len(equal) > 30
    assert all(cells[3] == cells[4] != "" for cells in equal)
    assert all(cells[3] for cells in rows if cells[-1].startswith("**holds**"))
    unprinted = {  # numbers that stood on the page as the paper's
        ("Property 3", "0"),
        ("Property 4", "(0, 0, 0, 0, 0, 0)"),
        ("Figure 1", "13"),
        ("Section 3.3", "88,573"),
        ("Equation 8", "0.0833"),
        ("Example 5", "(1, 1, 1, 1, 1, 1, 1, 1, 1, 1)<br>(0, 0, 0, 0, 0, 0, 0, 0, 1, 1)"),
    }
    assert not unprinted & {(cells[0], cells[3]) for cells in rows}


def test_the_features_of_the_collections_are_all_there() -> None:
    """Table 3 of Ferro and Silvello (2015) has nine."""
    table = PAGE.split("### Table 3\n")[-1].split("\n### ")[0]
    features = [
        line.split(" | ")[0].removeprefix("| ") for line in table.splitlines() if line.startswith("| ")
    ][1:]
    assert features == [
        *("Year", "Track", "# Documents", "# Topics", "# Runs"),
        *("Run Length", "Relevance Degrees", "Pool Depth", "Languages"),
    ]


def test_the_page_of_official_files_names_every_file_that_tests_and_pages_read() -> None:
    page = (DOCS / "data.md").read_text("utf-8")
    parts = {part for _, text in RUNNING.COLLECTIONS.values() for part in text.split()}
    parts |= {part for text in RUNNING.OTHERS.values() for part in text.split()} | {RUNNING.LEADERBOARD}
    folder = r'"(trec_covid_\w+|trec_eval_test|cranfield|trec_dd|score_matrices)"'
    for path in DOCS.parent.joinpath("tests").rglob("test_*.py"):
        for match in re.finditer(folder + r'\s*/\s*"([^"{}]+)"', path.read_text("utf-8")):
            parts.add("/".join(match.groups()))
    assert len(parts) > 8
    for part in parts:
        home, name = part.split("/")[:2]
        assert f"`{home}`" in page, home
        assert f"`{name}`" in page or home == "score_matrices" or name.startswith("runs"), part


FINDINGS = (DOCS / "findings.md").read_text("utf-8")


@pytest.mark.slow
@pytest.mark.product(30)
@pytest.mark.parametrize(
    "row", [pytest.param(row, id=row.item) for _, _, rows in MAKER.findings_page.SECTIONS for row in rows]
)
def test_a_finding_is_what_its_command_shows(row: Any, data_dir: Any) -> None:
    for folder in MAKER.folders(row.needs):
        assert data_dir / folder
    assert MAKER.finding(MAKER.make(row)) in FINDINGS.splitlines()


def test_the_findings_are_these_and_no_others() -> None:
    assert sum(line.startswith("| ") for line in FINDINGS.splitlines()) == sum(
        len(rows) + 1 for _, _, rows in MAKER.findings_page.SECTIONS
    )
    lines = [line for line in FINDINGS.splitlines() if not line.startswith("|") and line]
    texts = [
        part
        for title, text, _ in MAKER.findings_page.SECTIONS
        for part in (f"## {title}", " ".join(text.split()))
    ]
    assert lines == [
        MAKER.WRITTEN,
        "# Findings about papers and programs",
        " ".join(MAKER.findings_page.INTRODUCTION.split()),
        *texts,
    ]


def test_the_page_holds_these_rows_in_this_order_and_counts_them() -> None:
    sections = PAGE.split("\n## ")[1:]
    assert len(sections) == len(MAKER.PAPERS)
    statuses: Counter[str] = Counter()
    for paper, section in zip(MAKER.PAPERS, sections, strict=True):
        table = section.split("\n\n")[2].splitlines()[2:]
        assert [line.split(" | ")[0].removeprefix("| ") for line in table] == [row.item for row in paper.ROWS]
        statuses.update(re.findall(r"\| \*\*([\w ]+)\*\*[^|]*\|$", "\n".join(table), re.MULTILINE))
        assert section.startswith(f"{paper.TITLE}\n\n{' '.join(paper.ABOUT.split())}\n\n{MAKER.HEAD}\n")
    assert statuses.total() == len(CASES)
    assert PAGE.split("\n\n## ")[0] == MAKER.preface(statuses)


def test_every_numbered_item_has_a_row() -> None:
    for paper in MAKER.PAPERS:
        items = [row.item for row in paper.ROWS]
        for kind, last in NUMBERED[paper.__name__].items():
            for number in range(1, last + 1):
                pattern = re.compile(rf"{kind} {number}\b")
                assert any(pattern.match(item) for item in items), f"{paper.__name__}: {kind} {number}"


def test_the_files_of_the_examples_are_those_of_the_papers() -> None:
    home = DOCS / "papers" / "examples"
    present = {path.relative_to(home).as_posix(): path.read_text("utf-8") for path in home.rglob("*.*")}
    assert present == MAKER.lists.files()


@pytest.mark.parametrize("module", ["lists", "reading", "running"])
def test_the_doctests_of_the_papers_page_pass(module: str) -> None:
    failed, tried = doctest.testmod(importlib.import_module(f"papers.{module}"))
    assert tried > 0
    assert failed == 0


def test_a_difference_without_a_reason_is_refused() -> None:
    row = MAKER.Row("Table 0", "one", python="1", paper="2", ours=str)
    with pytest.raises(ValueError, match="no reason"):
        MAKER.make(row)
    assert MAKER.make(MAKER.Row("Table 0", "one", python="1", paper="1", ours=str)).status == "equal"
