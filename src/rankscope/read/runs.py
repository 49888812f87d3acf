"""Runs: what a system returned for every topic, read from a file when it is needed and no earlier.

A run that is evaluated is scanned against the judgments and leaves only its hits in memory; the documents themselves
are loaded when somebody looks at them (``run.lists()``).
"""

from __future__ import annotations

import glob
import os
import re
import stat
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rankscope.errors import InputError, nearest
from rankscope.frames import Framed
from rankscope.read.frames import is_table
from rankscope.read.ids import to_bytes, to_text
from rankscope.read.orders import check_order, permutation
from rankscope.read.run_text import LineProblem, RunText, TextList, refuse_empty
from rankscope.read.source import Source, hold, is_held

__all__ = ["Run", "RunList", "Runs", "as_runs", "read_run", "read_runs", "run_files"]

_STDIN = "standard input"
_SUFFIXES = (".gz", ".txt", ".run", ".trec", ".res", ".results")


@dataclass(frozen=True, eq=False)
class RunList:
    """What a run returned for one topic, in the order of its file: documents, scores, and ranks if it gave any."""

    documents: list[bytes]
    scores: npt.NDArray[np.float64] | None = None
    ranks: npt.NDArray[np.int64] | None = None

    def ordered(self, order: str) -> RunList:
        """The same list in one of the four orderings."""
        index = permutation(self.documents, self.scores, self.ranks, order)
        return RunList(
            [self.documents[i] for i in index.tolist()],
            None if self.scores is None else self.scores[index],
            None if self.ranks is None else self.ranks[index],
        )


