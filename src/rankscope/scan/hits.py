"""What a scanner gives back: the hits of a run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from rankscope.read.ids import to_text

__all__ = ["FoundList", "ReturningTopic", "RunHits", "assembled"]


class RunHits(NamedTuple):
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


def assembled(lists: Sequence[FoundList], ignored: Sequence[bytes], tag: bytes) -> RunHits:
    """The lists by ascending topic in flat arrays."""
    lists = sorted(lists, key=lambda one: one.topic)
    offsets = np.zeros(len(lists) + 1, np.int64)
    np.cumsum([len(one.rank) for one in lists], out=offsets[1:])
    none = np.zeros(0, np.int32)
    return RunHits(
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
