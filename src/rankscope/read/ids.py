"""Identifiers of topics and documents: bytes inside, text outside.

TREC files carry arbitrary bytes; ties are broken on bytes. ``surrogateescape`` makes the round trip exact.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import repeat

__all__ = ["in_natural_order", "to_bytes", "to_text", "to_texts"]


def to_text(identifier: bytes) -> str:
    r"""Text of an identifier; bytes that are not UTF-8 survive the round trip.

    >>> to_bytes(to_text(b"caf\xe9")) == b"caf\xe9"
    True
    """
    return identifier.decode("utf-8", "surrogateescape")


def to_texts(identifiers: Sequence[bytes]) -> list[str]:
    r"""The text of each identifier, of many at once.

    >>> to_texts([b"301", b"caf\xe9"]) == [to_text(b"301"), to_text(b"caf\xe9")], to_texts([])
    (True, [])
    """
    joined = b"\0".join(identifiers)
    if not identifiers or joined.count(b"\0") >= len(identifiers):
        return [*map(to_text, identifiers)]
    return to_text(joined).split("\0")


def to_bytes(identifier: str) -> bytes:
    """Bytes of an identifier (lone surrogates that came from bytes become these bytes again)."""
    try:
        return identifier.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return identifier.encode("utf-8", "surrogatepass")


def in_natural_order(topics: Iterable[str]) -> list[str]:
    """Topics in the order a person expects: by number when all are numbers, by bytes otherwise.

    >>> in_natural_order(["10", "9", "351"]), in_natural_order(["q10", "q9"])
    (['9', '10', '351'], ['q10', 'q9'])
    >>> in_natural_order(["1", "010", "01"])
    ['01', '1', '010']
    """
    topics = list(topics)
    digits = "".join(topics)
    if digits.isascii() and digits.isdigit() and min(map(len, topics)) > 0 and max(map(len, topics)) < 19:
        if any(map(str.startswith, topics, repeat("0"))):
            topics.sort()  # 01 and 1 are the same number, and sorting is stable
        return sorted(topics, key=int)
    return sorted(topics, key=to_bytes)
