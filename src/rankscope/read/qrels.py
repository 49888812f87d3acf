"""Relevance judgments."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import chain, islice, pairwise
from operator import lt, ne
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from rankscope.arrays import AnyArray, Floats, Int32s, Ints, take_spans
from rankscope.caching import cached_property
from rankscope.choices import UNJUDGED as UNJUDGED
from rankscope.errors import InputError, SettingsError
from rankscope.frames import FrameMixin
from rankscope.native.memory import index_judgments
from rankscope.read.grades import (
    bin_grades,
    check_grades,
    has_bins,
    merge_grades,
    normalise_merges,
    number_grades,
    parse_bins,
    parse_merges,
    using_bins,
)
from rankscope.read.ids import SAME_TEXT, key_text, sort_naturally, to_bytes, to_text, to_texts
from rankscope.read.subtopics import Aspects, Rows, Subtopics, lookup_numbers, select_rows

if TYPE_CHECKING:
    from rankscope.native.judgments import Judgments
    from rankscope.native.readahead import ReadAhead

__all__ = ["UNJUDGED", "Aspects", "Qrels", "read_qrels"]

T = TypeVar("T")


class ScanTables:
    """Lookup tables of judged documents, one per scanner, which are built when they are first used.

    Copies of judgments with the same documents share them, and pickles drop them.
    """

    def __init__(self, builders: Mapping[Hashable, Callable[[], Any]] | None = None) -> None:
        self._builders = builders or {}
        self._tables: dict[Hashable, Any] = {}
        self._documents: tuple[Sequence[str], Sequence[bytes]] | None = None
        self._lock = Lock()

    def bind(self, topics: Sequence[str], documents: Sequence[bytes]) -> ScanTables:
        """Return these tables if they are of these topics and documents, otherwise empty ones."""
        if self._documents is None:
            self._documents = topics, documents
        if self._documents[0] is topics and self._documents[1] is documents:
            return self
        return ScanTables().bind(topics, documents)

    def __reduce__(self) -> tuple[type[ScanTables], tuple[()]]:
        return ScanTables, ()

    def get(self, scanner: Hashable, build: Callable[[], T]) -> T:
        """Return the table of a scanner; build it if it is missing."""
        with self._lock:
            if scanner not in self._tables:
                self._tables[scanner] = self._builders.get(scanner, build)()
            table: T = self._tables[scanner]
            return table


class LazySequence(Sequence[T]):
    """Topics or ids of judged documents that are computed on first use, because most evaluations do not need them."""

    def __init__(self, compute: Callable[[], Sequence[T]], length: int) -> None:
        self._compute, self._length = compute, length

    @cached_property
    def _items(self) -> Sequence[T]:
        return self._compute()

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, index: Any) -> Any:
        return self._items[index]

    def __iter__(self) -> Iterator[T]:
        return iter(self._items)

    def __eq__(self, other: object) -> bool:
        return self._items == (other._items if isinstance(other, LazySequence) else other)

    def __hash__(self) -> int:
        return hash(self._items)

    def __repr__(self) -> str:
        return repr(self._items)

    def __reduce__(self) -> tuple[type[Any], tuple[Sequence[T]]]:
        return type(self._items), (self._items,)


@dataclass(frozen=True, eq=False, repr=False)
class Qrels(FrameMixin):
    """Judged documents of all topics in flat arrays: those of topic t are ``topic_offsets[t]:topic_offsets[t + 1]``.

    Documents of a topic are sorted by their bytes. Grades are those of the file; ``grade <= 0`` is judged
    non-relevant. With aspects, ``grade`` is the maximum over the aspects of the document. If judgments are not whole
    numbers, ``grade`` numbers them, and ``gains[grade]`` is the judgment.

    >>> qrels = Qrels.from_dict({"q1": {"d2": 0, "d1": 2}, "q2": {"d1": 1}})
    >>> qrels.topics, [len(qrels.judgments(t)) for t in qrels.topics], qrels.judgments("q1")
    (('q1', 'q2'), [2, 1], {'d1': 2, 'd2': 0})
    """

    topics: Sequence[str]
    topic_offsets: Ints = field(default_factory=lambda: np.zeros(1, np.int64))
    documents: Sequence[bytes] = ()
    grade: Int32s = field(default_factory=lambda: np.zeros(0, np.int32))
    aspects: Aspects | None = None
    path: str | None = None
    subtopics: Subtopics | None = field(default=None, repr=False)
    """Second column of the file, as long as it is undecided whether it names aspects."""
    merges: str = ""
    """Merges of grades, such as ``0,1=0;2=1;3,4=2``; empty if the grades are those of the file."""
    unchosen: frozenset[str] = field(default=frozenset(), repr=False)
    """Judged topics that were left out: see :meth:`with_topics`."""
    format: str = "trec"
    """Format of the file (see :mod:`rankscope.read.formats`)."""
    topic_ids: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """Topics in their original type, by text; without those that were text."""
    gains: Floats | None = field(default=None, repr=False)
    """Judgments by grade from 0 on, if they are not whole numbers (:func:`~.grades.number_grades`)."""
    decimal_line: int | None = field(default=None, repr=False)
    """Line of the first judgment that is not an integer, if it is known."""
    tables: ScanTables = field(default_factory=ScanTables, repr=False)

    def __post_init__(self) -> None:
        if isinstance(self.topics, Mapping):  # Qrels(dict) is the same as Qrels.from_dict(dict).
            vars(self).update(vars(Qrels.from_dict(self.topics)))
            return
        object.__setattr__(self, "tables", self.tables.bind(self.topics, self.documents))

    @cached_property
    def topic_index(self) -> Mapping[str, int]:
        """Topics, and their indices."""
        return dict(zip(self.topics, range(len(self.topics)), strict=True))

    @property
    def topic_numbers(self) -> Ints:
        """Index of the topic of every document."""
        return np.repeat(np.arange(len(self.topics)), np.diff(self.topic_offsets))

    def __len__(self) -> int:
        return len(self.grade)

    def __repr__(self) -> str:
        return f"<Qrels: {len(self.topics)} topics, {len(self)} judged documents>"

    def judgments(self, topic: str) -> dict[str, Any]:
        """Return the judged documents of a topic and their grades or gains."""
        rows = self._rows(topic)
        pairs = zip(self.documents[rows], self.as_judged(self.grade[rows]).tolist(), strict=True)
        return {to_text(document): grade for document, grade in pairs if grade != UNJUDGED}

    def as_judged(self, grade: Int32s) -> AnyArray:
        """Return the judgments that grades stand for: gains, or the grades themselves."""
        return grade if self.gains is None else np.where(grade < 0, grade, self.gains[np.maximum(grade, 0)])

    def require_grades(self, purpose: str = "this analysis") -> Qrels:
        """Return the judgments, or raise an error that says that ``purpose`` needs whole numbers."""
        if self.gains is None:
            return self
        gain = self.gains[self.gains % 1 > 0][0]
        hint = "bin them: --grades '0-0.2=0;0.2-1=1', or grades= in Python"
        problem = f"{purpose} needs grades, and {gain:g} is not a whole number"
        raise InputError(problem, path=self.path, line=self.decimal_line, hint=hint)

    def _rows(self, topic: str) -> slice:
        t = self.topic_index[topic]
        return slice(int(self.topic_offsets[t]), int(self.topic_offsets[t + 1]))

    def frame_columns(self) -> Mapping[str, Sequence[Any]]:
        """Return one row per judgment (and aspect), with the column names that :meth:`from_frame` reads."""
        document: AnyArray = np.arange(len(self))
        grade = self.grade
        aspects = self.with_aspects().aspects
        if aspects is not None:
            # As in measures, the grade for an aspect is at most the grade for the topic.
            document = aspects.document
            grade = np.minimum(aspects.grade, self.grade[document])
        kept = np.flatnonzero(grade != UNJUDGED)
        topic = np.searchsorted(self.topic_offsets, document[kept], side="right") - 1
        columns: dict[str, Sequence[Any]] = {"query_id": [self.topics[t] for t in topic.tolist()]}
        if aspects is not None:
            columns["iteration"] = [aspects.names[a] for a in aspects.aspect[kept].tolist()]
        columns["doc_id"] = [to_text(self.documents[d]) for d in document[kept].tolist()]
        return {**columns, "relevance": self.as_judged(grade[kept]).tolist()}

    def document_numbers(self, topic: str) -> dict[str, int]:
        """Return the judged documents of a topic and their indices among all judged documents."""
        rows = self._rows(topic)
        return {to_text(document): rows.start + i for i, document in enumerate(self.documents[rows])}

    def memory_index(self) -> Any:
        """Return the index of the extension module for runs in memory; None if it cannot be built."""
        return self.tables.get("memory", self._memory_index)

    def _memory_index(self) -> Any:
        documents = [dict.fromkeys(self.document_numbers(topic), 0) for topic in self.topics]
        indexed = index_judgments([*self.topics], documents)
        return None if indexed is None else indexed[0]

    def with_grades(self, grade: Int32s) -> Qrels:
        """Return a copy with other grades (:data:`UNJUDGED` removes a judgment) and without a path."""
        return replace(self, grade=np.asarray(grade, np.int32), path=None)

    def with_merged_grades(self, merges: str) -> Qrels:
        """Return a copy with merged grades, such as ``0,1=0;2=1;3,4=2``: see :mod:`~.read.grades`.

        >>> Qrels.from_dict({"q": {"a": 0, "b": 1, "c": 2, "d": 3}}).with_merged_grades("0,1=0;2,3=1").judgments("q")
        {'a': 0, 'b': 0, 'c': 1, 'd': 1}
        """
        written, bins = normalise_merges(merges), parse_bins(merges)
        distinct = np.unique(self.grade[self.grade != UNJUDGED]) if bins else np.zeros(0, np.int32)
        binned = bin_grades(self.as_judged(distinct), bins).tolist() if bins else []
        table = dict(zip(distinct.tolist(), binned, strict=True)) if bins else parse_merges(merges)
        if self.merges == written:
            return self
        if self.merges:
            hint = "merge the grades only once"
            raise SettingsError(f"the grades are already merged, as {self.merges!r}", hint=hint)
        if not bins:
            self.require_grades("merging of grades")

        def merge(grade: Int32s) -> Int32s:
            is_judged = grade != UNJUDGED
            result = grade.copy()
            result[is_judged] = merge_grades(grade[is_judged], table, self.path)
            return result

        aspects, subtopics = self.aspects, self.subtopics
        return replace(
            self,
            grade=merge(self.grade),
            aspects=None if aspects is None else replace(aspects, grade=merge(aspects.grade)),
            subtopics=None if subtopics is None else replace(subtopics, grades=merge(subtopics.grades)),
            merges=written,
            gains=None,
        )

    def with_topics(self, topics: Iterable[str]) -> Qrels:
        """Return a copy with the judgments of some topics only.

        >>> qrels = Qrels.from_dict({"q1": {"a": 1}, "q2": {"b": 2, "c": 0}, "q3": {"d": 1}}).with_topics(["q2"])
        >>> qrels, qrels.judgments("q2"), sorted(qrels.unchosen)
        (<Qrels: 1 topics, 2 judged documents>, {'b': 2, 'c': 0}, ['q1', 'q3'])
        """
        selected = frozenset(topics)
        kept = [t for t, topic in enumerate(self.topics) if topic in selected]
        offsets, documents = take_spans(self.topic_offsets, np.array(kept, np.int64))
        aspects, subtopics = self.aspects, self.subtopics
        return replace(
            self,
            topics=tuple(self.topics[t] for t in kept),
            topic_offsets=offsets,
            documents=[self.documents[d] for d in documents.tolist()],
            grade=self.grade[documents],
            aspects=None if aspects is None else aspects.select(kept, documents),
            subtopics=None if subtopics is None else subtopics.select(documents, len(self)),
            unchosen=self.unchosen | (frozenset(self.topics) - selected),
        )

    def with_aspects(self) -> Qrels:
        """Return a copy with the second column of the file as aspects.

        Returns the same object if it has aspects, has no second column, or was read with ``aspects=False``.
        """
        if self.subtopics is None:
            return self
        return replace(self, aspects=self.subtopics.as_aspects(self), subtopics=None)

    def with_aspect_weights(self, weights: Mapping[str, Mapping[str, float]]) -> Qrels:
        """Return a copy with a probability (or any weight) of each aspect: ``{topic: {aspect: weight}}``.

        Other topics keep equal weights; measures divide by the sum over a topic.
        """
        aspects = self.with_aspects().aspects
        if aspects is None:
            raise InputError("judgments without aspects", path=self.path, hint="read them with aspects=True")
        weight = np.ones(len(aspects.names))
        for topic, topic_weights in weights.items():
            if topic not in self.topic_index:
                raise InputError(f"weights for topic {topic!r}, which has no judgments", hint="remove them")
            t = self.topic_index[topic]
            for a in range(int(aspects.topic_offsets[t]), int(aspects.topic_offsets[t + 1])):
                name = aspects.names[a]
                if not topic_weights.get(name, -1.0) >= 0:
                    hint = "give each a number from 0 on"
                    raise InputError(f"no weight for aspect {name!r} of topic {topic!r}", hint=hint)
                weight[a] = topic_weights[name]
        return replace(self, aspects=replace(aspects, weight=weight), path=None, subtopics=None)

    @classmethod
    def from_dict(cls, judgments: Mapping[str, Mapping[str, int | Mapping[str, int]]]) -> Qrels:
        """Return judgments from a dict ``{topic: {document: grade}}``, the format of pytrec_eval.

        ``{topic: [document, ...]}`` names relevant documents, of grade 1. With aspects: ``{topic: {document: {aspect:
        grade}}}``.
        """
        if not has_bins() and (qrels := cls.from_plain(judgments)) is not None:
            return qrels
        topics: list[bytes] = []
        documents: list[bytes] = []
        grades: list[Any] = []
        original: dict[str, Any] = {}
        for topic, grade_by_document in judgments.items():
            if isinstance(grade_by_document, list | tuple | Set):
                grade_by_document = dict.fromkeys(grade_by_document, 1)
            if not isinstance(grade_by_document, Mapping):
                hint = "give {document: grade}, or a list of relevant documents"
                raise InputError(f"judgments of topic {topic!r} are {grade_by_document!r}", hint=hint)
            if original.setdefault(text := key_text(topic, "topic"), topic) is not topic:
                raise InputError(f"topic {text!r} occurs twice", hint=SAME_TEXT)
            topics += [to_bytes(text)] * len(grade_by_document)
            documents += [to_bytes(key_text(document, "document")) for document in grade_by_document]
            grades += grade_by_document.values()
        ids = {text: topic for text, topic in original.items() if not isinstance(topic, str)}
        if not any(isinstance(grade, Mapping) for grade in grades):
            return replace(cls.from_columns(topics, None, documents, check_grades(grades)), topic_ids=ids)
        rows = [
            (topic, to_bytes(key_text(aspect, "aspect")), document, grade)
            for topic, document, per_aspect in zip(topics, documents, grades, strict=True)
            for aspect, grade in _per_aspect(per_aspect, document)
        ]
        columns = zip(*rows, strict=True) if rows else [(), (), (), ()]
        flat, aspects, named, values = (list(column) for column in columns)
        qrels = cls.from_columns(flat, aspects, named, check_grades(values), aspects=True)
        return replace(qrels, topic_ids=ids)

    @classmethod
    def from_plain(cls, judgments: Mapping[str, Any]) -> Qrels | None:
        """Return judgments from a dict of plain types with the extension module; None if it cannot read them."""
        try:
            names = sort_naturally(judgments)
        except TypeError:  # A topic is not text.
            return None
        indexed = index_judgments(names, [*map(judgments.__getitem__, names)]) if names else None
        if indexed is None:
            return None
        index, grade, offsets = indexed
        if not np.diff(offsets).all():
            return cls.from_plain({topic: graded for topic, graded in judgments.items() if graded})
        documents = LazySequence(index.ids, len(grade))
        return cls(tuple(names), offsets, documents, grade, tables=ScanTables({"memory": lambda: index}))

    @classmethod
    def from_frame(
        cls, frame: Any, *, aspects: bool | None = None, path: str | None = None, lines: Ints | None = None
    ) -> Qrels:
        """Return judgments from a table with columns for topics, documents, grades and optionally subtopics.

        :data:`rankscope.read.frames.COLUMNS` lists the accepted names; ``aspects`` as in :func:`read_qrels`;
        ``path`` and ``lines`` name the file and the line of each row in messages.
        """
        from rankscope.read.columns import as_list
        from rankscope.read.frames import table_columns

        columns = table_columns(frame, required=("query_id", "doc_id", "relevance"), optional=("iteration",))
        iterations = columns.get("iteration")
        topics, documents = columns["query_id"].pieces(), columns["doc_id"].pieces()
        labels = None if iterations is None else iterations.pieces()
        grades = check_grades(as_list(columns["relevance"]))
        return cls.from_columns(topics, labels, documents, grades, lines=lines, path=path, aspects=aspects)

    @classmethod
    def from_columns(
        cls,
        topics: Sequence[bytes],
        iterations: Sequence[bytes] | None,
        documents: Sequence[bytes],
        grades: AnyArray,
        *,
        lines: Ints | None = None,
        path: str | None = None,
        aspects: bool | None = None,
    ) -> Qrels:
        """Return judgments from flat columns; ``aspects`` as in :func:`read_qrels`."""
        if not len(documents):
            raise InputError("no judgments", path=path, hint="give lines of: topic iteration document grade")
        judged = grades
        grades, gains = number_grades(judged)
        if not aspects and (iterations is None or len(set(iterations)) == 1):
            sorted_topics = _find_sorted_topics(topics, documents)
            if sorted_topics is not None:
                names, bounds = sorted_topics
                return cls(tuple(names), bounds, list(documents), grades, path=path, gains=gains)
        groups = _group_by_topic(topics)
        order = sort_naturally(groups)
        ids: list[bytes] = []
        offsets, document = [0], np.empty(len(documents), np.int64)
        for topic in order:
            rows = groups[topic]
            column = select_rows(documents, rows)
            numbers = {name: n for n, name in enumerate(sorted(set(column)), len(ids))}
            where = slice(rows.start, rows.stop) if isinstance(rows, range) else rows
            document[where] = lookup_numbers(column, numbers)
            ids += numbers
            offsets.append(len(ids))
        best_grade = np.full(len(ids), UNJUDGED, np.int32)
        np.maximum.at(best_grade, document, grades)
        qrels = cls(tuple(order), np.array(offsets, np.int64), ids, best_grade, path=path, gains=gains)
        subtopics = None
        if iterations is not None and aspects is not False:
            subtopics = Subtopics.from_column(iterations, document, grades)
        undecided = aspects is None and subtopics is not None and subtopics.has_several_names
        if subtopics is not None and aspects is None:
            aspects = subtopics.has_overlap
        by_aspect = subtopics if aspects else None
        _check_repeated(qrels, document, by_aspect, judged, lines)
        if subtopics is None or not (aspects or undecided):
            return qrels
        qrels = replace(qrels, subtopics=subtopics)
        return qrels.with_aspects() if aspects else qrels

    @classmethod
    def from_parsed(cls, parsed: Judgments, path: str, aspects: bool | None) -> Qrels:
        """Return judgments that the C library parsed; ``aspects`` as in :func:`read_qrels`."""
        grade = np.frombuffer(parsed.grades, np.int32)
        subtopics = None
        if aspects or (aspects is None and parsed.codes is not None):
            codes = np.frombuffer(parsed.codes or bytes(2 * len(grade)), np.uint16)
            subtopics = Subtopics(parsed.iterations, codes, grade)
        qrels = cls(
            LazySequence(lambda: parsed.topics, parsed.n_topics),
            np.frombuffer(parsed.offsets, np.int32).astype(np.int64),
            LazySequence(lambda: parsed.documents, parsed.n_judgments),
            grade,
            path=path,
            subtopics=subtopics,
            tables=ScanTables({parsed.library: lambda: parsed.table}),
        )
        return qrels.with_aspects() if aspects else qrels


class RepeatedJudgments(UserWarning):
    """Judgments that are repeated with the same grade; ``first`` is the error for callers that reject them."""

    def __init__(self, path: str | None, count: int, first: InputError) -> None:
        verb = "judgment is" if count == 1 else "judgments are"
        super().__init__(f"{path or 'qrels'}: {count} {verb} repeated with the same grade")
        self.first = first


def _per_aspect(grades: Any, document: bytes) -> Iterable[tuple[str, int]]:
    if not isinstance(grades, Mapping):
        problem = f"document {to_text(document)!r} has a grade where others have grades per aspect"
        raise InputError(problem, hint="give {aspect: grade} for every document")
    return grades.items()


def _bounds(topics: Sequence[bytes]) -> Ints:
    """Return the rows where the topic changes, and the number of rows."""
    changes = np.fromiter(map(ne, topics, islice(topics, 1, None)), np.bool_, max(0, len(topics) - 1))
    return np.concatenate([[0], np.flatnonzero(changes) + 1, [len(topics)]]).astype(np.int64)


def _find_sorted_topics(topics: Sequence[bytes], documents: Sequence[bytes]) -> tuple[list[str], Ints] | None:
    """Return the topics and their first rows if the columns are sorted and without duplicates; else None.

    This fast path keeps judgments of many small topics cheap.
    """
    bounds = _bounds(topics)
    is_ascending = np.fromiter(
        chain([True], map(lt, documents, islice(documents, 1, None))), np.bool_, len(documents)
    )
    is_ascending[bounds[:-1]] = True
    if not is_ascending.all():
        return None
    names = to_texts([topics[start] for start in bounds[:-1].tolist()])
    return (names, bounds) if len(set(names)) == len(names) and sort_naturally(names) == names else None


def _group_by_topic(topics: Sequence[bytes]) -> dict[str, Rows]:
    """Return the rows of each topic; consecutive rows, the normal case, as a range."""
    bounds = _bounds(topics).tolist() if topics else []
    groups: dict[bytes, Rows] = {}
    for start, stop in pairwise(bounds):
        rows = groups.setdefault(topics[start], range(start, stop))
        if isinstance(rows, list):  # extended in place: topics may alternate from row to row
            rows.extend(range(start, stop))
        elif rows.start != start:
            groups[topics[start]] = [*rows, *range(start, stop)]
    return {to_text(topic): rows for topic, rows in groups.items()}


def _check_repeated(
    qrels: Qrels, document: Ints, subtopics: Subtopics | None, judged: AnyArray, lines: Ints | None
) -> None:
    """Reject rows that judge a document again with another grade, and warn of those with the same grade.

    With subtopics, a document may be judged once for each of them. ``judged`` has the grades or gains of the rows.
    """
    if len(qrels) == len(document):
        return
    key = document if subtopics is None else subtopics.pairs
    order = np.argsort(key, kind="stable")
    is_again = key[order[1:]] == key[order[:-1]]
    if not is_again.any():
        return
    repeated, previous = order[1:][is_again], order[:-1][is_again]
    topic = np.searchsorted(qrels.topic_offsets, document[repeated], side="right")
    by_row = np.lexsort((repeated, topic))
    repeated, previous = repeated[by_row], previous[by_row]

    def repetition(row: int, again: str) -> InputError:
        name = to_text(qrels.documents[document[row]])
        t = np.searchsorted(qrels.topic_offsets, document[row], "right")
        problem = f"document {name!r} of topic {qrels.topics[t - 1]!r} is judged {judged[row]:g} {again}"
        line = None if lines is None else int(lines[row])
        return InputError(problem, path=qrels.path, line=line, hint="keep one of the two judgments")

    for row, before in zip(repeated.tolist(), previous.tolist(), strict=True):
        if judged[row] != judged[before]:
            raise repetition(row, f"here and {judged[before]:g} before")
    first = repetition(int(repeated[0]), "again")
    warnings.warn(RepeatedJudgments(qrels.path, len(repeated), first), stacklevel=3)


def read_qrels(
    source: str | Path,
    *,
    aspects: bool | None = None,
    grades: str | None = None,
    input_format: str | None = None,
) -> Qrels:
    """Read judgments from a file: TREC (``topic iteration document grade``) or another format.

    Parameters
    ----------
    source
        Path, plain or compressed (gzip, bzip2, xz, zstd); ``-`` for standard input; ``irds:ID``, or the ID if there is
        no such file, for a dataset of ir_datasets.
    aspects
        Whether the second column names the subtopics of a diversity task. None: if a document of a topic was judged
        under several of them, or when a measure over aspects is evaluated.
    grades
        Grades to merge, such as ``0,1=0;2=1;3,4=2``, or to bin, such as ``0-0.2=0;0.2-1=1``.
    input_format
        Format of the file, if it is not the one detected (:mod:`rankscope.read.formats`).

    Returns
    -------
    Qrels
        The judgments.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(f"{folder}/qrels.txt").write_text("q1 0 d1 2\\nq1 0 d2 0\\n")
    ...     print(read_qrels(f"{folder}/qrels.txt").topics)
    ('q1',)
    """
    return read_merged(
        lambda: read_qrels_ahead(source, None, aspects=aspects, input_format=input_format), grades
    )


def read_merged(read: Callable[[], Qrels], grades: str | None) -> Qrels:
    """Read judgments, and merge or bin their grades; bins accept numbers that no grade can be."""
    if grades and (bins := parse_bins(grades)):
        with using_bins(bins):
            return replace(read(), merges=normalise_merges(grades))
    return read().with_merged_grades(grades) if grades else read()


def read_qrels_ahead(
    source: str | Path,
    read_ahead: ReadAhead | None,
    *,
    aspects: bool | None = None,
    input_format: str | None = None,
) -> Qrels:
    """Read judgments as :func:`read_qrels`; use those that were read ahead, if they are the same."""
    from rankscope.read.datasets import dataset_id, read_dataset
    from rankscope.read.formats import detect_format
    from rankscope.read.qrels_text import parse_natively, parse_qrels
    from rankscope.read.source import Source, match_single_file

    if dataset := dataset_id(source):
        return read_dataset(dataset, aspects)
    text = Source.open(match_single_file(source))
    file_format = detect_format(text, "qrels", input_format)
    if has_bins() and file_format == "trec":
        file_format = "columns"  # whose grades may be any numbers
    ahead = None if read_ahead is None else read_ahead.find_judgments(text.stamp)
    parsed = None if file_format != "trec" else ahead or parse_natively(text)
    if parsed is not None:
        return Qrels.from_parsed(parsed, text.label, aspects)
    if file_format == "trec":
        topics, iterations, documents, values, lines, decimal_line = parse_qrels(text)
        qrels = Qrels.from_columns(
            topics, iterations, documents, values, lines=lines, path=text.label, aspects=aspects
        )
        return replace(qrels, decimal_line=decimal_line)
    from rankscope.read.foreign import read_judgments

    return read_judgments(text, file_format, aspects)
