"""Judgments of several people for one topic (``-R qrels_jg``): each measure is averaged over the people."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankscope.errors import InputError
from rankscope.judging import Pool
from rankscope.read import Qrels, Run
from rankscope.read.ids import to_bytes
from rankscope.trec_eval.collection import TopicHits, build_lists, find_hits
from rankscope.trec_eval.fields import read_rows
from rankscope.trec_eval.names import Column
from rankscope.trec_eval.options import Options
from rankscope.trec_eval.results import Results

Judgments = dict[bytes, int]


@dataclass(frozen=True)
class GroupJudgments:
    """Grades of documents by topic and person."""

    topics: dict[str, dict[str, Judgments]]

    def to_qrels(self) -> Qrels:
        """Return all judged documents with grade 0, to find their ranks in a run."""
        pairs = {
            (to_bytes(topic), document)
            for topic, people in self.topics.items()
            for judged in people.values()
            for document in judged
        }
        topics, documents = zip(*sorted(pairs), strict=True)
        return Qrels.from_columns(topics, None, documents, np.zeros(len(topics), np.int32))


def read_groups(path: str) -> GroupJudgments:
    """Read lines of ``topic person document grade``."""
    topics: dict[str, dict[str, Judgments]] = {}
    for line, (topic, person, document, grade) in read_rows(path, 4, "topic person document grade"):
        judged = topics.setdefault(topic, {}).setdefault(person, {})
        if to_bytes(document) in judged:
            problem = f"{person!r} judged document {document!r} of topic {topic!r} before"
            raise InputError(problem, path=path, line=line, hint="keep one of the two lines")
        judged[to_bytes(document)] = _parse_grade(grade, path, line)
    if not topics:
        raise InputError("the file is empty", path=path, hint="give lines of: topic person document grade")
    return GroupJudgments(topics)


def _parse_grade(text: str, path: str, line: int) -> int:
    try:
        grade = int(text)
    except ValueError:
        grade = 2**31
    if abs(grade) > 2**31 - 2:
        hint = "give 0, 1, 2, ..."
        raise InputError(f"grade {text!r} is not a whole number", path=path, line=line, hint=hint)
    return grade


def evaluate_groups(groups: GroupJudgments, run: Run, columns: list[Column], options: Options) -> Results:
    """Return the mean of each measure over the people who judged a topic."""
    qrels = groups.to_qrels()
    hits, tag = find_hits(qrels, run, options)
    offsets, lists = [0], []
    grades: list[int] = []
    for topic, topic_hits in hits.items():
        for person in sorted(groups.topics[topic], key=to_bytes):
            judged = groups.topics[topic][person]
            lists.append(_select_judgments(judged, topic_hits, qrels, offsets[-1]))
            grades += judged.values()
            offsets.append(len(grades))
    grade = np.array(grades, np.int32)
    truncated = [topic_hits.truncate(options, grade) for topic_hits in lists]
    judged_lists = build_lists(Pool(np.array(offsets, np.int64), grade), range(len(lists)), truncated)
    people = np.array([len(groups.topics[topic]) for topic in hits])
    starts = np.cumsum(people) - people
    values = {
        column.label: np.add.reduceat(column.measure.evaluate(judged_lists), starts) / people
        for column in columns
        if column.measure is not None
    }
    return Results(list(hits), tag, columns, values, {})


def _select_judgments(judged: Judgments, hits: TopicHits, qrels: Qrels, start: int) -> TopicHits:
    """Return the ranking with the judgments of one person, numbered from ``start``."""
    position = {document: start + i for i, document in enumerate(judged)}
    pairs = [
        (rank, position[qrels.documents[j]])
        for rank, j in zip(hits.rank.tolist(), hits.judgment.tolist(), strict=True)
        if qrels.documents[j] in position
    ]
    columns = np.array(pairs, np.int32).reshape(-1, 2)
    return TopicHits(columns[:, 0], columns[:, 1], hits.length, hits.missing)
