"""Runs: what a system returned for every topic, read from a file when it is needed and no earlier.

A run that is evaluated is scanned against the judgments and leaves only its hits in memory; the documents themselves
are loaded when somebody looks at them (``run.lists()``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rankscope.errors import InputError, suggest_names
from rankscope.frames import FrameMixin
from rankscope.read.columns import RunColumns, RunList
from rankscope.read.frames import by_columns, found_column, is_table, names_of, table_columns
from rankscope.read.ids import id_text, to_bytes, to_text
from rankscope.read.orders import check_order
from rankscope.read.source import Source, is_held

__all__ = ["Run", "RunList", "Runs", "as_runs"]

_STDIN = "standard input"


@dataclass(frozen=True, eq=False)
class Run(FrameMixin):
    """One run: a name, an ordering, and either a file, or lists or columns in memory.

    >>> run = Run.from_dict({"q1": {"d1": 0.5, "d2": 0.9}}, name="bm25")
    >>> run.ranking("q1")
    ['d2', 'd1']
    """

    name: str
    order: str = "trec_eval"
    source: Path | bytes | None = None
    memory: Mapping[str, RunList] | None = None
    label: str = _STDIN
    """How messages name a run whose text is held as bytes: standard input, or a pipe."""
    rows: RunColumns | None = field(default=None, repr=False)
    format: str = "trec"
    """That of the file (see :mod:`rankscope.read.formats`)."""
    metadata: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """What the header of the file says (see :mod:`rankscope.read.metadata`)."""

    def __repr__(self) -> str:
        return f"<Run {self.name!r}, {self.order} order>"

    @property
    def path(self) -> str | None:
        """The file of the run, if it has one."""
        return str(self.source) if isinstance(self.source, Path) and not is_held(self.source) else None

    @property
    def in_memory(self) -> bool:
        """Whether nothing has to be read."""
        return self.memory is not None or self.rows is not None

    def reordered(self, order: str) -> Run:
        """The same run read in another ordering."""
        return replace(self, order=check_order(order))

    def loaded(self) -> Run:
        """The same run; if its file is of another format than TREC, with its documents in memory."""
        if self.in_memory or self.format == "trec":
            return self
        from rankscope.read.foreign import run_in

        assert self.source is not None
        return replace(self, **run_in(Source.of(self.source, self.label), self.format))

    @classmethod
    def from_dict(
        cls,
        lists: Mapping[str, Mapping[str, float] | Sequence[str]],
        name: str = "run",
        order: str = "trec_eval",
    ) -> Run:
        """A run as pytrec_eval users have it, ``{topic: {document: score}}``; a plain ranking of ids will do too."""
        memory: dict[str, RunList] = {}
        for topic, scored in lists.items():
            if isinstance(scored, str | bytes) or not isinstance(scored, Iterable):
                raise InputError(
                    f"topic {topic!r} has {scored!r} for a list",
                    hint="give {document: score}, or a list of ids",
                )
            documents = [to_bytes(id_text(document, "document")) for document in scored]
            scores = _numbers(scored.values(), topic) if isinstance(scored, Mapping) else None
            _refuse_duplicates(documents, topic)
            if (text := id_text(topic, "topic")) in memory:
                raise InputError(f"topic {text!r} occurs twice", hint="keep one of the two")
            memory[text] = RunList(documents, scores)
        return cls(name, check_order(order), memory=memory)

    @classmethod
    def from_frame(cls, frame: Any, name: str = "run", order: str = "trec_eval") -> Run:
        """A run from a table with columns for topics, documents and scores (see :data:`rankscope.read.frames.COLUMNS`).

        pandas, polars, Arrow, numpy records, lists of named tuples or dicts, and dicts of columns will do.
        """
        return cls(name, check_order(order), rows=RunColumns.of(_run_columns(frame)))

    def lists(self) -> dict[str, RunList]:
        """All documents of all topics, each list in the ordering of the run."""
        return {topic: one.ordered(self.order) for topic, one in self._as_given().items()}

    def _as_given(self) -> Mapping[str, RunList]:
        """Every list as it stands in the file, or as it was given."""
        run = self.loaded()
        if run.memory is not None:
            return run.memory
        if run.rows is not None:
            return run.rows.lists()
        assert run.source is not None
        return _lists_in(run.source, run.label)

    def each_list(self) -> Iterator[tuple[str, RunList]]:
        """Every topic with its list, in the ordering of the run, one after the other: a file is not held as a whole."""
        run = self.loaded()
        if run.memory is None and run.rows is None:
            from rankscope.read.one_by_one import text_lists_one_by_one
            from rankscope.read.run_lists import run_list

            assert run.source is not None
            for topic, text in text_lists_one_by_one(run.source, run.label):
                yield to_text(topic), run_list(text).ordered(self.order)
        else:
            yield from self.lists().items()

    def documents(self) -> dict[str, list[bytes]]:
        """The ids of the documents of each topic, in no order that means anything."""
        return {topic: one.documents for topic, one in self._as_given().items()}

    def frame_columns(self) -> Mapping[str, Sequence[Any]]:
        """A row per document, under the names that :meth:`from_frame` reads, in the ordering of the run."""
        columns: dict[str, list[Any]] = {"query_id": [], "doc_id": [], "rank": [], "score": []}
        for topic, found in self.lists().items():
            number = len(found.documents)
            columns["query_id"] += [topic] * number
            columns["doc_id"] += map(to_text, found.documents)
            columns["rank"] += range(1, number + 1)
            columns["score"] += [None] * number if found.scores is None else found.scores.tolist()
        return columns

    def ranking(self, topic: str) -> list[str]:
        """The document ids of one topic from rank 1 on (empty if the run has nothing for it)."""
        found = self.list_of(topic)
        return [] if found is None else [to_text(document) for document in found.documents]

    def list_of(self, topic: str) -> RunList | None:
        """What the run has for one topic, in its ordering: no other list is taken apart, or kept."""
        run = self.loaded()
        if run.memory is not None:
            found = run.memory.get(topic)
        elif run.rows is not None:
            found = run.rows.lists().get(topic)
        else:
            assert run.source is not None
            found = _lists_in(run.source, run.label, only=topic).get(topic)
        return None if found is None else found.ordered(self.order)


class Runs(Mapping[str, Run], FrameMixin):
    """Runs by name, in the order they were given.

    >>> runs = Runs([Run.from_dict({"q1": {"d1": 1.0}}, name="bm25")])
    >>> list(runs), runs["bm25"]
    (['bm25'], <Run 'bm25', trec_eval order>)
    """

    def __init__(self, runs: Iterable[Run]) -> None:
        self._runs: dict[str, Run] = {}
        for run in runs:
            if run.name in self._runs:
                raise InputError(
                    f"two runs are called {run.name!r}", path=run.path, hint="rename one of the files"
                )
            self._runs[run.name] = run

    def __getitem__(self, name: str) -> Run:
        if name not in self._runs:
            hint = suggest_names(name, self._runs) or f"there are {len(self._runs)} runs"
            raise InputError(f"no run is called {name!r}", hint=hint)
        return self._runs[name]

    def __contains__(self, name: object) -> bool:
        return name in self._runs

    def __iter__(self) -> Iterator[str]:
        return iter(self._runs)

    def __len__(self) -> int:
        return len(self._runs)

    def __repr__(self) -> str:
        return f"<Runs: {', '.join(map(repr, list(self)[:5]))}{', ...' if len(self) > 5 else ''}>"

    def frame_columns(self) -> Mapping[str, Sequence[Any]]:
        """The rows of every run, with its name in front."""
        parts = [(name, run.frame_columns()) for name, run in self.items()]
        columns: dict[str, list[Any]] = {"run": [name for name, part in parts for _ in part["query_id"]]}
        for column in ("query_id", "doc_id", "rank", "score"):
            columns[column] = [value for _, part in parts for value in part[column]]
        return columns

    @property
    def order(self) -> str | dict[str, str]:
        """The ordering of the runs; by name where they do not have the same one."""
        orders = {name: run.order for name, run in self._runs.items()}
        common = set(orders.values())
        return common.pop() if len(common) == 1 else orders

    @classmethod
    def from_frame(cls, frame: Any, order: str = "trec_eval") -> Runs:
        """Runs from one table: with a column ``run``, ``system`` or ``name`` as many as it names, else one.

        >>> table = {"run": ["a", "b"], "qid": [1, 1], "docno": ["d1", "d2"], "score": [2.0, 1.0]}
        >>> Runs.from_frame(table)
        <Runs: 'a', 'b'>
        """
        columns = _run_columns(frame, "run")
        together = RunColumns.of(columns)
        if "run" not in columns:
            return cls([Run("run", check_order(order), rows=together)])
        each = together.split(columns["run"])
        return cls(Run(name, check_order(order), rows=one) for name, one in each.items())

    def reordered(self, order: str) -> Runs:
        """The same runs read in another ordering."""
        return Runs(run.reordered(order) for run in self.values())


def as_runs(runs: Any, order: str | None = None, input_format: str | None = None) -> Runs:
    """Whatever holds runs: Runs, a Run, dicts, a path, tables, also by name, a list of these or of (name, table).

    ``order`` None keeps the ordering of runs that have one; the others are read as trec_eval does.
    ``input_format`` overrules what files look like.
    """
    if isinstance(runs, Run):
        runs = Runs([runs])
    if isinstance(runs, Runs):
        return runs if order is None else runs.reordered(order)
    from rankscope.read.run_files import read_runs

    read = check_order(order or "trec_eval")
    if isinstance(runs, str | Path):
        return read_runs(runs, order=read, input_format=input_format)
    if is_table(runs):
        return Runs.from_frame(runs, order=read)
    if isinstance(runs, Mapping):
        if _is_one_run(list(runs.values())):
            return Runs([Run.from_dict(runs, order=read)])
        return Runs(_called(str(name), one, order, input_format) for name, one in runs.items())
    if isinstance(runs, list | tuple):
        if all(isinstance(one, str | Path) for one in runs):
            return read_runs(*runs, order=read, input_format=input_format)
        return Runs(run for one in runs for run in as_runs(_named(one), order, input_format).values())
    return Runs.from_frame(runs, order=read)


def _lists_in(source: Path | bytes, label: str, only: str | None = None) -> dict[str, RunList]:
    from rankscope.read.run_lists import lists_in  # evaluation needs hits, and no such lists

    return lists_in(source, label, only)


def _run_columns(frame: Any, *more: str) -> dict[str, Any]:
    """The columns of a run; where there is no score, the rank says what is better."""
    names = names_of(by_columns(frame))
    by_rank = found_column("score", names) is None and found_column("rank", names) is not None
    if by_rank:
        return table_columns(frame, ("query_id", "doc_id", "rank"), more)
    return table_columns(frame, ("query_id", "doc_id", "score"), ("rank", *more))


def _named(one: Any) -> Any:
    """A pair of a name and what the run is, as a dict; anything else as it is."""
    is_pair = isinstance(one, tuple) and len(one) == 2 and isinstance(one[0], str)
    return {one[0]: one[1]} if is_pair and not isinstance(one[1], str | Path) else one


def _called(name: str, one: Any, order: str | None, input_format: str | None) -> Run:
    """The one run that something holds, under another name."""
    if isinstance(one, Mapping) and not is_table(one):
        return Run.from_dict(one, name, check_order(order or "trec_eval"))
    found = as_runs(one, order, input_format)
    if len(found) != 1:
        raise InputError(f"{len(found)} runs cannot all be called {name!r}", hint="give each one a name")
    return replace(next(iter(found.values())), name=name)


def _is_one_run(values: Sequence[Any]) -> bool:
    """Whether these are the lists of one run (topic: scores) rather than several runs by their names."""
    if any(isinstance(value, Run | str | Path) or _is_frame(value) for value in values):
        return False
    if values and all(is_table(value) for value in values):
        return False
    inner = [next(iter(value.values()), None) for value in values if isinstance(value, Mapping)]
    return len(inner) < len(values) or not any(isinstance(value, Mapping | list | tuple) for value in inner)


def _is_frame(thing: Any) -> bool:
    return not isinstance(thing, Mapping | list | tuple) and is_table(thing)


def _numbers(values: Iterable[Any], topic: str) -> npt.NDArray[np.float64]:
    try:
        array = np.array([float(value) for value in values], np.float64)
    except (TypeError, ValueError):
        raise InputError(f"a score of topic {topic!r} is not a number", hint="give numbers") from None
    if np.isnan(array).any():
        raise InputError(f"a score of topic {topic!r} is NaN", hint="remove the document or give a number")
    return array


def _refuse_duplicates(documents: Sequence[bytes], topic: str) -> None:
    if len(set(documents)) < len(documents):
        seen: set[bytes] = set()
        twice = next(document for document in documents if document in seen or seen.add(document))  # type: ignore[func-returns-value]
        raise InputError(
            f"document {to_text(twice)!r} occurs twice in topic {topic!r}", hint="keep one of the two"
        )
