"""Changing one list step by step, as the what-if view of the page does."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from rankscope.errors import SettingsError

__all__ = ["edited"]

_STEP = re.compile(r"m(?P<start>\d{1,9})-(?P<stop>\d{1,9})|r(?P<rank>\d{1,9})=(?P<grade>\d{1,9})")


def edited(ranking: Sequence[str], edits: str, judgments: Mapping[str, int]) -> list[str]:
    """The list after each of the edits, one after the other.

    ``m5-2`` moves the document at rank 5 to rank 2. ``r7=1`` replaces the document at rank 7 by one of grade 1 that the
    list lacks, the first of the judgments; ``r7=0`` by one that is not relevant, judged if there is such a document.

    >>> edited(["a", "b", "c"], "m3-1 r2=2", {"a": 1, "d": 2})
    ['c', 'd', 'b']
    """
    documents = list(ranking)
    for step in edits.split():
        found = _STEP.fullmatch(step)
        if found is None:
            hint = "m5-2 moves the document at rank 5 to rank 2, r7=1 replaces the one at rank 7 by one of grade 1"
            raise SettingsError(f"no edit is called {step!r}", hint=hint)
        if found["start"]:
            start, stop = (_place(documents, int(found[name]), step) for name in ("start", "stop"))
            documents.insert(stop, documents.pop(start))
        else:
            place = _place(documents, int(found["rank"]), step)
            documents[place] = _replacement(documents, place, int(found["grade"]), judgments)
    return documents


def _place(documents: Sequence[str], rank: int, step: str) -> int:
    if not 1 <= rank <= len(documents):
        raise SettingsError(
            f"edit {step!r}: the list has no rank {rank}", hint=f"it has {len(documents)} documents"
        )
    return rank - 1


def _replacement(documents: Sequence[str], place: int, grade: int, judgments: Mapping[str, int]) -> str:
    """A document of a grade that the list lacks; the one it replaces will do if it has the grade."""
    there = set(documents) - {documents[place]}
    known = (name for name, found in judgments.items() if max(0, found) == grade and name not in there)
    one = next(known, None)
    if one is not None:
        return one
    if grade > 0:
        hint = "all of them are in the list, or there is none: choose another grade"
        raise SettingsError(f"the topic has no document of grade {grade} that the list lacks", hint=hint)
    number = 1
    while f"other-{number}" in there or f"other-{number}" in judgments:
        number += 1
    return f"other-{number}"
