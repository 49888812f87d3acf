"""Merge grades: ``0,1=0;2=1;3,4=2`` makes grades 0 and 1 non-relevant, 2 relevant, and 3 and 4 highly relevant.

Graded measures can thus be used with a coarser scale (Angelini et al. 2012 call it conflation); Ferro et al.
(2016) study web tracks with spam as non-relevant and two merged grades.
"""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np

from rankscope.arrays import Int32s
from rankscope.errors import InputError, SettingsError

Grades = Int32s

_HINT = "write the old grades and the new one of each group, such as '0,1=0;2=1;3,4=2'"
_MAX_GRADE = 2**31 - 1


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
            raise SettingsError(problem, hint="give better grades no smaller numbers")
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


def merge_grades(grade: Grades, table: dict[int, int], path: str | None) -> Grades:
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
