"""Judgments of several people for one topic (``-R qrels_jg``): each measure is the mean over their judgments."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankscope.errors import InputError
from rankscope.judging import Pool
from rankscope.read import Qrels, Run
from rankscope.read.ids import to_bytes
from rankscope.trec_eval.collection import Found, find, lists_of
from rankscope.trec_eval.lines import rows
from rankscope.trec_eval.names import Column
from rankscope.trec_eval.options import Options
from rankscope.trec_eval.results import Results

__all__ = ["Grouped", "evaluate_groups", "read_groups"]

Judgments = dict[bytes, int]


@dataclass(frozen=True)
class Grouped:
    """For each topic and each person in it the grades that this person gave."""

    topics: dict[str, dict[str, Judgments]]

    def everything(self) -> Qrels:
        """All documents that anybody judged, under no particular grade: what to look for in a run."""
        pairs = {
            (to_bytes(topic), document)
            for topic, people in self.topics.items()
            for judged in people.values()
            for document in judged
        }
        topics, documents = zip(*sorted(pairs), strict=True)
        return Qrels.from_columns(topics, None, documents, np.zeros(len(topics), np.int32))


def read_groups(path: str) -> Grouped:
    """Lines of ``topic person document grade``."""
    topics: dict[str, dict[str, Judgments]] = {}
    for line, (topic, person, document, grade) in rows(path, 4, "topic person document grade"):
        judged = topics.setdefault(topic, {}).setdefault(person, {})
        if to_bytes(document) in judged:
            raise InputError(
                f"{person!r} judged document {document!r} of topic {topic!r} before",
                path=path,
                line=line,
                hint="keep one of the two lines",
            )
        judged[to_bytes(document)] = _grade(grade, path, line)
    if not topics:
        raise InputError("the file is empty", path=path, hint="give lines of: topic person document grade")
    return Grouped(topics)


def _grade(text: str, path: str, line: int) -> int:
    try:
        grade = int(text)
    except ValueError:
        grade = 2**31
    if abs(grade) > 2**31 - 2:
        raise InputError(
            f"grade {text!r} is not a whole number", path=path, line=line, hint="give 0, 1, 2, ..."
        )
    return grade


def evaluate_groups(groups: Grouped, run: Run, columns: list[Column], options: Options) -> Results:
    """The mean of each measure over the people who judged a topic."""
    qrels = groups.everything()
    found, tag = find(qrels, run, options)
    offsets, lists = [0], []
    grades: list[int] = []
    for topic, one in found.items():
        for person in sorted(groups.topics[topic], key=to_bytes):
            judged = groups.topics[topic][person]
            lists.append(_seen_by(judged, one, qrels, offsets[-1]))
            grades += judged.values()
            offsets.append(len(grades))
    grade = np.array(grades, np.int32)
    cut = [one.as_cut(options, grade) for one in lists]
    each = lists_of(Pool(np.array(offsets, np.int64), grade), range(len(lists)), cut)
    people = np.array([len(groups.topics[topic]) for topic in found])
    starts = np.cumsum(people) - people
    values = {
        column.label: np.add.reduceat(column.measure.evaluate(each), starts) / people
        for column in columns
        if column.measure is not None
    }
    return Results(list(found), tag, columns, values, {})


def _seen_by(judged: Judgments, found: Found, qrels: Qrels, start: int) -> Found:
    """A list with the judgments of one person only, numbered from ``start`` on."""
    place = {document: start + i for i, document in enumerate(judged)}
    pairs = [
        (rank, place[qrels.documents[j]])
        for rank, j in zip(found.rank.tolist(), found.judgment.tolist(), strict=True)
        if qrels.documents[j] in place
    ]
    both = np.array(pairs, np.int32).reshape(-1, 2)
    return Found(both[:, 0], both[:, 1], found.length, found.missing)
