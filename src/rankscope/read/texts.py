"""Read texts of documents and topics by id, from JSON lines, tab-separated lines, or ir_datasets.

Only requested texts are kept, in one line and shortened, because the report shows their beginning.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from rankscope.errors import InputError
from rankscope.json_documents import parse_json
from rankscope.read.datasets import dataset_id, fetch_from_dataset, load_dataset
from rankscope.read.source import Source, iterate_lines

MAX_LENGTH = 280
"""Maximum number of characters of a text."""

_IDS = ("_id", "id", "doc_id", "docid", "docno", "query_id", "qid", "topic", "number")
_TEXTS = ("title", "text", "contents", "body", "abstract", "query", "question", "description")
_TOPIC_KEYS = ("query_id", "qid", "topic", "query", "question")
_LINES = "each line is an object with an id (_id, doc_id, query_id ...) and a text (title, text, query ...)"
_TABS = "each line is an id, a tab and a text; or give JSON lines"


class Texts(NamedTuple):
    """Texts of documents and of topics, by id."""

    documents: dict[str, str]
    topics: dict[str, str]


def read_texts(
    sources: Iterable[str | Path],
    documents: Collection[str],
    topics: Collection[str],
    max_length: int = MAX_LENGTH,
) -> Texts:
    r"""Read the texts of some documents and topics from files or datasets (``irds:ID``), shortened to a length.

    JSON lines have an id (``_id``, ``doc_id``, ``query_id`` ...) and texts (``title``, ``text``, ``query`` ...); other
    lines have an id, a tab and a text. Files may be compressed. ``topics=FILE`` and ``documents=FILE`` declare the
    content of a file; otherwise it has topics if the name of its ids shows that, or if at least half of its ids are
    topics. The first text of an id is used.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "docs.jsonl").write_text('{"_id": "d1", "title": "Cats", "text": "They sleep."}\n')
    ...     _ = Path(folder, "topics.tsv").write_text("7\twhat do cats do?\n")
    ...     read_texts([Path(folder, "topics.tsv"), Path(folder, "docs.jsonl")], {"d1"}, {"7"})
    Texts(documents={'d1': 'Cats They sleep.'}, topics={'7': 'what do cats do?'})
    """
    texts = Texts({}, {})
    requested = {*documents, *topics}
    for source in sources:
        kind, name = _split_kind(source)
        if (dataset := dataset_id(name)) is not None:
            _add_texts(texts.topics, _iterate_queries(dataset), topics, max_length)
            _add_texts(texts.documents, _iterate_documents(dataset, documents), documents, max_length)
            continue
        rows = [
            (identifier, text[: 4 * max_length] if identifier in requested else "")
            for identifier, text in _iterate_texts(Source.open(name))
        ]
        kind = kind or ("topics" if _has_topics(name, rows, topics) else "documents")
        _add_texts(getattr(texts, kind), rows, topics if kind == "topics" else documents, max_length)
    return texts


def _split_kind(source: str | Path) -> tuple[str, str | Path]:
    """Split ``topics=FILE`` or ``documents=FILE``; the kind of any other source is empty."""
    if isinstance(source, str) and not Path(source).exists():
        kind, equals, name = source.partition("=")
        if equals and kind in ("documents", "topics"):
            return kind, name
    return "", source


def _has_topics(name: str | Path, rows: list[tuple[str, str]], topics: Collection[str]) -> bool:
    head = Source.open(name).head().lstrip()
    if head.startswith(b"{") and any(f'"{key}"'.encode() in head.partition(b"\n")[0] for key in _TOPIC_KEYS):
        return True
    return 2 * sum(identifier in topics for identifier, _ in rows) >= max(1, len(rows))


def _add_texts(
    texts: dict[str, str], rows: Iterable[tuple[str, str]], requested: Collection[str], max_length: int
) -> None:
    for identifier, text in rows:
        if identifier in requested and identifier not in texts:
            texts[identifier] = shorten_text(text, max_length)


def shorten_text(text: str, max_length: int) -> str:
    """Return a text in one line of limited length.

    >>> shorten_text("one\\n two  three", 9)
    'one two …'
    """
    line = " ".join(text[: 4 * max_length].split())
    return line if len(line) <= max_length else line[: max_length - 1] + "…"


def _iterate_texts(source: Source) -> Iterator[tuple[str, str]]:
    if source.is_directory:
        raise InputError("this is a directory", path=source.label, hint="name a file of texts")
    parse = _parse_json_line if source.head().lstrip().startswith(b"{") else _parse_tab_line
    for number, line in iterate_lines(source.blocks()):
        if line.strip():
            yield parse(line, source.label, number)


def _parse_json_line(line: bytes, path: str, number: int) -> tuple[str, str]:
    row = parse_json(line, path, _LINES, number)
    name = next((row[key] for key in _IDS if key in row), None) if isinstance(row, dict) else None
    if not isinstance(name, str | int):
        raise InputError("the line has no id", path=path, line=number, hint=_LINES)
    return str(name), _join_texts(row)


def _join_texts(row: dict[str, Any]) -> str:
    """Join the texts of an object, without a title that another text starts with."""
    texts = [row[key].strip() for key in _TEXTS if isinstance(row.get(key), str)]
    return " ".join(
        text for k, text in enumerate(texts) if not any(other.startswith(text) for other in texts[k + 1 :])
    )


def _parse_tab_line(line: bytes, path: str, number: int) -> tuple[str, str]:
    name, tab, text = line.decode("utf-8", "surrogateescape").rstrip("\r").partition("\t")
    if not tab:
        raise InputError("the line has no tab", path=path, line=number, hint=_TABS)
    return name, text.replace("\t", " ")


def _iterate_queries(dataset: str) -> Iterator[tuple[str, str]]:
    loaded = load_dataset(dataset)
    with fetch_from_dataset(dataset, "texts"):
        if loaded.has_queries():
            for query in loaded.queries_iter():
                yield query.query_id, query.default_text()


def _iterate_documents(dataset: str, requested: Collection[str]) -> Iterator[tuple[str, str]]:
    loaded = load_dataset(dataset)
    with fetch_from_dataset(dataset, "texts"):
        if loaded.has_docs():
            for document in loaded.docs_store().get_many_iter(requested):
                yield document.doc_id, document.default_text()
