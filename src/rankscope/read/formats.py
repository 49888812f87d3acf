"""Detect the format of a file by its first bytes and lines, never by its name.

Any file that is not clearly of another format is a TREC file, so that an invalid line of one is reported as such.

======== =====================================================================================================
trec     ``topic Q0 document rank score tag`` and ``topic iteration document grade``
beir     judgments of BEIR: tab-separated columns with the header ``query-id corpus-id score``
columns  ``topic document grade``; ``topic document rank``, optionally followed by a score, as in MS MARCO
csv      columns separated by commas (or semicolons) with a header; :data:`~.frames.COLUMNS` has the names
tsv      the same separated by tabs
json     ``{topic: {document: number}}``, also by split (MTEB) or by run; or a list of rows
jsonl    one object per line, with the names of columns
parquet  Parquet: a file, or a directory of parts
arrow    Arrow or Feather: a file, a stream, or a directory of parts
======== =====================================================================================================
"""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Sequence

from rankscope.choices import INPUT_FORMATS
from rankscope.errors import InputError, check_name, error_path
from rankscope.read.arrow_files import dataset_format
from rankscope.read.frames import COLUMNS, column_meaning, missing_column
from rankscope.read.source import HEAD, Source

BEIR = ["query-id", "corpus-id", "score"]
_MIN_RANKS = 5  # lines; fewer grades may happen to be 1, 2, 3
_MAGIC = {b"PAR1": "parquet", b"ARROW1": "arrow", b"FEA1": "arrow", b"\xff\xff\xff\xff": "arrow"}
_NUMBER = re.compile(
    rb"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[+-]?(?:inf(?:inity)?|nan)", re.I
)
_TREC_RUN = re.compile(rb"[^#\s]\S*[ \t]+\S+[ \t]+\S+[ \t]+\S+[ \t]+(\S+)[ \t]+\S")
_WHOLE = re.compile(rb"[+-]?[0-9]{1,18}")
_QRELS_FIRST = "name the qrels first and the runs after it"
_NUGGETS = re.compile(rb'"nuggets"\s*:\s*\[')
_JSON = re.compile(rb'\{\s*(?:["}]|$)|\[\s*(?:[\[{"\]]|$)')


def detect_format(source: Source, kind: str, requested: str | None = None) -> str:
    """Return the format of a ``run`` or ``qrels`` file, or the ``requested`` one.

    A file that is clearly of the other kind is an error.
    """
    if requested is not None:
        check_name(requested, INPUT_FORMATS, f"unknown file format {requested!r}")
        return requested
    if source.is_directory:
        assert source.path is not None
        file_format = dataset_format(source.path)
        if file_format is None:
            hint = "name a file in it" if kind == "qrels" else "use read_runs to read all runs in it"
            raise InputError("this is a directory", path=source.label, hint=hint)
        return file_format
    with error_path(source.label):
        return detect_format_of_head(source.head(), kind)


def detect_format_of_head(head: bytes, kind: str) -> str:
    r"""Return the format of content that starts with these bytes.

    >>> detect_format_of_head(b"301 Q0 d1 1 12.5 bm25\n", "run")
    'trec'
    >>> detect_format_of_head(b"query-id\tcorpus-id\tscore\n", "qrels")
    'beir'
    >>> detect_format_of_head(b'{"q1": {"d1": 0.5}}', "run"), detect_format_of_head(b"1048585\t7187158\t1\n", "run")
    ('json', 'columns')
    """
    for magic, name in _MAGIC.items():
        if head.startswith(magic):
            return name
    match = _TREC_RUN.match(head)
    if match and _NUMBER.fullmatch(match[1]):  # fast path of the usual case
        return "trec"
    lines = data_lines(head)
    if not lines:
        return "trec"
    first = lines[0].split()
    if len(first) >= 6 and _NUMBER.fullmatch(first[4]):
        return "trec"
    if _JSON.match(lines[0].lstrip()):
        return _detect_json(lines, kind)
    if kind == "scores":
        return "csv"
    header = _parse_header(lines[0])
    if header is not None:
        return _detect_table(*header, lines[1:], kind)
    reject_incomplete_header(lines[0])
    return "columns" if _are_columns(lines, kind) else "trec"


def find_separator(line: str) -> str:
    r"""Return the separator of the columns of a header.

    >>> find_separator("qid\tdocno"), find_separator("qid;docno"), find_separator("qid,docno")
    ('\t', ';', ',')
    """
    return max(",\t;", key=lambda letter: (line.count(letter), letter == ","))


def data_lines(head: bytes) -> list[bytes]:
    """Return the lines that are neither blank nor comments, without a truncated last line unless it is the only one."""
    text = head.removeprefix(BOM_UTF8)
    complete = text[: text.rfind(b"\n") + 1] if len(head) >= HEAD else text
    lines = [line.rstrip(b"\r") for line in (complete or text).split(b"\n")]
    return [line for line in lines if line.strip() and not line.lstrip().startswith(b"#")]


def first_data_line(head: bytes) -> str:
    """Return the first line that is neither blank nor a comment, as text."""
    return next(iter(data_lines(head)), b"").decode("utf-8", "replace")


