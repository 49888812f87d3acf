"""Relevance judgments: which documents of a topic were judged, and how."""

from __future__ import annotations

import warnings
from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice, pairwise
from operator import lt, ne
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rankscope.errors import InputError, SettingsError
from rankscope.frames import FrameMixin
from rankscope.read.grades import merge_table, merged_grades, written_merges
from rankscope.read.ids import id_text, in_natural_order, to_bytes, to_text, to_texts
from rankscope.read.subtopics import Aspects, Rows, Subtopics, numbered, taken

__all__ = ["UNJUDGED", "Aspects", "Qrels", "read_qrels"]

UNJUDGED = np.iinfo(np.int32).min
"""The grade that takes a judgment back: the document counts as never judged."""


@dataclass(frozen=True, eq=False)
class Qrels(FrameMixin):
    """The judged documents of every topic, flat: those of topic t are ``topic_offsets[t]:topic_offsets[t + 1]``.

    Inside a topic documents are sorted by their bytes. Grades are kept as they are in the file; ``grade <= 0`` is
    judged non-relevant. With aspects, ``grade`` is the best grade over the aspects of the document.

    >>> qrels = Qrels.from_dict({"q1": {"d2": 0, "d1": 2}, "q2": {"d1": 1}})
    >>> qrels.topics, [len(qrels.judgments(t)) for t in qrels.topics], qrels.judgments("q1")
    (('q1', 'q2'), [2, 1], {'d1': 2, 'd2': 0})
    """

    topics: tuple[str, ...]
    topic_offsets: npt.NDArray[np.int64]
    documents: list[bytes]
    grade: npt.NDArray[np.int32]
    aspects: Aspects | None = None
    path: str | None = None
    subtopics: Subtopics | None = field(default=None, repr=False)
    """The second column as it was read, while nobody has said whether it names aspects."""
    merges: str = ""
    """How grades were merged after reading, as ``0,1=0;2=1;3,4=2``; empty if they are those of the file."""
    unchosen: frozenset[str] = field(default=frozenset(), repr=False)
    """Judged topics that somebody left out: see :meth:`of_topics`."""
    format: str = "trec"
    """That of the file (see :mod:`rankscope.read.formats`)."""
    topic_index: Mapping[str, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "topic_index", {topic: t for t, topic in enumerate(self.topics)})

    def __len__(self) -> int:
        return len(self.grade)

    def __repr__(self) -> str:
        return f"<Qrels: {len(self.topics)} topics, {len(self)} judged documents>"

    def judgments(self, topic: str) -> dict[str, int]:
        """The judged documents of a topic with their grades."""
        t = self.topic_index[topic]
        where = slice(self.topic_offsets[t], self.topic_offsets[t + 1])
        pairs = zip(self.documents[where], self.grade[where].tolist(), strict=True)
        return {to_text(document): grade for document, grade in pairs if grade != UNJUDGED}

    def frame_columns(self) -> Mapping[str, Sequence[Any]]:
        """A row per judgment, under the names that :meth:`from_frame` reads; with aspects one per aspect judged."""
        document: npt.NDArray[Any] = np.arange(len(self))
        grade = self.grade
        aspects = self.with_aspects().aspects
        if aspects is not None:
            # as for measures, a document counts for an aspect no more than for its topic
            document = aspects.document
            grade = np.minimum(aspects.grade, self.grade[document])
        kept = np.flatnonzero(grade != UNJUDGED)
        topic = np.searchsorted(self.topic_offsets, document[kept], side="right") - 1
        columns: dict[str, Sequence[Any]] = {"query_id": [self.topics[t] for t in topic.tolist()]}
        if aspects is not None:
            columns["iteration"] = [aspects.names[a] for a in aspects.aspect[kept].tolist()]
        columns["doc_id"] = [to_text(self.documents[d]) for d in document[kept].tolist()]
        return {**columns, "relevance": grade[kept].tolist()}

    def places(self, topic: str) -> dict[str, int]:
        """The judged documents of a topic with their numbers among all judged documents."""
        t = self.topic_index[topic]
        where = range(int(self.topic_offsets[t]), int(self.topic_offsets[t + 1]))
        return {to_text(self.documents[d]): d for d in where}

    def regraded(self, grade: npt.NDArray[np.int32]) -> Qrels:
        """The same documents with other grades (:data:`UNJUDGED` takes a judgment back).

        These are no longer what the file says, so that there is no path.
        """
        return replace(self, grade=np.asarray(grade, np.int32), path=None)

    def merged(self, merges: str) -> Qrels:
        """The same judgments with grades merged into fewer, such as ``0,1=0;2=1;3,4=2``: see :mod:`~.read.grades`.

        >>> Qrels.from_dict({"q": {"a": 0, "b": 1, "c": 2, "d": 3}}).merged("0,1=0;2,3=1").judgments("q")
        {'a': 0, 'b': 0, 'c': 1, 'd': 1}
        """
        table = merge_table(merges)
        written = written_merges(table)
        if self.merges == written:
            return self
        if self.merges:
            raise SettingsError(
                f"the grades are merged already, as {self.merges!r}", hint="merge those of the file only once"
            )

        def new(grade: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
            known = grade != UNJUDGED
            result = grade.copy()
            result[known] = merged_grades(grade[known], table, self.path)
            return result

        aspects, subtopics = self.aspects, self.subtopics
        return replace(
            self,
            grade=new(self.grade),
            aspects=None if aspects is None else replace(aspects, grade=new(aspects.grade)),
            subtopics=None if subtopics is None else replace(subtopics, grades=new(subtopics.grades)),
            merges=written,
        )

    def of_topics(self, topics: Iterable[str]) -> Qrels:
        """The judgments of some of the topics.

        >>> some = Qrels.from_dict({"q1": {"a": 1}, "q2": {"b": 2, "c": 0}, "q3": {"d": 1}}).of_topics(["q2"])
        >>> some, some.judgments("q2"), sorted(some.unchosen)
        (<Qrels: 1 topics, 2 judged documents>, {'b': 2, 'c': 0}, ['q1', 'q3'])
        """
        wanted = frozenset(topics)
        kept = [t for t, topic in enumerate(self.topics) if topic in wanted]
        spans = [range(int(self.topic_offsets[t]), int(self.topic_offsets[t + 1])) for t in kept]
        documents = np.array([d for span in spans for d in span], np.int64)
        aspects, subtopics = self.aspects, self.subtopics
        names = tuple(self.topics[t] for t in kept)
        return replace(
            self,
            topics=names,
            topic_offsets=np.concatenate([[0], np.cumsum([len(span) for span in spans])]).astype(np.int64),
            documents=[self.documents[d] for d in documents.tolist()],
            grade=self.grade[documents],
            aspects=None if aspects is None else aspects.of(kept, documents),
            subtopics=None
            if subtopics is None
            else replace(subtopics, groups={name: subtopics.groups[name] for name in names}),
            unchosen=self.unchosen | (frozenset(self.topics) - wanted),
        )

    def with_aspects(self) -> Qrels:
        """The same judgments with the second column of their file as aspects.

        Nothing changes where they have aspects already, have no second column, or were read with ``aspects=False``.
        """
        if self.subtopics is None:
            return self
        return replace(self, aspects=self.subtopics.as_aspects(self), subtopics=None)

    def with_aspect_weights(self, weights: Mapping[str, Mapping[str, float]]) -> Qrels:
        """The same judgments with the probability (or any weight) of each aspect: ``{topic: {aspect: weight}}``.

        Topics that are not named keep equal weights; measures divide by the sum over a topic.
        """
        aspects = self.with_aspects().aspects
        if aspects is None:
            raise InputError("judgments without aspects", path=self.path, hint="read them with aspects=True")
        given = np.ones(len(aspects.names))
        for topic, mine in weights.items():
            if topic not in self.topic_index:
                raise InputError(f"weights for topic {topic!r}, which has no judgments", hint="remove them")
            t = self.topic_index[topic]
            for a in range(int(aspects.topic_offsets[t]), int(aspects.topic_offsets[t + 1])):
                name = aspects.names[a]
                if not mine.get(name, -1.0) >= 0:
                    raise InputError(
                        f"no weight for aspect {name!r} of topic {topic!r}",
                        hint="give each a number from 0 on",
                    )
                given[a] = mine[name]
        return replace(self, aspects=replace(aspects, weight=given), path=None, subtopics=None)

    @classmethod
    def from_dict(cls, judgments: Mapping[str, Mapping[str, int | Mapping[str, int]]]) -> Qrels:
        """Judgments as pytrec_eval users have them: ``{topic: {document: grade}}``.

        With aspects, ``{topic: {document: {aspect: grade}}}``.
        """
        topics: list[bytes] = []
        documents: list[bytes] = []
        grades: list[Any] = []
        for topic, graded in judgments.items():
            if not isinstance(graded, Mapping):
                raise InputError(f"judgments of topic {topic!r} are not a dict of document: grade")
            topics += [to_bytes(id_text(topic, "topic"))] * len(graded)
            documents += [to_bytes(id_text(document, "document")) for document in graded]
            grades += graded.values()
        if not any(isinstance(grade, Mapping) for grade in grades):
            return cls.from_columns(topics, None, documents, whole_numbers(grades))
        rows = [
            (topic, to_bytes(id_text(aspect, "aspect")), document, grade)
            for topic, document, per_aspect in zip(topics, documents, grades, strict=True)
            for aspect, grade in _per_aspect(per_aspect, document)
        ]
        columns = zip(*rows, strict=True) if rows else [(), (), (), ()]
        flat, aspects, named, values = (list(column) for column in columns)
        return cls.from_columns(flat, aspects, named, whole_numbers(values), aspects=True)

    @classmethod
    def from_frame(cls, frame: Any, *, aspects: bool | None = None) -> Qrels:
        """Judgments from a table with columns for topics, documents, grades and, for aspects, subtopics.

        What they may be called is in :data:`rankscope.read.frames.COLUMNS`; ``aspects`` as in :func:`read_qrels`.
        """
        from rankscope.read.frames import as_list, table_columns

        columns = table_columns(frame, required=("query_id", "doc_id", "relevance"), optional=("iteration",))
        iterations = columns.get("iteration")
        return cls.from_columns(
            columns["query_id"].pieces(),
            None if iterations is None else iterations.pieces(),
            columns["doc_id"].pieces(),
            whole_numbers(as_list(columns["relevance"])),
            aspects=aspects,
        )

    @classmethod
    def from_columns(
        cls,
        topics: Sequence[bytes],
        iterations: Sequence[bytes] | None,
        documents: Sequence[bytes],
        grades: npt.NDArray[np.int32],
        *,
        lines: npt.NDArray[np.int64] | None = None,
        path: str | None = None,
        aspects: bool | None = None,
    ) -> Qrels:
        """Judgments from flat columns.

        ``aspects`` says whether the iteration column names the aspects of diversity topics; None as in
        :func:`read_qrels`.
        """
        if not len(documents):
            raise InputError("no judgments", path=path, hint="give lines of: topic iteration document grade")
        if not aspects and (iterations is None or len(set(iterations)) == 1):
            arranged = _arranged(topics, documents)
            if arranged is not None:
                kept = documents if isinstance(documents, list) else list(documents)
                return cls(tuple(arranged[0]), arranged[1], kept, np.asarray(grades, np.int32), path=path)
        groups = _group_by_topic(topics)
        keep, graded, offsets = [], array("i"), [0]
        order = in_natural_order(groups)
        column = None if iterations is None else Subtopics(groups, documents, iterations, grades)
        undecided = aspects is None and column is not None and column.several
        if column is not None and aspects is None:
            aspects = column.overlap
        located = _Lines(path, lines)
        repeated: list[int] = []
        for topic in order:
            rows = groups[topic]
            best, more = _best_grades(
                topic, rows, documents, iterations if aspects else None, grades, located
            )
            repeated += more
            names = sorted(best)
            keep += names
            graded.extend(map(best.__getitem__, names))
            offsets.append(len(keep))
        if repeated:
            row = repeated[0]
            document, topic = to_text(documents[row]), to_text(topics[row])
            problem = f"document {document!r} of topic {topic!r} is judged {grades[row]} again"
            first = InputError(problem, path=path, line=located.of(row), hint="keep one of the two judgments")
            warnings.warn(RepeatedJudgments(path, len(repeated), first), stacklevel=2)
        qrels = cls(tuple(order), np.array(offsets, np.int64), keep, np.array(graded, np.int32), path=path)
        if column is None or not (aspects or undecided):
            return qrels
        qrels = replace(qrels, subtopics=column)
        return qrels.with_aspects() if aspects else qrels


class RepeatedJudgments(UserWarning):
    """Judgments that are repeated with the same grade; ``first`` is the error for callers that reject them."""

    def __init__(self, path: str | None, count: int, first: InputError) -> None:
        what = "judgment is" if count == 1 else "judgments are"
        super().__init__(f"{path or 'qrels'}: {count} {what} repeated with the same grade")
        self.first = first


class _Lines(NamedTuple):
    """Where a row of the columns stands in its file, for messages."""

    path: str | None
    lines: npt.NDArray[np.int64] | None

    def of(self, row: int) -> int | None:
        return None if self.lines is None else int(self.lines[row])


def _per_aspect(grades: Any, document: bytes) -> Iterable[tuple[str, int]]:
    if not isinstance(grades, Mapping):
        raise InputError(
            f"document {to_text(document)!r} has a grade where others have grades per aspect",
            hint="give {aspect: grade} for every document",
        )
    return grades.items()


def whole_numbers(grades: Any) -> npt.NDArray[np.int32]:
    try:
        array = np.asarray(grades)
    except ValueError:  # some are sequences
        array = np.array(["?"])
    if array.size == 0:
        return np.zeros(0, np.int32)
    plain = array.ndim == 1 and array.dtype.kind in "iubf"
    if not plain or (array.dtype.kind == "f" and not (array == np.round(array)).all()):
        raise InputError("a grade is not a whole number", hint="grades are integers such as 0, 1, 2")
    if max(-float(array.min()), float(array.max())) > 2**31 - 2:
        raise InputError("a grade is beyond 32 bits", hint="grades are small integers such as 0, 1, 2")
    return array.astype(np.int32)


def _bounds(topics: Sequence[bytes]) -> npt.NDArray[np.int64]:
    """Where another topic begins, and where the last one ends."""
    changes = np.fromiter(map(ne, topics, islice(topics, 1, None)), np.bool_, max(0, len(topics) - 1))
    return np.concatenate([[0], np.flatnonzero(changes) + 1, [len(topics)]]).astype(np.int64)


def _arranged(
    topics: Sequence[bytes], documents: Sequence[bytes]
) -> tuple[list[str], npt.NDArray[np.int64]] | None:
    """The topics, and where the rows of each begin, if nothing has to be moved: topics come in their order, and the
    documents of each in theirs, every one once. So that many small topics cost little."""
    bounds = _bounds(topics)
    rising = np.fromiter(
        chain([True], map(lt, documents, islice(documents, 1, None))), np.bool_, len(documents)
    )
    rising[bounds[:-1]] = True
    if not rising.all():
        return None
    names = to_texts([topics[start] for start in bounds[:-1].tolist()])
    return (names, bounds) if len(set(names)) == len(names) and in_natural_order(names) == names else None


def _group_by_topic(topics: Sequence[bytes]) -> dict[str, Rows]:
    """Rows of each topic; consecutive rows, the normal case, as a range."""
    bounds = _bounds(topics).tolist() if topics else []
    groups: dict[bytes, Rows] = {}
    for start, stop in pairwise(bounds):
        rows = groups.setdefault(topics[start], range(start, stop))
        if isinstance(rows, list):  # extended in place: topics may alternate from row to row
            rows.extend(range(start, stop))
        elif rows.start != start:
            groups[topics[start]] = [*rows, *range(start, stop)]
    return {to_text(topic): rows for topic, rows in groups.items()}


def _best_grades(
    topic: str,
    rows: Rows,
    documents: Sequence[bytes],
    iterations: Sequence[bytes] | None,
    grades: npt.NDArray[np.int32],
    located: _Lines,
) -> tuple[dict[bytes, int], list[int]]:
    """The grade of every document of a topic (the best over its aspects), and the rows that repeat a judgment."""
    values = grades[rows.start : rows.stop] if isinstance(rows, range) else grades[rows]
    listed = taken(documents, rows)
    if iterations is None:
        best = dict(zip(listed, values.tolist(), strict=True))
        if len(best) == len(rows):
            return best, []
    else:
        names = {name: i for i, name in enumerate(dict.fromkeys(listed))}
        aspects = {name: i for i, name in enumerate(set(taken(iterations, rows)))}
        which, aspect = numbered(listed, names), numbered(taken(iterations, rows), aspects)
        if len(np.unique(which * len(aspects) + aspect)) == len(rows):
            most = np.full(len(names), UNJUDGED, np.int32)
            np.maximum.at(most, which, values)
            return dict(zip(names, most.tolist(), strict=True)), []
    seen: dict[object, int] = {}
    best = {}
    repeated: list[int] = []
    for row, document, grade in zip(rows, listed, values.tolist(), strict=True):
        key = document if iterations is None else (iterations[row], document)
        if key in seen:
            if seen[key] != grade:
                raise InputError(
                    f"document {to_text(document)!r} of topic {topic!r} is judged {grade} here and {seen[key]} before",
                    path=located.path,
                    line=located.of(row),
                    hint="keep one of the two judgments",
                )
            repeated.append(row)
        seen[key] = grade
        best[document] = max(grade, best.get(document, grade))
    return best, repeated


def read_qrels(
    source: str | Path,
    *,
    aspects: bool | None = None,
    grades: str | None = None,
    input_format: str | None = None,
) -> Qrels:
    """Read judgments: a TREC file, lines of ``topic iteration document grade``, or one of another format.

    What a file is, is seen from its content (:mod:`rankscope.read.formats`); ``input_format`` overrules it. Files may
    be packed (gzip, bzip2, xz, zstd); ``-`` is standard input. ``irds:ID``, or the ID itself where there is no such
    file, are the judgments of a dataset of ir_datasets.

    ``aspects`` says whether the second column names the subtopics of a diversity task. With None (the default) it does
    if some document of a topic was judged under several of them, or as soon as a measure over aspects is asked for.
    ``grades`` merges grades into fewer, such as ``0,1=0;2=1;3,4=2``.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(f"{folder}/qrels.txt").write_text("q1 0 d1 2\\nq1 0 d2 0\\n")
    ...     print(read_qrels(f"{folder}/qrels.txt").topics)
    ('q1',)
    """
    from rankscope.read.datasets import dataset_id, read_dataset
    from rankscope.read.formats import format_of
    from rankscope.read.qrels_text import parse_qrels, read_by_library
    from rankscope.read.source import Source, only_file

    if dataset := dataset_id(source):
        qrels = read_dataset(dataset, aspects)
        return qrels.merged(grades) if grades else qrels
    text = Source.of(only_file(source))
    form = format_of(text, "qrels", input_format)
    plain = None if form != "trec" or aspects else read_by_library(text)
    if plain is not None and (aspects is False or not plain.several):
        offsets, values = np.frombuffer(plain.offsets(), np.int64), np.frombuffer(plain.grades(), np.int32)
        qrels = Qrels(plain.topics, offsets, plain.documents, values, path=text.label)
    elif form == "trec":
        topics, iterations, documents, found, lines = parse_qrels(text)
        qrels = Qrels.from_columns(
            topics, iterations, documents, found, lines=lines, path=text.label, aspects=aspects
        )
    else:
        from rankscope.read.foreign import judgments_in

        qrels = judgments_in(text, form, aspects)
    return qrels.merged(grades) if grades else qrels
