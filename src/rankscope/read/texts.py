"""What documents and topics say: texts by id, from JSON lines, tab-separated lines, or ir_datasets.

Only the texts that are asked for are kept, without line ends and cut: a page shows the beginning.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from rankscope.errors import InputError
from rankscope.json_documents import parse_json
from rankscope.read.datasets import IRDS, dataset_id, load_dataset
from rankscope.read.source import Source, whole_lines

__all__ = ["CUT", "Texts", "read_texts"]

CUT = 280
"""Characters of a text that are kept."""

_IDS = ("_id", "id", "doc_id", "docid", "docno", "query_id", "qid", "topic", "number")
_TEXTS = ("title", "text", "contents", "body", "abstract", "query", "question", "description")
_OF_TOPICS = ("query_id", "qid", "topic", "query", "question")
_LINES = "each line is an object with an id (_id, doc_id, query_id ...) and a text (title, text, query ...)"
_TABS = "each line is an id, a tab and a text; or give JSON lines"


class Texts(NamedTuple):
    """Texts by document, and by topic."""

    documents: dict[str, str]
    topics: dict[str, str]


def read_texts(
    sources: Iterable[str | Path], documents: Collection[str], topics: Collection[str], cut: int = CUT
) -> Texts:
    r"""The texts of some documents and topics in files or datasets (``irds:ID``), each cut to so many characters.

    Lines of JSON have an id (``_id``, ``doc_id``, ``query_id`` ...) and texts (``title``, ``text``, ``query`` ...);
    other lines are an id, a tab and a text. Files may be packed. ``topics=FILE`` and ``documents=FILE`` say what a file
    is about; else it is about topics if its ids are called so, or if at least half of them are topics. The first text
    of an id counts.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as place:
    ...     _ = Path(place, "docs.jsonl").write_text('{"_id": "d1", "title": "Cats", "text": "They sleep."}\n')
    ...     _ = Path(place, "topics.tsv").write_text("7\twhat do cats do?\n")
    ...     read_texts([Path(place, "topics.tsv"), Path(place, "docs.jsonl")], {"d1"}, {"7"})
    Texts(documents={'d1': 'Cats They sleep.'}, topics={'7': 'what do cats do?'})
    """
    found = Texts({}, {})
    for source in sources:
        kind, name = _named(source)
        if (dataset := dataset_id(name)) is not None:
            _take(found.topics, _queries(dataset), topics, cut)
            _take(found.documents, _documents(dataset, documents), documents, cut)
            continue
        wanted = {*documents, *topics}
        rows = [
            (one, text[: 4 * cut]) if one in wanted else (one, "") for one, text in _of_file(Source.of(name))
        ]
        kind = kind or ("topics" if _about_topics(name, rows, topics) else "documents")
        _take(getattr(found, kind), rows, topics if kind == "topics" else documents, cut)
    return found


def _named(source: str | Path) -> tuple[str, str | Path]:
    """What a file is said to be about, if anything is, and the file."""
    if isinstance(source, str) and not Path(source).exists():
        kind, equals, name = source.partition("=")
        if equals and kind in ("documents", "topics"):
            return kind, name
    return "", source


def _about_topics(name: str | Path, rows: list[tuple[str, str]], topics: Collection[str]) -> bool:
    head = Source.of(name).head().lstrip()
    if head.startswith(b"{") and any(f'"{key}"'.encode() in head.partition(b"\n")[0] for key in _OF_TOPICS):
        return True
    return 2 * sum(one in topics for one, _ in rows) >= max(1, len(rows))


def _take(into: dict[str, str], rows: Iterable[tuple[str, str]], wanted: Collection[str], cut: int) -> None:
    for name, text in rows:
        if name in wanted and name not in into:
            into[name] = shortened_text(text, cut)


def shortened_text(text: str, cut: int) -> str:
    """A text in one line, and no longer than that.

    >>> shortened_text("one\\n two  three", 9)
    'one two …'
    """
    line = " ".join(text[: 4 * cut].split())
    return line if len(line) <= cut else line[: cut - 1] + "…"


def _of_file(source: Source) -> Iterator[tuple[str, str]]:
    if source.is_directory:
        raise InputError("this is a directory", path=source.label, hint="name a file of texts")
    as_json = source.head().lstrip().startswith(b"{")
    before = 0
    for block in whole_lines(source.blocks()):
        for number, line in enumerate(block.split(b"\n")[:-1], before + 1):
            if line.strip():
                yield (
                    _of_json(line, source.label, number) if as_json else _of_tabs(line, source.label, number)
                )
        before += block.count(b"\n")


def _of_json(line: bytes, path: str, number: int) -> tuple[str, str]:
    row = parse_json(line, path, _LINES, number)
    name = next((row[key] for key in _IDS if key in row), None) if isinstance(row, dict) else None
    if not isinstance(name, str | int):
        raise InputError("the line has no id", path=path, line=number, hint=_LINES)
    return str(name), _joined(row)


def _joined(row: dict[str, Any]) -> str:
    """All its texts, without a title that another one begins with."""
    texts = [row[key].strip() for key in _TEXTS if isinstance(row.get(key), str)]
    return " ".join(
        one for k, one in enumerate(texts) if not any(two.startswith(one) for two in texts[k + 1 :])
    )


def _of_tabs(line: bytes, path: str, number: int) -> tuple[str, str]:
    name, tab, text = line.decode("utf-8", "surrogateescape").rstrip("\r").partition("\t")
    if not tab:
        raise InputError("the line has no tab", path=path, line=number, hint=_TABS)
    return name, text.replace("\t", " ")


def _queries(dataset: str) -> Iterator[tuple[str, str]]:
    found = load_dataset(dataset)
    with _fetching(dataset):
        if found.has_queries():
            for query in found.queries_iter():
                yield query.query_id, query.default_text()


def _documents(dataset: str, wanted: Collection[str]) -> Iterator[tuple[str, str]]:
    found = load_dataset(dataset)
    with _fetching(dataset):
        if found.has_docs():
            for document in found.docs_store().get_many_iter(wanted):
                yield document.doc_id, document.default_text()


@contextmanager
def _fetching(dataset: str) -> Iterator[None]:
    try:
        yield
    except (OSError, RuntimeError, ValueError) as error:
        reason = (str(error).splitlines() or ["no reason given"])[0][:200]
        raise InputError(
            f"ir_datasets cannot give the texts ({reason})",
            path=f"{IRDS}{dataset}",
            hint="check the network, and try again",
        ) from None
