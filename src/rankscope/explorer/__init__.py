"""The explorer: served to a browser, or inside a notebook."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from html import escape
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any

from rankscope.errors import InputError
from rankscope.tables import Table

if TYPE_CHECKING:
    from rankscope.measures import Measure
    from rankscope.reporting.schema import Source
    from rankscope.scores import Scores

__all__ = ["Notebook", "explore", "notebook"]


def explore(
    qrels: Any,
    runs: Any,
    *,
    measures: str | Measure | Iterable[str | Measure] = (),
    title: str | None = None,
    order: str | None = None,
    missing: str = "zero",
    length: int = 1000,
    study: Mapping[str, Table] | None = None,
    everything: bool | None = True,
    texts: str | Path | Iterable[str | Path] = (),
    groups: Mapping[str, str] | str | Path | None = None,
    jobs: int | None = None,
    host: str = "127.0.0.1",
    port: int = 0,
    ready: Callable[[str], None] = print,
    source: Source | None = None,
) -> None:
    """Serve the explorer of a collection until interrupted.

    Parameters
    ----------
    qrels, runs
        Judgments and runs, as for :func:`rankscope.evaluate`.
    measures, title, order, missing, length, study, everything, texts, groups, jobs
        As for :func:`rankscope.report`.
    host
        Address to bind to.
    port
        Port to bind to; 0 takes any free port.
    ready
        Function that receives the URL of the explorer once the server listens.
    source
        Command line arguments that open the same collection, if the caller knows them.

    Examples
    --------
    >>> explore("qrels.txt", "runs/", port=8000)  # doctest: +SKIP
    """
    from rankscope.explorer.server import address, application, check_hosts, listen, serve
    from rankscope.measures import needs_aspects, parse_many
    from rankscope.read import open_collection
    from rankscope.reporting import document_of, source_of

    stopping = Event()
    with listen(host, port) as listener:  # Fails early if the port is taken.
        selected = parse_many(measures)
        collection = open_collection(qrels, runs, order=order, needs_aspects=needs_aspects(selected))
        document = document_of(
            collection, selected, title=title, missing=missing, length=length, study=study, everything=everything,
            texts=[texts] if isinstance(texts, str | Path) else texts, groups=groups,
            jobs=jobs, source=source or source_of(collection, qrels, runs, order, missing, groups=groups),
        )  # fmt: skip
        token = secrets.token_urlsafe(16)
        app = application(document, *collection, token, stopping)
        bound = listener.getsockname()[1]
        try:
            # An interrupt is the normal end, even between the report of the address and the start of the server.
            with suppress(KeyboardInterrupt):
                ready(address(host, bound, token))
                serve(check_hosts(app, bound, host), listener)
        finally:
            stopping.set()


class Notebook:
    """An explorer as the value of a notebook cell: an iframe that may only run its own script."""

    def __init__(self, html: str, height: int) -> None:
        self.html = html
        self.height = height

    def __repr__(self) -> str:
        return "<Rankscope page: shown by notebooks; rankscope.report writes it to a file>"

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
    <Rankscope page: shown by notebooks; rankscope.report writes it to a file>
    """
    from rankscope.reporting.html_page import page
    from rankscope.reporting.page_data import payload

    if scores.judged is None:
        raise InputError("these scores have lost their lists", hint="evaluate the runs again")
    settings = {
        key: value for key, value in scores.settings.items() if key in ("order", "aspects", "missing")
    }
    return Notebook(
        page(payload(scores.judged, title=title, measures=scores.measures, settings=settings)), height
    )
