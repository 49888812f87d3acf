"""The documentation site: built without a warning, readable without a network, every link and command in it checked."""

from __future__ import annotations

import doctest
import importlib.util
import inspect
import json
import re
import shlex
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import unquote
from xml.etree import ElementTree

import pytest

import rankscope as rs
from rankscope.cli.commands import COMMANDS, OWN_GRAMMAR
from rankscope.cli.main import command_parser
from rankscope.docstrings import parse_docstring
from rankscope.measures import REGISTRY, parse_many
from rankscope.trec_eval.options import read_options

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
sys.path.insert(0, str(DOCS))

from book import api, commands, formulas, measures, pages, schemas, tutorials  # noqa: E402

FENCE = re.compile(r"^( *)(```+|~~~+)(.*)\n((?:.*\n)*?)^\1\2 *$", re.MULTILINE)
ELSEWHERE = {  # pages whose examples are run by tests of their own
    "effort.md": "tests/analysis/test_effort_docs.py",
    "laboratory.md": "tests/lab/test_laboratory_guide.py",
    "meta-evaluation.md": "tests/analysis/test_meta_docs.py",
    "certainty.md": "tests/analysis/test_certainty_docs.py",
}
PATHS = {
    "doctoral student": {
        "a first evaluation": "tutorials/first-evaluation",
        "ten systems for a paper": "tutorials/paper",
        "CRP by hand": "tutorials/effort-by-hand",
        "effort explained": "effort",
        "propose a measure": "tutorials/new-measure",
        "the experiments of a measure paper": "meta-evaluation#study",
        "what a measure guarantees": "laboratory",
        "what the papers got wrong": "findings",
        "a figure for the paper": "gallery",
        "what to cite": "reference/commands/cite",
    },
    "search engineer": {
        "from nothing to a table": "start",
        "the files there are": "inputs",
        "the scripts there are": "coming-from",
        "trec_eval itself": "trec_eval",
        "topics that were lost": "meta-evaluation#comparing-runs",
        "a gate in CI": "tutorials/gate",
        "one page to send": "explorer",
        "what an option means": "reference/commands/eval",
    },
    "data engineer": {
        "frames, Parquet, JSON": "inputs",
        "RAG and judges that are models": "tutorials/rag",
        "a billion rows": "tutorials/billion-rows",
        "the JSON for programs": "reference/tables",
        "unjudged documents": "certainty#unjudged-documents",
        "which engine": "scale#which-engine-when",
        "Spark tables": "scale#spark-dataframes",
        "what is fast": "benchmarks",
        "what is safe with untrusted input": "security",
    },
    "campaign organiser": {
        "the official numbers": "trec_eval",
        "is the order certain": "certainty#is-the-order-certain",
        "what to judge next": "certainty#what-to-judge-next",
        "a shallower pool": "meta-evaluation#pools",
        "do the judges agree": "certainty#agreement-of-judges",
        "measures that may be averaged": "scales",
        "diversity measures": "measures/alpha_nDCG",
    },
}
"""Goals of four readers and their pages, each at most two clicks from the start page."""


