"""What a file is, by its first bytes and lines, never by its name: the one place that decides it.

A few thousand bytes are looked at. What is not clearly something else is a TREC file, so that a line of one that is
wrong is answered as such.

======== =====================================================================================================
trec     ``topic Q0 document rank score tag`` and ``topic iteration document grade``
beir     judgments of BEIR: columns between tabs under the header ``query-id corpus-id score``
columns  ``topic document grade``; ``topic document rank``, perhaps with a score after it, as in MS MARCO
csv      columns between commas (or semicolons) under a header; the names are in :data:`~.frames.COLUMNS`
tsv      the same between tabs
json     ``{topic: {document: number}}``, also by split (MTEB) or by run; or a list of rows
jsonl    one object a line, with the names of columns
parquet  Parquet: a file, or a directory of its parts
arrow    Arrow or Feather: a file, a stream, or a directory of its parts
======== =====================================================================================================
"""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Sequence

from rankscope.choices import INPUT_FORMATS as FORMATS
from rankscope.errors import InputError, SettingsError, suggest_names
from rankscope.read.arrow_files import dataset_format
from rankscope.read.frames import COLUMNS, meaning_of
from rankscope.read.source import Source

__all__ = [
    "BEIR",
    "FORMATS",
    "check_format",
    "data_lines",
    "described",
    "format_and_head",
    "format_of",
    "format_of_head",
    "separator_of",
]

BEIR = ["query-id", "corpus-id", "score"]
_TELLING = 5  # lines: fewer grades may happen to be 1, 2, 3
_MAGIC = {b"PAR1": "parquet", b"ARROW1": "arrow", b"FEA1": "arrow", b"\xff\xff\xff\xff": "arrow"}
_NUMBER = re.compile(
    rb"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[+-]?(?:inf(?:inity)?|nan)", re.I
)
_TREC_RUN = re.compile(rb"[^#\s]\S*[ \t]+\S+[ \t]+\S+[ \t]+\S+[ \t]+(\S+)[ \t]+\S")
_WHOLE = re.compile(rb"[+-]?[0-9]{1,18}")
_JSON = re.compile(rb'\{\s*(?:["}]|$)|\[\s*(?:[\[{"\]]|$)')


def check_format(name: str | None) -> str | None:
    """The format itself if there is one of this name, or None."""
    if name is not None and name not in FORMATS:
        hint = suggest_names(name, FORMATS) or f"choose one of {', '.join(FORMATS)}"
        raise SettingsError(f"no format of files is called {name!r}", hint=hint)
    return name


def format_of(source: Source, kind: str, chosen: str | None = None) -> str:
    """The format of a file of a ``kind`` (``run`` or ``qrels``); what was ``chosen`` is not doubted.

    A file that is clearly of the other kind is refused, with what it looks like.
    """
    return format_and_head(source, kind, chosen)[0]


def format_and_head(source: Source, kind: str, chosen: str | None = None) -> tuple[str, bytes]:
    """The same, and the first bytes of the file."""
    if source.is_directory:
        assert source.path is not None
        form = check_format(chosen) or dataset_format(source.path)
        if form is None:
            hint = "name a file in it" if kind == "qrels" else "use read_runs to read all runs in it"
            raise InputError("this is a directory", path=source.label, hint=hint)
        return form, b""
    head = source.head()
    if check_format(chosen):
        return str(chosen), head
    try:
        return format_of_head(head, kind), head
    except _OtherKind as other:
        raise InputError(other.looks, path=source.label, hint=other.hint) from None


class _OtherKind(Exception):  # noqa: N818 - becomes an InputError once the file has a name
    """A file that is clearly something else than what it was named as."""

    def __init__(self, looks: str, hint: str) -> None:
        super().__init__(looks)
        self.looks, self.hint = looks, hint


def format_of_head(head: bytes, kind: str) -> str:
    r"""The format of what begins with these bytes.

    >>> format_of_head(b"301 Q0 d1 1 12.5 bm25\n", "run"), format_of_head(b"query-id\tcorpus-id\tscore\n", "qrels")
    ('trec', 'beir')
    >>> format_of_head(b'{"q1": {"d1": 0.5}}', "run"), format_of_head(b"1048585\t7187158\t1\n", "run")
    ('json', 'columns')
    """
    for magic, name in _MAGIC.items():
        if head.startswith(magic):
            return name
    match = _TREC_RUN.match(head)
    if match and _NUMBER.fullmatch(match[1]):  # the usual case, seen at once
        return "trec"
    lines = data_lines(head)
    if not lines:
        return "trec"
    first = lines[0].split()
    if len(first) >= 6 and _NUMBER.fullmatch(first[4]):
        return "trec"
    if _JSON.match(lines[0].lstrip()):
        return _kind_of_json(lines, kind)
    if kind == "scores":
        return "csv"
    header = _header(lines[0])
    if header is not None:
        return _kind_of_table(*header, lines[1:], kind)
    return "columns" if _are_columns(lines, kind) else "trec"


def described(name: str, packing: str = "") -> str:
    """A format in words, for people.

    >>> described("jsonl", "zstd")
    'JSON lines, packed with zstd'
    """
    said = "judgments of ir_datasets" if name == "irds" else FORMATS[name]
    return said + (f", packed with {packing}" if packing else "")