def _detect_json(lines: Sequence[bytes], kind: str) -> str:
    """Detect JSON lines: the first line is an object, and another one follows or it has the names of columns."""
    first = lines[0].strip()
    if _NUGGETS.search(first):
        return "jsonl"
    if not (first.startswith(b"{") and first.endswith(b"}")):
        return "json"
    if len(lines) > 1 and lines[1].lstrip().startswith(b"{"):
        return "jsonl"
    names = re.findall(rb'"([^"]+)"\s*:\s*["\d.+-]', first)
    if kind == "scores":
        return "jsonl" if b"value" in names and b"{" not in first[1:] else "json"
    meanings = {column_meaning(name.decode("utf-8", "replace")) for name in names}
    return "jsonl" if {"query_id", "doc_id"} <= meanings else "json"


def _parse_header(line: bytes) -> tuple[list[str], str] | None:
    """Return column names and separator, if there is a column of topics and one of documents."""
    text = line.decode("utf-8", "replace")
    separator = find_separator(text)
    names = [name.strip().strip('"').lower() for name in text.split(separator)]
    meanings = {column_meaning(name) for name in names}
    return (names, separator) if {"query_id", "doc_id"} <= meanings else None


def reject_incomplete_header(line: bytes) -> None:
    """Reject a header that has two known columns, but not both a topic and a document."""
    text = line.decode("utf-8", "replace")
    names = [name.strip().strip('"') for name in text.split(find_separator(text))]
    meanings = {column_meaning(name) for name in names} - {None}
    if len(meanings) > 1:
        raise missing_column("query_id" if "doc_id" in meanings else "doc_id", names, line=1)


def _detect_table(header: Sequence[str], separator: str, lines: Sequence[bytes], kind: str) -> str:
    meanings = {column_meaning(name) for name in header}
    if list(header) == BEIR:
        if kind == "qrels":
            return "beir"
        grades = [line.split(separator.encode())[-1].strip() for line in lines]
        if grades and all(map(_WHOLE.fullmatch, grades)):
            hint = f"{_QRELS_FIRST}; if it is a run, use --input-format runs=tsv"
            raise InputError(f"this is a BEIR qrels file ({' '.join(BEIR)})", hint=hint)
    elif kind == "run" and "relevance" in meanings and not meanings & {"score", "rank"}:
        raise InputError("this is a table of judgments", hint=_QRELS_FIRST)
    elif kind == "qrels" and "relevance" not in meanings and meanings & {"score", "rank"}:
        hint = f"name the qrels first; a column of grades is called {' or '.join(COLUMNS['relevance'])}"
        raise InputError("this is a table of a run: it has scores and no grades", hint=hint)
    return "tsv" if separator == "\t" else "csv"


def _are_columns(lines: Sequence[bytes], kind: str) -> bool:
    """Return whether these are lines of three fields (or of four, for a run) that end in a number."""
    rows = [line.split() for line in lines]
    width = len(rows[0])
    rows_of_width = [row for row in rows if len(row) == width]
    if width not in (3, 4) or 2 * len(rows_of_width) < len(rows):
        return False
    columns = [*zip(*rows_of_width, strict=True)]
    has_integers = all(map(_WHOLE.fullmatch, columns[2]))
    has_numbers = all(map(_NUMBER.fullmatch, columns[-1]))
    if width == 4:
        return kind == "run" and has_integers and has_numbers and _are_ranks(rows_of_width, consecutive=True)
    if kind == "qrels":
        if has_integers and len(rows_of_width) >= _MIN_RANKS and _are_ranks(rows_of_width, consecutive=True):
            hint = f"{_QRELS_FIRST}; if these are grades, use --input-format qrels=columns"
            raise InputError("this looks like a run of MS MARCO (topic document rank)", hint=hint)
        return has_integers
    if has_integers and not _are_ranks(rows_of_width):
        hint = f"{_QRELS_FIRST}; if it is a run, use --input-format runs=columns"
        raise InputError("these look like judgments (topic document grade)", hint=hint)
    return has_numbers


def _are_ranks(rows: Sequence[Sequence[bytes]], consecutive: bool = False) -> bool:
    """Return whether the numbers of every topic in the third column are distinct and start with 1 (or with 0).

    ``consecutive``: also whether the numbers of the longest topic are consecutive, and its documents distinct.
    """
    topics: dict[bytes, list[int]] = {}
    documents: dict[bytes, set[bytes]] = {}
    for row in rows:
        topics.setdefault(row[0], []).append(int(row[2]))
        documents.setdefault(row[0], set()).add(row[1])
    are_distinct = all(len(set(ranks)) == len(ranks) for ranks in topics.values())
    minima = {min(ranks) for ranks in topics.values()}
    if not are_distinct or minima not in ({0}, {1}):
        return False
    if not consecutive:
        return True
    longest = max(topics, key=lambda topic: len(topics[topic]))
    ranks, first = topics[longest], min(minima)
    are_consecutive = ranks == list(range(first, first + len(ranks)))
    return are_consecutive and len(ranks) > 1 and len(documents[longest]) == len(ranks)
