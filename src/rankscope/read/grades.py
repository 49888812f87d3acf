"""Merge grades: ``0,1=0;2=1;3,4=2`` makes grades 0 and 1 non-relevant, 2 relevant, and 3 and 4 highly relevant.

Graded measures can thus be used with a coarser scale (Angelini et al. 2012 call it conflation); Ferro et al.
(2016) study web tracks with spam as non-relevant and two merged grades. ``0-0.2=0;0.2-0.6=1;0.6-1=2`` bins numbers,
such as click rates: a range includes its lower end, and the last range also its upper end.

Numbers that are not binned are gains (:func:`number_grades`): the grades 1, 2, 3, ... number the positive ones in
ascending order, so that everything that compares grades also works with gains.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from rankscope.arrays import AnyArray, Floats, Int32s
from rankscope.errors import InputError, SettingsError

_HINT = "write the old grades and the new one of each group, such as '0,1=0;2=1;3,4=2'"
_MAX_GRADE = 2**31 - 1
GRADE = "a 32-bit integer or a gain from 0 on"
"""Permitted judgments, for messages."""


class Bin(NamedTuple):
    """A range of numbers and its grade."""

    low: float
    high: float
    grade: int


_BINS: ContextVar[Sequence[Bin]] = ContextVar("bins", default=())


@contextmanager
def using_bins(bins: Sequence[Bin]) -> Iterator[None]:
    """Read grades as numbers, and bin them."""
    token = _BINS.set(bins)
    try:
        yield
    finally:
        _BINS.reset(token)


def has_bins() -> bool:
    """Return whether grades are binned."""
    return bool(_BINS.get())


def parse_bins(text: str) -> list[Bin]:
    """Parse ranges of numbers and their grades; return an empty list if the text merges single grades.

    >>> parse_bins("0-0.2=0; 0.2-1=1"), parse_bins("0,1=0;2=1")
    ([Bin(low=0.0, high=0.2, grade=0), Bin(low=0.2, high=1.0, grade=1)], [])
    """
    number = r"\s*(-?(?:\d+\.?\d*|\.\d+))\s*"
    matches = [
        re.fullmatch(rf"{number}-{number}=\s*(-?\d{{1,9}})\s*", part, re.ASCII) for part in text.split(";")
    ]
    if not any(matches):
        return []
    if not all(matches):
        raise SettingsError(f"grades {text!r} mix ranges and single grades", hint="write '0-0.2=0;0.2-1=1'")
    bins = sorted(Bin(float(m[1]), float(m[2]), int(m[3])) for m in matches if m)
    is_ordered = all(a.high <= b.low and a.grade <= b.grade for a, b in pairwise(bins))
    if not is_ordered or not all(b.low < b.high for b in bins):
        hint = "give ranges that do not overlap, and grades that do not decrease"
        raise SettingsError(f"grades {text!r} are not valid bins", hint=hint)
    return bins


def bin_grades(values: Any, bins: Sequence[Bin] | None = None) -> Int32s:
    """Return the grades of numbers, by default with the bins in use.

    >>> bin_grades([0.1, 0.2, 1.0], parse_bins("0-0.2=0;0.2-1=1")).tolist()
    [0, 1, 1]
    """
    bins = _BINS.get() if bins is None else bins
    try:
        numbers = np.asarray(values, np.float64)
    except (TypeError, ValueError):
        raise InputError("a grade is not a number", hint="give numbers") from None
    index = np.searchsorted([b.low for b in bins], numbers, side="right") - 1
    high = np.array([b.high for b in bins])[index]
    is_inside = (index >= 0) & ((numbers < high) | (numbers == bins[-1].high))
    if not is_inside.all():
        number = numbers[~is_inside][0]
        hint = f"there are {_format_bins(bins)}"
        raise InputError(f"the number {number:g} is in no range of grades", hint=hint)
    return np.array([b.grade for b in bins], np.int32)[index]


def check_grades(grades: Any) -> AnyArray:
    """Return grades as integers, or as floats if one is not a whole number; reject other values.

    >>> check_grades([0, 2.0]).tolist(), check_grades([0, 0.37, 2]).tolist()
    ([0, 2], [0.0, 0.37, 2.0])
    """
    if has_bins():
        return bin_grades(grades)
    try:
        array = np.asarray(grades)
    except ValueError:  # some are sequences
        array = np.array(["?"])
    if array.size == 0:
        return np.zeros(0, np.int32)
    if (
        array.ndim != 1
        or array.dtype.kind not in "iubf"
        or (array.dtype.kind == "f" and np.isnan(array).any())
    ):
        raise InputError("a grade is not a number", hint="grades are numbers such as 0, 1, 2 or 0.37")
    if max(-float(array.min()), float(array.max())) > 2**31 - 2:
        raise InputError("a grade is beyond 32 bits", hint="grades are small numbers such as 0, 1, 2")
    if array.dtype.kind != "f" or (array == np.floor(array)).all():
        return array.astype(np.int32)
    negative = array[array < 0]
    if (negative != np.floor(negative)).any():
        raise InputError("a negative grade is not a whole number", hint="gains are numbers from 0 on")
    return array.astype(np.float64)


def is_grade(number: float) -> bool:
    """Return whether a number is a grade of 32 bits, a gain from 0 on, or to be binned.

    >>> is_grade(-2), is_grade(0.37), is_grade(-0.5), is_grade(float("inf"))
    (True, True, False, False)
    """
    return has_bins() or (abs(number) <= 2**31 - 2 and (number >= 0 or number % 1 == 0))


def number_grades(values: AnyArray) -> tuple[Int32s, Floats | None]:
    """Return grades, and the gains of grades 0, 1, 2, ... unless all values (of :func:`check_grades`) are integers.

    >>> grade, gains = number_grades(np.array([0.37, -1.0, 2.0, 0.0, 0.37]))
    >>> grade.tolist(), gains.tolist()
    ([1, -1, 2, 0, 1], [0.0, 0.37, 2.0])
    """
    if values.dtype.kind != "f":
        return values.astype(np.int32, copy=False), None
    gains = np.unique(np.append(values[values > 0], 0.0))
    return np.where(values < 0, values, np.searchsorted(gains, values)).astype(np.int32), gains


def _format_bins(bins: Sequence[Bin]) -> str:
    return ";".join(f"{b.low:g}-{b.high:g}={b.grade}" for b in bins)


def normalise_merges(text: str) -> str:
    """Return the canonical text of merges or bins.

    >>> normalise_merges("2 = 1; 1,0 = 0"), normalise_merges("0 - .5 = 0; .5-1=1")
    ('0,1=0;2=1', '0-0.5=0;0.5-1=1')
    """
    return _format_bins(bins) if (bins := parse_bins(text)) else format_merges(parse_merges(text))


def parse_merges(text: str) -> dict[int, int]:
    """Parse merges into a mapping from old to new grades, which must be monotonic.

    >>> parse_merges("-2,0=0; 1=1; 2,3=2")
    {-2: 0, 0: 0, 1: 1, 2: 2, 3: 2}
    """
    table: dict[int, int] = {}
    for group in text.split(";"):
        match = re.fullmatch(r"\s*(-?\d+(?:\s*,\s*-?\d+)*)\s*=\s*(-?\d+)\s*", group, re.ASCII)
        if match is None:
            raise SettingsError(f"grades {text!r} cannot be read at {group.strip()!r}", hint=_HINT)
        for old in map(int, match[1].split(",")):
            if old in table:
                raise SettingsError(f"grades {text!r} name grade {old} twice", hint=_HINT)
            if max(abs(old), abs(int(match[2]))) > _MAX_GRADE:
                raise SettingsError(f"grades {text!r} are too large", hint=f"a grade is at most {_MAX_GRADE}")
            table[old] = int(match[2])
    ordered = sorted(table.items())
    for (old, new), (next_old, next_new) in pairwise(ordered):
        if next_new < new:
            problem = f"grades {text!r} would make grade {next_old} worse than grade {old}"
            raise SettingsError(problem, hint="let the new grades increase with the old ones")
    return dict(ordered)


def format_merges(table: dict[int, int]) -> str:
    """Return the canonical text of a table of merges.

    >>> format_merges(parse_merges("2 = 1; 1,0 = 0"))
    '0,1=0;2=1'
    """
    groups: dict[int, list[int]] = {}
    for old, new in sorted(table.items()):
        groups.setdefault(new, []).append(old)
    return ";".join(f"{','.join(map(str, olds))}={new}" for new, olds in groups.items())


def merge_grades(grade: Int32s, table: dict[int, int], path: str | None) -> Int32s:
    """Return the new grades; the table must have every old grade."""
    distinct, index, counts = np.unique(grade, return_inverse=True, return_counts=True)
    missing = [(int(g), int(n)) for g, n in zip(distinct, counts, strict=True) if int(g) not in table]
    if missing:
        listed = ", ".join(f"{g} ({n:,} judgment{'s' if n != 1 else ''})" for g, n in missing)
        problem = f"these grades are not named in the merging {format_merges(table)!r}: {listed}"
        hint = f"name them too, as in '{format_merges(table)};{missing[0][0]}=...'"
        raise InputError(problem, path=path, hint=hint)
    new = np.array([table[int(g)] for g in distinct], np.int32)
    return new[index.reshape(np.shape(grade))] if len(distinct) else grade