class _Page(HTMLParser):
    """Anchors and links of a page, with the links in the text separate from the sidebar."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.in_text: list[str] = []
        self.loaded: list[str] = []
        self._article = 0
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        match = {key: value or "" for key, value in attrs}
        self._article += tag == "article"
        self.ids |= {match[key] for key in ("id", "name") if key in match}
        if tag == "a" and "href" in match:
            self.links.append(match["href"])
            if self._article:
                self.in_text.append(match["href"])
        elif tag in ("link", "script", "img", "iframe", "source"):
            self.loaded += [match[key] for key in ("href", "src") if key in match]

    def handle_endtag(self, tag: str) -> None:
        self._article -= tag == "article"


@pytest.fixture(scope="module")
def site(
    tmp_path_factory: pytest.TempPathFactory,
    shared: Callable[[str, Callable[[], tuple[int, str, Path]]], Any],
) -> Path:
    """Build the site with its command, once for all processes."""
    pytest.importorskip("sphinx")

    def build() -> tuple[int, str, Path]:
        folder = tmp_path_factory.mktemp("book") / "site"
        process = subprocess.run(
            [sys.executable, DOCS / "build", folder], capture_output=True, text=True, encoding="utf-8"
        )
        return process.returncode, process.stderr, folder

    code, output, folder = shared("site", build)
    assert code == 0, output
    assert "WARNING" not in output
    return Path(folder)


@pytest.fixture(scope="module")
def built(site: Path) -> dict[str, _Page]:
    """Return every page by its path."""
    return {
        path.relative_to(site).as_posix(): _Page(path.read_text("utf-8"))
        for path in sorted(site.rglob("*.html"))
    }


def _target(page: str, link: str) -> tuple[str, str]:
    """Return the page and the anchor that a link leads to."""
    file, _, anchor = link.partition("#")
    target = (Path("/site") / page).parent / file if file else Path("/site") / page
    parts: list[str] = []
    for part in target.parts[2:]:
        if part == "..":
            parts.pop()
        else:
            parts.append(part)
    return "/".join(parts), anchor


@pytest.mark.slow
def test_links_lead_to_existing_targets(site: Path, built: dict[str, _Page]) -> None:
    """Check that all links lead to existing headings, and that the files that pages load exist."""
    assert len(built) > 120
    dead = []
    for page, match in built.items():
        for link in match.links + match.loaded:
            if re.match(r"(https?|mailto|data):", link) or link in ("#", ""):
                continue
            name, anchor = _target(page, link.partition("?")[0])
            if name not in built:
                if not (site / unquote(name)).is_file():
                    dead.append(f"{page}: {link}")
            elif anchor and anchor not in built[name].ids:
                dead.append(f"{page}: {link}")
    assert dead == []


@pytest.mark.slow
def test_nothing_is_loaded_from_the_network(site: Path, built: dict[str, _Page]) -> None:
    assert [link for match in built.values() for link in match.loaded if "//" in link] == []
    for style in site.rglob("*.css"):
        assert not re.search(r"url\(['\"]?(https?:)?//|@import", style.read_text("utf-8")), style


@pytest.mark.slow
def test_search_needs_no_server(site: Path) -> None:
    """A script contains the words of the pages, which that the page of the search loads from the folder."""
    index = (site / "searchindex.js").read_text("utf-8")
    assert index.startswith("Search.setIndex(") and "twist" in index
    assert "searchindex.js" in (site / "search.html").read_text("utf-8")


@pytest.mark.slow
def test_search_ranks_pages_with_snippets_and_without_errors(site: Path, chromium: Any) -> None:
    tab = chromium.new_page()
    tab.set_default_timeout(120_000)  # A busy machine may need far more than the usual 30 s.
    errors: list[str] = []
    tab.on(
        "console",
        lambda message: errors.append(message.text) if message.type in ("error", "warning") else None,
    )
    tab.on("pageerror", lambda error: errors.append(str(error)))
    expected = {
        "confidence interval": "certainty.html",
        "confidence intervals": "certainty.html",
        "unjudged documents": "certainty.html",
        "twist": "effort.html",
        "leaderboard tasks": "leaderboards.html",
        "machine judge": "correct.html",
    }
    first = {}
    for query in expected:
        tab.goto(f"{(site / 'search.html').as_uri()}?q={query.replace(' ', '+')}")
        tab.wait_for_selector("#search-results li")
        items = tab.query_selector_all("#search-results li")
        scores = [float(item.query_selector("a").get_attribute("data-score")) for item in items]
        assert scores == sorted(scores, reverse=True) and len(scores) > 3
        first[query] = items[0].query_selector("a").get_attribute("href").partition("#")[0]
        marked = {mark.inner_text().lower() for mark in items[0].query_selector_all(".context mark")}
        assert any(mark.startswith(word[:5]) for mark in marked for word in query.split()), (query, marked)
        assert (site / first[query]).is_file()
    tab.goto(f"{(site / 'search.html').as_uri()}?q=%3Cimg+src%3Dx+onerror%3Dalert(1)%3E+zyzzyva")
    tab.wait_for_function("document.querySelector('.search-summary').innerText.includes('No page')")
    assert not tab.query_selector_all("#search-results img")
    tab.close()
    assert errors == []
    assert first == expected


@pytest.mark.slow
@pytest.mark.parametrize("reader", PATHS)
def test_steps_are_two_clicks_away(reader: str, built: dict[str, _Page]) -> None:
    """By links in the text of pages alone, whatever the sidebar has."""
    targets = {_target("index.html", link) for link in built["index.html"].in_text if "://" not in link}
    two = set(targets)
    for page, _ in targets:
        if page in built:
            two |= {_target(page, link) for link in built[page].in_text if "://" not in link}
    reached = two | {(page, "") for page, _ in two}
    for step, path in PATHS[reader].items():
        name, _, anchor = path.partition("#")
        assert (f"{name}.html", anchor) in reached, f"{reader}: {step}"


@pytest.mark.slow
def test_tutorials_are_notebooks_too(site: Path) -> None:
    """Return each executed example with its text, code, output and figures."""
    nbformat = pytest.importorskip("nbformat")
    assert len(tutorials.names()) == 9
    pictures = 0
    for name in tutorials.names():
        (path,) = site.rglob(f"{name}.ipynb")
        notebook = nbformat.read(path, as_version=4)
        nbformat.validate(notebook)
        kinds = {cell.cell_type for cell in notebook.cells}
        outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
        assert kinds == {"markdown", "code"} and outputs
        shown = [output.data["text/html"] for output in outputs if output.output_type == "display_data"]
        assert all(re.match(r'<img alt="[^"]{10,}" style="max-width: 100%', picture) for picture in shown)
        pictures += len(shown)
    assert pictures >= 5
    assert len(list((site / "_images").glob("*.svg"))) > 20


# what is written on the pages -----------------------------------------------------------------------------------------


def texts() -> dict[str, str]:
    """Return every page with commands or code: those that people wrote, and those that are generated."""
    written = {path: (ROOT / name).read_text("utf-8") for path, name in pages.written_pages().items()}
    return {**written, **commands.pages(), "README.md": (ROOT / "README.md").read_text("utf-8")}


TEXTS = texts()


def blocks(text: str) -> Iterator[tuple[str, str]]:
    for match in FENCE.finditer(text):
        yield match[3].strip(), textwrap.dedent(match[4])


def typed(text: str) -> Iterator[str]:
    """Yield the commands of a page, from blocks for shells and from plain ones; continued lines are put together."""
    for language, block in blocks(text):
        if language in ("sh", "bash", "", "yaml"):
            for line in re.sub(r"\\\n\s*", "", block).splitlines():
                match = re.search(r"(?:^|&& |run: |\| |\$ )(?:\S+/)?(rankscope .*)", line.strip())
                if match:
                    yield re.split(r"\s{3,}| && | \| ", match[1])[0]


@pytest.mark.parametrize("page", [path for path, text in TEXTS.items() if any(typed(text))])
def test_commands_can_be_typed(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Parsers of the program accept each command; measures that it names are measures."""
    (tmp_path / "images").mkdir()
    monkeypatch.chdir(tmp_path)
    for line in typed(TEXTS[page]):
        try:
            _, name, *words = shlex.split(line, comments=True)
        except ValueError:
            pytest.fail(f"{page}: {line}")
        if name in ("--help", "--version"):
            continue
        words = words[: words.index(">")] if ">" in words else words
        assert name in COMMANDS, line
        if name in OWN_GRAMMAR:
            read_options(words)
            continue
        try:
            args = command_parser(name).read(words)
        except SystemExit as end:
            assert end.code in (0, None), f"{page}: {line}"
            continue
        if getattr(args, "plugin", None) is None and isinstance(getattr(args, "measure", None), list):
            parse_many(" ".join(map(str, args.measure)))