def separator_of(line: str) -> str:
    r"""What stands between the columns of a header.

    >>> separator_of("qid\tdocno"), separator_of("qid;docno"), separator_of("qid,docno")
    ('\t', ';', ',')
    """
    return max(",\t;", key=lambda letter: (line.count(letter), letter == ","))


def data_lines(head: bytes) -> list[bytes]:
    """The lines that are neither blank nor comments; the last one, which may be cut, only if it is the only one."""
    text = head.removeprefix(BOM_UTF8)
    whole = text[: text.rfind(b"\n") + 1] if len(head) >= 1 << 13 else text
    lines = [line.rstrip(b"\r") for line in (whole or text).split(b"\n")]
    return [line for line in lines if line.strip() and not line.lstrip().startswith(b"#")]


def _kind_of_json(lines: Sequence[bytes], kind: str) -> str:
    """JSON lines: the first is an object that ends, and another one follows or it has the names of columns."""
    first = lines[0].strip()
    if not (first.startswith(b"{") and first.endswith(b"}")):
        return "json"
    if len(lines) > 1 and lines[1].lstrip().startswith(b"{"):
        return "jsonl"
    names = re.findall(rb'"([^"]+)"\s*:\s*["\d.+-]', first)
    if kind == "scores":
        return "jsonl" if b"value" in names and b"{" not in first[1:] else "json"
    meanings = {meaning_of(name.decode("utf-8", "replace")) for name in names}
    return "jsonl" if {"query_id", "doc_id"} <= meanings else "json"


def _header(line: bytes) -> tuple[list[str], str] | None:
    """The names of the columns and what separates them, if there is one for topics and one for documents."""
    text = line.decode("utf-8", "replace")
    separator = separator_of(text)
    names = [name.strip().strip('"').lower() for name in text.split(separator)]
    meanings = {meaning_of(name) for name in names}
    return (names, separator) if {"query_id", "doc_id"} <= meanings else None


def _kind_of_table(header: Sequence[str], separator: str, lines: Sequence[bytes], kind: str) -> str:
    known = {meaning_of(name) for name in header}
    if list(header) == BEIR:
        if kind == "qrels":
            return "beir"
        grades = [line.split(separator.encode())[-1].strip() for line in lines]
        if grades and all(map(_WHOLE.fullmatch, grades)):
            raise _OtherKind(
                f"this is a BEIR qrels file ({' '.join(BEIR)})",
                "name the qrels first and the runs after it; if it is a run, say --input-format runs=tsv",
            )
    elif kind == "run" and "relevance" in known and not known & {"score", "rank"}:
        raise _OtherKind("this is a table of judgments", "name the qrels first and the runs after it")
    elif kind == "qrels" and "relevance" not in known and known & {"score", "rank"}:
        raise _OtherKind(
            "this is a table of a run: it has scores and no grades",
            f"name the qrels first; a column of grades is called {' or '.join(COLUMNS['relevance'])}",
        )
    return "tsv" if separator == "\t" else "csv"


def _are_columns(lines: Sequence[bytes], kind: str) -> bool:
    """Whether these are lines of three fields (or of four, a run) that end in a number."""
    rows = [line.split() for line in lines]
    width = len(rows[0])
    alike = [row for row in rows if len(row) == width]
    if width not in (3, 4) or 2 * len(alike) < len(rows):
        return False
    if width == 4:
        return (
            kind == "run" and _whole(alike, 2) and _number(alike, 3) and _are_ranks(alike, from_the_top=True)
        )
    if kind == "qrels":
        if _whole(alike, 2) and len(alike) >= _TELLING and _are_ranks(alike, from_the_top=True):
            raise _OtherKind(
                "this looks like a run of MS MARCO (topic document rank)",
                "name the qrels first and the runs after it; if these are grades, say --input-format qrels=columns",
            )
        return _whole(alike, 2)
    if _whole(alike, 2) and not _are_ranks(alike):
        raise _OtherKind(
            "these look like judgments (topic document grade)",
            "name the qrels first and the runs after it; if it is a run, say --input-format runs=columns",
        )
    return _number(alike, 2)


def _whole(rows: Sequence[Sequence[bytes]], column: int) -> bool:
    return all(_WHOLE.fullmatch(row[column]) for row in rows)


def _number(rows: Sequence[Sequence[bytes]], column: int) -> bool:
    return all(_NUMBER.fullmatch(row[column]) for row in rows)


def _are_ranks(rows: Sequence[Sequence[bytes]], from_the_top: bool = False) -> bool:
    """Whether the third column has no number twice in a topic and begins with 1 (or with 0) in each.

    ``from_the_top``: also one after the other, for documents that differ, in some topic of several lines.
    """
    topics: dict[bytes, list[int]] = {}
    documents: dict[bytes, set[bytes]] = {}
    for row in rows:
        topics.setdefault(row[0], []).append(int(row[2]))
        documents.setdefault(row[0], set()).add(row[1])
    distinct = all(len(set(ranks)) == len(ranks) for ranks in topics.values())
    begin = {min(ranks) for ranks in topics.values()}
    if not distinct or begin not in ({0}, {1}) or not from_the_top:
        return distinct and begin in ({0}, {1})
    longest = max(topics, key=lambda topic: len(topics[topic]))
    ranks, first = topics[longest], min(begin)
    consecutive = ranks == list(range(first, first + len(ranks)))
    return consecutive and len(ranks) > 1 and len(documents[longest]) == len(ranks)
