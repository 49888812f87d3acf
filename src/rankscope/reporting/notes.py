"""Notes about the data, which the summary of the report shows."""

from __future__ import annotations

from typing import Literal

import numpy as np

from rankscope.judging import UNJUDGED, Judged
from rankscope.judging.shares import UNJUDGED_SHARE, has_nonrelevant, unjudged_shares
from rankscope.reporting.schema import Note

__all__ = ["notes"]

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
    candidates = (
        _missing(judged),
        _ignored(judged),
        _without_relevant(judged),
        _without_nonrelevant(judged),
        _unjudged(judged),
        _ties(judged),
        _short(judged),
        _negative(judged),
    )
    return [note for note in candidates if note is not None]


def _note(kind: str, level: Literal["note", "warning"], text: str, items: list[str] | None = None) -> Note:
    note: Note = {"kind": kind, "level": level, "text": text}
    if items:
        note["items"] = items[:_MAX_ITEMS]
    return note


def _plural(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def _missing(judged: Judged) -> Note | None:
    absent = judged.grid(~judged.present)
    runs = np.flatnonzero(absent.any(axis=1))
    if len(runs) == 0:
        return None
    items = [
        f"{judged.runs[r]}: {', '.join(judged.topics[t] for t in np.flatnonzero(absent[r]))}"
        for r in runs.tolist()
    ]
    lacks = "lacks" if len(runs) == 1 else "lack"
    text = f"{_plural(len(runs), 'run')} {lacks} judged topics ({_plural(int(absent.sum()), 'list')} in all)."
    return _note("missing topics", "warning", text, items)


def _ignored(judged: Judged) -> Note | None:
    if not judged.ignored_topics:
        return None
    items = [f"{run}: {', '.join(topics[:20])}" for run, topics in judged.ignored_topics.items()]
    have = "has" if len(items) == 1 else "have"
    text = f"{_plural(len(items), 'run')} {have} topics without judgments, left out here."
    return _note("topics without judgments", "note", text, items)


def _without_relevant(judged: Judged) -> Note | None:
    empty = np.flatnonzero(judged.pool.recall_base(1) == 0)
    if len(empty) == 0:
        return None
    has = "has" if len(empty) == 1 else "have"
    text = f"{_plural(len(empty), 'topic')} {has} no relevant document: gain is 0 there and effort undefined."
    return _note("no relevant documents", "warning", text, [judged.topics[t] for t in empty.tolist()])


def _without_nonrelevant(judged: Judged) -> Note | None:
    if has_nonrelevant(judged):
        return None
    text = (
        "No document is judged non-relevant: bounds over labels of unjudged documents are vacuous, and Bpref, which"
        " would count relevant documents only, is left out unless you ask for it."
    )
    return _note("no non-relevant documents", "warning", text)


def _unjudged(judged: Judged) -> Note | None:
    slots = judged.grid(np.minimum(judged.length, 10)).sum(axis=1)
    n_judged = judged.grid(judged.lists.hits(10).count).sum(axis=1)
    if slots.sum() == 0 or n_judged.sum() == slots.sum():
        return None
    share = unjudged_shares(judged)
    total = 1 - n_judged.sum() / slots.sum()
    order = np.argsort(-share, kind="stable")
    items = [f"{judged.runs[r]}: {share[r]:.1%}" for r in order.tolist() if share[r] >= UNJUDGED_SHARE]
    text = f"{total:.1%} of the documents in the first ten ranks are unjudged and count as not relevant"
    if items:
        have = "run has" if len(items) == 1 else "runs have"
        text += f"; {len(items)} {have} {UNJUDGED_SHARE:.0%} or more."
        return _note("unjudged documents", "warning", text, items)
    return _note("unjudged documents", "note", text + ".")


def _ties(judged: Judged) -> Note | None:
    tied = judged.grid(judged.tied)
    runs = np.flatnonzero(tied.any(axis=1))
    if len(runs) == 0:
        return None
    documents = int(tied.sum())
    share = documents / max(1, int(judged.length.sum()))
    order = runs[np.argsort(-tied[runs].sum(axis=1), kind="stable")]
    items = [f"{judged.runs[r]}: {int(tied[r].sum()):,} documents" for r in order.tolist()]
    have = "has" if len(runs) == 1 else "have"
    text = (
        f"{_plural(len(runs), 'run')} {have} tied scores ({share:.1%} of all documents); "
        "the ordering that was chosen decides their ranks."
    )
    return _note("tied scores", "note", text, items)


def _short(judged: Judged) -> Note | None:
    short = judged.grid(judged.present & (judged.length < 10))
    if not short.any():
        return None
    items = [f"{judged.runs[r]}: topic {judged.topics[t]}" for r, t in np.argwhere(short).tolist()]
    n = int(short.sum())
    text = f"{_plural(n, 'list')} {'has' if n == 1 else 'have'} fewer than ten documents."
    return _note("short lists", "note", text, items)


def _negative(judged: Judged) -> Note | None:
    grade = judged.qrels.grade
    n = int(((grade < 0) & (grade != UNJUDGED)).sum())
    if n == 0:
        return None
    text = f"{_plural(n, 'judgment')} below zero (spam, for example) {'counts' if n == 1 else 'count'} as not relevant."
    return _note("negative grades", "note", text)
