"""TREC text made for thousands of lines at once: a table of bytes and a mask of those that are written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Bytes = NDArray[np.uint8]
    Integers = NDArray[np.int64]

__all__ = ["document_names", "run_lines"]

_FOUR = np.array([[ord(digit) for digit in f"{number:04d}"] for number in range(10000)], dtype=np.uint8)


def document_names(numbers: Integers, width: int) -> list[str]:
    """The names of documents with these numbers.

    >>> document_names(np.array([7, 12345678]), 8)
    ['doc-00000007', 'doc-12345678']
    """
    text = np.concatenate([_constant("doc-", len(numbers)), _digits(numbers, width)], axis=1)
    names: list[str] = text.view(f"S{text.shape[1]}").ravel().astype(str).tolist()
    return names


def run_lines(topic: str, numbers: Integers, width: int, ticks: Integers, decimals: int, run: str) -> bytes:
    """The lines of one list; scores are given in units of their last decimal.

    >>> run_lines("301", np.array([7, 5]), 8, np.array([1250, 75]), 2, "bm25").decode().splitlines()
    ['301 Q0 doc-00000007 1 12.50 bm25', '301 Q0 doc-00000005 2 0.75 bm25']
    """
    count = len(numbers)
    ranks = np.arange(1, count + 1, dtype=np.int64)
    score, shown = _digits(ticks, 12), _leading(ticks, 12, decimals + 1)
    fields = [
        (_constant(f"{topic} Q0 doc-", count), None),
        (_digits(numbers, width), None),
        (_constant(" ", count), None),
        (_digits(ranks, 8), _leading(ranks, 8, 1)),
        (_constant(" ", count), None),
        (score[:, :-decimals], shown[:, :-decimals]),
        (_constant(".", count), None),
        (score[:, -decimals:], None),
        (_constant(f" {run}\n", count), None),
    ]
    text = np.concatenate([field for field, _ in fields], axis=1)
    written = np.concatenate(
        [np.ones(field.shape, dtype=bool) if mask is None else mask for field, mask in fields], axis=1
    )
    lines: bytes = text[written].tobytes()
    return lines


def _constant(text: str, count: int) -> Bytes:
    letters = np.frombuffer(text.encode(), dtype=np.uint8)
    return np.broadcast_to(letters, (count, len(letters)))


def _digits(numbers: Integers, width: int) -> Bytes:
    """Decimal digits with leading zeros; the width is a multiple of four."""
    parts: list[Bytes] = []
    for _ in range(width // 4):
        numbers, four = np.divmod(numbers, 10000)
        parts.insert(0, _FOUR[four])
    return np.concatenate(parts, axis=1)


def _leading(numbers: Integers, width: int, least: int) -> NDArray[np.bool_]:
    """Which digits are written: no leading zeros, but at least the last few."""
    powers = 10 ** np.arange(width - 1, -1, -1, dtype=np.int64)
    powers[width - least :] = 0
    return numbers[:, None] >= powers
