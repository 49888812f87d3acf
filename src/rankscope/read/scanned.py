"""What a scanner gives back: the hits of a run, or the first line that is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from rankscope.errors import InputError
from rankscope.read.ids import to_text

__all__ = ["FoundList", "LineProblem", "ReturningTopic", "ScannedRun", "assembled"]

COLUMNS = "topic Q0 document rank score tag"


class ScannedRun(NamedTuple):
    """Where the judged documents stand in a run, for the judged topics that occur in it.

    The hits of list k, for topic ``topic[k]``, are ``offsets[k]:offsets[k + 1]``; ``judgment`` counts through
    the judged documents of the qrels.
    """

    topic: npt.NDArray[np.int32]
    """Indices into the topics of the qrels, ascending."""
    length: npt.NDArray[np.int32]
    """How many documents were retrieved."""
    offsets: npt.NDArray[np.int64]
    rank: npt.NDArray[np.int32]
    """From 1 on, ascending within a list, under the chosen ordering."""
    judgment: npt.NDArray[np.int32]
    tied: npt.NDArray[np.int32]
    """How many documents of the list share their score with another one."""
    ignored_topics: tuple[str, ...]
    """Topics of the file without judgments, in order of appearance."""
    tag: str
    """The last column of the first line."""


class FoundList(NamedTuple):
    """One list as a scanner finds it."""

    topic: int
    length: int
    tied: int
    rank: npt.NDArray[np.int32]
    judgment: npt.NDArray[np.int32]


def assembled(lists: Sequence[FoundList], ignored: Sequence[bytes], tag: bytes) -> ScannedRun:
    """The lists by ascending topic in flat arrays."""
    lists = sorted(lists, key=lambda one: one.topic)
    offsets = np.zeros(len(lists) + 1, np.int64)
    np.cumsum([len(one.rank) for one in lists], out=offsets[1:])
    none = np.zeros(0, np.int32)
    return ScannedRun(
        topic=np.array([one.topic for one in lists], np.int32),
        length=np.array([one.length for one in lists], np.int32),
        offsets=offsets,
        rank=np.concatenate([none, *(one.rank for one in lists)]),
        judgment=np.concatenate([none, *(one.judgment for one in lists)]),
        tied=np.array([one.tied for one in lists], np.int32),
        ignored_topics=tuple(map(to_text, ignored)),
        tag=to_text(tag),
    )


class ReturningTopic(Exception):  # noqa: N818 - a signal between scanners, not an error of the user
    """A topic comes back after another one: its list must be kept until the end of the file."""


class LineProblem(Exception):  # noqa: N818 - becomes an InputError once the file has a name
    """The first line of a run that is wrong. Both scanners raise it, so their messages are the same.

    ``kind`` is one of ``long``, ``nul``, ``fields``, ``rank``, ``score``, ``nan``, ``duplicate``, tested in this order
    within a line; a duplicate is a problem of the line where the document stands for the second time.
    """

    def __init__(self, kind: str, line: int, text: bytes = b"", topic: bytes = b"", fields: int = 0) -> None:
        super().__init__(kind, line)
        self.kind, self.line, self.text, self.topic, self.fields = kind, line, text, topic, fields

    def located(self, label: str) -> InputError:
        """The error to show for a file."""
        message, hint = getattr(self, f"_{self.kind}")()
        return InputError(message, path=label, line=self.line, hint=hint)

    def _long(self) -> tuple[str, str]:
        return (
            "the line or the list it belongs to is too long",
            "the limit is 2^31 bytes a line and documents a list",
        )

    def _nul(self) -> tuple[str, str]:
        return "a NUL byte in the line", "this looks like binary data; give a text file"

    def _fields(self) -> tuple[str, str]:
        message = f"{self.fields} field{'s' * (self.fields != 1)} where a run has 6: {COLUMNS}"
        if self.fields == 4:
            return message, "this looks like a qrels file; name the qrels first and the runs after it"
        return message, "complete the line or remove it"

    def _rank(self) -> tuple[str, str]:
        return (
            f"rank {_quoted(self.text)} is not an integer",
            "correct it, or choose another order",
        )

    def _score(self) -> tuple[str, str]:
        return f"score {_quoted(self.text)} is not a number", "give a decimal number such as 12.5 or 1e-3"

    def _nan(self) -> tuple[str, str]:
        return "NaN score", "remove the line or give a number"

    def _duplicate(self) -> tuple[str, str]:
        return (
            f"document {_quoted(self.text)} stands twice in topic {_quoted(self.topic)}",
            "keep one of the two lines",
        )


def _quoted(text: bytes) -> str:
    shown = to_text(text)
    return f"'{shown}'" if len(shown) <= 60 else f"'{shown[:57]}...'"
