"""Notes about the data, which the summary of the report shows."""

from collections.abc import Iterator
from typing import Literal

import numpy as np

from rankscope.judging import UNJUDGED, Judged
from rankscope.judging.shares import UNJUDGED_SHARE, has_nonrelevant, unjudged_shares
from rankscope.reporting.schema import Note

_MAX_ITEMS = 400
"""Maximum number of cases that a note lists."""


def notes(judged: Judged) -> list[Note]:
    """Return notes about missing topics, ties, unjudged documents near the top, topics without relevant ones, etc.

    >>> from rankscope.judging import judge
    >>> from rankscope.read import Qrels, Run
    >>> qrels = Qrels.from_dict({"q1": {"d1": 1}, "q2": {"d1": 1}})
    >>> [note["kind"] for note in notes(judge(qrels, Run.from_dict({"q1": {"d1": 1.0}})))]
    ['missing topics', 'no non-relevant documents', 'short lists']
    """
    checks = (_note_topics, _note_relevance, _note_unjudged, _note_rankings, _note_negative)
    return [note for kind in checks for note in kind(judged)]


def _note(kind: str, level: Literal["note", "warning"], text: str, items: list[str] | None = None) -> Note:
    note: Note = {"kind": kind, "level": level, "text": text}
    if items:
        note["items"] = items[:_MAX_ITEMS]
    return note


def _plural(n: int, noun: str, verb: str = "has", verbs: str = "have") -> str:
    return f"{n:,} {noun} {verb}" if n == 1 else f"{n:,} {noun}s {verbs}"


def _note_topics(judged: Judged) -> Iterator[Note]:
    """Yield notes about topics without a ranking or without judgments."""
    absent = judged.grid(~judged.present)
    items = [
        f"{judged.runs[r]}: {', '.join(judged.topics[t] for t in np.flatnonzero(absent[r]).tolist())}"
        for r in np.flatnonzero(absent.any(axis=1)).tolist()
    ]
    if items:
        rankings = f"{int(absent.sum()):,} ranking{'' if absent.sum() == 1 else 's'} in all"
        text = f"{_plural(len(items), 'run', 'lacks', 'lack')} judged topics ({rankings})."
        yield _note("missing topics", "warning", text, items)
    items = [f"{run}: {', '.join(topics[:20])}" for run, topics in judged.ignored_topics.items()]
    if items:
        text = f"{_plural(len(items), 'run')} topics without judgments, left out here."
        yield _note("topics without judgments", "note", text, items)


def _note_relevance(judged: Judged) -> Iterator[Note]:
    """Yield notes about topics without relevant documents, and about judgments without non-relevant ones."""
    items = [judged.topics[t] for t in np.flatnonzero(judged.pool.recall_base(1) == 0).tolist()]
    if items:
        text = f"{_plural(len(items), 'topic')} no relevant document: gain is 0 there and effort undefined."
        yield _note("no relevant documents", "warning", text, items)
    if not has_nonrelevant(judged):
        text = (
            "No document is judged non-relevant: bounds over labels of unjudged documents are vacuous, and Bpref, which"
            " would count relevant documents only, is left out unless you request it."
        )
        yield _note("no non-relevant documents", "warning", text)


def _note_unjudged(judged: Judged) -> Iterator[Note]:
    slots = judged.grid(np.minimum(judged.length, 10)).sum(axis=1)
    n_judged = judged.grid(judged.lists.hits(10).count).sum(axis=1)
    if n_judged.sum() == slots.sum():
        return
    share = unjudged_shares(judged)
    total = 1 - n_judged.sum() / slots.sum()
    order = np.argsort(-share, kind="stable")
    items = [f"{judged.runs[r]}: {share[r]:.1%}" for r in order.tolist() if share[r] >= UNJUDGED_SHARE]
    suffix = f"; {_plural(len(items), 'run')} {UNJUDGED_SHARE:.0%} or more" if items else ""
    text = (
        f"{total:.1%} of the documents in the first ten ranks are unjudged and count as not relevant{suffix}."
    )
    yield _note("unjudged documents", "warning" if items else "note", text, items)


def _note_rankings(judged: Judged) -> Iterator[Note]:
    """Yield notes about tied scores and short rankings."""
    tied = judged.grid(judged.tied).sum(axis=1)
    order = [r for r in np.argsort(-tied, kind="stable").tolist() if tied[r]]
    if order:
        share = int(tied.sum()) / max(1, int(judged.length.sum()))
        text = (
            f"{_plural(len(order), 'run')} tied scores ({share:.1%} of all documents); "
            "the ordering that was chosen decides their ranks."
        )
        items = [f"{judged.runs[r]}: {int(tied[r]):,} documents" for r in order]
        yield _note("tied scores", "note", text, items)
    few = np.argwhere(judged.grid(judged.present & (judged.length < 10))).tolist()
    if few:
        items = [f"{judged.runs[r]}: topic {judged.topics[t]}" for r, t in few]
        yield _note("short lists", "note", f"{_plural(len(few), 'ranking')} fewer than 10 documents.", items)


def _note_negative(judged: Judged) -> Iterator[Note]:
    grade = judged.qrels.grade
    n = int(((grade < 0) & (grade != UNJUDGED)).sum())
    if n:
        below = "below zero (spam, for example)"
        text = f"{_plural(n, 'judgment', f'{below} counts', f'{below} count')} as not relevant."
        yield _note("negative grades", "note", text)
