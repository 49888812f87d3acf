"""Edits of a ranking, as in the what-if view of the explorer."""

import re
from collections.abc import Mapping, Sequence
from itertools import count

from rankscope.errors import SettingsError

_STEP = re.compile(r"m(?P<start>\d{1,9})-(?P<stop>\d{1,9})|r(?P<rank>\d{1,9})=(?P<grade>\d{1,9})")


def apply_edits(ranking: Sequence[str], edits: str, judgments: Mapping[str, int]) -> list[str]:
    """Return the ranking after all edits.

    ``m5-2`` moves the document at rank 5 to rank 2. ``r7=1`` replaces the document at rank 7 by the first judged one of
    grade 1 that the ranking lacks; ``r7=0`` by a non-relevant one, judged if possible.

    >>> apply_edits(["a", "b", "c"], "m3-1 r2=2", {"a": 1, "d": 2})
    ['c', 'd', 'b']
    """
    documents = list(ranking)
    for step in edits.split():
        match = _STEP.fullmatch(step)
        if match is None:
            hint = "m5-2 moves the document at rank 5 to rank 2, r7=1 replaces the one at rank 7 by one of grade 1"
            raise SettingsError(f"no edit is called {step!r}", hint=hint)
        if match["start"]:
            start, stop = (_find_index(documents, int(match[name]), step) for name in ("start", "stop"))
            documents.insert(stop, documents.pop(start))
        else:
            index = _find_index(documents, int(match["rank"]), step)
            documents[index] = _replacement(documents, index, int(match["grade"]), judgments)
    return documents


def _find_index(documents: Sequence[str], rank: int, step: str) -> int:
    if not 1 <= rank <= len(documents):
        hint = f"it has {len(documents)} documents"
        raise SettingsError(f"edit {step!r}: the ranking has no rank {rank}", hint=hint)
    return rank - 1


def _replacement(documents: Sequence[str], index: int, grade: int, judgments: Mapping[str, int]) -> str:
    """Return a document of a grade that the ranking lacks, or the replaced document if it has the grade."""
    others = set(documents) - {documents[index]}
    candidates = (name for name, g in judgments.items() if max(0, g) == grade and name not in others)
    candidate = next(candidates, None)
    if candidate is not None:
        return candidate
    if grade > 0:
        hint = "choose a grade of documents that the ranking lacks"
        raise SettingsError(f"the topic has no document of grade {grade} that the ranking lacks", hint=hint)
    names = (f"other-{number}" for number in count(1))
    return next(name for name in names if name not in others and name not in judgments)
