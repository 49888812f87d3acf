"""Vectorised formatting of TREC runs: a matrix of bytes per field, and a mask of the bytes to write."""

from __future__ import annotations

import numpy as np

from rankscope.arrays import Bools, Ints, NDArray

Bytes = NDArray[np.uint8]

_FOUR_DIGITS = np.array([[ord(digit) for digit in f"{n:04d}"] for n in range(10000)], dtype=np.uint8)


def format_document_names(numbers: Ints, width: int) -> list[str]:
    """Return the names of documents with these numbers.

    >>> format_document_names(np.array([7, 12345678]), 8)
    ['doc-00000007', 'doc-12345678']
    """
    text = np.concatenate([_repeat_text("doc-", len(numbers)), _format_digits(numbers, width)], axis=1)
    names: list[str] = text.view(f"S{text.shape[1]}").ravel().astype(str).tolist()
    return names


def format_run_lines(topic: str, numbers: Ints, width: int, ticks: Ints, decimals: int, run: str) -> bytes:
    """Return the lines of one ranking; ``ticks`` are scores in units of their last decimal.

    >>> format_run_lines("301", np.array([7, 5]), 8, np.array([1250, 75]), 2, "bm25").decode().splitlines()
    ['301 Q0 doc-00000007 1 12.50 bm25', '301 Q0 doc-00000005 2 0.75 bm25']
    """
    count = len(numbers)
    ranks = np.arange(1, count + 1, dtype=np.int64)
    score, score_mask = _format_digits(ticks, 12), _mask_leading_zeros(ticks, 12, decimals + 1)
    fields = [
        (_repeat_text(f"{topic} Q0 doc-", count), None),
        (_format_digits(numbers, width), None),
        (_repeat_text(" ", count), None),
        (_format_digits(ranks, 8), _mask_leading_zeros(ranks, 8, 1)),
        (_repeat_text(" ", count), None),
        (score[:, :-decimals], score_mask[:, :-decimals]),
        (_repeat_text(".", count), None),
        (score[:, -decimals:], None),
        (_repeat_text(f" {run}\n", count), None),
    ]
    text = np.concatenate([field for field, _ in fields], axis=1)
    written = np.concatenate(
        [np.ones(field.shape, dtype=bool) if mask is None else mask for field, mask in fields], axis=1
    )
    lines: bytes = text[written].tobytes()
    return lines


def _repeat_text(text: str, count: int) -> Bytes:
    letters = np.frombuffer(text.encode(), dtype=np.uint8)
    return np.broadcast_to(letters, (count, len(letters)))


def _format_digits(numbers: Ints, width: int) -> Bytes:
    """Return decimal digits with leading zeros; the width must be a multiple of four."""
    parts: list[Bytes] = []
    for _ in range(width // 4):
        numbers, four = np.divmod(numbers, 10000)
        parts.insert(0, _FOUR_DIGITS[four])
    return np.concatenate(parts, axis=1)


def _mask_leading_zeros(numbers: Ints, width: int, n_minimum: int) -> Bools:
    """Return a mask without leading zeros, except in the last ``n_minimum`` digits."""
    powers = 10 ** np.arange(width - 1, -1, -1, dtype=np.int64)
    powers[width - n_minimum :] = 0
    return numbers[:, None] >= powers
