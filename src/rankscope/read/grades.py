"""Grades merged into fewer: ``0,1=0;2=1;3,4=2`` makes grades 0 and 1 non-relevant, 2 relevant, 3 and 4 highly relevant.

A measure that tells grades apart can so be used with finer or coarser ones (Angelini and others 2012 call it
conflation); Ferro and others (2016) study web tracks with spam as non-relevant and two of the grades as one.
"""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt

from rankscope.errors import InputError, SettingsError

__all__ = ["merge_table", "merged_grades", "written_merges"]

Grades = npt.NDArray[np.int32]

_HINT = "write the old grades and the new one of each group, such as '0,1=0;2=1;3,4=2'"
_LARGEST = 2**31 - 1


def merge_table(text: str) -> dict[int, int]:
    """The new grade of each old one.

    Merging keeps the order: a document that was graded better is never graded worse afterwards.

    >>> merge_table("-2,0=0; 1=1; 2,3=2")
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
            if max(abs(old), abs(int(match[2]))) > _LARGEST:
                raise SettingsError(f"grades {text!r} are too large", hint=f"a grade is at most {_LARGEST}")
            table[old] = int(match[2])
    ordered = dict(sorted(table.items()))
    olds, news = list(ordered), list(ordered.values())
    for place in range(1, len(olds)):
        if news[place] < news[place - 1]:
            raise SettingsError(
                f"grades {text!r} would make grade {olds[place]} worse than grade {olds[place - 1]}",
                hint="give better grades no smaller numbers",
            )
    return ordered


def written_merges(table: dict[int, int]) -> str:
    """A table of merges as one text, always the same for the same table.

    >>> written_merges(merge_table("2 = 1; 1,0 = 0"))
    '0,1=0;2=1'
    """
    groups: dict[int, list[int]] = {}
    for old, new in sorted(table.items()):
        groups.setdefault(new, []).append(old)
    return ";".join(f"{','.join(map(str, olds))}={new}" for new, olds in groups.items())


def merged_grades(grade: Grades, table: dict[int, int], path: str | None) -> Grades:
    """The new grades; every old one must be in the table, so that none is forgotten."""
    found, where, counts = np.unique(grade, return_inverse=True, return_counts=True)
    missing = [(int(g), int(n)) for g, n in zip(found, counts, strict=True) if int(g) not in table]
    if missing:
        listed = ", ".join(f"{g} ({n:,} judgment{'s' if n != 1 else ''})" for g, n in missing)
        raise InputError(
            f"these grades are not named in the merging {written_merges(table)!r}: {listed}",
            path=path,
            hint=f"say what they become, as in '{written_merges(table)};{missing[0][0]}=...'",
        )
    new = np.array([table[int(g)] for g in found], np.int32)
    return new[where.reshape(np.shape(grade))] if len(found) else grade
