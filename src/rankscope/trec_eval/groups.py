"""Judgments of several people for one topic (``-R qrels_jg``): each measure is averaged over the people."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rankscope.errors import InputError
from rankscope.judging import Pool
from rankscope.read import Qrels, Run
from rankscope.read.ids import to_bytes
from rankscope.read.qrels import UNJUDGED
from rankscope.trec_eval.collection import build_lists, find_rankings
from rankscope.trec_eval.fields import read_rows
from rankscope.trec_eval.names import Column
from rankscope.trec_eval.options import Options
from rankscope.trec_eval.results import Results

Groups = dict[str, dict[str, dict[bytes, int]]]
"""Grades of documents by topic and person."""


def read_groups(path: str) -> Groups:
    """Read lines of ``topic person document grade``."""
    topics: Groups = {}
    for line, (topic, person, document, grade) in read_rows(path, "topic person document grade"):
        judged = topics.setdefault(topic, {}).setdefault(person, {})
        if to_bytes(document) in judged:
            problem = f"{person!r} judged document {document!r} of topic {topic!r} before"
            raise InputError(problem, path=path, line=line, hint="keep one of the two lines")
        judged[to_bytes(document)] = _parse_grade(grade, path, line)
    if not topics:
        raise InputError("the file is empty", path=path, hint="give lines of: topic person document grade")
    return topics


def _parse_grade(text: str, path: str, line: int) -> int:
    try:
        grade = int(text)
    except ValueError:
        grade = 2**31
    if abs(grade) > 2**31 - 2:
        hint = "give 0, 1, 2, ..."
        raise InputError(f"grade {text!r} is not a whole number", path=path, line=line, hint=hint)
    return grade


def evaluate_groups(groups: Groups, run: Run, columns: list[Column], options: Options) -> Results:
    """Return the mean of each measure over the people who judged a topic."""
    pairs = {
        (to_bytes(topic), document)
        for topic, people in groups.items()
        for judged in people.values()
        for document in judged
    }
    topics, documents = zip(*sorted(pairs), strict=True)
    qrels = Qrels.from_columns(topics, None, documents, np.zeros(len(topics), np.int32))
    rankings = find_rankings(qrels, run, options)
    # Every person has a pool with all documents of the topic; those that only others judged are unjudged.
    grades, starts = [], []
    for topic in rankings.topics:
        t = qrels.topic_index[topic]
        first, last = qrels.topic_offsets[t : t + 2].tolist()
        for person in sorted(groups[topic], key=to_bytes):
            judged = groups[topic][person]
            grades.append([judged.get(document, UNJUDGED) for document in qrels.documents[first:last]])
            starts.append(first)
    offsets = np.cumsum([0, *map(len, grades)])
    n_people = np.array([len(groups[topic]) for topic in rankings.topics])
    arrays = rankings.arrays.take(np.repeat(np.arange(len(n_people)), n_people))
    judgment = arrays.judgment + (offsets[:-1] - starts)[arrays.owner].astype(np.int32)
    pool = Pool(offsets, np.concatenate(grades).astype(np.int32))
    lists = build_lists(pool, np.arange(len(grades)), replace(arrays, judgment=judgment), options)
    values = {
        column.label: np.add.reduceat(column.measure.evaluate(lists), np.cumsum(n_people) - n_people)
        / n_people
        for column in columns
        if column.measure is not None
    }
    return Results(rankings.topics, rankings.tag, columns, values, {})
