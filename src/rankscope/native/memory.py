"""Judgments and runs in dicts and arrays, read by the extension module ``_memory`` if it was built.

All functions return None if the module was not built, if another scanner is selected, or if a value is not of the
plain types that the module reads; the caller then converts the values in Python, with the same results.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from rankscope.arrays import AnyArray, Floats, Int32s, Ints
from rankscope.native.scanner import is_selected

_HIT_TYPES = [np.dtype(name) for name in ("i4", "i4", "i8", *["i4"] * 5)]
"""Types of the buffers that the function ``match`` of the module returns."""

VERSION = 9
"""Version of the functions of the module, which increases with every change of their arguments or results."""

try:
    _memory: Any = import_module("rankscope.native._memory")
except ImportError:  # it was not built
    _memory = None
if getattr(_memory, "VERSION", None) != VERSION:  # it was built from other sources
    _memory = None


def is_usable() -> bool:
    """Return whether the module was built and the environment does not select another scanner."""
    return _memory is not None and is_selected()


def index_judgments(topics: Sequence[str], judgments: Sequence[Mapping[str, int]]) -> tuple[Any, ...] | None:
    """Return an index of the documents, grades and offsets; None if the module cannot read the judgments of topics.

    >>> index_judgments(["q1"], [{"d2": 0, "d1": 1.5}]) is None
    True
    """
    result = _memory.index_judgments(topics, judgments) if is_usable() else None
    if result is None:
        return None
    index, grade, offsets = result
    return index, np.frombuffer(grade, np.int32), np.frombuffer(offsets, np.int64)


def match(
    lists: Mapping[str, Any], topic_index: Mapping[str, int], index: Any, *options: bool
) -> tuple[Any, ...] | None:
    """Return topic, length, offsets, rank, judgment, tied, ties and ignored topics of a run, or None.

    The options: whether the ordering compares scores, in 32 bits, and puts the lesser of two tied ids first; whether
    ties are requested.
    """
    result = (
        None if index is None or not is_selected() else _memory.match(lists, topic_index, index, *options)
    )
    if result is None:
        return None
    *buffers, ignored = result
    return *map(np.frombuffer, buffers, _HIT_TYPES), ignored


def evaluate_hits(
    topic: Ints,
    offsets: Ints,
    rank: AnyArray,
    judgment: AnyArray,
    grade: Int32s,
    kernels: list[tuple[Any, ...]],
) -> Floats | int:
    """Return the values of kernels, shape (kernels, lists), or the depth that their weights must have.

    The caller checks :func:`is_usable`, once for many calls.
    """
    wide, narrow = (topic, offsets), (rank, judgment, grade)
    values = _memory.evaluate_hits(
        *[np.ascontiguousarray(array, np.int64) for array in wide],
        *[np.ascontiguousarray(array, np.int32) for array in narrow],
        kernels,
    )
    return values if isinstance(values, int) else np.frombuffer(values).reshape(len(kernels), len(topic))


def sum_ideals(offsets: Ints, grade: Int32s, kernel: tuple[Any, ...]) -> Floats | int | None:
    """Return the sum of a weighted kernel for the ideal ranking of each topic, or the depth of weights; or None."""
    if not is_usable():
        return None
    sums = _memory.sum_ideals(
        np.ascontiguousarray(offsets, np.int64), np.ascontiguousarray(grade, np.int32), kernel
    )
    return sums if isinstance(sums, int) else np.frombuffer(sums)


def sort_groups(scores: Floats, offsets: Ints, ascending: bool) -> tuple[Int32s, ...] | None:
    """Return the documents of groups by descending score, ties by position; None if the module was not built.

    The index of each document, first rank and size of its group of equal scores, and the tied documents per group.
    """
    if not is_usable():
        return None
    return tuple(np.frombuffer(part, np.int32) for part in _memory.sort_groups(scores, offsets, ascending))


def join_texts(texts: list[Any] | AnyArray) -> tuple[AnyArray, Ints] | None:
    """Return the bytes of texts in UTF-8, and where each begins, or None; arrays are contiguous, of objects.

    >>> join_texts(["d1", 2]) is None
    True
    """
    joined = _memory.join_texts(texts) if is_usable() else None
    if joined is None:
        return None
    return np.frombuffer(joined[0], np.uint8), np.frombuffer(joined[1], np.int64)


def format_floats(numbers: AnyArray) -> list[str]:
    """Return numbers with all digits, as :func:`repr` does.

    >>> format_floats(np.array([0.1, 1e-9, -2.0]))
    ['0.1', '1e-09', '-2.0']
    """
    if not is_usable():
        return list(map(repr, numbers.tolist()))
    texts: list[str] = _memory.format_floats(np.ascontiguousarray(numbers, np.float64))
    return texts


def as_dicts(
    run: Mapping[str, Any],
    topic_index: Mapping[str, int],
    topics: Int32s,
    labels: Sequence[str],
    values: Floats,
) -> dict[str, dict[str, float]]:
    """Return the values of the evaluated topics of a run, in its order: ``{topic: {label: value}}``.

    ``topics`` has the index of the topic of each row, ascending; ``values`` has shape (labels, rows).

    >>> as_dicts({"q2": [], "q1": []}, {"q1": 0, "q2": 1}, np.array([1], np.int32), ["AP"], np.array([[0.5]]))
    {'q2': {'AP': 0.5}}
    """
    result: dict[str, dict[str, float]] | None = None
    if is_usable() and type(run) is dict:
        result = _memory.as_dicts(run, topic_index, topics, labels, values)
    if result is None:
        rows = dict(zip(topics.tolist(), values.T.tolist(), strict=True))
        found = ((topic, rows.get(topic_index.get(topic, -1))) for topic in run)
        result = {topic: dict(zip(labels, row, strict=True)) for topic, row in found if row is not None}
    return result
