"""Plain definitions of file formats and measures, which share no code with Rankscope.

A file is read into lists, or rejected; a measure is a loop. The output of every command must agree with them.
"""

from __future__ import annotations

import gzip
import math
import re
import zlib

INTEGER = re.compile(rb"[+-]?[0-9]{1,18}")
NUMBER = re.compile(rb"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
INFINITE = re.compile(rb"[+-]?(inf|infinity)", re.IGNORECASE)
OTHER_ENDS = "\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
BLANKS = " \t\n\r\x0b\x0c"

Judgments = dict[bytes, dict[bytes, int]]
Lists = dict[bytes, list[tuple[bytes, float, bytes]]]


class Refused(Exception):  # noqa: N818
    """Raised for an invalid file."""


def decode_text(data: bytes) -> bytes:
    """Return the text of a plain or gzipped file."""
    if data[:2] == b"\x1f\x8b":
        if (
            data[3:4] and data[3] & 0xE2
        ):  # reserved bits, or an unexpected checksum of the header (RFC 1952, 2.3.1)
            raise Refused("gzip")
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error):
            raise Refused("gzip") from None
    if b"\0" in data[:8192]:
        raise Refused("binary")
    return data[3:] if data[:3] == b"\xef\xbb\xbf" else data


def parse_rows(data: bytes, columns: int) -> list[list[bytes]]:
    """Return the fields of every line that is neither blank nor a comment."""
    rows = []
    for line in decode_text(data).split(b"\n"):
        if b"\0" in line or b"\r" in line[:-1]:
            raise Refused("line end")
        fields = line.split()
        comment = bool(fields) and fields[0][:1] == b"#"
        tail = (
            line if comment else line.split(None, columns - 1)[columns - 1] if len(fields) >= columns else b""
        )
        if any(c in OTHER_ENDS for c in tail.decode("utf-8", "surrogateescape").rstrip(BLANKS)):
            raise Refused("line end")
        if fields and not comment:
            rows.append(fields)
    if not rows:
        raise Refused("no data")
    return rows


def parse_judgments(data: bytes, by_aspect: bool) -> Judgments:
    """Return the grade of every judged document of every topic; the best grade over its aspects.

    Without aspects, the file is read as trec_eval reads it.
    """
    entries: dict[tuple[bytes, bytes], list[tuple[bytes, int]]] = {}
    if data[:2] == b"\x1f\x8b":  # judgments may be packed twice
        data = decode_text(data)
    rows = parse_rows(data, 4)
    if (
        by_aspect and rows and all(len(fields) == 3 for fields in rows)
    ):  # columns without a header; not trec_eval
        rows = [[topic, b"0", document, grade] for topic, document, grade in rows]
    for fields in rows:
        if len(fields) != 4:
            raise Refused("fields")
        entries.setdefault((fields[0], fields[2]), []).append((fields[1], parse_grade(fields[3], by_aspect)))
    aspects = by_aspect and any(
        len({iteration for iteration, _ in several}) > 1 for several in entries.values()
    )
    judgments: Judgments = {}
    for (topic, document), several in entries.items():
        if not by_aspect and len(several) > 1:
            raise Refused("repeated")  # as trec_eval does
        grades: dict[bytes, int] = {}
        for iteration, grade in several:
            if grades.setdefault(iteration if aspects else b"", grade) != grade:
                raise Refused("contradiction")
        judgments.setdefault(topic, {})[document] = max(grade for _, grade in several)
    return judgments


def parse_grade(text: bytes, decimal: bool) -> int:
    """Return a grade; one such as 1e1 only if decimal numbers are allowed."""
    if INTEGER.fullmatch(text):
        grade = float(int(text))
    elif decimal and NUMBER.fullmatch(text):
        grade = float(text)
    else:
        raise Refused("grade")
    if abs(grade) > 2**31 - 2 or grade % 1:  # measures of binary relevance refuse fractions
        raise Refused("grade")
    return int(grade)


def parse_lists(data: bytes) -> Lists:
    """Return the documents of every topic with their scores and ranks, in the order of the file."""
    lists: Lists = {}
    pairs = set()
    for fields in parse_rows(data, 6):
        if len(fields) < 6:
            raise Refused("fields")
        topic, _, document, rank, score = fields[:5]
        if not NUMBER.fullmatch(score) and not INFINITE.fullmatch(score):
            raise Refused("score")
        if (topic, document) in pairs:
            raise Refused("duplicate")
        pairs.add((topic, document))
        lists.setdefault(topic, []).append((document, float(score), rank))
    return lists


def ranking(rows: list[tuple[bytes, float, bytes]], order: str) -> list[bytes]:
    """Return the documents of a ranking, the best first."""
    if order == "file":
        return [document for document, _, _ in rows]
    if order == "rank":
        return [document for document, _, rank in sorted(rows, key=lambda row: int(row[2]))]
    falling = sorted(rows, key=lambda row: row[0], reverse=True)
    return [document for document, _, _ in sorted(falling, key=lambda row: -row[1])]


def ranks_are_numbers(lists: Lists) -> bool:
    return all(INTEGER.fullmatch(rank) for rows in lists.values() for _, _, rank in rows)


def values(judged: dict[bytes, int], documents: list[bytes]) -> dict[str, float]:
    """Return the values of the measures of the soak for one ranking."""
    grades = [judged.get(document, 0) for document in documents]
    relevant = sum(grade > 0 for grade in judged.values())
    precision, hits, first = 0.0, 0, 0
    for rank, grade in enumerate(grades, 1):
        if grade > 0:
            hits += 1
            precision += hits / rank
            first = first or rank
    gain = sum(max(grade, 0) / math.log2(rank + 1) for rank, grade in enumerate(grades[:10], 1))
    best = sorted((grade for grade in judged.values() if grade > 0), reverse=True)[:10]
    ideal = sum(grade / math.log2(rank + 1) for rank, grade in enumerate(best, 1))
    return {
        "AP": precision / relevant if relevant else 0.0,
        "RR": 1 / first if first else 0.0,
        "P@5": sum(grade > 0 for grade in grades[:5]) / 5,
        "R@5": sum(grade > 0 for grade in grades[:5]) / relevant if relevant else 0.0,
        "nDCG@10": gain / ideal if ideal else 0.0,
    }