@dataclass(frozen=True, eq=False)
class Run(Framed):
    """One run: a name, an ordering, and either a file or lists in memory.

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

    def __repr__(self) -> str:
        return f"<Run {self.name!r}, {self.order} order>"

    @property
    def path(self) -> str | None:
        """The file of the run, if it has one."""
        return str(self.source) if isinstance(self.source, Path) and not is_held(self.source) else None

    def reordered(self, order: str) -> Run:
        """The same run read in another ordering."""
        return replace(self, order=check_order(order))

    @classmethod
    def from_dict(
        cls,
        lists: Mapping[str, Mapping[str, float] | Sequence[str]],
        name: str = "run",
        order: str = "trec_eval",
    ) -> Run:
        """A run as pytrec_eval users have it, ``{topic: {document: score}}``; a plain ranking of ids will do too."""
        memory = {}
        for topic, scored in lists.items():
            documents = [to_bytes(document) for document in scored]
            scores = _numbers(scored.values(), topic) if isinstance(scored, Mapping) else None
            _refuse_duplicates(documents, topic)
            memory[topic] = RunList(documents, scores)
        return cls(name, check_order(order), memory=memory)

    @classmethod
    def from_frame(cls, frame: Any, name: str = "run", order: str = "trec_eval") -> Run:
        """A run from a table with columns for topics, documents and scores (see :data:`rankscope.read.frames.COLUMNS`).

        pandas, polars, Arrow, numpy records, lists of named tuples or dicts, and dicts of columns will do.
        """
        from rankscope.read.frames import columns_of

        columns = columns_of(frame, ("query_id", "doc_id", "score"))
        return cls._from_rows(columns, range(len(columns["query_id"])), name, order)

    @classmethod
    def _from_rows(
        cls, columns: Mapping[str, Sequence[Any]], chosen: Iterable[int], name: str, order: str
    ) -> Run:
        from rankscope.read.frames import text_of

        rows: dict[str, list[int]] = {}
        for row in chosen:
            rows.setdefault(text_of(columns["query_id"][row], "topic"), []).append(row)
        memory = {}
        for topic, mine in rows.items():
            documents = [to_bytes(text_of(columns["doc_id"][row], "document")) for row in mine]
            _refuse_duplicates(documents, topic)
            memory[topic] = RunList(documents, _numbers((columns["score"][row] for row in mine), topic))
        return cls(name, check_order(order), memory=memory)

    def lists(self) -> dict[str, RunList]:
        """All documents of all topics, each list in the ordering of the run."""
        raw = self.memory
        if raw is None:
            assert self.source is not None
            raw = _parse_lists(self.source, self.label)
        return {topic: one.ordered(self.order) for topic, one in raw.items()}

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
        if self.memory is not None:
            found = self.memory.get(topic)
        else:
            assert self.source is not None
            found = _parse_lists(self.source, self.label, only=topic).get(topic)
        return None if found is None else found.ordered(self.order)


class Runs(Mapping[str, Run], Framed):
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
            hint = nearest(name, self._runs) or f"there are {len(self._runs)} runs"
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
        from rankscope.read.frames import columns_of, text_of

        columns = columns_of(frame, ("query_id", "doc_id", "score"), ("run",))
        if "run" not in columns:
            return cls([Run.from_frame(frame, order=order)])
        rows: dict[str, list[int]] = {}
        for row, name in enumerate(columns["run"]):
            rows.setdefault(text_of(name, "run"), []).append(row)
        return cls(Run._from_rows(columns, mine, name, order) for name, mine in rows.items())

    def reordered(self, order: str) -> Runs:
        """The same runs read in another ordering."""
        return Runs(run.reordered(order) for run in self.values())


def read_run(source: str | Path, *, order: str = "trec_eval", name: str | None = None) -> Run:
    """A run in a TREC file (plain or gzipped; ``-`` is standard input). The file is read when it is needed."""
    check_order(order)
    if str(source) == "-":
        return Run(name or "stdin", order, source=hold("-"))
    path = Path(source)
    if path.is_dir():
        raise InputError("this is a directory", path=path, hint="use read_runs to read all runs in it")
    if not path.exists():
        raise InputError("no such file", path=path, hint="check the path")
    if not path.is_file():  # a pipe, which can be read only once
        return Run(name or _name_of(path), order, source=hold(path), label=str(path))
    return Run(name or _name_of(path), order, source=path)


def read_runs(*sources: str | Path, order: str = "trec_eval") -> Runs:
    """Runs in files, directories and glob patterns; each is called after its file.

    Files that would have the same name get as much of their path in front as tells them apart.
    """
    paths: list[Path] = []
    runs: list[Run] = []
    for source in sources:
        if str(source) == "-":
            runs.append(read_run("-", order=order))
        else:
            files, others = run_files(source)
            if others:
                named = ", ".join(f"{entry.name} ({_kind_of(entry)})" for entry in others)
                warnings.warn(f"{source}: left out, as no file: {named}", stacklevel=1)
            paths += files
    for path, name in zip(paths, _names_of(paths), strict=True):
        runs.append(read_run(path, order=order, name=name))
    return Runs(runs)


def _names_of(paths: Sequence[Path]) -> list[str]:
    """The name of each file; where several have one name, with the shortest part of their path that tells them apart.

    >>> _names_of([Path("a/x/r.run"), Path("b/x/r.run"), Path("s.run"), Path("c/t.run"), Path("c/t.txt")])
    ['a/x/r', 'b/x/r', 's', 't.run', 't.txt']
    """
    alike: dict[str, list[int]] = {}
    for i, path in enumerate(paths):
        alike.setdefault(_name_of(path), []).append(i)
    names = {members[0]: name for name, members in alike.items() if len(members) == 1}
    for members in alike.values():
        if len(members) > 1:
            names.update(zip(members, _told_apart([paths[i] for i in members]), strict=True))
    return [names[i] for i in range(len(paths))]


def _told_apart(paths: Sequence[Path]) -> list[str]:
    whole = [os.path.abspath(path) for path in paths]  # noqa: PTH100 (with ".." resolved, and links not)
    if len(set(whole)) < len(whole):
        again = next(path for i, path in enumerate(paths) if whole[i] in whole[:i])
        raise InputError("the run is named twice", path=again, hint="name it once")
    folders = [Path(path).parent.parts for path in whole]
    one_folder = len(set(folders)) < len(folders)  # then only the endings tell them apart
    last = [path.name if one_folder else _name_of(path) for path in paths]
    for depth in range(1 + max(map(len, folders))):
        parts = zip(folders, last, strict=True)
        names = ["/".join((*folder[len(folder) - depth :], name)) for folder, name in parts]
        if len(set(names)) == len(names):
            return names
    raise AssertionError("different paths differ somewhere")


def as_runs(runs: Any, order: str | None = None) -> Runs:
    """Whatever holds runs: Runs, a Run, dicts, a path, tables, also by name, a list of these or of (name, table).

    ``order`` None keeps the ordering of runs that have one; the others are read as trec_eval does.
    """
    if isinstance(runs, Run):
        runs = Runs([runs])
    if isinstance(runs, Runs):
        return runs if order is None else runs.reordered(order)
    read = check_order(order or "trec_eval")
    if isinstance(runs, str | Path):
        return read_runs(runs, order=read)
    if is_table(runs):
        return Runs.from_frame(runs, order=read)
    if isinstance(runs, Mapping):
        values = list(runs.values())
        if values and all(is_table(value) for value in values):
            return Runs(Run.from_frame(table, str(name), read) for name, table in runs.items())
        if values and all(isinstance(value, Run) for value in values):
            return as_runs(Runs(replace(run, name=str(name)) for name, run in runs.items()), order)
        if _is_one_run(values):
            return Runs([Run.from_dict(runs, order=read)])
        return Runs(Run.from_dict(lists, name=str(name), order=read) for name, lists in runs.items())
    if isinstance(runs, list | tuple):
        if all(isinstance(one, str | Path) for one in runs):
            return read_runs(*runs, order=read)
        return Runs(run for one in runs for run in as_runs(_named(one), order).values())
    return Runs.from_frame(runs, order=read)


def _named(one: Any) -> Any:
    """A pair of a name and what the run is, as a dict; anything else as it is."""
    is_pair = isinstance(one, tuple) and len(one) == 2 and isinstance(one[0], str)
    return {one[0]: one[1]} if is_pair and not isinstance(one[1], str | Path) else one


def _is_one_run(values: Sequence[Any]) -> bool:
    """Whether these are the lists of one run (topic: scores) rather than several runs (name: topic: scores)."""
    inner = [next(iter(value.values()), None) for value in values if isinstance(value, Mapping)]
    return len(inner) < len(values) or not any(isinstance(value, Mapping | list | tuple) for value in inner)


def _name_of(path: Path) -> str:
    name = path.name
    for suffix in _SUFFIXES:
        if name.endswith(suffix) and len(name) > len(suffix):
            name = name[: -len(suffix)]
    return name


def run_files(source: str | Path) -> tuple[list[Path], list[Path]]:
    """The files that a name of runs stands for: itself, the files of a directory, or what matches a pattern.

    Beside them, what stands there and is no file; entries that begin with a dot are hidden, as elsewhere.
    """
    if source == "":  # as a path it would be the working directory
        raise InputError("the name of a run is empty", hint="name a run file, a directory or a pattern")
    path = Path(source)
    if path.is_dir():
        found = sorted(child for child in path.iterdir() if not child.name.startswith("."))
        what, hint = "there is no file in this directory", "name a directory of run files"
    elif path.exists() or not glob.has_magic(str(source)):
        return [path], []
    else:
        found = sorted(Path(match) for match in glob.glob(str(source), recursive=True))  # noqa: PTH207
        what, hint = "no file matches this pattern", "check the pattern"
    files = [entry for entry in found if entry.is_file()]
    if not files:
        raise InputError(what, path=path, hint=hint)
    return files, [entry for entry in found if not entry.is_file()]


def _kind_of(entry: Path) -> str:
    """What an entry of a directory is that is no file."""
    try:
        mode = entry.stat().st_mode
    except OSError:
        return "a link to nothing" if entry.is_symlink() else "unreadable"
    kinds = {stat.S_IFDIR: "a directory", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket"}
    return kinds.get(stat.S_IFMT(mode), "a device")


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


class _Lists(RunText):
    """Every line of a run, or of one topic ``only``, by topic; the rank column is free text here."""

    def __init__(self, only: str | None = None) -> None:
        super().__init__("file")
        self.lists: dict[bytes, TextList] = {}
        self._only = None if only is None else to_bytes(only)
        self._line = re.compile(rb"(?m)^\s*" + re.escape(self._only or b"") + rb"\s")

    def take(self, text: bytes) -> None:
        if self._only is None or self._line.search(text):
            super().take(text)
        else:
            self.lines += text.count(b"\n")

    def list_of(self, topic: bytes) -> TextList:
        if self._only in (None, topic):
            return self.lists.setdefault(topic, TextList())
        return TextList()


def _parse_lists(source: Path | bytes, label: str, only: str | None = None) -> dict[str, RunList]:
    text = Source.of(source, label)
    run = _Lists(only)
    try:
        run.read(text)
    except LineProblem as problem:
        text.check_unchanged()
        raise problem.located(text.label) from None
    if not run.lists and only is None:
        refuse_empty(text)
    return {
        to_text(topic): RunList(one.documents, np.concatenate(one.scores), _rank_column(one.ranks))
        for topic, one in run.lists.items()
    }


def _rank_column(ranks: Iterable[list[bytes]]) -> npt.NDArray[np.int64] | None:
    try:
        return np.array([int(rank) for part in ranks for rank in part], np.int64)
    except (ValueError, OverflowError):
        return None  # the rank column is free text for every ordering but `rank`, where the scanner checks it
