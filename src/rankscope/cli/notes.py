"""Warnings printed to standard error after an evaluation."""

from collections.abc import Iterator, Sequence

from rankscope.arrays import Floats
from rankscope.judging import Judged
from rankscope.judging.shares import TIED_SHARE, UNJUDGED_SHARE, has_nonrelevant, tied_shares, unjudged_shares
from rankscope.measures import Measure


def notes_on(judged: Judged, missing: str, measures: Sequence[Measure] = ()) -> Iterator[str]:
    """Yield warnings about topics, unjudged documents and ties.

    Warnings about ties and unjudged documents are left out if ``--ties`` or ``--unjudged`` handles them.
    """
    yield from _note_on_ignored_topics(judged)
    yield from _note_on_missing_topics(judged, missing)
    yield from note_on_nonrelevant(judged, measures)
    unjudged = unjudged_shares(judged)
    if judged.options.unjudged == "nonrelevant" and (unjudged >= UNJUDGED_SHARE).any():
        run, share, others = _worst(judged, unjudged, UNJUDGED_SHARE)
        yield (
            f"{share:.0%} of the first ten documents of {run} are unjudged and count as not relevant{others}"
            + ("; --unjudged bounds shows their possible effect" if has_nonrelevant(judged) else "")
        )
    tied = tied_shares(judged)
    if judged.options.ties == "break" and (tied >= TIED_SHARE).any():
        run, share, others = _worst(judged, tied, TIED_SHARE)
        yield (
            f"{share:.0%} of the documents of {run} have tied scores{others}; --order decides their ranks,"
            " and rankscope orderings shows the effect"
        )


def note_on_nonrelevant(judged: Judged, measures: Sequence[Measure]) -> Iterator[str]:
    """Yield a warning if no document is judged non-relevant."""
    if has_nonrelevant(judged):
        return
    blind = [str(measure) for measure in measures if measure.needs_nonrelevant]
    yield (
        "no document is judged non-relevant: bounds over labels of unjudged documents are vacuous"
        + (f", and {blind[0]} only counts the relevant documents that were retrieved" if blind else "")
    )


def _worst(judged: Judged, shares: Floats, limit: float) -> tuple[str, float, str]:
    """Return the run with the largest share, its share, and a text about other runs above the limit."""
    first = int(shares.argmax())
    count = int((shares >= limit).sum()) - 1
    suffix = f" ({count} other run{'s' if count > 1 else ''}: {limit:.0%} or more)" if count else ""
    return f"{judged.runs[first]!a}", float(shares[first]), suffix


def _note_on_ignored_topics(judged: Judged) -> Iterator[str]:
    if judged.ignored_topics:
        name, topics = next(iter(judged.ignored_topics.items()))
        n_others = len(judged.ignored_topics) - 1
        suffix = f" and {n_others} other run{'s' if n_others > 1 else ''}" if n_others else ""
        count = f"{len(topics)} topic{'s' if len(topics) > 1 else ''}"
        yield f"{count} without judgments ignored in {name!a}{suffix}"


def _note_on_missing_topics(judged: Judged, missing: str) -> Iterator[str]:
    absent = ~judged.grid(judged.present)
    lacking = absent.sum(axis=1)
    if lacking.any():
        first = int(lacking.argmax())
        topic = judged.topics[int(absent[first].argmax())]
        count = int((lacking > 0).sum())
        others = "1 other run lacks" if count == 2 else f"{count - 1} other runs lack"
        suffix = f", {others} some too" if count > 1 else ""
        meaning = "counted as empty rankings" if missing == "zero" else "left out of its means"
        yield (
            f"{judged.runs[first]!a} has nothing for {lacking[first]} of {len(judged.topics)} judged topics"
            f" (such as {topic!a}), {meaning} (--missing {missing}){suffix}"
        )
