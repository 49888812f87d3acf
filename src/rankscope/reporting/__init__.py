"""The report: one self-contained HTML file with the data, measures, effort and curves of a collection.

This module imports nothing heavy, so that ``rankscope report --help`` starts fast.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from rankscope.declaration import AttributeName, Groups, Option
from rankscope.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankscope.measures import Measure
    from rankscope.reporting.schema import Document, SourceFiles, TextExcerpts
    from rankscope.scores import Collection, Scores
    from rankscope.tables import Table

__all__ = ["build_document", "prepare_document", "report"]

_REOPENED = ("order", "missing", "grades", "topics", "topic_data", "weights")
"""Options to open the same collection again."""
_DEFAULTS = {"order": "trec_eval", "missing": "zero"}
"""Defaults of these options, except for those that are None by default."""
_CUTOFF = 1000
"""Default number of ranks of curves."""
StudyTables = Annotated["Mapping[str, Table] | str | Path | None", Option("DIR")]
TextFiles = Annotated[str | Path | Sequence[str | Path], Option("[documents=|topics=]FILE")]


def report(
    scores: Scores | Collection,
    path: str | Path,
    *,
    title: Annotated[str | None, Option("TEXT")] = None,
    cutoff: Annotated[int, Option("N")] = _CUTOFF,
    study: StudyTables = None,
    texts: TextFiles = (),
    groups: Groups = None,
    bounds: bool = False,
    by: AttributeName | Sequence[AttributeName] = (),
    documents: bool | None = None,
) -> Path:
    """Write the report of a collection: one HTML file that opens from disk and makes no requests.

    Parameters
    ----------
    scores
        Scores, whose measures the findings of the report are about; or a collection, for the default measures. Scores
        without rankings, such as those of :func:`read_scores`, give a report without the views of rankings.
    path
        File to write.
    title
        Title of the report (default: the name of the judgments).
    cutoff
        Cutoff N of the effort measures.
    study
        Directory of a study, or its tables, to include.
    texts
        Files with texts of documents and topics: JSON lines, or id, tab, text, or ``irds:ID``. Texts are truncated to
        280 characters.
    groups
        Groups of runs, such as teams, to filter and colour by: a file with lines ``RUN GROUP``, or a regular
        expression whose first capture group (or whole match) in a run's name is its group; in Python also a mapping.
    bounds
        Include bounds of each mean over the orders of tied documents and the labels of unjudged documents, which takes
        longer.
    by
        Attribute of topics: report whether the lead depends on its slices, such as lang, or length:4 for quantile bins
        of a number; repeatable.
    documents
        Include document names and judged non-relevant documents (default: if they take little space).

    Returns
    -------
    Path
        The file.

    Examples
    --------
    >>> import tempfile
    >>> import rankscope as rs
    >>> scores = rs.evaluate({"q1": {"d1": 1}}, {"bm25": {"q1": {"d2": 2.0, "d1": 1.0}}}, "AP")
    >>> rs.report(scores, Path(tempfile.mkdtemp()) / "report.html").name
    'report.html'
    """
    from rankscope.files import write_atomically
    from rankscope.reporting.html_page import render_report

    options: dict[str, Any] = {
        "title": title, "cutoff": cutoff, "study": study, "texts": texts, "groups": groups, "bounds": bounds, "by": by,
        "documents": documents,
    }  # fmt: skip
    if getattr(scores, "judged", "") is None:
        document = document_from_scores(scores, **options)
    else:
        document = build_document(*split_scores(scores, "report"), **options)
    write_atomically(path, render_report(document))
    return Path(path)


def document_from_scores(
    scores: Any,
    *,
    title: str | None = None,
    study: StudyTables = None,
    groups: Groups = None,
    by: AttributeName | Sequence[AttributeName] = (),
    **needs_rankings: Any,
) -> Document:
    """Return the data of a report of scores without rankings; parameters as for :func:`report`.

    Parameters that need rankings (bounds, documents, texts, cutoff) must have their default values.
    """
    from rankscope.reporting.page_data import payload_from_scores
    from rankscope.reporting.study import read_study

    for name, value in needs_rankings.items():
        if value and value != _CUTOFF:
            problem = f"{name} of a report needs rankings, and there are only scores"
            raise SettingsError(problem, hint=f"leave {name} out, or name QRELS and RUN")
    tables = read_study(study) if isinstance(study, str | Path) else study
    named = [Path(path) for path in scores.settings.get("scores", ())]
    heading = title or (named[0].stem if len(named) == 1 else "Evaluation")
    return payload_from_scores(scores, title=heading, study=tables, groups=groups, by=by)


def split_scores(scores: Scores | Collection, name: str) -> tuple[Collection, tuple[Measure, ...]]:
    """Return the collection and the measures of scores; a collection has no measures."""
    from rankscope.scores import Collection, Scores

    if isinstance(scores, Collection):
        return scores, ()
    if not isinstance(scores, Scores):
        problem = f"{name} takes Scores or a Collection, not a value of type {type(scores).__name__}"
        raise SettingsError(problem, hint="give it rs.Collection(qrels, runs)")
    return scores.require_collection(name), scores.measures


def build_document(collection: Collection, measures: Iterable[Measure], **options: Any) -> Document:
    """Return the data of the report; parameters as for :func:`prepare_document`."""
    return prepare_document(collection, measures, **options)()


def prepare_document(
    collection: Collection,
    measures: Iterable[Measure],
    *,
    title: str | None = None,
    cutoff: int = _CUTOFF,
    study: StudyTables = None,
    texts: TextFiles = (),
    groups: Groups = None,
    bounds: bool = False,
    by: AttributeName | Sequence[AttributeName] = (),
    documents: bool | None = None,
) -> Callable[[], Document]:
    """Read and judge the runs; return the function that builds the data of the report or the explorer.

    Invalid input raises its error here, apart from that of ``texts`` and ``groups``. Parameters are those of
    :func:`report`; without ``measures``, the findings are about the default measures.
    """
    from rankscope.engines import using
    from rankscope.judging import judge
    from rankscope.reporting.page_data import payload, top_documents
    from rankscope.reporting.study import read_study

    collection.check_options("report", ("order", "missing", "weights"))
    if bounds and collection.weights is not None:
        raise SettingsError("bounds have no weights of topics", hint="leave out bounds or weights")
    if cutoff < 1:
        raise SettingsError(f"a cutoff of {cutoff}", hint="N is a number of ranks from 1 on")
    tables = read_study(study) if isinstance(study, str | Path) else study
    with using(collection.engine, collection.jobs):
        judged = judge(collection.qrels, collection.runs, ties=True)

    def build() -> Document:
        with using(collection.engine, collection.jobs):
            document = payload(
                judged,
                title=title or default_title(collection.qrels.path),
                measures=measures,
                settings={**collection.settings, "missing": collection.missing, "length": cutoff},
                study=tables,
                documents=documents,
                bounds=bounds,
                groups=groups,
                attach=collection.attach_topic_data,
                by=by,
            )
            is_named = documents is not False
            if is_named and (top := top_documents(collection.qrels, collection.runs)) is not None:
                document["top"] = top
        if sources := [texts] if isinstance(texts, str | Path) else list(texts):
            document["texts"] = _read_texts(document, sources)
        if (source := _find_source(collection, study, groups)) is not None:
            document["source"] = source
        return document

    return build


def _find_source(collection: Collection, study: object, groups: object) -> SourceFiles | None:
    """Return the command line arguments that open the same collection; None if it was not read from files.

    >>> from rankscope.scores import Collection
    >>> _find_source(Collection({"q": {"d": 1}}, {"q": {"d": 1.0}}), None, None) is None
    True
    """
    qrels, *runs = map(str, collection.paths or ["-"])
    if "-" in (qrels, *runs):  # Standard input cannot be read again.
        return None
    options: list[str] = []
    for name in _REOPENED:
        value = getattr(collection, name)
        if name in ("topic_data", "weights") and not isinstance(value, str | Path):
            continue  # Data in memory have no name on a command line.
        options += (
            [f"--{name.replace('_', '-')}", str(value)] if value and value != _DEFAULTS.get(name) else []
        )
    for kind, file_format in (collection.input_format or {}).items():
        options += ["--input-format", f"{kind}={file_format}"]
    source: SourceFiles = {
        "qrels": qrels,
        "runs": runs,
        "options": options,
        "files": [run.path for run in collection.runs.values()],
    }
    if isinstance(study, str | Path):
        source["study"] = str(study)
    if isinstance(groups, str | Path):
        source["groups"] = str(groups)
    return source


def _read_texts(document: Document, sources: Iterable[str | Path]) -> TextExcerpts:
    """Return the texts of the documents and topics that the report names."""
    from rankscope.read.texts import read_texts

    parts = [document[part]["names"] for part in ("documents", "top") if part in document]
    names = {name for topics in parts for topic in topics for name in topic}
    texts = read_texts(sources, names, set(document["topics"]))
    return {"documents": texts.documents, "queries": texts.topics}


def default_title(path: str | None) -> str:
    """Return the title of a report about judgments in a file.

    >>> default_title("data/qrels.covid-round1.txt"), default_title(None)
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
