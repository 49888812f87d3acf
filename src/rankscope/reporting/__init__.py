"""One self-contained HTML page about a collection: data, measures, effort, curves, what-if."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankscope.measures import Measure, needs_aspects, parse_many
from rankscope.reporting.html_page import page
from rankscope.reporting.page_data import payload
from rankscope.reporting.schema import Document, Source, Texts
from rankscope.tables import Table

if TYPE_CHECKING:
    from rankscope.read.collection import Inputs

__all__ = ["document_of", "page", "payload", "report", "source_of"]


def report(
    qrels: Any,
    runs: Any,
    path: str | Path,
    *,
    measures: str | Measure | Iterable[str | Measure] = (),
    title: str | None = None,
    order: str | None = None,
    missing: str = "zero",
    length: int = 1000,
    study: Mapping[str, Table] | None = None,
    everything: bool | None = None,
    ranges: bool = False,
    texts: str | Path | Iterable[str | Path] = (),
    groups: Mapping[str, str] | str | Path | None = None,
    jobs: int | None = None,
) -> Path:
    """Write the page about a collection; it opens from disk and makes no request.

    ``qrels`` and ``runs`` are whatever :func:`rankscope.evaluate` takes. ``measures`` are those of its
    findings (default: those of ``rankscope findings``), and are added to those the page computes by itself.
    ``length`` is N of the effort measures, ``study`` the tables of :func:`rankscope.study`. With
    ``ranges`` the page also has how far the orders of tied documents, and the labels of unjudged ones, can move means.
    ``texts`` are files (JSON lines, or id, tab, text) or ``irds:ID`` with texts of documents and topics, which are cut.
    ``groups`` are groups of runs, such as teams, to filter and colour by: a mapping from run to group, a file with
    lines of ``run group``, or a regular expression for names, whose first parentheses (or all of it) are the group.

    >>> import tempfile
    >>> target = Path(tempfile.mkdtemp()) / "report.html"
    >>> report({"q1": {"d1": 1}}, {"bm25": {"q1": {"d2": 2.0, "d1": 1.0}}}, target).name
    'report.html'
    """
    from rankscope.files import write_atomically
    from rankscope.read import open_collection

    wanted = parse_many(measures)
    collection = open_collection(qrels, runs, order=order, needs_aspects=needs_aspects(wanted))
    document = document_of(
        collection, wanted, title=title, missing=missing, length=length, study=study, everything=everything,
        ranges=ranges, texts=[texts] if isinstance(texts, str | Path) else texts, groups=groups,
        jobs=jobs, source=source_of(collection, qrels, runs, order, missing, groups=groups),
    )  # fmt: skip
    write_atomically(path, page(document))
    return Path(path)


def document_of(
    collection: Inputs,
    measures: Iterable[Measure],
    *,
    title: str | None,
    missing: str,
    length: int,
    study: Mapping[str, Table] | None,
    everything: bool | None,
    jobs: int | None,
    ranges: bool = False,
    source: Source | None = None,
    texts: Iterable[str | Path] = (),
    groups: Mapping[str, str] | str | Path | None = None,
) -> Document:
    """What the page about an open collection is made from, for Python, commands and the explorer alike."""
    from rankscope.judging import judge

    document = payload(
        judge(*collection, jobs=jobs, ties=True),
        title=title or title_of(collection.qrels.path),
        measures=measures,
        settings={**collection.settings, "missing": missing, "length": length},
        study=study,
        everything=everything,
        ranges=ranges,
        groups=groups,
    )
    if texts := list(texts):
        document["texts"] = texts_of(document, texts)
    if source is not None:
        document["source"] = source
    return document


def source_of(
    collection: Inputs,
    qrels: Any,
    runs: Any,
    order: str | None = None,
    missing: str = "zero",
    **more: Any,
) -> Source | None:
    """What a command line would say to open the same collection; None where it is not in files.

    >>> from rankscope.read import open_collection
    >>> source_of(open_collection({"q": {"d": 1}}, {"q": {"d": 1.0}}), {"q": {"d": 1}}, {"q": {"d": 1.0}}) is None
    True
    """
    named = [runs] if isinstance(runs, str | Path) else runs
    paths = isinstance(named, list | tuple) and all(isinstance(one, str | Path) for one in named)
    if not isinstance(qrels, str | Path) or not paths or "-" in (str(qrels), *map(str, named)):
        return None
    options = [] if order in (None, "trec_eval") else ["--order", str(order)]
    options += [] if missing == "zero" else ["--missing", missing]
    for name in ("grades", "topics"):
        options += [f"--{name}", str(more[name])] if more.get(name) else []
    for kind, form in (more.get("input_format") or {}).items():
        options += ["--input-format", f"{kind}={form}"]
    found: Source = {
        "qrels": str(qrels),
        "runs": list(map(str, named)),
        "options": options,
        "files": [run.path for run in collection.runs.values()],
    }
    if more.get("study"):
        found["study"] = str(more["study"])
    if isinstance(more.get("groups"), str | Path):
        found["groups"] = str(more["groups"])
    return found


def texts_of(document: Document, sources: Iterable[str | Path]) -> Texts:
    """The texts of the documents and topics that the page names."""
    from rankscope.read.texts import read_texts

    names = document["documents"]["names"] if "documents" in document else []
    found = read_texts(sources, {name for topic in names for name in topic}, set(document["topics"]))
    return {"documents": found.documents, "queries": found.topics}


def title_of(path: str | None) -> str:
    """What to call a collection whose judgments came from this file.

    >>> title_of("data/qrels.covid-round1.txt"), title_of(None)
    ('qrels.covid-round1', 'Evaluation')
    """
    if path is None or path == "standard input":
        return "Evaluation"
    name = Path(path).name
    for suffix in (".gz", ".txt", ".qrels", ".qrel"):
        name = name.removesuffix(suffix)
    if name in ("qrels", "qrel", ""):
        name = Path(path).resolve().parent.name
    return name or "Evaluation"
