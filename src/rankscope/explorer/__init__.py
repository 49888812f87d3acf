"""The explorer: served to a browser, or inside a notebook."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from html import escape
from threading import Event
from typing import TYPE_CHECKING, Annotated

from rankscope.declaration import Groups, Option
from rankscope.reporting import StudyTables, TextFiles, default_title, prepare_document, split_scores

if TYPE_CHECKING:
    from rankscope.reporting.schema import Document
    from rankscope.scores import Collection, Scores

__all__ = ["Notebook", "explore", "notebook", "serve_explorer"]


def explore(
    scores: Scores | Collection,
    *,
    title: str | None = None,
    cutoff: int = 1000,
    study: StudyTables = None,
    texts: TextFiles = (),
    groups: Groups = None,
    bounds: bool = False,
    documents: bool | None = True,
    host: Annotated[str, Option("ADDRESS")] = "127.0.0.1",
    port: Annotated[int, Option("N")] = 0,
    on_ready: Callable[[str], None] = print,
) -> None:
    """Serve the explorer of a collection until interrupted.

    Parameters
    ----------
    scores
        Scores, whose measures the findings are about; or a collection, for the default measures.
    title, cutoff, study, texts, groups, bounds, documents
        As for :func:`rankscope.report`.
    host
        Address to bind to (default: 127.0.0.1, this machine only).
    port
        Port to bind to (default: any free port).
    on_ready
        Function that receives the URL of the explorer once the server listens.

    Examples
    --------
    >>> import rankscope as rs
    >>> rs.explore(rs.evaluate("qrels.txt", "runs/", "AP nDCG@10"), port=8000)  # doctest: +SKIP
    """
    collection, measures = split_scores(scores, "explore")

    def prepare() -> Callable[[], Document]:
        return prepare_document(
            collection, measures, title=title, cutoff=cutoff, study=study, texts=texts, groups=groups,
            bounds=bounds, documents=documents,
        )  # fmt: skip

    serve_explorer(collection, prepare, title, host, port, on_ready)


def serve_explorer(
    collection: Collection,
    prepare: Callable[[], Callable[[], Document]],
    title: str | None,
    host: str,
    port: int,
    on_ready: Callable[[str], None],
) -> None:
    """Serve the document that the function returned by ``prepare`` builds, and the page while it is being built.

    Bind first, so that an occupied port fails before anything is read. Errors of ``prepare`` come before the address.
    """
    from rankscope.explorer.server import application, format_url, listen, serve, with_host_check

    stop_event = Event()
    document: Future[Document] = Future()
    with listen(host, port) as listener:
        token = secrets.token_urlsafe(16)
        build = prepare()

        def build_or_cancel() -> None:
            try:
                document.set_result(build())
            finally:
                document.cancel()  # Has no effect on a result; otherwise, requests stop waiting.

        page_title = title or default_title(collection.qrels.path)
        app = application(page_title, document.result, collection.qrels, collection.runs, token, stop_event)
        bound_port = listener.getsockname()[1]
        try:
            # An interrupt is the normal end, even between the report of the address and the start of the server.
            with suppress(KeyboardInterrupt):
                on_ready(format_url(host, bound_port, token))
                serve(with_host_check(app, bound_port, host), listener, build_or_cancel)
        finally:
            stop_event.set()


class Notebook:
    """An explorer as the value of a notebook cell: an iframe that may only run its own script."""

    def __init__(self, html: str, height: int) -> None:
        self.html = html
        self.height = height

    def __repr__(self) -> str:
        return "<Rankscope explorer: displayed in notebooks; rankscope.report writes it to a file>"

    def _repr_html_(self) -> str:
        return (
            f'<iframe title="Rankscope" sandbox="allow-scripts allow-downloads" width="100%" height="{self.height}" '
            f'frameborder="0" srcdoc="{escape(self.html)}"></iframe>'
        )


def notebook(scores: Scores, *, title: str = "Evaluation", height: int = 760) -> Notebook:
    """Return the explorer of evaluated scores for a notebook.

    Parameters
    ----------
    scores
        Scores with their rankings.
    title
        Title of the explorer.
    height
        Height of the iframe in pixels.

    Examples
    --------
    >>> from rankscope.scores import evaluate
    >>> notebook(evaluate({"q1": {"d1": 1}}, {"q1": {"d1": 1.0}}, "AP"))
    <Rankscope explorer: displayed in notebooks; rankscope.report writes it to a file>
    """
    from rankscope.reporting.html_page import render_report
    from rankscope.reporting.page_data import payload

    judged = scores.require_judged("explore")
    settings = {
        name: scores.settings[name] for name in ("order", "aspects", "missing") if name in scores.settings
    }
    return Notebook(
        render_report(payload(judged, title=title, measures=scores.measures, settings=settings)), height
    )
