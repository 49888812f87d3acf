"""Preferences between documents (``-R prefs``, ``-R qrels_prefs``): reading and evaluation.

A *group* holds the preferences of one person at one time. Each of its *subgroups* assigns levels to some documents; a
document is preferred to documents of a lower level in the same subgroup. Preferences are transitive across the
subgroups of a group. Groups may contradict each other, subgroups of one group may not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankscope.arrays import Bools, Floats
from rankscope.errors import InputError
from rankscope.read import Qrels, Run, RunList
from rankscope.read.ids import to_bytes
from rankscope.scan import scan_run
from rankscope.trec_eval.collection import select_topics
from rankscope.trec_eval.fields import parse_number, read_rows
from rankscope.trec_eval.names import Column
from rankscope.trec_eval.options import Options
from rankscope.trec_eval.preference_counts import PreferenceCounts, PreferenceGroup
from rankscope.trec_eval.results import Results

Levels = dict[bytes, float]


@dataclass(frozen=True)
class Preferences:
    """Levels of documents by topic, group and subgroup."""

    path: str
    topics: dict[str, dict[str, dict[str, Levels]]]


def read_prefs(path: str, *, from_qrels: bool) -> Preferences:
    """Read lines of ``topic group subgroup document level``, or qrels whose second field is the group."""
    field_names = "topic group document level" if from_qrels else "topic group subgroup document level"
    topics: dict[str, dict[str, dict[str, Levels]]] = {}
    for line, fields in read_rows(path, field_names):
        topic, group, *subgroup, document, level = fields
        levels = topics.setdefault(topic, {}).setdefault(group, {}).setdefault("".join(subgroup), {})
        if to_bytes(document) in levels:
            problem = f"document {document!r} occurs twice in one group of topic {topic!r}"
            raise InputError(problem, path=path, line=line, hint="keep one of the two lines")
        levels[to_bytes(document)] = parse_number(level, path, line)
    if not topics:
        raise InputError("the file is empty", path=path, hint=f"give lines of: {field_names}")
    return Preferences(path, topics)


def evaluate_prefs(prefs: Preferences, run: Run, columns: list[Column], options: Options) -> Results:
    """Return the preference measures of each topic."""
    lists = run.with_order("file").lists()
    topics = select_topics(list(prefs.topics), list(lists), options, run.path or run.name)
    preference_columns = [column for column in columns if column.entry.startswith("prefs_")]
    values = {column.label: np.zeros(len(topics)) for column in preference_columns}
    for t, topic in enumerate(topics):
        retrieved = _sort_documents(lists[topic], options.max_rank) if topic in lists else []
        counts = _count_preferences(prefs, topic, retrieved)
        for column in preference_columns:
            values[column.label][t] = counts.value(column.entry)
    return Results(topics, scan_run(run, Qrels(())).tag, columns, values, {})


def _sort_documents(ranking: RunList, max_rank: int | None) -> list[bytes]:
    """Return documents by descending score; for preferences, trec_eval breaks ties by ascending document id."""
    scores = np.zeros(len(ranking.documents)) if ranking.scores is None else ranking.scores
    pairs = sorted(zip((-scores).tolist(), ranking.documents, strict=True))
    return [document for _, document in pairs][:max_rank]


def _count_preferences(prefs: Preferences, topic: str, retrieved: list[bytes]) -> PreferenceCounts:
    groups = prefs.topics[topic]
    judged = {
        document for subgroups in groups.values() for levels in subgroups.values() for document in levels
    }
    retrieved_judged = [document for document in retrieved if document in judged]
    order = retrieved_judged + sorted(judged.difference(retrieved_judged))
    position = {document: i for i, document in enumerate(order)}
    preference_groups = [
        _join_subgroups(
            groups[name], position, len(retrieved_judged), f"group {name!r} of topic {topic!r}", prefs.path
        )
        for name in sorted(groups, key=to_bytes)
    ]
    return PreferenceCounts(preference_groups, len(order), len(retrieved_judged))


def _level_array(levels: Levels, position: dict[bytes, int], size: int) -> Floats:
    level = np.full(size, np.nan)
    level[[position[document] for document in levels]] = list(levels.values())
    return level


def _join_subgroups(
    subgroups: dict[str, Levels], position: dict[bytes, int], retrieved: int, location: str, path: str
) -> PreferenceGroup:
    """Return the group of some subgroups, each a partial order."""
    size = len(position)
    prefers = np.zeros((size, size), np.bool_)
    level = np.full(size, np.nan)
    for name in sorted(subgroups, key=to_bytes):
        subgroup_level = _level_array(subgroups[name], position, size)
        if ((subgroup_level == 0) & (level > 0)).any() or ((subgroup_level > 0) & (level == 0)).any():
            hint = "level 0 means not relevant"
            raise InputError(f"{location} has a document both at level 0 and above", path=path, hint=hint)
        level = np.where(np.isnan(subgroup_level), level, subgroup_level)
        prefers |= subgroup_level[:, np.newaxis] > subgroup_level
    is_partial = len(subgroups) > 1
    if is_partial:  # the order of a single subgroup is transitive
        prefers = _transitive_closure(prefers)
    if (prefers & prefers.T).any():
        hint = "put the contradicting preferences into another group"
        raise InputError(f"{location} contradicts itself", path=path, hint=hint)
    return PreferenceGroup(prefers, level, retrieved, is_partial)


def _transitive_closure(prefers: Bools) -> Bools:
    """Return the transitive closure of a relation (Warshall's algorithm)."""
    closed = prefers.copy()
    for middle in range(len(closed)):
        before = np.flatnonzero(closed[:, middle])
        closed[before] |= closed[middle]
    return closed
