"""Human labels of a random sample of documents, with the probability that each one was drawn."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rankscope.arrays import AnyArray, Bools, Floats, Int32s
from rankscope.choices import STRATA
from rankscope.errors import InputError, SettingsError, check_name
from rankscope.judging import UNJUDGED, Judged
from rankscope.read import Qrels, open_qrels
from rankscope.read.formats import detect_format
from rankscope.read.source import Source, iterate_lines

OPEN = "?"
"""Grade of a document in a template that is not filled in."""
RANK_BANDS = (10, 30, 100)
"""Last ranks of the bands of strata: 1-10, 11-30, 31-100, and all others."""
_MIN_PI = 1e-50
"""Smallest inclusion probability: the variance has products of four inverse probabilities, which overflow below it."""

Labels = dict[str, dict[str, tuple[int | None, float | None]]]
"""Grade, None in open lines of a template, and inclusion probability by topic and document."""


class LabelSample(NamedTuple):
    """Grades of two judges for all documents of a collection; the human one judged a sample of them."""

    machine: Int32s
    """Grade by the machine; 0 for documents without a label."""
    human: Int32s
    """Grade by the human; 0 for documents that are not in the sample."""
    is_labelled: Bools
    """Whether the document is in the sample."""
    pi: Floats
    """Probability that the document is in the sample; NaN where it is unknown, outside the sample only."""
    is_human_only: bool = False
    """Whether values are estimated from the human labels alone."""

    @property
    def inverse(self) -> Floats:
        """1 / pi for documents of the sample, and 0 for the others."""
        return np.divide(1.0, self.pi, out=np.zeros(len(self.pi)), where=self.is_labelled)


def read_labels(human: Any, *, keep_open: bool = False) -> Labels:
    """Return the labels of a file, a dict or an object of judgments; a fifth column of a file has the probabilities.

    Lines of a template that still have ``?`` instead of a grade are skipped. Templates are in random order, so
    that the filled lines are a random subset, and the probabilities are multiplied by their share. With ``keep_open``
    such lines have the grade None, and all probabilities are those of the file.

    >>> read_labels({"q": {"d1": 1, "d2": (0, 0.5)}})
    {'q': {'d1': (1, None), 'd2': (0, 0.5)}}
    """
    if isinstance(human, str | Path) and detect_format(Source.open(human), "qrels") == "trec":
        return _read_sample(human, keep_open)
    if not isinstance(human, Mapping):
        qrels = human if isinstance(human, Qrels) else open_qrels(human)
        human = {topic: qrels.judgments(topic) for topic in qrels.topics}
    labels: Labels = {}
    for topic, of_topic in human.items():
        pairs = (label if isinstance(label, tuple) else (label, None) for label in of_topic.values())
        path = f"the labels of topic {topic!r}"
        checked = [(g if g is None else _parse_grade(g, path=path), pi) for g, pi in pairs]
        labels[str(topic)] = dict(zip(map(str, of_topic), checked, strict=True))
    return labels


def _read_sample(path: str | Path, keep_open: bool) -> Labels:
    labels: Labels = {}
    is_open: list[bool] = []
    for number, topic, doc, grade, more in read_template_lines(path):
        if len(more) > 1:
            problem = f"{len(more) + 4} fields where a sample has 4 or 5: topic iteration document grade pi"
            hint = "write the inclusion probability as the fifth field, or give --pi"
            raise InputError(problem, path=path, line=number, hint=hint)
        pi = _parse_probability(more[0], path=path, line=number) if more else None
        if labels.setdefault(topic, {}).setdefault(doc, (grade, pi)) != (grade, pi):
            raise InputError(f"{doc!r} has two labels", path=path, line=number, hint="keep one")
        is_open.append(grade is None)
    if not keep_open:
        if any(is_open[: is_open.count(False)]) and pi:
            problem = f"{path}: the intervals over labels are rough: lines with a grade follow lines with ?"
            warnings.warn(f"{problem}; label the lines in their order, which is random", stacklevel=4)
        share = is_open.count(False) / max(len(is_open), 1)
        for topic, of_topic in labels.items():
            graded = ((doc, g, pi) for doc, (g, pi) in of_topic.items() if g is not None)
            labels[topic] = {doc: (g, pi and pi * share) for doc, g, pi in graded}
    labels = {topic: of_topic for topic, of_topic in labels.items() if of_topic}
    if not labels:
        raise InputError("there is no label", path=path, hint="fill in grades: topic 0 document grade pi")
    return labels


def merge_labels(paths: Iterable[str]) -> Labels:
    """Return the lines of several templates; a grade wins over an open line."""
    merged: Labels = {}
    for path in paths:
        for topic, of_topic in read_labels(path, keep_open=True).items():
            graded = {doc: label for doc, label in merged.get(topic, {}).items() if label[0] is not None}
            merged[topic] = {**merged.get(topic, {}), **of_topic, **graded}
    return merged


def read_template_lines(path: str | Path) -> Iterator[tuple[int, str, str, int | None, list[str]]]:
    """Yield number, topic, document, grade (None for ``?``) and further fields of every line of a template."""
    grades: dict[tuple[str, str], int] = {}
    for number, line in iterate_lines(Source.open(path).line_blocks(in_memory=True)):
        words = line.decode("utf-8", "surrogateescape").split()
        # Comments start with #, as in judgments; topics may too, and every line of a template has the iteration 0.
        if not words or (words[0].startswith("#") and words[1:2] != ["0"]):
            continue
        if len(words) < 4:
            hint = "write topic 0 document grade, and the inclusion probability of a sample"
            raise InputError(f"a line has {len(words)} fields", path=path, line=number, hint=hint)
        grade = None if words[3] == OPEN else _parse_grade(words[3], path=path, line=number)
        if grade is not None and grades.setdefault((words[0], words[2]), grade) != grade:
            raise InputError(f"{words[2]!r} has two grades", path=path, line=number, hint="keep one")
        yield number, words[0], words[2], grade, words[4:]


def _parse_grade(cell: Any, **location: Any) -> int:
    with suppress(TypeError, ValueError, OverflowError):
        grade = int(cell)
        if abs(grade) < 2**31 and grade == float(cell) and "_" not in str(cell):
            return grade
    raise InputError(f"{cell!r} is no grade", **location, hint="write a whole number, or leave ?")


def _parse_probability(cell: Any, **location: Any) -> float:
    with suppress(ValueError):
        pi = float("" if "_" in str(cell) else cell)
        if _MIN_PI <= pi <= 1:
            return pi
    hint = f"give a number from {_MIN_PI:g} to 1"
    raise InputError(f"{cell!r} is no inclusion probability", **location, hint=hint)


def align(
    judged: Judged, labels: Labels, pi: float | Mapping[str, Mapping[str, float]] | None, strata: str | None
) -> LabelSample:
    """Return the labels of the documents of ``judged``, whose grades are those of the machine."""
    qrels = judged.qrels
    human, probability = np.zeros(len(qrels), np.int32), np.full(len(qrels), np.nan)
    is_labelled = np.zeros(len(qrels), np.bool_)
    for topic in (topic for topic in labels if topic in qrels.topic_index):
        numbers = qrels.document_numbers(topic)
        for doc, (grade, own) in labels[topic].items():
            if grade is not None:
                if own is not None and pi is not None:
                    raise SettingsError("the labels have probabilities of their own", hint="leave out pi")
                given = pi.get(topic, {}).get(doc) if isinstance(pi, Mapping) else own
                human[numbers[doc]], is_labelled[numbers[doc]] = max(grade, 0), True
                probability[numbers[doc]] = np.nan if given is None else given
    machine = np.where(qrels.grade == UNJUDGED, 0, np.maximum(qrels.grade, 0)).astype(np.int32)
    if isinstance(pi, float | int):
        probability[:] = _parse_probability(pi)
    elif strata is not None:
        probability = _stratified(judged, machine, is_labelled, strata)
    missing = is_labelled & np.isnan(probability)
    if missing.any():
        topic = qrels.topics[qrels.topic_numbers[missing.argmax()]]
        hint = "write it as the fifth column of the sample, or give pi (--pi 0.1) or strata (--strata)"
        raise InputError(f"the labels of topic {topic!r} have no inclusion probability", hint=hint)
    for value in np.unique(probability[is_labelled]).tolist():
        _parse_probability(value)
    if not isinstance(pi, Mapping) and is_labelled.any() and np.ptp(probability[is_labelled]) < 1e-9:
        probability = np.where(np.isnan(probability), probability[is_labelled][0], probability)
    return LabelSample(machine, human, is_labelled, probability)


def _stratified(judged: Judged, machine: Int32s, is_labelled: Bools, strata: str) -> Floats:
    """Return the share of each stratum that is labelled."""
    names = strata.replace(",", " ").split()
    if not names:
        raise SettingsError("no stratum is named", hint=f"name some of {', '.join(STRATA)}")
    for name in names:
        check_name(name, STRATA, f"no stratum is called {name!r}")
    bands = np.searchsorted(RANK_BANDS, judged.best_ranks)
    columns: dict[str, AnyArray] = {"topic": judged.qrels.topic_numbers, "band": bands, "grade": machine}
    levels, stratum = np.unique([columns[name] for name in names], axis=1, return_inverse=True)
    stratum = stratum.reshape(-1)
    share = np.bincount(stratum, is_labelled) / np.bincount(stratum)
    if not share.all():
        level = zip(names, levels[:, share.argmin()].tolist(), strict=True)
        parts = (f"{name} {judged.topics[x] if name == 'topic' else x}" for name, x in level)
        problem = f"no document of stratum ({', '.join(parts)}) is labelled"
        raise SettingsError(problem, hint="use fewer strata")
    return np.asarray(share[stratum])
