"""What somebody should know who reads the means of runs: one line each on standard error, unless --quiet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from rankscope.judging import Judged
from rankscope.judging.shares import TIED_SHARE, UNJUDGED_SHARE, has_nonrelevant, tied_shares, unjudged_shares
from rankscope.measures import Measure

__all__ = ["note_on_nonrelevant", "notes_on"]


def notes_on(judged: Judged, missing: str, measures: Sequence[Measure] = ()) -> Iterator[str]:
    """Topics without judgments, topics that runs lack, judgments without non-relevant documents, unjudged documents
    near the top, tied scores.

    What was asked about (``--ties``, ``--unjudged``) is not said again.
    """
    yield from _ignored(judged)
    yield from _lacking(judged, missing)
    yield from note_on_nonrelevant(judged, measures)
    unjudged = unjudged_shares(judged)
    if judged.options.unjudged == "nonrelevant" and (unjudged >= UNJUDGED_SHARE).any():
        run, share, others = _worst(judged, unjudged, UNJUDGED_SHARE)
        yield (
            f"{share:.0%} of the first ten documents of {run} are unjudged and count as not relevant{others}"
            + ("; --unjudged bounds says what they may change" if has_nonrelevant(judged) else "")
        )
    tied = tied_shares(judged)
    if judged.options.ties == "break" and (tied >= TIED_SHARE).any():
        run, share, others = _worst(judged, tied, TIED_SHARE)
        yield (
            f"{share:.0%} of the documents of {run} have the score of another one{others}; --order decides their ranks,"
            " and rankscope orderings says what that changes"
        )


def note_on_nonrelevant(judged: Judged, measures: Sequence[Measure]) -> Iterator[str]:
    """Judgments without a judged non-relevant document."""
    if has_nonrelevant(judged):
        return
    blind = [str(measure) for measure in measures if measure.needs_nonrelevant]
    yield (
        "no document is judged non-relevant: bounds over labels of unjudged documents are vacuous"
        + (f", and {blind[0]} only counts the relevant documents that were retrieved" if blind else "")
    )


def _worst(judged: Judged, shares: npt.NDArray[np.float64], limit: float) -> tuple[str, float, str]:
    """The run with the largest share, the share, and how many others have at least as much as is worth a line."""
    first = int(shares.argmax())
    count = int((shares >= limit).sum()) - 1
    more = f" ({count} other run{'s' if count > 1 else ''}: {limit:.0%} or more)" if count else ""
    return f"{judged.runs[first]!a}", float(shares[first]), more


def _ignored(judged: Judged) -> Iterator[str]:
    if judged.ignored_topics:
        name, topics = next(iter(judged.ignored_topics.items()))
        more = f" and {len(judged.ignored_topics) - 1} other runs" if len(judged.ignored_topics) > 1 else ""
        what = f"{len(topics)} topic{'s' if len(topics) > 1 else ''}"
        yield f"{what} without judgments ignored in {name!a}{more}"


def _lacking(judged: Judged, missing: str) -> Iterator[str]:
    absent = ~judged.grid(judged.present)
    lacking = absent.sum(axis=1)
    if lacking.any():
        first = int(lacking.argmax())
        topic = judged.topics[int(absent[first].argmax())]
        count = int((lacking > 0).sum())
        more = f", {count - 1} other runs lack some too" if count > 1 else ""
        meaning = "counted as empty lists" if missing == "zero" else "left out of its means"
        yield (
            f"{judged.runs[first]!a} has nothing for {lacking[first]} of {len(judged.topics)} judged topics"
            f" (such as {topic!a}), {meaning} (--missing {missing}){more}"
        )
