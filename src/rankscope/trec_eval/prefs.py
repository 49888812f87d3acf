"""Preferences between documents (``-R prefs``, ``-R qrels_prefs``): how many of them a ranking keeps.

A *group* holds the preferences of one person at one time. Its *subgroups* give levels to some documents each, and a
document is preferred to those of a lower level in the same subgroup; with several subgroups preferences carry over
(a before b, b before c: a before c). Groups may contradict each other, subgroups of one group may not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rankscope.errors import InputError
from rankscope.read import Qrels, Run, RunList
from rankscope.read.ids import to_bytes
from rankscope.scan import hits_of
from rankscope.trec_eval.collection import topics_of
from rankscope.trec_eval.lines import number, rows
from rankscope.trec_eval.names import Column
from rankscope.trec_eval.options import Options
from rankscope.trec_eval.preferences import Counts, Group
from rankscope.trec_eval.results import Results

__all__ = ["Preferences", "evaluate_prefs", "read_prefs"]

Levels = dict[bytes, float]
_NOTHING = Qrels((), np.zeros(1, np.int64), [], np.zeros(0, np.int32))


@dataclass(frozen=True)
class Preferences:
    """For each topic, group and subgroup the level of each document."""

    path: str
    topics: dict[str, dict[str, dict[str, Levels]]]


def read_prefs(path: str, *, from_qrels: bool) -> Preferences:
    """Lines of ``topic group subgroup document level``; or of qrels, where each iteration is a group by itself."""
    what = "topic group document level" if from_qrels else "topic group subgroup document level"
    topics: dict[str, dict[str, dict[str, Levels]]] = {}
    for line, fields in rows(path, len(what.split()), what):
        topic, group, *subgroup, document, level = fields
        levels = topics.setdefault(topic, {}).setdefault(group, {}).setdefault("".join(subgroup), {})
        if to_bytes(document) in levels:
            raise InputError(
                f"document {document!r} occurs twice in one group of topic {topic!r}",
                path=path,
                line=line,
                hint="keep one of the two lines",
            )
        levels[to_bytes(document)] = number(level, path, line)
    if not topics:
        raise InputError("the file is empty", path=path, hint=f"give lines of: {what}")
    return Preferences(path, topics)


def evaluate_prefs(prefs: Preferences, run: Run, columns: list[Column], options: Options) -> Results:
    """The preference measures of each topic."""
    lists = run.reordered("file").lists()
    topics = topics_of(list(prefs.topics), list(lists), options, run.path or run.name)
    wanted = [column for column in columns if column.entry.startswith("prefs_")]
    values = {column.label: np.zeros(len(topics)) for column in wanted}
    for t, topic in enumerate(topics):
        retrieved = _ranking(lists[topic], options.deepest) if topic in lists else []
        counts = _counts(prefs, topic, retrieved)
        for column in wanted:
            values[column.label][t] = counts.value(column.entry)
    return Results(topics, hits_of(run, _NOTHING).tag, columns, values, {})


def _ranking(one: RunList, deepest: int | None) -> list[bytes]:
    """The documents by falling score; for preferences trec_eval breaks ties by rising document id."""
    scores = np.zeros(len(one.documents)) if one.scores is None else one.scores
    pairs = sorted(zip((-scores).tolist(), one.documents, strict=True))
    return [document for _, document in pairs][:deepest]


def _counts(prefs: Preferences, topic: str, retrieved: list[bytes]) -> Counts:
    groups = prefs.topics[topic]
    known = {
        document for subgroups in groups.values() for levels in subgroups.values() for document in levels
    }
    seen = [document for document in retrieved if document in known]
    order = seen + sorted(known.difference(seen))
    place = {document: i for i, document in enumerate(order)}
    made = []
    for name in sorted(groups, key=to_bytes):
        subgroups = groups[name]
        if len(subgroups) == 1:
            made.append(_simple(next(iter(subgroups.values())), place, len(seen)))
        else:
            made.append(
                _partial(subgroups, place, len(seen), f"group {name!r} of topic {topic!r}", prefs.path)
            )
    return Counts(made, len(order), len(seen))


def _levels(levels: Levels, place: dict[bytes, int], size: int) -> npt.NDArray[np.float64]:
    level = np.full(size, np.nan)
    level[[place[document] for document in levels]] = list(levels.values())
    return level


def _simple(levels: Levels, place: dict[bytes, int], retrieved: int) -> Group:
    """A group without contradictions by construction: all documents have one level each."""
    level = _levels(levels, place, len(place))
    return Group(level[:, np.newaxis] > level, level, retrieved, partial=False)


def _partial(
    subgroups: dict[str, Levels], place: dict[bytes, int], retrieved: int, where: str, path: str
) -> Group:
    """A group put together of partial orders."""
    size = len(place)
    prefers = np.zeros((size, size), np.bool_)
    level = np.full(size, np.nan)
    for name in sorted(subgroups, key=to_bytes):
        mine = _levels(subgroups[name], place, size)
        if ((mine == 0) & (level > 0)).any() or ((mine > 0) & (level == 0)).any():
            raise InputError(
                f"{where} has a document both at level 0 and above",
                path=path,
                hint="level 0 means not relevant",
            )
        level = np.where(np.isnan(mine), level, mine)
        prefers |= mine[:, np.newaxis] > mine
    prefers = _carried_over(prefers)
    if (prefers & prefers.T).any():
        raise InputError(
            f"{where} contradicts itself", path=path, hint="give what contradicts a group of its own"
        )
    return Group(prefers, level, retrieved, partial=True)


def _carried_over(prefers: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """The transitive closure: through each document in turn, from all before it to all after it."""
    closed = prefers.copy()
    for middle in range(len(closed)):
        before = np.flatnonzero(closed[:, middle])
        closed[before] |= closed[middle]
    return closed