def _doctest_pages() -> list[str]:
    """Tutorials are run by the site itself, which is not built if they print something else."""
    return [
        path
        for path in TEXTS
        if path not in ELSEWHERE and not path.startswith("tutorials/") and any(examples(path))
    ]


def examples(page: str) -> Iterator[str]:
    """Python sessions of pages are reproduced."""
    for language, block in blocks(TEXTS[page]):
        if language == "python" and re.search(r"^>>> ", block, re.MULTILINE):
            yield block


@pytest.mark.parametrize("page", _doctest_pages())
def test_examples_print_what_they_say(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = "\n\n".join(examples(page))
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    case = doctest.DocTestParser().get_doctest(text, {"rs": rs}, page, page, 0)
    failed, tried = doctest.DocTestRunner(optionflags=flags).run(case)
    assert (failed, tried > 0) == (0, True)


@pytest.mark.parametrize("page", [path for path, text in TEXTS.items() if "```python\n" in text])
def test_python_examples_compile_and_use_existing_names(page: str) -> None:
    """Also what needs a cluster or other people's files: it compiles, and the names of ours in it are there."""
    for language, block in blocks(TEXTS[page]):
        if language == "python" and not re.search(r"^>>> ", block, re.MULTILINE):
            compile(block, page, "exec")
            for dotted in re.findall(r"\brs((?:\.[A-Za-z_]\w*)+)", block):
                match: object = rs
                for part in dotted[1:].split("."):
                    match = getattr(match, part)
                    if not hasattr(match, "__path__") and not hasattr(match, "__file__"):
                        break


def test_every_page_is_tested_somewhere() -> None:
    assert [name for name in ELSEWHERE.values() if not (ROOT / name).is_file()] == []
    assert set(ELSEWHERE) <= TEXTS.keys()


@pytest.mark.parametrize("name", api.functions())
def test_functions_are_documented(name: str) -> None:
    """Check that the reference documents parameters, results, errors and an example."""
    function = api.functions()[name]
    unknown = [key for key in inspect.signature(function).parameters if not api.meaning(name, key)]
    assert unknown == [], "write their meaning into the docstring"
    assert api.returned(function), "write a Returns section into the docstring"
    assert list(api.raised(name, function))
    assert ">>> " in (function.__doc__ or "")


def test_every_documented_parameter_exists() -> None:
    for name, function in api.functions().items():
        documented = parse_docstring(function.__doc__).parameters
        assert documented.keys() <= inspect.signature(function).parameters.keys(), name


def test_functions_raise_the_documented_errors() -> None:
    """Functions raise the errors that the reference documents, for functions of judgments, runs and measures."""
    tried = []
    for name, function in api.functions().items():
        match = inspect.signature(function).parameters.values()
        parameters = [targets.name for targets in match if targets.kind is not targets.KEYWORD_ONLY]
        if parameters[:3] == ["qrels", "runs", "measures"] and not name.startswith("spark"):
            with pytest.raises(rs.errors.MeasureError):
                function({"q": {"d": 1}}, {"a": {"q": ["d"]}, "b": {"q": ["x"]}}, "nDGC@10")
            with pytest.raises(rs.errors.InputError, match=r"absent\.txt"):
                function("absent.txt", {"a": {"q": ["d"]}}, "AP")
            tried.append(name)
    assert tried == ["evaluate"]  # analyses take scores or a collection


@pytest.mark.parametrize("name", api.classes())
def test_classes_are_documented(name: str) -> None:
    """A class, and what it has of its own."""
    kind = api.classes()[name]
    own = [value for key, value in vars(kind).items() if not key.startswith("_") and callable(value)]
    assert [value.__qualname__ for value in [kind, *own] if not inspect.getdoc(value)] == []


def test_differences_from_other_tools_are_those_that_were_found() -> None:
    """Check that all rows of the guide are in the table of conformance."""
    match = set()
    library = ""
    for line in (DOCS / "conformance.md").read_text("utf-8").splitlines():
        library = line.split()[1] if line.startswith("## ") else library
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 6:
            match.add((library, cells[0], *cells[3:]))
    output = [
        tuple(cell.strip() for cell in line.strip("|").split("|"))
        for line in TEXTS["coming-from.md"].splitlines()
        if line.count("|") == 6 and not line.startswith(("| library", "|---"))
    ]
    assert len(output) >= 8
    assert [row for row in output if row not in match] == []


def test_documented_tables_exist() -> None:
    """Check that the JSON of commands has all documented columns; docs/make_schemas.py adds new ones."""
    script = load_script("make_schemas")
    current = script.answered()
    assert script.lost(current) == []
    assert sum(len(tables) for tables in current.values()) > 40
    answers = {name for name in COMMANDS if "-f json" in (command_help(name) or "")}
    assert answers <= current.keys() | {"study", "report"}
    assert script.undeclared() == set()
    assert {schemas.find_command(name) for name in current} <= COMMANDS.keys()
    assert not any(" " in name for name in current)


def test_every_column_of_a_table_has_a_meaning() -> None:
    """And every meaning a column; the schemas carry them."""
    promised = json.loads(schemas.FILE.read_text("utf-8"))["commands"]
    columns = [(c, t, column) for c, tables in promised.items() for t in tables for column in tables[t]]
    assert len(columns) > 400
    assert [targets for targets in columns if not schemas.meaning(*targets)] == []
    pages = json.loads(schemas.pages()["reference/schemas/eval.json"])
    rows = pages["properties"]["tables"]["properties"]["means"]["items"]["properties"]
    assert rows["run"]["description"] == "name of the run" and "string" in rows["run"]["type"]


def load_script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def command_help(name: str) -> str | None:
    return None if name in OWN_GRAMMAR else command_parser(name).description


def test_environment_variables_are_listed() -> None:
    used = {
        name
        for path in (ROOT / "src").rglob("*.py")
        for name in re.findall(r"\"(RANKSCOPE_[A-Z_]+|NO_COLOR)\"", path.read_text("utf-8"))
    }
    assert len(used) >= 4
    assert used <= set(re.findall(r"`(\w+)`", TEXTS["reference/environment.md"]))


def test_pages_of_measures_have_formula_bibtex_and_what_to_mind() -> None:
    pages = measures.pages()
    assert len(pages) > 80
    for path, text in pages.items():
        assert re.search(r'<div class="formula"><p>.+</p></div>', text), path
        assert "\n@" in text and "## Pitfalls\n\n- " in text and "## What it guarantees" in text, path
        assert not re.search(r"[\^]|<=", re.search(r'<div class="formula".*?</div>', text, re.DOTALL)[0]), (
            path
        )  # type: ignore[index]


def test_formulas_are_mathematics() -> None:
    """As the browser gets them: well-formed, nothing lost, fractions and sums where the text has them."""
    built_in = [targets for targets in dict.fromkeys(REGISTRY.values()) if targets.family != "user"]
    with_mathematics = 0
    for measure in built_in:
        match = formulas.set_formula(measure.formula)
        root = ElementTree.fromstring(f"<div>{match}</div>")
        with_mathematics += "<math" in match
        for fraction in root.iter("mfrac"):
            assert len(fraction) == 2, measure.name
        for raised in [*root.iter("msup"), *root.iter("msub"), *root.iter("munder")]:
            assert len(raised) == 2, measure.name
        shown = re.sub(r"\W", "", "".join(root.itertext()))
        output = re.sub(r"\W|\b(?:sum|prod|product|over|of)\b", "", measure.formula)
        assert len(shown) > 0.6 * len(output), measure.name
    assert with_mathematics > 0.8 * len(built_in)
    precision = formulas.set_formula("RBP = (1 - p) * sum over ranks i of r_i p^(i-1)")
    assert "<munder>" in precision and "<msub><mi>r</mi><mi>i</mi></msub>" in precision
    assert "<msup><mi>p</mi><mrow><mi>i</mi><mo>−</mo><mn>1</mn></mrow></msup>" in precision
