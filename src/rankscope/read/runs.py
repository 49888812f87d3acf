"""Runs: the rankings of a system, read from a file on demand.

Evaluation scans a run and keeps only its hits in memory; ``run.lists()`` reads the documents.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, ValuesView
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import repeat
from pathlib import Path
from typing import Any

import numpy as np

from rankscope.arrays import Floats
from rankscope.errors import InputError, check_name
from rankscope.frames import FrameMixin
from rankscope.read.columns import Lines, RunColumns, RunList, find_repeated
from rankscope.read.frames import as_columns, column_names, find_column, is_table, table_columns
from rankscope.read.ids import SAME_TEXT, key_text, to_bytes, to_text
from rankscope.read.orders import check_order
from rankscope.read.source import Source, is_spooled

__all__ = ["Run", "RunList", "Runs", "as_runs"]

_STDIN = "standard input"


@dataclass(frozen=True, eq=False, repr=False)
class Run(FrameMixin):
    """A run: a name, an ordering, and a file, or rankings or columns in memory.

    >>> run = Run.from_dict({"q1": {"d1": 0.5, "d2": 0.9}}, name="bm25")
    >>> run.ranking("q1")
    ['d2', 'd1']
    """

    name: str
    order: str = "trec_eval"
    source: Path | bytes | None = None
    data: Mapping[str, Any] | None = field(default=None, repr=False)
    """Rankings in memory: ``{topic: {document: score}}`` or ``{topic: [document, ...]}``; checked on first use."""
    label: str = _STDIN
    """Name in messages of a run without a file: standard input, or a pipe."""
    rows: RunColumns | None = field(default=None, repr=False)
    format: str = "trec"
    """Format of the file (see :mod:`rankscope.read.formats`)."""
    metadata: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """Metadata in the header of the file (see :mod:`rankscope.read.metadata`)."""

    def __repr__(self) -> str:
        return f"<Run {self.name!r}, {self.order} order>"

    @property
    def path(self) -> str | None:
        """Path of the file, if the run has one."""
        return str(self.source) if isinstance(self.source, Path) and not is_spooled(self.source) else None

    @property
    def in_memory(self) -> bool:
        """Whether the documents are in memory."""
        return self.data is not None or self.rows is not None

    @cached_property
    def memory(self) -> Mapping[str, RunList] | None:
        """Rankings in memory with checked values."""
        return None if self.data is None else _parse_lists(self.data)

    def validate(self) -> None:
        """Raise an error if a ranking in memory is invalid."""
        _ = self.memory

    def with_order(self, order: str) -> Run:
        """Return a copy with another ordering."""
        return replace(self, order=check_order(order))

    def load(self) -> Run:
        """Return a copy with its documents in memory if its file is not in TREC format."""
        if self.in_memory or self.format == "trec":
            return self
        from rankscope.read.foreign import read_single_run

        assert self.source is not None
        return replace(self, **read_single_run(Source.open(self.source, self.label), self.format))

    @classmethod
    def from_dict(
        cls,
        lists: Mapping[str, Mapping[str, float] | Sequence[str]],
        name: str = "run",
        order: str = "trec_eval",
    ) -> Run:
        """Return a run from ``{topic: {document: score}}``, as in pytrec_eval, or ``{topic: [document, ...]}``.

        The rankings are not copied, and are checked when they are first used.
        """
        is_plain = type(lists) is dict and set(map(type, lists.values())) <= {dict, list}
        data = dict(lists) if is_plain else {topic: _as_container(own) for topic, own in lists.items()}
        return cls(name, check_order(order), data=data)

    @classmethod
    def from_frame(cls, frame: Any, name: str = "run", order: str = "trec_eval") -> Run:
        """Return a run from a table with columns of topics, documents and scores.

        Tables are frames of pandas and polars, Arrow tables, numpy records, lists of named tuples or dicts, and dicts
        of columns; :data:`rankscope.read.frames.COLUMNS` has the names of columns.
        """
        return cls(name, check_order(order), rows=RunColumns.from_columns(_run_columns(frame)))

    def lists(self) -> dict[str, RunList]:
        """Return the rankings of all topics, sorted."""
        return {topic: ranking.ordered(self.order) for topic, ranking in self._unsorted().items()}

    def _unsorted(self, only: str | None = None) -> Mapping[str, RunList]:
        """Return the rankings in the order of the input; of a text file perhaps ``only`` one topic."""
        run = self.load()
        if run.memory is not None:
            return run.memory
        if run.rows is not None:
            return run.rows.lists()
        from rankscope.read.run_lists import read_lists  # evaluation does not need it

        assert run.source is not None
        return read_lists(run.source, run.label, only)

    def iterate_lists(self) -> Iterator[tuple[str, RunList]]:
        """Yield every topic and its sorted ranking, with only incomplete rankings of a file in memory."""
        run = self.load()
        if run.in_memory:
            yield from run.lists().items()
            return
        from rankscope.read.lines import locate_problems
        from rankscope.read.run_lists import ListIterator, as_run_list

        assert run.source is not None
        source = Source.open(run.source, run.label)
        with locate_problems(source):
            for topic, text in ListIterator(source):
                yield to_text(topic), as_run_list(text).ordered(self.order)

    def documents(self) -> dict[str, list[bytes]]:
        """Return the ids of the documents of each topic, unsorted."""
        return {topic: ranking.documents for topic, ranking in self._unsorted().items()}

    def frame_columns(self) -> Mapping[str, Sequence[Any]]:
        """Return one row per document, sorted, with the column names that :meth:`from_frame` reads."""
        columns: dict[str, list[Any]] = {"query_id": [], "doc_id": [], "rank": [], "score": []}
        for topic, ranking in self.lists().items():
            length = len(ranking.documents)
            columns["query_id"] += [topic] * length
            columns["doc_id"] += map(to_text, ranking.documents)
            columns["rank"] += range(1, length + 1)
            columns["score"] += [None] * length if ranking.scores is None else ranking.scores.tolist()
        return columns

    def ranking(self, topic: str) -> list[str]:
        """Return the document ids of a topic from rank 1 on; empty if the run lacks the topic."""
        ranking = self.list_for(topic)
        return [] if ranking is None else [to_text(document) for document in ranking.documents]

    def list_for(self, topic: str) -> RunList | None:
        """Return the sorted ranking of a topic without parsing the others; None if the run lacks the topic."""
        ranking = self._unsorted(only=topic).get(topic)
        return None if ranking is None else ranking.ordered(self.order)


class Runs(Mapping[str, Run], FrameMixin):
    """Runs by name, in the order of the input.

    >>> runs = Runs([Run.from_dict({"q1": {"d1": 1.0}}, name="bm25")])
    >>> list(runs), runs["bm25"]
    (['bm25'], <Run 'bm25', trec_eval order>)
    """

    def __init__(self, runs: Iterable[Run]) -> None:
        self._runs: dict[str, Run] = {}
        for run in runs:
            if run.name in self._runs:
                hint = "rename one of the files"
                raise InputError(f"two runs are called {run.name!r}", path=run.path, hint=hint)
            self._runs[run.name] = run

    def __getitem__(self, name: str) -> Run:
        hint = f"there are {len(self._runs)} runs"
        check_name(name, self._runs, f"no run is called {name!r}", hint=hint, error=InputError)
        return self._runs[name]

    def __contains__(self, name: object) -> bool:
        return name in self._runs

    def values(self) -> ValuesView[Run]:
        return self._runs.values()

    def __iter__(self) -> Iterator[str]:
        return iter(self._runs)

    def __len__(self) -> int:
        return len(self._runs)

    def __repr__(self) -> str:
        return f"<Runs: {', '.join(map(repr, list(self)[:5]))}{', ...' if len(self) > 5 else ''}>"

    def frame_columns(self) -> Mapping[str, Sequence[Any]]:
        """Return the rows of all runs, with a column of their names."""
        parts = [(name, run.frame_columns()) for name, run in self.items()]
        columns: dict[str, list[Any]] = {"run": [name for name, part in parts for _ in part["query_id"]]}
        for column in ("query_id", "doc_id", "rank", "score"):
            columns[column] = [value for _, part in parts for value in part[column]]
        return columns

    @property
    def order(self) -> str | dict[str, str]:
        """Ordering of the runs; orderings by name if they differ."""
        orders = {name: run.order for name, run in self._runs.items()}
        common = set(orders.values())
        return common.pop() if len(common) == 1 else orders

    @classmethod
    def from_frame(cls, frame: Any, order: str = "trec_eval") -> Runs:
        """Return the runs of a table, split by its column ``run``, ``system`` or ``name`` if it has one.

        >>> table = {"run": ["a", "b"], "qid": [1, 1], "docno": ["d1", "d2"], "score": [2.0, 1.0]}
        >>> Runs.from_frame(table)
        <Runs: 'a', 'b'>
        """
        check_order(order)
        return cls(Run(name or "run", order, rows=rows) for name, rows in split_table(frame).items())

    def with_order(self, order: str) -> Runs:
        """Return a copy with another ordering."""
        return Runs(run.with_order(order) for run in self.values())


def as_runs(runs: Any, order: str | None = None, input_format: str | None = None) -> Runs:
    """Convert to runs: Runs, a Run, dicts, paths, tables, a dict of these by name, a list of these or (name, table).

    ``order`` None keeps the ordering of runs, and reads others as trec_eval does. ``input_format`` overrides the
    detected format of files.
    """
    if isinstance(runs, Run):
        runs = Runs([runs])
    if isinstance(runs, Runs):
        return runs if order is None else runs.with_order(order)
    default_order = check_order(order or "trec_eval")
    paths = [runs] if isinstance(runs, str | Path) else runs
    if isinstance(paths, list | tuple) and all(isinstance(item, str | Path) for item in paths):
        from rankscope.read.run_files import read_runs

        return read_runs(*paths, order=default_order, input_format=input_format)
    if is_table(runs):
        return Runs.from_frame(runs, order=default_order)
    if isinstance(runs, Mapping):
        if _is_single_run(list(runs.values())):
            return Runs([Run.from_dict(runs, order=default_order)])
        return Runs(_as_named_run(str(name), run, order, input_format) for name, run in runs.items())
    if isinstance(runs, list | tuple):
        converted = [
            run for item in runs for run in as_runs(_pair_to_dict(item), order, input_format).values()
        ]
        if sum(run.name == "run" for run in converted) > 1:  # dicts and frames without a name
            converted = [
                replace(run, name=f"run{number}") if run.name == "run" else run
                for number, run in enumerate(converted, 1)
            ]
        return Runs(converted)
    return Runs.from_frame(runs, order=default_order)


def _run_columns(frame: Any, *more: str) -> dict[str, Any]:
    """Return the columns of a run; the rank defines the order if there is no score."""
    names = column_names(as_columns(frame))
    by_rank = find_column("score", names) is None and find_column("rank", names) is not None
    if by_rank:
        return table_columns(frame, ("query_id", "doc_id", "rank"), more)
    return table_columns(frame, ("query_id", "doc_id", "score"), ("rank", *more))


def split_table(table: Any, lines: Lines | None = None, path: str | None = None) -> dict[str, RunColumns]:
    """Return the rows of a table by the name of the run, which is empty if the table does not name runs."""
    columns = _run_columns(table, "run")
    rows = RunColumns.from_columns(columns, lines, path)
    return rows.split(columns["run"]) if "run" in columns else {"": rows}


def _pair_to_dict(item: Any) -> Any:
    """Return a pair (name, run) as a dict, and any other object unchanged."""
    is_pair = isinstance(item, tuple) and len(item) == 2 and isinstance(item[0], str)
    return {item[0]: item[1]} if is_pair and not isinstance(item[1], str | Path) else item


def _as_named_run(name: str, run: Any, order: str | None, input_format: str | None) -> Run:
    """Convert to a single run with a name."""
    if isinstance(run, Mapping) and not is_table(run):
        return Run.from_dict(run, name, check_order(order or "trec_eval"))
    runs = as_runs(run, order, input_format)
    if len(runs) != 1:
        raise InputError(f"{len(runs)} runs cannot all be called {name!r}", hint="give each one a name")
    return replace(next(iter(runs.values())), name=name)


def _is_single_run(values: Sequence[Any]) -> bool:
    """Return whether these are the rankings of one run rather than several runs."""
    types = set(map(type, values))
    if types == {dict}:  # the usual rankings, which the tests below would find too
        inner = set(map(type, map(next, map(iter, map(dict.values, values)), repeat(None))))
        if inner <= {float, int}:
            return True
    if any(issubclass(kind, Run | str | Path) for kind in types):
        return False
    if any(is_table(value) for value in values if not isinstance(value, Mapping | list | tuple)):
        return False
    if values and all(map(is_table, values)):
        return False
    if not all(issubclass(kind, Mapping) for kind in types):
        return True
    firsts = (next(iter(value.values()), None) for value in values)
    return not any(issubclass(kind, Mapping | list | tuple) for kind in set(map(type, firsts)))


def _as_container(ranking: Any) -> Any:
    """Return a mapping as a dict and another iterable as a list, which can be read twice and pickled."""
    if type(ranking) in (dict, list) or isinstance(ranking, str | bytes) or not isinstance(ranking, Iterable):
        return ranking
    return dict(ranking) if isinstance(ranking, Mapping) else list(ranking)


def _parse_lists(lists: Mapping[Any, Any]) -> dict[str, RunList]:
    memory: dict[str, RunList] = {}
    for topic, ranking in lists.items():
        if isinstance(ranking, str | bytes) or not isinstance(ranking, Iterable):
            hint = "give {document: score}, or a list of ids"
            raise InputError(f"topic {topic!r} has {ranking!r} as its ranking", hint=hint)
        documents = [to_bytes(key_text(document, "document")) for document in ranking]
        scores = _parse_scores(ranking.values(), topic) if isinstance(ranking, Mapping) else None
        if (repeated := find_repeated(documents)) is not None:
            problem = f"document {to_text(documents[repeated])!r} occurs twice in topic {topic!r}"
            raise InputError(problem, hint="keep one of the two")
        if (text := key_text(topic, "topic")) in memory:
            raise InputError(f"topic {text!r} occurs twice", hint=SAME_TEXT)
        memory[text] = RunList(documents, scores)
    return memory


def _parse_scores(values: Iterable[Any], topic: str) -> Floats:
    try:
        array = np.array([float(value) for value in values], np.float64)
    except (TypeError, ValueError):
        raise InputError(f"a score of topic {topic!r} is not a number", hint="give numbers") from None
    if np.isnan(array).any():
        raise InputError(f"a score of topic {topic!r} is NaN", hint="remove the document or give a number")
    return array
